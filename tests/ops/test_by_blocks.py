"""Kernels that take large tensors a block at a time give the same of small ones, in blocks of few elements."""

import pytest

from tests.ops.recorded import RECORDED, load, same

WANTED = {name: layers for name, layers in load().items() if name.startswith("table values")}
COUNT = 15
"""Layers of each operation."""


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("name", WANTED)
def test_few_elements_at_a_time(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ir_tools.ops._by_blocks.BLOCK", size)
    kind, layers = RECORDED[name], [*WANTED[name].items()][:COUNT]
    assert [number for number, wanted in layers if not same(kind.numbers(kind.layer(number)), wanted)] == []
