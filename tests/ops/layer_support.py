"""One layer against the runtime: shapes, values before running, and what the CPU plugin computes.

The runtime runs in a child process, as some of the settings kill it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.known_differences import named
from ir_tools.ops import Array, Bounds, Fact, Op, Violation
from ir_tools.ops.definition import UNBOUNDED
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim, element_type, format_shape, from_dtype, parse_shape
from tests.ops.single import Between, Fed, Slot, attrs_of, computed, single_text, values_of

Row = tuple[str, str, tuple[list[float], list[float]] | None]
"""Of an output: element type, shape, and the bounds of its values where they are known."""

REJECTED = "rejected"


@dataclass
class Setting:
    """A layer and its producer."""

    op: Op
    slots: Sequence[Slot]
    raw: Mapping[str, str] = field(default_factory=dict)
    outputs: int = 1

    def attrs(self) -> Any:
        """The typed attributes, or None where they have no meaning."""
        return self.op.read(self.raw, [])

    def __str__(self) -> str:
        """What to look at when it fails."""
        slots = [slot if not isinstance(slot, np.ndarray) else f"{slot.dtype}{slot.tolist()}" for slot in self.slots]
        return f"{self.op} {dict(self.raw)} {slots}"


SettingMaker = Callable[[np.random.Generator], Setting]


def fact_of(slot: Slot) -> Fact:
    """What is known of an input."""
    if isinstance(slot, tuple):
        return Fact(element_type(slot[0]), parse_shape(slot[1]))
    if isinstance(slot, Between):
        lower = np.array([low for low, _ in slot.bounds], np.int64)
        upper = np.array([UNBOUNDED if high is None else high for _, high in slot.bounds], np.int64)
        unbounded = upper == UNBOUNDED
        if any(low < 0 for low, _ in slot.bounds):
            lower = np.where(unbounded, 0, lower)
        if slot.scalar:
            return Fact(element_type(slot.kind), (), Bounds(lower[0], upper[0]))
        return Fact(element_type(slot.kind), (Dim.of(len(lower)),), Bounds(lower, upper))
    numbers = slot.astype(np.float32) if slot.dtype.kind == "V" else slot
    return Fact(from_dtype(slot.dtype), tuple(map(Dim.of, slot.shape)), Bounds.exactly(numbers))


def faults_of(op: Op, raw: Mapping[str, str], slots: Sequence[Slot]) -> list[Violation]:
    """What attributes and check find that cannot run."""
    found: list[Violation] = []
    attrs = op.read(raw, found)
    if attrs is not None:
        found += op.check(attrs, [fact_of(slot) for slot in slots])
    return [fault for fault in found if not fault.kind.mild]


def wanted_rows(client: RuntimeClient, setting: Setting) -> list[Row] | str:
    """What the runtime makes of a layer before running it."""
    text, blob = single_text(setting.op.type, setting.op.version, setting.raw, setting.slots, setting.outputs)
    try:
        return list(client.ask(text, blob, "op"))
    except RuntimeFailure as failure:
        return REJECTED if failure.kind in {"rejected", "crashed"} else failure.kind


def found_rows(setting: Setting) -> list[Row] | str:
    """The same by the shape rule."""
    assert setting.op.shape is not None
    attrs = setting.attrs()
    if attrs is None:
        return REJECTED
    try:
        facts = setting.op.shape(attrs, [fact_of(slot) for slot in setting.slots])
    except ShapeError:
        return REJECTED
    return [_row(fact) for fact in facts]


def _row(fact: Fact) -> Row:
    shape = format_shape(fact.shape)
    if fact.value is None or fact.value.lower.size == 0:
        return str(fact.dtype), shape, None
    lower, upper = fact.value.lower.ravel().tolist(), fact.value.upper.ravel().tolist()
    if str(fact.dtype) == "i32":
        upper = [2**31 - 1 if value == UNBOUNDED else value for value in upper]
    return str(fact.dtype), shape, (lower, upper)


def same_rows(found: list[Row] | str, wanted: list[Row] | str) -> bool:
    """Whether the rule says the same as the runtime."""
    if isinstance(found, str) or isinstance(wanted, str):
        return found == wanted
    return [plain_row(row) for row in found] == [plain_row(row) for row in wanted]


def plain_row(row: Row) -> object:
    kind, shape, values = row
    return kind, shape, None if values is None else tuple(map(tuple, values))


def compare_shapes(client: RuntimeClient, setting: Setting) -> bool:
    """Assert that the rule says what the runtime says; whether the runtime took the layer."""
    wanted = wanted_rows(client, setting)
    found = found_rows(setting)
    assert same_rows(found, wanted), f"{setting}\nfound  {found}\nwanted {wanted}"
    return wanted != REJECTED


# --- random settings --------------------------------------------------------------------------------------------


def random_dim(rng: np.random.Generator) -> Dim:
    """Static mostly, an interval, or any size."""
    kind = rng.integers(7)
    if kind < 4:
        return Dim.of(int(rng.choice([1, 1, 2, 3, 4, 6, 0])))
    if kind == 4:
        return Dim()
    low = int(rng.integers(0, 4))
    return Dim(low, None) if kind == 5 and rng.random() < 0.5 else Dim(low, low + int(rng.integers(1, 5)))


def random_dims(rng: np.random.Generator, least: int = 0, most: int = 4) -> tuple[Dim, ...]:
    """A shape of known rank."""
    return tuple(random_dim(rng) for _ in range(rng.integers(least, most + 1)))


def parameter(rng: np.random.Generator, dims: Sequence[Dim], kind: str = "f32") -> Slot:
    """An input of this shape, or now and then of unknown rank."""
    return kind, "..." if rng.random() < 0.06 else ",".join(map(str, dims))


def values(rng: np.random.Generator, wanted: Sequence[int], *, scalar: bool = False, kind: str = "") -> Slot:
    """An input with these values: known mostly, known to lie in some interval, or not known at all."""
    kind = kind or ("i64" if rng.random() < 0.7 else "i32")
    dtype = kind.replace("i", "int")
    case = rng.random()
    if case < 0.6 or not wanted:
        return np.array(wanted[0] if scalar else wanted, dtype)
    if case < 0.8 and not scalar:
        return Between(kind, tuple(_around(rng, value) for value in wanted))
    if scalar:
        return kind, "" if rng.random() < 0.7 else str(rng.choice(["...", "1", "?"]))
    length = str(len(wanted))
    return kind, str(rng.choice([length, length, length, "?", "...", f"1..{length}"]))


def _around(rng: np.random.Generator, value: int) -> tuple[int, int | None]:
    case = rng.integers(5)
    if case < 2:
        return value, value
    low = value - int(rng.integers(0, 3))
    return (low, None) if case == 4 else (low, value + int(rng.integers(0, 4)))


def valued(rng: np.random.Generator, least: int = 0) -> tuple[Slot, tuple[Dim, ...]]:
    """An input and its dimensions; sometimes one of which values are known."""
    if rng.random() < 0.35:
        slot = values(rng, rng.integers(0, 6, int(rng.integers(1, 4))).tolist(), kind="i64")
        if not isinstance(slot, tuple):
            shape = fact_of(slot).shape
            assert shape is not None
            return slot, shape
    dims = random_dims(rng, least, 4)
    return parameter(rng, dims), dims


def some_axis(rng: np.random.Generator, rank: int) -> int:
    """An axis that the input has, mostly."""
    most = rank + 1 if rng.random() < 0.1 else max(rank, 1)
    return int(rng.integers(-most, most))


def settings(make: SettingMaker, rng: np.random.Generator, count: int) -> Iterator[Setting]:
    """As many settings as are asked for, without those in which the runtime is known to be wrong."""
    while count:
        setting = make(rng)
        if not any(differs(setting) for differs in (*LEFT_OUT.values(), _other_elements)):
            count -= 1
            yield setting


def _longer_than_the_axis(setting: Setting) -> bool:
    """Lengths that are more than the axis has, beside a -1."""
    if setting.op.type != "VariadicSplit" or not isinstance(setting.slots[2], np.ndarray):
        return False
    return -1 in setting.slots[2] and found_rows(setting) == REJECTED


def _negative_repeats(setting: Setting) -> bool:
    """Repeats below 0 that are not constants."""
    slot = setting.slots[-1]
    return setting.op.type == "Tile" and isinstance(slot, Between) and any(low < 0 for low, _ in slot.bounds)


def _other_elements(setting: Setting) -> bool:
    """A Reshape with copied dimensions that changes the number of elements: the runtime copies beyond the data."""
    if setting.op.type != "Reshape" or isinstance(setting.slots[0], tuple):
        return False
    rows = found_rows(setting)
    return isinstance(rows, list) and rows[0][2] is None


def _behind_the_target(setting: Setting) -> bool:
    """An axis of mode pdpd that the target does not have."""
    if setting.op.type != "Broadcast" or setting.raw.get("mode") != "pdpd":
        return False
    target = fact_of(setting.slots[1]).shape
    return target is not None and int(setting.raw.get("mode.mode.axis", 0)) >= (target[0].hi or 0)


LEFT_OUT: Mapping[str, Callable[[Setting], bool]] = {
    "Broadcast-3 from an axis beyond its target": _behind_the_target,
    "Tile-1 by computed repeats below 0": _negative_repeats,
    "VariadicSplit-1 of more than there is": _longer_than_the_axis,
}
"""The known differences that random settings fall under, as far as they matter before running."""
assert named(*LEFT_OUT)


# --- values -----------------------------------------------------------------------------------------------------

COMPUTED_KINDS = ("f32", "f16", "bf16", "f64", "i32", "i64", "i8", "u8", "boolean")


def some_kind(rng: np.random.Generator, kinds: Sequence[str] = COMPUTED_KINDS) -> str:
    """An element type."""
    return str(rng.choice(list(kinds)))


def tensor(rng: np.random.Generator, kind: str, shape: Sequence[int]) -> Array:
    """Random values that f32 and i32 hold, as the CPU plugin computes in those."""
    dtype = element_type(kind).dtype
    assert dtype is not None
    if kind == "boolean":
        return rng.random(tuple(shape)) < 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -50, 90, tuple(shape)).astype(dtype)
    return np.round(rng.normal(size=tuple(shape)) * 8, 1).astype(np.float32).astype(dtype)


def sizes(rng: np.random.Generator, least: int = 0, most: int = 4) -> list[int]:
    """A static shape, sometimes with an empty dimension."""
    out: list[int] = rng.integers(1, 5, rng.integers(least, most + 1)).tolist()
    if out and rng.random() < 0.06:
        out[rng.integers(len(out))] = 0
    return out


def integers(rng: np.random.Generator, values: Any) -> Array:
    """Indices or sizes, as i64 or i32."""
    return np.asarray(values).astype(np.int64 if rng.random() < 0.6 else np.int32)


def found_arrays(call: Fed) -> tuple[Array, ...]:
    """What the kernel computes."""
    attrs = attrs_of(call.op, call.raw)
    return computed(call.op, attrs, call.arrays)


def difference(call: Fed, found: Sequence[Array], wanted: Sequence[Array], tolerance: float = 0.0) -> str | None:
    """In words, how the kernel differs from the runtime; None where it does not.

    `tolerance`: of the largest magnitude.
    """
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            return f"{call}\noutput {number} is {ours.dtype}{ours.shape}, wanted {theirs.dtype}{theirs.shape}"
        left, right = ours.astype(np.float64), theirs.astype(np.float64)
        with np.errstate(all="ignore"):
            far = np.abs(left - right) > tolerance * np.abs(right[np.isfinite(right)]).max(initial=1)
            far &= ~((left == right) | (np.isnan(left) & np.isnan(right)))
        if far.any():
            return f"{call}\noutput {number} is {ours.tolist()}, wanted {theirs.tolist()}"
    return None


def compare_values(client: RuntimeClient, calls: Sequence[Fed], tolerance: Callable[[Fed], float]) -> None:
    """Assert that the kernels compute what the CPU plugin computes."""
    for call, wanted in zip(calls, values_of(client, calls), strict=True):
        problem = difference(call, found_arrays(call), wanted, tolerance(call))
        assert problem is None, problem


def some(rng: np.random.Generator, *indices: int) -> tuple[int, ...]:
    """These inputs as constants, mostly."""
    return indices if rng.random() < 0.7 else ()
