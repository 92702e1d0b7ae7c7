"""Layers that nothing reads, loops that add up to nothing, and settings that suit no data."""

import re
import struct
from collections.abc import Collection, Iterable
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.checks.variables import _fault
from ir_tools.diagnostics import Severity
from ir_tools.format.write import render
from ir_tools.validation import validate
from tests.outcomes import works
from tests.rules.test_rules import FOLDER


def text_of(rule: str) -> str:
    """The good file of a rule, on one line."""
    lines = (FOLDER / rule / "good.xml").read_text(encoding="utf-8").splitlines()
    return "".join(line.strip() for line in lines)


UNREAD = text_of("unread_layer")
LOOP = text_of("missing_execution_condition")
SLICED = text_of("bad_back_edge")
CHAIN = text_of("duplicate_layer_id")
POOL = text_of("pads_cover_kernel")
STORED = text_of("unread_variable")
BACK_EDGE = '<edge from-layer="2" to-layer="0" />'
SECOND_INPUT = '<edge from-layer="1" from-port="0" to-layer="3" to-port="1" />'
OF_THE_SLICE = '<edge from-layer="3" from-port="0" to-layer="1" to-port="1" /><edge from-layer="1" from-port="2"'
LAST_OUTPUT = '<output external_port_id="2" internal_layer_id="2" />'
STATE = '<input external_port_id="2" internal_layer_id="0" />'
ITERATION = '<input external_port_id="-1" internal_layer_id="0" purpose="current_iteration" />'


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def told(text: str, codes: Collection[str], weights: bytes = bytes(24)) -> list[tuple[str, str | None, str]]:
    return [(one.code, one.layer_name, str(one.severity)) for one in validate(text.encode(), weights, select=codes)]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        pytest.param("", "", [], id="everything-is-read"),
        pytest.param(SECOND_INPUT, SECOND_INPUT.replace("1", "0", 1), ["z"], id="edge-from-the-wrong-layer"),
        pytest.param(SECOND_INPUT, SECOND_INPUT.replace("1", "0", 1) * 2, ["z"], id="an-edge-twice"),
        pytest.param('type="ReLU"', 'type="Relu"', [], id="type-in-other-case"),
        pytest.param(SECOND_INPUT, "", [], id="edge-lost"),
        pytest.param(SECOND_INPUT, SECOND_INPUT.replace('from-port="0"', 'from-port="7"'), [], id="edge-from-no-port"),
        pytest.param(SECOND_INPUT, SECOND_INPUT.replace("1", "9", 1), [], id="edge-from-no-layer"),
        pytest.param('type="Result"', 'type="Resul"', [], id="no-result-at-all"),
        pytest.param('name="last" type="Result"', 'name="last" type="ReLU"', ["last"], id="no-output-to-read"),
    ],
)
def test_unread_layers(old: str, new: str, names: list[str]) -> None:
    """An edge or layer with a fault of its own accuses no other layer."""
    assert [name for _, name, _ in told(changed(UNREAD, (old, new)), ["IR127"])] == names


@pytest.mark.parametrize("row", re.findall("<(?:in|out)put external_port_id[^>]*>", SLICED + LOOP))
@pytest.mark.parametrize("axis", [-4, -1, 0, 1, 2, 3, 4, 99, 1 << 40])
def test_any_axis_is_looked_at(row: str, axis: int) -> None:
    """One that the tensor lacks is told, and breaks nothing."""
    text = SLICED if row in SLICED else LOOP
    cut = re.sub(' axis="[^"]*"', "", row).replace(" external", f' axis="{axis}" external', 1)
    found = validate(changed(text, (row, cut)).encode(), bytes(24))
    assert not [one for one in found if "broke" in one.message]
    if not -3 <= axis < 3:
        assert any(one.severity is Severity.ERROR for one in found)


EDGE = '<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}" />'.format
ONE_EDGE = (
    '<net name="one" version="11"><layers>'
    '<layer id="0" name="data" type="Parameter" version="opset1"><data shape="1" element_type="f32" />'
    '<output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>'
    '<layer id="1" name="end" type="Result" version="opset1">'
    '<input><port id="0" precision="FP32"><dim>1</dim></port></input></layer>'
    f"</layers><edges>{EDGE(0, 0, 1, 0)}</edges></net>"
)
ANOTHER_END = (
    '<layer id="2" name="other" type="Result" version="opset1">'
    '<input><port id="0" precision="FP32"><dim>1</dim></port></input></layer></layers>'
)
TO_RELU, TO_LAST = EDGE(0, 0, 2, 0), EDGE(2, 1, 4, 0)


@pytest.mark.parametrize(
    ("text", "pairs", "names"),
    [
        (UNREAD, [(TO_RELU, ""), (TO_LAST, "")], ["relu", "last"]),
        (UNREAD, [(edge, "") for edge in re.findall("<edge .*?/>", UNREAD)], []),
        (UNREAD, [(TO_RELU, ""), (TO_LAST, EDGE(2, 1, 9, 0))], []),
        (UNREAD, [(SECOND_INPUT, EDGE(1, 0, 3, 0)), (TO_LAST, "")], ["last"]),
        (LOOP, [(EDGE(4, 0, 5, 0), "")], ["go"]),
        (ONE_EDGE, [(EDGE(0, 0, 1, 0), "")], ["end"]),
        (ONE_EDGE, [(EDGE(0, 0, 1, 0), ""), ("</layers>", ANOTHER_END)], []),
    ],
    ids=[
        *("two", "no-edge-at-all", "one-edge-leads-elsewhere", "one-layer-is-fed-twice-instead", "in-a-body"),
        *("the-only-edge", "the-only-edge-of-two"),
    ],
)
def test_unfed_inputs(text: str, pairs: list[tuple[str, str]], names: list[str]) -> None:
    """An edge that went astray may be the one that is missing."""
    assert [name for _, name, _ in told(changed(text, *pairs), ["IR126"])] == names


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_layer_without_a_side_is_named_once_however_many_edges_need_it(side: str) -> None:
    builder = Builder()
    data = builder.parameter("x", "1,2")
    total = builder.call("Add", data, data, name="total")
    for name in "yz":
        builder.result(total, name)
    text = re.sub(rf"(name=\"total\".*?)<{side}>.*?</{side}>", r"\1", render(builder.model).decode(), flags=re.DOTALL)
    assert told(text, ["IR122"]) == [("IR122", "total", "error")]


def test_of_unfed_inputs_with_one_id_the_first_is_named() -> None:
    ports = PORTS.format(2, 2).replace("</port></input><output>", '</port>\n<port id="0"/></input><output>', 1)
    text = ports.replace('<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>', "")
    assert [one.line for one in validate(text.encode(), select=["IR126"])] == [5]


def test_an_unfed_input_is_a_warning_if_no_result_depends_on_the_layer() -> None:
    feeds = '<edge from-layer="0" from-port="0" to-layer="2" to-port="0" />'
    alive = changed(UNREAD, (feeds, ""))
    dead = changed(alive, ('from-layer="2" from-port="1" to-layer="4"', 'from-layer="0" from-port="0" to-layer="4"'))
    assert told(alive, ["IR126"]) == [("IR126", "relu", "error")]
    assert told(dead, ["IR126"]) == [("IR126", "relu", "warning")]
    assert ov.Core().read_model(dead.encode(), b"").outputs
    with pytest.raises(RuntimeError, match="out of range"):
        ov.Core().read_model(alive.encode(), b"")


def test_a_type_in_other_case_is_a_warning_since_the_runtime_reads_it() -> None:
    other = changed(UNREAD, ('type="ReLU"', 'type="Relu"'))
    assert told(other, ["unknown-operation"]) == [("IR201", "relu", "warning")]
    assert ov.Core().read_model(other.encode(), b"").outputs


def test_a_parameter_of_a_body_may_go_unread() -> None:
    text = changed(SLICED, (OF_THE_SLICE, OF_THE_SLICE.replace("3", "0", 1)))
    assert told(text, ["IR127"]) == []
    text = changed(text, ('name="slice" type="Parameter"', 'name="slice" type="Const"'))
    assert [name for _, name, _ in told(text, ["IR127"])] == ["slice"]


@pytest.mark.parametrize(
    ("text", "pairs", "found"),
    [
        pytest.param(LOOP, [], [], id="state"),
        pytest.param(LOOP, [(BACK_EDGE, "")], ["IR151"], id="state-lost"),
        pytest.param(SLICED, [], [], id="state-and-slices"),
        pytest.param(SLICED, [(BACK_EDGE, "")], ["IR151"], id="only-the-last-slice-counts"),
        pytest.param(
            SLICED,
            [(BACK_EDGE, ""), (LAST_OUTPUT, LAST_OUTPUT.replace(" />", ' axis="1" />'))],
            [],
            id="each-slice-for-itself",
        ),
    ],
)
def test_loops(text: str, pairs: list[tuple[str, str]], found: list[str]) -> None:
    assert [code for code, _, _ in told(changed(text, *pairs), ["IR151", "IR147"])] == found


def test_a_search_ends_itself() -> None:
    """The last output is the first hit if each iteration computes whether to go on; else all others are in vain."""
    on = '<layer id="4" name="on"'
    port = '<output><port id="0" precision="I64" /></output></layer>'
    number = f'<layer id="7" name="number" type="Parameter" version="opset1">{port}{on}'
    always = changed(LOOP, (BACK_EDGE, ""), (STATE, STATE + ITERATION.replace('"0"', '"7"')), (on, number))
    assert [code for code, _, _ in told(always, ["IR151"])] == ["IR151"]
    search = changed(always, ('name="on" type="Const"', 'name="on" type="Less"'))
    assert told(search, ["IR151"]) == []


@pytest.mark.parametrize(
    ("count", "condition", "found"),
    [(0, "Const", 0), (5, "Const", 0), (-1, "Const", 1), (-1, "Less", 0), (-2, "Less", 1)],
)
def test_a_loop_without_end_is_found(count: int, condition: str, found: int) -> None:
    """-1 stands for as many iterations as the condition holds."""
    text = changed(LOOP, ('name="on" type="Const"', f'name="on" type="{condition}"'))
    weights = bytes(8) + count.to_bytes(8, "little", signed=True) + b"\1" * 8
    assert len(told(text, ["IR213"], weights)) == found


@pytest.mark.parametrize(("count", "condition", "found"), [(1, "Const", 0), (2, "Const", 1), (2, "Less", 0)])
def test_a_loop_that_may_end_itself_may_ask_for_more_parts_than_there_are(
    count: int, condition: str, found: int
) -> None:
    """Each of them takes all 8 elements."""
    row = STATE.replace(" />", ' axis="1" stride="8" part_size="8" />')
    text = changed(LOOP, (BACK_EDGE, ""), (STATE, row), ('name="on" type="Const"', f'name="on" type="{condition}"'))
    weights = bytes(8) + count.to_bytes(8, "little") + b"\1" * 8
    assert len(told(text, ["IR149"], weights)) == found


@pytest.mark.parametrize(("size", "severity"), [(3, "warning"), (4, "error")])
def test_a_repeated_side_that_says_the_same_is_a_warning(size: int, severity: str) -> None:
    text = text_of("repeated_element")
    side = text[text.index("<output>") : text.index("</output>") + len("</output>")]
    twice = text.replace(side, side + side.replace("<dim>3<", f"<dim>{size}<"), 1)
    assert [level for *_, level in told(twice, ["IR133"])] == [severity]


@pytest.mark.parametrize("part", ["data", "input", "output"])
def test_a_layer_with_a_part_twice_that_says_the_same_is_what_it_was(part: str) -> None:
    """Its variable, or the value of the constant, is known."""
    text = text_of("unread_variable")
    layer = text.index('type="ReadValue"')
    start = text.index(f"<{part}", layer)
    end = text.index("/>", start) + 2 if part == "data" else text.index(f"</{part}>", start) + len(part) + 3
    twice = text[:end] + text[start:end] + text[end:]
    found = validate(twice.encode(), bytes(24))
    assert [(one.code, str(one.severity)) for one in found] == [("IR133", "warning")]
    shapes = [ov.Core().read_model(one.encode(), bytes(24)).outputs[0].partial_shape for one in (text, twice)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("shape", ["...", " ... ", ""])
def test_an_input_of_unknown_rank_in_any_spelling(shape: str) -> None:
    text = (FOLDER / "unknown_rank_input" / "bad.xml").read_text(encoding="utf-8")
    assert len(told(changed(text, ('shape="..."', f'shape="{shape}"')), ["unknown-rank-input"])) == (shape != "")


AGAINST_STRIDE = "a negative stride begins at -1, the end of the axis, and ends at 0"
GOES_ON = '<output external_port_id="-1" internal_layer_id="5" purpose="execution_condition" />'


def test_a_loop_has_one_condition() -> None:
    assert [level for *_, level in told(changed(LOOP, (GOES_ON, 2 * GOES_ON)), ["IR146"])] == ["error"]


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("execution_conditions", "did you mean execution_condition?"),
        ("xyz", "write one of execution_condition, current_iteration"),
    ],
)
def test_an_unknown_purpose_of_a_row(word: str, remedy: str) -> None:
    text = changed(LOOP, (GOES_ON, GOES_ON.replace("execution_condition", word)))
    found, *_ = validate(text.encode(), bytes(24), select="wrong-port-map-row")
    assert found.help == remedy


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        (STATE, STATE + ITERATION.replace("current_iteration", "execution_condition"), "move purpose to an <output>"),
        (GOES_ON, GOES_ON.replace("execution_condition", "current_iteration"), "move purpose to an <input>"),
        (STATE, STATE + ITERATION.replace(" />", ' axis="0" />'), "delete axis, start and end"),
    ],
)
def test_a_purpose_belongs_to_one_side_and_takes_no_part(old: str, new: str, remedy: str) -> None:
    found = validate(changed(LOOP, (old, new)).encode(), bytes(24), select="wrong-port-map-row")
    assert [one.help for one in found] == [remedy]


@pytest.mark.parametrize(
    ("numbers", "remedies"),
    [
        ('start="0" end="-1"', []),
        ('start="0" end="-1" stride="1"', []),
        ('start="-1" end="0" stride="-1"', []),
        ('start="0" end="-1" stride="-1"', [AGAINST_STRIDE, 'write start="-1" end="0"']),
        ('start="-1" end="0" stride="1"', [AGAINST_STRIDE, 'write start="0" end="-1"']),
        ('start="1" end="-1"', ['write start="0" end="-1"']),
        ('start="0" end="-2"', ['write start="0" end="-1"']),
    ],
)
def test_a_loop_takes_its_parts_in_order(numbers: str, remedies: list[str]) -> None:
    row = STATE.replace(" />", f' axis="0" {numbers} />')
    found = validate(changed(LOOP, (STATE, row)).encode(), bytes(24), select="bad-slice")
    assert [one.help for one in found] == remedies


def test_a_parameter_of_a_body_has_one_back_edge() -> None:
    assert [level for *_, level in told(changed(LOOP, (BACK_EDGE, 2 * BACK_EDGE)), ["IR148"])] == ["error"]


RECORD = 'precision="FP32"><dim>1</dim><dim>8</dim></port>'
PASSED = (
    f'<port id="2" {RECORD}</output></layer>'
    f'<layer id="2" name="result" type="Result" version="opset1"><input><port id="0" {RECORD}'
)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        (">8<", ">9<", []),
        ("FP32", "I32", [("IR148", "loop", "error")]),
    ],
)
def test_a_back_edge_passes_what_the_parameter_takes(old: str, new: str, found: list[tuple[str, str, str]]) -> None:
    text = changed(LOOP, (PASSED, PASSED.replace(old, new)))
    assert told(text, ["IR148"], struct.pack("<8xq8?", 3, *(8 * [True]))) == found


MEAN = '<channel><mean value="1"/></channel>'


@pytest.mark.parametrize(
    ("relic", "code"),
    [
        ("<meta_data><batch/></meta_data>", "IR134"),
        ("<meta_data>none</meta_data>", "IR135"),
        ('<meta_data><MO_version value="1"/>none</meta_data>', "IR135"),
        ('<pre-process reference-layer-name="nobody"/>', "IR134"),
        ("<meta_data><batch/></meta_data><rt_info/>", None),
        ('<meta_data><batch value="1"/><cli_parameters>none</cli_parameters><!-- none --></meta_data>', None),
        ('<pre-process reference-layer-name="data"/>', None),
        (f"<pre-process>{MEAN}</pre-process>", "IR134"),
        (f"<pre-process>{3 * MEAN}</pre-process>", None),
    ],
)
def test_relics_of_legacy_files_stop_the_runtime(relic: str, code: str | None) -> None:
    text = changed(CHAIN, ("<rt_info /></net>", f"{relic}</net>"))
    found = [one for one in validate(text.encode()) if one.severity is Severity.ERROR]
    assert [(one.code, one.line) for one in found] == ([(code, 1)] if code else [])
    assert works(lambda: ov.Core().read_model(text.encode())) == (not code)


@pytest.mark.parametrize(("text", "found"), [("+", 1), ("\n", 0), ("<!-- + -->", 0)])
def test_text_beside_the_elements_of_rt_info(text: str, found: int) -> None:
    info = f'<rt_info><note value="1">any</note>{text}</rt_info>'
    assert (
        told(changed(CHAIN, ("<rt_info /></net>", f"{info}</net>")), ["IR135"]) == [("IR135", None, "warning")] * found
    )


@pytest.mark.parametrize(("word", "meant"), [("strid", "stride"), ("part_sizes", "part_size"), ("strat", "start")])
def test_rows_with_misspelled_attributes(word: str, meant: str) -> None:
    """An attribute that the row has is not suggested."""
    for more, levels in (("", ["warning"]), (f' {meant}="1"', [])):
        text = changed(LOOP, (STATE, STATE.replace(" />", f' {word}="1"{more} />')))
        assert [level for *_, level in told(text, ["IR136"])] == levels


@pytest.mark.parametrize(
    ("layer", "data", "found"),
    [
        pytest.param('strides="1,1"', "", "warning", id="in-the-tag-alone"),
        pytest.param('strides="1,1"', ' strides="1,1"', None, id="in-both"),
        pytest.param('unknown="1"', "", None, id="of-no-operation"),
    ],
)
def test_attributes_of_an_operation_in_the_tag_of_its_layer(layer: str, data: str, found: str | None) -> None:
    """The runtime reads them in `<data>` only, so what it runs does not depend on them."""
    tag = 'type="AvgPool"'
    text = changed(re.sub(' strides="[^"]*"', data, POOL), (tag, f"{tag} {layer}"))
    assert [level for *_, level in told(text, ["IR136"])] == ([] if found is None else [found])


def test_attributes_in_the_tag_of_a_layer_are_known_by_their_names_in_files() -> None:
    moved = re.sub(' exclude-pad="[^"]*"', "", POOL)
    text = changed(moved, ('type="AvgPool"', 'type="AvgPool" exclude-pad="true" exclude_pad="true"'))
    (found,) = validate(text.encode(), bytes(24), select=["IR136"])
    assert found.message == "<layer> has the attribute exclude-pad, which is read in <data> only"


@pytest.mark.parametrize(("inside", "found"), [("<strides>1,1</strides>", "error"), ('<note value="1" />', "warning")])
def test_elements_in_the_attributes_of_a_layer(inside: str, found: str) -> None:
    text = re.sub(r"(<data kernel[^>]*?) ?/>", rf"\1>{inside}</data>", POOL)
    assert inside in text
    assert [(name, level) for _, name, level in told(text, ["IR134"])] == [("pool", found)]


def test_elements_in_the_attributes_of_several_alike_layers_are_all_found() -> None:
    builder = Builder()
    data = builder.parameter("x", "2,3", "f32")
    for name in "ab":
        builder.result(builder.call("SoftMax", data, name=name, axis=1))
    text = re.sub(r'<data axis="1" */>', '<data axis="1"><note value="1" /></data>', render(builder.model).decode())
    assert [name for _, name, _ in told(text, ["IR134"])] == ["a", "b"]


LEGACY = (
    '<net name="n" version="6"><layers><layer id="0" name="x" type="Input" precision="FP32"><output>{port}</output>'
    '</layer><layer id="1" name="spare" type="{spare}" precision="FP32"><output>{port}</output>{blob}</layer>'
    '<layer id="2" name="power" type="Power" precision="FP32"><{data} power="1" scale="2" shift="0" />'
    "<input>{port}</input><{out}>{port}</{out}></layer></layers>"
    '<edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0" /></edges></net>'
).replace("{port}", '<port id="0"><dim>1</dim></port>')


@pytest.mark.parametrize(
    ("data", "out", "found"),
    [
        ("data", "output", []),
        ("power_data", "output", []),
        ("power", "output", []),
        ("date", "output", ["error"]),
        ("attributes", "output", ["warning"]),
        ("data", "outputs", ["error"]),
    ],
)
def test_elements_of_legacy_layers(data: str, out: str, found: list[str]) -> None:
    """Early files name the element with the attributes after the type of the layer; no other name is one of it."""
    text = LEGACY.format(data=data, out=out, spare="Input", blob="")
    assert [level for *_, level in told(text, ["IR134"])] == found


@pytest.mark.parametrize(("spare", "blob"), [("Input", ""), ("Const", '<blobs><custom offset="0" size="4" /></blobs>')])
def test_layers_of_legacy_files_that_lead_nowhere(spare: str, blob: str) -> None:
    """A layer with inputs that nothing reads is an output."""
    text = LEGACY.format(data="data", out="output", spare=spare, blob=blob)
    assert told(text, ["IR127"], bytes(4)) == [("IR127", "spare", "warning")]


@pytest.mark.parametrize(("word", "count"), [("precision_", 1), ("precison", 1), ("precision", 0), ("note", 0)])
def test_inputs_with_a_misspelled_precision(word: str, count: int) -> None:
    text = POOL.replace("<input>", f'<input><port id="9" {word}="FP32" />', 1)
    assert [level for *_, level in told(text, ["IR136"])] == ["warning"] * count


def test_the_current_iteration_comes_from_no_port() -> None:
    """The runtime gives the body what comes in at the port, or refuses it."""
    row = ITERATION.replace("-1", "2")
    assert [level for _, _, level in told(changed(LOOP, (STATE, STATE + row)), ["IR145"])] == ["error"]
    assert told(changed(LOOP, (STATE, STATE + ITERATION)), ["IR145"]) == []


@pytest.mark.parametrize("port", ["-7", "9"])
def test_the_current_iteration_from_a_port_that_is_missing_is_one_finding(port: str) -> None:
    """The runtime takes any negative number for no port, and refuses the others."""
    text = changed(LOOP, (STATE, STATE + ITERATION.replace("-1", port)))
    (found,) = validate(text.encode(), bytes(24), select="IR145")
    assert found.message == f"external_port_id is {port}, but the layer has no such input port"
    assert found.help == 'write external_port_id="-1"'


@pytest.mark.parametrize("port", ["0", "1"])
def test_a_body_takes_what_a_loop_keeps_for_itself(port: str) -> None:
    row = STATE.replace('"2"', f'"{port}"')
    assert [level for _, _, level in told(changed(LOOP, (STATE, row)), ["IR145"])] == ["warning"]


def test_one_of_two_back_edges_is_lost(tmp_path: Path) -> None:
    """A running sum and a running product over the slices of an input, as the runtime writes them."""
    data, one = ops.parameter([4, 3], np.float32), ops.parameter([1, 3], np.float32)
    piece, total, product = (ops.parameter([1, 3], np.float32) for _ in range(3))
    added, multiplied = ops.result(ops.add(total, piece)), ops.result(ops.multiply(product, piece))
    loop = ops.tensor_iterator()
    loop.set_body(ov.Model([added, multiplied], [piece, total, product]))
    loop.set_sliced_input(piece, data.output(0), 0, 1, 1, -1, 0)
    for state, result in ((total, added), (product, multiplied)):
        loop.set_merged_input(state, one.output(0), result.output(0))
    outputs = [loop.get_iter_value(result.output(0), -1) for result in (added, multiplied)]
    ov.save_model(ov.Model([ops.result(output) for output in outputs], [data, one]), tmp_path / "loop.xml")
    lines = (tmp_path / "loop.xml").read_text(encoding="utf-8").splitlines()
    back_edges = [number for number, line in enumerate(lines) if 'edge from-layer="' in line and "port" not in line]
    assert told("\n".join(lines), ["IR151"]) == []
    assert len(back_edges) == 2
    for number in back_edges:
        assert [code for code, _, _ in told("\n".join(lines[:number] + lines[number + 1 :]), ["IR151"])] == ["IR151"]


def test_a_result_of_a_body_that_nothing_takes() -> None:
    """A second Result beside the one that is mapped."""
    first = SLICED[SLICED.index('<layer id="2" name="result"') : SLICED.index("</layers><edges>")]
    edge = '<edge from-layer="1" from-port="2" to-layer="9" to-port="0" />'
    second = first.replace('id="2" name="result"', 'id="9" name="again"', 1)
    text = SLICED.replace("</layers><edges>", second + "</layers><edges>" + edge, 1)
    assert told(text, ["IR147"]) == [("IR147", "again", "warning")]


@pytest.mark.parametrize("name", ["undefined", "Undefined"])
def test_the_type_undefined(name: str) -> None:
    found = validate(changed(CHAIN, ('element_type="f32"', f'element_type="{name}"')).encode())
    assert [(one.code, one.layer_name, str(one.severity)) for one in found] == [("IR207", "data", "error")]


def test_an_input_of_dynamic_type() -> None:
    """A Loop gives one to the inputs of its body; nothing gives one to an input of the model or of a TensorIterator."""
    found = validate(changed(CHAIN, ('element_type="f32"', 'element_type="dynamic"')).encode())
    assert [(one.code, one.layer_name, str(one.severity)) for one in found] == [("IR211", "data", "error")]
    of_any_rank = changed(CHAIN, ('shape="1,3,8,8" element_type="f32"', 'shape="..." element_type="dynamic"'))
    assert {str(one.severity) for one in validate(of_any_rank.encode(), select=["IR211"])} == {"warning"}
    inner = 'name="state" type="Parameter" version="opset1"><data shape="1,1,8" element_type="f32" />'
    of_an_iterator = changed(SLICED, (inner, inner.replace("f32", "dynamic")))
    assert told(of_an_iterator, ["IR211", "IR504"]) == [("IR504", "state", "warning")]
    inner = inner.replace("1,1,8", "1,8")
    of_a_loop = changed(LOOP, (inner, inner.replace("f32", "dynamic")))
    assert told(of_a_loop, ["IR211", "IR504"]) == []


@pytest.mark.parametrize(
    ("kernel", "more", "found"),
    [
        ("63, 3", 'auto_pad="same_upper"', 0),
        ("65, 3", 'auto_pad="same_upper"', 1),
        ("3, 999", 'auto_pad="same_lower"', 1),
        ("3, 201", 'auto_pad="explicit"', 1),
    ],
)
def test_kernels_far_larger_than_the_data(kernel: str, more: str, found: int) -> None:
    start = POOL.index("<data kernel")
    data = POOL[start : POOL.index("/>", start) + 2]
    pads = 'pads_begin="0, 100" pads_end="0, 100"' if "explicit" in more else 'pads_begin="0, 0" pads_end="0, 0"'
    new = f'<data kernel="{kernel}" strides="1, 1" {pads} exclude-pad="true" {more} />'
    assert told(changed(POOL, (data, new)), ["IR401"]) == [("IR401", "pool", "warning")] * found


def test_a_library_may_have_an_operation_that_is_not_known(tmp_path: Path) -> None:
    """Then nothing is known of the layer; without a library the runtime refuses it."""
    library = tmp_path / "own.so"
    library.write_bytes(b"")
    path = FOLDER / "unknown_extension" / "bad.xml"
    assert [str(found.severity) for found in validate(path)] == ["error"]
    assert [str(found.severity) for found in validate(path, extensions=library)] == ["info"]


def test_tokenizers_are_not_broken() -> None:
    text = (FOLDER / "unknown_extension" / "bad.xml").read_text(encoding="utf-8")
    for name, code in (("RegexSplit", "IR302"), ("SentencepieceTokenizer", "IR302"), ("RegexSplitt", "IR216")):
        (found,) = validate(text.replace('type="Own"', f'type="{name}"').encode())
        assert found.code == code
    assert found.help == "did you mean RegexSplit?"


@pytest.mark.parametrize("store", [3, 5, 6, 8])
@pytest.mark.parametrize("load", [3, 5, 6, 8])
def test_an_assign_finds_the_variables_that_it_finds_in_the_runtime(load: int, store: int) -> None:
    versions = [('"ReadValue" version="opset6"', load), ('"Assign" version="opset6"', store)]
    text = changed(STORED, *((old, old.replace("6", str(opset))) for old, opset in versions))
    found = True
    try:
        ov.Core().read_model(text.encode(), b"")
    except RuntimeError as why:
        found = "Can't find variable with id = memory" not in str(why)
    assert told(text, ["IR214"]) == ([] if found else [("IR214", "store", "error")])


@pytest.mark.parametrize("read_by", ["nothing", "a dead layer", "a Result", "its Assign", "another Assign"])
def test_a_variable_that_an_assign_stores_leads_somewhere_as_in_the_runtime(read_by: str) -> None:
    builder = Builder()
    data = builder.parameter("data", "1,3")
    state, other = (
        builder.call("ReadValue", data, variable_id=name, variable_type="f32", variable_shape="1,3") for name in "vw"
    )
    behind = builder.call("Abs", state) if read_by != "nothing" else data
    builder.call("Assign", behind if read_by == "its Assign" else data, variable_id="v")
    builder.call("Assign", behind if read_by == "another Assign" else other, variable_id="w")
    for given in (other, behind if read_by == "a Result" else data):
        builder.result(given)
    text, found = render(builder.model), True
    try:
        ov.Core().read_model(text, b"")
    except RuntimeError:
        found = False
    assert told(text.decode(), ["IR214"]) == ([] if found else [("IR214", "assign", "error")])
    assert found is (read_by not in {"nothing", "a dead layer"})


@pytest.mark.parametrize(("old", "generations", "found"), [(True, {True, False}, True), (True, {False}, False)])
def test_an_assign_finds_its_variable_beside_one_of_the_other_generation(
    old: bool, generations: set[bool], found: bool
) -> None:
    assert (_fault("v", old, {"v": generations}, ()) is None) is found


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["one"], "the tensor name 'one' already belongs to layer 'l0'"),
        (["one", "two"], "the tensor name 'one' already belongs to layer 'l0'; 1 more name repeated"),
        (["two,one", "x"], "the tensor name 'two' already belongs to layer 'l0'; 2 more names repeated"),
    ],
    ids=["one-name", "one-name-of-each-port", "two-names-of-one-port"],
)
def test_repeated_tensor_names_are_one_finding(names: list[str], wanted: str) -> None:
    ports = "".join(f'<port id="{number}" names="{name}"/>' for number, name in enumerate(names))
    layers = "".join(f'<layer id="{n}" name="l{n}" type="A"><output>{ports}</output></layer>' for n in (0, 1))
    text = f'<net name="n" version="11"><layers>{layers}</layers><edges/></net>'
    (found,) = validate(text.encode(), select=["IR105"])
    assert (found.layer_name, found.message) == ("l1", wanted)


def test_two_ports_of_a_layer_with_one_name_are_found() -> None:
    ports = '<port id="0" names="one"/><port id="1" names="two,one"/>'
    layer = f'<layer id="0" name="split" type="A"><output>{ports}</output></layer>'
    (found,) = validate(f'<net name="n" version="11"><layers>{layer}</layers></net>'.encode(), select=["IR105"])
    assert found.message == "the tensor name 'one' already belongs to layer 'split'"


PORTS = """<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/><output>
<port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="1" name="r" type="ReLU" version="opset1"><input>
<port id="0" precision="FP32"><dim>{}</dim></port></input><output>
<port id="0" precision="FP32"><dim>{}</dim></port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input>
<port id="0" precision="FP32"><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/></edges></net>"""


@pytest.mark.parametrize(("dims", "lines"), [((2, 2), []), ((3, 2), [5]), ((2, 3), [6])])
def test_of_two_ports_with_one_id_the_one_on_the_side_of_the_problem_is_named(
    dims: tuple[int, int], lines: list[int]
) -> None:
    found = validate(PORTS.format(*dims).encode(), select=["IR303"])
    assert [(one.line, one.layer_name) for one in found] == [(line, "r") for line in lines]


LONG = "m" * 79 + "xyz"
READ = '"ReadValue" version="opset6"'
STORE = '"Assign" version="opset6"'


@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        (
            [(STORE, STORE.replace("6", "3"))],
            f"the ReadValue of '{LONG[:80]}' has version opset6, but this Assign has another"
            " (use the same version in both)",
        ),
        (
            [('from-layer="1" from-port="1"', 'from-layer="0" from-port="0"')],
            f"no Result and no Assign depends on the ReadValue of '{LONG[:80]}'"
            " (delete both layers, or connect the ReadValue)",
        ),
        (
            [(READ, READ.replace("ReadValue", "Relu"))],
            f"no ReadValue reads the variable '{LONG[:80]}'; the model reads none (use the same variable_id in both)",
        ),
    ],
    ids=["of-another-generation", "idle", "unknown"],
)
def test_what_is_said_of_a_variable(pairs: list[tuple[str, str]], wanted: str) -> None:
    (found,) = validate(changed(STORED.replace('"memory"', f'"{LONG}"'), *pairs).encode(), select=["IR214"])
    assert f"{found.message} ({found.help})" == wanted


@pytest.mark.parametrize(
    ("count", "listed"),
    [(2, "'0', '1'"), (5, "'0', '1', '2', '3', '4'"), (7, "'0', '1', '2', '3', '4' and 2 more")],
)
def test_the_first_variables_of_a_model_are_named_and_the_others_counted(count: int, listed: str) -> None:
    known = {str(number): [False] for number in reversed(range(count))}
    assert _fault("v", False, known, ()) == (
        f"no ReadValue reads the variable 'v'; the model reads {listed}",
        "use the same variable_id in both",
    )


def test_a_variable_that_is_stored_twice_is_named() -> None:
    twice = (FOLDER / "variable_stored_twice" / "bad.xml").read_text(encoding="utf-8").replace('"memory"', f'"{LONG}"')
    (found,) = validate(twice.encode(), select=["variable-stored-twice"])
    assert found.message == f"layer 'store' already stores the variable '{LONG[:80]}'"


def branching(path: Path) -> str:
    """Write an If of two outputs, x + 1 and -x where its condition is true; return the text of the rows of them."""
    condition, data = ops.parameter([], np.bool_), ops.parameter([2], np.float32)
    branches = []
    for factor in (1, 20):
        inner = ops.parameter([2], np.float32)
        results = [ops.result(ops.add(inner, np.float32(factor))), ops.result(ops.multiply(inner, np.float32(-factor)))]
        branches.append(ov.Model(results, [inner]))
    choice = ops.if_op(condition)
    choice.set_then_body(branches[0])
    choice.set_else_body(branches[1])
    choice.set_input(data.output(0), *(branch.get_parameters()[0] for branch in branches))
    outputs = [choice.set_output(*pair) for pair in zip(*(branch.results for branch in branches), strict=True)]
    model = ov.Model([ops.relu(outputs[0]), ops.negative(outputs[1])], [condition, data])
    ov.serialize(model, path, path.with_suffix(".bin"))
    return path.read_text()


@pytest.mark.parametrize(
    ("numbers", "levels"),
    [
        ((2, 3), set()),
        ((3, 2), set()),
        ((0, 1), set()),
        ((5, 6), {"warning"}),
        ((6, 5), {"warning"}),
        ((2, 9), {"warning"}),
        ((-3, -2), {"error"}),
        ((5, 5), {"warning", "error"}),
    ],
)
def test_numbers_of_the_outputs_of_an_if_are_an_order(
    numbers: tuple[int, int], levels: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "m.xml"
    text = branching(path)
    head, tail = text.split("<then_port_map>")
    for old, new in zip((2, 3), numbers, strict=True):
        tail = tail.replace(f'<output external_port_id="{old}"', f'<output external_port_id= "{new}"')
    path.write_text(f"{head}<then_port_map>{tail}")
    assert {str(found.severity) for found in validate(path) if found.severity is not Severity.INFO} == levels
    if "error" in levels:
        with pytest.raises(RuntimeError):
            ov.Core().read_model(path)
        return
    given = [np.array(True), np.array([1, 2], np.float32)]
    expected = [*ov.Core().compile_model(path, "CPU")(given).values()]
    model = ir_tools.read(path)
    found = ir_tools.run(model, {end.name: array for end, array in zip(model.inputs, given, strict=True)})
    for one, two in zip(found.values(), expected, strict=True):
        np.testing.assert_array_equal(one, two)


IGNORED_IN_ROWS = ['start="100"', 'end="0"', 'stride="2"', 'part_size="0"', 'purpose="current_iteration"']


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        *product(["TensorIterator", "If"], IGNORED_IN_ROWS),
        *product(["If"], ['axis="0" stride="0"', 'axis="7"']),
    ],
)
def test_what_the_runtime_ignores_in_a_row_is_a_warning(kind: str, words: str, side: str, tmp_path: Path) -> None:
    """Rows of an If are not sliced, others are not without an axis, and only a Loop has purposes."""
    path = tmp_path / "m.xml"
    text = branching(path) if kind == "If" else SLICED
    weights = path.with_suffix(".bin").read_bytes() if kind == "If" else bytes(24)
    other = text.replace(f"<{side} external_port_id=", f"<{side} {words} external_port_id=", 1)
    before, after = (validate(each.encode(), weights) for each in (text, other))
    assert [str(one.severity) for one in after if one not in before] == ["warning"]
    one, two = (ov.Core().read_model(each.encode(), weights).outputs for each in (text, other))
    assert [end.partial_shape for end in one] == [end.partial_shape for end in two]


def test_a_back_edge_to_a_sliced_parameter_is_ignored() -> None:
    """The runtime computes the same without it; with one to the other Parameter, all parts are added up."""
    start = SLICED.index("shape=", SLICED.index('name="start"'))
    three = SLICED[:start] + SLICED[start:].replace("1,1,8", "1,3,8", 1)
    given = [np.ones((1, 4, 8), np.float32), np.arange(24, dtype=np.float32).reshape(1, 3, 8)]
    found = []
    for edges in ('<edge from-layer="2" to-layer="0" />', '<edge from-layer="2" to-layer="3" />', ""):
        text = changed(three, ('<edge from-layer="2" to-layer="0" />', edges))
        assert [level for *_, level in told(text, ["IR148"])] == ["error"] * ('to-layer="3"' in edges)
        compiled = ov.Core().compile_model(ov.Core().read_model(text.encode()), "CPU")
        found.append(next(iter(compiled(given).values())))
    np.testing.assert_array_equal(found[1], found[2])
    assert (found[0] != found[2]).any()


@pytest.mark.parametrize("number", ["x", "1"])
def test_a_row_may_mean_a_layer_of_the_body_whose_number_is_lost(number: str) -> None:
    """One without a number, or with that of another, which is reported; no row of the table is, or back edge."""
    start = '<layer id="0" name="state"'
    text = changed(LOOP, ('from-layer="0" from-port="0" to-layer="1"', 'from-layer="4" from-port="0" to-layer="1"'))
    row, back_edge = STATE.replace('layer_id="0"', 'layer_id="9"'), BACK_EDGE.replace('to-layer="0"', 'to-layer="9"')
    wrong = changed(text, (STATE, row), (BACK_EDGE, back_edge))
    assert {code for code, *_ in told(wrong, ["IR145", "IR148"])} == {"IR145", "IR148"}
    for given in (text, wrong):
        assert told(changed(given, (start, start.replace("0", number))), ["IR145", "IR148"]) == []


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        ("<edges>", "<edgez /><edges>", "<edges> exists already; delete one of the two"),
        ("edges>", "edgez>", "write <edges>"),
    ],
)
def test_a_misspelled_element_may_stand_beside_the_right_one(old: str, new: str, remedy: str) -> None:
    found, *_ = validate(changed(CHAIN, (old, new)).encode(), select="unknown-element")
    assert (found.message, found.help) == ("<edgez> is not known in <net>; did you mean <edges>?", remedy)


BORDERS = (
    '<net name="n" version="{version}"><layers><layer id="0" name="x" type="Parameter" version="opset1">'
    '<data shape="2" element_type="f32" /><output><port id="0" precision="FP32" names="{x}"><dim>2</dim></port>'
    '</output></layer><layer id="1" name="relu" type="ReLU" version="opset1"><input>{port}</input><output>'
    '<port id="0" precision="FP32" names="{relu}"><dim>2</dim></port></output></layer>'
    '<layer id="2" name="first" type="Result" version="opset1"><input>{port}</input></layer>'
    '<layer id="3" name="second" type="Result" version="opset1"><input>{port}</input></layer></layers>'
    '<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0" />'
    '<edge from-layer="{first}" from-port="0" to-layer="2" to-port="0" />'
    '<edge from-layer="1" from-port="0" to-layer="3" to-port="0" /></edges></net>'
).replace("{port}", '<port id="0" precision="FP32"><dim>2</dim></port>')


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("x", "relu"), [("", ""), ("a", "b"), ("x", "relu"), ("relu", "b"), ("a", "x"), ("a", "a")])
def test_names_of_inputs_and_outputs_that_the_runtime_refuses(version: int, first: int, x: str, relu: str) -> None:
    """Two Results of a tensor, or a Result of an input, are refused in IR v10 if the tensor has a name."""
    text = BORDERS.format(version=version, first=first, x=x, relu=relu)
    found = [one.message for one in validate(text.encode(), b"", select=["IR105"]) if "refuse" in one.message]
    assert bool(found) == (not works(lambda: ov.Core().read_model(text.encode())))


def assert_refused_if_reported(builder: Builder, words: Iterable[tuple[str, ...]]) -> None:
    """In IR v10, and with each of these names for its tensors, the runtime refuses a model if it is reported."""
    root, weights = ElementTree.fromstring(render(builder.model)), b"".join(builder.model.weights.tail())
    root.set("version", "10")
    ports = [*root.iterfind("layers/layer/output/port")]
    for names in words:
        for port, name in zip(ports, names, strict=True):
            port.set("names", name)
        text = ElementTree.tostring(root)
        found = [one for one in validate(text, weights, select=["IR105"]) if "refuse" in one.message]
        assert bool(found) != works(ov.Core().read_model, text, weights), names


def test_of_several_tensors_of_one_name_an_input_keeps_it_or_an_output() -> None:
    builder = Builder()
    relu = builder.call("ReLU", builder.parameter("x", "2", "f32"), name="relu")
    builder.result(builder.call("Tanh", relu, name="tanh"))
    assert_refused_if_reported(builder, product(["", "a", "x", "relu", "tanh", "x,tanh"], repeat=3))


def test_outputs_of_a_layer_with_several_are_named_with_their_numbers() -> None:
    builder = Builder()
    parts = builder.outputs("Split", builder.parameter("x", "2", "f32"), 0, num_splits=2, name="s")
    for part in parts:
        builder.result(part)
    words = ["", "s", "s.0", "s.1"]
    assert_refused_if_reported(builder, product(words, [""], words, words))
