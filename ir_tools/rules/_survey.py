"""Rules about what the consistency check of a model finds: the same check for each, by the rule's name."""

from collections.abc import Callable, Iterator

from ir_tools.diagnostics import Severity
from ir_tools.graph import Located
from ir_tools.rules._define import Finding
from ir_tools.rules._file import IrFile, element_of

__all__ = ["surveyed"]


def surveyed(name: str) -> Callable[[IrFile], Iterator[Finding]]:
    """The check of the rule with this name: hands on what it found."""

    def check(file: IrFile) -> Iterator[Finding]:
        for problem in file.consistency.problems.get(name, ()):
            located = Located("", problem.layer, file.model.graph)
            attribute = problem.message.partition(" ")[0]
            place = file.place(located, problem.part, problem.port, problem.dim, attribute)
            rows = None if problem.row is None else element_of(located).find(problem.part)
            if rows is not None and problem.row is not None:
                place = file.place_of(rows[problem.row])
            yield Finding(place, problem.message, problem.help, Severity.WARNING if problem.mild else None)

    return check
