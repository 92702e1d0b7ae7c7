"""Strings to and from tensors of bytes: StringTensorPack-15, StringTensorUnpack-15.

Specification: `type/`.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops._broadcast import merge
from ir_tools.ops._requirements import require_rank
from ir_tools.ops._values import dim
from ir_tools.ops._versions import no_step
from ir_tools.ops.definition import Array, Fact, Folding, Input, Op, Output, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, listed
from ir_tools.types import Dim, element_type

__all__ = ["OPS"]


def check_pack(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for no string along the last axis, which ends the process of the runtime, and for unusable places."""
    if inputs[0].shape and inputs[0].shape[-1].hi == 0:
        yield Violation("begins", "has an empty last axis, for which the runtime crashes", None, ViolationKind.FATAL, 0)
    length = dim(inputs[2], 0).hi
    for number, (name, fact) in enumerate(zip(("begins", "ends"), inputs, strict=False)):
        places = fact.integers() or []
        worst = next((at for at, place in pairwise((0, *places)) if place < at), None)
        if worst is not None:
            yield Violation(name, f"holds {listed(places)}; expected ascending numbers from 0", input=number)
        elif length is not None and max(places, default=0) > length:
            message = f"holds {max(places)}, but there {'is' if length == 1 else 'are'} {plural(length, 'symbol')}"
            yield Violation(name, message, input=number)


def pack_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return a string for each pair of its begin and its end."""
    begins, ends, symbols = inputs
    require_rank(symbols, 1, "symbols")
    return (Fact(element_type("string"), merge(begins.shape, ends.shape)),)


def unpack_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return where each string begins and ends, in the data's shape, and all the bytes one after the other."""
    shape = inputs[0].shape
    places = Fact(element_type("i32"), shape)
    empty = shape is not None and any(dim.hi == 0 for dim in shape)
    return places, places, Fact(element_type("u8"), (Dim.of(0) if empty else Dim(),))


def pack(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the text between each begin and its end, as UTF-8; bytes that are not become surrogates.

    Raises:
        ShapeError: one of them is not among the symbols.
    """
    begins, ends, symbols = arrays
    text = symbols.tobytes()
    pairs = [*zip(begins.ravel().tolist(), ends.ravel().tolist(), strict=True)]
    outside = [pair for pair in pairs if not 0 <= pair[0] <= pair[1] <= len(text)]
    if outside:
        begin, end = outside[0]
        raise ShapeError(f"holds {end} for a string that begins at {begin} of {len(text)} bytes", attribute="ends")
    texts = [text[begin:end].decode(errors="surrogateescape") for begin, end in pairs]
    return (np.array(texts, dtype=object).reshape(begins.shape),)


def unpack(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return begins, ends and bytes of the texts."""
    texts = [item if isinstance(item, bytes) else str(item).encode(errors="surrogateescape") for item in arrays[0].flat]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int32).reshape(arrays[0].shape)
    lengths = np.array([len(text) for text in texts], dtype=np.int32).reshape(arrays[0].shape)
    return ends - lengths, ends, np.frombuffer(b"".join(texts), np.uint8)


STRING_TENSOR_PACK = Op(
    type="StringTensorPack",
    version=15,
    migrate=no_step(15, "no older operation creates strings"),
    folding=Folding.FAILS,
    inputs=(Input("begins", type="T_IND"), Input("ends", type="T_IND"), Input("symbols", type="u8")),
    types={"T_IND": "i32 i64"},
    check=check_pack,
    shape=pack_shape,
    kernel=pack,
)
STRING_TENSOR_UNPACK = Op(
    type="StringTensorUnpack",
    version=15,
    migrate=no_step(15, "no older operation splits strings"),
    inputs=(Input("data", type="string"),),
    outputs=(Output("begins"), Output("ends"), Output("symbols")),
    shape=unpack_shape,
    kernel=unpack,
)

OPS = (STRING_TENSOR_PACK, STRING_TENSOR_UNPACK)
