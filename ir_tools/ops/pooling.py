"""Average and max pooling: AvgPool-1/-14/-16, MaxPool-1/-8/-14, AdaptiveAvgPool-8, AdaptiveMaxPool-8.

Specification: `pooling/`. Measured differences from it: docs/average-pooling.md, docs/runtime-notes.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops import _window_kernels as kernels
from ir_tools.ops import _windows as windows
from ir_tools.ops._adaptive_pooling_rewrites import (
    adaptive_to_avg_pool,
    adaptive_to_reduce_mean,
    avg_pool_to_adaptive,
    migrate_adaptive_avg_pool,
    migrate_adaptive_max_pool,
    places_in_i32,
)
from ir_tools.ops._pooling_rewrites import migrate_avg_pool, migrate_max_pool
from ir_tools.ops._requirements import raise_first, require
from ir_tools.ops.definition import NUMBERS, Array, Bounds, Fact, Input, Op, Output, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Field, Flag, Int, Ints, OneOf, listed
from ir_tools.ops.limits import check_kernel_size
from ir_tools.types import Dim, Shape, element_type, shape_text

__all__ = ["AVG_POOL_1", "AVG_POOL_14", "AVG_POOL_16", "OPS"]

LISTS = {"strides": 1, "pads_begin": 0, "pads_end": 0, "dilations": 1}
"""Lists with a value for each axis of the kernel, and the least of these."""
MAX_WINDOWS = 1 << 20
"""More on one axis are not looked through."""

# --- checks -----------------------------------------------------------------------------------------------------


def check_windows(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for settings for which a sliding pooling has no output shape; the runtime rejects each of them."""
    yield from _wrong_lists(attrs)
    shape = inputs[0].shape
    yield from check_data(shape, len(attrs["kernel"]))
    for name, dim in zip(("batch size", "number of channels"), shape or (), strict=False):
        if dim.hi == 0:
            yield Violation("data", f"has a {name} of 0, which the runtime does not support")


def _wrong_lists(attrs: Attrs) -> Iterator[Violation]:
    """Check for lists of a pooling that do not fit its kernel, in the order of `LISTS`, and for a kernel of nothing."""
    kernel = attrs["kernel"]
    rank = len(kernel)
    for name, minimum in LISTS.items():
        values = attrs.get(name, ())
        if len(values) != rank and (values or name == "strides"):
            what = f"has {plural(len(values), 'value')}; expected {rank}, one per kernel axis"
            yield Violation(name, what, f"give {name} {rank} values")
        if min(values, default=minimum) < minimum:
            yield Violation(name, f"is {listed(values)}; expected at least {minimum} for each")
    if min(kernel, default=1) < 1:
        yield Violation("kernel", f"is {listed(kernel)}; expected at least 1 for each")


def check_data(shape: Shape, rank: int | None) -> Iterator[Violation]:
    """Check for an input that is not `[N, C, spatial...]` of rank 3 to 5, with `rank` spatial axes if that is known."""
    if shape is None:
        return
    if not 3 <= len(shape) <= 5:
        yield Violation("data", f"is {shape_text(shape)}; expected rank 3, 4 or 5")
    elif rank is not None and len(shape) != rank + 2:
        yield Violation("kernel", f"has {plural(rank, 'value')}, but the input has {len(shape) - 2} spatial axes")


def covered_by_padding(pooling: windows.Pooling, data: Shape, axes: Iterable[int]) -> Iterator[Violation]:
    """Check for explicit pads that are not smaller than the window if padding does not count.

    Some windows would contain no input element.
    """
    if data is None or pooling.auto_pad != "explicit" or not pooling.exclude_pad:
        return
    for axis in axes:
        for name, pads in (("pads_begin", pooling.pads_begin), ("pads_end", pooling.pads_end)):
            if pads[axis] >= pooling.reach(axis):
                yield Violation(
                    name,
                    (
                        f"is {pads[axis]}, but the window spans {pooling.reach(axis)} elements and exclude-pad is "
                        "true: some windows contain only padding"
                    ),
                    "make the pads smaller than the window, or set exclude-pad to false",
                    ViolationKind.PADS,
                )


def check_avg_pool(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that lists have one value per kernel axis, values are in range, and windows fit and contain elements."""
    pooling, broken = windows.pooling_of(attrs), list(check_windows(attrs, inputs))
    broken += too_large(pooling, inputs[0]) if not broken else ()
    yield from broken or (
        *covered_by_padding(pooling, inputs[0].shape, range(len(attrs.kernel))),
        *no_dilations(attrs),
        *doubtful_windows(pooling, inputs[0]),
        *check_kernel_size("kernel", attrs.kernel, inputs[0].shape),
        *ignored_pads(pooling, inputs[0]),
    )


def check_max_pool(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that lists have one value per kernel axis, values are in range, windows fit, and the input has the axis."""
    pooling, broken = windows.pooling_of(attrs), [*check_windows(attrs, inputs), *check_axis(attrs, inputs[0].shape)]
    broken += too_large(pooling, inputs[0]) if not broken else ()
    yield from broken or (
        *no_dilations(attrs, output=1),
        *empty_windows(pooling, inputs[0], "the minimum of its element type"),
        *check_kernel_size("kernel", attrs.kernel, inputs[0].shape),
        *ignored_pads(pooling, inputs[0]),
    )


def check_axis(attrs: Attrs, shape: Shape) -> Iterator[Violation]:
    """Check for an `axis` that the input does not have."""
    if "axis" in attrs and shape is not None and not -len(shape) <= attrs.axis < len(shape):
        yield Violation("axis", f"is {attrs.axis}, but the input has rank {len(shape)}")


def too_large(pooling: windows.Pooling, data: Fact) -> Iterator[Violation]:
    """Check for a window that does not fit into the padded input for any possible size."""
    for axis, dim in enumerate(data.spatial if data.shape else ()):
        try:
            windows.axis_dim(pooling, axis, dim if dim.hi is None else Dim.of(dim.hi))
        except ShapeError as why:
            yield Violation("kernel", why.message, kind=ViolationKind.KERNEL)


def no_dilations(attrs: Attrs, output: int | None = None) -> Iterator[Violation]:
    """Check for absent `dilations`, which are optional in the specification.

    AvgPool crashes without them or returns random values; MaxPool only refuses to compute its indices (measured).
    """
    if attrs.get("dilations") == ():
        ones = listed((1,) * len(attrs.kernel))
        if output is None:
            message, kind = "is missing, and the runtime crashes without it", ViolationKind.FATAL
        else:
            message, kind = "is missing; the runtime computes no indices without it", ViolationKind.MISSING
        yield Violation("dilations", message, f'write dilations="{ones}"', kind, output=output)


def doubtful_windows(pooling: windows.Pooling, data: Fact) -> Iterator[Violation]:
    """Check for averages of windows without an input element, and for divisors larger than the padded window."""
    if pooling.exclude_pad:
        yield from empty_windows(pooling, data, "an arbitrary value")
        return
    yield from empty_windows(pooling, data, "0 or an arbitrary value")
    sizes = [dim.size if dim.static else None for dim in data.spatial] if data.shape else []
    pads = [(0, 0) if size is None else windows.axis_pads(pooling, axis, size) for axis, size in enumerate(sizes)]
    if pooling.rounding == "floor" or not any(map(sum, pads)):
        return
    for axis, (size, pad) in enumerate(zip(sizes, pads, strict=True)):
        if size is None:
            continue
        end = (windows.axis_count(pooling, axis, size) - 1) * pooling.strides[axis] + pooling.reach(axis)
        if end > size + sum(pad):
            yield Violation(
                "rounding_type",
                f"is {pooling.rounding}, and the last window of axis {axis + 2} reaches"
                f" {plural(end - size - sum(pad), 'element')} beyond the padding: with exclude-pad=false the runtime"
                " still divides its sum by the size of the kernel, but ONNX and PyTorch do not",
                "set exclude-pad to true, or use floor with a larger pads_end",
                ViolationKind.DIVISOR,
            )
            return


def empty_windows(pooling: windows.Pooling, data: Fact, result: str) -> Iterator[Violation]:
    """Check for windows that are entirely in the padding."""
    for axis, dim in enumerate(data.spatial if data.shape else ()):
        count = windows.axis_count(pooling, axis, dim.size) if dim.static else 0
        if max(dim.lo, count) > MAX_WINDOWS or not count or windows.surely_filled(pooling, axis, dim.size, count):
            continue
        lengths = windows.axis_windows(pooling, axis, dim.size, whole=False).lengths
        if not lengths.all():
            first, other = ("pads_begin", "pads_end") if pooling.rounding == "floor" else ("rounding_type", "pads")
            windows_left = f"{plural(int((lengths == 0).sum()), 'window')} of axis {axis + 2} without an input element"
            yield Violation(
                first, f"and {other} leave {windows_left}: the result is {result}", None, ViolationKind.EMPTY
            )
            return


def ignored_pads(pooling: windows.Pooling, data: Fact) -> Iterator[Violation]:
    """Check for pads that `auto_pad` overrides."""
    if pooling.auto_pad == "explicit":
        return
    for axis, dim in enumerate(data.spatial if data.shape else (Dim(),) * pooling.rank):
        given = pooling.pads_begin[axis], pooling.pads_end[axis]
        if given == (0, 0) or (pooling.auto_pad != "valid" and not dim.static):
            continue
        used = windows.axis_pads(pooling, axis, dim.lo)
        if given != used:
            yield Violation(
                "auto_pad",
                (
                    f"is {pooling.auto_pad}, which pads axis {axis + 2} by {used[0]} and {used[1]}; pads_begin and "
                    f"pads_end, {given[0]} and {given[1]}, are ignored"
                ),
                "set auto_pad to explicit, or the pads to 0",
                ViolationKind.IGNORED,
            )
            return


def check_adaptive(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for an input of rank 3 to 5 and one output size per spatial axis, none of them negative."""
    data, sizes = inputs
    yield from check_parts(data, sizes)
    if sizes.value is not None and (sizes.value.upper < 0).any():
        yield Violation("output_shape", "has a negative size, which the runtime reads as 0 or as an unknown size")


def check_parts(data: Fact, sizes: Fact) -> Iterator[Violation]:
    """Check for settings for which an adaptive pooling has no output shape."""
    yield from check_data(data.shape, None)
    if sizes.shape is None:
        return
    if len(sizes.shape) != 1:
        yield Violation("output_shape", f"is {shape_text(sizes.shape)}; expected a list of sizes")
    elif data.shape is not None and len(data.shape) - 2 not in sizes.shape[0]:
        yield Violation("output_shape", f"has {sizes.shape[0]} sizes, but the input has {len(data.shape) - 2} axes")


# --- shapes -----------------------------------------------------------------------------------------------------


def avg_pool_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, spatial...]` to `[N, C, windows...]`; bounds of intervals are those that the runtime computes."""
    raise_first(check_windows(attrs, inputs))
    pooling, data = windows.pooling_of(attrs), inputs[0]
    spatial = data.spatial if data.shape else ()
    raise_first(covered_by_padding(pooling, data.shape, (axis for axis, dim in enumerate(spatial) if dim.static)))
    return (pooled(pooling, data),)


def pooled(pooling: windows.Pooling, data: Fact) -> Fact:
    """Return the output fact of any sliding pooling."""
    if data.shape is None:
        return Fact(data.dtype, (Dim(),) * (2 + pooling.rank))
    return data.with_spatial([windows.axis_dim(pooling, axis, dim) for axis, dim in enumerate(data.spatial)])


def max_pool_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, spatial...]` to `[N, C, windows...]`, for the indices as well if the version has them."""
    raise_first(check_windows(attrs, inputs))
    raise_first(check_axis(attrs, inputs[0].shape))
    values = pooled(windows.pooling_of(attrs), inputs[0])
    if "axis" not in attrs:
        return (values,)
    return values, Fact(element_type(attrs.index_element_type), values.shape)


def adaptive_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, spatial...]` to `[N, C, sizes...]`; the sizes are the values of the second input, if known."""
    data, sizes = inputs
    raise_first(check_parts(data, sizes))
    shape: Shape = None
    if data.shape is not None:
        shape = (*data.shape[:2], *_sizes(sizes.value, len(data.shape) - 2))
    values = Fact(data.dtype, shape)
    if "index_element_type" not in attrs:
        return (values,)
    return values, Fact(element_type(attrs.index_element_type), shape)


def _sizes(value: Bounds | None, axes: int) -> tuple[Dim, ...]:
    """Return the sizes that are known; the runtime reads a constant -1 as any size.

    Raises:
        ShapeError: not all sizes are known, and one may be negative.
    """
    if value is None:
        return (Dim(),) * axes
    least = value.lower.min(initial=0)
    fits = least >= 0 or value.exact is not None
    require(fits, f"may hold {least}; expected sizes of at least 0", attribute="output_shape")
    lower = value.lower.ravel()
    return tuple(Dim() if low == -1 else dim for dim, low in zip(value.dims(), lower, strict=True))


# --- kernels ----------------------------------------------------------------------------------------------------


def sliding_plan(attrs: Attrs, data: Array) -> windows.WindowPlan:
    """Return the window plan of a layer for this input."""
    return _plan(windows.pooling_of(attrs), data.shape[2:])


def adaptive_plan(data: Array, sizes: Array) -> windows.WindowPlan:
    """Return the window plan of an adaptive pooling; a negative size counts as 0, as in the runtime."""
    return _adaptive_plan(data.shape[2:], tuple(max(int(size), 0) for size in sizes))


# A layer runs many times on inputs of the same size: its plan is worked out once.
_plan = lru_cache(maxsize=512)(windows.plan)
_adaptive_plan = lru_cache(maxsize=512)(windows.adaptive_plan)


def avg_pool(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return averages, `[N, C, windows...]`."""
    return (kernels.average(sliding_plan(attrs, inputs[0]), inputs[0]),)


def max_pool(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return maxima, `[N, C, windows...]`."""
    return (kernels.maximum(sliding_plan(attrs, inputs[0]), inputs[0]),)


def max_pool_with_indices(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return maxima, `[N, C, windows...]`, and their indices, counted from `axis` on."""
    (data,) = inputs
    values, places = kernels.maximum_with_places(sliding_plan(attrs, data), data)
    return values, _from_axis(places, data.shape, attrs.axis).astype(attrs.index_element_type.replace("i", "int"))


def _from_axis(places: Array, shape: tuple[int, ...], axis: int) -> Array:
    """Convert positions within a channel to positions in the dimensions from `axis` on."""
    channels = np.arange(prod(shape[:2])).reshape(*shape[:2], *[1] * (len(shape) - 2))
    return (channels * prod(shape[2:]) + places) % max(prod(shape[axis:]), 1)


def adaptive_avg_pool(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return averages of nearly equal windows, `[N, C, sizes...]`."""
    return (kernels.average(adaptive_plan(*inputs), inputs[0]),)


def adaptive_max_pool(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return maxima of nearly equal windows, `[N, C, sizes...]`, and their positions within the channel."""
    values, places = kernels.largest_of_parts(adaptive_plan(*inputs), inputs[0])
    return values, places.astype(attrs.index_element_type.replace("i", "int"))


def undefined_windows(attrs: Attrs, inputs: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
    """Return the windows without an input element whose divisor is not the kernel size, `[windows...]`, if any."""
    return _mask(sliding_plan(attrs, inputs[0]))


def undefined_parts(attrs: Attrs, inputs: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
    """Return the windows of an empty axis, `[sizes...]`; None if there are none."""
    return _mask(adaptive_plan(*inputs))


def _mask(plan: windows.WindowPlan) -> npt.NDArray[np.bool_] | None:
    mask = plan.undefined()
    return mask if mask.any() else None


# --- the operations ---------------------------------------------------------------------------------------------

AUTO_PAD = OneOf(words=("explicit", "same_upper", "same_lower", "valid"), default="explicit", aliases=("auto-pad",))
FLOOR_CEIL = OneOf(words=("floor", "ceil"), default="floor", aliases=("rounding-type",))
CEIL_TORCH = OneOf(words=("floor", "ceil", "ceil_torch"), default="floor", aliases=("rounding-type",))
DILATIONS = Ints(default=(), ones_for="kernel")
INDEX_TYPE = OneOf(words=("i32", "i64"), default="i64")

SLIDING: dict[str, Field] = {
    "kernel": Ints(),
    "strides": Ints(),
    "pads_begin": Ints(runtime_default=()),
    "pads_end": Ints(runtime_default=()),
    "rounding_type": FLOOR_CEIL,
    "auto_pad": AUTO_PAD,
}
DATA = (Input("data", type=NUMBERS),)
ADAPTIVE = (Input("data", type=NUMBERS), Input("output_shape", type="integer"))
WITH_INDICES = (Output("output"), Output("indices"))

AVG_POOL_1 = Op(
    type="AvgPool",
    version=1,
    inputs=DATA,
    attrs={**SLIDING, "exclude_pad": Flag(xml="exclude-pad", runtime_default=True, aliases=("exclude_pad",))},
    check=check_avg_pool,
    shape=avg_pool_shape,
    kernel=avg_pool,
    undefined_mask=undefined_windows,
    migrate=migrate_avg_pool,
    rewrites={"avg-pool-to-adaptive": avg_pool_to_adaptive},
)
AVG_POOL_14 = AVG_POOL_1.at(14, attrs={"rounding_type": CEIL_TORCH})
AVG_POOL_16 = AVG_POOL_14.at(
    16, attrs={"dilations": DILATIONS}, readers={"dilations": "check shape kernel undefined_mask migrate"}
)

MAX_POOL_1 = Op(
    type="MaxPool",
    version=1,
    leftovers={"axis": "0", "dilations": r"1(\.0)?(,1(\.0)?)*", "index_element_type": ".*"},
    inputs=DATA,
    attrs=SLIDING,
    check=check_max_pool,
    shape=max_pool_shape,
    kernel=max_pool,
    undefined_mask=undefined_windows,
    migrate=migrate_max_pool,
)
MAX_POOL_8 = MAX_POOL_1.at(
    8,
    attrs={"dilations": DILATIONS, "index_element_type": INDEX_TYPE, "axis": Int(default=0)},
    outputs=WITH_INDICES,
    kernel=max_pool_with_indices,
    first_output_kernel=max_pool,
    readers={
        "dilations": "check shape kernel first_output_kernel undefined_mask migrate",
        "index_element_type": "shape kernel migrate",
        "axis": "check shape kernel migrate",
    },
)
MAX_POOL_14 = MAX_POOL_8.at(14, attrs={"rounding_type": CEIL_TORCH})

ADAPTIVE_AVG_POOL_8 = Op(
    type="AdaptiveAvgPool",
    version=8,
    inputs=ADAPTIVE,
    check=check_adaptive,
    shape=adaptive_shape,
    kernel=adaptive_avg_pool,
    undefined_mask=undefined_parts,
    migrate=migrate_adaptive_avg_pool,
    rewrites={"adaptive-to-avg-pool": adaptive_to_avg_pool, "adaptive-to-reduce-mean": adaptive_to_reduce_mean},
)
ADAPTIVE_MAX_POOL_8 = Op(
    type="AdaptiveMaxPool",
    version=8,
    inputs=ADAPTIVE,
    outputs=WITH_INDICES,
    attrs={"index_element_type": INDEX_TYPE},
    check=check_adaptive,
    shape=adaptive_shape,
    kernel=adaptive_max_pool,
    undefined_mask=undefined_parts,
    migrate=migrate_adaptive_max_pool,
    substitute=places_in_i32,
)

OPS = (
    AVG_POOL_1,
    AVG_POOL_14,
    AVG_POOL_16,
    MAX_POOL_1,
    MAX_POOL_8,
    MAX_POOL_14,
    ADAPTIVE_AVG_POOL_8,
    ADAPTIVE_MAX_POOL_8,
)
