"""Layers with bodies: whether body, port map and back edges are there and fit each other and the layer."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from ir_tools.diagnostics import Severity
from ir_tools.display import plural, quoted
from ir_tools.format.content import size_of
from ir_tools.format.nets import Net
from ir_tools.format.problems import ElementProblem, name_of
from ir_tools.format.rows import PURPOSES, SLICES, Row, Slice, slice_problems
from ir_tools.format.texts import SharedText, Text
from ir_tools.graph import Layer
from ir_tools.rules import Rule
from ir_tools.rules.structure import (
    BAD_BACK_EDGE,
    BAD_PORT_MAP_ROW,
    BAD_SLICE,
    LOOP_WITHOUT_BACK_EDGE,
    MISSING_BODY,
    MISSING_EXECUTION_CONDITION,
    MISSING_PORT_MAP,
    REPEATED_PORT_MAP_ROW,
    UNEXPECTED_BODY,
    UNMAPPED_PORT,
    WRONG_PORT_MAP_ROW,
)
from ir_tools.source import Element, Wiring
from ir_tools.source.grammar import BODIES, GRAMMAR, LEGACY_VERSIONS, MAPS, SIDES
from ir_tools.types import closest, id_number

__all__ = ["body_problems", "has_all_ends"]

KINDS = {
    "tensoriterator": {"body": "port_map"},
    "loop": {"body": "port_map"},
    "if": {"then_body": "then_port_map", "else_body": "else_port_map"},
}
"""By type: the bodies of the layer, and the table that ties each to it."""
NO_PORT = 'write external_port_id="-1"'

OWN_INPUTS = {"tensoriterator": 0, "loop": 2}
"""How many inputs the layer keeps for itself: number of iterations and condition."""
LOOP_INPUTS = ("the number of iterations", "the condition for the first iteration")
"""The inputs that a Loop keeps for itself."""


def body_problems(nets: Iterable[Net], texts: Mapping[Element, Text]) -> Iterator[ElementProblem]:
    """Yield what is wrong with the layers with bodies of all graphs; `texts`: of layers."""
    graphs = {net.element: net for net in nets}
    plain: set[SharedText] = set()
    for net in graphs.values():
        marked = set(net.bodied)
        for layer_id, layer in net.layers.items():
            text = texts.get(layer)
            if text and text.form in plain:
                continue
            kind = (layer.get("type") or "").lower()
            if kind in KINDS or layer in marked:
                bodied = _Bodied(net, layer_id, kind, graphs)
                bodied.look()
                yield from bodied.found
            elif text:
                plain.add(text.form)


def has_all_ends(layer: Layer) -> bool:
    """Return whether the bodies of a layer have every layer that its tables name."""
    bodies = {table: name for names in KINDS.values() for name, table in names.items()} | {"back_edges": "body"}
    for table, rows in layer.content.mapping.items():
        body = layer.bodies.get(bodies[table])
        for _, row in rows:
            ends = [row[name] for name in ("internal_layer_id", "from-layer", "to-layer") if name in row]
            if body is not None and any(id_number(end) not in body for end in ends):
                return False
    return True


def child(parent: Element, tag: str) -> Element | None:
    """Return the first child with this name: the one that the runtime reads."""
    return next(parent.iterchildren(tag), None)


def layers_in(body: Element) -> dict[int, Element]:
    """Return the layers of a body by id, of two with the same the first."""
    found: dict[int, Element] = {}
    for layer in body.iterfind("layers/layer"):
        number = id_number(layer.get("id"))
        if number is not None:
            found.setdefault(number, layer)
    return found


def ports_of(layer: Element, side: str) -> dict[int, Element]:
    """Return the ports of one side of a layer by id."""
    parent = child(layer, side)
    ports = () if parent is None else parent.iterchildren("port")
    return {number: port for port in ports if (number := id_number(port.get("id"))) is not None}


def _has_doubtful_ports(layer: Element, side: str) -> bool:
    """Return whether ports of a side have equal ids, or such as cannot be read."""
    parent = child(layer, side)
    return parent is not None and sum(1 for _ in parent.iterchildren("port")) > len(ports_of(layer, side))


class _Bodied:
    """One layer with bodies."""

    def __init__(self, net: Net, layer_id: int, kind: str, graphs: Mapping[Element, Net]) -> None:
        self.net = net
        self.graphs = graphs
        self.id = layer_id
        self.layer = layer = net.layers[layer_id]
        self.kind = kind
        self.found: list[ElementProblem] = []
        self.inputs = ports_of(layer, "input")
        self.outputs = ports_of(layer, "output")
        self.doubtful = {side: _has_doubtful_ports(layer, side) for side in SIDES}

    def look(self) -> None:
        """Find all problems."""
        pairs = KINDS.get(self.kind, {})
        takes = {*pairs, *pairs.values(), *(() if self.kind == "if" else ("back_edges",))} if pairs else set()
        for part in self.layer:
            if part.tag in (*BODIES, *MAPS) and part.tag not in takes:
                message = f"the operation {self.layer.get('type')} has no <{part.tag}>, so the runtime ignores it"
                self.warn(UNEXPECTED_BODY, part, message, "delete it, or correct the type of the layer")
        for name, table in pairs.items():
            self._body(name, table)
        if self.kind == "if" and not self.found:
            self._unread()

    def _unread(self) -> None:
        """Warn of inputs of an If that neither branch takes."""
        rows = self.layer.iterfind("then_port_map/input"), self.layer.iterfind("else_port_map/input")
        taken = {id_number(row.get("external_port_id")) for row in chain(*rows)}
        for number, port in list(self.inputs.items())[1:]:
            if number not in taken:
                message = f"neither branch reads input port {number}"
                self.warn(
                    UNMAPPED_PORT,
                    port,
                    message,
                    "delete the port and its edge, or add a row for it to the port map of a branch",
                )

    def source(self, port_id: int) -> Element | None:
        """Return the output port that feeds an input."""
        producer = self.net.wiring.get((self.id, port_id))
        return None if producer is None else ports_of(self.net.layers[producer[0]], "output").get(producer[1])

    def report(self, rule: Rule, element: Element, message: str, remedy: str) -> None:
        """Note an error."""
        self.found.append(ElementProblem(rule, element, message, remedy))

    def warn(self, rule: Rule, element: Element, message: str, remedy: str) -> None:
        """Note a warning."""
        self.found.append(ElementProblem(rule, element, message, remedy, Severity.WARNING))

    def _body(self, name: str, table_name: str) -> None:
        body, table = child(self.layer, name), child(self.layer, table_name)
        if body is None or child(body, "layers") is None:
            if not (_has_misspelled(self.layer, name) if body is None else _has_misspelled(body, "layers")):
                what = f"the layer has no <{name}>" if body is None else f"<{name}> has no <layers>"
                self.report(MISSING_BODY, self.layer if body is None else body, what, f"write <{name}> with its layers")
            return
        if table is None:
            if not _has_misspelled(self.layer, table_name) and (self.kind != "if" or self.outputs):
                message = f"the layer has no <{table_name}>, which connects <{name}> to its ports"
                self.report(MISSING_PORT_MAP, self.layer, message, f"write <{table_name}>")
            return
        _Table(self, body, table).look()


def _has_misspelled(parent: Element, word: str) -> bool:
    """Return whether an unknown element in `parent` may be the one that is called so."""
    unknown = [entry for entry in parent if entry.tag not in GRAMMAR[str(parent.tag)].children]
    return any(len(entry) or closest(str(entry.tag), [word]) for entry in unknown)


def _is(layer: Element, wanted: str) -> bool:
    """Return whether a layer is a Parameter or Result, or looks like one whose type is unknown."""
    kind = layer.get("type") or ""
    if kind.lower() == wanted.lower():
        return True
    from ir_tools.ops import ops_of

    other = "input" if wanted == "Parameter" else "output"
    return not ops_of(kind) and layer.find(other) is None


def _listed(ports: Mapping[int, Element]) -> str:
    return ", ".join(map(str, ports)) or "none"


class _Table:
    """A body with the table that ties it to its layer."""

    def __init__(self, owner: _Bodied, body: Element, table: Element) -> None:
        self.owner = owner
        self.body = body
        self.table = table
        self.inside = layers_in(body)
        graph = owner.graphs.get(body)
        self.missing = {} if graph is None else graph.missing_layers
        self.sure = len(self.inside) == sum(1 for _ in body.iterfind("layers/*"))
        self.report = owner.report
        self.legacy = id_number(body.getroottree().getroot().get("version")) in LEGACY_VERSIONS
        self.places = {number: index for index, number in enumerate(owner.inputs)}
        self.rows: list[Row] = []

    def look(self) -> None:
        """Check the rows one by one, what they leave out, the back edges, and the slices."""
        whole = all(entry.tag in {"input", "output"} for entry in self.table)
        for element in self.table.iterchildren("input", "output"):
            row, messages = Row.read(element)
            for message, remedy in messages:
                self.report(BAD_PORT_MAP_ROW, element, message, remedy)
            if row is not None and self._fits(row):
                self.rows.append(row._replace(axis=None) if self.owner.kind == "if" else row)
            else:
                whole = False
        if self.legacy:
            self._slices()
            return
        self._repeated()
        if whole:
            self._left_out()
        if self.owner.kind != "if":
            self._back_edges()
        if self.owner.kind == "loop":
            self._condition()
        self._slices()
        if whole and self.owner.kind != "if" and not self.owner.found:
            self._idle()

    def _fits(self, row: Row) -> bool:
        """Return whether the row names a port of the layer and a Parameter or Result of the body."""
        side, wanted = ("input", "Parameter") if row.is_input else ("output", "Result")
        if row.purpose and self.owner.kind != "loop":
            message = f"the runtime ignores purpose {quoted(row.purpose)}: only rows of a Loop have one"
            self.owner.warn(WRONG_PORT_MAP_ROW, row.element, message, "delete purpose")
        ports = self.owner.inputs if row.is_input else self.owner.outputs
        faults = list(self._purpose(row))
        by_order = self.owner.kind == "if" and not row.is_input and row.port >= 0
        doubtful = self.owner.doubtful[side]
        if not (row.port in ports or by_order or doubtful or (row.port == -1 and row.purpose in PURPOSES)):
            message = f"external_port_id is {row.port}, but the layer has no such {side} port"
            remedy = f"its {side} ports are {_listed(ports)}" if row.purpose not in PURPOSES else NO_PORT
            faults.append((message, remedy))
        elif by_order and not (row.port in ports or row.port < len(ports) or doubtful):
            message = (
                f"external_port_id is {row.port}, but the layer has no such {side} port; the runtime uses these "
                "numbers only to order the rows"
            )
            self.owner.warn(WRONG_PORT_MAP_ROW, row.element, message, f"its {side} ports are {_listed(ports)}")
        elif (
            row.is_input
            and not (doubtful or self.legacy)
            and (place := self.places.get(row.port, row.port)) != row.port
        ):
            message = (
                f"the runtime reads external_port_id {row.port} as a position, but the port with this id is at "
                f"position {place}"
            )
            faults.append((message, "number the input ports 0, 1, 2, ... in their order"))
        inner = self.inside.get(row.layer)
        if inner is None:
            message = f"internal_layer_id is {row.layer}, but the body has no such layer"
            reported = not self.sure or row.layer in self.missing
            faults += [] if reported else [(message, f"name a {wanted} of the body")]
        elif self.legacy:
            faults += self._inner_port(row, inner, side)
        elif not _is(inner, wanted):
            message = (
                f"internal_layer_id is {row.layer}, but layer '{name_of(inner)}' has type "
                f"{quoted(inner.get('type', ''))}; expected a {wanted}"
            )
            faults.append((message, f"name a {wanted} of the body"))
        elif row.purpose == "current_iteration" and self.owner.kind == "loop" and row.port in ports:
            message = f"external_port_id is {row.port}, so the runtime reads that port instead of the current iteration"
            faults.append((message, NO_PORT))
        elif row.is_input and self.owner.kind == "loop" and 0 <= row.port < len(LOOP_INPUTS):
            message = f"external_port_id is {row.port}, so the body reads {LOOP_INPUTS[row.port]}"
            self.owner.warn(
                WRONG_PORT_MAP_ROW, row.element, message, "name another input port, unless this is intended"
            )
        for message, remedy in faults:
            self.report(WRONG_PORT_MAP_ROW, row.element, message, remedy)
        return not faults and inner is not None

    def _inner_port(self, row: Row, inner: Element, side: str) -> Iterator[tuple[str, str]]:
        """Yield why a row of a legacy file does not name a port of a layer of the body."""
        ports, text = ports_of(inner, side), row.element.get("internal_port_id")
        if id_number(text) not in ports:
            shown = "is missing" if text is None else f"is {text[:40]}"
            yield (
                f"internal_port_id {shown}, but '{name_of(inner)}' has no such {side} port",
                f"its {side} ports are {_listed(ports)}",
            )

    def _purpose(self, row: Row) -> Iterator[tuple[str, str]]:
        if not row.purpose or self.owner.kind != "loop":
            return
        right = PURPOSES.get(row.purpose)
        if right is None:
            meant = closest(row.purpose, PURPOSES)
            remedy = f"did you mean {meant}?" if meant else f"write one of {', '.join(PURPOSES)}"
            yield f"purpose is '{row.purpose}', which the runtime does not support", remedy
        elif right != row.element.tag:
            yield f"<{row.element.tag}> has purpose {row.purpose}", f"move purpose to an <{right}>"
        elif row.is_input and row.axis is not None:
            yield (
                "the row has an axis, but the current iteration is a scalar",
                "delete axis, start and end",
            )

    def _repeated(self) -> None:
        """Report rows that feed what an earlier one feeds."""
        seen: dict[tuple[str, int | str], Row] = {}
        for row in self.rows:
            if row.is_input:
                key: tuple[str, int | str] = ("Parameter", row.layer)
            elif row.port >= 0:
                key = ("output port", row.port)
            else:
                key = ("purpose", row.purpose)
            first = seen.setdefault(key, row)
            if first is not row:
                message = f"an earlier row already has {key[0]} {key[1]}"
                self.report(REPEATED_PORT_MAP_ROW, row.element, message, "delete one of the two rows")

    def _left_out(self) -> None:
        """Report Parameters of the body and outputs of the layer without a row."""
        fed, before = {row.layer for row in self.rows if row.is_input}, len(self.owner.found)
        for number, layer in self.inside.items():
            if (layer.get("type") or "").lower() == "parameter" and number not in fed:
                message = f"<{self.table.tag}> has no row for Parameter {number} '{name_of(layer)}' of the body"
                self.report(UNMAPPED_PORT, self.table, message, f'write <input ... internal_layer_id="{number}"/>')
        made = {row.port for row in self.rows if not row.is_input and row.port >= 0}
        if self.owner.kind == "if":
            if len(made) < len(self.owner.outputs):
                message = (
                    f"<{self.table.tag}> has {plural(len(made), 'output')}, but the layer has {len(self.owner.outputs)}"
                )
                self.report(
                    UNMAPPED_PORT, self.table, message, "write a row for every output of the layer in both branches"
                )
            return
        taken = {row.port for row in self.rows if row.is_input}
        for number in list(self.owner.inputs)[OWN_INPUTS[self.owner.kind] :]:
            if number not in taken and len(self.owner.found) == before:
                message = f"<{self.table.tag}> has no row for input port {number}"
                self.report(UNMAPPED_PORT, self.table, message, f'write <input external_port_id="{number}" .../>')
        for number in self.owner.outputs:
            if number not in made:
                message = f"<{self.table.tag}> has no row for output port {number}"
                self.report(UNMAPPED_PORT, self.table, message, f'write <output external_port_id="{number}" .../>')

    def _back_edges(self) -> None:
        table = child(self.owner.layer, "back_edges")
        targets: set[int] = set()
        is_loop = self.owner.kind == "loop"
        numbers = {row.layer for row in self.rows if is_loop and row.purpose == "current_iteration"}
        sliced = {row.layer for row in self.rows if row.is_input and row.axis is not None}
        for edge in () if table is None else table.iterchildren("edge"):
            for name, wanted in (("from-layer", "Result"), ("to-layer", "Parameter")):
                message = self._back_end(edge, name, wanted)
                if message:
                    self.report(BAD_BACK_EDGE, edge, message, f"write the id of a {wanted} of the body as {name}")
                    break
            else:
                target = id_number(edge.get("to-layer"))
                if target in numbers:
                    message = f"a back edge leads to Parameter {target}, which receives the current iteration"
                    self.report(BAD_BACK_EDGE, edge, message, "delete the edge, or correct to-layer")
                elif target in sliced:
                    message = f"the runtime ignores a back edge to Parameter {target}, which receives the next part"
                    self.report(BAD_BACK_EDGE, edge, message, "delete the edge, or correct to-layer")
                elif target in targets:
                    message = f"an earlier back edge already leads to Parameter {target}"
                    self.report(BAD_BACK_EDGE, edge, message, "delete one of the two")
                targets |= set() if target is None else {target}

    def _back_end(self, edge: Element, name: str, wanted: str) -> str | None:
        """Return what is wrong with one end of a back edge."""
        text = edge.get(name)
        number = id_number(text)
        if number is None:
            return f"a back edge has no {name}" if text is None else f"a back edge has {name} '{text[:40]}'"
        layer = self.inside.get(number)
        if layer is None and (not self.sure or number in self.missing):
            return None
        if layer is None:
            return f"a back edge has {name} {number}, but the body has no such layer"
        if not _is(layer, wanted):
            return (
                f"a back edge has {name} {number}, but layer '{name_of(layer)}' has type "
                f"{quoted(layer.get('type', ''))}; expected a {wanted}"
            )
        return None

    def _condition(self) -> None:
        rows = self.table.iterchildren("input", "output")
        purposes = [entry.get("purpose") for entry in rows]
        if "execution_condition" not in purposes and not any(word and word not in PURPOSES for word in purposes):
            message = "no output of the body is the execution condition"
            remedy = 'write <output external_port_id="-1" internal_layer_id="..." purpose="execution_condition"/>'
            self.report(MISSING_EXECUTION_CONDITION, self.table, message, remedy)

    def _idle(self) -> None:
        """Warn of iterations that add up to nothing, and of Results that nothing takes."""
        sources = [id_number(edge.get("from-layer")) for edge in self.owner.layer.iterfind("back_edges/edge")]
        differ = any(row.is_input and (row.axis is not None or row.purpose) for row in self.rows)
        remedy = "add a back edge from the Result whose value the next iteration starts with"
        if not sources and not differ:
            self.owner.warn(
                LOOP_WITHOUT_BACK_EDGE,
                self.owner.layer,
                "the layer has no back edge, so all iterations compute the same values",
                remedy,
            )
            return
        producers = {consumer: producer for (consumer, _), producer in self._wiring().items()}
        carried = {producers.get(number) for number in sources if number is not None}
        last = [row for row in self.rows if not row.is_input and row.axis is None and row.port >= 0]
        for row in last if not self._ends_itself(producers) else ():
            if producers.get(row.layer) not in carried and self._computes(producers.get(row.layer)):
                message = (
                    f"Result {row.layer} has no back edge, so only the last iteration determines output port {row.port}"
                )
                self.owner.warn(LOOP_WITHOUT_BACK_EDGE, row.element, message, remedy)
        taken = {*sources, *(row.layer for row in self.rows if not row.is_input)}
        for number, layer in self.inside.items():
            if (layer.get("type") or "").lower() == "result" and number not in taken:
                remedy = "add a back edge or a row of the port map, or delete the Result"
                self.owner.warn(
                    UNMAPPED_PORT,
                    layer,
                    f"Result {number} of the body has no row in the port map and no back edge",
                    remedy,
                )

    def _wiring(self) -> Wiring:
        graph = self.owner.graphs.get(self.body)
        return {} if graph is None else graph.wiring

    def _ends_itself(self, producers: Mapping[int, tuple[int, int]]) -> bool:
        """Return whether the body computes the condition to go on, as a search does that ends at the first hit."""
        conditions = (producers.get(row.layer) for row in self.rows if row.purpose == "execution_condition")
        return any(map(self._computes, conditions))

    def _computes(self, producer: tuple[int, int] | None) -> bool:
        """Return whether the body computes a value, and does not only hand on what is the same in every iteration."""
        kind = "" if producer is None else (self.inside[producer[0]].get("type") or "").lower()
        return kind not in {"", "const", "parameter"}

    def _slices(self) -> None:
        """Check how the rows slice their tensors, and warn about what the runtime ignores."""
        exact = self.owner.kind == "tensoriterator"
        sliced = [self._sliced(row) for row in self.rows if row.axis is not None]
        wrong = list(slice_problems(sliced, exact=exact))
        for row, message, remedy in wrong:
            self.report(BAD_SLICE, row.element, message, remedy)
        for row, _, size in sliced if exact and not wrong else ():
            if row.is_input and size is not None and row.begins_inside(size):
                place = "last" if row.stride < 0 else "first"
                message = f"start is {row.start}, but the CPU plugin always starts at the {place} element"
                remedy = "slice the tensor with a Slice layer before this one"
                self.owner.warn(BAD_SLICE, row.element, message, remedy)
        for row, *_ in () if exact else sliced:
            if (row.start, row.end) != ((0, -1) if row.stride > 0 else (-1, 0)):
                message = (
                    f"the runtime ignores start {row.start} and end {row.end}: each iteration of a Loop reads "
                    "the next part"
                )
                remedy = 'write start="0" end="-1"' if row.stride > 0 else 'write start="-1" end="0"'
                self.owner.warn(BAD_SLICE, row.element, message, remedy)
        is_if = self.owner.kind == "if"
        why = "an If does not slice tensors" if is_if else "a row without axis is not sliced"
        remedy = "delete it, or use a Slice layer" if is_if else "write the axis, or delete it"
        for row in self.rows:
            said = next((name for name in SLICES if row.element.get(name) is not None), None)
            if said is not None and row.axis is None:
                message = f"the runtime ignores {said} {row.element.get(said)}: {why}"
                self.owner.warn(BAD_SLICE, row.element, message, remedy)

    def _sliced(self, row: Row) -> Slice:
        """Return a row with what is known of the tensor that it cuts or joins: of an input, by what feeds it."""
        if row.is_input:
            own, other = self.owner.inputs.get(row.port), self.owner.source(row.port)
        else:
            own, other = self.owner.outputs.get(row.port), self.inside[row.layer].find("input/port")
        sizes = [[] if port is None else [size_of(dim) for dim in port.iterchildren("dim")] for port in (own, other)]
        rank = max(map(len, sizes))
        known = sizes[1] if row.is_input and row.axis is not None and row.axis < len(sizes[1]) else None
        size = None if known is None or row.axis is None else known[row.axis]
        return Slice(row, rank, None if size is None or size < 0 else size)
