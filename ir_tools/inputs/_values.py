"""Values that suit what reads an input: found by following the input through layers that pass its values on."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from math import ceil, floor, inf, prod
from typing import NamedTuple

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.graph import Graph, Layer, Model, Source, port_place
from ir_tools.infer import Trial
from ir_tools.inputs._consumers import CONSUMERS, INDICES, Consumer
from ir_tools.inputs._folding import folded
from ir_tools.inputs._generators import Generator
from ir_tools.ops import Array, Attrs, Elements, Fact, Op, elements_of, find_op, newest_op
from ir_tools.ops.bodies import port_maps
from ir_tools.ops.definition import UNKNOWN, Input
from ir_tools.types import ElementType, is_static

__all__ = ["FIXED", "Wish", "Wishes"]

COMPUTED = {
    "Add", "Subtract", "Multiply", "Divide", "Negative", "LogicalNot", "BitwiseNot", "Equal", "NotEqual", "Less",
    "LessEqual", "Greater", "GreaterEqual",
}  # fmt: skip
"""Layers that compute with constants what is followed through them."""
LINEAR = {"Add", "Subtract", "Multiply", "Divide", "Negative"}
MAX_STEPS = 3000
"""Tensors to which one input is followed."""
NEAR = 10
"""Layers between a mask and the SoftMax that it is for."""
STEEP = 100.0
"""A factor by which a mask becomes so negative that SoftMax makes it 0."""
TRAINED = 0.04
"""Below this root of the sum of squares, the weights of a filter suit pictures of 0 to 255, not of -2 to 2.

Measured on published networks: 0.007 to 0.02 for pictures of 0 to 255, 0.08 to 3 for others.
"""


PICTURE, MASK, VALUES, FIXED = range(1, 5)
"""How strong wishes are; the last are for values that decide shapes or axes."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Values for an input.

    Attributes:
        values, why: the values and the reason for them.
        strength: decides between two wishes.
        terms: how many elements are added up to an index, if they are.
        most_terms: how many may be, so that the index is inside its table.
    """

    values: Generator
    why: str
    strength: int
    terms: int | None = None
    most_terms: float = inf

    def joined(self, other: "Wish | None") -> "Wish":
        """Return the stronger of two wishes, or what satisfies both of two ranges."""
        if other is None or other.strength < self.strength:
            return self
        if other.strength > self.strength:
            return other
        if self.values.name != other.values.name or self.values.name not in {"integers", "uniform"}:
            return min(self, other, key=lambda wish: wish.most_terms)
        low = max(self.values.numbers[0], other.values.numbers[0])
        high = min(self.values.numbers[1], other.values.numbers[1])
        tighter = self if self.values.numbers[1] == high else other
        return replace(tighter, values=Generator(self.values.name, (low, high))) if low <= high else self


class _Step(NamedTuple):
    """A tensor to which an input leads.

    Attributes:
        graph, source: the tensor.
        zero, one: its values if the input is 0 or 1.
        linear: whether it grows in proportion to the input.
        summed: whether it adds elements of the input up.
        terms: how many, if that is known.
        offset: its place among the elements of a list that is put together; None if that is not known.
    """

    graph: Graph
    source: Source
    zero: float = 0.0
    one: float = 1.0
    linear: bool = True
    summed: bool = False
    terms: int | None = None
    offset: int | None = 0


class Wishes:
    """The values that layers wish for the inputs of a model."""

    def __init__(self, model: Model, trial: Callable[[], Trial]) -> None:
        """`trial`: gives the facts of all tensors when they are first needed."""
        self._model = model
        self._trial = trial
        self._starts: dict[tuple[int, int], list[int | None]] = {}

    def of(self, layer: Layer, dtype: ElementType, count: int) -> Wish | None:
        """Return what suits the layers that read an input; None if anything does.

        Args:
            layer: the Parameter.
            dtype: its element type.
            count: how many elements it has.
        """
        found = None
        for step, consumer, number in self._reads(layer):
            op = find_op(consumer.type, consumer.version)
            for wish in (self._listed(step, consumer, number, op, count), self._mask(step, consumer, number, dtype)):
                found = found if wish is None else wish.joined(found)
            if dtype.is_float or dtype.name == "u8":
                picture = self._picture(step, layer, consumer, number, dtype)
                found = found if picture is None else picture.joined(found)
        if found is not None and dtype.is_integer and found.values.name == "uniform":
            low, high = found.values.numbers
            return replace(found, values=Generator("integers", (ceil(low), max(floor(high), ceil(low)))))
        return found

    def reads_picture(self, layer: Layer) -> bool:
        """Return whether a Convolution of 3 channels reads a Parameter, with nothing but values passed on between."""
        return any(self._filters(step, consumer, number) is not None for step, consumer, number in self._reads(layer))

    # --- the walk -----------------------------------------------------------------------------------------------

    def _reads(self, layer: Layer) -> Iterator[tuple[_Step, Layer, int]]:
        """Yield every consumer of a tensor to which a Parameter leads, with the number of its input."""
        todo = [_Step(self._model.graph, Source(layer.id, layer.outputs[0].id))]
        seen = {(id(todo[0].graph), todo[0].source)}
        while todo and len(seen) < MAX_STEPS:
            step = todo.pop()
            for consumer_id, port_id in step.graph.consumers(*step.source):
                consumer = step.graph.layer(consumer_id)
                number = port_place(consumer.inputs, port_id)
                assert number is not None, "edges lead to ports that are there"
                yield step, consumer, number
                for following in self._following(step, consumer, number):
                    key = (id(following.graph), following.source)
                    if key not in seen:
                        seen.add(key)
                        todo.append(following)

    def _following(self, step: _Step, consumer: Layer, number: int) -> Iterator[_Step]:
        """Yield the outputs of a consumer that hold the tensor's values, and Parameters of its bodies that get it."""
        outputs = [Source(consumer.id, port.id) for port in consumer.outputs]
        if consumer.bodies:
            yield from self._in_bodies(step, consumer, number)
        elif (elements := elements_of(consumer, number)) not in {Elements.COMPUTED, Elements.UNREAD}:
            in_order = elements in {Elements.IN_ORDER, Elements.CONVERTED}
            offset = self._offset(step, consumer, number) if in_order else None
            passed = self._as_condition(step, consumer) if elements is Elements.CONVERTED else step
            holding = [output for place, output in enumerate(outputs) if place not in _indices(consumer)]
            yield from (passed._replace(source=output, offset=offset) for output in holding)
        elif consumer.type == "CumSum" and not number:
            terms = self._terms(step.graph, consumer)
            yield from (step._replace(source=output, summed=True, terms=terms, offset=None) for output in outputs[:1])
        elif consumer.type in COMPUTED and outputs:
            yield from self._computed(step, consumer, number, outputs[0])

    def _terms(self, graph: Graph, consumer: Layer) -> int | None:
        """Return how many elements a CumSum adds up."""
        axis = self._folded(graph, consumer, 1)
        data = self._trial().inputs(graph, consumer)[0]
        return None if data is None or axis is None or axis.size != 1 else data.size(int(axis.item()))

    def _in_bodies(self, step: _Step, consumer: Layer, number: int) -> Iterator[_Step]:
        try:
            maps = port_maps(consumer)
        except ShapeError:
            return
        for name, ports in maps.items():
            for row in ports.inputs:
                if row.port == consumer.inputs[number].id and row.layer in consumer.bodies[name]:
                    for port in consumer.bodies[name].layer(row.layer).outputs:
                        yield step._replace(graph=consumer.bodies[name], source=Source(row.layer, port.id), offset=None)

    def _offset(self, step: _Step, consumer: Layer, number: int) -> int | None:
        """Return the place of the tensor's elements in the output of a layer that keeps their order."""
        if not number or step.offset is None:
            return step.offset
        key = (id(step.graph), consumer.id)
        if key not in self._starts:
            self._starts[key] = _starts(self._trial().inputs(step.graph, consumer))
        start = self._starts[key][number]
        return None if start is None else step.offset + start

    def _as_condition(self, step: _Step, consumer: Layer) -> _Step:
        if consumer.raw.get("destination_type") != "boolean":
            return step
        return step._replace(zero=float(step.zero != 0), one=float(step.one != 0), linear=False)

    def _computed(self, step: _Step, consumer: Layer, number: int, output: Source) -> Iterator[_Step]:
        """Yield the output of a layer that computes with the tensor and one number."""
        numbers = [0.0]
        if len(consumer.inputs) == 2:
            value = self._folded(step.graph, consumer, 1 - number)
            if value is None or not value.size or value.dtype.kind not in "fViub":
                return
            with np.errstate(invalid="ignore"):
                numbers = [float(np.mean(value, dtype=np.float64))]
        zero, one = (_apply(consumer.type, value, numbers[0], swapped=bool(number)) for value in (step.zero, step.one))
        if zero is not None and one is not None:
            linear = step.linear and consumer.type in LINEAR and not (consumer.type == "Divide" and number)
            yield step._replace(source=output, zero=zero, one=one, linear=linear, offset=None)

    def _folded(self, graph: Graph, layer: Layer, number: int) -> Array | None:
        """Return the value of an input that is made of constants alone."""
        source = graph.sources(layer.id).get(layer.inputs[number].id) if number < len(layer.inputs) else None
        return None if source is None else folded(self._model, graph, source)

    # --- wishes -------------------------------------------------------------------------------------------------

    def _listed(self, step: _Step, consumer: Layer, number: int, op: Op | None, count: int) -> Wish | None:
        """Return what the table says of an input of an operation."""
        slot = op.inputs[min(number, len(op.inputs) - 1)] if op is not None and op.inputs else None
        if op is None or slot is None:
            return None
        row = CONSUMERS.get((op.type, slot.name), INDICES if slot.indexes else None)
        attrs = op.read(consumer.raw, [])
        if row is None or attrs is None:
            return None
        facts = self._trial().inputs(step.graph, consumer)
        own = facts[number]
        if own is None:
            return None
        known = {slot.name: fact for slot, fact in zip(op.inputs, facts, strict=False) if fact is not None}
        why = f"{row.what} {op.type} '{consumer.name}'"
        indexed = _indexed(slot, attrs, facts)
        if step.summed and own.dtype.is_integer:
            factor = step.one - step.zero
            most = inf if indexed is None or factor <= 0 else (indexed - 1 - step.zero) // factor
            return Wish(Generator("ones"), f"adds up to {why}", VALUES, step.terms, most)
        if step.summed or not step.linear:
            return None
        values = row.make(Consumer(consumer, attrs, known, own, indexed))
        values = None if values is None else _before(values, step, count)
        return None if values is None else Wish(values, why, FIXED if row.fixed else VALUES)

    def _mask(self, step: _Step, consumer: Layer, number: int, dtype: ElementType) -> Wish | None:
        """Return the value of a mask that masks nothing, if the consumer applies a mask."""
        steep = abs(step.one - step.zero) >= STEEP
        if dtype.is_float and not steep:
            return None
        wanted: float | None = None
        named = consumer
        if consumer.type == "Select" and not number:
            wanted = 0.0 if self._hides(step.graph, consumer, 1) else 1.0
        elif consumer.type == "ScaledDotProductAttention" and number == 3:
            wanted = max(step.zero, step.one)
        elif consumer.type in {"Add", "Multiply"} and dtype.kind != "string":
            if self._folded(step.graph, consumer, 1 - number) is not None:
                return None
            softmax = _softmax_after(step.graph, consumer) if consumer.type == "Add" else None
            if consumer.type == "Add" and softmax is None:
                return None
            named, wanted = softmax or consumer, max(step.zero, step.one, key=lambda value: (value != 0) * abs(value))
            wanted = max(step.zero, step.one) if softmax else wanted
        if wanted is None:
            return None
        values = Generator("zeros" if step.one != wanted and step.zero == wanted else "ones")
        return Wish(values, f"mask of {named.type} '{named.name}' that hides nothing", MASK)

    def _hides(self, graph: Graph, select: Layer, number: int) -> bool:
        """Return whether an input of a Select holds the values of what is masked."""
        value = self._folded(graph, select, number)
        return value is not None and bool(value.size) and value.dtype.kind in "fV" and float(value.max()) <= -STEEP

    # --- pictures -----------------------------------------------------------------------------------------------

    def _filters(self, step: _Step, consumer: Layer, number: int) -> Array | None:
        """Return the weights of a Convolution over a picture of 3 channels."""
        if consumer.type != "Convolution" or number or len(consumer.inputs) != 2:
            return None
        weights = self._folded(step.graph, consumer, 1)
        return weights if weights is not None and weights.ndim == 4 and weights.shape[1] == 3 else None

    def _picture(self, step: _Step, layer: Layer, consumer: Layer, number: int, dtype: ElementType) -> Wish | None:
        """Return a picture in the range that suits the first layers."""
        filters = self._filters(step, consumer, number)
        if filters is None or not step.linear or step.one == step.zero or not len(filters):
            return None
        name = f"Convolution '{consumer.name}'"
        if dtype.name == "u8":
            return Wish(Generator("image", (0, 255)), f"picture for {name}", PICTURE)
        with np.errstate(all="ignore"):
            gain = float(np.median(np.sqrt(np.square(filters.astype(np.float64)).sum(axis=(1, 2, 3)))))
        low, high = (0.0, 255.0) if gain < TRAINED else (-2.0, 2.0)
        factor = step.one - step.zero
        ends = sorted(((low - step.zero) / factor, (high - step.zero) / factor))
        if ends[1] > 60:
            return Wish(Generator("image", (0, 255)), f"picture for {name}, whose weights suit 0 to 255", PICTURE)
        if ends[1] <= 1.5 and ends[0] > -1:
            ends = [0, 1]
        return Wish(
            Generator("image", (ends[0], ends[1])), f"picture for {name}, whose weights suit that range", PICTURE
        )


def _indices(layer: Layer) -> Set[int]:
    """Return the numbers of the outputs that hold indices."""
    op = newest_op(layer.type)
    return set() if op is None else {number for number, output in enumerate(op.outputs) if output.indexes}


def _indexed(slot: Input, attrs: Attrs, facts: Sequence[Fact | None]) -> int | None:
    """Return the size of the axis that the indices of an input point into."""
    known = [fact or UNKNOWN for fact in facts]
    return None if slot.indexes is None else known[0].size(slot.indexes(attrs, known))


def _before(values: Generator, step: _Step, count: int) -> Generator | None:
    """Return the values of an input that lead to the values of a tensor."""
    factor = step.one - step.zero
    if values.name == "values" and len(values.numbers) > 1:
        if step.offset is None or (part := values.numbers[step.offset : step.offset + count]) == ():
            return None
        values = Generator("values", part)
    if (factor, step.zero) == (1, 0):
        return values
    if not factor or values.name not in {"integers", "uniform", "values", "constant", "zeros", "ones"}:
        return None
    numbers = {"zeros": (0.0,), "ones": (1.0,)}.get(values.name, values.numbers)
    changed = [(number - step.zero) / factor for number in numbers]
    if values.name == "integers":
        low, high = ceil(min(changed)), floor(max(changed))
        return Generator("integers", (low, high)) if low <= high else None
    name = {"zeros": "constant", "ones": "constant"}.get(values.name, values.name)
    return Generator(name, tuple(sorted(changed) if name == "uniform" else changed))


def _apply(type: str, value: float, number: float, *, swapped: bool) -> float | None:
    """Return what a layer makes of a value and a number; `swapped`: the number is its first input."""
    first, second = (number, value) if swapped else (value, number)
    if type == "Divide":
        return first / second if second else None
    results = {
        "Add": first + second,
        "Subtract": first - second,
        "Multiply": first * second,
        "Negative": -value,
        "LogicalNot": float(not value),
        "BitwiseNot": float(not value),
        "Equal": float(first == second),
        "NotEqual": float(first != second),
        "Less": float(first < second),
        "LessEqual": float(first <= second),
        "Greater": float(first > second),
        "GreaterEqual": float(first >= second),
    }
    return results[type]


def _softmax_after(graph: Graph, layer: Layer) -> Layer | None:
    """Return the SoftMax to which a sum leads, if one is near."""
    todo, seen = [(layer, 0)], {layer.id}
    while todo:
        current, depth = todo.pop()
        if current.type == "SoftMax":
            return current
        if depth and current.type not in {"Add", "Reshape", "Convert", "Maximum", "Clamp", "Squeeze", "Unsqueeze"}:
            continue
        for port in current.outputs:
            for consumer_id, _ in graph.consumers(current.id, port.id):
                if consumer_id not in seen and depth < NEAR:
                    seen.add(consumer_id)
                    todo.append((graph.layer(consumer_id), depth + 1))
    return None


def _starts(parts: Sequence[Fact | None]) -> list[int | None]:
    """Return the place of the first element of each part in the whole; None behind one of unknown size."""
    starts: list[int | None] = [0]
    for fact in parts:
        before, count = starts[-1], _count(fact)
        starts.append(None if before is None or count is None else before + count)
    return starts


def _count(fact: Fact | None) -> int | None:
    if fact is None or not is_static(fact.shape):
        return None
    return prod(dim.size for dim in fact.shape or ())
