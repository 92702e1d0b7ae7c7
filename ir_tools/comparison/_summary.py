"""A comparison in a few words, for people."""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ir_tools.comparison._results import Comparison

__all__ = ["html_table", "narrow_note", "one_line"]


MOST_ROWS = 10
"""Layers in a notebook's table."""


def one_line(found: "Comparison") -> str:
    """`in place against reference: 12 tensors and 1 output agree, 1.2e-07 is enough`."""
    head = f"{found.mode} against {found.second}"
    compared = sum(entry.status != "skipped" for entry in found.layers)
    what = f"{_plural(compared, 'tensor')} and {_plural(len(found.outputs), 'output')}"
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
        f" {_plural(found.narrow, 'operation')} in int8, which moves the outputs by up to {worst:.2g} of their largest"
        " magnitude; that is not judged here: --precision int8 compares that arithmetic, layer by layer."
    )


def html_table(found: "Comparison") -> str:
    """The first of the layers that differ, and the outputs, as a table for a notebook."""
    wrong = [entry for entry in found.layers if entry.status == "differs"]
    rows = [(entry.path, entry.op, entry.element_type or "", entry.difference, False) for entry in wrong[:MOST_ROWS]]
    rows += [(entry.name, "output", entry.element_type, entry.difference, entry.ok) for entry in found.outputs]
    lines = [f"<p><b>{escape(one_line(found))}</b></p>"]
    note = narrow_note(found)
    if note is not None:
        lines.append(f"<p>{escape(note)}</p>")
    lines.append("<table><tr><th>tensor<th>operation<th>type<th>max abs<th>needs<th>allowed<th>result</tr>")
    for name, kind, type_, gap, good in rows:
        numbers = ("", "", "") if gap is None else (f"{gap.max_abs:.3g}", f"{gap.needed:.2g}", f"{gap.tolerance:.2g}")
        cells = (name, kind, type_, *numbers, "ok" if good else "differs")
        lines.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    lines.append("</table>")
    if len(wrong) > MOST_ROWS:
        lines.append(f"<p>and {len(wrong) - MOST_ROWS} more tensors that differ</p>")
    return "\n".join(lines)


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
