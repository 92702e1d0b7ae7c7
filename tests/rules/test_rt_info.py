"""Layouts in rt_info, held against the runtime: where it reads them, and which it refuses."""

from itertools import product

import pytest

from ir_tools.errors import RuntimeFailure
from ir_tools.runtime.client import STAGES, RuntimeClient
from ir_tools.validation import validate
from tests.outcomes import works
from tests.rules.test_rules import FOLDER

CHAIN = (FOLDER / "duplicate_layer_id" / "good.xml").read_text(encoding="utf-8")
LAYOUTS = ("[N,C,H,W]", "[N,C,H]", "[N,...,C,D,H,W]", "[N,...]", "N...W", "NCH", "[]", "", "**SCALAR**", "?", "scalar")
SPELLINGS = (
    "1.5",
    "NCHW.",
    "N..C",
    "...NC...",
    "...",
    "N?...C",
    "N_C",
    "[N,.]",
    "[N,..,C]",
    "[...,C,...]",
    "[N...,C]",
    "[ N , ... ]",
    "[a_b,C,_1,?]",
    "[_,C,H,W]",
    "[N?,C,H,W]",
    "[N,?,?,C]",
    "[N,C,H,...,W]",
    "[N,C,H,...,D,W]",
    "N??C",
    "[N.C,...]",
    "[N,C,H,n]",
    "NCcW",
    "NBHW",
    "[N,batch,H,W]",
    "[b,Batch,H,W]",
    "[channels,Channel,H,W]",
    "[H,height,N,C]",
    "[D,depth,N,C]",
    "[W,WIDTH,N,C]",
    "[T,time,L,length]",
)
PLACES = ("input's layer", "input's port", "output's layer", "output's port", "port of what gives the output", "inside")


def with_layout(place: str, layout: str) -> bytes:
    """The chain Parameter, Abs, ReLU, Result with a layout somewhere."""
    info = f'<rt_info><attribute name="layout" version="0" layout="{layout}" /></rt_info>'
    at = {
        "input's layer": CHAIN.index("<output>"),
        "input's port": CHAIN.index("</port>"),
        "output's layer": CHAIN.index("<input>", CHAIN.index('type="Result"')),
        "output's port": CHAIN.rindex("</port>"),
        "port of what gives the output": CHAIN.index("</port>", CHAIN.index("<output>", CHAIN.index('type="ReLU"'))),
        "inside": CHAIN.index("</port>", CHAIN.index("<output>", CHAIN.index('type="Abs"'))),
    }[place]
    return (CHAIN[:at] + info + CHAIN[at:]).encode()


@pytest.mark.parametrize(
    ("place", "layout"), [*product(PLACES, LAYOUTS), *(("input's port", layout) for layout in SPELLINGS)]
)
def test_layouts(client: RuntimeClient, place: str, layout: str) -> None:
    text = with_layout(place, layout)
    refused = not works(client.attempt, text, None, until=STAGES[1], seconds=10)
    assert refused == any(found.severity == "error" for found in validate(text))


def test_a_layout_inside_the_model_that_does_not_fit_is_a_warning() -> None:
    (found,) = validate(with_layout("inside", "[N,C,H]"))
    assert (found.code, str(found.severity)) == ("IR161", "warning")
    assert found.message == "the layout [N,C,H] has 3 dimensions, but the port has 4"


@pytest.mark.parametrize("layout", ["[N,C]", "[N,...]"])
def test_a_layout_of_an_input_of_a_body_has_to_fit(client: RuntimeClient, layout: str) -> None:
    text = (FOLDER / "bad_port_map_row" / "good.xml").read_text(encoding="utf-8")
    info = f'<rt_info><attribute name="layout" version="0" layout="{layout}" /></rt_info>'
    at = text.index("</port>", text.index('name="slice"'))
    wrong = (text[:at] + info + text[at:]).encode()
    found = [diagnostic.severity for diagnostic in validate(wrong, select=["bad-rt-info"])]
    try:
        client.attempt(wrong, None, until=STAGES[1], seconds=10)
    except RuntimeFailure:
        assert found == ["error"]
    else:
        assert found == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("old_api_map_order", " 0, 2 ,1", ""),
        ("old_api_map_order", "", ""),
        ("old_api_map_order", "0,-1", "'0,-1' is not an order of dimensions"),
        ("old_api_map_order", "0,x", "'0,x' is not an order of dimensions"),
        ("old_api_map_element_type", "f16", ""),
        ("old_api_map_element_type", "f17", "'f17' is not an element type"),
    ],
)
def test_maps_of_the_old_api(client: RuntimeClient, name: str, value: str, message: str) -> None:
    text = with_layout("input's layer", "").replace(b'name="layout"', f'name="{name}" value="{value}"'.encode())
    assert [found.message for found in validate(text, select=["bad-rt-info"])] == [message] * bool(message)
    refused = not works(client.attempt, text, None, until=STAGES[1], seconds=10)
    assert refused == bool(message)


@pytest.mark.parametrize(("first", "second", "repeated"), [("1", "1", True), ("0", "1", False)])
def test_an_attribute_is_repeated_if_its_version_is(first: str, second: str, repeated: bool) -> None:
    row = '<attribute name="layout" version="0" layout="" />'
    rows = "".join(f'<attribute name="fused_names_0" version="{version}" value="" />' for version in (first, second))
    text = with_layout("input's layer", "").replace(row.encode(), rows.encode())
    assert bool(validate(text, select=["bad-rt-info"])) == repeated
