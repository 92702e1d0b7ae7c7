"""One layer against the runtime: shapes, values before running, and what the CPU plugin computes.

The runtime runs in a child process, as some of the settings kill it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.ops import Array, Bounds, Fact, Op, Violation
from ir_tools.ops._numbers import lowest
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
        if slot.kind == "f32":
            lower, upper = lower.astype(np.float32), np.where(unbounded, np.inf, upper).astype(np.float32)
        if slot.scalar:
            return Fact(element_type(slot.kind), (), Bounds(lower[0], upper[0]))
        return Fact(element_type(slot.kind), (Dim.of(len(lower)),), Bounds(lower, upper))
    shape = tuple(map(Dim.of, slot.shape))
    if slot.dtype.kind == "O":
        return Fact(element_type("string"), shape)
    numbers = slot.astype(np.float32) if slot.dtype.kind == "V" else slot
    return Fact(from_dtype(slot.dtype), shape, Bounds.exactly(numbers))


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
    if fact.dtype.is_float and fact.dtype.dtype is not None:
        upper = [-float(lowest(fact.dtype.dtype)) if value == np.inf else value for value in upper]
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


# --- values -----------------------------------------------------------------------------------------------------

COMPUTED_KINDS = ("f32", "f16", "bf16", "f64", "i32", "i64", "i8", "u8", "boolean")


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
        with np.errstate(all="ignore"):
            left, right = ours.astype(np.float64), theirs.astype(np.float64)
            far = np.abs(left - right) > tolerance * np.abs(right[np.isfinite(right)]).max(initial=1)
            far &= ~((left == right) | (np.isnan(left) & np.isnan(right)))
        if far.any():
            return f"{call}\noutput {number} is {ours.tolist()}, wanted {theirs.tolist()}"
    return None


def compare_values(client: RuntimeClient, calls: Sequence[Fed], tolerance: float) -> None:
    """Assert that the kernels compute what the CPU plugin computes."""
    for call, wanted in zip(calls, values_of(client, calls), strict=True):
        problem = difference(call, found_arrays(call), wanted, tolerance)
        assert problem is None, problem
