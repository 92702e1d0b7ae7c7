"""Findings as a Code Quality report of GitLab: https://docs.gitlab.com/ci/testing/code_quality/."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ir_tools.cli.checking import Checked
from ir_tools.cli.formats._texts import fingerprint, json_text, relative, sentence
from ir_tools.diagnostics import Diagnostic, Severity

__all__ = ["to_gitlab"]

SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def to_gitlab(checked: Sequence[Checked]) -> str:
    """Return the report, with paths relative to `CI_PROJECT_DIR`, or else to the current folder."""
    root = Path(os.environ.get("CI_PROJECT_DIR") or Path.cwd())
    seen: Counter[str] = Counter()
    return json_text([_issue(finding, root, seen) for file in checked for finding in file.findings])


def _issue(finding: Diagnostic, root: Path, seen: Counter[str]) -> dict[str, object]:
    path = relative(finding.file, root)
    key = "\0".join((path, finding.code, finding.path or finding.layer_name or "", finding.message))
    seen[key] += 1
    return {
        "description": f"{finding.code}: {sentence(finding)}",
        "check_name": finding.code,
        "fingerprint": fingerprint(f"{key}\0{seen[key]}"),
        "severity": SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": finding.line or 1}},
    }
