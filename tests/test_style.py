"""The project's own style: lint, format and, in the long checks, strict types; the settings are in pyproject.toml."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED_OFFSET = re.compile(r"\b(values|constant|strings)\([^()]*\.common\b")
"""A constant that is read at the offset of another one of the same text (`Layer.common`)."""
CHECKS = {
    "lint": ["ruff", "check", "--no-cache", "."],
    "format": ["ruff", "format", "--check", "--no-cache", "."],
    "types": ["mypy"],
}
LONG = {"types"}
"""Checks that take as long as a tenth of the tests."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.sweep] * (name in LONG)) for name in CHECKS])
def test_style(name: str) -> None:
    command = [sys.executable, "-m", *CHECKS[name]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_constants_are_read_at_their_own_offsets() -> None:
    sources = (ROOT / "ir_tools").rglob("*.py")
    assert [path.name for path in sources if SHARED_OFFSET.search(path.read_text(encoding="utf-8"))] == []
