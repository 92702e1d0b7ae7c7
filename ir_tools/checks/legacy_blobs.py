"""Weights, biases and values of layers of IR v2 to v7 that are absent, or not as many as the layer takes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, element_of
from ir_tools.errors import ShapeError
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Layer
from ir_tools.ops import Op, find_op
from ir_tools.ops.definition import Blobs, Fact
from ir_tools.ops.records import blob_type, recorded
from ir_tools.rules import Rule
from ir_tools.rules.storage import BAD_CONSTANT, WRONG_CONSTANT_SIZE
from ir_tools.types import closest, id_number

__all__ = ["CHECK"]


class _Fault(NamedTuple):
    """What is wrong with a blob, which layers of one text with equal inputs share."""

    rule: Rule
    name: str
    message: str
    remedy: str


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each blob."""
    known: dict[object, Sequence[_Fault]] = {}
    for _, layer, graph in file.model.walk() if file.model.is_legacy else ():
        op, text = find_op(layer.type, layer.version), layer.text
        if op is None or op.blobs is None:
            continue
        believed, sources = file.consistency.facts[id(graph)], graph.sources(layer.id)
        inputs = [believed.get(sources[port.id]) for port in layer.common.inputs if port.id in sources]
        form = (layer if text is None else text[0], *map(id, inputs))
        if form not in known:
            known[form] = [*_faults(layer, op, op.blobs, [*filter(None, inputs)])]
        for rule, name, message, remedy in known[form]:
            element = element_of(layer)
            yield ElementProblem(rule, next(element.iter(name), element), message, remedy)


def _faults(layer: Layer, op: Op, blobs: Blobs, inputs: Sequence[Fact]) -> Iterator[_Fault]:
    content, attrs = layer.common, op.read(layer.common.raw, [])
    if attrs is None or any(not each.kind.mild for each in op.check(attrs, inputs)):
        return
    try:
        needed = blobs(attrs, inputs, [*map(recorded, content.outputs)])
    except ShapeError:
        return
    for name, counts in needed.items():
        if name not in content.blobs:
            if 0 not in counts:
                yield _absent(layer, name)
            continue
        size, kind = id_number(content.blobs[name].get("size")), blob_type(content, name)
        count, rest = (0, 0) if size is None or kind is None else divmod(8 * size, kind.bits)
        if counts and size is not None and kind is not None and (rest or count not in counts):
            bits = f"{max(counts) * kind.bits // 8} bytes for {max(counts)} values of {kind}"
            message = f"<{name}> has {size} bytes; expected {bits}"
            yield _Fault(
                WRONG_CONSTANT_SIZE, name, message, "correct the size, or the sizes and attributes of the layer"
            )


def _absent(layer: Layer, name: str) -> _Fault:
    written = [str(child.tag) for child in element_of(layer).iterdescendants() if child.get("offset")]
    meant = closest(name, written)
    remedy = f"<{meant}> is not read" if meant else f'write <{name} offset="..." size="..."/> in <blobs>'
    return _Fault(BAD_CONSTANT, name, f"the layer has no <{name}>", remedy)


CHECK = Check(find, (WRONG_CONSTANT_SIZE, BAD_CONSTANT))
