"""AdaptiveAvgPool to AvgPool."""

from collections.abc import Sequence

from ir_tools.graph import Layer
from ir_tools.ops._adaptive import adaptive_to_avg_pool
from ir_tools.ops._define import Fact, Rewrite

__all__ = ["AdaptiveToAvgPool"]


class AdaptiveToAvgPool:
    """AdaptiveAvgPool-8 whose windows all have one size and distance becomes AvgPool of opset8.

    1. Input and output sizes are static, and a sliding window (with pads that do not count) has an equal plan.
    2. Anything else: left alone.
    """

    name = "adaptive-to-avg-pool"
    types = ("AdaptiveAvgPool",)

    def rewrite(self, layer: Layer, inputs: Sequence[Fact]) -> Rewrite | None:
        """One AvgPool in place of the layer."""
        return adaptive_to_avg_pool(inputs, 8)
