"""Images as inputs: resized, normalized, and in the order of axes and channels that the input has."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ir_tools.display import either
from ir_tools.errors import UsageError
from ir_tools.files import check_readable

if TYPE_CHECKING:
    from PIL import Image

    from ir_tools.ops import Array
    from ir_tools.types import ElementType, Shape

__all__ = ["ImageOptions", "split_name"]

COLORS = ("rgb", "bgr")
"""The orders of the channels of an image."""
MODES = {3: "RGB", 1: "L", 4: "RGBA"}
"""By number of channels, the likeliest first: what an image is converted to."""
WIDE = ("I", "F")
"""How the names of pillow's modes begin whose values are limited, not scaled, when they are converted."""


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """What a command line says of images: `VALUE`, or `NAME=VALUE` for one input."""

    layout: tuple[str, ...] = ()
    mean: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()
    color: tuple[str, ...] = ()

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """The values of each option, `--layout` and so on."""
        return {f"--{name}": values for name, values in asdict(self).items()}

    def require_names(self, names: set[str]) -> None:
        """Check that every `NAME=VALUE` is for one of the inputs of these names.

        Raises:
            UsageError: one is not.
        """
        for option, values in self.given.items():
            for value in values:
                if "=" in value and not split_name(value, names)[0]:
                    raise UsageError(f"{option} {value}: the model has no input '{value.partition('=')[0]}'")

    def require_none(self) -> None:
        """Check that there are no options, as nothing but images reads them.

        Raises:
            UsageError: there is one.
        """
        for option, values in self.given.items():
            if values:
                raise UsageError(f"{option} {values[0]} applies to images, but no --input is an image")

    def load(self, file: str, names: set[str], dtype: "ElementType", shape: "Shape", label: str) -> "Array":
        """Return an image as an input takes it: resized to its height and width, values 0 to 255 unless normalized.

        Args:
            file: the path.
            names: of the input.
            dtype: its element type.
            shape: its partial shape.
            label: the option that errors name.

        Raises:
            UsageError: the file is not an image, or the input does not take one.
        """
        try:
            from PIL import Image
        except ImportError:
            raise UsageError(f"{label}: reading images needs the package pillow; install it, or pass a .npy") from None
        color = self._of(self.color, names) or COLORS[0]
        if color not in COLORS:
            raise UsageError(f"--color {color}: expected {either(COLORS)}")
        check_readable(Path(file))
        try:
            with Image.open(file) as image:
                if image.mode.startswith(WIDE):
                    raise UsageError(f"{label}: the image has more than 8 bits per channel; convert it, or pass a .npy")
                layout = self._layout(names, shape, label)
                pixels = layout.pixels(image, reverse=color == "bgr")
        except OSError as error:
            kinds = "an array (.npy, .npz), an image or a generator such as uniform:0:255"
            reason = f"{error.strerror}; expected {kinds}" if error.strerror else f"expected {kinds}"
            raise UsageError(f"{label}: {reason}") from None
        except (ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise UsageError(f"{label}: the image cannot be read: {error}") from None
        return layout.ordered(self._normalized(pixels, names, dtype, label))

    def _of(self, values: Sequence[str], names: set[str]) -> str | None:
        """Return the last value for an input of these names, or for all inputs."""
        pairs = [split_name(value, names) for value in values]
        named = [value for name, value in pairs if name]
        general = [value for name, value in pairs if not name and "=" not in value]
        return next(reversed(named or general), None)

    def _layout(self, names: set[str], shape: "Shape", label: str) -> "Layout":
        word = self._of(self.layout, names)
        sizes = None if shape is None else [dim.size if dim.static else None for dim in shape]
        layout = Layout.named(word, sizes, label) if word else Layout.guessed(sizes, label)
        if layout.channels not in MODES:
            raise UsageError(f"{label}: the input has {layout.channels} channels; expected 1, 3 or 4 for an image")
        return layout

    def _normalized(self, pixels: "Array", names: set[str], dtype: "ElementType", label: str) -> "Array":
        """Return `(pixels - mean) / scale` in the input's type."""
        mean, scale = (self._of(values, names) for values in (self.mean, self.scale))
        if mean is None and scale is None:
            return pixels.astype(dtype.dtype)
        if not dtype.is_float:
            raise UsageError(f"{label}: --mean and --scale need a float input; this one is {dtype}")
        shift = _numbers(mean or "0", pixels.shape[-1], "--mean")
        factor = _numbers(scale or "1", pixels.shape[-1], "--scale")
        if not factor.all():
            raise UsageError("--scale has a 0; expected numbers other than 0")
        return ((pixels - shift) / factor).astype(dtype.dtype)


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of an input that takes an image: a letter of `NCHW` each; sizes that are not fixed are None."""

    axes: str
    sizes: tuple[int | None, ...]

    @classmethod
    def named(cls, word: str, sizes: Sequence[int | None] | None, label: str) -> "Layout":
        """Return the layout that `--layout` names.

        Raises:
            UsageError: it is not a layout of images, or the input has another rank.
        """
        axes = word.upper()
        if sorted(axes.replace("N", "")) != ["C", "H", "W"] or axes.count("N") > 1:
            raise UsageError(
                f"--layout {word}: expected the letters N, C, H and W in the order of the axes, such as NCHW"
            )
        sizes = [None] * len(axes) if sizes is None else sizes
        if len(sizes) != len(axes):
            raise UsageError(f"{label}: layout {axes} has {len(axes)} axes, but the input has {len(sizes)}")
        layout = cls(axes, tuple(sizes))
        if layout._size("C") is None and (layout._size("H") in MODES or layout._size("W") in MODES):
            shown = ",".join("?" if size is None else str(size) for size in sizes)
            raise UsageError(
                f"--layout {word} does not match the input [{shown}]: its channel axis is the height or width"
            )
        return layout

    @classmethod
    def guessed(cls, sizes: Sequence[int | None] | None, label: str) -> "Layout":
        """Return the layout that the number of channels suggests.

        Raises:
            UsageError: no axis has 1, 3 or 4 channels.
        """
        for count in MODES if sizes is not None and len(sizes) in {3, 4} else ():
            for axes in ("NCHW", "NHWC"):
                own = axes[-len(sizes or ()) :]
                if (sizes or ())[own.index("C")] == count:
                    return cls(own, tuple(sizes or ()))
        raise UsageError(f"{label}: the input has no axis of 1, 3 or 4 channels; name its axes with --layout")

    @property
    def channels(self) -> int:
        """Return the number of channels; 3 if any number fits."""
        return self._size("C") or 3

    def pixels(self, image: "Image.Image", *, reverse: bool) -> "Array":
        """Return an image in the input's size, `[height, width, channels]`; with `reverse`, blue first."""
        size = self._size("W") or image.width, self._size("H") or image.height
        resized = image.convert(MODES[self.channels]).resize(size)
        pixels = np.asarray(resized).reshape(resized.height, resized.width, self.channels)
        return pixels[..., [2, 1, 0, 3][: self.channels]] if reverse and self.channels > 1 else pixels

    def ordered(self, pixels: "Array") -> "Array":
        """Return pixels of `[height, width, channels]` in the order of the axes."""
        array = pixels.transpose(["HWC".index(axis) for axis in self.axes if axis != "N"])
        if "N" not in self.axes:
            return array
        batch = self._size("N") or 1
        return np.repeat(np.expand_dims(array, self.axes.index("N")), batch, self.axes.index("N"))

    def _size(self, axis: str) -> int | None:
        return self.sizes[self.axes.index(axis)] if axis in self.axes else None


def split_name(text: str, names: set[str]) -> tuple[str, str]:
    """Return name and value of `NAME=VALUE`; an empty name if the text does not begin with one of the names."""
    places = [place for place, sign in enumerate(text) if sign == "=" and text[:place] in names]
    return (text[: places[-1]], text[places[-1] + 1 :]) if places else ("", text)


def _numbers(text: str, channels: int, option: str) -> "Array":
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in {1, channels} or not all(map(math.isfinite, numbers)):
        raise UsageError(f"{option} {text}: expected one number, or {channels}, one per channel")
    return np.array(numbers)
