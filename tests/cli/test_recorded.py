"""What commands answer on small models is what was read and recorded, and every option changes it."""

import click
import pytest

from tests.cli import recorded
from tests.cli.recorded import CALLS, ELSEWHERE, answers, same
from tests.cli.test_outputs import parameters

WANTED = recorded.load()


def test_every_option_is_in_a_call() -> None:
    """But those of `compare`, which has tests of its own for each."""
    calls = [f"{base} {more}".split() for base, added in CALLS.values() for more in ("", *added)]
    assert [
        f"{name} {parameter.opts[-1]}"
        for name, parameter in parameters()
        if isinstance(parameter, click.Option) and name != "compare"
        if not {*parameter.opts, f"{name} {parameter.opts[-1]}"} & {*ELSEWHERE}
        if not any(words[0] == name and {*parameter.opts} & {*words} for words in calls)
    ] == []


@pytest.mark.parametrize("name", CALLS)
def test_what_was_recorded(name: str) -> None:
    """If it is another on purpose, run `python -m tests.cli.recorded` and read what changes."""
    found = answers(name)
    assert [*found] == [*WANTED[name]]
    for words, answer in found.items():
        assert same(answer, WANTED[name][words]), f"{words}\n{answer}\n{WANTED[name][words]}"


@pytest.mark.parametrize("name", CALLS)
def test_every_option_changes_the_answer(name: str) -> None:
    base, *changed = WANTED[name].values()
    assert not [words for words, answer in zip(CALLS[name][1], changed, strict=True) if answer == base]
