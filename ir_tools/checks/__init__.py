"""The checks that `validate` makes of a file that can be read, beside what reading itself finds."""

from ir_tools.checks import (
    bad_rt_info,
    border_conversion,
    consistency,
    disordered_ports,
    duplicate_layer_name,
    duplicate_tensor_name,
    elements,
    foreign_encoding,
    input_types,
    legacy_version,
    missing_edges,
    missing_layers,
    misspelled_attribute,
    no_result,
    non_finite_constant,
    overlapping_constants,
    repeated_edge,
    repeated_model_info,
    stray_text,
    unfed_input,
    unknown_rank_input,
    unread_layer,
    unread_weights,
    variables,
)
from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile

__all__ = ["CHECKS", "Check", "IrFile"]

CHECKS: tuple[Check, ...] = (
    foreign_encoding.CHECK,
    legacy_version.CHECK,
    overlapping_constants.CHECK,
    unread_weights.CHECK,
    non_finite_constant.CHECK,
    duplicate_layer_name.CHECK,
    duplicate_tensor_name.CHECK,
    disordered_ports.CHECK,
    repeated_edge.CHECK,
    unfed_input.CHECK,
    unread_layer.CHECK,
    missing_layers.CHECK,
    missing_edges.CHECK,
    elements.CHECK,
    stray_text.CHECK,
    misspelled_attribute.CHECK,
    no_result.CHECK,
    bad_rt_info.CHECK,
    repeated_model_info.CHECK,
    consistency.CHECK,
    input_types.CHECK,
    variables.CHECK,
    border_conversion.CHECK,
    unknown_rank_input.CHECK,
)
