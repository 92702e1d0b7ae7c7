"""Reading the MODEL of a command: what is wrong with it is reported as by `validate`, whatever the command is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

import ir_tools
from ir_tools.checks import IrFile
from ir_tools.cli._onnx import is_onnx
from ir_tools.cli.app import NOTES
from ir_tools.collection import gc_paused
from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import ReadError
from ir_tools.format.read import load as read_bytes
from ir_tools.format.read import open_files
from ir_tools.graph import Model
from ir_tools.runtime.extensions import library_paths
from ir_tools.validation import errors_in

__all__ = ["findings", "load", "load_current"]


def load(path: Path, weights: Path | None = None, extensions: Sequence[Path] = ()) -> Model:
    """Return the model; its errors are kept for `findings`.

    Args:
        path: of the model, or a pipe with the `.xml`.
        weights: path of the `.bin`, if it is not the one beside the `.xml`.
        extensions: libraries with operations of the model.

    Raises:
        ReadError: the file cannot be read; the diagnostics are those of `validate`.
        UsageError: `weights` for an ONNX model.
    """
    if is_onnx(path, weights):
        return ir_tools.onnx.read(path, extensions=extensions)
    library_paths(extensions)
    try:
        file = IrFile(*open_files(path if path.is_file() else read_bytes(path), weights), extensions=bool(extensions))
    except ReadError as unreadable:
        raise ReadError(*_named(unreadable.diagnostics, path)) from None
    errors = [*_named(errors_in(file), path)]
    try:
        with gc_paused():
            model = file.whole_model()
    except ReadError as unreadable:
        raise ReadError(*(errors or _named(unreadable.diagnostics, path))) from None
    findings().extend(errors)
    return model


def load_current(path: Path, weights: Path | None = None, extensions: Sequence[Path] = ()) -> Model:
    """Return the model as `load`; a legacy one migrated to IR v11.

    Raises:
        ReadError: as `load`.
        UsageError: as `load`.
        MigrationError: a layer of a legacy model cannot be migrated.
    """
    from ir_tools.rewrite.legacy import current_model

    return current_model(load(path, weights, extensions))


def _named(found: Iterable[Diagnostic], path: Path) -> Iterator[Diagnostic]:
    """Yield the findings, those about a pipe with its name."""
    return (replace(one, file=one.file or str(path)) for one in found)


def findings() -> list[Diagnostic]:
    """Return what is wrong with the models of the running command."""
    found: list[Diagnostic] = click.get_current_context().meta.setdefault(NOTES, [])
    return found
