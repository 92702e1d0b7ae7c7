"""AvgPool to AdaptiveAvgPool."""

from collections.abc import Sequence

from ir_tools.errors import ShapeError
from ir_tools.graph import Layer
from ir_tools.ops import find_op
from ir_tools.ops._adaptive import avg_pool_to_adaptive
from ir_tools.ops._define import Fact, Rewrite

__all__ = ["AvgPoolToAdaptive"]


class AvgPoolToAdaptive:
    """AvgPool of any version on a static input becomes AdaptiveAvgPool-8.

    1. The plan equals that of the adaptive pooling with the same number of windows.
    2. Anything else, integers included (AdaptiveAvgPool has none): left alone.
    """

    name = "avg-pool-to-adaptive"
    types = ("AvgPool",)

    def rewrite(self, layer: Layer, inputs: Sequence[Fact]) -> Rewrite | None:
        """One AdaptiveAvgPool in place of the layer."""
        op = find_op(layer.type, layer.version)
        attrs = None if op is None else op.read(layer.raw, [])
        if op is None or attrs is None:
            return None
        try:
            op.outputs_of(attrs, inputs)
            return avg_pool_to_adaptive(attrs, inputs)
        except ShapeError:
            return None
