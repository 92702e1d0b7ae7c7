"""The table of generators in the documentation."""

from pathlib import Path

from ir_tools.inputs import GENERATORS


def test_the_table_of_generators_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "inputs.md").read_text(encoding="utf-8")
    rows = [f"| `{kind.usage}` | {kind.help} |" for kind in GENERATORS.values()]
    assert "\n".join(rows) in text
