"""What many random layers of IR v2 to v7 become, and give, as a few digits for each, for tests without a runtime.

`python -m tests.legacy.recorded [TYPE...]` makes the layers again, holds the migrated ones against Inference Engine
2020.1, and writes `recorded.json`; after a change of the functions that make the layers, or of what steps say.
"""

import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np

import ir_tools
from ir_tools.releases.table import find_release
from ir_tools.runtime.environments import release_python
from ir_tools.runtime.legacy import LegacyClient
from tests.legacy.makers import MAKERS, VERSIONS, case
from tests.legacy.net import LegacyCase
from tests.ops.recorded import Number, digits_of, load, number_of, save

FILE = Path(__file__).with_name("recorded.json")
SEEDS = range(len(VERSIONS), 3 * len(VERSIONS))
"""Those before are compared with Inference Engine 2020.1 wherever it is."""


def found(name: str) -> list[list[Number]]:
    """Return for each random layer of a type what its steps say, and its outputs where they are defined."""
    return [_numbers(case(name, seed)) for seed in SEEDS]


def _numbers(made: LegacyCase) -> list[Number]:
    migration = ir_tools.migrate(ir_tools.read(made.xml.encode(), made.weights))
    numbers = [Number(digits_of([*map(astuple, migration.steps), *map(astuple, migration.refused)]))]
    if made.undefined or migration.refused:
        return numbers
    arrays = ir_tools.run(migration.model, made.inputs).values()
    return numbers + [number_of(array if made.mask is None else np.where(made.mask, 0, array)) for array in arrays]


def main(names: Sequence[str]) -> int:
    """Record what agrees with Inference Engine 2020.1, of all types or of those named; return 1 if some do not."""
    from tests.legacy.test_legacy import compare

    table, wrong = load(FILE) if FILE.exists() else {}, 0
    with LegacyClient(release_python(find_release("inference-engine-2020.1")), timeout=60) as old:
        for name in names or MAKERS:
            try:
                for seed in SEEDS:
                    compare(case(name, seed), old, ir_tools.run)
            except AssertionError as why:
                print(name, str(why)[:1000], sep="\n", file=sys.stderr, flush=True)
                wrong = 1
            else:
                table[name] = found(name)
    save({name: table[name] for name in MAKERS if name in table}, FILE)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
