"""Models with unusual names, element types, sizes and stamps, several Results of a tensor, bodies and other data.

Each is drawn by a seed, with this project's own means alone. `recorded.json` here and in `tests/rules/` hold what
becomes of them: a change of the models needs `python -m tests.made.recorded` and `python -m tests.rules.recorded`.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ir_tools.builder import Builder
from ir_tools.errors import IrToolsError
from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.ops import find_op
from ir_tools.types import element_type
from ir_tools.types.packing import PackedArray, in_element_type, pack

KINDS = ("f32", "f32", "f32", "f16", "f64", "i64", "u32", "u8", "bf16", "boolean")
SHAPES = ("1,4,6,6", "1,4,6,6", "2,4", "?,4,6,6", "1..3,4,?,6", " [1,4,6,6] ", "...", "4", "")
STORED = ("i4", "u4", "u1", "nf4", "f8e4m3", "i8", "f16")
Draw = random.Random


def model_of(seed: int) -> Model:
    """A model of about ten layers; a part of the seeds has sizes and element types that every release reads."""
    draw = Draw(seed)
    plain = seed % 2 == 0
    builder = Builder(name=f"model{seed}", opset=draw.choice((4, 8, 13, 15)))
    kinds, shapes = (KINDS[:3], SHAPES[:2]) if plain else (KINDS, SHAPES)
    tensors = [
        builder.parameter(f"x{number}", draw.choice(shapes), draw.choice(kinds)) for number in range(draw.randint(1, 3))
    ]
    for _ in range(draw.randint(3, 8)):
        try:
            tensors += draw.choice(LAYERS)(builder, draw, tensors)
        except IrToolsError:
            continue
    _end(builder, draw, tensors)
    _call(builder.graph, draw)
    builder.model.version = draw.choice((10, 11, 11))
    return builder.model


def _end(builder: Builder, draw: Draw, tensors: Sequence[Source]) -> None:
    """Results: of what nothing reads, and of some others, of which some have two."""
    graph = builder.graph
    unread = [one for one in tensors if not graph.consumers(*one)]
    for number, source in enumerate(dict.fromkeys([*unread, *draw.sample(tensors, 1)])):
        layer = builder.result(source, draw.choice((None, f"y{number}", "sum")))
        if draw.random() < 0.2:
            layer.tag["output_names"] = f"out{number}"
        if draw.random() < 0.2:
            builder.result(source, draw.choice((None, "again")))


def _call(graph: Graph, draw: Draw) -> None:
    """Names that two layers have, tensors without names, other data, later stamps, wrong sizes, inputs without type."""
    layers, untyped = [*graph.layers()], draw.random() < 0.2
    for layer in layers:
        if draw.random() < 0.1:
            layer.tag["name"] = draw.choice(layers).name
        if draw.random() < 0.1:
            layer.rt_info.extend([{"name": "mine", "value": "1"}, {"name": "old", "version": "0", "value": "2"}])
        op, later = find_op(layer.type, layer.version), f"opset{draw.randint(1, 15)}"
        if op is not None and find_op(layer.type, later) is op:
            layer.tag["version"] = later
        for port in layer.inputs:
            if draw.random() < 0.04:
                port.dims = draw.choice((port.dims[1:], tuple(size + 1 for size in port.dims), (0,) * len(port.dims)))
            if untyped or draw.random() < 0.06:
                port.precision = None
        for port in layer.outputs:
            if draw.random() < 0.2:
                port.names = draw.choice(((), (f"{layer.name}_1", f"{layer.name}_2"), (draw.choice(layers).name,)))


# --- layers -----------------------------------------------------------------------------------------------------


def _operation(type: str, *more: Mapping[str, object]) -> Callable[[Builder, Draw, Sequence[Source]], Sequence[Source]]:
    """A layer of one input; `more`: attributes, one of which is drawn, with further inputs under `with`."""

    def add(builder: Builder, draw: Draw, tensors: Sequence[Source]) -> Sequence[Source]:
        attributes: dict[str, Any] = dict(draw.choice(more)) if more else {}
        others = attributes.pop("with", ())
        return builder.outputs(type, draw.choice(tensors), *others, **attributes)

    return add


def _pair(builder: Builder, draw: Draw, tensors: Sequence[Source]) -> Sequence[Source]:
    return [builder.call(draw.choice(("Add", "Multiply", "Maximum")), draw.choice(tensors), draw.choice(tensors))]


def _joined(builder: Builder, draw: Draw, tensors: Sequence[Source]) -> Sequence[Source]:
    source = draw.choice(tensors)
    return [builder.call("Concat", source, source, axis=draw.choice((-1, 0, 1)))]


def _listed(builder: Builder, draw: Draw, tensors: Sequence[Source]) -> Sequence[Source]:
    """Sizes of tensors, or none, joined along their last axis."""
    sizes = builder.call("ShapeOf", draw.choice(tensors), output_type="i64")
    end = draw.choice((np.array([2]), np.zeros(0, np.int64)))
    return [builder.call("Concat", sizes, end, axis=-1)]


def _stored(builder: Builder, draw: Draw, tensors: Sequence[Source]) -> Sequence[Source]:
    """A constant of a narrow type, converted once or twice, one of them added to a tensor."""
    kind, numbers = element_type(draw.choice(STORED)), np.array([0, 1, 1, 0], np.float32)
    if kind.packed:
        packed = in_element_type(numbers if not kind.is_integer else numbers.astype(np.int64), kind)
        assert isinstance(packed, PackedArray)
        held = builder.constant(pack(packed), "weights", kind, numbers.shape)
    else:
        held = builder.constant(numbers.astype(kind.dtype), "weights", kind)
    found = [builder.call("Convert", held, destination_type=draw.choice(("f32", "f16")))]
    if draw.random() < 0.3:
        found.append(builder.call("Convert", held, destination_type="f32"))
    if draw.random() < 0.2:
        found.append(builder.call("Unsqueeze", held, np.array([0])))
    return found


def _chosen(builder: Builder, draw: Draw, tensors: Sequence[Source]) -> Sequence[Source]:
    """An If whose branches compute something of a tensor."""
    data = draw.choice(tensors)
    record = builder.graph.layer(data.layer).port(data.port)
    condition = builder.parameter("flag", "", "boolean")
    bodies, rows = {}, {}
    fact = builder.fact(data)
    for branch, types in (("then", ("ReLU", "Round", "HSwish")), ("else", ("Abs", "Softmax"))):
        inner = Builder(builder.model, graph=Graph(), opset=builder.opset)
        shape = None if fact.shape is None else list(fact.shape)
        source = inner.parameter("x", shape, fact.dtype)
        end = inner.result(inner.call(draw.choice(types), source), "y")
        inner.graph.layer(source.layer).outputs[0].names = ()
        bodies[f"{branch}_body"] = inner.graph
        rows[f"{branch}_port_map"] = [
            ("input", {"external_port_id": "1", "internal_layer_id": str(source.layer)}),
            ("output", {"external_port_id": "2", "internal_layer_id": str(end.id)}),
        ]
    inputs = [Port(0, "BOOL", ()), Port(1, record.precision, record.dims)]
    content = LayerContent({}, inputs, [Port(2, record.precision, record.dims)], mapping=rows)
    tag = {"name": builder.graph.new_name("choice"), "type": "If", "version": "opset8"}
    layer = Layer(builder.graph.new_id(), tag, content, bodies=bodies)
    builder.graph.add(layer, {0: condition, 1: data})
    return [Source(layer.id, 2)]


AXES = {"with": (np.array([1]),)}
KERNEL = {"strides": (2, 2), "kernel": (3, 3), "pads_begin": (0, 0), "pads_end": (0, 0)}
LAYERS: Sequence[Callable[[Builder, Draw, Sequence[Source]], Sequence[Source]]] = (
    _operation("ReLU"),
    _operation("HSwish"),
    _operation("Gelu", {}, {"approximation_mode": "TANH"}),
    _operation("Swish"),
    _operation("Softmax", {"axis": -1}, {"axis": 1}),
    _operation("LogSoftmax", {"axis": -1}, {"axis": 1}),
    _operation("Convert", {"destination_type": "f16"}, {"destination_type": "i64"}, {"destination_type": "boolean"}),
    _operation("Split", {"num_splits": 2, "with": (np.array(1),)}, {"num_splits": 3, "with": (np.array(-1),)}),
    _operation(
        "MVN", {"eps": 0.01, "eps_mode": "inside_sqrt", "normalize_variance": True, "with": (np.array([2, 3]),)}
    ),
    _operation("AvgPool", *({**KERNEL, "exclude_pad": True, "rounding_type": one} for one in ("floor", "ceil_torch"))),
    _operation("MaxPool", KERNEL, {**KERNEL, "rounding_type": "ceil"}, {**KERNEL, "rounding_type": "ceil_torch"}),
    _operation(
        "ReduceL2", {"keep_dims": True, "with": (np.array([1]),)}, {"keep_dims": False, "with": (np.array([1]),)}
    ),
    _operation("Squeeze", {"with": (np.array([0]),)}),
    _operation("TopK", {"axis": 1, "mode": "max", "sort": "value", "with": (np.array(2),)}),
    _operation("ShapeOf", {"output_type": "i64"}, {"output_type": "i32"}),
    _pair,
    _joined,
    _listed,
    _stored,
    _stored,
    _chosen,
)
