"""A comparison as one self-contained page: it opens from disk, needs no network, and prints well."""

from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from ir_tools import __version__
from ir_tools.comparison import Comparison, LayerComparison, narrow_note
from ir_tools.errors import WriteError
from ir_tools.report._plots import error_plot, histogram_plot
from ir_tools.report._rows import Row, number, rows, worst

__all__ = ["render_report", "write_report"]


def write_report(found: Comparison, path: Path, *, model: str, replay: str) -> None:
    """Write the page.

    Args:
        found: what is told.
        path: of the page.
        model: what it was a comparison of, for the heading.
        replay: the command line that repeats it.

    Raises:
        WriteError: it cannot be written.
    """
    try:
        path.write_text(render_report(found, model=model, replay=replay), encoding="utf-8")
    except OSError as why:
        raise WriteError(f"{path} cannot be written: {why.strerror or why}") from None


def render_report(found: Comparison, *, model: str, replay: str) -> str:
    """The page as text of HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_text("page.html"))
    table = rows(found)
    focus = worst(found)
    return template.render(
        found=found,
        model=model,
        replay=replay,
        version=__version__,
        style=_text("page.css"),
        script=_text("page.js"),
        rows=table,
        counts=_counts(table),
        first=_first(found),
        errors=error_plot(found),
        worst=focus,
        histogram=None if focus is None else histogram_plot(focus),
        number=number,
        note=narrow_note(found),
    )


def _text(name: str) -> str:
    return resources.files("ir_tools.report").joinpath(name).read_text(encoding="utf-8")


def _counts(table: list[Row]) -> dict[str, int]:
    """How many tensors agree, differ, are skipped, and were computed by the runtime in place of the reference."""
    counts = {status: sum(row.status == status for row in table) for status in ("ok", "differs", "skipped")}
    return {**counts, "runtime": sum(row.engine == "runtime" for row in table)}


def _first(found: Comparison) -> Row | None:
    """The first difference, as a row."""
    first = found.first_difference
    if isinstance(first, LayerComparison):
        return next(row for row, entry in zip(rows(found), found.layers, strict=False) if entry is first)
    return next((row for row in rows(found) if row.kind == "output" and row.status == "differs"), None)
