"""Shapes of slices, signals, strings, embeddings, attention, random values and others against the runtime."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from ir_tools.ops import attention, color, detectron, embedding, fourier, pooling, sampling, slicing, strings
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import ops_by_name
from tests.ops.layer_support import Setting, compare_shapes
from tests.ops.single import Between

FAMILIES = (
    slicing.OPS,
    fourier.OPS,
    strings.OPS,
    embedding.OPS,
    attention.OPS,
    sampling.OPS,
    color.OPS,
    detectron.OPS,
    pooling.OPS,
)
OPS = ops_by_name(*FAMILIES)
AXES = np.array([1, 0])


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


@pytest.mark.parametrize("size", ["4", "2..4"])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_positions_between_bounds_around_the_ends(client: RuntimeClient, size: str, step: int) -> None:
    """Of starts and of stops, with those beside them at either end."""
    one, ends = np.array([step]), [np.array([end]) for end in (-9, 9)]
    for low, high in combinations_with_replacement((-5, -4, -3, -1, 0, 1, 3, 4, 5), 2):
        position = Between("i64", ((low, high),))
        for end in ends:
            compare_shapes(client, Setting(OPS["Slice-8"], (("f32", size), position, end, one)))
            compare_shapes(client, Setting(OPS["Slice-8"], (("f32", size), end, position, one)))


@pytest.mark.parametrize("name", ["AdaptiveAvgPool-8", "AdaptiveMaxPool-8"])
@pytest.mark.parametrize("last", [(-2, -2), (-1, -1), (-1, 3), (0, 0), (0, 3)])
def test_sizes_of_an_adaptive_pooling_beside_one_between_bounds(
    client: RuntimeClient, name: str, last: tuple[int, int]
) -> None:
    sizes = Between("i64", ((1, 2), last))
    raw, outputs = ({}, 1) if name == "AdaptiveAvgPool-8" else ({"index_element_type": "i64"}, 2)
    compare_shapes(client, Setting(OPS[name], (("f32", "1,2,5,6"), sizes), raw, outputs))
