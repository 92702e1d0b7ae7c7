"""What each release was seen to do with small models of single operations: `measured.json`, read when it is asked for.

`python -m tests.releases.measure` writes the file. It has a line per operation, in it a text per case, and in that a
letter per release, oldest first. A case is what is special about a model:

- nothing: the first input is one of the model, all others are constants, IR v11 (v10 for releases that read no other);
- `v10`: the same in IR v10;
- `f16`: the element type of the first input, and of all others of its type;
- `?`: every size of the first input is unknown; `? 1`: that of axis 1 is, measured if it makes a difference for all;
  the inputs that `TOGETHER` lists for the operation are as unknown;
- `input 2`: this input is not a constant; `? input 2`: nor are its sizes known;
- `mode=cubic`: an attribute and its value.

A case that is not there does as the plain model does; a text of one letter counts for every release.
"""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ir_tools.releases.table import Release

__all__ = ["TOGETHER", "State", "cases", "described_inputs", "in_words", "is_measured", "operations", "state"]

TOGETHER: Mapping[str, tuple[int, ...]] = {
    **{"LSTMCell": (1, 2), "GRUCell": (1,), "RNNCell": (1,)},
    **{"LSTMSequence": (1, 2, 3), "GRUSequence": (1, 2), "RNNSequence": (1, 2)},
    "ScaledDotProductAttention": (1, 2),
}
"""Inputs that a model computes if it computes the first one."""


class State(StrEnum):
    """What a release does with a model: the first step that it does not pass."""

    UNREAD = "-"
    UNCOMPILED = "c"
    FAILS = "i"
    DIES = "x"
    DIFFERS = "w"
    RUNS = "+"

    @property
    def words(self) -> str:
        """What is said of a layer in this state."""
        return _WORDS[self]


PLACE = re.compile(r"(\?)?(?: ([0-9]+))?(?: ?input ([0-9]+))?")
"""A case of unknown sizes, or of an input that is not a constant: `? 0`, `input 1`, `? 0 input 1`."""
_WORDS = {
    State.UNREAD: "is not read",
    State.UNCOMPILED: "is read but not compiled",
    State.FAILS: "is compiled but does not run",
    State.DIES: "crashes the process",
    State.DIFFERS: "computes other values",
    State.RUNS: "runs",
}


class _Table(NamedTuple):
    releases: Mapping[str, int]
    operations: Mapping[str, Mapping[str, str]]


@cache
def _table() -> _Table:
    held = json.loads(files(__package__).joinpath("measured.json").read_text())
    return _Table({name: number for number, name in enumerate(held["releases"])}, held["operations"])


def is_measured(release: Release) -> bool:
    """Return whether a release is in the table."""
    return release.name in _table().releases


def operations() -> tuple[str, ...]:
    """Return the operations that were measured."""
    return tuple(_table().operations)


def cases(op: str) -> Mapping[str, str]:
    """Return the cases of an operation (`AvgPool-14`), each with its letters; empty for one that was not measured."""
    return _table().operations.get(op, {})


@cache
def described_inputs(op: str) -> frozenset[int]:
    """Return the numbers of the inputs that cases of an operation are about."""
    found = (re.search(r"(?:^| )input (\d+)$", case) for case in cases(op))
    return frozenset(int(match[1]) for match in found if match)


def in_words(case: str) -> str:
    """Return a case as a part of a sentence: `? 0` is `an unknown size along axis 0`."""
    place = PLACE.fullmatch(case)
    if place is None:
        return "missing attributes" if case == "short" else case
    unknown, axis, number = place.groups()
    size = f"unknown size along axis {axis}" if axis else "unknown size"
    if number is None:
        return f"an {size}" if axis else "unknown sizes"
    return f"a computed input {number}" + (f" of {size}" if unknown else "")


def state(release: Release, op: str, case: str = "") -> State | None:
    """Return what a release does with an operation in a case.

    None if the release or the operation was not measured, or if the case does as the plain model.
    """
    return _states(release.name, op).get(case)


@cache
def _states(release: str, op: str) -> Mapping[str, State]:
    """Return what a release does with an operation, by case."""
    table = _table()
    row, number = table.operations.get(op, {}), table.releases.get(release)
    if number is None or not row:
        return {}
    if row[""][number] == State.UNREAD:
        return dict.fromkeys(row, State.UNREAD)
    return {case: State(letters if len(letters) == 1 else letters[number]) for case, letters in row.items()}
