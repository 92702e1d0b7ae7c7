"""Random layers of convolution, products, reductions and normalisation, held against the installed runtime."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops import Array, Op
from ir_tools.types import Dim, Shape, element_type, format_shape
from tests.ops.layer_support import fact_of, faults_of
from tests.ops.single import Between, Slot, compiles, outputs_of

FLOATS = ("f32", "f16", "bf16", "f64")
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
TYPES = (*FLOATS, *INTEGERS, "boolean")


@dataclass(frozen=True)
class Case:
    """One layer: the operation, `<data>` as text, and its producer."""

    op: Op
    raw: Mapping[str, str]
    slots: Sequence[Slot] = field(default_factory=tuple)

    def __str__(self) -> str:
        data = " ".join(f'{name}="{value}"' for name, value in self.raw.items())
        return f"{self.op} {data} {[_slot_text(slot) for slot in self.slots]}"


def _slot_text(slot: Slot) -> str:
    if isinstance(slot, tuple | Between):
        return str(slot)
    return f"{slot.dtype}{slot.tolist() if slot.size < 9 else slot.shape}"


def runtime_shapes(cases: Sequence[Case]) -> list[tuple[str, Shape] | None]:
    """Element type and shape of each output; None where the runtime rejects the layer on reading."""
    layers = [(case.op, case.raw, case.slots) for case in cases]
    expected = [our_shape(case) is not None for case in cases]
    read = iter(outputs_of([layer for layer, taken in zip(layers, expected, strict=True) if taken]))
    found = [next(read) if taken else outputs_of([layer])[0] for layer, taken in zip(layers, expected, strict=True)]
    return [one and _without_overflow(*one) for one in found]


def _without_overflow(kind: str, shape: Shape) -> tuple[str, Shape]:
    """No upper bounds where the runtime divided and multiplied its largest number, and takes that for a bound."""
    if shape is None:
        return kind, None
    return kind, tuple(Dim(dim.lo) if dim.hi is not None and dim.hi > 1 << 60 else dim for dim in shape)


def our_shape(case: Case) -> tuple[str, Shape] | None:
    """The same by the shape rule; None where it, or the attributes, have no meaning."""
    attrs = case.op.read(case.raw, [])
    if attrs is None:
        return None
    assert case.op.shape is not None
    try:
        (fact,) = case.op.shape(attrs, [fact_of(slot) for slot in case.slots])
    except ShapeError:
        return None
    return str(fact.dtype), fact.shape


def shape_difference(case: Case, wanted: tuple[str, Shape] | None) -> str | None:
    """How the rule differs from what the runtime says.

    What the runtime rejects on reading, rule and check find fault with; what they find fault with, it does not compile.
    """
    found, faults = our_shape(case), faults_of(case.op, case.raw, case.slots)
    if found is None and not faults:
        return f"{case}: rejected, but no fault is found; runtime {_text(wanted)}"
    if wanted != found and not (found is None and not compiles(case.op, case.raw, case.slots)):
        return f"{case}: runtime {_text(wanted)}, rule {_text(found)}"
    if found is not None and faults and compiles(case.op, case.raw, case.slots):
        return f"{case}: {_text(found)}, but {faults}"
    return None


def _text(found: tuple[str, Shape] | None) -> str:
    return "rejects it" if found is None else f"{found[0]}[{format_shape(found[1])}]"


def agreement(make: Callable[[np.random.Generator], Case], count: int) -> float:
    """The share of random layers that the runtime takes; all must agree.

    Raises:
        AssertionError: some do not.
    """
    rng = np.random.default_rng(0)
    cases = [make(rng) for _ in range(count)]
    wanted = runtime_shapes(cases)
    differences = [text for text in map(shape_difference, cases, wanted) if text]
    assert not differences, "\n".join([f"{len(differences)} of {count}", *differences[:10]])
    return sum(shape is not None for shape in wanted) / count


def random_dim(rng: np.random.Generator, size: int, known: float = 0.5) -> str:
    """`size`, or with the rest of the chance an interval that may or may not hold it."""
    low, high = sorted(int(edge) for edge in rng.integers(0, 2 * size + 2, 2))
    if rng.random() < known:
        return str(size)
    return str(rng.choice([str(size), "?", f"{low}..{high + 1}", f"{low}..", f"..{high + 1}"]))


def random_shape(rng: np.random.Generator, sizes: Iterable[int], known: float = 0.5) -> str:
    """Sizes as a partial shape; sometimes without a rank."""
    if rng.random() < 0.1 * (1 - known):
        return "..."
    return ",".join(random_dim(rng, int(size), known) for size in sizes)


def random_array(rng: np.random.Generator, kind: str, shape: Iterable[int], most: int = 4) -> Array:
    """Normal floats; integers up to `most`, booleans."""
    shape = tuple(map(int, shape))
    dtype = element_type(kind).dtype
    assert dtype is not None
    if kind == "boolean":
        return rng.random(shape) < 0.5
    if element_type(kind).is_float:
        return np.asarray(rng.normal(size=shape)).astype(np.float32).astype(dtype)
    return rng.integers(0 if kind.startswith("u") else -most, most + 1, shape).astype(dtype)
