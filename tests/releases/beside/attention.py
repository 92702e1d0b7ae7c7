"""Layers beside the rows of attention, and of attributes without end."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from tests.releases.beside import beside

BESIDE = [
    *beside(
        "attention with constant keys or values",
        falling=[
            Call(
                "ScaledDotProductAttention-13",
                (counted(2, 3, 4), Fixed(counted(2, 5, 4)), Fixed(counted(2, 5, 4))),
                {"causal": "false"},
            ),
            Call(
                "ScaledDotProductAttention-13",
                (
                    counted(1, 2, 3, 4),
                    np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4),
                    Fixed(np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4) + 1),
                ),
                {"causal": "false"},
            ),
        ],
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 2, 3, 4), Fixed(counted(1, 2, 2, 5, 4)), Fixed(counted(1, 2, 2, 5, 4))),
                {"causal": "false"},
            ),
            Call(
                "ScaledDotProductAttention-13",
                (
                    Fixed(counted(1, 2, 3, 4)),
                    Fixed(np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4)),
                    np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4) + 1,
                ),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "infinite attributes",
        falling=[
            Call(
                "PriorBoxClustered-1",
                (whole(2, 2), whole(32, 32)),
                {"offset": "0.5", "variance": "0.1,0.1,0.1,inf", "width": "4,8", "height": "4,8"},
            ),
        ],
        others=[
            Call(
                "LSTMCell-4",
                (
                    Given(counted(3, 4), "3,4"),
                    Given(counted(3, 2), "3,2"),
                    Given(counted(3, 2), "3,2"),
                    Fixed(counted(8, 4) / 100),
                    Fixed(counted(8, 2) / 100),
                    Fixed(counted(8) / 100),
                ),
                {"hidden_size": "2", "clip": "inf"},
            ),
        ],
    ),
    *beside(
        "attention with a mask of one row",
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 4), counted(1, 3, 4), counted(1, 3, 4), counted(1, 3) * 0),
                {"causal": "true"},
            ),
            Call(
                "ScaledDotProductAttention-13",
                (Given(counted(1, 2, 4), "1,?,4"), counted(1, 3, 4), counted(1, 3, 4), counted(1, 3) * 0),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "attention of as many rows as heads that is transposed, 2023.3 to 2025.1",
        others=[
            Call(
                "Transpose-1",
                (
                    Call(
                        "ScaledDotProductAttention-13",
                        (
                            Call("Transpose-1", (counted(1, 4, 4, 8), Fixed(whole(0, 2, 1, 3)))),
                            np.cos(np.arange(128, dtype=np.float32)).reshape(1, 4, 4, 8),
                            counted(1, 4, 4, 8),
                        ),
                        {"causal": "false"},
                    ),
                    Fixed(whole(0, 2, 1, 3)),
                ),
            ),
            Call(
                "Transpose-1",
                (
                    Call(
                        "ScaledDotProductAttention-13",
                        (
                            counted(1, 4, 3, 8),
                            np.cos(np.arange(96, dtype=np.float32)).reshape(1, 4, 3, 8),
                            counted(1, 4, 3, 8),
                        ),
                        {"causal": "false"},
                    ),
                    Fixed(whole(0, 2, 1, 3)),
                ),
            ),
            Call(
                "Transpose-1",
                (
                    Call(
                        "ScaledDotProductAttention-13",
                        (
                            counted(1, 1, 1, 8),
                            np.cos(np.arange(8, dtype=np.float32)).reshape(1, 1, 1, 8),
                            counted(1, 1, 1, 8),
                        ),
                        {"causal": "false"},
                    ),
                    Fixed(whole(0, 2, 1, 3)),
                ),
            ),
            Call(
                "Transpose-1",
                (
                    Call(
                        "ScaledDotProductAttention-13",
                        (
                            Given(counted(1, 4, 4, 8), "?,4,4,8"),
                            np.cos(np.arange(128, dtype=np.float32)).reshape(1, 4, 4, 8),
                            counted(1, 4, 4, 8),
                        ),
                        {"causal": "false"},
                    ),
                    Fixed(whole(0, 2, 1, 3)),
                ),
            ),
        ],
    ),
    *beside(
        "attention with a boolean mask",
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 4), counted(1, 3, 4), counted(1, 3, 4), counted(2, 3)),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "attention of unknown sizes with a boolean mask",
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (Given(counted(1, 2, 4), "1,?,4"), counted(1, 3, 4), counted(1, 3, 4), counted(2, 3).astype(bool)),
                {"causal": "false"},
            ),
            Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 3, 4), counted(1, 2, 3, 4), counted(1, 2, 3, 4), counted(3, 3).astype(bool)),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "attention of unknown sizes with values of another size than keys",
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 3, 4), counted(1, 2, 3, 4), counted(1, 2, 3, 6)),
                {"causal": "false"},
            ),
            Call(
                "ScaledDotProductAttention-13",
                (Given(counted(1, 3, 4), "1,?,4"), counted(1, 3, 4), counted(1, 3, 6)),
                {"causal": "false"},
            ),
            Call(
                "ScaledDotProductAttention-13",
                (Given(counted(1, 2, 3, 4), "1,2,?,4"), counted(1, 2, 3, 4), counted(1, 2, 3, 4)),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "causal attention of unknown sizes",
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (
                    counted(1, 2, 2, 4),
                    np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4),
                    np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4) + 1,
                ),
                {"causal": "true"},
            ),
            Call(
                "ScaledDotProductAttention-13",
                (
                    Given(counted(1, 2, 2, 4), "1,2,?,4"),
                    np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4),
                    np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4) + 1,
                ),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "attention of an unknown number of queries with a mask of one row",
        falling=[
            Call(
                "ScaledDotProductAttention-13",
                (
                    counted(1, 2, 3, 4),
                    Given(counted(1, 2, 3, 4), "1,2,?,4"),
                    Given(counted(1, 2, 3, 4), "1,2,?,4"),
                    counted(1, 1, 3, 1) * 0,
                ),
                {"causal": "false"},
            ),
        ],
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (Given(counted(1, 2, 4), "1,?,4"), counted(1, 3, 4), counted(1, 3, 4), counted(1, 1, 3) * 0),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "attention with a sink",
        others=[
            Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 4), counted(1, 3, 4), counted(1, 3, 4), counted(2, 3) * 0, np.array(0.5, np.float32)),
                {"causal": "false"},
            ),
        ],
    ),
    *beside(
        "attention of as many computed rows as heads that is transposed, 2023.3 to 2026.4",
        others=[
            Call(
                "Transpose-1",
                (
                    Call(
                        "ScaledDotProductAttention-13",
                        (
                            counted(1, 4, 4, 8),
                            np.cos(np.arange(128, dtype=np.float32)).reshape(1, 4, 4, 8),
                            counted(1, 4, 4, 8),
                        ),
                        {"causal": "false"},
                    ),
                    Fixed(whole(0, 2, 1, 3)),
                ),
            ),
            Call(
                "ScaledDotProductAttention-13",
                (
                    Call("ReLU-1", (counted(1, 4, 4, 8),)),
                    np.cos(np.arange(128, dtype=np.float32)).reshape(1, 4, 4, 8),
                    counted(1, 4, 4, 8),
                ),
                {"causal": "false"},
            ),
            Call(
                "Transpose-1",
                (
                    Call(
                        "ScaledDotProductAttention-13",
                        (
                            Call("Transpose-1", (counted(1, 4, 4, 8), Fixed(whole(0, 2, 1, 3)))),
                            np.cos(np.arange(128, dtype=np.float32)).reshape(1, 4, 4, 8),
                            counted(1, 4, 4, 8),
                        ),
                        {"causal": "false"},
                    ),
                    Fixed(whole(0, 2, 1, 3)),
                ),
            ),
        ],
    ),
    *beside(
        "Clamp between a number and infinity",
        others=[
            Call("Clamp-1", (np.array([-1.0, 2.0], np.float32),), {"min": "0", "max": "inf"}),
        ],
    ),
]
