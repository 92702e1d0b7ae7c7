"""Tensors without elements: every operation is given inputs, and computed or refused in words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import IrToolsError
from ir_tools.execute import run
from ir_tools.graph import Source
from ir_tools.ops import Array, Op, Role
from tests.ops.samples import Sample, resized, sample_of, sizes_in
from tests.releases.questions import OPS, planned


@pytest.mark.parametrize("op", [op for op in OPS if op.role is Role.COMPUTATION and sample_of(op)], ids=str)
def test_a_layer_without_elements_is_computed_or_refused(op: Op) -> None:
    """Neither is there a warning, nor an error of another kind."""
    sample = sample_of(op)
    assert sample is not None
    known = {key: value for key, value in sample.raw.items() if key in op.fields}
    for one in (resized(sample, size, "0") for size in sizes_in(sample)):
        builder, fed = Builder(), dict[str, Array]()
        with suppress(IrToolsError):
            arrays, sources = planned(op, Sample(known, one.slots)), list[Source]()
            for number, (slot, array) in enumerate(zip(one.slots, arrays, strict=True)):
                if isinstance(slot, tuple):
                    sources.append(builder.parameter(f"in{number}", slot[1], slot[0]))
                    fed[f"in{number}"] = array
                else:
                    sources.append(builder.constant(array))
            for output in builder.unchecked(op, known, sources, "layer"):
                builder.result(output)
            run(builder.model, fed)


def outputs_of(made: Builder, **fed: Array) -> Array:
    """The first output of a model by the reference."""
    return next(iter(run(made.model, fed).values()))


def test_rows_without_elements_times_a_matrix_are_zeros() -> None:
    made = Builder()
    made.result(made.call("MatMul", made.parameter("rows", "2,5,0"), made.parameter("matrix", "0,4")))
    found = outputs_of(made, rows=np.zeros((2, 5, 0), np.float32), matrix=np.zeros((0, 4), np.float32))
    np.testing.assert_array_equal(found, np.zeros((2, 5, 4)))


def test_tuples_of_no_indices_name_all_data() -> None:
    made, data = Builder(), np.arange(6, dtype=np.float32).reshape(2, 3)
    made.result(made.call("GatherND", made.parameter("data", "2,3"), made.parameter("indices", "4,0", "i64")))
    found = outputs_of(made, data=data, indices=np.zeros((4, 0), np.int64))
    np.testing.assert_array_equal(found, np.stack([data] * 4))


def test_groups_of_no_images_are_normalized() -> None:
    made, line = Builder(), np.ones(4, np.float32)
    images = made.parameter("images", "0,4,2,2")
    made.result(made.call("GroupNormalization", images, line, line, num_groups=2, epsilon=0.1))
    assert outputs_of(made, images=np.zeros((0, 4, 2, 2), np.float32)).shape == (0, 4, 2, 2)


def zeros(*sizes: int) -> Array:
    return np.zeros(sizes, np.float32)


I64 = np.int64
ALIGNED = {"pooled_h": 2, "pooled_w": 2, "sampling_ratio": 2, "spatial_scale": 1.0, "clockwise_mode": True}
WINDOW = {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1]}
DETECTIONS = {
    "code_type": "caffe.PriorBoxParameter.CORNER",
    "nms_threshold": 0.5,
    "normalized": True,
    "keep_top_k": [3],
}
COMPUTED: Mapping[str, tuple[str, Sequence[Array], Mapping[str, Any], Array]] = {
    "DFT": ("DFT", [zeros(2, 0, 2), np.array([1])], {}, zeros(2, 0, 2)),
    "DFT, padded": ("DFT", [zeros(2, 0, 2), np.array([1]), np.array([4])], {}, zeros(2, 4, 2)),
    "IDFT of no rows": ("IDFT", [zeros(0, 3, 2), np.array([1, 0])], {}, zeros(0, 3, 2)),
    "RDFT": ("RDFT", [zeros(2, 0), np.array([1])], {}, zeros(2, 0, 2)),
    "RDFT of no rows": ("RDFT", [zeros(0, 4), np.array([1])], {}, zeros(0, 3, 2)),
    "IRDFT": ("IRDFT", [zeros(2, 0, 2), np.array([1])], {}, zeros(2, 0)),
    "IRDFT of no rows": ("IRDFT", [zeros(0, 3, 2), np.array([1])], {}, zeros(0, 4)),
    "IRDFT, padded": ("IRDFT", [zeros(2, 0, 2), np.array([1]), np.array([4])], {}, zeros(2, 4)),
    "bags of no table": ("EmbeddingBagPackedSum", [zeros(0, 2), np.zeros((3, 0), I64)], {}, zeros(3, 2)),
    "no bags": (
        "EmbeddingBagOffsetsSum",
        [np.ones((5, 2), np.float32), np.array([1, 2]), np.zeros(0, I64)],
        {},
        zeros(0, 2),
    ),
    "segments of no table": (
        "EmbeddingSegmentsSum",
        [zeros(0, 2), np.zeros(0, I64), np.zeros(0, I64), np.array(3)],
        {},
        zeros(3, 2),
    ),
    "attention to no keys": (
        "ScaledDotProductAttention",
        [np.ones((1, 4, 8), np.float32), zeros(1, 0, 8), zeros(1, 0, 3)],
        {"causal": False},
        zeros(1, 4, 3),
    ),
    "attention by keys of no numbers": (
        "ScaledDotProductAttention",
        [zeros(1, 4, 0), zeros(1, 2, 0), np.array([[[1, 5], [3, 7]]], np.float32)],
        {"causal": False},
        np.array([[[2, 6]] * 4], np.float32),
    ),
    "detections in no images": (
        "DetectionOutput",
        [zeros(0, 8), zeros(0, 6), np.ones((1, 2, 8), np.float32)],
        DETECTIONS,
        zeros(1, 1, 0, 7),
    ),
    "deformable convolution of no images": (
        "DeformableConvolution",
        [zeros(0, 4, 8, 8), zeros(0, 18, 6, 6), np.ones((6, 4, 3, 3), np.float32)],
        WINDOW,
        zeros(0, 6, 6, 6),
    ),
    "deformable convolution of no channels": (
        "DeformableConvolution",
        [zeros(1, 0, 8, 8), zeros(1, 18, 6, 6), zeros(6, 0, 3, 3)],
        WINDOW,
        zeros(1, 6, 6, 6),
    ),
    "regions of an image without elements": (
        "ROIAlignRotated",
        [zeros(1, 4, 0, 0), np.ones((3, 5), np.float32), np.zeros(3, I64)],
        ALIGNED,
        zeros(3, 4, 2, 2),
    ),
    "Selu": ("Selu", [zeros(0, 3), zeros(0), zeros(0)], {}, zeros(0, 3)),
    "priors of no cells": (
        "ExperimentalDetectronPriorGridGenerator",
        [np.ones((3, 4), np.float32), zeros(1, 4, 0, 0), zeros(1, 3, 16, 16)],
        {"flatten": False},
        zeros(0, 0, 3, 4),
    ),
}
"""What the specification defines: sums of no elements are 0, and a mean of equal weights is that of the values."""


@pytest.mark.parametrize("name", COMPUTED)
def test_what_is_defined_is_computed(name: str) -> None:
    type, arrays, attributes, wanted = COMPUTED[name]
    made, sources, fed = Builder(), list[Source](), dict[str, Array]()
    for number, array in enumerate(arrays):
        if array.dtype == np.float32:
            fed[f"in{number}"] = array
            sources.append(made.parameter(f"in{number}", ",".join(map(str, array.shape))))
        else:
            sources.append(made.constant(array))
    made.result(made.call(type, *sources, **attributes))
    found = outputs_of(made, **fed)
    np.testing.assert_array_equal(found, wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)


@pytest.mark.parametrize("op", ["DFT", "IDFT"])
def test_a_transform_along_no_axes_is_the_data(op: str) -> None:
    made, data = Builder(), np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    made.result(made.call(op, made.parameter("data", "2,3,2"), np.array([], np.int64)))
    np.testing.assert_array_equal(outputs_of(made, data=data), data)
