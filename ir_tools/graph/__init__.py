"""The model in memory: layers with their ports, the graph between them, and the model around it."""

from ir_tools.graph.graph import Graph
from ir_tools.graph.layer import Layer, LayerContent, Port
from ir_tools.graph.model import Located, Model

__all__ = ["Graph", "Layer", "LayerContent", "Located", "Model", "Port"]
