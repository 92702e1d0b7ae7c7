"""Validation: every rule of the code table, run over one file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools.collection import no_collection
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import ReadError, UsageError
from ir_tools.format.faults import Fault, told
from ir_tools.format.read import load, weights_of
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.rules import RULES, IrFile, Rule
from ir_tools.source import Document

if TYPE_CHECKING:
    from ir_tools.runtime.client import RuntimeClient

__all__ = ["MOST", "chosen", "validate"]

MOST = 1000
"""How many findings of one rule are told of one file."""


def validate(
    source: Model | str | Path | bytes,
    weights: bytes | str | Path | None = None,
    *,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    runtime: bool | RuntimeClient = False,
) -> list[Diagnostic]:
    """Everything that is wrong with a file, in the order of its lines; empty where nothing is.

    Args:
        source: path of the `.xml`, its bytes, or a model (of which what `write` would write is looked at).
        weights: path or content of the `.bin`; by default the file beside the `.xml`, or the model's own.
        select: only these codes or groups of codes (`IR103`, `IR1`).
        ignore: all but these.
        runtime: also let the installed runtime read, compile and infer it, in a child process; a client goes on with
            the process that it has.

    Raises:
        UsageError: `select` or `ignore` name no code.
    """
    rules = chosen(select, ignore)
    found: list[Diagnostic] = []
    with no_collection():
        try:
            found.extend(_findings(_open(source, weights), rules))
        except ReadError as unreadable:
            found += unreadable.diagnostics
    if runtime:
        from ir_tools.runtime.trial import try_model

        found += try_model(source, weights, client=None if runtime is True else runtime)
    codes = {rule.code for rule in rules}
    return sorted(
        (diagnostic for diagnostic in found if diagnostic.code in codes),
        key=lambda diagnostic: (diagnostic.line or 0, diagnostic.code),
    )


def chosen(select: Collection[str], ignore: Collection[str]) -> tuple[Rule, ...]:
    """The rules whose codes begin with one of `select` (empty: all) and with none of `ignore`.

    Raises:
        UsageError: a word is the beginning of no code.
    """
    for word in (*select, *ignore):
        if not any(rule.code.startswith(word) for rule in RULES):
            raise UsageError(f"there is no rule '{word}'; codes look like {RULES[0].code}, groups like IR1")
    return tuple(
        rule
        for rule in RULES
        if (not select or rule.code.startswith(tuple(select))) and not (ignore and rule.code.startswith(tuple(ignore)))
    )


def _open(source: Model | str | Path | bytes, weights: bytes | str | Path | None) -> IrFile:
    if isinstance(source, Model):
        path = source.path
        document = Document(render(source), None if path is None else str(path))
        return IrFile(document, source.weights if weights is None else weights_of(document, weights, path), path)
    path = None if isinstance(source, bytes) else Path(source)
    data = source if isinstance(source, bytes) else load(Path(source))
    document = Document(data, None if path is None else str(path))
    return IrFile(document, weights_of(document, weights, path), path)


def _findings(file: IrFile, rules: Iterable[Rule]) -> Iterator[Diagnostic]:
    faults: dict[str, list[Fault]] = {}
    for fault in file.faults:
        faults.setdefault(fault.code, []).append(fault)
    for rule in rules:
        found = _unbroken(file, rule, _findings_of(file, rule, faults.get(rule.code, [])))
        yield from islice(found, MOST)
        if next(found, None) is not None:
            message = f"{rule.name} is found in more than {MOST} places; those are not told"
            yield Diagnostic(code=rule.code, severity=rule.severity, message=message, file=file.document.file)


def _unbroken(file: IrFile, rule: Rule, found: Iterator[Diagnostic]) -> Iterator[Diagnostic]:
    """What a rule finds; a rule that breaks over a file says so, and keeps no other rule from looking."""
    try:
        yield from found
    except Exception as why:
        message = f"the check itself broke over this file ({type(why).__name__}: {why}); please report it"
        yield Diagnostic(code=rule.code, severity=Severity.WARNING, message=message, file=file.document.file)


def _findings_of(file: IrFile, rule: Rule, faults: Iterable[Fault]) -> Iterator[Diagnostic]:
    yield from told(file.document, faults)
    for finding in rule.check(file) if rule.check else ():
        yield Diagnostic(
            code=rule.code,
            severity=finding.severity or rule.severity,
            message=finding.message,
            file=file.document.file,
            help=finding.help,
            **finding.place._asdict(),
        )
