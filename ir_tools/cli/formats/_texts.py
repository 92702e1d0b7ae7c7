"""What several formats say in the same words."""

import hashlib
import json
import os
from pathlib import Path

from ir_tools.cli.plain_text import escaped, visible
from ir_tools.diagnostics import Diagnostic

__all__ = ["fingerprint", "json_text", "relative", "sentence"]


def sentence(finding: Diagnostic) -> str:
    """Return layer, message and remedy on one line."""
    text = f"{finding.layer}: {finding.message}" if finding.layer else finding.message
    return visible(f"{text}; {finding.help}" if finding.help else text)


def json_text(document: object) -> str:
    """Return a JSON document with escapes for all that is not ASCII or would steer its reader."""
    return escaped(json.dumps(document, indent=2))


def fingerprint(text: str) -> str:
    """Return a text that is the same for the same text, and else another."""
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def relative(file: str | None, root: Path) -> str:
    """Return a path relative to a folder, or absolute if it is not in it; with slashes."""
    path = Path(os.path.abspath(file or "-"))
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
