"""The model of a check, where it says that it is whole, is the one that `read` gives."""

from pathlib import Path

import pytest

from ir_tools.checks import IrFile
from ir_tools.errors import ReadError
from ir_tools.format.read import open_files, read
from ir_tools.graph import Model

FILES = sorted(Path(__file__).parent.glob("*/*.xml"))


def facts(model: Model) -> list[object]:
    """Every layer with its edges."""
    return [
        (path, layer.id, layer.tag, layer.content.key(), graph.sources(layer.id)) for path, layer, graph in model.walk()
    ]


def opened(path: Path) -> IrFile | None:
    try:
        file = IrFile(*open_files(path))
        file.nets  # noqa: B018  # to name it is to read the file
    except ReadError:
        return None
    return file


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_whole_model_is_that_of_read(path: Path) -> None:
    file = opened(path)
    try:
        expected = facts(read(path))
    except ReadError:
        assert file is None or not file.is_whole
        return
    assert file is not None
    assert not file.is_whole or facts(file.model) == expected
    assert file.is_whole or path.name != "good.xml"


def test_a_model_with_warnings_is_not_read_again() -> None:
    """It once was, which took as long as reading it the first time."""
    path = next(path for path in FILES if path.parent.name == "loop_without_back_edge" and path.name == "bad.xml")
    file = opened(path)
    assert file is not None
    assert file.unread
    assert file.whole_model() is file.model


def test_some_models_are_read_that_are_not_whole() -> None:
    files = {path: file for path in FILES if (file := opened(path)) and not file.is_whole}
    assert any(facts(read(path)) != facts(file.model) for path, file in files.items() if not _refused(path))


def _refused(path: Path) -> bool:
    try:
        read(path)
    except ReadError:
        return True
    return False
