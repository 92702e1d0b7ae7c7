"""Shape propagation: what every port holds, worked out anew through the whole model, bodies included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import IrToolsError, ReadError, RuntimeFailure, ShapeError, UsageError
from ir_tools.graph import Graph, Layer, Located, Model, Port
from ir_tools.graph.graph import Source
from ir_tools.ops import control_flow, find_op, opset_number
from ir_tools.ops._define import Bounds, Fact, Op, Violation
from ir_tools.ops.control_flow import BodyFacts, BodyRule, port_maps
from ir_tools.types import Dim, Shape, element_type, format_shape, from_precision, parse_shape
from ir_tools.weights import constant

__all__ = ["Ask", "Mismatch", "Origin", "ShapeReport", "propagate_shapes"]

Origin = Literal["rule", "runtime", "recorded", "unknown"]
"""Where a fact comes from: a rule of ir_tools, the runtime, the file as it was, or nowhere."""

UNKNOWN = Fact(element_type("dynamic"), None)
MOST_VALUES = 1 << 16
"""Constants with more elements carry no values: none that decides a shape is that large."""


class Ask(Protocol):
    """Asks another authority, such as the runtime, for the outputs of one layer."""

    def __call__(self, model: Model, graph: Graph, layer: Layer, facts: Mapping[Source, Fact]) -> tuple[Fact, ...]:
        """The facts of the layer's outputs, with values where they are known.

        Args:
            model: the model, for its weights.
            graph: the graph or body that holds the layer.
            layer: the layer.
            facts: of the output ports that feed the layer, and of all before them in the graph.

        Raises:
            RuntimeFailure: the authority rejects the layer, does not know it, or broke over it.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A port whose record differs from what was computed. `what` is `dims` or `precision`."""

    path: str
    layer_id: int
    line: int | None
    port: int
    what: Literal["dims", "precision"]
    recorded: str
    computed: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.path} port {self.port}: {self.what} recorded {self.recorded}, computed {self.computed}"


@dataclass(slots=True)
class ShapeReport:
    """What was found, by path of the layer and port id; input ports have the fact of what feeds them.

    Attributes:
        facts: element type, shape and known values.
        origins: where each fact comes from.
        mismatches: recorded against computed, in the order of the model.
        diagnostics: layers whose shapes could not be computed, as warnings.
    """

    facts: dict[tuple[str, int], Fact] = field(default_factory=dict)
    origins: dict[tuple[str, int], Origin] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def shapes(self) -> dict[tuple[str, int], Shape]:
        """The shape of every port."""
        return {key: fact.shape for key, fact in self.facts.items()}


def propagate_shapes(
    model: Model, inputs: Mapping[str, str | Sequence[int | Dim] | Shape] | None = None, *, ask: Ask | None = None
) -> ShapeReport:
    """Recompute dims and precision of every port, and write what differs back into the model.

    Args:
        model: its ports are updated, and with `inputs` the `shape` attributes of its Parameters too.
        inputs: new shapes by tensor or layer name: `"1,3,?,16..64"`, or a sequence with -1 for any size.
        ask: whom to ask about a layer without a rule.

    Raises:
        UsageError: there is no such input, or a shape cannot be read.
        ShapeError: a layer cannot take its inputs; the diagnostics name each, and the model is as it was.
    """
    work = _Propagation(model, ask)
    given = _new_inputs(model, inputs or {})
    work.graph(model.graph, given)
    if work.errors:
        raise ShapeError("\n".join(map(str, work.errors)), work.errors)
    report = work.report
    report.mismatches = list(_mismatches(model, work.places, report))
    _write_back(work.places, report, parameters=bool(inputs))
    return report


def _new_inputs(model: Model, inputs: Mapping[str, str | Sequence[int | Dim] | Shape]) -> dict[int, Fact]:
    """The facts of the Parameters that get a new shape, by layer id."""
    known = {name: end for end in model.inputs for name in end.names}
    given = {}
    for name, text in inputs.items():
        if name not in known:
            names = ", ".join(end.name for end in model.inputs) or "none at all"
            raise UsageError(f"the model has no input '{name}'; it has {names}")
        shape = None if text is None else parse_shape(text)
        given[known[name].layer.id] = Fact(element_type("dynamic"), shape)
    return given


# --- the walk -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Answer:
    """The facts of a layer's outputs, and where they come from."""

    facts: Sequence[Fact]
    origin: Origin


class _Propagation:
    """One propagation through a model: walks graphs, collects facts and findings, changes nothing."""

    def __init__(self, model: Model, ask: Ask | None) -> None:
        self.model = model
        self.ask = ask
        self.report = ShapeReport()
        self.errors: list[Diagnostic] = []
        self.notes: dict[str, Diagnostic] = {}
        self.places = list(model.walk())
        self.paths = {(id(graph), layer.id): path for path, layer, graph in self.places}

    def graph(self, graph: Graph, given: Mapping[int, Fact]) -> dict[Source, Fact]:
        """Propagate through one graph; `given` says shapes (and types unless dynamic) of some of its Parameters."""
        facts: dict[Source, Fact] = {}
        for layer in graph.ordered():
            sources = graph.sources(layer.id)
            path = self.paths[id(graph), layer.id]
            for port in layer.inputs:
                if port.id in sources:
                    self.report.facts[path, port.id] = facts.get(sources[port.id], UNKNOWN)
                    self.report.origins[path, port.id] = self._origin(graph, sources[port.id])
            answer = self._answer(graph, layer, path, sources, facts, given)
            self._note_outputs(layer, path, answer, facts)
        return facts

    def _origin(self, graph: Graph, source: Source) -> Origin:
        return self.report.origins.get((self.paths[id(graph), source.layer], source.port), "unknown")

    def _note_outputs(self, layer: Layer, path: str, answer: _Answer, facts: dict[Source, Fact]) -> None:
        for index, port in enumerate(layer.outputs):
            known = index < len(answer.facts)
            fact = answer.facts[index] if known else UNKNOWN
            facts[Source(layer.id, port.id)] = fact
            self.report.facts[path, port.id] = fact
            self.report.origins[path, port.id] = answer.origin if known else "unknown"

    def _answer(
        self,
        graph: Graph,
        layer: Layer,
        path: str,
        sources: Mapping[int, Source],
        facts: Mapping[Source, Fact],
        given: Mapping[int, Fact],
    ) -> _Answer:
        """The outputs of one layer; what goes wrong is collected."""
        try:
            rule = control_flow.RULES.get(layer.type.lower()) if layer.bodies else None
            if rule is not None:
                return self._with_bodies(graph, layer, rule, sources, facts)
            op = find_op(layer.type, layer.version)
            if op is None or op.shape is None:
                return self._asked(graph, layer, path, sources, facts)
            return self._ruled(op, layer, sources, facts, given)
        except ShapeError as why:
            self._error(graph, layer, path, str(why))
        except _AttributesError as why:
            for violation in why.violations:
                self._error(graph, layer, path, f"{violation.attribute} {violation.message}", violation.remedy)
        return _Answer((), "unknown")

    def _ruled(
        self,
        op: Op,
        layer: Layer,
        sources: Mapping[int, Source],
        facts: Mapping[Source, Fact],
        given: Mapping[int, Fact],
    ) -> _Answer:
        assert op.shape is not None
        violations: list[Violation] = []
        attrs = op.read(layer.raw, violations)
        if attrs is None:
            raise _AttributesError(violations)
        inputs = [facts[sources[port.id]] for port in layer.inputs if port.id in sources]
        needed = sum(not slot.optional for slot in op.inputs)
        if len(inputs) < needed:
            raise ShapeError(f"{len(inputs)} inputs are connected where {op} takes {needed}")
        if any(fact.dtype.kind == "dynamic" and fact.shape is None for fact in inputs) and not _tolerant(op):
            return _Answer((UNKNOWN,) * len(layer.outputs), "unknown")
        out = op.shape(attrs, inputs)
        if op.type == "Const":
            out = (replace(out[0], value=self._values(layer, out[0])),)
        if layer.id in given and op.type == "Parameter":
            new = given[layer.id]
            out = (Fact(out[0].dtype if new.dtype.kind == "dynamic" else new.dtype, new.shape),)
        return _Answer(out, "rule")

    def _values(self, layer: Layer, fact: Fact) -> Bounds | None:
        """The values of a small constant; None where its bytes are not to be had."""
        sizes = [dim.lo for dim in fact.shape or ()]
        if fact.dtype.dtype is None or int(np.prod(sizes, dtype=object)) > MOST_VALUES or 0 < fact.dtype.bits < 8:
            return None
        try:
            values = constant(layer.raw, self.model.weights)
        except ReadError:
            return None
        return Bounds.exactly(values.astype(np.float32) if fact.dtype.is_float and fact.dtype.bits < 32 else values)

    def _with_bodies(
        self,
        graph: Graph,
        layer: Layer,
        rule: BodyRule,
        sources: Mapping[int, Source],
        facts: Mapping[Source, Fact],
    ) -> _Answer:
        def run(body: str, parameters: Mapping[int, Fact]) -> BodyFacts:
            return self._body(layer.bodies[body], parameters)

        inputs = {port.id: facts[sources[port.id]] for port in layer.inputs if port.id in sources}
        try:
            out = rule(port_maps(layer), inputs, run)
        except KeyError as missing:
            raise ShapeError(f"its port map names port or layer {missing}, which is not there") from None
        return _Answer([out.get(port.id, UNKNOWN) for port in layer.outputs], "rule")

    def _body(self, body: Graph, parameters: Mapping[int, Fact]) -> BodyFacts:
        facts = self.graph(body, parameters)
        results, passed = {}, {}
        for layer in body.layers():
            if layer.type != "Result":
                continue
            for source in body.sources(layer.id).values():
                results[layer.id] = facts[source]
                if body.layer(source.layer).type == "Parameter":
                    passed[layer.id] = source.layer
        return BodyFacts(results, passed)

    def _asked(
        self, graph: Graph, layer: Layer, path: str, sources: Mapping[int, Source], facts: Mapping[Source, Fact]
    ) -> _Answer:
        """The answer of whoever is asked; without one, the record, where the inputs are as recorded."""
        why = "ir_tools has no rule for it, and nobody was asked"
        if self.ask is not None:
            try:
                return _Answer(self.ask(self.model, graph, layer, facts), "runtime")
            except RuntimeFailure as failure:
                if failure.kind == "rejected" and opset_number(layer.version) is not None:
                    raise ShapeError(str(failure)) from failure
                why = str(failure)
        recorded = not any(
            any(_differences(port, facts[sources[port.id]])) for port in layer.inputs if port.id in sources
        )
        text = f"the shapes of {layer.type} ({layer.version or 'no version'}) are not known: {why}"
        if recorded:
            text += "; those in the file are taken over, as its inputs are those in the file"
        self._warn(graph, layer, path, text)
        if recorded:
            return _Answer([_recorded(port) for port in layer.outputs], "recorded")
        return _Answer((), "unknown")

    def _error(self, graph: Graph, layer: Layer, path: str, message: str, remedy: str | None = None) -> None:
        finding = self._diagnostic("IR301", Severity.ERROR, graph, layer, path, message, remedy)
        if finding not in self.errors:
            self.errors.append(finding)

    def _warn(self, graph: Graph, layer: Layer, path: str, message: str) -> None:
        if path not in self.notes:
            self.notes[path] = self._diagnostic("IR302", Severity.WARNING, graph, layer, path, message, None)
            self.report.diagnostics.append(self.notes[path])

    def _diagnostic(
        self, code: str, severity: Severity, graph: Graph, layer: Layer, path: str, message: str, remedy: str | None
    ) -> Diagnostic:
        return Diagnostic(
            code=code,
            severity=severity,
            message=f"{layer.type}: {message}",
            file=str(self.model.path) if self.model.path else None,
            line=self.model.line_of(graph, layer.id),
            layer_id=layer.id,
            layer_name=layer.name,
            path=path,
            help=remedy,
        )


class _AttributesError(IrToolsError):
    """A layer whose attributes have no meaning."""

    def __init__(self, violations: Iterable[Violation]) -> None:
        super().__init__("broken attributes")
        self.violations = tuple(violations)


def _tolerant(op: Op) -> bool:
    return op.type in {"Result", "Parameter", "Const", "Convert", "ShapeOf"}


# --- records --------------------------------------------------------------------------------------------------------


def _recorded(port: Port) -> Fact:
    """What a port of the file says; an empty one is a scalar's or unknown."""
    dtype = element_type("dynamic") if port.precision is None else from_precision(port.precision)
    shape = tuple(Dim() if size < 0 else Dim.of(size) for size in port.dims) if port.dims else None
    return Fact(dtype, shape)


def _dims(shape: Shape) -> tuple[int, ...]:
    """As a port records them: -1 for what is not one size, nothing for an unknown rank."""
    return tuple(dim.lo if dim.static else -1 for dim in shape or ())


def _differences(port: Port, fact: Fact) -> Iterator[tuple[Literal["dims", "precision"], str, str]]:
    """What of a port's record differs from a fact: which, recorded, computed. No precision says nothing."""
    if port.dims != _dims(fact.shape):
        yield "dims", format_shape(_recorded(port).shape or ()), format_shape(fact.shape)
    if port.precision is not None and port.precision != fact.dtype.precision:
        yield "precision", port.precision, fact.dtype.precision


def _mismatches(model: Model, places: Sequence[Located], report: ShapeReport) -> Iterator[Mismatch]:
    for path, layer, graph in places:
        for port in (*layer.inputs, *layer.outputs):
            fact = report.facts.get((path, port.id))
            if fact is None or report.origins[path, port.id] in {"unknown", "recorded"}:
                continue
            for what, recorded, computed in _differences(port, fact):
                yield Mismatch(
                    path=path,
                    layer_id=layer.id,
                    line=model.line_of(graph, layer.id),
                    port=port.id,
                    what=what,
                    recorded=recorded,
                    computed=computed,
                )


def _write_back(places: Sequence[Located], report: ShapeReport, *, parameters: bool) -> None:
    """Touch only the ports that differ, so that the writer keeps the bytes of all others."""
    for path, layer, _ in places:
        for port in (*layer.inputs, *layer.outputs):
            fact = report.facts.get((path, port.id))
            if fact is None or report.origins[path, port.id] == "recorded":
                continue
            if port.dims != _dims(fact.shape):
                port.dims = _dims(fact.shape)
            if port.precision is not None and fact.dtype.kind != "dynamic" and port.precision != fact.dtype.precision:
                port.precision = fact.dtype.precision
        if parameters and layer.type == "Parameter" and layer.outputs:
            shape = report.facts[path, layer.outputs[0].id].shape
            if parse_shape(layer.raw.get("shape", "")) != shape:
                layer.raw["shape"] = _attribute(shape, layer.raw.get("shape", ""))


def _attribute(shape: Shape, old: str) -> str:
    """A shape as the `shape` attribute writes it, lists in the style of the old text."""
    if shape is None:
        return "..."
    return (", " if ", " in old else ",").join(map(str, shape))
