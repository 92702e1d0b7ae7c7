"""Models of many small layers in one file, to move and to run at once."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import openvino as ov

from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Model

Shape = Sequence[int]
PRECISIONS = {
    "f32": "FP32", "f16": "FP16", "bf16": "BF16", "f64": "FP64", "i8": "I8", "u8": "U8", "i32": "I32", "i64": "I64",
}  # fmt: skip


class Row(NamedTuple):
    """One layer between a Parameter and a Result. `shape`: -1 for any size. `size`: constants of further inputs."""

    type: str
    version: str
    attrs: Mapping[str, str]
    shape: Shape
    counts: Shape
    precision: str = "f32"
    sizes: Shape | None = None


def build(rows: Sequence[Row]) -> tuple[bytes, bytes]:
    """The `.xml` and `.bin`; inputs are called `x0`, `x1`, ..., layers `pool0`, ..., results `y0`, ...."""
    layers, edges, weights = [], [], b""
    for number, row in enumerate(rows):
        first = number * 4
        precision = PRECISIONS[row.precision]
        shape = ",".join(map(str, row.shape)).replace("-1", "?")
        layers.append(
            f'<layer id="{first}" name="x{number}" type="Parameter" version="opset1">'
            f'<data shape="{shape}" element_type="{row.precision}"/>'
            f"<output>{_port(0, row.shape, precision, f'x{number}')}</output></layer>"
        )
        inputs, out = _port(0, row.shape, precision), 1
        edges.append((first, 0, first + 1, 0))
        if row.sizes is not None:
            raw = np.array(row.sizes, np.int64).tobytes()
            layers.append(
                f'<layer id="{first + 3}" name="sizes{number}" type="Const" version="opset1">'
                f'<data element_type="i64" shape="{len(row.sizes)}" offset="{len(weights)}" size="{len(raw)}"/>'
                f"<output>{_port(0, [len(row.sizes)], 'I64')}</output></layer>"
            )
            weights += raw
            inputs, out = inputs + _port(1, [len(row.sizes)], "I64"), 2
            edges.append((first + 3, 0, first + 1, 1))
        attrs = "".join(f' {key}="{text}"' for key, text in row.attrs.items())
        extra = ""
        if row.type.endswith("MaxPool") and row.version != "opset1":
            extra = _port(out + 1, row.counts, "I64")
        layers.append(
            f'<layer id="{first + 1}" name="pool{number}" type="{row.type}" version="{row.version}"><data{attrs}/>'
            f"<input>{inputs}</input><output>{_port(out, row.counts, precision)}{extra}</output></layer>"
        )
        layers.append(
            f'<layer id="{first + 2}" name="y{number}" type="Result" version="opset1">'
            f"<input>{_port(0, row.counts, precision)}</input></layer>"
        )
        edges.append((first + 1, out, first + 2, 0))
    lines = [f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges]
    text = (
        '<?xml version="1.0"?>\n<net name="moves" version="11">\n<layers>\n' + "\n".join(layers)
        + "\n</layers>\n<edges>\n" + "\n".join(lines) + "\n</edges>\n</net>\n"
    )  # fmt: skip
    return text.encode(), weights


def _port(port_id: int, dims: Shape, precision: str, names: str = "") -> str:
    named = f' names="{names}"' if names else ""
    inner = "".join(f"<dim>{size}</dim>" for size in dims)
    return f'<port id="{port_id}" precision="{precision}"{named}>{inner}</port>'


def model_of(rows: Sequence[Row]) -> Model:
    """The rows as a model."""
    return read(*build(rows))


class Compiled:
    """A model on the CPU plugin, in this process, with f32 inside."""

    def __init__(self, model: Model) -> None:
        from io import BytesIO

        core = ov.Core()
        weights = BytesIO()
        model.weights.save(weights)
        text = render(model)
        tensor = ov.Tensor(np.frombuffer(weights.getvalue() or b"\0", np.uint8).copy())
        self.network = core.read_model(text, tensor)
        self.network.validate_nodes_and_infer_types()
        config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}
        self.compiled = core.compile_model(self.network, "CPU", config)
        self.request = self.compiled.create_infer_request()
        self.inputs = [parameter.get_friendly_name() for parameter in self.network.get_parameters()]
        self.results = [result.get_friendly_name() for result in self.network.get_results()]

    def __call__(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Outputs by the name of their Result."""
        for index, name in enumerate(self.inputs):
            array = arrays[name]
            tensor = ov.Tensor(array) if array.dtype.name != "bfloat16" else _bf16(array)
            self.request.set_input_tensor(index, tensor)
        self.request.infer()
        found = {}
        for index, name in enumerate(self.results):
            tensor = self.request.get_output_tensor(index)
            found[name] = np.array(tensor.data)
            if tensor.element_type == ov.Type.bf16:
                found[name] = found[name].view("bfloat16")
        return found


def _bf16(array: np.ndarray[Any, Any]) -> ov.Tensor:
    tensor = ov.Tensor(ov.Type.bf16, list(array.shape))
    tensor.data[:] = array.view(tensor.data.dtype)
    return tensor
