"""Measure the growth of time and memory, and write `docs/growth.md` with its plots; Ctrl-C ends it early."""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

from tests.benchmarks.growth.measure import COMMANDS, MEGABYTE, Line, Point, lines, point_at
from tests.benchmarks.growth.page import Page, write_page
from tests.benchmarks.growth.table import GROUPS

DOCS = Path(__file__).parents[3] / "docs"
KINDS = [kind for makers in GROUPS.values() for kind in makers]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.growth", description=__doc__)
    parser.add_argument("--largest", type=float, default=1, metavar="MB", help="size of the largest files")
    parser.add_argument("--again", type=float, default=10, metavar="MB", help="size at which the slowest are repeated")
    parser.add_argument(
        "--kind", action="append", choices=KINDS, metavar="KIND", help="print what files of this kind take, no page"
    )
    parser.add_argument("commands", nargs="*", help=f"of {', '.join(COMMANDS)}; all by default")
    arguments = parser.parse_args()
    largest, more = (round(size * MEGABYTE) for size in (arguments.largest, arguments.again))
    found, page = list[Line](), Page((), {}, arguments.largest, arguments.again, os.getloadavg()[0])
    with suppress(KeyboardInterrupt):
        for line in lines(arguments.commands or [*COMMANDS], largest, arguments.kind or KINDS):
            found.append(line)
            show(line, line.last, f"power {line.exponent:.2f}")
    page = page._replace(lines=tuple(found))
    again = {line: point_at(line, more) for line in (found if arguments.kind else page.slowest)}
    if arguments.kind:
        for line, point in again.items():
            show(line, point, f"at {arguments.again:g} MB")
    else:
        write_page(page._replace(again=again), DOCS)


def show(line: Line, point: Point, more: str) -> None:
    took = f"{point.seconds:6.2f} s {point.memory // MEGABYTE:5} MB {more}"
    print(f"{line.command:8} {took} {line.group}: {line.kind}", file=sys.stderr, flush=True)


main()
