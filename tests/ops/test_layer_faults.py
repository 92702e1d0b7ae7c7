"""Layers that move elements, and what cannot run or hardly as meant: found without the runtime, and held against it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.ops import Op, Violation, find_op
from ir_tools.ops.definition import ViolationKind
from ir_tools.runtime.client import RuntimeClient
from tests.ops.layer_support import fact_of
from tests.ops.samples import ints
from tests.ops.single import Slot, single_text

Case = tuple[str, int, Mapping[str, str], Sequence[Slot]]
DATA = ("f32", "2,3")
SCALAR = ("f32", "")


def one(value: float) -> Slot:
    return np.array(value)


MANY = {"output_dim": "2", "spatial_scale": "1", "group_size": "2", "part_size": "2"}
INFINITE = {"pooled_h": "2", "pooled_w": "2", "spatial_scale": "inf"}
DEFORMED: Sequence[Slot] = [("f32", "1,8,8,8"), ("f32", "2,5"), ("f32", "2,2,2,2")]


def f32(value: float) -> Slot:
    return np.array(value, np.float32)


RNN = {"hidden_size": "4", "activations": "tanh"}
STEPS: Sequence[Slot] = [("f32", "2,5,3"), ("f32", "2,1,4")]
WEIGHTS = [np.ones(sizes, np.float32) for sizes in ((1, 4, 3), (1, 4, 4), (1, 4))]
DETECTION = {"code_type": "caffe.PriorBoxParameter.CORNER", "nms_threshold": "0.5", "normalized": "true"}
BOXES: Sequence[Slot] = [("f32", "1,16"), ("f32", "1,8"), ("f32", "1,2,16")]
REGIONS = {"axis": "1", "end_axis": "3", "coords": "4", "classes": "2", "num": "2", "do_softmax": "true"}
REGION_DATA: Sequence[Slot] = [("f32", "1,14,2,2")]
BROKEN: Mapping[str, Case] = {
    "shape changes the number": ("Reshape", 1, {"special_zero": "false"}, [DATA, ints(4, 2)]),
    "shape has no size for -1": ("Reshape", 1, {"special_zero": "false"}, [DATA, ints(4, -1)]),
    "shape holds -1 2 times": ("Reshape", 1, {"special_zero": "false"}, [DATA, ints(-1, -1)]),
    "shape holds -2": ("Reshape", 1, {"special_zero": "false"}, [DATA, ints(-2, 3)]),
    "shape has 0 for dimension 2": ("Reshape", 1, {"special_zero": "true"}, [DATA, ints(2, 3, 0)]),
    "axes is 5": ("Squeeze", 1, {}, [DATA, ints(5)]),
    "axes is [1,1]; expected a list": ("Squeeze", 1, {}, [("f32", "1,3"), np.array([[0]])]),
    "axes is -4": ("Unsqueeze", 1, {}, [DATA, ints(-4)]),
    "axes is empty": ("Unsqueeze", 1, {}, [DATA, ints()]),
    "axes is empty, and the runtime crashes": ("RDFT", 9, {}, [DATA, ints()]),
    "axes is empty, and": ("IRDFT", 9, {}, [("f32", "2,3,2"), ints()]),
    "is not a permutation": ("Transpose", 1, {}, [DATA, ints(0, 0)]),
    "order has 3 values": ("Transpose", 1, {}, [DATA, ints(0, 1, 2)]),
    "group is 2": ("ShuffleChannels", 1, {"axis": "1", "group": "2"}, [DATA]),
    "block_size requires": ("DepthToSpace", 1, {"mode": "blocks_first", "block_size": "2"}, [("f32", "1,3,4,4")]),
    "every spatial size": ("SpaceToDepth", 1, {"mode": "blocks_first", "block_size": "2"}, [("f32", "1,3,5,4")]),
    "seq_lengths has 3": ("ReverseSequence", 1, {}, [DATA, ints(1, 1, 1)]),
    "seq_lengths holds 9": ("ReverseSequence", 1, {}, [DATA, ints(1, 9)]),
    "sequence_lengths holds 6": (
        "RNNSequence",
        5,
        RNN | {"direction": "reverse"},
        [*STEPS, ints(5, 6), *WEIGHTS],
    ),
    "sequence_lengths holds -1": (
        "RNNSequence",
        5,
        RNN | {"direction": "bidirectional"},
        [STEPS[0], ("f32", "2,2,4"), ints(-1, 5), *(np.repeat(array, 2, 0) for array in WEIGHTS)],
    ),
    "axis is 7": ("Concat", 1, {"axis": "7"}, [DATA, DATA]),
    "differs from the other inputs": ("Concat", 1, {"axis": "0"}, [DATA, ("f32", "2,4")]),
    "expected rank 2": ("Concat", 1, {"axis": "0"}, [DATA, ("f32", "2,3,1")]),
    "different element types": ("Concat", 1, {"axis": "0"}, [DATA, ("i32", "2,3")]),
    "num_splits is 2": ("Split", 1, {"num_splits": "2"}, [DATA, one(1)]),
    "axis is 2": ("Split", 1, {"num_splits": "1"}, [DATA, one(2)]),
    "split_lengths 1,3 add up to 4": ("VariadicSplit", 1, {}, [DATA, one(1), ints(1, 3)]),
    "split_lengths -1,-1": ("VariadicSplit", 1, {}, [DATA, one(1), ints(-1, -1)]),
    "step holds 0": ("Slice", 8, {}, [DATA, ints(0), ints(1), ints(0)]),
    "has an axis more than once": ("Slice", 8, {}, [DATA, ints(0, 0), ints(1, 1), ints(1, 1), ints(1, -1)]),
    "the layer has no axes_mapping": ("Broadcast", 1, {"mode": "pdpd"}, [DATA, ints(2, 3)]),
    "updates is": ("SliceScatter", 15, {}, [DATA, ("f32", "2,2"), ints(0), ints(1), ints(1), ints(1)]),
    "strides holds 0": ("StridedSlice", 1, {"begin_mask": "0", "end_mask": "0"}, [DATA, ints(0), ints(1), ints(0)]),
    "end_mask has 2 values": ("StridedSlice", 1, {"begin_mask": "0", "end_mask": "0,0"}, [DATA, ints(0), ints(1)]),
    "begin holds 5": (
        "StridedSlice",
        1,
        {"begin_mask": "0", "end_mask": "0", "shrink_axis_mask": "1"},
        [DATA, ints(5), ints(6)],
    ),
    "remove 3 of": ("Pad", 12, {"pad_mode": "constant"}, [DATA, ints(-3, 0), ints(0, 0)]),
    "pads_begin has 1 value": ("Pad", 1, {"pad_mode": "constant"}, [DATA, ints(1), ints(1, 1)]),
    "pad_mode is reflect": ("Pad", 1, {"pad_mode": "reflect"}, [DATA, ints(2, 0), ints(0, 0)]),
    "pad_mode is symmetric": ("Pad", 1, {"pad_mode": "symmetric"}, [DATA, ints(3, 0), ints(0, 0)]),
    "makes the output": ("Pad", 1, {"pad_mode": "constant"}, [DATA, ints(10**7, 10**7), ints(0, 0)]),
    "pads_end holds -1000000000": ("Pad", 1, {"pad_mode": "constant"}, [DATA, ints(0, 0), ints(0, -(10**9))]),
    "repeats is": ("Tile", 1, {}, [DATA, np.ones((1, 1), np.int64)]),
    "6000000000000 elements do not fit": ("Tile", 1, {}, [DATA, ints(10**6, 10**6)]),
    "target_shape is [2,4]": ("Broadcast", 3, {"mode": "numpy"}, [DATA, ints(2, 4)]),
    "axes_mapping is missing": ("Broadcast", 3, {"mode": "explicit"}, [DATA, ints(2, 3)]),
    "axes_mapping is 1,0": ("Broadcast", 3, {"mode": "explicit"}, [DATA, ints(3, 2), ints(1, 0)]),
    "block_shape is 2": ("SpaceToBatch", 2, {}, [DATA, ints(1, 2), ints(0, 0), ints(0, 0)]),
    "block_shape divides the batch by 4": ("BatchToSpace", 2, {}, [DATA, ints(1, 4), ints(0, 0), ints(0, 0)]),
    "crops_begin and crops_end remove": ("BatchToSpace", 2, {}, [DATA, ints(1, 1), ints(0, 3), ints(0, 3)]),
    "axis is 4": ("Gather", 8, {}, [DATA, ints(0), one(4)]),
    "batch_dims is 1": ("Gather", 8, {"batch_dims": "1"}, [DATA, ints(0, 0), one(0)]),
    "indices holds 3": ("GatherElements", 6, {"axis": "1"}, [DATA, np.array([[3], [0]])]),
    "indices has rank 1": ("GatherElements", 6, {"axis": "1"}, [DATA, ints(0)]),
    "indices index 3 axes": ("GatherND", 8, {}, [DATA, np.array([[0, 0, 0]])]),
    ", but the axis has 2": ("ScatterUpdate", 3, {}, [DATA, ints(2), ("f32", "1,3"), one(0)]),
    "indices holds -1": ("ScatterUpdate", 3, {}, [DATA, ints(-1), ("f32", "1,3"), one(0)]),
    "indices holds 7": ("ScatterElementsUpdate", 3, {}, [DATA, np.array([[7]]), ("f32", "1,1"), one(0)]),
    "indices holds 9": ("ScatterNDUpdate", 4, {}, [DATA, np.array([[0, 9]]), ("f32", "1")]),
    "depth is -1": ("OneHot", 1, {"axis": "0"}, [("i64", "2"), one(-1), SCALAR, SCALAR]),
    "step is 0; expected a finite number": ("Range", 4, {"output_type": "i64"}, [one(0), one(9), one(0)]),
    "is boolean; expected a type of numbers": ("Range", 4, {"output_type": "boolean"}, [one(0), one(9), one(2)]),
    "is u3, which the CPU plugin does not support": ("Range", 4, {"output_type": "u3"}, [one(0), one(9), one(2)]),
    "num_rows is negative": ("Eye", 9, {"output_type": "f32"}, [one(-1), one(2), one(0)]),
    "axis is not a constant": ("Unique", 10, {}, [DATA, ("i64", "")]),
    "values is a scalar": ("SearchSorted", 15, {}, [DATA, SCALAR]),
    "slope has 10 values": ("PReLU", 1, {}, [("f32", "1,8,4,4"), ("f32", "10")]),
    "cannot be broadcast to the data [2,3]": ("PReLU", 1, {}, [DATA, ("f32", "2,2")]),
    "cannot be broadcast to the data [3]": ("PReLU", 1, {}, [("f32", "3"), ("f32", "2")]),
    "which the CPU plugin does not support": ("Eye", 9, {"output_type": "string"}, [one(2), one(2), one(0)]),
    "read 40000000 channels": ("DeformablePSROIPooling", 1, MANY | {"output_dim": "10000000"}, DEFORMED),
    "which reads offset 50000000": ("DeformablePSROIPooling", 1, MANY | {"part_size": "100000000"}, DEFORMED),
    "expected a positive number": ("ROIPooling", 1, INFINITE, [("f32", "1,8,8,8"), ("f32", "2,5")]),
    "names an axis, but the data is a scalar": ("NormalizeL2", 1, {"eps": "1", "eps_mode": "add"}, [SCALAR, ints(-1)]),
    "buckets is": ("Bucketize", 3, {"output_type": "i64"}, [DATA, DATA]),
    "ends holds 9,3": ("StringTensorPack", 15, {}, [("i32", "2"), ints(9, 3), ("u8", "9")]),
    "ends holds 10, but there are 9 symbols": ("StringTensorPack", 15, {}, [("i32", "2"), ints(9, 10), ("u8", "9")]),
    "begins holds -1,3": ("StringTensorPack", 15, {}, [ints(-1, 3), ("i32", "2"), ("u8", "9")]),
    "outside the 2 rows": ("SparseFillEmptyRows", 16, {}, [("f32", "1"), ints(2, 2), np.array([[2, 0]]), SCALAR]),
}
"""What the runtime rejects, cannot run, or exhausts memory on, by what is said of it."""

SUSPECT: Mapping[str, Case] = {
    "is 1,0, but the runtime reads the sizes": (
        "Interpolate",
        1,
        {"mode": "nearest", "axes": "1,0"},
        [DATA, ints(4, 5)],
    ),
    "is [2,1,1], which cannot be broadcast to the data [2,3]": ("PReLU", 1, {}, [DATA, ("f32", "2,1,1")]),
    "the runtime returns zeros": ("Gather", 8, {}, [DATA, ints(0, 5), one(1)]),
    "the runtime may crash": ("Gather", 8, {"batch_dims": "1"}, [("f32", "1,3"), ("i64", "1,2"), one(1)]),
    "uninitialized": ("Tile", 1, {}, [DATA, ints()]),
    "input_low is 1, but input_high is 1: there": ("FakeQuantize", 1, {"levels": "9"}, [DATA, *map(f32, (1, 1, 0, 1))]),
    "input_low is 1, but input_high is -1: the": ("FakeQuantize", 1, {"levels": "2"}, [DATA, *map(f32, (1, -1, 0, 1))]),
    "sequence_lengths holds 6": ("RNNSequence", 5, RNN, [*STEPS, ints(5, 6), *WEIGHTS]),
    "b holds 0": ("Divide", 1, {}, [DATA, np.array([1, 0, 2], np.float32)]),
    "b holds 0, by which": ("FloorMod", 1, {}, [("i64", "2"), ints(1, 0)]),
    "scale holds 0": ("FakeConvert", 13, {}, [DATA, f32(0)]),
    "buckets is not in ascending order": (
        "Bucketize",
        3,
        {"output_type": "i64"},
        [DATA, np.array([1, 0, 2], np.float32)],
    ),
    "sorted_sequence is not": ("SearchSorted", 15, {}, [np.array([1, 0, 2], np.float32), ("f32", "4")]),
    "has 2 values, of which": ("DetectionOutput", 8, DETECTION | {"keep_top_k": "5,5"}, BOXES),
    "end_axis is 0, which is before axis 1": ("RegionYolo", 1, REGIONS | {"end_axis": "0"}, REGION_DATA),
    "not among the 2 of num": ("RegionYolo", 1, REGIONS | {"do_softmax": "false", "mask": "1,2"}, REGION_DATA),
    "max_size holds a number that is not larger": (
        "PriorBox",
        8,
        {"min_size": "16", "max_size": "8", "offset": "0.5", "variance": "0.1"},
        [ints(2, 2), ints(32, 32)],
    ),
    "pads_end holds -1, which removes": ("SpaceToBatch", 2, {}, [DATA, ints(1, 1), ints(0, 0), ints(0, -1)]),
    "also the batch_axis": ("ReverseSequence", 1, {"batch_axis": "0", "seq_axis": "0"}, [DATA, ints(1, 1)]),
}
"""What the runtime takes and hardly does as meant."""


def faults(case: Case) -> list[Violation]:
    type, version, raw, slots = case
    op = find_op(type, f"opset{version}")
    assert isinstance(op, Op)
    found: list[Violation] = []
    attrs = op.read(raw, found)
    assert attrs is not None
    facts = [fact_of(slot) for slot in slots]
    found += op.check(attrs, facts)
    try:
        op.outputs_of(attrs, facts)
    except ShapeError as why:
        found.append(Violation("", str(why)))
    return found


@pytest.mark.parametrize("words", BROKEN)
def test_broken(words: str) -> None:
    found = faults(BROKEN[words])
    assert any(words in fault.text for fault in found), found
    assert any(fault.kind is not ViolationKind.SUSPECT for fault in found)


@pytest.mark.parametrize("words", BROKEN)
def test_the_runtime_does_not_run_it_either(words: str, client: RuntimeClient) -> None:
    type, version, raw, slots = BROKEN[words]
    text, blob = single_text(type, version, raw, slots)
    arrays = {
        f"in{index}": np.ones(
            [int(size) for size in slot[1].split(",") if size], {"f32": np.float32}.get(slot[0], np.int64)
        )
        for index, slot in enumerate(slots)
        if isinstance(slot, tuple)
    }
    with pytest.raises(RuntimeFailure):
        client.infer(text, blob, arrays)


@pytest.mark.parametrize("words", SUSPECT)
def test_suspect(words: str) -> None:
    (fault,) = faults(SUSPECT[words])
    assert words in fault.text
    assert fault.kind is ViolationKind.SUSPECT


@pytest.mark.parametrize("words", SUSPECT)
def test_the_runtime_reads_what_is_suspect(words: str, client: RuntimeClient) -> None:
    type, version, raw, slots = SUSPECT[words]
    assert client.shapes(*single_text(type, version, raw, slots))
