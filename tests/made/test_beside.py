"""Two models in one file become what each becomes alone: what is worked out once for many layers is right for each."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.infer import propagate_shapes
from ir_tools.ops import Role, role_of
from ir_tools.rewrite.migration import migrate
from ir_tools.types import shape_text
from ir_tools.validation import validate
from tests.comparison.mutations import copied, renumber
from tests.made.models import model_of

FAR, MARK = 1000, "§"
"""How much larger the ids of the second model are, and what its names end with."""


def varied(seed: int) -> Model:
    """A made model of which some outputs are read or not, and some constants hold something else."""
    draw, model = random.Random(seed), model_of(seed)
    graph = model.graph
    for layer in [*graph.layers()]:
        if role_of(layer) is Role.RESULT and draw.random() < 0.4 and len(model.outputs) > 1:
            graph.remove(layer.id)
        for port in layer.outputs if role_of(layer) is Role.COMPUTATION else ():
            if not graph.consumers(layer.id, port.id) and draw.random() < 0.4:
                read(graph, Source(layer.id, port.id))
        if role_of(layer) is Role.CONSTANT and draw.random() < 0.4:
            offset, size = int(layer.raw["offset"]), int(layer.raw["size"])
            place = model.weights.append(bytes(byte ^ 1 for byte in model.weights.view(offset, size).tobytes()))
            layer.raw["offset"] = str(place[0])
    return model


def read(graph: Graph, source: Source) -> None:
    port = graph.layer(source.layer).port(source.port)
    layer = Layer(graph.new_id(), {"name": graph.new_name("more"), "type": "Result", "version": "opset1"})
    layer.inputs.append(type(port)(0, port.precision, port.dims))
    graph.add(layer, {0: source})


def beside(one: Model, other: Model) -> Model:
    """Both in one file."""
    model = one.copy()
    for layer in other.graph.layers():
        new = layer.copy()
        new.id += FAR
        new.tag["name"] += MARK
        if "output_names" in new.tag:
            new.tag["output_names"] += MARK
        for port in new.outputs:
            port.names = tuple(name + MARK for name in port.names)
        for inner in (new, *(each for body in new.bodies.values() for each in body.layers())):
            if role_of(inner) is Role.CONSTANT:
                place = model.weights.take(other.weights, int(inner.raw["offset"]), int(inner.raw["size"]))
                inner.raw["offset"] = str(place[0])
        model.graph.add(new)
    for layer in other.graph.layers():
        for port_id, source in other.graph.sources(layer.id).items():
            model.graph.connect(Source(source.layer + FAR, source.port), layer.id + FAR, port_id)
    return model


Rows = Iterator[tuple[int | None, object]]


def findings(model: Model) -> tuple[Rows, Rows]:
    """What is wrong with operations, shapes and settings; rules of other groups speak of the file as a whole."""
    found = [one for one in validate(model) if "IR2" <= one.code < "IR5"]
    return iter(()), ((one.layer_id, (one.path, one.code, one.severity, one.attribute, one.message)) for one in found)


def shapes(model: Model) -> tuple[Rows, Rows]:
    ids = {path: layer.id for path, layer, _ in model.walk()}
    try:
        report = propagate_shapes(model)
    except ShapeError as why:
        return ((one.layer_id, (one.path, one.message)) for one in why.diagnostics), iter(())
    return iter(()), (
        (ids[path], (f"{path} port {port}", fact.dtype.name, shape_text(fact.shape), report.origins[path, port]))
        for (path, port), fact in report.facts.items()
    )


def migrated(target: str, model: Model) -> tuple[Rows, Rows]:
    found = migrate(model, target)
    refused = ((one.layer_id, (one.path, one.before, one.attribute, one.reason, one.notes)) for one in found.refused)
    return refused, (
        (one.layer_id, (one.path, one.before, one.after, one.strategy, one.proof, one.notes)) for one in found.steps
    )


TOLD: tuple[Callable[[Model], tuple[Rows, Rows]], ...] = (
    findings,
    shapes,
    *(partial(migrated, target) for target in ("opset1", "openvino-2022.1", "openvino-2024.6", "openvino-2021.2")),
)
"""What makes the whole fail, and what is told of each layer if nothing does, by id of the layer."""


def plain(rows: Rows) -> Counter[str]:
    """Rows without what tells the models apart."""
    texts = ((None if layer_id is None else layer_id % FAR, told) for layer_id, told in rows)
    return Counter(re.sub(rf"#\d+|{MARK}(/\d+)?|/\d+", "", str(text)) for text in texts)


@pytest.mark.parametrize("seed", range(30))
def test_two_models_in_one_file_are_what_each_is_alone(seed: int) -> None:
    one, other = model_of(seed), varied(seed)
    both = beside(one, other)
    for told in TOLD:
        failed, found = (
            [plain(part) for part in parts] for parts in zip(told(one), told(other), told(both), strict=True)
        )
        wanted = [failed[0] + failed[1]]
        if failed[0] and failed[1]:
            wanted += failed[:2]  # a migration ends with the first of its stages that refuses a layer
        assert failed[2] in wanted
        assert found[2] == found[0] + found[1] or failed[2]


@pytest.mark.parametrize("seed", range(20))
def test_ids_and_the_order_of_layers_do_not_matter(seed: int) -> None:
    """But for which of several Results of one tensor gets one of its own, for the last of the releases."""
    model = model_of(seed)
    for layer in [*model.graph.layers()]:
        model.graph.rename(layer.id, f"{layer.name}~{layer.id}~")
    twin = copied(model)
    renumber(np.random.default_rng(seed), twin)
    for told in TOLD[:-1]:
        for own, other in zip(told(model), told(twin.model), strict=True):
            assert unnumbered(own) == unnumbered(other)


def unnumbered(rows: Rows) -> Counter[str]:
    """Rows without ids of layers and ports."""
    return Counter(re.sub(r"port \d+|#\d+", "", str(text)) for _, text in rows)


@pytest.mark.parametrize("seed", range(20))
def test_input_ports_without_element_types_make_no_difference(seed: int) -> None:
    model = model_of(seed)
    for _, layer, _ in model.walk():
        if role_of(layer) is not Role.RESULT:
            for port in layer.inputs:
                port.precision = None
    for told in TOLD:
        for own, other in zip(told(model_of(seed)), told(model), strict=True):
            assert unnumbered(own) == unnumbered(other)
