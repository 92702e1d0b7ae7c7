"""Substitutes of layers that move elements, in rare settings: what they compute, or why there is none."""

from collections.abc import Mapping

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.execute import run
from ir_tools.ops import Array, Op, find_op
from ir_tools.ops._shape_rewrites import (
    migrate_roll,
    split_by_slices,
    with_copied_parts,
    with_known_axes,
    without_empty_parts,
)
from ir_tools.ops.definition import Fact, Refused, Rewrite, Step
from ir_tools.ops.replacements import run_once
from ir_tools.ops.strided_slicing import with_limits_alone
from ir_tools.rewrite.facts import KnownFacts
from ir_tools.rewrite.rewriter import Rewriter
from ir_tools.types import Dim, element_type


def substituted(builder: Builder, step: Step, fed: Mapping[str, Array], target: int = 8) -> Rewrite | Refused | None:
    """Put the step's layers in the place of the layer "it", and compare what the model computes before and after."""
    model = builder.model
    located = next(found for found in model.walk() if found.layer.name == "it")
    op = find_op(located.layer.type, located.layer.version)
    assert op is not None
    attrs = op.read(located.layer.raw, [])
    assert attrs is not None
    found = step(attrs, KnownFacts(model).of(located).inputs, target)
    if isinstance(found, Rewrite):
        wanted = run(model, fed)
        Rewriter(model).apply(located.graph, located.layer, op, found)
        for name, array in run(model, fed).items():
            np.testing.assert_array_equal(array, wanted[name])
    return found


BACKWARDS = {
    "whole axes": ((0, 0), (0, 0), (1, -1), {"begin_mask": (1, 1), "end_mask": (1, 1)}),
    "from a place on": ((0, 3), (0, 0), (1, -2), {"begin_mask": (1, 0), "end_mask": (1, 1)}),
    "to a place": ((0, 0), (0, 3), (1, -1), {"begin_mask": (1, 1), "end_mask": (1, 0)}),
    "between places": ((0, -2), (1, 2), (1, -3), {"begin_mask": (0, 0), "end_mask": (0, 0)}),
    "the last row": ((-1, 0), (0, 0), (-1, -1), {"begin_mask": (0, 1), "end_mask": (0, 1), "shrink_axis_mask": (1, 0)}),
    "rows and columns": ((0, 0), (0, 0), (-1, 2), {"begin_mask": (1, 0), "end_mask": (1, 1)}),
}
"""Limits, strides and masks of slices of two rows, one axis of each backwards."""


@pytest.mark.parametrize("target", [7, 8])
@pytest.mark.parametrize("shape", ["2,40000", "?,40000"])
@pytest.mark.parametrize("case", BACKWARDS)
def test_slices_backwards(case: str, shape: str, target: int) -> None:
    """Releases cut data of unknown size backwards by a Slice, from the opset on that has it."""
    *limits, masks = BACKWARDS[case]
    builder = Builder(opset=8)
    data = builder.parameter("x", shape)
    builder.result(builder.call("StridedSlice", data, *map(np.array, limits), name="it", **masks))
    found = substituted(builder, with_limits_alone, {"x": np.arange(80000, dtype=np.float32).reshape(2, 40000)}, target)
    assert isinstance(found, Rewrite)
    *given, last = (np.asarray(one) for one in found.layers[0].inputs[1:])
    if shape.startswith("?") and target == 8:
        places = zip(limits[2], masks["begin_mask"], masks["end_mask"], strict=True)
        assert last.tolist() == [axis for axis, place in enumerate(places) if place != (1, 1, 1)]
    else:
        assert found.layers[0].type == "StridedSlice"
        assert np.abs(given).max() <= 3


LENGTHENED = {
    ("20,15", (1,)): True,
    ("?,3", (-1,)): True,
    ("20,3", (0, 1)): True,
    ("20,3", (0,)): False,
    ("20,16", (1,)): False,
    ("4,3", (1,)): False,
}
"""Whether integers are reduced along a longer last axis: a short one, of as many rows or more as releases take."""


@pytest.mark.parametrize(("shape", "axes"), LENGTHENED)
@pytest.mark.parametrize("type", ["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1"])
def test_integers_that_are_reduced(type: str, shape: str, axes: tuple[int, ...]) -> None:
    builder = Builder(opset=8)
    builder.result(builder.call(type, builder.parameter("x", shape, "i32"), np.array(axes), name="it", keep_dims=True))
    op = find_op(type, "opset8")
    assert isinstance(op, Op)
    assert op.substitute is not None
    sizes = [20 if size == "?" else int(size) for size in shape.split(",")]
    found = substituted(
        builder, op.substitute, {"x": np.arange(np.prod(sizes), dtype=np.int32).reshape(sizes) % 3 * 2 - 1}
    )
    assert isinstance(found, Rewrite)
    assert (found.layers[0].type == "Pad") is LENGTHENED[shape, axes]


def test_a_layer_in_a_loop_keeps_the_order_of_its_outputs() -> None:
    builder = Builder(opset=8)
    for part in builder.outputs("VariadicSplit", builder.parameter("x", "5"), 0, np.array([2, 3]), name="it"):
        builder.result(part)
    outputs = [Fact(element_type("f32"), (Dim.of(size),)) for size in (2, 3)]
    found = substituted(builder, lambda _, inputs, __: run_once(inputs, outputs), {"x": np.arange(5, dtype=np.float32)})
    assert isinstance(found, Rewrite)


@pytest.mark.parametrize("shape", ["2,4", "?,4"])
@pytest.mark.parametrize("lengths", [[0, 4], [1, 0, 3], [-1, 1]])
def test_parts_of_a_split_without_elements(shape: str, lengths: list[int]) -> None:
    builder = Builder(opset=8)
    parts = builder.outputs("VariadicSplit", builder.parameter("x", shape), 1, np.array(lengths), name="it")
    for part in parts:
        builder.result(builder.call("Concat", part, np.ones((2, 1), np.float32), axis=1))
    found = substituted(builder, split_by_slices, {"x": np.arange(8, dtype=np.float32).reshape(2, 4)})
    assert isinstance(found, Rewrite)


@pytest.mark.parametrize(("sizes", "kept"), [((0, 2, 0), True), ((0, 0), False), ((1, 2), False)])
def test_parts_of_a_concat_without_elements(sizes: tuple[int, ...], kept: bool) -> None:
    builder = Builder(opset=8)
    parts = [np.full((2, size), size, np.float32) for size in sizes]
    builder.result(builder.call("Concat", *parts, builder.constant(np.zeros((2, 0), np.float32)), axis=1, name="it"))
    if sizes == (1, 2):
        builder = Builder(opset=8)
        builder.result(builder.call("Concat", *parts, axis=1, name="it"))
    assert isinstance(substituted(builder, without_empty_parts, {}), Rewrite) is kept


@pytest.mark.parametrize(("axis", "batch", "layers"), [(1, 1, 6), (-2, 1, 6), (2, 1, 3), (1, 2, 3)])
def test_a_concat_with_copied_parts(axis: int, batch: int, layers: int) -> None:
    builder = Builder(opset=8)
    data = builder.parameter("x", f"{batch},2,3")
    builder.result(builder.call("Concat", np.ones((batch, 2, 3), np.float32), data, axis=axis, name="it"))
    fed = {"x": np.arange(6 * batch, dtype=np.float32).reshape(batch, 2, 3)}
    found = substituted(builder, with_copied_parts, fed)
    assert isinstance(found, Rewrite)
    assert len(found.layers) == layers


@pytest.mark.parametrize(("shifts", "axes"), [(1, [0, 1]), ([1, 2], [0, 1]), ([1, 2, 1], [0, -1, 0]), ([-4], [1])])
def test_a_roll(shifts: int | list[int], axes: list[int]) -> None:
    builder = Builder(opset=8)
    data = builder.parameter("x", "2,3")
    builder.result(builder.call("Roll", data, np.array(shifts), np.array(axes), name="it"))
    fed = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    assert isinstance(substituted(builder, migrate_roll, fed, 6), Rewrite)


@pytest.mark.parametrize("shape", ["1,1", "1,3", "2,3"])
def test_a_squeeze_without_axes(shape: str) -> None:
    builder = Builder(opset=8)
    builder.result(builder.call("Squeeze", builder.parameter("x", shape), name="it"))
    fed = {"x": np.ones([int(size) for size in shape.split(",")], np.float32)}
    assert isinstance(substituted(builder, with_known_axes, fed), Rewrite)
