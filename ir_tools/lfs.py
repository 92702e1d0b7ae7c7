"""Pointers of Git LFS: what a checkout has in place of a large file that was not downloaded."""

from ir_tools.diagnostics import Diagnostic
from ir_tools.rules.storage import GIT_LFS_POINTER

__all__ = ["LARGEST_POINTER", "pointer_problem"]

BEGINNING = b"version https://git-lfs.github.com/spec/"
"""Of every pointer: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md."""
LARGEST_POINTER = 1024
"""Pointers have fewer bytes."""


def pointer_problem(data: bytes, file: str | None) -> Diagnostic | None:
    """Return the finding for a file that holds a pointer; None for any other file."""
    if len(data) >= LARGEST_POINTER or not data.startswith(BEGINNING):
        return None
    return Diagnostic(
        code=GIT_LFS_POINTER.code,
        severity=GIT_LFS_POINTER.severity,
        message="the file is a Git LFS pointer; the file itself was not downloaded",
        file=file,
        line=1,
        help="run git lfs pull",
    )
