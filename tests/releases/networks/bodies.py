"""Blocks with bodies, with states, or with a second input."""

from collections.abc import Sequence
from copy import copy

import numpy as np

from ir_tools.builder import Builder
from ir_tools.graph import Graph, Layer, Source
from tests.releases.networks.anything import activation
from tests.releases.networks.network import BLOCKS, IMAGE, KINDS, Network, block


def inside(net: Network, x: Source) -> tuple[Network, Source]:
    """Return a body in the making, and its input, which has the sizes of a tensor outside."""
    inner = copy(net)
    inner.builder = Builder(net.builder.model, graph=Graph(), opset=net.builder.opset)
    inner.fed = {name: np.zeros(1) for name in ("memory", "other", "choice")}
    sizes = [str(dim) for dim in net.builder.fact(x).shape or ()]
    return inner, inner.builder.parameter("part", ",".join(sizes))


def changed(net: Network, x: Source) -> Source:
    """Return what one or two blocks make of a tensor, of the same sizes."""
    kind = KINDS[len(net.sizes(x))]
    found = x
    for _ in range(net.one(1, 2)):
        found = net.one(*BLOCKS[kind])(net, found)
    return found if net.builder.fact(found).shape == net.builder.fact(x).shape else activation(net, x)


def added(
    net: Network, type: str, version: int, sources: Sequence[Source], like: Source, bodies: dict[str, Graph]
) -> tuple[Layer, dict[int, Source]]:
    """Make a layer with bodies, whose output is like a tensor."""
    fact = net.builder.fact(like)
    made, feeds = net.builder.make(type, type, version, {}, sources, [fact])
    made.bodies.update(bodies)
    return made, feeds


@block("rows", "image")
def either(net: Network, x: Source) -> Source:
    """Compute one of two branches, which an input or the data choose."""
    if "choice" not in net.fed and net.chance(0.5):
        net.fed["choice"] = np.array(net.chance(0.5))
        choice = net.builder.parameter("choice", "", "boolean")
    else:
        axes = net.whole(*range(len(net.sizes(x))))
        choice = net.call("Greater", net.call("ReduceMean", x, axes, keep_dims=False), net.floats(0))
    bodies, mapping = dict[str, Graph](), {}
    for name in ("then", "else"):
        inner, part = inside(net, x)
        result = inner.builder.result(changed(inner, part))
        bodies[f"{name}_body"], mapping[f"{name}_port_map"] = inner.builder.graph, (part.layer, result.id)
    made, feeds = added(net, "If", 8, (choice, x), x, bodies)
    for name, (part_id, result_id) in mapping.items():
        made.content.mapping[name] = [
            ("input", {"external_port_id": "1", "internal_layer_id": str(part_id)}),
            ("output", {"external_port_id": str(made.outputs[0].id), "internal_layer_id": str(result_id)}),
        ]
    net.builder.graph.add(made, feeds)
    return Source(made.id, made.outputs[0].id)


@block("rows", "image")
def again_and_again(net: Network, x: Source) -> Source:
    """Change a tensor two or three times by a Loop."""
    inner, part = inside(net, x)
    result = inner.builder.result(changed(inner, part))
    goes_on = inner.builder.result(inner.builder.constant(np.array(True)))
    count = net.long(net.one(2, 3))
    sources = (count, net.builder.constant(np.array(True)), x)
    made, feeds = added(net, "Loop", 5, sources, x, {"body": inner.builder.graph})
    made.content.mapping = {
        "port_map": [
            ("input", {"external_port_id": "2", "internal_layer_id": str(part.layer)}),
            ("output", {"external_port_id": str(made.outputs[0].id), "internal_layer_id": str(result.id)}),
            (
                "output",
                {"external_port_id": "-1", "internal_layer_id": str(goes_on.id), "purpose": "execution_condition"},
            ),
        ],
        "back_edges": [("edge", {"from-layer": str(result.id), "to-layer": str(part.layer)})],
    }
    net.builder.graph.add(made, feeds)
    return Source(made.id, made.outputs[0].id)


@block("rows")
def each_row(net: Network, x: Source) -> Source:
    """Change each row, from the first to the last or back, with a sum of those before."""
    inner = copy(net)
    inner.builder = Builder(net.builder.model, graph=Graph(), opset=net.builder.opset)
    count, _, width = [str(dim) for dim in net.builder.fact(x).shape or ()]
    part, state = (inner.builder.parameter(name, f"{count},1,{width}") for name in ("part", "state"))
    total = inner.call("Add", inner.call("Tanh", part), inner.call("Multiply", state, inner.floats([0.5])))
    row, following = inner.builder.result(activation(inner, total)), inner.builder.result(total)
    size = net.call("Concat", net.size_of(x, 0), net.long([1, int(width)]), axis=0)
    start = net.call("Broadcast", net.floats(0), size, mode="numpy")
    made, feeds = added(net, "TensorIterator", 1, (x, start), x, {"body": inner.builder.graph})
    first, last, step = net.one(("0", "-1", "1"), ("-1", "0", "-1"))
    cut = {"axis": "1", "start": first, "end": last, "stride": step, "part_size": "1"}
    made.content.mapping = {
        "port_map": [
            ("input", {"external_port_id": "0", "internal_layer_id": str(part.layer), **cut}),
            ("input", {"external_port_id": "1", "internal_layer_id": str(state.layer)}),
            ("output", {"external_port_id": str(made.outputs[0].id), "internal_layer_id": str(row.id), **cut}),
        ],
        "back_edges": [("edge", {"from-layer": str(following.id), "to-layer": str(state.layer)})],
    }
    net.builder.graph.add(made, feeds)
    return Source(made.id, made.outputs[0].id)


@block("rows")
def kept(net: Network, x: Source) -> Source:
    """Attend to the rows of earlier calls and to these, which a state keeps."""
    width = net.channels(x, -1)
    size = net.call("Concat", net.size_of(x, 0), net.long([0, width]), axis=0)
    name = f"state{len(net.blocks)}"
    shape = {"variable_id": name, "variable_type": "f32", "variable_shape": f"?,?,{width}"}
    start = net.call("Broadcast", net.floats(0), size, mode="numpy")
    past = net.builder.outputs("ReadValue", start, **shape)[0]
    rows = net.call("Concat", past, x, axis=1)
    net.call("Assign", rows, variable_id=name)
    scores = net.call("SoftMax", net.product(x, rows, transposed=True), axis=-1)
    return net.product(scores, rows)


@block("rows", "image")
def second(net: Network, x: Source) -> Source:
    """Join a tensor with a second input."""
    sizes = [size for size in net.sizes(x) if size is not None]
    if "other" in net.fed or len(sizes) < len(net.sizes(x)):
        return x
    other = net.input("other", sizes, (0, 2, 3) if len(sizes) == IMAGE else (0, 1), net.one("f32", "f32", "f16"))
    other = net.call("Convert", other, destination_type="f32")
    kind = net.one("Add", "Multiply", "Concat")
    return net.call(kind, x, other, axis=1) if kind == "Concat" else net.call(kind, *net.one((x, other), (other, x)))
