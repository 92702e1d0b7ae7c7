"""Findings as annotations of GitHub Actions: one workflow command per line.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ir_tools.cli.checking import Checked
from ir_tools.cli.formats._texts import relative, sentence
from ir_tools.diagnostics import Diagnostic, Severity

__all__ = ["to_github"]

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def to_github(checked: Sequence[Checked]) -> str:
    """Return one command per finding, with paths relative to the current folder."""
    root = Path.cwd()
    return "".join(f"{_command(finding, root)}\n" for file in checked for finding in file.findings)


def _command(finding: Diagnostic, root: Path) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(finding, root))
    return f"::{COMMANDS[finding.severity]} {properties}::{_data(sentence(finding))}"


def _properties(finding: Diagnostic, root: Path) -> Iterator[tuple[str, str]]:
    yield "title", f"ir-tools ({finding.code})"
    yield "file", relative(finding.file, root)
    if finding.line:
        yield "line", str(finding.line)
        yield "endLine", str(finding.line)
    if finding.line and finding.column:
        yield "col", str(finding.column)
        yield "endColumn", str(finding.end_column or finding.column + 1)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
