"""What commands answer on small models is what was read and recorded, and every option changes it."""

import re
from pathlib import Path

import click
import pytest

from ir_tools.cli.app import COMMANDS
from tests.cli import recorded
from tests.cli.recorded import CALLS, ELSEWHERE, answers, same
from tests.cli.test_outputs import parameters

WANTED = recorded.load()
PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"compare", "runtimes"}))
def test_the_page_of_commands_names_every_key(command: str) -> None:
    """But those of commands without recorded documents."""
    shared, *sections = re.split(r"^## (?=[a-z]+$)", PAGE, flags=re.MULTILINE)
    (own,) = (section for section in sections if section.startswith(f"{command}\n"))
    documents = [answer["out"] for calls in WANTED.values() for answer in calls.values() if "out" in answer]
    keys = {key for one in documents if isinstance(one, dict) and one.get("command") == command for key in one}
    assert keys
    assert sorted(key for key in keys if f"`{key}`" not in shared + own) == []


@pytest.mark.parametrize("name", CALLS)
def test_every_option_changes_the_answer(name: str) -> None:
    base, *changed = WANTED[name].values()
    assert not [words for words, answer in zip(CALLS[name][1], changed, strict=True) if answer == base]
