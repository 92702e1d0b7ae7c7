"""In the worker: tensors of openvino from the blobs of a request, and the other way round."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_tools.errors import UsageError
from ir_tools.runtime.frames import Blob, from_array, to_array
from ir_tools.types import element_type

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["from_tensor", "input_tensor", "made_up", "new_tensor", "numbers"]


def input_tensor(what: str, blob: Blob, wanted: ov.Output) -> ov.Tensor:
    """Make a tensor of the wanted type; values of another type are taken if none of them changes."""
    kind = element_type(wanted.get_element_type().get_type_name())
    packed = blob.type != kind.name and kind.dtype is None and kind.name != "string"
    if packed and (blob.type != "u8" or not wanted.get_partial_shape().is_static):
        raise UsageError(f"{what} needs {kind}, packed into bytes (uint8), and a static shape")
    sizes = tuple(wanted.get_shape()) if packed else blob.shape
    return new_tensor(what, blob, wanted.get_element_type(), sizes)


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
        raise UsageError(f"{what} needs {tensor.byte_size} bytes, not {data.nbytes}")
    tensor.data.reshape(-1).view(np.uint8)[:] = data
    return tensor


def _cast(what: str, blob: Blob, kind: str) -> Any:
    array, dtype = to_array(blob), element_type(kind).dtype
    if blob.type == "string" or kind == "string" or dtype is None:
        raise UsageError(f"{what} needs {kind}, not {blob.type}")
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
        same = np.array_equal(cast.astype(array.dtype), array, equal_nan=array.dtype.kind == "f")
    if not same:
        raise UsageError(f"{what} needs {kind}, not {blob.type}; convert it with .astype")
    return cast


def from_tensor(tensor: ov.Tensor) -> Blob:
    kind, shape = tensor.get_element_type().get_type_name(), tuple(tensor.get_shape())
    if kind == "string":
        return from_array(np.asarray(tensor.bytes_data, dtype=object))
    data = np.ascontiguousarray(tensor.data).reshape(-1)
    return Blob(kind, shape, data.view(np.uint8).data)


def numbers(tensor: ov.Tensor) -> list[float]:
    """Return the elements of a tensor; the bytes of floats are read as their type has them."""
    kind, data = element_type(tensor.get_element_type().get_type_name()), tensor.data.reshape(-1)
    found: list[float] = (data.view(kind.dtype).astype(np.float64) if kind.is_float and kind.dtype else data).tolist()
    return found


def made_up(parameter: ov.Output, shape: tuple[int, ...], fill: int) -> ov.Tensor:
    """Return normal floats; integers and booleans are all `fill`, which is an index, a length and a count alike."""
    import openvino as ov

    kind = element_type(parameter.get_element_type().get_type_name())
    if math.prod(shape) * max(kind.bits, 1) >= 1 << 62:
        raise MemoryError
    if kind.name == "string":
        return ov.Tensor(np.full(shape, "text"))
    tensor = ov.Tensor(parameter.get_element_type(), ov.Shape(shape))
    data = tensor.data.reshape(-1).view(np.uint8)
    if kind.dtype is None:
        data[:] = 0
    elif kind.is_float:
        generator = np.random.default_rng(0)
        for part in np.array_split(data.view(kind.dtype), max(tensor.size >> 20, 1)):
            part[:] = generator.standard_normal(part.size, np.float32).astype(kind.dtype)
    else:
        data.view(kind.dtype)[:] = fill
    return tensor
