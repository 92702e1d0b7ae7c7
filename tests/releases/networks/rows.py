"""Blocks of rows."""

import numpy as np

from ir_tools.graph import Source
from tests.releases.networks.anything import activation
from tests.releases.networks.network import Network, block


def linear(net: Network, x: Source, outputs: int, bias: bool = True) -> Source:
    """Return a product with weights, which are constants of either order."""
    width = net.channels(x, -1)
    if net.chance(0.8):
        found = net.product(x, net.weights(outputs, width), transposed=True)
    else:
        found = net.product(x, net.weights(width, outputs, scale=width**-0.5))
    return net.call("Add", found, net.weights(1, 1, outputs, scale=0.3)) if bias else found


@block("rows", "rows")
def layer_normalized(net: Network, x: Source) -> Source:
    """Normalize along the last axis, by one layer or several."""
    rank, width, kind = len(net.sizes(x)), net.channels(x, -1), net.one("MVN", "by hand", "root", "inverse")
    scale, shift = (net.weights(*[1] * (rank - 1), width, scale=1) for _ in range(2))
    if kind == "MVN":
        found = net.call(kind, x, net.long([-1]), eps=1e-5, normalize_variance=True, eps_mode="inside_sqrt")
        return net.call("Add", net.call("Multiply", found, scale), shift)
    data = x
    if kind != "root":
        data = net.call("Subtract", x, net.call("ReduceMean", x, net.whole(-1), keep_dims=True))
    square = net.one(net.call("Power", data, net.floats([2])), net.call("Multiply", data, data))
    variance = net.call("Add", net.call("ReduceMean", square, net.whole(-1), keep_dims=True), net.floats([1e-5]))
    if kind == "inverse":
        found = net.call("Multiply", data, net.call("Power", variance, net.floats([-0.5])))
    else:
        found = net.call("Divide", data, net.call("Sqrt", variance))
    return net.call("Add", net.call("Multiply", found, scale), shift)


@block("rows")
@block("rows")
def attention(net: Network, x: Source) -> Source:
    """Attend to the same rows, or to a second input."""
    width = net.channels(x, -1)
    heads = net.one(1, 2, 4) if width % 4 == 0 else 1
    other = x
    if net.chance(0.2) and "memory" not in net.fed and net.sizes(x)[0] is not None:
        other = net.input("memory", (net.channels(x, 0), 7, width), (1,))
    if other is x and net.chance(0.4):
        parts = net.outputs("Split", linear(net, x, 3 * width), net.long(2), num_splits=3)
    else:
        parts = tuple(linear(net, one, width) for one in (x, other, other))
    query, key, value = (net.transpose(net.reshape(one, 0, 0, heads, width // heads), 0, 2, 1, 3) for one in parts)
    if net.chance(0.3) and width // heads % 2 == 0:
        query, key = rotated(net, query), rotated(net, key)
    mask = [causal(net, x)] if other is x and net.chance(0.5) else []
    if net.chance(0.3):
        causes = not mask and net.chance(0.5)
        found = net.call("ScaledDotProductAttention", query, key, value, *mask, causal=causes)
    else:
        scores = net.product(query, key, transposed=True)
        scores = net.call(net.one("Multiply", "Divide"), scores, net.floats([[[[0.5]]]]))
        for one in mask:
            scores = net.call("Add", scores, one)
        found = net.product(net.call("SoftMax", scores, axis=net.one(3, -1)), value)
    return net.call("Add", x, linear(net, net.reshape(net.transpose(found, 0, 2, 1, 3), 0, 0, width), width))


def causal(net: Network, x: Source) -> Source:
    """Return the mask of what comes later."""
    steps = net.call("Squeeze", net.size_of(x, 1), net.long([0]))
    counted = net.call("Range", net.long(0), steps, net.long(1), output_type="i64")
    behind, before = (net.call("Unsqueeze", counted, net.long([axis])) for axis in (0, 1))
    hidden = net.floats(net.one(-1e4, -3e38))
    return net.call("Select", net.call("LessEqual", behind, before), net.floats(0), hidden)


def rotated(net: Network, heads: Source) -> Source:
    """Return queries or keys with rotary positions."""
    half = net.channels(heads, -1) // 2
    first, second = net.outputs("VariadicSplit", heads, net.long(3), net.long([half, half]))
    negative = net.one(net.call("Negative", second), net.call("Multiply", second, net.floats([-1])))
    turned = net.call("Concat", negative, first, axis=net.one(-1, 3))
    steps = net.call("Squeeze", net.size_of(heads, 2), net.long([0]))
    places = net.call("Range", net.long(0), steps, net.long(1), output_type="f32")
    angles = net.call(
        "Multiply", net.call("Unsqueeze", places, net.long([1])), net.floats([[0.5**i for i in range(half)] * 2])
    )
    kept = net.call("Multiply", heads, net.call("Cos", angles))
    return net.call("Add", kept, net.call("Multiply", turned, net.call("Sin", angles)))


@block("rows")
def feed_forward(net: Network, x: Source) -> Source:
    width = net.channels(x, -1)
    if net.chance(0.5):
        return net.call("Add", x, linear(net, activation(net, linear(net, x, 2 * width)), width))
    first, second = net.outputs("Split", linear(net, x, 2 * width), net.long(net.one(2, -1)), num_splits=2)
    return net.call("Multiply", first, net.call(net.one("Sigmoid", "Swish"), second))


@block("rows")
def recurrent(net: Network, x: Source) -> Source:
    """Run a sequence forwards, backwards or both ways."""
    kind, size, width = net.one("LSTM", "GRU", "RNN"), net.one(3, 8), net.channels(x, -1)
    gates, ways = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], net.one(1, 1, 2)
    direction = "bidirectional" if ways == 2 else net.one("forward", "reverse")
    count = net.size_of(x, 0)
    lengths = net.call("Broadcast", net.size_of(x, 1), count, mode="numpy")
    start = net.call(
        "Broadcast", net.floats(0), net.call("Concat", count, net.long([ways, size]), axis=0), mode="numpy"
    )
    apart = kind == "GRU" and net.chance(0.5)
    weights = [net.weights(ways, gates * size, one, scale=0.3) for one in (width, size)]
    weights.append(net.weights(ways, (gates + apart) * size, scale=0.3))
    settings: dict[str, object] = {"hidden_size": size, "direction": direction}
    settings["activations"] = ["tanh"] if kind == "RNN" else ["sigmoid", *["tanh"] * (2 if kind == "LSTM" else 1)]
    settings |= {"linear_before_reset": apart} if kind == "GRU" else {}
    states = [start] * (2 if kind == "LSTM" else 1)
    found = net.outputs(f"{kind}Sequence", x, *states, lengths, *weights, **settings)[0]
    return net.reshape(net.transpose(found, 0, 2, 1, 3), 0, 0, ways * size)


@block("rows")
def filtered_rows(net: Network, x: Source) -> Source:
    """Filter along the rows."""
    width, ahead = net.channels(x, -1), net.chance(0.5)
    windows = {"strides": [1], "dilations": [1], "pads_begin": [2 if ahead else 1], "pads_end": [0 if ahead else 1]}
    columns = net.transpose(x, 0, 2, 1)
    if net.chance(0.5):
        found = net.call("Convolution", columns, net.weights(width, width, 3), **windows)
    else:
        found = net.call("GroupConvolution", columns, net.weights(width, 1, 1, 3), **windows)
    return net.transpose(activation(net, found), 0, 2, 1)


@block("rows")
def summed(net: Network, x: Source) -> Source:
    kind = net.one("CumSum", "Einsum", "own", "product")
    if kind == "CumSum":
        return net.call(kind, x, net.long(1), exclusive=net.chance(0.3), reverse=net.chance(0.3))
    if kind == "own":
        return net.product(net.call("SoftMax", net.product(x, x, transposed=True), axis=-1), x)
    if kind == "Einsum":
        return net.call(kind, x, net.weights(net.channels(x, -1), 8), equation="btd,de->bte")
    scores = net.call("Einsum", x, x, equation="bid,bjd->bij")
    return net.call("Einsum", scores, x, equation="bij,bjd->bid")


@block("rows")
def best_rows(net: Network, x: Source) -> Source:
    """Take some rows, the best or those that a comparison finds."""
    kind = net.one("i32", "i64")
    found = net.one("values", "rows", "nonzero", "one-hot")
    if found == "nonzero":
        sums = net.call("ReduceSum", x, net.whole(0, 2), keep_dims=False)
        places = net.call("NonZero", net.call("Greater", sums, net.floats(0)), output_type=kind)
        taken = net.call("Gather", x, net.call("Squeeze", places, net.long([0])), net.long(1), batch_dims=0)
        return net.call("Concat", x, taken, axis=1)
    best = {"mode": net.one("max", "min"), "sort": "value", "index_element_type": kind}
    if found == "one-hot":
        places = net.outputs("TopK", x, net.long(1), axis=2, **best)[1]
        count = net.long(net.channels(x, -1))
        hot = net.call(
            "OneHot", net.call("Squeeze", places, net.long([2])), count, net.floats(1), net.floats(0), axis=-1
        )
        return net.call("Multiply", x, hot)
    if found == "values":
        most, places = net.outputs("TopK", x, net.long(1), axis=1, **best)
        return net.call("Add", most, net.call("Convert", places, destination_type="f32"))
    sums = net.call("ReduceSum", x, net.whole(2), keep_dims=False)
    return net.call("Gather", x, net.outputs("TopK", sums, net.long(1), axis=1, **best)[1], net.long(1), batch_dims=1)


@block("rows")
def updated(net: Network, x: Source) -> Source:
    width, kind = net.channels(x, -1), net.one("ScatterNDUpdate", "GatherND", "ScatterUpdate", "GatherElements")
    if kind == "ScatterNDUpdate":
        return net.call(kind, x, np.array([[0, 0]], np.int64), net.weights(1, width))
    if kind == "GatherND":
        return net.call("Add", x, net.call(kind, x, np.array([[0, 0]], np.int32), batch_dims=0))
    first = net.call("Slice", net.call("Exp", x), net.long([0]), net.long([1]), net.long([1]), net.long([1]))
    if kind == "ScatterUpdate":
        return net.call(kind, x, net.whole(0), first, net.whole(1))
    places = net.call("Convert", net.call("Greater", x, net.floats(50)), destination_type=net.one("i64", "i32"))
    return net.call(kind, x, places, axis=1)


@block("rows")
def measured(net: Network, x: Source) -> Source:
    """Append reductions of each row."""
    kinds = net.rng.choice(
        ["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceL2"], 2, replace=False
    )
    return net.call("Concat", x, *(net.call(kind, x, net.whole(2), keep_dims=True) for kind in kinds), axis=2)


@block("rows")
def placed(net: Network, x: Source) -> Source:
    """Add positions that are cut out of a table."""
    table = net.weights(1, 64, net.channels(x, -1))
    return net.call("Add", x, net.call("Slice", table, net.long([0]), net.size_of(x, 1), net.long([1]), net.long([1])))


@block("rows")
def transformed(net: Network, x: Source) -> Source:
    found = net.call("RDFT", x, net.long([2]))
    if net.chance(0.5):
        return net.call("IRDFT", found, net.long([2]), net.long([net.channels(x, -1)]))
    return net.call("ReduceSum", found, net.whole(3), keep_dims=False)


@block("rows")
def remainder(net: Network, x: Source) -> Source:
    return net.call(net.one("Mod", "FloorMod"), x, net.floats([0.7]))


@block("rows")
def repeated(net: Network, x: Source) -> Source:
    if net.chance(0.5):
        return net.call("Tile", x, net.whole(1, 2, 1))
    return net.call(net.one("ReduceMean", "ReduceMax"), x, net.whole(1), keep_dims=True)
