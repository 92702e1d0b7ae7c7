"""What convolutions share: how filters are laid out, checks of lists, ranks and channels, the number of windows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ir_tools.display import either, plural
from ir_tools.ops._requirements import raise_first
from ir_tools.ops._values import ceil_div, floor_div, minus, shifted, times
from ir_tools.ops.definition import Violation, ViolationKind
from ir_tools.ops.fields import Attrs, listed
from ir_tools.ops.limits import check_kernel_size
from ir_tools.types import Dim, Shape, shape_text

__all__ = [
    "BACKWARD",
    "BACKWARD_GROUPS",
    "FORWARD",
    "FORWARD_GROUPS",
    "Layout",
    "Windows",
    "axes_of",
    "channels_out",
    "check_channels",
    "check_lists",
    "check_ranks",
    "forward_dim",
    "forward_shape",
    "forward_violations",
    "reach",
    "suspect_windows",
    "unfit",
    "windows_of",
]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a filter keeps its channels; the spatial sizes follow.

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
    """Return the number of spatial axes: of the data, the filters, the output sizes, the lists.

    None if it is unknown.
    """
    if data is not None:
        return len(data) - 2
    if filters is not None:
        return len(filters) - layout.leading
    lengths = (len(attrs[name]) for name in LISTS[:-1] if attrs[name])
    return next(lengths, None) if sizes is None else sizes


def windows_of(attrs: Attrs, axes: int) -> Windows:
    """Return the lists with their defaults; `auto_pad` other than `explicit` knows no pads of its own."""
    explicit = attrs.auto_pad == "explicit"
    return Windows(
        strides=attrs.strides or (1,) * axes,
        dilations=attrs.dilations or (1,) * axes,
        begin=(attrs.pads_begin if explicit else ()) or (0,) * axes,
        end=(attrs.pads_end if explicit else ()) or (0,) * axes,
        more=attrs.get("output_padding") or (0,) * axes,
    )


def reach(size: Dim, dilation: int) -> Dim:
    """Return how far a filter of `size` extends: `(size - 1) * dilation + 1`."""
    return shifted(times(shifted(size, -1), Dim.of(dilation)), 1)


# --- checks -----------------------------------------------------------------------------------------------------


def check_lists(attrs: Attrs, axes: int) -> Iterator[Violation]:
    """Check for lists that are not as long as there are spatial axes.

    Negative pads, which the CPU plugin cannot run.
    """
    for name in LISTS:
        values = attrs.get(name, ())
        if values and len(values) != axes:
            yield Violation(
                name,
                f"has {plural(len(values), 'value')}; expected {axes}, one per spatial axis",
                f"give {name} {axes} values",
            )
    if attrs.auto_pad == "explicit":
        for name in ("pads_begin", "pads_end"):
            if any(value < 0 for value in attrs[name]):
                yield Violation(name, f"is {listed(attrs[name])}; expected values of at least 0")


def check_ranks(data: Shape, filters: Shape, layout: Layout, ranks: Sequence[int] = (3, 4, 5)) -> Iterator[Violation]:
    """Check for data that is not `[N, C, spatial...]`, or filters with another number of spatial axes."""
    if data is not None and len(data) not in ranks:
        allowed = either(ranks)
        yield Violation("data", f"is {shape_text(data)}; expected rank {allowed}")
    elif filters is not None and len(filters) <= layout.leading:
        yield Violation("filters", f"is {shape_text(filters)}, which has no spatial dimension")
    elif data is not None and filters is not None and len(filters) - layout.leading != len(data) - 2:
        yield Violation(
            "filters",
            f"is {shape_text(filters)} with {len(filters) - layout.leading} spatial axes, but the data"
            f" {shape_text(data)} has {len(data) - 2}",
        )


def check_channels(data: Shape, filters: Shape, layout: Layout) -> Iterator[Violation]:
    """Check for filters made for another number of channels than the data has."""
    if data is None or filters is None:
        return
    channels, into = data[1], filters[layout.into]
    if not layout.groups:
        if channels.meet(into) is None:
            yield Violation("filters", f"reads {into} channels, but the data has {channels}")
    elif into.static and groups_of(data, filters, layout) is None:
        yield Violation(
            "filters", f"reads {into} channels in each of {filters[0]} groups, but the data has {channels} channels"
        )


def groups_of(data: Shape, filters: Shape, layout: Layout) -> Dim | None:
    """Return the number of groups that data and filters agree on; None where they do not."""
    assert filters is not None
    groups, into = filters[0], filters[layout.into]
    if data is None or not into.static:
        return groups
    if into.size == 0:
        return None
    lo, hi = -(-data[1].lo // into.size), None if data[1].hi is None else data[1].hi // into.size
    return None if hi is not None and hi < lo else groups.meet(Dim(lo, hi))


def unfit(windows: Windows, data: Shape, filters: Shape, layout: Layout) -> Iterator[Violation]:
    """Check for a filter that is larger than the padded data, on a static axis."""
    if data is None or filters is None:
        return
    for axis, (size, filter) in enumerate(zip(data[2:], filters[layout.leading :], strict=True)):
        length = shifted(size, windows.begin[axis] + windows.end[axis])
        extent = reach(filter, windows.dilations[axis])
        if length.static and extent.static and extent.size > length.size:
            yield Violation(
                "filters",
                f"spans {extent} elements, but axis {axis + 2} of the data has {length} including padding",
            )


def forward_violations(
    attrs: Attrs, data: Shape, filters: Shape, layout: Layout, ranks: Sequence[int] = (3, 4, 5)
) -> Iterator[Violation]:
    """Check for what leaves a convolution without an output shape."""
    broken = [*check_ranks(data, filters, layout, ranks)]
    axes = axes_of(attrs, data, filters, layout)
    if not broken and axes is not None:
        broken = [*check_lists(attrs, axes)] or [*check_channels(data, filters, layout)]
        if not broken and attrs.auto_pad in {"explicit", "valid"}:
            broken = [*unfit(windows_of(attrs, axes), data, filters, layout)]
    yield from broken


def suspect_windows(attrs: Attrs, data: Shape, filters: Shape, layout: Layout) -> Iterator[Violation]:
    """Yield what runs but is hardly intended: filters and strides beyond the data, pads that hold whole windows."""
    if attrs.auto_pad != "explicit":
        yield from ignored_pads(attrs, data, filters, layout)
        return
    sizes = (filters or ())[layout.leading :]
    if not layout.backward:
        yield from check_kernel_size("filters", [size.lo for size in sizes], data)
    for axis, filter in enumerate(sizes):
        windows = windows_of(attrs, len(filters or ()) - layout.leading)
        extent = reach(filter, windows.dilations[axis])
        for name, pads in (("pads_begin", windows.begin), ("pads_end", windows.end)):
            if extent.static and pads[axis] >= extent.size and not layout.backward:
                message = f"is {pads[axis]}, but the filter spans {extent} elements: some windows contain only padding"
                yield Violation(name, message, None, ViolationKind.SUSPECT)
        size = shifted(data[axis + 2], windows.begin[axis] + windows.end[axis]) if data is not None else Dim()
        if not layout.backward and size.hi is not None and windows.strides[axis] > max(size.hi, extent.hi or 0, 8):
            message = (
                f"is {windows.strides[axis]}, but axis {axis + 2} has {size} elements: the layer reads only the "
                "first one"
            )
            yield Violation("strides", message, None, ViolationKind.SUSPECT)


def ignored_pads(attrs: Attrs, data: Shape, filters: Shape, layout: Layout) -> Iterator[Violation]:
    """Check for pads beside an `auto_pad` that says something else; tools write those that it comes to."""
    given = (*attrs.pads_begin, *attrs.pads_end)
    if not any(given):
        return
    if attrs.auto_pad != "valid":
        used = None if layout.backward else same_pads(attrs, data, filters, layout)
        zeros = (0,) * (0 if used is None else len(used))
        if used is None or [*zip(attrs.pads_begin or zeros, attrs.pads_end or zeros, strict=True)] == used:
            return
    message = f'is "{attrs.auto_pad}", so pads_begin and pads_end ({listed(given)}) are ignored'
    yield Violation("auto_pad", message, "set auto_pad to explicit, or the pads to zeros", ViolationKind.IGNORED)


def same_pads(attrs: Attrs, data: Shape, filters: Shape, layout: Layout) -> list[tuple[int, int]] | None:
    """Return what `same_*` pads at the beginning and the end of each axis; None where sizes are not known."""
    if data is None or filters is None:
        return None
    windows, used = windows_of(attrs, len(data) - 2), []
    for axis, (size, filter) in enumerate(zip(data[2:], filters[layout.leading :], strict=True)):
        extent, stride = reach(filter, windows.dilations[axis]), windows.strides[axis]
        if not size.static or not extent.static:
            return None
        total = max((-(-size.size // stride) - 1) * stride + extent.size - size.size, 0)
        small, large = total // 2, total - total // 2
        used.append((small, large) if attrs.auto_pad == "same_upper" else (large, small))
    return used


# --- forward ----------------------------------------------------------------------------------------------------


def forward_shape(attrs: Attrs, data: Shape, filters: Shape, layout: Layout, ranks: Sequence[int] = (3, 4, 5)) -> Shape:
    """Map `[N, C, spatial...]` to `[N, filters, windows...]`, intervals as the runtime bounds them.

    Raises:
        ShapeError: data, filters and attributes contradict each other.
    """
    raise_first(forward_violations(attrs, data, filters, layout, ranks))
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
    """Return the number of output channels."""
    if filters is None:
        return Dim()
    groups = groups_of(data, filters, layout) if layout.groups else Dim.of(1)
    assert groups is not None
    return times(groups, filters[layout.out])


def forward_dim(auto_pad: str, windows: Windows, axis: int, size: Dim, filter: Dim) -> Dim:
    """Return the number of windows on one axis; `same_*` gives one for every stride."""
    if auto_pad.startswith("same"):
        return ceil_div(size, windows.strides[axis])
    room = minus(shifted(size, windows.begin[axis] + windows.end[axis]), reach(filter, windows.dilations[axis]))
    return shifted(floor_div(room, windows.strides[axis]), 1)
