"""Models of many small layers in one file, to move and to run at once."""

import random
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import openvino as ov

from ir_tools.errors import ShapeError
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.ops._windows import AutoPad, Pooling, Rounding, plan
from ir_tools.rewrite.migration import migrate

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


# --- random average poolings ------------------------------------------------------------------------------------

DTYPES = {
    "f32": "float32", "f16": "float16", "f64": "float64", "i8": "int8", "u8": "uint8", "i32": "int32", "i64": "int64",
}  # fmt: skip
TOLERANCE = {"f32": 1e-5, "f64": 1e-5, "f16": 2e-3, "bf16": 1.6e-2}
"""Of the largest magnitude; integers are equal."""


class Case(NamedTuple):
    """A layer, its settings, and one valid input shape."""

    row: Row
    pooling: Pooling
    shape: tuple[int, ...]


def attributes(version: int, pooling: Pooling) -> dict[str, str]:
    """The attributes of AvgPool with these settings."""
    lists = {"kernel": pooling.kernel, "strides": pooling.strides}
    lists |= {"pads_begin": pooling.pads_begin, "pads_end": pooling.pads_end}
    if version == 16:
        lists["dilations"] = pooling.dilations
    raw = {key: ",".join(map(str, values)) for key, values in lists.items()}
    raw["exclude-pad"] = str(pooling.exclude_pad).lower()
    return raw | {"rounding_type": pooling.rounding, "auto_pad": pooling.auto_pad}


def random_pooling(rng: random.Random, rank: int, version: int) -> Pooling:
    """Settings that the runtime takes."""
    kernel = tuple(rng.randint(1, 4) for _ in range(rank))
    dilations = tuple(rng.choice([1, 1, 2, 3]) if version == 16 else 1 for _ in range(rank))
    exclude = rng.random() < 0.5
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]

    def pads() -> tuple[int, ...]:
        return tuple(rng.randint(0, size - 1 if exclude else size + 1) if rng.random() < 0.6 else 0 for size in reach)

    rounding: tuple[Rounding, ...] = ("floor", "ceil", "ceil_torch", "ceil_torch") if version > 1 else ("floor", "ceil")
    auto: tuple[AutoPad, ...] = ("explicit", "explicit", "explicit", "same_upper", "same_lower", "valid")
    return Pooling(
        kernel=kernel,
        strides=tuple(rng.randint(1, 4) for _ in range(rank)),
        pads_begin=pads(),
        pads_end=pads(),
        dilations=dilations,
        rounding=rng.choice(rounding),
        auto_pad=rng.choice(auto),
        exclude_pad=exclude,
    )


def random_case(rng: random.Random, *, dynamic: bool = False) -> Case:
    """A pooling of any version, rank and element type.

    The runtime does not compile i32 and i64 of one channel; bf16 in a multiple of 8 channels may end the process.
    """
    while True:
        rank, version = rng.randint(1, 3), rng.choice([1, 14, 14, 16, 16, 16])
        pooling = random_pooling(rng, rank, version)
        precision = rng.choice(["f32"] * 4 + list(PRECISIONS))
        channels = rng.choice([2, 3, 5, 16] if precision in {"i32", "i64"} else [1, 2, 3, 5, 16])
        channels = min(channels, 7) if precision == "bf16" else channels
        shape = (rng.randint(1, 2), channels, *(rng.randint(1, 13 if rank < 3 else 9) for _ in range(rank)))
        try:
            counts = plan(pooling, shape[2:]).counts
        except ShapeError:
            continue
        known = [-1 if dynamic and rng.random() < 0.6 else size for size in shape]
        if dynamic and -1 not in known[2:]:
            continue
        result = [-1 if size < 0 else one for size, one in zip(known, (*shape[:2], *counts), strict=True)]
        return Case(
            Row("AvgPool", f"opset{version}", attributes(version, pooling), known, result, precision), pooling, shape
        )


def random_data(rng: np.random.Generator, shape: Shape, precision: str) -> np.ndarray[Any, Any]:
    """Numbers of an element type that its sums can hold."""
    if precision == "bf16":
        return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
    dtype = np.dtype(DTYPES[precision])
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -1000), min(info.max, 1000) + 1, shape).astype(dtype)


def difference(case: Case, shape: Shape, before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> str | None:
    """How two results of a layer differ where its windows are defined, or None."""
    if before.shape != after.shape:
        return f"{before.shape} became {after.shape}: {case}"
    defined = ~plan(case.pooling, shape[2:]).undefined()
    one, two = before[..., defined].astype(np.float64), after[..., defined].astype(np.float64)
    if not one.size:
        return None
    apart = float(np.abs(one - two).max())
    allowed = TOLERANCE.get(case.row.precision, 0) * max(1.0, float(np.abs(one).max()))
    return None if apart <= allowed else f"{apart} apart: {case} on {shape}"


BATCH = 60
"""How many layers one model has."""


def migrated_alike(seed: int, number: int, *, dynamic: bool = False) -> list[str]:
    """Move `number` random layers to random opsets, run both models, and say what went wrong.

    Dynamic ones run on ten sizes each; the runtime bounds some dynamic outputs wrongly and then fails on sizes outside
    its own bounds, whatever the file says: such sizes are left out.
    """
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    problems: list[str] = []
    for _ in range(-(-number // BATCH)):
        target = f"opset{rng.choice([1, 2, 4, 5, 7, *[8] * 4, 11, 12, 13, 14, 15, 16, 17])}"
        cases = [random_case(rng, dynamic=dynamic) for _ in range(BATCH)]
        model = model_of([case.row for case in cases])
        migrated = migrate(model, target)
        problems += [f"{target}: {refused}" for refused in migrated.refused]
        problems += [f"{target}, again: {step}" for step in migrate(migrated.model, target).steps]
        before, after = Compiled(model), Compiled(migrated.model)
        for _ in range(10 if dynamic else 1):
            shapes = [_some_shape(rng, before, index, case) for index, case in enumerate(cases)]
            inputs = {
                f"x{index}": random_data(numbers, shape, case.row.precision)
                for index, (case, shape) in enumerate(zip(cases, shapes, strict=True))
            }
            old, new = before(inputs), after(inputs)
            for index, (case, shape) in enumerate(zip(cases, shapes, strict=True)):
                problem = difference(case, shape, old[f"y{index}"], new[f"y{index}"])
                problems += [f"{target}: {problem}"] if problem else []
    return problems


def _some_shape(rng: random.Random, before: Compiled, index: int, case: Case) -> tuple[int, ...]:
    """A shape that the layer and the runtime's own bounds allow."""
    if -1 not in case.row.shape:
        return case.shape
    bounds = before.network.output(before.results.index(f"y{index}")).partial_shape
    while True:
        largest = 14 if len(case.shape) < 5 else 9
        free = (rng.randint(1, 2), rng.choice([2, 3, 5]), *(rng.randint(1, largest) for _ in case.shape[2:]))
        shape = tuple(new if size < 0 else size for new, size in zip(free, case.row.shape, strict=True))
        try:
            result = (*shape[:2], *plan(case.pooling, shape[2:]).counts)
        except ShapeError:
            continue
        if ov.PartialShape(list(result)).refines(bounds):
            return shape
