"""Writing models: the bytes of everything untouched are copied, and a pair of files is replaced whole or not at all."""

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ir_tools.collection import gc_paused
from ir_tools.errors import WriteError
from ir_tools.files import Growth, NewFile, check_target, forget, write_files
from ir_tools.format.changes import Changes, net_nodes
from ir_tools.format.content import SourceFile, blobs
from ir_tools.format.markup import Node, pieces
from ir_tools.graph import Model
from ir_tools.source import Document, Style

__all__ = ["check_output", "output_files", "render", "write"]

MAX_APPENDED = 1 << 20
"""Bytes that one call of the system writes without being interrupted for long."""


@gc_paused()
def render(model: Model) -> bytes:
    """Return the `.xml` of a model: the very bytes that were read, where nothing was changed.

    Raises:
        WriteError: the graph holds something that is not a layer, or a text holds what XML cannot.
    """
    if not isinstance(model.origin, SourceFile):
        return _whole(model)
    document = model.origin.document
    changes = Changes(document)
    changes.header(model.name, model.version)
    changes.net(document.root, model.graph)
    return document.encode(changes.patch.apply(document.text))


def write(model: Model, path: str | Path, *, overwrite: bool = True, beside: Sequence[NewFile] = ()) -> None:
    """Write `path`, the `.bin` beside it and more files; all, or none. Without `overwrite`, none may exist.

    A symbolic link is followed if the `.bin` beside it is a link to the same pair or not there (then it becomes one);
    else it is replaced, and the file that it led to stays as it is.

    Raises:
        WriteError: the pair cannot be written, or the model's own `.bin` is missing or cut off; the files are as they
            were.
    """
    pair = _pair_of(Path(path))
    _check_complete(model)
    text, weights = render(model), model.weights
    if weights.cut and not all(weights.holds(*place) for place in blobs(Document(text).root)):
        raise WriteError(f"{weights.path or 'the .bin'} is truncated or belongs to another model; nothing was written")
    own = weights.is_file(pair.bin)
    if not own:
        _check_pair(pair)
    files, growth = [NewFile(pair.xml, lambda file: file.write(text)), *beside], None
    if own and weights.pending and _may_grow(pair.bin, weights.pending):
        growth = Growth(pair.bin, b"".join(weights.tail()))
    elif weights.pending or not (weights.missing or own):
        files.insert(0, NewFile(pair.bin, weights.save, durable=own or not weights.stays))

    def confirm() -> None:
        if own and not weights.is_file(pair.bin):
            raise WriteError(f"{pair.bin} was changed by another program; nothing was written")

    with ExitStack() as undo:
        if pair.link is not None and (weights.pending or not weights.missing):
            _link(pair.link, pair.bin)
            undo.callback(forget, pair.link)
        write_files(files, growth=growth, overwrite=overwrite, confirm=confirm)
        undo.pop_all()


def check_output(path: Path) -> None:
    """Check that a pair can be written at `path`, and leave no trace.

    Raises:
        WriteError: not so, or the `.bin` belongs to something else: there is one, and no `.xml` beside it.
    """
    pair = _pair_of(path)
    for file in (path, pair.xml, pair.bin):
        check_target(file)
    _check_pair(pair)


def _check_complete(model: Model) -> None:
    """Check that the model has the weights that it was read without.

    Raises:
        WriteError: constants need a `.bin`, and there is none.
    """
    lacking = model.weights.lacking
    if lacking:
        name = model.weights.path or "the .bin"
        raise WriteError(f"{name} is missing, but constants need {lacking} bytes of it; nothing was written")


def output_files(path: Path) -> tuple[Path, Path]:
    """Return the `.xml` and the `.bin` that are written for `path`."""
    pair = _pair_of(path)
    return pair.xml, pair.bin


class _Pair(NamedTuple):
    """The files of a model, and the name beside a symbolic link to `xml` that has to become a link to `bin`."""

    xml: Path
    bin: Path
    link: Path | None = None


def _pair_of(path: Path) -> _Pair:
    if path.suffix.lower() != ".xml":
        raise WriteError(f"{path}: expected a name that ends in .xml")
    beside = path.with_suffix(".bin")
    if path.is_symlink():
        xml = Path(os.path.realpath(path))
        followed = xml.with_suffix(".bin")
        there = os.path.lexists(beside)
        if xml.suffix.lower() == ".xml" and (not there or Path(os.path.realpath(beside)) == followed):
            return _Pair(xml, followed, None if there else beside)
    return _Pair(path, beside)


def _may_grow(path: Path, size: int) -> bool:
    """Return whether constants of this size are appended to the model's own `.bin`, and not to a copy of it.

    The old `.xml` goes on to work with the longer file. One that has other names belongs to others, too.
    """
    status = path.lstat()
    return size <= MAX_APPENDED and stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _check_pair(pair: _Pair) -> None:
    if os.path.lexists(pair.bin) and not os.path.lexists(pair.xml):
        raise WriteError(
            f"{pair.bin} exists without {pair.xml.name}, so it belongs to another model; choose another name"
        )


def _link(link: Path, target: Path) -> None:
    try:
        link.symlink_to(os.path.relpath(target, os.path.realpath(link.parent)))
    except OSError as why:
        raise WriteError(f"{link} cannot be created: {why.strerror}; nothing was changed") from why


def _whole(model: Model) -> bytes:
    style = Style()
    net = Node("net", {"name": model.name, "version": str(model.version)}, net_nodes(model.graph, style, style.unit))
    text = "".join(chain(['<?xml version="1.0"?>\n'], pieces(net, style, ""), "\n"))
    del net  # before another copy is made of what it holds
    return text.encode()
