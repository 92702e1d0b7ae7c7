"""Layers with bodies: what bodies read, where they keep states, and the memory of their outputs."""

from functools import partial

import numpy as np

from ir_tools.known_differences._model import Body, Branches, Call, Feed, Fixed, Given, Part, counted, whole
from ir_tools.known_differences.releases._row import ReleaseDifference, not_compiled, not_read
from ir_tools.known_differences.releases.seen import Pattern, Seen
from ir_tools.ops import Array
from ir_tools.types import is_static

__all__ = ["ROWS"]

READING = ("Gather-7", "Gather-8", "Reshape-1", "Split-1", "Squeeze-1", "Squeeze-15", "Transpose-1", "Unsqueeze-1")
"""Operations that may give what they read as it is, in the same memory."""
SUM = {"auto_broadcast": "numpy"}
AS_GIVEN = {"transpose_a": "false", "transpose_b": "false"}
WEIGHTS = Fixed(counted(3, 3) / 7)


def _without_first_axis(data: Feed) -> Call:
    return Call("Squeeze-1", (data, Fixed(whole(0))))


def _with_first_axis(data: Feed) -> Call:
    return Call("Unsqueeze-1", (data, Fixed(whole(0))))


def _repeated(*data: Feed, next_states: tuple[Feed, ...], given: tuple[Feed, ...]) -> Call:
    """Return a TensorIterator that cuts the first input; states come next."""
    return Call("TensorIterator-1", data, body=Body(1, next_states, given))


def _of_vectors(state: Feed, joined: Feed) -> Call:
    """Return one that reads four parts, which a body has without the axis that they are cut along, and a state."""
    return _repeated(counted(4, 1, 3), np.zeros((1, 3), np.float32), next_states=(state,), given=(joined,))


def _behind_if(shape: str, weights: Array) -> Call:
    """Return what is computed of an If by two layers, and read by another one."""
    data = Given(counted(2, 5, 4), shape)
    chosen = Call("If-8", (np.array(True), data), body=Branches(Call("ReLU-1", (Part(1),)), Call("Tanh-1", (Part(1),))))
    product = Call("MatMul-1", (Call("ReLU-1", (chosen,)), Fixed(weights)), AS_GIVEN)
    return Call("SoftMax-1", (product,), {"axis": "2"})


def _is_behind_product(seen: Seen, *, known: bool) -> bool:
    given = any(number not in seen.unread for number in seen.constant)
    return seen.has(Pattern.BEHIND_PRODUCT) and given and known is all(is_static(one.shape) for one in seen.inputs)


VECTOR = _without_first_axis(Part(0))
TOTAL = Call("Add-1", (VECTOR, Part(1)), SUM)
NEXT = Call("Tanh-1", (Call("Add-1", (Part(0), Part(1)), SUM),))

ROWS = (
    not_compiled(
        name="layers in a body with outputs that are not read",
        span="2021.4 to 2021.4",
        ops=("LSTMCell-1", "LSTMCell-4", "Split-1", "TopK-1", "TopK-3", "VariadicSplit-1"),
        reason="In a body, a layer is not compiled if nothing reads one of its outputs in front of the last one.",
        model=_repeated(
            counted(2, 4),
            counted(1, 4),
            next_states=(Call("Add-1", (Part(1), Part(0)), SUM),),
            given=(Call("Split-1", (Part(1), Fixed(np.array(1))), {"num_splits": "2"}, gives=1),),
        ),
        applies=lambda seen: seen.has(Pattern.PARTLY_READ),
    ),
    not_read(
        name="inputs of the body of a loop that nothing reads",
        span="2021.2 to 2021.4",
        ops=("Loop-5", "TensorIterator-1"),
        reason="It is not read if nothing reads an input of its body there.",
        model=_repeated(
            counted(4, 1, 3),
            np.zeros((1, 3), np.float32),
            counted(2),
            next_states=(TOTAL,),
            given=(_with_first_axis(Call("Tanh-1", (TOTAL,))),),
        ),
        applies=lambda seen: bool(seen.unread),
    ),
    not_compiled(
        name="states that are inputs of the body that stay the same",
        span="2024.3 to 2026.4",
        ops=("Result-1",),
        reason="The body of a loop gives an input that stays the same as its next state.",
        model=_repeated(
            counted(4, 1, 3),
            np.zeros((1, 3), np.float32),
            counted(1, 3),
            next_states=(Part(2),),
            given=(_with_first_axis(TOTAL),),
        ),
        applies=lambda seen: seen.has(Pattern.FIXED_STATE),
    ),
    ReleaseDifference(
        name="states computed in place of parts",
        span="2023.1 to 2026.4",
        ops=(*READING, "MVN-1", "MVN-6"),
        reason=(
            "The body of a loop computes its next state, or something else, in the memory of an input of the body "
            "that this layer reads; the next part is written there before the state is read."
        ),
        model=_of_vectors(TOTAL, _with_first_axis(TOTAL)),
        applies=lambda seen: seen.has(Pattern.IN_PLACE),
    ),
    ReleaseDifference(
        name="SoftMaxes computed in place of parts",
        span="2022.1 to 2026.4",
        ops=READING,
        reason=(
            "A SoftMax in the body of a loop computes the next state, or something else, in the memory of an input of "
            "the body that this layer reads; the next part is written there before the state is read."
        ),
        model=_of_vectors(Call("SoftMax-1", (VECTOR,), {"axis": "1"}), _with_first_axis(Part(1))),
        applies=lambda seen: seen.has(Pattern.SOFTENED),
    ),
    ReleaseDifference(
        name="SoftMaxes computed in place of inputs that stay the same",
        span="2021.2 to 2026.4",
        ops=(*READING, "SoftMax-1", "SoftMax-8"),
        reason="A SoftMax in the body of a loop is computed in the memory of the input that this layer of it reads.",
        model=_repeated(
            counted(4, 1, 3),
            np.zeros((1, 3), np.float32),
            counted(1, 1, 3),
            next_states=(
                Call("Add-1", (Call("SoftMax-1", (_without_first_axis(Part(2)),), {"axis": "1"}), TOTAL), SUM),
            ),
            given=(_with_first_axis(VECTOR),),
        ),
        applies=lambda seen: seen.has(Pattern.SOFTENED_INPUT),
    ),
    not_compiled(
        name="tensors that a body gives again",
        span="2021.2 to 2021.3",
        ops=("Result-1",),
        reason="The body of a loop gives the tensor that another Result gives.",
        model=_repeated(counted(4, 1, 3), np.zeros((1, 1, 3), np.float32), next_states=(NEXT,), given=(NEXT,)),
        applies=lambda seen: seen.has(Pattern.GIVEN_AGAIN),
    ),
    not_compiled(
        name="states that stay the same and become others",
        span="2024.3 to 2026.4",
        ops=("Result-1",),
        reason="The body of a loop gives a state that stays the same as the next one of a state before it.",
        model=_repeated(
            counted(4, 1, 3),
            np.zeros((1, 3), np.float32),
            np.ones((1, 3), np.float32),
            next_states=(Part(2), Part(2)),
            given=(_with_first_axis(Call("Add-1", (VECTOR, Part(1)), SUM)),),
        ),
        applies=lambda seen: seen.has(Pattern.COPIED_STATE),
    ),
    ReleaseDifference(
        name="states that are inputs of the body",
        span="2021.2 to 2026.4",
        ops=(*READING, "Result-1"),
        reason=(
            "The body of a loop gives an input as its next state, in the same memory; something else is written there "
            "before the state is read."
        ),
        model=_of_vectors(VECTOR, _with_first_axis(Part(1))),
        applies=lambda seen: seen.has(Pattern.PASSED_ON),
    ),
    ReleaseDifference(
        name="loops that read none of their parts",
        span="2022.3 to 2026.4",
        ops=("TensorIterator-1",),
        reason="It does not run as often as it has parts if its body reads none of them.",
        model=_of_vectors(Call("MatMul-1", (Part(1), WEIGHTS), AS_GIVEN), _with_first_axis(Part(1))),
        applies=lambda seen: seen.has(Pattern.UNCUT),
    ),
    ReleaseDifference(
        name="loops that read none of their parts and join none",
        span="2022.1 to 2026.4",
        ops=("TensorIterator-1",),
        reason="It does not run as often as it has parts if its body reads none of them and it joins none.",
        model=_repeated(
            counted(4, 1, 3),
            np.zeros((1, 3), np.float32),
            next_states=(Call("Tanh-1", (Call("Add-1", (Part(1), Fixed(counted(1, 3))), SUM),)),),
            given=(),
        ),
        applies=lambda seen: seen.has(Pattern.UNCOUNTED),
    ),
    ReleaseDifference(
        name="larger tensors behind an If of unknown size",
        span="2025.1 to 2026.4",
        ops=("If-8",),
        reason="Tensors behind it may be in the memory of its output, which is too small for larger ones.",
        model=_behind_if("?,5,4", counted(4, 12)),
        applies=lambda seen: seen.has(Pattern.OUTGROWN),
    ),
    *(
        not_compiled(
            name=f"loops behind products{name}",
            span=span,
            ops=("TensorIterator-1",),
            reason=(
                "It is not compiled if it alone reads what comes of a MatMul, another input is constant, and "
                "elementwise layers of its body follow each other."
            ),
            model=_repeated(
                Call("MatMul-1", (Given(counted(4, 2, 3), shape), WEIGHTS), AS_GIVEN),
                Fixed(np.zeros((1, 2, 3), np.float32)),
                next_states=(Call("Tanh-1", (Call("Add-1", (Part(1), Part(0)), SUM),)),),
                given=(Part(1),),
            ),
            applies=partial(_is_behind_product, known=shape == "4,2,3"),
        )
        for name, span, shape in (
            ("", "2022.3 to 2024.0", "4,2,3"),
            (" of unknown size", "2023.0 to 2024.0", "?,2,3"),
        )
    ),
)
"""The rows."""
