"""The tables of releases as a page; `python -m ir_tools.known_differences._releases_listing` prints it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ir_tools.known_differences.releases import ROWS
from ir_tools.releases.measured import State, cases, operations, state
from ir_tools.releases.table import FIRST_RELEASE, OPENVINO, Release

__all__ = ["listing"]

HEAD = """# Releases of OpenVINO

What each release reads and runs on the CPU, and how an upgrade changes the computed values. The tables were measured
with about three thousand models of one operation on every release from {first} to {last}. This page is generated from
`ir_tools/releases` and `ir_tools/known_differences/releases`. `ir-tools compat` looks a model up in the tables, and
`ir-tools migrate --for RELEASE` converts a model for a release.

## Versions

A release reads an operation of an opset if its own table of that opset contains the operation. No release reads IR v8,
v9, or versions above v11. Inference Engine up to 2020 reads IR v2 to v7 ([legacy models](legacy-models.md)).

| release | IR | opsets | also of later opsets | new element types | Python |
|---|---|---|---|---|---|
"""
OPERATIONS = """
## Operations

The first release that reads each operation, and the releases that read it but do not compute the right values. The
last column lists them by case. A case names what is special about the measured model: the element type of the first
input, `?` for unknown sizes (`? 0`: only of the first axis), `input 2` for an input that is not a constant (`? input
2`: and of unknown size), `short` for missing attributes, `v10` for IR v10, or an attribute and its value.

| operation | read since | releases that do not run it |
|---|---|---|
"""
CHANGES = """
## How upgrades change values

Layers whose values silently deviate from the specification in some releases. The values of a model with such a layer
change with the upgrade to the first release of the row, and again with the upgrade to the release after the last.

| releases | operations | behaviour |
|---|---|---|
"""
LIMITS = """
## Settings that releases do not support

| releases | operations | behaviour |
|---|---|---|
"""


def listing() -> str:
    """Return the page."""
    first, last = OPENVINO[0].short, OPENVINO[-1].short
    versions = "".join(map(_version, OPENVINO))
    rows = "".join(f"| {op} | {_since(op)} | {'; '.join(_otherwise(op))} |\n" for op in operations())
    changes, limits = (
        "".join(
            f"| {row.span} | {', '.join(row.ops)} | {row.name}: {row.reason}{row.processor.note} |\n"
            for row in sorted(ROWS, key=lambda row: (row.ops, row.releases[0].number, row.name))
            if (row.state is State.DIFFERS) is silent
        )
        for silent in (True, False)
    )
    return HEAD.format(first=first, last=last) + versions + OPERATIONS + rows + CHANGES + changes + LIMITS + limits


def _version(release: Release) -> str:
    later = "; ".join(f"{opset}: {', '.join(sorted(types))}" for opset, types in release.added.items())
    without = f" without {', '.join(sorted(release.lacks))}" if release.lacks else ""
    types = ", ".join(name for name, number in FIRST_RELEASE.items() if number == release.number)
    versions = "10" if release.reads[1] == 10 else "10, 11"
    pythons = ", ".join(sorted(release.pythons, key=lambda text: int(text.split(".")[1])))
    return f"| {release.short} | {versions} | 1 to {release.opset}{without} | {later} | {types} | {pythons} |\n"


def _since(op: str) -> str:
    """Return the first release that reads an operation."""
    return next((one.short for one in OPENVINO if state(one, op) is not State.UNREAD), "none")


def _otherwise(op: str) -> Iterator[str]:
    """Yield what releases do with an operation otherwise, by case."""
    readers = [release for release in OPENVINO if state(release, op) is not State.UNREAD]
    texts = [(case, _spans(op, case, readers)) for case in cases(op)]
    for text, same in groupby(sorted(texts, key=lambda row: row[1]), key=lambda row: row[1]):
        names = [case for case, _ in same]
        if text:
            yield f"{', '.join(f'`{name}`' for name in names if name)}{': ' if any(names) else ''}{text}"


def _spans(op: str, case: str, readers: Sequence[Release]) -> str:
    """Return `is not compiled in 2024.1, gives other values in 2024.2`; empty if all run it, or as the plain model."""
    found = [(state(release, op, case), release) for release in readers]
    words = []
    for letter, group in groupby(found, key=lambda row: row[0]):
        span = [release.short for _, release in group]
        if letter not in {None, State.RUNS}:
            assert letter is not None
            words.append(f"{letter.words} in {span[0] if len(span) == 1 else f'{span[0]} to {span[-1]}'}")
    return ", ".join(words)


if __name__ == "__main__":
    print(listing(), end="")
