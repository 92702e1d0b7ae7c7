"""What every fork has loaded; see `tests.forks`."""

from ir_tools.runtime import worker

worker.leave_out_converter()

import onnxruntime  # noqa: E402, F401  # late, as openvino is; forks use it
import openvino  # noqa: E402, F401  # late: the converter is left out first; forks use it

import ir_tools.comparison  # noqa: E402  # late: it imports openvino
import ir_tools.importers.onnx.extension  # noqa: E402, F401  # late: it imports openvino; forks use it
