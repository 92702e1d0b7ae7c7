"""Resizing and resampling of images: Interpolate-1/-4/-11, GridSample-9.

Specification: `image/`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops._grid_sample import grid_sample
from ir_tools.ops._image_rewrites import migrate_interpolate, resized_last, sizes_in_i64
from ir_tools.ops._interpolate import Resizing, resize, scales_of
from ir_tools.ops._numbers import half_away, in_working_type, low_bits, to_integer, widened
from ir_tools.ops._requirements import agreed, require, require_list, require_rank, require_size
from ir_tools.ops._resizing_limits import Resized, limits
from ir_tools.ops._sampling_rewrites import migrate_grid_sample
from ir_tools.ops._values import dim, shifted
from ir_tools.ops._versions import first_of
from ir_tools.ops.definition import Array, Elements, Fact, Input, Mask, Op, ShapeRule, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, ExactWord, Field, Flag, Float, Ints, OneOf, Usual, listed
from ir_tools.ops.limits import check_output_size, too_large
from ir_tools.types import Dim, shape_text

__all__ = ["OPS"]

PILLOW = -0.5
"""What the CPU plugin takes for `cube_coeff` in Pillow's mode; volumes it leaves to OpenVINO's core, which reads it."""

# --- shapes -----------------------------------------------------------------------------------------------------


def interpolate_1_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape with the sizes of the second input in the places of `axes`."""
    data, sizes = inputs
    if data.shape is None:
        return (Fact(data.dtype, None),)
    dims = list(data.shape)
    for axis in attrs.axes:
        require(0 <= axis < len(dims), f"is {axis}, but the input has rank {len(dims)}", attribute="axes")
    _put_sizes(dims, attrs.axes, sizes)
    return (Fact(data.dtype, tuple(dims)),)


def _put_sizes(dims: list[Dim], axes: Sequence[int], sizes: Fact) -> None:
    """Put known sizes in the places of axes; unknown ones become any size."""
    found = (Dim(),) * len(axes) if sizes.value is None else sizes.value.dims()
    require(len(found) >= len(axes), f"has {len(axes)} axes, but there are {len(found)} sizes", attribute="axes")
    for axis, size in zip(axes, found, strict=False):
        dims[axis] = size


def interpolate_4_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the padded input, resized along the axes of the fourth input (all axes without one)."""
    data, sizes, scales, *axes = inputs
    by_scales = attrs.shape_calculation_mode == "scales"
    require_list(scales if by_scales else sizes, "scales" if by_scales else "sizes")
    return _resized(attrs, data, scales if by_scales else sizes, axes)


def interpolate_11_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the padded input, resized along the axes of the third input (all axes without one)."""
    data, target, *axes = inputs
    require_list(target, "scales_or_sizes")
    return _resized(attrs, data, target, axes)


def _resized(attrs: Attrs, data: Fact, target: Fact, axes: Sequence[Fact]) -> tuple[Fact, ...]:
    for given in axes:
        require_list(given, "axes")
    if data.shape is None:
        return (Fact(data.dtype, None),)
    rank = len(data.shape)
    places = axes[0].integers() if axes else list(range(rank))
    if places is None:
        return (Fact(data.dtype, (Dim(),) * rank),)
    for axis in places:
        require(0 <= axis < rank, f"holds {axis}, but the input has rank {rank}", attribute="axes")
    dims = padded_dims(attrs, data.shape)
    if attrs.shape_calculation_mode == "scales":
        _scale(dims, places, target)
    else:
        _put_sizes(dims, places, target)
    return (Fact(data.dtype, tuple(dims)),)


def pads(attrs: Attrs, rank: int) -> list[tuple[int, int]]:
    """Return the padding before and after each axis; values missing at the end of the lists are 0."""
    begins, ends = ((*given, *(0,) * rank)[:rank] for given in (attrs.pads_begin, attrs.pads_end))
    return list(zip(begins, ends, strict=True))


def padded_dims(attrs: Attrs, shape: Sequence[Dim]) -> list[Dim]:
    """Return the dimensions of the padded input."""
    return [shifted(size, before + after) for size, (before, after) in zip(shape, pads(attrs, len(shape)), strict=True)]


def _scale(dims: list[Dim], axes: Sequence[int], scales: Fact) -> None:
    """Multiply dimensions by known factors; a dimension with an unknown factor becomes any size."""
    exact = scales.exact
    if exact is None:
        for axis in axes:
            dims[axis] = Dim()
        return
    require(
        exact.size >= len(axes),
        f"has {plural(exact.size, 'value')}, but there are {len(axes)} axes",
        attribute="scales",
    )
    for axis, factor in zip(axes, exact.ravel(), strict=False):
        dims[axis] = scaled(dims[axis], factor)


def scaled(size: Dim, factor: float) -> Dim:
    """Return a size times a factor, rounded down; the runtime adds 1e-6 to the factor against rounding errors."""
    by = float(np.float32(factor) + np.float32(1e-6))
    if np.float32(factor) == 1:
        return size
    if not 0 < by < np.inf:
        return Dim.of(0)
    return Dim(int(size.lo * by), None if size.hi is None else int(size.hi * by))


def grid_sample_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, H, W]` and `[N, H_out, W_out, 2]` to `[N, C, H_out, W_out]`."""
    data, grid = inputs
    require_rank(data, 4, "data")
    require_rank(grid, 4, "grid")
    require_size(grid, 3, (2,), "grid")
    batch = agreed((dim(data, 0), dim(grid, 0)), "batch size")
    return (Fact(data.dtype, (batch, dim(data, 1), dim(grid, 1), dim(grid, 2))),)


# --- kernels ----------------------------------------------------------------------------------------------------


class Target(NamedTuple):
    """The mode of a resize, the target sizes by axis, and the factors if they are not computed from the sizes."""

    how: Resizing
    sizes: Mapping[int, int]
    factors: Mapping[int, float] | None = None


def target_1(attrs: Attrs, inputs: Sequence[Array]) -> Target:
    """Do as the runtime, which moves it to version 4.

    Linear of up to four axes is `linear_onnx`, nearest is `simple`.
    """
    data = inputs[0]
    modes = {"linear": "linear_onnx" if data.ndim < 5 else "linear"}
    mode = modes.get(attrs.mode, attrs.mode)
    coordinates = "align_corners" if attrs.align_corners else "asymmetric"
    image = data.ndim == 4 and set(attrs.axes) == {2, 3}
    if not attrs.align_corners and attrs.mode == "linear" and not image and not any(attrs.pads_begin + attrs.pads_end):
        coordinates = "half_pixel"
    how = Resizing(mode=mode, coordinates=coordinates, antialias=attrs.antialias)
    return Target(how, dict(zip(attrs.axes, map(int, inputs[1].ravel()), strict=False)))


def target_4(attrs: Attrs, inputs: Sequence[Array]) -> Target:
    """Return sizes or factors, depending on the mode."""
    by_scales = attrs.shape_calculation_mode == "scales"
    return _target(attrs, inputs[0], inputs[2 if by_scales else 1], inputs[3:])


def target_11(attrs: Attrs, inputs: Sequence[Array]) -> Target:
    """Return the values of the second input."""
    return _target(attrs, inputs[0], inputs[1], inputs[2:])


def _target(attrs: Attrs, data: Array, target: Array, axes: Sequence[Array]) -> Target:
    how = Resizing(
        mode=attrs.mode,
        coordinates=attrs.coordinate_transformation_mode,
        nearest=attrs.nearest_mode,
        antialias=attrs.antialias,
        coefficient=PILLOW if attrs.mode == "bicubic_pillow" and data.ndim < 5 else attrs.cube_coeff,
    )
    places = [int(axis) for axis in axes[0].ravel()] if axes else list(range(data.ndim))
    given = dict(zip(places, target.ravel().tolist(), strict=False))
    if attrs.shape_calculation_mode == "sizes":
        return Target(how, given)
    padded = padded_dims(attrs, tuple(map(Dim.of, data.shape)))
    sizes = {axis: scaled(padded[axis], factor).size for axis, factor in given.items()}
    return Target(how, sizes, None if how.mode.endswith("pillow") else given)


def interpolated(find: Callable[[Attrs, Sequence[Array]], Target]) -> Callable[[Attrs, Sequence[Array]], tuple[Array]]:
    """Return the kernel of a version, which resizes the padded input."""

    def kernel(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array]:
        data, target = _padded(attrs, inputs[0]), find(attrs, inputs)
        if data.dtype.kind in "iu" and target.how.mode != "nearest":
            return (_resized_integers(data, target),)
        factors = scales_of(data.shape, target.sizes) if target.factors is None else target.factors
        return (in_working_type(lambda array: resize(target.how, array, target.sizes, factors), data),)

    return kernel


def torn_integers(
    find: Callable[[Attrs, Sequence[Array]], Target],
) -> Mask:
    """Return the integers of the output so near to the middle of two that rounding errors of f32 determine them."""

    def ill_conditioned(attrs: Attrs, inputs: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
        data, target = _padded(attrs, inputs[0]), find(attrs, inputs)
        if data.dtype.kind not in "iu" or target.how.mode == "nearest":
            return None
        error = 2e-6 * float(np.abs(data.astype(np.float64)).max(initial=1))
        out: npt.NDArray[np.bool_] = _resized_integers(data, target, error) != _resized_integers(data, target, -error)
        return out

    return ill_conditioned


def _padded(attrs: Attrs, data: Array) -> Array:
    return np.pad(data, pads(attrs, data.ndim)) if any(map(any, pads(attrs, data.ndim))) else data


def _resized_integers(data: Array, target: Target, error: float = 0.0) -> Array:
    """Return integers computed in f32; `error` is added before they are rounded as in the runtime (measured).

    8-bit integers of rank 4 and above are rounded after each axis in Pillow's modes. Volumes of them are truncated in
    the modes `linear` and `cubic`; values out of range saturate in `linear` and wrap in `cubic`.
    """
    how, dtype = target.how, data.dtype
    volume, bytewise = data.ndim > 4, data.ndim > 3 and dtype.itemsize == 1
    pillow = how.mode.endswith("pillow")
    near = half_away if volume and pillow else np.rint

    def settle(values: Array) -> Array:
        return to_integer(near(values + np.float32(error)), dtype)

    if bytewise and pillow:
        how = replace(how, settle=lambda values: settle(values).astype(np.float32))
    factors = scales_of(data.shape, target.sizes) if target.factors is None else target.factors
    out = resize(how, data.astype(np.float32), target.sizes, factors)
    if bytewise and volume and how.mode in {"linear", "cubic"}:
        cut = np.trunc(out + np.float32(error))
        return low_bits(cut, dtype) if how.mode == "cubic" else to_integer(cut, dtype)
    return settle(out)


def sampled(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return elements of the images at the points of the grid.

    8-bit integers are rounded, wider ones truncated (measured).
    """
    data, grid = inputs
    grid = widened(grid)

    def sample(data: Array) -> Array:
        return grid_sample(data, grid, attrs.mode, attrs.padding_mode, attrs.align_corners)

    if attrs.mode == "nearest" or data.dtype.kind not in "iu":
        return (in_working_type(sample, data),)
    out = sample(data.astype(np.float32))
    return (to_integer(np.rint(out), data.dtype) if data.dtype.itemsize == 1 else low_bits(np.trunc(out), data.dtype),)


# --- checks -----------------------------------------------------------------------------------------------------


def check_interpolate_1(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for one size per axis, without which the runtime crashes, and for modes that it does not implement."""
    sizes = inputs[1]
    if not attrs.axes:
        yield Violation("axes", "is empty")
    elif sizes.shape is not None and (len(sizes.shape) != 1 or len(attrs.axes) not in sizes.shape[0]):
        count = len(attrs.axes)
        yield Violation("axes", f"has {plural(count, 'value')}, but the second input is {shape_text(sizes.shape)}")
    elif attrs.mode == "area":
        yield Violation("mode", "is area, which the runtime does not support")
    else:
        padding = any(attrs.pads_begin + attrs.pads_end)
        yield from _beyond_plugin(attrs, inputs, interpolate_1_shape, attrs.axes, padding, "target_spatial_shape")
    if [*attrs.axes] != sorted(attrs.axes):
        message = f"is {listed(attrs.axes)}, but the runtime reads the sizes in the ascending order of the axes"
        yield Violation("axes", message, "write both in ascending order", ViolationKind.SUSPECT)
    yield from _check_target(sizes, "target_spatial_shape")
    yield from _too_large(attrs, inputs, interpolate_1_shape, "target_spatial_shape")


def check_interpolate_4(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for positive sizes or factors; a padded input and an output that fit into memory."""
    by_scales = attrs.shape_calculation_mode == "scales"
    name = "scales" if by_scales else "sizes"
    yield from _unread(attrs, inputs[0])
    yield from _check_target(inputs[2 if by_scales else 1], name)
    yield from _too_large(attrs, inputs, interpolate_4_shape, name)
    yield from _of_plugin(attrs, inputs, interpolate_4_shape, inputs[3:], name)


def check_interpolate_11(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check as for Interpolate-4, and for a second input of the type that the mode requires."""
    target, name = inputs[1], "scales_or_sizes"
    by_scales = attrs.shape_calculation_mode == "scales"
    if target.dtype.kind != "dynamic" and target.dtype.is_float != by_scales:
        yield Violation(
            name,
            f"has element type {target.dtype}; expected {'factors' if by_scales else 'sizes'}",
            kind=ViolationKind.TYPES,
        )
    else:
        yield from _unread(attrs, inputs[0])
        yield from _check_target(target, name)
        yield from _miscounted(target, inputs[2:], name)
        yield from _too_large(attrs, inputs, interpolate_11_shape, name)
        yield from _of_plugin(attrs, inputs, interpolate_11_shape, inputs[2:], name)


def _of_plugin(
    attrs: Attrs, inputs: Sequence[Fact], shape: ShapeRule, axes: Sequence[Fact], name: str
) -> Iterator[Violation]:
    """Check for settings that the CPU plugin cannot resize, if the axes are known."""
    data = inputs[0]
    if data.shape is not None:
        places = axes[0].integers() if axes else list(range(len(data.shape)))
        if places is not None:
            padding = any(map(any, pads(attrs, len(data.shape))))
            yield from _beyond_plugin(attrs, inputs, shape, places, padding, name)


def _beyond_plugin(
    attrs: Attrs, inputs: Sequence[Fact], shape: ShapeRule, places: Sequence[int], padding: bool, name: str
) -> Iterator[Violation]:
    before = inputs[0].shape
    try:
        (output,) = shape(attrs, inputs)
    except ShapeError:
        return
    if before is not None and output.shape is not None:
        yield from limits(
            Resized(
                data=inputs[0],
                mode=attrs.mode,
                axes=places,
                padded=padded_dims(attrs, before),
                output=output.shape,
                pads=padding,
                target=name,
            )
        )


def _unread(attrs: Attrs, data: Fact) -> Iterator[Violation]:
    """Check for attributes that the CPU plugin does not read (measured)."""
    flat = data.shape is not None and len(data.shape) < 5
    if attrs.antialias and attrs.mode == "linear" and flat:
        yield Violation(
            "antialias",
            "is true, but the runtime reads it only for data of rank 5 and above",
            kind=ViolationKind.SUSPECT,
        )
    if attrs.mode == "bicubic_pillow" and attrs.cube_coeff != PILLOW and flat:
        yield Violation(
            "cube_coeff", "is not -0.5, but the runtime always uses -0.5 for bicubic_pillow", kind=ViolationKind.SUSPECT
        )


def _check_target(target: Fact, name: str) -> Iterator[Violation]:
    """Check for known sizes that are negative, and known factors that are not positive and leave no elements."""
    exact = target.exact
    if exact is None or not exact.size:
        return
    if exact.dtype.kind != "f" and exact.min() < 0:
        yield Violation(name, f"holds {exact.min()}; expected sizes of at least 1")
    elif exact.dtype.kind == "f" and not (exact > 0).all():
        negative = exact.min() < 0
        kind = ViolationKind.CONTRADICTION if negative else ViolationKind.SUSPECT
        yield Violation(name, f"holds {exact.min()}; expected positive numbers", kind=kind)


def _miscounted(target: Fact, axes: Sequence[Fact], name: str) -> Iterator[Violation]:
    """Check for more sizes or factors than axes; the runtime does not read the excess ones."""
    shapes = [fact.shape for fact in (target, *axes)]
    counts = [shape[0] for shape in shapes if shape is not None and len(shape) == 1]
    if len(counts) == 2 and counts[1].hi is not None and counts[0].lo > counts[1].hi:
        message = f"has {counts[0]} values, but there are {counts[1]} axes; the runtime reads the first"
        yield Violation(name, message, kind=ViolationKind.SUSPECT)


def _too_large(attrs: Attrs, inputs: Sequence[Fact], shape: ShapeRule, name: str) -> Iterator[Violation]:
    data = inputs[0]
    if data.shape is not None:
        yield from too_large("pads_begin", tuple(padded_dims(attrs, data.shape)))
    yield from check_output_size(name, shape)(attrs, inputs)


# --- the operations ---------------------------------------------------------------------------------------------

INDEX_TYPES = "i32 i64 u32 u64"
SCALE_TYPES = "f16 bf16 f32"
IMAGE_TYPES = "f16 bf16 f32 f64 i8 u8 i32 i64"

INTERPOLATE_1 = Op(
    type="Interpolate",
    version=1,
    inputs=(Input("data", type=IMAGE_TYPES, elements=Elements.LIKE), Input("target_spatial_shape", type=INDEX_TYPES)),
    attrs={
        "axes": Ints(),
        "mode": ExactWord(words=("nearest", "linear", "cubic", "area")),
        "align_corners": Flag(default=True),
        "antialias": Flag(default=False),
        "pads_begin": Ints(default=(), minimum=0),
        "pads_end": Ints(default=(), minimum=0),
    },
    check=check_interpolate_1,
    shape=interpolate_1_shape,
    kernel=interpolated(target_1),
    undefined_mask=torn_integers(target_1),
    migrate=migrate_interpolate(1, interpolated(target_1)),
    substitute=resized_last(1, interpolated(target_1)),
)

MODES = ("nearest", "linear", "linear_onnx", "cubic")
INTERPOLATE_ATTRS: dict[str, Field] = {
    "mode": OneOf(words=MODES, runtime_default="nearest"),
    "shape_calculation_mode": OneOf(words=("sizes", "scales"), runtime_default="sizes"),
    "coordinate_transformation_mode": OneOf(
        words=("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"),
        default="half_pixel",
    ),
    "nearest_mode": OneOf(
        words=("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"), default="round_prefer_floor"
    ),
    "antialias": Flag(default=False),
    "pads_begin": Ints(default=(), minimum=0),
    "pads_end": Ints(default=(), minimum=0),
    "cube_coeff": Float(
        default=-0.75,
        usual=Usual(
            minimum=-2,
            below="with which distant points get the largest weights",
            maximum=0,
            above="with which all points get the same weight",
        ),
    ),
}

INTERPOLATE_4 = Op(
    type="Interpolate",
    version=4,
    inputs=(
        Input("image", type=IMAGE_TYPES, elements=Elements.LIKE),
        Input("sizes", type=INDEX_TYPES),
        Input("scales", type=SCALE_TYPES),
        Input("axes", optional=True, type=INDEX_TYPES),
    ),
    attrs=INTERPOLATE_ATTRS,
    check=check_interpolate_4,
    shape=interpolate_4_shape,
    kernel=interpolated(target_4),
    undefined_mask=torn_integers(target_4),
    migrate=migrate_interpolate(4, interpolated(target_4)),
    substitute=first_of(sizes_in_i64, resized_last(4, interpolated(target_4))),
)
INTERPOLATE_11 = INTERPOLATE_4.at(
    11,
    inputs=(
        Input("image", type=IMAGE_TYPES, elements=Elements.LIKE),
        Input("scales_or_sizes", type=f"{SCALE_TYPES} {INDEX_TYPES}"),
        Input("axes", optional=True, type=INDEX_TYPES),
    ),
    attrs={"mode": OneOf(words=(*MODES, "bilinear_pillow", "bicubic_pillow"), runtime_default="nearest")},
    check=check_interpolate_11,
    shape=interpolate_11_shape,
    kernel=interpolated(target_11),
    undefined_mask=torn_integers(target_11),
    migrate=migrate_interpolate(11, interpolated(target_11)),
    substitute=None,
)

GRID_SAMPLE_9 = Op(
    type="GridSample",
    version=9,
    inputs=(Input("data"), Input("grid", type="float")),
    attrs={
        "align_corners": Flag(default=False),
        "mode": OneOf(words=("bilinear", "bicubic", "nearest"), default="bilinear"),
        "padding_mode": OneOf(words=("zeros", "border", "reflection"), default="zeros"),
    },
    shape=grid_sample_shape,
    kernel=sampled,
    migrate=migrate_grid_sample,
)

OPS = (INTERPOLATE_1, INTERPOLATE_4, INTERPOLATE_11, GRID_SAMPLE_9)
