"""nGraph's AvgPool-0: the worked example of its page, and both of its definitions written out, on the runtime."""

import itertools
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ir_tools
from ir_tools.errors import IrToolsError, MigrationError, ShapeError, UsageError
from ir_tools.graph import Model
from ir_tools.ngraph import avg_pool, to_model
from tests.ops.single import infer

Values = npt.NDArray[Any]
Settings = Mapping[str, Any]
TARGETS = ("opset1", "opset8", "opset14", "opset16")


def on_runtime(model: Model, data: Values) -> Values:
    return infer(ir_tools.to_openvino(model), [data])


def is_padding(place: Sequence[int], below: Sequence[int], sizes: Sequence[int]) -> bool:
    return not all(low <= at < low + size for at, low, size in zip(place, below, sizes, strict=True))


def windows(settings: Settings, sizes: Sequence[int]) -> list[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """Output position, and the positions of the padded image in its window."""
    axes = []
    for axis, size in enumerate(sizes):
        window, stride = settings["window_shape"][axis], settings["strides"][axis]
        room = settings["padding_below"][axis] + size + settings["padding_above"][axis] - window + 1
        axes.append([range(start, start + window) for start in range(0, room, stride)])
    places = itertools.product(*(range(len(starts)) for starts in axes))
    return [(place, list(itertools.product(*(axes[axis][at] for axis, at in enumerate(place))))) for place in places]


def informal(settings: Settings, image: Values) -> Values:
    """Averages "as though the padding region contained regular elements of value zero", or without the padding."""
    places = windows(settings, image.shape)
    result = np.full([1 + max(place[axis] for place, _ in places) for axis in range(image.ndim)], np.nan)
    padded = np.pad(image, list(zip(settings["padding_below"], settings["padding_above"], strict=True)))
    for place, elements in places:
        if not settings["include_padding"]:
            elements = [at for at in elements if not is_padding(at, settings["padding_below"], image.shape)]
        if elements:
            result[place] = np.mean([padded[at] for at in elements])
    return result


def formal(settings: Settings, image: Values) -> Values:
    """The sum tensor, divided by the divisor tensor where padding does not count: both over the product of `w`."""
    places = windows(settings, image.shape)
    result = np.full([1 + max(place[axis] for place, _ in places) for axis in range(image.ndim)], np.nan)
    below, whole = settings["padding_below"], float(np.prod(settings["window_shape"]))
    for place, elements in places:
        inside = [at for at in elements if not is_padding(at, below, image.shape)]
        sums = sum(float(image[tuple(np.subtract(at, below))]) for at in inside) / whole
        divisors = 1.0 if settings["include_padding"] else sum(1.0 for _ in inside) / whole
        if divisors:
            result[place] = sums / divisors
    return result


def random_settings(random: Random) -> tuple[dict[str, Any], list[int]]:
    """Settings and spatial sizes for which every window is defined."""
    while True:
        rank = random.choice((1, 2, 2, 3))
        sizes = [random.randint(1, 7 if rank < 3 else 5) for _ in range(rank)]
        settings: dict[str, Any] = {
            "window_shape": [random.randint(1, 4) for _ in sizes],
            "strides": [random.randint(1, 4) for _ in sizes],
            "padding_below": [random.choice((0, 0, 1, 2, 3)) for _ in sizes],
            "padding_above": [random.choice((0, 0, 1, 2, 3)) for _ in sizes],
            "include_padding": random.random() < 0.5,
        }
        ranges = (settings["window_shape"], sizes, settings["padding_below"], settings["padding_above"])
        if all(window <= below + size + above for window, size, below, above in zip(*ranges, strict=True)):
            places = windows(settings, sizes)
            reads = all(any(not is_padding(at, ranges[2], sizes) for at in elements) for _, elements in places)
            if reads or settings["include_padding"]:
                return settings, sizes


@pytest.mark.parametrize(("include", "corner"), [(False, 1.0), (True, 0.25)])
def test_the_worked_example(include: bool, corner: float) -> None:
    image = np.array([[1, 3, 5], [7, 11, 13], [17, 19, 23]], np.float32)[None, None]
    pooling = avg_pool((2, 2), strides=(1, 1), padding_below=(1, 1), include_padding=include)
    got = on_runtime(to_model(pooling, "1,1,3,3"), image)
    assert got.shape == (1, 1, 3, 3)
    assert got[0, 0, 0, 0] == corner
    assert got[0, 0, 1, 1] == 5.5


def test_the_page_shows_what_its_code_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(ir_tools.__file__).parents[1] / "docs" / "ngraph-average-pooling.md").read_text()
    code, _, rest = page.partition("```python\n")[2].partition("```")
    shown = rest.partition("```text\n")[2].partition("```")[0]
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_it_is_public() -> None:
    done = "import ir_tools, sys; ir_tools.ngraph.avg_pool((2,)); assert 'openvino' not in sys.modules"
    subprocess.run([sys.executable, "-c", done], check=True)
    assert "ngraph" in ir_tools.__all__


@pytest.mark.parametrize(
    "seed", [31, pytest.param(32, marks=pytest.mark.sweep), pytest.param(33, marks=pytest.mark.sweep)]
)
def test_both_definitions_on_the_runtime(seed: int) -> None:
    random, generator, wrong = Random(seed), np.random.default_rng(seed), []
    for _ in range(40):
        settings, sizes = random_settings(random)
        data = generator.standard_normal([2, 3, *sizes]).astype(np.float32)
        target = random.choice(TARGETS)
        got = on_runtime(to_model(avg_pool(**settings), data.shape, to=target), data)
        for definition in (informal, formal):
            wanted = np.stack([[definition(settings, channel) for channel in batch] for batch in data])
            if wanted.shape != got.shape or not np.allclose(wanted, got, rtol=1e-4, atol=1e-5):
                wrong.append((definition.__name__, settings, sizes, target))
    assert wrong == []


def test_dynamic_sizes() -> None:
    settings: Settings = {
        "window_shape": [3], "strides": [2], "padding_below": [1], "padding_above": [2], "include_padding": True,
    }  # fmt: skip
    model = to_model(avg_pool(**settings), "?,2,1..20")
    for size in range(1, 21):
        data = np.random.default_rng(size).standard_normal((1, 2, size)).astype(np.float32)
        wanted = np.stack([informal(settings, channel) for channel in data[0]])[None]
        np.testing.assert_allclose(on_runtime(model, data), wanted, rtol=1e-4, atol=1e-5)


def test_defaults_and_names() -> None:
    model = to_model(avg_pool((2,)), [1, 1, 4], "f16")
    assert [end.name for end in (*model.inputs, *model.outputs)] == ["data", "AvgPool"]
    data = np.array([[[1, 2, 3, 5]]], np.float16)
    assert on_runtime(model, data).tolist() == [[[1.5, 2.5, 4.0]]]


@pytest.mark.parametrize(
    ("settings", "shape", "error", "message"),
    [
        ({"window_shape": ()}, "1,1,4", UsageError, "window_shape is empty"),
        ({"window_shape": (0,)}, "1,1,4", UsageError, r"window_shape is \[0\]"),
        ({"window_shape": (2, 2), "strides": (1,)}, "1,1,4,4", UsageError, "strides has 1 value; expected 2"),
        ({"window_shape": (2,), "strides": (0,)}, "1,1,4", UsageError, r"strides is \[0\]"),
        ({"window_shape": (2,), "padding_below": (-1,)}, "1,1,4", UsageError, r"padding_below is \[-1\]"),
        ({"window_shape": (2,), "padding_above": (1, 1)}, "1,1,4", UsageError, "padding_above has 2 values"),
        ({"window_shape": (2,)}, "1,4", UsageError, r"expects \[N, C, spatial...\], not \[1,4\]"),
        ({"window_shape": (2,)}, "...", UsageError, r"expects \[N, C, spatial...\]"),
        ({"window_shape": (5,)}, "1,1,4", ShapeError, "kernel spans 5 elements"),
    ],
)
def test_what_makes_no_sense(settings: Settings, shape: str, error: type[IrToolsError], message: str) -> None:
    with pytest.raises(error, match=message):
        to_model(avg_pool(**settings), shape)


def test_no_such_target() -> None:
    with pytest.raises(MigrationError, match="'opset0' is not a target"):
        to_model(avg_pool((2,)), "1,1,4", to="opset0")
