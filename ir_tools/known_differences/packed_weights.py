"""Constants of few bits, and square ones, which releases prepare in their own way for layers that compute with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Self

from ir_tools.errors import ReadError
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.infer import SURPRISES
from ir_tools.known_differences.neighbours import FAR, consumers_of, number_of, sources_of
from ir_tools.known_differences.releases.seen import SEQUENCES
from ir_tools.ops import Array, Role, find_op, role_of
from ir_tools.weights import values

__all__ = ["CARRYING", "SCALING", "SHAPING", "PackedWeights"]

KINDS, FLOATS = frozenset({"i8", "u8", "i4", "u4", "nf4"}), frozenset({"f32", "f16", "bf16"})
SIGNED = frozenset({"i8", "i4"})
LANES = 32
"""How many products releases add up, and how many outputs they compute, at a time, with AVX-512. Measured."""
SCALING, SHAPING = frozenset({"Subtract", "Multiply"}), frozenset({"Convert", "Reshape", "Transpose", "Unsqueeze"})
CARRYING = (SHAPING - {"Convert"}) | {
    *("Concat", "DepthToSpace", "Gather", "MaxPool", "ReLU", "Slice", "Split", "Squeeze", "StridedSlice"),
    "VariadicSplit",
}
"""Types of layers behind a FakeQuantize whose outputs may be quantized as its own."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """A layer that computes with the weights, and whether they get there with rows and columns exchanged."""

    layer: Layer
    port: int
    exchanged: bool

    @property
    def second(self) -> bool:
        """Whether it multiplies by them."""
        return self.layer.type == "MatMul" and self.port == self.layer.common.inputs[1].id

    @property
    def has_one_row(self) -> bool:
        """Whether the data that it multiplies may have one row."""
        return all(size in {1, -1} for size in self.layer.common.inputs[0].dims[:-1])

    @property
    def has_few_rows(self) -> bool:
        """Whether the data that it multiplies are known to have four rows or fewer."""
        rows = self.layer.common.inputs[0].dims[:-1]
        return min(rows, default=0) >= 0 and prod(rows) <= 4

    @property
    def batch(self) -> int:
        """How many axes of one element are in front of its matrix of weights."""
        return len(self.batches) if prod(self.batches) == 1 else 0

    @property
    def batches(self) -> Sequence[int]:
        """The sizes in front of its matrix of weights."""
        return self.layer.common.inputs[1].dims[:-2]

    @property
    def by_rows(self) -> bool:
        """Whether each row of the constant, not each column, makes an element of the output."""
        if self.layer.type == "Gather":
            return not self.exchanged
        op = find_op(self.layer.type, self.layer.version)
        attrs = None if op is None else op.read(self.layer.common.raw, [])
        return attrs is not None and bool(attrs.transpose_b) is not self.exchanged

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many products are added up for an element of the output, and how many columns that has."""
        dims = self.layer.common.inputs[1].dims[-2:]
        return dims[:: -1 if self.by_rows is not self.exchanged else 1]


@dataclass(frozen=True, slots=True)
class PackedWeights:
    """A constant of few bits and the layers that unpack it.

    Attributes:
        model: that holds them.
        graph: of the model, that they are in.
        constant: of integers of 8 or 4 bits, or nf4.
        last: the last layer that converts, shifts or scales it.
        subtracted: the constant that is subtracted, if there is one.
        zeros: the sizes of what is subtracted.
        scale: the sizes of the scale; None without one.
        readers: what computes with it, behind layers that change the shape alone.
        origins: of layers that change the shape alone, by id: the layer whose output they have.
    """

    model: Model
    graph: Graph
    constant: Layer
    last: Layer
    subtracted: Layer | None
    zeros: Sequence[int]
    scale: Sequence[int] | None
    readers: Sequence[_Reader]
    origins: dict[int, Layer | None]

    @classmethod
    def of(cls, model: Model, graph: Graph, constant: Layer, origins: dict[int, Layer | None]) -> Self | None:
        """Return what is known of a constant; None if it is not of few bits or nothing converts it, nor square.

        `origins`: empty, or those that calls for other constants have found in the graph as it is. Without them a
        chain that many constants have in common would be followed from each, in quadratic time.
        """
        if not constant.common.outputs:
            return None
        square = _is_square(constant)
        if _kind(constant) not in KINDS and not square:
            return None
        layer, passed = constant, 0
        subtracted: Layer | None = None
        zeros: Sequence[int] = ()
        scale: Sequence[int] | None = None
        while passed < FAR and len(readers := consumers_of(graph, layer)) == 1:
            reader, port = graph.layer(readers[0][0]), readers[0][1]
            sources = graph.sources(reader.id) if reader.type in SCALING else {}
            others = [source for number, source in sources.items() if number != port]
            held = _held(graph, others[0], origins) if len(others) == 1 else None
            if reader.type == "Multiply" and held is not None:
                scale = graph.layer(others[0].layer).port(others[0].port).dims
            elif held is not None and _shifts_first(reader, port):
                subtracted, zeros = held, graph.layer(others[0].layer).port(others[0].port).dims
            elif layer is not constant or reader.type != "Convert":
                break
            layer, passed = reader, passed + 1
        return (
            None
            if layer is constant and not square
            else cls(model, graph, constant, layer, subtracted, zeros, scale, [*_readers(graph, layer)], origins)
        )

    @property
    def uses(self) -> frozenset[str]:
        """What decides about how releases unpack it.

        `number`: one number scales what data are multiplied by, for several outputs, `number of groups`: rows of
        groups, `single`: for one output; `groups of one`: groups of one output
        have scales of their own; `quantized`: data of a FakeQuantize; `output`: each output has a scale, `sum`:
        it is scaled along the axis that is summed, `each`: each number has a scale; `vector`: scaled for data of one
        dimension; `first`: it is the scaled first input; `both ways`: it is transposed for one of several products,
        `square both ways`: floats, as many rows as columns; `deep`: the data have more than three dimensions;
        `batched`: there are several scaled matrices, or one with an axis for them, made of groups, which no other use
        is about;
        `zeros along the sum`, `zeros one by one`: numbers are subtracted along the axis that is summed, one from each;
        `bytes one by one`: such ones of the type of the weights, which one number scales or one for each output;
        `shared by groups`: several groups of an output have one scale, or one number that is subtracted; `signed
        zeros`: numbers of i4 are subtracted from i4, `one zero`: one number with axes is, `equal
        zeros`: several equal ones of u4 are from u4, `zero for
        many`: one number is, for more than four rows of data, `other rows`: a Reshape makes
        other rows of them; `scaled rows`: such rows are gathered, `scaled groups`: rows of
        groups that have their own scales, `columns`: rows whose columns are scaled; `computed`: the scale of what data
        are multiplied by is not a constant, or what is subtracted before; `number of a row`: one number, for data that
        may have one row; `lanes`: weights are signed, and outputs in more than a half of the last block are left; `rest
        of a sum`, `few products`, `short sum`, `longer sum`, `odd sum`, `odd short sum`, `up to three`: how many
        products without groups are added up for each;
        those that begin with `sequence`: weights of one.
        """
        seconds = [one for one in self.readers if one.second]
        products = [one for one in seconds if not self._is_batched(one)]
        gathers = [
            one for one in self.readers if one.layer.type == "Gather" and one.port == one.layer.common.inputs[0].id
        ]
        groups = self.scale or ()
        rows = {one.by_rows for one in products}
        vectors = [one for one in products if len(one.layer.common.inputs[0].dims) == 1]
        matrices = [one for one in products if one not in vectors]
        by_number = [one for one in products if self._scaled(one) == "number"]
        numbered = [one for one in by_number if one.sizes[-1:] != (1,)]
        many = [one for one in matrices if not one.has_few_rows]
        scaled = {self._scaled(one) for one in matrices}
        shifted = {self._way(one, self.zeros) for one in matrices if self.zero}
        signed = _kind(self.constant) in SIGNED
        summed, columns = self._counts(matrices)
        found = {
            **{way: way in scaled for way in ("output", "sum", "each")},
            "number": any(one in matrices for one in numbered),
            "vector": self.scale is not None and bool(vectors),
            "number of groups": len(self.constant.common.outputs[0].dims) > 2 and any(one.by_rows for one in numbered),
            "groups of one": len(groups) > 2 and any(prod(groups) > 1 and one.sizes[-1:] == (1,) for one in matrices),
            "single": len(numbered) < len(by_number),
            "quantized": all(map(self._is_quantized, products)),
            "first": self.scale is not None
            and any(one.layer.type == "MatMul" and not one.second for one in self.readers),
            "both ways": len(rows) > 1,
            "square both ways": len(rows) > 1 and _is_square(self.constant),
            "deep": any(len(one.layer.common.inputs[0].dims) > 3 for one in products),
            "batched": self.scale is not None and len(products) < len(seconds),
            "other rows": len(self.constant.common.outputs[0].dims) == 2
            and any(one.sizes[:: -1 if one.by_rows else 1] != self.constant.common.outputs[0].dims for one in matrices),
            "zeros along the sum": "sum" in shifted,
            "zeros one by one": "each" in shifted,
            "bytes one by one": "each" in shifted
            and _kind(self.constant) == self.zero
            and scaled <= {"number", "output"},
            "shared by groups": any(
                self._is_shared(one, given) for one in matrices for given in (groups, self.zeros) if prod(given) > 1
            ),
            "one zero": bool(products) and self.zero in KINDS and len(self.zeros) > 1 and prod(self.zeros) == 1,
            "equal zeros": bool(products) and self._has_equal_zeros,
            "signed zeros": bool(products) and self.zero == _kind(self.constant) == "i4",
            "computed": self.scale is None and _is_scaled(self.graph, self.last),
            "lanes": signed and not self.zero and any(size % LANES > LANES // 2 for size in columns),
            "rest of a sum": any(map(self._leaves_rest, summed)),
            "few products": any(2 < size < LANES // 2 for size in self._counts(many, grouped=True)[0]),
            "zero for many": bool(many) and bool(self.zero) and prod(self.zeros) == 1,
            "odd sum": any(size % 2 and size > LANES // 2 for size in self._counts(many)[0]),
            "odd short sum": any(size % 2 and LANES // 4 < size < LANES // 2 for size in self._counts(many)[0]),
            "up to three": any(0 < size < 4 for size in summed),
            "short sum": not summed.isdisjoint({5, 6, 7, *range(9, LANES // 2)}),
            "longer sum": any(LANES // 2 < size < LANES for size in summed),
            "number of a row": any(one.has_one_row for one in numbered),
            "columns": any(self._scaled(one) == "sum" for one in gathers),
            "scaled rows": self.scale is not None and bool(gathers),
            "scaled groups": bool(gathers) and len(groups) > 2 and groups[-2] > 1,
        }
        more = set().union(*map(self._in_sequence, self.readers))
        return frozenset(name for name, holds in found.items() if holds) | more

    @property
    def kind(self) -> str:
        """The element type of the constant."""
        return _kind(self.constant)

    @property
    def zero(self) -> str:
        """The element type of the constant that is subtracted; empty if there is none."""
        return "" if self.subtracted is None else _kind(self.subtracted)

    @property
    def stored(self) -> Array | None:
        """The numbers of the constant; None if they are missing."""
        return self._values(self.constant)

    @property
    def shifts(self) -> Array | None:
        """The numbers that are subtracted, before they are converted; None without any, or if they are missing."""
        return None if self.subtracted is None else self._values(self.subtracted)

    def _values(self, constant: Layer) -> Array | None:
        with suppress(ReadError):
            return values(constant.raw, self.model.weights)
        return None

    @property
    def _has_equal_zeros(self) -> bool:
        """Whether several equal numbers of u4 are subtracted from numbers of u4."""
        found = self.shifts if self.zero == _kind(self.constant) == "u4" else None
        return found is not None and found.size > 1 and bool((found == found.flat[0]).all())

    def scaling(self, product: Layer) -> str:
        """Return how weights of a product are scaled: see `_scaled`; empty if it does not multiply by them."""
        return next((self._scaled(one) for one in self.readers if one.second and one.layer.id == product.id), "")

    def shifting(self, product: Layer) -> str:
        """Return how weights of a product are shifted: see `_way`; empty if it does not multiply by them."""
        readers = (one for one in self.readers if one.second and one.layer.id == product.id)
        return next((self._way(one, self.zeros) for one in readers), "")

    def _is_batched(self, reader: _Reader) -> bool:
        """Return whether it multiplies by several matrices, or by one of groups that has further axes."""
        grouped = len(self.constant.common.outputs[0].dims) > len(reader.layer.common.inputs[1].dims)
        return prod(reader.batches) > 1 or (grouped and bool(reader.batches))

    def _in_sequence(self, reader: _Reader) -> set[str]:
        """Return which of the uses that begin with `sequence` fit for a sequence of a recurrent network.

        With a FakeQuantize somewhere, which is not looked for, releases do not fold its weights; with one in front of
        its data, they compute in 8 bits, if all of its weights are of that, and its state is known or quantized.
        """
        if reader.layer.type not in SEQUENCES:
            return set()
        sources = self.graph.sources(reader.layer.id)
        ports = [port.id for port in reader.layer.common.inputs]
        state, *weights = (_origin(self.graph, sources.get(port), self.origins) for port in (ports[1], *ports[-3:-1]))
        scaled = all(one is not None and one.type in SCALING for one in weights)
        known = state is not None and role_of(state) is Role.CONSTANT
        packed = state is not None and state.type in SCALING
        quantized = [_is_carried(self.model, self.graph, sources.get(port)) for port in ports[:2]]
        in_bytes = quantized[0] and scaled and (known or quantized[1])
        both_ways = reader.layer.common.raw.get("direction") == "bidirectional"
        found = {
            "sequence in bytes": in_bytes and (known or not both_ways),
            "sequence from a state": in_bytes and known,
            "sequence from a packed state": packed and quantized[0] and scaled,
            "sequence in part": not in_bytes and not packed,
            "sequence both ways": both_ways,
        }
        return {name for name, holds in found.items() if holds}

    def _counts(self, products: Sequence[_Reader], *, grouped: bool = False) -> tuple[set[int], set[int]]:
        """Return how many products are added up for an element of an output, and how many columns it has.

        Without groups, unless they may be `grouped`.

        Of those whose weights are unpacked for a matrix: with one scale for each output or for all, and without numbers
        that are subtracted from signed ones. A sum for one output alone does not count.
        """
        if self.zero in SIGNED:
            return set(), set()
        sizes = [one.sizes for one in products if self._scaled(one) in {"number", "output"} and len(one.sizes) == 2]
        left_out = len(self.constant.common.outputs[0].dims) > 2 and not grouped
        return set() if left_out else {size[0] for size in sizes if size[-1] != 1}, {size[-1] for size in sizes}

    def _leaves_rest(self, summed: int) -> bool:
        """Return whether so many products leave some behind the last block that are added up otherwise."""
        rest = summed % LANES
        if "4" in _kind(self.constant):
            return summed % 8 == 6 or (rest != 0 and summed > LANES)
        return 0 < rest < LANES // 2 and summed > LANES

    @property
    def turns(self) -> bool:
        """Whether the products read matrices, which no layer on the way to one that does not transpose transposes."""
        products = [one for one in self.readers if one.second]
        ports = [one.layer.common.inputs[1] for one in products]
        straight = all(one.by_rows or not one.exchanged for one in products)
        return straight and all(len(port.dims) == 2 and min(port.dims) > 0 for port in ports)

    def unpacked(self) -> Array | None:
        """Return the numbers that the layers make of the constant; None if one of them is not known."""
        return _computed(self.graph, self.last, self.model)

    def _scaled(self, reader: _Reader) -> str:
        """Return how weights are scaled, as of `_way`; empty without a scale."""
        return "" if self.scale is None else self._way(reader, self.scale)

    def _way(self, reader: _Reader, given: Sequence[int]) -> str:
        """Return what shifts or scales weights: one `number`, one for each `output`, along the `sum`, or for `each`."""
        if prod(given) == 1:
            return "number"
        sizes = self._aligned(given)[reader.batch :]
        outputs, summed = (0, -1) if reader.by_rows else (-1, -2)
        if len(sizes) < 2 or sizes[outputs] == 1:
            return "sum"
        return "output" if sizes[summed] == 1 else "each"

    def _aligned(self, given: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of what shifts or scales weights, with as many axes as these."""
        return (*(1,) * (len(self.constant.common.outputs[0].dims) - len(given)), *given)

    def _is_shared(self, reader: _Reader, given: Sequence[int]) -> bool:
        """Return whether several groups of weights for an output have one number that shifts or scales them."""
        groups = slice(1, -1) if reader.by_rows else slice(0, -2)
        several = prod(self.constant.common.outputs[0].dims[groups]) > prod(self._aligned(given)[groups])
        return several and self._way(reader, given) == "output"

    def _is_quantized(self, reader: _Reader) -> bool:
        """Return whether the weights multiply data that a FakeQuantize gives: all is computed in 8 bits then."""
        source = self.graph.source(reader.layer.id, reader.layer.common.inputs[0].id)
        origin = _origin(self.graph, source, self.origins)
        return origin is not None and origin.type == "FakeQuantize"


def _is_square(constant: Layer) -> bool:
    dims = constant.common.outputs[0].dims
    return _kind(constant) in FLOATS and len(dims) == 2 and dims[0] == dims[1] > 1


def _kind(constant: Layer) -> str:
    return constant.common.raw.get("element_type", "").lower()


def _held(graph: Graph, source: Source, origins: dict[int, Layer | None]) -> Layer | None:
    """Return the constant that a tensor is, or is converted of."""
    origin = _origin(graph, source, origins)
    return origin if origin is not None and role_of(origin) is Role.CONSTANT else None


def _origin(graph: Graph, source: Source | None, origins: dict[int, Layer | None]) -> Layer | None:
    """Return the layer that makes a tensor, before those that change its shape alone; None if nothing feeds them."""
    passed = list[int]()
    found: Layer | None = None
    while source is not None:
        found = graph.layer(source.layer)
        if found.type not in SHAPING:
            break
        if found.id in origins:
            found = origins[found.id]
            break
        passed.append(found.id)
        source = graph.source(found.id, found.common.inputs[0].id) if found.common.inputs else None
        found = None
    origins.update(dict.fromkeys(passed, found))
    return found


def _is_carried(model: Model, graph: Graph, source: Source | None) -> bool:
    """Return whether a tensor has elements of one that a FakeQuantize gives, from 0 on if a ReLU is behind it."""
    passed, cut = 0, False
    while source is not None and passed < FAR:
        layer, passed = graph.layer(source.layer), passed + 1
        if layer.type not in CARRYING:
            return layer.type == "FakeQuantize" and (not cut or number_of(model, graph, layer, 3) == 0)
        cut = cut or layer.type == "ReLU"
        source = graph.source(layer.id, layer.common.inputs[0].id) if layer.common.inputs else None
    return False


def _readers(graph: Graph, layer: Layer) -> Iterator[_Reader]:
    """Yield what computes with the output of a layer, behind layers that change its shape alone."""
    behind, passed = [(layer, False)], 0
    while behind and passed < FAR:
        (shaped, exchanged), passed = behind.pop(), passed + 1
        for number, port in consumers_of(graph, shaped):
            reader = graph.layer(number)
            if reader.type in SHAPING:
                behind.append((reader, exchanged is not (reader.type == "Transpose")))
            elif reader.type not in {"MatMul", "Gather"} or len(reader.common.inputs) > 1:
                yield _Reader(reader, port, exchanged)


def _shifts_first(reader: Layer, port: int) -> bool:
    """Return whether a layer subtracts from what it reads at a port."""
    return reader.type == "Subtract" and port == reader.common.inputs[0].id


def _is_scaled(graph: Graph, layer: Layer) -> bool:
    """Return whether layers that shift and scale, by whatever, lead from a layer to a MatMul that multiplies by it."""
    scaled, passed = False, 0
    while passed < FAR and len(readers := consumers_of(graph, layer)) == 1:
        reader = graph.layer(readers[0][0])
        if reader.type != "Multiply" and not _shifts_first(reader, readers[0][1]):
            break
        scaled, passed = scaled or reader.type == "Multiply", passed + 1
        layer = reader
    return scaled and any(one.second for one in _readers(graph, layer))


def _computed(graph: Graph, layer: Layer, model: Model) -> Array | None:
    """Return what a layer gives that is computed of constants; None if an operation or an input is not known."""
    if role_of(layer) is Role.CONSTANT:
        return values(layer.raw, model.weights)
    op, sources = find_op(layer.type, layer.version), sources_of(graph, layer)
    attrs = None if op is None else op.read(layer.common.raw, [])
    feeds = [None if source is None else _computed(graph, graph.layer(source.layer), model) for source in sources]
    known = [feed for feed in feeds if feed is not None]
    if op is None or op.kernel is None or attrs is None or len(known) < len(feeds):
        return None
    with suppress(*SURPRISES):
        found: Array = op.kernel(attrs, known)[0]
        return found
    return None
