"""What ir_tools has to say about a model: one finding with its place, in words and as data."""

import enum
from collections.abc import Iterable
from dataclasses import asdict, dataclass

__all__ = ["Diagnostic", "Severity", "format_text"]


class Severity(enum.StrEnum):
    """How bad a finding is: `error` cannot run as written, `warning` runs but probably not as meant."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: of the rule that explains it (`ir-tools explain IR103`).
        severity, message: how bad it is, and what is wrong with the values that are there.
        file, line: where it stands; lines count from 1.
        layer_id, layer_name, path: the layer; `path` leads through bodies, as in `Loop_3/body/Add_7`.
        help: what to do about it.
        column, end_column: the first character of what is wrong, counted from 1, and the one behind its last.
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

    @property
    def place(self) -> str:
        """`file:line: layer 7 'pool'` with the parts that are known."""
        where = self.file or "<model>"
        if self.line is not None:
            where += f":{self.line}"
        if self.layer_id is not None:
            where += f": layer {self.layer_id}"
        name = self.path or self.layer_name
        return f"{where} '{name}'" if name else where

    def __str__(self) -> str:
        """The finding on one line, with what to do about it."""
        text = f"{self.place}: {self.severity} {self.code}: {self.message}"
        return f"{text} ({self.help})" if self.help else text

    def as_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {**asdict(self), "severity": str(self.severity)}


def format_text(diagnostics: Iterable[Diagnostic]) -> str:
    """One line per finding."""
    return "\n".join(map(str, diagnostics))
