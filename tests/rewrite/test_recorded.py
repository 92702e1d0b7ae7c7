"""Which layers steps make of random layers, as it was when their values were compared."""

import pytest

from tests.rewrite.recorded import found, load, steps

WANTED = load()


def test_all_steps_are_recorded() -> None:
    assert {*WANTED} == {*steps()}


@pytest.mark.parametrize("name", WANTED)
def test_what_was_recorded(name: str) -> None:
    """If it is another on purpose, `python -m tests.rewrite.recorded` compares the values again."""
    assert found(name) == WANTED[name]
