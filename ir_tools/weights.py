"""The `.bin` of a model: mapped, read without copying, and only ever appended to."""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import shutil
from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import ReadError
from ir_tools.types import ElementType, constant_type, id_number, whole_number
from ir_tools.types.packing import unpack

__all__ = ["Weights", "constant", "values"]

Bytes = npt.NDArray[np.uint8]
ALIGNMENT = 64
"""Appended constants start at multiples of it, as runtimes like them."""
LARGEST = 2**63 - 1
CHUNK = 16 << 20


class Weights:
    """The bytes that constants point into: those of the file, then those that were appended in memory.

    The file is mapped, never read as a whole. A file that is not there matters only when one of its bytes is asked
    for. Nothing here ever changes a file.
    """

    def __init__(self, data: Bytes | None, path: Path | None = None, needed: Callable[[], int] | None = None) -> None:
        """`data`: the bytes, None where there are none to be had; see `open` and `from_bytes`."""
        self.path = path
        self._data = data
        self._needed = needed
        self._stamp: tuple[int, ...] | None = None
        self._starts: list[int] = []
        self._chunks: list[Bytes] = []
        self._known: dict[bytes, tuple[int, int]] = {}

    @classmethod
    def open(cls, path: Path | str | None, needed: Callable[[], int] | None = None) -> Self:
        """Map a file. `needed` says how many bytes the model asks for, in case there is no file.

        Raises:
            ReadError: the file is there and cannot be opened.
        """
        if path is None:
            return cls(None, None, needed)
        path = Path(path)
        try:
            with path.open("rb") as file:
                stamp = _stamp(file.fileno())
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if stamp[-1] else b""
        except FileNotFoundError:
            return cls(None, path, needed)
        except (OSError, ValueError) as why:
            raise _error("IR010", path, f"cannot be opened: {getattr(why, 'strerror', None) or why}") from None
        weights = cls(np.frombuffer(data, np.uint8), path)
        weights._stamp = stamp
        return weights

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Self:
        """Weights that are in memory already; they are not copied."""
        view = np.frombuffer(data, np.uint8)
        view.flags.writeable = False
        return cls(view)

    @property
    def size(self) -> int:
        """Bytes in the file and appended to it."""
        return self._starts[-1] + len(self._chunks[-1]) if self._chunks else self.stored

    @property
    def stored(self) -> int:
        """Bytes without those that were appended."""
        return 0 if self._data is None else len(self._data)

    @property
    def missing(self) -> bool:
        """Whether there is no `.bin`."""
        return self._data is None

    @property
    def pending(self) -> int:
        """Bytes that were appended, fill between them included."""
        return self.size - self.stored

    def view(self, offset: int, nbytes: int) -> Bytes:
        """`nbytes` from `offset` on, read-only and not copied.

        Raises:
            ReadError: they are not all there, or there is no file.
        """
        if offset < 0 or nbytes < 0:
            raise self._refuse(f"there are no {nbytes} bytes at {offset}")
        if self._chunks and offset >= self._starts[0]:
            index = bisect_right(self._starts, offset) - 1
            first = offset - self._starts[index]
            if first + nbytes <= len(self._chunks[index]):
                return self._chunks[index][first : first + nbytes]
        elif nbytes == 0 and self._data is None:
            return np.empty(0, np.uint8)
        elif self._data is not None and offset + nbytes <= len(self._data):
            return self._data[offset : offset + nbytes]
        raise self._refuse(f"bytes {offset} to {offset + nbytes} are asked for where it has {self.size}")

    def append(self, data: npt.NDArray[Any] | bytes) -> tuple[int, int]:
        """Add a constant behind all others, or find the one that was added with the same bytes.

        Returns:
            Its offset and size in bytes, as `<data offset= size=>` wants them.

        Raises:
            ReadError: the model has constants and no `.bin`, so that nobody knows where it ends.
        """
        if self._data is None and self._needed is not None and self._needed() > 0:
            raise self._refuse("a constant is to be added to it")
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        key = hashlib.blake2b(raw).digest()
        if key not in self._known:
            offset = -(-self.size // ALIGNMENT) * ALIGNMENT
            self._starts.append(offset)
            self._chunks.append(np.frombuffer(raw, np.uint8))
            self._known[key] = (offset, len(raw))
        return self._known[key]

    def copy(self) -> Weights:
        """The same bytes; what is appended to one is not in the other."""
        twin = Weights(self._data, self.path, self._needed)
        twin._stamp = self._stamp
        twin._starts, twin._chunks, twin._known = [*self._starts], [*self._chunks], {**self._known}
        return twin

    def is_file(self, path: Path) -> bool:
        """Whether `path` holds exactly these bytes without those appended: the mapped file, not changed since."""
        try:
            return self._stamp is not None and _stamp(path) == self._stamp
        except OSError:
            return False

    def save(self, file: IO[bytes]) -> None:
        """Write everything, by way of the operating system's own copying where the file is as it was mapped."""
        if self.path is not None and self.is_file(self.path):
            with self.path.open("rb") as source:
                _copy(source, file, self.stored)
        elif self._data is not None:
            for start in range(0, len(self._data), CHUNK):
                file.write(self._data[start : start + CHUNK].data)
        for offset, chunk in zip(self._starts, self._chunks, strict=True):
            file.write(b"\0" * (offset - file.tell()))
            file.write(chunk.data)

    def _refuse(self, message: str) -> ReadError:
        if self._data is not None:
            return _error("IR012", self.path, message, "the .bin is cut off or belongs to another model")
        return _error("IR011", self.path, f"is missing, and {message}", "put the model's .bin there, or name it")


def _error(code: str, path: Path | None, message: str, remedy: str | None = None) -> ReadError:
    file = "the weights" if path is None else str(path)
    return ReadError(Diagnostic(code=code, severity=Severity.ERROR, message=message, file=file, help=remedy))


def _stamp(file: int | Path) -> tuple[int, ...]:
    stat = os.stat(file)
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    """Copy `size` bytes inside the kernel; through memory where the file systems cannot."""
    try:
        done = 0
        while done < size:
            step = os.copy_file_range(source.fileno(), target.fileno(), size - done)
            if step == 0:
                raise OSError("the file ends early")
            done += step
    except (OSError, AttributeError):
        source.seek(0)
        target.seek(0)
        shutil.copyfileobj(source, target, CHUNK)
    target.seek(size)


def constant(raw: Mapping[str, str], weights: Weights) -> npt.NDArray[Any]:
    """The value of a `Const` layer from the attributes of its `<data>`; read-only and not copied.

    Shape: as `shape` says. Types that numpy has no equal for (packed ones, nf4, f4e2m1, string) come as the flat
    uint8 bytes that are stored.

    Raises:
        ReadError: attributes are missing or no numbers, or contradict each other or the size of the `.bin`.
    """
    kind, dims = _element_type(raw), _dims(raw)
    offset, size = _whole(raw, "offset"), _whole(raw, "size")
    if kind.kind == "string":
        return weights.view(offset, size)
    nbytes = kind.byte_size(math.prod(dims))
    if math.prod(dim for dim in dims if dim) * max(kind.bits, 8) > LARGEST:
        raise _error("IR013", weights.path, f"a constant of shape {raw['shape']} is more than memory can hold")
    if nbytes > size:
        raise _error(
            "IR013",
            weights.path,
            f"the constant at {offset} has size {size} where shape [{raw.get('shape')}] of {kind} takes {nbytes} bytes",
            "correct shape, element_type or size of the Const",
        )
    flat = weights.view(offset, nbytes)
    return flat if kind.dtype is None else flat.view(kind.dtype).reshape(dims)


def values(raw: Mapping[str, str], weights: Weights) -> npt.NDArray[Any]:
    """The value of a `Const` layer in numbers that numpy has, shaped as `shape` says.

    Packed types are unpacked (u1-u6 as uint8, i4 as int8, nf4 and f4e2m1 as float32), strings are Python's, as objects.

    Raises:
        ReadError: as `constant`; the bytes of a string constant are not a table of strings.
    """
    kind, stored = _element_type(raw), constant(raw, weights)
    if kind.dtype is not None:
        return stored
    dims = _dims(raw)
    if kind.kind == "string":
        return _strings(stored, math.prod(dims), weights).reshape(dims)
    return unpack(stored, kind, math.prod(dims)).reshape(dims)


def _strings(data: Bytes, count: int, weights: Weights) -> npt.NDArray[Any]:
    """A table of strings: how many, where each begins and the last ends (32 bits each), the bytes of all of them."""
    head = data[: 4 * (count + 2)].view("<u4") if len(data) >= 4 * (count + 2) else np.empty(0, np.uint32)
    places = head[1:].astype(np.int64)
    text = data[4 * (count + 2) :]
    broken = not len(head) or head[0] != count or (np.diff(places) < 0).any() or places[-1] > len(text)
    if broken:
        raise _error("IR013", weights.path, f"a constant of {count} strings does not hold a table of as many strings")
    ends = zip(places[:-1].tolist(), places[1:].tolist(), strict=True)
    return np.array([bytes(text[start:end]).decode("utf-8", "replace") for start, end in ends], dtype=object)


def _element_type(raw: Mapping[str, str]) -> ElementType:
    name = raw.get("element_type", "")
    kind = constant_type(name)
    if kind is None:
        raise _error("IR014", None, f"a constant has element_type '{name[:40]}', which is no element type")
    if kind.kind == "dynamic":
        raise _error("IR014", None, "a constant's element_type cannot be dynamic")
    return kind


def _dims(raw: Mapping[str, str]) -> tuple[int, ...]:
    words = [word.strip() for word in raw.get("shape", "").split(",")]
    if not words[-1]:
        words.pop()
    dims = [dim for dim in map(whole_number, words) if dim is not None]
    if len(dims) != len(words):
        raise _error("IR014", None, f"'{raw['shape']}' is not the shape of a constant", "write sizes, as in 1, 3")
    return tuple(dims)


def _whole(raw: Mapping[str, str], name: str) -> int:
    number = id_number(raw.get(name))
    if number is None:
        message = f"a constant has {name} '{raw[name]}'" if raw.get(name) else f"a constant has no {name}"
        raise _error("IR014", None, message, f"{name} is a whole number of bytes")
    return number
