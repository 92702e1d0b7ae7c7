"""The ports of one side of a layer are not in the order of their ids.

Why: the runtime does not go by ids: the first <port> is the first input, whatever its id.

Bad:
    <port id="1" precision="FP32">
    ...
    <port id="0" precision="FP32">

Good:
    <port id="0" precision="FP32">
    ...
    <port id="1" precision="FP32">
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.types import id_number

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each side of a layer, at the first port that is out of place."""
    for net in file.nets:
        for side in net.disordered:
            ports = list(side.iterchildren("port"))
            ids = [-1 if (number := id_number(port.get("id"))) is None else number for port in ports]
            if len(set(ids)) == len(ids):
                late = next(port for port, last, now in zip(ports[1:], ids, ids[1:], strict=False) if now < last)
                message = f"the {side.tag} ports are in the order {', '.join(map(str, ids))}"
                yield Finding(file.place_of(late), message, "sort them by id: the runtime reads them by position")


RULE = Rule("IR115", "disordered-ports", Severity.WARNING, __doc__, check)
