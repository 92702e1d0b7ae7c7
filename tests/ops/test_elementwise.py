"""Elementwise operations against the installed runtime: types, partial shapes, values, values before running."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.errors import ShapeError
from ir_tools.graph import Source
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import find, named
from ir_tools.ops import Array, Bounds, Fact, Op, activations, conversion, elementwise, structure
from ir_tools.ops.definition import Oracle
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim, Shape, element_type, format_shape, from_dtype, parse_shape
from tests.ops.layer_support import Setting, found_rows, wanted_rows
from tests.ops.samples import sample_of
from tests.ops.single import (
    CORE,
    Fed,
    Slot,
    attrs_of,
    computed,
    infer,
    infer_all,
    output_of,
    outputs_of,
    single,
    text_of,
    values_of,
)

TYPES = ("f32", "f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "boolean")
OPS = tuple(
    op
    for op in (*elementwise.OPS, *activations.OPS, *conversion.OPS)
    if op.shape is not None and op.oracle is not Oracle.SPECIFICATION
)
SETTINGS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "Round": [{"mode": "half_to_even"}, {"mode": "half_away_from_zero"}],
    "Gelu": [{"approximation_mode": "ERF"}, {"approximation_mode": "TANH"}],
    "Elu": [{"alpha": "0.7"}],
    "Divide": [{}, {"m_pythondiv": "false"}],
    "Clamp": [{"min": "-1.5", "max": "2.7"}, {"min": "0", "max": "6"}],
    "IsInf": [{}, {"detect_negative": "false"}, {"detect_positive": "false"}],
    "SoftMax": [{"axis": "1"}],
    "LogSoftmax": [{"axis": "-1"}],
    "Convert": [{"destination_type": kind} for kind in TYPES],
}
CASES = [
    pytest.param(op, raw, id=f"{op}-{'-'.join(raw.values())}") for op in OPS for raw in SETTINGS.get(op.type, [{}])
]

ODD_AT_SPECIALS = {
    op
    for row in named("activations of NaN and infinity", "comparisons of NaN", "SoftMax of infinity")
    for op in row.ops
}
"""Operations that the CPU plugin approximates in a way that has its own idea of NaN and infinity."""


def kinds_of(op: Op, kind: str) -> list[str]:
    count = sum(not slot.optional for slot in op.inputs)
    return ["boolean", kind, kind] if op.type == "Select" else [kind] * count


# --- element types ----------------------------------------------------------------------------------------------


def rule_of(op: Op, raw: Mapping[str, str], kinds: Sequence[str], shapes: Sequence[Shape]) -> tuple[str, Shape] | None:
    """Element type and shape of the output by the rule; None where it rejects the inputs."""
    assert op.shape is not None
    facts = [Fact(element_type(kind), shape) for kind, shape in zip(kinds, shapes, strict=True)]
    try:
        fact = op.shape(attrs_of(op, raw), facts)[0]
    except ShapeError:
        return None
    return str(fact.dtype), fact.shape


def compare_outputs(op: Op, asked: Sequence[tuple[Mapping[str, str], Sequence[str], Sequence[Shape]]]) -> int:
    """How many layers the runtime takes, by attributes, types and shapes; the rule must agree about each."""
    found = [rule_of(op, *each) for each in asked]
    layers = [(op, raw, list(zip(kinds, map(text_of, shapes), strict=True))) for raw, kinds, shapes in asked]
    taken = iter(outputs_of([layer for layer, one in zip(layers, found, strict=True) if one]))
    for layer, one in zip(layers, found, strict=True):
        assert one == (next(taken) if one else outputs_of([layer])[0]), layer
    return len(found) - found.count(None)


@pytest.mark.parametrize(("op", "raw"), CASES)
def test_element_types(op: Op, raw: Mapping[str, str]) -> None:
    shapes = ["2,3"] * len(kinds_of(op, ""))
    if op.type in {"HardSigmoid", "Selu"}:
        shapes[1:] = [""] * (len(shapes) - 1)
    compare_outputs(op, [(raw, kinds_of(op, kind), [*map(parse_shape, shapes)]) for kind in TYPES])


# --- partial shapes ---------------------------------------------------------------------------------------------


def random_dim(rng: np.random.Generator) -> Dim:
    kind = rng.integers(6)
    if kind < 2:
        return Dim.of(int(rng.choice([1, 1, 2, 3, 5, 0])))
    if kind == 2:
        return Dim()
    low = int(rng.integers(0, 4))
    return Dim(low, None) if kind == 3 else Dim(low, low + int(rng.integers(1, 5)))


def random_shape(rng: np.random.Generator, most: int = 4) -> Shape:
    if rng.random() < 0.05:
        return None
    return tuple(random_dim(rng) for _ in range(rng.integers(0, most + 1)))


def without_zeros(shape: Shape, mode: str) -> Shape:
    """No sizes of 0 for `pdpd`: there the runtime contradicts itself."""
    if mode != "pdpd" or shape is None:
        return shape
    return tuple(Dim.of(1) if dim == Dim.of(0) else dim for dim in shape)


def shape_pairs(mode: str, count: int) -> list[tuple[dict[str, str], list[Shape]]]:
    """Random pairs, many of which broadcast."""
    rng = np.random.default_rng(len(mode) * 1000 + count)
    out = []
    for _ in range(count):
        left = random_shape(rng)
        right = random_shape(rng)
        axis = int(rng.integers(-2, 4)) if mode == "pdpd" and rng.random() < 0.7 else 0
        if rng.random() < 0.6 and left is not None:
            start = axis if axis > 0 else rng.integers(0, len(left) + 1)
            right = tuple(Dim.of(1) if rng.random() < 0.3 else dim for dim in left[start:])
            if rng.random() < 0.5:
                right = tuple(random_dim(rng) if rng.random() < 0.3 else dim for dim in right)
        raw = {"auto_broadcast": mode, "auto_broadcast.auto_broadcast_axis": str(axis)}
        out.append((raw, [without_zeros(left, mode), without_zeros(right, mode)]))
    return out


@pytest.mark.parametrize("mode", ["numpy", "none", "pdpd"])
def test_broadcast_of_partial_shapes(mode: str) -> None:
    op = next(op for op in OPS if op.type == "Add")
    assert compare_outputs(op, [(raw, ["f32", "f32"], shapes) for raw, shapes in shape_pairs(mode, 300)]) > 50


@pytest.mark.parametrize("mode", ["numpy", "none", "pdpd"])
def test_broadcast_of_select(mode: str) -> None:
    rng = np.random.default_rng(5)
    asked = []
    for raw, (left, right) in shape_pairs(mode, 200):
        third = left if rng.random() < 0.4 else without_zeros(random_shape(rng), mode)
        shapes = [third, left, right]
        asked.append((raw, ["boolean", "f32", "f32"], [shapes[i] for i in rng.permutation(3)]))
    compare_outputs(elementwise.SELECT, asked)


@pytest.mark.parametrize(("right", "axis"), [((3,), 1), ((2, 3), 0), ((3, 1), 1), ((3, 4), -1), ((1,), 2), ((), 0)])
def test_axis_of_pdpd(right: tuple[int, ...], axis: int) -> None:
    """Operations that the CPU plugin computes from the axis on; the others are among the known differences."""
    types = {"Add", "Multiply", "Maximum", "Power", "SquaredDifference", "FloorMod"}
    ops = [op for op in OPS if op.type in types]
    rng = np.random.default_rng(1)
    left, other = (rng.uniform(0.5, 2, sizes).astype(np.float32) for sizes in ((2, 3, 4), right))
    raw = {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": str(axis)}
    slots: list[Slot] = [("f32", "2,3,4"), ("f32", ",".join(map(str, right)))]
    values = infer_all([single(op.type, 1, raw, slots) for op in ops], [[left, other]] * len(types))
    for op, wanted in zip(ops, values, strict=True):
        assert np.allclose(computed(op, attrs_of(op, raw), [left, other])[0], wanted, rtol=1e-5), op


@pytest.mark.parametrize("op", [op for op in activations.OPS if len(op.inputs) > 1], ids=str)
def test_parametric_shapes(op: Op) -> None:
    rng = np.random.default_rng(11)
    asked: list[tuple[dict[str, str], list[str], list[Shape]]] = []
    for _ in range(60):
        count = sum(not slot.optional for slot in op.inputs)
        if op.type == "Swish" and rng.random() < 0.7:
            count = 2
        shapes = [random_shape(rng), *(random_shape(rng, 2) for _ in range(count - 1))]
        asked.append(({}, ["f32"] * count, shapes))
    compare_outputs(op, asked)


@pytest.mark.parametrize("version", [1, 8])
def test_softmax_axis(version: int) -> None:
    op = next(op for op in OPS if op.type == "SoftMax" and op.version == version)
    asked = product(range(-4, 5), ["", "3", "2,?", "2,3,1..5", "..."])
    compare_outputs(op, [({"axis": str(axis)}, ["f32"], [parse_shape(shape)]) for axis, shape in asked])


# --- values -----------------------------------------------------------------------------------------------------


def random_values(rng: np.random.Generator, kind: str, shape: tuple[int, ...], nonzero: bool, plain: bool) -> Array:
    """Values that every type computes without leaving the range of the plugin's own types."""
    dtype = element_type(kind).dtype
    assert dtype is not None
    if kind == "boolean":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        pool = [1, 2, 3, 5, 7, 11, *([] if nonzero else [0])]
        if dtype.kind == "i":
            pool += [-1, -2, -7, -100]
        if dtype.itemsize < 4:
            pool += [100, int(np.iinfo(dtype).max)]
        return rng.choice(np.array(pool), shape).astype(dtype)
    normal = rng.normal(size=shape) * 3
    special = rng.choice([0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 20.5, -20.5, 1e-3], shape)
    out = np.where(rng.random(shape) < 0.5, normal, special)
    if not plain:
        out = np.where(rng.random(shape) < 0.05, rng.choice([np.inf, -np.inf, np.nan], shape), out)
    return out.astype(np.float32).astype(dtype)


def tolerance(kind: str) -> float:
    return {"f32": 2e-5, "f64": 2e-5, "f16": 2e-3, "bf16": 1e-2}.get(kind, 0.0)


def close(found: Array, wanted: Array, kind: str) -> Array:
    with np.errstate(all="ignore"):
        left, right = found.astype(np.float64), wanted.astype(np.float64)
        near = np.abs(left - right) <= tolerance(kind) * np.maximum(1.0, np.abs(right))
    saturated = (kind == "f64") & np.isinf(left) & (np.abs(right) == np.finfo(np.float32).max)
    fits: Array = near | (left == right) | (np.isnan(left) & np.isnan(right)) | saturated
    return fits


def arrays_for(
    op: Op, rng: np.random.Generator, kind: str, raw: Mapping[str, str], mode: str
) -> tuple[list[Array], Sequence[int]]:
    """The inputs, and which are constants: activations take their own parameters as such."""
    nonzero = op.type in {"Divide", "Mod", "FloorMod", "Power", "Log"}
    plain = str(op) in ODD_AT_SPECIALS or kind == "f64" or raw.get("destination_type") in {"f64", "boolean"}
    kinds = kinds_of(op, kind)
    shapes: list[tuple[int, ...]] = [(2, 3, 17)] * len(kinds)
    if mode == "broadcast" and len(kinds) > 1:
        shapes[1] = (3, 1)
    if op.type == "PReLU":
        shapes[1] = (3,)
    if op.type in {"HardSigmoid", "Selu"}:
        data = random_values(rng, kind, shapes[0], nonzero, plain)
        constants = [np.array(value).astype(data.dtype) for value in (0.3, 0.6)[: len(kinds) - 1]]
        return [data, *constants], range(1, len(kinds))
    arrays = [random_values(rng, k, s, nonzero, plain) for k, s in zip(kinds, shapes, strict=True)]
    if op.type.startswith("Bitwise") and "Shift" in op.type:
        arrays[1] = rng.integers(0, 5, arrays[1].shape).astype(arrays[1].dtype)
    return arrays, ()


def undefined(op: Op, raw: Mapping[str, str], arrays: Sequence[Array], dtype: np.dtype) -> Array:
    """Where the exact result does not fit into an integer type: what the runtime makes of it has no meaning."""
    if (
        dtype.kind not in "iu"
        or len(arrays) != 1
        or "Bitwise" in op.type
        or (op.type != "Convert" and arrays[0].dtype.kind not in "iu")
    ):
        return np.zeros((), dtype=bool)
    limits = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        exact = arrays[0].astype(np.float64)
        if op.type != "Convert":
            exact = computed(op, attrs_of(op, raw), [exact])[0]
    return ~((exact > limits.min - 1.0) & (exact < limits.max + 1.0) & (np.abs(exact) < 2.0**31))


def question(op: Op, raw: Mapping[str, str], kind: str, seed: int) -> Fed | None:
    """A layer with random inputs; None where the rule takes no such layer, and where the runtime is known to differ."""
    arrays, constants = arrays_for(op, np.random.default_rng(seed), kind, raw, "broadcast" if seed % 2 else "same")
    if find(op, attrs_of(op, raw), arrays):
        return None
    kinds, shapes = [from_dtype(a.dtype).name for a in arrays], [tuple(map(Dim.of, a.shape)) for a in arrays]
    return Fed(op, raw, arrays, constants) if rule_of(op, raw, kinds, shapes) else None


def kernel_difference(
    op: Op, raw: Mapping[str, str], arrays: Sequence[Array], wanted: Array, number: int
) -> str | None:
    """What differs between kernel and runtime in an output."""
    with np.errstate(all="ignore"):
        found = computed(op, attrs_of(op, raw), arrays)[number]
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    fits = close(found, wanted, from_dtype(found.dtype).name) | undefined(op, raw, arrays, found.dtype)
    if fits.all():
        return None
    at = tuple(np.argwhere(~fits)[0])
    seen = [
        np.broadcast_to(a if op.type != "PReLU" or not i else a[:, None], wanted.shape)[at]
        for i, a in enumerate(arrays)
    ]
    return f"{seen} gives {found[at]}, the runtime {wanted[at]} ({(~fits).sum()} of {fits.size})"


@pytest.mark.parametrize(("op", "raw"), CASES)
def test_kernel(op: Op, raw: Mapping[str, str], client: RuntimeClient) -> None:
    kinds = [kind for kind in TYPES if (kind, op.type) != ("boolean", "LogSoftmax")]  # read, but not compiled
    asked = [found for kind, seed in product(kinds, range(2)) if (found := question(op, raw, kind, seed))]
    for each, outputs in zip(asked, values_of(client, asked), strict=True):
        wrong = [kernel_difference(op, raw, each.arrays, wanted, number) for number, wanted in enumerate(outputs)]
        assert not any(wrong), [array.dtype for array in each.arrays]


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64"])
def test_integers_are_divided_as_the_attribute_says(kind: str) -> None:
    """Against Python: rounded down, or without the fraction."""
    op = next(op for op in OPS if op.type == "Divide")
    pairs = [pair for pair in product(range(-9, 10), range(-4, 5)) if pair[1]]
    arrays = [np.array(column).astype(element_type(kind).dtype) for column in zip(*pairs, strict=True)]
    down, cut = (computed(op, attrs_of(op, {"m_pythondiv": flag}), arrays)[0].tolist() for flag in ("true", "false"))
    assert down == [left // right for left, right in pairs]
    assert cut == [int(left / right) for left, right in pairs]


def towards_zero(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


@pytest.mark.parametrize("kind", ["i32", "u32", "i64", "u64"])
@pytest.mark.parametrize(
    ("type", "raw", "wanted"),
    [
        ("Divide", {"m_pythondiv": "true"}, lambda left, right: left // right),
        ("Divide", {"m_pythondiv": "false"}, towards_zero),
        ("Mod", {}, lambda left, right: left - right * towards_zero(left, right)),
        ("FloorMod", {}, lambda left, right: left % right),
    ],
)
def test_integers_beyond_f32_are_divided_exactly(
    type: str, raw: Mapping[str, str], wanted: Callable[[int, int], int], kind: str
) -> None:
    """Against Python. F32 holds integers up to 2^24."""
    op = next(op for op in OPS if op.type == type)
    dtype = element_type(kind).dtype
    assert dtype is not None
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(3)
    ends = [limits.max, limits.max - 1, limits.min, limits.min + 1]
    left = np.array([*ends, *rng.integers(limits.min, limits.max, 200, dtype)], dtype)
    right = np.array([*(7, 1 << 20, 1, 3), *rng.integers(max(limits.min, -(1 << 25)), 1 << 25, 200)], dtype)
    right[right == 0] = 5
    found = computed(op, attrs_of(op, raw), [left, right])[0]
    assert found.dtype == dtype
    assert found.tolist() == [wanted(*pair) for pair in zip(left.tolist(), right.tolist(), strict=True)]


@pytest.mark.parametrize("kind", ["i32", "u32", "i64", "u64"])
def test_powers_of_integers_beyond_f32_are_exact(kind: str) -> None:
    """Against Python, as far as the type holds them."""
    op = next(op for op in OPS if op.type == "Power")
    limits = np.iinfo(np.dtype(element_type(kind).dtype))
    pairs = [(left, right) for left in range(12) for right in range(40) if left**right <= limits.max]
    pairs += [(-left, right) for left, right in pairs if limits.min and left**right < limits.max]
    arrays = [np.array(column, limits.dtype) for column in zip(*pairs, strict=True)]
    assert computed(op, attrs_of(op, {}), arrays)[0].tolist() == [left**right for left, right in pairs]


@pytest.mark.parametrize("kind", ["i8", "u8", "i32"])
def test_integers_without_a_quotient_are_divided_as_the_runtime_does(kind: str) -> None:
    """Divided by 0, and the least integer by -1, beside others."""
    op = next(op for op in OPS if op.type == "Divide")
    limits = np.iinfo(np.dtype(element_type(kind).dtype))
    left = np.array([limits.max, 0, limits.min, 9], limits.dtype)
    right = np.array([0, 0, -1 if limits.min else 0, 2], limits.dtype)
    with np.errstate(all="ignore"):
        found = computed(op, attrs_of(op, {"m_pythondiv": "false"}), [left, right])[0]
    slots = [(kind, "4"), (kind, "4")]
    assert found.tolist() == infer(single("Divide", 1, {"m_pythondiv": "false"}, slots), [left, right]).tolist()


def test_erf_inv_is_the_inverse() -> None:
    """Against the error function of Python's library; the runtime is not exact enough to judge."""
    values = np.array([-1, -0.999, -0.5, -1e-8, -0.0, 0, 1e-8, 0.3, 0.9, 0.9999, 1, 2, np.nan])
    with np.errstate(all="ignore"):
        found = activations.erf_inv(values)
    inside = np.abs(values) < 1
    assert np.allclose([math.erf(x) for x in found[inside]], values[inside], rtol=1e-12, atol=0)
    assert found[values == -1] == -np.inf
    assert found[values == 1] == np.inf
    assert np.isnan(found[-2:]).all()
    runtime = infer(single("ErfInv", 17, {}, [("f32", "13")]), [values.astype(np.float32)])
    assert np.allclose(runtime, found, rtol=6e-3, equal_nan=True)


# --- values before running --------------------------------------------------------------------------------------

FOLDED = ("Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum", "Power", "FloorMod", "Equal", "Mod")


def sizes_after(op_type: str, asked: Sequence[tuple[str, str, bool]]) -> list[Shape]:
    """What the runtime makes of ShapeOf, the operation with constants, and Broadcast to the result as a shape.

    `asked`: of each question the shape, the constants, and whether they are the first input; all are read as one model.
    """
    layers, edges, blob = "", [], b""
    for number, (shape, other, swap) in enumerate(asked):
        x, size, constants, result, index, zero, out, end = range(8 * number, 8 * number + 8)
        layers += f"""
        <layer id="{x}" name="x{x}" type="Parameter" version="opset1"><data element_type="f32" shape="{shape}"/>
          <output><port id="0" precision="FP32"/></output></layer>
        <layer id="{size}" name="s{x}" type="ShapeOf" version="opset3"><data output_type="i64"/>
          <input><port id="0"/></input><output><port id="1" precision="I64"/></output></layer>
        <layer id="{constants}" name="c{x}" type="Const" version="opset1">
          <data element_type="i64" shape="4" offset="{len(blob)}" size="32"/>
          <output><port id="0" precision="I64"/></output></layer>
        <layer id="{result}" name="o{x}" type="{op_type}" version="opset1">
          <input><port id="0"/><port id="1"/></input><output><port id="2" precision="I64"/></output></layer>
        <layer id="{index}" name="i{x}" type="Convert" version="opset1"><data destination_type="i64"/>
          <input><port id="0"/></input><output><port id="1" precision="I64"/></output></layer>
        <layer id="{zero}" name="z{x}" type="Const" version="opset1">
          <data element_type="i64" shape="" offset="{len(blob) + 32}" size="8"/>
          <output><port id="0" precision="I64"/></output></layer>
        <layer id="{out}" name="b{x}" type="Broadcast" version="opset3"><data mode="numpy"/>
          <input><port id="0"/><port id="1"/></input><output><port id="2" precision="I64"/></output></layer>
        <layer id="{end}" name="r{x}" type="Result" version="opset1"><input><port id="0"/></input></layer>"""
        edges += [(x, 0, size, 0), (size, 1, result, int(swap)), (constants, 0, result, int(not swap))]
        edges += [(result, 2, index, 0), (zero, 0, out, 0), (index, 1, out, 1), (out, 2, end, 0)]
        blob += np.array([*map(int, other.split(",")), 0], dtype=np.int64).tobytes()
    joined = "".join(f'<edge from-layer="{a}" from-port="{p}" to-layer="{b}" to-port="{q}"/>' for a, p, b, q in edges)
    text = f'<net name="m" version="11"><layers>{layers}</layers><edges>{joined}</edges></net>'
    return [output_of(out)[1] for out in CORE.read_model(text.encode(), blob).outputs]


@pytest.mark.parametrize("type", FOLDED)
def test_values_before_running(type: str) -> None:
    """The bounds of a shape's sizes after an operation are the runtime's."""
    rng = np.random.default_rng(len(type))
    op = next(op for op in OPS if op.type == type)
    shape_of = structure.SHAPE_OF_3
    assert op.shape is not None
    assert shape_of.shape is not None
    asked, given = list[tuple[str, str, bool]](), list[Bounds | None]()
    for _ in range(60):
        shape = tuple(Dim.of(int(rng.integers(1, 6))) if rng.random() < 0.3 else random_dim(rng) for _ in range(4))
        if rng.random() < 0.3:
            shape = tuple(Dim.of(int(size)) for size in rng.integers(1, 9, 4))
        other = ",".join(str(rng.integers(1, 6)) for _ in range(4))
        swap = bool(rng.random() < 0.3) and type != "FloorMod"
        sizes = shape_of.shape(attrs_of(shape_of, {}), [Fact(element_type("f32"), shape)])[0]
        constant = Fact(element_type("i64"), sizes.shape, Bounds.exactly(np.array(other.split(","), dtype=np.int64)))
        found = op.shape(attrs_of(op, {}), [constant, sizes] if swap else [sizes, constant])[0].value
        if found is None or (found.lower >= 0).all():
            asked.append((text_of(shape), other, swap))
            given.append(found)
    for question, found, wanted in zip(asked, given, sizes_after(type, asked), strict=True):
        assert wanted is not None
        assert found is not None or wanted == (Dim(),) * 4
        assert found is None or found.dims() == wanted, question


ARITHMETIC: Mapping[str, Callable[[Builder, Source, Array], Source]] = {
    "product": lambda builder, sizes, _: builder.call("Multiply", sizes, sizes),
    "nothing": lambda builder, sizes, numbers: builder.call("Multiply", sizes, numbers - numbers),
    "difference": lambda builder, sizes, numbers: builder.call("Subtract", numbers + 7, sizes),
    "of itself": lambda builder, sizes, _: builder.call("Subtract", sizes, sizes),
    "remainder": lambda builder, sizes, numbers: builder.call("FloorMod", sizes, numbers),
    "elements": lambda builder, sizes, _: builder.call("ReduceProd", sizes, np.array([0]), keep_dims=True),
    "negative, and again": lambda builder, sizes, numbers: builder.call(
        "Divide", builder.call("Multiply", sizes, -numbers), -numbers
    ),
    "by a negative": lambda builder, sizes, numbers: builder.call(
        "Divide", -6 * numbers, builder.call("Subtract", sizes, 17 * numbers)
    ),
    "by either sign": lambda builder, sizes, numbers: builder.call(
        "Abs", builder.call("Divide", 9 * numbers, builder.call("Subtract", sizes, numbers))
    ),
}


@pytest.mark.parametrize("kind", ["f32", "i32", "i64"])
@pytest.mark.parametrize("sizes", ["?,?", "2..9,?", "0..,3..", "2..9,4..16", "?,0", "5,1..3"])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_sizes_after_arithmetic(name: str, sizes: str, kind: str) -> None:
    """A shape that is computed from sizes, known or not, is the runtime's, whatever type computes it."""
    builder = Builder()
    data = builder.parameter("data", sizes)
    counted = builder.call("Convert", builder.call("ShapeOf", data, output_type="i64"), destination_type=kind)
    numbers = np.array([2, 3]).astype(element_type(kind).held_dtype)
    chosen = builder.call("Convert", ARITHMETIC[name](builder, counted, numbers), destination_type="i64")
    builder.result(builder.call("Reshape", data, chosen, special_zero=False), "out")
    wanted = ir_tools.to_openvino(builder.model).output(0).get_partial_shape()
    found = propagate_shapes(builder.model).facts["reshape", 2]
    assert format_shape(found.shape) == format_shape(parse_shape(str(wanted)))


def test_remainders_of_sizes_by_sizes_are_those_of_the_runtime() -> None:
    rng = np.random.default_rng(6)
    for _ in range(60):
        builder, dims = Builder(), (random_dim(rng), random_dim(rng))
        counted = builder.call("ShapeOf", builder.parameter("data", dims), output_type="i64")
        rest = builder.call("Mod", counted, builder.call("Gather", counted, np.array([1, 0]), np.array(0)))
        builder.result(builder.call("Broadcast", np.float32(0), rest), "out")
        wanted = ir_tools.to_openvino(builder.model).output(0).get_partial_shape()
        found = propagate_shapes(builder.model).facts["broadcast", 2]
        assert format_shape(found.shape) == format_shape(parse_shape(str(wanted))), dims


@pytest.mark.parametrize("kind", ["f32", "i64"])
def test_bounds_of_quotients_are_the_least_and_the_largest(kind: str) -> None:
    """The bounds of a quotient of numbers of either sign by others of one sign, against every pair of them."""
    rng, dtype = np.random.default_rng(8), element_type(kind).held_dtype
    divide = next(op for op in OPS if op.type == "Divide")
    assert divide.shape is not None
    for _ in range(100):
        left = np.sort(rng.integers(-6, 7, 2))
        right = np.sort(rng.integers(1, 7, 2) * rng.choice([-1, 1]))
        facts = [Fact(element_type(kind), (), Bounds(*pair.astype(dtype))) for pair in (left, right)]
        found = divide.shape(attrs_of(divide, {}), facts)[0].value
        assert found is not None
        pairs = product(*(np.arange(low, high + 1).astype(dtype) for low, high in (left, right)))
        quotients = [one / other if kind == "f32" else one // other for one, other in pairs]
        assert (found.lower, found.upper) == (min(quotients), max(quotients))


CONSTANTS = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "boolean": np.bool_}
KNOWN_TO_THE_RUNTIME = {
    *("Swish-4 f32", "PReLU-1 f32", "SoftMax-1 f32", "SoftMax-8 f32"),
    *("BitwiseLeftShift-15 i32", "BitwiseRightShift-15 i32"),
}
"""Results of constants that the rule leaves open: none of them decides a shape."""


def constant(slot: Slot, kind: str) -> Slot:
    """An input of the sample as a constant of small numbers."""
    if not isinstance(slot, tuple):
        return slot
    sizes = [int(size) for size in slot[1].split(",") if size]
    return np.resize([1, 2], sizes).astype(CONSTANTS[kind])


@pytest.mark.parametrize("op", [op for op in OPS if sample_of(op)], ids=str)
def test_the_runtime_knows_the_same_results_of_constants(op: Op, client: RuntimeClient) -> None:
    sample = sample_of(op)
    assert sample is not None
    for kind in CONSTANTS:
        setting = Setting(op, [constant(slot, kind) for slot in sample.slots], sample.raw)
        found, wanted = found_rows(setting), wanted_rows(client, setting)
        if not isinstance(found, str) and not isinstance(wanted, str) and f"{op} {kind}" not in KNOWN_TO_THE_RUNTIME:
            assert (found[0][2] is None) == (wanted[0][2] is None), (kind, found, wanted)
