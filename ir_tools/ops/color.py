"""Colour spaces of images: NV12toRGB-8, NV12toBGR-8, I420toRGB-8, I420toBGR-8, RGBtoNV12-17, BGRtoNV12-17.

The shape rules are those of OpenVINO's core (nv12_shape_inference.hpp, i420_shape_inference.hpp), measured.

Specification: `image/`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._broadcast import merge
from ir_tools.ops._image_rewrites import migrate_color
from ir_tools.ops._numbers import half_away, in_working_type, through_floats
from ir_tools.ops._requirements import require, require_rank, require_size
from ir_tools.ops._values import dim, divided, times
from ir_tools.ops._versions import no_step
from ir_tools.ops.definition import Array, Fact, Folding, Input, Kernel, Op, Oracle, Output, Violation, no_violations
from ir_tools.ops.fields import Attrs, Flag
from ir_tools.types import Dim, Shape, shape_text

__all__ = ["OPS"]

TWO, THREE = Dim.of(2), Dim.of(3)


def from_nv12_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[N, H, W, 3]` of one plane `[N, H * 3 / 2, W, 1]`, or of two: luma, and chroma of half the size."""
    if len(inputs) == 1:
        return _from_one_plane(inputs[0])
    return _from_planes(inputs[0], _chroma(inputs[1].shape, 2))


def from_i420_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[N, H, W, 3]` of one plane `[N, H * 3 / 2, W, 1]`, or of three: luma, and two of half the size."""
    if len(inputs) == 1:
        return _from_one_plane(inputs[0])
    require(len(inputs) == 3, "the layer has 2 inputs; expected 1 plane or 3")
    return _from_planes(inputs[0], _chroma(merge(inputs[1].shape, inputs[2].shape), 1))


def _from_one_plane(image: Fact) -> tuple[Fact, ...]:
    _require_luma(image)
    height = divided(times(dim(image, 1), TWO), 3)
    if height is None:
        raise ShapeError(f"is {shape_text(image.shape)}; expected a height that is a multiple of 3", attribute="image")
    return _even(image, (dim(image, 0), height, dim(image, 2), THREE))


def _from_planes(luma: Fact, chroma: Shape) -> tuple[Fact, ...]:
    _require_luma(luma)
    own = (*(dim(luma, axis) for axis in range(3)), THREE)
    common = merge(own, None if chroma is None else (*chroma, THREE))
    assert common is not None
    return _even(luma, common)


def _require_luma(image: Fact) -> None:
    require_rank(image, 4, "image")
    require_size(image, 3, (1,), "image")


def _chroma(shape: Shape, channels: int) -> Shape:
    """Return batch, height and width of the image that a plane of half its size belongs to."""
    if shape is None:
        return None
    require(
        len(shape) == 4 and channels in shape[3],
        f"the chroma plane is {shape_text(shape)}; expected rank 4 with {channels} channels last",
    )
    return (shape[0], times(shape[1], TWO), times(shape[2], TWO))


def _even(image: Fact, shape: tuple[Dim, ...]) -> tuple[Fact, ...]:
    for axis, name in ((1, "height"), (2, "width")):
        _require_even(shape[axis], name)
    return (Fact(image.dtype, shape),)


def _require_even(size: Dim, name: str) -> None:
    require(divided(size, 2) is not None, f"the {name} of the image is {size}; expected an even number")


def to_nv12_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[N, H * 3 / 2, W, 1]`, or `[N, H, W, 1]` and `[N, H / 2, W / 2, 2]`, of `[N, H, W, 3]`."""
    image = inputs[0]
    require_rank(image, 4, "image")
    require_size(image, 3, (3,), "image")
    batch, height, width = (dim(image, axis) for axis in range(3))
    halves = [divided(size, 2) for size in (height, width)]
    _require_even(height, "height")
    _require_even(width, "width")
    if attrs.single_plane:
        high = divided(times(height, THREE), 2)
        return (Fact(image.dtype, (batch, high or Dim(), width, Dim.of(1))),)
    luma = Fact(image.dtype, (batch, height, width, Dim.of(1)))
    return luma, Fact(image.dtype, (batch, *(half or Dim() for half in halves), TWO))


def check_planes(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for one plane or three."""
    if len(inputs) == 2:
        yield Violation("", "there are 2 inputs; expected 1 plane or 3")


# --- kernels ------------------------------------------------------------------------------------------------------


def from_nv12(order: slice) -> Kernel:
    """Return the kernel that makes red, green and blue in this order of luma and interleaved chroma."""

    def kernel(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        luma, chroma = arrays if len(arrays) == 2 else _planes(arrays[0])
        pairs = chroma.reshape(len(luma), luma.shape[1] // 2, luma.shape[2] // 2, 2)
        return (_colors(luma, pairs[..., 0], pairs[..., 1])[..., order],)

    return kernel


def from_i420(order: slice) -> Kernel:
    """Return the kernel that makes red, green and blue in this order of luma and two planes of chroma."""

    def kernel(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        if len(arrays) == 3:
            luma, blue, red = (array[..., 0] if index else array for index, array in enumerate(arrays))
        else:
            luma, chroma = _planes(arrays[0])
            blue, red = np.moveaxis(chroma.reshape(len(luma), 2, luma.shape[1] // 2, luma.shape[2] // 2), 1, 0)
        return (_colors(luma, blue, red)[..., order],)

    return kernel


def to_nv12(order: slice) -> Kernel:
    """Return the kernel that makes luma and interleaved chroma of red, green and blue in this order, by BT.601.

    As OpenVINO's core: in f32, with 8-bit values rounded half away, each pixel's and then the mean chroma of four.
    """

    def kernel(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        dtype = arrays[0].dtype

        def settled(values: Array) -> Array:
            return (half_away(values) if dtype.kind == "u" else values).astype(dtype)

        mixed = arrays[0][..., order].astype(np.float32) @ LUMA_AND_CHROMA.T + LEVELS
        planes = settled(np.clip(mixed, 0, 255))
        batch, height, width, _ = planes.shape
        luma = planes[..., :1]
        blocks = planes[..., 1:].astype(np.float32).reshape(batch, height // 2, 2, width // 2, 2, 2)
        chroma = settled(blocks.mean(axis=(2, 4)))
        if not attrs.single_plane:
            return luma, chroma
        return (np.concatenate([luma, chroma.reshape(batch, height // 2, width, 1)], axis=1),)

    return kernel


def _planes(image: Array) -> tuple[Array, Array]:
    """Return the luma above and the chroma below."""
    height = image.shape[1] * 2 // 3
    return image[:, :height], image[:, height:]


def _colors(luma: Array, blue: Array, red: Array) -> Array:
    """Return `[N, H, W, 3]` of `[N, H, W, 1]` and chroma `[N, H / 2, W / 2]`, by BT.601."""

    def mixed(luma: Array, blue: Array, red: Array) -> Array:
        light = 1.164 * (luma[..., 0] - 16)
        blue, red = (np.repeat(np.repeat(each, 2, 1), 2, 2) - 128 for each in (blue, red))
        colors = (light + 1.596 * red, light - 0.391 * blue - 0.813 * red, light + 2.018 * blue)
        return np.clip(np.stack(colors, axis=-1), 0, 255)

    return in_working_type(through_floats(mixed), luma, blue, red)


RGB, BGR = slice(None), slice(None, None, -1)
LUMA_AND_CHROMA = np.array([[0.257, 0.504, 0.098], [-0.148, -0.291, 0.439], [0.439, -0.368, -0.071]], np.float32)
"""The shares of red, green and blue in luma, blue and red chroma."""
LEVELS = np.array([16, 128, 128], np.float32)
"""What luma and chroma are of black."""

# --- the operations ---------------------------------------------------------------------------------------------

TYPES = {"T": "float u8"}
NV12 = (Input("image", type="T"), Input("uv", optional=True, type="T"))
I420 = (Input("image", type="T"), Input("u", optional=True, type="T"), Input("v", optional=True, type="T"))

OPS = (
    *(
        Op(
            type=f"{planes}to{colors}",
            version=8,
            inputs=inputs,
            types=TYPES,
            check=check,
            shape=shape,
            kernel=kernel(order),
            migrate=migrate_color(len(inputs) - 1, reverse=order is BGR),
        )
        for planes, inputs, check, shape, kernel in (
            ("NV12", NV12, no_violations, from_nv12_shape, from_nv12),
            ("I420", I420, check_planes, from_i420_shape, from_i420),
        )
        for colors, order in (("RGB", RGB), ("BGR", BGR))
    ),
    *(
        Op(
            type=type,
            version=17,
            migrate=no_step(
                17,
                (
                    "its rounding is not specified, so no composition of older operations is known to compute the same "
                    "values"
                ),
            ),
            inputs=(Input("image", type="T"),),
            outputs=(Output("image", many=True),),
            attrs={"single_plane": Flag(default=True)},
            types={"T": "f64 f32 f16 bf16 u8"},
            folding=Folding.FAILS,
            oracle=Oracle.SHAPES_BY_RUNTIME,
            shape=to_nv12_shape,
            kernel=to_nv12(order),
        )
        for type, order in (("RGBtoNV12", RGB), ("BGRtoNV12", BGR))
    ),
)
