"""Rewrite resizing, colours and windows (deformable and other) to other versions or layers."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ir_tools.ops._layers import DATA, F32, I64, Layers, by_formula, composed
from ir_tools.ops._values import normal_axis
from ir_tools.ops._versions import VersionStep, as_it_is
from ir_tools.ops.convolution_shapes import Layout, reach, windows_of
from ir_tools.ops.definition import Array, Fact, Kernel, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs, listed
from ir_tools.ops.limits import MAX_MATRIX
from ir_tools.types import is_static

__all__ = [
    "migrate_color",
    "migrate_deformable_8",
    "migrate_interpolate",
    "resized_last",
    "sizes_in_i64",
    "with_more_windows",
    "with_strides_first",
]


# --- Interpolate ------------------------------------------------------------------------------------------------

UNRESIZED = 2
"""The first axes, batch and channels, which old releases do not resize."""
MODERN = (
    "mode",
    "shape_calculation_mode",
    "coordinate_transformation_mode",
    "nearest_mode",
    "antialias",
    "pads_begin",
    "pads_end",
    "cube_coeff",
)


def migrate_interpolate(version: int, kernel: Kernel) -> Step:
    """Rewrite Interpolate between versions: 11 takes sizes or scales in one input, 4 both, 1 sizes and fewer modes.

    `kernel`: of the version; what it makes of each element is the matrix of a mode that an older version has not.
    """

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        if version == 1:
            return _from_1(layers, attrs, wanted)
        by_scales = attrs.shape_calculation_mode == "scales"
        target = _amount(attrs, version)
        given = layers.inputs[3 if version == 4 else 2 :]
        axes = [Ref(None, len(layers.inputs) - 1)] if given else []
        found: Rewrite | Refused | None = None
        if attrs.mode.endswith("pillow"):
            found = Refused(f"Interpolate-{wanted} has no mode {attrs.mode}", "mode")
        elif wanted == 1:
            found = _to_1(layers, attrs, given)
        if isinstance(found, Refused):
            return _as_matrices(Layers(layers.inputs, layers.target), attrs, version, kernel, given) or found
        if found:
            return found
        inputs: list[Ref | Array] = [target]
        if wanted == 4:
            shape = layers.fact(target).shape
            count = shape[0].lo if shape and shape[0].static else 1
            other = np.ones(count, np.int64 if by_scales else np.float32)
            inputs = [other, target] if by_scales else [target, other]
        _interpolate(layers, wanted, (DATA, *inputs, *axes), {name: attrs[name] for name in MODERN})
        return layers.rewrite("same attributes", "the layer reads only the input that shape_calculation_mode selects")

    return VersionStep("Interpolate", version, change)


def _amount(attrs: Attrs, version: int) -> Ref:
    """Return the input with the sizes or scales."""
    return Ref(None, 2 if version == 4 and attrs.shape_calculation_mode == "scales" else 1)


def _as_matrices(layers: Layers, attrs: Attrs, version: int, kernel: Kernel, given: Sequence[Fact]) -> Rewrite | None:
    """Return what `_by_matrices` makes of an Interpolate-4 or -11."""
    if version == 1:
        return None
    plain = Attrs({**attrs, "pads_begin": (), "pads_end": ()})

    def resized(data: Array, amount: Array, axis: Array) -> Array:
        amounts = [amount] * (2 if version == 4 else 1)
        return kernel(plain, [data, *amounts, axis])[0]

    pads = [(*attrs[name],) for name in ("pads_begin", "pads_end")]
    return _by_matrices(layers, resized, _amount(attrs, version).output, given, pads)


def _interpolate(layers: Layers, version: int, inputs: Sequence[Ref | Array], attributes: Mapping[str, object]) -> None:
    """Add an Interpolate; empty lists among the attributes are not written."""
    written = {name: value for name, value in attributes.items() if value != ()}
    layers.call("Interpolate", *inputs, version=version, label="", **written)


def _from_1(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused:
    """Return the layer that the runtime itself makes of Interpolate-1."""
    if attrs.mode == "area":
        return Refused("the runtime does not implement mode area", "mode")
    found = _as_4(attrs, attrs.axes, layers.rank(DATA))
    sizes: list[Ref | Array] = [Ref(None, 1)]
    if wanted == 4:
        sizes.append(np.ones(len(attrs.axes), np.float32))
    _interpolate(layers, wanted, (DATA, *sizes, np.array(attrs.axes, np.int64)), found)
    return layers.rewrite(
        "settings written out", f"Interpolate-{wanted} computes the same with the settings that version 1 implies"
    )


def _as_4(attrs: Attrs, axes: Sequence[int], rank: int) -> dict[str, object]:
    """Return the attributes of Interpolate-4 that mean the same as those of version 1."""
    padded = any(attrs.pads_begin + attrs.pads_end)
    image = rank == 4 and set(axes) == {2, 3}
    coordinates = "align_corners" if attrs.align_corners else "asymmetric"
    if not attrs.align_corners and attrs.mode == "linear" and not image and not padded:
        coordinates = "half_pixel"
    return {
        "mode": "linear_onnx" if attrs.mode == "linear" and rank < 5 else attrs.mode,
        "shape_calculation_mode": "sizes",
        "coordinate_transformation_mode": coordinates,
        "nearest_mode": "simple",
        "antialias": attrs.antialias,
        "pads_begin": attrs.pads_begin,
        "pads_end": attrs.pads_end,
        "cube_coeff": -0.75,
    }


def _to_1(layers: Layers, attrs: Attrs, given: Sequence[Fact]) -> Rewrite | Refused:
    """Return the settings of Interpolate-1 that mean the same, if there are any."""
    rank = layers.rank(DATA)
    axes = given[0].integers() if given else list(range(rank))
    if axes is None:
        return Refused("Interpolate-1 takes its axes as an attribute, and they are not known")
    axes = [normal_axis(axis, rank) for axis in axes]
    if attrs.shape_calculation_mode == "scales":
        return Refused("Interpolate-1 accepts output sizes only, not scales", "shape_calculation_mode")
    read = {name: attrs[name] for name in MODERN}
    mode = "linear" if attrs.mode == "linear_onnx" else attrs.mode
    for align in (True, False):
        old = {"axes": tuple(axes), "mode": mode, "align_corners": align, "antialias": attrs.antialias}
        old |= {name: attrs[name] for name in ("pads_begin", "pads_end")}
        meant = _as_4(Attrs(old), axes, rank)
        unread = {"nearest_mode"} if mode != "nearest" else set()
        unread |= {"cube_coeff"} if mode != "cubic" else set()
        if all(read[name] == value for name, value in meant.items() if name not in unread):
            _interpolate(layers, 1, (DATA, Ref(None, 1)), old)
            return layers.rewrite("fewer settings", "Interpolate-1 implies the others")
    return Refused(
        f"Interpolate-1 has no {attrs.mode} with {attrs.coordinate_transformation_mode}",
        "coordinate_transformation_mode",
    )


def _resized_axes(layers: Layers, attrs: Attrs, version: int) -> list[int] | None:
    """Return the axes that an Interpolate-1 or -4 resizes, if they are known."""
    rank, given = layers.rank(DATA), layers.inputs[3 if version == 4 else 2 :]
    axes = attrs.axes if version == 1 else given[0].integers() if given else range(rank)
    return None if axes is None else [normal_axis(axis, rank) for axis in axes]


def sizes_in_i64(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite Interpolate-4 with sizes and axes in i64: of constants, 2021 reads them as such, whatever their type."""
    layers = Layers(inputs, target)
    axes = _resized_axes(layers, attrs, 4)
    if axes is None:
        return Refused("its axes are not known")
    if not _are_last(axes, layers.rank(DATA)) or all(fact.dtype.name != "i32" for fact in inputs[1:]):
        return Refused("its sizes and axes are not of i32, or its axes are not the last ones")
    sizes, written = layers.to_type(Ref(None, 1), I64), {name: attrs[name] for name in MODERN}
    layers.call("Interpolate", DATA, sizes, Ref(None, 2), np.array(axes), version=4, **written)
    return layers.rewrite("sizes and axes in i64", "the same values")


def _are_last(axes: Sequence[int], rank: int) -> bool:
    """Return whether axes are the last ones, in order."""
    return [*axes] == [*range(rank - len(axes), rank)]


def resized_last(version: int, kernel: Kernel) -> Step:
    """Rewrite a resizing of batch or channels, which releases do not compile: axis by axis, or with those axes last."""

    def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
        layers = Layers(inputs, target)
        rank, axes = layers.rank(DATA), _resized_axes(layers, attrs, version)
        if axes is None:
            return Refused("its axes are not known")
        kept = [axis for axis in range(rank) if axis not in axes]
        order = [*kept, *axes]
        if len(kept) < UNRESIZED or _are_last(axes, rank):
            found = _as_matrices(layers, attrs, version, kernel, inputs[3 if version == 4 else 2 :])
            return found or Refused("it resizes other axes than batch and channels, or its sizes are not known")
        if attrs.mode != "nearest" and not inputs[0].dtype.is_float:
            return Refused("integers would be rounded after sums in another order", "mode")
        settings = _as_4(attrs, axes, rank) if version == 1 else {name: attrs[name] for name in MODERN}
        for name in ("pads_begin", "pads_end"):
            pads = [*attrs[name], *[0] * rank][:rank]
            settings[name] = tuple(pads[axis] for axis in order)
        amounts: list[Ref | Array] = [*layers.given[1 : 3 if version == 4 else 2]]
        if version == 1:
            amounts.append(np.ones(len(axes), np.float32))
        moved = layers.call("Transpose", DATA, np.array(order))
        resized = layers.call(
            "Interpolate", moved, *amounts, np.arange(len(kept), rank), version=max(version, 4), **settings
        )
        layers.call("Transpose", resized, np.argsort(order))
        return layers.rewrite("resized axes last", "the same elements, resized along the same axes")

    return step


Resize = Callable[[Array, Array, Array], Array]
"""`(data, size or scale, axis) -> ` the data resized along one axis."""


def _by_matrices(
    layers: Layers, resize: Resize, target: int, given: Sequence[Fact], pads: Sequence[tuple[int, ...]]
) -> Rewrite | None:
    """Return a Gather, or a product with a matrix, along each axis; None if sizes are not known, or integers rounded.

    None also if an axis is named twice, or there are not as many sizes as axes. `target`: number of the input with the
    sizes or scales; `given`: the axes, if there are any.
    """
    shape, amounts = layers.inputs[0].shape, layers.inputs[target].value
    rank = 0 if shape is None else len(shape)
    axes = given[0].integers() if given else list(range(rank))
    exact = None if amounts is None else amounts.exact
    if rank < 2 or axes is None or exact is None:
        return None
    axes = [normal_axis(axis, rank) for axis in axes]
    if len({*axes}) < len(axes) or exact.size != len(axes):
        return None
    around = [np.array([*each, *[0] * rank][:rank]) for each in pads]
    data = layers.pad(DATA, *around) if np.any(around) else DATA
    dtype = layers.fact(data).dtype
    work = dtype if dtype.name == "f64" else F32
    assert work.dtype is not None
    for axis, amount in sorted(zip(axes, exact.ravel(), strict=True), reverse=True):
        size = layers.size(data, axis)
        if isinstance(size, Ref):
            return None
        matrix = _matrix(resize, np.eye(int(size), dtype=work.dtype), rank, axis, np.array([amount]))
        if matrix.size > MAX_MATRIX:
            return None
        if np.isin(matrix, (0, 1)).all() and (matrix.sum(0) == 1).all():
            data = layers.call("Gather", data, matrix.argmax(0), np.array(axis))
            continue
        if not dtype.is_float:
            return None
        order = [*(one for one in range(rank) if one != axis), axis]
        row = layers.call("Transpose", layers.to_type(data, work), np.array(order))
        product = layers.call("MatMul", row, matrix.astype(work.dtype))
        data = layers.call("Transpose", product, np.argsort(order))
    if layers.made:
        layers.to_type(data, dtype)
    else:
        layers.copy(data)
    return layers.rewrite("each axis resized separately", "for finite numbers, the same weights of the same elements")


def _matrix(resize: Resize, unit: Array, rank: int, axis: int, amount: Array) -> Array:
    """Return how much of each element along an axis is in each new one, `[before, after]`; `unit`: a unit matrix."""
    other, size = 1 if axis == 0 else 0, len(unit)
    shape = [size if one in {axis, other} else 1 for one in range(rank)]
    found = resize(unit.reshape(shape), amount, np.array([axis]))
    return np.moveaxis(found, (other, axis), (0, 1)).reshape(size, -1)


# --- colours ----------------------------------------------------------------------------------------------------


def migrate_color(planes: int, *, reverse: bool) -> Step:
    """Rewrite NV12toRGB and the like as arithmetic by BT.601.

    `planes`: of the chroma: 1 if both are interleaved, as in NV12; `reverse`: blue comes first.
    """

    @composed(8, "BT.601, with red = 1.164 (Y - 16) + 1.596 (V - 128) and so on, clamped to 0 and 255")
    def step(layers: Layers, attrs: Attrs) -> Ref | Refused:
        sizes = layers.inputs[0].shape
        if not is_static(sizes):
            return Refused(f"opset{layers.target} has no conversion of colours, and the image's size is not known")
        batch, height, width = (dim.lo for dim in sizes[:3])
        dtype = layers.inputs[0].dtype
        work = dtype if dtype.is_float else F32
        if len(layers.inputs) == 1:
            height = height * 2 // 3
            luma = _rows(layers, layers.to_type(DATA, work), 0, height)
            rest = _rows(layers, layers.to_type(DATA, work), height, height // 2)
            half = (batch, height // 2, width // 2, 2) if planes == 1 else (batch, 2, height // 2, width // 2)
            pairs = layers.call("Reshape", rest, np.array(half), special_zero=False)
            axis = 3 if planes == 1 else 1
            chroma = [layers.gather(pairs, number, axis) for number in range(2)]
        else:
            luma = layers.to_type(DATA, work)
            given = [layers.to_type(Ref(None, number), work) for number in range(1, len(layers.inputs))]
            chroma = [layers.gather(given[0], number, 3) for number in range(2)] if planes == 1 else given
        blue, red = (_enlarged(layers, plane, (batch, height, width)) for plane in chroma)
        colors = _colors(layers, luma, blue, red)
        out = layers.call("Concat", *(colors[::-1] if reverse else colors), axis=3)
        out = layers.call("Clamp", out, min=0.0, max=255.0)
        if work == dtype:
            return out
        return layers.to_type(layers.call("Round", out, mode="half_to_even"), dtype)

    return step


def _rows(layers: Layers, data: Ref, first: int, count: int) -> Ref:
    bounds = (np.array([0, first]), np.array([0, first + count]), np.array([1, 1]))
    return layers.call("StridedSlice", data, *bounds, begin_mask=(1, 0), end_mask=(1, 0))


def _enlarged(layers: Layers, plane: Ref, sizes: Sequence[int]) -> Ref:
    """Add `[N, H, W, 1]` of half the sizes, each element four times, less 128."""
    batch, height, width = sizes
    apart = np.array([batch, height // 2, 1, width // 2, 1])
    spread = layers.call("Reshape", plane, apart, special_zero=False)
    tiled = layers.call("Tile", spread, np.array([1, 1, 2, 1, 2]))
    whole = layers.call("Reshape", tiled, np.array([batch, height, width, 1]), special_zero=False)
    return layers.call("Subtract", whole, 128)


def _colors(layers: Layers, luma: Ref, blue: Ref, red: Ref) -> list[Ref]:
    def times(data: Ref, factor: float) -> Ref:
        return layers.call("Multiply", data, factor)

    light = times(layers.call("Subtract", luma, 16), 1.164)
    green = layers.call("Subtract", light, times(blue, 0.391))
    return [
        layers.call("Add", light, times(red, 1.596)),
        layers.call("Subtract", green, times(red, 0.813)),
        layers.call("Add", light, times(blue, 2.018)),
    ]


# --- deformable convolution -------------------------------------------------------------------------------------


def _deformable(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    padded, masked = attrs.bilinear_interpolation_pad, len(layers.inputs) > 3
    if not padded and not masked:
        return as_it_is(layers, "DeformableConvolution", wanted, attrs)
    if padded and (attrs.auto_pad != "explicit" or not all((*attrs.pads_begin, *attrs.pads_end))):
        missing = f"DeformableConvolution-{wanted} reads zeros only within its pads, not beyond them"
        return Refused(missing, "bilinear_interpolation_pad")
    data, settings = DATA, {name: attrs[name] for name in WINDOW}
    if padded:
        edge = np.array([0, 0, 1, 1])
        data = layers.pad(DATA, edge, edge)
        settings |= {name: tuple(pad - 1 for pad in attrs[name]) for name in ("pads_begin", "pads_end")}
    if masked:
        return _masked(layers, data, Attrs(settings), wanted)
    layers.call("DeformableConvolution", data, *layers.given[1:], version=wanted, label="", **settings)
    return layers.rewrite("zeros around the data", "positions beyond the edge read these zeros")


WINDOW = ("strides", "pads_begin", "pads_end", "dilations", "auto_pad", "group", "deformable_group")


def _masked(layers: Layers, data: Ref, window: Attrs, wanted: int) -> Rewrite | Refused:
    """Return a convolution with one filter per position of the window and each table of offsets, times the mask."""
    dims, tables = layers.inputs[2].shape, window.deformable_group
    if not is_static(dims):
        return Refused("it has a mask, and the size of the filters is not known")
    if tables > 1 and window.group > 1:
        return Refused("it has a mask, and both group and deformable_group are above 1", "deformable_group")
    made, channels, *kernel = (dim.size for dim in dims)
    places = int(np.prod(kernel))
    ones = np.eye(places).reshape(1, 1, places, 1, *kernel)
    own = np.repeat(np.eye(tables), channels // tables, axis=1).reshape(1, tables, 1, channels, 1, 1)
    single = (own * ones).reshape(1, tables * places, channels, *kernel).astype(layers.dtype(DATA))
    spread = layers.call("Multiply", layers.call("Unsqueeze", Ref(None, 2), np.array(1)), single)
    filters = layers.reshape(spread, np.array([-1, channels, *kernel]))
    found = layers.call("DeformableConvolution", data, Ref(None, 1), filters, version=wanted, **window)
    parts = layers.reshape(found, np.array([0, made, tables * places, -1]))
    mask = layers.reshape(Ref(None, 3), np.array([0, 1, tables * places, -1]))
    total = layers.call("ReduceSum", layers.call("Multiply", parts, mask), np.array(2))
    sizes = [layers.reshape(layers.size(Ref(None, 3), axis), np.array([1])) for axis in (2, 3)]
    layers.reshape(total, layers.call("Concat", np.array([0, made]), *sizes, axis=0))
    proof = "one convolution per position of the window, multiplied by its mask; the products are added"
    return layers.rewrite("one filter per position of the window", proof)


migrate_deformable_8 = VersionStep("DeformableConvolution", 8, _deformable)


def with_more_windows(type: str, layout: Layout, *, always: bool = False) -> Step:
    """Return what lets a convolution of data that may be shorter than its filter compute windows that are cut off.

    `always`: also if the data is longer: releases do not compile what follows with the convolution then.
    """

    @by_formula("one more window at the end of the axis, cut off from the output")
    def convolved(layers: Layers, attrs: Attrs) -> Ref | Refused:
        data, filters = (fact.shape for fact in layers.inputs)
        if data is None or filters is None or attrs.auto_pad not in {"explicit", "valid"}:
            return Refused("the ranks of the inputs or the padding are not known")
        windows = windows_of(attrs, len(data) - 2)
        extents = map(reach, filters[layout.leading :], windows.dilations)
        kept = zip(data[2:], extents, windows.begin, windows.end, windows.strides, strict=True)
        more = [max(0, -((size.lo + begin + end - extent.lo) // stride)) for size, extent, begin, end, stride in kept]
        if not any(more):
            if not always:
                return Refused("the data is at least as long as the filter")
            more[-1] = 1
        ends = [end + count * stride for end, count, stride in zip(windows.end, more, windows.strides, strict=True)]
        found = layers.call(
            type,
            *layers.given,
            strides=listed(windows.strides),
            dilations=listed(windows.dilations),
            pads_begin=listed(windows.begin),
            pads_end=listed(ends),
        )
        bounds = (
            np.zeros(len(data), np.int64),
            np.array([0, 0, *(-count for count in more)]),
            np.ones(len(data), np.int64),
        )
        all_kept = [1] * len(data)
        return layers.call(
            "StridedSlice", found, *bounds, begin_mask=all_kept, end_mask=[1, 1, *(int(count == 0) for count in more)]
        )

    return convolved


@by_formula("windows of one element: those of every stride, taken first")
def with_strides_first(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Convolution-1 with filters of one element: releases move its strides to wrong places."""
    data, filters = (fact.shape for fact in layers.inputs)
    if data is None or filters is None or any(size.lo != 1 or size.hi != 1 for size in filters[2:]):
        return Refused("its filters have several elements")
    windows = windows_of(attrs, len(data) - 2)
    if set(windows.strides) == {1}:
        return Refused("its strides are 1")
    given: Ref = DATA
    if any((*windows.begin, *windows.end)):
        given = layers.pad(DATA, np.array([0, 0, *windows.begin]), np.array([0, 0, *windows.end]))
    all_taken, ends = (1,) * len(data), np.zeros(len(data), np.int64)
    taken = layers.call(
        "StridedSlice", given, ends, ends, np.array([1, 1, *windows.strides]), begin_mask=all_taken, end_mask=all_taken
    )
    none = listed((0,) * len(windows.strides))
    steps = listed((1,) * len(windows.strides))
    return layers.call(
        "Convolution", taken, Ref(None, 1), strides=steps, dilations=steps, pads_begin=none, pads_end=none
    )
