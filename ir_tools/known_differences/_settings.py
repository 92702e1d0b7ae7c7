"""Settings of reductions, normalisations, spectra, pooling and others that the plugin does not do like the rest."""

import numpy as np

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, everywhere, refused, unwritten
from ir_tools.known_differences._model import LINE, Call, Fixed, Given, counted, floats
from ir_tools.processors import Processor

__all__ = ["ROWS"]

REDUCTIONS = (
    *("ReduceSum-1", "ReduceMean-1", "ReduceMax-1", "ReduceMin-1", "ReduceProd-1"),
    *("ReduceLogicalAnd-1", "ReduceLogicalOr-1", "ReduceL1-4", "ReduceL2-4"),
)
HALVES = np.array([[np.nan, 1], [0.5, 3]], np.float16)
GROUPS = {"num_groups": "2", "epsilon": "0.1"}
POOL = {
    "kernel": "2,2",
    "strides": "1,1",
    "pads_begin": "0,0",
    "pads_end": "0,0",
    "auto_pad": "same_lower",
    "dilations": "1,1",
    "index_element_type": "i32",
}


def _axes(*values: int) -> Fixed:
    return Fixed(np.array(values, np.int64))


def _lone_matrix(layer: Instance) -> bool:
    data, matrices = (array.shape for array in layer.inputs)
    return (
        1 in layer.constant
        and 0 not in layer.constant
        and len(matrices) == 3
        and matrices[0] != 1
        and (len(data) == 2 or (len(data) == 3 and data[0] == 1))
    )


REFUSED = (
    refused(
        name="reductions along computed axes",
        ops=REDUCTIONS,
        setting='`axes` that is not a constant, with `keep_dims="false"` or certain element types',
        reason="The plugin requires a known output rank.",
        model=Call("ReduceSum-1", (counted(2, 3), np.array([0, 1])), {"keep_dims": "false"}),
    ),
    refused(
        name="MVN-1 of rank 6",
        ops=("MVN-1",),
        setting="data of rank 6 or more",
        reason="The plugin supports rank 5 at most.",
        model=Call("MVN-1", (counted(1, 1, 1, 1, 2, 3),), {"eps": "0.1", "normalize_variance": "true"}),
    ),
    refused(
        name="parameters of Selu-1 and HardSigmoid-1",
        ops=("Selu-1", "HardSigmoid-1"),
        setting="a second or third input that is not a constant",
        reason="The plugin supports only constants.",
        model=Call("Selu-1", (counted(2), floats([1]), floats([1]))),
    ),
    refused(
        name="convolutions by filters of unknown size",
        ops=("Convolution-1", "GroupConvolution-1", "ConvolutionBackpropData-1", "GroupConvolutionBackpropData-1"),
        setting="filters that are not constants and have an unknown size",
        reason="The plugin does not implement this.",
        model=Call(
            "Convolution-1",
            (counted(1, 1, 3), Given(counted(1, 1, 2), "1,1,?")),
            LINE,
        ),
    ),
    refused(
        name="spectra along computed axes",
        ops=("RDFT-9", "IRDFT-9"),
        setting="`axes` or `signal_size` that is not a constant, and data of known size",
        reason="The plugin supports such inputs only for data of unknown size; without `signal_size` it may crash.",
        model=Call("RDFT-9", (counted(2, 4), _axes(1), np.array([3]))),
    ),
    refused(
        name="GroupNormalization-12 of matrices",
        ops=("GroupNormalization-12",),
        setting="bf16 data, or data of rank 2 and unknown size",
        reason="The plugin does not implement this.",
        model=Call(
            "GroupNormalization-12", (Given(counted(3, 4), "?,4"), floats(1, 1, 1, 1), floats(0, 0, 0, 0)), GROUPS
        ),
    ),
    refused(
        name="operations on two scalars that are not broadcast",
        ops=("Add-1", "Subtract-1", "Multiply-1", "Maximum-1", "Minimum-1", "LogicalAnd-1", "Select-1"),
        setting='`auto_broadcast="none"`, two scalars, and one of them a constant',
        reason="The runtime converts the constant to a tensor of rank 1, whose shape then differs from the other one.",
        model=Call("Add-1", (np.array(3.0), Fixed(np.array(-4.0))), {"auto_broadcast": "none"}),
    ),
)
DEADLY = (
    KnownDifference(
        name="StringTensorPack-15 of nothing",
        ops=("StringTensorPack-15",),
        kind=DifferenceKind.DIES,
        setting="an empty last axis",
        reason="The plugin divides by the size of this axis.",
        model=Call("StringTensorPack-15", (np.zeros(0, np.int32), np.zeros(0, np.int32), np.array([97], np.uint8))),
    ),
)
VALUES = (
    KnownDifference(
        name="MaxPool-8 with indices over unknown sizes",
        ops=("MaxPool-8", "MaxPool-14"),
        setting="`same_upper` or `same_lower`, unknown spatial sizes, and indices that a layer or Result reads",
        reason="The plugin ignores the padding. If nothing reads the indices, the values are right.",
        model=Call("MaxPool-8", (Given(counted(1, 1, 3, 3), "1,1,?,?"),), POOL),
        applies=lambda layer: bool(layer.attrs.auto_pad.startswith("same")),
    ),
    KnownDifference(
        name="Clamp-1 of 8 bits between fractions",
        ops=("Clamp-1",),
        setting="i8 or u8, a `min` above 0 or a `max` below 0 that is a fraction",
        reason="The plugin cuts fractions off; by the specification `min` is rounded up and `max` down.",
        model=Call("Clamp-1", (np.arange(5, dtype=np.uint8),), {"min": "0.75", "max": "3"}),
        applies=lambda layer: (
            layer.inputs[0].dtype.name in {"int8", "uint8"}
            and (layer.attrs.min > 0 < layer.attrs.min % 1 or layer.attrs.max < 0 < layer.attrs.max % 1)
        ),
    ),
    KnownDifference(
        name="CTCGreedyDecoderSeqLen to f8",
        ops=("CTCGreedyDecoderSeqLen-6",),
        setting="`classes_index_type` or `sequence_length_type` of f8e4m3 or f8e5m2",
        reason="The plugin does not convert integers to f8: it fails, or with one thread leaves the output unset.",
        model=Call(
            "CTCGreedyDecoderSeqLen-6",
            (counted(1, 2, 2), np.array([2], np.int32)),
            {"classes_index_type": "f8e4m3"},
        ),
        applies=lambda layer: any(
            kind.name.startswith("f8e") for kind in (layer.attrs.classes_index_type, layer.attrs.sequence_length_type)
        ),
        processor=Processor.NO_AMX,
    ),
    KnownDifference(
        name="IRDFT-9 along three axes and more",
        ops=("IRDFT-9",),
        setting="three axes or more, with a `signal_size` other than that of the data",
        reason="The plugin uses strides of other sizes, and reads outside the data.",
        model=Call("IRDFT-9", (counted(2, 2, 9, 2), _axes(0, 1, 2), _axes(2, 1, 16))),
        applies=lambda layer: len(layer.inputs) > 2 and layer.inputs[1].size > 2,
    ),
    KnownDifference(
        name="NormalizeL2-1 along no axis",
        ops=("NormalizeL2-1",),
        setting="empty `axes`, and data of rank 1",
        reason=(
            "By the specification each element is divided by its own magnitude. The plugin keeps the sign and "
            "applies `eps`."
        ),
        model=Call("NormalizeL2-1", (floats(-2, 3), _axes()), {"eps": "0.1", "eps_mode": "add"}),
        applies=lambda layer: not layer.inputs[1].size and layer.inputs[0].ndim < 2,
    ),
    KnownDifference(
        name="MVN-6 of integers",
        ops=("MVN-6",),
        setting="integers, normalized along axes other than the last ones",
        reason="The runtime decomposes the layer and rounds after every step; the reference rounds once.",
        model=Call(
            "MVN-6",
            (np.array([[1, 4], [2, 7]], np.int32), _axes(0)),
            {"eps": "1e-9", "eps_mode": "inside_sqrt", "normalize_variance": "false"},
        ),
        applies=lambda layer: layer.kind() in "iu",
    ),
    KnownDifference(
        name="FakeQuantize-1 with 255 levels",
        ops=("FakeQuantize-1",),
        kind=DifferenceKind.COARSE,
        setting="255 levels between limits that are nearly, not quite, symmetric (up to a quarter of a level)",
        reason="The runtime makes the limits symmetric.",
        model=Call(
            "FakeQuantize-1",
            (floats(-0.5, 1, 3), *(Fixed(floats([value])) for value in (-5.96, 5.97, -5.96, 5.97))),
            {"levels": "255"},
        ),
        applies=lambda layer: bool(layer.attrs.levels == 255),
    ),
    KnownDifference(
        name="FakeQuantize-1 of NaN",
        ops=("FakeQuantize-1",),
        setting="a NaN in the data, with few levels in f32, with f16 or bf16, or with limits that are not constants",
        reason=(
            "The plugin and the reference convert NaN to the low limit; in these settings the plugin returns NaN "
            "or the high limit."
        ),
        model=Call(
            "FakeQuantize-1",
            (HALVES, *(one.astype(np.float16) for one in (floats([0]), floats([2]), floats([0]), floats([2])))),
            {"levels": "17"},
        ),
        applies=lambda layer: layer.kind() == "f" and bool(np.isnan(layer.inputs[0].astype(np.float32)).any()),
    ),
    KnownDifference(
        name="MatMul-1 of one matrix of unknown size by several",
        ops=("MatMul-1",),
        setting="data of rank 2, or of rank 3 with a batch of 1, of unknown sizes, and several constant matrices",
        reason=(
            "The plugin uses the batch of the data as that of the product: it returns no rows, rejects the data or "
            "crashes."
        ),
        model=Call("MatMul-1", (Given(counted(1, 2, 4), "1,?,4"), Fixed(counted(3, 4, 5)))),
        applies=_lone_matrix,
    ),
    unwritten(
        name="MatMul-1 of nothing",
        ops=("MatMul-1",),
        setting="matrices whose common dimension is 0",
        reason="The result is 0, the sum of no products; for integers the plugin leaves its output uninitialized.",
        model=Call("MatMul-1", (np.zeros((1, 11, 0), np.uint16), Fixed(np.zeros((1, 0, 7), np.uint16)))),
        applies=lambda layer: not layer.inputs[0].size,
        arbitrary=everywhere,
    ),
)
ROWS = (*REFUSED, *DEADLY, *VALUES)
