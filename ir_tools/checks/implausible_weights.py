"""Constants with bytes that the exporter hardly wrote: absurdly large numbers, and weights that are all 0."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.constants import Constant
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Graph, Layer
from ir_tools.graph.layer import port_place
from ir_tools.ops import newest_op
from ir_tools.ops.definition import Elements
from ir_tools.rules.storage import IMPLAUSIBLE_WEIGHTS

__all__ = ["CHECK"]

WIDE = {"f64", "f32", "bf16"}
"""Element types with numbers that are far larger than any weight."""
ABSURD, SEVERAL = 1e20, 3
"""Larger numbers are bounds and masks, of which a constant has two: so many different ones are wrong bytes."""
LOOKED_AT = 1 << 12
"""Elements at the beginning of a constant that are looked at for large numbers."""
ENOUGH = 16
"""Fewer weights may be 0 for a reason."""
WEIGHTS = {"filters", "W", "R"}
"""Names of inputs with weights, by which an operation multiplies; those of MatMul have others."""
HANDED_ON = {Elements.MOVED, Elements.IN_ORDER, Elements.CONVERTED, Elements.LIKE, Elements.QUANTIZED}
"""How a layer uses its first input if its output is 0 where that is."""


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each constant."""
    graphs = {element: (net.graph, number) for net in file.nets for number, element in net.layers.items()}
    for constant in file.constants:
        if constant.tensor.fault or constant.end > file.weights.size:
            continue
        count = _absurd(file, constant) if constant.tensor.kind.name in WIDE else 0
        if count:
            message = f"{count} of the first {min(constant.tensor.elements, LOOKED_AT)} elements are larger than 1e20"
            remedy = "check that the .bin belongs to the .xml, and that its numbers are little-endian"
            yield ElementProblem(IMPLAUSIBLE_WEIGHTS, constant.data, message, remedy)
        elif constant.tensor.elements >= ENOUGH and _is_zero(file, constant):
            reader = next(_multiplied(*graphs[constant.layer]), None)
            if reader is not None:
                message = f"the {constant.tensor.elements} weights of '{reader.name}' are all 0"
                remedy = "check that the .bin is complete, or delete the layer"
                yield ElementProblem(IMPLAUSIBLE_WEIGHTS, constant.data, message, remedy)


def _absurd(file: IrFile, constant: Constant) -> int:
    """Count finite numbers beyond the usual; 0 if they are few different ones, or if there is NaN."""
    kind = constant.tensor.kind
    assert kind.dtype is not None
    size = kind.byte_size(min(constant.tensor.elements, LOOKED_AT))
    values: npt.NDArray[Any] = np.abs(file.weights.view(constant.offset, size).view(kind.dtype))
    if not (values.size and values.max() > ABSURD):
        return 0
    absurd = values[np.isfinite(values) & (values > ABSURD)]
    return len(absurd) if len(set(absurd.tolist())) >= SEVERAL else 0


def _is_zero(file: IrFile, constant: Constant) -> bool:
    bits = file.weights.view(constant.offset, constant.tensor.size)
    return not bits[:LOOKED_AT].any() and not bits.any()


def _multiplied(graph: Graph, layer: int) -> Iterator[Layer]:
    """Yield the layers that multiply by a constant, as it is or as others hand it on."""
    todo = [layer]
    while todo:
        for _, consumer, (_, port_id) in graph.out_edges(todo.pop(), keys=True):
            reader = graph.layer(consumer)
            op = newest_op(reader.type)
            if op is None or op.is_legacy:
                continue
            number = port_place(reader.common.inputs, port_id)
            given = op.input(0 if number is None else number)
            if op.type == "MatMul" or (given is not None and given.name in WEIGHTS):
                yield reader
            elif number == 0 and op.elements(0) in HANDED_ON:
                todo.append(consumer)


CHECK = Check(find, (IMPLAUSIBLE_WEIGHTS,))
