"""Read an ONNX file as an IR model, with OpenVINO's frontend in a child process and an extension for AveragePool."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ir_tools import parameters
from ir_tools.diagnostics import Diagnostic
from ir_tools.display import brief_fields
from ir_tools.errors import RuntimeFailure, UsageError, WriteError
from ir_tools.files import TEMPORARY_ADVICE, temporary_folder
from ir_tools.format.read import read as read_ir
from ir_tools.graph import Model
from ir_tools.importers.onnx._failures import failure
from ir_tools.importers.onnx.extension import Translated
from ir_tools.importers.onnx.inspecting import check
from ir_tools.parameters import checked
from ir_tools.rewrite.target import parse_target
from ir_tools.runtime.extensions import Extensions, library_paths
from ir_tools.runtime.installed import require_openvino
from ir_tools.runtime.messages import explain
from ir_tools.runtime.module import run_module
from ir_tools.types import parse_shape

__all__ = ["Conversion", "convert", "read"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of `convert`.

    Attributes:
        model: the IR model.
        nodes: the AveragePool nodes, each with the layers that replace it and the proof.
        diagnostics: the findings about the file.

    Example:
        >>> conversion = ir_tools.onnx.convert("model.onnx")
        >>> conversion.nodes[0].name, conversion.nodes[0].layers, conversion.diagnostics
        ('pooled', 'AvgPool', ())
    """

    model: Model
    nodes: tuple[Translated, ...]
    diagnostics: tuple[Diagnostic, ...]

    __repr__ = brief_fields


@checked(path=parameters.PATH, to=parameters.OPSET, extensions=parameters.EXTENSIONS)
def read(path: str | Path, to: str = "opset8", extensions: Extensions = ()) -> Model:
    """Read an ONNX model as IR: AveragePool becomes layers of the opset `to`, OpenVINO converts the other nodes.

    Args:
        path: the path of the `.onnx`.
        to: the opset whose AvgPool is used, `opset8`, `opset14` or another.
        extensions: extension libraries with further operations, which OpenVINO loads.

    Returns:
        The model.

    Raises:
        ReadError: the file is broken, or OpenVINO cannot convert a node; node and attribute are named.
        MigrationError: the opset is unknown, or a node has no exact form in it (then with diagnostics).
        RuntimeFailure: OpenVINO crashes, takes too long, or is not installed.
        UsageError: an extension is not a file, or an argument has the wrong type.
        WriteError: the folder for temporary files has no space for the converted model.

    Example:
        >>> [layer.type for layer in ir_tools.onnx.read("model.onnx").graph.layers()]
        ['Parameter', 'AvgPool', 'Result']
    """
    return convert(path, to, extensions).model


@checked(path=parameters.PATH, to=parameters.OPSET, extensions=parameters.EXTENSIONS)
def convert(path: str | Path, to: str = "opset8", extensions: Extensions = ()) -> Conversion:
    """Read an ONNX model as IR, with the proof for each AveragePool.

    Args:
        path: the path of the `.onnx`.
        to: the opset whose AvgPool is used.
        extensions: extension libraries with further operations, which OpenVINO loads.

    Returns:
        The model, the translation of each AveragePool node, and the findings about the file.

    Raises:
        ReadError: as for `read`.
        MigrationError: as for `read`.
        RuntimeFailure: as for `read`.
        UsageError: an extension is not a file, or an argument has the wrong type.
        WriteError: the folder for temporary files has no space for the converted model.

    Example:
        >>> print(ir_tools.onnx.convert("model.onnx").nodes[0].proof)
        equal windows on ...
    """
    path = Path(path)
    parse_target(to)
    libraries = library_paths(extensions)
    require_openvino()
    diagnostics = check(path)
    with temporary_folder() as folder:
        out = folder / "model.xml"
        report = _convert(path, out, to, libraries)
        model = read_ir(out.read_bytes(), out.with_suffix(".bin"))
    model.weights.path = None
    nodes = tuple(
        Translated(**{**entry, "shape": parse_shape(entry["shape"]), "notes": tuple(entry["notes"])})
        for entry in report["nodes"]
    )
    return Conversion(model, nodes, diagnostics)


def _convert(path: Path, out: Path, to: str, libraries: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    who = f"{path}: the frontend"
    printed, error = run_module(who, "ir_tools.importers.onnx.worker", str(path), str(out), to, *libraries)
    lines = printed.splitlines()
    if not lines or not lines[-1].startswith("{"):
        raise RuntimeFailure(f"{who} cannot run: {error}", kind="missing")
    report = json.loads(lines[-1])
    if "usage" in report:
        raise UsageError(str(report["usage"]))
    if "unwritten" in report:
        reason = explain(str(report["unwritten"]))
        raise WriteError(f"{path}: {out} cannot be written: {reason}; {TEMPORARY_ADVICE}")
    if "error" in report:
        raise failure(path, str(report["error"]), report["ours"])
    found: dict[str, list[dict[str, Any]]] = report
    return found
