"""What every fork has loaded; see `tests.forks`."""

from ir_tools.runtime import worker

worker.leave_out_converter()

import onnxruntime  # noqa: E402, F401  # late, as openvino is; forks use it
import openvino  # noqa: E402  # late: the converter is left out first

import ir_tools.comparison  # noqa: E402  # late: it imports openvino
import ir_tools.importers.onnx.extension  # noqa: E402, F401  # late: it imports openvino; forks use it

CORE = openvino.Core()
CORE.read_model(b'<net version="11"><layers/><edges/></net>', b"")
CORE.get_property("CPU", "FULL_DEVICE_NAME")
"""Reader and plugin are loaded, which is a third of what a fork takes to compile a first small model.

No thread is started, as forks would not have it: a model must not be compiled here.
"""
