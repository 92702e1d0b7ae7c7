"""The attributes of the operations in the base models, from the published specifications."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["ASSUMED", "ATTRIBUTES", "A"]


@dataclass(frozen=True, slots=True)
class A:
    """One attribute.

    Attributes:
        kind: ints, int, float, floats, flag, word, words, type, shape, text.
        required: by the specification.
        least: the least value that an integer may have.
        words: what an enumeration may say.
        sized: whether the length of a list is given by something else in the layer.
        most: the largest value.
    """

    kind: str
    required: bool = False
    least: int | None = None
    words: tuple[str, ...] = ()
    sized: bool = True
    most: int | None = None


R = True
PADS = A("ints", R, 0)
STEPS = A("ints", R, 1)
AUTO = A("word", words=("explicit", "same_upper", "same_lower", "valid"))
BROADCAST = A("word", words=("none", "numpy", "pdpd"))
AXIS = A("int", R, -8, most=8)
TYPE = A("type", R)
INDEX = A("type", words=("i32", "i64"))
FLAG, FLOAT, NEEDED_FLAG, NEEDED_FLOAT = A("flag"), A("float"), A("flag", R), A("float", R)

_CONV = {"strides": STEPS, "pads_begin": A("ints", R), "pads_end": A("ints", R), "dilations": STEPS, "auto_pad": AUTO}
_AVG = {
    "kernel": STEPS,
    "strides": STEPS,
    "pads_begin": PADS,
    "pads_end": PADS,
    "exclude-pad": NEEDED_FLAG,
    "auto_pad": AUTO,
    "rounding_type": A("word", words=("floor", "ceil")),
}
_MAX = {
    "kernel": STEPS,
    "strides": STEPS,
    "pads_begin": PADS,
    "pads_end": PADS,
    "auto_pad": AUTO,
    "rounding_type": A("word", words=("floor", "ceil")),
}
_TORCH = A("word", words=("floor", "ceil", "ceil_torch"))
_BINARY = {"auto_broadcast": BROADCAST}
_CELL = {"hidden_size": A("int", R, 1), "activations": A("words", words=("sigmoid", "tanh", "relu")), "clip": FLOAT}
_SEQUENCE = {**_CELL, "direction": A("word", R, words=("forward", "reverse", "bidirectional"))}
_RESIZE = {
    "mode": A("word", R, words=("nearest", "linear", "linear_onnx", "cubic")),
    "shape_calculation_mode": A("word", R, words=("sizes", "scales")),
    "coordinate_transformation_mode": A(
        "word", words=("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners")
    ),
    "nearest_mode": A("word", words=("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")),
    "antialias": FLAG,
    "pads_begin": A("ints", least=0, sized=False),
    "pads_end": A("ints", least=0, sized=False),
    "cube_coeff": FLOAT,
}
_KEEP = {"keep_dims": FLAG}

ATTRIBUTES: dict[tuple[str, str], dict[str, A]] = {
    ("AvgPool", "opset1"): _AVG,
    ("AvgPool", "opset14"): {**_AVG, "rounding_type": _TORCH},
    ("AvgPool", "opset16"): {**_AVG, "rounding_type": _TORCH, "dilations": replace(STEPS, required=False)},
    ("MaxPool", "opset1"): _MAX,
    ("MaxPool", "opset8"): {
        **_MAX,
        "dilations": replace(STEPS, required=False),
        "index_element_type": INDEX,
        "axis": A("int", least=-4, most=3),
    },
    ("MaxPool", "opset14"): {
        **_MAX,
        "rounding_type": _TORCH,
        "dilations": replace(STEPS, required=False),
        "index_element_type": INDEX,
        "axis": A("int", least=-4, most=3),
    },
    ("AdaptiveMaxPool", "opset8"): {"index_element_type": INDEX},
    ("Convolution", "opset1"): _CONV,
    ("GroupConvolution", "opset1"): _CONV,
    ("ConvolutionBackpropData", "opset1"): {**_CONV, "output_padding": A("ints", least=0)},
    ("BatchNormInference", "opset5"): {"epsilon": NEEDED_FLOAT},
    ("Clamp", "opset1"): {"min": NEEDED_FLOAT, "max": NEEDED_FLOAT},
    ("Elu", "opset1"): {"alpha": NEEDED_FLOAT},
    ("FakeQuantize", "opset1"): {"levels": A("int", R, 2), "auto_broadcast": BROADCAST},
    ("LRN", "opset1"): {"alpha": NEEDED_FLOAT, "beta": NEEDED_FLOAT, "bias": NEEDED_FLOAT, "size": A("int", R, 1)},
    ("NormalizeL2", "opset1"): {"eps": NEEDED_FLOAT, "eps_mode": A("word", R, words=("add", "max"))},
    ("MVN", "opset6"): {
        "eps": NEEDED_FLOAT,
        "normalize_variance": NEEDED_FLAG,
        "eps_mode": A("word", R, words=("INSIDE_SQRT", "OUTSIDE_SQRT")),
    },
    ("Gelu", "opset7"): {"approximation_mode": A("word", words=("ERF", "TANH"))},
    ("MatMul", "opset1"): {"transpose_a": FLAG, "transpose_b": FLAG},
    ("SoftMax", "opset1"): {"axis": A("int", least=0, most=8)},
    ("SoftMax", "opset8"): {"axis": A("int", least=-8, most=8)},
    ("LogSoftmax", "opset5"): {"axis": A("int", least=-8, most=8)},
    ("Reshape", "opset1"): {"special_zero": NEEDED_FLAG},
    ("ReduceMean", "opset1"): _KEEP,
    ("ReduceSum", "opset1"): _KEEP,
    ("ReduceMax", "opset1"): _KEEP,
    ("ReduceProd", "opset1"): _KEEP,
    ("ReduceLogicalOr", "opset1"): _KEEP,
    ("Concat", "opset1"): {"axis": AXIS},
    ("Split", "opset1"): {"num_splits": A("int", R, 1)},
    ("StridedSlice", "opset1"): {
        "begin_mask": A("ints", R, 0, most=1, sized=False),
        "end_mask": A("ints", R, 0, most=1, sized=False),
        "new_axis_mask": A("ints", least=0, most=1, sized=False),
        "shrink_axis_mask": A("ints", least=0, most=1, sized=False),
        "ellipsis_mask": A("ints", least=0, most=1, sized=False),
    },
    ("Gather", "opset8"): {"batch_dims": A("int", least=-4, most=4)},
    ("GatherND", "opset8"): {"batch_dims": A("int", least=0, most=4)},
    ("GatherElements", "opset6"): {"axis": AXIS},
    ("ShapeOf", "opset3"): {"output_type": A("type", words=("i32", "i64"))},
    ("Range", "opset4"): {"output_type": TYPE},
    ("Broadcast", "opset3"): {"mode": A("word", words=("numpy", "explicit", "bidirectional"))},
    ("Convert", "opset1"): {"destination_type": TYPE},
    ("NonZero", "opset3"): {"output_type": A("type", words=("i32", "i64"))},
    ("TopK", "opset11"): {
        "axis": AXIS,
        "mode": A("word", R, words=("min", "max")),
        "sort": A("word", R, words=("value", "index", "none")),
        "index_element_type": INDEX,
        "stable": FLAG,
    },
    ("OneHot", "opset1"): {"axis": AXIS},
    ("CumSum", "opset3"): {"exclusive": FLAG, "reverse": FLAG},
    ("ScatterElementsUpdate", "opset12"): {
        "reduction": A("word", words=("none", "sum", "prod", "min", "max", "mean")),
        "use_init_val": FLAG,
    },
    ("ScatterNDUpdate", "opset15"): {"reduction": A("word", words=("none", "sum", "sub", "prod", "min", "max"))},
    ("NonMaxSuppression", "opset9"): {
        "box_encoding": A("word", words=("corner", "center")),
        "sort_result_descending": FLAG,
        "output_type": A("type", words=("i32", "i64")),
    },
    ("Interpolate", "opset4"): _RESIZE,
    ("Interpolate", "opset11"): {
        **_RESIZE,
        "mode": A("word", R, words=("nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow")),
    },
    ("Pad", "opset1"): {"pad_mode": A("word", R, words=("constant", "edge", "reflect", "symmetric"))},
    ("Pad", "opset12"): {"pad_mode": A("word", R, words=("constant", "edge", "reflect", "symmetric"))},
    ("DepthToSpace", "opset1"): {
        "block_size": A("int", least=1),
        "mode": A("word", R, words=("blocks_first", "depth_first")),
    },
    ("SpaceToDepth", "opset1"): {
        "block_size": A("int", least=1),
        "mode": A("word", R, words=("blocks_first", "depth_first")),
    },
    ("ShuffleChannels", "opset1"): {"axis": A("int", least=-8, most=8), "group": A("int", least=1)},
    ("ReverseSequence", "opset1"): {"batch_axis": A("int", least=-8, most=8), "seq_axis": A("int", least=-8, most=8)},
    ("PriorBox", "opset8"): {
        "min_size": A("floats"),
        "max_size": A("floats"),
        "aspect_ratio": A("floats"),
        "clip": FLAG,
        "flip": FLAG,
        "step": FLOAT,
        "offset": NEEDED_FLOAT,
        "variance": A("floats"),
        "scale_all_sizes": FLAG,
        "min_max_aspect_ratios_order": FLAG,
    },
    ("DetectionOutput", "opset8"): {
        "background_label_id": A("int"),
        "top_k": A("int"),
        "variance_encoded_in_target": FLAG,
        "keep_top_k": A("ints", R, sized=False),
        "code_type": A("word", words=("caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")),
        "share_location": FLAG,
        "nms_threshold": NEEDED_FLOAT,
        "confidence_threshold": FLOAT,
        "clip_after_nms": FLAG,
        "clip_before_nms": FLAG,
        "decrease_label_id": FLAG,
        "normalized": FLAG,
    },
    ("LSTMCell", "opset4"): _CELL,
    ("RNNCell", "opset1"): _CELL,
    ("GRUCell", "opset3"): {**_CELL, "linear_before_reset": FLAG},
    ("LSTMSequence", "opset5"): _SEQUENCE,
    ("RNNSequence", "opset5"): _SEQUENCE,
    ("GRUSequence", "opset5"): {**_SEQUENCE, "linear_before_reset": FLAG},
    ("ReadValue", "opset6"): {"variable_id": A("text", R), "variable_type": A("type"), "variable_shape": A("shape")},
    ("Assign", "opset6"): {"variable_id": A("text", R)},
    ("RegionYolo", "opset1"): {
        "coords": A("int", R, 0),
        "classes": A("int", R, 0),
        "num": A("int", R, 0),
        "do_softmax": FLAG,
        "mask": A("ints", sized=False),
        "axis": A("int", least=-4, most=4),
        "end_axis": A("int", least=-4, most=4),
        "anchors": A("floats"),
    },
    ("ReorgYolo", "opset2"): {"stride": A("ints", least=1, sized=False)},
    ("ROIPooling", "opset2"): {"spatial_scale": NEEDED_FLOAT, "method": A("word", words=("max", "bilinear"))},
    ("ROIAlign", "opset9"): {
        "pooled_h": A("int", R, 1),
        "pooled_w": A("int", R, 1),
        "sampling_ratio": A("int", R),
        "spatial_scale": NEEDED_FLOAT,
        "mode": A("word", R, words=("avg", "max")),
        "aligned_mode": A("word", words=("asymmetric", "half_pixel_for_nn", "half_pixel")),
    },
    ("PSROIPooling", "opset1"): {
        "output_dim": A("int", R, 1),
        "group_size": A("int", least=1),
        "spatial_scale": NEEDED_FLOAT,
        "mode": A("word", words=("average", "bilinear")),
        "spatial_bins_x": A("int"),
        "spatial_bins_y": A("int"),
    },
    ("ExtractImagePatches", "opset3"): {
        "sizes": STEPS,
        "strides": STEPS,
        "rates": STEPS,
        "auto_pad": A("word", R, words=("valid", "same_upper", "same_lower")),
    },
    ("DeformableConvolution", "opset8"): {
        **_CONV,
        "group": A("int", least=1),
        "deformable_group": A("int", least=1),
        "bilinear_interpolation_pad": FLAG,
    },
    ("GroupNormalization", "opset12"): {"num_groups": A("int", R, 1), "epsilon": NEEDED_FLOAT},
    ("GridSample", "opset9"): {
        "align_corners": FLAG,
        "mode": A("word", words=("bilinear", "bicubic", "nearest")),
        "padding_mode": A("word", words=("zeros", "border", "reflection")),
    },
    ("PriorBoxClustered", "opset1"): {
        "width": A("floats"),
        "height": A("floats"),
        "clip": FLAG,
        "offset": NEEDED_FLOAT,
        "variance": A("floats"),
    },
    ("Round", "opset5"): {"mode": A("word", words=("half_to_even", "half_away_from_zero"))},
    ("ReduceL1", "opset4"): _KEEP,
    ("ReduceL2", "opset4"): _KEEP,
    ("ReduceMin", "opset1"): _KEEP,
    ("Bucketize", "opset3"): {"output_type": A("type", words=("i32", "i64")), "with_right_bound": FLAG},
    ("Eye", "opset9"): {"output_type": TYPE},
    ("SearchSorted", "opset15"): {"right_mode": FLAG},
    ("CTCGreedyDecoder", "opset1"): {"ctc_merge_repeated": FLAG},
    ("CTCGreedyDecoderSeqLen", "opset6"): {"merge_repeated": FLAG, "classes_index_type": INDEX},
    ("TopK", "opset1"): {
        "axis": AXIS,
        "mode": A("word", R, words=("min", "max")),
        "sort": A("word", R, words=("value", "index", "none")),
    },
    ("Broadcast", "opset1"): {"mode": A("word", words=("numpy", "explicit"))},
    ("MVN", "opset2"): {"across_channels": FLAG, "normalize_variance": FLAG, "eps": NEEDED_FLOAT},
    ("BatchNormInference", "opset1"): {"epsilon": NEEDED_FLOAT},
    ("Interpolate", "opset1"): {
        "axes": A("ints", R, 0, sized=False),
        "mode": A("word", R, words=("nearest", "linear", "cubic", "area")),
        "align_corners": FLAG,
        "antialias": FLAG,
    },
    ("NonMaxSuppression", "opset3"): {
        "box_encoding": A("word", words=("corner", "center")),
        "sort_result_descending": FLAG,
        "output_type": A("type", words=("i32", "i64")),
    },
    ("ScaledDotProductAttention", "opset13"): {"causal": NEEDED_FLAG},
    ("Unique", "opset10"): {"sorted": FLAG, "index_element_type": INDEX, "count_element_type": INDEX},
    **{
        (name, "opset1"): _BINARY
        for name in ("SquaredDifference", "Mod", "LogicalXor", "NotEqual", "LessEqual", "GreaterEqual")
    },
    **{
        (name, "opset1"): _BINARY
        for name in (
            "Add",
            "Multiply",
            "Subtract",
            "Maximum",
            "Power",
            "Equal",
            "Less",
            "Greater",
            "LogicalAnd",
            "Select",
        )
    },
    ("Divide", "opset1"): {**_BINARY, "m_pythondiv": FLAG},
}

ASSUMED: dict[str, str] = {
    "AvgPool": "exclude-pad pads_begin pads_end",
    "BatchNormInference": "epsilon",
    "Convolution": "dilations pads_begin pads_end strides",
    "ConvolutionBackpropData": "dilations pads_begin pads_end strides",
    "DeformableConvolution": "dilations pads_begin pads_end strides",
    "DepthToSpace": "mode",
    "DetectionOutput": "nms_threshold",
    "GRUCell": "hidden_size",
    "GRUSequence": "direction hidden_size",
    "GroupConvolution": "dilations pads_begin pads_end strides",
    "GroupNormalization": "epsilon",
    "Interpolate": "shape_calculation_mode",
    "LRN": "alpha beta bias size",
    "LSTMCell": "hidden_size",
    "LSTMSequence": "direction hidden_size",
    "MVN": "eps eps_mode normalize_variance",
    "MaxPool": "pads_begin pads_end",
    "NormalizeL2": "eps eps_mode",
    "OneHot": "axis",
    "PriorBox": "offset",
    "PriorBoxClustered": "offset",
    "RNNCell": "hidden_size",
    "RNNSequence": "direction hidden_size",
    "ROIAlign": "mode pooled_h pooled_w sampling_ratio spatial_scale",
    "RegionYolo": "classes coords",
    "Reshape": "special_zero",
    "ScaledDotProductAttention": "causal",
    "SpaceToDepth": "mode",
    "StridedSlice": "end_mask",
    "TopK": "axis mode sort",
}
"""Attributes that the specification requires, and for which the runtime takes a value of its own. Measured."""
