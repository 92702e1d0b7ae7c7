"""Problems of layers: attributes, inputs and shapes that contradict the operation, or each other."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, data_of, element_of
from ir_tools.diagnostics import Severity
from ir_tools.format.problems import DocumentPlace, ElementProblem, place_of
from ir_tools.infer import Problem
from ir_tools.rules import RULES
from ir_tools.rules.compatibility import DEPRECATED_OPERATION
from ir_tools.rules.operations import UNKNOWN_EXTENSION
from ir_tools.rules.structure import BAD_BACK_EDGE, BAD_SLICE, WRONG_PORT_MAP_ROW
from ir_tools.source import Document, Element
from ir_tools.types import id_number

__all__ = ["CHECK"]

OTHERS = (BAD_BACK_EDGE, BAD_SLICE, WRONG_PORT_MAP_ROW, DEPRECATED_OPERATION)
"""Rules of other groups than those about operations, shapes and settings."""
Ports = dict[tuple[str, int | None], Element]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield what the consistency check found, each at its part of the layer, which is looked for if it is listed."""
    ports_of = lru_cache(1)(_ports)
    for problem in file.consistency.problems:
        rule, severity, help = problem.rule, problem.severity, problem.help
        if rule is UNKNOWN_EXTENSION and file.extensions:
            severity, help = Severity.INFO, None
        place = partial(_place, file.document, problem, ports_of)
        yield ElementProblem(rule, place, problem.message, help, severity=severity, attribute=problem.attribute)


def _place(document: Document, problem: Problem, ports_of: Callable[[Element], Ports]) -> DocumentPlace:
    return place_of(document, _element(problem, ports_of), attribute=problem.attribute)


def _element(problem: Problem, ports_of: Callable[[Element], Ports]) -> Element:
    """Return the row, port or dimension that a problem is about; the part of the layer, or the layer."""
    layer = element_of(problem.layer)
    if problem.port is not None:
        ports = ports_of(layer)
        sides = ("input", "output") if problem.part == "input" else ("output", "input")
        found = next((ports[side, problem.port] for side in sides if (side, problem.port) in ports), layer)
        dims = () if problem.dim is None else found.iterfind("dim")
        return next((dim for at, dim in enumerate(dims) if at == problem.dim), found)
    if problem.part == "data":
        return data_of(problem.layer)
    part = None if problem.part == "layer" else layer.find(problem.part)
    if part is None:
        return layer
    return part if problem.row is None else part[problem.row]


def _ports(layer: Element) -> Ports:
    """Return the ports of a layer by side and id; of two with the same id, the first."""
    ports: Ports = {}
    for side in ("input", "output"):
        for port in layer.iterfind(f"{side}/port"):
            ports.setdefault((side, id_number(port.get("id"))), port)
    return ports


CHECK = Check(
    find,
    tuple(rule for rule in RULES if "IR2" <= rule.code < "IR5" or rule in OTHERS),
)
