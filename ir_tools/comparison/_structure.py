"""How the layers of a graph are computed from its inputs, and how its outputs are computed from them, as digests."""

from collections.abc import Callable, Hashable, Mapping
from functools import cache, cached_property
from hashlib import blake2b
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.errors import IrToolsError
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.ops import Elements, Role, elements_of, newest_op, role_of, type_of
from ir_tools.weights import constant

__all__ = ["LEVELS", "Direction", "Side", "View"]

Direction = Literal["both", "down", "up"]
"""How a layer is computed from the inputs (down), how the outputs are computed from it (up), or both."""
LEVELS = (0, 1, 2)
"""What two layers have in common: 0 type, attributes and constants; 1 type and shapes of constants; 2 type alone, as if
there were no `TRANSPARENT` layers."""
TRANSPARENT = frozenset({Elements.CONVERTED, Elements.QUANTIZED})
"""What conversions between precisions insert."""
DEEPEST = 64
"""Layers that are looked through, at most."""
SAMPLED = 64
"""Pieces of a large constant that are read; each of `PIECE` bytes."""
PIECE = 1 << 10
ENDS = frozenset({Role.PARAMETER, Role.RESULT})
MIN_ELEMENTS, MAX_ELEMENTS = 16, 4096
"""Elements of a constant that two layers are told apart by."""


class Side(NamedTuple):
    """A graph, the main one or a body, and the model that holds its constants."""

    model: Model
    graph: Graph


class View:
    """One graph, as its layers are paired.

    Attributes:
        graph: the graph.
        layers: by id, producers first.
        kinds: the type of each layer.
        fixed: the layers that depend on constants alone.
        reads: the tensors that each layer reads, in the order of its ports.
        consumers: who reads each tensor: a layer, and the place of the tensor among those that it reads.
    """

    def __init__(self, side: Side, ends: Mapping[int, int]) -> None:
        """Take `ends`: the Parameters and Results that belong to some of another graph, by id: number of the pair."""
        self.graph = side.graph
        self._model = side.model
        self._ends = ends
        self.layers = {layer.id: layer for layer in side.graph.ordered()}
        self.kinds = {layer_id: type_of(layer) for layer_id, layer in self.layers.items()}
        self.reads: dict[int, tuple[Source, ...]] = {}
        self._consumers: dict[Source, list[tuple[int, int]]] = {}
        self.fixed: set[int] = set()
        for layer_id, layer in self.layers.items():
            sources = side.graph.sources(layer_id)
            self.reads[layer_id] = tuple(sources[port.id] for port in layer.inputs if port.id in sources)
            for place, source in enumerate(self.reads[layer_id]):
                self._consumers.setdefault(source, []).append((layer_id, place))
            producers = {source.layer for source in self.reads[layer_id]}
            if role_of(layer) is Role.CONSTANT or (
                producers and self.fixed.issuperset(producers) and role_of(layer) is not Role.RESULT
            ):
                self.fixed.add(layer_id)
        self.digest: Callable[[int, Direction], Mapping[int, Hashable]] = cache(self._digest)
        self.weights = cache(self._weights)
        self._constants: dict[int, int] = {}

    def outputs(self, layer_id: int) -> list[Source]:
        """Return the tensors that a layer makes."""
        return [Source(layer_id, port.id) for port in self.layers[layer_id].outputs]

    def dims(self, source: Source) -> tuple[int, ...]:
        """Return the sizes of a tensor that the file records."""
        return self.layers[source.layer].port(source.port).dims

    def commutes(self, layer_id: int) -> bool:
        """Return whether the order of the inputs makes no difference."""
        op = newest_op(self.kinds[layer_id])
        return op is not None and op.commutative

    def consumers(self, source: Source) -> list[tuple[int, int]]:
        """Return who reads a tensor, `TRANSPARENT` layers included and looked through; a place is -1 if any will do."""
        found, queue = [], [source]
        for tensor in islice(queue, DEEPEST):
            for consumer, place in self._consumers.get(tensor, ()):
                found.append((consumer, -1 if self.commutes(consumer) else place))
                if elements_of(self.layers[consumer]) in TRANSPARENT and place == 0:
                    queue += self.outputs(consumer)
        return found

    def origin(self, source: Source) -> Source:
        """Return the tensor before all `TRANSPARENT` layers that make this one."""
        for _ in range(DEEPEST):
            if not self._is_transparent(source.layer) or source.layer in self.fixed:
                break
            source = self.reads[source.layer][0]
        return source

    def computed_reads(self, layer_id: int) -> list[Source]:
        """Return what a layer reads that depends on inputs, looked through `TRANSPARENT` layers."""
        return [self.origin(source) for source in self.reads[layer_id] if source.layer not in self.fixed]

    def fixed_reads(self, layer_id: int) -> list[int]:
        """Return the layers that depend on constants alone and that a layer reads."""
        return [source.layer for source in self.reads[layer_id] if source.layer in self.fixed]

    @cached_property
    def rows(self) -> Mapping[int, int]:
        """How many layers of one type follow each other around a layer, itself included."""
        counts: dict[int, int] = {}
        before: dict[int, int] = {}
        for layer_id in self.layers:
            reads = self.computed_reads(layer_id)
            if len(reads) == 1 and self.kinds[reads[0].layer] == self.kinds[layer_id]:
                before[layer_id] = reads[0].layer
            counts[layer_id] = counts[before[layer_id]] + 1 if layer_id in before else 1
        for layer_id in reversed(self.layers):
            if layer_id in before:
                counts[before[layer_id]] = max(counts[before[layer_id]], counts[layer_id])
        return counts

    def name(self, layer_id: int) -> str:
        """Return the name of a layer."""
        return self.layers[layer_id].name

    def names(self, *, tensors: bool) -> dict[str, list[int]]:
        """Return the layers that depend on inputs, but for Parameters and Results, by name or by those of `tensors`."""
        found: dict[str, list[int]] = {}
        for layer_id, layer in self.layers.items():
            if layer_id not in self.fixed and role_of(layer) not in ENDS:
                words = (name for port in layer.outputs for name in port.names) if tensors else (layer.name,)
                for name in dict.fromkeys(words):
                    found.setdefault(name, []).append(layer_id)
        return found

    def named_tensors(self) -> Mapping[Hashable, list[Source]]:
        """Return the tensors with a name, by each of their names."""
        found: dict[Hashable, list[Source]] = {}
        for layer_id, layer in self.layers.items():
            for port in layer.outputs:
                for name in port.names:
                    found.setdefault(name, []).append(Source(layer_id, port.id))
        return found

    def same_sizes(self, layer_id: int, other: "View", partner: int) -> bool:
        """Return whether the first outputs of a layer and of one of another graph have the same recorded sizes."""
        mine, theirs = self.outputs(layer_id)[:1], other.outputs(partner)[:1]
        sizes = [(self.dims(a), other.dims(b)) for a, b in zip(mine, theirs, strict=False)]
        return all(
            len(a) == len(b) and all(-1 in pair or len(set(pair)) == 1 for pair in zip(a, b, strict=True))
            for a, b in sizes
        )

    # --- digests ----------------------------------------------------------------------------------------------------

    def _digest(self, level: int, direction: Direction) -> Mapping[int, Hashable]:
        """Return a digest for each layer that computes something from inputs; equal ones are alike at this level."""
        if direction == "both":
            down, up = self.digest(level, "down"), self.digest(level, "up")
            return {layer_id: (digest, up[layer_id]) for layer_id, digest in down.items() if layer_id in up}
        return self._down(level) if direction == "down" else self._up(level)

    def _down(self, level: int) -> dict[int, int]:
        tensors: dict[Source, int] = {}
        found = {}
        for layer_id in self.layers:
            if layer_id in self.fixed:
                continue
            reads = [self._read(level, source, tensors) for source in self.reads[layer_id]]
            own = self._own(level, layer_id)
            digest = hash((own, *(sorted(reads) if self.commutes(layer_id) else reads)))
            through = self._seen_through(level, layer_id)
            if not through:
                found[layer_id] = digest
            for index, source in enumerate(self.outputs(layer_id)):
                tensors[source] = reads[0] if through else hash((digest, index))
        return found

    def _up(self, level: int) -> dict[int, int]:
        uses: dict[Source, list[int]] = {}
        found = {}
        for layer_id in reversed(self.layers):
            if layer_id in self.fixed:
                continue
            mine = [tuple(sorted(uses.get(source, ()))) for source in self.outputs(layer_id)]
            reads = self.reads[layer_id]
            if self._seen_through(level, layer_id):
                uses.setdefault(reads[0], []).extend(mine[0] if mine else ())
                continue
            fixed = [self._read(level, source, {}) for source in reads if source.layer in self.fixed]
            found[layer_id] = hash((self._own(level, layer_id), *(sorted(fixed)), *mine))
            for place, source in enumerate(reads):
                uses.setdefault(source, []).append(hash((found[layer_id], -1 if self.commutes(layer_id) else place)))
        return found

    def _seen_through(self, level: int, layer_id: int) -> bool:
        return level == 2 and self._is_transparent(layer_id)

    def _is_transparent(self, layer_id: int) -> bool:
        return elements_of(self.layers[layer_id]) in TRANSPARENT and bool(self.reads[layer_id])

    def _own(self, level: int, layer_id: int) -> int:
        """Digest a layer by itself."""
        if layer_id in self._ends:
            return hash(("end", self._ends[layer_id]))
        layer = self.layers[layer_id]
        if level > 0:
            return hash(self.kinds[layer_id])
        if role_of(layer) in ENDS:
            return hash((layer.type, id(self), layer_id))
        attributes = (f"{name}={value}".replace(" ", "").lower() for name, value in layer.raw.items())
        bodies = (body_digest(Side(self._model, body)) for body in layer.bodies.values())
        return hash((self.kinds[layer_id], *sorted(attributes), *bodies))

    def _read(self, level: int, source: Source, tensors: Mapping[Source, int]) -> int:
        """Digest what a layer reads: a tensor that has a digest, or a constant."""
        if source.layer not in self.fixed:
            return tensors[source]
        if level == 0:
            return hash((self._constant(source.layer), source.port))
        return hash(("constant", self.dims(source) if level == 1 else ()))

    def _constant(self, layer_id: int) -> int:
        """Digest what depends on constants alone, by its content."""
        if not self._constants:
            for fixed in (entry for entry in self.layers if entry in self.fixed):
                if role_of(self.layers[fixed]) is Role.CONSTANT:
                    self._constants[fixed] = self._content(fixed)
                else:
                    parts = (self._constants[source.layer] for source in self.reads[fixed])
                    self._constants[fixed] = hash((self._own(0, fixed), *parts))
        return self._constants[layer_id]

    def _content(self, layer_id: int) -> int:
        """Digest the type, the shape and the bytes of a constant; of a large one, pieces of its bytes."""
        layer = self.layers[layer_id]
        try:
            data = constant(layer.raw, self._model.weights).reshape(-1).view(np.uint8)
        except IrToolsError:
            return hash(("unreadable", layer_id))
        pieces = blake2b(f"{layer.raw.get('element_type')}:{layer.raw.get('shape')}".encode())
        step = max(len(data) // SAMPLED, PIECE)
        for start in range(0, len(data), step):
            pieces.update(data[start : start + PIECE].tobytes())
        return hash(pieces.digest())

    def _weights(self, layer_id: int) -> npt.NDArray[np.float64] | None:
        """Return elements of the largest constant that a layer reads, with mean 0 and length 1, if there are any."""
        queue = self.fixed_reads(layer_id)
        for producer in queue:
            queue += [source.layer for source in self.reads[producer]]
        try:
            arrays = [
                constant(entry.raw, self._model.weights)
                for entry in map(self.layers.__getitem__, queue)
                if role_of(entry) is Role.CONSTANT
            ]
        except IrToolsError:
            return None
        flat = max((array.reshape(-1) for array in arrays if array.dtype.kind in "fiuV"), key=len, default=None)
        if flat is None or len(flat) < MIN_ELEMENTS:
            return None
        with np.errstate(invalid="ignore", over="ignore"):
            some = flat[:: -(-len(flat) // MAX_ELEMENTS)].astype(np.float64)
            some -= some.mean()
            length = float(np.linalg.norm(some))
        return some / length if length > 0 and np.isfinite(length) else None


def body_digest(side: Side) -> int:
    """Digest a body: its results, in order."""
    numbers = {layer.id: number for number, layer in enumerate(_ends(side.graph))}
    view = View(side, numbers)
    digests = view.digest(0, "down")
    return hash(tuple(digests.get(layer.id) for layer in _ends(side.graph) if role_of(layer) is Role.RESULT))


def _ends(graph: Graph) -> list[Layer]:
    return [layer for layer in graph.layers() if role_of(layer) in ENDS]
