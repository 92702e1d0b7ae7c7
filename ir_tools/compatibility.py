"""Which releases of OpenVINO run a model, by the tables of `ir_tools.releases`: nothing is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ir_tools.collection import gc_paused
from ir_tools.diagnostics import Severity
from ir_tools.display import brief_fields, plural
from ir_tools.errors import IrToolsError
from ir_tools.graph import Graph, Layer, Located, Model
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences.releases import Seen, release_differences
from ir_tools.ops import Attrs, Op, Role, find_op, opset_number, role_of
from ir_tools.ops.definition import REQUIRED, Fact, Flag, OneOf
from ir_tools.releases.measured import State, is_measured, state
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.rewrite.legacy import migrate_legacy
from ir_tools.rewrite.migration import migrate
from ir_tools.rules import RULES
from ir_tools.rules.shapes import CONTRADICTING_RECORD, WRONG_PORT_PRECISION
from ir_tools.types import element_type
from ir_tools.validation import validate

__all__ = ["Answer", "Compatibility", "Migrated", "Obstacle", "after_migration", "compatibility", "summary"]


class Answer(StrEnum):
    """What a release does with a model."""

    RUNS = "runs"
    DIFFERS = "other values"
    READS = "reads"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A layer that a release stops at, or that gives other values there; of the whole model, the path is empty."""

    path: str
    line: int | None
    layer: str
    reason: str
    answer: Answer

    __repr__ = brief_fields

    def __str__(self) -> str:
        """Return `pool (line 12, AvgPool opset14): is not read`."""
        where = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.layer)))
        return f"{self.path} ({where}): {self.reason}" if self.path else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """What a release does with a model, and the layers that are the reason, in the order of the model."""

    release: Release
    answer: Answer
    obstacles: tuple[Obstacle, ...] = ()

    __repr__ = brief_fields


@dataclass(frozen=True, slots=True)
class _Case:
    """What of a layer decides about releases; there is one for equal layers."""

    op: Op | None
    opset: int
    attrs: Attrs | None
    inputs: tuple[Fact, ...]
    outputs: tuple[Fact, ...]
    constant: frozenset[int]
    held: frozenset[str]
    border: bool
    short: bool
    open: bool


SEVERITY = (Answer.STOPPED, Answer.UNKNOWN, Answer.READS, Answer.DIFFERS)
"""The answers for a layer, the one that decides about the model first."""
ANSWERS = {
    State.UNREAD: Answer.STOPPED,
    State.UNCOMPILED: Answer.READS,
    State.FAILS: Answer.READS,
    State.DIES: Answer.READS,
    State.DIFFERS: Answer.DIFFERS,
}
FIRST_EMPTY = (2023, 3)
"""The first release that takes tensors without elements everywhere."""
RANKS = (State.UNREAD, State.DIES, State.UNCOMPILED, State.FAILS, State.DIFFERS, State.RUNS)
"""From worst to best."""
UNKNOWN = Fact(element_type("dynamic"), None)
IGNORED = (WRONG_PORT_PRECISION, CONTRADICTING_RECORD)
"""What ports record the runtime works out again."""
ERRORS = tuple(rule.code for rule in RULES if rule.severity is Severity.ERROR and rule not in IGNORED)


@gc_paused()
def compatibility(model: Model, releases: Sequence[Release] = OPENVINO) -> tuple[Compatibility, ...]:
    """Return what each release does with a model.

    A model of IR v2 to v7 is read by none of them. Nothing is claimed of a model in which `validate` finds errors.
    """
    if model.is_legacy:
        reason = f"IR v{model.version} is of Inference Engine until 2020; ir-tools migrate makes IR v11 of it"
        return tuple(_whole(release, Answer.STOPPED, reason) for release in releases)
    problem = _problem(model)
    if problem is not None:
        return tuple(_whole(release, Answer.UNKNOWN, problem) for release in releases)
    layers = [*_layers(model)]
    return tuple(_on(release, model, layers) for release in releases)


def summary(found: Sequence[Compatibility]) -> str:
    """Return one line: `OpenVINO 2022.1 to 2024.0, 2024.2 to 2026.4`, of the releases that run the model.

    `unknown` if nothing is known of any.
    """
    runs: list[list[str]] = []
    answers = {one.release.name: one.answer for one in found}
    before = False
    for release in OPENVINO:
        here = answers.get(release.name) is Answer.RUNS
        name = release.name.removeprefix("openvino-")
        if here and before:
            runs[-1].append(name)
        elif here:
            runs.append([name])
        before = here
    if not runs:
        return "unknown" if {*answers.values()} == {Answer.UNKNOWN} else "no release of OpenVINO"
    return "OpenVINO " + ", ".join(names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in runs)


@dataclass(frozen=True, slots=True)
class Migrated:
    """Whether a release runs a model that is migrated for it, and in how many steps, or why not."""

    runs: bool
    why: str

    def __str__(self) -> str:
        """Return `yes: 3 steps`."""
        return f"{'yes' if self.runs else 'no'}: {self.why}"


def after_migration(model: Model, release: Release) -> Migrated:
    """Return whether a release runs a model after `migrate --for` this release."""
    migration = migrate_legacy if model.is_legacy else migrate
    try:
        found = migration(model, release.name)
    except IrToolsError as why:
        return Migrated(False, str(why))
    if found.refused:
        more = f" and {len(found.refused) - 1} more" if len(found.refused) > 1 else ""
        return Migrated(False, f"{found.refused[0]}{more}")
    after = _on(release, found.model, [*_layers(found.model)])
    if after.answer is Answer.RUNS:
        return Migrated(True, plural(len(found.steps), "step"))
    return Migrated(False, f"{after.answer}: {after.obstacles[0]}")


def _whole(release: Release, answer: Answer, reason: str) -> Compatibility:
    obstacle = Obstacle(path="", line=None, layer="", reason=reason, answer=answer)
    return Compatibility(release=release, answer=answer, obstacles=(obstacle,))


def _problem(model: Model) -> str | None:
    """Return why nothing can be said of a model; None if there is no reason."""
    errors = validate(model, select=ERRORS)
    if not errors:
        return None
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"{errors[0].code}: {errors[0].message}{more} (ir-tools validate)"


# --- what is asked about ------------------------------------------------------------------------------------------


def _layers(model: Model) -> Iterator[tuple[Located, _Case]]:
    """Yield the layers with what decides about releases."""
    try:
        facts = propagate_shapes(model).facts
    except IrToolsError:
        facts = {}
    constants: dict[int, dict[int, frozenset[str]]] = {}
    cases: dict[object, _Case] = {}
    for located in model.walk():
        path, layer, graph = located
        if id(graph) not in constants:
            constants[id(graph)] = _constants(graph)
        known = constants[id(graph)]
        sources = graph.sources(layer.id)
        ports = [port for port in layer.inputs if port.id in sources]
        op = find_op(layer.type, layer.version)
        inputs = tuple(facts.get((path, port.id)) or UNKNOWN for port in ports)
        outputs = tuple(facts.get((path, port.id)) or UNKNOWN for port in layer.outputs)
        case = _Case(
            op,
            opset_number(layer.version) or 6,
            None if op is None else op.read(layer.raw, []),
            inputs,
            outputs,
            frozenset(number for number, port in enumerate(ports) if sources[port.id].layer in known),
            frozenset().union(*(known.get(sources[port.id].layer, ()) for port in ports)),
            _is_border(graph, layer),
            op is not None and any((spec.xml or name) not in layer.raw for name, spec in op.attrs.items()),
            any(size < 0 for port in (*layer.inputs, *layer.outputs) for size in port.dims),
        )
        yield located, cases.setdefault(_key(layer, case), case)


def _key(layer: Layer, case: _Case) -> object:
    """Return what is equal for layers that no release tells apart."""
    tensors = tuple((fact.dtype.name, fact.shape) for fact in (*case.inputs, *case.outputs))
    raw = () if role_of(layer) is Role.CONSTANT else tuple(layer.raw.items())
    own = layer.id if role_of(layer) is Role.READ_VARIABLE else None
    return str(case.op), case.opset, raw, tensors, case.constant, case.held, case.border, case.short, case.open, own


def _is_border(graph: Graph, layer: Layer) -> bool:
    """Return whether a layer reads an input of its graph, or gives an output of it."""
    before = (graph.layer(source.layer) for source in graph.sources(layer.id).values())
    after = (target for port in layer.outputs for target, _ in graph.consumers(layer.id, port.id))
    return any(role_of(one) is Role.PARAMETER for one in before) or any(
        role_of(graph.layer(one)) is Role.RESULT for one in after
    )


def _constants(graph: Graph) -> dict[int, frozenset[str]]:
    """Return the layers that are computed of constants alone, with the element types of these."""
    found: dict[int, frozenset[str]] = {}
    for layer in graph.ordered():
        sources = graph.sources(layer.id).values()
        if role_of(layer) is Role.CONSTANT:
            found[layer.id] = frozenset({layer.raw.get("element_type", "")})
        elif role_of(layer) is Role.COMPUTATION and sources and all(one.layer in found for one in sources):
            found[layer.id] = frozenset().union(*(found[one.layer] for one in sources))
    return found


# --- one release --------------------------------------------------------------------------------------------------


def _on(release: Release, model: Model, layers: Sequence[tuple[Located, _Case]]) -> Compatibility:
    if not is_measured(release):
        return _whole(release, Answer.UNKNOWN, "it was not measured")
    if not release.reads[0] <= model.version <= release.reads[1]:
        return _whole(release, Answer.STOPPED, f"it does not read IR v{model.version}")
    obstacles = []
    verdicts = {
        id(case): _verdict(release, model.version, case) for case in {id(case): case for _, case in layers}.values()
    }
    for located, case in layers:
        found = verdicts[id(case)]
        if found is not None:
            answer, reason = found
            layer = f"{located.layer.type} {located.layer.version}"
            line = model.line_of(located.graph, located.layer.id)
            obstacles.append(Obstacle(path=located.path, line=line, layer=layer, reason=reason, answer=answer))
    answers = {one.answer for one in obstacles}
    answer = next((one for one in SEVERITY if one in answers), Answer.RUNS)
    return Compatibility(
        release=release, answer=answer, obstacles=tuple(one for one in obstacles if one.answer is answer)
    )


def _verdict(release: Release, version: int, case: _Case) -> tuple[Answer, str] | None:
    """Return what a release does with a layer, and why; None if it runs it."""
    op = case.op
    if op is None:
        return Answer.STOPPED, "no release reads such an operation"
    if not release.holds(op, case.opset):
        return Answer.STOPPED, f"{op} is not read with the stamp opset{case.opset}"
    for fact in (*case.inputs, *case.outputs):
        if not release.has_type(fact.dtype.name):
            return Answer.STOPPED, f"the element type {fact.dtype.name} is not known there"
        if not release.dynamic and (fact.shape is None or not all(dim.static for dim in fact.shape)):
            if case.open or op.role is Role.PARAMETER:
                return Answer.STOPPED, "sizes have to be known"
            return Answer.UNKNOWN, "sizes that follow from values were not measured"
        if release.number < FIRST_EMPTY and any(dim.hi == 0 for dim in fact.shape or ()):
            return Answer.STOPPED, "a tensor without elements is not accepted"
    if op.role is Role.ASSIGN_VARIABLE:
        return None
    plain = state(release, str(op))
    if plain is None:
        return Answer.UNKNOWN, f"{op} was not measured"
    found = _worst(release, op, plain, _cases(op, version, case))
    seen = Seen(op, case.attrs, case.inputs, case.outputs, case.constant, version, case.held)
    if ANSWERS.get(found[0]) in {None, Answer.DIFFERS} and (rows := release_differences(release, seen)):
        return Answer.DIFFERS, rows[0].reason
    folded = bool(case.inputs) and len(case.constant) == len(case.inputs) and found[0] is not State.DIES
    if found[0] is State.RUNS or folded:
        return None
    return ANSWERS[found[0]], f"{op}{f' with {found[1]}' if found[1] else ''} {found[0].words}"


def _worst(release: Release, op: Op, plain: State, cases: Iterator[str]) -> tuple[State, str]:
    """Return what decides of the cases that a layer falls under, and the case.

    One that is better than the plain model shows that something else of that model is the reason, which is not here.
    """
    rows = [(found, name) for name in cases if (found := state(release, str(op), name)) not in {None, plain}]
    known = [(RANKS.index(found), name) for found, name in rows if found is not None]
    rank = RANKS.index(plain)
    worse, better = [row for row in known if row[0] < rank], [row for row in known if row[0] > rank]
    chosen = min(worse, default=None) or max(better, default=(rank, ""))
    return RANKS[chosen[0]], chosen[1]


def _cases(op: Op, version: int, case: _Case) -> Iterator[str]:
    """Yield the cases of the table that a layer falls under."""
    if version == 10 and case.border:
        yield "v10"
    if case.short:
        yield "short"
    facts = case.outputs if op.role in {Role.PARAMETER, Role.CONSTANT} else case.inputs
    if facts:
        yield facts[0].dtype.name
        sizes = facts[0].shape
        if op.role is Role.COMPUTATION and (sizes is None or not all(dim.static for dim in sizes)):
            first = sizes is not None and all(dim.static for dim in sizes[1:])
            yield "batch ?" if first else "?"
    for number in range(1, len(facts)):
        if number not in case.constant:
            yield f"input {number}"
    for name, spec in op.attrs.items():
        value = REQUIRED if case.attrs is None else case.attrs[name]
        if isinstance(spec, OneOf):
            yield f"{spec.xml or name}={value}"
        elif isinstance(spec, Flag):
            yield f"{spec.xml or name}={str(bool(value)).lower()}"
