"""Express activations, inverse functions, tests and logic by formulas of older operations."""

import math
from collections.abc import Sequence

import numpy as np

from ir_tools.ops._layers import DATA, ROUNDED, TRUNCATED, Layers, by_formula, composed
from ir_tools.ops.definition import Fact, Ref, Refused, Rewrite
from ir_tools.ops.fields import Attrs
from ir_tools.types import is_static

__all__ = [
    "acosh",
    "asinh",
    "atan2",
    "atanh",
    "erf_inv",
    "hard_sigmoid_6",
    "hard_swish",
    "is_finite",
    "is_inf",
    "is_nan",
    "log_softmax",
    "migrate_gelu_2",
    "migrate_gelu_7",
    "migrate_xor",
    "mish",
    "round_",
    "selu",
    "sloped",
    "softmax_in_three_dimensions",
    "softmax_of_images",
    "softplus",
    "softsign",
    "swish",
]


MORE = 6
"""From how many dimensions on OpenVINO 2021.2 does not compile a SoftMax. Measured."""

# --- activations ------------------------------------------------------------------------------------------------


@by_formula("the same elements, as images of one column")
def softmax_of_images(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite SoftMax of three dimensions: releases keep its output in blocks that a TopK misreads."""
    if layers.rank(DATA) != 3:
        return Refused("its data does not have three dimensions")
    column = np.array([3])
    found = layers.call("SoftMax", layers.call("Unsqueeze", DATA, column), axis=attrs.axis % 3)
    return layers.call("Squeeze", found, column)


@by_formula("the same elements, with the axes before and behind that of the sums as one each")
def softmax_in_three_dimensions(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite SoftMax of known sizes: OpenVINO 2021.2 compiles it for five dimensions at most."""
    if not is_static(layers.inputs[0].shape) or layers.rank(DATA) < MORE:
        return Refused("its sizes are not known, or it has at most five dimensions")
    sizes = layers.inputs[0].dims
    axis = attrs.axis % len(sizes)
    merged = np.array([math.prod(sizes[:axis]), sizes[axis], math.prod(sizes[axis + 1 :])])
    return layers.reshape(layers.call("SoftMax", layers.reshape(DATA, merged), axis=1), np.array(sizes))


@by_formula("slope * x below 0, x elsewhere", wide=True)
def sloped(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite PReLU; a list of slopes belongs to the channels (axis 1)."""
    data, slope = layers.working(0), layers.working(1)
    if not layers.fact(DATA).dtype.is_float or layers.fact(data).dtype != layers.fact(slope).dtype:
        return Refused("data and slope are not floats of one type")
    rank, sizes = layers.rank(data), layers.fact(slope).shape
    if sizes is None:
        return Refused("the shape of the slope is not known, so neither is its broadcast")
    if len(sizes) == 1 and sizes[0].hi != 1 and rank > 2:
        slope = layers.call("Unsqueeze", slope, np.arange(1, rank - 1))
    if len(sizes) > rank:
        slope = layers.call("Squeeze", slope, np.arange(len(sizes) - rank))
    below = layers.call("Less", data, 0)
    return layers.call("Select", below, layers.call("Multiply", data, slope), data)


@by_formula("lambda * (max(x, 0) + alpha * (exp(min(x, 0)) - 1))", wide=True)
def selu(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite Selu; alpha and lambda are single numbers."""
    data, *given = (layers.working(number) for number in range(3))
    alpha, factor = (layers.call("Reshape", one, np.zeros(0, np.int64), special_zero=False) for one in given)
    power = layers.call("Subtract", layers.call("Exp", layers.call("Minimum", data, 0)), 1)
    total = layers.call("Add", layers.call("Maximum", data, 0), layers.call("Multiply", power, alpha))
    return layers.call("Multiply", total, factor)


@composed(4, "x * sigmoid(beta * x)")
def swish(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite Swish-4."""
    inner = layers.call("Multiply", DATA, Ref(None, 1)) if len(layers.inputs) > 1 else DATA
    return layers.call("Multiply", DATA, layers.call("Sigmoid", inner))


@composed(5, "min(max(x + 3, 0), 6) / 6")
def hard_sigmoid_6(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite HSigmoid-5."""
    return _sixths(layers) if layers.fact(DATA).dtype.is_float else TRUNCATED


@composed(4, "x * min(max(x + 3, 0), 6) / 6")
def hard_swish(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite HSwish-4."""
    if not layers.fact(DATA).dtype.is_float:
        return TRUNCATED
    return layers.call("Multiply", DATA, _sixths(layers))


def _sixths(layers: Layers) -> Ref:
    cut = layers.call("Clamp", layers.call("Add", DATA, 3), min=0.0, max=6.0)
    return layers.call("Divide", cut, 6)


@composed(4, "log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which does not overflow")
def softplus(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite SoftPlus-4."""
    return _softplus(layers)


@composed(4, "x * tanh(log(1 + exp(x)))")
def mish(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite Mish-4."""
    return layers.call("Multiply", DATA, layers.call("Tanh", _softplus(layers)))


def _softplus(layers: Layers) -> Ref:
    power = layers.call("Exp", layers.call("Negative", layers.call("Abs", DATA)))
    rest = layers.call("Log", layers.call("Add", power, 1))
    return layers.call("Add", layers.call("ReLU", DATA), rest)


@composed(9, "x / (1 + |x|)")
def softsign(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite SoftSign-9."""
    below = layers.call("Add", layers.call("Abs", DATA), 1)
    return layers.call("Divide", DATA, below)


def migrate_gelu_2(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite Gelu-2 in the target opset: from opset7 on, one of two modes."""
    if target < 7:
        return _normal_gelu(attrs, inputs, target)
    layers = Layers(inputs, target)
    layers.call("Gelu", DATA, approximation_mode="erf")
    return layers.rewrite("computed by erf", "Gelu-2 is Gelu-7 with the approximation mode erf")


@composed(2, "0.5 * x * (1 + erf(x / sqrt(2)))")
def _normal_gelu(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite Gelu-2."""
    share = layers.call("Erf", layers.call("Multiply", DATA, math.sqrt(0.5)))
    return _gelu(layers, share)


@composed(7, "0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))")
def _tanh_gelu(layers: Layers, attrs: Attrs) -> Ref:
    cube: Ref | float = 0.044715
    for _ in range(3):
        cube = layers.call("Multiply", DATA, cube)
    inner = layers.call("Multiply", layers.call("Add", DATA, cube), math.sqrt(2 / math.pi))
    return _gelu(layers, layers.call("Tanh", inner))


def _gelu(layers: Layers, share: Ref) -> Ref:
    half = layers.call("Multiply", DATA, 0.5)
    return layers.call("Multiply", half, layers.call("Add", share, 1))


def migrate_gelu_7(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite Gelu-7 in the target opset: Gelu-2 computes it by erf."""
    if attrs.approximation_mode == "tanh":
        return _tanh_gelu(attrs, inputs, target)
    if not 2 <= target < 7:
        return _normal_gelu(attrs, inputs, target)
    layers = Layers(inputs, target)
    layers.call("Gelu", DATA)
    return layers.rewrite("computed by erf", "Gelu-2 is Gelu-7 with the approximation mode erf")


@composed(5, "floor(x), plus 1 if the fraction is above 0.5, or is 0.5 and floor(x) is odd")
def round_(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite Round-5."""
    data = DATA
    if not layers.fact(DATA).dtype.is_float:
        return layers.copy(DATA)
    if attrs.mode == "half_away_from_zero":
        data = layers.call("Abs", DATA)
    below = layers.call("Floor", data)
    rest = layers.call("Subtract", data, below)
    if attrs.mode == "half_away_from_zero":
        up = layers.call("GreaterEqual", rest, 0.5)
        size = layers.call("Add", below, layers.to_type(up, layers.fact(DATA).dtype))
        return layers.call("Multiply", size, layers.call("Sign", DATA))
    odd = layers.call("FloorMod", below, 2)
    tie = layers.call("LogicalAnd", layers.call("Equal", rest, 0.5), layers.call("Equal", odd, 1))
    up = layers.call("LogicalOr", layers.call("Greater", rest, 0.5), tie)
    return layers.call("Add", below, layers.to_type(up, layers.fact(DATA).dtype))


@composed(5, "x - max(x) - log(sum(exp(x - max(x)))) along the axis")
def log_softmax(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite LogSoftmax-5."""
    if not layers.fact(DATA).dtype.is_float:
        return ROUNDED
    axis = np.array([attrs.axis], np.int64)
    low = layers.call("Subtract", DATA, layers.call("ReduceMax", DATA, axis, keep_dims=True))
    total = layers.call("ReduceSum", layers.call("Exp", low), axis, keep_dims=True)
    return layers.call("Subtract", low, layers.call("Log", total))


# --- inverse functions ------------------------------------------------------------------------------------------


@composed(4, "log(|x| + sqrt(x^2 + 1)) with the sign of x, its series near 0, log |x| + log 2 far from it", wide=True)
def asinh(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Asinh-4."""
    return _asinh(layers, layers.working(0)) if layers.fact(DATA).dtype.is_float else TRUNCATED


@composed(4, "asinh(sqrt(x - 1) * sqrt(x + 1))", wide=True)
def acosh(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Acosh-4."""
    if not layers.fact(DATA).dtype.is_float:
        return TRUNCATED
    data = layers.working(0)
    roots = [layers.call("Sqrt", layers.call(type, data, 1)) for type in ("Subtract", "Add")]
    return _asinh(layers, layers.call("Multiply", *roots))


@composed(4, "(log(1 + x) - log(1 - x)) / 2, its series near 0", wide=True)
def atanh(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Atanh-4."""
    if not layers.fact(DATA).dtype.is_float:
        return TRUNCATED
    data = layers.working(0)
    logs = [layers.call("Log", layers.call(type, 1, data)) for type in ("Add", "Subtract")]
    far = layers.call("Multiply", layers.call("Subtract", *logs), 0.5)
    return _near_zero(layers, data, (1 / 7, 1 / 5, 1 / 3), far)


def _asinh(layers: Layers, data: Ref) -> Ref:
    size = layers.call("Abs", data)
    root = layers.call("Sqrt", layers.call("Add", layers.call("Multiply", size, size), 1))
    huge = layers.call("Greater", size, 1e9)
    log = layers.call("Log", layers.call("Select", huge, size, layers.call("Add", size, root)))
    twice = layers.call("Select", huge, layers.number(math.log(2), data), layers.number(0, data))
    far = layers.call("Multiply", layers.call("Add", log, twice), layers.call("Sign", data))
    return _near_zero(layers, data, (-5 / 112, 3 / 40, -1 / 6), far)


def _near_zero(layers: Layers, data: Ref, factors: Sequence[float], far: Ref) -> Ref:
    """Add the series `x + c x^3 + ...` where it is as exact as the element type, and `far` elsewhere.

    `factors`: the last ones first.
    """
    limit = 2**-3 if layers.dtype(data).itemsize == 4 else 2**-6
    total = _polynomial(layers, layers.call("Multiply", data, data), (*factors, 1))
    small = layers.call("Less", layers.call("Abs", data), limit)
    return layers.call("Select", small, layers.call("Multiply", total, data), far)


@composed(
    17, "the arctangent of the smaller magnitude divided by the larger one, mapped to the right octant", wide=True
)
def atan2(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Atan2-17 of y and x, either of which may be a zero with a sign, infinite or NaN."""
    if attrs.auto_broadcast == "pdpd":
        return Refused(
            "is pdpd, but the layers that would replace this one support numpy broadcasting only", "auto_broadcast"
        )
    y, x = layers.working(0), layers.working(1)
    tall, wide = layers.call("Abs", y), layers.call("Abs", x)
    steep = layers.call("Greater", tall, wide)
    small, large = layers.call("Select", steep, wide, tall), layers.call("Select", steep, tall, wide)
    whole = layers.to_type(layers.call("NotEqual", large, 0), layers.fact(y).dtype)
    equal = layers.call("Equal", small, large)
    angle = layers.call("Atan", layers.call("Select", equal, whole, layers.call("Divide", small, large)))
    quarter = layers.call("Subtract", math.pi / 2, angle)
    right = layers.call("Select", steep, quarter, angle)
    half = layers.call("Select", _below_zero(layers, x), layers.call("Subtract", math.pi, right), right)
    return layers.call("Select", _below_zero(layers, y), layers.call("Negative", half), half)


def _below_zero(layers: Layers, data: Ref) -> Ref:
    """Add whether numbers have a minus sign, zeros included."""
    inverse = layers.call("Divide", 1, data)
    return layers.call("LogicalOr", layers.call("Less", data, 0), layers.call("Less", inverse, 0))


@composed(17, "Giles's polynomials in log((1 - x) (1 + x)), accurate to the last digits of f32", wide=True)
def erf_inv(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite ErfInv-17."""
    if layers.fact(DATA).dtype.name == "f64":
        return Refused("no polynomial is known that is accurate to the last digits of f64")
    data = layers.working(0)
    both = layers.call("Multiply", layers.call("Subtract", 1, data), layers.call("Add", 1, data))
    log = layers.call("Negative", layers.call("Log", both))
    near = _polynomial(layers, layers.call("Subtract", log, 2.5), CENTRE)
    root = layers.call("Subtract", layers.call("Sqrt", log), 3)
    inside = layers.call("Less", log, 5)
    factor = layers.call("Select", inside, near, _polynomial(layers, root, TAIL))
    end = layers.call("Equal", layers.call("Abs", data), 1)
    return layers.call("Multiply", data, layers.call("Select", end, np.inf, factor))


CENTRE = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)
"""Factors of M. Giles, Approximating the erfinv function, GPU Computing Gems 2, 2012: highest power first."""


def _polynomial(layers: Layers, data: Ref, factors: Sequence[float]) -> Ref:
    first, second, *rest = factors
    total = layers.call("Add", layers.call("Multiply", first, data), second)
    for factor in rest:
        total = layers.call("Add", layers.call("Multiply", total, data), factor)
    return total


# --- tests ------------------------------------------------------------------------------------------------------


@composed(10, "x != x, which is true only for NaN")
def is_nan(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite IsNaN-10."""
    return layers.call("NotEqual", DATA, DATA)


@composed(10, "|x| < infinity")
def is_finite(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite IsFinite-10."""
    return layers.call("Less", layers.call("Abs", DATA), np.inf)


@composed(10, "x or |x| equals an infinity")
def is_inf(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite IsInf-10."""
    if not attrs.detect_negative and not attrs.detect_positive:
        return layers.call("Less", layers.call("Abs", DATA), 0)
    both = attrs.detect_negative and attrs.detect_positive
    limit = np.inf if attrs.detect_positive else -np.inf
    return layers.call("Equal", layers.call("Abs", DATA) if both else DATA, limit)


# --- logic ------------------------------------------------------------------------------------------------------


def migrate_xor(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Rewrite Xor-1, which later opsets call LogicalXor."""
    if target == 1:
        return None
    layers = Layers(inputs, target)
    layers.call("LogicalXor", DATA, Ref(None, 1), **attrs)
    return layers.rewrite("the later name", "LogicalXor is the later name of Xor")
