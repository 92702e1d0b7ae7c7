"""Named rewrites: what they rewrite, that they leave the rest, and that the runtime agrees."""

import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ir_tools.comparison import difference
from ir_tools.execute import run
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.ops import Array, find_op, named_rewrites
from ir_tools.rewrite.migration import Migration, migrate
from tests.rewrite.migrations import PRECISIONS, Compiled, Row, build, model_of, random_case, random_data

FLOATS = ["f32", "f32", "f16", "bf16", "f64"]


def adaptive(shape: tuple[int, ...], counts: tuple[int, ...], precision: str = "f32") -> Row:
    return Row("AdaptiveAvgPool", "opset8", {}, shape, (*shape[:2], *counts), precision, counts)


def reduce_mean(shape: tuple[int, ...], axes: tuple[int, ...], keep_dims: str = "true") -> Model:
    rank = len(shape)
    chosen = {axis % rank for axis in axes}
    kept = [
        1 if axis in chosen else size for axis, size in enumerate(shape) if keep_dims == "true" or axis not in chosen
    ]
    return read(*build([Row("ReduceMean", "opset1", {"keep_dims": keep_dims}, shape, kept, "f32", axes)]))


def undefined(row: Row, inputs: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
    """Which windows contain no element, so that any value will do."""
    op = find_op(row.type, row.version)
    assert op is not None
    assert op.undefined_mask is not None
    attrs = op.read(row.attrs, [])
    assert attrs is not None
    return op.undefined_mask(attrs, inputs)


def after(migrated: Migration) -> list[str]:
    return [step.after for step in migrated.steps]


def test_the_page_of_commands_lists_all() -> None:
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    table = page.partition("| pass | does |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == named_rewrites()


@pytest.mark.parametrize(
    ("shape", "counts", "expected"),
    [
        ((1, 2, 8, 9), (4, 3), ["AvgPool opset8"]),
        ((1, 2, 5), (3,), ["AvgPool opset8"]),
        ((1, 2, 7, 7), (1, 7), ["AvgPool opset8"]),
        ((1, 2, 7), (3,), ["AvgPool opset8"]),
        ((1, 2, 11), (4,), ["AvgPool opset8"]),
        ((1, 2, 10), (4,), []),
        ((1, 2, 3), (6,), []),
        ((1, 2, -1), (1,), []),
    ],
)
def test_adaptive_to_avg_pool(shape: tuple[int, ...], counts: tuple[int, ...], expected: list[str]) -> None:
    assert after(migrate(model_of([adaptive(shape, counts)]), None, ["adaptive-to-avg-pool"])) == expected


@pytest.mark.parametrize(
    ("shape", "counts", "expected"),
    [
        ((1, 2, 8, 9), (1, 1), ["ReduceMean opset1"]),
        ((-1, 2, -1, -1), (1, 1), ["ReduceMean opset1"]),
        ((1, 2, 8, 9), (1, 9), ["ReduceMean opset1"]),
        ((1, 2, 8, -1), (1, 9), []),
        ((1, 2, 8, 9), (2, 1), []),
    ],
)
def test_adaptive_to_reduce_mean(shape: tuple[int, ...], counts: tuple[int, ...], expected: list[str]) -> None:
    assert after(migrate(model_of([adaptive(shape, counts)]), None, ["adaptive-to-reduce-mean"])) == expected


@pytest.mark.parametrize("keep_dims", ["true", "false"])
@pytest.mark.parametrize(
    ("shape", "axes", "migrated"),
    [
        ((2, 3, 4, 5), (2, 3), True),
        ((2, 3, 4, 5), (-1, -2), True),
        ((2, 3, 4, 5), (3,), True),
        ((2, 3, 4, 5, 6), (4, 2), True),
        ((2, 3, 4), (2,), True),
        ((1, 2, 2, 3, 2, 3), (5,), False),
        ((2, 3, 4, 5), (1, 2), False),
        ((2, 3), (1,), False),
        ((2, 3, -1, 5), (3,), False),
    ],
)
def test_reduce_mean_to_adaptive(shape: tuple[int, ...], axes: tuple[int, ...], migrated: bool, keep_dims: str) -> None:
    model = reduce_mean(shape, axes, keep_dims)
    found = migrate(model, None, ["reduce-mean-to-adaptive"])
    squeezed = "AdaptiveAvgPool + Squeeze" if keep_dims == "false" else "AdaptiveAvgPool opset8"
    assert after(found) == ([squeezed] if migrated else [])
    if migrated:
        data = {"x0": np.random.default_rng(0).random(shape, np.float32)}
        before, new = Compiled(model)(data)["y0"], Compiled(found.model)(data)["y0"]
        assert before.shape == new.shape
        assert np.allclose(before, new, rtol=1e-5)


def test_there_and_back() -> None:
    rows = [adaptive((1, 2, 8, 9), (4, 3)), adaptive((1, 2, 5), (3,))]
    there = migrate(model_of(rows), None, ["adaptive-to-avg-pool"])
    back = migrate(there.model, None, ["avg-pool-to-adaptive"])
    assert after(back) == ["AdaptiveAvgPool opset8"] * 2


def test_integers_stay_average_pooling() -> None:
    attrs = {"kernel": "2", "strides": "2", "pads_begin": "0", "pads_end": "0", "exclude-pad": "true"}
    rows = [Row("AvgPool", "opset1", attrs, (1, 2, 8), (1, 2, 4), precision) for precision in PRECISIONS]
    migrated = migrate(model_of(rows), None, ["avg-pool-to-adaptive"])
    assert len(migrated.steps) == 4


@pytest.mark.parametrize("name", named_rewrites())
def test_random_poolings_compute_the_same_and_a_second_run_changes_nothing(name: str) -> None:
    rng, numbers = random.Random(1), np.random.default_rng(1)
    rows = [adaptive((1, 2, 8, 8), (counts, counts)) for counts in (1, 2, 3, 4, 8)]
    rows += [random_case(rng).row for _ in range(300)]
    model = model_of(rows)
    once = migrate(model, None, [name]).model
    data = {f"x{index}": random_data(numbers, row.shape, row.precision) for index, row in enumerate(rows)}
    with np.errstate(all="ignore"):
        old, new = run(model, data), run(once, data)
    for index, row in enumerate(rows):
        inputs = [data[f"x{index}"], *([] if row.sizes is None else [np.array(row.sizes)])]
        one, two = old[f"pool{index}"], new[f"pool{index}"]
        assert difference(one, two, undefined=undefined(row, inputs)).ok, row
    again = migrate(once, None, [name])
    assert again.steps == ()
    assert render(again.model) == render(once)


@pytest.mark.parametrize("how", ["adaptive-to-avg-pool", "adaptive-to-reduce-mean", "opset7"])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_random_adaptive_poolings_on_the_runtime(how: str, dynamic: bool) -> None:
    rng, numbers = random.Random(5), np.random.default_rng(5)
    rows, shapes = [], []
    for _ in range(60):
        sizes = [rng.randint(1, 9) for _ in range(rng.randint(1, 3))]
        shape = (rng.randint(1, 2), rng.randint(1, 4), *sizes)
        counts = tuple(rng.choice([1, 1, 2, 3, 4, size]) for size in sizes)
        known = tuple(-1 if dynamic and rng.random() < 0.5 else size for size in shape)
        rows.append(adaptive(known, counts, rng.choice(FLOATS)))
        shapes.append(shape)
    model = model_of(rows)
    migrated = migrate(model, None, [how]) if how in named_rewrites() else migrate(model, how)
    assert migrated.refused == ()
    before, after = Compiled(model), Compiled(migrated.model)
    data = {
        f"x{index}": random_data(numbers, shape, row.precision)
        for index, (row, shape) in enumerate(zip(rows, shapes, strict=True))
    }
    old, new = before(data), after(data)
    allowed = {"f32": 1e-5, "f64": 1e-5, "f16": 3e-3, "bf16": 3e-2}
    for index, row in enumerate(rows):
        one, two = old[f"y{index}"].astype(np.float64), new[f"y{index}"].astype(np.float64)
        assert one.shape == two.shape
        assert np.abs(one - two).max() <= allowed[row.precision], (row, shapes[index])
