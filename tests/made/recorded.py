"""What becomes of made models, recorded: migrated, with other input shapes or records, paired with changed copies.

`python -m tests.made.recorded` writes `recorded.json`, in seconds: needed after a change that means to do something
else with them, or to make other models. What it writes is what the tests hold to be right: look at the difference
before it is committed.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from ir_tools.comparison._models import paired_models
from ir_tools.errors import IrToolsError, ShapeError, UsageError
from ir_tools.graph import Layer, Model, Port
from ir_tools.infer import propagate_shapes
from ir_tools.ops import Fact
from ir_tools.rewrite.migration import Migration, migrate
from ir_tools.validation import validate
from ir_tools.weights import values
from tests.comparison.mutations import Mutation, copied, rename, renumber, retrain, shuffle_names
from tests.made.models import model_of
from tests.tables import save

FILE = Path(__file__).with_name("recorded.json")
SEEDS = range(40)
TARGETS = (
    *("ir10", "ir11", "opset1", "opset8"),
    *("openvino-2021.4", "openvino-2022.1", "openvino-2023.3", "openvino-2024.6"),
)
SHAPES = ("1,4,6,6", "2,4,6,6", "1..3,4,9,?", "?,4,?,8", "2,3", None)
CHANGES: Sequence[Sequence[Mutation]] = ((renumber, rename), (renumber, rename, retrain), (shuffle_names,))
FACTS = re.compile(r"'[^']*'|\d[\d.]*")
"""What a note is about: names and numbers; its wording may change."""


def found(seed: int) -> dict[str, str]:
    """What becomes of one model, by target, and by what else is done to it."""
    return {
        **{target: migrated(migrate(model_of(seed), target)) for target in TARGETS},
        **{f"shapes {number}": _reshaped(seed, number) for number in range(4)},
        **{f"pairs {number}": _paired(seed, changes) for number, changes in enumerate(CHANGES)},
        **{f"records {number}": _doubted(seed, number) for number in range(10)},
    }


def _reshaped(seed: int, number: int) -> str:
    """What differs after new shapes of the inputs, or of none, or which layers cannot take them."""
    model, draw = model_of(seed), random.Random(f"{seed}/{number}")
    shapes = {end.name: draw.choice(SHAPES) for end in model.inputs if end.port.dims} if number else {}
    try:
        report = propagate_shapes(model, shapes, in_place=True)
    except ShapeError as why:
        return ", ".join(f"{one.code} {one.path} {one.attribute or ''}".strip() for one in why.diagnostics)
    except UsageError:
        return "not taken"
    known = ((place, fact.dtype.name, str(fact.shape), _limits(fact)) for place, fact in report.facts.items())
    rest = [*known, *report.origins.items(), *(one.path for one in report.diagnostics)]
    return (
        f"{len(report.mismatches)} {_digest(map(str, report.mismatches))} | {_digest(rest)} | {_digest(_facts(model))}"
    )


def _limits(fact: Fact) -> object:
    return None if fact.value is None else (fact.value.lower.tolist(), fact.value.upper.tolist())


def _paired(seed: int, changes: Sequence[Mutation]) -> str:
    """How many layers and tensors of a changed copy have a partner, and which."""
    twin, rng = copied(model_of(seed)), np.random.default_rng(seed)
    for change in changes:
        change(rng, twin)
    pairs = paired_models(model_of(seed), twin.model)
    layers = sorted((own, partner.id) for own, partner in pairs.layers.items())
    right = sum(twin.twins.get(own) == partner for own, partner in layers)
    sources = sorted((*own, *other) for own, other in pairs.sources.items())
    return f"{right} right of {len(layers)} {_digest(layers)} {_digest(sources)}"


def _doubted(seed: int, number: int) -> str:
    """What is found where one or two tensors have another record: at their output, at some of those who read it."""
    model, draw = model_of(seed), random.Random(f"{seed}/{number}")
    graphs = [*model.graphs()]
    for _ in range(draw.choice((1, 1, 2))):
        graph = draw.choice((graphs[0], *graphs))
        layer, port = draw.choice([(layer, port) for layer in graph.layers() for port in layer.outputs])
        read = [graph.layer(consumer).port(to) for consumer, to in graph.consumers(layer.id, port.id)]
        doubted = draw.choice(([port], read, [port, *read], draw.sample([port, *read], draw.randint(1, len(read) + 1))))
        name, value = draw.choice(_other_records(port))
        for each in doubted:
            setattr(each, name, value)
        if draw.random() < 0.2:
            layer.tag["type"] = draw.choice(("Custom", "ShapeOf", "Convert"))
    return " ".join(
        f"{one.code}{str(one.severity)[0]} {one.path} {_digest([one.attribute, FACTS.findall(one.message)])}"
        for one in validate(model)
        if one.code.startswith(("IR2", "IR3"))
    )


def _other_records(port: Port) -> Sequence[tuple[str, object]]:
    """What a port may record instead: sizes that are larger, not known, fewer or more, or another type."""
    dims = port.dims
    near = [(*dims[:at], size + 1, *dims[at + 1 :]) for at, size in enumerate(dims)]
    far = ((-1,) * len(dims), dims[1:], (*dims, 3), ())
    sizes = [("dims", other) for other in (*near, *far) if other != dims]
    kinds = ("FP32", "FP16", "I64", "BOOL", None)
    return [*sizes, *(("precision", kind) for kind in kinds if kind != port.precision)]


def _digest(entries: Iterable[object]) -> str:
    return f"{crc32(repr([*entries]).encode()):x}"


def migrated(migration: Migration) -> str:
    """Steps, refused layers, what the notes are about, and a digest of the model in one line."""
    steps = ", ".join(f"{step.path}: {step.before} {step.after}" for step in migration.steps)
    refused = ", ".join(f"{step.path}: {step.before} {step.attribute or ''}".strip() for step in migration.refused)
    remaining = ", ".join(layer.path for layer in migration.remaining)
    texts = [*migration.notes]
    texts += [note for step in migration.steps for note in step.notes]
    texts += [note for step in migration.refused for note in step.notes]
    notes = _digest(FACTS.findall(text) for text in texts)
    return f"{steps} | {refused} | {remaining} | {notes} | {_digest(_facts(migration.model))}"


def _facts(model: Model) -> Iterator[object]:
    """Everything that a file of the model says, but for the places of constants."""
    yield model.version
    for path, layer, graph in model.walk():
        raw = {key: text for key, text in layer.raw.items() if key != "offset"}
        sides = [(port.id, port.precision, port.dims, port.names) for port in (*layer.inputs, *layer.outputs)]
        sources = sorted((port, *source) for port, source in graph.sources(layer.id).items())
        yield path, layer.id, sorted(layer.tag.items()), raw, sides, sources, layer.rt_info, _numbers(layer, model)


def _numbers(layer: Layer, model: Model) -> str:
    if layer.type != "Const":
        return ""
    try:
        return repr(np.asarray(values(layer.raw, model.weights)).tolist())
    except IrToolsError:
        return "unreadable"


if __name__ == "__main__":
    save(FILE, {str(seed): found(seed) for seed in SEEDS})
