"""What releases object to in the names, inputs and outputs of a model, and in its files."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from ir_tools.graph import Graph, Layer, Model, Source, output_name, port_place
from ir_tools.ops import Role, role_of
from ir_tools.releases.table import PARAMETERS_OF_10, RESULTS_OF_10, Release

__all__ = [
    "BRACKETS",
    "COUNTED_FLAGS",
    "EMPTY_FILE",
    "EQUAL_TENSORS",
    "FREE_RT_INFO",
    "NO_INPUTS",
    "SHARED_ENDS",
    "TAKEN_NAMES",
    "UNCOMPILED",
    "UNSPECIFIED",
    "UNTYPED",
    "WORDS",
    "border_names",
    "border_problems",
    "flags_in_words",
    "input_problem",
    "lacks_bytes",
    "name_problems",
    "stopped_by",
    "text_problems",
]

Named = TypeVar("Named", int, Source)
EQUAL_NAMES, EQUAL_RESULTS = "another layer has this name", "another Result has this name"
EMPTY_FILE = "every constant of the model is empty, so the .bin is empty"
NO_INPUTS = "a model without inputs is read but not compiled"
EQUAL_BORDERS, EQUAL_TENSORS, TAKEN_NAMES = (
    "inputs and outputs of IR v10 need different names",
    "inputs and outputs of IR v10 need different tensor names",
    "a tensor name of an input or output of IR v10 is the name of another one",
)
SHARED_OUTPUT, SHARED_TENSOR = (
    "two Results of IR v10 read one tensor",
    "a tensor of IR v10 with a tensor name is an input and an output, or two outputs",
)
UNCALLED, CONVERTED, CONVERTED_LATE = (
    "an input of IR v10 that is also an output loses its name if it is converted, as outputs of this element type are",
    "an input of IR v10 that is two outputs and converted for them is not read",
    "an input of IR v10 that is two outputs and converted for them is read but not compiled",
)
UNTYPED, UNSPECIFIED = (
    "an input of the body of a TensorIterator without an element type is not compiled",
    "a port of the precision UNSPECIFIED is not read",
)
WORDS = "a flag that is written as a word is not read"
BRACKETS = "the shape of an input in brackets is not read"
FREE_RT_INFO = "rt_info without a version is not read in IR v11"
COUNTED_FLAGS = {
    "MVN": ("across_channels", "normalize_variance"),
    "PriorBox": ("clip", "flip", "scale_all_sizes"),
    "PriorBoxClustered": ("clip",),
    "RegionYolo": ("do_softmax",),
}
"""The flags that 2021.2 reads only as numbers. Measured."""
NONE = (9999,)
"""Later than all releases."""
UNTAKEN = {
    kind: (f"inputs of element type {kind} are not compiled", first)
    for kinds, first in (
        ("i4 u4", (2024, 2)),
        ("nf4", (2025, 0)),
        ("f4e2m1", (2025, 2)),
        ("u2", (2026, 0)),
        ("u3 u6", NONE),
    )
    for kind in kinds.split()
}
"""Element types of which releases read the inputs of a model, but not all compile it: why, the first that does.

Measured.
"""
NAMES: Mapping[str, Sequence[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    EQUAL_RESULTS: [((0,), (2021, 3))],
    EQUAL_NAMES: [((0,), (2024, 1))],
    EQUAL_BORDERS: [((0,), NONE)],
    EQUAL_TENSORS: [((2022, 1), (2025, 1))],
    TAKEN_NAMES: [((2022, 1), NONE)],
    SHARED_OUTPUT: [((2021, 4), (2022, 1))],
    SHARED_TENSOR: [((2025, 0), NONE)],
    UNCALLED: [((2022, 1), NONE)],
    CONVERTED: [((2022, 1), (2023, 2))],
    CONVERTED_LATE: [((2023, 2), (2024, 1))],
    EMPTY_FILE: [((0,), (2022, 1)), ((2026, 2), (2026, 4))],
    NO_INPUTS: [((0,), (2021, 3))],
    UNTYPED: [((2022, 3), NONE)],
    UNSPECIFIED: [((0,), (2023, 0))],
    WORDS: [((0,), (2021, 3))],
    BRACKETS: [((0,), (2022, 3))],
    FREE_RT_INFO: [((0,), (2024, 5))],
    **{problem: [((0,), first)] for problem, first in UNTAKEN.values()},
}
"""What can be wrong with a name, flag, shape or file; of each span the first release that stops, and the next."""
UNCOMPILED = frozenset({NO_INPUTS, UNTYPED, UNCALLED, CONVERTED_LATE, *(problem for problem, _ in UNTAKEN.values())})
"""Those that a release reads, but does not compile or run."""
SHARED_ENDS = frozenset({SHARED_OUTPUT, SHARED_TENSOR, UNCALLED, CONVERTED, CONVERTED_LATE})
"""Those of a tensor that is several inputs and outputs."""


def stopped_by(release: Release, problem: str) -> bool:
    """Return whether a release does not read or compile a model because of a name, or of the file."""
    return any(first <= release.number < end for first, end in NAMES[problem])


def input_problem(layer: Layer) -> str:
    """Return what is wrong with an input of a model for some releases; empty if nothing is."""
    return UNTAKEN.get(layer.common.raw.get("element_type", "").lower(), ("",))[0]


def text_problems(layer: Layer, version: int) -> Iterator[str]:
    """Yield what is wrong for some releases with how a file of an IR version writes a layer."""
    if role_of(layer) is Role.PARAMETER and layer.common.raw.get("shape", "").lstrip().startswith("["):
        yield BRACKETS
    if version > 10 and any("version" not in row for row in layer.common.rt_info):
        yield FREE_RT_INFO


def flags_in_words(layer: Layer) -> list[str]:
    """Return which of the flags of `COUNTED_FLAGS` a file writes as words."""
    raw = layer.common.raw
    return [name for name in COUNTED_FLAGS.get(layer.type, ()) if raw.get(name, "").isalpha()]


def lacks_bytes(model: Model) -> bool:
    """Return whether no constant of a model has elements, and its `.bin` no bytes."""
    if model.weights.size:
        return False
    constants = [one for graph in model.graphs() for one in graph.layers() if role_of(one) is Role.CONSTANT]
    return bool(constants) and all(layer.common.raw.get("size") == "0" for layer in constants)


def border_names(graph: Graph) -> dict[Source, str]:
    """Return the inputs and outputs of a graph, with the name by which each goes in IR v10."""
    ends: dict[Role, list[Layer]] = {Role.PARAMETER: [], Role.RESULT: []}
    for layer in graph.layers():
        role = role_of(layer)
        if role in ends:
            ends[role].append(layer)
    taken = (Source(layer.id, port.id) for layer in ends[Role.PARAMETER] for port in layer.common.outputs)
    given = (source for layer in ends[Role.RESULT] for source in graph.sources(layer.id).values())
    found = ((source, graph.layer(source.layer)) for source in chain(taken, given))
    return {source: output_name(layer, port_place(layer.common.outputs, source.port) or 0) for source, layer in found}


def name_problems(graph: Graph, bordered: bool) -> dict[int, frozenset[str]]:
    """Return what is wrong with the names of layers. `bordered`: whether inputs and outputs go by names of layers."""
    found = defaultdict[int, set[str]](set)
    repeated = _repeated([(layer.id, layer.name) for layer in graph.layers()])
    others = [(number, name) for number, name in repeated if role_of(graph.layer(number)) is not Role.RESULT]
    for number, _ in _repeated(others):
        found[number].add(EQUAL_NAMES)
    for number, _ in repeated:
        found[number].add(EQUAL_RESULTS)
    for problem, source in border_problems(graph) if bordered else ():
        found[source.layer].add(problem)
    return {number: frozenset(problems) for number, problems in found.items()}


def border_problems(graph: Graph) -> Iterator[tuple[str, Source]]:
    """Yield what is wrong with the inputs and outputs of a graph in IR v10, for some releases, and of which tensor."""
    called = border_names(graph)
    names = [(source, name) for source in called for name in {*graph.layer(source.layer).tensor_names(source.port)}]
    named = {source for source, _ in names}
    for source in called:
        layer = graph.layer(source.layer)
        uses = sum(role_of(graph.layer(one)) is Role.RESULT for one, _ in graph.consumers(*source))
        taken = role_of(layer) is Role.PARAMETER
        kind = layer.common.raw.get("element_type", "").lower() if taken and uses else ""
        if uses > 1 and not taken:
            yield SHARED_OUTPUT, source
        if uses + taken > 1 and source in named:
            yield SHARED_TENSOR, source
        if uses > 1 and kind in RESULTS_OF_10:
            yield from ((problem, source) for problem in (CONVERTED, CONVERTED_LATE))
        if kind in RESULTS_OF_10 and kind not in PARAMETERS_OF_10:
            yield UNCALLED, source
    for problem, pairs in ((EQUAL_BORDERS, called.items()), (EQUAL_TENSORS, names)):
        yield from ((problem, source) for source, _ in _repeated(pairs))
    holders = {name: source for source, name in called.items()}
    yield from ((TAKEN_NAMES, source) for source, name in names if holders.get(name, source) != source)


def _repeated(names: Collection[tuple[Named, str]]) -> list[tuple[Named, str]]:
    """Return those whose names another one has."""
    if len({name for _, name in names}) == len(names):
        return []
    counts = Counter(name for _, name in names)
    return [(one, name) for one, name in names if counts[name] > 1]
