"""The plots of the report, as SVG in the colours of the page."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from ir_tools.comparison import DECADES, Comparison, LayerComparison
from ir_tools.report._rows import Row, number, rows

__all__ = ["error_plot", "histogram_plot"]

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 14, 40
LOWEST = -9
"""Exponent of the smallest error that is told apart from none."""
TICKS = 8
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


def error_plot(found: Comparison) -> Markup:
    """The error of every layer, relative to its tensor's largest magnitude, in the order of execution."""
    points = [row for row in rows(found) if row.kind == "layer" and row.share is not None]
    errors = [row.needed for row in points if row.needed and math.isfinite(row.needed)]
    frame = _Frame(len(points), max(0, math.ceil(math.log10(max(errors, default=1e-3)))))
    parts = [*_scale(frame), *_ticks(frame, points), *_allowed(frame, points), *_points(frame, points)]
    parts += _first(frame, points, found)
    return _svg(parts, "Error of every layer, in the order of execution")


def _scale(frame: _Frame) -> Iterator[str]:
    for exponent in range(LOWEST, frame.top + 1):
        y = frame.y(10.0**exponent)
        label = "0" if exponent == LOWEST else f"1e{exponent}"
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="axis" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'


def _ticks(frame: _Frame, points: list[Row]) -> Iterator[str]:
    step = max(1, -(-len(points) // TICKS))
    for place in range(0, len(points), step):
        yield (
            f'<text class="axis" x="{frame.x(place):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{points[place].index + 1}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text class="axis" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">tensor, in order of execution</text>'


def _allowed(frame: _Frame, points: list[Row]) -> Iterator[str]:
    """The tolerance of each tensor, as a stepped line; none where tensors have to be equal."""
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
    for place, row in enumerate(points):
        error = 10.0**frame.top if row.needed is None else row.needed
        title = f"{row.name} ({row.op}): {number(row.needed) or row.reason}"
        radius = 4 if row.status == "differs" else 2.4
        yield (
            f'<circle class="{row.status}" data-row="{row.index}" cx="{frame.x(place):.1f}" cy="{frame.y(error):.1f}"'
            f' r="{radius}"><title>{escape(title)}</title></circle>'
        )


def _first(frame: _Frame, points: list[Row], found: Comparison) -> Iterator[str]:
    """A ring around the first difference, and its name."""
    first = found.first_difference
    if not isinstance(first, LayerComparison):
        return
    place = next((place for place, row in enumerate(points) if found.layers[row.index] is first), None)
    if place is None:
        return
    row = points[place]
    x, y = frame.x(place), frame.y(10.0**frame.top if row.needed is None else row.needed)
    left = x > WIDTH / 2
    label = row.name if len(row.name) <= LONGEST else f"...{row.name[-LONGEST:]}"
    yield f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
    yield (
        f'<text class="first" x="{x - 12 if left else x + 12:.1f}" y="{max(y - 10, TOP):.1f}"'
        f' text-anchor="{"end" if left else "start"}">{escape(label)}</text>'
    )


def histogram_plot(row: Row) -> Markup:
    """How many elements of one tensor are how far off, on a logarithmic scale."""
    assert row.difference is not None
    counts = row.difference.histogram
    labels = ["equal", f"< 1e{LOWEST}", *(f"1e{round(math.log10(edge))}" for edge in DECADES)]
    highest = math.log10(max(max(counts), 1)) + 0.3
    width = (WIDTH - LEFT - RIGHT) / len(counts)
    parts = []
    for place, (count, label) in enumerate(zip(counts, labels, strict=True)):
        height = (HEIGHT - TOP - BOTTOM) * ((math.log10(count) + 0.3) / highest if count else 0)
        left, top = LEFT + place * width, HEIGHT - BOTTOM - height
        kind = "equal" if place == 0 else "over" if _beyond(row, place) else "within"
        parts.append(
            f'<rect class="{kind}" x="{left + 2:.1f}" y="{top:.1f}" width="{width - 4:.1f}" height="{height:.1f}"/>'
        )
        if count:
            parts.append(
                f'<text class="axis" x="{left + width / 2:.1f}" y="{top - 4:.1f}" text-anchor="middle">{count}</text>'
            )
        parts.append(
            f'<text class="axis" x="{left + width / 2:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{escape(label)}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    text = "error of an element, at least, relative to the tensor's largest magnitude"
    parts.append(f'<text class="axis" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">{text}</text>')
    return _svg(parts, "How many elements are how far off")


def _beyond(row: Row, place: int) -> bool:
    """Whether all elements of a bar are beyond the tolerance."""
    assert row.difference is not None
    return place >= 2 and DECADES[place - 2] >= row.difference.tolerance


def _svg(parts: list[str], title: str) -> Markup:
    inner = "\n".join(parts)
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">\n{inner}\n</svg>')
