"""What means the same as a layer whose surroundings stand in its way."""

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from ir_tools.ops._layers import DATA, Layers
from ir_tools.ops._values import normal_axis
from ir_tools.ops.definition import Fact, NewLayer, Op, Ref, Refused, Rewrite
from ir_tools.ops.fields import Attrs

__all__ = [
    "as_constant",
    "run_once",
    "squeezed",
    "with_axis_from_the_start",
    "with_copied_outputs",
    "with_copies",
    "with_gathered_parts",
    "with_inputs",
    "with_known_sizes",
]

COPIED = "the larger of a number and itself is the number"
"""Why a Maximum copies numbers."""


def with_copies(
    op: Op,
    opset: int,
    attrs: Attrs,
    inputs: Sequence[Fact],
    outputs: Sequence[Fact],
    kept: Collection[int],
    target: int,
) -> Rewrite:
    """Return a layer that reads copies of numbers.

    Args:
        op: its operation.
        opset: of its version stamp.
        attrs: its attributes.
        inputs: facts of its inputs.
        outputs: facts of its outputs.
        kept: the inputs that it reads as they are, by number; so it does those that are not numbers.
        target: the opset of the copying layers.
    """
    layers = Layers(inputs, target)
    refs = tuple(
        layers.call("Maximum", given, given, label=f"copy_{number}")
        if number not in kept and (inputs[number].dtype.is_integer or inputs[number].dtype.is_float)
        else given
        for number, given in enumerate(layers.given)
    )
    layers.made.append(NewLayer(type=op.type, opset=opset, raw=op.written(attrs), inputs=refs, outputs=tuple(outputs)))
    return layers.rewrite("reads a copy", COPIED)


def with_copied_outputs(
    op: Op, opset: int, attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact], target: int
) -> Rewrite | Refused:
    """Return a layer of whose outputs others read copies; other arguments as of `with_copies`."""
    if not all(fact.dtype.is_integer or fact.dtype.is_float for fact in outputs):
        return Refused("no operation copies what are not numbers")
    layers = Layers(inputs, target)
    given = layers.outputs(op.type, *layers.given, version=opset, **{name: attrs[name] for name in op.attrs})
    copies = [layers.call("Maximum", one, one, label=f"copy_{one.output}") for one in given]
    return layers.rewrite("copies of the outputs", COPIED, copies)


def as_constant(inputs: Sequence[Fact], known: Fact, target: int) -> Rewrite | Refused:
    """Return a constant that has the known value of an output."""
    exact, kind = known.exact, known.dtype
    if exact is None or kind.dtype is None:
        return Refused("what it gives is not known")
    layers = Layers(inputs, target)
    layers.call("Convert", exact.astype(kind.dtype), destination_type=kind.name)
    return layers.rewrite("a constant", "what it gives is known")


def with_inputs(op: Op, opset: int, kept: Sequence[int], outputs: Sequence[Fact]) -> Rewrite:
    """Return a loop that has only some of its inputs, those that its body reads, by number."""
    new = NewLayer(type=op.type, opset=opset, inputs=tuple(Ref(None, one) for one in kept), outputs=tuple(outputs))
    return Rewrite(layers=(new,), strategy="reads fewer inputs", proof="its body does not read the others")


def run_once(inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Rewrite:
    """Return a Loop of one iteration that runs a layer in its body."""
    given = tuple(Ref(None, number) for number in range(len(inputs)))
    new = NewLayer(type="Loop", opset=5, inputs=(np.array(1), np.array(True), *given), outputs=tuple(outputs))
    proof = "a loop of one iteration gives what its body gives"
    return Rewrite(layers=(new,), strategy="runs in a loop, once", proof=proof, enclosed=tuple(inputs))


def with_axis_from_the_start(op: Op, opset: int, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Rewrite:
    """Return a Concat along the last axis, counted from the first one."""
    axis = str(len(outputs[0].shape or ()) - 1)
    given = tuple(Ref(None, number) for number in range(len(inputs)))
    new = NewLayer(type=op.type, opset=opset, raw={"axis": axis}, inputs=given, outputs=tuple(outputs))
    return Rewrite(layers=(new,), strategy="counts the axis from the first", proof="it is the same axis")


def with_gathered_parts(inputs: Sequence[Fact], outputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Return a Gather for each part of a split; releases make a split of slices again."""
    axes = inputs[1].integers()
    if axes is None:
        return Refused("its axis is not known")
    layers = Layers(inputs, target)
    axis = normal_axis(axes[0], layers.rank(DATA))
    ends = np.cumsum([0, *(part.dims[axis] for part in outputs)]).tolist()
    parts = [layers.gather(DATA, range(*limits), axis) for limits in pairwise(ends)]
    return layers.rewrite("one Gather per part", "the same elements", parts)


def with_known_sizes(op: Op, opset: int, attrs: Attrs, first: Fact) -> Rewrite:
    """Return a variable of the sizes that its initial value and what it keeps are known to have."""
    raw = op.written({**{name: attrs[name] for name in op.attrs}, "variable_shape": first.shape})
    new = NewLayer(type=op.type, opset=opset, raw=raw, inputs=(Ref(None),), outputs=(Fact(first.dtype, first.shape),))
    proof = "the initial value has these sizes, and so has all that the variable keeps"
    return Rewrite(layers=(new,), strategy="has the sizes of what it keeps", proof=proof)


def squeezed(op: Op, inputs: Sequence[Fact], target: int) -> Rewrite:
    """Return a reduction to a number that keeps its axes, and a Squeeze of them."""
    layers = Layers(inputs, target)
    kept = layers.call(op.type, *layers.given, keep_dims=True)
    layers.call("Squeeze", kept, np.arange(layers.rank(DATA)))
    return layers.rewrite("axes squeezed later", "a reduction of all axes leaves one element, however it is shaped")
