"""Models whose files grow: built if they are valid, and put together from parts of IR files if not."""

from collections.abc import Callable, Iterable
from functools import wraps
from io import BytesIO
from typing import NamedTuple

from ir_tools.builder import Builder
from ir_tools.format.write import render
from tests.ir_text import edge, layer, net, parameter, port, relu, result

__all__ = ["RELU", "Sample", "built", "chain", "constant", "sample"]

RELU = "ReLU"


class Sample(NamedTuple):
    """A model: the bytes of its `.xml`, and of its `.bin`."""

    xml: bytes
    weights: bytes = b""

    @property
    def size(self) -> int:
        """The bytes of both files."""
        return len(self.xml) + len(self.weights)


def built(opset: int = 8) -> Callable[[Callable[[Builder, int], None]], Callable[[int], Sample]]:
    """Make a function that builds a model of as many things as are asked for one that returns its files."""

    def files_of(build: Callable[[Builder, int], None]) -> Callable[[int], Sample]:
        @wraps(build)
        def make(count: int) -> Sample:
            builder = Builder(opset=opset)
            build(builder, count)
            weights = BytesIO()
            builder.model.weights.save(weights)
            return Sample(render(builder.model), weights.getvalue())

        return make

    return files_of


def constant(number: int, offset: int, size: int = 4, *, name: str = "") -> str:
    """A Const of u8 with `size` elements."""
    data = f'element_type="u8" shape="{size}" offset="{offset}" size="{size}"'
    return layer(number, "Const", name=name, data=data, outputs=[port(0, [size], precision="U8")])


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
