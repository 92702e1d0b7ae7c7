"""What a file says outside its layers: mean values of inputs, and, up to IR v7, ranges of tensors."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ir_tools.display import plural
from ir_tools.errors import ReadError, ShapeError
from ir_tools.format.content import SourceFile
from ir_tools.format.problems import ElementProblem, read_error
from ir_tools.graph import Model
from ir_tools.ops import Array
from ir_tools.rules.operations import UNREADABLE_ATTRIBUTE
from ir_tools.source import Document, Element
from ir_tools.types import id_number
from ir_tools.weights import Weights

__all__ = ["Centring", "Mean", "mean_array", "means", "quantized_layers", "statistics"]


class Mean(NamedTuple):
    """What is subtracted from one channel of an input: a number, or an image at bytes of the `.bin`."""

    value: float
    offset: int | None = None
    size: int = 0


def means(model: Model) -> dict[str, Sequence[Mean]]:
    """Return the means of each input that has some, by the name of its layer; empty for a model without a file.

    `<scale>` is left out: Inference Engine 2020.1 does not apply it.

    Raises:
        ReadError: a mean is not a number, or its place in the `.bin` is not.
    """
    if not isinstance(model.origin, SourceFile):
        return {}
    document, found = model.origin.document, dict[str, Sequence[Mean]]()
    for element in document.root.iterchildren("pre-process"):
        channels = sorted(element.iterchildren("channel"), key=lambda channel: id_number(channel.get("id")) or 0)
        name = element.get("reference-layer-name") or next((end.layer.name for end in model.inputs), "")
        if channels:
            found[name] = [_mean(document, channel) for channel in channels]
    return found


def mean_array(name: str, channels: Sequence[Mean], shape: Sequence[int], weights: Weights) -> Array:
    """Return what is subtracted from an input of this shape, `[1, C, ...]`.

    Raises:
        ShapeError: the means do not fit the input.
    """
    if channels[0].offset is None:
        numbers = np.array([channel.value for channel in channels], np.float32)
        if len(shape) < 2 or numbers.size != shape[1]:
            raise ShapeError(f"<pre-process> has {plural(numbers.size, 'mean')} for '{name}' of shape {[*shape]}")
        return numbers.reshape(1, -1, *[1] * (len(shape) - 2))
    stored = sum(one.size for one in channels)
    if any(one.size % 4 for one in channels) or stored != 4 * math.prod(shape[1:]):
        raise ShapeError(f"the mean images of '{name}' have {stored} bytes; expected f32 of {[*shape[1:]]}")
    numbers = np.concatenate([weights.view(one.offset or 0, one.size).view(np.float32) for one in channels])
    return numbers.reshape(1, *shape[1:])


class Centring:
    """What the runtime puts behind the inputs of a model with `<pre-process>`: a Subtract of their means."""

    def __init__(self, model: Model) -> None:
        """Read the means of all inputs. Raises ReadError as `means`."""
        self._means, self._weights = means(model), model.weights

    def __call__(self, name: str, array: Array) -> Array:
        """Return what consumers read of an input, in its own type; of rank 3, it is one image (measured).

        Raises:
            ShapeError: the means do not fit the input.
        """
        if name not in self._means:
            return array
        shape = (1, *array.shape) if array.ndim == 3 else array.shape
        centred: Array = array - mean_array(name, self._means[name], shape, self._weights)[0].astype(array.dtype)
        return centred


def _mean(document: Document, channel: Element) -> Mean:
    mean = channel.find("mean")
    if mean is None:
        return Mean(0.0)
    if mean.get("value") is None:
        offset, size = id_number(mean.get("offset")), id_number(mean.get("size"))
        if offset is not None and size is not None:
            return Mean(0.0, offset, size)
    else:
        try:
            return Mean(float(mean.get("value") or ""))
        except ValueError:
            pass
    raise _unreadable(document, mean)


def _unreadable(document: Document, mean: Element) -> ReadError:
    message = "<mean> has neither a numeric value nor an offset and a size"
    return read_error(document, [ElementProblem(UNREADABLE_ATTRIBUTE, mean, message, 'write value="104.0"')])


def quantized_layers(model: Model) -> Iterator[str]:
    """Yield the names of the layers whose ranges `<statistics>` records: Inference Engine computed them in INT8."""
    if isinstance(model.origin, SourceFile):
        for name in model.origin.document.root.iterfind("statistics/layer/name"):
            yield name.text or ""


def statistics(model: Model) -> dict[str, tuple[float, float]]:
    """Return the lowest and the highest value of a layer's output by the name of the layer: those of `<statistics>`.

    Raises:
        ReadError: a layer of it has no numbers.
    """
    if not isinstance(model.origin, SourceFile):
        return {}
    document, found = model.origin.document, dict[str, tuple[float, float]]()
    for element in document.root.iterfind("statistics/layer"):
        try:
            low, high = ([float(word) for word in (element.findtext(kind) or "").split(",")] for kind in ("min", "max"))
        except ValueError:
            message = "the <min> and <max> of a layer in <statistics> are not lists of numbers"
            problem = ElementProblem(UNREADABLE_ATTRIBUTE, element, message, "migrate without --int8")
            raise read_error(document, [problem]) from None
        found[(element.findtext("name") or "").strip()] = min(low), max(high)
    return found
