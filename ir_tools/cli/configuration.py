"""What a project wants of `validate`: `[tool.ir-tools]` in a `pyproject.toml`, or an `ir-tools.toml`."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from ir_tools.cli.patterns import Pattern
from ir_tools.diagnostics import Severity
from ir_tools.errors import UsageError
from ir_tools.files import check_readable, protect
from ir_tools.types import closest
from ir_tools.validation import chosen

__all__ = ["FAIL_ON", "FORMATS", "Configuration", "Configurations", "load"]

FILES = ("ir-tools.toml", "pyproject.toml")
"""Names of configuration files; of two in one folder the first counts."""
FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")
FAIL_ON: Mapping[str, frozenset[Severity]] = {
    "error": frozenset({Severity.ERROR}),
    "warning": frozenset({Severity.ERROR, Severity.WARNING}),
    "info": frozenset(Severity),
    "never": frozenset(),
}
"""The severities with which `validate` fails."""
EXCLUDED = (".git", ".hg", ".nox", ".svn", ".tox", ".venv", "node_modules")
"""Folders that are not searched, unless `exclude` says otherwise."""

Codes = tuple[str, ...]
Patterns = tuple[Pattern, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Settings; None stands for those that are not given.

    Attributes:
        file: where they were read.
        select, extend_select, ignore, extend_ignore: codes, beginnings of codes, or names of rules.
        per_file_ignores: rules to leave out in files that a pattern covers.
        exclude, extend_exclude: what is not searched.
        force_exclude: leave out excluded files also if they are named.
        fail_on: a key of `FAIL_ON`.
        format: one of `FORMATS`.
        baseline: a file of known findings.
    """

    file: Path | None = None
    select: Codes | None = None
    extend_select: Codes = ()
    ignore: Codes | None = None
    extend_ignore: Codes = ()
    per_file_ignores: tuple[tuple[Pattern, Codes], ...] = ()
    exclude: Patterns | None = None
    extend_exclude: Patterns = ()
    force_exclude: bool | None = None
    fail_on: str | None = None
    format: str | None = None
    baseline: Path | None = None

    def extended(self, other: "Configuration") -> "Configuration":
        """Return these settings with those of `other` in front of them: its values replace, its extensions add."""
        changes: dict[str, Any] = {}
        for entry in fields(self):
            mine, new = getattr(self, entry.name), getattr(other, entry.name)
            if entry.name.startswith("extend_") or entry.name == "per_file_ignores":
                changes[entry.name] = (*mine, *new)
            elif new is not None:
                changes[entry.name] = new
        return replace(self, **changes)

    def codes(self, file: Path) -> Codes:
        """Return the codes of the rules to check a file for.

        Raises:
            UsageError: there is no such rule.
        """
        path = Path(os.path.abspath(file))
        select = (*(("ALL",) if self.select is None else self.select), *self.extend_select)
        ignore = (*(self.ignore or ()), *self.extend_ignore)
        ignored = {
            rule.code
            for pattern, words in self.per_file_ignores
            if words and pattern.covers(path)
            for rule in chosen(words)
        }
        rules = chosen(select, ignore) if select else ()
        return tuple(rule.code for rule in rules if rule.code not in ignored)

    def excludes(self, path: Path, *, deep: bool = False) -> bool:
        """Return whether a path is excluded by itself; `deep`: or by a folder that it is in."""
        patterns = tuple(Pattern(name, Path.cwd()) for name in EXCLUDED) if self.exclude is None else self.exclude
        path = Path(os.path.abspath(path))
        match = Pattern.covers if deep else Pattern.matches
        return any(match(pattern, path) for pattern in (*patterns, *self.extend_exclude))

    @property
    def failing(self) -> frozenset[Severity]:
        """Return the severities with which `validate` fails."""
        return FAIL_ON[self.fail_on or "error"]


class Configurations:
    """The configurations of folders, each read once."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._found: dict[Path, Configuration] = {}

    def of(self, folder: Path) -> Configuration:
        """Return the configuration in a folder, in the nearest one above it that has one, or else an empty one.

        Raises:
            UsageError: a configuration file cannot be read, or has a setting that does not exist.
        """
        folder = Path(os.path.abspath(folder))
        if folder not in self._found:
            files = (folder / name for name in FILES)
            file = next((file for file in files if _is_there(file) and _table(file) is not None), None)
            if file is not None:
                self._found[folder] = load(file)
            else:
                self._found[folder] = Configuration() if folder.parent == folder else self.of(folder.parent)
        return self._found[folder]


def load(file: Path, seen: tuple[Path, ...] = ()) -> Configuration:
    """Read one file, and those that it extends.

    Raises:
        UsageError: it cannot be read, or has a setting that does not exist.
    """
    file = Path(os.path.abspath(file))
    table = _table(file) or {}
    if file in seen:
        raise UsageError(f"{file}: extend forms a cycle with {seen[0]}")
    values: dict[str, Any] = {}
    for name, value in table.items():
        reader = SETTINGS.get(name)
        if reader is None:
            close = closest(name, SETTINGS)
            hint = f"did you mean {close}?" if close else f"the settings are {', '.join(SETTINGS)}"
            raise UsageError(f"{file}: there is no setting '{name}'; {hint}")
        values[name.replace("-", "_")] = reader(f"{file}: {name}", value, file.parent)
    base = values.pop("extend", None)
    if base is not None and not base.exists():
        raise UsageError(f"{file}: extend is '{table['extend']}', but there is no file {base}")
    own = Configuration(file=file, **values)
    return own if base is None else load(base, (*seen, file)).extended(own)


def _is_there(file: Path) -> bool:
    """Return whether there is a file, or a link that leads nowhere, which `_table` reports."""
    return file.is_file() or (file.is_symlink() and not file.exists())


def _table(file: Path) -> Mapping[str, object] | None:
    """Return the settings in a file; None for a `pyproject.toml` without any."""
    import tomllib

    check_readable(file)
    protect(file)
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file} is not valid TOML: {error}") from None
    if file.name != "pyproject.toml":
        return document
    tool = document.get("tool")
    table = tool.get("ir-tools") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        _wrong(f"{file}: tool.ir-tools", table, "a table")
    return table


# --- readers of settings ------------------------------------------------------------------------------------------


def _wrong(label: str, value: object, expected: str) -> NoReturn:
    raise UsageError(f"{label} is {value!r}; expected {expected}")


@contextmanager
def _labelled(label: str) -> Iterator[None]:
    """Say in front of a UsageError which setting it is about."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{label}: {error}") from None


def _texts(label: str, value: object, root: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        _wrong(label, value, "a list of strings")
    return tuple(value)


def _codes(label: str, value: object, root: Path) -> Codes:
    words = _texts(label, value, root)
    with _labelled(label):
        chosen(words)
    return words


def _patterns(label: str, value: object, root: Path) -> Patterns:
    texts = _texts(label, value, root)
    with _labelled(label):
        return tuple(Pattern(text, root) for text in texts)


def _ignores(label: str, value: object, root: Path) -> tuple[tuple[Pattern, Codes], ...]:
    if not isinstance(value, dict):
        _wrong(label, value, "a table of patterns and lists of codes")
    patterns = _patterns(label, [*value], root)
    codes = (_codes(f'{label}."{text}"', words, root) for text, words in value.items())
    return tuple(zip(patterns, codes, strict=True))


def _flag(label: str, value: object, root: Path) -> bool:
    if not isinstance(value, bool):
        _wrong(label, value, "true or false")
    return value


def _path(label: str, value: object, root: Path) -> Path:
    if not isinstance(value, str):
        _wrong(label, value, "a path")
    return root / value


def _word(words: tuple[str, ...], label: str, value: object, root: Path) -> str:
    if not isinstance(value, str) or value not in words:
        _wrong(label, value, f"one of {', '.join(words)}")
    return value


SETTINGS: Mapping[str, Callable[[str, object, Path], object]] = {
    "extend": _path,
    "select": _codes,
    "extend-select": _codes,
    "ignore": _codes,
    "extend-ignore": _codes,
    "per-file-ignores": _ignores,
    "exclude": _patterns,
    "extend-exclude": _patterns,
    "force-exclude": _flag,
    "fail-on": partial(_word, tuple(FAIL_ON)),
    "format": partial(_word, FORMATS),
    "baseline": _path,
}
"""Each setting with what reads its value: label for messages, value, folder of the file."""
