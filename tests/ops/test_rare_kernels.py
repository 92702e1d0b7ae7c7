"""Values of signals, strings, embeddings, attention, colours and Detectron against the runtime."""

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from operator import mul

import numpy as np
import pytest

from ir_tools.known_differences import named
from ir_tools.ops import Array, Attrs, attention, color, detectron, embedding, fourier, strings
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type
from tests.ops.around import ops_by_name
from tests.ops.layer_support import compare_values, fact_of, some_kind, tensor
from tests.ops.single import Fed, Maker, attrs_of, computed, single_text

OPS = ops_by_name(fourier.OPS, strings.OPS, embedding.OPS, attention.OPS, color.OPS, detectron.OPS)
FLOATS = ("f32", "f32", "f16", "bf16")
LEFT_OUT = named(
    "EmbeddingSegmentsSum-3 with a default of zeros",
    "IRDFT-9 beyond the spectrum",
    "RDFT-9 beyond the data",
    "RDFT-9 of the size that the data have",
)
"""Layers that are not generated."""


def whole(value: int) -> Array:
    return np.array(value, np.int64)


# --- signals ----------------------------------------------------------------------------------------------------


def signal_size(rng: np.random.Generator, name: str, size: int) -> int:
    """Any, but for real signals none that the CPU plugin fails at: it reads beyond the data, and runs no -1."""
    if name in {"RDFT-9", "IRDFT-9"}:
        return int(rng.integers(2, (size if name == "RDFT-9" else 2 * (size - 1)) + 1))
    return -1 if rng.random() < 0.3 else int(rng.integers(2, 9))


def transform(name: str) -> Maker:
    """Random sizes and axes; complex data have a last axis of 2."""

    def make(rng: np.random.Generator) -> Fed:
        rank = int(rng.integers(1, 4))
        real = name == "RDFT-9"
        shape = [*rng.integers(2, 7, rank).tolist(), *([] if real else [2])]
        axes = rng.permutation(rank)[: rng.integers(1, rank + 1)]
        negative = rng.random(axes.size) < 0.3
        arrays = [tensor(rng, some_kind(rng, ("f32", "f32", "f16")), shape), np.where(negative, axes - rank, axes)]
        if rng.random() < 0.5 and (name != "IRDFT-9" or axes.size == 1):
            arrays.append(np.array([signal_size(rng, name, shape[axis]) for axis in axes]))
        return Fed(OPS[name], {}, arrays, constants=(1, 2))

    return make


def frames(rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Size of a frame, step, length of the window, number of frames."""
    size = int(rng.integers(4, 20))
    return size, int(rng.integers(1, size + 1)), int(rng.integers(1, size + 1)), int(rng.integers(1, 6))


def stft(rng: np.random.Generator) -> Fed:
    size, step, window, count = frames(rng)
    length = (count - 1) * step + size + int(rng.integers(0, step))
    shape = [length] if rng.random() < 0.3 else [2, length]
    arrays = [tensor(rng, "f32", shape), tensor(rng, "f32", [window]), whole(size), whole(step)]
    raw = {"transpose_frames": str(rng.random() < 0.5).lower()}
    return Fed(OPS["STFT-15"], raw, arrays, constants=(2, 3))


def istft(rng: np.random.Generator) -> Fed:
    size, step, window, count = frames(rng)
    step, window = min(step, -(-size // 2)), size if rng.random() < 0.6 else window
    shape = [size // 2 + 1, count + 1, 2]
    shape = shape if rng.random() < 0.3 else [2, *shape]
    arrays = [tensor(rng, "f32", shape), np.abs(tensor(rng, "f32", [window])) + 1, whole(size), whole(step)]
    if rng.random() < 0.4:
        arrays.append(whole(int(rng.integers(1, (count + 1) * step + size))))
    raw = {name: str(rng.random() < 0.5).lower() for name in ("center", "normalized")}
    return Fed(OPS["ISTFT-16"], raw, arrays, constants=(2, 3, 4))


# --- embeddings and strings ---------------------------------------------------------------------------------------


def bags(name: str) -> Maker:
    """Random bags; in EmbeddingSegmentsSum without an index of -1, for which the CPU plugin reads before the table."""

    def make(rng: np.random.Generator) -> Fed:
        table = tensor(rng, some_kind(rng, ("f32", "f32", "f16", "i32")), [7, *rng.integers(1, 4, rng.integers(1, 3))])
        mean = name.endswith("15") and rng.random() < 0.5
        raw = {"reduction": "mean" if mean else "sum"} if name.endswith("15") else {}
        weighted = not mean and rng.random() < 0.5
        if "Packed" in name:
            indices = rng.integers(0, 7, rng.integers(1, 5, 2)).astype(np.int32)
            weights = [tensor(rng, "f32", indices.shape).astype(table.dtype)] if weighted else []
            return Fed(OPS[name], raw, [table, indices, *weights])
        count = int(rng.integers(1, 8))
        indices = rng.integers(0, 7, count).astype(np.int32)
        starts = np.sort(rng.integers(0, count, rng.integers(1, 5))).astype(np.int32)
        starts[0] = 0
        parts = [starts]
        if "Segments" in name:
            parts = [np.sort(rng.integers(0, 4, count)).astype(np.int32), np.array(4, np.int32)]
        least = 0 if "Segments" in name else -1
        rest = [np.array(rng.integers(least, 7), np.int32)] if weighted or rng.random() < 0.5 else []
        rest += [tensor(rng, "f32", [count]).astype(table.dtype)] if weighted else []
        return Fed(OPS[name], raw, [table, indices, *parts, *rest], constants=(3,) if "Segments" in name else ())

    return make


# --- attention ----------------------------------------------------------------------------------------------------


def attend(rng: np.random.Generator) -> Fed:
    batch = rng.integers(1, 4, rng.integers(1, 3)).tolist()
    queries, keys, size, values = rng.integers(1, 6, 4).tolist()
    causal = bool(rng.random() < 0.3)
    arrays: list[Array] = [
        rng.normal(size=[*batch, *sizes]).astype(np.float32)
        for sizes in ((queries, size), (keys, size), (keys, values))
    ]
    if rng.random() < 0.6:
        shape = [queries, keys] if rng.random() < 0.5 else [*batch, queries, keys]
        mask = rng.normal(size=shape).astype(np.float32)
        boolean = mask > -0.5
        boolean[..., 0] = True
        arrays.append(boolean if rng.random() < 0.5 else mask)
        if rng.random() < 0.5:
            arrays.append(np.array(rng.random(), np.float32))
    return Fed(OPS["ScaledDotProductAttention-13"], {"causal": str(causal).lower()}, arrays)


# --- images and regions ---------------------------------------------------------------------------------------------


def picture(name: str) -> Maker:
    def make(rng: np.random.Generator) -> Fed:
        batch, height, width = int(rng.integers(1, 3)), int(2 * rng.integers(1, 4)), int(2 * rng.integers(1, 4))
        shapes: list[list[int]] = [[batch, height * 3 // 2, width, 1]]
        if rng.random() < 0.5:
            half = [batch, height // 2, width // 2]
            shapes = [[batch, height, width, 1], *([[*half, 2]] if "NV12" in name else [[*half, 1]] * 2)]
        kind = some_kind(rng, ("f32", "u8"))
        return Fed(
            OPS[name], {}, [rng.integers(0, 256, shape).astype("uint8" if kind == "u8" else "f4") for shape in shapes]
        )

    return make


def grid(rng: np.random.Generator) -> Fed:
    priors, channels = (int(number) for number in rng.integers(1, 4, 2))
    height, width = rng.integers(1, 5, 2).tolist()
    arrays = [
        tensor(rng, "f32", [priors, 4]),
        tensor(rng, "f32", [1, channels, height, width]),
        tensor(rng, "f32", [1, channels, height * 8, width * 8 + 3]),
    ]
    raw = {"flatten": str(rng.random() < 0.5).lower()}
    raw |= {name: str(rng.integers(0, 20)) for name in ("stride_x", "stride_y")}
    return Fed(OPS["ExperimentalDetectronPriorGridGenerator-6"], raw, arrays)


def best(rng: np.random.Generator) -> Fed:
    count = int(rng.integers(3, 9))
    scores = rng.permutation(count).astype(np.float32) / count
    raw = {"max_rois": str(rng.integers(1, count + 1))}
    return Fed(OPS["ExperimentalDetectronTopKROIs-6"], raw, [tensor(rng, "f32", [count, 4]), scores])


MAKERS: Mapping[str, tuple[Maker, float]] = {
    **{name: (transform(name), 2e-3) for name in ("DFT-7", "IDFT-7", "RDFT-9", "IRDFT-9")},
    "STFT-15": (stft, 1e-4),
    "ISTFT-16": (istft, 1e-4),
    **{name: (bags(name), 1e-2) for name in OPS if name.startswith("Embedding")},
    "ScaledDotProductAttention-13": (attend, 1e-4),
    **{name: (picture(name), 1e-5) for name in ("NV12toRGB-8", "NV12toBGR-8", "I420toRGB-8", "I420toBGR-8")},
    "ExperimentalDetectronPriorGridGenerator-6": (grid, 1e-5),
    "ExperimentalDetectronTopKROIs-6": (best, 0.0),
}
"""By operation: random layers, and the tolerance."""


@pytest.mark.parametrize("name", MAKERS)
def test_values(client: RuntimeClient, name: str) -> None:
    make, tolerance = MAKERS[name]
    rng = np.random.default_rng(len(name))
    compare_values(client, [make(rng) for _ in range(6)], lambda call: tolerance)


# --- what compares otherwise --------------------------------------------------------------------------------------


def test_a_normalized_spectrum_of_f64_is_scaled_in_f64() -> None:
    rng, kernel = np.random.default_rng(3), OPS["ISTFT-16"].kernel
    assert kernel is not None
    spectrum, window = rng.normal(size=(4, 1, 2)), np.ones(6)
    attrs = OPS["ISTFT-16"].read({"center": "false", "normalized": "true"}, [])
    assert attrs is not None
    (signal,) = kernel(attrs, [spectrum, window, np.array(6), np.array(6)])
    np.testing.assert_allclose(signal, np.fft.irfft(spectrum[:, 0] @ [1, 1j], 6) * 6**0.5, rtol=1e-13)


def test_strings(client: RuntimeClient) -> None:
    texts = np.array([["OpenVINO", "", "x"], ["é€😀", "a b", "\n"]], dtype=object)
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


@pytest.mark.sweep
@pytest.mark.parametrize("name", MAKERS)
def test_many_values(client: RuntimeClient, name: str) -> None:
    make, tolerance = MAKERS[name]
    rng = np.random.default_rng(7)
    compare_values(client, [make(rng) for _ in range(200)], lambda call: tolerance)
