"""Which of two tensors that differ is closer to the same tensor computed in f64."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ir_tools.comparison._differences import aligned, difference
from ir_tools.errors import IrToolsError
from ir_tools.execute import Execution, Fallback, Step
from ir_tools.graph import Layer, Model
from ir_tools.ops import Array

__all__ = ["F64Errors", "GoldRun", "errors"]

CLEARLY = 2.0
"""How many times closer one side has to be before it counts as the closer one."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class F64Errors:
    """How far two tensors that differ are from the same computed in f64.

    Attributes:
        expected, actual: the largest error of each, relative to the largest magnitude in f64.
        closer: the side whose error is less than half of the other's; None if neither is.
    """

    expected: float
    actual: float
    closer: Literal["expected", "actual"] | None

    @property
    def factor(self) -> float:
        """How many times closer the closer side is; infinite if it has no error."""
        less, more = sorted((self.expected, self.actual))
        return more / less if less else math.inf if more else 1.0


def errors(
    gold: Array, expected: Array, actual: Array, *, undefined: Mask | None = None, rows: bool = False
) -> F64Errors | None:
    """Return the errors of both sides; None if one of the tensors has another shape, or is not of numbers.

    `rows`: whether the rows of the tensor are a set.
    """
    if not gold.shape == expected.shape == actual.shape or any(a.dtype.kind in "OUST" for a in (gold, expected)):
        return None
    one, two = (_error(gold, side, undefined, rows=rows) for side in (expected, actual))
    closer: Literal["expected", "actual"] | None = None
    if one != two and max(one, two) > CLEARLY * min(one, two):
        closer = "expected" if one < two else "actual"
    return F64Errors(one, two, closer)


def _error(gold: Array, side: Array, undefined: Mask | None, *, rows: bool) -> float:
    wide = side.astype(np.float64) if side.dtype.kind in "fV" else side
    return difference(gold, aligned(gold, wide) if rows else wide, undefined=undefined).needed


@dataclass(slots=True)
class GoldRun:
    """The model on its inputs in f64, run as far as is asked for: most comparisons never ask.

    Attributes:
        model, fed, states: the model, its inputs, and the values of its variables.
        fallback: runs layers without a kernel. Their tensors are no judgement, since f32 is all that the runtime has.
    """

    model: Model
    fed: Mapping[str, Array]
    fallback: Fallback
    states: Mapping[str, Array]
    _execution: Execution | None = field(default=None, init=False)
    _steps: Iterator[Step] = field(default=iter(()), init=False)
    _last: Step | None = field(default=None, init=False)
    _helped: bool = field(default=False, init=False)

    def outputs_of(self, layer: Layer) -> Sequence[Array] | None:
        """Return the outputs of a layer of the main graph, or None; to be asked in the order of execution."""
        try:
            while self._last is None or self._last.layer is not layer:
                self._last = self._next()
        except (IrToolsError, StopIteration):
            return None
        return None if self._helped else self._last.outputs

    def results(self) -> Mapping[str, Array]:
        """Return the outputs of the model; none if they cannot be had."""
        try:
            while True:
                self._last = self._next()
        except (IrToolsError, StopIteration):
            found = {} if self._execution is None or self._helped else self._execution.results
        return found

    def _next(self) -> Step:
        if self._execution is None:
            self._execution = Execution(self.model, "f64", self.fallback, states=self.states)
            self._steps = self._execution.steps(self.fed)
        step = next(self._steps)
        self._helped |= step.engine == "runtime"
        return step
