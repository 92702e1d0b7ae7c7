"""Read and write what ports record of tensors: element type and sizes."""

from typing import Any

import numpy as np

from ir_tools.graph import Layer, LayerContent, Port
from ir_tools.ops.definition import Array, Bounds, Fact
from ir_tools.types import Dim, ElementType, element_type, parse_shape, precision_in_file
from ir_tools.types.packing import element_type_of
from ir_tools.weights import Weights, constant

__all__ = ["are_values_known", "bare_fact", "blob_type", "constant_fact", "port_of", "recorded", "recorded_output"]

LARGEST_VALUE = 1024
"""Elements of an integer constant that a shape rule may want to see."""
UNKNOWN_TYPE = element_type("dynamic")
ANY_SIZE = Dim()


def recorded(port: Port) -> Fact:
    """Return what a port records; a precision that is not one is dynamic.

    A port without dims may be a scalar or of unknown rank; the rank counts as unknown, since nothing is claimed then.
    """
    dtype = None if port.precision is None else precision_in_file(port.precision)
    return Fact(dtype or UNKNOWN_TYPE, tuple([ANY_SIZE if size < 0 else Dim.of(size) for size in port.dims]) or None)


def recorded_output(layer: Layer, port: Port, weights: Weights) -> Fact:
    """Return what a file says of an output port, with the shape of a Parameter and the values of a small constant."""
    fact = recorded(port)
    if layer.type == "Parameter" and "shape" in layer.raw:
        return Fact(fact.dtype, parse_shape(layer.raw["shape"]))
    if layer.type != "Const" or not fact.dtype.is_integer or fact.dtype.dtype is None:
        return fact
    shape = parse_shape(layer.raw.get("shape", ""))
    if shape is None or np.prod([dim.lo for dim in shape], dtype=np.float64) > LARGEST_VALUE:
        return fact
    return Fact(fact.dtype, shape, Bounds.exactly(constant(layer.raw, weights)))


def blob_type(content: LayerContent, name: str) -> ElementType | None:
    """Return the element type of a blob of a legacy layer: its own, or that of the first output; None if unknown."""
    precision = content.blobs[name].get("precision") or next((port.precision for port in content.outputs), None)
    return precision_in_file(precision or "FP32")


def bare_fact(array: Array) -> Fact:
    """Return element type and shape of an array, without its values."""
    return Fact(element_type_of(array), tuple(map(Dim.of, array.shape)))


def are_values_known(count: int, dtype: np.dtype[Any] | None) -> bool:
    """Return whether the values of a constant are among what is known of it: few numbers or booleans."""
    return count <= LARGEST_VALUE and dtype is not None and dtype.kind in "iufb"


def constant_fact(values: Array) -> Fact:
    """Return what is known of a constant with these values."""
    known = Bounds.exactly(values) if are_values_known(values.size, values.dtype) else None
    return Fact(element_type_of(values), tuple(map(Dim.of, values.shape)), known)


def port_of(number: int, fact: Fact) -> Port:
    """Return a port with the element type and the sizes of a fact."""
    return Port(number, fact.dtype.precision, fact.dims)
