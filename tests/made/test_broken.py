"""Files with one or two changes: what can be read is shaped, migrated and planned, or refused in words."""

from collections.abc import Callable

import pytest

from ir_tools.comparison._models import paired_models
from ir_tools.compatibility import compatibility
from ir_tools.errors import IrToolsError
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.inputs import plan_inputs
from ir_tools.rewrite.migration import migrate
from tests.rules.recorded import changed, names

WITH_BODIES = ("body", "map", "slice", "back_edge", "loop", "handmade", "condition", "variable", "made")
USES: tuple[Callable[[Model], object], ...] = (
    propagate_shapes,
    lambda model: migrate(model, "opset1"),
    lambda model: migrate(model, "openvino-2022.1"),
    lambda model: paired_models(model, model.copy()),
    lambda model: plan_inputs(model).arrays(0),
    compatibility,
    render,
)


@pytest.mark.parametrize("name", [name for name in names() if any(word in name for word in WITH_BODIES)])
def test_nothing_but_errors_of_this_package_is_raised(name: str) -> None:
    """Each file is given to every other one of what can be done with it."""
    used = 0
    for number, (text, weights) in enumerate(changed(name).values()):
        try:
            model = read(text, weights)
        except IrToolsError:
            continue
        for use in USES[number % 2 :: 2]:
            try:
                use(model)
            except IrToolsError:
                continue
            used += 1
    assert used or name.endswith("bad")
