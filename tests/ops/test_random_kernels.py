"""Kernels of images, boxes, regions, sorting and recurrent layers against the CPU plugin, on random settings."""

import numpy as np
import pytest

from ir_tools.runtime.client import RuntimeClient
from tests.ops import (
    detection_makers,
    image_makers,
    recurrent_makers,
    roi_makers,
    sorting_makers,
    suppression_makers,
)
from tests.ops.kernel_settings import compare
from tests.ops.single import Fed, Maker

FEW, MANY = 12, 220
"""How many random settings each kernel runs on, by default and in the sweep."""
FAMILIES = {
    "detection": detection_makers,
    "image": image_makers,
    "recurrent": recurrent_makers,
    "roi": roi_makers,
    "sorting": sorting_makers,
    "suppression": suppression_makers,
}
MAKERS = [
    pytest.param(make, id=f"{family}-{make.__name__}") for family, module in FAMILIES.items() for make in module.MAKERS
]


def compare_many(client: RuntimeClient, make: Maker, count: int, seed: int) -> None:
    """`compare` over random settings."""
    rng = np.random.default_rng(seed)
    compare(client, [make(rng) for _ in range(count)])


@pytest.mark.parametrize("make", MAKERS)
def test_kernel(make: Maker, client: RuntimeClient) -> None:
    compare_many(client, make, FEW, seed=0)


@pytest.mark.sweep
@pytest.mark.parametrize("make", MAKERS)
def test_kernel_on_many_settings(make: Maker, client: RuntimeClient) -> None:
    compare_many(client, make, MANY, seed=1)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
def test_detections_of_other_floats(kind: str, client: RuntimeClient) -> None:
    """Boxes and scores in another type, prior boxes in f32, as in files of half precision."""
    setting = detection_makers.detection_output(np.random.default_rng(2))
    arrays = [array.astype(np.dtype(kind)) if number != 2 else array for number, array in enumerate(setting.arrays)]
    raw = {**setting.raw, "nms_threshold": "1", "keep_top_k": "-1", "top_k": "-1"}
    compare(client, [Fed(setting.op, raw, arrays)], {"float64": 1e-4}.get(kind, 1e-2))
