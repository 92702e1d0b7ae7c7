"""In the worker: an array of another type is taken if no value changes."""

import numpy as np
import openvino as ov
import pytest

from ir_tools.errors import UsageError
from ir_tools.runtime._tensors import from_tensor, new_tensor
from ir_tools.runtime.frames import from_array, to_array
from ir_tools.types import from_dtype

TAKEN = [
    ([np.nan, np.inf, -np.inf, -0.0, 0.5], "f8", "f4"),
    ([np.nan, 1024.0, -0.5], "f4", "f2"),
    ([1.0, -7.0], "f4", "i4"),
    ([2**31 - 1, -(2**31)], "i8", "i4"),
    ([0, 255], "i4", "u1"),
    ([True, False], "?", "f4"),
    ([0, 1], "i8", "?"),
    ([], "f8", "i1"),
]
REFUSED = [
    ([0.1], "f8", "f4"),
    ([1e300], "f8", "f4"),
    ([0.1, np.nan], "f8", "f4"),
    ([2049.0], "f4", "f2"),
    ([1.5], "f4", "i4"),
    ([np.nan], "f4", "i4"),
    ([2**31], "i8", "i4"),
    ([-1], "i4", "u1"),
    ([256], "i4", "u1"),
    ([2], "i8", "?"),
    ([2**24 + 1], "i4", "f4"),
]


def made(array: np.ndarray, kind: str) -> ov.Tensor:
    return new_tensor("input 'x'", from_array(array), ov.Type(np.dtype(kind)), array.shape)


@pytest.mark.parametrize(("values", "given", "kind"), TAKEN)
def test_values_that_do_not_change_are_cast(values: list[float], given: str, kind: str) -> None:
    array = np.array(values, given)
    found = to_array(from_tensor(made(array, kind)))
    assert found.dtype == np.dtype(kind)
    np.testing.assert_array_equal(found, array.astype(kind))


@pytest.mark.parametrize(("values", "given", "kind"), REFUSED)
def test_values_that_would_change_are_refused(values: list[float], given: str, kind: str) -> None:
    wanted, have = from_dtype(np.dtype(kind)), from_dtype(np.dtype(given))
    with pytest.raises(UsageError, match=f"input 'x' needs {wanted}, not {have}; convert it with .astype"):
        made(np.array(values, given), kind)
