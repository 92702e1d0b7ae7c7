"""Validation: every check, run over one file, and the findings in the order of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Set
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools.arguments import word_list
from ir_tools.checks import CHECKS, Check, IrFile
from ir_tools.collection import gc_paused
from ir_tools.diagnostics import MAX_LISTED, Diagnostic, Severity
from ir_tools.errors import ReadError, UsageError
from ir_tools.format.problems import DocumentPlace, ElementProblem, diagnostic_of
from ir_tools.format.read import open_files, weights_of
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.releases.table import find_release
from ir_tools.rules import RULES, Rule
from ir_tools.runtime.extensions import Extensions, library_paths
from ir_tools.runtime.installed import require_openvino
from ir_tools.source import Document
from ir_tools.types import Shapes, closest

if TYPE_CHECKING:
    from ir_tools.runtime.client import RuntimeClient

__all__ = ["chosen", "errors_in", "findings_in", "opened", "validate"]


def validate(
    source: Model | str | Path | bytes,
    weights: bytes | str | Path | None = None,
    *,
    select: str | Collection[str] = (),
    ignore: str | Collection[str] = (),
    runtime: bool | str | RuntimeClient = False,
    extensions: Extensions = (),
    shapes: Shapes | None = None,
) -> list[Diagnostic]:
    """Return everything that is wrong with a file, in the order of its lines; empty where nothing is.

    Args:
        source: path of the `.xml`, its bytes, or a model (of which what `write` would write is looked at).
        weights: path or content of the `.bin`; by default the file beside the `.xml`, or the model's own.
        select: the rules to look for, as in `chosen`.
        ignore: the rules to leave out, as in `chosen`.
        runtime: also let the installed runtime, or the release of this name, read, compile and infer it, in a child
            process; a client goes on with the process that it has.
        extensions: libraries with operations of others, for the runtime to load; a client has its own. An operation
            that is not OpenVINO's is a remark then, and an error otherwise.
        shapes: of inputs that the runtime runs with, in place of those in the file.

    Raises:
        UsageError: `select` or `ignore` name no code, an extension is not a file or cannot be loaded, the model has no
            input that `shapes` names, there are `shapes` and the runtime is not asked.
        RuntimeFailure: the runtime is not installed or cannot start, and `runtime` asks for it.
    """
    rules = frozenset(chosen(select, ignore))
    library_paths(extensions)
    release = find_release(runtime) if isinstance(runtime, str) else None
    if runtime is True:
        require_openvino()
    if shapes and not runtime:
        raise UsageError("shapes needs runtime=True, which runs the model")
    found: list[Diagnostic] = []
    with gc_paused():
        try:
            found.extend(_findings(opened(source, weights, extensions=bool(extensions)), rules))
        except ReadError as unreadable:
            found += unreadable.diagnostics
    if runtime:
        from ir_tools.runtime.release import release_client
        from ir_tools.runtime.trial import MEMORY, try_model

        with ExitStack() as stack:
            client = None if isinstance(runtime, bool | str) else runtime
            if release is not None:
                client = stack.enter_context(release_client(release, memory=MEMORY))
            found += try_model(source, weights, client=client, extensions=extensions, shapes=shapes)
    codes = {rule.code for rule in rules}
    return _sorted(diagnostic for diagnostic in found if diagnostic.code in codes)


def errors_in(file: IrFile) -> list[Diagnostic]:
    """Return the errors in a file that is open; rules that find warnings alone, which read the `.bin`, are left out."""
    return findings_in(file, {rule for rule in RULES if rule.severity is Severity.ERROR})


def findings_in(file: IrFile, rules: Set[Rule]) -> list[Diagnostic]:
    """Return the errors that these rules find in a file that is open, in the order of its lines."""
    try:
        with gc_paused():
            return _sorted(_findings(file, rules, mild=False))
    except ReadError as unreadable:
        return _sorted(unreadable.diagnostics)


def _sorted(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda diagnostic: (diagnostic.line or 0, diagnostic.code))


def chosen(select: str | Collection[str] = (), ignore: str | Collection[str] = ()) -> tuple[Rule, ...]:
    """Return the rules that `select` names (all of them if it is empty) and `ignore` does not.

    A word is a code, the beginning of codes, the name of a rule, or `ALL`; a text holds several with commas. If both
    name a rule, the longer word decides, and `ignore` between equals.

    Raises:
        UsageError: a word names no rule.
    """
    selected, ignored = _words(select), _words(ignore)
    if not selected and not ignored:
        return RULES
    selected = selected or ("ALL",)
    return tuple(rule for rule in RULES if _precision(rule, selected) > _precision(rule, ignored))


def _words(given: str | Collection[str]) -> tuple[str, ...]:
    words = word_list(given)
    for word in words:
        if not word or not any(_names(word, rule) for rule in RULES):
            close = closest(word, [text for rule in RULES for text in (rule.code, rule.name)])
            hint = (
                f"did you mean {close}?"
                if close
                else f"expected a code such as {RULES[0].code}, or a group such as IR1"
            )
            raise UsageError(f"there is no rule '{word}'; {hint}")
    return words


def _names(word: str, rule: Rule) -> bool:
    return word.upper() == "ALL" or rule.code.startswith(word.upper()) or rule.name == word.lower()


def _precision(rule: Rule, words: Iterable[str]) -> int:
    """Return how exactly the words name a rule: the number of letters of its code; -1 if they do not."""
    letters = (0 if word.upper() == "ALL" else min(len(word), len(rule.code)) for word in words if _names(word, rule))
    return max(letters, default=-1)


def opened(
    source: Model | str | Path | bytes, weights: bytes | str | Path | None = None, *, extensions: bool = False
) -> IrFile:
    """Return a file for the checks; of a model, what `write` would write.

    Raises:
        ReadError: a file cannot be read, or is not XML.
    """
    if isinstance(source, Model):
        document = Document(render(source), None if source.path is None else str(source.path))
        stored = source.weights if weights is None else weights_of(weights, source.path)
        return IrFile(document, stored, source.path, extensions=extensions)
    return IrFile(*open_files(source, weights), extensions=extensions)


def _findings(file: IrFile, rules: Set[Rule], *, mild: bool = True) -> Iterator[Diagnostic]:
    """Yield the findings of these rules: of each rule the first `MAX_LISTED`, and then how many there are.

    `mild`: also those that are no errors.
    """
    counts: Counter[Rule] = Counter()
    checks = (_problems(check, file, mild=mild) for check in CHECKS if not rules.isdisjoint(check.rules))
    for problem in chain(file.unread, *checks):
        if not (mild or problem.is_error):
            continue
        counts[problem.rule] += 1
        if problem.rule in rules and counts[problem.rule] <= MAX_LISTED:
            yield diagnostic_of(file.document, problem)
    for rule, count in counts.items():
        if count > MAX_LISTED and rule in rules:
            message = f"the file has {count} findings of {rule.name}; the first {MAX_LISTED} are listed"
            yield Diagnostic(code=rule.code, severity=rule.severity, message=message, file=file.document.file)


def _problems(check: Check, file: IrFile, *, mild: bool) -> Iterator[ElementProblem]:
    """Yield what a check finds; one that breaks over a file says so, and keeps no other from looking."""
    try:
        yield from check.find(file) if mild or check.errors is None else check.errors(file)
    except Exception as why:
        message = f"ir_tools failed to check this file ({type(why).__name__}: {why}); please report this error"
        yield ElementProblem(check.rules[0], DocumentPlace(None), message, severity=Severity.WARNING)
