"""What a release does with a layer, by the table of what was measured and by that of known differences."""

from collections.abc import Iterator, Mapping, Sequence, Set
from enum import StrEnum

from ir_tools.graph import Graph, Layer, Located, Model
from ir_tools.known_differences.releases import Seen, release_differences, rows_of
from ir_tools.ops import Op, Role, opset_number, role_of
from ir_tools.ops.definition import REQUIRED, Fact, Flag, OneOf
from ir_tools.releases.measured import State, cases, state
from ir_tools.releases.table import Release
from ir_tools.types import ELEMENT_TYPES

__all__ = ["Answer", "Surroundings", "behaviour", "is_plain", "verdict"]


class Answer(StrEnum):
    """What a release does with a layer or a model."""

    RUNS = "runs"
    DIFFERS = "other values"
    READS = "reads"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


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


def verdict(release: Release, seen: Seen) -> tuple[Answer, str] | None:
    """Return what a release does with a layer, and why; None if it runs it."""
    op = seen.op
    if not release.holds(op, seen.opset):
        return Answer.STOPPED, f"{op} is not read with the stamp opset{seen.opset}"
    for fact in (*seen.inputs, *seen.outputs):
        if not release.has_type(fact.dtype.name):
            return Answer.STOPPED, f"the element type {fact.dtype.name} is not known there"
        if not release.dynamic and (fact.shape is None or not all(dim.static for dim in fact.shape)):
            if seen.open or op.role is Role.PARAMETER:
                return Answer.STOPPED, "sizes have to be known"
            return Answer.UNKNOWN, "sizes that follow from values were not measured"
        if release.number < FIRST_EMPTY and any(dim.hi == 0 for dim in fact.shape or ()):
            return Answer.STOPPED, "a tensor without elements is not accepted"
    return behaviour(release, seen)


def behaviour(release: Release, seen: Seen) -> tuple[Answer, str] | None:
    """Return what a release does with a layer of an operation, sizes and types that it reads; None if it runs it."""
    op = seen.op
    if op.role is Role.ASSIGN_VARIABLE:
        return None
    plain = state(release, str(op))
    if plain is None:
        return Answer.UNKNOWN, f"{op} was not measured"
    found = _worst(release, op, plain, _cases_of(release, seen))
    if found[0] in {State.RUNS, State.DIFFERS} and rows_of(release.name, str(op)):
        rows = release_differences(release, seen)
        return (Answer.DIFFERS, rows[0].reason) if rows else None
    folded = bool(seen.inputs) and len(seen.constant) == len(seen.inputs) and found[0] is not State.DIES
    if found[0] is State.RUNS or folded:
        return None
    return ANSWERS[found[0]], f"{op}{f' with {found[1]}' if found[1] else ''} {found[0].words}"


def is_plain(release: Release, op: Op, kinds: Set[str]) -> bool:
    """Return whether a release runs all layers of an operation, as far as tensors of these element types go."""
    states = (state(release, str(op), case) for case in cases(str(op)) if case not in ELEMENT_TYPES or case in kinds)
    return all(found is State.RUNS for found in states) and not any(
        row.may_concern(kinds) for row in rows_of(release.name, str(op))
    )


def _worst(release: Release, op: Op, plain: State, names: Iterator[str]) -> tuple[State, str]:
    """Return what decides of the cases that a layer falls under, and the case.

    One that is better than the plain model shows that something else of that model is the reason, which is not here.
    """
    rows = [(found, name) for name in names if (found := state(release, str(op), name)) not in {None, plain}]
    known = [(RANKS.index(found), name) for found, name in rows if found is not None]
    rank = RANKS.index(plain)
    worse, better = [row for row in known if row[0] < rank], [row for row in known if row[0] > rank]
    chosen = min(worse, default=None) or max(better, default=(rank, ""))
    return RANKS[chosen[0]], chosen[1]


def _cases_of(release: Release, seen: Seen) -> Iterator[str]:
    """Yield the cases of the table that a layer falls under.

    A type that the release does not take as an input was not measured: the inputs of the models had it.
    """
    op = seen.op
    if seen.version == 10 and seen.border:
        yield "v10"
    if seen.short:
        yield "short"
    facts = seen.outputs if op.role in {Role.PARAMETER, Role.CONSTANT} else seen.inputs
    if facts:
        if op.role is not Role.COMPUTATION or state(release, "Parameter-1", facts[0].dtype.name) in {None, State.RUNS}:
            yield facts[0].dtype.name
        sizes = facts[0].shape
        if op.role is Role.COMPUTATION and (sizes is None or not all(dim.static for dim in sizes)):
            first = sizes is not None and all(dim.static for dim in sizes[1:])
            yield "batch ?" if first else "?"
    for number in range(1, len(facts)):
        if number not in seen.constant:
            yield f"input {number}"
    for name, spec in op.attrs.items():
        value = REQUIRED if seen.attrs is None else seen.attrs[name]
        if isinstance(spec, OneOf):
            yield f"{spec.xml or name}={value}"
        elif isinstance(spec, Flag):
            yield f"{spec.xml or name}={str(bool(value)).lower()}"


# --- a layer in its graph ---------------------------------------------------------------------------------------


class Surroundings:
    """What of the graphs of a model decides about what releases do with its layers, besides the layers themselves."""

    def __init__(self, model: Model) -> None:
        """Nothing is looked at until it is needed."""
        self.model = model
        self._constants: dict[int, Mapping[int, frozenset[str]]] = {}

    def seen(self, located: Located, op: Op, inputs: Sequence[Fact], outputs: Sequence[Fact], version: int) -> Seen:
        """Return a layer as it decides about releases.

        Args:
            located: the layer.
            op: its operation.
            inputs: facts of the inputs that are connected, in order.
            outputs: facts of all outputs.
            version: of the IR.
        """
        _, layer, graph = located
        if id(graph) not in self._constants:
            self._constants[id(graph)] = _constant_layers(graph)
        known, sources = self._constants[id(graph)], graph.sources(layer.id)
        feeds = [sources[port.id].layer for port in layer.inputs if port.id in sources]
        return Seen(
            op,
            op.read(layer.raw, []),
            inputs,
            outputs,
            frozenset(number for number, feed in enumerate(feeds) if feed in known),
            version,
            frozenset().union(*(known.get(feed, ()) for feed in feeds)),
            opset_number(layer.version) or 6,
            _is_border(graph, layer),
            any((spec.xml or name) not in layer.raw for name, spec in op.attrs.items()),
            any(size < 0 for port in (*layer.inputs, *layer.outputs) for size in port.dims),
        )


def _is_border(graph: Graph, layer: Layer) -> bool:
    """Return whether a layer reads an input of its graph, or gives an output of it."""
    before = (graph.layer(source.layer) for source in graph.sources(layer.id).values())
    after = (target for port in layer.outputs for target, _ in graph.consumers(layer.id, port.id))
    return any(role_of(one) is Role.PARAMETER for one in before) or any(
        role_of(graph.layer(one)) is Role.RESULT for one in after
    )


def _constant_layers(graph: Graph) -> dict[int, frozenset[str]]:
    """Return the layers that are computed of constants alone, with the element types of these."""
    found: dict[int, frozenset[str]] = {}
    for layer in graph.ordered():
        sources = graph.sources(layer.id).values()
        if role_of(layer) is Role.CONSTANT:
            found[layer.id] = frozenset({layer.raw.get("element_type", "")})
        elif role_of(layer) is Role.COMPUTATION and sources and all(one.layer in found for one in sources):
            found[layer.id] = frozenset().union(*(found[one.layer] for one in sources))
    return found
