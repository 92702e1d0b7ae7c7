"""Layers that the newest release of OpenVINO does not compile, or does not run, by the tables of releases."""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cache, partial

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, element_of
from ir_tools.diagnostics import Severity
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Graph, Layer
from ir_tools.infer import AnswerTable, LayerKind, LayerSignature
from ir_tools.known_differences import Call
from ir_tools.known_differences.releases import Seen, rows_of
from ir_tools.known_differences.releases.seen import Pattern, Unplaced, is_possible
from ir_tools.known_differences.surroundings import Surroundings, idle_bodies
from ir_tools.known_differences.verdicts import Answer, behaviour, is_deadly, is_plain
from ir_tools.ops import Op, Role, opset_number
from ir_tools.ops.definition import Fact
from ir_tools.releases.measured import State
from ir_tools.releases.table import OPENVINO
from ir_tools.rules.compatibility import UNCOMPILED_LAYER
from ir_tools.types import ELEMENT_TYPES

__all__ = ["CHECK"]

NEWEST = OPENVINO[-1]
DECIDED = frozenset({Role.COMPUTATION, Role.RESULT, Role.READ_VARIABLE, Role.ASSIGN_VARIABLE})
"""Roles of layers that are decided by what they are and what is around them."""
HARMLESS = frozenset({State.RUNS, State.DIFFERS})
"""What validate says nothing of."""


def find(file: IrFile, *, deadly: bool = False) -> Iterator[ElementProblem]:
    """Yield one problem for each layer; `deadly`: only for those of operations that may end the process.

    Most kinds of layers run wherever they are. Of the others, what is around each layer decides, too. Nothing is said
    of a file with errors, so that sizes and constants may be unknown that the corrected file has.
    """
    model, consistency = file.model, file.consistency
    if model.is_legacy or any(one.is_error for one in file.unread) or consistency.has_errors:
        return
    types = {layer.type for graph in model.graphs() for layer in graph.layers()}
    part = frozenset(pattern for pattern in Pattern if is_possible(pattern, types))
    stopped = partial(_may_be_stopped, version=model.version, types=frozenset(types))
    counts = Counter(kind.signature.number for kind in consistency.kinds)
    kinds: dict[Hashable, tuple[LayerKind, bool]] = {}  # with whether it stops only at what is part of a pattern
    numbers = set[int]()
    for kind in consistency.kinds:
        number = kind.signature.number
        if number not in numbers and (not deadly or _may_end(str(kind.op))) and stopped(kind, patterns=part):
            numbers.add(number)
            key = _key(kind.signature)
            _, by_patterns = kinds.get(key, (kind, True))
            kinds[key] = kind, by_patterns and counts[number] == 1 and not stopped(kind)
    around = Surroundings(model, idle_bodies(model, partial(_inputs, file)) if kinds else frozenset())
    reasons = AnswerTable[str | None]()
    known: dict[int, tuple[LayerKind, bool] | None] = {}
    for located in model.walk() if kinds else ():
        signature, _ = consistency.signatures.of(located.layer)
        if signature.number not in known:
            known[signature.number] = kinds.get(_key(signature))
        found = known[signature.number]
        if found is None or not around.is_read(located):
            continue
        _, layer, graph = located
        outputs = [consistency.facts[id(graph)][layer.id, port.id] for port in layer.common.outputs]
        kind, by_patterns = found
        if by_patterns and not around.patterns(graph, layer, kind.op, outputs):
            continue
        seen = around.seen(located, kind.op, _inputs(file, graph, layer), outputs, model.version)
        about = id(kind), len(seen.inputs), *seen.around
        reason = reasons.of(about, (*seen.inputs, *seen.outputs), _reason, seen)
        if reason is not None:
            message = f"OpenVINO {NEWEST.short} does not run the layer: {reason.removesuffix('.')}"
            severity = Severity.ERROR if is_deadly(NEWEST, seen) else Severity.WARNING
            yield ElementProblem(UNCOMPILED_LAYER, element_of(located.layer), message, HELP, severity)


def _key(signature: LayerSignature) -> Hashable:
    """Return what layers of a kind have in common, whether another rule has looked into a layer or not."""
    ports = (
        tuple((port.id, port.precision, port.dims) for port in side) for side in (signature.inputs, signature.outputs)
    )
    return signature.type, signature.version, *signature.raw.items(), *ports


HELP = "see ir-tools compat for the releases that run it"


def _may_be_stopped(
    kind: LayerKind, version: int, types: frozenset[str], patterns: frozenset[str] = frozenset()
) -> bool:
    """Return whether the newest release may stop at layers of a kind, whatever is around them.

    `types`: those of the layers of the model; `patterns`: what a layer of it may be part of.
    """
    op, signature, inputs, outputs = kind
    if op.role is Role.CONSTANT:
        return not _runs_constants(op, types)
    ranked = all(fact.shape is not None for fact in outputs)
    if op.role not in DECIDED or (ranked and _is_plain(str(op), frozenset(fact.dtype.name for fact in inputs))):
        return False
    inside = Seen(
        op,
        op.read(signature.raw, []),
        inputs,
        outputs,
        constant=frozenset(at for at, fact in enumerate(inputs) if fact.constant or fact.exact is not None),
        version=version,
        opset=opset_number(signature.version) or 6,
        absent=op.absent(signature.raw),
        producers=("",) * len(inputs),
        readers=tuple((number, "") for number in range(len(outputs))),
    )
    behind = (replace(inside, producers=producers) for producers in _deciding_producers(str(op)))
    part = replace(inside, patterns=patterns)
    return any(map(_reason, (inside, replace(inside, first=True, last=True), part, *behind)))


@cache
def _is_plain(op: str, kinds: frozenset[str]) -> bool:
    """Return whether the newest release stops at no layer of an operation on these element types."""
    return is_plain(NEWEST, op, kinds, harmless=HARMLESS)


@cache
def _may_end(op: str) -> bool:
    """Return whether the process of the newest release may end over a layer of an operation."""
    return not is_plain(NEWEST, op, frozenset(ELEMENT_TYPES), harmless=frozenset(State) - {State.DIES})


def _runs_constants(op: Op, types: frozenset[str]) -> bool:
    """Return whether the newest release stops at no constant of models of these types of layers."""
    return is_plain(NEWEST, str(op), frozenset(), alone=Unplaced(op, None, types), harmless=HARMLESS)


@cache
def _deciding_producers(op: str) -> frozenset[tuple[str, ...]]:
    """Return the types of layers that compute inputs in the models of rows that are about them."""
    feeds = (row.model.inputs for row in rows_of(NEWEST.name, op) if row.state is not State.DIFFERS)
    types = (tuple(feed.operation.type if isinstance(feed, Call) else "" for feed in inputs) for inputs in feeds)
    return frozenset(filter(any, types))


def _inputs(file: IrFile, graph: Graph, layer: Layer) -> list[Fact]:
    """Return what is known of the inputs of a layer that are connected, in order."""
    facts, sources = file.consistency.facts[id(graph)], graph.sources(layer.id)
    return [facts[sources[port.id]] for port in layer.common.inputs if port.id in sources]


def _reason(seen: Seen) -> str | None:
    """Return why the newest release stops at a layer; None if it does not, or if that is for the rank of its inputs.

    A rank is mostly unknown where that of an input of the model is, which has a rule of its own.
    """
    if any(fact.shape is None for fact in seen.inputs):
        return None
    found = behaviour(NEWEST, seen)
    return found[1] if found is not None and found[0] in {Answer.READS, Answer.STOPPED} else None


CHECK = Check(find, (UNCOMPILED_LAYER,), partial(find, deadly=True))
