"""Rules about files that cannot be opened."""

from pathlib import Path

import pytest

from ir_tools.diagnostics import MAX_LISTED
from ir_tools.source import encoding
from ir_tools.validation import validate
from tests.format.support import SMALL


def codes(path: Path) -> list[str]:
    return [diagnostic.code for diagnostic in validate(path)]


def test_there_is_no_such_file(tmp_path: Path) -> None:
    [found] = validate(tmp_path / "none.xml")
    assert (found.code, found.file, found.message) == ("IR001", str(tmp_path / "none.xml"), "there is no such file")


def test_a_folder_and_a_name_that_no_file_has(tmp_path: Path) -> None:
    assert codes(tmp_path) == ["IR001"]
    assert codes(Path("a\0b.xml")) == ["IR001"]


def test_the_weights_are_a_folder(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_bytes(SMALL)
    (tmp_path / "m.bin").mkdir()
    assert codes(tmp_path / "m.xml") == ["IR010"]


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with a hole has the size without the bytes."""
    with (tmp_path / "m.xml").open("wb") as file:
        file.truncate(encoding.MAX_SIZE + 1)
    assert codes(tmp_path / "m.xml") == ["IR015"]
    monkeypatch.setattr("ir_tools.source.document.MAX_SIZE", 100)
    assert [found.code for found in validate(SMALL)] == ["IR015"]


def test_of_very_many_findings_the_first_are_listed() -> None:
    dims = b"<dim>1.5</dim>" * (MAX_LISTED + 5)
    found = validate(SMALL.replace(b"<dim>8</dim>", dims, 1))
    assert [one.line for one in found if one.code == "IR113"] == [None, *[10] * MAX_LISTED]
    assert (
        found[0].message
        == f"the file has {MAX_LISTED + 5} findings of bad-dimension; the first {MAX_LISTED} are listed"
    )


@pytest.mark.parametrize(
    ("piece", "rule", "rest"),
    [
        (b"<edge />", "bad-edge", "1005 edges are invalid; the first 100 are listed"),
        (b"<foo/>", "unknown-element", "<edges> has 1005 unknown elements; the first 100 are listed"),
        (b"<rt_info/>x", "stray-text", "<edges> contains 1005 pieces of text; the first 100 are listed"),
    ],
)
def test_of_very_much_in_one_element_the_first_is_listed(piece: bytes, rule: str, rest: str) -> None:
    model = SMALL.replace(b"<unknown a='1'/>", b"").replace(b"</edges>", piece * 1005 + b"</edges>")
    found = validate(model, select=rule)
    assert len(found) == 101
    assert [one.message for one in found if "first 100" in one.message] == [rest]


def test_of_very_many_attributes_of_a_tag_the_first_are_looked_at() -> None:
    def found(others: int) -> int:
        words = b"".join(b' x%d=""' % number for number in range(others)) + b' nams="pooled"'
        return len(validate(SMALL.replace(b' names="pooled"', words), select="misspelled-attribute"))

    assert [found(0), found(90), found(110)] == [1, 1, 0]
