"""Digests of layers: equal where layers are computed or used alike, and not otherwise."""

import random

import pytest

from ir_tools.builder import Builder
from ir_tools.comparison._structure import Direction, Side, View, body_digest
from ir_tools.graph import Source


def view_of(builder: Builder) -> View:
    return View(Side(builder.model, builder.graph), {})


def converted(builder: Builder, source: Source) -> Source:
    return builder.call("Convert", builder.call("Convert", source, destination_type="f16"), destination_type="f32")


@pytest.mark.parametrize(("level", "same"), [(0, False), (1, False), (2, True)])
@pytest.mark.parametrize("direction", ["down", "up"])
def test_conversions_are_looked_through_at_the_level_of_types(level: int, direction: Direction, same: bool) -> None:
    digests = []
    for between in (lambda builder, source: source, converted):
        builder = Builder()
        first = builder.call("ReLU", builder.parameter("x", "2,3"))
        last = builder.call("Tanh", between(builder, first))
        builder.result(last)
        found = view_of(builder).digest(level, direction)
        digests.append(found[(first if direction == "up" else last).layer])
    assert (digests[0] == digests[1]) is same


@pytest.mark.parametrize(("types", "same"), [(("ReLU", "ReLU"), True), (("ReLU", "Tanh"), False)])
def test_bodies_are_alike_if_they_compute_the_same(types: tuple[str, str], same: bool) -> None:
    digests = []
    for type in types:
        builder = Builder()
        builder.result(builder.call(type, builder.parameter("x", "2,3")))
        digests.append(body_digest(Side(builder.model, builder.graph)))
    assert (digests[0] == digests[1]) is same


@pytest.mark.parametrize("seed", range(5))
def test_layers_of_one_type_in_a_row_are_counted_along_every_branch(seed: int) -> None:
    draw, builder = random.Random(seed), Builder()
    tensors, rows = [builder.parameter("x", "2,3")], dict[int, list[int]]()
    for _ in range(20):
        source, kind = draw.choice(tensors), draw.choice(("ReLU", "Abs"))
        tensors.append(builder.call(kind, source))
        before = rows.get(source.layer, []) if builder.graph.layer(source.layer).type == kind else []
        rows[tensors[-1].layer] = [*before, tensors[-1].layer]
    found = view_of(builder).rows
    for layer_id in rows:
        assert found[layer_id] == max(len(row) for row in rows.values() if layer_id in row)


@pytest.mark.parametrize(
    ("own", "other", "same"),
    [("2,3", "2,3", True), ("2,3", "2,4", False), ("2,?", "2,4", True), ("?,3", "2,4", False), ("2,3", "2,3,1", False)],
)
def test_sizes_are_the_same_up_to_those_that_are_not_known(own: str, other: str, same: bool) -> None:
    views = []
    for shape in (own, other):
        builder = Builder()
        layer_id = builder.parameter("x", shape).layer
        views.append((view_of(builder), layer_id))
    (mine, a), (theirs, b) = views
    assert mine.same_sizes(a, theirs, b) is theirs.same_sizes(b, mine, a) is same
