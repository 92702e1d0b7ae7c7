"""How far proposals of regions grow."""

import numpy as np

from ir_tools.ops.roi import OPS
from tests.ops.around import ops_by_name
from tests.ops.single import attrs_of, computed

GENERATE = {
    "min_size": "0",
    "nms_threshold": "0.7",
    "post_nms_count": "10",
    "pre_nms_count": "60",
    "normalized": "true",
    "nms_eta": "1",
    "roi_num_type": "i64",
}


def test_a_box_grows_to_62_5_times_its_size_at_most() -> None:
    """Logarithms of its growth are cut off at log(1000 / 16)."""
    op, image = ops_by_name(OPS)["GenerateProposals-9"], np.array([[999, 999, 1]], np.float32)
    base = np.array([100, 100, 101, 102], np.float32).reshape(1, 1, 1, 4)
    deltas = np.array([0, 0, 9, 1], np.float32).reshape(1, 4, 1, 1)
    (box,), *_ = computed(op, attrs_of(op, GENERATE), [image, base, deltas, np.ones((1, 1, 1, 1), np.float32)])
    np.testing.assert_allclose(box, [100.5 - 31.25, 101 - np.e, 100.5 + 31.25, 101 + np.e], rtol=1e-5)
