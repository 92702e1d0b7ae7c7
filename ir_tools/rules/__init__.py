"""The code table: every rule, in the order of the codes. A module holds the rules of one kind."""

from ir_tools.rules import compatibility, operations, running, settings, shapes, storage, structure
from ir_tools.rules.define import Rule

__all__ = ["RULES", "Rule"]

RULES: tuple[Rule, ...] = tuple(
    entry
    for table in (storage, structure, operations, shapes, settings, compatibility, running)
    for entry in vars(table).values()
    if isinstance(entry, Rule)
)
"""By code."""
