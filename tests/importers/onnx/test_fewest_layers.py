"""One AvgPool-1 wherever there is one: against every set of its attributes within bounds."""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

from ir_tools.importers.onnx.extension import translate
from ir_tools.ops import Fact
from ir_tools.types import element_type, parse_shape
from tests.importers.onnx.models import Row, model_of, translated
from tests.importers.onnx.oracle import VERSIONS, axis_windows, is_valid, random_setting

STRIDES, PADS, KERNELS = range(1, 7), range(6), range(1, 9)


Reads = tuple[tuple[int, ...], ...]
"""On one axis: the positions of the input that each window reads."""


@cache
def axis_choices(size: int, rounding: str, auto_pad: str, exclude: bool) -> Mapping[Reads, set[tuple[int, bool]]]:
    """What every kernel, stride and padding reads, by the runtime's measured rules: which kernels, and if they pad."""
    found: dict[Reads, set[tuple[int, bool]]] = {}
    explicit = auto_pad == "explicit"
    for kernel, stride in itertools.product(KERNELS, STRIDES):
        for begin, end in itertools.product(PADS, PADS) if explicit else [(0, 0)]:
            if exclude and explicit and max(begin, end) >= kernel:
                continue
            if auto_pad.startswith("same"):
                total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
                begin = total // 2 if auto_pad == "same_upper" else total - total // 2
                end = total - begin
            room = size + begin + end - kernel
            if room >= 0:
                count = (room // stride if rounding == "floor" else math.ceil(room / stride)) + 1
                starts = [index * stride - begin for index in range(count)]
                reads = tuple(tuple(range(max(at, 0), min(at + kernel, size))) for at in starts)
                found.setdefault(reads, set()).add((kernel, begin + end > 0))
    return found


def has_single_layer(attributes: Mapping[str, Any], sizes: Sequence[int]) -> bool:
    """Whether some AvgPool-1 reads the same positions and divides by the same numbers."""
    wanted = [axis_windows(attributes, axis, size) or [] for axis, size in enumerate(sizes)]
    reads = [tuple(tuple(window.real) for window in windows) for windows in wanted]
    auto_pads = ("explicit", "same_upper", "same_lower")
    for rounding, auto_pad, exclude in itertools.product(("floor", "ceil"), auto_pads, (True, False)):
        axes = [
            axis_choices(size, rounding, auto_pad, exclude).get(own, set())
            for own, size in zip(reads, sizes, strict=True)
        ]
        for chosen in itertools.product(*axes):
            whole = not exclude and any(padded for _, padded in chosen)
            divisors = [
                [kernel if whole else len(window.real) for window in windows]
                for (kernel, _), windows in zip(chosen, wanted, strict=True)
            ]
            counted = [[window.counted for window in windows] for windows in wanted]
            if all(
                math.prod(one) == math.prod(other)
                for one, other in zip(itertools.product(*divisors), itertools.product(*counted), strict=True)
            ):
                return True
    return False


def wasteful(seed: int, count: int) -> list[str]:
    """Random small settings that one AvgPool-1 could express and that became more layers."""
    random, found = Random(seed), []
    for done in range(0, count, 40):
        version = VERSIONS[done // 40 % len(VERSIONS)]
        settings = [random_setting(random, version) for _ in range(40)]
        rows = [Row(attributes, shape) for attributes, shape in settings if len(shape) < 5]
        _, reported = translated(model_of(rows, max(version, 6)))
        layers = {node.name: node.layers for node in reported}
        found += [
            f"AveragePool-{version}: {dict(row.attributes)} on {row.shape}: {layers[f'x{number}']}"
            for number, row in enumerate(rows)
            if layers[f"x{number}"] != "AvgPool"
            and has_single_layer(row.attributes, [int(size) for size in row.shape[2:]])
        ]
    return found


def test_one_layer_suffices_wherever_one_can() -> None:
    assert wasteful(3, 240) == []


@pytest.mark.parametrize("kernel", [1, 2, 3])
def test_one_layer_suffices_on_every_small_input(kernel: int) -> None:
    strides, dilations, flags, auto_pads = (1, 2, 3), (1, 2, 3), (0, 1), ("NOTSET", "SAME_UPPER", "SAME_LOWER")
    found = []
    for stride, dilation, ceil, counts, auto_pad in itertools.product(strides, dilations, flags, flags, auto_pads):
        pads = range(min((kernel - 1) * dilation + 1, 5)) if auto_pad == "NOTSET" else (0,)
        for begin, end, size in itertools.product(pads, pads, (1, 2, 3, 4)):
            attributes = {
                "kernel_shape": [kernel], "strides": [stride], "dilations": [dilation], "pads": [begin, end],
                "ceil_mode": ceil, "count_include_pad": counts, "auto_pad": auto_pad,
            }  # fmt: skip
            if is_valid(attributes, [size]) and has_single_layer(attributes, [size]):
                _, node = translate(attributes, Fact(element_type("f32"), parse_shape([1, 1, size])), 8, "x")
                if node.layers != "AvgPool":
                    found.append(f"{attributes} on {size}: {node.layers}")
    assert found == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_one_layer_suffices_on_more_settings(seed: int) -> None:
    assert wasteful(100 + seed, 960) == []
