"""What many random layers of IR v2 to v7 become, and give, as a few digits for each, for tests without a runtime.

`python -m tests.legacy.recorded [TYPE...]` makes the layers again, holds the migrated ones against Inference Engine
2020.1, and writes `recorded.json`; after a change of the functions that make the layers, or of what steps say.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np

import ir_tools
from ir_tools.errors import IrToolsError
from ir_tools.ops.legacy import find_legacy
from ir_tools.releases.table import find_release
from ir_tools.runtime.environments import release_python
from ir_tools.runtime.legacy import LegacyClient
from tests.legacy.makers import MAKERS, VERSIONS, case
from tests.legacy.net import LegacyCase
from tests.ops.recorded import Number, digits_of, load, number_of, same, save

FILE = Path(__file__).with_name("recorded.json")
SEEDS, MAX_LAYERS = range(len(VERSIONS), 250), 20
"""Random layers of a type, of which at most so many are recorded: those that have something new. Those before are
compared with Inference Engine 2020.1 wherever it is."""
TRIES = 12
"""How often an attribute is taken away, to see whether it counts."""
ATTRIBUTE = re.compile(r' ([a-z][a-z_-]+)="[^"]*"(?=[^<>]*/>)')
Features = set[tuple[object, ...]]


def _chosen(name: str) -> Iterator[int]:
    """Yield the seeds of layers with an attribute, a rank or a step that those before have not, or that counts."""
    seen: Features = set()
    tried: Counter[str] = Counter()
    found = 0
    for seed in SEEDS:
        made = case(name, seed)
        wanted = {key for key in ATTRIBUTE.findall(made.xml) if tried[key] < TRIES and ("counts", key) not in seen}
        tried.update(wanted)
        features = _features(made) | {("counts", key) for key in wanted if _counts(made, key)}
        if found < MAX_LAYERS and not features <= seen:
            seen |= features
            found += 1
            yield seed


def _counts(made: LegacyCase, key: str) -> bool:
    """Return whether a layer without an attribute is another, and can be migrated."""
    before = numbers_of(made)
    with suppress(IrToolsError):
        after = numbers_of(replace(made, xml=re.sub(rf' {key}="[^"]*"', "", made.xml)))
        return len(after) == len(before) > 1 and not same(after, before)
    return False


def _features(made: LegacyCase) -> Features:
    model = made.model()
    found: Features = {(made.undefined, len(made.inputs), "FP16" in made.xml)}
    for layer in (one.layer for one in model.walk()):
        op = find_legacy(layer.type)
        attrs = op.read(layer.raw, []) if op else None
        found.add((layer.type, len(layer.inputs), len({port.dims for port in layer.inputs})))
        found |= {(layer.type, key, _kind(value)) for key, value in (attrs or {}).items()}
    migration = ir_tools.migrate(model)
    found |= {(step.before, step.after, len(step.notes)) for step in migration.steps}
    return found | {(step.before, step.attribute) for step in migration.refused}


def _kind(value: object) -> object:
    """Return what two values have in common between which it makes little difference."""
    if isinstance(value, tuple):
        return len(value) > 1, len(value) > 0
    return (value > 1, value > 0, value < 0) if isinstance(value, int | float) else value


def numbers_of(made: LegacyCase) -> list[Number]:
    """Return what the steps of a layer say, and its outputs where they are defined."""
    migration = ir_tools.migrate(made.model())
    numbers = [Number(digits_of([*map(astuple, migration.steps), *map(astuple, migration.refused)]))]
    if made.undefined or migration.refused:
        return numbers
    arrays = ir_tools.run(migration.model, made.inputs).values()
    return numbers + [number_of(array if made.mask is None else np.where(made.mask, 0, array)) for array in arrays]


def main(names: Sequence[str]) -> int:
    """Record what agrees with Inference Engine 2020.1, of all types or of those named; return 1 if some do not."""
    from tests.legacy.test_legacy import compare

    table, wrong = {**load(FILE)} if FILE.exists() else {}, 0
    with LegacyClient(release_python(find_release("inference-engine-2020.1")), timeout=60) as old:
        for name in names or MAKERS:
            table[name] = agreed = {}
            for seed in _chosen(name):
                made = case(name, seed)
                try:
                    compare(made, old, ir_tools.run)
                except AssertionError as why:
                    print(name, seed, str(why)[:1000], sep="\n", file=sys.stderr, flush=True)
                    wrong = 1
                else:
                    agreed[seed] = numbers_of(made)
    save(table, FILE)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
