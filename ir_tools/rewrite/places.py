"""What takes the place of layers that releases do not run rightly because of the layers around them."""

from collections.abc import Iterator

from ir_tools.known_differences.releases import accepts
from ir_tools.known_differences.releases.seen import Pattern, Seen
from ir_tools.ops.definition import Op, Refused, Rewrite
from ir_tools.ops.replacements import (
    as_constant,
    run_once,
    squeezed,
    with_axis_from_the_start,
    with_copied_outputs,
    with_copies,
    with_gathered_parts,
    with_inputs,
    with_known_sizes,
)
from ir_tools.types import is_static

__all__ = ["in_its_place"]

READING = frozenset(
    {
        Pattern.ACTIVATED,
        Pattern.BEGUN,
        Pattern.BEHIND_PRODUCT,
        Pattern.COPIED_STATE,
        Pattern.DECONVOLVED,
        Pattern.EXCHANGED,
        Pattern.EXPANDED,
        Pattern.EXPANDED_AND_KEPT,
        Pattern.EXPANDED_TO_REDUCE,
        Pattern.FIRST_CONVOLVED,
        Pattern.FIXED_STATE,
        Pattern.GIVEN_AGAIN,
        Pattern.GIVEN_BACK,
        Pattern.GIVEN_IN_ANOTHER_SHAPE,
        Pattern.HELD,
        Pattern.IN_PLACE,
        Pattern.JOINED_STATE,
        Pattern.GIVEN_MOVED,
        Pattern.PART_MOVED,
        Pattern.KEPT_INPUT,
        Pattern.MULTIPLIED_DATA_LATE,
        Pattern.MULTIPLIED_OTHERWISE_LATE,
        Pattern.OF_LEVELS,
        Pattern.OF_MATRICES,
        Pattern.OF_PRODUCT,
        Pattern.OPEN_STATE,
        Pattern.OVERRUN,
        Pattern.OVERWRITING_JOINED,
        Pattern.OVERWRITING_READ,
        Pattern.OVERWRITTEN,
        Pattern.PAIRED,
        Pattern.PASSED_ON,
        Pattern.QUANTIZED,
        Pattern.REDUCED_BEFORE_THE_FIRST,
        Pattern.REDUCED_FROM_THE_END,
        Pattern.RESIDUAL,
        Pattern.RESIDUAL_BY_CHANNEL,
        Pattern.SCALED_BY_A_LIST,
        Pattern.SECOND_CONVOLVED,
        Pattern.SHIFTED_AND_READ,
        Pattern.SHIFTED_AND_SIZED,
        Pattern.SOFTENED,
        Pattern.SOFTENED_INPUT,
        Pattern.STARTING,
        Pattern.STEPPING,
        Pattern.SUMMED_IN_BYTES,
        Pattern.TRANSPOSED_TO_REDUCE,
        Pattern.UNLIMITED,
        Pattern.UNCONVERTED,
        Pattern.UNPAIRED,
        Pattern.UNSQUEEZED_AND_KEPT,
    }
)
"""Patterns that a layer is no longer part of if it reads copies."""
GIVING = frozenset(
    {
        Pattern.ACTIVATED_BIAS,
        Pattern.ADJUSTED,
        Pattern.ADJUSTED_LATER,
        Pattern.BENT_BY_CHANNEL,
        Pattern.BIASED,
        Pattern.EXTREME_LEVELS,
        Pattern.GATHERED,
        Pattern.MULTIPLIED,
        Pattern.MULTIPLIED_AT_ONCE,
        Pattern.MULTIPLIED_IN_ORDER,
        Pattern.MULTIPLIED_LATE,
        Pattern.MULTIPLIED_OTHERWISE,
        Pattern.NEGATED,
        Pattern.NEGATED_UNBIASED,
        Pattern.REDUCED,
        Pattern.REQUANTIZED_BY_CHANNEL,
        Pattern.RESHAPED_AFTER,
        Pattern.SCALED_APART,
        Pattern.SCALED_LEVELS,
        Pattern.STATE_BY_NUMBER,
        Pattern.SUMMED,
        Pattern.WIDENED,
    }
)
"""Patterns that a layer is no longer part of if others read copies of what it gives."""


def in_its_place(op: Op, seen: Seen, target: int) -> Iterator[Rewrite | Refused]:
    """Yield what means the same as a layer without the patterns that it is part of, for an opset, if it is valid."""
    if (seen.patterns or seen.unread) and not accepts(seen):
        return
    if any(map(seen.has, GIVING)) and seen.attrs is not None:
        yield with_copied_outputs(op, seen.opset, seen.attrs, seen.inputs, seen.outputs, target)
    if any(map(seen.has, READING)) and seen.attrs is not None:
        yield with_copies(op, seen.opset, seen.attrs, seen.inputs, seen.outputs, seen.constant, target)
    if seen.has(Pattern.DECIDING):
        yield as_constant(seen.inputs, seen.outputs[0], target)
    if _keeps_its_sizes(seen) and seen.attrs is not None and "variable_shape" in op.attrs:
        yield with_known_sizes(op, seen.opset, seen.attrs, seen.inputs[0])
    if seen.has(Pattern.MISTAKEN):
        yield with_gathered_parts(seen.inputs, seen.outputs, target)
    if seen.has(Pattern.UNEVEN):
        yield with_axis_from_the_start(op, seen.opset, seen.inputs, seen.outputs)
    if seen.unread and seen.has(Pattern.UNCUT):
        yield Refused("its body reads none of the parts that say how often it runs")
    elif seen.unread:
        kept = [number for number in range(len(seen.inputs)) if number not in seen.unread]
        yield with_inputs(op, seen.opset, kept, seen.outputs)
    if seen.has(Pattern.OUTGROWN):
        yield run_once(seen.inputs, seen.outputs)
    if seen.has(Pattern.SPREAD):
        yield squeezed(op, seen.inputs, target)


def _keeps_its_sizes(seen: Seen) -> bool:
    """Return whether the known sizes of what a variable keeps are those of its initial value."""
    known = seen.has(Pattern.KNOWN_KEPT) and not seen.has(Pattern.OTHER_KEPT)
    return known and bool(seen.inputs) and is_static(seen.inputs[0].shape)
