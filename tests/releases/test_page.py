"""The page of the tables of releases."""

from pathlib import Path

from ir_tools.known_differences._releases_listing import listing

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_made_from_the_tables() -> None:
    """`python -m ir_tools.known_differences._releases_listing > docs/releases.md` makes it."""
    assert (ROOT / "docs" / "releases.md").read_text(encoding="utf-8") == listing()
