"""What the runtime makes of a file: asked in a child process, with the same numbers for every input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ir_tools.errors import RuntimeFailure, UsageError
from ir_tools.runtime.client import RuntimeClient, TensorInfo
from ir_tools.types import element_type

__all__ = ["Answer", "Oracle"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The outputs of one inference in order, or why there are none: `rejected`, `crashed`, `timeout`, `memory`."""

    outputs: tuple[Array | None, ...] | None
    kind: str = ""
    why: str = ""

    @property
    def ok(self) -> bool:
        return self.outputs is not None

    def same(self, other: Answer) -> bool:
        """Whether both ran and gave the same numbers."""
        if self.outputs is None or other.outputs is None or len(self.outputs) != len(other.outputs):
            return False
        return all(a is None or b is None or _same(a, b) for a, b in zip(self.outputs, other.outputs, strict=True))

    def steady(self, first: Answer) -> Answer:
        """Return the answer without the outputs that another run of the same model did not give bit by bit.

        What is left in memory may be near enough to pass for the same number: a pointer differs in its last digits.
        """
        if self.outputs is None or first.outputs is None:
            return self
        pairs = zip(self.outputs, first.outputs, strict=True)
        return replace(
            self, outputs=tuple(a if a is not None and b is not None and _equal(a, b) else None for a, b in pairs)
        )


def _equal(a: Array, b: Array) -> bool:
    return bool(np.array_equal(a, b)) if a.dtype == object else a.tobytes() == b.tobytes()


def _same(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype == object:
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-4, atol=1e-5, equal_nan=True))


class Oracle:
    """Asks; a context manager."""

    def __init__(self, seconds: float = 10.0) -> None:
        self._client = RuntimeClient(timeout=seconds, memory=6 << 30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, xml: bytes, weights: bytes | None, order: Sequence[str] = ()) -> Answer:
        """Read, compile, infer."""
        try:
            ends = self._client.describe(xml, weights or None)
            feeds = {info.layer: _values(info, number) for number, info in enumerate(ends.inputs)}
            found = self._client.infer(xml, weights or None, feeds)
        except RuntimeFailure as why:
            return Answer(None, why.kind, str(why))
        except (UsageError, ValueError) as why:
            return Answer(None, "rejected", str(why))
        return Answer(tuple(found.outputs.values()))


def _values(info: TensorInfo, number: int) -> Array:
    """Numbers for an input: small, different, and the same each time."""
    if info.shape is None:
        raise ValueError("an input of unknown rank")
    shape = tuple(
        dim.lo if dim.hi == dim.lo else max(dim.lo, 3 + index % 2 if number else 2)
        for index, dim in enumerate(info.shape)
    )
    if any(size > 1 << 16 for size in shape):
        raise ValueError("an input that is too large to try")
    count = int(np.prod(shape, dtype=np.int64))
    if info.element_type == "string":
        return np.array([f"s{index}" for index in range(count)], dtype=object).reshape(shape)
    dtype = element_type(info.element_type).dtype
    if dtype is None:
        raise ValueError(f"an input of type {info.element_type}")
    if dtype.kind == "b":
        return np.ones(shape, dtype)
    if not shape:
        return np.array(3, dtype)
    if dtype.kind in "iu":
        return (np.arange(count) % 5).astype(dtype).reshape(shape)
    values = np.sin(np.arange(count) * 0.7 + number) + 0.1
    found: Array = values.astype(np.float32).astype(dtype).reshape(shape)
    return found
