"""Elements in another order along an axis: Reverse-1, ReverseSequence-1, Roll-7.

The rules are those of OpenVINO's core (*_shape_inference.hpp), measured.

Specification: `movement/`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._requirements import impossible_length, require_integers, require_lengths, require_list
from ir_tools.ops._shape_rewrites import migrate_roll
from ir_tools.ops._values import carried, is_empty, known_axes, normal_axis
from ir_tools.ops.definition import Array, Elements, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Int, OneOf
from ir_tools.types import format_shape, shape_text

__all__ = ["OPS"]


def reverse_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the input; the axes, or a mask of them, must fit its rank."""
    data, axes = inputs
    require_list(axes, "reversed_axes")
    mask = attrs.mode == "mask"
    if mask and axes.dtype.kind not in {"boolean", "dynamic"}:
        raise ShapeError(f"has element type {axes.dtype}; expected boolean for a mask", attribute="reversed_axes")
    if not mask:
        require_integers(axes, "reversed_axes")
    if data.shape is not None:
        rank = len(data.shape)
        if mask and axes.shape and rank not in axes.shape[0]:
            raise ShapeError(f"has {axes.shape[0]} values, but the input has rank {rank}", attribute="reversed_axes")
        if not mask:
            known_axes(axes, rank, "reversed_axes")
    return carried(reverse, attrs, inputs, [Fact(data.dtype, data.shape)], bounded=())


def reverse(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements from the last to the first along some axes; a view."""
    data, axes = arrays
    chosen = np.flatnonzero(axes) if attrs.mode == "mask" else axes
    return (np.flip(data, tuple({normal_axis(int(axis), data.ndim, "reversed_axes") for axis in chosen})),)


def reverse_sequence_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the input, whose batch is as long as the list of lengths."""
    data, lengths = inputs
    require_list(lengths, "seq_lengths")
    if data.shape is None:
        if attrs.seq_axis < 0:
            raise ShapeError(
                f"is {attrs.seq_axis}, which is negative, and the rank of data is not known",
                attribute="seq_axis",
            )
        return (Fact(data.dtype, None),)
    rank = len(data.shape)
    if rank < 2:
        raise ShapeError(f"has rank {rank}; expected at least 2", attribute="data")
    batch, _ = normal_axis(attrs.batch_axis, rank, "batch_axis"), normal_axis(attrs.seq_axis, rank, "seq_axis")
    shape = list(data.shape)
    if lengths.shape is not None:
        common = shape[batch].meet(lengths.shape[0])
        if common is None:
            raise ShapeError(f"has {lengths.shape[0]} values, but the batch is {shape[batch]}", attribute="seq_lengths")
        shape[batch] = common
    return (Fact(data.dtype, tuple(shape)),)


def check_reverse_sequence(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for lengths that the sequences do not have; batches along the sequences."""
    data, lengths = inputs
    if data.shape is None or not -len(data.shape) <= attrs.seq_axis < len(data.shape):
        return
    sequence = normal_axis(attrs.seq_axis, len(data.shape))
    dim = data.shape[sequence]
    bad = impossible_length(lengths.integers() or (), dim)
    if bad is not None and not is_empty(data):
        yield Violation("seq_lengths", f"holds {bad}, but the sequence axis has {dim} elements")
    if sequence == attrs.batch_axis % len(data.shape):
        yield Violation("seq_axis", f"is {attrs.seq_axis}, which is also the batch_axis", kind=ViolationKind.SUSPECT)


def reverse_sequence(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the first `seq_lengths[b]` elements of batch b backwards, the rest as they are."""
    data, lengths = arrays
    batch, sequence = attrs.batch_axis % data.ndim, attrs.seq_axis % data.ndim
    if batch == sequence:
        raise ShapeError(f"is {attrs.seq_axis}, which is also the batch_axis", attribute="seq_axis")
    if data.size:
        require_lengths(lengths.tolist(), data.shape[sequence], "seq_lengths")
    places = np.arange(data.shape[sequence])
    ends = lengths.astype(np.int64)[:, None]
    index = np.where(places < ends, ends - 1 - places, places)
    if batch > sequence:
        index = index.T
    others = [axis for axis in range(data.ndim) if axis not in (batch, sequence)]
    return (np.take_along_axis(data, np.expand_dims(index, others), sequence),)


def roll_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the input; one shift for every axis."""
    data, shift, axes = inputs
    for fact, name in ((shift, "shift"), (axes, "axes")):
        if fact.shape is not None and len(fact.shape) > 1:
            raise ShapeError(f"is {shape_text(fact.shape)}; expected a list or a scalar", attribute=name)
    if shift.shape and axes.shape is not None and (not axes.shape or shift.shape[0].meet(axes.shape[0]) is None):
        raise ShapeError(
            f"has {format_shape(shift.shape)} values, but axes has {format_shape(axes.shape)}", attribute="shift"
        )
    if data.shape is not None:
        known_axes(axes, max(len(data.shape), 1))
    return (Fact(data.dtype, data.shape),)


def roll(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements moved along axes; what leaves at one end comes in at the other."""
    data, shift, axes = arrays
    return (np.roll(data, [int(by) for by in np.broadcast_to(shift, axes.shape).ravel()], axes.ravel().tolist()),)


# --- the operations ---------------------------------------------------------------------------------------------

DATA = Input("data", elements=Elements.MOVED)
REVERSE = Op(
    type="Reverse",
    version=1,
    inputs=(DATA, Input("reversed_axes")),
    attrs={"mode": OneOf(words=("index", "mask"), runtime_default="index")},
    shape=reverse_shape,
    kernel=reverse,
    last_opset=1,
)
REVERSE_SEQUENCE = Op(
    type="ReverseSequence",
    version=1,
    inputs=(DATA, Input("seq_lengths", type="integer float")),
    attrs={"batch_axis": Int(default=0), "seq_axis": Int(default=1)},
    check=check_reverse_sequence,
    shape=reverse_sequence_shape,
    kernel=reverse_sequence,
)
ROLL = Op(
    type="Roll",
    version=7,
    inputs=(DATA, Input("shift", type="i32 i64"), Input("axes", type="i32 i64")),
    shape=roll_shape,
    kernel=roll,
    migrate=migrate_roll,
)

OPS = (REVERSE, REVERSE_SEQUENCE, ROLL)
