"""Convolutions: Convolution-1, GroupConvolution-1, both backward, BinaryConvolution-1, DeformableConvolution-1/-8.

Specification: `convolution/`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops import _convolution_kernels as kernels
from ir_tools.ops._image_rewrites import migrate_deformable_8, with_more_windows, with_strides_first
from ir_tools.ops._numbers import in_working_type, is_half, through_floats
from ir_tools.ops._requirements import raise_first, same_type
from ir_tools.ops._values import plus, shifted, times
from ir_tools.ops._versions import VersionStep, first_of
from ir_tools.ops._windows import Pooling, axis_pads
from ir_tools.ops.checks import fact_of
from ir_tools.ops.convolution_shapes import (
    BACKWARD,
    BACKWARD_GROUPS,
    FORWARD,
    FORWARD_GROUPS,
    Layout,
    Windows,
    axes_of,
    channels_out,
    check_channels,
    check_lists,
    check_ranks,
    forward_dim,
    forward_shape,
    forward_violations,
    reach,
    suspect_windows,
    unfit,
    windows_of,
)
from ir_tools.ops.definition import Array, Bounds, Fact, Input, Op, Step, Violation
from ir_tools.ops.fields import Attrs, Field, Flag, Float, Int, Ints, OneOf, Usual, listed
from ir_tools.ops.limits import too_large
from ir_tools.types import Dim, Shape, shape_text

__all__ = ["OPS"]

# --- forward ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forward:
    """The check, shape rule and kernel of a convolution with filters of one layout."""

    layout: Layout
    ranks: tuple[int, ...] = (3, 4, 5)

    def check(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """Check that lists have one value per axis, channels match, and filters fit into the padded data."""
        data, filters = inputs[0].shape, inputs[1].shape
        broken = list(forward_violations(attrs, data, filters, self.layout, self.ranks))
        if not broken:
            broken = list(too_large("pads_begin", forward_shape(attrs, data, filters, self.layout, self.ranks)))
        yield from broken or suspect_windows(attrs, data, filters, self.layout)

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """Map `[N, C, spatial...]` and filters to `[N, filters, windows...]`."""
        dtype = same_type(inputs[:2])
        return (Fact(dtype, forward_shape(attrs, inputs[0].shape, inputs[1].shape, self.layout, self.ranks)),)

    def binary_shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """Map as `shape`, with filters of single bits and an output of the data's type."""
        shape = forward_shape(attrs, inputs[0].shape, inputs[1].shape, self.layout, self.ranks)
        return (Fact(inputs[0].dtype, shape),)

    def kernel(self, attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Map `[N, C, spatial...]` and filters to `[N, filters, windows...]`.

        Integers are computed in f32, as in the CPU plugin.
        """

        def convolved(data: Array, filters: Array) -> Array:
            stack = filters if self.layout.groups else filters[None]
            windows, begin, end = resolved(attrs, data.shape[2:], stack.shape[3:])
            return kernels.convolve(data, stack, windows.strides, windows.dilations, begin, end)

        data, filters = arrays
        if is_half(data.dtype):
            return (convolved(data, filters.astype(np.float32)),)
        return (through_floats(convolved)(data, filters),)

    def binary_kernel(self, attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Return the number of equal bits minus the number of different bits; data above 0 is 1, all other data is -1.

        With channels in groups of 8, filters start with the lowest bit of a byte and `pad_value` 0 leaves padding out,
        as measured on the CPU plugin. With other numbers of channels its values are wrong; the kernel reads filters
        from the highest bit, as in files, and 0 is -1, by OpenVINO's reference tests. `pad_value` 1 is 1, any other
        value is -1.
        """
        data, filters = arrays
        signs = np.where(data > 0, np.float32(1), np.float32(-1))
        grouped = data.shape[1] % 8 == 0
        ordered = kernels.low_bits_first(filters) if grouped else np.asarray(filters)
        bits = ordered[None].astype(np.float32) * 2 - 1
        windows, begin, end = resolved(attrs, data.shape[2:], bits.shape[3:])
        fill = 0 if grouped and attrs.pad_value == 0 else 1 if attrs.pad_value == 1 else -1
        out = kernels.convolve(signs, bits, windows.strides, windows.dilations, begin, end, fill=fill)
        return (out.astype(data.dtype),)


def resolved(
    attrs: Attrs, sizes: Sequence[int], kernel: Sequence[int]
) -> tuple[Windows, tuple[int, ...], tuple[int, ...]]:
    """Return the lists of a layer, and the padding that follows from `auto_pad` for an input of these sizes."""
    windows = windows_of(attrs, len(sizes))
    pooling = Pooling(
        kernel=tuple(kernel),
        strides=windows.strides,
        pads_begin=windows.begin,
        pads_end=windows.end,
        dilations=windows.dilations,
        auto_pad=attrs.auto_pad,
    )
    pads = [axis_pads(pooling, axis, size) for axis, size in enumerate(sizes)]
    return windows, tuple(first for first, _ in pads), tuple(last for _, last in pads)


# --- backward ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Backward:
    """The check, shape rule and kernel of the gradient of a convolution by its data, with filters of one layout."""

    layout: Layout

    def violations(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """Check for settings for which the layer has no output shape."""
        data, filters = inputs[0].shape, inputs[1].shape
        axes = self.axes(attrs, inputs)
        broken = [*check_ranks(data, filters, self.layout)]
        if not broken and axes is not None:
            broken = [*check_lists(attrs, axes)] or [*check_channels(data, filters, self.layout)]
            broken += check_sizes(inputs[2], axes) if len(inputs) > 2 else ()
        yield from broken

    def axes(self, attrs: Attrs, inputs: Sequence[Fact]) -> int | None:
        """Return the number of spatial axes, if it is known."""
        sizes = inputs[2].shape if len(inputs) > 2 else None
        count = sizes[0].size if sizes and sizes[0].static and sizes[0].size else None
        return axes_of(attrs, inputs[0].shape, inputs[1].shape, self.layout, count)

    def check(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """Check that lists have one value per axis and channels match.

        The output must not be empty, and must fit into memory.
        """
        broken = list(self.violations(attrs, inputs))
        if not broken:
            try:
                broken = list(too_large("strides", self.output(attrs, inputs)))
            except ShapeError as why:
                broken = [Violation("pads_begin", why.message)]
        yield from broken or suspect_windows(attrs, inputs[0].shape, inputs[1].shape, self.layout)

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """Map `[N, C, spatial...]` to `[N, channels, sizes...]`; the third input, if there is one, has the sizes."""
        dtype = same_type(inputs[:2])
        raise_first(self.violations(attrs, inputs))
        return (Fact(dtype, self.output(attrs, inputs)),)

    def output(self, attrs: Attrs, inputs: Sequence[Fact]) -> Shape:
        """Return the shape of the output, for valid inputs.

        Raises:
            ShapeError: a dimension would be negative.
        """
        axes = self.axes(attrs, inputs)
        if axes is None:
            return None
        data, filters = inputs[0].shape, inputs[1].shape
        first = Dim() if data is None else data[0]
        return (first, channels_out(data, filters, self.layout), *self.spatial(attrs, inputs, axes))

    def spatial(self, attrs: Attrs, inputs: Sequence[Fact], axes: int) -> tuple[Dim, ...]:
        """Return the spatial dimensions of the output.

        Raises:
            ShapeError: a dimension would be negative.
        """
        if len(inputs) > 2:
            return (Dim(),) * axes if inputs[2].value is None else inputs[2].value.dims()
        data, filters = inputs[0].shape, inputs[1].shape
        windows = windows_of(attrs, axes)
        sizes = (Dim(),) * axes if data is None else data[2:]
        extents = (Dim(),) * axes if filters is None else filters[self.layout.leading :]
        return tuple(backward_dim(windows, axis, sizes[axis], extents[axis]) for axis in range(axes))

    def kernel(self, attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Map `[N, C, spatial...]` to `[N, channels, sizes...]`."""

        def spread(data: Array, filters: Array) -> Array:
            stack = filters if self.layout.groups else filters[None]
            windows = windows_of(attrs, data.ndim - 2)
            wanted = [int(size) for size in arrays[2]] if len(arrays) > 2 else None
            begin, sizes = backward_places(attrs, windows, data.shape[2:], stack.shape[3:], wanted)
            return kernels.spread(data, stack, windows.strides, windows.dilations, begin, sizes)

        return (in_working_type(through_floats(spread), *arrays[:2]),)


def backward_places(
    attrs: Attrs, windows: Windows, counts: Sequence[int], kernel: Sequence[int], wanted: Sequence[int] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many elements are removed at the beginning of each axis, and the sizes of the output.

    If sizes are given, `same_*` removes half of the excess, and for odd numbers one more element at the beginning
    (upper) or the end (lower); otherwise only explicit pads remove elements. Measured.
    """
    begin, sizes = [], []
    for axis, (count, extent) in enumerate(zip(counts, kernel, strict=True)):
        full = (count - 1) * windows.strides[axis] + (extent - 1) * windows.dilations[axis] + 1 + windows.more[axis]
        sizes.append(full - windows.begin[axis] - windows.end[axis] if wanted is None else wanted[axis])
        if wanted is None or not attrs.auto_pad.startswith("same"):
            begin.append(windows.begin[axis])
        else:
            surplus = max(full - wanted[axis], 0)
            begin.append(surplus // 2 if attrs.auto_pad == "same_lower" else surplus - surplus // 2)
    return tuple(begin), tuple(sizes)


def backward_dim(windows: Windows, axis: int, size: Dim, filter: Dim) -> Dim:
    """Return `(size - 1) * stride + reach + output padding - pads`.

    Raises:
        ShapeError: the result is negative for all possible sizes.
    """
    extent = reach(filter, windows.dilations[axis])
    grown = times(shifted(size, -1), Dim.of(windows.strides[axis]))
    full = plus(grown, extent)
    cut = windows.more[axis] - windows.begin[axis] - windows.end[axis]
    if full.hi is not None and full.hi + cut < 0:
        raise ShapeError(
            f"and pads_end remove {-cut} of the {full} elements on axis {axis + 2} of the output",
            attribute="pads_begin",
        )
    return shifted(full, cut)


def check_sizes(sizes: Fact, axes: int) -> Iterator[Violation]:
    """Check for output sizes that are not one integer per spatial axis, or negative."""
    if not (sizes.dtype.is_integer or sizes.dtype.kind == "dynamic"):
        yield Violation("output_shape", f"has element type {sizes.dtype}; expected integers")
    elif sizes.shape is not None and len(sizes.shape) != 1:
        yield Violation("output_shape", f"is {shape_text(sizes.shape)}; expected a list of sizes")
    elif sizes.shape is not None and axes not in sizes.shape[0]:
        yield Violation("output_shape", f"has {sizes.shape[0]} sizes, but there are {axes} spatial axes")
    elif negative(sizes.value):
        yield Violation("output_shape", "has a negative size")


def negative(value: Bounds | None) -> bool:
    """Return whether a value is known to be negative."""
    return value is not None and bool((value.upper < 0).any())


# --- deformable -------------------------------------------------------------------------------------------------


def divisible(dim: Dim, parts: int) -> bool:
    """Return whether a possible size of `dim` is a multiple of `parts`."""
    return dim.hi is None or -(-dim.lo // parts) <= dim.hi // parts


def check_tables(attrs: Attrs, inputs: Sequence[Fact], name: str, index: int, per_position: int) -> Iterator[Violation]:
    """Check for offsets or mask that are not `[N, per_position * kernel * deformable groups, windows...]`."""
    data, filters, table = inputs[0].shape, inputs[2].shape, inputs[index].shape
    if table is None:
        return
    groups = attrs.deformable_group
    if filters is not None:
        wanted = times(times(filters[2], filters[3]), Dim.of(per_position * groups))
        if table[1].meet(wanted) is None:
            yield Violation(name, f"has {table[1]} channels; expected {wanted} for these filters and deformable_group")
    if not divisible(table[1], groups):
        yield Violation(name, f"has {table[1]} channels, which is not a multiple of deformable_group {groups}")
    if data is not None and data[0].meet(table[0]) is None:
        yield Violation(name, f"has a batch of {table[0]}, but the data has {data[0]}")


def deformable_groups(attrs: Attrs, data: Shape, filters: Shape) -> Iterator[Violation]:
    """Check for channels that do not divide into the groups."""
    group = attrs.group
    for name, dim in (("data", data and data[1]), ("filters", filters and filters[0])):
        if dim and not divisible(dim, group):
            yield Violation(name, f"has {dim} channels, which is not a multiple of group {group}")
            return
    if data is not None and filters is not None:
        read = times(filters[1], Dim.of(group))
        if data[1].meet(read) is None:
            yield Violation("filters", f"reads {read} channels in {group} groups, but the data has {data[1]}")


def deformable_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for settings for which a deformable convolution has no output shape."""
    names = ("data", "offsets", "filters", "mask")
    broken = [
        Violation(name, f"is {shape_text(fact.shape)}; expected rank 4")
        for name, fact in zip(names, inputs, strict=False)
        if fact.shape is not None and len(fact.shape) != 4
    ]
    data, filters = inputs[0].shape, inputs[2].shape
    broken = broken or list(check_lists(attrs, 2))
    if not broken:
        broken = [*deformable_groups(attrs, data, filters), *check_tables(attrs, inputs, "offsets", 1, 2)]
        broken += check_tables(attrs, inputs, "mask", 3, 1) if len(inputs) > 3 else ()
    if not broken and attrs.auto_pad in {"explicit", "valid"}:
        broken = list(unfit(windows_of(attrs, 2), data, filters, FORWARD))
    if not broken:
        spatial = deformable_spatial(attrs, inputs)
        for name, fact in zip(names[1::2], inputs[1::2], strict=False):
            if fact.shape and any(a.meet(b) is None for a, b in zip(fact.shape[2:], spatial, strict=True)):
                text = f"is {shape_text(fact.shape)}, but the output has {listed(spatial)} positions"
                broken.append(Violation(name, text))
    yield from broken


def deformable_spatial(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Dim, ...]:
    """Return the numbers of windows."""
    windows = windows_of(attrs, 2)
    data, filters = ((Dim(),) * 4 if inputs[index].shape is None else inputs[index].shape for index in (0, 2))
    assert data is not None
    assert filters is not None
    return tuple(forward_dim(attrs.auto_pad, windows, axis, data[axis + 2], filters[axis + 2]) for axis in range(2))


def deformable_check(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that ranks, groups and tables of offsets match; also for settings that are probably not intended."""
    broken = list(deformable_violations(attrs, inputs)) or list(
        too_large("pads_begin", deformable_output(attrs, inputs))
    )
    yield from broken or suspect_windows(attrs, inputs[0].shape, inputs[2].shape, FORWARD)


def deformable_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, H, W]` to `[N, filters, windows...]`."""
    dtype = same_type(inputs)
    raise_first(deformable_violations(attrs, inputs))
    return (Fact(dtype, deformable_output(attrs, inputs)),)


def deformable_output(attrs: Attrs, inputs: Sequence[Fact]) -> Shape:
    """Return the shape of the output, for valid inputs; the batch is the one on which data and offsets agree."""
    data, offsets, filters = (fact.shape for fact in inputs[:3])
    if data is None and offsets is None and filters is None:
        return None
    batch = Dim() if data is None else data[0]
    if offsets is not None:
        batch = batch.meet(offsets[0]) or batch
    out = Dim() if filters is None else filters[0]
    return (batch, out, *deformable_spatial(attrs, inputs))


def deformable(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Map `[N, C, H, W]` to `[N, filters, windows...]`: windows whose positions are moved by the offsets."""
    raise_first(deformable_violations(attrs, [fact_of(array) for array in arrays]))

    def deformed(data: Array, offsets: Array, filters: Array, mask: Array | None = None) -> Array:
        groups, tables = attrs.group, attrs.deformable_group
        batch, channels, *sizes = data.shape
        kernel = filters.shape[2:]
        windows, begin, _ = resolved(attrs, sizes, kernel)
        counts = offsets.shape[2:]
        if not data.size:
            return np.zeros((batch, filters.shape[0], *counts), data.dtype)
        sheets = data.reshape(batch, tables, channels // tables, *sizes)
        moved = offsets.reshape(batch, tables, -1, 2, *counts)
        factors = np.ones((batch, 1, 1, 1, 1), data.dtype) if mask is None else mask.reshape(batch, tables, -1, *counts)
        weights = filters.reshape(groups, filters.shape[0] // groups, -1)
        out = np.empty((batch, *weights.shape[:2], int(np.prod(counts))), data.dtype)
        beyond = attrs.get("bilinear_interpolation_pad", False)
        for image in range(batch):
            parts = kernels.deform(
                sheets[image],
                moved[image],
                factors[image],
                kernel,
                windows.strides,
                windows.dilations,
                begin,
                beyond=beyond,
            )
            for part, columns in parts:
                stack = columns.reshape(groups, -1, columns.shape[-1])
                np.matmul(weights, stack, out=out[image, :, :, part])
        return out.reshape(batch, filters.shape[0], *counts)

    return (in_working_type(through_floats(deformed), *arrays),)


# --- the operations ---------------------------------------------------------------------------------------------

AUTO_PAD = OneOf(words=("explicit", "same_upper", "same_lower", "valid"), default="explicit")

BIT = Usual(minimum=-1, below="but the data is 0 or 1", maximum=1, above="but the data is 0 or 1")
WINDOWS: dict[str, Field] = {
    "strides": Ints(runtime_default=(), minimum=1),
    "pads_begin": Ints(runtime_default=()),
    "pads_end": Ints(runtime_default=()),
    "dilations": Ints(runtime_default=(), minimum=1),
    "auto_pad": AUTO_PAD,
}
NUMBERS = {"T": "float integer"}
SAME = (Input("data", type="T"), Input("filters", type="T"))


def _forward(type: str, layout: Layout, *others: Step) -> Op:
    """Return an operation; `others`: further ways to write it for a release."""
    rules = Forward(layout)
    return Op(
        type=type,
        version=1,
        inputs=SAME,
        attrs=WINDOWS,
        types=NUMBERS,
        leftovers={"output_padding": "0(,0)*"},
        check=rules.check,
        shape=rules.shape,
        kernel=rules.kernel,
        substitute=first_of(with_more_windows(type, layout), *others),
    )


def _backward(type: str, layout: Layout) -> Op:
    rules = Backward(layout)
    return Op(
        type=type,
        version=1,
        inputs=(*SAME, Input("output_shape", optional=True, type="integer")),
        attrs={**WINDOWS, "output_padding": Ints(default=())},
        types=NUMBERS,
        check=rules.check,
        shape=rules.shape,
        kernel=rules.kernel,
    )


GROUPS = Int(default=1, minimum=1, needed=True)

BINARY = Forward(FORWARD, ranks=(4,))

DEFORMABLE_1 = Op(
    type="DeformableConvolution",
    version=1,
    inputs=(Input("data", type="T"), Input("offsets", type="T"), Input("filters", type="T")),
    attrs={**WINDOWS, "group": GROUPS, "deformable_group": GROUPS},
    types=NUMBERS,
    check=deformable_check,
    shape=deformable_shape,
    kernel=deformable,
    migrate=VersionStep("DeformableConvolution", 1),
)

OPS = (
    _forward("Convolution", FORWARD, with_strides_first),
    _forward("GroupConvolution", FORWARD_GROUPS, with_more_windows("GroupConvolution", FORWARD_GROUPS, always=True)),
    _backward("ConvolutionBackpropData", BACKWARD),
    _backward("GroupConvolutionBackpropData", BACKWARD_GROUPS),
    Op(
        type="BinaryConvolution",
        version=1,
        inputs=(Input("data", type="float integer"), Input("filters")),
        attrs={
            **WINDOWS,
            "mode": OneOf(words=("xnor-popcount",), runtime_default="xnor-popcount"),
            "pad_value": Float(
                runtime_default=0.0,
                usual=BIT,
            ),
        },
        check=BINARY.check,
        shape=BINARY.binary_shape,
        kernel=BINARY.binary_kernel,
    ),
    DEFORMABLE_1,
    DEFORMABLE_1.at(
        8,
        inputs=(*DEFORMABLE_1.inputs, Input("mask", optional=True, type="T")),
        attrs={"bilinear_interpolation_pad": Flag(default=False)},
        readers={"bilinear_interpolation_pad": "kernel migrate"},
        migrate=migrate_deformable_8,
    ),
)
