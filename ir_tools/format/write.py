"""Writing models: the bytes of everything untouched are copied, and a pair of files is replaced whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, NamedTuple

from ir_tools.collection import no_collection
from ir_tools.errors import WriteError
from ir_tools.format.changes import Changes, net_nodes
from ir_tools.format.content import SourceFile
from ir_tools.format.markup import Node
from ir_tools.format.markup import render as render_node
from ir_tools.graph import Model
from ir_tools.source import Style

__all__ = ["render", "write"]


def render(model: Model) -> bytes:
    """The `.xml` of a model: the very bytes that were read, where nothing was changed.

    Raises:
        WriteError: the graph holds something that is no layer, or a text holds what XML cannot.
    """
    if not isinstance(model.origin, SourceFile):
        return _whole(model)
    document = model.origin.document
    changes = Changes(document)
    with no_collection():
        changes.header(model.name, model.version)
        changes.net(document.root, model.graph)
    return document.encode(changes.patch.apply(document.text)) if changes.patch else document.data


def write(model: Model, path: str | Path) -> None:
    """Write `path` and the `.bin` beside it; both, or neither.

    A model whose `.bin` is not there is written without one.

    Raises:
        WriteError: it cannot be written; the files are as they were.
    """
    target = Path(path)
    if target.suffix.lower() != ".xml":
        raise WriteError(f"{target}: the name of a model ends in .xml")
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise WriteError(f"{target.parent}: there is no such folder; make it first")
    text, beside = render(model), target.with_suffix(".bin")
    weights, jobs = model.weights, []
    own = weights.is_file(beside)
    if weights.pending or not (weights.missing or own):
        jobs.append(_Job(beside, weights.save, own))
    jobs.append(_Job(target, lambda file: file.write(text), True))
    try:
        _replace_all(jobs)
    except OSError as why:
        raise WriteError(f"{target}: cannot be written: {why.strerror or why}; nothing was changed") from why


class _Job(NamedTuple):
    """A file to be made by `fill`. `sync`: it must be on the disk before it takes the place of the old one.

    That is so where the old one may be all that there is: not for weights that are copied from a file that stays.
    """

    path: Path
    fill: Callable[[IO[bytes]], object]
    sync: bool


def _replace_all(jobs: Sequence[_Job]) -> None:
    """Write every file under another name, then rename; undo the first renames when a later one fails."""
    with ExitStack() as tidy, ExitStack() as undo:
        new = []
        for job in jobs:
            new.append(_beside(job.path))
            tidy.callback(_forget, new[-1])
            _fill(new[-1], job)
        for temporary, job in zip(new, jobs, strict=True):
            _keep(job.path, undo, tidy)
            os.replace(temporary, job.path)
        undo.pop_all()


def _fill(temporary: Path, job: _Job) -> None:
    with temporary.open("xb") as file:
        job.fill(file)
        file.flush()
        if job.sync:
            os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        shutil.copymode(job.path, temporary)


def _keep(path: Path, undo: ExitStack, tidy: ExitStack) -> None:
    """Keep what stands at `path` under a second name, to be put back by `undo` and dropped by `tidy`."""
    if not path.exists():
        undo.callback(_forget, path)
        return
    old = _beside(path)
    tidy.callback(_forget, old)
    try:
        os.link(path, old)
    except OSError:
        shutil.copy2(path, old)
    undo.callback(os.rename, old, path)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


def _forget(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _whole(model: Model) -> bytes:
    style = Style()
    net = Node("net", {"name": model.name, "version": str(model.version)}, net_nodes(model.graph, style, style.unit))
    return f'<?xml version="1.0"?>\n{render_node(net, style, "")}\n'.encode()
