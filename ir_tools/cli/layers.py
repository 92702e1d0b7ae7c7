"""Layers of a model, one by one, for `ir-tools inspect --layers` and `--layer NAME`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ir_tools.cli.app import Row, rows_of
from ir_tools.display import number
from ir_tools.errors import UsageError
from ir_tools.ops import Role, find_op, role_of
from ir_tools.types import shape_text
from ir_tools.types.words import closest

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.graph import Graph, Located, Model, Port, Source

__all__ = ["layer_rows", "show_layer", "show_layers"]

SHOWN_VALUES = 8
"""The first values of a constant that are shown."""


def layer_rows(model: "Model", located: "Iterable[Located]", names: Sequence[str] = ()) -> list[Row]:
    """Return a row for each layer, in the order of the file.

    Args:
        model: the model.
        located: its layers.
        names: only layers with one of these names or paths, or that output a tensor of this name; constants among
            them come with their values.

    Raises:
        UsageError: there is no layer with one of these names.
        ReadError: a constant cannot be read.
    """
    if not names:
        return [_row(model, one) for one in located]
    by_name: dict[str, list[Located]] = {}
    for one in located:
        tensors = [name for port in one.layer.outputs for name in port.names]
        for name in dict.fromkeys([one.layer.name, one.path, *tensors]):
            by_name.setdefault(name, []).append(one)
    for name in names:
        if name not in by_name:
            similar = closest(name, by_name)
            hint = f"; did you mean '{similar}'?" if similar else "; --layers lists all"
            raise UsageError(f"the model has no layer or tensor named '{name}'{hint}")
    chosen = {one.path: one for name in names for one in by_name[name]}
    return [{**_row(model, one), **_values(model, one)} for one in chosen.values()]


def _row(model: "Model", located: "Located") -> Row:
    layer, graph = located.layer, located.graph
    op = find_op(layer.type, layer.version)
    feeding = graph.sources(layer.id)
    return {
        "path": located.path,
        "line": model.line_of(graph, layer.id),
        "id": layer.id,
        "op": str(op) if op else f"{layer.type} {layer.version}",
        "attributes": dict(layer.raw),
        "inputs": [_input(graph, port, feeding.get(port.id)) for port in layer.inputs],
        "outputs": [
            {
                **_port(port),
                "names": list(port.names),
                "read_by": [graph.layer(reader).name for reader, _ in graph.consumers(layer.id, port.id)],
            }
            for port in layer.outputs
        ],
        "bodies": list(layer.bodies),
    }


def _input(graph: "Graph", port: "Port", source: "Source | None") -> Row:
    """Return a port with what feeds it; a port without element type has that of the tensor."""
    if source is None:
        return {**_port(port), "from": None, "from_port": None}
    producer = graph.layer(source.layer)
    known = port if port.precision else producer.port(source.port)
    return {**_port(known), "port": port.id, "from": producer.name, "from_port": source.port}


def _port(port: "Port") -> Row:
    from ir_tools.ops.records import recorded

    fact = recorded(port)
    return {"port": port.id, "type": str(fact.dtype), "shape": shape_text(fact.shape or ())}


def _values(model: "Model", located: "Located") -> Row:
    """Return the first values of a constant, and the range of numbers."""
    from ir_tools.weights import values

    if role_of(located.layer) is not Role.CONSTANT or located.layer.content.blobs:
        return {}
    array = values(located.layer.raw, model.weights)
    row: Row = {"values": array.reshape(-1)[:SHOWN_VALUES].tolist()}
    if array.size and array.dtype.kind in "iuf":
        row |= {"minimum": array.min().item(), "maximum": array.max().item()}
    return row


def show_layers(screen: "Screen", rows: Sequence[Row]) -> None:
    """Print a table of layers."""
    from ir_tools.cli.screen import Column

    columns = [Column("layer", fold=True), Column("line", right=True, spare=True), Column("operation", keep=True)]
    columns += [Column("inputs", fold=True), Column("outputs", fold=True)]
    cells = [
        [
            str(row["path"]),
            str(row["line"] or ""),
            str(row["op"]),
            ", ".join(str(port["from"] or "-") for port in rows_of(row["inputs"])),
            ", ".join(_tensor(port) for port in rows_of(row["outputs"])),
        ]
        for row in rows
    ]
    screen.heading(f"Layers ({len(rows)})")
    screen.table(columns, cells)


def show_layer(screen: "Screen", row: Row) -> None:
    """Print all that is known of a layer."""
    place = f", line {row['line']}" if row["line"] else ""
    screen.heading(f"{row['path']} ({row['op']}, id {row['id']}{place})")
    screen.pairs(dict(_facts(row)))


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    attributes = row["attributes"]
    assert isinstance(attributes, Mapping)
    yield from attributes.items()
    for port in rows_of(row["inputs"]):
        source = "nothing" if port["from"] is None else f"{port['from']} (port {port['from_port']})"
        yield f"input {port['port']}", f"{_tensor(port)} from {source}"
    for port in rows_of(row["outputs"]):
        names, readers = port["names"], port["read_by"]
        assert isinstance(names, list)
        assert isinstance(readers, list)
        called = f", named {', '.join(names)}" if names else ""
        yield f"output {port['port']}", f"{_tensor(port)}{called}, read by {', '.join(readers) or 'nothing'}"
    for key in ("values", "bodies"):
        entries = row.get(key)
        if isinstance(entries, list) and entries:
            yield key, ", ".join(map(_number, entries))
    if "minimum" in row:
        yield "range", f"{_number(row['minimum'])} to {_number(row['maximum'])}"


def _number(value: object) -> str:
    """Return a float in few digits, and anything else as it is."""
    return number(value) if isinstance(value, float) else str(value)


def _tensor(port: Row) -> str:
    return f"{port['shape']} of {port['type']}"
