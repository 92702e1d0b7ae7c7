"""A rule: what `validate` finds, with the code that names it and the text that explains it."""

import textwrap
from dataclasses import dataclass
from inspect import cleandoc

from ir_tools.diagnostics import Severity

__all__ = ["Rule"]

WIDTH = 120
"""Characters in a line of the text."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One row of the code table.

    Attributes:
        code: `IR103`.
        name: what is wrong, in words: `duplicate-layer-id`.
        severity: of its worst findings.
        what: what is wrong, in a sentence.
        why: why it matters.
        bad, good: a fragment of XML that has it, and one that does not; empty for a rule about the file as a whole.
        milder: severity of its other findings, if they have another.
    """

    code: str
    name: str
    severity: Severity
    what: str
    why: str
    bad: str = ""
    good: str = ""
    milder: Severity | None = None

    @property
    def severities(self) -> tuple[Severity, ...]:
        """Return those of its findings, the worst first."""
        return (self.severity,) if self.milder is None else (self.severity, self.milder)

    @property
    def severity_text(self) -> str:
        """Return `error`, or `error or warning`."""
        return " or ".join(map(str, self.severities))

    @property
    def doc(self) -> str:
        """Return the text that `ir-tools explain` shows: what, why, and the fragments, which are indented."""
        parts = [self.what, textwrap.fill(f"Why: {self.why}", WIDTH, break_long_words=False, break_on_hyphens=False)]
        for heading, fragment in (("Bad", self.bad), ("Good", self.good)):
            if fragment:
                parts.append(f"{heading}:\n{textwrap.indent(cleandoc(fragment), ' ' * 4)}")
        return "\n\n".join(parts)
