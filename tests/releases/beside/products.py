"""Layers beside the rows of products of matrices, Einsum, convolutions and deconvolutions."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from tests.releases.beside import beside

BESIDE = [
    *beside(
        "Einsum of dots for several dimensions",
        falling=[
            Call("Einsum-7", (counted(5), counted(2, 3, 7)), {"equation": "...b,...c->...bc"}),
        ],
        others=[
            Call("Einsum-7", (counted(3, 2), counted(2, 3, 4), counted(3)), {"equation": "...a,...b,...->...a"}),
            Call("Einsum-7", (counted(4, 2, 3, 5), counted(3, 5)), {"equation": "d...b,...b->d...b"}),
            Call("Einsum-7", (counted(2, 3, 5), counted(7)), {"equation": "...b,...c->...bc"}),
            Call("Einsum-7", (counted(2, 3, 2, 4), counted(3, 2), counted(3, 4)), {"equation": "...ab,...a,...b->..."}),
        ],
    ),
    *beside(
        "convolution of data of unknown size with filters that extend over more than 64 elements by "
        "dilation, one or two elements",
        falling=[
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 33))),
                {"strides": "1", "dilations": "3", "pads_begin": "31", "pads_end": "0"},
            ),
        ],
        others=[
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 33))),
                {"strides": "1", "dilations": "2", "pads_begin": "0", "pads_end": "0", "auto_pad": "same_upper"},
            ),
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 33))),
                {"strides": "1", "dilations": "3", "pads_begin": "30", "pads_end": "0"},
            ),
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 33))),
                {"strides": "2", "dilations": "2", "pads_begin": "0", "pads_end": "0"},
            ),
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 33))),
                {"strides": "1", "dilations": "3", "pads_begin": "33", "pads_end": "0"},
            ),
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 65))),
                {"strides": "1", "dilations": "1", "pads_begin": "0", "pads_end": "0"},
            ),
        ],
    ),
    *beside(
        "deconvolution to a size for an input of unknown size, auto_pad explicit or valid",
        others=[
            Call(
                "ConvolutionBackpropData-1",
                (counted(1, 2, 4), Fixed(counted(2, 2, 1)), Fixed(whole(3))),
                {"strides": "1", "dilations": "1", "pads_begin": "0", "pads_end": "0", "auto_pad": "explicit"},
            ),
            Call(
                "ConvolutionBackpropData-1",
                (Given(counted(1, 2, 4), "1,2,4.."), Fixed(counted(2, 2, 2)), Fixed(whole(4))),
                {"strides": "1", "dilations": "1", "pads_begin": "0", "pads_end": "1", "auto_pad": "explicit"},
            ),
            Call(
                "ConvolutionBackpropData-1",
                (Given(counted(1, 2, 4), "1,2,4.."), Fixed(counted(2, 2, 1)), Fixed(whole(3))),
                {"strides": "1", "dilations": "1", "pads_begin": "0", "pads_end": "0", "auto_pad": "same_upper"},
            ),
        ],
    ),
    *beside(
        "convolution of data of unknown size with filters that extend over more than 64 elements",
        others=[
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 74), "1,1,?"), Fixed(counted(1, 1, 65))),
                {"strides": "1", "dilations": "1", "pads_begin": "0", "pads_end": "1"},
            ),
        ],
    ),
    *beside(
        "Einsum of unknown sizes by constants with all letters of the output",
        others=[
            Call("Einsum-7", (Given(counted(3), "?"), Fixed(counted(3))), {"equation": "a,a->"}),
            Call("Einsum-7", (Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3))), {"equation": "cda,ca->cd"}),
            Call("Einsum-7", (counted(2, 3), Fixed(counted(2, 3))), {"equation": "ca,ca->c"}),
            Call("Einsum-7", (Given(counted(3), "?"), Fixed(counted(3))), {"equation": "c,c->c"}),
        ],
    ),
    *beside(
        "Einsum of unknown sizes by constants",
        falling=[
            Call("Einsum-7", (Given(counted(3), "?"), Fixed(counted(2, 3, 4))), {"equation": "a,cab->cb"}),
            Call("Einsum-7", (Given(counted(3, 4), "?,?"), Fixed(counted(3, 4))), {"equation": "ab,ab->"}),
            Call("Einsum-7", (Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3))), {"equation": "cda,ca->cd"}),
        ],
        others=[
            Call("Einsum-7", (Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3, 4))), {"equation": "dca,dab->dcb"}),
        ],
    ),
    *beside(
        "convolution of data of unknown size with filters that extend over more than 64 elements by dilation",
        falling=[
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 33))),
                {"strides": "2", "dilations": "2", "pads_begin": "0", "pads_end": "0"},
            ),
        ],
        others=[
            Call(
                "Convolution-1",
                (Given(counted(1, 1, 200), "1,1,?"), Fixed(counted(1, 1, 65))),
                {"strides": "1", "dilations": "2", "pads_begin": "0", "pads_end": "0"},
            ),
        ],
    ),
    *beside(
        "Einsum by constants that are vectors in each of several batches",
        others=[
            Call("Einsum-7", (counted(2, 3, 4), Fixed(counted(2, 3, 4))), {"equation": "cda,cda->cd"}),
            Call("Einsum-7", (counted(2), Fixed(counted(2))), {"equation": "c,c->c"}),
            Call("Einsum-7", (counted(2, 3), Fixed(counted(2, 3, 4))), {"equation": "ca,cab->cb"}),
            Call("Einsum-7", (Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3))), {"equation": "cda,ca->cd"}),
        ],
    ),
    *beside(
        "Einsum with two sizes for a letter",
        others=[
            Call("Einsum-7", (counted(4, 2, 3), counted(4, 2, 3)), {"equation": "a...,a...->a..."}),
        ],
    ),
    *beside(
        "Einsum whose last input is a number",
        others=[
            Call("Einsum-7", (np.array(3.0, np.float32), counted(2)), {"equation": ",a->a"}),
        ],
    ),
    *beside(
        "Einsum that changes nothing, 2021.4 to 2021.4",
        others=[
            Call("Einsum-7", (Call("Abs-1", (counted(2, 3).astype(np.float16),)),), {"equation": "ab->ab"}),
        ],
    ),
    *beside(
        "Einsum that changes nothing, 2022.1 to 2023.2",
        others=[
            Call("Einsum-7", (Call("Abs-1", (counted(2, 3),)),), {"equation": "ab->ab"}),
        ],
    ),
    *beside(
        "deconvolution of one group",
        falling=[
            Call(
                "GroupConvolutionBackpropData-1",
                (counted(1, 1, 4, 4), Fixed(counted(1, 1, 2, 2, 2))),
                {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
            ),
        ],
        others=[
            Call(
                "GroupConvolutionBackpropData-1",
                (counted(1, 1, 4, 4), Fixed(counted(1, 1, 1, 2, 2))),
                {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
            ),
        ],
    ),
    *beside(
        "MatMul of one matrix of unknown size by several constant ones",
        falling=[
            Call("MatMul-1", (Given(counted(1, 6, 4), "1,?,4"), Fixed(counted(2, 4, 5)))),
        ],
        others=[
            Call("MatMul-1", (counted(1, 6, 4), Fixed(counted(3, 4, 5)))),
            Call("MatMul-1", (Given(counted(3, 6, 4), "3,?,4"), Fixed(counted(3, 4, 5)))),
        ],
    ),
    *beside(
        "deconvolution of i8 with computed weights",
        others=[
            Call(
                "ConvolutionBackpropData-1",
                (np.ones((1, 4, 8, 8), np.int8), Fixed(np.ones((4, 3, 3, 3), np.int8))),
                {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
            ),
        ],
    ),
]
