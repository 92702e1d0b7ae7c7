"""Every number of the structure of small models, replaced by others, held against the runtime.

What the runtime does not read (or what kills it) gets an error; what it reads and means the same gets none.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ir_tools.diagnostics import Severity
from ir_tools.errors import RuntimeFailure
from ir_tools.runtime.client import RuntimeClient
from ir_tools.validation import validate

FOLDER = Path(__file__).parent
BASES = {
    "a chain": "unfed_input",
    "two inputs": "repeated_element",
    "a constant": "wrong_constant_size",
    "TensorIterator": "unmapped_port",
    "back edges": "bad_back_edge",
    "Loop": "missing_execution_condition",
}
"""The folder whose `good.xml` it is."""
PLACES = re.compile(
    r"<layer (id)=\"(\d+)\"|<port (id)=\"(\d+)\"|(from-layer|from-port|to-layer|to-port)=\"(\d+)\""
    r"|(external_port_id|internal_layer_id|axis|offset|size|shape)=\"(-?[\d,]+)\""
)
STRANGE = ("", "-1", "1.5", "77", "9223372036854775808", "{} ")
SAME = (" {}", "+{}", "0{}")
"""Other ways to write the same number."""
SHARES = pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.sweep)])


class Edit(NamedTuple):
    """A text with one number replaced."""

    name: str
    text: bytes


def edits(text: str, values: tuple[str, ...], share: int) -> Iterator[Edit]:
    """Every number replaced by each of the values, or by every `share`-th, beginning with another at each place."""
    for number, place in enumerate(PLACES.finditer(text)):
        group = place.lastindex or 0
        line = text.count("\n", 0, place.start()) + 1
        for value in values[number % share :: share]:
            new = value.format(place[group])
            if new != place[group]:
                edited = text[: place.start(group)] + new + text[place.end(group) :]
                yield Edit(f"{line}: {place[group - 1]}='{place[group]}' becomes '{new}'", edited.encode())


def rejects(client: RuntimeClient, text: bytes, weights: bytes) -> bool:
    try:
        client.shapes(text, weights, timeout=20)
    except RuntimeFailure:
        return True
    return False


def has_error(edit: Edit, weights: bytes) -> bool:
    return any(found.severity == Severity.ERROR for found in validate(edit.text, weights))


def base(name: str) -> tuple[str, bytes]:
    path = FOLDER / BASES[name] / "good.xml"
    weights = path.with_suffix(".bin")
    return path.read_text(), weights.read_bytes() if weights.exists() else b""


@SHARES
@pytest.mark.parametrize("name", BASES)
def test_what_the_runtime_does_not_read_is_an_error(name: str, share: int, client: RuntimeClient) -> None:
    text, weights = base(name)
    rejected = [edit for edit in edits(text, STRANGE, share) if rejects(client, edit.text, weights)]
    assert len(rejected) > 20 / share
    assert [edit.name for edit in rejected if not has_error(edit, weights)] == []


@SHARES
@pytest.mark.parametrize("name", BASES)
def test_other_ways_to_write_a_number_are_none_where_the_runtime_reads_them(
    name: str, share: int, client: RuntimeClient
) -> None:
    text, weights = base(name)
    found = [(edit, rejects(client, edit.text, weights)) for edit in edits(text, SAME, share)]
    assert not all(rejected for _, rejected in found)
    assert [edit.name for edit, rejected in found if has_error(edit, weights) != rejected] == []
