"""A model around one rewrite: a Parameter, the layers, a Result."""

from ir_tools.builder import Builder
from ir_tools.graph import Layer, LayerContent, Model, Source
from ir_tools.ops import Fact, Rewrite
from ir_tools.ops.records import port_of
from ir_tools.rewrite.rewriter import Rewriter

__all__ = ["model_of"]


def model_of(rewrite: Rewrite, data: Fact, *, name: str, source: str = "data") -> Model:
    """Return a model of IR v11 whose only computation is `rewrite`, fed by a Parameter with what is known of `data`.

    Args:
        rewrite: of a layer with one input.
        data: its element type and partial shape.
        name: of the last layer and its tensor.
        source: of the Parameter and its tensor.
    """
    builder = Builder(name=name)
    fed = builder.parameter(source, data.shape, data.dtype)
    content = LayerContent({}, [port_of(0, data)], [port_of(1, rewrite.layers[-1].outputs[0])])
    place = Layer(builder.graph.new_id(), {"name": name, "type": "", "version": ""}, content)
    builder.graph.add(place, {0: fed})
    builder.result(Source(place.id, 1), name)
    Rewriter(builder.model).apply(builder.graph, place, None, rewrite)
    return builder.model
