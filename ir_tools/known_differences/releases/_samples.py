"""Layers and attributes of the models of several families."""

from ir_tools.known_differences._model import PLANE, Call, Fixed, Given, counted
from ir_tools.ops import Array

__all__ = ["INDEXED", "PLAIN", "READING_NOTHING", "WINDOWS", "attention", "quantized"]

PLAIN = {"causal": "false"}
INDEXED = {"kernel": "2,2", **PLANE}
WINDOWS = {"kernel": "1,1", "strides": "1,1", "pads_end": "0,0", "exclude-pad": "false"}

READING_NOTHING = ("2022.1 to 2026.1", "2026.4 to 2026.4")
"""The releases that read lists without elements and run models with dynamic shapes."""


def quantized(data: Array | Fixed | Given | Call, high: Fixed, *, levels: int = 256) -> Call:
    """Return data quantized to so many levels between limits and their opposites."""
    low = Fixed(-high.array)
    return Call("FakeQuantize-1", (data, low, high, low, high), {"levels": str(levels)})


def attention() -> Call:
    """Return an attention of two heads and four rows."""
    return Call("ScaledDotProductAttention-13", (counted(1, 2, 4, 8),) * 3, PLAIN)
