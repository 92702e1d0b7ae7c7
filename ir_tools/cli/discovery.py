"""Which files `validate` checks: those that are named, and the IR files below the folders that are named."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ir_tools.cli.paths import similar
from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import UsageError
from ir_tools.lfs import pointer_problem
from ir_tools.rules.storage import UNREADABLE_FILE

__all__ = ["Discovery", "discover", "keep_all", "require_none", "require_one"]

PEEK = 1 << 16
"""Bytes at the start of an `.xml` of a folder that decide whether it is an IR."""


class Excludes(Protocol):
    """Says which paths are left out."""

    def __call__(self, path: Path, *, named: bool = False) -> bool:
        """Return whether a path is left out; `named`: if it is one of the arguments."""
        ...


def keep_all(path: Path, *, named: bool = False) -> bool:
    """Leave out no path."""
    return False


@dataclass(slots=True)
class Discovery:
    """What was found under the arguments.

    Attributes:
        files: each once, in the order of the arguments.
        bad_arguments: an argument that names nothing that can be checked.
        unreadable: a folder below an argument that cannot be searched.
    """

    files: list[Path] = field(default_factory=list)
    bad_arguments: list[Diagnostic] = field(default_factory=list)
    unreadable: list[Diagnostic] = field(default_factory=list)

    def require_readable(self) -> None:
        """Check that there is nothing but files.

        Raises:
            UsageError: an argument names nothing that can be checked, or a folder cannot be searched.
        """
        require_none([*self.bad_arguments, *self.unreadable])


def require_none(problems: Sequence[Diagnostic]) -> None:
    """Check that there are no problems.

    Raises:
        UsageError: there are some; its message has all of them.
    """
    if problems:
        raise UsageError("; ".join(f"{bad.file}: {bad.message}" for bad in problems))


def require_one(weights: Path | None, files: Sequence[Path]) -> None:
    """Check that there is one file if there is a `--bin`.

    Raises:
        UsageError: there are several, or none.
    """
    if weights is not None and len(files) != 1:
        raise UsageError(f"--bin is for one file, but the paths contain {len(files)}")


def discover(arguments: Iterable[Path], excludes: Excludes, *, skip_others: bool = False) -> Discovery:
    """Look for the files to check.

    Args:
        arguments: files and folders; a `.bin` stands for the `.xml` beside it.
        excludes: says which paths to leave out.
        skip_others: leave out files that are not IR, also if they are named.
    """
    found, seen = Discovery(), set[Path]()
    for path in arguments:
        files, problem = _below(path, excludes, found.unreadable) if path.is_dir() else _named(path, excludes)
        if problem is not None and not (skip_others and path.is_file()):
            found.bad_arguments.append(_unreadable(path, *problem))
        for file in files:
            if file not in seen and not (skip_others and not _is_ir(file)):
                seen.add(file)
                found.files.append(file)
    return found


Problem = tuple[str, str | None]
"""What is wrong with an argument, and what to do."""


def _named(path: Path, excludes: Excludes) -> tuple[list[Path], Problem | None]:
    """Return a file that is named."""
    if not path.exists() and not path.is_symlink():
        return [], (f"there is no such file or folder{similar(path)}", None)
    if Path(os.path.realpath(path)).is_fifo():
        return [], ("is a named pipe", "copy its content to a file, or pass it as standard input")
    if path.suffix.lower() in {".bin", ".onnx"} and path.is_file():
        model = path.with_suffix(".xml")
        if path.suffix.lower() == ".onnx":
            return [], ("is not an IR; ir-tools migrate converts an .onnx to IR", None)
        if not model.exists():
            return [], ("is not an IR; name an .xml, or a folder with .xml files", None)
        path = model
    return [] if excludes(path, named=True) else [path], None


def _below(folder: Path, excludes: Excludes, unreadable: list[Diagnostic]) -> tuple[list[Path], Problem | None]:
    """Return the IR files of a folder, links that lead nowhere included; note folders that cannot be searched."""
    found: list[Path] = []
    before, excluded = len(unreadable), excludes(folder, named=True)

    def note(error: OSError) -> None:
        unreadable.append(_unreadable(Path(error.filename), f"the folder cannot be read: {error.strerror}"))

    for parent, folders, names in os.walk(folder, onerror=note) if not excluded else ():
        kept = [name for name in folders if not excludes(Path(parent, name))]
        models = [path for name in names if (path := Path(parent, name)).suffix.lower() == ".xml"]
        found += [path for path in models if not excludes(path) and _is_candidate(path)]
        excluded = excluded or len(kept) < len(folders) or any(map(excludes, models))
        folders[:] = kept
    if not found and not excluded and len(unreadable) == before:
        return [], ("this folder has no IR (.xml with a <net>)", None)
    return sorted(found), None


def _is_candidate(path: Path) -> bool:
    return _is_ir(path) if path.is_file() else path.is_symlink() and not path.exists()


def _is_ir(path: Path) -> bool:
    """Return whether an `.xml` is an IR, broken or not: it has a `<net>`, weights beside it, or is in Git LFS."""
    try:
        with path.open("rb") as file:
            start = file.read(PEEK)
    except OSError:
        return True
    known = b"<net" in start or b"<\0n\0e\0t" in start or pointer_problem(start, None) is not None
    return known or path.with_suffix(".bin").exists()


def _unreadable(path: Path, message: str, remedy: str | None = "check its permissions") -> Diagnostic:
    return Diagnostic(
        code=UNREADABLE_FILE.code, severity=UNREADABLE_FILE.severity, message=message, file=str(path), help=remedy
    )
