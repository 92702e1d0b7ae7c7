"""Layers beside the rows of poolings."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from ir_tools.types import element_type
from tests.releases.beside import Feed, beside


def pooled(op: str, data: Feed, kernel: str, results: tuple[int, ...] | None = None, **settings: str) -> Call:
    """Windows of this kernel at every position, without padding."""
    ones, zeros = (",".join(number * len(kernel.split(","))) for number in "10")
    raw = {"kernel": kernel, "strides": ones, "pads_begin": zeros, "pads_end": zeros}
    more = {"exclude-pad": "false"} if op.startswith("AvgPool") else {"dilations": ones} if op == "MaxPool-8" else {}
    return Call(
        op,
        (data,),
        raw | more | {name.replace("exclude_", "exclude-"): text for name, text in settings.items()},
        results,
    )


def _rounded(data: Feed, kernel: str, rounding: str, exclude: str = "false") -> Call:
    """Windows of stride 2 with padding of 1 around the data."""
    settings = {"strides": "2,2", "pads_begin": "1,1", "pads_end": "1,1", "exclude-pad": exclude}
    return Call("AvgPool-14", (data,), {"kernel": kernel, "rounding_type": rounding, **settings})


BESIDE = [
    *beside(
        "AvgPool of integers of one channel with a padding as large as the kernel",
        falling=[
            pooled("AvgPool-1", Given(np.ones((1, 1, 4, 4), np.int32), "1,1,?,4"), "1,1", strides="2,1", pads_end="1,0")
        ],
        others=[
            pooled(
                "AvgPool-1", Given(np.ones((1, 1, 4, 4), np.int32), "1,1,?,4"), "1,1", strides="3,1", pads_end="1,0"
            ),
            pooled("AvgPool-1", np.ones((1, 2, 4, 4), np.int32), "1,1", pads_begin="0,1"),
        ],
    ),
    *beside(
        "pooling of an unknown number of channels",
        falling=[pooled("AvgPool-1", Given(counted(1, 3, 4, 4, 4), "1,?,4,4,?"), "1,1,1")],
        others=[
            pooled("AvgPool-1", Given(counted(1, 3, 4, 4), "1,1..3,4,4"), "1,1"),
            pooled("AvgPool-1", Given(counted(1, 3, 4), "1,?,4"), "1"),
            pooled("AvgPool-1", Given(counted(1, 4, 4, 4), "1,4..,4,4"), "1,1"),
            pooled("MaxPool-8", Given(counted(1, 3, 4, 4), "1,?,4,4"), "2,2"),
        ],
    ),
    *beside(
        "pooling of an unknown number of channels, and two sizes or more",
        falling=[
            pooled("MaxPool-1", Given(counted(1, 3, 4, 4, 4), "1,2..,?,?,4"), "1,1,1"),
            pooled("AvgPool-1", Given(counted(1, 3, 4, 4, 4), "?,?,?,?,?"), "1,1,1"),
        ],
        others=[
            pooled("AvgPool-1", Given(counted(1, 3, 4, 4, 4), "1,1..3,4,?,?"), "1,1,1"),
            pooled("AvgPool-1", Given(counted(1, 4, 4, 4, 4), "1,4..,4,?,?"), "1,1,1"),
        ],
    ),
    *beside(
        "ceil_torch with an uneven end",
        falling=[
            _rounded(Given(counted(1, 1, 6, 6), "1,1,?,?"), "3,3", "ceil_torch"),
            _rounded(counted(1, 1, 5, 5), "2,2", "ceil_torch", "true"),
        ],
        others=[
            _rounded(counted(1, 1, 6, 6), "3,3", "ceil"),
            _rounded(counted(1, 1, 6, 6), "3,3", "ceil_torch", "true"),
        ],
    ),
    *beside(
        "AvgPool of integers of one channel",
        others=[pooled("AvgPool-1", Given(np.ones((1, 3, 4, 4), np.int32), "1,1..,4,4"), "1,1")],
    ),
    *beside(
        "MaxPool of i8 with a padding as large as the kernel, 2021.2 to 2022.2",
        others=[
            pooled("MaxPool-1", counted(1, 1, 2, 2).astype(np.int8), "1,1", pads_begin="1,0", auto_pad="same_upper")
        ],
    ),
    *beside(
        "MaxPool of i16 with a padding as large as the kernel, 2025.4 to 2026.4",
        falling=[
            pooled("MaxPool-8", Given(counted(1, 3, 5, 5).astype(kind), "1,3,?,5"), "2,2", pads_end="0,2")
            for kind in (np.uint32, np.uint64)
        ],
        others=[
            pooled("MaxPool-1", counted(1, 1, 2, 2).astype(np.uint16), "1,1", pads_begin="1,0"),
            pooled("MaxPool-1", counted(1, 1, 2, 2).astype(np.uint32), "2,1", pads_begin="1,0"),
        ],
    ),
    *beside(
        "MaxPool of u16 with a padding as large as the kernel in IR v10",
        others=[pooled("MaxPool-1", counted(1, 1, 2, 2).astype(np.uint16), "2,1", pads_begin="1,0")],
    ),
    *beside(
        "AvgPool of integers of one channel with dilations",
        others=[pooled("AvgPool-16", np.ones((1, 2, 6, 6), np.int32), "2,2", dilations="2,2")],
    ),
    *beside(
        "MaxPool-8 of bf16 whose indices are read",
        others=[pooled("MaxPool-8", counted(1, 1, 4, 4).astype(element_type("bf16").dtype), "2,2", results=(0,))],
    ),
    *beside(
        "i64 indices of AdaptiveMaxPool that are not read",
        others=[
            Call(
                "AdaptiveMaxPool-8",
                (counted(1, 1, 4, 4), Fixed(whole(2, 2))),
                {"index_element_type": "i32"},
                results=(0,),
            )
        ],
    ),
]
