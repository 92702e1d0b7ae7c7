"""Build models layer by layer; ids, names, ports, element types and shapes follow from the table of operations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from ir_tools.errors import GraphError, ShapeError, UsageError
from ir_tools.graph import Graph, Layer, LayerContent, LayerForm, Model, Port, Source, find_port
from ir_tools.ops import COMPLETE_OPSETS, Array, Attrs, Fact, Op, Violation, find_op
from ir_tools.ops.checks import check_ports, check_settings
from ir_tools.ops.definition import Bounds
from ir_tools.ops.interning import AnswerTable, InternedFact, StoredBounds
from ir_tools.ops.records import are_values_known, constant_fact, recorded_output
from ir_tools.types import Dim, ElementType, element_type, format_shape, from_dtype, parse_shape
from ir_tools.types.packing import element_type_of, in_element_type
from ir_tools.weights import Weights, constant, stored_bytes

__all__ = ["Builder", "Tensor"]

Tensor = Source | npt.ArrayLike
"""An input of a layer: an output port of the graph, or numbers that become a constant."""


class Builder:
    """A builder that adds layers to the graph of a new or an existing model, or to a body.

    Output ports are `Source` objects. Ids, names, ports, element types and shapes follow from the table of operations.

    Attributes:
        model: the model; new constants are added to its weights.
        graph: the graph to which layers are added.

    Example:
        >>> builder = ir_tools.Builder()
        >>> data = builder.parameter("data", "1,3,?,16..64", "f32")
        >>> rounded = builder.call("Round", data, mode="half_to_even")
        >>> builder.result(builder.call("Multiply", rounded, 2.0), "doubled")
        Layer(4, 'doubled/result', Result opset1)
        >>> builder.model.outputs[0].name, builder.model.outputs[0].port.dims
        ('doubled', (1, 3, -1, -1))

        Insert a layer behind another:

        >>> builder = ir_tools.Builder(ir_tools.read("model.xml"))
        >>> builder.insert(ir_tools.Source(1, 1), "ReLU")
        Source(layer=3, port=1)
        >>> [layer.name for layer in builder.graph.ordered()]
        ['data', 'pool', 'relu', 'result']
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        graph: Graph | None = None,
        name: str = "model",
        opset: int = COMPLETE_OPSETS,
    ) -> None:
        """Start with an existing model, or with a new, empty one.

        Args:
            model: None for a new model of IR v11.
            graph: a body of `model`; None for its main graph.
            name: the name of a new model.
            opset: the number of the opset whose operations are added: `call("AvgPool", ...)` adds AvgPool-1 for 8 and
                AvgPool-14 for 14.
        """
        weights = Weights.from_bytes(b"")
        self.model = model or Model(Graph(), name=name, version=11, weights=weights, origin=None, path=None)
        self.graph = self.model.graph if graph is None else graph
        self.opset = opset
        self._facts: dict[Source, Fact] = {}
        self._interned: dict[object, Fact] = {}
        self._answers = AnswerTable[Sequence[Fact] | None]()
        self._forms: dict[object, LayerForm] = {}
        self._templates: dict[tuple[str, tuple[int, ...]], tuple[Fact, dict[str, str]]] = {}
        """Facts of constants without values, and attributes without an offset, by element type and sizes."""

    def parameter(
        self, name: str, shape: str | Sequence[int | Dim] | int | None, dtype: str | ElementType | npt.DTypeLike = "f32"
    ) -> Source:
        """Add an input of the model, or of the body.

        Args:
            name: the name of the layer and its tensor; a number is appended if another layer has it.
            shape: a partial shape: text (`"1,3,?,16..64"`), sizes with -1 for any size, or None or `"..."` for an
                unknown rank.
            dtype: the element type, by its name or as a numpy dtype.

        Raises:
            UsageError: the element type is unknown, or the shape cannot be read.
        """
        fact = self._one(Fact(_type_of(dtype), None if shape is None else parse_shape(shape)))
        text = "" if fact.shape == () else format_shape(fact.shape)
        raw = {"shape": text, "element_type": fact.dtype.name}
        op = find_op("Parameter", "opset1")
        assert op is not None
        (made,) = self._call(op, raw, [], name, [fact])
        layer = self.graph.layer(made.layer)
        layer.add_tensor_name(made.port, layer.name)
        return made

    def constant(
        self,
        array: npt.ArrayLike,
        name: str = "constant",
        dtype: str | ElementType | None = None,
        shape: Sequence[int] | None = None,
    ) -> Source:
        """Add a constant.

        Args:
            array: the values; with `dtype` and `shape`, the bytes as they are stored in the file.
            name: the name of the layer.
            dtype: the element type to which the values are cast; by default that of `array`.
            shape: the shape of packed bytes of an element type that numpy does not have, such as u4.

        Raises:
            UsageError: the element type is unknown, or is not one for these values.
        """
        if shape is None:
            values = _values_of(array, dtype)
            kind, sizes, data = element_type_of(values), values.shape, stored_bytes(values)
        else:
            values = np.asarray(array)
            kind = from_dtype(values.dtype) if dtype is None else _type_of(dtype)
            sizes, data = tuple(shape), np.ascontiguousarray(values)
        known = shape is None and are_values_known(values.size, kind.dtype)
        return self._constant(name, kind, sizes, *self.model.weights.append(data), known=known)

    def stored(self, offset: int, dtype: str | ElementType, shape: Sequence[int], name: str = "constant") -> Source:
        """Add a constant whose bytes are already in the model's `.bin`.

        Args:
            offset: the offset of its first byte.
            dtype: the element type.
            shape: the sizes; with the element type, they determine the number of bytes.
            name: the name of the layer.
        """
        kind, sizes = _type_of(dtype), tuple(shape)
        count, weights = math.prod(sizes), self.model.weights
        size = kind.byte_size(count)
        known = are_values_known(count, kind.dtype) and offset + size <= weights.size
        return self._constant(name, kind, sizes, offset, size, known=known)

    def _constant(
        self, name: str, kind: ElementType, sizes: tuple[int, ...], offset: int, size: int, *, known: bool
    ) -> Source:
        """Add a constant whose bytes are there; `known`: a rule may ask for its values, which are read then."""
        found = self._templates.get((kind.name, sizes))
        if found is None:
            raw = {"element_type": kind.name, "shape": ",".join(map(str, sizes)), "offset": "", "size": str(size)}
            found = self._one(Fact(kind, tuple(map(Dim.of, sizes)))), raw
            self._templates[kind.name, sizes] = found
        fact, raw = found
        layer, inputs = self.make(name, "Const", 1, raw, [], (fact,), offset=offset)
        self.graph.add_known(layer, inputs)
        made = Source(layer.id, 0)
        if known:
            load = partial(_stored_values, raw, offset, self.model.weights)
            fact = Fact(kind, fact.shape, StoredBounds(InternedFact(fact), load))
        self._facts[made] = fact
        return made

    def call(self, type: str, *inputs: Tensor, name: str | None = None, **attributes: object) -> Source:
        """Add a layer and return its first output; arguments and errors are those of `outputs`."""
        return self.outputs(type, *inputs, name=name, **attributes)[0]

    def outputs(self, type: str, *inputs: Tensor, name: str | None = None, **attributes: object) -> tuple[Source, ...]:
        """Add a layer and return all of its outputs.

        Args:
            type: the operation type; the version is the one in the builder's opset.
            inputs: output ports of the graph, or numbers and arrays, which become constants. Python floats get the
                element type of the first output port among the inputs.
            name: the name of the layer; by default the type in lower case.
            attributes: attributes by their names in Python or in the file: `kernel=(2, 2)`, `exclude_pad=True`.

        Raises:
            UsageError: the opset does not contain the operation, the runtime does not accept an attribute, or the
                operation has another number of inputs.
            ShapeError: the operation does not accept these inputs.
        """
        op = find_op(type, f"opset{self.opset}")
        if op is None:
            raise UsageError(f"there is no operation '{type}' in opset{self.opset}")
        raw = {_key(op, key): _text(value) for key, value in attributes.items()}
        given = [source if isinstance(source, Source) else self._numbers(source, inputs) for source in inputs]
        facts = [self.fact(one) if isinstance(one, Source) else self._one(constant_fact(one)) for one in given]
        found = self._answer(op, raw, facts)
        sources = [
            one if isinstance(one, Source) else self.constant(one, op.inputs[min(number, len(op.inputs) - 1)].name)
            for number, one in enumerate(given)
        ]
        return self._call(op, raw, sources, name or type.lower(), found)

    def _answer(self, op: Op, raw: Mapping[str, str], facts: Sequence[Fact]) -> Sequence[Fact] | None:
        """Compute the facts of an operation's outputs, once for equal inputs; of equal ones there is one object.

        Raises:
            UsageError: the runtime does not accept an attribute, or the operation has another number of inputs.
            ShapeError: the operation does not accept these inputs.
        """
        return self._answers.of((op, *raw.items()), facts, self._ask, op, raw, facts)

    def _ask(self, op: Op, raw: Mapping[str, str], facts: Sequence[Fact]) -> Sequence[Fact] | None:
        attrs = _read(op, raw)
        _raise_first(op, check_ports(op, len(facts), 0))
        found = op.outputs_of(attrs, facts)
        _raise_first(op, check_settings(op, raw, attrs, facts))
        return None if found is None else [*map(self._one, found)]

    def _one(self, fact: Fact) -> Fact:
        """Return the one object of the builder for equal facts."""
        if isinstance(fact.value, StoredBounds):
            fact = replace(fact, value=fact.value.loaded())
        key = fact.dtype.name, fact.shape, fact.value and fact.value.content()
        return self._interned.setdefault(key, fact)

    def unchecked(self, op: Op, raw: Mapping[str, str], sources: Sequence[Source], name: str) -> tuple[Source, ...]:
        """Add a layer of one version of an operation without a check of its inputs, and return its outputs.

        If the operation does not accept the inputs, the outputs have an unknown rank.
        """
        try:
            outputs = op.outputs_of(_read(op, raw), [self.fact(source) for source in sources])
            found = None if outputs is None else [*map(self._one, outputs)]
        except ShapeError:
            found = None
        return self._call(op, raw, sources, name, found)

    def _call(
        self, op: Op, raw: Mapping[str, str], sources: Sequence[Source], name: str, found: Sequence[Fact] | None
    ) -> tuple[Source, ...]:
        if found is None:
            dtype = self.fact(sources[0]).dtype if sources else element_type("dynamic")
            found = [self._one(Fact(dtype, None))] * len(op.outputs)
        layer, inputs = self.make(name, op.type, op.version, raw, sources, found)
        self.graph.add_known(layer, inputs)
        made = tuple([Source(layer.id, number) for number in range(len(inputs), len(inputs) + len(found))])
        self._facts.update(zip(made, found, strict=True))
        return made

    def result(self, source: Source, name: str | None = None) -> Layer:
        """Add an output of the model, or of the body.

        Args:
            source: the output port that the Result reads.
            name: a name that is added to the tensor names of that port.

        Raises:
            UsageError: there is no such output port.
        """
        producer, _ = self._output(source)
        if name is not None:
            producer.add_tensor_name(source.port, name)
        return self.graph.add(*self.make(f"{name or producer.name}/result", "Result", 1, {}, [source], ()))

    def insert(
        self, source: Source, type: str, *others: Tensor, name: str | None = None, **attributes: object
    ) -> Source:
        """Insert a layer after an output port: the port's consumers read the new layer, which gets its tensor names.

        Args:
            source: the output port; it becomes the first input of the new layer.
            type: the operation type.
            others: the further inputs of the new layer.
            name: as for `outputs`.
            attributes: as for `outputs`.

        Raises:
            UsageError: as for `outputs`.
            ShapeError: as for `outputs`.
        """
        new = self.call(type, source, *others, name=name, **attributes)
        self.graph.redirect(source, new)
        return new

    def fact(self, source: Source) -> Fact:
        """Return the known facts of an output port: element type, partial shape, and the values of small constants.

        Raises:
            UsageError: there is no such output port.
        """
        if source not in self._facts:
            self._facts[source] = self._one(recorded_output(*self._output(source), self.model.weights))
        return self._facts[source]

    def _output(self, source: Source) -> tuple[Layer, Port]:
        """Return a layer and one of its output ports.

        Raises:
            UsageError: the graph has no such layer, or the layer no such output.
        """
        try:
            layer = self.graph.layer(source.layer)
        except GraphError:
            raise UsageError(f"there is no layer {source.layer} in the graph") from None
        port = find_port(layer.common.outputs, source.port)
        if port is None:
            known = ", ".join(str(port.id) for port in layer.common.outputs) or "none"
            raise UsageError(f"layer '{layer.name}' has no output port {source.port}; it has {known}")
        return layer, port

    def _numbers(self, given: npt.ArrayLike, inputs: Sequence[Tensor]) -> Array:
        """Return numbers as an array; Python floats get the element type of the first output port among the inputs."""
        values = np.asarray(given)
        first = next((other for other in inputs if isinstance(other, Source)), None)
        if isinstance(given, np.ndarray | np.generic) or first is None or values.dtype.kind != "f":
            return values
        return values.astype(self.fact(first).dtype.dtype)

    def make(
        self,
        name: str,
        type: str,
        version: int,
        raw: Mapping[str, str],
        sources: Sequence[Source],
        outputs: Sequence[Fact],
        *,
        offset: int | None = None,
        typed: bool = True,
    ) -> tuple[Layer, dict[int, Source]]:
        """Make a layer with its ports, without adding it to the graph; return it and the sources of its input ports.

        Layers that differ in nothing but name and offset share their content until one of them is changed.

        Args:
            name: the name; a number is appended if another layer has it.
            type: the operation type.
            version: the number of its opset, 8 for `opset8`.
            raw: the attributes as text.
            sources: the output ports that it reads; its input ports record their types and sizes.
            outputs: the facts of its outputs.
            offset: where the bytes of a constant start; then `offset` of `raw` has no meaning.
            typed: whether the input ports record types.
        """
        read = [self._output(source)[1] for source in sources]
        inputs = tuple([(port.precision if typed else None, port.dims) for port in read])
        given = tuple([(fact.dtype.precision, fact.dims) for fact in outputs])
        key = type, version, offset is None, inputs, given, *raw.items()
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = _form(type, version, raw, inputs, given, offset)
        return Layer.of_form(self.graph.new_id(), form, self.graph.new_name(name), offset), dict(enumerate(sources))

    def copy(self, layer: Layer, inputs: Mapping[int, Source], name: str) -> Layer:
        """Add a copy of a layer of another graph, with its bodies and without its tensor names.

        Args:
            layer: the layer.
            inputs: the source of each input port, by port id.
            name: the name of the copy; a number is appended if another layer has it.
        """
        twin = layer.copy(self.graph.new_id())
        twin.tag["name"] = self.graph.new_name(name)
        for port in twin.outputs:
            port.names = ()
        return self.graph.add(twin, inputs)


def _form(
    type: str,
    version: int,
    raw: Mapping[str, str],
    inputs: Sequence[tuple[str | None, tuple[int, ...]]],
    outputs: Sequence[tuple[str | None, tuple[int, ...]]],
    offset: int | None,
) -> LayerForm:
    """Return what a new layer shares with those like it; `inputs`, `outputs`: what its ports record."""
    ports = [Port(number, *record) for number, record in enumerate((*inputs, *outputs))]
    given = {**raw} if offset is None else {**raw, "offset": str(offset)}
    content = LayerContent(given, ports[: len(inputs)], ports[len(inputs) :])
    return LayerForm(type, f"opset{version}", content, has_offset=offset is not None)


def _stored_values(raw: Mapping[str, str], offset: int, weights: Weights) -> Bounds:
    return Bounds.exactly(constant({**raw, "offset": str(offset)}, weights))


def _type_of(dtype: str | ElementType | npt.DTypeLike) -> ElementType:
    if isinstance(dtype, ElementType):
        return dtype
    return element_type(dtype) if isinstance(dtype, str) else from_dtype(np.dtype(dtype))


def _values_of(array: npt.ArrayLike, dtype: str | ElementType | None) -> Array:
    """Return values in an element type, by default their own.

    Raises:
        UsageError: the element type is unknown, or is not one for these values.
    """
    values = np.asanyarray(array)
    if values.dtype.kind == "U":
        values = values.astype(object)
    if dtype is None:
        return values
    kind = _type_of(dtype)
    if (values.dtype == object) != (kind.kind == "string"):
        raise UsageError(f"these values are not of element type {kind}")
    return values if values.dtype == object else in_element_type(values.astype(kind.dtype or values.dtype), kind)


def _key(op: Op, name: str) -> str:
    field = op.attrs.get(name)
    return (field.xml or name) if field else name


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return ",".join(map(_text, value))
    return str(value)


def _read(op: Op, raw: Mapping[str, str]) -> Attrs:
    """Return the typed attributes.

    Raises:
        UsageError: an attribute is missing, unknown, or has a value that is not allowed.
    """
    known = {field.xml or name for name, field in op.attrs.items()}
    unknown = next((key for key in raw if key not in known), None)
    if unknown is not None:
        raise UsageError(f"{op} has no attribute '{unknown}'; its attributes are {', '.join(sorted(known)) or 'none'}")
    violations: list[Violation] = []
    attrs = op.read(raw, violations)
    _raise_first(op, violations)
    assert attrs is not None
    return attrs


def _raise_first(op: Op, violations: Iterable[Violation]) -> None:
    worst = next((violation for violation in violations if not violation.kind.mild), None)
    if worst is not None:
        remedy = f" ({worst.remedy})" if worst.remedy else ""
        raise UsageError(f"{op}: {worst.text}{remedy}")
