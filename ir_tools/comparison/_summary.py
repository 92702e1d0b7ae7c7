"""A comparison in a few words, for people."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ir_tools.display import notebook_table, number, plural, sufficient, without_build

if TYPE_CHECKING:
    from ir_tools.comparison._differences import Difference
    from ir_tools.comparison._gold import F64Errors
    from ir_tools.comparison._results import Comparison, LayerComparison, OutputComparison, Sides

__all__ = [
    "closer_words",
    "compared_words",
    "difference_words",
    "f64_note",
    "first_name",
    "html_table",
    "narrow_note",
    "one_line",
    "outputs_words",
    "place",
    "rounding_note",
    "weak_notes",
]

WEAK_SHOWN = 3
"""Outputs that prove little and are named one by one."""


def one_line(found: "Comparison") -> str:
    """Return `isolated against reference: 12 tensors and 1 output agree, 1.2e-07 is enough`."""
    first = found.mode if found.with_reference else f"OpenVINO {without_build(found.runtime)}"
    head = f"{first} against {found.second}"
    what = compared_words(found)
    if found.first_difference is None:
        verb = "agrees" if what == plural(1, "output") else "agree"
        return f"{head}: {what} {verb}, {sufficient(found.needed)} is enough"
    if found.ok:
        return f"{head}: {outputs_words(found).lower()}; {rounding_note(found)}"
    wrong = sum(entry.status == "differs" for entry in found.layers) + sum(not entry.ok for entry in found.outputs)
    return f"{head}: {wrong} of {what} differ, first {first_name(found)!r}"


def compared_words(found: "Comparison") -> str:
    """Return `12 tensors and 1 output`: what was compared."""
    compared, outputs = sum(entry.status != "skipped" for entry in found.layers), plural(len(found.outputs), "output")
    return f"{plural(compared, 'tensor')} and {outputs}" if compared else outputs


def place(found: "Comparison") -> str:
    """Return `OpenVINO 2026.4.1 on Intel(R) Xeon(R) Processor, precision f32`."""
    return f"OpenVINO {without_build(found.runtime)} on {found.device}, precision {found.precision}"


def first_name(found: "Comparison") -> str:
    """Return the path of the first layer that differs, or the name of the output; empty without a difference."""
    first = found.first_difference
    return str(getattr(first, "path", None) or getattr(first, "name", ""))


def narrow_note(found: "Comparison") -> str | None:
    """Return a note on a quantized model; None for any other."""
    if not found.narrow:
        return None
    worst = max((entry.difference.needed for entry in found.in_use), default=0.0)
    return (
        "The model is quantized, but this comparison runs it in f32. By default the device computes "
        f"{plural(found.narrow, 'operation')} in int8, which changes the outputs by up to {sufficient(worst)} "
        "of their largest magnitude; use --precision int8 to compare that arithmetic, layer by layer."
    )


def outputs_words(found: "Comparison") -> str:
    """Return `All 3 outputs agree` or `1 of 3 outputs differs`, as it is."""
    wrong, count = sum(not entry.ok for entry in found.outputs), len(found.outputs)
    if count == 1:
        return "The output differs" if wrong else "The output agrees"
    if wrong:
        return f"{wrong} of {count} outputs {'differs' if wrong == 1 else 'differ'}"
    return f"All {count} outputs agree"


def rounding_note(found: "Comparison") -> str:
    """Return why tensors that differ do not decide; empty if they do, or if none differs."""
    wrong = sum(entry.status == "differs" for entry in found.layers)
    if not (found.rounding and wrong):
        return ""
    what = "1 tensor inside is" if wrong == 1 else f"{wrong} tensors inside are"
    return f"{what} beyond the tolerance; rounding errors of {found.rounding} add up, so only the outputs decide"


def weak_notes(found: "Comparison") -> list[str]:
    """Return sentences for tensors behind an order that rounding decides, and for what proves or explains little."""
    weak = found.weak
    behind = [entry.reason for entry in found.layers if entry.follows is not None]
    notes = [f"{plural(len(behind), 'tensor')} not compared; the first one {behind[0]}."] if behind else []
    notes += [f"The output '{entry.name}' proves little: {entry.weak}." for entry in weak[:WEAK_SHOWN]]
    if len(weak) > WEAK_SHOWN:
        notes.append(f"{plural(len(weak) - WEAK_SHOWN, 'more output')} of {len(found.outputs)} prove equally little.")
    if weak and len(weak) == len(found.outputs):
        notes.append(
            "No output proves anything; use other inputs, such as --input NAME=uniform:0:255 or --input NAME=FILE."
        )
    states, same = {entry.status for entry in found.layers}, all(entry.ok for entry in found.outputs)
    if found.mode != "isolated" and not same and "ok" in states and "differs" not in states:
        notes.append(
            "No tensor inside differs. They are read from a model with every tensor as an output, which changes how "
            "the runtime fuses layers; the outputs are those of the model as it is."
        )
    if found.unquantized:
        notes.append("Nothing in the model is quantized, so int8 changes nothing but the tolerance; leave it out.")
    if found.instead:
        notes.append(f"This device does not have the precision: {' and '.join(found.instead)}.")
    return notes


def closer_words(entry: "F64Errors | None", sides: "Sides") -> str:
    """Return which side is closer to f64 and how many times: `reference 1200x`; empty if that is not known."""
    if entry is None:
        return ""
    if entry.closer is None:
        return "neither"
    times = "equal" if math.isinf(entry.factor) else f"{entry.factor:.2g}x"
    return f"{getattr(sides, entry.closer)} {times}"


def f64_note(entry: "F64Errors | None", sides: "Sides") -> str:
    """Return how far both sides are from f64, in a sentence; empty if that is not known."""
    if entry is None:
        return ""
    off = f"computed in f64, {sides.expected} is off by {entry.expected:.2g} and {sides.actual} by {entry.actual:.2g}"
    if entry.closer is None:
        return f"{off}: neither is clearly closer"
    closer = "equal to it" if math.isinf(entry.factor) else f"{entry.factor:.2g}x closer"
    return f"{off}: {getattr(sides, entry.closer)} is {closer}"


def difference_words(entry: "LayerComparison | OutputComparison | None", found: "Comparison") -> str:
    """Return `5 from reference, 4 from CPU, f32, at [0, 0]`, where a tensor is furthest off; empty if unknown."""
    if entry is None or entry.difference is None:
        return ""
    sides = found.output_sides if any(entry is output for output in found.outputs) else found.layer_sides
    expected, actual = _told_apart(entry.difference.expected, entry.difference.actual)
    values = f"{expected} from {sides.expected}, {actual} from {sides.actual}"
    at = entry.difference.max_abs_at
    return f"{values}, at {'every place' if at is None else list(at)}"


def _told_apart(expected: object, actual: object) -> tuple[str, str]:
    """Return two elements as texts; floats with four digits, or with as many as show that they differ."""
    texts = str(expected), str(actual)
    if not isinstance(expected, np.floating) or not isinstance(actual, np.floating):
        return texts
    rounded = ((f"{expected:.{digits}g}", f"{actual:.{digits}g}") for digits in range(4, 17))
    return next((pair for pair in rounded if pair[0] != pair[1]), texts)


def html_table(found: "Comparison") -> str:
    """Return the outputs and the first of the layers that differ as a table for a notebook."""
    wrong = [entry for entry in found.layers if entry.status == "differs"]
    rows = [
        *((entry.name, "output", entry.element_type, entry.difference, entry.ok) for entry in found.outputs),
        *((entry.path, entry.op, entry.element_type, entry.difference, False) for entry in wrong),
    ]
    cells = ((name, op, kind, *_numbers(gap), "ok" if good else "differs") for name, op, kind, gap, good in rows)
    columns = ("tensor", "operation", "type", "max abs", "needs", "allowed", "result")
    note = narrow_note(found)
    return notebook_table(one_line(found) if note is None else f"{one_line(found)}. {note}", columns, cells)


def _numbers(gap: "Difference | None") -> tuple[str, str, str]:
    return ("", "", "") if gap is None else (number(gap.max_abs), sufficient(gap.needed), number(gap.tolerance))
