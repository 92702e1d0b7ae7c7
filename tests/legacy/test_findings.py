"""Valid layers of IR v2 to v7: none of their attributes, also by its early name, is missing or unknown."""

import pytest

import ir_tools
from ir_tools.rules.operations import ASSUMED_ATTRIBUTE, MISSING_ATTRIBUTE, UNKNOWN_ATTRIBUTE
from tests.legacy.makers import MAKERS, VERSIONS, case

RULES = (ASSUMED_ATTRIBUTE, MISSING_ATTRIBUTE, UNKNOWN_ATTRIBUTE)


@pytest.mark.parametrize("name", MAKERS)
def test_attributes_of_layers_that_run_are_known(name: str) -> None:
    for seed in range(len(VERSIONS)):
        made = case(name, seed)
        model = made.model()
        found = ir_tools.validate(model, select=[rule.code for rule in RULES])
        assert {(name, one.message.split()[0]) for one in found} <= {("Pooling", "dilations")}
