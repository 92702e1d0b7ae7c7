"""Whatever is changed is written, and nothing else: random changes to layers of real models."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ir_tools.format.content import ElementSource
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Graph, Layer, LayerContent, Located, Model, Port, Source
from ir_tools.source import Document
from tests.conftest import corpus_files
from tests.format.support import SMALL, changed_lines, told
from tests.rules.test_rules import FOLDER

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=8
)
LAYOUTS = ("as it is", "CRLF", "one line", "two blanks", "UTF-16")


@cache
def document(path: Path | None, layout: str) -> bytes:
    data = SMALL if path is None else path.read_bytes()
    if layout == "CRLF":
        return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if layout == "one line":
        return b"".join(line.strip() for line in data.splitlines())
    if layout == "two blanks":
        return data.replace(b"\t", b"  ")
    return data.decode().encode("utf-16") if layout == "UTF-16" else data


@st.composite
def models(draw: st.DrawFn) -> tuple[bytes, Model]:
    small = [path for path in corpus_files() if path.stat().st_size < 400_000]
    data = document(draw(st.sampled_from([None, *small])), draw(st.sampled_from(LAYOUTS)))
    return data, read(data)


def change_data(draw: st.DrawFn, layer: Layer) -> None:
    raw = layer.raw
    name = draw(st.sampled_from([*raw, "new", "other"]))
    if name in raw and draw(st.booleans()):
        del raw[name]
    else:
        raw[name] = draw(TEXT)


def change_tag(draw: st.DrawFn, layer: Layer) -> None:
    layer.tag[draw(st.sampled_from(["name", "type", "version", "output_names", "fresh"]))] = draw(TEXT)


def change_port(draw: st.DrawFn, layer: Layer) -> None:
    ports = [*layer.inputs, *layer.outputs]
    if not ports:
        return
    port = draw(st.sampled_from(ports))
    kind = draw(st.sampled_from(["dims", "precision", "names"]))
    if kind == "dims":
        port.dims = tuple(draw(st.lists(st.integers(-1, 2**40), max_size=6)))
    elif kind == "precision":
        port.precision = draw(st.sampled_from([None, "I64", "FP16"]))
    else:
        port.names = tuple(draw(st.lists(st.text("ab, é<&", min_size=1, max_size=4), max_size=3)))


def change_ports(draw: st.DrawFn, layer: Layer) -> None:
    side = draw(st.sampled_from([layer.inputs, layer.outputs]))
    new_id = 50 + len(layer.inputs) + len(layer.outputs)
    side.insert(draw(st.integers(0, len(side))), Port(new_id, "FP32", (1, 2), ("n",)))
    if draw(st.booleans()):
        side.reverse()


def change_rt_info(draw: st.DrawFn, layer: Layer) -> None:
    shorter: bool = draw(st.booleans())
    if layer.rt_info and shorter:
        layer.rt_info.pop(draw(st.integers(0, len(layer.rt_info) - 1)))
    else:
        layer.rt_info.append({"name": "note", "version": "0", "value": draw(TEXT)})


def change_mapping(draw: st.DrawFn, layer: Layer) -> None:
    for rows in layer.content.mapping.values():
        shorter: bool = draw(st.booleans())
        if rows and shorter:
            rows.pop(draw(st.integers(0, len(rows) - 1)))
        else:
            rows.append(("input", {"external_port_id": draw(TEXT)}))


CHANGES = (change_data, change_tag, change_port, change_ports, change_rt_info, change_mapping)


def block(data: bytes, layer: Layer) -> range:
    """The lines of a layer, counted from 1."""
    assert isinstance(layer.source, ElementSource)
    whole = Document(data)
    own = layer.source.document
    span = own.span(layer.source.element)
    return range(whole.line_at(span.start), whole.line_at(span.end) + 1)


SETTINGS = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))


@SETTINGS
@given(st.data())
def test_changing_one_layer_changes_only_its_lines(data: st.DataObject) -> None:
    before, model = data.draw(models())
    place: Located = data.draw(st.sampled_from(list(model.walk())))
    for change in data.draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=4)):
        data.draw(st.composite(lambda draw, change=change: change(draw, place.layer))())
    after = render(model)
    again = read(after)
    assert told(again) == told(model)
    assert render(again) == after
    old, new = Document(before).text, Document(after).text
    if old.count(b"\n") > 5:
        lines = block(before, place.layer)
        assert all(line in lines for line in changed_lines(old, new))


ALIKE = """<?xml version="1.0"?>
<net name="alike" version="11">
	<layers>
{}	</layers>
	<edges>
{}	</edges>
</net>
"""
ALIKE_LAYER = """		<layer id="{0}" name="pool{1}" type="AvgPool" version="opset1">
			<data kernel="2,2" pads_begin="0,0" />
			<rt_info>
				<attribute name="fused_names" version="0" value="x" />
			</rt_info>
			<input>
				<port id="0" precision="FP32">
					<dim>1</dim>
				</port>
			</input>
			<output>
				<port id="1" precision="FP32" names="{2}">
					<dim>1</dim>
				</port>
			</output>
		</layer>
"""
ALIKE_NAMES = ("a", "long,b", "c&amp;d", "e\\,f")


def alike() -> bytes:
    """Layers of one form, with names of several lengths."""
    rows = [ALIKE_LAYER.format(number, "x" * 5 * number, name) for number, name in enumerate(ALIKE_NAMES, 8)]
    edges = [f'<edge from-layer="{one}" from-port="1" to-layer="{one + 1}" to-port="0" />\n' for one in range(8, 11)]
    return ALIKE.format("".join(rows), "".join(edges)).encode()


def widened(layer: Layer, change: Callable[[Layer], object]) -> None:
    """One change to all layers, and another to one that is not the first."""
    layer.raw.update(kernel="3,3")
    if layer.id == 9:
        change(layer)


ALIKE_CHANGES: dict[str, Callable[[Layer], object]] = {
    "attribute": lambda layer: layer.raw.update(kernel="3,3"),
    "attributes": lambda layer: layer.raw.clear(),
    "version": lambda layer: layer.tag.update(version="opset14", fresh="1"),
    "name": lambda layer: layer.tag.update(name="new"),
    "input": lambda layer: setattr(layer.inputs[0], "dims", (7, 8)),
    "output": lambda layer: setattr(layer.outputs[0], "dims", (7, 8)),
    "names": lambda layer: setattr(layer.outputs[0], "names", ("new",)),
    "no names": lambda layer: setattr(layer.outputs[0], "names", ()),
    "precision": lambda layer: setattr(layer.outputs[0], "precision", "FP16"),
    "rt_info": lambda layer: layer.rt_info.append({"name": "note", "version": "0", "value": "<"}),
    "no rt_info": lambda layer: layer.rt_info.clear(),
    "outputs": lambda layer: layer.outputs.clear(),
    "loaded": lambda layer: layer.content,
    "attribute, and names of one": lambda layer: widened(layer, lambda one: setattr(one.outputs[0], "names", ("new",))),
    "attribute, and the version of one": lambda layer: widened(layer, lambda one: one.tag.update(version="opset14")),
    "attribute, and the name of one": lambda layer: widened(layer, lambda one: one.tag.update(name="new")),
}


@pytest.mark.parametrize("change", ALIKE_CHANGES)
def test_layers_of_one_form_are_written_as_if_they_were_alone(change: str) -> None:
    together, alone = read(alike()), read(alike())
    for model in (together, alone):
        model.graph.clear_edges()
        for layer in model.graph.layers():
            ALIKE_CHANGES[change](layer)
    assert_written_alike(together, alone)


def test_ports_of_one_name_that_change_places_are_written_as_if_their_layers_were_alone() -> None:
    """The names stay as they are, one after the other, and one of them is in what is cut out."""
    start, port, end = re.split(rb"(?<=<output>)(.*?)(?=\n\t\t\t</output>)", ALIKE_LAYER.encode(), flags=re.DOTALL)
    rows = start + port.replace(b'id="1"', b'id="2"') + port + end
    layers = [rows.decode().format(number, "", name) for number, name in enumerate(ALIKE_NAMES, 8)]
    together, alone = (read(ALIKE.format("".join(layers), "").encode()) for _ in range(2))
    for layer in (*together.graph.layers(), *alone.graph.layers()):
        layer.raw.update(kernel="3,3")
        layer.outputs.reverse()
    assert_written_alike(together, alone)


def test_of_layers_of_one_form_one_gets_another_number() -> None:
    model = read(alike())
    graph = model.graph
    second = graph.layer(9)
    graph.remove_node(9)
    graph.add_node(77, layer=second)
    for layer in graph.layers():
        layer.raw.update(kernel="3,3")
    again = read(render(model)).graph
    assert [(number, again.layer(number).raw["kernel"]) for number in again] == [(at, "3,3") for at in (8, 77, 10, 11)]


def assert_written_alike(together: Model, alone: Model) -> None:
    for layer in alone.graph.layers():
        assert isinstance(layer.source, ElementSource)
        layer.source.place = None
    assert render(together) == render(alone)


CONSTANT = """		<layer id="{0}" name="c{0}" type="Const" version="opset1"{3}>
			<data {4} element_type="u8" shape="1" offset="{1}" size="1" />
			<output>
				<port id="0" precision="U8" names="{2}">
					<dim>1</dim>
				</port>
			</output>
		</layer>
"""


def moved(layer: Layer) -> None:
    layer.raw.update(offset="1")
    layer.outputs[0].dims = (2, 3)


CONSTANT_CHANGES: dict[str, Callable[[Layer], object]] = {
    "offset": lambda layer: layer.raw.update(offset="10"),
    "offset and dims": moved,
    "size": lambda layer: layer.raw.update(size="22"),
    "precision": lambda layer: setattr(layer.outputs[0], "precision", "I8"),
    "dims": lambda layer: setattr(layer.outputs[0], "dims", (2, 3)),
    "rt_info": lambda layer: layer.rt_info.append({"name": "note", "version": "0"}),
    "version": lambda layer: layer.tag.update(version="opset14"),
}


@pytest.mark.parametrize("change", CONSTANT_CHANGES)
@pytest.mark.parametrize("more", ["", 'names="n"'])
@pytest.mark.parametrize("tag", ["", ' names="n"'])
def test_constants_of_one_form_are_written_as_if_they_were_alone(change: str, more: str, tag: str) -> None:
    rows = [CONSTANT.format(10**at, 10 ** (3 - at), name, tag, more) for at, name in enumerate(ALIKE_NAMES)]
    data = ALIKE.format("".join(rows), "").encode()
    together, alone = read(data), read(data)
    for model in (together, alone):
        for layer in model.graph.layers():
            CONSTANT_CHANGES[change](layer)
    assert_written_alike(together, alone)


def test_layers_of_two_forms_that_become_alike_are_changed_each_in_its_own_text() -> None:
    model = read(alike().replace(b'kernel="2,2"', b'kernel="12,12"', 1))
    wanted = {"kernel": "3,3", "pads_begin": "1,1"}
    for layer in model.graph.layers():
        layer.raw.update(wanted)
    assert [layer.raw for layer in read(render(model)).graph.layers()] == [wanted] * len(ALIKE_NAMES)


def random_edit(data: st.DataObject, graph: Graph) -> None:
    layers = list(graph.layers())
    layer = data.draw(st.sampled_from(layers))
    kind = data.draw(st.sampled_from(["insert", "bypass", "remove", "replace", "twin"]))
    outputs = [Source(each.id, port.id) for each in layers for port in each.outputs if each.type != "Const"]
    if kind == "insert" and layer.outputs:
        new = graph.add(_unary(graph), {0: Source(layer.id, layer.outputs[0].id)})
        graph.redirect(Source(layer.id, layer.outputs[0].id), Source(new.id, 1), names=data.draw(st.booleans()))
    elif kind == "bypass" and layer.inputs and outputs:
        graph.connect(data.draw(st.sampled_from(outputs)), layer.id, layer.inputs[0].id)
    elif kind == "remove" and not list(graph.successors(layer.id)) and len(layers) > 1:
        graph.remove(layer.id)
    elif kind == "replace" and len(layer.outputs) == 1 and len(layer.inputs) <= 1:
        graph.replace(layer.id, _unary(graph))
    elif kind == "twin":
        graph.add(layer.copy(graph.new_id()), graph.sources(layer.id))


def _unary(graph: Graph) -> Layer:
    tag = {"name": graph.new_name("new"), "type": "ReLU", "version": "opset1"}
    return Layer(graph.new_id(), tag, LayerContent({"a": "1"}, [Port(0, "FP32", (1, -1))], [Port(1, "FP32", (1, -1))]))


def shape_of(model: Model) -> list[tuple[str, int, list[tuple[int, int, object]]]]:
    graphs = {id(graph): graph for _, _, graph in model.walk()}
    return [
        (layer.name, layer.id, sorted(graph.out_edges(layer.id, keys=True)))
        for graph in graphs.values()
        for layer in graph.layers()
    ]


@SETTINGS
@given(st.data())
def test_any_edits_of_the_graph_are_written(data: st.DataObject) -> None:
    _, model = data.draw(models())
    graphs = list({id(graph): graph for _, _, graph in model.walk()}.values())
    for _ in range(data.draw(st.integers(1, 8))):
        random_edit(data, data.draw(st.sampled_from(graphs)))
    after = render(model)
    again = read(after)
    assert sorted(shape_of(again), key=str) == sorted(shape_of(model), key=str)
    assert render(again) == after
    assert [layer.content for _, layer, _ in again.walk()] == [
        layer.content for _, layer, _ in _in_file_order(model, again)
    ]


def _in_file_order(model: Model, again: Model) -> list[Located]:
    places = {place.path: place for place in model.walk()}
    return [places[path] for path, _, _ in again.walk()]


@pytest.mark.sweep
@settings(SETTINGS, max_examples=800)
@given(st.data())
def test_sweep_of_changes(data: st.DataObject) -> None:
    test_changing_one_layer_changes_only_its_lines.hypothesis.inner_test(data)  # type: ignore[attr-defined]  # hypothesis adds it
    test_any_edits_of_the_graph_are_written.hypothesis.inner_test(data)  # type: ignore[attr-defined]  # hypothesis adds it


def test_new_edges_are_in_the_order_of_openvinos_files() -> None:
    """Which are sorted by the layer that edges come from."""
    model = read(ALIKE.format("".join(ALIKE_LAYER.format(number, number, "") for number in range(8, 12)), "").encode())
    for source, target in ((9, 10), (8, 11), (8, 9)):
        model.graph.connect(Source(source, 1), target, 0)
    found = re.findall(rb'from-layer="(\d+)".*to-layer="(\d+)"', render(model))
    assert [(int(source), int(target)) for source, target in found] == [(8, 9), (8, 11), (9, 10)]


def test_a_layer_under_another_number_is_written_with_it() -> None:
    model = read(SMALL)
    graph, number = model.graph, max(model.graph)
    layer, edges = graph.layer(number), [*graph.in_edges(number, keys=True)]
    graph.remove_node(number)
    graph.add_node(77, layer=layer)
    for source, _, ports in edges:
        graph.add_edge(source, 77, ports)
    again = read(render(model))
    assert again.graph.layer(77).name == layer.name
    assert number not in again.graph


LONG = [b"\n" + b" " * count for count in (254, 255, 256, 600)]
"""White space as long as what is looked through at once, or longer."""


@pytest.mark.parametrize("between", [b"", b"\n\t", *LONG, b"<!-- kept -->", b"kept"], ids=lambda text: len(text))
def test_of_what_is_removed_nothing_stays_but_comments_and_text_between(between: bytes) -> None:
    text = (
        b'<?xml version="1.0"?><net name="n" version="11"><layers><layer id="0" name="x" type="Parameter"'
        b' version="opset1"><data shape="1,2,3,4" element_type="f32"/><output><port id="0" precision="FP32">%b</port>'
        b"</output></layer></layers><edges/></net>"
    )
    dims = [b"<dim>%d</dim>" % size for size in (1, 2, 3, 4)]
    model = read(text % between.join(dims))
    model.graph.layer(0).outputs[0].dims = (1,)
    assert render(model) == text % (dims[0] + (between * 3 if between.strip() else b""))


OLD_PORTS, NEW_PORT = (4, 5, 7), 6
ORDERS = [order for count in range(5) for order in permutations((*OLD_PORTS, NEW_PORT), count)]


def test_ports_are_written_in_any_order() -> None:
    ports = "".join(f'<port id="{port}" precision="FP32"><dim>{port}</dim></port>' for port in OLD_PORTS)
    text = (
        '<?xml version="1.0"?><net name="n" version="11"><layers><layer id="0" name="x" type="Strange"'
        f' version="other"><output>{ports}</output></layer></layers><edges/></net>'
    ).encode()
    for order in ORDERS:
        model = read(text)
        outputs = model.graph.layer(0).outputs
        known = {port.id: port for port in (*outputs, Port(NEW_PORT, "FP32", (NEW_PORT,)))}
        outputs[:] = [known[port] for port in order]
        after = render(model)
        assert [(port.id, port.dims) for port in read(after).graph.layer(0).outputs] == [(one, (one,)) for one in order]
        assert (after == text) == (order == OLD_PORTS)


ROWS = [order for count in range(4) for order in permutations(range(3), count)]


@pytest.mark.parametrize("before", ROWS, ids=str)
def test_rows_of_a_port_map_are_written_in_any_order(before: Sequence[int]) -> None:
    """Two inputs and an output, of which each may be added or taken away."""
    first = read((FOLDER / "bad_port_map_row" / "good.xml").read_bytes())
    rows = [*_with_bodies(first).content.mapping["port_map"]]
    rows.append(("input", {"external_port_id": "0", "internal_layer_id": "0"}))
    _with_bodies(first).content.mapping["port_map"] = [rows[number] for number in before]
    text = render(first)
    for order in ROWS:
        model = read(text)
        wanted = _with_bodies(model).content.mapping["port_map"] = [rows[number] for number in order]
        assert _with_bodies(read(render(model))).content.mapping.get("port_map", []) == wanted


def _with_bodies(model: Model) -> Layer:
    return next(layer for layer in model.graph.layers() if layer.bodies)


def test_what_data_holds_besides_attributes_stays() -> None:
    text = SMALL.replace(b'rounding_type="ceil_torch" />', b'rounding_type="ceil_torch"><more a="1"/></data>')
    model = read(text)
    model.graph.layer(1).raw.clear()
    assert b'<more a="1"/></data>' in render(model)
    assert read(render(model)).graph.layer(1).raw == {}


def test_a_body_that_is_taken_away_is_not_in_the_file() -> None:
    model = read((FOLDER / "bad_port_map_row" / "good.xml").read_bytes())
    (layer,) = (layer for layer in model.graph.layers() if layer.bodies)
    layer.bodies.clear()
    text = render(model)
    assert b"<body>" not in text
    assert b"<port_map>" in text


@pytest.mark.parametrize("name", ["", "other", "a'b&"])
def test_the_name_of_a_model_is_written(name: str) -> None:
    model = read(SMALL)
    model.name = name
    assert read(render(model)).name == name
