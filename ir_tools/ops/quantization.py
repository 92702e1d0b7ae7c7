"""Quantisation in floats: FakeQuantize-1, FakeConvert-13.

Specification: `quantization/`.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.ops._bit_rewrites import LARGEST_F8, fake_convert_by_steps
from ir_tools.ops._broadcast import AUTO_BROADCAST, auto_broadcast, broadcast, broadcast_arrays, merge
from ir_tools.ops._by_blocks import elementwise
from ir_tools.ops._numbers import in_working_type, largest_magnitude, through_floats
from ir_tools.ops._quantization_rewrites import quantize
from ir_tools.ops._requirements import check_divisor, raise_first, same_shape_unless, same_type
from ir_tools.ops.definition import Array, Elements, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Int, OneOf, Usual
from ir_tools.types import Shape, element_type, shape_text

__all__ = ["OPS"]

MAX_LEVELS = 1 << 16

LIMITS = ("input_low", "input_high", "output_low", "output_high")
WITHOUT_LEVELS = 2**64
"""How many levels the runtime takes if `levels` is missing: one less than 0, as an unsigned number, is the last one."""


def quantize_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for limits that do not broadcast with the data and with each other."""
    shape = inputs[0].shape
    for name, fact in zip(LIMITS, inputs[1:], strict=True):
        try:
            shape = auto_broadcast(attrs, shape, fact.shape)
        except ShapeError:
            yield Violation(
                name,
                f"is {shape_text(fact.shape)}, which cannot be broadcast to the data {shape_text(inputs[0].shape)}",
            )
            return


def check_quantize(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for the same, fewer than two levels, no range between the limits, and limits larger than the data."""
    yield from quantize_violations(attrs, inputs)
    if attrs.levels == 0 and _may_be_fused(inputs):
        message = (
            "is 0, which the CPU plugin refuses for constant data and for layers that it fuses with their producer"
        )
        yield Violation("levels", message, kind=ViolationKind.RANGE)
    elif attrs.levels == 0:
        yield Violation(
            "levels", "is 0, so the layer clamps and scales its data without quantizing it", kind=ViolationKind.SUSPECT
        )
    elif attrs.levels == 1:
        yield Violation("levels", "is 1; expected at least 2", kind=ViolationKind.RANGE)
    yield from _descending(attrs, inputs[1], inputs[2])
    for name, fact in zip(LIMITS, inputs[1:], strict=True):
        if attrs.auto_broadcast == "numpy" and _larger(fact.shape, inputs[0].shape):
            text = f"is {shape_text(fact.shape)}, but the data has only {shape_text(inputs[0].shape)}"
            yield Violation(name, text, kind=ViolationKind.SUSPECT)


def _descending(attrs: Attrs, low: Fact, high: Fact) -> Iterator[Violation]:
    """Check for an upper limit of the data that is not above the lower one; with two levels, equal ones binarize."""
    if low.exact is None or high.exact is None or not attrs.levels:
        return
    if low.exact.shape != high.exact.shape and 1 not in {low.exact.size, high.exact.size}:
        return
    lower, upper = np.broadcast_arrays(low.exact, high.exact)
    wrong = lower > upper if attrs.levels == 2 else lower >= upper
    if wrong.any():
        first, second = lower[wrong][0], upper[wrong][0]
        what = "there is no range to quantize" if first == second else "the limits are swapped"
        message = f"is {first:g}, but input_high is {second:g}: {what}"
        yield Violation("input_low", message, "give input_low less than input_high", ViolationKind.SUSPECT)


def _may_be_fused(inputs: Sequence[Fact]) -> bool:
    """Return whether the CPU plugin has a node of its own for such a layer, which it may fuse (measured)."""
    shape = inputs[0].shape
    return all(limit.constant for limit in inputs[1:]) and shape is not None and 2 <= len(shape) <= 5


def _larger(limit: Shape, data: Shape) -> bool:
    """Return whether a limit would have to be cut down to the data."""
    if limit is None or data is None:
        return False
    pairs = zip(limit[::-1], data[::-1], strict=False)
    beyond = limit[: max(len(limit) - len(data), 0)]
    return any(dim.lo > 1 for dim in beyond) or any(low.lo > 1 and size.hi == 1 for low, size in pairs)


def convert_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a scale that does not broadcast to the data; a shift that is not shaped as the scale."""
    data, scale = inputs[0].shape, inputs[1].shape
    if len(inputs) > 2:
        try:
            merge(scale, inputs[2].shape)
        except ShapeError:
            text = f"is {shape_text(inputs[2].shape)}, but scale is {shape_text(scale)}"
            yield Violation("shift", text)
    try:
        merge(data, broadcast(data, scale))
    except ShapeError:
        text = f"is {shape_text(scale)}, which cannot be broadcast to the data {shape_text(data)}"
        yield Violation("scale", text)


def check_fake_convert(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for what `convert_violations` finds, and for a scale of 0."""
    yield from convert_violations(attrs, inputs)
    yield from check_divisor("scale", inputs[1])


def convert_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's type, and its shape broadcast with the scale's."""
    dtype = same_type(inputs)
    if dtype.name not in {"f32", "f16", "bf16", "dynamic"}:
        raise ShapeError(f"the data has element type {dtype}; expected f32, f16 or bf16")
    raise_first(convert_violations(attrs, inputs))
    return (Fact(dtype, broadcast(inputs[0].shape, inputs[1].shape)),)


def fake_quantize(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Round every element to the nearest of `levels` values, in the data's type; integers are computed in f32.

    Data up to the lower limit become `output_low`, data above the upper limit `output_high`; by the specification, this
    also holds if the limits are equal or reversed. Without `levels`, floats are only limited and scaled.

    Raises:
        ShapeError: there are no levels, and the data are integers, which the runtime divides as integers.
    """
    data, *limits = arrays
    if not attrs.levels and data.dtype.kind in "iub":
        raise ShapeError("is missing; integers are not computed without it", attribute="levels")
    shaped = [broadcast_arrays(attrs, data, limit)[1].astype(data.dtype) for limit in limits]
    ascending = bool(np.all(shaped[0] < shaped[1]))
    function = through_floats(partial(quantized if ascending else quantized_between, attrs.levels or WITHOUT_LEVELS))
    return (elementwise(partial(in_working_type, function), data, *shaped),)


def quantized_between(levels: int, data: Array, low: Array, high: Array, out_low: Array, out_high: Array) -> Array:
    """Return the quantized data; limits in descending order are counted from `low` down to `high`."""
    lower, upper = np.minimum(low, high), np.maximum(low, high)
    sides = np.where(data > upper, out_high, out_low).astype(data.dtype)
    if np.array_equal(low, high):
        return sides
    with np.errstate(all="ignore"):
        rising = quantized(levels, data, lower, upper, out_low, out_high)
        falling = np.rint((data - low) / (high - low) * (levels - 1)) / (levels - 1) * (out_high - out_low) + out_low
    outside = (low >= high) & ~((data > lower) & (data <= upper))
    between: Array = np.where(outside, sides, np.where(low < high, rising, falling)).astype(data.dtype)
    return between


def quantized(levels: int, data: Array, low: Array, high: Array, out_low: Array, out_high: Array) -> Array:
    """Quantize with the arithmetic of the CPU plugin, step by step, which determines how ties are rounded.

    Values outside the limits are limited, first by the upper one, and NaN becomes the lower one; ties go to the even
    level. With two levels the plugin multiplies and adds in one step, rounded once, and uses another shift. Measured.
    """
    last = data.dtype.type(levels - 1)
    scale = last / (high - low)
    out = np.asarray(np.minimum(data, high))
    np.fmax(out, low, out=out)
    if levels == 2:
        out = (out.astype(np.float64) * scale + -low * last / (high - low)).astype(data.dtype)
    else:
        out *= scale
        out += -low * scale
    np.rint(out, out=out)
    out *= (out_high - out_low) / last
    out += out_low
    return out


def between_levels(attrs: Attrs, arrays: Sequence[Array], error: float) -> npt.NDArray[np.bool_] | None:
    """Return the elements whose distance to the border of two levels is below `error` times the largest magnitude."""
    if arrays[0].dtype.kind not in "fV" or not arrays[0].size or not attrs.levels:
        return None
    data, low, high = (array.astype(np.float64) for array in arrays[:3])
    low, high = (broadcast_arrays(attrs, data, limit)[1] for limit in (low, high))
    reach = error * largest_magnitude(data)
    with np.errstate(all="ignore"):
        scale = (attrs.levels - 1) / (high - low)
        place = (np.clip(data, low, high) - low) * scale
        undecided: npt.NDArray[np.bool_] = np.abs(place - np.floor(place) - 0.5) <= np.abs(reach * scale)
    return undecided if undecided.any() else None


def fake_convert(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `(f8(data * scale - shift) + shift) / scale`; values above the range of f8 become its largest number.

    As in the CPU plugin, f8 is rounded from f16, and bf16 is rounded after every step.
    """
    kind = element_type(attrs.destination_type).dtype
    assert kind is not None
    maximum = LARGEST_F8[attrs.destination_type]

    def converted(data: Array, scale: Array, shift: Array | None = None) -> Array:
        moved = data * scale if shift is None else data * scale - shift
        cut = np.fmax(np.minimum(moved, data.dtype.type(maximum)), data.dtype.type(-maximum))
        back = cut.astype(np.float16).astype(kind).astype(data.dtype)
        found: Array = back / scale if shift is None else (back + shift) / scale
        return found

    if arrays[0].dtype.kind == "V":
        return (converted(*arrays),)
    return (in_working_type(converted, *arrays),)


FAKE_QUANTIZE = Op(
    type="FakeQuantize",
    version=1,
    inputs=(
        Input("data", type="float integer", elements=Elements.QUANTIZED),
        *(Input(name, type="float integer") for name in LIMITS),
    ),
    attrs={
        "levels": Int(minimum=0, runtime_default=0, usual=Usual(maximum=MAX_LEVELS, above="more than 16 bits have")),
        **AUTO_BROADCAST,
    },
    check=check_quantize,
    shape=same_shape_unless(quantize_violations),
    kernel=fake_quantize,
    ill_conditioned=between_levels,
    monotonic=True,
    substitute=quantize,
)
FAKE_CONVERT = Op(
    type="FakeConvert",
    version=13,
    migrate=fake_convert_by_steps,
    inputs=(
        Input("data", type="T", elements=Elements.QUANTIZED),
        Input("scale", type="T"),
        Input("shift", optional=True, type="T"),
    ),
    types={"T": "f32 f16 bf16"},
    attrs={"destination_type": OneOf(words=("f8e4m3", "f8e5m2"), default="f8e4m3")},
    check=check_fake_convert,
    shape=convert_shape,
    kernel=fake_convert,
)

OPS = (FAKE_QUANTIZE, FAKE_CONVERT)
