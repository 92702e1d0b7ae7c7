"""The ExperimentalDetectron operations of opset6, for Faster and Mask R-CNN."""

from ir_tools.ops._define import Flag, Float, Floats, Input, Int, Ints, Op, Output

__all__ = ["OPS"]

TYPES = {"T": "float"}

DETECTION_OUTPUT = Op(
    type="ExperimentalDetectronDetectionOutput",
    version=6,
    inputs=tuple(Input(name, type="T") for name in ("rois", "deltas", "scores", "image_size")),
    outputs=(Output("boxes"), Output("classes"), Output("scores")),
    attrs={
        "score_threshold": Float(least=0),
        "nms_threshold": Float(least=0),
        "num_classes": Int(least=0),
        "post_nms_count": Int(least=0),
        "max_detections_per_image": Int(least=0),
        "class_agnostic_box_regression": Flag(default=False),
        "max_delta_log_wh": Float(),
        "deltas_weights": Floats(least=0),
    },
    types=TYPES,
)
GENERATE_PROPOSALS = Op(
    type="ExperimentalDetectronGenerateProposalsSingleImage",
    version=6,
    inputs=tuple(Input(name, type="T") for name in ("image_size", "anchors", "deltas", "scores")),
    outputs=(Output("rois"), Output("scores")),
    attrs={
        "min_size": Float(least=0),
        "nms_threshold": Float(least=0),
        "pre_nms_count": Int(least=0),
        "post_nms_count": Int(least=0),
    },
    types=TYPES,
)
PRIOR_GRID_GENERATOR = Op(
    type="ExperimentalDetectronPriorGridGenerator",
    version=6,
    inputs=tuple(Input(name, type="T") for name in ("priors", "feature_map", "image")),
    attrs={
        "flatten": Flag(default=True, missing=False),
        "h": Int(least=0, default=0),
        "w": Int(least=0, default=0),
        "stride_x": Float(least=0, default=0.0),
        "stride_y": Float(least=0, default=0.0),
    },
    types=TYPES,
)
ROI_FEATURE_EXTRACTOR = Op(
    type="ExperimentalDetectronROIFeatureExtractor",
    version=6,
    inputs=(Input("rois", type="T"), Input("features", type="T", many=True)),
    outputs=(Output("features"), Output("rois")),
    attrs={
        "output_size": Int(least=1),
        "sampling_ratio": Int(least=0),
        "pyramid_scales": Ints(least=1),
        "aligned": Flag(default=False),
    },
    types=TYPES,
)
TOP_K_ROIS = Op(
    type="ExperimentalDetectronTopKROIs",
    version=6,
    inputs=(Input("rois", type="T"), Input("probabilities", type="T")),
    attrs={"max_rois": Int(least=0)},
    types=TYPES,
)

OPS = (DETECTION_OUTPUT, GENERATE_PROPOSALS, PRIOR_GRID_GENERATOR, ROI_FEATURE_EXTRACTOR, TOP_K_ROIS)
