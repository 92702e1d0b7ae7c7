"""Steps of tensors of f64 compute in f64."""

import numpy as np

from tests.rewrite.test_opset_steps import MIGRATING, of_floats, problems_of, samples_of

LEAST = 150
"""How many steps are compared, at least."""


def test_steps_of_f64_compute_in_f64() -> None:
    """The executor computes f64 in f64, so that a step through f32 is 1e-8 apart."""
    found: list[str | None] = []
    for op in MIGRATING.values():
        rng = np.random.default_rng(5)
        settings = (one for each in samples_of(op) for one in of_floats(op, rng, each, ["f64"]))
        doubles = (one for one in settings if any(array.dtype == np.float64 for array in one.arrays))
        found += (problem for one in doubles for problem in problems_of(one, [max(op.version - 1, 1)], 0))
    assert [problem for problem in found if problem] == []
    assert len(found) >= LEAST
