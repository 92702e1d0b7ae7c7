"""Models that are built layer by layer: what the runtime reads and computes is what was meant."""

import difflib
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path

import numpy as np
import numpy.typing as npt
import openvino as ov
import pytest

import ir_tools
from ir_tools import Builder, Source
from ir_tools import builder as builder_module
from ir_tools.errors import ShapeError, UsageError
from ir_tools.format.write import render
from ir_tools.ops import Op, known_types, ops_of
from ir_tools.ops.definition import Oracle
from ir_tools.ops.fields import Attrs
from ir_tools.types import Dim
from ir_tools.weights import Weights
from tests.ops.samples import sample_of
from tests.ops.test_attribute_reads import array_of

CORE = ov.Core()
OPS = [
    op
    for op in (ops_of(type)[-1] for type in known_types())
    if op.kernel and sample_of(op) and op.oracle is not Oracle.SPECIFICATION
]
POOLING = {"kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0"}
Call = Callable[[Builder, Source], object]
NOT_READ = {"ReadValue-6": "no Assign"}


def values(model: ir_tools.Model, **inputs: object) -> list[np.ndarray]:
    compiled = CORE.compile_model(ir_tools.to_openvino(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return list(compiled(inputs).values())


@pytest.mark.parametrize(
    ("type", "given", "held"),
    [
        ("u1", [[1, 0, 1], [0, 1, 1]], [[1, 0, 1], [0, 1, 1]]),
        ("u4", [0, 9.7, 15], [0, 9, 15]),
        ("i4", [-8, 7, -1], [-8, 7, -1]),
        ("nf4", [-1, 0, 0.3379], [-1, 0, 0.33791524]),
        ("bf16", [1.0078125, -2], [1.0078125, -2]),
        ("i64", 3, 3),
        ("f32", np.zeros((0, 2)), np.zeros((0, 2))),
    ],
)
def test_constants_hold_their_values(type: str, given: npt.ArrayLike, held: npt.ArrayLike) -> None:
    builder = Builder()
    builder.result(builder.call("Convert", builder.constant(given, dtype=type), destination_type="f32"))
    (found,) = values(builder.model)
    assert found.tolist() == np.asarray(held, np.float32).tolist()


@pytest.mark.parametrize("given", [["a", "", "\u00e4bc"], np.array([["x"], ["yz"]], object), "one"])
def test_constants_of_strings_hold_their_values(given: npt.ArrayLike) -> None:
    builder = Builder()
    builder.result(builder.constant(given))
    (found,) = values(builder.model)
    assert found.tolist() == np.asarray(given).tolist()


@pytest.mark.parametrize(("type", "given"), [("f32", ["a"]), ("string", [1]), ("u3x", [1])])
def test_constants_of_other_types_are_refused(type: str, given: npt.ArrayLike) -> None:
    with pytest.raises(UsageError, match="element type"):
        Builder().constant(given, dtype=type)


@pytest.mark.parametrize("op", [op for op in OPS if str(op) not in NOT_READ], ids=str)
def test_every_operation_of_constants_and_parameters(op: Op) -> None:
    """The runtime reads what is built, with the element types and sizes that the ports record."""
    sample = sample_of(op)
    assert sample is not None
    builder, rng = Builder(opset=op.version), np.random.default_rng(0)
    inputs = [
        builder.parameter(f"in{number}", slot[1], slot[0]) if isinstance(slot, tuple) else array_of(slot, rng)
        for number, slot in enumerate(sample.slots)
    ]
    attributes = {
        name: sample.raw[field.xml or name] for name, field in op.attrs.items() if (field.xml or name) in sample.raw
    }
    for source in builder.outputs(op.type, *inputs, **attributes):
        builder.result(source)
    read = ir_tools.to_openvino(builder.model)
    shown = [(end.port.precision, list(end.port.dims)) for end in builder.model.outputs]
    made = [out.get_partial_shape() for out in read.outputs]
    assert [[-1 if dim.is_dynamic else dim.get_length() for dim in shape] for shape in made] == [
        dims for _, dims in shown
    ]


def test_ports_names_and_shapes() -> None:
    builder = Builder(name="small", opset=14)
    data = builder.parameter("data", "1,3,?,16..64", "f16")
    pooled = builder.call(
        "AvgPool", data, kernel=(2, 2), strides=[2, 2], pads_begin="0,0", pads_end=(0, 0), exclude_pad=True
    )
    values, indices = builder.outputs("TopK", pooled, np.int64(2), axis=3, mode="max", sort="value")
    builder.result(values, "best")
    builder.result(indices)
    model = builder.model
    assert [layer.name for layer in model.graph.layers()] == [
        *("data", "avgpool", "k", "topk", "best/result", "topk/result"),
    ]
    assert builder.fact(pooled).shape == (Dim.of(1), Dim.of(3), Dim(1), Dim(8, 32))
    assert [(end.name, end.port.precision, end.port.dims) for end in model.outputs] == [
        ("best", "FP16", (1, 3, -1, 2)),
        ("topk.1", "I32", (1, 3, -1, 2)),
    ]
    assert model.graph.layer(pooled.layer).version == "opset14"
    assert ir_tools.validate(model) == []


def test_an_insertion_into_a_file_keeps_the_other_lines(tmp_path: Path) -> None:
    built = Builder()
    data = built.parameter("data", "2,3")
    built.result(built.call("Negative", data), "out")
    ir_tools.write(built.model, tmp_path / "before.xml")
    model = ir_tools.read(tmp_path / "before.xml")
    builder = Builder(model)
    builder.insert(Source(1, 1), "ReLU")
    ir_tools.write(model, tmp_path / "after.xml")
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("before.xml", "after.xml"))
    gone = [line.strip() for line in before if line not in after]
    assert gone == ['<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />']
    array = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
    assert np.array_equal(values(model, data=array)[0], np.maximum(-array, 0))
    assert [end.name for end in model.outputs] == ["out"]


def test_a_layer_that_kills_the_runtime_is_refused() -> None:
    builder = Builder()
    data = builder.parameter("x", "1,1,4,4")
    with pytest.raises(UsageError, match=r"dilations is missing, .* \(write dilations=\"1,1\"\)"):
        builder.call("AvgPool", data, exclude_pad=True, **POOLING)


def test_numbers_take_the_type_of_the_first_input() -> None:
    builder = Builder()
    doubled = builder.call("Multiply", builder.parameter("x", "2", "f16"), 2.0)
    assert builder.fact(doubled).dtype.name == "f16"


def test_in_a_body() -> None:
    body = Builder()
    body.result(body.call("Add", body.parameter("x", "2"), np.array([1, 2], np.float32)), "y")
    inner = Builder(body.model, graph=body.graph)
    inner.insert(Source(2, 2), "Abs")
    assert np.array_equal(values(body.model, x=np.array([-3, 1], np.float32))[0], [2, 3])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b, x: b.call("Nothing", x), UsageError, "there is no operation 'Nothing' in opset16"),
        (lambda b, x: b.call("AvgPool", x), UsageError, "AvgPool-16: kernel is missing"),
        (lambda b, x: b.call("MaxPool", x, **POOLING), ShapeError, "rank 3, 4 or 5"),
        (
            lambda b, x: b.call("ReLU", x, slope=1),
            UsageError,
            "ReLU-1 has no attribute 'slope'; its attributes are none",
        ),
        (lambda b, x: b.call("Concat", x, axis="two"), UsageError, "Concat-1: axis"),
        (
            lambda b, x: b.call("MaxPool", b.parameter("y", "1,1,4,4"), **{**POOLING, "strides": (1, 2**31)}),
            UsageError,
            "MaxPool-14: strides holds 2147483648; with such a size the runtime's arithmetic overflows",
        ),
        (lambda b, x: b.call("MatMul", x, np.ones((5, 5), np.float32)), ShapeError, "rows"),
        (lambda b, x: b.call("Gather", x, np.array([0])), UsageError, "it has 2 inputs, but Gather-8 has 3"),
        (lambda b, x: b.call("ReLU", x, x), UsageError, "it has 2 inputs, but ReLU-1 has 1"),
        (lambda b, x: b.parameter("y", "1,b"), UsageError, "b"),
        (lambda b, x: b.insert(Source(x.layer, 99), "ReLU"), UsageError, "layer 'x' has no output port 99; it has 0"),
        (lambda b, x: b.call("ReLU", Source(99, 0)), UsageError, "there is no layer 99"),
        (lambda b, x: b.result(Source(x.layer, 7)), UsageError, "layer 'x' has no output port 7"),
    ],
)
def test_what_has_no_meaning_is_refused(
    call: Callable[[Builder, Source], object], error: type[Exception], message: str
) -> None:
    builder = Builder()
    data = builder.parameter("x", "2,3")
    with pytest.raises(error, match=message):
        call(builder, data)
    assert {layer.type for layer in builder.graph.layers()} == {"Parameter"}


def test_parameters_of_one_name_can_be_told_apart() -> None:
    builder = Builder()
    builder.result(builder.call("Subtract", builder.parameter("x", "2"), builder.parameter("x", "2")), "y")
    assert [endpoint.name for endpoint in builder.model.inputs] == ["x", "x/2"]
    fed = {"x": np.array([5, 3], np.float32), "x/2": np.array([1, 2], np.float32)}
    assert ir_tools.run(builder.model, fed)["y"].tolist() == [4, 1]


@pytest.mark.parametrize(("size", "codes"), [(5, []), (4, ["IR019"])])
def test_zeros_in_front_of_new_constants_are_not_reported_unlike_bytes_of_the_file(size: int, codes: list[str]) -> None:
    builder = Builder()
    builder.model.weights = Weights.from_bytes(bytes(range(1, 6)))
    builder.result(builder.stored(0, "u8", (size,), "kept"))
    builder.result(builder.constant(np.arange(3, dtype=np.uint8), "added"))
    assert [found.code for found in ir_tools.validate(builder.model)] == codes


def test_layers_of_equal_settings_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    read_attributes = builder_module._read

    def counted(op: Op, raw: Mapping[str, str]) -> Attrs:
        asked.append(op.type)
        return read_attributes(op, raw)

    monkeypatch.setattr(builder_module, "_read", counted)
    builder = Builder()
    data = builder.parameter("data", [1, 8])
    first, second = builder.call("ReLU", data), builder.call("ReLU", data)
    assert builder.fact(first) == builder.fact(second)
    assert asked == ["ReLU"]
    narrow, wide, same = (builder.call("Reshape", data, [rows, -1], special_zero=False) for rows in (2, 4, 2))
    assert builder.fact(narrow).shape != builder.fact(wide).shape
    assert builder.fact(narrow) == builder.fact(same)
    assert asked == ["ReLU", "Reshape", "Reshape"]
    for _ in range(2):
        with pytest.raises(UsageError, match="beta"):
            builder.call("ReLU", data, beta=1)


def alike() -> Builder:
    """A builder whose layers differ in nothing but names and offsets, but for the ends."""
    builder = Builder()
    last = builder.parameter("data", [1, 2])
    for number in range(3):
        last = builder.call("Add", last, builder.constant(np.full((1, 2), number, np.float32)), name=f"add {number}")
    builder.result(last, "last,one")
    return builder


def test_layers_alike_are_written_as_if_each_had_its_own_content() -> None:
    shared, own = alike().model, alike().model
    loaded = [(layer.tag, layer.content) for layer in own.graph.layers()]
    assert [layer.loaded for layer in shared.graph.layers()] == [False] * len(loaded)
    assert render(shared) == render(own)
    assert [layer.offset for layer in shared.graph.layers()] == [layer.offset for layer in own.graph.layers()]
    assert values(shared, data=np.array([[1, 2]], np.float32))[0].tolist() == [[4, 5]]


def test_a_change_of_one_layer_leaves_those_like_it_as_they_were() -> None:
    builder = alike()
    graph, before = builder.graph, render(alike().model).decode()
    [first, second, _] = [layer for layer in graph.layers() if layer.type == "Add"]
    twin = copy(second)
    first.raw["auto_broadcast"] = "none"
    second.add_tensor_name(2, "sum")
    second.add_tensor_name(2, "sum")
    graph.rename(second.id, "renamed")
    assert twin.port(2).names == ()
    assert (twin.name, twin.tag["name"]) == ("add 1", "add 1")
    again = ir_tools.read(render(builder.model), weights=b"".join(builder.model.weights.tail()))
    read = {layer.name: layer for layer in again.graph.layers()}
    assert read["renamed"].port(2).names == ("sum",)
    assert "auto_broadcast" not in read["renamed"].raw
    assert read["add 0"].raw["auto_broadcast"] == "none"
    after = render(builder.model).decode()
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    assert len(lines) == 5, lines


def test_a_rename_and_a_tensor_name_after_a_change_are_of_the_layer_alone() -> None:
    builder = alike()
    graph = builder.graph
    [first, second, _] = [layer for layer in graph.layers() if layer.type == "Add"]
    first.raw["auto_broadcast"] = "none"
    first.add_tensor_name(2, "sum")
    graph.rename(first.id, "renamed")
    assert (first.name, first.port(2).names) == ("renamed", ("sum",))
    assert (second.name, second.port(2).names) == ("add 1", ())


def test_each_output_of_a_new_layer_has_its_names() -> None:
    builder = Builder()
    parts = builder.outputs("Split", builder.parameter("x", [2, 4]), 1, num_splits=2)
    split = builder.graph.layer(parts[0].layer)
    for part, name in zip(parts, "ab", strict=True):
        split.add_tensor_name(part.port, name)
    assert [split.tensor_names(part.port) for part in parts] == [("a",), ("b",)]
    assert not split.loaded
    with pytest.raises(KeyError, match="has no port 9"):
        split.tensor_names(9)


def test_layers_with_bodies_are_not_alike() -> None:
    builder = alike()
    [first, second, _] = [layer for layer in builder.graph.layers() if layer.type == "Add"]
    assert first.text == second.text is not None
    first.bodies["body"] = alike().graph
    assert first.text is None
    assert (first.common.raw, first.tensor_names(2)) == (second.common.raw, ())
    text = render(builder.model)
    assert text.count(b"<body>") == 1
    assert text.count(b'name="add 1"') == 2


def test_values_of_a_constant_are_those_it_had_when_it_was_added() -> None:
    builder, numbers = Builder(), np.array([2, 3])
    sizes = builder.constant(numbers)
    numbers[:] = 5
    data = builder.parameter("data", [6])
    assert builder.fact(builder.call("Reshape", data, sizes, special_zero=False)).dims == (2, 3)


def test_values_of_the_last_bytes_are_known() -> None:
    builder = Builder()
    offset, size = builder.model.weights.append(np.array([2, 3]))
    assert offset + size == builder.model.weights.size
    sizes = builder.stored(offset, "i64", [2])
    data = builder.parameter("data", [6])
    assert builder.fact(builder.call("Reshape", data, sizes, special_zero=False)).dims == (2, 3)


@pytest.mark.parametrize("kind", ["u4", "i4", "u2", "u3", "u6", "nf4", "f4e2m1"])
def test_constants_of_packed_types_are_combined_as_the_numbers_that_they_hold(kind: str) -> None:
    builder = Builder()
    numbers = np.array([[0, 1, 1, 0], [1, 0, 1, 1]])
    floats = builder.call("Convert", builder.constant(numbers, dtype=kind), destination_type="f32")
    rows = builder.call("Multiply", builder.constant(np.arange(4, dtype=np.float32)), floats)
    builder.result(builder.call("Add", rows, builder.parameter("x", "2,4")))
    (found,) = ir_tools.run(builder.model, {"x": np.zeros((2, 4), np.float32)}).values()
    np.testing.assert_array_equal(found, numbers * np.arange(4))
