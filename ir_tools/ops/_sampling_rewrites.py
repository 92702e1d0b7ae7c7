"""Express GridSample, ROIAlign and Col2Im by older operations: weighted sums of gathered elements."""

from collections.abc import Sequence
from math import prod

import numpy as np

from ir_tools.ops._layers import F32, I64, Layers, composed
from ir_tools.ops.definition import Array, Ref, Refused
from ir_tools.ops.fields import Attrs
from ir_tools.types import ElementType

__all__ = ["align_regions", "migrate_columns", "migrate_grid_sample"]

DATA, GRID = Ref(None), Ref(None, 1)
CUBIC = -0.75
"""The coefficient of the cubic curves."""

# --- GridSample -------------------------------------------------------------------------------------------------


@composed(9, "the elements around each sampling point, weighted by distance")
def migrate_grid_sample(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite GridSample as Gather of rows of channels, once for each neighbour of a place."""
    mode, dtype = attrs.mode, layers.inputs[0].dtype
    if mode != "nearest" and not dtype.is_float:
        return Refused(f"the element type of its images is {dtype}, which it rounds in its own way", "mode")
    work = dtype if mode == "nearest" or dtype.name == "f64" else F32
    sampler = _Sampler(layers, attrs, work)
    if mode == "nearest":
        y, x = (sampler.whole(layers.call("Round", place)) for place in (sampler.y, sampler.x))
        out = sampler.taken(sampler.inside(y, 2), sampler.inside(x, 3))
    else:
        out = _weighed(sampler, (0, 1) if mode == "bilinear" else (-1, 0, 1, 2))
    return layers.to_type(layers.call("Transpose", out, np.array([0, 3, 1, 2])), dtype)


def _rows(layers: Layers, data: Ref) -> Ref:
    """Add the channels of every place of images, `[images * height * width, channels]`."""
    channels_last = layers.call("Transpose", data, np.array([0, 2, 3, 1]))
    channels = layers.call("Reshape", layers.size(data, 1), np.array([1]), special_zero=False)
    pattern = layers.call("Concat", np.array([-1]), channels, axis=0)
    return layers.call("Reshape", channels_last, pattern, special_zero=False)


class _Coordinate:
    """A whole place along an axis, and whether it lies inside where that matters."""

    def __init__(self, index: Ref, inside: Ref | None) -> None:
        self.index = index
        self.inside = inside


class _Sampler:
    """The images as rows of channels, and the places in them."""

    def __init__(self, layers: Layers, attrs: Attrs, work: ElementType) -> None:
        self.layers = layers
        self.padding, self.align = attrs.padding_mode, attrs.align_corners
        data = layers.to_type(DATA, work)
        self.sizes = {axis: layers.size(DATA, axis) for axis in (0, 2, 3)}
        self.rows = _rows(layers, data)
        area = layers.call("Multiply", self.sizes[2], self.sizes[3])
        starts = layers.call("Multiply", layers.count_to(self.sizes[0]), area)
        self.starts = layers.call("Reshape", starts, np.array([-1, 1, 1]), special_zero=False)
        kind = layers.inputs[1].dtype
        grid = layers.to_type(GRID, kind if kind.name == "f64" else F32)
        self.x, self.y = (self._place(layers.gather(grid, number, 3), 3 - number) for number in range(2))

    def _place(self, values: Ref, axis: int) -> Ref:
        """Map -1 to 1 to positions along an axis."""
        layers = self.layers
        known = self.sizes[axis]
        if isinstance(known, Ref):
            size: Ref | Array = layers.call("Convert", known, destination_type=layers.fact(values).dtype.name)
        else:
            size = known.astype(layers.dtype(values))
        moved = layers.call("Add", values, 1)
        if self.align:
            wide = layers.call("Multiply", moved, layers.call("Subtract", size, 1))
        else:
            wide = layers.call("Subtract", layers.call("Multiply", moved, size), 1)
        return layers.call("Divide", wide, 2)

    def whole(self, place: Ref) -> Ref:
        """Return integral floats as integers."""
        return self.layers.to_type(place, I64)

    def inside(self, place: Ref, axis: int) -> _Coordinate:
        """Return places of the image for any whole places."""
        layers, size, zero, one = self.layers, self.sizes[axis], np.array(0), np.array(1)
        last = layers.call("Subtract", size, one) if isinstance(size, Ref) else np.asarray(size - 1)
        inside = None
        if self.padding == "zeros":
            after, before = layers.call("GreaterEqual", place, zero), layers.call("Less", place, size)
            inside = layers.call("LogicalAnd", after, before)
        elif self.padding == "reflection":
            place = self._reflected(place, size, last)
        clipped = layers.call("Maximum", layers.call("Minimum", place, last), zero)
        return _Coordinate(clipped, inside)

    def _reflected(self, place: Ref, size: Ref | Array, last: Ref | Array) -> Ref:
        """Mirror places at the outermost elements, or at their edges."""
        layers, two = self.layers, np.array(2)
        if self.align:
            period = layers.call("Maximum", layers.call("Multiply", last, two), 1)
            place, mirror = layers.call("Abs", place), period
        else:
            period = layers.call("Multiply", size, two)
            mirror = layers.call("Subtract", period, 1)
        place = layers.call("FloorMod", place, period)
        beyond = layers.call("GreaterEqual", place, size)
        return layers.call("Select", beyond, layers.call("Subtract", mirror, place), place)

    def taken(self, y: _Coordinate, x: _Coordinate) -> Ref:
        """Add the elements at whole places, `[N, H_out, W_out, C]`."""
        layers = self.layers
        row = layers.call("Add", self.starts, layers.call("Multiply", y.index, self.sizes[3]))
        found = layers.call("Gather", self.rows, layers.call("Add", row, x.index), np.array(0))
        if y.inside is None or x.inside is None:
            return found
        inside = layers.call("Unsqueeze", layers.call("LogicalAnd", y.inside, x.inside), np.array(-1))
        return layers.call("Select", inside, found, 0)


def _weighed(sampler: _Sampler, taps: Sequence[int]) -> Ref:
    """Add the sum of the neighbours of each place, times how near they are."""
    layers, total = sampler.layers, None
    lines = []
    for place, axis in ((sampler.y, 2), (sampler.x, 3)):
        low = layers.call("Floor", place)
        part = layers.call("Subtract", place, low)
        weights = _linear(layers, part) if len(taps) == 2 else _cubic(layers, part)
        whole = sampler.whole(low)
        places = [sampler.inside(layers.call("Add", whole, np.array(tap)), axis) for tap in taps]
        lines.append([*zip(places, weights, strict=True)])
    for y, row in lines[0]:
        for x, column in lines[1]:
            found = sampler.taken(y, x)
            weight = layers.call("Unsqueeze", layers.call("Multiply", row, column), np.array(-1))
            term = layers.call("Multiply", found, layers.to_type(weight, layers.fact(found).dtype))
            total = term if total is None else layers.call("Add", total, term)
    assert total is not None
    return total


def _linear(layers: Layers, part: Ref) -> list[Ref]:
    return [layers.call("Subtract", 1, part), part]


def _cubic(layers: Layers, part: Ref) -> list[Ref]:
    def polynomial(each: Ref, factors: Sequence[float]) -> Ref:
        out = layers.call("Multiply", each, factors[0])
        for factor in factors[1:-1]:
            out = layers.call("Multiply", layers.call("Add", out, factor), each)
        return layers.call("Add", out, factors[-1])

    near, far = (CUBIC + 2, -(CUBIC + 3), 0, 1), (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC)
    return [
        polynomial(layers.call("Add", part, 1), far),
        polynomial(part, near),
        polynomial(layers.call("Subtract", 1, part), near),
        polynomial(layers.call("Subtract", 2, part), far),
    ]


# --- ROIAlign ---------------------------------------------------------------------------------------------------

ALIGNED = {"asymmetric": (0.0, 0.0), "half_pixel_for_nn": (0.0, -0.5), "half_pixel": (0.5, -0.5)}
"""What is added to the corners of regions before and after they are scaled."""


@composed(
    9,
    "the mean or maximum of the points in each bin of a region, each interpolated from the elements around it",
    wide=True,
)
def align_regions(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite ROIAlign of a given number of points, as Gather of rows of channels."""
    count, sizes = attrs.sampling_ratio, (attrs.pooled_h, attrs.pooled_w)
    if count < 1 or not all(sizes):
        return Refused("the number of sampling points depends on the size of each region", "sampling_ratio")
    data, rois = layers.working(0), layers.working(1)
    before, after = ALIGNED[attrs.get("aligned_mode", "asymmetric")]
    scaled = layers.call("Multiply", layers.call("Add", rois, before), attrs.spatial_scale)
    corners = layers.call("Add", scaled, after)
    axes = []
    for number, (axis, parts) in enumerate(zip((2, 3), sizes, strict=True)):
        low, high = (layers.gather(corners, [column], 1) for column in (1 - number, 3 - number))
        length = layers.call("Subtract", high, low)
        if attrs.get("aligned_mode", "asymmetric") == "asymmetric":
            length = layers.call("Maximum", length, 1)
        axes.append(_Line(layers, _points(layers, low, length, parts, count), layers.size(data, axis), 4 - axis))
    image = layers.call("Unsqueeze", layers.to_type(Ref(None, 2), I64), np.array([1, 2]))
    area = layers.call("Multiply", layers.size(data, 2), layers.size(data, 3))
    found = _between(layers, _rows(layers, data), layers.call("Multiply", image, area), axes)
    pattern = np.array([0, sizes[0], count, sizes[1], count, -1])
    channels = layers.fact(data).shape
    if channels is not None and channels[1].static:
        pattern = np.array([-1, *pattern[1:-1], channels[1].size])
    parts_of = layers.reshape(found, pattern)
    if attrs.mode == "avg":
        pooled = layers.call("ReduceMean", parts_of, np.array([2, 4]))
    else:
        largest = layers.call("ReduceMax", parts_of, np.array([2, 4]))
        pooled = layers.call("Maximum", largest, 0)
    return layers.call("Transpose", pooled, np.array([0, 3, 1, 2]))


def _points(layers: Layers, low: Ref, length: Ref, parts: int, count: int) -> Ref:
    """Add the places of points along an axis, `[regions, parts * count]`."""
    dtype = layers.dtype(low)
    each = layers.call("Divide", length, parts)
    step = layers.call("Divide", each, count)
    part = np.repeat(np.arange(parts), count)[None].astype(dtype)
    point = np.tile(np.arange(count) + 0.5, parts)[None].astype(dtype)
    start = layers.call("Add", low, layers.call("Multiply", each, part))
    return layers.call("Add", start, layers.call("Multiply", step, point))


class _Line:
    """Points along an axis: whether they lie inside, and the two elements beside each with their shares."""

    def __init__(self, layers: Layers, where: Ref, size: Ref | Array, gap: int) -> None:
        """`gap`: the place of the dimension of the other axis beside this one, as of Unsqueeze."""
        numbers: Ref | Array
        if isinstance(size, Ref):
            numbers = layers.to_type(size, layers.fact(where).dtype)
        else:
            numbers = layers.number(int(size), where)
        last = layers.call("Subtract", numbers, 1)
        after = layers.call("GreaterEqual", where, -1)
        inside = layers.call("LogicalAnd", after, layers.call("LessEqual", where, numbers))
        clipped = layers.call("Maximum", layers.call("Minimum", where, last), 0)
        low = layers.call("Floor", clipped)
        high = layers.call("Minimum", layers.call("Add", low, 1), last)
        share = layers.call("Subtract", clipped, low)
        places = np.array(gap)
        self.size = size
        self.inside = layers.call("Unsqueeze", inside, places)
        shares = layers.call("Subtract", 1, share), share
        self.beside = [
            (layers.call("Unsqueeze", layers.to_type(place, I64), places), layers.call("Unsqueeze", part, places))
            for place, part in zip((low, high), shares, strict=True)
        ]


def _between(layers: Layers, rows: Ref, start: Ref, axes: Sequence[_Line]) -> Ref:
    """Add what lies at points between elements, `[regions, points, points, channels]`."""
    vertical, horizontal = axes
    total = None
    for y, upper in vertical.beside:
        line = layers.call("Add", start, layers.call("Multiply", y, horizontal.size))
        for x, left in horizontal.beside:
            found = layers.call("Gather", rows, layers.call("Add", line, x), np.array(0))
            weight = layers.call("Unsqueeze", layers.call("Multiply", upper, left), np.array(-1))
            term = layers.call("Multiply", found, weight)
            total = term if total is None else layers.call("Add", total, term)
    assert total is not None
    inside = layers.call("LogicalAnd", vertical.inside, horizontal.inside)
    return layers.call("Select", layers.call("Unsqueeze", inside, np.array(-1)), total, 0)


# --- Col2Im -----------------------------------------------------------------------------------------------------


@composed(15, "for finite numbers, a transposed convolution whose filter i has 1 at position i and 0 elsewhere")
def migrate_columns(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Col2Im as ConvolutionBackpropData."""
    data = layers.inputs[0]
    sizes, kernel = layers.inputs[1].integers(), layers.inputs[2].integers()
    missing = f"opset{layers.target} has no Col2Im"
    if sizes is None or kernel is None or data.shape is None or not data.shape[-2].static:
        return Refused(f"{missing}, and its sizes or the number of channels are not known")
    if not data.dtype.is_float:
        return Refused(f"{missing}, and no convolution adds elements of type {data.dtype}")
    lists = zip(attrs.strides, attrs.dilations, attrs.pads_begin, attrs.pads_end, kernel, sizes, strict=True)
    counts, over = [], []
    for stride, dilation, begin, end, extent, size in lists:
        room = size + begin + end - dilation * (extent - 1) - 1
        counts.append(room // stride + 1)
        over.append(room % stride)
    places, channels = prod(kernel), data.shape[-2].lo // prod(kernel)
    stack = layers.call("Reshape", DATA, np.array([-1, places, *counts]), special_zero=False)
    filters = np.eye(places).reshape(places, 1, *kernel).astype(layers.dtype(DATA))
    image = layers.call(
        "ConvolutionBackpropData",
        stack,
        filters,
        strides=attrs.strides,
        dilations=attrs.dilations,
        pads_begin=attrs.pads_begin,
        pads_end=attrs.pads_end,
        output_padding=tuple(over),
    )
    batch = [-1] if len(data.shape) > 2 else []
    return layers.call("Reshape", image, np.array([*batch, channels, *sizes]), special_zero=False)
