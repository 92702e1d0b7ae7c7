"""The table of all operations that ir_tools knows, and the functions that find the operation of a layer."""

import re
from functools import cache, lru_cache
from typing import Protocol

from ir_tools.graph import Layer
from ir_tools.ops import (
    activations,
    attention,
    color,
    control_flow,
    conversion,
    convolution,
    detection,
    detectron,
    elementwise,
    embedding,
    fourier,
    gathering,
    generation,
    image,
    layout,
    legacy,
    matrix,
    normalization,
    ordering,
    padding,
    patches,
    pooling,
    quantization,
    recurrent,
    reduction,
    roi,
    sampling,
    scattering,
    searching,
    slicing,
    sorting,
    state,
    strided_slicing,
    strings,
    structure,
    suppression,
)
from ir_tools.ops._equivalence import PoolingSpec
from ir_tools.ops._pooling_rewrites import average_pooling
from ir_tools.ops._windows import AutoPad, Pooling
from ir_tools.ops.definition import (
    COMPLETE_OPSETS,
    NEWEST_OPSET,
    Array,
    Bounds,
    Elements,
    Fact,
    Op,
    Refused,
    Rewrite,
    Role,
    Violation,
)
from ir_tools.ops.fields import Attrs

__all__ = [
    "COMPLETE_OPSETS",
    "FAMILIES",
    "LEGACY",
    "NEWEST_OPSET",
    "Array",
    "Attrs",
    "AutoPad",
    "Bounds",
    "Elements",
    "Fact",
    "Op",
    "Pooling",
    "PoolingSpec",
    "Refused",
    "Rewrite",
    "Role",
    "Violation",
    "average_pooling",
    "elements_of",
    "find_op",
    "known_types",
    "named_rewrites",
    "newest_op",
    "ops_of",
    "opset_number",
    "role_of",
    "type_of",
]

LEGACY = legacy.STAMP
"""What `find_op` takes for the version of a layer in a file of IR v2 to v7."""
FAMILIES = (
    structure,
    control_flow,
    elementwise,
    activations,
    conversion,
    pooling,
    fourier,
    strings,
    embedding,
    attention,
    sampling,
    color,
    detectron,
    detection,
    image,
    recurrent,
    roi,
    sorting,
    state,
    suppression,
    convolution,
    matrix,
    normalization,
    patches,
    quantization,
    reduction,
    layout,
    padding,
    slicing,
    gathering,
    scattering,
    generation,
    searching,
    ordering,
    strided_slicing,
)
"""The families: modules with a tuple `OPS`."""


@lru_cache(maxsize=4096)
def opset_number(stamp: str) -> int | None:
    """Return the number: `opset8` -> 8.

    None for `extension`, `experimental`, `ie_internal`, nothing, and whatever the runtime refuses.

    The runtime compares stamps letter by letter: `Opset8` and `opset08` are unknown to it.
    """
    match = re.fullmatch(r"opset([1-9]\d*)", stamp)
    return int(match[1]) if match else None


def ops_of(type: str) -> tuple[Op, ...]:
    """Return all versions of an operation, oldest first; empty for an unknown type.

    Case does not matter, as for the runtime, except in `Result` and in `Const`, which is the file's name of Constant.
    """
    if type in {"Result", "Const"}:
        return _table().get(type, ())
    key = type.lower()
    if key == "constant":
        return _table()["Const"]
    return _table().get(key, ())


@lru_cache(maxsize=4096)
def find_op(type: str, version: str) -> Op | None:
    """Return the operation of a layer with this type and version stamp; None if ir_tools knows none.

    It is the newest version that the opset holds; the stamps `extension` and `experimental` count as opset6, and
    `legacy` is that of IR v2 to v7.
    """
    if version == LEGACY:
        return legacy.find_legacy(type)
    if version in {"extension", "experimental"}:
        held = [op for op in ops_of(type) if op.experimental and op.type == type and op.in_opset(6)]
    else:
        opset = opset_number(version)
        held = [op for op in ops_of(type) if opset is not None and op.in_opset(opset)]
    return held[-1] if held else None


def type_of(layer: Layer) -> str:
    """Return the type of a layer as the table of operations writes it; an unknown one as the file does."""
    op = find_op(layer.type, layer.version)
    return op.type if op else layer.type


class Typed(Protocol):
    """A layer, or what stands for several."""

    @property
    def type(self) -> str:
        """The type of the operation, as the file writes it."""
        ...


def role_of(layer: Typed) -> Role:
    """Return what a layer is to its graph; one of a type that ir_tools does not know computes tensors."""
    return _role_of(layer.type)


@lru_cache(maxsize=4096)
def _role_of(type: str) -> Role:
    newest = newest_op(type)
    return newest.role if newest else Role.COMPUTATION


def elements_of(layer: Typed, number: int = 0) -> Elements:
    """Return what the outputs of a layer hold of the elements of an input; of an unknown type they are computed."""
    newest = newest_op(layer.type)
    return newest.elements(number) if newest else Elements.COMPUTED


@lru_cache(maxsize=4096)
def newest_op(type: str) -> Op | None:
    """Return the newest version of an operation, or a type of layers of IR v2 to v7; None for an unknown type."""
    return next(reversed(ops_of(type)), legacy.find_legacy(type))


@cache
def known_types(version: str = "") -> tuple[str, ...]:
    """Return the type of every operation, as files write it; with the stamp `legacy`, of every legacy layer type."""
    if version == LEGACY:
        return legacy.legacy_types()
    return tuple(ops[-1].type for ops in _table().values())


@cache
def named_rewrites() -> tuple[str, ...]:
    """Return the names of the rewrites that operations have, in alphabetical order."""
    return tuple(sorted({name for family in FAMILIES for op in family.OPS for name in op.rewrites}))


@cache
def _table() -> dict[str, tuple[Op, ...]]:
    table: dict[str, list[Op]] = {}
    for family in FAMILIES:
        for op in family.OPS:
            key = op.type if op.type in {"Result", "Const"} else op.type.lower()
            table.setdefault(key, []).append(op)
    return {key: tuple(sorted(ops, key=lambda op: op.version)) for key, ops in table.items()}
