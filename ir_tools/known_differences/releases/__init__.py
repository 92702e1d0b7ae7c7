"""Where a release of OpenVINO is known to give other values than the others, or to stop: the second table.

Each row has a minimal model; the long checks run it on the releases of the row, which differ from the reference, and on
the next one, which does not. A row is in the file of the family of its operations, or of the first of them.
"""

from collections.abc import Set
from functools import cache

from ir_tools.errors import ShapeError
from ir_tools.infer import SURPRISES
from ir_tools.known_differences.releases import (
    _attention,
    _attributes,
    _detection,
    _elementwise,
    _empty,
    _gathering,
    _images,
    _loops,
    _moving,
    _normalization,
    _pooling,
    _products,
    _quantization,
    _recurrent,
    _reduction,
    _types,
    _variables,
)
from ir_tools.known_differences.releases._row import ReleaseDifference
from ir_tools.known_differences.releases.seen import Seen, Undecided, Unplaced
from ir_tools.releases.measured import State
from ir_tools.releases.table import Release

__all__ = [
    "ROWS",
    "ReleaseDifference",
    "Seen",
    "differences",
    "may_apply",
    "release_differences",
    "rows_of",
]

ROWS: tuple[ReleaseDifference, ...] = (
    *_types.ROWS,
    *_attributes.ROWS,
    *_elementwise.ROWS,
    *_normalization.ROWS,
    *_reduction.ROWS,
    *_loops.ROWS,
    *_quantization.ROWS,
    *_pooling.ROWS,
    *_products.ROWS,
    *_attention.ROWS,
    *_images.ROWS,
    *_moving.ROWS,
    *_gathering.ROWS,
    *_recurrent.ROWS,
    *_variables.ROWS,
    *_detection.ROWS,
    *_empty.ROWS,
)
"""The table."""


@cache
def _rows_for(op: str) -> tuple[ReleaseDifference, ...]:
    """Return the rows of all releases for an operation, on any processor."""
    return tuple(row for row in ROWS if op in row.ops)


@cache
def rows_about(op: str) -> tuple[ReleaseDifference, ...]:
    """Return the rows of all releases for an operation, on the processor of this machine."""
    return tuple(row for row in _rows_for(op) if row.processor.is_here)


@cache
def rows_of(release: str, op: str, *, anywhere: bool = False) -> tuple[ReleaseDifference, ...]:
    """Return the rows of a release for an operation, on the processor of this machine.

    `anywhere`: also the rows of values that differ on other processors.
    """
    rows = (row for row in _rows_for(op) if any(one.name == release for one in row.releases))
    return tuple(row for row in rows if row.processor.is_here or (anywhere and row.state is State.DIFFERS))


def release_differences(release: Release, seen: Seen, *, anywhere: bool = False) -> tuple[ReleaseDifference, ...]:
    """Return the rows of a release that a layer falls under; `anywhere`: as in `rows_of`."""
    return _applying(rows_of(release.name, str(seen.op), anywhere=anywhere), seen)


def differences(seen: Seen) -> tuple[ReleaseDifference, ...]:
    """Return the rows of all releases that a layer falls under."""
    return _applying(rows_about(str(seen.op)), seen)


def may_apply(row: ReleaseDifference, kinds: Set[str], alone: Unplaced | None) -> bool:
    """Return whether a layer may fall under a row if its first input has one of these element types.

    `alone`: what is known of the layer; None for all layers of its operation.
    """
    if alone is None or not row.may_concern(kinds):
        return row.may_concern(kinds)
    try:
        return row.applies(alone)
    except Undecided:
        return True


def _applying(rows: tuple[ReleaseDifference, ...], seen: Seen) -> tuple[ReleaseDifference, ...]:
    """Return those of some rows that a layer falls under; none if it lacks inputs or all outputs.

    Rows rely on valid layers; one that contradicts itself falls under none that cannot be decided.
    """
    lacks_inputs = len(seen.inputs) < sum(not slot.optional for slot in seen.op.inputs)
    if lacks_inputs or (seen.op.outputs and not seen.outputs):
        return ()
    kinds = {fact.dtype.name for fact in seen.inputs[:1]}
    try:
        return tuple(row for row in rows if row.may_concern(kinds) and row.applies(seen))
    except SURPRISES:
        if seen.op.shape is not None and accepts(seen):
            raise
        return ()


def accepts(seen: Seen) -> bool:
    """Return whether an operation accepts the attributes and inputs of a layer, as far as it has a shape rule."""
    slots = seen.op.inputs
    if seen.attrs is None or (len(seen.inputs) > len(slots) and not any(slot.many for slot in slots)):
        return False
    try:
        seen.op.outputs_of(seen.attrs, seen.inputs)
    except (ShapeError, *SURPRISES):
        return False
    return True
