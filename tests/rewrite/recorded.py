"""What becomes of made models in migrations, recorded.

`python -m tests.rewrite.recorded` writes `recorded.json`, in seconds: needed after a change that means to migrate
otherwise, or to make other models. What it writes is what the tests of this folder hold to be right: look at the
difference before it is committed.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np

from ir_tools.errors import IrToolsError
from ir_tools.graph import Layer, Model
from ir_tools.rewrite.migration import Migration, migrate
from ir_tools.weights import values
from tests.rewrite.made_models import model_of

FILE = Path(__file__).with_name("recorded.json")
SEEDS = range(40)
TARGETS = (
    *("ir10", "ir11", "opset1", "opset8"),
    *("openvino-2021.4", "openvino-2022.1", "openvino-2023.3", "openvino-2024.6"),
)
FACTS = re.compile(r"'[^']*'|\d[\d.]*")
"""What a note is about: names and numbers; its wording may change."""


def found(seed: int) -> dict[str, str]:
    """What becomes of one model, by target."""
    return {target: shown(migrate(model_of(seed), target)) for target in TARGETS}


def shown(migration: Migration) -> str:
    """Steps, refused layers, what the notes are about, and a digest of the model in one line."""
    steps = ", ".join(f"{step.path}: {step.before} {step.after}" for step in migration.steps)
    refused = ", ".join(f"{step.path}: {step.before} {step.attribute or ''}".strip() for step in migration.refused)
    remaining = ", ".join(layer.path for layer in migration.remaining)
    texts = [*migration.notes]
    texts += [note for step in migration.steps for note in step.notes]
    texts += [note for step in migration.refused for note in step.notes]
    notes = crc32(repr([FACTS.findall(text) for text in texts]).encode()) if texts else 0
    return f"{steps} | {refused} | {remaining} | {notes:x} | {crc32(repr([*_facts(migration.model)]).encode()):x}"


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


def load() -> dict[str, dict[str, str]]:
    """What was recorded, by seed and target."""
    table: dict[str, dict[str, str]] = json.loads(FILE.read_text())
    return table


if __name__ == "__main__":
    FILE.write_text(json.dumps({seed: found(seed) for seed in SEEDS}, indent=1, ensure_ascii=False) + "\n")
