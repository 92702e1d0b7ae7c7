"""Models written by hand as Model Optimizer wrote them: IR v10, lists without spaces, input ports without type."""

from typing import Any

import numpy as np

__all__ = ["HANDMADE"]


def _port(number: int, dims: str, precision: str = "") -> str:
    kind = f' precision="{precision}"' if precision else ""
    inside = "".join(f"<dim>{dim}</dim>" for dim in dims.split(",") if dim)
    return f'<port id="{number}"{kind}>{inside}</port>'


def _layer(
    number: int,
    name: str,
    kind: str,
    data: str,
    inputs: list[str],
    outputs: list[str],
    rest: str = "",
    opset: str = "opset1",
    out_type: str = "FP32",
) -> str:
    into = "".join(_port(index, dims) for index, dims in enumerate(inputs))
    out = "".join(_port(len(inputs) + index, dims, out_type) for index, dims in enumerate(outputs))
    return (
        f'<layer id="{number}" name="{name}" type="{kind}" version="{opset}">'
        + (f"<data {data}/>" if data else "")
        + (f"<input>{into}</input>" if into else "")
        + (f"<output>{out}</output>" if out else "")
        + rest
        + "</layer>"
    )


def _edges(*rows: str) -> str:
    parts = [row.replace(">", ":").split(":") for row in rows]
    return "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in parts)


class _Bin:
    """Constants one behind the other."""

    def __init__(self) -> None:
        self.data = b""

    def add(self, values: object, kind: type) -> tuple[int, int]:
        raw = np.asarray(values, kind).tobytes()
        start = len(self.data)
        self.data += raw
        return start, len(raw)


def _const(store: _Bin, number: int, name: str, values: object, kind: type = np.float32) -> str:
    array: np.ndarray[Any, Any] = np.asarray(values, kind)
    offset, size = store.add(values, kind)
    short = {"float32": "f32", "int64": "i64", "int32": "i32"}[array.dtype.name]
    shape = ",".join(map(str, array.shape))
    data = f'element_type="{short}" offset="{offset}" shape="{shape}" size="{size}"'
    precision = {"f32": "FP32", "i64": "I64", "i32": "I32"}[short]
    return _layer(number, name, "Const", data, [], [shape], out_type=precision)


def _classifier() -> tuple[str, bytes]:
    """Two branches of convolutions, pooling, a mean over the picture, softmax."""
    store, rng = _Bin(), np.random.default_rng(7)
    pool = 'auto_pad="explicit" kernel="3,3" pads_begin="0,0" pads_end="0,0" rounding_type="ceil" strides="2,2"'
    average = (
        'auto_pad="same_upper" exclude-pad="true" kernel="3,3" pads_begin="0,0" pads_end="0,0" rounding_type="ceil" '
        'strides="1,1"'
    )
    conv = 'auto_pad="same_upper" dilations="1,1" pads_begin="1,1" pads_end="1,1" strides="{0},{0}"'
    layers = [
        _layer(0, "data", "Parameter", 'element_type="f32" shape="1,3,13,13"', [], ["1,3,13,13"]),
        _const(store, 1, "conv1/weights", rng.normal(size=(4, 3, 3, 3)) * 0.3),
        _layer(2, "conv1", "Convolution", conv.format(2), ["1,3,13,13", "4,3,3,3"], ["1,4,7,7"]),
        _const(store, 3, "conv1/bias", rng.normal(size=(1, 4, 1, 1))),
        _layer(4, "conv1/add", "Add", "", ["1,4,7,7", "1,4,1,1"], ["1,4,7,7"]),
        _layer(5, "relu1", "ReLU", "", ["1,4,7,7"], ["1,4,7,7"]),
        _layer(6, "pool1", "MaxPool", pool, ["1,4,7,7"], ["1,4,3,3"]),
        _const(store, 7, "left/weights", rng.normal(size=(2, 4, 1, 1))),
        _layer(
            8,
            "left",
            "Convolution",
            conv.format(1).replace('1,1" pads_end="1,1', '0,0" pads_end="0,0'),
            ["1,4,3,3", "2,4,1,1"],
            ["1,2,3,3"],
        ),
        _layer(9, "right", "AvgPool", average, ["1,4,3,3"], ["1,4,3,3"]),
        _layer(10, "joined", "Concat", 'axis="1"', ["1,2,3,3", "1,4,3,3"], ["1,6,3,3"]),
        _const(store, 11, "axes", [2, 3], np.int64),
        _layer(12, "mean", "ReduceMean", 'keep_dims="true"', ["1,6,3,3", "2"], ["1,6,1,1"]),
        _const(store, 13, "flat", [0, -1], np.int64),
        _layer(14, "reshape", "Reshape", 'special_zero="true"', ["1,6,1,1", "2"], ["1,6"]),
        _layer(15, "prob", "SoftMax", 'axis="1"', ["1,6"], ["1,6"]),
        _layer(16, "prob/sink_port_0", "Result", "", ["1,6"], []),
    ]
    edges = _edges(
        "0:0>2:0",
        "1:0>2:1",
        "2:2>4:0",
        "3:0>4:1",
        "4:2>5:0",
        "5:1>6:0",
        "6:1>8:0",
        "7:0>8:1",
        "6:1>9:0",
        "8:2>10:0",
        "9:1>10:1",
        "10:2>12:0",
        "11:0>12:1",
        "12:2>14:0",
        "13:0>14:1",
        "14:2>15:0",
        "15:1>16:0",
    )
    meta = '<meta_data><MO_version value="2021.4.2"/><cli_parameters><batch value="1"/></cli_parameters></meta_data>'
    return (
        f'<net name="classifier" version="10"><layers>{"".join(layers)}</layers><edges>{edges}</edges>{meta}</net>',
        store.data,
    )


def _recurrent() -> tuple[str, bytes]:
    """A TensorIterator as Model Optimizer wrote it, backwards over time, and a state."""
    store, rng = _Bin(), np.random.default_rng(11)
    rows = (
        "<port_map>"
        '<input axis="1" external_port_id="0" internal_layer_id="0" start="-1" end="0" stride="-1" part_size="1"/>'
        '<input external_port_id="1" internal_layer_id="3"/>'
        '<output axis="1" external_port_id="2" internal_layer_id="8" start="-1" end="0" stride="-1" part_size="1"/>'
        '<output external_port_id="3" internal_layer_id="9"/></port_map>'
        '<back_edges><edge from-layer="9" to-layer="3"/></back_edges>'
    )
    cell = 'activations="tanh" clip="0.0" hidden_size="3"'
    inner = [
        _layer(0, "slice", "Parameter", 'element_type="f32" shape="1,1,2"', [], ["1,1,2"]),
        _const(store, 1, "axis", [1], np.int64),
        _layer(2, "thin", "Squeeze", "", ["1,1,2", "1"], ["1,2"]),
        _layer(3, "state", "Parameter", 'element_type="f32" shape="1,3"', [], ["1,3"]),
        _const(store, 4, "w", rng.normal(size=(3, 2))),
        _const(store, 5, "r", rng.normal(size=(3, 3))),
        _const(store, 10, "b", rng.normal(size=(3,))),
        _layer(6, "cell", "RNNCell", cell, ["1,2", "1,3", "3,2", "3,3", "3"], ["1,3"]),
        _layer(7, "wide", "Unsqueeze", "", ["1,3", "1"], ["1,1,3"]),
        _layer(8, "wide/sink", "Result", "", ["1,1,3"], []),
        _layer(9, "cell/sink", "Result", "", ["1,3"], []),
    ]
    wires = _edges(
        "0:0>2:0",
        "1:0>2:1",
        "2:2>6:0",
        "3:0>6:1",
        "4:0>6:2",
        "5:0>6:3",
        "10:0>6:4",
        "6:5>7:0",
        "1:0>7:1",
        "7:2>8:0",
        "6:5>9:0",
    )
    body = f"<body><layers>{''.join(inner)}</layers><edges>{wires}</edges></body>"
    layers = [
        _layer(0, "x", "Parameter", 'element_type="f32" shape="1,4,2"', [], ["1,4,2"]),
        _const(store, 1, "start", np.zeros((1, 3))),
        _layer(2, "iterate", "TensorIterator", "", ["1,4,2", "1,3"], ["1,4,3", "1,3"], rows + body),
        _layer(3, "all", "Tanh", "", ["1,4,3"], ["1,4,3"]),
        _layer(4, "all/sink", "Result", "", ["1,4,3"], []),
        _layer(5, "last/sink", "Result", "", ["1,3"], []),
    ]
    edges = _edges("0:0>2:0", "1:0>2:1", "2:2>3:0", "3:1>4:0", "2:3>5:0")
    return (
        f'<net name="recurrent" version="10"><layers>{"".join(layers)}</layers><edges>{edges}</edges></net>',
        store.data,
    )


HANDMADE = {"classifier": _classifier(), "recurrent": _recurrent()}
