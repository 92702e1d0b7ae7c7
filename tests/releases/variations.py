"""Every operation in every variation of a kind.

`python -m tests.releases.variations KIND RELEASE... [OPERATION...] [SEED]` tells where `compat` is wrong about a layer
of `tests.ops.samples` that is changed in one thing; kinds are those of `VARIATIONS`, and `several` changes two or more.
Other than random models they leave nothing out: what a release does with the edges of a setting is seen.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

import ir_tools
from ir_tools.builder import Builder
from ir_tools.errors import IrToolsError
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.ops import Array, Op, Role
from ir_tools.ops.fields import Flag, Float, Int, Ints, OneOf
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.validation import validate
from tests.ops.samples import Sample, resized, sample_of, sizes_in
from tests.releases.measure import reference
from tests.releases.pairs import LEFT_OUT, Clients, are_defined, pair_of
from tests.releases.questions import OPS, Question, planned

__all__ = ["VARIATIONS", "Layer", "asked", "layers"]

Neighbour = Callable[[Builder, Source], Source]


def _same(builder: Builder, source: Source) -> Source:
    return source


@dataclass(frozen=True)
class Layer:
    """A layer, which of its inputs are constants, what Parameters say of a size, and the layers around it."""

    op: Op
    sample: Sample
    about: str
    constants: frozenset[int] = frozenset()
    given: frozenset[int] = frozenset()
    size: Callable[[int], str] = str
    before: Neighbour = _same
    after: Neighbour = _same

    def question(self, version: int) -> Question:
        """Return the layer with its inputs as a model.

        Raises:
            IrToolsError: the inputs do not fit.
        """
        builder, fed, sources = Builder(), dict[str, Array](), list[Source]()
        for number, (slot, array) in enumerate(zip(self.sample.slots, planned(self.op, self.sample), strict=True)):
            held = number not in self.given if isinstance(slot, np.ndarray) else number in self.constants
            if held:
                sources.append(builder.constant(array))
                continue
            kind = slot[0] if isinstance(slot, tuple) else ir_tools.types.from_dtype(array.dtype)
            source = builder.parameter(f"in{number}", ",".join(map(self.size, array.shape)), kind)
            fed[f"in{number}"] = array
            sources.append(self.before(builder, source) if array.dtype == np.float32 else source)
        for output in builder.unchecked(self.op, self.sample.raw, sources, "op"):
            is_float = builder.fact(output).dtype.name == "f32"
            builder.result(self.after(builder, output) if is_float else output)
        builder.model.version = version
        return Question(
            f"{self.op} {self.about}", "", version, render(builder.model), b"".join(builder.model.weights.tail()), fed
        )


# --- variations -------------------------------------------------------------------------------------------------


def _shapes(layer: Layer) -> dict[int, tuple[str, list[str]]]:
    """Return the element types and sizes of the inputs that are not constants."""
    slots = enumerate(layer.sample.slots)
    return {number: (slot[0], _dims(slot[1])) for number, slot in slots if isinstance(slot, tuple)}


def _other(layer: Layer, slots: Mapping[int, tuple[str, str] | Array], about: str) -> Layer:
    """Return the layer with other inputs."""
    changed = [slots.get(number, slot) for number, slot in enumerate(layer.sample.slots)]
    return replace(layer, sample=Sample(layer.sample.raw, tuple(changed)), about=about)


def _dims(text: str) -> list[str]:
    return [size for size in text.split(",") if size]


def _of_size(new: str, layer: Layer) -> Iterator[Layer]:
    """Yield the layer with each of its sizes changed: in all inputs, in one, and along an axis of all of a rank."""
    for old in sizes_in(layer.sample):
        yield replace(layer, sample=resized(layer.sample, old, new), about=f"{old} is {new}")
    shapes = _shapes(layer)
    for number, (_, dims) in shapes.items():
        for axis in range(len(dims)):
            for numbers in ([number], [other for other, (_, sizes) in shapes.items() if len(sizes) == len(dims)]):
                changed = {
                    one: (shapes[one][0], ",".join([*shapes[one][1][:axis], new, *shapes[one][1][axis + 1 :]]))
                    for one in numbers
                }
                yield _other(layer, changed, f"axis {axis} of {numbers} is {new}")


def _unknown(layer: Layer) -> Iterator[Layer]:
    """Yield the layer with sizes that are not known, or known to be in an interval."""
    for text in ("?", "1..{n}0", "..{n}", "{n}.."):
        yield replace(layer, about=text.format(n="n"), size=partial(_size, text))


def _size(text: str, size: int) -> str:
    return text.format(n=size)


def _of_rank(layer: Layer) -> Iterator[Layer]:
    """Yield the layer with an axis more in front or behind, and with one less in front, of all inputs and of each."""
    shapes = _shapes(layer)
    for numbers in {tuple(shapes), *((number,) for number in shapes)}:
        for about, change in (
            ("2 in front", lambda dims: ["2", *dims]),
            ("1 in front", lambda dims: ["1", *dims]),
            ("1 behind", lambda dims: [*dims, "1"]),
            ("1,1 in front", lambda dims: ["1", "1", *dims]),
            ("2,1,3 in front", lambda dims: ["2", "1", "3", *dims]),
            ("none in front", lambda dims: dims[1:]),
        ):
            changed = {one: (shapes[one][0], ",".join(change(shapes[one][1]))) for one in numbers}
            yield _other(layer, changed, f"{about} of {numbers}")


def _typed(layer: Layer) -> Iterator[Layer]:
    """Yield the layer with another element type in place of each."""
    shapes = _shapes(layer)
    for old, new in product(sorted({dtype for dtype, _ in shapes.values()}), TYPES):
        changed = {number: (new, ",".join(dims)) for number, (dtype, dims) in shapes.items() if dtype == old}
        yield _other(layer, changed, f"{old} is {new}")


def _held(layer: Layer) -> Iterator[Layer]:
    """Yield the layer with some of its inputs as constants, and with constants that are inputs."""
    fed = [*_shapes(layer)]
    for count in range(1, min(len(fed), 4)):
        for numbers in combinations(fed, count):
            yield replace(layer, constants=frozenset(numbers), about=f"{numbers} constant")
    constants = [number for number in range(len(layer.sample.slots)) if number not in fed]
    for numbers in {*((number,) for number in constants), tuple(constants)} - {()}:
        yield replace(layer, given=frozenset(numbers), about=f"{numbers} given")


def _set(layer: Layer) -> Iterator[Layer]:
    """Yield the layer with other values of its attributes and of its constants of integers."""
    for number, slot in enumerate(layer.sample.slots):
        if isinstance(slot, np.ndarray) and slot.dtype.kind in "iu":
            yield from (_other(layer, {number: one}, f"in{number} is {one.tolist()}") for one in _integers(slot))
    for name, spec in layer.op.attrs.items():
        key = spec.xml or name
        for text in _texts(spec, layer.sample.raw.get(key)):
            yield replace(
                layer, sample=Sample({**layer.sample.raw, key: text}, layer.sample.slots), about=f"{key}={text}"
            )


def _integers(array: Array) -> Iterator[Array]:
    if array.ndim == 0:
        yield from (np.array(value, array.dtype) for value in (-2, -1, 0, 1, 2, 3))
    elif array.ndim == 1 and array.size <= 4:
        for index, value in product(range(array.size), (-1, 0, 1, 2, 3)):
            found = array.copy()
            found[index] = value
            yield found
        for count in range(5):
            yield from (np.array(values, array.dtype) for values in combinations(range(4), count))


def _texts(spec: object, text: str | None) -> Iterator[str]:
    if isinstance(spec, OneOf):
        yield from spec.words
    elif isinstance(spec, Flag):
        yield from ("true", "false")
    elif isinstance(spec, Int):
        yield from ("-2", "-1", "0", "1", "2", "3")
    elif isinstance(spec, Float):
        yield from ("-1", "0", "0.5", "1", "1e-12", "1e30")
    elif isinstance(spec, Ints):
        yield from map(",".join, product(("0", "1", "2"), repeat=min(len(_dims(text or "0,0")), 3)))


def _beside(layer: Layer) -> Iterator[Layer]:
    """Yield the layer with another before or behind it."""
    for name, neighbour in NEIGHBOURS.items():
        yield replace(layer, before=neighbour, about=f"behind {name}")
        yield replace(layer, after=neighbour, about=f"before {name}")


def _unary(name: str, **attributes: Any) -> Neighbour:
    return lambda builder, source: builder.call(name, source, **attributes)


def _by_number(name: str, value: float) -> Neighbour:
    return lambda builder, source: builder.call(name, source, np.array([value], np.float32))


def _by_channels(name: str) -> Neighbour:
    """Return a layer of a number for each channel, or for each element of a list."""

    def added(builder: Builder, source: Source) -> Source:
        sizes = [dim.size if dim.static else 1 for dim in builder.fact(source).shape or ()]
        channels = sizes[1] if len(sizes) > 1 else 1
        numbers = np.linspace(0.5, 2, channels, dtype=np.float32).reshape([channels, *[1] * (len(sizes) - 2)])
        return builder.call(name, source, numbers)

    return added


def _permuted(builder: Builder, source: Source) -> Source:
    return builder.call("Transpose", source, np.arange(len(builder.fact(source).shape or ()))[::-1].copy())


def _flattened(builder: Builder, source: Source) -> Source:
    return builder.call("Reshape", source, np.array([-1]), special_zero="false")


def _quantized(builder: Builder, source: Source) -> Source:
    limits = [np.array(value, np.float32) for value in (-12.7, 12.7) * 2]
    return builder.call("FakeQuantize", source, *limits, levels=255)


NEIGHBOURS: Mapping[str, Neighbour] = {
    **{
        name: _unary(name)
        for name in ("ReLU", "Sigmoid", "Exp", "Swish", "Tanh", "Sqrt", "Negative", "SoftPlus", "Gelu")
    },
    "Clamp": _unary("Clamp", min=0.1, max=6),
    "Convert": _unary("Convert", destination_type="f16"),
    "ConvertToIntegers": _unary("Convert", destination_type="i32"),
    **{f"{name} {value}": _by_number(name, value) for name in ("Multiply", "Add", "Power") for value in (2, 0.5)},
    "Maximum 0": _by_number("Maximum", 0),
    "PReLU": _by_number("PReLU", 0.1),
    **{f"{name} of channels": _by_channels(name) for name in ("Multiply", "Add", "PReLU", "Divide")},
    "Transpose": _permuted,
    "Reshape": _flattened,
    "FakeQuantize": _quantized,
}

TYPES = ("f16", "bf16", "f64", "i32")


def _several(layer: Layer, seed: int = 0) -> Iterator[Layer]:
    """Yield the layer changed in two or three things, each a variation of another kind, drawn at random.

    No size becomes 0: what is made of nothing says little of the other change.
    """
    kinds, drawn = (
        [name for name in VARIATIONS if name not in {"empty", "several"}],
        random.Random(f"{seed} {layer.op}"),
    )
    for _ in range(40):
        found, said = layer, []
        for kind in drawn.sample(kinds, drawn.choice((2, 2, 3))):
            variations = [*VARIATIONS[kind](found)]
            if variations:
                found = drawn.choice(variations)
                said.append(found.about)
        yield replace(found, about="; ".join(said))


VARIATIONS: Mapping[str, Callable[[Layer], Iterator[Layer]]] = {
    "empty": partial(_of_size, "0"),
    "single": partial(_of_size, "1"),
    "unknown": _unknown,
    "ranks": _of_rank,
    "types": _typed,
    "constants": _held,
    "settings": _set,
    "neighbours": _beside,
    "several": _several,
}


# --- answers ----------------------------------------------------------------------------------------------------


def layers(kind: str, types: Collection[str] = (), seed: int = 0) -> Iterator[Layer]:
    """Yield the variations of a kind of all operations, or of those of the types; a seed draws those of `several`."""
    vary = partial(_several, seed=seed) if kind == "several" else VARIATIONS[kind]
    for op in OPS:
        sample = sample_of(op)
        if op.role is not Role.COMPUTATION or op.type in LEFT_OUT or sample is None or (types and op.type not in types):
            continue
        known = {key: value for key, value in sample.raw.items() if key in op.fields}
        yield from vary(Layer(op, Sample(known, sample.slots), ""))


def asked(layer: Layer, version: int) -> Question | None:
    """Return the question of a layer; None if it is not valid or its values are not defined.

    Values that are given have to be valid as constants, too.
    """
    question = _valid(layer, version)
    if question is None or not question.fed or (layer.given and not _valid(replace(layer, given=frozenset()), version)):
        return None
    return question if _gives_numbers(question) else None


def _valid(layer: Layer, version: int) -> Question | None:
    try:
        question = layer.question(version)
        model = ir_tools.read(question.xml, question.weights)
    except (IrToolsError, ValueError):
        return None
    sound = not any(found.severity == "error" for found in validate(model)) and are_defined(model, question.fed)
    return question if sound else None


def _gives_numbers(question: Question) -> bool:
    """Return whether the reference computes a model, and its outputs are numbers; what is none becomes anything."""
    outputs = reference(question)
    return bool(outputs) and not any(np.isnan(output).any() for output in outputs if output.dtype.kind == "f")


def main(kind: str, releases: Collection[Release], types: Collection[str], seed: int) -> None:
    """Print what is wrong, and how much."""
    right = count = runs = 0
    with Clients() as clients:
        for layer in layers(kind, types, seed):
            versions = {min(release.reads[1], 11) for release in releases}
            questions = {version: asked(layer, version) for version in versions}
            for release in releases:
                question = questions[min(release.reads[1], 11)]
                pair = None if question is None else pair_of(question, release, clients, by_reference=True)
                if pair is None:
                    continue
                count, right = count + 1, right + pair.right
                if not pair.right:
                    runs += pair.said.answer.name == "RUNS"
                    print(
                        f"{release.name}: {pair.said.answer}, does {pair.does.name}: {pair.question.about}", flush=True
                    )
    print(f"{right} of {count} right, {runs} false `runs`")


if __name__ == "__main__":
    NAMED = {release.name: release for release in OPENVINO}
    WORDS = sys.argv[2:]
    SEED = sum(int(word) for word in WORDS if word.isdecimal())
    TYPES_OF = [word for word in WORDS if word not in NAMED and not word.isdecimal()]
    main(sys.argv[1], [NAMED[word] for word in WORDS if word in NAMED], TYPES_OF, SEED)
