"""The table of known differences as a page; `python -m ir_tools.known_differences._listing` prints it."""

import re
from collections.abc import Iterator, Mapping

from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.known_differences import SEEN, TABLE, DifferenceKind, KnownDifference, as_model
from ir_tools.ops import Array, Role, role_of
from ir_tools.weights import values

__all__ = ["listing"]

HEAD = """# Known differences

The settings in which the CPU plugin of OpenVINO is known to compute something other than the reference of ir_tools,
each with the reason and a minimal model. This page is generated from the table in `ir_tools/known_differences`. The
tests run every model on the installed runtime, and fail if it no longer differs. All rows were measured on {seen},
unless they name another release.

If a layer matches a row, `ir-tools compare` shows the name of the row. The layer still counts as different. The
exception is output that the runtime leaves uninitialized: these elements are counted but not compared. To write the
model of a row to a file:

```python
import ir_tools
from ir_tools.known_differences import as_model, named

model, inputs = as_model(named("Tile-1 without repeats")[0].model)
ir_tools.write(model, "tile.xml")
```

| Operation | Differences |
|---|---|
{index}"""
GROUPS: Mapping[DifferenceKind, str] = {
    DifferenceKind.WRONG: "Other values",
    DifferenceKind.ARBITRARY: "Arbitrary values: memory that is uninitialized or outside the tensor",
    DifferenceKind.COARSE: "Coarser arithmetic",
    DifferenceKind.DIES: "Crashes",
    DifferenceKind.REFUSES: "Valid layers that the runtime refuses",
    DifferenceKind.SHAPE: "Other shapes, for layers that are invalid",
    DifferenceKind.FOLLOWED: "Runtime and reference both deviate from the specification",
}
"""Headings, in their order."""
MAX_SHOWN = 24
"""Numbers of a tensor that are shown."""


def listing() -> str:
    """Return the page."""
    return HEAD.format(seen=SEEN, index="".join(_index())) + "".join(_groups())


def _index() -> Iterator[str]:
    """Return for each operation the rows that it is in, as links."""
    for op in sorted({op for row in TABLE for op in row.ops}, key=str.lower):
        links = (f"[{row.name}](#{_anchor(row.name)})" for row in TABLE if op in row.ops)
        yield f"| {op} | {', '.join(links)} |\n"


def _anchor(heading: str) -> str:
    """Return what a heading is called in a link."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def _groups() -> Iterator[str]:
    for kind, heading in GROUPS.items():
        yield f"\n## {heading}\n"
        for row in TABLE:
            if row.kind is kind:
                yield _row(row)


def _row(row: KnownDifference) -> str:
    model, fed = as_model(row.model)
    text = "\n".join(_text(model, fed))
    seen = "" if row.seen == SEEN else f" Measured on {row.seen}."
    return (
        f"\n### {row.name}\n\n{', '.join(row.ops)}: {row.setting}. {row.reason}{row.processor.note}{seen}\n\n"
        f"<details><summary>minimal model</summary>\n\n```xml\n{text}\n```\n\n</details>\n"
    )


def _text(model: Model, fed: Mapping[str, Array]) -> Iterator[str]:
    """Yield the layers without their ports, then the numbers."""
    xml = render(model).decode()
    for layer in re.findall(r"<layer [^>]*>|<data [^>]*/>|<edge [^>]*/>", xml):
        yield ("  " if layer.startswith("<data") else "") + layer
    for name, array in fed.items():
        yield f"<!-- {name}: {_numbers(array)} -->"
    for layer in model.graph.layers():
        if role_of(layer) is Role.CONSTANT:
            yield f"<!-- {layer.name}: {_numbers(values(layer.raw, model.weights))} -->"


def _numbers(array: Array) -> str:
    flat = array.ravel()
    shown = ", ".join(f"{float(value):g}" for value in flat[:MAX_SHOWN])
    return f"{list(array.shape)} {shown}{', ...' if flat.size > MAX_SHOWN else ''}"


if __name__ == "__main__":
    print(listing(), end="")
