"""The table of named passes."""

from ir_tools.passes._define import Pass

__all__ = ["PASSES", "Pass"]

PASSES: dict[str, Pass] = {}
"""By name."""
