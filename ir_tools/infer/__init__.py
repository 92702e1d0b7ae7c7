"""Compute the facts of every tensor without running the model, and find what in the model contradicts them."""

from ir_tools.infer._answers import SURPRISES
from ir_tools.infer._consistency import ConsistencyCheck, LayerKind
from ir_tools.infer._problems import Problem
from ir_tools.infer._propagate import Ask, Mismatch, Origin, Propagation, ShapeReport, propagate_shapes
from ir_tools.infer._signatures import LayerSignature, LayerSignatures
from ir_tools.infer._trials import Refusal, ShapeTrials, Trial
from ir_tools.ops.interning import AnswerTable

__all__ = [
    "SURPRISES",
    "AnswerTable",
    "Ask",
    "ConsistencyCheck",
    "LayerKind",
    "LayerSignature",
    "LayerSignatures",
    "Mismatch",
    "Origin",
    "Problem",
    "Propagation",
    "Refusal",
    "ShapeReport",
    "ShapeTrials",
    "Trial",
    "propagate_shapes",
]
