"""What a file needs besides operations to be read by a release, or as another IR version: types, sizes, names."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import filterfalse

from ir_tools.builder import Builder
from ir_tools.display import plural
from ir_tools.graph import Endpoint, Layer, Located, Model, Port, Source, output_name, port_place
from ir_tools.inputs import plan_inputs
from ir_tools.known_differences.model_problems import (
    BRACKETS,
    EMPTY_FILE,
    EQUAL_TENSORS,
    FREE_RT_INFO,
    SHARED_ENDS,
    TAKEN_NAMES,
    WORDS,
    border_names,
    border_problems,
    flags_in_words,
    input_problem,
    lacks_bytes,
    stopped_by,
    text_problems,
)
from ir_tools.known_differences.packed_weights import PackedWeights
from ir_tools.known_differences.releases import release_differences
from ir_tools.known_differences.surroundings import Surroundings, quantized_note
from ir_tools.known_differences.verdicts import UNKNOWN_RANK, Answer, Unread
from ir_tools.ops import Role, find_op, role_of
from ir_tools.ops.definition import Array, Refused
from ir_tools.ops.records import recorded
from ir_tools.releases.measured import State
from ir_tools.releases.table import PARAMETERS_OF_10, RESULTS_OF_10, Release
from ir_tools.rewrite.facts import KnownFacts
from ir_tools.rewrite.release_answers import ReleaseAnswers
from ir_tools.rewrite.rewriter import remove_unread
from ir_tools.rewrite.steps import MigrationStep, RefusedStep, StepPlace
from ir_tools.rewrite.target import INPUTS_OF_2021, Target, releases_in_words
from ir_tools.types import element_type, is_static, parse_shape, precision_in_file
from ir_tools.weights import values

__all__ = ["Fitting"]

DUPLICATE_NAMES = (2024, 1)
"""The first release that reads two layers of one name in IR v11. Measured."""
AXES_FROM_END = (2022, 2)
"""The first release that joins sizes, for a Reshape, along an axis that is counted from the end. Measured."""
SWAPPED_BEFORE = {"u4": (2023, 2), "i4": (2023, 2), "u2": (2025, 3)}
"""The first releases that read constants of these types with the elements of a byte in the right order. Measured."""
UNPACKED_FROM = (2024, 4)
"""The first release that unpacks constants of nf4 however they are used; of 4 bits it is an older one. Measured."""
DOES = {
    Answer.STOPPED: "does not read",
    Answer.READS: "does not run",
    Answer.DIFFERS: "computes other values for",
}
"""What a release does with a layer, in a sentence."""
STORED_AS = {
    **{"i4": "i8", "u4": "u8", "u2": "u8", "u3": "u8", "u6": "u8"},
    **{"f8e4m3": "f16", "f8e5m2": "f16", "f4e2m1": "f16", "nf4": "f32", "f8e8m0": "f32"},
}
"""Types that hold all values of another one, for constants."""


@dataclass(slots=True)
class Fitting:
    """What is done to a model besides rewriting operations.

    Attributes:
        model: the model, or the copy of it that is changed.
        target: the release or IR version.
        steps: layers that were changed.
        notes: what a caller of the model should know.
        freed: whether constants no longer read bytes that they read.
    """

    model: Model
    target: Target
    steps: list[MigrationStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    freed: bool = False
    _called: dict[str, dict[int, None]] = field(default_factory=partial(defaultdict, dict), init=False)
    """Layers of the main graph by name, while names are changed."""

    @property
    def version(self) -> int:
        """The IR version that the model gets."""
        return self.target.version or self.model.version

    @property
    def needed(self) -> bool:
        """Whether the target asks for more than operations."""
        return self.target.release is not None or self.version != self.model.version

    def refused(self) -> tuple[RefusedStep, ...]:
        """Return the layers that a release cannot read, whatever is done here."""
        release = self.target.release
        if release is None:
            return ()
        layers = [*filter(Surroundings(self.model).is_read, self.model.walk())]
        kinds = [(one.layer.type, id(one.layer.common)) for one in layers]
        examples = {kind: located.layer for kind, located in zip(kinds, layers, strict=True)}

        def chosen(asks: Callable[[Layer], bool]) -> list[Located]:
            """Return the layers for which a function returns True, asked once about those that share their content."""
            found = {kind for kind, layer in examples.items() if asks(layer)}
            return [one for kind, one in zip(kinds, layers, strict=True) if kind in found] if found else []

        missing = chosen(partial(_lacks_types, release=release))
        found = [(located, reason) for located in missing if (reason := _missing_type(located, release))]
        found += self._uncompiled_inputs(release)
        if not release.dynamic:
            found += self._dynamic(release, chosen(_is_dynamic))
        else:
            for end in self.model.inputs:
                if parse_shape(end.layer.raw.get("shape", "")) is None:
                    located = Located(end.layer.name, end.layer, self.model.graph)
                    remedy = f"set the rank of the input: ir-tools shapes MODEL --set {end.layer.name}=?,? -o OUT.xml"
                    found.append((located, f"{release.title}: {UNKNOWN_RANK}; {remedy}"))
        return tuple(self._place(located).refused(Refused(reason)) for located, reason in found)

    def _uncompiled_inputs(self, release: Release) -> Iterator[tuple[Located, str]]:
        """Yield the inputs of types that the release reads and does not compile, and which releases do."""
        for end in self.model.inputs:
            kind, problem = end.layer.raw.get("element_type", "").lower(), input_problem(end.layer)

            def takes(one: Release, kind: str = kind, problem: str = problem) -> bool:
                return one.has_type(kind) and not stopped_by(one, problem)

            if problem and release.has_type(kind) and not takes(release):
                reason = f"{release.title}: {problem}; {releases_in_words(takes, 'compile')}"
                yield Located(end.layer.name, end.layer, self.model.graph), reason

    def _dynamic(self, release: Release, dynamic: Sequence[Located]) -> list[tuple[Located, str]]:
        """Return the inputs of unknown size, or if there are none the layers, and what to do about each."""
        if not dynamic:
            return []
        reason = f"{release.title} does not support dynamic shapes"
        names = {end.layer.id: end.name for end in self.model.inputs}
        inputs = [one for one in dynamic if one.graph is self.model.graph and one.layer.id in names]
        if not inputs:
            remedy = "OpenVINO 2022.1 and later support them, but this shape depends on the data"
            return [(located, f"{reason}; {remedy}") for located in dynamic]
        sizes = {entry.name: ",".join(map(str, entry.shape)) for entry in plan_inputs(self.model).inputs}
        remedy = "set static sizes of the input: --set"
        return [(one, f"{reason}; {remedy} {one.layer.name}={sizes[names[one.layer.id]]}") for one in inputs]

    def apply(self, model: Model, answers: ReleaseAnswers | None) -> None:
        """Change the model, or a copy of it; `answers`: of the model as it is, None if the target is not a release."""
        self.model, version = model, self.version
        release = self.target.release
        if release is not None:
            self._fit_release(release)
        if version == 10:
            self._separate_outputs(release)
        if version > model.version:
            self._to_11()
        layers_stay = not self.steps  # the rest changes names alone
        if version < model.version:
            self._to_10()
        if version == 10:
            self._drop_tensor_names(release)
        if version == 10 or (release is not None and release.number < DUPLICATE_NAMES):
            self._name_apart()
        if release is not None:
            known = answers is not None and layers_stay and (answers.model is model or not self.steps)
            self._note_differences(release, answers if known else None)

    # --- a release --------------------------------------------------------------------------------------------------

    def _fit_release(self, release: Release) -> None:
        dropped, around = 0, Surroundings(self.model)
        free, counted = not stopped_by(release, FREE_RT_INFO), stopped_by(release, WORDS)
        from_end = release.number >= AXES_FROM_END
        for located in self._remove_unread(release, around):
            layer, role = located.layer, role_of(located.layer)
            if layer.id not in located.graph:
                continue
            if role is Role.CONSTANT and around.is_read(located):
                self._fit_constant(located, release, around)
            if role is Role.PARAMETER:
                self._fit_parameter(located, release)
            if counted and flags_in_words(layer):
                self._number_flags(located)
            if not from_end and layer.type == "Concat" and layer.common.raw.get("axis") == "-1":
                self._count_axis(located)
            if not free and FREE_RT_INFO in text_problems(layer, self.version):
                dropped += 1
                layer.content.rt_info = [row for row in layer.rt_info if "version" in row]
        if lacks_bytes(self.model) and stopped_by(release, EMPTY_FILE):
            self.model.weights.append(bytes(1))
        if dropped:
            layers = plural(dropped, "layer")
            self.notes.append(f"rt_info without a version removed from {layers}: {release.title} does not read it")

    def _remove_unread(self, release: Release, around: Surroundings) -> Sequence[Located]:
        """Remove layers that no Result needs and whose ports the release cannot read, with those that read them.

        Returns all other layers.
        """
        layers, count = [*self.model.walk()], len(self.steps)
        for located in filterfalse(around.is_read, layers):
            _, layer, graph = located
            if layer.id not in graph:
                continue
            problem = Unread.of(layer).verdict(release)
            if problem is not None:
                readers = graph.behind(layer.id)
                more = f", with {plural(len(readers), 'layer')} behind it" if readers else ""
                self._step(located, "nothing", "removed", f"no Result needs it{more}; {release.title}: {problem[1]}")
                graph.remove_nodes_from({layer.id, *readers})
                self.freed = True
        return layers if len(self.steps) == count else [*self.model.walk()]

    def _note_differences(self, release: Release, answers: ReleaseAnswers | None) -> None:
        """Note the layers that give other values on the release, though it reads them, and quantized tensors.

        `answers`: of this model or of one with the same layers, if there is one.
        """
        self.notes += filter(None, [quantized_note(self.model)])
        if answers is None:
            answers = ReleaseAnswers(self.model, KnownFacts(self.model), release, self.version)
        found: dict[tuple[str, Answer, str], list[str]] = {}
        for located in filter(answers.is_read, answers.model.walk(answers.may_stop)):
            op = answers.known.signatures.of(located.layer)[0].op
            does = None if op is None else answers.does(located, op)
            if does is not None:
                found.setdefault((str(op), *does), []).append(located.path)
        for (op_name, answer, reason), paths in found.items():
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            self.notes.append(f"{release.title} {DOES[answer]} '{paths[0]}'{more} ({op_name}): {reason}")

    def _fit_constant(self, located: Located, release: Release, around: Surroundings) -> None:
        """Store a constant in another type if the release does not read it rightly, or does not compute with it."""
        _, layer, graph = located
        kind = layer.common.raw.get("element_type", "").lower()
        packed = PackedWeights.of(self.model, graph, layer, around.origins[id(graph)])
        op = find_op(layer.type, layer.version)
        if not _right(release, kind):
            self._store_wider(located, f"{release.title} does not read {kind} correctly")
        elif packed is not None and (uses := packed.uses) and op is not None:
            outputs = [recorded(port) for port in layer.common.outputs]
            for row in release_differences(release, around.seen(located, op, (), outputs, self.version), anywhere=True):
                reason = f"{release.title}: {row.reason.rstrip('.')}"
                if row.state is State.UNCOMPILED and kind in STORED_AS and release.number < UNPACKED_FROM:
                    self._store_wider(located, reason)
                else:
                    numbers = packed.unpacked()
                    if numbers is not None and "both ways" in uses and packed.turns:
                        self._turn(packed, numbers, reason)
                    if numbers is not None and "square both ways" not in uses:
                        self._unpack(packed, numbers, reason)
                    around.origins.clear()
                break

    def _turn(self, packed: PackedWeights, numbers: Array, reason: str) -> None:
        """Give the MatMuls that do not transpose weights the transposed ones, which they are to transpose."""
        for reader in packed.readers:
            source = packed.graph.source(reader.layer.id, reader.port)
            if reader.second and not reader.by_rows and source is not None:
                located = Located(reader.layer.name, reader.layer, packed.graph)
                read = recorded(packed.graph.layer(source.layer).port(source.port))
                if not is_static(read.shape):
                    continue
                matrix = numbers.reshape([size.size for size in read.shape or ()]).astype(read.dtype.dtype)
                made = Builder(self.model, graph=packed.graph).constant(matrix.T, f"{packed.constant.name}/transposed")
                packed.graph.connect(made, reader.layer.id, reader.port)
                reader.layer.port(reader.port).dims = matrix.T.shape
                reader.layer.raw["transpose_b"] = "true"
                self._step(located, "MatMul", "weights transposed", f"two transpositions cancel; {reason}")

    def _unpack(self, packed: PackedWeights, numbers: Array, reason: str) -> None:
        """Put the numbers that layers make of a constant of few bits in the place of the last of them."""
        graph, last = packed.graph, packed.last
        located = Located(last.name, last, graph)
        made = Builder(self.model, graph=graph).constant(numbers, last.name)
        kind = _type_name(graph.layer(made.layer).outputs[0])
        self._step(located, f"Const of {kind}", "unpacked", f"the layers have constant inputs; {reason}")
        graph.redirect(Source(last.id, last.outputs[0].id), made)
        remove_unread([(graph, last.id)])
        self.freed = True

    def _store_wider(self, located: Located, reason: str) -> None:
        """Store a constant in a type that holds all of its values; the Converts behind it go on from there."""
        _, layer, graph = located
        old = layer.raw["element_type"].lower()
        new = element_type(STORED_AS[old])
        assert new.dtype is not None
        numbers = values(layer.raw, self.model.weights).astype(new.dtype)
        offset, size = self.model.weights.append(numbers)
        layer.raw.update(element_type=new.name, offset=str(offset), size=str(size))
        self.freed = True
        for output in layer.outputs:
            output.precision = new.precision
            for consumer, port in graph.consumers(layer.id, output.id):
                graph.layer(consumer).port(port).precision = new.precision
        strategy = f"stored as {new}"
        self._step(located, f"Const of {new}", strategy, f"{new} holds every value of {old}; {reason}")

    def _count_axis(self, located: Located) -> None:
        """Count the axis of a Concat of lists from the front."""
        _, layer, _ = located
        if len(layer.outputs[0].dims) == 1:
            layer.raw["axis"] = "0"
            self._step(located, "Concat", "axis 0", "the only axis is the last one")

    def _number_flags(self, located: Located) -> None:
        """Write flags as numbers."""
        _, layer, _ = located
        for name in flags_in_words(layer):
            layer.raw[name] = str(int(layer.raw[name].lower() == "true"))
        self._step(located, layer.type, "flags as numbers", "0 is false, and 1 is true")

    def _fit_parameter(self, located: Located, release: Release) -> None:
        _, layer, graph = located
        kind = layer.raw.get("element_type", "").lower()
        if BRACKETS in text_problems(layer, self.version) and stopped_by(release, BRACKETS):
            layer.raw["shape"] = layer.raw["shape"].strip().strip("[]")
        if graph is self.model.graph and not release.dynamic and kind in INPUTS_OF_2021:
            new = INPUTS_OF_2021[kind]
            self._retype_parameter(layer, new)
            self.notes.append(
                f"input '{layer.name}' has element type {new}, because {release.title} does not support inputs of "
                f"{kind}"
            )
            self._step(
                located, f"Parameter of {new} + Convert", f"takes {new}", f"a Convert to {kind} follows the input"
            )

    # --- IR versions ------------------------------------------------------------------------------------------------

    def _to_10(self) -> None:
        """Make a file of IR v10: a caller finds inputs and outputs by the names of layers, in fewer types."""
        self.model.version = 10
        for end in self.model.inputs:
            self._call_layer(end.layer, end.name)
            kind = end.layer.raw.get("element_type", "").lower()
            if kind in PARAMETERS_OF_10:
                self.notes.append(
                    f"input '{end.name}' has element type {PARAMETERS_OF_10[kind]} in IR v10; it is {kind} in the file"
                )
        taken = set[int]()
        for end in self.model.outputs:
            for source in self.model.graph.sources(end.layer.id).values():
                layer = self.model.graph.layer(source.layer)
                ports = layer.common.outputs
                if len(ports) > 1 or role_of(layer) is Role.PARAMETER or layer.id in taken:
                    name = output_name(layer, port_place(ports, source.port) or 0)
                    if name != end.name:
                        self.notes.append(f"output '{end.name}' is called '{name}' in IR v10")
                else:
                    taken.add(layer.id)
                    self._call_layer(layer, end.name)
            kind = _type_name(end.record)
            if kind in RESULTS_OF_10:
                self.notes.append(
                    f"output '{end.name}' has element type {RESULTS_OF_10[kind]} in IR v10; it is {kind} in the file"
                )

    def _separate_outputs(self, release: Release | None) -> None:
        """Let outputs of IR v10 that share a tensor read one of their own, if the release asks for it.

        Outputs of IR v10 go by the names of layers, so a model of IR v11 gets one for each output.
        """
        graph = self.model.graph
        shared = {
            source
            for problem, source in border_problems(graph)
            if problem in SHARED_ENDS and (release is None or stopped_by(release, problem))
        }
        given, builder = set[Source](), Builder(self.model)
        for end in self.model.outputs:
            for port_id, source in graph.sources(end.layer.id).items():
                taken = source in given or role_of(graph.layer(source.layer)) is Role.PARAMETER
                if taken and (source in shared or (source in given and self.model.version > 10)):
                    self._repeat(builder, source, end, port_id)
                given.add(source)

    def _repeat(self, builder: Builder, source: Source, end: Endpoint, port_id: int) -> None:
        """Let a Result read a tensor of its own, with the values of another one."""
        graph, port = self.model.graph, self.model.graph.layer(source.layer).port(source.port)
        name = graph.new_name(f"{end.name}/2" if end.name in port.names else end.name)
        made = builder.call("Convert", source, name=name, destination_type=_type_name(port))
        graph.connect(made, end.layer.id, port_id)
        if name != end.name:
            self.notes.append(f"output '{end.name}' is called '{name}' in IR v10")
        located = Located(end.layer.name, end.layer, graph)
        self._step(located, "Convert + Result", "a separate tensor", "a Convert to the same type changes nothing")

    def _drop_tensor_names(self, release: Release | None) -> None:
        """Remove tensor names of inputs and outputs of IR v10 that others have, if the release asks for it."""
        graph = self.model.graph
        problems = {problem for problem, _ in border_problems(graph)} & {EQUAL_TENSORS, TAKEN_NAMES}
        if not any(release is None or stopped_by(release, problem) for problem in problems):
            return
        called = border_names(graph)
        holders = {name: source for source, name in called.items()}
        for source in sorted(called, key=called.__getitem__):
            layer = graph.layer(source.layer)
            names = layer.tensor_names(source.port)
            kept = tuple(name for name in names if holders.setdefault(name, source) == source)
            if kept != names:
                lost = ", ".join(name for name in names if name not in kept)
                self.notes.append(f"the output of '{layer.name}' loses the tensor names that others have: {lost}")
                located = Located(layer.name, layer, graph)
                self._step(located, layer.type, "fewer tensor names", "names do not change values")
                layer.port(source.port).names = kept

    def _call_layer(self, layer: Layer, name: str) -> None:
        """Give a layer the name of its tensor, by which a caller of IR v10 asks for it."""
        graph = self.model.graph
        if layer.name == name:
            return
        if not self._called:
            for one in graph.layers():
                self._called[one.name][one.id] = None
        other = next(iter(self._called[name]), None)
        if other is not None:
            self._rename(graph.layer(other), graph.new_name(f"{name}/{graph.layer(other).type.lower()}"))
        located = Located(layer.name, layer, graph)
        self._step(
            located, f"{layer.type} '{name}'", "named after its tensor", "callers of IR v10 use the names of layers"
        )
        self._rename(layer, name)

    def _rename(self, layer: Layer, name: str) -> None:
        del self._called[layer.name][layer.id]
        self._called[name][layer.id] = None
        self.model.graph.rename(layer.id, name)

    def _to_11(self) -> None:
        """Make a file of IR v11: tensors get the names of layers, and types are converted to what IR v10 gave."""
        self.model.version = 11
        builder = Builder(self.model)
        for end in self.model.inputs:
            kind = end.layer.raw.get("element_type", "").lower()
            _add_name(end.port, end.layer.name)
            if kind in PARAMETERS_OF_10:
                new = PARAMETERS_OF_10[kind]
                located = Located(end.layer.name, end.layer, self.model.graph)
                self._retype_parameter(end.layer, new)
                self._step(
                    located,
                    f"Parameter of {new} + Convert",
                    f"takes {new}",
                    "the input keeps the element type that IR v10 exposes",
                )
        for end in self.model.outputs:
            for port_id, source in self.model.graph.sources(end.layer.id).items():
                layer = self.model.graph.layer(source.layer)
                port = layer.port(source.port)
                _add_name(port, output_name(layer, port_place(layer.outputs, source.port) or 0))
                kind = _type_name(end.port) or _type_name(port)
                if kind in RESULTS_OF_10:
                    new = RESULTS_OF_10[kind]
                    found = builder.call("Convert", source, name=f"{layer.name}/{new}", destination_type=new)
                    made = self.model.graph.layer(found.layer)
                    if role_of(layer) is not Role.PARAMETER:
                        made.outputs[0].names, port.names = port.names, ()
                    self.model.graph.connect(found, end.layer.id, port_id)
                    end.port.precision = element_type(new).precision
                    located = Located(end.layer.name, end.layer, self.model.graph)
                    self._step(
                        located,
                        "Convert + Result",
                        f"gives {new}",
                        "the output keeps the element type that IR v10 exposes",
                    )

    def _retype_parameter(self, layer: Layer, kind: str) -> None:
        """Let an input take another type, and convert it behind."""
        old, port = element_type(layer.raw["element_type"].lower()), layer.outputs[0]
        layer.raw["element_type"], port.precision = kind, element_type(kind).precision
        builder, source = Builder(self.model), Source(layer.id, port.id)
        readers = self.model.graph.consumers(layer.id, port.id)
        found = builder.call("Convert", source, name=f"{layer.name}/{old}", destination_type=old.name)
        for consumer, number in readers:
            self.model.graph.connect(found, consumer, number)

    def _name_apart(self) -> None:
        """Give the second layer of a name, and all after it, one of their own."""
        for graph in self.model.graphs():
            seen: set[str] = set()
            layers = [*graph.layers()]
            for layer in layers if len({layer.name for layer in layers}) < len(layers) else ():
                if layer.name in seen:
                    located, name = Located(f"{layer.name}#{layer.id}", layer, graph), graph.new_name(layer.name)
                    self._step(located, f"{layer.type} '{name}'", "a unique name", "names do not change values")
                    graph.rename(layer.id, name)
                seen.add(layer.name)

    # --- steps ------------------------------------------------------------------------------------------------------

    def _place(self, located: Located) -> StepPlace:
        path, layer, graph = located
        op = find_op(layer.type, layer.version)
        return StepPlace(path, layer.id, self.model.line_of(graph, layer.id), str(op or layer.type), ())

    def _step(self, located: Located, after: str, strategy: str, proof: str) -> None:
        self.steps.append(self._place(located).migrated(after, strategy, proof))


def _types_of(layer: Layer) -> Iterator[str]:
    """Yield the element types of the outputs of a layer, and of a constant."""
    yield from filter(None, map(_type_name, layer.common.outputs))
    if role_of(layer) is Role.CONSTANT:
        yield from filter(None, [layer.common.raw.get("element_type", "").lower()])


def _lacks_types(layer: Layer, release: Release) -> bool:
    return not all(_right(release, kind) for kind in _types_of(layer))


def _missing_type(located: Located, release: Release) -> str | None:
    """Return why a release cannot read the outputs of a layer, if nothing here makes it read them."""
    for kind in sorted({*_types_of(located.layer)}):
        if not _right(release, kind) and not _can_widen(located, kind):
            reading = releases_in_words(partial(_right, kind=kind))
            return f"its output has element type {kind}, which {release.title} does not support; {reading}"
    return None


def _is_dynamic(layer: Layer) -> bool:
    if role_of(layer) is Role.PARAMETER and not is_static(parse_shape(layer.common.raw.get("shape", ""))):
        return True
    return any(size < 0 for port in layer.common.outputs for size in port.dims)


def _can_widen(located: Located, kind: str) -> bool:
    """Return whether a constant may be stored in another type: Converts alone read it."""
    _, layer, graph = located
    if role_of(layer) is not Role.CONSTANT or kind not in STORED_AS:
        return False
    return all(graph.layer(consumer).type == "Convert" for consumer in graph.successors(layer.id))


def _right(release: Release, kind: str) -> bool:
    """Return whether a release reads tensors of an element type, and reads them rightly."""
    return release.has_type(kind) and release.number >= SWAPPED_BEFORE.get(kind, release.number)


def _type_name(port: Port) -> str:
    found = precision_in_file(port.precision) if port.precision else None
    return found.name if found else ""


def _add_name(port: Port, name: str) -> None:
    if name not in port.names:
        port.names = (*port.names, name)
