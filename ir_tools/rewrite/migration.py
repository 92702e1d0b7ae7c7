"""Migrate a model to another opset: every step is planned and proved first, then all steps are applied, or none."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from typing import NamedTuple

from ir_tools.arguments import word_list
from ir_tools.collection import gc_paused
from ir_tools.display import brief_fields, notebook_table, plural
from ir_tools.errors import MigrationError, ShapeError
from ir_tools.graph import Layer, Located, Model
from ir_tools.infer import LayerSignature, propagate_shapes
from ir_tools.known_differences.releases.seen import Seen
from ir_tools.known_differences.verdicts import Answer
from ir_tools.ops import COMPLETE_OPSETS, find_op, named_rewrites, opset_number
from ir_tools.ops.checks import check_ports
from ir_tools.ops.definition import Fact, NewLayer, Op, PartialStep, Ref, Refused, Rewrite, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Ints, ObservedAttrs
from ir_tools.ops.records import recorded
from ir_tools.rewrite.extraction import drop_unread
from ir_tools.rewrite.facts import InputFacts, KnownFacts
from ir_tools.rewrite.fitting import Fitting
from ir_tools.rewrite.places import in_its_place
from ir_tools.rewrite.release_answers import ReleaseAnswer, ReleaseAnswers, quality
from ir_tools.rewrite.rewriter import Rewriter, changes_nothing, lost_output, remove_unread, unfed_input, with_labels
from ir_tools.rewrite.steps import MigrationStep, RefusedStep, StepPlace
from ir_tools.rewrite.target import Target

__all__ = ["Migration", "migrate"]

MAX_ROUNDS = 8
"""The maximum number of times that the layers made by a migration are migrated in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainingLayer:
    """A layer of an unknown operation whose version is above the target; the migration does not change it."""

    path: str
    layer_id: int
    line: int | None
    type: str
    version: str

    __repr__ = brief_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """The result of a migration.

    Attributes:
        model: the migrated model; the original model if a layer was refused.
        steps: the layers that were rewritten, each with its proof.
        refused: the layers without an exact equivalent in the target; if there are any, nothing was changed.
        remaining: the layers of unknown operations above the target, which were not changed.
        notes: remarks about the model as a whole.

    Example:
        >>> migration = ir_tools.migrate("model.xml", to="opset14")
        >>> migration.ok, len(migration.steps), migration.model
        (True, 1, Model('small', IR v11, 3 layers, model.xml))
    """

    model: Model
    steps: tuple[MigrationStep, ...] = ()
    refused: tuple[RefusedStep, ...] = ()
    remaining: tuple[RemainingLayer, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no layer was refused."""
        return not self.refused

    def __repr__(self) -> str:
        """Return `Migration(3 steps, 0 refused)`."""
        remaining = f", {len(self.remaining)} remaining" if self.remaining else ""
        return f"Migration({plural(len(self.steps), 'step')}, {len(self.refused)} refused{remaining})"

    def _repr_html_(self) -> str:
        """Return the text of `repr`, and a table of the refused layers and of the steps."""
        refused = ((one.path, one.line, one.before, "refused", one.reason) for one in self.refused)
        steps = ((one.path, one.line, one.before, one.after, one.proof) for one in self.steps)
        columns = ("layer", "line", "before", "after", "proof or reason")
        return notebook_table(repr(self), columns, chain(refused, steps))


@gc_paused()
def migrate(
    model: Model,
    to: str | None = "opset8",
    passes: str | Sequence[str] = (),
    *,
    in_place: bool = False,
) -> Migration:
    """Run the named rewrites, then migrate every layer to the target `to`.

    Args:
        model: the model.
        to: an opset (`opset8`), an IR version (`ir10`) or a release (`openvino-2024.6`); None to run only the passes.
        passes: the names of rewrites, in the order in which they run (`ir_tools.ops.named_rewrites`).
        in_place: allow changes to `model`, which saves a copy; it is not changed if a layer is refused.

    Raises:
        MigrationError: the target or a pass is unknown.
        UsageError: the release is unknown.
        ReadError: a constant that a rewrite depends on cannot be read.
    """
    given = model
    stages: list[_Stage] = [_stage(name) for name in word_list(passes)]
    target = None if to is None else Target.of(to)
    if target is not None and target.opset is not None:
        stages.append(_Migrating(target))
    if target is not None and target.release is not None and not target.release.dynamic:
        model = _with_computed_sizes(given)
    fitting = None if target is None else Fitting(model, target)
    if fitting is not None and fitting.needed:
        refused = fitting.refused()
        if refused:
            return Migration(model=given, refused=refused)
    work, steps, known = model, list[MigrationStep](), KnownFacts(model)
    remaining: tuple[RemainingLayer, ...] = ()
    answers: ReleaseAnswers | None = None
    rounds = 0
    settled = False  # whether layers that were made are looked at for the last time, beside their neighbours
    while stages:
        stage = stages.pop(0)
        if answers is None:
            answers = _release_answers(work, stage, fitting, known)
        plan = _Planning(work, stage, known, answers).plan()
        steps += [item.step for item in plan.rewrites]
        if plan.refused:
            return Migration(model=given, steps=tuple(steps), refused=tuple(plan.refused))
        if not stage.ends_with(plan):
            stages.insert(0, stage)
            rounds += 1
            if rounds > MAX_ROUNDS:
                raise MigrationError(f"the rewrites to {to} do not terminate: {plan.rewrites[0].step.after}")
        elif answers is not None and plan.rewrites and not settled:
            stages.insert(0, stage)
            settled = True
        if plan.rewrites:
            work = _rewritten(work, plan, known, copied=work is model and (bool(stages) or not in_place))
            if answers is not None:
                answers.changed(work)
        remaining = tuple(plan.remaining)
    notes: Sequence[str] = ()
    if fitting is not None and fitting.needed:
        fitting.apply(work.copy() if work is model and not in_place else work, answers)
        steps += fitting.steps
        work, notes = fitting.model, fitting.notes
        if fitting.freed:
            drop_unread(work, model.weights)
    return Migration(model=work, steps=tuple(steps), remaining=remaining, notes=tuple(notes))


def _with_computed_sizes(model: Model) -> Model:
    """Return the model; if it records sizes as not known, a copy with those that its inputs and constants decide."""
    layers = (layer for graph in model.graphs() for layer in graph.layers())
    if all(size >= 0 for layer in layers for port in layer.common.outputs for size in port.dims):
        return model
    found = model.copy()
    with suppress(ShapeError):
        propagate_shapes(found, in_place=True)
    return found


class _Outcome(NamedTuple):
    """Hold the replacement of a layer (None: it stays), and notes about the layer as it was.

    `same`: it is as it was; `right`: nothing in it has to be migrated in turn.
    """

    found: Rewrite | Refused | None
    notes: tuple[str, ...] = ()
    same: bool = False
    right: bool = True


def _crashes(op: Op, layer: LayerSignature) -> bool:
    """Return whether a runtime fails over the attributes of a layer that it reads, when it runs."""
    violations: list[Violation] = []
    attrs = op.read(layer.unlabelled, violations)
    inputs = [recorded(port) for port in layer.inputs]
    found = () if attrs is None or any(check_ports(op, len(inputs), 0)) else op.check(attrs, inputs)
    return any(each.kind is ViolationKind.FATAL or each.output is not None for each in (*violations, *found))


class _Verdict(NamedTuple):
    """What a stage does to all layers of one kind (`LayerSignature.kind`).

    `op`: whose rewrite is asked; None: none is. `otherwise`: what is done if it has none for a layer; None: it stays,
    among the remaining ones if it is `above` the target. `conditional`: only a layer that the release does not run
    as it should is rewritten.
    """

    op: Op | None = None
    otherwise: Rewrite | Refused | None = None
    above: bool = False
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class _Migrating:
    """Migrate every layer to the target, with the rewrite of its operation."""

    target: Target

    def leaves(self, type: str, version: str) -> bool:
        """Return whether all layers of a type and stamp stay, whatever they hold."""
        op, opset, target = find_op(type, version), opset_number(version), self.target
        if opset is None or target.opset is None:
            return True
        if target.release is not None:
            return False
        if op is None:
            return opset <= target.opset
        step = op.migrate
        idle = step is None or (isinstance(step, PartialStep) and step.leaves(target.opset))
        return idle and target.holds(op, opset)

    def verdict(self, layer: LayerSignature, answers: ReleaseAnswers | None) -> _Verdict:
        """Return what is done to layers like this one. An opset takes the newest version, a release what it runs."""
        op, opset, target = find_op(layer.type, layer.version), opset_number(layer.version), self.target
        assert opset is not None
        assert target.opset is not None
        if op is None:
            unknown = Refused(f"it is in no opset, and {target.name} reads opset1 to opset{target.opset}")
            above = opset > target.opset
            return _Verdict(otherwise=unknown if above and target.release else None, above=above)
        holds, asked = target.holds(op, opset), op if op.migrate else None
        if answers is None:
            return _Verdict(asked, None if holds else target.stamped(layer, op), above=not holds)
        stamped = None if holds else target.stamped(layer, op)
        if holds or stamped is not None:
            if asked is not None and _crashes(op, layer):
                return _Verdict(asked, stamped)
            if not answers.is_plain(layer, op):
                return _Verdict(op, stamped, conditional=True)
            return STAYS if stamped is None else _Verdict(None, stamped, conditional=True)
        return _Verdict(op, Refused(f"no operation that {answers.release.title} reads is known to compute the same"))

    def rewrite(self, op: Op, attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | Refused | None:
        """Return the rewrite to an opset."""
        return None if op.migrate is None else op.migrate(attrs, inputs, self._opset_for(op))

    def restamps(self, op: Op) -> bool:
        """Return whether layers of an operation get another version and stay as they are else, whatever they read."""
        return isinstance(op.migrate, PartialStep) and op.migrate.restamps(self._opset_for(op))

    def _opset_for(self, op: Op) -> int:
        """Return the opset; one that holds only what it brings is read along with its predecessors."""
        opset = self.target.opsets[0]
        return opset if op.version > COMPLETE_OPSETS else min(opset, COMPLETE_OPSETS)

    def released(
        self, op: Op, attrs: Attrs, inputs: Sequence[Fact], answers: ReleaseAnswers, seen: Seen, lost: "_Lost"
    ) -> tuple[Rewrite | Refused | None, ReleaseAnswer]:
        """Return the rewrite that the release runs best, to the newest opset if there are several, and how it runs it.

        `lost`: why a rewrite lacks an output, if it does.
        """
        best: tuple[Rewrite, ReleaseAnswer] | None = None
        refused: Refused | None = None
        for found in self._candidates(op, attrs, inputs, seen):
            why = found if isinstance(found, Refused) else lost(found)
            if isinstance(found, Refused) or why is not None:
                refused = refused or why
                continue
            if self.target.needs_dynamic(found.layers):
                refused = refused or Refused(
                    f"they need dynamic shapes, which {answers.release.title} does not support"
                )
                continue
            if not self.target.reads(found.layers):
                continue
            answer = answers.of_rewrite(found, seen)
            if best is None or quality(answer) > quality(best[1]):
                best = found, answer
            if answer is None:
                break
        return best or (refused, None)

    def _candidates(self, op: Op, attrs: Attrs, inputs: Sequence[Fact], seen: Seen) -> Iterator[Rewrite | Refused]:
        """Yield what means the same, and reasons why something does not; the newest operations first."""
        infinite = any(isinstance(value, float) and math.isinf(value) for value in attrs.values())
        if seen.absent or infinite:
            yield _complete(op, attrs, seen, infinite)
        yield from in_its_place(op, seen, self.target.opsets[0])
        steps = [(op.substitute, self.target.opsets[0]), *((op.migrate, opset) for opset in self.target.opsets)]
        for step, opset in steps:
            try:
                found = None if step is None else step(attrs, inputs, opset)
            except ShapeError as why:
                found = Refused(str(why))
            unreadable = step is op.substitute and not self.target.holds(op, seen.opset)
            if found is not None and not (unreadable and isinstance(found, Refused)):
                yield found

    def ends_with(self, plan: "_Plan") -> bool:
        """Return whether nothing that the plan makes has to be migrated in turn."""
        return all(item.right and self.target.reads(item.rewrite.layers) for item in plan.rewrites)


def _complete(op: Op, attrs: Attrs, seen: Seen, infinite: bool) -> Rewrite:
    """Return the layer with the values that its absent attributes have, and finite ones in place of `infinite` ones."""
    lists = ((name, spec.ones_for) for name, spec in op.attrs.items() if isinstance(spec, Ints) and spec.ones_for)
    ones = {name: (1,) * len(attrs[other]) for name, other in lists if not attrs[name]}
    raw = op.written({**attrs, **ones})
    refs = tuple(Ref(None, index) for index in range(len(seen.inputs)))
    new = NewLayer(type=op.type, opset=seen.opset, inputs=refs, outputs=tuple(seen.outputs), raw=raw)
    proof = "the largest f64 is infinity in f32" if infinite else "these are the defaults of the missing attributes"
    return Rewrite(layers=(new,), strategy="missing attributes written explicitly", proof=proof)


@dataclass(frozen=True, slots=True)
class _Named:
    """Apply one named rewrite of the operations that have it."""

    name: str

    def leaves(self, type: str, version: str) -> bool:
        """Return whether all layers of a type and stamp stay, whatever they hold."""
        op = find_op(type, version)
        return op is None or self.name not in op.rewrites

    def verdict(self, layer: LayerSignature, answers: ReleaseAnswers | None) -> _Verdict:
        """Return what is done to layers like this one."""
        return _Verdict(find_op(layer.type, layer.version))

    def restamps(self, op: Op) -> bool:
        """Return False: the rewrite decides."""
        return False

    def rewrite(self, op: Op, attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | None:
        """Return the rewrite; what would be refused stays."""
        return op.rewrites[self.name](attrs, inputs)

    def ends_with(self, plan: "_Plan") -> bool:
        """Return True: a second run changes nothing."""
        return True


_Stage = _Migrating | _Named
_Asked = Callable[[Op, Attrs, Sequence[Fact]], Rewrite | Refused | None]
_Lost = Callable[[Rewrite], Refused | None]
STAYS = _Verdict()


def _stage(name: str) -> _Named:
    known = named_rewrites()
    if name not in known:
        raise MigrationError(f"there is no pass '{name}'; the passes are {', '.join(known)}")
    return _Named(name)


def _outcome(rewrite: _Asked, op: Op, raw: Mapping[str, str], inputs: Sequence[Fact]) -> _Outcome:
    """Rewrite one layer. What has no meaning, or would lose an attribute, is refused."""
    violations: list[Violation] = []
    attrs = op.read(raw, violations)
    worst = next((one for one in violations if one.kind is not ViolationKind.UNKNOWN), None)
    notes = tuple(violation.text for violation in violations if violation is not worst)
    if attrs is None:
        assert worst is not None
        return _Outcome(Refused(worst.message, worst.attribute), notes)
    unfit = next((one for one in check_ports(op, len(inputs), 0) if one.kind is ViolationKind.INPUTS), None)
    if unfit is not None:
        return _Outcome(Refused(unfit.message), notes)
    observed = ObservedAttrs(attrs)
    try:
        op.outputs_of(attrs, inputs)
        found = rewrite(op, observed, inputs)
    except ShapeError as why:
        return _Outcome(Refused(str(why)), notes)
    lost = op.not_carried_over(observed) if isinstance(found, Rewrite) else None
    return _Outcome(Refused("has a value that is not carried over", lost) if lost else found, notes)


class _Rewriting(NamedTuple):
    located: Located
    op: Op | None
    rewrite: Rewrite
    step: MigrationStep
    right: bool


@dataclass(slots=True)
class _Plan:
    """Hold the rewrites of a stage, the layers that it refuses, and those that it cannot migrate."""

    rewrites: list[_Rewriting] = field(default_factory=list)
    refused: list[RefusedStep] = field(default_factory=list)
    remaining: list[RemainingLayer] = field(default_factory=list)


def _remaining(model: Model, located: Located) -> RemainingLayer:
    path, layer, graph = located
    line = model.line_of(graph, layer.id)
    return RemainingLayer(path=path, layer_id=layer.id, line=line, type=layer.type, version=layer.version)


class _Planning:
    """Plans one stage; layers of one kind with the same inputs are planned once."""

    def __init__(self, model: Model, stage: _Stage, known: KnownFacts, answers: ReleaseAnswers | None) -> None:
        self.model = model
        self.stage = stage
        self.signatures = known.signatures
        self.known = known
        self.answers = answers
        self.verdicts: dict[int, _Verdict] = {}
        self.changing: dict[object, bool] = {}
        self._leaves = cache(stage.leaves)
        self.outcomes: dict[tuple[object, ...], _Outcome] = {}
        self.places: dict[tuple[object, ...], Sequence[int]] = {}

    def plan(self) -> _Plan:
        """Return what the stage does to each layer."""
        plan = _Plan()
        for located in self.model.walk(self._may_change):
            if self.answers is not None and not self.answers.is_read(located):
                continue
            signature, verdict = self._verdict(located.layer)
            if not self._stays(located, verdict):
                self._add(plan, located, signature, verdict)
        return plan

    def _verdict(self, layer: Layer) -> tuple[LayerSignature, _Verdict]:
        """Return the signature of a layer, and what is done to layers of its kind."""
        signature, _ = self.signatures.of(layer)
        verdict = self.verdicts.get(signature.kind)
        if verdict is None:
            verdict = self.verdicts[signature.kind] = self.stage.verdict(signature, self.answers)
        return signature, verdict

    def _stays(self, located: Located, verdict: _Verdict) -> bool:
        """Return whether the release runs a layer as it is."""
        if self.answers is None or not verdict.conditional or verdict.op is None or verdict.otherwise is not None:
            return False
        return self.answers.does(located, verdict.op) is None

    def _may_change(self, layer: Layer) -> bool:
        """Return whether layers of the kind of this one may change; those of one text are looked at once."""
        text = layer.text
        if text is None:
            return self._kind_may_change(layer)
        found = self.changing.get(text[0])
        if found is None:
            found = self.changing[text[0]] = self._kind_may_change(layer)
        return found

    def _kind_may_change(self, layer: Layer) -> bool:
        return not self._leaves(layer.type, layer.version) and self._verdict(layer)[1] != STAYS

    def _add(self, plan: _Plan, located: Located, signature: LayerSignature, verdict: _Verdict) -> None:
        """Plan one layer that the stage may rewrite."""
        path, layer, graph = located
        found, notes, same, right = _Outcome(verdict.otherwise)
        if verdict.op is not None:
            facts = self.known.of(located)
            found, notes, same, right = self._outcome(located, signature, verdict, verdict.op, facts)
            found, notes = found or verdict.otherwise, (*facts.notes, *notes)
        if same:
            return
        if isinstance(found, Rewrite):
            args = graph, layer.id, signature, found
            found = lost_output(*args) or unfed_input(*args) or with_labels(signature, found)
        elif found is None:
            if verdict.above:
                plan.remaining.append(_remaining(self.model, located))
            return
        op = signature.op
        place = StepPlace(path, layer.id, self.model.line_of(graph, layer.id), str(op or layer.type), notes)
        if isinstance(found, Refused):
            plan.refused.append(place.refused(found))
        else:
            plan.rewrites.append(_Rewriting(located, op, found, place.step(found), right))

    def _outcome(
        self, located: Located, signature: LayerSignature, verdict: _Verdict, op: Op, facts: InputFacts
    ) -> _Outcome:
        seen = None if self.answers is None else self.answers.seen(located, op)
        around = () if seen is None else (*map(id, seen.inputs), *seen.around)
        key = (signature.kind, *facts.key, *around)
        found = self.outcomes.get((*key, *facts.values(self.places.get(key, ()))))
        if found is None:
            if self.answers is None or seen is None:
                inputs = facts.without_values if self.stage.restamps(op) else facts.inputs
                found = _outcome(self.stage.rewrite, op, signature.unlabelled, inputs)
            else:
                lost = partial(lost_output, located.graph, located.layer.id, signature)
                found = self._released(self.answers, located, seen, verdict, signature.unlabelled, facts.inputs, lost)
            if isinstance(found.found, Refused) and isinstance(self.stage, _Named):
                found = _Outcome(None)
            if isinstance(found.found, Rewrite):
                found = found._replace(same=changes_nothing(signature, op, found.found))
            self.places[key] = facts.looked_at
            self.outcomes[(*key, *facts.values(facts.looked_at))] = found
        return found

    def _released(
        self,
        answers: ReleaseAnswers,
        located: Located,
        seen: Seen,
        verdict: _Verdict,
        raw: Mapping[str, str],
        inputs: Sequence[Fact],
        lost: "_Lost",
    ) -> _Outcome:
        """Return what becomes of a layer for a release: what it runs stays.

        So does what gives other values for some inputs, if nothing that the release runs means the same.
        """
        assert isinstance(self.stage, _Migrating)
        stage, does = self.stage, answers.does(located, seen.op)
        new: ReleaseAnswer = None
        if verdict.conditional and does is None:
            return _Outcome(None)

        def rewrite(op: Op, attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | Refused | None:
            nonlocal new
            found, new = stage.released(op, attrs, inputs, answers, seen, lost)
            return found

        outcome = _outcome(rewrite, seen.op, raw, inputs)
        found = outcome.found
        if isinstance(found, Rewrite) and (not verdict.conditional or quality(new) > quality(does)):
            return outcome._replace(right=new is None)
        refused = found if isinstance(found, Refused) else verdict.otherwise
        if verdict.conditional:
            if does is None or (does[0] is Answer.DIFFERS and not answers.always_differs(seen)):
                return _Outcome(None)
            refused = Refused(f"{answers.release.title}: {does[1].rstrip('.')}")
        if not isinstance(refused, Refused):
            return _Outcome(None)
        return _Outcome(replace(refused, reason=f"{refused.reason}; {answers.running_in_words(located, seen.op)}"))


def _release_answers(model: Model, stage: _Stage, fitting: Fitting | None, known: KnownFacts) -> ReleaseAnswers | None:
    """Return who knows what the release does with the layers of a model that is migrated for one."""
    if not isinstance(stage, _Migrating) or stage.target.release is None or fitting is None:
        return None
    return ReleaseAnswers(model, known, stage.target.release, fitting.version)


def _rewritten(model: Model, plan: _Plan, known: KnownFacts, *, copied: bool) -> Model:
    """Return the model, or a copy of it, with the rewrites made."""
    work = model.copy() if copied else model
    pairs = zip(model.graphs(), work.graphs(), strict=True) if copied else ()
    graphs = {id(before): after for before, after in pairs}
    known.moved(work)
    rewriter = Rewriter(work)
    changed = []
    for item in plan.rewrites:
        graph, layer_id = graphs.get(id(item.located.graph), item.located.graph), item.located.layer.id
        rewriter.apply(graph, graph.layer(layer_id), item.op, item.rewrite)
        changed.append((graph, layer_id))
    known.changed(changed)
    remove_unread([*rewriter.left, *rewriter.added])
    if rewriter.resized:
        with suppress(ShapeError):
            propagate_shapes(work, in_place=True)
        known.signatures.forget()
    return work
