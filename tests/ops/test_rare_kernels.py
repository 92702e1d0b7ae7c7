"""Values of signals, strings and colours that the runtime does not compute, or that it computes twice."""

import math
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from operator import mul

import numpy as np
import pytest

from ir_tools.ops import Array, Attrs, attention, color, detectron, embedding, fourier, strings
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type
from tests.ops.around import ops_by_name
from tests.ops.layer_support import fact_of
from tests.ops.single import attrs_of, computed, single_text

OPS = ops_by_name(fourier.OPS, strings.OPS, embedding.OPS, attention.OPS, color.OPS, detectron.OPS)


def test_a_normalized_spectrum_of_f64_is_scaled_in_f64() -> None:
    rng, kernel = np.random.default_rng(3), OPS["ISTFT-16"].kernel
    assert kernel is not None
    spectrum, window = rng.normal(size=(4, 1, 2)), np.ones(6)
    attrs = OPS["ISTFT-16"].read({"center": "false", "normalized": "true"}, [])
    assert attrs is not None
    (signal,) = kernel(attrs, [spectrum, window, np.array(6), np.array(6)])
    np.testing.assert_allclose(signal, np.fft.irfft(spectrum[:, 0] @ [1, 1j], 6) * 6**0.5, rtol=1e-13)


def test_strings(client: RuntimeClient) -> None:
    texts = np.array([["OpenVINO", "", "x" * 70_000], ["é€😀", "a b", "\n"]], dtype=object)
    unpacked = OPS["StringTensorUnpack-15"]
    packed = OPS["StringTensorPack-15"]
    model, blob = single_text("StringTensorUnpack", 15, {}, [("string", "2,3")], 3)
    wanted = list(client.infer(model, blob, {"in0": texts}).outputs.values())
    found = computed(unpacked, Attrs({}), [texts])
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    model, blob = single_text("StringTensorPack", 15, {}, [("i32", "2,3"), ("i32", "2,3"), ("u8", str(found[2].size))])
    (back,) = client.infer(model, blob, dict(zip(("in0", "in1", "in2"), found, strict=True))).outputs.values()
    np.testing.assert_array_equal(computed(packed, Attrs({}), found)[0], back)
    np.testing.assert_array_equal(back, texts)


def test_grouped_products() -> None:
    """The installed runtime reads GroupedMatMul and does not run it: held against one product after another."""
    kernel = OPS["GroupedMatMul-17"].kernel
    assert kernel is not None
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 5, 4))
    found = kernel(Attrs({}), [left, right])[0]
    for group in range(3):
        for row, column in product(range(2), range(5)):
            assert np.isclose(found[group, row, column], math.fsum(left[group, row] * right[group, column]))
    rows, ends = left.reshape(6, 4), np.array([1, 1, 6])
    found = kernel(Attrs({}), [rows, right, ends])[0]
    np.testing.assert_allclose(found[0], rows[0] @ right[0].T)
    np.testing.assert_allclose(found[1:], rows[1:] @ right[2].T)


YUV = (("0.257", "0.504", "0.098", 16), ("-0.148", "-0.291", "0.439", 128), ("0.439", "-0.368", "-0.071", 128))
"""Luma, blue and red chroma: the shares of red, green and blue, and the level of black (BT.601)."""


def rounded(value: Decimal, kind: str) -> Decimal:
    return value.quantize(Decimal(1), ROUND_HALF_UP) if kind == "u8" else value


def yuv(pixel: Array, kind: str) -> list[Decimal]:
    """A pixel of red, green and blue in exact numbers."""
    channels = [Decimal(float(channel)) for channel in pixel]
    return [
        rounded(min(max(sum(map(mul, map(Decimal, shares), channels), Decimal(level)), Decimal(0)), Decimal(255)), kind)
        for *shares, level in YUV
    ]


@pytest.mark.parametrize("kind", ["u8", "f32", "f16"])
@pytest.mark.parametrize("name", ["RGBtoNV12-17", "BGRtoNV12-17"])
def test_images_become_nv12(name: str, kind: str, client: RuntimeClient) -> None:
    """No device runs it yet: held against each pixel in exact numbers, and what the runtime makes of it again."""
    rng, op = np.random.default_rng(4), OPS[name]
    image = rng.integers(0, 256, (2, 4, 6, 3)).astype(element_type(kind).dtype)
    image[0, :2, :2] = image[0, 0, 0]
    luma, chroma = computed(op, attrs_of(op, {"single_plane": "false"}), [image])
    (plane,) = computed(op, attrs_of(op, {}), [image])
    np.testing.assert_array_equal(plane[:, :4], luma)
    np.testing.assert_array_equal(plane[:, 4:].reshape(chroma.shape), chroma)
    pixels = image if name.startswith("RGB") else image[..., ::-1]
    tolerance = {"u8": 0.0, "f32": 1e-4, "f16": 0.25}[kind]
    for picture, row, column in product(range(2), range(0, 4, 2), range(0, 6, 2)):
        places = [(picture, row + down, column + right) for down, right in product(range(2), repeat=2)]
        block = [yuv(pixels[place], kind) for place in places]
        for place, (light, _, _) in zip(places, block, strict=True):
            assert abs(float(luma[place][0]) - float(light)) <= tolerance
        for index, given in enumerate(chroma[picture, row // 2, column // 2], start=1):
            mean = rounded(sum((each[index] for each in block), Decimal(0)) / 4, kind)
            assert abs(float(given) - float(mean)) <= tolerance
    model, blob = single_text(f"NV12to{name[:3]}", 8, {}, [(kind, "2,6,6,1")])
    (back,) = client.infer(model, blob, {"in0": plane}).outputs.values()
    np.testing.assert_allclose(back[0, :2, :2].astype(float), image[0, :2, :2].astype(float), atol=3)


@pytest.mark.parametrize(("size", "refused"), [(-1, True), (4, True), (3, False), (2, False)])
def test_sizes_of_real_signals(size: int, refused: bool) -> None:
    """The CPU plugin reads beyond data that are to be padded with zeros: an error, before it does."""
    check = OPS["RDFT-9"].check
    facts = [fact_of(("f32", "2,3")), fact_of(np.array([1])), fact_of(np.array([size]))]
    assert bool(list(check(Attrs({}), facts))) == refused
