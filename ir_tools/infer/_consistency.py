"""What in a model contradicts itself: each fault once, at the layer or port where file and computation first part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Literal

from ir_tools.errors import GraphError, ShapeError
from ir_tools.graph import Graph, Layer, Model, Port, Source
from ir_tools.infer._answers import SURPRISES, Answer, Answers, results_of
from ir_tools.infer._facts import UNKNOWN, Facts, Known, least_size, recorded
from ir_tools.infer._gaps import Gap, are_apart, dims_text, gap_of, slack_of, told
from ir_tools.infer._problems import Problem, about_operation, are_hard, is_odd, part_of
from ir_tools.infer._signatures import LayerSignature, LayerSignatures
from ir_tools.ops.bodies import BodyFacts, BodyRule, Maps, PortMap, PortMapRow, port_maps, slice_faults
from ir_tools.ops.definition import Fact, Kind, Violation
from ir_tools.rules.operations import FATAL_SETTING, WRONG_ELEMENT_TYPE
from ir_tools.rules.shapes import (
    CONTRADICTING_RECORD,
    HUGE_OUTPUT,
    IMPOSSIBLE_SHAPE,
    WRONG_PORT_PRECISION,
    WRONG_PORT_SHAPE,
)
from ir_tools.rules.structure import BAD_BACK_EDGE, BAD_SLICE, WRONG_PORT_MAP_ROW
from ir_tools.types import format_shape

__all__ = ["ConsistencyCheck"]

MAX_ROUNDS = 1 << 31
"""Of a loop whose condition is not known to end it."""
NUANCES = {Kind.SUSPECT, Kind.EMPTY, Kind.DIVISOR, Kind.IGNORED}
"""Not told of a layer that cannot run anyway."""
LARGEST = 1 << 34
"""Elements of a tensor that no machine holds."""


class _Verdict:
    """What is found at a layer.

    Attributes:
        answer: of its operation.
        inputs, outputs: ports that contradict what feeds them, and what the layer gives.
        slack: inputs and outputs that say more or less than that.
        results: what is computed, the record where nothing is.
        huge: whether an output holds more than memory does.
        odd: whether something is to be said of the operation itself.
        clean: whether nothing is wrong.
    """

    __slots__ = ("answer", "clean", "huge", "inputs", "odd", "outputs", "results", "slack")

    def __init__(
        self,
        answer: Answer,
        inputs: list[Gap],
        outputs: list[Gap],
        results: tuple[Known, ...],
        slack: tuple[list[Gap], list[Gap]],
        huge: bool,
        odd: bool,
    ) -> None:
        self.answer = answer
        self.inputs = inputs
        self.outputs = outputs
        self.results = results
        self.slack = slack
        self.huge = huge
        self.odd = odd
        self.clean = not (
            answer.violations or answer.error is not None or inputs or outputs or any(slack) or huge or odd
        )


class ConsistencyCheck:
    """One walk through a model, bodies included; the model stays as it is.

    A layer's outputs are computed from what is believed of its inputs. Where that differs from the file, those who
    read the output decide: if their ports say what the file says, the layer is offending, and the file is believed from
    there on; otherwise only the port is wrong, and the computation is believed.
    """

    def __init__(self, model: Model) -> None:
        """Look at everything."""
        self._signatures = LayerSignatures()
        self._facts = Facts()
        self._answers = Answers(self._facts, model.weights, checks=True)
        self._verdicts: dict[Answer, _Verdict] = {}
        self._seen: dict[object, _Verdict] = {}
        self._known: dict[int, dict[tuple[int, int], Known]] = {}
        self._records: dict[tuple[tuple[int, ...], str | None], Known] = {}
        self._unknown = self._facts.known(UNKNOWN)
        self._by_graph: dict[int, list[Problem]] = {}
        self._doubted: dict[tuple[int, Source], Port] = {}
        self._walk(model.graph, {})

    @cached_property
    def problems(self) -> Sequence[Problem]:
        """What is wrong, graph by graph."""
        return [problem for found in self._by_graph.values() for problem in found]

    @property
    def types(self) -> set[str]:
        """The types of all layers that were looked at, in lower case."""
        return self._signatures.types

    @property
    def surprises(self) -> Sequence[str]:
        """Rules that broke over a layer, which is a defect of the rule."""
        return self._answers.surprises

    # --- the walk ---

    def _walk(
        self, graph: Graph, given: Mapping[int, Fact], owner: Layer | None = None
    ) -> dict[tuple[int, int], Known]:
        """Go through one graph; `given`: what the layer `owner` gives to the Parameters of its body."""
        facts: dict[tuple[int, int], Known] = {}
        self._by_graph[id(graph)] = []
        self._known[id(graph)] = facts
        look_up, seen = self._signatures.of, self._seen
        for layer in _ordered(graph):
            signature, offset = look_up(layer)
            inputs = self._inputs(graph, layer, signature, facts) if signature.inputs else ()
            key = (signature.number, *[known.key for known in inputs])
            verdict = seen.get(key)
            if verdict is None:
                verdict = self._verdict(layer, signature, inputs, key)
            results: Sequence[Known] = verdict.results
            if given and layer.id in given and signature.outputs:
                assert owner is not None
                results = self._given(graph, layer, signature, verdict, given[layer.id], owner)
            elif not verdict.clean:
                results = self._faulty(graph, layer, signature, inputs, verdict)
            if offset is not None and signature.type == "Const" and results and results == verdict.answer.outputs:
                results = [self._answers.constant(layer, results[0], offset)]
            for port, known in zip(signature.outputs, results, strict=True):
                facts[layer.id, port.id] = known
        return facts

    def _inputs(
        self, graph: Graph, layer: Layer, signature: LayerSignature, facts: Mapping[tuple[int, int], Known]
    ) -> Sequence[Known]:
        """What feeds each input port; the record of a port that nothing feeds."""
        feeders = graph.feeders(layer.id)
        if len(feeders) == len(signature.inputs) == 1:
            ((maker, wires),) = feeders.items()
            start, _ = next(iter(wires))
            return (facts.get((maker, start), self._unknown),)
        sources = {to: (maker, start) for maker, wires in feeders.items() for start, to in wires}
        return [
            facts.get(sources[port.id], self._unknown) if port.id in sources else self._record(port)
            for port in signature.inputs
        ]

    def _verdict(self, layer: Layer, signature: LayerSignature, inputs: Sequence[Known], key: object) -> _Verdict:
        """The verdict of a layer; remembered for all like it, unless values of constants or bodies matter."""
        answer = self._answers.of(signature, inputs)
        if layer.bodies:
            return self._judge(signature, inputs, self._with_bodies(layer, signature, inputs, answer))
        verdict = self._verdicts.get(answer) or self._judge(signature, inputs, answer)
        if self._answers.general(key):
            self._seen[key] = verdict
        return verdict

    def _record(self, port: Port) -> Known:
        key = port.dims, port.precision
        known = self._records.get(key)
        if known is None:
            known = self._records[key] = self._facts.known(recorded(port))
        return known

    def _judge(self, signature: LayerSignature, inputs: Sequence[Known], answer: Answer) -> _Verdict:
        """Hold a layer's ports against what feeds them and against what it gives."""
        before = [gap for port, known in zip(signature.inputs, inputs, strict=True) if (gap := gap_of(port, known))]
        computed = answer.outputs or ()
        after = [gap for port, known in zip(signature.outputs, computed, strict=False) if (gap := gap_of(port, known))]
        loose = [gap for port, known in zip(signature.inputs, inputs, strict=True) if (gap := slack_of(port, known))]
        loosely = [
            gap for port, known in zip(signature.outputs, computed, strict=False) if (gap := slack_of(port, known))
        ]
        results = [*computed[: len(signature.outputs)]]
        results += [self._record(port) for port in signature.outputs[len(results) :]]
        huge = any(map(_huge, results)) and not any(map(_huge, inputs))
        odd = is_odd(signature)
        verdict = self._verdicts[answer] = _Verdict(answer, before, after, tuple(results), (loose, loosely), huge, odd)
        return verdict

    # --- layers with bodies ---

    def _with_bodies(self, layer: Layer, signature: LayerSignature, inputs: Sequence[Known], answer: Answer) -> Answer:
        """The answer, with what the bodies give."""
        bodies = signature.op.bodies if signature.op else None
        facts = {port.id: known.fact for port, known in zip(signature.inputs, inputs, strict=True)}
        outputs, error = None, answer.error
        if bodies is not None and not any(not violation.kind.mild for violation in answer.violations):
            outputs, error = self._run(layer, signature, bodies.shape, facts)
        for body in layer.bodies.values():
            if id(body) not in self._by_graph:
                self._walk(body, {})
        return Answer(outputs, answer.violations, error)

    def _run(
        self, layer: Layer, signature: LayerSignature, rule: BodyRule, facts: Mapping[int, Fact]
    ) -> tuple[list[Known] | None, str | None]:
        """What the bodies give, or why they cannot; neither where the port maps lead nowhere, which others tell."""
        walked: dict[str, dict[tuple[int, int], Known]] = {}

        def run(body: str, parameters: Mapping[int, Fact]) -> BodyFacts:
            inner = layer.bodies[body]
            walked[body] = self._walk(inner, parameters, layer)
            return results_of(inner, walked[body])

        try:
            maps = port_maps(layer)
            out = rule(maps, facts, run)
            self._check_types(layer, signature, maps, facts)
            for body, known in walked.items():
                self._check_iterations(layer, layer.bodies[body], maps[body], facts, known)
        except ShapeError as why:
            return None, str(why)
        except SURPRISES:
            return None, None
        return [self._facts.known(out.get(port.id, UNKNOWN)) for port in signature.outputs], None

    def _check_types(self, layer: Layer, signature: LayerSignature, maps: Maps, facts: Mapping[int, Fact]) -> None:
        """Inputs of another element type than the Parameters of the bodies that get them."""
        told_already = set[int]()
        for body, ports in maps.items():
            for row in ports.inputs:
                given = facts.get(row.port)
                parameter, _ = self._signatures.of(layer.bodies[body].layer(row.layer))
                own = self._answers.of(parameter, ()).outputs if parameter.type == "Parameter" else None
                if given is None or not own or signature.type.lower() != "tensoriterator" or row.port in told_already:
                    continue
                if own[0].fact.dtype != given.dtype and "dynamic" not in {own[0].fact.dtype.kind, given.dtype.kind}:
                    told_already.add(row.port)
                    message = f"input has element type {given.dtype}, but its body takes {own[0].fact.dtype}"
                    remedy = "convert it"
                    inner = layer.bodies[body]
                    self._report(inner, Problem(WRONG_ELEMENT_TYPE, layer, message, remedy, "input", row.port))

    def _check_iterations(
        self,
        layer: Layer,
        body: Graph,
        ports: PortMap,
        inputs: Mapping[int, Fact],
        known: Mapping[tuple[int, int], Known],
    ) -> None:
        """What is wrong from one round of a body to the next: what it is given anew, its end, the number of rounds."""
        results = results_of(body, known).results
        for row, (parameter, result) in enumerate(ports.back_edges.items()):
            before, after = known[Source(parameter, body.layer(parameter).outputs[0].id)].fact, results[result]
            if are_apart(before, after):
                message = (
                    f"a back edge gives [{format_shape(after.shape)}] of {after.dtype} to"
                    f" '{body.layer(parameter).name}', which takes [{format_shape(before.shape)}] of {before.dtype}"
                )
                remedy = "what a round gives is what the next one takes"
                self._report(body, Problem(BAD_BACK_EDGE, layer, message, remedy, "back_edges", row=row))
        end = ports.purpose("execution_condition")
        is_loop = end is not None and layer.type.lower() == "loop"
        rounds = _single(inputs[min(inputs)]) if is_loop else None
        certain = rounds if end is not None and is_loop and _single(results[end.layer]) == 1 else None
        for cut, message, remedy in slice_faults(ports, inputs, results, certain):
            self._report(body, Problem(BAD_SLICE, layer, message, remedy, "port_map", row=_place_of(layer, cut)))
        if end is None or not is_loop:
            return
        condition = results[end.layer]
        if condition.dtype.kind not in {"boolean", "dynamic"}:
            rows = [entry.get("purpose") for _, entry in layer.content.mapping["port_map"]]
            message, remedy = f"the condition to go on is of {condition.dtype}", "name a Result of boolean type"
            row = rows.index("execution_condition")
            self._report(body, Problem(WRONG_PORT_MAP_ROW, layer, message, remedy, "port_map", row=row))
        lasts = _single(condition)
        if rounds is None or lasts == 0 or (rounds >= -1 if lasts is None else rounds in range(MAX_ROUNDS)):
            return
        message = f"the trip count is {rounds}, with which the loop does not end"
        self._report(
            body, Problem(FATAL_SETTING, layer, message, "give it a number, or a condition that ends it", "layer")
        )

    def _given(
        self, graph: Graph, layer: Layer, signature: LayerSignature, verdict: _Verdict, given: Fact, owner: Layer
    ) -> Sequence[Known]:
        """A Parameter of a body: what it is given against its attributes and its port."""
        if verdict.odd:
            self._report(graph, about_operation(layer, signature))
        self._report_violations(graph, layer, verdict.answer.violations)
        port, computed = signature.outputs[0], verdict.answer.outputs
        own = computed[0] if computed else self._record(port)
        dtype = own.fact.dtype if given.dtype.kind == "dynamic" else given.dtype
        known = self._facts.known(Fact(dtype, given.shape))
        wrong_port, wrong_data = gap_of(port, known), computed and are_apart(own.fact, known.fact)
        if wrong_port and wrong_data:
            message = (
                f"gives [{format_shape(known.fact.shape)}] of {dtype} to '{layer.name}' of its body,"
                f" which takes [{format_shape(own.fact.shape)}] of {own.fact.dtype}"
            )
            self._report(graph, Problem(CONTRADICTING_RECORD, owner, message, None, "layer"))
            return [self._believed(port, own)]
        if wrong_port:
            self._report_gap(graph, layer, wrong_port, "output")
        elif wrong_data:
            message = (
                f"says [{format_shape(own.fact.shape)}] of {own.fact.dtype}"
                f", but '{owner.name}' gives it [{format_shape(known.fact.shape)}] of {dtype}"
            )
            self._report(graph, Problem(CONTRADICTING_RECORD, layer, message))
        return [known]

    # --- faults ---

    def _faulty(
        self, graph: Graph, layer: Layer, signature: LayerSignature, inputs: Sequence[Known], verdict: _Verdict
    ) -> Sequence[Known]:
        """Tell what is wrong; returns what is believed of the outputs."""
        if verdict.odd:
            self._report(graph, about_operation(layer, signature))
        self._report_slack(graph, layer, verdict.slack[0], "input")
        self._report_slack(graph, layer, verdict.slack[1], "output")
        for gap in verdict.inputs:
            if not self._is_copy(graph, layer, gap):
                self._report_gap(graph, layer, gap, "input")
        answer = verdict.answer
        if verdict.inputs and (verdict.outputs or answer.error is not None or are_hard(answer.violations)):
            return self._as_recorded(graph, layer, signature, inputs, verdict)
        self._report_violations(graph, layer, answer.violations)
        if answer.error is not None:
            word = answer.error.partition(" ")[0]
            attribute = word if word in layer.raw else None
            self._report(graph, Problem(IMPOSSIBLE_SHAPE, layer, answer.error, attribute=attribute))
        if verdict.huge:
            largest = max(verdict.results, key=lambda known: least_size(known.fact.shape, LARGEST))
            message = f"gives [{format_shape(largest.fact.shape)}], more elements than any memory holds"
            self._report(graph, Problem(HUGE_OUTPUT, layer, message))
        if answer.outputs is None:
            return [
                self._outvoted(graph, layer, port) or known
                for port, known in zip(signature.outputs, verdict.results, strict=True)
            ]
        return self._blame(graph, layer, signature, verdict) if verdict.outputs else verdict.results

    def _outvoted(self, graph: Graph, layer: Layer, port: Port) -> Known | None:
        """What two or more readers say of a port of which nothing can be computed, where all say another thing."""
        readers = [other for _, other in self._readers(graph, layer, port.id)]
        record = self._record(port)
        if len(readers) < 2 or any(gap_of(other, record) is None for other in readers):
            return None
        said = self._record(readers[0])
        gap = gap_of(port, said)
        if gap is None or any(gap_of(other, said) for other in readers):
            return None
        self._report_gap(graph, layer, gap, "output")
        return said

    def _is_copy(self, graph: Graph, layer: Layer, gap: Gap) -> bool:
        """Whether an input port only repeats what the port that feeds it says, of which was told already."""
        if not self._doubted and not gap.vague:
            return False
        source = graph.sources(layer.id)[gap.port.id]
        maker = self._doubted.get((id(graph), source))
        if maker is None and gap.vague:
            maker = graph.layer(source.layer).port(source.port)
        return maker is not None and maker.dims == gap.port.dims and gap.port.precision in {None, maker.precision}

    def _report_slack(self, graph: Graph, layer: Layer, slack: list[Gap], side: Literal["input", "output"]) -> None:
        for gap in slack:
            if self._is_alone(graph, layer, gap, side):
                self._report_gap(graph, layer, gap, side)

    def _is_alone(self, graph: Graph, layer: Layer, gap: Gap, side: Literal["input", "output"]) -> bool:
        """Whether the ports at the other end of an edge all say what is computed, and this one does not.

        Who writes a file writes the same at both ends, also where another release knows more or less of a shape.
        """
        if side == "output":
            others = [port for _, port in self._readers(graph, layer, gap.port.id)]
        else:
            source = graph.sources(layer.id).get(gap.port.id)
            makers = () if source is None else self._signatures.of(graph.layer(source.layer))[0].outputs
            others = [port for port in makers if source is not None and port.id == source.port]
        return bool(others) and all(port.dims == gap.known.dims for port in others)

    def _as_recorded(
        self, graph: Graph, layer: Layer, signature: LayerSignature, inputs: Sequence[Known], verdict: _Verdict
    ) -> Sequence[Known]:
        """Go on as though the inputs were what their ports say: what does not fit is told with those ports."""
        wrong = {gap.port.id for gap in verdict.inputs}
        believed = [
            self._record(port) if port.id in wrong else known
            for port, known in zip(signature.inputs, inputs, strict=True)
        ]
        answer = self._answers.of(signature, believed)
        self._report_violations(graph, layer, answer.violations)
        again = self._verdicts.get(answer) or self._judge(signature, believed, answer)
        doubtful = (
            {gap.port.id for gap in again.outputs} if again.answer.outputs else {port.id for port in signature.outputs}
        )
        return [
            self._believed(port, known) if port.id in doubtful else known
            for port, known in zip(signature.outputs, again.results, strict=True)
        ]

    def _blame(self, graph: Graph, layer: Layer, signature: LayerSignature, verdict: _Verdict) -> Sequence[Known]:
        """Outputs that differ from the record: who reads them decides whether the layer or only its port is wrong."""
        votes = {gap.port.id: self._vote(graph, layer, gap) for gap in verdict.outputs}
        offending = [gap for gap in verdict.outputs if votes[gap.port.id] == "file" and not gap.vague]
        if not offending:
            for gap in verdict.outputs:
                vote = votes[gap.port.id]
                if gap.vague and vote != "computed" and not self._is_alone(graph, layer, gap, "output"):
                    continue
                if vote == "edge":
                    self._doubted[id(graph), Source(layer.id, gap.port.id)] = gap.port
                self._report_gap(
                    graph, layer, gap, "output", mild=not vote and self._idle(graph, layer, signature, gap)
                )
            return verdict.results
        gap = offending[0]
        message = f"gives {told(gap.known)}, but it and its consumers record {told(self._record(gap.port))}"
        if len(signature.outputs) > 1:
            message += f" (output port {gap.port.id})"
        self._report(graph, Problem(CONTRADICTING_RECORD, layer, message))
        wrong = {gap.port.id for gap in verdict.outputs}
        return [
            self._believed(port, known) if port.id in wrong else known
            for port, known in zip(signature.outputs, verdict.results, strict=True)
        ]

    def _vote(self, graph: Graph, layer: Layer, gap: Gap) -> Literal["file", "computed", "edge", ""]:
        """Whom the readers of a port believe.

        A reader believes what lets it give what it records itself; where that tells nothing, what its port says.

        Returns:
            `file` or `computed`; `edge`: computed, though ports of readers say what the file says; or nothing.
        """
        record, needed, said = self._record(gap.port), set[str](), set[str]()
        for reader, port in self._readers(graph, layer, gap.port.id):
            file, computed = (self._strain(graph, reader, port, known) for known in (record, gap.known))
            if file != computed:
                needed.add("file" if file < computed else "computed")
            if gap.dims != () or port.precision is not None:
                file, computed = (int(gap_of(port, known) is not None) for known in (record, gap.known))
                if file != computed:
                    said.add("file" if file < computed else "computed")
        if needed == {"computed"}:
            return "edge" if "file" in said else "computed"
        if needed == {"file"}:
            return "file"
        return "computed" if "computed" in said else "file" if said else ""

    def _strain(self, graph: Graph, reader: Layer, port: Port, known: Known) -> int:
        """How much goes wrong in a layer when a port gets this, and the others what the file records."""
        signature, sources = self._signatures.of(reader)[0], graph.sources(reader.id)
        inputs = [
            known if other.id == port.id else self._expected(graph, sources.get(other.id), other)
            for other in signature.inputs
        ]
        answer = self._answers.of(signature, inputs)
        gaps = [gap_of(out, now) for out, now in zip(signature.outputs, answer.outputs or (), strict=False)]
        wrong = sum(not violation.kind.mild for violation in answer.violations) + (answer.error is not None)
        return wrong + sum(gap is not None for gap in gaps)

    def _expected(self, graph: Graph, source: Source | None, port: Port) -> Known:
        """What an input will get: what is known already, constants with their values, else what the file records."""
        if source is None:
            return self._record(port)
        known = self._known[id(graph)].get(source)
        if known is not None:
            return known
        maker = graph.layer(source.layer)
        signature, offset = self._signatures.of(maker)
        outputs = self._answers.of(signature, ()).outputs if signature.type == "Const" else None
        if outputs:
            return self._answers.constant(maker, outputs[0], offset)
        return self._record(next((out for out in signature.outputs if out.id == source.port), port))

    def _idle(self, graph: Graph, layer: Layer, signature: LayerSignature, gap: Gap) -> bool:
        """Whether a wrong type is one that real files have: of a further output that nobody reads, or single for half.

        Tools wrote the first for the indices of MaxPool, and Model Optimizer the second for DetectionOutput. A layer
        that says its type itself contradicts itself.
        """
        said, given = self._record(gap.port).fact.dtype, gap.known.fact.dtype
        if gap.dims != () or layer.type in ("Parameter", "Const", "Convert"):
            return False
        further = gap.port.id != signature.outputs[0].id and not graph.readers(layer.id, gap.port.id)
        return (further and said.is_float and given.is_integer) or (said.name, given.name) == ("f32", "f16")

    def _readers(self, graph: Graph, layer: Layer, port_id: int) -> Iterator[tuple[Layer, Port]]:
        """The layers and their input ports that an output feeds."""
        for reader, to in graph.readers(layer.id, port_id):
            found = graph.layer(reader)
            yield found, next(port for port in self._signatures.of(found)[0].inputs if port.id == to)

    def _believed(self, port: Port, computed: Known) -> Known:
        """The record, with what it leaves open as it was computed."""
        record, fact = self._record(port).fact, computed.fact
        shape = record.shape
        if shape is not None and fact.shape is not None and len(shape) == len(fact.shape):
            shape = tuple(dim if size.hi is None else size for size, dim in zip(shape, fact.shape, strict=True))
        dtype = fact.dtype if record.dtype.kind == "dynamic" else record.dtype
        return self._facts.known(Fact(dtype, shape))

    # --- telling ---

    def _report(self, graph: Graph, problem: Problem) -> None:
        self._by_graph[id(graph)].append(problem)

    def _report_violations(self, graph: Graph, layer: Layer, violations: Sequence[Violation]) -> None:
        broken, seen = are_hard(violations), set[tuple[Kind, str]]()
        for fault in violations:
            if (fault.kind, fault.attribute) in seen or (broken and fault.kind in NUANCES):
                continue
            seen.add((fault.kind, fault.attribute))
            part, port = part_of(layer, fault)
            message = f"{fault.attribute} {fault.message}"
            first = fault.attribute.partition(" ")[0]
            is_named = part == "data" and (first in layer.raw or fault.kind in {Kind.MISSING, Kind.ASSUMED})
            attribute = first if is_named else None
            self._report(
                graph, Problem(fault.kind.value, layer, message, fault.remedy, part, port, attribute=attribute)
            )

    def _report_gap(
        self, graph: Graph, layer: Layer, gap: Gap, side: Literal["input", "output"], *, mild: bool = False
    ) -> None:
        """A port that alone is wrong."""
        dim = gap.dims[0] if gap.dims and len(gap.dims) == 1 else None
        fed = "what feeds it" if side == "input" else "the layer"
        for wrong, rule, says, gives in (
            (gap.dims != (), WRONG_PORT_SHAPE, dims_text(gap.port.dims), format_shape(gap.known.fact.shape)),
            (gap.types, WRONG_PORT_PRECISION, f"'{gap.port.precision}'", gap.known.precision),
        ):
            if wrong:
                message = f"{side} port {gap.port.id} records {says}, but {fed} gives {gives}"
                where = dim if rule == WRONG_PORT_SHAPE else None
                self._report(graph, Problem(rule, layer, message, None, side, gap.port.id, where, mild))


def _ordered(graph: Graph) -> Iterator[Layer]:
    """The layers in order, up to those that feed each other in a circle."""
    with suppress(GraphError):
        yield from graph.ordered()


def _place_of(layer: Layer, row: PortMapRow) -> int:
    """The number of a row among those of its port map."""
    rows = layer.content.mapping["port_map"]
    ends = str(row.port), str(row.layer)
    found = [(raw.get("external_port_id"), raw.get("internal_layer_id")) == ends for _, raw in rows]
    return found.index(True) if True in found else 0


def _single(fact: Fact) -> int | None:
    """The one number of a tensor, where it is known."""
    known = None if fact.value is None else fact.value.exact
    return int(known.ravel()[0]) if known is not None and known.size == 1 else None


def _huge(known: Known) -> bool:
    return known.fact.shape is not None and least_size(known.fact.shape, LARGEST) > LARGEST
