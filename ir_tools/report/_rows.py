"""The rows of the report's table, and which of them is the worst."""

from dataclasses import dataclass

from ir_tools.comparison import Comparison, Difference, LayerComparison

__all__ = ["Row", "number", "rows", "share", "worst"]


@dataclass(frozen=True, slots=True)
class Row:
    """One tensor.

    `kind`: `layer` or `output`. `share`: of the tolerance that it needs; infinite where shapes differ. Texts are as
    people read them.
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
    needed: float | None
    difference: Difference | None


def rows(found: Comparison) -> list[Row]:
    """A row per tensor of a layer, then one per output of the model."""
    layers = [
        Row(
            kind="layer",
            index=number,
            name=entry.path + (f".{entry.output}" if entry.output else ""),
            op=entry.op,
            line=str(entry.line or ""),
            type=entry.element_type or "",
            shape="" if entry.shape is None else ",".join(map(str, entry.shape)) or "scalar",
            engine=entry.engine,
            status=entry.status,
            reason=_reason(entry),
            share=share(entry),
            needed=None if entry.difference is None else entry.difference.needed,
            difference=entry.difference,
        )
        for number, entry in enumerate(found.layers)
    ]
    outputs = [
        Row(
            kind="output",
            index=len(layers) + number,
            name=entry.name,
            op="output",
            line="",
            type=entry.element_type,
            shape=",".join(map(str, entry.shape)) or "scalar",
            engine="",
            status="ok" if entry.ok else "differs",
            reason=entry.reason,
            share=_share(entry.difference),
            needed=entry.difference.needed,
            difference=entry.difference,
        )
        for number, entry in enumerate(found.outputs)
    ]
    return [*layers, *outputs]


def _reason(entry: LayerComparison) -> str:
    """The reason, with the round of the body where there is one."""
    where = "" if entry.round is None or entry.difference is None else f"round {entry.round + 1} of its body"
    return "; ".join(filter(None, (entry.reason, where)))


def share(entry: LayerComparison) -> float | None:
    """Which part of its tolerance a tensor needs; None where nothing was compared."""
    if entry.difference is None:
        return float("inf") if entry.status == "differs" else None
    return _share(entry.difference)


def _share(difference: Difference) -> float:
    if difference.needed == 0.0:
        return 0.0
    return difference.needed / difference.tolerance if difference.tolerance else float("inf")


def worst(found: Comparison) -> Row | None:
    """The tensor that needs the largest part of its tolerance, with numbers; None where nothing was compared."""
    compared = [row for row in rows(found) if row.difference is not None]
    return max(compared, key=lambda row: row.share or 0.0, default=None)


def number(value: float | None) -> str:
    """A number in few characters."""
    if value is None:
        return ""
    return f"{value:.4g}" if abs(value) >= 1e-3 or value == 0 else f"{value:.1e}"
