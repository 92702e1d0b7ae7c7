"""Generators of input values, each written as a text: `uniform:0:255`, `ones`, `image`, `values:1,3,224`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ir_tools.errors import UsageError
from ir_tools.ops import Array
from ir_tools.types import ElementType
from ir_tools.types.words import closest

__all__ = ["GENERATORS", "Generator", "default_for", "is_generator", "parse_generator"]

Random = np.random.Generator
LARGEST = 1 << 34
"""Elements of an input that is made up; a larger one fits into no usual machine."""
WAVES = 5
"""Waves that make up an image."""


@dataclass(frozen=True, slots=True)
class GeneratorKind:
    """One row of the table of generators.

    Attributes:
        make: `(numbers, shape, random source) -> array` of f64.
        usage: how it is written.
        help: what it makes.
        defaults: the last numbers, for those that are left out.
        needed: how many numbers cannot be left out.
    """

    make: Callable[[tuple[float, ...], tuple[int, ...], Random], Array]
    usage: str
    help: str
    defaults: tuple[float, ...] = ()
    needed: int = 0


@dataclass(frozen=True, slots=True)
class Generator:
    """Values for an input: the name of a row of `GENERATORS` and its numbers.

    `str` gives the text that `parse_generator` reads.
    """

    name: str
    numbers: tuple[float, ...] = ()

    def __str__(self) -> str:
        """Return `uniform:0:255`."""
        words = [f"{number:.12g}" for number in self.numbers]
        return ":".join([self.name, ",".join(words)] if self.name == "values" else [self.name, *words])

    @property
    def certain(self) -> bool:
        """Return whether every seed gives the same values."""
        return self.name in {"constant", "ones", "zeros", "range", "values"}

    def make(self, shape: tuple[int, ...], dtype: ElementType, rng: Random) -> Array:
        """Return an array of this shape and element type; of packed elements, random bytes that hold them.

        Raises:
            UsageError: the values or as many elements as these do not fit.
        """
        count = math.prod(shape)
        if count > LARGEST:
            raise UsageError(f"shape {list(shape)} has {count} elements, more than fit into memory; set smaller sizes")
        if (dtype.kind == "string") is not (self.name == "text"):
            raise UsageError(f"{self} does not generate values of {dtype}")
        if dtype.kind == "string":
            return np.array([f"text {number}" for number in range(count)], dtype=object).reshape(shape)
        if dtype.dtype is None:
            return rng.integers(0, 256, dtype.byte_size(count), dtype=np.uint8)
        kind = GENERATORS[self.name]
        numbers = (*self.numbers, *kind.defaults[max(len(self.numbers) - kind.needed, 0) :])
        return self._typed(np.asarray(kind.make(numbers, shape, rng)), dtype)

    def _typed(self, made: Array, dtype: ElementType) -> Array:
        """Return values in an element type, rounded if it has no fractions."""
        if dtype.kind == "boolean":
            return np.asarray(np.rint(made) != 0)
        assert dtype.dtype is not None
        if dtype.is_integer:
            made = np.asarray(np.rint(made))
            info = np.iinfo(dtype.dtype)
            fits = not made.size or (made.min() >= info.min and made.max() <= float(info.max))
        else:
            with np.errstate(over="ignore"):
                fits = bool(np.isfinite(made.astype(dtype.dtype).astype(np.float64)).all())
        if not fits:
            raise UsageError(
                f"{self} generates values from {made.min():g} to {made.max():g}, which {dtype} cannot hold"
            )
        return np.asarray(made, dtype.dtype)


def is_generator(text: str) -> bool:
    """Return whether a text begins with the name of a generator."""
    return text.partition(":")[0] in GENERATORS


def parse_generator(text: str) -> Generator:
    """Read a text such as `uniform:0:255`.

    Raises:
        UsageError: there is no such generator, or its numbers are wrong.
    """
    name, _, rest = text.partition(":")
    if name not in GENERATORS:
        similar = closest(name, GENERATORS)
        hint = f"did you mean {similar}?" if similar else f"generators are {', '.join(GENERATORS)}"
        raise UsageError(f"'{name[:40]}' is not a generator of values; {hint}")
    kind = GENERATORS[name]
    numbers = tuple(map(_number, rest.split("," if name == "values" else ":"))) if rest else ()
    maximum = math.inf if name == "values" else kind.needed + len(kind.defaults)
    if None in numbers or not kind.needed <= len(numbers) <= maximum:
        raise UsageError(f"'{text[:60]}' is not a generator of values; expected {kind.usage}")
    found = Generator(name, tuple(number for number in numbers if number is not None))
    if name == "normal" and len(numbers) == 2 and found.numbers[1] < 0:
        raise UsageError(f"'{text[:60]}' has a negative deviation; expected {kind.usage}")
    if name == "integers" and any(number != int(number) for number in found.numbers):
        raise UsageError(f"'{text[:60]}' has a limit that is not an integer; expected {kind.usage}")
    if "LOW" in kind.usage and len(numbers) == 2 and found.numbers[0] > found.numbers[1]:
        raise UsageError(f"'{text[:60]}' has an end below its start; expected {kind.usage}")
    return found


def _number(word: str) -> float | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# --- the values -------------------------------------------------------------------------------------------------


def _image(numbers: tuple[float, ...], shape: tuple[int, ...], rng: Random) -> Array:
    """Return a smooth picture: waves along height and width, with a little noise; each plane has its own phases."""
    low, high = numbers
    last = len(shape) > 2 and shape[-1] in {1, 3, 4} and shape[-3] not in {1, 3, 4}
    planes = shape if not last else (*shape[:-3], shape[-1], *shape[-3:-1])
    size = (1, 1, *planes)[-2:]
    rows, columns = (np.linspace(0, 1, count)[:, None] for count in size)
    around = math.prod(planes) // max(math.prod(size), 1)
    frequencies = rng.uniform(-4, 4, (WAVES, 2)) * np.pi
    total = 0.05 * rng.standard_normal((around, *size))
    for (down, across), phase in zip(frequencies, rng.uniform(0, 2 * np.pi, (WAVES, around)), strict=True):
        total += np.sin(down * rows + across * columns.T + phase[:, None, None])
    minimum, maximum = (total.min(), total.max()) if total.size else (0.0, 1.0)
    picture = (low + (high - low) * (total - minimum) / (maximum - minimum or 1.0)).reshape(planes)
    return np.moveaxis(picture, -3, -1) if last else picture


def _boxes(numbers: tuple[float, ...], shape: tuple[int, ...], rng: Random) -> Array:
    """Return two corners in the last axis, the first above and left of the second; before them, of 5, picture 0."""
    first, second = rng.uniform(0, 0.6, (*shape[:-1], 2)), rng.uniform(0.2, 0.4, (*shape[:-1], 2))
    corners = np.concatenate([first, first + second], -1) * np.array([*numbers, *numbers])
    made = np.zeros(shape)
    columns = min(4, shape[-1] if shape else 0)
    if columns:
        made[..., shape[-1] - columns :] = corners[..., :columns]
    return made


def _values(numbers: tuple[float, ...], shape: tuple[int, ...], rng: Random) -> Array:
    """Return the numbers, repeated as often as the shape asks for."""
    return np.resize(np.array(numbers), shape)


def _range(numbers: tuple[float, ...], shape: tuple[int, ...], rng: Random) -> Array:
    """Return evenly spaced numbers along the last axis."""
    start, step = numbers
    return np.broadcast_to(start + step * np.arange(shape[-1] if shape else 1), shape or (1,)).reshape(shape)


GENERATORS: Mapping[str, GeneratorKind] = {
    "normal": GeneratorKind(
        lambda numbers, shape, rng: rng.normal(numbers[0], numbers[1], shape),
        "normal:MEAN:DEVIATION",
        "normally distributed numbers, by default around 0 with deviation 1",
        (0.0, 1.0),
    ),
    "uniform": GeneratorKind(
        lambda numbers, shape, rng: rng.uniform(numbers[0], numbers[1], shape),
        "uniform:LOW:HIGH",
        "numbers between two limits, by default 0 and 1",
        (0.0, 1.0),
    ),
    "integers": GeneratorKind(
        lambda numbers, shape, rng: np.floor(rng.uniform(numbers[0], numbers[1] + 1, shape)),
        "integers:LOW:HIGH",
        "integers from LOW to HIGH, both included",
        needed=2,
    ),
    "constant": GeneratorKind(_values, "constant:VALUE", "one value for all elements", needed=1),
    "ones": GeneratorKind(lambda numbers, shape, rng: np.ones(shape), "ones", "1 for all elements"),
    "zeros": GeneratorKind(lambda numbers, shape, rng: np.zeros(shape), "zeros", "0 for all elements"),
    "range": GeneratorKind(
        _range, "range:START:STEP", "evenly spaced numbers along the last axis, by default 0, 1, 2", (0.0, 1.0)
    ),
    "values": GeneratorKind(
        _values, "values:A,B,...", "these values, repeated if there are fewer than elements", needed=1
    ),
    "image": GeneratorKind(_image, "image:LOW:HIGH", "a smooth picture, by default from 0 to 255", (0.0, 255.0)),
    "text": GeneratorKind(lambda numbers, shape, rng: np.zeros(shape), "text", "texts, for string inputs"),
    "boxes": GeneratorKind(
        _boxes,
        "boxes:WIDTH:HEIGHT",
        "boxes, given by two corners, in a picture of this size, by default 1 by 1",
        (1.0, 1.0),
    ),
}
"""By name. What is written after the name replaces the defaults from the first on."""


def default_for(dtype: ElementType) -> Generator:
    """Return the generator for an input of which nothing but the element type is known.

    Floats are normal, unsigned and 8-bit integers span their range up to 255, wider integers are below 10, as many of
    them are indices, and booleans are fair.
    """
    if dtype.kind == "string":
        return Generator("text")
    if dtype.kind == "boolean":
        return Generator("integers", (0, 1))
    if dtype.is_integer and dtype.dtype is not None:
        top = 9 if dtype.bits > 8 else 127 if dtype.kind == "signed" else 255
        return Generator("integers", (0, top))
    return Generator("normal")
