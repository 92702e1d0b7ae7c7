"""The consistency check of a model: one finding per fault, at the offending layer or port, and none on valid files."""

import re
from pathlib import Path
from random import Random

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.diagnostics import Diagnostic
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.infer import ConsistencyCheck
from ir_tools.validation import validate
from tests import ir_text
from tests.conftest import corpus_cases, has_weights, is_readable
from tests.test_infer import SMALL as WITH_A_CUSTOM_LAYER

ERROR = "error"
SMALL = WITH_A_CUSTOM_LAYER.replace('type="Custom"', 'type="CaseFold"')
"""With an operation of which nothing is known but the library."""


def errors(data: bytes, weights: bytes | None = b"") -> list[Diagnostic]:
    return [found for found in validate(data, weights) if found.severity == ERROR]


def changed(old: str, new: str, after: str = "") -> tuple[bytes, int]:
    """The small model with the first `old` behind `after` replaced, and the line of it."""
    at = SMALL.index(old, SMALL.index(after) if after else 0)
    return (SMALL[:at] + new + SMALL[at + len(old) :]).encode(), SMALL.count("\n", 0, at) + 1


def test_the_model_itself_is_valid() -> None:
    assert not errors(SMALL.encode())


@pytest.mark.parametrize("blank", ["\n\t\t", "\r\n", "\t"])
def test_tags_over_several_lines_are_looked_at(blank: str) -> None:
    spread = SMALL.replace("<port ", f"<port{blank}").replace("<layer ", f"<layer{blank}")
    assert not errors(spread.encode())
    assert [found.code for found in errors(spread.replace("<dim>3</dim>", "<dim />", 1).encode())] == ["IR113"]


@pytest.mark.parametrize(
    ("old", "new", "code", "severity"),
    [
        ('type="ReLU"', 'type="relu"', "IR201", "warning"),
        ("</net>", "<extras />\n</net>", "IR134", "warning"),
        ("</layer>", "</layer>left over", "IR135", "warning"),
        ("<dim>3</dim>", "<dim>-1</dim>", "IR303", "warning"),
        ("<output>", "<blobs />\n<output>", "IR134", "warning"),
        ("</layers>", "</layers><pre-process><channel><mean /></channel></pre-process>", "IR134", "warning"),
    ],
)
def test_what_runs_but_is_read_otherwise(old: str, new: str, code: str, severity: str) -> None:
    data, line = changed(old, new)
    told = [(found.code, found.severity, found.line) for found in validate(data) if found.severity != "info"]
    assert told == [(code, severity, line)]


@pytest.mark.parametrize("layout", ["[N,N,C,H]", "NCC?", "[n,C,H,N]"])
def test_a_layout_that_names_a_dimension_twice(layout: str) -> None:
    info = f'<rt_info><attribute name="layout" version="0" layout="{layout}" /></rt_info>'
    data, line = changed("</port>", f"{info}</port>")
    assert [(found.code, found.line) for found in errors(data)] == [("IR161", line)]
    assert not errors(data.replace(layout.encode(), b"[N,?,?,C]"))


def test_a_size_that_an_input_says_itself_and_all_ports_leave_open_is_a_warning() -> None:
    data, line = changed("<dim>3</dim>", "<dim>-1</dim>", 'name="x"')
    data = data.replace(b"<dim>3</dim>", b"<dim>-1</dim>")
    (found,) = [found for found in validate(data) if found.severity != "info"]
    assert (found.code, found.severity, found.path, found.line) == ("IR303", "warning", "x", line)
    assert found.message == "output port 0 records [1,?,8,8], but the layer outputs [1,3,8,8]"


def test_a_size_that_both_ends_of_an_edge_leave_open_is_valid() -> None:
    assert not errors(SMALL.replace("<dim>3</dim>", "<dim>-1</dim>").encode())


@pytest.mark.parametrize(
    ("old", "new", "after", "code", "layer"),
    [
        ('shape="1,3,8,8"', 'shape="1,3,9,8"', "", "IR305", "x"),
        ('shape="1,3,8,8"', 'shape="1,3,8"', "", "IR305", "x"),
        ('element_type="f32"', 'element_type="i64"', "", "IR305", "x"),
        ("<dim>3</dim>", "<dim>4</dim>", 'names="x,first"', "IR303", "x"),
        ("<dim>3</dim>", "<dim>4</dim>", 'name="relu"', "IR303", "relu"),
        ("<dim>3</dim>", "<dim>4</dim>", '<port id="1" precision="FP32">', "IR303", "relu"),
        ("<dim>3</dim>", "<dim>4</dim>", 'name="own"', "IR303", "own"),
        ("<dim>3</dim>", "<dim>4</dim>", 'name="y"', "IR303", "y"),
        ('precision="FP32"', 'precision="FP16"', 'name="relu"', "IR304", "relu"),
        ('type="ReLU"', 'type="Relux"', "", "IR201", "relu"),
        ('type="ReLU"', 'type="ShapeOf"', "", "IR305", "relu"),
        ('version="opset1"', 'version="opset01"', 'name="relu"', "IR202", "relu"),
    ],
)
def test_one_change_gives_one_error(old: str, new: str, after: str, code: str, layer: str) -> None:
    data, line = changed(old, new, after)
    (found,) = errors(data)
    assert (found.code, found.layer_name) == (code, layer)
    assert found.line == line


def test_a_layer_is_guilty_where_all_others_agree() -> None:
    """The dims behind `exp` are those of its input everywhere; only its type says something else."""
    data, _ = changed('type="Exp" version="opset1"', 'type="ShapeOf" version="opset1"')
    (found,) = errors(data)
    assert (found.code, found.layer_name) == ("IR305", "exp")


def test_of_a_layer_that_cannot_be_computed_the_consumers_decide_if_there_are_several() -> None:
    """As in files of IR v2 to v7, most of whose operations have no shape rule."""
    port, wrong = ir_text.port(1, (1, 3)), ir_text.port(1, (1, 4))
    takes = [ir_text.port(0, (1, 3))]
    for count in (1, 2):
        readers = range(2, 2 + count)
        layers = [
            ir_text.parameter(0, (1, 3), name="x"),
            ir_text.layer(1, "CaseFold", name="own", version="extension", inputs=takes, outputs=[wrong]),
            *(ir_text.layer(number, "Exp", name=f"e{number}", inputs=takes, outputs=[port]) for number in readers),
            *(ir_text.result(number + 2, (1, 3), name=f"y{number}") for number in readers),
        ]
        edges = [ir_text.edge(0, 0, 1, 0), *(ir_text.edge(1, 1, number, 0) for number in readers)]
        edges += [ir_text.edge(number, 1, number + 2, 0) for number in readers]
        (found,) = errors(ir_text.net(layers, edges))
        told = {1: ("e2", "its producer outputs [1,4]"), 2: ("own", "its consumers record [1,3]")}[count]
        assert (found.code, found.layer_name, found.message.partition("but ")[2]) == ("IR303", *told)


def test_an_edge_from_elsewhere_is_told_at_the_port_that_it_feeds() -> None:
    data, _ = changed('from-layer="2" from-port="1" to-layer="3"', 'from-layer="1" from-port="1" to-layer="3"')
    (found,) = [found for found in errors(data) if found.code.startswith("IR3")]
    assert (found.code, found.layer_name) == ("IR303", "exp")
    assert "input port 0" in found.message


def test_what_follows_from_a_wrong_input_port_is_not_reported_as_well() -> None:
    """The layer cannot take what it is given, but with what its port records it is as it should be."""
    builder = Builder()
    left, right = builder.parameter("x", "2,3"), builder.parameter("y", "3,4")
    builder.result(builder.call("MatMul", left, right, name="product"))
    layer = builder.model.graph.layer(right.layer)
    layer.raw["shape"], layer.outputs[0].dims = "5,4", (5, 4)
    assert [(found.code, found.layer_name) for found in validate(builder.model)] == [("IR303", "product")]


def test_a_type_is_reported_of_a_port_that_leaves_its_rank_open_too() -> None:
    """Without dims at both ends of an edge a shape with open sizes is of no known rank, which is no finding."""
    builder = Builder()
    given = builder.call("ReLU", builder.parameter("x", "?,3"), name="relu")
    ends = builder.graph.layer(given.layer).outputs[0], builder.result(given).inputs[0]
    for port in ends:
        port.dims = ()
    assert not validate(builder.model)
    for port in ends:
        port.precision = "I64"
    assert [found.code for found in validate(builder.model)] == ["IR305"]


def test_a_split_into_an_unknown_number_of_parts_may_have_any_ports() -> None:
    b = Builder(opset=8)
    lengths = b.parameter("lengths", "2", "i64")
    for part in b.outputs("VariadicSplit", b.parameter("data", "4,6", "f32"), b.constant(np.array(1)), lengths):
        b.result(part)
    text = render(b.model)
    unknown = text.replace(b'shape="2"', b'shape="?"').replace(b"<dim>2</dim>", b"<dim>-1</dim>")
    assert unknown != text
    assert not errors(unknown, b"".join(b.model.weights.tail()))


@pytest.mark.parametrize("axis", [np.nan, np.inf])
def test_axes_that_are_not_finite_count_as_unknown(axis: float) -> None:
    builder = Builder(opset=8)
    squeezed = builder.call("Squeeze", builder.parameter("x", "1,5"), builder.constant(np.array([axis], np.float32)))
    builder.result(squeezed)
    (port,) = builder.graph.layer(squeezed.layer).outputs
    assert port.dims not in {(5,), (1, 5)}
    assert not errors(render(builder.model), b"".join(builder.model.weights.tail()))


def test_nothing_is_claimed_of_what_a_custom_layer_gives() -> None:
    """Its own outputs may be recorded at will, as long as those who read them agree."""
    text = SMALL.replace("<dim>4</dim>", "<dim>5</dim>")
    (note,) = validate(text.encode(), b"")
    assert (note.code, note.severity, note.layer_name) == ("IR302", "info", "own")
    (note,) = validate(text.replace("CaseFold", "Custom").encode(), b"")
    assert (note.code, note.severity, note.layer_name) == ("IR216", "error", "own")


# --- the corpus -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", corpus_cases(fits=has_weights))
def test_valid_files_have_no_error_and_break_no_rule(path: Path) -> None:
    assert not [found for found in validate(path) if found.severity == ERROR]
    assert not ConsistencyCheck(read(path)).surprises


PORT = re.compile(rb'<dim>(\d+)</dim>|precision="(FP32|FP16|I64|I32)"')


def is_small_and_known(path: Path) -> bool:
    """Whether it is quickly validated, and all its operations are known."""
    return has_weights(path) and path.stat().st_size < 1_000_000 and is_readable(path)


@pytest.mark.parametrize("path", corpus_cases(fits=is_small_and_known))
def test_one_changed_record_is_found_on_its_line(path: Path) -> None:
    data, weights = path.read_bytes(), path.with_suffix(".bin")
    content, places, rng = weights.read_bytes(), list(PORT.finditer(data)), Random(path.name)
    for place in rng.sample(places, min(3, len(places))):
        size = place[1]
        new = b"<dim>%d</dim>" % (int(size) + rng.randrange(1, 9)) if size else b'precision="U16"'
        (found,) = errors(data[: place.start()] + new + data[place.end() :], content)
        assert found.line == data.count(b"\n", 0, place.start()) + 1
        assert found.code in {"IR303", "IR304"}


def test_a_wrong_type_of_what_nothing_reads_is_usual_of_further_outputs_alone() -> None:
    """As tools wrote it for the indices of MaxPool."""
    builder = Builder(opset=8)
    data = builder.parameter("x", "1,1,4,4")
    windows = {"kernel": (2, 2), "strides": (2, 2), "pads_begin": (0, 0), "pads_end": (0, 0), "dilations": (1, 1)}
    largest, places = builder.outputs("MaxPool", data, **windows, name="pool")
    sizes = builder.call("ShapeOf", data, output_type="i64", name="sizes")
    halves = builder.outputs("Split", data, 2, num_splits=2, name="halves")
    for source in (largest, halves[0]):
        builder.result(source)
    for source, precision in ((places, "FP32"), (sizes, "FP32"), (halves[1], "FP16")):
        builder.graph.layer(source.layer).port(source.port).precision = precision
    found = {one.layer_name: str(one.severity) for one in validate(builder.model, select="wrong-port-precision")}
    assert found == {"pool": "warning", "sizes": "error", "halves": "error"}


@pytest.mark.parametrize(("read", "found"), [(False, ("IR401", "warning")), (True, ("IR204", "error"))])
def test_max_pool_needs_dilations_for_indices_that_are_read(read: bool, found: tuple[str, str]) -> None:
    """Measured: the CPU plugin computes the other output without them, and refuses to run the layer otherwise."""
    builder = Builder(opset=8)
    data = builder.parameter("x", "1,1,4,4")
    windows = {"kernel": (2, 2), "strides": (2, 2), "pads_begin": (0, 0), "pads_end": (0, 0), "dilations": (1, 1)}
    largest, places = builder.outputs("MaxPool", data, **windows, name="pool")
    builder.result(largest, "y")
    if read:
        builder.result(places, "z")
    del builder.graph.layer(largest.layer).raw["dilations"]
    assert [(one.code, str(one.severity)) for one in validate(builder.model)] == [found]
    refused = [one.code for one in validate(builder.model, runtime=True) if one.code.startswith("RUN")]
    assert refused == (["RUN103"] if read else [])


def test_sizes_that_a_record_leaves_open_are_as_computed() -> None:
    """The layer is wrong where all others agree on the first size; nobody contradicts the second one but the last."""
    builder = Builder()
    first = builder.call("ReLU", builder.parameter("x", "1,3"), name="first")
    second = builder.call("Exp", first, name="second")
    third = builder.call("Abs", second, name="third")
    builder.result(third, "y")
    for source, dims in ((first, (2, -1)), (second, (2, -1)), (third, (2, 5))):
        builder.graph.layer(source.layer).outputs[0].dims = dims
        for consumer, port in builder.graph.consumers(*source):
            builder.graph.layer(consumer).port(port).dims = dims
    told = [(found.code, found.layer_name) for found in validate(builder.model)]
    assert told == [("IR305", "first"), ("IR305", "third")]


@pytest.mark.parametrize(("precision", "told"), [("FP32", []), (None, []), ("FP16", ["IR303", "IR304"])])
def test_a_copy_of_a_wrong_record_says_the_same_type(precision: str | None, told: list[str]) -> None:
    """Both products need what `relu` gives, and repeat what it records; what the second says beyond that is its own."""
    builder = Builder()
    relu = builder.call("ReLU", builder.parameter("x", "2,3"), name="relu")
    for name in ("first", "second"):
        builder.result(builder.call("MatMul", relu, builder.parameter(f"{name}_y", "3,4"), name=name))
    builder.graph.layer(relu.layer).outputs[0].dims = (2, 5)
    for consumer, port in builder.graph.consumers(*relu):
        layer = builder.graph.layer(consumer)
        layer.port(port).dims = (2, 5)
        layer.port(port).precision = precision if layer.name == "second" else "FP32"
    found = {(one.code, one.layer_name) for one in validate(builder.model)}
    assert found == {("IR303", "relu"), *((code, "second") for code in told)}


def test_a_type_that_a_record_leaves_open_is_as_computed() -> None:
    """All others agree on the shape that `first` records; its type is known from what it computes."""
    builder = Builder()
    first = builder.call("ReLU", builder.parameter("x", "1,3"), name="first")
    second = builder.call("Exp", first, name="second")
    builder.result(second, "y")
    for source in (first, second):
        port = builder.graph.layer(source.layer).outputs[0]
        port.dims, port.precision = (2, 3), "dynamic" if source is first else "I64"
        for consumer, number in builder.graph.consumers(*source):
            read = builder.graph.layer(consumer).port(number)
            read.dims, read.precision = port.dims, port.precision
    told = [(found.code, found.layer_name) for found in validate(builder.model)]
    assert told == [("IR305", "first"), ("IR305", "second")]


def test_an_output_that_no_memory_holds_is_found_where_it_begins() -> None:
    """The layers behind it are as large."""
    builder = Builder()
    data = builder.parameter("x", "1,3,1048576,1048576")
    builder.result(builder.call("Abs", builder.call("ReLU", data)))
    assert [one.layer_name for one in validate(builder.model, select="huge-output")] == ["x"]


@pytest.mark.parametrize(("kept", "code"), [(None, "IR011"), (10, "IR012")])
def test_what_follows_from_values_that_the_weights_lack_is_not_found(kept: int | None, code: str) -> None:
    builder = Builder(name="model")
    data = builder.parameter("data", [1, 8])
    first = builder.call("Broadcast", builder.constant(np.float32(0)), builder.constant(np.array([1, 8])))
    state = builder.call("ReadValue", first, variable_id="state", variable_type="f32", variable_shape=(1, 8))
    total = builder.call("Add", state, data)
    builder.call("Assign", total, variable_id="state")
    builder.result(total)
    text, weights = render(builder.model), b"".join(builder.model.weights.tail())
    assert not errors(text, weights)
    assert [found.code for found in errors(text, None if kept is None else weights[:kept])] == [code]
