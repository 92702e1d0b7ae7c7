"""Finding the layer over which the runtime fails, by asking about ever smaller parts of the model."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from ir_tools.errors import ReadError, RuntimeFailure
from ir_tools.graph import Layer
from ir_tools.runtime._parts import Parts
from ir_tools.runtime.client import STAGES, Attempt

__all__ = ["Ask", "Found", "Search"]

Ask = Callable[[bytes], Attempt]
"""Tries the text of a model as far as the stage in question; raises RuntimeFailure."""
GRADUAL = 0.3
"""The share of a limit that a model may need while one layer more is still said to be what exceeds it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the search came to.

    Attributes:
        layer: the offending one; None if it is not a single layer, or was not found in time.
        failure: of the smallest part that still fails, which ends with that layer.
        note: what is known without a layer.
    """

    layer: Layer | None
    failure: RuntimeFailure
    note: str = ""


class Search:
    """A binary search in the order of the layers, then in the bodies of the layer that it ends with."""

    def __init__(self, ask: Ask, seconds: float, memory: int, deadline: float) -> None:
        """`seconds`, `memory`: the limits of one question. `deadline`: of all, of `time.monotonic`."""
        self._ask = ask
        self._seconds = seconds
        self._memory = memory
        self._deadline = deadline

    def find(self, parts: Parts, failure: RuntimeFailure) -> Found | None:
        """Return the layer over which `parts` fails as `failure` says; None if it does not."""
        low, high = 0, len(parts.layers)
        needs = Attempt(0.0, 0, "")
        try:
            worst = self._fails(parts, high, failure)
            if not isinstance(worst, RuntimeFailure) or _words(worst) != _words(failure):
                return None
            while high - low > 1 and not self._gradual(needs, failure):
                middle = (low + high) // 2
                answer = self._fails(parts, middle, failure)
                if isinstance(answer, RuntimeFailure):
                    high, worst = middle, answer
                else:
                    low, needs = middle, answer
        except TimeoutError:
            return Found(None, failure, _between(parts, low, high))
        except ReadError:
            return None
        if self._gradual(needs, failure):
            what = "takes longer" if failure.kind == "timeout" else "needs more memory"
            return Found(
                None,
                failure,
                f"it {what} as the model grows to {len(parts.layers)} layers; no single layer is the cause",
            )
        layer = parts.layers[high - 1]
        return self._inside(parts, layer, failure) or Found(layer, worst)

    def _inside(self, parts: Parts, layer: Layer, failure: RuntimeFailure) -> Found | None:
        """Return the offending layer in a body, if the body alone fails in the same way."""
        found = (self.find(parts.body(layer, name), failure) for name in layer.bodies)
        return next((entry for entry in found if entry and entry.layer), None)

    def _fails(self, parts: Parts, count: int, failure: RuntimeFailure) -> RuntimeFailure | Attempt:
        """Return whether the first layers fail, at the same stage or later, since a part has outputs of its own."""
        if time.monotonic() > self._deadline:
            raise TimeoutError
        try:
            return self._ask(parts.first(count))
        except RuntimeFailure as other:
            order = [*STAGES, failure.stage, other.stage]
            return Attempt(0.0, 0, "") if order.index(other.stage) < order.index(failure.stage) else other

    def _gradual(self, needs: Attempt, failure: RuntimeFailure) -> bool:
        """Return whether what works comes near the limit already, so that one layer more is not the reason."""
        limits = {"timeout": needs.seconds / self._seconds, "memory": needs.peak / self._memory}
        return limits.get(failure.kind, 0.0) > GRADUAL


def _words(failure: RuntimeFailure) -> str:
    """Return what it says, without the numbers and names that differ from one model to another."""
    return re.sub(r"'[^']*'|\d+", "#", failure.reason)


def _between(parts: Parts, low: int, high: int) -> str:
    if high == len(parts.layers) and not low:
        return "the time limit did not allow a search for the layer"
    start = f"after '{parts.layers[low - 1].name}' and " if low else ""
    return (
        f"the layer is {start}not after '{parts.layers[high - 1].name}'; the time limit did not allow a further search"
    )
