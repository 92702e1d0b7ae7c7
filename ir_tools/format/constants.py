"""Every Const: its attributes, its size, the bytes that it names, and the `.bin` that holds them."""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from ir_tools.display import plural
from ir_tools.format.nets import Net
from ir_tools.format.problems import ElementProblem
from ir_tools.format.texts import SharedText, Text
from ir_tools.rules.storage import (
    BAD_CONSTANT,
    BAD_STRING_CONSTANT,
    CONSTANT_OUTSIDE_WEIGHTS,
    MISSING_WEIGHTS,
    WRONG_CONSTANT_SIZE,
)
from ir_tools.source import Element
from ir_tools.source.grammar import BLOBS, LEGACY_VERSIONS
from ir_tools.types import ELEMENT_TYPES, ElementType, closest, constant_type, id_number
from ir_tools.weights import Weights

__all__ = ["Constant", "Tensor", "constants_of", "stored_problems"]

LARGEST = 1 << 63
"""Elements or bytes that nothing can count."""


class Tensor(NamedTuple):
    """The value of a Const by its attributes. `shape`: as written; `fault`: what is wrong with `size`."""

    kind: ElementType
    shape: str
    elements: int
    size: int
    fault: str | None


class Constant(NamedTuple):
    """A Const whose attributes can be read, and the byte of the `.bin` at which it begins."""

    layer: Element
    offset: int
    tensor: Tensor

    @property
    def data(self) -> Element:
        """Its `<data>`; the layer itself if that is a legacy one, with blobs."""
        return next(self.layer.iterchildren("data"), self.layer)

    @property
    def end(self) -> int:
        """The byte after its last one."""
        return self.offset + self.tensor.size


def constants_of(nets: Iterable[Net], texts: Mapping[Element, Text]) -> tuple[list[Constant], list[ElementProblem]]:
    """Read the constants of all graphs, and note what cannot be read; `texts`: layers of one form are read once."""
    readable: list[Constant] = []
    faults: list[ElementProblem] = []
    known: dict[SharedText, Tensor | None] = {}
    for net in nets:
        legacy = id_number(net.element.getroottree().getroot().get("version")) in LEGACY_VERSIONS
        for layer in net.layers.values():
            text = texts.get(layer)
            if text and text.form in known:
                tensor = known[text.form]
                if tensor and text.offset is not None:
                    readable.append(Constant(layer, text.offset, tensor))
                continue
            if legacy:
                faults += _read_blobs(layer, readable)
            elif (layer.get("type") or "").lower() == "const":
                count = len(readable)
                faults += _read(layer, readable)
                if text and text.offset is not None and len(readable) > count:
                    known[text.form] = readable[-1].tensor
            elif text:
                known[text.form] = None
    return readable, faults


def stored_problems(constants: Sequence[Constant], weights: Weights) -> Iterator[ElementProblem]:
    """Hold the constants against the `.bin`: whether it is there and holds them, and whether their sizes fit."""
    needed = [const for const in constants if const.tensor.size]
    if not weights.missing:
        yield from _against_file(constants, weights)
    elif needed:
        yield _missing(needed, weights)
    for const in constants:
        if const.tensor.fault:
            yield ElementProblem(
                WRONG_CONSTANT_SIZE, const.data, const.tensor.fault, "correct the shape, element_type or size"
            )


# --- attributes -------------------------------------------------------------------------------------------------


def _read(layer: Element, readable: list[Constant]) -> Iterator[ElementProblem]:
    """Add a constant whose attributes can be read to `readable`, and report what cannot be read."""
    data = next(layer.iterchildren("data"), None)
    if data is None:
        if any(closest(str(child.tag), ["data"]) for child in layer):
            return
        yield ElementProblem(BAD_CONSTANT, layer, "a Const has no <data>", "write element_type, shape, offset and size")
        return
    name, shape = data.get("element_type"), data.get("shape")
    offset, size = id_number(data.get("offset")), id_number(data.get("size"))
    kind = None if name is None else constant_type(name)
    dims = None if shape is None else _dims(shape)
    typed = kind is not None and kind.kind != "dynamic"
    if typed and kind and dims is not None and shape is not None and offset is not None and size is not None:
        elements = _product(dims)
        fault = _size_problem(kind, shape, elements, size)
        readable.append(Constant(layer, offset, Tensor(kind, shape, elements, size, fault)))
        return
    for message, remedy in _unreadable(data, kind, dims):
        yield ElementProblem(BAD_CONSTANT, data, message, remedy)


def _read_blobs(layer: Element, readable: list[Constant]) -> Iterator[ElementProblem]:
    """Add the blobs of a legacy layer to `readable`, and report what cannot be read."""
    for blob in chain(layer, *layer.iterchildren("blobs")):
        if blob.tag not in BLOBS:
            continue
        offset, size = id_number(blob.get("offset")), id_number(blob.get("size"))
        if offset is None or size is None:
            message = f"the offset or size of <{blob.tag}> is missing or is not a number of bytes"
            yield ElementProblem(BAD_CONSTANT, blob, message, "write both as a number of bytes")
        else:
            readable.append(Constant(layer, offset, Tensor(ELEMENT_TYPES["u8"], str(size), size, size, None)))


def _unreadable(data: Element, kind: ElementType | None, dims: tuple[int, ...] | None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the attributes of a Const, and what to do."""
    name = data.get("element_type")
    if name is None:
        yield "a Const has no element_type", 'write an element type such as element_type="f32"'
    elif kind is None:
        meant = closest(name, ELEMENT_TYPES)
        remedy = f"did you mean {meant}?" if meant else f"write one of {', '.join(ELEMENT_TYPES)}"
        yield f"a Const has element_type '{name[:40]}', which is not an element type", remedy
    elif kind.kind == "dynamic":
        yield (
            f"a Const has element_type '{name}', which does not define the meaning of its bytes",
            "write the element type of the data",
        )
    shape = data.get("shape")
    if shape is None:
        yield "a Const has no shape", 'write shape="1, 3"; shape="" is a scalar'
    elif dims is None:
        yield f"a Const has shape '{shape[:60]}', which is not a shape", 'write integers, as in shape="1, 3"'
    for word in ("offset", "size"):
        text = data.get(word)
        if text is None:
            yield f"a Const has no {word}", f"write {word} as a number of bytes"
        elif id_number(text) is None:
            yield (
                f"a Const has {word} '{text[:40]}', which is not a number of bytes",
                f"write {word} as a number of bytes",
            )


def _product(dims: tuple[int, ...]) -> int:
    """Return the number of elements, at most `LARGEST`."""
    count = 0 if 0 in dims else 1
    for dim in dims:
        count = min(count * dim, LARGEST)
    return count


@lru_cache(4096)
def _dims(shape: str) -> tuple[int, ...] | None:
    """Return the sizes of `1, 3`; none for a scalar. A comma may follow the last, as for the runtime."""
    words = shape.split(",")
    if not words[-1].strip():
        words.pop()
    dims = []
    for word in words:
        number = id_number(word.rstrip())
        if number is None:
            return None
        dims.append(number)
    return tuple(dims)


# --- against the bytes ------------------------------------------------------------------------------------------


def _missing(needed: list[Constant], weights: Weights) -> ElementProblem:
    """Report that there is no `.bin`, once, at the first constant that needs it."""
    end = max(const.end for const in needed)
    where = f"{weights.path.name} is missing" if weights.path else "there is no .bin"
    count = "1 constant needs" if len(needed) == 1 else f"{len(needed)} constants need"
    message = f"{where}; {count} its {end} bytes"
    return ElementProblem(
        MISSING_WEIGHTS, needed[0].data, message, "copy the .bin of the model there, or name it with --bin"
    )


def _against_file(readable: Sequence[Constant], weights: Weights) -> Iterator[ElementProblem]:
    stored = weights.size
    beyond = [const for const in readable if const.end > stored]
    if beyond:
        yield _outside(beyond, len(readable), stored)
    for const in readable:
        if const.tensor.kind.kind == "string" and const.end <= stored:
            message = _string_problem(weights.view(const.offset, const.tensor.size).tobytes(), const.tensor.elements)
            if message:
                remedy = (
                    "expected the number of strings, the offset of each string, the end of the last one, and the text"
                )
                yield ElementProblem(BAD_STRING_CONSTANT, const.data, message, remedy)


def _outside(beyond: list[Constant], count: int, stored: int) -> ElementProblem:
    """Constants beyond the end of the file: told once, since a file that was cut off lacks many."""
    first = beyond[0]
    message = f"the constant has {first.tensor.size} bytes at offset {first.offset}, but the .bin has {stored} bytes"
    remedy = "correct the offset and size, or use the .bin of this model"
    if len(beyond) > 1:
        message += f"; {len(beyond) - 1} more of {count} constants lie beyond it"
        remedy = "the .bin is truncated or belongs to another model"
    return ElementProblem(CONSTANT_OUTSIDE_WEIGHTS, first.data, message, remedy)


def _size_problem(kind: ElementType, shape: str, count: int, size: int) -> str | None:
    """Return what is wrong with the size of a constant by shape and element type.

    Three- and six-bit elements fill groups or bytes. OpenVINO itself gives constants without elements one byte.
    """
    if kind.kind == "string":
        if count < LARGEST // 64 and count <= size // 4:
            return None
        return f"shape [{shape[:60]}] has more strings than {size} bytes can hold"
    minimum, maximum = -(-count * kind.bits // 8), kind.byte_size(count)
    if minimum <= size <= max(maximum, 1) and maximum < LARGEST:
        return None
    words = f"{maximum} bytes" if maximum < LARGEST else "more than 2^63 bytes"
    return f"size is {size}, but shape [{shape[:60]}] of {kind} takes {words}"


def _string_problem(data: bytes, count: int) -> str | None:
    """Return what is wrong with the layout of a string constant: number, begin of each and end of the last, text."""
    if len(data) < 4:
        return (
            f"a string constant has {plural(len(data), 'byte')}; expected at least the 4 bytes for the number of "
            "strings"
        )
    [number] = struct.unpack_from("<i", data)
    if number < 0 or 4 * (number + 2) > len(data):
        return f"a string constant of {len(data)} bytes cannot hold {number} strings"
    if number != count:
        return f"the bytes hold {number} strings, but the shape has {count}"
    places = np.frombuffer(data, "<i4", number + 1, 4)
    room = len(data) - 4 * (number + 2)
    if places[0] < 0 or (places[1:] < places[:-1]).any():
        return "the offsets of the strings in a string constant decrease"
    return f"the last string ends at byte {places[-1]} of {room}" if places[-1] > room else None
