"""Diagnostics for people: place, code and message, the line of the file with a mark under what is wrong, the remedy."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools.cli.app import Row
from ir_tools.cli.checking import Checked
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.display import plural
from ir_tools.findings import Findings
from ir_tools.rules import RULES

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen

__all__ = ["show_findings", "show_statistics", "statistics"]

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold blue"}
LONGEST = 160
"""Characters of a line that are shown; around the mark, where the line is longer."""
MARGIN = 20


def show_findings(screen: "Screen", checked: Sequence[Checked], *, concise: bool = False, quiet: bool = False) -> None:
    """Show all findings, then how many there are.

    Args:
        screen: where.
        checked: the files.
        concise: one line for each finding, without the line of the file and the remedy.
        quiet: the findings alone.
    """
    for file in checked:
        for finding in file.findings:
            _show_head(screen, finding)
            if not concise:
                _show_rest(screen, finding, file.task.data)
    if not quiet:
        _show_counts(screen, checked)


def show_statistics(screen: "Screen", checked: Sequence[Checked], *, quiet: bool = False) -> None:
    """Show how often each rule was broken, then how many findings there are."""
    from ir_tools.cli.screen import Column

    rows = [[str(value) for value in row.values()] for row in statistics(checked)]
    if rows:
        screen.table([Column("count", right=True), Column("code"), Column("severity"), Column("rule", fold=True)], rows)
    if not quiet:
        _show_counts(screen, checked)


def statistics(checked: Iterable[Checked]) -> list[Row]:
    """Return how often each rule was broken, the most frequent first."""
    names = {rule.code: rule.name for rule in RULES}
    found = Counter((finding.code, str(finding.severity)) for file in checked for finding in file.findings)
    return [
        {"count": number, "code": code, "severity": severity, "name": names.get(code, "")}
        for (code, severity), number in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    ]


def _show_counts(screen: "Screen", checked: Sequence[Checked]) -> None:
    found = Findings(finding for file in checked for finding in file.findings)
    known = sum(file.known for file in checked)
    others = f", and {plural(known, 'known finding')}" if known else ""
    text = f"{found.counts()} in {plural(len(checked), 'file')}{others}."
    screen.verdict(text, good=not any(file.failures for file in checked))


def _show_head(screen: "Screen", finding: Diagnostic) -> None:
    place = ":".join(str(part) for part in (finding.file or "<model>", finding.line, finding.column) if part)
    screen.spans(
        (f"{place}: ", "bold"),
        (f"{finding.severity} {finding.code}", STYLES[finding.severity]),
        (f": {finding.layer}: {finding.message}" if finding.layer else f": {finding.message}", ""),
    )


def _show_rest(screen: "Screen", finding: Diagnostic, data: bytes | None) -> None:
    lines: Sequence[bytes] = ()
    if finding.file and finding.line:
        lines = _lines(finding.file) if data is None else _lines_of(data)
    for text, style in _excerpt(finding, lines, screen.width):
        screen.line(text, style=style)
    if finding.help:
        screen.spans(("    help: ", "bold cyan"), (finding.help, ""))


def _excerpt(diagnostic: Diagnostic, lines: Sequence[bytes], width: int | None) -> Iterable[tuple[str, str]]:
    """Yield the line and the mark under it, with styles, in a width if there is one; nothing if the line is unknown."""
    from rich.cells import cell_len, set_cell_size

    if not diagnostic.line or diagnostic.line > len(lines):
        return
    line = _text_of(lines[diagnostic.line - 1])
    first = len(line[:LONGEST]) - len(line[:LONGEST].lstrip())
    start = first if diagnostic.column is None else diagnostic.column - 1
    end = len(line) if diagnostic.end_column is None else max(diagnostic.end_column - 1, start + 1)
    number = str(diagnostic.line)
    longest = LONGEST if width is None else max(1, min(LONGEST, width - len(number) - 7))
    if cell_len(line[first : first + longest + 1].rstrip()) > longest:
        first = max(first, start - min(MARGIN, longest // 4))
    shown = set_cell_size(line[first : first + longest].expandtabs(1), longest).rstrip()
    yield f"    {number} | {shown}", ""
    before = cell_len(line[first:start])
    mark = "^" * max(1, min(cell_len(line[start : min(end, start + longest)].rstrip()), cell_len(shown) - before))
    yield f"    {' ' * len(number)} | {' ' * before}{mark}", STYLES[diagnostic.severity]


@lru_cache(2)
def _lines(file: str) -> Sequence[bytes]:
    """Return the lines of a file; none if it cannot be read."""
    path = Path(file)
    try:
        return _lines_of(path.read_bytes()) if path.is_file() else ()
    except OSError:
        return ()


@lru_cache(2)
def _lines_of(data: bytes) -> Sequence[bytes]:
    """Return the lines of a document in UTF-8, whatever its encoding, without the ends of the lines."""
    text = data.decode("utf-16", "replace").encode() if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else data
    return [*text.removeprefix(BOM_UTF8).splitlines(), *[b""] * (not text or text.endswith((b"\r", b"\n")))]


@lru_cache(2)
def _text_of(line: bytes) -> str:
    """Return the text of a line, once for all findings in it: a document may be on one line."""
    return line.decode(errors="replace")
