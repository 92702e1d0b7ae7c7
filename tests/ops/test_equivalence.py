"""Equality of poolings: the proof for dynamic sizes against brute force far beyond its bound."""

import random
from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops._equivalence import (
    Counterexample,
    PoolingSpec,
    Proof,
    behind_pad,
    deciding_sizes,
    equal_for_all,
    equal_plans,
    floored,
    plain,
    resolved,
    undilated,
)
from ir_tools.ops._windows import AutoPad, AxisWindows, Pooling, WindowPlan
from ir_tools.types import Dim
from tests.rewrite.migrations import random_pooling

Window = tuple[frozenset[tuple[int, ...]], int | None]


def windows(form: PoolingSpec, sizes: tuple[int, ...]) -> dict[tuple[int, ...], Window] | None:
    """Written from the measured rules, window by window: what each reads, and its divisor (None: undefined)."""
    pooling = form.pooling
    axes, padded = [], False
    for axis, bare in enumerate(sizes):
        before, after = (form.before[axis], form.after[axis]) if form.before else (0, 0)
        size, kernel, stride = bare + before + after, pooling.kernel[axis], pooling.strides[axis]
        reach = (kernel - 1) * pooling.dilations[axis] + 1
        begin, end = pooling.pads_begin[axis], pooling.pads_end[axis]
        if pooling.auto_pad != "explicit":
            begin = end = 0
        if pooling.auto_pad.startswith("same"):
            total = max((-(-size // stride) - 1) * stride + reach - size, 0)
            begin, end = total // 2, total - total // 2
            if pooling.auto_pad == "same_lower":
                begin, end = end, begin
        padded |= begin + end > 0
        room = size + begin + end - reach
        if room < 0:
            return None
        count = (room // stride if pooling.rounding == "floor" else -(-room // stride)) + 1
        if pooling.rounding == "ceil_torch" and (count - 1) * stride >= size + begin:
            count -= 1
        starts, dilation = (index * stride - begin for index in range(count)), pooling.dilations[axis]
        places = (range(start, start + kernel * dilation, dilation) for start in starts)
        padding = range(-begin, size + end)
        axes.append([(at, *axis_window(taps, size, before, bare, padding)) for at, taps in enumerate(places)])
    whole = form.divisor == "kernel" or (form.divisor == "runtime" and padded and not pooling.exclude_pad)
    found: dict[tuple[int, ...], Window] = {}
    for place in product(*axes):
        reads = [taps for _, taps, _, _ in place]
        kernel, real, covered = prod(pooling.kernel), prod(axis[2] for axis in place), prod(axis[3] for axis in place)
        number = kernel if whole else covered if form.divisor == "padded" else real
        found[tuple(axis[0] for axis in place)] = (frozenset(product(*reads)), number or None)
    return found


def axis_window(taps: range, size: int, before: int, bare: int, padded: range) -> tuple[list[int], int, int]:
    """Which elements a window reads along an axis, how many taps are in the data, and how many in its padding too."""
    inside = [tap for tap in taps if 0 <= tap < size]
    return [tap - before for tap in inside if 0 <= tap - before < bare], len(inside), sum(tap in padded for tap in taps)


def same(wanted: PoolingSpec, other: PoolingSpec, sizes: tuple[int, ...]) -> bool:
    ours, theirs = windows(wanted, sizes), windows(other, sizes)
    if ours is None:
        return True
    if theirs is None or ours.keys() != theirs.keys():
        return False
    for place, (reads, divisor) in ours.items():
        if divisor is None:
            continue
        others, by = theirs[place]
        if reads != others or by is None or (reads and by != divisor):
            return False
    return True


def similar(rng: random.Random, wanted: PoolingSpec) -> PoolingSpec:
    """Another way to write nearly the same pooling."""
    pooling = wanted.pooling
    zeros = (0,) * pooling.rank
    for _ in range(rng.randint(1, 2)):
        kind = rng.randint(0, 6)
        if kind == 0:
            pooling = pooling._replace(rounding=rng.choice(["floor", "ceil", "ceil_torch"]))
        elif kind == 1:
            pooling = pooling._replace(exclude_pad=not pooling.exclude_pad)
        elif kind == 2:
            axis = rng.randrange(pooling.rank)
            ends = list(pooling.pads_end)
            ends[axis] = max(ends[axis] + rng.randint(-1, pooling.strides[axis]), 0)
            pooling = pooling._replace(pads_end=tuple(ends))
        elif kind == 3:
            pooling = pooling._replace(auto_pad=rng.choice(["explicit", "valid", "same_upper", "same_lower"]))
        elif kind == 4:
            pooling = pooling._replace(dilations=(1,) * pooling.rank)
        elif kind == 5 and pooling.auto_pad == "explicit":
            bare = pooling._replace(pads_begin=zeros, pads_end=zeros, exclude_pad=True)
            return PoolingSpec(bare, pooling.pads_begin, pooling.pads_end)
        else:
            return PoolingSpec(pooling, divisor=rng.choice(["kernel", "real", "padded"]))
    return PoolingSpec(pooling)


@pytest.mark.parametrize("rank", [1, 2])
def test_plans_agree_with_brute_force(rank: int) -> None:
    """What each window of a plan reads, and by what it divides; a plan is refused where no window fits."""
    rng, compared = random.Random(11), 0
    for _ in range(250):
        form = similar(rng, PoolingSpec(random_pooling(rng, rank, 14)))
        sizes = tuple(rng.randint(1, 12) for _ in range(rank))
        wanted = windows(form, sizes)
        try:
            axes = form.plan(sizes).axes
        except ShapeError:
            assert wanted is None
            continue
        assert wanted is not None
        found = {}
        for place in product(*(range(len(axis.first)) for axis in axes)):
            pairs = [*zip(axes, place, strict=True)]
            reads = (range(axis.first[index], axis.last[index] + 1, axis.step) for axis, index in pairs)
            found[place] = frozenset(product(*reads)), prod(int(axis.divisor[index]) for axis, index in pairs) or None
        assert found == wanted, (form, sizes)
        compared += 1
    assert compared > 150


def random_windows(rng: random.Random, like: AxisWindows | None = None) -> AxisWindows:
    """Windows of any kind, or others that differ from some in few of them."""
    if like is None:
        count, step = rng.randint(1, 3), rng.randint(1, 2)
        first = np.array([rng.randint(0, 4) for _ in range(count)])
        lengths = np.array([rng.choice((0, 1, 1, 2)) for _ in range(count)])
        divisor = np.array([rng.choice((0, 1, 2, 4)) for _ in range(count)])
        return AxisWindows(first, first + (lengths - 1) * step, step, divisor)
    first, last, divisor, at = like.first.copy(), like.last.copy(), like.divisor.copy(), rng.randrange(len(like.first))
    step = like.step if rng.random() < 0.8 else 3
    change = rng.randrange(4)
    if change == 0:
        first[at], last[at] = first[at] + 1, last[at] + 1
    elif change == 1:
        last[at] += step
    elif change == 2:
        divisor[at] = rng.choice((0, 1, 2))
    return AxisWindows(first, last, step, divisor * rng.choice((1, 1, 2)))


def reading(plan: WindowPlan) -> list[tuple[set[tuple[int, ...]], int]]:
    """The elements that each window reads, and its divisor."""
    axes = [zip(axis.first, axis.last, axis.divisor, strict=True) for axis in plan.axes]
    return [
        (
            {
                *product(
                    *(
                        range(first, last + 1, axis.step)
                        for (first, last, _), axis in zip(place, plan.axes, strict=True)
                    )
                )
            },
            prod(int(divisor) for *_, divisor in place),
        )
        for place in product(*axes)
    ]


def test_any_plans_are_compared_as_their_windows_are() -> None:
    rng, equal = random.Random(5), 0
    for _ in range(4000):
        wanted = WindowPlan((random_windows(rng), random_windows(rng)))
        others = [rng.choice((axis, random_windows(rng, axis))) for axis in wanted.axes]
        other = WindowPlan((others[0], others[1]))
        ours, theirs = reading(wanted), reading(other)
        fits = all(
            not by or (reads == found and number and (not reads or by == number))
            for (reads, by), (found, number) in zip(ours, theirs, strict=True)
        )
        verdict = equal_plans(wanted, other)
        assert fits or verdict is not None, (wanted, other)
        if any(reads and by for reads, by in ours):
            assert not fits or verdict is None, (wanted, other, verdict)
        equal += fits and wanted.axes != other.axes
    assert equal > 100


@pytest.mark.parametrize("seed", range(6))
def test_proof_agrees_with_brute_force_on_one_axis(seed: int) -> None:
    rng, proved = random.Random(seed), 0
    for _ in range(120):
        wanted = PoolingSpec(random_pooling(rng, 1, 16))
        other = similar(rng, wanted)
        low = rng.choice([0, 0, 3, 20])
        dim = Dim(low, rng.choice([None, None, low + 4]))
        sizes = range(max(low, 1), 80 if dim.hi is None else dim.hi + 1)
        proved += is_proved(wanted, other, [dim], ((size,) for size in sizes))
    assert proved > 10


def is_proved(wanted: PoolingSpec, other: PoolingSpec, dims: Sequence[Dim], sizes: Iterable[tuple[int, ...]]) -> bool:
    """Whether poolings are proved to be equal; they are on these sizes then, and else not on that of the verdict."""
    verdict = equal_for_all(wanted, other, dims)
    if isinstance(verdict, Proof):
        assert all(same(wanted, other, each) for each in sizes), (wanted, other, verdict)
        return True
    assert verdict.sizes is not None
    assert not same(wanted, other, verdict.sizes), (wanted, other, verdict)
    return False


def test_proof_agrees_with_brute_force_on_two_axes() -> None:
    rng, proved = random.Random(7), 0
    for _ in range(150):
        wanted = PoolingSpec(random_pooling(rng, 2, 14))
        other = similar(rng, wanted)
        some = ((rng.randint(1, 24), rng.randint(1, 24)) for _ in range(40))
        proved += is_proved(wanted, other, [Dim(), Dim()], some)
    assert proved > 10


def test_nothing_new_happens_beyond_the_deciding_sizes() -> None:
    """With one size less at the upper end, some differences would be missed; with the bound, none is."""
    rng, latest = random.Random(3), 0
    for _ in range(160):
        wanted = PoolingSpec(random_pooling(rng, 1, 16))
        other = similar(rng, wanted)
        decided = deciding_sizes(wanted, other, 0, Dim())
        first = next((size for size in range(1, 90) if not same(wanted, other, (size,))), None)
        assert first is None or first in decided, (wanted, other)
        latest = max(latest, 0 if first is None else first)
    assert latest > 3


@pytest.mark.parametrize(
    ("changes", "before", "begin", "reach", "stride"),
    [
        ({}, (), 1, 5, 2),
        ({"auto_pad": "same_lower"}, (), 4, 5, 2),
        ({"auto_pad": "valid"}, (), 1, 5, 2),
        ({"strides": (3,)}, (), 1, 5, 6),
        ({"dilations": (1,)}, (7,), 8, 5, 2),
        ({"auto_pad": "same_lower"}, (7,), 11, 5, 2),
        ({"auto_pad": "valid"}, (7,), 7, 5, 2),
    ],
    ids=["as-it-is", "same", "valid", "other-stride", "behind-a-pad", "same-behind-a-pad", "valid-behind-a-pad"],
)
def test_deciding_sizes_are_those_of_the_argument(
    changes: dict[str, Any], before: tuple[int, ...], begin: int, reach: int, stride: int
) -> None:
    """Of `equal_for_all`: up to `P + R + 2s - 2`, or the first `s` from a lower bound beyond `P + R + s - 1`."""
    settings = Pooling(kernel=(3,), strides=(2,), pads_begin=(1,), pads_end=(0,), dilations=(2,))
    other = PoolingSpec(settings._replace(**changes), before, before)
    last = begin + reach + 2 * stride - 2
    assert deciding_sizes(PoolingSpec(settings), other, 0, Dim()) == range(1, last + 1)
    assert deciding_sizes(PoolingSpec(settings), other, 0, Dim(3, 4)) == range(3, 5)
    assert deciding_sizes(PoolingSpec(settings), other, 0, Dim(100, None)) == range(100, 100 + stride)


def forms_of_one_start(rng: random.Random, rank: int) -> list[PoolingSpec]:
    """Poolings whose windows begin at the same places, in all the ways to count and to divide them."""
    settings = [
        (rng.randint(1, 4), rng.randint(1, 4), rng.randint(0, 3), rng.choice((1, 1, 2)), rng.randint(0, 6))
        for _ in range(rank)
    ]
    kernel, strides, begins, dilations, ends = zip(*settings, strict=True)
    shorter = tuple(rng.randint(0, end) for end in ends)
    zeros, found = (0,) * rank, list[PoolingSpec]()
    for rounding, auto_pad, exclude_pad, after in product(
        ("floor", "ceil", "ceil_torch"),
        ("explicit", "valid", "same_upper", "same_lower"),
        (False, True),
        (ends, shorter, zeros),
    ):
        pooling = Pooling(
            kernel=kernel, strides=strides, pads_begin=begins, pads_end=after, dilations=dilations,
            rounding=rounding, auto_pad=auto_pad, exclude_pad=exclude_pad,
        )  # fmt: skip
        bare = pooling._replace(pads_begin=zeros)
        found += (PoolingSpec(pooling, divisor=rng.choice(["runtime", "kernel", "real", "padded"])),)
        found += (PoolingSpec(bare, begins, shorter, rng.choice(["runtime", "real", "padded"])),)
    return found


def sizes_looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes on which windows are computed from now on."""
    found, windows_of = list[int](), PoolingSpec.windows

    def counted(spec: PoolingSpec, axis: int, size: int, padded: bool) -> AxisWindows:
        found.append(size)
        return windows_of(spec, axis, size, padded)

    monkeypatch.setattr(PoolingSpec, "windows", counted)
    return found


@pytest.mark.parametrize(("rank", "seed"), [(1, 0), (1, 1), (1, 2), (2, 3)])
def test_windows_that_begin_at_the_same_places_are_counted_by_formula(
    rank: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every pair is compared with brute force, on intervals and far beyond them."""
    rng, by_formula, proved, looked_at = random.Random(seed), 0, 0, sizes_looked_at(monkeypatch)
    for _ in range(300 if rank == 1 else 150):
        wanted, other = rng.sample(forms_of_one_start(rng, rank), 2)
        low = rng.choice([0, 0, 1, 7])
        dim = Dim(low, rng.choice([None, low, low + 2]))
        looked_at.clear()
        verdict = equal_for_all(wanted, other, [dim] * rank)
        by_formula += not looked_at
        proved += not looked_at and isinstance(verdict, Proof)
        if isinstance(verdict, Proof):
            sizes = range(max(low, 1), (30 if rank == 1 else 9) if dim.hi is None else dim.hi + 1)
            assert all(same(wanted, other, every) for every in product(sizes, repeat=rank)), (wanted, other, verdict)
        else:
            assert verdict.sizes is not None
            assert all(size in dim for size in verdict.sizes)
            assert not same(wanted, other, verdict.sizes), (wanted, other, verdict)
    assert by_formula > 30
    assert proved > 10


@pytest.mark.parametrize(
    ("end", "dim", "verdict"),
    [
        (0, Dim(), Counterexample((3,), "axis 2: 1 windows instead of 2")),
        (0, Dim(4, 5), Counterexample((5,), "axis 2: 2 windows instead of 3")),
        (0, Dim(4, 4), Proof("equal windows on 4")),
        (0, Dim(2**62), Counterexample((2**62 + 1,), f"axis 2: {2**61} windows instead of {2**61 + 1}")),
        (1, Dim(2), Proof("equal windows for every size of [2..]")),
        (1, Dim(), Counterexample((1,), "axis 2: the window does not fit into the padded input")),
    ],
    ids=["any", "interval", "static", "large", "as-many", "too-small"],
)
def test_the_first_size_with_another_number_of_windows(end: int, dim: Dim, verdict: Proof | Counterexample) -> None:
    """Of windows of 2 elements that are counted with ceil, or with floor and padding, and others without that."""
    settings = Pooling(kernel=(2,), strides=(2,), pads_begin=(0,), pads_end=(0,), dilations=(1,))
    ceil = settings._replace(rounding="ceil")
    wanted, other = (settings._replace(pads_end=(1,)), ceil) if end else (ceil, settings)
    assert equal_for_all(PoolingSpec(wanted), PoolingSpec(other), [dim]) == verdict


def test_padding_of_one_axis_decides_how_the_other_divides() -> None:
    settings = Pooling(
        kernel=(2, 2), strides=(2, 2), pads_begin=(0, 0), pads_end=(0, 0), dilations=(1, 1),
        rounding="ceil", auto_pad="same_upper", exclude_pad=False,
    )  # fmt: skip
    wanted, other = PoolingSpec(settings), PoolingSpec(settings._replace(exclude_pad=True))
    assert isinstance(equal_for_all(wanted, other, [Dim.of(4), Dim.of(6)]), Proof)
    assert isinstance(equal_for_all(wanted, other, [Dim.of(4), Dim(5, 6)]), Counterexample)


def test_windows_of_one_length_and_start_may_read_at_another_distance() -> None:
    """On three elements, the only window reads 0 and 1, or 0 and 2; on kernels of one element dilations say nothing."""
    settings = Pooling(kernel=(2,), strides=(2,), pads_begin=(0,), pads_end=(0,), dilations=(1,))
    wanted, other = PoolingSpec(settings), PoolingSpec(settings._replace(dilations=(2,)))
    assert wanted.plan((3,)).counts == other.plan((3,)).counts == (1,)
    assert equal_for_all(wanted, other, [Dim.of(3)]) == Counterexample((3,), "axis 2: window 0 reads other elements")
    assert isinstance(equal_for_all(wanted, other, [Dim.of(3)], divide=False), Counterexample)
    single = settings._replace(kernel=(1,))
    assert isinstance(equal_for_all(PoolingSpec(single), PoolingSpec(single._replace(dilations=(2,))), [Dim()]), Proof)


FAR = Pooling(kernel=(1, 3), strides=(5, 5), pads_begin=(1, 0), pads_end=(0, 2), dilations=(1, 1))
"""On one element, its only window of the first axis reads nothing."""


def test_a_pooling_that_does_not_fit_is_not_equal_to_undefined_values() -> None:
    wanted, other = PoolingSpec(FAR), PoolingSpec(FAR._replace(pads_end=(0, 0)))
    assert windows(wanted, (1, 1)) == {(0, 0): (frozenset(), None)}
    assert windows(other, (1, 1)) is None
    assert isinstance(equal_for_all(wanted, other, [Dim.of(1), Dim.of(1)]), Counterexample)


@pytest.mark.parametrize("turned", [False, True], ids=["zeros-on-the-first-axis", "zeros-on-the-last-axis"])
def test_zeros_are_equal_whatever_they_are_divided_by(turned: bool) -> None:
    def ordered(*values: int) -> tuple[int, ...]:
        return values[::-1] if turned else values

    def form(kernel: int, end: int) -> PoolingSpec:
        return PoolingSpec(
            Pooling(
                kernel=ordered(1, kernel),
                strides=(5, 5),
                pads_begin=ordered(1, 0),
                pads_end=ordered(0, end),
                dilations=(1, 1),
                exclude_pad=False,
            )
        )

    wanted, other = form(3, 2), form(2, 1)
    assert same(wanted, other, (1, 1))
    assert isinstance(equal_for_all(wanted, other, [Dim.of(1), Dim.of(1)]), Proof)


def test_padding_by_a_layer_counts_and_what_hangs_over_it_does_not() -> None:
    """What ONNX means by count_include_pad, with every rounding: the positions of the padded input."""
    rng, over = random.Random(5), 0
    for _ in range(300):
        settings = random_pooling(rng, 1, 16)._replace(auto_pad="explicit")
        padded = behind_pad(settings, floored(settings))
        over += any(padded.pooling.pads_end)
        assert padded.before == settings.pads_begin
        assert min(padded.pooling.pads_end + padded.after) >= 0
        for size in range(1, 30):
            assert same(PoolingSpec(settings, divisor="padded"), padded, (size,)), (settings, size)
    assert over > 10


@pytest.mark.parametrize("auto_pad", ["same_upper", "same_lower"])
def test_padding_of_one_size_counts_behind_a_layer(auto_pad: AutoPad) -> None:
    rng = random.Random(6)
    for _ in range(100):
        settings = random_pooling(rng, 1, 16)._replace(auto_pad=auto_pad, rounding="floor")
        for size in range(1, 12):
            padded = behind_pad(settings, resolved(settings, (size,)))
            assert same(PoolingSpec(settings, divisor="padded"), padded, (size,)), (settings, size)


def test_dilations_of_single_elements_are_plain() -> None:
    settings = Pooling(kernel=(1, 3), strides=(1, 1), pads_begin=(0, 0), pads_end=(0, 0), dilations=(2, 4))
    assert plain(settings) == settings._replace(dilations=(1, 4))


def test_maxima_of_no_elements_are_equal_to_no_others() -> None:
    """On one element, the window on the first axis reads nothing, or that element; averages of nothing are free."""
    sizes = [Dim.of(1), Dim.of(1)]
    wanted, other = PoolingSpec(FAR), PoolingSpec(FAR._replace(pads_begin=(0, 0), pads_end=(1, 2)))
    assert windows(other, (1, 1)) == {(0, 0): (frozenset({(0, 0)}), 1)}
    assert isinstance(equal_for_all(wanted, other, sizes), Proof)
    assert isinstance(equal_for_all(wanted, other, sizes, divide=False), Counterexample)


def test_the_window_that_is_undefined_is_named() -> None:
    """On two elements, the second window reads padding only."""
    settings = Pooling(
        kernel=(1,), strides=(2,), pads_begin=(0,), pads_end=(1,), dilations=(1,), exclude_pad=False, rounding="ceil"
    )
    verdict = equal_for_all(PoolingSpec(settings), PoolingSpec(settings._replace(exclude_pad=True)), [Dim.of(2)])
    assert verdict == Counterexample((2,), "axis 2: window 1 is undefined")


@pytest.mark.parametrize(
    ("sizes", "scope"),
    [
        ([Dim.of(4), Dim.of(6)], "on 4x6"),
        ([Dim.of(4), Dim(5, 6)], "for every size of [4, 5..6]"),
        ([Dim(), Dim(2)], "for every size of [?, 2..]"),
    ],
    ids=["static", "interval", "unbounded"],
)
def test_a_proof_says_of_which_sizes_it_is(sizes: list[Dim], scope: str) -> None:
    settings = Pooling(kernel=(2, 2), strides=(1, 1), pads_begin=(0, 0), pads_end=(0, 0), dilations=(1, 1))
    wanted, other = PoolingSpec(settings), PoolingSpec(settings._replace(rounding="ceil"))
    assert equal_for_all(wanted, other, sizes) == Proof(f"equal windows {scope}")
    assert equal_for_all(wanted, wanted, sizes) == Proof(f"equal windows {scope} (equal attributes)")


def test_the_number_of_windows_counts_even_where_their_values_are_undefined() -> None:
    wanted, other = PoolingSpec(FAR), PoolingSpec(FAR._replace(strides=(5, 1)))
    verdict = equal_for_all(wanted, other, [Dim.of(1), Dim.of(3)])
    assert verdict == Counterexample((1, 3), "axis 3: 3 windows instead of 1")


def test_different_strides_drift_apart() -> None:
    settings = Pooling(kernel=(1,), strides=(3,), pads_begin=(0,), pads_end=(0,), dilations=(1,))
    other = settings._replace(strides=(4,))
    verdict = equal_for_all(PoolingSpec(settings), PoolingSpec(other), [Dim()])
    assert isinstance(verdict, Counterexample)
    assert isinstance(equal_for_all(PoolingSpec(settings), PoolingSpec(other), [Dim(1, 3)]), Proof)
    verdict = equal_for_all(PoolingSpec(settings), PoolingSpec(other), [Dim.of(5)])
    assert verdict == Counterexample((5,), "axis 2: window 1 reads other elements")


def test_too_many_sizes_are_left_undecided() -> None:
    settings = Pooling(kernel=(9000,), strides=(1,), pads_begin=(1,), pads_end=(0,), dilations=(1,))
    verdict = equal_for_all(PoolingSpec(settings), PoolingSpec(settings._replace(exclude_pad=False)), [Dim()])
    assert isinstance(verdict, Counterexample)
    assert verdict.sizes is None


@pytest.mark.parametrize(("limit", "proved"), [(5, True), (4, False)])
def test_as_many_sizes_as_the_limit_are_looked_at(limit: int, proved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ir_tools.ops._equivalence.MAX_SIZES", limit)
    settings = Pooling(kernel=(3,), strides=(1,), pads_begin=(1,), pads_end=(1,), dilations=(1,))
    verdict = equal_for_all(PoolingSpec(settings), PoolingSpec(settings._replace(auto_pad="same_lower")), [Dim()])
    assert isinstance(verdict, Proof) == proved


@pytest.mark.parametrize("long", [0, 1])
def test_one_axis_with_too_many_sizes_leaves_it_undecided(long: int) -> None:
    kernel = (9000, 2) if long == 0 else (2, 9000)
    settings = Pooling(kernel=kernel, strides=(1, 1), pads_begin=(1, 1), pads_end=(0, 0), dilations=(1, 1))
    verdict = equal_for_all(PoolingSpec(settings), PoolingSpec(settings._replace(exclude_pad=False)), [Dim(), Dim()])
    assert isinstance(verdict, Counterexample)
    assert verdict.sizes is None


def test_plans_of_one_size() -> None:
    settings = Pooling(kernel=(3,), strides=(2,), pads_begin=(1,), pads_end=(1,), dilations=(1,))
    plan = PoolingSpec(settings).plan((7,))
    assert equal_plans(plan, PoolingSpec(settings._replace(rounding="ceil")).plan((7,))) is None
    assert equal_plans(plan, PoolingSpec(settings._replace(exclude_pad=False)).plan((7,))) == (
        "axis 2: window 1 divides by another number"
    )


def frozen(windows_read: dict[tuple[int, ...], Window] | None) -> frozenset[tuple[tuple[int, ...], Window]] | None:
    return None if windows_read is None else frozenset(windows_read.items())


@pytest.mark.parametrize("exclude_pad", [True, False])
@pytest.mark.parametrize("size", range(1, 5))
def test_dilated_windows_of_one_element_are_those_of_a_layer_without_dilation_if_there_is_one(
    size: int, exclude_pad: bool
) -> None:
    def one_axis(kernel: int, stride: int, begin: int, end: int, dilation: int = 1) -> PoolingSpec:
        return PoolingSpec(
            Pooling(
                kernel=(kernel,),
                strides=(stride,),
                pads_begin=(begin,),
                pads_end=(end,),
                dilations=(dilation,),
                exclude_pad=exclude_pad,
            )
        )

    plain_ones = {
        frozen(windows(one_axis(*settings), (size,)))
        for settings in product(range(1, 9), range(1, 9), range(8), range(8))
    }
    found = 0
    for settings in product(range(2, 5), range(1, 4), range(4), range(4), range(2, 5)):
        wanted = one_axis(*settings)
        reads = windows(wanted, (size,))
        if reads is None or any(len(elements) != 1 for elements, _ in reads.values()):
            continue
        small = undilated(wanted, [Dim.of(size)])
        same = small is not None and windows(PoolingSpec(small), (size,)) == reads
        assert same == (frozen(reads) in plain_ones), settings
        found += same
    assert found >= 5


def test_windows_behind_a_pad_layer_have_no_others_without_dilation() -> None:
    """Those of the bare pooling read other elements."""
    for kernel, stride, before, after in product((2, 3), (1, 2), range(3), range(3)):
        settings = Pooling(kernel=(kernel,), strides=(stride,), pads_begin=(0,), pads_end=(0,), dilations=(2,))
        form = PoolingSpec(settings, (before,), (after,))
        for size in range(1, 4):
            small, reads = undilated(form, [Dim.of(size)]), windows(form, (size,))
            assert small is None or windows(PoolingSpec(small), (size,)) == reads, (form, size)


def test_a_window_that_does_not_fit_counts_even_where_no_value_is_defined() -> None:
    """The first axis has one window, on padding alone."""
    wanted = Pooling(kernel=(1, 3), strides=(4, 2), pads_begin=(1, 1), pads_end=(0, 1), dilations=(1, 1))
    other = wanted._replace(strides=(4, 3), pads_begin=(1, 0), pads_end=(0, 0))
    assert not same(PoolingSpec(wanted), PoolingSpec(other), (2, 2))
    verdict = equal_for_all(PoolingSpec(wanted), PoolingSpec(other), [Dim.of(2), Dim.of(2)])
    assert isinstance(verdict, Counterexample)
    assert verdict.difference == "axis 3: the window does not fit into the padded input"


def test_axes_with_the_same_settings_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = sizes_looked_at(monkeypatch)
    pads, ones = (11, 11, 2), (1, 1, 1)
    wanted = Pooling(kernel=(23, 23, 5), strides=ones, pads_begin=pads, pads_end=pads, dilations=ones)
    specs = PoolingSpec(wanted._replace(auto_pad="same_upper")), PoolingSpec(wanted)
    assert isinstance(equal_for_all(*specs, [Dim()] * 3), Proof)
    assert 0 < len(looked_at) <= 2 * sum(1 + len(deciding_sizes(*specs, axis, Dim())) for axis in (0, 2))
