"""Putting a rewrite into a graph."""

import re
from collections.abc import Mapping, Sequence

from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source, find_port
from ir_tools.infer import LayerSignature, LayerSignatures
from ir_tools.ops.definition import Array, NewLayer, Op, Ref, Refused, Rewrite
from ir_tools.ops.records import port_of
from ir_tools.types import from_dtype

__all__ = ["Rewriter", "changes_nothing", "lost_output"]

LIST = re.compile(r"\s*[+-]?\d+\s*(,\s*[+-]?\d+\s*)+")


# --- before the edit --------------------------------------------------------------------------------------------


def lost_output(graph: Graph, layer_id: int, signature: LayerSignature, rewrite: Rewrite) -> Refused | None:
    """A refusal where somebody reads an output that the rewrite does not have."""
    kept = len(rewrite.layers[-1].outputs)
    for index, port in enumerate(signature.outputs[kept:], kept):
        for reader, _ in graph.readers(layer_id, port.id):
            return Refused(f"output {index} is read by '{graph.layer(reader).name}', and the target has no such output")
    return None


def changes_nothing(signature: LayerSignature, op: Op | None, rewrite: Rewrite) -> bool:
    """Whether a layer of this signature is already what the rewrite would make of it."""
    new = rewrite.layers[-1]
    return (
        _in_place(signature, rewrite)
        and signature.version == f"opset{new.opset}"
        and len(signature.outputs) == len(new.outputs)
        and _merged(signature.raw, op, new, ",") == signature.raw
    )


def _in_place(layer: Layer | LayerSignature, rewrite: Rewrite) -> bool:
    new = rewrite.layers[-1]
    if len(rewrite.layers) != 1 or len(new.inputs) != len(layer.inputs) or layer.type.lower() != new.type.lower():
        return False
    return all(isinstance(given, Ref) and given == Ref(None, index) for index, given in enumerate(new.inputs))


# --- the edit ---------------------------------------------------------------------------------------------------


class Rewriter:
    """Puts rewrites into one model, in the style of its file."""

    def __init__(self, model: Model, signatures: LayerSignatures | None = None) -> None:
        """`signatures`: of the model's layers, if they are known."""
        self.model = model
        self.signatures = signatures or LayerSignatures()
        self._separators: dict[int, str] = {}
        self._merged: dict[object, tuple[NewLayer, Mapping[str, str]]] = {}
        self._styled: dict[object, tuple[NewLayer, Mapping[str, str]]] = {}
        self._constants: dict[tuple[int, int, str], tuple[Array, Source]] = {}

    def apply(self, graph: Graph, layer: Layer, op: Op | None, rewrite: Rewrite) -> None:
        """Replace a layer. The last new layer takes over its id, name, place, tensor names, readers and rt_info.

        An edit in place keeps the bytes of everything but version and attributes.
        """
        writer = _Writer(self, graph, layer, op)
        if _in_place(layer, rewrite):
            writer.edit(rewrite.layers[-1])
            return
        made: list[Source] = []
        for new in rewrite.layers[:-1]:
            added, feeds = writer.layer(new, made)
            graph.add(added, feeds)
            made.append(Source(added.id, added.outputs[0].id))
        last, feeds = writer.layer(rewrite.layers[-1], made)
        for old, port in zip(layer.outputs, last.outputs, strict=False):
            port.dims, port.precision = old.dims, old.precision or port.precision
        graph.replace(layer.id, last, feeds)

    def port(self, graph: Graph, source: Source) -> Port:
        """An output port; the layer is not loaded by it."""
        layer = graph.layer(source.layer)
        known = None if layer.loaded else find_port(self.signatures.of(layer)[0].outputs, source.port)
        return known or layer.port(source.port)

    def separator(self, graph: Graph, layer: Layer) -> str:
        """What is between list items in this file: that of the layer itself, or else of the first list in its graph."""
        own = _separator_in(layer.raw)
        if own is not None:
            return own
        if id(graph) not in self._separators:
            found = (_separator_in(self.signatures.of(other)[0].raw) for other in graph.layers())
            self._separators[id(graph)] = next((text for text in found if text is not None), ",")
        return self._separators[id(graph)]

    def merged(self, layer: Layer, op: Op | None, new: NewLayer, separator: str) -> dict[str, str]:
        """The new attributes in the order of the old ones; worked out once for layers with the same ones."""
        key = (tuple(layer.raw.items()), layer.type, layer.version, id(new), separator)
        found = self._merged.get(key)
        if found is None:
            found = self._merged[key] = new, _merged(layer.raw, op, new, separator)
        return {**found[1]}

    def styled(self, new: NewLayer, separator: str) -> dict[str, str]:
        """The attributes of a new layer."""
        key = id(new), separator
        found = self._styled.get(key)
        if found is None:
            raw = {name: _with_separator(text, separator) for name, text in new.raw.items()}
            found = self._styled[key] = new, raw
        return {**found[1]}

    def constant(self, graph: Graph, array: Array, name: str, separator: str) -> Source:
        """A constant in a graph, with a name if it is new: an array of a rewrite becomes one layer."""
        key = id(graph), id(array), separator
        found = self._constants.get(key)
        if found is None:
            offset, size = self.model.weights.append(array)
            dtype, shape = from_dtype(array.dtype), separator.join(map(str, array.shape))
            raw = {"element_type": dtype.name, "shape": shape, "offset": str(offset), "size": str(size)}
            content = LayerContent(raw, [], [Port(0, dtype.precision, array.shape)])
            tag = {"name": graph.new_name(name), "type": "Const", "version": "opset1"}
            added = graph.add(Layer(graph.new_id(), tag, content))
            found = self._constants[key] = array, Source(added.id, 0)
        return found[1]


class _Writer:
    """Makes layers in place of one layer."""

    def __init__(self, rewriter: Rewriter, graph: Graph, layer: Layer, op: Op | None) -> None:
        self.rewriter = rewriter
        self.graph = graph
        self.old = layer
        self.op = op
        self.separator = rewriter.separator(graph, layer)
        self.inputs_typed = any(port.precision for port in layer.inputs)
        self.sources = graph.sources(layer.id)

    def edit(self, new: NewLayer) -> None:
        """Change version and attributes of the old layer, and how many outputs it has."""
        self.old.tag["version"] = f"opset{new.opset}"
        self.old.content.raw = self.rewriter.merged(self.old, self.op, new, self.separator)
        outputs = self.old.outputs
        del outputs[len(new.outputs) :]
        for fact in new.outputs[len(outputs) :]:
            outputs.append(port_of(max(port.id for port in (*self.old.inputs, *outputs)) + 1, fact))

    def layer(self, new: NewLayer, made: Sequence[Source]) -> tuple[Layer, dict[int, Source]]:
        """A layer that is in no graph yet, and what feeds its inputs; its constants are in the graph already."""
        sources = [self._source(given, made, f"{new.label}_{index}") for index, given in enumerate(new.inputs)]
        inputs = []
        for index, source in enumerate(sources):
            port = self.rewriter.port(self.graph, source)
            inputs.append(Port(index, port.precision if self.inputs_typed else None, port.dims))
        outputs = [port_of(len(inputs) + index, fact) for index, fact in enumerate(new.outputs)]
        same = new.type == self.old.type
        raw = (
            self.rewriter.merged(self.old, self.op, new, self.separator)
            if same
            else self.rewriter.styled(new, self.separator)
        )
        content = LayerContent(raw, inputs, outputs)
        tag = {"name": self._name(new.label), "type": new.type, "version": f"opset{new.opset}"}
        return Layer(self.graph.new_id(), tag, content), dict(enumerate(sources))

    def _source(self, given: Ref | Array, made: Sequence[Source], label: str) -> Source:
        if not isinstance(given, Ref):
            return self.rewriter.constant(self.graph, given, f"{self.old.name}/{label}", self.separator)
        if given.layer is None:
            return self.sources[self.old.inputs[given.output].id]
        return made[given.layer]

    def _name(self, label: str) -> str:
        return self.graph.new_name(f"{self.old.name}/{label}")


def _merged(raw: Mapping[str, str], op: Op | None, new: NewLayer, separator: str) -> dict[str, str]:
    """The new attributes in the order of the old ones; text that says the same stays as it is.

    Attributes of the old operation that the new one lacks, and misspelled ones, go; unknown ones stay.
    """
    fields = op.attrs if op else {}
    gone = {spec.xml or name for name, spec in fields.items()}.union(*(spec.aliases for spec in fields.values()))
    merged: dict[str, str] = {}
    for key, text in raw.items():
        if key in new.raw:
            same = "".join(text.split()) == "".join(new.raw[key].split())
            merged[key] = text if same else _with_separator(new.raw[key], separator)
        elif key not in gone:
            merged[key] = text
    return merged | {key: _with_separator(text, separator) for key, text in new.raw.items() if key not in merged}


def _separator_in(raw: Mapping[str, str]) -> str | None:
    """What is between the items of the first list among attributes, if there is one."""
    text = next((text for text in raw.values() if LIST.fullmatch(text)), None)
    return None if text is None else ", " if ", " in text else ","


def _with_separator(text: str, separator: str) -> str:
    return separator.join(word.strip() for word in text.split(",")) if LIST.fullmatch(text) else text
