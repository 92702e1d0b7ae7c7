"""What an operation makes of its inputs: asked once for all layers of one signature that get equal facts."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from ir_tools.errors import ReadError, ShapeError, UsageError
from ir_tools.infer._signatures import LayerSignature
from ir_tools.ops.checks import check_attributes, check_ports, check_settings, check_types, too_many_outputs
from ir_tools.ops.definition import (
    UNBOUNDED,
    UNKNOWN,
    Bounds,
    Elements,
    Fact,
    Folding,
    Op,
    Role,
    Violation,
    ViolationKind,
)
from ir_tools.ops.interning import MAX_KEPT, AnswerTable, FactTable, InternedFact, StoredBounds, key_of, minimum_size
from ir_tools.ops.limits import MAX_VALUES
from ir_tools.types import is_static
from ir_tools.weights import Weights, values

__all__ = ["SURPRISES", "Answer", "Answers", "Checks", "refusal"]

MAX_CHECKED, MAX_FLOATS = 1 << 12, 64
"""Instead of `MAX_VALUES` where a file is checked: lists of sizes, limits and scales are short, weights not needed."""
MAX_LOOKED_AT = 1 << 22
"""Values of longer constants than `MAX_KEPT` that rules look at in all: four times those of real models."""
SURPRISES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    UsageError,
    ValueError,
)
"""What a rule that meets nonsense may raise, besides a ShapeError."""


class Checks(enum.Enum):
    """How much of what is wrong with a layer is looked for.

    NONE: what keeps its shapes from being worked out. SETTINGS: also the first thing that the operation objects to, if
    all inputs are fed. ALL: everything, and nothing that a rule raises gets out.
    """

    NONE = enum.auto()
    SETTINGS = enum.auto()
    ALL = enum.auto()


class Answer:
    """What an operation makes of its inputs.

    Attributes:
        outputs: a fact for each output; None where nothing is known, because of what follows, or without a rule.
        violations: what is wrong with the layer.
        settled: what is believed of the outputs of every layer with this answer; None if each has to be looked at.
    """

    __slots__ = ("outputs", "settled", "violations")

    def __init__(self, outputs: Sequence[InternedFact] | None, violations: Sequence[Violation] = ()) -> None:
        self.outputs = None if outputs is None else tuple(outputs)
        self.violations = tuple(violations)
        self.settled: Sequence[InternedFact] | None = None


class Answers:
    """Answers of the shape rules and, where they are wanted, of the checks of all operations.

    Attributes:
        lacks_values: whether there is a constant whose values the weights do not have.
    """

    def __init__(self, facts: FactTable, weights: Weights, checks: Checks) -> None:
        """Start with nothing asked."""
        self.facts = facts
        self.weights = weights
        self.checks = checks
        self.surprises: list[str] = []
        self.lacks_values = False
        self._known = AnswerTable[Answer]()
        self._sizes: dict[int, int | None] = {}
        self._constants: dict[tuple[int, int, int], InternedFact] = {}

    def of(self, signature: LayerSignature, inputs: Sequence[InternedFact]) -> Answer:
        """Return the answer for a layer; `inputs`: one for every input port that is fed."""
        if self._known.looked_at > MAX_LOOKED_AT:
            inputs = [_without_long_values(fact) for fact in inputs]
        return self._known.of(signature.kind, inputs, self._ask, signature, inputs)

    def _ask(self, signature: LayerSignature, inputs: Sequence[Fact]) -> Answer:
        if signature.op is None:
            return Answer(None)
        if self.checks is not Checks.ALL:
            return self._plain(signature, signature.op, inputs)
        found: list[Violation] = []
        try:
            return self._checked(signature, signature.op, inputs, found)
        except SURPRISES as why:
            self.surprises.append(f"{signature.type} {signature.raw}: {why!r}")
            return Answer(None, found)

    def _plain(self, signature: LayerSignature, op: Op, inputs: Sequence[Fact]) -> Answer:
        violations: list[Violation] = []
        attrs = op.read(signature.raw, violations)
        if attrs is None:
            return Answer(None, violations)
        if self.checks is Checks.SETTINGS and inputs and len(inputs) == len(signature.inputs):
            with suppress(ShapeError, *SURPRISES):
                objection = next((each for each in op.check(attrs, inputs) if not each.kind.mild), None)
                if objection is not None:
                    return Answer(None, [objection])
        needed = sum(not slot.optional for slot in op.inputs)
        if len(inputs) < needed:
            return Answer(None, [refusal(f"{len(inputs)} inputs are connected, but {op} takes {needed}")])
        if op.shape is None:
            return Answer(None)
        if _unknowable(op, inputs):
            return Answer([self.facts.interned(UNKNOWN)] * len(signature.outputs))
        try:
            return Answer([self.facts.interned(fact) for fact in op.shape(attrs, inputs)])
        except ShapeError as why:
            return Answer(None, [refusal(why.message, why.attribute)])
        except SURPRISES:
            found: list[Violation] = []
            with suppress(*SURPRISES):
                self._checked(signature, op, inputs, found)
            wrong = [violation for violation in found if not violation.kind.mild]
            if not wrong:
                raise
            return Answer(None, wrong)

    def _checked(self, signature: LayerSignature, op: Op, inputs: Sequence[Fact], found: list[Violation]) -> Answer:
        """Work out the answer; `found` takes up the violations one by one."""
        attrs, faults = check_attributes(op, signature.raw)
        counted = [*check_ports(op, len(inputs), len(signature.outputs))]
        found += [*faults, *counted]
        if any(fault.kind is ViolationKind.INPUTS for fault in counted) or _unknowable(op, inputs):
            return Answer(None, found)
        found += check_types(op, inputs)
        try:
            if attrs is not None:
                found += check_settings(op, signature.raw, attrs, inputs)
            if attrs is None or op.shape is None or any(not fault.kind.mild for fault in found):
                return Answer(None, found)
            outputs = op.shape(attrs, inputs)
        except ShapeError as why:
            return Answer(None, [*found, refusal(why.message, why.attribute)])
        if any(slot.many for slot in op.outputs) and 0 < len(outputs) < len(signature.outputs):
            found.append(too_many_outputs(op, len(signature.outputs), len(outputs)))
        if op.role is Role.CONSTANT or (
            inputs and all(fact.constant for fact in inputs) and op.folding is not Folding.NONE
        ):
            outputs = tuple(replace(fact, constant=True) for fact in outputs)
        return Answer([self.facts.interned(fact) for fact in outputs], found)

    def constant(self, signature: LayerSignature, template: InternedFact, offset: int | None) -> InternedFact:
        """Return the fact of a `Const`: with its values, if they are few and available.

        Args:
            signature: of the constant; values at one place are read once.
            template: its type and shape.
            offset: where its bytes start.
        """
        key = key_of(template)
        if key not in self._sizes:
            self._sizes[key] = self._size(template)
        size = self._sizes[key]
        nothing_stored = self.weights.missing and not self.weights.pending
        if size is None or offset is None:
            return template
        if nothing_stored or offset + size > self.weights.size:
            self.lacks_values = True
            return template
        place = signature.number, key, offset
        known = self._constants.get(place)
        if known is None:
            raw = {**signature.raw, "offset": str(offset)}
            stored = StoredBounds(template, partial(_values, raw, self.weights, template))
            known = InternedFact(Fact(template.dtype, template.shape, stored, template.constant))
            self._constants[place] = known
        return known

    def _size(self, fact: Fact) -> int | None:
        """Return how many bytes a constant of this type and shape has; None where its values do not matter."""
        if fact.dtype.held_dtype is None or not is_static(fact.shape):
            return None
        maximum = MAX_VALUES if self.checks is not Checks.ALL else MAX_CHECKED if fact.dtype.is_integer else MAX_FLOATS
        count = minimum_size(fact.shape, maximum)
        return fact.dtype.byte_size(count) if count <= maximum else None


def refusal(message: str, attribute: str | None = None) -> Violation:
    """Return that an operation cannot take its inputs, and which attribute or input is wrong if it is a single one."""
    return Violation(attribute or "", message, kind=ViolationKind.SHAPE)


def _values(raw: Mapping[str, str], weights: Weights, fact: Fact) -> Bounds:
    """Return the values of a constant, half floats as f32; any values if its attributes cannot be read."""
    try:
        found = values(raw, weights)
    except ReadError:
        minimum, maximum = (-np.inf, np.inf) if fact.dtype.is_float else (-UNBOUNDED, UNBOUNDED)
        sizes = [dim.lo for dim in fact.shape or ()]
        return Bounds(np.full(sizes, minimum), np.full(sizes, maximum))
    return Bounds.exactly(found.astype(np.float32) if fact.dtype.is_float and fact.dtype.bits < 32 else found)


def _without_long_values(fact: InternedFact) -> InternedFact:
    """Return a fact without the values of a long constant."""
    if isinstance(fact.value, StoredBounds) and minimum_size(fact.shape, MAX_KEPT) > MAX_KEPT:
        return fact.value.template
    return fact


def _unknowable(op: Op, inputs: Sequence[Fact]) -> bool:
    """Return whether nothing can be asked: too little is known of an input, and sizes alone would not do."""
    passed = op.elements(0) in {Elements.CONVERTED, Elements.UNREAD}
    if passed or op.role in {Role.PARAMETER, Role.CONSTANT, Role.RESULT}:
        return False
    return any(fact.dtype.kind == "dynamic" and fact.shape is None for fact in inputs)
