"""Tensors without elements: every operation is given inputs, and computed or refused in words."""

from contextlib import suppress

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
