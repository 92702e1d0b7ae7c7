"""ReadValue and Assign against the runtime."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest

from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.ops import Fact, state
from ir_tools.ops.definition import Refused, Rewrite
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Shape, element_type, parse_shape
from ir_tools.validation import validate
from tests.ops.around import ops_by_name
from tests.ops.layer_support import Setting, compare_shapes
from tests.ops.single import attrs_of, computed
from tests.outcomes import works

OPS = ops_by_name(state.OPS)

PARAMETER = """<layer id="{id}" name="x{id}" type="Parameter" version="opset1">
<data element_type="{kind}" shape="{shape}"/>
<output><port id="0" precision="FP32"/></output></layer>"""
VARIABLE = """<layer id="1" name="op" type="ReadValue" version="opset{version}"><data variable_id="v" {data}/>
{taken}<output><port id="1" precision="FP32"/></output></layer>
<layer id="3" name="a" type="Assign" version="opset{version}"><data variable_id="v"/>
<input><port id="0"/></input></layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>"""
EDGE = '<edge from-layer="{0}" from-port="{1}" to-layer="{2}" to-port="0"/>'


def model(version: int, data: Mapping[str, str], initial: str | None, new: str) -> bytes:
    """A variable that is read and assigned; its initial value and the new one by their shapes."""
    layers, edges = PARAMETER.format(id=2, kind="f32", shape=new), EDGE.format(1, 1, 4)
    # Version 3 asks that the variable be read before it is assigned.
    edges += EDGE.format(2, 0, 3) if version == 6 else EDGE.format(1, 1, 3)
    if initial is not None:
        layers += PARAMETER.format(id=0, kind="f32", shape=initial)
        edges += EDGE.format(0, 0, 1)
    taken = "" if initial is None else '<input><port id="0"/></input>'
    text = " ".join(f'{key}="{value}"' for key, value in data.items())
    layers += VARIABLE.format(version=version, data=text, taken=taken)
    return f'<net name="m" version="11"><layers>{layers}</layers><edges>{edges}</edges></net>'.encode()


def by_runtime(client: RuntimeClient, text: bytes) -> tuple[str, Shape] | None:
    try:
        kind, shape = client.shapes(text, bytes(16))["op", 0]
    except RuntimeFailure:
        return None
    return kind, parse_shape(shape)


def by_rule(version: int, data: Mapping[str, str], initial: str | None) -> tuple[str, Shape] | None:
    op = OPS[f"ReadValue-{version}"]
    attrs = attrs_of(op, {"variable_id": "v", **data})
    assert op.shape is not None
    inputs = [] if initial is None else [Fact(element_type("f32"), parse_shape(initial))]
    try:
        (fact,) = op.shape(attrs, inputs)
    except ShapeError:
        return None
    return str(fact.dtype), fact.shape


@pytest.mark.parametrize("given", ["f32", "i32", "dynamic"])
@pytest.mark.parametrize("own", ["f32", "i32", "dynamic"])
def test_types_of_variable_and_initial_value(client: RuntimeClient, own: str, given: str) -> None:
    raw = {"variable_id": "v", "variable_type": own, "variable_shape": "2,3"}
    compare_shapes(client, Setting(OPS["ReadValue-6"], [(given, "2,3")], raw))


INITIAL = ("1,2", "?,2", "1..4,2", "...", None)
DECLARED: tuple[dict[str, str], ...] = (
    {},
    {"variable_type": "f32", "variable_shape": "1,2"},
    {"variable_type": "f32", "variable_shape": "?,2"},
    {"variable_type": "f32", "variable_shape": "1..2,2"},
    {"variable_type": "f32", "variable_shape": "..."},
    {"variable_type": "i32", "variable_shape": "..."},
    {"variable_type": "f32", "variable_shape": "3,2"},
    {"variable_type": "f32", "variable_shape": ""},
    {"variable_type": "dynamic", "variable_shape": "?,2"},
    {"variable_type": "dynamic"},
    {"variable_type": "f32"},
    {"variable_shape": "?,2"},
)
BEGUN = [row for row in product(DECLARED, INITIAL) if row[1] or row[0].get("variable_type") != "i32"]
"""The new value is of f32, which contradicts another type that nothing else decides."""


@pytest.mark.parametrize(("data", "initial"), BEGUN, ids=str)
def test_shapes_of_variables(data: Mapping[str, str], initial: str | None, client: RuntimeClient) -> None:
    """The new value has the variable's shape: only the initial value can contradict it."""
    new = data.get("variable_shape", "...")
    assert by_rule(6, data, initial) == by_runtime(client, model(6, data, initial, new))


@pytest.mark.parametrize("initial", INITIAL[:4])
def test_shapes_of_version_3(initial: str, client: RuntimeClient) -> None:
    assert by_rule(3, {}, initial) == by_runtime(client, model(3, {}, initial, "..."))


@pytest.mark.parametrize("initial", ["1,2", None], ids=str)
@pytest.mark.parametrize("data", [*DECLARED[:2], *DECLARED[8:]], ids=lambda data: ",".join(data.values()) or "-")
def test_what_a_variable_has_to_say(data: Mapping[str, str], initial: str | None, client: RuntimeClient) -> None:
    """With one of its two attributes alone, or with neither and without an initial value, nothing runs."""
    op = OPS["ReadValue-6"]
    attrs = attrs_of(op, {"variable_id": "v", **data})
    facts = [] if initial is None else [Fact(element_type("f32"), parse_shape(initial))]
    fed = {f"x{number}": np.ones((1, 2), np.float32) for number in (0, 2) if number == 2 or facts}
    try:
        (wanted,) = client.infer(model(6, data, initial, "1,2"), bytes(16), fed).outputs.values()
    except RuntimeFailure:
        assert list(op.check(attrs, facts))
        return
    assert not list(op.check(attrs, facts))
    (found,) = computed(op, attrs, [fed["x0"]] if facts else [])
    np.testing.assert_array_equal(found, wanted)


STORE = '<layer id="3" name="a" type="Assign" version="opset{0}">'


@pytest.mark.parametrize("read_by", ["a result", "nothing"])
@pytest.mark.parametrize("stored", [3, 6])
@pytest.mark.parametrize("version", [3, 6])
def test_variables_that_are_stored_and_read(version: int, stored: int, read_by: str, client: RuntimeClient) -> None:
    """An Assign finds those ReadValues that lead somewhere, and one of opset3 none of opset6."""
    text = model(version, {"variable_type": "f32", "variable_shape": "1,2"} if version == 6 else {}, "1,2", "1,2")
    text = text.replace(STORE.format(version).encode(), STORE.format(stored).encode())
    if read_by == "nothing":
        text = text.replace(EDGE.format(1, 1, 4).encode(), EDGE.format(2, 0, 4).encode())
        text = text.replace(EDGE.format(1, 1, 3).encode(), EDGE.format(2, 0, 3).encode())
    wanted = not works(client.shapes, text, bytes(16))
    assert [finding.code for finding in validate(text, bytes(16), select=["IR214"])] == ["IR214"] * wanted


@pytest.mark.parametrize(("shape", "found"), [("", Rewrite), ("1,4", Rewrite), ("?", Refused), ("...", Refused)])
def test_a_second_variable_needs_the_sizes_of_the_first(shape: str, found: type) -> None:
    """It says whether a run is the first one; a single number has sizes, too."""
    op = OPS["ReadValue-3"]
    assert op.substitute is not None
    given = [Fact(element_type("f32"), parse_shape(shape))]
    assert isinstance(op.substitute(attrs_of(op, {"variable_id": "v"}), given, 3), found)
