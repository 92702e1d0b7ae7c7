"""Parts of IR files as text, in the layout of OpenVINO's own."""

from collections.abc import Iterable, Sequence

from ir_tools.types import ELEMENT_TYPES

__all__ = ["DIMS", "edge", "layer", "net", "parameter", "port", "relu", "result"]

DIMS = (1, 8, 16, 16)


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


def parameter(number: int, dims: Iterable[object] = DIMS, *, kind: str = "f32", name: str = "", tag: str = "") -> str:
    """A Parameter; its output is port 0."""
    sizes = [*dims]
    shape = ",".join("?" if size == -1 else str(size) for size in sizes)
    data = f'shape="{shape}" element_type="{kind}"'
    return layer(
        number,
        "Parameter",
        name=name,
        data=data,
        outputs=[port(0, sizes, precision=ELEMENT_TYPES[kind].precision, tag=tag)],
    )


def relu(number: int, *, name: str = "", data: str = "", dims: Iterable[object] = DIMS, tag: str = "") -> str:
    """A ReLU from port 0 to port 1."""
    sizes = [*dims]
    return layer(number, "ReLU", name=name, data=data, inputs=[port(0, sizes)], outputs=[port(1, sizes, tag=tag)])


def result(number: int, dims: Iterable[object] = DIMS, *, precision: str = "FP32", name: str = "") -> str:
    """A Result."""
    return layer(number, "Result", name=name, inputs=[port(0, dims, precision=precision)])


def edge(source: object, start: object, reader: object, end: object) -> str:
    """An `<edge>`."""
    return f'\t\t<edge from-layer="{source}" from-port="{start}" to-layer="{reader}" to-port="{end}" />\n'


def net(
    layers: Iterable[str],
    edges: Iterable[str],
    *,
    name: str = "made",
    version: int = 11,
    after: str = "\t<rt_info />\n",
    tag: str = "",
) -> bytes:
    """A `<net>`; `after`: what follows its edges; `tag`: further attributes."""
    head = f'<?xml version="1.0"?>\n<net name="{name}" version="{version}"{tag}>\n\t<layers>\n'
    return "".join((head, *layers, "\t</layers>\n\t<edges>\n", *edges, f"\t</edges>\n{after}</net>\n")).encode()
