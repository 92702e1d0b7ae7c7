"""The variables of a model: values that a ReadValue reads and an Assign stores for the next inference."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ir_tools.display import quoted_names
from ir_tools.errors import IrToolsError, UsageError
from ir_tools.graph import Graph, Layer, Located, Model, Source
from ir_tools.ops import Array, Attrs, Role, elements_of, find_op, role_of
from ir_tools.types import ElementType, Shape, element_type, from_dtype, from_precision, holds, parse_shape, shape_text
from ir_tools.weights import Weights, values

__all__ = ["Variable", "checked_states", "initial_text", "read_id", "stored_id", "variables"]

MAX_BYTES = 1 << 16
"""Larger initial values are named, not looked at."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable and the layers that use it.

    Attributes:
        id: its `variable_id`.
        element_type: of its value; `dynamic` if the file does not say.
        shape: its partial shape.
        read: the ReadValue.
        stored_by: the path of the Assign; None for a variable that keeps its initial value.
    """

    id: str
    element_type: ElementType
    shape: Shape
    read: Located = field(repr=False)
    stored_by: str | None


def read_id(layer: Layer) -> str | None:
    """Return the id of the variable that a layer reads; None for any layer but a ReadValue."""
    return layer.raw.get("variable_id", "") if role_of(layer) is Role.READ_VARIABLE else None


def stored_id(layer: Layer) -> str | None:
    """Return the id of the variable that a layer stores; None for any layer but an Assign."""
    return layer.raw.get("variable_id", "") if role_of(layer) is Role.ASSIGN_VARIABLE else None


def variables(model: Model) -> dict[str, Variable]:
    """Return the variables that layers read, those of bodies included, by id, in the order of the file."""
    located = [*model.walk()]
    stored = {stored_id(entry.layer): entry.path for entry in located}
    found: dict[str, Variable] = {}
    for entry in located:
        name = read_id(entry.layer)
        if name is not None and name not in found:
            found[name] = Variable(name, *_type_and_shape(entry.layer), entry, stored.get(name))
    return found


def _type_and_shape(layer: Layer) -> tuple[ElementType, Shape]:
    """Return what the attributes declare; for the rest, what the output port records."""
    op = find_op(layer.type, layer.version)
    attrs: Mapping[str, object] = (op.read(layer.raw, []) if op else None) or Attrs({})
    kind, shape = attrs.get("variable_type"), attrs.get("variable_shape")
    (port,) = layer.outputs[:1] or (None,)
    recorded = () if port is None else port.dims
    if not isinstance(kind, ElementType) or kind.name == "dynamic":
        precision = port.precision if port else None
        kind = from_precision(precision) if precision else element_type("dynamic")
    if not isinstance(shape, tuple):
        shape = parse_shape([*recorded])
    return kind, shape


def checked_states(model: Model, given: Mapping[str, Array], floats: ElementType | None = None) -> dict[str, Array]:
    """Return the given values of variables, in the order of the model; floats cast to `floats`, or the variable's type.

    Raises:
        UsageError: an unknown variable, or a type or shape that it does not have.
    """
    if not given:
        return {}
    known = variables(model)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise UsageError(f"there is no state '{unknown[0]}'; the states of the model are {quoted_names(known)}")
    return {name: _checked(known[name], np.asarray(given[name]), floats) for name in known if name in given}


def _checked(variable: Variable, array: Array, floats: ElementType | None) -> Array:
    shape = variable.shape
    if not holds(shape, array.shape):
        sizes = ",".join(map(str, array.shape))
        raise UsageError(f"state '{variable.id}' has shape [{sizes}]; expected {shape_text(shape)}")
    kind = floats if floats and variable.element_type.is_float else variable.element_type
    if kind.dtype is None or array.dtype == kind.dtype:
        return array
    if not (kind.is_float and from_dtype(array.dtype).is_float):
        raise UsageError(f"state '{variable.id}' has values of {array.dtype}; expected {variable.element_type}")
    return array.astype(kind.dtype)


def initial_text(model: Model, variable: Variable) -> str:
    """Describe the value that a variable has before the first inference: `0`, `constant 'c'`, `computed by 'Add_3'`."""
    graph = variable.read.graph
    sources = [*graph.sources(variable.read.layer.id).values()]
    if not sources:
        return "0"
    number = _repeated(graph, sources[0], model.weights)
    if number is not None:
        return number
    layer = graph.layer(sources[0].layer)
    return (
        f"constant '{layer.name}'" if role_of(layer) is Role.CONSTANT else f"computed by '{layer.name}' ({layer.type})"
    )


def _repeated(graph: Graph, source: Source, weights: Weights) -> str | None:
    """Return the number that all elements of a tensor are; None if it has others, or is not a small constant."""
    layer = graph.layer(source.layer)
    before = graph.sources(layer.id)
    if elements_of(layer).copied and layer.inputs and layer.inputs[0].id in before:
        return _repeated(graph, before[layer.inputs[0].id], weights)
    try:
        if role_of(layer) is not Role.CONSTANT or int(layer.raw["size"]) > MAX_BYTES:
            return None
        elements = values(layer.raw, weights).ravel()
    except (IrToolsError, KeyError, ValueError):
        return None
    same = elements.size > 0 and bool((elements == elements[0]).all())
    return str(elements[0].item() if isinstance(elements[0], np.generic) else elements[0]) if same else None
