"""What a release does with a layer, by the table of what was measured and by that of known differences."""

from collections.abc import Hashable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from ir_tools.graph import Layer
from ir_tools.known_differences.model_problems import UNCOMPILED, stopped_by
from ir_tools.known_differences.releases import differences, may_apply, release_differences, rows_of
from ir_tools.known_differences.releases.seen import FIRST_VERSION, Pattern, Seen, Unplaced
from ir_tools.ops import Op, Role
from ir_tools.ops.definition import Fact
from ir_tools.ops.fields import REQUIRED, Flag, OneOf
from ir_tools.releases.measured import TOGETHER, State, cases, described_inputs, in_words, state
from ir_tools.releases.table import Release
from ir_tools.types import ELEMENT_TYPES, Dim, Shape, is_static, precision_in_file

__all__ = [
    "UNKNOWN_RANK",
    "Answer",
    "Unread",
    "behaviour",
    "decisive",
    "is_deadly",
    "is_plain",
    "unsized_behaviour",
    "verdict",
]


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
FIRST_EMPTY = {Role.CONSTANT: ((2021, 3), (2021, 3)), Role.COMPUTATION: ((2021, 3), (2021, 4))}
FIRST_EMPTY_BORDERS = (2023, 2), (2023, 3)
"""The first releases that read and that compile constants, computed tensors, and inputs or outputs without elements."""
GIVEN = frozenset({"Result", "Convert"})
"""What reads an output of a model; in IR v10 a Result may be a Convert."""
FOLDED_RIGHT = 2022, 1
"""The first release that computes other values of constants only in the settings that rows name."""
SIZES_COMPARED = 2026, 0
"""The first release that knows that unknown sizes are equal before it compiles an If. Measured."""
PORTS_READ = 2021, 3
"""The first release that reads the sizes that ports record."""
MISSING_TYPE, KNOWN_SIZES = "the release does not support the element type {}", "all sizes must be known"
FEW_BOXES = "The output has rows of -1 for boxes that are not selected."
GIVEN_BOXES = "It is compiled only if it does not produce an output of the model in i64."
NO_EMPTY = "empty tensors are not supported"
UNKNOWN_RANK = "a tensor of unknown rank is read but not compiled"
STAND_INS = {"u32": "u64"}
"""Types that releases without inputs of another one treat as that one: 2021 computes both in i32. Measured."""
RANKS = (State.UNREAD, State.DIES, State.UNCOMPILED, State.FAILS, State.DIFFERS, State.RUNS)
"""From worst to best."""


def verdict(release: Release, seen: Seen) -> tuple[Answer, str] | None:
    """Return what a release does with a layer, and why; None if it runs it."""
    op = seen.op
    if not release.holds(op, seen.opset):
        stamp = "" if op.version == seen.opset else f" with version opset{seen.opset}"
        return Answer.STOPPED, f"{op} is not read{stamp}"
    for problem in sorted(seen.names, key=lambda problem: (problem in UNCOMPILED, problem)):
        if stopped_by(release, problem):
            return Answer.READS if problem in UNCOMPILED else Answer.STOPPED, problem
    facts = {id(fact): fact for fact in (*seen.inputs, *seen.outputs)}.values()
    for fact in facts:
        if not release.has_type(fact.dtype.name):
            return Answer.STOPPED, MISSING_TYPE.format(fact.dtype.name)
    if release.dynamic or all(is_static(fact.shape) for fact in facts):
        return behaviour(release, seen)
    return unsized_behaviour(release, seen)


def unsized_behaviour(release: Release, seen: Seen) -> tuple[Answer, str] | None:
    """Return what a release that has to know all sizes does with a layer that has others.

    It takes those that a suppression decides for the largest ones.
    """
    if seen.op.role is Role.PARAMETER or seen.open:
        recorded = seen.op.role is Role.PARAMETER or release.number >= PORTS_READ
        return Answer.STOPPED if recorded else Answer.READS, KNOWN_SIZES
    if not _is_limited(seen):
        return Answer.READS, KNOWN_SIZES
    if seen.op.type != "NonMaxSuppression":
        known = {number for number, fact in enumerate(seen.inputs) if fact.value is not None}
        inputs, outputs = map(_largest, (seen.inputs, seen.outputs))
        return behaviour(release, replace(seen, inputs=inputs, outputs=outputs, constant={*seen.constant} | known))
    if "i64" in {seen.outputs[number].dtype.name for number, type in seen.readers if type in GIVEN}:
        return Answer.READS, GIVEN_BOXES
    return Answer.DIFFERS, FEW_BOXES


def _is_limited(seen: Seen) -> bool:
    """Return whether a suppression decides the unknown sizes of a layer, within limits."""
    shapes = (fact.shape for fact in (*seen.inputs, *seen.outputs))
    return seen.has(Pattern.LIMITED) and all(
        shape is not None and all(dim.hi is not None for dim in shape) for shape in shapes
    )


def _largest(facts: Sequence[Fact]) -> list[Fact]:
    """Return facts of tensors of the largest sizes."""
    return [replace(fact, shape=tuple(Dim.of(dim.hi or 0) for dim in fact.shape or ())) for fact in facts]


def decisive(seen: Seen) -> Hashable:
    """Return what verdicts are made from: it is equal for layers that no release tells apart."""
    op, attrs = seen.op, seen.attrs
    words = None if attrs is None else tuple(attrs[name] for name, spec in op.attrs.items() if _is_measured(spec))
    inputs, outputs = (
        tuple((fact.dtype.name, _sizes(fact.shape)) for fact in facts) for facts in (seen.inputs, seen.outputs)
    )
    rows = tuple(row.name for row in differences(seen))
    around = (frozenset(seen.constant), seen.version, seen.opset, seen.names, seen.first, seen.last, seen.absent)
    return (
        str(op),
        words,
        inputs,
        outputs,
        rows,
        *around,
        seen.open,
        seen.between,
        seen.folded,
        seen.idle,
        _gives_nothing(seen),
        _is_limited(seen),
        seen.has(Pattern.DECIDED),
    )


def _sizes(shape: Shape) -> Hashable:
    """Return what is known of a shape: its rank, and of each size that there is one or that it is 0."""
    return None if shape is None else "".join("0" if dim.hi == 0 else "n" if dim.static else "?" for dim in shape)


def _is_measured(spec: object) -> bool:
    """Return whether the table has cases of the values of an attribute."""
    return isinstance(spec, OneOf | Flag)


def behaviour(release: Release, seen: Seen, *, anywhere: bool = False) -> tuple[Answer, str] | None:
    """Return what a release does with a layer of an operation and of types that it reads; None if it runs it.

    A row says exactly which layers it is about, and counts for more than what was measured of other values, or of the
    plain model. `anywhere`: values that differ on other processors than this one count, too. What only counts once a
    model is compiled does not of a layer that is not.
    """
    found = _behaviour(release, seen, anywhere=anywhere)
    return None if found is not None and found[0] is not Answer.STOPPED and seen.idle else found


def _behaviour(release: Release, seen: Seen, *, anywhere: bool) -> tuple[Answer, str] | None:
    """Return that of a layer as if it were compiled."""
    if any(fact.shape is None and fact.dtype.kind != "dynamic" for fact in seen.outputs):
        if seen.has(Pattern.DECIDED) and release.number >= SIZES_COMPARED:
            return Answer.UNKNOWN, "a comparison of equal sizes decides the rank, which was not measured"
        return Answer.READS, UNKNOWN_RANK
    op = seen.op
    if any(_is_empty(fact.shape) for fact in seen.outputs):
        within = not _gives_nothing(seen) and op.role in FIRST_EMPTY
        read, compiled = FIRST_EMPTY[op.role] if within else FIRST_EMPTY_BORDERS
        if release.number < read:
            return Answer.STOPPED, NO_EMPTY
        if release.number < compiled:
            return Answer.READS, NO_EMPTY
    kinds = {fact.dtype.name for fact in seen.inputs[:1]}
    plain = State.RUNS if op.role is Role.ASSIGN_VARIABLE else state(release, str(op))
    if plain is None:
        return Answer.UNKNOWN, f"{op} was not measured"
    if plain is State.UNCOMPILED and _has_untaken_booleans(release, seen):
        plain = State.RUNS
    found, case = _worst(release, op, plain, _undescribed_cases_of(release, seen, anywhere=anywhere))
    unmeasured: tuple[Answer, str] | None = None
    counts_folded = False
    reason = f"{op}{f' with {in_words(case)}' if case else ''} {found.words}"
    exact = found is State.DIFFERS or (not case and found not in {state(release, str(op), kind) for kind in kinds})
    if exact and any(
        row.state is found and row.measured and row.may_concern(kinds)
        for row in rows_of(release.name, str(op), anywhere=anywhere)
    ):
        found = State.RUNS
    elif found is State.UNREAD and case != "short" and not release.dynamic and not seen.between:
        if not all(is_static(fact.shape) for fact in seen.outputs):
            found, unmeasured = State.RUNS, (Answer.UNKNOWN, "sizes that depend on values were not measured")
        elif _is_folded_of_taken_types(release, seen):
            found = State.RUNS
    for row in release_differences(release, seen, anywhere=anywhere):
        if seen.folded and row.state is State.DIFFERS and not row.folded and release.number >= FOLDED_RIGHT:
            continue
        if RANKS.index(row.state) < RANKS.index(found) or (row.state is found and row.folded):
            found, reason, counts_folded = row.state, row.reason, row.folded or row.state is State.UNREAD
    if found is State.RUNS or (seen.folded and not counts_folded and found not in {State.DIES, State.DIFFERS}):
        return unmeasured
    return ANSWERS[found], reason


def is_deadly(release: Release, seen: Seen) -> bool:
    """Return whether a release may end its process over a layer."""
    states = (state(release, str(seen.op), case) for case in _undescribed_cases_of(release, seen))
    return State.DIES in {*states, *(row.state for row in release_differences(release, seen))}


def _has_untaken_booleans(release: Release, seen: Seen) -> bool:
    """Return whether a layer reads booleans of which a release takes no inputs, as the model that was measured had."""
    untaken = state(release, "Parameter-1", "boolean") is not State.RUNS
    return untaken and any(fact.dtype.name == "boolean" for fact in seen.inputs)


def _is_folded_of_taken_types(release: Release, seen: Seen) -> bool:
    """Return whether a layer is computed before a device sees it, of types of which a release takes inputs."""
    taken = {State.RUNS, None}
    return seen.folded and all(state(release, "Parameter-1", fact.dtype.name) in taken for fact in seen.inputs)


def _gives_nothing(seen: Seen) -> bool:
    """Return whether an output that a layer computes has no elements, unless it is one of a branch."""
    given = seen.last and not seen.has(Pattern.CHOSEN)
    return given and any(type in GIVEN and _is_empty(seen.outputs[number].shape) for number, type in seen.readers)


def _is_empty(shape: Shape) -> bool:
    return any(dim.hi == 0 for dim in shape or ())


def is_plain(
    release: Release,
    op: str,
    kinds: Set[str],
    *,
    anywhere: bool = False,
    alone: Unplaced | None = None,
    harmless: Set[State] = frozenset({State.RUNS}),
) -> bool:
    """Return whether a release runs all layers of an operation, `Add-1`, on these element types.

    `alone`: whether it runs those with certain attributes, in models of certain types of layers. `harmless`: the states
    that count as running.
    """
    states = (state(release, op, case) for case in cases(op) if case not in ELEMENT_TYPES or case in kinds)
    return all(found in harmless for found in states) and not any(
        row.state not in harmless and may_apply(row, kinds, alone)
        for row in rows_of(release.name, op, anywhere=anywhere)
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

    A type that the release does not take as an input was not measured, as the inputs of the models had it; another one
    may stand for it. Within a model, and at the inputs of older IR versions, f16 is computed in f32.
    """
    op = seen.op
    if "v10" in cases(str(op)) and seen.version == FIRST_VERSION and seen.border:
        yield "v10"
    if seen.absent:
        yield "short"
    facts = seen.outputs if op.role in {Role.PARAMETER, Role.CONSTANT} else seen.inputs
    if facts:
        kind = facts[0].dtype.name
        taken = state(release, "Parameter-1", kind) in {None, State.RUNS}
        if kind == "f16" and op.role is Role.COMPUTATION and release.reads[1] > FIRST_VERSION:
            taken = not seen.converted
        if op.role is not Role.COMPUTATION or taken or state(release, str(op), kind) is State.UNREAD:
            yield kind
        elif kind in STAND_INS:
            yield STAND_INS[kind]
        if op.role in {Role.COMPUTATION, Role.READ_VARIABLE}:
            yield from _unknown_sizes(facts[0].shape)
    together = [number for number in TOGETHER.get(op.type, ()) if number < len(facts)]
    if any(is_static(facts[number].shape) for number in (0, *together) if facts):
        together = []
    for number in range(1, len(facts)):
        if number in described_inputs(str(op)) and number not in seen.constant:
            yield f"input {number}"
            if number not in together:
                yield from (f"{case} input {number}" for case in _unknown_sizes(facts[number].shape))
    for name, spec in op.attrs.items():
        value = REQUIRED if seen.attrs is None else seen.attrs[name]
        if isinstance(spec, OneOf):
            yield f"{spec.xml or name}={value}"
        elif isinstance(spec, Flag):
            yield f"{spec.xml or name}={str(bool(value)).lower()}"


def _undescribed_cases_of(release: Release, seen: Seen, *, anywhere: bool = False) -> Iterator[str]:
    """Yield those of them that no row describes more exactly."""
    described = {case for row in rows_of(release.name, str(seen.op), anywhere=anywhere) for case in row.instead}
    return (case for case in _cases_of(release, seen) if case not in described)


def _unknown_sizes(shape: Shape) -> Iterator[str]:
    """Yield `?` if all sizes are unknown; else `? 2` for each axis whose size is."""
    unknown = [axis for axis, dim in enumerate(shape or ()) if not dim.static]
    if shape is None or (shape and len(unknown) == len(shape)):
        yield "?"
    else:
        yield from (f"? {axis}" for axis in unknown)


@dataclass(frozen=True, slots=True)
class Unread:
    """What releases read of a layer that no Result needs: its ports. Measured.

    Attributes:
        kinds: element types of the ports.
        sizes: -1 if one has an unknown size, 0 if one has no elements.
    """

    kinds: frozenset[str]
    sizes: frozenset[int]

    @classmethod
    def of(cls, layer: Layer) -> Self:
        """Return what is read of a layer."""
        ports = (*layer.common.inputs, *layer.common.outputs)
        kinds = (precision_in_file(precision) for precision in {port.precision for port in ports} if precision)
        sizes = {size for port in ports for size in port.dims}
        return cls(frozenset(kind.name for kind in kinds if kind is not None), frozenset(sizes & {-1, 0}))

    def verdict(self, release: Release) -> tuple[Answer, str] | None:
        """Return why a release does not read a model with the layer; None if it does."""
        missing = next((kind for kind in sorted(self.kinds) if not release.has_type(kind)), None)
        if missing is not None:
            return Answer.STOPPED, MISSING_TYPE.format(missing)
        if 0 in self.sizes and release.number < FIRST_EMPTY[Role.COMPUTATION][0]:
            return Answer.STOPPED, NO_EMPTY
        if -1 in self.sizes and not release.dynamic and release.number >= PORTS_READ:
            return Answer.STOPPED, KNOWN_SIZES
        return None
