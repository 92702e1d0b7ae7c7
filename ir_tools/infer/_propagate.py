"""Shape propagation: compute the element type and partial shape of every port of a model, bodies included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from ir_tools.collection import gc_paused
from ir_tools.diagnostics import MAX_LISTED, Diagnostic, Severity
from ir_tools.display import brief_fields, notebook_table, plural, quoted_names
from ir_tools.errors import RuntimeFailure, ShapeError, UsageError
from ir_tools.graph import Graph, Layer, Located, Model, Port
from ir_tools.graph.graph import Source
from ir_tools.infer._answers import Answer, Checks
from ir_tools.infer._differences import agrees
from ir_tools.infer._engine import Engine, Tensors, Visit
from ir_tools.infer._problems import attribute_of
from ir_tools.infer._relaxed import relaxed_patterns
from ir_tools.ops import LEGACY, Role, opset_number, role_of
from ir_tools.ops.definition import Array, Bounds, Fact
from ir_tools.ops.interning import InternedFact
from ir_tools.ops.limits import excessive
from ir_tools.ops.records import recorded
from ir_tools.rules import Rule
from ir_tools.rules.shapes import IMPOSSIBLE_SHAPE, UNKNOWN_SHAPES
from ir_tools.types import Shape, Shapes, element_type, format_shape, parse_shape
from ir_tools.weights import constant

__all__ = ["Ask", "FactsBySource", "Mismatch", "Origin", "Propagation", "ShapeReport", "propagate_shapes"]

Origin = Literal["rule", "runtime", "migration", "recorded", "unknown"]
"""The origin of a fact: a shape rule of ir_tools, the runtime, the migrated model, the record in the file, or none."""


class Ask(Protocol):
    """A function that computes the outputs of a layer without a shape rule, for example by the runtime."""

    def __call__(self, model: Model, graph: Graph, layer: Layer, facts: Mapping[Source, Fact]) -> tuple[Fact, ...]:
        """Return the facts of the layer's outputs, with their values if known.

        Args:
            model: the model, whose weights hold the constants.
            graph: the graph or body that contains the layer.
            layer: the layer.
            facts: the facts of the output ports that the layer reads, and of all ports before them in the graph.

        Raises:
            RuntimeFailure: the runtime rejects the layer, does not know it, or crashes.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A port whose recorded sizes or element type differ from the computed ones.

    Attributes:
        path, layer_id, line: the layer.
        port: the id of the port.
        what: `dims` or `precision`.
        recorded, computed: the value in the file and the computed one, as text.
    """

    path: str
    layer_id: int
    line: int | None
    port: int
    what: Literal["dims", "precision"]
    recorded: str
    computed: str

    __repr__ = brief_fields

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.path} port {self.port}: {self.what}: recorded {self.recorded}, computed {self.computed}"


@dataclass(slots=True)
class ShapeReport:
    """The result of shape propagation, by the path of the layer and the id of the port.

    An input port has the fact of the output port that feeds it.

    Attributes:
        facts: `(path, port id)` -> element type, partial shape and known values.
        origins: `(path, port id)` -> `rule`, `runtime`, `migration`, `recorded` or `unknown`: how the fact was found.
        mismatches: the ports whose record in the file differs, in the order of the model.
        diagnostics: a warning for each layer whose shapes could not be computed.

    Example:
        >>> report = ir_tools.propagate_shapes("model.xml")
        >>> report
        ShapeReport(4 ports: 4 by rule)
        >>> report.mismatches, ir_tools.Dim.of(4) in report.shapes["pool", 1]
        ([], True)
    """

    facts: dict[tuple[str, int], Fact] = field(default_factory=dict)
    origins: dict[tuple[str, int], Origin] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def shapes(self) -> dict[tuple[str, int], Shape]:
        """The partial shape of every port: a tuple of `Dim`, or None for an unknown rank."""
        return {key: fact.shape for key, fact in self.facts.items()}

    def __repr__(self) -> str:
        """Return `ShapeReport(178 ports: 178 by rule, 2 differ from the record)`."""
        origins = ", ".join(f"{count} by {name}" for name, count in Counter(self.origins.values()).items())
        differ = f", {len(self.mismatches)} differ from the record" if self.mismatches else ""
        return f"ShapeReport({plural(len(self.facts), 'port')}: {origins}{differ})"

    def _repr_html_(self) -> str:
        """Return the text of `repr`, and a table of the mismatches, or of all ports if there are none."""
        if self.mismatches:
            changed = ((one.path, one.port, one.what, one.recorded, one.computed) for one in self.mismatches)
            columns = ("layer", "port", "what", "recorded", "computed")
            return notebook_table(repr(self), columns, changed)
        ports = (
            (path, port, fact.dtype, format_shape(fact.shape), self.origins[path, port])
            for (path, port), fact in self.facts.items()
        )
        return notebook_table(repr(self), ("layer", "port", "type", "shape", "origin"), ports)


@gc_paused()
def propagate_shapes(
    model: Model,
    inputs: Shapes | None = None,
    *,
    ask: Ask | None = None,
    in_place: bool = False,
) -> ShapeReport:
    """Compute the element type and partial shape of every port again.

    Args:
        model: the model.
        inputs: new shapes by tensor or layer name: `"1,3,?,16..64"`, or a sequence with -1 for any size. If they are
            given, some constant patterns of Reshape are adapted too; see `_relaxed`.
        ask: a function that computes the outputs of layers without a shape rule.
        in_place: also record the results in the model: in its ports and, with `inputs`, in the `shape` of its
            Parameters.

    Raises:
        UsageError: an input name is unknown, or a shape cannot be read.
        ShapeError: a layer does not accept its inputs; the diagnostics name up to 1,000 such layers, and the model is
            unchanged.
    """
    given = _new_inputs(model, inputs or {})
    work = Propagation(model, ask=ask, patterns=relaxed_patterns(model.graph) if given else {})
    work.walk(model.graph, given)
    report = work.report()
    if in_place:
        work.write(report, parameters=bool(given))
    return report


def _new_inputs(model: Model, inputs: Shapes) -> dict[int, Fact]:
    """Return the facts of the Parameters that get a new shape, by layer id; the only one needs no name."""
    known = {name: end for end in model.inputs for name in end.names} if inputs else {}
    if known and len(model.inputs) == 1:
        known.setdefault("", model.inputs[0])
    given: dict[int, Fact] = {}
    for name, text in inputs.items():
        if name not in known:
            names = quoted_names(end.name for end in model.inputs)
            what = f"no input '{name}'; it has" if name else f"{len(model.inputs)} inputs; name the one of the shape:"
            raise UsageError(f"the model has {what} {names}")
        if known[name].layer.id in given:
            raise UsageError(f"input '{known[name].name}' has two shapes; pass only one")
        shape = None if text is None else parse_shape(text)
        if excess := excessive(shape):
            raise UsageError(f"input '{known[name].name}' would have the shape {excess}")
        given[known[name].layer.id] = Fact(element_type("dynamic"), shape)
    return given


# --- the policy -----------------------------------------------------------------------------------------------------


class FactsBySource(Mapping[Source, Fact]):
    """The facts of one graph."""

    def __init__(self, known: Tensors) -> None:
        self._known = known

    def __getitem__(self, source: Source) -> Fact:
        return self._known[source]

    def __iter__(self) -> Iterator[Source]:
        return (Source(*place) for place in self._known)

    def __len__(self) -> int:
        return len(self._known)


class Propagation(Engine):
    """Works out the facts of a model, asks others about layers without a rule, and collects what is wrong."""

    def __init__(
        self,
        model: Model,
        *,
        checks: Checks = Checks.NONE,
        ask: Ask | None = None,
        patterns: Mapping[int, Array] | None = None,
    ) -> None:
        """Start as `Engine` does; `patterns`: new values of constants of the main graph, by layer id."""
        super().__init__(model, checks)
        self.ask = ask
        self.patterns = patterns or {}
        self.origins: dict[int, dict[tuple[int, int], Origin]] = {}
        """Of what does not come from a rule, by `id` of the graph."""
        self.errors: list[Diagnostic] = []
        self._refused: set[tuple[int, int, str]] = set()
        self.notes: dict[str, Diagnostic] = {}
        self.outdated: list[tuple[Layer, Mapping[int, InternedFact]]] = []

    def walk(self, graph: Graph, given: Mapping[int, Fact]) -> Tensors:
        """Walk as `Engine` does."""
        self.origins[id(graph)] = {}
        return super().walk(graph, given)

    def believed(self, visit: Visit, answer: Answer) -> Sequence[InternedFact]:
        """Return what a rule or the oracle gives; nothing if it gives nothing."""
        outputs, origin = self.outputs(visit, answer)
        ports = visit.signature.outputs
        if origin != "rule" or len(outputs) < len(ports):
            origins = self.origins.setdefault(id(visit.graph), {})
            for index, port in enumerate(ports):
                origins[visit.layer.id, port.id] = origin if index < len(outputs) else "unknown"
        elif answer.outputs is not None and not self.patterns:
            answer.settled = outputs
        return outputs

    def outputs(self, visit: Visit, answer: Answer) -> tuple[Sequence[InternedFact], Origin]:
        """Return what `believed` gives, and where it comes from."""
        graph, layer = visit.graph, visit.layer
        if answer.outputs is None and not answer.violations:
            return self._asked(visit)
        for violation in answer.violations if answer.outputs is None else ():
            self.error(visit, violation.text, violation.remedy, attribute_of(layer, violation))
        outputs = answer.outputs or ()
        if outputs and layer.id in self.patterns and graph is self.model.graph:
            relaxed = Bounds.exactly(self.patterns[layer.id])
            outputs = (self.table.interned(replace(outputs[0], value=relaxed)),)
        return outputs, "unknown" if outputs and outputs[0] is self.unknown and not layer.bodies else "rule"

    def _asked(self, visit: Visit) -> tuple[Sequence[InternedFact], Origin]:
        """Return the answer of the oracle; without one, the record if the inputs are as recorded."""
        graph, layer, signature, _ = visit
        facts, sources = self.facts[id(graph)], graph.sources(layer.id)
        as_recorded = all(agrees(port, facts[sources[port.id]]) for port in signature.inputs if port.id in sources)
        if signature.version == LEGACY and as_recorded:
            origin: Origin = "rule" if role_of(layer) is Role.PARAMETER else "recorded"
            return list(map(self.record, signature.outputs)), origin
        why = "ir_tools has no shape rule for it, and the runtime was not used"
        if self.ask is not None:
            try:
                answer = self.ask(self.model, graph, layer, FactsBySource(facts))
                origin = "migration" if signature.version == LEGACY else "runtime"
                return [*map(self.table.interned, answer)], origin
            except RuntimeFailure as failure:
                if failure.kind == "rejected" and opset_number(layer.version) is not None:
                    self.error(visit, str(failure))
                    return (), "unknown"
                why = str(failure)
        text = f"the shapes of {layer.type} ({layer.version or 'no version'}) are not known: {why}"
        if as_recorded:
            text += "; the shapes in the file are used, because the shapes of the inputs are those in the file"
        note = self._diagnostic(UNKNOWN_SHAPES, visit, text, severity=Severity.WARNING)
        self.notes.setdefault(note.path or "", note)
        return (list(map(self.record, signature.outputs)), "recorded") if as_recorded else ((), "unknown")

    def error(self, visit: Visit, message: str, remedy: str | None = None, attribute: str | None = None) -> None:
        """Take note of a layer that cannot take its inputs."""
        place = id(visit.graph), visit.layer.id, message
        if place not in self._refused and len(self._refused) < MAX_LISTED:
            self.errors.append(self._diagnostic(IMPOSSIBLE_SHAPE, visit, message, help=remedy, attribute=attribute))
        self._refused.add(place)

    def _diagnostic(
        self,
        rule: Rule,
        visit: Visit,
        message: str,
        *,
        severity: Severity | None = None,
        help: str | None = None,
        attribute: str | None = None,
    ) -> Diagnostic:
        graph, layer, *_ = visit
        return Diagnostic(
            code=rule.code,
            severity=severity or rule.severity,
            message=f"{layer.type}: {message}",
            file=str(self.model.path) if self.model.path else None,
            line=self.model.line_of(graph, layer.id),
            layer_id=layer.id,
            layer_name=layer.name,
            path=self.paths[id(graph), layer.id],
            help=help,
            attribute=attribute,
        )

    # --- the end ---

    def report(self) -> ShapeReport:
        """Return what was found.

        Raises:
            ShapeError: something was wrong.
        """
        if self.errors:
            more = len(self._refused) - len(self.errors)
            unlisted = [f"{plural(more, 'more error')}; the first {MAX_LISTED} are listed"] if more else []
            raise ShapeError("\n".join([*map(str, self.errors), *unlisted]), self.errors)
        report = ShapeReport(diagnostics=list(self.notes.values()))
        for located in self.places:
            if id(located.graph) in self.facts:
                self._report(located, report)
        return report

    def write(self, report: ShapeReport, *, parameters: bool) -> None:
        """Write what differs into the model; with `parameters`, into their attributes too."""
        for layer_id, values in self.patterns.items():
            self._write_pattern(self.model.graph.layer(layer_id), values)
        for layer, outdated in self.outdated:
            for port in (*layer.inputs, *layer.outputs):
                if port.id in outdated:
                    known = outdated[port.id]
                    port.dims = known.dims
                    if port.precision is not None and known.dtype.kind != "dynamic":
                        port.precision = known.dtype.precision
        for located in self.places if parameters and not self.model.is_legacy else ():
            if role_of(located.layer) is Role.PARAMETER and id(located.graph) in self.facts:
                _write_shape(located.layer, report.facts.get((located.path, located.layer.outputs[0].id)))

    def _write_pattern(self, layer: Layer, values: Array) -> None:
        """Give a constant new values, unless its consumers compute the same with the old ones."""
        if self.model.weights.missing:
            return
        graph, own = self.model.graph, Source(layer.id, layer.outputs[0].id)
        facts, old = self.facts[id(graph)], constant(layer.raw, self.model.weights)
        before = self.table.interned(replace(facts[own], value=Bounds.exactly(old)))
        for consumer, _ in graph.consumers(*own):
            signature, _ = self.signatures.of(graph.layer(consumer))
            sources = graph.sources(consumer)
            fed = [sources[port.id] for port in signature.inputs if port.id in sources]
            inputs = [before if source == own else facts[source] for source in fed]
            shapes = [fact.shape for fact in self.answers.of(signature, inputs).outputs or ()]
            if shapes != [facts[Source(consumer, port.id)].shape for port in signature.outputs]:
                offset, size = self.model.weights.append(values.astype(old.dtype))
                layer.raw.update(offset=str(offset), size=str(size))
                return

    def _report(self, located: Located, report: ShapeReport) -> None:
        path, layer, graph = located
        signature, _ = self.signatures.of(layer)
        facts, origins = self.facts[id(graph)], self.origins.get(id(graph), {})
        sources = graph.sources(layer.id) if signature.inputs else {}
        places = [(port, sources[port.id]) for port in signature.inputs if port.id in sources]
        places += [(port, Source(layer.id, port.id)) for port in signature.outputs]
        outdated: dict[int, InternedFact] = {}
        for port, source in places:
            known = facts.get(source, self.unknown)
            origin: Origin = origins.get(source, "rule") if source in facts else "unknown"
            report.facts[path, port.id] = known
            report.origins[path, port.id] = origin
            if origin == "recorded" or agrees(port, known):
                continue
            if origin != "unknown":
                report.mismatches.extend(self._mismatches(located, port, known))
            outdated[port.id] = known
        if outdated:
            self.outdated.append((layer, outdated))

    def _mismatches(self, located: Located, port: Port, known: InternedFact) -> Iterator[Mismatch]:
        path, layer, graph = located
        pairs: list[tuple[Literal["dims", "precision"], str, str]] = []
        if port.dims != known.dims:
            pairs.append(("dims", format_shape(recorded(port).shape or ()), format_shape(known.shape)))
        if port.precision is not None and port.precision != known.dtype.precision:
            pairs.append(("precision", port.precision, known.dtype.precision))
        for what, before, after in pairs:
            yield Mismatch(
                path=path,
                layer_id=layer.id,
                line=self.model.line_of(graph, layer.id),
                port=port.id,
                what=what,
                recorded=before,
                computed=after,
            )


def _write_shape(layer: Layer, fact: Fact | None) -> None:
    """Give a Parameter a shape, in the style of the old text."""
    old = layer.raw.get("shape", "")
    if fact is None or parse_shape(old) == fact.shape:
        return
    separator = ", " if ", " in old else ","
    layer.raw["shape"] = "..." if fact.shape is None else separator.join(map(str, fact.shape))
