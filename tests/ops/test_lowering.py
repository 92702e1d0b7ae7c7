"""Average pooling in the layers of another version: against the runtime, and by proof."""

import random
from typing import Any

import numpy as np
import pytest

from ir_tools.ops._equivalence import PoolingSpec, Proof, equal_for_all, floored
from ir_tools.ops._pooling_rewrites import average_pooling, avg_pool_forms
from ir_tools.ops._windows import Pooling, plan
from ir_tools.ops.definition import Fact, Refused, Rewrite
from ir_tools.rewrite.migration import migrate
from ir_tools.types import Dim, element_type, parse_shape
from tests.rewrite.migrations import (
    Case,
    Compiled,
    Row,
    attributes,
    migrated_alike,
    model_of,
    random_case,
    random_data,
    random_pooling,
)

F32 = element_type("f32")


def pooling(**changes: Any) -> Pooling:
    settings: dict[str, Any] = {
        "kernel": (3, 3), "strides": (2, 2), "pads_begin": (0, 0), "pads_end": (0, 0), "dilations": (1, 1),
    }  # fmt: skip
    return Pooling(**{**settings, **changes})


def lowered(wanted: Pooling, shape: str, target: int) -> Rewrite:
    found = average_pooling(PoolingSpec(wanted), Fact(F32, parse_shape(shape)), target)
    assert isinstance(found, Rewrite)
    return found


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_a_moved_layer_gives_the_same_values_on_the_runtime(dynamic: bool) -> None:
    assert migrated_alike(11, 24 if dynamic else 120, dynamic=dynamic) == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_random_static_moves(seed: int) -> None:
    assert migrated_alike(100 + seed, 1200) == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_random_dynamic_moves(seed: int) -> None:
    assert migrated_alike(200 + seed, 240, dynamic=True) == []


def test_ceil_torch_is_floor_with_other_pads_for_every_size() -> None:
    rng, unlike = random.Random(0), []
    for _ in range(300):
        rank = rng.randint(1, 2)
        wanted = PoolingSpec(random_pooling(rng, rank, 16))
        if wanted.pooling.exclude_pad and not isinstance(
            equal_for_all(wanted, PoolingSpec(floored(wanted.pooling)), [Dim()] * rank), Proof
        ):
            unlike.append(wanted.pooling)
    assert all(one.auto_pad.startswith("same") and one.rounding == "ceil" for one in unlike)


@pytest.mark.parametrize("shape", ["1,2,7,9", "?,?,?,?", "1,2,7,?", "..."])
@pytest.mark.parametrize("rounding", ["floor", "ceil", "ceil_torch"])
@pytest.mark.parametrize("auto_pad", ["explicit", "valid", "same_upper", "same_lower"])
def test_without_dilations_one_layer_is_enough(rounding: str, auto_pad: str, shape: str) -> None:
    wanted = pooling(rounding=rounding, auto_pad=auto_pad, pads_begin=(1, 0), pads_end=(0, 2))
    assert [new.type for new in lowered(wanted, shape, 8).layers] == ["AvgPool"]


@pytest.mark.parametrize(("target", "stamp"), [(1, 1), (7, 1), (8, 8), (13, 8), (14, 14), (15, 14), (16, 16), (17, 16)])
def test_stamp_of_the_target(target: int, stamp: int) -> None:
    (layer,) = lowered(pooling(), "1,2,7,9", target).layers
    assert layer.opset == stamp
    assert ("dilations" in layer.raw) == (stamp == 16)


@pytest.mark.parametrize("target", [1, 7, 8, 13, 14, 15, 16, 17])
def test_attributes_of_later_versions_are_not_written(target: int) -> None:
    """AvgPool has `ceil_torch` from opset14 on, and dilations from opset16 on."""
    rounded, dilated = (
        [form.pooling for form in avg_pool_forms(PoolingSpec(pooling(**changes)), [Dim()] * 2, target)]
        for changes in ({"rounding": "ceil_torch"}, {"dilations": (2, 1)})
    )
    assert any(form.rounding == "ceil_torch" for form in rounded) == (target >= 14)
    assert any(form.dilations != (1, 1) for form in dilated) == (target >= 16)


def test_dilations_of_single_elements_do_not_matter() -> None:
    (layer,) = lowered(pooling(kernel=(3, 1), dilations=(1, 5)), "1,2,7,9", 8).layers
    assert layer.type == "AvgPool"


def test_dilations_of_an_unknown_rank_are_refused() -> None:
    found = average_pooling(PoolingSpec(pooling(dilations=(2, 2))), Fact(F32, None), 8)
    assert isinstance(found, Refused)
    assert found.attribute == "dilations"


def test_padding_that_counts_without_overhang_gets_a_layer_of_its_own() -> None:
    """What ONNX means by ceil_mode with count_include_pad: the padded input's elements, not what hangs over."""
    wanted = PoolingSpec(pooling(rounding="ceil", exclude_pad=True), before=(1, 0), after=(0, 2))
    found = average_pooling(wanted, Fact(F32, parse_shape("1,2,?,?")), 8)
    assert isinstance(found, Rewrite)
    assert [new.type for new in found.layers] == ["Pad", "AvgPool"]
    begin, end = found.layers[0].inputs[1:3]
    np.testing.assert_array_equal([begin, end], [(0, 0, 1, 0), (0, 0, 0, 2)])


def test_a_pad_stands_before_no_rounded_pooling_without_padding() -> None:
    """The CPU plugin merges such a Pad into the pooling, whose last window then divides by the whole kernel."""
    wanted = PoolingSpec(pooling(rounding="ceil", exclude_pad=True), before=(1, 1), after=(1, 1))
    written = [form for form in avg_pool_forms(wanted, [Dim()] * 2, 16) if form.before]
    assert written
    for form in written:
        assert form.pooling.rounding == "floor" or any((*form.pooling.pads_begin, *form.pooling.pads_end)), form


def test_pads_as_large_as_the_window_are_not_written_where_they_do_not_count() -> None:
    """The runtime rejects them, at the beginning and at the end."""
    for changes in ({"pads_begin": (3, 0)}, {"pads_end": (0, 3)}, {"pads_end": (0, 2), "rounding": "ceil_torch"}):
        forms = [*avg_pool_forms(PoolingSpec(pooling(**changes)), [Dim()] * 2, 16)]
        assert forms
        for form in forms:
            assert not form.pooling.exclude_pad or max(*form.pooling.pads_begin, *form.pooling.pads_end) < 3, form


def test_padding_that_counts_needs_no_layer_where_nothing_hangs_over() -> None:
    wanted = PoolingSpec(pooling(exclude_pad=True, strides=(1, 1)), before=(1, 1), after=(1, 1))
    found = average_pooling(wanted, Fact(F32, parse_shape("1,2,?,?")), 8)
    assert isinstance(found, Rewrite)
    assert [new.type for new in found.layers] == ["AvgPool"]


@pytest.mark.parametrize("target", [1, 7, 8, 13, 14])
def test_moved_maxima_are_the_same_on_the_runtime(target: int) -> None:
    rng = random.Random(target)
    rows: list[Row] = []
    cases: list[Case] = []
    while len(rows) < 40:
        case = random_case(rng)
        settings = case.pooling
        dilated = any(dilation > 1 for dilation in settings.dilations)
        pads = zip(settings.pads_begin, settings.pads_end, strict=True)
        covered = any(max(pair) >= settings.reach(axis) for axis, pair in enumerate(pads))
        if case.row.precision != "f32" or covered or (dilated and target < 8):
            continue
        raw = attributes(16, settings) | {"index_element_type": "i64", "axis": "0"}
        del raw["exclude-pad"]
        rows.append(Row("MaxPool", "opset14", raw, case.row.shape, case.row.counts))
        cases.append(case)
    model = model_of(rows)
    migrated = migrate(model, f"opset{target}")
    assert migrated.refused == ()
    numbers = np.random.default_rng(target)
    data = {f"x{index}": random_data(numbers, case.shape, "f32") for index, case in enumerate(cases)}
    before, after = Compiled(model)(data), Compiled(migrated.model)(data)
    for index, case in enumerate(cases):
        one, two = before[f"y{index}"], after[f"y{index}"]
        assert one.shape == two.shape
        read = ~plan(case.pooling._replace(exclude_pad=True), case.shape[2:]).undefined()
        assert np.array_equal(one[..., read], two[..., read]), case
