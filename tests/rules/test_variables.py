"""Variables of bodies, held against the runtime."""

import numpy as np
import pytest

from ir_tools.errors import RuntimeFailure
from ir_tools.rules.operations import VARIABLE_STORED_TWICE
from ir_tools.runtime.client import RuntimeClient
from ir_tools.validation import validate
from tests.ops.test_control_flow import Text

ROWS = 'axis="0" start="0" end="-1" stride="1" part_size="1"'


def adding(text: Text, source: int, variable: str, version: int) -> int:
    """Add what a layer gives to a variable; return the sum, whose output is port 2."""
    more = ' variable_type="f32" variable_shape="1,3"' if version > 3 else ""
    read = text.layer("ReadValue", version, f'variable_id="{variable}"{more}', [(source, 0)], "f32")
    total = text.layer("Add", 1, "", [(read, 1), (source, 0)], "f32")
    text.layer("Assign", version, f'variable_id="{variable}"', [(total, 2)], "f32")
    return total


def iterators(variables: tuple[str, str], version: int) -> bytes:
    """Two layers that add the rows of the input, each to a variable in its body."""
    outer = Text(bytearray())
    data = outer.parameter("f32", "4,3")
    for variable in variables:
        body = Text(outer.blob)
        part = body.parameter("f32", "1,3")
        result = body.result(adding(body, part, variable, version), 2)
        mapping = (
            f'<port_map><input external_port_id="0" internal_layer_id="{part}" {ROWS}/>'
            f'<output external_port_id="1" internal_layer_id="{result}" {ROWS}/></port_map>'
        )
        own = outer.layer("TensorIterator", 1, "", [(data, 0)], "f32", mapping=mapping, body=body.inner("body"))
        outer.result(own, 1)
    return outer.model()


@pytest.mark.parametrize("version", [3, 6])
@pytest.mark.parametrize("variables", [("v", "v"), ("v", "w")])
def test_a_variable_is_stored_in_one_graph(variables: tuple[str, str], version: int, client: RuntimeClient) -> None:
    text = iterators(variables, version)
    try:
        client.infer(text, b"", {"Parameter_0": np.ones((4, 3), np.float32)})
    except RuntimeFailure:
        runs = False
    else:
        runs = True
    found = [(one.layer_name, one.path) for one in validate(text, b"", select=VARIABLE_STORED_TWICE.code)]
    assert found == ([] if runs else [("Assign_3", "TensorIterator_3/body/Assign_3")])
    assert runs is (variables[0] != variables[1])
