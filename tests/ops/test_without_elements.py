"""Tensors without elements: every operation is given inputs, and computed or refused in words."""

from contextlib import suppress

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import IrToolsError
from ir_tools.execute import run
from ir_tools.graph import Source
from ir_tools.ops import Array, Op, Role
from tests.ops.samples import Sample, resized, sample_of, sizes_in
from tests.releases.questions import OPS, planned


@pytest.mark.parametrize("op", [op for op in OPS if op.role is Role.COMPUTATION and sample_of(op)], ids=str)
def test_a_layer_without_elements_is_computed_or_refused(op: Op) -> None:
    """Neither is there a warning, nor an error of another kind."""
    sample = sample_of(op)
    assert sample is not None
    known = {key: value for key, value in sample.raw.items() if key in op.fields}
    for one in (resized(sample, size, "0") for size in sizes_in(sample)):
        builder, fed = Builder(), dict[str, Array]()
        with suppress(IrToolsError):
            arrays, sources = planned(op, Sample(known, one.slots)), list[Source]()
            for number, (slot, array) in enumerate(zip(one.slots, arrays, strict=True)):
                if isinstance(slot, tuple):
                    sources.append(builder.parameter(f"in{number}", slot[1], slot[0]))
                    fed[f"in{number}"] = array
                else:
                    sources.append(builder.constant(array))
            for output in builder.unchecked(op, known, sources, "layer"):
                builder.result(output)
            run(builder.model, fed)


def outputs_of(made: Builder, **fed: Array) -> Array:
    """The first output of a model by the reference."""
    return next(iter(run(made.model, fed).values()))


def test_rows_without_elements_times_a_matrix_are_zeros() -> None:
    made = Builder()
    made.result(made.call("MatMul", made.parameter("rows", "2,5,0"), made.parameter("matrix", "0,4")))
    found = outputs_of(made, rows=np.zeros((2, 5, 0), np.float32), matrix=np.zeros((0, 4), np.float32))
    np.testing.assert_array_equal(found, np.zeros((2, 5, 4)))


def test_tuples_of_no_indices_name_all_data() -> None:
    made, data = Builder(), np.arange(6, dtype=np.float32).reshape(2, 3)
    made.result(made.call("GatherND", made.parameter("data", "2,3"), made.parameter("indices", "4,0", "i64")))
    found = outputs_of(made, data=data, indices=np.zeros((4, 0), np.int64))
    np.testing.assert_array_equal(found, np.stack([data] * 4))


def test_groups_of_no_images_are_normalized() -> None:
    made, line = Builder(), np.ones(4, np.float32)
    images = made.parameter("images", "0,4,2,2")
    made.result(made.call("GroupNormalization", images, line, line, num_groups=2, epsilon=0.1))
    assert outputs_of(made, images=np.zeros((0, 4, 2, 2), np.float32)).shape == (0, 4, 2, 2)
