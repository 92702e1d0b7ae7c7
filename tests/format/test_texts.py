"""Layers that say the same are read once: reading each of them finds the same, and what tells them apart is kept."""

import re
import shutil
from pathlib import Path

import pytest

from ir_tools.format import content, nets
from ir_tools.format.content import attributes_of
from ir_tools.format.read import read
from ir_tools.format.texts import SharedText, texts_of
from ir_tools.source import Document
from ir_tools.validation import validate
from tests.conftest import corpus_cases

RULES = Path(__file__).parent.parent / "rules"
FILES = sorted(RULES.glob("*/*.xml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_layer_tells_no_more_than_its_form(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = validate(path)
    monkeypatch.setattr(nets, "texts_of", lambda document: {})
    assert validate(path) == found


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_single_quotes_say_the_same(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(re.sub(rb'="([^"\'<>]*)"', rb"='\1'", path.read_bytes()))
    weights = path.with_suffix(".bin")
    if weights.is_file():
        shutil.copy(weights, tmp_path)
    found = [(one.code, one.line, one.message) for one in validate(copy)]
    assert found == [(one.code, one.line, one.message) for one in validate(path)]


@pytest.mark.parametrize("path", corpus_cases())
def test_layers_of_one_form_differ_in_names_and_offsets_alone(path: Path) -> None:
    texts = texts_of(Document(path.read_bytes()))
    first: dict[SharedText, object] = {}
    for element, text in texts.items():
        if element.find("body") is None and element.find("then_body") is None:
            said = [_said(child.tag, attributes_of(child), child.text) for child in element.iter()]
            assert first.setdefault(text.form, said) == said
            offsets = [int(data.get("offset", "")) for data in element.iterchildren("data") if text.offset is not None]
            assert offsets == ([] if text.offset is None else [text.offset])


def _said(tag: str, attributes: dict[str, str], text: str | None) -> tuple[str, dict[str, str], str]:
    """An element without the words that may differ."""
    gone = {"layer": {"id", "name"}, "port": {"names"}, "data": {"offset"}}.get(tag, set())
    return tag, {name: word for name, word in attributes.items() if name not in gone}, (text or "").strip()


LAYER = '<layer id="{}" name="{}" type="{}" version="opset1"{}</layer>'


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ('><output><port id="0" names="a"/></output>', '><output><port id="0" names="b,c"/></output>', True),
        ('><output><port id="0" names="a"/></output>', '><output><port id="1" names="a"/></output>', False),
        ('><data offset="0" size="4"/>', '><data offset="4" size="4"/>', True),
        ('><data offset="0" size="4"/>', '><data offset="4" size="8"/>', False),
        ('><data xoffset="0" offset="4"/>', '><data xoffset="1" offset="4"/>', False),
        ("><data offset='0' size='4'/>", "><data offset='4' size='4'/>", False),
        ('><data size="4"/><rt_info offset="1"/>', '><data size="4"/><rt_info offset="2"/>', False),
        ('><output><port id="0" names="\'"/></output>', '><output><port id="0" names="b"/></output>', False),
    ],
    ids=["names", "port", "offset", "size", "other-attribute", "single-quotes", "other-offset", "quote-in-name"],
)
def test_form(first: str, second: str, alike: bool) -> None:
    rows = [LAYER.format(0, "x", "Const", first), LAYER.format(1, "y", "Const", second)]
    texts = texts_of(Document(f"<net><layers>{rows[0]} {rows[1]} {rows[0]}</layers></net>".encode()))
    one, other, _ = texts.values()
    assert (one.form.text == other.form.text.replace(b" </layers></net>", b"")) == alike


@pytest.mark.parametrize("path", corpus_cases())
def test_contents_are_those_of_layers_that_are_read_one_by_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_the_same_contents(path.read_bytes(), monkeypatch)


PORTS = '><data a="1"/><input><port id="0"/></input><output><port id="1" {}/><port id="2" {}/></output>'


@pytest.mark.parametrize(
    ("names", "other"),
    [
        (('names="a"', ""), ("", 'names="a"')),
        (('names="a"', 'names="b"'), ('names="c,d"', 'names="e"')),
        (('names=""', 'names="b"'), ('names="a"', 'names=""')),
        (('names="a\\,b"', ""), ('names="c"', "")),
        (('names="a&lt;b"', ""), ('names="a&amp;b"', "")),
        (('names="a\nb"', ""), ('names="a b"', "")),
        (('names="a,,b"', ""), ('names=","', "")),
        (('precision="I8" names="a"', ""), ('precision="I8" names="b"', "")),
    ],
    ids=["places", "several", "empty", "commas", "entities", "line-ends", "nothing", "precision"],
)
def test_each_layer_has_its_own_names(
    names: tuple[str, str], other: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [names, other, names, other]
    rows = [LAYER.format(at, f"l{at}", "Split", PORTS.format(*pair)) for at, pair in enumerate(pairs)]
    rows.append(LAYER.format(9, "c", "Const", '><data element_type="u8" shape="1" offset="007" size="1"/>'))
    rows.append(LAYER.format(10, "d", "Const", '><data element_type="u8" shape="1" offset="8" size="1"/>'))
    assert_the_same_contents(f'<net version="11"><layers>{"".join(rows)}</layers></net>'.encode(), monkeypatch)


def assert_the_same_contents(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [located.layer.content for located in read(data).walk()]
    monkeypatch.setattr(nets, "texts_of", lambda document: {})
    assert found == [located.layer.content for located in read(data).walk()]


@pytest.mark.parametrize(
    "text",
    [
        '<net><layers><layer id="0" name="a" type="Const"><!-- <layer id="1"> --></layer></layers></net>',
        '<net xmlns:a="b"><layers><layer id="0" name="a" type="Const"/></layers></net>',
        '<net><layers><layer name="a" id="0" type="Const"/></layers></net>',
        '<net><layers><layer\nid="0" name="a" type="Const"/></layers></net>',
        '<net><layers><layer id="0" name="" type="Const"/></layers></net>',
        '<net><layers><layer id="x" name="a" type="Const"/></layers></net>',
    ],
    ids=["comment", "prefix", "name-first", "line-break", "no-name", "no-id"],
)
def test_layers_written_otherwise_have_none(text: str) -> None:
    assert not texts_of(Document(text.encode()))


def test_a_tag_with_many_attributes_has_those_of_one_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "".join(f' a{at}="{at} &amp; é&#10;\t"' for at in range(300))
    element = Document(f'<net xmlns:p="u" p:b="1"{words} c=""/>'.encode()).root
    many = attributes_of(element)
    monkeypatch.setattr(content, "FEW", 1000)
    assert list(many.items()) == list(attributes_of(element).items())
    assert len(many) == 302


SIDE = '<output><port id="{}"><dim>4</dim></port></output>'
OF_PRECISION = '<layer id="{0}" name="{0}" precision="{1}" type="Input">{2}</layer>'


def test_ports_of_one_text_have_the_precision_of_their_own_layer() -> None:
    layers = "".join(OF_PRECISION.format(*one, SIDE.format(0)) for one in enumerate(("FP32", "FP16", "FP32")))
    graph = read(f'<net name="n" version="6"><layers>{layers}</layers><edges/></net>'.encode()).graph
    assert [layer.common.outputs[0].precision for layer in graph.layers()] == ["FP32", "FP16", "FP32"]


@pytest.mark.parametrize(
    "inside",
    [
        f"<rt_info>{SIDE.format(7)}</rt_info>{SIDE.format(0)}",
        f"<body><layers>{LAYER.format(0, 'inner', 'Result', ' ><input/>')}</layers></body>{SIDE.format(0)}",
        f"{SIDE.format(0)}{SIDE.format(8)}",
    ],
)
def test_elements_like_sides_inside_a_layer_do_not_pass_for_its_own(inside: str) -> None:
    first = LAYER.format(0, "first", "Parameter", f">{SIDE.format(7)}")
    text = f"{first}{LAYER.format(1, 'second', 'TensorIterator', f'>{inside}')}"
    document = Document(f'<net name="n" version="11"><layers>{text}</layers></net>'.encode())
    elements, texts = document.root.findall("layers/layer"), texts_of(document)
    sources = [content.ElementSource(document, one, number, texts[one]) for number, one in enumerate(elements)]
    ports = [[port.id for port in (source.common() or source.content()).outputs] for source in sources]
    assert ports == [[7], [0]]


def test_ports_that_layers_share_are_changed_alone() -> None:
    layers = "".join(
        LAYER.format(number, number, kind, f">{SIDE.format(0)}") for number, kind in enumerate(("A", "B", "A"))
    )
    graph = read(f'<net name="n" version="11"><layers>{layers}</layers><edges/></net>'.encode()).graph
    before = [layer.common.outputs[0] for layer in graph.layers()]
    assert before[0] is before[1]
    graph.layer(0).outputs[0].dims = (9,)
    assert [layer.common.outputs[0].dims for layer in graph.layers()] == [(9,), (4,), (4,)]
