"""The code table: every rule, in the order of the codes."""

from ir_tools.rules import duplicate_layer_id
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile, Place

__all__ = ["RULES", "Finding", "IrFile", "Place", "Rule"]

RULES: tuple[Rule, ...] = (duplicate_layer_id.RULE,)
"""By code. A rule is one module of this folder, called like the rule."""
