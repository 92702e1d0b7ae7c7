"""Sorting and decoding: TopK-1/-3/-11, CTCGreedyDecoder-1, CTCGreedyDecoderSeqLen-6, CTCLoss-4.

Specification: `sort/`, `sequence/`, a section for each of them (`sort/top-k-11`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ir_tools.ops._box_rewrites import best_before_an_axis, best_by_value, long_places, migrate_top_k
from ir_tools.ops._numbers import in_working_type, largest_magnitude
from ir_tools.ops._requirements import agreed, require, require_one, require_rank
from ir_tools.ops._values import dim, is_empty, known_number, normal_axis, with_size
from ir_tools.ops._versions import first_of, no_step
from ir_tools.ops.definition import Array, Bounds, Elements, Fact, Input, Op, Output, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Flag, IndexType, Int, OneOf, Type
from ir_tools.types import Dim, element_type

__all__ = ["OPS"]

I32 = element_type("i32")
FOLDED = {"f16", "f32", "i32", "i64", "u32", "u64"}
"""Types that TopK sorts before running."""

# --- TopK -------------------------------------------------------------------------------------------------------


def top_k_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return values and indices: the shape of the data with k elements along the axis, or as many as are known of k.

    Args:
        attrs: of the layer.
        inputs: data of rank 1 or more and any element type, and k, a scalar (`sort/top-k-11`).

    Raises:
        ShapeError: the data is a scalar, k is not a scalar or is negative, or the axis is out of range.
    """
    data, k = inputs
    require_one(k, "k", only_scalar=True)
    if data.shape is None:
        return Fact(data.dtype, None), Fact(attrs.index_element_type, None)
    require(bool(data.shape), "the input is a scalar; expected rank 1 or more")
    axis = normal_axis(attrs.axis, len(data.shape))
    shape = with_size(data.shape, axis, _chosen(data.shape[axis], k.value))
    return _with_values(attrs, inputs, (Fact(data.dtype, shape), Fact(attrs.index_element_type, shape)))


def _with_values(attrs: Attrs, inputs: Sequence[Fact], outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return the outputs with their values if the inputs are known, of types that the runtime sorts when it reads."""
    data, k = (fact.exact for fact in inputs)
    if data is None or k is None or inputs[0].dtype.name not in FOLDED or not 0 < int(k) <= data.shape[attrs.axis]:
        return outputs
    values = top_k(attrs, (data, k))
    return tuple(replace(fact, value=Bounds.exactly(found)) for fact, found in zip(outputs, values, strict=True))


def _chosen(size: Dim, k: Bounds | None) -> Dim:
    """Return how many elements of `size` are chosen; a known k counts as it is, as in the runtime."""
    if k is None:
        return Dim(0, size.hi)
    low, high = int(k.lower.ravel()[0]), int(k.upper.ravel()[0])
    verb = "is" if low == high else "may be"
    require(low >= 0, f"{verb} {low}; expected a positive number", attribute="k")
    if low == high:
        return Dim.of(low)
    return Dim(min(size.lo, low), None if size.hi is None else min(size.hi, high))


def check_top_k(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a k that is below 1 or larger than the axis, and for `stable` without an order.

    For data without elements a wrong k is only suspect.
    """
    data, k = inputs
    wanted = known_number(k)
    if wanted is not None and data.shape and -len(data.shape) <= attrs.axis < len(data.shape):
        size, kind = data.shape[attrs.axis], ViolationKind.SUSPECT if is_empty(data) else ViolationKind.CONTRADICTION
        if wanted < 1:
            yield Violation("k", f"is {wanted:g}; expected at least 1", kind=kind)
        elif size.hi is not None and wanted > size.hi:
            yield Violation("k", f"is {wanted:g}, and axis {attrs.axis} has {size} elements", kind=kind)
    if attrs.get("stable") and attrs.sort == "none":
        yield Violation("stable", "is true, but sort is none, so the order is not defined")


def top_k(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the k largest or smallest elements along the axis, and their indices; of equal elements the first ones.

    Raises:
        ShapeError: k is larger than the axis.
    """
    data, axis = inputs[0], attrs.axis
    require(
        int(inputs[1]) <= data.shape[axis],
        f"is {inputs[1]}, but axis {axis} has {data.shape[axis]} elements",
        attribute="k",
    )
    order = np.argsort(_descending(data) if attrs.mode == "max" else data, axis=axis, kind="stable")
    places = np.take(order, np.arange(int(inputs[1])), axis=axis)
    if attrs.sort == "index":
        places = np.sort(places, axis=axis)
    return np.take_along_axis(data, places, axis=axis), places.astype(attrs.index_element_type.dtype)


def tied(attrs: Attrs, inputs: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
    """Return which of the chosen elements equal others, so that the index of any of these may be returned.

    None if `stable` fixes the order. With `sort="index"` only elements that equal the last chosen one matter, and the
    CPU plugin does not read `stable` (measured).
    """
    if attrs.get("stable") and attrs.sort != "index":
        return None
    order = _in_order(attrs, inputs[0])
    return _exchangeable(attrs, order[..., 1:] == order[..., :-1], int(inputs[1]))


def nearly_tied(attrs: Attrs, inputs: Sequence[Array], error: float) -> npt.NDArray[np.bool_] | None:
    """Return which of the chosen elements an error, relative to the largest magnitude, may exchange for others."""
    if inputs[0].dtype.kind not in "fV" or not inputs[0].size:
        return tied(attrs, inputs)
    order = _in_order(attrs, inputs[0].astype(np.float64))
    reach = 2 * error * largest_magnitude(order)
    with np.errstate(invalid="ignore"):
        same = (order[..., 1:] == order[..., :-1]) | (order[..., 1:] - order[..., :-1] <= reach)
    return _exchangeable(attrs, same, int(inputs[1]))


def _in_order(attrs: Attrs, data: Array) -> Array:
    """Return the elements in the order in which they are chosen, along the last axis; for `max` as their negatives."""
    data = np.moveaxis(data, attrs.axis, -1)
    return np.sort(_descending(data) if attrs.mode == "max" else data, axis=-1)


def _exchangeable(attrs: Attrs, same: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.bool_]:
    """Return which of the chosen elements may change places, `[..., count]` with the axis of the layer at its place.

    Args:
        attrs: of the layer.
        same: whether each element in order may change places with the next one, along the last axis.
        count: the number of chosen elements.
    """
    edge = np.zeros((*same.shape[:-1], 1), bool)
    out = (np.append(edge, same, -1) | np.append(same, edge, -1))[..., :count]
    if attrs.sort == "index":
        last = same[..., count - 1 : count] if count <= same.shape[-1] else edge
        out = np.broadcast_to(last, (*same.shape[:-1], count))
    mask: npt.NDArray[np.bool_] = np.moveaxis(out, -1, attrs.axis)
    return mask


def _descending(data: Array) -> Array:
    """Return values whose ascending order is the descending one of the data."""
    if data.dtype.kind == "u":
        return np.iinfo(data.dtype).max - data
    return ~data if data.dtype.kind in "ib" else -data


TOP_K_1 = Op(
    type="TopK",
    version=1,
    inputs=(Input("data", elements=Elements.MOVED), Input("k", type="i8 i32 i64")),
    outputs=(Output("values"), Output("indices", indexes=lambda attrs, inputs: attrs.axis)),
    attrs={
        "axis": Int(runtime_default=0),
        "mode": OneOf(words=("max", "min"), runtime_default="max"),
        "sort": OneOf(words=("none", "index", "value"), runtime_default="none"),
        "index_element_type": IndexType(default=I32),
    },
    check=check_top_k,
    shape=top_k_shape,
    kernel=top_k,
    undefined_mask=tied,
    ill_conditioned=nearly_tied,
    migrate=migrate_top_k(1),
    substitute=first_of(best_before_an_axis, best_by_value, long_places),
)
TOP_K_3 = TOP_K_1.at(
    3, inputs=(Input("data", elements=Elements.MOVED), Input("k", type="integer")), migrate=migrate_top_k(3)
)
TOP_K_11 = TOP_K_3.at(
    11,
    attrs={"stable": Flag(default=False)},
    readers={"stable": "check undefined_mask ill_conditioned migrate substitute"},
    migrate=migrate_top_k(11),
    unread={"stable": "the kernel always keeps the order of equal values"},
)

# --- connectionist temporal classification ----------------------------------------------------------------------


def greedy_decoder_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map logits `[T, N, C]` and mask `[T, N]` to `[N, T, 1, 1]` (`sequence/ctc-greedy-decoder-1`).

    Raises:
        ShapeError: a rank is wrong, or the numbers of time steps or the batch sizes differ.
    """
    logits, mask = inputs
    require_rank(logits, 3, "data")
    require_rank(mask, 2, "sequence_mask")
    steps = agreed((dim(logits, 0), dim(mask, 0)), "number of time steps")
    batch = agreed((dim(logits, 1), dim(mask, 1)), "batch size")
    return (Fact(logits.dtype, (batch, steps, Dim.of(1), Dim.of(1))),)


def greedy_decoder(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the best class of each time step as floats `[N, T, 1, 1]`, without blanks, which are the last class.

    With `ctc_merge_repeated` also without repetitions; -1 after the last class. The mask ends at its first 0.
    """
    logits, mask = inputs
    lengths = np.cumprod(mask != 0, axis=0).sum(axis=0)
    decoded, _ = _decoded(logits.transpose(1, 0, 2), lengths, logits.shape[2] - 1, attrs.ctc_merge_repeated)
    return (decoded[:, :, None, None].astype(logits.dtype),)


def _decoded(logits: Array, lengths: Array, blank: int, merge: bool) -> tuple[Array, Array]:
    """Return the classes `[N, T]`, -1 after the last one, and their number for each row.

    Args:
        logits: `[N, T, C]`.
        lengths: the number of time steps of each row.
        blank: the class that is left out.
        merge: whether a class that follows itself is left out, too.
    """
    classes = logits.argmax(axis=2)
    kept = (classes != blank) & (np.arange(classes.shape[1]) < lengths[:, None])
    if merge:
        kept[:, 1:] &= classes[:, 1:] != classes[:, :-1]
    order = np.argsort(~kept, axis=1, kind="stable")
    found = np.where(np.take_along_axis(kept, order, axis=1), np.take_along_axis(classes, order, axis=1), -1)
    return found, kept.sum(axis=1)


CTC_GREEDY_DECODER_1 = Op(
    type="CTCGreedyDecoder",
    version=1,
    inputs=(Input("data", type="float"), Input("sequence_mask", type="float")),
    attrs={"ctc_merge_repeated": Flag(default=True)},
    shape=greedy_decoder_shape,
    kernel=greedy_decoder,
)


def greedy_decoder_seq_len_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map logits `[N, T, C]` and lengths `[N]` to classes `[N, T]` and their numbers `[N]`.

    The section is `sequence/ctc-greedy-decoder-seq-len-6`.

    Raises:
        ShapeError: a rank is wrong, the batch sizes differ, or the blank index is not one number.
    """
    logits, lengths, *blank = inputs
    if blank and blank[0].shape is not None and all(each.static for each in blank[0].shape):
        require_one(blank[0], "blank_index")
    require_rank(logits, 3, "data")
    require_rank(lengths, 1, "sequence_length")
    batch = agreed((dim(logits, 0), dim(lengths, 0)), "batch size")
    decoded = Fact(attrs.classes_index_type, (batch, dim(logits, 1)))
    return decoded, Fact(attrs.sequence_length_type, (batch,))


def greedy_decoder_seq_len(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the best class of each time step without blanks, `[N, T]`, and the number of classes of each row, `[N]`.

    With `merge_repeated` also without repetitions; -1 after the last class. Without a third input blank is the last
    class.
    """
    logits, lengths, *blank = inputs
    index = int(blank[0].ravel()[0]) if blank else logits.shape[2] - 1
    decoded, counts = _decoded(logits, lengths, index, attrs.merge_repeated)
    return decoded.astype(attrs.classes_index_type.dtype), counts.astype(attrs.sequence_length_type.dtype)


def check_decoder(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a negative length, which crashes the runtime, and for one larger than the number of time steps.

    Also for other element types of indices than the specification has, though the runtime takes them.
    """
    lengths = inputs[1].integers() or (0,)
    steps = dim(inputs[0], 1).hi
    if min(lengths) < 0:
        yield Violation("sequence_length", f"holds {min(lengths)}; expected a number of time steps")
    elif steps is not None and max(lengths) > steps:
        yield Violation("sequence_length", f"holds {max(lengths)}, but there are {steps} time steps")
    for name in ("classes_index_type", "sequence_length_type"):
        if attrs[name].name not in {"i32", "i64"}:
            kind = ViolationKind.RANGE if attrs[name].name == "string" else ViolationKind.SUSPECT
            yield Violation(name, f"is {attrs[name]}; expected i32 or i64", kind=kind)


CTC_GREEDY_DECODER_SEQ_LEN_6 = Op(
    type="CTCGreedyDecoderSeqLen",
    version=6,
    migrate=no_step(
        6, "CTCGreedyDecoder, the older operation, always uses the last class as blank and takes no lengths"
    ),
    inputs=(
        Input("data", type="float"),
        Input("sequence_length", type="integer"),
        Input("blank_index", optional=True, type="integer"),
    ),
    outputs=(Output("decoded_classes"), Output("decoded_sequence_lengths")),
    attrs={
        "merge_repeated": Flag(default=True),
        "classes_index_type": Type(default=I32),
        "sequence_length_type": Type(default=I32),
    },
    check=check_decoder,
    shape=greedy_decoder_seq_len_shape,
    kernel=greedy_decoder_seq_len,
)


def ctc_loss_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map logits `[N, T, C]` and labels `[N, T]`, with the lengths `[N]` of both, to `[N]` (`sequence/ctc-loss-4`).

    Raises:
        ShapeError: a rank is wrong, or the batch sizes or numbers of time steps differ.
    """
    logits, lengths, labels, label_lengths, *blank = inputs
    names = ("logits", "logit_length", "labels", "label_length")
    for fact, rank, name in zip((logits, lengths, labels, label_lengths), (3, 1, 2, 1), names, strict=True):
        require_rank(fact, rank, name)
    if blank:
        require_rank(blank[0], 0, "blank_index")
    batch = agreed((dim(fact, 0) for fact in (logits, lengths, labels, label_lengths)), "batch size")
    agreed((dim(logits, 1), dim(labels, 1)), "number of time steps")
    return (Fact(logits.dtype, (batch,)),)


def check_ctc_loss(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for known lengths that are larger than the number of time steps, or than those of the logits.

    Also for labels of length 0, with which the runtime crashes.
    """
    steps = dim(inputs[0], 1).hi
    lengths, labels = (fact.exact for fact in (inputs[1], inputs[3]))
    if lengths is not None and steps is not None and (lengths > steps).any():
        yield Violation("logit_length", f"holds {lengths.max()}, but there are {steps} time steps")
    if labels is not None and (labels < 1).any():
        yield Violation("label_length", f"holds {labels.min()}; expected at least 1")
    if lengths is not None and labels is not None and lengths.shape == labels.shape and (labels > lengths).any():
        yield Violation("label_length", "holds a length greater than that of the logits")


def ctc_loss(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return `[N]`: the negative logarithm of the probability of the labels. Half floats are computed in f32."""
    return (in_working_type(lambda logits: _losses(attrs, logits, inputs), inputs[0]),)


def _losses(attrs: Attrs, logits: Array, inputs: Sequence[Array]) -> Array:
    """Return the loss of each row, of logits `[N, T, C]` and the inputs of the layer."""
    lengths, labels, counts, *blank = inputs[1:]
    index = int(blank[0]) if blank else logits.shape[2] - 1
    chances = logits - logits.max(axis=2, keepdims=True)
    chances = chances - np.log(np.exp(chances).sum(axis=2, keepdims=True))
    out = [
        _loss(attrs, chances[number, : int(length)], _target(attrs, labels[number, : int(counts[number])]), index)
        for number, length in enumerate(lengths)
    ]
    return np.array(out, logits.dtype)


def _target(attrs: Attrs, labels: Array) -> Array:
    """Return the labels without repetitions if `unique` or `preprocess_collapse_repeated` is set."""
    if attrs.unique:
        return labels[np.sort(np.unique(labels, return_index=True)[1])]
    if attrs.preprocess_collapse_repeated and len(labels):
        labels = labels[np.append(True, labels[1:] != labels[:-1])]
    return labels


def _loss(attrs: Attrs, chances: Array, labels: Array, blank: int) -> float:
    """Return the loss of one row: the sum over all paths through the labels, with blanks around them, from the end.

    Graves et al., 2006, section 4.1.

    Args:
        attrs: of the layer.
        chances: logarithms of probabilities, `[T, C]`.
        labels: of the row.
        blank: the class of blanks.
    """
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    merge = attrs.ctc_merge_repeated
    stays = np.where(merge | (states == blank), 0, -np.inf)
    leaps = np.full(len(states), -np.inf)
    leaps[:-2][(states[:-2] != blank) & ((not merge) | (states[:-2] != states[2:]))] = 0
    after = np.full(len(states) + 2, -np.inf)
    after[len(states) - 2 : len(states)] = 0
    for step in chances[:0:-1]:
        ways = after + np.append(step[states], [0, 0])
        found = np.logaddexp(np.logaddexp(ways[:-2] + stays, ways[1:-1]), ways[2:] + leaps)
        after = np.append(found, [-np.inf, -np.inf])
    return -float(np.logaddexp(*(after[:2] + chances[0][states[:2]])))


CTC_LOSS_4 = Op(
    type="CTCLoss",
    version=4,
    migrate=no_step(4, "no composition of older operations is known that sums over all paths"),
    inputs=(
        Input("logits", type="float"),
        Input("logit_length", type="integer"),
        Input("labels", type="integer"),
        Input("label_length", type="integer"),
        Input("blank_index", optional=True, type="integer"),
    ),
    attrs={
        "preprocess_collapse_repeated": Flag(default=False),
        "ctc_merge_repeated": Flag(default=True, runtime_default=False),
        "unique": Flag(default=False),
    },
    check=check_ctc_loss,
    shape=ctc_loss_shape,
    kernel=ctc_loss,
)

OPS = (TOP_K_1, TOP_K_3, TOP_K_11, CTC_GREEDY_DECODER_1, CTC_GREEDY_DECODER_SEQ_LEN_6, CTC_LOSS_4)
