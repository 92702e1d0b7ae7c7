"""ReduceMean to AdaptiveAvgPool."""

from collections.abc import Sequence

from ir_tools.graph import Layer
from ir_tools.ops._adaptive import reduce_mean_to_adaptive
from ir_tools.ops._define import Fact, Flag, Rewrite

__all__ = ["ReduceMeanToAdaptive"]

KEEP_DIMS = Flag()


class ReduceMeanToAdaptive:
    """ReduceMean over spatial axes of `[N, C, spatial...]` becomes AdaptiveAvgPool-8 to one value along them.

    1. The axes are constant (negative ones count from the end); other spatial axes are static and keep their size.
    2. Without `keep_dims` a Squeeze follows.
    3. Anything else, integers included: left alone.
    """

    name = "reduce-mean-to-adaptive"
    types = ("ReduceMean",)

    def rewrite(self, layer: Layer, inputs: Sequence[Fact]) -> Rewrite | None:
        """AdaptiveAvgPool, perhaps with Squeeze, in place of the layer."""
        if len(inputs) != 2:
            return None
        return reduce_mean_to_adaptive(KEEP_DIMS.parse(layer.raw.get("keep_dims") or "false"), inputs)
