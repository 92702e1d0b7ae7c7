"""Shapes of signals, strings, embeddings, attention, random values, colours and Detectron against the runtime."""

import numpy as np
import pytest

from ir_tools.ops import attention, color, detectron, embedding, fourier, sampling, strings
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import Case, compare_around, ops_by_name
from tests.ops.layer_support import Setting, compare_shapes
from tests.ops.samples import sample_of
from tests.ops.single import Slot

FAMILIES = (fourier.OPS, strings.OPS, embedding.OPS, attention.OPS, sampling.OPS, color.OPS, detectron.OPS)
OPS = ops_by_name(*FAMILIES)
AXES = np.array([1, 0])
MORE: dict[str, list[tuple[dict[str, str], tuple[Slot, ...]]]] = {
    "DFT-7": [({}, (("f32", "2,4,2"), AXES, np.array([3, 5])))],
    "IDFT-7": [({}, (("f32", "2,4,2"), AXES, np.array([3, 5])))],
    "RDFT-9": [({}, (("f32", "2,4"), AXES, np.array([3, 5])))],
    "IRDFT-9": [({}, (("f32", "2,4,2"), AXES, np.array([3, 5])))],
    "STFT-15": [
        ({"transpose_frames": "true"}, (("f32", "48"), ("f32", "16"), np.array(16), np.array(5))),
    ],
    "ISTFT-16": [
        (
            {"center": "true", "normalized": "true"},
            (("f32", "9,5,2"), ("f32", "16"), np.array(16), np.array(8), np.array(40)),
        ),
        ({"center": "true", "normalized": "true"}, (("f32", "9,5,2"), ("f32", "16"), np.array(16), np.array(8))),
    ],
    "EmbeddingBagOffsets-15": [({"reduction": "mean"}, (("f32", "5,2,3"), ("i64", "4"), ("i64", "3")))],
    "EmbeddingBagPacked-15": [({"reduction": "mean"}, (("f32", "5,2,3"), ("i64", "4,2")))],
    "ScaledDotProductAttention-13": [
        (
            {"causal": "false"},
            (("f32", "2,3,4,8"), ("f32", "2,1,6,8"), ("f32", "2,3,6,5"), ("f32", "4,6"), ("f32", "")),
        ),
        (
            {"causal": "true"},
            (
                ("f32", "3,4,8"),
                ("f32", "3,6,8"),
                ("f32", "3,6,5"),
                ("f32", "4,6"),
                ("f32", ""),
                ("f32", "3,1,1"),
            ),
        ),
        ({"causal": "true"}, (("f32", "3,4,8"), ("f32", "3,6,8"), ("f32", "3,6,5"), ("f32", "4,6"), ("f32", "1"))),
        ({"causal": "false"}, (("f32", "3,4,8"), ("f32", "3,6,8"), ("f32", "3,6,5"), ("boolean", "3,4,6"))),
    ],
    "GroupedMatMul-17": [
        ({}, (("f32", "3,2,4"), ("f32", "3,5,4"))),
    ],
    "RandomUniform-8": [
        (
            {"output_type": "i32", "global_seed": "1", "op_seed": "2"},
            (np.array([2, 3, 4]), np.array(2, np.int32), np.array(5, np.int32)),
        )
    ],
    "NV12toBGR-8": [({}, (("u8", "1,4,6,1"), ("u8", "1,2,3,2")))],
    "I420toRGB-8": [({}, (("u8", "1,4,6,1"), ("u8", "1,2,3,1"), ("u8", "1,2,3,1")))],
    "RGBtoNV12-17": [({"single_plane": "false"}, (("u8", "1,4,6,3"),))],
}
"""Settings besides the samples: attributes, and inputs."""


def cases() -> list[object]:
    out: list[object] = []
    for name, op in OPS.items():
        sample = sample_of(op)
        assert sample is not None
        settings = [(dict(sample.raw), sample.slots), *MORE.get(name, [])]
        out += [
            pytest.param(Case(op, raw, slots), id=f"{name}-{number}") for number, (raw, slots) in enumerate(settings)
        ]
    return out


@pytest.mark.parametrize("case", cases())
def test_shapes(client: RuntimeClient, case: Case) -> None:
    compare_around(client, case, 15)


@pytest.mark.parametrize("name", ["DFT-7", "RDFT-9", "IRDFT-9"])
@pytest.mark.parametrize("axis", range(-4, 4))
def test_axes_from_the_end(client: RuntimeClient, name: str, axis: int) -> None:
    compare_shapes(client, Setting(OPS[name], (("f32", "3,4,2"), np.array([axis]))))
    compare_shapes(client, Setting(OPS[name], (("f32", "3,4,2"), np.array([0, axis]))))


@pytest.mark.parametrize("name", ["DFT-7", "RDFT-9", "IRDFT-9"])
@pytest.mark.parametrize("sizes", [(-1, 3), (3, -1), (-1, -1), (-2, 3), (0, 0)])
def test_sizes_of_the_data(client: RuntimeClient, name: str, sizes: tuple[int, int]) -> None:
    """-1 means the size of the data."""
    compare_shapes(client, Setting(OPS[name], (("f32", "3,4,2"), AXES, np.array(sizes))))


def test_two_matrices_are_not_grouped(client: RuntimeClient) -> None:
    compare_shapes(client, Setting(OPS["GroupedMatMul-17"], (("f32", "4,10"), ("f32", "10,5"), ("i64", "3"))))


@pytest.mark.sweep
@pytest.mark.parametrize("case", cases())
def test_many_shapes(client: RuntimeClient, case: Case) -> None:
    compare_around(client, case, 250, seed=1)
