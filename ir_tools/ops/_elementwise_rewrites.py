"""Express elementwise layers that releases read and do not run, or not rightly, by others of the same opset."""

from collections.abc import Sequence

import numpy as np

from ir_tools.display import plural
from ir_tools.ops._broadcast import first_axis
from ir_tools.ops._layers import Layers, by_formula, held
from ir_tools.ops.definition import Fact, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs
from ir_tools.types import element_type, is_static

__all__ = [
    "as_in_numpy",
    "exact_quotient",
    "known_quotient",
    "remainder_by_floor_mod",
    "select_in_fewer_dimensions",
    "with_computed_number",
]

LOW = 5
"""The most dimensions of a Select that all releases run."""
DIVIDED_IN = {"i8": "i32", "u8": "i32", "i16": "i16", "u16": "i32", "i32": "i32", "u32": "i64", "i64": "i64"}
"""Signed integers in which quotients are computed; releases subtract unsigned ones wrongly."""


def as_in_numpy(type: str, widest: int = 0) -> Step:
    """Return the step from mode `pdpd` to `numpy`. `widest`: the input whose axes the others lie within."""

    def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
        if attrs.auto_broadcast != "pdpd":
            return Refused("its shapes already broadcast by the rules of numpy", "auto_broadcast")
        layers = Layers(inputs, target)
        rank = layers.rank(Ref(None, widest))

        def lined(source: Ref) -> Ref:
            if source.output == widest:
                return source
            own = layers.rank(source)
            behind = rank - own - first_axis(attrs.auto_broadcast_axis, rank, own)
            return layers.call("Unsqueeze", source, np.arange(own, own + behind)) if behind else source

        kept = {name: value for name, value in attrs.items() if not name.startswith("auto_broadcast")}
        layers.call(type, *map(lined, layers.given), auto_broadcast="numpy", **kept)
        return layers.rewrite(
            "numpy broadcasting", "with dimensions of 1 added at the end, both modes align the same axes"
        )

    return step


def known_quotient(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Divide of sizes that are known as their quotient: 2021 may divide by 0 before it knows them."""
    found = held("Divide", target).outputs_of(attrs, inputs)
    known = None if found is None or not inputs[0].dtype.is_integer else found[0].exact
    if known is None or inputs[0].dtype.dtype is None:
        return Refused("its quotient is not known")
    layers = Layers(inputs, target)
    layers.call("Convert", known.astype(inputs[0].dtype.dtype), destination_type=inputs[0].dtype.name)
    return layers.rewrite("a constant", "the sizes are known")


def exact_quotient(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Divide of integers, whose quotients releases round to the nearest.

    Those of 8 bits are computed in i32. Others are rounded where the layer is fused with the one before, so the
    remainder is subtracted first.
    """
    kind = inputs[0].dtype
    if kind.name not in DIVIDED_IN:
        return Refused("it is not of integers of 8 to 64 bits, or they are u64")
    layers = Layers(inputs, target)
    wide = element_type(DIVIDED_IN[kind.name])
    data, divisor = (layers.to_type(one, wide) for one in layers.given)
    if kind.bits > 8:
        remainder = layers.call("FloorMod" if attrs.m_pythondiv else "Mod", data, divisor)
        data = layers.call("Subtract", data, remainder)
    layers.to_type(layers.call("Divide", data, divisor, m_pythondiv=attrs.m_pythondiv), kind)
    if kind.bits == 8:
        return layers.rewrite("computed in i32", "i32 holds all values of 8 bits")
    return layers.rewrite(
        "remainder subtracted first", "the difference is a multiple of the divisor, so the quotient is exact"
    )


def with_computed_number(type: str) -> Step:
    """Return a step that rewrites a sum or difference with a constant number, which releases may leave out."""

    @by_formula("x == x is 1 for each element of x that is a number; others stay what they are in any sum")
    def step(layers: Layers, attrs: Attrs) -> Ref | Refused:
        facts = [layers.fact(one) for one in layers.given]
        numbers = [place for place, fact in enumerate(facts) if is_static(fact.shape) and {*fact.dims} <= {1}]
        if not numbers or not facts[0].dtype.is_float or attrs.auto_broadcast == "pdpd":
            return Refused("it does not add a number to floats")
        place, inputs = next((one for one in numbers if facts[one].exact is not None), numbers[-1]), [*layers.given]
        data = inputs[1 - place]
        same = layers.to_type(layers.call("Equal", data, data), layers.fact(data).dtype)
        inputs[place] = layers.call("Multiply", same, inputs[place])
        return layers.call(type, *inputs)

    return step


def remainder_by_floor_mod(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Mod of sizes, which 2021 does not compute before a device runs."""
    if any(fact.value is None or not (fact.value.lower >= 0).all() for fact in inputs):
        return Refused("its numbers are not known to be 0 or more")
    layers = Layers(inputs, target)
    layers.call("FloorMod", *layers.given)
    return layers.rewrite("FloorMod", "both compute the same remainder of numbers that are not negative")


def select_in_fewer_dimensions(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite a Select of many dimensions, which is computed in fewer of them.

    Axes side by side are merged if each input either has all of them or is broadcast along all of them.
    """
    layers = Layers(inputs, target)
    if max(map(layers.rank, layers.given)) <= LOW:
        return Refused("its shapes already broadcast by the rules of numpy", "auto_broadcast")
    shapes = [fact.dims for fact in inputs]
    if any(-1 in shape for shape in shapes):
        return Refused("its sizes are not known")
    whole = np.broadcast_shapes(*shapes)
    rows = [(1,) * (len(whole) - len(shape)) + shape for shape in shapes]
    merged: list[list[int]] = []
    kept: list[tuple[bool, ...]] = []
    for axis, size in enumerate(whole):
        present = tuple(row[axis] == size for row in rows)
        if size == 1:
            continue
        if not kept or kept[-1] != present:
            kept.append(present)
            merged.append([1] * len(rows))
        merged[-1] = [product * row[axis] for product, row in zip(merged[-1], rows, strict=True)]
    if len(merged) > LOW:
        return Refused(f"its inputs are broadcast along axes that cannot be merged to {LOW}")
    flat = [
        layers.call("Reshape", source, np.array([sizes[number] for sizes in merged], np.int64), special_zero=False)
        for number, source in enumerate(layers.given)
    ]
    chosen = layers.call("Select", *flat, auto_broadcast="numpy")
    layers.call("Reshape", chosen, np.array(whole, np.int64), special_zero=False)
    return layers.rewrite("axes merged", f"the same elements in the same order, in {plural(len(merged), 'dimension')}")
