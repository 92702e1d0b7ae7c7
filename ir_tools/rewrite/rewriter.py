"""Putting a rewrite into a graph."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from ir_tools.builder import Builder
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.infer import LayerSignature
from ir_tools.ops import Role, role_of
from ir_tools.ops.definition import Array, NewLayer, Op, Ref, Refused, Rewrite
from ir_tools.ops.records import port_of
from ir_tools.rewrite.enclosing import enclose

__all__ = ["Rewriter", "changes_nothing", "lost_output", "remove_unread", "unfed_input", "with_labels"]

LIST = re.compile(r"\s*[+-]?\d+\s*(,\s*[+-]?\d+\s*)+")


# --- before the edit --------------------------------------------------------------------------------------------


def lost_output(graph: Graph, layer_id: int, signature: LayerSignature, rewrite: Rewrite) -> Refused | None:
    """Return a refusal if a consumer reads an output that the rewrite does not have."""
    kept = len(rewrite.outputs or rewrite.layers[-1].outputs)
    for index, port in enumerate(signature.outputs[kept:], kept):
        if graph.consumers(layer_id, port.id):
            return Refused(f"a layer reads output {index}, which the target does not have")
    return None


def unfed_input(graph: Graph, layer_id: int, signature: LayerSignature, rewrite: Rewrite) -> Refused | None:
    """Return a refusal if the rewrite has new layers that read an input which nothing feeds."""
    sources = graph.sources(layer_id)
    read = (signature.inputs[number].id for number in sorted(rewrite.inputs_read))
    unfed = [port_id for port_id in read if port_id not in sources]
    return Refused(f"no edge leads to input port {unfed[0]}") if unfed and not _in_place(signature, rewrite) else None


def changes_nothing(signature: LayerSignature, op: Op | None, rewrite: Rewrite) -> bool:
    """Return whether a layer of this signature is already what the rewrite would make of it."""
    new = rewrite.layers[-1]
    return (
        _in_place(signature, rewrite)
        and signature.version == f"opset{new.opset}"
        and _merged(signature.unlabelled, op, new, ",") == signature.unlabelled
    )


def with_labels(signature: LayerSignature, rewrite: Rewrite) -> Rewrite:
    """Return the rewrite of a layer of this signature, made from the one of its kind."""
    if signature.unlabelled is signature.raw:
        return rewrite

    def labelled(new: NewLayer) -> NewLayer:
        raw = {name: signature.with_labels(text) for name, text in new.raw.items()}
        return new if raw == new.raw else replace(new, raw=raw)

    return replace(rewrite, layers=tuple(map(labelled, rewrite.layers)))


def _in_place(layer: Layer | LayerSignature, rewrite: Rewrite) -> bool:
    new = rewrite.layers[-1]
    if len(rewrite.layers) != 1 or len(new.inputs) != len(layer.inputs) or layer.type.lower() != new.type.lower():
        return False
    given = enumerate(new.inputs)
    return all([isinstance(one, Ref) and one.layer is None and one.output == index for index, one in given])


# --- the edit ---------------------------------------------------------------------------------------------------


class Rewriter:
    """Put rewrites into one model, in the style of its file.

    Attributes:
        resized: whether a new layer gives other sizes than the layer in whose place it is recorded.
        added: the layers that were added, but those that took the place of others.
        left: the layers that fed layers in whose place others are now.
    """

    def __init__(self, model: Model) -> None:
        """Start with nothing changed."""
        self.model = model
        self.resized = False
        self.added: list[tuple[Graph, int]] = []
        self.left: list[tuple[Graph, int]] = []
        self._builders: dict[int, Builder] = {}
        self._separators: dict[int, str] = {}
        self._edited: dict[object, tuple[Rewrite, dict[str, str]]] = {}
        self._constants: dict[tuple[int, int], tuple[Array, Source]] = {}

    def apply(self, graph: Graph, layer: Layer, op: Op | None, rewrite: Rewrite) -> None:
        """Replace a layer. The last new layer takes over its id, name, place, tensor names, consumers and rt_info.

        An edit in place keeps the bytes of everything but version and attributes.
        """
        key = id(graph), id(rewrite), layer.type, len(layer.inputs), *layer.raw.items()
        if key in self._edited:
            _edit(layer, rewrite.layers[-1], self._edited[key][1])
            return
        separator = self._separator(graph, layer)
        if _in_place(layer, rewrite):
            raw = _merged(layer.raw, op, rewrite.layers[-1], separator)
            self._edited[key] = rewrite, raw
            _edit(layer, rewrite.layers[-1], raw)
            return
        builder, typed = self._builder(graph), any(port.precision for port in layer.inputs)
        old, made = graph.sources(layer.id), list[list[Source]]()
        self.left += ((graph, producer) for producer in graph.producers(layer.id))

        def source(given: Ref) -> Source:
            return old[layer.inputs[given.output].id] if given.layer is None else made[given.layer][given.output]

        for new in rewrite.layers:
            feeds = [
                source(given)
                if isinstance(given, Ref)
                else self._constant(builder, given, f"{layer.name}/{new.label}_{index}", separator)
                for index, given in enumerate(new.inputs)
            ]
            raw = _merged(layer.raw if new.type == layer.type else {}, op, new, separator)
            name = f"{layer.name}/{new.label}"
            added, inputs = builder.make(name, new.type, new.opset, raw, feeds, new.outputs, typed=typed)
            if new is not rewrite.layers[-1]:
                graph.add_known(added, inputs)
                self.added.append((graph, added.id))
                made.append([Source(added.id, port.id) for port in added.common.outputs])
        if rewrite.outputs:
            _redirect(
                graph, layer, {given: source(given) for given in rewrite.outputs if given.layer != len(made)}, rewrite
            )
        for before, after in zip(layer.outputs, added.common.outputs, strict=False):
            self.resized |= min((*before.dims, *after.dims), default=-1) >= 0 and before.dims != after.dims
            if (after.dims, after.precision) != (before.dims, before.precision or after.precision):
                port = added.port(after.id)
                port.dims, port.precision = before.dims, before.precision or after.precision
        if rewrite.enclosed:
            enclose(self.model, layer, added, rewrite.enclosed)
        else:
            _take_bodies(layer, added, rewrite.layers[-1].inputs)
        graph.replace(layer.id, added, inputs)

    def _builder(self, graph: Graph) -> Builder:
        """Return the builder of a graph, which knows the forms of the layers that it made."""
        if id(graph) not in self._builders:
            self._builders[id(graph)] = Builder(self.model, graph=graph)
        return self._builders[id(graph)]

    def _separator(self, graph: Graph, layer: Layer) -> str:
        """Return what is between list items: in the layer itself, or else in the first list of its graph."""
        own = _separator_in(layer.raw)
        if own is not None:
            return own
        if id(graph) not in self._separators:
            found = (_separator_in(other.common.raw) for other in graph.layers())
            self._separators[id(graph)] = next((text for text in found if text is not None), ",")
        return self._separators[id(graph)]

    def _constant(self, builder: Builder, array: Array, name: str, separator: str) -> Source:
        """Add a constant, with a name if it is new: an array of a rewrite becomes one layer in each graph."""
        key = id(builder.graph), id(array)
        if key not in self._constants:
            made = builder.constant(array, name)
            builder.graph.layer(made.layer).raw["shape"] = separator.join(map(str, array.shape))
            self._constants[key] = array, made
        return self._constants[key][1]


def remove_unread(layers: Iterable[tuple[Graph, int]]) -> None:
    """Remove those of these layers that nothing reads, and what led to them alone."""
    todo = [*layers]
    while todo:
        graph, layer_id = todo.pop()
        if layer_id not in graph or any(True for _ in graph.successors(layer_id)):
            continue
        if role_of(graph.layer(layer_id)) in {Role.COMPUTATION, Role.CONSTANT}:
            todo += ((graph, producer) for producer in graph.producers(layer_id))
            graph.remove(layer_id)


def _redirect(graph: Graph, layer: Layer, sources: Mapping[Ref, Source], rewrite: Rewrite) -> None:
    """Let the consumers of outputs that other layers than the last one make read those; the layer loses them."""
    pairs = list(zip(layer.outputs, rewrite.outputs, strict=False))
    for before, given in pairs:
        if given in sources:
            found = sources[given]
            after = graph.layer(found.layer).port(found.port)
            after.dims, after.precision = before.dims, before.precision or after.precision
            graph.redirect(Source(layer.id, before.id), found)
    layer.outputs[:] = [before for before, given in pairs if given not in sources]


def _take_bodies(old: Layer, new: Layer, given: Sequence[Ref | Array]) -> None:
    """Let a layer have the bodies of another one of its type, without the inputs that it lacks, which nothing reads.

    Each of the inputs given is another one of the old layer, or takes its place.
    """
    if not old.bodies or old.type != new.type:
        return
    new.bodies.update(old.bodies)
    places = [one.output if isinstance(one, Ref) and one.layer is None else place for place, one in enumerate(given)]
    ports = {("input", str(old.inputs[place].id)): str(port.id) for place, port in zip(places, new.inputs, strict=True)}
    ports |= {("output", str(was.id)): str(port.id) for was, port in zip(old.outputs, new.outputs, strict=True)}
    gone = set[str]()
    for name, rows in old.content.mapping.items():
        kept = new.content.mapping[name] = []
        for side, row in rows:
            port = row.get("external_port_id", "-1")
            if int(port) < 0 or (side, port) in ports:
                kept.append(
                    (side, {**row, "external_port_id": ports[side, port]} if (side, port) in ports else {**row})
                )
            else:
                gone.add(row["internal_layer_id"])
    if gone:
        edges = new.content.mapping.get("back_edges", [])
        new.content.mapping["back_edges"] = [edge for edge in edges if edge[1]["to-layer"] not in gone]
        new.bodies["body"].remove_nodes_from(map(int, gone))


def _edit(layer: Layer, new: NewLayer, raw: Mapping[str, str]) -> None:
    """Change version and attributes of a layer, and how many outputs it has."""
    layer.content.raw = {**raw}
    layer.tag["version"] = f"opset{new.opset}"
    outputs = layer.outputs
    del outputs[len(new.outputs) :]
    for fact in new.outputs[len(outputs) :]:
        outputs.append(port_of(max(port.id for port in (*layer.inputs, *outputs)) + 1, fact))


def _merged(raw: Mapping[str, str], op: Op | None, new: NewLayer, separator: str) -> dict[str, str]:
    """Return the new attributes in the order of the old ones; text that says the same stays as it is.

    Attributes of the old operation that the new one lacks, and misspelled ones, go; unknown ones stay.
    """
    gone = _names_of(op) if op is not None and raw else frozenset()
    merged: dict[str, str] = {}
    for key, text in raw.items():
        wanted = new.raw.get(key)
        if wanted is not None:
            same = text == wanted or "".join(text.split()) == "".join(wanted.split())
            merged[key] = text if same else _with_separator(wanted, separator)
        elif key not in gone:
            merged[key] = text
    return merged | {key: _with_separator(text, separator) for key, text in new.raw.items() if key not in merged}


@cache
def _names_of(op: Op) -> frozenset[str]:
    """Return the names of all attributes of an operation in files, misspelled ones too."""
    return frozenset(op.fields).union(*(spec.aliases for spec in op.attrs.values()))


def _separator_in(raw: Mapping[str, str]) -> str | None:
    """Return what is between the items of the first list among attributes, if there is one."""
    text = next((text for text in raw.values() if LIST.fullmatch(text)), None)
    return None if text is None else ", " if ", " in text else ","


def _with_separator(text: str, separator: str) -> str:
    return separator.join(word.strip() for word in text.split(",")) if LIST.fullmatch(text) else text
