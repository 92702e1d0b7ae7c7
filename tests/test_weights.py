import errno
import io
import os
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openvino import opset15

from ir_tools import compare
from ir_tools.errors import ReadError
from ir_tools.format.constants import _size_problem, _string_problem
from ir_tools.format.read import read
from ir_tools.types import ELEMENT_TYPES, ElementType
from ir_tools.weights import Weights, constant, stored_bytes, values
from tests import ir_text
from tests.conftest import corpus_cases, has_weights


def test_views_are_of_the_file_and_read_only(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(range(100)))
    weights = Weights.open(tmp_path / "m.bin")
    first, second = weights.view(3, 50), weights.view(3, 50)
    assert np.shares_memory(first, second)
    assert first.tolist() == list(range(3, 53))
    assert not first.flags.writeable
    assert (weights.size, weights.pending, weights.path) == (100, 0, tmp_path / "m.bin")


@pytest.mark.parametrize(("offset", "nbytes"), [(0, 11), (10, 1), (11, 0), (-1, 1), (0, -1), (2**63, 1), (5, 2**70)])
def test_views_outside_are_refused(tmp_path: Path, offset: int, nbytes: int) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(10))
    with pytest.raises(ReadError, match=r"m\.bin: error IR012"):
        Weights.open(tmp_path / "m.bin").view(offset, nbytes)


def test_a_missing_file_matters_when_it_is_asked_for(tmp_path: Path) -> None:
    weights = Weights.open(tmp_path / "m.bin")
    assert weights.view(0, 0).size == weights.view(64, 0).size == 0
    with pytest.raises(
        ReadError,
        match=r"m\.bin: error IR011: is missing.* \(copy the \.bin of the model there, or name it with --bin\)",
    ):
        weights.view(0, 1)
    with pytest.raises(ReadError, match="the weights: error IR011"):
        Weights.open(None).view(0, 1)
    for weights in (Weights.open(None), Weights.open(tmp_path / "m.bin")):
        weights.needed = lambda: 7
        assert weights.lacking == 7
    (tmp_path / "empty.bin").write_bytes(b"")
    weights = Weights.open(tmp_path / "empty.bin")
    weights.needed = lambda: 7
    assert weights.lacking == 0
    with pytest.raises(ReadError, match="it has 0"):
        Weights.open(tmp_path / "empty.bin").view(0, 1)


def test_what_is_not_the_weights_of_a_model_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.bin")
    with pytest.raises(ReadError, match=r"pipe\.bin: error IR010: cannot be opened: it is not a regular file"):
        Weights.open(tmp_path / "pipe.bin")
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 5\n"
    (tmp_path / "m.bin").write_text(pointer)
    with pytest.raises(ReadError, match=rf"^{tmp_path}/m\.bin:1: error IR021"):
        Weights.open(tmp_path / "m.bin")


def test_weights_say_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(10))
    weights = Weights.open(tmp_path / "m.bin")
    assert repr(weights) == f"Weights(10 bytes, {tmp_path}/m.bin)"
    assert repr(Weights.from_bytes(bytes(3))) == "Weights(3 bytes)"
    assert [weights.is_file(tmp_path / name) for name in ("m.bin", "none.bin", ".")] == [True, False, False]


def test_holes_are_copied_as_holes(tmp_path: Path) -> None:
    with (tmp_path / "m.bin").open("wb") as file:
        file.write(b"start")
        file.seek(1 << 28)
        file.write(b"middle")
        file.truncate(1 << 29)
    weights = Weights.open(tmp_path / "m.bin")
    offset, _ = weights.append(b"appended")
    with (tmp_path / "copy.bin").open("wb") as file:
        weights.save(file)
    copy = Weights.open(tmp_path / "copy.bin")
    assert (copy.size, offset) == ((1 << 29) + 8, 1 << 29)
    parts = [(0, 5), (1 << 28, 6), ((1 << 29) - 3, 11)]
    assert [copy.view(*part).tobytes() for part in parts] == [b"start", b"middle", b"\0\0\0appended"]
    assert (tmp_path / "copy.bin").stat().st_blocks < 1000
    with (tmp_path / "copy.bin").open("wb") as file:
        Weights.open(tmp_path / "m.bin").save(file)
    assert (tmp_path / "copy.bin").stat().st_size == 1 << 29, "a hole at the end is part of the file"


@pytest.mark.parametrize("error", [errno.EXDEV, errno.EOPNOTSUPP])
def test_weights_are_copied_through_memory_if_need_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(error, "no")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    (tmp_path / "m.bin").write_bytes(bytes(range(100)))
    weights = Weights.open(tmp_path / "m.bin")
    weights.append(b"x")
    with (tmp_path / "copy.bin").open("wb") as file:
        file.seek(3)
        weights.save(file)
    assert (tmp_path / "copy.bin").read_bytes() == bytes(range(100)) + bytes(28) + b"x", "wherever the file was left"


def test_a_file_that_is_cut_off_meanwhile_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(100_000))
    weights = Weights.open(tmp_path / "m.bin")
    weights.view(50_000, 100)
    part = Weights.from_bytes(b"")
    place = part.take(weights, 50_000, 100)
    os.truncate(tmp_path / "m.bin", 10)
    for each, at in ((weights, 50_000), (weights.copy(), 50_000), (part, place[0]), (part.copy(), place[0])):
        for ask in (lambda: each.view(at, 100).sum(), lambda: each.save(io.BytesIO())):  # noqa: B023  # called at once
            with pytest.raises(
                ReadError, match=r"is being changed by another program \(run this again when that program is done\)"
            ):
                ask()


def test_a_file_that_is_replaced_meanwhile_is_read_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(b"old")
    weights = Weights.open(tmp_path / "m.bin")
    (tmp_path / "new.bin").write_bytes(b"new weights")
    (tmp_path / "new.bin").replace(tmp_path / "m.bin")
    saved = io.BytesIO()
    weights.save(saved)
    assert saved.getvalue() == weights.view(0, 3).tobytes() == b"old"


def test_a_file_that_changes_while_it_is_copied_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(100))
    weights = Weights.open(tmp_path / "m.bin")
    copy = os.copy_file_range

    def cut_off(*arguments: int) -> int:
        os.truncate(tmp_path / "m.bin", 10)
        return copy(*arguments)

    monkeypatch.setattr(os, "copy_file_range", cut_off)
    with (
        (tmp_path / "copy.bin").open("wb") as file,
        pytest.raises(
            ReadError, match=r"is being changed by another program \(run this again when that program is done\)"
        ),
    ):
        weights.save(file)


def test_appended_constants_are_found_again() -> None:
    weights = Weights.from_bytes(b"12345")
    first = weights.append(np.arange(4, dtype=np.int64))
    assert first == (64, 32)
    assert weights.append(np.arange(4, dtype=np.int64)) == first
    second = weights.append(b"xyz")
    assert second == (128, 3)
    assert weights.view(*first).view(np.int64).tolist() == [0, 1, 2, 3]
    assert weights.view(*second).tobytes() == b"xyz"
    assert not weights.view(*first).flags.writeable
    assert weights.pending == 131 - 5
    twin = weights.copy()
    twin.append(b"more")
    assert twin.size > weights.size
    with pytest.raises(ReadError):
        weights.view(100, 8)


@given(
    st.binary(max_size=70),
    st.lists(st.tuples(st.integers(0, 3), st.none() | st.binary(max_size=70)), max_size=8),
)
def test_copies_grow_apart(stored: bytes, steps: list[tuple[int, bytes | None]]) -> None:
    """Held against dictionaries: whatever is appended to weights or their copies is in those that it was added to."""
    grown = [Weights.from_bytes(stored)]
    added: list[dict[tuple[int, int], bytes]] = [{}]
    for number, data in steps:
        place = number % len(grown)
        if data is None:
            grown.append(grown[place].copy())
            added.append({**added[place]})
        else:
            added[place][grown[place].append(data)] = data
    for weights, places in zip(grown, added, strict=True):
        file = io.BytesIO()
        weights.save(file)
        saved = file.getvalue()
        assert saved.startswith(stored)
        assert (len(saved), weights.pending) == (weights.size, weights.size - len(stored))
        assert len(set(places.values())) == len(places)
        edges = sorted({0, 1, len(stored), *(edge for offset, size in places for edge in (offset, offset + size))})
        for start, end in combinations_with_replacement(edges, 2):
            assert weights.holds(start, end - start) is (end <= len(stored) or (start, end - start) in places)
        for (offset, size), data in places.items():
            assert offset % 64 == 0
            assert saved[offset : offset + size] == weights.view(offset, size).tobytes() == data


def test_appended_constants_are_saved_where_they_are_said_to_be() -> None:
    weights, saved = Weights.from_bytes(b"12345"), io.BytesIO()
    places = {weights.append(data): data for data in (b"a" * 70, b"b", b"c" * 64, b"d")}
    weights.save(saved)
    stored = saved.getvalue()
    assert stored.startswith(b"12345\0")
    assert len(stored) == weights.size == sum(max(places))
    assert all(stored[offset : offset + size] == data for (offset, size), data in places.items())


@pytest.mark.parametrize("size", [0, 3, 4, 5, 9])
def test_weights_in_memory_are_written_piece_by_piece(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ir_tools.weights.CHUNK", 4)
    file = io.BytesIO()
    Weights.from_bytes(bytes(range(size))).save(file)
    assert file.getvalue() == bytes(range(size))


def test_a_file_that_was_written_again_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    path.write_bytes(b"old")
    weights, before = Weights.open(path), path.stat()
    assert weights.is_file(path)
    with path.open("r+b") as file:
        file.write(b"new")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert not weights.is_file(path)
    assert not weights.stays


def test_appended_arrays_are_copies() -> None:
    weights, array = Weights.from_bytes(b""), np.zeros(4, np.float32)
    place = weights.append(array[::2])
    array[:] = 1
    assert weights.view(*place).view(np.float32).tolist() == [0, 0]


WORDS = ["a", "", "längere", "d", "e", "f"]


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if name != "dynamic"])
def test_constants_are_those_of_the_runtime(name: str, tmp_path: Path) -> None:
    kind, dtype = ELEMENT_TYPES[name], getattr(ov.Type, name)
    size = ov.Tensor(dtype, [2, 3]).byte_size
    stored = np.random.default_rng(1).integers(0, 2 if name == "boolean" else 256, size, dtype=np.uint8)
    tensor = ov.Tensor(np.array(WORDS).reshape(2, 3)) if name == "string" else ov.Tensor(stored, [2, 3], dtype)
    x = op.parameter([2, 3], dtype)
    ov.serialize(ov.Model([op.result(op.constant(tensor)), op.result(x)], [x]), tmp_path / "m.xml")
    ours = read(tmp_path / "m.xml")
    layer = next(layer for layer in ours.graph.layers() if layer.type == "Const")
    value = constant(layer.raw, ours.weights)
    assert not value.flags.writeable
    if name == "string":
        assert all(word.encode() in value.tobytes() for word in WORDS)
    else:
        assert value.tobytes() == stored.tobytes()
    assert (value.dtype, value.shape) == ((np.uint8, (value.size,)) if kind.dtype is None else (kind.dtype, (2, 3)))


def test_constants_at_odd_offsets() -> None:
    data = b"?" + np.arange(6, dtype=np.float32).tobytes()
    raw = {"element_type": "f32", "shape": "2,3", "offset": "1", "size": "24"}
    assert constant(raw, Weights.from_bytes(data)).tolist() == [[0, 1, 2], [3, 4, 5]]


@given(st.sampled_from([kind for kind in ELEMENT_TYPES.values() if kind.bits]), st.integers(0, 40))
def test_sizes_are_those_of_the_runtime(kind: ElementType, count: int) -> None:
    assert kind.byte_size(count) == ov.Tensor(getattr(ov.Type, kind.name), [count]).byte_size


BROKEN = {
    "no shape size": ({"shape": "2,x"}, "is not the shape"),
    "negative": ({"shape": "-1,4"}, "is not the shape"),
    "too small": ({"shape": "7"}, "has size 24, but shape"),
    "behind the end": ({"offset": "4"}, "it has 24 bytes, and a constant is at bytes 4 to 28"),
    "overflow": ({"shape": f"{2**62},8"}, "does not fit into memory"),
    "overflow beside nothing": ({"shape": f"0,{2**62},8"}, "does not fit into memory"),
    "wraps around to fit": ({"shape": f"{2**61 + 1},8", "size": "8"}, "does not fit into memory"),
    "no type": ({"element_type": "f33"}, "'f33', which is not an element type"),
    "dynamic": ({"element_type": "dynamic"}, ": a constant's element_type cannot be dynamic$"),
    "no offset": ({"offset": ""}, "has no offset"),
    "offset no number": ({"offset": "1e3"}, "has offset '1e3'"),
    "negative offset": ({"offset": "-4"}, "has offset '-4'"),
}


@pytest.mark.parametrize(("change", "words"), BROKEN.values(), ids=BROKEN)
def test_constants_that_contradict_themselves(change: dict[str, str], words: str) -> None:
    raw = {"element_type": "f32", "shape": "2,3", "offset": "0", "size": "24", **change}
    with pytest.raises(ReadError, match=words):
        constant(raw, Weights.from_bytes(bytes(24)))


@pytest.mark.parametrize(
    ("kind", "shape", "sizes"),
    [("f32", "2,3", {24}), ("f32", "0,3", {0, 1}), ("f32", "", {4}), ("u4", "3", {2}), ("u3", "9", {4, 6})],
)
def test_constants_have_the_bytes_of_their_elements(kind: str, shape: str, sizes: set[int]) -> None:
    """OpenVINO itself writes one byte for a constant without elements, and fills the last of packed ones."""
    count = int(np.prod([int(size) for size in shape.split(",") if size]))
    fitting = {size for size in range(30) if _size_problem(ELEMENT_TYPES[kind], shape, count, size) is None}
    assert {min(fitting), max(fitting)} == {min(sizes), max(sizes)}


def test_empty_and_scalar_constants() -> None:
    weights = Weights.from_bytes(bytes(4))
    assert constant({"element_type": "f32", "shape": "0,3", "offset": "4", "size": "0"}, weights).shape == (0, 3)
    assert constant({"element_type": "f32", "shape": "", "offset": "0", "size": "4"}, weights).shape == ()
    assert constant({"element_type": "f32", "offset": "0", "size": "4"}, weights).shape == ()


@pytest.mark.parametrize("path", corpus_cases(fits=has_weights))
def test_constants_of_the_corpus_fit(path: Path) -> None:
    model = read(path)
    for layer in (layer for _, layer, _ in model.walk() if layer.type == "Const"):
        assert constant(layer.raw, model.weights).nbytes <= int(layer.raw["size"])


STRINGS = bytes.fromhex(
    "06 00 00 00 00 00 00 00 02 00 00 00 02 00 00 00 07 00 00 00 08 00 00 00 0a 00 00 00 0b 00 00 00"
    " 61 62 68 65 6c 6c 6f 78 79 7a 77"
)
"""As OpenVINO 2026.4 wrote [["ab", "", "hello"], ["x", "yz", "w"]]."""


def test_strings_that_are_cut_off_are_a_problem() -> None:
    assert _string_problem(STRINGS, 6) is None
    for length in range(len(STRINGS)):
        assert _string_problem(STRINGS[:length], 6), length


def test_strings_are_read_as_openvino_writes_them() -> None:
    raw = {"element_type": "string", "shape": "2, 3", "offset": "0", "size": str(len(STRINGS))}
    found = values(raw, Weights.from_bytes(STRINGS))
    assert found.tolist() == [["ab", "", "hello"], ["x", "yz", "w"]]
    for text, wanted in ((b"", ""), ("é".encode(), "é")):
        table = np.array([1, 0, len(text)], "<u4").tobytes() + text
        raw = {"element_type": "string", "shape": "1", "offset": "0", "size": str(len(table))}
        assert values(raw, Weights.from_bytes(table)).tolist() == [wanted]


def test_strings_of_bytes_that_are_no_text_lose_none(tmp_path: Path) -> None:
    tensor = ov.Tensor(np.array([b"a\xffb", b"\xc3", b"ok"]))
    x = op.parameter([1], np.float32)
    sizes = [op.result(output) for output in opset15.string_tensor_unpack(op.constant(tensor)).outputs()]
    ov.serialize(ov.Model([*sizes, op.result(x)], [x]), tmp_path / "m.xml")
    ours = read(tmp_path / "m.xml")
    layer = next(layer for layer in ours.graph.layers() if layer.type == "Const")
    found = values(layer.raw, ours.weights)
    assert [text.encode(errors="surrogateescape") for text in found] == tensor.bytes_data.tolist()
    assert stored_bytes(found).tobytes() == constant(layer.raw, ours.weights).tobytes()
    assert compare(ours).ok


BACKWARDS = STRINGS[:8] + b"\x03" + STRINGS[9:]
"""The second text begins at 3 and ends at 2."""


@pytest.mark.parametrize(
    "broken", [STRINGS[:20], b"\x06" + bytes(19), b"\x07" + STRINGS[1:], STRINGS[:-1], b"", BACKWARDS]
)
def test_a_broken_table_of_strings_is_refused(broken: bytes, tmp_path: Path) -> None:
    raw = {"element_type": "string", "shape": "2, 3", "offset": "0", "size": str(len(broken))}
    (tmp_path / "m.bin").write_bytes(broken)
    with pytest.raises(ReadError, match=r"m\.bin: error IR\d+: .* no valid table of its strings"):
        values(raw, Weights.open(tmp_path / "m.bin"))


def test_packed_values_have_their_shape() -> None:
    raw = {"element_type": "i4", "shape": "3, 1", "offset": "0", "size": "2"}
    assert values(raw, Weights.from_bytes(b"\x8f\x01")).tolist() == [[-1], [-8], [1]]


def test_what_a_missing_file_should_hold_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def extent(layers: object, texts: object) -> int:
        asked.append(layers)
        return 0

    monkeypatch.setattr("ir_tools.format.read._extent", extent)
    model = read(ir_text.net([ir_text.parameter(0), ir_text.result(1)], [ir_text.edge(0, 0, 1, 0)]))
    places = {model.weights.append(bytes([number])) for number in range(5)}
    assert len(places) == 5
    assert len(asked) == 1
