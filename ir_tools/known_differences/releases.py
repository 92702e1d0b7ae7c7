"""Where a release of OpenVINO is known to give other values than the others, or to stop: the second table.

Each row has a minimal model; the long checks run it on the releases of the row, which differ from the reference, and on
the next one, which does not.
"""

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial
from itertools import dropwhile, zip_longest
from math import prod

import numpy as np
from numpy.typing import DTypeLike

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, number, whole
from ir_tools.ops import Array, Attrs, Op
from ir_tools.ops.definition import Fact
from ir_tools.releases.measured import State
from ir_tools.releases.table import OPENVINO, Release, find_release
from ir_tools.types import element_type, is_static

__all__ = ["FIRST_VERSION", "ROWS", "UNCONVERTED", "ReleaseDifference", "Seen", "release_differences", "rows_of"]


FIRST_VERSION = 10
"""The IR version whose inputs and outputs go by the names of layers, and are converted unless they are f32 or i32."""


UNCONVERTED = frozenset({"f32", "i32", "i8", "u8", "boolean"})
"""Element types that inputs and outputs of IR v10 keep."""


NUMBER = -1
"""What stands for an axis in `Seen.scaled` if one number scales or shifts all elements."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A layer as a file shows it: what decides about what a release does with it.

    Attributes:
        op: the operation.
        attrs: None if they have no meaning.
        inputs, outputs: what is known of the tensors.
        constant: the numbers of the inputs that are computed of constants alone, or known from sizes.
        version: of the IR.
        held: element types of the constants that those inputs are computed of.
        opset: of its version stamp.
        first: whether it reads an input of its graph.
        last: whether it gives an output of its graph.
        short: whether an attribute is absent.
        open: whether a port of it records an unknown size.
        names: what is wrong with its name or its file, of what `verdicts.NAMES` lists.
        between: whether it reads inputs of its graph alone, and only outputs of it read its outputs.
        behind: the type of the layer that computes its first input, if nothing else reads that; else empty.
        readers: the layers that read its outputs, by number of the output and type, sorted; a Result that IR v10
            converts is a Convert.
        scaled: of a reduction: along which axes of its output constants scale or shift this, in elementwise layers
            behind it that alone read it; `NUMBER`: by one number.
    """

    op: Op
    attrs: Attrs | None
    inputs: Sequence[Fact]
    outputs: Sequence[Fact]
    constant: Collection[int] = ()
    version: int = 11
    held: Set[str] = frozenset()
    opset: int = 0
    first: bool = False
    last: bool = False
    short: bool = False
    open: bool = False
    names: frozenset[str] = frozenset()
    between: bool = False
    behind: str = ""
    readers: tuple[tuple[int, str], ...] = ()
    scaled: frozenset[int] = frozenset()

    @property
    def around(self) -> tuple[object, ...]:
        """What decides about it besides its operation, attributes and tensors, to compare it with others."""
        alone = self.first, self.last, self.short, self.open, self.between, self.folded
        return (self.opset, self.constant, self.held, self.names, self.behind, self.readers, self.scaled, *alone)

    @property
    def border(self) -> bool:
        """Whether it reads an input of its graph, or gives an output of it."""
        return self.first or self.last

    @property
    def folded(self) -> bool:
        """Whether its outputs are known before a device sees it: of constants, or of sizes within a larger model."""
        if self.inputs and len(self.constant) == len(self.inputs):
            return True
        return not self.between and all(
            fact.value is not None and fact.value.exact is not None for fact in self.outputs
        )

    @property
    def converted(self) -> bool:
        """Whether a device may see other types than the file: within a model, and at inputs and outputs of IR v10."""
        return not self.border or self.version == FIRST_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDifference:
    """One row.

    Attributes:
        name: short and unique.
        state: what they do with the layer; mostly they give other values.
        first, last: the releases that differ, both included.
        ops: the operations, as `Convert-1`.
        reason: what they do.
        model: the smallest layer that shows it.
        version: of the IR that shows it.
        types: element types of the first input; empty: any.
        sometimes: whether other values are slight, or come of some inputs only.
        instead: cases of `measured.json` that the row describes more exactly; what was measured of them does not count.
        applies: whether a layer falls under the row, if its first input has one of the types.
    """

    name: str
    first: str
    last: str
    ops: tuple[str, ...]
    reason: str
    model: Call
    version: int = 11
    state: State = State.DIFFERS
    types: str = ""
    sometimes: bool = False
    instead: tuple[str, ...] = ()
    applies: Callable[[Seen], bool] = lambda seen: True

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases that differ."""
        first, last = (find_release(f"openvino-{name}").number for name in (self.first, self.last))
        return tuple(release for release in OPENVINO if first <= release.number <= last)

    def may_concern(self, kinds: Set[str]) -> bool:
        """Return whether a layer may fall under the row if its first input has one of these element types."""
        return not self.types or not kinds.isdisjoint(self.types.split())


FUNCTIONS = (
    *(
        "Exp-1",
        "Log-1",
        "Sqrt-1",
        "Erf-1",
        "Sin-1",
        "Cos-1",
        "Tan-1",
        "Sinh-1",
        "Cosh-1",
        "Tanh-1",
        "Asinh-4",
        "Acos-1",
    ),
    *("Acosh-4", "Atan-1", "Sigmoid-1", "HSigmoid-5", "HSwish-4", "AvgPool-1", "MVN-1", "MVN-6", "LRN-1", "GRN-1"),
    *("SoftMax-1", "LogSoftmax-5", "ReduceL2-4", "NormalizeL2-1"),
)


def _made_of(kind: str) -> Callable[[Seen], bool]:
    """Return whether the output has this element type."""
    return lambda seen: seen.outputs[0].dtype.name == kind


def _with(name: str, value: str) -> Callable[[Seen], bool]:
    """Return whether an attribute has this value."""
    return lambda seen: seen.attrs is not None and seen.attrs[name] == value


def _in_five_dimensions(mode: str) -> Callable[[Seen], bool]:
    """Return whether an Interpolate of a mode has data of five dimensions."""
    return lambda seen: _with("mode", mode)(seen) and _has_rank(seen, 5)


def _is_zero(fact: Fact) -> bool:
    """Return whether all values of a tensor are known to be 0."""
    exact = None if fact.value is None else fact.value.exact
    return exact is not None and not exact.any()


def _is_negative(fact: Fact) -> bool:
    """Return whether a number is known to be below 0."""
    return fact.value is not None and fact.value.exact is not None and bool((fact.value.exact < 0).all())


def _gives(kinds: str, seen: Seen) -> bool:
    """Return whether a layer gives an output of the model of one of these element types."""
    return seen.last and seen.outputs[0].dtype.name in kinds.split()


def _to_boolean(seen: Seen) -> bool:
    return bool(seen.inputs) and seen.inputs[0].dtype.is_float and seen.outputs[0].dtype.name == "boolean"


def _packed(kind: str, bits: int) -> Call:
    """Return a sum with eight numbers of a packed type."""
    held = Fixed(np.arange(1, bits + 1, dtype=np.uint8), kind, (8,))
    return Call("Add-1", (Call("Convert-1", (held,), {"destination_type": "f32"}), counted(8)))


def _compressed() -> Call:
    """Return a MatMul whose weights are held in 8 bits."""
    steps = np.arange(16 * 128)
    held = Fixed((steps * 37 % 251 - 125).astype(np.int8).reshape(16, 128))
    scale = Fixed((0.01 + np.arange(16) / 1600).astype(np.float32).reshape(16, 1))
    weights = Call("Multiply-1", (Call("Convert-1", (held,), {"destination_type": "f32"}), scale))
    data = np.sin(np.arange(256)).astype(np.float32).reshape(2, 128)
    return Call("MatMul-1", (data, weights), {"transpose_b": "true"})


def _has_mask(seen: Seen) -> bool:
    """Return whether an attention reads its mask, which it does not if it is causal."""
    return len(seen.inputs) > 3 and seen.attrs is not None and not seen.attrs.causal


def _repeats_mask(seen: Seen, *, known: bool) -> bool:
    """Return whether a mask has one row or column for all of several queries or keys, whose number may be `known`."""
    shapes = [fact.shape for fact in seen.inputs]
    if not _has_mask(seen) or None in shapes[:4] or len(shapes[3] or ()) < 2:
        return False
    query, key, _, mask = (shape or () for shape in shapes[:4])
    sizes = [size for one, size in zip(mask[-2:], (query[-2], key[-2]), strict=True) if one.hi == 1 != size.hi]
    return any((size.lo > 1) is known for size in sizes)


def _has_constant_heads(seen: Seen) -> bool:
    """Return whether constants are all keys or all values of the heads and batches, of which there may be several."""
    shape = seen.inputs[0].shape
    if shape is None or len(shape) != 4 or shape[0].hi == shape[1].hi == 1:
        return False
    return 2 in seen.constant or (1 in seen.constant and 0 not in seen.constant)


def _has_rank(seen: Seen, rank: int) -> bool:
    """Return whether the first input is known to have this rank."""
    shape = seen.inputs[0].shape
    return shape is not None and len(shape) == rank


def _has_slope_inside_channels(seen: Seen) -> bool:
    """Return whether a constant slope is neither one number nor one for each channel."""
    data, slope = (fact.shape for fact in seen.inputs)
    if 1 not in seen.constant or data is None or slope is None or len(data) < 2:
        return False
    if len(slope) == 1:
        return slope[0].lo not in {1, data[1].lo}
    at = len(data) - len(slope)
    return any(size.lo != 1 for axis, size in enumerate(slope, at) if axis != 1)


def _resized(seen: Seen) -> set[int]:
    """Return the axes whose sizes are known to change."""
    pairs = zip(seen.inputs[0].shape or (), seen.outputs[0].shape or (), strict=False)
    return {axis for axis, (old, new) in enumerate(pairs) if old.static and new.static and old != new}


def _resizes_channels(seen: Seen) -> bool:
    """Return whether three axes of data of three or four dimensions are known to change."""
    return len(_resized(seen)) == 3 and not _has_rank(seen, 5)


def _terms(seen: Seen) -> list[str]:
    """Return the letters of each input of an Einsum."""
    return [] if seen.attrs is None else seen.attrs.equation.replace(" ", "").partition("->")[0].split(",")


def _keeps_all(seen: Seen) -> bool:
    """Return whether an Einsum gives its one input as it is."""
    return seen.attrs is not None and _terms(seen) == [seen.attrs.equation.replace(" ", "").partition("->")[2]]


def _sizes_of_letters(seen: Seen) -> dict[str, set[int]]:
    """Return the known sizes of each letter of an Einsum, in inputs without `...`."""
    sizes: dict[str, set[int]] = {}
    for term, fact in zip(_terms(seen), seen.inputs, strict=False):
        for letter, dim in zip(term, fact.shape or (), strict=False):
            if "." not in term and dim.static:
                sizes.setdefault(letter, set()).add(dim.size)
    return sizes


def _axes(seen: Seen) -> list[int] | None:
    """Return the axes that the second input names, from the first one; None if they are not known."""
    value, shape = seen.inputs[1].value, seen.inputs[0].shape
    if value is None or value.exact is None or shape is None:
        return None
    return sorted(int(axis) % len(shape) for axis in value.exact.ravel())


def _is_unmasked(seen: Seen) -> bool:
    return seen.attrs is not None and not seen.attrs.do_softmax and not seen.attrs.mask


def _is_kept(seen: Seen) -> bool:
    """Return whether an input or output of the graph keeps its element type, which in IR v10 a few do."""
    return not seen.converted or seen.inputs[0].dtype.name in UNCONVERTED


def _is_alone(seen: Seen) -> bool:
    """Return whether a Transpose is between an input and an output that nothing converts."""
    return seen.between and (not seen.converted or seen.inputs[0].dtype.name in {"f32", "i32"})


def _region_yolo() -> Call:
    sizes = {"coords": "4", "classes": "2", "num": "2", "axis": "1", "end_axis": "3", "anchors": "1,2,3,4"}
    return Call("RegionYolo-1", (counted(1, 14, 2, 2),), {**sizes, "do_softmax": "false"})


def _is_one_group(seen: Seen) -> bool:
    """Return whether a deconvolution by groups is known to have one, of more than one channel."""
    shape = seen.inputs[1].shape
    return shape is not None and shape[0].hi == 1 and any(size.hi != 1 for size in shape[1:3])


def _widens(seen: Seen) -> bool:
    """Return whether a Broadcast with given axes repeats what is there once along one of them."""
    data, target = seen.inputs[0].shape, seen.outputs[0].shape
    axes = seen.inputs[2].value if len(seen.inputs) > 2 else None
    if data is None or target is None or axes is None or axes.exact is None:
        return False
    return any(size != target[int(axis)] for size, axis in zip(data, axes.exact.ravel(), strict=False))


def _touches_channels(seen: Seen) -> bool:
    """Return whether a change of blocks and batch is not known to leave axis 1 as it is."""
    values = [fact.value.exact if fact.value is not None else None for fact in seen.inputs[1:]]
    plain = [1, 0, 0]
    return any(value is None or value[1] != same for value, same in zip(values, plain, strict=True))


def _states(seen: Seen) -> range:
    """Return the numbers of the states of a cell or sequence."""
    return range(1, 3 if seen.op.type.startswith("LSTM") else 2)


def _weights(seen: Seen) -> range:
    """Return the numbers of the weights, recurrence weights and biases of a cell or sequence."""
    first = _states(seen).stop + seen.op.type.endswith("Sequence")
    return range(first, min(first + 3, len(seen.inputs)))


def _has_known_state(seen: Seen, *, constant: bool) -> bool:
    """Return whether a cell or sequence that a device knows has a state for a batch of unknown size.

    `constant`: whether the state is constant; else the size of its batch is known.
    """
    shape = seen.inputs[0].shape
    sizes = [seen.inputs[number].shape for number in _states(seen) if number in seen.constant or not constant]
    return (
        shape is not None
        and not shape[0].static
        and not _is_split(seen)
        and any(size is not None and size[0].static for size in sizes)
    )


def _has_state_of_one_row(seen: Seen) -> bool:
    """Return whether a cell has a constant state of one row, and a batch of unknown size."""
    shape = seen.inputs[0].shape
    sizes = [seen.inputs[number].shape for number in _states(seen) if number in seen.constant]
    return shape is not None and not shape[0].static and any(size is not None and size[0].hi == 1 for size in sizes)


def _is_of_bounded_height(seen: Seen) -> bool:
    """Return whether an image conversion has one plane, with a height that has bounds."""
    shape = seen.inputs[0].shape
    if len(seen.inputs) > 1 or shape is None or shape[1].static:
        return False
    return shape[1].lo > 0 or shape[1].hi is not None


def _has_unknown_recurrence(seen: Seen) -> bool:
    """Return whether a cell or sequence has recurrence weights of unknown size, and constant biases."""
    number = _weights(seen)[1]
    shape = seen.inputs[number].shape
    rows = None if shape is None else shape[-2]
    return number not in seen.constant and number + 1 in seen.constant and (rows is None or not rows.static)


def _is_split(seen: Seen) -> bool:
    """Return whether the device is given the parts of a sequence: it has computed weights, or other activations."""
    return seen.attrs is not None and (_is_unusual(seen) or not {*_weights(seen)} <= {*seen.constant})


def _is_unusual(seen: Seen) -> bool:
    """Return whether a cell or sequence is clipped, or has other activations than the usual ones."""
    attrs = seen.attrs
    if attrs is None:
        return False
    names = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRUS": ["sigmoid", "tanh"]}.get(seen.op.type[:4])
    unusual = names is not None and [*attrs.activations[: len(names)]] != names
    return bool(attrs.clip) or unusual


def _has_unknown_state(seen: Seen) -> bool:
    """Return whether a sequence has a state of unknown size for data of known size, or the device its parts."""
    unknown = not all(is_static(seen.inputs[number].shape) for number in _states(seen))
    return unknown and (_is_split(seen) or is_static(seen.inputs[0].shape))


def _has_unknown_data(seen: Seen) -> bool:
    """Return whether a sequence whose device is given its parts has data of unknown size."""
    return _is_split(seen) and not is_static(seen.inputs[0].shape)


def _has_unknown_time(seen: Seen) -> bool:
    """Return whether a sequence whose device is given its parts has an unknown number of steps."""
    shape = seen.inputs[0].shape
    return _is_split(seen) and (shape is None or not shape[1].static)


def _has_known_batch(seen: Seen, *, lengths: bool) -> bool:
    """Return whether states or lengths have a known size for a batch of unknown size; `lengths`: constant lengths."""
    shape, of_lengths = seen.inputs[0].shape, _states(seen).stop
    if shape is None or shape[0].static:
        return False
    if lengths:
        return of_lengths in seen.constant and not {*_states(seen)} & {*seen.constant}
    sizes = [seen.inputs[number].shape for number in (*_states(seen), of_lengths)]
    return any(size is not None and size[0].static for size in sizes)


def _has_computed_recurrence(seen: Seen) -> bool:
    """Return whether a cell has computed recurrence weights and constant biases."""
    return 4 not in seen.constant and 5 in seen.constant


def _has_static_recurrence(seen: Seen) -> bool:
    """Return whether a cell has computed recurrence weights of known sizes and constant biases."""
    return _has_computed_recurrence(seen) and is_static(seen.inputs[4].shape)


def _interpolated(seen: Seen) -> tuple[str, bool, tuple[int, ...]]:
    """Return mode, whether corners are aligned, and the axes of an Interpolate-1; of no meaning: empty."""
    attrs = seen.attrs
    return ("", False, ()) if attrs is None else (attrs.mode, attrs.align_corners, tuple(attrs.axes))


def _shrinks(seen: Seen) -> bool:
    """Return whether an axis may get smaller."""
    before, after = seen.inputs[0].shape, seen.outputs[0].shape
    if before is None or after is None:
        return True
    return any(new.hi is None or new.hi < old.lo for old, new in zip(before, after, strict=False))


def _has_fewer_elements(seen: Seen) -> bool:
    """Return whether the output may have fewer elements than the first input."""
    before, after = seen.inputs[0].shape, seen.outputs[0].shape
    if before is None or after is None or not is_static(before) or not is_static(after):
        return True
    return prod(dim.lo for dim in before) > prod(dim.lo for dim in after)


def _has_uneven_end(seen: Seen) -> bool:
    """Return whether the last window of a ceil_torch pooling may not end with the padding.

    Beyond it that matters if padding counts.
    """
    attrs, data, pooled = seen.attrs, seen.inputs[0].shape, seen.outputs[0].shape
    if attrs is None or attrs.rounding_type != "ceil_torch":
        return False
    if not is_static(data) or not is_static(pooled):
        return True
    begins, ends = attrs.pads_begin, attrs.pads_end
    sizes = zip((data or ())[2:], (pooled or ())[2:], attrs.kernel, attrs.strides, begins, ends, strict=False)
    beyond = [(new.lo - 1) * stride + size - old.lo - begin - end for old, new, size, stride, begin, end in sizes]
    counts = not attrs.exclude_pad and any((*begins, *ends))
    return any(elements < 0 or (elements and counts) for elements in beyond)


def _has_short_sequences(seen: Seen) -> bool:
    """Return whether a SearchSorted of more than one number is known to have sequences of one."""
    sequences, found = seen.inputs[0].shape, seen.outputs[0].shape
    return (
        sequences is not None
        and bool(sequences)
        and sequences[-1].hi == 1
        and any(size.hi != 1 for size in found or ())
    )


def _has_two_levels(seen: Seen) -> bool:
    """Return whether a FakeQuantize of a matrix or more is to two levels, with limits for all or for each channel."""
    rank = len(seen.inputs[0].shape or ())
    shapes = [fact.shape for fact in seen.inputs[1:]]
    by_channel = all(
        shape is not None and all(dim.hi == 1 or axis == 1 for axis, dim in enumerate(shape, rank - len(shape)))
        for shape in shapes
    )
    return by_channel and seen.attrs is not None and seen.attrs.levels == 2 and rank > 1


def _broadcasts_as_pdpd(seen: Seen) -> bool:
    """Return whether inputs are broadcast as in pdpd, and not known to have sizes for the same number of dimensions."""
    shapes = [fact.shape for fact in seen.inputs[:2]]
    alike = all(map(is_static, shapes)) and len({len(shape or ()) for shape in shapes}) == 1
    return seen.attrs is not None and seen.attrs.auto_broadcast == "pdpd" and not alike


def _has_blocks_elsewhere(seen: Seen) -> bool:
    """Return whether the blocks of three dimensions are not there along the axis before theirs."""
    shape = seen.inputs[0].shape
    if shape is None or len(shape) != 3 or seen.attrs is None:
        return False
    block = seen.attrs.block_size
    depth = seen.op.type == "DepthToSpace"
    size, blocks = (shape[0].hi, block**2) if depth else (shape[1].hi, block)
    return size is None or bool(size % blocks)


def _has_no_axes(seen: Seen) -> bool:
    """Return whether the list of axes of a Reverse is known to be empty."""
    axes = seen.inputs[1].shape
    return axes is not None and len(axes) == 1 and axes[0].hi == 0


def _is_elementwise(seen: Seen) -> bool:
    """Return whether an elementwise layer is before it."""
    return seen.behind in ELEMENTWISE | ELEMENTWISE_ALONE


def _is_elementwise_alone(seen: Seen) -> bool:
    """Return whether an elementwise layer is before it with which 2023.0 and later do not compile it as one."""
    shape = seen.inputs[0].shape
    rare = shape is None or not is_static(shape) or len(shape) > 6
    return seen.behind in ELEMENTWISE_ALONE or (rare and seen.behind in ELEMENTWISE)


def _reduced(seen: Seen) -> tuple[int, tuple[int, ...]]:
    """Return the rank of the data of a reduction, and the axes that it reduces; `-1, ()` if they are not known."""
    shape, axes = seen.inputs[0].shape, _axes(seen)
    return (-1, ()) if shape is None or axes is None else (len(shape), tuple(sorted({*axes})))


def _keeps_axes(seen: Seen) -> bool:
    return seen.attrs is not None and bool(seen.attrs["keep_dims"])


def _scales_middle(seen: Seen) -> bool:
    """Return whether one number scales or shifts a reduction along the middle axis of three, or the last two."""
    return NUMBER in seen.scaled and _reduced(seen) in {(3, (1,)), (3, (1, 2))}


def _scales_more_rows(seen: Seen) -> bool:
    """Return whether one number scales or shifts a reduction of three axes along one of the last two, of more rows."""
    shape = seen.outputs[0].shape
    if NUMBER not in seen.scaled or _keeps_axes(seen) or _reduced(seen) not in {(3, (1,)), (3, (2,))} or not shape:
        return False
    return shape[1].hi is not None and (shape[0].hi is None or shape[0].hi > shape[1].lo)


def _scales_channels(seen: Seen, *reduced: tuple[int, tuple[int, ...]]) -> bool:
    """Return whether constants scale or shift, by channel, a reduction of data of a rank along axes, of those given."""
    rank, axes = _reduced(seen)
    channel = 1 if _keeps_axes(seen) or 0 not in axes else 0
    return channel in seen.scaled and (rank, axes) in reduced


def _scales_second_axis(seen: Seen) -> bool:
    """Return whether constants scale or shift, along axis 1, a reduction that leaves other channels there."""
    rank, axes = _reduced(seen)
    if _keeps_axes(seen):
        return _scales_channels(seen, *BY_CHANNEL, *BY_CHANNEL_UNTIL_2024)
    return 1 in seen.scaled and (rank == 3 or not {0, 1}.isdisjoint(axes))


def _is_computed_with(seen: Seen) -> bool:
    """Return whether another layer than a Result reads an output, and any layer one of the first two outputs."""
    return any(type != "Result" for _, type in seen.readers) and any(number < 2 for number, _ in seen.readers)


def _gives_more(seen: Seen) -> bool:
    """Return whether another layer than a Result reads an output, and an output but the first is one of the model."""
    results = {number for number, type in seen.readers if type == "Result"}
    return any(type != "Result" for _, type in seen.readers) and not results.issubset({0})


def _gives_alone(seen: Seen, number: int) -> bool:
    """Return whether an output is one of the model, and nothing else reads it."""
    return [type for one, type in seen.readers if one == number] == ["Result"]


def _has_known_rows(seen: Seen) -> bool:
    """Return whether the numbers of boxes and images limit a suppression to a known number of rows."""
    return _has_known_boxes(seen) and all(fact.shape is not None and fact.shape[0].static for fact in seen.inputs[:2])


def _has_known_boxes(seen: Seen) -> bool:
    """Return whether the numbers of boxes, classes and rows of each are known."""
    shapes = [fact.shape for fact in seen.inputs[:2]]
    return 2 in seen.constant and all(shape is not None and shape[1].static for shape in shapes)


def _slices_behind_new_axis(seen: Seen) -> bool:
    """Return whether a StridedSlice of data of unknown size inserts an axis before one that it cuts."""
    attrs = seen.attrs
    if attrs is None or is_static(seen.inputs[0].shape):
        return False
    masks = zip_longest(attrs.new_axis_mask, attrs.begin_mask, attrs.end_mask, fillvalue=0)
    behind = dropwhile(lambda masks: not masks[0], masks)
    return any(not new and not (begin and end) for new, begin, end in behind)


def _is_combined(seen: Seen) -> bool:
    """Return whether one layer alone reads the output, and combines it with another tensor element by element."""
    return len(seen.readers) == 1 and seen.readers[0][1] in COMBINING


def _is_repeated_and_combined(seen: Seen) -> bool:
    """Return whether a Broadcast by numpy's rules up to six dimensions may repeat data, and its output is combined."""
    old, new = seen.inputs[0].shape, seen.outputs[0].shape
    same = 1 in seen.constant and old is not None and is_static(old) and old == new
    low = new is None or len(new) <= 6
    return _is_combined(seen) and _with("mode", "numpy")(seen) and low and not same


def _has_limits_of_heads(seen: Seen) -> bool:
    """Return whether a FakeQuantize of an attention has constant limits that differ along axis 1 or 2."""
    return seen.behind == "ScaledDotProductAttention" and (_has_limits_along(seen, 1) or _has_limits_along(seen, 2))


def _is_low(seen: Seen) -> bool:
    """Return whether the first input has two or three dimensions."""
    return _has_rank(seen, 2) or _has_rank(seen, 3)


def _is_convolved(seen: Seen) -> bool:
    """Return whether a convolution alone reads a product with constants that differ elsewhere than by channel."""
    shape, rank = seen.outputs[0].shape, len(seen.outputs[0].shape or ())
    factors = [seen.inputs[number].shape or () for number in seen.constant]
    off_channels = any(
        size.lo != 1 for sizes in factors for axis, size in enumerate(sizes, rank - len(sizes)) if axis != 1
    )
    return shape is not None and off_channels and seen.readers in {((0, type),) for type in CONVOLUTIONS}


def _limits_rows(behind: Set[str], *, known: bool = True) -> Callable[[Seen], bool]:
    """Return whether constant limits of a FakeQuantize differ along axis 2, behind a layer of one of these types.

    Unless `known`, the size of its data is not known.
    """
    return lambda seen: (
        seen.behind in behind and _has_limits_along(seen, 2) and (known or not is_static(seen.inputs[0].shape))
    )


def _limits_rows_behind_others(seen: Seen) -> bool:
    """Return whether constant limits of a FakeQuantize differ along axis 2, behind a layer of no type named here."""
    named = FUNCTIONS_ALONE | NORMALIZING | CONVOLUTIONS | EXTREMES | SUMMING | {"MVN"}
    return seen.behind not in named and _has_limits_along(seen, 2)


def _is_low_product(seen: Seen) -> bool:
    """Return whether the layer before is a MatMul that gives three dimensions."""
    return seen.behind == "MatMul" and _has_rank(seen, 3)


def _has_limits_along(seen: Seen, axis: int) -> bool:
    rank = len(seen.inputs[0].shape or ())
    lined = [dict(enumerate(fact.shape or (), rank - len(fact.shape or ()))) for fact in seen.inputs[1:]]
    return _has_constant_limits(seen) and any(axis in sizes and sizes[axis].lo > 1 for sizes in lined)


def _limits_as_channels(seen: Seen) -> bool:
    """Return whether a convolution before a FakeQuantize gives as many channels as there are limits along axis 2."""
    shape = seen.inputs[0].shape or ()
    return _limits_rows(CONVOLUTIONS)(seen) and shape[1:2] == shape[2:3]


def _is_mostly_padding(seen: Seen) -> bool:
    """Return whether the padding of an ExtractImagePatches before its data is known to be larger than these."""
    attrs, data, found = seen.attrs, seen.inputs[0].shape, seen.outputs[0].shape
    if attrs is None or attrs.auto_pad == "valid" or data is None or found is None:
        return False
    added = int(attrs.auto_pad == "same_lower")
    return any(
        old.static and ((new.lo - 1) * stride + (size - 1) * rate + 1 - old.lo + added) // 2 > old.lo
        for size, stride, rate, old, new in zip(
            attrs.sizes, attrs.strides, attrs.rates, data[2:], found[2:], strict=False
        )
    )


def _selects_as_pdpd(seen: Seen, *, rank: int = 0) -> bool:
    """Return whether a Select broadcasts floats or bytes of known sizes, and of so many dimensions, from axis 0 on."""
    data = seen.inputs[1]
    bytes_or_floats = data.dtype.is_float or data.dtype.name in {"u8", "i8", "boolean"}
    known = all(is_static(fact.shape) for fact in seen.inputs) and len(data.shape or ()) >= rank
    from_first = seen.attrs is not None and seen.attrs.auto_broadcast_axis == 0
    return _with("auto_broadcast", "pdpd")(seen) and from_first and bytes_or_floats and known


def _selects_of_other_sizes(seen: Seen) -> bool:
    """Return whether the inputs of a Select that broadcasts as in pdpd are known to have other sizes."""
    known = {fact.shape for fact in seen.inputs if is_static(fact.shape)}
    return _with("auto_broadcast", "pdpd")(seen) and len(known) > 1


def _has_constant_limits(seen: Seen) -> bool:
    """Return whether all limits of a FakeQuantize are constants."""
    return {1, 2, 3, 4} <= {*seen.constant}


def _is_of_quantized_levels(seen: Seen) -> bool:
    """Return whether a FakeQuantize has constant limits, and as many levels as types of 4 or 8 bits."""
    return _has_constant_limits(seen) and seen.attrs is not None and seen.attrs.levels in {15, 16, 255, 256}


def _is_of_one_channel(seen: Seen) -> bool:
    """Return whether there is one channel, with a constant scale or bias, and may be several images."""
    shape = seen.inputs[0].shape
    return shape is not None and shape[0].hi != 1 and shape[1].hi == 1 and not {1, 2}.isdisjoint(seen.constant)


def _has_one_channel(seen: Seen) -> bool:
    """Return whether a pooling is known to have one channel."""
    shape = seen.inputs[0].shape
    return shape is not None and shape[1].hi == 1


def _pads_windows(seen: Seen) -> bool:
    """Return whether the padding of a pooling, with what is added for the last window, is known to fill a kernel."""
    attrs, data, pooled = seen.attrs, seen.inputs[0].shape, seen.outputs[0].shape
    if attrs is None or data is None or pooled is None:
        return False
    before = attrs.pads_begin if attrs.auto_pad == "explicit" else [0] * len(attrs.kernel)
    return any(
        begin >= size or (old.static and (new.lo - 1) * stride + size - old.lo - begin >= size)
        for begin, size, stride, old, new in zip(
            before, attrs.kernel, attrs.strides, data[2:], pooled[2:], strict=False
        )
    )


def _is_spread_over_matrices(seen: Seen, *, by_rank: bool) -> bool:
    """Return whether matrices of unknown size are multiplied by more constant ones, each by all.

    `by_rank`: whether they lack the axes of these; else one matrix is there along each of them.
    """
    data, held = (fact.shape for fact in seen.inputs)
    if 0 in seen.constant or 1 not in seen.constant or data is None or held is None or is_static(data):
        return False
    if by_rank:
        return len(data) < len(held)
    return len(data) == len(held) and any(
        size.hi == 1 and other.lo > 1 for size, other in zip(data[:-2], held[:-2], strict=True)
    )


def _mean(pads: str) -> Call:
    """Return an average pooling of integers of one channel, with windows of one element."""
    return Call("AvgPool-1", (np.ones((1, 1, 4, 4), np.int32),), WINDOWS | {"pads_begin": pads})


def _converted(value: float, kind: str) -> Call:
    """Return the rounding of a number to a type of 8 bits."""
    return Call("FakeConvert-13", (floats(value), Fixed(floats(1)), Fixed(floats(0))), {"destination_type": kind})


def _keys_and_values() -> tuple[Array, Array]:
    """Return keys and values of two heads."""
    keys = np.sin(np.arange(2 * 5 * 4)).astype(np.float32).reshape(1, 2, 5, 4)
    return keys, keys + 1


def _recurrent(op: str, *given: str, rows: int = 3, **raw: str) -> Call:
    """Return a cell or sequence of two units for batches of four numbers.

    Args:
        op: the operation.
        given: partial shapes of the inputs in order; of none, and behind the last one: a constant.
        rows: the size of the batch.
        raw: other attributes.
    """
    gates = {"L": 4, "G": 3, "R": 1}[op[0]]
    names = {"L": "sigmoid,tanh,tanh", "G": "sigmoid,tanh", "R": "tanh"}[op[0]]
    states = 2 if gates == 4 else 1
    lead: tuple[int, ...] = ()
    if "Sequence" in op:
        arrays: list[Array] = [counted(rows, 5, 4), *[counted(rows, 1, 2)] * states, np.array([5, 3, 4])[:rows]]
        lead, raw = (1,), {"direction": "forward", "activations": names} | raw
    else:
        arrays = [counted(rows, 4), *[counted(rows, 2)] * states]
    arrays += [counted(*lead, *sizes) / 100 for sizes in ((2 * gates, 4), (2 * gates, 2), (2 * gates,))]
    shapes = (*given, *[""] * (len(arrays) - len(given)))
    feeds = (Given(array, shape) if shape else Fixed(array) for array, shape in zip(arrays, shapes, strict=True))
    return Call(op, tuple(feeds), {"hidden_size": "2"} | raw)


def _integer_cell(recurrence: str) -> Call:
    """Return an LSTMCell of integers whose recurrence weights have this partial shape."""
    data, biases = np.array([[1, 2, 3], [3, 0, 2]], np.int16), np.array([9, 1, 7, 9, 4, 2, 6, 2], np.int16)
    state = np.array([[1, 5], [4, 2]], np.int16)
    weights, others = (np.arange(8 * size, dtype=np.int16).reshape(8, size) % 7 - 2 for size in (3, 2))
    return Call(
        "LSTMCell-1",
        (data, state, state, Fixed(weights), Given(others, recurrence), Fixed(biases)),
        {"hidden_size": "2"},
    )


def _arcsines(kind: str, *, inside: bool) -> Call:
    """Return arcsines of 1 and 9, converted before and behind if they are `inside`."""
    numbers = np.array([1, 9], np.int32 if inside else element_type(kind).dtype)
    if not inside:
        return Call("Asin-1", (numbers,))
    made = Call("Asin-1", (Call("Convert-1", (numbers,), {"destination_type": kind}),))
    return Call("Convert-1", (made,), {"destination_type": "i32"})


def _deconvolution(kind: DTypeLike) -> Call:
    data, weights = np.ones((1, 3, 4, 4)).astype(kind), np.ones((1, 3, 2, 2, 2)).astype(kind)
    sizes = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
    return Call("GroupConvolutionBackpropData-1", (data, Fixed(weights)), sizes)


def _interpolate(axes: str, *sizes: int, mode: str = "linear", corners: str = "false") -> Call:
    raw = {"mode": mode, "axes": axes, "align_corners": corners, "antialias": "false"}
    return Call("Interpolate-1", (counted(2, 2, 6, 4), Fixed(whole(*sizes))), raw)


def _nms(op: str, *results: int, least: float = 0.1, images: str = "1") -> Call:
    """Return a suppression among three boxes of two classes.

    `results`: outputs that are those of the model, if any; `least`: the least score; `images`: how many, in the file.
    """
    boxes = np.array([[[0, 0, 1, 1], [0, 2, 1, 3], [0, 4, 1, 5]]], np.float32)
    limits = map(Fixed, (number(3, np.int64), floats(0.5)[0], floats(least)[0])) if op.startswith("NonMax") else ()
    data = Given(boxes, f"{images},3,4"), Given(counted(1, 2, 3), f"{images},2,3")
    return Call(op, (*data, *limits), results=results or None)


def _limited_rows(data: Array | Given | Call) -> Call:
    """Return data of four rows quantized between limits for each row."""
    return _quantized(data, Fixed(np.arange(2, 6, dtype=np.float32).reshape(1, 1, 4, 1)))


def _quantized(data: Array | Given | Call, high: Fixed) -> Call:
    """Return data quantized to 256 levels between limits and their opposites."""
    low = Fixed(-high.array)
    return Call("FakeQuantize-1", (data, low, high, low, high), {"levels": "256"})


def _attention() -> Call:
    """Return an attention of two heads and four rows."""
    return Call("ScaledDotProductAttention-13", (counted(1, 2, 4, 8),) * 3, PLAIN)


def _convolved(channels: int) -> Call:
    """Return data of four rows from a convolution that changes nothing."""
    weights = np.eye(channels, dtype=np.float32).reshape(channels, channels, 1, 1)
    return Call("Convolution-1", (counted(1, channels, 4, 2), Fixed(weights)), UNPADDED)


def _scaled_sum(
    shape: tuple[int, ...], axis: int, numbers: object, kind: DTypeLike = np.float32, keep: bool = False
) -> Call:
    """Return a sum of ones along one axis, plus constant numbers."""
    total = Call("ReduceSum-1", (np.ones(shape, kind), Fixed(whole(axis))), {"keep_dims": str(keep).lower()})
    return Call("Add-1", (total, Fixed(np.array(numbers, kind))))


ELEMENTWISE = frozenset(
    (
        *(
            "Abs",
            "Add",
            "Clamp",
            "Divide",
            "Elu",
            "Erf",
            "Exp",
            "FloorMod",
            "Gelu",
            "HSwish",
            "Maximum",
            "Minimum",
            "Mod",
        ),
        *(
            "Multiply",
            "Negative",
            "PReLU",
            "Power",
            "ReLU",
            "Round",
            "Sigmoid",
            "Sqrt",
            "SquaredDifference",
            "Subtract",
        ),
        *("Swish", "Tanh"),
    )
)
ELEMENTWISE_ALONE = frozenset({"HSigmoid", "Mish", "SoftPlus", "SoftSign"})
SCALING = frozenset({"Add", "Divide", "Multiply", "Negative", "PReLU", "Subtract"})
LOGICAL = frozenset({"LogicalAnd", "LogicalOr", "LogicalNot", "LogicalXor"})
FUNCTIONS_ALONE = (ELEMENTWISE | ELEMENTWISE_ALONE) - SCALING
CONVOLUTIONS = frozenset({"Convolution", "GroupConvolution"})
NORMALIZING = frozenset({"Interpolate", "NormalizeL2"})
EXTREMES = frozenset({"ReduceMax", "ReduceMin"})
REDUCING = frozenset({"ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2"})
SUMMING = frozenset({"AvgPool", "ConvolutionBackpropData", "GroupConvolutionBackpropData", "MatMul"})
"""Types of layers that are compiled with a FakeQuantize behind them, each in another way."""
FOUR_ROWS = counted(1, 3, 4, 2)
ANY_IMAGES = Given(FOUR_ROWS, "?,3,4,2")
LAST = Fixed(np.arange(2, 6, dtype=np.float32))
BY_CHANNEL = ((3, (0,)), (3, (2,)))
BY_CHANNEL_UNTIL_2024 = ((2, (0,)), (3, (0, 2)))
"""Ranks and axes of reductions that are scaled along another axis than that of the channels."""
COMBINING = frozenset(
    {"Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum", "SquaredDifference", "FloorMod", "Mod", "Power"}
)
"""Types of layers that combine two tensors of numbers element by element."""
REDUCTIONS = ("ReduceMax-1", "ReduceMin-1", "ReduceMean-1", "ReduceSum-1", "ReduceProd-1", "ReduceL1-4", "ReduceL2-4")
CELLS = (("LSTMCell-1", 2), ("LSTMCell-4", 2), ("GRUCell-3", 1), ("RNNCell-1", 1))
SEQUENCES = (("LSTMSequence-5", 2), ("GRUSequence-5", 1), ("RNNSequence-5", 1))
SUPPRESSIONS = ("NonMaxSuppression-1", "NonMaxSuppression-3", "NonMaxSuppression-4")
INDEXED = {"kernel": "2,2", "strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
ATTENTION = (counted(1, 2, 4), counted(1, 3, 4), counted(1, 3, 4))
PLAIN = {"causal": "false"}
INTERPOLATE = ("Interpolate-1", "Interpolate-4", "Interpolate-11")
MEANS = ("AvgPool-1", "AvgPool-14", "AvgPool-16")
WINDOWS = {"kernel": "1,1", "strides": "1,1", "pads_end": "0,0", "exclude-pad": "false"}
UNPADDED = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
VARIANCE = {"eps": "0.01", "eps_mode": "inside_sqrt", "normalize_variance": "true"}
ONE_GROUP = {"group": "1", "deformable_group": "1"}
LIMITED_ROWS: Sequence[tuple[str, State, Call, Callable[[Seen], bool], Sequence[tuple[str, str]]]] = (
    (
        "of an input",
        State.UNCOMPILED,
        _limited_rows(FOUR_ROWS),
        _limits_rows({"", *SCALING}),
        (("2022.1", "2022.3"),),
    ),
    (
        "of an input of unknown size",
        State.UNCOMPILED,
        _limited_rows(ANY_IMAGES),
        _limits_rows({"", *SCALING}, known=False),
        (("2022.1", "2026.4"),),
    ),
    (
        "behind a function",
        State.DIFFERS,
        _limited_rows(Call("Abs-1", (FOUR_ROWS,))),
        _limits_rows(FUNCTIONS_ALONE),
        (("2022.1", "2022.3"),),
    ),
    (
        "behind a function of unknown size",
        State.DIFFERS,
        _limited_rows(Call("Abs-1", (ANY_IMAGES,))),
        _limits_rows(FUNCTIONS_ALONE, known=False),
        (("2022.1", "2026.4"),),
    ),
    (
        "behind another layer",
        State.UNCOMPILED,
        _limited_rows(Call("SoftMax-1", (FOUR_ROWS,))),
        _limits_rows_behind_others,
        (("2022.1", "2022.2"),),
    ),
    (
        "behind another layer of unknown size",
        State.UNCOMPILED,
        _limited_rows(Call("SoftMax-1", (ANY_IMAGES,))),
        lambda seen: (
            _limits_rows_behind_others(seen) and seen.behind not in REDUCING and not is_static(seen.inputs[0].shape)
        ),
        (("2022.1", "2026.4"),),
    ),
    (
        "behind a maximum",
        State.DIFFERS,
        _limited_rows(Call("ReduceMax-1", (FOUR_ROWS, Fixed(whole(1))), {"keep_dims": "true"})),
        _limits_rows(EXTREMES),
        (("2022.1", "2024.1"), ("2024.4", "2026.4")),
    ),
    (
        "behind a maximum of unknown size",
        State.DIFFERS,
        _limited_rows(Call("ReduceMax-1", (ANY_IMAGES, Fixed(whole(1))), {"keep_dims": "true"})),
        _limits_rows(EXTREMES, known=False),
        (("2022.1", "2026.4"),),
    ),
    (
        "behind a reduction",
        State.DIFFERS,
        _limited_rows(Call("ReduceMean-1", (FOUR_ROWS, Fixed(whole(1))), {"keep_dims": "true"})),
        _limits_rows(REDUCING),
        (("2024.4", "2026.4"),),
    ),
    *(
        (
            "behind a reduction of unknown size",
            state,
            _limited_rows(Call("ReduceMean-1", (ANY_IMAGES, Fixed(whole(1))), {"keep_dims": "true"})),
            _limits_rows(REDUCING, known=False),
            spans,
        )
        for state, spans in (
            (State.UNCOMPILED, (("2022.1", "2023.0"),)),
            (State.DIFFERS, (("2023.1", "2026.4"),)),
        )
    ),
    (
        "behind an MVN",
        State.DIFFERS,
        _limited_rows(Call("MVN-6", (FOUR_ROWS, Fixed(whole(3))), VARIANCE)),
        _limits_rows({"MVN"}),
        (("2022.1", "2022.3"),),
    ),
    (
        "behind an MVN of unknown size or three dimensions",
        State.DIFFERS,
        _quantized(Call("MVN-6", (counted(1, 3, 4), Fixed(whole(2))), VARIANCE), LAST),
        lambda seen: _limits_rows({"MVN"})(seen) and (_has_rank(seen, 3) or not is_static(seen.inputs[0].shape)),
        (("2022.1", "2026.4"),),
    ),
    (
        "behind a normalization",
        State.DIFFERS,
        _limited_rows(Call("NormalizeL2-1", (FOUR_ROWS, Fixed(whole(1))), {"eps": "1", "eps_mode": "add"})),
        _limits_rows(NORMALIZING),
        (("2022.1", "2026.4"),),
    ),
    (
        "for each channel of a convolution",
        State.DIFFERS,
        _limited_rows(_convolved(4)),
        _limits_as_channels,
        (("2022.1", "2026.4"),),
    ),
    (
        "behind a convolution",
        State.DIFFERS,
        _limited_rows(_convolved(3)),
        _limits_rows(CONVOLUTIONS),
        (("2022.1", "2022.2"),),
    ),
    (
        "behind a convolution",
        State.UNCOMPILED,
        _limited_rows(_convolved(3)),
        lambda seen: _limits_rows(CONVOLUTIONS)(seen) and not _limits_as_channels(seen),
        (("2022.3", "2026.4"),),
    ),
    (
        "behind a product of three dimensions",
        State.DIFFERS,
        _quantized(Call("MatMul-1", (counted(2, 3, 4), Fixed(np.eye(4, dtype=np.float32)))), LAST),
        lambda seen: _is_low_product(seen) and _has_limits_along(seen, 2),
        (("2022.1", "2022.2"),),
    ),
    (
        "behind a product or mean",
        State.UNCOMPILED,
        _limited_rows(Call("AvgPool-1", (FOUR_ROWS,), WINDOWS | {"pads_begin": "0,0"})),
        lambda seen: _limits_rows(SUMMING)(seen) and not _is_low_product(seen),
        (("2022.1", "2026.4"),),
    ),
)
"""FakeQuantizes with limits along axis 2: where they are, what is done with them, an example, and the releases."""


ROWS = (
    ReleaseDifference(
        name="initial value of a variable",
        first="2021.2",
        last="2023.2",
        ops=("ReadValue-3", "ReadValue-6"),
        reason="The first run reads zeros, whatever initial value the layer has.",
        sometimes=True,
        model=Call("ReadValue-3", (floats([1, 2, 3]),), {"variable_id": "v"}),
        applies=lambda seen: bool(seen.inputs) and not _is_zero(seen.inputs[0]),
    ),
    ReleaseDifference(
        name="variables of unknown sizes",
        first="2022.1",
        last="2023.2",
        ops=("ReadValue-3", "ReadValue-6"),
        state=State.UNCOMPILED,
        reason="A variable with sizes that are not known stops the release, if not before it runs.",
        model=Call("ReadValue-3", (Given(floats([1, 2, 3]), "?,3"),), {"variable_id": "v"}),
        applies=lambda seen: not is_static(seen.outputs[0].shape),
    ),
    ReleaseDifference(
        name="empty bags without a row",
        first="2021.2",
        last="2024.2",
        ops=("EmbeddingBagOffsetsSum-3",),
        state=State.FAILS,
        reason="A default index of -1, which gives empty bags zeros, stops the release when it runs.",
        model=Call(
            "EmbeddingBagOffsetsSum-3",
            (counted(3, 2), Fixed(whole(0, 2)), Fixed(whole(0, 1, 1)), Fixed(np.array(-1))),
        ),
        version=10,
        applies=lambda seen: len(seen.inputs) > 3 and _is_negative(seen.inputs[3]),
    ),
    *(
        ReleaseDifference(
            name=f"order of {kind} constants",
            first=first,
            last=last,
            ops=("Const-1",),
            reason=f"The elements in a byte of a constant of {kind} are read from its other end.",
            model=_packed(kind, int(kind[1])),
            version=10,
            applies=_made_of(kind),
        )
        for kind, first, last in (("u4", "2021.3", "2023.1"), ("i4", "2021.3", "2023.1"), ("u2", "2024.1", "2025.2"))
    ),
    ReleaseDifference(
        name="conversion of floats to integers of few bits at an output",
        first="2021.2",
        last="2021.4",
        ops=("Convert-1",),
        reason="Numbers keep their fractions if the integers are an output.",
        sometimes=True,
        model=Call("Convert-1", (floats(0.3, 1.7),), {"destination_type": "u8"}),
        version=10,
        types="f32 f16 f64 bf16",
        applies=partial(_gives, "u8 i8 u16 i16"),
    ),
    *(
        ReleaseDifference(
            name=f"conversion to 4 bits at an output, {first} to {last}",
            first=first,
            last=last,
            ops=("Convert-1",),
            state=state,
            reason=f"An output that is converted to i4 or u4 {state.words}, but in IR v10.",
            model=Call("Convert-1", (floats(0, 1),), {"destination_type": "u4"}),
            applies=lambda seen: seen.version > FIRST_VERSION and _gives("i4 u4", seen),
        )
        for first, last, state in (("2022.1", "2023.2", State.UNCOMPILED), ("2023.3", "2024.3", State.FAILS))
    ),
    ReleaseDifference(
        name="conversion of floats to boolean",
        first="2022.1",
        last="2022.2",
        ops=("Convert-1",),
        reason="Numbers are cut off and kept: 2.5 gives 2, and 0.3 gives false.",
        model=Call("Convert-1", (floats(0.3, 0, 2, -0.5),), {"destination_type": "boolean"}),
        applies=_to_boolean,
    ),
    ReleaseDifference(
        name="conversion to boolean in IR v10",
        first="2021.2",
        last="2024.2",
        ops=("Convert-1",),
        reason="In IR v10 numbers are cut off and kept: 2.5 gives 2, and 0.3 gives false.",
        model=Call("Convert-1", (floats(0.3, 0, 2, -0.5),), {"destination_type": "boolean"}),
        version=10,
        applies=lambda seen: (
            seen.version == 10
            and seen.outputs[0].dtype.name == "boolean"
            and bool(seen.inputs)
            and seen.inputs[0].dtype.name != "boolean"
        ),
    ),
    ReleaseDifference(
        name="functions of small integers",
        first="2021.2",
        last="2021.4",
        ops=FUNCTIONS,
        reason="Integers of 8, 16 and 64 bits without a sign are computed and presented in f32, and never rounded.",
        model=Call("Exp-1", (np.array([1, 2], np.uint8),)),
        version=10,
        types="u8 i8 u16 i16 u64",
    ),
    ReleaseDifference(
        name="functions of booleans and of u32",
        first="2021.2",
        last="2021.4",
        ops=FUNCTIONS,
        reason="Booleans and u32 are computed and presented in f32, and never rounded.",
        model=Call("Exp-1", (Call("Convert-1", (np.array([1, 2]),), {"destination_type": "u32"}),)),
        version=10,
        types="boolean u32",
    ),
    ReleaseDifference(
        name="Interpolate-4 of f64",
        first="2021.2",
        last="2026.2",
        ops=("Interpolate-4",),
        state=State.UNREAD,
        reason="Data of f64 is not read.",
        model=Call(
            "Interpolate-4",
            (
                Call("Convert-1", (counted(1, 1, 2, 2),), {"destination_type": "f64"}),
                Fixed(whole(4, 4)),
                Fixed(floats(2, 2)),
                Fixed(whole(2, 3)),
            ),
            {"mode": "nearest", "shape_calculation_mode": "sizes"},
        ),
        version=10,
        types="f64",
    ),
    ReleaseDifference(
        name="Interpolate-1 of f64",
        first="2021.3",
        last="2026.2",
        ops=("Interpolate-1",),
        state=State.UNCOMPILED,
        reason="Data of f64 is not compiled.",
        model=Call(
            "Interpolate-1",
            (Call("Convert-1", (counted(1, 1, 2, 2),), {"destination_type": "f64"}), Fixed(whole(4, 4))),
            {"mode": "nearest", "axes": "2,3", "align_corners": "false", "antialias": "false"},
        ),
        types="f64",
    ),
    ReleaseDifference(
        name="quotients of i32",
        first="2021.2",
        last="2021.2",
        ops=("Divide-1", "Mod-1"),
        reason="Quotients of integers are rounded up from one half, in place of down.",
        sometimes=True,
        model=Call("Divide-1", (np.array([7, 9], np.int32), np.array([2, 2], np.int32))),
        version=10,
        types="i32 i64",
    ),
    ReleaseDifference(
        name="quotients of 8 bits",
        first="2021.2",
        last="2022.3",
        ops=("Divide-1",),
        reason="Quotients of integers of 8 bits are rounded to the nearest, in place of down.",
        sometimes=True,
        model=Call("Divide-1", (np.array([7, 9], np.uint8), np.array([2, 2], np.uint8))),
        version=10,
        types="u8 i8",
    ),
    *(
        ReleaseDifference(
            name=f"Mod of {kinds} by {divisor} numbers",
            first="2021.2",
            last=last,
            ops=("Mod-1",),
            state=state,
            reason=f"Integers of {bits} bits {what}.",
            model=Call("Mod-1", (np.array([5, 8], kind), by(np.array([3, 3], kind)))),
            version=10,
            types=kinds,
            applies=applies,
        )
        for kinds, kind, bits, last in (("u8 i8", np.int8, 8, "2021.3"), ("u16 i16", np.int16, 16, "2021.2"))
        for divisor, by, state, what, applies in (
            ("computed", np.array, State.DIFFERS, "give other values", lambda seen: 1 not in seen.constant),
            ("constant", Fixed, State.UNCOMPILED, "are not compiled", lambda seen: 1 in seen.constant),
        )
    ),
    ReleaseDifference(
        name="means of integers",
        first="2022.1",
        last="2024.3",
        ops=("ReduceMean-1",),
        reason="Means of integers are rounded to the nearest; the fraction should be cut off.",
        sometimes=True,
        model=Call("ReduceMean-1", (np.array([1, 2], np.int32), Fixed(whole(0)))),
        types="u8 i8 u16 i16 u32 i32 u64 i64",
        applies=_has_fewer_elements,
    ),
    ReleaseDifference(
        name="reductions along computed axes",
        first="2022.1",
        last="2024.0",
        ops=REDUCTIONS,
        state=State.UNCOMPILED,
        reason="Computed axes are not compiled without `keep_dims`.",
        model=Call("ReduceMax-1", (counted(2, 3), whole(0))),
        instead=("input 1",),
        applies=lambda seen: 1 not in seen.constant and not (seen.attrs and seen.attrs["keep_dims"]),
    ),
    ReleaseDifference(
        name="differences of unsigned integers",
        first="2021.2",
        last="2022.2",
        ops=("Subtract-1",),
        reason="A number is added that is not the negative of the one to subtract: 9 - 2 gives 255 in u8, or 519.",
        model=Call("Subtract-1", (np.array([9, 7], np.uint8), np.array([2, 3], np.uint8))),
        types="u8 u16 u32 u64",
    ),
    ReleaseDifference(
        name="minima of unsigned integers",
        first="2021.2",
        last="2021.4",
        ops=("Minimum-1",),
        reason="Numbers come that are no element of either input.",
        model=Call("Minimum-1", (np.array([9, 7], np.uint8), np.array([2, 30], np.uint8))),
        version=10,
        types="u8 u16 u32 u64",
    ),
    ReleaseDifference(
        name="unsigned results below 0",
        first="2022.1",
        last="2025.3",
        ops=("Subtract-1", "Sin-1", "Cos-1", "Tan-1", "LogSoftmax-5", "MVN-1", "MVN-6", "BitwiseNot-13"),
        reason="Results below 0 of u16, u32 and u64 that an output of the model gives become 0, and are not wrapped"
        " around.",
        sometimes=True,
        model=Call("Subtract-1", (np.array([1, 9], np.uint16), np.array([4, 2], np.uint16))),
        types="u16 u32 u64",
        applies=lambda seen: not seen.converted,
    ),
    *(
        ReleaseDifference(
            name=f"{kind} results that are no numbers, {where}",
            first=first,
            last=last,
            ops=("Asin-1", "Acos-1", "Acosh-4", "Atanh-4"),
            reason="Beyond the range of the function another number comes than 0.",
            sometimes=True,
            model=_arcsines(kind, inside=where in {"converted", "within a model"}),
            types=kind,
            applies=applies,
        )
        for kind, where, first, last, applies in (
            ("u16", "anywhere", "2022.1", "2025.2", lambda seen: True),
            ("u64", "at an output", "2022.1", "2025.3", lambda seen: not seen.converted),
            ("u64", "converted", "2022.1", "2025.2", lambda seen: seen.converted),
            ("u32", "at an output", "2025.3", "2025.3", lambda seen: not seen.converted),
            ("u32", "within a model", "2022.1", "2025.2", lambda seen: not seen.border),
        )
    ),
    ReleaseDifference(
        name="Gelu-2 by tanh",
        first="2021.2",
        last="2021.3",
        ops=("Gelu-2",),
        types="f32 f64",
        reason="Gelu-2 is approximated with tanh; it differs in the fourth digit.",
        sometimes=True,
        model=Call("Gelu-2", (floats(0.5, -1.5, 2.2),)),
        version=10,
    ),
    ReleaseDifference(
        name="ceil_torch with an uneven end",
        first="2024.2",
        last="2024.2",
        ops=("AvgPool-14",),
        reason="Windows at the end count elements behind the padding, and one that begins there is not left out.",
        model=Call(
            "AvgPool-14",
            (counted(1, 1, 6, 6),),
            {
                "kernel": "3,3",
                "strides": "2,2",
                "pads_begin": "1,1",
                "pads_end": "1,1",
                "exclude-pad": "false",
                "rounding_type": "ceil_torch",
            },
        ),
        applies=_has_uneven_end,
    ),
    ReleaseDifference(
        name="FakeConvert of small numbers",
        first="2023.3",
        last="2024.6",
        ops=("FakeConvert-13",),
        reason="Numbers below 2^-6 are rounded down or up by turns, in place of to the nearest of f8e4m3.",
        sometimes=True,
        model=_converted(0.015, "f8e4m3"),
        applies=_with("destination_type", "f8e4m3"),
    ),
    *(
        ReleaseDifference(
            name=f"FakeConvert of large numbers to {kind}",
            first=first,
            last="2025.0",
            ops=("FakeConvert-13",),
            reason=f"Numbers beyond those of {kind} become {found}, in place of the largest.",
            sometimes=True,
            model=_converted(1e6, kind),
            applies=_with("destination_type", kind),
        )
        for kind, first, found in (("f8e5m2", "2023.3", "infinite"), ("f8e4m3", "2025.0", "nan"))
    ),
    ReleaseDifference(
        name="SegmentMax",
        first="2025.1",
        last="2025.1",
        ops=("SegmentMax-16",),
        reason="Maxima are compared with 0: a segment of negative numbers gives 0 or the least number.",
        sometimes=True,
        model=Call(
            "SegmentMax-16",
            (floats([1, -2], [3, 4], [-5, -6], [7, 8]), Fixed(whole(0, 0, 2, 3))),
            {"fill_mode": "ZERO"},
        ),
        types="f32 f16 bf16 f64 i8 i16 i32 i64",
    ),
    ReleaseDifference(
        name="MatMul with weights of 8 and 4 bits",
        first="2024.3",
        last="2026.4",
        ops=("MatMul-1",),
        reason="With weights of 8 or 4 bits the other input is quantised, too; results differ in the third digit."
        " DYNAMIC_QUANTIZATION_GROUP_SIZE=0 turns it off.",
        sometimes=True,
        model=_compressed(),
        applies=lambda seen: seen.inputs[0].dtype.is_float and bool(seen.held & {"u8", "i8", "u4", "i4"}),
    ),
    *(
        ReleaseDifference(
            name=f"MatMul of {what} of unknown size by several constant ones",
            first="2025.4",
            last="2026.4",
            ops=("MatMul-1",),
            state=state,
            reason=f"{what.capitalize()} of unknown size is not multiplied by several constant ones.",
            model=Call("MatMul-1", (Given(counted(*sizes), shape), Fixed(counted(3, 4, 5)))),
            applies=partial(_is_spread_over_matrices, by_rank=by_rank),
        )
        for what, state, sizes, shape, by_rank in (
            ("one matrix", State.FAILS, (1, 6, 4), "1,?,4", False),
            ("a matrix without batch", State.UNCOMPILED, (6, 4), "?,4", True),
        )
    ),
    ReleaseDifference(
        name="TopK without order",
        first="2021.2",
        last="2021.4",
        ops=("TopK-1", "TopK-3"),
        reason='With sort="none" the elements come in the order of their places, in place of by value.',
        model=Call(
            "TopK-3",
            (floats([3, 9, 1, 7, 5, 8]), Fixed(number(3, np.int64))),
            {"axis": "1", "mode": "max", "sort": "none"},
            (0,),
        ),
        version=10,
        applies=_with("sort", "none"),
    ),
    ReleaseDifference(
        name="ROIAlign by maximum",
        first="2021.3",
        last="2021.4",
        ops=("ROIAlign-3",),
        reason="The largest of the four neighbours is taken before they are weighted.",
        model=Call(
            "ROIAlign-3",
            (counted(1, 1, 8, 8), floats([0, 0, 6, 6]), np.array([0], np.int32)),
            {"pooled_h": "2", "pooled_w": "2", "sampling_ratio": "2", "spatial_scale": "0.5", "mode": "max"},
        ),
        version=10,
        applies=_with("mode", "max"),
    ),
    ReleaseDifference(
        name="PriorBoxClustered with one variance",
        first="2021.3",
        last="2021.4",
        ops=("PriorBoxClustered-1",),
        reason="Of one variance for all four coordinates three are read from memory behind it.",
        applies=lambda seen: seen.attrs is not None and len(seen.attrs.variance) == 1,
        model=Call(
            "PriorBoxClustered-1",
            (Fixed(whole(4, 4)), Fixed(whole(32, 32))),
            {"offset": "0.5", "variance": "0.1", "width": "4,8", "height": "4,8"},
        ),
        version=10,
    ),
    ReleaseDifference(
        name="negative indices of GatherND",
        first="2021.2",
        last="2025.2",
        ops=("GatherND-5", "GatherND-8"),
        reason="Negative indices do not count from the end: memory before the data is read.",
        sometimes=True,
        model=Call("GatherND-5", (counted(3, 2), Fixed(np.array([[-1]])))),
        version=10,
        applies=lambda seen: seen.inputs[1].value is not None and bool((seen.inputs[1].value.upper < 0).any()),
    ),
    ReleaseDifference(
        name="negative indices of GatherElements",
        first="2021.3",
        last="2025.2",
        ops=("GatherElements-6",),
        reason="Negative indices do not count from the end: memory before the data is read.",
        sometimes=True,
        model=Call("GatherElements-6", (counted(3, 2), Fixed(np.array([[-1, -1]]))), {"axis": "0"}),
        version=10,
        applies=lambda seen: seen.inputs[1].value is not None and bool((seen.inputs[1].value.upper < 0).any()),
    ),
    ReleaseDifference(
        name="negative indices of ScatterNDUpdate",
        first="2021.2",
        last="2023.0",
        ops=("ScatterNDUpdate-4",),
        state=State.DIES,
        reason="Negative indices do not count from the end: memory before the data is written.",
        model=Call("ScatterNDUpdate-4", (counted(3, 4), Fixed(np.array([[-1]])), counted(1, 4))),
        version=10,
        applies=lambda seen: seen.inputs[1].value is not None and bool((seen.inputs[1].value.upper < 0).any()),
    ),
    ReleaseDifference(
        name="negative indices of ScatterElementsUpdate",
        first="2021.2",
        last="2023.0",
        ops=("ScatterElementsUpdate-3",),
        state=State.FAILS,
        reason="Negative indices are refused when the model runs.",
        model=Call(
            "ScatterElementsUpdate-3",
            (counted(3, 4), Fixed(np.array([[-1] * 4])), counted(1, 4), Fixed(number(0, np.int64))),
        ),
        version=10,
        applies=lambda seen: seen.inputs[1].value is not None and bool((seen.inputs[1].value.upper < 0).any()),
    ),
    ReleaseDifference(
        name="RegionYolo without SoftMax and without a mask",
        first="2021.2",
        last="2023.1",
        ops=("RegionYolo-1",),
        state=State.UNREAD,
        reason='With do_softmax="false" a mask has to be there; without one it is not read.',
        model=_region_yolo(),
        version=10,
        applies=_is_unmasked,
    ),
    ReleaseDifference(
        name="RegionYolo without SoftMax and without a mask, read",
        first="2023.2",
        last="2023.2",
        ops=("RegionYolo-1",),
        state=State.UNCOMPILED,
        reason='With do_softmax="false" a mask has to be there; without one it is not compiled.',
        model=_region_yolo(),
        version=10,
        applies=_is_unmasked,
    ),
    ReleaseDifference(
        name="NormalizeL2 over some axes",
        first="2021.2",
        last="2021.3",
        ops=("NormalizeL2-1",),
        reason="Over axes that are not all but the first, other elements are added up.",
        model=Call("NormalizeL2-1", (counted(2, 3, 4, 4), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}),
        version=10,
        applies=lambda seen: _axes(seen) != [*range(1, len(seen.inputs[0].shape or ()))],
    ),
    ReleaseDifference(
        name="NormalizeL2 over other axes than the channels",
        first="2021.4",
        last="2021.4",
        ops=("NormalizeL2-1",),
        state=State.UNCOMPILED,
        reason="Axes have to be the second, or all but the first.",
        model=Call("NormalizeL2-1", (counted(2, 3, 4, 4), Fixed(whole(2, 3))), {"eps": "0.001", "eps_mode": "add"}),
        version=10,
        applies=lambda seen: _axes(seen) not in ([1], [*range(1, len(seen.inputs[0].shape or ()))]),
    ),
    ReleaseDifference(
        name="DeformableConvolution with unequal dilations",
        first="2021.4",
        last="2022.1",
        ops=("DeformableConvolution-1", "DeformableConvolution-8"),
        reason="The dilations of height and width are mixed up.",
        model=Call(
            "DeformableConvolution-1",
            (counted(1, 1, 6, 6), np.zeros((1, 8, 5, 4), np.float32), counted(1, 1, 2, 2)),
            {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,2", **ONE_GROUP},
        ),
        version=10,
        applies=lambda seen: seen.attrs is not None and len({*seen.attrs.dilations}) > 1,
    ),
    ReleaseDifference(
        name="an input that is transposed in its only axis",
        first="2021.2",
        last="2025.0",
        ops=("Transpose-1",),
        reason="The layer is removed, and nobody writes the output of the model.",
        model=Call("Transpose-1", (counted(3), Fixed(whole(0)))),
        version=10,
        applies=lambda seen: _is_alone(seen) and len(seen.inputs[0].shape or ()) < 2 and 1 in seen.constant,
    ),
    ReleaseDifference(
        name="an input that is transposed in its only axis, refused",
        first="2025.1",
        last="2025.2",
        ops=("Transpose-1",),
        state=State.FAILS,
        reason="The layer is removed, and the output of the model cannot be read.",
        model=Call("Transpose-1", (counted(3), Fixed(whole(0)))),
        version=10,
        applies=lambda seen: _is_alone(seen) and len(seen.inputs[0].shape or ()) < 2 and 1 in seen.constant,
    ),
    *(
        ReleaseDifference(
            name=f"one number that is transposed behind other layers, {first} to {last}",
            first=first,
            last=last,
            ops=("Transpose-1",),
            state=state,
            reason="The layer is removed, and nobody writes the output of the model.",
            model=Call("Transpose-1", (Call("Add-1", (number(3), Fixed(number(2)))), Fixed(whole()))),
            applies=lambda seen: seen.last and not seen.first and _has_rank(seen, 0),
        )
        for first, last, state in (("2024.3", "2025.0", State.DIFFERS), ("2025.1", "2025.2", State.FAILS))
    ),
    ReleaseDifference(
        name="Transpose of bytes between an input and an output of IR v10",
        first="2022.2",
        last="2023.0",
        ops=("Transpose-1",),
        state=State.UNCOMPILED,
        reason="A layer of bytes between an input and an output of IR v10 is removed, and the output is missing.",
        model=Call("Transpose-1", (counted(2, 3, 4).astype(np.uint8), Fixed(whole(2, 0, 1)))),
        version=10,
        types="u8 i8 boolean",
        applies=lambda seen: seen.between and seen.version == FIRST_VERSION and not _has_rank(seen, 1),
    ),
    ReleaseDifference(
        name="Transpose without an order",
        first="2022.1",
        last="2024.2",
        ops=("Transpose-1",),
        reason="An order without elements, which is to reverse the axes, leaves them as they are.",
        model=Call("Transpose-1", (Call("Abs-1", (counted(2, 3),)), Fixed(whole()))),
        applies=lambda seen: not _is_alone(seen) and _axes(seen) == [] and len(seen.inputs[0].shape or ()) > 1,
    ),
    ReleaseDifference(
        name="SearchSorted in sequences of one number",
        first="2024.5",
        last="2024.6",
        ops=("SearchSorted-15",),
        reason="Several sequences of one number, or several numbers that are searched in one, are mixed up.",
        model=Call("SearchSorted-15", (counted(3, 1), Fixed(floats([2], [0], [3]))), {"right_mode": "false"}),
        applies=_has_short_sequences,
    ),
    ReleaseDifference(
        name="Einsum with two sizes for a letter",
        first="2021.4",
        last="2025.0",
        ops=("Einsum-7",),
        state=State.UNREAD,
        reason="A letter whose size is 1 in one input and more in another is not read.",
        model=Call("Einsum-7", (counted(2, 1), counted(3, 4)), {"equation": "ab,bc->ac"}),
        version=10,
        applies=lambda seen: any(len(sizes) > 1 for sizes in _sizes_of_letters(seen).values()),
    ),
    ReleaseDifference(
        name="PReLU with a slope inside channels",
        first="2021.2",
        last="2021.3",
        ops=("PReLU-1",),
        state=State.UNCOMPILED,
        reason="A constant slope that is not one for each channel is read and not compiled.",
        model=Call("PReLU-1", (counted(2, 3), Fixed(counted(2, 3)))),
        version=10,
        types="f32 f16",
        applies=_has_slope_inside_channels,
    ),
    ReleaseDifference(
        name="StridedSlice that inserts an axis before one that it cuts",
        first="2023.0",
        last="2024.6",
        ops=("StridedSlice-1",),
        state=State.FAILS,
        reason="For data of unknown size the axis that is cut is taken for another one; the process may end.",
        model=Call(
            "StridedSlice-1",
            (Given(counted(2, 3, 4), "?,3,?"), *(Fixed(whole(number, number)) for number in (0, 1, 1))),
            {"begin_mask": "0,0", "end_mask": "0,0", "new_axis_mask": "1,0"},
        ),
        applies=_slices_behind_new_axis,
    ),
    ReleaseDifference(
        name="StridedSlice with absent masks",
        first="2021.2",
        last="2021.2",
        ops=("StridedSlice-1",),
        state=State.UNREAD,
        reason="A StridedSlice is not read unless all of its masks are written.",
        model=Call(
            "StridedSlice-1",
            (counted(2, 3), *(Fixed(whole(number, number)) for number in (0, 2, 1))),
            {"begin_mask": "0,0", "end_mask": "0,0"},
        ),
        version=10,
        applies=lambda seen: seen.short,
    ),
    ReleaseDifference(
        name="Einsum with a letter twice in one input",
        first="2021.4",
        last="2025.0",
        ops=("Einsum-7",),
        state=State.UNCOMPILED,
        reason="A letter that an input has twice, or ..., is not compiled.",
        model=Call("Einsum-7", (counted(2, 2, 3),), {"equation": "aab->ab"}),
        version=10,
        applies=lambda seen: any("." in term or len({*term}) < len(term) for term in _terms(seen)),
    ),
    *(
        ReleaseDifference(
            name=f"Einsum that changes nothing, {first} to {last}",
            first=first,
            last=last,
            ops=("Einsum-7",),
            state=State.DIES,
            reason="An Einsum of one input of the model whose letters keep their order ends the process.",
            model=Call("Einsum-7", (counted(2, 3).astype(dtype),), {"equation": "ab->ab"}),
            version=version,
            applies=applies,
        )
        for first, last, dtype, version, applies in (
            ("2021.4", "2021.4", np.float16, 10, lambda seen: _keeps_all(seen) and seen.first),
            ("2022.1", "2023.2", np.float32, 11, lambda seen: _keeps_all(seen) and seen.first and _is_kept(seen)),
        )
    ),
    ReleaseDifference(
        name="GroupNormalization of two dimensions",
        first="2023.1",
        last="2024.0",
        ops=("GroupNormalization-12",),
        state=State.UNCOMPILED,
        reason="Data of batch and channels alone is read and not compiled.",
        model=Call(
            "GroupNormalization-12",
            (counted(2, 6), counted(6), counted(6)),
            {"num_groups": "3", "epsilon": "0.01"},
        ),
        applies=lambda seen: _has_rank(seen, 2),
    ),
    ReleaseDifference(
        name="Interpolate of integers",
        first="2021.2",
        last="2021.4",
        ops=("Interpolate-4",),
        state=State.UNREAD,
        reason="Integers other than i8 are not read.",
        model=Call(
            "Interpolate-4",
            (np.ones((1, 1, 2, 2), np.int32), Fixed(whole(4, 4)), Fixed(floats(2, 2)), Fixed(whole(2, 3))),
            {"mode": "nearest", "shape_calculation_mode": "sizes"},
        ),
        version=10,
        types="boolean i16 i32 i64 u8 u16 u32 u64",
    ),
    *(
        ReleaseDifference(
            name=f"{mode} Interpolate of five dimensions, {first} to {last}",
            first=first,
            last=last,
            ops=("Interpolate-1", "Interpolate-4"),
            state=state,
            reason=f"Data of five dimensions is read and {what} if the mode is {mode}.",
            model=Call(
                "Interpolate-4",
                (counted(1, 1, 3, 5, 5), Fixed(whole(4, 4, 4)), Fixed(floats(1, 1, 1)), Fixed(whole(2, 3, 4))),
                {"mode": mode, "shape_calculation_mode": "sizes"},
            ),
            version=10,
            applies=_in_five_dimensions(mode),
        )
        for mode, first, last, state, what in (
            ("cubic", "2021.2", "2021.3", State.UNCOMPILED, "not compiled"),
            ("cubic", "2021.4", "2021.4", State.DIES, "ends the process"),
            ("linear_onnx", "2021.2", "2021.2", State.UNCOMPILED, "not compiled"),
        )
    ),
    ReleaseDifference(
        name="attention with a boolean mask",
        first="2023.3",
        last="2025.2",
        ops=("ScaledDotProductAttention-13",),
        reason="A boolean mask is read the other way round: a query sees the keys that are false.",
        model=Call("ScaledDotProductAttention-13", (*ATTENTION, np.array([[True, False, True]] * 2)), PLAIN),
        applies=lambda seen: _has_mask(seen) and seen.inputs[3].dtype.kind == "boolean",
    ),
    ReleaseDifference(
        name="attention with a mask of one row",
        first="2023.3",
        last="2024.2",
        ops=("ScaledDotProductAttention-13",),
        state=State.UNREAD,
        reason="A mask with one row for all queries, or one column for all keys, is not read.",
        model=Call("ScaledDotProductAttention-13", (*ATTENTION, np.zeros((1, 3), np.float32)), PLAIN),
        applies=partial(_repeats_mask, known=True),
    ),
    ReleaseDifference(
        name="attention of an unknown number of queries with a mask of one row",
        first="2023.3",
        last="2023.3",
        ops=("ScaledDotProductAttention-13",),
        state=State.FAILS,
        reason="A mask with one row for all queries, or one column for all keys, is read and fails.",
        model=Call(
            "ScaledDotProductAttention-13",
            (Given(counted(1, 2, 3, 4), "1,2,?,4"), *[counted(1, 2, 3, 4)] * 2, np.zeros((1, 1, 1, 3), np.float32)),
            PLAIN,
        ),
        applies=lambda seen: _has_rank(seen, 4) and _repeats_mask(seen, known=False),
    ),
    ReleaseDifference(
        name="attention with constant keys or values",
        first="2025.3",
        last="2026.0",
        ops=("ScaledDotProductAttention-13",),
        reason="Keys or values of several heads or batches that are constants are read as other numbers.",
        model=Call("ScaledDotProductAttention-13", (counted(1, 2, 3, 4), *map(Fixed, _keys_and_values())), PLAIN),
        applies=_has_constant_heads,
    ),
    ReleaseDifference(
        name="attention with a sink",
        first="2023.3",
        last="2025.3",
        ops=("ScaledDotProductAttention-13",),
        reason="The sixth input, whose share of the SoftMax is dropped, is not read.",
        model=Call(
            "ScaledDotProductAttention-13",
            (*ATTENTION, np.zeros((2, 3), np.float32), np.array(0.5, np.float32), np.ones((1, 1, 1), np.float32)),
            PLAIN,
        ),
        applies=lambda seen: len(seen.inputs) > 5,
    ),
    ReleaseDifference(
        name="Reverse by a mask",
        first="2021.2",
        last="2022.1",
        ops=("Reverse-1",),
        state=State.UNCOMPILED,
        reason="A mask is read and not compiled.",
        model=Call("Reverse-1", (counted(3), Fixed(np.array([True]))), {"mode": "mask"}),
        version=10,
        applies=_with("mode", "mask"),
    ),
    *(
        ReleaseDifference(
            name=f"Reverse of {types.split()[0]} by a mask",
            first="2022.1",
            last=last,
            ops=("Reverse-1",),
            state=State.UNCOMPILED,
            reason=f"A mask is read and not compiled for {', '.join(types.split())}.",
            model=Call("Reverse-1", (counted(2, 4).astype(dtype), Fixed(np.array([True, False]))), {"mode": "mask"}),
            types=types,
            applies=_with("mode", "mask"),
        )
        for types, dtype, last in (("f16 i64 u64", np.float16, "2023.0"), ("f64 i16 u16 u32", np.float64, "2023.2"))
    ),
    *(
        ReleaseDifference(
            name=f"Select with pdpd, {what}, {first} to {last}",
            first=first,
            last=last,
            ops=("Select-1",),
            state=state,
            reason=f'`auto_broadcast="pdpd"` for {what} {state.words}.',
            model=Call(
                "Select-1",
                (condition, counted(*sizes), counted(*sizes)),
                {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "0"},
            ),
            instead=("auto_broadcast=pdpd",),
            applies=applies,
        )
        for what, condition, sizes, applies, spans in (
            (
                "floats or bytes of known sizes",
                np.ones((2, 3), bool),
                (2, 3),
                _selects_as_pdpd,
                (("2023.3", "2024.0", State.UNCOMPILED), ("2024.5", "2026.4", State.UNCOMPILED)),
            ),
            (
                "floats or bytes of known sizes in three dimensions or more",
                np.ones((2, 3, 4), bool),
                (2, 3, 4),
                partial(_selects_as_pdpd, rank=3),
                (("2023.3", "2026.4", State.UNCOMPILED),),
            ),
            (
                "inputs of other sizes",
                np.array([[True, False]]),
                (2, 2),
                _selects_of_other_sizes,
                (("2022.1", "2023.0", State.UNREAD),),
            ),
        )
        for first, last, state in spans
    ),
    ReleaseDifference(
        name="deconvolution of one group",
        first="2024.2",
        last="2026.4",
        ops=("GroupConvolutionBackpropData-1",),
        state=State.UNCOMPILED,
        reason="With one group of several channels it is read and not compiled.",
        model=_deconvolution(np.float32),
        applies=_is_one_group,
    ),
    ReleaseDifference(
        name="deconvolution of one group in i8",
        first="2022.1",
        last="2026.4",
        ops=("GroupConvolutionBackpropData-1",),
        state=State.UNCOMPILED,
        reason="With one group of several channels it is read and not compiled.",
        model=_deconvolution(np.int8),
        types="i8",
        applies=_is_one_group,
    ),
    ReleaseDifference(
        name="Slice along computed axes",
        first="2023.0",
        last="2026.4",
        ops=("Slice-8",),
        state=State.DIES,
        reason="Axes that are computed end the process if start, stop and step are constants.",
        model=Call("Slice-8", (counted(2, 4, 4), *map(Fixed, (whole(0), whole(2), whole(1))), whole(1))),
        instead=("input 4",),
        applies=lambda seen: len(seen.inputs) > 4 and 4 not in seen.constant and {1, 2, 3} <= {*seen.constant},
    ),
    ReleaseDifference(
        name="blocks in the channels",
        first="2021.2",
        last="2021.3",
        ops=("BatchToSpace-2", "SpaceToBatch-2"),
        state=State.UNCOMPILED,
        reason="A block, padding or crop of axis 1 is read and not compiled.",
        model=Call(
            "SpaceToBatch-2",
            (counted(2, 4, 4, 4), *map(Fixed, (whole(1, 2, 1, 1), whole(0, 0, 0, 0), whole(0, 0, 0, 0)))),
        ),
        version=10,
        applies=_touches_channels,
    ),
    ReleaseDifference(
        name="Broadcast of a single element along given axes",
        first="2021.2",
        last="2021.3",
        ops=("Broadcast-1", "Broadcast-3"),
        state=State.UNREAD,
        reason="Sizes of axes that are given have to be equal; 1 is not repeated.",
        model=Call("Broadcast-1", (counted(1), Fixed(whole(3)), Fixed(whole(0))), {"mode": "explicit"}),
        version=10,
        applies=lambda seen: _with("mode", "explicit")(seen) and _widens(seen),
    ),
    ReleaseDifference(
        name="Interpolate of batch or channels",
        first="2021.2",
        last="2021.4",
        ops=INTERPOLATE,
        state=State.UNCOMPILED,
        reason="Batch and channels cannot be resized.",
        model=_interpolate("0,1", 3, 3),
        version=10,
        applies=lambda seen: not _has_rank(seen, 2) and not {0, 1}.isdisjoint(_resized(seen)),
    ),
    ReleaseDifference(
        name="Interpolate of channels, height and width",
        first="2021.2",
        last="2025.3",
        ops=INTERPOLATE,
        state=State.UNCOMPILED,
        reason="Three axes of data of three or four dimensions are read and not compiled.",
        model=_interpolate("1,2,3", 3, 3, 3),
        version=10,
        applies=_resizes_channels,
    ),
    ReleaseDifference(
        name="cubic Interpolate of channels, height and width",
        first="2025.4",
        last="2026.4",
        ops=INTERPOLATE,
        reason="Along three axes of data of three or four dimensions memory behind the data is read.",
        model=Call(
            "Interpolate-11",
            (counted(2, 3, 4, 4), Fixed(whole(5, 6, 5)), Fixed(whole(1, 2, 3))),
            {"mode": "cubic", "shape_calculation_mode": "sizes"},
        ),
        applies=lambda seen: _with("mode", "cubic")(seen) and _resizes_channels(seen),
    ),
    ReleaseDifference(
        name="Interpolate-1 of 2021.2",
        first="2021.2",
        last="2021.2",
        ops=("Interpolate-1",),
        state=State.UNCOMPILED,
        reason='One axis, mode="cubic" and antialias are read and not compiled.',
        model=_interpolate("2", 3),
        version=10,
        applies=lambda seen: (
            seen.attrs is not None and (seen.attrs.antialias or seen.attrs.mode == "cubic" or len(seen.attrs.axes) == 1)
        ),
    ),
    ReleaseDifference(
        name="Interpolate-1 whose corners are not aligned",
        first="2021.3",
        last="2021.3",
        ops=("Interpolate-1",),
        reason='With align_corners="false" other places are read.',
        model=_interpolate("2,3", 3, 3),
        version=10,
        applies=lambda seen: (
            _interpolated(seen)[:2] == ("cubic", False)
            or (_interpolated(seen)[:2] == ("linear", False) and len(_interpolated(seen)[2]) > 1)
        ),
    ),
    ReleaseDifference(
        name="Interpolate-1 to fewer elements",
        first="2021.2",
        last="2021.3",
        ops=("Interpolate-1",),
        reason='With align_corners="false" the nearest element is another one.',
        model=_interpolate("2,3", 3, 3, mode="nearest"),
        version=10,
        applies=lambda seen: _interpolated(seen)[:2] == ("nearest", False) and _shrinks(seen),
    ),
    *(
        ReleaseDifference(
            name=f"{op} with a constant state for a batch of unknown size, {first} to {last}",
            first=first,
            last=last,
            ops=(op,),
            state=state,
            reason="A state that is constant is not compiled if the size of the batch is unknown.",
            model=_recurrent(op, "?,5,4" if "Sequence" in op else "?,4"),
            applies=partial(_has_known_state, constant=True),
        )
        for op, first, last, state in (
            ("GRUCell-3", "2022.1", "2026.4", State.UNCOMPILED),
            ("LSTMCell-4", "2022.1", "2026.4", State.UNCOMPILED),
            ("RNNCell-1", "2022.1", "2023.0", State.UNCOMPILED),
            ("RNNCell-1", "2024.3", "2026.4", State.UNCOMPILED),
            *(
                (op, *span)
                for op, _ in SEQUENCES
                for span in (
                    ("2022.1", "2022.2", State.UNCOMPILED),
                    ("2022.3", "2023.0", State.DIES),
                    ("2023.1", "2026.4", State.UNCOMPILED),
                )
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{op} with a state of known size for a batch of unknown size",
            first="2022.1",
            last="2023.0",
            ops=(op,),
            state=State.UNCOMPILED,
            reason="A state of known size is not compiled if the size of the batch is unknown.",
            model=_recurrent(op, "?,4", *["3,2"] * states),
            applies=partial(_has_known_state, constant=False),
        )
        for op, states in CELLS
    ),
    *(
        ReleaseDifference(
            name=f"{op} with recurrence weights of unknown size, {first} to {last}",
            first=first,
            last=last,
            ops=(op,),
            state=State.UNCOMPILED,
            reason="Recurrence weights of unknown size are not compiled if the biases are constant.",
            model=_recurrent(op, *before, "", "1,?,2" if len(before) > states + 1 else "?,2"),
            instead=tuple(f"? {axis}input {len(before) + 1}" for axis in ("", "0 ", "1 ")),
            applies=_has_unknown_recurrence,
        )
        for op, states, before in (
            *((op, states, ("3,4", *["3,2"] * states)) for op, states in CELLS),
            *((op, states, ("3,5,4", *["3,1,2"] * states, "3")) for op, states in SEQUENCES),
        )
        for first, last in (("2022.1", "2023.3"), ("2025.4", "2026.4"))
    ),
    *(
        ReleaseDifference(
            name=f"{op} with {what}, {first} to {last}",
            first=first,
            last=last,
            ops=(op,),
            state=state,
            reason=f"A sequence with {what} {state.words}.",
            model=model,
            instead=instead,
            applies=applies,
        )
        for op, states in SEQUENCES
        for open, known in [(["?,1,2"] * states, ["3,1,2"] * states)]
        for what, model, instead, applies, spans in (
            (
                "states or lengths of known size for a batch of unknown size",
                _recurrent(op, "?,5,4", *known, "?"),
                (),
                partial(_has_known_batch, lengths=False),
                (("2022.1", "2022.2", State.UNCOMPILED),),
            ),
            (
                "constant lengths for a batch of unknown size",
                _recurrent(op, "?,5,4", *open),
                (),
                partial(_has_known_batch, lengths=True),
                (("2022.3", "2023.0", State.DIES), ("2023.1", "2023.3", State.UNCOMPILED)),
            ),
            (
                "states of unknown size",
                _recurrent(op, "3,5,4", *open, "3"),
                tuple(f"? {axis}input {at}" for at in range(1, states + 1) for axis in ("", "0 ", "2 ")),
                _has_unknown_state,
                (
                    ("2022.1", "2022.3", State.UNCOMPILED),
                    ("2023.0", "2023.1", State.FAILS),
                    ("2023.2", "2024.0", State.UNCOMPILED),
                ),
            ),
            (
                "data of unknown size, and clipping, other activations or computed weights",
                _recurrent(op, "3,5,?", *known, "3", clip="1"),
                (),
                _has_unknown_data,
                (("2022.1", "2023.0", State.DIFFERS if op == "GRUSequence-5" else State.UNCOMPILED),),
            ),
            (
                "an unknown number of steps, and clipping, other activations or computed weights",
                _recurrent(op, "3,?,4", *known, "3", clip="1"),
                (),
                _has_unknown_time,
                (("2023.1" if op == "GRUSequence-5" else "2022.1", "2023.1", State.UNCOMPILED),),
            ),
        )
        for first, last, state in spans
    ),
    *(
        ReleaseDifference(
            name=f"LSTMCell-1 without clipping, {first} to {last}",
            first=first,
            last=last,
            ops=("LSTMCell-1",),
            state=state,
            reason="A cell without clipping and with the usual activations stops the release.",
            model=_recurrent("LSTMCell-1", "3,4", "3,2", "3,2"),
            version=10,
            applies=lambda seen: not _is_split(seen),
        )
        for first, last, state in (
            ("2021.4", "2021.4", State.UNCOMPILED),
            ("2022.1", "2022.2", State.DIES),
            ("2022.3", "2023.0", State.UNCOMPILED),
        )
    ),
    ReleaseDifference(
        name="LSTMCell-1 with computed weights",
        first="2021.2",
        last="2023.0",
        ops=("LSTMCell-1",),
        state=State.UNCOMPILED,
        reason="Weights that are computed are not compiled without clipping and with the usual activations.",
        model=_recurrent("LSTMCell-1", "3,4", "3,2", "3,2", "8,4"),
        version=10,
        instead=("input 3", "input 4", "input 5"),
        applies=lambda seen: not _is_unusual(seen) and not {3, 4, 5} <= {*seen.constant},
    ),
    *(
        ReleaseDifference(
            name=f"LSTMCell-1 of integers with recurrence weights of {sizes} sizes",
            first=first,
            last="2025.3",
            ops=("LSTMCell-1",),
            state=state,
            reason=f"Integers with computed recurrence weights of {sizes} sizes, and constant biases, {what}.",
            model=_integer_cell(shape),
            types="i8 i16 i32 i64 u8 u16 u32 u64",
            applies=applies,
        )
        for sizes, shape, first, state, what, applies in (
            ("known", "8,2", "2022.1", State.UNCOMPILED, "are not compiled", _has_static_recurrence),
            ("unknown", "?,2", "2024.0", State.DIFFERS, "give other values", _has_computed_recurrence),
        )
    ),
    ReleaseDifference(
        name="Eye of i64",
        first="2022.2",
        last="2022.3",
        ops=("Eye-9",),
        state=State.UNCOMPILED,
        reason="An output of i64 is read and not compiled.",
        model=Call("Eye-9", (number(3, np.int32), number(4, np.int32), number(0, np.int64)), {"output_type": "i64"}),
        applies=_made_of("i64"),
    ),
    ReleaseDifference(
        name="SoftMax of a single number",
        first="2021.2",
        last="2026.0",
        ops=("SoftMax-1", "SoftMax-8", "LogSoftmax-5"),
        state=State.UNREAD,
        reason="A tensor without dimensions is not read.",
        model=Call("SoftMax-1", (number(1.5),), {"axis": "0"}),
        version=10,
        applies=lambda seen: _has_rank(seen, 0),
    ),
    ReleaseDifference(
        name="ScatterElementsUpdate with a reduction of bf16",
        first="2023.1",
        last="2024.0",
        ops=("ScatterElementsUpdate-12",),
        state=State.UNCOMPILED,
        reason="Reductions of bf16 are read and not compiled.",
        model=Call(
            "ScatterElementsUpdate-12",
            (
                counted(2, 4).astype(element_type("bf16").dtype),
                Fixed(np.array([[0, 1]])),
                counted(1, 2).astype(element_type("bf16").dtype),
                Fixed(number(0, np.int64)),
            ),
            {"reduction": "sum"},
        ),
        types="bf16",
        applies=lambda seen: not _with("reduction", "none")(seen),
    ),
    ReleaseDifference(
        name="deconvolution of i8 with computed weights",
        first="2021.4",
        last="2024.1",
        ops=("ConvolutionBackpropData-1",),
        state=State.UNCOMPILED,
        reason="Weights that are computed are read and not compiled.",
        model=Call(
            "ConvolutionBackpropData-1",
            (np.ones((1, 4, 8, 8), np.int8), np.ones((4, 3, 3, 3), np.int8)),
            UNPADDED,
        ),
        version=10,
        types="i8",
        applies=lambda seen: 1 not in seen.constant,
    ),
    ReleaseDifference(
        name="GatherND with indices of unknown length",
        first="2022.1",
        last="2026.4",
        ops=("GatherND-5", "GatherND-8"),
        state=State.UNCOMPILED,
        reason="The last size of the indices has to be known to compile it.",
        model=Call("GatherND-5", (counted(3, 2), Given(np.array([[[1]]]), "1,1,?"))),
        instead=("? 1 input 1",),
        applies=lambda seen: bool(seen.inputs[1].shape) and not (seen.inputs[1].shape or ())[-1].static,
    ),
    ReleaseDifference(
        name="AvgPool-14 of 2024.1",
        first="2024.1",
        last="2024.1",
        ops=("AvgPool-14",),
        state=State.UNCOMPILED,
        reason="AvgPool-14 is read and not compiled.",
        model=Call("AvgPool-14", (counted(1, 1, 4, 4),), WINDOWS | {"pads_begin": "0,0"}),
    ),
    ReleaseDifference(
        name="AvgPool of integers of one channel",
        first="2021.3",
        last="2026.0",
        ops=MEANS,
        state=State.UNCOMPILED,
        reason="Integers of one channel are read and not compiled.",
        model=_mean("0,0"),
        version=10,
        types="i16 i32 i64 u16 u32 u64",
        applies=_has_one_channel,
    ),
    ReleaseDifference(
        name="AvgPool of integers of one channel with a padding as large as the kernel",
        first="2021.3",
        last="2026.4",
        ops=MEANS,
        state=State.UNCOMPILED,
        reason="Integers of one channel with a padding as large as the kernel are read and not compiled.",
        model=_mean("0,1"),
        version=10,
        types="i16 i32 i64 u16 u32 u64",
        applies=lambda seen: _has_one_channel(seen) and _pads_windows(seen),
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize to two levels with limits for all or for each channel, {first} to {last}",
            first=first,
            last=last,
            ops=("FakeQuantize-1",),
            state=state,
            reason="Two levels between limits for all elements, or for each channel, stop the release.",
            model=Call("FakeQuantize-1", (counted(5, 5), *map(Fixed, floats(0.5, 2.5, 0.5, 2.5))), {"levels": "2"}),
            version=10,
            applies=_has_two_levels,
        )
        for first, last, state in (("2021.3", "2021.4", State.DIES), ("2022.1", "2022.3", State.UNCOMPILED))
    ),
    *(
        ReleaseDifference(
            name=f"SoftSign behind {what}",
            first="2022.2",
            last=last,
            ops=("SoftSign-9",),
            reason="A SoftSign that alone reads an elementwise layer gives other values, such as 1.",
            model=Call("SoftSign-9", (model,)),
            applies=applies,
        )
        for what, last, model, applies in (
            ("an elementwise layer", "2022.3", Call("Abs-1", (counted(2, 3),)), _is_elementwise),
            ("one that is not compiled with it", "2025.3", Call("Mish-4", (counted(2, 3),)), _is_elementwise_alone),
        )
    ),
    *(
        ReleaseDifference(
            name=f"ExtractImagePatches with more padding than data, {first} to {last}",
            first=first,
            last=last,
            ops=("ExtractImagePatches-3",),
            state=state,
            reason="More padding than there is data is written behind the output: the process ends, or values differ.",
            sometimes=True,
            model=Call(
                "ExtractImagePatches-3",
                (counted(1, 1, 5, 1),),
                {"sizes": "2,3", "strides": "2,1", "rates": "1,2", "auto_pad": "same_lower"},
            ),
            applies=_is_mostly_padding,
        )
        for first, last, state in (("2022.1", "2025.2", State.DIES), ("2025.3", "2026.1", State.DIFFERS))
    ),
    *(
        ReleaseDifference(
            name=f"{op} with a constant state of one row for a batch of unknown size",
            first="2022.1",
            last="2023.2",
            ops=(op,),
            state=State.UNCOMPILED,
            reason="A constant state of one row is not compiled if the size of the batch is unknown.",
            model=_recurrent(op, "?,4", rows=1, clip="1"),
            applies=_has_state_of_one_row,
        )
        for op, _ in CELLS
    ),
    ReleaseDifference(
        name="tests of numbers behind an elementwise layer",
        first="2022.3",
        last="2022.3",
        ops=("IsFinite-10", "IsInf-10", "IsNaN-10"),
        state=State.UNCOMPILED,
        reason="A layer that alone reads an elementwise one is not compiled with it.",
        model=Call("IsFinite-10", (Call("Abs-1", (counted(2, 3),)),)),
        applies=_is_elementwise,
    ),
    *(
        ReleaseDifference(
            name=f"tests of numbers that a {type} reads",
            first=release,
            last=release,
            ops=("IsFinite-10", "IsInf-10", "IsNaN-10"),
            state=State.UNCOMPILED,
            reason=reason,
            model=Call(f"{type}-1", (Call("IsFinite-10", (counted(2, 3),)),), raw),
            applies=applies,
        )
        for release, type, raw, reason, applies in (
            (
                "2022.3",
                "LogicalNot",
                {},
                "A logical layer behind it is compiled with it, and neither runs.",
                lambda seen: any(type in LOGICAL for _, type in seen.readers),
            ),
            (
                "2023.0",
                "Convert",
                {"destination_type": "f32"},
                "It does not give booleans to other layers than logical ones.",
                lambda seen: any(type not in LOGICAL | {"Result"} for _, type in seen.readers),
            ),
        )
    ),
    ReleaseDifference(
        name="blocks of up to three dimensions of unknown size",
        first="2022.1",
        last="2022.3",
        ops=("BatchToSpace-2", "SpaceToBatch-2"),
        state=State.UNCOMPILED,
        reason="Data of two or three dimensions is compiled for known sizes only.",
        model=Call(
            "SpaceToBatch-2", (Given(counted(4, 6), "?,?"), *map(Fixed, (whole(1, 2), whole(0, 0), whole(0, 0))))
        ),
        applies=lambda seen: _is_low(seen) and not is_static(seen.inputs[0].shape),
    ),
    *(
        ReleaseDifference(
            name=f"{op} of one plane of bounded height",
            first="2022.1",
            last="2023.0",
            ops=(op,),
            state=State.FAILS,
            reason="Bounds for the height of the plane are taken for those of the image, which has fewer rows.",
            model=Call(op, (Given(counted(1, 6, 4, 1), "1,6..,4,1"),)),
            applies=_is_of_bounded_height,
        )
        for op in ("NV12toBGR-8", "NV12toRGB-8", "I420toBGR-8", "I420toRGB-8")
    ),
    ReleaseDifference(
        name="TopK-1 with indices of 64 bits in IR v10",
        first="2022.1",
        last="2022.3",
        ops=("TopK-1",),
        state=State.UNCOMPILED,
        reason="Indices of i64 are read and not compiled in IR v10.",
        model=Call(
            "TopK-1",
            (counted(2, 3), Fixed(np.array(2))),
            {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i64"},
        ),
        version=10,
        applies=lambda seen: seen.version == FIRST_VERSION and seen.outputs[-1].dtype.name == "i64",
    ),
    ReleaseDifference(
        name="ReorgYolo of images of bounded size",
        first="2022.1",
        last="2023.0",
        ops=("ReorgYolo-1",),
        state=State.FAILS,
        reason="An upper bound for the size of the images is taken for a size.",
        model=Call("ReorgYolo-1", (Given(counted(1, 4, 6, 6), "1,4,?,1..7"),), {"stride": "2"}),
        applies=lambda seen: any(not dim.static and dim.hi is not None for dim in (seen.inputs[0].shape or ())[2:]),
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize of {kinds.split()[0]} to the levels of quantized models, {first} to {last}",
            first=first,
            last=last,
            ops=("FakeQuantize-1",),
            state=State.UNCOMPILED,
            reason="The layer is taken for the start of a quantized part, which is not compiled for this type.",
            model=Call(
                "FakeQuantize-1",
                (
                    np.arange(20, dtype=element_type(kinds.split()[0]).dtype).reshape(4, 5),
                    *(Fixed(np.array([limit], element_type(kinds.split()[0]).dtype)) for limit in (0, 5, 0, 5)),
                ),
                {"levels": "16"},
            ),
            types=kinds,
            instead=tuple(kinds.split()),
            applies=applies,
        )
        for kinds, first, last, applies in (
            ("i32 i16 u16 u32 u64", "2023.0", "2026.4", _is_of_quantized_levels),
            ("i64", "2023.0", "2023.2", _is_of_quantized_levels),
            ("f64", "2023.3", "2026.4", _is_of_quantized_levels),
            ("u8 i8", "2023.0", "2023.1", _has_constant_limits),
        )
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize of {kind} with computed limits",
            first="2022.1",
            last=last,
            ops=("FakeQuantize-1",),
            state=State.UNCOMPILED,
            reason=f"Data of {kind} with computed limits is read and not compiled.",
            model=Call(
                "FakeQuantize-1",
                tuple(
                    array.astype(element_type(kind).dtype)
                    for array in (counted(1, 2, 3, 3), *map(floats, (0, 2, 0, 2)))
                ),
                {"levels": "3"},
            ),
            types=kind,
            applies=lambda seen: not _has_constant_limits(seen),
        )
        for kind, last in (("u8", "2026.4"), ("i8", "2026.4"), ("bf16", "2023.3"))
    ),
    ReleaseDifference(
        name="GroupNormalization of one channel",
        first="2024.1",
        last="2025.0",
        ops=("GroupNormalization-12",),
        reason="Of several images of one channel the later ones get other values.",
        model=Call(
            "GroupNormalization-12",
            (counted(3, 1, 8), Fixed(floats(1)), Fixed(floats(0))),
            {"num_groups": "1", "epsilon": "0.001"},
        ),
        applies=_is_of_one_channel,
    ),
    ReleaseDifference(
        name="GroupNormalization of a matrix of unknown size",
        first="2023.1",
        last="2026.4",
        ops=("GroupNormalization-12",),
        state=State.UNCOMPILED,
        reason="Two dimensions are compiled for known sizes only.",
        model=Call(
            "GroupNormalization-12",
            (Given(counted(2, 4), "?,4"), Fixed(floats(1, 2, 3, 4)), Fixed(floats(0, 1, 2, 3))),
            {"num_groups": "2", "epsilon": "0.001"},
        ),
        applies=lambda seen: len(seen.inputs[0].shape or ()) == 2 and not is_static(seen.inputs[0].shape),
    ),
    *(
        ReleaseDifference(
            name=f"{op} of numbers that are broadcast as in pdpd",
            first="2022.1",
            last=last,
            ops=(op,),
            state=state,
            reason='`auto_broadcast="pdpd"` is compiled for known sizes and as many dimensions only.',
            model=Call(
                op, (counted(2, 3), counted(3)), {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "-1"}
            ),
            types="f16 bf16 f32 f64",
            applies=_broadcasts_as_pdpd,
        )
        for op, last, state in (
            ("Mod-1", "2026.4", State.UNCOMPILED),
            ("SquaredDifference-1", "2023.3", State.UNCOMPILED),
        )
    ),
    ReleaseDifference(
        name="SquaredDifference-1 of integers as in pdpd",
        first="2022.1",
        last="2026.4",
        ops=("SquaredDifference-1",),
        state=State.UNCOMPILED,
        reason='`auto_broadcast="pdpd"` is not compiled for integers.',
        model=Call("SquaredDifference-1", (whole(1, 2), whole(3, 5)), {"auto_broadcast": "pdpd"}),
        types="i8 i16 i32 i64 u8 u16 u32 u64",
        applies=lambda seen: seen.attrs is not None and seen.attrs.auto_broadcast == "pdpd",
    ),
    *(
        ReleaseDifference(
            name=f"{op} of three dimensions",
            first="2021.2",
            last="2021.2",
            ops=(op,),
            state=State.UNREAD,
            reason="The blocks of three dimensions are looked for along the axis before theirs.",
            model=Call(op, (counted(*sizes),), {"mode": "blocks_first", "block_size": "3"}),
            version=10,
            applies=_has_blocks_elsewhere,
        )
        for op, sizes in (("DepthToSpace-1", (2, 6, 2)), ("SpaceToDepth-1", (9, 2, 6)))
    ),
    *(
        ReleaseDifference(
            name=f"DeformableConvolution-1 of several groups, {first} to {last}",
            first=first,
            last=last,
            ops=("DeformableConvolution-1",),
            state=state,
            reason="Several groups stop the release.",
            model=Call(
                "DeformableConvolution-1",
                (counted(1, 4, 3, 3), Given(counted(1, 8, 2, 2) * 0, "1,8,2,2"), Fixed(counted(2, 2, 2, 2))),
                UNPADDED | {"group": "2", "deformable_group": "1"},
            ),
            version=10,
            applies=lambda seen: seen.attrs is not None and seen.attrs.group > 1,
        )
        for first, last, state in (("2021.2", "2021.3", State.UNREAD), ("2021.4", "2021.4", State.UNCOMPILED))
    ),
    *(
        ReleaseDifference(
            name=f"reductions along the middle axis scaled by a number, {what}",
            first=first,
            last=last,
            ops=REDUCTIONS,
            reason="Elementwise layers behind a reduction of the second of three axes scale or shift by other numbers.",
            model=_scaled_sum((2, 3, 4), 1, 3, *form),
            types=types,
            applies=applies,
        )
        for what, first, last, form, types, applies in (
            (
                "kept",
                "2022.1",
                "2022.2",
                (np.float32, True),
                "",
                lambda seen: _scales_middle(seen) and _keeps_axes(seen),
            ),
            ("2022.2", "2022.2", "2022.2", (), "", _scales_middle),
            ("of integers", "2022.2", "2026.4", (np.int32,), "i8 u8 i16 u16 i32 u32 i64 u64", _scales_middle),
        )
    ),
    ReleaseDifference(
        name="reductions of three axes with more rows than channels, scaled by a number",
        first="2022.1",
        last="2022.2",
        ops=REDUCTIONS,
        reason="Elementwise layers behind it scale or shift the last rows by other numbers.",
        model=_scaled_sum((5, 2, 4), 2, 3),
        applies=_scales_more_rows,
    ),
    *(
        ReleaseDifference(
            name=f"reductions of {len(shape)} dimensions scaled by channel",
            first=first,
            last=last,
            ops=REDUCTIONS,
            reason="Elementwise layers behind a reduction scale or shift by the numbers of other channels.",
            model=_scaled_sum(shape, 0, numbers),
            applies=applies,
        )
        for first, last, shape, numbers, applies in (
            ("2022.1", "2022.1", (2, 3, 4, 5), [[1], [2], [3], [4]], _scales_second_axis),
            ("2022.2", "2026.4", (2, 3, 4), [[1], [2], [3]], lambda seen: _scales_channels(seen, *BY_CHANNEL)),
            ("2022.2", "2024.1", (2, 3), [1, 2, 3], lambda seen: _scales_channels(seen, *BY_CHANNEL_UNTIL_2024)),
        )
    ),
    *(
        ReleaseDifference(
            name=f"Broadcast-1 {what} before an elementwise layer",
            first=first,
            last=last,
            ops=("Broadcast-1",),
            state=State.DIES,
            reason="The process ends if one layer alone reads the output and combines it with another tensor.",
            model=Call("Add-1", (Call("Broadcast-1", (data, Fixed(target)), {"mode": "numpy"}), Fixed(floats(2)))),
            applies=applies,
        )
        for what, first, last, data, target, applies in (
            ("of any tensor", "2023.0", "2023.1", counted(2, 3), whole(2, 3), _is_combined),
            ("that repeats data", "2023.0", "2024.0", counted(1, 3), whole(2, 3), _is_repeated_and_combined),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{op} before other layers",
            first=first,
            last="2022.3",
            ops=(op,),
            reason="Layers that compute with an output read something else.",
            model=Call("Negative-1", (_nms(op),)),
            applies=_is_computed_with,
        )
        for op, first in (("MulticlassNms-8", "2022.1"), ("MulticlassNms-9", "2022.2"))
    ),
    *(
        ReleaseDifference(
            name=f"{op} before other layers and outputs of the model",
            first=first,
            last="2022.2",
            ops=(op,),
            state=State.UNCOMPILED,
            reason="The second or third output cannot be one of the model if other layers compute with an output.",
            model=Call("Negative-1", (_nms(op, 1),)),
            applies=_gives_more,
        )
        for op, first in (("MatrixNms-8", "2022.1"), ("MulticlassNms-8", "2022.1"), ("MulticlassNms-9", "2022.2"))
    ),
    *(
        ReleaseDifference(
            name=f"{op} that gives an output of the model",
            first="2022.1",
            last="2023.2",
            ops=(op,),
            state=State.UNCOMPILED,
            reason="It is compiled within a larger model only.",
            model=_nms(op),
            applies=lambda seen: _gives_alone(seen, 0),
        )
        for op in SUPPRESSIONS
    ),
    *(
        ReleaseDifference(
            name=f"{op} with few boxes",
            first="2022.1",
            last="2022.3",
            ops=(op,),
            reason="If boxes and images are known in number, rows of -1 stand for boxes that are not selected.",
            sometimes=True,
            model=Call("Negative-1", (_nms(op, least=2.5),)),
            applies=_has_known_rows,
        )
        for op in SUPPRESSIONS
    ),
    *(
        ReleaseDifference(
            name=f"{op} of {what}",
            first=first,
            last="2023.2",
            ops=(op,),
            state=State.UNCOMPILED,
            reason=f"It is not compiled for {what}.",
            model=Call("Negative-1", (_nms(op, images=images),)),
            applies=applies,
        )
        for op, what, first, images, applies in (
            *((op, "boxes that are known in number", "2023.0", "1", _has_known_rows) for op in SUPPRESSIONS),
            *(
                (
                    op,
                    "images of unknown number",
                    first,
                    "?",
                    lambda seen: _has_known_boxes(seen) and not _has_known_rows(seen),
                )
                for op, first in (("NonMaxSuppression-1", "2023.1"), ("NonMaxSuppression-3", "2022.1"))
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{op} of bf16 whose indices are read",
            first=first,
            last="2026.4",
            ops=(op,),
            types="bf16",
            state=State.UNCOMPILED,
            reason="Indices are not computed for bf16.",
            model=Call(op, (counted(1, 1, 4, 4).astype(element_type("bf16").dtype),), INDEXED, (1,)),
            instead=("bf16",),
            applies=lambda seen: any(number == 1 for number, _ in seen.readers),
        )
        for op, first in (("MaxPool-8", "2022.1"), ("MaxPool-14", "2024.0"))
    ),
    ReleaseDifference(
        name="i64 indices of AdaptiveMaxPool that are not read",
        first="2022.1",
        last="2026.4",
        ops=("AdaptiveMaxPool-8",),
        state=State.UNCOMPILED,
        reason="Indices of i64 are compiled only as an output of the model, and from 2023.3 not at all.",
        model=Call("AdaptiveMaxPool-8", (counted(1, 1, 4, 4), Fixed(whole(2, 2))), results=(0,)),
        applies=lambda seen: _with("index_element_type", "i64")(seen) and not _gives_alone(seen, 1),
    ),
    ReleaseDifference(
        name="DeformablePSROIPooling with unequal bins",
        first="2021.2",
        last="2021.3",
        ops=("DeformablePSROIPooling-1",),
        types="f32 f16 bf16",
        reason="The numbers of bins across and down are mixed up.",
        model=Call(
            "DeformablePSROIPooling-1",
            (counted(1, 2, 4, 8), floats([0, 0, 2, 20, 12])),
            {
                **{"output_dim": "2", "group_size": "1", "spatial_scale": "0.25", "mode": "bilinear_deformable"},
                **{"spatial_bins_x": "3", "spatial_bins_y": "2", "trans_std": "0", "part_size": "1"},
            },
        ),
        version=10,
        applies=lambda seen: seen.attrs is not None and seen.attrs.spatial_bins_x != seen.attrs.spatial_bins_y,
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize with limits along axis 2 {what}, {first} to {last}",
            first=first,
            last=last,
            ops=("FakeQuantize-1",),
            state=state,
            reason="Limits that differ along axis 2 are not compiled with the layer before, or taken for other ones.",
            model=model,
            applies=applies,
        )
        for what, state, model, applies, spans in LIMITED_ROWS
        for first, last in spans
    ),
    *(
        ReleaseDifference(
            name=f"Clamp behind a FakeQuantize, {first} to {last}",
            first=first,
            last=last,
            ops=("Clamp-1",),
            reason="Values are clamped to the nearest levels of the FakeQuantize, which may be beyond the limits.",
            sometimes=True,
            model=Call("Clamp-1", (_quantized(counted(2, 3), Fixed(floats(2))),), {"min": "0.3", "max": "0.7"}),
            applies=lambda seen: seen.behind == "FakeQuantize",
        )
        for first, last in (("2022.1", "2022.3"), ("2025.4", "2026.4"))
    ),
    ReleaseDifference(
        name="Clamp of unknown sizes behind a FakeQuantize",
        first="2022.1",
        last="2026.4",
        ops=("Clamp-1",),
        reason="Values are clamped to the nearest levels of the FakeQuantize, which may be beyond the limits.",
        sometimes=True,
        model=Call(
            "Clamp-1", (_quantized(Given(counted(2, 3), "?,?"), Fixed(floats(2))),), {"min": "0.3", "max": "0.7"}
        ),
        applies=lambda seen: seen.behind == "FakeQuantize" and not is_static(seen.inputs[0].shape),
    ),
    ReleaseDifference(
        name="products by position before a convolution",
        first="2022.1",
        last="2024.3",
        ops=("Multiply-1", "Divide-1"),
        state=State.UNCOMPILED,
        reason="Constants that differ elsewhere than by channel are not compiled with the convolution behind.",
        model=Call(
            "Convolution-1",
            (Call("Multiply-1", (counted(1, 2, 4, 4), Fixed(counted(4)))), Fixed(counted(1, 2, 3, 3))),
            UNPADDED,
        ),
        applies=_is_convolved,
    ),
    *(
        ReleaseDifference(
            name=f"blocks of up to three dimensions whose {what} are of unknown number",
            first="2022.1",
            last=last,
            ops=ops,
            state=State.UNCOMPILED,
            reason="For data of two or three dimensions the number of their values has to be known.",
            model=Call("SpaceToBatch-2", (counted(4, 6), *inputs)),
            applies=applies,
        )
        for what, last, ops, inputs, applies in (
            (
                "sizes",
                "2026.4",
                ("BatchToSpace-2", "SpaceToBatch-2"),
                (Given(whole(1, 2), "?"), Fixed(whole(0, 0)), Fixed(whole(0, 0))),
                lambda seen: _is_low(seen) and not is_static(seen.inputs[1].shape),
            ),
            (
                "paddings",
                "2025.3",
                ("SpaceToBatch-2",),
                (Fixed(whole(1, 2)), Given(whole(0, 0), "?"), Fixed(whole(0, 0))),
                lambda seen: _is_low(seen) and not all(is_static(fact.shape) for fact in seen.inputs[2:]),
            ),
        )
    ),
    ReleaseDifference(
        name="Mish behind an attention",
        first="2024.3",
        last="2026.4",
        ops=("Mish-4",),
        state=State.UNCOMPILED,
        reason="A Mish that alone reads a ScaledDotProductAttention is not compiled with it.",
        model=Call("Mish-4", (_attention(),)),
        applies=lambda seen: seen.behind == "ScaledDotProductAttention",
    ),
    ReleaseDifference(
        name="FakeQuantize with limits for the heads of an attention",
        first="2024.1",
        last="2026.4",
        ops=("FakeQuantize-1",),
        state=State.UNCOMPILED,
        reason="Limits that differ along axis 1 or 2 are not compiled with the ScaledDotProductAttention before.",
        model=_limited_rows(_attention()),
        applies=_has_limits_of_heads,
    ),
    ReleaseDifference(
        name="Squeeze of unknown sizes without axes",
        first="2022.1",
        last="2026.4",
        ops=("Squeeze-1", "Squeeze-15"),
        state=State.UNCOMPILED,
        reason="Without a second input, Squeeze is compiled for known sizes only.",
        model=Call("Squeeze-1", (Given(counted(1, 2, 3), "1,?,3"),)),
        applies=lambda seen: len(seen.inputs) == 1 and not is_static(seen.inputs[0].shape),
    ),
    *(
        ReleaseDifference(
            name=f"Reverse along no axis, {first} to {last}",
            first=first,
            last=last,
            ops=("Reverse-1",),
            state=state,
            reason=reason,
            model=Call("Reverse-1", (counted(2, 3), Fixed(whole())), {"mode": "index"}),
            applies=_has_no_axes,
        )
        for first, last, state, reason in (
            ("2022.1", "2023.2", State.DIFFERS, "An empty list of axes gives what is in memory."),
            ("2026.2", "2026.3", State.UNREAD, "An empty list of axes is not read."),
        )
    ),
    ReleaseDifference(
        name="Pad by a number of axes that is unknown",
        first="2023.0",
        last="2025.3",
        ops=("Pad-1", "Pad-12"),
        state=State.UNREAD,
        reason="The sizes of pads_begin and pads_end have to be known to read it.",
        model=Call("Pad-1", (counted(2, 3), Fixed(whole(1, 1)), Given(whole(0, 1), "?")), {"pad_mode": "reflect"}),
        applies=lambda seen: not all(is_static(fact.shape) for fact in seen.inputs[1:3]),
    ),
)
"""The table."""


@cache
def rows_of(release: str, op: str) -> tuple[ReleaseDifference, ...]:
    """Return the rows of a release for an operation."""
    return tuple(row for row in ROWS if op in row.ops and release in {one.name for one in row.releases})


def release_differences(release: Release, seen: Seen) -> tuple[ReleaseDifference, ...]:
    """Return the rows of a release that a layer falls under."""
    kinds = {fact.dtype.name for fact in seen.inputs[:1]}
    return tuple(row for row in rows_of(release.name, str(seen.op)) if row.may_concern(kinds) and row.applies(seen))
