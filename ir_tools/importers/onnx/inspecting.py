"""Looking at an ONNX file before anything converts it: what is broken, and which AveragePool nodes it has."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import ReadError, UsageError
from ir_tools.importers.onnx.average_pool import SINCE, average_pool, disputed
from ir_tools.lfs import LARGEST_POINTER, pointer_problem

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

__all__ = ["check", "nodes"]

KINDS = {"auto_pad": "STRING", "count_include_pad": "INT", "ceil_mode": "INT"}
"""The attributes' types, where they are not lists of integers."""

VERSIONS = (1, 7, 10, 11, 19, 22)
"""Of AveragePool."""


def check(path: Path) -> tuple[Diagnostic, ...]:
    """Yield what is worth knowing of a readable ONNX file; nothing where the `onnx` package is not installed.

    Raises:
        ReadError: there is no such file; it is not ONNX; its external data is missing or lies outside its folder; an
            AveragePool node contradicts the opset of the file or itself.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise ReadError(_finding(path, "ONNX001", Severity.ERROR, what, "check the path"))
    if path.stat().st_size < LARGEST_POINTER and (pointer := pointer_problem(path.read_bytes(), str(path))):
        raise ReadError(pointer)
    try:
        import onnx
    except ImportError:
        return ()
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load(str(path), load_external_data=False)
    except DecodeError:
        model = None
    if model is None or not model.HasField("graph"):
        remedy = "download or export the model again"
        raise ReadError(_finding(path, "ONNX001", Severity.ERROR, "is not an ONNX model, or is truncated", remedy))
    findings = [*_external_data(path, model), *_average_pools(path, model)]
    errors = [finding for finding in findings if finding.severity == Severity.ERROR]
    if errors:
        raise ReadError(*errors)
    return tuple(findings)


def nodes(path: Path) -> "Iterator[NodeProto]":
    """Yield every node of a readable file, those of inner graphs included; none if `onnx` is not installed."""
    try:
        import onnx
    except ImportError:
        return
    for graph in _graphs(onnx.load(str(path), load_external_data=False).graph):
        yield from graph.node


def _external_data(path: Path, model: "ModelProto") -> Iterator[Diagnostic]:
    folder = path.parent.resolve()
    for graph in _graphs(model.graph):
        for tensor in _tensors(graph):
            entries = {entry.key: entry.value for entry in tensor.external_data}
            if "location" not in entries:
                continue
            file = (folder / entries["location"]).resolve()
            tensor_name = f"tensor '{tensor.name}'"
            if not file.is_relative_to(folder):
                message = f"the data of {tensor_name} lies outside the model's folder: {entries['location']}"
                yield _finding(path, "ONNX002", Severity.ERROR, message, "copy the file into the folder of the model")
            elif not file.is_file():
                message = f"the data of {tensor_name} is missing: {entries['location']}"
                yield _finding(path, "ONNX002", Severity.ERROR, message, "copy the file into the folder of the model")
            elif not all(entries.get(key, "0").isdecimal() for key in ("offset", "length")):
                message = f"the data of {tensor_name} has an offset or length that is not a number of bytes"
                yield _finding(path, "ONNX002", Severity.ERROR, message, "export the model again")
            elif int(entries.get("offset", 0)) + int(entries.get("length", 0)) > file.stat().st_size:
                message = f"the data of {tensor_name} extends beyond the end of {entries['location']}"
                yield _finding(
                    path, "ONNX002", Severity.ERROR, message, "the file is truncated or belongs to another model"
                )


def _average_pools(path: Path, model: "ModelProto") -> Iterator[Diagnostic]:
    opset = next((entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"}), 1)
    version = max(since for since in VERSIONS if since <= max(opset, 1))
    for graph in _graphs(model.graph):
        for node in graph.node:
            if node.op_type == "AveragePool" and node.domain in {"", "ai.onnx"}:
                yield from _average_pool(path, node, opset, version)


def _average_pool(path: Path, node: "NodeProto", opset: int, version: int) -> Iterator[Diagnostic]:
    from onnx import AttributeProto
    from onnx.helper import get_attribute_value

    label = f"AveragePool-{version} '{node.name or (node.output[0] if node.output else '')}'"
    if not node.input or not node.input[0]:
        yield _node(path, node, "ONNX003", f"{label} has no input")
    wrong = False
    for entry in node.attribute:
        wanted, kind = KINDS.get(entry.name, "INTS"), AttributeProto.AttributeType.Name(entry.type)
        if entry.name in SINCE and kind != wanted:
            wrong = True
            yield _node(path, node, "ONNX003", f"{label}: {entry.name} is of type {kind}; expected {wanted}")
    if wrong:
        return
    attributes: dict[str, Any] = {entry.name: get_attribute_value(entry) for entry in node.attribute}
    for name in attributes:
        if name not in SINCE:
            known = ", ".join(SINCE)
            yield _node(path, node, "ONNX003", f"{label} has an unknown attribute {name} ({known})")
        elif SINCE[name] > version:
            message = f"{label} has {name}, which exists since opset {SINCE[name]}, but the model uses opset {opset}"
            yield _node(path, node, "ONNX003", message, f"convert the model to opset {SINCE[name]}, or remove {name}")
    try:
        average_pool(attributes)
    except UsageError as why:
        yield _node(path, node, "ONNX004", f"{label}: {why}")
        return
    for remark in disputed(attributes):
        yield _finding(path, "ONNX005", Severity.WARNING, f"{label}: {remark}", layer=node.name or None)


def _node(path: Path, node: "NodeProto", code: str, message: str, remedy: str | None = None) -> Diagnostic:
    return _finding(path, code, Severity.ERROR, message, remedy, layer=node.name or None)


def _finding(
    path: Path, code: str, severity: Severity, message: str, remedy: str | None = None, layer: str | None = None
) -> Diagnostic:
    return Diagnostic(code=code, severity=severity, message=message, file=str(path), help=remedy, layer_name=layer)


def _graphs(graph: "GraphProto") -> "Iterator[GraphProto]":
    """Yield the graph and those in the attributes of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    yield from _graphs(inner)


def _tensors(graph: "GraphProto") -> "Iterator[TensorProto]":
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
