"""Names, types and sizes of inputs and outputs, after a migration down and up again."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

import ir_tools
from ir_tools.format.write import render
from ir_tools.graph import Endpoint, Model, Port
from ir_tools.releases.table import PARAMETERS_OF_10, RESULTS_OF_10
from ir_tools.rewrite.migration import Migration, migrate
from ir_tools.types import precision_in_file
from tests.releases.questions import questions

THERE_AND_BACK = [("openvino-2022.1", "openvino-2026.4"), ("opset8", "opset16"), ("ir10", "ir11"), ("ir11", "ir10")]


class End(NamedTuple):
    """What a caller sees of an input or output."""

    tensor: frozenset[str]
    layer: str
    dims: tuple[int, ...]
    kind: str


def tensor_of(model: Model, end: Endpoint) -> Port:
    """The port that gives the tensor of an input or output."""
    for source in model.graph.sources(end.layer.id).values():
        return model.graph.layer(source.layer).port(source.port)
    return end.port


def ends_of(model: Model, version: int) -> list[End]:
    """The inputs, then the outputs, with the types that a caller of a version of the IR knows."""
    found = []
    for known, ends in ((PARAMETERS_OF_10, model.inputs), (RESULTS_OF_10, model.outputs)):
        for end in ends:
            port = tensor_of(model, end)
            kind = precision_in_file(port.precision or "")
            name = kind.name if kind else ""
            shown = known.get(name, name) if version == 10 else name
            found.append(End(frozenset(port.names), end.layer.name, tuple(port.dims), shown))
    return found


def problems(model: Model, there: str, back: str) -> Iterator[str]:
    """What is other than it was after a migration there and back; nothing of a model that is refused.

    Between IR v10 and v11 tensors and layers get names of each other, and the types that IR v10 has for callers.
    """
    other = migrate(model, there)
    if other.refused:
        return
    again = migrate(other.model, back)
    if again.refused:
        yield f"is refused on the way back: {again.refused[0]}"
        return
    versions = {model.version, other.model.version, again.model.version}
    ends = (ends_of(one, min(versions)) for one in (model, again.model))
    for old, new in zip(*ends, strict=True):
        wanted = old if len(versions) == 1 else old._replace(tensor=old.tensor | new.tensor, layer=new.layer)
        if new != wanted:
            yield f"{old} becomes {new}"
    if other.model.version == 10 < model.version:
        yield from lost_names(model, other)


def lost_names(model: Model, lower: Migration) -> Iterator[str]:
    """Names by which a caller of IR v10, who knows those of layers, does not find a tensor, though no note says so."""
    graph = lower.model.graph
    for old, new in zip((*model.inputs, *model.outputs), (*lower.model.inputs, *lower.model.outputs), strict=True):
        sources = graph.sources(new.layer.id).values()
        layer = next((graph.layer(source.layer) for source in sources), new.layer)
        number = [layer.outputs.index(layer.port(source.port)) for source in sources if len(layer.outputs) > 1]
        called = ".".join([layer.name, *map(str, number)])
        if called != old.name and not any(f"'{old.name}' is called" in note for note in lower.notes):
            yield f"'{old.name}' is called '{called}'"


def wrong_ends(there: str, back: str, most: int | None = None) -> list[str]:
    """What is wrong in models of one operation each."""
    version = 10 if back == "ir10" else 11
    plain = (one for one in questions(11, plain=True) if not one.case and one.version == version)
    wrong = []
    for question in islice(plain, most):
        model = ir_tools.read(question.xml, question.weights)
        wrong += [f"{question.about}: {one}" for one in problems(model, there, back)]
    return wrong


@pytest.mark.parametrize(("there", "back"), THERE_AND_BACK)
def test_ends_of_some_operations(there: str, back: str) -> None:
    assert wrong_ends(there, back, 20) == []


@pytest.mark.sweep
@pytest.mark.parametrize(("there", "back"), THERE_AND_BACK)
def test_ends_of_every_operation(there: str, back: str) -> None:
    assert wrong_ends(there, back) == []


@pytest.mark.sweep
@pytest.mark.parametrize(("there", "back"), THERE_AND_BACK)
def test_ends_of_models_of_the_corpus(corpus_model: Path, there: str, back: str) -> None:
    assert [*problems(ir_tools.read(corpus_model), there, back)] == []


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["openvino-2021.4", "openvino-2022.1", "openvino-2024.6", "ir10", "opset8"])
def test_a_second_migration_changes_no_byte(corpus_model: Path, target: str) -> None:
    migrated = migrate(ir_tools.read(corpus_model), target)
    if migrated.ok:
        again = migrate(migrated.model, target)
        assert (again.refused, again.steps) == ((), ())
        assert render(again.model) == render(migrated.model)
