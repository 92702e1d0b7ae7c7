"""The table of known differences as a page; `python -m ir_tools.known_differences._listing` prints it."""

import re
from collections.abc import Iterator, Mapping

from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.known_differences import TABLE, Kind, KnownDifference, as_model
from ir_tools.ops import Array
from ir_tools.weights import values

__all__ = ["listing"]

HEAD = """# Known differences

Where the CPU plugin of OpenVINO is known to do something else than the reference of ir_tools: when, why, and a minimal
model of each. This page is made from the table in `ir_tools/known_differences`; the tests run every model of it on the
installed runtime, and a row that no longer differs has to go. Measured on {seen}.

`ir-tools compare` names the row that a layer falls under. Such a layer still counts as one that differs, but for
outputs that say nothing because nobody wrote to them: those are left out and counted, as averages of nothing are.
"""
GROUPS: Mapping[Kind, str] = {
    Kind.WRONG: "Other values",
    Kind.ARBITRARY: "Arbitrary values: memory that nobody wrote to, or that is not the layer's own",
    Kind.COARSE: "Coarser arithmetic",
    Kind.DIES: "Crashes",
    Kind.REFUSES: "Valid, and refused",
    Kind.SHAPE: "Other shapes, of layers that have no meaning",
    Kind.FOLLOWED: "Both against the specification",
}
"""Headings, in their order."""
MOST = 24
"""Numbers of a tensor that are shown."""


def listing() -> str:
    """The page."""
    return HEAD.format(seen=TABLE[0].seen) + "".join(_groups())


def _groups() -> Iterator[str]:
    for kind, heading in GROUPS.items():
        rows = [row for row in TABLE if row.kind is kind]
        yield f"\n## {heading}\n"
        for row in rows:
            yield _row(row)


def _row(row: KnownDifference) -> str:
    model, fed = as_model(row.model)
    ops = ", ".join(op for op in row.ops)
    text = "\n".join(_text(model, fed))
    return (
        f"\n### {row.name}\n\n{ops}: {row.setting}. {row.reason}\n\n<details><summary>minimal model</summary>\n\n"
        f"```xml\n{text}\n```\n\n</details>\n"
    )


def _text(model: Model, fed: Mapping[str, Array]) -> Iterator[str]:
    """The layers without their ports, then the numbers."""
    xml = render(model).decode()
    for layer in re.findall(r"<layer [^>]*>|<data [^>]*/>|<edge [^>]*/>", xml):
        yield ("  " if layer.startswith("<data") else "") + layer
    for name, array in fed.items():
        yield f"<!-- {name}: {_numbers(array)} -->"
    for layer in model.graph.layers():
        if layer.type == "Const":
            yield f"<!-- {layer.name}: {_numbers(values(layer.raw, model.weights))} -->"


def _numbers(array: Array) -> str:
    flat = array.ravel()
    shown = ", ".join(f"{float(value):g}" for value in flat[:MOST])
    return f"{list(array.shape)} {shown}{', ...' if flat.size > MOST else ''}"


if __name__ == "__main__":
    print(listing(), end="")
