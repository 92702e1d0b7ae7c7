"""Prior boxes, DetectionOutput and YOLO against the runtime: shapes, and what it refuses or breaks on."""

import numpy as np

from ir_tools.ops import detection
from tests.ops.around import Case, ChanceTests, Change, ops_by_name
from tests.ops.single import attrs_of, computed

OPS = ops_by_name(detection.OPS)
I64 = np.int64

PRIOR_BOX = {
    "min_size": "16",
    "max_size": "38",
    "aspect_ratio": "2.0",
    "flip": "true",
    "clip": "false",
    "step": "16",
    "offset": "0.5",
    "variance": "0.1,0.1,0.2,0.2",
    "scale_all_sizes": "true",
}
SIZES = (np.array([4, 5], I64), np.array([64, 80], I64))
CLUSTERED = {
    "width": "10,20",
    "height": "5,9",
    "clip": "false",
    "step": "16",
    "step_w": "0",
    "step_h": "0",
    "offset": "0.5",
    "variance": "0.1,0.1,0.2,0.2",
}
OUTPUT = {
    "background_label_id": "0",
    "top_k": "40",
    "variance_encoded_in_target": "false",
    "keep_top_k": "20",
    "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
    "share_location": "true",
    "nms_threshold": "0.45",
    "confidence_threshold": "0.01",
    "normalized": "true",
    "input_height": "1",
    "input_width": "1",
    "objectness_score": "0",
}
BOXES = (("f32", "2,40"), ("f32", "2,30"), ("f32", "1,2,40"))
YOLO = {
    "anchors": "1.08,1.19,3.42,4.41",
    "axis": "1",
    "end_axis": "3",
    "coords": "4",
    "classes": "3",
    "num": "2",
    "do_softmax": "true",
    "mask": "0,1",
}
CASES = {
    "PriorBox-1": Case(OPS["PriorBox-1"], PRIOR_BOX, SIZES),
    "PriorBox-8": Case(OPS["PriorBox-8"], PRIOR_BOX, SIZES),
    "PriorBoxClustered-1": Case(OPS["PriorBoxClustered-1"], CLUSTERED, SIZES),
    "DetectionOutput-1": Case(OPS["DetectionOutput-1"], {**OUTPUT, "num_classes": "3"}, BOXES),
    "DetectionOutput-8": Case(OPS["DetectionOutput-8"], OUTPUT, BOXES),
    "DetectionOutput-8-five": Case(OPS["DetectionOutput-8"], OUTPUT, (*BOXES, ("f32", "2,20"), ("f32", "2,40"))),
    "DetectionOutput-8-own-locations": Case(
        OPS["DetectionOutput-8"], {**OUTPUT, "share_location": "false"}, (("f32", "2,120"), *BOXES[1:])
    ),
    "RegionYolo-1": Case(
        OPS["RegionYolo-1"],
        YOLO,
        (("f32", "1,16,4,4"),),
    ),
    "ReorgYolo-1": Case(OPS["ReorgYolo-1"], {"stride": "2"}, (("f32", "1,8,4,4"),)),
}


RUN: list[Change] = [
    ("PriorBox-1", {}, {}),
    ("PriorBox-1", {"variance": "0.1"}, {}),
    ("PriorBox-1", {"variance": ""}, {}),
    ("PriorBox-1", {"min_size": ""}, {}),
    ("PriorBox-1", {"density": "2", "fixed_size": "3", "min_size": "", "max_size": ""}, {}),
    ("PriorBox-8", {"offset": None, "step": None}, {}),
    ("PriorBoxClustered-1", {"variance": "0.1", "step": "0", "step_w": "3"}, {}),
    ("DetectionOutput-1", {}, {}),
    ("DetectionOutput-8", {"keep_top_k": "-1", "top_k": "-1"}, {}),
    ("DetectionOutput-8", {"keep_top_k": "5,6", "background_label_id": "-1"}, {}),
    ("DetectionOutput-8", {"nms_threshold": "2", "confidence_threshold": "-1", "input_width": "-3"}, {}),
    ("RegionYolo-1", {}, {}),
    ("RegionYolo-1", {"do_softmax": "false", "num": "9"}, {}),
    ("ReorgYolo-1", {}, {}),
]
REFUSED: list[Change] = [
    ("PriorBox-1", {"variance": "0.1,0.2"}, {}),
    ("PriorBox-1", {}, {0: np.array([4, 5, 6], I64)}),
    ("PriorBox-1", {}, {0: np.array([10**6, 10**6], I64)}),
    ("PriorBoxClustered-1", {"width": "1"}, {}),
    ("PriorBoxClustered-1", {"variance": "0.1,0.2"}, {}),
    ("DetectionOutput-1", {"num_classes": "-1"}, {}),
    ("DetectionOutput-1", {"num_classes": "2"}, {}),
    ("DetectionOutput-1", {"num_classes": None}, {}),
    ("DetectionOutput-8", {"keep_top_k": None}, {}),
    ("DetectionOutput-8", {"keep_top_k": "1000000000"}, {}),
    ("DetectionOutput-8", {"code_type": "CENTER_SIZE"}, {}),
    ("DetectionOutput-8", {"variance_encoded_in_target": "true"}, {}),
    ("DetectionOutput-8", {"share_location": "false"}, {}),
    ("DetectionOutput-8", {"normalized": "false"}, {}),
    ("RegionYolo-1", {"num": "0"}, {}),
    ("RegionYolo-1", {"axis": "4"}, {}),
    ("ReorgYolo-1", {"stride": None}, {}),
    ("ReorgYolo-1", {"stride": "3"}, {}),
    ("ReorgYolo-1", {}, {0: ("f32", "1,3,4,4")}),
]


UNPREDICTABLE: list[Change] = [
    ("PriorBox-1", {"density": "0"}, {}),
    ("PriorBox-1", {"density": "0.5", "fixed_size": "3"}, {}),
    ("PriorBox-1", {"density": "2", "fixed_size": "3"}, {}),
    ("PriorBox-1", {"scale_all_sizes": "false"}, {}),
    ("DetectionOutput-8", {"top_k": "-5"}, {}),
    ("DetectionOutput-8", {"decrease_label_id": "true", "background_label_id": "1"}, {}),
    ("DetectionOutput-8", {"keep_top_k": "-3"}, {}),
    ("RegionYolo-1", {"num": "5"}, {}),
    ("RegionYolo-1", {"do_softmax": "false", "mask": ""}, {}),
    ("RegionYolo-1", {}, {0: ("f32", "1,8,4,4")}),
]


def test_the_background_alone_gives_no_boxes() -> None:
    """Of one class, which is left out where labels are decreased."""
    op, raw = OPS["DetectionOutput-8"], {**OUTPUT, "decrease_label_id": "true", "background_label_id": "0"}
    boxes = np.array([0.1, 0.1, 0.5, 0.5] * 2, np.float32)
    arrays = [np.zeros((1, 8)), np.ones((1, 2)), np.stack([boxes, np.full(8, 0.1)])[None]]
    (found,) = computed(op, attrs_of(op, raw), [array.astype(np.float32) for array in arrays])
    assert found.shape[-1] == 7
    assert found.ravel().tolist() == [-1, *[0] * (found.size - 1)]


class TestDetection(ChanceTests):
    cases, run, refused, unpredictable = CASES, RUN, REFUSED, UNPREDICTABLE
