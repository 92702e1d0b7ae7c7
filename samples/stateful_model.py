"""A model with a variable, step by step: its states are kept, read, set and reset, on both engines alike."""

import numpy as np
import openvino
from openvino import opset13
from openvino.op.util import Variable, VariableInfo

import ir_tools
from ir_tools.execute import Engine


def main() -> None:
    model = ir_tools.read(build())
    engines: tuple[Engine, ...] = ("reference", "runtime")
    for engine in engines:
        with ir_tools.Session(model, engine=engine) as session:
            print(f"{engine}: running means {[mean_with(session, value) for value in (1, 2, 6)]}")
            print(f"{engine}: sum and number of the values {session.states['total'].tolist()}")
            session.states["total"] = np.array([100, 9], np.float32)
            print(f"{engine}: after 9 values with a sum of 100 and one more of 0: {mean_with(session, 0)}")
            session.states.clear()
            print(f"{engine}: from the start again: {mean_with(session, 4)}")


def mean_with(session: ir_tools.Session, value: float) -> float:
    return float(session.run({"x": np.array([value], np.float32)})["mean"][0])


def build() -> openvino.Model:
    """Build a model of the mean of all values so far: the variable holds their sum and their number."""
    info = VariableInfo()
    info.variable_id, info.data_shape, info.data_type = "total", openvino.PartialShape([2]), openvino.Type.f32
    total = Variable(info)
    x = opset13.parameter([1], np.float32, name="x")
    before = opset13.read_value(opset13.constant(np.zeros(2, np.float32)), total)
    after = opset13.add(before, opset13.concat([x, opset13.constant(np.ones(1, np.float32))], 0))
    parts = opset13.split(after, 0, 2)
    mean = opset13.divide(parts.output(0), parts.output(1))
    mean.output(0).set_names({"mean"})
    return openvino.Model([opset13.result(mean)], [opset13.assign(after, total)], [x], "running_mean")


if __name__ == "__main__":
    main()
