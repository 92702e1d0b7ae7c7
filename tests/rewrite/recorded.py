"""Which layers the rewrites of operations make of random layers, as a few digits for each.

`python -m tests.rewrite.recorded [VERSION...]` runs the migrated models against the layers themselves, and writes
`recorded.json`; after a change of rewrites, or of the functions that make the layers. `test_opset_steps.py` runs the
rewrites within an opset.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops import COMPLETE_OPSETS, Array, Attrs, Fact, Op
from ir_tools.ops.definition import Refused, Rewrite, Step
from ir_tools.types import Dim, from_dtype
from tests.ops import layer_support
from tests.ops.recorded import digits_of
from tests.rewrite.test_opset_steps import MIGRATING, OPERATIONS, Setting, few, near_samples, problems_of

FILE = Path(__file__).with_name("recorded.json")
LAYERS = 12
LEVELS = (0, 1, 0, 3)
"""Of the layers in turn, what `Setting.model` hides of the sizes."""


def _within_opset(rewrite: Callable[[Attrs, Sequence[Fact]], Rewrite | Refused | None]) -> Step:
    return lambda attrs, facts, target: rewrite(attrs, facts)


def _rewrites_of(op: Op) -> Iterator[tuple[str, Step]]:
    """Yield the rewrite to other opsets, the substitute and the named rewrites of an operation."""
    if str(op) in MIGRATING and op.migrate is not None:
        yield str(op), op.migrate
    if op.substitute is not None:
        yield f"{op} substitute", op.substitute
    yield from ((f"{op} {name}", _within_opset(rewrite)) for name, rewrite in op.rewrites.items())


@cache
def steps() -> dict[str, tuple[Op, Step]]:
    """Return what is recorded, by name: the rewrites of operations that have random layers, which takes seconds."""
    random = [op for op in OPERATIONS.values() if near_samples(str(op), LAYERS)]
    return {name: (op, step) for op in random for name, step in _rewrites_of(op)}


def settings(name: str) -> Iterator[tuple[int, Setting, Sequence[int]]]:
    """Random layers of a version, what is hidden of each, and the opsets that it is taken to."""
    op = steps()[name][0]
    for number, setting in enumerate(near_samples(str(op), LAYERS)):
        yield LEVELS[number % len(LEVELS)], setting, few(op, number) if name == str(op) else [COMPLETE_OPSETS]


def found(name: str) -> list[str]:
    """Return digits of what the rewrite answers."""
    step = steps()[name][1]
    return [
        digits_of([_answer(step, setting, level, target) for target in targets])
        for level, setting, targets in settings(name)
    ]


def _answer(step: Step, setting: Setting, level: int, target: int) -> object:
    attrs = setting.op.read(setting.raw, [])
    assert attrs is not None
    facts = [_fact(setting, number, level) for number in range(len(setting.arrays))]
    try:
        answer = step(attrs, facts, target)
    except ShapeError as why:
        return str(why)
    if isinstance(answer, Rewrite):
        layers = [
            (new.type, new.opset, sorted(new.raw.items()), new.label, [*map(_input, new.inputs)])
            for new in answer.layers
        ]
        return layers, answer.outputs, answer.strategy, answer.proof
    return (answer.reason, answer.attribute) if isinstance(answer, Refused) else None


def _fact(setting: Setting, number: int, level: int) -> Fact:
    array = setting.arrays[number]
    if number in setting.constants:
        return layer_support.fact_of(array)
    hidden = {0: (), 1: range(array.ndim), 3: (0,)}[level]
    return Fact(
        from_dtype(array.dtype), tuple(Dim() if axis in hidden else Dim.of(n) for axis, n in enumerate(array.shape))
    )


def _input(one: object) -> object:
    if not isinstance(one, np.ndarray):
        return one
    array: Array = one
    values = [f"{value:.4g}" for value in array.ravel().tolist()] if array.dtype.kind in "fV" else array.tolist()
    return str(array.dtype), array.shape, values


def load() -> dict[str, list[str]]:
    """Return what is recorded, by version."""
    return {name: row.split() for name, row in json.loads(FILE.read_text()).items()}


def main(names: Sequence[str]) -> int:
    """Record the rewrites of all versions, or of those named; return 1 if some have wrong values."""
    table, wrong = load() if FILE.exists() else {}, 0
    for name in (step for step in steps() if not names or step.partition(" ")[0] in names):
        problems = [
            problem
            for level, setting, targets in (settings(name) if name in MIGRATING else ())
            for problem in problems_of(setting, targets, level)
            if problem
        ]
        if problems:
            print(name, *problems[:2], sep="\n", file=sys.stderr, flush=True)
            wrong = 1
        else:
            table[name] = found(name)
    FILE.write_text(json.dumps({name: " ".join(table[name]) for name in steps() if name in table}, indent=1) + "\n")
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
