"""Constants, conversions, and the element types of outputs."""

from collections.abc import Callable, Set
from functools import partial
from math import prod

import ml_dtypes
import numpy as np

from ir_tools.known_differences._model import Call, Fixed, converted, counted, floats, index, number, whole
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled
from ir_tools.known_differences.releases._samples import INDEXED, quantized
from ir_tools.known_differences.releases.seen import FIRST_VERSION, Pattern, Seen
from ir_tools.ops import Array
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import is_static

__all__ = ["ROWS"]

DATA = floats([127, 1, -2, 3], [-4, 127, 5, 0])
"""What releases that quantize data to 8 bits leave as it is."""
ROWS_OF_8 = np.sin(counted(2, 8))
SCALE = floats([1], [2], [3], [4])
"""One number for each row of weights."""

BF16 = (
    *("Abs-1", "Add-1", "AvgPool-1", "BatchNormInference-1", "BatchNormInference-5", "Clamp-1"),
    *("Convolution-1", "ConvolutionBackpropData-1", "Divide-1", "Einsum-7", "Elu-1", "Equal-1", "Erf-1"),
    *("Exp-1", "FloorMod-1", "GRUCell-3", "Gelu-2", "Gelu-7", "Greater-1", "GreaterEqual-1"),
    *("GroupConvolution-1", "GroupConvolutionBackpropData-1", "HSigmoid-5", "HSwish-4", "IsFinite-10"),
    *("IsInf-10", "IsNaN-10", "LRN-1", "LSTMCell-4", "Less-1", "LessEqual-1", "LogSoftmax-5", "LogicalNot-1"),
    *("MatMul-1", "MaxPool-1", "Maximum-1", "Minimum-1", "Mish-4", "Mod-1", "Multiply-1", "Negative-1"),
    *("NotEqual-1", "PReLU-1", "Power-1", "RNNCell-1", "ReLU-1", "Round-5", "Sigmoid-1", "SoftMax-1"),
    *("SoftMax-8", "SoftPlus-4", "SoftSign-9", "Sqrt-1", "SquaredDifference-1", "Subtract-1", "Swish-4"),
    *("Tanh-1", "TopK-1", "TopK-3"),
)
"""Operations that oneDNN and code of the plugin itself compute, which need instructions for bf16."""
BF16_UNTIL_2023_0 = (
    *("AvgPool-1", "BatchNormInference-1", "BatchNormInference-5", "Convolution-1", "ConvolutionBackpropData-1"),
    *("Einsum-7", "GRUCell-3", "GroupConvolution-1", "GroupConvolutionBackpropData-1", "HSigmoid-5", "IsFinite-10"),
    *("IsInf-10", "IsNaN-10", "LRN-1", "LSTMCell-4", "Log-1", "MatMul-1", "MaxPool-1", "Mish-4", "RNNCell-1"),
    *("SoftMax-1", "SoftMax-8", "SoftPlus-4", "SoftSign-9", "TopK-1", "TopK-3", "TopK-11"),
)
"""Those among them, and Log, that 2023.0 does not compute in f32 in place of bf16."""

NEVER_COMPUTED = (
    *("AvgPool-1", "Bucketize-3", "CTCGreedyDecoder-1", "CTCGreedyDecoderSeqLen-6", "CTCLoss-4"),
    *("ConvolutionBackpropData-1", "DeformableConvolution-1", "DeformablePSROIPooling-1", "DetectionOutput-1", "Elu-1"),
    *("EmbeddingBagOffsetsSum-3", "EmbeddingBagPackedSum-3", "EmbeddingSegmentsSum-3"),
    *("ExperimentalDetectronDetectionOutput-6", "ExperimentalDetectronGenerateProposalsSingleImage-6"),
    *("ExperimentalDetectronPriorGridGenerator-6", "ExperimentalDetectronROIFeatureExtractor-6"),
    *("ExperimentalDetectronTopKROIs-6", "ExtractImagePatches-3", "GRN-1", "GRUCell-3", "GatherElements-6"),
    *("GatherND-5", "GatherTree-1", "Gelu-2", "GroupConvolutionBackpropData-1", "HardSigmoid-1", "LRN-1"),
    *("LSTMCell-1", "LSTMCell-4", "LogSoftmax-5", "MVN-1", "MVN-6", "NormalizeL2-1", "PSROIPooling-1", "Proposal-1"),
    *("Proposal-4", "RNNCell-1", "ROIPooling-1", "RegionYolo-1", "ReorgYolo-1", "ReverseSequence-1", "Selu-1"),
)
NOT_COMPUTED_YET = (
    *("BatchToSpace-2", "DepthToSpace-1", "GRUSequence-5", "LSTMSequence-5", "RNNSequence-5", "ScatterNDUpdate-4"),
    *("SpaceToBatch-2", "SpaceToDepth-1"),
)
"""Operations that OpenVINO 2021.2 and 2021.3, and 2021.2 alone, do not compute of constants. Measured."""


def _made_of(kind: str) -> Callable[[Seen], bool]:
    """Return whether the output has this element type."""
    return lambda seen: seen.outputs[0].dtype.name == kind


def _is_of_constants(seen: Seen) -> bool:
    """Return whether all inputs are constant, and the graph does not give the outputs as they are."""
    return len(seen.constant) == len(seen.inputs) and any(type != "Result" for _, type in seen.readers)


def _is_along_lines(seen: Seen) -> bool:
    """Return whether a SoftMax of two or three dimensions is along one in front of the last; the first, if unknown."""
    shape = seen.inputs[0].shape
    if shape is None or seen.attrs is None or len(shape) not in {2, 3}:
        return False
    return bool(seen.attrs.axis % len(shape) < (len(shape) - 1 if is_static(shape) else 1))


def _fills_blocks(seen: Seen) -> bool:
    """Return whether the output has blocks of 8 channels, with 8 elements in each channel."""
    shape = seen.outputs[0].shape or ()
    known = len(shape) > 2 and is_static(shape)
    return known and shape[1].lo % 8 == 0 and prod(dim.lo for dim in shape[2:]) == 8


def _converts_to(kinds: str, seen: Seen) -> bool:
    """Return whether a Convert gives one of these element types; its attribute alone decides if it is valid."""
    kind = seen.outputs[0].dtype if seen.attrs is None else seen.attrs.destination_type
    return kind.name in kinds.split()


def _gives(kinds: str, seen: Seen) -> bool:
    """Return whether a Convert gives an output of the model of one of these element types."""
    return _converts_to(kinds, seen) and seen.last


def _is_used(seen: Seen, kinds: str, uses: Set[str], others: Set[str] = frozenset()) -> bool:
    """Return whether a constant of one of these types is used in one of these ways, and in none of the others."""
    fits = any(map(seen.has, uses)) and not any(map(seen.has, others))
    return fits and seen.outputs[0].dtype.name in kinds.split()


def _weights(kind: str, scale: Array | None, data: Array = DATA, *, zero: Fixed | None = None) -> Call:
    """Return a product with packed weights of four rows."""
    held = Fixed(np.arange(8, dtype=np.uint8) * 17, kind, (4, 4))
    if kind.endswith("8"):
        held = Fixed((np.arange(16) * 5 - 40).astype(kind.replace("i", "int").replace("u", "uint")).reshape(4, 4))
    weights = _floats(held)
    if zero is not None:
        weights = Call("Subtract-1", (weights, _floats(zero)))
    if scale is not None:
        weights = Call("Multiply-1", (weights, Fixed(scale)))
    return _product(weights, "false", data)


def _floats(held: Fixed) -> Call:
    return converted(held, "f32")


def _product(weights: Call, transposed: str, data: Array | Call = DATA) -> Call:
    return Call("MatMul-1", (data, weights), {"transpose_a": "false", "transpose_b": transposed})


def _matrices(kind: str, *sizes: int, scale: Array = SCALE) -> Call:
    """Return two matrices of scaled weights of 4 bits; `sizes`: of the constant, if they are others."""
    held = Fixed(np.arange(16, dtype=np.uint8) * 23, kind, sizes or (2, 4, 4))
    return Call("Multiply-1", (_floats(held), Fixed(scale)))


def _less_one_number() -> Call:
    """Return a product of five rows with weights from which one number is subtracted."""
    weights = _floats(Fixed((np.arange(512) * 7 % 256).astype(np.uint8).reshape(16, 32)))
    weights = Call("Subtract-1", (weights, _floats(Fixed(np.array([130], np.uint8)))))
    weights = Call("Multiply-1", (weights, Fixed(counted(16, 1) / 100)))
    return _product(weights, "true", counted(5, 32) / 100)


def _unpacked(kind: str, outputs: int, summed: int, rows: int = 2) -> Call:
    """Return a product with packed weights of rows with a scale each, and data that stay the same if quantized."""
    numbers = np.arange(outputs * summed) * 7 % 256
    if kind.endswith("8"):
        held = Fixed(
            numbers.astype(np.uint8).view(kind.replace("i", "int").replace("u", "uint")).reshape(outputs, summed)
        )
    else:
        held = Fixed(numbers[::2].astype(np.uint8), kind, (outputs, summed))
    weights = Call("Multiply-1", (_floats(held), Fixed(counted(outputs, 1) / 99 + 1)))
    signs = np.arange(rows * summed).reshape(rows, summed) % 3 - 1
    return _product(weights, "true", (127 // (1 + np.arange(summed) // 32) * signs).astype(np.float32))


def _groups_of_one() -> Call:
    """Return weights of one output in two groups with a scale each."""
    held = Fixed((np.arange(8) * 37 % 120).astype(np.uint8).reshape(1, 2, 4))
    weights = Call("Multiply-1", (_floats(held), Fixed(counted(1, 2, 1) + 1)))
    return Call("Reshape-1", (weights, Fixed(whole(1, 8))), {"special_zero": "false"})


def _packed(kind: str, bits: int) -> Call:
    """Return a sum with eight numbers of a packed type."""
    held = Fixed(np.arange(1, bits + 1, dtype=np.uint8), kind, (8,))
    return Call("Add-1", (converted(held, "f32"), counted(8)))


def _less(*zeros: int) -> Call:
    """Return weights of four outputs in two groups, less numbers of such sizes."""
    held, scale = np.arange(16, dtype=np.uint8) * 41, np.full((4, 2, 1), 0.5, np.float32)
    subtracted = _floats(Fixed(np.arange(prod(zeros), dtype=np.uint8).reshape(zeros)))
    shifted = Call("Subtract-1", (_floats(Fixed(held, "u4", (4, 2, 4))), subtracted))
    return Call(
        "Reshape-1", (Call("Multiply-1", (shifted, Fixed(scale))), Fixed(whole(4, 8))), {"special_zero": "false"}
    )


def _less_each() -> Call:
    """Return weights of u8 of four outputs, less a number from each."""
    held, zeros = (Fixed((np.arange(32, dtype=np.uint8) * step).reshape(4, 8)) for step in (37, 5))
    return Call("Multiply-1", (Call("Subtract-1", (_floats(held), _floats(zeros))), Fixed(SCALE.reshape(4, 1))))


ALONG, QUANTIZED, NONE = {"sum", "each", "first", "vector"}, {"quantized"}, frozenset[str]()
BY_NUMBER = State.DIFFERS, floats(2), {"number"}, QUANTIZED
BY_SUM, DYING = ((state, SCALE, {"sum"}, NONE) for state in (State.DIFFERS, State.DIES))
BY_EACH = State.DIFFERS, counted(4, 4), {"each"}, NONE
BY_OUTPUT = State.DIFFERS, SCALE.reshape(1, 4), {"output"}, NONE


ZEROS = Fixed(np.zeros((1, 1, 1), np.float32))


def _in_bytes(data: Array | Fixed) -> Call:
    return quantized(data, Fixed(number(2)))


def _sequence(direction: str = "forward", begin: Array | Fixed | Call = ZEROS) -> Call:
    """Return a GRUSequence of quantized data with weights of 8 bits and one channel."""
    count = 2 if direction == "bidirectional" else 1
    numbers = (np.full((count, 3, 1), value, np.int8) for value in (99, -55))
    weights = [Call("Multiply-1", (_floats(Fixed(values)), Fixed(number(0.02)))) for values in numbers]
    raw = {
        **{"direction": direction, "hidden_size": "1", "activations": "sigmoid,tanh", "clip": "0"},
        **{"activations_alpha": "", "activations_beta": "", "linear_before_reset": "false"},
    }
    biases = Fixed(np.full((count, 3), 0.25, np.float32))
    return Call("GRUSequence-5", (_in_bytes(counted(1, 3, 1)), begin, Fixed(whole(3)), *weights, biases), raw)


PACKED = Call("Multiply-1", (_floats(Fixed(np.zeros((1, 1, 1), np.int8))), Fixed(number(0.02))))
BOTH_WAYS = _sequence("bidirectional", _in_bytes(Fixed(np.zeros((1, 2, 1), np.float32))))
OF_SEQUENCES = "A sequence of quantized data with weights of 8 bits is computed in 8 bits, with other states."
EACH = "i8 u8 i4 u4"
OF_LANES = "For a MatMul, outputs of signed weights are wrong if more than a half of the last 32 ones is left."
OF_A_REST = "For a MatMul, sums of so many products are wrong, of more than 32 if few are left behind the last 32."
OF_A_SUM = "A MatMul by scaled weights is not compiled for sums of so many products."
BYTES = Fixed((np.arange(16) * 5 - 40).astype(np.int8).reshape(4, 4))
BOTH = Call("Multiply-1", (_floats(BYTES), Fixed(SCALE)))
COLUMNS = Call("Multiply-1", (_floats(BYTES), Fixed(SCALE.reshape(1, 4))))
NIBBLES = Call("Multiply-1", (_floats(Fixed(np.arange(8, dtype=np.uint8) * 23, "i4", (4, 4))), Fixed(SCALE)))
OTHER_ROWS = Call("Reshape-1", (NIBBLES, Fixed(whole(2, 8))), {"special_zero": "false"})
SCALED_GROUPS = Call("Multiply-1", (_floats(Fixed(BYTES.array.reshape(4, 2, 2))), Fixed(counted(4, 2, 1))))
SCALED_GROUPS = Call("Reshape-1", (SCALED_GROUPS, Fixed(whole(4, 4))), {"special_zero": "false"})
SQUARE = converted(Fixed(counted(4, 4).astype(np.float16)), "f32")
GROUPS = Call("Multiply-1", (_floats(Fixed(BYTES.array.reshape(4, 2, 2))), Fixed(floats(2))))
GROUPS = Call("Reshape-1", (GROUPS, Fixed(whole(4, 4))), {"special_zero": "false"})


def _gives_booleans(seen: Seen) -> bool:
    kind = getattr(seen.attrs, "destination_type", None)
    return (kind is None or kind.kind == "boolean") and seen.outputs[0].dtype.name == "boolean"


def _is_mask(seen: Seen) -> bool:
    """Return whether a layer reads 0 and 1, as integers of an input of a larger model are if they become booleans."""
    given = seen.first and not seen.between and not (seen.inputs and seen.inputs[0].dtype.is_float)
    return given or seen.has(Pattern.MASK)


def _tests_negatives(seen: Seen) -> bool:
    """Return whether integers that may be negative become booleans."""
    value = seen.inputs[0].value if seen.inputs else None
    negative = value is None or bool((value.lower < 0).any())
    return _gives_booleans(seen) and negative and not _is_mask(seen)


FLOATS, INTEGERS = "f32 f16 f64 bf16", "i64 i32 i16 i8 u64 u32 u16 u8"


ROWS = (
    not_compiled(
        name="Convert of known booleans that become sizes",
        span="2021.2 to 2021.2",
        ops=("Convert-1",),
        reason="It is not computed in advance: the sizes are not known.",
        model=Call(
            "Reshape-1",
            (
                counted(2, 6),
                Call(
                    "Add-1",
                    (
                        Fixed(np.array([3, 3], np.int32)),
                        Call("Convert-1", (Fixed(np.array([False, True])),), {"destination_type": "i32"}),
                    ),
                ),
            ),
            {"special_zero": "false"},
        ),
        types="boolean",
        folded=True,
        applies=lambda seen: seen.outputs[0].exact is not None and seen.has(Pattern.DECIDING),
    ),
    *(
        not_compiled(
            name=f"layers of constants alone{name}",
            span=f"2021.2 to {last}",
            ops=ops,
            reason="If all of its inputs are constant, it is not compiled, nor is its value computed in advance.",
            folded=True,
            model=Call("Add-1", (floats(1), constant), {"auto_broadcast": "numpy"}),
            applies=_is_of_constants,
        )
        for name, last, ops, constant in (
            ("", "2021.3", NEVER_COMPUTED, Call("Elu-1", (Fixed(counted(4)),), {"alpha": "1"})),
            (
                " of images, sequences and updates",
                "2021.2",
                NOT_COMPUTED_YET,
                Call("DepthToSpace-1", (Fixed(counted(1, 4, 1, 1)),), {"mode": "blocks_first", "block_size": "2"}),
            ),
        )
    ),
    *(
        not_compiled(
            name=f"Convert of constants of {kind}",
            span=f"2021.2 to {last}",
            ops=("Convert-1",),
            reason=f"A constant of {kind} is not converted in advance, nor does a device convert it.",
            types=kind,
            folded=True,
            model=Call("Add-1", (floats(1), converted(Fixed(np.ones(1, dtype)), "f32")), {"auto_broadcast": "numpy"}),
            applies=lambda seen: 0 in seen.constant,
        )
        for kind, last, dtype in (
            ("bf16", "2021.3", ml_dtypes.bfloat16),
            ("i16", "2021.2", np.int16),
        )
    ),
    *(
        ReleaseDifference(
            name=f"Convert to u1, {span}",
            span=span,
            ops=("Convert-1",),
            state=state,
            reason=f"A conversion to u1 {what}.",
            model=converted(converted(counted(2, 3), "u1"), "f32"),
            applies=lambda seen: (
                seen.attrs is not None and seen.attrs.destination_type.name == "u1" and not seen.constant
            ),
        )
        for span, state, what in (
            ("2021.3 to 2021.3", State.UNCOMPILED, "is not compiled"),
            ("2021.4 to 2024.3", State.FAILS, "does not run"),
            ("2024.4 to 2026.4", State.DIES, "writes beyond its memory, which may end the process"),
        )
    ),
    not_compiled(
        name="ConvertLike of a constant",
        span="2021.2 to 2021.2",
        ops=("ConvertLike-1",),
        reason="A ConvertLike of a constant is not compiled, and its value is not computed in advance either.",
        folded=True,
        model=Call("Add-1", (Call("ConvertLike-1", (Fixed(floats(1)), floats(2))), floats(3))),
        applies=lambda seen: 0 in seen.constant,
    ),
    *(
        not_compiled(
            name=f"bf16, {span}",
            span=span,
            ops=ops,
            reason="The plugin does not implement bf16.",
            types="bf16",
            model=Call(layer, (floats(1, 2).astype(ml_dtypes.bfloat16),)),
            processor=Processor.NO_AVX512,
        )
        for span, ops, layer in (
            ("2021.2 to 2022.3", BF16, "ReLU-1"),
            ("2023.0 to 2023.0", BF16_UNTIL_2023_0, "Log-1"),
        )
    ),
    ends(
        name="bf16 in 8 channels and 8 places",
        span="2024.3 to 2026.4",
        ops=("Convolution-1", "GroupConvolution-1", "AvgPool-1", "AvgPool-14", "AvgPool-16", "MaxPool-1"),
        reason="The process ends when a layer with a multiple of 8 channels of 8 elements in bf16 is compiled.",
        types="bf16",
        model=Call(
            "MaxPool-1",
            (np.ones((1, 8, 8), ml_dtypes.bfloat16),),
            {"kernel": "1", "strides": "1", "pads_begin": "0", "pads_end": "0"},
        ),
        applies=_fills_blocks,
        processor=Processor.NO_AVX512,
    ),
    not_compiled(
        name="SoftMax of bf16 along other axes than the last",
        span="2022.1 to 2022.1",
        ops=("SoftMax-1", "SoftMax-8"),
        reason="For data of two or three dimensions the plugin does not implement bf16.",
        types="bf16",
        model=Call("SoftMax-8", (counted(2, 3).astype(ml_dtypes.bfloat16),), {"axis": "0"}),
        applies=_is_along_lines,
    ),
    not_compiled(
        name="MaxPool-8 of bf16 whose indices are not read",
        span="2022.1 to 2023.0",
        ops=("MaxPool-8",),
        reason="Without its indices it is a MaxPool-1, which has no code for bf16.",
        types="bf16",
        model=Call("MaxPool-8", (counted(1, 1, 4, 4).astype(ml_dtypes.bfloat16),), INDEXED, results=(0,)),
        applies=lambda seen: all(number == 0 for number, _ in seen.readers),
        processor=Processor.NO_AVX512,
    ),
    *(
        ReleaseDifference(
            name=f"ConvertLike to four bits, {span}",
            span=span,
            ops=("ConvertLike-1",),
            state=state,
            reason=f"A ConvertLike to i4 or u4 {state.words}.",
            model=Call("ConvertLike-1", (floats(1, 2), Fixed(np.array([0x21], np.uint8), "u4", (2,)))),
            applies=lambda seen: seen.inputs[1].dtype.name in {"i4", "u4"},
        )
        for span, state in (("2022.1 to 2023.2", State.UNCOMPILED), ("2023.3 to 2024.3", State.FAILS))
    ),
    *(
        ReleaseDifference(
            name=f"order of {kind} constants",
            span=span,
            ops=("Const-1",),
            reason=f"The elements in each byte of {kind} constants are read in reverse order.",
            measured=True,
            folded=True,
            model=_packed(kind, int(kind[1])),
            applies=_made_of(kind),
        )
        for kind, span in (("u4", "2021.3 to 2023.1"), ("i4", "2021.3 to 2023.1"), ("u2", "2024.1 to 2025.2"))
    ),
    *(
        ReleaseDifference(
            name=f"{kind} weights, {what}",
            span=span,
            ops=("Const-1",),
            state=state,
            reason=f"Constants of {kind} are unpacked for a MatMul as if each output had its own scale.",
            model=_weights(kind, scale),
            applies=partial(_is_used, kinds=kind, uses=uses, others=others),
            processor=processor,
        )
        for kind, what, span, state, scale, uses, others, processor in (
            *(
                (kind, what, span, State.UNCOMPILED, scale, uses, NONE, Processor.ANY)
                for kind, what, span, scale, uses in (
                    ("u4", "scaled otherwise", "2023.2 to 2024.1", floats(2), {"number", "single", "computed", *ALONG}),
                    ("i4", "scaled otherwise", "2023.2 to 2024.1", floats(2), {"number", "single", "computed", *ALONG}),
                    ("nf4", "scaled by one number", "2023.2 to 2024.1", floats(2), {"number"}),
                    ("nf4", "scaled along the sum", "2023.2 to 2024.3", SCALE, {"computed", *ALONG}),
                )
            ),
            *(
                (kind, f"{what}, {span}", span, state, scale, uses, others, processor)
                for kinds, what, span, state, scale, uses, others, processor in (
                    ("i8 u8 i4 u4", "scaled by one number", "2024.3 to 2024.6", *BY_NUMBER, Processor.VNNI),
                    ("i8 u8 i4 u4", "scaled along the sum", "2025.0 to 2025.0", *DYING, Processor.AVX512),
                    ("i8 u8 i4 u4", "scaled along the sum", "2025.1 to 2026.4", *BY_SUM, Processor.AVX512),
                    ("i8 u8 i4 u4", "scaled along the sum", "2025.0 to 2026.4", *BY_SUM, Processor.NO_AVX512),
                    ("nf4", "scaled along the sum", "2025.0 to 2026.4", *BY_SUM, Processor.ANY),
                    ("i4 u4 nf4", "scaled one by one", "2026.1 to 2026.4", *BY_EACH, Processor.ANY),
                    ("u8", "scaled along the output", "2023.1 to 2023.1", *BY_OUTPUT, Processor.NO_AMX),
                )
                for kind in kinds.split()
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{what}, {span}",
            span=span,
            ops=("Const-1",),
            state=state,
            reason=reason,
            model=model,
            applies=applies,
            processor=processor,
        )
        for what, span, state, reason, model, applies, processor in (
            (
                "weights of 4 bits for data of four dimensions",
                "2023.2 to 2023.3",
                State.UNCOMPILED,
                "Constants of 4 bits are unpacked for a MatMul only if the data has rank 3 at most.",
                _weights("u4", SCALE.reshape(1, 4), DATA.reshape(1, 1, 2, 4)),
                partial(_is_used, kinds="u4 i4 nf4", uses={"deep"}),
                Processor.ANY,
            ),
            *(
                (
                    f"weights of {kind} of several matrices",
                    span,
                    State.UNCOMPILED,
                    "Constants of 4 bits are unpacked for a MatMul only if they are one matrix, or groups of one.",
                    _product(_matrices(kind), "false", counted(2, 2, 4)),
                    partial(_is_used, kinds=kind, uses={"batched"}),
                    Processor.ANY,
                )
                for kinds, span in (("i4 u4", "2023.2 to 2024.1"), ("nf4", "2023.2 to 2024.3"))
                for kind in kinds.split()
            ),
            (
                "weights of i4 from which i4 is subtracted",
                "2024.0 to 2025.3",
                State.DIFFERS,
                "For a MatMul, an i4 zero point is subtracted from i4 weights as if it were unsigned.",
                _weights("i4", SCALE.reshape(1, 4), zero=Fixed(np.array([0xB3, 0x9F], np.uint8), "i4", (1, 4))),
                partial(_is_used, kinds="i4", uses={"signed zeros"}),
                Processor.ANY,
            ),
            (
                "weights of 4 bits less one number",
                "2024.0 to 2024.1",
                State.UNCOMPILED,
                "What is subtracted from weights of 4 bits has several numbers, not all equal, or no axes.",
                _weights("u4", SCALE.reshape(1, 4), zero=Fixed(np.array([7], np.uint8), "u4", (1, 1))),
                partial(_is_used, kinds="u4 i4", uses={"one zero", "equal zeros"}),
                Processor.ANY,
            ),
            (
                "weights of u4 less equal numbers",
                "2024.2 to 2024.6",
                State.DIFFERS,
                "Equal numbers that are subtracted for a MatMul are kept as one, beyond which others are read.",
                _weights("u4", SCALE.reshape(1, 4), zero=Fixed(np.array([0x77, 0x77], np.uint8), "u4", (1, 4))),
                partial(_is_used, kinds="u4", uses={"equal zeros"}),
                Processor.ANY,
            ),
            (
                "weights of 4 bits less numbers that groups share",
                "2023.2 to 2024.1",
                State.UNCOMPILED,
                "What is subtracted from weights of 4 bits, and what scales them, has one number for each group.",
                _product(_less(4, 1, 1), "true", ROWS_OF_8),
                partial(_is_used, kinds="u4 i4", uses={"shared by groups", "zeros along the sum", "zeros one by one"}),
                Processor.ANY,
            ),
            (
                "weights less numbers along the sum",
                "2025.0 to 2026.4",
                State.DIFFERS,
                "Numbers that are subtracted along the axis that is summed are taken for those of outputs.",
                _product(_less(1, 2, 1), "true", ROWS_OF_8),
                partial(_is_used, kinds=EACH, uses={"zeros along the sum"}),
                Processor.ANY,
            ),
            *(
                (
                    "weights of u8 less numbers one by one",
                    span,
                    state,
                    "Numbers that are subtracted from the weights of a MatMul one by one are taken for others.",
                    _product(_less_each(), "true", ROWS_OF_8),
                    partial(_is_used, kinds="u8", uses={"bytes one by one"}),
                    processor,
                )
                for span, state, processor in (
                    ("2025.0 to 2025.0", State.DIES, Processor.AVX512),
                    ("2025.1 to 2025.1", State.DIFFERS, Processor.VNNI),
                )
            ),
            (
                "weights of 4 bits in other rows",
                "2023.2 to 2024.1",
                State.UNCOMPILED,
                "Weights of 4 bits whose rows a Reshape changes are not unpacked for a MatMul.",
                _product(OTHER_ROWS, "true", counted(2, 8)),
                partial(_is_used, kinds="u4 i4", uses={"other rows"}),
                Processor.ANY,
            ),
            (
                "weights of groups scaled by one number",
                "2025.0 to 2026.0",
                State.UNCOMPILED,
                "For a MatMul each group of weights must have its own scale.",
                _product(GROUPS, "true"),
                partial(_is_used, kinds="i8 u8 i4 u4 nf4", uses={"number of groups"}, others=QUANTIZED),
                Processor.ANY,
            ),
            *(
                (
                    "weights that are transposed for one of two products",
                    span,
                    state,
                    "Weights that one MatMul transposes and another does not are scaled along the same axis for both.",
                    Call("Add-1", (_product(BOTH, "true"), _product(BOTH, "false"))),
                    partial(_is_used, kinds="i8 u8 i4 u4", uses={"both ways"}),
                    processor,
                )
                for span, state, processor in (
                    ("2025.0 to 2025.0", State.DIES, Processor.AVX512),
                    ("2025.1 to 2026.4", State.DIFFERS, Processor.AVX512),
                    ("2025.0 to 2026.4", State.DIFFERS, Processor.NO_AVX512),
                )
            ),
            *(
                (
                    f"weights of {kind} scaled by one number for one row of data",
                    span,
                    State.DIFFERS,
                    "For a MatMul of one row of data weights are unpacked as if each output had a scale of its own.",
                    _weights(kind, floats(2), DATA[:1]),
                    partial(_is_used, kinds=kind, uses={"number of a row"}, others=QUANTIZED),
                    processor,
                )
                for kinds, span, processor in (
                    ("i8 u8 i4 u4", "2024.2 to 2024.3", Processor.NO_AVX512),
                    ("i8 u8 i4 u4", "2024.2 to 2024.6", Processor.AVX512),
                    ("nf4", "2024.2 to 2024.3", Processor.ANY),
                )
                for kind in kinds.split()
            ),
            *(
                (
                    f"weights of u8 in groups for one output{what}",
                    f"{first} to 2024.1",
                    State.DIFFERS,
                    "Groups of the weights for one output of a MatMul are scaled by wrong numbers.",
                    _product(_groups_of_one(), "true", data),
                    partial(_is_used, kinds="u8", uses={"groups of one"}, others=others),
                    Processor.ANY,
                )
                for what, first, data, others in (
                    ("", "2023.2", ROWS_OF_8, {"deep", "quantized"}),
                    (" of quantized data", "2023.3", _in_bytes(ROWS_OF_8), {"deep"}),
                    (" of four dimensions", "2024.0", ROWS_OF_8.reshape(1, 1, 2, 8), NONE),
                )
            ),
            (
                "weights of u8 for sums of few products",
                "2023.2 to 2023.2",
                State.DIFFERS,
                "For a MatMul of five rows or more, weights with a scale for each output are read beyond their end.",
                _unpacked("u8", 16, 8, rows=5),
                partial(_is_used, kinds="u8", uses={"few products"}, others={"number"}),
                Processor.AMX,
            ),
            (
                "weights of 4 bits for sums of up to three products",
                "2023.2 to 2024.1",
                State.UNCOMPILED,
                OF_A_SUM,
                _unpacked("u4", 16, 2),
                partial(_is_used, kinds="u4 i4", uses={"up to three"}),
                Processor.ANY,
            ),
            *(
                (
                    f"weights of 4 bits for {what}",
                    span,
                    State.DIFFERS,
                    "For a MatMul of five rows or more, odd rows of weights of 4 bits are taken for others.",
                    _unpacked("u4", 16, summed, rows=5),
                    partial(_is_used, kinds="u4 i4", uses={use}),
                    processor,
                )
                for what, span, summed, use, processor in (
                    ("odd sums", "2023.3 to 2025.0", 33, "odd sum", Processor.ANY),
                    ("odd sums", "2025.1 to 2026.0", 31, "odd sum", Processor.NO_AVX512),
                    ("odd sums", "2026.1 to 2026.4", 31, "odd sum", Processor.ANY),
                    ("short odd sums", "2023.3 to 2026.4", 9, "odd short sum", Processor.NO_AVX512),
                )
            ),
            (
                "weights of u8 less one number",
                "2023.2 to 2023.2",
                State.DIFFERS,
                "For a MatMul of five rows or more, one number that is subtracted from all weights gives other values.",
                _less_one_number(),
                partial(_is_used, kinds="u8", uses={"zero for many"}),
                Processor.AMX,
            ),
            (
                "square weights that are transposed for one of two products",
                "2024.4 to 2026.4",
                State.DIFFERS,
                "A MatMul that does not transpose square weights uses the transposed weights of another MatMul.",
                Call("Add-1", (_product(SQUARE, "true"), _product(SQUARE, "false"))),
                partial(_is_used, kinds="f32 f16 bf16", uses={"square both ways"}),
                Processor.ANY,
            ),
            *(
                (
                    f"{kind} weights, {what}",
                    span,
                    state,
                    reason,
                    _unpacked(kind, *sizes),
                    partial(_is_used, kinds=kind, uses={uses}, others=QUANTIZED),
                    Processor.VNNI,
                )
                for kinds, what, span, state, reason, sizes, uses in (
                    (
                        "i8 i4",
                        "a rest of outputs",
                        "2024.3 to 2025.0",
                        State.DIFFERS,
                        OF_LANES,
                        (24, 32),
                        "lanes",
                    ),
                    (EACH, "a rest of a sum", "2024.3 to 2025.0", State.DIFFERS, OF_A_REST, (16, 40), "rest of a sum"),
                    (EACH, "short sums", "2025.1 to 2025.1", State.UNCOMPILED, OF_A_SUM, (16, 12), "short sum"),
                    (EACH, "longer sums", "2025.1 to 2026.0", State.UNCOMPILED, OF_A_SUM, (16, 24), "longer sum"),
                )
                for kind in kinds.split()
            ),
            *(
                (
                    f"weights of {what}",
                    span,
                    state,
                    reason,
                    model,
                    partial(_is_used, kinds="i8", uses={uses}),
                    Processor.ANY,
                )
                for what, span, state, reason, model, uses in (
                    (
                        "sequences of quantized data",
                        "2022.3 to 2023.1",
                        State.DIFFERS,
                        OF_SEQUENCES,
                        _sequence(begin=_in_bytes(ZEROS)),
                        "sequence in bytes",
                    ),
                    (
                        "sequences of quantized data from a constant on",
                        "2022.3 to 2026.4",
                        State.DIFFERS,
                        OF_SEQUENCES,
                        _sequence(),
                        "sequence from a state",
                    ),
                    (
                        "sequences of quantized data from a packed state",
                        "2022.3 to 2024.3",
                        State.UNCOMPILED,
                        "A sequence of quantized data is not compiled, or gives other states, if its state is packed.",
                        _sequence(begin=PACKED),
                        "sequence from a packed state",
                    ),
                    (
                        "sequences in part of 8 bits",
                        "2024.4 to 2026.4",
                        State.UNCOMPILED,
                        "In models with a FakeQuantize, weights of sequences are not folded unless all is of 8 bits.",
                        _sequence(begin=counted(1, 1, 1)),
                        "sequence in part",
                    ),
                    (
                        "sequences in both directions, 2021.4",
                        "2021.4 to 2021.4",
                        State.UNCOMPILED,
                        "In models with a FakeQuantize, weights of sequences in both directions get another type.",
                        BOTH_WAYS,
                        "sequence both ways",
                    ),
                    (
                        "sequences in both directions, 2024.4 to 2026.4",
                        "2024.4 to 2026.4",
                        State.DIFFERS,
                        OF_SEQUENCES,
                        BOTH_WAYS,
                        "sequence both ways",
                    ),
                )
            ),
            (
                "rows whose columns are scaled",
                "2024.1 to 2026.4",
                State.DIFFERS,
                "A Gather applies the scales of the columns to the rows.",
                Call("Gather-8", (COLUMNS, whole(3, 1), Fixed(index(0)))),
                partial(_is_used, kinds="i8 u8 i4 u4 nf4", uses={"columns"}),
                Processor.ANY,
            ),
            *(
                (
                    f"rows of {name}",
                    "2024.1 to 2024.1",
                    State.DIFFERS,
                    f"A Gather of scaled {name} unpacks them wrongly.",
                    Call("Gather-8", (rows, whole(3, 1), Fixed(index(0)))),
                    partial(_is_used, kinds=kinds, uses={use}),
                    Processor.ANY,
                )
                for name, kinds, use, rows in (
                    ("weights of i4", "i4", "scaled rows", NIBBLES),
                    ("weights in groups", "i8 u8 u4", "scaled groups", SCALED_GROUPS),
                )
            ),
        )
    ),
    ReleaseDifference(
        name="conversion of floats to integers of few bits at an output",
        span="2021.2 to 2021.4",
        ops=("Convert-1",),
        reason="Numbers keep their fractions if the converted integers are an output of the model.",
        sometimes=True,
        model=Call("Convert-1", (floats(0.3, 1.7),), {"destination_type": "u8"}),
        types="f32 f16 f64 bf16",
        applies=partial(_gives, "u8 i8 u16 i16"),
    ),
    *(
        ReleaseDifference(
            name=f"conversion to 4 bits at an output, {span}",
            span=span,
            ops=("Convert-1",),
            state=state,
            reason=f"An output that is converted to i4 or u4 {state.words}, except in IR v10.",
            model=Call("Convert-1", (floats(0, 1),), {"destination_type": "u4"}),
            applies=lambda seen: _gives("i4 u4", seen) and seen.version > FIRST_VERSION,
        )
        for span, state in (("2022.1 to 2023.2", State.UNCOMPILED), ("2023.3 to 2024.3", State.FAILS))
    ),
    ReleaseDifference(
        name="conversion of floats to boolean",
        span="2022.1 to 2022.2",
        ops=("Convert-1",),
        reason="Numbers are truncated instead of compared with 0: 2.5 becomes 2, and 0.3 becomes false.",
        model=Call("Convert-1", (floats(0.3, 0, 2, -0.5),), {"destination_type": "boolean"}),
        applies=lambda seen: _converts_to("boolean", seen) and bool(seen.inputs) and seen.inputs[0].dtype.is_float,
    ),
    *(
        ReleaseDifference(
            name=f"conversion of negative {types.split()[0]} to boolean",
            span=f"2022.1 to {last}",
            ops=("Convert-1",),
            reason="Negative integers become false.",
            sometimes=True,
            model=Call("Convert-1", (np.array([-8, 3, 0], kind),), {"destination_type": "boolean"}),
            types=types,
            applies=_tests_negatives,
        )
        for types, kind, last in (("i64 i32 i16", np.int64, "2024.2"), ("i8", np.int8, "2022.3"))
    ),
    *(
        ReleaseDifference(
            name=f"conversion of {what} of {kinds} to boolean",
            span=f"{first} to {last}",
            ops=("Convert-1", "ConvertLike-1"),
            reason=reason,
            sometimes=sometimes,
            state=state,
            model=Call("Convert-1", (converted(call, "boolean"),), {"destination_type": kind}),
            types=types,
            applies=applies,
        )
        for kinds, kind, types, later_from in (
            ("floats", "f32", FLOATS, "2022.3"),
            ("integers", "i32", INTEGERS, "2024.3"),
        )
        for what, first, last, reason, sometimes, state, call, applies in (
            (
                "numbers",
                "2022.1",
                "2024.2",
                "Numbers beyond 1 become booleans that are more than 1 where they become numbers again.",
                True,
                State.DIFFERS,
                Call("Abs-1", (np.array([0, 1, 5], "f4" if kind == "f32" else "i4"),)),
                lambda seen: _gives_booleans(seen) and seen.has(Pattern.COUNTED) and not _is_mask(seen),
            ),
            (
                "a later output",
                later_from,
                "2026.4",
                "The first output of the layer in front is converted, whichever is read.",
                False,
                State.DIFFERS,
                Call(
                    "Split-1",
                    (np.array([0, 1, 1, 0], "f4" if kind == "f32" else "i4"), Fixed(index(0))),
                    {"num_splits": "2"},
                    gives=1,
                ),
                lambda seen: _gives_booleans(seen) and seen.has(Pattern.LATER),
            ),
            (
                "an output of a TopK, VariadicSplit or LSTMSequence",
                later_from,
                "2026.4",
                "An output of a TopK, VariadicSplit or LSTMSequence is not converted to boolean.",
                False,
                State.UNCOMPILED,
                Call(
                    "VariadicSplit-1",
                    (np.array([0, 1, 1, 0], "f4" if kind == "f32" else "i4"), Fixed(index(0)), Fixed(whole(1, 3))),
                    gives=1,
                ),
                lambda seen: _gives_booleans(seen) and seen.has(Pattern.UNCHOSEN),
            ),
        )
    ),
    ReleaseDifference(
        name="conversion to boolean in IR v10",
        span="2021.2 to 2024.2",
        ops=("Convert-1",),
        reason="In IR v10 numbers are truncated instead of compared with 0: 2.5 becomes 2, and 0.3 becomes false.",
        model=Call("Convert-1", (floats(0.3, 0, 2, -0.5),), {"destination_type": "boolean"}),
        applies=lambda seen: (
            _converts_to("boolean", seen)
            and seen.version == 10
            and bool(seen.inputs)
            and seen.inputs[0].dtype.name != "boolean"
        ),
    ),
    not_compiled(
        name="Eye of i64",
        span="2022.2 to 2022.3",
        ops=("Eye-9",),
        reason="An i64 output is read but not compiled.",
        model=Call("Eye-9", (number(3, np.int32), number(4, np.int32), index(0)), {"output_type": "i64"}),
        applies=_made_of("i64"),
    ),
)
"""The rows."""
