"""Kernels of NonMaxSuppression against the CPU plugin."""

import numpy as np
import pytest

from ir_tools.ops import suppression
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import clients, ops_by_name
from tests.ops.kernel_settings import FEW, MANY, Maker, Setting, compare_many, flag, floats, one_of

client = pytest.fixture(scope="module")(clients)
OPS = ops_by_name(suppression.OPS)
Rng = np.random.Generator


def boxes(rng: Rng, images: int, count: int, encoding: str) -> np.ndarray:
    """Boxes by two corners, of which either may come first, or by centre and size."""
    centre, half = rng.uniform(0, 1, (images, count, 2)), rng.uniform(0.02, 0.4, (images, count, 2))
    if encoding == "center":
        return floats(np.concatenate([centre, 2 * half], axis=-1))
    found = np.concatenate([centre - half, centre + half], axis=-1)
    return floats(found[..., [2, 3, 0, 1]] if rng.random() < 0.3 else found)


def non_max_suppression(rng: Rng) -> Setting:
    version = int(rng.choice([1, 3, 4, 5, 5, 9]))
    images, count, classes = (int(size) for size in rng.integers(1, [3, 12, 4]))
    encoding = one_of(rng, "corner", "center")
    raw = {"box_encoding": encoding, "sort_result_descending": flag(rng)}
    if version > 1:
        raw["output_type"] = one_of(rng, "i32", "i64")
    scores = rng.uniform(0, 1, (images, classes, count))
    settings = [np.array(rng.integers(1, count + 2), np.int64)]
    settings += [floats(rng.choice([0, 0.3, 0.5, 0.7])), floats(rng.choice([0, 0.2, 0.5]))]
    if version >= 5 and rng.random() < 0.5:
        settings.append(floats(rng.choice([0, 0.5, 0.1])))
    arrays = [boxes(rng, images, count, encoding), floats(scores), *settings]
    return Setting(OPS[f"NonMaxSuppression-{version}"], raw, arrays, tuple(range(2, len(arrays))), rows=True)


MAKERS: tuple[Maker, ...] = (non_max_suppression,)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
def test_kernel(make: Maker, client: RuntimeClient) -> None:
    compare_many(client, make, FEW)


@pytest.mark.sweep
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
def test_kernel_on_many_settings(make: Maker, client: RuntimeClient) -> None:
    compare_many(client, make, MANY, seed=1)
