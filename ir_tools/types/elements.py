"""The element types of OpenVINO: name, name in ports, bits, and the numpy type where there is one."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from ir_tools.errors import UsageError

__all__ = [
    "ELEMENT_TYPES",
    "ElementType",
    "constant_type",
    "element_type",
    "from_dtype",
    "from_precision",
    "precision_in_file",
    "type_in_file",
]

ElementKind = Literal["float", "signed", "unsigned", "boolean", "string", "dynamic"]


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type.

    Attributes:
        name: as in `element_type="f32"`.
        precision: as in `<port precision="FP32">`.
        bits: of one element; 0 where an element has no fixed size.
        kind: what the bits mean.
        numpy_name: the numpy (or ml_dtypes) type that reads the bytes as they are; None where none does.
    """

    name: str
    precision: str
    bits: int
    kind: ElementKind
    numpy_name: str | None = None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The numpy type of the bytes as stored, or None (packed, nf4, string: raw bytes are all there is)."""
        return _dtype(self.numpy_name) if self.numpy_name else None

    @property
    def held_dtype(self) -> np.dtype[Any] | None:
        """The numpy type of arrays that hold the elements: `dtype`, a wider one for packed types, None for string."""
        return _dtype(_HELD_IN[self.name]) if self.packed else self.dtype

    @property
    def packed(self) -> bool:
        """Whether numpy does not have the type: its elements are smaller than a byte."""
        return 0 < self.bits < 8

    @property
    def is_float(self) -> bool:
        """Whether the type holds fractions."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether the type holds integers only (booleans are not numbers)."""
        return self.kind in {"signed", "unsigned"}

    def is_one_of(self, words: str) -> bool:
        """Return whether it is of a kind (`float integer boolean`, `any`) or a single type (`i64`) among the words.

        Without words every type is.
        """
        fitting = {"any", self.name, self.kind, "integer" if self.is_integer else self.kind}
        return not words or not fitting.isdisjoint(words.split())

    def byte_size(self, count: int) -> int:
        """Return how many bytes `count` elements take.

        Packed types fill whole bytes, 3 and 6 bits whole groups of three.
        """
        group = 24 if self.bits in {3, 6} else 8
        return -(-count * self.bits // group) * (group // 8)

    def __str__(self) -> str:
        """Return the name."""
        return self.name


@cache
def _dtype(name: str) -> np.dtype[Any]:
    if name in _FROM_ML_DTYPES:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    return np.dtype(name)


_FROM_ML_DTYPES = {"bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"}
_HELD_IN = {
    **dict.fromkeys(("u1", "u2", "u3", "u4", "u6"), "uint8"),
    "i4": "int8",
    **dict.fromkeys(("nf4", "f4e2m1"), "float32"),
}

ELEMENT_TYPES: dict[str, ElementType] = {
    kind.name: kind
    for kind in (
        ElementType("dynamic", "UNSPECIFIED", 0, "dynamic"),
        ElementType("boolean", "BOOL", 8, "boolean", "bool"),
        ElementType("f64", "FP64", 64, "float", "float64"),
        ElementType("f32", "FP32", 32, "float", "float32"),
        ElementType("f16", "FP16", 16, "float", "float16"),
        ElementType("bf16", "BF16", 16, "float", "bfloat16"),
        ElementType("f8e4m3", "F8E4M3", 8, "float", "float8_e4m3fn"),
        ElementType("f8e5m2", "F8E5M2", 8, "float", "float8_e5m2"),
        ElementType("f8e8m0", "F8E8M0", 8, "float", "float8_e8m0fnu"),
        ElementType("f4e2m1", "F4E2M1", 4, "float"),
        ElementType("nf4", "NF4", 4, "float"),
        ElementType("i64", "I64", 64, "signed", "int64"),
        ElementType("i32", "I32", 32, "signed", "int32"),
        ElementType("i16", "I16", 16, "signed", "int16"),
        ElementType("i8", "I8", 8, "signed", "int8"),
        ElementType("i4", "I4", 4, "signed"),
        ElementType("u64", "U64", 64, "unsigned", "uint64"),
        ElementType("u32", "U32", 32, "unsigned", "uint32"),
        ElementType("u16", "U16", 16, "unsigned", "uint16"),
        ElementType("u8", "U8", 8, "unsigned", "uint8"),
        ElementType("u6", "U6", 6, "unsigned"),
        ElementType("u4", "U4", 4, "unsigned"),
        ElementType("u3", "U3", 3, "unsigned"),
        ElementType("u2", "U2", 2, "unsigned"),
        ElementType("u1", "BIN", 1, "unsigned"),
        ElementType("string", "STRING", 0, "string"),
    )
}

_NAMES = {**ELEMENT_TYPES, "undefined": ELEMENT_TYPES["dynamic"]}
_NOT_IN_CAPITALS = {"dynamic", "undefined", "boolean", "f64", "f32", "f16"}
_OF_CONSTANTS = {**_NAMES, **{name.upper(): kind for name, kind in _NAMES.items() if name not in _NOT_IN_CAPITALS}}
_PRECISIONS = {**_OF_CONSTANTS, **{kind.precision: kind for kind in ELEMENT_TYPES.values()}, "bin": ELEMENT_TYPES["u1"]}


def type_in_file(name: str) -> ElementType | None:
    """Return the element type that the runtime reads in an attribute, whatever the case: `f32`, `F32`.

    None for any other.
    """
    return _NAMES.get(name.lower())


def constant_type(name: str) -> ElementType | None:
    """Return the element type that the runtime reads in `element_type="f32"` of a Const.

    There it knows `I64` but no `F32`.
    """
    return _OF_CONSTANTS.get(name)


def precision_in_file(text: str) -> ElementType | None:
    """Return the element type that the runtime reads in `precision="FP32"`; None where it reads none."""
    return _PRECISIONS.get(text)


def element_type(name: str) -> ElementType:
    """Return the element type called `name` (`f32`).

    Raises:
        UsageError: there is no such type.
    """
    found = type_in_file(name)
    if found is None:
        raise UsageError(f"'{name}' is not an element type of OpenVINO")
    return found


def from_precision(precision: str) -> ElementType:
    """Return the element type whose ports say `precision` (`FP32`).

    Raises:
        UsageError: there is no such precision.
    """
    found = precision_in_file(precision)
    if found is None:
        raise UsageError(f"'{precision}' is not a port precision of OpenVINO")
    return found


@cache
def from_dtype(dtype: np.dtype[Any]) -> ElementType:
    """Return the element type that numpy stores as `dtype`; arrays of objects hold strings.

    Raises:
        UsageError: OpenVINO has no such type.
    """
    name = dtype.name
    if name == "object":
        return ELEMENT_TYPES["string"]
    for kind in ELEMENT_TYPES.values():
        if kind.numpy_name == name:
            return kind
    raise UsageError(f"OpenVINO has no element type for numpy's {dtype}")
