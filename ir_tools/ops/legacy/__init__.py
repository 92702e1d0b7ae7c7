"""The layer types of IR v2 to v7, which releases up to 2020 read; one file for each family."""

from functools import cache

from ir_tools.ops.definition import Op
from ir_tools.ops.legacy import (
    activations,
    control_flow,
    convolution,
    detection,
    elementwise,
    generation,
    matrix,
    movement,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    resizing,
    searching,
    shapes,
    slicing,
    structure,
)

__all__ = ["LEGACY_FAMILIES", "STAMP", "find_legacy", "legacy_types"]

STAMP = "legacy"
"""What stands for the version of their layers, whose tags have none."""
LEGACY_FAMILIES = (
    structure,
    activations,
    control_flow,
    convolution,
    detection,
    elementwise,
    generation,
    matrix,
    movement,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    resizing,
    searching,
    shapes,
    slicing,
)
"""The families: modules with a tuple `OPS`."""


def find_legacy(type: str) -> Op | None:
    """Return a layer type; case does not matter, as for Inference Engine."""
    return _table().get(type.lower())


def legacy_types() -> tuple[str, ...]:
    """Return the names of all layer types."""
    return tuple(op.type for op in _table().values())


@cache
def _table() -> dict[str, Op]:
    return {op.type.lower(): op for family in LEGACY_FAMILIES for op in family.OPS}
