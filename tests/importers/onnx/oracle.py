"""What the ONNX pages and node tests say that AveragePool is, window by window: nothing of ir_tools is used here.

Where the pages are silent or contradict the node tests: windows that would start in the padding after the input are
dropped; padding that counts ends where the padded input ends; VALID is explicit padding of 0.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

VERSIONS = (1, 7, 10, 11, 19, 22)
Attributes = Mapping[str, Any]
Values = npt.NDArray[Any]


class Window(NamedTuple):
    """On one axis: the positions of the input that it reads, and how many positions count."""

    real: list[int]
    counted: int


def axis_windows(attributes: Attributes, axis: int, size: int) -> list[Window] | None:
    """The windows on one axis; None where the kernel does not fit."""
    rank = len(attributes["kernel_shape"])
    kernel = attributes["kernel_shape"][axis]
    stride = attributes.get("strides", [1] * rank)[axis]
    dilation = attributes.get("dilations", [1] * rank)[axis]
    pads = attributes.get("pads", [0] * 2 * rank)
    auto_pad, ceil = attributes.get("auto_pad", "NOTSET"), attributes.get("ceil_mode", 0)
    reach = (kernel - 1) * dilation + 1
    if auto_pad in {"SAME_UPPER", "SAME_LOWER"}:
        count = math.ceil(size / stride)
        total = max((count - 1) * stride + reach - size, 0)
        begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        end = total - begin
    else:
        begin, end = (pads[axis], pads[rank + axis]) if auto_pad == "NOTSET" else (0, 0)
        room = size + begin + end - reach
        if room < 0:
            return None
        count = (math.ceil(room / stride) if ceil else room // stride) + 1
        if ceil and (count - 1) * stride >= size + begin:
            count -= 1
    windows = []
    for start in range(0, count * stride, stride):
        covered = [start + step * dilation for step in range(kernel)]
        covered = [place for place in covered if place < begin + size + end]
        real = [place - begin for place in covered if begin <= place < begin + size]
        windows.append(Window(real, len(covered) if attributes.get("count_include_pad", 0) else len(real)))
    return windows


def average_pool(attributes: Attributes, data: Values) -> Values:
    """AveragePool in f64. NaN where a window reads nothing."""
    sizes = data.shape[2:]
    axes = [axis_windows(attributes, axis, size) or [] for axis, size in enumerate(sizes)]
    averages = np.full((*map(len, axes), *data.shape[:2]), np.nan)
    elements = np.moveaxis(data, (0, 1), (-2, -1))
    for place in itertools.product(*(range(len(windows)) for windows in axes)):
        chosen = [windows[index] for windows, index in zip(axes, place, strict=True)]
        total, count = np.zeros(data.shape[:2]), math.prod(window.counted for window in chosen)
        for source in itertools.product(*(window.real for window in chosen)):
            total += elements[source]
        if all(window.real for window in chosen):
            averages[place] = total / count
    return np.moveaxis(averages, (-2, -1), (0, 1))


def is_valid(attributes: Attributes, sizes: Sequence[int]) -> bool:
    """Every window reads an element, the kernel fits, and pads are smaller than the dilated kernel."""
    rank = len(attributes["kernel_shape"])
    pads, dilations = attributes.get("pads", [0] * 2 * rank), attributes.get("dilations", [1] * rank)
    for axis, size in enumerate(sizes):
        reach = (attributes["kernel_shape"][axis] - 1) * dilations[axis] + 1
        windows = axis_windows(attributes, axis, size)
        if max(pads[axis], pads[rank + axis]) >= reach or not windows or not all(window.real for window in windows):
            return False
    return True


def random_attributes(random: Random, version: int, rank: int) -> dict[str, Any]:
    """Attributes that AveragePool of this version has; every one may be left out, or written as its default."""
    found: dict[str, Any] = {"kernel_shape": [random.choice((1, 2, 3, 3, 4, 5)) for _ in range(rank)]}
    if random.random() < 0.8:
        found["strides"] = [random.choice((1, 1, 2, 2, 3, 4)) for _ in range(rank)]
    auto_pad = random.choice(("NOTSET", "NOTSET", "NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"))
    if auto_pad != "NOTSET" or random.random() < 0.2:
        found["auto_pad"] = auto_pad
    if auto_pad == "NOTSET" and random.random() < 0.7:
        found["pads"] = [random.choice((0, 0, 1, 1, 2, 3)) for _ in range(2 * rank)]
    if version >= 7 and random.random() < 0.6:
        found["count_include_pad"] = random.randint(0, 1)
    if version >= 10 and random.random() < 0.6:
        found["ceil_mode"] = random.randint(0, 1)
    if version >= 19 and random.random() < 0.5:
        found["dilations"] = [random.choice((1, 2, 3)) for _ in range(rank)]
    return found


def random_setting(random: Random, version: int) -> tuple[dict[str, Any], list[int]]:
    """Attributes and an input shape for which they are valid."""
    while True:
        rank = random.choice((1, 2, 2, 3))
        attributes = random_attributes(random, version, rank)
        sizes = [random.randint(1, 13 if rank < 3 else 8) for _ in range(rank)]
        if is_valid(attributes, sizes):
            return attributes, [random.choice((1, 2)), random.choice((1, 2, 3, 8, 16)), *sizes]
