"""Activations, tests and logic in operations of older opsets, by their formulas."""

import math
from collections.abc import Sequence

import numpy as np

from ir_tools.ops._layers import Layers, composed
from ir_tools.ops.definition import Array, Attrs, Fact, Ref, Refused, Rewrite

__all__ = [
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
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
    "shift",
    "softplus",
    "softsign",
    "swish",
]

DATA = Ref(None)

# --- activations ------------------------------------------------------------------------------------------------


@composed(4, "x * sigmoid(beta * x)")
def swish(layers: Layers, attrs: Attrs) -> Ref:
    """Swish-4."""
    del attrs
    inner = layers.call("Multiply", DATA, Ref(None, 1)) if len(layers.inputs) > 1 else DATA
    return layers.call("Multiply", DATA, layers.call("Sigmoid", inner))


@composed(5, "min(max(x + 3, 0), 6) / 6")
def hard_sigmoid_6(layers: Layers, attrs: Attrs) -> Ref:
    """HSigmoid-5."""
    del attrs
    return _sixths(layers)


@composed(4, "x * min(max(x + 3, 0), 6) / 6")
def hard_swish(layers: Layers, attrs: Attrs) -> Ref:
    """HSwish-4."""
    del attrs
    return layers.call("Multiply", DATA, _sixths(layers))


def _sixths(layers: Layers) -> Ref:
    cut = layers.call("Clamp", layers.call("Add", DATA, layers.number(3, DATA)), min=0.0, max=6.0)
    return layers.call("Divide", cut, layers.number(6, DATA))


@composed(4, "log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which does not overflow")
def softplus(layers: Layers, attrs: Attrs) -> Ref:
    """SoftPlus-4."""
    del attrs
    return _softplus(layers)


@composed(4, "x * tanh(log(1 + exp(x)))")
def mish(layers: Layers, attrs: Attrs) -> Ref:
    """Mish-4."""
    del attrs
    return layers.call("Multiply", DATA, layers.call("Tanh", _softplus(layers)))


def _softplus(layers: Layers) -> Ref:
    power = layers.call("Exp", layers.call("Negative", layers.call("Abs", DATA)))
    rest = layers.call("Log", layers.call("Add", power, layers.number(1, DATA)))
    return layers.call("Add", layers.call("ReLU", DATA), rest)


@composed(9, "x / (1 + |x|)")
def softsign(layers: Layers, attrs: Attrs) -> Ref:
    """SoftSign-9."""
    del attrs
    below = layers.call("Add", layers.call("Abs", DATA), layers.number(1, DATA))
    return layers.call("Divide", DATA, below)


def migrate_gelu_2(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Gelu-2 in the target opset: from opset7 on, one of two modes."""
    if target < 7:
        return _normal_gelu(attrs, inputs, target)
    layers = Layers(inputs, target)
    layers.call("Gelu", DATA, approximation_mode="erf")
    return layers.rewrite("computed by erf", "Gelu-2 is Gelu-7 with the approximation mode erf")


@composed(2, "0.5 * x * (1 + erf(x / sqrt(2)))")
def _normal_gelu(layers: Layers, attrs: Attrs) -> Ref:
    """Gelu-2."""
    del attrs
    share = layers.call("Erf", layers.call("Multiply", DATA, layers.number(math.sqrt(0.5), DATA)))
    return _gelu(layers, share)


@composed(7, "0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))")
def _tanh_gelu(layers: Layers, attrs: Attrs) -> Ref:
    del attrs
    cube = layers.number(0.044715, DATA)
    factor: Ref | Array = cube
    for _ in range(3):
        factor = layers.call("Multiply", DATA, factor)
    inner = layers.call("Multiply", layers.call("Add", DATA, factor), layers.number(math.sqrt(2 / math.pi), DATA))
    return _gelu(layers, layers.call("Tanh", inner))


def _gelu(layers: Layers, share: Ref) -> Ref:
    half = layers.call("Multiply", DATA, layers.number(0.5, DATA))
    return layers.call("Multiply", half, layers.call("Add", share, layers.number(1, DATA)))


def migrate_gelu_7(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Gelu-7 in the target opset: Gelu-2 computes it by erf."""
    if attrs.approximation_mode == "tanh":
        return _tanh_gelu(attrs, inputs, target)
    if not 2 <= target < 7:
        return _normal_gelu(attrs, inputs, target)
    layers = Layers(inputs, target)
    layers.call("Gelu", DATA)
    return layers.rewrite("computed by erf", "Gelu-2 is Gelu-7 with the approximation mode erf")


@composed(5, "the integer below, or the next one where the rest is above a half, or a half beside an odd integer")
def round_(layers: Layers, attrs: Attrs) -> Ref:
    """Round-5."""
    data = DATA
    if not layers.fact(DATA).dtype.is_float:
        return layers.copy(DATA)
    if attrs.mode == "half_away_from_zero":
        data = layers.call("Abs", DATA)
    half = layers.number(0.5, DATA)
    below = layers.call("Floor", data)
    rest = layers.call("Subtract", data, below)
    if attrs.mode == "half_away_from_zero":
        up = layers.call("GreaterEqual", rest, half)
        size = layers.call("Add", below, layers.to_type(up, layers.fact(DATA).dtype))
        return layers.call("Multiply", size, layers.call("Sign", DATA))
    odd = layers.call("FloorMod", below, layers.number(2, DATA))
    tie = layers.call("LogicalAnd", layers.call("Equal", rest, half), layers.call("Equal", odd, layers.number(1, DATA)))
    up = layers.call("LogicalOr", layers.call("Greater", rest, half), tie)
    return layers.call("Add", below, layers.to_type(up, layers.fact(DATA).dtype))


@composed(5, "x - max(x) - log(sum(exp(x - max(x)))) along the axis")
def log_softmax(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """LogSoftmax-5."""
    if not layers.fact(DATA).dtype.is_float:
        return Refused("integers are rounded once, and not by every layer of a composition")
    axis = np.array([attrs.axis], np.int64)
    low = layers.call("Subtract", DATA, layers.call("ReduceMax", DATA, axis, keep_dims=True))
    total = layers.call("ReduceSum", layers.call("Exp", low), axis, keep_dims=True)
    return layers.call("Subtract", low, layers.call("Log", total))


# --- tests ------------------------------------------------------------------------------------------------------


@composed(10, "x != x, which holds for NaN alone")
def is_nan(layers: Layers, attrs: Attrs) -> Ref:
    """IsNaN-10."""
    del attrs
    return layers.call("NotEqual", DATA, DATA)


@composed(10, "|x| < infinity")
def is_finite(layers: Layers, attrs: Attrs) -> Ref:
    """IsFinite-10."""
    del attrs
    return layers.call("Less", layers.call("Abs", DATA), layers.number(np.inf, DATA))


@composed(10, "x or |x| equals an infinity")
def is_inf(layers: Layers, attrs: Attrs) -> Ref:
    """IsInf-10."""
    if not attrs.detect_negative and not attrs.detect_positive:
        return layers.call("Less", layers.call("Abs", DATA), layers.number(0, DATA))
    both = attrs.detect_negative and attrs.detect_positive
    limit = layers.number(np.inf if attrs.detect_positive else -np.inf, DATA)
    return layers.call("Equal", layers.call("Abs", DATA) if both else DATA, limit)


# --- logic and bits ---------------------------------------------------------------------------------------------


def migrate_xor(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Xor-1, which later opsets call LogicalXor."""
    if target == 1:
        return None
    layers = Layers(inputs, target)
    layers.call("LogicalXor", DATA, Ref(None, 1), **attrs)
    return layers.rewrite("the later name", "LogicalXor is Xor")


def _logical(layers: Layers, type: str, attrs: Attrs) -> Ref | Refused:
    if layers.fact(DATA).dtype.kind != "boolean":
        return Refused("no older operation combines the bits of integers")
    return layers.call(type, *(Ref(None, number) for number in range(len(layers.inputs))), **attrs)


@composed(13, "on booleans it is LogicalAnd")
def bitwise_and(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """BitwiseAnd-13."""
    return _logical(layers, "LogicalAnd", attrs)


@composed(13, "on booleans it is LogicalOr")
def bitwise_or(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """BitwiseOr-13."""
    return _logical(layers, "LogicalOr", attrs)


@composed(13, "on booleans it is LogicalXor")
def bitwise_xor(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """BitwiseXor-13."""
    return _logical(layers, "LogicalXor", attrs)


@composed(13, "not x on booleans, -1 - x on signed integers")
def bitwise_not(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """BitwiseNot-13."""
    dtype = layers.fact(DATA).dtype
    if dtype.kind == "boolean":
        return layers.call("LogicalNot", DATA)
    if dtype.kind != "signed":
        return _logical(layers, "LogicalNot", attrs)
    return layers.call("Subtract", layers.number(-1, DATA), DATA)


@composed(15, "")
def shift(layers: Layers, attrs: Attrs) -> Refused:
    """BitwiseLeftShift-15 and BitwiseRightShift-15."""
    del layers, attrs
    return Refused("no older operation shifts bits: products of integers are cut off, and quotients computed in f32")
