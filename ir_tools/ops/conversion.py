"""From one element type to another: Convert, ConvertLike, ConvertPromoteTypes."""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops._define import UNBOUNDED, Array, Attrs, Bounds, Fact, Flag, Input, Op, Output
from ir_tools.ops._fields import Type
from ir_tools.ops._numbers import low_bits
from ir_tools.types import ElementType, element_type, from_dtype

__all__ = ["CONVERT", "CONVERT_LIKE", "CONVERT_PROMOTE_TYPES", "OPS"]


def convert_bounds(value: Bounds | None, target: ElementType) -> Bounds | None:
    """Bounds in another type; what has no bound keeps none."""
    if value is None or target.dtype is None:
        return None
    if value.exact is not None:
        return Bounds.exactly(cast(value.exact, target))
    return Bounds(_cast_bound(value.lower, target), _cast_bound(value.upper, target))


def _cast_bound(bound: Array, target: ElementType) -> Array:
    unbounded = np.isinf(bound) if bound.dtype.kind == "f" else bound == UNBOUNDED
    known = cast(np.where(unbounded, 0, bound), target)
    if target.is_float:
        return np.where(unbounded, np.inf, known.astype(np.float32 if target.bits < 32 else known.dtype))
    return np.where(unbounded, UNBOUNDED, known.astype(np.int64))


def cast(data: Array, target: ElementType) -> Array:
    """The values in another type: floats cut off towards zero, anything but 0 is true, integers wrap.

    A float that i32 cannot hold becomes what the CPU makes of it.
    """
    dtype = target.dtype
    assert dtype is not None
    if target.kind == "boolean":
        out: Array = data != 0
        return out
    with np.errstate(all="ignore"):
        if target.is_integer and data.dtype.kind not in "iub":
            return low_bits(data.astype(np.float64), dtype)
        return data.astype(dtype)


def convert_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The input's shape in the type that the layer names."""
    target = attrs.destination_type
    return (Fact(target, inputs[0].shape, convert_bounds(inputs[0].value, target)),)


def convert(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The values in the type that the layer names."""
    return (cast(arrays[0], attrs.destination_type),)


def convert_like_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The first input's shape in the second's type."""
    del attrs
    return (Fact(inputs[1].dtype, inputs[0].shape),)


def convert_like(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The first input's values in the second's type."""
    del attrs
    return (cast(arrays[0], from_dtype(arrays[1].dtype)),)


NUMBERS = "float integer boolean nf4"
"""Everything but strings."""

CONVERT = Op(
    type="Convert",
    version=1,
    inputs=(Input("data", type=NUMBERS),),
    attrs={"destination_type": Type()},
    shape=convert_shape,
    kernel=convert,
)
CONVERT_LIKE = Op(
    type="ConvertLike",
    version=1,
    inputs=(Input("data", type=NUMBERS), Input("like", type=NUMBERS)),
    shape=convert_like_shape,
    kernel=convert_like,
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
)

OPS = (CONVERT, CONVERT_LIKE, CONVERT_PROMOTE_TYPES)
