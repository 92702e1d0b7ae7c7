"""Edges of rewrites between operation versions; random settings are in `test_opset_steps.py`."""

from collections.abc import Mapping

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.execute import run
from ir_tools.graph import Model
from ir_tools.known_differences._model import whole
from ir_tools.ops import Array, _recurrent_rewrites, find_op
from ir_tools.rewrite.migration import migrate
from ir_tools.runtime.client import RuntimeClient
from ir_tools.weights import values


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
    found = migrate(model, f"opset{target}")
    return [f"{one.attribute}: {one.reason}" for one in found.refused] or types(found.model)


def migrated(model: Model, target: int) -> Model:
    """The migrated model; nothing in it is refused."""
    found = migrate(model, f"opset{target}")
    assert found.ok, found.refused
    return found.model


def same(model: Model, target: int, *arrays: Array) -> bool:
    """Whether the migrated model computes the same."""
    inputs = {place.name: array for place, array in zip(model.inputs, arrays, strict=True)}
    before, after = run(model, inputs), run(migrated(model, target), inputs)
    return all(np.array_equal(after[name], array) for name, array in before.items())


def close(model: Model, target: int, *arrays: Array, apart: float = 0) -> bool:
    """Whether the migrated model computes the same but for the last digits of each number, or for so much."""
    inputs = {place.name: array for place, array in zip(model.inputs, arrays, strict=True)}
    with np.errstate(all="ignore"):
        before, after = run(model, inputs), run(migrated(model, target), inputs)
    return all(np.allclose(after[name], array, 1e-6, apart, equal_nan=True) for name, array in before.items())


def test_indices_that_are_computed_of_known_sizes_are_known_to_be_positive() -> None:
    builder = Builder(opset=8)
    sizes = builder.call("ShapeOf", builder.parameter("y", "1,2"))
    builder.result(builder.call("Gather", builder.parameter("x", "3,4"), sizes, np.array(0)))
    assert lowered(builder.model, 7) == ["ShapeOf-3", "Gather-7"]


def test_negative_indices_of_a_gather_are_counted_from_the_front() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    known = layer("Gather-8", {}, ("f32", "4,3"), whole(-1, 0, -5, -9, 7), np.array(0))
    assert lowered(known, 7) == ["Gather-7"]
    assert same(known, 7, rows)
    given = layer("Gather-8", {}, ("f32", "?,3"), ("i32", "?"), np.array(0))
    assert "Select-1" in lowered(given, 7)
    assert same(given, 7, rows, np.array([-1, 0, -5, -9, 7], np.int32))


def test_a_gather_that_may_get_negative_indices_stays_in_later_opsets() -> None:
    assert lowered(layer("Gather-7", {}, ("f32", "4,3"), ("i64", "2"), np.array(0)), 8) == ["Gather-7"]
    assert lowered(layer("Gather-7", {}, ("f32", "4,3"), whole(1, 2), np.array(0)), 8) == ["Gather-8"]
    assert lowered(layer("Gather-7", {}, ("f32", "4,3"), ("u8", "2"), np.array(0)), 8) == ["Gather-8"]


def test_an_index_behind_the_end_of_a_batch_gives_zero_and_no_element_of_the_next() -> None:
    given = layer("Gather-8", {"batch_dims": "1"}, ("f32", "2,3"), ("i64", "2,3"), np.array(1))
    rows = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    assert same(given, 1, rows, np.array([[0, 3, -3], [-4, 2, 3]]))


def test_batches_beside_two_sizes_that_are_not_known_cannot_be_merged() -> None:
    for sizes, ok in (("2,3,?,4", True), ("2,3,?,?", False), ("?,3,4", False), ("2,?,4", False)):
        given = layer("Gather-8", {"batch_dims": "1"}, ("f32", sizes), ("i64", "2,2"), np.array(1))
        (*refused,) = migrate(given, "opset1").refused
        assert [(one.attribute, one.reason.rpartition(" ")[2]) for one in refused] == (
            [] if ok else [("batch_dims", "known")]
        )
    rows = np.arange(48, dtype=np.float32).reshape(2, 3, 2, 4)
    given = layer("Gather-8", {"batch_dims": "1"}, ("f32", "2,3,?,4"), ("i64", "2,2"), np.array(1))
    assert same(given, 1, rows, np.array([[2, -1], [0, 3]]))
    given = layer("Gather-8", {"batch_dims": "1"}, ("f32", "2,3,2,4"), ("i64", "2,3"), np.array(3))
    assert same(given, 1, rows, np.array([[2, -1, 0], [0, 3, 4]]))


def test_batches_that_an_older_gather_nd_joins_are_taken_apart() -> None:
    places = np.array([[[0], [3], [1]], [[2], [2], [0]]])
    known = layer("GatherND-8", {"batch_dims": "2"}, ("f32", "2,3,4"), places)
    assert lowered(known, 5) == ["GatherND-5", "Reshape-1"]
    before, after = (model.outputs[0].port.dims for model in (known, migrate(known, "opset5").model))
    assert before == after == (2, 3)
    assert same(known, 5, np.arange(24, dtype=np.float32).reshape(2, 3, 4))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_signals_of_few_samples_are_transformed(size: int) -> None:
    given = layer("IRDFT-9", {}, ("f32", "2,2"), np.array([0]), np.array([size]))
    assert close(given, 8, np.array([[3, 0], [1, 2]], np.float32), apart=1e-6)


@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max", "mean"])
@pytest.mark.parametrize("starts", ["true", "false"])
def test_updates_that_meet_nowhere_are_combined_with_the_elements(reduction: str, starts: str) -> None:
    places, words = np.array([[1, 0, 2], [3, -3, -4]]), {"reduction": reduction, "use_init_val": starts}
    rows, updates = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([[5, 6, 7], [1, -2, 30]], np.float32)
    given = layer("ScatterElementsUpdate-12", words, ("f32", "4,3"), places, ("f32", "2,3"), np.array(0))
    assert same(given, 8, rows, updates)


def test_updates_that_may_meet_are_combined_by_comparisons() -> None:
    data = "f32", "4,3"
    rows, updates = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([[5, 6, 7], [1, -2, 30]], np.float32)
    for reduction in ("sum", "sub", "prod", "min", "max"):
        twice = layer("ScatterNDUpdate-15", {"reduction": reduction}, data, np.array([[1], [-3]]), ("f32", "2,3"))
        assert same(twice, 8, rows, updates)
        integers = layer("ScatterNDUpdate-15", {"reduction": reduction}, ("i32", "4,3"), ("i64", "2,1"), ("i32", "2,3"))
        assert same(integers, 8, rows.astype(np.int32), np.array([[1], [-3]]), updates.astype(np.int32))
        migrated = migrate(integers, "opset8").model
        held = [values(each.raw, migrated.weights) for each in migrated.graph.layers() if each.type == "Const"]
        assert max(int(numbers.max()) for numbers in held) < 2**24, "what releases that compute in floats hold"
    given = layer("ScatterNDUpdate-15", {"reduction": "sum"}, data, ("i64", "2,2"), ("f32", "2"))
    assert same(given, 8, rows, np.array([[1, -1], [1, 2]]), updates[0, :2])
    once = layer("ScatterNDUpdate-15", {"reduction": "sum"}, data, np.array([[1], [-1]]), ("f32", "2,3"))
    assert lowered(once, 8) == ["GatherND-8", "Add-1", "ScatterNDUpdate-4"]
    open_ = layer("ScatterNDUpdate-15", {"reduction": "sum"}, ("f32", "?,3"), ("i64", "2,1"), ("f32", "2,3"))
    assert same(open_, 8, rows, np.array([[2], [-2]]), updates)
    assert lowered(open_, 12)[-1] == "ScatterElementsUpdate-12"
    assert same(open_, 12, rows, np.array([[2], [2]]), updates)
    list_ = layer("ScatterNDUpdate-15", {"reduction": "max"}, ("f32", "?"), ("i64", "?,1"), ("f32", "?"))
    assert same(list_, 12, rows[:, 0], np.array([[-1], [3], [0]]), np.array([20, 5, -1], np.float32))
    less = layer("ScatterNDUpdate-15", {"reduction": "sub"}, ("f32", "?,3"), ("i64", "2,1"), ("f32", "2,3"))
    assert same(less, 12, rows, np.array([[2], [-1]]), updates)
    most = layer("ScatterNDUpdate-15", {"reduction": "max"}, ("f32", "?,3"), ("i64", "2,1"), ("f32", "2,3"))
    assert "the sizes are not known" in lowered(most, 8)[0]
    halves = np.array([[0, 1], [0, 2]])
    wide = ("f32", "4,2"), halves, ("f32", "2,2"), np.array(0)
    assert same(layer("ScatterElementsUpdate-12", {"reduction": "sum"}, *wide), 8, rows[:, :2], updates[:, :2])
    initial = {"reduction": "prod", "use_init_val": "false"}
    places = np.array([[0, 1], [3, 2]])
    bare = layer("ScatterElementsUpdate-12", initial, data, places, ("f32", "2,2"), np.array(0))
    assert lowered(bare, 8) == ["ScatterElementsUpdate-3"]
    part = layer("ScatterElementsUpdate-12", initial, data, ("i32", "5,2"), ("f32", "5,2"), np.array(0))
    assert "only a part of the data" in lowered(part, 8)[0]


@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max", "mean"])
@pytest.mark.parametrize("keeps", ["true", "false"])
def test_updates_that_may_meet_along_an_axis(reduction: str, keeps: str) -> None:
    raw = {"reduction": reduction, "use_init_val": keeps}
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    places = np.array([[0, 1, 2, -1, 0], [1, 1, 1, 1, 1], [0, 0, 2, 2, 1], [2, 1, 0, 2, 2]], np.int32)
    updates = np.random.default_rng(8).normal(size=(4, 5)).astype(np.float32)
    model = layer("ScatterElementsUpdate-12", raw, ("f32", "4,3"), ("i32", "4,5"), ("f32", "4,5"), np.array(-1))
    assert close(model, 11, rows, places, updates, apart=1e-6)


def test_a_roll_by_one_moves_elements_to_the_next_place() -> None:
    migrated = migrate(layer("Roll-7", {}, ("f32", "2,3"), whole(1), whole(-1)), "opset6").model
    found = run(migrated, {"in0": np.arange(6, dtype=np.float32).reshape(2, 3)})
    assert found["out0"].tolist() == [[2, 0, 1], [5, 3, 4]]


def test_computed_pads_become_a_slice_whose_end_all_releases_choose_right() -> None:
    """OpenVINO 2023.0 computes a Select in f32 and then in i32, which holds no 2^31."""
    padded = layer("Pad-12", {"pad_mode": "constant"}, ("f32", "4,3"), ("i64", "2"), ("i64", "2"))
    assert same(padded, 8, np.ones((4, 3), np.float32), whole(1, -1), whole(-2, 3))
    found = migrated(padded, 8)
    (select,) = [one for one in found.graph.layers() if one.type == "Select"]
    sources = [found.graph.layer(one.layer) for one in found.graph.sources(select.id).values()]
    (end,) = [values(one.raw, found.weights) for one in sources if one.type == "Const"]
    assert float(np.float32(end)) == float(end) < 1 << 31


def test_negative_pads_become_a_slice() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    cut = layer("Pad-12", {"pad_mode": "reflect"}, ("f32", "4,3"), whole(-1, 2), whole(0, -1))
    assert lowered(cut, 8) == ["Pad-1", "StridedSlice-1"]
    assert same(cut, 8, rows)
    assert lowered(layer("Pad-12", {"pad_mode": "edge"}, ("f32", "4,3"), whole(-1, 0), whole(0, -1)), 8) == [
        "StridedSlice-1"
    ]
    assert lowered(layer("Pad-12", {"pad_mode": "edge"}, ("f32", "4,3"), whole(1, 0), whole(0, 1)), 8) == ["Pad-1"]


def test_a_slice_along_axes_that_are_not_known_is_refused() -> None:
    bounds = whole(0), whole(1), whole(1)
    (why,) = lowered(layer("Slice-8", {}, ("f32", "4,3"), *bounds, ("i64", "1")), 7)
    assert why == "None: opset7 has no Slice, and its axes are not known"
    assert lowered(layer("Slice-8", {}, ("f32", "..."), *bounds, whole(1)), 7) == ["StridedSlice-1"]
    assert lowered(layer("Slice-8", {}, ("f32", "4,3"), ("i64", "1"), whole(1), whole(1), whole(-1)), 7) == [
        "Concat-1",
        "Gather-7",
        "StridedSlice-1",
    ]


@pytest.mark.parametrize(("mode", "k", "size"), [("max", 1, "?"), ("min", 4, "6"), ("max", 6, "6")])
@pytest.mark.parametrize("target", [1, 3, 8])
def test_the_order_of_equal_values_is_kept(mode: str, k: int, size: str, target: int) -> None:
    model = layer("TopK-11", {**SORTED, "mode": mode}, ("f32", f"2,{size},2"), np.array(k))
    values = np.array([[[1, 0], [3, 0], [3, 2], [1, 2], [2, 2], [3, -1]]] * 2, np.float32)
    assert same(model, target, values)
    assert not any(name.startswith("TopK-11") for name in lowered(model, target))


ALIGN = {"pooled_h": "2", "pooled_w": "2", "sampling_ratio": "2", "spatial_scale": "1", "mode": "avg"}
UNCOUNTED = {"sampling_ratio": "0", "aligned_mode": "half_pixel"}
SORTED = {"axis": "1", "mode": "max", "sort": "value", "stable": "true"}
PILLOW = {"mode": "bicubic_pillow", "shape_calculation_mode": "sizes"}
IMAGE = ("f32", "1,3,8,8")
UNCOUNTED_AXES = "its indices may be negative, and the number of axes that they index is not known"
LACKING = [
    (
        3,
        layer("HSwish-4", {}, ("i32", "2,3")),
        "None: a composition of layers would truncate integers at every step; the operation truncates once",
    ),
    (
        8,
        layer("ROIAlign-9", {**ALIGN, **UNCOUNTED}, IMAGE, ("f32", "2,4"), ("i32", "2")),
        "sampling_ratio: the number of sampling points depends on the size of each region",
    ),
    (
        10,
        layer("Interpolate-11", PILLOW, ("u8", "1,3,8,8"), whole(4, 4), whole(2, 3)),
        "mode: Interpolate-4 has no mode bicubic_pillow",
    ),
    (
        4,
        layer("NonMaxSuppression-5", {}, ("f32", "1,6,4"), ("f32", "1,2,6"), np.array(3)),
        "None: NonMaxSuppression-4 has different outputs",
    ),
    (
        8,
        layer("MulticlassNms-9", {}, ("f32", "2,6,4"), ("f32", "2,6"), ("i32", "1")),
        "None: MulticlassNms-8 has no input roisnum",
    ),
    (
        6,
        layer("Einsum-7", {"equation": "abc,cd->abd"}, ("f32", "?,?,3"), ("f32", "3,4")),
        "equation: merges several labels of unknown size",
    ),
    *(
        (5, layer("GatherND-8", {}, ("f32", "2,3"), ("i64", shape)), f"None: {UNCOUNTED_AXES}")
        for shape in ("2,?", "...")
    ),
]


@pytest.mark.parametrize(("target", "model", "reason"), LACKING, ids=lambda given: str(given)[:20])
def test_what_an_older_version_lacks_is_refused_by_name(target: int, model: Model, reason: str) -> None:
    assert lowered(model, target) == [reason]


def test_the_second_output_of_a_proposal_is_missed_only_if_it_is_read() -> None:
    raw = "base_size=16;pre_nms_topn=12;post_nms_topn=3;nms_thresh=0.7;feat_stride=16;min_size=16;ratio=1;scale=8"
    inputs = ("f32", "1,2,4,4"), ("f32", "1,4,4,4"), ("f32", "3")
    model = layer("Proposal-4", dict(pair.split("=") for pair in raw.split(";")), *inputs)
    assert "reads output 1" in lowered(model, 3)[0]
    model.graph.remove(next(one.id for one in model.graph.layers() if one.name == "out1/result"))
    assert lowered(model, 3) == ["Proposal-1"]


def test_prior_boxes_in_the_other_order_are_gathered() -> None:
    raw = {"min_size": "4,8", "max_size": "8,16", "aspect_ratio": "2", "offset": "0.5", "variance": "0.1"}
    model = layer("PriorBox-8", {**raw, "min_max_aspect_ratios_order": "false"}, whole(2, 3), whole(32, 48))
    assert lowered(model, 7) == ["PriorBox-1", "Reshape-1", "Gather-7", "Reshape-1"]
    assert same(model, 7)
    assert lowered(layer("PriorBox-8", raw, whole(2, 3), whole(32, 48)), 7) == ["PriorBox-1"]


def test_the_number_of_classes_is_worked_out() -> None:
    raw = {"keep_top_k": "5", "nms_threshold": "0.5", "normalized": "true"}
    inputs = ("f32", "1,8"), ("f32", "1,6"), ("f32", "1,2,8")
    model = layer("DetectionOutput-8", raw, *inputs)
    assert lowered(model, 7) == ["DetectionOutput-1"]
    migrated = migrate(model, "opset7").model
    assert next(one.raw for one in migrated.graph.layers() if one.type == "DetectionOutput")["num_classes"] == "3"
    assert lowered(migrated, 8) == ["DetectionOutput-8"]
    unknown = layer("DetectionOutput-8", raw, ("f32", "1,8"), ("f32", "1,?"), ("f32", "1,2,?"))
    assert "needs the number of classes" in lowered(unknown, 7)[0]


def test_means_of_bags_are_sums_divided() -> None:
    table = np.arange(10, dtype=np.float32).reshape(5, 2)
    inputs = ("f32", "5,2"), ("i32", "?"), ("i32", "?"), np.array(4, np.int32)
    model = layer("EmbeddingBagOffsets-15", {"reduction": "mean"}, *inputs)
    assert same(model, 14, table, np.array([1, 2, 4], np.int32), np.array([0, 0, 2], np.int32))
    packed = layer("EmbeddingBagPacked-15", {"reduction": "mean"}, ("f32", "5,2"), ("i32", "?,?"))
    assert same(packed, 14, table, np.array([[1, 2], [4, 4]], np.int32))
    assert lowered(layer("EmbeddingBagOffsets-15", {"reduction": "sum"}, *inputs), 14) == ["EmbeddingBagOffsetsSum-3"]
    without = layer("EmbeddingBagOffsets-15", {"reduction": "sum"}, *inputs[:3], np.array(-1, np.int32))
    assert same(without, 14, table, np.array([1, 2, 4], np.int32), np.array([0, 0, 2], np.int32))
    (made,) = (one for one in migrate(without, "opset14").model.graph.layers() if one.type == "EmbeddingBagOffsetsSum")
    assert len(made.inputs) == 3


@pytest.mark.parametrize("shape", ["4,3", "?,?", "..."])
def test_negative_indices_are_counted_from_the_front_before_older_versions(shape: str) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    places = np.array([[-1, 0], [1, -3]])
    gathered = layer("GatherND-8", {}, ("f32", shape), places)
    assert same(gathered, 7, rows)
    update = layer("ScatterNDUpdate-15", {}, ("f32", shape), places, ("f32", "2"))
    assert same(update, 14, rows, np.array([50, 60], np.float32))
    elements = layer("ScatterElementsUpdate-12", {}, ("f32", shape), ("i32", "2,2"), ("f32", "2,2"), np.array(0))
    assert same(elements, 11, rows, np.array([[-1, 0], [1, -3]], np.int32), -rows[:2, :2])
    assert lowered(layer("GatherND-8", {}, ("f32", shape), ("i64", "2,2")), 7)[-1] == "GatherND-5"
    assert lowered(layer("GatherND-8", {}, ("f32", shape), abs(places)), 7) == ["GatherND-5"]


def test_a_slice_of_sizes_that_are_not_known_is_updated() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    model = layer("SliceScatter-15", {}, ("f32", "?,?"), ("f32", "?,?"), whole(-1, 0), whole(-9, 2), whole(-2, 1))
    assert same(model, 14, rows, -rows[:2, :2])
    assert same(model, 7, rows, -rows[:2, :2])


def test_an_interpolation_of_unknown_rank_stays_in_later_opsets() -> None:
    raw = {"axes": "2,3", "mode": "linear", "align_corners": "false"}
    assert lowered(layer("Interpolate-1", raw, ("f32", "..."), whole(4, 4)), 11) == ["Interpolate-1"]
    assert lowered(layer("Interpolate-1", raw, IMAGE, whole(4, 4)), 11) == ["Interpolate-11"]
    (back,) = lowered(migrate(layer("Interpolate-1", raw, IMAGE, whole(4, 4)), "opset11").model, 1)
    assert back == "Interpolate-1"


def test_an_interpolation_that_an_older_version_lacks_is_a_gather_or_a_product_for_each_axis() -> None:
    image = np.random.default_rng(7).normal(size=(1, 3, 8, 8)).astype(np.float32)
    smooth = layer("Interpolate-11", {**PILLOW, "pads_begin": "0,0,1,0"}, ("f32", "?,3,8,8"), whole(4, 11), whole(2, 3))
    assert lowered(smooth, 10).count("MatMul-1") == 2
    assert close(smooth, 10, image, apart=1e-6)
    raw = {"mode": "nearest", "shape_calculation_mode": "sizes", "nearest_mode": "ceil"}
    nearest = layer("Interpolate-4", raw, IMAGE, whole(3, 18), np.ones(2, np.float32), whole(2, 3))
    assert lowered(nearest, 3) == ["Gather-1", "Gather-1"]
    assert same(nearest, 3, image)


@pytest.mark.parametrize("shape", ["2,12,6", "?,12,?", "12,6"])
def test_columns_are_added_up_by_a_convolution(shape: str) -> None:
    raw = {"strides": "2,1", "dilations": "1,2", "pads_begin": "1,0", "pads_end": "0,1"}
    columns = np.arange(144, dtype=np.float32).reshape(2, 12, 6)
    data = columns if shape.count(",") == 2 else columns[0]
    model = layer("Col2Im-15", raw, ("f32", shape), whole(4, 4), whole(2, 2))
    assert lowered(model, 7) == ["Reshape-1", "ConvolutionBackpropData-1", "Reshape-1"]
    assert same(model, 7, data)
    (why,) = lowered(layer("Col2Im-15", raw, ("i32", shape), whole(4, 4), whole(2, 2)), 7)
    assert "no convolution adds elements of type i32" in why


@pytest.mark.parametrize("name", ["Asinh-4", "Acosh-4", "Atanh-4", "ErfInv-17"])
def test_inverse_functions_are_exact_near_zero_and_at_the_ends(name: str) -> None:
    sizes = [0, 1e-30, 1e-7, 1e-3, 0.124, 0.126, 0.5, 0.9999999, 1, 1.0000001, 1.5, 1e4, 1e9, 1e20, 3e38, np.inf]
    values = np.array([*sizes, *(-size for size in sizes), np.nan], np.float32)
    model = layer(name, {}, ("f32", str(values.size)))
    assert close(model, 3, values)


def test_the_octant_of_an_angle_is_that_of_signed_zeros_and_infinities() -> None:
    ends = np.array([0.0, -0.0, 1, -1, 1e-30, -1e30, np.inf, -np.inf, np.nan], np.float32)
    y, x = (array.ravel() for array in np.meshgrid(ends, ends))
    model = layer("Atan2-17", {}, ("f32", str(y.size)), ("f32", str(x.size)))
    assert close(model, 16, y, x)


@pytest.mark.parametrize("kind", ["f8e4m3", "f8e5m2"])
def test_every_half_float_is_rounded_to_f8_as_before(kind: str) -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    model = layer("FakeConvert-13", {"destination_type": kind}, ("f32", "?"), np.ones(1, np.float32))
    with np.errstate(all="ignore"):
        assert same(model, 12, halves)
        assert same(model, 12, halves * np.float32(1.0001))


def test_a_sum_along_an_axis_keeps_infinities_apart() -> None:
    rows = np.array([[1, np.inf, 2], [3, 4, 5]], np.float32)
    for raw in ({}, {"exclusive": "true"}, {"reverse": "true"}, {"exclusive": "true", "reverse": "true"}):
        assert same(layer("CumSum-3", raw, ("f32", "2,3"), np.array(-1)), 2, rows)
        assert same(layer("CumSum-3", raw, ("i64", "?,?"), np.array(0)), 2, np.arange(6).reshape(2, 3))


@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_sums_that_wrap_around_are_not_made_of_sums_that_stop_at_limits(kind: str) -> None:
    for model in (
        layer("CumSum-3", {}, (kind, "2,3"), np.array(1)),
        layer("EmbeddingBagPackedSum-3", {}, (kind, "4,3"), whole(0, 1).reshape(1, 2)),
        layer("EmbeddingSegmentsSum-3", {}, (kind, "4,3"), whole(0, 1), whole(0, 0), np.array(1)),
    ):
        reason = f"None: its sums of {kind} wrap around; those of older operations saturate at the limits of the type"
        assert lowered(model, 2) == [reason]


def test_segments_without_rows_are_filled() -> None:
    rows = np.array([[-1, -8], [2, -9], [5, 6]], np.float32)
    for mode in ("zero", "lowest"):
        model = layer("SegmentMax-16", {"fill_mode": mode}, ("f32", "?,?"), whole(1, 1, 3), np.array(5))
        assert same(model, 15, rows)
        assert same(layer("SegmentMax-16", {"fill_mode": mode}, ("f32", "3,2"), ("i64", "3")), 15, rows, whole(0, 0, 2))


RECURRENT = {"hidden_size": "2", "activations": "sigmoid,tanh", "linear_before_reset": "true"}


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_a_row_of_a_sequence_ends_where_its_length_says(direction: str) -> None:
    ways = 2 if direction == "bidirectional" else 1
    rng = np.random.default_rng(4)
    data, state, *weights = (
        rng.normal(size=size).astype(np.float32)
        for size in ((3, 4, 5), (3, ways, 2), (ways, 6, 5), (ways, 6, 2), (ways, 8))
    )
    inputs: list[Array | tuple[str, str]] = [("f32", "?,4,5"), ("f32", f"?,{ways},2"), ("i32", "?"), *weights]
    model = layer("GRUSequence-5", {**RECURRENT, "direction": direction}, *inputs)
    assert {*lowered(model, 4)} > {"GRUCell-3", "Select-1"}
    migrated = migrate(model, "opset2").model
    assert "GRUCell-3" not in types(migrated)
    assert close(model, 2, data, state, np.array([4, 0, 2], np.int32), apart=1e-6)
    long = layer("GRUSequence-5", {**RECURRENT, "direction": direction}, ("f32", "?,257,5"), *inputs[1:])
    assert "more than 256" in lowered(long, 4)[0]


@pytest.mark.parametrize(("steps", "unrolled"), [(1, True), (4, True), (5, False)])
def test_sequences_up_to_the_longest_are_unrolled(monkeypatch: pytest.MonkeyPatch, steps: int, unrolled: bool) -> None:
    monkeypatch.setattr(_recurrent_rewrites, "LONGEST", 4)
    weights = (np.zeros(size, np.float32) for size in ((1, 2, 3), (1, 2, 2), (1, 2)))
    fed = ("f32", f"1,{steps},3"), ("f32", "1,1,2"), ("i32", "1")
    model = layer("RNNSequence-5", {"hidden_size": "2", "direction": "forward"}, *fed, *weights)
    assert migrate(model, "opset4").ok == unrolled


@pytest.mark.parametrize(("group", "tables", "dilation", "beyond"), [(2, 1, 1, "true"), (1, 2, 2, "false")])
def test_a_mask_of_a_deformable_convolution(group: int, tables: int, dilation: int, beyond: str) -> None:
    lists = {"strides": "2,1", "dilations": f"{dilation},1", "pads_begin": f"{dilation},1", "pads_end": f"{dilation},1"}
    settings = {**lists, "group": str(group), "deformable_group": str(tables), "bilinear_interpolation_pad": beyond}
    rng = np.random.default_rng(5)
    sizes = (1, 4, 5, 6), (1, 18 * tables, 3, 6), (1, 9 * tables, 3, 6), (6, 4 // group, 3, 3)
    data, offsets, mask, filters = (rng.normal(size=size).astype(np.float32) for size in sizes)
    inputs: list[Array | tuple[str, str]] = [("f32", "?,4,?,?"), ("f32", f"?,{18 * tables},?,?"), filters]
    model = layer("DeformableConvolution-8", settings, *inputs, ("f32", f"?,{9 * tables},?,?"))
    assert "DeformableConvolution-1" in lowered(model, 7)
    assert close(model, 7, data, offsets, mask, apart=1e-5)


def test_zeros_beyond_the_edge_of_a_deformable_convolution_are_pads() -> None:
    raw = {"strides": "1,1", "dilations": "1,1", "bilinear_interpolation_pad": "true"}
    inputs = ("f32", "1,4,5,6"), ("f32", "1,18,5,6"), ("f32", "6,4,3,3")
    padded = layer("DeformableConvolution-8", {**raw, "pads_begin": "1,1", "pads_end": "1,1"}, *inputs)
    assert lowered(padded, 7) == ["Pad-1", "DeformableConvolution-1"]
    bare = layer("DeformableConvolution-8", {**raw, "pads_begin": "0,0", "pads_end": "2,2"}, *inputs)
    assert "only within its pads" in lowered(bare, 7)[0]


def test_a_signal_without_enough_of_a_window_is_zero() -> None:
    spectra = np.random.default_rng(6).normal(size=(1, 5, 3, 2)).astype(np.float32)
    window = np.array([0, 1, 1, 0], np.float32)
    inputs: list[Array | tuple[str, str]] = [("f32", "?,?,?,2"), window, np.array(8), np.array(8)]
    for raw in ({"center": "true"}, {"center": "false", "normalized": "true"}):
        for length in ([], [np.array(30)], [np.array(7)]):
            model = layer("ISTFT-16", {"center": "false", "normalized": "false", **raw}, *inputs, *length)
            assert not migrate(model, "opset15").refused
            assert close(model, 1, spectra, apart=1e-5)


def test_an_attention_of_as_many_rows_as_heads_is_not_made_again_of_its_layers() -> None:
    """The runtime would exchange rows and heads, as something else transposes the output."""
    builder, rng = Builder(), np.random.default_rng(3)
    arrays = {name: rng.normal(size=(1, 4, 4, 8)).astype(np.float32) for name in ("query", "key", "value")}
    found = builder.call("ScaledDotProductAttention", *(builder.parameter(name, "1,4,4,8") for name in arrays))
    builder.result(builder.call("Transpose", found, whole(0, 2, 1, 3)), "out")
    with RuntimeClient() as client:
        (values,) = client.infer_model(migrated(builder.model, 12), arrays).outputs.values()
    (wanted,) = run(builder.model, arrays).values()
    np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=1e-5)


def test_a_layer_that_cannot_run_is_refused_for_what_is_wrong_with_it() -> None:
    """Not for what would be wrong with the layers in its place."""
    wrong = layer("GroupNormalization-12", {"num_groups": "3", "epsilon": "0.1"}, ("f32", "1,4,2"), *[("f32", "3")] * 2)
    assert lowered(wrong, 8) == ["None: scale has 3 values, but the data has 4 channels"]


def test_indices_that_are_known_between_bounds_are_not_taken_for_constants() -> None:
    builder = Builder()
    rows, data = builder.parameter("rows", "2..3", "f32"), builder.parameter("data", "5", "f32")
    sizes = builder.call("ShapeOf", rows, output_type="i64")
    updates, axis = builder.constant(np.ones(1, np.float32)), builder.constant(np.array(0))
    builder.result(builder.call("ScatterElementsUpdate", data, sizes, updates, axis, reduction="sum"), "y")
    for size in (2, 3):
        assert same(builder.model, 3, np.zeros(size, np.float32), np.arange(5, dtype=np.float32))


def test_a_layer_that_nothing_feeds_stays_in_its_place_or_is_refused() -> None:
    """Another version of the same layer may be written in its place; new layers in front need the input."""
    for mode, told in (("erf", ["Gelu-2"]), ("tanh", ["None: no edge leads to input port 0"])):
        model = layer("Gelu-7", {"approximation_mode": mode}, ("f32", "2,3"))
        (gelu,) = (one for one in model.graph.layers() if one.type == "Gelu")
        model.graph.disconnect(gelu.id, 0)
        assert lowered(model, 2) == told


def test_elements_in_windows_are_counted_once_for_all_batches() -> None:
    raw = {"kernel": "2,2", "strides": "1,1", "dilations": "2,2", "pads_begin": "1,1", "pads_end": "1,1"}
    given = layer("AvgPool-16", {**raw, "exclude-pad": "true", "rounding_type": "floor"}, ("f32", "4,2,?,?"))
    sums = [one for one in migrated(given, 8).graph.ordered() if one.type == "GroupConvolution"]
    assert [one.inputs[0].dims for one in sums] == [(4, 2, -1, -1), (1, 2, -1, -1)]


@pytest.mark.parametrize("dims", ["2,48", "2,?", "?,?"])
def test_short_time_transforms_of_signals_of_any_length(dims: str) -> None:
    attributes, window = {"transpose_frames": "false"}, np.hanning(13).astype(np.float32)
    given = layer("STFT-15", attributes, ("f32", dims), window, np.array(16), np.array(5))
    signal = np.random.default_rng(0).normal(size=(2, 48)).astype(np.float32)
    assert close(given, 14, signal, apart=1e-5)
