"""Constants against the bytes of the `.bin`: what is not finite, read by nothing, or read twice."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.checks import non_finite_constant
from ir_tools.checks.file import IrFile
from ir_tools.errors import ReadError
from ir_tools.format.constants import Constant
from ir_tools.types import element_type
from ir_tools.validation import validate

INF, NAN = np.inf, np.nan
CAUSAL = np.triu(np.full((8, 8), -INF), 1)
DISTANCES = CAUSAL + np.arange(8.0)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 48\n" % (b"0f" * 32)


def port(number: int, dims: tuple[int, ...], kind: str) -> str:
    sizes = "".join(f"<dim>{size}</dim>" for size in dims)
    return f'<port id="{number}" precision="{element_type(kind).precision}">{sizes}</port>'


def model(reader: str, shape: tuple[int, ...], kind: str = "f32", between: str = "") -> bytes:
    """A constant that one layer reads, through a Convert if asked; neither types nor shapes of that need to fit."""
    const = (
        f'<layer id="1" name="c" type="Const" version="opset1"><data element_type="{kind}"'
        f' shape="{",".join(map(str, shape))}" offset="0" size="{element_type(kind).byte_size(int(np.prod(shape)))}"/>'
        f"<output>{port(0, shape, kind)}</output></layer>"
    )
    if between:
        const += (
            f'<layer id="2" name="b" type="{between}" version="opset1"><data destination_type="f32"/>'
            f"<input>{port(0, shape, kind)}</input><output>{port(1, shape, 'f32')}</output></layer>"
        )
    edges = '<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>' if between else ""
    edges += '<edge from-layer="%s" from-port="%s" to-layer="3" to-port="1"/>' % (("2", "1") if between else ("1", "0"))
    return (
        f'<net name="m" version="11"><layers>{const}'
        f'<layer id="3" name="r" type="{reader}" version="opset1"><input>{port(1, shape, kind)}</input></layer>'
        f"</layers><edges>{edges}</edges></net>"
    ).encode()


def codes(xml: bytes, weights: bytes, rule: str) -> list[str]:
    return [found.message for found in validate(xml, weights, select=[rule])]


@pytest.mark.parametrize(
    ("values", "reader", "found"),
    [
        pytest.param([1.0, 2.0], "MatMul", "", id="finite"),
        pytest.param([3.4e38, -3.4e38, 1e-45], "MatMul", "", id="largest-and-smallest"),
        pytest.param([1.0, NAN], "Add", "NaN in 1", id="nan"),
        pytest.param([NAN, NAN, INF], "Select", "NaN in 2, infinity in 1", id="nan-in-a-select"),
        pytest.param([1.0, 2.0, INF], "MatMul", "infinity in 1", id="weights"),
        pytest.param([INF, INF], "Convolution", "infinity in 2", id="only-infinite-weights"),
        pytest.param([-INF], "Multiply", "minus infinity in 1", id="factor"),
        pytest.param([-INF], "Add", "minus infinity in 1", id="infinity-added-to-everything"),
        pytest.param([0.5, -INF, 1.5], "Add", "minus infinity in 1", id="bias"),
        pytest.param([0.0, INF, 1.0, *[-INF] * 40], "Add", "infinity in 1, minus infinity in 40", id="both-signs"),
        pytest.param([0.0, -INF, 0.0], "Add", "", id="mask"),
        pytest.param(CAUSAL, "Add", "", id="causal-mask"),
        pytest.param(DISTANCES, "Add", "", id="mask-with-distances"),
        pytest.param([*range(12), *[-INF] * 4], "Add", "", id="mask-of-a-quarter"),
        pytest.param([*range(13), *[-INF] * 4], "Add", "minus infinity in 4", id="less-than-a-quarter"),
        pytest.param([*range(11), *[-INF] * 4], "Add", "minus infinity in 4", id="too-small-for-a-mask"),
        pytest.param(CAUSAL, "MatMul", "minus infinity in 28", id="mask-as-weights"),
        pytest.param([-INF], "Select", "", id="fill"),
        pytest.param([-INF], "Pad", "", id="pad-value"),
        pytest.param([INF], "Minimum", "", id="bound"),
        pytest.param([INF], "Loop", "", id="start-of-a-loop"),
    ],
)
def test_what_is_not_finite(values: npt.ArrayLike, reader: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of the pieces is in which a constant is looked at."""
    array: npt.NDArray[Any] = np.asarray(values, np.float32)
    plural = "s" if array.size > 1 else ""
    wanted = [f"the constant has {found} of {array.size} element{plural}"] if found else []
    for size in (1 << 18, 1, 2, 7):
        monkeypatch.setattr("ir_tools.checks.non_finite_constant.CHUNK", size)
        assert codes(model(reader, array.shape), array.tobytes(), "IR020") == wanted


def test_constants_that_share_their_bytes_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its finding; another type, size or place is looked at again."""
    looked_at: list[tuple[int, int]] = []
    count = non_finite_constant._count

    def counted(file: IrFile, constant: Constant) -> object:
        looked_at.append((constant.offset, constant.tensor.elements))
        return count(file, constant)

    monkeypatch.setattr(non_finite_constant, "_count", counted)
    layers = "".join(
        f'<layer id="{number}" name="c{number}" type="Const" version="opset1">'
        f'<data element_type="f32" shape="{size}" offset="{offset}" size="{4 * size}"/>'
        f"<output>{port(0, (size,), 'f32')}</output></layer>"
        for number, (offset, size) in enumerate([(0, 2), (0, 2), (0, 2), (0, 1), (4, 1)])
    )
    xml = f'<net name="m" version="11"><layers>{layers}</layers><edges/></net>'.encode()
    values = np.array([NAN, NAN], np.float32)
    assert [message[:20] for message in codes(xml, values.tobytes(), "IR020")] == ["the constant has NaN"] * 5
    assert looked_at == [(0, 2), (0, 1), (4, 1)]


@pytest.mark.parametrize("kind", ["f64", "f32", "f16", "bf16", "f8e5m2", "f8e4m3", "f8e8m0"])
def test_nan_of_every_type(kind: str) -> None:
    dtype = element_type(kind).dtype
    assert dtype is not None
    for at in (0, 1, 2, None):
        values = np.array([1.0, 2.0, 4.0]).astype(dtype)
        if at is not None:
            values[at] = np.array(NAN).astype(dtype)
        assert len(codes(model("MatMul", (3,), kind), values.tobytes(), "IR020")) == (at is not None)


def test_numbers_of_other_types_have_the_bits_of_nan() -> None:
    assert codes(model("MatMul", (3,), "i32"), np.full(3, NAN, np.float32).tobytes(), "IR020") == []


def test_what_hands_a_constant_on_does_not_decide() -> None:
    weights = np.array([0, -INF], np.float16).tobytes()
    assert codes(model("Add", (2,), "f16", between="Convert"), weights, "IR020") == []
    assert codes(model("MatMul", (2,), "f16", between="Convert"), weights, "IR020") != []


def test_a_layer_that_hands_a_constant_on_twice_does_not_decide() -> None:
    builder = Builder()
    mask = builder.constant(np.array([0, -INF], np.float32))
    twice = builder.call("Concat", mask, builder.call("Convert", mask, destination_type="f32"), axis=0)
    builder.result(builder.call("Add", builder.parameter("x", "4"), twice))
    assert validate(builder.model, select=["IR020"]) == []


def test_nan_in_the_last_of_many_elements() -> None:
    values = np.zeros((1 << 20) + 3, np.float32)
    values[-1] = NAN
    assert len(codes(model("MatMul", values.shape), values.tobytes(), "IR020")) == 1


@pytest.mark.parametrize(
    ("rest", "unread"),
    [
        (b"", 0),
        (bytes(63), 0),
        (bytes(64), 64),
        (b"\r\n", 2),
        (bytes(1000), 1000),
    ],
)
def test_bytes_behind_the_last_constant(rest: bytes, unread: int) -> None:
    found = codes(model("Add", (4,)), bytes(16) + rest, "IR019")
    assert bool(found) == bool(unread)
    if unread:
        assert f"no constant reads {unread} of the {16 + unread} bytes" in found[0]


@pytest.mark.parametrize(("gap", "found"), [(b"", 0), (bytes(63), 0), (bytes(64), 1), (bytes(3) + b"\1", 1)])
def test_bytes_between_constants(gap: bytes, found: int) -> None:
    xml = model("Add", (4,)).replace(b'offset="0"', b'offset="%d"' % len(gap))
    assert len(codes(xml, gap + bytes(16), "IR019")) == found


def test_bytes_behind_a_constant_that_lies_inside_another_are_read() -> None:
    xml = with_second_constant(4, 4).replace(b'shape="4" offset="0" size="16"', b'shape="100" offset="0" size="400"')
    assert codes(xml, bytes(400), "IR019") == []


def test_bytes_that_a_broken_layer_reads_are_read() -> None:
    xml = model("Add", (64,)).replace(b'id="1"', b'id="x"', 1)
    assert codes(xml, bytes(256), "IR019") == []
    assert codes(xml.replace(b'offset="0"', b'offset="zero"'), bytes(256), "IR019") == []


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (b'size="256"', b"", "IR014"),
        (b'size="256"', b'sizes="256"', "IR014"),
        (b'size="256"', b'size="16"', "IR013"),
        (b'type="Add" version="opset1">', b'type="Loop" version="opset5">', "IR141"),
    ],
)
def test_bytes_that_are_unread_after_another_error_are_not_reported(old: bytes, new: bytes, rule: str) -> None:
    xml = model("Add", (64,))
    assert old in xml
    assert codes(xml.replace(old, new), bytes(512), rule)
    assert codes(xml.replace(old, new), bytes(512), "IR019") == []
    assert codes(xml, bytes(512), "IR019")


def with_second_constant(offset: int, length: int) -> bytes:
    """A model whose layer 1 reads bytes 0 to 15, and layer 2 others."""
    other = (
        f'<layer id="2" name="d" type="Const" version="opset1"><data element_type="f32" shape="{length // 4}"'
        f' offset="{offset}" size="{length}"/><output>{port(0, (length // 4,), "f32")}</output></layer>'
    )
    return model("Add", (4,)).replace(b'<layer id="3"', other.encode() + b'<layer id="3"')


@pytest.mark.parametrize(
    ("size", "offending"),
    [(20 + 16, 1), (20 + 8, 2), (20, 1)],
    ids=["a-gap-fits-the-first", "a-gap-fits-the-second", "no-gap"],
)
def test_of_two_constants_that_overlap_the_one_that_a_gap_fits_is_offending(size: int, offending: int) -> None:
    (found,) = validate(with_second_constant(12, 8), bytes(size), select=["IR018"])
    assert found.layer_id == offending
    assert "the constant reads bytes 12 to 15, which also belong to" in found.message


def test_a_constant_behind_one_that_lies_inside_another_is_held_against_that() -> None:
    xml = with_second_constant(4, 4).replace(b'shape="4" offset="0" size="16"', b'shape="8" offset="0" size="32"')
    third = xml[xml.index(b'<layer id="2"') : xml.index(b'<layer id="3"')].replace(b'id="2"', b'id="7"')
    third = third.replace(b'offset="4"', b'offset="16"').replace(b'name="d"', b'name="e"')
    xml = xml.replace(b'<layer id="3"', third + b'<layer id="3"')
    assert [one.layer_id for one in validate(xml, bytes(32), select=["IR018"])] == [2, 7]
    (found,) = validate(xml, bytes(64), select=["IR018"])
    assert found.layer_id == 1, "the bytes behind are read by nobody: one constant that is too long is one finding"


@pytest.mark.parametrize(
    ("second", "size", "offending"),
    [
        pytest.param((16, 16), 32, None, id="side-by-side"),
        pytest.param((0, 16), 16, None, id="shared"),
        pytest.param((12, 16), 32, 2, id="the-second-begins-too-early"),
        pytest.param((8, 8), 100, 1, id="the-first-is-too-long"),
        pytest.param((20, 4), 100, None, id="apart"),
        pytest.param((4, 4), 100, 2, id="inside"),
    ],
)
def test_overlapping(second: tuple[int, int], size: int, offending: int | None) -> None:
    xml = with_second_constant(*second)
    if offending == 1:
        xml = xml.replace(b'shape="4" offset="0"', b'shape="4" offset="4"')
        xml = xml.replace(b'offset="8" size="8"', b'offset="16" size="8"')
    found = validate(xml, bytes(size), select=["IR018"])
    assert [one.layer_id for one in found] == ([] if offending is None else [offending])


def test_constants_without_elements_overlap_nothing() -> None:
    other = (
        b'<layer id="2" name="d" type="Const" version="opset1"><data element_type="f32" shape="0" offset="4" size="1"/>'
    )
    xml = model("Add", (4,)).replace(b'<layer id="3"', other + b'<output/></layer><layer id="3"')
    assert codes(xml, bytes(16), "IR018") == []


def test_pointers_of_git_lfs() -> None:
    """Of the `.xml` and of the `.bin`; a comment that begins alike is none."""
    assert [found.code for found in validate(POINTER)] == ["IR021"]
    assert "IR021" not in {found.code for found in validate(b"<!-- " + POINTER + b" -->")}


def test_pointers_in_place_of_an_onnx_model(tmp_path: Any) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(POINTER)
    with pytest.raises(ReadError, match="the file is a Git LFS pointer"):
        ir_tools.read(path)


def test_pointers_in_place_of_the_weights(tmp_path: Any) -> None:
    path = tmp_path / "m.xml"
    path.write_bytes(model("Add", (4,)))
    path.with_suffix(".bin").write_bytes(POINTER)
    [found] = validate(path)
    assert (found.code, found.file) == ("IR021", str(path.with_suffix(".bin")))
    path.with_suffix(".bin").write_bytes(POINTER + bytes(1024))
    assert "IR021" not in {found.code for found in validate(path)}


EXACT = [0.11, -0.23, 0.37, 0.59]
SWAPPED = [2.5e29, 1.3e30, -4.8e30, 0.5]


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        pytest.param(EXACT, "f32", "", id="usual-weights"),
        pytest.param(SWAPPED, "f32", "3 of the first 4 elements are larger than 1e20", id="wrong-order-of-bytes"),
        pytest.param(SWAPPED, "f64", "3 of the first 4 elements are larger than 1e20", id="f64"),
        pytest.param([*EXACT, -3.4e38], "f32", "", id="fill-of-a-mask"),
        pytest.param([-3.4e38, 3.4e38, 3.4e38], "f32", "", id="bounds"),
        pytest.param([INF, NAN, -INF], "f32", "", id="not-finite"),
        pytest.param(np.zeros(16), "f32", "the 16 weights of 'r' are all 0", id="zeros"),
        pytest.param(np.zeros(15), "f32", "", id="few-zeros"),
        pytest.param([*np.zeros(5000), 1], "f32", "", id="a-last-weight"),
    ],
)
def test_weights_that_are_hardly_those_of_the_model(values: npt.ArrayLike, kind: str, found: str) -> None:
    array = np.array(values, element_type(kind).dtype)
    assert codes(model("MatMul", array.shape, kind), array.tobytes(), "IR022") == ([found] if found else [])


@pytest.mark.parametrize(("reader", "found"), [("Convolution", 1), ("LSTMCell", 0), ("Add", 0), ("Unknown", 0)])
def test_zeros_are_reported_of_what_a_layer_multiplies_by(reader: str, found: int) -> None:
    """The second input of an LSTMCell is its state."""
    for between in ("", "Convert"):
        before, tag, behind = model(reader, (4, 4), "f16", between).rpartition(b"<input>")
        xml = before + tag + port(0, (4, 4), "f16").encode() + behind
        assert len(codes(xml, bytes(32), "IR022")) == found
