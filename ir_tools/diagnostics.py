"""Diagnostics: findings about a model, with their places, as text and as data."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["MAX_LISTED", "Diagnostic", "Severity", "format_text"]

MAX_LISTED = 1000
"""The maximum number of findings of one rule in a file, and of all findings about a file that cannot be read."""
LONGEST = 300
"""Characters of the text in a repr."""


class Severity(enum.StrEnum):
    """The severity of a finding.

    - `error`: the runtime rejects the file or crashes, or the file is ambiguous.
    - `warning`: the model runs with one meaning, but probably not the intended one.
    - `info`: all other findings.

    Example:
        >>> [finding.code for finding in ir_tools.validate("broken.xml") if finding.severity is ir_tools.Severity.ERROR]
        ['IR204']
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A finding about a model or file.

    Attributes:
        code: the code of its rule, which `ir-tools explain CODE` describes.
        severity, message: the severity, and what is wrong with the values in the file.
        file, line: the place; lines count from 1. None if unknown.
        layer_id, layer_name, path: the layer; `path` includes the bodies, as in `Loop_3/body/Add_7`.
        help: what to do about it.
        column, end_column: the column of the first offending character, counted from 1, and the one after the last.
        attribute: the attribute of the layer, port or edge, if only that attribute is wrong, missing or unknown.

    Example:
        >>> finding = ir_tools.validate("broken.xml")[0]
        >>> finding.code, finding.severity, finding.line, finding.layer_name, finding.help
        ('IR204', <Severity.ERROR: 'error'>, 9, 'pool', 'call it exclude-pad')
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    layer_id: int | None = None
    layer_name: str | None = None
    path: str | None = None
    help: str | None = None
    column: int | None = None
    end_column: int | None = None
    attribute: str | None = None

    @property
    def layer(self) -> str:
        """Return `layer 7 'pool'` with the parts that are known; empty for a finding about the file."""
        name = self.path or self.layer_name
        number = "" if self.layer_id is None else f" {self.layer_id}"
        return f"layer{number} '{name}'" if name else number and f"layer{number}"

    @property
    def place(self) -> str:
        """Return `file:line: layer 7 'pool'` with the parts that are known."""
        where = self.file or "<model>"
        if self.line is not None:
            where += f":{self.line}"
        layer = self.layer
        return f"{where}: {layer}" if layer else where

    def __repr__(self) -> str:
        """Return `Diagnostic("model.xml:9: layer 1 'pool': error IR204: ...")`."""
        text = str(self)
        return f"Diagnostic({text if len(text) <= LONGEST else f'{text[: LONGEST - 1]}…'!r})"

    def __str__(self) -> str:
        """Return the finding and the help on one line."""
        text = f"{self.place}: {self.severity} {self.code}: {self.message}"
        return " ".join((f"{text} ({self.help})" if self.help else text).splitlines())

    def as_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {**values, "severity": str(self.severity)}


def format_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line per finding."""
    return "\n".join(map(str, diagnostics))
