"""ONNX models: AveragePool translated exactly, everything else by OpenVINO's own frontend."""

from ir_tools.onnx.average_pool import average_pool
from ir_tools.onnx.extension import Translated, average_pool_extension

__all__ = ["Translated", "average_pool", "average_pool_extension"]
