"""Models of one layer as IR text, and what the installed runtime makes of them: the oracle of the family tests."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np
import openvino as ov

from ir_tools.errors import RuntimeFailure
from ir_tools.ops import Array, Attrs, Op
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import ELEMENT_TYPES, Dim, Shape, element_type, format_shape, from_dtype, parse_shape
from tests.outcomes import works

CORE = ov.Core()
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
ONE_THREAD = {"INFERENCE_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Between:
    """An input of integers of which only bounds are known; None is no upper bound."""

    kind: str
    bounds: tuple[tuple[int, int | None], ...]
    scalar: bool = False


Slot = tuple[str, str] | Array | Between
"""An input: element type and shape text of a Parameter, an array for a constant, or values between bounds."""


def layer_text(number: int, name: str, type: str, version: str, raw: Mapping[str, str], ports: str) -> str:
    data = " ".join(f"{key}={quoteattr(value)}" for key, value in raw.items())
    return f'<layer id="{number}" name="{name}" type="{type}" version="{version}"><data {data}/>{ports}</layer>'


def port_text(number: int, kind: str) -> str:
    return f'<port id="{number}" precision="{ELEMENT_TYPES[kind].precision}"/>'


def single(type: str, version: int, raw: Mapping[str, str], slots: Sequence[Slot]) -> ov.Model:
    """A model of one layer; RuntimeError where the runtime rejects it."""
    return CORE.read_model(*single_text(type, version, raw, slots))


def compiles(op: Op, raw: Mapping[str, str], slots: Sequence[Slot]) -> bool:
    """Whether the CPU plugin takes the layer."""
    return works(lambda: CORE.compile_model(single(op.type, op.version, raw, slots), "CPU", CONFIG))


def several(layers: Sequence[tuple[str, int, Mapping[str, str], Sequence[Slot]]]) -> ov.Model:
    """A model of several layers, called `0/op`, `1/op`, ..., with a Result each; RuntimeError where one is rejected.

    It takes little longer to read than one layer.
    """
    text = Text()
    for number, (type, version, raw, slots) in enumerate(layers):
        text.asked(type, version, raw, slots, 1, f"{number}/")
    return CORE.read_model(*text.model())


def single_text(
    type: str, version: int, raw: Mapping[str, str], slots: Sequence[Slot], outputs: int = 1
) -> tuple[bytes, bytes]:
    """The text and the weights of a model of one layer called `op`, with a Result for each output."""
    text = Text()
    text.asked(type, version, raw, slots, outputs)
    return text.model()


def slots_of(arrays: Sequence[Array], constants: Collection[int] = ()) -> list[Slot]:
    """Parameters for the arrays, but constants at some places."""
    return [
        array if index in constants else (from_dtype(array.dtype).name, ",".join(map(str, array.shape)))
        for index, array in enumerate(arrays)
    ]


def attrs_of(op: Op, raw: Mapping[str, str]) -> Attrs:
    """The typed attributes of a layer whose attributes have a meaning."""
    attrs = op.read(raw, [])
    assert attrs is not None, f"{op} {dict(raw)}"
    return attrs


def computed(op: Op, attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """What the kernel of an operation gives."""
    assert op.kernel is not None
    return op.kernel(attrs, arrays)


@dataclass(frozen=True)
class Fed:
    """A layer with the arrays that it gets.

    Attributes:
        op, raw, arrays: operation, attributes as the file writes them, inputs.
        constants: which inputs are constants of the model.
        outputs: how many are asked for; 0: as many as the operation names.
        rows: whether outputs are rows in any order.
    """

    op: Op
    raw: Mapping[str, str]
    arrays: Sequence[Array]
    constants: Collection[int] = ()
    outputs: int = 0
    rows: bool = False

    def __str__(self) -> str:
        """What to look at when it fails."""
        arrays = [f"{array.dtype}{list(array.shape)}{array.ravel()[:12].tolist()}" for array in self.arrays]
        return f"{self.op} {dict(self.raw)} {arrays}"

    @property
    def count(self) -> int:
        """The number of outputs that are asked for."""
        return self.outputs or len(self.op.outputs)


Maker = Callable[[np.random.Generator], Fed]


def values_of(client: RuntimeClient, layers: Sequence[Fed]) -> list[list[Array]]:
    """What the CPU plugin computes on one thread: the outputs of each layer.

    They are compiled as one model, which takes little longer than a single layer; each alone where that does not run.

    Raises:
        RuntimeFailure: one of them does not run.
    """
    text, fed = Text(), dict[str, Array]()
    for number, one in enumerate(layers):
        slots = slots_of(one.arrays, one.constants)
        text.asked(one.op.type, one.op.version, one.raw, slots, one.count, f"{number}/")
        fed |= {f"{number}/in{index}": array for index, array in enumerate(one.arrays) if index not in one.constants}
    try:
        found = iter(client.infer(*text.model(), fed, config=ONE_THREAD).outputs.values())
    except RuntimeFailure:
        if len(layers) == 1:
            raise
        return [values_of(client, [layer])[0] for layer in layers]
    return [[next(found) for _ in range(layer.count)] for layer in layers]


Source = tuple[int, int, str]
"""A layer, the number of its output, and the element type that its port says."""


class Text:
    """IR text in the making."""

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.blob = bytearray()

    def layer(
        self,
        name: str,
        type: str,
        version: str,
        raw: Mapping[str, str],
        sources: Sequence[Source],
        made: Sequence[str],
    ) -> int:
        """A layer with the element types of its outputs; its number."""
        number = len(self.layers)
        taken = "".join(port_text(index, kind) for index, (_, _, kind) in enumerate(sources))
        given = "".join(port_text(len(sources) + index, kind) for index, kind in enumerate(made))
        ports = f"<input>{taken}</input><output>{given}</output>"
        self.layers.append(layer_text(number, name, type, version, raw, ports))
        for index, (source, output, _) in enumerate(sources):
            port = output + self.layers[source].count("<port", 0, self.layers[source].index("<output>"))
            edge = f'from-layer="{source}" from-port="{port}" to-layer="{number}" to-port="{index}"'
            self.edges.append(f"<edge {edge}/>")
        return number

    def asked(
        self, type: str, version: int, raw: Mapping[str, str], slots: Sequence[Slot], outputs: int, prefix: str = ""
    ) -> None:
        """A layer called `op` with its inputs and Results; `prefix`: of their names."""
        sources = [self.slot(f"{prefix}in{index}", slot) for index, slot in enumerate(slots)]
        own = self.layer(f"{prefix}op", type, f"opset{version}", raw, sources, ["f32"] * outputs)
        for index in range(outputs):
            name = f"{prefix}out" if index == 0 else f"{prefix}out{index}"
            self.layer(name, "Result", "opset1", {}, [(own, index, "f32")], [])

    def model(self) -> tuple[bytes, bytes]:
        """The text and the weights."""
        body = f"<layers>{''.join(self.layers)}</layers><edges>{''.join(self.edges)}</edges>"
        return f'<net name="m" version="11">{body}</net>'.encode(), bytes(self.blob)

    def slot(self, name: str, slot: Slot) -> Source:
        """The layers that make one input."""
        if isinstance(slot, tuple):
            kind, shape = slot
            raw = {"element_type": kind, "shape": shape}
            return self.layer(name, "Parameter", "opset1", raw, [], [kind]), 0, kind
        if isinstance(slot, Between):
            return self.between(name, slot)
        return self.constant(name, slot)

    def constant(self, name: str, array: Array) -> Source:
        """A constant."""
        kind = from_dtype(array.dtype).name
        raw = {
            "element_type": kind,
            "shape": ",".join(map(str, array.shape)),
            "offset": str(len(self.blob)),
            "size": str(array.nbytes),
        }
        self.blob += array.tobytes()
        return self.layer(name, "Const", "opset1", raw, [], [kind]), 0, kind

    def between(self, name: str, slot: Between) -> Source:
        """The ShapeOf of a Parameter, less what makes negative bounds, in the shape and type that are asked for."""
        shift = max(0, *(-low for low, _ in slot.bounds), 0)
        dims = ",".join(str(Dim(low + shift, None if high is None else high + shift)) for low, high in slot.bounds)
        raw = {"element_type": "f32", "shape": dims}
        shape = self.layer(f"{name}/data", "Parameter", "opset1", raw, [], ["f32"])
        kind = slot.kind if slot.kind in {"i32", "i64"} else "i64"
        source = self.layer(name, "ShapeOf", "opset3", {"output_type": kind}, [(shape, 0, "f32")], [kind]), 0, kind
        if shift:
            by = self.constant(f"{name}/shift", np.full(len(slot.bounds), shift, kind.replace("i", "int")))
            source = self.layer(f"{name}/less", "Subtract", "opset1", {}, [source, by], [kind]), 0, kind
        if slot.scalar:
            axis = self.constant(f"{name}/axis", np.array([0]))
            source = self.layer(f"{name}/one", "Squeeze", "opset1", {}, [source, axis], [kind]), 0, kind
        if slot.kind != kind:
            type = {"destination_type": slot.kind}
            source = self.layer(f"{name}/as", "Convert", "opset1", type, [source], [slot.kind]), 0, slot.kind
        return source


def output_of(out: ov.Output) -> tuple[str, Shape]:
    """Element type and partial shape of an output."""
    return out.get_element_type().get_type_name(), parse_shape(str(out.get_partial_shape()))


def outputs_of(layers: Sequence[tuple[Op, Mapping[str, str], Sequence[Slot]]]) -> list[tuple[str, Shape] | None]:
    """What `output_of` says of each layer; None where the runtime rejects it.

    They are read as one model, or in two parts where it rejects that.
    """
    if not layers:
        return []
    try:
        outputs = several([(op.type, op.version, raw, slots) for op, raw, slots in layers]).outputs
    except RuntimeError:
        half = len(layers) // 2
        return [*outputs_of(layers[:half]), *outputs_of(layers[half:])] if half else [None]
    return [output_of(out) for out in outputs]


def infer(model: ov.Model, arrays: Sequence[Array]) -> Array:
    """One inference on the CPU, in f32; RuntimeError where it cannot be compiled."""
    return _infer(model, arrays)[0]


def infer_all(models: Sequence[ov.Model], arrays: Sequence[Sequence[Array]]) -> list[Array]:
    """The first output of each, all compiled as one model, which takes little longer than a single one."""
    for node in (node for model in models for node in (*model.inputs, *model.outputs)):
        node.get_tensor().set_names(set())
    results = [model.get_results()[0] for model in models]
    whole = ov.Model(results, [parameter for model in models for parameter in model.get_parameters()], "all")
    return _infer(whole, [array for each in arrays for array in each])


def _infer(model: ov.Model, arrays: Sequence[Array]) -> list[Array]:
    request = CORE.compile_model(model, "CPU", CONFIG).create_infer_request()
    for index, (node, array) in enumerate(zip(model.inputs, arrays, strict=True)):
        tensor = ov.Tensor(node.get_element_type(), ov.Shape(array.shape))
        if array.size:
            np.copyto(tensor.data.view(array.dtype).reshape(array.shape), array)
        request.set_input_tensor(index, tensor)
    request.infer()
    return [array_of(request.get_output_tensor(index)) for index in range(len(model.outputs))]


def array_of(tensor: ov.Tensor) -> Array:
    dtype = element_type(tensor.get_element_type().get_type_name()).dtype
    assert dtype is not None
    values: Array = tensor.data.view(dtype).copy()
    return values


def text_of(shape: Shape) -> str:
    """A shape as the attribute of a Parameter writes it."""
    return "" if shape == () else format_shape(shape)
