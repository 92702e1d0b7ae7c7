"""The arrays that callers give for inputs: by which names, of which shapes, and cast to the inputs' element types."""

from collections.abc import Mapping
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np

from ir_tools.display import quoted_names
from ir_tools.errors import UsageError
from ir_tools.graph import Layer, Model
from ir_tools.ops import Array
from ir_tools.ops.fields import listed
from ir_tools.types import ElementType, Shape, element_type, from_dtype, holds, is_static, parse_shape, shape_text
from ir_tools.types.packing import unpack

__all__ = ["Given", "by_input", "checked_inputs", "fitted", "input_facts", "is_packed", "parameter_fact"]

Value = TypeVar("Value")
ONLY = ""
"""The name under which the only input of a model may be given."""
TEXT = frozenset("OUST")
"""Kinds of numpy types that hold text."""


class Given(NamedTuple):
    """An array as an input takes it. `note`: how it was cast, or nothing."""

    array: Array
    note: str = ""


def input_facts(model: Model) -> dict[str, tuple[ElementType, Shape]]:
    """Return element type and partial shape of every input, by `Endpoint.name`.

    Raises:
        UsageError: a Parameter without readable `element_type` and `shape`.
    """
    return {endpoint.name: parameter_fact(endpoint.layer, endpoint.name) for endpoint in model.inputs}


def parameter_fact(layer: Layer, name: str = "") -> tuple[ElementType, Shape]:
    """Return element type and partial shape of a Parameter, which errors call `name`.

    Raises:
        UsageError: it records none that can be read.
    """
    raw = layer.raw
    if "shape" not in raw or "element_type" not in raw:
        raise UsageError(f"input '{name or layer.name}': its Parameter records no shape or no element_type")
    return element_type(raw["element_type"]), parse_shape(raw["shape"])


def checked_inputs(model: Model, given: Mapping[str, Array]) -> dict[str, Array]:
    """Return one array for every input by `Endpoint.name`, cast as `fitted` does, and packed elements unpacked.

    Raises:
        UsageError: an input without a value, a name that no input has, a type or shape that the input does not take.
    """
    fed = by_input(model, given)
    facts = input_facts(model)
    missing = [name for name in facts if name not in fed]
    if missing:
        raise UsageError(f"input '{missing[0]}' has no value; pass an array for it")
    return {name: _unpacked(fitted(name, array, *facts[name]).array, *facts[name]) for name, array in fed.items()}


def by_input(model: Model, given: Mapping[str, Value]) -> dict[str, Value]:
    """Return what is given by tensor name or layer name, or for the only input without a name, by `Endpoint.name`.

    Raises:
        UsageError: a name that no input has, or two values for one input.
    """
    by_alias = {alias: endpoint.name for endpoint in reversed(model.inputs) for alias in endpoint.names}
    if len(model.inputs) == 1:
        by_alias.setdefault(ONLY, model.inputs[0].name)
    known = quoted_names(endpoint.name for endpoint in model.inputs)
    found: dict[str, Value] = {}
    for alias, value in given.items():
        if alias not in by_alias:
            raise UsageError(
                f"there is no input '{alias}'; the model has {known}"
                if alias
                else f"the model has {len(model.inputs)} inputs; pass the value by name: {known}"
            )
        if by_alias[alias] in found:
            raise UsageError(f"input '{by_alias[alias]}' has two values; pass only one")
        found[by_alias[alias]] = value
    return found


def fitted(name: str, value: object, dtype: ElementType, shape: Shape) -> Given:
    """Return an array as an input of this element type and partial shape takes it.

    Floats are rounded to the type (numpy makes f64 by default), integers and booleans cast if no value changes.

    Raises:
        UsageError: another shape, or values that the type cannot hold.
    """
    array = np.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if is_packed(array, dtype, shape):
        return Given(array)
    if not holds(shape, array.shape):
        raise UsageError(f"input '{name}' has shape [{listed(array.shape)}]; expected {shape_text(shape)}")
    if dtype.kind == "string":
        if array.dtype.kind not in TEXT:
            raise UsageError(f"input '{name}' has values of {array.dtype}; expected strings")
        return Given(_texts(array))
    if dtype.dtype is None:
        return Given(array)
    return Given(array) if array.dtype == dtype.dtype else _cast(name, array, dtype)


def _texts(array: Array) -> Array:
    """Return an array of texts, whatever numpy keeps them in, as one of objects; bytes are UTF-8."""
    texts = np.empty(array.shape, object)
    items = array.astype(object).ravel()
    texts.ravel()[:] = [
        item.decode(errors="surrogateescape") if isinstance(item, bytes) else str(item) for item in items
    ]
    return texts


def _cast(name: str, array: Array, dtype: ElementType) -> Given:
    assert dtype.dtype is not None
    try:
        kind = from_dtype(array.dtype)
    except UsageError:
        kind = element_type("string")
    if kind.kind == "string":
        raise UsageError(f"input '{name}' has values of {array.dtype}; expected {dtype}")
    with np.errstate(all="ignore"):
        cast = array.astype(dtype.dtype)
        if kind.is_float and dtype.is_float:
            lossless = bool((np.isfinite(cast) == np.isfinite(array)).all())
        else:
            lossless = bool(((cast.astype(array.dtype) == array) & ((cast < 0) == (array < 0))).all())
    if not lossless:
        raise UsageError(
            f"input '{name}' has values of {kind} that {dtype} cannot represent; convert the array with .astype "
            "if its values may change"
        )
    return Given(cast, f"cast from {kind} to {dtype}")


def _unpacked(array: Array, dtype: ElementType, shape: Shape) -> Array:
    """Return the elements of an input that holds their packed bytes; any other as it is."""
    if not is_packed(array, dtype, shape):
        return array
    sizes = [dim.size for dim in shape or ()]
    return unpack(array, dtype, prod(sizes)).reshape(sizes)


def is_packed(array: Array, dtype: ElementType, shape: Shape) -> bool:
    """Return whether an array is the packed bytes of an input of static shape."""
    if dtype.dtype is not None or not dtype.bits or not is_static(shape):
        return False
    sizes = [dim.size for dim in shape or ()]
    return array.dtype == np.uint8 and array.shape == (dtype.byte_size(prod(sizes)),)
