"""Strings to and from tensors of bytes: StringTensorPack-15, StringTensorUnpack-15."""

from collections.abc import Sequence

from ir_tools.ops._broadcast import merge
from ir_tools.ops._define import Attrs, Fact, Input, Op, Output
from ir_tools.ops._ranks import require_rank
from ir_tools.types import Dim, element_type

__all__ = ["OPS", "STRING_TENSOR_PACK", "STRING_TENSOR_UNPACK"]


def pack_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """A string for each pair of its begin and its end."""
    del attrs
    begins, ends, symbols = inputs
    require_rank(symbols, 1, "the input 'symbols'")
    return (Fact(element_type("string"), merge(begins.shape, ends.shape)),)


def unpack_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Where each string begins and ends, in the data's shape, and all the bytes one after the other."""
    del attrs
    places = Fact(element_type("i32"), inputs[0].shape)
    return places, places, Fact(element_type("u8"), (Dim(),))


STRING_TENSOR_PACK = Op(
    type="StringTensorPack",
    version=15,
    inputs=(Input("begins", type="T_IND"), Input("ends", type="T_IND"), Input("symbols", type="u8")),
    types={"T_IND": "i32 i64"},
    shape=pack_shape,
)
STRING_TENSOR_UNPACK = Op(
    type="StringTensorUnpack",
    version=15,
    inputs=(Input("data", type="string"),),
    outputs=(Output("begins"), Output("ends"), Output("symbols")),
    shape=unpack_shape,
)

OPS = (STRING_TENSOR_PACK, STRING_TENSOR_UNPACK)
