"""Express operations on bits, and rounding to fewer bits, by older operations."""

import numpy as np

from ir_tools.ops._layers import F32, I64, Layers, composed
from ir_tools.ops.definition import Array, Ref, Refused
from ir_tools.ops.fields import Attrs
from ir_tools.types import ElementType

__all__ = [
    "LARGEST_F8",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "fake_convert_by_steps",
    "left_shift",
    "right_shift",
]

DATA, OTHER = Ref(None), Ref(None, 1)
FORMULA = "the logical operation on booleans; the logical operation on every bit of integers of 8 and 16 bits"
TOO_WIDE = Refused("integers of more than 16 bits would be divided in f32, which cannot represent all of them")

# --- bits -------------------------------------------------------------------------------------------------------


@composed(13, FORMULA)
def bitwise_and(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite BitwiseAnd-13."""
    return _by_bits(layers, attrs, "LogicalAnd")


@composed(13, FORMULA)
def bitwise_or(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite BitwiseOr-13."""
    return _by_bits(layers, attrs, "LogicalOr")


@composed(13, FORMULA)
def bitwise_xor(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite BitwiseXor-13."""
    return _by_bits(layers, attrs, "LogicalXor")


@composed(13, "not x for booleans, -1 - x for signed integers, the maximum of the type - x for unsigned integers")
def bitwise_not(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite BitwiseNot-13."""
    dtype = layers.fact(DATA).dtype
    if dtype.kind == "boolean":
        return layers.call("LogicalNot", DATA)
    if dtype.kind == "signed":
        return layers.call("Subtract", -1, DATA)
    data = layers.to_type(DATA, F32) if dtype.bits <= 16 else DATA
    return layers.to_type(layers.call("Subtract", 2**dtype.bits - 1, data), dtype)


def _by_bits(layers: Layers, attrs: Attrs, type: str) -> Ref | Refused:
    dtype = layers.fact(DATA).dtype
    if dtype.kind == "boolean":
        return layers.call(type, DATA, OTHER, **attrs)
    if dtype.bits not in {8, 16}:
        return TOO_WIDE
    if attrs.auto_broadcast == "pdpd":
        return Refused(
            "is pdpd, which cannot broadcast shapes with the additional dimension for the bits", "auto_broadcast"
        )
    weights = (2.0 ** np.arange(dtype.bits)).astype(np.float32)
    bits = [_bits(layers, number, weights) for number in (DATA, OTHER)]
    if dtype.kind == "signed":
        weights = np.append(weights[:-1], -weights[-1:])
    parts = layers.to_type(layers.call(type, *bits), F32)
    total = layers.call("ReduceSum", layers.call("Multiply", parts, weights), np.array(-1))
    return layers.to_type(total, dtype)


def _bits(layers: Layers, data: Ref, weights: Array) -> Ref:
    """Add the bits of integers as a last dimension, the lowest first."""
    column = layers.call("Unsqueeze", layers.to_type(data, F32), np.array([-1]))
    shares = layers.call("Floor", layers.call("Divide", column, weights))
    odd = layers.call("FloorMod", shares, np.array(2, np.float32))
    return layers.call("Greater", odd, np.array(0, np.float32))


@composed(15, "the lowest 8 or 16 bits of x * 2^(n mod 32)")
def left_shift(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite BitwiseLeftShift-15."""
    dtype = layers.fact(DATA).dtype
    if dtype.bits not in {8, 16}:
        return TOO_WIDE
    moved = layers.call("Multiply", layers.to_type(DATA, F32), _power(layers), **attrs)
    size = np.array(2.0**dtype.bits, np.float32)
    rest = layers.call("FloorMod", moved, size)
    if dtype.kind == "signed":
        beyond = layers.call("GreaterEqual", rest, np.array(size / 2))
        rest = layers.call("Select", beyond, layers.call("Subtract", rest, size), rest)
    return layers.to_type(rest, dtype)


@composed(15, "x / 2^(n mod 32), rounded down")
def right_shift(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite BitwiseRightShift-15."""
    dtype = layers.fact(DATA).dtype
    if dtype.bits not in {8, 16}:
        return TOO_WIDE
    moved = layers.call("Divide", layers.to_type(DATA, F32), _power(layers), **attrs)
    return layers.to_type(layers.call("Floor", moved), dtype)


def _power(layers: Layers) -> Ref:
    """Add two to the power of the second input modulo 32."""
    count = layers.call("FloorMod", layers.to_type(OTHER, F32), np.array(32, np.float32))
    return layers.call("Gather", (2.0 ** np.arange(32)).astype(np.float32), layers.to_type(count, I64), np.array(0))


# --- f8 ---------------------------------------------------------------------------------------------------------

BITS = {"f16": (10, -14, 15), "f8e4m3": (3, -6, 8), "f8e5m2": (2, -14, 15)}
"""Of a float type: bits behind the leading one, the least and the largest exponent."""
LARGEST_F8 = {"f8e4m3": 448.0, "f8e5m2": 57344.0}
"""Numbers that the f8 types hold."""


@composed(13, "rounded to f16, then to multiples of the distance between f8 numbers of the same exponent")
def fake_convert_by_steps(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite FakeConvert-13: bf16 is rounded after every step, as the CPU plugin does."""
    kind = layers.fact(DATA).dtype
    work = F32 if kind.name == "f16" else kind
    data, scale, *shift = (layers.to_type(Ref(None, number), work) for number in range(len(layers.inputs)))
    moved = layers.call("Multiply", data, scale)
    for each in shift:
        moved = layers.call("Subtract", moved, each)
    least, most = (layers.number(sign * LARGEST_F8[attrs.destination_type], moved) for sign in (-1, 1))
    found = layers.call("Select", layers.call("Greater", moved, least), layers.call("Minimum", moved, most), least)
    for name in ("f16", attrs.destination_type):
        found = _rounded(layers, found, name)
    for each in shift:
        found = layers.call("Add", found, each)
    return layers.to_type(layers.call("Divide", found, scale), kind)


def _rounded(layers: Layers, data: Ref, name: str) -> Ref:
    """Round numbers that a float type has room for to those that it holds, halves to the even ones."""
    bits, first, last = BITS[name]
    powers = (2.0 ** np.arange(first, last + 1)).astype(np.float32)
    dtype: ElementType = layers.fact(data).dtype
    size = layers.to_type(layers.call("Abs", data), F32)
    place = layers.call("Bucketize", size, powers[1:], output_type="i64", with_right_bound=False)
    step = layers.to_type(layers.call("Gather", powers / np.float32(2**bits), place, np.array(0)), dtype)
    whole = layers.call("Round", layers.call("Divide", data, step), mode="half_to_even")
    return layers.call("Multiply", whole, step)
