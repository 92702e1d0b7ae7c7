"""Rules about what the survey of a model finds: the same check for each, by the rule's name."""

from collections.abc import Callable, Iterator

from ir_tools.diagnostics import Severity
from ir_tools.graph import Located
from ir_tools.rules._define import Finding
from ir_tools.rules._file import IrFile, element_of

__all__ = ["surveyed"]


def surveyed(name: str) -> Callable[[IrFile], Iterator[Finding]]:
    """The check of the rule with this name: hands on what the survey found."""

    def check(file: IrFile) -> Iterator[Finding]:
        for trouble in file.survey.troubles.get(name, ()):
            located = Located("", trouble.layer, file.model.graph)
            attribute = trouble.message.partition(" ")[0]
            place = file.place(located, trouble.part, trouble.port, trouble.dim, attribute)
            rows = None if trouble.row is None else element_of(located).find(trouble.part)
            if rows is not None and trouble.row is not None:
                place = file.place_of(rows[trouble.row])
            yield Finding(place, trouble.message, trouble.help, Severity.WARNING if trouble.mild else None)

    return check
