"""What layers are part of, by the layers before and behind them, as it decides about what releases do with them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from math import prod

from ir_tools.graph import Graph, Layer, Model, Source, find_port, port_place
from ir_tools.known_differences.attention_patterns import attentions, has_mask_of_one_row, is_widened, overruns
from ir_tools.known_differences.compiled_patterns import mistakes_parts, overwritten_early
from ir_tools.known_differences.follower_patterns import (
    OF_BYTES,
    clamped_levels,
    extreme_levels,
    is_bent_by_channel,
    scaled_levels,
)
from ir_tools.known_differences.fusing_patterns import (
    FACTORS,
    REDUCTIONS,
    SUMS,
    compiled_before,
    convolution_of,
    is_by_channel,
    is_by_numbers,
    reads_deconvolved,
    shifted_channels,
)
from ir_tools.known_differences.layout_patterns import has_channels_last, is_transposed_before, outlives_products
from ir_tools.known_differences.mask_patterns import is_mask
from ir_tools.known_differences.neighbours import (
    COMPARISONS,
    FAR,
    MOVED,
    VIEWS,
    all_behind,
    computed_sources,
    consumers_of,
    gives_known_sizes,
    integers,
    made_from,
    numbers_of,
    producer_of,
    readers_of,
    reads_of,
    sources_of,
    values_of,
    walked,
)
from ir_tools.known_differences.packed_weights import PackedWeights
from ir_tools.known_differences.product_patterns import in_bytes
from ir_tools.known_differences.reduction_patterns import (
    extremes_of_parts,
    mean_squares,
    merged_reductions,
    misshaped,
    normalizes,
    spread,
)
from ir_tools.known_differences.releases.seen import (
    ANY_SEQUENCE,
    COMBINING,
    CONVOLUTIONS,
    ELEMENTWISE,
    IN_SEQUENCES,
    NUMBER,
    REMAINDERS,
    TAKEN,
    UNCHOOSING,
    Pattern,
)
from ir_tools.known_differences.residual_patterns import residual
from ir_tools.known_differences.scale_patterns import REDUCED, is_scaled_by_a_list, scales_behind
from ir_tools.known_differences.single_patterns import of_single_elements
from ir_tools.known_differences.slice_patterns import slices
from ir_tools.known_differences.weight_patterns import BYTES
from ir_tools.ops import Op, Role, role_of
from ir_tools.types import precision_in_file

__all__ = ["Patterns", "compares_itself"]

ACTIVATIONS = frozenset(
    {"Abs", "Clamp", "Elu", "Gelu", "HSigmoid", "HSwish", "Mish", "ReLU", "Round", "Sigmoid", "Sqrt", "Swish", "Tanh"}
)
"""Types of layers of one input that are compiled with what is before them, as those of `SCALES` are. Measured."""
EITHER_WAY = frozenset({"Add", "Multiply", "Subtract"})
SCALES: Mapping[str, Set[int]] = {
    **dict.fromkeys((*EITHER_WAY, "Divide", "Negative"), frozenset({NUMBER})),
    **dict.fromkeys(("FakeQuantize", "PReLU"), frozenset[int]()),
}
"""Types of layers that scale and shift by constants, and what `Seen.scaled` holds of them if these are numbers."""
PASSING = MOVED - {"Convert"} | {"Broadcast", "Gather", "ReverseSequence"}
"""Types of layers that elementwise ones by numbers move before. Measured."""
WINDOWED = CONVOLUTIONS | {
    *("AvgPool", "ConvolutionBackpropData", "GroupConvolutionBackpropData", "MaxPool"),
}
"""Types of layers whose output sizes lose their limits, where these are not known."""
PAIR = 2
ANY_RANK = -1
"""Of a tensor whose elements such layers move: that of what is asked about does not matter."""
CROSSED = SUMS | MOVED | {"Multiply", "Negative", "Divide"}
"""Types of layers that products and sums are looked for across, and of these."""
LOGICAL = frozenset(
    {"LogicalAnd", "LogicalOr", "LogicalNot", "LogicalXor", "ReduceLogicalAnd", "ReduceLogicalOr", "IsFinite"}
)
JOINING = COMBINING | COMPARISONS
"""Types of layers that combine a part of a split with another tensor element by element."""
LIMITING = {
    "Slice": REMAINDERS | {"Add", "Subtract", "Multiply", "Maximum", "Minimum", "Power"},
    "VariadicSplit": REMAINDERS,
}
"""Types of layers whose limits a release follows back to constants, and which types it then gets wrong."""
CONVERTING = frozenset({"Convert", "ConvertLike"})
"""Types of layers that change the element type."""
TESTING = LOGICAL | COMPARISONS
"""Types of layers whose booleans are 0 and 1, whatever stands for true in what they read."""
SPLITS = frozenset({"Split", "VariadicSplit"})
SHAPED = frozenset({"Broadcast", "Reshape", "Slice", "StridedSlice", "VariadicSplit"})
"""Types of layers whose first input gets a size that others decide."""
CUTTING = frozenset({"Slice", "StridedSlice"})
OVERWRITING = {
    **dict.fromkeys(("GRN", "MVN", "SoftMax"), Pattern.NORMALIZED),
    **dict.fromkeys(("ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate"), Pattern.UPDATED),
}
OVERWRITING_AS_OTHER = {
    "SoftMax": Pattern.NORMALIZED,
    **dict.fromkeys(("GRN", "MVN"), Pattern.NORMALIZED_AS_OTHER),
}
"""Types of layers that write over what they read, and the patterns of a Concat that they read, or that gets another
shape before. Measured."""
BY_CHANNEL = 4
"""Of how many dimensions on a MVN does not write over what it reads. Measured."""
MOVING = SPLITS | CUTTING | CONVERTING | VIEWS | {"Broadcast", "Concat", "NonZero", "Result", "TopK", "Transpose"}
"""Types of layers that give elements of their inputs, or where these are, in another order, shape or type."""
LENGTHS = {"GRUSequence": 2, "LSTMSequence": 3, "RNNSequence": 2}
"""Which input the lengths of sequences are."""
EXPANDING = {"Add": (0, 1), "Multiply": (0, 1), "Subtract": (1,), "Divide": (1,), "SquaredDifference": (1,)}
"""Types of layers in front of which releases remove a Broadcast, and for which of their inputs. Measured."""


class Patterns:
    """The patterns that layers of a model are part of.

    Attributes:
        origins: of `PackedWeights`, for each graph by its `id`; to be cleared when edges change.
    """

    def __init__(self, model: Model) -> None:
        """Look at nothing until it is needed."""
        self.model = model
        self.origins = defaultdict[int, dict[int, Layer | None]](dict)
        self._scales = defaultdict[int, dict[tuple[int, int], frozenset[int]]](dict)
        self._joined = defaultdict[int, dict[tuple[int, int, bool, bool], bool]](dict)
        self._convolved = defaultdict[int, dict[int, Layer | None]](dict)
        self._unfixed = defaultdict[int, set[int]](set)
        self._windowed = dict[int, Set[int]]()
        self._quantizing = dict[int, bool]()

    def of(self, graph: Graph, layer: Layer, op: Op, constants: Collection[int]) -> frozenset[str]:
        """Return `patterns` of a layer; `constants`: the layers that are computed of constants alone."""
        if op.role is Role.CONSTANT:
            packed = PackedWeights.of(self.model, graph, layer, self.origins[id(graph)])
            uses = frozenset[str]() if packed is None else packed.uses
            return uses if uses.isdisjoint(IN_SEQUENCES) or self._quantizes(graph) else uses - IN_SEQUENCES
        partly_read = graph is not self.model.graph and _is_partly_read(graph, layer)
        found = self._of_moving if op.type in MOVING else self._of_computing
        return frozenset([*[Pattern.PARTLY_READ] * partly_read, *found(graph, layer, op.type, constants)])

    def _of_moving(self, graph: Graph, layer: Layer, type: str, constants: Collection[int]) -> Iterator[str]:
        """Yield what is true of a layer of `MOVING`."""
        is_main = graph is self.model.graph
        if type == "Concat":
            yield from [Pattern.UNEVEN] * _turns_unevenly(graph, layer, constants)
            yield from _overwritten(graph, layer)
        elif type in VIEWS:
            found = self._quantizes(graph) and is_scaled_by_a_list(graph, layer, constants)
            yield from [Pattern.SCALED_BY_A_LIST] * found
        elif type == "Transpose":
            yield from [Pattern.OUTLIVING] * outlives_products(graph, layer, constants)
            yield from [Pattern.SHARED_ORDER] * _shares_its_order(graph, layer)
            yield from _of_a_moved_list(graph, layer) if is_main else ()
        elif type in CONVERTING:
            yield from [Pattern.DECIDING] * _decides_sizes(graph, layer)
            if _gives_booleans(layer):
                yield from _tested(graph, layer)
                yield from [Pattern.MASK] * is_mask(self.model, graph, layer)
        elif type in SPLITS:
            yield from [Pattern.SHARED] * (type in LIMITING and _is_shared(graph, layer))
            yield from [Pattern.JOINED] * _is_joined(graph, layer)
            yield from [Pattern.MISTAKEN] * (is_main and mistakes_parts(graph, layer, constants))
            yield from [Pattern.REDUCED] * _is_reduced(graph, layer, constants)
            yield from [Pattern.INTERLEAVED] * _is_interleaved(self.model, graph, layer)
        elif type == "Slice":
            yield from [Pattern.SHARED] * _is_shared(graph, layer)
            yield from slices(self.model, graph, layer)
        elif type == "StridedSlice":
            yield from [Pattern.AFFINE] * _is_affine(graph, layer, constants, self._joined[id(graph)])
        elif type == "Broadcast":
            yield from [Pattern.OF_SIZES] * _repeats_to_sizes(graph, layer)
        elif type == "NonZero":
            yield from [Pattern.UNCONVERTED] * _loses_a_convert(graph, layer)
        elif type == "TopK":
            yield from [Pattern.CHANNELS_LAST] * has_channels_last(graph, layer)
        elif type == "Result" and is_main:
            yield from [Pattern.GIVEN_BACK] * _reads_an_input(graph, layer)

    def _of_computing(self, graph: Graph, layer: Layer, type: str, constants: Collection[int]) -> Iterator[str]:
        """Yield what is true of a layer of another type."""
        if type in OF_BYTES:
            yield from self._of_bytes(graph, constants, layer)
        if type in CONVOLUTIONS:
            yield from _moved(graph, layer, constants)
            yield from _shifted(graph, layer, constants)
            if type == "Convolution":
                yield from [Pattern.DECONVOLVED] * reads_deconvolved(self.model, graph, layer, constants)
                yield from of_single_elements(self.model, graph, layer, self.origins[id(graph)])
        elif type == "GroupConvolutionBackpropData":
            yield from [Pattern.BENT_BY_CHANNEL] * is_bent_by_channel(graph, layer, constants)
        elif type in EXPANDING:
            yield from [Pattern.EXPANDED] * _is_expanded(graph, layer, constants)
            if type == "Divide":
                yield from [Pattern.OF_REDUCTION] * _divides_reduced(graph, layer, constants)
            elif type in SUMS:
                yield from self._of_convolutions(graph, layer, constants)
        elif type.startswith("Reduce"):
            yield from merged_reductions(self.model, graph, layer)
            yield from misshaped(self.model, graph, layer)
            yield from mean_squares(self.model, graph, layer, constants)
            yield from spread(graph, layer)
            yield from extremes_of_parts(self.model, graph, layer)
            yield from _of_levels(self.model, graph, layer, constants)
        elif type == "FakeQuantize":
            yield from [Pattern.EXTREME_LEVELS] * extreme_levels(graph, layer)
            yield from scaled_levels(self.model, graph, layer, constants)
            yield from _of_a_product(graph, layer, constants)
            yield from shifted_channels(graph, layer, constants)
        elif type == "Clamp":
            yield from clamped_levels(self.model, graph, layer)
        elif type in {"GroupNormalization", "MVN"}:
            yield from [Pattern.GIVEN_IN_ANOTHER_SHAPE] * _overwrites_an_output(graph, layer)
        elif type == "GRN":
            yield from [Pattern.TRANSPOSED_BEFORE] * is_transposed_before(self.model, graph, layer, constants)
        elif type == "SoftMax":
            yield from attentions(self.model, graph, layer)
        elif type == "ScaledDotProductAttention":
            yield from [Pattern.WIDENED] * is_widened(graph, layer)
            yield from [Pattern.OVERRUN] * overruns(graph, layer, layer, 2)
            yield from [Pattern.REPEATED_MASK] * has_mask_of_one_row(graph, layer)
        elif type in ANY_SEQUENCE:
            yield from [Pattern.EXCHANGED] * _is_exchanged(self.model, graph, layer)
            yield from [Pattern.GIVEN_LENGTHS] * _has_given_lengths(graph, layer)
            yield from [Pattern.STATE_BY_NUMBER] * _gives_a_state_to_a_number(graph, layer, constants)
        elif type == "Mod":
            yield from _decided(graph, layer, self._unfixed[id(graph)])
        elif type in {"Erf", "SoftSign"}:
            before = {*compiled_before(graph, layer, constants, self._convolved[id(graph)])}
            in_body, fused = graph is not self.model.graph, Pattern.FUSED in before
            early = type == "Erf" and not in_body
            yield from overwritten_early(graph, layer, fused=fused) if early else before
            yield from [Pattern.UNFUSED] * (in_body and not fused)

    def _of_convolutions(self, graph: Graph, total: Layer, constants: Collection[int]) -> Iterator[str]:
        """Yield what is true of a sum with what convolutions give."""
        known = self._convolved[id(graph)]
        if self._quantizes(graph):
            yield from residual(graph, total, constants, partial(self._is_in_bytes, graph, constants))
        if _is_activated(graph, total, constants, known):
            yield Pattern.ACTIVATED
        sources = [source for source in sources_of(graph, total) if source is not None]
        found = [convolution_of(graph, source, constants, known) for source in sources]
        if len(sources) == PAIR:
            quantized = [self._is_convolved_in_bytes(graph, source, constants) for source in sources]
            places = (Pattern.FIRST_CONVOLVED, Pattern.SECOND_CONVOLVED)
            yield from (name for name, holds in zip(places, quantized, strict=True) if holds)
            if quantized[0] and _is_of_levels(graph, sources[1]) and _gives_bytes(graph, total):
                yield Pattern.SUMMED_IN_BYTES
        convolved = [one for one in found if one is not None]
        if len(found) != PAIR or not convolved:
            return
        yield from (
            name for name, one in zip((Pattern.FIRST_CONVOLVED, Pattern.SECOND_CONVOLVED), found, strict=True) if one
        )
        if not any(source.layer in constants for source in sources):
            if _steps_over(convolved[0]) and all(reads_of(graph, source) == 1 for source in sources):
                yield Pattern.STEPPING
            others = [source.layer for source, one in zip(sources, found, strict=True) if one is None]
            before = [source.layer for one in convolved for source in sources_of(graph, one)[:1] if source is not None]
            windowed = [self._is_windowed(graph, one) for one in (*before, *others)]
            if len(others) == len(before) == 1 and windowed == [True, False]:
                yield Pattern.UNLIMITED

    def _is_convolved_in_bytes(self, graph: Graph, source: Source, constants: Collection[int]) -> bool:
        """Return whether a convolution in 8 bits gives a tensor which is read once, quantized again or not."""
        layer = graph.layer(source.layer)
        given = next(iter(sources_of(graph, layer)), None) if layer.type == "FakeQuantize" else source
        if given is None or graph.reads(*source) != 1:
            return False
        convolution = convolution_of(graph, given, constants, self._convolved[id(graph)])
        return convolution is not None and self._is_in_bytes(graph, constants, convolution)

    def _is_in_bytes(self, graph: Graph, constants: Collection[int], convolution: Layer) -> bool:
        """Return whether a convolution is of quantized data and weights of 8 bits."""
        weights = producer_of(graph, convolution, 1)
        if weights is None or weights.type not in {"FakeQuantize", "Multiply"}:
            return False
        return Pattern.QUANTIZED in self._of_bytes(graph, constants, convolution)

    def _of_bytes(self, graph: Graph, constants: Collection[int], layer: Layer) -> Iterable[str]:
        """Return what is true of a layer of quantized data: nothing where nothing is quantized."""
        if not self._quantizes(graph):
            return ()
        return in_bytes(self.model, graph, layer, constants, self.origins[id(graph)])

    def _is_windowed(self, graph: Graph, layer: int) -> bool:
        """Return whether a layer is a convolution or pooling or behind one, all of which are looked for once."""
        if id(graph) not in self._windowed:
            windows = [one.id for one in graph.layers() if one.type in WINDOWED]
            self._windowed[id(graph)] = all_behind(graph, windows)
        return layer in self._windowed[id(graph)]

    def _quantizes(self, graph: Graph) -> bool:
        """Return whether a graph has a FakeQuantize, which is looked for once."""
        if id(graph) not in self._quantizing:
            self._quantizing[id(graph)] = any(layer.type == "FakeQuantize" for layer in graph.layers())
        return self._quantizing[id(graph)]

    def scaled(self, graph: Graph, layer: Layer, constants: Collection[int]) -> frozenset[int]:
        """Return `scaled` of a layer; releases compile means that normalize data with these as one layer, an MVN."""
        constant = role_of(layer) is Role.CONSTANT
        if constant or (layer.type == "ReduceMean" and normalizes(self.model, graph, layer)):
            return frozenset()
        found = _scaled(graph, layer, constants, self._scales[id(graph)])
        if layer.type not in REDUCED:
            return found
        of_product = partial(self._of_bytes, graph, constants)
        return found.union(scales_behind(self.model, graph, layer, constants, of_product))


def _is_expanded(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a Broadcast, of which others read the sizes too, repeats what is combined with a larger tensor.

    One of constants is computed before.
    """
    outputs, inputs = layer.common.outputs, layer.common.inputs
    if len(inputs) != 2 or not outputs or min(outputs[0].dims, default=-1) < 0:
        return False
    places = [number for number in EXPANDING[layer.type] if inputs[1 - number].dims == outputs[0].dims]
    given = [one for one in (producer_of(graph, layer, number) for number in places) if one is not None]
    return any(
        one.type == "Broadcast"
        and one.id not in constants
        and one.common.inputs[0].dims != one.common.outputs[0].dims
        and any(reader.type not in COMBINING for reader in readers_of(graph, one))
        for one in given
    )


def _computing(graph: Graph, layer: Layer) -> list[Layer]:
    """Return the first layers of all that read more of the first output than its size."""
    return [one for one in readers_of(graph, layer) if not gives_known_sizes(one)]


def _shares_its_order(graph: Graph, transpose: Layer) -> bool:
    """Return whether others read the order of a Transpose of known sizes, whose output is the data of a sequence."""
    order = next(iter(sources_of(graph, transpose)[1:]), None)
    if order is None or graph.reads(*order) < 2 or min(transpose.common.outputs[0].dims, default=-1) < 0:
        return False
    given, readers = transpose, _computing(graph, transpose)
    if len(readers) == 1 and readers[0].type in ELEMENTWISE:
        given, readers = readers[0], _computing(graph, readers[0])
    return len(readers) == 1 and readers[0].type in ANY_SEQUENCE and producer_of(graph, readers[0]) is given


def _of_levels(model: Model, graph: Graph, reduction: Layer, constants: Collection[int]) -> Iterator[Pattern]:
    """Yield what is true of a ReduceSum of levels between constants."""
    levels = made_from(graph, producer_of(graph, reduction), {"ReLU"}) if reduction.type == "ReduceSum" else None
    if levels is None or levels.type != "FakeQuantize" or BYTES.isdisjoint(numbers_of(levels, "levels")):
        return
    if all(source is not None and source.layer in constants for source in sources_of(graph, levels)[1:]):
        yield Pattern.OF_LEVELS
        low = values_of(model, graph, levels, 3)
        yield from [Pattern.OF_SIGNED_LEVELS] * (low is None or bool((low < 0).any()))


def _is_exchanged(model: Model, graph: Graph, sequence: Layer) -> bool:
    """Return whether others read the data of a sequence that a Transpose gives, and one back alone reads its output."""
    before, behind = producer_of(graph, sequence), readers_of(graph, sequence)
    return (
        before is not None
        and len(_computing(graph, before)) > 1
        and len(behind) == 1
        and _has_order(model, graph, before, [1, 0, 2])
        and _has_order(model, graph, behind[0], [2, 1, 0, 3])
    )


def _has_given_lengths(graph: Graph, sequence: Layer) -> bool:
    """Return whether an input of the graph, not only its sizes, decides the lengths of a sequence."""

    def before(layer: int) -> list[int]:
        sources = {} if graph.layer(layer).type == "ShapeOf" else graph.sources(layer)
        return [source.layer for source in sources.values()]

    lengths = producer_of(graph, sequence, LENGTHS[sequence.type])
    deciding = walked([lengths.id] if lengths is not None else [], before)
    return any(role_of(graph.layer(layer)) is Role.PARAMETER for layer in deciding)


def _gives_a_state_to_a_number(graph: Graph, sequence: Layer, constants: Collection[int]) -> bool:
    """Return whether a layer that alone reads a last state combines it with one constant element, or negates it."""
    consumers = (graph.consumers(sequence.id, port.id) for port in sequence.common.outputs[1:])
    for reader in (graph.layer(found[0][0]) for found in consumers if len(found) == 1):
        seconds = sources_of(graph, reader)[1:2] if reader.type in COMBINING else []
        held = any(second is not None and second.layer in constants for second in seconds)
        if reader.type == "Negative" or (held and prod(reader.common.inputs[1].dims) == 1):
            return True
    return False


def _has_order(model: Model, graph: Graph, layer: Layer, order: list[int]) -> bool:
    found = integers(model, graph, layer, 1) if layer.type == "Transpose" else None
    return found is not None and found.tolist() == order


def _overwritten(graph: Graph, joined: Layer) -> Iterator[str]:
    """Yield the patterns of a Concat that one layer alone reads, which may write into its memory."""
    readers, found = _computing(graph, joined), OVERWRITING
    if len(readers) == 1 and readers[0].type in VIEWS:
        readers, found = _computing(graph, readers[0]), OVERWRITING_AS_OTHER
    if len(readers) != 1 or readers[0].type not in found:
        return
    if readers[0].type == "MVN" and len(readers[0].common.inputs[0].dims) >= BY_CHANNEL:
        return
    yield found[readers[0].type]
    if _has_part_read_elsewhere(graph, joined):
        yield Pattern.PART_READ
    parts = (source for source in sources_of(graph, joined) if source is not None)
    others = (graph.layer(one) for part in parts for one, _ in graph.consumers(*part, FAR))
    if any(role_of(one) is Role.RESULT for one in others):
        yield Pattern.PART_GIVEN


def _reads_an_input(graph: Graph, result: Layer) -> bool:
    given = producer_of(graph, result)
    return given is not None and role_of(given) is Role.PARAMETER


def _of_a_moved_list(graph: Graph, transpose: Layer) -> Iterator[Pattern]:
    """Yield what is true of a Transpose of a number or list that gives an output of the model."""
    source = next(iter(sources_of(graph, transpose)), None)
    if source is None or len(transpose.common.inputs[0].dims) > 1 or not _is_given(graph, transpose):
        return
    others = [graph.layer(reader) for reader, _ in graph.consumers(*source) if reader != transpose.id]
    if any(role_of(one) is Role.RESULT or (one.type == "Transpose" and _is_given(graph, one)) for one in others):
        yield Pattern.GIVEN_MOVED
    if len(graph.layer(source.layer).common.outputs) > 1:
        yield Pattern.PART_MOVED


def _loses_a_convert(graph: Graph, places: Layer) -> bool:
    """Return whether a NonZero alone reads what a Convert makes of floats, or of larger integers."""
    before = producer_of(graph, places)
    if before is None or before.type != "Convert" or len(consumers_of(graph, before)) != 1:
        return False
    ports = (*before.common.inputs[:1], *before.common.outputs[:1])
    kinds = [kind for port in ports if (kind := precision_in_file(port.precision or "")) is not None]
    if len(kinds) != 2 or not kinds[1].is_integer or kinds[0].is_one_of("boolean"):
        return False
    return kinds[0].is_float or kinds[0].bits > kinds[1].bits


def _is_given(graph: Graph, layer: Layer) -> bool:
    """Return whether the first output of a layer is one of its graph."""
    return any(role_of(reader) is Role.RESULT for reader in readers_of(graph, layer))


def _of_a_product(graph: Graph, levels: Layer, constants: Collection[int]) -> Iterator[Pattern]:
    """Yield `OF_PRODUCT` or `OF_MATRICES`, if one is true of a FakeQuantize."""
    waiting = next(iter(sources_of(graph, levels)), None)
    for _ in range(FAR):
        if waiting is None or graph.reads(*waiting) != 1:
            return
        before = graph.layer(waiting.layer)
        computed = computed_sources(graph, before, constants)
        if before.type == "MatMul":
            second = dict(enumerate(sources_of(graph, before))).get(1)
            matrix = second and second.layer in constants and prod(before.common.inputs[1].dims[:-2]) == 1
            yield Pattern.OF_PRODUCT if matrix else Pattern.OF_MATRICES
            return
        if before.type not in ACTIVATIONS | SCALES.keys() - {levels.type} or len(computed) != 1:
            return
        waiting = computed[0]


def _is_of_levels(graph: Graph, source: Source) -> bool:
    """Return whether a FakeQuantize gives a tensor, in another shape or not."""
    layer = made_from(graph, graph.layer(source.layer), VIEWS)
    return layer is not None and layer.type == "FakeQuantize"


def _gives_bytes(graph: Graph, layer: Layer) -> bool:
    """Return whether a FakeQuantize alone reads what a layer gives, and others than Results read what that gives."""
    readers = readers_of(graph, layer)
    further = [role_of(one) for reader in readers for one in readers_of(graph, reader)]
    return {one.type for one in readers} == {"FakeQuantize"} and {*further} != {Role.RESULT}


def _overwrites_an_output(graph: Graph, normalization: Layer) -> bool:
    """Return whether a normalization of known sizes reads an output of the graph in another shape.

    A MVN of up to three axes writes over what it reads; a GroupNormalization is compiled as one.
    """
    given, sizes = producer_of(graph, normalization), next((one.dims for one in normalization.common.outputs), ())
    if normalization.type == "MVN":
        view = given
        if view is None or view.type not in VIEWS or len(sizes) >= BY_CHANNEL:
            return False
        given = producer_of(graph, view)
    if given is None or given.type in WINDOWED or role_of(given) is Role.CONSTANT or min(sizes, default=-1) < 0:
        return False
    return any(role_of(one) is Role.RESULT for one in readers_of(graph, given))


def _has_part_read_elsewhere(graph: Graph, joined: Layer) -> bool:
    """Return whether layers that a Concat does not depend on read what a part holds, in whatever shape.

    Parts behind the first are copied if they are inputs of the graph, and before outputs of it are.
    """
    before = {*walked([joined.id], graph.producers)}
    return any(
        source is not None and _is_read_elsewhere(graph, source, before, is_first=number == 0)
        for number, source in enumerate(sources_of(graph, joined))
    )


def _is_read_elsewhere(graph: Graph, part: Source, before: Set[int], *, is_first: bool) -> bool:
    """Return whether layers that are not in `before` read more of a part of a Concat than its size."""
    copied = set[Role]() if is_first else {Role.RESULT}
    found, source = False, part
    for _ in range(FAR):
        others = (graph.layer(one) for one, _ in graph.consumers(*source, FAR) if one not in before)
        found = found or not all(gives_known_sizes(one) or role_of(one) in copied for one in others)
        producer = graph.layer(source.layer)
        given = sources_of(graph, producer)[0] if producer.type in VIEWS else None
        if given is None:
            return found and (is_first or role_of(producer) is not Role.PARAMETER)
        source = given
    return found


def _divides_reduced(graph: Graph, divide: Layer, constants: Collection[int]) -> bool:
    """Return whether a quotient by constants is compiled with a reduction, as are layers in between, or moves to it."""
    layer, by_numbers = divide, True
    for _ in range(FAR):
        computed = computed_sources(graph, layer, constants)
        if layer.type in PASSING:
            fits = by_numbers
        elif layer.type in {*SCALES, "Power"}:
            numbers = is_by_numbers(graph, layer, constants)
            by_numbers = by_numbers and numbers
            first = computed == sources_of(graph, layer)[:1]
            fits = (numbers or is_by_channel(layer)) and (layer.type in FACTORS or first)
        else:
            fits = layer.type in ACTIVATIONS or _keeps_integers(layer)
        if not fits or len(computed) != 1 or reads_of(graph, computed[0]) != 1:
            return False
        layer = graph.layer(computed[0].layer)
        if layer.type in REDUCTIONS:
            return True
    return False


def _keeps_integers(layer: Layer) -> bool:
    """Return whether a Convert is from integers to others that releases compute in the same type."""
    ports = (*layer.common.inputs, *layer.common.outputs)
    return layer.type == "Convert" and all(port.precision in {"I32", "I64"} for port in ports)


def compares_itself(graph: Graph, choice: Layer) -> bool:
    """Return whether the condition of an If compares a tensor with itself."""
    comparison = producer_of(graph, choice)
    compared = sources_of(graph, comparison) if comparison is not None and comparison.type in COMPARISONS else []
    return len(compared) == 2 and compared[0] == compared[1]


def _scaled(
    graph: Graph, layer: Layer, constants: Collection[int], known: dict[tuple[int, int], frozenset[int]]
) -> frozenset[int]:
    """Return along which axes of the first output constants scale or shift it, in layers that are compiled with it.

    Args:
        graph: that the layer is in.
        layer: the layer.
        constants: the layers of the graph that are computed of constants alone.
        known: the answers behind layers of the graph, by layer and rank of the tensor that was asked about. Without
            them a chain would be followed from each of its layers, in quadratic time.
    """
    passed, rank = list[tuple[int, int, Set[int]]](), len(layer.common.outputs[0].dims) if layer.common.outputs else 0
    behind: Layer | None = layer
    while behind is not None and (behind.id, rank) not in known:
        axes, reader = _scaling(graph, behind, rank, constants)
        passed.append((behind.id, rank, axes))
        behind, rank = reader, ANY_RANK if reader is not None and reader.type in PASSING else rank
    found = frozenset() if behind is None else known[behind.id, rank]
    for number, rank, axes in reversed(passed):
        found = known[number, rank] = found | axes
    return found


def _scaling(graph: Graph, layer: Layer, rank: int, constants: Collection[int]) -> tuple[Set[int], Layer | None]:
    """Return along which axes the layer that reads another one scales it, and the layer if it is compiled with it.

    What is subtracted from anything is scaled by -1 first.
    """
    none = frozenset[int]()
    targets = consumers_of(graph, layer)
    if len(targets) != 1:
        return none, None
    reader, port = graph.layer(targets[0][0]), targets[0][1]
    if reader.type in PASSING and port == reader.common.inputs[0].id:
        return none, reader
    if reader.type not in SCALES and reader.type not in ACTIVATIONS:
        return none, None
    negative = frozenset({NUMBER}) if reader.type == "Subtract" and port != reader.common.inputs[0].id else none
    others = [source for number, source in graph.sources(reader.id).items() if number != port]
    given = [_unrepeated(graph, source, constants) for source in others]
    if any(source.layer not in constants for source in given):
        return negative, None
    if reader.type in SCALES and (reader.type in EITHER_WAY or port == reader.common.inputs[0].id):
        ports = (find_port(graph.layer(source.layer).common.outputs, source.port) for source in given)
        shapes = [tensor.dims for tensor in ports if tensor]
        axes = {axis for dims in shapes for axis, size in enumerate(dims, rank - len(dims)) if size != 1}
        if axes if rank == ANY_RANK else len(axes) > 1 or any(len(dims) > rank for dims in shapes):
            return negative, None
        by_channel = reader.type == "PReLU" and axes and len(shapes[0]) == 1
        return {1} if by_channel else negative | (axes or SCALES[reader.type]), reader
    return none, reader if reader.type in ACTIVATIONS else None


def _unrepeated(graph: Graph, source: Source, constants: Collection[int]) -> Source:
    """Return the constant that a Broadcast repeats, which elementwise layers then read as it is; else the tensor."""
    layer = graph.layer(source.layer)
    data = next(iter(sources_of(graph, layer)), None) if layer.type == "Broadcast" else None
    return data if data is not None and data.layer in constants else source


def _is_shared(graph: Graph, layer: Layer) -> bool:
    """Return whether a constant that a layer reads is among what its other limits are computed of, by certain types."""
    limits = [source for source in sources_of(graph, layer)[1:] if source is not None]
    constants = {source for source in limits if role_of(graph.layer(source.layer)) is Role.CONSTANT}
    if all(graph.reads(*source) == 1 for source in constants):
        return False
    waiting, passed = [source.layer for source in limits if source not in constants], {layer.id}
    types, read = set[str](), set[Source]()
    while waiting and len(passed) < FAR:
        behind = graph.layer(waiting.pop())
        if behind.id in passed or behind.type == "ShapeOf":
            continue
        passed.add(behind.id)
        types.add(behind.type)
        for producer, keys in islice(graph.producers(behind.id).items(), FAR):
            read.update(Source(producer, start) for start, _ in keys)
            waiting.append(producer)
    return not types.isdisjoint(LIMITING[layer.type]) and not read.isdisjoint(constants)


def _repeats_to_sizes(graph: Graph, layer: Layer) -> bool:
    """Return whether the shape that a layer gives is made of single numbers."""
    shape = producer_of(graph, layer, 1)
    return shape is not None and shape.type == "Concat" and {port.dims for port in shape.common.inputs} == {(1,)}


def _decides_sizes(graph: Graph, layer: Layer) -> bool:
    """Return whether numbers become sizes by which others cut, repeat or reshape, in lists alone."""
    waiting, passed = [layer.id], set[int]()
    while waiting and len(passed) < FAR:
        number = waiting.pop()
        passed.add(number)
        for port in graph.layer(number).common.outputs if number == layer.id or _is_list(graph.layer(number)) else ():
            for reader, given in graph.consumers(number, port.id, FAR):
                found = graph.layer(reader)
                if found.type in SHAPED and given != found.common.inputs[0].id:
                    return True
                waiting += {reader} - passed
    return False


def _is_list(layer: Layer) -> bool:
    return all(len(port.dims) < PAIR for port in layer.common.outputs)


def _decided(graph: Graph, remainder: Layer, unfixed: set[int]) -> Iterator[str]:
    """Yield `LATE_SIZES` and `LATE_SHAPES` as far as they are true of a Mod; `unfixed`: as of `_is_fixed`."""
    waiting, passed = [(remainder, False)], {remainder.id}
    while waiting and len(passed) < FAR:
        layer, cut = waiting.pop()
        for port in layer.common.outputs:
            for reader, given in ((graph.layer(one), port) for one, port in graph.consumers(layer.id, port.id, FAR)):
                if reader.id in passed or not _is_fixed(graph, reader, unfixed):
                    continue
                passed.add(reader.id)
                sized = reader.type in SHAPED and given != reader.common.inputs[0].id
                if sized:
                    yield Pattern.LATE_SIZES
                if reader.type in VIEWS and (sized or cut):
                    yield Pattern.LATE_SHAPES
                waiting.append((reader, cut or sized))


def _is_fixed(graph: Graph, layer: Layer, unfixed: set[int]) -> bool:
    """Return whether constants and sizes alone decide what a layer gives.

    `unfixed`: layers of the graph that are known not to be decided so, nor are those behind them.
    """
    waiting, passed = [layer.id], {layer.id}
    while waiting:
        behind = graph.layer(waiting.pop())
        role = role_of(behind)
        if role is Role.CONSTANT or behind.type == "ShapeOf":
            continue
        producers = graph.producers(behind.id).keys()
        decided = role is Role.COMPUTATION and 0 < len(producers) <= FAR and len(passed) <= FAR
        if not decided or not unfixed.isdisjoint(producers):
            unfixed.add(layer.id)
            return False
        waiting += producers - passed
        passed |= producers
    return True


def _gives_booleans(layer: Layer) -> bool:
    kinds = (precision_in_file(port.precision or "") for port in layer.common.outputs)
    return any(kind is not None and kind.kind == "boolean" for kind in kinds)


def _tested(graph: Graph, conversion: Layer) -> Iterator[str]:
    """Yield `LATER`, `UNCHOSEN` and `COUNTED` as far as they are true of a layer that makes booleans."""
    source = next(iter(sources_of(graph, conversion)), None)
    if source is not None:
        before = graph.layer(source.layer)
        if before.type in UNCHOOSING:
            yield Pattern.UNCHOSEN
        elif port_place(before.common.outputs, source.port):
            yield Pattern.LATER
    waiting, passed = [conversion], set[int]()
    while waiting and len(passed) < FAR:
        behind = waiting.pop()
        passed.add(behind.id)
        readers = [graph.layer(one) for one in islice(graph.successors(behind.id), FAR) if one not in passed]
        if any(reader.type in CONVERTING and not _gives_booleans(reader) for reader in readers):
            yield Pattern.COUNTED
            return
        waiting += [reader for reader in readers if reader.type not in TESTING and _gives_booleans(reader)]


def _takes_single_elements(layer: Layer) -> bool:
    """Return whether a layer is a convolution of known sizes with filters of one element."""
    sizes = [port.dims[2:] for port in layer.common.inputs[:2]]
    return layer.type == "Convolution" and len(sizes) == 2 and min(sizes[0], default=0) > 0 and {*sizes[1]} == {1}


def _moved(graph: Graph, convolution: Layer, constants: Collection[int]) -> Iterator[str]:
    """Yield `LATER`, `UNCHOSEN` and `PADDED` as far as they are true of one whose strides move before other layers.

    They move on before other convolutions of single elements, with those that these have.
    """
    own = numbers_of(convolution, "strides")
    if not _takes_single_elements(convolution) or {*own} <= {1}:
        return
    waiting = [(source, convolution, own, False) for source in sources_of(graph, convolution)[:1]]
    passed = set[Source]()
    while waiting and len(passed) < FAR:
        source, reader, strides, moved = waiting.pop()
        if source is None or source in passed or source.layer in constants or graph.reads(*source) > FAR:
            continue
        passed.add(source)
        before = graph.layer(source.layer)
        readers = [graph.layer(one) for one, _ in graph.consumers(*source)]
        together = all(_takes_single_elements(one) and numbers_of(one, "strides") == own for one in readers)
        moves = before.type in ELEMENTWISE | {"Convolution"} and (len(readers) == 1 or together)
        if moves and not moved and not _is_of_weights(graph, before, constants) and _shifts(reader, strides):
            yield Pattern.PADDED
        sources = sources_of(graph, before)
        if moves and _takes_single_elements(before):
            steps = [step * more for step, more in zip(strides, numbers_of(before, "strides"), strict=False)]
            waiting += [(one, before, steps, False) for one in sources[:1]]
        elif moves and before.type != "Convolution":
            further = moved or not _is_of_weights(graph, before, constants)
            waiting += [(one, reader, strides, further) for one in sources]
        elif moved and before.type in UNCHOOSING:
            yield Pattern.UNCHOSEN
        elif moved and port_place(before.common.outputs, source.port):
            yield Pattern.LATER


def _shifts(convolution: Layer, strides: Sequence[int]) -> bool:
    """Return whether the padding of a convolution of single elements gives others if strides come before it."""
    raw, sizes = convolution.common.raw, convolution.common.inputs[0].dims[2:]
    if (raw.get("auto_pad") or "explicit").lower() not in {"explicit", "notset"} or min(strides, default=0) < 1:
        return False
    behind = zip(sizes, strides, numbers_of(convolution, "pads_end"), strict=False)
    begin = numbers_of(convolution, "pads_begin")
    return any(begin) or any((size + pad - 1) // step + 1 != -(-size // step) + pad for size, step, pad in behind)


def _is_of_weights(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a layer multiplies channels, or everything, by constants, which those of a convolution take in."""
    if layer.type == "Negative":
        return True
    held = [
        port.dims
        for port, source in zip(layer.common.inputs, sources_of(graph, layer), strict=True)
        if source is not None and source.layer in constants
    ]
    spatial = len(layer.common.outputs[0].dims) - 2
    return layer.type in {"Multiply", "Divide"} and any(set(dims[-spatial:]) <= {1} for dims in held)


def _is_interleaved(model: Model, graph: Graph, split: Layer) -> bool:
    """Return whether a Concat joins a part of a split, of several rows in each of several blocks, before its axis."""
    axes = integers(model, graph, split, 1)
    if axes is None or axes.size != 1:
        return False
    axis = int(axes.flat[0])
    for port in split.common.outputs:
        for reader in (graph.layer(one) for one, _ in graph.consumers(split.id, port.id)):
            if reader.type != "Concat" or min(port.dims, default=0) < 1:
                continue
            for joined in (number % len(port.dims) for number in numbers_of(reader, "axis")):
                if prod(port.dims[:joined]) > 1 and prod(port.dims[joined:axis]) > 1:
                    return True
    return False


def _is_partly_read(graph: Graph, layer: Layer) -> bool:
    """Return whether nothing reads one of the outputs in front of the last one."""
    return not all(graph.reads(layer.id, port.id) for port in layer.common.outputs[:-1])


def _is_joined(graph: Graph, split: Layer) -> bool:
    """Return whether an elementwise layer combines a part behind the first with a tensor of unknown size."""
    readers = (
        graph.layer(reader) for port in split.common.outputs[1:] for reader, _ in graph.consumers(split.id, port.id)
    )
    return any(
        size < 0
        for reader in readers
        if reader.type in JOINING
        for port in (*reader.common.inputs, *reader.common.outputs)
        for size in port.dims
    )


def _is_reduced(graph: Graph, split: Layer, constants: Collection[int]) -> bool:
    """Return whether a reduction alone reads what a Reshape to a constant shape makes of a part of known size."""
    parts = (port for port in split.common.outputs if min(port.dims, default=0) > 0)
    for reshape in (graph.layer(reader) for port in parts for reader, _ in graph.consumers(split.id, port.id)):
        shapes = sources_of(graph, reshape)[1:] if reshape.type == "Reshape" else []
        if shapes and shapes[0] is not None and shapes[0].layer in constants:
            readers = consumers_of(graph, reshape)
            if len(readers) == 1 and graph.layer(readers[0][0]).type.startswith("Reduce"):
                return True
    return False


def _turns_unevenly(graph: Graph, joined: Layer, constants: Collection[int]) -> bool:
    """Return whether a Concat gives the end of a tensor, negated, and its beginning, as a rotary embedding has them.

    The ends are not of the same size. A product of what it gives is added to one of the tensor.
    """
    parts, sizes = sources_of(graph, joined), [port.dims[-1:] for port in joined.common.inputs]
    if joined.common.raw.get("axis") != "-1" or len(parts) != 2 or None in parts or sizes[0] == sizes[1]:
        return False
    first, second = (graph.layer(source.layer) for source in parts if source is not None)
    if first.type not in {"Negative", "Multiply"}:
        return False
    given = computed_sources(graph, first, constants)
    cut = [graph.layer(given[0].layer), second] if len(given) == 1 else []
    whole = {source for one in cut for source in sources_of(graph, one)[:1]}
    if {one.type for one in cut} - CUTTING or len(whole) != 1:
        return False
    products = [graph.layer(one) for one, _ in consumers_of(graph, joined)]
    sums = [graph.layer(one) for product in products[:1] for one, _ in consumers_of(graph, product)]
    if [one.type for one in (*products, *sums)] != ["Multiply", "Add"]:
        return False
    other = [graph.layer(source.layer) for source in sources_of(graph, sums[0]) if source is not None]
    return any(one.type == "Multiply" and not whole.isdisjoint(sources_of(graph, one)) for one in other)


def _shifted(graph: Graph, convolution: Layer, constants: Collection[int]) -> Iterator[str]:
    """Yield `BIASED` and `SUMMED` as far as they are true of a convolution.

    Products by constants for each channel, and constant numbers, may be in between.
    """
    layer, passed = convolution, set[int]()
    while layer.id not in passed and len(targets := consumers_of(graph, layer)) == 1:
        passed.add(layer.id)
        ((number, port),) = targets
        layer = graph.layer(number)
        if layer.type not in FACTORS:
            return
        sources, ahead = graph.sources(number), bool(layer.common.inputs) and port == layer.common.inputs[0].id
        others = [(one, source.layer in constants) for one, source in sources.items() if one != port]
        held = find_port(layer.common.inputs, others[0][0]) if len(others) == 1 else None
        if held is None:
            return
        dims, sizes = held.dims, convolution.common.outputs[0].dims
        if not others[0][1]:
            alike = all(one == two or min(one, two) < 0 for one, two in zip(dims, sizes, strict=False))
            if layer.type in SUMS and len(dims) == len(sizes) and alike:
                yield Pattern.SUMMED
            return
        by_channel = (1,) * (len(sizes) - len(dims)) + tuple(dims) == (1, *sizes[1:2], *(1 for _ in sizes[2:]))
        if not (ahead or layer.type == "Multiply") or not (by_channel or prod(dims) == 1):
            return
        if by_channel and layer.type in SUMS:
            yield Pattern.BIASED


def _is_activated(graph: Graph, total: Layer, constants: Collection[int], known: dict[int, Layer | None]) -> bool:
    """Return whether a sum shifts the channels of what activations make of a convolution; arguments as of the next."""
    data = computed_sources(graph, total, constants)
    if len(data) != 1 or not total.common.outputs or not is_by_channel(total):
        return False
    source, passed = data[0], 0
    while passed < FAR and graph.reads(*source) == 1 and graph.layer(source.layer).type in ACTIVATIONS:
        given = next(iter(sources_of(graph, graph.layer(source.layer))), None)
        if given is None:
            return False
        source, passed = given, passed + 1
    return passed > 0 and convolution_of(graph, source, constants, known) is not None


def _steps_over(convolution: Layer) -> bool:
    """Return whether a convolution of single elements of unknown sizes has strides that divide what is taken for them.

    It then has a way of its own, which other sizes than multiples of the strides do not have.
    """
    shapes = [port.dims[2:] for port in convolution.common.inputs]
    if len(shapes) != PAIR or not shapes[0]:
        return False
    sizes, filters = shapes
    steps = numbers_of(convolution, "strides")
    pads = [pad for name in ("pads_begin", "pads_end") for pad in numbers_of(convolution, name)]
    taken = [size if size >= 0 else TAKEN for size in sizes]
    return (
        convolution.type == "Convolution"
        and len(sizes) <= PAIR
        and {*filters} == {1}
        and not any(pads)
        and min(sizes) < 0
        and min(steps, default=1) > 0
        and max(steps, default=1) > 1
        and all(size % step == 0 for size, step in zip(taken, steps, strict=False))
    )


def _is_affine(
    graph: Graph, layer: Layer, constants: Collection[int], known: dict[tuple[int, int, bool, bool], bool]
) -> bool:
    """Return whether a product and a sum behind a layer become one layer.

    The sum comes behind the product, with a Reshape in between or not, or at once before it if both are by constants.

    Args:
        graph: that the layer is in.
        layer: the layer.
        constants: the layers of the graph that are computed of constants alone.
        known: the answers behind each input of the graph, with or without a product and a sum before it. Without them
            a chain that many layers lead into would be followed from each, in quadratic time.
    """
    return any(_joins(graph, reader, port, constants, known) for reader, port in consumers_of(graph, layer))


def _joins(
    graph: Graph, reader: int, port: int, constants: Collection[int], known: dict[tuple[int, int, bool, bool], bool]
) -> bool:
    """Return whether a product and a sum that become one layer follow an input.

    A Negative is a product, unless an Add reads it, which becomes a difference then: what is negated comes second.
    """
    product, total, found, passed = False, False, False, list[tuple[int, int, bool, bool]]()
    while (key := (reader, port, product, total)) not in known:
        passed.append(key)
        layer = graph.layer(reader)
        if layer.type not in CROSSED:
            break
        sources, targets = graph.sources(layer.id), consumers_of(graph, layer)
        by_constant = all(source.layer in constants for number, source in sources.items() if number != port)
        negated = layer.type == "Add" and graph.layer(sources[port].layer).type == "Negative"
        ahead = port == layer.common.inputs[0].id and not negated
        if layer.type in SUMS:
            found = product and ahead
            if found or not by_constant:
                break
            total = True
        elif layer.type == "Negative" and [graph.layer(one).type for one, _ in targets] == ["Add"]:
            pass
        elif layer.type in {"Multiply", "Negative"} or (layer.type == "Divide" and ahead):
            if total:
                found = by_constant
                break
            product = True
        elif layer.type in MOVED:
            total = False
        else:
            break
        if len(targets) != 1:
            break
        ((reader, port),) = targets
    found = known.get(key, found)
    known.update(dict.fromkeys(passed, found))
    return found
