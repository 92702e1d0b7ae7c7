"""Write a small net in IR v2 to v7 with the spellings of its version."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

import ir_tools
from ir_tools.graph import Model

Array = npt.NDArray[Any]
Rng = np.random.Generator
Data = Mapping[str, object]

PRECISIONS = {"f4": "FP32", "f2": "FP16", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8", "u1": "U8"}
HALF_SHARE = 0.12
OLD_TAGS = {
    "activation": ["activation_data"],
    "batchnormalization": ["batch_norm", "batch_norm_data"],
    "crop": ["crop", "crop-data"],
    "eltwise": ["elementwise", "elementwise_data"],
    "fullyconnected": ["fc", "fc_data"],
    "innerproduct": ["fc", "fc_data"],
    "norm": ["lrn", "norm", "norm_data"],
    "quantize": ["fakequantize", "fakequantize_data"],
}
"""Tags of the attributes of a layer in early files, if they do not follow from the name of its type."""


@dataclass(frozen=True)
class LegacyCase:
    """One file of a legacy version, and what to run it on.

    Attributes:
        xml: the text of the model
        weights: the content of its `.bin`
        inputs: an array for each input layer, by name
        undefined: why the old runtime has no defined result; empty if it has
        mask: elements of the only output that the old runtime leaves undefined
        boxes: the output is a set of detections in any order
    """

    xml: str
    weights: bytes
    inputs: Mapping[str, Array]
    undefined: str = ""
    mask: Array | None = None
    boxes: bool = False

    def model(self) -> Model:
        return ir_tools.read(self.xml.encode(), self.weights)


Maker = Callable[[Rng, int], LegacyCase]


@dataclass(frozen=True)
class Tensor:
    """An output port of a layer of the net."""

    layer: int
    port: int
    shape: tuple[int, ...]
    precision: str


@dataclass
class Net:
    """A net that grows layer by layer; ports, blobs and precisions are written as its version did."""

    rng: Rng
    version: int
    weights: bytes = b""
    inputs: dict[str, Array] = field(default_factory=dict)
    extra: str = ""
    _layers: list[str] = field(default_factory=list)
    _edges: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.precision = "FP16" if self.rng.random() < HALF_SHARE else "FP32"

    def values(self, *shape: int, scale: float = 1.0) -> Array:
        """Return random floats; a third of the arrays hold small integers, so that elements tie."""
        if self.rng.random() < 0.3:
            return (self.rng.integers(-3, 4, shape) * scale).astype(np.float32)
        return (self.rng.normal(0, 1, shape) * scale).astype(np.float32)

    def input(self, values: Array, precision: str | None = None) -> Tensor:
        """Add an input layer that is fed with these values."""
        name = f"in{len(self.inputs)}"
        self.inputs[name] = values
        kind = precision or (self.precision if values.dtype == np.float32 else PRECISIONS[values.dtype.str[1:]])
        return self.layer("Input", [], [values.shape], name=name, precision=kind)[0]

    def const(self, values: Array) -> Tensor:
        """Add a constant; floats have the precision of the net."""
        stored = self.stored(values)
        kind = PRECISIONS[stored.dtype.str[1:]]
        return self.layer("Const", [], [values.shape], blobs={"custom": stored}, precision=kind)[0]

    def stored(self, values: Array) -> Array:
        """Return the values as a blob of this net stores them."""
        return values.astype(np.float16) if self.precision == "FP16" and values.dtype == np.float32 else values

    def rounded(self, values: Array) -> Array:
        """Return floats as they are read back from a blob of this net."""
        return self.stored(values).astype(values.dtype)

    def layer(
        self,
        kind: str,
        inputs: Sequence[Tensor],
        shapes: Sequence[Sequence[int]],
        data: Data | None = None,
        blobs: Mapping[str, Array] | None = None,
        *,
        name: str = "",
        precision: str = "",
        after: str = "",
    ) -> list[Tensor]:
        """Add a layer and return its outputs.

        Args:
            kind: name of its type
            inputs: what its input ports read
            shapes: declared sizes of its outputs
            data: its attributes
            blobs: its weights, biases or other blobs
            name: its name; made from the type if empty
            precision: of its outputs; that of the net if empty
            after: further elements, as text
        """
        index = len(self._layers)
        precision = precision or self.precision
        name = name or f"{kind.lower()}{index}"
        gap = int(self.rng.integers(0, 3)) if self.rng.random() < 0.2 and not after else 0
        first = len(inputs) + len(blobs or {}) + gap
        outputs = [Tensor(index, first + at, tuple(shape), precision) for at, shape in enumerate(shapes)]
        stated = f" precision={quoteattr(precision)}" if self.version < 7 else ""
        text = [f"<layer id={quoteattr(str(index))} name={quoteattr(name)}{stated} type={quoteattr(kind)}>"]
        if data is not None:
            text.append(self._data(kind, data))
        if inputs:
            text.append(f"<input>{''.join(_port(at, tensor.shape) for at, tensor in enumerate(inputs))}</input>")
        kinds = f" precision={quoteattr(precision)}" if self.version == 7 else ""
        ports = "".join(_port(out.port, out.shape, kinds) for out in outputs)
        text += [f"<output>{ports}</output>"] if ports else []
        text += [self._blobs(blobs)] if blobs else []
        self._layers.append("\n".join([*text, after, "</layer>"]))
        self._edges += [
            f'<edge from-layer="{tensor.layer}" from-port="{tensor.port}" to-layer="{index}" to-port="{at}"/>'
            for at, tensor in enumerate(inputs)
            if tensor.layer >= 0
        ]
        return outputs

    def outer(self, *shape: int) -> Tensor:
        """Return what a layer of a body reads from the loop around it: no edge leads to it."""
        return Tensor(-1, -1, shape, self.precision)

    def content(self) -> str:
        """Return the layers and edges as text."""
        layers, edges = "\n".join(self._layers), "\n".join(self._edges)
        return f"<layers>\n{layers}\n</layers>\n<edges>\n{edges}\n</edges>"

    def _data(self, kind: str, data: Data) -> str:
        tag = "data"
        if self.version == 2 and self.rng.random() < 0.5:
            tag = str(self.rng.choice(OLD_TAGS.get(kind.lower(), [f"{kind.lower()}_data", kind.lower()])))
        attributes = "".join(f" {name}={quoteattr(str(value))}" for name, value in data.items())
        return f"<{tag}{attributes}/>"

    def _blobs(self, blobs: Mapping[str, Array]) -> str:
        text = ""
        for name, values in blobs.items():
            stored = self.stored(values)
            kind = f" precision={quoteattr(PRECISIONS[stored.dtype.str[1:]])}" if self.version == 7 else ""
            text += f'<{name} offset="{len(self.weights)}"{kind} size="{stored.nbytes}"/>'
            self.weights += stored.tobytes()
        direct = self.version == 2 and blobs.keys() <= {"weights", "biases"}
        return text if direct else f"<blobs>{text}</blobs>"

    def case(self, *, undefined: str = "", mask: Array | None = None, boxes: bool = False) -> LegacyCase:
        """Return the finished net."""
        batch = ' batch="1"' if self.rng.random() < 0.7 else ""
        precision = f' precision="{self.precision}"' if self.version == 7 and self.rng.random() < 0.5 else ""
        xml = f"""<?xml version="1.0" ?>
<net{batch} name="single"{precision} version="{self.version}">
{self.content()}
{self.extra}</net>
"""
        return LegacyCase(xml, self.weights, self.inputs, undefined, mask, boxes)


def single(
    rng: Rng, version: int, kind: str, shape: Sequence[int], data: Data | None = None, out: Sequence[int] | None = None
) -> LegacyCase:
    """Make a case of a layer that takes one random float input."""
    net = Net(rng, version)
    net.layer(kind, [net.input(net.values(*shape))], [out or shape], data)
    return net.case()


def dims(rng: Rng, low: int = 1, high: int = 4, largest: int = 6) -> tuple[int, ...]:
    """Draw a shape of a rank from `low` to `high`."""
    return tuple(int(size) for size in rng.integers(1, largest + 1, int(rng.integers(low, high + 1))))


def pick(rng: Rng, *options: Any) -> Any:
    """Draw one of the options."""
    return options[int(rng.integers(len(options)))]


def chance(rng: Rng, share: float) -> bool:
    """Draw True in this share of the calls."""
    return bool(rng.random() < share)


def optional(rng: Rng, data: Data, **defaults: object) -> dict[str, object]:
    """Leave out, half of the time, each attribute that has the value that it has when it is absent."""
    spelled = {name: data.get(name, data.get(name.replace("_", "-"))) for name in defaults}
    dropped = {name for name, default in defaults.items() if str(spelled[name]) == str(default) and chance(rng, 0.5)}
    return {name: value for name, value in data.items() if name.replace("-", "_") not in dropped}


def kind_of(rng: Rng, kind: str, share: float = 0.08) -> str:
    """Return the name of a type, seldom in other case."""
    return pick(rng, kind.lower(), kind.upper()) if chance(rng, share) else kind


def _port(index: int, shape: Sequence[int], attributes: str = "") -> str:
    sizes = "".join(f"<dim>{size}</dim>" for size in shape)
    return f'<port id="{index}"{attributes}>{sizes}</port>'


def quantize_type(version: int) -> str:
    """Return the name that FakeQuantize has in this version."""
    return "Quantize" if version < 6 else "FakeQuantize"
