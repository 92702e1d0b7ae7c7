"""Bodies on the runtime: each iteration runs as a model of its own, since no runtime hands out tensors inside."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ir_tools.comparison._tensors import SILENT, inputs_of, labels_of, living
from ir_tools.graph import Graph, Layer, Model
from ir_tools.inputs import parameter_fact
from ir_tools.ops import Array, Role, find_op, role_of
from ir_tools.ops.bodies import port_maps
from ir_tools.runtime.client import RuntimeClient, Tap, sources
from ir_tools.runtime.setting import Setting
from ir_tools.types import Dim, format_shape, holds

__all__ = ["BodyRunner", "Given", "Visit", "alone", "into_body"]

Given = Mapping[int, Array]
"""What a body is given in one iteration, by Parameter."""
Visit = Callable[[str, Graph, Given, Mapping[Tap, Array]], None]
"""Takes one iteration: the name of the body, the body, what it was given, and its tensors by label and output."""


@dataclass(frozen=True, slots=True)
class BodyRunner:
    """Runs bodies on the runtime and takes their tensors out."""

    client: RuntimeClient
    setting: Setting

    def run(self, model: Model, layer: Layer, arrays: Mapping[int, Array], visit: Visit) -> None:
        """Run every iteration of a TensorIterator, Loop or If, as often as it takes.

        Args:
            model: with the constants.
            layer: the layer with bodies.
            arrays: what it reads, by input port.
            visit: takes each iteration.

        Raises:
            RuntimeFailure: the runtime does not run a body by itself.
            ShapeError: the port map does not fit the arrays.
        """

        def execute(name: str, given: Given) -> dict[int, Array]:
            graph = layer.bodies[name]
            tensors = self.tensors(model, graph, given)
            visit(name, graph, given, tensors)
            labels = labels_of(graph)
            ends = [end for end in graph.layers() if role_of(end) is Role.RESULT]
            return {end.id: next(iter(inputs_of(model, graph, end, tensors, labels).values())) for end in ends}

        op = find_op(layer.type, layer.version)
        assert op is not None
        assert op.bodies is not None
        op.bodies.kernel(port_maps(layer), arrays, execute)

    def tensors(self, model: Model, graph: Graph, given: Given) -> dict[Tap, Array]:
        """Return all tensors of a body, by label and output, given arrays for its Parameters."""
        body, fed = alone(model, graph, given)
        labels, alive = labels_of(graph), living(graph)
        taps = [
            Tap(labels[layer.id], index)
            for layer in graph.layers()
            if layer.id in alive and role_of(layer) not in SILENT - {Role.PARAMETER}
            for index in range(len(layer.outputs))
        ]
        with sources(body) as (text, weights):
            found = self.client.infer(
                text,
                weights,
                fed,
                taps=taps,
                wide=self.setting.wide,
                device=self.setting.device,
                config=self.setting.tapped,
                keep=True,
            )
        return found.taps


def into_body(graph: Graph, path: str) -> tuple[Layer, str, str] | None:
    """Return the layer and body that a path leads into, and the rest of it; None if it ends in this graph."""
    labels = labels_of(graph)
    for layer in graph.layers():
        for body in layer.bodies:
            start = f"{labels[layer.id]}/{body}/"
            if path.startswith(start):
                return layer, body, path[len(start) :]
    return None


def alone(model: Model, graph: Graph, given: Given) -> tuple[Model, dict[str, Array]]:
    """Return a body as a model of its own, and its inputs by name; `model` holds the constants."""
    body = Model(graph.clone(), name="body", version=11, weights=model.weights, origin=None, path=None)
    return body, {end.name: _fitted(end.layer, given[end.layer.id]) for end in body.inputs if end.layer.id in given}


def _fitted(parameter: Layer, array: Array) -> Array:
    """Return the array in the Parameter's type; the Parameter takes any size if the array's differ from the record."""
    dtype, shape = parameter_fact(parameter)
    if dtype.dtype is not None and array.dtype.kind != "O":
        array = array.astype(dtype.dtype, copy=False)
    if shape is not None and not shape and array.size == 1:
        return array.reshape(())
    if array.ndim == 0 and shape == (Dim.of(1),):
        return array.reshape(1)
    if shape is None or not holds(shape, array.shape):
        parameter.raw["shape"] = format_shape((Dim(),) * array.ndim)
        parameter.outputs[0].dims = (-1,) * array.ndim
    return np.ascontiguousarray(array) if array.ndim else array
