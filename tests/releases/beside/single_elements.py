"""Layers beside the rows of convolutions by stored filters of one element."""

from collections.abc import Mapping

import numpy as np

from ir_tools.known_differences._model import (
    PLANE,
    Call,
    Fixed,
    Given,
    converted,
    counted,
    floats,
    number,
    whole,
)
from tests.releases.beside import Beside, Feed, beside

FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)
CHANNELS_LAST, CHANNELS_FIRST = counted(1, 3, 5, 4), counted(1, 4, 3, 5)
NUMBERS = np.arange(20) * 37 % 251
BYTES = Fixed((NUMBERS - 125).astype(np.int8).reshape(5, 4, 1, 1))
SCALES = Fixed(floats(*range(1, 6)).reshape(5, 1, 1, 1) / 100)


def _turned(data: Feed, order: tuple[int, ...]) -> Call:
    return Call("Transpose-1", (data, Fixed(whole(*order))))


def _flat(data: Feed) -> Call:
    return Call("Reshape-1", (data, Fixed(whole(0, -1))), {"special_zero": "true"})


def _filtered(data: Feed, filters: Feed | None = None, settings: Mapping[str, str] = PLANE) -> Call:
    """A convolution by filters of one element, held in bytes unless there are others."""
    return Call("Convolution-1", (data, filters or _scaled(converted(BYTES, "f32"))), settings)


def _scaled(filters: Feed, scales: Feed = SCALES) -> Call:
    return Call("Multiply-1", (filters, scales))


def _less(zeros: Feed) -> Call:
    """Filters less zero points."""
    return _scaled(Call("Subtract-1", (converted(BYTES, "f32"), zeros)))


def _biased(data: Feed) -> Call:
    return Call("Add-1", (data, Fixed(counted(1, 5, 1, 1))))


def _halves() -> Call:
    """Filters that are stored and scaled in f16."""
    scales = Fixed(SCALES.array.astype(np.float16))
    return converted(_scaled(converted(BYTES, "f16"), scales), "f32")


def _reshaped(*sizes: int) -> Call:
    """Filters that are stored in another shape."""
    held = Fixed(BYTES.array.reshape(sizes))
    scales = Fixed(floats(0.01).reshape((1,) * len(sizes)))
    shape = Fixed(whole(5, 4, 1, 1))
    return Call("Reshape-1", (_scaled(converted(held, "f32"), scales), shape), {"special_zero": "false"})


STRIDED = PLANE | {"strides": "2,2"}
ZERO = np.array([3], np.int8).reshape(1, 1, 1, 1)
FIRSTS = _turned(CHANNELS_LAST, FIRST)
IN_LEVELS = Call(
    "FakeQuantize-1", (FIRSTS, *map(Fixed, (number(0), number(5.1), number(0), number(5.1)))), {"levels": "256"}
)
BESIDE: list[Beside] = [
    *beside(
        "convolutions by stored filters of one element between Transposes, 2026.1 to 2026.3",
        falling=[
            _turned(_filtered(FIRSTS, settings=STRIDED), LAST),
            _turned(_filtered(FIRSTS, _less(converted(Fixed(ZERO), "f32")), settings=STRIDED), LAST),
            _turned(_filtered(FIRSTS, _halves(), settings=STRIDED), LAST),
            _turned(_filtered(FIRSTS, settings=PLANE | {"pads_begin": "1,1", "pads_end": "1,1"}), LAST),
            _turned(_biased(_filtered(FIRSTS)), (0, 3, 2, 1)),
            _turned(_filtered(_turned(Given(CHANNELS_LAST, "?,?,?,4"), FIRST), settings=STRIDED), LAST),
            _flat(_filtered(_turned(counted(1, 3, 5, 4), (0, 3, 2, 1)))),
        ],
        others=[
            _turned(_filtered(FIRSTS), LAST),
            _turned(_filtered(FIRSTS, _less(Fixed(ZERO.astype(np.float32))), settings=STRIDED), LAST),
            _turned(_filtered(FIRSTS, converted(BYTES, "f32"), settings=STRIDED), LAST),
            _turned(_filtered(FIRSTS, Fixed(counted(5, 4, 1, 1)), settings=STRIDED), LAST),
            _turned(_filtered(Call("Abs-1", (FIRSTS,)), settings=STRIDED), LAST),
            _turned(Call("ReLU-1", (_filtered(FIRSTS, settings=STRIDED),)), LAST),
            _turned(_filtered(_turned(counted(2, 3, 5, 4), (0, 3, 2, 1))), (0, 3, 2, 1)),
            _turned(_filtered(IN_LEVELS, settings=STRIDED), LAST),
            _turned(_filtered(_turned(counted(1, 1, 1, 4), FIRST), settings=STRIDED), LAST),
        ],
    ),
    *beside(
        "convolutions by stored filters of one element of one batch, 2026.2 to 2026.2",
        falling=[
            _turned(_biased(_filtered(FIRSTS)), LAST),
            _turned(_filtered(_turned(Given(CHANNELS_LAST, "1,?,?,4"), FIRST)), LAST),
        ],
        others=[
            _turned(_filtered(_turned(counted(2, 3, 5, 4), FIRST)), LAST),
            _turned(_filtered(_turned(counted(1, 1, 5, 4), FIRST)), LAST),
            _turned(_filtered(_turned(Given(CHANNELS_LAST, "?,3,5,4"), FIRST)), LAST),
        ],
    ),
    *beside(
        "convolutions by stored filters of one element before a Reshape, 2026.1 to 2026.2",
        falling=[_flat(_filtered(_turned(counted(2, 3, 5, 4), FIRST)))],
        others=[_flat(_filtered(CHANNELS_FIRST)), _flat(Call("ReLU-1", (_filtered(FIRSTS),)))],
    ),
    *beside(
        "convolutions by stored filters of one element before a Transpose, 2026.4 to 2026.4",
        falling=[
            _turned(_filtered(CHANNELS_FIRST, settings=STRIDED), LAST),
            _turned(_biased(_filtered(CHANNELS_FIRST)), (0, 1, 3, 2)),
            _turned(_filtered(CHANNELS_FIRST, _reshaped(5, 2, 2, 1, 1)), (0, 1, 3, 2)),
            _flat(_filtered(CHANNELS_FIRST, settings=STRIDED)),
            _turned(_filtered(Call("SoftMax-1", (CHANNELS_FIRST,), {"axis": "1"}), settings=STRIDED), LAST),
        ],
        others=[
            _filtered(CHANNELS_FIRST, settings=STRIDED),
            _turned(_filtered(CHANNELS_FIRST), LAST),
            _turned(_filtered(CHANNELS_FIRST), (1, 0, 2, 3)),
            _turned(_filtered(CHANNELS_FIRST, _reshaped(5, 4)), (0, 1, 3, 2)),
            _turned(_filtered(CHANNELS_FIRST, _reshaped(5, 2, 2)), (0, 1, 3, 2)),
            _turned(Call("ReLU-1", (_filtered(CHANNELS_FIRST),)), (0, 1, 3, 2)),
            _turned(_filtered(Call("Abs-1", (CHANNELS_FIRST,)), settings=STRIDED), LAST),
        ],
    ),
    *beside(
        "convolutions by stored filters of one element behind a Transpose, 2026.4 to 2026.4",
        falling=[_filtered(FIRSTS, settings=STRIDED), Call("ReLU-1", (_filtered(FIRSTS, settings=STRIDED),))],
        others=[_filtered(FIRSTS), _turned(_filtered(FIRSTS, settings=STRIDED), (0, 3, 2, 1))],
    ),
    *beside(
        "convolutions by stored filters of one element of other axes, 2026.4 to 2026.4",
        falling=[
            _filtered(Call("Reshape-1", (counted(30, 4), Fixed(whole(0, 4, 1, 1))), {"special_zero": "true"})),
            _turned(_filtered(_turned(counted(1, 4, 3, 5), (0, 1, 3, 2))), (0, 1, 3, 2)),
        ],
        others=[
            _turned(_filtered(_turned(counted(1, 4, 3, 5), (0, 1, 3, 2))), LAST),
            _flat(_filtered(Call("Reshape-1", (counted(30, 4), Fixed(whole(0, 4, 1, 1))), {"special_zero": "true"}))),
        ],
    ),
]
