"""Single layers, asked one after the other, against the runtime's own shapes of the whole model."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import openvino.opset3 as op3
import openvino.opset6 as op6
import openvino.opset11 as op11
import pytest
from openvino import opset15 as op

from ir_tools.errors import RuntimeFailure
from ir_tools.format.read import read
from ir_tools.graph import Model
from ir_tools.graph.graph import Source
from ir_tools.ops.definition import Bounds, Fact
from ir_tools.runtime.ask import MAX_REJECTED, LayerOracle
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim, Shape, element_type, format_shape, parse_shape
from tests.conftest import corpus_cases, is_readable
from tests.outcomes import shapes_unless_refused
from tests.runtime.made import iterated, one_layer, parameter, save

Answers = dict[tuple[str, int], tuple[str, str]]


def asked(client: RuntimeClient, model: Model, inputs: Mapping[str, str]) -> Answers:
    """Every output of the main graph, from one question per layer."""
    oracle, facts, found = LayerOracle(client), dict[Source, Fact](), Answers()
    for layer in model.graph.ordered():
        if layer.type in {"Parameter", "Const"}:
            shape = parse_shape(inputs.get(layer.name, layer.raw["shape"]))
            answer: Sequence[Fact] = (Fact(element_type(layer.raw["element_type"]), shape),)
        else:
            answer = oracle(model, model.graph, layer, facts)
        for index, (port, fact) in enumerate(zip(layer.outputs, answer, strict=True)):
            facts[Source(layer.id, port.id)] = fact
            found[layer.name, index] = fact.dtype.name, format_shape(fact.shape)
    return found


def inputs_of(model: Model, change: Callable[[int, Dim], Dim]) -> dict[str, str]:
    """New shapes for the inputs: `change` of every axis."""
    shapes: dict[str, str] = {}
    for end in model.inputs:
        old: Shape = parse_shape(end.layer.raw["shape"])
        shapes[end.layer.name] = format_shape(old and tuple(change(axis, dim) for axis, dim in enumerate(old)))
    return shapes


def same(axis: int, dim: Dim) -> Dim:
    return dim


def batch(axis: int, dim: Dim) -> Dim:
    return Dim(1, 8) if axis == 0 else dim


def window(axis: int, dim: Dim) -> Dim:
    return Dim(max(dim.lo - 20, 1), dim.lo + 64) if axis > 1 else dim


def anything(axis: int, dim: Dim) -> Dim:
    return dim if axis == 1 else Dim()


CHANGES = {"as_read": same, "batch_1..8": batch, "size_interval": window, "dynamic": anything}


def agree(client: RuntimeClient, path: Path, change: Callable[[int, Dim], Dim]) -> None:
    """Every port that the runtime still has after its own rewriting while it reshapes."""
    model = read(path)
    inputs = {} if change is same else inputs_of(model, change)
    wanted = shapes_unless_refused(client, path, None, model, inputs)
    if wanted is None:
        return
    found = asked(client, model, inputs)
    common = found.keys() & wanted.keys()
    assert len(common) > len(found) // 2
    assert {key: found[key] for key in common} == {key: wanted[key] for key in common}


# --- made models ---


def interpolated(folder: Path) -> Path:
    """Sizes that go through floats."""
    x = parameter([1, 3, 10, 20])
    sizes = op.convert(op.shape_of(x), "f32")
    ends = op.constant(np.array([2])), op.constant(np.array([4])), op.constant(np.array([1]))
    two = op.strided_slice(sizes, *ends, [0], [0])
    scaled = op.multiply(two, op.constant(np.array([1.5, 2], np.float32)))
    first = op11.interpolate(
        x, op.convert(op.floor(scaled), "i64"), "nearest", "sizes", axes=op.constant(np.array([2, 3]))
    )
    second = op11.interpolate(x, op.convert(scaled, "i64"), "nearest", "sizes", axes=op.constant(np.array([2, 3])))
    return save(folder, [first, second], [x])


def reshaped(folder: Path) -> Path:
    """The usual ways to compute a shape, in i32."""
    x = parameter([2, 6, 8])
    shape = op.shape_of(x, "i32")

    def i32(*values: int) -> ov.Node:
        return op.constant(np.array(values, np.int32))

    first, second, third = (op.gather(shape, i32(axis), i32(0)) for axis in range(3))
    scalar = op.gather(shape, op.constant(np.int32(0)), i32(0))
    one = op.constant(np.float32(1))
    outputs = [
        op.reshape(x, op.concat([first, i32(-1)], 0), False),
        op.reshape(x, op.concat([op.multiply(first, second), third], 0), False),
        op.range(op.constant(np.int32(0)), scalar, op.constant(np.int32(1)), "i32"),
        op.tile(x, op.concat([first, i32(1, 2)], 0)),
        op.slice(x, i32(0), op.divide(third, i32(2)), i32(1), i32(2)),
        op.broadcast(one, op.select(op.equal(shape, i32(6)), i32(1, 1, 1), shape)),
        op.broadcast(one, op.scatter_update(shape, i32(1), i32(5), op.constant(np.int32(0)))),
        op.broadcast(one, op.maximum(third, i32(10))),
        op.broadcast(one, op.abs(op.negative(third))),
        op.broadcast(one, op.concat([op.split(shape, op.constant(np.array(0)), 3).output(2), first], 0)),
        op.non_zero(x),
    ]
    return save(folder, outputs, [x])


def looped_by_constant(folder: Path) -> Path:
    return iterated(folder, op.constant(np.int64(5)), parameter([2, 3, 4]))


def looped_by_shape(folder: Path) -> Path:
    x = parameter([2, 3, 4])
    return iterated(folder, op.gather(op.shape_of(x), op.constant(np.array(0)), op.constant(np.array(0))), x)


def recurrent(folder: Path) -> Path:
    """A TensorIterator whose body holds more weights than are sent."""
    x, state = parameter([1, 5, 64]), parameter([1, 128], name="state")
    piece, inner = parameter([1, 1, 64], name="piece"), parameter([1, 128], name="inner")
    weights = [op.constant(np.ones(shape, np.float32)) for shape in ((384, 64), (384, 128), (384,))]
    cell = op.gru_cell(op.squeeze(piece, op.constant(np.array([1]))), inner, *weights, 128)
    joined = op.unsqueeze(cell, op.constant(np.array([1])))
    iterator = op.tensor_iterator()
    iterator.set_body(ov.Model([op.result(cell), op.result(joined)], [piece, inner], "body"))
    iterator.set_sliced_input(piece, x.output(0), 0, 1, 1, -1, 1)
    iterator.set_merged_input(inner, state.output(0), cell.output(0))
    last = iterator.get_iter_value(cell.output(0), -1)
    every = iterator.get_concatenated_slices(joined.output(0), 0, 1, 1, -1, 1)
    return save(folder, [last, every], [x, state])


def chosen(folder: Path) -> Path:
    """An If whose condition follows from a shape."""
    x = parameter([2, 3, 4])
    size = op.gather(op.shape_of(x), op.constant(np.array(0)), op.constant(np.array(0)))
    choice = op.if_op(op.greater(size, op.constant(np.int64(1))).output(0))
    yes, no = parameter([-1, 3, 4], name="yes"), parameter([-1, 3, 4], name="no")
    then, otherwise = op.result(op.relu(yes)), op.result(op.concat([no, no], 1))
    choice.set_then_body(ov.Model([then], [yes]))
    choice.set_else_body(ov.Model([otherwise], [no]))
    choice.set_input(x.output(0), yes, no)
    return save(folder, [choice.set_output(then, otherwise)], [x])


def stateful(folder: Path) -> Path:
    x = parameter([-1, 4])
    start = op.constant(np.zeros((1, 4), np.float32))
    total = op.add(x, op6.read_value(start, "state", ov.Type.f32, ov.PartialShape([-1, 4])))
    return save(folder, [total], [x], [op6.assign(total, "state")])


def stateful_of_opset3(folder: Path) -> Path:
    x = parameter([2, 4])
    total = op.add(x, op3.read_value(op.constant(np.zeros((2, 4), np.float32)), "state"))
    return save(folder, [total], [x], [op3.assign(total, "state")])


MADE = [
    interpolated,
    reshaped,
    looped_by_constant,
    looped_by_shape,
    recurrent,
    chosen,
    stateful,
    stateful_of_opset3,
]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("make", MADE)
def test_made_models(
    client: RuntimeClient, tmp_path: Path, make: Callable[[Path], Path], change: Callable[[int, Dim], Dim]
) -> None:
    agree(client, make(tmp_path), change)


# --- real models ---


OFTEN = [
    pytest.param(change, id=name, marks=[] if name in {"size_interval", "dynamic"} else [pytest.mark.sweep])
    for name, change in CHANGES.items()
]
"""What `test_infer.py` asks for too is left to the long checks."""


@pytest.mark.parametrize("change", OFTEN)
@pytest.mark.parametrize("path", corpus_cases(60_000, is_readable))
def test_models_of_the_corpus(client: RuntimeClient, path: Path, change: Callable[[int, Dim], Dim]) -> None:
    agree(client, path, change)


# --- values ---


def values_of(client: RuntimeClient, folder: Path, make: Callable[[ov.Node], ov.Node], shape: str) -> Bounds | None:
    """The bounds of what `make` makes of the i64 shape of an input of `shape`."""
    x = parameter([-1, -1])
    path = save(folder, [make(op.shape_of(x))], [x])
    model = read(path)
    facts: dict[Source, Fact] = {}
    oracle, fact = LayerOracle(client), Fact(element_type("f32"), None)
    for layer in model.graph.ordered():
        if layer.type == "Result":
            continue
        if layer.type in {"Parameter", "Const"}:
            text = shape if layer.type == "Parameter" else layer.raw["shape"]
            fact = Fact(element_type(layer.raw["element_type"]), parse_shape(text))
        else:
            (fact,) = oracle(model, model.graph, layer, facts)
        facts[Source(layer.id, layer.outputs[0].id)] = fact
    end = model.graph.sources(model.outputs[0].layer.id).values()
    return facts[next(iter(end))].value


@pytest.mark.parametrize(
    ("make", "lower", "upper"),
    [
        (lambda shape: shape, [2, 3], [5, 7]),
        (lambda shape: op.convert(shape, "i32"), [2, 3], [5, 7]),
        (lambda shape: op.subtract(shape, op.constant(np.array([10]))), [-8, -7], [-5, -3]),
        (lambda shape: op.unsqueeze(shape, op.constant(np.array([0]))), [[2, 3]], [[5, 7]]),
        (lambda shape: op.gather(shape, op.constant(np.array(0)), op.constant(np.array(0))), 2, 5),
        (lambda shape: op.multiply(op.convert(shape, "f32"), op.constant(np.float32(0.5))), [1.0, 1.5], [2.5, 3.5]),
    ],
    ids=["shape", "i32", "negative", "rank_2", "scalar", "float"],
)
def test_bounds_of_values(
    client: RuntimeClient, tmp_path: Path, make: Callable[[ov.Node], ov.Node], lower: object, upper: object
) -> None:
    found = values_of(client, tmp_path, make, "2..5,3..7")
    assert found is not None
    assert found.lower.tolist() == lower
    assert found.upper.tolist() == upper


@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_no_upper_bound_is_told_alike(client: RuntimeClient, tmp_path: Path, kind: str) -> None:
    found = values_of(client, tmp_path, lambda shape: op.convert(shape, kind), "2..5,?")
    assert found is not None
    assert found.dims() == (Dim(2, 5), Dim())


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Bounds.exactly([4, 6]), "4,6"),
        (Bounds(np.array([2, 6]), np.array([4, 6])), "2..4,6"),
        (Bounds(np.array([0, 6]), np.array([2**63 - 1, 6])), "?,6"),
        (None, "?,?"),
    ],
    ids=["exact", "interval", "unbounded", "unknown"],
)
def test_bounds_without_a_chain_reach_the_runtime(
    client: RuntimeClient, tmp_path: Path, value: Bounds | None, wanted: str
) -> None:
    target = parameter([2], np.int64)
    model = read(save(tmp_path, [op.broadcast(op.constant(np.float32(1)), target)], [target]))
    (layer,) = (layer for layer in model.graph.layers() if layer.type == "Broadcast")
    facts = {}
    for source in model.graph.sources(layer.id).values():
        maker = model.graph.layer(source.layer)
        kind, shape = element_type(maker.raw["element_type"]), parse_shape(maker.raw["shape"])
        facts[source] = Fact(kind, shape, value if maker.type == "Parameter" else None)
    (fact,) = LayerOracle(client)(model, model.graph, layer, facts)
    assert format_shape(fact.shape) == wanted


def test_unknown_layer_is_rejected_with_its_type(client: RuntimeClient) -> None:
    model = read(one_layer("MyLayer", "extension", {"a": "1"}))
    layer = model.graph.layer(1)
    facts = {Source(0, 0): Fact(element_type("f32"), parse_shape("1,3"))}
    oracle = LayerOracle(client)
    for _ in range(2):
        with pytest.raises(RuntimeFailure, match=r"MyLayer.*extension; name its library with --extension") as caught:
            oracle(model, model.graph, layer, facts)
        assert caught.value.kind == "rejected"


class Ignorant(RuntimeClient):
    """A runtime that knows no operation."""

    asked = 0

    def ask(self, *args: Any, **kwargs: Any) -> Any:
        self.asked += 1
        raise RuntimeFailure("no such operation", kind="rejected")


@pytest.mark.parametrize(("type", "opset"), [("Own{}", "opset1"), ("ReLU", "opset9{}")], ids=["types", "opsets"])
def test_of_very_many_rejected_layers_the_first_are_asked_about(type: str, opset: str) -> None:
    client = Ignorant()
    oracle = LayerOracle(client)
    for number in range(MAX_REJECTED + 5):
        model = read(one_layer(type.format(number), opset.format(number), {}))
        with pytest.raises(RuntimeFailure):
            oracle(model, model.graph, model.graph.layer(1), {Source(0, 0): Fact(element_type("f32"), None)})
    assert client.asked == MAX_REJECTED


@pytest.mark.parametrize("last", [0, 1])
def test_ports_that_the_file_leaves_out_are_not_answered(client: RuntimeClient, last: int) -> None:
    """Those at the end: the layer still has both outputs."""
    ports = [f'<port id="{number + 2}" precision="{kind}"/>' for number, kind in enumerate(("FP32", "I32"))]
    text = one_layer("TopK", "opset11", {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i32"})
    constant = (
        '<layer id="3" name="k" type="Const" version="opset1"><data element_type="i32" shape="" offset="0" size="4"/>'
        '<output><port id="0" precision="I32"/></output></layer></layers><edges>'
        '<edge from-layer="3" from-port="0" to-layer="1" to-port="1"/>'
    )
    text = text.replace(b"</layers><edges>", constant.encode()).replace(
        b'from-port="1" to-layer="2"', b'from-port="2" to-layer="2"'
    )
    both = b'<port id="0"/><port id="1"/></input><output>' + "".join(ports[: last + 1]).encode() + b"</output>"
    old = b'<port id="0"/></input><output><port id="1" precision="FP32"/></output>'
    assert text.count(old) == 1
    model = read(text.replace(old, both), np.array(3, np.int32).tobytes())
    layer = model.graph.layer(1)
    facts = {
        Source(0, 0): Fact(element_type("f32"), parse_shape("1,3,8,8")),
        Source(3, 0): Fact(element_type("i32"), ()),
    }
    found = LayerOracle(client)(model, model.graph, layer, facts)
    assert [(fact.dtype.name, format_shape(fact.shape)) for fact in found] == [("f32", "1,3,8,8"), ("i32", "1,3,8,8")][
        : last + 1
    ]
