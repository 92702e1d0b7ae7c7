"""Inputs and constants of IR v2 to v7. Its outputs are those that no layer reads.

Source: measured on Inference Engine 2020.1.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from ir_tools.ops.definition import Fact, Role
from ir_tools.ops.fields import Attrs
from ir_tools.ops.legacy.definition import legacy_type, sizes_of

__all__ = ["OPS"]


def _values(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    return {"custom": {math.prod(sizes_of(outputs))}}


OPS = (
    legacy_type("Input", None, inputs=(), role=Role.PARAMETER),
    legacy_type("Const", None, inputs=(), role=Role.CONSTANT, blobs=_values),
)
