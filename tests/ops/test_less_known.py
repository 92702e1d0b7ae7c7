"""What is right of a layer is right if less is known of its inputs: no check finds fault, and shapes hold the same."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import FAMILIES, Fact, Op
from ir_tools.ops.fields import Attrs
from ir_tools.types import Dim, format_shape
from tests.ops.layer_support import fact_of
from tests.ops.recorded import RECORDED
from tests.ops.samples import sample_of

Rng = np.random.Generator
REFUSED = re.compile(
    "the runtime takes no scores of unknown rank|P has no first dimension|seq_axis is -.*, which counts from the end"
    "|(output|kernel)_size is .*; expected a list of 2 sizes|values has no known rank, but"
    "|variable_shape is .* initial value"
)
"""What the runtime refuses of inputs of which it knows less, as the rules do; compared where the operations are."""
OTHERWISE = {"RandomUniform-8", "NonMaxSuppression-1", "NonMaxSuppression-3", "Transpose-1", "RDFT-9"}
"""Operations whose shapes the runtime gets wrong, as the rules do, if ranks, axes or classes are not known."""
Layer = tuple[str, Op, Attrs, Sequence[Fact]]


def layers() -> Iterator[Layer]:
    """The samples of all operations, and some random layers of each maker."""
    for op in (op for family in FAMILIES for op in family.OPS):
        sample = sample_of(op)
        attrs = None if sample is None else op.read(sample.raw, [])
        if sample is not None and attrs is not None:
            yield str(op), op, attrs, [fact_of(slot) for slot in sample.slots]
    for name, recorded in RECORDED.items():
        rng = np.random.default_rng(4)
        for _ in range(6 if recorded.make else 0):
            assert recorded.make is not None
            layer = recorded.make(rng)
            attrs = layer.op.read(layer.raw, [])
            assert attrs is not None
            yield name, layer.op, attrs, [fact_of(array) for array in layer.arrays]


def less(rng: Rng, fact: Fact) -> Fact:
    """Less of what is known of a tensor."""
    share, shape = rng.random(), fact.shape
    if shape is None or rng.random() < 0.1:
        return Fact(fact.dtype, None)
    value = fact.value if rng.random() < 0.7 else None
    if value is not None:
        return fact
    return Fact(fact.dtype, tuple(wider(rng, dim) if rng.random() < share else dim for dim in shape))


def wider(rng: Rng, dim: Dim) -> Dim:
    low = max(dim.lo - int(rng.integers(0, 4)), 0)
    high = None if dim.hi is None or rng.random() < 0.4 else dim.hi + int(rng.integers(0, 4))
    return Dim(low, high) if rng.random() < 0.7 else Dim()


def holds(wide: Fact, narrow: Fact) -> bool:
    """Whether all that one fact allows is allowed by the other."""
    if wide.shape is None or narrow.shape is None:
        return wide.shape is None
    return len(wide.shape) == len(narrow.shape) and all(
        one.lo <= other.lo and (one.hi is None or (other.hi is not None and other.hi <= one.hi))
        for one, other in zip(wide.shape, narrow.shape, strict=True)
    )


def wrong(op: Op, attrs: Attrs, known: Sequence[Fact], facts: Sequence[Fact]) -> str | None:
    """What is wrong with a layer of which less is known."""
    try:
        wanted, found = op.outputs_of(attrs, known), op.outputs_of(attrs, facts)
        faults = [fault.text for fault in op.check(attrs, facts) if not fault.kind.mild]
    except ShapeError as why:
        return str(why)
    if wanted is None or found is None or len(found) != len(wanted) or all(map(holds, found, wanted)):
        return "; ".join(faults)
    return f"{shapes_of(found)} instead of {shapes_of(wanted)}"


def shapes_of(facts: Sequence[Fact]) -> str:
    return " ".join(f"[{format_shape(fact.shape)}]" for fact in facts)


LAYERS = [*layers()]


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in LAYERS))
def test_less_is_known(name: str) -> None:
    rng = np.random.default_rng(5)
    problems = []
    for _, op, attrs, known in (layer for layer in LAYERS if layer[0] == name):
        for _ in range(12 if all(fault.kind.mild for fault in op.check(attrs, known)) else 0):
            facts = [less(rng, fact) for fact in known]
            problem = wrong(op, attrs, known, facts)
            if problem and not REFUSED.search(problem) and not (str(op) in OTHERWISE and "instead of" in problem):
                problems.append(f"{op} of {shapes_of(facts)}, {shapes_of(known)}: {problem}")
    assert not problems, problems[0]
