"""What the frontend's exceptions say of an ONNX file: a finding on one line, with the node's name."""

import re
from pathlib import Path

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import MigrationError, ReadError
from ir_tools.importers.onnx.inspecting import nodes
from ir_tools.runtime._messages import explain

__all__ = ["failure"]

_OURS = re.compile(
    r"<Node\((?P<type>\w+)\): (?P<output>.*?)>.*?: (?P<kind>\w+Error): (?P<why>.*?)\s+(At:|Summary:)", re.DOTALL
)
"""What the frontend makes of an error that the translation of AveragePool raised."""

_UNKNOWN = re.compile(r"No conversion rule found for operations: (?P<types>.+)")
_NOISE = re.compile(
    r"(FrontEnd API failed with \w+|Model wasn't fully converted\.( Failed operations detailed log)?|Summary|"
    r"Loading input model)[:;]*\s*"
)


def failure(path: Path, text: str) -> ReadError | MigrationError:
    """Why a conversion failed.

    Args:
        path: the ONNX file; its nodes' names are looked up where the `onnx` package is installed.
        text: of the exception. An exception of the extension is in it with its type and its traceback.
    """
    ours, unknown = _OURS.search(text), _UNKNOWN.search(text)
    if ours is None:
        message = f"the frontend cannot convert it: {_NOISE.sub('', explain(text)).strip(' ;-')}"
        if unknown:
            places = "; ".join(_places(path, word.strip()) for word in unknown["types"].split(","))
            message = f"the frontend has no conversion for {places}"
        return ReadError(Diagnostic(code="ONNX006", severity=Severity.ERROR, message=message, file=str(path)))
    refused = ours["kind"] == MigrationError.__name__
    name = next((node.name for node in nodes(path) if ours["output"] in node.output and node.name), ours["output"])
    why = " ".join(ours["why"].split())
    found = Diagnostic(
        code="ONNX007" if refused else "ONNX004",
        severity=Severity.ERROR,
        message=why if refused else f"{ours['type']} '{name}': {why}",
        file=str(path),
        layer_name=name,
    )
    return MigrationError(str(found), (found,)) if refused else ReadError(found)


def _places(path: Path, operation: str) -> str:
    """`Type-11` or `domain.Type`, with the nodes that are one."""
    kind = operation.partition("-")[0]
    found = [
        f"'{node.name or ', '.join(node.output)}'"
        for node in nodes(path)
        if kind == ".".join(filter(None, (node.domain.removeprefix("ai.onnx"), node.op_type)))
    ]
    return f"{operation} ({', '.join(found)})" if found else operation
