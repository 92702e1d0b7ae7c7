"""The table of known differences against the installed runtime: a row that no longer differs has to go."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from ir_tools import execute
from ir_tools.comparison import difference
from ir_tools.errors import IrToolsError, RuntimeFailure, ShapeError
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import TABLE, Call, DifferenceKind, Fixed, KnownDifference, as_model, find, named
from ir_tools.known_differences._listing import listing
from ir_tools.known_differences._model import Given
from ir_tools.ops import Array, find_op, ops_of
from ir_tools.runtime.client import RuntimeClient, sources
from ir_tools.types import element_type, format_shape, parse_shape
from tests.ops.samples import sample_of
from tests.ops.single import Slot

ROOT = Path(__file__).parents[1]
DEATHS = ("crashed", "timeout", "memory")
ATTEMPTS = 4
Arrays = Mapping[str, Array]


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> None:
    """None here: forks have one layout of memory, and what reads beyond its data does the same in each."""


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient(timeout=30, memory=6 << 30) as running:
        yield running


def on_runtime(client: RuntimeClient, call: Call) -> Arrays | str:
    """The outputs of a model, or how the runtime fails: `rejected`, `crashed`."""
    model, fed = as_model(call)
    try:
        return client.infer_model(model, fed, config={"INFERENCE_NUM_THREADS": "1"}).outputs
    except RuntimeFailure as failure:
        return failure.kind


def by_reference(call: Call) -> Arrays | str:
    """The same by the reference."""
    model, fed = as_model(call)
    try:
        return execute.run(model, fed)
    except IrToolsError as why:
        return type(why).__name__


def agree(found: Arrays, wanted: Arrays) -> bool:
    """Whether all outputs are within the tolerance of their type."""
    pairs = list(zip(found.values(), wanted.values(), strict=True))
    return all(a.shape == b.shape and a.dtype == b.dtype and difference(a, b).ok for a, b in pairs)


def shapes_differ(client: RuntimeClient, call: Call) -> bool:
    """Whether the runtime says something else before running than the rules."""
    model, _ = as_model(call)
    layer = next(layer for layer in model.graph.layers() if layer.type == call.operation.type)
    try:
        with sources(model) as (text, weights):
            theirs = client.shapes(text, weights)[layer.name, 0][1]
    except RuntimeFailure:
        theirs = "rejected"
    try:
        facts = propagate_shapes(model).facts
        ours = format_shape(facts[layer.name, layer.outputs[0].id].shape)
    except ShapeError:
        ours = "rejected"
    return ours != theirs


def differs(client: RuntimeClient, row: KnownDifference) -> bool:
    """Whether the runtime does with the minimal model what the row says."""
    if row.kind is DifferenceKind.SHAPE:
        return shapes_differ(client, row.model)
    found = on_runtime(client, row.model)
    if row.kind is DifferenceKind.REFUSES:
        return found == "rejected"
    if isinstance(found, str):
        return row.kind in {DifferenceKind.DIES, DifferenceKind.ARBITRARY} and found in DEATHS
    wanted = by_reference(row.model)
    if row.kind is DifferenceKind.FOLLOWED:
        assert row.same is not None
        other = on_runtime(client, row.same)
        return (
            not isinstance(other, str) and not isinstance(wanted, str) and agree(wanted, found) and agree(other, found)
        )
    if row.kind is DifferenceKind.ARBITRARY and not isinstance(wanted, str):
        pairs = zip(wanted.values(), found.values(), strict=True)
        return not all(np.array_equal(ours, theirs) for ours, theirs in pairs)
    return row.kind is not DifferenceKind.DIES and (isinstance(wanted, str) or not agree(wanted, found))


HERE = [row for row in TABLE if row.processor.is_here]
"""Rows that this machine can show."""


@pytest.mark.parametrize("row", HERE, ids=lambda row: row.name)
def test_still_differs(row: KnownDifference, client: RuntimeClient) -> None:
    """Once the runtime is right, the row goes, and the random tests take such layers too.

    A layer that writes to memory that is not its own may kill the runtime over a later one: hence more attempts.
    """
    if row.kind is DifferenceKind.DIES:
        client.close()
    for _ in range(ATTEMPTS):
        if differs(client, row):
            return
        client.close()
    pytest.fail(f"the runtime and the reference agree in {ATTEMPTS} attempts")


def last_inputs(call: Call) -> list[Array]:
    """What the last layer of a minimal model reads."""
    arrays: list[Array] = []
    for feed in call.inputs:
        if isinstance(feed, Call):
            model, fed = as_model(feed)
            *_, last = execute.Execution(model).steps(fed)
            arrays.append(last.outputs[0])
        elif isinstance(feed, Fixed):
            arrays.append(feed.array)
        elif isinstance(feed, Given | np.ndarray):
            arrays.append(feed if isinstance(feed, np.ndarray) else feed.array)
    return arrays


@pytest.mark.parametrize("row", [row for row in HERE if row.applies], ids=lambda row: row.name)
def test_is_told_from_a_layer(row: KnownDifference) -> None:
    """The row is found for its own model."""
    constant = {number for number, feed in enumerate(row.model.inputs) if isinstance(feed, Fixed)}
    assert row in find(row.model.operation, row.model.attrs, last_inputs(row.model), constant)


@pytest.mark.parametrize("row", [row for row in HERE if row.arbitrary], ids=lambda row: row.name)
def test_what_is_left_out_explains_the_difference(row: KnownDifference, client: RuntimeClient) -> None:
    """Outside the places that a row calls arbitrary nothing differs."""
    client.close()
    found, wanted = on_runtime(client, row.model), by_reference(row.model)
    assert not isinstance(wanted, str)
    if isinstance(found, str):
        assert found in DEATHS
        return
    masks = row.masks(list(wanted.values()))
    assert any(mask is not None and mask.any() for mask in masks)
    for expected, actual, mask in zip(wanted.values(), found.values(), masks, strict=True):
        assert difference(expected, actual, undefined=mask).ok


def test_names() -> None:
    assert len({row.name for row in TABLE}) == len(TABLE)
    assert named(TABLE[0].name) == (TABLE[0],)
    for row in TABLE:
        for op in row.ops:
            type, _, version = op.rpartition("-")
            assert str(find_op(type, f"opset{version}")) == op
        assert row.setting
        assert row.reason.endswith(".")


def test_the_page_is_made_from_the_table() -> None:
    """`python -m ir_tools.known_differences._listing > docs/known-differences.md` makes it."""
    assert (ROOT / "docs" / "known-differences.md").read_text(encoding="utf-8") == listing()


def arrays_of(slot: Slot, size: int | None) -> Array:
    """An input of a sample; `size`: of every dimension of those that are not constants."""
    if not isinstance(slot, tuple):
        assert isinstance(slot, np.ndarray)
        return slot
    dtype = element_type(slot[0]).dtype
    sizes = [dim.size if size is None else size for dim in parse_shape(slot[1]) or ()]
    return np.ones(sizes, np.dtype(np.uint8) if dtype is None else dtype)


@pytest.mark.parametrize("size", [None, 0], ids=["sample", "empty"])
@pytest.mark.parametrize("name", sorted({name for row in TABLE if row.applies for name in row.ops}))
def test_can_be_asked_of_any_layer(name: str, size: int | None) -> None:
    """A comparison asks of every layer, whatever its inputs are: optional ones left out, without elements."""
    op = next(op for op in ops_of(name.rpartition("-")[0]) if str(op) == name)
    sample = sample_of(op)
    assert sample is not None
    attrs = op.read(sample.raw, [])
    assert attrs is not None
    arrays = [arrays_of(slot, size) for slot in sample.slots]
    needed = sum(not slot.optional for slot in op.inputs)
    with np.errstate(all="ignore"):
        find(op, attrs, arrays)
        find(op, attrs, arrays[: max(needed, 1)], range(len(arrays)))
