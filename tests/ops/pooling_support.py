"""Random pooling layers, and what the runtime makes of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino as ov

from ir_tools.known_differences import KnownDifference, named
from ir_tools.ops._windows import plan, pooling_of
from ir_tools.ops.definition import Fact, Op
from ir_tools.ops.fields import Attrs, OneOf
from ir_tools.ops.pooling import OPS
from ir_tools.types import element_type, format_shape
from tests.ops.layer_support import fact_of
from tests.ops.math_support import FLOATS, INTEGERS
from tests.ops.single import CONFIG, CORE, Slot, Text, array_of, attrs_of, computed

Array = npt.NDArray[Any]

LEFT_OUT = named(
    "AvgPool-16 of integers in one channel",
    "AvgPool of few integers in one channel",
    "MaxPool-8 of bf16 with indices",
    "bf16 in 8 channels and 8 places",
    "AdaptiveAvgPool-8 of integers",
)
CHANNELS = (1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 64)


@dataclass(frozen=True)
class Setting:
    """One pooling layer: operation, `<data>` as text, input type and shape, the output sizes of an adaptive one."""

    op: Op
    data: Mapping[str, str]
    kind: str
    shape: str
    sizes: tuple[int, ...] | None = None
    results: int = 1

    @property
    def slots(self) -> list[Slot]:
        return [(self.kind, self.shape), *([] if self.sizes is None else [np.array(self.sizes, np.int64)])]

    def attrs(self) -> Attrs:
        return attrs_of(self.op, self.data)

    def facts(self) -> list[Fact]:
        return [*map(fact_of, self.slots)]

    def arrays(self, rng: np.random.Generator) -> list[Array]:
        shape = tuple(int(size) for size in self.shape.split(","))
        arrays = [random_array(rng, self.kind, shape)]
        if self.sizes is not None:
            arrays.append(np.array(self.sizes, np.int64))
        return arrays

    def known_gap(self) -> KnownDifference | None:
        """Why the CPU plugin cannot run this layer, or runs it unreliably; None where it is right."""
        refused, few, half, deadly, adaptive = LEFT_OUT
        if self.op.type == "AdaptiveAvgPool" and self.kind in INTEGERS:
            return adaptive
        if self.op.type == "MaxPool" and self.kind == "bf16" and self.results == 2:
            return half
        shape = [int(size) for size in self.shape.split(",")]
        if self.kind == "bf16" and shape[1] % 8 == 0 and self.sizes is None and deadly.processor.is_here:
            return deadly if prod(plan(pooling_of(self.attrs()), shape[2:]).counts) == 8 else None
        if self.op.type == "AvgPool" and self.kind in INTEGERS[2:] and shape[1] == 1:
            axes = plan(pooling_of(self.attrs()), shape[2:]).axes
            if any(axis.step > 1 or not axis.lengths.all() for axis in axes):
                return refused
            return few if few.processor.is_here else None
        return None

    def __str__(self) -> str:
        text = " ".join(f'{name}="{value}"' for name, value in self.data.items())
        return f"{self.op} {self.kind}[{self.shape}] {text} {self.sizes or ''}"


def random_array(rng: np.random.Generator, kind: str, shape: Sequence[int]) -> Array:
    """Values of a type; a third of the floats are small integers, so that maxima tie."""
    dtype = element_type(kind).dtype
    assert dtype is not None
    if kind in FLOATS:
        values = rng.normal(0, 10, shape) if rng.random() < 0.7 else rng.integers(-3, 4, shape)
        return np.asarray(values).astype(dtype)
    low = 0 if kind.startswith("u") else -100
    return rng.integers(low, 127, shape).astype(dtype)


def op_named(name: str) -> Op:
    return next(op for op in OPS if str(op) == name)


def random_setting(rng: np.random.Generator, op: Op, *, dynamic: bool = False) -> Setting:
    """Any layer of this operation: most are valid."""
    rank = int(rng.integers(1, 4))
    largest = {1: 24, 2: 13, 3: 7}[rank]
    sizes = [int(size) for size in rng.integers(1, largest + 1, rank)]
    kind = str(rng.choice(["f32"] * 4 + [*FLOATS, *INTEGERS]))
    shape = [int(rng.integers(1, 3)), int(rng.choice(CHANNELS)), *sizes]
    text = ",".join(map(str, shape))
    if dynamic:
        text = ",".join(random_dim(rng, size) for size in shape)
    if op.type.startswith("Adaptive"):
        data = {"index_element_type": "i32"} if op.type == "AdaptiveMaxPool" else {}
        wanted = tuple(int(size) for size in rng.integers(0 if rng.random() < 0.1 else 1, 10, rank))
        return Setting(op, data, kind, text, wanted, len(op.outputs))
    data = dict(_sliding(rng, rank, dilated="dilations" in op.attrs))
    rounding = op.attrs["rounding_type"]
    assert isinstance(rounding, OneOf)
    data["rounding_type"] = str(rng.choice(rounding.words))
    if "exclude_pad" in op.attrs:
        data["exclude-pad"] = str(rng.choice(["true", "false"]))
    if "axis" in op.attrs:
        data["axis"] = str(rng.integers(-rank - 2, rank + 2))
        data["index_element_type"] = str(rng.choice(["i32", "i64"]))
    return Setting(op, data, kind, text, None, int(rng.integers(1, len(op.outputs) + 1)))


def random_dim(rng: np.random.Generator, size: int) -> str:
    """`size` itself, or an interval that may or may not hold it."""
    low, high = (int(edge) for edge in sorted(rng.integers(0, 2 * size + 2, 2)))
    return str(rng.choice([str(size), "?", f"{low}..{high + 1}", f"{low}..", f"..{high + 1}"]))


def _sliding(rng: np.random.Generator, rank: int, *, dilated: bool) -> Iterator[tuple[str, str]]:
    def numbers(low: int, high: int) -> str:
        return ",".join(str(value) for value in rng.integers(low, high + 1, rank))

    yield "kernel", numbers(1, int(rng.choice([2, 3, 5])))
    yield "strides", numbers(1, int(rng.choice([1, 2, 4])))
    pad = int(rng.choice([0, 1, 2, 4]))
    yield "pads_begin", numbers(0, pad)
    yield "pads_end", numbers(0, pad)
    yield "auto_pad", str(rng.choice(["explicit"] * 4 + ["valid", "same_upper", "same_lower"]))
    if dilated:
        yield "dilations", numbers(1, int(rng.choice([1, 1, 2, 3])))


# --- the runtime ------------------------------------------------------------------------------------------------


def read_model(settings: Sequence[Setting]) -> Any:
    """One model with a Parameter, a pooling and Results for each setting, as IR text through the runtime's reader."""
    text = Text()
    for index, one in enumerate(settings):
        text.asked(one.op.type, one.op.version, one.data, one.slots, one.results, f"{index}/")
    return CORE.read_model(*text.model())


def runtime_shapes(settings: Sequence[Setting]) -> list[list[str] | None]:
    """Element type and shape of every output of each layer, as `f32[1,2,?]`; None where the runtime rejects the layer.

    They are read as one model, which takes little longer than a single layer, or in two parts where it rejects that.
    """
    if not settings:
        return []
    try:
        model = read_model(settings)
    except RuntimeError:
        half = len(settings) // 2
        return [*runtime_shapes(settings[:half]), *runtime_shapes(settings[half:])] if half else [None]
    nodes = {node.get_friendly_name(): node for node in model.get_ops()}
    return [[_shape_text(out) for out in nodes[f"{index}/op"].outputs()] for index in range(len(settings))]


def _shape_text(out: ov.Output) -> str:
    return f"{out.get_element_type().get_type_name()}{str(out.get_partial_shape()).replace('...', '')}"


def outputs_of(op: Op, attrs: Attrs, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """What the shape rule gives."""
    found = op.outputs_of(attrs, facts)
    assert found is not None
    return found


def our_shapes(setting: Setting) -> list[str]:
    """The same by the shape rule.

    Raises:
        ShapeError: the layer has no output shape.
    """
    return [
        f"{fact.dtype}[{format_shape(fact.shape) if fact.shape is not None else ''}]"
        for fact in outputs_of(setting.op, setting.attrs(), setting.facts())
    ]


def request_for(settings: Sequence[Setting], arrays: Sequence[Sequence[Array]]) -> Any:
    """An inference request of the CPU plugin, in f32 and on one thread, that has run once on these arrays."""
    compiled = CORE.compile_model(read_model(settings), "CPU", CONFIG)
    request = compiled.create_infer_request()
    by_name = {port.get_node().get_friendly_name(): port for port in compiled.inputs}
    for index, (setting, inputs) in enumerate(zip(settings, arrays, strict=True)):
        request.set_tensor(by_name[f"{index}/in0"], _tensor(inputs[0], setting.kind))
    request.infer()
    return request


def runtime_values(settings: Sequence[Setting], arrays: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """What the CPU plugin computes: per setting, one array per result."""
    request = request_for(settings, arrays)
    outputs = request.get_compiled_model().outputs
    found = {port.get_node().get_friendly_name(): request.get_tensor(port) for port in outputs}
    return [
        [array_of(found[f"{index}/out{result or ''}"]) for result in range(setting.results)]
        for index, setting in enumerate(settings)
    ]


def _tensor(array: Array, kind: str) -> Any:
    if kind == "bf16":
        return ov.Tensor(np.ascontiguousarray(array).view(np.uint16), array.shape, ov.Type.bf16)
    return ov.Tensor(np.ascontiguousarray(array))


TOLERANCES = {"f32": 1e-5, "f64": 1e-5, "f16": 1e-3, "bf16": 8e-3}
"""Of the largest magnitude of the layer; integers and places are equal."""


def compare_values(setting: Setting, inputs: Sequence[Array], wanted: Sequence[Array]) -> None:
    """Assert that the kernel gives what the runtime gave, but for undefined positions."""
    assert setting.op.undefined_mask is not None
    undefined = setting.op.undefined_mask(setting.attrs(), inputs)
    outputs = computed(setting.op, setting.attrs(), inputs)
    for number, (found, value) in enumerate(zip(outputs, wanted, strict=False)):
        assert (found.shape, found.dtype) == (value.shape, value.dtype), setting
        defined = ~np.broadcast_to(False if undefined is None else undefined, found.shape)
        ours, theirs = found.astype(np.float64)[defined], value.astype(np.float64)[defined]
        largest = np.abs(ours[np.isfinite(ours)]).max(initial=0)
        allowed = TOLERANCES.get(setting.kind, 0) * largest if number == 0 else 0
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=allowed, err_msg=f"{setting}, output {number}")
