"""Variables that an Assign stores into, and that no ReadValue reads or another Assign stores into as well."""

from collections.abc import Collection, Iterator, Mapping, Set

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, data_of
from ir_tools.display import quoted, some
from ir_tools.format.content import ends_of
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Graph, Layer
from ir_tools.known_differences.neighbours import all_used
from ir_tools.ops import Role, opset_number, role_of
from ir_tools.rules.operations import UNREAD_VARIABLE, VARIABLE_STORED_TWICE

__all__ = ["CHECK"]

SHOWN = 5
"""Variables in a message."""


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield the problems of each Assign."""
    if "assign" in file.consistency.types:
        yield from _unread(file)
        yield from _stored_twice(file)


def _unread(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each Assign whose variable is unknown, or that nothing reads.

    The runtime finds those ReadValues alone that lead to a Result or an Assign, and with an Assign of opset3 to opset5
    none of opset6. An edge that cannot be read may be from one.
    """
    known: dict[str, set[bool]] = {}
    starts = {ends_of(edge.element)[0][0] for net in file.nets for edge in net.left_out}
    idle, used = set[str](), dict[int, Set[int]]()
    for graph, layer in _of_role(file, Role.READ_VARIABLE):
        name = layer.common.raw.get("variable_id")
        if name is None:
            return
        if id(graph) not in used:
            used[id(graph)] = all_used(graph, starts)
        idle |= set() if -1 in starts or layer.id in used[id(graph)] else {name}
        known.setdefault(name, set()).add(_is_old(layer.version))
    for _, layer in _of_role(file, Role.ASSIGN_VARIABLE):
        name = layer.common.raw.get("variable_id")
        fault = None if name is None else _fault(name, _is_old(layer.version), known, idle)
        if fault is not None:
            yield ElementProblem(UNREAD_VARIABLE, data_of(layer), *fault)


def _stored_twice(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each further Assign of a variable, in the same graph or in another one."""
    first: dict[str, Layer] = {}
    for _, layer in _of_role(file, Role.ASSIGN_VARIABLE):
        name = layer.common.raw.get("variable_id")
        if name is None:
            continue
        other = first.setdefault(name, layer)
        if other is not layer:
            message = f"layer '{other.name}' already stores the variable '{quoted(name)}'"
            remedy = "delete one of the two, or use another variable_id"
            yield ElementProblem(VARIABLE_STORED_TWICE, data_of(layer), message, remedy)


def _of_role(file: IrFile, role: Role) -> Iterator[tuple[Graph, Layer]]:
    """Yield the layers of a role, each with its graph, in the order of the file."""
    return ((graph, layer) for _, layer, graph in file.model.walk(lambda layer: role_of(layer) is role))


def _fault(
    name: str, old: bool, known: Mapping[str, Collection[bool]], idle: Collection[str]
) -> tuple[str, str] | None:
    """Return what is wrong with the variable of an Assign, and what to do; None if nothing is."""
    shown = quoted(name)
    if name not in known:
        others = some([f"'{quoted(other)}'" for other in sorted(known)], SHOWN) or "none"
        return (
            f"no ReadValue reads the variable '{shown}'; the model reads {others}",
            "use the same variable_id in both",
        )
    if old and True not in known[name]:
        return (
            f"the ReadValue of '{shown}' has version opset6, but this Assign has another",
            "use the same version in both",
        )
    if name in idle:
        return (
            f"no Result and no Assign depends on the ReadValue of '{shown}'",
            "delete both layers, or connect the ReadValue",
        )
    return None


def _is_old(version: str | None) -> bool:
    """Return whether a layer is of the first generation, opset3 to opset5, whose variables the second does not see."""
    number = opset_number(version or "")
    return number is not None and number < 6


CHECK = Check(find, (UNREAD_VARIABLE, VARIABLE_STORED_TWICE))
