"""Shape rules, checks and kernels on many random layers, against what the runtime made of them when it was asked."""

import pytest

from tests.ops import table_makers
from tests.ops.around import limited
from tests.ops.recorded import RECORDED, load, same

WANTED = load()


def test_all_kinds_of_layers_are_recorded() -> None:
    assert [*WANTED] == [*RECORDED]
    assert [name for name, layers in WANTED.items() if not layers] == []


def test_every_input_is_in_a_sample() -> None:
    assert [
        str(op) for op in table_makers.OPS if all(len(one.slots) < len(op.inputs) for one in table_makers.samples(op))
    ] == []


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_recorded(name: str) -> None:
    """If it is another on purpose, `python -m tests.ops.recorded` asks the runtime again."""
    kind = RECORDED[name]
    found = {number: kind.numbers(kind.layer(number)) for number in WANTED[name]}
    assert [number for number, wanted in WANTED[name].items() if not same(found[number], wanted)] == []


@pytest.mark.sweep
@pytest.mark.parametrize("name", RECORDED)
def test_what_is_recorded_is_what_the_runtime_gives(name: str) -> None:
    layers = [*map(RECORDED[name].layer, WANTED[name])]
    with limited() as client:
        agreed = RECORDED[name].agree(client, layers)
    assert [layer for layer, same in zip(layers, agreed, strict=True) if not same] == []
