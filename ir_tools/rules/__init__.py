"""The code table: every rule, in the order of the codes."""

from ir_tools.rules import (
    assumed_attribute,
    attribute_out_of_range,
    contradicting_layer,
    contradicting_record,
    deprecated_operation,
    duplicate_layer_id,
    fatal_setting,
    full_kernel_divisor,
    huge_output,
    ignored_attribute,
    impossible_shape,
    kernel_larger_than_input,
    missing_attribute,
    operation_not_in_opset,
    pads_cover_kernel,
    suspect_setting,
    unknown_attribute,
    unknown_operation,
    unknown_opset,
    unknown_shapes,
    unreadable_attribute,
    window_in_padding,
    wrong_element_type,
    wrong_number_of_inputs,
    wrong_number_of_outputs,
    wrong_port_precision,
    wrong_port_shape,
)
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile, Place
from ir_tools.runtime.outcomes import OUTCOMES

__all__ = ["RULES", "Finding", "IrFile", "Place", "Rule"]

RULES: tuple[Rule, ...] = (
    duplicate_layer_id.RULE,
    unknown_operation.RULE,
    unknown_opset.RULE,
    operation_not_in_opset.RULE,
    missing_attribute.RULE,
    assumed_attribute.RULE,
    unknown_attribute.RULE,
    unreadable_attribute.RULE,
    attribute_out_of_range.RULE,
    wrong_number_of_inputs.RULE,
    wrong_number_of_outputs.RULE,
    wrong_element_type.RULE,
    contradicting_layer.RULE,
    fatal_setting.RULE,
    impossible_shape.RULE,
    unknown_shapes.RULE,
    wrong_port_shape.RULE,
    wrong_port_precision.RULE,
    contradicting_record.RULE,
    huge_output.RULE,
    suspect_setting.RULE,
    kernel_larger_than_input.RULE,
    pads_cover_kernel.RULE,
    window_in_padding.RULE,
    full_kernel_divisor.RULE,
    ignored_attribute.RULE,
    deprecated_operation.RULE,
    *(Rule(outcome.code, outcome.name, outcome.severity, outcome.doc) for outcome in OUTCOMES),
)
"""By code. A rule is one module of this folder, called like the rule; what the runtime finds is told by `runtime`."""
