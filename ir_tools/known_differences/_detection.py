"""Boxes, images, signals, embeddings and cells."""

from collections.abc import Sequence

import numpy as np

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, Mask, refused, unwritten
from ir_tools.known_differences._model import Call, Fixed, counted, floats, number, whole
from ir_tools.ops import Array

__all__ = ["ROWS"]

BOXES = floats([[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3], [4, 4, 5, 5]])
PRIORS = np.concatenate([floats(0.1, 0.1, 0.4, 0.4, 0.5, 0.5, 0.9, 0.9), np.full(8, 0.1, np.float32)]).reshape(1, 2, 8)
OUTPUT = {
    "code_type": "caffe.PriorBoxParameter.CORNER",
    "keep_top_k": "0",
    "nms_threshold": "0.5",
    "normalized": "true",
    "num_classes": "2",
    "share_location": "true",
    "top_k": "10",
}
PROPOSAL = {
    "base_size": "4",
    "feat_stride": "4",
    "min_size": "0",
    "nms_thresh": "0.5",
    "post_nms_topn": "12",
    "pre_nms_topn": "9",
    "ratio": "1",
    "scale": "1",
}
RESIZE = {"mode": "linear", "shape_calculation_mode": "sizes"}
PROPOSALS = ("Proposal-1", "Proposal-4")


def proposal(height: int, width: int, op: str = "Proposal-4", **raw: str) -> Call:
    """Return one anchor at each place, scores that rise, no offsets."""
    scores = counted(1, 2, height, width)
    inputs = (scores / scores.max(), np.zeros((1, 4, height, width), np.float32), floats(40, 40, 1))
    return Call(op, inputs, {**PROPOSAL, **raw})


def cell(peepholes: float, **raw: str) -> Call:
    """Return an LSTMCell of one number."""
    weights = (Fixed(counted(4, 2)), Fixed(counted(4, 1)), Fixed(counted(4)), Fixed(np.full(3, peepholes, np.float32)))
    return Call("LSTMCell-1", (floats([1, -1]), floats([0.5]), floats([0.25]), *weights), {"hidden_size": "1", **raw})


def _last_output(outputs: Sequence[Array]) -> list[Mask | None]:
    """Return the whole of the last output."""
    return [*[None] * (len(outputs) - 1), np.ones(outputs[-1].shape, bool)]


def _behind_the_last_box(outputs: Sequence[Array]) -> list[Mask | None]:
    """Return probabilities of rows that the first output has no box for: from the one that starts with -1 on."""
    rows = outputs[0]
    return [None, np.cumsum(rows[:, 0] < 0) > 0] if len(outputs) > 1 else [None]


def _no_scores(layer: Instance) -> bool:
    """Return whether some image has no score above the threshold in a class that counts."""
    scores = layer.inputs[1].astype(np.float32, copy=False)
    counted_classes = [number for number in range(scores.shape[1]) if number != layer.attrs.background_class]
    return scores.size == 0 or not (scores[:, counted_classes] > layer.attrs.score_threshold).any(axis=(1, 2)).all()


def _odd_sizes(layer: Instance) -> bool:
    fixed = np.array(layer.attrs.fixed_size)
    return bool((fixed % 2).any()) and not {0, 1} <= set(layer.constant)


def _beyond_the_data(layer: Instance) -> bool:
    """Return a size beyond what the data have along its axis."""
    if len(layer.inputs) < 3:
        return False
    data, axes, sizes = layer.inputs
    return bool((sizes > np.array(data.shape)[axes]).any())


def _beyond_the_spectrum(layer: Instance) -> bool:
    if len(layer.inputs) < 3:
        return False
    data, axes, sizes = layer.inputs
    there = np.array(data.shape)[axes % (data.ndim - 1)]
    there[-1] = 2 * there[-1] - 1
    return bool((sizes > there).any())


SUPPRESSION = (
    unwritten(
        name="DetectionOutput keep_top_k=0",
        ops=("DetectionOutput-1", "DetectionOutput-8"),
        setting='`keep_top_k="0"` with a `top_k` above 0',
        reason="The plugin keeps no box and leaves the rest of its output uninitialized, or crashes.",
        model=Call("DetectionOutput-1", (floats([0] * 8), floats([0.1, 0.9, 0.2, 0.8]), PRIORS), OUTPUT),
        applies=lambda layer: layer.attrs.keep_top_k == (0,) and layer.attrs.top_k > 0,
    ),
    unwritten(
        name="MatrixNms without boxes",
        ops=("MatrixNms-8",),
        setting="an image has no box above the threshold",
        reason=(
            "The plugin leaves the counts uninitialized, or crashes if another image has boxes; the counts should be 0."
        ),
        model=Call("MatrixNms-8", (BOXES, np.zeros((1, 2, 4), np.float32)), {"score_threshold": "0.5"}),
        applies=_no_scores,
        arbitrary=_last_output,
    ),
    unwritten(
        name="MulticlassNms without boxes",
        ops=("MulticlassNms-8", "MulticlassNms-9"),
        setting="there are no boxes at all",
        reason="The plugin skips the layer and leaves selected_num uninitialized; it should be 0.",
        model=Call("MulticlassNms-9", (np.ones((1, 0, 4), np.float32), np.ones((1, 2, 0), np.float32))),
        applies=lambda layer: not layer.inputs[0].size,
        arbitrary=_last_output,
    ),
    unwritten(
        name="NonMaxSuppression, most boxes 0",
        ops=("NonMaxSuppression-5", "NonMaxSuppression-9"),
        setting="`max_output_boxes_per_class` is 0",
        reason="The plugin skips the layer and leaves valid_outputs uninitialized; it should be 0.",
        model=Call(
            "NonMaxSuppression-9",
            (BOXES, floats([[0.9, 0.8, 0.7, 0.6]]), Fixed(np.array(0)), Fixed(number(0.5)), Fixed(number(0))),
        ),
        applies=lambda layer: len(layer.inputs) < 3 or not layer.inputs[2].any(),
        arbitrary=_last_output,
    ),
    KnownDifference(
        name="PriorBox fixed_size",
        ops=("PriorBox-1", "PriorBox-8"),
        setting="an odd `fixed_size`, and image sizes that are unknown before the model runs",
        reason=(
            "If the runtime computes the boxes before the model runs, it rounds half the size down, as the "
            "reference does; the plugin does not."
        ),
        model=Call("PriorBox-1", (whole(1, 1), whole(20, 20)), {"fixed_size": "5", "density": "1", "offset": "0.5"}),
        applies=_odd_sizes,
    ),
    refused(
        name="PriorBox-8 min_max_aspect_ratios_order",
        ops=("PriorBox-8",),
        setting='`min_max_aspect_ratios_order="false"`, and image sizes that are unknown before the model runs',
        reason="The plugin has no shape inference for this setting.",
        model=Call(
            "PriorBox-8",
            (whole(2, 2), whole(20, 20)),
            {"min_size": "5", "offset": "0.5", "min_max_aspect_ratios_order": "false"},
        ),
    ),
    unwritten(
        name="Proposal-4 probabilities",
        ops=("Proposal-4",),
        setting="fewer boxes than `post_nms_topn`",
        reason="The plugin leaves the probabilities after the last box uninitialized; they should be 0.",
        model=proposal(3, 3, post_nms_topn="300"),
        applies=lambda layer: True,
        arbitrary=_behind_the_last_box,
    ),
    KnownDifference(
        name="Proposal of few boxes",
        ops=PROPOSALS,
        kind=DifferenceKind.DIES,
        setting="fewer than 8 boxes before suppression",
        reason="The plugin always reads eight boxes at a time, and crashes.",
        model=proposal(1, 2, post_nms_topn="3"),
    ),
    KnownDifference(
        name="Proposal of small boxes",
        ops=PROPOSALS,
        setting="boxes smaller than `min_size`",
        reason="All such boxes have score 0, and their order is arbitrary.",
        model=proposal(3, 4, min_size="100", post_nms_topn="9"),
        applies=lambda layer: layer.attrs.min_size > 0,
    ),
)

IMAGES = (
    KnownDifference(
        name="Interpolate antialias",
        ops=("Interpolate-4", "Interpolate-11"),
        kind=DifferenceKind.FOLLOWED,
        setting='`antialias="true"` with data of rank 3 or 4',
        reason="The plugin reads the attribute only for rank 5.",
        model=Call(
            "Interpolate-4",
            (counted(1, 1, 4, 4), Fixed(whole(2, 2)), Fixed(floats(0.5, 0.5)), Fixed(whole(2, 3))),
            {**RESIZE, "antialias": "true"},
        ),
        same=Call(
            "Interpolate-4",
            (counted(1, 1, 4, 4), Fixed(whole(2, 2)), Fixed(floats(0.5, 0.5)), Fixed(whole(2, 3))),
            RESIZE,
        ),
    ),
    KnownDifference(
        name="Interpolate-11 cube_coeff",
        ops=("Interpolate-11",),
        kind=DifferenceKind.FOLLOWED,
        setting="`cube_coeff` with `bicubic_pillow`",
        reason="The plugin always uses -0.5, the value of Pillow.",
        model=Call(
            "Interpolate-11",
            (counted(1, 1, 4, 4), Fixed(whole(3, 3)), Fixed(whole(2, 3))),
            {**RESIZE, "mode": "bicubic_pillow", "cube_coeff": "-0.75"},
        ),
        same=Call(
            "Interpolate-11",
            (counted(1, 1, 4, 4), Fixed(whole(3, 3)), Fixed(whole(2, 3))),
            {**RESIZE, "mode": "bicubic_pillow", "cube_coeff": "-0.5"},
        ),
    ),
)

SIGNALS = (
    unwritten(
        name="RDFT-9 beyond the data",
        ops=("RDFT-9",),
        setting="a `signal_size` larger than the data",
        reason="The specification pads with zeros; the plugin reads outside the data, or crashes.",
        model=Call("RDFT-9", (counted(3), Fixed(whole(0)), Fixed(whole(8)))),
        applies=_beyond_the_data,
    ),
    refused(
        name="RDFT-9 of the size that the data have",
        ops=("RDFT-9", "IRDFT-9"),
        setting="a `signal_size` of -1, which means the size of the data",
        reason="The plugin reads it as a length.",
        model=Call("RDFT-9", (counted(4), Fixed(whole(0)), Fixed(whole(-1)))),
    ),
    unwritten(
        name="IRDFT-9 beyond the spectrum",
        ops=("IRDFT-9",),
        setting="a `signal_size` larger than the data, or for the last of the axes, of size n, above `2 * n - 1`",
        reason="The specification pads with zeros; the plugin reads outside the data.",
        model=Call("IRDFT-9", (counted(2, 3, 2), Fixed(whole(0, 1)), Fixed(whole(2, 9)))),
        applies=_beyond_the_spectrum,
    ),
    KnownDifference(
        name="EmbeddingSegmentsSum-3 with a default of zeros",
        ops=("EmbeddingSegmentsSum-3",),
        setting="`default_index` is -1, which means zeros for an empty segment",
        reason="The plugin reads memory before the table.",
        model=Call(
            "EmbeddingSegmentsSum-3",
            (
                counted(3, 2),
                np.array([0, 1], np.int32),
                np.array([0, 2], np.int32),
                Fixed(np.array(3, np.int32)),
                Fixed(np.array(-1, np.int32)),
            ),
        ),
        applies=lambda layer: len(layer.inputs) > 4 and int(layer.inputs[4]) == -1,
    ),
    refused(
        name="GroupedMatMul-17",
        ops=("GroupedMatMul-17",),
        setting="always",
        reason="The runtime reads the operation, but the plugin does not implement it.",
        model=Call("GroupedMatMul-17", (counted(10, 4), counted(3, 5, 4), np.array([3, 6, 10], np.int32))),
    ),
    refused(
        name="RGBtoNV12-17",
        ops=("RGBtoNV12-17", "BGRtoNV12-17"),
        setting="always",
        reason="The runtime reads the operation, but the plugin does not implement it.",
        model=Call("RGBtoNV12-17", (counted(1, 4, 4, 3),)),
    ),
    KnownDifference(
        name="LSTMCell-1 peepholes",
        ops=("LSTMCell-1",),
        kind=DifferenceKind.FOLLOWED,
        setting="peepholes, `input_forget` and `weights_format`",
        reason="The runtime ignores them.",
        model=cell(5, input_forget="true", weights_format="ifco"),
        same=cell(0),
    ),
)

ROWS = (*SUPPRESSION, *IMAGES, *SIGNALS)
