"""Who may import whom: lower ranks and the own folder only; some packages in some places only."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ir_tools
from ir_tools import ops

ROOT = Path(ir_tools.__file__).parent
RANKS = {
    "collection": 0,
    "display": 0,
    "processors": 0,
    "diagnostics": 0,
    "rules": 1,
    "errors": 1,
    "lfs": 2,
    "files": 2,
    "findings": 1,
    "types": 2,
    "arguments": 3,
    "weights": 3,
    "source": 3,
    "graph": 4,
    "parameters": 5,
    "ops": 5,
    "builder": 6,
    "format": 6,
    "infer": 6,
    "states": 6,
    "releases": 6,
    "execution_order": 5,
    "inputs": 7,
    "known_differences": 7,
    "execute": 8,
    "rewrite": 8,
    "runtime": 9,
    "checks": 10,
    "validation": 11,
    "importers": 10,
    "onnx": 11,
    "ngraph": 11,
    "comparison": 11,
    "report": 12,
    "session": 12,
    "compatibility": 12,
    "api": 13,
    "cli": 14,
    "__init__": 15,
    "__main__": 15,
}
"""By module or folder of `ir_tools`. The facade is on top: what it offers is loaded when it is asked for."""

HOMES = {
    "lxml": {"source", "format"},
    "networkx": {"graph"},
    "openvino": {"runtime", "importers"},
    "rich": {"cli", "report"},
    "click": {"cli"},
    "jinja2": {"report"},
}
MODULES = sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Line and full name of everything that a module imports when it runs, wherever in it."""
    return [*_imports(path)]


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr) or is_typing(node):
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "ir_tools":
                yield from ((node.lineno, f"ir_tools.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module


def is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def all_imports() -> Iterator[tuple[str, str, str]]:
    """Part of the package that imports, full name of what it imports, and both as a message that says where."""
    for path in MODULES:
        for line, name in imports(path):
            yield part_of(path), name, f"{path.relative_to(ROOT)}:{line} imports {name}"


def test_every_part_has_a_rank() -> None:
    assert {part_of(path) for path in MODULES} == set(RANKS)


def test_imports_go_downwards() -> None:
    wrong = []
    for own, name, message in all_imports():
        other = name.removeprefix("ir_tools.").split(".")[0] if name.startswith("ir_tools.") else ""
        if other in RANKS and other != own and RANKS[other] >= RANKS[own]:
            wrong.append(message)
    assert wrong == []


def test_private_modules_are_imported_in_their_own_folder() -> None:
    foreign = []
    for own, name, message in all_imports():
        parts = name.split(".")
        if parts[0] == "ir_tools" and any(part.startswith("_") for part in parts[2:]) and parts[1] != own:
            foreign.append(message)
    assert foreign == []


def test_packages_stay_at_home() -> None:
    homes = [(own, HOMES.get(name.split(".")[0]), message) for own, name, message in all_imports()]
    assert [message for own, home, message in homes if home is not None and own not in home] == []


FAMILIES = {f"{family.__name__.rpartition('.')[2]}.py" for family in ops.FAMILIES}


def test_a_module_of_operations_is_a_family_or_shared() -> None:
    shared = {
        "bodies.py",
        "checks.py",
        "convolution_shapes.py",
        "definition.py",
        "fields.py",
        "interning.py",
        "limits.py",
        "records.py",
        "replacements.py",
    }
    assert {path.name for path in (ROOT / "ops").glob("[a-z]*.py")} == FAMILIES | shared


def test_families_do_not_know_each_other() -> None:
    families = {f"ir_tools.ops.{name.removesuffix('.py')}" for name in FAMILIES}
    for family in sorted(FAMILIES):
        found = imports(ROOT / "ops" / family)
        assert [where for where in found if ".".join(where[1].split(".")[:3]) in families] == [], family
