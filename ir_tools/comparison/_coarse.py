"""Tensors that carry errors of a narrower type than their own: what is computed of compressed weights."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ir_tools.graph import Graph, Layer
from ir_tools.ops import Elements, Role, elements_of, role_of

__all__ = ["NARROW", "Coarse"]

NARROW: Mapping[str | None, str] = {"FP16": "f16", "BF16": "bf16"}
"""Floats narrower than f32, as ports call them."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """In which types a graph rounds what depends on constants alone, by layer; layers without such errors are absent.

    The runtime computes that once, in the types of the file, and in f32 all that follows: weights of int8 with scales
    of f16 have errors of f16, which one that computes in f32 throughout does not have, and a fused operation neither.

    Attributes:
        alone: the layers that depend on constants alone, and those that read these, which may be fused with them.
        reached: these and all that follow from them.
    """

    alone: Mapping[int, str]
    reached: Mapping[int, str]

    @classmethod
    def of(cls, graph: Graph) -> "Coarse":
        """Look at one graph; what a body is given counts as exact."""
        fixed: set[int] = set()
        alone: dict[int, str] = {}
        reached: dict[int, str] = {}
        for layer in graph.ordered():
            producers = [source.layer for source in graph.sources(layer.id).values()]
            if role_of(layer) is Role.CONSTANT or (producers and fixed.issuperset(producers) and not layer.bodies):
                fixed.add(layer.id)
            kinds = {reached[producer] for producer in producers if producer in reached}
            if layer.id in fixed:
                kinds |= _rounds_to(layer)
            if kinds:
                reached[layer.id] = _coarser(kinds)
            near = {reached[place] for place in (layer.id, *producers) if place in fixed and place in reached}
            if near:
                alone[layer.id] = _coarser(near)
        return cls(alone, reached)


def _coarser(kinds: Collection[str]) -> str:
    return "bf16" if "bf16" in kinds else "f16"


def _rounds_to(layer: Layer) -> set[str]:
    """Return the narrow float types of the outputs, if the layer computes them."""
    if role_of(layer) is Role.CONSTANT or elements_of(layer) in {Elements.MOVED, Elements.IN_ORDER}:
        return set()
    return {NARROW[port.precision] for port in layer.outputs if port.precision in NARROW}
