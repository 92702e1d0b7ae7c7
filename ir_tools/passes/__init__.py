"""The table of named passes."""

from ir_tools.passes._define import Pass
from ir_tools.passes.adaptive_to_avg_pool import AdaptiveToAvgPool
from ir_tools.passes.adaptive_to_reduce_mean import AdaptiveToReduceMean
from ir_tools.passes.avg_pool_to_adaptive import AvgPoolToAdaptive
from ir_tools.passes.reduce_mean_to_adaptive import ReduceMeanToAdaptive

__all__ = ["PASSES", "Pass"]

_ALL: tuple[Pass, ...] = (AdaptiveToAvgPool(), AdaptiveToReduceMean(), AvgPoolToAdaptive(), ReduceMeanToAdaptive())

PASSES = {step.name: step for step in _ALL}
"""By name."""
