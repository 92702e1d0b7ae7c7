"""Patterns of paths, against `git check-ignore`."""

import subprocess
from pathlib import Path

import pytest

from ir_tools.cli.patterns import Pattern
from ir_tools.errors import UsageError

PATHS = [
    "a.xml",
    "old/a.xml",
    "old/deep/b.xml",
    "deep/old/c.xml",
    "x[1].xml",
    "old.xml",
    "a-b/c d.xml",
    "models/v1/a.int8.xml",
]
GLOBS = [
    "*.xml",
    "old",
    "old/",
    "old/*",
    "old/**",
    "**/old",
    "**/old/*.xml",
    "old/**/b.xml",
    "models/*/a.*.xml",
    "?.xml",
    "[ab].xml",
    "[!ab].xml",
    "x[[]1].xml",
    "*/c d.xml",
    "deep",
    "*",
    "/old",
    "/a.xml",
    "/deep/old/*.xml",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("[patterns]*")
    subprocess.run(["git", "init", "-q", folder], check=True)
    for name in PATHS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


def ignored(folder: Path, glob: str) -> set[str]:
    """The files that git leaves out with this pattern in its `.gitignore`."""
    (folder / ".gitignore").write_text(f"{glob}\n")
    command = ["git", "-C", str(folder), "check-ignore", "--no-index", "--stdin", "-z"]
    found = subprocess.run(command, input="\0".join(PATHS), capture_output=True, text=True, check=False)
    return set(filter(None, found.stdout.split("\0")))


@pytest.mark.parametrize("glob", GLOBS)
def test_patterns_are_those_of_git(glob: str, folder: Path) -> None:
    pattern = Pattern(glob, folder)
    assert {name for name in PATHS if pattern.covers(folder / name)} == ignored(folder, glob)


def test_nothing_above_the_root_counts(tmp_path: Path) -> None:
    root = tmp_path / "old" / "project"
    assert not Pattern("old", root).covers(root / "a.xml")
    assert Pattern("old", root).covers(root / "old" / "a.xml")


@pytest.mark.parametrize("text", ["", "/", "!old"])
def test_a_pattern_that_matches_nothing_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a pattern"):
        Pattern(text, tmp_path)
