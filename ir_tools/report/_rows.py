"""The rows of the report's tables, and which of them is the worst."""

from collections.abc import Iterable
from dataclasses import dataclass

from ir_tools.comparison import Comparison, Difference, LayerComparison, closer_words, f64_note

__all__ = ["Row", "layer_rows", "output_rows", "worst"]


@dataclass(frozen=True, slots=True)
class Row:
    """One tensor; texts are as people read them.

    Attributes:
        kind: `layer` or `output`.
        index: its number among the rows.
        name, op, line, type, shape: of the tensor.
        counterpart: what it is called in the other model; empty if there is none.
        engine: who computed what is expected.
        status: `ok`, `differs` or `skipped`.
        reason: why, if there is something to say.
        share: which part of its tolerance it needs; infinite if shapes differ, None if nothing was compared.
        difference: the numbers.
        closer: which side is closer to f64, and how many times; empty if nobody asked.
    """

    kind: str
    index: int
    name: str
    op: str
    line: str
    type: str
    shape: str
    engine: str
    status: str
    reason: str
    share: float | None
    difference: Difference | None
    counterpart: str = ""
    closer: str = ""

    @property
    def needed(self) -> float | None:
        """The smallest tolerance that would pass; None if nothing was compared."""
        return None if self.difference is None else self.difference.needed

    @property
    def place(self) -> str:
        """Where the largest error is."""
        at = None if self.difference is None else self.difference.max_abs_at
        return "" if at is None else ",".join(map(str, at))


def layer_rows(found: Comparison) -> list[Row]:
    """Return a row per tensor of a layer."""
    return [
        Row(
            kind="layer",
            index=number,
            name=entry.path + (f".{entry.output}" if entry.output else ""),
            op=entry.op,
            line=str(entry.line or ""),
            type=entry.element_type or "",
            shape="" if entry.shape is None else ",".join(map(str, entry.shape)) or "scalar",
            engine=(entry.engine or "") if found.with_reference else "",
            status=entry.status,
            reason=_reason(entry, f64_note(entry.f64, found.layer_sides)),
            closer=closer_words(entry.f64, found.layer_sides),
            share=None if entry.status == "skipped" else entry.share,
            difference=entry.difference,
            counterpart=_renamed(entry.path, entry.counterpart),
        )
        for number, entry in enumerate(found.layers)
    ]


def output_rows(found: Comparison) -> list[Row]:
    """Return a row per output of the model; their numbers follow those of the layers."""
    return [
        Row(
            kind="output",
            index=number,
            name=entry.name,
            op="output",
            line="",
            type=entry.element_type,
            shape=",".join(map(str, entry.shape)) or "scalar",
            engine="",
            status="ok" if entry.ok else "differs",
            reason="; ".join(
                filter(
                    None, (entry.reason, _nan(entry.difference), f64_note(entry.f64, found.output_sides), entry.weak)
                )
            ),
            closer=closer_words(entry.f64, found.output_sides),
            share=entry.share,
            difference=entry.difference,
            counterpart=_renamed(entry.name, entry.counterpart),
        )
        for number, entry in enumerate(found.outputs, len(found.layers))
    ]


def _renamed(name: str, counterpart: str | None) -> str:
    """Return the other model's name of a tensor, if it is another one."""
    return "" if counterpart in (None, name) else str(counterpart)


def _reason(entry: LayerComparison, judgement: str) -> str:
    """Return the reason, with the iteration of the body if there is one, NaN of one side only, and who is right."""
    where = (
        "" if entry.iteration is None or entry.difference is None else f"iteration {entry.iteration + 1} of its body"
    )
    return "; ".join(filter(None, (entry.reason, where, _nan(entry.difference), judgement)))


def _nan(difference: Difference | None) -> str:
    """Return how many NaN there are, if the sides do not have the same number of them."""
    expected, found = (0, 0) if difference is None else difference.nan
    return "" if expected == found else f"NaN: {expected} expected, {found} found"


def worst(rows: Iterable[Row]) -> Row | None:
    """Return the tensor with numbers that needs the largest part of its tolerance; None if no tensor differs at all."""
    unequal = [row for row in rows if row.difference is not None and row.share]
    return max(unequal, key=lambda row: row.share or 0.0, default=None)
