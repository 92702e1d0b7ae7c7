"""Layers that releases do not run because of those around them, and what `migrate --for` puts in their place."""

import numpy as np
import pytest

import ir_tools
from ir_tools.compatibility import compatibility
from ir_tools.execute import run
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import as_model
from ir_tools.known_differences._model import Body, Branches, Call, Fixed, Given, Part, counted, whole
from ir_tools.known_differences.releases import ROWS, ReleaseDifference
from ir_tools.known_differences.verdicts import Answer
from ir_tools.ops import COMPLETE_OPSETS, Array, Op
from ir_tools.ops.replacements import with_copies
from ir_tools.releases.measured import State
from ir_tools.releases.table import find_release
from ir_tools.validation import validate
from tests.ops.samples import sample_of
from tests.ops.test_control_flow import Text
from tests.releases.measure import executed, inferred
from tests.releases.questions import OPS
from tests.runtime.releases import client_of

PREFIXES = (
    *(
        "a list that is given",
        "a part that is transposed",
        "places of elements that are",
        "deconvolution of groups before a PReLU",
        "root mean",
        "states",
        "SoftMaxes",
        "loops behind",
        "inputs of",
        "tensors that",
        "unequal",
    ),
    *(
        "MVN of an output",
        "GroupNormalization of an output",
        "Slice before a GatherElements",
        "largest elements of two joined",
    ),
    *("sums of convolutions", "sums by channel", "VariadicSplit with an empty", "remainders of sizes by"),
    *(
        "last states that",
        "larger tensors behind",
        "numbers that reductions",
        "ScatterElementsUpdate without",
        "parts of a split that are reshaped",
        "convolutions by stored filters",
        "convolutions that extend far",
        *("quantized convolutions ", "quantized convolutions,", "quantized products of columns"),
        *(f"quantized products of {what}" for what in ("averages", "data", "four", "unknown")),
        "quantized products whose",
        "quantized products without a bias",
        "Pad by unlimited sizes",
        *("Erf that overwrites", "Reshape of constants to computed", "Split whose parts are mistaken"),
    ),
    *("variables that only", "variables that keep an input", "variables that keep joined", "normalized variables"),
)
PLACED = [row for row in ROWS if row.name.startswith(PREFIXES)]
CASE = pytest.mark.parametrize("row", PLACED, ids=lambda row: row.name)


def reread(model: Model) -> Model:
    """The model as a file says it."""
    return ir_tools.read(render(model), b"".join(model.weights.tail()))


def migrated(row: ReleaseDifference) -> tuple[Model, dict[str, Array], Model]:
    """The model of a row, what it is fed, and the model migrated for the last release that differs."""
    if not row.processor.is_here and row.state is not State.DIFFERS:
        pytest.skip("what other processors stop at is not migrated on this one")
    model, fed = as_model(row.model)
    model.version = row.version
    found = ir_tools.migrate(model, to=row.releases[-1].name)
    assert found.ok
    assert found.steps
    return model, fed, found.model


@pytest.mark.parametrize("op", [op for op in OPS if op.attrs and sample_of(op)], ids=str)
def test_a_layer_that_reads_copies_keeps_its_attributes(op: Op) -> None:
    sample = sample_of(op)
    assert sample is not None
    attrs = op.read({**sample.raw}, [])
    assert attrs is not None
    copied = with_copies(op, op.version, attrs, (), (), (), COMPLETE_OPSETS)
    assert op.read(copied.layers[-1].raw, []) == attrs


@CASE
def test_the_release_is_said_to_run_the_migrated_model(row: ReleaseDifference) -> None:
    model, _, made = migrated(row)
    if not row.processor.is_here:
        pytest.skip("the row is about processors that this one is not")
    before, after = (compatibility(one, [row.releases[-1]])[0].answer for one in (model, made))
    assert before is not Answer.RUNS
    assert after is Answer.RUNS


@CASE
def test_the_migrated_model_is_valid_and_means_the_same(row: ReleaseDifference) -> None:
    model, fed, made = migrated(row)
    again = reread(made)
    largest = ((one.graph, one.graph.sources(one.layer.id)) for one in again.walk() if one.layer.type == "Maximum")
    copied = [(graph, [*sources.values()]) for graph, sources in largest if len({*sources.values()}) == 1]
    assert all(graph.layer(source.layer).type != "Const" for graph, (source, _) in copied)
    assert [finding for finding in validate(again) if finding.severity == "error"] == []
    wanted, found = run(model, fed), run(again, fed)
    assert wanted.keys() == found.keys()
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-6)


@pytest.mark.sweep
@CASE
def test_the_release_runs_the_migrated_model(row: ReleaseDifference) -> None:
    model, fed, made = migrated(row)
    with client_of(row.releases[-1].name.removeprefix("openvino-")) as client:
        found = inferred(client, render(made), b"".join(made.weights.tail()), fed)
    for array, wanted in zip(found, executed(model, fed, len(found)), strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-5)


def test_what_is_rewritten_in_an_if_stays_so_in_the_loop_around_it() -> None:
    data = Given(counted(2, 5, 4) / 100, "?,5,4")
    branches = Branches(Call("Identity-16", (Part(1),)), Call("Tanh-1", (Part(1),)))
    chosen = Call("If-8", (np.array(True), data), body=branches)
    product = Call("MatMul-1", (Call("ReLU-1", (chosen,)), Fixed(counted(4, 12))), {"transpose_a": "false"})
    model, fed = as_model(Call("SoftMax-1", (product,), {"axis": "2"}))
    migrated = ir_tools.migrate(model, to="openvino-2025.1")
    assert [(step.before, step.after) for step in migrated.steps] == [
        ("If-8", "Loop opset5"),
        ("Identity-16", "Reshape opset1"),
    ]
    again = reread(migrated.model)
    assert [finding for finding in validate(again) if finding.severity == "error"] == []
    for condition in (True, False):
        given = fed | {name: np.array(condition) for name, array in fed.items() if array.dtype == bool}
        wanted, found = run(model, given), run(again, given)
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array)


def test_an_if_in_a_loop_keeps_an_input_that_nothing_feeds() -> None:
    row = next(row for row in PLACED if row.name.startswith("larger tensors behind"))
    model, _ = as_model(row.model)
    chosen = next(layer for layer in model.graph.layers() if layer.type == "If")
    model.graph.disconnect(chosen.id, chosen.inputs[-1].id)
    migrated = ir_tools.migrate(model, to=row.releases[-1].name)
    assert [step.after for step in migrated.steps] == ["Loop opset5"]
    for one, layer in ((model, "If"), (migrated.model, "If/body/If")):
        assert [(found.code, found.path) for found in validate(one) if found.severity == "error"] == [("IR126", layer)]


def test_inputs_that_a_body_does_not_read_are_gone_with_their_states() -> None:
    vector = Call("Squeeze-1", (Part(0), Fixed(whole(0))))
    state = Call("Add-1", (Part(2), vector))
    body = Body(1, (vector, state), (Call("Unsqueeze-1", (Part(2), Fixed(whole(0)))),))
    start = np.ones((1, 3), np.float32)
    model, fed = as_model(Call("TensorIterator-1", (counted(4, 1, 3), start, start), body=body))
    model.version = 10
    made = ir_tools.migrate(model, to="openvino-2021.4").model
    (loop,) = (located.layer for located in made.walk() if located.layer.type == "TensorIterator")
    assert len(loop.inputs) == 2
    assert len(loop.outputs) == 3
    assert sum(layer.type == "Parameter" for layer in loop.bodies["body"].layers()) == 2
    assert [finding for finding in validate(reread(made)) if finding.severity == "error"] == []
    wanted, found = run(model, fed), run(reread(made), fed)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)


def test_a_loop_that_counts_loses_the_parts_that_nothing_reads() -> None:
    blob = bytearray()
    outer, body = Text(blob), Text(blob)
    counts = [(outer.constant(np.array(number)), 0) for number in (3, True)]
    sources = [*counts, (outer.parameter("f32", "4,3"), 0), (outer.parameter("f32", "1,3"), 0)]
    part, state = (body.parameter("f32", "1,3") for _ in range(2))
    total = body.layer("Add", 1, "", [(state, 0), (state, 0)], "f32")
    given, goes_on = body.result(total, 2), body.result(body.constant(np.array(True)), 0)
    mapping = f"""<port_map><input external_port_id="2" internal_layer_id="{part}" axis="0"/>
      <input external_port_id="3" internal_layer_id="{state}"/>
      <output external_port_id="4" internal_layer_id="{given}"/>
      <output external_port_id="-1" internal_layer_id="{goes_on}" purpose="execution_condition"/>
    </port_map><back_edges><edge from-layer="{given}" to-layer="{state}"/></back_edges>"""
    own = outer.layer("Loop", 5, "", sources, "f32", mapping=mapping, body=body.inner("body"))
    outer.result(own, 4)
    model = ir_tools.read(outer.model(), bytes(blob))
    propagate_shapes(model, in_place=True)
    model.version = 10
    found = ir_tools.migrate(model, to="openvino-2021.4")
    (loop,) = (located.layer for located in found.model.walk() if located.layer.type == "Loop")
    assert not found.refused
    assert len(loop.inputs) == 3


def test_a_loop_whose_parts_nothing_reads_is_refused() -> None:
    body = Body(1, (Call("Tanh-1", (Part(1),)),), ())
    model, _ = as_model(Call("TensorIterator-1", (counted(4, 1, 3), counted(1, 3)), body=body))
    model.version = 10
    (refused,) = ir_tools.migrate(model, to=find_release("openvino-2021.4").name).refused
    assert "reads none of the parts" in str(refused) or "nothing reads an input" in str(refused)


def test_a_variable_whose_initial_value_has_unknown_sizes_is_not_given_those() -> None:
    """A release that runs no variable of unknown sizes which keeps known ones does not run it with those, either."""
    data = np.ones((2, 3), np.float32)
    attributes = {"variable_id": "v", "variable_type": "f32", "variable_shape": "?,?"}
    read = Call("ReadValue-6", (Given(data, "?,?"),), attributes)
    model, _ = as_model(Call("Abs-1", (read,), kept={"v": Call("Tanh-1", (data,))}))
    migrated = ir_tools.migrate(model, to="openvino-2024.0")
    assert "has the sizes of what it keeps" not in {step.strategy for step in migrated.steps}
