"""A comparison in a few words, for people."""

from typing import TYPE_CHECKING

from ir_tools.display import notebook_table, plural

if TYPE_CHECKING:
    from ir_tools.comparison._differences import Difference
    from ir_tools.comparison._results import Comparison

__all__ = ["html_table", "narrow_note", "one_line"]


def one_line(found: "Comparison") -> str:
    """`isolated against reference: 12 tensors and 1 output agree, 1.2e-07 is enough`."""
    head = f"{found.mode} against {found.second}"
    compared = sum(entry.status != "skipped" for entry in found.layers)
    what = f"{plural(compared, 'tensor')} and {plural(len(found.outputs), 'output')}"
    first = found.first_difference
    if first is None:
        return f"{head}: {what} agree, {found.needed:.2g} is enough"
    wrong = sum(entry.status == "differs" for entry in found.layers) + sum(not entry.ok for entry in found.outputs)
    name = getattr(first, "path", None) or getattr(first, "name", "")
    return f"{head}: {wrong} of {what} differ, first {name!r}"


def narrow_note(found: "Comparison") -> str | None:
    """What is to be known of a quantized model; None for any other."""
    if not found.narrow:
        return None
    worst = max((entry.difference.needed for entry in found.in_use), default=0.0)
    return (
        f"The model is quantized. All of this is its arithmetic in f32. As it is used, the device computes"
        f" {plural(found.narrow, 'operation')} in int8, which moves the outputs by up to {worst:.2g} of their largest"
        " magnitude; that is not judged here: --precision int8 compares that arithmetic, layer by layer."
    )


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
    return notebook_table(one_line(found) if note is None else f"{one_line(found)}. {note}", columns, cells, len(rows))


def _numbers(gap: "Difference | None") -> tuple[str, str, str]:
    return ("", "", "") if gap is None else (f"{gap.max_abs:.3g}", f"{gap.needed:.2g}", f"{gap.tolerance:.2g}")
