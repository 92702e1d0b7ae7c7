"""Generators, casts and plans, on their own."""

from unittest.mock import patch

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.errors import UsageError
from ir_tools.infer import Trial
from ir_tools.inputs import (
    GENERATORS,
    Generator,
    InputPlan,
    PlannedInput,
    checked_inputs,
    fitted,
    parse_generator,
    plan_inputs,
)
from ir_tools.runtime.worker import installed
from ir_tools.types import ELEMENT_TYPES, element_type, parse_shape
from tests.cli.conftest import pooling_xml

RNG = np.random.default_rng(0)
SHAPES = [(), (0,), (5,), (2, 4), (1, 5), (1, 3, 6, 7), (1, 6, 7, 3), (2, 3, 0, 4)]


def example(name: str) -> Generator:
    return parse_generator(name + ":0:3" if name == "integers" else name + ":1" if GENERATORS[name].needed else name)


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_makes_every_shape_and_type(name: str) -> None:
    generator = example(name)
    for dtype in ELEMENT_TYPES.values():
        if dtype.dtype is None or dtype.name == "f8e8m0" or (name == "normal" and dtype.kind == "unsigned"):
            continue
        if name == "text":
            with pytest.raises(UsageError, match=f"text does not generate values of {dtype}"):
                generator.make((2,), dtype, RNG)
            continue
        for shape in SHAPES:
            sized = Generator("image", (0, 1)) if name == "image" else generator
            made = sized.make(shape, dtype, np.random.default_rng(3))
            assert (made.shape, made.dtype) == (shape, dtype.dtype)
            again = sized.make(shape, dtype, np.random.default_rng(3))
            np.testing.assert_array_equal(made, again)


@pytest.mark.parametrize(
    "text", ["uniform", "uniform:0:255", "normal:3:0.5", "values:1,-1,2.5", "integers:-3:9", "ones", "image:-2:2"]
)
def test_a_generator_reads_what_it_writes(text: str) -> None:
    assert str(parse_generator(text)) == text
    assert parse_generator(str(parse_generator(text))) == parse_generator(text)


def test_texts() -> None:
    string = element_type("string")
    assert parse_generator("text").make((2,), string, RNG).tolist() == ["text 0", "text 1"]
    with pytest.raises(UsageError, match="ones does not generate values of string"):
        parse_generator("ones").make((2,), string, RNG)


def test_the_values_of_generators() -> None:
    f32, shape = element_type("f32"), (1000,)

    def made(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return parse_generator(text).make(shape, f32, np.random.default_rng(1))

    assert 20 < made("uniform:0:255").min() + 20.5 < 22
    assert (made("uniform:0:255").min() >= 0, made("uniform:0:255").max() > 250) == (True, True)
    assert set(made("integers:-1:2")) == {-1, 0, 1, 2}
    assert abs(made("normal:5:0.1").mean() - 5) < 0.1
    assert made("values:3,4")[:4].tolist() == [3, 4, 3, 4]
    assert made("range:2:0.5")[:3].tolist() == [2, 2.5, 3]
    assert (made("ones").min(), made("zeros").max(), made("constant:7").max()) == (1, 0, 7)


def test_an_image_is_smooth_and_fills_its_range() -> None:
    for shape, axes in (((2, 3, 32, 32), (2, 3)), ((2, 32, 32, 3), (1, 2))):
        made = parse_generator("image:10:20").make(shape, element_type("f32"), np.random.default_rng(1))
        assert (made.min(), made.max()) == (10, 20)
        steps = max(np.abs(np.diff(made, axis=axis)).mean() for axis in axes)
        assert steps < made.std() / 2


def test_boxes_have_two_corners() -> None:
    made = parse_generator("boxes:10:20").make((7, 5), element_type("f32"), np.random.default_rng(1))
    assert (made[:, 0] == 0).all()
    assert (made[:, 1:3] < made[:, 3:]).all()
    assert made[:, 3].max() <= 10 < made[:, 4].max() <= 20


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("unifrom", "did you mean uniform"),
        ("nothing", "generators are normal"),
        ("uniform:1:2:3", "uniform:LOW:HIGH"),
        ("uniform:nan", "uniform:LOW:HIGH"),
        ("uniform:0:inf", "uniform:LOW:HIGH"),
        ("image:2:1", "has an end below its start"),
        ("normal:0:-1", "has a negative deviation"),
        ("integers:0:1.5", "has a limit that is not an integer"),
        ("values", "values:A,B"),
        ("ones:1", "expected ones"),
    ],
)
def test_a_wrong_generator(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_generator(text)


def test_values_that_a_type_cannot_hold() -> None:
    with pytest.raises(UsageError, match="from 0 to 300, which u8 cannot hold"):
        parse_generator("values:0,300").make((4,), element_type("u8"), RNG)
    with pytest.raises(UsageError, match="f16 cannot hold"):
        parse_generator("constant:1e6").make((4,), element_type("f16"), RNG)


@pytest.mark.parametrize(
    ("values", "dtype", "wanted"),
    [
        (np.array([0.1]), "f32", np.float32(0.1)),
        (np.array([0.1]), "f16", np.float16(0.1)),
        (np.array([np.inf, np.nan]), "f32", np.array([np.inf, np.nan], np.float32)),
        (np.array([5]), "i32", np.int32(5)),
        (np.array([5], np.int32), "i64", np.int64(5)),
        (np.array([5], np.uint8), "f32", np.float32(5)),
        (np.array([5.0]), "i64", np.int64(5)),
        (np.array([0, 1]), "boolean", np.array([False, True])),
        (np.array([True]), "f32", np.float32(1)),
        ([[1, 2]], "f32", np.array([[1, 2]], np.float32)),
        (np.array([1], ">i4"), "i32", np.int32(1)),
    ],
)
def test_casts_that_keep_the_values(
    values: object, dtype: str, wanted: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
) -> None:
    found = fitted("x", values, element_type(dtype), None).array
    assert found.dtype == element_type(dtype).dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([2**40]), "i32"),
        (np.array([-1]), "u8"),
        (np.array([-1]), "u64"),
        (np.array([2**63], np.uint64), "i64"),
        (np.array([0.5]), "i64"),
        (np.array([np.nan]), "i64"),
        (np.array([1e300]), "f32"),
        (np.array([2**24 + 1]), "f32"),
        (np.array([2]), "boolean"),
        (np.array([1 + 2j]), "f32"),
        (np.array(["a"]), "f32"),
        (np.array([None]), "f32"),
    ],
)
def test_casts_that_would_change_values_are_refused(values: object, dtype: str) -> None:
    with pytest.raises(UsageError, match="input 'x'"):
        fitted("x", values, element_type(dtype), None)


@pytest.mark.parametrize("sizes", [(3, 8, 8), (1, 3, 8), (1, 3, 8, 9), (1, 1, 3, 8, 8), ()])
def test_another_shape_is_refused_with_the_expected_one(sizes: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=r"expected \[\?,3,8,8\]"):
        fitted("x", np.zeros(sizes, np.float32), element_type("f32"), parse_shape("?,3,8,8"))


def plan(**given: str) -> InputPlan:
    return plan_inputs(ir_tools.read(pooling_xml().encode()), given)


def test_samples_differ_and_given_arrays_do_not() -> None:
    found = plan(data="uniform:0:255")
    first, second = found.arrays(0)["data"], found.arrays(1)["data"]
    assert (first != second).mean() > 0.9
    np.testing.assert_array_equal(first, found.arrays()["data"])
    array = np.ones((1, 2, 8, 8), np.float32)
    given = plan_inputs(ir_tools.read(pooling_xml().encode()), {"": array})
    np.testing.assert_array_equal(given.arrays(5)["data"], array)


def test_a_line_for_each_input() -> None:
    entry = PlannedInput(
        name="ids",
        dtype=element_type("i64"),
        shape=(1, 32),
        values=Generator("integers", (0, 999)),
        sizes_chosen=True,
        values_chosen=True,
        why="indices of Gather 'embed'",
    )
    assert str(entry) == "ids: i64 [1,32], integers:0:999, sizes and values chosen: indices of Gather 'embed'"
    assert [str(entry) for entry in plan(data="ones").inputs] == ["data: f32 [1,2,8,8], ones"]


def test_run_casts_and_takes_generators_and_stays_strict() -> None:
    model = ir_tools.read(pooling_xml().encode())
    values = np.random.default_rng(0).standard_normal((1, 2, 8, 8))
    (wide,) = ir_tools.run(model, {"data": values}).values()
    (narrow,) = ir_tools.run(model, {"data": values.astype(np.float32)}).values()
    np.testing.assert_array_equal(wide, narrow, strict=True)
    (ones,) = ir_tools.run(model, {"data": "ones"}).values()
    assert ones.min() == ones.max() == 1
    (planned,) = ir_tools.run(model, ir_tools.plan_inputs(model, seed=3).arrays()).values()
    assert planned.shape == (1, 2, 4, 4)
    with pytest.raises(UsageError, match="input 'data' has no value"):
        ir_tools.run(model, {})


@pytest.mark.parametrize(("dim", "size"), [("1..16", 16), ("40..", 40), ("40..50", 40), ("?", 32)])
def test_a_size_is_within_the_bounds_of_its_dimension(dim: str, size: int) -> None:
    builder = ir_tools.Builder()
    builder.result(builder.call("ReLU", builder.parameter("data", f"2,{dim}")))
    assert plan_inputs(builder.model).arrays(0)["data"].shape == (2, size)


@pytest.mark.parametrize(("operation", "number", "values"), [("Multiply", 2, (0, 2)), ("Subtract", 3, (3, 8))])
def test_indices_that_are_computed_of_an_input_stay_in_the_table(
    operation: str, number: int, values: tuple[int, int]
) -> None:
    """Of 6 rows; twice 2 is the last even one, and 8 - 3 the last of all."""
    builder = ir_tools.Builder()
    indices = builder.call(operation, builder.parameter("x", "9", "i64"), np.array(number))
    builder.result(builder.call("Gather", np.zeros((6, 2), np.float32), indices, np.array(0)))
    (planned,) = plan_inputs(builder.model).inputs
    assert planned.values == Generator("integers", values)


def test_a_join_of_many_inputs_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    build = ir_tools.Builder()
    parts = [build.parameter(f"part_{number}", "1,4", "f32") for number in range(40)]
    build.result(build.call("Concat", *parts, axis=0))
    with patch.object(Trial, "inputs", autospec=True, side_effect=Trial.inputs) as measured:
        assert len(plan_inputs(build.model).inputs) == 40
    assert measured.call_count == 1


def test_a_name_of_two_inputs_is_that_of_the_first() -> None:
    """As for the runtime: the tensor of the first input is called as the layer of the second."""
    first, second = (ops.parameter([size], np.float32, name=name) for size, name in ((1, "one"), (2, "two")))
    first.output(0).set_names({"two"})
    second.output(0).set_names({"other"})
    built = ov.Model([ops.concat([first, second], 0)], [first, second])
    model = ir_tools.read(built)
    arrays = {"two": np.zeros(1, np.float32), "other": np.ones(2, np.float32)}
    assert [installed().numbers(built)[name] for name in arrays] == [0, 1]
    assert {name: array.size for name, array in checked_inputs(model, arrays).items()} == {
        "two": 1,
        "other": 2,
    }


def test_an_input_that_infinities_of_both_signs_are_added_to() -> None:
    """Their mean, which is no number, says nothing of the values of the input, and there is no warning."""
    made = Builder()
    made.result(made.call("Add", made.parameter("x", "2"), made.constant(np.array([np.inf, -np.inf], np.float32))))
    assert np.isfinite(ir_tools.plan_inputs(made.model).arrays()["x"]).all()
