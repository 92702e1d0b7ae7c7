"""Migrate a model to another opset: every step is planned and proved first, then all are made, or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import NamedTuple, Self

from ir_tools.arguments import word_list
from ir_tools.collection import gc_paused
from ir_tools.display import brief_fields, notebook_table, plural
from ir_tools.errors import MigrationError, ShapeError
from ir_tools.graph import Layer, Located, Model
from ir_tools.infer import LayerSignature, LayerSignatures
from ir_tools.ops import COMPLETE_OPSETS, find_op, named_rewrites, opset_number
from ir_tools.ops.definition import Attrs, Fact, Kind, ObservedAttrs, Op, Refused, Rewrite, Violation
from ir_tools.rewrite.facts import InputFacts, KnownFacts
from ir_tools.rewrite.rewriter import Rewriter, changes_nothing, lost_output

__all__ = ["Migration", "MigrationStep", "RefusedStep", "RemainingLayer", "StepPlace", "migrate", "parse_target"]

NEWEST = COMPLETE_OPSETS + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStep:
    """Describe one layer that is rewritten.

    Attributes:
        path: of the layer, through bodies.
        layer_id, line: of the layer in the file that was read; None for a node of an ONNX file.
        before: the operation, `AvgPool-14`.
        after: what replaces it, `AvgPool opset8` or `Pad + AvgPool`.
        how: what the rewrite does.
        proof: why it means the same.
        notes: what the user should know about the layer as it was.

    Example:
        >>> step = ir_tools.migrate("model.xml", to="opset8").steps[0]
        >>> step.path, step.line, step.before, step.after, step.how
        ('pool', 8, 'AvgPool-1', 'AvgPool opset8', 'same attributes')
    """

    path: str
    layer_id: int | None
    line: int | None
    before: str
    after: str
    how: str
    proof: str
    notes: tuple[str, ...] = ()

    __repr__ = brief_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStep:
    """Describe one layer that has no exact equivalent in the target, and say why.

    Example:
        >>> print(ir_tools.migrate("unreadable.xml", to="opset8").refused[0])
        layer 1 'pool' (AvgPool-1): strides ...
    """

    path: str
    layer_id: int
    line: int | None
    before: str
    reason: str
    attribute: str | None = None
    notes: tuple[str, ...] = ()

    __repr__ = brief_fields

    def __str__(self) -> str:
        """Return `layer 7 'pool' (AvgPool-16): dilations: ...`."""
        attribute = f"{self.attribute}: " if self.attribute else ""
        return f"layer {self.layer_id} '{self.path}' ({self.before}): {attribute}{self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainingLayer:
    """Describe a layer whose version is above the target and which cannot be migrated yet."""

    path: str
    layer_id: int
    line: int | None
    type: str
    version: str

    __repr__ = brief_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """Hold the result of a migration.

    Attributes:
        model: the migrated model; if a layer was refused, the model as it was.
        steps: the layers that were rewritten, each with its proof.
        refused: the layers without an exact equivalent in the target; if there are any, nothing was changed.
        remaining: the layers above the target that cannot be migrated yet.
        notes: what the user should know about the model as a whole.

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
        """Return whether nothing was refused."""
        return not self.refused

    def __repr__(self) -> str:
        """Return `Migration(3 steps, 0 refused)`."""
        remaining = f", {len(self.remaining)} remaining" if self.remaining else ""
        return f"Migration({plural(len(self.steps), 'step')}, {len(self.refused)} refused{remaining})"

    def _repr_html_(self) -> str:
        """Return `repr` and a table of the refused layers and of the steps."""
        refused = ((one.path, one.line, one.before, "refused", one.reason) for one in self.refused)
        steps = ((one.path, one.line, one.before, one.after, one.proof) for one in self.steps)
        columns = ("layer", "line", "before", "after", "proof or reason")
        return notebook_table(repr(self), columns, chain(refused, steps), len(self.refused) + len(self.steps))


def parse_target(text: str) -> int:
    """Return the number of an opset: `opset8` -> 8.

    Raises:
        MigrationError: no such target, or one that is not supported yet.
    """
    word = text.strip().lower()
    if word in {"ir10", "ir11"}:
        raise MigrationError(f"'{text}': migrating to another IR version is not supported yet; name an opset: opset8")
    opset = opset_number(word)
    if opset is None or opset > NEWEST:
        raise MigrationError(f"'{text}' is not a target; name one of opset1 to opset{NEWEST}")
    return opset


@gc_paused()
def migrate(
    model: Model, to: str | None = "opset8", passes: str | Sequence[str] = (), *, in_place: bool = False
) -> Migration:
    """Run the named rewrites, then migrate every layer that its family can migrate to the opset `to`.

    Args:
        model: the model.
        to: `opset8` and the like; None to run the passes only.
        passes: names of rewrites, in this order (`ir_tools.ops.named_rewrites`).
        in_place: change `model` itself instead of a copy; it is not changed if a layer is refused.

    Raises:
        MigrationError: an unknown target or pass.
        ReadError: a constant that decides about a rewrite cannot be read.
    """
    target = None if to is None else parse_target(to)
    stages: list[_Stage] = [_stage(name) for name in word_list(passes)]
    if target is not None:
        stages.append(_Migrating(target))
    work, steps, known = model, list[MigrationStep](), KnownFacts(model, LayerSignatures())
    remaining: tuple[RemainingLayer, ...] = ()
    for number, stage in enumerate(stages):
        plan = _Planning(work, stage, known).plan()
        steps += [item.step for item in plan.rewrites]
        if plan.refused:
            return Migration(model=model, steps=tuple(steps), refused=tuple(plan.refused))
        if plan.rewrites:
            copied = work is model and not (in_place and number == len(stages) - 1)
            work = _rewritten(work, plan, known, copied=copied)
        remaining = tuple(plan.remaining)
    return Migration(model=work, steps=tuple(steps), remaining=remaining)


class _Outcome(NamedTuple):
    """Hold the replacement of a layer (None: it stays), and notes about the layer as it was; `same`: as it is."""

    found: Rewrite | Refused | None
    notes: tuple[str, ...] = ()
    same: bool = False


@dataclass(frozen=True, slots=True)
class _Migrating:
    """Migrate every layer to the target opset with the rewrite of its operation."""

    target: int

    def concerns(self, op: Op) -> bool:
        return op.migrate is not None

    def rewrite(self, op: Op, attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | Refused | None:
        return None if op.migrate is None else op.migrate(attrs, inputs, self.target)


@dataclass(frozen=True, slots=True)
class _Named:
    """Apply one named rewrite of the operations that have it."""

    name: str

    def concerns(self, op: Op) -> bool:
        return self.name in op.rewrites

    def rewrite(self, op: Op, attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | None:
        return op.rewrites[self.name](attrs, inputs)


_Stage = _Migrating | _Named


def _stage(name: str) -> _Named:
    known = named_rewrites()
    if name not in known:
        raise MigrationError(f"there is no pass '{name}'; there are {', '.join(known)}")
    return _Named(name)


def _outcome(stage: _Stage, op: Op, raw: Mapping[str, str], inputs: Sequence[Fact]) -> _Outcome:
    """Rewrite one layer. What has no meaning, or would lose an attribute, is refused."""
    violations: list[Violation] = []
    attrs = op.read(raw, violations)
    worst = next((one for one in violations if one.kind is not Kind.UNKNOWN), None)
    notes = tuple(f"{violation.attribute} {violation.message}" for violation in violations if violation is not worst)
    if attrs is None:
        assert worst is not None
        return _Outcome(Refused(worst.message, worst.attribute), notes)
    observed = ObservedAttrs(attrs)
    try:
        op.outputs_of(attrs, inputs)
        found = stage.rewrite(op, observed, inputs)
    except ShapeError as why:
        return _Outcome(Refused(str(why)), notes)
    lost = op.not_carried_over(observed) if isinstance(found, Rewrite) else None
    return _Outcome(Refused("has a value that is not carried over", lost) if lost else found, notes)


class _Rewriting(NamedTuple):
    located: Located
    op: Op
    rewrite: Rewrite
    step: MigrationStep


@dataclass(slots=True)
class _Plan:
    """Hold the rewrites of a stage, the layers that it refuses, and those that it cannot migrate."""

    rewrites: list[_Rewriting] = field(default_factory=list)
    refused: list[RefusedStep] = field(default_factory=list)
    remaining: list[RemainingLayer] = field(default_factory=list)


class _Kind(NamedTuple):
    """Hold the operation of all layers of one type and stamp if the stage may rewrite it; `above`: it is too new."""

    op: Op | None
    above: bool

    @classmethod
    def of(cls, layer: Layer, stage: _Stage) -> Self:
        op, opset = find_op(layer.type, layer.version), opset_number(layer.version)
        above = isinstance(stage, _Migrating) and opset is not None and opset > stage.target
        return cls(op if op is not None and stage.concerns(op) else None, above)


class StepPlace(NamedTuple):
    """Hold what a step says of the layer as it was."""

    path: str
    layer_id: int
    line: int | None
    before: str
    notes: tuple[str, ...]

    def step(self, rewrite: Rewrite) -> MigrationStep:
        """Return the step that replaces the layer."""
        return MigrationStep(**self._asdict(), after=_after(rewrite), how=rewrite.how, proof=rewrite.proof)

    def refused(self, why: Refused) -> RefusedStep:
        """Return the step that says why nothing can."""
        return RefusedStep(**self._asdict(), reason=why.reason, attribute=why.attribute)


def _after(rewrite: Rewrite) -> str:
    if len(rewrite.layers) == 1:
        return f"{rewrite.layers[0].type} opset{rewrite.layers[0].opset}"
    return " + ".join(kind for kind, _ in groupby(new.type for new in rewrite.layers))


def _remaining(model: Model, located: Located) -> RemainingLayer:
    path, layer, graph = located
    line = model.line_of(graph, layer.id)
    return RemainingLayer(path=path, layer_id=layer.id, line=line, type=layer.type, version=layer.version)


class _Planning:
    """Plans one stage; layers of one signature with the same inputs are planned once."""

    def __init__(self, model: Model, stage: _Stage, known: KnownFacts) -> None:
        self.model = model
        self.stage = stage
        self.signatures = known.signatures
        self.known = known
        self.kinds: dict[int, _Kind] = {}
        self.outcomes: dict[tuple[int, ...], _Outcome] = {}

    def plan(self) -> _Plan:
        """Return what the stage does to each layer."""
        plan = _Plan()
        for located in self.model.walk():
            signature, _ = self.signatures.of(located.layer)
            kind = self.kinds.get(signature.number)
            if kind is None:
                kind = self.kinds[signature.number] = _Kind.of(located.layer, self.stage)
            if kind.op is not None:
                self._add(plan, located, signature, kind.op, above=kind.above)
            elif kind.above:
                plan.remaining.append(_remaining(self.model, located))
        return plan

    def _add(self, plan: _Plan, located: Located, signature: LayerSignature, op: Op, *, above: bool) -> None:
        """Plan one layer that the stage may rewrite."""
        path, layer, graph = located
        facts = self.known.of(located)
        found, notes, same = self._outcome(layer, signature, op, facts)
        if same:
            return
        if isinstance(found, Rewrite):
            found = lost_output(graph, layer.id, signature, found) or found
        elif found is None:
            if above:
                plan.remaining.append(_remaining(self.model, located))
            return
        line = self.model.line_of(graph, layer.id)
        place = StepPlace(path, layer.id, line, str(op), (*facts.notes, *notes))
        if isinstance(found, Refused):
            plan.refused.append(place.refused(found))
        else:
            plan.rewrites.append(_Rewriting(located, op, found, place.step(found)))

    def _outcome(self, layer: Layer, signature: LayerSignature, op: Op, facts: InputFacts) -> _Outcome:
        key = (signature.number, *facts.key)
        found = self.outcomes.get(key)
        if found is None:
            found = _outcome(self.stage, op, layer.raw, facts.inputs)
            if isinstance(found.found, Refused) and isinstance(self.stage, _Named):
                found = _Outcome(None)
            if isinstance(found.found, Rewrite):
                found = found._replace(same=changes_nothing(signature, op, found.found))
            self.outcomes[key] = found
        return found


def _rewritten(model: Model, plan: _Plan, known: KnownFacts, *, copied: bool) -> Model:
    """Return the model, or a copy of it, with the rewrites made."""
    work = model.copy() if copied else model
    graphs = {id(before): after for before, after in zip(model.graphs(), work.graphs(), strict=True)}
    rewriter = Rewriter(work, known.signatures)
    changed = []
    for item in plan.rewrites:
        graph, layer_id = graphs[id(item.located.graph)], item.located.layer.id
        rewriter.apply(graph, graph.layer(layer_id), item.op, item.rewrite)
        changed.append((graph, layer_id))
    known.changed(work, changed)
    return work
