"""What in a model contradicts itself: each fault once, at the layer or port where file and computation first part."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from ir_tools.diagnostics import Severity
from ir_tools.graph import Graph, Layer, Model, Port, Source, find_port
from ir_tools.infer._answers import Answer, Checks
from ir_tools.infer._differences import (
    Difference,
    Relation,
    Side,
    are_apart,
    contradiction,
    difference,
    text_of,
)
from ir_tools.infer._engine import Engine, Tensors, Visit
from ir_tools.infer._iterations import problems_of_iterations
from ir_tools.infer._problems import Problem, Remark, problem_of, remark_on
from ir_tools.infer._signatures import LayerSignature
from ir_tools.ops import Elements, Op, Role, elements_of, role_of
from ir_tools.ops.bodies import Maps
from ir_tools.ops.definition import Fact, Violation, ViolationKind
from ir_tools.ops.interning import InternedFact, minimum_size
from ir_tools.ops.limits import MAX_ELEMENTS
from ir_tools.rules.operations import WRONG_ELEMENT_TYPE
from ir_tools.rules.shapes import (
    CONTRADICTING_RECORD,
    HUGE_OUTPUT,
    WRONG_PORT_PRECISION,
    WRONG_PORT_SHAPE,
)
from ir_tools.types import shape_text

__all__ = ["ConsistencyCheck", "LayerKind"]

NUANCES = {ViolationKind.SUSPECT, ViolationKind.EMPTY, ViolationKind.DIVISOR, ViolationKind.IGNORED}
"""Not reported of a layer that cannot run anyway."""
CORRECT = "if the layer is right, correct the record; ir-tools shapes -o OUT.xml corrects all records"
MAX_TRIED = 16
"""Inputs of one layer with which it is tried what it gives: each takes as long as the layer has inputs."""


class Evidence(enum.Enum):
    """What the consumers of an output bear out: what the file records of it, or what is computed.

    COPIED: they need what is computed, though ports of theirs record what the file does.
    """

    NONE = enum.auto()
    RECORD = enum.auto()
    COMPUTED = enum.auto()
    COPIED = enum.auto()


@dataclass(slots=True, eq=False)
class Verdict:
    """What is found at a layer.

    Attributes:
        answer: of its operation.
        differences: of its ports from what feeds them and what the layer gives.
        results: what is computed, the record where nothing is.
        too_large: the largest output, if it holds more than memory does.
        remark: on the operation itself.
        clean: whether nothing is wrong.
    """

    answer: Answer
    differences: Sequence[Difference]
    results: tuple[InternedFact, ...]
    too_large: InternedFact | None
    remark: Remark | None
    clean: bool

    def contradictions(self, side: Side) -> list[Difference]:
        """Return the ports that contradict what is known."""
        return [each for each in self.differences if each.side == side and each.relation is not Relation.LOOSE]


class LayerKind(NamedTuple):
    """What layers with equal attributes and inputs share; `outputs`: all that the operation has."""

    op: Op
    signature: LayerSignature
    inputs: Sequence[Fact]
    outputs: Sequence[Fact]


class ConsistencyCheck(Engine):
    """One walk through a model, bodies included; the model stays as it is.

    A layer's outputs are computed from what is believed of its inputs. Where that differs from the file, those who
    read the output decide: if their ports say what the file says, the layer is offending, and the file is believed from
    there on; otherwise only the port is wrong, and the computation is believed.

    Bodies may be walked often, and the problems of the last walk alone count: what no belief depends on is worked out
    when `problems` are asked for.
    """

    def __init__(self, model: Model) -> None:
        """Look at everything."""
        super().__init__(model, Checks.ALL)
        self._verdicts: dict[Answer, Verdict] = {}
        self._visits: list[tuple[Visit, Answer]] = []
        self._by_graph: dict[int, list[Iterable[Problem]]] = {}
        self._doubted: dict[tuple[int, Source], Port] = {}
        self._tried = Counter[tuple[int, int]]()
        self.walk(model.graph, {})

    @cached_property
    def problems(self) -> Sequence[Problem]:
        """What is wrong, graph by graph."""
        return [*chain.from_iterable(chain.from_iterable(self._by_graph.values()))]

    @property
    def types(self) -> set[str]:
        """The types of all layers that were looked at, in lower case."""
        return self.signatures.types

    @property
    def has_errors(self) -> bool:
        """Whether one of the problems is an error."""
        return any((problem.severity or problem.rule.severity) is Severity.ERROR for problem in self.problems)

    @property
    def kinds(self) -> Iterator[LayerKind]:
        """The kinds of layers that the runtime may take: one for all layers with equal attributes and inputs."""
        for visit, answer in self._visits:
            op, outputs = visit.signature.op, answer.outputs
            if op is not None and outputs is not None and all(fault.kind.mild for fault in answer.violations):
                yield LayerKind(op, visit.signature, visit.inputs, outputs)

    @property
    def surprises(self) -> Sequence[str]:
        """Rules that broke over a layer, which is a defect of the rule."""
        return self.answers.surprises

    # --- the policy ---

    def walk(self, graph: Graph, given: Mapping[int, Fact]) -> Tensors:
        """Walk as `Engine` does; problems of an earlier walk through the graph are dropped."""
        self._by_graph[id(graph)] = []
        return super().walk(graph, given)

    def believed(self, visit: Visit, answer: Answer) -> Sequence[InternedFact]:
        """Return what is computed, or recorded if that is to be believed; what is wrong is reported."""
        verdict = self._verdict(visit, answer)
        if verdict.clean:
            answer.settled = verdict.results
            return verdict.results
        return self._reported(visit, verdict)

    def given(self, visit: Visit, answer: Answer, fact: Fact) -> Sequence[InternedFact]:
        """Check a Parameter of a body: what it is given against its attributes and its port."""
        graph, layer, signature, _ = visit
        verdict = self._verdict(visit, answer)
        if verdict.remark is not None:
            self._report(graph, verdict.remark.about(layer))
        self._report_violations(visit, answer.violations)
        port = signature.outputs[0]
        own = answer.outputs[0] if answer.outputs else self.record(port)
        known = self.replaced(own, fact)
        wrong_port = contradiction(port, known)
        wrong_data = bool(answer.outputs) and are_apart(own, known)
        if not wrong_data:
            if wrong_port:
                self._report_difference(visit, wrong_port)
            return [known]
        outer, owner_id = self.owners[id(graph)]
        owner = outer.layer(owner_id)
        if wrong_port:
            message = f"passes {text_of(known)} to '{layer.name}' of its body, which records {text_of(own)}"
            self._report(graph, Problem(CONTRADICTING_RECORD, owner, message, None, "layer"))
            return [self._recorded(port, own)]
        message = f"records {text_of(own)}, but '{owner.name}' passes {text_of(known)} to it"
        self._report(graph, Problem(CONTRADICTING_RECORD, layer, message))
        return [known]

    def followed(self, visit: Visit, maps: Maps, inputs: Mapping[int, Fact], walked: Mapping[str, Tensors]) -> None:
        """Report inputs of other types than the bodies take, and what is wrong from one iteration to the next."""
        layer = visit.layer
        if visit.signature.op and visit.signature.op.bodies and visit.signature.op.bodies.own_types:
            self._check_types(layer, maps, inputs)
        for name, known in walked.items():
            body = layer.bodies[name]
            results = self.results_of(body, known).results
            for problem in problems_of_iterations(layer, body, maps[name], inputs, known, results):
                self._report(body, problem)

    def _check_types(self, layer: Layer, maps: Maps, inputs: Mapping[int, Fact]) -> None:
        reported = set[int]()
        for name, ports in maps.items():
            for row in ports.inputs:
                body, given = layer.bodies[name], inputs.get(row.port)
                parameter, _ = self.signatures.of(body.layer(row.layer))
                own = self.answers.of(parameter, ()).outputs if role_of(parameter) is Role.PARAMETER else None
                if given is None or not own or row.port in reported:
                    continue
                takes = own[0].dtype
                if takes != given.dtype and "dynamic" not in {takes.kind, given.dtype.kind}:
                    reported.add(row.port)
                    message = f"input has element type {given.dtype}, but the Parameter of its body has {takes}"
                    problem = Problem(WRONG_ELEMENT_TYPE, layer, message, "convert it", "input", row.port)
                    self._report(body, problem)

    # --- one layer ---

    def _verdict(self, visit: Visit, answer: Answer) -> Verdict:
        """Return what is found at a layer: worked out once per answer, as that is of one signature and equal inputs."""
        verdict = self._verdicts.get(answer)
        if verdict is None:
            verdict = self._verdicts[answer] = self._judge(visit, answer)
            self._visits.append((visit, answer))
        return verdict

    def _judge(self, visit: Visit, answer: Answer) -> Verdict:
        """Hold a layer's ports against what feeds them and against what it gives."""
        signature, computed = visit.signature, answer.outputs or ()
        ports: list[tuple[Port, InternedFact, Side]] = [
            *((port, known, "input") for port, known in zip(signature.inputs, visit.inputs, strict=True)),
            *((port, known, "output") for port, known in zip(signature.outputs, computed, strict=False)),
        ]
        differences = [found for each in ports if (found := difference(*each))]
        results = [*computed[: len(signature.outputs)]]
        results += [self.record(port) for port in signature.outputs[len(results) :]]
        if self.answers.lacks_values and visit.inputs:
            loose = {each.port.id for each in differences if (each.side, each.relation) == ("output", Relation.LOOSE)}
            results = [*self._with_records(visit, results, loose)]
        too_large = None
        if any(map(_is_huge, results)) and not any(map(_is_huge, visit.inputs)):
            too_large = max(results, key=lambda known: minimum_size(known.shape, MAX_ELEMENTS))
        remark = remark_on(signature)
        unknown = answer.outputs is None and bool(results)
        clean = not (unknown or answer.violations or differences or too_large or remark)
        return Verdict(answer, differences, tuple(results), too_large, remark, clean)

    def _reported(self, visit: Visit, verdict: Verdict) -> Sequence[InternedFact]:
        """Report what is wrong; returns what is believed of the outputs."""
        answer, inputs, outputs = verdict.answer, verdict.contradictions("input"), verdict.contradictions("output")
        if verdict.remark is not None:
            self._report(visit.graph, verdict.remark.about(visit.layer))
        self._by_graph[id(visit.graph)].append(self._loose(visit, verdict))
        for each in inputs:
            if not self._is_copy(visit, each):
                self._report_difference(visit, each)
        if inputs and (outputs or _cannot_run(answer.violations)):
            return self._as_recorded(visit, {each.port.id for each in inputs})
        self._report_violations(visit, answer.violations)
        if verdict.too_large is not None:
            message = (
                f"the output has shape {shape_text(verdict.too_large.shape)}, whose elements do not fit into memory"
            )
            self._report(visit.graph, Problem(HUGE_OUTPUT, visit.layer, message))
        if answer.outputs is None:
            ports = zip(visit.signature.outputs, verdict.results, strict=True)
            return [self._outvoted(visit, port) or known for port, known in ports]
        return self._blame(visit, verdict.results, outputs) if outputs else verdict.results

    def _loose(self, visit: Visit, verdict: Verdict) -> Iterator[Problem]:
        """Yield the ports that alone say more or less than is known."""
        for each in verdict.differences:
            if each.relation is Relation.LOOSE and (self._is_declared(visit, each) or self._is_alone(visit, each)):
                yield from _problems_of(visit.layer, each, Severity.WARNING)

    def _as_recorded(self, visit: Visit, wrong: set[int]) -> Sequence[InternedFact]:
        """Go on as though the inputs were what their ports record: what does not fit is reported with those ports."""
        pairs = zip(visit.signature.inputs, visit.inputs, strict=True)
        inputs = [self.record(port) if port.id in wrong else known for port, known in pairs]
        visit = visit._replace(inputs=inputs)
        verdict = self._verdict(visit, self.answers.of(visit.signature, inputs))
        self._report_violations(visit, verdict.answer.violations)
        doubtful = {each.port.id for each in verdict.contradictions("output")}
        if not verdict.answer.outputs:
            doubtful = {port.id for port in visit.signature.outputs}
        return self._with_records(visit, verdict.results, doubtful)

    # --- who is at fault ---

    def _blame(
        self, visit: Visit, results: Sequence[InternedFact], wrong: Sequence[Difference]
    ) -> Sequence[InternedFact]:
        """Decide by the consumers of outputs that differ from the record whether layer or port is wrong."""
        evidence = {each.port.id: self._evidence(visit, each) for each in wrong}
        for each in wrong:
            if evidence[each.port.id] is Evidence.RECORD and each.relation is not Relation.UNKNOWN_RANK:
                recorded = text_of(self.record(each.port))
                message = f"the output is {text_of(each.known)}, but the layer and its consumers record {recorded}"
                if len(visit.signature.outputs) > 1:
                    message += f" (output port {each.port.id})"
                self._report(visit.graph, Problem(CONTRADICTING_RECORD, visit.layer, message))
                return self._with_records(visit, results, {port.port.id for port in wrong})
        for each in wrong:
            found = evidence[each.port.id]
            unranked = each.relation is Relation.UNKNOWN_RANK
            if unranked and found is not Evidence.COMPUTED and not self._is_alone(visit, each):
                continue
            if found is Evidence.COPIED:
                self._doubted[id(visit.graph), Source(visit.layer.id, each.port.id)] = each.port
            usual = found is Evidence.NONE and self._is_usual(visit, each)
            self._report_difference(visit, each, Severity.WARNING if usual else None)
        return results

    def _evidence(self, visit: Visit, wrong: Difference) -> Evidence:
        """Whom the consumers of a port believe.

        A consumer believes what lets it give what it records itself; where that decides nothing, what its port says.
        One with very many wrong inputs is not tried with each.
        """
        record, needed, said = self.record(wrong.port), set[Evidence](), set[Evidence]()
        for consumer, port in self._consumers(visit, wrong.port):
            place = id(visit.graph), consumer.id
            self._tried[place] += 1
            if self._tried[place] <= MAX_TRIED:
                file, computed = (
                    self._errors_with(visit.graph, consumer, port, known) for known in (record, wrong.known)
                )
                if file != computed:
                    needed.add(Evidence.RECORD if file < computed else Evidence.COMPUTED)
            file, computed = (int(contradiction(port, known) is not None) for known in (record, wrong.known))
            if file != computed:
                said.add(Evidence.RECORD if file < computed else Evidence.COMPUTED)
        if needed == {Evidence.COMPUTED}:
            return Evidence.COPIED if Evidence.RECORD in said else Evidence.COMPUTED
        if needed == {Evidence.RECORD}:
            return Evidence.RECORD
        return Evidence.COMPUTED if Evidence.COMPUTED in said else Evidence.RECORD if said else Evidence.NONE

    def _errors_with(self, graph: Graph, consumer: Layer, port: Port, known: InternedFact) -> int:
        """Return how much goes wrong in a layer when a port gets this, and the others what the file records."""
        signature, sources = self.signatures.of(consumer)[0], graph.sources(consumer.id)
        inputs = [
            known if other.id == port.id else self._expected(graph, sources.get(other.id), other)
            for other in signature.inputs
        ]
        answer = self.answers.of(signature, inputs)
        wrong = [contradiction(out, now) for out, now in zip(signature.outputs, answer.outputs or (), strict=False)]
        faults = sum(not violation.kind.mild for violation in answer.violations)
        return faults + sum(each is not None for each in wrong)

    def _expected(self, graph: Graph, source: Source | None, port: Port) -> InternedFact:
        """Return what an input will get: what is known, constants with their values, else what the file records."""
        if source is None:
            return self.record(port)
        known = self.facts[id(graph)].get(source)
        if known is not None:
            return known
        producer = graph.layer(source.layer)
        signature, offset = self.signatures.of(producer)
        outputs = self.answers.of(signature, ()).outputs if role_of(signature) is Role.CONSTANT else None
        if outputs:
            return self.answers.constant(signature, outputs[0], offset)
        return self.record(find_port(signature.outputs, source.port) or port)

    def _outvoted(self, visit: Visit, port: Port) -> InternedFact | None:
        """Return what two or more consumers record of a port of which nothing can be computed, if all contradict it."""
        if visit.graph.reads(visit.layer.id, port.id) < 2:
            return None
        consumers = [other for _, other in self._consumers(visit, port)]
        record = self.record(port)
        if any(contradiction(other, record) is None for other in consumers):
            return None
        said = self.record(consumers[0])
        wrong = contradiction(port, said)
        if wrong is None or any(contradiction(other, said) for other in consumers):
            return None
        self._by_graph[id(visit.graph)].append(_problems_of(visit.layer, wrong, None, "its consumers record"))
        return said

    def _is_copy(self, visit: Visit, wrong: Difference) -> bool:
        """Return whether an input port only repeats what the port that feeds it records, which is reported already."""
        unranked = wrong.relation is Relation.UNKNOWN_RANK
        if not self._doubted and not unranked:
            return False
        source = visit.graph.source(visit.layer.id, wrong.port.id)
        assert source is not None
        producer = self._doubted.get((id(visit.graph), source))
        if producer is None and unranked:
            producer = self._output(visit.graph, source)
        return (
            producer is not None
            and producer.dims == wrong.port.dims
            and wrong.port.precision in {None, producer.precision}
        )

    def _is_alone(self, visit: Visit, wrong: Difference) -> bool:
        """Return whether the ports at the other end of an edge all say what is computed, and this one does not.

        Who writes a file writes the same at both ends, also where another release knows more or less of a shape.
        """
        if wrong.side == "output":
            others = [port for _, port in self._consumers(visit, wrong.port)]
        else:
            source = visit.graph.source(visit.layer.id, wrong.port.id)
            producer = None if source is None else self._output(visit.graph, source)
            others = [] if producer is None else [producer]
        return bool(others) and all(port.dims == wrong.known.dims for port in others)

    def _is_declared(self, visit: Visit, wrong: Difference) -> bool:
        """Return whether a layer says itself which shape its output has, so that no release knows more or less."""
        return wrong.side == "output" and role_of(visit.layer) is Role.PARAMETER

    def _is_usual(self, visit: Visit, wrong: Difference) -> bool:
        """Return whether a wrong type is one that real files have: of an output without consumers, or f32 for f16.

        Tools wrote the first for the indices of MaxPool, and Model Optimizer the second for DetectionOutput. A layer
        that says its type itself contradicts itself.
        """
        said, given = self.record(wrong.port).dtype, wrong.known.dtype
        if wrong.dims != () or role_of(visit.layer) in {Role.PARAMETER, Role.CONSTANT}:
            return False
        if elements_of(visit.layer) is Elements.CONVERTED:
            return False
        first = wrong.port.id == visit.signature.outputs[0].id
        unread = not first and not visit.graph.consumers(visit.layer.id, wrong.port.id)
        return (unread and said.is_float and given.is_integer) or (said.name, given.name) == ("f32", "f16")

    def _consumers(self, visit: Visit, port: Port) -> Iterator[tuple[Layer, Port]]:
        """Yield the layers and their input ports that an output feeds."""
        for consumer, to in visit.graph.consumers(visit.layer.id, port.id):
            found = visit.graph.layer(consumer)
            read = find_port(self.signatures.of(found)[0].inputs, to)
            assert read is not None
            yield found, read

    def _output(self, graph: Graph, source: Source) -> Port | None:
        return find_port(self.signatures.of(graph.layer(source.layer))[0].outputs, source.port)

    # --- records in place of what is computed ---

    def _with_records(self, visit: Visit, results: Sequence[InternedFact], ports: set[int]) -> Sequence[InternedFact]:
        """Return the outputs, some of them as recorded."""
        pairs = zip(visit.signature.outputs, results, strict=True)
        return [self._recorded(port, known) if port.id in ports else known for port, known in pairs]

    def _recorded(self, port: Port, computed: InternedFact) -> InternedFact:
        """Return the record, with what it leaves open as it was computed."""
        record = self.record(port)
        shape = record.shape
        if shape is not None and computed.shape is not None and len(shape) == len(computed.shape):
            shape = tuple(dim if size.hi is None else size for size, dim in zip(shape, computed.shape, strict=True))
        dtype = computed.dtype if record.dtype.kind == "dynamic" else record.dtype
        return self.table.interned(Fact(dtype, shape))

    # --- reporting ---

    def _report(self, graph: Graph, problem: Problem) -> None:
        self._by_graph[id(graph)].append([problem])

    def _report_violations(self, visit: Visit, violations: Sequence[Violation]) -> None:
        violations = [self._of_what_is_read(visit, fault) for fault in violations]
        cannot_run, seen = _cannot_run(violations), set[tuple[ViolationKind, str]]()
        for fault in violations:
            if (fault.kind, fault.attribute) not in seen and not (cannot_run and fault.kind in NUANCES):
                seen.add((fault.kind, fault.attribute))
                self._report(visit.graph, problem_of(visit.layer, fault))

    def _of_what_is_read(self, visit: Visit, fault: Violation) -> Violation:
        """Return a violation, which is a suspect setting where nothing reads the only output that it concerns."""
        if fault.output is None:
            return fault
        ports = visit.signature.outputs[fault.output : fault.output + 1]
        read = any(visit.graph.reads(visit.layer.id, port.id) for port in ports)
        return fault if read else replace(fault, kind=ViolationKind.SUSPECT)

    def _report_difference(self, visit: Visit, wrong: Difference, severity: Severity | None = None) -> None:
        """Report a port that alone is wrong."""
        self._by_graph[id(visit.graph)].append(_problems_of(visit.layer, wrong, severity))


def _problems_of(
    layer: Layer, wrong: Difference, severity: Severity | None, who: str | None = None
) -> Iterator[Problem]:
    """Yield what a port records that is not so. `who`: who says so, if that is not the layer that is computed."""
    port, known = wrong.port, wrong.known
    dim = wrong.dims[0] if wrong.dims and len(wrong.dims) == 1 else None
    who = who or ("its producer outputs" if wrong.side == "input" else "the layer outputs")
    for differs, rule, says, gives, place in (
        (wrong.dims != (), WRONG_PORT_SHAPE, shape_text(port.dims), shape_text(known.shape), dim),
        (wrong.types, WRONG_PORT_PRECISION, f"'{port.precision}'", known.dtype.precision, None),
    ):
        if differs:
            message = f"{wrong.side} port {port.id} records {says}, but {who} {gives}"
            yield Problem(rule, layer, message, CORRECT, wrong.side, port.id, place, severity)


def _cannot_run(violations: Sequence[Violation]) -> bool:
    return any(not violation.kind.mild for violation in violations)


def _is_huge(known: InternedFact) -> bool:
    return known.shape is not None and minimum_size(known.shape, MAX_ELEMENTS) > MAX_ELEMENTS
