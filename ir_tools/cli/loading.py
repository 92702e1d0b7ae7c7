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
from ir_tools.errors import ReadError, WriteError
from ir_tools.format.read import load as read_bytes
from ir_tools.format.read import model_of, open_files
from ir_tools.format.write import check_complete
from ir_tools.graph import Model
from ir_tools.runtime.extensions import library_paths
from ir_tools.validation import errors_in

__all__ = ["check_weights", "findings", "load", "load_current"]


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
            model = file.model if file.is_whole else model_of(file.document, file.weights, file.path)
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


def check_weights(model: Model) -> None:
    """Check that all weights of a model that was loaded are there, before it is written in another form.

    Raises:
        WriteError: the `.bin` is missing or cut off.
    """
    from ir_tools.rules.storage import CONSTANT_OUTSIDE_WEIGHTS

    check_complete(model)
    cut = next((one for one in findings() if one.code == CONSTANT_OUTSIDE_WEIGHTS.code), None)
    if cut is not None:
        raise WriteError(f"{model.weights.path or 'the .bin'} is cut off or of another model; nothing was written")


def _named(found: Iterable[Diagnostic], path: Path) -> Iterator[Diagnostic]:
    """Yield the findings, those about a pipe with its name."""
    return (replace(one, file=one.file or str(path)) for one in found)


def findings() -> list[Diagnostic]:
    """Return what is wrong with the models of the running command."""
    found: list[Diagnostic] = click.get_current_context().meta.setdefault(NOTES, [])
    return found
