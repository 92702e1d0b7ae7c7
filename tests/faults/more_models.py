"""Base models of rarer operations: vision heads, mathematics, sparse and sequence operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from openvino import opset1, opset3, opset7, opset8
from openvino import opset15 as op
from openvino.utils.node_factory import NodeFactory

from tests.faults.nodes import F32, I32, I64
from tests.faults.nodes import constant as _c
from tests.faults.nodes import model as _model
from tests.faults.nodes import parameter as _x
from tests.faults.nodes import weights as _w

__all__ = ["MORE"]


def vision() -> Any:
    x = _x([1, 18, 4, 4])
    rois = _c([[0, 0, 0, 3, 3], [0, 1, 1, 2, 3]])
    yolo = opset1.region_yolo(x, 4, 1, 3, True, [0, 1, 2], 1, 3, [10.0, 14.0, 23.0, 27.0, 37.0, 58.0])
    reorg = opset3.reorg_yolo(x, [2])
    pooled = op.roi_pooling(x, rois, output_roi=[2, 2], spatial_scale=0.5, method="bilinear")
    aligned = op.roi_align(x, _c([[0, 0, 3, 3]]), _c([0], I32), 2, 2, 2, 1.0, "avg", "asymmetric")
    scored = op.psroi_pooling(_x_like(x, 18), rois, 2, 3, 1.0, 1, 1, "average")
    patches = opset3.extract_image_patches(x, [2, 2], [1, 1], [1, 1], "valid")
    deformed = opset8.deformable_convolution(x, _w(1, 18, 4, 4), _w(2, 18, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
    grouped = op.group_normalization(x, _w(18), _w(18), 3, 1e-5)
    sampled = op.grid_sample(x, _w(1, 2, 2, 2), {"align_corners": True, "mode": "bilinear", "padding_mode": "border"})
    sizes = [op.slice(op.shape_of(x, "i64"), _c([2], I64), _c([4], I64), _c([1], I64)), _c([32, 32], I64)]
    attrs = {
        "width": np.array([10.0, 20.0], F32),
        "height": np.array([8.0, 12.0], F32),
        "clip": True,
        "step": 8.0,
        "offset": 0.5,
        "variance": np.array([0.1, 0.1, 0.2, 0.2], F32),
        "step_widths": 8.0,
        "step_heights": 8.0,
    }
    prior = op.prior_box_clustered(sizes[0], sizes[1], attrs)
    return _model([yolo, reorg, pooled, aligned, scored, patches, deformed, grouped, sampled, prior], [x], "vision")


def _x_like(x: Any, channels: int) -> Any:
    return op.convolution(x, _w(channels, channels, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])


def mathematics() -> Any:
    x, y = _x([2, 3, 4]), _x([2, 4], name="y")
    parts = [
        op.selu(x, _c([1.6]), _c([1.05])),
        op.hard_sigmoid(x, _c(0.2), _c(0.5)),
        op.softplus(x),
        op.softsign(x),
        op.erf(x),
        op.floor(x),
        op.ceiling(x),
        op.round(x, "half_to_even"),
        op.sign(x),
        op.sin(x),
        op.cos(x),
        op.atan(x),
        op.sinh(x),
        op.cosh(x),
        op.asinh(x),
        op.squared_difference(x, _c([1.0])),
        op.mod(x, _c([0.7])),
    ]
    total = parts[0]
    for part in parts[1:]:
        total = op.add(total, part)
    product = op.einsum([x, y], "abc,ac->ab")
    norm = op.reduce_l2(x, _c([1], I64), True)
    least = op.reduce_min(op.reduce_l1(x, _c([2], I64), False), _c([1], I64), True)
    moved = op.roll(total, _c([1, 2], I64), _c([1, 2], I64))
    wide = op.space_to_batch(
        op.unsqueeze(total, _c([1], I64)), _c([1, 1, 1, 2], I64), _c([0] * 4, I64), _c([0] * 4, I64)
    )
    back = op.batch_to_space(wide, _c([1, 1, 1, 2], I64), _c([0] * 4, I64), _c([0] * 4, I64))
    waves = opset7.dft(op.reshape(x, _c([2, 3, 2, 2], I64), False), _c([1, 2], I64))
    test = op.logical_xor(op.greater_equal(y, _c(0.0)), op.is_nan(y))
    either = op.select(op.less_equal(y, _c([0.5])), y, op.negative(y))
    return _model(
        [product, norm, least, moved, back, waves, test, either, op.not_equal(y, _c(1.0))], [x, y], "mathematics"
    )


def sparse() -> Any:
    table, x = _w(6, 3), _x([2, 5])
    indices = op.convert(op.topk(x, _c(2, I64), 1, "max", "index", "i32").output(1), "i64")
    flat = op.reshape(indices, _c([-1], I64), False)
    bag = op.embedding_bag_offsets_sum(table, flat, _c([0, 2], I64))
    packed = opset3.embedding_bag_packed_sum(table, indices)
    segments = op.embedding_segments_sum(table, flat, _c([0, 0, 1, 2], I64), _c(4, I64))
    buckets = op.bucketize(x, _c([-0.5, 0.0, 0.5]), "i32", False)
    eye = op.eye(_c(3, I64), _c(4, I64), _c(1, I64), "f32")
    found = op.search_sorted(_c([[-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]]), x, True)
    tree = op.gather_tree(_c(np.ones((2, 1, 2))), _c(np.zeros((2, 1, 2))), _c([2.0]), _c(0.0))
    decoded = op.ctc_greedy_decoder(_c(np.eye(3).reshape(3, 1, 3)), _c([[1.0], [1.0], [1.0]]), True)
    lengths = opset7.ctc_greedy_decoder_seq_len(_c(np.eye(3).reshape(1, 3, 3)), _c([3], I32), _c(2, I32), True)
    bits = op.bitwise_and(op.convert(x, "i32"), _c([3], I32))
    outputs = [bag, packed, segments, buckets, eye, found, tree, decoded, lengths.output(0), bits]
    return _model(outputs, [x], "sparse")


def old() -> Any:
    """Versions that later ones replaced."""
    x = _x([1, 4, 6, 6])
    one, three = NodeFactory("opset1"), NodeFactory("opset3")
    soft = one.create("Softmax", [x], {"axis": 1})
    top = one.create("TopK", [soft, _c(2, I64)], {"axis": 1, "mode": "max", "sort": "value"})
    gathered = one.create("Gather", [top.output(0), _c([1, 0], I64), _c(2, I64)], {})
    size = one.create("ShapeOf", [gathered], {})
    wide = one.create("Broadcast", [_c(1.0), size], {"mode": "numpy"})
    norm = NodeFactory("opset2").create("MVN", [x], {"across_channels": False, "normalize_variance": True, "eps": 1e-6})
    batch = one.create("BatchNormInference", [_w(4), _w(4), norm, _w(4), _c([1.0, 2.0, 1.0, 0.5])], {"epsilon": 1e-5})
    resized = one.create(
        "Interpolate", [batch, _c([12, 3], I64)], {"axes": [2, 3], "mode": "nearest", "align_corners": False}
    )
    shuffled = three.create("ShuffleChannels", [resized], {"axis": 1, "group": 2})
    boxes, scores = _x([1, 6, 4], name="boxes"), _x([1, 1, 6], name="scores")
    kept = opset3.non_max_suppression(boxes, scores, _c(3, I64), _c(0.5), _c(0.1))
    gelu = NodeFactory("opset2").create("Gelu", [shuffled], {})
    space = NodeFactory("opset2").create(
        "SpaceToBatch", [gelu, *(_c(row, I64) for row in ([1, 1, 2, 1], [0] * 4, [0] * 4))], {}
    )
    return _model([wide, space, kept], [x, boxes, scores], "old")


def attending() -> Any:
    q, k, v = (_x([1, 2, 5, 4], name=name) for name in "qkv")
    attended = op.scaled_dot_product_attention(q, k, v, _w(1, 1, 5, 5), _c(0.5), False)
    causal = op.scaled_dot_product_attention(q, k, attended, causal=True)
    picked = op.unique(op.convert(_x_flat(causal), "i32"), None, True, "i64", "i64")
    return _model([causal, picked.output(0), picked.output(3)], [q, k, v], "attending")


def _x_flat(node: Any) -> Any:
    return op.reshape(node, _c([-1], I64), False)


MORE: tuple[Callable[[], Any], ...] = (vision, mathematics, sparse, old, attending)
