"""For each operation a layer that the runtime takes: required attributes only, small inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ir_tools.ops import Op
from tests.ops.single import Slot

__all__ = ["Sample", "sample_of"]


@dataclass(frozen=True)
class Sample:
    """Attributes by name in the file, and inputs: `f32 1,3,8,8` for a Parameter, or an array for a constant."""

    raw: Mapping[str, str]
    slots: tuple[Slot, ...]


def sizes_in(sample: Sample) -> list[str]:
    """The sizes of the inputs of a layer that are not constants, each once."""
    return sorted({size for slot in sample.slots if isinstance(slot, tuple) for size in slot[1].split(",") if size})


def resized(sample: Sample, old: str, new: str) -> Sample:
    """The layer with another size of its inputs wherever the old one is."""
    slots = (
        (slot[0], ",".join(new if size == old else size for size in slot[1].split(",")))
        if isinstance(slot, tuple)
        else slot
        for slot in sample.slots
    )
    return Sample(sample.raw, tuple(slots))


def sample(attributes: str, *inputs: str | npt.NDArray[np.generic]) -> Sample:
    raw = dict(pair.split("=", 1) for pair in attributes.split(";") if pair)
    return Sample(raw, tuple(_slot(text) if isinstance(text, str) else text for text in inputs))


def _slot(text: str) -> tuple[str, str]:
    kind, _, shape = text.partition(" ")
    return kind, shape


def ints(*values: int) -> npt.NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def scalar(value: float, kind: str = "i64") -> npt.NDArray[np.generic]:
    return np.array(value, dtype={"i64": np.int64, "f32": np.float32, "i32": np.int32, "bool": np.bool_}[kind])


IMAGE = "f32 1,4,8,8"
WINDOWS = "strides=1,1;pads_begin=0,0;pads_end=0,0;dilations=1,1"
POOLING = "kernel=2,2;strides=1,1;pads_begin=0,0;pads_end=0,0"
ROIS = "f32 2,5"

ROWS: dict[str, Sample] = {
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceiling Cos Cosh Erf ErfInv Exp Floor Gelu": sample("", "f32 2,3"),
    "HSigmoid HSwish Identity IsFinite IsInf IsNaN Log LogSoftmax Mish Negative NonZero": sample("", "f32 2,3"),
    "ReLU Result Round Sigmoid Sign Sin Sinh SoftMax SoftPlus Sqrt Swish Tan Tanh": sample("", "f32 2,3"),
    "SoftSign": sample("", "f32 2,3"),
    "Add Atan2 ConvertLike Divide Equal FloorMod Greater GreaterEqual": sample("", "f32 2,3", "f32 2,3"),
    "Less LessEqual Maximum Minimum Mod Multiply NotEqual PReLU": sample("", "f32 2,3", "f32 2,3"),
    "Power SquaredDifference Subtract": sample("", "f32 2,3", "f32 2,3"),
    "LogicalAnd LogicalOr LogicalXor Xor": sample("", "boolean 2,3", "boolean 2,3"),
    "BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift": sample("", "i32 2,3", "i32 2,3"),
    "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum": sample("", "f32 2,3", ints(1)),
    "ReduceLogicalAnd ReduceLogicalOr": sample("", "boolean 2,3", ints(1)),
    "NV12toRGB NV12toBGR I420toRGB I420toBGR": sample("", "f32 1,6,4,1"),
    "RGBtoNV12 BGRtoNV12": sample("", "f32 1,4,4,3"),
    "DFT IDFT IRDFT": sample("", "f32 2,4,2", ints(1)),
    "LogicalNot": sample("", "boolean 2,3"),
    "BitwiseNot": sample("", "i32 2,3"),
    "ShapeOf": sample("output_type=i64", "f32 2,3"),
    "Clamp": sample("min=0;max=1", "f32 2,3"),
    "Elu": sample("alpha=1", "f32 2,3"),
    "HardSigmoid": sample("", "f32 2,3", "f32 ", "f32 "),
    "Selu": sample("", "f32 2,3", "f32 1", "f32 1"),
    "Select": sample("", "boolean 2,3", "f32 2,3", "f32 2,3"),
    "Convert": sample("destination_type=f16", "f32 2,3"),
    "ConvertPromoteTypes": sample("promote_unsafe=true", "f32 2,3", "f32 2,3"),
    "Bincount": sample("minlength=2", "i32 4"),
    "RDFT": sample("", "f32 2,4", ints(1)),
    "STFT": sample("transpose_frames=false", "f32 2,48", "f32 16", scalar(16), scalar(8)),
    "ISTFT": sample("center=false;normalized=false", "f32 2,9,5,2", "f32 16", scalar(16), scalar(8)),
    "StringTensorPack": sample("", "i32 2", "i32 2", "u8 9"),
    "StringTensorUnpack": sample("", "string 2"),
    "EmbeddingBagOffsetsSum": sample("", "f32 5,2", "i32 4", "i32 3", "i32 ", "f32 4"),
    "EmbeddingBagOffsets": sample("", "f32 5,2", "i32 4", "i32 3", "i32 ", "f32 4"),
    "EmbeddingBagPackedSum": sample("", "f32 5,2", "i32 3,2", "f32 3,2"),
    "EmbeddingBagPacked": sample("", "f32 5,2", "i32 3,2", "f32 3,2"),
    "EmbeddingSegmentsSum": sample("", "f32 5,2", "i32 4", "i32 4", scalar(3, "i32"), "i32 ", "f32 4"),
    "ScaledDotProductAttention": sample("causal=false", "f32 1,2,4,8", "f32 1,2,6,8", "f32 1,2,6,8"),
    "GroupedMatMul": sample("", "f32 10,4", "f32 3,5,4", "i32 3"),
    "RandomUniform": sample("output_type=f32;global_seed=1;op_seed=2", "i64 2", "f32 ", "f32 "),
    "Multinomial": sample("convert_type=i64;with_replacement=true;log_probs=false", "f32 2,3", "i64 1"),
    "ExperimentalDetectronDetectionOutput": sample(
        "score_threshold=0.1;nms_threshold=0.5;num_classes=3;post_nms_count=4;max_detections_per_image=5;"
        "max_delta_log_wh=4;deltas_weights=10,10,5,5",
        "f32 6,4",
        "f32 6,12",
        "f32 6,3",
        "f32 1,3",
    ),
    "ExperimentalDetectronGenerateProposalsSingleImage": sample(
        "min_size=0;nms_threshold=0.7;pre_nms_count=10;post_nms_count=5",
        "f32 3",
        "f32 12,4",
        "f32 12,2,2",
        "f32 3,2,2",
    ),
    "ExperimentalDetectronPriorGridGenerator": sample("", "f32 3,4", "f32 1,4,2,2", "f32 1,3,16,16"),
    "ExperimentalDetectronROIFeatureExtractor": sample(
        "output_size=2;sampling_ratio=1;pyramid_scales=4,8", "f32 3,4", "f32 1,2,8,8", "f32 1,2,4,4"
    ),
    "ExperimentalDetectronTopKROIs": sample("max_rois=2", "f32 3,4", "f32 3"),
    # convolutions
    "Convolution": sample(WINDOWS, IMAGE, "f32 6,4,3,3"),
    "ConvolutionBackpropData": sample(WINDOWS, IMAGE, "f32 4,6,3,3"),
    "GroupConvolution": sample(WINDOWS, IMAGE, "f32 2,3,2,3,3"),
    "GroupConvolutionBackpropData": sample(WINDOWS, IMAGE, "f32 2,2,3,3,3"),
    "BinaryConvolution": sample(f"{WINDOWS};mode=xnor-popcount;pad_value=0", IMAGE, "u1 6,4,3,3"),
    "DeformableConvolution": sample(f"{WINDOWS};group=1;deformable_group=1", IMAGE, "f32 1,18,6,6", "f32 6,4,3,3"),
    "Col2Im": sample(WINDOWS, "f32 1,12,9", ints(4, 4), ints(2, 2)),
    "ExtractImagePatches": sample("sizes=2,2;strides=2,2;rates=1,1;auto_pad=valid", IMAGE),
    # pooling
    "AvgPool": sample(f"{POOLING};exclude-pad=true;dilations=1,1", IMAGE),
    "MaxPool": sample(f"{POOLING};dilations=1,1", IMAGE),
    "AdaptiveAvgPool": sample("", IMAGE, ints(2, 2)),
    "AdaptiveMaxPool": sample("", IMAGE, ints(2, 2)),
    # matrices
    "MatMul": sample("", "f32 2,3", "f32 3,4"),
    "Einsum": sample("equation=ab,bc->ac", "f32 2,3", "f32 3,4"),
    "Inverse": sample("adjoint=false", "f32 3,3"),
    # reductions
    "CumSum": sample("", "f32 2,3", scalar(0)),
    "SegmentMax": sample("fill_mode=ZERO", "f32 4,2", ints(0, 0, 1, 2)),
    # normalization
    "BatchNormInference": sample("epsilon=0.001", IMAGE, *["f32 4"] * 4),
    "MVN": sample("eps=0.001;eps_mode=INSIDE_SQRT;across_channels=true;normalize_variance=true", IMAGE, ints(2, 3)),
    "LRN": sample("alpha=1;beta=0.5;bias=1;size=3", IMAGE, ints(1)),
    "NormalizeL2": sample("eps=0.001;eps_mode=add", IMAGE, ints(1)),
    "GRN": sample("bias=1", IMAGE),
    "GroupNormalization": sample("num_groups=2;epsilon=0.001", IMAGE, "f32 4", "f32 4"),
    # quantization
    "FakeQuantize": sample("levels=256", IMAGE, *["f32 1"] * 4),
    "FakeConvert": sample("", IMAGE, "f32 1", "f32 1"),
    # layout
    "Reshape": sample("special_zero=true", "f32 2,3", ints(3, 2)),
    "Squeeze": sample("", "f32 1,2,1", ints(0)),
    "Unsqueeze": sample("", "f32 2,3", ints(0)),
    "Transpose": sample("", "f32 2,3", ints(1, 0)),
    "ShuffleChannels": sample("", IMAGE),
    "DepthToSpace": sample("mode=blocks_first;block_size=2", IMAGE),
    "SpaceToDepth": sample("mode=blocks_first;block_size=2", IMAGE),
    "BatchToSpace": sample("", "f32 4,2,3,3", ints(1, 1, 2, 2), ints(0, 0, 0, 0), ints(0, 0, 0, 0)),
    "SpaceToBatch": sample("", "f32 1,2,4,4", ints(1, 1, 2, 2), ints(0, 0, 0, 0), ints(0, 0, 0, 0)),
    "ReverseSequence": sample("", "f32 2,3", "i32 2"),
    "Reverse": sample("mode=index", "f32 2,3", ints(1)),
    "Roll": sample("", "f32 2,3", ints(1), ints(0)),
    "Tile": sample("", "f32 2,3", ints(2, 1)),
    "Broadcast": sample("", "f32 1,3", ints(2, 3)),
    "Pad": sample("pad_mode=constant", "f32 2,3", ints(0, 1), ints(1, 0), scalar(0, "f32")),
    "Concat": sample("axis=0", "f32 2,3", "f32 1,3"),
    "Split": sample("num_splits=2", "f32 2,3", scalar(0)),
    "VariadicSplit": sample("", "f32 2,3", scalar(1), ints(1, 2)),
    # slicing and gathering
    "StridedSlice": sample("begin_mask=0,0;end_mask=0,0", "f32 2,3", ints(0, 0), ints(1, 2), ints(1, 1)),
    "Slice": sample("", "f32 2,3", ints(0), ints(1), ints(1), ints(0)),
    "SliceScatter": sample("", "f32 2,3", "f32 1,3", ints(0), ints(1), ints(1), ints(0)),
    "Gather": sample("", "f32 2,3", "i32 2", scalar(0)),
    "GatherElements": sample("axis=0", "f32 2,3", "i32 2,3"),
    "GatherND": sample("", "f32 2,3", "i32 2,1"),
    "GatherTree": sample("", "f32 4,2,3", "f32 4,2,3", "f32 2", "f32 "),
    "ScatterUpdate": sample("", "f32 4,3", "i32 2", "f32 2,3", scalar(0)),
    "ScatterElementsUpdate": sample("", "f32 4,3", "i32 2,3", "f32 2,3", scalar(0)),
    "ScatterNDUpdate": sample("", "f32 4,3", "i32 2,1", "f32 2,3"),
    # generation
    "OneHot": sample("axis=-1", "i32 2,3", scalar(4), scalar(1, "f32"), scalar(0, "f32")),
    "Range": sample("output_type=f32", scalar(0, "f32"), scalar(4, "f32"), scalar(1, "f32")),
    "Eye": sample("output_type=f32", scalar(3), scalar(4), scalar(0)),
    "Unique": sample("", "f32 2,3"),
    "SearchSorted": sample("", "f32 5", "f32 2"),
    "Bucketize": sample("output_type=i64", "f32 2,3", "f32 4"),
    "SparseFillEmptyRows": sample("", "f32 3", ints(4, 3), "i64 3,2", scalar(0, "f32")),
    # detection
    "PriorBox": sample("offset=0.5;variance=0.1", ints(4, 4), ints(32, 32)),
    "PriorBoxClustered": sample("offset=0.5;variance=0.1;width=4,8;height=4,8", ints(4, 4), ints(32, 32)),
    "DetectionOutput": sample(
        "num_classes=3;keep_top_k=5;nms_threshold=0.5;code_type=caffe.PriorBoxParameter.CORNER;"
        "share_location=true;normalized=true",
        "f32 1,8",
        "f32 1,6",
        "f32 1,2,8",
    ),
    "NonMaxSuppression": sample("", "f32 1,6,4", "f32 1,2,6", scalar(3), scalar(0.5, "f32"), scalar(0.1, "f32")),
    "MatrixNms": sample("", "f32 1,6,4", "f32 1,2,6"),
    "MulticlassNms": sample("", "f32 1,6,4", "f32 1,2,6"),
    "NMSRotated": sample("", "f32 1,6,5", "f32 1,2,6", scalar(3), scalar(0.5, "f32"), scalar(0.1, "f32")),
    "Proposal": sample(
        "base_size=16;pre_nms_topn=12;post_nms_topn=3;nms_thresh=0.7;feat_stride=16;min_size=16;ratio=1;scale=8",
        "f32 1,2,4,4",
        "f32 1,4,4,4",
        "f32 3",
    ),
    "GenerateProposals": sample(
        "min_size=0;nms_threshold=0.7;pre_nms_count=10;post_nms_count=5",
        "f32 1,3",
        "f32 2,2,3,4",
        "f32 1,12,2,2",
        "f32 1,3,2,2",
    ),
    "RegionYolo": sample("coords=4;classes=2;num=2;axis=1;end_axis=3;anchors=1,2,3,4;do_softmax=true", "f32 1,14,2,2"),
    "ReorgYolo": sample("stride=2", IMAGE),
    "ROIPooling": sample("pooled_h=2;pooled_w=2;spatial_scale=0.5", IMAGE, ROIS),
    "ROIAlign": sample("pooled_h=2;pooled_w=2;spatial_scale=0.5;sampling_ratio=2;mode=avg", IMAGE, "f32 2,4", "i32 2"),
    "ROIAlignRotated": sample(
        "pooled_h=2;pooled_w=2;spatial_scale=0.5;sampling_ratio=2;clockwise_mode=false", IMAGE, "f32 2,5", "i32 2"
    ),
    "PSROIPooling": sample("output_dim=1;group_size=2;spatial_scale=0.5;mode=average", IMAGE, ROIS),
    "DeformablePSROIPooling": sample(
        "output_dim=1;group_size=2;spatial_scale=0.5;mode=bilinear_deformable", IMAGE, ROIS
    ),
    "Interpolate": sample("mode=nearest;shape_calculation_mode=sizes", IMAGE, ints(4, 4), ints(2, 3)),
    "GridSample": sample("", IMAGE, "f32 1,5,5,2"),
    "TopK": sample("axis=1;mode=max;sort=value", "f32 2,3", scalar(2)),
    "CTCGreedyDecoder": sample("", "f32 4,2,3", "f32 4,2"),
    "CTCGreedyDecoderSeqLen": sample("", "f32 2,4,3", "i32 2"),
    "CTCLoss": sample("", "f32 2,4,3", "i32 2", "i32 2,4", "i32 2"),
    # recurrent
    "LSTMCell": sample("hidden_size=3", "f32 2,4", "f32 2,3", "f32 2,3", "f32 12,4", "f32 12,3", "f32 12"),
    "GRUCell": sample("hidden_size=3", "f32 2,4", "f32 2,3", "f32 9,4", "f32 9,3", "f32 9"),
    "RNNCell": sample("hidden_size=3", "f32 2,4", "f32 2,3", "f32 3,4", "f32 3,3", "f32 3"),
    "LSTMSequence": sample(
        "hidden_size=3;direction=forward;activations=sigmoid,tanh,tanh",
        *("f32 2,5,4", "f32 2,1,3", "f32 2,1,3", "i32 2", "f32 1,12,4", "f32 1,12,3", "f32 1,12"),
    ),
    "GRUSequence": sample(
        "hidden_size=3;direction=forward;activations=sigmoid,tanh",
        *("f32 2,5,4", "f32 2,1,3", "i32 2", "f32 1,9,4", "f32 1,9,3", "f32 1,9"),
    ),
    "RNNSequence": sample(
        "hidden_size=3;direction=forward;activations=tanh",
        *("f32 2,5,4", "f32 2,1,3", "i32 2", "f32 1,3,4", "f32 1,3,3", "f32 1,3"),
    ),
    "ReadValue": sample("variable_id=v;variable_type=f32;variable_shape=2,3", "f32 2,3"),
}

SAMPLES = {type: row for types, row in ROWS.items() for type in types.split()}
BY_VERSION = {
    ("MVN", 1): sample("eps=0.001;across_channels=true;normalize_variance=true", "f32 1,4,8,8"),
    ("MVN", 2): sample("eps=0.001;across_channels=true;normalize_variance=true", "f32 1,4,8,8"),
    ("Interpolate", 1): sample("mode=nearest;axes=2,3", "f32 1,4,8,8", ints(4, 4)),
    ("Interpolate", 4): sample(
        "mode=nearest;shape_calculation_mode=sizes", "f32 1,4,8,8", ints(4, 4), np.ones(2, np.float32), ints(2, 3)
    ),
    ("BatchNormInference", 1): sample("epsilon=0.001", "f32 4", "f32 4", "f32 1,4,8,8", "f32 4", "f32 4"),
}


def sample_of(op: Op) -> Sample | None:
    """A layer of this operation."""
    return BY_VERSION.get((op.type, op.version)) or SAMPLES.get(op.type)
