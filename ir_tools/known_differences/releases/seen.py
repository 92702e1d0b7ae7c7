"""A layer as a file shows it: what decides about what a release does with it."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import NoReturn

from ir_tools.ops import Attrs, Op, Role
from ir_tools.ops.definition import Fact
from ir_tools.types import is_static

__all__ = [
    "ANY_CONVOLUTION",
    "ANY_SEQUENCE",
    "COMBINING",
    "CONVOLUTIONS",
    "ELEMENTWISE",
    "FIRST_VERSION",
    "IN_SEQUENCES",
    "ITERATING",
    "MULTIPLE",
    "NUMBER",
    "REMAINDERS",
    "SEQUENCES",
    "UNCHOOSING",
    "UNCONVERTED",
    "Seen",
    "Undecided",
    "Unplaced",
    "is_possible",
]

FIRST_VERSION = 10
"""The IR version whose inputs and outputs go by the names of layers, and are converted unless they are f32 or i32."""
UNCONVERTED = frozenset({"f32", "i32", "i8", "u8", "boolean"})
"""Element types that inputs and outputs of IR v10 keep."""
MULTIPLE = "Subtract of the remainder"
"""What stands in `Seen.producers` of a Divide for the type of a layer whose output its divisor divides."""
REMAINDERS = frozenset({"FloorMod", "Mod"})
"""Operations of remainders."""


class Pattern(StrEnum):
    """What a layer may be part of, by the layers around it; what a constant is part of, `PackedWeights.uses` names."""

    AFFINE = "affine"
    """In `Seen.patterns` of a StridedSlice: a product and a sum behind it become one layer."""
    BIASED = "biased"
    SUMMED = "summed"
    """Of a convolution, or of a MatMul that has `UNSIGNED_WEIGHTS`: an Add or Subtract by a constant for each channel
    or column is compiled with it; one with a computed tensor of its shape is."""
    SHARED = "shared"
    """Of a Slice or VariadicSplit: its computed limits depend on a constant that it reads, by types of `LIMITING`."""
    SIZING = "sizing"
    """Of a Slice: a shape behind it is made of its sizes."""
    RESHAPED = "reshaped"
    """Of a Slice: its elements get another shape."""
    GATHERED = "gathered"
    """Of a Slice: a GatherElements reads it along another axis than its own."""
    MATCHED = "matched"
    MATCHED_LATER = "matched later"
    MASKING = "masking"
    """Of a Slice to a size of a tensor: products or joins of slices with what is computed of that, but not by layers
    that combine two tensors, need equal sizes; so do those with what any layers compute of it, or of its sizes; it
    masks an attention whose keys or values they compute."""
    JOINED = "joined"
    """Of a split: an elementwise layer combines a part behind the first with a tensor of unknown size."""
    PARTLY_READ = "partly read"
    """Of a layer in a body: nothing reads one of its outputs in front of the last one."""
    MISTAKEN = "mistaken"
    """Of a split: elementwise layers that 2022.3 compiles as one read a part of it in place of another one."""
    OVERWRITING_READ = "overwriting what is read"
    OVERWRITING_JOINED = "overwriting what joined layers read"
    """Of an Erf: another layer that is compiled with it reads its input, or any other one if such a layer gives that;
    such layers do both."""
    INTERLEAVED = "interleaved"
    """Of a split: a Concat joins a part of it along an axis before its own."""
    REDUCED = "reduced"
    """Of a split: a Reshape to a constant shape reads a part of it, and a reduction alone reads that."""
    BY_NUMBER = "by a number"
    REPEATED = "repeated"
    SHIFTED = "shifted"
    """Of a reduction behind one of its type, where releases write the axes of both in one list: a number is among
    them, or they are of two element types; an axis is there twice, or another one is there."""
    LATER = "later output"
    UNCHOSEN = "no first output"
    COUNTED = "counted"
    """Of a layer that makes booleans, and of a convolution whose strides move before elementwise layers: it reads an
    output of another layer but the first, or one of a layer of `UNCHOOSING`. Of booleans: they become numbers again."""
    MASK = "mask"
    """Of a layer that makes booleans: what it reads are 0 and 1."""
    SPREAD = "spread"
    """Of a reduction to a number: elementwise layers combine it with a tensor of one to three dimensions."""
    PAIRED = "paired"
    UNPAIRED = "unpaired"
    """Of a ReduceMax or ReduceMin: a Concat joins two parts along its axis, not both of one element; they are known to
    have different sizes, neither of them 1."""
    LATE_SIZES = "late sizes of constants"
    LATE_SHAPES = "late shapes of constants"
    """Of a Mod: sizes that it decides cut, repeat or reshape what constants and sizes alone decide; that gets another
    shape then or later."""
    ACTIVATED = "activated"
    """Of a sum: it shifts channels by constants, behind activations of a convolution that alone read each other."""
    OF_REDUCTION = "of a reduction"
    """Of a Divide by or of constants: it alone reads what a reduction gives, which may be moved, scaled or shifted."""
    DECIDING = "deciding"
    """Of a Convert: what it gives becomes sizes by which others are cut, repeated or reshaped."""
    OF_SIZES = "of sizes"
    """Of a Broadcast: it repeats to a shape that is made of single numbers."""
    EXPANDED = "expanded"
    """Of an elementwise layer of two tensors of one shape: one is repeated by a Broadcast that others read, too."""
    FIRST_CONVOLVED = "first convolved"
    SECOND_CONVOLVED = "second convolved"
    """Of a sum or difference: it alone reads what a convolution gives, scaled or shifted by constants, there, or what
    one in 8 bits gives, quantized again."""
    SUMMED_IN_BYTES = "summed in bytes"
    """Of such a sum: its first input is of a convolution in 8 bits, the other one is quantized, and so is the sum,
    which other layers then read."""
    RESIDUAL = "residual"
    RESIDUAL_BY_CHANNEL = "residual by channel"
    """Of a sum or difference of two tensors of the same sizes: one comes of a convolution in 8 bits, quantized to
    levels, and the sum is quantized again, both through layers that are compiled with the convolution; nothing but what
    the sum is made of reads the other one, or that is not of levels; limits of those levels, or constants behind them,
    are one for each channel."""
    STEPPING = "stepping"
    UNLIMITED = "unlimited"
    """Of such a sum: both tensors are computed and read once, and the convolution that it is compiled with has filters
    of one element and strides that divide the sizes taken for unknown ones; the convolution reads what is behind
    another one or a pooling, and the other tensor is not."""
    FUSED = "fused"
    UNFUSED = "unfused"
    OF_ROWS = "of rows"
    OF_IMAGES = "of images"
    """Of a SoftSign: what is before it is compiled with a convolution or another layer in front of that, or is kept for
    one that it cannot be compiled with, or is in a body; it scales or shifts a product by constants that are not one
    for each column, or a product of four axes or more."""
    DECONVOLVED = "deconvolved"
    """Of a convolution: it reads what a transposed one gives, quantized to levels from a negative number on."""
    PADDED = "padded"
    """Of a convolution whose strides move before other layers: its padding does not fit there."""
    MULTIPLIED = "multiplied"
    MULTIPLIED_OTHERWISE = "multiplied otherwise"
    MULTIPLIED_IN_ORDER = "multiplied in order"
    MULTIPLIED_AT_ONCE = "multiplied at once"
    MULTIPLIED_DATA_LATE = "multiplied data late"
    MULTIPLIED_LATE = "multiplied late"
    MULTIPLIED_OTHERWISE_LATE = "multiplied otherwise late"
    """Of a convolution by stored filters of one element, which releases compile as a MatMul in the place of the
    Transposes around it, too: these, or strides, do something else, before 2026.4; so they do, with other axes last; a
    Reshape is behind it; there is one batch; on 2026.4 they do something else, and one is in front of it; or none is
    there, and one is behind it; one is in front of it, or a Reshape, with other axes last."""
    QUANTIZED = "quantized data"
    UNSIGNED = "unsigned data"
    UNSHIFTED = "unshifted data"
    WITH_ZERO_POINT = "data with a zero point"
    BETWEEN_BYTES = "zero between bytes"
    BETWEEN_EARLY_BYTES = "zero between early bytes"
    NARROW = "narrow"
    RESCALED = "rescaled"
    AVERAGED = "averaged"
    SPREAD_OUT = "spread out"
    CUT = "cut"
    """Of a convolution, MatMul or MVN: its data are those of a FakeQuantize between numbers, to levels of 8 bits, and a
    number may be added to them; the least of them is 0; bytes without a zero point stand for them; bytes with one do,
    for negative ones, too; no byte stands for 0; nor does one on releases before 2022.1; there are 255 levels, from a
    number to its opposite; there is another uneven number of them; they are averaged before; a Broadcast repeats them;
    a Slice cuts them."""
    SCALED_APART = "scaled apart"
    """Of a convolution or MatMul of such data and scaled weights: several inputs read what it gives, and the scale
    moves behind a layer of one of them."""
    REQUANTIZED = "requantized"
    REQUANTIZED_BY_CHANNEL = "requantized by channel"
    LEFT_IN_BYTES = "left in bytes"
    ADJUSTED = "adjusted"
    ADJUSTED_LATER = "adjusted later"
    ACTIVATED_BIAS = "activated bias"
    """Of a convolution or MatMul of such data: a FakeQuantize to 8 bits alone reads what it gives, or what a ReLU and
    constants make of it; so it does, its weights may be negative, several numbers scale it, and none shifts what a ReLU
    makes of it; one reads that, behind any function, and a layer that computes in bytes reads this, and its weights are
    scaled constants of u8; constants for each channel behind a function shift or scale what it gives, and are not
    compiled with what is in front of them or with a FakeQuantize, or a PReLU has several slopes; so they do, or it has
    them behind a function or a number that shifts, and a number scales the weights; constants for each channel shift it
    before a function, and a number scales that, or the weights."""
    MISPLACED_LEVELS = "misplaced levels"
    """Of a MatMul of such data: limits of its weights, which are quantized, are along their last axis, and releases
    take them for others."""
    NEGATED = "negated"
    NEGATED_UNBIASED = "negated without a bias"
    NEGATED_BY_CHANNEL = "negated by channel"
    """Of one whose weights may be negative: what a ReLU or PReLU makes of it is multiplied by constants, not all of
    them positive, and that does not move behind what reads it; so it is, without a bias, and several numbers scale
    it, or it is compiled with what reads it; several numbers scale it."""
    BYTE_COLUMNS = "columns in bytes"
    BYTES_BY_NUMBER = "bytes by a number"
    UNSIGNED_WEIGHTS = "unsigned weights"
    SCALED_AT_ONCE = "scaled at once"
    """Of a MatMul of such data: weights of 8 bits without a zero point have a scale for each output, which gets no
    other shape at once; a number scales them all; they are u8, and have one or a number; releases do not move that
    behind other layers."""
    LESS_OF_UNSIGNED = "less of unsigned weights"
    COLUMNS_LESS_A_FLOAT = "columns less a float"
    """Of one by u8 with a scale for each output or a number: it has zero points, of floats or at most one for each
    output; of equal floats, or a number of less than two axes, and a scale for each output."""
    BEYOND_BYTES = "beyond bytes"
    """Of a transposed convolution of such data: its scaled weights of 8 bits less their zero points leave their
    type."""
    LESS_BYTES = "less bytes"
    LESS_BYTES_ALONE = "less bytes alone"
    """Of a product of such data: its weights of 8 bits have zero points that are held in 8 bits; and no scale."""
    SCALED_IN_PART = "scaled in part"
    """Of a convolution in groups of such data: scales or limits of its weights are one for each group of filters, or
    one for each filter of all groups."""
    ZEROS_OF_FILTERS = "zeros of filters"
    ZEROS_BETWEEN_BYTES = "zeros between bytes"
    """Of a product of such data, whose weights are stored: they have zero points that differ along the filters of a
    group; that are no integers."""
    LEVELS_OF_INPUTS = "levels of inputs"
    LEVELS_ALONG_MORE = "levels along more"
    LEVELS_WITHOUT_AXES = "levels without axes"
    ZERO_BETWEEN_LEVELS = "zero between levels"
    FEW_LEVELS = "few levels"
    """Of a product of such data: the limits of its weights, which are quantized, differ along axis 1; along another
    one than the first two, or along several; they have no axes; the number 0 is in between two of 255 or 256 levels;
    there are 15, or 16, and for another layer than a MatMul 0 is in between two of them."""
    SCALED_LEVELS = "scaled levels"
    EVEN_LEVELS = "even levels"
    """Of a FakeQuantize: constants scale it beside another layer that reads it, or they alone, and then scale or shift
    it or a layer multiplies it beside another one; that, and its limits are a number and its opposite."""
    EXTREME_LEVELS = "extreme levels"
    """Of a FakeQuantize: its data are made from a maximum or minimum along axes, and what reads it leaves bytes."""
    OF_PRODUCT = "of a product"
    OF_MATRICES = "of matrices"
    """Of a FakeQuantize: a MatMul by one constant matrix, or by several or computed ones, gives its data, alone or
    through elementwise layers that are compiled with it."""
    SHIFTED_AND_READ = "shifted and read"
    SHIFTED_AND_SIZED = "shifted and sized"
    """Of a FakeQuantize: it reads what a convolution gives, whose channels sums of constants shift, and others read
    that before it is shifted, too; a size of what it reads or gives is combined with a number."""
    BETWEEN_LEVELS = "between levels"
    COMPILED_LEVELS = "compiled levels"
    """Of a Clamp of what a FakeQuantize gives: one of its limits lies between two levels of that, or may; and a layer
    is compiled with the FakeQuantize behind it."""
    MEAN_SQUARE = "mean square"
    NEWER_MEAN_SQUARE = "mean square in another form"
    """Of a ReduceMean: it is of squares, by whose root the data are divided, and then multiplied by constants; the
    second is such a one that OpenVINO 2026.2 alone takes for it."""
    MIXED_RANKS = "mixed ranks"
    QUERIED_VALUES = "queried values"
    """Of a SoftMax between two products, with elementwise layers: tensors of three and of four dimensions are
    multiplied; the values are the queries, of one batch, whose rows several threads may share."""
    BEHIND_PRODUCT = "behind a product"
    """Of a TensorIterator: it alone reads what comes of a MatMul, and releases compile layers of its body together."""
    UNCUT = "uncut"
    UNCOUNTED = "uncounted"
    """Of a TensorIterator: its body reads none of the parts that it cuts its inputs into; nor does it join parts."""
    CHOSEN = "chosen"
    """Of a layer: it gives an output without elements of a branch of an If."""
    DECIDED = "decided"
    """An If whose condition compares a tensor with itself, or a layer that reads what is made of one."""
    LIMITED = "limited"
    """A suppression of boxes, or a layer that reads what is made of one: its unknown sizes have limits."""
    CHANNELS_LAST = "channels last"
    """Of a TopK: the channels of its data may be last in memory."""
    SHARED_ORDER = "shared order"
    """Of a Transpose of known sizes: other layers read its order, too, and a sequence alone reads what it gives, or
    what an elementwise layer makes of that."""
    OF_LEVELS = "of levels"
    OF_SIGNED_LEVELS = "of signed levels"
    """Of a ReduceSum: a FakeQuantize to 255 or 256 levels, or a ReLU behind it, gives what it reads; some levels are
    negative."""
    SCALED_BY_A_LIST = "scaled by a list"
    """Of a layer that gives the elements another shape, in a graph with a FakeQuantize: constants scale what it reads,
    and may shift it; a list is among those that scale, or among those that shift if the others are numbers."""
    GIVEN_LENGTHS = "given lengths"
    STATE_BY_NUMBER = "state by a number"
    """Of a sequence: an input of its graph, not only its sizes, decides the lengths; a layer that alone reads a last
    state combines it with a constant of one element, or negates it."""
    EXCHANGED = "exchanged"
    """Of a sequence: others read what a Transpose to rows of steps gives it, and one back alone reads its output."""
    OUTLIVING = "outliving"
    """Of a Transpose of three axes: products of what it gives of a convolution or pooling are joined with that."""
    UNEVEN = "uneven"
    """Of a Concat: it turns two parts of a tensor that are not of the same size, as a rotary embedding turns halves."""
    NORMALIZED = "normalized in place"
    NORMALIZED_AS_OTHER = "normalized in another shape"
    UPDATED = "updated in place"
    PART_READ = "part read elsewhere"
    PART_GIVEN = "part given"
    """Of a Concat: what alone reads it may write into its memory: a SoftMax, GRN or MVN, and a SoftMax if its elements
    get another shape in between; a GRN or MVN in that case; a layer that updates elements. Of such a one: layers that
    it does not depend on read a part, or this in another shape; a part is an output of the graph."""
    GIVEN_BACK = "given back"
    """Of a Result: it gives an input of the model."""
    GIVEN_MOVED = "given moved"
    """Of a Transpose of a number or list that gives an output of the model: the model gives what it reads, too, or
    another such Transpose of it."""
    PART_MOVED = "part moved"
    """Of a Transpose of a number or list that gives an output of the model: it reads one of several outputs of a
    layer."""
    TRANSPOSED_BEFORE = "transposed before"
    """Of a GRN: what it reads is transposed so that the channels move, and after that computed elementwise, each tensor
    read once."""
    UNCONVERTED = "unconverted"
    """Of a NonZero: it alone reads what a Convert makes of floats, or of larger integers."""
    RESHAPED_AFTER = "reshaped after"
    """Of a reduction that keeps no dimensions: a layer behind it moves a dimension of 1 to an axis that is reduced."""
    TRANSPOSED_TO_REDUCE = "transposed to reduce"
    """Of such a reduction: a Transpose before it does so, in the output."""
    EXPANDED_TO_REDUCE = "expanded to reduce"
    """Of a reduction of what a Reshape or Unsqueeze alone gives it, with more dimensions of 1, which are not reduced:
    others of 1 move to the front."""
    REDUCED_FROM_THE_END = "reduced from the end"
    REDUCED_BEFORE_THE_FIRST = "reduced before the first"
    """Of such a reduction: an axis that is counted from the end is another one, or none, in the smaller data."""
    UNSQUEEZED_AND_KEPT = "unsqueezed and kept"
    EXPANDED_AND_KEPT = "expanded and kept"
    """Of such a reduction behind an Unsqueeze, or a Reshape, that keeps dimensions: it reduces one before an added
    one."""
    BENT_BY_CHANNEL = "bent by channel"
    """Of a deconvolution in groups: a PReLU with several constant slopes alone reads it, constant factors between."""
    GIVEN_IN_ANOTHER_SHAPE = "given in another shape"
    """Of a MVN or GroupNormalization: it may write over what it reads, an output of the graph, in another shape."""
    OUTGROWN = "outgrown"
    """Of an If: what is computed of its outputs may take more memory than they do, at a distance."""
    IN_PLACE = "in place"
    SOFTENED = "softened"
    SOFTENED_INPUT = "softened input"
    PASSED_ON = "passed on"
    FIXED_STATE = "fixed state"
    """Of a layer in the body of a loop that reads an input of the body: from its memory the next state is computed in
    the same memory, or anything is, if it stays the same; the first of it is by a SoftMax; so it is of an input that
    stays the same; it gives that memory as the next state; it gives an input that stays the same as the next state."""
    COPIED_STATE = "copied state"
    """Of a Result in the body of a loop: it gives a state that stays the same as the next one of a state before it,
    which is read."""
    GIVEN_AGAIN = "given again"
    """Of a Result in the body of a loop: another one before it gives the same tensor."""
    KEPT_INPUT = "kept input"
    STARTING = "starting"
    UNRELATED = "unrelated"
    CROSSED = "crossed"
    JOINED_STATE = "joined state"
    """Of a layer that keeps a variable: in the memory of what it keeps lies an input, which others read, too; what it
    keeps is the initial value, or this is computed of it and others read both; it does not depend on the variable; it
    depends on other variables alone; it is joined of parts, and the initial value is not constant."""
    HELD = "held"
    OVERWRITTEN = "overwritten"
    """Of a layer that keeps a variable as it is: no other layer reads it, but for those that nothing depends on; only a
    SoftMax or GRN does."""
    KNOWN_KEPT = "known sizes kept"
    UNKNOWN_KEPT = "unknown sizes kept"
    OTHER_KEPT = "other sizes kept"
    OUTGROWN_START = "outgrown start"
    NEVER_KEPT = "never kept"
    """Of a layer that reads a variable: the sizes of what is kept of it are known; they are not, though those of the
    initial value are; they are others than these; the initial value is computed for this variable alone, with unknown
    sizes and others that the kept value does not have; no layer of the model keeps it."""
    BEGUN = "begun"
    """Of a Concat: a part is a variable of unknown sizes, converted or not, whose initial value is computed for it
    alone."""
    KNOWN_STATE = "known state"
    """Of a MatMul: its second input is one matrix, computed of variables whose initial values are constants."""
    OPEN_STATE = "open state"
    """Of a SoftMax or GRN: it reads a variable of unknown sizes."""
    WIDENED = "widened"
    """Of an attention, or of the SoftMax between two products: elementwise layers alone combine what it gives, for
    several matrices, with a tensor of more dimensions."""
    OVERRUN = "overrun"
    """Of an attention of known sizes, or of the SoftMax between two products: its queries and keys are in bytes, of
    FakeQuantizes, one alone reads what it gives, and it has up to 32 keys, and vectors of more than 64 values."""
    REPEATED_MASK = "repeated mask"
    """Of an attention: its mask is a tensor of one row, which a Reshape gives an unknown number of rows."""
    BESIDE_VARIABLES = "beside variables"
    STATE_KEYS = "state keys"
    GATHERED_KEYS = "gathered keys"
    REPEATED_KEYS = "repeated keys"
    """Of an attention: its graph has variables; its keys are computed of one; a Concat joins them, of a variable that a
    Gather reads; so it does, and they are repeated for several heads."""


UNCHOOSING = frozenset({"LSTMSequence", "TopK", "VariadicSplit"})
"""Types of layers without a first output that the runtime takes where no number is given."""
ITERATING = frozenset({"Loop", "TensorIterator"})
"""Types of layers that run their body again and again."""
CONVOLUTIONS = frozenset({"Convolution", "GroupConvolution"})
"""Types of convolutions that are compiled with elementwise layers behind them."""
ANY_CONVOLUTION = CONVOLUTIONS | {"ConvolutionBackpropData", "GroupConvolutionBackpropData"}
"""Types of all convolutions of numbers."""
SEQUENCES = frozenset({"GRUSequence", "LSTMSequence"})
"""Types of layers that releases compute in 8 bits, with data, weights and states of that. Measured."""
ANY_SEQUENCE = SEQUENCES | {"RNNSequence"}
"""Types of layers that repeat a cell."""
IN_SEQUENCES = frozenset(
    f"sequence {use}" for use in ("in bytes", "from a state", "from a packed state", "in part", "both ways")
)
"""Of a constant: what `PackedWeights.uses` says of weights of one of them, in a graph with a FakeQuantize."""
NEEDED: Mapping[str, Set[str]] = {
    **dict.fromkeys(
        (
            Pattern.IN_PLACE,
            Pattern.SOFTENED,
            Pattern.SOFTENED_INPUT,
            Pattern.PASSED_ON,
            Pattern.FIXED_STATE,
            Pattern.GIVEN_AGAIN,
            Pattern.COPIED_STATE,
        ),
        ITERATING,
    ),
    **dict.fromkeys((Pattern.MIXED_RANKS, Pattern.QUERIED_VALUES), frozenset({"MatMul"})),
    **dict.fromkeys((Pattern.SHIFTED_AND_READ, Pattern.SHIFTED_AND_SIZED), ANY_CONVOLUTION),
    **dict.fromkeys((Pattern.MEAN_SQUARE, Pattern.NEWER_MEAN_SQUARE), frozenset({"Power"})),
    **dict.fromkeys(
        (
            Pattern.ACTIVATED,
            Pattern.FIRST_CONVOLVED,
            Pattern.SECOND_CONVOLVED,
            Pattern.STEPPING,
            Pattern.SUMMED_IN_BYTES,
            Pattern.UNLIMITED,
            Pattern.RESIDUAL,
            Pattern.RESIDUAL_BY_CHANNEL,
        ),
        CONVOLUTIONS,
    ),
    **dict.fromkeys(
        (
            Pattern.BEGUN,
            Pattern.BESIDE_VARIABLES,
            Pattern.CROSSED,
            Pattern.GATHERED_KEYS,
            Pattern.HELD,
            Pattern.JOINED_STATE,
            Pattern.KEPT_INPUT,
            Pattern.KNOWN_STATE,
            Pattern.OPEN_STATE,
            Pattern.OVERWRITTEN,
            Pattern.REPEATED_KEYS,
            Pattern.STARTING,
            Pattern.STATE_KEYS,
            Pattern.UNRELATED,
        ),
        frozenset({"ReadValue"}),
    ),
    **dict.fromkeys(
        (Pattern.KNOWN_KEPT, Pattern.OTHER_KEPT, Pattern.OUTGROWN_START, Pattern.UNKNOWN_KEPT), frozenset({"Assign"})
    ),
    **dict.fromkeys(
        (
            Pattern.BETWEEN_LEVELS,
            Pattern.COMPILED_LEVELS,
            Pattern.OF_LEVELS,
            Pattern.OF_SIGNED_LEVELS,
            Pattern.OVERRUN,
            Pattern.SCALED_BY_A_LIST,
        ),
        frozenset({"FakeQuantize"}),
    ),
    Pattern.CHOSEN: frozenset({"If"}),
    Pattern.EXCHANGED: frozenset({"Transpose"}),
    Pattern.EXPANDED: frozenset({"Broadcast"}),
    **dict.fromkeys((Pattern.PAIRED, Pattern.UNPAIRED), frozenset({"Concat"})),
    Pattern.GATHERED: frozenset({"GatherElements"}),
    **dict.fromkeys((Pattern.OF_IMAGES, Pattern.OF_ROWS, Pattern.OUTLIVING), frozenset({"MatMul"})),
    **dict.fromkeys(
        (
            Pattern.MULTIPLIED,
            Pattern.MULTIPLIED_OTHERWISE,
            Pattern.MULTIPLIED_IN_ORDER,
            Pattern.MULTIPLIED_AT_ONCE,
            Pattern.MULTIPLIED_DATA_LATE,
            Pattern.MULTIPLIED_LATE,
            Pattern.MULTIPLIED_OTHERWISE_LATE,
        ),
        frozenset({"Reshape", "Transpose"}),
    ),
    Pattern.NORMALIZED: frozenset({"GRN", "MVN", "SoftMax"}),
    Pattern.NORMALIZED_AS_OTHER: frozenset({"GRN", "MVN"}),
    Pattern.UPDATED: frozenset({"ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate"}),
    **dict.fromkeys((Pattern.REDUCED, Pattern.REPEATED_MASK), frozenset({"Reshape"})),
    Pattern.SHARED_ORDER: ANY_SEQUENCE,
    Pattern.UNEVEN: frozenset({"Slice", "StridedSlice"}),
    **dict.fromkeys(IN_SEQUENCES, SEQUENCES),
}
"""Types of layers of which a model has one if a layer of it has a pattern."""
TAKEN = 64
"""What releases take for a size that nothing limits. Measured."""
NUMBER = -1
"""What stands for an axis in `Seen.scaled` if one number scales or shifts all elements."""
COMBINING = frozenset(
    {"Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum", "SquaredDifference", "FloorMod", "Mod", "Power"}
)
"""Types of layers that combine two tensors of numbers element by element."""
ELEMENTWISE = COMBINING | {
    *("Abs", "Ceiling", "Clamp", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HSigmoid", "HSwish", "Log", "Mish"),
    *("Negative", "ReLU", "Round", "Sigmoid", "Sign", "Sin", "SoftPlus", "Sqrt", "Tan", "Tanh"),
}
"""Types of layers that compute each element of one, or of two of the same place; strides of convolutions with filters
of one element move before them. Measured."""
OF_FIRST = frozenset({"ConvertLike"})
"""Operations whose first input alone decides whether their outputs are known before a device sees them."""
UNFOLDED = frozenset(
    {
        *("AdaptiveAvgPool-8", "AdaptiveMaxPool-8", "AvgPool-1", "AvgPool-14", "AvgPool-16"),
        *("BatchNormInference-1", "BatchNormInference-5", "BGRtoNV12-17", "BitwiseAnd-13", "BitwiseNot-13"),
        *("BitwiseOr-13", "BitwiseXor-13", "Bucketize-3", "Col2Im-15", "ConvertPromoteTypes-14"),
        *("Convolution-1", "ConvolutionBackpropData-1", "CTCGreedyDecoder-1", "CTCGreedyDecoderSeqLen-6"),
        *("CTCLoss-4", "DeformableConvolution-1", "DeformableConvolution-8", "DeformablePSROIPooling-1"),
        *("DetectionOutput-1", "DetectionOutput-8", "DFT-7", "Einsum-7", "Elu-1", "EmbeddingBagOffsets-15"),
        *("EmbeddingBagOffsetsSum-3", "EmbeddingBagPacked-15", "EmbeddingBagPackedSum-3"),
        *("EmbeddingSegmentsSum-3", "ErfInv-17", "ExperimentalDetectronDetectionOutput-6"),
        *("ExperimentalDetectronGenerateProposalsSingleImage-6", "ExperimentalDetectronPriorGridGenerator-6"),
        *("ExperimentalDetectronROIFeatureExtractor-6", "ExperimentalDetectronTopKROIs-6"),
        *("ExtractImagePatches-3", "FakeQuantize-1", "GatherElements-6", "GatherND-5", "GatherND-8"),
        *("GatherTree-1", "Gelu-2", "GenerateProposals-9", "GRN-1", "GroupConvolution-1"),
        *("GroupConvolutionBackpropData-1", "GroupedMatMul-17", "GroupNormalization-12", "GRUCell-3"),
        *("GRUSequence-5", "HardSigmoid-1", "I420toBGR-8", "I420toRGB-8", "Identity-16", "IDFT-7"),
        *("Interpolate-1", "Inverse-14", "IRDFT-9", "IsFinite-10", "IsInf-10", "IsNaN-10", "ISTFT-16"),
        *("LogSoftmax-5", "LRN-1", "LSTMCell-1", "LSTMCell-4", "LSTMSequence-5", "MatrixNms-8", "Mod-1"),
        *("MulticlassNms-8", "MulticlassNms-9", "Multinomial-13", "MVN-1", "NMSRotated-13"),
        *("NonMaxSuppression-1", "NonMaxSuppression-3", "NonMaxSuppression-4", "NonMaxSuppression-5"),
        *("NonMaxSuppression-9", "NormalizeL2-1", "NV12toBGR-8", "NV12toRGB-8", "Proposal-1", "Proposal-4"),
        *("PSROIPooling-1", "RDFT-9", "RegionYolo-1", "ReorgYolo-1", "ReverseSequence-1"),
        *("RGBtoNV12-17", "RNNCell-1", "RNNSequence-5", "ROIAlign-9", "ROIAlignRotated-15", "ROIPooling-1"),
        *("Roll-7", "ScaledDotProductAttention-13", "SearchSorted-15", "SegmentMax-16", "Selu-1"),
        *("SliceScatter-15", "SoftSign-9", "SparseFillEmptyRows-16", "STFT-15", "StringTensorPack-15"),
        "Unique-10",
    }
)
"""Operations that no release computes of constants: a device sees them, whatever they read. Measured."""


def is_possible(pattern: str, types: Set[str]) -> bool:
    """Return whether layers of a model that has these types of layers may be part of a pattern."""
    return not types.isdisjoint(NEEDED.get(pattern, types))


@dataclass(frozen=True, slots=True)
class Seen:
    """A layer as a file shows it: what decides about what a release does with it.

    Attributes:
        op: the operation.
        attrs: None if they have no meaning.
        inputs, outputs: what is known of the tensors.
        constant: the numbers of the inputs that are computed of constants alone, or known from sizes.
        version: of the IR.
        held: element types of the constants that those inputs are computed of.
        opset: of its version stamp.
        first: whether it reads an input of its graph.
        last: whether it gives an output of its graph.
        absent: which attributes its file leaves out.
        open: whether a port of it records an unknown size.
        names: what is wrong with its name or its file, of what `model_problems.NAMES` lists.
        between: whether it reads inputs of its graph alone, and only outputs of it read its outputs.
        producers: the type of the layer that computes each input, if nothing else reads that; else empty. `MULTIPLE`
            if that subtracts the remainder of a division by the second input.
        readers: the layers that read its outputs, by number of the output and type, sorted; a Result that IR v10
            converts is a Convert.
        scaled: of a reduction: along which axes of its output constants scale or shift this, in elementwise layers
            behind it that alone read it, or what scales its quantized data; `NUMBER`: by one number.
        patterns: what it is part of: of a constant of few bits `PackedWeights.uses`; of others of `Pattern`.
        unread: which inputs of a loop nothing reads in its body.
        idle: whether it is in a branch of an If that a known condition does not take: releases read such a branch, and
            do not compile it.
    """

    op: Op
    attrs: Attrs | None
    inputs: Sequence[Fact]
    outputs: Sequence[Fact]
    _: KW_ONLY
    constant: Collection[int] = ()
    version: int = 11
    held: Set[str] = frozenset()
    opset: int = 0
    first: bool = False
    last: bool = False
    absent: frozenset[str] = frozenset()
    open: bool = False
    names: frozenset[str] = frozenset()
    between: bool = False
    producers: tuple[str, ...] = ()
    readers: tuple[tuple[int, str], ...] = ()
    scaled: frozenset[int] = frozenset()
    patterns: frozenset[str] = frozenset()
    unread: frozenset[int] = frozenset()
    idle: bool = False

    @property
    def around(self) -> tuple[object, ...]:
        """What decides about it besides its operation, attributes and tensors, to compare it with others."""
        alone = (
            self.first,
            self.last,
            self.absent,
            self.open,
            self.between,
            self.folded,
            self.patterns,
            self.unread,
            self.idle,
        )
        return (self.opset, self.constant, self.held, self.names, self.producers, self.readers, self.scaled, *alone)

    def has(self, pattern: str) -> bool:
        """Return whether it is part of a pattern."""
        return pattern in self.patterns

    def is_behind(self, types: Collection[str], number: int = 0) -> bool:
        """Return whether an input is computed by a layer of one of these types, and nothing else reads it."""
        return number < len(self.producers) and self.producers[number] in types

    def rank(self, number: int = 0) -> int:
        """Return how many dimensions an input has; 0 if that is not known."""
        return len(self.inputs[number].shape or ())

    @property
    def has_known_sizes(self) -> bool:
        """Whether the sizes of all inputs are known."""
        return all(is_static(fact.shape) for fact in self.inputs)

    @property
    def border(self) -> bool:
        """Whether it reads an input of its graph, or gives an output of it."""
        return self.first or self.last

    @property
    def folded(self) -> bool:
        """Whether its outputs are known before a device sees it: of constants, or of sizes in a larger model."""
        packed = self.op.role is Role.CONSTANT and self.patterns
        kept = self.op.role in {Role.READ_VARIABLE, Role.ASSIGN_VARIABLE}
        if packed or kept or str(self.op) in UNFOLDED:
            return False
        needed = self.inputs[:1] if self.op.type in OF_FIRST else self.inputs
        if needed and all(number in self.constant for number in range(len(needed))):
            return True
        known = [fact.exact for fact in self.outputs]
        return not self.between and bool(known) and all(exact is not None and exact.size for exact in known)

    @property
    def converted(self) -> bool:
        """Whether a device may see other types than the file: within a model, and at inputs and outputs of IR v10."""
        return not self.border or self.version == FIRST_VERSION


class Undecided(Exception):
    """What is asked of a layer is not known of it."""


class Unplaced(Seen):
    """A layer of which operation, attributes and the types of all layers of its model are known, but not its place.

    What asks for more than is known gets an `Undecided`.
    """

    __slots__ = ("types",)

    types: Set[str]

    def __init__(self, op: Op, attrs: Attrs | None, types: Set[str], **known: object) -> None:
        """`types`: of the model; `known`: what else is known."""
        for name, given in {"op": op, "attrs": attrs, "types": types, **known}.items():
            object.__setattr__(self, name, given)

    def __getattr__(self, name: str) -> NoReturn:
        """Raise an Undecided: what is asked for was not given."""
        raise Undecided(name)

    def has(self, pattern: str) -> bool:
        """Return False if the model has no layer of the types that a pattern needs."""
        return is_possible(pattern, self.types) and super().has(pattern)

    def is_behind(self, types: Collection[str], number: int = 0) -> bool:
        """Return False if the model has no layer of these types, nor any may be in `producers` without one."""
        return not {*self.types, MULTIPLE, ""}.isdisjoint(types) and super().is_behind(types, number)
