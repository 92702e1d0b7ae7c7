"""The page `docs/growth.md` and its plots."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.growth.measure import COMMANDS, MEGABYTE, Line, Point
from tests.benchmarks.growth.table import GROUPS

__all__ = ["Page", "write_page"]

PANEL, GAP, LEFT, TOP = 132, 18, 56, 44
AT = 10 * MEGABYTE
"""The bytes of a file that may take 5 s."""
STEEPEST = 1.3
"""The power of the size above which a line is drawn in another colour; the logarithm and small files explain less."""
SHOWN = 8
"""Kinds in a table."""

INTRODUCTION = """\
# Growth

How the time and memory of each command grow with the size of a file. {kinds}{of_all} kinds of files were measured;
each repeats one thing, such as attributes of a layer, inputs of a Concat or comments, and is one line in the plots.
No command should take more than linear time (times a logarithm), and at most 5 s and 1 GB for a file of 10 MB: the
dashed lines are these limits, the first in proportion for smaller files. Lines that grow faster than the size to the
power of {steepest} are orange. A browser that shows a plot by itself displays the name of the line under the pointer.

`python -m tests.benchmarks.growth {arguments}` measures this and writes this page; `tests/benchmarks/growth/`
makes the files. The plots end at {largest:g} MB. The kinds that were the slowest there were measured again at
{again:g} MB.{left_out}

Seconds are the processor time of a process that has already loaded its modules; MB is its peak resident memory, of
which Python and the modules take about 60. The power says how the time grew with the size of the file in the last
step, up to {largest:g} MB: 1 is linear, 2 is quadratic. On average {load:.1f} programs shared {processors} processors
before and after, which makes the times longer than on a quiet machine.

{over}

Not among these kinds, and known to be slower: layers that become many others, such as ErfInv, Inverse and GridSample
below their opset (1 to 2.5 s for 200 layers), and adaptive poolings of 1000 by 1000 elements to sizes that all differ,
whose factors alone take 8 GB.
"""


class Page(NamedTuple):
    """What was measured.

    Attributes:
        lines: the runs up to `largest` megabytes.
        again: the slowest of them with `more` megabytes.
        load: how many programs ran before.
    """

    lines: Sequence[Line]
    again: Mapping[Line, Point]
    largest: float
    more: float
    load: float

    @property
    def commands(self) -> Sequence[str]:
        """The commands that were measured."""
        return [*dict.fromkeys(line.command for line in self.lines)]

    def slowest_of(self, command: str) -> Sequence[Line]:
        """Return the kinds for which a command took the longest."""
        return sorted((line for line in self.lines if line.command == command), key=lambda line: -line.last.seconds)[
            :SHOWN
        ]

    @property
    def slowest(self) -> Iterator[Line]:
        """The kinds for which each command took the longest."""
        return chain.from_iterable(map(self.slowest_of, self.commands))


class Scale(NamedTuple):
    """A vertical axis: a title, the value of a point, the powers of ten at its ends, words for them, and the limit."""

    title: str
    value: Callable[[Point], float]
    lowest: int
    highest: int
    word: Callable[[int], str]
    limit: Callable[[int], float]


SCALES = (
    Scale("time", lambda point: point.seconds, -3, 2, lambda power: f"{10.0**power:g} s", lambda x: 5 * x / AT),
    Scale("memory", lambda point: point.memory / MEGABYTE, 1, 4, lambda power: f"{10**power} MB", lambda x: 1000),
)


def write_page(page: Page, docs: Path) -> None:
    """Write `growth.md` and `growth/<command>.svg` into a folder."""
    (docs / "growth").mkdir(exist_ok=True)
    kinds, known = len({line.kind for line in page.lines}), sum(map(len, GROUPS.values()))
    others = [command for command in COMMANDS if command not in page.commands]
    text = INTRODUCTION.format(
        left_out=f" Not measured: {', '.join(others)}." if others else "",
        kinds=kinds,
        of_all="" if kinds == known else f" of {known}",
        largest=page.largest,
        again=page.more,
        steepest=STEEPEST,
        arguments=" ".join([f"--largest {page.largest:g} --again {page.more:g}", *(page.commands if others else ())]),
        load=(page.load + os.getloadavg()[0]) / 2,
        processors=os.cpu_count(),
        over=_over(page),
    )
    for command in page.commands:
        own = [line for line in page.lines if line.command == command]
        (docs / "growth" / f"{command}.svg").write_text(_svg(own))
        text += f"\n## {command}\n\n![Time and memory of {command} by size of the file](growth/{command}.svg)\n\n"
        text += "".join(_table(page, command))
    (docs / "growth.md").write_text(text)


def _over(page: Page) -> str:
    """Return which of the slowest took more than the limits."""
    limits = [f"{limit:.3g}" for limit in (5 * page.more * MEGABYTE / AT, 1)]
    found = [
        f"`{line.command}` of {escape(line.kind, quote=False)} ({point.seconds:.1f} s, {point.memory / 1e9:.1f} GB)"
        for line, point in page.again.items()
        if point.seconds > 5 * page.more * MEGABYTE / AT or point.memory > 1e9
    ]
    if not found:
        return f"At {page.more:g} MB, none of these took more than {limits[0]} s or {limits[1]} GB."
    return f"At {page.more:g} MB, these took more than {limits[0]} s or {limits[1]} GB: {', '.join(found)}."


def _table(page: Page, command: str) -> Iterator[str]:
    yield f"| slowest | seconds | MB | power | seconds at {page.more:g} MB | MB |\n|---|---|---|---|---|---|\n"
    for line in page.slowest_of(command):
        again = page.again[line]
        yield f"| {escape(line.kind, quote=False)} | {line.last.seconds:.2f} | {line.last.memory // MEGABYTE} |"
        yield f" {line.exponent:.2f} | {again.seconds:.1f} | {again.memory // MEGABYTE} |\n"


def _svg(lines: Sequence[Line]) -> str:
    groups = list(dict.fromkeys(line.group for line in lines))
    width, height = LEFT + len(groups) * (PANEL + GAP), TOP + len(SCALES) * (PANEL + GAP) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"',
        'font-size="10">',
        "<style>polyline{fill:none;stroke:#4678a8;stroke-opacity:.45}.steep{stroke:#e07000;stroke-opacity:1}"
        ".limit{stroke:#333;stroke-dasharray:4 3;stroke-opacity:1}.grid{stroke:#ddd}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for row, scale in enumerate(SCALES):
        for column, group in enumerate(groups):
            own = [line for line in lines if line.group == group]
            place = f"translate({LEFT + column * (PANEL + GAP)} {TOP + row * (PANEL + GAP)})"
            heading = f'<text x="0" y="-8" font-weight="bold">{group}</text>' if not row else ""
            words = "".join(_words(scale)) if not column else ""
            parts.append(f'<g transform="{place}">{heading}{words}{"".join(_panel(own, scale))}</g>')
    sizes = [point.size for point in lines[0].points]
    title = (
        f"up: time and memory, right: size of the file, {sizes[0] / 1e6:.2g} to {sizes[-1] / 1e6:.2g} MB; logarithmic"
    )
    parts.append(f'<text x="{LEFT}" y="16">{lines[0].command}: {title}</text></svg>\n')
    return "\n".join(parts)


def _words(scale: Scale) -> Iterator[str]:
    for power in range(scale.lowest, scale.highest + 1):
        y = PANEL * (scale.highest - power) / (scale.highest - scale.lowest)
        yield f'<text x="-6" y="{y + 3:.0f}" text-anchor="end">{scale.word(power)}</text>'


def _panel(lines: Sequence[Line], scale: Scale) -> Iterator[str]:
    first, last = (math.log10(point.size) for point in (lines[0].points[0], lines[0].points[-1]))

    def place(size: int, value: float) -> str:
        x = PANEL * (math.log10(size) - first) / (last - first)
        y = PANEL * (scale.highest - math.log10(value)) / (scale.highest - scale.lowest)
        return f"{min(max(x, 0), PANEL):.0f},{min(max(y, 0), PANEL):.0f}"

    for power in range(scale.lowest, scale.highest + 1):
        y = PANEL * (scale.highest - power) / (scale.highest - scale.lowest)
        yield f'<path class="grid" d="M0 {y:.0f}h{PANEL}"/>'
    for line in lines:
        steep = ' class="steep"' if scale.title == "time" and line.exponent > STEEPEST else ""
        points = " ".join(place(point.size, scale.value(point)) for point in line.points)
        yield f'<polyline{steep} points="{points}"><title>{escape(line.kind)}</title></polyline>'
    ends = (lines[0].points[0].size, lines[0].points[-1].size)
    yield f'<polyline class="limit" points="{" ".join(place(size, scale.limit(size)) for size in ends)}"/>'
