"""Layers beside the rows of quantization."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, whole
from ir_tools.known_differences.releases._samples import quantized
from ir_tools.ops import Array
from tests.releases.beside import beside


def _between(data: Array | Fixed | Given | Call, low: Array | Fixed, high: Array | Fixed, levels: int) -> Call:
    """Return data quantized to so many levels between limits."""
    return Call("FakeQuantize-1", (data, low, high, low, high), {"levels": str(levels)})


BESIDE = [
    *beside(
        "FakeQuantize with limits for each image",
        falling=[
            quantized(Call("SoftPlus-4", (counted(2, 3, 4, 2),)), Fixed(floats([[[2]]], [[[3]]]))),
        ],
    ),
    *beside(
        "FakeQuantize with a list of limits for the last axis, or after a sum",
        falling=[
            quantized(
                Call("Divide-1", (counted(1, 3, 4, 2), Fixed(np.array([2.0], np.float32)))),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
        ],
        others=[
            quantized(counted(1, 3, 4, 2), Fixed(floats([[[2, 3]]]))),
            quantized(counted(1, 3, 4, 2), Fixed(floats(2))),
            quantized(counted(3), Fixed(floats(2, 3, 4))),
        ],
    ),
    *beside(
        "FakeQuantize to two levels with limits for all or for each channel, 2022.1 to 2022.3",
        falling=[
            _between(
                counted(5, 5),
                Fixed(np.array([[0.5, 1.5, 2.5, 3.5, 4.5]], np.float32)),
                Fixed(np.arange(2, 7, dtype=np.float32).reshape(1, 5)),
                2,
            ),
        ],
        others=[
            _between(counted(5, 5), Fixed(np.array(0.5, np.float32)), Fixed(np.array(2.5, np.float32)), 3),
            _between(counted(5), Fixed(np.array(0.5, np.float32)), Fixed(np.array(2.5, np.float32)), 2),
            Call(
                "FakeQuantize-1",
                (
                    counted(5, 5),
                    Fixed(np.array([[0.5], [1.5], [2.5], [3.5], [4.5]], np.float32)),
                    Fixed(np.arange(2, 7, dtype=np.float32).reshape(5, 1)),
                    Fixed(np.array(0.5, np.float32)),
                    Fixed(np.array(2.5, np.float32)),
                ),
                {"levels": "2"},
            ),
        ],
    ),
    *beside(
        "FakeQuantize to 65536 levels",
        others=[
            quantized(np.array([-5.2, 1.8], np.float32), Fixed(floats(3.6)), levels=65535),
            _between(
                np.array([-5.2, 1.8], np.float32), np.array([-3.6], np.float32), np.array([3.6], np.float32), 65536
            ),
            Call(
                "FakeQuantize-1",
                (
                    np.array([-5.2, 1.8], np.float32),
                    Fixed(np.array(-3.6, np.float32)),
                    Fixed(np.array(3.6, np.float32)),
                    Fixed(np.array(-3.6, np.float32)),
                    Fixed(np.array(7.2, np.float32)),
                ),
                {"levels": "65536"},
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits for the heads of an attention, 2024.1 to 2026.4",
        falling=[
            quantized(
                Call(
                    "ScaledDotProductAttention-13",
                    (counted(1, 2, 4, 8), counted(1, 2, 4, 8), counted(1, 2, 4, 8)),
                    {"causal": "false"},
                ),
                Fixed(floats([[[2]], [[3]]])),
            ),
        ],
    ),
    *beside(
        "FakeQuantize of i32 to the levels of quantized models, 2023.0 to 2026.4",
        falling=[
            _between(
                np.arange(20, dtype=np.int32).reshape(4, 5),
                Fixed(counted(1).astype(np.int32)),
                Fixed(np.array([5], np.int32)),
                15,
            ),
        ],
        others=[
            _between(
                np.arange(20, dtype=np.int32).reshape(4, 5),
                Fixed(counted(1).astype(np.int32)),
                Fixed(np.array([5], np.int32)),
                17,
            ),
            _between(
                np.arange(20, dtype=np.int32).reshape(4, 5), counted(1).astype(np.int32), np.array([5], np.int32), 16
            ),
        ],
    ),
    *beside(
        "FakeQuantize of u8 with computed limits",
        others=[
            _between(
                np.arange(20, dtype=np.uint8).reshape(4, 5),
                Fixed(counted(1).astype(np.uint8)),
                Fixed(np.array([5], np.uint8)),
                3,
            ),
        ],
    ),
    *beside(
        "quantized data that are scaled for an output",
        falling=[
            Call(
                "Multiply-1",
                (
                    Fixed(np.array([2.0], np.float32)),
                    quantized(counted(2, 3), Fixed(floats(2))),
                ),
            ),
            Call(
                "Transpose-1",
                (
                    Call(
                        "Multiply-1",
                        (
                            quantized(counted(2, 3), Fixed(floats(2))),
                            Fixed(np.array([2.0], np.float32)),
                        ),
                    ),
                    Fixed(whole(1, 0)),
                ),
            ),
        ],
        others=[
            Call(
                "Multiply-1",
                (
                    quantized(counted(2, 3), Fixed(floats(2))),
                    counted(1, 3),
                ),
            ),
            Call(
                "Abs-1",
                (
                    Call(
                        "Multiply-1",
                        (
                            quantized(counted(2, 3), Fixed(floats(2))),
                            Fixed(np.array([2.0], np.float32)),
                        ),
                    ),
                ),
            ),
            Call(
                "Divide-1",
                (
                    Fixed(np.array([2.0], np.float32)),
                    quantized(counted(2, 3), Fixed(floats(2))),
                ),
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along an axis after the channels",
        others=[
            quantized(counted(1, 3, 4, 2), Fixed(floats([[[2]], [[3]], [[4]]]))),
        ],
    ),
    *beside(
        "FakeQuantize with computed limits for each channel of each image",
        others=[
            Call(
                "FakeQuantize-1",
                (
                    counted(2, 3, 4),
                    Fixed(counted(2, 3, 1)),
                    Fixed(counted(2, 3, 1) + 1),
                    Fixed(np.array(0.0, np.float32)),
                    Fixed(np.array(255.0, np.float32)),
                ),
                {"levels": "256"},
            ),
            Call(
                "FakeQuantize-1",
                (
                    counted(2, 3),
                    counted(2, 3),
                    counted(2, 3) + 1,
                    Fixed(np.array(0.0, np.float32)),
                    Fixed(np.array(255.0, np.float32)),
                ),
                {"levels": "256"},
            ),
            Call(
                "FakeQuantize-1",
                (
                    counted(2, 3, 4),
                    counted(2, 3, 4),
                    counted(2, 3, 4) + 1,
                    Fixed(np.array(0.0, np.float32)),
                    Fixed(np.array(255.0, np.float32)),
                ),
                {"levels": "256"},
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after another layer, 2022.1 to 2022.2",
        others=[
            quantized(
                Call(
                    "MVN-6",
                    (counted(1, 3, 4, 2), Fixed(whole(3))),
                    {"eps": "0.01", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
                ),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
            quantized(
                Call("ReduceMax-1", (counted(1, 3, 4, 2), Fixed(whole(1))), {"keep_dims": "true"}),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
            quantized(
                Call("NormalizeL2-1", (counted(1, 3, 4, 2), Fixed(whole(1))), {"eps": "1", "eps_mode": "add"}),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after another layer of unknown size, 2022.1 to 2026.4",
        others=[
            quantized(
                Call("ReduceMean-1", (Given(counted(1, 3, 4, 2), "?,3,4,2"), Fixed(whole(1))), {"keep_dims": "true"}),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after a reduction, 2024.4 to 2026.4",
        falling=[
            quantized(
                Call("ReduceL2-4", (counted(1, 3, 4, 2), Fixed(whole(1))), {"keep_dims": "true"}),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after a product of three dimensions, 2022.1 to 2022.2",
        others=[
            quantized(
                Call("MatMul-1", (counted(1, 3, 4, 2), Fixed(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)))),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after a product or mean, 2022.1 to 2026.4",
        falling=[
            quantized(
                Call(
                    "GroupConvolutionBackpropData-1",
                    (counted(1, 3, 4, 2), Fixed(np.array([[[[[1.0]]]], [[[[1.0]]]], [[[[1.0]]]]], np.float32))),
                    {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
                ),
                Fixed(floats([[[2], [3], [4], [5]]])),
            ),
        ],
    ),
]
