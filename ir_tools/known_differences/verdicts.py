"""What a release does with a layer, by the table of what was measured and by that of known differences."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain
from math import prod
from typing import Self, TypeVar

from ir_tools.display import plural
from ir_tools.errors import ReadError
from ir_tools.graph import Graph, Layer, Located, Model, Source, find_port, output_name, port_place
from ir_tools.known_differences.packed_weights import PackedWeights
from ir_tools.known_differences.releases import differences, may_apply, release_differences, rows_of
from ir_tools.known_differences.releases.seen import (
    AFFINE,
    BY_NUMBER,
    COMBINING,
    COUNTED,
    FIRST_VERSION,
    INTERLEAVED,
    JOINED,
    LATER,
    MULTIPLE,
    NUMBER,
    PADDED,
    QUANTIZED,
    REMAINDERS,
    REPEATED,
    RESHAPED,
    SHARED,
    SHIFTED,
    SIZING,
    UNCHOOSING,
    UNCHOSEN,
    UNCONVERTED,
    Seen,
    Unplaced,
)
from ir_tools.ops import Array, Op, Role, opset_number, role_of
from ir_tools.ops.definition import Fact
from ir_tools.ops.fields import REQUIRED, Attrs, Flag, OneOf
from ir_tools.processors import Processor
from ir_tools.releases.measured import TOGETHER, State, cases, last_input, state
from ir_tools.releases.table import PARAMETERS_OF_10, RESULTS_OF_10, Release
from ir_tools.types import ELEMENT_TYPES, Shape, is_static, precision_in_file
from ir_tools.weights import values

__all__ = [
    "EMPTY_FILE",
    "EQUAL_TENSORS",
    "SHARED_ENDS",
    "TAKEN_NAMES",
    "UNKNOWN_RANK",
    "Answer",
    "Surroundings",
    "Unread",
    "behaviour",
    "border_names",
    "border_problems",
    "decisive",
    "input_problem",
    "is_deadly",
    "is_plain",
    "lacks_bytes",
    "quantized_note",
    "stopped_by",
    "verdict",
]


Named = TypeVar("Named", int, Source)


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
PORTS_READ = 2021, 3
"""The first release that reads the sizes that ports record."""
EQUAL_NAMES, EQUAL_RESULTS = "another layer has this name", "another Result has this name"
MISSING_TYPE, KNOWN_SIZES = "the release does not support the element type {}", "all sizes must be known"
NO_EMPTY = "empty tensors are not supported"
UNKNOWN_RANK = "a tensor of unknown rank is read but not compiled"
STEPS = "releases compute these in INT8, and their values may differ by steps of the quantization"
SATURATED = "; on processors without VNNI, such as this one, sums of 8-bit products also saturate at 16 bits"
EMPTY_FILE = "every constant of the model is empty, so the .bin is empty"
NO_INPUTS = "a model without inputs is read but not compiled"
EQUAL_BORDERS, EQUAL_TENSORS, TAKEN_NAMES = (
    "inputs and outputs of IR v10 need different names",
    "inputs and outputs of IR v10 need different tensor names",
    "a tensor name of an input or output of IR v10 is the name of another one",
)
SHARED_OUTPUT, SHARED_TENSOR = (
    "two Results of IR v10 read one tensor",
    "a tensor of IR v10 with a tensor name is an input and an output, or two outputs",
)
UNCALLED, CONVERTED, CONVERTED_LATE = (
    "an input of IR v10 that is also an output loses its name if it is converted, as outputs of this element type are",
    "an input of IR v10 that is two outputs and converted for them is not read",
    "an input of IR v10 that is two outputs and converted for them is read but not compiled",
)
UNTYPED, UNSPECIFIED = (
    "an input of the body of a TensorIterator without an element type is not compiled",
    "a port of the precision UNSPECIFIED is not read",
)
WORDS = "a flag that is written as a word is not read"
COUNTED_FLAGS = {
    "PriorBox": ("clip", "flip", "scale_all_sizes"),
    "PriorBoxClustered": ("clip",),
    "RegionYolo": ("do_softmax",),
}
"""The flags that 2021.2 reads only as numbers. Measured."""
NONE = (9999,)
"""Later than all releases."""
UNTAKEN = {
    kind: (f"inputs of element type {kind} are not compiled", first)
    for kinds, first in (
        ("i4 u4", (2024, 2)),
        ("nf4", (2025, 0)),
        ("f4e2m1", (2025, 2)),
        ("u2", (2026, 0)),
        ("u3 u6", NONE),
    )
    for kind in kinds.split()
}
"""Element types of which releases read the inputs of a model, but not all compile it: why, the first that does.

Measured.
"""
NAMES: Mapping[str, Sequence[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    EQUAL_RESULTS: [((0,), (2021, 3))],
    EQUAL_NAMES: [((0,), (2024, 1))],
    EQUAL_BORDERS: [((0,), NONE)],
    EQUAL_TENSORS: [((2022, 1), (2025, 1))],
    TAKEN_NAMES: [((2022, 1), NONE)],
    SHARED_OUTPUT: [((2021, 4), (2022, 1))],
    SHARED_TENSOR: [((2025, 0), NONE)],
    UNCALLED: [((2022, 1), NONE)],
    CONVERTED: [((2022, 1), (2023, 2))],
    CONVERTED_LATE: [((2023, 2), (2024, 1))],
    EMPTY_FILE: [((0,), (2022, 1)), ((2026, 2), (2026, 4))],
    NO_INPUTS: [((0,), (2021, 3))],
    UNTYPED: [((2022, 3), NONE)],
    UNSPECIFIED: [((0,), (2023, 0))],
    WORDS: [((0,), (2021, 3))],
    **{problem: [((0,), first)] for problem, first in UNTAKEN.values()},
}
"""What can be wrong with a name, flag, input or file; of each span the first release that stops, and the next."""
UNCOMPILED = frozenset({NO_INPUTS, UNTYPED, UNCALLED, CONVERTED_LATE, *(problem for problem, _ in UNTAKEN.values())})
"""Those that a release reads, but does not compile or run."""
SHARED_ENDS = frozenset({SHARED_OUTPUT, SHARED_TENSOR, UNCALLED, CONVERTED, CONVERTED_LATE})
"""Those of a tensor that is several inputs and outputs."""
STAND_INS = {"u32": "u64"}
"""Types that releases without inputs of another one treat as that one: 2021 computes both in i32. Measured."""
KEPT = frozenset(
    {"Abs", "Clamp", "Elu", "Gelu", "HSigmoid", "HSwish", "Mish", "ReLU", "Round", "Sigmoid", "Sqrt", "Swish", "Tanh"}
)
"""Types of layers that are compiled with a reduction before them, as those of `SCALES` are. Measured."""
EITHER_WAY = frozenset({"Add", "Multiply", "Subtract"})
SCALES: Mapping[str, Set[int]] = {
    **dict.fromkeys((*EITHER_WAY, "Divide", "Negative"), frozenset({NUMBER})),
    **dict.fromkeys(("FakeQuantize", "PReLU"), frozenset[int]()),
}
"""Types of layers that scale and shift by constants, and what `Seen.scaled` holds of them if these are numbers."""
SUMS, MOVED = frozenset({"Add", "Subtract"}), frozenset({"Convert", "Reshape", "Squeeze", "Unsqueeze", "Transpose"})
"""Types of layers that shift by constants, and of those that products are computed with across."""
CROSSED = SUMS | MOVED | {"Multiply", "Negative", "Divide"}
"""Types of layers that products and sums are looked for across, and of these."""
LOGICAL = frozenset(
    {"LogicalAnd", "LogicalOr", "LogicalNot", "LogicalXor", "ReduceLogicalAnd", "ReduceLogicalOr", "IsFinite"}
)
COMPARISONS = frozenset({"Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"})
"""Types of layers that give booleans."""
JOINING = COMBINING | COMPARISONS
"""Types of layers that combine a part of a split with another tensor element by element."""
CARRYING = frozenset({"Gather", "ReLU", "Reshape", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze"})
"""Types of layers behind a FakeQuantize whose outputs are quantized as their first input is. Measured."""
OF_BYTES = frozenset({"MatMul", "MVN"})
"""Types of layers whose data releases may leave in bytes."""
LEVELS = frozenset({"15", "16", "255", "256"})
"""Of a FakeQuantize that releases compute with in 8 bits. Measured."""
FAR = 64
"""How many layers are looked at for what a list of lengths is computed of."""
LIMITING = {
    "Slice": REMAINDERS | {"Add", "Subtract", "Multiply", "Maximum", "Minimum", "Power"},
    "VariadicSplit": REMAINDERS,
}
"""Types of layers whose limits a release follows back to constants, and which types it then gets wrong."""
CONVERTING = frozenset({"Convert", "ConvertLike"})
"""Types of layers that change the element type."""
MOVED_BEFORE = COMBINING | {
    *("Abs", "Ceiling", "Clamp", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HSigmoid", "HSwish", "Log", "Mish"),
    *("Negative", "ReLU", "Round", "Sigmoid", "Sign", "Sin", "SoftPlus", "Sqrt", "Tan", "Tanh"),
}
"""Types of layers that strides of convolutions with filters of one element move before. Measured."""
TESTING = LOGICAL | COMPARISONS
"""Types of layers whose booleans are 0 and 1, whatever stands for true in what they read."""
SIZED = {"Broadcast": 1, "Reshape": 1}
"""Types of layers that make a tensor of a shape, and which of their inputs that is."""
SPLITS = frozenset({"Split", "VariadicSplit"})
RANKS = (State.UNREAD, State.DIES, State.UNCOMPILED, State.FAILS, State.DIFFERS, State.RUNS)
"""From worst to best."""


def verdict(release: Release, seen: Seen) -> tuple[Answer, str] | None:
    """Return what a release does with a layer, and why; None if it runs it."""
    op = seen.op
    if not release.holds(op, seen.opset):
        return Answer.STOPPED, f"{op} is not read with version opset{seen.opset}"
    for problem in sorted(seen.names, key=lambda problem: (problem in UNCOMPILED, problem)):
        if stopped_by(release, problem):
            return Answer.READS if problem in UNCOMPILED else Answer.STOPPED, problem
    for fact in {id(fact): fact for fact in (*seen.inputs, *seen.outputs)}.values():
        if not release.has_type(fact.dtype.name):
            return Answer.STOPPED, MISSING_TYPE.format(fact.dtype.name)
        if not release.dynamic and not is_static(fact.shape):
            if op.role is Role.PARAMETER or seen.open:
                recorded = op.role is Role.PARAMETER or release.number >= PORTS_READ
                return Answer.STOPPED if recorded else Answer.READS, KNOWN_SIZES
            return Answer.READS, KNOWN_SIZES
    return behaviour(release, seen)


def decisive(seen: Seen) -> Hashable:
    """Return what verdicts are made from: it is equal for layers that no release tells apart."""
    op, attrs = seen.op, seen.attrs
    words = None if attrs is None else tuple(attrs[name] for name, spec in op.attrs.items() if _is_measured(spec))
    inputs, outputs = (
        tuple((fact.dtype.name, _sizes(fact.shape)) for fact in facts) for facts in (seen.inputs, seen.outputs)
    )
    rows = tuple(row.name for row in differences(seen))
    around = (frozenset(seen.constant), seen.version, seen.opset, seen.names, seen.first, seen.last, seen.short)
    return str(op), words, inputs, outputs, rows, *around, seen.open, seen.between, seen.folded, _gives_nothing(seen)


def _sizes(shape: Shape) -> Hashable:
    """Return what is known of a shape: its rank, and of each size that there is one or that it is 0."""
    return None if shape is None else "".join("0" if dim.hi == 0 else "n" if dim.static else "?" for dim in shape)


def _is_measured(spec: object) -> bool:
    """Return whether the table has cases of the values of an attribute."""
    return isinstance(spec, OneOf | Flag)


def stopped_by(release: Release, problem: str) -> bool:
    """Return whether a release does not read or compile a model because of a name, or of the file."""
    return any(first <= release.number < end for first, end in NAMES[problem])


def input_problem(layer: Layer) -> str:
    """Return what is wrong with an input of a model for some releases; empty if nothing is."""
    return UNTAKEN.get(layer.common.raw.get("element_type", "").lower(), ("",))[0]


def lacks_bytes(model: Model) -> bool:
    """Return whether no constant of a model has elements, and its `.bin` no bytes."""
    if model.weights.size:
        return False
    constants = [one for graph in model.graphs() for one in graph.layers() if role_of(one) is Role.CONSTANT]
    return bool(constants) and all(layer.common.raw.get("size") == "0" for layer in constants)


def quantized_note(model: Model) -> str:
    """Return what is to be known of a model with quantized tensors on whatever release; else an empty text."""
    count = quantized_tensors(model)
    more = SATURATED if Processor.NO_VNNI.is_here else ""
    return f"{plural(count, 'tensor')} quantized: {STEPS}{more}" if count else ""


def behaviour(release: Release, seen: Seen, *, anywhere: bool = False) -> tuple[Answer, str] | None:
    """Return what a release does with a layer of an operation and of types that it reads; None if it runs it.

    A row says exactly which layers it is about, and counts for more than what was measured of other values, or of the
    plain model. `anywhere`: values that differ on other processors than this one count, too.
    """
    if any(fact.shape is None and fact.dtype.kind != "dynamic" for fact in seen.outputs):
        return Answer.READS, UNKNOWN_RANK
    op = seen.op
    if any(_is_empty(fact.shape) for fact in seen.outputs):
        within = not _gives_nothing(seen) and op.role in FIRST_EMPTY
        read, compiled = FIRST_EMPTY[op.role] if within else FIRST_EMPTY_BORDERS
        if release.number < read:
            return Answer.STOPPED, NO_EMPTY
        if release.number < compiled:
            return Answer.READS, NO_EMPTY
    if op.role is Role.ASSIGN_VARIABLE:
        return None
    plain, kinds = state(release, str(op)), {fact.dtype.name for fact in seen.inputs[:1]}
    if plain is None:
        return Answer.UNKNOWN, f"{op} was not measured"
    if plain is State.UNCOMPILED and _has_untaken_booleans(release, seen):
        plain = State.RUNS
    found, case = _worst(release, op, plain, _undescribed_cases_of(release, seen, anywhere=anywhere))
    unmeasured: tuple[Answer, str] | None = None
    counts_folded = False
    reason = f"{op}{f' with {case}' if case else ''} {found.words}"
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
    """Return whether an output of the model that a layer computes has no elements."""
    return seen.last and any(type in GIVEN and _is_empty(seen.outputs[number].shape) for number, type in seen.readers)


def _is_empty(shape: Shape) -> bool:
    return any(dim.hi == 0 for dim in shape or ())


def is_plain(
    release: Release, op: str, kinds: Set[str], *, anywhere: bool = False, alone: Unplaced | None = None
) -> bool:
    """Return whether a release runs all layers of an operation, `Add-1`, on these element types.

    `alone`: whether it runs those with certain attributes, in models of certain types of layers.
    """
    states = (state(release, op, case) for case in cases(op) if case not in ELEMENT_TYPES or case in kinds)
    return all(found is State.RUNS for found in states) and not any(
        may_apply(row, kinds, alone) for row in rows_of(release.name, op, anywhere=anywhere)
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
    if seen.version == 10 and seen.border:
        yield "v10"
    if seen.short:
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
    for number in range(1, min(len(facts), last_input(str(op)) + 1)):
        if number not in seen.constant:
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


# --- a layer that is not read ---------------------------------------------------------------------------------------


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


# --- a layer in its graph ---------------------------------------------------------------------------------------


class Surroundings:
    """What of the graphs of a model decides about what releases do with its layers, besides the layers themselves.

    Attributes:
        origins: of `PackedWeights`, for each graph by its `id`; to be cleared when edges change.
    """

    def __init__(self, model: Model) -> None:
        """Look at nothing until it is needed."""
        self.model = model
        self._constants: dict[int, Mapping[int, frozenset[str]]] = {}
        self._names: dict[int, Mapping[int, frozenset[str]]] = {}
        self._used: dict[int, Set[int]] = {}
        self._attributes: dict[tuple[object, ...], tuple[Attrs | None, bool]] = {}
        self.origins = defaultdict[int, dict[int, Layer | None]](dict)
        self._scales = defaultdict[int, dict[tuple[int, int], frozenset[int]]](dict)
        self._joined = defaultdict[int, dict[tuple[int, int, bool, bool], bool]](dict)
        self._quantized = defaultdict[int, dict[int, bool]](dict)

    @cached_property
    def _problems(self) -> Mapping[Role, frozenset[str]]:
        """What is wrong with the whole model, by the role of the layers that it is said of."""
        return {
            Role.CONSTANT: frozenset({EMPTY_FILE} if lacks_bytes(self.model) else ()),
            Role.RESULT: frozenset(() if self.model.inputs else {NO_INPUTS}),
        }

    def _problems_of(self, located: Located, op: Op) -> frozenset[str]:
        """Return what else is wrong with the model, said of a layer."""
        if op.role is not Role.PARAMETER:
            flags = (located.layer.common.raw.get(name, "") for name in COUNTED_FLAGS.get(op.type, ()))
            return self._problems.get(op.role, frozenset({WORDS} if any(map(str.isalpha, flags)) else ()))
        if located.graph is self.model.graph:
            return frozenset(filter(None, [input_problem(located.layer)]))
        content = located.layer.common
        untyped = content.raw.get("element_type", "").lower() == "dynamic" and id(located.graph) in self._iterated
        unspecified = any(port.precision == "UNSPECIFIED" for port in content.outputs)
        return frozenset({UNTYPED} if untyped else ()) | frozenset({UNSPECIFIED} if unspecified else ())

    @cached_property
    def _iterated(self) -> Set[int]:
        """The bodies of TensorIterators, by `id`."""
        layers = (layer for _, layer, _ in self.model.walk() if layer.type == "TensorIterator")
        return {id(body) for layer in layers for body in layer.bodies.values()}

    def is_read(self, located: Located) -> bool:
        """Return whether releases read a layer: those that no Result needs they do not, but for inputs."""
        graph = located.graph
        if id(graph) not in self._used:
            self._used[id(graph)] = _used(graph)
        return located.layer.id in self._used[id(graph)] or role_of(located.layer) is Role.PARAMETER

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
        content = layer.common
        bordered = version == FIRST_VERSION and graph is self.model.graph
        if id(graph) not in self._constants:
            self._constants[id(graph)] = _constant_layers(graph)
            self._names[id(graph)] = _names(graph, bordered)
        known, sources = self._constants[id(graph)], _sources(graph, layer)
        feeds = [source.layer for source in sources if source is not None]
        attrs, short = self._attributes_of(op, content.raw)
        before = [role is Role.PARAMETER for role in _roles(graph, feeds) if role is not Role.CONSTANT]
        targets = [[one for one, _ in graph.consumers(layer.id, port.id)] for port in content.outputs]
        after = [role is Role.RESULT for role in _roles(graph, chain.from_iterable(targets))]
        readers = (
            (number, "Convert" if bordered and type == "Result" and fact.dtype.name not in UNCONVERTED else type)
            for number, (found, fact) in enumerate(zip(targets, outputs, strict=True))
            for type in (graph.layer(one).type for one in found)
        )
        return Seen(
            op,
            attrs,
            inputs,
            outputs,
            constant=frozenset(
                number
                for number, (feed, fact) in enumerate(zip(feeds, inputs, strict=False))
                if feed in known or (fact.exact is not None)
            ),
            version=version,
            held=frozenset().union(*(known[feed] for feed in feeds if feed in known)),
            opset=opset_number(layer.version) or 6,
            first=any(before),
            last=any(after),
            short=short,
            open=any(min(port.dims, default=0) < 0 for port in (*content.inputs, *content.outputs)),
            names=frozenset(self._names[id(graph)].get(layer.id, ())) | self._problems_of(located, op),
            between=all(before) and all(after),
            producers=_producers(graph, layer, sources),
            readers=tuple(sorted(readers)),
            scaled=_scaled(graph, layer, known, self._scales[id(graph)]),
            patterns=self._patterns(graph, layer, op, known),
        )

    def _attributes_of(self, op: Op, raw: Mapping[str, str]) -> tuple[Attrs | None, bool]:
        """Return the attributes of a layer, and whether one is absent; layers with the same text share them."""
        key = id(op), *raw.items()
        if key not in self._attributes:
            self._attributes[key] = op.read(raw, []), op.lacks(raw)
        return self._attributes[key]

    def _patterns(self, graph: Graph, layer: Layer, op: Op, constants: Collection[int]) -> frozenset[str]:
        """Return `patterns` of a layer."""
        if op.role is Role.CONSTANT:
            return _uses(graph, layer, self.origins[id(graph)])
        found = {
            SHARED: op.type in LIMITING and _is_shared(graph, layer),
            JOINED: op.type in SPLITS and _is_joined(graph, layer),
            INTERLEAVED: op.type in SPLITS and _is_interleaved(self.model, graph, layer),
            AFFINE: op.type == "StridedSlice" and _is_affine(graph, layer, constants, self._joined[id(graph)]),
            QUANTIZED: op.type in {"MatMul", "MVN"}
            and _is_quantized(graph, layer, constants, self._quantized[id(graph)]),
        }
        more: Iterable[str] = ()
        if op.type == "Slice":
            more = _shapes_of(graph, layer)
        elif op.type.startswith("Reduce"):
            more = _merged(self.model, graph, layer)
        elif op.type in CONVERTING and _gives_booleans(layer):
            more = _tested(graph, layer)
        elif op.type == "Convolution":
            more = _moved(graph, layer, constants)
        return frozenset((*(name for name, holds in found.items() if holds), *more))


def _uses(graph: Graph, constant: Layer, origins: dict[int, Layer | None]) -> frozenset[str]:
    """Return what decides about how releases unpack a constant."""
    packed = PackedWeights.of(graph, constant, origins)
    return frozenset() if packed is None else packed.uses


def quantized_tensors(model: Model) -> int:
    """Return how many tensors of a model are quantized when it runs; constants are before that."""
    constants: dict[int, Set[int]] = {}
    count = 0
    for graph, layer in ((one, layer) for one in model.graphs() for layer in one.layers()):
        if layer.type == "FakeQuantize":
            if id(graph) not in constants:
                constants[id(graph)] = _constant_layers(graph).keys()
            sources = graph.sources(layer.id)
            count += any(
                sources[port.id].layer not in constants[id(graph)]
                for port in layer.common.inputs[:1]
                if port.id in sources
            )
    return count


def _used(graph: Graph) -> Set[int]:
    """Return the layers that Results and variables are computed of, these included."""
    ends = {Role.RESULT, Role.ASSIGN_VARIABLE}
    waiting = [layer.id for layer in graph.layers() if role_of(layer) in ends]
    found = {*waiting}
    while waiting:
        new = graph.producers(waiting.pop()).keys() - found
        found |= new
        waiting += new
    return found


def _roles(graph: Graph, layers: Iterable[int]) -> Iterator[Role]:
    """Yield the roles of layers."""
    return (role_of(graph.layer(layer_id)) for layer_id in layers)


def _producers(graph: Graph, layer: Layer, sources: Sequence[Source | None]) -> tuple[str, ...]:
    """Return `producers` of a layer; `sources`: what feeds its inputs."""
    found = tuple(_alone(graph, source) for source in sources)
    if layer.type != "Divide" or found[:1] != ("Subtract",) or sources[0] is None:
        return found
    data, rest = _sources(graph, graph.layer(sources[0].layer))
    remainder = None if rest is None else graph.layer(rest.layer)
    if remainder is None or remainder.type not in REMAINDERS or _sources(graph, remainder) != [data, sources[1]]:
        return found
    return (MULTIPLE, *found[1:])


def _sources(graph: Graph, layer: Layer) -> list[Source | None]:
    """Return what feeds each input of a layer, in order."""
    sources = graph.sources(layer.id)
    return [sources.get(port.id) for port in layer.common.inputs]


def _alone(graph: Graph, source: Source | None) -> str:
    """Return the type of the layer that computes a tensor if only one input reads it; else an empty text."""
    if source is None or graph.reads(*source) != 1:
        return ""
    producer = graph.layer(source.layer)
    return producer.type if role_of(producer) is Role.COMPUTATION else ""


def _scaled(
    graph: Graph, layer: Layer, constants: Collection[int], known: dict[tuple[int, int], frozenset[int]]
) -> frozenset[int]:
    """Return along which axes of the first output constants scale or shift it, in layers that are compiled with it.

    Args:
        graph: that the layer is in.
        layer: the layer.
        constants: the layers of the graph that are computed of constants alone.
        known: the answers behind layers of the graph, by layer and rank of the tensor that was asked about. Without
            them a chain would be followed from each of its layers, in quadratic time.
    """
    passed, rank = list[tuple[int, Set[int]]](), len(layer.common.outputs[0].dims) if layer.common.outputs else 0
    behind: Layer | None = layer
    while behind is not None and (behind.id, rank) not in known:
        axes, reader = _scaling(graph, behind, rank, constants)
        passed.append((behind.id, axes))
        behind = reader
    found = frozenset() if behind is None else known[behind.id, rank]
    for number, axes in reversed(passed):
        found = known[number, rank] = found | axes
    return found


def _scaling(graph: Graph, layer: Layer, rank: int, constants: Collection[int]) -> tuple[Set[int], Layer | None]:
    """Return along which axes the layer that reads another one scales it, and the layer if it is compiled with it.

    What is subtracted from anything is scaled by -1 first.
    """
    none = frozenset[int]()
    targets = _readers_of(graph, layer)
    if len(targets) != 1:
        return none, None
    reader, port = graph.layer(targets[0][0]), targets[0][1]
    if reader.type not in SCALES and reader.type not in KEPT:
        return none, None
    negative = frozenset({NUMBER}) if reader.type == "Subtract" and port != reader.common.inputs[0].id else none
    given = [source for number, source in graph.sources(reader.id).items() if number != port]
    if any(source.layer not in constants for source in given):
        return negative, None
    if reader.type in SCALES and (reader.type in EITHER_WAY or port == reader.common.inputs[0].id):
        ports = (find_port(graph.layer(source.layer).common.outputs, source.port) for source in given)
        shapes = [tensor.dims for tensor in ports if tensor]
        axes = {axis for dims in shapes for axis, size in enumerate(dims, rank - len(dims)) if size != 1}
        if len(axes) > 1 or min(axes, default=0) < 0:
            return negative, None
        by_channel = reader.type == "PReLU" and axes and len(shapes[0]) == 1
        return {1} if by_channel else negative | (axes or SCALES[reader.type]), reader
    return none, reader if reader.type in KEPT else None


def _is_shared(graph: Graph, layer: Layer) -> bool:
    """Return whether a constant that a layer reads is among what its other limits are computed of, by certain types."""
    limits = [source for source in _sources(graph, layer)[1:] if source is not None]
    constants = {source for source in limits if role_of(graph.layer(source.layer)) is Role.CONSTANT}
    if all(graph.reads(*source) == 1 for source in constants):
        return False
    waiting, passed = [source.layer for source in limits if source not in constants], {layer.id}
    types, read = set[str](), set[Source]()
    while waiting and len(passed) < FAR:
        behind = graph.layer(waiting.pop())
        if behind.id in passed or behind.type == "ShapeOf":
            continue
        passed.add(behind.id)
        types.add(behind.type)
        sources = graph.sources(behind.id).values()
        read.update(sources)
        waiting += [source.layer for source in sources]
    return not types.isdisjoint(LIMITING[layer.type]) and not read.isdisjoint(constants)


def _shapes_of(graph: Graph, cut: Layer) -> Iterator[str]:
    """Yield `SIZING` and `RESHAPED` as far as they are true of a Slice."""
    dims = cut.common.outputs[0].dims
    waiting, passed = [(cut.id, False)], set[tuple[int, bool]]()
    while waiting and len(passed) < FAR:
        here = waiting.pop()
        passed.add(here)
        number, listed = here
        for port in graph.layer(number).common.outputs:
            for reader, given in ((graph.layer(one), port) for one, port in graph.consumers(number, port.id)):
                if listed and [one.id for one in reader.common.inputs].index(given) == SIZED.get(reader.type):
                    yield SIZING
                elif reader.type == "Reshape":
                    yield RESHAPED
                elif listed or reader.type == "ShapeOf" or dims in [one.dims for one in reader.common.outputs]:
                    waiting += {(reader.id, listed or reader.type == "ShapeOf")} - passed


def _gives_booleans(layer: Layer) -> bool:
    kinds = (precision_in_file(port.precision or "") for port in layer.common.outputs)
    return any(kind is not None and kind.kind == "boolean" for kind in kinds)


def _tested(graph: Graph, conversion: Layer) -> Iterator[str]:
    """Yield `LATER`, `UNCHOSEN` and `COUNTED` as far as they are true of a layer that makes booleans."""
    source = next(iter(_sources(graph, conversion)), None)
    before = None if source is None else graph.layer(source.layer)
    if source is not None and before is not None:
        if before.type in UNCHOOSING:
            yield UNCHOSEN
        elif port_place(before.common.outputs, source.port):
            yield LATER
    waiting, passed = [conversion], set[int]()
    while waiting and len(passed) < FAR:
        behind = waiting.pop()
        passed.add(behind.id)
        readers = [graph.layer(one) for one in graph.successors(behind.id) if one not in passed]
        if any(reader.type in CONVERTING and not _gives_booleans(reader) for reader in readers):
            yield COUNTED
            return
        waiting += [reader for reader in readers if reader.type not in TESTING and _gives_booleans(reader)]


def _takes_single_elements(layer: Layer) -> bool:
    """Return whether a layer is a convolution of known sizes with filters of one element."""
    sizes = [port.dims[2:] for port in layer.common.inputs[:2]]
    return layer.type == "Convolution" and len(sizes) == 2 and min(sizes[0], default=0) > 0 and {*sizes[1]} == {1}


def _moved(graph: Graph, convolution: Layer, constants: Collection[int]) -> Iterator[str]:
    """Yield `LATER`, `UNCHOSEN` and `PADDED` as far as they are true of one whose strides move before other layers.

    They move on before other convolutions of single elements, with those that these have.
    """
    own = _numbers_of(convolution, "strides")
    if not _takes_single_elements(convolution) or {*own} <= {1}:
        return
    waiting = [(source, convolution, own, False) for source in _sources(graph, convolution)[:1]]
    passed = set[Source]()
    while waiting and len(passed) < FAR:
        source, reader, strides, moved = waiting.pop()
        if source is None or source in passed or source.layer in constants:
            continue
        passed.add(source)
        before = graph.layer(source.layer)
        readers = [graph.layer(one) for one, _ in graph.consumers(*source)]
        together = all(_takes_single_elements(one) and _numbers_of(one, "strides") == own for one in readers)
        moves = before.type in MOVED_BEFORE | {"Convolution"} and (len(readers) == 1 or together)
        if moves and not moved and not _is_of_weights(graph, before, constants) and _shifts(reader, strides):
            yield PADDED
        sources = _sources(graph, before)
        if moves and _takes_single_elements(before):
            steps = [step * more for step, more in zip(strides, _numbers_of(before, "strides"), strict=False)]
            waiting += [(one, before, steps, False) for one in sources[:1]]
        elif moves and before.type != "Convolution":
            further = moved or not _is_of_weights(graph, before, constants)
            waiting += [(one, reader, strides, further) for one in sources]
        elif moved and before.type in UNCHOOSING:
            yield UNCHOSEN
        elif moved and port_place(before.common.outputs, source.port):
            yield LATER


def _numbers_of(layer: Layer, name: str) -> list[int]:
    """Return the numbers that an attribute lists."""
    return [int(text) for text in layer.common.raw.get(name, "").split(",") if text.strip().isdecimal()]


def _shifts(convolution: Layer, strides: Sequence[int]) -> bool:
    """Return whether the padding of a convolution of single elements gives others if strides come before it."""
    raw, sizes = convolution.common.raw, convolution.common.inputs[0].dims[2:]
    if (raw.get("auto_pad") or "explicit").lower() not in {"explicit", "notset"}:
        return False
    behind = zip(sizes, strides, _numbers_of(convolution, "pads_end"), strict=False)
    begin = _numbers_of(convolution, "pads_begin")
    return any(begin) or any((size + pad - 1) // step + 1 != -(-size // step) + pad for size, step, pad in behind)


def _is_of_weights(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a layer multiplies channels, or everything, by constants, which those of a convolution take in."""
    if layer.type == "Negative":
        return True
    held = [
        port.dims
        for port, source in zip(layer.common.inputs, _sources(graph, layer), strict=True)
        if source is not None and source.layer in constants
    ]
    spatial = len(layer.common.outputs[0].dims) - 2
    return layer.type in {"Multiply", "Divide"} and any(set(dims[-spatial:]) <= {1} for dims in held)


def _merged(model: Model, graph: Graph, reduction: Layer) -> Iterator[str]:
    """Yield `BY_NUMBER`, `REPEATED` and `SHIFTED` as far as they are true of a reduction behind one of its type.

    Releases write the axes of both in one list, as they are, if the dimensions of the data stay, or if the axes of the
    first are behind those of the second.
    """
    source = next(iter(_sources(graph, reduction)), None)
    before = None if source is None else graph.layer(source.layer)
    if before is None or before.type != reduction.type:
        return
    kept = [(layer.common.raw.get("keep_dims") or "false").lower() for layer in (before, reduction)]
    first, second = (_integers(model, graph, layer, 1) for layer in (before, reduction))
    if kept[0] != kept[1] or first is None or second is None or not before.common.inputs[0].dims:
        return
    rank = len(before.common.inputs[0].dims)
    left = rank if kept[0] == "true" else rank - first.size
    axes = [int(axis) % rank for axis in first.flat]
    own = [int(axis) % max(left, 1) for axis in second.flat]
    if kept[0] != "true" and max(own, default=-1) >= min(axes, default=0):
        return
    if first.ndim == 0 or second.ndim == 0:
        yield BY_NUMBER
    written = [int(axis) % rank for axis in (*first.flat, *second.flat)]
    if kept[0] != "true" and len({*written}) < len(written):
        yield REPEATED
    elif {*written} != {*axes, *own}:
        yield SHIFTED


def _integers(model: Model, graph: Graph, layer: Layer, number: int) -> Array | None:
    """Return the values of an input that is a constant of integers; None if it is not one, or if they are missing."""
    source = dict(enumerate(_sources(graph, layer))).get(number)
    feed = None if source is None else graph.layer(source.layer)
    if feed is None or role_of(feed) is not Role.CONSTANT:
        return None
    try:
        found = values(feed.common.raw, model.weights)
    except ReadError:
        return None
    return found if found.dtype.kind in "iu" else None


def _is_interleaved(model: Model, graph: Graph, split: Layer) -> bool:
    """Return whether a Concat joins a part of a split, of several rows in each of several blocks, before its axis."""
    axes = _integers(model, graph, split, 1)
    if axes is None or axes.size != 1:
        return False
    axis = int(axes.flat[0])
    for port in split.common.outputs:
        for reader in (graph.layer(one) for one, _ in graph.consumers(split.id, port.id)):
            joined, rank = _integer(reader, "axis"), len(port.dims)
            if reader.type == "Concat" and joined is not None and min(port.dims, default=0) > 0:
                blocks, rows = port.dims[: joined % rank], port.dims[joined % rank : axis % rank]
                if prod(blocks) > 1 and prod(rows) > 1:
                    return True
    return False


def _integer(layer: Layer, name: str) -> int | None:
    """Return an attribute; None if it is not an integer."""
    text = layer.common.raw.get(name, "").strip()
    return int(text) if text.removeprefix("-").isdecimal() else None


def _is_joined(graph: Graph, split: Layer) -> bool:
    """Return whether an elementwise layer combines a part behind the first with a tensor of unknown size."""
    readers = (
        graph.layer(reader) for port in split.common.outputs[1:] for reader, _ in graph.consumers(split.id, port.id)
    )
    return any(
        reader.type in JOINING and any(size < 0 for size in port.dims)
        for reader in readers
        for port in (*reader.common.inputs, *reader.common.outputs)
    )


def _is_quantized(graph: Graph, product: Layer, constants: Collection[int], known: dict[int, bool]) -> bool:
    """Return whether the data of a product are those of a FakeQuantize between two numbers, to levels of 8 bits.

    Args:
        graph: that the layer is in.
        product: the layer.
        constants: the layers of the graph that are computed of constants alone.
        known: the answers for outputs of layers of the graph. Without them a chain that many products have in common
            would be followed from each, in quadratic time.
    """
    layer, passed, found = product, list[int](), False
    while (source := next(iter(_sources(graph, layer)), None)) is not None and source.layer not in known:
        layer = graph.layer(source.layer)
        passed.append(layer.id)
        if layer.type not in CARRYING:
            found = layer.type == "FakeQuantize" and _is_to_bytes(graph, layer, constants)
            break
    found = found if source is None else known.get(source.layer, found)
    known.update(dict.fromkeys(passed, found))
    return found


def _is_to_bytes(graph: Graph, quantized: Layer, constants: Collection[int]) -> bool:
    """Return whether the limits of a FakeQuantize are constant numbers, and its levels those of 4 or 8 bits."""
    limits = [source is not None and source.layer in constants for source in _sources(graph, quantized)[1:]]
    sizes = {size for port in quantized.common.inputs[1:] for size in port.dims}
    return all(limits) and sizes <= {1} and quantized.common.raw.get("levels") in LEVELS


def _is_affine(
    graph: Graph, layer: Layer, constants: Collection[int], known: dict[tuple[int, int, bool, bool], bool]
) -> bool:
    """Return whether a product and a sum behind a layer become one layer.

    The sum comes behind the product, with a Reshape in between or not, or at once before it if both are by constants.

    Args:
        graph: that the layer is in.
        layer: the layer.
        constants: the layers of the graph that are computed of constants alone.
        known: the answers behind each input of the graph, with or without a product and a sum before it. Without them
            a chain that many layers lead into would be followed from each, in quadratic time.
    """
    return any(_joins(graph, reader, port, constants, known) for reader, port in _readers_of(graph, layer))


def _readers_of(graph: Graph, layer: Layer) -> list[tuple[int, int]]:
    """Return the layers and ports that read the first output of a layer."""
    return graph.consumers(layer.id, layer.common.outputs[0].id) if layer.common.outputs else []


def _joins(
    graph: Graph, reader: int, port: int, constants: Collection[int], known: dict[tuple[int, int, bool, bool], bool]
) -> bool:
    """Return whether a product and a sum that become one layer follow an input."""
    product, total, found, passed = False, False, False, list[tuple[int, int, bool, bool]]()
    while (key := (reader, port, product, total)) not in known:
        passed.append(key)
        layer = graph.layer(reader)
        if layer.type not in CROSSED:
            break
        by_constant = all(
            source.layer in constants for number, source in graph.sources(layer.id).items() if number != port
        )
        ahead = port == layer.common.inputs[0].id
        if layer.type in SUMS:
            found = product and ahead
            if found or not by_constant:
                break
            total = True
        elif layer.type in {"Multiply", "Negative"} or (layer.type == "Divide" and ahead):
            if total:
                found = by_constant
                break
            product = product or layer.type != "Negative"
        elif layer.type in MOVED:
            total = False
        else:
            break
        targets = _readers_of(graph, layer)
        if len(targets) != 1:
            break
        ((reader, port),) = targets
    found = known.get(key, found)
    known.update(dict.fromkeys(passed, found))
    return found


def border_names(graph: Graph) -> dict[Source, str]:
    """Return the inputs and outputs of a graph, with the name by which each goes in IR v10."""
    ends = [(layer, role_of(layer)) for layer in graph.layers()]
    inputs = (layer.id for layer, role in ends if role is Role.PARAMETER)
    results = (layer.id for layer, role in ends if role is Role.RESULT)
    taken = (Source(number, port.id) for number in inputs for port in graph.layer(number).common.outputs)
    given = (source for number in results for source in graph.sources(number).values())
    found = ((source, graph.layer(source.layer)) for source in chain(taken, given))
    return {source: output_name(layer, port_place(layer.common.outputs, source.port) or 0) for source, layer in found}


def _names(graph: Graph, bordered: bool) -> dict[int, frozenset[str]]:
    """Return what is wrong with the names of layers. `bordered`: whether inputs and outputs go by names of layers."""
    results, others = dict[int, str](), dict[int, str]()
    for layer in graph.layers():
        (results if role_of(layer) is Role.RESULT else others)[layer.id] = layer.name
    found = defaultdict[int, set[str]](set)
    for problem, names in ((EQUAL_NAMES, others), (EQUAL_RESULTS, others | results)):
        for number in _repeated(names.items()):
            found[number].add(problem)
    for problem, source in border_problems(graph) if bordered else ():
        found[source.layer].add(problem)
    return {number: frozenset(problems) for number, problems in found.items()}


def border_problems(graph: Graph) -> Iterator[tuple[str, Source]]:
    """Yield what is wrong with the inputs and outputs of a graph in IR v10, for some releases, and of which tensor."""
    called = border_names(graph)
    names = [(source, name) for source in called for name in {*graph.layer(source.layer).port(source.port).names}]
    named = {source for source, _ in names}
    for source in called:
        layer = graph.layer(source.layer)
        uses = sum(role_of(graph.layer(one)) is Role.RESULT for one, _ in graph.consumers(*source))
        taken = role_of(layer) is Role.PARAMETER
        kind = layer.common.raw.get("element_type", "").lower() if taken and uses else ""
        if uses > 1 and not taken:
            yield SHARED_OUTPUT, source
        if uses + taken > 1 and source in named:
            yield SHARED_TENSOR, source
        if uses > 1 and kind in RESULTS_OF_10:
            yield from ((problem, source) for problem in (CONVERTED, CONVERTED_LATE))
        if kind in RESULTS_OF_10 and kind not in PARAMETERS_OF_10:
            yield UNCALLED, source
    for problem, pairs in ((EQUAL_BORDERS, called.items()), (EQUAL_TENSORS, names)):
        yield from ((problem, source) for source in _repeated(pairs))
    holders = {name: source for source, name in called.items()}
    yield from ((TAKEN_NAMES, source) for source, name in names if holders.get(name, source) != source)


def _repeated(names: Collection[tuple[Named, str]]) -> list[Named]:
    """Return whose names another one has."""
    counts = Counter(name for _, name in names)
    return [one for one, name in names if counts[name] > 1] if len(counts) < len(names) else []


def _constant_layers(graph: Graph) -> dict[int, frozenset[str]]:
    """Return the layers that are computed of constants alone, with the element types of these."""
    found: dict[int, frozenset[str]] = {}
    for layer in graph.ordered():
        role, producers = role_of(layer), graph.producers(layer.id)
        if role is Role.CONSTANT:
            found[layer.id] = frozenset({layer.common.raw.get("element_type", "")})
        elif role is Role.COMPUTATION and producers and all(one in found for one in producers):
            found[layer.id] = frozenset().union(*(found[one] for one in producers))
    return found
