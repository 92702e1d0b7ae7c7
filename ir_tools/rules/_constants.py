"""Every Const against the `.bin`: its attributes, its size, and the bytes that it names."""

import math
import struct
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ir_tools.format.nets import Net
from ir_tools.rules._define import Finding
from ir_tools.rules._file import IrFile
from ir_tools.source import Element
from ir_tools.types import ELEMENT_TYPES, ElementType, closest, id_number, type_in_file

__all__ = ["constants"]

LARGEST = 1 << 63
"""Elements or bytes that nothing can count."""


class _Const(NamedTuple):
    """A Const whose attributes can be read. `shape`: as written."""

    data: Element
    kind: ElementType
    shape: str
    elements: int
    offset: int
    size: int


def constants(file: IrFile) -> dict[str, list[Finding]]:
    """The findings of all rules about constants."""
    found: dict[str, list[Finding]] = defaultdict(list)
    readable = [const for net in file.nets for const in _read(file, net, found["bad-constant"])]
    needed = [const for const in readable if const.size]
    if file.weights.missing:
        if needed:
            found["missing-weights"].append(_missing(file, needed))
    else:
        _against_file(file, readable, found)
    for const in readable:
        wrong = _size_fault(file, const)
        if wrong:
            found["wrong-constant-size"].append(wrong)
    return found


# --- attributes -------------------------------------------------------------------------------------------------


def _read(file: IrFile, net: Net, faults: list[Finding]) -> Iterator[_Const]:
    """The constants of a graph, their attributes read; what cannot be read goes to `faults`."""
    for layer in net.layers.values():
        kind = layer.get("type")
        if kind != "Const" and (kind is None or kind.lower() != "const"):
            continue
        data = next(layer.iterchildren("data"), None)
        if data is None:
            remedy = "write element_type, shape, offset and size"
            faults.append(Finding(file.place_of(layer), "a Const has no <data>", remedy))
            continue
        const = _const(file, data, faults)
        if const is not None:
            yield const


def _const(file: IrFile, data: Element, faults: list[Finding]) -> _Const | None:
    name, shape = data.get("element_type"), data.get("shape")
    offset, size = id_number(data.get("offset")), id_number(data.get("size"))
    kind = None if name is None else type_in_file(name)
    dims = None if shape is None else _dims(shape)
    typed = kind is not None and kind.kind != "dynamic"
    if typed and kind and dims is not None and shape is not None and offset is not None and size is not None:
        return _Const(data, kind, shape, math.prod(dims), offset, size)
    faults += [Finding(file.place_of(data), message, remedy) for message, remedy in _faults(data, kind, dims)]
    return None


def _faults(data: Element, kind: ElementType | None, dims: list[int] | None) -> Iterator[tuple[str, str]]:
    """What is wrong with the attributes of a Const, and what to do."""
    name = data.get("element_type")
    if name is None:
        yield "a Const has no element_type", 'write element_type="f32", or another'
    elif kind is None:
        meant = closest(name, ELEMENT_TYPES)
        remedy = f"did you mean {meant}?" if meant else f"write one of {', '.join(ELEMENT_TYPES)}"
        yield f"a Const has element_type '{name[:40]}', which is no element type", remedy
    elif kind.kind == "dynamic":
        yield f"a Const has element_type '{name}', so its bytes have no meaning", "write the type of its bytes"
    shape = data.get("shape")
    if shape is None:
        yield "a Const has no shape", 'write shape="1, 3"; shape="" is a scalar'
    elif dims is None:
        yield f"a Const has shape '{shape[:60]}', which is none", 'write whole numbers, as in shape="1, 3"'
    for word in ("offset", "size"):
        text = data.get(word)
        if text is None:
            yield f"a Const has no {word}", f"{word} is a whole number of bytes"
        elif id_number(text) is None:
            yield f"a Const has {word} '{text[:40]}', which is no number of bytes", f"{word} is a whole number of bytes"


def _dims(shape: str) -> list[int] | None:
    """The sizes of `1, 3`; none for a scalar. A comma may stand behind the last, as for the runtime."""
    words = shape.split(",")
    if not words[-1].strip():
        words.pop()
    dims = []
    for word in words:
        number = id_number(word.rstrip())
        if number is None:
            return None
        dims.append(number)
    return dims


# --- against the bytes ------------------------------------------------------------------------------------------


def _missing(file: IrFile, needed: list[_Const]) -> Finding:
    """There is no `.bin`: told once, at the first constant that needs it."""
    end = max(const.offset + const.size for const in needed)
    where = f"{file.weights.path} is missing" if file.weights.path else "there is no .bin"
    message = f"{where}, and {len(needed)} constants are in its {end} bytes"
    return Finding(file.place_of(needed[0].data), message, "put the model's .bin there, or name it")


def _against_file(file: IrFile, readable: list[_Const], found: dict[str, list[Finding]]) -> None:
    stored = file.weights.size
    beyond = [const for const in readable if const.offset + const.size > stored]
    if beyond:
        found["constant-outside-weights"].append(_outside(file, beyond, len(readable), stored))
    for const in readable:
        if const.kind.kind == "string" and const.offset + const.size <= stored:
            message = _string_fault(file.weights.view(const.offset, const.size).tobytes(), const.elements)
            if message:
                remedy = "the bytes are the number of strings, where each begins and the last ends, and their text"
                found["bad-string-constant"].append(Finding(file.place_of(const.data), message, remedy))


def _outside(file: IrFile, beyond: list[_Const], count: int, stored: int) -> Finding:
    """Constants beyond the end of the file: told once, since a file that was cut off lacks many."""
    first = beyond[0]
    message = f"the constant has {first.size} bytes from {first.offset} on, and the .bin has {stored}"
    remedy = "correct offset and size, or take the model's own .bin"
    if len(beyond) > 1:
        message += f"; so have {len(beyond) - 1} more of {count} constants"
        remedy = "the .bin is cut off or belongs to another model"
    return Finding(file.place_of(first.data), message, remedy)


def _size_fault(file: IrFile, const: _Const) -> Finding | None:
    """The size of a constant against shape and element type. Three- and six-bit elements fill groups or bytes."""
    kind, count = const.kind, const.elements
    if kind.kind == "string":
        if count < LARGEST // 64 and count <= const.size // 4:
            return None
        message = f"shape [{const.shape}] is more than strings in {const.size} bytes can be"
    else:
        least, most = -(-count * kind.bits // 8), kind.byte_size(count)
        if least <= const.size <= most and most < LARGEST:
            return None
        message = f"size is {const.size}, and shape [{const.shape}] of {kind} takes {most} bytes"
    return Finding(file.place_of(const.data), message, "correct shape, element_type or size")


def _string_fault(data: bytes, count: int) -> str | None:
    """What is wrong with the layout of a string constant: number, begin of each and end of the last, text."""
    if len(data) < 4:
        return f"a string constant has {len(data)} bytes, and its number of strings alone takes 4"
    [number] = struct.unpack_from("<i", data)
    if number < 0 or 4 * (number + 2) > len(data):
        return f"a string constant of {len(data)} bytes says that it holds {number} strings"
    if number != count:
        return f"the bytes hold {number} strings, and the shape has {count}"
    places = struct.unpack_from(f"<{number + 1}i", data, 4)
    room = len(data) - 4 * (number + 2)
    if any(later < first for first, later in zip((0, *places), places, strict=False)):
        return "the places of the strings in a string constant go backwards"
    if places and places[-1] > room:
        return f"the last string ends at {places[-1]} of {room} bytes"
    return None
