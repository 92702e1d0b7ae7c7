"""Inputs for a run: what the caller gives, checked, and seeded random values for the rest."""

from collections.abc import Mapping
from math import prod

import numpy as np

from ir_tools.errors import UsageError
from ir_tools.graph import Layer, Model
from ir_tools.ops import Array
from ir_tools.types import Dim, ElementType, Shape, element_type, format_shape, parse_shape
from ir_tools.types.packing import unpack

__all__ = ["checked_inputs", "complete_inputs", "input_facts", "parameter_fact"]

FREE_SIZE = 32
"""The size that a dynamic dimension without an upper bound gets, unless its lower bound is above."""


def input_facts(model: Model) -> dict[str, tuple[ElementType, Shape]]:
    """Element type and partial shape of every input, by `Endpoint.name`.

    Raises:
        UsageError: a Parameter without readable `element_type` and `shape`.
    """
    return {endpoint.name: parameter_fact(endpoint.layer, endpoint.name) for endpoint in model.inputs}


def parameter_fact(layer: Layer, name: str = "") -> tuple[ElementType, Shape]:
    """Element type and partial shape of a Parameter, which errors call `name`.

    Raises:
        UsageError: it records none that can be read.
    """
    raw = layer.raw
    if "shape" not in raw or "element_type" not in raw:
        raise UsageError(f"input '{name or layer.name}': its Parameter records no shape or no element_type")
    return element_type(raw["element_type"]), parse_shape(raw["shape"])


def complete_inputs(model: Model, given: Mapping[str, Array] | None = None, *, seed: int = 0) -> dict[str, Array]:
    """One array per input, by `Endpoint.name`: the given ones as they are, the rest from `seed`.

    Floats are normal, unsigned and 8-bit integers span their range up to 255, wider integers stay below 10 (they are
    mostly indices), booleans are fair. A dynamic batch is 1, other dynamic dimensions are `FREE_SIZE` or as near to
    it as their interval allows.

    Raises:
        UsageError: a name that no input has, a shape that the input does not take, an unknown rank.
    """
    fed = _known_inputs(model, given or {})
    facts = input_facts(model)
    generator = np.random.default_rng(seed)
    for name, (dtype, shape) in facts.items():
        if name not in fed:
            fed[name] = _random(generator, dtype, _sizes(name, shape))
    return {name: fed[name] for name in facts}


def checked_inputs(model: Model, given: Mapping[str, Array]) -> dict[str, Array]:
    """The given arrays by `Endpoint.name`, one for every input; packed elements, unpacked.

    Raises:
        UsageError: an input without a value, a name that no input has, a type or shape that the input does not take.
    """
    fed = _known_inputs(model, given)
    facts = input_facts(model)
    missing = [name for name in facts if name not in fed]
    if missing:
        raise UsageError(f"no value for the input '{missing[0]}'")
    return {name: _unpacked(array, *facts[name]) for name, array in fed.items()}


def _unpacked(array: Array, dtype: ElementType, shape: Shape) -> Array:
    """The elements of an input that holds their packed bytes; any other as it is."""
    if not _is_packed(array, dtype, shape):
        return array
    sizes = [dim.size for dim in shape or ()]
    return unpack(array, dtype, prod(sizes)).reshape(sizes)


def _is_packed(array: Array, dtype: ElementType, shape: Shape) -> bool:
    """Whether an array is the bytes of a type with elements smaller than a byte, for an input of static shape."""
    if dtype.dtype is not None or not dtype.bits or shape is None or not all(dim.static for dim in shape):
        return False
    return array.dtype == np.uint8 and array.shape == (dtype.byte_size(prod(dim.size for dim in shape)),)


def _known_inputs(model: Model, given: Mapping[str, Array]) -> dict[str, Array]:
    by_alias = {alias: endpoint.name for endpoint in reversed(model.inputs) for alias in endpoint.names}
    facts = input_facts(model)
    fed: dict[str, Array] = {}
    for alias, array in given.items():
        if alias not in by_alias:
            raise UsageError(f"there is no input '{alias}'; the model has {', '.join(facts) or 'none'}")
        name = by_alias[alias]
        fed[name] = _checked(name, np.asarray(array), *facts[name])
    return fed


def _checked(name: str, array: Array, dtype: ElementType, shape: Shape) -> Array:
    fits = shape is None or (
        len(shape) == array.ndim and all(size in dim for size, dim in zip(array.shape, shape, strict=True))
    )
    if not fits and not _is_packed(array, dtype, shape):
        raise UsageError(f"input '{name}' takes [{format_shape(shape)}], not {list(array.shape)}")
    if dtype.dtype is not None and array.dtype != dtype.dtype:
        raise UsageError(f"input '{name}' takes {dtype}, not {array.dtype}; convert it with .astype")
    return array


def _sizes(name: str, shape: Shape) -> tuple[int, ...]:
    if shape is None:
        raise UsageError(f"input '{name}' has no known rank; give it a value")
    return tuple(_size(dim, 1 if axis == 0 else FREE_SIZE) for axis, dim in enumerate(shape))


def _size(dim: Dim, wanted: int) -> int:
    if dim.static:
        return dim.size
    return max(dim.lo, wanted if dim.hi is None else min(wanted, dim.hi))


def _random(generator: np.random.Generator, dtype: ElementType, sizes: tuple[int, ...]) -> Array:
    if dtype.kind == "string":
        return np.array([f"text {number}" for number in range(int(np.prod(sizes)))], dtype=object).reshape(sizes)
    if dtype.dtype is None:
        return generator.integers(0, 256, dtype.byte_size(int(np.prod(sizes))), dtype=np.uint8)
    if dtype.kind == "boolean":
        return generator.integers(0, 2, sizes).astype(bool)
    if dtype.is_integer:
        top = 10 if dtype.bits > 8 else 128 if dtype.kind == "signed" else 256
        return generator.integers(0, top, sizes).astype(dtype.dtype)
    return generator.standard_normal(sizes).astype(dtype.dtype)
