"""`ir-tools shapes`: recompute every port and compare it with the file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import ir_tools
from ir_tools.cli.app import Answer, Row, command, rows_of
from ir_tools.cli.loading import load
from ir_tools.cli.options import bin_option, extension_option, model_argument, output_option, shapes_option
from ir_tools.errors import ShapeError

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.graph import Graph, Layer, Model
    from ir_tools.graph.graph import Source
    from ir_tools.infer import ShapeReport
    from ir_tools.ops import Fact

__all__ = ["shapes"]


@command("shapes", example="ir-tools shapes model.xml --set data=1..8,3,?,? -o reshaped.xml")
@model_argument()
@bin_option()
@shapes_option
@click.option("--all", "everything", is_flag=True, help="List every port; with --set, also its shape before.")
@extension_option
@output_option("Write the model with the computed shapes to this file.")
def shapes(
    model: Path,
    weights: Path | None,
    shapes: tuple[tuple[str, str], ...],
    everything: bool,
    extensions: tuple[Path, ...],
    output: Path | None,
) -> Answer:
    """Recompute type and shape of every port of MODEL and compare them with the recorded ones.

    Exits with 0 if they agree and with 1 if they differ or a layer contradicts itself. With --set, dims that change
    are what was asked for: then only types that differ and layers that cannot take the new shapes count.
    """
    loaded = load(model, weights, extensions)
    try:
        report = _propagate(loaded, dict(shapes), extensions)
    except ShapeError as error:
        return _contradiction(model, error)
    if output is not None:
        _drop_old_values(loaded)
        ir_tools.write(loaded, output)
    data = _facts(model, loaded, report, output, everything, reshaped=bool(shapes))
    return Answer(data, lambda screen: _show(screen, data, report), 0 if data["ok"] else 1)


def _propagate(model: "Model", shapes: Mapping[str, str], extensions: Sequence[Path]) -> "ShapeReport":
    """Call `ir_tools.propagate_shapes`, with a progress bar over the layers that the runtime is asked about."""
    from ir_tools.cli.screen import working
    from ir_tools.infer import propagate_shapes
    from ir_tools.ops import find_op
    from ir_tools.rewrite.legacy import LegacyShapes
    from ir_tools.runtime.ask import LayerOracle
    from ir_tools.runtime.client import RuntimeClient

    foreign = sum(find_op(entry.layer.type, entry.layer.version) is None for entry in model.walk())
    with RuntimeClient(extensions=extensions) as client, working("asking the runtime about layers", foreign) as advance:
        oracle = LegacyShapes(model, shapes) if model.is_legacy else LayerOracle(client)

        def ask(model: "Model", graph: "Graph", layer: "Layer", facts: "Mapping[Source, Fact]") -> "tuple[Fact, ...]":
            advance()
            return oracle(model, graph, layer, facts)

        return propagate_shapes(model, shapes, ask=ask, in_place=True)


def _drop_old_values(model: "Model") -> None:
    """Drop the bytes of constants to which new shapes gave other values."""
    from ir_tools.rewrite.extraction import drop_unread

    if model.weights.pending:
        drop_unread(model, model.weights)


def _contradiction(model: Path, error: ShapeError) -> Answer:
    data: Row = {"file": str(model), "ok": False, "errors": [found.as_dict() for found in error.diagnostics]}

    def show(screen: "Screen") -> None:
        for line in str(error).splitlines():
            screen.line(line)
        screen.verdict("The layers above cannot take their inputs; nothing was written.", good=False)

    return Answer(data, show, 1)


def _facts(
    path: Path, model: "Model", report: "ShapeReport", output: Path | None, everything: bool, *, reshaped: bool
) -> Row:
    counted = [entry for entry in report.mismatches if not reshaped or entry.what == "precision"]
    return {
        "file": str(path),
        "ok": not counted,
        "reshaped": reshaped,
        "ports": len(report.facts),
        "origins": dict(Counter(report.origins.values())),
        "endpoints": _endpoints(model, report),
        "mismatches": report.mismatches,
        "warnings": [found.as_dict() for found in report.diagnostics],
        "written": None if output is None else str(output),
        **({"all": _every_port(report)} if everything else {}),
    }


def _endpoints(model: "Model", report: "ShapeReport") -> list[Row]:
    from ir_tools.types import format_shape

    paths = {id(entry.layer): entry.path for entry in model.walk()}
    rows: list[Row] = []
    for side, ends in (("input", model.inputs), ("output", model.outputs)):
        for end in ends:
            fact = report.facts[paths[id(end.layer)], end.port.id]
            rows.append({"side": side, "name": end.name, "type": str(fact.dtype), "shape": format_shape(fact.shape)})
    return rows


def _every_port(report: "ShapeReport") -> list[Row]:
    from ir_tools.types import format_shape

    return [
        {
            "path": path,
            "port": port,
            "type": str(fact.dtype),
            "shape": format_shape(fact.shape),
            "origin": report.origins[path, port],
        }
        for (path, port), fact in report.facts.items()
    ]


def _show(screen: "Screen", data: Row, report: "ShapeReport") -> None:
    from ir_tools.cli.screen import Column

    sides = [Column(""), Column("name", fold=True), Column("type"), Column("shape")]
    screen.table(sides, [[*map(str, entry.values())] for entry in rows_of(data["endpoints"])])
    if "all" in data:
        screen.heading("Every port")
        columns = [
            Column("layer", fold=True),
            Column("port", right=True),
            Column("type"),
            Column("shape"),
            Column("from"),
        ]
        screen.table(columns, [[*map(str, entry.values())] for entry in rows_of(data["all"])])
    if report.mismatches and ("all" in data or not data["reshaped"]):
        _show_mismatches(screen, report, reshaped=bool(data["reshaped"]))
    for warning in rows_of(data["warnings"]):
        screen.line(f"{warning['path'] or warning['layer_name']}: {warning['message']}", style="yellow")
    origins = data["origins"]
    assert isinstance(origins, Mapping)
    screen.line()
    screen.line(
        f"{data['ports']} ports: " + ", ".join(f"{count} by {_ORIGINS[name]}" for name, count in origins.items())
    )
    if data["written"]:
        screen.line(f"wrote {data['written']}")
    _show_verdict(screen, data, len(report.mismatches))


_ORIGINS = {
    "rule": "rule",
    "runtime": "asking the runtime",
    "migration": "the migrated model",
    "recorded": "the file",
    "unknown": "nobody (unknown)",
}


def _show_mismatches(screen: "Screen", report: "ShapeReport", *, reshaped: bool) -> None:
    from ir_tools.cli.screen import Column

    rows = [
        [entry.path, str(entry.line or ""), str(entry.port), entry.what, entry.recorded, entry.computed]
        for entry in report.mismatches
    ]
    screen.heading("Changed ports" if reshaped else "Recorded and computed")
    columns = [Column("layer", fold=True), Column("line", right=True), Column("port", right=True), Column("what")]
    screen.table([*columns, Column("recorded"), Column("computed")], rows)


def _show_verdict(screen: "Screen", data: Row, changed: int) -> None:
    from ir_tools.cli.screen import plural

    if data["reshaped"]:
        text = (
            f"Reshaped; {plural(changed, 'port')} changed."
            if data["ok"]
            else "A recorded type contradicts the computed one."
        )
    else:
        text = (
            "All ports agree."
            if data["ok"]
            else f"{plural(changed, 'difference')} between the file and the computed shapes."
        )
    screen.verdict(text, good=bool(data["ok"]))
