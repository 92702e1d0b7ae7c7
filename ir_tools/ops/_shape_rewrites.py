"""Rewrite layers that change shapes and move elements to other versions and older opsets."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ir_tools.ops._layers import DATA, I64, Layers, by_formula, composed, held
from ir_tools.ops._slices import exact_slice
from ir_tools.ops._values import known_axes, normal_axis
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import Array, Fact, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs
from ir_tools.types import Dim, is_static

__all__ = [
    "by_ones",
    "migrate_broadcast",
    "migrate_identity",
    "migrate_pad_12",
    "migrate_roll",
    "migrate_shape_of_3",
    "migrate_slice",
    "migrate_slice_scatter",
    "migrate_squeeze_15",
    "nothing",
    "of_computed_data",
    "one_side_after_the_other",
    "slice_by_own_constants",
    "split_by_own_axis",
    "split_by_slices",
    "with_copied_parts",
    "with_known_axes",
    "with_listed_axis",
    "with_maximum_behind",
    "with_sizes_in_front",
    "without_empty_parts",
    "without_single_elements",
]

FAR = int(np.iinfo(np.int64).max)
"""As the end of a slice: all that there is."""
LARGE = 1 << 30
"""More than any size. Releases that choose between numbers in f32 keep it; they make it negative from 2^31 - 64 on."""

# --- ShapeOf, Identity, Squeeze ---------------------------------------------------------------------------------


def _shape_of(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | None:
    if attrs.output_type == I64:
        return None
    layers.to_type(layers.call("ShapeOf", DATA, version=wanted), attrs.output_type)
    return layers.rewrite(
        "the older version, followed by a Convert", f"ShapeOf-{wanted} returns i64, and the Convert makes it i32"
    )


migrate_shape_of_3 = VersionStep("ShapeOf", 3, _shape_of)


@composed(16, "the layer does not change its input")
def migrate_identity(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite Identity as a Reshape to the same sizes."""
    return layers.reshape(DATA, np.zeros(layers.rank(DATA), np.int64))


@by_formula("the maximum of equal values is the value")
def with_maximum_behind(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Transpose-1 with a layer behind it and an order of its own.

    2021 loses the name of one behind a FakeQuantize, and some releases lose an order that several layers read.
    """
    if not layers.inputs[0].dtype.is_float:
        return Refused("it does not move floats")
    order = layers.inputs[1].integers() if len(layers.inputs) > 1 else None
    found = layers.call("Transpose", DATA, Ref(None, 1) if order is None else np.array(order, np.int64))
    return layers.call("Maximum", found, found)


def with_known_axes(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Squeeze with the axes of size 1 alone: releases need them written, and no others."""
    sizes, axes = inputs[0].shape, inputs[1].integers() if len(inputs) > 1 else None
    if sizes is None or (axes is None and not (len(inputs) == 1 and is_static(sizes))):
        return Refused("the axes of size 1 are not known")
    layers = Layers(inputs, target)
    named = range(len(sizes)) if axes is None else sorted({axis % max(len(sizes), 1) for axis in axes})
    kept = [axis for axis in named if sizes and not (sizes[axis].static and sizes[axis] != Dim.of(1))]
    if axes is not None and len(kept) == len(named):
        return Refused("all of its axes have size 1, or an unknown size")
    if kept:
        layers.call("Squeeze", DATA, np.array(kept, np.int64), version=1)
    elif sizes:
        layers.reshape(DATA, np.zeros(len(sizes), np.int64))
    else:
        layers.copy(DATA)
    return layers.rewrite("axes of size 1", "the layer keeps the other axes")


@by_formula("the only element along a new axis, at the difference of a sum and itself")
def of_computed_data(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite a Reshape of constants, which releases may reshape to computed sizes wrongly, with computed data."""
    shape = layers.as_i64(Ref(None, 1))
    total = layers.call("ReduceSum", shape, np.array([0]), keep_dims=False)
    place = layers.call("Subtract", total, total)
    data = layers.call("Gather", layers.call("Unsqueeze", DATA, np.array([0])), place, np.array(0))
    return layers.call("Reshape", data, Ref(None, 1), special_zero=attrs.special_zero)


def with_listed_axis(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite an Unsqueeze by one number with a list of one, which 2021 needs where it computes constants."""
    layers = Layers(inputs, target)
    axis = inputs[1].integers()
    if axis is None or inputs[1].dims != ():
        return Refused("its axes are a list, or not known")
    layers.call("Unsqueeze", DATA, np.array(axis))
    return layers.rewrite("axis as a list", "the same axis")


def _squeeze(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    if not attrs.allow_axis_skip or len(layers.inputs) < 2:
        return None
    data, axes = layers.inputs
    chosen = None if data.shape is None else known_axes(axes, max(len(data.shape), 1))
    if data.shape is None or chosen is None or not all(data.shape[axis].static for axis in chosen if data.shape):
        return Refused(
            f"Squeeze-{wanted} does not ignore axes, and the axes of size 1 are not known",
            "allow_axis_skip",
        )
    ones = [axis for axis in chosen if data.shape and data.shape[axis] == Dim.of(1)]
    if len(ones) == len(chosen):
        return None
    if not ones:
        layers.reshape(DATA, np.zeros(len(data.shape), np.int64))
    else:
        layers.call("Squeeze", DATA, np.array(ones, np.int64), version=wanted)
    return layers.rewrite("axes of size 1", "the layer keeps the other axes")


migrate_squeeze_15 = VersionStep("Squeeze", 15, _squeeze)

# --- Broadcast --------------------------------------------------------------------------------------------------


def migrate_broadcast(version: int) -> Step:
    """Rewrite Broadcast between versions: modes have other names and inputs; 1 has no mode bidirectional."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        mode = attrs.mode
        mapped = len(layers.inputs) > 2
        if mode == "explicit" and not mapped:
            mode = "numpy"
        if mode == "bidirectional":
            return _bidirectional(layers, wanted)
        inputs: list[Ref | Array] = [DATA, Ref(None, 1)]
        if mode == "explicit":
            inputs.append(Ref(None, 2))
        elif mode == "pdpd" and wanted == 1:
            inputs.append(np.array([0], np.int64))
        layers.call("Broadcast", *inputs, version=wanted, mode=mode, axis=attrs.axis)
        return layers.rewrite("same mode", f"mode {mode} has the same result")

    return VersionStep("Broadcast", version, change)


def by_ones(version: int) -> Step:
    """Return what rewrites Broadcast as a product: 2021.2 takes a shape of sizes for that of the output."""

    def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
        if attrs.mode not in {"numpy", "bidirectional"}:
            return Refused("it does not repeat as elementwise layers do")
        return _bidirectional(Layers(inputs, target), version)

    return step


def _bidirectional(layers: Layers, wanted: int) -> Rewrite | Refused:
    data = layers.inputs[0]
    if data.dtype.kind == "string":
        return Refused("the input holds strings", "mode")
    true = data.dtype.kind == "boolean"
    one = np.array([True]) if true else np.ones(1, layers.dtype(DATA))
    ones = layers.call("Broadcast", one, Ref(None, 1), version=wanted, mode="numpy")
    layers.call("LogicalAnd" if true else "Multiply", DATA, ones)
    return layers.rewrite("a product with ones", "elementwise layers broadcast both inputs, and x * 1 is x")


# --- Pad --------------------------------------------------------------------------------------------------------


def with_sizes_in_front(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Rewrite Tile of data with fewer dimensions than there are repeats, and give others repeats of i64."""
    data, repeats = inputs[0].shape, inputs[1].shape
    if data is None or repeats is None or not repeats[0].static or repeats[0].size <= len(data):
        if inputs[1].dtype == I64:
            return None
        layers = Layers(inputs, target)
        layers.call("Tile", DATA, layers.to_type(Ref(None, 1), I64))
        return layers.rewrite("repeats in i64", "the same values")
    layers = Layers(inputs, target)
    layers.call("Tile", layers.call("Unsqueeze", DATA, np.arange(repeats[0].size - len(data))), Ref(None, 1))
    return layers.rewrite("a Reshape to the number of repeats", "Tile also prepends dimensions of size 1")


def _pad(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    if all(fact.value is not None and (fact.value.lower >= 0).all() for fact in layers.inputs[1:3]):
        return None
    begins, ends = (fact.integers() for fact in layers.inputs[1:3])
    length = layers.inputs[1].shape
    rank = length[0].lo if length and length[0].static else layers.rank(DATA)
    rest = [Ref(None, 3)] if len(layers.inputs) > 3 else []
    cut: tuple[Ref | Array, ...]
    if begins is None or ends is None:
        zero, behind = np.array(0), np.array(LARGE)
        computed = [layers.to_type(Ref(None, index), I64) for index in (1, 2)]
        most: list[Ref | Array] = [layers.call("Maximum", pads, zero) for pads in computed]
        first = layers.call("Maximum", layers.call("Negative", computed[0]), zero)
        cut = first, layers.call("Select", layers.call("Less", computed[1], zero), computed[1], behind)
    else:
        most = [np.maximum(np.array(pads, np.int64), 0) for pads in (begins, ends)]
        cut = np.maximum(-np.array(begins), 0), np.array([end if end < 0 else FAR for end in ends])
    padded, mode = DATA, attrs.pad_mode
    if begins is None or ends is None or max((*begins, *ends)) > 0:
        padded = layers.call("Pad", DATA, *most, *rest, version=wanted, pad_mode=mode)
    steps, all_given = np.ones(rank, np.int64), (0,) * rank
    layers.call("StridedSlice", padded, *cut, steps, begin_mask=all_given, end_mask=all_given)
    return layers.rewrite("cut off by a slice", "negative pads cut elements off")


migrate_pad_12 = VersionStep("Pad", 12, _pad)


def without_single_elements(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a reflecting Pad without the axes of one element, of which releases want two."""
    layers = Layers(inputs, target)
    begins, ends = (fact.integers() for fact in inputs[1:3])
    if begins is None or ends is None:
        return Refused("how much is padded is not known")
    whole = inputs[0].dims
    single = [axis for axis in range(2, len(whole)) if whole[axis] == 1 and begins[axis] == ends[axis] == 0]
    if attrs.pad_mode != "reflect" or not single:
        return Refused("no axis without padding has one element")
    pads = (np.array([pad for axis, pad in enumerate(each) if axis not in single]) for each in (begins, ends))
    padded = layers.call("Pad", layers.call("Squeeze", DATA, np.array(single)), *pads, pad_mode="reflect")
    layers.call("Unsqueeze", padded, np.array(single))
    return layers.rewrite("axes of one element left out", "they are not padded, and are added again")


@by_formula("what pads one side does not depend on the other")
def one_side_after_the_other(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite a Pad as one before and one behind, as 2023.1 does not shape it if it pads both by sizes."""
    if any(fact.dtype != layers.inputs[0].dtype for fact in layers.inputs[3:]):
        return Refused("pad_value has another element type")
    if attrs.pad_mode not in {"constant", "edge"}:
        return Refused(f'with pad_mode="{attrs.pad_mode}", elements from beyond the other side may be repeated')
    begin = layers.inputs[1].value
    if begin is None or (begin.lower < 0).any():
        return Refused("pads_begin may remove all elements, before those behind are repeated")
    none, value = np.zeros(layers.rank(DATA), np.int64), [Ref(None, number) for number in range(3, len(layers.inputs))]
    before = layers.call("Pad", DATA, Ref(None, 1), none, *value, pad_mode=attrs.pad_mode)
    return layers.call("Pad", before, none, Ref(None, 2), *value, pad_mode=attrs.pad_mode)


# --- Slice ------------------------------------------------------------------------------------------------------


def slice_by_own_constants(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Slice with constants of its own: 2022.1 reads none whose limits are computed of those that it reads."""
    layers = Layers(inputs, target)
    limits = [Ref(None, index) if fact.exact is None else fact.exact for index, fact in enumerate(inputs)][1:]
    if all(isinstance(limit, Ref) for limit in limits):
        return Refused("its limits are not constant")
    layers.call("Slice", DATA, *limits)
    return layers.rewrite("limits as constants of its own", "the same values")


def nothing(type: str) -> Step:
    """Return the step of slices without elements to constants: releases before 2022.3 do not compute them rightly."""

    def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
        found = held(type, target).outputs_of(attrs, inputs)
        dims = () if found is None else found[0].dims
        if 0 not in dims or min(dims) < 0:
            return Refused("it has elements, or its sizes are not known")
        layers = Layers(inputs, target)
        _empty(layers, dims)
        return layers.rewrite("a constant without elements", "there is nothing to compute")

    return step


def _empty(layers: Layers, dims: Sequence[int]) -> Ref:
    """Return a constant without elements, of the type of the data."""
    kind = layers.fact(DATA).dtype.name
    return layers.call("Convert", np.zeros(dims, layers.dtype(DATA)), destination_type=kind)


def without_empty_parts(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Concat without its empty parts: releases before 2022.1 compile none."""
    layers = Layers(inputs, target)
    full = [one for one, fact in zip(layers.given, inputs, strict=True) if 0 not in fact.dims]
    if not 0 < len(full) < len(inputs):
        return Refused("it has no empty parts beside others")
    if len(full) > 1:
        layers.call("Concat", *full, axis=attrs.axis)
    else:
        layers.copy(full[0])
    return layers.rewrite("empty parts left out", "they have no elements")


def with_copied_parts(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Concat with copies of its parts, in whose place others write, and without a batch of one.

    2021.4 loses a constant that comes first along axis 1 of one batch.
    """
    layers = Layers(inputs, target)
    axis, first = normal_axis(attrs.axis, layers.rank(DATA)), np.array([0])
    if not (inputs[0].dtype.is_float or inputs[0].dtype.is_integer):
        return Refused("it does not concatenate numbers")
    parts = [layers.call("Maximum", one, one) for one in layers.given]
    if axis != 1 or any(fact.dims[:1] != (1,) for fact in inputs):
        layers.call("Concat", *parts, axis=attrs.axis)
        return layers.rewrite("copies of the parts", "the maximum of equal values is the value")
    joined = layers.call("Concat", *(layers.call("Squeeze", one, first) for one in parts), axis=0)
    layers.call("Unsqueeze", joined, first)
    return layers.rewrite("copies of the parts, batch axis left out", "it has size 1, and is added again")


def split_by_own_axis(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a VariadicSplit with a constant axis of its own: 2022.1 reads none whose lengths are computed of it."""
    layers, axis, lengths = Layers(inputs, target), inputs[1].integers(), inputs[2].integers()
    if axis is None:
        return Refused("its axis is not known")
    given = Ref(None, 2) if lengths is None else np.array(lengths)
    parts = layers.outputs("VariadicSplit", DATA, np.array(axis[0]), given)
    return layers.rewrite("axis as a constant of its own", "the same axis", parts)


def split_by_slices(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a split as slices: 2022 does not combine all parts with unknown sizes, or along other axes."""
    layers = Layers(inputs, target)
    axes = inputs[1].integers()
    if axes is None:
        return Refused("its axis is not known")
    axis = normal_axis(axes[0], layers.rank(DATA))
    size = inputs[0].dims[axis]
    lengths = inputs[2].integers() if len(inputs) > 2 else [size // attrs.num_splits] * attrs.num_splits
    if lengths is None or size < 0:
        return Refused("the sizes of its parts are not known")
    before, mask = (0,) * axis, (1,) * axis + (0,)
    rest = size - sum(length for length in lengths if length >= 0)
    ends = np.cumsum([length if length >= 0 else rest for length in lengths])

    def part(start: int, end: int) -> Ref:
        if start == end and is_static(inputs[0].shape):
            return _empty(layers, [*inputs[0].dims[:axis], 0, *inputs[0].dims[axis + 1 :]])
        limits = np.array([*before, start]), np.array([*before, end])
        return layers.call("StridedSlice", DATA, *limits, begin_mask=mask, end_mask=mask)

    parts = tuple(part(*limits) for limits in pairwise((0, *ends.tolist())))
    return layers.rewrite("one slice per part", "the same elements", parts)


@composed(8, "StridedSlice takes all axes; the others are not sliced")
def migrate_slice(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Slice as StridedSlice."""
    places = _sliced_axes(layers.inputs[0], layers.inputs[1:])
    if places is None:
        return Refused(f"opset{layers.target} has no Slice, and its axes are not known")
    count = max(places, default=-1) + 1
    skipped = tuple(int(axis not in places) for axis in range(count))
    order = [places.index(axis) if axis in places else len(places) for axis in range(count)]
    parts = [_spread(layers, index, order, filler) for index, filler in ((1, 0), (2, 0), (3, 1))]
    return layers.call("StridedSlice", DATA, *parts, begin_mask=skipped, end_mask=skipped)


def _sliced_axes(data: Fact, bounds: Sequence[Fact]) -> list[int] | None:
    if len(bounds) < 4:
        length = bounds[0].shape[0] if bounds[0].shape else Dim()
        return list(range(length.lo)) if length.static else None
    axes = bounds[3].integers()
    if axes is None or (data.shape is None and min(axes, default=0) < 0):
        return None
    return axes if data.shape is None else known_axes(bounds[3], len(data.shape))


def _spread(layers: Layers, index: int, order: Sequence[int], filler: int) -> Ref | Array:
    """Return the values of an input in another order; one past the last is the filler."""
    values = layers.inputs[index].integers()
    if values is not None:
        return np.array([*values, filler], layers.dtype(Ref(None, index)))[list(order)]
    more = np.array([filler], layers.dtype(Ref(None, index)))
    return layers.gather(layers.call("Concat", Ref(None, index), more, axis=0), order)


@composed(15, "the updates are inserted axis by axis, the last sliced axis first")
def migrate_slice_scatter(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite SliceScatter as ScatterUpdate along each axis of the slice."""
    places = _sliced_axes(layers.inputs[0], layers.inputs[2:])
    if places is None:
        return Refused(f"opset{layers.target} has no SliceScatter, and its axes are not known")
    rows = {axis: _rows(layers, axis, number) for number, axis in enumerate(places)}
    if any(not isinstance(row, Ref) and not row.size for row in rows.values()) or not rows:
        return layers.reshape(DATA, np.zeros(layers.rank(DATA), np.int64))
    return _scattered(layers, DATA, rows, sorted(rows))


def _rows(layers: Layers, axis: int, number: int) -> Ref | Array:
    """Return the positions of a slice along one axis; `number`: of the axis in the lists of the slice."""
    shape = layers.inputs[0].shape
    bounds = [fact.integers() for fact in layers.inputs[2:5]]
    start, stop, step = (None if values is None else values[number] for values in bounds)
    if shape is not None and shape[axis].static and None not in (start, stop, step):
        return np.arange(shape[axis].lo)[exact_slice(shape[axis].lo, start, stop, step or 1)]
    size = layers.gather(layers.shape_of(DATA), axis)
    every = layers.count_to(size)
    given = [layers.gather(layers.to_type(Ref(None, index), I64), [number]) for index in (2, 3, 4)]
    return layers.call("StridedSlice", every, *given, begin_mask=(0,), end_mask=(0,))


def _scattered(layers: Layers, data: Ref, rows: Mapping[int, Ref | Array], axes: Sequence[int]) -> Ref:
    axis, *others = axes
    updates = Ref(None, 1)
    if others:
        part = layers.call("Gather", data, rows[axis], np.array(axis))
        updates = _scattered(layers, part, rows, others)
    return layers.call("ScatterUpdate", data, rows[axis], updates, np.array(axis))


# --- Roll -------------------------------------------------------------------------------------------------------


@composed(7, "element i of an axis of n elements comes from (i - shift) modulo n")
def migrate_roll(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Roll as Gather along each axis."""
    data, shift, axes = layers.inputs
    places = None if data.shape is None else known_axes(axes, len(data.shape))
    shifts = shift.integers()
    if data.shape is None or places is None or shifts is None:
        return Refused(f"opset{layers.target} has no Roll, and its shifts or axes are not known")
    totals = dict.fromkeys(places, 0)
    for axis, by in zip(places, shifts if len(shifts) > 1 else shifts * len(places), strict=True):
        totals[axis] += by
    out = DATA
    for axis, by in totals.items():
        dim = data.shape[axis]
        if not dim.static:
            moved = layers.call("Subtract", layers.places(out, axis), np.array(by))
            out = layers.call("Gather", out, layers.call("FloorMod", moved, layers.size(out, axis)), np.array(axis))
        elif dim.lo and by % dim.lo:
            out = layers.call("Gather", out, np.roll(np.arange(dim.lo), by), np.array(axis))
    return out if layers.made else layers.reshape(DATA, np.zeros(len(data.shape), np.int64))
