"""Layers that say the same are read once: reading each of them finds the same, and what tells them apart is kept."""

from pathlib import Path

import pytest

from ir_tools.format import nets
from ir_tools.format.content import attributes_of
from ir_tools.format.texts import texts_of
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


@pytest.mark.parametrize("path", corpus_cases())
def test_layers_of_one_form_differ_in_names_and_offsets_alone(path: Path) -> None:
    texts = texts_of(Document(path.read_bytes()))
    first: dict[bytes, object] = {}
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
        ("><data offset='0' size='4'/>", "><data offset='4' size='4'/>", False),
        ('><data size="4"/><rt_info offset="1"/>', '><data size="4"/><rt_info offset="2"/>', False),
        ('><output><port id="0" names="\'"/></output>', '><output><port id="0" names="b"/></output>', False),
    ],
    ids=["names", "port", "offset", "size", "single-quotes", "other-offset", "quote-in-name"],
)
def test_form(first: str, second: str, alike: bool) -> None:
    rows = [LAYER.format(0, "x", "Const", first), LAYER.format(1, "y", "Const", second)]
    texts = texts_of(Document(f"<net><layers>{rows[0]} {rows[1]} {rows[0]}</layers></net>".encode()))
    one, other, _ = texts.values()
    assert (one.form == other.form.replace(b" </layers></net>", b"")) == alike


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
