"""The reference executor: whole models against the runtime, names, types, and what it refuses."""

import weakref
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

from ir_tools import compare
from ir_tools.builder import Builder
from ir_tools.errors import RuntimeFailure, ShapeError, UnsupportedError, UsageError
from ir_tools.execute import Execution, Precision, ill_conditioned, run
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient, sources
from ir_tools.types import ELEMENT_TYPES, element_type
from tests.ops.single import single_text

CORE = ov.Core()


def layer(number: int, name: str, type: str, raw: str, inputs: int, kind: str | None, version: str = "opset10") -> str:
    precision = "" if kind is None else f' precision="{ELEMENT_TYPES[kind].precision}"'
    ports = "".join(f'<port id="{index}"{precision}/>' for index in range(inputs))
    output = (
        f'<output><port id="{inputs}"{precision} names="{name}_out"/></output>' if kind and type != "Result" else ""
    )
    return (
        f'<layer id="{number}" name="{name}" type="{type}" version="{version}"><data {raw}/>'
        f"<input>{ports}</input>{output}</layer>"
    )


def chain(kind: str, steps: list[tuple[str, str]], ir_version: int = 11) -> tuple[bytes, bytes]:
    """Two inputs, added, then one layer after the other."""
    shape = 'shape="2,3,4"'
    layers = [
        layer(0, "a", "Parameter", f'element_type="{kind}" {shape}', 0, kind),
        layer(1, "b", "Parameter", f'element_type="{kind}" shape="?,1"', 0, kind),
        layer(2, "sum", "Add", "", 2, kind),
    ]
    layers += [layer(3 + index, f"step{index}", type, raw, 1, kind) for index, (type, raw) in enumerate(steps)]
    layers.append(layer(len(layers), "result", "Result", "", 1, kind))
    edges = [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)]
    edges += [(first, 1, second, 0) for first, second in pairwise(range(3, len(layers)))]
    joined = "".join(f'<edge from-layer="{a}" from-port="{p}" to-layer="{b}" to-port="{q}"/>' for a, p, b, q in edges)
    text = f'<net name="m" version="{ir_version}"><layers>{"".join(layers)}</layers><edges>{joined}</edges></net>'
    return text.encode(), b""


def inputs(kind: str) -> dict[str, Array]:
    rng = np.random.default_rng(2)
    dtype = element_type(kind).dtype
    assert dtype is not None
    return {"a": (rng.normal(size=(2, 3, 4)) * 4).astype(dtype), "b": (rng.normal(size=(3, 1)) * 4).astype(dtype)}


FLOATS = [("Tanh", ""), ("Elu", 'alpha="0.5"'), ("Clamp", 'min="-0.3" max="0.9"'), ("SoftMax", 'axis="1"')]
INTEGERS = [("Abs", ""), ("Clamp", 'min="0" max="6"'), ("Negative", "")]


@pytest.mark.parametrize("ir_version", [10, 11])
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "i8", "i32", "i64"])
def test_chain_equals_the_runtime(kind: str, ir_version: int) -> None:
    text, blob = chain(kind, FLOATS if element_type(kind).is_float else INTEGERS, ir_version)
    arrays = inputs(kind)
    compiled = CORE.compile_model(CORE.read_model(text, blob), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    for index, array in enumerate(arrays.values()):
        node = compiled.inputs[index]
        presented = element_type(node.get_element_type().get_type_name()).dtype
        assert presented is not None
        tensor = ov.Tensor(node.get_element_type(), ov.Shape(array.shape))
        np.copyto(tensor.data.view(presented), array.astype(presented))
        request.set_input_tensor(index, tensor)
    request.infer()
    wanted = request.get_output_tensor(0)
    dtype = element_type(wanted.get_element_type().get_type_name()).dtype
    assert dtype is not None
    (found,) = run(read(text, blob), arrays).values()
    assert found.dtype == arrays["a"].dtype
    tolerance = {"f16": 2e-3, "bf16": 1e-2}.get(kind, 1e-5)
    left, right = found.astype(np.float64), wanted.data.view(dtype).astype(np.float64)
    np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)


def small() -> Model:
    return read(*chain("f32", FLOATS))


@pytest.mark.parametrize("names", [("a", "b"), ("a_out", "b_out"), ("a_out", "b")])
def test_inputs_go_by_any_name(names: tuple[str, str]) -> None:
    arrays = dict(zip(names, inputs("f32").values(), strict=True))
    assert list(run(small(), arrays)) == [small().outputs[0].name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"c": np.zeros(1, np.float32)}, "'c'"),
        ({"a": np.zeros((2, 3, 5), np.float32)}, r"has shape \[2,3,5\]; expected \[2,3,4\]"),
        ({"a": np.full((2, 3, 4), 1e60)}, "f32 cannot represent"),
    ],
    ids=["unknown", "shape", "type"],
)
def test_wrong_inputs(change: dict[str, Array], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(small(), {**inputs("f32"), **change})


def test_a_parameter_in_lower_case_is_an_input() -> None:
    """The runtime reads types in any case, but for Const and Result."""
    text, weights = chain("f32", [("Tanh", "")])
    lower = text.replace(b'"Parameter"', b'"parameter"')
    fed = inputs("f32")
    compiled = CORE.compile_model(CORE.read_model(lower, weights), "CPU")
    (expected,) = compiled({"a_out": fed["a"], "b_out": fed["b"]}).values()
    (found,) = run(read(lower, weights), fed).values()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_missing_input() -> None:
    with pytest.raises(UsageError, match="b_out"):
        run(small(), {"a": inputs("f32")["a"]})


def test_all_layers_without_a_kernel_are_named() -> None:
    text, blob = chain("f32", [("Tanh", ""), ("Mystery", ""), ("Exp", ""), ("Riddle", "")])
    with pytest.raises(UnsupportedError, match=r"Mystery opset10, Riddle opset10 \(2 layers") as caught:
        run(read(text, blob), {})
    assert [finding.layer_name for finding in caught.value.diagnostics] == ["step1", "step3"]


def test_nan_and_infinity_give_no_warning() -> None:
    arrays = inputs("f32")
    arrays["a"][0, 0] = [np.nan, np.inf, -np.inf, 1e38]
    run(read(*chain("f32", [("Exp", ""), ("Log", ""), ("Sqrt", "")])), arrays)


def test_tensors_are_freed_after_their_last_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    import ir_tools.execute as module

    alive: list[weakref.ref[Array]] = []
    most = 0
    original = module.run_layer

    def counting(layer: Layer, arrays: Sequence[Array], **options: Any) -> object:
        nonlocal most
        done = original(layer, arrays, **options)
        alive.extend(weakref.ref(array) for array in done.outputs)
        most = max(most, sum(reference() is not None for reference in alive))
        return done

    monkeypatch.setattr(module, "run_layer", counting)
    run(read(*chain("f32", [("Tanh", "")] * 8)), inputs("f32"))
    assert most <= 3


@pytest.mark.parametrize("precision", ["as written", "f32", "f64"])
def test_what_is_rounded_to_8_bits_is_so_in_every_precision(precision: Precision) -> None:
    """The other floats are computed in the precision, and constants and inputs taken to it."""
    b = Builder()
    x = b.parameter("x", "4", "f16")
    small = b.call("Convert", b.call("Convert", x, destination_type="f8e4m3"), destination_type="f16")
    b.result(small, "small")
    b.result(b.call("Divide", x, b.constant(np.array(3, np.float16))), "third")
    b.result(b.call("Convert", x, destination_type="bf16"), "other")
    values = np.array([1.06, 0.3, 17.0, -250], np.float16)
    found = run(b.model, {"x": values}, precision=precision)
    kind = {"as written": np.float16, "f32": np.float32, "f64": np.float64}[precision]
    assert found["small"].tolist() == [1.0, 0.3125, 16, -256]
    assert found["small"].dtype == found["third"].dtype == kind
    np.testing.assert_array_equal(found["third"], (values.astype(kind) / kind(3)).astype(kind))
    np.testing.assert_array_equal(
        found["other"].astype(np.float64) == values, [precision != "as written"] * 2 + [True] * 2
    )


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("precision", ["as written", "f32", "f64"])
def test_floats_are_those_of_the_precision(precision: Precision, kind: str) -> None:
    dtype = element_type(kind).dtype
    b = Builder()
    x = b.parameter("x", "3", kind)
    third = b.constant(np.array([1, 2, 4], np.float32).astype(dtype))
    b.result(b.call("Divide", x, third), "y")
    b.result(third, "constant")
    values = np.array([1.1, 0.3, 17], np.float32).astype(dtype)
    found = run(b.model, {"x": values}, precision=precision)
    wide = dtype if precision == "as written" else element_type(precision).dtype
    assert [array.dtype for array in found.values()] == [wide, wide]
    assert found["y"].astype(np.float64).tolist() == (values.astype(np.float64) / [1, 2, 4]).tolist()


def test_what_several_known_differences_leave_unwritten_is_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    class Row:
        def __init__(self, *masks: Array | None) -> None:
            self.masks = lambda outputs: masks

    b = Builder()
    b.result(b.call("ReLU", b.parameter("x", "4")))
    masks = np.eye(4, dtype=bool)
    monkeypatch.setattr("ir_tools.execute.find", lambda *_: (Row(masks[0]), Row(masks[2]), Row(None)))
    (step,) = Execution(b.model, explain=True).steps({b.model.inputs[0].name: np.ones(4, np.float32)})
    assert step.undefined[0] is not None
    assert step.undefined[0].tolist() == [True, False, True, False]


def stateful(*, stored: bool) -> Model:
    b = Builder()
    start = b.constant(np.ones(2, np.float32))
    read = b.call("ReadValue", start, variable_id="kept", variable_type="f32", variable_shape="2")
    total = b.call("Add", b.parameter("x", "2"), read)
    if stored:
        b.call("Assign", total, variable_id="kept")
    b.result(total, "y")
    return b.model


@pytest.mark.parametrize("stored", [False, True])
def test_states_are_those_before_and_what_is_stored(stored: bool) -> None:
    execution = Execution(stateful(stored=stored), states={"kept": np.full(2, 5, np.float32)})
    assert execution.states["kept"].tolist() == [5, 5]
    assert execution.run({"x": np.ones(2, np.float32)})["y"].tolist() == [6, 6]
    assert execution.states["kept"].tolist() == ([6, 6] if stored else [5, 5])


@pytest.mark.parametrize(("precision", "rounding"), [("f32", 1e-5), ("f16", 2e-3), ("bf16", 1.6e-2)])
@pytest.mark.parametrize("error", [0.0, 1e-3, 0.1])
def test_what_rounding_decides_grows_with_the_error(precision: str, rounding: float, error: float) -> None:
    """Floor of 1 - d is decided if d is beyond the error relative to the largest magnitude, here 4."""
    b = Builder()
    floor = b.call("Floor", b.parameter("x", "?", precision))
    b.result(floor)
    gaps = np.array([1e-6, 1e-4, 2e-3, 0.02, 0.2, 0.49])
    values = np.append(1 - gaps, 4.5)
    found = ill_conditioned(b.model.graph.layer(floor.layer), [values.astype(np.float32)], error)
    assert found is not None
    assert found[:-1].tolist() == (gaps <= max(error, rounding) * 4.5).tolist()


def test_what_a_fallback_computes_comes_in_the_precision() -> None:
    b = Builder()
    b.result(b.call("ReLU", b.parameter("x", "2")), "y")
    model = read(render(b.model).replace(b'"ReLU" version="opset1"', b'"Mystery" version="extension"'))
    seen: list[Array] = []

    def fallback(model: Model, graph: Graph, layer: Layer, inputs: Sequence[Array]) -> tuple[Array, ...]:
        seen.extend(inputs)
        return (np.array([1, 2], np.float32),)

    found = run(model, {"x": np.ones(2, np.float32)}, precision="f64", fallback=fallback)
    assert [array.dtype for array in (*seen, found["y"])] == [np.float64, np.float64]


def test_a_layer_with_bodies_is_computed_here() -> None:
    path = Path(__file__).parent / "rules/missing_execution_condition/good.xml"
    weights = b"".join([bytes(8), np.array(3, np.int64).tobytes(), np.array([1], np.uint8).tobytes()])
    model = read(path, weights)
    (step,) = Execution(model).steps({"x": np.ones((1, 8), np.float32)})
    assert (step.layer.type, step.engine, step.undefined) == ("Loop", "reference", (None,))
    np.testing.assert_array_equal(step.outputs, np.full((1, 1, 8), 8))


MEANS = b'<pre-process reference-layer-name="in0">%s</pre-process>'


@pytest.mark.parametrize(
    ("kind", "shape"), [("f32", (1, 3, 2, 1)), ("f16", (3, 2, 1)), ("u8", (2, 3)), ("i32", (2, 3, 1, 1, 1))]
)
def test_means_of_an_input_are_subtracted_as_the_runtime_does(
    kind: str, shape: tuple[int, ...], client: RuntimeClient
) -> None:
    channels = "".join(f'<channel id="{one}"><mean value="{one + 0.5}" /></channel>' for one in (2, 0, 1))
    text, weights = single_text("Abs", 1, {}, [(kind, ",".join(map(str, shape)))])
    model = read(text.replace(b"<layers>", MEANS % channels.encode() + b"<layers>", 1), weights=weights)
    fed = {"in0": np.arange(6, 12).reshape(shape).astype(element_type(kind).dtype)}
    (found,) = run(model, fed).values()
    (wanted,) = client.infer_model(model, fed).outputs.values()
    assert (found == wanted).all()
    assert (found < fed["in0"]).any()
    for mode in ("isolated", "cumulative"):
        assert compare(model, inputs=fed, mode=mode).ok


@pytest.mark.parametrize(
    ("type", "sizes", "attributes", "reason"),
    [
        ("GatherElements", [(1, 5), (5, 2)], {"axis": 1}, "indices has 5 elements"),
        ("ScatterNDUpdate", [(4, 3), (2, 1), (1, 3)], {}, "updates is"),
        ("ReverseSequence", [(2, 3), (1,)], {"batch_axis": 0, "seq_axis": 1}, "the batch is 2"),
        ("Roll", [(2, 3), (1,), (2,)], {}, "axes has 2"),
        ("SpaceToDepth", [(1, 1, 7, 8)], {"block_size": 2, "mode": "blocks_first"}, "multiple of 2"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_where_the_file_leaves_them_open(
    type: str, sizes: list[tuple[int, ...]], attributes: dict[str, Any], reason: str
) -> None:
    """The runtime refuses the same; numpy would broadcast or cut what it is given."""
    builder, fed = Builder(opset=8), dict[str, np.ndarray[Any, Any]]()
    for number, size in enumerate(sizes):
        data = number == 0 or (type, number) == ("ScatterNDUpdate", 2)
        fed[f"x{number}"] = np.zeros(size, np.float32 if data else np.int64)
        builder.parameter(f"x{number}", ",".join("?" * len(size)), "f32" if data else "i64")
    inputs = [Source(layer.id, layer.outputs[0].id) for layer in builder.graph.layers()]
    builder.result(builder.call(type, *inputs, **attributes))
    with pytest.raises(ShapeError, match=reason):
        run(builder.model, fed)
    with pytest.raises(RuntimeFailure), RuntimeClient() as runtime, sources(builder.model) as (text, weights):
        runtime.infer(text, weights, fed)


@pytest.mark.parametrize(("axes", "reason"), [([2, 0, 2], "has an axis twice"), ([-3, 0], "twice"), ([3], "is 3")])
@pytest.mark.parametrize("type", ["DFT", "IDFT", "IRDFT"])
def test_axes_of_a_transform_are_looked_at_when_it_runs(type: str, axes: list[int], reason: str) -> None:
    """The last axis of complex numbers is not transformed; the specification allows an axis once."""
    builder = Builder(opset=9)
    data, chosen = builder.parameter("data", "2,3,4,2"), builder.parameter("axes", "?", "i64")
    builder.result(builder.call(type, data, chosen))
    fed = {"data": np.ones((2, 3, 4, 2), np.float32)}
    assert run(builder.model, {**fed, "axes": np.array([2, 0])})
    with pytest.raises(ShapeError, match=f"axes {reason}|axes has an axis {reason}"):
        run(builder.model, {**fed, "axes": np.array(axes)})
