"""What every fork has loaded; see `tests.forks`."""

from ir_tools.runtime import worker

worker.leave_out_converter()

import onnxruntime  # noqa: E402, F401  # loaded for the forks, and only once the converter is left out
import openvino  # noqa: E402, F401

import ir_tools.comparison  # noqa: E402
import ir_tools.importers.onnx.extension  # noqa: E402, F401
