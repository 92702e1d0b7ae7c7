"""Attributes of particular kinds: element types, partial shapes."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ir_tools.errors import UsageError
from ir_tools.ops.definition import Field, Int, OneOf, OutOfRange
from ir_tools.types import Dim, ElementType, element_type, parse_shape, type_in_file

__all__ = ["ExactWord", "IndexType", "Int32", "ShapeText", "Type"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Type(Field):
    """An element type by name; `dynamic` only if the attribute may leave the type `open`."""

    open: bool = False

    blank: ClassVar[bool] = False

    def parse(self, text: str) -> ElementType:
        """Parse `"f32"` -> `f32`, in any case; `undefined` is rejected, as most releases do."""
        kind = type_in_file(text)
        if kind is None or text.lower() == "undefined":
            raise ValueError(f"is '{text[:40]}', which is not an element type of OpenVINO")
        if kind.kind == "dynamic" and not self.open:
            raise OutOfRange("is dynamic; expected the element type of the result")
        return kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeText(Field):
    """A partial shape; an empty text is a scalar's."""

    def parse(self, text: str) -> tuple[Dim, ...] | None:
        """Parse `"1,3,?,16..64"`."""
        try:
            return parse_shape(text)
        except UsageError as why:
            raise ValueError(f"is not a shape: {why}") from None

    def render(self, value: Any, separator: str) -> str:
        """Render `1,3,?,16..64`; `...` for an unknown rank."""
        return "..." if value is None else separator.join(map(str, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexType(OneOf):
    """`i32` or `i64`."""

    words: tuple[str, ...] = ("i32", "i64")

    def parse(self, text: str) -> Any:
        """Parse `"i32"` -> the element type."""
        return element_type(OneOf.parse(self, text))

    def render(self, value: Any, separator: str) -> str:
        """Render the name."""
        del separator
        return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactWord(OneOf):
    """One word of a list, letter by letter: what the runtime holds as plain text and compares itself."""

    def parse(self, text: str) -> str:
        """Parse `"average"` -> `"average"`."""
        if text not in self.words:
            raise ValueError(f"is '{text}'; expected one of {', '.join(word or 'nothing' for word in self.words)}")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Int32(Int):
    """An integer of 32 bits: of more the runtime reads the lowest, `2147483648` as its negative (measured)."""

    minimum: int | None = -(2**31)
    maximum: int | None = 2**31 - 1
