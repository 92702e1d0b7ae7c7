"""The pooling family against loops over every output, and against the runtime."""

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir_tools.errors import ShapeError
from ir_tools.ops._window_kernels import LOWEST, average, largest_of_parts, maximum, maximum_with_places
from ir_tools.ops._windows import Pooling, WindowPlan, adaptive_plan, plan
from ir_tools.ops.definition import Bounds, Fact, Oracle, Violation
from ir_tools.ops.pooling import AVG_POOL_1, OPS
from ir_tools.types import Dim, element_type, format_shape, parse_shape
from tests.ops.pooling_support import (
    Setting,
    compare_values,
    op_named,
    our_shapes,
    outputs_of,
    random_array,
    random_setting,
    runtime_shapes,
    runtime_values,
)
from tests.ops.single import attrs_of, computed

Array = npt.NDArray[Any]

# --- kernels against loops --------------------------------------------------------------------------------------


@st.composite
def poolings(draw: st.DrawFn, rank: int) -> Pooling:
    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))

    return Pooling(
        kernel=numbers(1, 4),
        strides=numbers(1, 4),
        pads_begin=numbers(0, 3),
        pads_end=numbers(0, 3),
        dilations=numbers(1, 3),
        rounding=draw(st.sampled_from(["floor", "ceil", "ceil_torch"])),
        auto_pad=draw(st.sampled_from(["explicit", "valid", "same_upper", "same_lower"])),
        exclude_pad=draw(st.booleans()),
    )


@st.composite
def plans(draw: st.DrawFn) -> tuple[WindowPlan, tuple[int, ...]]:
    rank = draw(st.integers(1, 3))
    sizes = tuple(draw(st.lists(st.integers(1, 9 if rank < 3 else 5), min_size=rank, max_size=rank)))
    if draw(st.booleans()):
        counts = draw(st.lists(st.integers(1, 8), min_size=rank, max_size=rank))
        return adaptive_plan(sizes, counts), sizes
    pooling = draw(poolings(rank))
    try:
        return plan(pooling, sizes), sizes
    except ShapeError:
        return adaptive_plan(sizes, sizes), sizes


def elements(windows: WindowPlan, data: Array, where: tuple[int, ...]) -> list[tuple[int, Any]]:
    """Position in the channel and value of all that one window reads of one channel, in row-major order."""
    positions = [
        range(int(axis.first[index]), int(axis.last[index]) + 1, axis.step)
        for axis, index in zip(windows.axes, where, strict=True)
    ]
    return [(int(np.ravel_multi_index(at, data.shape)), data[at].item()) for at in product(*positions)]


def looped(windows: WindowPlan, data: Array, reduce: Callable[[list[tuple[int, Any]], int], Any]) -> Array:
    """`reduce(elements, divisor)` for every window."""
    out = np.empty((*data.shape[:2], *windows.counts), object)
    for where in np.ndindex(*windows.counts):
        divisor = prod(int(axis.divisor[index]) for axis, index in zip(windows.axes, where, strict=True))
        for channel in np.ndindex(*data.shape[:2]):
            out[channel + where] = reduce(elements(windows, data[channel], where), divisor)
    return out


@settings(max_examples=150)
@given(plans(), st.integers(0, 10**6), st.sampled_from(["f32", "f64"]))
def test_average_of_floats(made: tuple[WindowPlan, tuple[int, ...]], seed: int, kind: str) -> None:
    windows, sizes = made
    data = random_array(np.random.default_rng(seed), kind, (2, 3, *sizes))
    wanted = looped(windows, data, lambda read, divisor: sum(float(value) for _, value in read) / max(divisor, 1))
    found = average(windows, data)
    assert found.dtype == data.dtype
    np.testing.assert_allclose(found, wanted.astype(np.float64), atol=1e-5 if kind == "f32" else 1e-13)


@settings(max_examples=60)
@given(plans(), st.integers(0, 10**6), st.sampled_from(["f32", "f16", "bf16", "f64"]))
def test_average_keeps_what_is_not_finite_in_its_windows(
    made: tuple[WindowPlan, tuple[int, ...]], seed: int, kind: str
) -> None:
    windows, sizes = made
    rng = np.random.default_rng(seed)
    data = random_array(rng, kind, (1, 2, *sizes))
    data[rng.random(data.shape) < 0.1] = np.nan
    data[rng.random(data.shape) < 0.1] = np.inf
    wanted = looped(windows, data, lambda read, _: np.isfinite([float(value) for _, value in read]).all())
    assert (np.isfinite(average(windows, data).astype(np.float64)) == wanted).all()


@settings(max_examples=60)
@given(plans(), st.integers(0, 10**6), st.sampled_from(["i16", "u32", "i64"]))
def test_average_of_whole_numbers_is_exact(made: tuple[WindowPlan, tuple[int, ...]], seed: int, kind: str) -> None:
    windows, sizes = made
    data = random_array(np.random.default_rng(seed), kind, (1, 2, *sizes))
    wanted = looped(windows, data, lambda read, divisor: round(sum(int(value) for _, value in read) / max(divisor, 1)))
    assert (average(windows, data) == wanted).all()


@settings(max_examples=100)
@given(plans(), st.integers(0, 10**6), st.sampled_from(["f32", "f16", "i8", "u8", "i64"]))
def test_maximum_and_its_place(made: tuple[WindowPlan, tuple[int, ...]], seed: int, kind: str) -> None:
    windows, sizes = made
    rng = np.random.default_rng(seed)
    data = random_array(rng, kind, (2, 2, *sizes))
    if data.dtype.kind == "f":
        data[rng.random(data.shape) < 0.2] = np.nan
        data[rng.random(data.shape) < 0.2] = -np.inf
    lowest = LOWEST if data.dtype.kind == "f" else int(np.iinfo(data.dtype).min)

    def search(read: list[tuple[int, Any]], _: int) -> tuple[Any, int]:
        best: Any = lowest
        place = 0
        for position, value in read:
            if value > best:
                best, place = value, position
        return best, place

    wanted = looped(windows, data, search)
    with np.errstate(over="ignore"):
        values = np.array([value for value, _ in wanted.ravel()]).astype(data.dtype).reshape(wanted.shape)
    found, places = maximum_with_places(windows, data)
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(places, np.array([place for _, place in wanted.ravel()]).reshape(wanted.shape))
    np.testing.assert_array_equal(maximum(windows, data), values)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=3), st.integers(0, 10**6))
def test_largest_of_parts_starts_from_the_first_element(axes: list[tuple[int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    windows = adaptive_plan([size for size, _ in axes], [count for _, count in axes])
    data = random_array(rng, "f32", (1, 2, *(size for size, _ in axes)))
    data[rng.random(data.shape) < 0.3] = np.nan
    data[rng.random(data.shape) < 0.2] = -np.inf

    def search(read: list[tuple[int, Any]], _: int) -> tuple[Any, int]:
        place, best = read[0]
        for position, value in read:
            if value > best:
                best, place = value, position
        return best, place

    wanted = looped(windows, data, search)
    found, places = largest_of_parts(windows, data)
    np.testing.assert_array_equal(found, np.array([value for value, _ in wanted.ravel()]).reshape(wanted.shape))
    np.testing.assert_array_equal(places, np.array([place for _, place in wanted.ravel()]).reshape(wanted.shape))


def test_blocks_of_channels_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(0).normal(size=(2, 5, 6, 7)).astype(np.float32)
    windows = adaptive_plan((6, 7), (3, 4))
    whole = average(windows, data), maximum(windows, data)
    monkeypatch.setattr("ir_tools.ops._window_kernels.BLOCK", 3 * 6 * 7)
    np.testing.assert_array_equal(average(windows, data), whole[0])
    np.testing.assert_array_equal(maximum(windows, data), whole[1])


def test_strided_inputs() -> None:
    data = np.random.default_rng(0).normal(size=(6, 7, 2, 3)).astype(np.float32).transpose(2, 3, 0, 1)
    windows = adaptive_plan((6, 7), (6, 7))
    np.testing.assert_array_equal(average(windows, data), data)
    np.testing.assert_array_equal(maximum(windows, data), data)


def test_the_lean_kernel_gives_the_first_output() -> None:
    op = op_named("MaxPool-14")
    attrs = attrs_of(op, {"kernel": "3", "strides": "2", "dilations": "2", "rounding_type": "ceil"})
    assert op.first_output_kernel is not None
    data = np.random.default_rng(0).normal(size=(2, 3, 14)).astype(np.float32)
    np.testing.assert_array_equal(op.first_output_kernel(attrs, [data])[0], computed(op, attrs, [data])[0])


@pytest.mark.parametrize("shape", [(0, 2, 4), (2, 0, 4), (1, 1, 0)], ids=str)
@pytest.mark.parametrize("op", ["AdaptiveAvgPool-8", "AdaptiveMaxPool-8"])
def test_empty_inputs_of_adaptive_pooling(op: str, shape: tuple[int, ...]) -> None:
    setting = Setting(op_named(op), {}, "f32", ",".join(map(str, shape)), (2,))
    arrays = [np.zeros(shape, np.float32), np.array([2])]
    assert setting.op.undefined_mask is not None
    for output in computed(setting.op, setting.attrs(), arrays):
        assert output.shape == (*shape[:2], 2)
    mask = setting.op.undefined_mask(setting.attrs(), arrays)
    assert (mask is not None and mask.all()) == (shape[2] == 0)


# --- attributes and checks --------------------------------------------------------------------------------------

PLAIN = {"kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0"}


def findings(op: str, data: dict[str, str], shape: str = "1,3,8,8") -> list[str]:
    """All that is wrong with a layer, as `attribute message`."""
    violations: list[Violation] = []
    attrs = op_named(op).read(data, violations)
    if attrs is not None:
        violations += op_named(op).check(attrs, [Fact(element_type("f32"), parse_shape(shape))])
    return [violation.text for violation in violations]


@pytest.mark.parametrize("op", ["AvgPool-1", "AvgPool-14", "MaxPool-1"])
def test_a_plain_layer_has_no_violation(op: str) -> None:
    assert findings(op, {**PLAIN, "exclude-pad": "true"}) == []


@pytest.mark.parametrize(
    ("op", "changes", "message"),
    [
        ("AvgPool-1", {"kernel": ""}, "kernel is missing"),
        ("AvgPool-1", {"strides": ""}, "strides is missing"),
        ("AvgPool-1", {"strides": "2"}, "strides has 1 value; expected 2, one per kernel axis"),
        ("AvgPool-1", {"strides": "2,0"}, "strides is 2,0; expected at least 1 for each"),
        ("AvgPool-1", {"kernel": "1.5,2"}, "kernel has '1.5'; expected an integer"),
        ("AvgPool-1", {"kernel": "0,2"}, "kernel is 0,2; expected at least 1 for each"),
        ("AvgPool-1", {"pads_begin": "-1,0"}, "pads_begin is -1,0; expected at least 0 for each"),
        (
            "AvgPool-1",
            {"pads_end": "2,0"},
            "pads_end is 2, but the window spans 2 elements and exclude-pad is true: some windows contain only padding",
        ),
        (
            "AvgPool-1",
            {"exclude_pad": "false"},
            "exclude_pad is not read by the runtime; the attribute is called exclude-pad",
        ),
        (
            "AvgPool-1",
            {"rounding_type": "ceil_torch"},
            "rounding_type is 'ceil_torch'; expected one of floor, ceil",
        ),
        ("AvgPool-1", {"auto_pad": ""}, "auto_pad is ''; expected one of explicit, same_upper, same_lower, valid"),
        ("AvgPool-1", {"kernel": "9,2"}, "kernel spans 9 elements, but axis 2 has 8 including padding"),
        ("AvgPool-16", {}, "dilations is missing, and the runtime crashes without it"),
        ("MaxPool-8", {}, "dilations is missing; the runtime computes no indices without it"),
        ("MaxPool-8", {"dilations": "1,1", "axis": "4"}, "axis is 4, but the input has rank 4"),
        (
            "MaxPool-8",
            {"dilations": "1,1", "index_element_type": "u8"},
            "index_element_type is 'u8'; expected one of i32, i64",
        ),
    ],
)
def test_what_is_wrong_is_named(op: str, changes: dict[str, str], message: str) -> None:
    found = findings(op, {**PLAIN, **changes})
    assert [text for text in found if text.startswith(message)], found


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("1,3,8", "kernel has 2 values, but the input has 1 spatial axes"),
        ("1,3", "data is [1,3]; expected rank 3, 4 or 5"),
        ("0,3,8,8", "data has a batch size of 0, which the runtime does not support"),
        ("?,0,8,8", "data has a number of channels of 0, which the runtime does not support"),
    ],
)
def test_inputs_that_cannot_be_pooled(shape: str, message: str) -> None:
    assert findings("AvgPool-1", {**PLAIN, "exclude-pad": "true"}, shape) == [message]


def test_pads_may_be_absent_as_the_runtime_reads_them() -> None:
    attrs = attrs_of(AVG_POOL_1, {"kernel": "2", "strides": "2"})
    assert attrs.exclude_pad
    (fact,) = outputs_of(AVG_POOL_1, attrs, [Fact(element_type("f32"), parse_shape("1,1,6"))])
    assert format_shape(fact.shape) == "1,1,3"


@pytest.mark.parametrize("op", ["AdaptiveAvgPool-8", "AdaptiveMaxPool-8"])
@pytest.mark.parametrize(
    ("data", "sizes", "value", "wanted"),
    [
        ("1,2,?", "1", Bounds.exactly([3]), "1,2,3"),
        ("1,2,?,4", "2", Bounds(np.array([1, 0]), np.array([3, np.iinfo(np.int64).max])), "1,2,1..3,?"),
        ("1,2,?,4", "?", None, "1,2,?,?"),
        ("..", "2", None, "..."),
        ("...", "2", Bounds.exactly([3, 4]), "..."),
    ],
)
def test_adaptive_shapes(op: str, data: str, sizes: str, value: Bounds | None, wanted: str) -> None:
    shape = None if data.startswith("..") else parse_shape(data)
    facts = [Fact(element_type("f32"), shape), Fact(element_type("i64"), parse_shape(sizes), value)]
    attrs = attrs_of(op_named(op), {})
    assert all(format_shape(fact.shape) == wanted for fact in outputs_of(op_named(op), attrs, facts))


@pytest.mark.parametrize("sizes", ["3", "...", "2,2"])
def test_adaptive_sizes_that_do_not_fit(sizes: str) -> None:
    attrs = attrs_of(op_named("AdaptiveAvgPool-8"), {})
    facts = [Fact(element_type("f32"), (Dim.of(1),) * 4), Fact(element_type("i64"), parse_shape(sizes))]
    if sizes == "...":
        assert format_shape(outputs_of(op_named("AdaptiveAvgPool-8"), attrs, facts)[0].shape) == "1,1,?,?"
        return
    with pytest.raises(ShapeError, match="output_shape"):
        outputs_of(op_named("AdaptiveAvgPool-8"), attrs, facts)


# --- against the runtime ----------------------------------------------------------------------------------------


def check_shapes(op: str, seed: int, count: int, *, dynamic: bool) -> list[Setting]:
    """Random layers: the shape rule gives what the runtime gives, or both refuse. Returns the accepted ones."""
    rng = np.random.default_rng(seed)
    settings = [random_setting(rng, op_named(op), dynamic=dynamic) for _ in range(count)]
    ours = [shapes_or_none(setting) for setting in settings]
    read = iter(runtime_shapes([setting for setting, found in zip(settings, ours, strict=True) if found is not None]))
    accepted = []
    for setting, found in zip(settings, ours, strict=True):
        wanted = runtime_shapes([setting])[0] if found is None else next(read)
        assert found == wanted, setting
        if not dynamic:
            faults = setting.op.check(setting.attrs(), setting.facts())
            violations = [fault for fault in faults if not fault.kind.mild]
            assert bool(violations) == (wanted is None), (setting, violations)
        if wanted is not None:
            accepted.append(setting)
    return accepted


def shapes_or_none(setting: Setting) -> list[str] | None:
    """Shapes by the rule; None where it refuses."""
    try:
        return our_shapes(setting)
    except ShapeError:
        return None


def check_values(accepted: list[Setting], seed: int) -> None:
    rng = np.random.default_rng(seed)
    runnable = [setting for setting in accepted if setting.known_gap() is None]
    for start in range(0, len(runnable), 200):
        batch = runnable[start : start + 200]
        arrays = [setting.arrays(rng) for setting in batch]
        for setting, inputs, wanted in zip(batch, arrays, runtime_values(batch, arrays), strict=True):
            compare_values(setting, inputs, wanted)


OP_NAMES = [str(op) for op in OPS if op.oracle is not Oracle.SPECIFICATION]


@pytest.mark.parametrize("op", OP_NAMES)
def test_random_layers_equal_the_runtime(op: str) -> None:
    check_values(check_shapes(op, 1, 60, dynamic=False), 2)


@pytest.mark.parametrize("op", OP_NAMES)
def test_random_intervals_equal_the_runtime(op: str) -> None:
    check_shapes(op, 3, 60, dynamic=True)


@pytest.mark.sweep
@pytest.mark.parametrize("op", OP_NAMES)
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_sweep_equals_the_runtime(op: str, seed: int) -> None:
    check_values(check_shapes(op, seed, 1000, dynamic=False), seed)
    check_shapes(op, seed, 1000, dynamic=True)


@pytest.mark.parametrize("size", [-2, -1, 0, 2**40], ids=str)
def test_odd_sizes_equal_the_runtime(size: int) -> None:
    setting = Setting(op_named("AdaptiveAvgPool-8"), {}, "f32", "1,2,5", (size,))
    assert [our_shapes(setting)] == runtime_shapes([setting])
    assert bool(list(setting.op.check(setting.attrs(), setting.facts()))) == (size < 0)


@pytest.mark.parametrize("dim", ["0", "..1", "..3", "?", "1..3"])
def test_torch_rounding_from_size_0_equals_the_runtime(dim: str) -> None:
    data = {"kernel": "1", "strides": "2", "pads_begin": "0", "pads_end": "2", "exclude-pad": "false"}
    setting = Setting(op_named("AvgPool-14"), {**data, "rounding_type": "ceil_torch"}, "f32", f"1,1,{dim}")
    assert [our_shapes(setting)] == runtime_shapes([setting])


NOT_FINITE = [np.nan, 1, -np.inf, -np.inf, np.inf, np.nan, 2, np.nan, np.nan, np.nan, np.inf, -np.inf]


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("op", OP_NAMES)
def test_infinities_and_nan_equal_the_runtime(op: str, kind: str) -> None:
    data = {"kernel": "2", "strides": "1", "pads_begin": "1", "pads_end": "1", "exclude-pad": "true"}
    sizes = (5,) if op.startswith("Adaptive") else None
    if sizes:
        data = {"index_element_type": "i32"}
    elif "dilations" in op_named(op).attrs:
        data["dilations"] = "1"
    results = 1 if kind == "bf16" and op.startswith("MaxPool") else len(op_named(op).outputs)
    setting = Setting(op_named(op), data, kind, "1,3,12", sizes, results)
    dtype = element_type(kind).dtype
    assert dtype is not None
    inputs = [np.tile(np.array(NOT_FINITE), (1, 3, 1)).astype(dtype)]
    if sizes:
        inputs.append(np.array(sizes))
    compare_values(setting, inputs, runtime_values([setting], [inputs])[0])


def test_bfloat16_is_rounded_once() -> None:
    data = np.array([[[1, 1.0078125, 1.0078125]]], ml_dtypes.bfloat16)
    (found,) = average(adaptive_plan((3,), (1,)), data).ravel()
    assert found == np.float32(3.015625 / 3).astype(ml_dtypes.bfloat16)
