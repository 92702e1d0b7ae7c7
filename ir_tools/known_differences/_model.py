"""Minimal models: a layer with what feeds it, written down as data, and the IR of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.builder import Builder
from ir_tools.graph import Graph, Model, Source
from ir_tools.ops import Array, Attrs, Op, Role, ops_of, opset_number, role_of
from ir_tools.types import Dim

__all__ = [
    "LINE",
    "MAX_EXACT",
    "PLANE",
    "Body",
    "Branches",
    "Call",
    "Feed",
    "Fixed",
    "Given",
    "Part",
    "as_model",
    "converted",
    "counted",
    "floats",
    "index",
    "number",
    "sizes_of",
    "whole",
]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant. `kind`: its element type, where numpy has none for it; `array` then holds the packed bytes."""

    array: Array
    kind: str = ""
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A Parameter of a partial shape (`1..3,?`), and what it is fed; a bare array is one of its own shape.

    `shown`: whether it is also an output of the model.
    """

    array: Array
    shape: str
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """An input of a body, by the number of the input of the layer that the body belongs to."""

    number: int


@dataclass(frozen=True, slots=True)
class Body:
    """What a TensorIterator repeats.

    Its first inputs are cut along the first axis into parts of one element, the next ones are states, and others stay
    the same. Its outputs are the parts that the body gives, joined along that axis, and then the states.

    Attributes:
        cut: how many inputs are cut.
        states: the next states.
        joined: the parts that it gives.
    """

    cut: int
    states: tuple[Feed, ...]
    joined: tuple[Feed, ...]


@dataclass(frozen=True, slots=True)
class Branches:
    """What an If gives that reads its condition and one other input, which is the first input of both bodies."""

    then: Feed
    otherwise: Feed


@dataclass(frozen=True, slots=True)
class Call:
    """A layer: the operation (`Tile-1`), `<data>` as text, what feeds it, and which of its outputs have a Result.

    An input is an array (a Parameter of this shape), a constant, or an output of another layer, the one that it
    `gives`. None for the Results: all outputs of the last layer have one, and none of others. A TensorIterator has a
    body, an If has two. What the last layer has as `kept` is what variables of the model keep, by id, or None for one
    without an Assign; others keep what they hold.
    """

    op: str
    inputs: tuple[Feed, ...]
    raw: Mapping[str, str] = field(default_factory=dict)
    results: tuple[int, ...] | None = None
    gives: int = 0
    body: Body | Branches | None = None
    kept: Mapping[str, Feed | None] = field(default_factory=dict)

    @property
    def operation(self) -> Op:
        """What the table of operations says of it."""
        type, _, version = self.op.rpartition("-")
        return next(op for op in ops_of(type) if op.version == int(version))

    @property
    def attrs(self) -> Attrs:
        """The typed attributes."""
        attrs = self.operation.read(self.raw, [])
        assert attrs is not None, self.op
        return attrs


Feed = Array | Given | Fixed | Part | Call
"""What feeds an input."""


def as_model(call: Call) -> tuple[Model, dict[str, Array]]:
    """Return the call as a model of IR v11 with a Result for its outputs, and what its Parameters are fed."""
    builder, fed, known = Builder(name="minimal"), dict[str, Array](), dict[Hashable, tuple[Source, ...]]()
    outputs = _called(builder, call, fed, known)
    kept = {
        name: None if feed is None else _fed(builder, "value", feed, fed, known) for name, feed in call.kept.items()
    }
    reads = (layer for layer in builder.graph.layers() if role_of(layer) is Role.READ_VARIABLE)
    for layer in sorted(reads, key=lambda layer: layer.raw["variable_id"]):
        value = kept.get(layer.raw["variable_id"], Source(layer.id, layer.outputs[0].id))
        if value is None:
            continue
        assign = next(op for op in ops_of("Assign") if op.version == opset_number(layer.version))
        builder.unchecked(assign, {"variable_id": layer.raw["variable_id"]}, (value,), assign.type)
    for number in range(len(outputs)) if call.results is None else call.results:
        builder.result(outputs[number], f"output{number}")
    return builder.model, fed


def _called(
    builder: Builder, call: Call, fed: dict[str, Array], known: dict[Hashable, tuple[Source, ...]]
) -> tuple[Source, ...]:
    """Add the layers of a call; the arrays of its Parameters go to `fed`. One that is read twice is added once.

    So are constants, and a call that was replaced by one that gives another output.
    """
    key = call.op, id(call.inputs), id(call.raw)
    if key in known:
        return known[key]
    op = call.operation
    slots = [*op.inputs, *op.inputs[-1:] * len(call.inputs)]
    sources = [_fed(builder, slot.name, feed, fed, known) for slot, feed in zip(slots, call.inputs, strict=False)]
    made = known[key] = (
        builder.unchecked(op, call.raw, sources, op.type)
        if call.body is None
        else _repeated(builder, call.body, sources)
        if isinstance(call.body, Body)
        else _chosen(builder, call.body, sources)
    )
    return made


def _repeated(builder: Builder, body: Body, sources: Sequence[Source]) -> tuple[Source, ...]:
    """Add a TensorIterator."""
    inside, facts = Builder(builder.model, graph=Graph()), [builder.fact(source) for source in sources]
    read = list[Source]()
    for number, fact in enumerate(facts):
        sizes = [str(dim) for dim in fact.shape or ()]
        read.append(
            inside.parameter(f"part{number}", ",".join(["1", *sizes[1:]] if number < body.cut else sizes), "f32")
        )
    known: dict[Hashable, tuple[Source, ...]] = {_inner(number): (source,) for number, source in enumerate(read)}
    states, joined = (
        [inside.result(_fed(inside, "data", feed, {}, known)) for feed in feeds] for feeds in (body.states, body.joined)
    )
    count = facts[0].shape[0] if facts[0].shape else Dim(0, None)
    given = [inside.fact(next(iter(inside.graph.sources(one.id).values()))) for one in joined]
    outputs = [replace(fact, shape=(count, *(fact.shape or ())[1:]), value=None) for fact in given]
    kept = range(body.cut, body.cut + len(states))
    made, feeds = builder.make(
        "TensorIterator", "TensorIterator", 1, {}, sources, [*outputs, *(facts[n] for n in kept)]
    )
    cut = {"axis": "0", "start": "0", "end": "-1", "stride": "1", "part_size": "1"}
    made.bodies["body"] = inside.graph
    made.content.mapping = {
        "port_map": [
            *(
                (
                    side,
                    {
                        "external_port_id": str(port.id),
                        **(cut if number < limit else {}),
                        "internal_layer_id": str(one),
                    },
                )
                for side, ports, limit, layers in (
                    ("input", made.inputs, body.cut, [source.layer for source in read]),
                    ("output", made.outputs, len(joined), [one.id for one in (*joined, *states)]),
                )
                for number, (port, one) in enumerate(zip(ports, layers, strict=True))
            )
        ],
        "back_edges": [
            ("edge", {"from-layer": str(one.id), "to-layer": str(read[number].layer)})
            for number, one in zip(kept, states, strict=True)
        ],
    }
    builder.graph.add(made, feeds)
    return tuple(Source(made.id, port.id) for port in made.outputs)


def _chosen(builder: Builder, branches: Branches, sources: Sequence[Source]) -> tuple[Source, ...]:
    """Add an If."""
    fact = builder.fact(sources[1])
    made, feeds = builder.make("If", "If", 8, {}, sources, [fact])
    for name, feed in (("then", branches.then), ("else", branches.otherwise)):
        inside = Builder(builder.model, graph=Graph(), opset=8)
        read = inside.parameter("part", ",".join(map(str, fact.shape or ())), "f32")
        result = inside.result(_fed(inside, "data", feed, {}, {_inner(1): (read,)}))
        made.bodies[f"{name}_body"] = inside.graph
        ends = (("input", "1", read.layer), ("output", str(made.outputs[0].id), result.id))
        made.content.mapping[f"{name}_port_map"] = [
            (side, {"external_port_id": port, "internal_layer_id": str(inner)}) for side, port, inner in ends
        ]
    builder.graph.add(made, feeds)
    return (Source(made.id, made.outputs[0].id),)


def _inner(number: int) -> int:
    """Return the key of an input of a body among layers that are known."""
    return -1 - number


def _fed(
    builder: Builder,
    name: str,
    feed: Feed,
    fed: dict[str, Array],
    known: dict[Hashable, tuple[Source, ...]],
) -> Source:
    """Add the layers that make one input."""
    if isinstance(feed, Part):
        return known[_inner(feed.number)][0]
    if isinstance(feed, Call):
        made = _called(builder, feed, fed, known)
        for number in feed.results or ():
            builder.result(made[number], f"{name}{number}")
        return made[feed.gives]
    if isinstance(feed, Fixed):
        if id(feed) not in known:
            shape = feed.shape if feed.kind else None
            known[id(feed)] = (builder.constant(feed.array, name, feed.kind or None, shape),)
        return known[id(feed)][0]
    given = feed if isinstance(feed, Given) else Given(feed, ",".join(map(str, feed.shape)))
    source = builder.parameter(name, given.shape, given.array.dtype)
    fed[builder.graph.layer(source.layer).name] = given.array
    if given.shown:
        builder.result(source, f"{name}/shown")
    return source


LINE, PLANE = (
    {"strides": ones, "pads_begin": zeros, "pads_end": zeros, "dilations": ones}
    for ones, zeros in (("1", "0"), ("1,1", "0,0"))
)
"""The attributes of a convolution along one axis, or two, at every position, without padding."""
MAX_EXACT = 1 << 24
"""f32 holds every integer up to here."""


def whole(*values: int) -> npt.NDArray[np.int64]:
    """Return an i64 list."""
    return np.array(values, np.int64)


def floats(*values: Any) -> npt.NDArray[np.float32]:
    """Return an f32 list."""
    return np.array(values, np.float32)


def number(value: float, dtype: npt.DTypeLike = np.float32) -> Array:
    """Return a single number."""
    return np.array(value, dtype)


def index(value: int) -> Array:
    """Return an i64 scalar."""
    return number(value, np.int64)


def converted(data: Feed, kind: str) -> Call:
    """Return data in another element type."""
    return Call("Convert-1", (data,), {"destination_type": kind})


def sizes_of(data: Feed) -> Call:
    """Return the sizes of data, i64."""
    return Call("ShapeOf-3", (data,), {"output_type": "i64"})


def counted(*sizes: int) -> npt.NDArray[np.float32]:
    """Return an f32 tensor of values that all differ."""
    return (np.arange(1, 1 + int(np.prod(sizes))) / 7).astype(np.float32).reshape(sizes)
