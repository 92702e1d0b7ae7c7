"""What takes the place of layers that releases do not run rightly because of the layers around them."""

from collections.abc import Iterator

from ir_tools.known_differences.releases.seen import (
    ACTIVATED,
    BEHIND_PRODUCT,
    COPIED_STATE,
    EXPANDED,
    FIRST_CONVOLVED,
    FIXED_STATE,
    GIVEN_AGAIN,
    IN_PLACE,
    OUTGROWN,
    PASSED_ON,
    REDUCED,
    SECOND_CONVOLVED,
    SOFTENED,
    SOFTENED_INPUT,
    SPREAD,
    UNCUT,
    UNEVEN,
    Seen,
)
from ir_tools.ops.definition import Op, Refused, Rewrite
from ir_tools.ops.replacements import (
    run_once,
    squeezed,
    with_axis_from_the_start,
    with_copied_outputs,
    with_copies,
    with_inputs,
)

__all__ = ["in_its_place"]

READING = frozenset(
    {
        *(ACTIVATED, BEHIND_PRODUCT, COPIED_STATE, EXPANDED, FIRST_CONVOLVED, FIXED_STATE, GIVEN_AGAIN, IN_PLACE),
        *(PASSED_ON, SECOND_CONVOLVED, SOFTENED, SOFTENED_INPUT),
    }
)
"""Patterns that a layer is no longer part of if it reads copies."""


def in_its_place(op: Op, seen: Seen, target: int) -> Iterator[Rewrite | Refused]:
    """Yield what means the same as a layer without the patterns that it is part of, for an opset."""
    if any(map(seen.has, READING)):
        yield with_copies(op, seen.opset, seen.inputs, seen.outputs, seen.constant, target)
    if seen.has(REDUCED) and seen.attrs is not None:
        yield with_copied_outputs(op, seen.opset, seen.attrs, seen.inputs, seen.outputs, target)
    if seen.has(UNEVEN):
        yield with_axis_from_the_start(op, seen.opset, seen.inputs, seen.outputs)
    if seen.unread and seen.has(UNCUT):
        yield Refused("its body reads none of the parts that say how often it runs")
    elif seen.unread:
        kept = [number for number in range(len(seen.inputs)) if number not in seen.unread]
        yield with_inputs(op, seen.opset, kept, seen.outputs)
    if seen.has(OUTGROWN):
        yield run_once(seen.inputs, seen.outputs)
    if seen.has(SPREAD):
        yield squeezed(op, seen.inputs, target)
