"""ONNX models of AveragePool nodes, and what the runtime makes of them through the extension."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import openvino as ov
import pytest

from ir_tools.onnx import Translated, average_pool_extension
from tests.importers.onnx.oracle import VERSIONS, Values, average_pool, is_valid, random_setting

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install ir_tools[onnx]")

CORE = ov.Core()
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
TARGETS = ("opset8", "opset8", "opset8", "opset1", "opset13", "opset14", "opset16")
OPSETS = {1: 6}
"""Files say the newest opset that still has the version; only 1 has another one than itself here."""

KINDS: Mapping[str, tuple[str, Any, float]] = {
    "f32": ("FLOAT", np.float32, 1e-4),
    "f64": ("DOUBLE", np.float64, 1e-4),
    "f16": ("FLOAT16", np.float16, 2e-3),
    "bf16": ("BFLOAT16", ml_dtypes.bfloat16, 1.6e-2),
}
"""ONNX's name, numpy's type, and the tolerance relative to the largest value."""


class Row(NamedTuple):
    """One AveragePool node; a dimension that is text is dynamic."""

    attributes: Mapping[str, Any]
    shape: Sequence[int | str]
    kind: str = "f32"


def model_of(rows: Sequence[Row], opset: int) -> Any:
    """Nodes `pool0`, `pool1`, ... between inputs `x0`, ... and outputs `y0`, ...."""
    helper = onnx.helper
    inputs, outputs, nodes = [], [], []
    for number, row in enumerate(rows):
        kind = getattr(onnx.TensorProto, KINDS[row.kind][0])
        inputs.append(helper.make_tensor_value_info(f"x{number}", kind, list(row.shape)))
        outputs.append(helper.make_tensor_value_info(f"y{number}", kind, None))
        names = {"inputs": [f"x{number}"], "outputs": [f"y{number}"], "name": f"pool{number}"}
        nodes.append(helper.make_node("AveragePool", **names, **row.attributes))
    graph = helper.make_graph(nodes, "pools", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def translated(model: Any, to: str = "opset8") -> tuple[ov.Model, list[Translated]]:
    """The model as the frontend reads it with the extension, and its report."""
    reported: list[Translated] = []
    core = ov.Core()
    core.add_extension(average_pool_extension(to, reported.append))
    return core.read_model(model.SerializeToString(), b""), reported


def compiled(model: ov.Model, threads: int = 1) -> Callable[[Mapping[str, Values]], dict[str, Values]]:
    """A function from inputs to outputs, both by tensor name."""
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    request = CORE.compile_model(model, "CPU", config).create_infer_request()

    def infer(inputs: Mapping[str, Values]) -> dict[str, Values]:
        for name, values in inputs.items():
            port = request.model_inputs[[port.any_name for port in request.model_inputs].index(name)]
            tensor = ov.Tensor(port.get_element_type(), ov.Shape(values.shape))
            tensor.data.view(values.dtype)[...] = values
            request.set_tensor(name, tensor)
        request.infer()
        return {port.any_name: _values(request.get_tensor(port)) for port in request.model_outputs}

    return infer


def _values(tensor: ov.Tensor) -> Values:
    bf16 = tensor.element_type == ov.Type.bf16
    values: Values = tensor.data.view(ml_dtypes.bfloat16) if bf16 else tensor.data
    return values.copy()


def differs(wanted: Values, got: Values, tolerance: float) -> bool:
    """Whether shapes differ or any value does, relative to the largest one wanted."""
    if wanted.shape != got.shape:
        return True
    largest = np.abs(wanted).max(initial=0.0)
    return not np.allclose(got.astype(np.float64), wanted, rtol=0, atol=tolerance * max(largest, 1e-3))


def deviations(seed: int, count: int, *, dynamic: bool = False, kind: str = "f32", batch: int = 40) -> list[str]:
    """Random settings of all versions, `batch` to a model, on the runtime and by the oracle: where they differ.

    bf16 in a multiple of 8 channels may end the process.
    """
    random, found = Random(seed), []
    for done in range(0, count, batch):
        version = 22 if kind == "bf16" else VERSIONS[done // batch % len(VERSIONS)]
        settings = [random_setting(random, version) for _ in range(min(batch, count - done))]
        if kind == "bf16":
            settings = [(attributes, [n, min(c, 7), *sizes]) for attributes, (n, c, *sizes) in settings]
        rows = [
            Row(attributes, _shape(random, sizes, n, dynamic), kind) for n, (attributes, sizes) in enumerate(settings)
        ]
        target = random.choice(TARGETS)
        model, _ = translated(model_of(rows, OPSETS.get(version, version)), target)
        infer = compiled(model, 2 if dynamic else 1)
        for _ in range(10 if dynamic else 1):
            inputs = {
                f"x{n}": _data(random, row, sizes)
                for n, (row, (_, sizes)) in enumerate(zip(rows, settings, strict=True))
            }
            outputs = infer(inputs)
            found += [
                f"AveragePool-{version} to {target}: {dict(row.attributes)} on {inputs[f'x{n}'].shape} of {row.shape}"
                for n, row in enumerate(rows)
                if differs(
                    average_pool(row.attributes, inputs[f"x{n}"].astype(np.float64)), outputs[f"y{n}"], KINDS[kind][2]
                )
            ]
    return found


def _shape(random: Random, sizes: Sequence[int], number: int, dynamic: bool) -> list[int | str]:
    if not dynamic:
        return list(sizes)
    return [random.choice((size, f"d{number}_{axis}")) for axis, size in enumerate(sizes)]


def _data(random: Random, row: Row, sizes: Sequence[int]) -> Values:
    """Values for the node; sizes of dynamic dimensions at random, such that the attributes are valid for them."""
    chosen = list(sizes)
    for _ in range(40):
        limits = [3, 5, *[20 if len(sizes) < 5 else 10] * (len(sizes) - 2)]
        pairs = zip(row.shape, limits, strict=True)
        tried = [size if isinstance(size, int) else random.randint(1, limit) for size, limit in pairs]
        if is_valid(row.attributes, tried[2:]):
            chosen = tried
            break
    values: Values = np.random.default_rng(random.getrandbits(32)).standard_normal(chosen).astype(KINDS[row.kind][1])
    return values


def light(name: str) -> Path:
    path = LIGHT / f"light_{name}.onnx"
    if not path.is_file():
        pytest.skip(f"this version of onnx comes without {path.name}")
    return path


def with_random_weights(path: Path, seed: int) -> Any:
    """The constant weights replaced, so that outputs differ from each other; a last Softmax is left out."""
    model, generator = onnx.load(str(path)), np.random.default_rng(seed)
    graph = model.graph
    shapes = {entry.name: onnx.numpy_helper.to_array(entry) for entry in graph.initializer if entry.data_type == 7}
    for node in [node for node in graph.node if node.op_type == "ConstantOfShape"]:
        sizes = [int(size) for size in shapes[node.input[0]]]
        if len(sizes) > 1:
            values = generator.standard_normal(sizes) * np.sqrt(2 / np.prod(sizes[1:]))
        else:
            values = generator.uniform(0.5, 1.5, sizes)
        graph.initializer.append(onnx.numpy_helper.from_array(values.astype(np.float32), node.output[0]))
        graph.node.remove(node)
    if graph.node[-1].op_type == "Softmax":
        graph.output[0].name = graph.node[-1].input[0]
        graph.node.remove(graph.node[-1])
    return model
