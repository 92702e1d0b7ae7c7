"""Random settings of Interpolate and GridSample."""

import numpy as np

from ir_tools.ops import image
from tests.ops.around import ops_by_name
from tests.ops.kernel_settings import flag, floats, listed, one_of
from tests.ops.single import Fed, Maker

OPS = ops_by_name(image.OPS)
Rng = np.random.Generator

COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")


def images(rng: Rng, rank: int) -> np.ndarray:
    return floats(rng.normal(size=(*rng.integers(1, 4, 2), *rng.integers(1, 7, rank - 2))))


def interpolate(rng: Rng, mode: str) -> Fed:
    """Any of the spatial axes; `linear_onnx` all of them, Pillow's modes images only."""
    pillow = "pillow" in mode
    version, rank = (11, 4) if pillow else (int(rng.choice([4, 11])), int(rng.choice([3, 4, 4, 5])))
    data, spatial = images(rng, rank), np.arange(2, rank)
    count = len(spatial) if pillow or mode == "linear_onnx" else int(rng.integers(1, len(spatial) + 1))
    axes = np.sort(rng.choice(spatial, count, replace=False))
    raw = {
        "mode": mode,
        "shape_calculation_mode": one_of(rng, "sizes", "scales"),
        "coordinate_transformation_mode": one_of(rng, *COORDINATES),
        "nearest_mode": one_of(rng, *ROUNDINGS),
        "antialias": flag(rng, 0.4),
        "cube_coeff": one_of(rng, -0.75, -0.5),
    }
    if rng.random() < 0.3:
        raw |= {name: listed([0, 0, *rng.integers(0, 3, rank - 2)]) for name in ("pads_begin", "pads_end")}
    least = 1.01 / np.array(data.shape)[axes]
    scales = floats(np.maximum(rng.choice([0.5, 2, 1, 1.5, 0.7, 3, 0.33, 2.3], count), least))
    sizes = rng.integers(1, 11, count)
    target = [sizes, scales] if version == 4 else [sizes if raw["shape_calculation_mode"] == "sizes" else scales]
    arrays = [data, *target, axes]
    return Fed(OPS[f"Interpolate-{version}"], raw, arrays, constants=tuple(range(1, len(arrays))))


def nearest(rng: Rng) -> Fed:
    return interpolate(rng, "nearest")


def linear(rng: Rng) -> Fed:
    return interpolate(rng, "linear")


def linear_onnx(rng: Rng) -> Fed:
    return interpolate(rng, "linear_onnx")


def cubic(rng: Rng) -> Fed:
    return interpolate(rng, "cubic")


def bilinear_pillow(rng: Rng) -> Fed:
    return interpolate(rng, "bilinear_pillow")


def bicubic_pillow(rng: Rng) -> Fed:
    return interpolate(rng, "bicubic_pillow")


def interpolate_1(rng: Rng) -> Fed:
    rank, mode = int(rng.choice([3, 4, 4, 4, 5])), one_of(rng, "nearest", "linear", "cubic")
    spatial = np.arange(2, rank)
    count = len(spatial) if mode == "linear" else int(rng.integers(1, len(spatial) + 1))
    axes = np.sort(rng.choice(spatial, count, replace=False))
    raw = {"mode": mode, "axes": listed(axes), "align_corners": flag(rng), "antialias": flag(rng, 0.3)}
    if rng.random() < 0.3:
        raw["pads_begin"] = listed([0, 0, *rng.integers(0, 3, rank - 2)])
    return Fed(OPS["Interpolate-1"], raw, [images(rng, rank), rng.integers(1, 11, count)], constants=(1,))


def grid_sample(rng: Rng) -> Fed:
    raw = {
        "mode": one_of(rng, "bilinear", "bicubic", "nearest"),
        "padding_mode": one_of(rng, "zeros", "border", "reflection"),
        "align_corners": flag(rng),
    }
    data = images(rng, 4)
    grid = rng.uniform(-1.5, 1.5, (len(data), *rng.integers(1, 6, 2), 2)) * rng.choice([1, 1, 3])
    return Fed(OPS["GridSample-9"], raw, [data, floats(grid)])


MAKERS: tuple[Maker, ...] = (
    nearest,
    linear,
    linear_onnx,
    cubic,
    bilinear_pillow,
    bicubic_pillow,
    interpolate_1,
    grid_sample,
)
