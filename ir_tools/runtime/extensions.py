"""Libraries with operations of others, which the runtime loads: checked here, loaded where OpenVINO runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools.errors import UsageError
from ir_tools.runtime.messages import explain

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["Extensions", "add_extensions", "core_with", "library_paths"]

Extensions = str | Path | Sequence[str | Path]
"""Paths of extension libraries, or one path."""


def library_paths(extensions: Extensions) -> tuple[str, ...]:
    """Return the absolute paths of libraries.

    Raises:
        UsageError: one of them is not a file.
    """
    paths = [Path(entry) for entry in ([extensions] if isinstance(extensions, str | Path) else extensions)]
    for path in paths:
        if not path.is_file():
            what = "is a folder; expected a library" if path.is_dir() else "there is no such file"
            raise UsageError(f"extension {path}: {what}")
    return tuple(str(path.absolute()) for path in paths)


@cache
def core_with(paths: tuple[str, ...]) -> ov.Core:
    """Return a Core of this process with libraries loaded; it stays, because its models need the libraries.

    Raises:
        UsageError: as `add_extensions`.
    """
    import openvino as ov

    core = ov.Core()
    add_extensions(core, paths)
    return core


def add_extensions(core: ov.Core, paths: Iterable[str]) -> None:
    """Load libraries into a Core.

    Raises:
        UsageError: one of them is broken, or has no operations for this OpenVINO.
    """
    for path in paths:
        try:
            core.add_extension(path)
        except RuntimeError as error:
            reason = explain(str(error)).rpartition("This error happened: ")[2]
            reason = reason.rpartition(f"{path}: ")[2]
            expected = "expected a shared library with operations for this OpenVINO"
            raise UsageError(f"extension {path} cannot be loaded: {reason}; {expected}") from None
