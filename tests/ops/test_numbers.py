"""Numbers of small types, element by element in Python's own arithmetic."""

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import ShapeError
from ir_tools.execute import run
from ir_tools.known_differences import named
from ir_tools.ops import Array, activations, find_op
from ir_tools.ops._numbers import half_away, near_steps, to_integer
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import ELEMENT_TYPES
from tests.ops.samples import sample_of
from tests.ops.single import computed

ODD = [0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 126.5, 127.5, 255.5, -128.5, 300, -300, 2**31, 2**31 - 1, -(2**31), 2**33]
ODD += [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("border", [0.0, 0.5])
@pytest.mark.parametrize("error", [0.0, 1e-4, 0.01])
@pytest.mark.parametrize("more", [[], [math.inf], [-math.inf, math.nan]], ids=["finite", "infinite", "NaN"])
def test_what_lies_near_a_step(border: float, error: float, more: list[float]) -> None:
    rng = np.random.default_rng(1)
    values = [*np.round(rng.normal(size=60) * 4, 2), 0.5, 1.0, -3.02, 7.49, *more]
    reach = error * max(abs(value) for value in values if math.isfinite(value))

    def near(value: float) -> bool:
        return math.isfinite(value) and abs(value - border - round(value - border)) <= reach

    found = near_steps(np.array(values), error, border)
    assert [near(value) for value in values] == ([False] * len(values) if found is None else found.tolist())


@pytest.mark.parametrize("kind", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_floats_as_integers(kind: str) -> None:
    dtype = ELEMENT_TYPES[kind].held_dtype
    assert dtype is not None
    limits = np.iinfo(dtype)

    def wanted(value: float) -> int:
        if limits.bits == 8:
            return 0 if math.isnan(value) else int(min(max(value, limits.min), limits.max))
        whole = int(value) if math.isfinite(value) and -(2**31) <= value < 2**31 else -(2**31)
        return (whole - int(limits.min)) % (1 << limits.bits) + int(limits.min)

    values = np.trunc(np.array(ODD, np.float32))
    with np.errstate(all="ignore"):
        found = to_integer(values, dtype)
    assert found.tolist() == [wanted(float(value)) for value in values]


def test_halves_away_from_zero() -> None:
    values = [value for value in ODD if abs(value) < 1000]
    assert half_away(np.array(values)).tolist() == [math.copysign(int(abs(value) + 0.5), value) for value in values]


@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_every_number_of_8_bits(kind: str, client: RuntimeClient) -> None:
    """All functions of one number that need no attributes, against the runtime: the limits, and what is undefined."""
    builder = Builder()
    source = builder.parameter("x", "256", kind)
    for op in activations.OPS:
        one = sample_of(op)
        fits = kind == "i8" or op.type != "Negative"
        if fits and one and not one.raw and len(op.inputs) == 1 and find_op(op.type, "opset16") is op:
            with suppress(ShapeError):
                builder.result(builder.call(op.type, source), op.type)
    data = np.arange(256).astype(np.uint8).view(np.int8 if kind == "i8" else np.uint8)
    with np.errstate(all="ignore"):
        found = run(builder.model, {"x": data})
    wanted = client.infer_model(builder.model, {"x": data}).outputs
    assert len(wanted) > 20
    (row,) = named("results beyond 2^15 in u8")
    known = {op.rpartition("-")[0] for op in row.ops} if kind == "u8" and row.processor.is_here else set()
    assert {name for name, array in wanted.items() if not np.array_equal(found[name], array)} <= known


REDUCTIONS: dict[str, Callable[[float, float], float]] = {
    "none": lambda old, new: new,
    "sum": lambda old, new: old + new,
    "sub": lambda old, new: old - new,
    "prod": lambda old, new: old * new,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("kind", ["boolean", "i8", "u8", "i32", "i64", "f16", "bf16", "f32"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_updates_one_after_the_other(kind: str, reduction: str) -> None:
    """Elements that several updates meet, in each type; numbers so small that no type cuts off."""
    dtype, rng = ELEMENT_TYPES[kind].held_dtype, np.random.default_rng(2)
    data = rng.integers(4, 6, 5) if kind != "boolean" else rng.integers(0, 2, 5)
    places, updates = rng.integers(0, 5, 4), rng.integers(0, 2, 4)
    wanted = [int(value) for value in data]
    for place, update in zip(places, updates, strict=True):
        wanted[place] = int(REDUCTIONS[reduction](wanted[place], int(update)))
    wanted = [int(value != 0) for value in wanted] if kind == "boolean" else wanted
    for type, version, indices, more in (
        ("ScatterNDUpdate", 15, places[:, None], []),
        ("ScatterElementsUpdate", 12, places, [np.array(0)]),
    ):
        op = find_op(type, f"opset{version}")
        assert op is not None
        attrs = op.read({"reduction": reduction}, [])
        if attrs is None:
            continue
        arrays: list[Array] = [data.astype(dtype), indices, updates.astype(dtype), *more]
        (found,) = computed(op, attrs, arrays)
        assert found.dtype == dtype
        assert found.astype(int).tolist() == wanted
