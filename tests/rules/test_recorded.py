"""Findings in many small files with one change each, against what they were when the runtime was asked."""

import pytest

from tests.rules.recorded import FILE, changed, found, names
from tests.tables import load

WANTED = load(FILE)


def test_all_files_are_recorded() -> None:
    assert [*WANTED] == names()


@pytest.mark.parametrize("share", [2, pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", WANTED)
def test_what_was_found(name: str, share: int) -> None:
    """In every `share`-th file. If it is something else on purpose, `python -m tests.rules.recorded` asks again."""
    made, wanted = changed(name), dict([*WANTED[name].items()][::share])
    assert made.keys() >= WANTED[name].keys(), "other files are made of this one now: python -m tests.rules.recorded"
    assert found({label: made[label] for label in wanted}) == wanted
