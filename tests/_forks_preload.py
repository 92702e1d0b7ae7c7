"""What every fork has loaded; see `tests.forks`."""

from ir_tools.runtime import worker

worker.leave_out_converter()

# The imports below come late (E402): the converter is left out first. Forks have loaded what is not used here (F401).
import onnxruntime  # noqa: E402, F401
import openvino  # noqa: E402, F401

import ir_tools.comparison  # noqa: E402
import ir_tools.importers.onnx.extension  # noqa: E402, F401
