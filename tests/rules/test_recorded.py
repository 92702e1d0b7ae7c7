"""Findings in many small files with one change each, against what they were when the runtime was asked."""

import pytest

from tests.rules.recorded import FILE, found, names
from tests.tables import load

WANTED = load(FILE)


def test_all_files_are_recorded() -> None:
    assert [*WANTED] == names()


@pytest.mark.parametrize("name", WANTED)
def test_what_was_found(name: str) -> None:
    """If it is something else on purpose, `python -m tests.rules.recorded` asks the runtime again."""
    now = found(name)
    assert now.keys() >= WANTED[name].keys(), "other files are made of this one now: python -m tests.rules.recorded"
    assert {label: now[label] for label in WANTED[name]} == WANTED[name]
