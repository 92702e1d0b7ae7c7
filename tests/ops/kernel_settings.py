"""Random settings of kernels against the CPU plugin."""

from collections.abc import Sequence

import numpy as np

from ir_tools.known_differences import find
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient
from tests.ops.single import Fed, attrs_of, computed, values_of


def compare(client: RuntimeClient, settings: Sequence[Fed], tolerance: float = 1e-4) -> None:
    """Assert that the kernels give what the runtime gives, up to a part of the largest magnitude of the output.

    What the runtime is known to leave unwritten is not compared.
    """
    for setting, wanted in zip(settings, values_of(client, settings), strict=True):
        _compare(setting, wanted, tolerance)


def _compare(setting: Fed, wanted: Sequence[Array], tolerance: float) -> None:
    attrs = attrs_of(setting.op, setting.raw)
    with np.errstate(all="ignore"):
        found = computed(setting.op, attrs, setting.arrays)
    assert len(found) == len(setting.op.outputs)
    left_out = [row.masks(found) for row in find(setting.op, attrs, setting.arrays, setting.constants)]
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), f"{setting.op} {setting.raw} output {number}"
        written = np.ones(ours.shape, bool)
        for masks in left_out:
            mask = masks[number]
            written &= True if mask is None else ~mask
        if not written.any():
            continue
        left, right = np.zeros(ours.shape), np.zeros(ours.shape)
        left[written], right[written] = ours[written], theirs[written]
        if setting.rows and left.ndim == 2:
            left, right = _sorted(left), _sorted(right)
        largest = np.abs(right[np.isfinite(right)]).max(initial=0)
        message = f"{setting.op} {dict(setting.raw)} {[array.shape for array in setting.arrays]} output {number}"
        np.testing.assert_allclose(left, right, rtol=0, atol=tolerance * largest, err_msg=message)


def _sorted(rows: Array) -> Array:
    """Rows in an order that rounding does not change."""
    return rows[np.lexsort(np.round(rows, 4).T[::-1])]


# --- pieces of settings -----------------------------------------------------------------------------------------


def flag(rng: np.random.Generator, share: float = 0.5) -> str:
    """`true` or `false`."""
    return "true" if rng.random() < share else "false"


def listed(values: object) -> str:
    """Numbers as an attribute writes them."""
    return ",".join(f"{value:g}" for value in np.ravel(np.asarray(values)))


def one_of(rng: np.random.Generator, *words: object) -> str:
    """One of these, as text."""
    return str(words[rng.integers(len(words))])


def floats(values: object) -> Array:
    """An f32 array."""
    return np.array(values, np.float32, order="C")
