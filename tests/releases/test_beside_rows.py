"""Layers beside those that show the rows of releases: which of them a row is about, too."""

from dataclasses import replace

import numpy as np
import pytest

from ir_tools.compatibility import compatibility
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import as_model
from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, number, whole
from ir_tools.known_differences.releases import ROWS, ReleaseDifference, release_differences
from ir_tools.known_differences.releases._samples import quantized
from ir_tools.known_differences.verdicts import Answer, Surroundings
from ir_tools.ops import Array, find_op
from ir_tools.processors import Processor
from ir_tools.releases.table import OPENVINO
from ir_tools.runtime.environments import environment
from tests.releases.beside import (
    Beside,
    attention,
    detection,
    images,
    moving,
    normalization,
    pooling,
    products,
    quantization,
    recurrent,
    reduction,
)
from tests.releases.test_differences import answer


def _strided(shape: str, **masks: str) -> Call:
    data = Given(counted(2, 3, 4), shape)
    return Call("StridedSlice-1", (data, *(Fixed(whole(one, one)) for one in (0, 1, 1))), masks)


def _product_and_sum(data: Call) -> Call:
    return Call("Add-1", (Call("Multiply-1", (data, Fixed(floats(2)))), Fixed(floats(2))))


def _repeated(*sizes: int) -> Call:
    """Ones of a rank, repeated along the axis before the last one, and combined with another tensor."""
    ones = counted(*(1 for _ in sizes[:-1]), sizes[-1])
    return Call("Add-1", (Call("Broadcast-1", (ones, Fixed(whole(*sizes))), {"mode": "numpy"}), Fixed(floats(2))))


def _reduced(op: str, data: Array, *axes: int, keep: bool = False) -> Call:
    return Call(op, (data, Fixed(whole(*axes))), {"keep_dims": str(keep).lower()})


def _scaled(data: Call, numbers: object) -> Call:
    return Call("Add-1", (data, Fixed(np.array(numbers, np.float32))))


def _top_k(axis: int, k: int = 1) -> Call:
    raw = {"axis": str(axis), "mode": "max", "sort": "value"}
    return Call("TopK-3", (Given(counted(2, 3), "?,3"), Fixed(number(k, np.int64))), raw, (0,))


def _gathered(size: int, count: int, *before: int) -> Call:
    """Parts of data of this size behind the axis, and of these before it."""
    axis = len(before) + 1
    data, indices = counted(1, *before, 8, size), np.arange(count)[None] % 8
    return Call("Gather-8", (data, indices, Fixed(np.array(axis))), {"batch_dims": "1"})


def _pdpd(op: str, *inputs: Array | Fixed, axis: int = -1) -> Call:
    return Call(op, inputs, {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": str(axis)})


NUMBERS = np.arange(16 * 128) * 37 % 251
BYTES = Fixed((NUMBERS - 125).astype(np.int8).reshape(16, 128))
NIBBLES = Fixed((NUMBERS[: 8 * 128]).astype(np.uint8), "i4", (16, 128))


def _compressed(data: Call, held: Fixed = BYTES) -> Call:
    """Data of 128 columns times weights that are held in few bits."""
    scale = Fixed((0.01 + np.arange(16) / 1600).astype(np.float32).reshape(16, 1))
    weights = Call("Multiply-1", (Call("Convert-1", (held,), {"destination_type": "f32"}), scale))
    return Call("MatMul-1", (data, weights), {"transpose_b": "true"})


def _levels(levels: int, *limits: float) -> Call:
    """Two rows of 128 numbers below 1, quantized."""
    data = np.abs(np.sin(np.arange(256))).astype(np.float32).reshape(2, 128)
    return quantized(data, Fixed(floats(*limits)), levels=levels)


WEIGHTS = "MatMul with weights of 8 and 4 bits"
ONE_SHIFT = "Roll of several axes by one shift, 2022.2 to 2026.4"
CUT_BEHIND = "StridedSlice that inserts an axis before one that it cuts"
REPEATED = "Broadcast-1 that repeats data before an elementwise layer"
SHORT_AXIS = "ReduceMax-1 of integers along a short last axis"
MORE_ROWS = "reductions of three axes with more rows than channels, scaled by a number"
NEGATIVE = "negative indices of GatherND"
FEWER = "tests of fewer dimensions with pdpd, "
AT_THE_END = "Add-1 with pdpd, dimensions of 1 at the end"
SLOPE = "PReLU with a slope inside channels"
MASKED = Call(
    "StridedSlice-1",
    (counted(2, 3), *(Fixed(whole(one, one)) for one in (0, 2, 1))),
    {"begin_mask": "0,0", "end_mask": "0,0", "shrink_axis_mask": "0,1"},
)
BESIDE = [
    Beside(
        "Broadcast of a single element along given axes",
        True,
        Call("Broadcast-1", (counted(1, 3), Fixed(whole(2, 3)), Fixed(whole(0, 1))), {"mode": "explicit"}),
    ),
    Beside(
        "Tile of four dimensions by computed repeats", False, Call("Tile-1", (counted(1, 4, 3, 2), whole(2, 2, 2, 3)))
    ),
    Beside(
        "Unique elements along an axis, sorted",
        False,
        Call("Unique-10", (floats([1], [0]), Fixed(number(0, np.int64))), {"sorted": "true"}),
    ),
    Beside(CUT_BEHIND, True, _strided("?,3,?", begin_mask="0,1", end_mask="0,0", new_axis_mask="1,0")),
    Beside(CUT_BEHIND, False, _strided("?,3,?", begin_mask="0,1", end_mask="0,1", new_axis_mask="1,0")),
    Beside(
        "StridedSlice before a product and a sum",
        True,
        _product_and_sum(
            Call(
                "StridedSlice-1",
                (counted(2, 3), *(Fixed(whole(one, one)) for one in (0, 2, 1))),
                {"begin_mask": "0,0", "end_mask": "0,0", "ellipsis_mask": "1,0"},
            )
        ),
    ),
    Beside(
        "StridedSlice before a product and a sum",
        False,
        Call(
            "Multiply-1",
            (
                Call("Reshape-1", (_scaled(MASKED, 2), Fixed(whole(2, 1))), {"special_zero": "false"}),
                Fixed(floats(2)),
            ),
        ),
    ),
    Beside(REPEATED, True, _repeated(1, 1, 1, 1, 2, 3)),
    Beside(REPEATED, True, _repeated(1, 1, 1, 1, 1, 2, 3)),
    Beside(
        "SearchSorted in sequences of one number",
        True,
        Call("SearchSorted-15", (counted(1, 1), Fixed(floats([2]))), {"right_mode": "false"}),
    ),
    Beside(
        "SearchSorted in sequences of one number",
        False,
        Call("SearchSorted-15", (counted(3, 2), Fixed(floats([2], [0], [3]))), {"right_mode": "false"}),
    ),
    Beside(
        "the shape of a number",
        True,
        Call("Abs-1", (Call("ShapeOf-3", (number(3),), {"output_type": "i64"}, (0,)),)),
    ),
    Beside(ONE_SHIFT, False, Call("Roll-7", (counted(3, 4), Fixed(number(1, np.int64)), Fixed(whole(0))))),
    Beside(
        "Slice along computed axes",
        False,
        Call("Slice-8", (counted(2, 4, 4), whole(0), Fixed(whole(2)), Fixed(whole(1)), whole(1))),
    ),
    Beside(
        "SliceScatter by a computed step or axes",
        True,
        Call("SliceScatter-15", (counted(4), counted(2) + 9, Fixed(whole(0)), Fixed(whole(4)), whole(2))),
    ),
    Beside(
        "Split into three outputs of IR v10",
        False,
        Call("Split-1", (counted(2).astype(np.uint8), Fixed(whole(0)[0])), {"num_splits": "2"}),
    ),
    Beside(SHORT_AXIS, True, _reduced("ReduceMax-1", counted(16, 4).astype(np.int32) + 1, 1, keep=True)),
    Beside(SHORT_AXIS, False, _reduced("ReduceMax-1", counted(15, 4).astype(np.int32) + 1, 1, keep=True)),
    Beside(SHORT_AXIS, False, _reduced("ReduceMax-1", counted(2, 2, 4, 4).astype(np.int32) + 1, 3, keep=True)),
    Beside(MORE_ROWS, False, _scaled(_reduced("ReduceSum-1", np.ones((2, 2, 4), np.float32), 2), 3)),
    Beside(
        "reductions of 3 dimensions scaled by channel",
        True,
        _scaled(_reduced("ReduceSum-1", np.ones((2, 3, 4), np.float32), 0, keep=True), [[1], [2], [3]]),
    ),
    Beside(
        "reductions of 4 dimensions scaled by channel",
        True,
        _scaled(_reduced("ReduceSum-1", np.ones((2, 3, 4), np.float32), 2), [1, 2, 3]),
    ),
    Beside(
        "reductions of 3 dimensions scaled by channel",
        False,
        _scaled(_reduced("ReduceSum-1", np.ones((2, 3, 4), np.float32), 0), counted(3, 4)),
    ),
    Beside(
        f"{MORE_ROWS}, of integers",
        True,
        Call(
            "Subtract-1",
            (Fixed(np.full((2,), 9, np.int32)), _reduced("ReduceSum-1", np.ones((5, 2, 4), np.int32), 2, keep=False)),
        ),
    ),
    Beside("reductions along no axis", False, _reduced("ReduceSum-1", number(3))),
    Beside("TopK of one element of the last axis, sizes unknown", True, _top_k(-1)),
    Beside(
        NEGATIVE,
        False,
        Call(
            "GatherND-5",
            (
                counted(3, 2),
                Call(
                    "Subtract-1",
                    (Call("ShapeOf-3", (Given(counted(2), "1..3"),), {"output_type": "i64"}), Fixed(whole(2))),
                ),
            ),
        ),
    ),
    *(
        beside
        for lanes, processor in ((16, Processor.AVX512), (8, Processor.NO_AVX512))
        for beside in (
            Beside(f"Gather from one batch, 2 to {lanes} elements at a time, {processor}", True, _gathered(lanes, 100)),
            Beside(
                f"Gather from one batch, 2 to {lanes} elements at a time, {processor}", False, _gathered(lanes + 1, 100)
            ),
            Beside(f"Gather from one batch, few elements at a time, {processor}", False, _gathered(1, 3, 2)),
        )
    ),
    Beside(
        "GatherND with indices of unknown length",
        False,
        Call("GatherND-5", (counted(3, 2), Given(np.array([[[1]]]), "1,?,1"))),
    ),
    Beside(SLOPE, False, Call("PReLU-1", (counted(2, 3, 1), Fixed(counted(3, 1))))),
    Beside(SLOPE, True, Call("PReLU-1", (counted(2, 3, 2), Fixed(counted(1, 2))))),
    *(
        Beside(FEWER + "if the second is repeated", falls, _pdpd("Less-1", *inputs, axis=axis))
        for falls, axis, *inputs in (
            (True, -1, counted(2, 3), counted(3)),
            (True, 1, counted(2, 3, 1), Fixed(counted(3, 1))),
            (False, -1, counted(1, 3), counted(3)),
            (False, -1, counted(2, 3), counted(2, 3)),
            (False, -1, counted(2, 3).astype(np.int32), counted(3).astype(np.int32)),
        )
    ),
    *(
        Beside(FEWER + "if the axis is written", falls, _pdpd("Greater-1", *inputs, axis=axis))
        for falls, axis, *inputs in (
            (True, 1, counted(2, 3), Fixed(counted(3))),
            (True, 2, counted(1, 1, 4), counted(4)),
            (True, 1, counted(3, 1), counted(1)),
            (False, 1, counted(3, 1), Fixed(counted(1))),
            (False, -1, counted(1, 3), counted(3)),
            (False, 0, counted(2, 3), counted(2, 3)),
            (False, 1, counted(2, 3).astype(np.int64), counted(3).astype(np.int64)),
        )
    ),
    Beside(AT_THE_END, False, _pdpd("Add-1", counted(2, 2), Fixed(counted(1, 1)))),
    Beside(WEIGHTS, False, _compressed(_levels(256, 1))),
    Beside(WEIGHTS, False, _compressed(_levels(16, 1))),
    Beside(WEIGHTS, False, _compressed(Call("ReLU-1", (_levels(255, 1),)))),
    Beside(
        WEIGHTS,
        False,
        _compressed(Call("Reshape-1", (_levels(256, 1), Fixed(whole(1, 2, 128))), {"special_zero": "false"})),
    ),
    Beside(WEIGHTS, True, _compressed(_levels(100, 1))),
    Beside(WEIGHTS, True, _compressed(_levels(256, *np.linspace(0.5, 1, 128)))),
    Beside(WEIGHTS, True, _compressed(Call("Tanh-1", (_levels(256, 1),)))),
    Beside(WEIGHTS, True, _compressed(_levels(256, 1), NIBBLES)),
    Beside(
        "SoftSign after one that is not compiled with it",
        True,
        Call("SoftSign-9", (Call("Abs-1", (counted(1, 1, 1, 1, 1, 2, 3),)),)),
    ),
    Beside(
        "SoftSign after one that is not compiled with it",
        False,
        Call("SoftSign-9", (Call("Abs-1", (counted(1, 1, 1, 1, 2, 3),)),)),
    ),
    *(
        each
        for family in (
            attention,
            detection,
            images,
            moving,
            normalization,
            pooling,
            products,
            quantization,
            recurrent,
            reduction,
        )
        for each in family.BESIDE
    ),
]
NAMES = {row.name: row for row in ROWS if row.processor.is_here}
CASE = pytest.mark.parametrize(
    "beside", [one for one in BESIDE if one.row in NAMES], ids=lambda one: f"{one.row}: {'yes' if one.falls else 'no'}"
)


def test_the_rows_are_in_the_table() -> None:
    assert {one.row for one in BESIDE} <= {row.name for row in ROWS}


def falls_under(row: ReleaseDifference, call: Call) -> bool:
    """Whether a layer of a model falls under a row."""
    model, _ = as_model(call)
    facts, around = propagate_shapes(model).facts, Surroundings(model)
    for located in model.walk():
        path, layer, _ = located
        op = find_op(layer.type, layer.version)
        assert op is not None
        inputs, outputs = ([facts[path, port.id] for port in ports] for ports in (layer.inputs, layer.outputs))
        if row in release_differences(row.releases[-1], around.seen(located, op, inputs, outputs, row.version)):
            return True
    return False


@CASE
def test_a_layer_beside_a_row_falls_under_it_or_not(beside: Beside) -> None:
    assert falls_under(NAMES[beside.row], beside.model) is beside.falls


@pytest.mark.parametrize("divisor", [[2, 4], [2, 0]])
def test_constants_that_are_divided_by_0_may_be_rounded(divisor: list[int]) -> None:
    data, by = (Fixed(np.array(numbers, np.int32)) for numbers in ([8, 8], divisor))
    assert falls_under(NAMES["quotients of i32"], Call("Divide-1", (data, by))) is (0 in divisor)


@pytest.mark.parametrize(("constant", "differs"), [(True, []), (False, ["2023.0", "2023.1"])])
def test_a_number_in_a_test_is_broadcast_from_an_axis_on_if_it_is_constant(constant: bool, differs: list[str]) -> None:
    one = counted(1)
    model, _ = as_model(_pdpd("Equal-1", counted(2, 3), Fixed(one) if constant else one, axis=0))
    said = compatibility(model, [release for release in OPENVINO if release.number > (2021, 4)])
    assert [one.release.name.removeprefix("openvino-") for one in said if one.answer is Answer.DIFFERS] == differs


@pytest.mark.sweep
@CASE
def test_releases_do_with_it_what_the_row_says_or_run_it(beside: Beside) -> None:
    row = NAMES[beside.row]
    here = [one for one in row.releases if one is OPENVINO[-1] or environment(one) is not None]
    if not here:
        pytest.skip("none of the releases is here (ir-tools runtimes)")
    found = answer(here[-1], replace(row, model=beside.model), 30 if beside.falls else 1)
    assert (found is row.state) is beside.falls
