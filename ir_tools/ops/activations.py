"""Elementwise operations on one tensor: activations, mathematics, rounding, tests; and SoftMax.

Specification: `activation/`, `arithmetic/`, `comparison/`, `logical/`, `bitwise/`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.ops import _activation_rewrites as rewrites
from ir_tools.ops import _bit_rewrites as bits
from ir_tools.ops._by_blocks import along, elementwise
from ir_tools.ops._numbers import in_working_type, near_steps, sigmoid, through_floats, to_integer
from ir_tools.ops._requirements import require_one, require_type, same_type
from ir_tools.ops._values import same_shape
from ir_tools.ops._versions import first_of
from ir_tools.ops.definition import (
    NUMBERS,
    Array,
    Bounds,
    Check,
    Elements,
    Fact,
    Infinity,
    Input,
    NewLayer,
    Op,
    Oracle,
    Ref,
    Refused,
    Rewrite,
    Step,
    Violation,
    ViolationKind,
    no_violations,
)
from ir_tools.ops.fields import NOT_NEGATIVE, Attrs, Field, Flag, Float, Int, OneOf, Usual
from ir_tools.types import Dim, element_type, is_static, shape_text

__all__ = ["OPS", "Unary", "erf"]

BOOLEAN = element_type("boolean")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    """An elementwise operation on one tensor.

    Attributes:
        type, version: the type and version of the operation.
        function: a function of an array and the layer's attributes, by name; f16 and bf16 are passed as f32.
        accepts: the element types that the runtime's core accepts.
        types: the element types that a device computes, if they are fewer.
        boolean: whether the result is boolean.
        attrs: the attributes of the operation.
        folds: how the runtime computes the values of the result before it runs: `bounds` if it applies the function to
            both bounds, only exact values, or nothing.
        folds_of: the element types for which it computes values; empty for all.
        check: the check of the operation.
        direct: whether the function makes no temporary arrays, so that it need not be applied block by block.
        border: for a rounding, the distance of its steps above an integer; None for an operation without steps.
        elements, infinity, migrate, oracle: as for `Op`.
    """

    type: str
    function: Callable[..., Array]
    version: int = 1
    accepts: str = "float integer"
    types: str = ""
    boolean: bool = False
    attrs: Mapping[str, Field] = field(default_factory=dict)
    folds: Literal["bounds", "exact", "none"] = "exact"
    folds_of: str = ""
    check: Check = no_violations
    direct: bool = False
    border: float | None = None
    elements: Elements = Elements.COMPUTED
    infinity: Infinity = Infinity.SUSPECT
    migrate: Step | None = None
    oracle: Oracle = Oracle.RUNTIME

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return the input's shape."""
        data = inputs[0]
        require_type(data.dtype, self.accepts)
        return (Fact(BOOLEAN if self.boolean else data.dtype, data.shape, self.value(attrs, data)),)

    def value(self, attrs: Attrs, data: Fact) -> Bounds | None:
        """Return the bounds of the result's values, as the runtime computes them."""
        if data.value is None or self.folds == "none" or (self.folds == "exact" and data.value.exact is None):
            return None
        if not data.dtype.is_one_of(self.folds_of):
            return None
        with np.errstate(all="ignore"):
            lower, upper = (self.function(bound, **attrs) for bound in (data.value.lower, data.value.upper))
        return Bounds.exactly(lower) if data.value.exact is not None else Bounds(lower, upper)

    def kernel(self, attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Apply the function to the input."""
        (data,) = arrays
        if self.direct and data.dtype.kind == "f" and data.dtype.itemsize > 2:
            return (self.function(data),)

        def applied(part: Array) -> Array:
            return in_working_type(lambda numbers: self.function(numbers, **attrs), part)

        return (elementwise(applied, data),)

    def near_border(self, attrs: Attrs, arrays: Sequence[Array], error: float) -> npt.NDArray[np.bool_] | None:
        """Return the elements so close to a step that an error determines on which side of it they are."""
        return None if self.border is None else near_steps(arrays[0], error, self.border)

    @property
    def op(self) -> Op:
        """The operation."""
        kinds = self.types or (NUMBERS if self.accepts == "any" else self.accepts)
        return Op(
            type=self.type,
            version=self.version,
            inputs=(Input("data", type=kinds, elements=self.elements),),
            infinity=Infinity.BOUND if self.boolean else self.infinity,
            attrs=self.attrs,
            check=self.check,
            shape=self.shape,
            kernel=self.kernel,
            ill_conditioned=None if self.border is None else self.near_border,
            monotonic=self.border is not None,
            migrate=self.migrate,
            oracle=self.oracle,
        )


# --- functions of one array -------------------------------------------------------------------------------------


_STEPS = 512
_LAST = 6.0


@cache
def _erf_table() -> tuple[Array, Array]:
    nodes = np.arange(int(_LAST * _STEPS) + 2) / _STEPS
    values = np.array([math.erf(node) for node in nodes])
    return values, 2 / math.sqrt(math.pi) * np.exp(-nodes * nodes)


def erf(data: Array) -> Array:
    """Return the error function, exact to 1e-15.

    A table of exact values, and Taylor's series from the nearest of them.
    """
    size = np.minimum(np.abs(data.astype(np.float64)), _LAST)
    index = np.nan_to_num(size * _STEPS + 0.5).astype(np.intp)
    values, slopes = _erf_table()
    node = index / _STEPS
    step = size - node
    cubic = (4 * node * node - 2) / 6 + step * (12 - 8 * node * node) * node / 24
    out = values[index] + slopes[index] * step * (1 + step * (-node + step * cubic))
    return np.copysign(np.minimum(out, 1.0), data).astype(data.dtype)


def erf_inv(data: Array) -> Array:
    """Return the inverse of the error function.

    A close start (Winitzki), then Halley's steps to the last digit.
    """
    value = data.astype(np.float64)
    logarithm = np.log1p(-value * value)
    half = 2 / (math.pi * 0.147) + logarithm / 2
    out = np.copysign(np.sqrt(np.maximum(np.sqrt(half * half - logarithm / 0.147) - half, 0)), value)
    inside = np.abs(value) < 1
    for _ in range(3):
        step = np.where(inside, (erf(out) - value) * (math.sqrt(math.pi) / 2) * np.exp(out * out), 0)
        out = np.where(inside, out - step / (1 + out * step), out)
    ends = np.where(np.abs(value) > 1, np.nan, np.copysign(np.inf, value))
    return np.where(inside | np.isnan(value), out, ends).astype(data.dtype)


def hard_sigmoid_6(data: Array) -> Array:
    """Return HSigmoid: `min(max(x + 3, 0), 6) / 6`."""
    shifted = data + 3
    out: Array = np.where(shifted > 0, np.minimum(shifted, 6), 0).astype(data.dtype) / data.dtype.type(6)
    return out


def hard_swish(data: Array) -> Array:
    """Return `x * HSigmoid(x)`."""
    return data * hard_sigmoid_6(data)


def softplus(data: Array) -> Array:
    """Return `log(1 + exp(x))`, without overflow."""
    out: Array = np.logaddexp(data, data.dtype.type(0))
    return out


def mish(data: Array) -> Array:
    """Return `x * tanh(softplus(x))`."""
    return data * np.tanh(softplus(data))


def relu(data: Array, out: Array | None = None) -> Array:
    """Return positive values, and 0 for all others, NaN included."""
    found: Array = np.fmax(data, data.dtype.type(0), out=out)
    return found


def gelu(data: Array, approximation_mode: str = "erf") -> Array:
    """Return `x * P(X <= x)` of the normal distribution, or its approximation by tanh."""
    half = data.dtype.type(0.5)
    if approximation_mode == "tanh":
        inner = data.dtype.type(math.sqrt(2 / math.pi)) * (data + data.dtype.type(0.044715) * data * data * data)
        share = np.tanh(inner)
    else:
        share = erf(data * data.dtype.type(math.sqrt(0.5)))
    out: Array = half * data * (1 + share)
    return out


def elu(data: Array, alpha: float) -> Array:
    """Return `alpha * (exp(x) - 1)` below 0."""
    return through_floats(lambda x: np.where(x < 0, x.dtype.type(alpha) * np.expm1(np.minimum(x, 0)), x))(data)


BOUND = Usual(infinite=True)
ALPHA = Float(runtime_default=0.0, usual=NOT_NEGATIVE)


def check_clamp(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a least value above the largest."""
    if not attrs.min <= attrs.max:
        yield Violation("min", f"is {attrs.min}, but max is {attrs.max}", "swap them")
    elif attrs.min == attrs.max:
        message = f"is {attrs.min:g}, and max is the same: every output element has this value"
        yield Violation("min", message, kind=ViolationKind.SUSPECT)


def clamp(data: Array, min: float, max: float) -> Array:
    """Limit values to both ends; for integers the ends are rounded inwards."""
    if data.dtype.kind == "f":
        out: Array = np.minimum(np.fmax(data, data.dtype.type(min)), data.dtype.type(max))
        return out
    limits = np.iinfo(data.dtype)
    low = limits.min if min <= limits.min else math.ceil(min)
    high = limits.max if max >= limits.max else math.floor(max)
    return np.clip(data, low, high)


def round_(data: Array, mode: str) -> Array:
    """Round to the nearest integer; a half to the even one or away from zero."""
    if data.dtype.kind != "f":
        return data
    if mode == "half_to_even":
        return np.rint(data)
    out: Array = np.copysign(np.floor(np.abs(data) + data.dtype.type(0.5)), data)
    return out


def is_inf(data: Array, detect_negative: bool, detect_positive: bool) -> Array:
    """Return where numbers are infinite, of the signs that are looked for."""
    return np.isinf(data) & np.where(data > 0, detect_positive, detect_negative)


def whole(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a rounding, which leaves integers as they are."""
    return lambda data: function(data) if data.dtype.kind == "f" else data


def saturated(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function whose 8-bit results saturate. Measured."""
    return lambda data: in_working_type(function, data, saturate=True)


def in_floats(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function of floats; 8-bit integer results go through i32 and then saturate."""
    return saturated(through_floats(function))


LARGEST = 2147483520
"""The largest f32 that i32 holds."""


def within_limits(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function of floats whose results saturate at the limits of an integer type of at most 32 bits.

    NaN becomes the lowest number, in u8 the largest. Measured.
    """

    def of_any(data: Array) -> Array:
        if data.dtype.kind == "f":
            return function(data)
        out = np.rint(np.minimum(function(data.astype(np.float32)), LARGEST))
        if data.dtype.itemsize == 1:
            out = np.where(np.isnan(out), LARGEST if data.dtype.kind == "u" else -LARGEST, out)
        return to_integer(out, data.dtype)

    return of_any


OF_FLOATS = partial(Unary, accepts="float")
TEST = partial(OF_FLOATS, version=10, boolean=True, folds="none")
"""What rows of one kind have in common."""

ROWS = (
    Unary(type="Abs", function=saturated(np.abs), folds="bounds"),
    Unary(type="Negative", function=saturated(np.negative), types="float signed"),
    Unary(type="Sign", function=np.sign),
    Unary(type="ReLU", function=relu, direct=True),
    Unary(type="Ceiling", function=whole(np.ceil), border=0.0, elements=Elements.LIKE),
    Unary(type="Floor", function=whole(np.floor), border=0.0, elements=Elements.LIKE),
    Unary(
        type="Round",
        elements=Elements.LIKE,
        version=5,
        migrate=rewrites.round_,
        accepts="any",
        function=round_,
        border=0.5,
        attrs={"mode": OneOf(words=("half_to_even", "half_away_from_zero"), default="half_to_even")},
    ),
    Unary(type="Exp", function=in_floats(np.exp)),
    Unary(type="Log", function=in_floats(np.log)),
    Unary(type="Sqrt", function=in_floats(np.sqrt)),
    Unary(type="Erf", function=in_floats(erf)),
    OF_FLOATS(type="ErfInv", version=17, function=erf_inv, folds="none", migrate=rewrites.erf_inv),
    Unary(type="Sin", function=within_limits(np.sin)),
    Unary(type="Cos", function=within_limits(np.cos)),
    Unary(type="Tan", function=within_limits(np.tan)),
    Unary(type="Asin", function=within_limits(np.arcsin)),
    Unary(type="Acos", function=within_limits(np.arccos)),
    Unary(type="Atan", function=within_limits(np.arctan)),
    Unary(type="Sinh", function=within_limits(np.sinh)),
    Unary(type="Cosh", function=within_limits(np.cosh)),
    Unary(type="Tanh", function=in_floats(np.tanh)),
    Unary(type="Asinh", version=4, function=within_limits(np.arcsinh), migrate=rewrites.asinh),
    Unary(type="Acosh", version=4, function=within_limits(np.arccosh), migrate=rewrites.acosh),
    Unary(type="Atanh", version=4, function=within_limits(np.arctanh), migrate=rewrites.atanh),
    Unary(type="Sigmoid", function=in_floats(sigmoid)),
    Unary(
        type="HSigmoid",
        version=5,
        function=in_floats(hard_sigmoid_6),
        folds_of="float",
        migrate=rewrites.hard_sigmoid_6,
    ),
    Unary(type="HSwish", version=4, function=in_floats(hard_swish), folds_of="float", migrate=rewrites.hard_swish),
    OF_FLOATS(type="SoftPlus", version=4, function=softplus, migrate=rewrites.softplus),
    OF_FLOATS(
        type="SoftSign",
        version=9,
        function=lambda data: data / (1 + np.abs(data)),
        folds="none",
        migrate=rewrites.softsign,
    ),
    OF_FLOATS(type="Mish", version=4, function=mish, migrate=rewrites.mish),
    OF_FLOATS(type="Gelu", version=2, function=gelu, folds="none", migrate=rewrites.migrate_gelu_2),
    OF_FLOATS(
        type="Gelu",
        version=7,
        function=gelu,
        attrs={"approximation_mode": OneOf(words=("erf", "tanh"), default="erf")},
        migrate=rewrites.migrate_gelu_7,
    ),
    Unary(type="Elu", function=elu, accepts="any", attrs={"alpha": ALPHA}, folds="none"),
    Unary(
        type="Clamp",
        infinity=Infinity.BOUND,
        elements=Elements.LIKE,
        function=clamp,
        attrs={
            "min": Float(runtime_default=0.0, usual=BOUND),
            "max": Float(runtime_default=0.0, usual=BOUND),
        },
        folds="bounds",
        check=check_clamp,
    ),
    Unary(type="LogicalNot", function=lambda data: (data == 0).astype(data.dtype), accepts="any"),
    Unary(
        type="BitwiseNot",
        version=13,
        function=np.invert,
        accepts="integer boolean",
        folds="none",
        migrate=bits.bitwise_not,
    ),
    TEST(type="IsNaN", function=np.isnan, migrate=rewrites.is_nan),
    TEST(type="IsFinite", function=np.isfinite, migrate=rewrites.is_finite),
    TEST(
        type="IsInf",
        function=is_inf,
        migrate=rewrites.is_inf,
        attrs={"detect_negative": Flag(default=True), "detect_positive": Flag(default=True)},
    ),
)


# --- activations with inputs for their parameters -----------------------------------------------------------------


def swish_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape; beta is one number of the data's type."""
    require_type(inputs[0].dtype, "float")
    for fact in inputs[1:]:
        require_one(fact, "beta", only_scalar=True)
    return (Fact(same_type(inputs), inputs[0].shape),)


def hard_sigmoid_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape; alpha and beta are single numbers of the data's type."""
    for fact, name in zip(inputs[1:], ("alpha", "beta"), strict=False):
        if is_static(fact.shape):
            require_one(fact, name, only_scalar=True)
    return (Fact(same_type(inputs), inputs[0].shape),)


def selu_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape; the runtime does not check the shapes of alpha and lambda."""
    require_type(same_type(inputs), "float")
    return (Fact(same_type(inputs), inputs[0].shape),)


def with_numbers(function: Callable[..., Array], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return a function of one array and single numbers, element by element."""
    data, *numbers = arrays
    if not data.size:
        return (data,)
    numbers = [number.reshape(()) for number in numbers]
    return (elementwise(lambda part: in_working_type(function, part, *numbers), data),)


def swish(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `x * sigmoid(beta * x)`."""
    beta = arrays[1] if len(arrays) > 1 else np.ones((), arrays[0].dtype)
    return with_numbers(lambda data, factor: data * sigmoid(factor * data), (arrays[0], beta))


def hard_sigmoid(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `max(0, min(1, alpha * x + beta))`."""
    return with_numbers(lambda x, a, b: np.clip(a * x + b, x.dtype.type(0), x.dtype.type(1)), arrays)


def selu(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `lambda * (x if x > 0 else alpha * (exp(x) - 1))`."""
    return with_numbers(lambda x, a, s: s * np.where(x > 0, x, a * np.expm1(np.minimum(x, 0))), arrays)


def check_prelu(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that slopes broadcast to the data, or that a list of them is as long as the channels.

    Nothing else compiles (measured), except slopes of more dimensions than the data, of which some values are used.
    """
    data, slope = inputs[0].shape, inputs[1].shape
    if data is None or slope is None:
        return
    wanted = (*[Dim(1, 1)] * (len(slope) - len(data)), *data)
    if all(1 in one or one.meet(two) is not None for one, two in zip(reversed(slope), reversed(wanted), strict=False)):
        return
    if len(slope) > 1 or len(data) < 2:
        kind = ViolationKind.SUSPECT if len(slope) > len(data) else ViolationKind.CONTRADICTION
        message = f"is {shape_text(slope)}, which cannot be broadcast to the data {shape_text(data)}"
        yield Violation("slope", message, kind=kind)
    elif data[1].meet(slope[0]) is None:
        message = f"has {slope[0]} values, but the data {shape_text(data)} has {data[1]} channels"
        yield Violation("slope", message)


def prelu(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `slope * x` below 0; a list of slopes belongs to the channels (axis 1)."""
    data, slope = arrays
    if slope.ndim == 1 and slope.size > 1 and data.ndim > 1 and data.shape[1] == slope.size:
        slope = slope.reshape(1, -1, *[1] * (data.ndim - 2))
    slope = slope.reshape(slope.shape[max(0, slope.ndim - data.ndim) :])

    def parts(x: Array, s: Array) -> Array:
        """Return the sum of the parts above and below 0, which is much faster than a choice for each element."""
        if x.dtype.kind != "f" or not np.isfinite(s).all():
            return np.where(x < 0, x * s, x).astype(x.dtype, copy=False)
        low = np.minimum(x, 0)
        low *= s
        low += np.maximum(x, 0)
        return low

    def sloped(x: Array, s: Array) -> Array:
        return in_working_type(parts, x, s, saturate=True)

    return (elementwise(sloped, data, slope),)


# --- softmax ------------------------------------------------------------------------------------------------------


def softmax_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape; the axis must exist (a scalar has one). Negative axes count from the end."""
    shape = inputs[0].shape
    if shape is not None and not -max(len(shape), 1) <= attrs.axis < max(len(shape), 1):
        raise ShapeError(f"is {attrs.axis}, but the input has rank {len(shape)}", attribute="axis")
    return (Fact(inputs[0].dtype, shape),)


def softmax_1_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape as for SoftMax-8; negative axes are rejected if the rank is known."""
    if inputs[0].shape is not None and attrs.axis < 0:
        raise ShapeError(f"is {attrs.axis}; only SoftMax-8 takes negative axes", attribute="axis")
    return softmax_shape(attrs, inputs)


def migrate_softmax(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Return the newest SoftMax of the target opset; before opset8 its axis counts from the front."""
    axis, shape, opset = attrs.axis, inputs[0].shape, 8 if target >= 8 else 1
    if axis < 0 and opset == 1:
        if shape is None:
            return Refused(
                "is negative, which SoftMax-1 does not support, and the rank of the input is not known", "axis"
            )
        axis += max(len(shape), 1)
    output = Fact(inputs[0].dtype, shape)
    new = NewLayer(type="SoftMax", opset=opset, inputs=(Ref(None),), outputs=(output,), raw={"axis": str(axis)})
    if axis == attrs.axis:
        return Rewrite(layers=(new,), strategy="same attributes", proof="the versions differ only in negative axes")
    proof = f"axis {attrs.axis} of {shape_text(shape)} is axis {axis}"
    return Rewrite(layers=(new,), strategy="non-negative axis", proof=proof)


def _along(function: Callable[[Array], Array], data: Array, axis: int) -> Array:
    """Apply a function along an axis; a scalar is treated as having one axis."""
    if data.size == 0:
        return data
    rows = np.atleast_1d(data)
    return along(partial(in_working_type, through_floats(function)), rows, (axis % rows.ndim,)).reshape(data.shape)


def softmax(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `exp(x) / sum(exp(x))` along the axis."""

    def shares(data: Array) -> Array:
        powers: Array = np.exp(data - data.max(axis=attrs.axis, keepdims=True))
        powers /= powers.sum(axis=attrs.axis, keepdims=True)
        return powers

    return (_along(shares, arrays[0], attrs.axis),)


def log_softmax(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `x - log(sum(exp(x)))` along the axis."""

    def logarithms(data: Array) -> Array:
        low = data - data.max(axis=attrs.axis, keepdims=True)
        out: Array = low - np.log(np.exp(low).sum(axis=attrs.axis, keepdims=True))
        return out

    return (_along(logarithms, arrays[0], attrs.axis),)


DATA = Input("data", type="T")
SWISH = Op(
    type="Swish",
    version=4,
    migrate=rewrites.swish,
    inputs=(DATA, Input("beta", optional=True, type="T")),
    types={"T": "float"},
    shape=swish_shape,
    kernel=swish,
)
HARD_SIGMOID = Op(
    type="HardSigmoid",
    version=1,
    inputs=(DATA, Input("alpha", type="T"), Input("beta", type="T")),
    types={"T": NUMBERS},
    shape=hard_sigmoid_shape,
    kernel=hard_sigmoid,
)
SELU = Op(
    type="Selu",
    version=1,
    inputs=(DATA, Input("alpha", type="T"), Input("lambda", type="T")),
    types={"T": "float"},
    shape=selu_shape,
    kernel=selu,
    substitute=rewrites.selu,
)
PRELU = Op(
    type="PReLU",
    version=1,
    inputs=(DATA, Input("slope", type=NUMBERS)),
    types={"T": NUMBERS},
    check=check_prelu,
    shape=same_shape,
    kernel=prelu,
    substitute=rewrites.sloped,
)
SOFTMAX_1 = Op(
    type="SoftMax",
    version=1,
    inputs=(DATA,),
    attrs={"axis": Int(default=1, runtime_default=0)},
    types={"T": NUMBERS},
    shape=softmax_1_shape,
    kernel=softmax,
    migrate=migrate_softmax,
    substitute=first_of(rewrites.softmax_of_images, rewrites.softmax_in_three_dimensions),
)
SOFTMAX_8 = SOFTMAX_1.at(8, attrs={"axis": Int(default=1)}, shape=softmax_shape)
LOG_SOFTMAX = Op(
    type="LogSoftmax",
    version=5,
    migrate=rewrites.log_softmax,
    inputs=(DATA,),
    attrs={"axis": Int(default=1)},
    types={"T": "float integer"},
    shape=softmax_shape,
    kernel=log_softmax,
)

OPS = (*(row.op for row in ROWS), SWISH, HARD_SIGMOID, SELU, PRELU, SOFTMAX_1, SOFTMAX_8, LOG_SOFTMAX)
