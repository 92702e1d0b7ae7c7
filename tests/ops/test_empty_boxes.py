"""Kernels on tensors without elements: no images, no boxes, no time steps. Shapes and values are the runtime's."""

from collections.abc import Mapping

import numpy as np
import pytest

from ir_tools.known_differences._model import whole
from ir_tools.ops import Array, detection, image, recurrent, roi, sorting, suppression
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import ops_by_name
from tests.ops.layer_support import compare_values
from tests.ops.single import Fed

OPS = ops_by_name(detection.OPS, image.OPS, recurrent.OPS, roi.OPS, sorting.OPS, suppression.OPS)

POOLED = {"pooled_h": "2", "pooled_w": "2", "spatial_scale": "1"}
ALIGNED = {**POOLED, "sampling_ratio": "2", "mode": "avg"}
PARTS = {"output_dim": "2", "group_size": "2", "spatial_scale": "1", "mode": "average"}
OUTPUT = {"keep_top_k": "5", "nms_threshold": "0.5", "normalized": "true", "num_classes": "3"}
SIZES = {"shape_calculation_mode": "sizes"}
BEST = {"nms_top_k": "3", "sort_result_type": "score", "output_type": "i64"}
CELL = {"hidden_size": "4", "direction": "forward"}
LSTM = {**CELL, "activations": "sigmoid,tanh,tanh"}
GRU = {**CELL, "activations": "sigmoid,tanh", "direction": "reverse"}
YOLO = {"coords": "4", "classes": "3", "num": "2", "do_softmax": "true", "axis": "1", "end_axis": "3"}


def ones(*sizes: int) -> Array:
    return np.ones(sizes, np.float32)


ROWS: list[tuple[str, Mapping[str, str], list[Array]]] = [
    ("ROIPooling-1", POOLED, [ones(1, 2, 4, 4), ones(0, 5)]),
    ("ROIPooling-1", {**POOLED, "method": "bilinear"}, [ones(1, 0, 4, 4), ones(2, 5) * 0]),
    ("ROIAlign-3", ALIGNED, [ones(1, 2, 4, 4), ones(0, 4), whole()]),
    ("ROIAlign-3", {**ALIGNED, "mode": "max"}, [ones(1, 0, 4, 4), ones(2, 4), whole(0, 0)]),
    ("PSROIPooling-1", PARTS, [ones(1, 8, 4, 4), ones(0, 5)]),
    ("DeformablePSROIPooling-1", {**PARTS, "mode": "bilinear_deformable"}, [ones(1, 8, 4, 4), ones(0, 5)]),
    ("Interpolate-11", {**SIZES, "mode": "linear_onnx"}, [ones(0, 2, 4, 4), whole(8, 8), whole(2, 3)]),
    ("Interpolate-11", {**SIZES, "mode": "cubic"}, [ones(1, 2, 4, 4), whole(0, 8), whole(2, 3)]),
    ("GridSample-9", {}, [ones(1, 2, 4, 4), ones(1, 0, 3, 2)]),
    ("GridSample-9", {"mode": "nearest"}, [ones(0, 2, 4, 4), ones(0, 3, 3, 2)]),
    ("TopK-3", {"axis": "1", "mode": "max", "sort": "value"}, [ones(0, 5), np.array(2)]),
    ("CTCGreedyDecoder-1", {}, [ones(0, 2, 3), ones(0, 2)]),
    ("CTCGreedyDecoderSeqLen-6", {}, [ones(0, 4, 3), np.zeros(0, np.int32)]),
    ("RegionYolo-1", YOLO, [ones(0, 16, 4, 4)]),
    ("ReorgYolo-1", {"stride": "2"}, [ones(0, 8, 4, 4)]),
    ("PriorBox-1", {"min_size": "3", "offset": "0.5"}, [whole(0, 4), whole(8, 8)]),
    ("PriorBoxClustered-1", {"offset": "0.5"}, [whole(2, 4), whole(8, 8)]),
    ("DetectionOutput-1", OUTPUT, [ones(0, 8), ones(0, 6), ones(1, 2, 8)]),
    ("MatrixNms-8", BEST, [ones(0, 4, 4), ones(0, 2, 4)]),
    ("MulticlassNms-9", BEST, [ones(0, 4, 4), ones(0, 2, 4)]),
    ("MulticlassNms-9", BEST, [ones(2, 4, 4), ones(2, 4), np.zeros(0, np.int64)]),
    (
        "LSTMSequence-5",
        LSTM,
        [ones(2, 5, 3), ones(2, 1, 4), ones(2, 1, 4), whole(0, 5), ones(1, 16, 3), ones(1, 16, 4), ones(1, 16)],
    ),
    (
        "GRUSequence-5",
        GRU,
        [ones(2, 5, 3), ones(2, 1, 4), whole(0, 5), ones(1, 12, 3), ones(1, 12, 4), ones(1, 12)],
    ),
    (
        "RNNSequence-5",
        {**CELL, "activations": "tanh"},
        [ones(2, 5, 3), ones(2, 1, 4), whole(0, 0), ones(1, 4, 3), ones(1, 4, 4), ones(1, 4)],
    ),
]


@pytest.mark.parametrize(("name", "raw", "arrays"), ROWS, ids=[f"{row[0]}-{n}" for n, row in enumerate(ROWS)])
def test_nothing(name: str, raw: Mapping[str, str], arrays: list[Array], client: RuntimeClient) -> None:
    constant = [number for number, array in enumerate(arrays) if "Interpolate" in name and number]
    layer = Fed(OPS[name], raw, arrays, constants=constant or ((1,) if name == "TopK-3" else ()))
    compare_values(client, [layer], 1e-4)
