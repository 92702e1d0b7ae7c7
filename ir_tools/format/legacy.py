"""What a file of IR v2 to v7 says outside its layers: mean values of inputs, and ranges of tensors."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ir_tools.errors import ReadError
from ir_tools.format.content import SourceFile
from ir_tools.format.problems import ElementProblem, read_error
from ir_tools.graph import Model
from ir_tools.rules.operations import UNREADABLE_ATTRIBUTE
from ir_tools.source import Document, Element
from ir_tools.types import id_number

__all__ = ["Mean", "means", "quantized_layers", "statistics"]


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
        channels = [_mean(document, channel) for channel in element.iterchildren("channel")]
        name = element.get("reference-layer-name") or next((end.layer.name for end in model.inputs), "")
        if channels:
            found[name] = channels
    return found


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
    message = "<mean> has no value that is a number, and no offset and size"
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
