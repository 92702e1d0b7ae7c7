"""What an input of an operation has to hold for the operation to run: one table, by operation and name of the input.

Operations whose inputs may hold anything have no row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ir_tools.graph import Layer
from ir_tools.inputs._generators import Generator
from ir_tools.ops import Attrs, Fact
from ir_tools.types import is_static

__all__ = ["CONSUMERS", "INDICES", "Consumer", "Row"]

FEW = 4
"""Of what there may be any number: rows, columns, steps."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """A layer that reads a tensor.

    Attributes:
        layer: the layer.
        attrs: its attributes.
        facts: of its inputs that are known, by their names in the operation.
        own: the fact of the input that reads.
        indexed: of indices: the size of the axis that they point into, if it is known.
    """

    layer: Layer
    attrs: Attrs
    facts: Mapping[str, Fact]
    own: Fact
    indexed: int | None = None

    def sizes(self, name: str) -> list[int] | None:
        """Return the shape of an input, if it is known."""
        fact = self.facts.get(name)
        if fact is None or not is_static(fact.shape):
            return None
        return [dim.size for dim in fact.shape]

    def size(self, name: str, axis: int) -> int | None:
        """Return one size of an input, if it is known."""
        fact = self.facts.get(name)
        return None if fact is None else fact.size(axis)

    def rank(self, name: str) -> int | None:
        """Return the number of dimensions of an input, if it is known."""
        fact = self.facts.get(name)
        return None if fact is None or fact.shape is None else len(fact.shape)

    def values(self, name: str) -> list[int] | None:
        """Return the values of an input of integers, if they are known."""
        fact = self.facts.get(name)
        return None if fact is None else fact.integers()

    def value(self, name: str, default: int) -> int:
        """Return the first value of an input, if it is known, or else a default."""
        return (self.values(name) or [default])[0]

    @property
    def count(self) -> int:
        """Return how many elements the input that reads has; 1 if that is not known."""
        shape = self.own.shape
        return prod(dim.size for dim in shape) if is_static(shape) else 1


class Row(NamedTuple):
    """What an input holds.

    Attributes:
        what: in a message: `indices of`.
        make: the generator; None if nothing is known.
        fixed: whether the values decide shapes or axes, so that all elements matter together.
    """

    what: str
    make: Callable[[Consumer], Generator | None]
    fixed: bool = False


ZEROS, ONES, RANGE = Generator("zeros"), Generator("ones"), Generator("range", (0, 1))
UNIT, BOXES = Generator("uniform", (0, 1)), Generator("boxes", (1, 1))


def constant(value: float) -> Generator:
    return Generator("constant", (value,))


def below(count: int | None) -> Generator:
    """Return integers that are indices into `count` rows."""
    return ZEROS if count is None or count < 1 else Generator("integers", (0, count - 1))


def up_to(count: int | None) -> Generator:
    """Return integers from 1 to `count`."""
    return ONES if count is None or count < 1 else Generator("integers", (1, count))


def always(generator: Generator) -> Callable[[Consumer], Generator]:
    return lambda consumer: generator


def listed(values: list[int] | None) -> Generator | None:
    return Generator("values", tuple(map(float, values))) if values else None


def spread(consumer: Consumer, end: int) -> Generator:
    """Return integers in order, from 0 to below `end`."""
    return Generator("range", (0, max(end - 1, 0) / max(consumer.count, 1)))


# --- indices ----------------------------------------------------------------------------------------------------


def gathered_nd(consumer: Consumer) -> Generator:
    """Return indices that fit every axis that they index."""
    columns, sizes = (consumer.own.shape or [None])[-1], consumer.sizes("data")
    start = consumer.attrs.get("batch_dims", 0)
    if sizes is None or columns is None or not columns.static:
        return ZEROS
    return below(min(sizes[start : start + columns.size], default=1))


def scattered(consumer: Consumer) -> Generator:
    """Return indices that differ from each other if there are as many rows."""
    axis = consumer.value("axis", 0)
    rows, columns = consumer.size("data", axis), (consumer.own.shape or [None])[-1]
    distinct = rows is not None and columns is not None and columns.static and columns.size <= rows
    return RANGE if distinct else below(rows)


def depth_of(consumer: Consumer) -> Generator:
    return below(consumer.value("depth", FEW))


# --- axes and shapes --------------------------------------------------------------------------------------------


def last_axes(consumer: Consumer) -> Generator:
    """Return the last axes of the data."""
    rank = consumer.rank("data") or consumer.count
    return Generator("range", (max(rank - consumer.count, 0), 1))


def axes_of_one(consumer: Consumer) -> Generator | None:
    """Return the axes of size 1, as Squeeze takes them."""
    sizes = consumer.sizes("data") or []
    return listed([axis for axis, size in enumerate(sizes) if size == 1][: consumer.count])


def axis_to_split(consumer: Consumer) -> Generator:
    """Return the last axis that parts of equal size divide."""
    parts = consumer.attrs.get("num_splits", 1)
    sizes = consumer.sizes("data") or [parts]
    return constant(next((axis for axis in range(len(sizes) - 1, -1, -1) if sizes[axis] % parts == 0), 0))


def axis_of_lengths(consumer: Consumer) -> Generator:
    """Return the axis that the lengths of the parts fill."""
    sizes, lengths = consumer.sizes("data") or [], consumer.values("split_lengths") or []
    return constant(sizes.index(sum(lengths)) if sum(lengths) in sizes else 0)


def split_lengths(consumer: Consumer) -> Generator | None:
    """Return parts of nearly equal size."""
    size = consumer.size("data", consumer.value("axis", 0))
    if size is None:
        return None
    part = size // consumer.count
    return listed([part] * (consumer.count - 1) + [size - part * (consumer.count - 1)])


def same_shape(consumer: Consumer) -> Generator | None:
    """Return the shape of the data, its first sizes if fewer are asked for, with sizes of 1 in front if more are."""
    sizes, count = consumer.sizes("data"), consumer.count
    if sizes is None:
        return None
    if count < len(sizes):
        return listed([*sizes[: count - 1], -1] if count else None)
    return listed([1] * (count - len(sizes)) + sizes)


def ends_of_axes(consumer: Consumer) -> Generator | None:
    """Return the sizes of the axes that a Slice cuts."""
    sizes = consumer.sizes("data")
    axes = consumer.values("axes") or list(range(consumer.count))
    return None if sizes is None else listed([sizes[axis] for axis in axes if axis < len(sizes)])


def twice_as_large(consumer: Consumer) -> Generator | None:
    """Return twice the sizes of the axes that an Interpolate works on, or the factor 2."""
    if consumer.own.dtype.is_float:
        return constant(2)
    sizes = consumer.sizes("image") or consumer.sizes("data")
    axes = consumer.values("axes") or list(range(consumer.rank("image") or consumer.count))[-consumer.count :]
    return None if sizes is None else listed([2 * sizes[axis] for axis in axes])


def upsampled(consumer: Consumer) -> Generator | None:
    """Return the spatial sizes that a convolution with these strides makes the data from."""
    sizes, strides = consumer.sizes("data"), consumer.attrs.get("strides", ())
    return None if sizes is None else listed([size * step for size, step in zip(sizes[2:], strides, strict=False)])


# --- boxes and sequences ----------------------------------------------------------------------------------------


def regions(consumer: Consumer) -> Generator:
    """Return boxes in the picture that the features are of."""
    features = "features" if "features" in consumer.facts else "data"
    scale = consumer.attrs.get("spatial_scale") or 1.0
    if consumer.attrs.get("method") == "bilinear" or consumer.attrs.get("mode") == "bilinear_deformable":
        return BOXES
    width, height = (consumer.size(features, axis) or FEW for axis in (-1, -2))
    return Generator("boxes", (round(width / scale), round(height / scale)))


def picture_size(consumer: Consumer) -> Generator:
    """Return height, width and scales of the picture that features, or anchors, are of."""
    step = consumer.attrs.get("feat_stride", 16)
    height, width = (consumer.size("class_probs", axis) or FEW for axis in (-2, -1))
    return Generator("values", (float(height * step), float(width * step), 1.0, 1.0)[: max(consumer.count, 2)])


def frames(consumer: Consumer) -> int | None:
    """Return the number of steps in time of logits `[batch, time, classes]`."""
    return consumer.size("logits" if "logits" in consumer.facts else "data", 1)


def classes(consumer: Consumer) -> int:
    """Return the number of classes of logits."""
    return consumer.size("logits" if "logits" in consumer.facts else "data", -1) or 2


def divisors(consumer: Consumer) -> Generator:
    return Generator("integers", (1, 9)) if consumer.own.dtype.is_integer else Generator("uniform", (0.5, 2))


def frame_of_bins(consumer: Consumer) -> Generator:
    """Return the length of a frame whose transform has as many bins as the data."""
    return constant(2 * ((consumer.size("data", -3) or FEW) - 1))


def ends_of_groups(consumer: Consumer) -> Generator:
    """Return where groups of equal size end among the rows."""
    part = (consumer.size("mat_a", 0) or consumer.count) / max(consumer.count, 1)
    return Generator("range", (part, part))


def image_of_blocks(consumer: Consumer) -> Generator:
    """Return the size of an image with as many blocks in a row as the data has."""
    rows, columns = (consumer.values("kernel_size") or [1, 1])[-2:]
    return Generator("values", (float(rows), float(columns - 1 + (consumer.size("data", -1) or 1))))


def boxes_each(consumer: Consumer) -> Generator:
    """Return how many boxes each picture has, if they have equally many."""
    return constant((consumer.size("boxes", 1) or consumer.count) // max(consumer.count, 1))


INDICES = Row("indices of", lambda consumer: below(consumer.indexed))
DEFAULT_INDEX = Row("indices of", lambda consumer: below(consumer.size("emb_table", 0)))
BAGS = Row("offsets of", lambda consumer: spread(consumer, consumer.size("indices", 0) or 1))
SEGMENTS = Row("segments of", lambda consumer: spread(consumer, consumer.value("num_segments", FEW)))
HOW_MANY = Row("a number for", always(constant(FEW)), fixed=True)
AXES = Row("axes of", last_axes, fixed=True)
NO_CHANGE = Row("a border or block of", always(ZEROS), fixed=True)
BLOCK = Row("a block of", always(ONES), fixed=True)
LENGTHS = Row("lengths for", lambda consumer: up_to(consumer.size("X", 1)))
SCORES = Row("scores of", always(UNIT))
CORNERS = Row("boxes of", always(BOXES))
REGIONS = Row("regions of", regions)
SMALL = Row("offsets of boxes of", always(Generator("normal", (0, 0.1))))
ROTATED = Row("boxes with an angle of", always(Generator("uniform", (0.1, 1))))
PICTURE = Row("size of the picture for", picture_size)
POSITIVE = Row("positive numbers for", always(Generator("uniform", (0.1, 4))))
FACTOR = Row("divisors of", divisors)
BELOW_ONE = Row("numbers between -1 and 1 for", always(Generator("uniform", (-0.9, 0.9))))
BATCHES = Row("pictures of", lambda consumer: below(consumer.size("data", 0)))

LEVELS = Row("levels of", always(Generator("integers", (0, 255))))

CONSUMERS: Mapping[tuple[str, str], Row] = {
    # indices
    ("Gather", "axis"): Row("axis of", lambda consumer: constant(consumer.attrs.get("batch_dims", 0)), fixed=True),
    ("GatherND", "indices"): Row("indices of", gathered_nd),
    ("GatherTree", "parent_idx"): Row("indices of", lambda consumer: below(consumer.size("step_ids", -1))),
    ("GatherTree", "max_seq_len"): Row("lengths for", lambda consumer: constant(consumer.size("step_ids", 0) or 1)),
    ("ScatterUpdate", "indices"): Row("indices of", scattered),
    ("ScatterUpdate", "axis"): Row("axis of", always(ZEROS), fixed=True),
    ("ScatterElementsUpdate", "indices"): Row("indices of", scattered),
    ("ScatterElementsUpdate", "axis"): Row("axis of", always(constant(-1)), fixed=True),
    ("ScatterNDUpdate", "indices"): Row("indices of", gathered_nd),
    ("EmbeddingBagOffsets", "offsets"): BAGS,
    ("EmbeddingBagOffsets", "default_index"): DEFAULT_INDEX,
    ("EmbeddingBagOffsetsSum", "offsets"): BAGS,
    ("EmbeddingBagOffsetsSum", "default_index"): DEFAULT_INDEX,
    ("EmbeddingSegmentsSum", "segment_ids"): SEGMENTS,
    ("EmbeddingSegmentsSum", "num_segments"): HOW_MANY,
    ("EmbeddingSegmentsSum", "default_index"): DEFAULT_INDEX,
    ("SegmentMax", "segment_ids"): SEGMENTS,
    ("SegmentMax", "num_segments"): HOW_MANY,
    ("OneHot", "indices"): Row("indices of", depth_of),
    ("OneHot", "depth"): HOW_MANY,
    ("Bucketize", "buckets"): Row("borders of", always(RANGE)),
    ("SearchSorted", "sorted_sequence"): Row("borders of", always(RANGE)),
    ("SparseFillEmptyRows", "dense_shape"): HOW_MANY,
    ("SparseFillEmptyRows", "indices"): Row("indices of", always(ZEROS)),
    ("StringTensorPack", "begins"): Row("places in the text of", always(ZEROS)),
    ("StringTensorPack", "ends"): Row(
        "places in the text of", lambda consumer: constant(consumer.size("symbols", 0) or 0)
    ),
    ("StringTensorPack", "symbols"): Row("letters of", always(Generator("integers", (97, 122)))),
    # axes and shapes
    **{(f"Reduce{kind}", "axes"): AXES for kind in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum")},
    **{(f"ReduceLogical{kind}", "axes"): AXES for kind in ("And", "Or")},
    ("MVN", "axes"): AXES,
    ("NormalizeL2", "axes"): AXES,
    ("LRN", "axes"): AXES,
    ("CumSum", "axis"): AXES,
    ("Unique", "axis"): AXES,
    ("Reverse", "reversed_axes"): AXES,
    ("Roll", "axes"): AXES,
    ("Roll", "shift"): Row("a number for", always(ONES), fixed=True),
    **{(kind, "axes"): Row("axes of", always(RANGE), fixed=True) for kind in ("DFT", "IDFT", "RDFT", "IRDFT")},
    **{
        (kind, "signal_size"): Row("sizes of", always(constant(-1)), fixed=True)
        for kind in ("DFT", "IDFT", "RDFT", "IRDFT")
    },
    ("Squeeze", "axes"): Row("axes of", axes_of_one, fixed=True),
    ("Unsqueeze", "axes"): Row("axes of", always(RANGE), fixed=True),
    ("Transpose", "order"): Row("order of the axes of", always(RANGE), fixed=True),
    ("Split", "axis"): Row("axis of", axis_to_split, fixed=True),
    ("VariadicSplit", "axis"): Row("axis of", axis_of_lengths, fixed=True),
    ("VariadicSplit", "split_lengths"): Row("lengths for", split_lengths, fixed=True),
    ("Reshape", "shape"): Row("shape for", same_shape, fixed=True),
    ("Broadcast", "target_shape"): Row("shape for", same_shape, fixed=True),
    ("Broadcast", "axes_mapping"): Row("axes of", always(RANGE), fixed=True),
    ("Tile", "repeats"): BLOCK,
    ("Pad", "pads_begin"): NO_CHANGE,
    ("Pad", "pads_end"): NO_CHANGE,
    ("SpaceToBatch", "block_shape"): BLOCK,
    ("SpaceToBatch", "pads_begin"): NO_CHANGE,
    ("SpaceToBatch", "pads_end"): NO_CHANGE,
    ("BatchToSpace", "block_shape"): BLOCK,
    ("BatchToSpace", "crops_begin"): NO_CHANGE,
    ("BatchToSpace", "crops_end"): NO_CHANGE,
    ("StridedSlice", "begin"): Row("starts of", always(ZEROS), fixed=True),
    ("StridedSlice", "end"): Row("ends of", ends_of_axes, fixed=True),
    ("StridedSlice", "strides"): BLOCK,
    **{(kind, "start"): Row("starts of", always(ZEROS), fixed=True) for kind in ("Slice", "SliceScatter")},
    **{(kind, "stop"): Row("ends of", ends_of_axes, fixed=True) for kind in ("Slice", "SliceScatter")},
    **{(kind, "step"): BLOCK for kind in ("Slice", "SliceScatter")},
    **{(kind, "axes"): Row("axes of", always(RANGE), fixed=True) for kind in ("Slice", "SliceScatter")},
    ("Interpolate", "target_spatial_shape"): Row("sizes for", twice_as_large, fixed=True),
    ("Interpolate", "sizes"): Row("sizes for", twice_as_large, fixed=True),
    ("Interpolate", "scales"): Row("factors of", twice_as_large, fixed=True),
    ("Interpolate", "scales_or_sizes"): Row("sizes for", twice_as_large, fixed=True),
    ("Interpolate", "axes"): AXES,
    ("AdaptiveAvgPool", "output_shape"): BLOCK,
    ("AdaptiveMaxPool", "output_shape"): BLOCK,
    ("ConvolutionBackpropData", "output_shape"): Row("sizes for", upsampled, fixed=True),
    ("GroupConvolutionBackpropData", "output_shape"): Row("sizes for", upsampled, fixed=True),
    ("RandomUniform", "shape"): HOW_MANY,
    ("RandomUniform", "minval"): Row("the low end of", always(ZEROS)),
    ("RandomUniform", "maxval"): Row("the high end of", always(constant(FEW))),
    ("Range", "start"): Row("the start of", always(ZEROS), fixed=True),
    ("Range", "stop"): Row("the end of", always(constant(FEW)), fixed=True),
    ("Range", "step"): BLOCK,
    ("Eye", "num_rows"): HOW_MANY,
    ("Eye", "num_columns"): HOW_MANY,
    ("Eye", "diagonal_index"): Row("the diagonal of", always(ZEROS), fixed=True),
    ("Eye", "batch_shape"): HOW_MANY,
    ("TopK", "k"): Row(
        "k of", lambda consumer: constant(min(FEW, consumer.size("data", consumer.attrs.axis) or 1)), fixed=True
    ),
    ("Multinomial", "probs"): POSITIVE,
    ("Multinomial", "num_samples"): HOW_MANY,
    ("PriorBox", "output_size"): HOW_MANY,
    ("PriorBox", "image_size"): Row("size of the picture for", always(constant(16 * FEW)), fixed=True),
    ("PriorBoxClustered", "output_size"): HOW_MANY,
    ("PriorBoxClustered", "image_size"): Row("size of the picture for", always(constant(16 * FEW)), fixed=True),
    ("STFT", "frame_size"): Row("frame of", lambda consumer: constant(consumer.size("window", -1) or FEW), fixed=True),
    ("STFT", "frame_step"): BLOCK,
    ("ISTFT", "frame_size"): Row("frame of", frame_of_bins, fixed=True),
    ("ISTFT", "frame_step"): BLOCK,
    ("ISTFT", "signal_length"): Row("length for", always(constant(FEW * FEW)), fixed=True),
    ("Loop", "trip_count"): Row("iterations of", always(constant(FEW)), fixed=True),
    ("Loop", "execution_condition"): Row("condition of", always(ONES), fixed=True),
    ("GroupedMatMul", "offsets"): Row("ends of groups of", ends_of_groups, fixed=True),
    ("Col2Im", "output_size"): Row("size for", image_of_blocks, fixed=True),
    ("Col2Im", "kernel_size"): BLOCK,
    # sequences
    ("ReverseSequence", "seq_lengths"): Row(
        "lengths for", lambda consumer: up_to(consumer.size("data", consumer.attrs.seq_axis))
    ),
    ("LSTMSequence", "sequence_lengths"): LENGTHS,
    ("GRUSequence", "sequence_lengths"): LENGTHS,
    ("RNNSequence", "sequence_lengths"): LENGTHS,
    ("CTCGreedyDecoder", "sequence_mask"): Row("mask of", always(ONES)),
    ("CTCGreedyDecoderSeqLen", "sequence_length"): Row("lengths for", lambda consumer: up_to(frames(consumer))),
    ("CTCGreedyDecoderSeqLen", "blank_index"): Row("class of", lambda consumer: constant(classes(consumer) - 1)),
    ("CTCLoss", "logit_length"): Row("lengths for", lambda consumer: constant(frames(consumer) or 1)),
    ("CTCLoss", "labels"): Row("classes of", lambda consumer: below(classes(consumer) - 1)),
    ("CTCLoss", "label_length"): Row("lengths for", lambda consumer: constant(max((frames(consumer) or 2) // 2, 1))),
    ("CTCLoss", "blank_index"): Row("class of", lambda consumer: constant(classes(consumer) - 1)),
    # boxes
    **{
        (kind, name): row
        for kind in ("NonMaxSuppression", "MatrixNms", "MulticlassNms")
        for name, row in (("boxes", CORNERS), ("scores", SCORES))
    },
    ("NMSRotated", "boxes"): ROTATED,
    ("NMSRotated", "scores"): SCORES,
    **{
        (kind, name): row
        for kind in ("NonMaxSuppression", "NMSRotated")
        for name, row in (
            ("max_output_boxes_per_class", HOW_MANY),
            ("iou_threshold", Row("threshold of", always(constant(0.5)))),
            ("score_threshold", Row("threshold of", always(constant(0.1)))),
        )
    },
    ("NonMaxSuppression", "soft_nms_sigma"): Row("sigma of", always(constant(0.5))),
    ("MulticlassNms", "roisnum"): Row("numbers of boxes for", boxes_each),
    ("ROIPooling", "rois"): REGIONS,
    ("PSROIPooling", "rois"): REGIONS,
    ("DeformablePSROIPooling", "rois"): REGIONS,
    ("ROIAlign", "rois"): REGIONS,
    ("ROIAlign", "batch_indices"): BATCHES,
    ("ROIAlignRotated", "rois"): ROTATED,
    ("ROIAlignRotated", "batch_indices"): BATCHES,
    ("DetectionOutput", "box_logits"): SMALL,
    ("DetectionOutput", "class_preds"): SCORES,
    ("DetectionOutput", "proposals"): CORNERS,
    ("DetectionOutput", "aux_class_preds"): SCORES,
    ("DetectionOutput", "aux_box_preds"): SMALL,
    ("Proposal", "class_probs"): SCORES,
    ("Proposal", "bbox_deltas"): SMALL,
    ("Proposal", "image_shape"): PICTURE,
    ("GenerateProposals", "im_info"): PICTURE,
    ("GenerateProposals", "anchors"): REGIONS,
    ("GenerateProposals", "boxesdeltas"): SMALL,
    ("GenerateProposals", "scores"): SCORES,
    ("ExperimentalDetectronGenerateProposalsSingleImage", "image_size"): PICTURE,
    ("ExperimentalDetectronGenerateProposalsSingleImage", "anchors"): REGIONS,
    ("ExperimentalDetectronGenerateProposalsSingleImage", "deltas"): SMALL,
    ("ExperimentalDetectronGenerateProposalsSingleImage", "scores"): SCORES,
    ("ExperimentalDetectronDetectionOutput", "rois"): REGIONS,
    ("ExperimentalDetectronDetectionOutput", "deltas"): SMALL,
    ("ExperimentalDetectronDetectionOutput", "scores"): SCORES,
    ("ExperimentalDetectronDetectionOutput", "image_size"): PICTURE,
    ("ExperimentalDetectronROIFeatureExtractor", "rois"): REGIONS,
    ("ExperimentalDetectronTopKROIs", "rois"): REGIONS,
    ("ExperimentalDetectronTopKROIs", "probabilities"): SCORES,
    # numbers
    ("ScaledDotProductAttention", "attention_mask"): Row(
        "mask of", lambda consumer: ONES if consumer.own.dtype.kind == "boolean" else None
    ),
    ("ScaledDotProductAttention", "scale"): POSITIVE,
    ("GridSample", "grid"): BELOW_ONE,
    ("DeformableConvolution", "mask"): SCORES,
    ("BatchNormInference", "variance"): POSITIVE,
    ("Sqrt", "data"): POSITIVE,
    ("Log", "data"): POSITIVE,
    ("Acosh", "data"): Row("numbers above 1 for", always(Generator("uniform", (1, 4)))),
    ("Acos", "data"): BELOW_ONE,
    ("Asin", "data"): BELOW_ONE,
    ("Atanh", "data"): BELOW_ONE,
    ("ErfInv", "data"): BELOW_ONE,
    ("Divide", "b"): FACTOR,
    ("Mod", "b"): FACTOR,
    ("FloorMod", "b"): FACTOR,
    ("BitwiseLeftShift", "b"): Row("places of", always(Generator("integers", (0, 3)))),
    ("BitwiseRightShift", "b"): Row("places of", always(Generator("integers", (0, 3)))),
    **{
        ("FakeQuantize", name): Row("an end of", always(constant(end)))
        for name, end in (("input_low", -1), ("output_low", -1), ("input_high", 1), ("output_high", 1))
    },
    **{(f"NV12to{order}", name): LEVELS for order in ("RGB", "BGR") for name in ("image", "uv")},
    **{(f"I420to{order}", name): LEVELS for order in ("RGB", "BGR") for name in ("image", "u", "v")},
    **{(f"{order}toNV12", "image"): LEVELS for order in ("RGB", "BGR")},
}
"""By operation, of any version, and name of the input; of inputs with `Input.indexes` see `INDICES`."""
