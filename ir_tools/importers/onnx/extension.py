"""Extend OpenVINO's ONNX frontend: AveragePool becomes layers that compute exactly what ONNX specifies."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ir_tools import parameters
from ir_tools.display import brief_fields
from ir_tools.errors import IrToolsError, MigrationError, UsageError
from ir_tools.format.write import render
from ir_tools.importers.onnx.average_pool import SINCE, average_pool, disputed
from ir_tools.ops import Fact, Refused, Rewrite, average_pooling
from ir_tools.parameters import checked, optional
from ir_tools.rewrite.single import model_of
from ir_tools.rewrite.target import parse_target
from ir_tools.runtime.installed import require_openvino
from ir_tools.types import Shape, element_type, parse_shape, shape_text

if TYPE_CHECKING:
    from openvino.frontend.onnx import ConversionExtension

__all__ = ["Translated", "average_pool_extension"]


@dataclass(frozen=True, slots=True)
class Translated:
    """The translation of one AveragePool node.

    Attributes:
        name: the name of the layer that computes the node's output; during a conversion, before the frontend has named
            that layer, the name of the layer that feeds it.
        shape: the partial shape of the input.
        layers: the types of the layers that replace the node.
        strategy: the strategy of the rewrite.
        proof: why the layers compute the same.
        notes: remarks about the node.
        output: the `openvino.Output` of the layers, in a conversion in this process.

    Example:
        >>> node = ir_tools.onnx.convert("model.onnx").nodes[0]
        >>> node.name, node.layers, node.strategy
        ('pooled', 'AvgPool', 'same attributes')
    """

    name: str
    shape: Shape
    layers: str
    strategy: str
    proof: str
    notes: tuple[str, ...] = field(default=())
    output: Any = field(default=None, repr=False, compare=False)

    __repr__ = brief_fields


@checked(to=parameters.OPSET, report=optional(parameters.CALLABLE))
def average_pool_extension(
    to: str = "opset8", report: Callable[[Translated], None] | None = None
) -> ConversionExtension:
    """Make an extension for OpenVINO that converts all versions of ONNX AveragePool exactly.

    Pass it to `Core.add_extension` or `ov.convert_model(extension=...)`. The layers compute the same for every input
    shape that the partial shape known at conversion allows. To reshape the model to another size, convert it again.

    Args:
        to: the opset whose AvgPool is used, `opset8`, `opset14` or another.
        report: called with the translation of each node.

    Returns:
        The extension.

    Raises:
        MigrationError: the opset is unknown.
        RuntimeFailure: OpenVINO is not installed.
        UsageError: an argument has the wrong type.

    Example:
        >>> import openvino
        >>> model = openvino.convert_model("model.onnx", extension=[ir_tools.onnx.average_pool_extension()])
        >>> [node.get_type_name() for node in model.get_ordered_ops()]
        ['Parameter', 'AvgPool', 'Result']
    """
    return extension(to, report)


def extension(
    to: str, report: Callable[[Translated], None] | None, failed: Callable[[IrToolsError], None] | None = None
) -> ConversionExtension:
    """Make the extension of `average_pool_extension`; `failed` is called with the error of a node, before it is raised.

    The frontend passes on only the text of an error; `failed` gets the exception itself.
    """
    require_openvino()
    from openvino.frontend.onnx import ConversionExtension

    target = parse_target(to)
    kept: list[Any] = []

    def convert(node: Any) -> list[Any]:
        source = node.get_input(0)
        attributes = {name: node.get_attribute(name) for name in SINCE if node.has_attribute(name)}
        try:
            rewrite, translated = translate(attributes, _fact(source), target, source.get_node().get_friendly_name())
        except IrToolsError as why:
            if failed is not None:
                failed(why)
            raise
        output, owner = _graft(rewrite, _fact(source), source)
        kept.append(owner)
        if report is not None:
            report(replace(translated, output=output))
        return [output]

    return ConversionExtension("AveragePool", convert)


def translate(attributes: dict[str, Any], data: Fact, target: int, name: str) -> tuple[Rewrite, Translated]:
    """Return the layers of one node.

    Raises:
        UsageError: attributes without a meaning.
        MigrationError: the target has no layers that mean the same.
    """
    rank = None if data.shape is None else len(data.shape) - 2
    wanted = average_pool(attributes, rank)
    rewrite = average_pooling(wanted, data, target)
    if isinstance(rewrite, Refused):
        raise MigrationError(
            f"AveragePool after '{name}' cannot be expressed exactly in opset{target}: {rewrite.reason}"
        )
    layers = " + ".join(new.type for new in rewrite.layers)
    return rewrite, Translated(name, data.shape, layers, rewrite.strategy, rewrite.proof, tuple(disputed(attributes)))


def _fact(source: Any) -> Fact:
    shape = parse_shape(str(source.get_partial_shape()))
    if shape is not None and len(shape) < 3:
        raise UsageError(f"AveragePool expects [N, C, spatial...], not {shape_text(shape)}")
    return Fact(element_type(source.get_element_type().get_type_name()), shape)


def _graft(rewrite: Rewrite, data: Fact, source: Any) -> tuple[Any, Any]:
    """Return the rewrite as nodes behind `source`: its output, and the model that owns them until another does."""
    import openvino as ov

    model = model_of(rewrite, data, name="AveragePool")
    constants = io.BytesIO()
    model.weights.save(constants)
    made = ov.Core().read_model(render(model), constants.getvalue())
    parameter, result = made.get_parameters()[0], made.get_results()[0]
    for consumer in parameter.output(0).get_target_inputs():
        consumer.replace_source_output(source)
    output = result.input(0).get_source_output()
    output.get_tensor().set_names(set())
    made.remove_result(result)
    return output, made
