"""ConvertPromoteTypes against the installed runtime: the common type of every pair of element types."""

from itertools import product

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import Fact, conversion
from ir_tools.types import ELEMENT_TYPES, element_type, parse_shape
from tests.ops.single import infer, output_of, single

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


@pytest.mark.parametrize("kinds", [("f16", "i8"), ("i8", "u16"), ("u64", "i32"), ("boolean", "f32"), ("f64", "u8")])
def test_values(kinds: tuple[str, str]) -> None:
    """Values are converted as Convert does it."""
    raw = {"promote_unsafe": "true"}
    attrs = OP.read(raw, [])
    assert attrs is not None
    assert OP.kernel is not None
    arrays = [np.array([0, 1, 3, 100]).astype(element_type(kind).dtype) for kind in kinds]
    wanted = infer(single("ConvertPromoteTypes", 14, raw, [(kind, "4") for kind in kinds]), arrays)
    found = OP.kernel(attrs, arrays)
    assert found[0].dtype == found[1].dtype == wanted.dtype
    np.testing.assert_array_equal(found[0], wanted)
