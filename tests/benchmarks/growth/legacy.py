"""Files of IR v6: chains of layers of one type, layers of many inputs and outputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from tests.benchmarks.growth.pieces import Sample
from tests.ir_text import DIMS, edge, net

__all__ = ["LEGACY"]

ROW = (1, 8)
POOL = 'kernel="3,3" strides="1,1" pads_begin="1,1" pads_end="1,1" exclude-pad="true" pool-method="avg"'
SCALES = 64
"""Bytes that a layer with a factor and a summand for each channel has."""


def ports(count: int, first: int, dims: Iterable[object]) -> str:
    sizes = "".join(f"<dim>{size}</dim>\n" for size in dims)
    return "".join(f'<port id="{first + at}">\n{sizes}</port>\n' for at in range(count))


def layer(
    number: int,
    kind: str,
    data: str = "",
    *,
    inputs: int = 1,
    outputs: str = "",
    inside: str = "",
    dims: Sequence[object] = DIMS,
) -> str:
    """A layer with one output of the sizes of its inputs, or with the ports that `outputs` are."""
    text = f'<layer id="{number}" name="{kind}{number}" precision="FP32" type="{kind}">\n'
    text += f"<data {data}/>\n" if data else ""
    text += f"<input>\n{ports(inputs, 0, dims)}</input>\n" if inputs else ""
    return f"{text}<output>\n{outputs or ports(1, inputs, dims)}</output>\n{inside}</layer>\n"


def legacy(layers: Iterable[str], edges: Iterable[str], weights: bytes = b"") -> Sample:
    return Sample(net(layers, edges, version=6, after=""), weights)


def chain(write: Callable[[int], str], weights: int = 0) -> Callable[[int], Sample]:
    """Layers in a row; `weights`: bytes of each."""

    def make(count: int) -> Sample:
        inner = (write(at) for at in range(1, count + 1))
        wires = [edge(0, 0, 1, 0), *(edge(at, 1, at + 1, 0) for at in range(1, count))]
        return legacy([layer(0, "Input", inputs=0), *inner], wires, bytes(weights * count))

    return make


def with_scales(kind: str, data: str = "") -> Callable[[int], Sample]:
    def write(at: int) -> str:
        offset, size = SCALES * (at - 1), SCALES // 2
        blobs = f'<weights offset="{offset}" size="{size}"/><biases offset="{offset + size}" size="{size}"/>'
        return layer(at, kind, data, inside=f"<blobs>{blobs}</blobs>\n")

    return chain(write, SCALES)


def sums(count: int) -> Sample:
    """Sums of a tensor with itself."""
    inner = (layer(at, "Eltwise", 'operation="sum"', inputs=2) for at in range(1, count + 1))
    wires = [edge(at - 1, 2 * (at > 1), at, port) for at in range(1, count + 1) for port in (0, 1)]
    return legacy([layer(0, "Input", inputs=0), *inner], wires)


def joined(count: int) -> Sample:
    """A Concat of as many inputs."""
    concat = layer(1, "Concat", 'axis="1"', inputs=count, outputs=ports(1, count, (1, 8 * count)), dims=ROW)
    return legacy([layer(0, "Input", inputs=0, dims=ROW), concat], (edge(0, 0, 1, at) for at in range(count)))


def parts(count: int) -> Sample:
    """A Split into as many parts, each read."""
    split = layer(1, "Split", 'axis="1"', outputs=ports(count, 1, (1, 1)), dims=(1, count))
    ends = (layer(2 + at, "ReLU", dims=(1, 1)) for at in range(count))
    wires = [edge(0, 0, 1, 0), *(edge(1, 1 + at, 2 + at, 0) for at in range(count))]
    return legacy([layer(0, "Input", inputs=0, dims=(1, count)), split, *ends], wires)


LEGACY: Mapping[str, Callable[[int], Sample]] = {
    "a chain of IR v6": chain(lambda at: layer(at, "ReLU")),
    "poolings of IR v6": chain(lambda at: layer(at, "Pooling", POOL)),
    "powers of IR v6": chain(lambda at: layer(at, "Power", f'power="2" scale="{at}.5" shift="1"')),
    "factors of IR v6": with_scales("ScaleShift"),
    "normalizations of IR v6": with_scales("BatchNormalization", 'epsilon="0.001"'),
    "sums of IR v6": sums,
    "inputs of a Concat of IR v6": joined,
    "outputs of a Split of IR v6": parts,
}
