"""A comparison in a few words, for people."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ir_tools.comparison._results import Comparison

__all__ = ["narrow_note", "one_line"]


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


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
