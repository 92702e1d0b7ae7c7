"""Layers that move elements, at the edges: limits of integers, axes from the end, indices beyond an axis, no data."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import permutations, product

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import (
    Array,
    Attrs,
    Op,
    elementwise,
    find_op,
    gathering,
    generation,
    layout,
    ordering,
    padding,
    recurrent,
    reduction,
    scattering,
    searching,
    slicing,
    strided_slicing,
)
from ir_tools.ops.checks import check_types
from ir_tools.ops.definition import ViolationKind
from ir_tools.ops.slicing import _parts
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim
from tests.ops.around import Case, ops_by_name, runs
from tests.ops.layer_support import Setting, compare_shapes, fact_of
from tests.ops.single import Between, Fed, Slot, attrs_of, computed, single_text, values_of

OPS = ops_by_name(
    elementwise.OPS,
    reduction.OPS,
    gathering.OPS,
    generation.OPS,
    layout.OPS,
    ordering.OPS,
    padding.OPS,
    recurrent.OPS,
    scattering.OPS,
    searching.OPS,
    slicing.OPS,
    strided_slicing.OPS,
)
FAR = {"i32": (-(2**31), 2**31 - 1), "i64": (-(2**63), 2**63 - 1)}
MASKS = {"begin_mask": "0", "end_mask": "0"}


def whole(values: Sequence[object], kind: str = "int64") -> Array:
    return np.array(values, kind)


@pytest.mark.parametrize("dim", ["?", "2..", "..10", "..3000000000"])
@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("name", ["Slice-8", "StridedSlice-1"])
def test_limits_of_integers_are_the_ends(name: str, kind: str, dim: str, client: RuntimeClient) -> None:
    """The limits of i32 mean the ends of an axis of any size, as those of i64 do."""
    least, most = FAR[kind]
    rows = [
        (0, most, 1),
        (least, 5, 1),
        (least, most, 1),
        (most, 0, -1),
        (most, least, -1),
        (-5, most, 1),
        (most, -3, -1),
    ]
    for row in rows:
        slots: list[Slot] = [("f32", dim), *(whole([number], f"int{kind[1:]}") for number in row)]
        compare_shapes(client, Setting(OPS[name], slots, MASKS if name == "StridedSlice-1" else {}))


@pytest.mark.parametrize("begin", [-5, -4, 3, 4])
@pytest.mark.parametrize("dim", ["4", "1..4", "..4", "?"])
def test_an_element_that_a_dropped_axis_lacks(dim: str, begin: int, client: RuntimeClient) -> None:
    """It is refused where the size is known before running; else the nearest is taken."""
    raw = {**MASKS, "shrink_axis_mask": "1"}
    slots: list[Slot] = [("f32", dim), whole([begin]), whole([begin + 1])]
    op, setting = OPS["StridedSlice-1"], Setting(OPS["StridedSlice-1"], slots, raw)
    text, blob = single_text(op.type, op.version, raw, slots, 1)
    attrs = attrs_of(op, raw)
    kinds = [fault.kind for fault in op.check(attrs, [fact_of(slot) for slot in slots])]
    beyond = not -4 <= begin < 4
    assert kinds == (
        [ViolationKind.CONTRADICTION if dim == "4" else ViolationKind.SUSPECT] if beyond and dim != "?" else []
    )
    if dim == "4":
        compare_shapes(client, setting)
        assert runs(client, Case(op, raw, slots)) != beyond
    else:
        (found,) = client.infer(text, blob, {"in0": np.arange(4, dtype=np.float32)}).outputs.values()
        assert found == np.clip(begin % 4 if -4 <= begin < 0 else begin, 0, 3)


ONE = np.array(1, np.float32)
SHAPES: Sequence[tuple[str, Mapping[str, str], Sequence[Slot]]] = (
    ("Pad-12", {"pad_mode": "constant"}, [("f32", "1,2"), whole([-1, 0]), whole([-2, 1])]),
    ("Pad-12", {"pad_mode": "edge"}, [("f32", "3"), whole([-1]), whole([-2])]),
    ("NonZero-3", {"output_type": "i64"}, [np.array([0, np.nan, 1], np.float32)]),
    ("NonZero-3", {"output_type": "i64"}, [np.array(0, np.int32)]),
    ("NonZero-3", {"output_type": "i64"}, [whole([0, 0])]),
    ("NonZero-3", {"output_type": "i32"}, [np.array(5, np.int32)]),
    ("NonZero-3", {"output_type": "i64"}, [("f32", "0,?")]),
    ("NonZero-3", {"output_type": "i64"}, [("f32", "?,0..2,0")]),
    ("Split-1", {"num_splits": "3"}, [("f32", "..2,2"), np.array(0)]),
    ("Split-1", {"num_splits": "3"}, [("f32", "..3,2"), np.array(0)]),
    ("Split-1", {"num_splits": "3"}, [("f32", "1..4,2"), np.array(0)]),
    *(
        ("Gather-8", {"batch_dims": batches}, [("f32", data), ("i64", indices), ("i64", "")])
        for batches in ("1", "-1", "2")
        for data, indices in product(("2", "2,3", "2,3,4"), ("2", "2,3", "2,3,4"))
    ),
    *(("GatherND-8", {"batch_dims": "1"}, [("f32", data), ("i64", "2,1")]) for data in ("?,3", "1..5,3", "3,3")),
    ("Broadcast-3", {"mode": "explicit"}, [("f32", "2,2"), whole([2, 2, 2]), whole([0, 0])]),
    ("Broadcast-3", {"mode": "explicit"}, [("f32", "2,2"), whole([2, 2, 2]), whole([2, 2])]),
    ("Broadcast-3", {"mode": "explicit"}, [("f32", "2,2"), whole([2, 2, 2]), whole([1, 2])]),
    ("Reverse-1", {"mode": "index"}, [("f32", "2,3"), whole([-1])]),
    ("Reverse-1", {"mode": "index"}, [("f32", "2,3"), whole([2])]),
    ("OneHot-1", {}, [("i64", "4,2"), np.array(3), np.array(1, np.float32), np.array(0, np.float32)]),
    ("OneHot-1", {"axis": "0"}, [("i64", "4"), Between("i64", ((2, 6),), scalar=True), ONE, ONE]),
    ("OneHot-1", {"axis": "0"}, [("i64", "4"), Between("i64", ((-1, 6),), scalar=True), ONE, ONE]),
    ("Mod-1", {}, [Between("i64", ((2, 6), (5, 6), (8, 9), (4, 7), (0, 100), (2, 2))), whole([4])]),
    ("Mod-1", {}, [Between("i64", ((2, 3), (2, 6), (10, 11))), whole([8, 7, 1])]),
    ("Mod-1", {}, [Between("i64", ((2, None),)), whole([4])]),
    ("ReduceSum-1", {"keep_dims": "false"}, [whole([]), whole([0])]),
    ("ReduceProd-1", {"keep_dims": "true"}, [whole([]), whole([0])]),
    ("ReduceMax-1", {"keep_dims": "false"}, [("f32", "2,3"), ("i64", "")]),
    ("ReduceMax-1", {"keep_dims": "false"}, [("f32", "2,3"), ("i64", "1")]),
    ("ReduceMax-1", {"keep_dims": "false"}, [("f32", "2,3"), ("i64", "2")]),
    ("ReduceMax-1", {"keep_dims": "false"}, [("f32", "2,3"), ("i64", "1..2")]),
    ("ReduceMax-1", {"keep_dims": "true"}, [("f32", ""), ("i64", "...")]),
    ("Reshape-1", {"special_zero": "false"}, [("f32", "10..20"), Between("i64", ((-1, -1), (3, 4)))]),
    ("Squeeze-15", {"allow_axis_skip": "true"}, [("f32", "?,1,3"), whole([1])]),
    ("Squeeze-15", {"allow_axis_skip": "true"}, [("f32", "?,1,3"), whole([0])]),
    ("SparseFillEmptyRows-16", {}, [("f32", "?"), whole([3, 2]), whole([[0, 1], [1, 1]]), np.array(0, np.float32)]),
    ("SparseFillEmptyRows-16", {}, [("f32", "2"), whole([3, 2]), whole([[0, 1], [1, 1]]), np.array(0, np.float32)]),
)


@pytest.mark.parametrize(("name", "raw", "slots"), SHAPES)
def test_shapes(name: str, raw: Mapping[str, str], slots: Sequence[Slot], client: RuntimeClient) -> None:
    outputs = int(raw.get("num_splits", len(OPS[name].outputs)))
    compare_shapes(client, Setting(OPS[name], slots, raw, outputs))


def run(op: Op, raw: Mapping[str, str], arrays: Sequence[Array]) -> tuple[Array, ...]:
    attrs = attrs_of(op, raw)
    return computed(op, attrs, arrays)


@pytest.mark.parametrize(("dim", "wrong"), [("1..5", False), ("..4", False), ("..3", True), ("3", True), ("4", False)])
def test_pads_that_cut_off_more_than_there_is(dim: str, wrong: bool) -> None:
    facts = [fact_of(slot) for slot in (("f32", dim), whole([-2]), whole([-2]))]
    attrs = attrs_of(OPS["Pad-12"], {"pad_mode": "constant"})
    assert bool([*OPS["Pad-12"].check(attrs, facts)]) == wrong


@pytest.mark.parametrize("axes", [[-1], [-2], [0, -1], [0, 0], [0, -2]], ids=str)
def test_reversed_axes(axes: list[int], client: RuntimeClient) -> None:
    """They count from the end, too, and a repeated one counts once."""
    data, op = np.arange(6, dtype=np.float32).reshape(2, 3), OPS["Reverse-1"]
    text, blob = single_text("Reverse", 1, {"mode": "index"}, [("f32", "2,3"), whole(axes)])
    (wanted,) = client.infer(text, blob, {"in0": data}).outputs.values()
    (found,) = run(op, {"mode": "index"}, [data, whole(axes)])
    np.testing.assert_array_equal(found, wanted)


DATA = np.arange(6, dtype=np.float32).reshape(2, 3)
BEYOND: Sequence[tuple[str, Mapping[str, str], Sequence[Array]]] = (
    ("GatherElements-6", {"axis": "1"}, [DATA, whole([[3], [0]])]),
    ("GatherND-8", {}, [DATA, whole([[0, -4]])]),
    ("ScatterUpdate-3", {}, [DATA, whole([-1]), DATA[:1], np.array(0)]),
    ("ScatterElementsUpdate-12", {}, [DATA, whole([[3]]), DATA[:1, :1], np.array(1)]),
    ("ScatterNDUpdate-4", {}, [DATA, whole([[2]]), DATA[:1]]),
)


@pytest.mark.parametrize(("name", "raw", "arrays"), BEYOND, ids=[name for name, *_ in BEYOND])
def test_indices_beyond_an_axis(name: str, raw: Mapping[str, str], arrays: Sequence[Array]) -> None:
    """They have no meaning, and the error says which one it is."""
    with pytest.raises(ShapeError, match="indices holds"):
        run(OPS[name], raw, arrays)


@pytest.mark.parametrize("name", ["Squeeze-1", "Unsqueeze-1"])
@pytest.mark.parametrize("kind", ["bool", "float32", "int8"])
def test_types_of_axes(name: str, kind: str, client: RuntimeClient) -> None:
    case = Case(OPS[name], {}, [("f32", "1,2"), np.array([0], kind)])
    refused = list(check_types(case.op, [fact_of(slot) for slot in case.slots]))
    assert bool(refused) == (not runs(client, case))


@pytest.mark.parametrize("lists", [(2, 0, 0), (1, 1, 0), (1, 0, 2)], ids=str)
@pytest.mark.parametrize("name", ["BatchToSpace-2", "SpaceToBatch-2"])
def test_blocks_and_borders_of_the_batch_are_refused(name: str, lists: Sequence[int]) -> None:
    with pytest.raises(ShapeError, match="1, 0, 0 for the batch"):
        run(
            OPS[name],
            {},
            [
                np.ones((4, 2), np.float32),
                *(whole([of_batch, of_row]) for of_batch, of_row in zip(lists, (1, 0, 0), strict=True)),
            ],
        )


def test_search_in_lists_without_elements() -> None:
    (found,) = run(OPS["SearchSorted-15"], {}, [np.zeros((4, 0), np.float32), np.ones((4, 2), np.float32)])
    np.testing.assert_array_equal(found, np.zeros((4, 2)))


def weights(gates: int) -> list[Slot]:
    return [np.ones(shape, np.float32) for shape in ((1, gates, 1), (1, gates, 1), (1, gates))]


LENGTHS = {"hidden_size": "1", "direction": "forward", "activations": "tanh"}
SUSPECT: Sequence[tuple[str, Mapping[str, str], Sequence[Slot], str]] = (
    ("Pad-1", {"pad_mode": "constant"}, [("f32", "2"), whole([1]), whole([1]), ("f32", "")], "pad_value"),
    ("SpaceToBatch-2", {}, [("f32", "1,2"), whole([1, 3]), whole([0, 0]), whole([0, 1])], "block_shape"),
    ("SpaceToBatch-2", {}, [("f32", "1,2"), whole([2, 2]), whole([0, 0]), whole([0, 0])], "block_shape"),
    ("BatchToSpace-2", {}, [("f32", "4,2"), whole([2, 2]), whole([0, 0]), whole([0, 0])], "block_shape"),
    ("BatchToSpace-2", {}, [("f32", "4,2"), whole([1, 2]), whole([1, 0]), whole([0, 0])], "crops_begin"),
    ("BatchToSpace-2", {}, [("f32", "4,2"), whole([1, 2]), whole([0, 0]), whole([2, 0])], "crops_end"),
    ("RNNSequence-5", LENGTHS, [("f32", "?,3,1"), ("f32", "1,1,1"), whole([2]), *weights(1)], "sequence_lengths"),
    (
        "Range-4",
        {"output_type": "i32"},
        [np.array(1, np.float32), np.array(5, np.float32), np.array(0.25, np.float32)],
        "step",
    ),
)


@pytest.mark.parametrize(("name", "raw", "slots", "offending"), SUSPECT, ids=[f"{row[0]}-{row[3]}" for row in SUSPECT])
def test_what_the_plugin_reads_otherwise(
    name: str, raw: Mapping[str, str], slots: Sequence[Slot], offending: str, client: RuntimeClient
) -> None:
    """It runs, and gives something else than is written: a warning."""
    op = OPS[name]
    attrs = attrs_of(op, raw)
    found = [(fault.attribute, fault.kind) for fault in op.check(attrs, [fact_of(slot) for slot in slots])]
    assert found == [(offending, ViolationKind.SUSPECT)]
    given = [("f32", slot[1].replace("?", "1")) if isinstance(slot, tuple) else slot for slot in slots]
    assert runs(client, Case(op, raw, given))


@pytest.mark.parametrize(
    ("name", "raw", "slots"),
    [
        ("Pad-1", {"pad_mode": "constant"}, [("f32", "2"), ("i64", "1"), ("i64", "1"), ("f32", "")]),
        ("SpaceToBatch-2", {}, [("f32", "1,2"), whole([1, 2]), whole([0, 1]), whole([0, 1])]),
        ("BatchToSpace-2", {}, [("f32", "4,2"), whole([1, 2]), whole([0, 1]), whole([0, 0])]),
        ("RNNSequence-5", LENGTHS, [("f32", "?,3,1"), ("f32", "1,1,1"), whole([3]), *weights(1)]),
    ],
    ids=["Pad", "SpaceToBatch", "BatchToSpace", "RNNSequence"],
)
def test_what_the_plugin_reads_as_written(name: str, raw: Mapping[str, str], slots: Sequence[Slot]) -> None:
    attrs = attrs_of(OPS[name], raw)
    assert not list(OPS[name].check(attrs, [fact_of(slot) for slot in slots]))


def test_repeats_that_no_machine_holds() -> None:
    """Found for data of any size, as long as there are any."""
    op = OPS["Tile-1"]
    facts = [fact_of(slot) for slot in (("f32", "?,3"), whole([1 << 40, 1]))]
    attrs = attrs_of(op, {})
    assert [fault.kind for fault in op.check(attrs, facts)] == [ViolationKind.FATAL]


def test_lengths_below_minus_one_are_no_lengths() -> None:
    with pytest.raises(ShapeError, match="values below -1"):
        _parts(Dim.of(3), [-2, 3])
    assert _parts(Dim.of(3), [-1, 3]) == [Dim.of(0), Dim.of(3)]


@pytest.mark.parametrize("dim", ["?", "4..", "2..8", "5"])
@pytest.mark.parametrize("lengths", [[-1], [3, -1], [-1, 2, 1]], ids=str)
def test_the_rest_of_an_interval_has_any_size(lengths: list[int], dim: str, client: RuntimeClient) -> None:
    slots = (("f32", f"{dim},3"), np.array(0), whole(lengths))
    assert compare_shapes(client, Setting(OPS["VariadicSplit-1"], slots, {}, len(lengths)))


@pytest.mark.parametrize("axes", [*permutations(range(3), 2)], ids=str)
def test_axes_of_a_mapping_ascend(axes: tuple[int, int]) -> None:
    sizes = [4, 4, 4]
    for axis, size in zip(axes, (2, 3), strict=True):
        sizes[axis] = size
    op = find_op("Broadcast", "opset3")
    assert op is not None
    attrs = attrs_of(op, {"mode": "explicit"})
    facts = [fact_of(array) for array in (np.zeros((2, 3)), np.array(sizes), np.array(axes))]
    with nullcontext() if axes[0] < axes[1] else pytest.raises(ShapeError, match="ascending"):
        assert op.outputs_of(attrs, facts)


@pytest.mark.parametrize(("axes", "fits"), [([], True), ([1], True), ([0, 1], False)])
def test_a_mapping_of_a_scalar_may_have_one_axis(axes: list[int], fits: bool) -> None:
    """It counts as one element then."""
    op = find_op("Broadcast", "opset3")
    assert op is not None
    facts = [fact_of(np.array(1, np.float32)), fact_of(np.array([2, 1])), fact_of(np.array(axes, np.int64))]
    with nullcontext() if fits else pytest.raises(ShapeError, match="has 2 values"):
        assert op.outputs_of(attrs_of(op, {"mode": "explicit"}), facts)


@pytest.mark.parametrize(("sizes", "wrong"), [((2, 3, 1), True), ((2, 3, 0), False)])
def test_lengths_of_nothing_are_never_too_long(sizes: tuple[int, ...], wrong: bool) -> None:
    op = find_op("ReverseSequence", "opset1")
    assert op is not None
    attrs = attrs_of(op, {"batch_axis": "0", "seq_axis": "1"})
    assert bool([*op.check(attrs, [fact_of(np.zeros(sizes)), fact_of(np.array([1, 9]))])]) == wrong


@pytest.mark.parametrize("pads", [((0, -2), (0, -1)), ((0, 0), (0, -1)), ((0, -2), (0, 3)), ((0, 3), (0, -4))])
def test_negative_pads_of_a_space_remove_elements(client: RuntimeClient, pads: tuple[tuple[int, int], ...]) -> None:
    arrays = [np.arange(10, dtype=np.float32).reshape(2, 5), np.array([1, 2]), *map(np.array, pads)]
    op = OPS["SpaceToBatch-2"]
    (found,) = computed(op, Attrs({}), arrays)
    (wanted,) = values_of(client, [Fed(op, {}, arrays, {1, 2, 3})])[0]
    np.testing.assert_array_equal(found, wanted)
