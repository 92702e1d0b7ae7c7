"""Shapes of slices, signals, strings, embeddings, attention, random values and others against the runtime."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import ir_tools
from ir_tools.errors import ShapeError
from ir_tools.infer import propagate_shapes
from ir_tools.ops import (
    attention,
    color,
    conversion,
    detectron,
    elementwise,
    embedding,
    fourier,
    generation,
    pooling,
    sampling,
    slicing,
    strings,
)
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import format_shape
from tests.ops.around import ops_by_name
from tests.ops.layer_support import Setting, compare_shapes, faults_of, found_rows, wanted_rows
from tests.ops.single import CORE, Between, Text, output_of

FAMILIES = (
    slicing.OPS,
    fourier.OPS,
    strings.OPS,
    embedding.OPS,
    attention.OPS,
    sampling.OPS,
    color.OPS,
    conversion.OPS,
    elementwise.OPS,
    generation.OPS,
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


@pytest.mark.parametrize("limits", [(1, 2), (2, 2), (2, 1)])
def test_limits_of_random_numbers(client: RuntimeClient, limits: tuple[int, int]) -> None:
    low, high = map(np.array, limits)
    setting = Setting(OPS["RandomUniform-8"], (("i64", "2"), low, high), {"output_type": "i64"})
    assert compare_shapes(client, setting) == (limits == (1, 2))


@pytest.mark.parametrize("left", [0, 3])
def test_numbers_of_a_range_are_counted_in_32_bits(client: RuntimeClient, left: int) -> None:
    raw, slots = {"output_type": "i64"}, [np.array(number) for number in (-left, 1 << 32, 1)]
    assert compare_shapes(client, Setting(OPS["Range-4"], slots, raw))
    (fault,) = faults_of(OPS["Range-4"], raw, slots)
    assert fault.message.endswith(f"but the runtime returns {left}")


@pytest.mark.parametrize("kind", ["f32", "i64"])
@pytest.mark.parametrize("divisor", [(-2, 0), (0, 2), (1, 2)])
@pytest.mark.parametrize("dividend", [(0, 3), (2, 3), (2, None)])
def test_bounds_of_quotients(
    client: RuntimeClient, kind: str, divisor: tuple[int, int], dividend: tuple[int, int | None]
) -> None:
    compare_shapes(client, Setting(OPS["Divide-1"], (Between(kind, (dividend,)), Between(kind, (divisor,)))))


@pytest.mark.parametrize("divisor", [(-1, 2), (-2, 1)])
@pytest.mark.parametrize("dividend", [(0, 3), (2, 3)])
def test_bounds_of_quotients_by_numbers_of_either_sign(
    client: RuntimeClient, dividend: tuple[int, int], divisor: tuple[int, int]
) -> None:
    """In f32 the runtime has the least positive number for the lower one, as if that were the least of all."""
    setting = Setting(OPS["Divide-1"], (Between("f32", (dividend,)), Between("f32", (divisor,))))
    found, wanted = found_rows(setting), wanted_rows(client, setting)
    assert not isinstance(found, str)
    assert not isinstance(wanted, str)
    bounds = np.array(found[0][2]), np.array(wanted[0][2])
    np.testing.assert_allclose(*bounds, atol=float(np.finfo(np.float32).tiny))


@pytest.mark.parametrize("mode", ["numpy", "pdpd"])
@pytest.mark.parametrize("name", ["Add-1", "Divide-1", "Equal-1", "Less-1", "Maximum-1", "Mod-1", "Multiply-1"])
def test_bounds_of_sizes_by_mode_of_broadcasting(client: RuntimeClient, name: str, mode: str) -> None:
    one, other = Between("i64", ((1, 3), (2, 2))), Between("i64", ((2, 2), (2, 5)))
    for slots in ((one, other), (one, np.array([2, 3])), (np.array([4, 3]), np.array([2, 3]))):
        compare_shapes(client, Setting(OPS[name], slots, {"auto_broadcast": mode}))
    for two in (np.array([2]), np.array(2)):
        for slots in ((one, two), (np.array([4, 3]), two)):
            compare_shapes(client, Setting(OPS[name], slots, {"auto_broadcast": mode}))


@pytest.mark.parametrize("high", [(1 << 31) - 2, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 40) + 7, None])
@pytest.mark.parametrize(
    ("kind", "known"),
    [("i32", False), ("i64", False), ("u32", False), ("f32", False), ("f64", False), ("f32", True), ("f64", True)],
)
def test_sizes_at_the_limit_of_i32_of_another_type(kind: str, known: bool, high: int | None) -> None:
    """No bound is kept of 32 bits if it is the largest number; a size that becomes negative is refused.

    Floats keep a number beyond i32, and a size whose upper bound becomes less than the lower one may be any.
    """
    bounds = (high, high) if known and high else (3, high)
    text = Text()
    sizes = text.layer(
        "as", "Convert", "opset1", {"destination_type": kind}, [text.slot("x", Between("i64", (bounds,)))], [kind]
    )
    back = text.layer("back", "Convert", "opset1", {"destination_type": "i64"}, [(sizes, 0, kind)], ["i64"])
    one = text.slot("one", np.array(1, np.float32))
    op = text.layer("op", "Broadcast", "opset3", {"mode": "numpy"}, [one, (back, 0, "i64")], ["f32"])
    text.layer("out", "Result", "opset1", {}, [(op, 0, "f32")], [])
    model = ir_tools.read(*text.model())
    try:
        (wanted,) = CORE.read_model(*text.model()).outputs
    except RuntimeError:
        with pytest.raises(ShapeError, match="sizes of at least 0"):
            propagate_shapes(model)
    else:
        assert format_shape(propagate_shapes(model).facts["op", 2].shape) == format_shape(output_of(wanted)[1])
