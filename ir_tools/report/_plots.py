"""The plots of the report, as SVG in the colours of the page."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from ir_tools.comparison import DECADES
from ir_tools.display import sufficient
from ir_tools.report._rows import Row

__all__ = ["error_plot", "group_size", "histogram_plot"]

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 14, 40
LOWEST = -9
"""Exponent of the smallest error that is drawn above 0."""
TICKS = 8
MAX_POINTS = 880
"""As many as there are pixels side by side."""
LONGEST = 48
"""Characters of a name in a plot; of longer ones the end."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """From places and errors to coordinates: `count` tensors side by side, errors up to ten to the `top`."""

    count: int
    top: int

    def x(self, place: int) -> float:
        width = WIDTH - LEFT - RIGHT
        return LEFT + width * (place / (self.count - 1) if self.count > 1 else 0.5)

    def y(self, error: float) -> float:
        exponent = min(max(math.log10(error), LOWEST), self.top) if error > 0 else LOWEST
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.top - exponent) / (self.top - LOWEST)


def group_size(rows: Sequence[Row]) -> int:
    """Return how many neighbours share one point of the error plot."""
    return -(-len(rows) // MAX_POINTS) or 1


def error_plot(rows: Sequence[Row], first: Row | None) -> Markup:
    """Draw the error of every layer, relative to its tensor's largest magnitude, in the order of execution.

    Of a group of neighbours the one is drawn that needs the largest part of its tolerance, or the first difference.
    """
    compared = [row for row in rows if row.share is not None]
    step = group_size(rows)
    groups = (compared[start : start + step] for start in range(0, len(compared), step))
    points = [max(group, key=lambda row: (row is first, row.share or 0.0)) for group in groups]
    errors = [row.needed for row in points if row.needed and math.isfinite(row.needed)]
    frame = _Frame(len(points), max(0, math.ceil(math.log10(max(errors, default=1e-3)))))
    parts = [*_scale(frame), *_ticks(frame, points), *_allowed(frame, points), *_points(frame, points)]
    parts += _first(frame, points, first)
    return _svg(parts, "Error of every layer, in the order of execution", 'role="group"')


def _scale(frame: _Frame) -> Iterator[str]:
    for exponent in range(LOWEST, frame.top + 1):
        y = frame.y(10.0**exponent)
        yield from _grid_line(y, "0" if exponent == LOWEST else f"1e{exponent}")


def _grid_line(y: float, label: str) -> Iterator[str]:
    """Yield a line across the plot, with a label before it."""
    yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    yield _text(LEFT - 12, y + 4, label, "end")


def _ticks(frame: _Frame, points: list[Row]) -> Iterator[str]:
    step = max(1, -(-len(points) // TICKS))
    for place in range(0, len(points), step):
        yield _text(frame.x(place), HEIGHT - BOTTOM + 18, str(points[place].index + 1))
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, "tensor, in order of execution")


def _allowed(frame: _Frame, points: list[Row]) -> Iterator[str]:
    """Draw the tolerance of each tensor, as a stepped line; none if tensors have to be equal."""
    path, open_ = "", False
    half = (frame.x(1) - frame.x(0)) / 2 if len(points) > 1 else (WIDTH - LEFT - RIGHT) / 2
    for place, row in enumerate(points):
        tolerance = row.difference.tolerance if row.difference is not None else 0.0
        if tolerance:
            left, y = max(frame.x(place) - half, LEFT), frame.y(tolerance)
            path += f"{'L' if open_ else 'M'}{left:.1f},{y:.1f}H{min(frame.x(place) + half, WIDTH - RIGHT):.1f}"
        open_ = bool(tolerance)
    if path:
        yield f'<path class="allowed" d="{path}"><title>tolerance</title></path>'


def _points(frame: _Frame, points: list[Row]) -> Iterator[str]:
    """Draw a link to its row for every point; the title is what it is called."""
    for place, row in enumerate(points):
        error = 10.0**frame.top if row.needed is None else row.needed
        needs = row.reason if row.needed is None else f"needs {sufficient(row.needed)}"
        title = f"{row.name} ({row.op}): {needs}, {row.status}"
        kind, radius = (' class="differs"', 4) if row.status == "differs" else ("", 2.4)
        yield (
            f'<a href="#row{row.index}"{kind}><title>{escape(title)}</title>'
            f'<circle cx="{frame.x(place):.1f}" cy="{frame.y(error):.1f}" r="{radius}"/></a>'
        )


def _first(frame: _Frame, points: list[Row], first: Row | None) -> Iterator[str]:
    """Draw a ring around the first difference, and its name."""
    place = next((place for place, row in enumerate(points) if row is first), None)
    if place is None:
        return
    row = points[place]
    x, y = frame.x(place), frame.y(10.0**frame.top if row.needed is None else row.needed)
    left = x > WIDTH / 2
    start = x + 6 if left else max(x - 6, LEFT + 4)
    label = row.name if len(row.name) <= LONGEST else f"...{row.name[-LONGEST:]}"
    beside = y - 14 if y - 14 >= TOP else y + 22
    yield f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
    yield (
        f'<text class="first" x="{start:.1f}" y="{beside:.1f}"'
        f' text-anchor="{"end" if left else "start"}">{escape(label)}</text>'
    )


def histogram_plot(row: Row) -> Markup:
    """Draw how many elements of one tensor are how far off, both axes logarithmic."""
    assert row.difference is not None
    counts = row.difference.histogram
    labels = ["equal", f"< 1e{LOWEST}", *(f"1e{round(math.log10(edge))}" for edge in DECADES)]
    top = max(1, math.ceil(math.log10(max(*counts, 1))))
    parts = [*_counts_scale(top)]
    width = (WIDTH - LEFT - RIGHT) / len(counts)
    for place, (count, label) in enumerate(zip(counts, labels, strict=True)):
        left, kind = LEFT + place * width, "equal" if place == 0 else "over" if _beyond(row, place) else "within"
        if count:
            y = _count_y(count, top)
            parts.append(
                f'<rect class="{kind}" x="{left + 2:.1f}" y="{y:.1f}" width="{width - 4:.1f}"'
                f' height="{HEIGHT - BOTTOM - y:.1f}"/>'
            )
            parts.append(_text(left + width / 2, y - 4, str(count)))
        parts.append(_text(left + width / 2, HEIGHT - BOTTOM + 18, label))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(_text(middle, HEIGHT - 4, "error of an element, at least, relative to the tensor's largest magnitude"))
    summary = ", ".join(f"{label}: {count}" for label, count in zip(labels, counts, strict=True) if count)
    return _svg(parts, f"Elements by error, on a logarithmic axis. {summary}", 'role="img"')


def _counts_scale(top: int) -> Iterator[str]:
    """Lines at 1, 10, 100, ... elements, and the name of the axis."""
    for exponent in range(top + 1):
        y = _count_y(10**exponent, top)
        yield from _grid_line(y, str(10**exponent) if exponent < 4 else f"1e{exponent}")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield (
        f'<text class="axis" transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">'
        "elements, logarithmic</text>"
    )


def _count_y(count: int, top: int) -> float:
    """Return the height of a bar; one element has a little, so that it is seen."""
    lowest = HEIGHT - BOTTOM - 6
    return lowest - (lowest - TOP - 8) * math.log10(count) / top


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _beyond(row: Row, place: int) -> bool:
    """Return whether all elements of a bar are beyond the tolerance."""
    assert row.difference is not None
    return place >= 2 and DECADES[place - 2] >= row.difference.tolerance


def _svg(parts: list[str], title: str, role: str) -> Markup:
    inner = "\n".join(parts)
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" {role} aria-label="{escape(title)}">\n{inner}\n</svg>')
