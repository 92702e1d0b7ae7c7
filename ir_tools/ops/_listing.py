"""The table of operations as a page of documentation; `python -m ir_tools.ops._listing` prints it."""

import inspect
from collections.abc import Iterable, Iterator

from ir_tools.ops import COMPLETE_OPSETS, FAMILIES, Op, Role, ops_of
from ir_tools.ops.fields import REQUIRED, Field, Flag, Float, Floats, Int, Ints, OneOf, ShapeText, Text, Type, Words
from ir_tools.ops.legacy import LEGACY_FAMILIES
from ir_tools.ops.legacy.definition import LegacyFlag

__all__ = ["listing"]

HEAD = """# Operations

Every operation of the opsets, as ir_tools knows it. This page is made from the table in `ir_tools/ops`. Tests compare
the table with the installed OpenVINO: which opset holds what, the attributes and what their absence means, the words
that they accept, the element types of the inputs.

- *Opsets*: the version stamps that mean this version.
- *Inputs*: `name?` may be left out, `name*` may be repeated. Element types follow the colon unless all
  are taken; inputs that name the same letter have one type in common.
- *Attributes*: `= value` is the default; an attribute without one is required. `! value` is what the runtime takes
  if the attribute is absent, unlike the specification.
- *Shape*: whether output shapes are computed without the runtime. *Kernel*: whether the reference executor runs it.
- *Checked against*: what the tests compare both with, on random valid settings.
  [known-differences.md](known-differences.md) lists the settings in which the runtime is known to differ, each with a
  reason and a minimal model.

| Operation | Opsets | Inputs | Attributes | Shape | Kernel | Checked against |
|---|---|---|---|---|---|---|
"""

LEGACY_HEAD = """
## Layer types of IR v2 to v7

What `migrate` replaces each with ([legacy-models.md](legacy-models.md)). Blobs (weights, biases) are not listed.

| Type | Inputs | Attributes | Meaning |
|---|---|---|---|
"""

KINDS: tuple[tuple[type[Field] | tuple[type[Field], ...], str], ...] = (
    (Ints, "integers"),
    (Int, "integer"),
    (Floats, "numbers"),
    (Float, "number"),
    (Words, "words"),
    ((Flag, LegacyFlag), "true/false"),
    (Text, "text"),
    (ShapeText, "shape"),
    (Type, "element type"),
)


def listing() -> str:
    """Return the page: a row for each version of each operation and for each legacy layer type, in order of names."""
    ops = sorted((op for family in FAMILIES for op in family.OPS), key=lambda op: (op.type.lower(), op.version))
    legacy = sorted((op for family in LEGACY_FAMILIES for op in family.OPS), key=lambda op: op.type.lower())
    return HEAD + _rows(map(_cells, ops)) + LEGACY_HEAD + _rows(map(_legacy_cells, legacy))


def _rows(rows: Iterable[Iterator[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _legacy_cells(op: Op) -> Iterator[str]:
    yield op.type
    yield ", ".join(_inputs(op)) or "-"
    yield ", ".join(_attribute(name, spec) for name, spec in op.fields.items()) or "-"
    yield _first_line(op.upgrade) if op.upgrade else str(op.role)


def _first_line(function: object) -> str:
    first = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
    return first or "One operation with the meaning that its name has today"


def _cells(op: Op) -> Iterator[str]:
    yield str(op)
    yield _opsets(op)
    yield ", ".join(_inputs(op)) or "-"
    yield ", ".join(_attribute(name, spec) for name, spec in op.fields.items()) or "-"
    yield "yes" if op.shape or op.bodies else "no"
    yield "yes" if op.kernel or op.bodies or op.role is not Role.COMPUTATION else "no"
    yield op.oracle


def _opsets(op: Op) -> str:
    later = [other.version - 1 for other in ops_of(op.type) if other.version > op.version]
    last = min([op.last_opset or max(COMPLETE_OPSETS, op.version), *later])
    return str(op.version) if last == op.version else f"{op.version}-{last}"


def _inputs(op: Op) -> Iterator[str]:
    listed: set[str] = set()
    for slot in op.inputs:
        text = slot.name + "?" * slot.optional + "*" * slot.many
        if slot.type in op.types:
            text += f": {slot.type}" if slot.type in listed else f": {slot.type} ({op.types[slot.type]})"
            listed.add(slot.type)
        elif slot.type:
            text += f": {slot.type}"
        yield text


def _attribute(name: str, spec: Field) -> str:
    text = f"{name}: {_kind(spec)}"
    if spec.default is not REQUIRED and spec.default is not None:
        text += f" = {spec.render(spec.default, ',') or 'none'}"
    if spec.runtime_default is not REQUIRED:
        text += f" ! {spec.render(spec.runtime_default, ',') or 'none'}"
    return text


def _kind(spec: Field) -> str:
    if isinstance(spec, OneOf):
        return "/".join(word or "''" for word in spec.words)
    kind = next(word for kind, word in KINDS if isinstance(spec, kind))
    minimum, maximum = getattr(spec, "minimum", None), getattr(spec, "maximum", None)
    limits = " ".join(f"{sign} {value}" for sign, value in (("≥", minimum), ("≤", maximum)) if value is not None)
    return f"{kind} {limits}".rstrip()


if __name__ == "__main__":
    print(listing(), end="")
