"""Diagnostics for people: place, code and message, the line of the file with a mark under what is wrong, the remedy."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ir_tools.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen

__all__ = ["count", "counts", "show_findings"]

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold blue"}
LONGEST = 160
"""Characters of a line that are shown; around the mark, where the line is longer."""
MARGIN = 20


def show_findings(screen: "Screen", diagnostics: Sequence[Diagnostic], files: int) -> None:
    """All findings, then how many there are."""
    for diagnostic in diagnostics:
        show_finding(screen, diagnostic)
    bad = count(diagnostics, Severity.ERROR)
    where = "1 file" if files == 1 else f"{files} files"
    screen.verdict(f"{counts(diagnostics)} in {where}.", good=not bad)


def show_finding(screen: "Screen", diagnostic: Diagnostic) -> None:
    """One finding."""
    place = ":".join(str(part) for part in (diagnostic.file or "<model>", diagnostic.line, diagnostic.column) if part)
    name = diagnostic.path or diagnostic.layer_name
    layer = f"layer {diagnostic.layer_id}" if diagnostic.layer_id is not None else "layer" if name else ""
    layer = f" {layer} '{name}':" if name else f" {layer}:" if layer else ""
    screen.spans(
        (f"{place}: ", "bold"),
        (f"{diagnostic.severity} {diagnostic.code}", STYLES[diagnostic.severity]),
        (f":{layer} {diagnostic.message}", ""),
    )
    for text, style in _excerpt(diagnostic):
        screen.line(text, style=style)
    if diagnostic.help:
        screen.spans(("    help: ", "bold cyan"), (diagnostic.help, ""))


def _excerpt(diagnostic: Diagnostic) -> Iterable[tuple[str, str]]:
    """The line and the mark under it, with styles; nothing where the line is not to be had."""
    lines = _lines(diagnostic.file) if diagnostic.file and diagnostic.line else ()
    if not diagnostic.line or diagnostic.line > len(lines):
        return
    line = lines[diagnostic.line - 1]
    start = (diagnostic.column or len(line) - len(line.lstrip()) + 1) - 1
    end = max((diagnostic.end_column or len(line.rstrip()) + 1) - 1, start + 1)
    first = 0 if len(line) <= LONGEST else max(0, start - MARGIN)
    indent = len(line[first:]) - len(line[first:].lstrip())
    shown = line[first + indent : first + LONGEST].rstrip().expandtabs(1)
    number = str(diagnostic.line)
    yield f"    {number} | {shown}", ""
    mark = "^" * max(1, min(end, first + indent + len(shown)) - start)
    yield f"    {' ' * len(number)} | {' ' * max(0, start - first - indent)}{mark}", STYLES[diagnostic.severity]


@cache
def _lines(file: str) -> Sequence[str]:
    """The lines of a file, whatever its encoding; none where it cannot be read."""
    from pathlib import Path

    try:
        data = Path(file).read_bytes()
    except OSError:
        return ()
    encoding = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    return data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def count(diagnostics: Iterable[Diagnostic], severity: Severity) -> int:
    """How many findings have this severity."""
    return sum(diagnostic.severity is severity for diagnostic in diagnostics)


def counts(diagnostics: Sequence[Diagnostic]) -> str:
    """`2 errors, 1 warning`; `nothing found`."""
    parts = []
    for severity, noun in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "remark")):
        if number := count(diagnostics, severity):
            parts.append(f"{number} {noun}" + ("s" if number > 1 else ""))
    return ", ".join(parts) or "Nothing found"
