"""A change of one text of a file, made in the graph of the model, is that change of the bytes and no other."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields

import pytest

from ir_tools.errors import IrToolsError
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import LayerContent, Model
from tests.format.support import SMALL, told
from tests.made.models import model_of
from tests.rules.test_rules import FOLDER

LOOP, SLICES = ((FOLDER / name / "good.xml").read_bytes() for name in ("missing_execution_condition", "bad_slice"))
BRANCHES = next(text for seed in range(99) if b"<then_body>" in (text := bytes(render(model_of(seed)))))
ROWS = "".join(f'<attribute name="a{number}" version="0" value="v"/>\n' for number in range(3))
INFOS = SMALL.replace(b"<rt_info>", b"<rt_info>" + ROWS.encode())
SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda text: text,
    "single quotes": lambda text: text.replace(b'"', b"'"),
    "blanks": lambda text: re.sub(rb'([\w-]+="[^"]*")', rb"\n  \1 ", text).replace(b" />", b"  />"),
    "one line": lambda text: b"".join(line.strip() for line in text.splitlines()),
}
ATTRIBUTE = re.compile(rb"\s+([\w-]+)=(?:\"([^\"]*)\"|'([^']*)')")
DIM = re.compile(rb"(?<=<dim>)-?\d+(?=</dim>)")
LAST_ROW = re.compile(rb"(?<=>)\s*<(?:attribute|dim|input\s|output\s|edge\s)[^<>]*?(?:/>|>[^<]*</dim>)(?=\s*</)")


def edited(text: bytes) -> Iterator[bytes]:
    """The text with another value of an attribute, without it (but for the only one), another size, no last row."""
    for match in ATTRIBUTE.finditer(text, text.index(b"<layers")):
        group = 2 if match[2] is not None else 3
        yield text[: match.end(group)] + b"7" + text[match.end(group) :]
        if not re.match(rb"\s*/?>", text[match.end() :]) or not text[: match.start()].endswith(b"<data"):
            yield text[: match.start()] + text[match.end() :]
    for match in DIM.finditer(text):
        yield text[: match.start()] + b"77" + text[match.end() :]
    for match in LAST_ROW.finditer(text):
        yield text[: match.start()] + text[match.end() :]


def said(model: Model) -> object:
    return model.name, model.version, told(model)


def follow(model: Model, other: Model) -> None:
    """Change a model into what another one says of the same layers."""
    model.name, model.version = other.name, other.version
    for (_, layer, graph), (_, wanted, source) in zip(model.walk(), other.walk(), strict=True):
        if layer.tag != wanted.tag:
            layer.tag.clear()
            layer.tag.update(wanted.tag)
        for part in fields(LayerContent):
            setattr(layer.content, part.name, getattr(wanted.content.copy(), part.name))
        for port in {*graph.sources(layer.id), *source.sources(wanted.id)}:
            producer = source.source(wanted.id, port)
            if producer is None:
                graph.disconnect(layer.id, port)
            elif graph.source(layer.id, port) != producer:
                graph.connect(producer, layer.id, port)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [*((INFOS, one) for one in SPELLINGS), (LOOP, "single quotes"), (SLICES, "one line"), (BRANCHES, "blanks")],
    ids=[*SPELLINGS, "loop", "slices", "branches"],
)
def test_one_text_is_changed(text: bytes, spelling: str) -> None:
    before, followed = SPELLINGS[spelling](text), 0
    assert render(read(before)) == before
    for after in edited(before):
        try:
            wanted = read(after)
            ids = [layer.id for _, layer, _ in wanted.walk()]
        except IrToolsError:
            continue
        model = read(before)
        if ids != [layer.id for _, layer, _ in model.walk()] or said(model) == said(wanted):
            continue
        follow(model, wanted)
        assert render(model) == after
        followed += 1
    assert followed > 50
