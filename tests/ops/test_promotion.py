"""ConvertPromoteTypes against the installed runtime: the common type of every pair of element types."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import Attrs, Fact, conversion
from ir_tools.types import ELEMENT_TYPES, Shape, element_type, parse_shape
from tests.ops.single import attrs_of, computed, infer, outputs_of, single

OP = conversion.CONVERT_PROMOTE_TYPES
KINDS = [kind for kind in ELEMENT_TYPES if kind != "dynamic"]
SHAPES = [("2", "3"), ("", "2"), ("2", ""), ("", ""), ("...", "2")]


def by_rule(attrs: Attrs, slots: Sequence[tuple[str, str]]) -> tuple[str, Shape] | None:
    """Element type and shape of the first output; None where the rule rejects the inputs."""
    assert OP.shape is not None
    try:
        fact = OP.shape(attrs, [Fact(element_type(kind), parse_shape(shape)) for kind, shape in slots])[0]
    except ShapeError:
        return None
    return str(fact.dtype), fact.shape


@pytest.mark.parametrize("unsafe", ["true", "false"])
@pytest.mark.parametrize("scalars", ["true", "false"])
@pytest.mark.parametrize("shapes", SHAPES, ids=lambda shapes: "-".join(text or "scalar" for text in shapes))
def test_common_type(unsafe: str, scalars: str, shapes: tuple[str, str]) -> None:
    check_pairs([*product(KINDS, KINDS)][:: 9 if shapes == SHAPES[0] else 23], unsafe, scalars, shapes)


@pytest.mark.sweep
@pytest.mark.parametrize("unsafe", ["true", "false"])
def test_common_type_of_every_pair(unsafe: str) -> None:
    check_pairs([*product(KINDS, KINDS)], unsafe, "false", SHAPES[0])


def check_pairs(pairs: list[tuple[str, str]], unsafe: str, scalars: str, shapes: tuple[str, str]) -> None:
    raw = {"promote_unsafe": unsafe, "pytorch_scalar_promotion": scalars, "u64_integer_promotion_target": "f64"}
    attrs = attrs_of(OP, raw)
    asked = [list(zip(kinds, shapes, strict=True)) for kinds in pairs]
    found = [by_rule(attrs, slots) for slots in asked]
    taken = iter(outputs_of([(OP, raw, slots) for slots, one in zip(asked, found, strict=True) if one]))
    for slots, one in zip(asked, found, strict=True):
        assert one == (next(taken) if one else outputs_of([(OP, raw, slots)])[0]), slots


@pytest.mark.parametrize("kinds", [("f16", "i8"), ("i8", "u16"), ("u64", "i32"), ("boolean", "f32"), ("f64", "u8")])
def test_values(kinds: tuple[str, str]) -> None:
    """Values are converted as Convert does it."""
    raw = {"promote_unsafe": "true"}
    attrs = attrs_of(OP, raw)
    arrays = [np.array([0, 1, 3, 100]).astype(element_type(kind).dtype) for kind in kinds]
    wanted = infer(single("ConvertPromoteTypes", 14, raw, [(kind, "4") for kind in kinds]), arrays)
    found = computed(OP, attrs, arrays)
    assert found[0].dtype == found[1].dtype == wanted.dtype
    np.testing.assert_array_equal(found[0], wanted)
