"""Reading the MODEL of a command: what is wrong with it is told as `validate` tells it, whatever the command is."""

from pathlib import Path

import click

import ir_tools
from ir_tools.cli._onnx import is_onnx
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import ReadError
from ir_tools.graph import Model

__all__ = ["findings", "load"]

NOTES = "ir_tools.findings"
"""Where the findings of the running command are kept."""


def load(path: Path) -> Model:
    """The model; its errors are kept for `findings`.

    Raises:
        ReadError: the file cannot be read; the diagnostics are those of `validate`.
    """
    if is_onnx(path):
        return ir_tools.read(path)
    try:
        model = ir_tools.read(path)
    except ReadError as unreadable:
        raise ReadError(*(_errors(path) or unreadable.diagnostics)) from None
    findings().extend(_errors(path))
    return model


def _errors(path: Path) -> list[Diagnostic]:
    from ir_tools.validation import validate

    return [found for found in validate(path) if found.severity is Severity.ERROR]


def findings() -> list[Diagnostic]:
    """What is wrong with the models of the running command."""
    found: list[Diagnostic] = click.get_current_context().meta.setdefault(NOTES, [])
    return found
