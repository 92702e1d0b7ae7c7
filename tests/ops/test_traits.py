"""Properties that engines ask of operations hold for random layers of each of them."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from ir_tools.ops import Array, Attrs, Elements, Op
from tests.ops import table_makers
from tests.ops.recorded import right_outputs
from tests.ops.single import Fed

LAYERS = 12


def computed(op: Op) -> Iterator[tuple[Fed, Attrs, tuple[Array, ...]]]:
    for layer in table_makers.layers(op, LAYERS, seed=5):
        attrs, outputs = op.read(layer.raw, []), right_outputs(layer)
        if attrs is not None and outputs is not None:
            yield layer, attrs, tuple(outputs)


def copied(op: Op) -> bool:
    return any(slot.elements.copied for slot in op.inputs)


def indexing(op: Op) -> bool:
    return any(output.indexes for output in op.outputs)


@pytest.mark.parametrize("op", [op for op in table_makers.OPS if op.kernel and copied(op)], ids=str)
def test_copied_elements_are_elements_of_an_input(op: Op) -> None:
    """Or 0, for an index beyond the table."""
    for layer, _, outputs in computed(op):
        inputs = [array for number, array in enumerate(layer.arrays) if op.elements(number).copied]
        if op.elements(0) is Elements.CONVERTED:
            assert [output.shape for output in outputs] == [inputs[0].shape]
            continue
        lacking = {"0", "0.0", "False"} if any(slot.indexes for slot in op.inputs) else set[str]()
        known = lacking | {element for array in inputs for element in map(repr, array.ravel().tolist())}
        for number, output in enumerate(outputs):
            slot = op.output(number)
            if slot is None or slot.indexes is None:
                assert known.issuperset(map(repr, output.ravel().tolist()))
        if op.elements(0) is Elements.IN_ORDER and len(inputs) == 1:
            assert np.array_equal(outputs[0].ravel(), inputs[0].ravel(), equal_nan=inputs[0].dtype.kind == "f")


@pytest.mark.parametrize("op", [op for op in table_makers.OPS if op.kernel and indexing(op)], ids=str)
def test_indices_are_below_the_size_of_their_axis(op: Op) -> None:
    for layer, attrs, outputs in computed(op):
        for number, output in enumerate(outputs):
            slot = op.output(number)
            if slot is not None and slot.indexes is not None and output.size:
                axis = slot.indexes(attrs, [])
                assert axis is None or int(output.max()) < layer.arrays[0].shape[axis]


@pytest.mark.parametrize("op", [op for op in table_makers.OPS if op.commutative], ids=str)
def test_commutative_operations(op: Op) -> None:
    for layer, attrs, outputs in computed(op):
        first, second = layer.arrays
        if first.dtype == second.dtype and attrs.auto_broadcast != "pdpd":
            exchanged = right_outputs(replace(layer, arrays=[second, first]))
            assert exchanged is not None
            known = ~np.isnan(outputs[0]) if outputs[0].dtype.kind == "f" else ...
            assert np.array_equal(outputs[0][known], exchanged[0][known])
