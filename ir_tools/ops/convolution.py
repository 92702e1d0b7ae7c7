"""Convolutions: Convolution-1, GroupConvolution-1, both backward, BinaryConvolution-1, DeformableConvolution-1/-8."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ir_tools.errors import ShapeError
from ir_tools.ops._define import Attrs, Bounds, Fact, Field, Flag, Float, Input, Int, Ints, Kind, OneOf, Op, Violation
from ir_tools.ops._dims import ceil_div, floor_div, minus, plus, times
from ir_tools.ops._faults import immense, listed, refuse
from ir_tools.ops._numbers import same_type
from ir_tools.types import Dim, Shape, format_shape

__all__ = ["OPS"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a filter keeps its channels; behind them stand the spatial sizes.

    Attributes:
        groups: whether the number of groups is the first dimension.
        into: the dimension of the channels that a group reads.
        out: the dimension of the channels that a group gives.
        backward: whether the operation computes the gradient of a convolution by its data.
    """

    groups: bool
    into: int
    out: int
    backward: bool = False

    @property
    def leading(self) -> int:
        """The number of dimensions before the spatial ones."""
        return 3 if self.groups else 2


FORWARD = Layout(groups=False, out=0, into=1)
FORWARD_GROUPS = Layout(groups=True, out=1, into=2)
BACKWARD = Layout(groups=False, into=0, out=1, backward=True)
BACKWARD_GROUPS = Layout(groups=True, into=1, out=2, backward=True)


@dataclass(frozen=True, slots=True)
class Windows:
    """The lists of a layer, complete: one entry per spatial axis in each."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    more: tuple[int, ...]


LISTS = ("strides", "dilations", "pads_begin", "pads_end", "output_padding")


def axes_of(attrs: Attrs, data: Shape, filters: Shape, layout: Layout, sizes: int | None = None) -> int | None:
    """The number of spatial axes: of the data, the filters, the output sizes, the lists; None where none tells."""
    if data is not None:
        return len(data) - 2
    if filters is not None:
        return len(filters) - layout.leading
    lengths = (len(attrs[name]) for name in LISTS[:-1] if attrs[name])
    return next(lengths, None) if sizes is None else sizes


def windows_of(attrs: Attrs, axes: int) -> Windows:
    """The lists with their defaults; `auto_pad` other than `explicit` knows no pads of its own."""
    explicit = attrs.auto_pad == "explicit"
    return Windows(
        strides=attrs.strides or (1,) * axes,
        dilations=attrs.dilations or (1,) * axes,
        begin=(attrs.pads_begin if explicit else ()) or (0,) * axes,
        end=(attrs.pads_end if explicit else ()) or (0,) * axes,
        more=attrs.get("output_padding") or (0,) * axes,
    )


def reach(size: Dim, dilation: int) -> Dim:
    """How far a filter of `size` extends: `(size - 1) * dilation + 1`."""
    return plus(times(plus(size, -1), Dim.of(dilation)), 1)


# --- checks -----------------------------------------------------------------------------------------------------


def broken_lists(attrs: Attrs, axes: int) -> Iterator[Violation]:
    """Lists that are not as long as there are spatial axes; negative pads, which the CPU plugin cannot run."""
    for name in LISTS:
        values = attrs.get(name, ())
        if values and len(values) != axes:
            yield Violation(
                name, f"has {len(values)} values where there are {axes} spatial axes", f"give {name} {axes} values"
            )
    if attrs.auto_pad == "explicit":
        for name in ("pads_begin", "pads_end"):
            if any(value < 0 for value in attrs[name]):
                yield Violation(name, f"is {listed(attrs[name])} where no value may be negative")


def broken_ranks(data: Shape, filters: Shape, layout: Layout, ranks: Sequence[int] = (3, 4, 5)) -> Iterator[Violation]:
    """Data that is not `[N, C, spatial...]`, or filters with another number of spatial axes."""
    if data is not None and len(data) not in ranks:
        allowed = " or ".join(map(str, ranks))
        yield Violation("data", f"is [{format_shape(data)}] where rank {allowed} is meant")
    elif filters is not None and len(filters) <= layout.leading:
        yield Violation("filters", f"is [{format_shape(filters)}] and has no spatial dimension")
    elif data is not None and filters is not None and len(filters) - layout.leading != len(data) - 2:
        yield Violation(
            "filters",
            f"is [{format_shape(filters)}] with {len(filters) - layout.leading} spatial axes where the data"
            f" [{format_shape(data)}] has {len(data) - 2}",
        )


def broken_channels(data: Shape, filters: Shape, layout: Layout) -> Iterator[Violation]:
    """Filters made for another number of channels than the data has."""
    if data is None or filters is None:
        return
    channels, into = data[1], filters[layout.into]
    if not layout.groups:
        if channels.meet(into) is None:
            yield Violation("filters", f"reads {into} channels where the data has {channels}")
    elif into.static and groups_of(data, filters, layout) is None:
        yield Violation(
            "filters", f"reads {into} channels in each of {filters[0]} groups where the data has {channels} channels"
        )


def groups_of(data: Shape, filters: Shape, layout: Layout) -> Dim | None:
    """The number of groups that data and filters agree on; None where they do not."""
    assert filters is not None
    groups, into = filters[0], filters[layout.into]
    if data is None or not into.static:
        return groups
    if into.size == 0:
        return None
    lo, hi = -(-data[1].lo // into.size), None if data[1].hi is None else data[1].hi // into.size
    return None if hi is not None and hi < lo else groups.meet(Dim(lo, hi))


def unfit(windows: Windows, data: Shape, filters: Shape, layout: Layout) -> Iterator[Violation]:
    """A filter that is larger than the padded data, on a static axis."""
    if data is None or filters is None:
        return
    for axis, (size, filter) in enumerate(zip(data[2:], filters[layout.leading :], strict=True)):
        length = plus(size, windows.begin[axis] + windows.end[axis])
        extent = reach(filter, windows.dilations[axis])
        if length.static and extent.static and extent.size > length.size:
            yield Violation(
                "filters",
                f"reaches over {extent} elements where axis {axis + 2} of the data has {length} with its padding",
            )


def forward_faults(
    attrs: Attrs, data: Shape, filters: Shape, layout: Layout, ranks: Sequence[int] = (3, 4, 5)
) -> Iterator[Violation]:
    """What leaves a convolution without an output shape."""
    broken = [*broken_ranks(data, filters, layout, ranks)]
    axes = axes_of(attrs, data, filters, layout)
    if not broken and axes is not None:
        broken = [*broken_lists(attrs, axes)] or [*broken_channels(data, filters, layout)]
        if not broken and attrs.auto_pad in {"explicit", "valid"}:
            broken = [*unfit(windows_of(attrs, axes), data, filters, layout)]
    yield from broken


def suspect_windows(attrs: Attrs, data: Shape, filters: Shape, layout: Layout) -> Iterator[Violation]:
    """What runs, but hardly as meant: pads that hold whole windows, strides beyond the data, pads that nobody reads."""
    if attrs.auto_pad != "explicit":
        for name in ("pads_begin", "pads_end"):
            if any(attrs[name]):
                message = f'is {listed(attrs[name])} and is ignored, because auto_pad is "{attrs.auto_pad}"'
                yield Violation(name, message, f"set auto_pad to explicit, or {name} to zeros", Kind.SUSPECT)
        return
    for axis, filter in enumerate((filters or ())[layout.leading :]):
        windows = windows_of(attrs, len(filters or ()) - layout.leading)
        extent = reach(filter, windows.dilations[axis])
        for name, pads in (("pads_begin", windows.begin), ("pads_end", windows.end)):
            if extent.static and pads[axis] >= extent.size and not layout.backward:
                message = f"is {pads[axis]} where the filter reaches over {extent}: some windows see padding only"
                yield Violation(name, message, None, Kind.SUSPECT)
        size = plus(data[axis + 2], windows.begin[axis] + windows.end[axis]) if data is not None else Dim()
        if not layout.backward and size.hi is not None and windows.strides[axis] > max(size.hi, extent.hi or 0, 8):
            message = f"is {windows.strides[axis]} where axis {axis + 2} has {size} elements: only the first is read"
            yield Violation("strides", message, None, Kind.SUSPECT)


# --- forward ----------------------------------------------------------------------------------------------------


def forward_shape(attrs: Attrs, data: Shape, filters: Shape, layout: Layout, ranks: Sequence[int] = (3, 4, 5)) -> Shape:
    """`[N, C, spatial...]` to `[N, filters, windows...]`, intervals as the runtime bounds them.

    Raises:
        ShapeError: data, filters and attributes contradict each other.
    """
    refuse(forward_faults(attrs, data, filters, layout, ranks))
    axes = axes_of(attrs, data, filters, layout)
    if axes is None:
        return None
    windows = windows_of(attrs, axes)
    spatial = (Dim(),) * axes if data is None else data[2:]
    sizes = (Dim(),) * axes if filters is None else filters[layout.leading :]
    return (
        Dim() if data is None else data[0],
        channels_out(data, filters, layout),
        *(forward_dim(attrs.auto_pad, windows, axis, spatial[axis], sizes[axis]) for axis in range(axes)),
    )


def channels_out(data: Shape, filters: Shape, layout: Layout) -> Dim:
    """The number of output channels."""
    if filters is None:
        return Dim()
    groups = groups_of(data, filters, layout) if layout.groups else Dim.of(1)
    assert groups is not None
    return times(groups, filters[layout.out])


def forward_dim(auto_pad: str, windows: Windows, axis: int, size: Dim, filter: Dim) -> Dim:
    """The number of windows on one axis; `same_*` gives one for every stride."""
    if auto_pad.startswith("same"):
        return ceil_div(size, windows.strides[axis])
    room = minus(plus(size, windows.begin[axis] + windows.end[axis]), reach(filter, windows.dilations[axis]))
    return plus(floor_div(room, windows.strides[axis]), 1)


@dataclass(frozen=True, slots=True)
class Forward:
    """Check, shape rule and kernel of a convolution with filters of one layout."""

    layout: Layout
    ranks: tuple[int, ...] = (3, 4, 5)

    def check(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """Lists as long as there are axes, channels that fit, filters no larger than the padded data."""
        data, filters = inputs[0].shape, inputs[1].shape
        broken = list(forward_faults(attrs, data, filters, self.layout, self.ranks))
        if not broken:
            broken = list(immense(forward_shape(attrs, data, filters, self.layout, self.ranks), "pads_begin"))
        yield from broken or suspect_windows(attrs, data, filters, self.layout)

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """`[N, C, spatial...]` and filters to `[N, filters, windows...]`."""
        dtype = same_type(inputs[:2])
        return (Fact(dtype, forward_shape(attrs, inputs[0].shape, inputs[1].shape, self.layout, self.ranks)),)

    def binary_shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """The same; filters of single bits, and an output of the data's type."""
        shape = forward_shape(attrs, inputs[0].shape, inputs[1].shape, self.layout, self.ranks)
        return (Fact(inputs[0].dtype, shape),)


# --- backward ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Backward:
    """Check, shape rule and kernel of the gradient of a convolution by its data, with filters of one layout."""

    layout: Layout

    def faults(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """What leaves the layer without an output shape."""
        data, filters = inputs[0].shape, inputs[1].shape
        axes = self.axes(attrs, inputs)
        broken = [*broken_ranks(data, filters, self.layout)]
        if not broken and axes is not None:
            broken = [*broken_lists(attrs, axes)] or [*broken_channels(data, filters, self.layout)]
            broken += broken_sizes(inputs[2], axes) if len(inputs) > 2 else ()
        yield from broken

    def axes(self, attrs: Attrs, inputs: Sequence[Fact]) -> int | None:
        """The number of spatial axes, where something tells it."""
        sizes = inputs[2].shape if len(inputs) > 2 else None
        count = sizes[0].size if sizes and sizes[0].static and sizes[0].size else None
        return axes_of(attrs, inputs[0].shape, inputs[1].shape, self.layout, count)

    def check(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """Lists as long as there are axes, channels that fit, an output that is not empty and not immense."""
        data, filters = inputs[0].shape, inputs[1].shape
        broken = list(self.faults(attrs, inputs))
        if not broken:
            try:
                broken = list(immense(self.shape(attrs, inputs)[0].shape, "strides"))
            except ShapeError as why:
                name, _, text = str(why).partition(" ")
                broken = [Violation(name, text)]
        yield from broken or suspect_windows(attrs, data, filters, self.layout)

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """`[N, C, spatial...]` to `[N, channels, sizes...]`: the third input's sizes, where there is one."""
        dtype = same_type(inputs[:2])
        refuse(self.faults(attrs, inputs))
        axes = self.axes(attrs, inputs)
        if axes is None:
            return (Fact(dtype, None),)
        data, filters = inputs[0].shape, inputs[1].shape
        first = Dim() if data is None else data[0]
        return (Fact(dtype, (first, channels_out(data, filters, self.layout), *self.spatial(attrs, inputs, axes))),)

    def spatial(self, attrs: Attrs, inputs: Sequence[Fact], axes: int) -> tuple[Dim, ...]:
        """The spatial dimensions of the output.

        Raises:
            ShapeError: one would be negative.
        """
        if len(inputs) > 2:
            return (Dim(),) * axes if inputs[2].value is None else inputs[2].value.dims()
        data, filters = inputs[0].shape, inputs[1].shape
        windows = windows_of(attrs, axes)
        sizes = (Dim(),) * axes if data is None else data[2:]
        extents = (Dim(),) * axes if filters is None else filters[self.layout.leading :]
        return tuple(backward_dim(windows, axis, sizes[axis], extents[axis]) for axis in range(axes))


def backward_dim(windows: Windows, axis: int, size: Dim, filter: Dim) -> Dim:
    """`(size - 1) * stride + reach + output padding - pads`.

    Raises:
        ShapeError: that is negative whatever the sizes are.
    """
    extent = reach(filter, windows.dilations[axis])
    grown = times(plus(size, -1), Dim.of(windows.strides[axis]))
    full = Dim(grown.lo + extent.lo, None if grown.hi is None or extent.hi is None else grown.hi + extent.hi)
    cut = windows.more[axis] - windows.begin[axis] - windows.end[axis]
    if full.hi is not None and full.hi + cut < 0:
        raise ShapeError(f"pads_begin and pads_end cut off {-cut} of {full} elements on axis {axis + 2} of the output")
    return plus(full, cut)


def broken_sizes(sizes: Fact, axes: int) -> Iterator[Violation]:
    """Output sizes that are not one for each spatial axis, not whole numbers, or negative."""
    if not (sizes.dtype.is_integer or sizes.dtype.kind == "dynamic"):
        yield Violation("output_shape", f"has element type {sizes.dtype} where whole numbers are meant")
    elif sizes.shape is not None and len(sizes.shape) != 1:
        yield Violation("output_shape", f"is [{format_shape(sizes.shape)}] where a list of sizes is meant")
    elif sizes.shape is not None and axes not in sizes.shape[0]:
        yield Violation("output_shape", f"has {sizes.shape[0]} sizes where there are {axes} spatial axes")
    elif negative(sizes.value):
        yield Violation("output_shape", "has a negative size")


def negative(value: Bounds | None) -> bool:
    """Whether some value is known to be negative."""
    return value is not None and bool((value.upper < 0).any())


# --- deformable -------------------------------------------------------------------------------------------------


def divisible(dim: Dim, parts: int) -> bool:
    """Whether some size of `dim` is a multiple of `parts`."""
    return dim.hi is None or -(-dim.lo // parts) <= dim.hi // parts


def broken_tables(
    attrs: Attrs, inputs: Sequence[Fact], name: str, index: int, per_position: int
) -> Iterator[Violation]:
    """Offsets or mask (input `index`) that are not `[N, per_position * kernel * deformable groups, windows...]`."""
    data, filters, table = inputs[0].shape, inputs[2].shape, inputs[index].shape
    if table is None:
        return
    groups = attrs.deformable_group
    if filters is not None:
        wanted = times(times(filters[2], filters[3]), Dim.of(per_position * groups))
        if table[1].meet(wanted) is None:
            yield Violation(name, f"has {table[1]} channels where filters and deformable_group mean {wanted}")
    if not divisible(table[1], groups):
        yield Violation(name, f"has {table[1]} channels, which is no multiple of deformable_group {groups}")
    if data is not None and data[0].meet(table[0]) is None:
        yield Violation(name, f"has a batch of {table[0]} where the data has {data[0]}")


def deformable_groups(attrs: Attrs, data: Shape, filters: Shape) -> Iterator[Violation]:
    """Channels that do not divide into the groups."""
    group = attrs.group
    for name, dim in (("data", data and data[1]), ("filters", filters and filters[0])):
        if dim and not divisible(dim, group):
            yield Violation(name, f"has {dim} channels, which is no multiple of group {group}")
            return
    if data is not None and filters is not None:
        read = times(filters[1], Dim.of(group))
        if data[1].meet(read) is None:
            yield Violation("filters", f"reads {read} channels in {group} groups where the data has {data[1]}")


def deformable_faults(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """What leaves a deformable convolution without an output shape."""
    names = ("data", "offsets", "filters", "mask")
    broken = [
        Violation(name, f"is [{format_shape(fact.shape)}] where rank 4 is meant")
        for name, fact in zip(names, inputs, strict=False)
        if fact.shape is not None and len(fact.shape) != 4
    ]
    data, filters = inputs[0].shape, inputs[2].shape
    broken = broken or list(broken_lists(attrs, 2))
    if not broken:
        broken = [*deformable_groups(attrs, data, filters), *broken_tables(attrs, inputs, "offsets", 1, 2)]
        broken += broken_tables(attrs, inputs, "mask", 3, 1) if len(inputs) > 3 else ()
    if not broken and attrs.auto_pad in {"explicit", "valid"}:
        broken = list(unfit(windows_of(attrs, 2), data, filters, FORWARD))
    if not broken:
        spatial = deformable_spatial(attrs, inputs)
        for name, fact in zip(names[1::2], inputs[1::2], strict=False):
            if fact.shape and any(a.meet(b) is None for a, b in zip(fact.shape[2:], spatial, strict=True)):
                text = f"is [{format_shape(fact.shape)}] where the output has {listed(spatial)} positions"
                broken.append(Violation(name, text))
    yield from broken


def deformable_spatial(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Dim, ...]:
    """The numbers of windows."""
    windows = windows_of(attrs, 2)
    data, filters = ((Dim(),) * 4 if inputs[index].shape is None else inputs[index].shape for index in (0, 2))
    assert data is not None
    assert filters is not None
    return tuple(forward_dim(attrs.auto_pad, windows, axis, data[axis + 2], filters[axis + 2]) for axis in range(2))


def deformable_check(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Ranks, groups, tables of offsets that fit; what runs but is hardly meant."""
    broken = list(deformable_faults(attrs, inputs))
    if not broken:
        broken = list(immense(deformable_shape(attrs, inputs)[0].shape, "pads_begin"))
    yield from broken or suspect_windows(attrs, inputs[0].shape, inputs[2].shape, FORWARD)


def deformable_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """`[N, C, H, W]` to `[N, filters, windows...]`; the batch as data and offsets agree on it."""
    dtype = same_type(inputs)
    refuse(deformable_faults(attrs, inputs))
    data, offsets, filters = (fact.shape for fact in inputs[:3])
    if data is None and offsets is None and filters is None:
        return (Fact(dtype, None),)
    batch = Dim() if data is None else data[0]
    if offsets is not None:
        batch = batch.meet(offsets[0]) or batch
    out = Dim() if filters is None else filters[0]
    return (Fact(dtype, (batch, out, *deformable_spatial(attrs, inputs))),)


# --- the operations ---------------------------------------------------------------------------------------------

AUTO_PAD = OneOf(words=("explicit", "same_upper", "same_lower", "valid"), default="explicit")

WINDOWS: dict[str, Field] = {
    "strides": Ints(missing=(), least=1),
    "pads_begin": Ints(missing=()),
    "pads_end": Ints(missing=()),
    "dilations": Ints(missing=(), least=1),
    "auto_pad": AUTO_PAD,
}
NUMBERS = {"T": "float integer"}
SAME = (Input("data", type="T"), Input("filters", type="T"))


def _forward(type: str, layout: Layout) -> Op:
    rules = Forward(layout)
    return Op(type=type, version=1, inputs=SAME, attrs=WINDOWS, types=NUMBERS, check=rules.check, shape=rules.shape)


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
    )


BINARY = Forward(FORWARD, ranks=(4,))

DEFORMABLE_1 = Op(
    type="DeformableConvolution",
    version=1,
    inputs=(Input("data", type="T"), Input("offsets", type="T"), Input("filters", type="T")),
    attrs={**WINDOWS, "group": Int(default=1, least=1), "deformable_group": Int(default=1, least=1)},
    types=NUMBERS,
    check=deformable_check,
    shape=deformable_shape,
)

OPS = (
    _forward("Convolution", FORWARD),
    _forward("GroupConvolution", FORWARD_GROUPS),
    _backward("ConvolutionBackpropData", BACKWARD),
    _backward("GroupConvolutionBackpropData", BACKWARD_GROUPS),
    Op(
        type="BinaryConvolution",
        version=1,
        inputs=(Input("data", type="float integer"), Input("filters")),
        attrs={
            **WINDOWS,
            "mode": OneOf(words=("xnor-popcount",), missing="xnor-popcount"),
            "pad_value": Float(missing=0.0),
        },
        check=BINARY.check,
        shape=BINARY.binary_shape,
    ),
    DEFORMABLE_1,
    DEFORMABLE_1.at(
        8,
        inputs=(*DEFORMABLE_1.inputs, Input("mask", optional=True, type="T")),
        attrs={"bilinear_interpolation_pad": Flag(default=False)},
    ),
)
