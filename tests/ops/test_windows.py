"""Window plans against the definitions, spelled out in loops."""

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ir_tools.errors import ShapeError
from ir_tools.ops._windows import (
    AutoPad,
    Pooling,
    Rounding,
    adaptive_plan,
    axis_count,
    axis_dim,
    axis_pads,
    plan,
    surely_filled,
)
from ir_tools.types import Dim


def single(
    kernel: int = 1,
    stride: int = 1,
    pads: tuple[int, int] = (0, 0),
    dilation: int = 1,
    rounding: Rounding = "floor",
    auto_pad: AutoPad = "explicit",
    exclude_pad: bool = True,
) -> Pooling:
    return Pooling(
        kernel=(kernel,),
        strides=(stride,),
        pads_begin=(pads[0],),
        pads_end=(pads[1],),
        dilations=(dilation,),
        rounding=rounding,
        auto_pad=auto_pad,
        exclude_pad=exclude_pad,
    )


POOLINGS = st.builds(
    single,
    kernel=st.integers(1, 6),
    stride=st.integers(1, 5),
    pads=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    dilation=st.integers(1, 4),
    rounding=st.sampled_from(["floor", "ceil", "ceil_torch"]),
    auto_pad=st.sampled_from(["explicit", "valid", "same_upper", "same_lower"]),
    exclude_pad=st.booleans(),
)


def padding(pooling: Pooling, size: int) -> tuple[int, int]:
    """The fewest pads with which `ceil(size / stride)` windows fit, the odd one at the end or at the beginning."""
    if pooling.auto_pad == "explicit":
        return pooling.pads_begin[0], pooling.pads_end[0]
    if pooling.auto_pad == "valid":
        return 0, 0
    total = 0
    while (ceil(Fraction(size, pooling.strides[0])) - 1) * pooling.strides[0] + pooling.reach(0) > size + total:
        total += 1
    halves = floor(Fraction(total, 2)), ceil(Fraction(total, 2))
    return halves if pooling.auto_pad == "same_upper" else (halves[1], halves[0])


def starts(pooling: Pooling, size: int) -> list[int]:
    """Where the windows start, the padding before the input being negative."""
    before, after = padding(pooling, size)
    found, start = [0], pooling.strides[0]
    while start + pooling.reach(0) <= size + before + after:
        found.append(start)
        start += pooling.strides[0]
    if pooling.rounding != "floor" and found[-1] + pooling.reach(0) < size + before + after:
        found.append(start)
    if pooling.rounding == "ceil_torch" and found[-1] >= size + before:
        found.pop()
    return [position - before for position in found]


@given(POOLINGS, st.integers(1, 24))
def test_pads(pooling: Pooling, size: int) -> None:
    assert axis_pads(pooling, 0, size) == padding(pooling, size)


@given(POOLINGS, st.integers(1, 24))
def test_windows_read_what_the_definition_says(pooling: Pooling, size: int) -> None:
    before, after = padding(pooling, size)
    if size + before + after < pooling.reach(0):
        with pytest.raises(ShapeError, match="kernel spans"):
            plan(pooling, [size])
        return
    wanted = [
        [start + tap * pooling.dilations[0] for tap in range(pooling.kernel[0])] for start in starts(pooling, size)
    ]
    inside = [[position for position in window if 0 <= position < size] for window in wanted]
    (axis,) = plan(pooling, [size]).axes
    found = [
        list(range(first, last + 1, axis.step))
        for first, last in zip(axis.first.tolist(), axis.last.tolist(), strict=True)
    ]
    assert found == inside
    assert axis.lengths.tolist() == [len(window) for window in inside]
    whole = before + after > 0 and not pooling.exclude_pad
    assert axis.divisor.tolist() == [pooling.kernel[0] if whole else len(window) for window in inside]


@given(st.lists(st.tuples(POOLINGS, st.integers(1, 9)), min_size=2, max_size=3))
def test_padding_on_any_axis_makes_all_divide_by_the_kernel(axes: list[tuple[Pooling, int]]) -> None:
    pooling = Pooling(
        kernel=tuple(axis.kernel[0] for axis, _ in axes),
        strides=tuple(axis.strides[0] for axis, _ in axes),
        pads_begin=tuple(axis.pads_begin[0] for axis, _ in axes),
        pads_end=tuple(axis.pads_end[0] for axis, _ in axes),
        dilations=tuple(axis.dilations[0] for axis, _ in axes),
        exclude_pad=False,
    )
    sizes = [size for _, size in axes]
    try:
        found = plan(pooling, sizes)
    except ShapeError:
        return
    padded = any(pooling.pads_begin) or any(pooling.pads_end)
    for axis, windows in enumerate(found.axes):
        whole = np.full(len(windows.first), pooling.kernel[axis])
        assert windows.divisor.tolist() == (whole if padded else windows.lengths).tolist()


@given(st.integers(1, 40), st.integers(0, 40))
def test_parts(size: int, count: int) -> None:
    (axis,) = adaptive_plan([size], [count]).axes
    assert axis.first.tolist() == [floor(Fraction(i * size, count)) for i in range(count)]
    assert axis.last.tolist() == [ceil(Fraction((i + 1) * size, count)) - 1 for i in range(count)]


@given(POOLINGS, st.integers(0, 12), st.none() | st.integers(0, 12))
def test_intervals_hold_every_count(pooling: Pooling, low: int, more: int | None) -> None:
    assume(low > 0 or pooling.rounding != "ceil_torch")
    dim = Dim(low, None if more is None else low + more)
    counts = []
    for size in range(max(low, 1), low + (20 if more is None else more) + 1):
        try:
            counts.append(axis_count(pooling, 0, size))
        except ShapeError:
            continue
    try:
        bounds = axis_dim(pooling, 0, dim)
    except ShapeError:
        assert not counts
        return
    assert all(count in bounds for count in counts)
    if counts and not pooling.auto_pad.startswith("same"):
        assert bounds.lo <= min(counts)
        assert more is None or bounds.hi == max(counts)


def test_undefined_windows_are_the_product_of_the_axes() -> None:
    pooling = Pooling(
        kernel=(1, 1),
        strides=(4, 1),
        pads_begin=(0, 0),
        pads_end=(0, 0),
        dilations=(1, 1),
        rounding="ceil",
        auto_pad="same_upper",
    )
    mask = plan(pooling, [4, 2]).undefined()
    assert mask.tolist() == [[False, False], [True, True]]


def test_windows_of_padding_alone_that_divide_by_the_kernel_are_zero_and_defined() -> None:
    for exclude_pad in (False, True):
        mask = plan(single(pads=(2, 1), exclude_pad=exclude_pad), [1]).undefined()
        assert mask.tolist() == [exclude_pad, exclude_pad, False, exclude_pad]


@given(POOLINGS, st.integers(0, 24))
@example(single(kernel=3, pads=(2, 2)), 0)
@example(single(kernel=2, pads=(1, 1), dilation=2), 1)
@example(single(kernel=1, pads=(0, 1), rounding="ceil_torch"), 0)
@example(single(kernel=2, pads=(2, 0)), 3)
def test_windows_that_are_filled_for_sure_all_read_an_element(pooling: Pooling, size: int) -> None:
    """Without gaps between the elements of a window, the outermost windows decide."""
    begin, end = padding(pooling, size)
    assume(size + begin + end >= pooling.reach(0))
    taps = [range(start, start + pooling.reach(0), pooling.dilations[0]) for start in starts(pooling, size)]
    filled = size > 0 and all(any(0 <= tap < size for tap in window) for window in taps)
    sure = surely_filled(pooling, 0, size, len(taps))
    assert filled >= sure
    assert sure or not filled or pooling.dilations[0] > 1
