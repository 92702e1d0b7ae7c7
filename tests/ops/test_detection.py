"""DetectionOutput of the background alone."""

import numpy as np

from ir_tools.ops import detection
from tests.ops.around import ops_by_name
from tests.ops.single import attrs_of, computed

OPS = ops_by_name(detection.OPS)
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


def test_the_background_alone_gives_no_boxes() -> None:
    """Of one class, which is left out where labels are decreased."""
    op, raw = OPS["DetectionOutput-8"], {**OUTPUT, "decrease_label_id": "true", "background_label_id": "0"}
    boxes = np.array([0.1, 0.1, 0.5, 0.5] * 2, np.float32)
    arrays = [np.zeros((1, 8)), np.ones((1, 2)), np.stack([boxes, np.full(8, 0.1)])[None]]
    (found,) = computed(op, attrs_of(op, raw), [array.astype(np.float32) for array in arrays])
    assert found.shape[-1] == 7
    assert found.ravel().tolist() == [-1, *[0] * (found.size - 1)]
