"""Layers beside the rows of normalizations."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from tests.releases.beside import beside

BESIDE = [
    *beside(
        "NormalizeL2 of integers over the channels",
        falling=[
            Call(
                "NormalizeL2-1",
                (np.arange(1, 25, dtype=np.int32).reshape(2, 3, 4), Fixed(whole(2, 1))),
                {"eps": "0.001", "eps_mode": "add"},
            ),
        ],
    ),
    *beside(
        "GroupNormalization of one channel",
        falling=[
            Call(
                "GroupNormalization-12",
                (counted(3, 1, 8), Fixed(counted(1)), counted(1) * 0),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
        ],
        others=[
            Call(
                "GroupNormalization-12",
                (Given(counted(3, 1, 8), "?,1,8"), Fixed(counted(1)), Fixed(counted(1) * 0)),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
            Call(
                "GroupNormalization-12",
                (counted(1, 1, 8), Fixed(counted(1)), Fixed(counted(1) * 0)),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
            Call(
                "GroupNormalization-12",
                (counted(3, 2, 8), Fixed(counted(2)), Fixed(counted(2) * 0)),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
            Call(
                "GroupNormalization-12",
                (counted(3, 1, 8), counted(1), counted(1) * 0),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
        ],
    ),
    *beside(
        "GroupNormalization of a matrix of unknown size",
        others=[
            Call(
                "GroupNormalization-12",
                (counted(2, 4), Fixed(counted(4)), Fixed(counted(4) * 0)),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
            Call(
                "GroupNormalization-12",
                (Given(counted(2, 4, 3), "?,4,3"), Fixed(counted(4)), Fixed(counted(4) * 0)),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
        ],
    ),
    *beside(
        "GroupNormalization of two dimensions",
        others=[
            Call(
                "GroupNormalization-12",
                (counted(2, 6, 3), Fixed(counted(6)), Fixed(counted(6) * 0)),
                {"num_groups": "1", "epsilon": "0.001"},
            ),
        ],
    ),
    *beside(
        "MVN-1 of more than five dimensions",
        others=[
            Call("MVN-1", (counted(1, 1, 1, 2, 3),), {"eps": "0.1", "normalize_variance": "true"}),
        ],
    ),
    *beside(
        "MVN of booleans over other axes than those after the batch or the channels",
        others=[
            Call(
                "MVN-6",
                (np.arange(12).reshape(2, 3, 2) % 2 == 0, Fixed(whole(2))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
            Call(
                "MVN-6",
                (np.arange(4).reshape(4) % 2 == 0, Fixed(counted(1).astype(np.int64))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
        ],
    ),
    *beside(
        "MVN along the middle axis",
        others=[
            Call(
                "MVN-6",
                (counted(1, 3, 4), Fixed(whole(1))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
            Call(
                "MVN-6",
                (counted(2, 3, 4, 2), Fixed(whole(1))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
            Call(
                "MVN-6",
                (counted(2, 3, 4), Fixed(whole(2))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
            Call(
                "MVN-6",
                (counted(2, 3, 4), Fixed(whole(1))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "false"},
            ),
        ],
    ),
    *beside(
        "MVN-6 with sizes of 1 over computed axes",
        others=[
            Call(
                "MVN-6",
                (counted(2, 3), whole(1)),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
            Call(
                "MVN-6",
                (counted(1, 3), Fixed(whole(1))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
        ],
    ),
    *beside(
        "normalizations of i8, u8, boolean over computed axes, 2022.1 to 2026.4",
        others=[
            Call(
                "MVN-6",
                (counted(2, 3).astype(np.int8), Fixed(whole(1))),
                {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
            ),
        ],
    ),
    *beside(
        "NormalizeL2 over some axes",
        others=[
            Call("NormalizeL2-1", (counted(2, 3, 4), Fixed(whole(1, 2))), {"eps": "1e-9", "eps_mode": "add"}),
        ],
    ),
    *beside(
        "NormalizeL2 over all axes but the first with a large eps, 2021.2 to 2021.3",
        others=[
            Call("NormalizeL2-1", (counted(2, 3, 4), Fixed(whole(1, 2))), {"eps": "1e-9", "eps_mode": "add"}),
        ],
    ),
    *beside(
        "NormalizeL2 over all axes but the first with a large eps, 2021.2 to 2022.2",
        others=[
            Call(
                "NormalizeL2-1",
                (np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), Fixed(whole(1))),
                {"eps": "0.5", "eps_mode": "add"},
            ),
            Call("NormalizeL2-1", (counted(2, 3, 4), Fixed(whole(1))), {"eps": "0.5", "eps_mode": "add"}),
        ],
    ),
    *beside(
        "NormalizeL2 of more than 4 dimensions",
        others=[
            Call("NormalizeL2-1", (counted(1, 2, 2, 2), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}),
        ],
    ),
    *beside(
        "NormalizeL2 over other axes than the channels",
        falling=[
            Call("NormalizeL2-1", (counted(2, 3, 4), Fixed(whole(2, 1))), {"eps": "0.001", "eps_mode": "add"}),
        ],
        others=[
            Call("NormalizeL2-1", (counted(2, 3, 4), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}),
        ],
    ),
    *beside(
        "NormalizeL2 of boolean over other axes than the channels",
        others=[
            Call(
                "NormalizeL2-1",
                (np.arange(6).reshape(2, 3) % 2 == 0, Fixed(np.array([], np.int64))),
                {"eps": "0.001", "eps_mode": "add"},
            ),
        ],
    ),
]
