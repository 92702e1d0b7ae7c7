"""Choose, of many random layers, those that take other ways through the operations than the layers before them.

`python -m tests.ops.choosing [NAME...]` does what `python -m tests.ops.recorded` does, but chooses the layers again:
each makes a comparison or a condition in `ir_tools/ops/` come out as none of those before it does. Of integers it
counts by how much they differ, so that the ends of ranges are among them.
"""

import ast
import builtins
import operator
import sys
import tempfile
from collections.abc import Callable, Hashable, Sequence
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from tests.ops.recorded import Recorded

T = TypeVar("T")
POOL, MAX_CHOSEN = 300, 90
"""Layers to choose from; how many are taken, unless more are among the first."""
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
seen: set[Hashable] = set()
"""What came out since it was last emptied."""


class Marked(ast.NodeTransformer):
    """Puts calls of `compared`, `decided` and `chosen_of` into the code of a module."""

    def __init__(self, path: str) -> None:
        """Take the module's path."""
        self.path = path

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Take chains apart."""
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        parts = [self._compared(*part) for part in zip(sides, node.ops, sides[1:], strict=False)]
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    def _compared(self, left: ast.expr, sign: ast.cmpop, right: ast.expr) -> ast.expr:
        word = type(sign).__name__
        if word not in COMPARE:
            return self._call("decided", left, ast.Compare(left, [sign], [right]))
        return self._call("compared", left, ast.Constant(word), left, right)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Mark each part."""
        self.generic_visit(node)
        return ast.BoolOp(node.op, [self._call("decided", value, value) for value in node.values])

    def visit_If(self, node: ast.If) -> ast.If:
        """Mark the condition."""
        self.generic_visit(node)
        node.test = self._call("decided", node.test, node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        """Mark the condition."""
        self.generic_visit(node)
        node.test = self._call("decided", node.test, node.test)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Mark the smaller and the larger of two."""
        self.generic_visit(node)
        plain = not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args)
        if plain and len(node.args) == 2 and isinstance(node.func, ast.Name) and node.func.id in {"min", "max"}:
            return self._call("chosen_of", node, ast.Constant(node.func.id), *node.args)
        return node

    def _call(self, name: str, near: ast.expr, *arguments: ast.expr) -> ast.expr:
        place = f"{self.path}:{getattr(near, 'lineno', 0)}:{getattr(near, 'col_offset', 0)}:{name}"
        return ast.Call(ast.Name(f"__{name}__", ast.Load()), [ast.Constant(place), *arguments], [])


def decided(place: str, value: T) -> T:
    """Note whether something is true."""
    if not isinstance(value, np.ndarray):
        seen.add((place, bool(value)))
    return value


def compared(place: str, sign: str, left: Any, right: Any) -> Any:
    """Compare, and note what is larger, or by how much."""
    found = COMPARE[sign](left, right)
    _note(place, left, right, found)
    return found


def chosen_of(place: str, word: str, left: Any, right: Any) -> Any:
    """Return the smaller or larger of two, and note which it is."""
    found = {"min": min, "max": max}[word](left, right)
    _note(place, left, right, None)
    return found


def _note(place: str, left: Any, right: Any, found: Any) -> None:
    numbers = (int, float, np.number, np.ndarray)
    if not (isinstance(left, numbers) and isinstance(right, numbers)):
        seen.add((place, None if found is None else bool(found)))
        return
    with np.errstate(all="ignore"):
        far = np.subtract(left, right, dtype=None if _whole(left, right) else np.float64)
    near = np.clip(far, -2, 2) if far.dtype.kind == "i" else np.sign(far)
    seen.update((place, one) for one in np.unique(near).tolist())


def _whole(left: Any, right: Any) -> bool:
    return all(np.asarray(one).dtype.kind == "i" for one in (left, right))


def install() -> None:
    """Mark the modules of `ir_tools/ops/` that are imported from now on."""
    sys.pycache_prefix = tempfile.mkdtemp()
    for function in (decided, compared, chosen_of):
        setattr(builtins, f"__{function.__name__}__", function)
    plain = SourceFileLoader.source_to_code

    def marked(self: SourceFileLoader, data: Any, path: Any, **options: Any) -> Any:
        if "/ir_tools/ops/" in str(path) and isinstance(data, bytes):
            tree = Marked(str(path).rpartition("/")[2]).visit(ast.parse(data))
            return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
        return plain(self, data, path, **options)

    SourceFileLoader.source_to_code = marked  # type: ignore[method-assign, assignment]  # there is no hook


def chosen(kind: "Recorded") -> list[int]:
    """Return the numbers of the layers that are chosen, of those that give something."""
    found, known = list[int](), set[Hashable]()
    for number in range(max(POOL, kind.first)):
        one = kind.layer(number)
        seen.clear()
        if kind.numbers(one) and (len(found) < kind.first or not seen <= known):
            found.append(number)
            known |= seen
        if len(found) >= max(MAX_CHOSEN, kind.first):
            break
    return found


def main(names: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    install()
    from tests.ops import recorded

    return recorded.main(names, chosen)


if __name__ == "__main__":
    from tests.ops import choosing

    sys.exit(choosing.main(sys.argv[1:]))
