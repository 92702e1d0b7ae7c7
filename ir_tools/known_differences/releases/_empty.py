"""Tensors of known sizes without elements, which releases from 2023.3 on take as inputs."""

from functools import partial
from math import prod

import numpy as np

from ir_tools.known_differences._model import PLANE, Call, Fixed, counted, floats, index, whole
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_run
from ir_tools.known_differences.releases._samples import PLAIN
from ir_tools.known_differences.releases.seen import FIRST_VERSION, Seen
from ir_tools.ops.definition import Fact
from ir_tools.releases.measured import State

__all__ = ["ROWS"]

ALWAYS = "2023.3 to 2026.4"
FULL_PRECISION = frozenset({"f16", "f32", "f64"})
"""Element types whose products are compiled from 2025.4 on."""
PLANES, NO_FILTERS = counted(1, 2, 4, 4), counted(0, 2, 3, 3)
CONVOLUTIONS = ("Convolution-1", "GroupConvolution-1")
TRANSPOSED = ("ConvolutionBackpropData-1", "GroupConvolutionBackpropData-1")


def _is_empty(fact: Fact) -> bool:
    return any(size.hi == 0 for size in fact.shape or ())


def _reads_none(seen: Seen) -> bool:
    """Return whether all sizes are known, and an input has no elements."""
    return seen.has_known_sizes and any(map(_is_empty, seen.inputs))


def _makes_some(seen: Seen) -> bool:
    """Return whether a layer that reads a tensor without elements gives elements."""
    return _reads_none(seen) and not all(map(_is_empty, seen.outputs))


def _gives_none(seen: Seen) -> bool:
    """Return whether all sizes are known, and the output has no elements."""
    return seen.has_known_sizes and _is_empty(seen.outputs[0])


def _repeats_none(seen: Seen) -> bool:
    """Return whether data without elements are repeated to a constant shape."""
    return seen.has_known_sizes and _is_empty(seen.inputs[0]) and 1 in seen.constant


def _is_both_ways(seen: Seen) -> bool:
    """Return whether a Broadcast both ways has a constant shape."""
    return seen.attrs is not None and seen.attrs.mode == "bidirectional" and 1 in seen.constant


def _is_repeated_less(seen: Seen) -> bool:
    """Return whether the shape of a Broadcast both ways is not that of the output, as data are not repeated there."""
    less = seen.inputs[1].integers() != [size.hi for size in seen.outputs[0].shape or ()]
    return _is_both_ways(seen) and _repeats_none(seen) and less


def _repeats_some_to_none(seen: Seen) -> bool:
    """Return whether a Broadcast both ways is to make no elements of data that have some."""
    return _is_both_ways(seen) and _gives_none(seen) and not _is_empty(seen.inputs[0])


def _matrices(seen: Seen) -> int:
    """Return how many constant matrices a MatMul multiplies by; 0 for computed ones, and for a vector."""
    shape = seen.inputs[1].shape or ()
    return prod(size.lo for size in shape[:-2]) if 1 in seen.constant and len(shape) > 1 else 0


def _multiplies_none(seen: Seen) -> bool:
    """Return whether a MatMul without elements is not by one constant matrix."""
    return _reads_none(seen) and _matrices(seen) != 1


def _multiplies_none_of_others(seen: Seen) -> bool:
    """Return whether such a MatMul is by several constant matrices, or of other types than `FULL_PRECISION`."""
    return _multiplies_none(seen) and (_matrices(seen) > 1 or seen.inputs[0].dtype.name not in FULL_PRECISION)


def _contracts_none(seen: Seen) -> bool:
    """Return whether an Einsum of two inputs, one of them without elements, has an axis in both."""
    if len(seen.inputs) != 2 or seen.attrs is None or not _reads_none(seen):
        return False
    first, second = seen.attrs.equation.partition("->")[0].split(",")
    return not {*first}.isdisjoint({*second} - {" "})


def _is_given(seen: Seen) -> bool:
    """Return whether an output of i64 without elements, made of constants, is one of the model."""
    made = seen.last and len(seen.constant) == len(seen.inputs) and seen.version > FIRST_VERSION
    return made and seen.outputs[0].dtype.name == "i64" and _is_empty(seen.outputs[0])


def _has_no_filters(seen: Seen) -> bool:
    """Return whether filters have no elements."""
    return seen.has_known_sizes and _is_empty(seen.inputs[1])


def _attends_to_none(seen: Seen, numbers: tuple[int, ...]) -> bool:
    """Return whether one of some inputs of an attention has no batches or no heads."""
    shapes = (seen.inputs[number].shape or () for number in numbers)
    return seen.has_known_sizes and any(size.hi == 0 for shape in shapes for size in shape[:-2])


def _sequence(batch: int, steps: int, width: int) -> Call:
    """Return sequences of so many steps of this width."""
    weights = counted(1, 3, width), counted(1, 3, 3), counted(1, 3)
    inputs = counted(batch, steps, width), counted(batch, 1, 3), np.full(batch, steps, np.int32), *weights
    return Call("RNNSequence-5", inputs, {"hidden_size": "3", "direction": "forward", "activations": "tanh"})


def _attention(queries: int, keys: int) -> Call:
    """Return an attention of batches of such sizes."""
    return Call(
        "ScaledDotProductAttention-13",
        (counted(queries, 2, 4, 8), counted(keys, 2, 6, 8), counted(1, 2, 6, 8)),
        PLAIN,
    )


SEQUENCES = ("GRUSequence-5", "LSTMSequence-5", "RNNSequence-5")
ROWS = (
    ReleaseDifference(
        name="what is made of no elements",
        span=ALWAYS,
        ops=(
            *("AdaptiveAvgPool-8", "AdaptiveMaxPool-8", "CTCGreedyDecoderSeqLen-6", "DetectionOutput-8"),
            *("ExperimentalDetectronPriorGridGenerator-6", "ExperimentalDetectronTopKROIs-6", "Gather-1", "Gather-7"),
            *("Gather-8", "GridSample-9", "ISTFT-16", "Interpolate-1", "Interpolate-11", "Interpolate-4"),
            *("MatrixNms-8", "MulticlassNms-8", "MulticlassNms-9", "NMSRotated-13", "NonMaxSuppression-5"),
            *("NonMaxSuppression-9", "PSROIPooling-1", "Proposal-1", "Proposal-4", "ROIAlign-3", "ROIAlign-9"),
            *("ROIPooling-1", "ScaledDotProductAttention-13", "SearchSorted-15", *TRANSPOSED),
        ),
        reason="If an input has no elements, those of the output are whatever is in memory.",
        sometimes=True,
        model=Call("GridSample-9", (counted(1, 4, 0, 8), counted(1, 5, 5, 2))),
        applies=_makes_some,
    ),
    ReleaseDifference(
        name="sums over data of no elements",
        span=ALWAYS,
        ops=(
            *("DFT-7", "DeformableConvolution-1", "DeformableConvolution-8", "EmbeddingBagPacked-15"),
            *("EmbeddingBagPackedSum-3", "EmbeddingSegmentsSum-3", "IDFT-7", "IRDFT-9", "ROIAlignRotated-15"),
        ),
        reason="If the data have no elements, those of the output are whatever is in memory.",
        sometimes=True,
        model=Call("IDFT-7", (counted(2, 0, 2), Fixed(whole(1)), Fixed(whole(4)))),
        applies=lambda seen: _makes_some(seen) and _is_empty(seen.inputs[0]),
    ),
    ReleaseDifference(
        name="convolutions that sum nothing",
        span="2025.2 to 2026.4",
        ops=CONVOLUTIONS,
        reason="If filters have no elements, those of the output are whatever is in memory.",
        sometimes=True,
        model=Call("Convolution-1", (PLANES, counted(3, 2, 0, 3)), PLANE),
        applies=_makes_some,
    ),
    ReleaseDifference(
        name="products by a matrix that sum nothing",
        span=ALWAYS,
        ops=("MatMul-1",),
        reason="Rows without elements, by a constant matrix, give whatever is in memory.",
        sometimes=True,
        model=Call("MatMul-1", (counted(2, 0), Fixed(counted(0, 4)))),
        applies=lambda seen: _makes_some(seen) and _matrices(seen) == 1,
    ),
    not_compiled(
        name="products of nothing",
        span="2023.3 to 2025.3",
        ops=("MatMul-1",),
        reason="An input without elements is read but not compiled, unless one constant matrix multiplies it.",
        model=Call("MatMul-1", (counted(0, 3), counted(3, 4))),
        applies=_multiplies_none,
    ),
    not_compiled(
        name="products of nothing by several matrices",
        span="2025.4 to 2026.4",
        ops=("MatMul-1",),
        reason="An input without elements is not compiled with several constant matrices, nor integers or bf16.",
        model=Call("MatMul-1", (counted(2, 0, 3), Fixed(counted(2, 3, 4)))),
        applies=_multiplies_none_of_others,
    ),
    *(
        ReleaseDifference(
            name=f"Einsum of nothing, {span}",
            span=span,
            ops=("Einsum-7",),
            state=state,
            reason=f"A sum along an axis of both inputs, one of them without elements, {state.words}.",
            model=Call("Einsum-7", (counted(0, 3), counted(3, 4)), {"equation": "ab,bc->ac"}),
            applies=applies,
        )
        for span, state, applies in (
            (
                "2023.3 to 2025.0",
                State.UNCOMPILED,
                lambda seen: _contracts_none(seen) and 1 not in seen.constant,
            ),
            ("2025.1 to 2025.3", State.DIES, _contracts_none),
        )
    ),
    not_compiled(
        name="convolutions by no filters",
        span="2023.3 to 2025.1",
        ops=CONVOLUTIONS,
        reason="Filters without elements are read but not compiled.",
        model=Call("Convolution-1", (PLANES, NO_FILTERS), PLANE),
        applies=_has_no_filters,
    ),
    not_compiled(
        name="transposed convolutions by no filters",
        span=ALWAYS,
        ops=TRANSPOSED,
        reason="Filters without elements are read but not compiled.",
        model=Call("ConvolutionBackpropData-1", (PLANES, counted(2, 0, 3, 3)), PLANE),
        applies=_has_no_filters,
    ),
    ends(
        name="outputs of i64 that are constants without elements",
        span="2023.3 to 2024.6",
        ops=("Const-1", "Convert-1", "Range-1", "Range-4"),
        reason="An output of the model that is a constant of i64 without elements ends the process.",
        folded=True,
        model=Call(
            "Range-4",
            (Fixed(index(5)), Fixed(index(5)), Fixed(index(1))),
            {"output_type": "i64"},
        ),
        applies=_is_given,
    ),
    ends(
        name="Gather of nothing",
        span=ALWAYS,
        ops=("Gather-1", "Gather-7", "Gather-8"),
        reason="If all sizes are known and the output has no elements, the process ends.",
        model=Call("Gather-8", (counted(2, 3), np.zeros(0, np.int64), Fixed(index(0)))),
        applies=_gives_none,
    ),
    ends(
        name="Broadcast of nothing",
        span=ALWAYS,
        ops=("Broadcast-1", "Broadcast-3"),
        reason="Data of known sizes without elements end the process if the shape is constant.",
        model=Call("Broadcast-1", (counted(0), Fixed(whole(2, 0))), {"mode": "numpy"}),
        applies=lambda seen: _repeats_none(seen) and not _is_repeated_less(seen),
    ),
    not_compiled(
        name="Broadcast of nothing that is repeated less",
        span=ALWAYS,
        ops=("Broadcast-3",),
        reason="Data of known sizes without elements are not compiled for a constant shape that is not the output's.",
        model=Call("Broadcast-3", (counted(0, 3), Fixed(whole(1, 3))), {"mode": "bidirectional"}),
        applies=_is_repeated_less,
    ),
    ReleaseDifference(
        name="Broadcast both ways to nothing",
        span=ALWAYS,
        ops=("Broadcast-3",),
        reason="A size of 1 that a constant shape makes 0 stays 1.",
        model=Call("Broadcast-3", (counted(1), Fixed(whole(2, 0))), {"mode": "bidirectional"}),
        applies=_repeats_some_to_none,
    ),
    *(
        ReleaseDifference(
            name=f"attention of no {what}, {span}",
            span=span,
            ops=("ScaledDotProductAttention-13",),
            state=state,
            reason=f"An attention whose {what} have no batches or heads {state.words}.",
            model=model,
            applies=partial(_attends_to_none, numbers=numbers),
        )
        for what, span, state, model, numbers in (
            ("queries or keys", "2023.3 to 2024.6", State.DIES, _attention(1, 0), (0, 1)),
            ("queries or keys", "2025.0 to 2025.3", State.UNCOMPILED, _attention(1, 0), (0, 1)),
            ("queries", "2025.4 to 2026.1", State.UNCOMPILED, _attention(0, 1), (0,)),
        )
    ),
    not_compiled(
        name="cells of nothing",
        span=ALWAYS,
        ops=("GRUCell-3", "LSTMCell-1", "LSTMCell-4", "RNNCell-1"),
        reason="An input without elements is read but not compiled.",
        model=Call(
            "RNNCell-1",
            (counted(0, 4), counted(0, 3), counted(3, 4), counted(3, 3), counted(3)),
            {"hidden_size": "3"},
        ),
        applies=_reads_none,
    ),
    not_compiled(
        name="sequences of nothing",
        span=ALWAYS,
        ops=SEQUENCES,
        reason="Sequences without steps, batches or features are read but not compiled.",
        model=_sequence(2, 0, 4),
        applies=_reads_none,
    ),
    ends(
        name="sequences of no batch",
        span="2024.4 to 2026.4",
        ops=SEQUENCES,
        reason="Without batches, a layer whose file says its activations ends the process while it is compiled.",
        model=_sequence(0, 5, 4),
        applies=lambda seen: seen.has_known_sizes and _is_empty(seen.inputs[1]),
    ),
    not_run(
        name="Unique of nothing",
        span=ALWAYS,
        ops=("Unique-10",),
        reason="Data without elements are compiled, but the model does not run.",
        model=Call("Unique-10", (counted(2, 0),)),
        applies=_reads_none,
    ),
    not_run(
        name="bags of no indices",
        span=ALWAYS,
        ops=("EmbeddingBagOffsets-15", "EmbeddingBagOffsetsSum-3"),
        reason="Offsets into indices that are not there are compiled, but the model does not run.",
        model=Call("EmbeddingBagOffsetsSum-3", (counted(5, 2), np.zeros(0, np.int32), np.zeros(3, np.int32))),
        applies=lambda seen: seen.has_known_sizes and _is_empty(seen.inputs[1]) and not _is_empty(seen.inputs[2]),
    ),
    ReleaseDifference(
        name="GatherND by tuples of no indices",
        span=ALWAYS,
        ops=("GatherND-5", "GatherND-8"),
        reason="The output, which is all data for each tuple, is uninitialized.",
        model=Call("GatherND-8", (counted(2, 3), np.zeros((4, 0), np.int32))),
        applies=lambda seen: seen.inputs[1].dims[-1:] == (0,) and not _is_empty(seen.outputs[0]),
    ),
    not_run(
        name="bags of no rows",
        span=ALWAYS,
        ops=("EmbeddingBagPacked-15", "EmbeddingBagPackedSum-3"),
        reason="Bags without indices into rows are compiled, but the model does not run.",
        model=Call("EmbeddingBagPackedSum-3", (counted(5, 2), np.zeros((3, 0), np.int32))),
        applies=lambda seen: _makes_some(seen) and not _is_empty(seen.inputs[0]),
    ),
    not_run(
        name="GenerateProposals of no anchors",
        span=ALWAYS,
        ops=("GenerateProposals-9",),
        reason="Anchors without elements are compiled, but the model does not run.",
        model=Call(
            "GenerateProposals-9",
            (floats([8, 8, 1]), counted(0, 0, 3, 4), counted(1, 12, 0, 0), counted(1, 3, 0, 0)),
            {"min_size": "1", "nms_threshold": "0.5", "pre_nms_count": "4", "post_nms_count": "2"},
        ),
        applies=lambda seen: seen.has_known_sizes and _is_empty(seen.inputs[1]),
    ),
    not_compiled(
        name="StringTensorUnpack of nothing",
        span="2024.4 to 2026.3",
        ops=("StringTensorUnpack-15",),
        reason="Strings that are not there are read but not compiled.",
        model=Call("StringTensorUnpack-15", (np.zeros(0, object),)),
        applies=_reads_none,
    ),
)
