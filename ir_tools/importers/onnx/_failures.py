"""What the frontend's exceptions say of an ONNX file: a finding on one line, with the node's name."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import MigrationError, ReadError
from ir_tools.importers.onnx.inspecting import nodes
from ir_tools.runtime.messages import explain

__all__ = ["failure"]

_NODE = re.compile(r"<Node\(\w+\): (.*?)>")
"""A node in the frontend's texts, by its first output."""
_UNKNOWN = re.compile(r"No conversion rule found for operations: (?P<types>.+)")
_NOISE = re.compile(
    r"(FrontEnd API failed with \w+|Model wasn't fully converted\.( Failed operations detailed log)?|Summary|"
    r"Loading input model)[:;]*\s*"
)


def failure(path: Path, text: str, ours: Sequence[Mapping[str, Any]]) -> ReadError | MigrationError:
    """Return why a conversion failed.

    Args:
        path: the ONNX file; its nodes' names are looked up where the `onnx` package is installed.
        text: of the frontend's exception.
        ours: the errors of our translation of AveragePool: `why`, and whether the node was `refused`.
    """
    unknown = _UNKNOWN.search(text)
    if not ours:
        message = f"the frontend cannot convert it: {_NOISE.sub('', explain(text)).strip(' ;-')}"
        if unknown:
            places = "; ".join(_places(path, word.strip()) for word in unknown["types"].split(","))
            message = f"the frontend has no conversion for {places}"
        return ReadError(Diagnostic(code="ONNX006", severity=Severity.ERROR, message=message, file=str(path)))
    refused, why = ours[0]["refused"], " ".join(ours[0]["why"].split())
    place = _NODE.search(text)
    output = place[1] if place else ""
    name = next((node.name for node in nodes(path) if output in node.output and node.name), output)
    found = Diagnostic(
        code="ONNX007" if refused else "ONNX004",
        severity=Severity.ERROR,
        message=why if refused else f"AveragePool '{name}': {why}",
        file=str(path),
        layer_name=name,
    )
    return MigrationError(str(found), (found,)) if refused else ReadError(found)


def _places(path: Path, operation: str) -> str:
    """Return `Type-11` or `domain.Type`, with the nodes that are one."""
    kind = operation.partition("-")[0]
    found = [
        f"'{node.name or ', '.join(node.output)}'"
        for node in nodes(path)
        if kind == ".".join(filter(None, (node.domain.removeprefix("ai.onnx"), node.op_type)))
    ]
    return f"{operation} ({', '.join(found)})" if found else operation
