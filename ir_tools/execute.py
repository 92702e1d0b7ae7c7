"""The reference executor: a model, or one of its layers, in numpy alone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
import numpy.typing as npt

from ir_tools.arguments import check_word
from ir_tools.diagnostics import Diagnostic
from ir_tools.display import plural
from ir_tools.errors import ShapeError, UnsupportedError, UsageError
from ir_tools.execution_order import PlannedLayer, execution_order
from ir_tools.format.legacy import Centring
from ir_tools.graph import Graph, Layer, Located, Model
from ir_tools.inputs import checked_inputs
from ir_tools.known_differences import KnownDifference, find
from ir_tools.ops import Array, Attrs, Op, Role, Violation, find_op, role_of
from ir_tools.ops.bodies import port_maps
from ir_tools.ops.checks import check_ports, check_types, fact_of, require_known_kinds
from ir_tools.ops.records import bare_fact
from ir_tools.rules.running import NO_KERNEL
from ir_tools.states import checked_states, read_id, stored_id
from ir_tools.types import ElementType, element_type, precision_in_file, type_in_file
from ir_tools.types.packing import PackedArray, element_type_of, in_element_type
from ir_tools.weights import values

__all__ = [
    "Engine",
    "Execution",
    "Fallback",
    "LayerRun",
    "Precision",
    "Step",
    "has_kernel",
    "ill_conditioned",
    "run",
    "run_layer",
    "run_one",
]

Engine = Literal["reference", "runtime"]
Precision = Literal["as written", "f32", "f64"]
"""Every float in its own type, or all of them in f32, as the CPU plugin computes, or in f64, the gold answer."""

MOVED_BY_EXECUTOR = frozenset({Role.PARAMETER, Role.CONSTANT, Role.RESULT})
"""The layers that the executor handles itself: they move tensors and compute nothing."""


ROUNDING: Mapping[str | None, float] = {"FP16": 2e-3, "BF16": 1.6e-2}
MIN_ROUNDING = 1e-5
"""Errors that tensors of a type gather on the way, relative to their largest magnitude; f32 and wider: the latter.

Some ten times what a convolution leaves in f32. In f16 and bf16 the runtime rounds what it computes of constants before
it computes the rest in f32; what comes of that is within the tolerance of a comparison, which is here.
"""


class Fallback(Protocol):
    """Runs one layer for which the reference has no kernel: the runtime, as a rule."""

    def __call__(self, model: Model, graph: Graph, layer: Layer, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Return the outputs of a layer of `graph` on given arrays, in the order of its ports."""
        ...


@dataclass(frozen=True, slots=True)
class LayerRun:
    """One layer's outputs.

    Attributes:
        outputs: in the order of its ports.
        undefined: for each output, where no input element decides it, or an error of rounding does; None for nowhere.
        bounds: of the first output, the ends of what such errors make of it; None if they can make anything of it.
    """

    outputs: tuple[Array, ...]
    undefined: tuple[npt.NDArray[np.bool_] | None, ...]
    bounds: tuple[Array, Array] | None = None


@dataclass(slots=True)
class Step:
    """One layer of the main graph that has run.

    Attributes:
        layer: the layer; no Parameter, Const or Result.
        outputs: of its ports. Whoever walks the steps may put others in their place: the layers after it read those.
        undefined, bounds: as of `LayerRun`.
        engine: who computed it.
        known: in which ways the runtime is known to do otherwise with such a layer, where that was asked.
    """

    layer: Layer
    outputs: list[Array]
    undefined: tuple[npt.NDArray[np.bool_] | None, ...]
    engine: Engine
    known: tuple[KnownDifference, ...] = ()
    bounds: tuple[Array, Array] | None = None


def run(
    model: Model,
    inputs: Mapping[str, Array],
    *,
    precision: Precision = "as written",
    fallback: Fallback | None = None,
    advance: Callable[[], None] | None = None,
) -> dict[str, Array]:
    """Run one inference: arrays in and out by tensor name or layer name.

    A tensor is freed as soon as its last consumer ran.

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
    return Execution(model, precision, fallback).run(inputs, advance)


def run_one(
    model: Model,
    located: Located,
    arrays: Mapping[int, Array],
    *,
    precision: Precision = "as written",
    fallback: Fallback | None = None,
    states: Mapping[str, Array] | None = None,
    mask_rounding: bool = False,
) -> Step:
    """Run one layer of a model, bodies included, on given arrays by input port; the step lists known differences.

    `mask_rounding`: as of `Execution`.

    Raises:
        UnsupportedError: there is no kernel and no fallback.
        UsageError: its attributes have no meaning.
        ShapeError: its attributes do not fit the inputs.
    """
    execution = Execution(model, precision, fallback, mask_rounding=mask_rounding, explain=True, states=states)
    kinds = {port.id: precision_in_file(port.precision or "") for port in located.layer.inputs}
    given = {port: _of_type(kinds.get(port), execution.cast(array)) for port, array in arrays.items()}
    return execution.layer(located.graph, located.layer, given)


class Execution:
    """One inference of one model, layer by layer.

    Attributes:
        results: the outputs by name, when the last step is done.
        states: the values of variables by id: those before the inference, and when the last step is done, those after
            it. A variable without one has its initial value.
    """

    def __init__(
        self,
        model: Model,
        precision: Precision = "as written",
        fallback: Fallback | None = None,
        *,
        mask_rounding: bool = False,
        explain: bool = False,
        states: Mapping[str, Array] | None = None,
    ) -> None:
        """Prepare as for `run`; with `mask_rounding`, the steps count as undefined what errors of rounding decide.

        With either flag they list known differences, and what those leave unwritten is undefined, too.
        """
        self.mask_rounding = mask_rounding
        self.explain = explain or mask_rounding
        self.model = model
        check_word("precision", precision, get_args(Precision))
        self.floats = None if precision == "as written" else element_type(precision)
        self.fallback = fallback
        self.results: dict[str, Array] = {}
        self.states = checked_states(model, states or {}, self.floats)
        self._stored: dict[str, Array] = {}
        self._plans: dict[int, dict[str, _Plan]] = {}

    def run(self, inputs: Mapping[str, Array], advance: Callable[[], None] | None = None) -> dict[str, Array]:
        """Run all steps and return the outputs by name. Arguments and errors as of `run`."""
        _exhaust(self.steps(inputs), advance)
        return self.results

    def steps(self, inputs: Mapping[str, Array]) -> Iterator[Step]:
        """Yield the layers, in the order of execution. Raises as `run`."""
        if self.fallback is None:
            _require_kernels(self.model)
        _keep_freed_memory()
        fed, centred = checked_inputs(self.model, inputs), Centring(self.model)
        given = {endpoint.layer.id: centred(endpoint.layer.name, fed[endpoint.name]) for endpoint in self.model.inputs}
        found: dict[int, Array] = {}
        yield from self._graph(_Plan(self.model.graph), given, found)
        self.results = {endpoint.name: np.asarray(found[endpoint.layer.id]) for endpoint in self.model.outputs}
        self.states.update(self._stored)

    def _graph(self, plan: "_Plan", given: Mapping[int, Array], found: dict[int, Array]) -> Iterator[Step]:
        """Run a graph or a body: arrays by Parameter in, arrays by Result into `found`.

        No name here holds a tensor while a layer runs, so that one without a consumer is gone by then.
        """
        tensors: dict[tuple[int, int], Array] = {}
        for planned in plan.layers:
            arrays = [tensors[source] for source in planned.reads]
            for source in planned.freed:
                del tensors[source]
            role = role_of(planned.layer)
            if role is Role.RESULT:
                found[planned.layer.id] = arrays.pop()
            elif role is Role.PARAMETER:
                _keep(tensors, planned, [_of_parameter(planned.layer, self.cast(given[planned.layer.id]))])
            elif role is Role.CONSTANT:
                _keep(tensors, planned, [self._constant(plan, planned.layer)])
            else:
                step = self._step(plan, planned, arrays)
                arrays.clear()
                yield step
                _keep(tensors, planned, step.outputs)
                stored = stored_id(planned.layer)
                if stored is not None:
                    self._stored[stored] = step.outputs[0]
                del step

    def _constant(self, plan: "_Plan", layer: Layer) -> Array:
        """Return the value of a Const, which a body reads once for all iterations."""
        value = plan.constants.get(layer.id)
        if value is None:
            value = self.cast(values(layer.raw, self.model.weights))
            if plan.inside:
                plan.constants[layer.id] = value
        return value

    def _step(self, plan: "_Plan", planned: PlannedLayer, arrays: list[Array]) -> Step:
        """Run one layer of a plan."""
        layer = planned.layer
        held = self._held(layer)
        if held is not None:
            return held
        if layer.bodies or (self.fallback is not None and not has_kernel(layer)):
            return self.layer(plan.graph, layer, dict(zip(planned.ports, arrays, strict=True)))
        ready = plan.ready.get(layer.id)
        if ready is None:
            ready = _prepared(layer, self.floats)
            if plan.inside:
                plan.ready[layer.id] = ready
        known = self._known(plan.graph, ready, arrays, [source for source, _ in planned.reads])
        done = run_layer(layer, arrays, first_only=planned.first_only, mask_rounding=self.mask_rounding, ready=ready)
        return self._step_of(layer, done, known)

    def _held(self, layer: Layer) -> Step | None:
        """Return the step of a ReadValue whose variable has a value; None for any other layer."""
        value = self.states.get(read_id(layer) or "")
        return None if value is None else Step(layer, [value], (None,), "reference")

    def layer(self, graph: Graph, layer: Layer, arrays: Mapping[int, Array]) -> Step:
        """Run one layer on given arrays by input port."""
        held = self._held(layer)
        if held is not None:
            return held
        if self.fallback is not None and not has_kernel(layer):
            outputs = self.fallback(self.model, graph, layer, tuple(arrays.values()))
            return Step(layer, [*map(self.cast, outputs)], (None,) * len(outputs), "runtime")
        if layer.bodies:
            outputs = self._bodies(layer, arrays)
            return Step(layer, [*outputs], (None,) * len(outputs), "reference")
        ready = _prepared(layer, self.floats)
        sources = graph.sources(layer.id) if self.explain else {}
        known = self._known(
            graph, ready, [*arrays.values()], [sources[port].layer for port in arrays if port in sources]
        )
        done = run_layer(layer, tuple(arrays.values()), mask_rounding=self.mask_rounding, ready=ready)
        return self._step_of(layer, done, known)

    def _known(
        self, graph: Graph, ready: "_Ready", arrays: Sequence[Array], producers: Sequence[int]
    ) -> tuple[KnownDifference, ...]:
        """Return the known differences that a layer falls under; `producers`: the layers that feed it."""
        if not self.explain:
            return ()
        constant = [
            number for number, producer in enumerate(producers) if role_of(graph.layer(producer)) is Role.CONSTANT
        ]
        return find(ready.op, ready.attrs, arrays, constant)

    def _step_of(self, layer: Layer, done: LayerRun, known: Sequence[KnownDifference]) -> Step:
        """Return a layer that has run, with what is known of it."""
        undefined = done.undefined
        for row in known:
            undefined = tuple(map(_either, undefined, row.masks(done.outputs)))
        return Step(layer, [*map(self.cast, done.outputs)], undefined, "reference", tuple(known), done.bounds)

    def _bodies(self, layer: Layer, arrays: Mapping[int, Array]) -> tuple[Array, ...]:
        plans = self._plans.get(id(layer))
        if plans is None:
            plans = {name: _Plan(body, inside=True) for name, body in layer.bodies.items()}
            self._plans[id(layer)] = plans

        def execute(body: str, given: Mapping[int, Array]) -> dict[int, Array]:
            found: dict[int, Array] = {}
            _exhaust(self._graph(plans[body], given, found))
            return found

        op = find_op(layer.type, layer.version)
        assert op is not None
        assert op.bodies is not None
        outputs = op.bodies.kernel(port_maps(layer), arrays, execute)
        return tuple(outputs[port.id] for port in layer.outputs)

    def cast(self, array: Array) -> Array:
        """Return the array in the precision of the run; the floats of ml_dtypes have kind V."""
        if self.floats is None or array.dtype.kind not in "fV":
            return array
        return array.astype(self.floats.dtype, copy=False)


class _Ready(NamedTuple):
    """A layer's operation and attributes.

    `packed`: whether an attribute is a packed element type; `unsized`: whether the size of an input is unknown, so that
    nothing has compared it with the others.
    """

    op: Op
    attrs: Attrs
    packed: bool
    unsized: bool


class _Plan:
    """The layers of a graph in order; of a body, what is worked out in its first round and read again in the others.

    Attributes:
        graph: the graph.
        inside: whether it is a body.
        layers: planned.
        ready: by layer id.
        constants: by layer id.
    """

    __slots__ = ("constants", "graph", "inside", "layers", "ready")

    def __init__(self, graph: Graph, *, inside: bool = False) -> None:
        self.graph = graph
        self.inside = inside
        self.layers: Iterable[PlannedLayer] = list(execution_order(graph)) if inside else execution_order(graph)
        self.ready: dict[int, _Ready] = {}
        self.constants: dict[int, Array] = {}


def _either(one: npt.NDArray[np.bool_] | None, two: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_] | None:
    """Return where one of two masks holds; None where neither does."""
    if one is None or two is None:
        return two if one is None else one
    return one | two


def _of_parameter(layer: Layer, array: Array) -> Array:
    """Return what a Parameter is fed, in its element type."""
    return _of_type(type_in_file(layer.raw.get("element_type", "")), array)


def _of_type(kind: ElementType | None, array: Array) -> Array:
    """Return the array, in a packed type if it is to have one."""
    return in_element_type(array, kind) if kind is not None and kind.packed else array


def _keep(tensors: dict[tuple[int, int], Array], planned: PlannedLayer, outputs: Sequence[Array]) -> None:
    """Keep those outputs that somebody reads."""
    read = ((source, array) for source, array in zip(planned.outputs, outputs, strict=False) if source is not None)
    tensors.update(read)


def _exhaust(steps: Iterator[Step], advance: Callable[[], None] | None = None) -> None:
    """Walk all steps without a name for any: it would hold the step's tensors while the next layer runs."""
    while next(steps, None) is not None:
        if advance is not None:
            advance()


def run_layer(
    layer: Layer,
    inputs: Sequence[Array],
    *,
    first_only: bool = False,
    mask_rounding: bool = False,
    ready: _Ready | None = None,
) -> LayerRun:
    """Return the outputs of one layer on given arrays, in the order of its ports.

    With `first_only` perhaps only the first.

    `mask_rounding`: what errors of rounding in the inputs decide counts as undefined, too. `ready`: of the layer.

    Raises:
        UnsupportedError: the reference has no kernel for the layer.
        UsageError: its attributes have no meaning.
        ShapeError: its attributes do not fit the inputs.
    """
    op, attrs, packed, unsized = ready or _prepared(layer, None)
    assert op.kernel is not None
    masked = op.ill_conditioned if mask_rounding and op.ill_conditioned else None
    with np.errstate(all="ignore"):
        try:
            require_known_kinds(op, inputs)
            if unsized:
                op.outputs_of(attrs, [*map(bare_fact, inputs)])
            kernel = op.first_output_kernel if first_only and op.first_output_kernel else op.kernel
            outputs = kernel(attrs, inputs)
            if packed or PackedArray in map(type, inputs):
                outputs = _in_element_types(op, attrs, inputs, outputs)
        except (ShapeError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as why:
            shapes = ", ".join(f"{element_type_of(array)} {list(array.shape)}" for array in inputs)
            reason = why if isinstance(why, ShapeError) else _problem(op, attrs, inputs, why)
            given = f"inputs of {shapes}" if inputs else "no inputs"
            raise ShapeError(f"layer '{layer.name}' ({op}) cannot take {given}: {reason}") from why
        undefined = op.undefined_mask(attrs, inputs) if op.undefined_mask else None
        bounds = None
        if masked:
            undefined = masked(attrs, inputs, _rounding_of(layer))
            bounds = _bounds(op, attrs, inputs, _rounding_of(layer)) if undefined is not None and op.monotonic else None
    return LayerRun(outputs, (undefined,) * len(outputs), bounds)


def ill_conditioned(layer: Layer, inputs: Sequence[Array], error: float = 0.0) -> npt.NDArray[np.bool_] | None:
    """Return where errors of rounding in its inputs decide the outputs of a layer; None for nowhere.

    `error`: relative to the largest magnitude, if it is more than that of the type in the file.
    """
    op, attrs, *_ = _prepared(layer, None)
    with np.errstate(all="ignore"):
        return op.ill_conditioned(attrs, inputs, max(error, _rounding_of(layer))) if op.ill_conditioned else None


def _rounding_of(layer: Layer) -> float:
    return ROUNDING.get(layer.outputs[0].precision, MIN_ROUNDING)


def _bounds(op: Op, attrs: Attrs, inputs: Sequence[Array], error: float) -> tuple[Array, Array]:
    """Return the outputs for a first input that is less, and more, by an error relative to its largest magnitude."""
    assert op.kernel is not None
    data = inputs[0].astype(np.float64)
    reach = error * np.max(np.abs(data), initial=0.0, where=np.isfinite(data))
    less, more = (op.kernel(attrs, ((data + by).astype(inputs[0].dtype), *inputs[1:]))[0] for by in (-reach, reach))
    return less, more


def _prepared(layer: Layer, floats: ElementType | None) -> _Ready:
    """Return the operation and its attributes. Raises as `run_layer`."""
    op = find_op(layer.type, layer.version)
    if op is None or op.kernel is None:
        raise UnsupportedError(f"the reference has no kernel for '{layer.name}' ({layer.type} {layer.version})")
    violations: list[Violation] = []
    attrs = op.read(layer.raw, violations)
    if attrs is None:
        reasons = "; ".join(violation.text for violation in violations)
        raise UsageError(f"layer '{layer.name}' ({op}): {reasons}")
    if floats is not None:
        attrs = Attrs({name: floats if _is_wide(value) else value for name, value in attrs.items()})
    kinds = [value for value in attrs.values() if type(value) is ElementType]
    unsized = any(size < 0 for port in layer.inputs for size in port.dims)
    return _Ready(op, attrs, any(kind.packed for kind in kinds), unsized)


def _in_element_types(op: Op, attrs: Attrs, inputs: Sequence[Array], outputs: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return outputs in the element types of the shape rule.

    The kernel computes them in types that hold those.

    Raises:
        ShapeError: the operation does not take inputs of such types.
    """
    facts = op.outputs_of(attrs, [fact_of(array) for array in inputs])
    if facts is None:
        return outputs
    return tuple(in_element_type(array, fact.dtype) for array, fact in zip(outputs, facts, strict=True))


def _problem(op: Op, attrs: Attrs, inputs: Sequence[Array], failure: Exception) -> str:
    """Return what the operation's own checks say of inputs that its kernel fails on, or what kind of failure it is."""
    facts = [fact_of(array) for array in inputs]
    for missing in check_ports(op, len(inputs), 0):
        return missing.text
    try:
        for violation in (*check_types(op, facts), *op.check(attrs, facts)):
            if not violation.kind.mild:
                return violation.text
        op.outputs_of(attrs, facts)
    except ShapeError as why:
        return str(why)
    if any(array.dtype.hasobject for array in inputs):
        return "the operation does not take strings"
    if isinstance(failure, IndexError):
        return "an index is out of range"
    return "the values contradict each other or the attributes"


def _is_wide(value: object) -> bool:
    """Return whether a type is a float that another stands for.

    To 8 bits and less the CPU rounds, whatever it computes in.
    """
    return isinstance(value, ElementType) and value.is_float and value.bits > 8


def without_kernel(model: Model) -> list[Located]:
    """Return the layers that the reference cannot run itself; a layer with bodies stands for those in it."""
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
        (
            f"the reference has no kernel for {', '.join(kinds)} ({plural(len(missing), 'layer')}, first "
            f"'{missing[0].path}'); use the runtime engine"
        ),
        [_unsupported(model, place) for place in missing],
    )


def has_kernel(layer: Layer) -> bool:
    """Return whether the reference can run the layer, and all layers of its bodies."""
    if role_of(layer) in MOVED_BY_EXECUTOR:
        return True
    op = find_op(layer.type, layer.version)
    if layer.bodies:
        inner = (inner for body in layer.bodies.values() for inner in body.layers())
        return op is not None and op.bodies is not None and all(map(has_kernel, inner))
    return op is not None and op.kernel is not None


def _unsupported(model: Model, place: Located) -> Diagnostic:
    path, layer, graph = place
    return Diagnostic(
        code=NO_KERNEL.code,
        severity=NO_KERNEL.severity,
        message=f"the reference has no kernel for {layer.type} {layer.version}",
        file=str(model.path) if model.path else None,
        line=model.line_of(graph, layer.id),
        layer_id=layer.id,
        layer_name=layer.name,
        path=path,
        help="use the runtime engine",
    )
