"""What a rule is: a code, a name that states the bad thing, a severity, its documentation, and the check itself."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ir_tools.diagnostics import Severity
from ir_tools.rules._file import IrFile, Place

__all__ = ["Finding", "Rule"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: where, what with the values that are there, and what to do about it.

    `severity`: where it is not the rule's own.
    """

    place: Place
    message: str
    help: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the code table.

    Attributes:
        code: `IR103`.
        name: what is wrong, in words: `duplicate-layer-id`.
        severity: of its findings, unless they say otherwise.
        doc: the docstring of its module: what, then `Why:`, `Bad:` and `Good:` with a fragment of XML each.
        check: finds it in a file; None where reading finds it, because nothing can be read past it.
    """

    code: str
    name: str
    severity: Severity
    doc: str
    check: Callable[[IrFile], Iterator[Finding]] | None = None
