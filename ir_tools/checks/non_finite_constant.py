"""Constants that hold NaN, or infinity that is neither a bound nor a mask."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.constants import Constant
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Graph
from ir_tools.ops import Op, Role, newest_op
from ir_tools.ops.definition import Infinity
from ir_tools.rules.storage import NON_FINITE_CONSTANT
from ir_tools.source import Element
from ir_tools.types import ElementType

__all__ = ["CHECK"]

EXPONENTS = {
    "f64": ("<u8", 0x7FF << 52),
    "f32": ("<u4", 0xFF << 23),
    "f16": ("<u2", 0x1F << 10),
    "bf16": ("<u2", 0xFF << 7),
    "f8e5m2": ("u1", 0x1F << 2),
    "f8e4m3": ("u1", 0x7F),
    "f8e8m0": ("u1", 0xFF),
}
"""By element type: the integer that an element is read as, and the bits that are all set if it is not finite."""
CHUNK = 1 << 18
"""Elements that are looked at together: they and what is computed of them stay in the processor's cache."""
ENOUGH, SMALL_SHARE = 16, 0.25
"""A mask beside several other values has at least so many elements, and at least this share of them is infinite."""


class _Count(NamedTuple):
    """The elements of a constant that are not finite. `others`: how many different finite values, counted up to 2."""

    nan: int
    positive: int
    negative: int
    others: int
    total: int


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each constant; those that share their bytes are looked at once."""
    counts: dict[tuple[int, int, str], _Count | None] = {}
    graphs: dict[Element, tuple[Graph, int]] | None = None
    for constant in file.constants:
        kind = constant.tensor.kind
        if kind.name not in EXPONENTS or constant.tensor.fault or constant.end > file.weights.size:
            continue
        key = constant.offset, constant.tensor.elements, kind.name
        if key not in counts:
            counts[key] = _count(file, constant)
        count = counts[key]
        if count is None:
            continue
        if graphs is None:
            graphs = {element: (net.graph, number) for net in file.nets for number, element in net.layers.items()}
        if count.nan or not _is_legitimate(count, *graphs[constant.layer]):
            yield ElementProblem(
                NON_FINITE_CONSTANT, constant.data, _message(count), "export the model again, or correct the .bin"
            )


def _message(count: _Count) -> str:
    counted = (count.nan, "NaN"), (count.positive, "infinity"), (count.negative, "minus infinity")
    words = ", ".join(f"{word} in {number}" for number, word in counted if number)
    return f"the constant has {words} of {count.total} element{'s' if count.total != 1 else ''}"


def _count(file: IrFile, constant: Constant) -> _Count | None:
    """Count what is not finite; None if everything is."""
    kind = constant.tensor.kind
    integer, exponent = EXPONENTS[kind.name]
    bits = file.weights.view(constant.offset, kind.byte_size(constant.tensor.elements)).view(integer)
    mask = bits.dtype.type(exponent)
    chunks = [bits[start : start + CHUNK] for start in range(0, len(bits), CHUNK)]
    odd = [chunk for chunk in chunks if (chunk & mask).max() == mask]
    if not odd:
        return None
    nan = positive = negative = 0
    finite = set[float]()
    for chunk in chunks:
        values = _values(chunk, kind)
        infinite = np.isinf(values)
        nan += int(np.isnan(values).sum())
        positive += int((infinite & (values > 0)).sum())
        negative += int((infinite & (values < 0)).sum())
        if len(finite) < 2:
            usual = values[np.isfinite(values)]
            finite |= {float(usual.min()), float(usual.max())} if usual.size else set()
    return _Count(nan, positive, negative, min(len(finite), 2), len(bits))


def _values(chunk: npt.NDArray[Any], kind: ElementType) -> npt.NDArray[np.float64]:
    assert kind.dtype is not None
    with np.errstate(invalid="ignore"):
        found: npt.NDArray[np.float64] = chunk.view(kind.dtype).astype(np.float64)
    return found


def _is_legitimate(count: _Count, graph: Graph, layer: int) -> bool:
    """Return whether infinities are a bound or a mask, by what is beside them and by what reads them."""
    lone = not count.others
    mask = count.others == 1 or (
        not count.positive and count.total >= ENOUGH and count.negative >= SMALL_SHARE * count.total
    )
    accepted = {Infinity.BOUND} if lone else {Infinity.BOUND, Infinity.MASK} if mask else set[Infinity]()
    return accepted.issuperset(_uses(graph, layer))


def _uses(graph: Graph, layer: int) -> Iterator[Infinity]:
    """Yield what infinity is to the layers that read a constant, directly or from what hands it on."""
    todo, seen = [layer], {layer}
    while todo:
        current = todo.pop()
        for consumer in graph.successors(current) if current in graph else ():
            op = newest_op(graph.layer(consumer).type)
            if op is None or not op.elements(0).copied:
                yield _infinity(op)
            elif consumer not in seen:
                seen.add(consumer)
                todo.append(consumer)


def _infinity(op: Op | None) -> Infinity:
    """Return what infinity is to an operation; a graph, variables and bodies hold any values."""
    if op is None:
        return Infinity.SUSPECT
    return Infinity.BOUND if op.role is not Role.COMPUTATION or op.bodies is not None else op.infinity


CHECK = Check(find, (NON_FINITE_CONSTANT,))
