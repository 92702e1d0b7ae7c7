"""Findings in files with one fault each, against what they were when they were looked at."""

import pytest

from tests.faults.recorded import FILE, GROUPS, found
from tests.tables import load

WANTED = load(FILE)


@pytest.mark.parametrize("group", GROUPS)
def test_what_was_found(group: str) -> None:
    """If it is something else on purpose, `python -m tests.faults.recorded` records it again."""
    assert found(group) == WANTED[group]
