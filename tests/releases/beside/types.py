"""Layers beside the rows of conversions."""

from collections.abc import Collection

import ml_dtypes
import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, converted, counted, floats, index, number, whole
from ir_tools.known_differences.releases._samples import quantized
from ir_tools.known_differences.releases._types import _matrices, _product
from ir_tools.ops import Array
from tests.releases.beside import Beside, Feed, beside

DATA = floats(0, 3, 1, 0)
FEW = floats(1, 1)
CONSTANT = Fixed(floats(1, -2, 3))
MVN = {"normalize_variance": "true", "eps": "0.1", "eps_mode": "inside_sqrt"}


def _boolean(data: Feed) -> Call:
    return converted(data, "boolean")


def _number(data: Feed, kind: str = "i32") -> Call:
    return converted(data, kind)


def in_shape(data: Call, *sizes: int) -> Call:
    return Call("Reshape-1", (data, Fixed(whole(*sizes))), {"special_zero": "false"})


def _repeated_pixels(image: Call) -> Call:
    """Elements of an image, each twice."""
    raw = {"mode": "nearest", "shape_calculation_mode": "sizes", "nearest_mode": "floor"}
    return Call("Interpolate-4", (image, Fixed(whole(8)), Fixed(floats(2)), Fixed(whole(3))), raw)


def _elu(data: Feed) -> Call:
    return Call("Elu-1", (data,), {"alpha": "1"})


def _sum(first: Feed, second: Feed) -> Call:
    return Call("Add-1", (first, second), {"auto_broadcast": "numpy"})


def _repeated(data: Feed) -> Call:
    """Return data as often as an input says."""
    return Call("Broadcast-3", (data, whole(2)), {"mode": "numpy"})


def _summed(data: Feed) -> Call:
    return Call("CumSum-3", (data, Fixed(index(0))))


def _gathered(sizes: tuple[int, ...], scaled: tuple[int, ...] | None, kind: str = "") -> Call:
    """Return a Gather of two rows of weights of u8 or of few bits, with a scale of these sizes or without one."""
    held = np.arange(8 if kind else 16, dtype=np.uint8) * 23
    weights = _number(Fixed(held, kind, sizes) if kind else Fixed(held.reshape(sizes)), "f32")
    if scaled is not None:
        weights = Call("Multiply-1", (weights, Fixed(counted(*scaled))), {"auto_broadcast": "numpy"})
    if len(sizes) > 2:
        weights = Call("Reshape-1", (weights, Fixed(whole(4, 4))), {"special_zero": "false"})
    return Call("Gather-8", (weights, whole(3, 1), Fixed(index(0))), {"batch_dims": "0"})


def _halves(gives: int, data: Feed = DATA) -> Call:
    return Call("Split-1", (data, Fixed(index(0))), {"num_splits": "2"}, gives=gives)


def _parts(gives: int, *lengths: int) -> Call:
    return Call("VariadicSplit-1", (DATA, Fixed(index(0)), Fixed(whole(*lengths))), gives=gives)


def _sorted(gives: int) -> Call:
    raw = {"axis": "0", "mode": "max", "sort": "value", "index_element_type": "i32"}
    return Call("TopK-3", (DATA, Fixed(index(3))), raw, gives=gives)


def _reshaped(data: Call) -> Call:
    return Call("Reshape-1", (data, Fixed(whole(2, -1))), {"special_zero": "false"})


def _by_weights(
    outputs: int, summed: int, *, kind: str = "int8", zero: str = "", groups: int = 1, data: Feed | None = None
) -> Call:
    """A product with weights of 8 bits, each row in so many groups, which are shifted if there is a zero, and scaled.

    Quantized data stay as they are: each number is 0 or the largest of its block.
    """
    numbers = (np.arange(outputs * summed) * 7 % 256).astype(np.uint8).view(kind)
    shape = (outputs, groups, summed // groups) if groups > 1 else (outputs, summed)
    scale = counted(*shape[:-1], 1)
    weights = converted(Fixed(numbers.reshape(shape)), "f32")
    if zero:
        weights = Call("Subtract-1", (weights, converted(Fixed(np.full_like(scale, 3, zero)), "f32")))
    weights = Call("Multiply-1", (weights, Fixed(scale / 99 + 1)))
    if groups > 1:
        weights = Call("Reshape-1", (weights, Fixed(whole(outputs, summed))), {"special_zero": "false"})
    signs = np.arange(2 * summed).reshape(2, summed) % 3 - 1
    rows = (127 // (1 + np.arange(summed) // 32) * signs).astype(np.float32) if data is None else data
    return Call("MatMul-1", (rows, weights), {"transpose_a": "false", "transpose_b": "true"})


ROWS_OF_8 = np.sin(counted(2, 8))


def _in_bytes(data: Array) -> Call:
    return quantized(data, Fixed(floats(1)), levels=255)


def _less_nibbles(*held: int, kind: str = "u4", axes: tuple[int, ...] = (4, 1)) -> Call:
    """A product with four rows of u4, less numbers of this type or u8."""
    numbers = np.array(held, np.uint8)
    if not kind:
        numbers = np.full(axes, held[0] % 16, np.uint8)
    zeros = converted(Fixed(numbers, kind, axes if kind else ()), "f32")
    data = Fixed(np.arange(2 * 4, dtype=np.uint8) * 41, "u4", (4, 4))
    weights = Call("Multiply-1", (Call("Subtract-1", (converted(data, "f32"), zeros)), Fixed(counted(4, 1) / 9 + 1)))
    return Call("MatMul-1", (floats([127, 0, -127, 127], [0, -127, 127, 0]), weights), {"transpose_b": "true"})


def _by_nibbles(
    sizes: tuple[int, ...], zeros: tuple[int, ...] | None, scale: tuple[int, ...] = (), *, data: Feed = ROWS_OF_8
) -> Call:
    """A product with weights of u4 of these sizes, less numbers of others, scaled for each row of them."""
    weights = converted(Fixed(np.arange(np.prod(sizes) // 2, dtype=np.uint8) * 41, "u4", sizes), "f32")
    if zeros is not None:
        numbers = np.arange(np.prod(zeros), dtype=np.uint8).reshape(zeros)
        weights = Call("Subtract-1", (weights, converted(Fixed(numbers), "f32")))
    weights = Call("Multiply-1", (weights, Fixed(counted(*(scale or (*sizes[:-1], 1))) / 9 + 1)))
    if sizes[0] > 1 and len(sizes) > 2:
        weights = Call("Reshape-1", (weights, Fixed(whole(4, 8))), {"special_zero": "false"})
    return Call("MatMul-1", (data, weights), {"transpose_a": "false", "transpose_b": "true"})


def _by_number(outputs: int, rows: int) -> Call:
    """A product with i8 weights, all of which one number scales; quantized data stay as they are."""
    weights = converted(
        Fixed((np.arange(outputs * 16) * 7 % 256).astype(np.uint8).view(np.int8).reshape(-1, 16)), "f32"
    )
    data = (127 * (np.arange(rows * 16).reshape(rows, 16) % 3 - 1)).astype(np.float32)
    raw = {"transpose_a": "false", "transpose_b": "true"}
    return Call("MatMul-1", (data, Call("Multiply-1", (weights, Fixed(floats(2))))), raw)


def _sequence(
    type: str = "LSTMSequence-5",
    *,
    begin: Feed | None = None,
    direction: str = "forward",
    weights: Collection[int] = (0, 1),
    data: Feed | None = None,
) -> Call:
    """A sequence of two channels whose data are quantized, of whose two weights these are scaled ones of 8 bits."""
    count, gates = (2 if direction == "bidirectional" else 1), (4 if type == "LSTMSequence-5" else 3)
    state = Fixed(np.zeros((1, count, 2), np.float32))
    numbers = (np.arange(count * gates * 4).reshape(count, gates * 2, 2) * 37 + more for more in (0, 5))
    held = [Fixed((values % 251 - 125).astype(np.int8)) for values in numbers]
    given = [
        Call("Multiply-1", (converted(one, "f32"), Fixed(floats(0.01))))
        if number in weights
        else Fixed(one.array.astype(np.float32) / 100)
        for number, one in enumerate(held)
    ]
    raw = {
        **{"direction": direction, "hidden_size": "2", "clip": "0", "activations_alpha": "", "activations_beta": ""},
        "activations": ",".join(["sigmoid", "tanh", "tanh"][: gates - 1]),
    }
    if gates == 3:
        raw["linear_before_reset"] = "false"
    states = (state if begin is None else begin, *([state] if gates == 4 else []))
    biases = Fixed(np.full((count, gates * 2), 0.25, np.float32))
    rows = quantized(counted(1, 3, 2), Fixed(floats(2))) if data is None else data
    return Call(type, (rows, *states, Fixed(whole(3)), *given, biases), raw)


def _rows(data: Call) -> Call:
    """What a layer gives, as three rows of two channels."""
    return Call("Reshape-1", (data, Fixed(whole(-1, 3, 2))), {"special_zero": "false"})


def _cut(low: float, taken: float = 0, *, viewed: bool = False) -> Call:
    """Rows that a FakeQuantize takes from a number on, and gives from another on, behind a ReLU."""
    limits = [Fixed(floats(limit)) for limit in (taken, 2, low, 2)]
    rows = Call("FakeQuantize-1", (counted(1, 3, 2), *limits), {"levels": "256"})
    return Call("ReLU-1", (_rows(rows) if viewed else rows,))


ROW, TWO_ROWS, ROWS, IMAGE = (
    quantized(counted(*sizes), Fixed(floats(2))) for sizes in ((1, 1, 2), (1, 2, 2), (1, 3, 2), (1, 1, 3, 2))
)
CARRIED = (
    Call("Concat-1", (ROW, TWO_ROWS), {"axis": "1"}),
    Call("DepthToSpace-1", (IMAGE,), {"mode": "blocks_first", "block_size": "1"}),
    Call("Gather-8", (ROWS, Fixed(whole(2, 0, 1)), Fixed(index(1)))),
    Call("MaxPool-1", (ROWS,), {"kernel": "1", "strides": "1", "pads_begin": "0", "pads_end": "0"}),
    _cut(0),
    _cut(0, -2),
    Call("Reshape-1", (ROWS, Fixed(whole(-1, 3, 2))), {"special_zero": "false"}),
    Call("Slice-8", (ROWS, *(Fixed(whole(number)) for number in (0, 9, 1, 0)))),
    Call("Split-1", (ROWS, Fixed(index(0))), {"num_splits": "1"}),
    Call("Squeeze-1", (IMAGE, Fixed(whole(0)))),
    Call(
        "StridedSlice-1", (ROWS, *(Fixed(whole(number)) for number in (0, 9, 1))), {"begin_mask": "0", "end_mask": "0"}
    ),
    Call("Transpose-1", (ROWS, Fixed(whole(0, 1, 2)))),
    Call("Unsqueeze-1", (quantized(counted(3, 2), Fixed(floats(2))), Fixed(whole(0)))),
    Call("VariadicSplit-1", (ROWS, Fixed(index(0)), Fixed(whole(1)))),
)
"""Rows that a FakeQuantize gives, behind a layer of each type that carries them."""
QUANTIZED_STATE, QUANTIZED_STATES = (
    quantized(Fixed(np.zeros((1, count, 2), np.float32)), Fixed(floats(2))) for count in (1, 2)
)
TESTED = _boolean(Call("Abs-1", (DATA,)))
BITS = Call("Greater-1", (counted(1, 1, 2, 4), Fixed(floats(3))))
PACKED = Call("Multiply-1", (converted(Fixed(np.full((1, 1, 2), 50, np.int8)), "f32"), Fixed(floats(0.01))))


def _single(kind: str, sizes: tuple[int, ...]) -> Call:
    """A product with one column of packed weights, which a number scales."""
    held = converted(Fixed(np.arange(8, dtype=np.uint8) * 29, kind, sizes), "f32")
    weights = Call("Multiply-1", (held, Fixed(np.full((1,) * len(sizes), 0.5, np.float32))))
    if len(sizes) > 2:
        weights = Call("Reshape-1", (weights, Fixed(whole(1, 16))), {"special_zero": "false"})
    return Call("MatMul-1", (counted(2, 16), weights), {"transpose_b": "true"})


def _grouped(
    sizes: tuple[int, ...], scales: tuple[int, ...], *, rank: int = 2, kind: str = "uint8", zero: int = 0
) -> Call:
    """Three rows, of so many dimensions, times weights of 8 bits in groups, an output for each index of the first."""
    weights = converted(Fixed((np.arange(np.prod(sizes)) * 37 % 120).astype(kind).reshape(sizes)), "f32")
    if zero:
        weights = Call("Subtract-1", (weights, Fixed(number(float(zero)))))
    weights = Call("Multiply-1", (weights, Fixed(counted(*scales) + 1)))
    weights = Call("Reshape-1", (weights, Fixed(whole(sizes[0], -1))), {"special_zero": "false"})
    rows = (np.sin(counted(3, sizes[1] * sizes[2]))).reshape(*(1,) * (rank - 2), 3, -1)
    return Call("MatMul-1", (rows, weights), {"transpose_b": "true"})


def _as_numbers(booleans: Feed) -> Call:
    return Call("Convert-1", (booleans,), {"destination_type": "i32"})


def _by_sum(numbers: Call) -> Call:
    """Rows by whose number others are reshaped: 3, and what is added to 3."""
    shape = Call("Add-1", (Fixed(np.array([3, 3], np.int32)), numbers))
    return Call("Reshape-1", (counted(2, 6), shape), {"special_zero": "false"})


FLAGS = np.array([False, True])
BESIDE = [
    *(
        Beside(
            "SoftMax of bf16 along other axes than the last",
            falls,
            Call("SoftMax-1", (Given(counted(*sizes).astype(ml_dtypes.bfloat16), shape),), {"axis": axis}),
        )
        for falls, sizes, shape, axis in (
            (True, (2, 3, 4), "2,3,4", "1"),
            (True, (2, 3, 4), "?,?,?", "0"),
            (False, (2, 3, 4), "?,?,?", "1"),
            (False, (2, 3), "2,3", "1"),
            (False, (2, 3, 4, 2), "2,3,4,2", "1"),
        )
    ),
    *beside(
        "weights of u8 in groups for one output, 2023.2 to 2024.1",
        falling=[
            _grouped((1, 4, 16), (1, 4, 1)),
            _grouped((1, 2, 16), (1, 2, 1), zero=3),
            _grouped((1, 2, 16), (1, 2, 1), rank=3),
        ],
        others=[
            _grouped((2, 2, 16), (2, 2, 1)),
            _grouped((1, 2, 16), (1, 1, 1)),
            _grouped((1, 2, 16), (1, 2, 1), kind="int8"),
        ],
    ),
    *beside(
        "Convert of known booleans that become sizes",
        falling=[_by_sum(_as_numbers(Call("LogicalNot-1", (Fixed(~FLAGS),))))],
        others=[
            _by_sum(_as_numbers(Fixed(np.array([0, 1], np.uint8)))),
            Call("Add-1", (np.ones((2, 2), np.int32), _as_numbers(Fixed(FLAGS)))),
        ],
    ),
    *beside(
        "u4 weights, scaled otherwise",
        falling=[_single("u4", (1, 16)), _single("u4", (1, 1, 16))],
    ),
    *beside(
        "conversion of numbers of floats to boolean",
        falling=[
            _number(_reshaped(TESTED)),
            _number(Call("Concat-1", (TESTED, TESTED), {"axis": "0"}), "f16"),
            Call("Add-1", (_number(TESTED, "f32"), Call("Select-1", (TESTED, DATA, Fixed(floats(7)))))),
        ],
        others=[
            TESTED,
            _number(Call("LogicalNot-1", (TESTED,))),
            _number(Call("LogicalAnd-1", (TESTED, TESTED))),
            Call("Select-1", (TESTED, DATA, Fixed(floats(7)))),
            _number(_boolean(_repeated_pixels(_number(BITS, "f32"))), "f32"),
        ],
    ),
    *beside(
        "i8 weights, a rest of outputs, 2024.3 to 2025.0",
        falling=[_by_weights(17, 32), _by_weights(95, 8), _by_weights(24, 64, groups=4)],
        others=[
            *(_by_weights(outputs, 32) for outputs in (16, 48, 80, 128)),
            _by_weights(24, 32, zero="int8"),
            _by_weights(24, 32, data=counted(32)),
        ],
    ),
    *beside(
        "u8 weights, a rest of a sum, 2024.3 to 2025.0",
        falling=[
            *(_by_weights(4, summed, kind="uint8") for summed in (33, 79)),
            _by_weights(4, 65, kind="uint8", zero="uint8"),
        ],
        others=[
            *(_by_weights(4, summed, kind="uint8") for summed in (15, 31, 48, 63, 96)),
            _by_weights(1, 33, kind="uint8"),
        ],
    ),
    *beside(
        "i8 weights, short sums, 2025.1 to 2025.1",
        falling=[*(_by_weights(4, summed) for summed in (5, 7, 9, 15))],
        others=[
            *(_by_weights(4, summed) for summed in (4, 8, 16)),
            _by_weights(4, 12, zero="int8"),
            _by_weights(1, 12),
        ],
    ),
    *beside(
        "u8 weights, longer sums, 2025.1 to 2026.0",
        falling=[*(_by_weights(4, summed, kind="uint8") for summed in (17, 31))],
        others=[
            *(_by_weights(4, summed, kind="uint8") for summed in (16, 32)),
            _by_weights(4, 24, kind="uint8", zero="int8"),
        ],
    ),
    *beside(
        "weights of u8 for sums of few products, 2023.2 to 2023.2",
        falling=[
            *(_by_weights(4, summed, kind="uint8", data=np.cos(counted(5, summed))) for summed in (4, 15)),
            _by_weights(4, 8, kind="uint8", data=Given(np.cos(counted(5, 8)), "?,8")),
        ],
        others=[
            _by_weights(4, 8, kind="uint8", data=np.cos(counted(4, 8))),
            _by_weights(4, 8, data=np.cos(counted(5, 8))),
            *(_by_weights(4, summed, kind="uint8", data=np.cos(counted(5, summed))) for summed in (2, 16, 17)),
            _by_weights(1, 8, kind="uint8", data=np.cos(counted(5, 8))),
        ],
    ),
    *beside(
        "weights of 4 bits less numbers that groups share, 2023.2 to 2024.1",
        falling=[
            _by_nibbles((4, 2, 4), (4, 1, 1)),
            _by_nibbles((4, 2, 4), (1, 2, 1)),
            _by_nibbles((4, 2, 4), (4, 2, 4)),
            _by_nibbles((4, 8), (4, 8)),
            _by_nibbles((4, 2, 4), None, (4, 1, 1)),
        ],
        others=[
            _by_nibbles((4, 2, 4), (4, 2, 1)),
            _by_nibbles((4, 8), (4, 1)),
            _by_nibbles((1, 4, 8), (1, 4, 1)),
            _by_nibbles((1, 4, 8), (4, 1)),
        ],
    ),
    *beside(
        "weights of u4 less equal numbers, 2024.2 to 2024.6",
        falling=[_less_nibbles(0x77, 0x77)],
        others=[_less_nibbles(0x77, 0x78), _less_nibbles(0x07, axes=(1, 1)), _less_nibbles(0x77, 0x77, kind="")],
    ),
    *beside(
        "weights of 4 bits less one number, 2024.0 to 2024.1",
        falling=[_less_nibbles(0x77, 0x77), _less_nibbles(0, 0), _less_nibbles(0x07, axes=(1, 1))],
        others=[_less_nibbles(0x77, 0x78), _less_nibbles(0x77, 0x77, kind="")],
    ),
    *beside(
        "weights less numbers along the sum, 2025.0 to 2026.4",
        falling=[_by_nibbles((4, 2, 4), (1, 2, 1), data=_in_bytes(ROWS_OF_8))],
        others=[_by_nibbles((4, 2), (4, 1), data=ROWS_OF_8[:, :2])],
    ),
    *beside(
        "i8 weights, scaled by one number, 2024.3 to 2024.6", falling=[_by_number(4, 2)], others=[_by_number(1, 2)]
    ),
    *beside(
        "weights of i8 scaled by one number for one row of data, 2024.2 to 2024.6",
        falling=[_by_number(4, 1)],
        others=[_by_number(1, 1)],
    ),
    *beside(
        "weights of sequences of quantized data, 2022.3 to 2023.1",
        falling=[
            _sequence(begin=QUANTIZED_STATE),
            _sequence("GRUSequence-5"),
            _sequence("GRUSequence-5", direction="bidirectional"),
        ],
        others=[
            _sequence(begin=counted(1, 1, 2)),
            _sequence(data=counted(1, 3, 2)),
            _sequence(data=counted(1, 3, 2), begin=QUANTIZED_STATE),
            _sequence("GRUSequence-5", begin=QUANTIZED_STATES, direction="bidirectional"),
            *(_sequence(weights=weights) for weights in ((0,), (1,), ())),
        ],
    ),
    *beside(
        "weights of sequences of quantized data from a constant on, 2022.3 to 2026.4",
        falling=[_sequence(), _sequence("GRUSequence-5"), _sequence(direction="reverse")],
        others=[_sequence(begin=QUANTIZED_STATE), _sequence(weights=(0,))],
    ),
    *beside(
        "weights of sequences in part of 8 bits, 2024.4 to 2026.4",
        falling=[
            _sequence(begin=counted(1, 1, 2)),
            *(_sequence(weights=(number,)) for number in (0, 1)),
            *(
                _sequence(data=data)
                for data in (_cut(-2), _cut(-2, viewed=True), _cut(1), converted(converted(ROWS, "i32"), "f32"))
            ),
        ],
        others=[
            _sequence(data=counted(1, 3, 2)),
            _sequence(begin=QUANTIZED_STATE),
            _sequence(weights=()),
            *(_sequence(data=_rows(data)) for data in CARRIED),
        ],
    ),
    *beside(
        "conversion of numbers of integers to boolean", falling=[_number(_boolean(_number(TESTED.inputs[0], "u8")))]
    ),
    *beside(
        "conversion of a later output of floats to boolean",
        falling=[_boolean(_halves(1)), Call("ConvertLike-1", (_halves(1), Fixed(np.array(True))))],
        others=[_boolean(_halves(0)), _boolean(_reshaped(_halves(1))), _boolean(Call("ReLU-1", (_halves(1),)))],
    ),
    *beside(
        "conversion of a later output of integers to boolean",
        falling=[_boolean(_halves(1, _number(DATA, "u8")))],
        others=[_number(_halves(1, _number(DATA, "i64")))],
    ),
    *beside(
        "conversion of an output of a TopK, VariadicSplit or LSTMSequence of floats to boolean",
        falling=[_boolean(_parts(0, 4)), _boolean(_parts(0, 1, 3)), _boolean(_sorted(0))],
        others=[_boolean(_reshaped(_parts(1, 2, 2))), _boolean(Call("ReLU-1", (_sorted(0),)))],
    ),
    *beside(
        "conversion of an output of a TopK, VariadicSplit or LSTMSequence of integers to boolean",
        falling=[_boolean(_sorted(1))],
    ),
    *beside(
        "layers of constants alone",
        falling=[
            _sum(floats(1), Call("MVN-6", (CONSTANT, Fixed(whole(0))), MVN)),
            _sum(floats(1), Call("ReLU-1", (_elu(CONSTANT),))),
        ],
        others=[_sum(floats(1), Call("ReLU-1", (CONSTANT,))), _elu(CONSTANT), _sum(CONSTANT, _elu(floats(1, 2, 3)))],
    ),
    *beside(
        "Convert of constants of bf16",
        falling=[_sum(floats(1), _number(_number(CONSTANT, "bf16"), "f32"))],
        others=[_sum(floats(1), _number(_number(CONSTANT, "f16"), "f32"))],
    ),
    *beside(
        "conversion of numbers of floats to boolean",
        falling=[
            _number(_boolean(_repeated(floats(0, 3))), "f32"),
            _number(_boolean(Call("Concat-1", (_repeated(Fixed(number(1))), _summed(FEW)), {"axis": "0"})), "f32"),
            _number(_boolean(Call("Clamp-1", (DATA,), {"min": "0", "max": "2"})), "f32"),
        ],
        others=[
            _number(_boolean(_repeated(Fixed(number(1)))), "f32"),
            _number(
                _boolean(Call("Concat-1", (_repeated(Fixed(number(1))), _repeated(Fixed(number(0)))), {"axis": "0"})),
                "f32",
            ),
            _number(_boolean(Call("Clamp-1", (DATA,), {"min": "0", "max": "1"})), "f32"),
        ],
    ),
    *beside(
        "conversion of negative i64 to boolean",
        falling=[_boolean(Call("Negative-1", (Call("Unsqueeze-1", (whole(0, 1), Fixed(index(0)))),)))],
        others=[_boolean(Call("Unsqueeze-1", (whole(0, 1), Fixed(index(0)))))],
    ),
    *beside(
        "rows of weights of i4, 2024.1 to 2024.1",
        falling=[_gathered((4, 4), (4, 1), "i4"), _gathered((4, 4), (), "i4"), _gathered((4, 2, 2), (4, 2, 1), "i4")],
        others=[_gathered((4, 4), (4, 1)), _gathered((4, 4), None, "i4"), _gathered((4, 4), (4, 1), "u4")],
    ),
    *beside(
        "rows of weights in groups, 2024.1 to 2024.1",
        falling=[_gathered((4, 2, 2), (4, 2, 1), "u4"), _gathered((4, 2, 2), (4, 2, 1))],
        others=[_gathered((4, 2, 2), (4, 1, 1)), _gathered((4, 1, 4), (4, 1, 1)), _gathered((4, 2, 2), ())],
    ),
    *beside(
        "weights of sequences of quantized data from a packed state, 2022.3 to 2024.3",
        falling=[_sequence(begin=PACKED), _sequence("GRUSequence-5", begin=PACKED)],
        others=[_sequence(begin=PACKED, weights=(0,)), _sequence(begin=PACKED, data=counted(1, 3, 2)), _sequence()],
    ),
    *beside(
        "weights of sequences in part of 8 bits, 2024.4 to 2026.4",
        others=[_sequence(begin=PACKED, weights=(0,)), _sequence(begin=PACKED, data=counted(1, 3, 2))],
    ),
    *beside(
        "weights of u4 of several matrices, 2023.2 to 2024.1",
        falling=[
            _product(in_shape(_matrices("u4", 1, 2, 4, 4), 1, 8, 4), "false", counted(2, 8)),
            Call("MatMul-1", (counted(4), _matrices("u4"))),
            _product(_matrices("u4", scale=floats(2)), "false", counted(1, 2, 3, 4)),
        ],
        others=[
            _product(_matrices("u4", 1, 8, 4, scale=counted(1, 4)), "false", counted(2, 8)),
            _product(in_shape(_matrices("u4", 2, 4, 4, scale=counted(2, 1, 4)), 8, 4), "false", counted(2, 8)),
            _product(
                converted(Fixed(np.arange(16, dtype=np.uint8) * 23, "u4", (2, 4, 4)), "f32"), "false", counted(2, 4)
            ),
        ],
    ),
    *beside(
        "order of i4 constants",
        falling=[
            _product(converted(Fixed(np.arange(8, dtype=np.uint8) * 23, "i4", (4, 4)), "f32"), "false", counted(2, 4)),
        ],
    ),
]
