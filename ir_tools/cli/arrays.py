"""The files of `--input`: arrays of numpy, and images."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ir_tools.errors import UsageError

if TYPE_CHECKING:
    from ir_tools.graph import Model
    from ir_tools.ops import Array
    from ir_tools.types import Shape

__all__ = ["load_inputs"]

COLOURS = {3: "RGB", 1: "L", 4: "RGBA"}
"""By number of channels, the likeliest first, what an image is converted to."""


def load_inputs(pairs: Sequence[tuple[str, str]], model: "Model | None") -> "dict[str, Array]":
    """Read the files of `--input`: pairs of input and file; a `.npz` without a name gives all its arrays.

    An image is resized to the input's height and width, with its channels where the input has 1, 3 or 4 (`NCHW`,
    `NHWC`, or without a batch); its values stay 0 to 255.

    Args:
        pairs: input names and files.
        model: whose inputs tell the size of an image; None where that is not known.

    Raises:
        UsageError: a file that is not there or holds no array, an image that the input cannot take.
    """
    return {name: array for pair in pairs for name, array in _load(*pair, model)}


def _load(name: str, file: str, model: "Model | None") -> "Iterator[tuple[str, Array]]":
    label = f"--input {name}: {file}" if name else f"--input {file}"
    try:
        if not name:
            with np.load(file, allow_pickle=False) as arrays:
                yield from arrays.items()
        elif Path(file).suffix.lower() in {".npy", ".npz"}:
            yield name, _array(name, np.load(file, allow_pickle=False), label)
        else:
            yield name, _image(name, file, model, label)
    except OSError as error:
        raise UsageError(f"{label}: {error.strerror or error}") from None
    except ValueError:
        raise UsageError(f"{label} is not a .npy or .npz file of numbers") from None


def _array(name: str, loaded: object, label: str) -> "Array":
    """The one array of a `.npy`, or that of the input's name in a `.npz`, or its only one."""
    if isinstance(loaded, np.ndarray):
        return loaded
    assert isinstance(loaded, np.lib.npyio.NpzFile)
    with loaded:
        if name in loaded.files:
            return loaded[name]
        if len(loaded.files) == 1:
            return loaded[loaded.files[0]]
        raise UsageError(f"{label} holds {', '.join(loaded.files) or 'nothing'}, and no '{name}'")


def _image(name: str, file: str, model: "Model | None", label: str) -> "Array":
    from ir_tools.inputs import input_facts

    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise UsageError(f"{label}: images need the package pillow; install it, or give a .npy") from None
    if model is None:
        raise UsageError(f"{label}: images are taken for IR models alone; give a .npy")
    ends = {alias: end.name for end in model.inputs for alias in end.names}
    if name not in ends:
        raise UsageError(f"--input {name}: the model has {', '.join(end.name for end in model.inputs) or 'no inputs'}")
    dtype, shape = input_facts(model)[ends[name]]
    height, width, channels, last = _layout(shape, label)
    try:
        with Image.open(file) as image:
            resized = image.convert(COLOURS[channels]).resize((width or image.width, height or image.height))
    except UnidentifiedImageError:
        raise UsageError(f"{label} is neither a .npy, a .npz nor an image") from None
    pixels = np.asarray(resized).reshape(resized.height, resized.width, channels)
    ordered = pixels if last else pixels.transpose(2, 0, 1)
    assert shape is not None
    return ordered.reshape((1,) * (len(shape) - 3) + ordered.shape).astype(dtype.dtype)


def _layout(shape: "Shape", label: str) -> tuple[int | None, int | None, int, bool]:
    """Height, width (None: any), number of channels, and whether these come last."""
    dims = [] if shape is None else [dim.size if dim.static else None for dim in shape]
    if len(dims) in {3, 4}:
        for channels in COLOURS:
            if dims[-3] == channels:
                return dims[-2], dims[-1], channels, False
            if dims[-1] == channels:
                return dims[-3], dims[-2], channels, True
    raise UsageError(f"{label}: this input takes no image; an image needs 3 or 4 dimensions with 1, 3 or 4 channels")
