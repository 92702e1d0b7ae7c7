"""Migrate a model of IR v2 to v7: every layer is replaced by operations of opset8, or refused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import chain, groupby

import numpy as np

from ir_tools.builder import Builder
from ir_tools.collection import gc_paused
from ir_tools.diagnostics import Severity
from ir_tools.display import plural
from ir_tools.errors import MigrationError, ReadError, RuntimeFailure, ShapeError, UsageError
from ir_tools.format.legacy import Mean, mean_array, means, quantized_layers, statistics
from ir_tools.graph import Graph, Layer, Model, Port, Source
from ir_tools.infer import SURPRISES, ConsistencyCheck, propagate_shapes
from ir_tools.ops import Role, find_op, role_of
from ir_tools.ops.checks import check_ports
from ir_tools.ops.definition import Array, Fact, Op, Refused, ViolationKind
from ir_tools.ops.fields import Attrs
from ir_tools.ops.legacy.definition import Tensor
from ir_tools.ops.records import blob_type, recorded
from ir_tools.rewrite.extraction import drop_unread
from ir_tools.rewrite.legacy_loops import tensor_iterator
from ir_tools.rewrite.migration import Migration, migrate
from ir_tools.rewrite.steps import MigrationStep, RefusedStep, StepPlace
from ir_tools.types import ElementType, Shapes, element_type, format_shape, id_number
from ir_tools.weights import values

__all__ = ["LegacyShapes", "current_model", "migrate_legacy"]

OPSET = 8
"""The new operations are of this opset, which every release since 2022.1 reads."""
PROOF = "as Inference Engine 2020.1 computes it, measured"
HELPERS = {"Const", "Convert"}
"""Types of new layers that say nothing about what replaces a layer."""
ENDS = {"Parameter", "Result", "Assign"}
"""Types of new layers that are kept even if nothing reads them."""
SHARING = {"Add", "BatchNormInference", "Divide", "Equal", "Greater", "Multiply", "Power", "Subtract"}
"""Types of new layers whose equal constants are one layer: numbers to compute with.

Orders and axes are not: 2021.4 rejects a sequence between two Transposes of one order.
"""
LARGEST = 1 << 28
"""Elements of a tensor: no model of that time has so many, and constants of such sizes are made."""
F32 = element_type("f32")


@gc_paused()
def migrate_legacy(
    model: Model, to: str | None = "ir11", passes: str | Sequence[str] = (), *, int8: bool = False
) -> Migration:
    """Return a model of IR v11 with the same inputs and outputs, by name and in the same order.

    Every output is named after the layer that it came from, as callers of that time knew it.

    Args:
        model: of IR v2 to v7.
        to: `ir11`, or what the new model is migrated to: an opset, `ir10`, a release.
        passes: named rewrites to run on the new model.
        int8: put FakeQuantize where `<statistics>` made Inference Engine compute in INT8.

    Raises:
        MigrationError: an unknown target or pass; the model has no outputs, or with `int8` no `<statistics>`.
        ReadError: a blob that a layer depends on cannot be read.
    """
    found = _migration(model, int8=int8)
    if not found.ok:
        return found
    later = migrate(found.model, to, passes, in_place=True)
    drop_unread(later.model, model.weights)
    return Migration(
        model=later.model if later.ok else model,
        steps=(*found.steps, *later.steps),
        refused=later.refused,
        remaining=later.remaining,
        notes=(*found.notes, *later.notes),
    )


def current_model(model: Model) -> Model:
    """Return a model that today's releases read: the model itself, or what a legacy one is migrated to.

    Raises:
        MigrationError: a layer of a legacy model cannot be migrated.
    """
    if not model.is_legacy:
        return model
    found = migrate_legacy(model)
    if not found.ok:
        more = f", and {len(found.refused) - 1} more" if len(found.refused) > 1 else ""
        raise MigrationError(f"IR v{model.version} is migrated before it runs: {found.refused[0]}{more}")
    return found.model


def _migration(model: Model, *, int8: bool) -> Migration:
    """Return the model with new layers; the old model if a layer is refused.

    Raises:
        MigrationError: the model has no outputs, or with `int8` no `<statistics>`.
    """
    ranges = statistics(model) if int8 else {}
    if int8 and not ranges:
        raise MigrationError("the model has no <statistics>, so the ranges for INT8 are not known")
    if not model.outputs:
        raise MigrationError(
            f"the model has no outputs: every output of every layer has a consumer, and in IR v{model.version} "
            "outputs are those without one"
        )
    upgrade = _upgraded(model, ranges)
    if upgrade.refused:
        return Migration(model=model, steps=tuple(upgrade.steps), refused=tuple(upgrade.refused))
    upgrade.remove_unread()
    notes = tuple(_notes(model, upgrade))
    return Migration(model=upgrade.builder.model, steps=tuple(upgrade.steps), notes=notes)


def _upgraded(model: Model, ranges: Mapping[str, tuple[float, float]] | None = None) -> GraphUpgrade:
    """Return the migration of the main graph, with Results unless a layer is refused."""
    new = Model(Graph(), name=model.name, version=11, weights=model.weights.copy(), origin=None, path=None)
    upgrade = GraphUpgrade(model, model.graph, Builder(new, opset=OPSET))
    upgrade.ranges = ranges or {}
    upgrade.replace_all()
    for end in () if upgrade.refused else model.outputs:
        upgrade.builder.result(upgrade.tensors[Source(end.layer.id, end.record.id)], end.name)
    if not upgrade.refused:
        if any(layer.bodies for layer in upgrade.builder.graph.layers()):
            upgrade.refuse_inconsistent()
        upgrade.refuse_unread_variables()
    return upgrade


class LegacyShapes:
    """Implement the protocol `Ask` of shape propagation for a legacy model, answered by the model that it becomes.

    It is migrated at the first question: layers whose inputs are as recorded raise none.
    """

    def __init__(self, model: Model, inputs: Shapes) -> None:
        """Take the model, and the new shapes of its inputs."""
        self._model = model
        self._inputs = inputs

    def __call__(self, model: Model, graph: Graph, layer: Layer, facts: Mapping[Source, Fact]) -> tuple[Fact, ...]:
        """Return the facts of the layer's outputs, with the element types that its ports record.

        Raises:
            RuntimeFailure: the model cannot be migrated, or the layer is in a body.
            ShapeError: what the model becomes cannot take the new shapes.
        """
        known = self._known
        if isinstance(known, str) or graph is not model.graph:
            reason = known if isinstance(known, str) else "layers of bodies keep the sizes that the file records"
            raise RuntimeFailure(reason, kind="rejected")
        found = [(known[Source(layer.id, port.id)], recorded(port)) for port in layer.outputs]
        return tuple(Fact(record.dtype, fact.shape) for fact, record in found)

    @cached_property
    def _known(self) -> Mapping[Source, Fact] | str:
        """What is known of the tensors of the model, or why it cannot be migrated.

        Raises:
            ShapeError: the result cannot take the new shapes.
        """
        try:
            upgrade = _upgraded(self._model)
        except ReadError as why:
            return str(why)
        if upgrade.refused:
            return str(upgrade.refused[0])
        report = propagate_shapes(upgrade.builder.model, self._inputs)
        main = upgrade.builder.graph
        paths = {one.layer.id: one.path for one in upgrade.builder.model.walk() if one.graph is main}
        return {old: report.facts[paths[new.layer], new.port] for old, new in upgrade.tensors.items()}


def _notes(model: Model, upgrade: GraphUpgrade) -> Iterator[str]:
    """Yield what the user should know about the migration of the whole model."""
    quantized = sum(1 for _ in quantized_layers(model))
    if upgrade.ranges:
        rounded = sum(layer.type == "FakeQuantize" for layer in upgrade.builder.graph.layers())
        yield f"{plural(rounded, 'FakeQuantize')} for inputs and weights, with the ranges of <statistics>"
    elif quantized:
        yield (
            f"because of <statistics>, Inference Engine computes {plural(quantized, 'layer')} in INT8; the new "
            "model computes them in f32"
        )


class GraphUpgrade:
    """The migration of one graph: that of a model, or a body.

    Attributes:
        builder: of the new graph.
        fed: what feeds input ports that no edge leads to, by layer and port.
        path: of the layer around a body, as a prefix.
        tensors: of the new graph, by those of the old one.
        steps: the layers that are replaced.
        refused: those that nothing can replace.
        places: of the legacy layers, by the ids of the new ones.
        ranges: lowest and highest value of the tensors that are to be quantized, by the names of their layers.
        shared: constants that several new layers may read, by type, shape and bytes; those of floats also by these.
        records: what ports say in f32, by sizes and precision.
    """

    def __init__(
        self, model: Model, graph: Graph, builder: Builder, fed: Mapping[Source, Source] | None = None, path: str = ""
    ) -> None:
        """Start with nothing replaced."""
        self.model = model
        self.graph = graph
        self.builder = builder
        self.means = means(model) if graph is model.graph else {}
        self.fed = fed or {}
        self.path = path
        self.tensors: dict[Source, Source] = {}
        self.steps: list[MigrationStep] = []
        self.refused: list[RefusedStep] = []
        self.places: dict[int, StepPlace] = {}
        self.ranges: Mapping[str, tuple[float, float]] = {}
        self.shared: dict[object, Source] = {}
        self.records: dict[tuple[tuple[int, ...], str | None], Fact] = {}

    def replace_all(self) -> None:
        """Add what replaces the layers of the graph; behind one that is refused, nothing is tried."""
        with np.errstate(all="ignore"):
            for layer in self.graph.ordered():
                sources = self.graph.sources(layer.id)
                inputs = [self._input(layer, port.id, sources) for port in layer.common.inputs]
                if all(source in self.tensors for source in sources.values()):
                    self._replace(layer, [tensor for tensor in inputs if tensor is not None])

    def refuse_inconsistent(self) -> None:
        """Refuse the layers of the main graph whose new ones, or their bodies, contradict themselves.

        The builder refuses that of layers without bodies.
        """
        check = ConsistencyCheck(self.builder.model)
        problems = [one for one in check.problems if (one.severity or one.rule.severity) is Severity.ERROR]
        outer, owners = -1, dict[int, int]()
        for located in self.builder.model.walk() if problems else ():
            outer = located.layer.id if located.graph is self.builder.graph else outer
            owners[id(located.layer)] = outer
        for problem in problems:
            new = problem.layer
            unknown = StepPlace(new.name, new.id, None, new.type, ())
            self.refused.append(self.places.get(owners[id(new)], unknown).refused(Refused(problem.message)))

    def refuse_unread_variables(self) -> None:
        """Refuse the layers that store a variable which none reads: no later release has one."""
        layers = [*self.builder.graph.layers()]
        read = {layer.common.raw["variable_id"] for layer in layers if layer.type == "ReadValue"}
        for layer in layers:
            if layer.type == "Assign" and layer.raw["variable_id"] not in read:
                why = Refused(f"no Memory with index=\"1\" reads the variable '{layer.raw['variable_id']}'", "id")
                self.refused.append(self.places[layer.id].refused(why))

    def within(self, layer: Layer, body: Graph, builder: Builder, fed: Mapping[Source, Source]) -> GraphUpgrade:
        """Return the migration of a body of a layer, whose steps are among those of this one."""
        inner = GraphUpgrade(self.model, body, builder, fed, f"{self.path}{layer.name}/body/")
        inner.steps, inner.refused = self.steps, self.refused
        return inner

    def remove_unread(self) -> None:
        """Remove new layers that lead to no output: constants that were read for sizes alone."""
        graph = self.builder.graph
        todo = [layer.id for layer in graph.layers() if layer.type in ENDS]
        kept = {*todo}
        while todo:
            for producer in graph.producers(todo.pop()):
                if producer not in kept:
                    kept.add(producer)
                    todo.append(producer)
        graph.remove_nodes_from([layer_id for layer_id in graph if layer_id not in kept])

    def recorded(self, port: Port) -> Fact:
        """Return what a port says, with f32 for other floats."""
        key = port.dims, port.precision
        if key not in self.records:
            self.records[key] = _in_f32(recorded(port))
        return self.records[key]

    def _input(self, layer: Layer, port: int, sources: Mapping[int, Source]) -> Source | None:
        """Return what feeds an input port, in the new graph."""
        return self.tensors.get(sources[port]) if port in sources else self.fed.get(Source(layer.id, port))

    def _replace(self, layer: Layer, inputs: Sequence[Source]) -> None:
        """Add what replaces a layer, or note why nothing can."""
        graph = self.builder.graph
        first = graph.new_id()
        replacement = Replacement(self, layer, inputs)
        found = _replacement(replacement)
        line = self.model.line_of(self.graph, layer.id)
        step = StepPlace(self.path + layer.name, layer.id, line, layer.type, tuple(replacement.notes))
        if isinstance(found, Refused):
            self.refused.append(step.refused(found))
            return
        made = [graph.layer(new) for new in range(first, graph.new_id())]
        self.places.update(dict.fromkeys(range(first, graph.new_id()), step))
        self._name(layer, found, made)
        if layer.name in self.means and replacement.role is Role.PARAMETER:
            self._subtract(layer, found[0], self.means[layer.name])
        if not step.notes and _unchanged(replacement, made):
            return
        after = _in_words(tuple([new.type for new in made]))
        self.steps.append(step.migrated(after, after, PROOF))

    def _subtract(self, layer: Layer, data: Source, channels: Sequence[Mean]) -> None:
        """Put the subtraction of the means of `<pre-process>` behind an input.

        Raises:
            ShapeError: they do not fit the input.
        """
        shape = [dim.lo for dim in self.builder.fact(data).shape or ()]
        numbers = mean_array(layer.name, channels, shape, self.builder.model.weights)
        mean = self.builder.constant(numbers, f"{layer.name}/mean")
        found = self.builder.call("Subtract", data, mean, name=f"{layer.name}/normalized")
        self.tensors[Source(layer.id, layer.outputs[0].id)] = found

    def _name(self, layer: Layer, found: Sequence[Source], made: Sequence[Layer]) -> None:
        """Give the name of the layer to the one that stands for it, and to its tensors."""
        graph, new = self.builder.graph, {one.id for one in made}
        if found[0].layer in new and graph.layer(found[0].layer).name != layer.name:
            graph.rename(found[0].layer, graph.new_name(layer.name))
        for index, (port, tensor) in enumerate(zip(layer.common.outputs, found, strict=False)):
            name = layer.name if len(layer.common.outputs) == 1 else f"{layer.name}.{index}"
            graph.layer(tensor.layer).add_tensor_name(tensor.port, name)
            self.tensors[Source(layer.id, port.id)] = tensor


class Replacement:
    """A legacy layer, with what is added in its place: see `LegacyLayer`.

    Attributes:
        declared: what the file says of the outputs; half floats are f32.
    """

    def __init__(self, upgrade: GraphUpgrade, layer: Layer, inputs: Sequence[Source]) -> None:
        """Start with nothing added; `inputs` are tensors of the new graph."""
        self.upgrade = upgrade
        self.builder = upgrade.builder
        self.layer = layer
        self.inputs = tuple(inputs)
        self.role = role_of(layer)
        self.attrs = Attrs({})
        self.notes: list[str] = []
        self.declared: Sequence[Fact] = [upgrade.recorded(port) for port in layer.common.outputs]

    @property
    def type(self) -> str:
        """The name of its type, in the case of the file."""
        return self.layer.type

    @property
    def input_range(self) -> tuple[float, float] | None:
        """The range of `<statistics>` of the first input, for a layer that its file marks as INT8."""
        if self.layer.raw.get("quantization_level") != "I8":
            return None
        graph = self.upgrade.graph
        source = graph.sources(self.layer.id)[self.layer.inputs[0].id]
        return self.upgrade.ranges.get(graph.layer(source.layer).name)

    @property
    def readers(self) -> Set[str]:
        """The types of the layers that read its outputs, in lower case."""
        graph = self.upgrade.graph
        found = (graph.consumers(self.layer.id, port.id) for port in self.layer.outputs)
        return {graph.layer(reader).type.lower() for reader, _ in chain.from_iterable(found)}

    def fact(self, tensor: Source) -> Fact:
        """Return what is known of a tensor of the new graph."""
        return self.builder.fact(tensor)

    def sizes(self, tensor: Source) -> tuple[int, ...]:
        """Return the sizes of a tensor of the new graph."""
        return tuple(dim.lo for dim in self.fact(tensor).shape or ())

    def numbers(self, tensor: Source) -> Array | None:
        """Return the numbers of a constant of the new graph, half floats as f32.

        None for any other tensor, and without a `.bin`.

        Raises:
            ReadError: they cannot be read.
        """
        graph, layer = self.builder.graph, self.builder.graph.layer(tensor.layer)
        if layer.type == "Convert":
            layer = graph.layer(next(iter(graph.producers(layer.id))))
        known = layer.type == "Const" and not self.builder.model.weights.missing
        return _numbers(layer.raw, self.builder.model) if known else None

    def call(self, type: str, *inputs: Tensor, **attributes: object) -> Source:
        """Add an operation and return its first output."""
        return self.outputs(type, *inputs, **attributes)[0]

    def outputs(self, type: str, *inputs: Tensor, **attributes: object) -> tuple[Source, ...]:
        """Add an operation and return all of its outputs."""
        constant = self._shared if type in SHARING else self.constant
        given = [each if isinstance(each, Source) else constant(each) for each in inputs]
        return self.builder.outputs(type, *given, name=f"{self.layer.name}/{type}", **attributes)

    def converted(self, tensor: Source, dtype: ElementType) -> Source:
        """Return a tensor as another element type; floats are rounded to integers, as Inference Engine did."""
        given = self.fact(tensor).dtype
        if given == dtype:
            return tensor
        if given.is_float and dtype.is_integer:
            tensor = self.call("Round", tensor, mode="half_to_even")
        return self.call("Convert", tensor, destination_type=dtype.name)

    def constant(self, numbers: Array | float | Sequence[int] | Sequence[float]) -> Source:
        """Add a constant: f32 for floats, i64 for integers; arrays keep their type."""
        return self.builder.constant(_array(numbers), f"{self.layer.name}/constant")

    def _shared(self, numbers: Array | float | Sequence[int] | Sequence[float]) -> Source:
        """Return the constant of the new graph that holds the same numbers; add it if there is none.

        Only inputs of certain new layers are: what takes the place of a layer gets its name.
        """
        shared = self.upgrade.shared
        number = numbers.hex() if isinstance(numbers, float) else None
        if number is not None and number in shared:
            return shared[number]
        array = _array(numbers)
        key = array.dtype, array.shape, array.tobytes()
        if key not in shared:
            shared[key] = self.constant(array)
        if number is not None:
            shared[number] = shared[key]
        return shared[key]

    def blob_size(self, name: str) -> int:
        """Return how many elements a blob has; 0 if it is absent."""
        found = self._extent(name)
        return _elements(*found[1:]) if found else 0

    def blob(self, name: str, shape: Sequence[int] | None = None) -> Source:
        """Return a blob as an f32 tensor that takes its bytes from the `.bin`.

        Raises:
            ShapeError: the blob is absent, or has too few bytes.
        """
        offset, kind, sizes = self._stored(name, shape)
        stored = self.builder.stored(offset, kind, sizes, f"{self.layer.name}/{name}")
        if kind == F32 or not kind.is_float:
            return stored
        return self.builder.call("Convert", stored, name=f"{self.layer.name}/{name}/f32", destination_type="f32")

    def blob_values(self, name: str) -> Array:
        """Return the numbers of a blob, as a list; half floats as f32.

        Raises:
            ShapeError: the blob is absent.
        """
        offset, kind, sizes = self._stored(name, None)
        size = self.blob_size(name) * kind.bits // 8
        raw = {"element_type": kind.name, "shape": ",".join(map(str, sizes)), "offset": str(offset), "size": str(size)}
        return _numbers(raw, self.builder.model)

    def iterate(self) -> tuple[Source, ...] | Refused:
        """Add a TensorIterator with the migrated body of the layer and return its outputs."""
        return tensor_iterator(self.upgrade, self.layer, self.inputs, self.declared)

    def blob_bytes(self, name: str) -> Array:
        """Return the bytes of a blob as u8.

        Raises:
            ShapeError: the blob is absent.
        """
        found = self._extent(name)
        if found is None:
            raise ShapeError(f"the layer has no {name}")
        return np.frombuffer(self.builder.model.weights.view(*found[:2]), np.uint8)

    def note(self, text: str) -> None:
        """Tell the user something about the layer."""
        self.notes.append(text)

    def _stored(self, name: str, shape: Sequence[int] | None) -> tuple[int, ElementType, tuple[int, ...]]:
        found = self._extent(name)
        if found is None:
            raise ShapeError(f"the layer has no {name}")
        offset, size, kind = found
        count = _elements(size, kind)
        sizes = (count,) if shape is None else tuple(map(int, shape))
        needed = math.prod(sizes)
        if needed > count:
            raise ShapeError(f"the {name} have {count} values; expected {needed}")
        weights, end = self.builder.model.weights, offset + kind.byte_size(needed)
        if end > weights.stored and not weights.missing:
            raise ShapeError(f"the {name} end at byte {end}, but the .bin has {weights.stored} bytes")
        return offset, kind, sizes

    def _extent(self, name: str) -> tuple[int, int, ElementType] | None:
        """Return offset and size in bytes of a blob, and its element type."""
        blob = self.layer.common.blobs.get(name)
        if blob is None:
            return None
        offset, size = id_number(blob.get("offset")), id_number(blob.get("size"))
        kind = blob_type(self.layer.common, name)
        if offset is None or size is None or kind is None:
            raise ShapeError(f"the offset, size or precision of the {name} is invalid")
        return offset, size, kind


def _replacement(replacement: Replacement) -> Sequence[Source] | Refused:
    """Return the outputs of what replaces a layer; they have the sizes that the file declares."""
    layer = replacement.layer
    op = find_op(layer.type, layer.version)
    if any(math.prod(port.dims) > LARGEST for port in layer.common.outputs):
        return Refused(f"it records an output of more than {LARGEST} elements")
    if op is None:
        return Refused(f"there is no layer type '{layer.type}' in IR v2 to v7")
    violations = [*check_ports(op, len(replacement.inputs), len(layer.common.outputs))]
    if violations:
        return Refused(violations[0].message)
    attrs = op.read(layer.common.raw, violations)
    if attrs is None:
        worst = next(violation for violation in violations if violation.kind is not ViolationKind.UNKNOWN)
        return Refused(worst.message, worst.attribute)
    replacement.attrs = attrs
    try:
        found = _built(op, replacement)
    except (ShapeError, UsageError) as why:
        return Refused(str(why))
    except SURPRISES:
        return Refused("its attributes, blobs and sizes contradict each other")
    if isinstance(found, Refused):
        return found
    if not found or len(found) < len(layer.common.outputs):
        return Refused(f"it has {plural(len(layer.common.outputs), 'output port')}; expected {len(found)}")
    for tensor, declared in zip(found, replacement.declared, strict=False):
        given, wanted = replacement.fact(tensor).shape, declared.shape or ()
        if given != wanted:
            return Refused(f"its output is [{format_shape(given)}], but the file records [{format_shape(wanted)}]")
    pairs = [*zip(found, replacement.declared, strict=False)]
    return [replacement.converted(tensor, declared.dtype) for tensor, declared in pairs] or found


@lru_cache(1 << 10)
def _in_words(types: tuple[str, ...]) -> str:
    """Return what replaces a layer, by the types of the new layers."""
    main = [type for type in types if type not in HELPERS] or types[-1:]
    return " + ".join(type for type, _ in groupby(main)) or "its input"


def _unchanged(replacement: Replacement, made: Sequence[Layer]) -> bool:
    """Return whether a layer of its type with the same attributes or numbers takes the place of a layer."""
    layer = replacement.layer
    op = find_op(layer.type, layer.version)
    if op is None or [new.type for new in made] != [layer.type]:
        return False
    names = [spec.xml or name for name, spec in op.attrs.items() if replacement.attrs[name] != spec.absent]
    raw = layer.common.raw
    given = {name: raw.get(name) for name in names}
    return replacement.role is Role.CONSTANT or given.items() <= made[0].common.raw.items() <= raw.items()


def _built(op: Op, replacement: Replacement) -> Sequence[Source] | Refused:
    """Add what replaces a layer."""
    if op.role is Role.PARAMETER:
        declared = replacement.declared[0]
        return [replacement.builder.parameter(replacement.layer.name, declared.shape or (), declared.dtype)]
    if op.role is Role.CONSTANT:
        return [replacement.blob("custom", [dim.lo for dim in replacement.declared[0].shape or ()])]
    if op.upgrade is None:
        return Refused(f"a layer of type {op} cannot be migrated")
    return op.upgrade(replacement)


def _elements(size: int, kind: ElementType) -> int:
    """Return how many elements of a type bytes hold."""
    return size * 8 // kind.bits


def _array(numbers: Array | float | Sequence[int] | Sequence[float]) -> Array:
    """Return f32 for floats, i64 for integers; arrays keep their type."""
    array = np.asarray(numbers)
    return array.astype(np.float32) if not isinstance(numbers, np.ndarray) and array.dtype.kind == "f" else array


def _numbers(raw: Mapping[str, str], model: Model) -> Array:
    """Return the numbers of a constant, half floats as f32."""
    found = values(raw, model.weights)
    return found.astype(np.float32) if found.dtype.kind == "f" else found


def _in_f32(fact: Fact) -> Fact:
    """Return the fact with f32 for other floats, as Inference Engine computed with them."""
    return Fact(F32 if fact.dtype.is_float or fact.dtype.kind == "dynamic" else fact.dtype, fact.shape)
