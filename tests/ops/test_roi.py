"""Proposals and pooling of regions against the runtime: shapes, and what it refuses or breaks on."""

import numpy as np

from ir_tools.ops import roi
from tests.ops.around import Case, ChanceTests, Change, ops_by_name
from tests.ops.single import attrs_of, computed

OPS = ops_by_name(roi.OPS)

PROPOSAL = {
    "base_size": "16",
    "pre_nms_topn": "60",
    "post_nms_topn": "10",
    "nms_thresh": "0.7",
    "feat_stride": "16",
    "min_size": "16",
    "ratio": "0.5,1",
    "scale": "8",
}
IMAGE = np.array([96, 96, 1], np.float32)
ANCHORS = (("f32", "1,4,6,6"), ("f32", "1,8,6,6"), IMAGE)
GENERATE = {
    "min_size": "0",
    "nms_threshold": "0.7",
    "post_nms_count": "10",
    "pre_nms_count": "60",
    "normalized": "true",
    "nms_eta": "1",
    "roi_num_type": "i64",
}
POOLED = {"pooled_h": "3", "pooled_w": "2", "spatial_scale": "0.0625"}
ALIGNED = {**POOLED, "sampling_ratio": "2"}
REGIONS = (("f32", "1,3,8,8"), ("f32", "4,4"), ("i64", "4"))
PARTS = {"output_dim": "2", "group_size": "3", "spatial_scale": "0.0625", "mode": "average"}
BINS = {"mode": "bilinear", "spatial_bins_x": "3", "spatial_bins_y": "3"}
CASES = {
    "Proposal-1": Case(OPS["Proposal-1"], PROPOSAL, ANCHORS),
    "Proposal-4": Case(OPS["Proposal-4"], PROPOSAL, ANCHORS),
    "GenerateProposals-9": Case(
        OPS["GenerateProposals-9"],
        GENERATE,
        (("f32", "1,3"), ("f32", "6,6,3,4"), ("f32", "1,12,6,6"), ("f32", "1,3,6,6")),
    ),
    "ROIPooling-1": Case(
        OPS["ROIPooling-1"],
        {**POOLED, "method": "max"},
        (("f32", "1,3,8,8"), ("f32", "4,5")),
    ),
    "ROIAlign-3": Case(OPS["ROIAlign-3"], {**ALIGNED, "mode": "avg"}, REGIONS),
    "ROIAlign-9": Case(OPS["ROIAlign-9"], {**ALIGNED, "mode": "avg", "aligned_mode": "half_pixel"}, REGIONS),
    "ROIAlignRotated-15": Case(
        OPS["ROIAlignRotated-15"],
        {**ALIGNED, "clockwise_mode": "true"},
        (REGIONS[0], ("f32", "4,5"), ("i64", "4")),
    ),
    "PSROIPooling-1": Case(OPS["PSROIPooling-1"], PARTS, (("f32", "1,18,8,8"), ("f32", "4,5"))),
    "DeformablePSROIPooling-1": Case(
        OPS["DeformablePSROIPooling-1"],
        {**PARTS, "mode": "bilinear_deformable", "spatial_bins_x": "2", "spatial_bins_y": "2", "part_size": "3"},
        (("f32", "1,18,8,8"), ("f32", "4,5"), ("f32", "4,2,3,3")),
    ),
}


RUN: list[Change] = [
    *((name, {}, {}) for name in CASES),
    ("Proposal-1", {"base_size": None, "ratio": "", "scale": "8,16", "framework": "tensorflow"}, {}),
    ("Proposal-1", {"pre_nms_topn": "8"}, {}),
    ("Proposal-4", {"min_size": "-1", "nms_thresh": "-1"}, {}),
    ("GenerateProposals-9", {"min_size": "-1", "nms_threshold": "-1", "pre_nms_count": "1000000000"}, {}),
    ("ROIPooling-1", {"pooled_h": None, "output_roi": "3,2"}, {}),
    ("ROIPooling-1", {"pooled_h": None, "pooled_w": None, "output_size": "3,2", "method": None}, {}),
    ("ROIPooling-1", {"pooled_h": "4", "output_roi": "3,2"}, {}),
    ("ROIAlign-9", {"pooled_h": "0", "sampling_ratio": "-1", "spatial_scale": "-1"}, {}),
    ("ROIAlign-3", {"sampling_ratio": "0", "mode": "max"}, {}),
    ("ROIAlign-9", {}, {2: np.array([0, 0, -1, 5])}),
    ("ROIAlignRotated-15", {"sampling_ratio": "0", "spatial_scale": "0"}, {}),
    ("PSROIPooling-1", BINS, {}),
    ("DeformablePSROIPooling-1", {"part_size": "2"}, {}),
]
REFUSED: list[Change] = [
    ("Proposal-1", {"post_nms_topn": "0"}, {}),
    ("Proposal-1", {"post_nms_topn": "-1"}, {}),
    ("Proposal-1", {"post_nms_topn": None}, {}),
    ("Proposal-4", {"framework": "foo"}, {}),
    ("Proposal-1", {}, {1: ("f32", "1,9,6,6")}),
    ("GenerateProposals-9", {"nms_eta": "0.5"}, {}),
    ("GenerateProposals-9", {"pre_nms_count": "0"}, {}),
    ("GenerateProposals-9", {"post_nms_count": None}, {}),
    ("GenerateProposals-9", {"roi_num_type": "u8"}, {}),
    ("ROIPooling-1", {"pooled_h": None}, {}),
    ("ROIPooling-1", {"pooled_h": "-1"}, {}),
    ("ROIPooling-1", {"output_roi": "3,2,5"}, {}),
    ("ROIPooling-1", {"spatial_scale": "0"}, {}),
    ("ROIPooling-1", {"method": "foo"}, {}),
    ("ROIPooling-1", {"pooled_h": "100000", "pooled_w": "100000"}, {}),
    ("ROIAlign-9", {"aligned_mode": "foo"}, {}),
    ("PSROIPooling-1", {"output_dim": "3"}, {}),
    ("PSROIPooling-1", {"group_size": "0"}, {}),
    ("PSROIPooling-1", {"mode": "Average"}, {}),
    ("PSROIPooling-1", {"spatial_scale": "0"}, {}),
    ("PSROIPooling-1", {**BINS, "spatial_bins_x": "0"}, {}),
    ("DeformablePSROIPooling-1", {"output_dim": "0"}, {}),
    ("DeformablePSROIPooling-1", {"mode": "bilinear"}, {}),
]


UNPREDICTABLE: list[Change] = [
    ("ROIAlign-9", {"sampling_ratio": "1000000"}, {}),
    ("Proposal-1", {"post_nms_topn": "2000000000"}, {}),
    ("Proposal-1", {}, {2: np.array([0, 96, 1], np.float32)}),
    ("Proposal-1", {"pre_nms_topn": "7"}, {}),
    ("ROIAlign-9", {"pooled_h": "-1"}, {}),
    ("ROIAlign-9", {}, {2: np.array([-1, 0, 0, 0])}),
    ("ROIAlignRotated-15", {"sampling_ratio": "-1"}, {}),
]


class TestRoi(ChanceTests):
    cases, run, refused, unpredictable = CASES, RUN, REFUSED, UNPREDICTABLE


def test_a_box_grows_to_62_5_times_its_size_at_most() -> None:
    """Logarithms of its growth are cut off at log(1000 / 16)."""
    op, image = OPS["GenerateProposals-9"], np.array([[999, 999, 1]], np.float32)
    base = np.array([100, 100, 101, 102], np.float32).reshape(1, 1, 1, 4)
    deltas = np.array([0, 0, 9, 1], np.float32).reshape(1, 4, 1, 1)
    (box,), *_ = computed(op, attrs_of(op, GENERATE), [image, base, deltas, np.ones((1, 1, 1, 1), np.float32)])
    np.testing.assert_allclose(box, [100.5 - 31.25, 101 - np.e, 100.5 + 31.25, 101 + np.e], rtol=1e-5)
