"""What becomes of made models is what was recorded; migrated ones are valid, a fixed point, and give equal values."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from ir_tools.diagnostics import Severity
from ir_tools.errors import IrToolsError
from ir_tools.execute import run
from ir_tools.graph import Model
from ir_tools.inputs import plan_inputs
from ir_tools.ops import Array
from ir_tools.rewrite.migration import migrate
from ir_tools.types import element_type
from ir_tools.validation import validate
from tests.made.models import model_of
from tests.made.recorded import SEEDS, TARGETS, found, load

WANTED = load()


def errors(model: Model) -> Counter[str]:
    return Counter(one.code for one in validate(model) if one.severity is Severity.ERROR)


def numbered(model: Model) -> Model:
    """A copy whose inputs and outputs go by their places, whatever they were called."""
    twin = model.copy()
    for number, end in enumerate(twin.outputs):
        end.layer.tag["output_names"] = f"output {number}"
    for number, end in enumerate(twin.inputs):
        end.port.names = (f"input {number}",)
    return twin


def outputs(model: Model, fed: Sequence[Array]) -> list[Array] | None:
    """The outputs in the order of the Results; None if the reference does not run it."""
    names = {end.name: element_type(end.layer.raw["element_type"]).dtype for end in model.inputs}
    given = {name: array.astype(dtype) for (name, dtype), array in zip(names.items(), fed, strict=True)}
    try:
        found = run(model, given)
    except IrToolsError:
        return None
    return [found[f"output {number}"] for number in range(len(found))]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_recorded(seed: int) -> None:
    """If it is something else on purpose, `python -m tests.made.recorded` records it again."""
    assert found(seed) == WANTED[str(seed)]


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_a_migrated_model_is_valid_means_the_same_and_stays(seed: int) -> None:
    model = model_of(seed)
    twin, wrong = numbered(model), errors(model)
    fed = [*plan_inputs(twin).arrays(0).values()]
    before = outputs(twin, fed)
    for target in TARGETS:
        migrated = migrate(model, target)
        if migrated.refused:
            continue
        assert not errors(migrated.model) - wrong, target
        assert migrate(migrated.model, target).steps == (), target
        after = None if before is None else outputs(numbered(migrated.model), fed)
        assert (after is None) == (before is None)
        for one, two in zip(before or (), after or (), strict=True):
            kind = np.result_type(one.dtype, np.float64)
            np.testing.assert_allclose(two.astype(kind), one.astype(kind), rtol=4e-3, atol=4e-3)
