"""Variables, and layers that read them."""

from functools import partial

import numpy as np

from ir_tools.known_differences._model import Call, Feed, Fixed, Given, counted, floats, whole
from ir_tools.known_differences.releases._row import ReleaseDifference, not_compiled, not_read, not_run
from ir_tools.known_differences.releases.seen import Pattern, Seen
from ir_tools.ops.definition import Fact
from ir_tools.releases.measured import State
from ir_tools.types import is_static

__all__ = ["ROWS"]

READS = ("ReadValue-3", "ReadValue-6")
KEEPS = ("Assign-3", "Assign-6")
UNKNOWN = "?,?,4"
"""Sizes of a variable."""
TENSOR = counted(2, 3, 4)
BEGINNING = (Fixed(whole(0)), Fixed(whole(0)), Fixed(whole(1)), Fixed(whole(1)))
"""Of a Slice that takes nothing along the second axis."""


def _is_zero(fact: Fact) -> bool:
    """Return whether all values of a tensor are known to be 0."""
    return fact.exact is not None and not fact.exact.any()


def _variable(*first: Feed, shape: str = UNKNOWN, name: str = "v") -> Call:
    """Return a layer that reads a variable; `first`: its initial value, if it has one."""
    return Call("ReadValue-6", first, {"variable_id": name, "variable_type": "f32", "variable_shape": shape})


def _zeros(data: Feed) -> Call:
    """Return zeros of the sizes of a tensor, which the tensor decides."""
    return Call("Multiply-1", (data, Fixed(np.zeros((1, 1, 1), np.float32))))


def _joined(state: Feed, data: Feed) -> Call:
    """Return the rows of a variable, and others behind them."""
    return Call("Concat-1", (state, data), {"axis": "1"})


def _delayed() -> Call:
    """Return a delay line, which keeps the last rows and those of an input, and is an output."""
    lines = _variable(Fixed(np.zeros((1, 3, 4), np.float32)), shape="1,3,4")
    rest = Call("VariadicSplit-1", (lines, Fixed(whole(1)), Fixed(whole(1, 2))), gives=1)
    rows = _joined(rest, counted(1, 1, 4))
    return Call("Abs-1", (rows,), kept={"v": rows})


def _grown(start: Feed, data: Feed, *between: str) -> Call:
    """Return a variable that keeps its rows and others behind them, which are an output.

    `between`: the operations of layers of one input between the variable and the Concat.
    """
    rows = _variable(start)
    for op in between:
        rows = Call(op, (rows,))
    rows = _joined(rows, data)
    return Call("Abs-1", (rows,), kept={"v": rows})


def _summed(start: Feed, data: Feed) -> Call:
    """Return a variable that keeps its sum with a tensor, which is an output."""
    total = Call("Add-1", (_variable(start), data))
    return Call("Abs-1", (total,), kept={"v": total})


def _replaced(start: Feed, data: Feed) -> Call:
    """Return a variable that keeps another tensor, which is an output."""
    return Call("Concat-1", (_variable(start), data), {"axis": "1"}, kept={"v": Call("Abs-1", (data,))})


def _separate() -> Call:
    """Return a variable that keeps what does not depend on it."""
    data = Call("Exp-1", (Given(-TENSOR, UNKNOWN),))
    return Call("Add-1", (_variable(_zeros(data)), data), kept={"v": Call("Tanh-1", (data,))})


def _started() -> Call:
    """Return a variable that keeps what its initial value is computed of, and their sum, which is an output."""
    data = Call("Exp-1", (-TENSOR,))
    return Call("Add-1", (_variable(_zeros(data), shape="2,3,4"), data), kept={"v": data})


def _constant_start(name: str = "v", first: float = 0.5) -> Call:
    """Return a layer that reads a variable of two rows, which begins with a constant."""
    return _variable(Fixed(counted(2, 3) * np.float32(first)), shape="2,3", name=name)


def _passed_on() -> Call:
    """Return the difference of a tensor and a variable that keeps another one, which keeps something else."""
    first, second = (_constant_start(name, 0) for name in "vw")
    return Call("Subtract-1", (counted(2, 3), second), kept={"v": Call("Exp-1", (-counted(2, 3),)), "w": first})


def _shifted() -> Call:
    """Return a variable of two rows that keeps its first one with another before it, which is an output."""
    state = _variable(Call("Exp-1", (-counted(2, 3),)), shape="2,3")
    first = Call("Slice-8", (state, Fixed(whole(0)), Fixed(whole(1)), Fixed(whole(1)), Fixed(whole(0))))
    rows = Call("Concat-1", (Call("Exp-1", (-counted(1, 3),)), first), {"axis": "0"})
    return Call("Abs-1", (rows,), kept={"v": rows})


def _averaged() -> Call:
    """Return the SoftMax of a variable of unknown sizes that keeps its sum with a tensor."""
    data = Call("Exp-1", (Given(-TENSOR, UNKNOWN),))
    state = _variable(data)
    return Call("SoftMax-8", (state,), {"axis": "2"}, kept={"v": Call("Add-1", (state, data))})


def _decayed() -> Call:
    """Return the product with a variable that begins with zeros."""
    state = _variable(Fixed(np.zeros((3, 4), np.float32)), shape="3,4")
    kept = Call("Add-1", (Call("Multiply-1", (state, Fixed(floats(0.5)))), counted(3, 4)))
    return Call("MatMul-1", (counted(2, 3), state), {"transpose_a": "false", "transpose_b": "false"}, kept={"v": kept})


def _has_unknown_sizes(seen: Seen) -> bool:
    """Return whether a variable, what it begins with, or what is kept of it, has unknown sizes."""
    first = seen.inputs[0] if seen.inputs else seen.outputs[0]
    return seen.has(Pattern.UNKNOWN_KEPT) or not is_static(first.shape)


def _changes_sizes(seen: Seen, *, known: bool) -> bool:
    """Return whether a variable keeps other sizes than those of its initial value, and the file knows them or not."""
    return seen.has(Pattern.OTHER_KEPT) and seen.has(Pattern.KNOWN_KEPT) is known


def _keeps_known_sizes(seen: Seen) -> bool:
    """Return whether a variable of unknown sizes keeps a tensor of known ones."""
    return seen.has(Pattern.KNOWN_KEPT) and not is_static(seen.outputs[0].shape)


ROWS = (
    ReleaseDifference(
        name="initial value of a variable",
        span="2021.3 to 2023.2",
        ops=READS,
        reason="The first inference reads zeros instead of the initial value.",
        sometimes=True,
        measured=True,
        model=Call("ReadValue-3", (floats([1, 2, 3]),), {"variable_id": "v"}),
        applies=lambda seen: bool(seen.inputs) and not _is_zero(seen.inputs[0]),
    ),
    not_read(
        name="variables without an initial value",
        span="2021.3 to 2023.2",
        ops=("ReadValue-6",),
        reason="A variable needs an initial value.",
        model=_variable(shape="1,3"),
        applies=lambda seen: not seen.inputs,
    ),
    not_compiled(
        name="variables of unknown sizes",
        span="2022.1 to 2023.2",
        ops=READS,
        reason="A variable of unknown size is not supported; some models fail only at run time.",
        model=Call("ReadValue-3", (Given(floats([1, 2, 3]), "?,3"),), {"variable_id": "v"}),
        applies=_has_unknown_sizes,
    ),
    *(
        ReleaseDifference(
            name=f"variables that change their sizes to {about} ones",
            span="2022.1 to 2023.2",
            state=state,
            ops=READS,
            reason="A variable keeps the sizes of its initial value.",
            model=model,
            applies=partial(_changes_sizes, known=about == "known"),
        )
        for about, model, state in (
            ("unknown", _grown(Fixed(np.zeros((2, 0, 4), np.float32)), TENSOR), State.UNCOMPILED),
            ("known", _replaced(Fixed(np.zeros((2, 2, 4), np.float32)), TENSOR), State.UNREAD),
        )
    ),
    not_compiled(
        name="variables of unknown sizes with a constant initial value",
        span="2023.3 to 2024.4",
        ops=("ReadValue-6",),
        reason="A variable of unknown size is not compiled if its initial value is a constant.",
        model=_variable(Fixed(counted(1, 1, 3)), shape="1,?,3"),
        applies=lambda seen: 0 in seen.constant and not is_static(seen.outputs[0].shape),
    ),
    not_run(
        name="variables of unknown sizes that keep known ones",
        span="2023.3 to 2026.4",
        ops=READS,
        reason="A variable of unknown size cannot keep a tensor whose sizes are known.",
        model=_summed(TENSOR, TENSOR),
        applies=_keeps_known_sizes,
    ),
    not_run(
        name="variables that grow from an initial value of their own",
        span="2025.0 to 2026.4",
        ops=("ReadValue-6",),
        reason="If the initial value is computed for one variable alone, this cannot keep other sizes than that has.",
        model=_grown(
            Call("Slice-8", (Call("Abs-1", (Given(TENSOR, UNKNOWN),)), *BEGINNING)), Given(TENSOR, UNKNOWN), "Abs-1"
        ),
        applies=lambda seen: seen.has(Pattern.OUTGROWN_START),
    ),
    not_compiled(
        name="Concat of a variable with an initial value of its own",
        span="2025.0 to 2026.4",
        ops=("Concat-1",),
        reason="A Concat does not read a variable of unknown size whose initial value is computed for it alone.",
        model=_grown(_zeros(Given(TENSOR, UNKNOWN)), Given(TENSOR, UNKNOWN)),
        applies=lambda seen: seen.has(Pattern.BEGUN),
    ),
    *(
        ReleaseDifference(
            name=f"variables that nothing keeps, {span}",
            span=span,
            state=state,
            ops=READS,
            reason="A variable needs an Assign.",
            model=Call("Abs-1", (_constant_start(first=0),), kept={"v": None}),
            applies=lambda seen: seen.has(Pattern.NEVER_KEPT),
        )
        for span, state in (("2022.1 to 2024.0", State.UNCOMPILED), ("2024.1 to 2026.4", State.FAILS))
    ),
    ReleaseDifference(
        name="variables that keep what depends on others alone",
        span="2022.1 to 2023.2",
        ops=KEEPS,
        reason="A variable may be overwritten before what is computed of it is kept in another one.",
        sometimes=True,
        model=_passed_on(),
        applies=lambda seen: seen.has(Pattern.CROSSED),
    ),
    not_compiled(
        name="variables that only themselves depend on",
        span="2024.5 to 2026.4",
        ops=KEEPS,
        reason="A variable that stays as it is needs another layer that reads it.",
        model=Call("ShapeOf-3", (_constant_start(),), {"output_type": "i64"}),
        applies=lambda seen: seen.has(Pattern.HELD),
    ),
    ReleaseDifference(
        name="variables that only a normalization reads",
        span="2024.5 to 2026.4",
        ops=KEEPS,
        reason="A SoftMax or GRN overwrites a variable that stays as it is if no other layer reads it.",
        model=Call("SoftMax-8", (_constant_start(),), {"axis": "1"}),
        applies=lambda seen: seen.has(Pattern.OVERWRITTEN),
    ),
    ReleaseDifference(
        name="variables that keep joined parts",
        span="2024.2 to 2024.3",
        ops=KEEPS,
        reason="A variable that keeps joined parts, and begins with what is computed, may be overwritten with that.",
        model=_shifted(),
        applies=lambda seen: seen.has(Pattern.JOINED_STATE) and seen.has_known_sizes,
    ),
    ReleaseDifference(
        name="normalized variables of unknown sizes",
        span="2023.3 to 2024.1",
        ops=("GRN-1", "SoftMax-1", "SoftMax-8"),
        reason="A SoftMax or GRN overwrites a variable of unknown size, which the third inference and later ones read.",
        model=_averaged(),
        applies=lambda seen: seen.has(Pattern.OPEN_STATE),
    ),
    not_read(
        name="Assign-3 of what does not depend on its variable",
        span="2021.2 to 2026.4",
        ops=("Assign-3",),
        reason="Assign-3 finds its variable only among the layers that compute what is kept.",
        model=Call(
            "Abs-1",
            (Call("ReadValue-3", (counted(2, 3),), {"variable_id": "v"}),),
            kept={"v": Call("Tanh-1", (counted(2, 3),))},
        ),
        applies=lambda seen: seen.has(Pattern.UNRELATED),
    ),
    not_run(
        name="variables that keep what does not depend on them",
        span="2024.2 to 2024.3",
        ops=KEEPS,
        reason="What is kept has to depend on what the variable held before.",
        model=_separate(),
        applies=lambda seen: seen.has(Pattern.UNRELATED),
    ),
    ReleaseDifference(
        name="variables that keep an input",
        span="2024.2 to 2026.4",
        ops=KEEPS,
        reason="Other layers that read an input which a variable keeps get values that are not those of the input.",
        model=_delayed(),
        applies=lambda seen: seen.has(Pattern.KEPT_INPUT),
    ),
    ReleaseDifference(
        name="variables that keep what they begin with",
        span="2024.2 to 2026.4",
        ops=KEEPS,
        reason="What is kept is overwritten with the initial value if this is computed of it.",
        model=_started(),
        applies=lambda seen: seen.has(Pattern.STARTING),
    ),
    not_compiled(
        name="products with a variable, 2023.1 to 2023.3",
        span="2023.1 to 2023.3",
        ops=("MatMul-1",),
        reason="A matrix that is a variable with a constant initial value is taken for a constant.",
        model=_decayed(),
        applies=lambda seen: seen.has(Pattern.KNOWN_STATE),
    ),
    ReleaseDifference(
        name="products with a variable",
        span="2024.0 to 2026.4",
        ops=("MatMul-1",),
        reason="A matrix that is a variable with a constant initial value is taken for a constant, and read too early.",
        sometimes=True,
        model=_decayed(),
        applies=lambda seen: seen.has(Pattern.KNOWN_STATE),
    ),
)
"""Variables, and layers that read them."""
