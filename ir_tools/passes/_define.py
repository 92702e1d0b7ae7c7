"""What a pass is: a rewrite with a name, for some operation types."""

from collections.abc import Sequence
from typing import Protocol

from ir_tools.graph import Layer
from ir_tools.ops._define import Fact, Rewrite

__all__ = ["Pass"]


class Pass(Protocol):
    """Rewrites layers where it can prove that they keep their meaning, and leaves all others alone.

    A pass that has run leaves nothing to do for itself.
    """

    @property
    def name(self) -> str:
        """As on the command line."""
        ...

    @property
    def types(self) -> tuple[str, ...]:
        """The operation types that it rewrites."""
        ...

    def rewrite(self, layer: Layer, inputs: Sequence[Fact]) -> Rewrite | None:
        """What stands for a layer of these types, given what is known of its inputs; None to leave it alone."""
        ...
