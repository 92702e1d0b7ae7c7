"""Parts of IR files as text, in the layout of OpenVINO's own."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = [
    "DIMS",
    "RELU",
    "Sample",
    "chain",
    "constant",
    "edge",
    "layer",
    "net",
    "parameter",
    "port",
    "result",
    "sample",
]

DIMS = (1, 8, 16, 16)
RELU = "ReLU"


class Sample(NamedTuple):
    """A model: the bytes of its `.xml`, and of its `.bin`."""

    xml: bytes
    weights: bytes = b""

    @property
    def size(self) -> int:
        """The bytes of both files."""
        return len(self.xml) + len(self.weights)


def port(number: int | str, dims: Iterable[object] = DIMS, *, precision: str = "FP32", tag: str = "") -> str:
    """A `<port>`; `tag`: further attributes."""
    sizes = "".join(f"\t\t\t\t\t<dim>{size}</dim>\n" for size in dims)
    return f'\t\t\t\t<port id="{number}" precision="{precision}"{tag}>\n{sizes}\t\t\t\t</port>\n'


def layer(
    number: int | str,
    kind: str,
    *,
    name: str = "",
    version: str = "opset1",
    data: str = "",
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    inside: str = "",
    tag: str = "",
) -> str:
    """A `<layer>`; `data`: the attributes of its `<data>`; `inputs`, `outputs`: its ports; `inside`: what follows."""
    text = f'\t\t<layer id="{number}" name="{name or f"{kind}_{number}"}" type="{kind}" version="{version}"{tag}>\n'
    text += f"\t\t\t<data {data} />\n" if data else ""
    for side, ports in (("input", inputs), ("output", outputs)):
        text += f"\t\t\t<{side}>\n{''.join(ports)}\t\t\t</{side}>\n" if ports else ""
    return f"{text}{inside}\t\t</layer>\n"


def parameter(number: int, dims: Iterable[object] = DIMS, *, name: str = "", tag: str = "") -> str:
    """A Parameter of f32; its output is port 0."""
    sizes = [*dims]
    shape = ",".join(map(str, sizes))
    data = f'shape="{shape}" element_type="f32"'
    return layer(number, "Parameter", name=name, data=data, outputs=[port(0, sizes, tag=tag)])


def constant(number: int, offset: int, size: int = 4, *, name: str = "") -> str:
    """A Const of u8 with `size` elements."""
    data = f'element_type="u8" shape="{size}" offset="{offset}" size="{size}"'
    return layer(number, "Const", name=name, data=data, outputs=[port(0, [size], precision="U8")])


def relu(number: int, *, name: str = "", data: str = "", dims: Iterable[object] = DIMS, tag: str = "") -> str:
    """A ReLU from port 0 to port 1."""
    sizes = [*dims]
    return layer(number, RELU, name=name, data=data, inputs=[port(0, sizes)], outputs=[port(1, sizes, tag=tag)])


def result(number: int, dims: Iterable[object] = DIMS, *, name: str = "") -> str:
    """A Result."""
    return layer(number, "Result", name=name, inputs=[port(0, dims)])


def edge(source: object, start: object, reader: object, end: object) -> str:
    """An `<edge>`."""
    return f'\t\t<edge from-layer="{source}" from-port="{start}" to-layer="{reader}" to-port="{end}" />\n'


def net(layers: Iterable[str], edges: Iterable[str], *, after: str = "\t<rt_info />\n", tag: str = "") -> bytes:
    """A `<net>`; `after`: what follows its edges."""
    return "".join(
        (
            f'<?xml version="1.0"?>\n<net name="large" version="11"{tag}>\n\t<layers>\n',
            *layers,
            "\t</layers>\n\t<edges>\n",
            *edges,
            f"\t</edges>\n{after}</net>\n",
        )
    ).encode()


def sample(
    *,
    before: Iterable[str] = (),
    middle: str | None = None,
    layers: Iterable[str] = (),
    edges: Iterable[str] = (),
    after: str = "\t<rt_info />\n",
    tag: str = "",
    weights: bytes = b"",
) -> Sample:
    """Parameter 0, layer 1 (a ReLU, or `middle`) and Result 2, with more layers and edges around them."""
    inside = [*before, parameter(0), relu(1) if middle is None else middle, *layers, result(2)]
    return Sample(net(inside, [edge(0, 0, 1, 0), edge(1, 1, 2, 0), *edges], after=after, tag=tag), weights)


def chain(inner: Iterable[str], edges: Iterable[str], last: int) -> Sample:
    """Layers 1 to `last`, each from port 0 to port 1, between Parameter 0 and a Result."""
    wires = [edge(0, 0, 1, 0), *(edge(at, 1, at + 1, 0) for at in range(1, last + 1))]
    return Sample(net([parameter(0), *inner, result(last + 1)], [*wires, *edges]))
