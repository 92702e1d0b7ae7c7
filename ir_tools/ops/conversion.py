"""From one element type to another: Convert, ConvertLike, ConvertPromoteTypes.

Specification: `type/`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.ops._by_blocks import elementwise
from ir_tools.ops._layers import Layers, by_formula
from ir_tools.ops._numbers import low_bits, near_steps
from ir_tools.ops.definition import (
    NEWEST_OPSET,
    UNBOUNDED,
    Array,
    Bounds,
    Elements,
    Fact,
    Input,
    Op,
    Output,
    Ref,
    Refused,
    Rewrite,
    Violation,
)
from ir_tools.ops.fields import Attrs, Flag, Type
from ir_tools.ops.records import bare_fact
from ir_tools.types import ElementType, element_type
from ir_tools.types.packing import element_type_of, fit

__all__ = ["CONVERT_PROMOTE_TYPES", "OPS"]

WIDE = frozenset({"i64", "u32", "u64"})
"""Types to which the core cuts floats off in 64 bits, to others in 32. Measured."""
LIMITS = {name: np.iinfo(element_type(name).dtype).max for name in ("i32", "u32")}
"""What the core takes for no upper bound, of a type that holds less than `UNBOUNDED`. Measured."""


def convert_bounds(value: Bounds | None, target: ElementType) -> Bounds | None:
    """Return bounds in another type; what has no bound keeps none."""
    if value is None or target.held_dtype is None:
        return None
    if value.exact is not None:
        known = _folded(value.exact, target)
        return Bounds.exactly(known.astype(np.float32) if target.is_float and target.bits < 32 else known)
    return Bounds(_cast_bound(value.lower, target), _cast_bound(value.upper, target))


def _cast_bound(bound: Array, target: ElementType) -> Array:
    limits = (UNBOUNDED, LIMITS.get(target.name, UNBOUNDED))
    unbounded = np.isinf(bound) if bound.dtype.kind == "f" else np.isin(bound, limits)
    known = _folded(np.where(unbounded, 0, bound), target)
    if target.is_float:
        return np.where(unbounded, np.inf, known.astype(np.float32 if target.bits < 32 else known.dtype))
    return np.where(unbounded, UNBOUNDED, known.astype(np.int64))


def _folded(data: Array, target: ElementType) -> Array:
    """Return the values in another type as the core computes what it knows of sizes; `cast` does as the CPU plugin."""
    dtype = target.held_dtype
    if dtype is None or data.dtype.kind not in "fV" or not target.is_integer or target.packed:
        return cast(data, target)
    floats = data.astype(np.float64)
    if target.name not in WIDE:
        return low_bits(floats, dtype)
    least = np.iinfo(np.int64).min
    return np.where(np.abs(floats) < -float(least), floats, least).astype(np.int64).astype(dtype)


def cast(data: Array, target: ElementType) -> Array:
    """Return the values in another type: floats cut off towards zero, anything but 0 is true, integers wrap.

    A float that i32 cannot hold becomes what the CPU makes of it.

    Raises:
        ShapeError: strings are converted to something else, or something else to strings.
    """
    dtype = target.held_dtype
    if dtype is None or data.dtype.kind == "O":
        raise ShapeError(f"{element_type_of(data)} cannot be converted to {target}")
    if target.packed:
        exact = low_bits(data.astype(np.float64), np.int64) if target.is_integer and data.dtype.kind in "fV" else data
        return fit(exact, target)
    if target.name == "f8e8m0":
        return _powers_of_two(data.astype(np.float32)).astype(dtype)
    if target.kind == "boolean":
        out: Array = data != 0
        return out
    with np.errstate(all="ignore"):
        if target.is_integer and data.dtype == np.float64:
            return _cut_off(data, dtype)
        if target.is_integer and data.dtype.kind not in "iub":
            return low_bits(data.astype(np.float64), dtype)
        return data.astype(dtype)


def _cut_off(data: Array, dtype: "np.dtype[Any]") -> Array:
    """Return f64 as integers: cut off at the limits of 8 bits or of i32, of which other types keep the low bits.

    Measured.
    """
    limits = np.iinfo(dtype if dtype.itemsize == 1 else np.int32)
    return low_bits(np.clip(data, limits.min, limits.max), dtype)


def _powers_of_two(values: Array) -> Array:
    """Return the nearest powers of two, of two as near the one with an even exponent in the file; -127 to 127.

    Zero and negative values become the smallest one, and NaN stays. Measured.
    """
    mantissa, exponent = np.frexp(np.clip(values, np.float32(2.0**-127), np.float32(2.0**127)))
    exponent = exponent - 1
    up = (mantissa > 0.75) | ((mantissa == 0.75) & (exponent % 2 == 0))
    return np.where(np.isnan(values), values, np.ldexp(np.float32(1), np.minimum(exponent + up, 127)))


def check_target(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a type that nothing can be converted to."""
    if attrs.destination_type.kind == "string":
        yield Violation("destination_type", f"is {attrs.destination_type}, which is not a type to convert to")


def convert_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the input's shape in the type that the layer names."""
    target = attrs.destination_type
    return (Fact(target, inputs[0].shape, convert_bounds(inputs[0].value, target)),)


def convert(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the values in the type that the layer names."""
    return (elementwise(lambda part: cast(part, attrs.destination_type), arrays[0]),)


def cut_off(attrs: Attrs, arrays: Sequence[Array], error: float) -> npt.NDArray[np.bool_] | None:
    """Return floats so near to an integer that an error decides which integer they become."""
    return near_steps(arrays[0], error) if attrs.destination_type.is_integer else None


def convert_like_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the first input's shape in the second's type."""
    data, like = inputs
    return (Fact(like.dtype, data.shape),)


def convert_like(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the first input's values in the second's type."""
    return (cast(arrays[0], element_type_of(arrays[1])),)


# --- promotion ----------------------------------------------------------------------------------------------------

DYNAMIC = element_type("dynamic")
PRIORITY = {"boolean": 0, "unsigned": 1, "signed": 1, "float": 2}
UNPROMOTED = frozenset({"f8e8m0", "f4e2m1", "nf4", "u6", "u3", "u2", "string"})


def promoted_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return both inputs' shapes in their common type."""
    kinds = [fact.dtype for fact in inputs]
    if any(kind.kind == "dynamic" for kind in kinds):
        common = DYNAMIC
    else:
        for kind in kinds:
            if kind.name in UNPROMOTED:
                raise ShapeError(f"an input has element type {kind}, which cannot be promoted")
        common = _common_type(attrs, inputs)
    return tuple(Fact(common, fact.shape) for fact in inputs)


def promoted(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return both inputs in their common type."""
    target = promoted_shape(attrs, [*map(bare_fact, arrays)])[0].dtype
    return tuple(cast(array, target) for array in arrays)


def _common_type(attrs: Attrs, inputs: Sequence[Fact]) -> ElementType:
    """Return the type that holds both, by OpenVINO's core (convert_promote_types.cpp), measured on all pairs.

    Raises:
        ShapeError: it loses or widens values, without `promote_unsafe`.
    """
    left, right = (fact.dtype for fact in inputs)
    if left == right or "boolean" in {left.kind, right.kind}:
        return right if left.kind == "boolean" else left
    safe: bool
    if PRIORITY[left.kind] != PRIORITY[right.kind]:
        common, lesser = (left, right) if left.is_float else (right, left)
        safe = common.bits >= 2 * lesser.bits
    elif attrs.pytorch_scalar_promotion and any(fact.shape is None for fact in inputs):
        return DYNAMIC
    elif attrs.pytorch_scalar_promotion and (inputs[0].shape == ()) != (inputs[1].shape == ()):
        common, lesser = (right, left) if inputs[0].shape == () else (left, right)
        halved = lesser.kind == "unsigned" and common.kind == "signed"
        fits = common.kind == lesser.kind or halved
        safe = fits and common.bits >= (lesser.bits // 2 if halved else lesser.bits)
    else:
        common = _wider(left, right, attrs.u64_integer_promotion_target)
        safe = common in {left, right}
    if not safe and not attrs.promote_unsafe:
        raise ShapeError(f"{left} and {right} have no common type without promote_unsafe")
    return common


def _wider(left: ElementType, right: ElementType, target: ElementType) -> ElementType:
    """Return the least type of their kind that holds all values of both; `target` for what i128 would hold."""
    if left.is_float and left.bits == right.bits:
        return element_type("f32" if left.bits == 16 else "f16")
    larger = max(left, right, key=lambda kind: kind.bits)
    if left.kind == right.kind:
        return larger
    signed, unsigned = (left, right) if left.kind == "signed" else (right, left)
    if unsigned.bits == 64:
        return target
    bits = max(signed.bits, 2 * unsigned.bits, 4)
    return element_type(f"i{bits}")


def migrate_promotion(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite ConvertPromoteTypes-14 by a Convert of each input that has another type than both have in common."""
    if target >= 14:
        return None
    common = promoted_shape(attrs, inputs)[0].dtype
    attrs.values()
    if common.kind == "dynamic":
        return Refused("the element types of the inputs are not known")
    layers = Layers(inputs, target)
    outputs = [layers.call("Convert", Ref(None, number), destination_type=common.name) for number in range(2)]
    return layers.rewrite(
        "conversions", f"the common type of {inputs[0].dtype} and {inputs[1].dtype} is {common}", outputs
    )


@by_formula("x != 0")
def boolean_of_numbers(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Convert-1 of numbers to boolean."""
    if layers.inputs[0].dtype.kind == "boolean":
        return Refused("it does not convert numbers to boolean")
    return layers.call("NotEqual", Ref(None), 0)


@by_formula("a Convert to i32 truncates the fraction, and i32 holds all values of 8 bits")
def bytes_of_floats(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Convert-1 of floats to integers of 8 bits, of which a release gives the fraction, too."""
    kind = attrs.destination_type
    if not (layers.inputs[0].dtype.is_float and kind.name in {"u8", "i8"}):
        return Refused("it does not convert floats to integers of 8 bits")
    return layers.to_type(layers.call("Convert", Ref(None), destination_type="i32"), kind)


def other_conversion(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite Convert-1 of numbers to boolean, or of floats to integers of 8 bits."""
    step = boolean_of_numbers if attrs.destination_type.kind == "boolean" else bytes_of_floats
    return step(attrs, inputs, target)


@by_formula("a Convert to the element type of the second input")
def known_conversion(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite ConvertLike-1."""
    kind = layers.inputs[1].dtype
    if kind.kind == "dynamic":
        return Refused("the element type of its second input is not known")
    return layers.call("Convert", Ref(None), destination_type=kind.name)


NUMBERS = "float integer boolean nf4"
"""Everything but strings."""

LIKE = Input("like", type=NUMBERS, elements=Elements.UNREAD)
CONVERT = Op(
    type="Convert",
    version=1,
    last_opset=NEWEST_OPSET,
    inputs=(Input("data", type=NUMBERS, elements=Elements.CONVERTED),),
    attrs={"destination_type": Type()},
    check=check_target,
    shape=convert_shape,
    kernel=convert,
    ill_conditioned=cut_off,
    monotonic=True,
    substitute=other_conversion,
)
CONVERT_LIKE = Op(
    type="ConvertLike",
    version=1,
    inputs=(Input("data", type=NUMBERS, elements=Elements.CONVERTED), LIKE),
    shape=convert_like_shape,
    kernel=convert_like,
    substitute=known_conversion,
)

CONVERT_PROMOTE_TYPES = Op(
    type="ConvertPromoteTypes",
    version=14,
    inputs=(Input("input_0", type=NUMBERS), Input("input_1", type=NUMBERS)),
    outputs=(Output("output_0"), Output("output_1")),
    attrs={
        "promote_unsafe": Flag(default=False),
        "pytorch_scalar_promotion": Flag(default=False),
        "u64_integer_promotion_target": Type(default=element_type("f32")),
    },
    shape=promoted_shape,
    kernel=promoted,
    migrate=migrate_promotion,
)

OPS = (CONVERT, CONVERT_LIKE, CONVERT_PROMOTE_TYPES)
