"""The attributes of the operations in the base models, as the table of operations has them.

`tests/ops` asks the runtime about the table: its words, what may be absent, and what is assumed then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ir_tools.ops import find_op
from ir_tools.ops.fields import (
    REQUIRED,
    Field,
    Flag,
    Float,
    Floats,
    IndexType,
    Int,
    Ints,
    Label,
    OneOf,
    ShapeText,
    Type,
    Words,
)
from tests.faults.base_models import bases
from tests.faults.define import Case

__all__ = ["ATTRIBUTES", "A"]


@dataclass(frozen=True, slots=True)
class A:
    """One attribute.

    Attributes:
        kind: ints, int, float, floats, flag, word, words, type, shape, text.
        required: whether the specification requires it.
        needed: whether the runtime takes no value of its own where it is absent.
        least: the least value that an integer may have.
        words: what an enumeration may say.
        sized: whether the length of a list is given by something else in the layer.
        most: the largest value.
    """

    kind: str
    required: bool
    needed: bool
    least: int | None
    words: tuple[str, ...]
    sized: bool
    most: int | None


KINDS: Mapping[type[Field], str] = {
    IndexType: "type",
    Type: "type",
    Ints: "ints",
    Int: "int",
    Floats: "floats",
    Float: "float",
    Flag: "flag",
    Words: "words",
    OneOf: "word",
    ShapeText: "shape",
    Label: "text",
}
"""The first that fits."""
LEAST = {
    **dict.fromkeys(("dilations", "hidden_size", "kernel", "rates", "size", "sizes", "strides"), 1),
    "output_padding": 0,
}
"""Least numbers that checks of several attributes look at, by name; so are the pads of poolings."""
AXES, MOST_AXES = frozenset({"axis", "batch_axis", "batch_dims", "end_axis", "seq_axis"}), 8
"""Attributes that count axes, of which no model has as many."""
SIZED = frozenset({"dilations", "kernel", "output_padding", "pads_begin", "pads_end", "rates", "sizes", "strides"})
"""Lists with a value for each spatial axis; those of an Interpolate may be shorter."""


def _fact(type: str, name: str, spec: Field) -> A | None:
    kind = next((word for field, word in KINDS.items() if isinstance(spec, field)), None)
    if kind is None:
        return None
    least = LEAST.get(name, getattr(spec, "minimum", None)) if isinstance(spec, Int | Ints) else None
    least = 0 if name.startswith("pads_") and "Pool" in type else -MOST_AXES if name in AXES else least
    return A(
        kind=kind,
        required=spec.default is REQUIRED,
        needed=spec.needed or spec.default is spec.runtime_default is REQUIRED,
        least=None if least == -(2**31) else least,
        words=spec.words if isinstance(spec, OneOf) else (),
        sized=name in SIZED and type != "Interpolate",
        most=1 if name.endswith("_mask") else MOST_AXES if name in AXES else None,
    )


def _described() -> Iterator[tuple[tuple[str, str], str, A]]:
    """Yield the attributes of the layers: type and version of one, and name and description of an attribute."""
    for place in (place for base in bases().values() for place in Case(base).places()):
        key, data = (place.type, place.node.get("version")), place.data
        op = None if key[0] in {"Const", "Parameter"} else find_op(*key)
        for name, spec in () if op is None else op.attrs.items():
            fact = _fact(key[0], spec.xml or name, spec)
            if fact is not None and data is not None and data.has(spec.xml or name):
                yield key, spec.xml or name, fact


ATTRIBUTES: dict[tuple[str, str], dict[str, A]] = {}
for _key, _name, _found in _described():
    ATTRIBUTES.setdefault(_key, {})[_name] = _found
