"""Building the layers of a rewrite, each with the facts of its outputs."""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops.definition import Array, Fact, NewLayer, Ref, Rewrite
from ir_tools.types import Dim, ElementType, Shape, element_type, from_dtype

__all__ = ["BOOLEAN", "F32", "I64", "Layers", "ints", "padded"]

F32, I64, BOOLEAN = element_type("f32"), element_type("i64"), element_type("boolean")


def ints(values: Sequence[int]) -> str:
    """Return `(2, 2)` -> `"2,2"`, as an attribute."""
    return ",".join(map(str, values))


class Layers:
    """Layers in the making, in topological order, for a target opset.

    Every method adds a layer, or as many as it takes, and returns where the output is.
    """

    def __init__(self, inputs: Sequence[Fact], target: int) -> None:
        """Start without layers; `inputs`: facts of the layer that is being rewritten."""
        self.inputs = tuple(inputs)
        self.target = target
        self.made: list[NewLayer] = []

    def fact(self, source: Ref | Array) -> Fact:
        """Return what is known of a layer's output, an input or a constant."""
        if isinstance(source, Ref):
            return (
                self.inputs[source.output] if source.layer is None else self.made[source.layer].outputs[source.output]
            )
        return Fact(from_dtype(source.dtype), tuple(map(Dim.of, source.shape)))

    def add(
        self,
        type: str,
        inputs: Sequence[Ref | Array],
        output: Fact,
        *,
        opset: int = 1,
        label: str = "",
        **raw: str,
    ) -> Ref:
        """Add a layer with one output."""
        new = NewLayer(
            type=type, opset=opset, inputs=tuple(inputs), outputs=(output,), raw=raw, label=label or type.lower()
        )
        self.made.append(new)
        return Ref(len(self.made) - 1)

    def rewrite(self, how: str, proof: str) -> Rewrite:
        """Return the layers as a rewrite; the last one replaces the old layer."""
        return Rewrite(layers=tuple(self.made), how=how, proof=proof)

    def shape_of(self, data: Ref) -> Ref:
        """Add the sizes of `data`, i64; one layer however often they are asked for."""
        for number, new in enumerate(self.made):
            if new.type == "ShapeOf" and new.inputs == (data,):
                return Ref(number)
        shape = self.fact(data).shape
        assert shape is not None
        output = Fact(I64, (Dim.of(len(shape)),))
        if self.target < 3:
            return self.add("ShapeOf", [data], output)
        return self.add("ShapeOf", [data], output, opset=3, output_type="i64")

    def gather(self, data: Ref, places: Sequence[int] | int, axis: int = 0, shape: Shape = None) -> Ref:
        """Elements along an axis: several, or one without the axis. `shape`: of the output, where `data` is not 1-D."""
        chosen = np.array(places, np.int64)
        output = Fact(self.fact(data).dtype, shape or tuple(map(Dim.of, chosen.shape)))
        raw = {"batch_dims": "0"} if self.target >= 7 else {}
        opset = min(self.target, 8) if self.target >= 7 else 1
        return self.add("Gather", [data, chosen, np.array(axis, np.int64)], output, opset=opset, **raw)

    def binary(self, type: str, left: Ref | Array, right: Ref | Array, *, compares: bool = False) -> Ref:
        """Add an elementwise operation with numpy's broadcasting; `compares`: its result is a boolean."""
        one = self.fact(left)
        dtype = BOOLEAN if compares else one.dtype
        shape = _broadcast(one.shape, self.fact(right).shape)
        return self.add(type, [left, right], Fact(dtype, shape), auto_broadcast="numpy")

    def unary(self, type: str, data: Ref) -> Ref:
        """Add an elementwise operation on one tensor."""
        return self.add(type, [data], self.fact(data))

    def to_type(self, data: Ref, dtype: ElementType) -> Ref:
        """Convert `data` to another element type; no layer is added if it has that already."""
        fact = self.fact(data)
        if fact.dtype == dtype:
            return data
        return self.add("Convert", [data], Fact(dtype, fact.shape), destination_type=dtype.name)

    def reshape(self, data: Ref, pattern: Ref | Array, shape: Shape) -> Ref:
        """Bring `data` into another shape; a 0 in the pattern copies the size in that place, -1 takes what is left."""
        return self.add("Reshape", [data, pattern], Fact(self.fact(data).dtype, shape), special_zero="true")

    def pad(self, data: Ref, before: Ref | Array, after: Ref | Array, shape: Shape) -> Ref:
        """Put zeros around `data`."""
        dtype = self.fact(data).dtype
        opset = 12 if self.target >= 12 else 1
        zero = np.zeros((), dtype.dtype)
        return self.add("Pad", [data, before, after, zero], Fact(dtype, shape), opset=opset, pad_mode="constant")


def padded(layers: Layers, source: Ref, before: Sequence[int], after: Sequence[int]) -> Ref:
    """Return `source`, `[N, C, spatial...]`, with zeros before and after each spatial axis."""
    fact = layers.fact(source)
    assert fact.shape is not None
    more = [one + two for one, two in zip(before, after, strict=True)]
    spatial = [
        Dim(dim.lo + extra, None if dim.hi is None else dim.hi + extra)
        for dim, extra in zip(fact.spatial, more, strict=True)
    ]
    begins, ends = np.array([0, 0, *before], np.int64), np.array([0, 0, *after], np.int64)
    return layers.pad(source, begins, ends, (*fact.shape[:2], *spatial))


def _broadcast(left: Shape, right: Shape) -> Shape:
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    ones = (Dim.of(1),) * rank
    pairs = zip((ones + left)[-rank:] if rank else (), (ones + right)[-rank:] if rank else (), strict=True)
    return tuple(_common(one, two) for one, two in pairs)


def _common(one: Dim, two: Dim) -> Dim:
    if one == Dim.of(1):
        return two
    if two == Dim.of(1) or (one.static and one.size > 1):
        return one
    return two if two.static else Dim()
