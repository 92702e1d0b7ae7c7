"""Layers beside the rows of attention, and of attributes without end."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, index, number, whole
from ir_tools.known_differences.releases._attention import HELD, _attention, _cached, _masked, _quantized
from tests.releases.beside import Feed, beside


def attention(*inputs: Feed, causal: bool = False) -> Call:
    return Call("ScaledDotProductAttention-13", inputs, {"causal": str(causal).lower()})


def masked(sizes: str, *held: int) -> Call:
    """Return a mask of two heads, which a Reshape makes of a tensor of these sizes."""
    return Call("Reshape-1", (Given(counted(*held), sizes), Fixed(whole(1, 2, -1, 3))), {"special_zero": "false"})


def transposed(data: Feed) -> Call:
    return Call("Transpose-1", (data, Fixed(whole(0, 2, 1, 3))))


def of_variables(op: str, *, gathered: bool, causal: bool) -> Call:
    """Attention whose keys a layer computes of variables, or also of new ones; `gathered`: whose order changes."""
    made = _cached(gathered=gathered)
    queries, keys, values = made.inputs
    return replace(made, inputs=(queries, Call(op, (keys,)), values), raw={"causal": str(causal).lower()})


def of_heads(query: Feed, *sizes: int) -> Call:
    """Attention with keys and values of these sizes."""
    keys = np.cos(np.arange(np.prod(sizes), dtype=np.float32)).reshape(sizes)
    return attention(query, keys, counted(*sizes))


def activated(query: Feed) -> Call:
    """Attention with keys that a ReLU computes."""
    waves = np.cos(np.arange(128, dtype=np.float32)).reshape(SQUARE)
    return attention(query, Call("ReLU-1", (waves,)), counted(*SQUARE))


def second_half() -> Call:
    """Queries, keys or values that are part of a split."""
    return Call("Split-1", (np.cos(counted(1, 4, 4, 16)), Fixed(index(3))), {"num_splits": "2"}, gives=1)


KEYS_AND_VALUES = (np.cos(np.arange(128, dtype=np.float32)).reshape(1, 4, 4, 8), counted(1, 4, 4, 8))


def unknown(*sizes: int, axis: int = -2) -> Given:
    """Data whose size along one axis is unknown."""
    dims = [*map(str, sizes)]
    dims[axis] = "?"
    return Given(counted(*sizes), ",".join(dims))


def product(first: Feed, second: Feed, transposed: bool = False, exchanged: bool = False) -> Call:
    raw = {"transpose_a": str(exchanged).lower(), "transpose_b": str(transposed).lower()}
    return Call("MatMul-1", (first, second), raw)


def weights(scores: Call) -> Call:
    return Call("SoftMax-8", (scores,), {"axis": "-1"})


def softened(
    queries: Feed,
    keys: Feed,
    values: Feed,
    *before: str,
    behind: Sequence[str] = (),
    by: Feed | None = None,
    axis: int = -1,
) -> Call:
    """A SoftMax between two products, with other layers before and behind it, which read the tensor or constant."""
    weights = product(queries, keys, transposed=True)
    more = () if by is None else (by,)
    for op in before:
        weights = Call(op, (weights, *more) if op[:3] in {"Add", "Mul", "Div"} else (weights,))
    weights = Call("SoftMax-8", (weights,), {"axis": str(axis)})
    for op in behind:
        weights = Call(op, (weights, *more) if op[:3] in {"Add", "Mul", "Div"} else (weights,))
    return product(weights, values)


def read_twice(scores: Call, values: Feed) -> Call:
    """The product of a SoftMax with values, and what else reads the scores that it softens."""
    mean = Call("ReduceMean-1", (scores, Fixed(whole(1))), {"keep_dims": "true"})
    return Call("Add-1", (product(weights(scores), values), mean))


def waves(*sizes: int) -> Call:
    return Call("Tanh-1", (np.sin(counted(*sizes)),))


ROOT = waves(1, 8, 8)
SEVEN = waves(1, 7, 8)
EXCHANGED = Call("Transpose-1", (ROOT, Fixed(whole(0, 2, 1))))
TURNED = Call("Transpose-1", (waves(8, 1, 8), Fixed(whole(1, 2, 0))))
MOVED = Call("Transpose-1", (waves(8, 1, 8), Fixed(whole(1, 0, 2))))
BATCHES = waves(2, 8, 8)
TWICE = waves(1, 1, 8, 8)
PLANE = np.cos(counted(1, 8, 8))
PLANES = np.cos(counted(1, 3, 8, 8))
PLAIN = {"special_zero": "false"}
VIEWED = Call("Reshape-1", (Call("Reshape-1", (ROOT, Fixed(whole(8, 8))), PLAIN), Fixed(whole(1, 8, 8))), PLAIN)
NUMBERS = Fixed(np.sin(counted(8, 8)))
KEYS = np.sin(np.arange(40)).astype(np.float32).reshape(1, 2, 5, 4)
VALUES = KEYS + 1
ROWS = (counted(1, 3, 4), counted(1, 3, 4))
WAVY = np.cos(counted(1, 2, 4, 8))
HEADS = (counted(1, 2, 3, 4), counted(1, 2, 3, 4))
SQUARE = (1, 4, 4, 8)
SHARED = of_heads(second_half(), *SQUARE)
"""An attention that two layers read, one of which transposes it."""


def variable(start: Feed, **raw: str) -> Call:
    """A variable that keeps what it holds."""
    return Call("ReadValue-6", (start,), HELD | raw)


def _joined(
    attending: Callable[..., Call],
    *,
    sizes: Sequence[int] = (2, 3, 4),
    others: Sequence[int] = (1, 2, 3, 4),
    then: str = "",
) -> Call:
    """The sum of an attention of some sizes, behind a layer of another type, and others."""
    waves = np.sin(counted(*sizes))
    given = attending(waves, np.cos(waves), waves + 1)
    axes = (Fixed(whole(0)),) if then == "Unsqueeze-1" else ()
    return Call("Add-1", (Call(then, (given, *axes)) if then else given, counted(*others)))


BESIDE = [
    *beside("attention with keys of beams", others=[_cached(), of_variables("Tanh-1", gathered=True, causal=False)]),
    *beside(
        "causal attention with keys of a variable",
        falling=[
            of_variables("Tanh-1", gathered=True, causal=True),
            of_variables("Tanh-1", gathered=False, causal=True),
        ],
    ),
    *beside("causal attention with keys of beams", others=[of_variables("Tanh-1", gathered=True, causal=True)]),
    *beside(
        "products around a SoftMax, values that are the queries, 2023.2 to 2023.3",
        falling=[
            softened(ROOT, ROOT, ROOT),
            softened(TWICE, TWICE, TWICE),
            softened(TURNED, PLANE, TURNED),
            softened(MOVED, PLANE, MOVED),
            softened(ROOT, PLANE, VIEWED),
            softened(ROOT, PLANE, ROOT, "Add-1", by=NUMBERS),
            softened(ROOT, PLANE, ROOT, "Multiply-1", by=NUMBERS),
            softened(ROOT, PLANE, ROOT, "ReLU-1", "Multiply-1", by=Fixed(floats(0.5))),
            softened(ROOT, PLANE, ROOT, behind=("Multiply-1", "Sigmoid-1"), by=Fixed(floats(0.5))),
        ],
        others=[
            softened(ROOT, PLANE, Call("Abs-1", (ROOT,))),
            softened(PLANE, ROOT, ROOT),
            softened(ROOT, PLANE, ROOT, "Multiply-1", by=Fixed(floats(0.5))),
            softened(ROOT, PLANE, ROOT, "Add-1", "Divide-1", by=Fixed(floats(0.5))),
            softened(ROOT, PLANE, ROOT, axis=1),
            softened(TWICE, PLANES, TWICE),
            softened(BATCHES, PLANE, BATCHES),
            softened(SEVEN, SEVEN, SEVEN),
            softened(EXCHANGED, PLANE, EXCHANGED),
            read_twice(product(ROOT, PLANE, transposed=True), ROOT),
            product(weights(product(ROOT, PLANE, transposed=True)), ROOT, transposed=True),
            product(weights(product(ROOT, PLANE, exchanged=True)), ROOT),
            product(ROOT, weights(product(ROOT, PLANE, transposed=True))),
        ],
    ),
    *beside(
        "products around a SoftMax, values that are the queries, 2023.1 to 2023.1",
        falling=[softened(ROOT, PLANE, ROOT)],
        others=[softened(TWICE, TWICE, TWICE)],
    ),
    *beside(
        "products around a SoftMax, tensors of three and of four dimensions",
        falling=[
            softened(PLANE, PLANES, waves(1, 8, 8)),
            softened(PLANES, Fixed(PLANE), waves(1, 3, 8, 8), "Multiply-1", by=Fixed(floats(0.5))),
            softened(PLANES, PLANES + 1, ROOT),
            product(PLANES, weights(product(PLANE, PLANES, transposed=True))),
        ],
        others=[
            softened(PLANES, Fixed(PLANE[0]), PLANES + 1),
            softened(PLANES, PLANES + 1, PLANES + 2),
            product(PLANE, weights(product(PLANE, PLANES, transposed=True))),
            product(PLANE, weights(product(PLANES, PLANES + 1, transposed=True))),
        ],
    ),
    *beside(
        "attention with constant keys or values",
        falling=[
            attention(counted(2, 3, 4), Fixed(counted(2, 5, 4)), Fixed(counted(2, 5, 4))),
            attention(counted(1, 2, 3, 4), KEYS, Fixed(VALUES)),
            attention(Fixed(counted(1, 2, 3, 4)), KEYS, Fixed(VALUES)),
        ],
        others=[
            attention(*(Fixed(np.sin(each)) for each in (counted(1, 2, 3, 4), KEYS, VALUES))),
            attention(counted(1, 2, 2, 3, 4), Fixed(counted(1, 2, 2, 5, 4)), Fixed(counted(1, 2, 2, 5, 4))),
            attention(Fixed(counted(1, 2, 3, 4)), Fixed(KEYS), VALUES),
            attention(counted(1, 2, 3, 4), KEYS, Fixed(VALUES[None])),
            attention(counted(1, 2, 3, 4), Fixed(KEYS[None]), Fixed(VALUES)),
            attention(counted(2, 3, 4), counted(2, 5, 4), Fixed(counted(1, 1, 2, 5, 4))),
        ],
    ),
    *beside(
        "infinite attributes",
        falling=[
            Call(
                "PriorBoxClustered-1",
                (whole(2, 2), whole(32, 32)),
                {"offset": "0.5", "variance": "0.1,0.1,0.1,inf", "width": "4,8", "height": "4,8"},
            ),
        ],
        others=[
            Call(
                "LSTMCell-4",
                (
                    *(Given(counted(3, size), f"3,{size}") for size in (4, 2, 2)),
                    *(Fixed(counted(*sizes) / 100) for sizes in ((8, 4), (8, 2), (8,))),
                ),
                {"hidden_size": "2", "clip": "inf"},
            ),
        ],
    ),
    *beside(
        "attention with a mask of one row",
        others=[
            attention(counted(1, 2, 4), *ROWS, counted(1, 3) * 0, causal=True),
            attention(unknown(1, 2, 4), *ROWS, counted(1, 3) * 0),
        ],
    ),
    *beside(
        "attention of as many rows as heads that is transposed, 2023.3 to 2025.1",
        falling=[transposed(of_heads(second_half(), *SQUARE)), attention(transposed(second_half()), *KEYS_AND_VALUES)],
        others=[
            transposed(of_heads(transposed(counted(*SQUARE)), *SQUARE)),
            Call("Add-1", (transposed(SHARED), SHARED)),
            transposed(of_heads(counted(1, 4, 3, 8), 1, 4, 3, 8)),
            transposed(of_heads(counted(1, 1, 1, 8), 1, 1, 1, 8)),
            transposed(of_heads(unknown(*SQUARE, axis=0), *SQUARE)),
            transposed(attention(counted(*SQUARE), np.cos(counted(*SQUARE)), second_half())),
        ],
    ),
    *beside(
        "attention of as many rows as heads that is transposed by keys of an activation, 2025.0 to 2025.1",
        falling=[activated(transposed(counted(*SQUARE)))],
        others=[attention(transposed(counted(*SQUARE)), Call("ReLU-1", (np.cos(counted(*SQUARE)),)), second_half())],
    ),
    *beside(
        "attention with a boolean mask",
        others=[attention(counted(1, 2, 4), *ROWS, counted(2, 3))],
    ),
    *beside(
        "attention of unknown sizes with a boolean mask",
        others=[
            attention(unknown(1, 2, 4), *ROWS, counted(2, 3).astype(bool)),
            attention(counted(1, 2, 3, 4), *HEADS, counted(3, 3).astype(bool)),
        ],
    ),
    *beside(
        "attention of unknown sizes with other batches, heads or sizes of values than of keys",
        falling=[
            attention(unknown(1, 2, 3, 4), counted(2, 3, 4), counted(1, 2, 3, 4)),
            attention(unknown(1, 2, 3, 4), counted(1, 2, 3, 4), counted(2, 3, 4)),
            attention(unknown(1, 2, 3, 4), counted(1, 2, 3, 4), counted(1, 1, 3, 4)),
            attention(unknown(1, 2, 3, 4), counted(1, 1, 3, 4), counted(1, 2, 3, 4)),
            attention(unknown(1, 2, 3, 4), counted(2, 2, 3, 4), counted(2, 2, 3, 4)),
            attention(unknown(2, 2, 3, 4), counted(2, 2, 3, 4), counted(1, 2, 3, 4)),
            attention(unknown(2, 2, 3, 4), counted(1, 1, 3, 4), counted(1, 1, 3, 4)),
        ],
        others=[
            attention(*HEADS, counted(1, 2, 3, 6)),
            attention(unknown(1, 3, 4), counted(1, 3, 4), counted(1, 3, 6)),
            attention(unknown(1, 2, 3, 4), *HEADS),
            attention(unknown(1, 2, 3, 4), *[np.cos(counted(1, 1, 3, 4))] * 2),
            attention(unknown(1, 1, 2, 3, 4), counted(1, 2, 3, 4), counted(1, 2, 3, 4)),
        ],
    ),
    *beside(
        "attention of unknown sizes whose queries are repeated for heads of keys",
        falling=[attention(unknown(2, 1, 3, 4), *[counted(2, 2, 3, 4)] * 2)],
        others=[
            attention(counted(1, 1, 3, 4), *HEADS),
            attention(unknown(1, 1, 3, 4), *[np.cos(counted(1, 1, 3, 4))] * 2),
        ],
    ),
    *beside(
        "attention of different ranks",
        falling=[
            attention(WAVY[0], np.sin(WAVY[0]), counted(1, 2, 4, 8)),
            attention(WAVY, np.sin(WAVY), counted(1, 4, 8)),
            attention(WAVY, counted(1, 4, 8), counted(1, 2, 4, 8)),
        ],
        others=[
            attention(WAVY[None], np.sin(WAVY), counted(1, 2, 4, 8)),
            attention(WAVY, np.sin(WAVY), counted(1, 1, 2, 4, 8)),
            attention(*counted(2, 1, 4, 8), counted(1, 4, 8)),
            attention(unknown(2, 4, 8), counted(1, 2, 4, 8), counted(1, 2, 4, 8)),
        ],
    ),
    *beside(
        "attention with values of more dimensions than scores",
        falling=[
            attention(WAVY[0], np.sin(WAVY[0]), counted(2, 1, 4, 8)),
            attention(WAVY[0], np.sin(WAVY[0]), counted(1, 1, 4, 8)),
        ],
        others=[attention(WAVY, np.sin(WAVY), counted(1, 4, 8)), attention(WAVY, np.sin(WAVY), counted(1, 1, 2, 4, 8))],
    ),
    *beside(
        "attention of unknown sizes with values of more dimensions than scores",
        falling=[attention(unknown(2, 3, 4, axis=0), ROWS[0], counted(2, 1, 3, 4))],
        others=[attention(unknown(1, 2, 4, 8), WAVY, counted(1, 4, 8))],
    ),
    *beside(
        "causal attention of unknown sizes",
        others=[
            attention(counted(1, 2, 2, 4), KEYS, VALUES, causal=True),
            attention(unknown(1, 2, 2, 4), KEYS, VALUES),
        ],
    ),
    *beside(
        "attention of an unknown number of queries with a mask of one row",
        falling=[
            attention(counted(1, 2, 3, 4), unknown(1, 2, 3, 4), unknown(1, 2, 3, 4), counted(1, 1, 3, 1) * 0),
        ],
        others=[attention(unknown(1, 2, 4), *ROWS, counted(1, 1, 3) * 0)],
    ),
    *beside(
        "attention of an unknown number of queries with a mask of one row, reshaped",
        falling=[attention(unknown(1, 2, 3, 4), *[counted(1, 2, 3, 4)] * 2, masked("?,1,3", 2, 1, 3))],
        others=[
            attention(unknown(1, 2, 3, 4), *[counted(1, 2, 3, 4)] * 2, masked(sizes, *held))
            for sizes, held in (("?,3,3", (2, 3, 3)), ("?,1,9", (2, 1, 9)))
        ],
    ),
    *beside(
        "quantized attention with large vectors and few keys",
        falling=[_quantized(32, 128)],
        others=[
            *(_quantized(12, 64), _quantized(33, 128)),
            *(_quantized(12, 128, given=False), _quantized(12, 128, first=False)),
        ],
    ),
    *beside(
        "quantized products around a SoftMax with large vectors and few keys",
        falling=[_quantized(32, 128, made=_attention)],
        others=[
            *(_quantized(12, 64, made=_attention), _quantized(33, 128, made=_attention)),
            *(_quantized(12, 128, made=_attention, given=False), _quantized(12, 128, made=_attention, first=False)),
        ],
    ),
    *beside(
        "attention with a sink",
        others=[attention(counted(1, 2, 4), *ROWS, counted(2, 3) * 0, number(0.5))],
    ),
    *beside(
        "attention of as many computed rows as heads that is transposed, 2023.3 to 2026.4",
        others=[
            transposed(of_heads(counted(*SQUARE), *SQUARE)),
            of_heads(Call("ReLU-1", (counted(*SQUARE),)), *SQUARE),
            transposed(of_heads(transposed(counted(*SQUARE)), *SQUARE)),
            Call("Add-1", (transposed(SHARED), SHARED)),
        ],
    ),
    *beside(
        "Clamp between a number and infinity",
        others=[Call("Clamp-1", (floats(-1, 2),), {"min": "0", "max": "inf"})],
    ),
    *beside(
        "attention of unknown sizes with a boolean mask beside variables",
        falling=[
            _masked(variable(Given(counted(1, 2, 3, 4), "1,2,?,4"), variable_shape="1,2,?,4"), "1,2,3,4"),
            Call("Add-1", (_masked(counted(1, 2, 3, 4)), variable(counted(1, 2, 3, 4)))),
            _masked(variable(counted(1, 2, 3, 4)), "1,2,3,4", Given(np.ones((3, 3), bool), "?,3")),
        ],
        others=[
            _masked(variable(counted(1, 2, 3, 4)), "1,2,3,4"),
            _masked(variable(counted(1, 2, 3, 4)), mask=np.zeros((3, 3), np.float32)),
            _masked(counted(1, 2, 3, 4)),
        ],
    ),
    *beside(
        "products around a SoftMax combined with more dimensions, 2024.1 to 2026.4",
        falling=[
            _joined(_attention, then="Tanh-1"),
            _joined(_attention, sizes=(1, 2, 3, 4), others=(1, 1, 2, 3, 4)),
            Call("Maximum-1", _joined(_attention).inputs),
        ],
        others=[
            _joined(_attention, others=(2, 3, 4)),
            _joined(_attention, sizes=(1, 3, 4)),
            _joined(_attention, then="Unsqueeze-1"),
            Call("Add-1", (joined := _joined(_attention), joined.inputs[0])),
            Call("PReLU-1", (_joined(_attention).inputs[0], Fixed(counted(3)))),
        ],
    ),
    *beside(
        "attention combined with more dimensions, 2024.1 to 2026.4",
        falling=[_joined(attention, then="ReLU-1")],
        others=[_joined(attention, others=(2, 3, 4)), _joined(attention, then="Unsqueeze-1")],
    ),
]
