"""What the families of legacy layer types share: sizes and element types as Inference Engine had them."""

from collections.abc import Sequence

from ir_tools.graph import Source
from ir_tools.ops.legacy.definition import LegacyLayer

__all__ = ["as_declared", "as_floats", "as_integers", "declared_sizes", "joined_types", "reshaped", "truth"]


def declared_sizes(layer: LegacyLayer, index: int = 0) -> tuple[int, ...]:
    """Return the sizes that the file declares for an output."""
    return tuple(dim.lo for dim in layer.declared[index].shape or ())


def reshaped(layer: LegacyLayer, data: Source, sizes: Sequence[int], free: int | None = None) -> Source:
    """Return a tensor with other sizes, which stays possible for another batch size.

    Sizes of leading axes that stay are copied from the input; so is the number of elements, by the size at `free`, or
    by the first one if none is copied.
    """
    given, is_known = layer.sizes(data), all(dim.static for dim in layer.fact(data).shape or ())
    kept = next((axis for axis, pair in enumerate(zip(given, sizes, strict=False)) if len({*pair}) == 2), len(given))
    kept = min(kept, len(sizes))
    target = [0] * kept + list(sizes[kept:])
    place = 0 if free is None and kept == 0 and is_known else free
    if place is not None and kept <= place < len(target):
        target[place] = -1
    return layer.call("Reshape", data, target, special_zero=True)


def as_declared(layer: LegacyLayer, tensor: Source) -> Source:
    """Return a tensor with the sizes that the file declares for the first output."""
    sizes = declared_sizes(layer)
    return tensor if layer.sizes(tensor) == sizes else reshaped(layer, tensor, sizes)


def as_floats(layer: LegacyLayer, tensor: Source) -> Source:
    """Return a tensor as f32."""
    return _converted(layer, tensor, "f32")


def as_integers(layer: LegacyLayer, tensor: Source) -> Source:
    """Return indices or lengths, which may be floats, as i32."""
    return tensor if layer.fact(tensor).dtype.is_integer else _converted(layer, tensor, "i32")


def joined_types(layer: LegacyLayer, tensors: Sequence[Source]) -> list[Source]:
    """Return tensors of one element type: f32, if they have several."""
    if len({layer.fact(tensor).dtype for tensor in tensors}) == 1:
        return [*tensors]
    return [as_floats(layer, tensor) for tensor in tensors]


def truth(layer: LegacyLayer, tensor: Source) -> Source:
    """Return which elements are not 0."""
    return layer.call("NotEqual", tensor, layer.call("Convert", 0.0, destination_type=layer.fact(tensor).dtype.name))


def _converted(layer: LegacyLayer, tensor: Source, dtype: str) -> Source:
    return tensor if layer.fact(tensor).dtype.name == dtype else layer.call("Convert", tensor, destination_type=dtype)
