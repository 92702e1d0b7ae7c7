"""The reference executor: a model, or one of its layers, in numpy alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import UnsupportedError, UsageError
from ir_tools.graph import Graph, Layer, Located, Model, Source
from ir_tools.inputs import checked_inputs
from ir_tools.ops import Array, Attrs, Op, Violation, control_flow, find_op
from ir_tools.types import ElementType, element_type
from ir_tools.weights import values

__all__ = [
    "Engine",
    "Execution",
    "Fallback",
    "LayerRun",
    "Precision",
    "Step",
    "has_kernel",
    "run",
    "run_layer",
    "run_one",
]

Engine = Literal["reference", "runtime"]
Precision = Literal["as written", "f32", "f64"]
"""Every float in its own type, or all of them in f32, as the CPU plugin computes, or in f64, the gold answer."""

STRUCTURE = frozenset({"Parameter", "Const", "Result"})
"""The layers that the executor handles itself: they move tensors and compute nothing."""


ROUNDING: Mapping[str | None, float] = {"FP16": 2e-3, "BF16": 1.6e-2}
LEAST_ROUNDING = 1e-5
"""Errors that tensors of a type gather on the way, relative to their largest magnitude; f32 and wider: the latter.

Some ten times what a convolution leaves in f32. In f16 and bf16 the runtime rounds what it computes of constants before
it computes the rest in f32; what comes of that is within the tolerance of a comparison, which stands here.
"""


class Fallback(Protocol):
    """Runs one layer for which the reference has no kernel: the runtime, as a rule."""

    def __call__(self, model: Model, graph: Graph, layer: Layer, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs of a layer of `graph` on given arrays, in the order of its ports."""
        ...


@dataclass(frozen=True, slots=True)
class LayerRun:
    """One layer's outputs; `undefined[i]` says where no input element decides output i (None: nowhere)."""

    outputs: tuple[Array, ...]
    undefined: tuple[npt.NDArray[np.bool_] | None, ...]


@dataclass(slots=True)
class Step:
    """One layer of the main graph that has run.

    Attributes:
        layer: the layer; no Parameter, Const or Result.
        outputs: of its ports. Whoever walks the steps may put others in their place: the layers after it read those.
        undefined: as of `LayerRun`.
        engine: who computed it.
    """

    layer: Layer
    outputs: list[Array]
    undefined: tuple[npt.NDArray[np.bool_] | None, ...]
    engine: Engine


def run(
    model: Model,
    inputs: Mapping[str, Array],
    *,
    precision: Precision = "as written",
    fallback: Fallback | None = None,
    advance: Callable[[], None] | None = None,
) -> dict[str, Array]:
    """One inference: arrays in and out by tensor name or layer name.

    A tensor is freed as soon as its last reader ran.

    Args:
        model: the model.
        inputs: an array for every input.
        precision: of the floats, constants and inputs included; outputs come in it, too.
        fallback: runs the layers without a kernel.
        advance: called after each layer, for a progress bar.

    Raises:
        UnsupportedError: layers without a kernel, all of them named before anything runs; never with a `fallback`.
        UsageError: an input that is missing, unknown, or of the wrong type or shape.
        GraphError: the layers feed each other in a circle.
    """
    execution = Execution(model, precision, fallback)
    for _ in execution.steps(inputs):
        if advance is not None:
            advance()
    return execution.results


def run_one(
    model: Model,
    located: Located,
    arrays: Mapping[int, Array],
    *,
    precision: Precision = "as written",
    fallback: Fallback | None = None,
) -> Step:
    """One layer of a model, bodies included, on given arrays by input port.

    Raises:
        UnsupportedError: there is no kernel and no fallback.
        UsageError: its attributes have no meaning.
        ShapeError: its attributes do not fit the inputs.
    """
    execution = Execution(model, precision, fallback)
    return execution.layer(
        located.graph, located.layer, {port: execution.cast(array) for port, array in arrays.items()}
    )


class Execution:
    """One inference of one model, layer by layer; `results` holds its outputs when the last step is done."""

    def __init__(
        self,
        model: Model,
        precision: Precision = "as written",
        fallback: Fallback | None = None,
        *,
        torn: bool = False,
    ) -> None:
        """As for `run`; with `torn`, the steps count as undefined what errors of rounding decide."""
        self.torn = torn
        self.model = model
        self.floats = None if precision == "as written" else element_type(precision)
        self.fallback = fallback
        self.results: dict[str, Array] = {}

    def steps(self, inputs: Mapping[str, Array]) -> Iterator[Step]:
        """The layers, in the order of execution. Raises as `run`."""
        if self.fallback is None:
            _require_kernels(self.model)
        _keep_freed_memory()
        fed = checked_inputs(self.model, inputs)
        given = {endpoint.layer.id: fed[endpoint.name] for endpoint in self.model.inputs}
        found: dict[int, Array] = {}
        yield from self._graph(self.model.graph, given, found)
        self.results = {endpoint.name: found[endpoint.layer.id] for endpoint in self.model.outputs}

    def _graph(self, graph: Graph, given: Mapping[int, Array], found: dict[int, Array]) -> Iterator[Step]:
        """Run a graph or a body: arrays by Parameter in, arrays by Result into `found`."""
        tensors: dict[Source, Array] = {}
        unread = _reader_counts(graph)
        for layer in graph.ordered():
            arrays = _inputs(graph, layer, tensors, unread)
            if layer.type == "Result":
                found[layer.id] = next(iter(arrays.values()))
                continue
            outputs: Sequence[Array]
            if layer.type == "Parameter":
                outputs = (self.cast(given[layer.id]),)
            elif layer.type == "Const":
                outputs = (self.cast(values(layer.raw, self.model.weights)),)
            else:
                lean = not any(unread.get(Source(layer.id, port.id)) for port in layer.outputs[1:])
                step = self.layer(graph, layer, arrays, lean=lean)
                arrays.clear()
                yield step
                outputs = step.outputs
            for port, array in zip(layer.outputs, outputs, strict=False):
                if unread.get(Source(layer.id, port.id)):
                    tensors[Source(layer.id, port.id)] = array

    def layer(self, graph: Graph, layer: Layer, arrays: Mapping[int, Array], *, lean: bool = False) -> Step:
        """One layer on given arrays by input port."""
        if self.fallback is not None and not has_kernel(layer):
            outputs = self.fallback(self.model, graph, layer, tuple(arrays.values()))
            return Step(layer, [*map(self.cast, outputs)], (None,) * len(outputs), "runtime")
        if layer.bodies:
            outputs = self._bodies(layer, arrays)
            return Step(layer, [*outputs], (None,) * len(outputs), "reference")
        done = run_layer(layer, tuple(arrays.values()), lean=lean, floats=self.floats, torn=self.torn)
        return Step(layer, [*map(self.cast, done.outputs)], done.undefined, "reference")

    def _bodies(self, layer: Layer, arrays: Mapping[int, Array]) -> tuple[Array, ...]:
        def execute(body: str, given: Mapping[int, Array]) -> dict[int, Array]:
            found: dict[int, Array] = {}
            for _ in self._graph(layer.bodies[body], given, found):
                pass
            return found

        outputs = control_flow.KERNELS[layer.type.lower()](control_flow.port_maps(layer), arrays, execute)
        return tuple(outputs[port.id] for port in layer.outputs)

    def cast(self, array: Array) -> Array:
        """The array in the precision of the run; the floats of ml_dtypes have kind V."""
        if self.floats is None or array.dtype.kind not in "fV":
            return array
        return array.astype(self.floats.dtype, copy=False)


def _inputs(graph: Graph, layer: Layer, tensors: dict[Source, Array], unread: dict[Source, int]) -> dict[int, Array]:
    """What a layer reads, by input port; tensors that nobody reads any more are dropped."""
    sources = graph.sources(layer.id)
    arrays = {port.id: tensors[sources[port.id]] for port in layer.inputs if port.id in sources}
    for source in sources.values():
        unread[source] -= 1
        if not unread[source]:
            del tensors[source]
    return arrays


def run_layer(
    layer: Layer,
    inputs: Sequence[Array],
    *,
    lean: bool = False,
    floats: ElementType | None = None,
    torn: bool = False,
) -> LayerRun:
    """The outputs of one layer on given arrays, in the order of its ports; with `lean` perhaps only the first.

    `floats`: stands for every float type that the attributes name. `torn`: what errors of rounding in the inputs decide
    counts as undefined, too.

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
    if floats is not None:
        attrs = Attrs({name: floats if _is_float(value) else value for name, value in attrs.items()})
    with np.errstate(all="ignore"):
        outputs = (op.lean if lean and op.lean else op.kernel)(attrs, inputs)
        undefined = op.undefined(attrs, inputs) if op.undefined else None
        if torn and op.torn:
            error = ROUNDING.get(layer.outputs[0].precision, LEAST_ROUNDING)
            undefined = op.torn(attrs, inputs, error)
    return LayerRun(outputs, (undefined,) * len(outputs))


def _is_float(value: object) -> bool:
    return isinstance(value, ElementType) and value.is_float


def without_kernel(model: Model) -> list[Located]:
    """The layers that the reference cannot run itself; a layer with bodies stands for those in it."""
    return [Located(layer.name, layer, model.graph) for layer in model.graph.layers() if not has_kernel(layer)]


@cache
def _keep_freed_memory() -> None:
    """Have glibc keep some freed memory (64 MiB), where it would fetch fresh pages for the tensors of every layer.

    It keeps twice what the largest array took that was ever freed, up to 32 MiB. This one is never written to, and so
    takes nothing.
    """
    np.empty((32 << 20) - (64 << 10), np.uint8)


def _require_kernels(model: Model) -> None:
    missing = [place for place in model.walk() if not place.layer.bodies and not has_kernel(place.layer)]
    if not missing:
        return
    kinds = sorted({f"{layer.type} {layer.version}" for _, layer, _ in missing})
    raise UnsupportedError(
        f"the reference has no kernel yet for {', '.join(kinds)} ({len(missing)} layers, the first is"
        f" '{missing[0].path}'); run the model with the runtime engine",
        [_unsupported(model, place) for place in missing],
    )


def has_kernel(layer: Layer) -> bool:
    """Whether the reference can run the layer, and all layers of its bodies."""
    if layer.type in STRUCTURE:
        return True
    if layer.bodies:
        inner = (inner for body in layer.bodies.values() for inner in body.layers())
        return layer.type.lower() in control_flow.KERNELS and all(map(has_kernel, inner))
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
