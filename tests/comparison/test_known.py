"""A comparison names the known differences that its layers fall under."""

from typing import Literal

import pytest

from ir_tools.comparison import LayerComparison, compare
from ir_tools.known_differences import as_model, named
from ir_tools.runtime.client import RuntimeClient

Mode = Literal["isolated", "cumulative"]
MODES: tuple[Mode, ...] = ("isolated", "cumulative")


def rows_of(name: str, mode: Mode, client: RuntimeClient) -> list[LayerComparison]:
    """The rows of the minimal model of a known difference."""
    (row,) = named(name)
    model, fed = as_model(row.model)
    return list(compare(model, inputs=fed, mode=mode, client=client).layers)


@pytest.mark.parametrize("mode", MODES)
def test_a_known_difference_is_named_and_counts(mode: Mode, client: RuntimeClient) -> None:
    name = "LRN-1 with a fraction in bias"
    (row,) = rows_of(name, mode, client)
    assert row.status == "differs"
    assert row.known == (name,)
    assert row.reason == f"known difference: {name}, see docs/known-differences.md"


@pytest.mark.parametrize("mode", MODES)
def test_what_nobody_wrote_to_is_left_out_and_counted(mode: Mode, client: RuntimeClient) -> None:
    name = "MulticlassNms without boxes"
    boxes, numbers, counts = rows_of(name, mode, client)
    assert (boxes.status, numbers.status, counts.status) == ("ok", "ok", "ok")
    assert counts.difference is not None
    assert (counts.difference.elements, counts.difference.undefined) == (0, 1)
    assert counts.known == (name,)
    assert not boxes.known


@pytest.mark.parametrize("mode", MODES)
def test_a_layer_that_agrees_says_nothing(mode: Mode, client: RuntimeClient) -> None:
    """A row may hold for more layers than differ: here none of the numbers is near the ends of the function."""
    (row,) = named("SquaredDifference-1 of 8 bits")
    model, fed = as_model(row.model)
    (found,) = compare(model, inputs={**fed, "a": fed["b"]}, mode=mode, client=client).layers
    assert found.status == "ok"
    assert found.known == ()
