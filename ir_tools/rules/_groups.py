"""Rules that share one look at the file: each hands on its part of what that look found."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ir_tools.rules._define import Finding
from ir_tools.rules._file import IrFile

__all__ = ["part_of"]


def part_of(
    look: Callable[[IrFile], Mapping[str, Sequence[Finding]]], name: str
) -> Callable[[IrFile], Iterator[Finding]]:
    """The check of the rule with this name: hands on what the look found, which is taken once for a file."""

    def check(file: IrFile) -> Iterator[Finding]:
        yield from file.once(look).get(name, ())

    return check
