"""Random layers of every operation in the table: its sample with other attributes, inputs, shapes and element types."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from ir_tools.ops import FAMILIES, Array, Op
from ir_tools.ops.fields import Field, Flag, Float, Floats, Int, Ints, OneOf, Type
from ir_tools.types import ELEMENT_TYPES, Dim, element_type, from_dtype
from tests.ops.around import around
from tests.ops.layer_support import COMPUTED_KINDS, Setting
from tests.ops.samples import IMAGE, Sample, ints, sample, sample_of, scalar
from tests.ops.single import Between, Fed, Slot

Rng = np.random.Generator
Change = Callable[[Rng, Any], Any]
"""Gives another input, attribute or array in place of one."""
SAME = np.array([[0, 1, 0], [0, 1, 1], [2, 1, 0]])
REGIONS = np.array([[1, 2, 9, 12, 0.5], [3, 0, 15, 7, -1]], np.float32)
PRIORS = [0, 3, 4, 12, 15, 0, 5, 2, 14, 18]
GRID = np.array([[[[x, y, x + 14, y + 9], [x - 3, y, x + 9, y + 20]] for x in range(0, 64, 16)] for y in (2, 18, 30)])
BOXES = GRID.astype(np.float32)
"""Boxes that overlap, two at each of three by four places of an image."""
IMAGES = np.array([[48, 64, 1.5, 0.75], [40, 50, 1, 2]], np.float32)
"""Heights and widths of two images, and the scales of both."""
UNSCALED = np.where(np.arange(4) < 2, IMAGES, np.float32(1))
PROPOSING = "nms_threshold=0.6;pre_nms_count=60;post_nms_count=5"
LABELS = np.array([[1, 1, 2, 0, 0, 1], [2, 0, 0, 1, 3, 3]], np.int32)
MORE: Mapping[str, tuple[Sample, ...]] = {
    "Parameter-1": (sample("element_type=f32;shape=2,3"),),
    "Const-1": (sample("element_type=f32;shape=2,3;offset=0;size=24"),),
    "Assign-3": (sample("variable_id=v", "f32 2,3"),),
    "Assign-6": (sample("variable_id=v", "f32 2,3"),),
    "Broadcast-1": (
        sample("mode=pdpd;mode.auto_broadcast_axis=1", "f32 3", ints(2, 3), ints(0)),
        sample("mode=explicit", "f32 2,1", ints(2, 4, 3), ints(0, 2)),
    ),
    "Bincount-17": (sample("minlength=0", "i32 4"),),
    "ExperimentalDetectronTopKROIs": (sample("max_rois=20", "f32 40,4", "f32 40"),),
    "StringTensorPack": (sample("", ints(0, 2), ints(2, 5), "u8 5"),),
    "AdaptiveMaxPool": (sample("index_element_type=i32", IMAGE, ints(2, 3)),),
    "HardSigmoid": tuple(
        sample("", f"{kind} 2,3", *(np.array(number, dtype) for number in (0.3, 0.6)))
        for kind, dtype in (("f32", np.float32), ("f16", np.float16))
    ),
    "Selu": tuple(
        sample("", f"{kind} 2,3", *(np.array([number], dtype) for number in (1.5, 0.75)))
        for kind, dtype in (("f32", np.float32), ("f16", np.float16))
    ),
    "Convert": (
        sample("destination_type=i32", ints(2**31 - 1, 2**31 - 2, 2**31, -(2**31) - 1)),
        sample("destination_type=bf16", np.array([0.5, -1.3, 300.75], np.float32)),
    ),
    "ConvertPromoteTypes-14": (sample("promote_unsafe=true", "u64 2", "i32 2"),),
    "PSROIPooling": tuple(
        sample(
            f"output_dim=1;group_size=2;spatial_scale=0.5;mode={mode};spatial_bins_x=2;spatial_bins_y=2",
            *("f32 1,4,8,8", np.array(regions, np.float32)),
        )
        for mode, regions in (
            ("average", [[0, 1, 2, 9, 12], [0, 3, 0, 15, 7]]),
            ("bilinear", [[0, 0.1, 0.2, 0.9, 1.5], [0, 0.3, 0, 1.7, 0.9]]),
        )
    ),
    "DeformablePSROIPooling": (
        sample(
            "output_dim=1;group_size=2;spatial_scale=0.5;mode=bilinear_deformable;spatial_bins_x=2;spatial_bins_y=2;"
            "trans_std=0.1;part_size=2",
            *("f32 1,4,8,8", np.array([[0, 1, 2, 9, 12], [0, 3, 0, 15, 7]], np.float32), "f32 2,2,2,2"),
        ),
    ),
    "ROIPooling": (
        sample(
            "pooled_h=2;pooled_w=2;spatial_scale=0.5",
            *(IMAGE, np.array([[0, 1, 2, 9, 12], [-1, 3, 0, 15, 7], [0, 3, 0, 15, 7]], np.float32)),
        ),
        sample(
            "pooled_h=3;pooled_w=2;spatial_scale=0.5;method=bilinear",
            *(IMAGE, np.array([[0, 0.1, 0.2, 0.9, 0.7], [-1, 0, 0, 1, 1], [0, 0.3, 0, 0.7, 0.9]], np.float32)),
        ),
    ),
    "ROIAlign": (
        sample("pooled_h=2;pooled_w=3;spatial_scale=0.5;sampling_ratio=2;mode=max", IMAGE, REGIONS[:, :4], ints(0, 0)),
        sample(
            "pooled_h=2;pooled_w=3;spatial_scale=1;sampling_ratio=0;mode=avg", IMAGE, REGIONS[:, :4] / 2, ints(0, 0)
        ),
    ),
    "ROIAlignRotated": (
        sample(
            "pooled_h=2;pooled_w=3;spatial_scale=0.5;sampling_ratio=0;clockwise_mode=true", IMAGE, REGIONS, ints(0, 0)
        ),
    ),
    "DetectionOutput": (
        sample(
            "num_classes=2;keep_top_k=9;top_k=5;nms_threshold=0.4;code_type=caffe.PriorBoxParameter.CENTER_SIZE;"
            "share_location=false;normalized=false;input_height=20;input_width=30;confidence_threshold=0.1;clip_after_nms=true",
            *("f32 2,16", "f32 2,4", np.array([PRIORS, [0.1, 0.1, 0.2, 0.2] * 2 + [0, 0]], np.float32)[None]),
        ),
        sample(
            "num_classes=2;keep_top_k=9;nms_threshold=0.9;normalized=false;input_height=20;input_width=30;"
            "variance_encoded_in_target=true",
            *("f32 1,8", "f32 1,4", np.array([*PRIORS[:5], -1, *PRIORS[6:]], np.float32)[None, None]),
        ),
        sample(
            "num_classes=3;keep_top_k=-1;nms_threshold=0.4;variance_encoded_in_target=true;normalized=true;"
            "code_type=caffe.PriorBoxParameter.CORNER;decrease_label_id=true;background_label_id=0;objectness_score=0.1",
            *("f32 1,8", "f32 1,6", np.array([0.1, 0.2, 0.5, 0.6, 0.2, 0.1, 0.7, 0.8], np.float32)[None, None]),
            *("f32 1,4", "f32 1,8"),
        ),
    ),
    "Proposal": (
        sample(
            "base_size=16;pre_nms_topn=40;post_nms_topn=3;nms_thresh=0.9;feat_stride=16;min_size=11;ratio=0.5,2;scale=0.5,1",
            *("f32 1,8,3,4", "f32 1,16,3,4", IMAGES[0]),
        ),
        sample(
            "base_size=16;pre_nms_topn=20;post_nms_topn=3;nms_thresh=0.9;feat_stride=24;min_size=1;ratio=2;scale=1;"
            "clip_before_nms=false;clip_after_nms=true",
            *("f32 1,2,3,4", "f32 1,4,3,4", IMAGES[1, :3]),
        ),
    ),
    "GridSample": tuple(
        sample(f"align_corners=true;mode={mode};padding_mode=reflection", "f32 1,2,5,4", "f32 1,3,5,2")
        for mode in ("nearest", "bilinear", "bicubic")
    ),
    "GenerateProposals": (
        sample(f"min_size=8;normalized=false;{PROPOSING}", IMAGES, BOXES, "f32 2,8,3,4", "f32 2,2,3,4"),
        sample(
            f"min_size=10;normalized=false;{PROPOSING}",
            UNSCALED,
            BOXES,
            np.zeros((2, 8, 3, 4), np.float32),
            "f32 2,2,3,4",
        ),
    ),
    "ExperimentalDetectronGenerateProposalsSingleImage": (
        sample(f"min_size=8;{PROPOSING}", IMAGES[0, :3], BOXES.reshape(-1, 4), "f32 8,3,4", "f32 2,3,4"),
        sample(
            f"min_size=10;{PROPOSING}",
            UNSCALED[0, :3],
            BOXES.reshape(-1, 4),
            np.zeros((8, 3, 4), np.float32),
            "f32 2,3,4",
        ),
    ),
    "ExperimentalDetectronDetectionOutput": (
        sample(
            "score_threshold=0.1;nms_threshold=0.5;num_classes=3;post_nms_count=4;max_detections_per_image=5;"
            "max_delta_log_wh=1;deltas_weights=10,10,5,5",
            *(BOXES[0].reshape(-1, 4), "f32 8,12", "f32 8,3", IMAGES[:1, :3]),
        ),
    ),
    "ExperimentalDetectronROIFeatureExtractor": (
        sample(
            "output_size=3;sampling_ratio=2;pyramid_scales=4,8,16;aligned=true",
            *("f32 3,4", "f32 1,2,16,16", "f32 1,2,8,8", "f32 1,2,4,4"),
        ),
    ),
    "MatrixNms": (sample("decay_function=gaussian;normalized=false", BOXES[0].reshape(2, 4, 4), "f32 2,2,4"),),
    "PriorBox": tuple(
        sample(f"offset=0.5;variance=0.1,0.1,0.2,0.2;{raw}", ints(2, 3), ints(20, 30))
        for raw in (
            "min_size=10,20;max_size=30,40;aspect_ratio=2,3,0.5;flip=true;clip=true;step=8",
            "fixed_size=3,4;density=2,3;fixed_ratio=1,2,3",
            "fixed_size=3,4;density=2,3;min_size=",
            "min_size=0.1,0.2;scale_all_sizes=false;aspect_ratio=2;step=0.1",
            "min_size=9;aspect_ratio=0.4,2;flip=true",
        )
    ),
    "PriorBoxClustered": (
        sample("offset=0.5;width=4,8;height=4,9;step_w=7;step_h=5;clip=true", ints(2, 3), ints(20, 30)),
    ),
    "Broadcast-3": (
        sample("mode=explicit", "f32 3", ints(2, 3), ints(1)),
        sample("mode=bidirectional", "f32 3,1", ints(2, 1, 4)),
        sample("mode=pdpd", "f32 3,1", ints(2, 3, 4)),
    ),
    "MulticlassNms": (sample("iou_threshold=0.1;normalized=false", BOXES[0].reshape(2, 4, 4), "f32 2,2,4"),),
    "MulticlassNms-9": (sample("", "f32 2,6,4", "f32 2,6", "i32 1"),),
    "StridedSlice-1": (
        sample(
            "begin_mask=0,1,0;end_mask=1,0,0;new_axis_mask=0,0,1;shrink_axis_mask=0,0,0;ellipsis_mask=0,0,0",
            *("f32 4,5", ints(1, 0, 0), ints(3, 4, 1), ints(2, 2, 1)),
        ),
        sample(
            "begin_mask=0,0,0,0;end_mask=0,0,0,0;new_axis_mask=1,0,0,0;shrink_axis_mask=0,0,0,1;ellipsis_mask=0,1,0,0",
            *("f32 4,2,3,5", ints(0, 0, 1, -2), ints(1, 0, 3, 5), ints(1, 1, 1, 1)),
        ),
        sample("begin_mask=0,1;end_mask=0,0", "f32 4,5,2", ints(-(2**31), 3), ints(2**31 - 1, -9), ints(2, -1)),
        sample("begin_mask=0;end_mask=0", "f32 4", ints(1), ints(3)),
        sample("begin_mask=0,1;end_mask=1,1", "f32 4,5", ints(2, 9), ints(-9, 0), ints(-1, -2)),
        sample("begin_mask=0,0;end_mask=0,0;shrink_axis_mask=1,0", "f32 4,5,2", ints(-4, 1), ints(1, 4), ints(1, 2)),
        sample("begin_mask=0,0;end_mask=0,0;shrink_axis_mask=0,1", "f32 2,3", ints(0, 2), ints(9, 3), ints(1, 1)),
    ),
    **dict.fromkeys(("NV12toRGB", "NV12toBGR"), (sample("", "f32 1,4,4,1", "f32 1,2,2,2"),)),
    **dict.fromkeys(("I420toRGB", "I420toBGR"), (sample("", "f32 1,4,4,1", "f32 1,2,2,1", "f32 1,2,2,1"),)),
    "Range-1": (
        sample("", scalar(0), scalar(5), scalar(1)),
        sample("", scalar(-3), scalar(8), scalar(0)),
        sample("", scalar(-3), scalar(8), scalar(2)),
        sample("", scalar(0.5, "f32"), scalar(-4.2, "f32"), scalar(-1.5, "f32")),
    ),
    "Range-4": (
        *(sample("output_type=i32", scalar(1, "f32"), scalar(9, "f32"), scalar(step, "f32")) for step in (0, 0.4, 2.5)),
        sample("output_type=i64", scalar(-3), scalar(8), scalar(2)),
        sample("output_type=i32", scalar(0.5, "f32"), scalar(-4.2, "f32"), scalar(-1.5, "f32")),
    ),
    "Concat": (sample("axis=0", ints(1, 2), ints(3), ints(4, 5)), sample("axis=-2", "f32 2,3,4", "f32 2,1,4")),
    "VariadicSplit": (
        sample("", "f32 2,6", ints(1), ints(2, -1)),
        sample("", ints(1, 2, 3), scalar(0), ints(1, -1)),
    ),
    "Split": (sample("num_splits=2", "f32 2,6,2", scalar(-2)),),
    "Slice": (
        sample("", "f32 4,5,3", ints(0, -1), ints(2**31 - 1, -9), ints(2, -1)),
        sample("", "f32 4,5", ints(-2, 3), ints(9, 1), ints(1, -2), ints(-1, 0)),
    ),
    "SliceScatter": (sample("", "f32 4,5", "f32 2,5", ints(0, -1), ints(4, -9), ints(2, -1)),),
    "Reverse": (sample("mode=mask", "f32 2,3", np.array([True, False])), sample("mode=index", "f32 2,3,4", ints(2, 0))),
    "LSTMSequence": (
        sample(
            "hidden_size=3;direction=bidirectional;activations=sigmoid,relu,tanh;clip=2",
            *("f32 2,5,4", "f32 2,2,3", "f32 2,2,3", np.array([5, 3], np.int32)),
            *("f32 2,12,4", "f32 2,12,3", "f32 2,12"),
        ),
    ),
    "GRUSequence": (
        sample(
            "hidden_size=3;direction=bidirectional;activations=sigmoid,tanh;linear_before_reset=true",
            *("f32 2,5,4", "f32 2,2,3", np.array([5, 3], np.int32), "f32 2,9,4", "f32 2,9,3", "f32 2,12"),
        ),
    ),
    "RNNSequence": (
        sample(
            "hidden_size=3;direction=bidirectional;activations=relu",
            *("f32 2,5,4", "f32 2,2,3", "i32 2", "f32 2,3,4", "f32 2,3,3", "f32 2,3"),
        ),
    ),
    "GRUCell": (
        sample("hidden_size=3;linear_before_reset=true", "f32 2,4", "f32 2,3", "f32 9,4", "f32 9,3", "f32 12"),
    ),
    "ReverseSequence": (sample("batch_axis=1;seq_axis=-1", "f32 2,3,4", np.array([1, 4, 2], np.int32)),),
    "Roll": (sample("", "f32 2,3,4", ints(1, -2, 3), ints(0, -1, 0)), sample("", "f32 3,4", scalar(5), ints(1))),
    "Reshape": (
        sample("special_zero=true", "f32 2,3,4", ints(0, -1)),
        sample("special_zero=true", "f32 2,3,4,2", ints(0, 0, 8)),
        sample("special_zero=false", "f32 2,3,4", ints(-1, 4, 1)),
        sample("special_zero=true", ints(1, 2, 3, 4), ints(2, -1)),
        sample("special_zero=true", "f32 2,0,3", ints(0, -1)),
    ),
    "Squeeze": (sample("", "f32 1,2,1,3", ints(-2, 0)), sample("", "f32 1,2,1"), sample("", ints(3), scalar(0))),
    "Unsqueeze": (sample("", "f32 2,3", ints(0, -1)), sample("", ints(1, 2), ints(1))),
    "Transpose": (sample("", "f32 2,3,4,2", ints(2, 0, 3, 1)), sample("", "f32 2,3,4", np.zeros(0, np.int64))),
    "ShuffleChannels": (sample("axis=-1;group=3", "f32 2,3,6"),),
    "DepthToSpace": (sample("mode=depth_first;block_size=2", "f32 1,24,2,3,2"),),
    "BatchToSpace": (
        sample("", "f32 6,4", ints(1, 2), ints(0, 1), ints(0, 2)),
        sample("", "f32 12,2,3", ints(1, 2, 3), ints(0, 1, 2), ints(0, 0, 1)),
        sample("", "f32 4,3", ints(1, 2), ints(0, 4), ints(0, 2)),
    ),
    "SpaceToBatch": (
        sample("", "f32 2,5", ints(1, 3), ints(0, 1), ints(0, 0)),
        sample("", "f32 2,3,5", ints(1, 2, 3), ints(0, 1, 0), ints(0, 0, 1)),
        sample("", "f32 4", ints(1), ints(0), ints(0)),
    ),
    "Pad": (
        sample("pad_mode=reflect", "f32 3,4", ints(1, 0), ints(-1, 3)),
        sample("pad_mode=symmetric", "f32 3,4", ints(3, 0), ints(1, 2)),
        sample("pad_mode=constant", ints(1, 2, 3), ints(1), ints(2)),
        sample("pad_mode=constant", ints(1, 2, 3), ints(1), ints(2), scalar(7)),
        sample("pad_mode=edge", "f32 3,4,2", ints(1, 0, 2), ints(0, 3, -1)),
        sample("pad_mode=edge", "f32 0,2", ints(0, 1), ints(0, 0)),
    ),
    "Tile": (sample("", "f32 2,3", ints(2, 1, 3)), sample("", ints(1, 2), ints(3))),
    "Gather": (
        sample("", ints(5, 6, 7), np.array([[0, -1]]), scalar(0)),
        sample("", "f32 2,3,4", "i32 2,1", ints(-2)),
        sample("", "f32 1,1,4", ints(-1), scalar(2)),
    ),
    **dict.fromkeys(
        ("Gather-7", "Gather-8"),
        (
            sample("batch_dims=1", "f32 2,3,5", "i32 2,4", scalar(2)),
            sample("batch_dims=-1", "f32 2,5,3", np.array([[0, 4, 1], [2, 2, 3]]), scalar(1)),
        ),
    ),
    "GatherElements": (sample("axis=-1", "f32 2,3,2", np.array([[[0], [1], [-2]], [[1], [0], [1]]])),),
    "GatherND": (
        sample("batch_dims=1", "f32 2,3,4", np.array([[[0, 1], [2, 3]], [[1, -1], [0, 0]]])),
        sample("batch_dims=2", "f32 2,2,3", np.array([[[0], [1]], [[2], [1]]])),
    ),
    "GatherTree": (
        sample("", "i32 4,2,3", np.ones((4, 2, 3), np.int32), np.array([3, 4], np.int32), scalar(0, "i32")),
    ),
    "OneHot": (
        sample("axis=0", ints(0, 2, -1), scalar(3), scalar(7), scalar(-3)),
        sample("axis=1", "i32 2,3", scalar(4), scalar(1, "f32"), scalar(0, "f32")),
    ),
    "ScatterUpdate": (
        sample("", ints(1, 2, 3, 4), ints(2, 0), ints(5, 6), scalar(0)),
        sample("", "f32 4,3", ints(2, -1), "f32 4,2", ints(1)),
    ),
    "ScatterElementsUpdate": (
        sample("", ints(1, 2, 3, 4), ints(2, 0), ints(5, 6), scalar(0)),
        sample("", "f32 4,3", np.array([[0, -1], [1, 1]]), "f32 2,2", scalar(1)),
    ),
    "ScatterElementsUpdate-12": tuple(
        sample(
            f"reduction={word};use_init_val={str(word == 'mean').lower()}",
            f"{kind} 4,3",
            SAME,
            f"{kind} 3,3",
            scalar(0),
        )
        for word, kind in (("mean", "i32"), ("mean", "f16"), ("min", "f32"), ("max", "i32"), ("prod", "boolean"))
    ),
    "ScatterNDUpdate": (
        sample("", ints(1, 2, 3, 4), np.array([[2], [0]]), ints(5, 6)),
        sample("", "f32 4,3", np.array([[0, -1], [3, 1], [0, 2]]), "f32 3"),
    ),
    "SearchSorted": (
        sample("", np.array([[1, 3, 3, 7], [0, 2, 4, 9]]), "i64 2,5"),
        sample("right_mode=true", ints(1, 3, 3, 7), np.array([[0, 3], [7, 8]])),
        sample("", "f32 2,3,5", "f32 2,3,4"),
        sample("", "f32 5", "f32 2,3"),
    ),
    "Bucketize": (sample("output_type=i32;with_right_bound=false", "i32 2,3", np.array([0, 1, 3], np.int32)),),
    "SparseFillEmptyRows": (
        sample("", "f32 4", ints(5, 3), np.array([[0, 1], [2, 0], [2, 2], [3, 1]]), scalar(7, "f32")),
    ),
    "Unique": (
        sample("", np.array([[2, 0, 2], [1, 1, 0]])),
        sample("sorted=false", "f32 0,2", ints(0)),
        sample("", "f32 2,3,2", ints(1)),
    ),
    "Eye": (sample("output_type=i32", scalar(3), scalar(5), scalar(-1), ints(2, 1)),),
    "NonZero": (sample("output_type=i32", np.array([[0, 2, 0], [1, 0, 3]])),),
    "TopK": (
        sample("axis=-1;mode=min;sort=index", np.array([[3, 1, 2, 3], [5, 9, 7, 1]]), scalar(3)),
        sample("axis=-2;mode=max;sort=value", "f32 3,2", scalar(2)),
        sample("axis=-1;mode=max;sort=value", "f32 2,40", scalar(20)),
    ),
    "CTCGreedyDecoder": (
        sample("ctc_merge_repeated=false", "f32 4,2,3", np.array([[1, 1], [1, 1], [0, 1], [0, 0]], np.float32)),
    ),
    "CTCGreedyDecoderSeqLen": (sample("", "f32 2,5,3", np.array([5, 3], np.int32), scalar(1, "i32")),),
    "CTCLoss": (
        sample("", "f32 2,6,4", *(np.array(values, np.int32) for values in ([6, 6], LABELS, [3, 2], 3))),
        sample("", "f32 2,6,5", *(np.array(values, np.int32) for values in ([6, 5], LABELS, [2, 3]))),
    ),
    "RegionYolo": (sample("coords=4;classes=2;num=3;axis=1;end_axis=2;mask=0,1;do_softmax=false", "f32 1,14,2,2"),),
    "Interpolate-4": (
        sample(
            "mode=linear;shape_calculation_mode=scales;pads_begin=0,0,1,0;pads_end=0,0,0,2",
            *("f32 1,2,5,4", ints(8, 9), np.array([1.5, 0.7], np.float32), ints(2, 3)),
        ),
        sample("mode=cubic;shape_calculation_mode=sizes", "f32 1,2,5", ints(1, 2, 8), np.ones(3, np.float32)),
    ),
    "Interpolate-11": (
        sample(
            "mode=nearest;shape_calculation_mode=scales", "f32 1,2,5,4", np.array([2.3, 0.5], np.float32), ints(3, 2)
        ),
        sample("mode=bicubic_pillow;shape_calculation_mode=sizes", "f32 1,2,5,4", ints(7, 3), ints(2, 3)),
        sample("mode=nearest;shape_calculation_mode=sizes", "f32 1,2,5,4", ints(1, 2, 7, 3)),
        sample("mode=linear_onnx;shape_calculation_mode=sizes", "f32 1,2,3,5,4", ints(2, 7, 3), ints(2, 3, 4)),
    ),
    "Interpolate-1": (
        sample("mode=linear;axes=2,3;align_corners=false;pads_begin=0,0,1,0;pads_end=0,0,1,2", IMAGE, ints(5, 9)),
        sample("mode=cubic;axes=2;align_corners=true", "f32 1,2,5", ints(9)),
    ),
    "Convolution": (
        sample("strides=2;pads_begin=1;pads_end=2;dilations=2;auto_pad=explicit", "f32 2,3,9", "f32 4,3,3"),
        sample("strides=1,2,1;pads_begin=1,0,1;pads_end=0,1,2;dilations=1,1,2", "f32 1,2,5,6,7", "f32 3,2,2,3,2"),
    ),
    "ConvolutionBackpropData": (
        sample(
            "strides=2,3;pads_begin=1,0;pads_end=0,1;dilations=2,1;output_padding=1,2", "f32 2,3,4,5", "f32 3,2,3,2"
        ),
        sample("strides=3;pads_begin=0;pads_end=0;dilations=1;auto_pad=same_upper", "f32 1,2,5", "f32 2,4,4"),
    ),
    "GroupConvolution": (
        sample("strides=2,1;pads_begin=0,2;pads_end=1,0;dilations=1,2", "f32 2,6,7,8", "f32 3,4,2,3,2"),
        sample("strides=1;pads_begin=0;pads_end=0;dilations=1;auto_pad=same_lower", "f32 1,4,9", "f32 4,1,1,4"),
    ),
    "GroupConvolutionBackpropData": (
        sample("strides=2;pads_begin=1;pads_end=0;dilations=2;output_padding=1", "f32 1,6,5", "f32 3,2,3,3"),
    ),
    "DeformableConvolution": (
        sample(
            "strides=1,2;pads_begin=1,0;pads_end=0,1;dilations=1,2;group=2;deformable_group=2",
            *("f32 1,4,6,9", "f32 1,16,6,4", "f32 6,2,2,2"),
        ),
    ),
    "DeformableConvolution-8": (
        sample(
            "strides=1,1;pads_begin=1,0;pads_end=0,1;dilations=1,1;bilinear_interpolation_pad=true",
            *("f32 2,2,4,5", "f32 2,8,4,5", "f32 3,2,2,2", "f32 2,4,4,5"),
        ),
    ),
    "Col2Im": (sample("strides=2,1;pads_begin=1,0;pads_end=0,1;dilations=1,2", "f32 12,15", ints(5, 6), ints(2, 2)),),
    "MatMul": (
        sample("transpose_a=true;transpose_b=true", "f32 2,1,4,3", "f32 5,2,4"),
        sample("", "f32 3", "f32 2,3,4"),
        sample("transpose_b=true", "f32 2,3,4", "f32 4"),
    ),
    "Einsum": (
        sample("equation=iij,kj->ik", "f32 2,2,3", "f32 4,3"),
        sample("equation=ab,cb,a->ca", "f32 2,3", "f32 4,3", "f32 2"),
        sample("equation=abc->cb", "f32 2,3,4"),
        sample("equation=ab,bc", "f32 2,3", "f32 3,4"),
    ),
    "MVN-6": (sample("eps=0.5;eps_mode=outside_sqrt;normalize_variance=true", "f32 2,3,4", ints(-1)),),
    "LRN": (
        sample("alpha=0.5;beta=0.75;bias=2;size=3", "f32 2,5,6,4", ints(2, 3)),
        sample("alpha=2;beta=0.75;bias=1;size=3", "f32 1,3,2,4,3", ints(2, 3, 4)),
    ),
    "NormalizeL2": (sample("eps=0.5;eps_mode=max", "f32 2,3,4", ints(1, -1)),),
    "GroupNormalization": (sample("num_groups=3;epsilon=0.1", "f32 2,6,5", "f32 6", "f32 6"),),
    "FakeQuantize": (
        sample("levels=5", "f32 2,3", *(scalar(value, "f32") for value in (-1, 1, -2, 3))),
        sample(
            "levels=16", "f32 2,2,4", *(np.array([[a], [b]], np.float32) for a, b in ((-8, 0), (7, 4), (0, 3), (9, 1)))
        ),
    ),
    "FakeConvert": (
        sample(
            "destination_type=f8e5m2", "f32 2,3", np.array([[2], [0.5]], np.float32), np.array([[0], [1]], np.float32)
        ),
    ),
    **dict.fromkeys(
        ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceMin"),
        (sample("keep_dims=true", "f32 2,3,4", ints(-1, 0)),),
    ),
    "CumSum": (sample("reverse=true;exclusive=true", "f32 2,3,4", scalar(-2)),),
    **dict.fromkeys(("DFT", "IDFT", "IRDFT"), (sample("", "f32 2,4,2", ints(1, 0), ints(3, 5)),)),
    "RDFT": (sample("", "f32 2,4", ints(1, 0), ints(3, 5)),),
    "STFT": (sample("transpose_frames=true", "f32 48", "f32 16", scalar(16), scalar(5)),),
    "ISTFT": (
        sample("center=true;normalized=true", "f32 9,5,2", "f32 16", scalar(16), scalar(8), scalar(40)),
        sample("center=true;normalized=true", "f32 9,5,2", "f32 16", scalar(16), scalar(8)),
    ),
    "EmbeddingBagOffsets-15": (sample("reduction=mean", "f32 5,2,3", "i64 4", "i64 3"),),
    "EmbeddingBagPacked-15": (sample("reduction=mean", "f32 5,2,3", "i64 4,2"),),
    "ScaledDotProductAttention": (
        sample("causal=false", "f32 2,3,4,8", "f32 2,1,6,8", "f32 2,3,6,5", "f32 4,6", "f32 "),
        sample("causal=true", "f32 3,4,8", "f32 3,6,8", "f32 3,6,5", "f32 4,6", "f32 ", "f32 3,1,1"),
        sample("causal=true", "f32 3,4,8", "f32 3,6,8", "f32 3,6,5", "f32 4,6", "f32 1"),
        sample("causal=false", "f32 3,4,8", "f32 3,6,8", "f32 3,6,5", "boolean 3,4,6"),
    ),
    "GroupedMatMul": (sample("", "f32 3,2,4", "f32 3,5,4"),),
    **dict.fromkeys(("RGBtoNV12", "BGRtoNV12"), (sample("single_plane=false", "u8 1,4,6,3"),)),
}
"""By operation or its type: samples that read more."""
OPTIONAL: Mapping[str, tuple[Slot, ...]] = {
    "Swish-4": (scalar(1.5, "f32"),),
    **dict.fromkeys(("DFT-7", "IDFT-7", "RDFT-9", "IRDFT-9"), (ints(3),)),
    "ISTFT-16": (scalar(40),),
    "ScaledDotProductAttention-13": (("f32", "1,1,4,6"), scalar(0.5, "f32"), ("f32", "1,2,4,1")),
    **dict.fromkeys(("DetectionOutput-1", "DetectionOutput-8"), (("f32", "1,4"), ("f32", "1,8"))),
    "LSTMCell-1": (("f32", "9"),),
    "DeformablePSROIPooling-1": (("f32", "2,2,1,1"),),
    **dict.fromkeys(("CTCGreedyDecoderSeqLen-6", "CTCLoss-4"), (scalar(1, "i32"),)),
    **dict.fromkeys(("NonMaxSuppression-5", "NonMaxSuppression-9"), (scalar(0.5, "f32"),)),
    **dict.fromkeys(("ConvolutionBackpropData-1", "GroupConvolutionBackpropData-1"), (ints(10, 10),)),
    "DeformableConvolution-8": (("f32", "1,9,6,6"),),
    "SegmentMax-16": (scalar(4),),
    "Eye-9": (ints(2),),
    "Unique-10": (scalar(1),),
    "Bincount-17": (("f32", "4"),),
}
"""Inputs that follow those of a sample."""
OPS = [
    op
    for family in FAMILIES
    for op in family.OPS
    if op.inputs and op.shape and sample_of(op) and op.type not in {"Result", "ReadValue"}
]
KINDS = [kind.name for kind in ELEMENT_TYPES.values() if kind.kind != "dynamic"]
TYPES = (
    *(["boolean"], ["u8", "i8"], ["i16", "u16"], ["i32", "u32"], ["i64", "u64"], ["f16", "bf16"], ["f32", "f64"]),
    *(["f8e4m3", "f8e5m2", "f8e8m0"], ["u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1"], ["string"]),
)
"""Element types in groups of those that are alike."""
LIMITS = (-(2**63), -(2**31) - 1, -(2**31), 2**31 - 1, 2**31, 2**32, 2**63 - 1)
LARGE = (6, 10, 14, 16, 20, 24, 26, 28, 30, 31, 32)
"""Of which powers of 2 large numbers are."""
TEXTS = np.array(["text", "", "zwölf", "x" * 40, "漢字"], dtype=object)
SPECIAL = (0.0, -1.0, 1.0, 0.5, -2.5, 1e30, np.inf, -np.inf, np.nan)


def given(rng: Rng, op: Op) -> Sample:
    """A sample of the operation."""
    found = samples(op)
    return found[rng.integers(len(found))]


def samples(op: Op) -> list[Sample]:
    """The samples of an operation, of which one has all inputs."""
    plain = sample_of(op)
    full = None if plain is None or str(op) not in OPTIONAL else replace(plain, slots=plain.slots + OPTIONAL[str(op)])
    return [one for one in (plain, *MORE.get(op.type, ()), *MORE.get(str(op), ()), full) if one is not None]


def outputs_of(op: Op) -> int:
    """How many outputs the samples have."""
    return 2 if op.outputs[-1].many else len(op.outputs)


# --- attributes -------------------------------------------------------------------------------------------------


def raw_of(rng: Rng, op: Op, raw: dict[str, str], share: float = 0.0) -> dict[str, str]:
    """The attributes of a sample, a share of them, or a quarter, with other values or absent."""
    raw = dict(raw)
    for name, spec in op.attrs.items():
        if rng.random() >= (share or max(0.25, 1 / len(op.attrs)) * 0.7):
            continue
        key = spec.xml or name
        if rng.random() < 0.1:
            raw.pop(key, None)
        else:
            raw[key] = text_of(rng, spec, raw.get(key))
    return raw


def text_of(rng: Rng, spec: Field, text: str | None) -> str:
    """Another value of an attribute."""
    if isinstance(spec, Flag):
        return str(rng.choice(["true", "false"]))
    if isinstance(spec, OneOf):
        return str(rng.choice([*spec.words, *spec.synonyms]))
    if isinstance(spec, Type):
        return str(rng.choice(KINDS))
    if isinstance(spec, Int):
        return str(near(rng, int(text or 0)))
    if isinstance(spec, Float):
        return str(rng.choice([0.25, 1e-5, 3.0, -1.5, 0.0, 1.0]))
    if isinstance(spec, Ints | Floats):
        numbers = [float(word) for word in (text or "1,1").split(",")]
        numbers[rng.integers(len(numbers))] = near(rng, int(numbers[-1]))
        return ",".join(f"{number:g}" for number in [*numbers, *numbers[:1]][: len(numbers) + (rng.random() < 0.1)])
    return text or "a"


def near(rng: Rng, value: int) -> int:
    """An integer near another, or a small one."""
    return int(rng.choice([value - 1, value + 1, value + 1, value * 2, -value, 0, -1, 1, 2, 3]))


# --- inputs -----------------------------------------------------------------------------------------------------


def slots_of(rng: Rng, op: Op, slots: Sequence[Slot]) -> list[Slot]:
    """The inputs of a sample, some of another element type, fewer or other values."""
    out = list(slots)
    least = sum(not one.optional for one in op.inputs)
    if len(out) > least and rng.random() < 0.2:
        out = out[: rng.integers(least, len(out))]
    if rng.random() < 0.15:
        kind = str(rng.choice(["i64", "i64", "i32"]))
        return [small(rng, kind) if isinstance(slot, tuple) else slot for slot in out]
    if rng.random() < 0.1:
        out = of_rank(rng, out)
    kind = str(rng.choice(KINDS))
    case, which = rng.random(), int(rng.integers(len(out)))
    for number, slot in enumerate(out):
        if isinstance(slot, np.ndarray):
            out[number] = other_values(rng, slot)
        elif isinstance(slot, tuple) and ((case < 0.15 and slot[0] == "f32") or (case < 0.3 and number == which)):
            out[number] = kind, slot[1]
    return out


def small(rng: Rng, kind: str, count: int = 3) -> Array | Between:
    """A few small numbers of which the values, or their bounds, are known."""
    values = rng.integers(-3, 6, count)
    if rng.random() < 0.4:
        return values.astype(np.float32) / 4 if kind == "f32" else values.astype(element_type(kind).dtype)
    highs = [None if rng.random() < 0.15 else int(low) + int(rng.integers(0, 4)) for low in values]
    return Between(kind, tuple(zip(map(int, values), highs, strict=True)))


def of_rank(rng: Rng, slots: Sequence[Slot]) -> list[Slot]:
    """The inputs with a dimension more or less in all that have as many as the first."""
    first = slots[0][1].count(",") if isinstance(slots[0], tuple) else None
    place = int(rng.integers(4))
    out = list(slots)
    for number, slot in enumerate(slots):
        if isinstance(slot, tuple) and slot[1] and slot[1].count(",") == first:
            sizes = slot[1].split(",")
            sizes = [*sizes[:place], "2", *sizes[place:]] if place < 3 else sizes[1:]
            out[number] = slot[0], ",".join(sizes)
    return out


def other_values(rng: Rng, array: Array) -> Array:
    """A constant, at times with one of its integers changed or counted from the end, or with one more or less."""
    if array.dtype.kind != "i" or not array.size or rng.random() < 0.6:
        return array
    if array.ndim == 1 and rng.random() < 0.2:
        return array[1:] if rng.random() < 0.5 else np.append(array, array[-1:] + 1)
    values = array.copy()
    values.flat[rng.integers(array.size)] += int(rng.choice([-1, -1, 1, -2, 2, -4]))
    return values


def setting(rng: Rng, op: Op) -> Setting:
    """A layer near the sample, of which shapes are known in part."""
    base = given(rng, op)
    slots = around(rng, slots_of(rng, op, base.slots))
    return Setting(op, slots, raw_of(rng, op, dict(base.raw)), outputs_of(op))


def bounded(rng: Rng, op: Op) -> Setting:
    """A layer near the sample, of whose sizes and integers bounds are known, some large or far apart."""
    base, known = given(rng, op), float(rng.choice([0.4, 0.9]))
    slots = [_bounds_of(rng, slot, known) for slot in slots_of(rng, op, base.slots)]
    return Setting(op, slots, raw_of(rng, op, dict(base.raw)), outputs_of(op))


def _bounds_of(rng: Rng, slot: Slot, known: float) -> Slot:
    """An input of which bounds are known; `known`: the share of sizes and numbers that are known themselves."""
    if isinstance(slot, tuple):
        pairs = [_bounds(rng, int(size), known) for size in slot[1].split(",") if size]
        return slot[0], ",".join(str(Dim(max(low, 0), high)) for low, high in pairs)
    if isinstance(slot, Between) or slot.ndim > 1 or slot.dtype.kind != "i" or slot.itemsize < 4 or not slot.size:
        return slot
    return Between(
        from_dtype(slot.dtype).name, tuple(_bounds(rng, int(n), known) for n in slot.flat), scalar=not slot.ndim
    )


def _bounds(rng: Rng, number: int, known: float) -> tuple[int, int | None]:
    """Bounds around a number, or a multiple of it."""
    if rng.random() < known:
        return number, number
    number *= int(rng.choice([1, 1, 1, 10, 1 << 23]))
    reach = int(rng.choice([1, 3, 9]))
    low = number - int(rng.integers(0, reach + 1))
    low = low if number < 0 or rng.random() < 0.3 else max(low, 0)
    return low, None if rng.random() < 0.15 else number + int(rng.integers(0, reach + 1))


def of_two(rng: Rng, op: Op) -> Setting:
    """A layer near the sample, two of whose inputs may not fit together; of the others at most constants are known."""
    base = given(rng, op)
    slots = list(base.slots)
    kept = rng.choice(len(slots), min(2, len(slots)), replace=False)
    for number, slot in enumerate(slots):
        if isinstance(slot, tuple):
            slots[number] = slot[0], _other_size(rng, slot[1]) if number == kept[0] else slot[1]
            if number not in kept:
                slots[number] = slot[0], "..."
    return Setting(op, slots, raw_of(rng, op, dict(base.raw)), outputs_of(op))


@cache
def changes(op: Op) -> Sequence[tuple[Sample, int | str | None, Change]]:
    """Every change of one thing of each sample: an input or an attribute in each way, or all inputs at once."""
    found = list[tuple[Sample, int | str | None, Change]]()
    for one in samples(op):
        found += [(one, number, change) for number, slot in enumerate(one.slots) for change in _changes_of(slot)]
        found += [(one, number, partial(_replaced, other)) for number, other in _alike(one.slots)]
        found += [(one, name, change) for name, spec in op.attrs.items() for change in _texts_of(spec, large=True)]
        are_alike = len(one.slots) > 1 and all(isinstance(slot, tuple) and slot == one.slots[0] for slot in one.slots)
        kinds = ("f32", "i32", "i64") * (8 if are_alike else 1)
        found += [(one, None, partial(_with_values, kind)) for kind in kinds]
    return found


def changed(rng: Rng, op: Op, number: int) -> Setting:
    """A layer that differs from a sample in one thing; layers of following numbers in each thing in turn."""
    base, place, change = changes(op)[number % len(changes(op))]
    slots, raw = list(base.slots), dict(base.raw)
    if isinstance(place, str):
        key = op.attrs[place].xml or place
        raw[key] = change(rng, raw.get(key))
    else:
        slots = [change(rng, slot) if place in {None, at} else slot for at, slot in enumerate(slots)]
    return Setting(op, slots, raw, outputs_of(op))


def _texts_of(spec: Field, *, large: bool) -> Sequence[Change]:
    """The ways to change an attribute: to each of its words, each group of element types, other or large numbers."""
    if isinstance(spec, OneOf):
        return [partial(_chosen, [word]) for word in spec.words]
    if isinstance(spec, Type):
        return [partial(_chosen, kinds) for kinds in TYPES]
    return [partial(_another_text, spec), *([_large_text] if large and isinstance(spec, Int | Ints | Floats) else ())]


def _chosen(words: Sequence[str], rng: Rng, _: object) -> str:
    return str(rng.choice(words))


def _another_text(spec: Field, rng: Rng, text: str | None) -> str:
    return text_of(rng, spec, text)


def _large_text(rng: Rng, text: str | None) -> str:
    return _with_large(rng, text or "1")


def _changes_of(slot: Slot) -> Sequence[Change]:
    """The ways to change an input: another type, size or rank, a large number, less or more that is known."""
    types: list[Change] = [partial(_of_type, kinds) for kinds in TYPES]
    if isinstance(slot, tuple):
        known = [_known] if slot[0] in {"i32", "i64"} and "," not in slot[1] else []
        sized = [_large_size, _of_size, _of_fewer] if slot[1] else []
        return *types, _of_more, _of_any_rank, *sized, *known
    assert isinstance(slot, np.ndarray)
    is_integer = slot.dtype.kind == "i" and slot.size > 0
    limits = [partial(_set_to, limit) for limit in LIMITS] if is_integer and slot.size == 1 else []
    bounds = [partial(_bounds_of, known=0.4)] if is_integer and slot.ndim < 2 else []
    return (
        *types,
        _as_type,
        _unknown,
        _reshaped,
        *((_large_number, _near_number) if is_integer else ()),
        *bounds,
        *limits,
    )


def _alike(slots: Sequence[Slot]) -> Iterator[tuple[int, Array]]:
    """Yield, for each constant, those of the other inputs that can replace it."""
    held = [(number, slot) for number, slot in enumerate(slots) if isinstance(slot, np.ndarray)]
    for number, slot in held:
        yield from ((number, other) for at, other in held if at != number and other.shape == slot.shape)


def _replaced(other: Array, _: Rng, array: Array) -> Array:
    return other.astype(array.dtype)


def _of_type(kinds: Sequence[str], rng: Rng, slot: tuple[str, str] | Array) -> Slot:
    sizes = ",".join(map(str, slot.shape)) if isinstance(slot, np.ndarray) else slot[1]
    return str(rng.choice(kinds)), sizes


def _as_type(rng: Rng, array: Array) -> Slot:
    with np.errstate(over="ignore"):
        return array.astype(rng.choice(["i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "?"]))


def _large_size(rng: Rng, slot: tuple[str, str]) -> Slot:
    return slot[0], _with_large(rng, slot[1])


def _of_size(rng: Rng, slot: tuple[str, str]) -> Slot:
    return slot[0], _other_size(rng, slot[1])


def _of_more(rng: Rng, slot: tuple[str, str]) -> Slot:
    return slot[0], f"{slot[1]},{rng.integers(1, 3)}".removeprefix(",")


def _of_fewer(_: Rng, slot: tuple[str, str]) -> Slot:
    return slot[0], slot[1].partition(",")[2]


def _of_any_rank(_: Rng, slot: tuple[str, str]) -> Slot:
    return slot[0], "..."


def _known(rng: Rng, slot: tuple[str, str]) -> Slot:
    known = small(rng, slot[0], int(slot[1] or 1))
    if slot[1]:
        return known
    return replace(known, scalar=True) if isinstance(known, Between) else known.reshape(())


def _with_values(kind: str, rng: Rng, slot: Slot) -> Slot:
    return small(rng, kind) if isinstance(slot, tuple) else slot


def _unknown(_: Rng, array: Array) -> Slot:
    return from_dtype(array.dtype).name, ",".join(map(str, array.shape))


def _reshaped(rng: Rng, array: Array) -> Slot:
    return array.reshape([[1, *array.shape], [-1], [1, -1]][rng.integers(3)])


def _set_to(limit: int, _: Rng, array: Array) -> Slot:
    return np.full_like(array, limit, np.int64)


def _large_number(rng: Rng, array: Array) -> Slot:
    number = int(_with_large(rng, "0")) * int(rng.choice([1, 1, -1]))
    values = array.astype(np.int64)
    values.flat[rng.integers(array.size)] = number
    return values if abs(number) >> 31 else values.astype(array.dtype)


def _near_number(rng: Rng, array: Array) -> Slot:
    values = array.copy()
    values.flat[rng.integers(array.size)] += int(rng.choice([-9, -2, -1, 1, 9]))
    return values


def _with_large(rng: Rng, text: str) -> str:
    """A list of which one number is large."""
    numbers = text.split(",")
    numbers[rng.integers(len(numbers))] = str((1 << int(rng.choice(LARGE))) + int(rng.integers(-1, 2)))
    return ",".join(numbers)


def _other_size(rng: Rng, text: str) -> str:
    sizes = text.split(",")
    at = int(rng.integers(len(sizes)))
    sizes[at] = str(int(sizes[at] or 1) + int(rng.choice([-1, 0, 1, 2])))
    return ",".join(sizes) if text else text


# --- values -----------------------------------------------------------------------------------------------------


def fed(rng: Rng, op: Op, share: float = 0.0) -> Fed:
    """A layer near the sample, with arrays.

    `share`: of attributes that are others; half as many sizes are 1 wherever they are, and half as many arrays have a
    NaN, or a number that an attribute or a constant has. If it is 0, a quarter of the attributes are others.
    """
    base = given(rng, op)
    slots = slots_of(rng, op, base.slots)
    sizes = sizes_of(rng, slots)
    loose = [number for number, slot in enumerate(slots) if isinstance(slot, tuple)] if share else []
    ones = {size for number in loose for size in sizes[number] if rng.random() < share / 2}
    for number in loose:
        sizes[number] = [1 if size in ones else size for size in sizes[number]]
    arrays = [array_of(rng, slot, size) for slot, size in zip(slots, sizes, strict=True)]
    for number in loose:
        if arrays[number].dtype.kind == "f" and arrays[number].size and rng.random() < share / 2:
            arrays[number].flat[rng.integers(arrays[number].size)] = np.nan
    constants = [number for number, slot in enumerate(base.slots[: len(slots)]) if isinstance(slot, np.ndarray)]
    raw = raw_of(rng, op, dict(base.raw), share)
    other, numbers = rng.spawn(1)[0], _numbers_of(op, raw, [arrays[number] for number in constants])
    for number in loose if numbers else ():
        values = arrays[number]
        if values.dtype.kind == "f" and values.size and other.random() < share / 2:
            values.flat[other.integers(values.size)] = other.choice(numbers)
    return Fed(op, raw, arrays, constants, outputs_of(op))


def _numbers_of(op: Op, raw: Mapping[str, str], constants: Sequence[Array]) -> list[float]:
    """The numbers of attributes and of constants that are single floats: thresholds, limits."""
    attrs = op.read(raw, [])
    named = {} if attrs is None else {name: attrs[name] for name, spec in op.attrs.items() if isinstance(spec, Float)}
    single = [float(array.flat[0]) for array in constants if array.dtype.kind == "f" and array.size == 1]
    return [*(value for value in named.values() if value is not None), *single]


def sizes_of(rng: Rng, slots: Sequence[Slot]) -> list[list[int]]:
    """The sizes of the inputs; at times one that several have becomes another in all of them, or 1 in one."""
    sizes = [_plain_sizes(slot) for slot in slots]
    loose = [number for number, slot in enumerate(slots) if isinstance(slot, tuple) and sizes[number]]
    if loose and rng.random() < 0.5:
        old, new = int(rng.choice(sizes[rng.choice(loose)])), int(rng.choice([0, 1, 2, 3, 5, 7]))
        for number in loose:
            sizes[number] = [new if size == old else size for size in sizes[number]]
    if loose and rng.random() < 0.3:
        one = sizes[rng.choice(loose)]
        one[rng.integers(len(one))] = 1
    return sizes


def _plain_sizes(slot: Slot) -> list[int]:
    if isinstance(slot, np.ndarray):
        return list(slot.shape)
    return [len(slot.bounds)] if isinstance(slot, Between) else [int(size) for size in slot[1].split(",") if size]


def array_of(rng: Rng, slot: Slot, sizes: Sequence[int]) -> Array:
    """Values for an input: small ones, now and then with some that are special."""
    if isinstance(slot, np.ndarray):
        return slot
    if isinstance(slot, Between):
        return rng.integers(-3, 6, sizes)
    dtype = element_type(slot[0]).held_dtype
    if dtype is None or dtype.kind == "O":
        return np.resize(TEXTS, sizes)
    if dtype.kind == "b":
        return rng.random(sizes) < 0.5
    if dtype.kind in "iu":
        largest = 3 if rng.random() < 0.7 else 100
        return rng.integers(-largest if dtype.kind == "i" and rng.random() < 0.4 else 0, largest, sizes).astype(dtype)
    values = np.round(rng.normal(size=sizes) * float(rng.choice([1, 8])), 2)
    if values.size and rng.random() < 0.3:
        values.flat[rng.integers(values.size)] = rng.choice(SPECIAL)
    with np.errstate(all="ignore"):
        return values.astype(np.float32).astype(dtype)


def computes(layer: Fed) -> bool:
    """Whether the runtime can be asked: the types are those that it computes in, or those of a sample."""
    own = {slot[0] for one in samples(layer.op) for slot in one.slots if isinstance(slot, tuple)}
    return {from_dtype(array.dtype).name for array in layer.arrays} <= {*COMPUTED_KINDS, *own}


def layer(rng: Rng, op: Op, share: float = 0.0) -> Fed:
    """A random layer with arrays of types that the runtime computes; `share`: as for `fed`."""
    return next(one for one in iter(lambda: fed(rng, op, share), None) if computes(one))


@cache
def value_changes(op: Op) -> Sequence[tuple[Sample, int | str | None, Change]]:
    """Every change of one thing of each sample that a kernel may compute otherwise: as `changes`, but of arrays."""
    found = list[tuple[Sample, int | str | None, Change]]()
    for one in samples(op):
        shapes = [slot[1].split(",") for slot in one.slots if isinstance(slot, tuple) and slot[1]]
        sizes = {size: None for shape in shapes for size in shape}
        found += [(one, None, partial(_resized, old, new)) for old in sizes for new in ("0", "1") if old != new]
        if any(isinstance(slot, tuple) and slot[0] == "f32" for slot in one.slots):
            found += [(one, None, partial(_of_floats, kind)) for kind in ("f16", "bf16")]
        for number, slot in enumerate(one.slots):
            found += [(one, number, change) for change in _contents_of(slot)]
        found += [(one, number, partial(_replaced, other)) for number, other in _alike(one.slots)]
        found += [(one, name, change) for name, spec in op.attrs.items() for change in _texts_of(spec, large=False)]
    return found


def changed_layer(rng: Rng, op: Op, number: int) -> Fed:
    """A layer with arrays that differs from a sample in one thing; layers of following numbers in each in turn."""
    base, place, change = value_changes(op)[number % len(value_changes(op))]
    slots, raw = base.slots, dict(base.raw)
    if isinstance(place, str):
        key = op.attrs[place].xml or place
        raw[key] = change(rng, raw.get(key))
    elif place is None:
        slots = tuple(change(rng, slot) for slot in slots)
    constants = [at for at, slot in enumerate(slots) if isinstance(slot, np.ndarray) and at != place]
    arrays = [array_of(rng, slot, _plain_sizes(slot)) for slot in slots]
    if isinstance(place, int):
        arrays[place] = change(rng, arrays[place])
        numbers = _numbers_of(op, raw, [arrays[at] for at in constants])
        if numbers and change is _tied:
            arrays[place].flat[::3] = rng.choice(numbers)
    return Fed(op, raw, arrays, constants, outputs_of(op))


def _resized(old: str, new: str, _: Rng, slot: Slot) -> Slot:
    if not isinstance(slot, tuple):
        return slot
    return slot[0], ",".join(new if size == old else size for size in slot[1].split(","))


def _of_floats(kind: str, _: Rng, slot: Slot) -> Slot:
    return (kind, slot[1]) if isinstance(slot, tuple) and slot[0] == "f32" else slot


def _contents_of(slot: Slot) -> Sequence[Change]:
    """The ways to change values: equal, special and distant floats, integers of all sizes, others than constants."""
    if isinstance(slot, np.ndarray):
        return {"i": (_near_number, _near_number), "f": (_special,) * 4}.get(slot.dtype.kind, ()) if slot.size else ()
    assert isinstance(slot, tuple)
    kind = element_type(slot[0])
    if kind.is_integer and not kind.packed:
        return _of_all_sizes, _equal
    return (_tied, _special, _far_apart) if kind.is_float and not kind.packed else ()


def _tied(rng: Rng, array: Array) -> Array:
    return rng.integers(-1, 2, array.shape).astype(array.dtype)


def _special(rng: Rng, array: Array) -> Array:
    values = array.copy()
    if array.size:
        values.flat[rng.integers(array.size)] = rng.choice(SPECIAL)
    return values


def _far_apart(_: Rng, array: Array) -> Array:
    found: Array = array * array.dtype.type(100)
    return found


def _of_all_sizes(rng: Rng, array: Array) -> Array:
    limits = np.iinfo(array.dtype)
    return rng.integers(limits.min, limits.max, array.shape, array.dtype, endpoint=True)


def _equal(_: Rng, array: Array) -> Array:
    return np.resize(array.ravel()[:1], array.shape)


def mixed(rng: Rng, op: Op) -> Fed:
    """A layer half of whose attributes are others, with sizes of 1 and NaN."""
    return layer(rng, op, 0.5)


def layers(op: Op, count: int, seed: int) -> Iterator[Fed]:
    """Random layers with arrays."""
    rng = np.random.default_rng(seed)
    return (layer(rng, op) for _ in range(count))


def settings(op: Op, count: int, seed: int) -> Iterator[Setting]:
    """Random layers of which shapes are known in part."""
    rng = np.random.default_rng(seed)
    return (setting(rng, op) for _ in range(count))
