"""What the release of a target does with the layers of a model, and would do with those of a rewrite."""

from collections.abc import Hashable, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from ir_tools.graph import Layer, Located, Model
from ir_tools.infer import AnswerTable, LayerSignature
from ir_tools.known_differences.releases import release_differences
from ir_tools.known_differences.releases.seen import MULTIPLE, REMAINDERS, Pattern, Seen, Undecided, Unplaced
from ir_tools.known_differences.surroundings import Surroundings, idle_bodies
from ir_tools.known_differences.verdicts import (
    Answer,
    behaviour,
    decisive,
    is_plain,
    unsized_behaviour,
    verdict,
)
from ir_tools.ops import Op, Role, find_op, opset_number
from ir_tools.ops.definition import Array, Bounds, Fact, NewLayer, Ref, Rewrite
from ir_tools.ops.records import constant_fact
from ir_tools.releases.measured import State
from ir_tools.releases.table import Release
from ir_tools.rewrite.facts import KnownFacts
from ir_tools.rewrite.target import INPUTS_OF_2021, releases_in_words
from ir_tools.types import is_static, precision_in_file

__all__ = ["ReleaseAnswer", "ReleaseAnswers", "quality"]

ReleaseAnswer = tuple[Answer, str] | None
"""What a release does with a layer that it does not run as it should, and why."""
QUALITY = {Answer.STOPPED: 0, Answer.READS: 0, Answer.DIFFERS: 1}

EARLY_REMAINDERS = 2023, 0
"""The first release that computes a Mod of known sizes before a device runs, as all do a FloorMod. Measured."""
WITHOUT_ELEMENTS = 2022, 3
"""The first release that slices nothing of a tensor, or updates nothing in it, safely. Measured."""
LASTING = {
    *(Pattern.AFFINE, Pattern.MULTIPLIED, Pattern.MULTIPLIED_AT_ONCE, Pattern.MULTIPLIED_IN_ORDER),
    *(Pattern.MULTIPLIED_LATE, Pattern.MULTIPLIED_OTHERWISE, Pattern.PARTLY_READ, Pattern.RESHAPED, Pattern.SIZING),
    *(Pattern.BENT_BY_CHANNEL, Pattern.KNOWN_KEPT, Pattern.OTHER_KEPT, Pattern.RESHAPED_AFTER),
    *(Pattern.STATE_BY_NUMBER, Pattern.UNKNOWN_KEPT),
}
"""Patterns that lie behind a layer: another one in its place has them, too."""
OF_DATA = {
    *(Pattern.AVERAGED, Pattern.BETWEEN_BYTES, Pattern.BETWEEN_EARLY_BYTES, Pattern.EXCHANGED, Pattern.NARROW),
    *(
        Pattern.GIVEN_MOVED,
        Pattern.PART_MOVED,
        Pattern.MULTIPLIED_DATA_LATE,
        Pattern.MULTIPLIED_OTHERWISE_LATE,
        Pattern.OF_LEVELS,
        Pattern.OF_MATRICES,
        Pattern.OF_PRODUCT,
        Pattern.QUANTIZED,
        Pattern.RESCALED,
        Pattern.SCALED_BY_A_LIST,
        Pattern.EXPANDED_AND_KEPT,
        Pattern.EXPANDED_TO_REDUCE,
        Pattern.REDUCED_BEFORE_THE_FIRST,
        Pattern.REDUCED_FROM_THE_END,
        Pattern.TRANSPOSED_BEFORE,
        Pattern.TRANSPOSED_TO_REDUCE,
        Pattern.UNCONVERTED,
        Pattern.UNSHIFTED,
        Pattern.UNSQUEEZED_AND_KEPT,
        Pattern.UNSIGNED,
        Pattern.WITH_ZERO_POINT,
    ),
}
"""Patterns that lie before a layer: one of its type that reads what it reads has them, too."""


class ReleaseAnswers:
    """Ask the tables of what releases do about layers.

    Values that differ on other processors than this one count, too: a migrated model runs on any of them.
    """

    def __init__(self, model: Model, known: KnownFacts, release: Release, version: int) -> None:
        """`known`: of the model; `version`: of the IR that it gets."""
        self.known = known
        self.release = release
        self.version = version
        self._answers = AnswerTable[ReleaseAnswer]()
        self._words: dict[Hashable, str] = {}
        self.changed(model)

    def changed(self, model: Model) -> None:
        """Go on with the model, or the copy of it, in which layers were changed; `known` has to know of it already."""
        self.model = model
        idle = idle_bodies(model, self.known.computed)
        self._around = Surroundings(model, idle)
        self._own = self._around if self.version == model.version else Surroundings(model, idle)
        self._plain: dict[int, bool] = {}
        self._plain_kinds: dict[Hashable, bool] = {}
        self._seen: dict[tuple[int, int], Seen] = {}
        self._does: dict[tuple[int, int], ReleaseAnswer] = {}
        self._facts: dict[tuple[int, int], tuple[Sequence[Fact], Sequence[Fact]]] = {}
        self._kinds = set[int]()
        self._anywhere = AnswerTable[tuple[ReleaseAnswer] | None]()
        for name in ("_all_kinds", "_types"):
            self.__dict__.pop(name, None)

    def is_read(self, located: Located) -> bool:
        """Return whether the release reads a layer: no Result may need it."""
        return self._around.is_read(located)

    def may_stop(self, layer: Layer) -> bool:
        """Return whether the release may not run a layer of the kind of this one as it should, wherever it is."""
        signature, _ = self.known.signatures.of(layer)
        return signature.op is not None and not self.is_plain(signature, signature.op)

    def is_plain(self, layer: LayerSignature, op: Op) -> bool:
        """Return whether the release runs every layer of this operation and of the element types of this layer.

        If not, whether it runs those with the attributes of this layer, in models with the types of layers of this one.
        Constants, and inputs of types that are converted, are not asked about, unless they have no elements. Ports
        without sizes may be of unknown rank.
        """
        found = self._plain.get(layer.kind)
        if found is None:
            found = self._plain[layer.kind] = self._is_plain(layer, op)
        return found

    def _is_plain(self, layer: LayerSignature, op: Op) -> bool:
        raw = layer.unlabelled
        if any(0 in port.dims for port in layer.outputs):
            return False
        kind = raw.get("element_type", "").lower()
        converted = op.role is Role.PARAMETER and kind in INPUTS_OF_2021
        if converted or op.role is Role.CONSTANT:
            return True
        if not all(port.dims for port in layer.outputs):
            return False
        recorded_types = frozenset(port.precision for port in (*layer.inputs, *layer.outputs))
        key = str(op), recorded_types
        if key not in self._plain_kinds:
            self._plain_kinds[key] = self._runs(op, recorded_types, None)
        if self._plain_kinds[key]:
            return True
        alone = key, *raw.items()
        if alone not in self._plain_kinds:
            self._plain_kinds[alone] = self._runs(op, recorded_types, Unplaced(op, op.read(raw, []), self._types))
        return self._plain_kinds[alone]

    def _runs(self, op: Op, recorded_types: Set[str | None], alone: Unplaced | None) -> bool:
        kinds = _kinds(recorded_types) if all(recorded_types) else self._all_kinds
        return is_plain(self.release, str(op), kinds, anywhere=True, alone=alone)

    @cached_property
    def _types(self) -> Set[str]:
        """The types of the layers of the model."""
        return {layer.type for graph in self.model.graphs() for layer in graph.layers()}

    @cached_property
    def _all_kinds(self) -> frozenset[str]:
        """The element types of the tensors of the model; in IR v10 inputs of layers do not record them."""
        ports = (port for located in self.model.walk() for port in self.known.signatures.of(located.layer)[0].outputs)
        return _kinds({port.precision for port in ports})

    def seen(self, located: Located, op: Op) -> Seen:
        """Return what decides about a layer; the model has to stay as it is."""
        key = id(located.graph), located.layer.id
        if key not in self._seen:
            self._seen[key] = self._seen_in(self._around, located, op, self.version)
        return self._seen[key]

    def _facts_of(self, located: Located) -> tuple[Sequence[Fact], Sequence[Fact]]:
        """Return what is known of the inputs and of the outputs of a layer."""
        key = id(located.graph), located.layer.id
        if key not in self._facts:
            self._facts[key] = self.known.computed(located.graph, located.layer), self.known.results(located)
        return self._facts[key]

    def does(self, located: Located, op: Op) -> ReleaseAnswer:
        """Return what the release does with a layer of the model, which has to stay as it is."""
        key = id(located.graph), located.layer.id
        if key not in self._does:
            signature, (inputs, outputs) = self.known.signatures.of(located.layer)[0], self._facts_of(located)
            about, facts = (signature.kind, len(inputs)), (*inputs, *outputs)
            decided: tuple[ReleaseAnswer] | None = None
            if signature.kind in self._kinds:
                decided = self._anywhere.of(about, facts, self._of_unplaced, signature, op, inputs, outputs)
            self._kinds.add(signature.kind)
            if decided is None:
                seen = self.seen(located, op)
                decided = (self._answers.of((*about, *seen.around), facts, self.of, seen),)
            (self._does[key],) = decided
        return self._does[key]

    def _of_unplaced(
        self, layer: LayerSignature, op: Op, inputs: Sequence[Fact], outputs: Sequence[Fact]
    ) -> tuple[ReleaseAnswer] | None:
        """Return what the release does with layers of a kind, whatever is around them; None if that decides.

        It is asked for once there is a second layer of the kind.
        """
        known: dict[str, object] = {"inputs": inputs, "outputs": outputs, "version": self.version}
        known |= {"opset": opset_number(layer.version) or 6, "absent": op.absent(layer.raw)}
        with suppress(Undecided):
            return (self.of(Unplaced(op, op.read(layer.unlabelled, []), self._types, **known)),)
        return None

    def _seen_in(self, around: Surroundings, located: Located, op: Op, version: int) -> Seen:
        return around.seen(located, op, *self._facts_of(located), version)

    def of(self, seen: Seen) -> ReleaseAnswer:
        """Return what the release does with a layer, None if it runs it or if nothing is known.

        What is known to fail in some models counts as other values: if there is another way, it is taken.
        """
        if not self.release.dynamic and _has_unknown_results(seen):
            return unsized_behaviour(self.release, replace(seen, open=False))
        found = behaviour(self.release, seen, anywhere=True)
        if found is None and (reason := _suspicion(self.release, seen)) is not None:
            return Answer.DIFFERS, reason
        return found if found is not None and found[0] in QUALITY else None

    def always_differs(self, seen: Seen) -> bool:
        """Return whether the release is known to give other values than it should whatever the inputs are."""
        if not self.release.dynamic and _has_unknown_results(seen):
            return True
        rows = release_differences(self.release, seen)
        return any(row.state is State.DIFFERS and not row.sometimes for row in rows)

    def running_in_words(self, located: Located, op: Op) -> str:
        """Return which releases run a layer as it is: `OpenVINO 2022.1 and later run it`."""
        seen = replace(self._seen_in(self._own, located, op, self.model.version), opset=op.version)
        key = decisive(seen)
        if key not in self._words:
            self._words[key] = releases_in_words(lambda release: verdict(release, seen) is None, "run")
        return self._words[key]

    def of_rewrite(self, rewrite: Rewrite, old: Seen) -> ReleaseAnswer:
        """Return what the release does with the worst of the layers that a rewrite puts in the place of an old one.

        Nothing is known of those that read an input which nothing feeds.
        """
        if len(old.inputs) <= max(rewrite.inputs_read, default=-1):
            return None
        made: list[Seen] = []
        for index, new in enumerate(rewrite.layers):
            feeds = [_feed(given, old, made) for given in new.inputs]
            op = find_op(new.type, f"opset{new.opset}")
            assert op is not None
            first, last, between = _place(rewrite, index, old)
            gives = new is rewrite.layers[-1]
            data = new.inputs[0] if new.inputs else None
            reads = new.type == old.op.type and isinstance(data, Ref) and data == Ref(None)
            lasting = (LASTING if gives else set()) | (OF_DATA if reads else set())
            made.append(
                replace(
                    old,
                    op=op,
                    attrs=op.read(new.raw, []),
                    inputs=[feed.fact for feed in feeds],
                    outputs=new.outputs,
                    constant=frozenset(number for number, feed in enumerate(feeds) if feed.constant),
                    held=frozenset().union(*(feed.held for feed in feeds)),
                    opset=new.opset,
                    first=first,
                    last=last,
                    absent=op.absent(new.raw),
                    between=between,
                    producers=_producers(rewrite, new, old, made),
                    readers=_readers(rewrite, index, old),
                    scaled=old.scaled if gives else frozenset(),
                    patterns=old.patterns & lasting,
                    unread=frozenset(),
                )
            )
        return min(map(self.of, made), key=quality)


def _suspicion(release: Release, seen: Seen) -> str | None:
    """Return what may go wrong with a layer in some models, which no row describes; None if nothing is known."""
    type, known = seen.op.type, seen.outputs[0].exact is not None if seen.outputs else False
    if type == "Mod" and release.number < EARLY_REMAINDERS and known and all(map(_is_positive, seen.inputs)):
        return "layers are compiled for unknown sizes if a remainder decides them"
    if type == "Divide" and not release.dynamic and known and seen.inputs[0].dtype.is_integer:
        return "quotients are computed before all sizes are known, which count as 0 until then"
    if release.number < WITHOUT_ELEMENTS:
        if type == "ScatterNDUpdate" and any(0 in fact.dims for fact in seen.inputs[2:]):
            return "without an update, one is written nevertheless"
        if type in {"Slice", "StridedSlice"} and 0 in seen.outputs[0].dims and 0 not in seen.inputs[0].dims:
            return "without elements, some are written into other tensors nevertheless"
    return None


def _has_unknown_results(seen: Seen) -> bool:
    """Return whether values decide the sizes of an output."""
    read, given = (all(is_static(fact.shape) for fact in facts) for facts in (seen.inputs, seen.outputs))
    return read and not given


def _is_positive(fact: Fact) -> bool:
    """Return whether numbers are known not to be negative."""
    return fact.value is not None and bool((fact.value.lower >= 0).all())


def quality(answer: ReleaseAnswer) -> int:
    """Return how good it is what a release does: 2 if it runs a layer as it should."""
    return 2 if answer is None else QUALITY[answer[0]]


def _kinds(recorded_types: Iterable[str | None]) -> frozenset[str]:
    found = (precision_in_file(precision) for precision in recorded_types if precision)
    return frozenset(kind.name for kind in found if kind is not None)


def _place(rewrite: Rewrite, index: int, old: Seen) -> tuple[bool, bool, bool]:
    """Return `first`, `last` and `between` of a new layer: what it does not share with the old one is in the model."""
    inputs = [given for given in rewrite.layers[index].inputs if isinstance(given, Ref)]
    read = any(isinstance(given, Ref) and given.layer == index for new in rewrite.layers for given in new.inputs)
    gives = index == len(rewrite.layers) - 1 or any(given.layer == index for given in rewrite.outputs)
    reads = any(given.layer is None and given.output not in old.constant for given in inputs)
    alone = gives and not read and all(given.layer is None for given in inputs)
    return old.first and reads, old.last and gives, old.between and alone


def _producers(rewrite: Rewrite, new: NewLayer, old: Seen, made: Sequence[Seen]) -> tuple[str, ...]:
    """Return `producers` of a new layer."""
    read = [one for layer in rewrite.layers for one in layer.inputs if isinstance(one, Ref)] + [*rewrite.outputs]

    def alone(given: Ref | Array) -> str:
        if not isinstance(given, Ref) or read.count(given) != 1:
            return ""
        if given.layer is not None:
            op = made[given.layer].op
            return op.type if op.role is Role.COMPUTATION else ""
        return old.producers[given.output] if given.output < len(old.producers) else ""

    found = tuple(map(alone, new.inputs))
    return (MULTIPLE, *found[1:]) if new.type == "Divide" and _is_multiple(rewrite, *new.inputs) else found


def _is_multiple(rewrite: Rewrite, data: Ref | Array, divisor: Ref | Array) -> bool:
    """Return whether the data are another tensor less its remainder of a division by the divisor."""
    difference = _made(rewrite, data)
    remainder = (
        _made(rewrite, difference.inputs[1]) if difference is not None and difference.type == "Subtract" else None
    )
    if difference is None or remainder is None or remainder.type not in REMAINDERS or not isinstance(divisor, Ref):
        return False
    return [*remainder.inputs] == [difference.inputs[0], divisor]


def _made(rewrite: Rewrite, given: Ref | Array) -> NewLayer | None:
    """Return the new layer that an input reads; None for an input of the old layer, or a constant."""
    return rewrite.layers[given.layer] if isinstance(given, Ref) and given.layer is not None else None


def _readers(rewrite: Rewrite, index: int, old: Seen) -> tuple[tuple[int, str], ...]:
    """Return `readers` of a new layer: those within the rewrite, and those of the old layer's outputs that it gives."""
    made = [
        (given.output, new.type)
        for new in rewrite.layers
        for given in new.inputs
        if isinstance(given, Ref) and given.layer == index
    ]
    if not rewrite.outputs:
        return tuple(sorted(made)) if index < len(rewrite.layers) - 1 else old.readers
    given = {number: ref.output for number, ref in enumerate(rewrite.outputs) if ref.layer == index}
    return tuple(sorted([*made, *((given[number], type) for number, type in old.readers if number in given)]))


class _Feed(NamedTuple):
    """What an input of a new layer reads, whether that is constant, and of constants of which types it is computed."""

    fact: Fact
    constant: bool
    held: Set[str]


def _feed(given: Ref | Array, old: Seen, made: Sequence[Seen]) -> _Feed:
    if not isinstance(given, Ref):
        fact = replace(constant_fact(given), value=Bounds.exactly(given) if given.dtype.kind in "iufb" else None)
        return _Feed(fact, True, {fact.dtype.name})
    if given.layer is None:
        constant = given.output in old.constant
        return _Feed(old.inputs[given.output], constant, old.held if constant else frozenset())
    source = made[given.layer]
    fact = source.outputs[given.output]
    folded = source.op.role is Role.COMPUTATION and len(source.constant) == len(source.inputs)
    constant = folded or (fact.exact is not None)
    return _Feed(fact, constant, source.held if constant else frozenset())
