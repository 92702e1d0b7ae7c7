"""Layers beside the rows of poolings."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from ir_tools.types import element_type
from tests.releases.beside import beside

BESIDE = [
    *beside(
        "AvgPool of integers of one channel with a padding as large as the kernel",
        falling=[
            Call(
                "AvgPool-1",
                (Given(np.ones((1, 1, 4, 4), np.int32), "1,1,?,4"),),
                {"kernel": "1,1", "strides": "2,1", "pads_begin": "0,0", "pads_end": "1,0", "exclude-pad": "false"},
            ),
        ],
        others=[
            Call(
                "AvgPool-1",
                (Given(np.ones((1, 1, 4, 4), np.int32), "1,1,?,4"),),
                {"kernel": "1,1", "strides": "3,1", "pads_begin": "0,0", "pads_end": "1,0", "exclude-pad": "false"},
            ),
            Call(
                "AvgPool-1",
                (np.ones((1, 2, 4, 4), np.int32),),
                {"kernel": "1,1", "strides": "1,1", "pads_begin": "0,1", "pads_end": "0,0", "exclude-pad": "false"},
            ),
        ],
    ),
    *beside(
        "pooling of an unknown number of channels",
        falling=[
            Call(
                "AvgPool-1",
                (Given(counted(1, 3, 4, 4, 4), "1,?,4,4,?"),),
                {
                    "kernel": "1,1,1",
                    "strides": "1,1,1",
                    "pads_begin": "0,0,0",
                    "pads_end": "0,0,0",
                    "exclude-pad": "false",
                },
            ),
        ],
        others=[
            Call(
                "AvgPool-1",
                (Given(counted(1, 3, 4, 4, 4), "1,?,4,?,?"),),
                {
                    "kernel": "1,1,1",
                    "strides": "1,1,1",
                    "pads_begin": "0,0,0",
                    "pads_end": "0,0,0",
                    "exclude-pad": "false",
                },
            ),
            Call(
                "AvgPool-1",
                (Given(counted(1, 3, 4, 4), "1,1..3,4,4"),),
                {"kernel": "1,1", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "exclude-pad": "false"},
            ),
            Call(
                "AvgPool-1",
                (Given(counted(1, 3, 4), "1,?,4"),),
                {"kernel": "1", "strides": "1", "pads_begin": "0", "pads_end": "0", "exclude-pad": "false"},
            ),
            Call(
                "AvgPool-1",
                (Given(counted(1, 4, 4, 4), "1,4..,4,4"),),
                {"kernel": "1,1", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "exclude-pad": "false"},
            ),
            Call(
                "MaxPool-8",
                (Given(counted(1, 3, 4, 4), "1,?,4,4"),),
                {"kernel": "2,2", "strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
            ),
        ],
    ),
    *beside(
        "ceil_torch with an uneven end",
        falling=[
            Call(
                "AvgPool-14",
                (Given(counted(1, 1, 6, 6), "1,1,?,?"),),
                {
                    "kernel": "3,3",
                    "strides": "2,2",
                    "pads_begin": "1,1",
                    "pads_end": "1,1",
                    "exclude-pad": "false",
                    "rounding_type": "ceil_torch",
                },
            ),
            Call(
                "AvgPool-14",
                (counted(1, 1, 5, 5),),
                {
                    "kernel": "2,2",
                    "strides": "2,2",
                    "pads_begin": "1,1",
                    "pads_end": "1,1",
                    "exclude-pad": "true",
                    "rounding_type": "ceil_torch",
                },
            ),
        ],
        others=[
            Call(
                "AvgPool-14",
                (counted(1, 1, 6, 6),),
                {
                    "kernel": "3,3",
                    "strides": "2,2",
                    "pads_begin": "1,1",
                    "pads_end": "1,1",
                    "exclude-pad": "false",
                    "rounding_type": "ceil",
                },
            ),
            Call(
                "AvgPool-14",
                (counted(1, 1, 6, 6),),
                {
                    "kernel": "3,3",
                    "strides": "2,2",
                    "pads_begin": "1,1",
                    "pads_end": "1,1",
                    "exclude-pad": "true",
                    "rounding_type": "ceil_torch",
                },
            ),
        ],
    ),
    *beside(
        "AvgPool of integers of one channel",
        others=[
            Call(
                "AvgPool-1",
                (Given(np.ones((1, 3, 4, 4), np.int32), "1,1..,4,4"),),
                {"kernel": "1,1", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "exclude-pad": "false"},
            ),
        ],
    ),
    *beside(
        "MaxPool of i8 with a padding as large as the kernel",
        others=[
            Call(
                "MaxPool-1",
                (counted(1, 1, 2, 2).astype(np.int8),),
                {"kernel": "1,1", "strides": "1,1", "pads_begin": "1,0", "pads_end": "0,0", "auto_pad": "same_upper"},
            ),
        ],
    ),
    *beside(
        "AvgPool of integers of one channel with dilations",
        others=[
            Call(
                "AvgPool-16",
                (np.ones((1, 2, 6, 6), np.int32),),
                {
                    "kernel": "2,2",
                    "strides": "1,1",
                    "pads_begin": "0,0",
                    "pads_end": "0,0",
                    "exclude-pad": "false",
                    "dilations": "2,2",
                },
            ),
        ],
    ),
    *beside(
        "MaxPool-8 of bf16 whose indices are read",
        others=[
            Call(
                "MaxPool-8",
                (counted(1, 1, 4, 4).astype(element_type("bf16").dtype),),
                {"kernel": "2,2", "strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
                results=(0,),
            ),
        ],
    ),
    *beside(
        "i64 indices of AdaptiveMaxPool that are not read",
        others=[
            Call(
                "AdaptiveMaxPool-8",
                (counted(1, 1, 4, 4), Fixed(whole(2, 2))),
                {"index_element_type": "i32"},
                results=(0,),
            ),
        ],
    ),
]
