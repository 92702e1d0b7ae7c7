"""Dimensions against the sets of sizes that they stand for, and texts of shapes against those of OpenVINO."""

import openvino as ov
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_tools.errors import UsageError
from ir_tools.types import Dim, format_shape, holds, is_static, parse_shape, shape_text

MANY = 12
"""A size beyond the bounds of all dimensions here."""
LARGEST = 2**63 - 1

dims = st.builds(
    lambda lo, more: Dim(lo, None if more is None else lo + more), st.integers(0, 5), st.none() | st.integers(0, 5)
)


def sizes(dim: Dim) -> set[int]:
    return {size for size in range(MANY) if size in dim}


@given(dims)
def test_a_dimension_holds_its_sizes(dim: Dim) -> None:
    assert sizes(dim) == set(range(dim.lo, MANY if dim.hi is None else dim.hi + 1))
    assert dim.static == (len(sizes(dim)) == 1)
    if dim.static:
        assert {dim.size} == sizes(dim)
    else:
        with pytest.raises(ValueError, match="is not static"):
            _ = dim.size


@given(dims, dims)
def test_two_dimensions_relate_as_their_sets(one: Dim, other: Dim) -> None:
    assert one.within(other) == (sizes(one) <= sizes(other))
    both = one.meet(other)
    assert (set() if both is None else sizes(both)) == sizes(one) & sizes(other)
    held = sizes(one) | sizes(other)
    assert sizes(one.join(other)) == set(range(min(held), max(held) + 1))


@given(st.none() | st.lists(dims, max_size=4))
def test_texts_are_those_of_openvino(shape: list[Dim] | None) -> None:
    text = format_shape(None if shape is None else tuple(shape))
    assert parse_shape(text) == (None if shape is None else tuple(shape))
    theirs = ov.PartialShape(text)
    assert theirs.rank.is_dynamic == (shape is None)
    assert [(end.min_length, end.max_length) for end in ([] if shape is None else theirs)] == [
        (dim.lo, -1 if dim.hi is None else dim.hi) for dim in shape or []
    ]


@given(st.lists(dims, max_size=3), st.lists(st.integers(0, 8), max_size=3))
def test_a_partial_shape_holds_the_sizes_that_openvino_says(shape: list[Dim], sizes: list[int]) -> None:
    theirs = ov.PartialShape(format_shape(tuple(shape)))
    assert is_static(tuple(shape)) == theirs.is_static
    assert holds(tuple(shape), sizes) == theirs.compatible(ov.PartialShape(sizes))
    assert holds(None, sizes)
    assert not is_static(None)


@pytest.mark.parametrize(
    ("given_shape", "wanted"),
    [
        ("[ 1, 3 ]", (Dim.of(1), Dim.of(3))),
        (" 1 ,3", (Dim.of(1), Dim.of(3))),
        ("[]", ()),
        ("", ()),
        ("...", None),
        (" [...] ", None),
        ("-1,?", (Dim(), Dim())),
        ("..4,2..,0..3", (Dim(0, 4), Dim(2), Dim(0, 3))),
        (7, (Dim.of(7),)),
        (-1, (Dim(),)),
        ([2, -1, Dim(3, 5)], (Dim.of(2), Dim(), Dim(3, 5))),
        (str(LARGEST), (Dim.of(LARGEST),)),
    ],
)
def test_ways_to_write_a_shape(given_shape: str | int | list[int | Dim], wanted: tuple[Dim, ...] | None) -> None:
    assert parse_shape(given_shape) == wanted


@pytest.mark.parametrize("text", ["[1", "1]", "1,,2", "..", "x", "1.5", "3..x", "-2", "5..3", str(LARGEST + 1), "..-1"])
def test_what_is_no_shape(text: str) -> None:
    with pytest.raises(UsageError, match="dimension"):
        parse_shape(text)


def test_a_long_word_is_shown_in_part() -> None:
    with pytest.raises(UsageError) as caught:
        parse_shape("y" * 99)
    assert str(caught.value) == f"'{'y' * 40}' is not a dimension; write a size, ?, or an interval such as 16..64"


@pytest.mark.parametrize("bounds", [(-1, 3), (4, 3), (-1, None)])
def test_an_interval_without_a_size(bounds: tuple[int, int | None]) -> None:
    with pytest.raises(UsageError, match=rf"^a dimension cannot be {bounds[0]}\.\.{bounds[1]}$"):
        Dim(*bounds)


def test_a_message_shows_the_first_of_very_many_dimensions() -> None:
    assert (shape_text((1, -1, 3)), format_shape(())) == ("[1,?,3]", "[]")
    assert [shape_text(parse_shape(text)) for text in ("1,?,2..", "", "...")] == ["[1,?,2..]", "[]", "[...]"]
    assert shape_text((7,) * 32) == f"[{','.join('7' * 32)}]"
    text = shape_text((Dim.of(7),) * 100_000)
    assert text.startswith("[7,7,")
    assert text.endswith("7,... 100000 dimensions]")
    assert len(text) < 100


def test_a_shape_has_at_most_as_many_dimensions_as_arrays_of_numpy() -> None:
    assert len(parse_shape(",".join("1" * 64)) or ()) == 64
    with pytest.raises(UsageError, match="a shape has 65 dimensions; at most 64 are read"):
        parse_shape(",".join("1" * 65))
