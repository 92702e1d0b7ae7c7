"""A check: what it looks at, and which rules it finds broken."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ir_tools.checks.file import IrFile
from ir_tools.format.problems import ElementProblem
from ir_tools.rules import Rule

__all__ = ["Check"]


class Check(NamedTuple):
    """A function that finds problems in a file that can be read, and the rules that it may find broken.

    It does not run if nobody asks for one of them. `errors` finds at least all errors, if it takes less than `find`.
    """

    find: Callable[[IrFile], Iterator[ElementProblem]]
    rules: tuple[Rule, ...]
    errors: Callable[[IrFile], Iterator[ElementProblem]] | None = None
