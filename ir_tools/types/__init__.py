"""Element types and partial shapes, in the words of OpenVINO."""

from ir_tools.types.dims import Dim, Shape, Shapes, format_shape, holds, is_static, parse_shape, shape_text
from ir_tools.types.elements import (
    ELEMENT_TYPES,
    ElementType,
    constant_type,
    element_type,
    from_dtype,
    from_precision,
    precision_in_file,
    type_in_file,
)
from ir_tools.types.numbers import id_number, product, whole_number
from ir_tools.types.words import closest

__all__ = [
    "ELEMENT_TYPES",
    "Dim",
    "ElementType",
    "Shape",
    "Shapes",
    "closest",
    "constant_type",
    "element_type",
    "format_shape",
    "from_dtype",
    "from_precision",
    "holds",
    "id_number",
    "is_static",
    "parse_shape",
    "precision_in_file",
    "product",
    "shape_text",
    "type_in_file",
    "whole_number",
]
