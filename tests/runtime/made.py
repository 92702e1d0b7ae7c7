"""Small models for the tests of the runtime: texts of IR, and models built and serialised by openvino."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset15 as op

POOL = {
    "kernel": "2,2",
    "strides": "2,2",
    "pads_begin": "0,0",
    "pads_end": "0,0",
    "exclude-pad": "false",
    "rounding_type": "floor",
    "auto_pad": "explicit",
}


def one_layer(kind: str, version: str, raw: Mapping[str, str], shape: str = "1,3,8,8", precision: str = "f32") -> bytes:
    """Parameter `x`, one layer called `layer`, and a Result."""
    data = " ".join(f'{name}="{value}"' for name, value in raw.items())
    return (
        '<?xml version="1.0"?><net name="made" version="11"><layers>'
        f'<layer id="0" name="x" type="Parameter" version="opset1"><data shape="{shape}" element_type="{precision}"/>'
        '<output><port id="0" precision="FP32"/></output></layer>'
        f'<layer id="1" name="layer" type="{kind}" version="{version}"><data {data}/><input><port id="0"/></input>'
        '<output><port id="1" precision="FP32"/></output></layer>'
        '<layer id="2" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer></layers><edges>'
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>'
    ).encode()


def parameter(shape: Sequence[object], kind: object = np.float32, name: str = "x") -> ov.Node:
    """A Parameter."""
    return op.parameter(ov.PartialShape(list(shape)), kind, name=name)


def save(
    folder: Path, outputs: Sequence[ov.Node | ov.Output], parameters: Sequence[ov.Node], sinks: Sequence[ov.Node] = ()
) -> Path:
    """The model as openvino writes it: the path of the `.xml`."""
    results = [op.result(output, name=f"result_{index}") for index, output in enumerate(outputs)]
    model = (
        ov.Model(results, list(sinks), list(parameters), "made")
        if sinks
        else ov.Model(results, list(parameters), "made")
    )
    path = folder / "made.xml"
    ov.serialize(model, path, path.with_suffix(".bin"))
    return path


def iterated(folder: Path, trips: ov.Node, data: ov.Node) -> Path:
    """A Loop called `loop` whose body adds the iteration number; its first output is the last value."""
    inner, number = parameter([-1, 3, 4], name="inner"), parameter([], np.int64, "number")
    added = op.add(inner, op.convert(number, "f32"))
    added.set_friendly_name("added")
    body = ov.Model([op.result(op.constant(np.array(True))), op.result(added)], [number, inner], "body")
    loop = op.loop(trips, op.constant(np.array(True)))
    loop.set_friendly_name("loop")
    loop.set_function(body)
    loop.set_special_body_ports([0, 0])
    loop.set_merged_input(inner, data.output(0), added.output(0))
    outputs = [loop.get_iter_value(added.output(0), -1), loop.get_concatenated_slices(added.output(0), 0, 1, 1, -1, 0)]
    return save(folder, outputs, [data])
