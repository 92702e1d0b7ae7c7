"""How a difference between releases is described."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cache, partial

from ir_tools.known_differences._model import Call
from ir_tools.known_differences.releases.seen import Seen
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.releases.table import OPENVINO, Release, find_release

__all__ = ["ReleaseDifference", "ends", "not_compiled", "not_read", "not_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDifference:
    """One row.

    Attributes:
        name: short and unique.
        state: what they do with the layer; mostly they give other values.
        span: the releases that differ, both included, as `2022.1 to 2023.3`.
        ops: the operations, as `Convert-1`.
        reason: what they do.
        model: the smallest layer that shows it.
        only_v10: whether it takes IR v10 to show it, though the releases read v11.
        types: element types of the first input; empty: any.
        sometimes: whether other values are slight, or come of some inputs only.
        measured: whether models that were measured fall under it; what was measured of them does not count.
        instead: cases of `measured.json` that the row describes more exactly; what was measured of them does not count.
        folded: whether a layer of constants alone, which is computed before a device sees it, does this, too; it goes
            without saying of what is not read, and of other values before 2022.1.
        applies: whether a layer falls under the row, if its first input has one of the types.
        processor: the processors that show it.
    """

    name: str
    span: str
    ops: tuple[str, ...]
    reason: str
    model: Call
    only_v10: bool = False
    state: State = State.DIFFERS
    types: str = ""
    sometimes: bool = False
    measured: bool = False
    instead: tuple[str, ...] = ()
    folded: bool = False
    applies: Callable[[Seen], bool] = lambda seen: True
    processor: Processor = Processor.ANY

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases that differ."""
        return _releases_in(self.span)

    @property
    def version(self) -> int:
        """The version of the IR that shows it: the latest that all of the releases read."""
        return 10 if self.only_v10 else min(release.reads[1] for release in self.releases)

    def may_concern(self, kinds: Set[str]) -> bool:
        """Return whether a layer may fall under the row if its first input has one of these element types."""
        return not self.types or not kinds.isdisjoint(self.types.split())


@cache
def _releases_in(span: str) -> tuple[Release, ...]:
    first, last = (find_release(f"openvino-{name}").number for name in span.split(" to "))
    return tuple(release for release in OPENVINO if first <= release.number <= last)


not_read = partial(ReleaseDifference, state=State.UNREAD)
not_compiled = partial(ReleaseDifference, state=State.UNCOMPILED)
not_run = partial(ReleaseDifference, state=State.FAILS)
ends = partial(ReleaseDifference, state=State.DIES)
"""Rows of releases that do not read a layer, do not compile it, do not run it, or end the process."""
