"""Names of inputs and outputs of IR v10 that the runtime refuses: there, layer names are tensor names, too."""

from collections.abc import Iterator
from typing import NamedTuple

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, element_of
from ir_tools.display import quoted
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Graph, Layer, Source, find_port
from ir_tools.rules.structure import DUPLICATE_TENSOR_NAME

__all__ = ["CHECK"]

REMEDY = "rename one of the two; ir-tools migrate --to ir11 writes a file to which this does not apply"


class _Border(NamedTuple):
    """An input or output: its Parameter or Result, its tensor, and the name that the runtime adds to the tensor."""

    layer: Layer
    source: Source
    name: str


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each input and output. Of several tensors of a name, an input or output keeps it."""
    graph = file.model.graph
    if file.model.version != 10:
        return
    borders = [_Border(end.layer, Source(end.layer.id, end.record.id), end.layer.name) for end in file.model.inputs]
    borders += [
        _Border(end.layer, source, _output_name(graph, source))
        for end in file.model.outputs
        for source in graph.sources(end.layer.id).values()
    ]
    seen, taken = set[Source](), dict[str, Source]()
    for border in borders:
        port = find_port(graph.layer(border.source.layer).outputs, border.source.port)
        names = () if port is None else port.names
        if names and border.source in seen:
            message = (
                f"another input or output is the same tensor '{quoted(names[0])}', for which OpenVINO 2025.0 and later "
                "refuse a file of IR v10"
            )
            remedy = "delete the attribute names of its port; ir-tools migrate --to ir11 writes a file that is read"
            yield ElementProblem(DUPLICATE_TENSOR_NAME, element_of(border.layer), message, remedy)
        seen.add(border.source)
        for name in names:
            taken.setdefault(name, border.source)
    for border in borders:
        if taken.setdefault(border.name, border.source) != border.source:
            other = graph.layer(taken[border.name].layer).name
            message = (
                f"in IR v10, the runtime gives its tensor the name '{quoted(border.name)}', which the tensor of "
                f"'{quoted(other)}' has, and refuses the file"
            )
            yield ElementProblem(DUPLICATE_TENSOR_NAME, element_of(border.layer), message, REMEDY)


def _output_name(graph: Graph, source: Source) -> str:
    """Return the name of the layer that computes an output, with the number of the output if it has several."""
    layer = graph.layer(source.layer)
    numbers = [port.id for port in layer.common.outputs]
    return layer.name if len(numbers) == 1 else f"{layer.name}.{numbers.index(source.port)}"


CHECK = Check(find, (DUPLICATE_TENSOR_NAME,))
