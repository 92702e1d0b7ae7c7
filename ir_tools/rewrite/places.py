"""What takes the place of layers that releases do not run rightly because of the layers around them."""

from collections.abc import Iterator

from ir_tools.errors import ShapeError
from ir_tools.known_differences.releases.seen import (
    BEHIND_PRODUCT,
    FIXED_STATE,
    IN_PLACE,
    MEAN_SQUARE,
    NEWER_MEAN_SQUARE,
    PASSED_ON,
    UNCUT,
    Seen,
)
from ir_tools.ops._layers import DATA, Layers
from ir_tools.ops.definition import NewLayer, Op, Ref, Refused, Rewrite

__all__ = ["in_its_place"]

READING = {BEHIND_PRODUCT, FIXED_STATE, IN_PLACE, PASSED_ON}
"""Patterns that a layer is no longer part of if it reads copies."""


def in_its_place(op: Op, seen: Seen, opset: int) -> Iterator[Rewrite | Refused]:
    """Yield what means the same as a layer without the patterns that it is part of, for an opset."""
    if seen.patterns & READING:
        yield _with_copies(op, seen, opset)
    if seen.unread:
        yield _without_unread(op, seen)
    if seen.patterns & {MEAN_SQUARE, NEWER_MEAN_SQUARE}:
        try:
            yield _divided_sum(seen, opset)
        except ShapeError as why:
            yield Refused(str(why))


def _with_copies(op: Op, seen: Seen, opset: int) -> Rewrite:
    """Return a layer with copies of the numbers that it reads, but for constants."""
    layers = Layers(seen.inputs, opset)

    def copied(number: int) -> Ref:
        given, kind = Ref(None, number), seen.inputs[number].dtype
        if number in seen.constant or not (kind.is_integer or kind.is_float):
            return given
        return layers.call("Maximum", given, given, label=f"copy_{number}")

    refs = tuple(map(copied, range(len(seen.inputs))))
    layers.made.append(_same(op, seen, refs))
    return layers.rewrite("reads a copy", "the larger of a number and itself is the number")


def _without_unread(op: Op, seen: Seen) -> Rewrite | Refused:
    """Return a loop without the inputs that its body does not read."""
    if UNCUT in seen.patterns:
        return Refused("its body reads none of the parts that say how often it runs")
    refs = tuple(Ref(None, number) for number in range(len(seen.inputs)) if number not in seen.unread)
    return Rewrite(
        layers=(_same(op, seen, refs),), strategy="reads fewer inputs", proof="its body does not read the others"
    )


def _same(op: Op, seen: Seen, inputs: tuple[Ref, ...]) -> NewLayer:
    """Return the layer with other inputs."""
    return NewLayer(type=op.type, opset=seen.opset, inputs=inputs, outputs=tuple(seen.outputs))


def _divided_sum(seen: Seen, opset: int) -> Rewrite:
    """Return the sum of the last axis, of known size, divided by the number of its elements, in place of a mean.

    Raises:
        ShapeError: the element type or the size is not known.
    """
    shape = seen.inputs[0].shape
    if seen.attrs is None or not shape or not shape[-1].static:
        raise ShapeError("the size of the last axis is not known")
    layers = Layers(seen.inputs, opset)
    total = layers.call("ReduceSum", DATA, Ref(None, 1), keep_dims=seen.attrs.keep_dims)
    layers.call("Divide", total, layers.number(shape[-1].size, DATA))
    return layers.rewrite("a sum that is divided", "a mean is the sum divided by the number of elements")
