"""`ir-tools inspect`: what is in a model."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli._onnx import head, is_onnx
from ir_tools.cli.app import Answer, Row, command, rows_of
from ir_tools.cli.loading import load
from ir_tools.cli.options import bin_option, extension_option, model_argument
from ir_tools.format.content import SourceFile
from ir_tools.ops import LEGACY, Role, role_of

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.graph import Endpoint, Graph, Layer, Located, Model
    from ir_tools.importers.onnx.reading import Conversion

__all__ = ["inspect"]

MAX_NAMES = 100
"""Names of one tensor that are listed for each of the inputs and outputs that have it."""


@command("inspect", example="ir-tools inspect model.xml")
@model_argument()
@bin_option()
@extension_option
@click.option("--layers", is_flag=True, help="List every layer, with its inputs and outputs.")
@click.option(
    "--layer",
    "names",
    metavar="NAME",
    multiple=True,
    help="Show only this layer (its name or path, or the name of a tensor): attributes, ports and neighbours, and of a "
    "constant its first values. May be repeated.",
)
def inspect(
    model: Path, weights: Path | None, extensions: tuple[Path, ...], layers: bool, names: tuple[str, ...]
) -> Answer:
    """Show what is in MODEL: version, inputs and outputs, states, layers, poolings, constants.

    An .onnx is shown as it is converted, with what the file says of itself.
    """
    from ir_tools import onnx
    from ir_tools.cli.layers import layer_rows, show_layer, show_layers

    converted = onnx.convert(model, extensions=extensions) if is_onnx(model, weights) else None
    shown = load(model, weights, extensions) if converted is None else converted.model
    data = _facts(shown, model) if converted is None else _onnx_facts(converted, model)
    if not layers and not names:
        return Answer(data, lambda screen: _show(screen, data))
    rows = layer_rows(shown, shown.walk(), names)
    if converted is not None:
        rows = [{**row, "line": None} for row in rows]

    def show(screen: "Screen") -> None:
        if not names:
            _show(screen, data)
            show_layers(screen, rows)
        for row in rows if names else ():
            show_layer(screen, row)

    return Answer({**data, "layer_list": rows}, show)


def _onnx_facts(found: "Conversion", path: Path) -> Row:
    """Return the converted model without lines, `.xml` and `.bin`, as there are none, and the file's head as `onnx`."""
    data = _facts(found.model, path)
    return {
        **data,
        "bytes": {"onnx": path.stat().st_size, "xml": None, "bin": None},
        "poolings": [{**row, "line": None} for row in rows_of(data["poolings"])],
        "onnx": head(path),
        "warnings": [finding.as_dict() for finding in found.diagnostics],
    }


def _facts(model: "Model", path: Path) -> Row:
    from ir_tools.format.about import about

    located, origin = list(model.walk()), model.origin
    size = len(origin.document.data) if isinstance(origin, SourceFile) else None
    return {
        "file": str(path),
        "name": model.name,
        "ir_version": model.version,
        "producer": about(model),
        "bytes": {"xml": size, "bin": None if model.weights.missing else model.weights.stored},
        "inputs": [_endpoint(model, entry) for entry in model.inputs],
        "outputs": [_endpoint(model, entry) for entry in model.outputs],
        "states": _states(model),
        "layers": len(located),
        "bodies": sum(len(entry.layer.bodies) for entry in located),
        "operations": _histogram(located),
        "poolings": _poolings(model, located),
        "constants": _constants(located),
    }


def _endpoint(model: "Model", entry: "Endpoint") -> Row:
    from ir_tools.types import format_shape, parse_shape

    raw = entry.layer.raw
    shape = format_shape(parse_shape(raw["shape"])) if raw.get("shape") is not None else _dims(entry.port.dims)
    names = dict.fromkeys(name for group in entry.groups for name in group[:MAX_NAMES])
    return {"name": entry.name, "names": [*names], "type": _precision(model, entry), "shape": shape}


def _states(model: "Model") -> list[Row]:
    """Return the variables, with the layers that read and store them."""
    from ir_tools.states import initial_text, variables
    from ir_tools.types import format_shape

    return [
        {
            "id": variable.id,
            "type": str(variable.element_type),
            "shape": format_shape(variable.shape),
            "initial": initial_text(model, variable),
            "read_by": variable.read.path,
            "stored_by": variable.stored_by,
        }
        for variable in variables(model).values()
    ]


def _precision(model: "Model", entry: "Endpoint") -> str | None:
    """Return the element type; inputs of layers have none in IR v10, where it is that of the tensor."""
    from ir_tools.types import from_precision

    if "element_type" in entry.layer.raw:
        return entry.layer.raw["element_type"]
    source = model.graph.sources(entry.layer.id).get(entry.port.id)
    producer = entry.port if source is None else model.graph.layer(source.layer).port(source.port)
    precision = entry.port.precision or producer.precision
    return str(from_precision(precision)) if precision else None


def _dims(dims: Sequence[int]) -> str:
    return ",".join("?" if size < 0 else str(size) for size in dims) or "[]"


def _histogram(located: "Sequence[Located]") -> list[Row]:
    counts = Counter((entry.layer.type, entry.layer.version) for entry in located)
    return [
        {"type": kind, "version": version, "count": count}
        for (kind, version), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def _poolings(model: "Model", located: "Sequence[Located]") -> list[Row]:
    from ir_tools.ops import pooling
    from ir_tools.ops.legacy import pooling as legacy_pooling

    types = {op.type.lower() for op in (*pooling.OPS, *legacy_pooling.OPS)}
    return [_pooling(model, entry) for entry in located if entry.layer.type.lower() in types]


def _pooling(model: "Model", located: "Located") -> Row:
    from ir_tools.ops import find_op

    layer = located.layer
    op = find_op(layer.type, layer.version)
    return {
        "path": located.path,
        "line": model.line_of(located.graph, layer.id),
        "op": str(op) if op else f"{layer.type} {layer.version}",
        "version": layer.version,
        "attributes": _settings(layer),
        "input": _source_dims(located.graph, layer),
        "output": _dims(layer.outputs[0].dims) if layer.outputs else None,
    }


def _settings(layer: "Layer") -> Row:
    """Return the attributes as the runtime reads them; as text if they cannot be read."""
    from ir_tools.ops import Violation, find_op

    op = find_op(layer.type, layer.version)
    broken: list[Violation] = []
    attrs = op.read(layer.raw, broken) if op else None
    return dict(attrs) if attrs is not None else dict(layer.raw)


def _source_dims(graph: "Graph", layer: "Layer") -> str | None:
    if not layer.inputs:
        return None
    source = graph.sources(layer.id).get(layer.inputs[0].id)
    return _dims(layer.inputs[0].dims if source is None else graph.layer(source.layer).port(source.port).dims)


def _constants(located: "Sequence[Located]") -> list[Row]:
    """Count and bytes by element type; bytes that several constants share count once."""
    counts: Counter[str] = Counter()
    pieces: dict[str, set[tuple[str, str]]] = {}
    for kind, stored in (found for entry in located for found in _stored(entry.layer)):
        counts[kind] += 1
        pieces.setdefault(kind, set()).add((stored.get("offset", ""), stored.get("size", "")))
    totals = {kind: sum(int(size) for _, size in ranges if size.isdecimal()) for kind, ranges in pieces.items()}
    return [
        {"type": kind, "count": counts[kind], "bytes": total}
        for kind, total in sorted(totals.items(), key=lambda item: -item[1])
    ]


def _stored(layer: "Layer") -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield element type and place of what a layer has in the `.bin`: of a constant, or the blobs of a legacy layer."""
    from ir_tools.types import precision_in_file

    blobs = layer.content.blobs if layer.version == LEGACY else {}
    for blob in blobs.values():
        precision = blob.get("precision") or next((port.precision for port in layer.outputs), None)
        yield str(precision_in_file(precision or "") or "?"), blob
    if role_of(layer) is Role.CONSTANT and not blobs:
        yield layer.raw.get("element_type", "?"), layer.raw


def _show(screen: "Screen", data: Mapping[str, object]) -> None:
    _show_head(screen, data)
    _show_states(screen, rows_of(data["states"]))
    _show_layers(screen, data)
    _show_poolings(screen, rows_of(data["poolings"]))
    _show_constants(screen, rows_of(data["constants"]))
    for warning in rows_of(data.get("warnings", [])):
        screen.line(f"warning: {warning['message']}", style="yellow")


def _show_head(screen: "Screen", data: Mapping[str, object]) -> None:
    from ir_tools.cli.screen import Column

    producer = data["producer"]
    assert isinstance(producer, dict)
    bodies = f", {data['bodies']} bodies" if data["bodies"] else ""
    facts = {
        "model": f"{data['name']}" if data["name"] else "(no name)",
        "file": str(data["file"]),
        "IR version": f"{data['ir_version']}",
        "made by": ", ".join(f"{key} {value}" for key, value in producer.items()) or "(not recorded)",
        **_onnx_head(data),
        "size": _size(data["bytes"]),
        "layers": f"{data['layers']}{bodies}",
    }
    screen.pairs(facts)
    columns = [Column(""), Column("name", fold=True), Column("type"), Column("shape")]
    rows = [
        [side[:-1], str(entry["name"]), str(entry["type"] or "?"), f"[{str(entry['shape']).strip('[]')}]"]
        for side in ("inputs", "outputs")
        for entry in rows_of(data[side])
    ]
    screen.heading("Inputs and outputs")
    screen.table(columns, rows)


def _show_states(screen: "Screen", rows: list[Row]) -> None:
    from ir_tools.cli.screen import Column

    if rows:
        screen.heading(f"States ({len(rows)})")
        columns = [Column("variable", fold=True), Column("type"), Column("shape"), Column("initial value", fold=True)]
        cells = [
            [str(row["id"]), str(row["type"]), f"[{str(row['shape']).strip('[]')}]", str(row["initial"])]
            for row in rows
        ]
        screen.table(columns, cells)


def _size(sizes: object) -> str:
    from ir_tools.cli.screen import bytes_text

    assert isinstance(sizes, dict)
    if "onnx" in sizes:
        return f"{bytes_text(sizes['onnx'])} onnx"
    weights = "no .bin" if sizes["bin"] is None else f"{bytes_text(sizes['bin'])} weights"
    return f"{bytes_text(sizes['xml'])} xml, {weights}"


def _onnx_head(data: Mapping[str, object]) -> dict[str, str]:
    found = data.get("onnx")
    if not isinstance(found, dict):
        return {}
    if "reason" in found:
        return {"ONNX": str(found["reason"])}
    producer = found["producer"] or "(not recorded)"
    opsets = ", ".join(f"{domain} {version}" for domain, version in found["opsets"].items())
    return {"ONNX": f"opset {opsets}; IR version {found['ir_version']}; made by {producer}"}


def _show_layers(screen: "Screen", data: Mapping[str, object]) -> None:
    from ir_tools.cli.screen import Column

    screen.heading("Operations")
    rows = [[str(row["count"]), str(row["type"]), str(row["version"])] for row in rows_of(data["operations"])]
    screen.table([Column("count", right=True), Column("type", fold=True), Column("version")], rows)


SHORT = {
    "strides": "strides",
    "pads_begin": "pads",
    "exclude_pad": "exclude-pad",
    "rounding_type": "rounding",
    "pool_method": "method",
}
SETTINGS_SHOWN = (
    "pool_method",
    "kernel",
    "strides",
    "pads_begin",
    "dilations",
    "rounding_type",
    "auto_pad",
    "exclude_pad",
)


def _show_poolings(screen: "Screen", rows: list[Row]) -> None:
    from ir_tools.cli.screen import Column

    if not rows:
        return
    screen.heading(f"Pooling layers ({len(rows)})")
    cells = {name: [_setting(row, name) for row in rows] for name in SETTINGS_SHOWN}
    shared = {name: {*cells[name]} - {"-"} for name in SETTINGS_SHOWN}
    varying = [name for name in SETTINGS_SHOWN if len(shared[name]) > 1 or name in {"kernel", "strides"}]
    columns = [Column("layer", fold=True), Column("operation")]
    columns += [Column(SHORT.get(name, name)) for name in varying] + [Column("input", spare=True), Column("output")]
    table = [
        [
            str(row["path"]),
            str(row["op"]),
            *(cells[name][index] for name in varying),
            str(row["input"] or "?"),
            str(row["output"] or "?"),
        ]
        for index, row in enumerate(rows)
    ]
    screen.table(columns, table)
    same = [
        f"{SHORT.get(name, name)} {value}" for name in SETTINGS_SHOWN if name not in varying for value in shared[name]
    ]
    if same:
        screen.line("all: " + ", ".join(same), style="dim")


def _setting(row: Row, name: str) -> str:
    attributes = row["attributes"]
    assert isinstance(attributes, dict)
    value = attributes.get(name)
    if value is None or value == "":
        return "-"
    if name == "pads_begin":
        ends = [",".join(map(str, attributes.get(name, ()))) for name in ("pads_begin", "pads_end")]
        return ends[0] if ends[0] == ends[1] else f"{ends[0]} : {ends[1]}"
    return _list(value) if isinstance(value, tuple | list) else str(value).lower()


def _list(values: object) -> str:
    if not isinstance(values, tuple | list):
        return str(values)
    return "x".join(map(str, values))


def _show_constants(screen: "Screen", rows: list[Row]) -> None:
    from ir_tools.cli.screen import Column, bytes_text

    if not rows:
        return
    screen.heading("Constants")
    table = [[str(row["count"]), str(row["type"]), bytes_text(int(str(row["bytes"])))] for row in rows]
    screen.table([Column("count", right=True), Column("type"), Column("bytes", right=True)], table)
