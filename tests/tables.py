"""Tables of what was found, which tests compare with what is found now."""

import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["load", "save"]

Table = dict[str, dict[str, str]]


def load(file: Path) -> Table:
    """Return a table, by name and case."""
    table: Table = json.loads(file.read_text())
    return table


def save(file: Path, table: Mapping[str, Mapping[str, str]]) -> None:
    file.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
