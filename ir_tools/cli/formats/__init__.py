"""Findings as CI systems take them: one module per format, which returns the whole text."""

from collections.abc import Callable, Mapping, Sequence

from ir_tools.cli.checking import Checked
from ir_tools.cli.formats.github import to_github
from ir_tools.cli.formats.gitlab import to_gitlab
from ir_tools.cli.formats.junit import to_junit
from ir_tools.cli.formats.sarif import to_sarif

__all__ = ["RENDERERS"]

RENDERERS: Mapping[str, Callable[[Sequence[Checked]], str]] = {
    "github": to_github,
    "gitlab": to_gitlab,
    "junit": to_junit,
    "sarif": to_sarif,
}
"""By the word of `--format`."""
