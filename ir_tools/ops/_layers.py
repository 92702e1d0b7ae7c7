"""Build the layers of a rewrite, each with the facts of its outputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._numbers import is_half
from ir_tools.ops.definition import (
    COMPLETE_OPSETS,
    Array,
    Fact,
    Lowering,
    NewLayer,
    Op,
    Ref,
    Refused,
    Rewrite,
    Step,
    Violation,
)
from ir_tools.ops.fields import REQUIRED, Attrs
from ir_tools.ops.records import constant_fact
from ir_tools.types import ElementType, element_type, from_dtype, is_static

__all__ = [
    "DATA",
    "F32",
    "I64",
    "ROUNDED",
    "TRUNCATED",
    "Layers",
    "by_formula",
    "composed",
    "held",
    "not_added_up",
    "padded",
]

F32, I64 = element_type("f32"), element_type("i64")
DATA = Ref(None)
"""The first input of the layer that is rewritten."""


ROUNDED = Refused("a composition of layers would round integers at every step; the operation rounds once")
TRUNCATED = Refused("a composition of layers would truncate integers at every step; the operation truncates once")
"""Why older operations do not compute integers as an operation does that computes in floats."""


def not_added_up(kind: ElementType) -> Refused | None:
    """Return why older operations do not add up numbers of a type as the operations of sums do; None if they do."""
    if kind.kind == "boolean":
        return Refused("no older operation adds booleans")
    if kind.is_integer and kind.bits == 8:
        return Refused(f"its sums of {kind} wrap around; those of older operations saturate at the limits of the type")
    return None


class Layers:
    """The layers of a rewrite, in topological order, for a target opset.

    Every method adds one or several layers, and returns the output that holds the result.
    """

    def __init__(self, inputs: Sequence[Fact], target: int) -> None:
        """Start without layers; `inputs` are the facts of the inputs of the rewritten layer."""
        self.inputs = tuple(inputs)
        self.target = target
        self.made: list[NewLayer] = []

    @property
    def given(self) -> Sequence[Ref]:
        """The inputs of the rewritten layer."""
        return [Ref(None, number) for number in range(len(self.inputs))]

    def fact(self, source: Ref | Array) -> Fact:
        """Return what is known of a layer's output, an input or a constant."""
        if isinstance(source, Ref):
            return (
                self.inputs[source.output] if source.layer is None else self.made[source.layer].outputs[source.output]
            )
        return constant_fact(source)

    def dtype(self, source: Ref | Array) -> np.dtype[np.generic]:
        """Return the numpy type of an output or an input, for constants that are combined with it.

        Raises:
            ShapeError: the element type is unknown, or numpy does not have it.
        """
        kind = self.fact(source).dtype
        if kind.dtype is None:
            raise ShapeError(f"the element type of the data is {kind}, which no constant can have")
        return kind.dtype

    def rank(self, source: Ref | Array) -> int:
        """Return the number of dimensions.

        Raises:
            ShapeError: the rank is unknown.
        """
        shape = self.fact(source).shape
        if shape is None:
            raise ShapeError("the rank of the data is not known")
        return len(shape)

    def number(self, value: float, like: Ref | Array) -> Array:
        """Return a scalar constant with the element type of `like`."""
        return np.array(value, self.dtype(like))

    def call(
        self, type: str, *inputs: Ref | Array | float, version: int | None = None, label: str = "", **attributes: object
    ) -> Ref:
        """Add a layer and return its first output; arguments and errors are those of `outputs`."""
        return self.outputs(type, *inputs, version=version, label=label, **attributes)[0]

    def outputs(
        self, type: str, *inputs: Ref | Array | float, version: int | None = None, label: str = "", **attributes: object
    ) -> tuple[Ref, ...]:
        """Add a layer of any operation and return all of its outputs.

        An operation that the target opset does not contain is added as the older operations that compute it.

        Args:
            type: the operation type.
            inputs: outputs of the layers so far, inputs of the rewritten layer, arrays, or numbers, which are of the
                element type of the last other input.
            version: the opset of the layer; by default the newest version that the target opset contains.
            label: as for `NewLayer`; by default the type in lower case.
            attributes: attributes by Python name, or as text; the others have their default values.

        Raises:
            ShapeError: the operation does not accept these inputs, or older operations cannot express it.
        """
        op = held(type, version or self.target)
        values = {name: attributes.get(name, spec.absent) for name, spec in op.attrs.items()}
        assert attributes.keys() <= values.keys()
        assert REQUIRED not in values.values()
        raw = op.written(values)
        violations: list[Violation] = []
        attrs = op.read(raw, violations)
        assert attrs is not None, violations
        tensors = [one for one in inputs if isinstance(one, Ref | np.ndarray)]
        given = [one if isinstance(one, Ref | np.ndarray) else self.number(one, tensors[-1]) for one in inputs]
        given_facts = [self.fact(source) for source in given]
        facts = op.outputs_of(attrs, given_facts)
        assert facts is not None
        if version is None and not op.in_opset(self.target):
            return self._as_older(op, attrs, given, given_facts)
        new = NewLayer(
            type=op.type,
            opset=version or op.version,
            inputs=tuple(given),
            outputs=facts,
            raw=raw,
            label=label or type.lower(),
        )
        self.made.append(new)
        return tuple(Ref(len(self.made) - 1, number) for number in range(len(facts)))

    def _as_older(self, op: Op, attrs: Attrs, inputs: Sequence[Ref | Array], facts: Sequence[Fact]) -> tuple[Ref, ...]:
        """Add the layers that express an operation in the target opset, and return its outputs."""
        found = None if op.migrate is None else op.migrate(attrs, facts, self.target)
        if not isinstance(found, Rewrite):
            raise ShapeError(f"opset{self.target} has no {op}" if found is None else found.reason)
        first = len(self.made)

        def placed(source: Ref | Array) -> Ref | Array:
            if not isinstance(source, Ref):
                return source
            return inputs[source.output] if source.layer is None else Ref(first + source.layer, source.output)

        self.made += [replace(new, inputs=tuple(map(placed, new.inputs))) for new in found.layers]
        last = len(found.layers) - 1
        ends = found.outputs or [Ref(last, number) for number in range(len(found.layers[last].outputs))]
        return tuple(Ref(first + (end.layer or 0), end.output) for end in ends)

    def rewrite(self, strategy: str, proof: str, outputs: Sequence[Ref] = ()) -> Rewrite:
        """Return the layers as a rewrite; the last one replaces the old layer. `outputs`: as of `Rewrite`."""
        return Rewrite(layers=tuple(self.made), strategy=strategy, proof=proof, outputs=tuple(outputs))

    def shape_of(self, data: Ref) -> Ref:
        """Add the sizes of `data`, i64; one layer however often they are asked for."""
        for number, new in enumerate(self.made):
            if new.type == "ShapeOf" and new.inputs == (data,):
                return Ref(number)
        return self.call("ShapeOf", data)

    def sizes(self, data: Ref) -> Ref | Array:
        """Return the sizes of `data`: a constant where they are known, else those that the model sees when it runs."""
        shape = self.fact(data).shape
        if is_static(shape):
            return np.array([dim.size for dim in shape], np.int64)
        return self.shape_of(data)

    def gather(self, data: Ref, places: Sequence[int] | int, axis: int = 0) -> Ref:
        """Add a Gather of elements along an axis: several, or one without the axis."""
        return self.call("Gather", data, np.array(places, np.int64), np.array(axis, np.int64))

    def count_to(self, stop: Ref | Array) -> Ref:
        """Add the list of the integers from 0 to a scalar, without it, i64."""
        limits = np.array(0, np.int64), stop, np.array(1, np.int64)
        if self.target < 4:
            return self.call("Range", *limits)
        return self.call("Range", *limits, output_type="i64")

    def size(self, data: Ref, axis: int) -> Ref | Array:
        """Return the size of an axis, i64: a constant if it is known."""
        shape = self.fact(data).shape
        if shape is not None and shape[axis].static:
            return np.array(shape[axis].size)
        return self.gather(self.shape_of(data), axis)

    def places(self, data: Ref, axis: int) -> Ref | Array:
        """Return the numbers of the elements along an axis, i64: a constant if the size is known."""
        size = self.size(data, axis)
        return self.count_to(size) if isinstance(size, Ref) else np.arange(int(size))

    def to_type(self, data: Ref, dtype: ElementType) -> Ref:
        """Convert `data` to another element type; no layer is added if it has that already."""
        if self.fact(data).dtype == dtype:
            return data
        return self.call("Convert", data, destination_type=dtype.name)

    def as_i64(self, numbers: Ref | Array) -> Ref | Array:
        """Convert integers to i64; no layer is added for a constant."""
        return self.to_type(numbers, I64) if isinstance(numbers, Ref) else numbers.astype(np.int64)

    def total(self, numbers: Ref, axis: int, dtype: ElementType) -> Ref:
        """Add the sum of booleans or small integers along an axis, computed in f32, as `dtype`.

        Arithmetic with one constant number behind a sum of integers along the middle of three axes gives other values
        from 2022.1 on, in 2026.4.1, too: measured.
        """
        return self.to_type(self.call("ReduceSum", self.to_type(numbers, F32), np.array(axis)), dtype)

    def copy(self, data: Ref) -> Ref:
        """Add a layer that passes `data` on as it is.

        Raises:
            ShapeError: the element type is not known, or nothing converts it.
        """
        return self.call("Convert", data, destination_type=from_dtype(self.dtype(data)).name)

    def working(self, number: int) -> Ref:
        """Return an input in the type that it is computed in: half floats in f32, which does not overflow as they do.

        Raises:
            ShapeError: the element type is not known.
        """
        data = Ref(None, number)
        return self.to_type(data, F32) if is_half(self.dtype(data)) else data

    def reshape(self, data: Ref | Array, pattern: Ref | Array) -> Ref:
        """Bring `data` into another shape; a 0 in the pattern copies the size in that place, -1 takes what is left."""
        return self.call("Reshape", data, pattern, special_zero=True)

    def pad(self, data: Ref, before: Ref | Array, after: Ref | Array) -> Ref:
        """Put zeros around `data`."""
        return self.call("Pad", data, before, after, self.number(0, data), pad_mode="constant")


def held(type: str, opset: int) -> Op:
    """Return the version of an operation that an opset holds; the table is complete only after its families."""
    from ir_tools.ops import find_op

    op = find_op(type, f"opset{opset}") or find_op(type, f"opset{COMPLETE_OPSETS}")
    assert op is not None, f"opset{opset} has no {type}"
    return op


Formula = Callable[[Layers, Attrs], Ref | Sequence[Ref] | Refused]
"""Adds the layers of a formula, and returns what the last one of them makes; or all outputs, the last one's last."""


def composed(version: int, formula: str, *, wide: bool = False) -> Callable[[Formula], Lowering]:
    """Return what makes a step to older opsets out of a function that adds the layers of a formula.

    The step leaves the operation alone in opsets that hold it, which begin with `version`. See `by_formula`.
    """
    return lambda function: Lowering(version, by_formula(formula, wide=wide)(function))


def by_formula(formula: str, *, wide: bool = False) -> Callable[[Formula], Step]:
    """Return what makes a step out of a function that adds the layers of a formula.

    The layer that is added last replaces the old one.

    Args:
        formula: by which the specification defines the operation, or which is equal to that, or why both are equal.
        wide: whether half floats are computed in f32, as by `Layers.working`, and rounded once.
    """

    def step_of(function: Formula) -> Step:
        def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
            layers = Layers(inputs, target)
            found = function(layers, attrs)
            if isinstance(found, Refused):
                return found
            ends = [found] if isinstance(found, Ref) else [*found]
            if wide:
                ends = [layers.to_type(end, inputs[0].dtype) for end in ends]
            dtype = layers.fact(ends[0]).dtype
            if dtype.dtype is None or not is_half(dtype.dtype):
                how = ""
            else:
                how = ", computed in f32" if wide else f", rounded to {dtype} after every step"
            outputs = () if isinstance(found, Ref) else ends
            return layers.rewrite("written with other layers", f"{formula}{how}", outputs)

        return step

    return step_of


def padded(layers: Layers, source: Ref, before: Sequence[int], after: Sequence[int]) -> Ref:
    """Return `source`, `[N, C, spatial...]`, with zeros before and after each spatial axis."""
    return layers.pad(source, np.array([0, 0, *before], np.int64), np.array([0, 0, *after], np.int64))
