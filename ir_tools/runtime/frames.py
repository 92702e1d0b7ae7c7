"""The wire between client and worker: a frame is a header in JSON and raw blobs, so that arrays are never text.

Layout: `<u32 header bytes><u64 bytes of all blobs><bool shared>`, the header, the blobs. The header's `blobs` lists
element type, shape and bytes of each blob in order. Large answers are shared: their blobs are in a file in memory
whose descriptor comes through a socket, and are never copied.
"""

import json
import mmap
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.types import element_type, from_dtype, packing
from ir_tools.types.packing import PackedArray

__all__ = ["PREFIX", "STAGE", "Blob", "Buffer", "from_array", "pack", "pack_shared", "to_array", "unpack"]

PREFIX = struct.Struct("<IQ?")
LARGE = 1 << 20
"""Bytes from which on blobs are shared."""
STAGE = "ir_tools: "
"""Before a line on the worker's standard error that says what it is about to do."""
Array = npt.NDArray[Any]
Buffer = bytes | bytearray | memoryview | mmap.mmap


@dataclass(frozen=True, slots=True)
class Blob:
    """An array on the wire: element type by OpenVINO's name, shape, and the bytes as they lie in memory.

    Packed types fill whole bytes; strings are their lengths as i64, then their texts in UTF-8.
    """

    type: str
    shape: tuple[int, ...]
    data: Buffer


def pack(header: Mapping[str, Any], blobs: Sequence[Blob] = ()) -> list[Buffer]:
    """Return the parts of a frame, to be written one after the other."""
    table = [(blob.type, blob.shape, len(blob.data)) for blob in blobs]
    text = json.dumps({**header, "blobs": table}).encode()
    return [PREFIX.pack(len(text), sum(row[2] for row in table), False) + text, *(blob.data for blob in blobs)]


def pack_shared(header: Mapping[str, Any], blobs: Sequence[Blob]) -> tuple[list[Buffer], int | None]:
    """Pack like `pack`; large blobs go into a file in memory, whose descriptor comes along."""
    parts = pack(header, blobs)
    size = sum(len(part) for part in parts[1:])
    if size < LARGE:
        return parts, None
    file = os.memfd_create("answer")
    for part in parts[1:]:
        view = memoryview(part)
        while view:
            view = view[os.write(file, view) :]
    text = parts[0][PREFIX.size :]
    return [PREFIX.pack(len(text), size, True), text], file


def unpack(text: Buffer, payload: Buffer) -> tuple[dict[str, Any], list[Blob]]:
    """Return the header and the blobs (views of `payload`) of a frame."""
    header = json.loads(bytes(text))
    view, start, blobs = memoryview(payload), 0, []
    for kind, shape, size in header.pop("blobs"):
        blobs.append(Blob(kind, tuple(shape), view[start : start + size]))
        start += size
    return header, blobs


def from_array(array: Array) -> Blob:
    """Return the blob of an array, without copying if it lies in one piece.

    Raises:
        UsageError: OpenVINO has no such element type.
    """
    if array.dtype.kind in "OUST":
        return Blob("string", array.shape, _join(_encode(item) for item in array.ravel()))
    if isinstance(array, PackedArray):
        return Blob(array.element_type.name, array.shape, packing.pack(array).data)
    whole = np.ascontiguousarray(array)
    return Blob(from_dtype(array.dtype).name, array.shape, whole.reshape(-1).view(np.uint8).data)


def to_array(blob: Blob) -> Array:
    """Return the array of a blob: elements smaller than a byte unpacked, strings as objects."""
    if blob.type == "string":
        texts = np.empty(blob.shape, dtype=object)
        texts.ravel()[:] = _split(blob)
        return texts
    kind = element_type(blob.type)
    if kind.packed:
        return packing.unpack(np.frombuffer(blob.data, np.uint8), kind, prod(blob.shape)).reshape(blob.shape)
    return np.frombuffer(blob.data, kind.dtype).reshape(blob.shape)


def _encode(item: object) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogateescape")


def _join(texts: Iterable[bytes]) -> bytes:
    rows = list(texts)
    return np.array([len(row) for row in rows], dtype=np.int64).tobytes() + b"".join(rows)


def _split(blob: Blob) -> list[str]:
    count = int(np.prod(blob.shape, dtype=np.int64))
    lengths = np.frombuffer(blob.data, np.int64, count)
    ends = np.cumsum(lengths) + 8 * count
    data = bytes(blob.data)
    return [
        data[end - length : end].decode("utf-8", "surrogateescape") for length, end in zip(lengths, ends, strict=True)
    ]
