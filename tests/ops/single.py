"""Models of one layer as IR text, and what the installed runtime makes of them: the oracle of the family tests."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np
import openvino as ov

from ir_tools.ops import Array
from ir_tools.types import ELEMENT_TYPES, Shape, element_type, format_shape, parse_shape

CORE = ov.Core()
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}

Slot = tuple[str, str] | Array
"""An input: element type and shape text of a Parameter, or an array for a constant."""


def layer_text(number: int, name: str, type: str, version: str, raw: Mapping[str, str], ports: str) -> str:
    data = " ".join(f"{key}={quoteattr(value)}" for key, value in raw.items())
    return f'<layer id="{number}" name="{name}" type="{type}" version="{version}"><data {data}/>{ports}</layer>'


def port_text(number: int, kind: str) -> str:
    return f'<port id="{number}" precision="{ELEMENT_TYPES[kind].precision}"/>'


def single(type: str, version: int, raw: Mapping[str, str], slots: Sequence[Slot]) -> ov.Model:
    """A model of one layer; RuntimeError where the runtime rejects it."""
    return CORE.read_model(*single_text(type, version, raw, slots))


def single_text(
    type: str, version: int, raw: Mapping[str, str], slots: Sequence[Slot], outputs: int = 1
) -> tuple[bytes, bytes]:
    """The text and the weights of a model of one layer called `op`, with a Result for each output."""
    layers, edges, blob = [], [], b""
    ports = ""
    for index, slot in enumerate(slots):
        if isinstance(slot, tuple):
            kind, shape = slot
            source = {"element_type": kind, "shape": shape}
            maker = "Parameter"
        else:
            kind = next(k.name for k in ELEMENT_TYPES.values() if k.dtype == slot.dtype)
            source = {
                "element_type": kind,
                "shape": ",".join(map(str, slot.shape)),
                "offset": str(len(blob)),
                "size": str(slot.nbytes),
            }
            blob += slot.tobytes()
            maker = "Const"
        port = f"<output>{port_text(0, kind)}</output>"
        layers.append(layer_text(index, f"in{index}", maker, "opset1", source, port))
        ports += port_text(index, kind)
        edges.append(f'<edge from-layer="{index}" from-port="0" to-layer="{len(slots)}" to-port="{index}"/>')
    own = len(slots)
    made = "".join(port_text(own + index, "f32") for index in range(outputs))
    layers.append(layer_text(own, "op", type, f"opset{version}", raw, f"<input>{ports}</input><output>{made}</output>"))
    for index in range(outputs):
        reader = own + 1 + index
        name = "out" if index == 0 else f"out{index}"
        layers.append(layer_text(reader, name, "Result", "opset1", {}, f"<input>{port_text(0, 'f32')}</input>"))
        edges.append(f'<edge from-layer="{own}" from-port="{own + index}" to-layer="{reader}" to-port="0"/>')
    text = f'<net name="m" version="11"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges></net>'
    return text.encode(), blob


def output_of(model: ov.Model) -> tuple[str, Shape]:
    """Element type and partial shape of the only output."""
    out = model.outputs[0]
    return out.get_element_type().get_type_name(), parse_shape(str(out.get_partial_shape()))


def infer(model: ov.Model, arrays: Sequence[Array]) -> Array:
    """One inference on the CPU, in f32; RuntimeError where it cannot be compiled."""
    request = CORE.compile_model(model, "CPU", CONFIG).create_infer_request()
    for index, (node, array) in enumerate(zip(model.inputs, arrays, strict=True)):
        tensor = ov.Tensor(node.get_element_type(), ov.Shape(array.shape))
        if array.size:
            np.copyto(tensor.data.view(array.dtype).reshape(array.shape), array)
        request.set_input_tensor(index, tensor)
    request.infer()
    out = request.get_output_tensor(0)
    dtype = element_type(out.get_element_type().get_type_name()).dtype
    assert dtype is not None
    values: Array = out.data.view(dtype).copy()
    return values


def text_of(shape: Shape) -> str:
    """A shape as the attribute of a Parameter writes it."""
    return "" if shape == () else format_shape(shape)
