"""AdaptiveAvgPool to ReduceMean."""

from collections.abc import Sequence

from ir_tools.graph import Layer
from ir_tools.ops._adaptive import adaptive_to_reduce_mean
from ir_tools.ops._define import Fact, Rewrite

__all__ = ["AdaptiveToReduceMean"]


class AdaptiveToReduceMean:
    """AdaptiveAvgPool-8 to one value along some axes becomes ReduceMean over them.

    1. The output size is a constant, 1 on some axes and the input's own size on all others: the plans are equal,
       whatever size the reduced axes have.
    2. Anything else: left alone.
    """

    name = "adaptive-to-reduce-mean"
    types = ("AdaptiveAvgPool",)

    def rewrite(self, layer: Layer, inputs: Sequence[Fact]) -> Rewrite | None:
        """One ReduceMean, with `keep_dims`, in place of the layer."""
        return adaptive_to_reduce_mean(inputs)
