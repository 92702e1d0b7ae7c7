"""Ports that are not in the order of their ids."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import DISORDERED_PORTS
from ir_tools.types import id_number

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each side of a layer, at the first port that is out of place."""
    for net in file.nets:
        for side in net.disordered_sides:
            ports = list(side.iterchildren("port"))
            ids = [-1 if (number := id_number(port.get("id"))) is None else number for port in ports]
            if len(set(ids)) == len(ids):
                late = next(port for port, last, now in zip(ports[1:], ids, ids[1:], strict=False) if now < last)
                message = f"the {side.tag} ports are in the order {', '.join(map(str, ids))}"
                yield ElementProblem(
                    DISORDERED_PORTS, late, message, "sort them by id; the runtime reads ports by position"
                )


CHECK = Check(find, (DISORDERED_PORTS,))
