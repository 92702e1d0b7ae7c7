"""Prove that two poolings are equal: for one input size, and for every size of dynamic dimensions.

A rewrite is accepted because it is proved here, not because it was tried on samples.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.ops._windows import AxisWindows, Pooling, Rounding, WindowPlan, axis_count, axis_pads, axis_windows
from ir_tools.types import Dim

__all__ = [
    "Counterexample",
    "PoolingSpec",
    "Proof",
    "behind_pad",
    "deciding_sizes",
    "equal_for_all",
    "equal_plans",
    "floored",
    "plain",
    "resolved",
    "undilated",
]

KEPT = 1 << 10
"""Settings, and pairs of settings of one axis, that a proof remembers."""
MAX_SIZES = 4096
"""Sizes per axis that a proof may look at; settings that need more are left undecided."""


class PoolingSpec(NamedTuple):
    """A pooling as layers can express it: a Pad layer with zeros, then windows, then a division.

    `before`, `after`: the zeros per axis that a Pad layer adds; the pooling treats them as elements. `divisor`:
    `runtime` is AvgPool's rule; `kernel` always divides by the kernel size, `real` by the number of elements in the
    window, `padded` by the number of positions of the padded input in the window.
    """

    pooling: Pooling
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    divisor: Literal["runtime", "kernel", "real", "padded"] = "runtime"

    @property
    def coupled(self) -> bool:
        """Whether the padding of one axis affects the divisors of the other axes."""
        return self.divisor == "runtime" and not self.pooling.exclude_pad

    def pads(self, axis: int) -> tuple[int, int]:
        """Return the zeros of the Pad layer on one axis."""
        return (self.before[axis], self.after[axis]) if self.before else (0, 0)

    def on(self, axis: int) -> "PoolingSpec":
        """Return the settings that determine the windows of one axis, as a pooling over this axis alone."""
        lists = ("kernel", "strides", "pads_begin", "pads_end", "dilations")
        own = {name: getattr(self.pooling, name)[axis : axis + 1] for name in lists}
        before, after = self.before[axis : axis + 1], self.after[axis : axis + 1]
        return PoolingSpec(self.pooling._replace(**own), before, after, self.divisor)

    def padded(self, axis: int, size: int) -> bool:
        """Return whether the pooling itself pads this axis of an input of `size`."""
        return sum(axis_pads(self.pooling, axis, size + sum(self.pads(axis)))) > 0

    def windows(self, axis: int, size: int, padded: bool) -> AxisWindows:
        """Return the windows of one axis, in positions of the input; `padded` is whether any axis is padded.

        Raises:
            ShapeError: the window does not fit into the padded input.
        """
        before, after = self.pads(axis)
        whole = self.divisor == "kernel" or (self.coupled and padded)
        found = axis_windows(self.pooling, axis, size + before + after, whole)
        if self.divisor == "padded":
            found = replace(found, divisor=_covered(self.pooling, axis, size + before + after))
        return _inside(found, before, size) if before or after else found

    def plan(self, sizes: Sequence[int]) -> WindowPlan:
        """Return the window plan for an input with the spatial sizes `sizes`.

        Raises:
            ShapeError: the window does not fit into the padded input.
        """
        padded = any(self.padded(axis, size) for axis, size in enumerate(sizes))
        return WindowPlan(tuple(self.windows(axis, size, padded) for axis, size in enumerate(sizes)))


@dataclass(frozen=True, slots=True)
class Proof:
    """Two poolings are equal for every relevant input; `text` describes these inputs."""

    text: str


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Spatial sizes for which two poolings differ, and the difference; no sizes if the question was left undecided."""

    sizes: tuple[int, ...] | None
    difference: str


def equal_plans(wanted: WindowPlan, candidate: WindowPlan) -> str | None:
    """Return None if the plans describe the same average; otherwise the difference.

    The numbers of windows must be equal, and every window that is defined in `wanted` must read the same elements and
    divide by the same product. Windows whose value is undefined in `wanted` may differ.
    """
    return _difference([_compare(*pair, divide=True) for pair in zip(wanted.axes, candidate.axes, strict=True)])


def equal_for_all(
    wanted: PoolingSpec, candidate: PoolingSpec, sizes: Sequence[Dim], *, divide: bool = True
) -> Proof | Counterexample:
    """Return whether two poolings are equal on every input whose spatial sizes lie in `sizes`.

    Sizes that `wanted` itself cannot take (the kernel is larger than the padded input) and empty inputs do not count.
    With `divide=False` the poolings are maxima: only what the windows read is compared, empty windows included.

    Poolings whose windows are the same but for their number, as those of other roundings, need no sizes: see `_Line`.

    Why finitely many sizes decide about others. On one axis let both have stride `s`, let `P` be the most padding that
    either has at the beginning and `R` the farthest that either window reaches; `same_*` never pads more than `R - 1`.
    All rules are periodic: from a size `d` to `d + s` the pads stay (for `same_*`, `total` depends on `d mod s` only),
    and each counts one window more. Take `d >= P + s - 1 + R`. Window `i = ceil(P / s)` starts at or after the first
    element and ends at or before the last one, in both poolings. So from `d` to `d + s` windows `0..i` stay as they
    are, windows `i..` move along with the end by one index and `s` positions, and together these are all windows:
    what is equal, different, undefined or divided by a ratio on `d` is so on `d + s`. Hence the sizes up to
    `P + R + 2s - 2` (or, from a lower bound above `P + R + s - 1`, its first `s` sizes) show everything that can
    happen. With different strides `s` is their least common multiple; there the counts drift apart within it.
    The largest size is looked at first: most differences show there.

    The axes are coupled only by AvgPool's rule for `exclude-pad="false"`, which divides by the whole kernel as soon
    as any axis is padded. So the sizes of an axis are sorted into classes: padded or not in either pooling, and how
    the windows compare for either divisor. Every combination of classes is then decided once.
    """
    if wanted == candidate:
        return Proof(f"equal windows {_scope(sizes)} (equal attributes)")
    ours, theirs = _lines(wanted, divide), _lines(candidate, divide)
    if ours and theirs and wanted.pooling.strides == candidate.pooling.strides:
        counted = _other_number(ours, theirs, sizes)
        if counted:
            return counted
        if all(one.windows == other.windows for one, other in zip(ours, theirs, strict=True)):
            return Proof(f"equal windows {_scope(sizes)}")
    ranges = [deciding_sizes(wanted, candidate, axis, dim) for axis, dim in enumerate(sizes)]
    if any(len(sizes) > MAX_SIZES for sizes in ranges):
        return Counterexample(None, f"the proof would need more than {MAX_SIZES} input sizes")
    for looked_at in ([sizes[-1:] for sizes in ranges], ranges):
        axes = enumerate(looked_at)
        classes = [_classes(wanted.on(axis), candidate.on(axis), sizes, divide) for axis, sizes in axes]
        for combination in product(*classes):
            flags = _Flags(
                any(kind.flags.wanted for kind in combination), any(kind.flags.other for kind in combination)
            )
            difference = _difference([kind.verdict(flags) for kind in combination])
            if difference:
                examples = tuple(classes[axis][kind] for axis, kind in enumerate(combination))
                return Counterexample(examples, difference)
    return Proof(f"equal windows {_scope(sizes)}")


def _scope(sizes: Sequence[Dim]) -> str:
    """Return `on 8x8` for static sizes, `for every size of [?, 8]` for others."""
    words = [*map(str, sizes)]
    return f"on {'x'.join(words)}" if all(dim.static for dim in sizes) else f"for every size of [{', '.join(words)}]"


def plain(pooling: Pooling) -> Pooling:
    """Return the same windows with dilation 1 on axes where a window reads one element only."""
    pairs = zip(pooling.dilations, pooling.kernel, strict=True)
    dilations = tuple([1 if kernel == 1 else dilation for dilation, kernel in pairs])
    return pooling if dilations == pooling.dilations else pooling._replace(dilations=dilations)


def floored(pooling: Pooling) -> Pooling:
    """Return the same windows counted with floor, by more padding at the end; `same_*` and empty windows may differ.

    With `room = size + pads - reach`, ceil counts `ceil(room / stride) + 1 = floor((room + stride - 1) / stride) + 1`.
    ceil_torch drops the last of these where it starts behind the input and its padding at the beginning: that is a
    pad at the end of at most `reach - 1`, or of one less where the pad already is as large as the window.
    """
    if pooling.rounding == "floor" or pooling.auto_pad.startswith("same"):
        return pooling._replace(rounding="floor")
    ends = []
    for axis in range(pooling.rank):
        valid = pooling.auto_pad == "valid"
        end, stride, reach = 0 if valid else pooling.pads_end[axis], pooling.strides[axis], pooling.reach(axis)
        longest = end + stride - 1
        ends.append(longest if pooling.rounding == "ceil" else min(longest, max(end, reach) - 1))
    begins = (0,) * pooling.rank if pooling.auto_pad == "valid" else pooling.pads_begin
    return pooling._replace(rounding="floor", auto_pad="explicit", pads_begin=begins, pads_end=tuple(ends))


def resolved(pooling: Pooling, sizes: Sequence[int]) -> Pooling:
    """Return the same windows on one input size, with explicit pads and counted with floor."""
    begins, ends = [], []
    for axis, size in enumerate(sizes):
        begin, _ = axis_pads(pooling, axis, size)
        covered = (axis_count(pooling, axis, size) - 1) * pooling.strides[axis] + pooling.reach(axis)
        begins.append(begin)
        ends.append(max(covered - size - begin, 0))
    return pooling._replace(rounding="floor", auto_pad="explicit", pads_begin=tuple(begins), pads_end=tuple(ends))


def undilated(wanted: PoolingSpec, sizes: Sequence[Dim]) -> Pooling | None:
    """Return the same windows with dilation 1, where the input is so small that dilated ones read one element each.

    None where they read more, or no window at dilation 1 could be equal.
    """
    pooling = plain(wanted.pooling)
    if wanted.before or set(pooling.dilations) == {1} or not all(dim.static and dim.lo for dim in sizes):
        return None
    lengths = [dim.size for dim in sizes]
    plan, explicit = wanted.plan(lengths), resolved(pooling, lengths)
    axes = zip(explicit.kernel, explicit.strides, explicit.pads_begin, explicit.pads_end, strict=True)
    settings = []
    for dilation, windows, size, kept in zip(pooling.dilations, plan.axes, lengths, axes, strict=True):
        found = kept if dilation == 1 else _single_elements(windows, size)
        if found is None:
            return None
        settings.append(found)
    kernel, strides, begins, ends = zip(*settings, strict=True)
    ones = (1,) * pooling.rank
    return explicit._replace(kernel=kernel, strides=strides, pads_begin=begins, pads_end=ends, dilations=ones)


def _single_elements(windows: AxisWindows, size: int) -> tuple[int, int, int, int] | None:
    """Return kernel, stride and padding of windows that read one element each, by kernels that hang over the borders.

    Windows without gaps that read one element of several read the first, the first and the last, or are one element
    wide; those on a single element all read it. The kernel is what they divide by.
    """
    count, divisor = len(windows.first), int(windows.divisor[0])
    if (windows.lengths != 1).any() or (windows.divisor != divisor).any():
        return None
    if size == 1:
        kernel = max(divisor, count)
        return kernel, 1, count - 1, kernel - 1
    if count == 1:
        return divisor, size, divisor - 1, 0
    distance = int(windows.first[1] - windows.first[0])
    return (divisor, distance + divisor - 1, divisor - 1, divisor - 1) if distance > 0 else None


def behind_pad(pooling: Pooling, counted: Pooling) -> PoolingSpec:
    """Return the windows of `counted`, with the padding of `pooling` added by a Pad layer.

    Positions beyond that padding are left out.
    """
    zeros = (0,) * pooling.rank
    ends = pooling.pads_end if pooling.auto_pad == "explicit" else counted.pads_end
    after = tuple(map(min, ends, counted.pads_end))
    over = tuple(total - own for total, own in zip(counted.pads_end, after, strict=True))
    return PoolingSpec(counted._replace(pads_begin=zeros, pads_end=over), counted.pads_begin, after, "real")


def deciding_sizes(wanted: PoolingSpec, candidate: PoolingSpec, axis: int, dim: Dim) -> range:
    """Return the sizes of `dim` on which everything that can happen on one axis does happen: see `equal_for_all`."""
    forms = (wanted, candidate)
    stride = math.lcm(*(form.pooling.strides[axis] for form in forms))
    reach = max(form.pooling.reach(axis) for form in forms)
    begin = max(_most_begin(form, axis) for form in forms)
    start = max(dim.lo, 1)
    last = max(start, begin + reach + stride - 1) + stride - 1
    return range(start, (last if dim.hi is None else min(dim.hi, last)) + 1)


def _most_begin(form: PoolingSpec, axis: int) -> int:
    pooling, before = form.pooling, form.pads(axis)[0]
    if pooling.auto_pad == "explicit":
        return before + pooling.pads_begin[axis]
    return before + (pooling.reach(axis) - 1 if pooling.auto_pad.startswith("same") else 0)


def _covered(pooling: Pooling, axis: int, size: int) -> npt.NDArray[np.int64]:
    """Return the number of positions of the padded input in each window; positions beyond the padding do not count."""
    begin, end = axis_pads(pooling, axis, size)
    start = np.arange(axis_count(pooling, axis, size), dtype=np.int64) * pooling.strides[axis]
    covered = (size + begin + end - 1 - start) // pooling.dilations[axis] + 1
    return np.clip(covered, 0, pooling.kernel[axis])


def _inside(windows: AxisWindows, before: int, size: int) -> AxisWindows:
    """Return windows on a padded axis in positions of the input; they still divide as they did on the padded one."""
    step = windows.step
    first, last = windows.first - before, windows.last - before
    first = first + np.maximum(-(first // step), 0) * step
    last = last - np.maximum(-((size - 1 - last) // step), 0) * step
    return AxisWindows(first, last, step, windows.divisor)


class _Line(NamedTuple):
    """The windows of one axis for inputs of every size: from `least` on, `(size + more) // stride + 1` of them.

    `windows`: what settles where each of them begins, what it reads and by what it is divided, whatever their number.

    Why this form. With `c = pads - reach`, floor counts `(size + c) // s + 1`, and ceil `(size + c + s - 1) // s + 1`.
    ceil_torch counts as ceil, or one less where `ceil - 1 > (size + begin - 1) // s`: the last window would start
    behind the input. `x // s` rises with `x`, so `max(min(ceil, torch), ceil - 1)` of quotients is the quotient of
    `max(min(c + s - 1, begin - 1), c - 1)`. `same_*` counts `ceil(size / s) = (size - 1) // s + 1` where it pads as
    much as it wants to, and, where the window is smaller than what is left of the last stride, with floor and
    ceil_torch, too.
    """

    windows: object
    stride: int
    more: int
    least: int

    def count(self, size: int) -> int:
        """Return the number of windows on an input of a size that is at least `least`."""
        return (size + self.more) // self.stride + 1


def _lines(form: PoolingSpec, divide: bool) -> Sequence[_Line] | None:
    """Return the windows of each axis; None for windows of `same_*` that leave out elements, counted with ceil."""
    pooling, axes = form.pooling, range(form.pooling.rank)
    if not pooling.auto_pad.startswith("same"):
        whole = form.divisor == "kernel" or (form.coupled and any(form.padded(axis, 1) for axis in axes))
        how = pooling.rounding, form.divisor == "padded", divide, whole
        return [
            _explicit_line(_positions(pooling, axis), axis_pads(pooling, axis, 1), form.pads(axis), *how)
            for axis in axes
        ]
    if pooling.rounding == "ceil" and any(pooling.reach(axis) < pooling.strides[axis] for axis in axes):
        return None
    settings = pooling.auto_pad, (form.divisor, pooling.exclude_pad) if divide else None
    return [
        _Line(
            (_positions(pooling, axis), form.pads(axis), settings), pooling.strides[axis], sum(form.pads(axis)) - 1, 1
        )
        for axis in axes
    ]


def _explicit_line(
    positions: tuple[int, int, int],
    pads: tuple[int, int],
    zeros: tuple[int, int],
    rounding: Rounding,
    padded: bool,
    divide: bool,
    whole: bool,
) -> _Line:
    """Return the windows of one axis; `pads`: of the pooling, `zeros`: of the Pad layer in front of it."""
    kernel, stride, dilation = positions
    begin, end = pads[0] + zeros[0], pads[1] + zeros[1]
    room = begin + end - (kernel - 1) * dilation - 1
    more = room if rounding == "floor" else room + stride - 1
    if rounding == "ceil_torch":
        more = max(min(more, begin + zeros[1] - 1), room - 1)
    counted = (begin, end) if padded else zeros
    full = whole or (more <= room and counted == (begin, end))
    divisor = None if full or not divide else counted
    return _Line((positions, begin, divisor), stride, more, max(-room, 1))


def _positions(pooling: Pooling, axis: int) -> tuple[int, int, int]:
    kernel = pooling.kernel[axis]
    return kernel, pooling.strides[axis], pooling.dilations[axis] if kernel > 1 else 1


def _other_number(wanted: Sequence[_Line], other: Sequence[_Line], sizes: Sequence[Dim]) -> Counterexample | None:
    """Return sizes for which `other`, of the same strides, has another number of windows than `wanted`, or none at all.

    None where there are no such sizes, or an axis has none that `wanted` takes.
    """
    examples, differences = [], []
    for axis, (ours, theirs, dim) in enumerate(zip(wanted, other, sizes, strict=True)):
        size, difference = max(ours.least, dim.lo), ""
        if dim.hi is not None and size > dim.hi:
            return None
        low, high = sorted((ours.more, theirs.more))
        past = (size + high) % ours.stride
        apart = size if past < high - low else size + ours.stride - past
        if size < theirs.least:
            difference = "the window does not fit into the padded input"
        elif low < high and (dim.hi is None or apart <= dim.hi):
            size, difference = apart, f"{theirs.count(apart)} windows instead of {ours.count(apart)}"
        examples.append(size)
        differences += [f"axis {axis + 2}: {difference}"] if difference else []
    return Counterexample(tuple(examples), differences[0]) if differences else None


@dataclass(frozen=True, slots=True)
class _Flags:
    """Whether padding, of one axis or of any, is there in the wanted pooling and in the other."""

    wanted: bool
    other: bool


@dataclass(frozen=True, slots=True)
class _Differs:
    """A difference on one axis; one that is `always` there counts even where no window is defined."""

    text: str
    always: bool = False


Verdict = _Differs | Fraction | Literal["free", "zero"]
"""How one axis compares: a difference, the quotient of the divisors, or none to speak of: all windows are undefined
(`free`) or read nothing (`zero`)."""


@dataclass(frozen=True, slots=True)
class _Class:
    """Sizes of one axis that behave alike: their own padding, and the verdict for each padding of the whole."""

    flags: _Flags
    verdicts: tuple[tuple[_Flags, Verdict], ...]

    def verdict(self, flags: _Flags) -> Verdict:
        return next(verdict for key, verdict in self.verdicts if key == flags)


@lru_cache(KEPT)
def _classes(wanted: PoolingSpec, candidate: PoolingSpec, sizes: range, divide: bool) -> Mapping[_Class, int]:
    """Return the classes that occur on the only axis of two poolings, each with a size that is in it.

    Kernels are mostly square, and poolings alike on one axis are many more than those alike on all.
    """
    found: dict[_Class, int] = {}
    for size in sizes:
        own = _Flags(wanted.coupled and wanted.padded(0, size), candidate.coupled and candidate.padded(0, size))
        try:
            verdicts = tuple(_verdicts(wanted, candidate, size, divide))
        except ShapeError:
            continue
        found.setdefault(_Class(own, verdicts), size)
    return found


def _verdicts(wanted: PoolingSpec, candidate: PoolingSpec, size: int, divide: bool) -> Iterator[tuple[_Flags, Verdict]]:
    for padded in (False, True) if wanted.coupled else (False,):
        ours = wanted.windows(0, size, padded)
        for other in (False, True) if candidate.coupled else (False,):
            try:
                verdict = _compare(ours, candidate.windows(0, size, other), divide=divide)
            except ShapeError:
                verdict = _Differs("the window does not fit into the padded input", always=True)
            yield _Flags(padded, other), verdict


def _compare(wanted: AxisWindows, other: AxisWindows, *, divide: bool) -> Verdict:
    if len(wanted.first) != len(other.first):
        return _Differs(f"{len(other.first)} windows instead of {len(wanted.first)}", always=True)
    defined = wanted.divisor > 0 if divide else np.ones_like(wanted.first, dtype=bool)
    if not defined.any():
        return "free"
    lengths, others = wanted.lengths, other.lengths
    same = (lengths == others) & ((lengths == 0) | (wanted.first == other.first))
    if wanted.step != other.step:
        same &= lengths < 2
    if not same[defined].all():
        return _Differs(f"window {int(np.argmax(~same & defined))} reads other elements")
    if not divide:
        return "zero"
    if not other.divisor[defined].all():
        return _Differs(f"window {int(np.argmax(defined & (other.divisor == 0)))} is undefined")
    live = defined & (lengths > 0)
    if not live.any():
        return "zero"
    ours, theirs = wanted.divisor[live], other.divisor[live]
    uneven = ours * theirs[0] != ours[0] * theirs
    if uneven.any():
        return _Differs(f"window {int(np.flatnonzero(live)[np.argmax(uneven)])} divides by another number")
    return Fraction(int(ours[0]), int(theirs[0]))


def _difference(verdicts: Sequence[Verdict]) -> str | None:
    """Return the difference over all axes, or None. A different number of windows is always a difference.

    If all windows are undefined, nothing else is.
    """
    free = "free" in verdicts
    for axis, verdict in enumerate(verdicts):
        if isinstance(verdict, _Differs) and (verdict.always or not free):
            return f"axis {axis + 2}: {verdict.text}"
    if free or "zero" in verdicts:
        return None
    ratio = math.prod((verdict for verdict in verdicts if isinstance(verdict, Fraction)), start=Fraction(1))
    return None if ratio == 1 else f"the divisors differ by the factor {ratio}"
