"""Patterns of networks that converters write, as small models: shapes and values are the runtime's."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest
from openvino import opset7

import ir_tools
from ir_tools.comparison import TOLERANCES, compare
from ir_tools.comparison._coarse import Coarse
from ir_tools.errors import ShapeError
from ir_tools.execute import run
from ir_tools.format.read import read
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import parse_shape
from ir_tools.validation import validate

Builder = Callable[[], ov.Model]


def saved(build: Builder, folder: Path) -> Path:
    """The model as a file."""
    target = folder / "model.xml"
    ov.save_model(build(), target, compress_to_fp16=False)
    return target


def sizes_through_i32() -> ov.Model:
    """A batch that the file bounds by the largest i32, as older exporters do, read back through i32."""
    data = ops.parameter(ov.PartialShape("..2147483647,6"), np.float32)
    batch = ops.gather(ops.convert(ops.shape_of(data), "i32"), np.array([0]), np.array(0))
    pattern = ops.concat([batch, np.array([2, 3], np.int32)], 0)
    return ov.Model([ops.reshape(data, ops.convert(pattern, "i64"), False)], [data])


def sizes_in_i32() -> ov.Model:
    """The same, counted in i32 from the start."""
    data = ops.parameter(ov.PartialShape("..2147483647,6"), np.float32)
    batch = ops.gather(ops.shape_of(data, "i32"), np.array([0]), np.array(0))
    return ov.Model([ops.reshape(data, ops.concat([batch, np.array([2, 3], np.int32)], 0), False)], [data])


SHAPED: tuple[Builder, ...] = (sizes_through_i32, sizes_in_i32)


@pytest.mark.parametrize("build", SHAPED, ids=lambda build: build.__name__)
def test_shapes_are_those_of_the_runtime(build: Builder, tmp_path: Path, client: RuntimeClient) -> None:
    path = saved(build, tmp_path)
    model = read(path)
    report = propagate_shapes(model)
    wanted = {place: parse_shape(shape) for place, (_, shape) in client.shapes(path, None).items()}
    found = {
        (place, index): report.shapes[place, port.id]
        for place, layer, _ in model.walk()
        for index, port in enumerate(layer.outputs)
    }
    assert found == {place: wanted[place] for place in found}
    assert not report.mismatches


def last_size_by_gather_7() -> ov.Model:
    """A single constant index that counts from the end, though Gather-7 has no such thing."""
    data = ops.parameter([3], np.float32)
    return ov.Model([opset7.gather(ops.relu(data), np.int32(-2), np.int32(0))], [data])


def several_indices_by_gather_7() -> ov.Model:
    """Of several indices the negative ones give zeros."""
    data = ops.parameter([3], np.float32)
    return ov.Model([opset7.gather(ops.relu(data), np.array([-2, 1], np.int32), np.int32(0))], [data])


def doubling_until_large() -> ov.Model:
    """`while` of a script: as many rounds as there are numbers, and a condition that ends it."""
    state, data = (ops.parameter([3], np.float32) for _ in range(2))
    doubled = ops.multiply(state, np.float32(2))
    goes_on = ops.less(ops.reduce_max(doubled, np.array([0]), False), np.float32(100))
    loop = ops.loop(ops.constant(np.int64(2**63 - 1)), ops.constant(np.array(True)))
    loop.set_function(ov.Model([goes_on, doubled], [state]))
    loop.set_merged_input(state, data.output(0), doubled.output(0))
    loop.set_special_body_ports([-1, 0])
    return ov.Model([loop.get_iter_value(doubled.output(0), -1)], [data])


def rounded_to_8_bits(kind: str) -> ov.Model:
    """Through f8 and back."""
    data = ops.parameter([3], np.float32)
    return ov.Model([ops.convert(ops.convert(ops.multiply(data, np.float32(0.31)), kind), "f32")], [data])


def rounded_to_f8e4m3() -> ov.Model:
    """f8e4m3 stays f8e4m3 where all is computed in f32."""
    return rounded_to_8_bits("f8e4m3")


def rounded_to_f8e5m2() -> ov.Model:
    """As does f8e5m2."""
    return rounded_to_8_bits("f8e5m2")


VALUED: tuple[Builder, ...] = (
    last_size_by_gather_7,
    several_indices_by_gather_7,
    doubling_until_large,
    rounded_to_f8e4m3,
    rounded_to_f8e5m2,
)


@pytest.mark.parametrize("build", VALUED, ids=lambda build: build.__name__)
def test_values_are_those_of_the_runtime(build: Builder, tmp_path: Path, client: RuntimeClient) -> None:
    path = saved(build, tmp_path)
    assert not [finding for finding in validate(path) if finding.severity == "error"]
    model = read(path)
    found = compare(model, inputs={model.inputs[0].name: np.array([3.0, 8.0, 5.0], np.float32)}, client=client)
    assert [entry.status for entry in found.layers] == ["ok"] * len(found.layers)


# --- steps that an error of rounding decides ------------------------------------------------------------------------

STEPS: dict[str, Callable[[ov.Node], ov.Node]] = {
    "Floor": ops.floor,
    "Ceiling": ops.ceiling,
    "Round": lambda data: ops.round(ops.add(data, np.float32(0.5)), "half_to_even"),
    "Convert": lambda data: ops.convert(data, "i32"),
}


@pytest.mark.parametrize("name", STEPS)
def test_an_error_of_rounding_before_a_step(name: str, tmp_path: Path, client: RuntimeClient) -> None:
    """Sums that are integers but for their last digits, which the runtime adds in another order, then a step."""
    rows = np.random.default_rng(3).standard_normal((64, 4096)).astype(np.float32)
    rows[:, -1] += (np.rint(rows.sum(1, dtype=np.float64)) - rows.sum(1, dtype=np.float64)).astype(np.float32)

    def build() -> ov.Model:
        data = ops.parameter([64, 4096], np.float32)
        return ov.Model([STEPS[name](ops.matmul(data, np.ones((4096, 1), np.float32), False, False))], [data])

    model = read(saved(build, tmp_path))
    found = compare(model, inputs={model.inputs[0].name: rows}, mode="cumulative", client=client)
    steps = [entry for entry in found.layers if entry.op.startswith(name)]
    assert [entry.status for entry in found.layers] == ["ok"] * len(found.layers)
    assert any(entry.difference and entry.difference.undefined for entry in steps)


def compressed(folder: Path) -> Path:
    """A product with weights of int8 and scales of f16, as compressed language models have it."""
    generator = np.random.default_rng(5)
    weights = ops.constant(generator.integers(-128, 128, (96, 512)).astype(np.int8))
    scales = ops.constant(generator.uniform(0.001, 0.01, (96, 1)).astype(np.float16))
    data = ops.parameter(ov.PartialShape("?,512"), np.float32)
    product = ops.multiply(ops.convert(weights, "f16"), scales)
    model = ov.Model([ops.relu(ops.matmul(data, ops.convert(product, "f32"), False, True))], [data])
    target = folder / "model.xml"
    ov.save_model(model, target, compress_to_fp16=False)
    return target


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
def test_compressed_weights(mode: Literal["isolated", "cumulative"], tmp_path: Path, client: RuntimeClient) -> None:
    """Nothing is quantized on the way, and errors of f16 in the weights are allowed for in what is f32 after them."""
    model = read(compressed(tmp_path))
    data = np.random.default_rng(2).standard_normal((64, 512)).astype(np.float32)
    found = compare(model, inputs={model.inputs[0].name: data}, mode=mode, client=client)
    assert [entry.status for entry in found.layers] == ["ok"] * len(found.layers)
    assert [entry.ok for entry in found.outputs] == [True]
    after = {entry.op: entry.difference.tolerance for entry in found.layers if entry.difference}
    assert after["MatMul-1"] == TOLERANCES["f16"]
    assert after["ReLU-1"] == TOLERANCES["f32" if mode == "isolated" else "f16"]
    assert found.outputs[0].difference.tolerance == TOLERANCES["f16"]


def test_f16_weights_alone_carry_nothing() -> None:
    """Constants of f16 that are only converted are exact: what follows is held against f32."""
    data = ops.parameter([2, 8], np.float32)
    weights = ops.convert(ops.constant(np.linspace(0, 1, 32, dtype=np.float16).reshape(8, 4)), "f32")
    model = ir_tools.read(ov.Model([ops.matmul(data, weights, False, False)], [data]))
    assert not Coarse.of(model.graph).reached


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
def test_a_tensor_that_cannot_be_taken_out(
    mode: Literal["isolated", "cumulative"], tmp_path: Path, client: RuntimeClient
) -> None:
    """The CPU refuses a Multinomial whose output is read twice, as it is when it is taken out; the rest is compared."""

    def build() -> ov.Model:
        data = ops.parameter([2, 5], np.float32)
        chances = ops.softmax(data, 1)
        drawn = ops.multinomial(chances, np.array([1]), "i64", False, False, 7, 7)
        return ov.Model([ops.multiply(drawn, ops.constant(np.int64(0))), ops.relu(chances)], [data])

    model = read(saved(build, tmp_path))
    found = compare(model, mode=mode, client=client)
    rows = {entry.op.partition("-")[0]: entry for entry in found.layers}
    assert (rows["Multinomial"].status, rows["SoftMax"].status, rows["ReLU"].status) == ("skipped", "ok", "ok")
    assert "with this tensor as an output" in (rows["Multinomial"].reason or "")
    assert [entry.ok for entry in found.outputs] == [True, True]


def test_a_layer_that_cannot_take_what_it_gets(tmp_path: Path) -> None:
    """Sizes that meet only when the model runs: the layer is named, and nobody sees numpy's own words alone."""

    def build() -> ov.Model:
        left, right = (ops.parameter(ov.PartialShape("?"), np.float32) for _ in range(2))
        return ov.Model([ops.select(ops.greater(left, np.float32(0)), left, right, name="chosen")], [left, right])

    model: Model = read(saved(build, tmp_path))
    names = [end.name for end in model.inputs]
    with pytest.raises(ShapeError, match="layer 'chosen'"):
        run(model, dict(zip(names, (np.ones(3, np.float32), np.ones(2, np.float32)), strict=True)))
