"""Check, migrate and prove OpenVINO IR models.

All public names are here; each loads its module on first use. Only functions that use the runtime need OpenVINO:
`compare`, `to_openvino`, `validate(..., runtime=True)` and the functions for ONNX.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ir_tools import ngraph, onnx
    from ir_tools.api import (
        compare,
        compare_onnx,
        compat,
        migrate,
        plan_inputs,
        propagate_shapes,
        read,
        run,
        runtimes,
        to_openvino,
        validate,
        write,
    )
    from ir_tools.builder import Builder
    from ir_tools.comparison import Comparison, LayerComparison, OutputComparison
    from ir_tools.comparison.onnx import OnnxComparison
    from ir_tools.compatibility import Compatibility, CompatibilityReport
    from ir_tools.diagnostics import Diagnostic, Severity
    from ir_tools.errors import (
        GraphError,
        IrToolsError,
        MigrationError,
        ReadError,
        RuntimeFailure,
        ShapeError,
        UnsupportedError,
        UsageError,
        WriteError,
    )
    from ir_tools.findings import Findings
    from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
    from ir_tools.infer import ShapeReport
    from ir_tools.inputs import InputPlan
    from ir_tools.rewrite.migration import Migration
    from ir_tools.rewrite.steps import MigrationStep, RefusedStep
    from ir_tools.runtime.environments import Runtime, Runtimes
    from ir_tools.session import Session
    from ir_tools.types import Dim

__version__ = "0.1.0"

__all__ = [
    "Builder",
    "Comparison",
    "Compatibility",
    "CompatibilityReport",
    "Diagnostic",
    "Dim",
    "Findings",
    "Graph",
    "GraphError",
    "InputPlan",
    "IrToolsError",
    "Layer",
    "LayerComparison",
    "LayerContent",
    "Migration",
    "MigrationError",
    "MigrationStep",
    "Model",
    "OnnxComparison",
    "OutputComparison",
    "Port",
    "ReadError",
    "RefusedStep",
    "Runtime",
    "RuntimeFailure",
    "Runtimes",
    "Session",
    "Severity",
    "ShapeError",
    "ShapeReport",
    "Source",
    "UnsupportedError",
    "UsageError",
    "WriteError",
    "compare",
    "compare_onnx",
    "compat",
    "migrate",
    "ngraph",
    "onnx",
    "plan_inputs",
    "propagate_shapes",
    "read",
    "run",
    "runtimes",
    "to_openvino",
    "validate",
    "write",
]

_HOMES = {
    "ir_tools.builder": ("Builder",),
    "ir_tools.comparison": ("Comparison", "LayerComparison", "OutputComparison"),
    "ir_tools.compatibility": ("Compatibility", "CompatibilityReport"),
    "ir_tools.diagnostics": ("Diagnostic", "Severity"),
    "ir_tools.errors": (
        "GraphError",
        "IrToolsError",
        "MigrationError",
        "ReadError",
        "RuntimeFailure",
        "ShapeError",
        "UnsupportedError",
        "UsageError",
        "WriteError",
    ),
    "ir_tools.findings": ("Findings",),
    "ir_tools.graph": ("Graph", "Layer", "LayerContent", "Model", "Port", "Source"),
    "ir_tools.infer": ("ShapeReport",),
    "ir_tools.inputs": ("InputPlan",),
    "ir_tools.rewrite.migration": ("Migration",),
    "ir_tools.rewrite.steps": ("MigrationStep", "RefusedStep"),
    "ir_tools.comparison.onnx": ("OnnxComparison",),
    "ir_tools.runtime.environments": ("Runtime", "Runtimes"),
    "ir_tools.session": ("Session",),
    "ir_tools.types": ("Dim",),
}
"""The modules of the classes; the functions are in `ir_tools.api`."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name from its module. Type checkers do not see this, which would let any name pass."""
        if name in {"ngraph", "onnx"}:
            return import_module(f"ir_tools.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'ir_tools' has no attribute '{name}'")
        home = next((home for home, names in _HOMES.items() if name in names), "ir_tools.api")
        return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted([*__all__, "__version__"])
