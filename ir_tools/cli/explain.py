"""`ir-tools explain`: what a code means."""

from typing import TYPE_CHECKING

import click

from ir_tools.cli.app import Answer, Row, command
from ir_tools.errors import UsageError
from ir_tools.rules import RULES, Rule

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen

__all__ = ["explain"]


@command("explain", example="ir-tools explain IR103")
@click.argument("code", required=False)
def explain(code: str | None) -> Answer:
    """Explain the finding CODE and why it matters, with bad and good files; without CODE, list all codes."""
    if code is None:
        return Answer({"rules": [_row(rule) for rule in RULES]}, _list)
    rule = _find(code)
    return Answer({**_row(rule), "text": rule.doc}, lambda screen: _show(screen, rule))


def _find(word: str) -> Rule:
    for rule in RULES:
        if word.upper() == rule.code or word.lower() == rule.name:
            return rule
    import difflib

    names = [name for rule in RULES for name in (rule.code, rule.name)]
    close = difflib.get_close_matches(word.upper(), names, n=1) or difflib.get_close_matches(word.lower(), names, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise UsageError(f"there is no code '{word}'{hint} (ir-tools explain lists all)")


def _row(rule: Rule) -> Row:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": str(rule.severity),
        "severities": [*map(str, rule.severities)],
        "summary": rule.what,
    }


def _list(screen: "Screen") -> None:
    from ir_tools.cli.screen import Column

    columns = [Column("code", keep=True), Column("name", fold=True), Column("severity")]
    columns.append(Column("what is wrong", fold=True))
    screen.table(columns, [[rule.code, rule.name, rule.severity_text, rule.what] for rule in RULES])


def _show(screen: "Screen", rule: Rule) -> None:
    screen.line(f"{rule.code} {rule.name} ({rule.severity_text})", style="bold")
    screen.line()
    for line in rule.doc.splitlines():
        heading = line in {"Bad:", "Good:"} or line.startswith("Why:")
        screen.line(line, style="bold" if heading else "cyan" if line.startswith("    ") else "")
