"""Shape rules, checks and kernels on many random layers, against what the runtime made of them when it was asked."""

import pytest

from ir_tools.runtime.client import RuntimeClient
from tests.ops.recorded import RECORDED, left_out, load, same

WANTED = load()


def test_all_kinds_of_layers_are_recorded() -> None:
    assert [*WANTED] == [*RECORDED]


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_recorded(name: str) -> None:
    """If it is another on purpose, `python -m tests.ops.recorded` asks the runtime again."""
    pairs = enumerate(zip(RECORDED[name].found(left_out(WANTED[name])), WANTED[name], strict=True))
    assert [number for number, (found, wanted) in pairs if not same(found, wanted)] == []


@pytest.mark.sweep
@pytest.mark.parametrize("name", RECORDED)
def test_what_is_recorded_is_what_the_runtime_gives(name: str, client: RuntimeClient) -> None:
    RECORDED[name].compare(client)
    assert {*RECORDED[name].differing(client)} <= left_out(WANTED[name])
