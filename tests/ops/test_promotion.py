"""ConvertPromoteTypes against the installed runtime: the common type of every pair of element types."""

from itertools import product

import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import Fact, conversion
from ir_tools.types import ELEMENT_TYPES, element_type, parse_shape
from tests.ops.single import output_of, single

OP = conversion.CONVERT_PROMOTE_TYPES
KINDS = [kind for kind in ELEMENT_TYPES if kind != "dynamic"]
SHAPES = [("2", "3"), ("", "2"), ("2", ""), ("", ""), ("...", "2")]


@pytest.mark.parametrize("unsafe", ["true", "false"])
@pytest.mark.parametrize("scalars", ["true", "false"])
@pytest.mark.parametrize("shapes", SHAPES, ids=lambda shapes: "-".join(text or "scalar" for text in shapes))
def test_common_type(unsafe: str, scalars: str, shapes: tuple[str, str]) -> None:
    raw = {"promote_unsafe": unsafe, "pytorch_scalar_promotion": scalars, "u64_integer_promotion_target": "f64"}
    attrs = OP.read(raw, [])
    assert attrs is not None
    assert OP.shape is not None
    pairs = [*product(KINDS, KINDS)][:: 1 if shapes == SHAPES[0] and scalars == "false" else 11]
    for kinds in pairs:
        slots = list(zip(kinds, shapes, strict=True))
        try:
            wanted = output_of(single("ConvertPromoteTypes", 14, raw, slots))
        except RuntimeError:
            wanted = None
        facts = [Fact(element_type(kind), parse_shape(shape)) for kind, shape in slots]
        try:
            fact = OP.shape(attrs, facts)[0]
            found = (str(fact.dtype), fact.shape)
        except ShapeError:
            found = None
        assert found == wanted, kinds
