"""Random legacy recurrent layers, loops, decoders and memory."""

import numpy as np

from ir_tools.ops.fields import listed
from tests.legacy.net import LegacyCase, Maker, Net, Rng, Tensor, chance, optional, pick

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}


def _blobs(net: Net, kind: str, data_size: int, hidden: int, *, linear: bool) -> dict[str, np.ndarray]:
    gates = GATES[kind]
    return {
        "weights": net.values(gates * hidden, data_size + hidden, scale=0.5),
        "biases": net.values((gates + linear) * hidden, scale=0.5),
    }


def _attributes(rng: Rng, kind: str, hidden: int) -> tuple[dict[str, object], bool]:
    linear = kind == "GRU" and chance(rng, 0.4)
    data: dict[str, object] = {"hidden_size": hidden}
    if linear or (kind == "GRU" and chance(rng, 0.5)):
        data["linear_before_reset"] = int(linear)
    if chance(rng, 0.2):
        data["activations"] = listed([pick(rng, "sigmoid", "tanh", "relu") for _ in range(ACTIVATIONS[kind])])
    if chance(rng, 0.2):
        data["clip"] = pick(rng, "0", "0.3")
    return data, linear


def _cell(kind: str) -> Maker:
    def maker(rng: Rng, version: int) -> LegacyCase:
        net = Net(rng, version)
        batch, size, hidden = (int(count) for count in rng.integers(1, 7, 3))
        data, linear = _attributes(rng, kind, hidden)
        states = [net.input(net.values(batch, hidden)) for _ in range(2 if kind == "LSTM" else 1)]
        inputs = [net.input(net.values(batch, size)), *states]
        outs = [(batch, hidden)] * len(states)
        net.layer(f"{kind}Cell", inputs, outs, data, _blobs(net, kind, size, hidden, linear=linear))
        return net.case()

    return maker


def _sequence(kind: str) -> Maker:
    def maker(rng: Rng, version: int) -> LegacyCase:
        net = Net(rng, version)
        batch, steps, size, hidden = (int(count) for count in rng.integers(1, 6, 4))
        data, linear = _attributes(rng, kind, hidden)
        axis = int(rng.integers(0, 2))
        data = optional(rng, data | {"axis": axis}, axis=1)
        data["direction"] = pick(rng, "Forward", "Backward")
        turned = (lambda *shape: shape) if axis == 1 else (lambda first, second, last: (second, first, last))
        source = net.input(net.values(*turned(batch, steps, size)))
        count = 2 if kind == "LSTM" else 1
        states = (
            []
            if chance(rng, 0.2) and not {"clip", "activations"} & data.keys()
            else [net.input(net.values(batch, hidden)) for _ in range(count)]
        )
        outs = [turned(batch, steps, hidden), *[(batch, hidden)] * count]
        net.layer(f"{kind}Sequence", [source, *states], outs, data, _blobs(net, kind, size, hidden, linear=linear))
        return net.case()

    return maker


def tensor_iterator(rng: Rng, version: int) -> LegacyCase:
    """Make a loop over one axis whose body is a cell and a reshape on either side of it."""
    if chance(rng, 0.2):
        return mirrored(rng, version)
    net = Net(rng, version)
    kind = pick(rng, "LSTM", "GRU", "RNN")
    batch, steps, size, hidden = (int(count) for count in rng.integers(1, 6, 4))
    backward = chance(rng, 0.4)
    data, linear = _attributes(rng, kind, hidden)
    sequence = net.input(net.values(batch, steps, size))
    states = [net.input(net.values(batch, hidden)) for _ in range(2 if kind == "LSTM" else 1)]
    return _loop(net, kind, (batch, steps, size, hidden), [sequence, *states], data, linear=linear, backward=backward)


def _loop(
    net: Net,
    kind: str,
    sizes: tuple[int, int, int, int],
    inputs: list[Tensor],
    data: dict[str, object],
    *,
    linear: bool,
    backward: bool,
) -> LegacyCase:
    batch, steps, size, hidden = sizes
    count = len(inputs) - 1
    body = Net(net.rng, net.version, weights=net.weights)
    body.precision = net.precision
    part = body.layer("Reshape", [body.outer(batch, 1, size)], [(batch, size)], {"dim": f"{batch},{size}"})[0]
    outs = body.layer(
        f"{kind}Cell",
        [part, *[body.outer(batch, hidden)] * count],
        [(batch, hidden)] * count,
        data,
        _blobs(body, kind, size, hidden, linear=linear),
    )
    joined = body.layer("Reshape", [outs[0]], [(batch, 1, hidden)], {"dim": f"{batch},1,{hidden}"})[0]
    net.weights = body.weights
    scan = 'axis="1" start="-1" end="0" stride="-1"' if backward else 'axis="1"'
    maps = [f'<input external_port_id="0" internal_layer_id="0" internal_port_id="0" {scan} part_size="1"/>']
    maps += [
        f'<input external_port_id="{at + 1}" internal_layer_id="1" internal_port_id="{at + 1}"/>' for at in range(count)
    ]
    ports = [len(inputs) + at for at in range(count + 1)]
    inside = f'internal_layer_id="2" internal_port_id="{joined.port}"'
    maps.append(f'<output external_port_id="{ports[0]}" {inside} {scan} part_size="1"/>')
    maps += [
        f'<output external_port_id="{ports[at + 1]}" internal_layer_id="1" internal_port_id="{outs[at].port}"/>'
        for at in range(count)
    ]
    back = "".join(
        f'<edge from-layer="1" from-port="{outs[at].port}" to-layer="1" to-port="{at + 1}"/>' for at in range(count)
    )
    inner = f"<port_map>{''.join(maps)}</port_map><back_edges>{back}</back_edges><body>{body.content()}</body>"
    net.layer("TensorIterator", inputs, [(batch, steps, hidden), *[(batch, hidden)] * count], after=inner)
    return net.case()


def mirrored(rng: Rng, version: int) -> LegacyCase:
    """Make a loop that reads one input from both ends at once."""
    net = Net(rng, version)
    steps, size = (int(count) for count in rng.integers(1, 6, 2))
    source = net.input(net.values(2, steps, size))
    body = Net(rng, version, weights=net.weights)
    body.precision = net.precision
    part = body.outer(2, 1, size)
    found = body.layer("Eltwise", [part, part], [part.shape], {"operation": pick(rng, "sub", "div", "max")})[0]
    ends = ('axis="1"', 'axis="1" start="-1" end="0" stride="-1"')
    maps = [
        f'<input external_port_id="0" internal_layer_id="0" internal_port_id="{at}" {scan}/>'
        for at, scan in enumerate(rng.permutation(ends))
    ]
    maps.append(f'<output external_port_id="1" internal_layer_id="0" internal_port_id="{found.port}" axis="1"/>')
    inner = f"<port_map>{''.join(maps)}</port_map><body>{body.content()}</body>"
    net.layer("TensorIterator", [source], [source.shape], after=inner)
    return net.case()


def ctc(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    steps, batch, classes = int(rng.integers(1, 9)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    scores = rng.permutation(steps * batch * classes).astype(np.float32).reshape(steps, batch, classes)
    lengths = rng.integers(1, steps + 1, batch)
    indicator = (np.arange(steps)[:, None] < lengths).astype(np.float32)
    data = {"ctc_merge_repeated": pick(rng, 1, 1, 0)}
    net.layer("CTCGreedyDecoder", [net.input(scores), net.input(indicator)], [(batch, steps, 1, 1)], data)
    return net.case()


def memory(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = (1, int(rng.integers(1, 6)))
    source = net.input(net.values(*shape))
    kept = net.layer("Memory", [], [shape], {"id": "state", "index": 1, "size": 2})[0]
    total = net.layer("Eltwise", [source, kept], [shape], {"operation": "sum"})[0]
    net.layer("Memory", [total], [], {"id": "state", "index": 0, "size": 2})
    net.layer("ReLU", [total], [shape])
    return net.case(undefined="the old runtime starts with whatever is in memory")


MAKERS: dict[str, Maker] = {
    "LSTMCell": _cell("LSTM"),
    "GRUCell": _cell("GRU"),
    "RNNCell": _cell("RNN"),
    "LSTMSequence": _sequence("LSTM"),
    "GRUSequence": _sequence("GRU"),
    "RNNSequence": _sequence("RNN"),
    "TensorIterator": tensor_iterator,
    "CTCGreedyDecoder": ctc,
    "Memory": memory,
}
