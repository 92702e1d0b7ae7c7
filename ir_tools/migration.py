"""Moving a model to another opset: every step is planned and proved first, then all are made, or none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, Self

from ir_tools.errors import MigrationError, ShapeError
from ir_tools.graph import Layer, Located, Model
from ir_tools.ops import COMPLETE_OPSETS, find_op, opset_number
from ir_tools.ops._define import Op, Refused, Rewrite, Violation
from ir_tools.passes import PASSES, Pass
from ir_tools.rewriting import Facts, KnownFacts, apply, changes_nothing, lost_output

__all__ = ["Migration", "MigrationStep", "RefusedStep", "RemainingLayer", "migrate", "parse_target"]

NEWEST = COMPLETE_OPSETS + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStep:
    """One layer that is rewritten.

    Attributes:
        path: of the layer, through bodies.
        layer_id, line: of the layer in the file that was read; None for a node of an ONNX file.
        before: the operation, `AvgPool-14`.
        after: what stands for it now, `AvgPool opset8` or `Pad + AvgPool`.
        how: what the rewrite does.
        proof: why it means the same.
        notes: what the reader should know about the layer as it was.
    """

    path: str
    layer_id: int | None
    line: int | None
    before: str
    after: str
    how: str
    proof: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStep:
    """One layer that has no exact form in the target, and why."""

    path: str
    layer_id: int
    line: int | None
    before: str
    reason: str
    attribute: str | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`layer 7 'pool' (AvgPool-16): dilations: ...`."""
        attribute = f"{self.attribute}: " if self.attribute else ""
        return f"layer {self.layer_id} '{self.path}' ({self.before}): {attribute}{self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainingLayer:
    """A layer whose stamp is above the target and which no family can move yet."""

    path: str
    layer_id: int
    line: int | None
    type: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """The outcome. `model` is the moved model, or, where a layer was refused, the model as it was."""

    model: Model
    steps: tuple[MigrationStep, ...] = ()
    refused: tuple[RefusedStep, ...] = ()
    remaining: tuple[RemainingLayer, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was refused."""
        return not self.refused


def parse_target(text: str) -> int:
    """`opset8` -> 8.

    Raises:
        MigrationError: no such target, or one that is not supported yet.
    """
    word = text.strip().lower()
    if word in {"ir10", "ir11"}:
        raise MigrationError(f"moving between IR versions ('{text}') is not supported yet; give an opset, as in opset8")
    opset = opset_number(word)
    if opset is None or opset > NEWEST:
        raise MigrationError(f"'{text}' is not a target; give one of opset1 to opset{NEWEST}")
    return opset


def migrate(
    model: Model, to: str | None = "opset8", passes: Sequence[str] = (), *, in_place: bool = False
) -> Migration:
    """Run the named passes, then move every layer that its family can move to the opset `to`.

    Args:
        model: the model.
        to: `opset8` and the like; None: the passes only.
        passes: names out of `ir_tools.passes.PASSES`, in this order.
        in_place: change `model` itself instead of a copy; it is not changed where a layer is refused.

    Raises:
        MigrationError: an unknown target or pass.
        ReadError: a constant that decides about a rewrite cannot be read.
    """
    target = None if to is None else parse_target(to)
    stages: list[_Move | _Named] = [_stage(name) for name in passes]
    if target is not None:
        stages.append(_Move(target))
    work, steps = model, list[MigrationStep]()
    remaining: tuple[RemainingLayer, ...] = ()
    for number, stage in enumerate(stages):
        plan = _plan(work, stage)
        if plan.refused:
            done = (*steps, *(item.step for item in plan.rewrites))
            return Migration(model=model, steps=done, refused=tuple(plan.refused))
        if plan.rewrites and work is model and not (in_place and number == len(stages) - 1):
            work = model.copy()
            plan = _plan(work, stage)
        for item in plan.rewrites:
            apply(work, item.located.graph, item.located.layer, item.op, item.rewrite)
            steps.append(item.step)
        remaining = tuple(plan.remaining)
    return Migration(model=work, steps=tuple(steps), remaining=remaining)


class _Move:
    """Every layer to the target opset, as its family says."""

    def __init__(self, target: int) -> None:
        self.target = target

    def concerns(self, layer: Layer, op: Op | None) -> bool:
        del layer
        return op is not None and op.move is not None

    def rewrite(self, layer: Layer, op: Op | None, facts: Facts, notes: list[str]) -> Rewrite | Refused | None:
        assert op is not None
        assert op.move is not None
        violations: list[Violation] = []
        attrs = op.read(layer.raw, violations)
        if attrs is None:
            *violations, worst = violations
        notes.extend(f"{violation.attribute} {violation.message}" for violation in violations)
        if attrs is None:
            return Refused(worst.message, worst.attribute)
        try:
            op.outputs_of(attrs, facts.inputs)
        except ShapeError as why:
            return Refused(str(why))
        return op.move(attrs, facts.inputs, self.target)


class _Named:
    """One named pass."""

    def __init__(self, step: Pass) -> None:
        self.step = step

    def concerns(self, layer: Layer, op: Op | None) -> bool:
        del op
        return layer.type in self.step.types

    def rewrite(self, layer: Layer, op: Op | None, facts: Facts, notes: list[str]) -> Rewrite | Refused | None:
        del op, notes
        return self.step.rewrite(layer, facts.inputs)


def _stage(name: str) -> _Named:
    try:
        return _Named(PASSES[name])
    except KeyError:
        raise MigrationError(f"there is no pass '{name}'; there are {', '.join(PASSES)}") from None


class _Rewriting(NamedTuple):
    located: Located
    op: Op | None
    rewrite: Rewrite
    step: MigrationStep


@dataclass(slots=True)
class _Plan:
    """What a stage would do to each layer, what it cannot do, and what it does not know how to move."""

    rewrites: list[_Rewriting] = field(default_factory=list)
    refused: list[RefusedStep] = field(default_factory=list)
    remaining: list[RemainingLayer] = field(default_factory=list)


def _plan(model: Model, stage: _Move | _Named) -> _Plan:
    plan, known = _Plan(), KnownFacts(model)
    kinds: dict[tuple[str, str], _Kind] = {}
    for located in model.walk():
        path, layer, graph = located
        kind = kinds.get((layer.type, layer.version))
        if kind is None:
            kind = kinds[layer.type, layer.version] = _Kind.of(layer, stage)
        found: Rewrite | Refused | None = None
        notes: list[str] = []
        if kind.concerned:
            facts = known.of(located)
            notes = [*facts.notes]
            found = stage.rewrite(layer, kind.op, facts, notes)
        if isinstance(found, Rewrite):
            found = lost_output(graph, layer, found) or found
        if found is None:
            if kind.above:
                plan.remaining.append(_remaining(model, located))
            continue
        if isinstance(found, Rewrite) and changes_nothing(layer, kind.op, found):
            continue
        before = str(kind.op) if kind.op else f"{layer.type} {layer.version}"
        place = _Place(path, layer.id, model.line_of(graph, layer.id), before, tuple(notes))
        if isinstance(found, Refused):
            plan.refused.append(place.refused(found))
        else:
            plan.rewrites.append(_Rewriting(located, kind.op, found, place.step(found)))
    return plan


class _Kind(NamedTuple):
    """All layers of one type and stamp: their operation, whether the stage rewrites it, whether it is too new."""

    op: Op | None
    concerned: bool
    above: bool

    @classmethod
    def of(cls, layer: Layer, stage: _Move | _Named) -> Self:
        op, opset = find_op(layer.type, layer.version), opset_number(layer.version)
        above = isinstance(stage, _Move) and opset is not None and opset > stage.target
        return cls(op, stage.concerns(layer, op), above)


class _Place(NamedTuple):
    path: str
    layer_id: int
    line: int | None
    before: str
    notes: tuple[str, ...]

    def step(self, rewrite: Rewrite) -> MigrationStep:
        return MigrationStep(**self._asdict(), after=_after(rewrite), how=rewrite.how, proof=rewrite.proof)

    def refused(self, why: Refused) -> RefusedStep:
        return RefusedStep(**self._asdict(), reason=why.reason, attribute=why.attribute)


def _after(rewrite: Rewrite) -> str:
    if len(rewrite.layers) == 1:
        return f"{rewrite.layers[0].type} opset{rewrite.layers[0].opset}"
    return " + ".join(kind for kind, _ in groupby(new.type for new in rewrite.layers))


def _remaining(model: Model, located: Located) -> RemainingLayer:
    path, layer, graph = located
    line = model.line_of(graph, layer.id)
    return RemainingLayer(path=path, layer_id=layer.id, line=line, type=layer.type, version=layer.version)
