"""Small networks whose inputs have to suit each other, in the manner of larger ones; all sizes of inputs are open."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as op

WIDTH, HEADS, WORDS, PLACES, FEW_PLACES = 16, 2, 50, 40, 23
RNG = np.random.default_rng(5)


def weights(*shape: int) -> Any:
    return op.constant((RNG.standard_normal(shape) / 4).astype(np.float32))


def numbers(*values: int) -> Any:
    return op.constant(np.array(values, np.int64))


def number(value: int) -> Any:
    return op.constant(np.int64(value))


def parameter(name: str, rank: int | Sequence[int], kind: Any = np.float32) -> Any:
    found = op.parameter(ov.PartialShape([-1] * rank if isinstance(rank, int) else list(rank)), kind, name=name)
    found.output(0).get_tensor().set_names({name})
    return found


def linear(x: Any, size: int, before: int = WIDTH) -> Any:
    return op.matmul(x, weights(before, size), False, False)


def heads(x: Any) -> Any:
    return op.transpose(op.reshape(x, numbers(0, 0, HEADS, WIDTH // HEADS), True), numbers(0, 2, 1, 3))


def attend(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    scores = op.matmul(query, key, False, True)
    found = op.matmul(op.softmax(scores if mask is None else op.add(scores, mask), -1), value, False, False)
    return op.reshape(op.transpose(found, numbers(0, 2, 1, 3)), numbers(0, 0, WIDTH), True)


def hidden(mask: Any) -> Any:
    """From a mask of `[batch, length]`, what is added to scores: nothing for 1, a lot below zero for 0."""
    spread = op.unsqueeze(op.convert(mask, "f32"), numbers(1, 2))
    return op.multiply(op.subtract(op.constant(np.float32(1)), spread), op.constant(np.float32(-1e9)))


def length(x: Any, axis: int) -> Any:
    return op.gather(op.shape_of(x), number(axis), number(0))


def embed(ids: Any, rows: int = WORDS) -> Any:
    return op.gather(weights(rows, WIDTH), ids, number(0))


def model(outputs: Sequence[Any], inputs: Sequence[Any]) -> ov.Model:
    return ov.Model([op.result(output) for output in outputs], list(inputs), "network")


def encoder() -> ov.Model:
    """Words, their kinds, a mask; positions from a table that is cut."""
    ids, kinds, mask = (parameter(name, 2, np.int64) for name in ("ids", "kinds", "mask"))
    places = op.slice(
        weights(PLACES, WIDTH), numbers(0), op.unsqueeze(length(ids, 1), numbers(0)), numbers(1), numbers(0)
    )
    x = op.add(op.add(embed(ids), embed(kinds, 2)), places)
    x = op.add(x, attend(heads(linear(x, WIDTH)), heads(linear(x, WIDTH)), heads(linear(x, WIDTH)), hidden(mask)))
    return model([linear(x, 7)], [ids, kinds, mask])


def short_table() -> ov.Model:
    """A table of positions with fewer rows than words are tried, added as a whole."""
    ids = parameter("ids", 2, np.int64)
    return model([linear(op.add(embed(ids), weights(1, 11, WIDTH)), 7)], [ids])


def decoder(*, crossed: bool, places: int = 96) -> ov.Model:
    """Words after others whose keys and values are inputs, with a mask over all, and with what an encoder gave."""
    ids, mask = parameter("ids", 2, np.int64), parameter("mask", 2, np.int64)
    past = [parameter(name, [-1, HEADS, -1, -1]) for name in ("key", "value")]
    inputs = [ids, mask, *past]
    counted = op.range(length(past[0], 2), op.add(length(past[0], 2), length(ids, 1)), number(1), "i64")
    x = op.add(embed(ids), op.gather(weights(places, WIDTH), counted, number(0)))
    key = op.concat([past[0], heads(linear(x, WIDTH))], 2)
    value = op.concat([past[1], heads(linear(x, WIDTH))], 2)
    x = op.add(x, attend(heads(linear(x, WIDTH)), key, value, hidden(mask)))
    if crossed:
        states, seen = parameter("states", 3), parameter("seen", 2, np.int64)
        inputs += [states, seen]
        query, own = heads(linear(x, WIDTH)), heads(linear(states, WIDTH))
        x = op.add(x, attend(query, own, own, hidden(seen)))
    return model([linear(x, WORDS), key, value], inputs)


def summed_positions() -> ov.Model:
    """Positions are the mask, summed up."""
    ids, mask = parameter("ids", 2, np.int64), parameter("mask", 2, np.int64)
    places = op.subtract(op.cum_sum(mask, number(1)), number(1))
    x = op.add(embed(ids), embed(places, PLACES))
    return model([attend(heads(x), heads(x), heads(x), hidden(mask))], [ids, mask])


def summed_few_positions() -> ov.Model:
    """Positions are the mask, summed up from 2; there are fewer than words are tried with."""
    ids, mask = parameter("ids", 2, np.int64), parameter("mask", 2, np.int64)
    places = op.add(op.cum_sum(mask, number(-1)), number(2))
    x = op.add(embed(ids), embed(places, FEW_PLACES))
    return model([attend(heads(x), heads(x), heads(x), hidden(mask))], [ids, mask])


def chosen_mask() -> ov.Model:
    """A mask that is 1 for what to leave out, as conditions."""
    ids, mask = parameter("ids", 2, np.int64), parameter("left_out", 2, ov.Type.boolean)
    x = embed(ids)
    scores = op.matmul(heads(x), heads(x), False, True)
    left_out = op.unsqueeze(mask, numbers(1, 2))
    scores = op.select(left_out, op.constant(np.float32(-np.inf)), scores)
    return model([op.matmul(op.softmax(scores, -1), heads(x), False, False)], [ids, mask])


def picture_words(*, open_channels: bool) -> ov.Model:
    """A picture in patches of 16, with one position for each of 7 by 7 and one for the class."""
    picture = parameter("picture", 4 if open_channels else [-1, 3, -1, -1])
    patches = op.convolution(picture, weights(WIDTH, 3, 16, 16), [16, 16], [0, 0], [0, 0], [1, 1])
    words = op.transpose(op.reshape(patches, numbers(0, 0, -1), True), numbers(0, 2, 1))
    batch = op.concat([op.unsqueeze(length(picture, 0), numbers(0)), numbers(1, WIDTH)], 0)
    x = op.add(op.concat([op.broadcast(weights(1, 1, WIDTH), batch), words], 1), weights(1, 50, WIDTH))
    return model([linear(attend(heads(x), heads(x), heads(x)), 5)], [picture])


def down_and_up(levels: int = 6) -> ov.Model:
    """A picture made smaller by halves and larger again, each size joined with what it came from."""
    x = picture = parameter("latent", [-1, 4, -1, -1])
    kept = []
    for _ in range(levels):
        kept.append(x)
        x = op.convolution(x, weights(4, 4, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
    for before in reversed(kept):
        x = op.convolution_backprop_data(x, weights(4, 4, 2, 2), [2, 2])
        x = op.convolution(op.concat([x, before], 1), weights(4, 8, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])
    return model([x], [picture])


def windows() -> ov.Model:
    """A picture in patches of 4, in windows of 7 by 7 patches."""
    picture = parameter("picture", [-1, 3, -1, -1])
    patches = op.convolution(picture, weights(WIDTH, 3, 4, 4), [4, 4], [0, 0], [0, 0], [1, 1])
    rows = op.divide(op.gather(op.shape_of(patches), numbers(2, 3), number(0)), number(7))
    cut = op.concat(
        [
            numbers(-1, WIDTH),
            *(piece for n in (0, 1) for piece in (op.gather(rows, numbers(n), number(0)), numbers(7))),
        ],
        0,
    )
    found = op.transpose(op.reshape(patches, cut, False), numbers(0, 2, 4, 3, 5, 1))
    return model([linear(op.reshape(found, numbers(-1, 49, WIDTH), False), 5)], [picture])


def recurrent() -> ov.Model:
    """Two states whose sizes the weights decide."""
    ids = parameter("ids", 2, np.int64)
    states = [parameter(name, 3) for name in ("state", "cell")]
    size = 6
    lengths = op.broadcast(op.unsqueeze(length(ids, 1), numbers(0)), op.unsqueeze(length(ids, 0), numbers(0)))
    turned = [op.transpose(state, numbers(1, 0, 2)) for state in states]
    found = op.lstm_sequence(
        embed(ids), *turned, lengths, weights(2, 4 * size, WIDTH), weights(2, 4 * size, size), weights(2, 4 * size),
        size, "bidirectional",
    )  # fmt: skip
    return model([found.output(0)], [ids, *states])


def experts() -> ov.Model:
    """Words go to two of four experts each; a mask that is multiplied."""
    ids, mask = parameter("ids", 2, np.int64), parameter("mask", 2, np.int64)
    x = op.multiply(embed(ids), op.convert(op.unsqueeze(mask, numbers(2)), "f32"))
    best = op.topk(op.softmax(linear(x, 4), -1), number(2), -1, "max", "value", "i64")
    shares = op.scatter_elements_update(
        op.broadcast(op.constant(np.float32(0)), op.shape_of(linear(x, 4))), best.output(1), best.output(0), number(2)
    )
    outputs = op.unsqueeze(linear(x, 4 * WIDTH), numbers(2))
    outputs = op.reshape(outputs, numbers(0, 0, 4, WIDTH), True)
    return model([op.reduce_sum(op.multiply(outputs, op.unsqueeze(shares, numbers(3))), numbers(2))], [ids, mask])


def flattened() -> ov.Model:
    """A picture whose features are flattened for a layer of fixed size."""
    picture = parameter("picture", [-1, 3, -1, -1])
    x = op.convolution(picture, weights(4, 3, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
    x = op.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
    return model([linear(op.reshape(x, numbers(0, -1), True), 5, 4 * 9 * 9)], [picture])


def picture_channels_last() -> ov.Model:
    """A picture whose channels come last, in patches of 16 that are counted on one axis, of 49."""
    picture = parameter("picture", [-1, -1, -1, 3])
    first = op.transpose(picture, numbers(0, 3, 1, 2))
    patches = op.convolution(first, weights(WIDTH, 3, 16, 16), [16, 16], [0, 0], [0, 0], [1, 1])
    x = op.transpose(op.reshape(patches, numbers(0, 0, -1), True), numbers(0, 2, 1))
    return model([op.add(x, weights(1, 49, WIDTH))], [picture])


def best_position() -> ov.Model:
    """The place of the largest of several scores, looked up in a table of 9."""
    scores = parameter("scores", 2)
    best = op.topk(scores, number(1), 1, "max", "none", "i64").output(1)
    return model([embed(op.squeeze(best, numbers(1)), 9)], [scores])


NETWORKS: dict[str, Callable[[], ov.Model]] = {
    "encoder": encoder,
    "short_table": short_table,
    "decoder": lambda: decoder(crossed=False),
    "decoder_of_few_places": lambda: decoder(crossed=False, places=40),
    "crossed_decoder": lambda: decoder(crossed=True),
    "summed_positions": summed_positions,
    "summed_few_positions": summed_few_positions,
    "chosen_mask": chosen_mask,
    "picture_words": lambda: picture_words(open_channels=False),
    "picture_channels_last": picture_channels_last,
    "picture_words_open": lambda: picture_words(open_channels=True),
    "down_and_up": down_and_up,
    "windows": windows,
    "recurrent": recurrent,
    "experts": experts,
    "flattened": flattened,
    "best_position": best_position,
}
