import copy
from contextlib import suppress
from pathlib import Path

import networkx as nx
import openvino as ov
import pytest
from lxml import etree

from ir_tools.errors import ReadError
from ir_tools.format.changes import PARTS
from ir_tools.format.read import MAX_NESTING, read
from ir_tools.format.write import render
from ir_tools.validation import validate
from tests.conftest import corpus_cases, is_readable
from tests.format.support import SMALL, small

RULES = Path(__file__).parents[1] / "rules"


def test_what_a_model_holds() -> None:
    model = small()
    assert (model.name, model.version, model.path) == ("small", 11, None)
    x, pool, y = model.graph.layers()
    assert x.outputs[0].names == ("x", "a,b")
    assert x.outputs[0].dims == (1, 8, -1)
    assert (pool.name, pool.type, pool.version, pool.tag["origin"]) == ("pool", "AvgPool", "opset14", "kept")
    assert pool.raw["rounding_type"] == "ceil_torch"
    assert pool.rt_info == [{"name": "fused_names", "version": "0", "value": "pool"}]
    assert [port.id for port in (*pool.inputs, *pool.outputs)] == [0, 1]
    assert y.tag["output_names"] == "pooled"
    assert list(model.graph.edges(keys=True)) == [(0, 1, (0, 0)), (1, 2, (1, 0))]
    assert [model.line_of(model.graph, layer) for layer in (0, 1, 2)] == [5, 15, 36]


def test_content_waits_until_it_is_asked_for() -> None:
    pool = small().graph.layer(1)
    assert pool.type == "AvgPool"
    assert not pool.loaded
    assert pool.inputs
    assert pool.loaded


def test_a_look_at_what_layers_of_one_text_have_in_common_loads_none_of_them(corpus_model: Path) -> None:
    model = read(corpus_model)
    layers = [located.layer for located in model.walk()]
    found = [layer.common for layer in layers]
    unread = {id(layer) for layer in layers if not layer.loaded}
    assert len(unread) > len(layers) // 2 or model.version < 10
    for layer, common in zip(layers, found, strict=True):
        assert (common.raw.keys(), common.key()[1:]) == (layer.raw.keys(), layer.content.key()[1:])
        differing = {name for name, text in layer.raw.items() if common.raw[name] != text}
        assert differing <= {"offset"}


@pytest.mark.parametrize("offsets", [("0", "", "4"), ("", "0", "4"), ("0", "64", "")])
def test_constants_that_differ_in_their_offset_alone_keep_it(offsets: tuple[str, ...]) -> None:
    layers = (
        f'<layer id="{number}" name="c{number}" type="Const" version="opset1"><data element_type="f32" shape="1"'
        f' offset="{offset}" size="4"/><output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>'
        for number, offset in enumerate(offsets)
    )
    model = read(f'<net name="n" version="11"><layers>{"".join(layers)}</layers><edges/></net>'.encode())
    assert tuple(layer.raw["offset"] for layer in model.graph.layers()) == offsets


@pytest.mark.parametrize("path", corpus_cases(fits=is_readable))
def test_layers_of_the_corpus_are_those_of_the_runtime(path: Path) -> None:
    model, seen = read(path), ov.Core().read_model(path)
    ours = {layer.name: layer for layer in model.graph.layers()}
    if model.version == 11:
        assert ours.keys() == {op.get_friendly_name() for op in seen.get_ops()}
        names = [name for layer in ours.values() for port in layer.outputs for name in port.names]
        if len(set(names)) == len(names):  # the runtime renames the second of two
            for op in seen.get_ops():
                for port, output in zip(ours[op.get_friendly_name()].outputs, op.outputs(), strict=False):
                    assert set(port.names) == output.get_names()
    assert nx.is_directed_acyclic_graph(model.graph)


def with_body(inner: str) -> bytes:
    return (
        '<net name="n" version="11">\n<layers>\n<layer id="0" name="loop" type="Loop" version="opset5">\n<body>\n'
        f"{inner}\n</body></layer></layers></net>"
    ).encode()


def edge(source: str, start: str, reader: str, end: str) -> bytes:
    return (
        f'<edge from-layer="{source}" from-port="{start}" to-layer="{reader}" to-port="{end}" />\n\t</edges>'.encode()
    )


BROKEN = {
    "wrong root": (b"<model/>", 1, "the root element is <model>"),
    "no version": (b"\n<net/>", 2, "has no version"),
    "version is not a number": (b'<net version="x"/>', 1, "'x' is not a number"),
    "unknown version": (b'<net version="12"/>', 1, "IR version 12 is not known"),
    "version 1": (b'<net version="1"/>', 1, "IR version 1 is not known"),
    "version 8": (b'<?xml version="1.0"?>\n<net version="8"/>', 2, "IR version 8 is not known"),
    "layer without id": (SMALL.replace(b'id="1" name="pool"', b'name="pool"'), 15, "has no id"),
    "layer id no number": (SMALL.replace(b'id="1" name="pool"', b'id="a" name="pool"'), 15, "has id 'a'"),
    "layer id negative": (SMALL.replace(b'id="1" name="pool"', b'id="-1" name="pool"'), 15, "has id '-1'"),
    "layer id beyond all numbers": (
        SMALL.replace(b'id="1" name', b'id="' + b"9" * 5000 + b'" name'),
        15,
        "has id '999",
    ),
    "layer id twice": (SMALL.replace(b'id="2" name', b'id="0" name'), 36, "layer 'x' on line 5 already has the id"),
    "port without id": (SMALL.replace(b'port id="1"', b"port"), 28, "has no id"),
    "port id no number": (SMALL.replace(b'port id="1"', b'port id="1.0"'), 28, "has id '1.0'"),
    "port id twice": (
        SMALL.replace(b"</port>\n\t\t\t</output>", b'</port><port id="0"/></output>', 1),
        12,
        "two output ports have the id 0",
    ),
    "edge from nowhere": (
        SMALL.replace(b"</edges>", edge("9", "0", "1", "1")),
        49,
        "from layer 9, which does not exist",
    ),
    "edge to nowhere": (SMALL.replace(b"</edges>", edge("0", "0", "9", "1")), 49, "to layer 9, which does not exist"),
    "edge from no port": (SMALL.replace(b'from-port="1"', b'from-port="0"'), 48, "from port 0 of layer 1"),
    "edge to no port": (SMALL.replace(b"</edges>", edge("0", "0", "1", "1")), 49, "to port 1 of layer 1"),
    "edge without end": (SMALL.replace(b' to-layer="2"', b""), 48, "<edge> has no to-layer"),
    "port fed twice": (
        SMALL.replace(b"</edges>", edge("0", "0", "2", "0")),
        49,
        "another edge, from layer 1 port 1, already leads",
    ),
    "in a body": (
        with_body('<layers><layer id="5" name="a"/>\n<layer id="5" name="b"/></layers>'),
        6,
        "layer 'a' on line 5 already has the id",
    ),
    "edge in a body": (
        with_body('<layers/><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>'),
        5,
        "layer 0",
    ),
    "bodies beside bodies": (
        b'<net version="11"><layers><layer id="0">'
        + b"".join(b"<b%d><layers/></b%d>" % (i, i) for i in range(70))
        + b"</layer></layers></net>",
        1,
        f"more than {MAX_NESTING} bodies",
    ),
    "bodies in bodies": (
        b'<net version="11">' + b'<layers><layer id="0"><body>' * 70 + b"</body></layer></layers>" * 70 + b"</net>",
        1,
        f"more than {MAX_NESTING} bodies",
    ),
}


@pytest.mark.parametrize(("data", "line", "words"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_ir_is_told_with_its_line(data: bytes, line: int, words: str, tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_bytes(data)
    with pytest.raises(ReadError) as error:
        read(tmp_path / "m.xml")
    [diagnostic] = error.value.diagnostics
    assert words in diagnostic.message
    assert (diagnostic.file, diagnostic.line) == (str(tmp_path / "m.xml"), line)
    assert "\n" not in str(error.value)


def test_a_dimension_that_is_no_number_is_told_when_it_is_read() -> None:
    model = read(SMALL.replace(b"<dim>8</dim>", b"<dim>eight</dim>", 1))
    with pytest.raises(
        ReadError, match=r"<model>:10: layer 0 'x': error IR113: a dimension is 'eight'; expected an integer"
    ):
        model.graph.layer(0).outputs  # noqa: B018  # loading is what fails


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such file"):
        read(tmp_path / "none.xml")
    with pytest.raises(ReadError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(ReadError, match="cannot be read"):
        read("a\0b.xml")
    (tmp_path / "e.xml").write_bytes(b"")
    with pytest.raises(ReadError, match=r"e\.xml:1: error IR009: the file is empty"):
        read(tmp_path / "e.xml")


def test_legacy_files_of_the_corpus_keep_their_bytes(corpus: Path) -> None:
    legacy = [path for path in corpus.rglob("*.xml") if any(f".v{n}." in path.name for n in range(2, 8))]
    assert legacy
    for path in legacy:
        model = read(path)
        assert model.is_legacy
        assert model.inputs
        assert model.outputs
        for _, layer, _ in model.walk():
            assert layer.content.outputs
        assert render(model) == path.read_bytes()


TOLERATED = {
    "unknown layers": SMALL.replace(b'type="AvgPool"', b'type="Klingon" version="opset99"', 1).replace(
        b' version="opset14"', b""
    ),
    "no name": SMALL.replace(b'name="pool" ', b""),
    "no names at all": SMALL.replace(b'name="small" ', b""),
    "edges first": b'<net version="11"><edges><edge to-port="0" to-layer="1" from-port="0" from-layer="0"/></edges>'
    b'<layers><layer id="0"><output><port id="0"/></output></layer>'
    b'<layer id="1"><input><port id="0"/></input></layer></layers></net>',
    "second layers with a body": b'<net version="11"><layers/><layers><layer id="0">'
    b"<body><layers/></body></layer></layers></net>",
    "body twice": b'<net version="11"><layers><layer id="0"><body><layers/></body>'
    b"<body><layers/></body></layer></layers></net>",
    "unknown elements": SMALL.replace(b"<edges>", b"<strange><layer/><edge/></strange><edges><what/>"),
    "no edges": b'<net version="10"><layers><layer id="0"/></layers></net>',
    "nothing": b'<net version="11"/>',
    "blanks and signs in ids": SMALL.replace(b'layer id="1"', b'layer id=" +1"').replace(
        b'port id="1"', b'port id="01"'
    ),
    "the same edge twice": SMALL.replace(b"</edges>", edge("1", "1", "2", "0")),
    "bytes mark": b"\xef\xbb\xbf" + SMALL,
    "namespace": SMALL.replace(b"<net ", b'<net xmlns="urn:x" xmlns:y="urn:y" '),
}


@pytest.mark.parametrize("data", TOLERATED.values(), ids=TOLERATED)
def test_what_can_be_read_is_read(data: bytes) -> None:
    for _, layer, _ in read(data).walk():
        assert layer.content is not None


def test_weights_stand_beside_or_are_named(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_bytes(SMALL)
    assert read(tmp_path / "m.xml").weights.missing
    (tmp_path / "m.bin").write_bytes(b"beside")
    (tmp_path / "other.bin").write_bytes(b"named")
    assert read(tmp_path / "m.xml").weights.view(0, 6).tobytes() == b"beside"
    assert read(tmp_path / "m.xml", tmp_path / "other.bin").weights.view(0, 5).tobytes() == b"named"
    assert read(SMALL, b"given").weights.view(0, 5).tobytes() == b"given"
    with pytest.raises(ReadError, match="cannot be opened"):
        read(tmp_path / "m.xml", tmp_path)


def test_every_truncation_is_read_or_refused() -> None:
    for end in range(0, len(SMALL), 7):
        with suppress(ReadError):
            read(SMALL[:end])


@pytest.mark.parametrize("path", sorted(RULES.glob("*/good.xml")), ids=lambda path: path.parent.name)
def test_of_two_parts_of_a_layer_the_first_is_read(path: Path) -> None:
    """As by the runtime; the second one here is empty or lacks its last entry."""
    root = etree.fromstring(path.read_bytes())
    wanted = [(where, layer.content.key()) for where, layer, _ in read(path, bytes(1 << 16)).walk()]
    for layer, part in [(each, part) for each in root.iter("layer") for part in each if part.tag in PARTS]:
        again = copy.deepcopy(part)
        del again[-1:]
        again.attrib.clear()
        layer.append(again)
    found = read(etree.tostring(root), bytes(1 << 16))
    assert [(where, layer.content.key()) for where, layer, _ in found.walk()] == wanted


def test_bodies_are_those_of_layers() -> None:
    """A side that has the number of a layer, and graphs inside, does not give them to the layer."""
    body = b"<body><layers /><edges /></body>"
    model = read(SMALL.replace(b"<input>", b'<input id="1">' + body, 1))
    assert not model.graph.layer(1).bodies


def test_rows_of_a_body_that_a_layer_does_not_have_are_ignored(tmp_path: Path) -> None:
    rows = b'<then_port_map><input external_port_id="0" internal_layer_id="9" /></then_port_map>'
    text = (RULES / "unexpected_body" / "bad.xml").read_bytes().replace(b"<then_port_map />", rows)
    (tmp_path / "model.xml").write_bytes(text)
    assert [found.code for found in validate(tmp_path / "model.xml")] == ["IR142"]


@pytest.mark.parametrize("name", ["data", "pooling_data", "fc"])
def test_attributes_of_a_layer_of_an_early_file(name: str) -> None:
    """They stand in `<data>`, or in an element that is named after the operation."""
    layer = f'<layer id="0" name="a" type="Power" precision="FP32"><{name} scale="2" /><output /></layer>'
    model = read(f'<net name="n" version="2" batch="1"><layers>{layer}</layers><edges /></net>'.encode())
    assert model.graph.layer(0).raw == {"scale": "2"}
