"""Inputs and constants of IR v2 to v7. Its outputs are those that no layer reads.

Source: measured on Inference Engine 2020.1.
"""

from ir_tools.ops.definition import Role
from ir_tools.ops.legacy.definition import legacy_type

__all__ = ["OPS"]

OPS = (
    legacy_type("Input", None, inputs=(), role=Role.PARAMETER),
    legacy_type("Const", None, inputs=(), role=Role.CONSTANT),
)
