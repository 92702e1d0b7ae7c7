"""The model in memory: layers with their ports, the graph between them, and the model around it."""

from ir_tools.graph.circles import circles
from ir_tools.graph.graph import Graph, Source
from ir_tools.graph.layer import (
    Layer,
    LayerContent,
    LayerForm,
    LayerSource,
    NewSource,
    Port,
    find_port,
    output_name,
    port_place,
)
from ir_tools.graph.model import Endpoint, Located, Model, Origin

__all__ = [
    "Endpoint",
    "Graph",
    "Layer",
    "LayerContent",
    "LayerForm",
    "LayerSource",
    "Located",
    "Model",
    "NewSource",
    "Origin",
    "Port",
    "Source",
    "circles",
    "find_port",
    "output_name",
    "port_place",
]
