"""A list of the findings about one or more files."""

from collections import Counter

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.display import listing, notebook_table

__all__ = ["Findings"]

NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "remark"}


class Findings(list[Diagnostic]):
    """A list of findings. Its repr shows the first ones; a notebook shows a table.

    Example:
        >>> ir_tools.validate("broken.xml")
        1 error
        broken.xml:9: layer 1 'pool': error IR204: exclude-pad is missing; ... (call it exclude-pad)
    """

    def counts(self) -> str:
        """Return the number of findings of each severity: `2 errors, 1 warning`, or `Nothing found`."""
        found = Counter(finding.severity for finding in self)
        parts = (f"{found[key]} {noun}{'s' * (found[key] > 1)}" for key, noun in NOUNS.items() if found[key])
        return ", ".join(parts) or "Nothing found"

    def __repr__(self) -> str:
        """Return the counts, and the first findings, one per line."""
        return listing(self.counts(), self)

    def _repr_html_(self) -> str:
        """Return the counts, and a table of the first findings."""
        rows = ((one.severity, one.code, *_place(one), one.message, one.help) for one in self)
        return notebook_table(
            self.counts(), ("severity", "code", "place", "layer", "what is wrong", "what to do"), rows
        )


def _place(finding: Diagnostic) -> tuple[str, str | None]:
    place = ":".join(str(part) for part in (finding.file, finding.line) if part is not None)
    return place, finding.path or finding.layer_name
