"""Measure the growth of time and memory, and write `docs/growth.md` with its plots; Ctrl-C ends it early."""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

from tests.benchmarks.growth.measure import COMMANDS, MEGABYTE, Line, lines, point_at
from tests.benchmarks.growth.page import Page, write_page

DOCS = Path(__file__).parents[3] / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.growth", description=__doc__)
    parser.add_argument("--largest", type=float, default=1, metavar="MB", help="size of the largest files")
    parser.add_argument("--again", type=float, default=10, metavar="MB", help="size at which the slowest are repeated")
    parser.add_argument("commands", nargs="*", help=f"of {', '.join(COMMANDS)}; all by default")
    arguments = parser.parse_args()
    found, page = list[Line](), Page((), {}, arguments.largest, arguments.again, os.getloadavg()[0])
    with suppress(KeyboardInterrupt):
        for line in lines(arguments.commands or [*COMMANDS], round(arguments.largest * MEGABYTE)):
            found.append(line)
            took = f"{line.last.seconds:6.2f} s {line.last.memory // MEGABYTE:5} MB power {line.exponent:.2f}"
            print(f"{line.command:8} {took} {line.group}: {line.kind}", file=sys.stderr, flush=True)
    page = page._replace(lines=tuple(found))
    again = {line: point_at(line, round(arguments.again * MEGABYTE)) for line in page.slowest}
    write_page(page._replace(again=again), DOCS)


main()
