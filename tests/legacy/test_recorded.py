"""What layers of IR v2 to v7 become, and give, as it was when Inference Engine 2020.1 was asked."""

import pytest

from tests.legacy.makers import MAKERS, case
from tests.legacy.recorded import FILE, numbers_of
from tests.ops.recorded import load, same

WANTED = load(FILE)


def test_all_types_are_recorded() -> None:
    assert {*WANTED} == {*MAKERS}


@pytest.mark.parametrize("name", MAKERS)
def test_what_was_recorded(name: str) -> None:
    """If it is another on purpose, `python -m tests.legacy.recorded` asks Inference Engine 2020.1 again."""
    assert [seed for seed, wanted in WANTED[name].items() if not same(numbers_of(case(name, seed)), wanted)] == []
