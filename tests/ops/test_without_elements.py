"""Tensors without elements: every operation is given inputs, and computed or refused in words."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from ir_tools.builder import Builder
from ir_tools.errors import IrToolsError
from ir_tools.execute import run
from ir_tools.graph import Source
from ir_tools.ops import Array, Op, Role
from tests.ops.samples import Sample, sample_of
from tests.releases.questions import OPS, planned


def emptied(sample: Sample) -> Iterator[Sample]:
    """The layer with one of its sizes 0 wherever it is, for each of them."""
    texts = [slot[1] if isinstance(slot, tuple) else "" for slot in sample.slots]
    for size in sorted({size for text in texts for size in text.split(",") if size}):
        shapes = [",".join("0" if one == size else one for one in text.split(",")) for text in texts]
        slots = (
            (slot[0], shape) if isinstance(slot, tuple) else slot
            for slot, shape in zip(sample.slots, shapes, strict=True)
        )
        yield Sample(sample.raw, tuple(slots))


@pytest.mark.parametrize("op", [op for op in OPS if op.role is Role.COMPUTATION and sample_of(op)], ids=str)
def test_a_layer_without_elements_is_computed_or_refused(op: Op) -> None:
    """Neither is there a warning, nor an error of another kind."""
    sample = sample_of(op)
    assert sample is not None
    known = {key: value for key, value in sample.raw.items() if key in op.fields}
    for one in emptied(sample):
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
