"""The wire between client and worker: arrays of every type arrive as they were."""

import os
from collections.abc import Sequence

import numpy as np
import pytest

from ir_tools.runtime.frames import LARGE, PREFIX, Blob, from_array, pack, pack_shared, to_array, unpack
from ir_tools.types import ELEMENT_TYPES, ElementType, element_type
from ir_tools.types.packing import PackedArray
from ir_tools.types.packing import unpack as unpacked

SHAPES = ((), (1,), (0, 3), (2, 3), (5,))
TEXTS = ["", "two words", "ä", "\udcff not UTF-8", b"bytes \xfe"]


def arrived(array: np.ndarray) -> np.ndarray:
    (prefix, *parts) = pack({"do": "infer", "n": 7}, [from_array(np.zeros(3)), from_array(array)])
    head, payload, shared = PREFIX.unpack(bytes(prefix)[: PREFIX.size])
    text, data = bytes(prefix)[PREFIX.size :], b"".join(bytes(part) for part in parts)
    assert (head, payload, shared) == (len(text), len(data), False)
    header, (_, blob) = unpack(text, data)
    assert header == {"do": "infer", "n": 7}
    return to_array(blob)


def any_array(kind: ElementType, shape: Sequence[int]) -> np.ndarray:
    """All bits are drawn, so that floats are also NaN, infinite and -0."""
    count = int(np.prod(shape))
    data = np.random.default_rng(0).integers(0, 256, kind.byte_size(count), np.uint8)
    if kind.dtype is None:
        return unpacked(data, kind, count).reshape(shape)
    return (data & 1 if kind.name == "boolean" else data).view(kind.dtype).reshape(shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if element_type(name).bits])
def test_every_element_type_arrives(name: str, shape: Sequence[int]) -> None:
    array = any_array(element_type(name), shape)
    found = arrived(array)
    assert (type(found), found.dtype, found.shape) == (type(array), array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()
    if array.ndim > 1 and not isinstance(array, PackedArray):
        assert arrived(array.T).tobytes() == array.T.tobytes()


def test_texts_arrive_byte_by_byte() -> None:
    array = np.array([*TEXTS, "x"], dtype=object).reshape(2, 3)
    wanted = ["", "two words", "ä", "\udcff not UTF-8", "bytes \udcfe", "x"]
    assert arrived(array).tolist() == [wanted[:3], wanted[3:]]
    assert arrived(np.array(["ab", "c"])).tolist() == ["ab", "c"]
    assert arrived(np.empty((0, 2), object)).shape == (0, 2)


@pytest.mark.parametrize("size", [LARGE - 1, LARGE, LARGE + 1])
def test_large_answers_come_in_a_file(size: int) -> None:
    blobs = [Blob("u8", (size - 3,), bytes(size - 3)), Blob("u8", (3,), b"end")]
    (head, *parts), file = pack_shared({"ok": True}, blobs)
    assert (file is None) == (size < LARGE) == (PREFIX.unpack(bytes(head)[: PREFIX.size])[2] is False)
    if file is None:
        data = b"".join(bytes(part) for part in parts)
    else:
        data = os.pread(file, size + 1, 0)
        os.close(file)
        head = bytes(head) + bytes(parts[0])
    header, found = unpack(bytes(head)[PREFIX.size :], data)
    assert (header, [bytes(blob.data[-3:]) for blob in found]) == ({"ok": True}, [b"\0\0\0", b"end"])
