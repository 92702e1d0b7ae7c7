"""Where a difference between two models starts, and what in the two files makes it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ir_tools.comparison._bodies import into_body
from ir_tools.comparison._differences import difference
from ir_tools.comparison._models import paired_bodies
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison._results import LayerComparison
from ir_tools.comparison._structure import Side
from ir_tools.comparison._tensors import input_taps, inputs_of, labels_of
from ir_tools.comparison._whole import infer
from ir_tools.errors import IrToolsError
from ir_tools.graph import Graph, Layer, Model
from ir_tools.ops import Array, Role, role_of
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.one_layer import LayerRunner
from ir_tools.runtime.setting import Setting
from ir_tools.weights import values

__all__ = ["Origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Searches where the difference of two models starts.

    Attributes:
        client: runs layers alone.
        own, other: the two models.
        pairs: which layers belong together.
        fed: the inputs of the first.
        setting: where they run.
    """

    client: RuntimeClient
    own: Model
    other: Model
    pairs: Pairs
    fed: Mapping[str, Array]
    setting: Setting

    def marked(self, rows: Sequence[LayerComparison]) -> list[LayerComparison]:
        """Return the rows, with what makes the first difference in its reason.

        The first layer beyond its tolerance may only show what a layer before it did, by less than its own tolerance:
        each of these layers runs alone in both files on the same inputs, and the one that is furthest off counts as
        the first that differs.
        """
        found = list(rows)
        place = next((number for number, row in enumerate(found) if row.status == "differs"), None)
        if place is None:
            return found
        start = found[place]
        if start.iteration is None:
            offending = self._furthest_off(found, start)
            if offending != start.layer_id:
                candidates = (number for number, row in enumerate(found) if _is_of(row, offending))
                place = next(candidates, place)
        row = found[place]
        why = [] if row is start else [f"within its tolerance, but the difference in '{start.path}' starts here"]
        why += self._causes(row)
        reason = "; ".join(filter(None, (row.reason, *why))) or None
        found[place] = replace(row, status="differs", reason=reason)
        return found

    def _furthest_off(self, rows: Sequence[LayerComparison], start: LayerComparison) -> int:
        """Return the layer up to `start` that differs by itself; `start` if that cannot be decided."""
        graph = self.own.graph
        if self._error(start.layer_id) != 0.0:
            return start.layer_id
        moved = {row.layer_id for row in rows if _is_of(row, row.layer_id)}
        errors = {
            layer_id: self._error(layer_id)
            for layer_id in _before(graph, start.layer_id)
            if layer_id in moved and layer_id in self.pairs.layers
        }
        furthest = max(errors, key=lambda layer_id: errors[layer_id], default=start.layer_id)
        return furthest if errors.get(furthest, 0.0) > 0.0 else start.layer_id

    def _error(self, layer_id: int) -> float:
        """Return how far a layer alone is from its partner on the same inputs; infinite where that cannot be told."""
        layer, twin = self.own.graph.layer(layer_id), self.pairs.layers.get(layer_id)
        if twin is None or layer.bodies:
            return math.inf
        try:
            arrays = self._arrays(layer)
            runner = LayerRunner(self.client, self.setting.device, self.setting.tapped)
            mine = runner(self.own, self.own.graph, layer, arrays)
            theirs = runner(self.other, self.other.graph, twin, arrays)
        except (IrToolsError, ValueError):
            return math.inf
        pairs = list(zip(mine, theirs, strict=False))
        if any(a.shape != b.shape for a, b in pairs):
            return math.inf
        return max((difference(a, b).needed for a, b in pairs), default=0.0)

    def _arrays(self, layer: Layer) -> tuple[Array, ...]:
        """Return what a layer of the first model reads, in the order of its ports."""
        graph, labels = self.own.graph, labels_of(self.own.graph)
        taps = tuple(dict.fromkeys(input_taps(graph, layer, labels)))
        tensors = infer(self.client, self.own, self.fed, self.setting, taps).taps if taps else {}
        return tuple(map(_widened, inputs_of(self.own, graph, layer, tensors, labels).values()))

    def _causes(self, row: LayerComparison) -> Iterator[str]:
        """Yield what differs between a layer and its partner in the files: attributes, constants."""
        own, other, pairs = Side(self.own, self.own.graph), Side(self.other, self.other.graph), self.pairs
        rest = row.path
        while (step := into_body(own.graph, rest)) is not None:
            layer, body, rest = step
            twin = pairs.layers.get(layer.id)
            if twin is None or body not in twin.bodies:
                return
            own, other = Side(self.own, layer.bodies[body]), Side(self.other, twin.bodies[body])
            pairs = paired_bodies(self.own, layer, self.other, twin, body)
        layer = own.graph.layer(row.layer_id)
        twin = pairs.layers.get(row.layer_id)
        if twin is None:
            return
        for name in dict.fromkeys((*layer.raw, *twin.raw)):
            mine, theirs = layer.raw.get(name), twin.raw.get(name)
            if _normal(mine) != _normal(theirs):
                yield f"{name} is {_told(mine)} in the first model and {_told(theirs)} in the other"
        constants = zip(_constants_of(own, layer), _constants_of(other, twin), strict=False)
        for index, (first, second) in enumerate(constants):
            if first is not None and second is not None:
                yield from _differing(index, first, second)


def _constants_of(side: Side, layer: Layer) -> Iterator[Array | None]:
    """Yield the constant that each input port reads; None for other tensors."""
    sources = side.graph.sources(layer.id)
    for port in layer.inputs:
        if port.id in sources:
            producer = side.graph.layer(sources[port.id].layer)
            yield values(producer.raw, side.model.weights) if role_of(producer) is Role.CONSTANT else None


def _is_of(row: LayerComparison, layer_id: int) -> bool:
    """Return whether a row is of this layer of the main graph, and differs; layers in bodies may have the same id."""
    return (
        row.layer_id == layer_id
        and row.iteration is None
        and row.difference is not None
        and row.difference.needed > 0.0
    )


def _widened(array: Array) -> Array:
    """f16 and bf16 as f32, as tensors that are taken out."""
    return array.astype(np.float32) if array.dtype.kind in "fV" and array.dtype.itemsize == 2 else array


def _before(graph: Graph, layer_id: int) -> list[int]:
    """Return the layers that a layer depends on, nearest first."""
    queue = [layer_id]
    seen = {layer_id}
    for entry in queue:
        new = [source.layer for source in graph.sources(entry).values() if source.layer not in seen]
        seen.update(new)
        queue += dict.fromkeys(new)
    return queue[1:]


def _differing(index: int, mine: Array, theirs: Array) -> Iterator[str]:
    """Return in words where a constant differs."""
    start = f"its constant input {index}"
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        yield (
            f"{start} is {mine.dtype} {list(mine.shape)} in the first model and {theirs.dtype} {list(theirs.shape)} "
            "in the other"
        )
        return
    found = np.argwhere(mine != theirs)
    if len(found):
        at = tuple(int(place) for place in found[0])
        where = f"{len(found)} of {mine.size} elements, first at {list(at)}"
        yield f"{start} differs in {where}: {mine[at]} in the first model and {theirs[at]} in the other"


def _normal(text: str | None) -> str | None:
    """Return an attribute without blanks, in lower case: releases write lists and flags in several ways."""
    return None if text is None else text.replace(" ", "").lower()


def _told(text: str | None) -> str:
    return "absent" if text is None else f'"{text}"'
