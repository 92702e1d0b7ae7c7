"""Targets of a migration, and what they make of layers of all stamps."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import MigrationError, RuntimeFailure, UsageError
from ir_tools.execute import run
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Model, Source
from ir_tools.known_differences import as_model
from ir_tools.known_differences._model import Call, counted
from ir_tools.known_differences.releases import Seen
from ir_tools.known_differences.verdicts import Answer
from ir_tools.ops import Array, Attrs, find_op
from ir_tools.ops.definition import Fact, NewLayer, Ref, Rewrite
from ir_tools.releases.table import find_release
from ir_tools.rewrite.migration import Migration, _Migrating, migrate
from ir_tools.rewrite.target import Target, parse_target, releases_in_words
from ir_tools.runtime.client import sources
from ir_tools.runtime.release import ReleaseClient
from ir_tools.types import Dim, element_type
from ir_tools.validation import validate
from tests.runtime.releases import MEASURED, client_of, kept_client


@pytest.fixture(scope="module", params=MEASURED[1:])
def client(request: pytest.FixtureRequest) -> Iterator[ReleaseClient]:
    with client_of(request.param) as running:
        yield running


@pytest.mark.parametrize("text", ["opset0", "opset18", "8", "ir9", "opsetx", ""])
def test_unknown_targets(text: str) -> None:
    with pytest.raises(MigrationError, match="opset1 to opset17"):
        Target.of(text)
    with pytest.raises(MigrationError, match="opset1 to opset17"):
        parse_target(text)


def test_an_unknown_release() -> None:
    with pytest.raises(UsageError, match="there is no release"):
        Target.of("openvino-2024.9")


def test_the_first_and_the_last_target() -> None:
    assert (parse_target(" Opset1 "), parse_target("opset17")) == (1, 17)
    assert (Target.of(" Opset1 ").opset, Target.of("opset17").opset) == (1, 17)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("ir10", (None, None, 10)),
        ("IR11", (None, None, 11)),
        ("opset8", (8, None, None)),
        ("openvino-2021.4.2", (7, "openvino-2021.4", 10)),
        ("openvino-2024.6", (15, "openvino-2024.6", None)),
    ],
)
def test_a_target_names_opset_release_and_version(name: str, wanted: tuple[int | None, str | None, int | None]) -> None:
    target = Target.of(name)
    assert (target.opset, target.release and target.release.name, target.version) == wanted


def one_layer(type: str, version: str, inputs: tuple[Any, ...] = (), **attributes: Any) -> Model:
    """A layer that was read with this stamp."""
    builder = Builder(opset=max(int(version.removeprefix("opset")), 1))
    made = builder.call(type, builder.parameter("x", "1,3,4,4"), *inputs, name="y", **attributes)
    builder.graph.layer(made.layer).tag["version"] = version
    builder.result(made)
    return builder.model


@pytest.mark.parametrize("target", ["opset8", "openvino-2022.3"])
def test_a_layer_of_the_same_operation_gets_another_stamp(target: str) -> None:
    model = one_layer("ReLU", "opset14")
    migrated = migrate(model, target)
    (step,) = migrated.steps
    assert (step.before, step.after, step.strategy) == ("ReLU-1", "ReLU opset1", "version changed")
    assert step.proof == "opset1 and opset14 contain the same operation, ReLU-1"
    assert [found.layer.version for found in migrated.model.walk()] == ["opset1"] * 3
    assert migrate(migrated.model, target).steps == ()


@pytest.mark.parametrize("version", ["opset1", "opset8"])
def test_what_a_release_reads_stays(version: str) -> None:
    settings: dict[str, Any] = {
        "kernel": "2,2",
        "strides": "2,2",
        "pads_begin": "0,0",
        "pads_end": "0,0",
        "exclude_pad": True,
    }
    model = one_layer("AvgPool", version, **settings)
    assert migrate(model, "openvino-2022.3").steps == ()
    assert [step.after for step in migrate(model, "openvino-2021.4").steps] == ["AvgPool opset1"] * (version > "opset1")


def test_softmax_along_the_last_axis() -> None:
    migrated = migrate(one_layer("SoftMax", "opset8", axis=-1), "openvino-2021.4")
    (step,) = migrated.steps
    assert (step.after, step.proof) == ("SoftMax opset1", "axis -1 of [1,3,4,4] is axis 3")
    again = migrate(migrated.model, "opset8")
    assert [(step.after, step.strategy) for step in again.steps] == [("SoftMax opset8", "same attributes")]


def test_what_no_older_operation_means_is_refused_with_the_reason() -> None:
    model = one_layer("Unique", "opset10")
    reason = "no composition of older operations is known that finds and numbers distinct values"
    (refused,) = migrate(model, "openvino-2022.1").refused
    assert refused.reason == f"{reason}; OpenVINO 2022.3 and later run it"
    assert migrate(model, "openvino-2022.3").refused == ()
    (refused,) = migrate(model, "opset8").refused
    assert refused.reason == reason


@pytest.mark.parametrize(
    ("type", "version", "wanted"),
    [
        ("MaxPool", 8, "2022.1 and later read"),
        ("Identity", 16, "2025.0 and later read"),
        ("BGRtoNV12", 17, "2026.4 reads"),
        ("FakeConvert", 13, "2023.3 and later read"),
    ],
)
def test_which_releases_read_an_operation(type: str, version: int, wanted: str) -> None:
    op = find_op(type, f"opset{version}")
    assert op is not None
    assert releases_in_words(lambda release: release.holds(op, version)) == f"OpenVINO {wanted} it"


def test_what_a_release_reads_and_crashes_over_is_rewritten() -> None:
    settings: dict[str, Any] = dict.fromkeys(("kernel", "strides", "dilations"), "1,1")
    settings |= {"pads_begin": "0,0", "pads_end": "0,0", "exclude_pad": True}
    model = one_layer("AvgPool", "opset16", **settings)
    assert migrate(model, "openvino-2026.4").steps == ()
    next(one for one in model.graph.layers() if one.type == "AvgPool").raw.pop("dilations")
    migrated = migrate(model, "openvino-2026.4")
    assert [step.after for step in migrated.steps] == ["AvgPool opset16"]
    (made,) = (one for one in migrated.model.graph.layers() if one.type == "AvgPool")
    assert made.raw["dilations"] == "1,1"


@pytest.mark.parametrize("release", ["openvino-2024.0", "openvino-2026.4"])
def test_what_a_release_computes_no_indices_of_is_rewritten(release: str) -> None:
    """MaxPool without dilations."""
    builder = Builder(opset=14)
    settings: dict[str, Any] = dict.fromkeys(("kernel", "strides", "dilations"), "1,1")
    settings |= {"pads_begin": "0,0", "pads_end": "0,0"}
    for part in builder.outputs("MaxPool", builder.parameter("x", "1,1,4,4"), **settings):
        builder.result(part)
    next(one for one in builder.graph.layers() if one.type == "MaxPool").raw.pop("dilations")
    migrated = migrate(builder.model, release)
    assert [step.before for step in migrated.steps] == ["MaxPool-14"]
    fed = {"x": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)}
    wanted = run(migrated.model, fed)
    with client_of(release.removeprefix("openvino-")) as client:
        found = client.infer_model(migrated.model, fed).outputs
        with pytest.raises(RuntimeFailure):
            client.infer_model(builder.model, fed)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)


def test_what_a_release_reads_and_does_not_run_is_rewritten_if_something_else_means_the_same() -> None:
    settings: dict[str, Any] = {"kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0"}
    model = one_layer("AvgPool", "opset14", exclude_pad=True, **settings)
    assert [step.after for step in migrate(model, "openvino-2024.1").steps] == ["AvgPool opset8"]
    assert migrate(model, "openvino-2024.2").steps == ()
    alike = one_layer("AdaptiveMaxPool", "opset8", inputs=([2, 2],))
    assert migrate(alike, "openvino-2024.6").refused == ()


@pytest.mark.parametrize(("release", "stays"), [("2023.3", False), ("2025.2", False), ("2025.3", True)])
def test_what_gives_other_values_on_a_release_is_rewritten_if_something_else_means_the_same(
    release: str, stays: bool
) -> None:
    """Until 2025.2 a boolean mask of an attention is read the other way round."""
    builder = Builder()
    data = builder.parameter("x", "1,3,4")
    mask = builder.parameter("mask", "3,3", "boolean")
    builder.result(builder.call("ScaledDotProductAttention", data, data, data, mask, causal=False))
    migrated = migrate(builder.model, f"openvino-{release}")
    assert (migrated.steps == ()) is stays
    assert any(found.layer.type == "Select" for found in migrated.model.walk()) is not stays
    assert migrated.notes == ()
    assert migrate(migrated.model, f"openvino-{release}").steps == ()


def test_of_two_forms_that_a_release_reads_the_one_with_right_values_is_taken() -> None:
    """Gelu-2 is an approximation on 2021.2 and 2021.3."""
    model = one_layer("Gelu", "opset7", approximation_mode="ERF")
    assert [step.after for step in migrate(model, "openvino-2021.4").steps] == []
    (step,) = migrate(model, "openvino-2021.2").steps
    assert "Erf" in step.after
    assert migrate(one_layer("Gelu", "opset2"), "openvino-2021.2").steps


@pytest.mark.parametrize(("release", "steps"), [("2023.2", 0), ("2023.3", 1), ("2024.0", 0)])
@pytest.mark.parametrize("chain", [("Multiply", "Add"), ("Subtract", "Divide")])
def test_a_slice_before_a_product_and_a_sum_has_no_masks_but_those_of_its_limits(
    release: str, steps: int, chain: tuple[str, str]
) -> None:
    builder = Builder()
    x, limits = builder.parameter("x", "?,3"), np.array([[0, 0], [0, 1], [1, 1]])
    found = builder.call("StridedSlice", x, *limits, begin_mask=(1, 0), end_mask=(1, 0), shrink_axis_mask=(0, 1))
    for type in chain:
        found = builder.call(type, found, np.float32(2))
    builder.result(found)
    migrated = migrate(builder.model, f"openvino-{release}")
    assert [step.after for step in migrated.steps] == ["StridedSlice + Squeeze"] * steps


def test_what_a_release_reads_and_rejects_is_refused_if_nothing_else_means_the_same() -> None:
    builder = Builder()
    ends = [builder.parameter(name, "1") for name in ("low", "high", "new_low", "new_high")]
    builder.result(builder.call("FakeQuantize", builder.parameter("x", "2,3"), *ends, levels=16, auto_broadcast="pdpd"))
    (refused,) = migrate(builder.model, "openvino-2021.4").refused
    reason = "OpenVINO 2021.4: FakeQuantize-1 with a computed input 1 is read but not compiled"
    assert refused.reason == f"{reason}; OpenVINO 2022.1 and later run it"
    assert migrate(builder.model, "openvino-2022.1").ok


@pytest.mark.parametrize(
    ("release", "type", "kind", "sizes", "substituted"),
    [
        *(("2022.3", type, "f32", "1,3", True) for type in ("Add", "Subtract", "Less", "SquaredDifference")),
        ("2023.0", "Equal", "f32", "1,3", True),
        ("2023.1", "Equal", "f32", "1,3", False),
        ("2022.3", "Add", "f32", "2,1", False),
        ("2022.3", "Add", "f32", "2,3", False),
        *(("2023.1", type, "f32", "2,1", True) for type in ("Add", "Power", "LessEqual")),
        ("2023.1", "Subtract", "f32", "2,1", False),
        ("2023.1", "Subtract", "u8", "2,1", True),
        ("2023.1", "Add", "i32", "2,1", False),
        ("2023.2", "Add", "f32", "2,1", False),
        ("2022.3", "Subtract", "u8", "2,3", True),
    ],
)
def test_dimensions_of_1_are_broadcast_as_in_numpy_for_releases_that_do_not_run_pdpd(
    release: str, type: str, kind: str, sizes: str, substituted: bool
) -> None:
    builder = Builder()
    inputs = (builder.parameter(name, shape, kind) for name, shape in (("x", "2,3"), ("y", sizes)))
    builder.result(builder.call(type, *inputs, auto_broadcast="pdpd"))
    migrated = migrate(builder.model, f"openvino-{release}")
    assert migrated.ok
    assert len(migrated.steps) == substituted
    modes = [layer.raw["auto_broadcast"] for layer in migrated.model.graph.layers() if layer.type == type]
    assert modes == ["numpy" if substituted else "pdpd"]


@pytest.mark.parametrize(
    ("sizes", "axes", "after"),
    [
        ("5,1", [0, 1], ["Squeeze opset1"]),
        ("5,1", [-2], ["Reshape opset1"]),
        ("", [0], ["Convert opset1"]),
        ("1,1", [0, 1], []),
        ("?,1", [0, 1], []),
    ],
)
def test_a_squeeze_names_axes_of_one_element_alone_for_releases_that_refuse_others(
    sizes: str, axes: list[int], after: list[str]
) -> None:
    builder = Builder(opset=8)
    builder.result(builder.call("Squeeze", builder.parameter("x", sizes), np.array(axes)))
    migrated = migrate(builder.model, "openvino-2022.1")
    assert migrated.refused == ()
    assert [step.after for step in migrated.steps] == after


@pytest.mark.parametrize(("sizes", "after"), [("2,3", ["Reshape"]), ("1,3", ["Squeeze"])])
def test_a_squeeze_without_axes_names_them_if_there_are_any(sizes: str, after: list[str]) -> None:
    builder = Builder(opset=8)
    builder.result(builder.call("Squeeze", builder.parameter("x", sizes)))
    migrated = migrate(builder.model, "openvino-2021.3")
    assert migrated.refused == ()
    assert [step.after.split()[0] for step in migrated.steps] == after


def test_axes_that_are_not_integers_leave_reductions_in_a_row_as_they_are() -> None:
    builder = Builder(opset=8)
    first = builder.call("ReduceSum", builder.parameter("x", "2,3,4"), np.array([-1]), keep_dims=False)
    builder.result(builder.call("ReduceSum", first, np.array([-1]), keep_dims=False))
    text = render(builder.model).replace(b'element_type="i64"', b'element_type="f64"')
    weights = b"".join(builder.model.weights.tail())
    wrong = read(text, weights.replace(np.array(-1).tobytes(), np.array(np.nan).tobytes()))
    assert [found.code for found in validate(wrong) if found.severity == "error"]
    assert migrate(wrong, "openvino-2023.3").steps == ()


@pytest.mark.parametrize(("release", "steps"), [("2022.1", 0), ("2022.2", 1), ("2025.4", 1), ("2026.0", 0)])
def test_a_reduction_of_what_one_of_its_type_gives_is_kept_apart(release: str, steps: int) -> None:
    builder = Builder(opset=8)
    first = builder.call("ReduceMean", builder.parameter("x", "2,3,4"), np.array([-1]), keep_dims=False)
    builder.result(builder.call("ReduceMean", first, np.array([-1]), keep_dims=False, name="y"))
    migrated = migrate(builder.model, f"openvino-{release}")
    assert [step.path for step in migrated.steps] == ["y"] * steps
    fed = {"x": np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)}
    (found,) = run(migrated.model, fed).values()
    np.testing.assert_allclose(found, fed["x"].mean((1, 2)), atol=1e-6)


@pytest.mark.parametrize(
    ("release", "type", "attributes", "wanted"),
    [
        ("2022.1", "ConvertLike", {}, "Convert"),
        ("2021.4", "TopK", {"axis": 1, "mode": "max", "sort": "none"}, "TopK"),
        ("2022.1", "NonMaxSuppression", {}, "NonMaxSuppression"),
        ("2024.6", "AdaptiveMaxPool", {}, "AdaptiveMaxPool"),
    ],
)
def test_what_a_release_does_not_run_rightly_is_substituted(
    release: str, type: str, attributes: dict[str, Any], wanted: str
) -> None:
    inputs: dict[str, tuple[Any, ...]] = {
        "ConvertLike": (np.zeros(1, np.int32),),
        "TopK": (np.array(2),),
        "AdaptiveMaxPool": (np.array([2, 3]),),
    }
    builder = Builder(opset={"TopK": 3, "NonMaxSuppression": 4}.get(type, 8))
    data = builder.parameter("x", "1,6,4" if type == "NonMaxSuppression" else "1,3,8,8")
    if type == "NonMaxSuppression":
        inputs[type] = (builder.parameter("scores", "1,2,6"), np.array(3))
    made = builder.call(type, data, *inputs[type], name="y", **attributes)
    for number in range(len(builder.graph.layer(made.layer).outputs)):
        builder.result(Source(made.layer, builder.graph.layer(made.layer).outputs[number].id), f"y{number}")
    migrated = migrate(builder.model, f"openvino-{release}")
    assert migrated.refused == ()
    assert any(wanted in step.after for step in migrated.steps)
    assert migrate(migrated.model, f"openvino-{release}").steps == ()


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    ("kind", "release", "apart"),
    [("f32", "2022.2", True), ("f32", "2022.3", False), ("i32", "2022.3", True), ("i32", "2026.4", True)],
)
def test_what_is_subtracted_from_something_is_scaled_by_minus_one(
    kind: str, release: str, kept: bool, apart: bool
) -> None:
    builder = Builder()
    total = builder.call("ReduceSum", builder.parameter("x", "5,2,4", kind), np.array([2]), keep_dims=kept)
    builder.result(builder.call("Subtract", builder.parameter("y", "1", kind), total))
    migrated = migrate(builder.model, f"openvino-{release}")
    assert [step.after for step in migrated.steps] == ["Maximum + ReduceSum + Maximum"] * apart


def test_layers_of_a_rewrite_are_migrated_for_what_reads_them_in_the_model() -> None:
    builder = Builder(opset=12)
    given = (
        builder.parameter("x", "5,2"),
        builder.parameter("places", "5,2", "i64"),
        builder.parameter("updates", "5,2"),
    )
    builder.result(builder.call("ScatterElementsUpdate", *given, np.array(0), reduction="mean"))
    first, second = migrate(builder.model, "openvino-2022.2").steps
    assert first.after.endswith("Convert + ReduceSum + Add + Divide")
    assert second.after == "Maximum + ReduceSum + Maximum"


def test_layers_of_a_rewrite_that_nothing_reads_are_left_out() -> None:
    builder = Builder()
    boxes, scores = builder.parameter("boxes", "1,6,4"), builder.parameter("scores", "1,2,6")
    builder.result(builder.call("Abs", builder.call("NonMaxSuppression", boxes, scores, np.array(3))))
    made = migrate(builder.model, "openvino-2022.3").model
    assert [layer.type for layer in made.graph.layers()].count("StridedSlice") == 1
    assert not validate(made)


def test_what_a_rewrite_makes_is_judged_in_turn() -> None:
    """2022.1 reads the DFT that a real one becomes, and does not compile it for unknown sizes."""
    builder = Builder(opset=9)
    builder.result(builder.call("RDFT", builder.parameter("x", "?,?"), np.array([1])))
    refused = migrate(builder.model, "openvino-2022.1").refused
    reason = "OpenVINO 2022.1: DFT-7 with an unknown size along axis 0 is read but not compiled"
    assert f"{reason}; OpenVINO 2025.2 and later run it" in {one.reason for one in refused}
    assert migrate(builder.model, "openvino-2025.2").ok


def test_what_always_gives_other_values_on_a_release_is_refused() -> None:
    builder = Builder()
    builder.result(builder.call("Exp", builder.parameter("x", "2,3", "u8")))
    (refused,) = migrate(builder.model, "openvino-2021.4").refused
    assert refused.reason.startswith("OpenVINO 2021.4: Integers of 8 bits, 16 bits and u64")
    assert migrate(builder.model, "openvino-2022.1").ok


def test_interpolation_of_f64_is_made_of_other_layers_where_only_a_version_without_it_is_read() -> None:
    builder = Builder(opset=11)
    data = builder.parameter("x", "1,1,4,4", "f64")
    sizes, axes = np.array([2, 2]), np.array([2, 3])
    made = builder.call("Interpolate", data, sizes, axes, mode="nearest", shape_calculation_mode="sizes")
    builder.result(made)
    assert [step.after for step in migrate(builder.model, "openvino-2022.1").steps] == ["Gather"]


def scaled_image(*, recorded: bool) -> Model:
    """An image that is enlarged by factors in f16, as compressed models have them; `recorded`: with the sizes of it."""
    builder = Builder(opset=11)
    factors = builder.call("Convert", np.array([2, 3], np.float16), destination_type="f32")
    setting = {"mode": "nearest", "shape_calculation_mode": "scales"}
    made = builder.call("Interpolate", builder.parameter("x", "1,1,2,2"), factors, np.array([2, 3]), **setting)
    builder.result(builder.call("ReLU", made))
    if not recorded:
        for layer in builder.graph.layers():
            for port in (*layer.inputs, *layer.outputs) if layer.type in {"Interpolate", "ReLU", "Result"} else ():
                port.dims = (1, 1, -1, -1) if len(port.dims) == 4 else port.dims
    return builder.model


@pytest.mark.parametrize("recorded", [True, False])
def test_sizes_that_constant_factors_decide_are_known_to_a_release_without_dynamic_shapes(recorded: bool) -> None:
    migrated = migrate(scaled_image(recorded=recorded), "openvino-2021.4")
    assert migrated.refused == ()
    assert [step.after for step in migrated.steps] == ["Interpolate opset4"]
    assert migrated.model.outputs[0].port.dims == (1, 1, 4, 6)


def test_topk_without_order_is_given_one_by_value_on_2021() -> None:
    migrated = migrate(one_layer("TopK", "opset3", (2,), axis=1, mode="max", sort="none"), "openvino-2021.4")
    (top,) = (found.layer for found in migrated.model.walk() if found.layer.type == "TopK")
    assert top.raw["sort"] == "value"


@pytest.mark.parametrize("before", ["", "Add"])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("kind", ["u8", "i8"])
def test_quotients_of_bytes_that_a_release_rounds_to_the_nearest_integer(
    kind: str, constant: bool, before: str
) -> None:
    dtype = element_type(kind).dtype
    assert dtype is not None
    builder = Builder()
    data = builder.parameter("x", "3", kind)
    if before:
        data = builder.call(before, data, np.array(1, dtype))
    divisor = builder.constant(np.array(3, dtype)) if constant else builder.parameter("d", "1", kind)
    builder.result(builder.call("Divide", data, divisor), "y")
    assert migrate(builder.model, "openvino-2023.1").steps == ()
    migrated = migrate(builder.model, "openvino-2022.1")
    assert [step.after for step in migrated.steps] == ["Convert + Divide + Convert"]
    fed = {"x": np.array([14, 11, 5], dtype)} | ({} if constant else {"d": np.array([3], dtype)})
    (wanted,) = run(builder.model, fed).values()
    (found,) = kept_client("2022.1").infer_model(migrated.model, fed).outputs.values()
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("release", ["2021.4", "2022.1"])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("floors", [True, False])
@pytest.mark.parametrize(
    ("kind", "before"), [("i32", "Add"), ("i64", "Subtract"), ("i32", "Abs"), ("i16", "Add"), ("u16", "Multiply")]
)
def test_quotients_that_a_release_rounds_because_of_the_layer_before(
    kind: str, before: str, floors: bool, constant: bool, release: str
) -> None:
    dtype = element_type(kind).dtype
    assert dtype is not None
    builder = Builder()
    data = builder.parameter("x", "4", kind)
    data = builder.call(before, data, *([] if before == "Abs" else [np.array(2, dtype)]))
    divisor = builder.constant(np.array(3, dtype)) if constant else builder.parameter("d", "1", kind)
    builder.result(builder.call("Divide", data, divisor, m_pythondiv=floors), "y")
    assert migrate(builder.model, "openvino-2022.3").steps == ()
    migrated = migrate(builder.model, f"openvino-{release}")
    fed = {"x": np.array([3, 4, 7, 8], dtype)} | ({} if constant else {"d": np.array([3], dtype)})
    (wanted,) = run(builder.model, fed).values()
    (found,) = kept_client(release).infer_model(migrated.model, fed).outputs.values()
    assert found.tolist() == wanted.tolist()
    assert any(step.strategy == "remainder subtracted first" for step in migrated.steps)
    assert not any("rounded to the nearest integer" in note for note in migrated.notes)
    assert migrate(migrated.model, f"openvino-{release}").steps == ()


@pytest.mark.parametrize(("kind", "before"), [("u64", "Add"), ("i32", "")])
def test_quotients_that_are_rounded_and_cannot_be_computed_otherwise_are_noted(kind: str, before: str) -> None:
    dtype = element_type(kind).dtype
    assert dtype is not None
    builder = Builder()
    data = builder.parameter("x", "3", kind)
    data = builder.call(before, data, np.array(1, dtype)) if before else data
    builder.result(builder.call("Divide", data, np.array(2, dtype)), "y")
    migrated = migrate(builder.model, "openvino-2022.1")
    assert migrated.steps == ()
    assert any("rounded to the nearest integer" in note for note in migrated.notes) is bool(before)


@pytest.mark.parametrize(
    ("axes", "sizes", "end", "opset"),
    [
        ((1, 2), (7, 3), 2, 4),
        ((2, 1), (7, 3), 0, 11),
        ((0,), (5,), 0, 4),
        ((0,), (5,), 2, 4),
        ((1, 2, 3), (3, 7, 2), 2, 4),
    ],
)
@pytest.mark.parametrize("mode", ["linear_onnx", "nearest", "cubic"])
def test_batch_and_channels_that_a_release_does_not_resize(
    mode: str, axes: tuple[int, ...], sizes: tuple[int, ...], end: int, opset: int
) -> None:
    builder = Builder(opset=opset)
    data = builder.parameter("x", "2,4,5,3")
    amounts = [np.array(sizes)] if opset == 11 else [np.array(sizes), np.ones(len(axes), np.float32)]
    attributes: dict[str, Any] = {"mode": mode, "shape_calculation_mode": "sizes", "pads_end": [0, 0, end, 0]}
    builder.result(builder.call("Interpolate", data, *amounts, np.array(axes), **attributes), "y")
    migrated = migrate(builder.model, "openvino-2021.4")
    assert migrated.refused == ()
    assert {"resized axes last", "each axis resized separately"} & {step.strategy for step in migrated.steps}
    fed = {"x": np.random.default_rng(5).normal(size=(2, 4, 5, 3)).astype(np.float32)}
    (wanted,) = run(builder.model, fed).values()
    (found,) = kept_client("2021.4").infer_model(migrated.model, fed).outputs.values()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("release", "dims"), [("2021.4", "2,4,1"), ("2022.1", "?,4,1"), ("2022.2", "?,1,4,1")])
def test_axes_of_one_element_are_left_out_where_a_release_reflects_none(release: str, dims: str) -> None:
    builder = Builder()
    data = builder.parameter("x", dims)
    pads = [4 if size == "4" else 0 for size in dims.split(",")]
    before, after = np.minimum(pads, 3), np.minimum(pads, 1)
    builder.result(builder.call("Pad", data, before, after, pad_mode="reflect"), "y")
    assert all(step.after != "Squeeze + Pad + Unsqueeze" for step in migrate(builder.model, "openvino-2022.3").steps)
    migrated = migrate(builder.model, f"openvino-{release}")
    fed = {"x": np.arange(8, dtype=np.float32).reshape([*map(int, dims.replace("?", "2").split(","))])}
    (found,) = kept_client(release).infer_model(migrated.model, fed).outputs.values()
    np.testing.assert_array_equal(found, np.pad(fed["x"], [*zip(before, after, strict=True)], mode="reflect"))


def migrated_on(builder: Builder, release: str, fed: Mapping[str, Array]) -> tuple[Migration, Array]:
    """The model migrated for a release, and its only output there."""
    migrated = migrate(builder.model, f"openvino-{release}")
    assert migrated.refused == ()
    (found,) = kept_client(release).infer_model(migrated.model, fed).outputs.values()
    return migrated, found


@pytest.mark.parametrize(
    ("release", "dims"), [("2021.4", "2,7"), ("2022.1", "2,7"), ("2022.3", "2,7"), ("2022.1", "?,7"), ("2022.1", "?,?")]
)
def test_chunks_whose_size_a_remainder_decides(release: str, dims: str) -> None:
    """As torch.chunk is converted: the first part is larger by one if there is a rest; the axis is one constant."""
    builder = Builder(opset=8)
    data, axis = builder.parameter("x", dims), builder.constant(np.array(1))
    size = builder.call("Gather", builder.call("ShapeOf", data, output_type="i64"), axis, np.array(0))
    rest = builder.call("Greater", builder.call("Mod", size, np.array(2)), np.array([0]))
    half = builder.call("Divide", size, np.array(2))
    first = builder.call("Add", half, builder.call("Convert", rest, destination_type="i64"))
    parts = builder.outputs("VariadicSplit", data, axis, builder.call("Concat", first, np.array([-1]), axis=0))
    builder.result(builder.call("ReduceSum", parts[0], np.array(1)), "y")
    fed = {"x": np.arange(14, dtype=np.float32).reshape(2, 7)}
    migrated, found = migrated_on(builder, release, fed)
    assert found.ravel().tolist() == fed["x"][:, :4].sum(1).tolist()
    wanted = {"2,7": "FloorMod", "?,7": "one slice per part", "?,?": "axis as a constant of its own"}
    assert wanted[dims] in {step.strategy for step in migrated.steps}
    assert "FloorMod" not in {step.strategy for step in migrate(builder.model, "openvino-2023.0").steps}


def test_a_place_whose_remainder_a_size_decides() -> None:
    """As index_put of torch is converted: places are rows of a matrix."""
    builder = Builder(opset=8)
    data = builder.parameter("x", "7")
    size = builder.call("Unsqueeze", builder.call("ShapeOf", data, output_type="i64"), np.array(1))
    place = builder.call("Mod", size, np.array([[4]]))
    builder.result(builder.call("ScatterNDUpdate", data, place, np.array([9], np.float32)), "y")
    migrated, found = migrated_on(builder, "2021.4", {"x": np.zeros(7, np.float32)})
    assert found.tolist() == [0, 0, 0, 9, 0, 0, 0]
    assert "FloorMod" in {step.strategy for step in migrated.steps}


@pytest.mark.parametrize("release", ["2021.4", "2022.2", "2022.3"])
@pytest.mark.parametrize("type", ["ScatterUpdate", "ScatterNDUpdate"])
def test_slices_and_updates_without_elements_are_not_computed(release: str, type: str) -> None:
    """Before 2022.3, elements of the data of the slice would be in the place of the first ones of the other tensor."""
    builder = Builder(opset=4)
    data = builder.parameter("x", "6")
    part = builder.call("StridedSlice", data, *(np.array([one]) for one in (3, 3, 1)), begin_mask=(0,), end_mask=(0,))
    updated = builder.call("Exp", data)
    if type == "ScatterUpdate":
        builder.result(builder.call(type, updated, np.zeros(0, np.int64), part, np.array(0)), "y")
    else:
        builder.result(builder.call(type, updated, np.zeros((0, 1), np.int64), part), "y")
    fed = {"x": np.arange(6, dtype=np.float32)}
    migrated, found = migrated_on(builder, release, fed)
    strategy = "a constant without elements" if type == "ScatterUpdate" else "the data"
    assert (strategy in {step.strategy for step in migrated.steps}) is (release != "2022.3")
    np.testing.assert_allclose(found, np.exp(fed["x"]), rtol=1e-5)


@pytest.mark.parametrize("release", ["2021.4", "2022.1"])
def test_quotients_of_sizes_are_constants_for_2021(release: str) -> None:
    """As the size of a head, of the number of all elements and that of heads, which another layer decides."""
    builder = Builder(opset=8)
    data = builder.parameter("x", "2,12")
    size = builder.call("Gather", builder.call("ShapeOf", data, output_type="i64"), np.array(1), np.array(0))
    heads = builder.call("ShapeOf", builder.call("Unsqueeze", size, np.array([0, 1])), output_type="i64")
    head = builder.call("Divide", size, builder.call("ReduceSum", heads, np.array([0])))
    shape = builder.call("Concat", np.array([-1]), builder.call("Unsqueeze", head, np.array([0])), axis=0)
    builder.result(builder.call("Reshape", data, shape, special_zero=False), "y")
    fed = {"x": np.arange(24, dtype=np.float32).reshape(2, 12)}
    migrated, found = migrated_on(builder, release, fed)
    assert found.tolist() == fed["x"].reshape(-1, 6).tolist()
    made = [step for step in migrated.steps if step.before == "Divide-1"]
    assert [step.strategy for step in made] == (["a constant"] if release == "2021.4" else [])


@pytest.mark.parametrize("type", ["Split", "VariadicSplit"])
def test_later_parts_that_a_release_does_not_combine_with_unknown_sizes_are_slices(type: str) -> None:
    builder = Builder(opset=8)
    sizes = builder.call("ShapeOf", builder.parameter("x", "?,?"), output_type="i64")
    if type == "Split":
        parts = builder.outputs("Split", sizes, np.array(0), num_splits=2)
    else:
        parts = builder.outputs("VariadicSplit", sizes, np.array(0), np.array([1, -1]))
    builder.result(builder.call("Multiply", builder.parameter("n", "?", "i64"), parts[1]), "y")
    assert migrate(builder.model, "openvino-2023.0").steps == ()
    fed = {"x": np.zeros((2, 3), np.float32), "n": np.array([5, 7])}
    migrated, found = migrated_on(builder, "2022.3", fed)
    assert [step.strategy for step in migrated.steps] == ["one slice per part"]
    assert found.tolist() == [15, 21]


def test_an_empty_part_that_2021_does_not_concatenate_is_left_out() -> None:
    """A rotary embedding of all columns puts those that it leaves as they are beside, which are none."""
    builder = Builder(opset=8)
    data = builder.parameter("x", "2,3,4")
    rest = builder.call("Slice", data, np.array([4]), np.array([9]), np.array([1]), np.array([2]))
    builder.result(builder.call("Concat", builder.call("Negative", data), rest, axis=-1), "y")
    fed = {"x": np.arange(24, dtype=np.float32).reshape(2, 3, 4)}
    migrated, found = migrated_on(builder, "2021.4", fed)
    assert "empty parts left out" in {step.strategy for step in migrated.steps}
    np.testing.assert_array_equal(found, -fed["x"])


def test_ends_of_a_slice_that_depend_on_its_own_constants() -> None:
    """As halves of a dimension are taken in ONNX: its number is one constant for the size and for the slice."""
    builder = Builder(opset=8)
    data, axis = builder.parameter("x", "?,6"), builder.constant(np.array([1]))
    size = builder.call("Gather", builder.call("ShapeOf", data, output_type="i64"), axis, np.array(0))
    end = builder.call("Divide", builder.call("Add", size, np.array([1])), np.array([2]))
    builder.result(builder.call("Slice", data, np.array([0]), end, np.array([1]), axis), "y")
    fed = {"x": np.arange(12, dtype=np.float32).reshape(2, 6)}
    assert migrate(builder.model, "openvino-2022.3").steps == ()
    migrated, found = migrated_on(builder, "2022.1", fed)
    assert "limits as constants of its own" in {step.strategy for step in migrated.steps}
    np.testing.assert_array_equal(found, fed["x"][:, :3])


@pytest.mark.parametrize("dims", ["?", "?,3"])
def test_parts_of_data_of_unknown_size_are_combined_as_they_are(dims: str) -> None:
    builder = Builder(opset=8)
    parts = builder.outputs("VariadicSplit", builder.parameter("x", dims), np.array(0), np.array([1, -1]))
    builder.result(builder.call("Multiply", builder.parameter("n", dims), parts[1]), "y")
    fed = {name: np.ones([4, 3][: len(dims.split(","))], np.float32) for name in ("x", "n")}
    fed["n"] = fed["n"][:1]
    migrated, found = migrated_on(builder, "2022.3", fed)
    assert migrated.steps == ()
    assert found.tolist() == fed["x"][1:].tolist()


def test_of_two_equal_slices_the_one_that_shares_its_constants_is_rewritten() -> None:
    builder = Builder(opset=8)
    data, axis = builder.parameter("x", "?,6"), builder.constant(np.array([1]))
    for name, own in (("alone", builder.constant(np.array([1]))), ("shared", axis)):
        size = builder.call("Gather", builder.call("ShapeOf", data, output_type="i64"), axis, np.array(0))
        end = builder.call("Subtract", size, np.array([2]))
        builder.result(builder.call("Slice", data, np.array([0]), end, np.array([1]), own, name=name), f"y_{name}")
    assert [step.path for step in migrate(builder.model, "openvino-2022.1").steps] == ["shared"]


@pytest.mark.parametrize("opset", [1, 8])
def test_a_constant_that_a_release_loses_in_front_of_others_is_kept(opset: int) -> None:
    """A vision transformer puts a constant in front of what it computes of an image."""
    builder = Builder(opset=opset)
    token = np.array([[[7.0, 8, 9]]], np.float32)
    builder.result(builder.call("Concat", token, builder.parameter("x", "1,2,3"), axis=1), "y")
    assert migrate(builder.model, "openvino-2022.1").steps == ()
    fed = {"x": np.arange(6, dtype=np.float32).reshape(1, 2, 3)}
    migrated, found = migrated_on(builder, "2021.4", fed)
    assert "copies of the parts, batch axis left out" in {step.strategy for step in migrated.steps}
    np.testing.assert_array_equal(found, np.concatenate([token, fed["x"]], 1))


def test_sizes_that_2021_computes_from_constants() -> None:
    """An Unsqueeze by one number, and an Interpolate of a constant by sizes and axes of i32."""
    builder = Builder(opset=4)
    data, table = builder.parameter("x", "1,1,6,6"), np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    sizes = builder.call("ShapeOf", data, output_type="i32")
    high, wide = (
        builder.call("Unsqueeze", builder.call("Gather", sizes, np.array(at), np.array(0)), np.array(0))
        for at in (2, 3)
    )
    resized = builder.call(
        "Interpolate",
        table,
        builder.call("Concat", high, wide, axis=0),
        np.ones(2, np.float32),
        np.array([2, 3], np.int32),
        mode="nearest",
        nearest_mode="floor",
        shape_calculation_mode="sizes",
        coordinate_transformation_mode="asymmetric",
    )
    builder.result(builder.call("Add", data, resized), "y")
    fed = {"x": np.ones((1, 1, 6, 6), np.float32)}
    for release in ("2021.3", "2021.4"):
        _, found = migrated_on(builder, release, fed)
        np.testing.assert_array_equal(found, 1 + table.repeat(2, 2).repeat(2, 3))


@pytest.mark.parametrize("kind", ["i64", "u8", "f32"])
def test_numbers_become_booleans_in_ir_v10_by_a_comparison(kind: str) -> None:
    builder = Builder(opset=6)
    is_set = builder.call("Convert", builder.parameter("x", "4", kind), destination_type="boolean")
    builder.result(builder.call("Convert", is_set, destination_type="i32"), "y")
    dtype = element_type(kind).dtype
    migrated, found = migrated_on(builder, "2021.4", {"x": np.array([0, 1, 2, 0], dtype)})
    assert "NotEqual opset1" in {step.after for step in migrated.steps}
    assert found.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(("rank", "strategy"), [(5, None), (6, "axes merged")])
def test_a_select_of_as_many_dimensions_as_all_releases_run_is_not_rewritten(rank: int, strategy: str | None) -> None:
    op = find_op("Select", "opset1")
    assert op is not None
    assert op.substitute is not None
    facts = [Fact(element_type(kind), (Dim(2, 2),) * rank) for kind in ("boolean", "f32", "f32")]
    found = op.substitute(op.read({}, []) or Attrs({}), facts, 15)
    assert (found.strategy if isinstance(found, Rewrite) else None) == strategy


def test_what_2021_2_needs_written_is_written() -> None:
    """The axes of a Squeeze, all masks of a StridedSlice; it does not compute a ConvertLike of a constant."""
    builder = Builder(opset=8)
    data = builder.parameter("x", "2,1,3")
    sliced = builder.call("StridedSlice", data, np.array([1]), np.array([2]), begin_mask=[0], end_mask=[0])
    squeezed = builder.call("Squeeze", sliced)
    builder.result(builder.call("Add", builder.call("ConvertLike", np.array(2), squeezed), squeezed), "y")
    assert migrate(builder.model, "openvino-2022.1").steps == ()
    migrated = migrate(builder.model, "openvino-2021.2")
    assert migrated.refused == ()
    fed = {"x": np.arange(6, dtype=np.float32).reshape(2, 1, 3)}
    (found,) = kept_client("2021.2").infer_model(migrated.model, fed).outputs.values()
    assert found.ravel().tolist() == [5, 6, 7]


@pytest.mark.parametrize("flag", ["true", "false"])
def test_flags_of_mvn_1_are_written_as_numbers(flag: str) -> None:
    model, _ = as_model(Call("MVN-1", (counted(1, 2, 2, 3),), {"across_channels": flag, "eps": "0.1"}))
    model.version = 10
    migrated = migrate(model, "openvino-2021.2")
    assert [(step.after, step.strategy) for step in migrated.steps] == [("MVN", "flags as numbers")]
    fed = {"data": counted(1, 2, 2, 3)}
    (found,) = kept_client("2021.2").infer_model(migrated.model, fed).outputs.values()
    (wanted,) = run(model, fed).values()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("release", ["2021.4", "2022.3"])
def test_a_select_of_many_dimensions_over_which_a_release_ends_is_computed_in_fewer(release: str) -> None:
    builder = Builder()
    data = builder.parameter("x", "2,1,3,1,2,2")
    builder.result(builder.call("Select", builder.call("Greater", data, np.float32(0)), data, np.float32(9)), "y")
    assert migrate(builder.model, "openvino-2023.0").steps == ()
    migrated = migrate(builder.model, f"openvino-{release}")
    assert migrated.steps[0].after == "Reshape + Select + Reshape"
    fed = {"x": np.arange(-12, 12, dtype=np.float32).reshape(2, 1, 3, 1, 2, 2)}
    (found,) = kept_client(release).infer_model(migrated.model, fed).outputs.values()
    np.testing.assert_array_equal(found, np.where(fed["x"] > 0, fed["x"], 9))


def test_a_layer_that_a_release_lacks_is_refused_for_that_reason() -> None:
    """Not because a substitute for releases that have it would change nothing."""
    builder = Builder(opset=13)
    builder.result(builder.call("BitwiseXor", builder.parameter("x", "3", "i32"), builder.parameter("y", "3", "i32")))
    (refused,) = migrate(builder.model, "openvino-2022.1").refused
    assert "integers of more than 16 bits" in refused.reason


@pytest.mark.parametrize("sort", ["none", "value", "index"])
@pytest.mark.parametrize("version", [1, 3])
def test_one_element_of_the_last_axis_is_found_along_another_where_a_release_never_ends(
    version: int, sort: str
) -> None:
    builder = Builder(opset=version)
    data = builder.parameter("x", "?,3")
    found = builder.outputs("TopK", data, np.int64(1), axis=-1, mode="max", sort=sort)
    for number, source in enumerate(found):
        builder.result(source, f"y{number}")
    assert migrate(builder.model, "openvino-2022.3").steps == ()
    migrated = migrate(builder.model, "openvino-2022.1")
    assert [step.after for step in migrated.steps] == ["Unsqueeze + TopK + Squeeze"]
    fed = {"x": np.array([[1, 5, 2], [9, 3, 4]], np.float32)}
    outputs = kept_client("2022.1").infer_model(migrated.model, fed).outputs
    assert [outputs[name].reshape(-1).tolist() for name in ("y0", "y1")] == [[5, 9], [1, 0]]


def test_a_step_that_needs_dynamic_shapes_is_refused_for_a_release_without() -> None:
    builder = Builder()
    data, update = builder.parameter("x", "4,3"), builder.parameter("u", "2,3")
    start, one = builder.parameter("start", "1", "i64"), np.ones(1, np.int64)
    builder.result(builder.call("SliceScatter", data, update, start, one * 3, one, one * 0))
    (refused,) = migrate(builder.model, "openvino-2021.4").refused
    assert "they need dynamic shapes, which OpenVINO 2021.4 does not support" in refused.reason


@pytest.mark.parametrize(
    ("type", "last_wrong", "first_right", "written"),
    [
        ("ShuffleChannels", "2021.4", "2022.1", {"axis": "1", "group": "1"}),
        ("SoftMax", "2021.2", "2021.3", {"axis": "0"}),
    ],
)
def test_absent_attributes_that_a_release_does_not_read_as_absent_are_written_out(
    type: str, last_wrong: str, first_right: str, written: dict[str, str]
) -> None:
    model = one_layer(type, "opset1")
    made = next(layer for layer in model.graph.layers() if layer.type == type)
    made.raw.clear()
    assert [step for step in migrate(model, f"openvino-{first_right}").steps if step.path == "y"] == []
    migrated = migrate(model, f"openvino-{last_wrong}")
    (step,) = (step for step in migrated.steps if step.path == "y")
    assert (step.after, step.strategy) == (f"{type} opset1", "missing attributes written explicitly")
    assert migrated.model.graph.layer(made.id).raw == written
    assert migrate(migrated.model, f"openvino-{last_wrong}").steps == ()


@pytest.mark.parametrize(("release", "written"), [("2026.1", "1.7976931348623157e+308"), ("2026.2", "inf")])
def test_infinite_attributes_are_written_as_finite_ones_where_they_are_not_read(release: str, written: str) -> None:
    builder = Builder()
    builder.result(builder.call("Clamp", builder.parameter("x", "2"), min="1", max="inf", name="y"))
    migrated = migrate(builder.model, f"openvino-{release}")
    (layer,) = (layer for layer in migrated.model.graph.layers() if layer.type == "Clamp")
    assert (float(layer.raw["min"]), layer.raw["max"]) == (1, written)


@pytest.mark.parametrize(("release", "steps"), [("2021.4", 1), ("2023.2", 1), ("2023.3", 0)])
def test_what_ends_the_process_of_a_release_is_rewritten(release: str, steps: int) -> None:
    builder = Builder()
    builder.result(builder.call("Einsum", builder.parameter("x", "2,3"), equation="ab->ab", name="y"), "y")
    migrated = migrate(builder.model, f"openvino-{release}")
    assert [step.after for step in migrated.steps if step.before == "Einsum-7"] == ["Transpose opset1"] * steps


def test_sizes_that_are_known_count_as_constants() -> None:
    """2021 reads no Reshape to computed sizes, but works out those of fixed shapes first."""
    builder = Builder()
    x = builder.parameter("x", "2,3")
    sizes = builder.call("ShapeOf", builder.parameter("like", "3,2"), output_type="i64", name="sizes")
    builder.result(builder.call("Reshape", x, sizes, special_zero=False))
    assert migrate(builder.model, "openvino-2021.4").ok
    builder.result(builder.call("Reshape", x, builder.parameter("any", "2", "i64"), special_zero=False))
    refused = migrate(builder.model, "openvino-2021.4").refused
    assert [one.before for one in refused] == ["Reshape-1"]


def test_tensors_without_elements() -> None:
    """Releases before 2023.3 take none as inputs and outputs."""
    builder = Builder()
    builder.result(builder.call("ReLU", builder.parameter("x", "0,3")))
    refused = migrate(builder.model, "openvino-2022.1").refused
    assert refused[0].reason == "OpenVINO 2022.1: empty tensors are not supported; OpenVINO 2023.3 and later run it"
    assert migrate(builder.model, "openvino-2023.3").ok


@pytest.mark.parametrize("type", ["ReduceMax", "ReduceLogicalAnd", "ReduceLogicalOr"])
def test_reductions_along_computed_axes(type: str, client: ReleaseClient) -> None:
    """Releases run those of numbers that keep their dimensions, and none of booleans: these become numbers."""
    data = np.array([[False, True, True], [True, True, False], [False, False, False]])
    kind = "f32" if type == "ReduceMax" else "boolean"
    inputs = {"x": data.astype(kind.replace("f32", "float32").replace("boolean", "bool")), "axes": np.array([1])}
    builder = Builder()
    axes = builder.parameter("axes", "1", "i64")
    builder.result(builder.call(type, builder.parameter("x", "3,3", kind), axes, keep_dims=True))
    migrated = migrate(builder.model, client.release.name)
    assert len(migrated.steps) == (type != "ReduceMax")
    with sources(migrated.model) as (text, weights):
        (found,) = client.infer(text, weights, inputs).outputs.values()
    reduced = data.all if type == "ReduceLogicalAnd" else data.any
    np.testing.assert_array_equal(found.astype(bool), reduced(axis=1, keepdims=True))


@pytest.mark.parametrize("dims", ["16,3", "?,?", "2,16,2,3"])
@pytest.mark.parametrize("type", ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1"])
def test_integers_are_reduced_along_a_longer_axis_where_a_short_one_gives_other_values(type: str, dims: str) -> None:
    """16 elements at a time: none of those that are appended counts."""
    builder = Builder(opset=8)
    data = builder.parameter("x", dims, "i32")
    axes = (-1,) if dims != "2,16,2,3" else (2, 3)
    builder.result(builder.call(type, data, np.array(axes), keep_dims=False), "y")
    fed = np.random.default_rng(3).integers(-9, -1, (2, 16, 2, 3) if len(axes) > 1 else (16, 3)).astype(np.int32)
    migrated, found = migrated_on(builder, "2022.1", {"x": fed})
    kept = dims == "?,?" and type in {"ReduceMax", "ReduceMin"}
    assert (len(migrated.steps), len(migrated.notes)) == (int(not kept), int(kept))
    if kept:
        return
    ufuncs = {"ReduceMax": np.maximum, "ReduceMin": np.minimum, "ReduceProd": np.multiply}
    wanted = ufuncs.get(type, np.add).reduce(np.abs(fed) if type == "ReduceL1" else fed, axis=axes)
    np.testing.assert_array_equal(found, wanted)


def test_tensors_of_unknown_rank(client: ReleaseClient) -> None:
    """No release compiles them, the input's own or those of a Squeeze of axes that only the data decide."""
    given, computed = Builder(), Builder()
    given.result(given.call("ReLU", given.parameter("x", "...")))
    computed.result(computed.call("Squeeze", computed.parameter("x", "?,?"), name="y"))
    reasons = []
    for builder in (given, computed):
        (refused,) = migrate(builder.model, client.release.name).refused
        reasons.append((refused.path, refused.reason))
        with sources(builder.model) as (text, weights), pytest.raises(RuntimeFailure):
            client.check(text, weights)
    reason = f"{client.release.title}: a tensor of unknown rank is read but not compiled"
    remedy = "set the rank of the input: ir-tools shapes MODEL --set x=?,? -o OUT.xml"
    assert reasons == [("x", f"{reason}; {remedy}"), ("y", f"{reason}; no release of OpenVINO is known to run it")]


@pytest.mark.parametrize("sizes", ["", "1,4", "40,40"])
@pytest.mark.parametrize("opset", [3, 6])
def test_a_variable_that_does_not_begin_with_zeros(sizes: str, opset: int, client: ReleaseClient) -> None:
    """Releases before 2023.3 begin with zeros, so that another variable has to say that a run is the first one."""
    builder, shape = Builder(), [*map(int, sizes.split(",") if sizes else [])]
    read, assign = (find_op(name, f"opset{opset}") for name in ("ReadValue", "Assign"))
    assert read is not None
    assert assign is not None
    raw = {"variable_id": "v"} | ({"variable_type": "f32", "variable_shape": sizes} if opset == 6 else {})
    (state,) = builder.unchecked(read, raw, [builder.constant(np.full(shape, 5, np.float32))], "state")
    total = builder.call("Add", state, builder.parameter("x", sizes))
    builder.unchecked(assign, {"variable_id": "v"}, [total], "kept")
    builder.result(total)
    migrated = migrate(builder.model, client.release.name)
    assert len(migrated.steps) == (client.release.number < (2023, 3))
    states: dict[str, Any] = {}
    with sources(migrated.model) as (text, weights):
        for wanted in (6, 7, 8):
            found = client.infer(text, weights, {"x": np.ones(shape, np.float32)}, states=states)
            states = found.states
            assert [array.tolist() for array in found.outputs.values()] == [np.full(shape, wanted).tolist()]


@pytest.mark.parametrize("kind", ["u8", "i8"])
def test_outputs_of_8_bits_have_no_fractions_on_2021(kind: str) -> None:
    builder, given = Builder(), np.array([0.3, 1.7, 99.9], np.float32)
    builder.result(builder.call("Convert", builder.parameter("x", "3"), destination_type=kind))
    client = kept_client("2021.4")
    with sources(migrate(builder.model, client.release.name).model) as (text, weights):
        (found,) = client.infer(text, weights, {"x": given}).outputs.values()
    assert found.tolist() == [0, 1, 99]


def test_a_file_gets_bytes_where_a_release_does_not_read_one_without() -> None:
    """The only constant has no elements."""
    builder = Builder()
    x = builder.parameter("x", "2,3")
    builder.result(builder.call("ReduceSum", x, np.zeros(0, np.int64), keep_dims=True))
    for version in ("2021.4", "2022.1"):
        client = kept_client(version)
        migrated = migrate(builder.model, client.release.name).model
        assert migrated.weights.size == (version == "2021.4")
        with sources(migrated) as (text, weights):
            client.check(text, weights)


def test_quantized_tensors_are_noted() -> None:
    builder = Builder()
    limits = [np.array(limit, np.float32) for limit in (0, 5, 0, 5)]
    builder.result(builder.call("FakeQuantize", builder.parameter("x", "2,3"), *limits, levels=256))
    (note,) = migrate(builder.model, "openvino-2022.1").notes
    assert note.startswith("1 tensor quantized: releases compute these in INT8")
    computed = builder.call("Abs", builder.parameter("limit", ""))
    builder.result(builder.call("FakeQuantize", np.ones(3, np.float32), limits[0], computed, *limits[2:], levels=256))
    assert [one.partition(" ")[0] for one in migrate(builder.model, "openvino-2022.1").notes] == ["1"]
    assert migrate(builder.model, "opset8").notes == ()


def test_operations_that_give_other_values_on_a_release_are_noted() -> None:
    builder = Builder()
    data = builder.parameter("x", "4", "u32")
    builder.result(builder.call("Subtract", data, data))
    reason = "Negative results in u16, u32 and u64 become 0 at an output of the model, instead of wrapping around."
    noted = f"OpenVINO 2025.3 computes other values for 'subtract' (Subtract-1): {reason}"
    assert migrate(builder.model, "openvino-2025.3").notes == (noted,)
    assert migrate(builder.model, "openvino-2025.4").notes == ()
    builder.result(builder.call("Subtract", data, data))
    (both,) = migrate(builder.model, "openvino-2025.3").notes
    assert both == noted.replace("' (", "' and 1 more (")


@pytest.mark.parametrize(("release", "refused"), [("openvino-2023.2", 1), ("openvino-2023.3", 0)])
def test_variables_of_unknown_sizes_are_refused_where_they_stop_the_release(release: str, refused: int) -> None:
    builder = Builder()
    data = builder.parameter("x", "?,3")
    state = builder.call("ReadValue", data, variable_id="v", variable_type="f32", variable_shape="?,3")
    builder.call("Assign", state, variable_id="v")
    builder.result(state)
    assert len(migrate(builder.model, release).refused) == refused


def test_the_stamp_of_the_target_itself_is_taken() -> None:
    (step,) = migrate(one_layer("Unique", "opset12"), "opset10").steps
    assert (step.after, step.strategy) == ("Unique opset10", "version changed")


def test_a_layer_of_the_target_opset_does_not_remain() -> None:
    assert migrate(one_layer("Unique", "opset10"), "opset10").remaining == ()
    assert [one.before for one in migrate(one_layer("Unique", "opset10"), "opset9").refused] == ["Unique-10"]


@pytest.mark.parametrize(("right", "opset"), [((), 7), ((3, 5), 5), ((7, 1), 7), ((1,), 1)])
def test_of_rewrites_that_a_release_runs_equally_well_the_newest_is_taken(right: tuple[int, ...], opset: int) -> None:
    """Relus of all opsets, of which the release runs those that are named, and rejects the others."""
    relu = find_op("ReLU", "opset1")
    assert relu is not None
    fact = Fact(element_type("f32"), (Dim.of(2),))

    def step(attrs: object, inputs: object, target: int) -> Rewrite:
        layer = NewLayer(type="ReLU", opset=target, inputs=(Ref(None),), outputs=(fact,))
        return Rewrite(layers=(layer,), strategy="", proof="")

    judge: Any = SimpleNamespace(
        of_rewrite=lambda found, seen: None if found.layers[0].opset in right else (Answer.READS, "why"),
        release=find_release("openvino-2021.4"),
    )
    seen = Seen(relu, relu.read({}, []), [fact], [fact], opset=1)
    found, answer = _Migrating(Target.of("openvino-2021.4")).released(
        replace(relu, migrate=step), Attrs({}), [fact], judge, seen, lambda _: None
    )
    assert isinstance(found, Rewrite)
    assert (found.layers[0].opset, answer is None) == (opset, bool(right))


def test_a_refusal_names_the_releases_that_run_the_model_as_it_is() -> None:
    """In IR v10 its indices would be converted, which none of them compiles."""
    builder = Builder()
    for output in builder.outputs("AdaptiveMaxPool", builder.parameter("x", "1,2,5,7"), np.array([3, 2])):
        builder.result(output)
    (refused,) = migrate(builder.model, "openvino-2021.4").refused
    assert refused.reason.endswith("which the target does not have; OpenVINO 2022.1 to 2023.2 run it")


@pytest.mark.parametrize(
    ("release", "type", "shape", "constants", "attributes", "made"),
    [
        ("2021.4", "Tile", "2,3", [np.array([2, 1, 3])], {}, ["Unsqueeze", "Tile"]),
        (
            "2021.4",
            "NormalizeL2",
            "2,3,4",
            [np.array([2, 1])],
            {"eps": 2.0, "eps_mode": "max"},
            ["Multiply", "ReduceSum", "Maximum", "Sqrt", "Divide"],
        ),
        (
            "2025.4",
            "ScaledDotProductAttention",
            "1,2,3,4",
            [np.ones((1, 2, 3, 4), np.float32), np.ones((1, 2, 3, 4), np.float32)],
            {},
            ["Multiply", "MatMul", "ReduceMax", "Subtract", "Exp", "ReduceSum", "MatMul", "Divide"],
        ),
    ],
)
def test_other_layers_for_what_a_release_does_not_run(
    release: str,
    type: str,
    shape: str,
    constants: list[Array],
    attributes: dict[str, Any],
    made: list[str],
) -> None:
    builder = Builder()
    builder.result(builder.call(type, builder.parameter("x", shape), *constants, **attributes))
    migrated = migrate(builder.model, f"openvino-{release}")
    assert migrated.ok, migrated.refused
    layers = [layer.type for layer in migrated.model.graph.ordered()]
    assert [one for one in layers if one not in {"Parameter", "Const", "Result"}] == made
    assert not migrate(migrated.model, f"openvino-{release}").steps


def test_two_levels_are_quantized_by_other_layers() -> None:
    builder = Builder()
    limits = [np.array(limit, np.float32) for limit in (0, 5, -1, 1)]
    builder.result(builder.call("FakeQuantize", builder.parameter("x", "2,3"), *limits, levels=2))
    migrated = migrate(builder.model, "openvino-2022.1")
    assert migrated.ok
    assert "FakeQuantize" not in {layer.type for layer in migrated.model.graph.layers()}
