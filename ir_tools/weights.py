"""The `.bin` of a model, mapped into memory. Bytes are read without a copy; new constants are appended."""

from __future__ import annotations

import errno
import hashlib
import math
import mmap
import os
import shutil
import stat
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from ir_tools.diagnostics import Diagnostic
from ir_tools.display import shortened
from ir_tools.errors import ReadError
from ir_tools.lfs import LARGEST_POINTER, pointer_problem
from ir_tools.rules import Rule
from ir_tools.rules.storage import (
    BAD_CONSTANT,
    CONSTANT_OUTSIDE_WEIGHTS,
    MISSING_WEIGHTS,
    UNREADABLE_WEIGHTS,
    WRONG_CONSTANT_SIZE,
)
from ir_tools.types import ElementType, constant_type, id_number, whole_number
from ir_tools.types.packing import PackedArray, element_type_of, pack, unpack

__all__ = ["Weights", "constant", "stored_bytes", "values"]

Bytes = npt.NDArray[np.uint8]
ALIGNMENT = 64
"""Appended constants start at multiples of this number of bytes, which runtimes prefer."""
LARGEST = 2**63 - 1
CHUNK = 16 << 20
NO_COPYING = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.ETXTBSY}
"""Errors of `copy_file_range` between files that the system cannot copy itself."""


class Weights:
    """The bytes of a model's constants: those of the file, then those that were appended in memory.

    The file is mapped, not read as a whole, and never changed. A missing file raises an error only when one of its
    bytes is read. All offsets and sizes are in bytes.
    """

    def __init__(self, data: Bytes | None, path: Path | None = None) -> None:
        """Hold the bytes `data`, None if the file is missing; `open` and `from_bytes` are the usual constructors."""
        self.path = path
        self._data = data
        self.needed: Callable[[], int] | None = None
        self._stamp: tuple[int, ...] | None = None
        self._mapping: mmap.mmap | None = None
        self._starts: list[int] = []
        self._chunks: list[Bytes] = []
        self._known: dict[bytes, tuple[int, int]] = {}

    @classmethod
    def open(cls, path: Path | str | None) -> Self:
        """Map a file into memory.

        Raises:
            ReadError: the file exists and cannot be opened, or is a Git LFS pointer.
        """
        if path is None:
            return cls(None)
        path = Path(path)
        try:
            with open(path, "rb", opener=_open_at_once) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise OSError("it is not a regular file")
                stamp = _stamp(file.fileno())
                mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if stamp[-1] else None
        except FileNotFoundError:
            return cls(None, path)
        except (OSError, ValueError) as why:
            raise _error(
                UNREADABLE_WEIGHTS, path, f"cannot be opened: {getattr(why, 'strerror', None) or why}"
            ) from None
        pointer = pointer_problem(mapping[:LARGEST_POINTER] if mapping else b"", str(path))
        if pointer is not None:
            raise ReadError(pointer)
        weights = cls(np.frombuffer(mapping or b"", np.uint8), path)
        weights._stamp, weights._mapping = stamp, mapping
        return weights

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Self:
        """Use bytes that are already in memory, without a copy."""
        view = np.frombuffer(data, np.uint8)
        view.flags.writeable = False
        return cls(view)

    @property
    def size(self) -> int:
        """The number of bytes, including appended ones."""
        return self._starts[-1] + len(self._chunks[-1]) if self._chunks else self.stored

    @property
    def stored(self) -> int:
        """The number of bytes in the file."""
        return 0 if self._data is None else len(self._data)

    @property
    def missing(self) -> bool:
        """Whether there is no `.bin`."""
        return self._data is None

    @property
    def lacking(self) -> int:
        """The number of bytes that constants need from a missing `.bin`; 0 if it is not missing."""
        return 0 if self._data is not None or self.needed is None else self.needed()

    @property
    def cut(self) -> bool:
        """Whether constants need more bytes than the `.bin` has."""
        return self._data is not None and self.needed is not None and self.needed() > len(self._data)

    def holds(self, offset: int, size: int) -> bool:
        """Return whether a constant is inside the `.bin` as it was read, or was appended."""
        there = self._chunks[bisect_left(self._starts, offset) : bisect_right(self._starts, offset)]
        return offset + size <= self.stored or any(len(chunk) == size for chunk in there)

    @property
    def pending(self) -> int:
        """The number of appended bytes, including padding."""
        return self.size - self.stored

    def view(self, offset: int, nbytes: int) -> Bytes:
        """Return the `nbytes` bytes at `offset` as a read-only uint8 array, without a copy.

        Raises:
            ReadError: the bytes are outside the file and the appended constants, or the file is missing.
        """
        if offset < 0 or nbytes < 0:
            raise self._refuse(f"it has no {nbytes} bytes at offset {offset}")
        if self._chunks and offset >= self._starts[0]:
            index = bisect_right(self._starts, offset) - 1
            first = offset - self._starts[index]
            if first + nbytes <= len(self._chunks[index]):
                self._check_mapping()
                return self._chunks[index][first : first + nbytes]
        elif nbytes == 0 and self._data is None:
            return np.empty(0, np.uint8)
        elif self._data is not None and offset + nbytes <= len(self._data):
            self._check_mapping()
            return self._data[offset : offset + nbytes]
        raise self._refuse(f"it has {self.size} bytes, and a constant is at bytes {offset} to {offset + nbytes}")

    def append(self, data: npt.NDArray[Any] | bytes) -> tuple[int, int]:
        """Append a constant, or find an appended constant with the same bytes.

        Returns:
            Its offset and size in bytes, for the attributes `offset` and `size` of `<data>`.

        Raises:
            ReadError: the model has constants but no `.bin`, so the end of the file is unknown.
        """
        if self.lacking:
            raise self._refuse("a constant is to be added to it")
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        return self._append(np.frombuffer(raw, np.uint8))

    def take(self, other: Weights, offset: int, size: int) -> tuple[int, int]:
        """Append bytes of other weights as `append` does, without a copy. All calls must name weights of one file.

        Raises:
            ReadError: the other weights do not contain these bytes.
        """
        self._mapping = other._mapping
        return self._append(other.view(offset, size))

    def _append(self, chunk: Bytes) -> tuple[int, int]:
        key = hashlib.blake2b(chunk.data).digest()
        if key not in self._known:
            offset = -(-self.size // ALIGNMENT) * ALIGNMENT
            self._starts.append(offset)
            self._chunks.append(chunk)
            self._known[key] = (offset, len(chunk))
        return self._known[key]

    def copy(self) -> Weights:
        """Return a copy that shares the bytes; constants that are appended to one are not in the other."""
        twin = Weights(self._data, self.path)
        twin.needed = self.needed
        twin._stamp, twin._mapping = self._stamp, self._mapping
        twin._starts, twin._chunks, twin._known = [*self._starts], [*self._chunks], {**self._known}
        return twin

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle path, time and size of the file, which is mapped again, and what was appended; else the bytes."""
        mapped = self.stays
        data = None if mapped or self._data is None else self._data.tobytes()
        stamp = self._stamp[2:] if mapped and self._stamp is not None else None
        path = None if self.path is None else self.path.absolute()
        return _unpickled, (path, stamp, data, [chunk.tobytes() for chunk in self._chunks])

    def __repr__(self) -> str:
        """Return `Weights(37900000 bytes, model.bin)`."""
        return f"Weights({self.size} bytes{f', {shortened(str(self.path), 200)}' if self.path else ''})"

    def is_file(self, path: Path) -> bool:
        """Return whether `path` is the mapped file, and the file has not changed."""
        try:
            return self._stamp is not None and _stamp(path) == self._stamp
        except OSError:
            return False

    @property
    def stays(self) -> bool:
        """Whether the mapped file has not changed; False if there is none."""
        return self.path is not None and self.is_file(self.path)

    def save(self, file: IO[bytes]) -> None:
        """Write all bytes to a file; the system copies the mapped file if it has not changed.

        Raises:
            ReadError: another program changes the mapped file at the same time.
        """
        if self.path is not None and self.stays:
            with self.path.open("rb") as source:
                _copy(source, file, self.stored)
            if not self.stays:
                raise self._changed()
        elif self._data is not None:
            for start in range(0, len(self._data), CHUNK):
                self._check_mapping()
                file.write(self._data[start : start + CHUNK].data)
        file.writelines(self.tail())

    def tail(self) -> Iterator[bytes | memoryview]:
        """Yield the appended constants and the padding before each."""
        at = self.stored
        for offset, chunk in zip(self._starts, self._chunks, strict=True):
            yield bytes(offset - at)
            self._check_mapping()
            yield chunk.data
            at = offset + len(chunk)

    def _check_mapping(self) -> None:
        """Raise an error if the mapped file became shorter; reading beyond its end would kill the process."""
        if self._mapping is not None and self._mapping.size() < len(self._mapping):
            raise self._changed()

    def _changed(self) -> ReadError:
        return _error(
            UNREADABLE_WEIGHTS,
            self.path,
            "is being changed by another program",
            "run this again when that program is done",
        )

    def _refuse(self, message: str) -> ReadError:
        if self._data is not None:
            return _error(
                CONSTANT_OUTSIDE_WEIGHTS, self.path, message, "the .bin is truncated or belongs to another model"
            )
        return _error(
            MISSING_WEIGHTS, self.path, "is missing", "copy the .bin of the model there, or name it with --bin"
        )


def _unpickled(path: Path | None, stamp: tuple[int, ...] | None, data: bytes | None, added: list[bytes]) -> Weights:
    """Map the weights of a pickled model again.

    Raises:
        ReadError: the file is another one by now.
    """
    if stamp is None:
        weights = Weights(None if data is None else np.frombuffer(data, np.uint8), path)
    else:
        weights = Weights.open(path)
        if weights._stamp is None or weights._stamp[2:] != stamp:
            raise _error(UNREADABLE_WEIGHTS, path, "has changed since the model was pickled", "read the model again")
    for chunk in added:
        weights.append(chunk)
    return weights


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe without a writer is opened without waiting for one."""
    return os.open(path, flags | os.O_NONBLOCK)


def _error(rule: Rule, path: Path | None, message: str, remedy: str | None = None) -> ReadError:
    file = "the weights" if path is None else str(path)
    return ReadError(Diagnostic(code=rule.code, severity=rule.severity, message=message, file=file, help=remedy))


def _stamp(file: int | Path) -> tuple[int, ...]:
    status = os.stat(file)
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    """Copy `size` bytes: shared by both files if the file system supports that, else in the kernel, else in memory.

    Holes of the source, which use no storage, are holes of the target.
    """
    try:
        for start, end in _stored_parts(source.fileno(), size):
            while start < end:
                step = os.copy_file_range(source.fileno(), target.fileno(), end - start, start, start)
                if step == 0:
                    return
                start += step
    except OSError as why:
        if why.errno not in NO_COPYING:
            raise
        source.seek(0)
        target.seek(0)
        shutil.copyfileobj(source, target, CHUNK)
    target.truncate(size)
    target.seek(size)


def _stored_parts(file: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each stored part of a file; one part if the file system has no holes."""
    end = 0
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError as why:
            if why.errno != errno.ENXIO:
                yield end, size
            return
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, min(end, size)


def constant(raw: Mapping[str, str], weights: Weights) -> npt.NDArray[Any]:
    """Return the value of a `Const` layer as a read-only array, without a copy.

    Args:
        raw: the attributes of its `<data>`: `element_type`, `shape`, `offset` and `size`.
        weights: the `.bin`.

    Returns:
        The array, in the shape of the attribute `shape`. Element types that numpy does not have (packed types, nf4,
        f4e2m1, string) are returned as the stored bytes, in one uint8 dimension.

    Raises:
        ReadError: an attribute is missing or not a number, or contradicts another one or the size of the `.bin`.
    """
    kind, dims = _element_type(raw), _dims(raw)
    offset, size = _whole(raw, "offset"), _whole(raw, "size")
    if kind.kind == "string":
        return weights.view(offset, size)
    nbytes = kind.byte_size(math.prod(dims))
    if math.prod(dim for dim in dims if dim) * max(kind.bits, 8) > LARGEST:
        raise _error(WRONG_CONSTANT_SIZE, weights.path, f"a constant of shape {raw['shape']} does not fit into memory")
    if nbytes > size:
        raise _error(
            WRONG_CONSTANT_SIZE,
            weights.path,
            (
                f"the constant at offset {offset} has size {size}, but shape [{raw.get('shape')}] of {kind} takes "
                f"{nbytes} bytes"
            ),
            "correct the shape, element_type or size of the Const",
        )
    flat = weights.view(offset, nbytes)
    return flat if kind.dtype is None else flat.view(kind.dtype).reshape(dims)


def values(raw: Mapping[str, str], weights: Weights) -> npt.NDArray[Any]:
    """Return the value of a `Const` layer in an element type that numpy has, in the shape of the attribute `shape`.

    Packed types are unpacked (u1 to u6 as uint8, i4 as int8, nf4 and f4e2m1 as float32); strings are Python objects.

    Raises:
        ReadError: as for `constant`, or the bytes of a string constant are not a table of strings.
    """
    kind, stored = _element_type(raw), constant(raw, weights)
    if kind.dtype is not None:
        return stored
    dims = _dims(raw)
    if kind.kind == "string":
        return _strings(stored, math.prod(dims), weights).reshape(dims)
    return unpack(stored, kind, math.prod(dims)).reshape(dims)


def stored_bytes(values: npt.NDArray[Any]) -> Bytes:
    """Return the bytes of values in a `.bin`: packed types packed, strings as a table; the inverse of `values`.

    Raises:
        UsageError: OpenVINO has no element type for the values.
    """
    if element_type_of(values).kind == "string":
        return _table([str(text).encode(errors="surrogateescape") for text in values.reshape(-1)])
    return pack(values) if isinstance(values, PackedArray) else np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def _table(texts: Sequence[bytes]) -> Bytes:
    """Return a table of strings, as `_strings` reads it."""
    head = np.array([len(texts), *accumulate(map(len, texts), initial=0)], "<u4")
    return np.frombuffer(head.tobytes() + b"".join(texts), np.uint8)


def _strings(data: Bytes, count: int, weights: Weights) -> npt.NDArray[Any]:
    """Return a table of strings: how many, where each begins and the last ends (32 bits each), the bytes of all."""
    head = data[: 4 * (count + 2)].view("<u4") if len(data) >= 4 * (count + 2) else np.empty(0, np.uint32)
    places = head[1:].astype(np.int64)
    text = data[4 * (count + 2) :]
    broken = not len(head) or head[0] != count or (np.diff(places) < 0).any() or places[-1] > len(text)
    if broken:
        raise _error(
            WRONG_CONSTANT_SIZE, weights.path, f"a constant of {count} strings has no valid table of its strings"
        )
    ends = zip(places[:-1].tolist(), places[1:].tolist(), strict=True)
    texts = [bytes(text[start:end]).decode(errors="surrogateescape") for start, end in ends]
    return np.array(texts, dtype=object)


def _element_type(raw: Mapping[str, str]) -> ElementType:
    name = raw.get("element_type", "")
    kind = constant_type(name)
    if kind is None:
        raise _error(BAD_CONSTANT, None, f"a constant has element_type '{name[:40]}', which is not an element type")
    if kind.kind == "dynamic":
        raise _error(BAD_CONSTANT, None, "a constant's element_type cannot be dynamic")
    return kind


def _dims(raw: Mapping[str, str]) -> tuple[int, ...]:
    words = [word.strip() for word in raw.get("shape", "").split(",")]
    if not words[-1]:
        words.pop()
    dims = [dim for dim in map(whole_number, words) if dim is not None]
    if len(dims) != len(words):
        raise _error(BAD_CONSTANT, None, f"'{raw['shape']}' is not the shape of a constant", "write sizes such as 1, 3")
    return tuple(dims)


def _whole(raw: Mapping[str, str], name: str) -> int:
    number = id_number(raw.get(name))
    if number is None:
        message = f"a constant has {name} '{raw[name]}'" if raw.get(name) else f"a constant has no {name}"
        raise _error(BAD_CONSTANT, None, message, f"write {name} as a number of bytes")
    return number
