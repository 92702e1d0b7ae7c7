"""Read ONNX models as IR: AveragePool is translated exactly, OpenVINO's frontend converts everything else."""

from ir_tools.importers.onnx.average_pool import average_pool
from ir_tools.importers.onnx.extension import Translated, average_pool_extension
from ir_tools.importers.onnx.reading import Conversion, convert, read

__all__ = ["Conversion", "Translated", "average_pool", "average_pool_extension", "convert", "read"]
