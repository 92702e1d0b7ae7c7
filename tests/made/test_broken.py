"""Files with one or two changes: what can be read is shaped, migrated and planned, or refused in words."""

from collections.abc import Callable

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.comparison._models import paired_models
from ir_tools.compatibility import compatibility
from ir_tools.errors import IrToolsError
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.inputs import plan_inputs
from ir_tools.known_differences import as_model
from ir_tools.known_differences.loop_patterns import LoopPatterns
from ir_tools.known_differences.releases import ROWS
from ir_tools.rewrite.migration import migrate
from tests.ir_text import edge, layer, net, parameter, port, result
from tests.ops.test_control_flow import iterator_model
from tests.rules.recorded import changed, names

WITH_BODIES = ("body", "map", "slice", "back_edge", "loop", "handmade", "condition", "variable", "made")
USES: tuple[Callable[[Model], object], ...] = (
    propagate_shapes,
    lambda model: migrate(model, "opset1"),
    lambda model: migrate(model, "openvino-2022.1"),
    lambda model: paired_models(model, model.copy()),
    lambda model: plan_inputs(model).arrays(0),
    compatibility,
    render,
)


@pytest.mark.parametrize("every", [len(USES), pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", [name for name in names() if any(word in name for word in WITH_BODIES)])
def test_nothing_but_errors_of_this_package_is_raised(name: str, every: int) -> None:
    """Each file is given to all that can be done with it, or to one of these in turn."""
    used = 0
    for number, (text, weights) in enumerate(changed(name).values()):
        try:
            model = read(text, weights)
        except IrToolsError:
            continue
        for use in USES[number % every :: every]:
            try:
                use(model)
            except IrToolsError:
                continue
            used += 1
    assert used or name.endswith("bad")


def broken(what: str) -> Model:
    """A model with a layer that is wrong, which nothing needs or which has the only input and output."""
    layers = [parameter(0, [2, 4]), result(1, [2, 4])]
    edges = [edge(0, 0, 1, 0)]
    packed = 'element_type="i4" shape="4,4" offset="0" size="8"'
    matrix = port(0, [4, 4], precision="I4")
    if what == "a constant without an output":
        layers.append(layer(2, "Const", data=packed))
    elif what == "a constant behind which a Convert has no output":
        convert = layer(3, "Convert", data='destination_type="f32"', inputs=[matrix])
        layers += [layer(2, "Const", data=packed, outputs=[matrix]), convert]
        edges.append(edge(2, 0, 3, 0))
    elif what == "axes of a tensor without axes":
        axes = layer(
            2, "Const", data='element_type="i64" shape="1" offset="0" size="8"', outputs=[port(0, [1], precision="I64")]
        )
        ports = [port(0, ()), port(1, [1], precision="I64")]
        reduction = layer(3, "ReduceMean", data='keep_dims="true"', inputs=ports, outputs=[port(2, ())])
        layers = [parameter(0, ()), axes, reduction, result(1, ())]
        edges = [edge(0, 0, 3, 0), edge(2, 0, 3, 1), edge(3, 2, 1, 0)]
    else:
        kind, data = what.split(maxsplit=1)
        layers.append(layer(2, kind, data=data, inputs=[port(0, [2, 4])], outputs=[port(1, [2, 4])]))
        edges = [edge(0, 0, 2, 0), edge(2, 1, 1, 0)]
    return read(net(layers, edges), bytes(8))


@pytest.mark.parametrize(
    "what",
    [
        "a constant without an output",
        "a constant behind which a Convert has no output",
        "axes of a tensor without axes",
        'Clamp min="low" max="1"',
        'Elu alpha="low"',
    ],
)
def test_layers_that_are_wrong_keep_no_others_from_being_migrated(what: str) -> None:
    migrated = migrate(broken(what), "openvino-2022.1")
    assert [end.layer.type for end in migrated.model.outputs] == ["Result"]


def test_a_mean_that_a_layer_without_a_second_input_reads() -> None:
    """A release is asked about the layers beside a mean, too."""
    ports = [port(0, [2, 4]), port(1, [1], precision="I64")]
    layers = [
        parameter(0, [2, 4]),
        layer(1, "Const", data='element_type="i64" shape="1" offset="0" size="8"', outputs=ports[1:]),
        layer(2, "ReduceMean", data='keep_dims="true"', inputs=ports, outputs=[port(2, [2, 1])]),
        layer(3, "Subtract", inputs=[port(0, [2, 1])], outputs=[port(1, [2, 1])]),
        result(4, [2, 1]),
    ]
    edges = [edge(0, 0, 2, 0), edge(1, 1, 2, 1), edge(2, 2, 3, 0), edge(3, 1, 4, 0)]
    model = read(net(layers, edges), (1).to_bytes(8, "little"))
    assert not migrate(model, "openvino-2022.1").steps


def test_a_part_that_a_layer_without_a_second_input_reads() -> None:
    """In the body of a loop."""
    model, _ = as_model(next(row for row in ROWS if row.name == "states computed in place of parts").model)
    (add,) = (located.layer for located in model.walk() if located.layer.type == "Add")
    del add.inputs[1:]
    patterns = LoopPatterns(model)
    assert not {found for _, one, graph in model.walk() for found in patterns.of(graph, one, ())}


@pytest.mark.parametrize(("kind", "inputs"), [("StridedSlice", 4), ("FakeQuantize", 5), ("Transpose", 2)])
@pytest.mark.parametrize(
    "use", [lambda model: migrate(model, "openvino-2021.4"), lambda model: paired_models(model, model.copy())]
)
def test_layers_without_outputs(kind: str, inputs: int, use: Callable[[Model], object]) -> None:
    data = {"StridedSlice": 'begin_mask="0,0" end_mask="0,0"', "FakeQuantize": 'levels="256"', "Transpose": ""}[kind]
    made = layer(2, kind, data=data, inputs=[port(number, [2, 4]) for number in range(inputs)])
    edges = [edge(0, 0, 1, 0), *(edge(0, 0, 2, number) for number in range(inputs))]
    use(read(net([parameter(0, [2, 4]), result(1, [2, 4]), made], edges), b""))


@pytest.mark.parametrize(
    ("kind", "opset", "data", "inputs", "fed", "refused"),
    [
        ("SoftMax", "opset8", 'axis="1"', 1, 0, []),
        ("ConvertLike", "opset1", "", 2, 0, ["no edge leads to input port 0"]),
        ("FakeQuantize", "opset1", 'levels="256"', 5, 4, ["no edge leads to input port 4"]),
        ("FakeQuantize", "opset1", 'levels="256"', 5, 3, ["no edge leads to input port 3"]),
    ],
)
def test_layers_with_inputs_that_nothing_feeds(
    kind: str, opset: str, data: str, inputs: int, fed: int, refused: list[str]
) -> None:
    """What is made of other layers is refused; SoftMax-1 is the same layer."""
    ports = [port(number, [2, 4]) for number in range(inputs)]
    made = layer(2, kind, data=data, inputs=ports, outputs=[port(inputs, [2, 4])], version=opset)
    edges = [edge(2, inputs, 1, 0), *(edge(0, 0, 2, number) for number in range(fed))]
    migrated = migrate(read(net([parameter(0, [2, 4]), result(1, [2, 4]), made], edges), b""), "openvino-2021.4")
    assert [step.reason for step in migrated.refused] == refused


def test_a_slice_in_front_of_a_layer_without_outputs() -> None:
    """What the first release does with the slice depends on the layers behind it."""
    ports = [port(number, [2, 4]) for number in range(4)]
    masks = 'begin_mask="0,0" end_mask="0,0"'
    layers = [
        layer(2, "StridedSlice", data=masks, inputs=ports, outputs=[port(4, [2, 4])]),
        layer(3, "Squeeze", inputs=[port(0, [2, 4])]),
    ]
    edges = [edge(0, 0, 1, 0), *(edge(0, 0, 2, number) for number in range(4)), edge(2, 4, 3, 0)]
    migrated = migrate(read(net([parameter(0, [2, 4]), result(1, [2, 4]), *layers], edges), b""), "openvino-2021.4")
    assert [end.layer.type for end in migrated.model.outputs] == ["Result"]


def test_an_input_of_a_body_without_an_element_type_is_refused_for_a_release() -> None:
    text, weights = iterator_model(np.random.default_rng(1), static=True)
    before, body = text.split(b"<body>")
    model = read(before + b"<body>" + body.replace(b' element_type="f32"', b"", 1), weights)
    migrated = migrate(model, "openvino-2024.6")
    assert "TensorIterator_2/body/Parameter_0" in [step.path for step in migrated.refused]


def test_strides_that_cannot_be_read_before_a_convolution_with_others() -> None:
    """What the release does with the second depends on the layers before it."""
    builder = Builder()
    data, filters = builder.parameter("x", "1,1,4,4"), np.ones((1, 1, 1, 1), np.float32)
    for stride in (1, 2):
        windows = {"strides": (stride, 1), "dilations": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0)}
        data = builder.call("Convolution", builder.call("ReLU", data), filters, name=f"by {stride}", **windows)
    builder.result(data)
    next(layer for layer in builder.graph.layers() if layer.name == "by 1").raw["strides"] = "one,one"
    assert migrate(builder.model, "openvino-2024.6").ok


@pytest.mark.parametrize("target", ["openvino-2024.6", "openvino-2021.4", "ir10", "opset4"])
def test_an_input_without_an_element_type_is_none_of_what_a_migration_changes(target: str) -> None:
    builder = Builder()
    data = builder.parameter("x", "2")
    builder.result(builder.call("Abs", data))
    del builder.graph.layer(data.layer).raw["element_type"]
    migrated = migrate(builder.model, target)
    assert (migrated.ok, migrated.steps) == (True, ())
