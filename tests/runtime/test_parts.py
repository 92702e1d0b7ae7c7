"""Parts of a model, and places in its file, that a message of the runtime is about."""

import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.format.content import SourceFile
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.runtime._parts import Parts
from ir_tools.runtime._places import mentioned, named
from ir_tools.source import Document

BODY = (
    '<layer id="7" name="loop" type="TensorIterator" version="opset1"><body><layers>'
    '<layer id="0" name="inner" type="Parameter" version="opset1"/>'
    '<layer id="1" name="twin" type="ReLU" version="opset1"/></layers></body></layer>'
)
FILE = Document(
    '<net name="m" version="11"><layers>\n<layer id="3" name="first" type="Parameter" version="opset1"/>\n'
    f'{BODY}\n<layer id="8" name="twin" type="ReLU" version="opset1"/></layers></net>'.encode()
)


def model() -> ir_tools.Model:
    """A tensor that several layers read, one that nobody reads, and layers that lead nowhere."""
    b = Builder()
    x, y = b.parameter("x", "2,4"), b.parameter("y", "2,4")
    both = b.call("Add", x, y, name="both")
    halves = b.outputs("Split", both, 1, num_splits=2, name="halves")
    b.call("Abs", x, name="unread")
    joined = b.call("Concat", halves[1], halves[0], axis=1, name="joined")
    last = b.call("Multiply", joined, both, name="last")
    b.result(b.call("Subtract", last, x, name="less"), "out")
    b.result(halves[0], "half")
    return read(render(b.model), b"".join(b.model.weights.tail()))


@pytest.mark.parametrize("count", range(1, 11))
def test_a_part_is_the_first_layers_with_a_result_for_each_loose_end(count: int) -> None:
    whole = model()
    assert isinstance(whole.origin, SourceFile)
    parts = Parts(whole.origin.document, whole.graph, whole.version)
    names = [layer.name for layer in parts.layers]
    assert "unread" not in names
    assert len(names) == len({*names}) == 10
    kept = {layer.id for layer in parts.layers[:count]}
    edges = {
        (p, q, c, t) for p, c, (q, t) in whole.graph.edges(keys=True) if {p, c} <= {layer.id for layer in parts.layers}
    }
    assert all(producer in kept for producer, _, consumer, _ in edges if consumer in kept)
    inside = {edge for edge in edges if {edge[0], edge[2]} <= kept}
    loose = {Source(edge[0], edge[1]) for edge in edges if edge[0] in kept} - {Source(p, q) for p, q, _, _ in inside}
    part = read(parts.first(count)).graph
    found = {(p, q, c, t) for p, c, (q, t) in part.edges(keys=True)}
    assert inside <= found
    assert sorted((p, q) for p, q, c, _ in found - inside) == sorted(loose)
    added = {c for _, _, c, _ in found - inside}
    assert {layer.id: layer.type for layer in part.layers()} == {
        **{layer.id: layer.type for layer in parts.layers[:count]},
        **dict.fromkeys(added, "Result"),
    }


@pytest.mark.parametrize(
    ("text", "layer_id", "name", "line"),
    [
        ('name="first"', 3, "first", 2),
        ('name="inner"', 0, "inner", 3),
        ('name="loop"', 7, "loop", 3),
        ("<net", None, None, 1),
    ],
)
def test_an_offset_is_in_the_innermost_layer(text: str, layer_id: int | None, name: str | None, line: int) -> None:
    found = named(FILE, f"something is wrong at offset {FILE.text.index(text.encode())}", {})
    assert found is not None
    assert (found.line, found.layer_id, found.layer_name) == (line, layer_id, name)


def test_an_offset_between_two_layers_is_in_none() -> None:
    between = FILE.text.index(b'<layer id="8"') - 1
    found = named(FILE, f"wrong at offset {between}", {})
    assert found is not None
    assert (found.line, found.layer_id) == (3, None)


def test_a_layer_is_meant_if_there_is_one_of_the_name() -> None:
    for message, wanted in {
        "Cannot create ReLU layer twin id:8 from opset1": 8,
        "Cannot create ReLU layer twin id:1 from opset1": 1,
        "Cannot create ReLU layer twin id:2 from opset1": None,
        "nothing is said": None,
    }.items():
        place = named(FILE, message, {})
        assert (place and place.layer_id) == wanted
    for message, wanted in {
        "'first' is wrong": 3,
        "wrong in layer loop": 7,
        "'twin' is wrong": None,
        "first": None,
    }.items():
        place = mentioned(FILE, message, {})
        assert (place and place.layer_id) == wanted
