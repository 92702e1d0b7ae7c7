"""A comparison as one self-contained page: it opens from disk, needs no network, and prints well."""

from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined

from ir_tools import __version__
from ir_tools.comparison import Comparison, difference_words, first_name, narrow_note, place, rounding_note, weak_notes
from ir_tools.display import number, plural, sufficient
from ir_tools.files import write_file
from ir_tools.inputs import InputPlan
from ir_tools.report._plots import error_plot, group_size, histogram_plot
from ir_tools.report._rows import Row, layer_rows, output_rows, worst

__all__ = ["render_report", "write_report"]

SHOWN_ROWS = 500
"""Rows of the table that are laid out at first; with many thousands a browser takes its time."""


def write_report(
    found: Sequence[tuple[Comparison, Sequence[str]]], path: Path, *, model: str, replay: str, plan: InputPlan
) -> None:
    """Write the page; of several comparisons of a model one that has a table of them and holds the page of each.

    Args:
        found: what it shows, each with sentences about differences that are known.
        path: of the page.
        model: what was compared, for the heading.
        replay: the command line that repeats it.
        plan: how the inputs were made.

    Raises:
        WriteError: it cannot be written.
    """
    date = datetime.now().astimezone()
    pages = [render_report(one, known, model=model, replay=replay, plan=plan, date=date) for one, known in found]
    page = (pages[0] if len(pages) == 1 else _together([one for one, _ in found], pages, model)).encode(
        errors="backslashreplace"
    )
    write_file(path, lambda file: file.write(page))


def _together(found: Sequence[Comparison], pages: Sequence[str], model: str) -> str:
    """Return a page with a row for each comparison, and its page below, folded."""
    wrong = sum(not one.ok for one in found)
    text = f"{wrong} of {len(found)} comparisons {'differs' if wrong == 1 else 'differ'}."
    return (
        _environment()
        .get_template("pages.html")
        .render(
            model=model,
            mode=found[0].mode,
            place=place(found[0]),
            pairs=list(zip(found, pages, strict=True)),
            ok=not wrong,
            verdict=text if wrong else f"All {len(found)} comparisons are ok.",
            style=_text("page.css"),
            sufficient=sufficient,
            first_name=first_name,
        )
    )


def _environment() -> Environment:
    loader = FunctionLoader(_text)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render_report(
    found: Comparison, known: Sequence[str] = (), *, model: str, replay: str, plan: InputPlan, date: datetime
) -> str:
    """Return the page as text of HTML; `date`: when it was made, the rest as for `write_report`."""
    template = _environment().get_template("page.html")
    tensors, outputs = layer_rows(found), output_rows(found)
    first, focus = _first(found, tensors, outputs), worst([*tensors, *outputs])
    return template.render(
        found=found,
        ok=found.ok,
        mode=found.mode,
        place=place(found),
        model=model,
        replay=replay,
        plan=plan,
        date=date,
        version=__version__,
        style=_text("page.css"),
        script=_text("page.js"),
        rows=tensors,
        shown_rows=SHOWN_ROWS,
        outputs=outputs,
        outputs_verdict=_verdict(outputs, "output"),
        tensors_verdict=_verdict(tensors, "tensor"),
        outputs_ok=all(row.status == "ok" for row in outputs),
        counts=_counts(tensors),
        first=first,
        first_words=difference_words(found.first_difference, found),
        errors=error_plot(tensors, first),
        grouped=group_size(tensors),
        worst=focus,
        histogram=None if focus is None else histogram_plot(focus),
        number=number,
        sufficient=sufficient,
        note=narrow_note(found),
        weak=weak_notes(found),
        known=known,
        rounding=rounding_note(found),
        judged=any(row.closer for row in (*tensors, *outputs)),
    )


def _verdict(rows: Sequence[Row], noun: str) -> str:
    """Return `All 3 outputs are ok.` or `2 of 300 tensors differ.`, as it is."""
    compared = [row for row in rows if row.status != "skipped"]
    wrong = sum(row.status == "differs" for row in compared)
    if not compared:
        return f"No {noun} was compared."
    if len(compared) == 1:
        return f"The {noun} {'differs' if wrong else 'is ok'}."
    if wrong:
        return f"{wrong} of {plural(len(compared), noun)} {'differs' if wrong == 1 else 'differ'}."
    return f"All {len(compared)} {noun}s are ok."


def _text(name: str) -> str:
    return resources.files("ir_tools.report").joinpath(name).read_text(encoding="utf-8")


def _counts(table: Sequence[Row]) -> dict[str, int]:
    """Return how many tensors are ok, differ, are skipped, and were computed by the runtime alone."""
    counts = {status: sum(row.status == status for row in table) for status in ("ok", "differs", "skipped")}
    return {**counts, "runtime": sum(row.engine == "runtime" for row in table)}


def _first(found: Comparison, tensors: Sequence[Row], outputs: Sequence[Row]) -> Row | None:
    """Return the first difference, as a row."""
    first = found.first_difference
    entries = [*zip(found.layers, tensors, strict=True), *zip(found.outputs, outputs, strict=True)]
    return next((row for entry, row in entries if entry is first), None)
