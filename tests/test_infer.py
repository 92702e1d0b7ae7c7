"""Shape propagation: the corpus against the runtime, findings, what is written back, layers that nobody knows."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.diagnostics import MAX_LISTED, Diagnostic
from ir_tools.errors import GraphError, ShapeError, UsageError
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.infer import Propagation, propagate_shapes
from ir_tools.infer._answers import Answers
from ir_tools.infer._indices import _beyond
from ir_tools.infer._problems import _holders
from ir_tools.infer._signatures import LayerSignature, LayerSignatures
from ir_tools.infer._trials import ShapeTrials
from ir_tools.ops import NEWEST_OPSET, Attrs, Bounds, Fact, Op, find_op, known_types
from ir_tools.ops.interning import AnswerTable, FactTable, InternedFact, StoredBounds, key_of, minimum_size
from ir_tools.ops.limits import MAX_VALUES
from ir_tools.runtime.ask import LayerOracle
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim, Shape, element_type, format_shape, is_static, parse_shape
from ir_tools.validation import validate
from tests import ir_text
from tests.conftest import corpus_cases, needs_no_library
from tests.outcomes import shapes_unless_refused

# --- the corpus against the runtime -------------------------------------------------------------------------------


def as_read(dims: list[int]) -> str | None:
    return None


def new_batch(dims: list[int]) -> str | None:
    return ",".join(map(str, [3, *dims[1:]])) if len(dims) == 4 else None


def new_size(dims: list[int]) -> str | None:
    return ",".join(map(str, [2, dims[1], *(size + 32 for size in dims[2:])])) if len(dims) == 4 else None


def intervals(dims: list[int]) -> str | None:
    ranges = [f"{max(1, size // 2)}..{2 * size}" for size in dims[2:]]
    return ",".join(["1..8", str(dims[1]), *ranges]) if len(dims) == 4 else None


def lower_bounds(dims: list[int]) -> str | None:
    return ",".join(["2..", str(dims[1]), *(f"{size}.." for size in dims[2:])]) if len(dims) == 4 else None


def any_size(dims: list[int]) -> str | None:
    return ",".join("?" * len(dims)) if dims else None


def any_rank(dims: list[int]) -> str | None:
    return "..." if len(dims) == 4 else None


MAKERS = (
    as_read,
    intervals,
    *(pytest.param(make, marks=pytest.mark.sweep) for make in (new_size, new_batch, lower_bounds, any_size, any_rank)),
)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
@pytest.mark.parametrize("path", corpus_cases(fits=needs_no_library))
def test_every_port_equals_the_runtime(path: Path, make: object, client: RuntimeClient) -> None:
    """Element type and shape of every output, for the shapes of the file and for new ones."""
    assert callable(make)
    weights = None if path.with_suffix(".bin").exists() else bytes(1 << 20)
    model = read(path, weights)
    texts = {end.name: make(list(end.port.dims)) for end in model.inputs}
    inputs = {name: text for name, text in texts.items() if text}
    wanted = shapes_unless_refused(client, path, weights, model, inputs)
    if wanted is None:
        return
    report = propagate_shapes(model, inputs, ask=LayerOracle(client))
    assert not report.diagnostics
    wrong = {}
    for place, layer, _ in model.walk():
        for index, port in enumerate(layer.outputs):
            fact = report.facts[place, port.id]
            kind, shape = wanted.get((place, index), (None, ""))
            if kind is not None and (str(fact.dtype), fact.shape) != (kind, parse_shape(shape)):
                wrong[place] = (str(fact.dtype), format_shape(fact.shape), kind, shape)
    assert not wrong


# --- small models -------------------------------------------------------------------------------------------------

WIDE, NARROW = (1, 3, 8, 8), (1, 3, 4)
SMALL = ir_text.net(
    [
        ir_text.parameter(0, WIDE, name="x", tag=' names="x,first"'),
        ir_text.relu(1, dims=WIDE, name="relu"),
        ir_text.layer(
            2,
            "Custom",
            name="own",
            version="extension",
            inputs=[ir_text.port(0, WIDE)],
            outputs=[ir_text.port(1, NARROW)],
        ),
        ir_text.layer(3, "Exp", name="exp", inputs=[ir_text.port(0, NARROW)], outputs=[ir_text.port(1, NARROW)]),
        ir_text.result(4, NARROW, name="y"),
    ],
    [ir_text.edge(0, 0, 1, 0), *(ir_text.edge(number, 1, number + 1, 0) for number in (1, 2, 3))],
    name="small",
    after="",
).decode()


def line_of(name: str) -> int:
    return next(number for number, line in enumerate(SMALL.splitlines(), 1) if f'name="{name}"' in line)


def small(*changes: tuple[str, str]) -> Model:
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return read(text.encode(), b"")


def test_agreement_changes_no_byte() -> None:
    model = small()
    report = propagate_shapes(model, in_place=True)
    assert not report.mismatches
    assert bytes(render(model)) == SMALL.encode()


def test_custom_layer_keeps_its_record_and_is_reported() -> None:
    report = propagate_shapes(small())
    assert report.origins["own", 1] == "recorded"
    assert report.origins["exp", 1] == "rule"
    (note,) = report.diagnostics
    assert (note.layer_id, note.line, note.severity) == (2, line_of("own"), "warning")
    assert "Custom" in note.message


def test_custom_layer_is_unknown_after_new_shapes() -> None:
    model = small()
    report = propagate_shapes(model, {"x": "2,3,8,8"}, in_place=True)
    assert report.origins["own", 1] == "unknown"
    assert report.shapes["own", 1] is None
    assert report.shapes["relu", 1] == parse_shape("2,3,8,8")
    assert model.graph.layer(0).raw["shape"] == "2,3,8,8"
    assert model.ports["relu", 1].dims == (2, 3, 8, 8)
    assert report.diagnostics


@pytest.mark.parametrize("name", ["x", "first"])
@pytest.mark.parametrize("shape", ["?,3,16..64,8", [-1, 3, Dim(16, 64), 8], (Dim(), Dim.of(3), Dim(16, 64), Dim.of(8))])
def test_new_shapes_by_any_name_in_any_form(name: str, shape: Shape) -> None:
    model = small()
    given = {name: shape}
    report = propagate_shapes(model, given, in_place=True)
    assert report.shapes["relu", 1] == parse_shape("?,3,16..64,8")
    assert model.graph.layer(0).raw["shape"] == "?,3,16..64,8"
    assert model.ports["relu", 1].dims == (-1, 3, -1, 8)


@pytest.mark.parametrize("separator", [",", ", "])
def test_a_new_shape_is_written_as_the_old_one_was(separator: str) -> None:
    old = 'shape="1,3,8,8"'
    model = small((old, old.replace(",", separator)))
    propagate_shapes(model, {"x": "?,3,16,8"}, in_place=True)
    assert model.graph.layer(0).raw["shape"] == separator.join(["?", "3", "16", "8"])


def test_the_model_is_left_as_it_was_unless_asked() -> None:
    model = small(('<port id="1" precision="FP32">', '<port id="1" precision="I64">'))
    before = bytes(render(model))
    report = propagate_shapes(model, {"x": "2,3,8,8"})
    assert report.shapes["relu", 1] == parse_shape("2,3,8,8")
    assert bytes(render(model)) == before
    assert model.ports["relu", 1].dims == (1, 3, 8, 8)


def test_only_what_differs_is_rendered_anew() -> None:
    model = small()
    propagate_shapes(model, {"x": "1,3,9,8"}, in_place=True)
    old, new = SMALL.splitlines(), bytes(render(model)).decode().splitlines()
    changed = {line.strip() for line in old} ^ {line.strip() for line in new}
    assert changed <= {
        '<data shape="1,3,8,8" element_type="f32" />',
        '<data shape="1,3,9,8" element_type="f32" />',
        "<dim>9</dim>",
        "<dim>4</dim>",
    }


@pytest.mark.parametrize("rows", [None, 1, 2, 3])
@pytest.mark.parametrize("largest", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("values", [None, [], [0], [2, 1]])
def test_indices_beyond_a_table(rows: int | None, largest: int | None, values: list[int] | None) -> None:
    known = None if values is None else Bounds.exactly(np.array(values, np.int64))
    most = max(values) if values else largest
    wrong = _beyond(Fact(element_type("i64"), None, known), largest, rows)
    assert (wrong is not None) == (rows is not None and most is not None and most not in range(rows))


def test_values_of_short_constants_are_known_after_many_of_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only long constants cost time: what a Gather takes from a short list decides a size, whatever was read before."""
    monkeypatch.setattr("ir_tools.infer._answers.MAX_LOOKED_AT", -1)
    builder = Builder()
    data = builder.parameter("x", "2,3")
    for name, sizes in (("short", np.array([6, 1])), ("long", np.full(100, 6))):
        first = builder.call("Gather", builder.constant(sizes), np.array([0]), np.array(0))
        builder.result(builder.call("Reshape", data, first, special_zero=False), name)
    shapes = propagate_shapes(builder.model, {"x": "2,3"}).shapes
    found = [shapes["reshape", 2], shapes["reshape/2", 2]]
    assert list(map(format_shape, found)) == ["6", "?"]


@pytest.mark.parametrize(("count", "known"), [(MAX_VALUES, True), (MAX_VALUES + 1, False)])
def test_values_of_constants_are_known_up_to_a_limit(count: int, known: bool) -> None:
    builder = Builder()
    builder.result(builder.call("Abs", builder.constant(np.zeros(count, np.int8), "held")))
    assert (propagate_shapes(builder.model).facts["held", 0].value is not None) is known


def test_values_of_a_constant_without_sizes_are_not_known() -> None:
    builder = Builder()
    held = builder.constant(np.array([1, 2]), "held")
    builder.result(builder.call("Abs", held))
    builder.graph.layer(held.layer).raw["shape"] = "?"
    assert propagate_shapes(builder.model).facts["held", 0].value is None


@pytest.mark.parametrize("kernel", ["3,3", "65,3"])
def test_what_a_rule_raises_about_a_sound_layer_is_raised(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error of the rule, not of the model: also if what is wrong with the layer, a large kernel, is mild."""

    def broken(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        raise LookupError("of the rule")

    def found(type: str, version: str) -> Op | None:
        op = find_op(type, version)
        return replace(op, shape=broken) if type == "AvgPool" and op else op

    builder = Builder()
    raw = {"kernel": kernel, "auto_pad": "same_upper", "exclude_pad": "true"}
    raw |= {**dict.fromkeys(("strides", "dilations"), "1,1"), **dict.fromkeys(("pads_begin", "pads_end"), "0,0")}
    builder.result(builder.call("AvgPool", builder.parameter("x", "1,3,8,8"), **raw))
    monkeypatch.setattr("ir_tools.infer._signatures.find_op", found)
    with pytest.raises(LookupError, match="of the rule"):
        propagate_shapes(builder.model)


def test_unknown_input() -> None:
    with pytest.raises(UsageError, match="no input 'z'; it has 'x'"):
        propagate_shapes(small(), {"z": "1"})


def test_mismatch_names_port_line_and_both_sides() -> None:
    relu_out = SMALL.index("<output>", SMALL.index('name="relu"'))
    text = SMALL[:relu_out] + SMALL[relu_out:].replace("<dim>8</dim>", "<dim>9</dim>", 1)
    model = read(text.encode(), b"")
    (found,) = propagate_shapes(model, in_place=True).mismatches
    assert (found.path, found.layer_id, found.line, found.port, found.what) == ("relu", 1, line_of("relu"), 1, "dims")
    assert (found.recorded, found.computed) == ("1,3,9,8", "1,3,8,8")
    assert model.ports["relu", 1].dims == (1, 3, 8, 8)


def test_precision_mismatch() -> None:
    model = small(('<port id="1" precision="FP32">', '<port id="1" precision="I64">'))
    (found,) = propagate_shapes(model).mismatches
    assert (found.what, found.recorded, found.computed) == ("precision", "I64", "FP32")


def test_a_layer_that_cannot_take_its_inputs() -> None:
    model = small(
        ('type="ReLU" version="opset1"', 'type="SoftPlus" version="opset4"'),
        ('element_type="f32"', 'element_type="i32"'),
    )
    before = {key: (port.dims, port.precision) for key, port in model.ports.items()}
    with pytest.raises(ShapeError, match="element type i32") as caught:
        propagate_shapes(model, {"x": "5,3,8,8"})
    (finding,) = caught.value.diagnostics
    assert (finding.layer_id, finding.line, finding.path) == (1, line_of("relu"), "relu")
    assert {key: (port.dims, port.precision) for key, port in model.ports.items()} == before
    assert model.graph.layer(0).raw["shape"] == "1,3,8,8"


def test_the_text_of_a_shape_that_stays_stays() -> None:
    model = small(('shape="1,3,8,8"', 'shape=" [1, 3,8,8]"'))
    propagate_shapes(model, {"x": "1,3,8,8"}, in_place=True)
    assert model.graph.layer(0).raw["shape"] == " [1, 3,8,8]"


def test_the_opsets_that_hold_an_operation_are_named_first_and_last() -> None:
    for type in known_types():
        held = [number for number in range(1, NEWEST_OPSET + 1) if find_op(type, f"opset{number}")]
        wanted = [*dict.fromkeys(map(str, (held[0], held[-1])))] if held else []
        assert re.findall(r"opset(\d+)", _holders(type)) == wanted


def test_every_broken_layer_is_named() -> None:
    model = small(
        ('type="ReLU" version="opset1"', 'type="BitwiseNot" version="opset13"'), ('type="Exp"', 'type="LogicalAnd"')
    )
    with pytest.raises(ShapeError) as caught:
        propagate_shapes(model)
    assert [finding.layer_id for finding in caught.value.diagnostics] == [1, 3]


@pytest.mark.parametrize("type", ["Reshape", "Transpose", "ReduceSum", "Gather"])
def test_more_inputs_than_an_operation_has(type: str) -> None:
    builder = Builder()
    limits = [np.array([number]) for number in (0, 1, 1, 0)]
    builder.result(builder.call("Slice", builder.parameter("x", "2,3"), *limits, name="y"))
    layer = next(layer for layer in builder.graph.layers() if layer.name == "y")
    layer.tag["type"] = type
    with pytest.raises(ShapeError, match=f"it has 5 inputs, but {type}"):
        propagate_shapes(builder.model)


def test_missing_attribute() -> None:
    model = small(('type="ReLU" version="opset1">', 'type="Convert" version="opset1">'))
    with pytest.raises(ShapeError, match="destination_type is missing"):
        propagate_shapes(model)


# --- what is wrong, and with which attribute ----------------------------------------------------------------------


def test_of_very_many_layers_that_cannot_take_their_inputs_the_first_are_listed() -> None:
    layers = "".join(f'<layer id="{n}" name="l{n}" type="ReLU" version="opset1"/>' for n in range(MAX_LISTED + 7))
    with pytest.raises(ShapeError) as caught:
        propagate_shapes(read(f'<net name="x" version="11"><layers>{layers}</layers><edges/></net>'.encode(), b""))
    assert [found.layer_id for found in caught.value.diagnostics] == [*range(MAX_LISTED)]
    assert str(caught.value).endswith(f"\n7 more errors; the first {MAX_LISTED} are listed")


def test_what_is_wrong_names_its_attribute() -> None:
    builder = Builder()
    builder.result(builder.call("SoftMax", builder.parameter("x", "2,3"), axis=1, name="softmax"))
    layer = next(layer for layer in builder.model.graph.layers() if layer.name == "softmax")
    layer.raw["axis"] = "5"
    with pytest.raises(ShapeError) as caught:
        propagate_shapes(builder.model)
    found = [*validate(builder.model), *caught.value.diagnostics]
    assert [(each.code, each.attribute) for each in found] == [("IR301", "axis")] * 2


def test_every_attribute_without_a_value_is_reported() -> None:
    builder = Builder()
    builder.result(builder.call("Clamp", builder.parameter("x", "2,3"), min=0.0, max=1.0, name="clamp"))
    layer = next(layer for layer in builder.model.graph.layers() if layer.name == "clamp")
    layer.raw.update(min="none", max="all")
    with pytest.raises(ShapeError) as caught:
        propagate_shapes(builder.model)
    assert [each.attribute for each in caught.value.diagnostics] == ["min", "max"]


# --- facts that are one object ------------------------------------------------------------------------------------


def test_equal_facts_are_one_object_and_others_are_not() -> None:
    table, kind = FactTable(), element_type("i64")

    def made(*values: int, constant: bool = False) -> InternedFact:
        return table.interned(Fact(kind, (Dim.of(len(values)),), Bounds.exactly(np.array(values)), constant))

    assert made(1, 2) is made(1, 2)
    assert len({id(made(*values)) for values in ((1, 2), (2, 1), (1,), range(100), range(1, 101))}) == 5
    assert made(1, 2) is not made(1, 2, constant=True)


def test_stored_constants_are_alike_until_they_are_handed_on() -> None:
    table, kind = FactTable(), element_type("i64")
    template = table.interned(Fact(kind, (Dim.of(2),)))
    one, other = (
        InternedFact(replace(template, value=StoredBounds(template, partial(Bounds.exactly, [value] * 2))))
        for value in (3, 4)
    )
    assert key_of(one) == key_of(other) != key_of(template)
    handed_on = [table.interned(replace(fact, constant=True)) for fact in (one, other)]
    assert len({key_of(fact) for fact in (one, template, *handed_on)}) == 4


@pytest.mark.parametrize(("looks", "questions"), [(False, 1), (True, 2)], ids=["at no value", "at the values"])
def test_facts_that_differ_in_values_are_asked_about_once_if_nothing_looks_at_them(looks: bool, questions: int) -> None:
    template = FactTable().interned(Fact(element_type("i64"), (Dim.of(2),)))
    facts = [
        replace(template, value=StoredBounds(template, partial(Bounds.exactly, [value] * 2))) for value in (3, 4, 3, 4)
    ]
    table, asked = AnswerTable[int | None](), list[Fact]()

    def answer(fact: Fact) -> int | None:
        asked.append(fact)
        return fact.value.lower[0] if looks and fact.value is not None else None

    found = [table.of("it", [fact], partial(answer, fact)) for fact in facts]
    assert found == ([3, 4, 3, 4] if looks else [None] * 4)
    assert len(asked) == questions
    assert table.of("another", facts[:1], lambda: 7) == 7


def test_signatures_are_kept_until_they_are_forgotten() -> None:
    builder, signatures = Builder(), LayerSignatures()
    made = builder.call("Clamp", builder.parameter("x", "6"), min=0.0, max=1.0)
    layer = builder.graph.layer(made.layer)
    before = signatures.of(layer)
    layer.raw["max"] = "2"
    assert signatures.of(layer) is before
    signatures.forget()
    assert signatures.of(layer)[0].raw["max"] == "2"
    assert before[0].raw["max"] != "2"


def test_rules_are_asked_once_for_equal_layers_with_equal_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder()
    for number, size in enumerate((2, 3, 2, 3, 2)):
        data = builder.parameter(f"x{number}", "6,6")
        shape = builder.constant(np.array([size, -1]))
        builder.result(builder.call("Reshape", data, shape, special_zero=False, name=f"{number}"))
    asked: list[object] = []
    ask = Answers._ask

    def counted(answers: Answers, signature: LayerSignature, inputs: Sequence[Fact]) -> object:
        asked.extend([signature] if signature.type == "Reshape" else [])
        return ask(answers, signature, inputs)

    monkeypatch.setattr(Answers, "_ask", counted)
    shapes = propagate_shapes(builder.model).shapes
    assert len(asked) == 2
    assert [format_shape(shapes[str(number), 2]) for number in range(5)] == ["2,18", "3,12", "2,18", "3,12", "2,18"]


# --- asking -------------------------------------------------------------------------------------------------------


class Answer:
    """Answers every question with one fact, and remembers what it was told."""

    def __init__(self, *facts: Fact) -> None:
        self.facts = facts
        self.known: Mapping[Source, Fact] = {}

    def __call__(self, model: Model, graph: Graph, layer: Layer, facts: Mapping[Source, Fact]) -> tuple[Fact, ...]:
        self.known = dict(facts)
        return self.facts


def test_answers_are_marked() -> None:
    ask = Answer(Fact(element_type("f32"), parse_shape("1,3,4"), Bounds.exactly(np.zeros(0))))
    report = propagate_shapes(small(), ask=ask)
    assert report.origins["own", 1] == "runtime"
    assert not report.diagnostics
    assert ask.known[Source(1, 1)].shape == parse_shape("1,3,8,8")


def test_a_failing_authority_is_no_disaster(client: RuntimeClient) -> None:
    report = propagate_shapes(small(), ask=LayerOracle(client))
    assert report.origins["own", 1] == "recorded"
    assert "Custom" in report.diagnostics[0].message


def test_the_elements_of_many_large_dimensions_are_not_counted_to_the_end() -> None:
    many, none = (Dim.of(1000),) * 500, (Dim.of(0),)
    assert [minimum_size(shape, 10**6) for shape in (many, many + none)] == [10**6 + 1, 0]


def test_many_errors_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[object] = []

    def counted(one: Diagnostic, other: object) -> bool:
        compared.append(other)
        return one is other

    monkeypatch.setattr(Diagnostic, "__eq__", counted)
    model = small()
    for number in range(100, 400):
        model.graph.add(Layer(number, {"name": f"relu{number}", "type": "ReLU", "version": "opset1"}))
    with pytest.raises(ShapeError) as error:
        propagate_shapes(model)
    assert len(error.value.diagnostics) == 300
    assert len(compared) < 300


# --- parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", corpus_cases(fits=lambda path: path.stat().st_size < 200_000))
def test_tensors_that_are_asked_for_one_by_one_are_as_in_the_whole_model(path: Path) -> None:
    model = read(path, None if path.with_suffix(".bin").exists() else bytes(1 << 20))
    whole, parts = propagate_shapes(model).facts, Propagation(model)
    for place, layer, graph in [*model.walk()][::-1]:
        for port in layer.outputs:
            fact, wanted = parts.fact(graph, Source(layer.id, port.id)), whole[place, port.id]
            assert (fact.dtype, fact.shape) == (wanted.dtype, wanted.shape)


def test_only_what_leads_to_a_tensor_is_looked_at_and_only_what_follows_from_a_change_is_new() -> None:
    builder = Builder()
    data = builder.parameter("x", "1,3")
    first = builder.call("Relu", data)
    second, other = builder.call("Exp", first), builder.call("Abs", first)
    builder.result(other)
    facts = Propagation(builder.model)
    main = id(builder.graph)
    assert facts.fact(builder.graph, second).shape == parse_shape("1,3")
    assert {*facts.facts[main]} == {data, first, second}
    facts.fact(builder.graph, other)
    builder.graph.layer(second.layer).tag["type"] = "ShapeOf"
    facts.forget([(builder.graph, second.layer)])
    assert {*facts.facts[main]} == {data, first, other}
    assert facts.fact(builder.graph, second).shape == parse_shape("2")
    builder.graph.layer(data.layer).raw["shape"] = "4,3,2"
    facts.forget([(builder.graph, data.layer)])
    assert not facts.facts[main]
    assert facts.fact(builder.graph, second).shape == parse_shape("3")


MOVED: Mapping[str, Callable[[Builder, Source], Source]] = {
    "as they are": lambda builder, found: found,
    "Convert": lambda builder, found: builder.call("Convert", found, destination_type="i32"),
    "Reshape": lambda builder, found: builder.call("Reshape", found, np.array([-1]), special_zero=False),
    "Unsqueeze": lambda builder, found: builder.call("Unsqueeze", found, np.array([0])),
    "Slice": lambda builder, found: builder.call("Slice", found, *(np.array([each]) for each in (0, 1, 1, 0))),
    "added to": lambda builder, found: builder.call("Add", found, np.array(1)),
}


@pytest.mark.parametrize("rows", [2, 3, 4])
@pytest.mark.parametrize("moved", MOVED)
@pytest.mark.parametrize("output", [0, 1])
def test_indices_of_a_topk_reach_to_the_end_of_its_axis(output: int, moved: str, rows: int) -> None:
    """Whatever it is of, and however they are moved; of its values nothing is known, nor of what is computed."""
    builder = Builder(opset=11)
    data = builder.parameter("x", "2,3", "i64")
    found = builder.outputs("TopK", data, np.array(2), axis=1, mode="max", sort="value", index_element_type="i64")
    indices = MOVED[moved](builder, found[output])
    builder.result(builder.call("Gather", builder.constant(np.zeros((rows, 2), np.float32)), indices, np.array(0)))
    refusal = ShapeTrials(builder.model).of({}).refusal
    assert (refusal is not None) is (output == 1 and moved != "added to" and rows < 3)


def test_values_that_an_input_is_said_to_have_decide_shapes() -> None:
    builder = Builder()
    data, sizes = builder.parameter("x", "2,6"), builder.parameter("sizes", "2", "i64")
    found = builder.call("Reshape", data, sizes, special_zero=False)
    builder.result(found)
    known = Fact(element_type("i64"), parse_shape("2"), Bounds.exactly(np.array([3, 4])))
    facts = ShapeTrials(builder.model).of({sizes.layer: known}).facts[id(builder.graph)]
    assert facts[found].shape == parse_shape("3,4")


def test_a_circle_of_layers_is_an_error_of_whoever_does_not_look_for_errors() -> None:
    """Also where only a part is asked for, and in trials; behind what is known nothing is looked for."""
    builder = Builder()
    data = builder.parameter("x", "1,3")
    first = builder.call("Add", data, data)
    second = builder.call("Exp", first)
    builder.result(second)
    builder.graph.connect(second, first.layer, 1)
    asks: tuple[Callable[[], object], ...] = (
        lambda: propagate_shapes(builder.model),
        lambda: Propagation(builder.model).fact(builder.graph, second),
        lambda: ShapeTrials(builder.model).of({}),
        lambda: [*builder.graph.leading_to(first.layer)],
        lambda: [*builder.graph.leading_to(first.layer, {data})],
    )
    for ask in asks:
        with pytest.raises(GraphError, match="form a cycle"):
            ask()
    assert [layer.id for layer in builder.graph.leading_to(first.layer, {data, second})] == [first.layer]


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_values_are_looked_at_up_to_a_number_in_all(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants that share bytes, or that many layers read, do not count for more than these bytes."""
    monkeypatch.setattr("ir_tools.infer._answers.MAX_LOOKED_AT", 150)
    builder = Builder()
    data = builder.parameter("data", [100], "f32")
    for number in range(3):
        sizes = np.full(100, 1, np.int64)
        sizes[1:3] = (1, 1) if shared else (number, 2 - number)
        pieces = builder.constant(sizes, f"pieces {number}")
        builder.result(builder.call("VariadicSplit", data, 0, pieces), f"{number}")
    shapes = propagate_shapes(builder.model).shapes
    ends = [shapes[end.layer.name, end.port.id] for end in builder.model.outputs]
    assert [*map(format_shape, ends)] == ["1", "1", "1" if shared else "?"]


def test_values_are_kept_up_to_a_number_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of small tensors always are."""
    monkeypatch.setattr("ir_tools.ops.interning.MAX_CARRIED", 250)
    table, large, small = FactTable(), np.zeros(100, np.int64), np.zeros(64, np.int64)
    kept = [table.interned(Fact(element_type("i64"), (Dim.of(100),), Bounds.exactly(large))) for _ in range(4)]
    assert [fact.value is not None for fact in kept] == [True, True, False, False]
    assert kept[2] is kept[3]
    assert table.interned(Fact(element_type("i64"), (Dim.of(64),), Bounds.exactly(small))).value is not None


def test_short_constants_do_not_count_among_the_values_that_rules_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder()
    data = builder.parameter("x", "6")
    for sizes in ([2, 3], [3, 2], [1, 6]):
        data = builder.call("Reshape", data, np.array(sizes), special_zero=False)
    builder.result(data)
    monkeypatch.setattr("ir_tools.infer._answers.MAX_LOOKED_AT", 3)
    assert all(map(is_static, propagate_shapes(builder.model).shapes.values()))
