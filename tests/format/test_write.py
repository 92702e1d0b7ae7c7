import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

from ir_tools.errors import ReadError, WriteError
from ir_tools.format.read import read
from ir_tools.format.write import check_output, render, write
from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.weights import Weights
from tests.format import sample_models
from tests.format.support import SMALL, small, told


def load_all(model: Model) -> Model:
    for _, layer, _ in model.walk():
        assert layer.tag is not None
        assert layer.content is not None
    return model


# --- the same bytes ---------------------------------------------------------------------------------------------


def test_the_corpus_comes_back_byte_for_byte(corpus_model: Path) -> None:
    data = corpus_model.read_bytes()
    assert render(read(corpus_model)) == data
    loaded = load_all(read(corpus_model))
    assert render(loaded) == data
    assert render(loaded.copy()) == data


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    for build in sample_models.MODELS:
        sample_models.serialize(build(), str(folder / f"{build.__name__}.xml"))
    return folder


NAMES = [build.__name__ for build in sample_models.MODELS]


@pytest.mark.parametrize("name", NAMES)
def test_files_of_the_installed_openvino_come_back(samples: Path, name: str) -> None:
    path = samples / f"{name}.xml"
    assert render(load_all(read(path))) == path.read_bytes()


def older_runtimes() -> list[Any]:
    named = os.environ.get("IR_TOOLS_RUNTIMES")
    pythons = sorted(Path(named).glob("*/bin/python")) if named else []
    skip = pytest.mark.skip(
        reason="set IR_TOOLS_RUNTIMES to a folder of virtual environments with older OpenVINO releases"
    )
    return [pytest.param(path, id=path.parts[-3]) for path in pythons] or [pytest.param(Path(), marks=skip, id="none")]


@pytest.mark.sweep
@pytest.mark.parametrize("python", older_runtimes())
def test_files_of_older_openvino_come_back(python: Path, tmp_path: Path) -> None:
    subprocess.run([python, sample_models.__file__, tmp_path], check=True, timeout=120)
    files = sorted(tmp_path.glob("*.xml"))
    assert [path.stem for path in files] == sorted(NAMES)
    for path in files:
        model = load_all(read(path))
        assert render(model) == path.read_bytes()
        assert told(read(whole(model))) == told(model)


LIGHT = ["squeezenet", "shufflenet"]
HEAVY = ["inception_v2", "densenet121", "inception_v1", "resnet50", "bvlc_alexnet", "zfnet512", "vgg19"]


@pytest.mark.parametrize("name", [*LIGHT, *(pytest.param(name, marks=pytest.mark.sweep) for name in HEAVY)])
def test_converted_networks_come_back(name: str, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    source = Path(onnx.__file__).parent / f"backend/test/data/light/light_{name}.onnx"
    ov.save_model(ov.convert_model(source), tmp_path / "a.xml")
    model = load_all(read(tmp_path / "a.xml"))
    assert render(model) == (tmp_path / "a.xml").read_bytes()
    write(model, tmp_path / "b.xml")
    assert (tmp_path / "b.xml").read_bytes() == (tmp_path / "a.xml").read_bytes()
    assert (tmp_path / "b.bin").read_bytes() == (tmp_path / "a.bin").read_bytes()


# --- changes ----------------------------------------------------------------------------------------------------


def set_kernel(model: Model) -> None:
    model.graph.layer(1).raw["kernel"] = "5"


def drop_attribute(model: Model) -> None:
    del model.graph.layer(1).raw["rounding_type"]


def add_attribute(model: Model) -> None:
    model.graph.layer(1).raw["auto_pad"] = 'a "b" <&>\n\''


def restamp(model: Model) -> None:
    model.graph.layer(1).tag["version"] = "opset8"


def set_dims(model: Model) -> None:
    model.graph.layer(1).outputs[0].dims = (1, 8, 7, 7)


def no_dims(model: Model) -> None:
    model.graph.layer(1).outputs[0].dims = ()


def set_precision(model: Model) -> None:
    model.graph.layer(1).inputs[0].precision = None


def set_names(model: Model) -> None:
    model.graph.layer(1).outputs[0].names = ("one, two", "three")


def no_names(model: Model) -> None:
    model.graph.layer(1).outputs[0].names = ()


def more_rt_info(model: Model) -> None:
    model.graph.layer(1).rt_info.append({"name": "layout", "version": "0", "value": "[N,C,...]"})


def no_rt_info(model: Model) -> None:
    model.graph.layer(1).rt_info.clear()


def no_data(model: Model) -> None:
    model.graph.layer(1).raw.clear()


def new_data(model: Model) -> None:
    model.graph.layer(2).raw["a"] = "b"


def more_ports(model: Model) -> None:
    model.graph.layer(1).outputs.append(Port(2, "I64", (1, 8), ("indices",)))


def other_port(model: Model) -> None:
    model.graph.layer(1).outputs.insert(0, Port(7, "FP32", (1,)))


def new_side(model: Model) -> None:
    model.graph.layer(2).outputs.append(Port(1, "FP32", ()))


CHANGES: list[Callable[[Model], None]] = [
    set_kernel, drop_attribute, add_attribute, restamp, set_dims, no_dims, set_precision, set_names, no_names,
    more_rt_info, no_rt_info, no_data, new_data, more_ports, other_port, new_side,
]  # fmt: skip


@pytest.mark.parametrize("layout", ["tabs", "CRLF", "one line"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_written_and_nothing_else(change: Callable[[Model], None], layout: str) -> None:
    data = {
        "tabs": SMALL,
        "CRLF": SMALL.replace(b"\n", b"\r\n"),
        "one line": SMALL.replace(b"\n", b"").replace(b"\t", b""),
    }[layout]
    model = read(data)
    change(model)
    after = render(model)
    assert after != data
    again = read(after)
    assert told(again) == told(model)
    assert render(again) == after
    assert b"<!-- where it starts: <layer> -->" in after
    assert b'<meta_data><made by="hand"/></meta_data>' in after
    if layout != "one line":
        assert {line[-1:] for line in after.split(b"\n")[:-1]} == ({b"\r"} if layout == "CRLF" else {b">"})


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize(
    "word", ["a\rb", "a\nb", "a\tb", "a'b", 'a"b', "a&b", "a<b", "a>b", "aXb", "&amp;", "\r\n\t'\"&<"]
)
def test_any_text_of_an_attribute_comes_back(word: str, quote: str) -> None:
    """In an attribute that was there, in one that is new, and in a layer that is new."""
    model = read(SMALL.replace(b'"', quote.encode()).replace(b"a='1'", b""))
    layer = model.graph.layer(1)
    layer.raw.update(strides=word, note=word)
    model.graph.add(Layer(9, {"name": word, "type": "Own", "version": "opset1"}, LayerContent({"note": word}, [], [])))
    again = read(render(model)).graph
    assert (again.layer(1).raw["strides"], again.layer(1).raw["note"]) == (word, word)
    assert (again.layer(9).name, again.layer(9).raw["note"]) == (word, word)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_an_empty_attribute_gets_its_text_between_its_own_quotes(quote: str) -> None:
    before, after = (f"strides={quote}{text}{quote}".encode() for text in ("", "2"))
    data = SMALL.replace(b'strides="1"', before)
    model = read(data)
    model.graph.layer(1).raw["strides"] = "2"
    assert render(model) == data.replace(before, after)


def test_attributes_beside_names_of_namespaces_are_changed() -> None:
    data = SMALL.replace(b'<data kernel="3"', b'<data xmlns:a="b" kernel="3"')
    model = read(data)
    set_kernel(model)
    assert render(model) == data.replace(b'kernel="3"', b'kernel="5"')


def test_an_id_with_a_zero_in_front_stays() -> None:
    data = SMALL.replace(b'<layer id="1"', b'<layer id="01"')
    model = read(data)
    restamp(model)
    assert render(model) == data.replace(b'version="opset14"', b'version="opset8"')


def test_new_elements_are_indented_as_those_beside_them() -> None:
    row = b'<attribute name="fused_names" version="0" value="pool" />'
    data = SMALL.replace(b"\t" * 4 + row, b"  " + row)
    model = read(data)
    more_rt_info(model)
    new = row.replace(b"fused_names", b"layout").replace(b'"pool"', b'"[N,C,...]"')
    assert render(model) == data.replace(b"  " + row, b"  " + row + b"\n  " + new)


PARTS = {
    "raw": '<data a="1"/>',
    "rt_info": '<rt_info><attribute name="n" version="0" value="v"/></rt_info>',
    "inputs": '<input><port id="0"/></input>',
    "outputs": '<output><port id="1"/></output>',
}


@pytest.mark.parametrize("part", PARTS)
def test_a_new_part_of_a_layer_is_put_where_openvino_writes_it(part: str) -> None:
    def text(parts: str) -> bytes:
        layer = f'<layer id="0" name="a" type="Own" version="opset1">{parts}<unknown/></layer>'
        return f'<net name="n" version="11"><layers>{layer}</layers><edges/></net>'.encode()

    whole = text("".join(PARTS.values()))
    model = read(text("".join(PARTS[name] for name in PARTS if name != part)))
    setattr(model.graph.layer(0).content, part, getattr(read(whole).graph.layer(0).content, part))
    assert render(model) == whole


def test_text_of_single_changes() -> None:
    model = small()
    set_kernel(model)
    restamp(model)
    set_dims(model)
    more_rt_info(model)
    add_attribute(model)
    wanted = (
        SMALL.replace(b'kernel="3"', b'kernel="5"')
        .replace(b'version="opset14"', b'version="opset8"')
        .replace(b'"ceil_torch" />', b'"ceil_torch" auto_pad="a &quot;b&quot; &lt;&amp;>&#10;\'" />')
        .replace(
            b'value="pool" />\n',
            b'value="pool" />\n\t\t\t\t<attribute name="layout" version="0" value="[N,C,...]" />\n',
        )
    )
    head, mark, tail = wanted.partition(b'names="pooled">')
    wanted = head + mark + tail.replace(b"<dim>-1</dim>", b"<dim>7</dim>\n\t\t\t\t\t<dim>7</dim>", 1)
    assert render(model).decode() == wanted.decode()


def test_what_is_changed_back_is_no_change() -> None:
    model = small()
    layer = model.graph.layer(1)
    layer.raw["kernel"] = "7"
    layer.raw["kernel"] = "3"
    model.graph.disconnect(2, 0)
    model.graph.connect(Source(1, 1), 2, 0)
    assert render(model) == SMALL


def new_relu(model: Model) -> Layer:
    graph = model.graph
    return Layer(
        graph.new_id(),
        {"name": graph.new_name("relu"), "type": "ReLU", "version": "opset1"},
        LayerContent(inputs=[Port(0, "FP32", (1, 8, -1))], outputs=[Port(1, "FP32", (1, 8, -1))]),
    )


def test_a_new_layer_and_its_edges() -> None:
    model = small()
    graph = model.graph
    relu = graph.add(new_relu(model))
    graph.redirect(Source(1, 1), Source(relu.id, 1))
    graph.connect(Source(1, 1), relu.id, 0)
    after = render(model).decode()
    block = """
		<layer id="3" name="relu" type="ReLU" version="opset1">
			<input>
				<port id="0" precision="FP32">
					<dim>1</dim>
					<dim>8</dim>
					<dim>-1</dim>
				</port>
			</input>
			<output>
				<port id="1" precision="FP32" names="pooled">
					<dim>1</dim>
					<dim>8</dim>
					<dim>-1</dim>
				</port>
			</output>
		</layer>"""
    wanted = SMALL.decode().replace("\n\t</layers>", block + "\n\t</layers>").replace(' names="pooled"', "", 1)
    wanted = wanted.replace('<edge from-layer="1" from-port="1" to', '<edge from-layer="3" from-port="1" to')
    wanted = wanted.replace(
        "\n\t</edges>", '\n\t\t<edge from-layer="1" from-port="1" to-layer="3" to-port="0" />\n\t</edges>'
    )
    assert after == wanted


def test_a_removed_layer_takes_its_lines_along() -> None:
    model = small()
    model.graph.redirect(Source(1, 1), Source(0, 0), names=False)
    model.graph.remove(1)
    lines = SMALL.decode().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if 'name="pool"' in line)
    last = next(i for i, line in enumerate(lines) if "<unknown" in line) + 1
    wanted = "".join(lines[:first] + lines[last + 1 :])
    wanted = wanted.replace('\t\t<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />\n', "")
    wanted = wanted.replace('from-layer="1" from-port="1" to-layer="2"', 'from-layer="0" from-port="0" to-layer="2"')
    assert render(model).decode() == wanted


def test_a_replaced_layer_stays_where_it_was() -> None:
    model = small()
    model.graph.replace(1, new_relu(model))
    again = read(render(model))
    assert [layer.type for layer in again.graph.layers()] == ["Parameter", "ReLU", "Result"]
    new = again.graph.layer(1)
    assert (new.name, new.outputs[0].names, new.rt_info[0]["value"]) == ("pool", ("pooled",), "pool")
    assert again.graph.sources(2) == {0: Source(1, 1)}


def test_networkx_may_make_the_changes() -> None:
    model = small()
    model.graph.remove_node(1)
    model.graph.add_edge(0, 2, key=(0, 0))
    again = read(render(model))
    assert list(again.graph.edges(keys=True)) == [(0, 2, (0, 0))]
    model.graph.add_edge(0, 2)
    with pytest.raises(WriteError, match="has no ports"):
        render(model)


def test_what_could_not_be_read_again_is_not_written() -> None:
    model = small()
    model.graph.layer(1).outputs[0].id = 5
    with pytest.raises(WriteError, match="'pool' has no output port 1, but an edge comes from it"):
        render(model)
    model.graph.layer(1).outputs[0].id = 1
    model.graph.layer(2).inputs.clear()
    with pytest.raises(WriteError, match="'y' has no input port 0, but an edge leads to it"):
        render(model)
    model.graph.layer(2).inputs.extend([Port(0), Port(0)])
    with pytest.raises(WriteError, match="'y' has two ports with the same id"):
        render(model)
    model.graph.layer(2).inputs.pop()
    model.graph.add_edge(0, 2, key=(0, 0))
    with pytest.raises(WriteError, match="input port 0 of layer 2 has two edges"):
        render(model)
    model.graph.remove_edge(0, 2)
    model.graph.add(Layer(9, {"name": "bare"}))
    model.graph.add_edge(0, 9, key=(0, 0))
    with pytest.raises(WriteError, match="'bare' has no input port 0, but an edge leads to it"):
        render(model)
    model.graph.remove(9)
    graph: Any = model.graph
    for node, data in (("x", {}), ("y", {"layer": Layer(9, {"name": "bare"})}), (9, {}), (9, {"layer": "z"})):
        graph.add_node(node, **data)
        with pytest.raises(WriteError, match=f"node {node!r} of the graph has no layer"):
            render(model)
        graph.remove_node(node)


@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_ports_of_one_side_have_ids_of_their_own(side: str) -> None:
    model = small()
    ports = getattr(model.graph.layer(1), side)
    ports.append(Port(ports[0].id, "FP32", (1,)))
    with pytest.raises(WriteError, match="'pool' has two ports with the same id"):
        render(model)


def test_an_output_is_no_input_that_is_fed() -> None:
    model = small()
    pool = model.graph.layer(1)
    pool.inputs[0].id, pool.outputs[0].id = 1, 0
    with pytest.raises(WriteError, match="'pool' has no input port 0, but an edge leads to it"):
        render(model)


def test_an_edge_has_two_ports() -> None:
    model = small()
    model.graph.add_edge(0, 2, key=(0, 0, 0))
    with pytest.raises(WriteError, match="the edge from 0 to 2 has no ports"):
        render(model)


def test_a_new_edge_is_written_behind_the_others() -> None:
    model = small()
    model.graph.layer(2).inputs.append(Port(1, "FP32", (1, 8, -1)))
    model.graph.connect(Source(0, 0), 2, 1)
    edges = SMALL[SMALL.index(b"\t\t<edge ") : SMALL.index(b"\t</edges>")]
    new = b'\t\t<edge from-layer="0" from-port="0" to-layer="2" to-port="1" />\n'
    assert edges + new in render(model)


def test_a_layer_beside_its_copy() -> None:
    model = small()
    twin = model.graph.layer(1).copy(model.graph.new_id())
    twin.tag["name"] = "twin"
    model.graph.add(twin, {0: Source(0, 0)})
    after = render(model)
    assert after.count(b"<!-- in -->") == 2
    again = read(after)
    assert (again.graph.layer(3).name, again.graph.layer(3).tag["origin"]) == ("twin", "kept")
    assert again.graph.layer(3).content == again.graph.layer(1).content


def whole(model: Model) -> bytes:
    """The model as one that was never in a file."""
    bare = Model(model.graph, name=model.name, version=model.version, weights=model.weights, origin=None, path=None)
    return render(bare)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_without_file(samples: Path, name: str) -> None:
    model = read(samples / f"{name}.xml")
    for _, layer, _ in load_all(model).walk():
        layer.source = None
    text = whole(model)
    assert told(read(text)) == told(model)
    ours = text.splitlines()
    theirs = [line for line in (samples / f"{name}.xml").read_bytes().splitlines() if b"<rt_info />" not in line]
    assert ours[:-1] == theirs[: len(ours) - 1], "the style is OpenVINO's own"
    ov.Core().read_model(text, (samples / f"{name}.bin").read_bytes())


def test_layers_of_another_file_keep_their_bytes() -> None:
    model = small()
    text = whole(model)
    assert b"<!-- in -->" in text
    assert told(read(text)) == told(model)
    foreign = read(SMALL.replace(b"<!-- in -->", "<!-- größer -->".encode()))
    assert "<!-- größer -->".encode() in whole(foreign)


@pytest.mark.parametrize("name", ["looped", "iterated", "branched"])
def test_changes_inside_bodies(samples: Path, name: str) -> None:
    model = read(samples / f"{name}.xml")
    before = render(model)
    path, layer, graph = [place for place in model.walk() if place.path.count("/") and place.layer.type == "Parameter"][
        -1
    ]
    layer.tag["name"] = "renamed"
    relu = graph.add(Layer(graph.new_id(), {"name": "r", "type": "ReLU", "version": "opset1"}))
    relu.inputs.append(Port(0, "FP32", layer.outputs[0].dims))
    relu.outputs.append(Port(1, "FP32", layer.outputs[0].dims))
    graph.redirect(Source(layer.id, 0), Source(relu.id, 1))
    graph.connect(Source(layer.id, 0), relu.id, 0)
    after = render(model)
    assert told(read(after)) == told(model)
    assert path.rpartition("/")[0] + "/renamed" in told(read(after))
    assert len(after.splitlines()) > len(before.splitlines())
    ov.Core().read_model(after, (samples / f"{name}.bin").read_bytes())


def test_bodies_may_come_and_go(samples: Path) -> None:
    model = read(samples / "branched.xml")
    node = next(layer for layer in model.graph.layers() if layer.type == "If")
    other = node.bodies.pop("else_body")
    assert b"\n\t\t\t<else_body>" not in render(model)
    node.bodies["spare_body"] = other
    again = read(render(model))
    assert [*next(layer for layer in again.graph.layers() if layer.type == "If").bodies] == ["then_body", "spare_body"]


def test_an_empty_layer_is_filled(samples: Path) -> None:
    model = read(b"<net version='11'>\n <layers>\n  <layer id='0'/>\n </layers>\n</net>")
    node = model.graph.layer(0)
    node.raw["a"] = "it's"
    node.outputs.append(Port(0, "FP32"))
    node.bodies["body"] = Graph()
    node.bodies["body"].add(Layer(0, {"name": "inner"}))
    wanted = """<net version='11'>
 <layers>
  <layer id='0'>
   <data a='it&apos;s'/>
   <output>
    <port id='0' precision='FP32'/>
   </output>
   <body>
    <layers>
     <layer id='0' name='inner'/>
    </layers>
    <edges/>
   </body>
  </layer>
 </layers>
</net>"""
    assert render(model).decode() == wanted


def test_the_runtime_sees_the_change(samples: Path) -> None:
    model = read(samples / "pooled.xml")
    pool = next(layer for layer in model.graph.layers() if layer.type == "AvgPool")
    pool.raw.update({"kernel": "2, 2", "exclude-pad": "false"})
    seen = ov.Core().read_model(render(model), b"")
    attributes = next(op for op in seen.get_ops() if op.get_type_name() == "AvgPool").get_attributes()
    assert (list(attributes["kernel"]), attributes["exclude-pad"]) == ([2, 2], False)


@pytest.mark.parametrize("codec", ["utf-16", "iso-8859-1"])
def test_changes_in_other_encodings(codec: str) -> None:
    data = SMALL.decode().replace('"1.0"?', f'"1.0" encoding="{codec}"?').replace('"small"', '"größe"').encode(codec)
    model = read(data)
    assert model.name == "größe"
    set_kernel(model)
    model.graph.layer(1).tag["name"] = "层"
    after = render(model)
    assert after.decode(codec).startswith('<?xml version="1.0" encoding')
    assert read(after).graph.layer(1).name == "层"


def test_what_xml_cannot_hold_is_refused() -> None:
    model = small()
    model.graph.layer(1).raw["kernel"] = "\x00"
    with pytest.raises(WriteError, match="U\\+0000"):
        render(model)


def test_name_and_version() -> None:
    model = small()
    model.name, model.version = "other", 10
    assert render(model) == SMALL.replace(b'name="small" version="11"', b'name="other" version="10"')


@pytest.mark.parametrize("version", [10, 11])
def test_name_and_version_of_a_model_without_text(version: int) -> None:
    graph = read(SMALL).graph
    model = Model(graph, name="<a>", version=version, weights=Weights(None), origin=None, path=None)
    found = read(render(model))
    assert (found.name, found.version) == ("<a>", version)


@pytest.mark.parametrize("version", [" 11", "011", "+11"])
def test_a_version_in_another_spelling_stays(version: str) -> None:
    text = SMALL.replace(b'version="11"', f'version="{version}"'.encode())
    model = read(text)
    model.name = "other"
    assert render(model) == text.replace(b'name="small"', b'name="other"')


# --- files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    (tmp_path / "m.xml").write_bytes(SMALL)
    (tmp_path / "m.bin").write_bytes(b"weights")
    return tmp_path / "m.xml"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def edited(path: Path) -> tuple[Model, int]:
    model = read(path)
    set_kernel(model)
    offset, _ = model.weights.append(np.arange(3, dtype=np.float32))
    return model, offset


@pytest.mark.parametrize("name", ["m.xml", "n.xml"])
def test_a_pair_is_written(pair: Path, name: str) -> None:
    model, offset = edited(pair)
    write(model, pair.with_name(name))
    again = read(pair.with_name(name))
    assert again.graph.layer(1).raw["kernel"] == "5"
    assert again.weights.view(0, 7).tobytes() == b"weights"
    assert again.weights.view(offset, 12).view(np.float32).tolist() == [0, 1, 2]
    assert sorted(content(pair.parent)) == sorted({"m.xml", "m.bin", name, name[:1] + ".bin"})
    write(model, pair.with_name("later.xml"))
    assert (
        read(pair.with_name("later.xml")).weights.view(0, offset + 12).tobytes()
        == again.weights.view(0, offset + 12).tobytes()
    )


@pytest.mark.parametrize(
    ("name", "call"), [("m.xml", 1), ("n.xml", 1), ("n.xml", 2), ("fresh.xml", 1), ("fresh.xml", 2)]
)
def test_an_interrupted_write_changes_nothing(
    pair: Path, monkeypatch: pytest.MonkeyPatch, name: str, call: int
) -> None:
    (pair.parent / "n.xml").write_bytes(b"old xml")
    (pair.parent / "n.bin").write_bytes(b"old bin")
    before, calls, rename = content(pair.parent), [0], os.replace
    model, _ = edited(pair)

    def replace(source: Path, target: Path) -> None:
        calls[0] += 1
        if calls[0] == call:
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(WriteError, match="No space left on device; nothing was changed"):
        write(model, pair.with_name(name))
    assert content(pair.parent) == before


@pytest.mark.parametrize(("links", "call"), [(1, 1), (2, 1), (2, 2)])
def test_a_killed_write_leaves_a_pair_that_works(pair: Path, links: int, call: int) -> None:
    """A `.bin` with one name is appended to, one with two names is replaced."""
    if links == 2:
        pair.with_name("other.bin").hardlink_to(pair.with_suffix(".bin"))
    script = f"""
import os, sys
from ir_tools.format.read import read
from ir_tools.format.write import write
model = read(sys.argv[1])
model.graph.layer(1).raw["kernel"] = "5"
model.weights.append(b"more")
calls, rename = [0], os.replace
def replace(source, target):
    calls[0] += 1
    if calls[0] == {call}:
        os._exit(9)
    rename(source, target)
os.replace = replace
write(model, sys.argv[1])
"""
    assert subprocess.run([sys.executable, "-c", script, pair], check=False).returncode == 9
    model = read(pair)
    assert render(model) == SMALL
    assert model.weights.view(0, 7).tobytes() == b"weights"


def test_a_full_disk_changes_nothing(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, (model, _) = content(pair.parent), edited(pair)

    def save(self: Weights, file: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Weights, "save", save)
    with pytest.raises(WriteError):
        write(model, pair.with_name("n.xml"))
    assert content(pair.parent) == before


@pytest.mark.parametrize("source", ["memory", "own, with two names", "another file", "another file, which is gone"])
def test_weights_that_are_nowhere_else_are_on_the_disk_before_they_get_a_name(
    pair: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """A copy of a file that stays can be made again after a power cut."""
    model, _ = edited(pair)
    path = pair if source.startswith("own") else pair.with_name("n.xml")
    if source == "memory":
        model = read(pair.read_bytes(), pair.with_suffix(".bin").read_bytes())
        model.weights.append(b"more")
    elif source.startswith("own"):
        pair.with_name("other.bin").hardlink_to(pair.with_suffix(".bin"))
    elif source.endswith("gone"):
        pair.with_suffix(".bin").unlink()
    synced, fsync = [], os.fsync

    def sync(file: int) -> None:
        synced.append(os.fstat(file).st_size)
        fsync(file)

    monkeypatch.setattr(os, "fsync", sync)
    write(model, path)
    written = [model.weights.size, path.stat().st_size]
    assert synced == (written[1:] if source == "another file" else written)


def test_weights_that_grow_are_appended_to(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, (model, offset) = pair.with_suffix(".bin").stat().st_ino, edited(pair)
    write(model, pair)
    assert pair.with_suffix(".bin").stat().st_ino == before
    assert read(pair).weights.view(offset, 12).view(np.float32).tolist() == [0, 1, 2]
    write(model, pair)
    assert read(pair).weights.size == offset + 12, "once, though the model does not know that it was written"
    with pytest.raises(WriteError, match=r"exists already"):
        write(edited(pair)[0], pair, overwrite=False)


@pytest.mark.parametrize(("limit", "grows"), [(69, True), (68, False)], ids=["as-much-as-fits", "one-byte-more"])
def test_weights_grow_by_no_more_than_is_appended_at_once(
    pair: Path, monkeypatch: pytest.MonkeyPatch, limit: int, grows: bool
) -> None:
    monkeypatch.setattr("ir_tools.format.write.MAX_APPENDED", limit)
    own, model = pair.with_suffix(".bin"), edited(pair)[0]
    before = own.stat().st_ino
    assert model.weights.pending == (64 - 7) + 3 * 4
    write(model, pair)
    assert (own.stat().st_ino == before) == grows


@pytest.mark.parametrize("kind", ["two names", "a link", "much"])
def test_weights_of_others_do_not_grow(pair: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    own, other = pair.with_suffix(".bin"), pair.with_name("other.bin")
    if kind == "two names":
        other.hardlink_to(own)
    elif kind == "a link":
        own.rename(other)
        own.symlink_to(other)
    else:
        monkeypatch.setattr("ir_tools.format.write.MAX_APPENDED", 60)
    before = own.stat().st_ino
    model, offset = edited(pair)
    write(model, pair)
    assert own.stat().st_ino != before
    assert read(pair).weights.size == offset + 12
    if other.exists():
        assert other.read_bytes() == b"weights"


def test_places_where_nothing_can_be_written(pair: Path, tmp_path: Path) -> None:
    model = small()
    with pytest.raises(WriteError, match="there is no such folder"):
        write(model, tmp_path / "nowhere" / "m.xml")
    with pytest.raises(WriteError, match=r"ends in \.xml"):
        write(model, tmp_path / "m.bin")
    (tmp_path / "d.xml").mkdir()
    with pytest.raises(WriteError, match=r"d\.xml is a folder"):
        write(model, tmp_path / "d.xml")


def test_a_link_stays_a_link(pair: Path) -> None:
    link = pair.with_name("link.xml")
    link.symlink_to(pair)
    model, _ = edited(pair)
    write(model, link)
    assert link.is_symlink()
    assert read(pair).graph.layer(1).raw["kernel"] == "5"


def test_a_link_in_a_folder_behind_a_link_gets_its_weights_beside_it(pair: Path) -> None:
    deep, short = pair.parent / "deep" / "er", pair.parent / "short"
    deep.mkdir(parents=True)
    short.symlink_to(deep)
    (short / "n.xml").symlink_to(pair)
    write(edited(pair)[0], short / "n.xml")
    assert (short / "n.bin").resolve() == pair.with_suffix(".bin").resolve()


def test_weights_that_are_a_link_to_nothing_are_not_replaced(pair: Path) -> None:
    beside = pair.with_name("other.bin")
    beside.symlink_to("nothing")
    with pytest.raises(WriteError, match=r"other\.bin exists without other\.xml"):
        write(edited(pair)[0], pair.with_name("other.xml"))
    assert beside.is_symlink()


def test_a_link_to_a_file_of_another_kind_is_replaced(pair: Path) -> None:
    link, other = pair.with_name("link.xml"), pair.with_name("other.txt")
    other.write_text("a text")
    link.symlink_to(other)
    write(edited(pair)[0], link)
    assert not link.is_symlink()
    assert other.read_text() == "a text"
    assert not pair.with_name("other.bin").exists()
    assert read(link).graph.layer(1).raw["kernel"] == "5"


def test_a_link_to_a_model_with_other_weights_is_replaced(pair: Path) -> None:
    link = pair.with_name("link.xml")
    link.symlink_to(pair)
    link.with_suffix(".bin").write_bytes(b"of another")
    before = content(pair.parent)
    model, _ = edited(pair)
    write(model, link)
    assert not link.is_symlink()
    assert read(link).graph.layer(1).raw["kernel"] == "5"
    assert {name: content(pair.parent)[name] for name in ("m.xml", "m.bin")} == {
        name: before[name] for name in ("m.xml", "m.bin")
    }


def test_a_link_to_a_model_without_weights_gets_none_beside_it(pair: Path) -> None:
    pair.with_suffix(".bin").unlink()
    link = pair.with_name("link.xml")
    link.symlink_to(pair)
    model = read(link)
    set_kernel(model)
    write(model, link)
    assert sorted(os.listdir(pair.parent)) == ["link.xml", "m.xml"]
    assert read(pair).graph.layer(1).raw["kernel"] == "5"


@pytest.mark.parametrize("taken", [False, True], ids=["there", "taken away meanwhile"])
def test_a_failed_write_takes_back_the_link_that_it_made(
    pair: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    (pair.parent / "links").mkdir()
    link, beside = pair.parent / "links" / "n.xml", pair.parent / "links" / "n.bin"
    link.symlink_to(pair)
    model, made = edited(pair)[0], list[Path]()

    def full(*_: object) -> None:
        made.append(beside.resolve())
        if taken:
            beside.unlink()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ir_tools.files._append", full)
    with pytest.raises(OSError, match="No space left on device"):
        write(model, link)
    assert made == [pair.with_suffix(".bin").resolve()]
    assert [path.name for path in beside.parent.iterdir()] == ["n.xml"]


def test_rights_are_kept(pair: Path) -> None:
    pair.chmod(0o640)
    write(edited(pair)[0], pair)
    assert pair.stat().st_mode & 0o777 == 0o640


def test_a_model_without_weights_is_written_without(tmp_path: Path) -> None:
    write(small(), tmp_path / "m.xml")
    assert content(tmp_path) == {"m.xml": SMALL}


def test_a_model_from_scratch_runs(tmp_path: Path) -> None:
    graph, weights = Graph(), Weights.from_bytes(b"")
    offset, size = weights.append(np.array([1, 2, 3], np.float32))
    raw = {"element_type": "f32", "shape": "3", "offset": str(offset), "size": str(size)}
    ports = [Port(0, "FP32", (3,))]
    x = {"element_type": "f32", "shape": "3"}
    graph.add(Layer(0, _tag("x", "Parameter"), LayerContent(x, outputs=[Port(0, "FP32", (3,), ("x",))])))
    graph.add(Layer(1, _tag("c", "Const"), LayerContent(raw, outputs=ports)))
    add = LayerContent(
        {"auto_broadcast": "numpy"}, [Port(0, "FP32", (3,)), Port(1, "FP32", (3,))], [Port(2, "FP32", (3,))]
    )
    graph.add(Layer(2, _tag("sum", "Add"), add), {0: Source(0, 0), 1: Source(1, 0)})
    graph.add(Layer(3, _tag("y", "Result"), LayerContent(inputs=ports)), {0: Source(2, 2)})
    write(Model(graph, name="made", version=11, weights=weights, origin=None, path=None), tmp_path / "made.xml")
    compiled = ov.Core().compile_model(tmp_path / "made.xml", "CPU", {"INFERENCE_NUM_THREADS": 1})
    assert compiled({"x": np.ones(3, np.float32)})[0].tolist() == [2, 3, 4]


def _tag(name: str, kind: str) -> dict[str, str]:
    return {"name": name, "type": kind, "version": "opset1"}


def test_a_model_without_the_weights_that_it_needs_is_not_written(samples: Path, tmp_path: Path) -> None:
    model = read((samples / "looped.xml").read_bytes())
    with pytest.raises(WriteError, match=r"the \.bin is missing, but constants need \d+ bytes of it"):
        write(model, tmp_path / "m.xml")
    assert content(tmp_path) == {}


def test_weights_without_their_model_are_refused_before_anything_runs(tmp_path: Path) -> None:
    """Commands check the output first: a `.bin` alone belongs to something else."""
    (tmp_path / "m.bin").write_bytes(b"weights")
    with pytest.raises(WriteError, match=r"m\.bin exists without m\.xml"):
        check_output(tmp_path / "m.xml")
    assert content(tmp_path) == {"m.bin": b"weights"}


@pytest.mark.parametrize("grown", [False, True])
@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("end", [4, -1], ids=["first bytes", "all but the last"])
def test_a_model_whose_weights_are_cut_off_is_not_written(
    samples: Path, tmp_path: Path, grown: bool, in_memory: bool, end: int
) -> None:
    """What is appended would be taken for what is lacking."""
    pair = tmp_path / "m.xml"
    pair.write_bytes((samples / "looped.xml").read_bytes())
    pair.with_suffix(".bin").write_bytes((samples / "looped.bin").read_bytes()[:end])
    model = read(pair.read_bytes(), pair.with_suffix(".bin").read_bytes()) if in_memory else read(pair)
    if grown:
        model.weights.append(bytes(1000))
    before = content(pair.parent)
    for target in (pair, pair.with_name("other.xml")):
        with pytest.raises(WriteError, match="is truncated or belongs to another model; nothing was written"):
            write(model, target)
    assert content(pair.parent) == before
    for layer in [located.layer for located in model.walk() if located.layer.type == "Const"]:
        layer.raw["offset"], layer.raw["size"] = "0", "4"
    write(model, pair)


def test_constants_cannot_join_weights_that_are_missing(samples: Path) -> None:
    model = read((samples / "looped.xml").read_bytes())
    with pytest.raises(ReadError, match="missing"):
        model.weights.append(b"1234")


def test_weights_that_another_program_replaces_meanwhile_are_not_mixed(
    pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read(pair)
    set_kernel(model)
    sync = os.fsync

    def replaced_meanwhile(descriptor: int) -> None:
        sync(descriptor)
        pair.with_name("new.bin").write_bytes(b"WEIGHTS")
        pair.with_name("new.bin").replace(pair.with_suffix(".bin"))

    monkeypatch.setattr(os, "fsync", replaced_meanwhile)
    with pytest.raises(WriteError, match=r"m\.bin was changed by another program"):
        write(model, pair)
    assert content(pair.parent) == {"m.xml": SMALL, "m.bin": b"WEIGHTS"}


def test_a_model_is_read_from_one_write(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two files of a pair no other process of ours may rename."""
    locks: list[str] = []

    def load(path: Path) -> bytes:
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            locks.append("held")
        finally:
            os.close(descriptor)
        return path.read_bytes()

    monkeypatch.setattr("ir_tools.format.read.load", load)
    assert read(pair).weights.size == 7
    assert locks == ["held"]


def test_weights_without_a_model_are_not_replaced(pair: Path) -> None:
    pair.with_name("data.bin").write_bytes(b"precious")
    with pytest.raises(WriteError, match=r"data\.bin exists without data\.xml"):
        write(read(pair), pair.with_name("data.xml"))
    assert content(pair.parent) == {"m.xml": SMALL, "m.bin": b"weights", "data.bin": b"precious"}


def test_existing_pairs_are_kept_on_demand(pair: Path) -> None:
    write(read(pair), pair.with_name("n.xml"), overwrite=False)
    with pytest.raises(WriteError, match=r"n\.(xml|bin) exists already"):
        write(read(pair), pair.with_name("n.xml"), overwrite=False)


@pytest.mark.parametrize("name", ["", "a b", 'a="1" b', "1a", "a>"])
def test_what_is_no_name_is_not_written_as_one(name: str) -> None:
    model = small()
    model.graph.layer(1).raw[name] = "1"
    with pytest.raises(WriteError, match="is not a name for an attribute"):
        render(model)
