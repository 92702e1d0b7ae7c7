"""Layers with bodies: whether body, port map and back edges are there and fit each other and the layer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ir_tools.format.content import MAPS
from ir_tools.format.nets import BODIES, PARTS
from ir_tools.rules._define import Finding
from ir_tools.rules._file import IrFile
from ir_tools.rules._rows import PURPOSES, Row, slice_faults
from ir_tools.source import Element
from ir_tools.types import closest, id_number

__all__ = ["KINDS", "bodies", "body_map", "child", "layers_in", "ports_of"]

KINDS = {
    "tensoriterator": {"body": "port_map"},
    "loop": {"body": "port_map"},
    "if": {"then_body": "then_port_map", "else_body": "else_port_map"},
}
"""By type: the bodies of the layer, and the table that ties each to it."""

Found = dict[str, list[Finding]]


def bodies(file: IrFile) -> Found:
    """The findings of all rules about layers with bodies."""
    found: Found = defaultdict(list)
    for net in file.nets:
        marked = set(net.bodied)
        for layer in net.layers.values():
            kind = (layer.get("type") or "").lower()
            if kind in KINDS or layer in marked:
                _Bodied(file, layer, kind, found).look()
    return found


def child(parent: Element, tag: str) -> Element | None:
    """The first child with this name: the one that the runtime reads."""
    return next(parent.iterchildren(tag), None)


def layers_in(body: Element) -> dict[int, Element]:
    """The layers of a body by id, of two with the same the first."""
    found: dict[int, Element] = {}
    for layer in body.iterfind("layers/layer"):
        number = id_number(layer.get("id"))
        if number is not None:
            found.setdefault(number, layer)
    return found


def ports_of(layer: Element, side: str) -> dict[int, Element]:
    """The ports of one side of a layer by id."""
    parent = child(layer, side)
    ports = () if parent is None else parent.iterchildren("port")
    return {number: port for port in ports if (number := id_number(port.get("id"))) is not None}


def body_map(kind: str) -> Mapping[str, str]:
    """Which bodies a layer of this type (in small letters) has, and the table of each."""
    return KINDS.get(kind, {})


class _Bodied:
    """One layer with bodies."""

    def __init__(self, file: IrFile, layer: Element, kind: str, found: Found) -> None:
        self.file = file
        self.layer = layer
        self.kind = kind
        self.found = found
        self.inputs = ports_of(layer, "input")
        self.outputs = ports_of(layer, "output")

    def look(self) -> None:
        """All findings."""
        pairs = body_map(self.kind)
        takes = {*pairs, *pairs.values(), *(() if self.kind == "if" else ("back_edges",))} if pairs else set()
        for part in self.layer:
            if part.tag in (*BODIES, *MAPS) and part.tag not in takes:
                message = f"a layer of type {self.layer.get('type')} has no <{part.tag}>: the runtime does not read it"
                self._tell("unexpected-body", part, message, "delete it, or correct the type of the layer")
        for name, table in pairs.items():
            self._body(name, table)

    def _tell(self, rule: str, element: Element, message: str, remedy: str) -> None:
        self.found[rule].append(Finding(self.file.place_of(element), message, remedy))

    def _body(self, name: str, table_name: str) -> None:
        body, table = child(self.layer, name), child(self.layer, table_name)
        if body is None or child(body, "layers") is None:
            if not _has_misspelled(self.layer if body is None else body, {"layers", name}):
                what = f"the layer has no <{name}>" if body is None else f"<{name}> has no <layers>"
                self._tell(
                    "missing-body", self.layer if body is None else body, what, f"write <{name}> with its layers"
                )
            return
        if table is None:
            if not _has_misspelled(self.layer, {table_name}) and (self.kind != "if" or self.outputs):
                message = f"the layer has no <{table_name}>: nothing ties <{name}> to its ports"
                self._tell("missing-port-map", self.layer, message, f"write <{table_name}>")
            return
        _Table(self, body, table).look()


def _has_misspelled(parent: Element, words: set[str]) -> bool:
    """Whether an unknown element in `parent` may be one of these."""
    strange = [entry for entry in parent if entry.tag not in PARTS]
    return any(len(entry) or closest(str(entry.tag), words) for entry in strange)


class _Table:
    """A body with the table that ties it to its layer."""

    def __init__(self, owner: _Bodied, body: Element, table: Element) -> None:
        self.owner = owner
        self.body = body
        self.table = table
        self.inside = layers_in(body)
        self.tell = owner._tell
        self.rows: list[Row] = []

    def look(self) -> None:
        """The rows one by one, what they leave out, the back edges, and the slices."""
        whole = all(entry.tag in {"input", "output"} for entry in self.table)
        for element in self.table.iterchildren("input", "output"):
            row, messages = Row.read(element)
            for message, remedy in messages:
                self.tell("bad-port-map-row", element, message, remedy)
            if row is None:
                whole = False
            elif self._fits(row):
                self.rows.append(row)
            else:
                whole = False
        self._repeated()
        if whole:
            self._left_out()
        if self.owner.kind != "if":
            self._back_edges()
        if self.owner.kind == "loop":
            self._condition()
        self._slices()

    def _fits(self, row: Row) -> bool:
        """Whether the row names a port of the layer and a Parameter or Result of the body."""
        side, wanted = ("input", "Parameter") if row.is_input else ("output", "Result")
        ports = self.owner.inputs if row.is_input else self.owner.outputs
        faults = list(self._purpose(row))
        index_of_branch = self.owner.kind == "if" and not row.is_input and 0 <= row.port < len(ports)
        if row.port not in ports and not index_of_branch and not (row.port == -1 and row.purpose in PURPOSES):
            words = ", ".join(map(str, sorted(ports))) or "none"
            message = f"external_port_id is {row.port}, and the layer has no such {side} port"
            faults.append((message, f"its {side} ports are {words}"))
        inner = self.inside.get(row.layer)
        if inner is None:
            message = f"internal_layer_id is {row.layer}, and the body has no such layer"
            faults.append((message, f"name a {wanted} of the body"))
        elif inner.get("type") != wanted and (inner.get("type") or "").lower() != wanted.lower():
            message = (
                f"internal_layer_id is {row.layer}, which is '{inner.get('name', '')}' of type {inner.get('type')}"
            )
            faults.append((message, f"name a {wanted} of the body"))
        for message, remedy in faults:
            self.tell("wrong-port-map-row", row.element, message, remedy)
        return not faults

    def _purpose(self, row: Row) -> Iterator[tuple[str, str]]:
        if not row.purpose or self.owner.kind != "loop":
            return
        right = PURPOSES.get(row.purpose)
        if right is None:
            meant = closest(row.purpose, PURPOSES)
            remedy = f"did you mean {meant}?" if meant else f"write one of {', '.join(PURPOSES)}"
            yield f"purpose is '{row.purpose}', which the runtime does not know", remedy
        elif right != row.element.tag:
            yield f"an <{row.element.tag}> has purpose {row.purpose}", f"it belongs to an <{right}>"

    def _repeated(self) -> None:
        """Rows that feed what an earlier one feeds."""
        seen: dict[tuple[str, int | str], Row] = {}
        for row in self.rows:
            if row.is_input:
                key: tuple[str, int | str] = ("the Parameter", row.layer)
            elif row.port >= 0:
                key = ("the output port", row.port)
            else:
                key = ("the purpose", row.purpose)
            first = seen.setdefault(key, row)
            if first is not row:
                message = f"{key[0]} {key[1]} has a row of its own already"
                self.tell("repeated-port-map-row", row.element, message, "delete one of the two rows")

    def _left_out(self) -> None:
        """Parameters of the body and outputs of the layer without a row."""
        fed = {row.layer for row in self.rows if row.is_input}
        for number, layer in self.inside.items():
            if layer.get("type") == "Parameter" and number not in fed:
                message = f"no row of <{self.table.tag}> feeds Parameter {number} '{layer.get('name', '')}' of the body"
                self.tell("unmapped-port", layer, message, f'write <input ... internal_layer_id="{number}"/>')
        made = [row.port for row in self.rows if not row.is_input and row.port >= 0]
        if self.owner.kind == "if":
            if len(set(made)) < len(self.owner.outputs):
                message = (
                    f"<{self.table.tag}> has {len(set(made))} outputs, and the layer has {len(self.owner.outputs)}"
                )
                self.tell("unmapped-port", self.table, message, "both branches give every output of the layer")
            return
        for number, port in self.owner.outputs.items():
            if number not in made:
                message = f"no row of <{self.table.tag}> gives output port {number}"
                self.tell("unmapped-port", port, message, f'write <output external_port_id="{number}" .../>')

    def _back_edges(self) -> None:
        table = child(self.owner.layer, "back_edges")
        targets: set[int] = set()
        for edge in () if table is None else table.iterchildren("edge"):
            for name, wanted in (("from-layer", "Result"), ("to-layer", "Parameter")):
                message = self._back_end(edge, name, wanted)
                if message:
                    self.tell("bad-back-edge", edge, message, f"{name} is the id of a {wanted} of the body")
                    break
            else:
                target = id_number(edge.get("to-layer"))
                if target in targets:
                    message = f"there is a back edge to Parameter {target} already"
                    self.tell("bad-back-edge", edge, message, "delete one of the two")
                targets |= set() if target is None else {target}

    def _back_end(self, edge: Element, name: str, wanted: str) -> str | None:
        """What is wrong with one end of a back edge."""
        text = edge.get(name)
        number = id_number(text)
        if number is None:
            return f"a back edge has no {name}" if text is None else f"a back edge has {name} '{text[:40]}'"
        layer = self.inside.get(number)
        if layer is None:
            return f"a back edge has {name} {number}, and the body has no such layer"
        if (layer.get("type") or "").lower() != wanted.lower():
            return f"a back edge has {name} {number}, which is '{layer.get('name', '')}' of type {layer.get('type')}"
        return None

    def _condition(self) -> None:
        rows = self.table.iterchildren("input", "output")
        purposes = [entry.get("purpose") for entry in rows]
        if "execution_condition" not in purposes and not any(word and word not in PURPOSES for word in purposes):
            message = "no output of the body is the condition to go on"
            remedy = 'write <output external_port_id="-1" internal_layer_id="..." purpose="execution_condition"/>'
            self.tell("missing-execution-condition", self.table, message, remedy)

    def _slices(self) -> None:
        ports = {True: self.owner.inputs, False: self.owner.outputs}
        sliced = [(row, ports[row.is_input].get(row.port)) for row in self.rows if row.axis is not None]
        for row, message, remedy in slice_faults(sliced, exact=self.owner.kind == "tensoriterator"):
            self.tell("bad-slice", row.element, message, remedy)
