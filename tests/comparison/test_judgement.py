"""Who is right where two sides differ, and whether agreement proves anything."""

from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest

import ir_tools
from ir_tools import execute
from ir_tools.comparison import Comparison, ReferenceMode, compare, weak_notes
from ir_tools.comparison._evidence import weakness
from ir_tools.comparison._gold import errors
from ir_tools.comparison._outputs import Outputs
from ir_tools.comparison._samples import merged
from ir_tools.display import plural
from ir_tools.errors import UsageError
from ir_tools.execute import LayerRun
from ir_tools.graph import Layer, Model
from ir_tools.inputs import plan_inputs
from ir_tools.ops import find_op
from ir_tools.runtime.client import RuntimeClient
from tests.comparison.networks import break_reference_in_f32, random_network


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return ir_tools.read(random_network(np.random.default_rng(5), tmp_path / "net.xml"))


def saved(path: Path, result: ov.Node, *inputs: ov.Node) -> Model:
    ov.serialize(ov.Model([result.output(0)], list(inputs)), path, path.with_suffix(".bin"))
    return ir_tools.read(path)


def test_errors_of_narrow_types_are_allowed_to_floats_alone() -> None:
    outputs = Outputs("f32", None, frozenset(), {"y": "f16"})
    for kind, ok in (("f4", True), ("i4", False), ("f8", False)):
        wanted, found = (np.array([1000, number], kind) for number in (2, 3))
        (row,) = outputs.compared({"y": wanted}, {"y": found})
        assert row.ok is ok, kind


# --- who is right ---


@pytest.mark.parametrize(
    ("expected", "actual", "closer", "factor"),
    [
        ([1.0, 4.001], [1.0, 4.1], "expected", 100.0),
        ([1.0, 4.1], [1.0, 4.001], "actual", 100.0),
        ([1.0, 4.01], [1.0, 3.985], None, 1.5),
        ([1.0, 4.0], [1.0, 3.0], "expected", np.inf),
        ([1.0, np.nan], [1.0, 4.1], "actual", np.inf),
    ],
)
def test_the_closer_side_has_less_than_half_of_the_error(
    expected: list[float], actual: list[float], closer: str | None, factor: float
) -> None:
    found = errors(np.array([1.0, 4.0]), *(np.array(side, np.float32) for side in (expected, actual)))
    assert found is not None
    assert found.closer == closer
    assert found.factor == pytest.approx(factor, rel=1e-2)


def test_tensors_of_other_shapes_have_no_judge() -> None:
    assert errors(np.ones(2), np.ones(2, np.float32), np.ones(3, np.float32)) is None


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
def test_the_runtime_is_closer_where_the_reference_errs(
    client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch, mode: ReferenceMode
) -> None:
    break_reference_in_f32(monkeypatch, "layer_1")
    found = compare(model, mode=mode, client=client)
    wrong = [entry for entry in found.layers if entry.status == "differs"]
    assert wrong[0].path == "layer_1"
    for judged in (*(entry.f64 for entry in wrong), *(output.f64 for output in found.outputs if not output.ok)):
        assert judged is not None
        assert judged.closer == "actual"
        assert judged.actual < 1e-5 < judged.expected
    assert all(entry.f64 is None for entry in found.layers if entry.status == "ok")


def test_of_two_precisions_the_wider_one_is_closer(client: RuntimeClient, model: Model) -> None:
    found = compare(model, against="CPU:bf16", tolerance=1e-9, client=client)
    if found.needed < 1e-4:
        pytest.skip("the processor has no bf16, which needs AVX-512 or AMX")
    assert [entry.f64.closer for entry in found.outputs if entry.f64] == ["expected"]


# --- agreement that proves nothing ---


def weak_outputs(client: RuntimeClient, model: Model, **inputs: str) -> dict[str, str]:
    found = compare(model, inputs=inputs, layers=False, client=client)
    assert found.ok
    return {entry.name: entry.weak for entry in found.weak}


def test_one_value_throughout_proves_little(client: RuntimeClient, tmp_path: Path) -> None:
    data = op.parameter([1, 8], np.float32, name="data")
    model = saved(tmp_path / "zero.xml", op.relu(op.subtract(data, np.float32(1000)), name="out"), data)
    assert list(weak_outputs(client, model).values()) == ["all 8 elements are 0 on both sides"]
    assert weak_outputs(client, model, data="uniform:1001:1009") == {}


def test_one_value_throughout_on_one_side_is_evidence() -> None:
    flat, near = np.ones(4, np.float32), np.array([1, 1, 1, 1.00001], np.float32)
    assert weakness(flat, flat, None, None, 1e-4)
    assert weakness(flat, near, None, None, 1e-4) == weakness(near, flat, None, None, 1e-4) == ""


def test_nan_on_both_sides_proves_little(client: RuntimeClient, tmp_path: Path) -> None:
    data = op.parameter([1, 4], np.float32, name="data")
    model = saved(
        tmp_path / "nan.xml", op.log(op.subtract(data, np.array([9, 9, 9, -9], np.float32)), name="out"), data
    )
    assert list(weak_outputs(client, model).values()) == ["3 of 4 elements are NaN or infinite on both sides"]


def test_an_output_that_other_inputs_do_not_change_proves_little(client: RuntimeClient, tmp_path: Path) -> None:
    data = op.parameter([1, 4], np.float32, name="data")
    result = op.add(op.multiply(data, np.float32(1e-6)), np.array([1, 2, 3, 4], np.float32), name="out")
    model = saved(tmp_path / "far.xml", result, data)
    (reason,) = weak_outputs(client, model).values()
    assert reason.startswith("other inputs change it by ")
    given = {"data": np.arange(4, dtype=np.float32)[None]}
    assert compare(model, inputs=given, layers=False, client=client).weak
    assert weak_outputs(client, model, data="uniform:0:1e6") == {}


def test_an_output_of_constants_alone_is_no_weak_one(client: RuntimeClient, tmp_path: Path) -> None:
    data = op.parameter([1, 4], np.float32, name="data")
    fixed = op.add(op.constant(np.array([1, 2], np.float32)), np.float32(1))
    path = tmp_path / "fixed.xml"
    ov.serialize(ov.Model([op.relu(data).output(0), fixed.output(0)], [data]), path, path.with_suffix(".bin"))
    assert weak_outputs(client, ir_tools.read(path)) == {}


# --- several samples ---


def test_a_difference_in_a_later_sample_is_found(
    client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_inputs(model)
    real = execute.run_layer

    def wrong(layer: Layer, arrays: list[np.ndarray], **options: Any) -> LayerRun:
        done = real(layer, arrays, **options)
        if layer.name == "layer_0" and np.array_equal(arrays[0], plan.arrays(2)["data"]):
            return LayerRun(tuple(array + np.float32(0.01) for array in done.outputs), done.undefined)
        return done

    monkeypatch.setattr(execute, "run_layer", wrong)
    assert compare(model, inputs=plan, samples=2, client=client).ok
    found = compare(model, inputs=plan, samples=3, client=client)
    first = found.first_difference
    assert first is not None
    assert (found.samples, first.sample) == (3, 2)
    np.testing.assert_array_equal(found.inputs["data"], plan.arrays(2)["data"])


def test_one_sample_is_the_comparison_itself(client: RuntimeClient, model: Model) -> None:
    found: Comparison = compare(model, client=client)
    assert merged([found]) == found


def test_no_sample_is_a_usage_error(model: Model) -> None:
    with pytest.raises(UsageError, match="samples is 0"):
        ir_tools.compare(model, samples=0)


# --- ties ---


def routed(path: Path) -> Model:
    """Experts chosen by gates that errors of rounding exchange: two of three are the same but for their last bits."""
    rng = np.random.default_rng(0)
    gate = rng.normal(size=(16, 3)).astype(np.float32)
    gate[:, 1] = gate[:, 0] * np.float32(1 + 1e-7)
    data = op.parameter([64, 16], np.float32, name="data")
    chosen = op.topk(op.softmax(op.matmul(data, gate, False, False), 1), np.int64(1), 1, "max", "value", name="route")
    experts = op.constant(rng.normal(size=(3, 16)).astype(np.float32))
    used = op.gather(experts, chosen.output(1), np.int64(0), name="experts")
    return saved(path, op.reduce_sum(used, np.array([1, 2]), name="out"), data)


def test_experts_that_rounding_exchanges_are_no_difference(client: RuntimeClient, tmp_path: Path) -> None:
    """They count as undefined, and what follows reads what the runtime chose."""
    found = compare(routed(tmp_path / "experts.xml"), mode="cumulative", client=client)
    assert found.ok
    route = [entry.difference for entry in found.layers if entry.path == "route"]
    assert any(entry and entry.undefined for entry in route)


def test_experts_that_precisions_exchange_do_not_fill_the_table(client: RuntimeClient, tmp_path: Path) -> None:
    found = compare(routed(tmp_path / "experts.xml"), against="CPU:bf16", client=client)
    if found.needed < 1e-4:
        pytest.skip("the processor has no bf16, which needs AVX-512 or AMX")
    assert [entry.path for entry in found.layers if entry.status == "differs"] == []
    route = next(entry for entry in found.layers if entry.path == "route" and entry.output == 1)
    assert route.difference is not None
    assert route.difference.undefined
    reasons = {entry.reason for entry in found.layers if entry.status == "skipped"} - {None}
    assert reasons <= {"depends on 'route', whose order depends on rounding", "it has no consumer"}
    behind = sum(entry.status == "skipped" and entry.path != "route" for entry in found.layers)
    assert not behind or weak_notes(found)[0].startswith(f"{plural(behind, 'tensor')} not compared; the first one de")


def test_top_k_is_nearly_tied_within_the_error() -> None:
    top_k = find_op("TopK", "opset11")
    assert top_k is not None
    assert top_k.ill_conditioned is not None
    attrs = top_k.read({"axis": "-1", "mode": "max", "sort": "value", "stable": "true"}, [])
    assert attrs is not None
    data = np.array([4.0, 1.0, 3.0, 3.0002, 2.0], np.float32)
    for error, wanted in ((1e-5, [False, False, False]), (1e-4, [False, True, True])):
        mask = top_k.ill_conditioned(attrs, (data, np.array(3)), error)
        assert mask is not None
        assert mask.tolist() == wanted


@pytest.mark.parametrize(("read", "unread"), [(0, "it has no consumer"), (1, None)])
def test_outputs_that_nothing_reads_are_not_compared_between_settings(
    client: RuntimeClient, tmp_path: Path, read: int, unread: str | None
) -> None:
    """Coarser numbers have other ties, and the places of the largest are nobody's input. The first output counts."""
    data = op.parameter([1, 2, 6, 6], np.float32, name="data")
    pooled = op.max_pool(data, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], "floor", "explicit", "i64", 0, name="pool")
    found = compare(saved(tmp_path / "pool.xml", op.relu(pooled.output(read)), data), against="CPU", client=client)
    rows = {(entry.path, entry.output): entry.reason for entry in found.layers if entry.path == "pool"}
    assert rows == {("pool", 0): None, ("pool", 1): unread}


def quantizing(path: Path) -> tuple[Model, np.ndarray]:
    """A FakeQuantize after a sum whose last element lies between levels 134 and 135 of 255, but for 1e-7 of a step."""
    data = op.parameter([1, 8], np.float32, name="data")
    limits = [np.float32(limit) for limit in (0, 255, 0, 255)]
    levels = op.fake_quantize(op.add(data, np.float32(1)), *limits, levels=256, name="levels")
    values = np.array([[10, 20, 30, 40, 50, 253, 99, 133.50002]], np.float32)
    return saved(path, levels, data), values


@pytest.mark.parametrize(("levels", "ok"), [(1, True), (-2, False), (2, False)])
def test_one_level_at_a_tie_is_allowed_and_counted_and_two_are_a_difference(
    client: RuntimeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, levels: int, ok: bool
) -> None:
    model, values = quantizing(tmp_path / "levels.xml")
    real = execute.run_layer

    def other_level(layer: Layer, *arguments: Any, **options: Any) -> LayerRun:
        done = real(layer, *arguments, **options)
        if layer.name == "levels":
            (own,) = done.outputs
            own[0, -1] = (135 if own[0, -1] == 134 else 134) if levels == 1 else own[0, -1] + levels
        return done

    monkeypatch.setattr(execute, "run_layer", other_level)
    found = compare(model, inputs={"data": values}, mode="cumulative", client=client)
    (row,) = (entry for entry in found.layers if entry.path == "levels")
    assert row.difference is not None
    assert (row.status == "ok", row.difference.undefined) == (ok, int(ok))
