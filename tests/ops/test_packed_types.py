"""Element types smaller than a byte: conversions as the runtime has them, results that stay in their type."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset13

from ir_tools import execute, read, validate
from ir_tools.infer import propagate_shapes
from ir_tools.ops import Array
from ir_tools.ops.conversion import cast
from ir_tools.types import ELEMENT_TYPES, element_type, format_shape
from ir_tools.types.packing import unpack
from tests.ops.single import CONFIG, CORE, Slot, single, single_text

FLOATS = np.array(
    [
        *(-300, -9, -8.5, -7.6, -2.5, -1.5, -0.61, -0.5, -0.0, 0, 0.2, 0.3, 0.75, 1.25, 1.5, 2.5, 3, 3.5, 5, 7.5, 8),
        *(15.6, 19, 63, 255, 257, 1000, 1e-39, 3e38, np.nan, np.inf, -np.inf),
    ],
    np.float32,
)
INTEGERS = np.array([-128, -100, -17, -8, -1, 0, 1, 2, 3, 7, 8, 15, 16, 33, 64, 127])
PACKED = ("u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1")


def run_one(type: str, version: int, raw: Mapping[str, str], slots: Sequence[Slot], arrays: Sequence[Array]) -> Array:
    """The only output of a layer by the executor."""
    model = read(single_text(type, version, raw, slots)[0])
    names = [endpoint.name for endpoint in model.inputs]
    (found,) = execute.run(model, dict(zip(names, arrays, strict=True))).values()
    return found


def by_runtime(model: ov.Model, array: Array, kind: str) -> Array:
    """The output by OpenVINO's own reference, or by the CPU plugin for nf4, which has no reference."""
    if kind == "nf4":
        request = CORE.compile_model(model, "CPU", CONFIG).create_infer_request()
        request.infer([array])
        out = request.get_output_tensor(0)
    else:
        given = ov.Tensor(model.inputs[0].get_element_type(), ov.Shape(array.shape))
        np.copyto(given.data.view(array.dtype).reshape(array.shape), array)
        out = ov.Tensor(model.outputs[0].get_element_type(), ov.Shape(array.shape))
        assert model.evaluate([out], [given])
    wanted = element_type(kind)
    data = np.asarray(out.data)
    if wanted.dtype is None:
        return unpack(data.view(np.uint8).ravel(), wanted, array.size)
    return data.view(wanted.dtype).ravel()


CONVERSIONS = [
    (source, kind)
    for kind in (*PACKED, "f8e4m3", "f8e5m2", "f8e8m0")
    for source in ("f32", "f16", *(() if kind in {"nf4", "f4e2m1", "f8e8m0"} else ("i8", "i32", "u8", "boolean")))
]
"""Some types the runtime makes of floats only."""


@pytest.mark.parametrize(("source", "kind"), CONVERSIONS)
def test_conversion(source: str, kind: str) -> None:
    dtype = element_type(source).dtype
    with np.errstate(all="ignore"):
        array = (FLOATS if source in {"f32", "f16"} else INTEGERS).astype(dtype)
    slots = [(source, str(array.size))]
    raw = {"destination_type": kind}
    wanted = by_runtime(single("Convert", 1, raw, slots), array, kind)
    found = run_one("Convert", 1, raw, slots, [array])
    assert found.dtype == element_type(kind).held_dtype
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("kind", ["i4", "u4", "nf4", "f4e2m1", "f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("start", [1, 2])
def test_numbers_in_a_range(kind: str, start: int) -> None:
    numbers = [np.array(number, np.int32) for number in (start, 14, 3)]
    slots: list[Slot] = [("i32", "")] * 3
    found = run_one("Range", 4, {"output_type": kind}, slots, numbers)
    request = CORE.compile_model(single("Range", 4, {"output_type": kind}, slots), "CPU", CONFIG).create_infer_request()
    request.infer(numbers)
    wanted, data = element_type(kind), np.asarray(request.get_output_tensor(0).data)
    given = data.view(wanted.dtype) if wanted.dtype else unpack(data.view(np.uint8).ravel(), wanted, found.size)
    assert found.dtype == wanted.held_dtype
    np.testing.assert_array_equal(found.astype(np.float64), given.astype(np.float64))


@pytest.mark.parametrize("kind", [kind.name for kind in ELEMENT_TYPES.values() if kind.held_dtype is not None])
@pytest.mark.parametrize("source", ["f16", "bf16", "f8e4m3", "f8e5m2"])
def test_all_floats_are_converted_alike(source: str, kind: str) -> None:
    """But for f64, of which the runtime limits what is too large."""
    with np.errstate(all="ignore"):
        values = FLOATS.astype(element_type(source).held_dtype)
        found, wanted = (cast(one, element_type(kind)) for one in (values, values.astype(np.float32)))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("kind", PACKED)
def test_conversion_to_the_type_of_another_tensor(kind: str) -> None:
    like = np.ones(1, element_type(kind).held_dtype)
    found = run_one("ConvertLike", 1, {}, [("f32", str(FLOATS.size)), (kind, "1")], [FLOATS, like])
    wanted = run_one("Convert", 1, {"destination_type": kind}, [("f32", str(FLOATS.size))], [FLOATS])
    np.testing.assert_array_equal(found, wanted)


EXACT: Mapping[str, Callable[[int, int], int]] = {
    "Add": lambda a, b: a + b,
    "Subtract": lambda a, b: a - b,
    "Multiply": lambda a, b: a * b,
    "Maximum": max,
    "SquaredDifference": lambda a, b: (a - b) ** 2,
}


@pytest.mark.parametrize("type", EXACT)
@pytest.mark.parametrize(("kind", "low", "high"), [("u4", 0, 16), ("i4", -8, 8), ("u2", 0, 4), ("u6", 0, 64)])
def test_arithmetic_wraps(type: str, kind: str, low: int, high: int) -> None:
    """All pairs of numbers against Python's integers, cut off to the bits of the type."""
    left, right = (each.ravel() for each in np.meshgrid(np.arange(low, high), np.arange(low, high)))
    dtype = element_type(kind).held_dtype
    found = run_one(type, 1, {}, [(kind, str(left.size))] * 2, [left.astype(dtype), right.astype(dtype)])
    exact = [EXACT[type](int(a), int(b)) for a, b in zip(left, right, strict=True)]
    assert found.tolist() == [(value - low) % (high - low) + low for value in exact]


@pytest.mark.parametrize(("type", "wanted"), [("Abs", [-8, 7, 0, 7]), ("Negative", [-8, 7, 0, -7])])
def test_least_number_has_no_opposite(type: str, wanted: list[int]) -> None:
    assert run_one(type, 1, {}, [("i4", "4")], [np.array([-8, -7, 0, 7], np.int8)]).tolist() == wanted


def test_comparisons_are_boolean() -> None:
    found = run_one(
        "Less", 1, {}, [("u4", "2"), ("u4", "2")], [np.array([9, 3], np.uint8), np.array([10, 3], np.uint8)]
    )
    assert found.dtype == bool
    assert found.tolist() == [True, False]


def test_type_survives_layers_that_move_elements(tmp_path: Path) -> None:
    """A Reshape, then an Add whose sums wrap at 4 bits."""
    data = opset13.parameter([2, 2], ov.Type.u4, name="data")
    flat = opset13.reshape(data, np.array([4]), special_zero=False)
    ov.serialize(ov.Model([opset13.add(flat, flat)], [data]), tmp_path / "m.xml")
    (found,) = execute.run(read(tmp_path / "m.xml"), {"data": np.array([[9, 8], [1, 15]], np.uint8)}).values()
    assert found.tolist() == [2, 0, 2, 14]


def model_with_a_loop() -> ov.Model:
    """Three iterations that double u4 numbers."""
    data, inner = (opset13.parameter([3], ov.Type.u4, name=name) for name in ("data", "inner"))
    doubled, again = opset13.add(inner, inner), opset13.constant(np.array(True))
    loop = opset13.loop(opset13.constant(np.array(3)), opset13.constant(np.array(True)))
    loop.set_function(ov.Model([opset13.result(again), opset13.result(doubled)], [inner], "body"))
    loop.set_special_body_ports([-1, 0])
    loop.set_merged_input(inner, data.output(0), doubled.output(0))
    return ov.Model([opset13.result(loop.get_iter_value(doubled.output(0), -1))], [data], "loop")


def model_with_a_choice() -> ov.Model:
    """The absolute value of i4 numbers, or their double; then that is doubled."""
    condition, data = opset13.parameter([], ov.Type.boolean, name="condition"), opset13.parameter([2], ov.Type.i4)
    data.set_friendly_name("data")
    first, second = opset13.parameter([2], ov.Type.i4), opset13.parameter([2], ov.Type.i4)
    absolute, doubled = opset13.result(opset13.abs(first)), opset13.result(opset13.add(second, second))
    choice = opset13.if_op(condition)
    choice.set_then_body(ov.Model([absolute], [first], "then"))
    choice.set_else_body(ov.Model([doubled], [second], "else"))
    choice.set_input(data.output(0), first, second)
    chosen = choice.set_output(absolute, doubled)
    return ov.Model([opset13.result(opset13.add(chosen, chosen))], [condition, data], "choice")


@pytest.mark.parametrize(
    ("model", "fed", "wanted"),
    [
        (model_with_a_loop, {"data": np.array([1, 3, 9], np.uint8)}, [8, 8, 8]),
        (model_with_a_choice, {"condition": np.array(True), "data": np.array([-8, 3], np.int8)}, [0, 6]),
        (model_with_a_choice, {"condition": np.array(False), "data": np.array([-8, 3], np.int8)}, [0, -4]),
    ],
    ids=["Loop", "If-then", "If-else"],
)
def test_type_survives_bodies(
    model: Callable[[], ov.Model], fed: dict[str, Array], wanted: list[int], tmp_path: Path
) -> None:
    """Files as the runtime writes them are valid, and numbers wrap in bodies and behind them."""
    written = model()
    written.set_rt_info("value", ["section", "key"])
    ov.serialize(written, tmp_path / "m.xml")
    assert [str(found) for found in validate(tmp_path / "m.xml")] == []
    (found,) = execute.run(read(tmp_path / "m.xml"), fed).values()
    assert found.tolist() == wanted


@pytest.mark.parametrize("kind", ["i4", "u4", "u2", "u8"])
def test_shapes_from_constants(kind: str, tmp_path: Path) -> None:
    """A Reshape to sizes that a constant of the type holds, converted to i64."""
    data = opset13.parameter([6], ov.Type.f32, name="data")
    sizes = opset13.convert(opset13.constant([2, 3], ov.Type(kind)), "i64")
    model = ov.Model([opset13.result(opset13.reshape(data, sizes, special_zero=False))], [data])
    ov.serialize(model, tmp_path / "m.xml", tmp_path / "m.bin")
    read_back = read(tmp_path / "m.xml")
    reshape = next(layer for layer in read_back.graph.layers() if layer.type == "Reshape")
    found = propagate_shapes(read_back).facts[reshape.name, reshape.outputs[0].id]
    assert format_shape(found.shape) == str(model.outputs[0].partial_shape)[1:-1] == "2,3"
