"""The inputs that a command line names: files of arrays, images, generators of values, new shapes."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ir_tools.cli.images import ImageOptions, split_name
from ir_tools.display import quoted_names
from ir_tools.errors import IrToolsError, RuntimeFailure, UsageError, WriteError
from ir_tools.files import check_readable
from ir_tools.lfs import LARGEST_POINTER, pointer_problem

if TYPE_CHECKING:
    from ir_tools.cli.app import Row
    from ir_tools.cli.screen import Screen
    from ir_tools.diagnostics import Diagnostic
    from ir_tools.graph import Model
    from ir_tools.inputs import InputPlan, InputValue
    from ir_tools.ops import Array

__all__ = ["InputOptions", "listing_made_up", "not_run", "read_arrays", "show_plan"]

TO_READ = ("reading the model", "compiling the model")
"""The stages of the runtime that inputs have no part in."""


@dataclass(frozen=True, slots=True)
class InputOptions:
    """What a command line says of the inputs of a model.

    Attributes:
        texts: of `--input`: `NAME=FILE`, `NAME=GENERATOR`, or either without a name.
        seed: of `--seed`.
        shapes: of `--set`, as pairs of name and shape; the name is empty if there is none.
        images: of `--layout`, `--mean`, `--scale` and `--color`.
    """

    texts: tuple[str, ...] = ()
    seed: int = 0
    shapes: tuple[tuple[str, str], ...] = ()
    images: ImageOptions = field(default_factory=ImageOptions)

    def words(self) -> Iterator[str]:
        """Yield the options as a command line."""
        yield from ("--seed", str(self.seed))
        shapes = tuple("=".join(filter(None, pair)) for pair in self.shapes)
        options = {"--input": self.texts, "--set": shapes, **self.images.given}
        for option, values in options.items():
            for value in values:
                yield from (option, value)

    def reshaped(self, model: "Model", extensions: Sequence[Path] = ()) -> "Model":
        """Return the model with the shapes of `--set`; the same model if there are none.

        Layers without a shape rule are asked of the runtime, which loads `extensions`.

        Raises:
            UsageError: an unknown input, or text that is not a shape.
            ShapeError: a layer that cannot take its new inputs.
        """
        from ir_tools.api import reshaped

        return reshaped(model, dict(self.shapes), extensions)

    def plan(self, model: "Model") -> "InputPlan":
        """Return what each input of the model gets.

        Raises:
            UsageError: a file that cannot be read, an input that the model does not have or that does not take it.
        """
        from ir_tools.inputs import plan_inputs

        values = self.values(model)
        for name, entries in values.items():
            if len(entries) > 1:
                shown = name or model.inputs[0].name
                raise UsageError(f"--input: input '{shown}' has {len(entries)} values; leave out all but one")
        return plan_inputs(model, {name: entries[0] for name, entries in values.items()}, seed=self.seed)

    def values(self, model: "Model") -> "dict[str, list[InputValue]]":
        """Return the arrays and generators of `--input` by name, or by an empty one if they have none.

        An image is resized to the input's height and width; its values stay 0 to 255 unless `--mean` and `--scale`
        say otherwise.

        Raises:
            UsageError: a file that cannot be read or does not hold an array, an image that the input does not take.
        """
        names = {alias for end in model.inputs for alias in end.names}
        self.images.require_names(names)
        if not any(_is_image(split_name(text, names)[1]) for text in self.texts):
            self.images.require_none()
        found: dict[str, list[InputValue]] = {}
        for text in self.texts:
            for name, value in self._load(text, model):
                found.setdefault(name, []).append(value)
        return found

    def _load(self, text: str, model: "Model") -> "Iterator[tuple[str, InputValue]]":
        from ir_tools.inputs import input_facts, is_generator, parse_generator

        ends = {alias: end for end in model.inputs for alias in end.names}
        name, value = split_name(text, set(ends))
        label = f"--input {text}"
        if is_generator(value):
            yield name, parse_generator(value)
            return
        if not name and "=" in value and not Path(value).exists():
            raise UsageError(f"{label}: the model has no input '{text.partition('=')[0]}'; it has {_known(model)}")
        kind = Path(value).suffix.lower()
        arrays = None if _is_image(value) else read_arrays(value, label)
        if arrays and not name and kind == ".npz" and (len(arrays) > 1 or len(model.inputs) > 1):
            yield from arrays.items()
            return
        if not name and len(model.inputs) != 1:
            raise UsageError(f"{label}: the model has more than one input; name one as NAME=FILE: {_known(model)}")
        end = ends[name] if name else model.inputs[0]
        if arrays is not None:
            yield name, _only(name, arrays, label)
        else:
            yield name, self.images.load(value, set(end.names), *input_facts(model)[end.name], label)


def show_plan(screen: "Screen", plan: "InputPlan") -> None:
    """Show one line for each input whose sizes or values were chosen, or that was cast."""
    entries = [entry for entry in plan.inputs if entry.sizes_chosen or entry.values_chosen or entry.why]
    if entries:
        screen.heading("Inputs that were generated or cast (--input and --set change them)")
    for entry in entries:
        screen.line(str(entry))


def _is_image(value: str) -> bool:
    """Return whether a value of `--input` is a file other than an array."""
    from ir_tools.inputs import is_generator

    return not is_generator(value) and Path(value).suffix.lower() not in {".npy", ".npz"}


def _known(model: "Model") -> str:
    return quoted_names(end.name for end in model.inputs)


def _pointer(file: Path) -> "Diagnostic | None":
    """Return the finding for a file that holds a Git LFS pointer; None for any other, and for a stream."""
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        return pointer_problem(stream.read(LARGEST_POINTER), str(file))


def _is_numpy(file: Path) -> bool:
    """Return whether a file begins as a `.npy` or a zip does; numpy takes all others for pickled objects."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(6).startswith((b"\x93NUMPY", b"PK"))


def read_arrays(file: str, label: str) -> "dict[str, Array]":
    """Return the arrays of a `.npy` or `.npz` by name; that of a `.npy` has none.

    Raises:
        UsageError: a file that cannot be read or holds something else; it begins with `label`.
    """
    check_readable(Path(file))
    try:
        with open(file, "rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            return {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded.items())
    except OSError as error:
        raise UsageError(f"{label}: {error.strerror or error}") from None
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        pointer = _pointer(Path(file))
        if pointer is not None:
            raise UsageError(f"{label}: {file}: {pointer.message}; {pointer.help}") from None
        objects = "allow_pickle" in str(error) and _is_numpy(Path(file))
        reason = "it holds Python objects" if objects else "it is damaged, or is another kind of file"
        raise UsageError(f"{label}: {file} is not a .npy or .npz of numbers: {reason}") from None


def _only(name: str, arrays: "dict[str, Array]", label: str) -> "Array":
    """Return the array of the input's name, or the only one."""
    if name in arrays:
        return arrays[name]
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    raise UsageError(f"{label}: the file has no array '{name}'; it has {quoted_names(arrays)}")


def not_run(error: IrToolsError) -> "Row":
    """Return why models did not run, and what to do if their inputs may be the cause.

    Raises:
        WriteError: the error, if it is one of the disk.
    """
    if isinstance(error, WriteError):
        raise error
    help = (
        "pass inputs that the model accepts with --input, or set their sizes with --set" if _by_inputs(error) else None
    )
    return {"ok": False, "error": str(error), "help": help, "outputs": []}


def _by_inputs(error: IrToolsError) -> bool:
    """Return whether the inputs may be the cause of an error."""
    return not isinstance(error, RuntimeFailure) or (error.kind == "rejected" and error.stage not in TO_READ)


@contextmanager
def listing_made_up(plan: "InputPlan") -> Iterator[None]:
    """Let the failure of a runtime list the inputs that were made up, if they may be its cause.

    Raises:
        RuntimeFailure: the failure.
    """
    try:
        yield
    except RuntimeFailure as failure:
        made_up = [str(entry) for entry in plan.inputs if entry.values_chosen]
        if not made_up or not _by_inputs(failure):
            raise
        text = f"{failure}; generated inputs: {'; '.join(made_up)} (--input and --set change them)"
        raise RuntimeFailure(text, kind=failure.kind, stage=failure.stage, reason=failure.reason) from None
