"""A model around one rewrite: a Parameter, the layers, a Result."""

from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.ops import Fact, Rewrite
from ir_tools.rewriting import Rewriter
from ir_tools.types import format_shape
from ir_tools.weights import Weights

__all__ = ["as_model"]


def as_model(rewrite: Rewrite, data: Fact, *, name: str, source: str = "data") -> Model:
    """A model of IR v11 whose only computation is `rewrite`, fed by a Parameter with what is known of `data`.

    Args:
        rewrite: of a layer with one input.
        data: its element type and partial shape.
        name: of the last layer and its tensor.
        source: of the Parameter and its tensor.
    """
    dims = tuple(dim.lo if dim.static else -1 for dim in data.shape or ())
    result = rewrite.layers[-1].outputs[0]
    found = tuple(dim.lo if dim.static else -1 for dim in result.shape or ())
    graph = Graph()
    raw = {"shape": format_shape(data.shape).replace("[]", ""), "element_type": data.dtype.name}
    parameter = LayerContent(raw, [], [Port(0, data.dtype.precision, dims, (source,))])
    graph.add(Layer(0, {"name": source, "type": "Parameter", "version": "opset1"}, parameter))
    inputs, outputs = [Port(0, data.dtype.precision, dims)], [Port(1, result.dtype.precision, found, (name,))]
    place = Layer(1, {"name": name, "type": "", "version": ""}, LayerContent({}, inputs, outputs))
    graph.add(place, {0: Source(0, 0)})
    end = LayerContent({}, [Port(0, result.dtype.precision, found)], [])
    graph.add(Layer(2, {"name": f"{name}/result", "type": "Result", "version": "opset1"}, end), {0: Source(1, 1)})
    model = Model(graph, name=name, version=11, weights=Weights.open(None), origin=None, path=None)
    Rewriter(model).apply(graph, place, None, rewrite)
    return model
