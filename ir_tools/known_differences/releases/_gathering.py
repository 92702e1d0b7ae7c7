"""Gathering, scattering, segments, searching and sorting."""

import math
from functools import partial

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, converted, counted, floats, index, number, whole
from ir_tools.known_differences.releases._predicates import axes_of, has_rank, has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read, not_run
from ir_tools.known_differences.releases.seen import COMBINING, FIRST_VERSION, Pattern, Seen
from ir_tools.ops.definition import Fact
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import element_type, is_static

__all__ = ["ROWS"]

LONG_PLACES = {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i64"}
ALIKE = COMBINING | {"Concat"}
"""Types of layers whose inputs have one element type."""


def _is_negative(fact: Fact) -> bool:
    """Return whether a number is known to be below 0."""
    return fact.exact is not None and bool((fact.exact < 0).all())


def _has_computed_axis(seen: Seen, known: int) -> bool:
    """Return whether the axis of a Gather is computed, and the sizes of its first inputs, `known` ones, are known."""
    return 2 not in seen.constant and all(is_static(fact.shape) for fact in seen.inputs[:known])


def _takes_one_of_the_last_axis(seen: Seen) -> bool:
    """Return whether a TopK of unknown sizes may return one element of the axis that is last in memory."""
    shape, k = seen.inputs[0].shape, seen.inputs[1].integers()
    if shape is None or seen.attrs is None or (is_static(shape) and 1 in seen.constant) or k not in (None, [1]):
        return False
    axis: int = seen.attrs.axis % len(shape)
    return axis == len(shape) - 1 or (axis == 1 and seen.has(Pattern.CHANNELS_LAST))


def _has_negative_indices(seen: Seen) -> bool:
    """Return whether an index is known to be below 0."""
    return seen.inputs[1].value is not None and bool((seen.inputs[1].value.upper < 0).any())


def _has_batches(seen: Seen) -> bool:
    """Return whether the indices of a Gather have axes of batches."""
    batches = 0 if seen.attrs is None else seen.attrs.batch_dims
    return bool(batches) and batches != -seen.rank(1)


def _is_one_batch(seen: Seen, *, single: bool, lanes: int, held: bool | None) -> bool:
    """Return whether a Gather with batches has one of them, and nothing else before the axis.

    Args:
        seen: the Gather.
        single: whether single elements are gathered, fewer than `lanes`; else 2 to `lanes` at a time.
        lanes: how many elements are read at a time.
        held: whether the indices are constant; None if that does not matter.
    """
    if held not in {None, 1 in seen.constant}:
        return False
    data, indices = (fact.shape for fact in seen.inputs[:2])
    axes = axes_of(seen, 2)
    if seen.attrs is None or not seen.attrs.batch_dims or data is None or indices is None or not axes:
        return False
    axis = axes[0]
    if not (is_static(data) and is_static(indices)) or any(size.hi != 1 for size in data[:axis]):
        return False
    elements, places = math.prod(size.size for size in data[axis + 1 :]), math.prod(size.size for size in indices)
    if single:
        return elements == 1 and places < lanes and (lanes < 16 or data[axis].size <= lanes)
    return 1 < elements <= lanes


def _has_short_sequences(seen: Seen) -> bool:
    """Return whether the sequences of a SearchSorted are known to hold one number."""
    sequences = seen.inputs[0].shape
    return sequences is not None and bool(sequences) and sequences[-1].hi == 1


FEW, MANY = (np.arange(count)[None] % 8 for count in (3, 100))
OF_4_BYTES = "f32 f16 bf16 f64 i16 u16 i32 u32 i64 u64"
"""Element types that a Gather moves in 4 bytes."""
PLACES = Call("NonZero-3", (counted(2, 3),), {"output_type": "i64"})


def _reduces(seen: Seen, *, reduction: str, first: bool) -> bool:
    """Return whether updates are reduced in this way, and the data with them if they are the `first` of them."""
    attrs = seen.attrs
    return attrs is None or (attrs.reduction == reduction and (first or not attrs.use_init_val))


def _weighs_unknown(seen: Seen) -> bool:
    """Return whether a sum of embeddings weighs them, and the sizes of indices or weights are not known."""
    weighed = len(seen.inputs) == len(seen.op.inputs)
    return weighed and not all(is_static(fact.shape) for fact in (seen.inputs[1], seen.inputs[-1]))


def _combines_long_places(seen: Seen) -> bool:
    """Return whether a layer that needs inputs of one element type reads indices of 64 bits."""
    readers = {type for number, type in seen.readers if number == 1}
    return seen.outputs[-1].dtype.name == "i64" and not readers.isdisjoint(ALIKE)


ROWS = (
    not_compiled(
        name="TopK-1 whose indices nothing reads",
        span="2021.3 to 2022.3",
        ops=("TopK-1",),
        reason="Indices in i64 that nothing reads are not compiled.",
        model=Call(
            "TopK-1",
            (counted(2, 3), Fixed(index(2))),
            {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i64"},
            results=(0,),
        ),
        applies=lambda seen: has_value("index_element_type", element_type("i64"))(seen) and 1 not in dict(seen.readers),
    ),
    ends(
        name="the shape of a number",
        span="2023.3 to 2024.6",
        ops=("ShapeOf-1", "ShapeOf-3"),
        reason="An empty i64 output of the model that is the shape of a scalar crashes the process.",
        model=Call("ShapeOf-3", (number(3),), {"output_type": "i64"}),
        applies=lambda seen: (
            has_rank(seen, 0)
            and seen.outputs[0].dtype.name == "i64"
            and seen.version != FIRST_VERSION
            and (0, "Result") in seen.readers
        ),
    ),
    ReleaseDifference(
        name="places of elements that are converted before",
        span="2022.1 to 2026.4",
        ops=("NonZero-3",),
        reason="The Convert is removed: an element that it makes 0 counts as another.",
        sometimes=True,
        model=Call("NonZero-3", (converted(floats([0.5, -0.2], [1, 0]), "i32"),), {"output_type": "i64"}),
        applies=lambda seen: seen.has(Pattern.UNCONVERTED),
    ),
    not_compiled(
        name="places of elements that several layers read",
        span="2022.1 to 2022.1",
        ops=("NonZero-3",),
        reason="A NonZero with several consumers is not compiled.",
        model=Call("Concat-1", (PLACES, Call("Abs-1", (PLACES,))), {"axis": "0"}),
        applies=lambda seen: len(seen.readers) > 1,
    ),
    ReleaseDifference(
        name="Gather from batches",
        span="2021.3 to 2021.3",
        ops=("Gather-7",),
        reason="`batch_dims` has no effect: all indices are looked up in each batch.",
        model=Call("Gather-7", (counted(2, 3), np.array([[1], [0]]), Fixed(np.array(1))), {"batch_dims": "1"}),
        applies=_has_batches,
    ),
    *(
        ReleaseDifference(
            name=f"Gather along a computed axis, {span}",
            span=span,
            ops=("Gather-7", "Gather-8"),
            state=state,
            reason=f"If the sizes of data and indices are known, a Gather along a computed axis {state.words}.",
            model=Call("Gather-8", (counted(2, 3), whole(1, 0), index(0))),
            instead=("input 2",),
            applies=partial(_has_computed_axis, known=known),
        )
        for span, state, known in (("2022.1 to 2022.3", State.DIES, 3), ("2023.0 to 2026.4", State.UNCOMPILED, 2))
    ),
    *(
        ends(
            name=f"Gather from one batch, {what} at a time{' of constant places' if held else ''}, {processor}",
            span=f"{first} to 2026.4",
            ops=("Gather-7", "Gather-8"),
            reason=f"If the batch size is known to be 1, {what} at a time are read from outside the data.",
            model=Call("Gather-8", (counted(1, 8, size), places, Fixed(np.array(1))), {"batch_dims": "1"}),
            types=types,
            applies=partial(_is_one_batch, single=size == 1, lanes=lanes, held=held),
            processor=processor,
        )
        for what, held, first, size, places, types, lanes, processor in (
            ("2 to 16 elements", False, "2022.1", 5, MANY, "", 16, Processor.AVX512),
            ("2 to 16 elements", True, "2022.3", 5, Fixed(MANY), "", 16, Processor.AVX512),
            ("few elements", None, "2026.0", 1, FEW, "", 16, Processor.AVX512),
            ("2 to 8 elements", None, "2022.1", 2, MANY, OF_4_BYTES, 8, Processor.NO_AVX512),
            ("few elements", None, "2022.1", 1, FEW, "", 8, Processor.NO_AVX512),
        )
    ),
    not_run(
        name="empty bags without a row",
        span="2021.2 to 2024.2",
        ops=("EmbeddingBagOffsetsSum-3",),
        reason="A default index of -1, which selects zeros for empty bags, fails at run time.",
        model=Call(
            "EmbeddingBagOffsetsSum-3",
            (counted(3, 2), Fixed(whole(0, 2)), Fixed(whole(0, 1, 1)), Fixed(np.array(-1))),
        ),
        applies=lambda seen: len(seen.inputs) > 3 and _is_negative(seen.inputs[3]),
    ),
    ReleaseDifference(
        name="SegmentMax",
        span="2025.1 to 2025.1",
        ops=("SegmentMax-16",),
        reason=(
            "Maxima are compared with 0: the result of a segment of negative numbers is 0 or the minimum of the type."
        ),
        sometimes=True,
        measured=True,
        model=Call(
            "SegmentMax-16",
            (floats([1, -2], [3, 4], [-5, -6], [7, 8]), Fixed(whole(0, 0, 2, 3))),
            {"fill_mode": "ZERO"},
        ),
        types="f32 f16 bf16 f64 i8 i16 i32 i64",
    ),
    not_read(
        name="TopK of places of 64 bits that are combined with others",
        span="2021.2 to 2021.2",
        ops=("TopK-1", "TopK-3"),
        reason="Indices of i64 are of i32 nevertheless, and not combined with others of i64.",
        model=Call("Add-1", (Call("TopK-3", (counted(2, 3), Fixed(index(2))), LONG_PLACES, gives=1), Fixed(index(5)))),
        applies=_combines_long_places,
    ),
    ReleaseDifference(
        name="TopK without order",
        span="2021.2 to 2021.4",
        ops=("TopK-1", "TopK-3"),
        reason='With sort="none" the elements are returned in the order of their positions, instead of by value.',
        measured=True,
        model=Call(
            "TopK-3",
            (floats([3, 9, 1, 7, 5, 8]), Fixed(index(3))),
            {"axis": "1", "mode": "max", "sort": "none"},
            (0,),
        ),
        applies=lambda seen: has_value("sort", "none")(seen) and seen.inputs[1].integers() != [1],
    ),
    ends(
        name="TopK of one element of the last axis, sizes unknown",
        span="2022.1 to 2022.2",
        ops=("TopK-1", "TopK-3"),
        reason="The search for one element of the axis that is last in memory does not end if a size is unknown.",
        model=Call(
            "TopK-3",
            (Given(counted(2, 3), "?,3"), Fixed(index(1))),
            {"axis": "1", "mode": "max", "sort": "value"},
            (0,),
        ),
        applies=_takes_one_of_the_last_axis,
    ),
    ReleaseDifference(
        name="negative indices of GatherND",
        span="2021.2 to 2025.2",
        ops=("GatherND-5", "GatherND-8"),
        reason="Negative indices are not counted from the end; memory before the data is read.",
        sometimes=True,
        model=Call("GatherND-5", (counted(3, 2), Fixed(np.array([[-1]])))),
        applies=_has_negative_indices,
    ),
    ReleaseDifference(
        name="negative indices of GatherElements",
        span="2021.3 to 2025.2",
        ops=("GatherElements-6",),
        reason="Negative indices are not counted from the end; memory before the data is read.",
        sometimes=True,
        model=Call("GatherElements-6", (counted(3, 2), Fixed(np.array([[-1, -1]]))), {"axis": "0"}),
        applies=_has_negative_indices,
    ),
    ends(
        name="negative indices of ScatterNDUpdate",
        span="2021.2 to 2023.0",
        ops=("ScatterNDUpdate-4",),
        reason="Negative indices are not counted from the end; memory before the data is overwritten.",
        model=Call("ScatterNDUpdate-4", (counted(3, 4), Fixed(np.array([[-1]])), counted(1, 4))),
        applies=_has_negative_indices,
    ),
    not_run(
        name="negative indices of ScatterElementsUpdate",
        span="2021.2 to 2023.0",
        ops=("ScatterElementsUpdate-3",),
        reason="Negative indices are refused when the model runs.",
        model=Call(
            "ScatterElementsUpdate-3",
            (counted(3, 4), Fixed(np.array([[-1] * 4])), counted(1, 4), Fixed(index(0))),
        ),
        applies=_has_negative_indices,
    ),
    not_run(
        name="ScatterElementsUpdate along a computed axis",
        span="2022.1 to 2024.6",
        ops=("ScatterElementsUpdate-3", "ScatterElementsUpdate-12"),
        reason="If the axis and a size are computed, the model is compiled but not run.",
        model=Call(
            "ScatterElementsUpdate-3",
            (Given(counted(4, 3), "?,3"), np.array([[0, 1, 2], [2, 0, 3]]), counted(2, 3), index(0)),
        ),
        applies=lambda seen: 3 not in seen.constant and not all(is_static(fact.shape) for fact in seen.inputs),
    ),
    ends(
        name="ScatterElementsUpdate without updates",
        span="2021.4 to 2021.4",
        ops=("ScatterElementsUpdate-3",),
        reason="The process ends if there are no updates.",
        model=Call(
            "ScatterElementsUpdate-3", (counted(6), Fixed(np.zeros(0, np.int64)), Fixed(counted(0)), Fixed(index(0)))
        ),
        applies=lambda seen: 0 in seen.inputs[2].dims and not seen.folded,
    ),
    ReleaseDifference(
        name="Bucketize without with_right_bound",
        span="2021.2 to 2021.4",
        ops=("Bucketize-3",),
        reason="A missing with_right_bound is read as false; the default is true.",
        model=Call("Bucketize-3", (counted(4), Fixed(counted(4))), {"output_type": "i64"}),
        sometimes=True,
        applies=lambda seen: bool(seen.absent),
    ),
    ReleaseDifference(
        name="SearchSorted in sequences of one number",
        span="2024.5 to 2024.6",
        ops=("SearchSorted-15",),
        reason="Values that are searched in sequences of one element are mixed up.",
        sometimes=True,
        model=Call("SearchSorted-15", (counted(3, 1), Fixed(floats([2], [0], [3]))), {"right_mode": "false"}),
        applies=_has_short_sequences,
    ),
    *(
        not_compiled(
            name=f"ScatterElementsUpdate with a reduction of {', '.join(types.split())}",
            span="2023.1 to 2024.0",
            ops=("ScatterElementsUpdate-12",),
            reason=f"Reductions of {', '.join(types.split())} are read but not compiled.",
            model=Call(
                "ScatterElementsUpdate-12",
                (
                    counted(2, 4).astype(element_type(types.split()[0]).dtype),
                    Fixed(np.array([[0, 1]])),
                    counted(1, 2).astype(element_type(types.split()[0]).dtype),
                    Fixed(index(0)),
                ),
                {"reduction": "sum"},
            ),
            types=types,
            applies=lambda seen: not has_value("reduction", "none")(seen),
            processor=processor,
        )
        for types, processor in (("bf16", Processor.AVX512), ("i8 u8 boolean", Processor.ANY))
    ),
    *(
        ReleaseDifference(
            name=f"{what} of updates",
            span=f"2023.1 to {last}",
            ops=("ScatterElementsUpdate-12",),
            reason=reason,
            types=types,
            sometimes=True,
            model=Call(
                "ScatterElementsUpdate-12",
                (-data, Fixed(whole(1, 1, 3)), -data[:3] - 4, Fixed(index(0))),
                {"reduction": reduction, "use_init_val": first},
            ),
            applies=partial(_reduces, reduction=reduction, first=first == "true"),
        )
        for what, last, reduction, first, types, reason, data in (
            (
                "maxima",
                "2023.2",
                "max",
                "false",
                "f32 f16 f64",
                "Without the data, negative maxima become the least positive number.",
                floats(1, 2, 3, 4),
            ),
            (
                "means of integers",
                "2024.0",
                "mean",
                "true",
                "i32 i64 i16 u16 u32 u64",
                "Means of negative integers are rounded in another direction.",
                np.array([1, 2, 3, 4], np.int32),
            ),
        )
    ),
    not_compiled(
        name="GatherND with indices of unknown length",
        span="2022.1 to 2026.4",
        ops=("GatherND-5", "GatherND-8"),
        reason="It is compiled only if the size of the last axis of the indices is known.",
        model=Call("GatherND-5", (counted(3, 2), Given(np.array([[[1]]]), "1,1,?"))),
        instead=("? 1 input 1",),
        applies=lambda seen: not all(size.static for size in (seen.inputs[1].shape or ())[-1:]),
    ),
    not_compiled(
        name="TopK-1 with indices of 64 bits in IR v10",
        only_v10=True,
        span="2022.1 to 2022.3",
        ops=("TopK-1",),
        reason="Indices of i64 are read but not compiled in IR v10.",
        model=Call(
            "TopK-1",
            (counted(2, 3), Fixed(np.array(2))),
            {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i64"},
        ),
        applies=lambda seen: seen.version == FIRST_VERSION and seen.outputs[-1].dtype.name == "i64",
    ),
    not_compiled(
        name="weighed embeddings of unknown size",
        span="2022.1 to 2026.4",
        ops=(
            *("EmbeddingBagOffsetsSum-3", "EmbeddingSegmentsSum-3", "EmbeddingBagPackedSum-3"),
            *("EmbeddingBagOffsets-15", "EmbeddingBagPacked-15"),
        ),
        reason="With a weight for each index, the model is compiled only for known sizes of indices and weights.",
        model=Call(
            "EmbeddingBagPackedSum-3", (counted(4, 3), Given(whole(1, 2, 0, 3).reshape(2, 2), "?,?"), counted(2, 2))
        ),
        instead=(
            *("? input 1", "? input 2", "? input 4", "? input 5"),
            *("? 0 input 1", "? 1 input 1", "? 0 input 2", "? 1 input 2"),
        ),
        applies=_weighs_unknown,
    ),
    not_compiled(
        name="Bucketize of a scalar",
        span="2021.2 to 2021.4",
        ops=("Bucketize-3",),
        reason="Data without dimensions is read but not compiled.",
        model=Call("Bucketize-3", (number(2), Fixed(floats(1, 3))), {"output_type": "i64", "with_right_bound": "true"}),
        applies=lambda seen: bool(seen.inputs) and seen.inputs[0].shape == (),
    ),
    not_compiled(
        name="RandomUniform as in PyTorch",
        span="2024.3 to 2024.6",
        ops=("RandomUniform-8",),
        reason='With `alignment="pytorch"` it is read but not compiled.',
        folded=True,
        model=Call(
            "RandomUniform-8",
            (Fixed(whole(2, 3)), Fixed(number(0)), Fixed(number(1))),
            {"output_type": "f32", "global_seed": "3", "op_seed": "5", "alignment": "pytorch"},
        ),
        applies=has_value("alignment", "pytorch"),
    ),
)
"""The rows."""
