"""Edges of rewrites between operation versions; random settings are in `test_opset_steps.py`."""

from collections.abc import Mapping

import numpy as np

from ir_tools.builder import Builder
from ir_tools.execute import run
from ir_tools.graph import Model
from ir_tools.ops import Array, find_op
from ir_tools.rewrite.migration import migrate


def layer(name: str, attributes: Mapping[str, str], *inputs: Array | tuple[str, str]) -> Model:
    """A model of one layer of `Gather-8` and the like; arrays are constants, other inputs element type and shape."""
    type, _, version = name.rpartition("-")
    op = find_op(type, f"opset{version}")
    assert op is not None
    builder, sources = Builder(), []
    for number, given in enumerate(inputs):
        if isinstance(given, tuple):
            sources.append(builder.parameter(f"in{number}", given[1], given[0]))
        else:
            sources.append(builder.constant(given))
    made = builder.unchecked(op, attributes, sources, "op")
    for number, output in enumerate(made):
        builder.result(output, f"out{number}")
    return builder.model


def types(model: Model) -> list[str]:
    """The layers of a model but for inputs, outputs and constants."""
    unsaid = {"Parameter", "Result", "Const"}
    return [f"{one.type}-{one.version[5:]}" for one in model.graph.ordered() if one.type not in unsaid]


def lowered(model: Model, target: int) -> list[str]:
    """The layers of the migrated model; or why there is none."""
    moved = migrate(model, f"opset{target}")
    return [f"{one.attribute}: {one.reason}" for one in moved.refused] or types(moved.model)


def same(model: Model, target: int, *arrays: Array) -> bool:
    """Whether the migrated model computes the same."""
    inputs = {f"in{number}": array for number, array in enumerate(arrays)}
    before, after = run(model, inputs), run(migrate(model, f"opset{target}").model, inputs)
    return all(np.array_equal(after[name], array) for name, array in before.items())


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


def test_negative_indices_of_a_gather_are_counted_from_the_front() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    known = layer("Gather-8", {}, ("f32", "4,3"), ints(-1, 0, -9, 7), np.array(0))
    assert lowered(known, 7) == ["Gather-7"]
    assert same(known, 7, rows)
    given = layer("Gather-8", {}, ("f32", "?,3"), ("i32", "?"), np.array(0))
    assert "Select-1" in lowered(given, 7)
    assert same(given, 7, rows, np.array([-1, 0, -9, 7], np.int32))


def test_a_gather_that_may_get_negative_indices_stays_in_later_opsets() -> None:
    assert lowered(layer("Gather-7", {}, ("f32", "4,3"), ("i64", "2"), np.array(0)), 8) == ["Gather-7"]
    assert lowered(layer("Gather-7", {}, ("f32", "4,3"), ints(1, 2), np.array(0)), 8) == ["Gather-8"]
    assert lowered(layer("Gather-7", {}, ("f32", "4,3"), ("u8", "2"), np.array(0)), 8) == ["Gather-8"]


def test_a_reduction_needs_to_know_that_no_element_is_updated_twice() -> None:
    data = "f32", "4,3"
    twice = layer("ScatterNDUpdate-15", {"reduction": "sum"}, data, np.array([[1], [-3]]), ("f32", "2,3"))
    assert lowered(twice, 8) == ["reduction: it is done to one element several times, or that is not known"]
    once = layer("ScatterNDUpdate-15", {"reduction": "sum"}, data, np.array([[1], [-1]]), ("f32", "2,3"))
    assert lowered(once, 8) == ["GatherND-8", "Add-1", "ScatterNDUpdate-4"]
    assert lowered(layer("ScatterNDUpdate-15", {"reduction": "sum"}, data, ("i64", "2,1"), ("f32", "2,3")), 8)[0] == (
        "reduction: it is done to one element several times, or that is not known"
    )
    initial = {"reduction": "prod", "use_init_val": "false"}
    places = np.array([[0, 1], [3, 2]])
    bare = layer("ScatterElementsUpdate-12", initial, data, places, ("f32", "2,2"), np.array(0))
    assert lowered(bare, 8) == ["ScatterElementsUpdate-3"]


def test_negative_pads_become_a_slice() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    cut = layer("Pad-12", {"pad_mode": "reflect"}, ("f32", "4,3"), ints(-1, 2), ints(0, -1))
    assert lowered(cut, 8) == ["Pad-1", "StridedSlice-1"]
    assert same(cut, 8, rows)
    assert lowered(layer("Pad-12", {"pad_mode": "edge"}, ("f32", "4,3"), ints(-1, 0), ints(0, -1)), 8) == [
        "StridedSlice-1"
    ]
    assert lowered(layer("Pad-12", {"pad_mode": "edge"}, ("f32", "4,3"), ints(1, 0), ints(0, 1)), 8) == ["Pad-1"]


def test_a_slice_along_axes_that_are_not_known_is_refused() -> None:
    bounds = ints(0), ints(1), ints(1)
    (why,) = lowered(layer("Slice-8", {}, ("f32", "4,3"), *bounds, ("i64", "1")), 7)
    assert why == "None: opset7 has no Slice, and its axes are not known"
    assert lowered(layer("Slice-8", {}, ("f32", "..."), *bounds, ints(1)), 7) == ["StridedSlice-1"]
    assert lowered(layer("Slice-8", {}, ("f32", "4,3"), ("i64", "1"), ints(1), ints(1), ints(-1)), 7) == [
        "Concat-1",
        "Gather-7",
        "StridedSlice-1",
    ]
