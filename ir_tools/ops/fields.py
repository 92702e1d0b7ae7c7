"""The kinds of attributes of operations: how their text is read, and the values of one layer."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ir_tools.display import either
from ir_tools.errors import UsageError
from ir_tools.types import Dim, ElementType, element_type, parse_shape, type_in_file

__all__ = [
    "COUNT",
    "EPSILON",
    "FINITE",
    "LARGEST_F32",
    "LENGTH",
    "LIMIT",
    "NOT_NEGATIVE",
    "OVERLAP",
    "POSITIVE",
    "REQUIRED",
    "SCORE",
    "Attrs",
    "ExactWord",
    "Field",
    "Flag",
    "Float",
    "Floats",
    "IndexType",
    "Int",
    "Int32",
    "Ints",
    "Label",
    "Numeric",
    "ObservedAttrs",
    "OneOf",
    "OutOfRange",
    "ShapeText",
    "Text",
    "Type",
    "Usual",
    "Words",
    "listed",
]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-?inf|nan")
"""The runtime reads no other spelling of an infinity or NaN (measured)."""
MAX_DIGITS = 20
"""Of a 64-bit number with its sign."""
LARGEST = 2**63 - 1
LARGEST_F32 = float(np.finfo(np.float32).max)
SMALLEST_F32 = float(np.finfo(np.float32).smallest_subnormal)

REQUIRED: Any = object()
"""The default of a field without which the layer has no meaning."""


class OutOfRange(ValueError):
    """A value that can be read, and that the attribute may not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """The numbers that make sense, from `minimum` or above `over` to `maximum`; a layer runs with others, too.

    `below`, `above`: what a layer does with smaller and with larger numbers. `also`: a number that stands for something
    else, such as -1 for no limit. `infinite`: whether infinities make sense, too.
    """

    minimum: float = -math.inf
    over: float = -math.inf
    maximum: float = math.inf
    below: str = ""
    above: str = ""
    also: float | None = None
    infinite: bool = False

    def problem(self, value: float) -> str | None:
        """Return what is wrong with a number, None if nothing is."""
        if value == self.also or (self.infinite and math.isinf(value)):
            return None
        if not abs(value) <= LARGEST_F32:
            return f"is {value}; expected a finite number"
        if 0 < abs(value) < SMALLEST_F32:
            return f"is {value}, which is 0 as f32"
        if value < self.minimum:
            return f"is {value:g}, {self.below}; expected at least {self.minimum:g}"
        if value <= self.over:
            return f"is {value:g}, {self.below}; expected more than {self.over:g}"
        if value > self.maximum:
            return f"is {value:g}, {self.above}; expected at most {self.maximum:g}"
        return None


FINITE = Usual()
EPSILON = Usual(
    minimum=0, below="with which the result may be NaN", maximum=1, above="which suppresses most of the data"
)
NOT_NEGATIVE = Usual(minimum=0, below="which is negative")
POSITIVE = Usual(over=0, below="which makes every output 0")
LENGTH = Usual(over=0, below="which is not a valid length")
OVERLAP = Usual(
    minimum=0,
    below="so every box suppresses all others",
    maximum=1,
    above="so no box is suppressed, because no overlap is larger than 1",
)
SCORE = Usual(maximum=1, above="which no probability exceeds")
LIMIT = Usual(minimum=1, below="so no box is selected", also=-1)
"""Of boxes; -1 for all."""
COUNT = Usual(minimum=1, below="so no box is selected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One attribute. `xml`: its name in the file where it differs; `aliases`: misspellings that real files have.

    `default`: the value of an absent or empty attribute by the specification; `runtime_default`: that by the runtime,
    if the specification requires the attribute or has another default; `needed`: the runtime refuses absence, whatever
    the default is.
    """

    xml: str | None = None
    aliases: tuple[str, ...] = ()
    default: Any = REQUIRED
    runtime_default: Any = REQUIRED
    needed: bool = False

    blank: ClassVar[bool] = True
    """Whether an attribute without text counts as absent, and is not read as a (wrong) value."""

    @property
    def absent(self) -> Any:
        """What the runtime takes for an absent attribute; REQUIRED where it takes nothing."""
        return self.default if self.runtime_default is REQUIRED else self.runtime_default

    def means_default(self, value: Any) -> bool:
        """Return whether a value says what the runtime takes for an absent attribute."""
        return bool(value == self.runtime_default)

    def is_absent(self, text: str | None) -> bool:
        """Return whether an attribute with this text counts as absent: an empty list does, a blank one does not."""
        return text is None or (not text and self.blank)

    def parse(self, text: str) -> Any:
        """Parse a text; ValueError, with the reason, if it has no value; OutOfRange if the value is not allowed."""
        raise NotImplementedError

    def render(self, value: Any, separator: str) -> str:
        """Render the text of a value; `separator` stands between list items (`,` or `, `)."""
        return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric(Field):
    """Numbers. `usual`: those that make sense; others are reported."""

    usual: Usual = FINITE


@dataclass(frozen=True, slots=True, kw_only=True)
class Ints(Numeric):
    """A list of integers, each from `minimum` to `maximum`; `counts`: how many there may be (empty: any number).

    `ones_for`: the other list for each of whose values an absent one has a 1.
    """

    minimum: int | None = None
    maximum: int | None = None
    counts: tuple[int, ...] = ()
    ones_for: str = ""

    def means_default(self, value: Any) -> bool:
        """Return whether a list says what the runtime takes for an absent one: an empty one is of ones or zeros."""
        neutral = 1 if self.minimum == 1 else 0
        return Field.means_default(self, value) or (not self.runtime_default and set(value) == {neutral})

    def parse(self, text: str) -> tuple[int, ...]:
        """Parse `"2, 2"` -> `(2, 2)`."""
        values = tuple(map(_integer, _items(text)))
        _require_count(len(values), self.counts)
        for value in dict.fromkeys(values):
            _require_range(value, self.minimum, self.maximum)
        return values

    def render(self, value: Any, separator: str) -> str:
        """Render `(2, 2)` -> `"2, 2"`."""
        return separator.join(map(str, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Int(Numeric):
    """An integer from `minimum` to `maximum`. `plus`: whether the runtime reads a plus sign."""

    blank: ClassVar[bool] = False

    minimum: int | None = None
    maximum: int | None = None
    plus: bool = False

    def parse(self, text: str) -> int:
        """Parse `"-1"` -> `-1`."""
        value = _integer(text, plus=self.plus)
        _require_range(value, self.minimum, self.maximum)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Float(Numeric):
    """A number from `minimum` to `maximum`."""

    blank: ClassVar[bool] = False

    minimum: float | None = None
    maximum: float | None = None

    def parse(self, text: str) -> float:
        """Parse `"1e-5"` -> `1e-05`."""
        value = _number(text)
        _require_range(value, self.minimum, self.maximum)
        return value

    def render(self, value: Any, separator: str) -> str:
        """Render `1e-05`; infinity as the largest f64, which is infinite as f32: not all releases read `inf`."""
        del separator
        return str(math.copysign(sys.float_info.max, value) if math.isinf(value) else value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Floats(Numeric):
    """A list of f32, each from `minimum` to `maximum`; `counts`: how many there may be (empty: any number)."""

    minimum: float | None = None
    maximum: float | None = None
    counts: tuple[int, ...] = ()

    def parse(self, text: str) -> tuple[float, ...]:
        """Parse `"1, 0.5"` -> `(1.0, 0.5)`."""
        values = tuple(_number(item, LARGEST_F32) for item in _items(text))
        _require_count(len(values), self.counts)
        for value in values:
            _require_range(value, self.minimum, self.maximum)
        return values

    def render(self, value: Any, separator: str) -> str:
        """Render `(1.0, 0.5)` -> `"1.0, 0.5"`."""
        return separator.join(map(repr, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Field):
    """A list of words: activation names, equations."""

    words: tuple[str, ...] = ()

    def parse(self, text: str) -> tuple[str, ...]:
        """Parse `"sigmoid, tanh"` -> `("sigmoid", "tanh")`; with `words`, each must be one of them in any case."""
        found = tuple(word.strip() for word in text.split(",")) if text.strip() else ()
        for word in found:
            if self.words and word.lower() not in self.words:
                raise ValueError(f"has '{word[:40]}'; expected one of {', '.join(self.words)}")
        return tuple(word.lower() for word in found) if self.words else found

    def render(self, value: Any, separator: str) -> str:
        """Render `("sigmoid", "tanh")` -> `"sigmoid, tanh"`."""
        return separator.join(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Field):
    """True or false, read as the runtime does: `true` and `1`, `false` and `0`, in any case (measured).

    The runtime takes any other text as if the attribute were absent.
    """

    blank: ClassVar[bool] = False

    def parse(self, text: str) -> bool:
        """Parse `"False"` -> `False`."""
        word = text.lower()
        if word in {"true", "1", "false", "0"}:
            return word in {"true", "1"}
        return self.absent is REQUIRED or bool(self.absent)

    def render(self, value: Any, separator: str) -> str:
        """Render `True` -> `"true"`."""
        return "true" if value else "false"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf(Field):
    """One word of a list; case does not matter, as for the runtime. `synonyms`: other words for some of them."""

    blank: ClassVar[bool] = False

    words: tuple[str, ...]
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def parse(self, text: str) -> str:
        """Parse `"SAME_UPPER"` -> `"same_upper"`."""
        word = text.lower()
        word = self.synonyms.get(word, word)
        if word not in self.words:
            raise ValueError(f"is '{text[:40]}'; expected one of {', '.join(self.words)}")
        return word


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Field):
    """Any text."""

    def parse(self, text: str) -> str:
        """Parse the text itself."""
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Label(Text):
    """A name that layers share, such as that of a variable.

    No check, shape rule, kernel or known difference looks at it, and a rewrite carries it over or appends to it: layers
    that differ in nothing else are looked at once.
    """


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
        return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactWord(OneOf):
    """One word of a list, letter by letter: what the runtime holds as plain text and compares itself."""

    def parse(self, text: str) -> str:
        """Parse `"average"` -> `"average"`."""
        if text not in self.words:
            raise ValueError(f"is '{text[:40]}'; expected one of {', '.join(word or 'nothing' for word in self.words)}")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Int32(Int):
    """An integer of 32 bits: of more the runtime reads the lowest, `2147483648` as its negative (measured)."""

    minimum: int | None = -(2**31)
    maximum: int | None = 2**31 - 1


# --- reading ---------------------------------------------------------------------------------------------------


def _items(text: str) -> list[str]:
    """Return the items of a list; the runtime lets it end with a comma, and refuses a blank one (measured)."""
    if text and not text.strip():
        raise ValueError("is blank; expected a list of numbers, or an empty attribute")
    items = text.split(",")
    return items if items[-1].strip() else items[:-1]


def _number(text: str, largest: float = sys.float_info.max) -> float:
    word = text.strip()
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"has '{word[:40]}'; expected a number")
    value = float(word)
    if abs(value) > largest and not word.endswith("inf"):
        raise OutOfRange(f"is {word[:40]}, which no float can hold")
    return value


def _require_count(count: int, counts: tuple[int, ...]) -> None:
    if counts and count not in counts:
        raise OutOfRange(f"has {count} values; expected {either(counts)}")


def _require_range(value: float, minimum: float | None, maximum: float | None) -> None:
    if minimum is not None and not value >= minimum:
        raise OutOfRange(f"is {value}; expected at least {minimum}")
    if maximum is not None and not value <= maximum:
        raise OutOfRange(f"is {value}; expected at most {maximum}")


@lru_cache(1024)
def _integer(text: str, *, plus: bool = False) -> int:
    """Return an integer; mostly the runtime reads no plus sign (measured)."""
    word = text.strip()
    if not re.fullmatch(r"[+-]?[0-9]+" if plus else r"-?[0-9]+", word):
        raise ValueError(f"has '{word[:40]}'; expected an integer")
    if len(word) > MAX_DIGITS or abs(int(word)) > LARGEST:
        raise OutOfRange(f"is {word[:40]}, which does not fit into 64 bits")
    return int(word)


def listed(values: Iterable[object]) -> str:
    """Return `(2, 2)` -> `2,2`, as attributes are written."""
    return ",".join(map(str, values))


# --- the values of a layer --------------------------------------------------------------------------------------


class Attrs(Mapping[str, Any]):
    """The typed attributes of one layer: `attrs.kernel`, `attrs["kernel"]`."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        """`values`: by Python name, not to be changed afterwards."""
        self._values = values

    def __getitem__(self, name: str) -> Any:
        """Return the value of the attribute."""
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        """Return the value of the attribute."""
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of the attribute, or the default if the version does not have it."""
        return self._values.get(name, default)

    def __contains__(self, name: object) -> bool:
        """Return whether the version has the attribute."""
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._values)

    def values(self) -> ValuesView[Any]:
        """Return the values."""
        return self._values.values()


class ObservedAttrs(Attrs):
    """Attributes that remember which of them were read."""

    __slots__ = ("names_read",)

    def __init__(self, attrs: Attrs) -> None:
        """Start with nothing read."""
        super().__init__(attrs._values)
        self.names_read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        """Return the value of the attribute, and remember the name."""
        value = super().__getitem__(name)
        self.names_read.add(name)
        return value

    def __getattr__(self, name: str) -> Any:
        """Return the value of the attribute, and remember the name."""
        value = super().__getattr__(name)
        self.names_read.add(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of the attribute, and remember the name, or the default."""
        if name in self:
            self.names_read.add(name)
        return super().get(name, default)

    def peek(self, name: str) -> Any:
        """Return the value of the attribute without reading it."""
        return super().__getitem__(name)

    def values(self) -> ValuesView[Any]:
        """Return the values, which reads all of them."""
        self.names_read.update(self)
        return super().values()
