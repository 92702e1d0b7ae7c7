"""Files of IR v2 to v7 with one layer, as text."""

from collections.abc import Mapping, Sequence

__all__ = ["legacy_xml"]

Dims = Sequence[int]


def legacy_xml(
    kind: str,
    data: Mapping[str, str],
    inputs: Mapping[str, Dims],
    outputs: Sequence[Dims],
    *,
    types: Mapping[str, str] | None = None,
    version: int = 5,
) -> bytes:
    """Return the text of a file in which a layer `layer` reads all inputs; `types`: `I32` for an input, say."""
    ports = range(len(inputs), len(inputs) + len(outputs))
    made = "".join(
        f'<layer id="{index}" name="{name}" type="Input" precision="{(types or {}).get(name, "FP32")}">'
        f"<output>{_port(0, dims)}</output></layer>"
        for index, (name, dims) in enumerate(inputs.items())
    )
    attributes = "".join(f' {name}="{value}"' for name, value in data.items())
    read = "".join(_port(index, dims) for index, dims in enumerate(inputs.values()))
    written = "".join(_port(index, dims) for index, dims in zip(ports, outputs, strict=True))
    number = len(inputs)
    edges = "".join(
        f'<edge from-layer="{index}" from-port="0" to-layer="{number}" to-port="{index}"/>' for index in range(number)
    )
    return (
        f'<?xml version="1.0" ?><net name="made" version="{version}" batch="1"><layers>{made}'
        f'<layer id="{number}" name="layer" type="{kind}" precision="FP32"><data{attributes}/>'
        f"<input>{read}</input><output>{written}</output></layer></layers><edges>{edges}</edges></net>"
    ).encode()


def _port(number: int, dims: Dims) -> str:
    return f'<port id="{number}">' + "".join(f"<dim>{size}</dim>" for size in dims) + "</port>"
