"""Patches of images as columns, and back: ExtractImagePatches-3, Col2Im-15.

Specification: `movement/`.
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ir_tools.ops._convolution_kernels import overlap
from ir_tools.ops._moving_rewrites import moved
from ir_tools.ops._numbers import in_working_type
from ir_tools.ops._requirements import raise_first
from ir_tools.ops._sampling_rewrites import migrate_columns
from ir_tools.ops._values import ceil_div, floor_div, minus, shifted, times
from ir_tools.ops.definition import NUMBERS, Array, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Ints, OneOf, listed
from ir_tools.ops.limits import too_large
from ir_tools.types import Dim, shape_text

__all__ = ["OPS"]


# --- ExtractImagePatches ----------------------------------------------------------------------------------------


def patches_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for data that is not `[N, C, H, W]`, lists that are not pairs."""
    shape = inputs[0].shape
    if shape is not None and len(shape) != 4:
        yield Violation("data", f"is {shape_text(shape)}; expected rank 4")
    for name in ("sizes", "strides", "rates"):
        if len(attrs[name]) != 2:
            yield Violation(name, f"has {len(attrs[name])} values; expected 2, for rows and columns")


def check_patches(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for the same, and an output that fits into memory."""
    broken = list(patches_violations(attrs, inputs))
    if not broken:
        broken = list(too_large("sizes", patches_shape(attrs, inputs)[0].shape))
    yield from broken


def patches_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, H, W]` to `[N, C * rows * columns, windows...]`; a patch that does not fit gives no windows."""
    raise_first(patches_violations(attrs, inputs))
    dtype, shape = inputs[0].dtype, inputs[0].shape
    if shape is None:
        return (Fact(dtype, (Dim(),) * 4),)
    channels = times(shape[1], Dim.of(prod(attrs.sizes)))
    return (Fact(dtype, (shape[0], channels, *(_windows(attrs, axis, shape[axis + 2]) for axis in range(2)))),)


def _windows(attrs: Attrs, axis: int, size: Dim) -> Dim:
    """Return the number of patches on one axis."""
    stride = attrs.strides[axis]
    if attrs.auto_pad != "valid":
        return ceil_div(size, stride)
    reach = _reach(attrs, axis)
    fits = shifted(floor_div(minus(size, Dim.of(reach)), stride), 1)
    return Dim(0 if size.lo < reach else fits.lo, 0 if size.hi is not None and size.hi < reach else fits.hi)


def _reach(attrs: Attrs, axis: int) -> int:
    """Return the number of elements from the first to the last one of a patch."""
    reach: int = (attrs.sizes[axis] - 1) * attrs.rates[axis] + 1
    return reach


def patches(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Map `[N, C, H, W]` to `[N, rows * columns * C, windows...]`: the channels of one position are adjacent."""
    (data,) = arrays
    batch, channels, *sizes = data.shape
    counts = [_windows(attrs, axis, Dim.of(size)).size for axis, size in enumerate(sizes)]
    out = np.zeros((batch, *attrs.sizes, channels, *counts), data.dtype)
    starts = [_first(attrs, axis, size, counts[axis]) for axis, size in enumerate(sizes)]
    for row, column in np.ndindex(*attrs.sizes):
        places = [start + at * rate for start, at, rate in zip(starts, (row, column), attrs.rates, strict=True)]
        found = overlap(counts, places, attrs.strides, sizes)
        if found is not None:
            source, target = found
            out[(slice(None), row, column, slice(None), *source)] = data[(slice(None), slice(None), *target)]
    return (out.reshape(batch, prod(attrs.sizes) * channels, *counts),)


def _first(attrs: Attrs, axis: int, size: int, count: int) -> int:
    """Return where the first patch begins.

    Before the data by the padding, the odd one at the end (upper) or beginning.
    """
    if attrs.auto_pad == "valid":
        return 0
    total: int = max((count - 1) * attrs.strides[axis] + _reach(attrs, axis) - size, 0)
    return -(total // 2) if attrs.auto_pad == "same_upper" else -(total - total // 2)


# --- Col2Im -----------------------------------------------------------------------------------------------------

LISTS = ("strides", "dilations", "pads_begin", "pads_end")


def columns_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for columns that are not `[N, C * kernel, windows]` for the output size and kernel that are given."""
    data, size, kernel = inputs
    for name in LISTS:
        values = attrs[name]
        if not values:
            text = ",".join("1" if name in {"strides", "dilations"} else "0" for _ in range(2))
            remedy = f'write {name}="{text}"'
            yield Violation(name, "is missing, and the runtime crashes without it", remedy, ViolationKind.FATAL)
        elif len(values) != 2:
            yield Violation(name, f"has {len(values)} values; expected 2")
    for name, fact, minimum in (("output_size", size, 0), ("kernel_size", kernel, 1)):
        if fact.shape is not None and (len(fact.shape) != 1 or fact.shape[0] != Dim.of(2)):
            yield Violation(name, f"is {shape_text(fact.shape)}; expected a list of 2 sizes")
        elif fact.value is not None and (fact.value.upper < minimum).any():
            yield Violation(name, f"holds {fact.value.upper.min()}; expected at least {minimum}")
        if fact.dtype.kind != "dynamic":
            yield from _index_type(name, fact)
    if data.shape is not None and len(data.shape) not in {2, 3}:
        yield Violation("data", f"is {shape_text(data.shape)}; expected rank 2 or 3")


def _index_type(name: str, fact: Fact) -> Iterator[Violation]:
    if fact.dtype.name not in {"i32", "i64"}:
        yield Violation(name, f"has element type {fact.dtype}; expected i32 or i64")


def block_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for another number of channels or of windows than kernel, output size and attributes give."""
    data, size, kernel = inputs
    sizes, extents = size.integers(), kernel.integers()
    if data.shape is None or extents is None:
        return
    channels, blocks = data.shape[-2:]
    if channels.static and channels.size % prod(extents):
        text = f"has {channels} channels, which is not a multiple of the kernel's {prod(extents)} elements"
        yield Violation("data", text)
    if sizes is not None and blocks.static:
        counts = [_blocks(attrs, axis, sizes[axis], extents[axis]) for axis in range(2)]
        if prod(counts) != blocks.size or min(counts) <= 0:
            yield Violation(
                "data",
                f"has {blocks} columns, but an output of {listed(sizes)} has {listed(counts)} windows"
                f" of {listed(extents)}",
            )


def _blocks(attrs: Attrs, axis: int, size: int, extent: int) -> int:
    """Return the number of windows on one axis; none or fewer where the kernel does not fit."""
    room = size + attrs.pads_begin[axis] + attrs.pads_end[axis] - attrs.dilations[axis] * (extent - 1) - 1
    count: int = room // attrs.strides[axis] + 1
    return count


def check_columns(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for lists of two, sizes of two, columns that fit them."""
    yield from list(columns_violations(attrs, inputs)) or block_violations(attrs, inputs)


def columns_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C * kernel, windows]` to `[N, C, H, W]`; without a batch where the data has none."""
    raise_first(check_columns(attrs, inputs))
    data, size, kernel = inputs
    if data.shape is None:
        return (Fact(data.dtype, None),)
    extents = kernel.integers()
    channels = data.shape[-2]
    known = extents is not None and channels.static
    image = (Dim(), Dim()) if size.value is None else size.value.dims()
    out = Dim.of(channels.size // prod(extents)) if known and extents else Dim()
    return (Fact(data.dtype, (*data.shape[:-2], out, *image)),)


def columns_to_image(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Map `[N, C * kernel, windows]` to `[N, C, H, W]`: every column is added where its window lies."""
    data, size, kernel = arrays
    extents, sizes = [int(number) for number in kernel], [int(number) for number in size]
    counts = [_blocks(attrs, axis, sizes[axis], extents[axis]) for axis in range(2)]

    def added(columns: Array) -> Array:
        stack = columns.reshape(prod(columns.shape[:-2]), columns.shape[-2] // prod(extents), *extents, *counts)
        image = np.zeros((stack.shape[0], stack.shape[1], *sizes), columns.dtype)
        for place in np.ndindex(*extents):
            starts = [at * step - pad for at, step, pad in zip(place, attrs.dilations, attrs.pads_begin, strict=True)]
            found = overlap(counts, starts, attrs.strides, sizes)
            if found is not None:
                source, target = found
                image[(slice(None), slice(None), *target)] += stack[(slice(None), slice(None), *place, *source)]
        return image.reshape(*columns.shape[:-2], image.shape[1], *sizes)

    return (in_working_type(added, data),)


OPS = (
    Op(
        type="ExtractImagePatches",
        version=3,
        migrate=moved(3, patches),
        inputs=(Input("data", type=NUMBERS),),
        attrs={
            "sizes": Ints(minimum=1),
            "strides": Ints(minimum=1),
            "rates": Ints(minimum=1),
            "auto_pad": OneOf(words=("valid", "same_upper", "same_lower")),
        },
        check=check_patches,
        shape=patches_shape,
        kernel=patches,
    ),
    Op(
        type="Col2Im",
        version=15,
        inputs=(Input("data", type=NUMBERS), Input("output_size", type="I"), Input("kernel_size", type="I")),
        types={"I": "i32 i64"},
        attrs={
            "strides": Ints(default=(), minimum=1),
            "dilations": Ints(default=(), minimum=1),
            "pads_begin": Ints(default=(), minimum=0),
            "pads_end": Ints(default=(), minimum=0),
        },
        check=check_columns,
        shape=columns_shape,
        kernel=columns_to_image,
        migrate=migrate_columns,
    ),
)
