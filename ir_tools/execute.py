"""The reference executor: a model, or one of its layers, in numpy alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import UnsupportedError, UsageError
from ir_tools.graph import Graph, Layer, Located, Model, Source
from ir_tools.inputs import checked_inputs
from ir_tools.ops import Array, Op, Violation, control_flow, find_op
from ir_tools.weights import Weights, constant

__all__ = ["LayerRun", "run", "run_layer"]

STRUCTURE = frozenset({"Parameter", "Const", "Result"})
"""The layers that the executor handles itself: they move tensors and compute nothing."""


@dataclass(frozen=True, slots=True)
class LayerRun:
    """One layer's outputs; `undefined[i]` says where no input element decides output i (None: nowhere)."""

    outputs: tuple[Array, ...]
    undefined: tuple[npt.NDArray[np.bool_] | None, ...]


def run(model: Model, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """One inference: arrays in and out by tensor name or layer name.

    A tensor is freed as soon as its last reader ran.

    Raises:
        UnsupportedError: layers without a kernel, all of them named before anything runs.
        UsageError: an input that is missing, unknown, or of the wrong type or shape.
        GraphError: the layers feed each other in a circle.
    """
    _require_kernels(model)
    fed = checked_inputs(model, inputs)
    given = {endpoint.layer.id: fed[endpoint.name] for endpoint in model.inputs}
    found = _run_graph(model.graph, given, model.weights)
    return {endpoint.name: found[endpoint.layer.id] for endpoint in model.outputs}


def _run_graph(graph: Graph, given: Mapping[int, Array], weights: Weights) -> dict[int, Array]:
    """Run a graph or a body: arrays by Parameter, arrays by Result."""
    tensors: dict[Source, Array] = {}
    found: dict[int, Array] = {}
    unread = _reader_counts(graph)
    for layer in graph.ordered():
        arrays = _inputs(graph, layer, tensors, unread)
        if layer.type == "Parameter":
            outputs: Sequence[Array] = (given[layer.id],)
        elif layer.type == "Const":
            outputs = (constant(layer.raw, weights),)
        elif layer.type == "Result":
            found[layer.id] = next(iter(arrays.values()))
            continue
        elif layer.bodies:
            outputs = _run_bodies(layer, arrays, weights)
        else:
            lean = not any(unread.get(Source(layer.id, port.id)) for port in layer.outputs[1:])
            outputs = run_layer(layer, tuple(arrays.values()), lean=lean).outputs
        for port, array in zip(layer.outputs, outputs, strict=False):
            if unread.get(Source(layer.id, port.id)):
                tensors[Source(layer.id, port.id)] = array
    return found


def _inputs(graph: Graph, layer: Layer, tensors: dict[Source, Array], unread: dict[Source, int]) -> dict[int, Array]:
    """What a layer reads, by input port; tensors that nobody reads any more are dropped."""
    sources = graph.sources(layer.id)
    arrays = {port.id: tensors[sources[port.id]] for port in layer.inputs if port.id in sources}
    for source in sources.values():
        unread[source] -= 1
        if not unread[source]:
            del tensors[source]
    return arrays


def _run_bodies(layer: Layer, arrays: Mapping[int, Array], weights: Weights) -> list[Array]:
    def execute(body: str, given: Mapping[int, Array]) -> dict[int, Array]:
        return _run_graph(layer.bodies[body], given, weights)

    outputs = control_flow.KERNELS[layer.type.lower()](control_flow.port_maps(layer), arrays, execute)
    return [outputs[port.id] for port in layer.outputs]


def run_layer(layer: Layer, inputs: Sequence[Array], *, lean: bool = False) -> LayerRun:
    """The outputs of one layer on given arrays, in the order of its ports; with `lean` perhaps only the first.

    Raises:
        UnsupportedError: the reference has no kernel for the layer.
        UsageError: its attributes have no meaning.
        ShapeError: its attributes do not fit the inputs.
    """
    op = find_op(layer.type, layer.version)
    if op is None or op.kernel is None:
        raise UnsupportedError(f"the reference has no kernel for '{layer.name}' ({layer.type} {layer.version})")
    violations: list[Violation] = []
    attrs = op.read(layer.raw, violations)
    if attrs is None:
        faults = "; ".join(f"{fault.attribute} {fault.message}" for fault in violations)
        raise UsageError(f"layer '{layer.name}' ({op}): {faults}")
    with np.errstate(all="ignore"):
        outputs = (op.lean if lean and op.lean else op.kernel)(attrs, inputs)
        undefined = op.undefined(attrs, inputs) if op.undefined else None
    return LayerRun(outputs, (undefined,) * len(outputs))


def _require_kernels(model: Model) -> None:
    missing = [place for place in model.walk() if not _has_kernel(place.layer)]
    if not missing:
        return
    kinds = sorted({f"{layer.type} {layer.version}" for _, layer, _ in missing})
    raise UnsupportedError(
        f"the reference has no kernel yet for {', '.join(kinds)} ({len(missing)} layers, the first is"
        f" '{missing[0].path}'); run the model with the runtime engine",
        [_unsupported(model, place) for place in missing],
    )


def _has_kernel(layer: Layer) -> bool:
    if layer.type in STRUCTURE:
        return True
    if layer.bodies:
        return layer.type.lower() in control_flow.KERNELS
    op: Op | None = find_op(layer.type, layer.version)
    return op is not None and op.kernel is not None


def _unsupported(model: Model, place: Located) -> Diagnostic:
    path, layer, graph = place
    return Diagnostic(
        code="RUN001",
        severity=Severity.ERROR,
        message=f"the reference has no kernel for {layer.type} {layer.version}",
        file=str(model.path) if model.path else None,
        line=model.line_of(graph, layer.id),
        layer_id=layer.id,
        layer_name=layer.name,
        path=path,
        help="run the model with the runtime engine",
    )


def _reader_counts(graph: Graph) -> dict[Source, int]:
    counts: dict[Source, int] = {}
    for maker, _, (port, _) in graph.edges(keys=True):
        counts[Source(maker, port)] = counts.get(Source(maker, port), 0) + 1
    return counts
