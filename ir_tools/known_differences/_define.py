"""How a known difference is described."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ir_tools.known_differences._model import Call
from ir_tools.ops import Array, Attrs
from ir_tools.processors import Processor

__all__ = [
    "SEEN",
    "DifferenceKind",
    "Instance",
    "KnownDifference",
    "Mask",
    "everywhere",
    "leaves",
    "refused",
    "unwritten",
]

Mask = npt.NDArray[np.bool_]
SEEN = "2026.4.1, CPU"
"""The release and device that rows are measured on, where they do not say."""


class DifferenceKind(enum.StrEnum):
    """A setting in which the runtime differs from the reference, or both from the specification.

    ARBITRARY: memory that the runtime does not write to, or that is not its own; it may end the process, too. SHAPE:
    what the runtime says before running, of layers that have no meaning. FOLLOWED: the reference does as the runtime.
    """

    WRONG = "other values"
    ARBITRARY = "arbitrary values"
    COARSE = "coarser arithmetic"
    DIES = "crash or hang"
    REFUSES = "refused"
    SHAPE = "other shape"
    FOLLOWED = "as the runtime, against the specification"


@dataclass(frozen=True, slots=True)
class Instance:
    """One layer on arrays: what a row is asked about. `constant`: the numbers of the inputs that are constants."""

    attrs: Attrs
    inputs: Sequence[Array]
    constant: Collection[int] = ()

    def kind(self, number: int = 0) -> str:
        """Return the kind of an input: `f` for floats of any width, `i`, `u` or `b`."""
        kind = self.inputs[number].dtype.kind
        return "f" if kind == "V" else kind


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDifference:
    """One row of the table.

    Attributes:
        name: short and unique; other places refer to the row by it.
        ops: the operations, as `Tile-1`.
        setting: when it happens.
        reason: what the runtime does, what the reference does, and who is right.
        model: the smallest layer that shows it.
        kind: of the difference; mostly the runtime gives other values.
        applies: whether a layer on arrays falls under the row; it is asked for every layer of a comparison, and cheap.
            None if that is not known.
        arbitrary: where an output says nothing, since the runtime leaves it unwritten and there is nothing to tell: for
            every output of the reference, None for nowhere. A comparison leaves such places out.
        same: of a row in which the reference follows the runtime: a model that means something else by the
            specification, and gives the same.
        seen: the release and device that it was measured on.
        processor: the processors that show it.
    """

    name: str
    ops: tuple[str, ...]
    setting: str
    reason: str
    model: Call
    kind: DifferenceKind = DifferenceKind.WRONG
    applies: Callable[[Instance], bool] | None = None
    arbitrary: Callable[[Sequence[Array]], Sequence[Mask | None]] | None = None
    same: Call | None = None
    seen: str = SEEN
    processor: Processor = Processor.ANY

    def covers(self, layer: Instance) -> bool:
        """Return whether a layer falls under the row on the processor of this machine, as far as that is known."""
        return self.applies is not None and self.processor.is_here and bool(self.applies(layer))

    def masks(self, outputs: Sequence[Array]) -> Sequence[Mask | None]:
        """Return where outputs of the reference are not compared; one entry per output, None for nowhere."""
        return [None] * len(outputs) if self.arbitrary is None else self.arbitrary(outputs)


refused = partial(KnownDifference, kind=DifferenceKind.REFUSES)
unwritten = partial(KnownDifference, kind=DifferenceKind.ARBITRARY)
"""Rows of what the runtime refuses, and of memory that it does not write to."""


def leaves(numbers: Array, type: str) -> bool:
    """Return whether one of some numbers is beyond the limits of an integer type of numpy's."""
    limits = np.iinfo(type)
    return bool(((numbers < limits.min) | (numbers > limits.max)).any())


def everywhere(outputs: Sequence[Array]) -> list[Mask]:
    """Mask, for `arbitrary`, the whole of every output."""
    return [np.ones(output.shape, bool) for output in outputs]
