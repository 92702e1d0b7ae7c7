"""Check, move and prove OpenVINO IR models.

The names here are all that scripts need; each loads its module on first use, and none but the ones that ask the
runtime ever load openvino.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ir_tools import onnx
    from ir_tools.api import compare, compare_onnx, migrate, propagate_shapes, read, run, to_openvino, validate, write
    from ir_tools.comparison import Comparison
    from ir_tools.diagnostics import Diagnostic, Severity
    from ir_tools.errors import IrToolsError, ReadError
    from ir_tools.graph import Graph, Layer, Model, Port
    from ir_tools.infer import ShapeReport
    from ir_tools.migration import Migration
    from ir_tools.types import Dim

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Diagnostic",
    "Dim",
    "Graph",
    "IrToolsError",
    "Layer",
    "Migration",
    "Model",
    "Port",
    "ReadError",
    "Severity",
    "ShapeReport",
    "compare",
    "compare_onnx",
    "migrate",
    "onnx",
    "propagate_shapes",
    "read",
    "run",
    "to_openvino",
    "validate",
    "write",
]

_HOMES = {
    "ir_tools.api": (
        "compare",
        "compare_onnx",
        "migrate",
        "propagate_shapes",
        "read",
        "run",
        "to_openvino",
        "validate",
        "write",
    ),
    "ir_tools.comparison": ("Comparison",),
    "ir_tools.diagnostics": ("Diagnostic", "Severity"),
    "ir_tools.errors": ("IrToolsError", "ReadError"),
    "ir_tools.graph": ("Graph", "Layer", "Model", "Port"),
    "ir_tools.infer": ("ShapeReport",),
    "ir_tools.migration": ("Migration",),
    "ir_tools.types": ("Dim",),
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name == "onnx":
        return import_module("ir_tools.onnx")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'ir_tools' has no attribute '{name}'")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted([*globals(), *__all__])
