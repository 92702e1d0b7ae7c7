"""The table of all operations that ir_tools knows, and how a layer finds its own."""

import re
from functools import cache, lru_cache

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
from ir_tools.ops.definition import Array, Attrs, Bounds, Fact, Op, Refused, Rewrite, Violation

__all__ = [
    "COMPLETE_OPSETS",
    "FAMILIES",
    "NEWEST_OPSET",
    "Array",
    "Attrs",
    "AutoPad",
    "Bounds",
    "Fact",
    "Op",
    "Pooling",
    "PoolingSpec",
    "Refused",
    "Rewrite",
    "Violation",
    "average_pooling",
    "find_op",
    "known_types",
    "named_rewrites",
    "ops_of",
    "opset_number",
]

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

COMPLETE_OPSETS = 16
"""The last opset that holds all of its predecessor's operations; opset17 holds so far only what it brings."""

NEWEST_OPSET = COMPLETE_OPSETS + 1

KEPT = frozenset({"parameter", "convert", "shapeof"})
"""Older operations that an incomplete opset holds all the same."""

BORN_LATER = frozenset({"mvn", "roipooling", "reorgyolo"})
"""Operations of opset2 that the runtime also reads with the stamp opset1."""

LEFT_OUT = frozenset({("shufflechannels", 2), ("rnncell", 2)})
"""Operations that one opset in the middle does not hold."""

EXPERIMENTAL = frozenset(
    {
        "ExperimentalDetectronDetectionOutput",
        "ExperimentalDetectronGenerateProposalsSingleImage",
        "ExperimentalDetectronPriorGridGenerator",
        "ExperimentalDetectronROIFeatureExtractor",
        "ExperimentalDetectronTopKROIs",
        "GRUCell",
        "Proposal",
        "RNNCell",
    }
)
"""Types that the runtime reads with the stamps `extension` and `experimental` too, as those of opset6."""


def opset_number(stamp: str) -> int | None:
    """`opset8` -> 8; None for `extension`, `experimental`, `ie_internal`, nothing, and whatever the runtime refuses.

    The runtime compares stamps letter by letter: `Opset8` and `opset08` are unknown to it.
    """
    match = re.fullmatch(r"opset([1-9]\d*)", stamp)
    return int(match[1]) if match else None


def ops_of(type: str) -> tuple[Op, ...]:
    """All versions of an operation, oldest first; empty for an unknown type.

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
    """The operation of a layer with this type and version stamp: the newest that its opset holds."""
    opset = opset_number(version)
    if version in {"extension", "experimental"} and type in EXPERIMENTAL:
        opset = 6
    key = type.lower()
    if opset is None or opset > NEWEST_OPSET or (key, opset) in LEFT_OUT:
        return None
    if opset == 1 and key in BORN_LATER:
        opset = 2
    held = [
        op
        for op in ops_of(type)
        if op.version <= opset
        and (op.last_opset is None or opset <= op.last_opset)
        and (opset <= COMPLETE_OPSETS or op.version > COMPLETE_OPSETS or key in KEPT)
    ]
    return held[-1] if held else None


def known_types() -> tuple[str, ...]:
    """The type of every operation, as files write it."""
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
