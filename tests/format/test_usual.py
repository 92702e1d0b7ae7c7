"""What one look at the bytes spares: looking at every element finds the same."""

from pathlib import Path

import pytest

from ir_tools.format.texts import texts_of
from ir_tools.format.usual import Usual
from ir_tools.source import Document
from ir_tools.validation import validate

RULES = Path(__file__).parent.parent / "rules"
FILES = sorted(path for path in RULES.glob("*/*.xml"))
LOOKS = ("ports", "layers", "texts", "precisions")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_element_tells_no_more_than_the_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = validate(path)
    for look in LOOKS:
        monkeypatch.setattr(Usual, look, False)
    assert validate(path) == found


def test_files_as_openvino_writes_them_are_usual(corpus: Path) -> None:
    paths = [path for path in corpus.rglob("*.xml") if ".v11." in path.name]
    documents = [Document(path.read_bytes()) for path in paths]
    usual = [Usual(document, texts_of(document)) for document in documents]
    for look in LOOKS:
        assert sum(getattr(one, look) for one in usual) > len(usual) // 2, look


def test_an_element_type_of_something_else_is_not_that_of_a_port() -> None:
    text = (RULES / "unread_layer" / "good.xml").read_text("utf-8")
    head, port, rest = text.partition('<port id="0" precision="FP32"')
    lacking = f'{head}<port id="0"{rest}'.replace("<data ", '<data precision="FP32" ', 1)
    assert port
    assert [one.code for one in validate(lacking.encode(), select=["IR114"])] == ["IR114"]
