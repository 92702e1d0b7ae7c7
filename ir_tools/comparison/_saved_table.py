"""`run.json` of a saved run: what is in it, and messages for what is not as it was written."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ir_tools.display import shortened
from ir_tools.errors import UsageError
from ir_tools.runtime.setting import Setting
from ir_tools.types import ElementType, type_in_file

__all__ = ["TABLE", "Member", "Table", "written_table"]

TABLE = "run.json"
FORMAT = "ir_tools run"
VERSION = 1
KINDS: Mapping[type, str] = {str: "a text", int: "an integer", list: "a list", dict: "an object"}
SHOWN = 60
"""Characters of a value that messages have."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Member:
    """An array of the file: its name, element type, sizes and digest."""

    name: str
    type: ElementType
    shape: tuple[int, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Table:
    """What `run.json` holds.

    Attributes:
        runtime: the version of OpenVINO.
        device: its full name.
        setting: device and precision that were asked for.
        precision: the element type that floats were computed in.
        shapes: of inputs that replaced those in the file of the model.
        seed: of the inputs.
        samples: how many there are.
        digest: of the bytes of the model.
        members: the arrays of the file.
    """

    runtime: str
    device: str
    setting: Setting
    precision: str
    shapes: Mapping[str, str]
    seed: int
    samples: int
    digest: str
    members: tuple[Member, ...]

    @classmethod
    def read(cls, data: bytes) -> "Table":
        """Read and check the bytes of `run.json`.

        Raises:
            UsageError: they are not JSON, or an entry is missing or is not what is written there.
        """
        try:
            table = json.loads(data)
        except (ValueError, RecursionError):
            raise UsageError(f"{TABLE} is not JSON") from None
        if not isinstance(table, dict) or table.get("format") != FORMAT:
            raise UsageError(f"the format in {TABLE} is not '{FORMAT}'")
        version = _entry(table, "version", int)
        if version != VERSION:
            raise UsageError(f"it has version {version} of the format; expected {VERSION}")
        setting = _texts(table, "setting", 2)
        shapes = _entry(table, "shapes", dict)
        return cls(
            runtime=_entry(table, "runtime", str),
            device=_entry(table, "device", str),
            setting=Setting.of(setting[0], setting[1]),
            precision=_entry(table, "precision", str),
            shapes={name: _entry(shapes, name, str) for name in shapes},
            seed=_counted(table, "seed", 0),
            samples=_counted({"samples": 1, **table}, "samples", 1),
            digest=_entry(_entry(table, "model", dict), "digest", str),
            members=tuple(map(_member, _entry(table, "arrays", list))),
        )


def written_table(rest: Mapping[str, object]) -> str:
    """Return the text of `run.json`."""
    return json.dumps({"format": FORMAT, "version": VERSION, **rest}, indent=1)


def _member(row: object) -> Member:
    if not isinstance(row, dict):
        raise UsageError(f"an entry of 'arrays' in {TABLE} is {_text(row)}; expected an object")
    name, shape = _entry(row, "name", str), _entry(row, "shape", list)
    if any(type(size) is not int or size < 0 for size in shape):
        raise UsageError(f"the shape of '{name}' in {TABLE} is {_text(shape)}; expected integers from 0")
    kind = type_in_file(_entry(row, "type", str))
    if kind is None:
        raise UsageError(f"the type of '{name}' in {TABLE} is '{row['type']}'; expected one of OpenVINO, such as f32")
    return Member(name, kind, tuple(shape), _entry(row, "digest", str))


def _entry(table: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """Return an entry of a kind."""
    if name not in table:
        raise UsageError(f"{TABLE} lacks '{name}'")
    if type(table[name]) is not kind:
        raise UsageError(f"'{name}' in {TABLE} is {_text(table[name])}; expected {KINDS[kind]}")
    found: T = table[name]
    return found


def _counted(table: Mapping[str, Any], name: str, minimum: int) -> int:
    found = _entry(table, name, int)
    if found < minimum:
        raise UsageError(f"'{name}' in {TABLE} is {found}; expected {minimum} or more")
    return found


def _texts(table: Mapping[str, Any], name: str, count: int) -> list[str]:
    found = _entry(table, name, list)
    if len(found) != count or not all(isinstance(text, str) for text in found):
        raise UsageError(f"'{name}' in {TABLE} is {_text(found)}; expected {count} texts")
    return found


def _text(value: object) -> str:
    return shortened(json.dumps(value), SHOWN)
