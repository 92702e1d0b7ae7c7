"""A layer that runs in the body of a Loop."""

from collections.abc import Sequence

import numpy as np

from ir_tools.builder import Builder
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.ops.definition import Fact

__all__ = ["enclose"]

BESIDE = 2
"""How many inputs of a Loop are before those of its body: how often it runs, and whether."""


def enclose(model: Model, layer: Layer, loop: Layer, inputs: Sequence[Fact]) -> None:
    """Give a Loop a body that holds a layer alone.

    Args:
        model: the model of both.
        layer: the layer, whose bodies the new one shares.
        loop: a Loop without a body. Its inputs are a number of iterations, a condition, and those of the layer; its
            outputs are those of the layer.
        inputs: what the layer reads, from its first input on.
    """
    body = Builder(model, graph=Graph())
    given = [body.parameter(f"input{number}", fact.shape, fact.dtype) for number, fact in enumerate(inputs)]
    feeds = {port.id: source for port, source in zip(layer.inputs, given, strict=False)}
    inner = body.copy(layer, feeds, layer.name)
    inner.bodies.update(layer.bodies)
    goes_on = body.result(body.constant(np.array(True)))
    results = [body.result(Source(inner.id, port.id)) for port in inner.outputs]
    loop.bodies["body"] = body.graph
    rows = [("input", port.id, source.layer) for port, source in zip(loop.inputs[BESIDE:], given, strict=True)]
    rows += [("output", port.id, result.id) for port, result in zip(loop.outputs, results, strict=True)]
    ports = [(side, {"external_port_id": str(port), "internal_layer_id": str(number)}) for side, port, number in rows]
    condition = {
        "external_port_id": "-1",
        "internal_layer_id": str(goes_on.id),
        "purpose": "execution_condition",
    }
    loop.content.mapping = {"port_map": [*ports, ("output", condition)], "back_edges": []}
