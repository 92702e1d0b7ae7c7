"""What can be known of every tensor before anything runs: shape propagation, and what in a model contradicts it."""

from ir_tools.infer._propagate import Ask, Mismatch, Origin, ShapeReport, propagate_shapes
from ir_tools.infer._signatures import LayerSignature, LayerSignatures
from ir_tools.infer._survey import Survey
from ir_tools.infer._trials import Refusal, ShapeTrials, Trial
from ir_tools.infer._troubles import Trouble

__all__ = [
    "Ask",
    "LayerSignature",
    "LayerSignatures",
    "Mismatch",
    "Origin",
    "Refusal",
    "ShapeReport",
    "ShapeTrials",
    "Survey",
    "Trial",
    "Trouble",
    "propagate_shapes",
]
