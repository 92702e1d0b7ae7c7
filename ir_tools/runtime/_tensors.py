"""In the worker: tensors of openvino from the blobs of a request, and the other way round."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_tools.errors import UsageError
from ir_tools.runtime._frames import Blob, from_array, to_array
from ir_tools.types import element_type

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["feed", "from_tensor", "input_numbers", "new_tensor"]


def input_numbers(model: ov.Model | ov.CompiledModel, names: Collection[str]) -> list[int]:
    """Return the numbers of the inputs that `names` mean."""
    numbers: dict[str, int] = {}
    for index, parameter in enumerate(model.inputs):
        for alias in (*parameter.get_names(), parameter.get_node().get_friendly_name()):
            numbers.setdefault(alias, index)
    for name in names:
        if name not in numbers:
            raise UsageError(f"there is no input '{name}'; the model has {', '.join(numbers) or 'none'}")
    return [numbers[name] for name in names]


def feed(model: ov.Model | ov.CompiledModel, given: Mapping[str, Blob]) -> dict[int, ov.Tensor]:
    """Make a tensor for every input, by its number."""
    inputs = model.inputs
    numbers = input_numbers(model, given)
    tensors = {
        index: _to_tensor(name, blob, inputs[index]) for index, (name, blob) in zip(numbers, given.items(), strict=True)
    }
    for index, parameter in enumerate(inputs):
        if index not in tensors:
            raise UsageError(f"input '{parameter.get_node().get_friendly_name()}' has no value")
    return tensors


def _to_tensor(name: str, blob: Blob, wanted: ov.Output) -> ov.Tensor:
    """Make a tensor of the wanted type; values of another type are taken if none of them changes."""
    kind = element_type(wanted.get_element_type().get_type_name())
    packed = blob.type != kind.name and kind.dtype is None and kind.name != "string"
    if packed and (blob.type != "u8" or not wanted.get_partial_shape().is_static):
        raise UsageError(f"input '{name}' takes {kind}, packed into bytes (uint8), and a static shape")
    sizes = tuple(wanted.get_shape()) if packed else blob.shape
    return new_tensor(f"input '{name}'", blob, wanted.get_element_type(), sizes)


def new_tensor(what: str, blob: Blob, type_: ov.Type, sizes: tuple[int, ...]) -> ov.Tensor:
    """Make a tensor of the type with the bytes of the blob, cast if the blob has another type that numpy knows."""
    import openvino as ov

    kind = element_type(type_.get_type_name())
    if blob.type == "string" and kind.name == "string":
        return ov.Tensor(to_array(blob).astype(str))
    data = np.frombuffer(blob.data, np.uint8)
    if blob.type != kind.name and (kind.dtype is not None or "string" in {blob.type, kind.name}):
        data = _cast(what, blob, kind.name).reshape(-1).view(np.uint8)
    tensor = ov.Tensor(type_, ov.Shape(sizes))
    if data.nbytes != tensor.byte_size:
        raise UsageError(f"{what} takes {tensor.byte_size} bytes, not {data.nbytes}")
    tensor.data.reshape(-1).view(np.uint8)[:] = data
    return tensor


def _cast(what: str, blob: Blob, kind: str) -> Any:
    array, dtype = to_array(blob), element_type(kind).dtype
    if blob.type == "string" or kind == "string" or dtype is None:
        raise UsageError(f"{what} takes {kind}, not {blob.type}")
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
        same = np.array_equal(cast.astype(array.dtype), array, equal_nan=array.dtype.kind == "f")
    if not same:
        raise UsageError(f"{what} takes {kind}, not {blob.type}; convert it with .astype")
    return cast


def from_tensor(tensor: ov.Tensor) -> Blob:
    kind, shape = tensor.get_element_type().get_type_name(), tuple(tensor.get_shape())
    if kind == "string":
        return from_array(np.asarray(tensor.bytes_data, dtype=object))
    data = np.ascontiguousarray(tensor.data).reshape(-1)
    return Blob(kind, shape, data.view(np.uint8).data)
