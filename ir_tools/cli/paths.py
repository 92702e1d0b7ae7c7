"""Paths on the command line: each type of option says which files the command reads or writes because of it.

`guarded` holds for every command that no file is written that is read, and that what is to be written can be.
"""

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ir_tools.display import either
from ir_tools.errors import UsageError
from ir_tools.files import check_folder, check_readable, check_target, is_stream, protecting, same_file

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = [
    "InputPath",
    "ModelPath",
    "ModelsPath",
    "OutputFile",
    "OutputFolder",
    "OutputModel",
    "Reading",
    "Writing",
    "guarded",
    "require_xml",
    "similar",
]

Value = TypeVar("Value")


class Completed(click.ParamType[Value]):
    """An argument or option that shells complete with names of files."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Let the shell complete the name."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class Reading(Completed[Value]):
    """An argument or option that names files to read."""

    def reads(self, value: Value) -> Iterable[Path]:
        """Yield the files."""
        raise NotImplementedError


class Writing(Completed[Path]):
    """An option that names what to write."""

    def writes(self, path: Path) -> Iterable[Path]:
        """Yield the files whose names are known."""
        raise NotImplementedError

    def check(self, path: Path) -> None:
        """Raise an error if they cannot be written; leave no trace."""
        raise NotImplementedError


class InputPath(Reading[Path]):
    """A file to read."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; UsageError if there is no such file."""
        path = _named(value)
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")
        if not path.exists():
            raise UsageError(f"{path}: there is no such file")
        check_readable(path)
        return path

    def reads(self, value: Path) -> Iterable[Path]:
        """Yield the file."""
        yield value


class ModelPath(Reading[Path]):
    """The path of an IR's `.xml` or of an `.onnx` that exists; `-` is standard input."""

    name = "model"

    def __init__(self, *, folders: bool = False) -> None:
        """`folders`: whether it may be a folder with models."""
        self._folders = folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; UsageError that says what is wrong with it."""
        path = Path("/dev/stdin") if str(value) == "-" else _named(value)
        if path.is_dir() and self._folders:
            return path
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name an .xml{_listed(path)}")
        if not path.exists():
            if path.is_symlink():
                raise UsageError(f"{path} is a link to {path.readlink()}, which does not exist; correct the link")
            raise UsageError(f"{path}: there is no such file{similar(path)}")
        if path.suffix.lower() == ".onnx" and not path.is_file():
            raise UsageError(f"{path} is not a regular file; copy its content to a file")
        if path.suffix.lower() == ".bin":
            raise UsageError(f"{path} contains weights; name the .xml beside it")
        return path

    def reads(self, value: Path) -> Iterable[Path]:
        """Yield the model and its weights, or those of a folder."""
        if value.is_dir():
            yield from ModelsPath().reads(value)
            return
        yield value
        if value.suffix.lower() != ".onnx":
            yield value.with_suffix(".bin")
            return
        from ir_tools.importers.onnx.external import external_files

        yield from external_files(value)


class ModelsPath(Reading[Path]):
    """The path of a model or of a folder with models, whatever it is."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        return _named(value)

    def reads(self, value: Path) -> Iterable[Path]:
        """Yield the models and their weights."""
        for path in value.rglob("*.[xX][mM][lL]") if value.is_dir() else [value]:
            yield path
            yield path.with_suffix(".bin")


class OutputFile(Writing):
    """The path of a file to write, with one of a few endings; a pipe or device may have any name."""

    name = "file"

    def __init__(self, *endings: str) -> None:
        """Accept names with these `endings`, those that the command writes (`.npz`); any if there are none."""
        self._endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; UsageError if it has another ending."""
        path = _named(value)
        if self._endings and path.suffix.lower() not in self._endings and not is_stream(path):
            raise UsageError(f"{path}: expected a name that ends in {either(self._endings)}")
        return path

    def writes(self, path: Path) -> Iterable[Path]:
        """Yield the file."""
        yield path

    def check(self, path: Path) -> None:
        """Raise an error if it cannot be written."""
        if not is_stream(path):
            check_target(path)


def require_xml(path: Path) -> None:
    """Check that a model can be written under a name.

    Raises:
        UsageError: it does not end in `.xml`.
    """
    if path.suffix.lower() != ".xml":
        raise UsageError(f"{path} does not end in .xml; expected the name of an .xml, beside which the .bin is written")


class OutputModel(Writing):
    """The path of an `.xml` to write, with the `.bin` beside it."""

    name = "file"

    def __init__(self, *, may_replace_model: bool = False, folders: bool = False) -> None:
        """`may_replace_model`: whether it may be the model that the command reads; `folders`: or a folder for more."""
        self.may_replace_model = may_replace_model
        self._folders = folders

    def _is_folder(self, path: Path) -> bool:
        return self._folders and path.suffix.lower() != ".xml"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; UsageError if it does not end in `.xml`."""
        path = _named(value)
        if not self._folders:
            require_xml(path)
        return path

    def writes(self, path: Path) -> Iterable[Path]:
        """Yield the `.xml` and the `.bin`, or the folder."""
        if self._is_folder(path):
            yield path
            return
        from ir_tools.format.write import output_files

        yield from output_files(path)

    def check(self, path: Path) -> None:
        """Raise an error if they cannot be written."""
        if self._is_folder(path):
            if path.exists() and not path.is_dir():
                raise UsageError(f"{path} does not end in .xml; name an .xml, or for a folder of models a folder")
            OutputFolder().check(path)
            return
        from ir_tools.format.write import check_output

        check_output(path)


class OutputFolder(Writing):
    """The path of a folder to write files into; it is made if it does not exist."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        return _named(value)

    def writes(self, path: Path) -> Iterable[Path]:
        """Yield the folder."""
        yield path

    def check(self, path: Path) -> None:
        """Raise an error if it, or the nearest folder above it that exists, cannot be written to."""
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} {'is a file' if path.is_file() else 'is a device or pipe'}; name a folder")
        check_folder(next(folder for folder in (path, *path.absolute().parents) if folder.exists()))


@contextmanager
def guarded(context: click.Context, *, overwrite: bool) -> Iterator[None]:
    """Run a command whose outputs were checked and whose inputs are protected.

    Args:
        context: of the command, with the values of its parameters.
        overwrite: whether it may replace files that exist.

    Raises:
        IrToolsError: an output is also an input, or another output, or cannot be written.
    """
    outputs = [(kind, path) for kind, path in _values(context) if isinstance(kind, Writing)]
    if not outputs:
        yield
        return
    with protecting(_read(context, outputs), overwrite=overwrite):
        for kind, path in outputs:
            kind.check(path)
        names = [file for kind, path in outputs for file in kind.writes(path)]
        for first, second in combinations(names, 2):
            if same_file(first, second) or _folded(first) == _folded(second):
                raise UsageError(f"{first} would be written twice; name different files")
        yield


def _values(context: click.Context) -> Iterator[tuple[click.ParamType[Any], Any]]:
    """Yield type and value of each argument and option that was given, repeated ones one by one."""
    for param in context.command.params:
        value = context.params.get(param.name or "")
        several = param.multiple if isinstance(param, click.Option) else param.nargs != 1
        for one in value or () if several else () if value is None else (value,):
            yield param.type, one


def _read(context: click.Context, outputs: list[tuple[Writing, Path]]) -> list[Path]:
    """Return the files that the command reads, without models that it may replace and that an output names or holds."""
    replaced = [path for kind, path in outputs if isinstance(kind, OutputModel) and kind.may_replace_model]
    files: list[Path] = []
    for kind, value in _values(context):
        if isinstance(kind, ModelPath) and any(same_file(value, path) for path in replaced):
            continue
        if isinstance(kind, Reading):
            held = [path for path in replaced if isinstance(kind, ModelPath) and path.is_dir()]
            files += (file for file in kind.reads(value) if not any(map(partial(_is_below, file), held)))
    return files


def _is_below(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _folded(path: Path) -> str:
    """Return the full name, the same for names that a file system without case takes for one."""
    return os.path.realpath(path).casefold()


def _named(value: str | Path) -> Path:
    """Return a path; UsageError if it is empty, as a variable of the shell that is not set."""
    if not str(value):
        raise UsageError("the name of a file is empty")
    return Path(value)


def similar(path: Path) -> str:
    """Return what a path that does not exist may be a misspelling of, as the end of a message; else nothing."""
    if not path.parent.is_dir():
        return ""
    names = {entry.stem: entry.name for entry in path.parent.iterdir() if entry.suffix in {".xml", ".onnx"}}
    close = difflib.get_close_matches(path.stem, names, n=1)
    return f"; did you mean {path.with_name(names[close[0]])}?" if close else ""


def _listed(folder: Path) -> str:
    files = sorted(path.name for path in folder.glob("*.xml"))[:3]
    return f" in it, such as {files[0]}" if files else ""
