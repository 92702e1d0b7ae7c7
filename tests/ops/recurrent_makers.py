"""Random settings of recurrent cells and sequences."""

import numpy as np

from ir_tools.ops import recurrent
from tests.ops.around import ops_by_name
from tests.ops.kernel_settings import flag, floats, one_of
from tests.ops.single import Fed, Maker

OPS = ops_by_name(recurrent.OPS)
Rng = np.random.Generator

KINDS = {"LSTM": (4, 2, ("sigmoid", "tanh", "tanh")), "GRU": (3, 1, ("sigmoid", "tanh")), "RNN": (1, 1, ("tanh",))}
"""How many gates and states a kind has, and its activations."""


def attributes(rng: Rng, kind: str, hidden: int) -> dict[str, str]:
    usual = KINDS[kind][2]
    activations = usual if rng.random() < 0.6 else rng.choice(["sigmoid", "tanh", "relu"], len(usual))
    raw = {"hidden_size": str(hidden), "clip": one_of(rng, 0, 0, 0.5, 2), "activations": ",".join(activations)}
    if kind == "GRU":
        raw["linear_before_reset"] = flag(rng)
    return raw


def weights(
    rng: Rng, kind: str, raw: dict[str, str], sizes: tuple[int, int], lead: tuple[int, ...]
) -> list[np.ndarray]:
    gates, (size, hidden) = KINDS[kind][0], sizes
    rows, bias = gates * hidden, (gates + (raw.get("linear_before_reset") == "true")) * hidden
    shapes = ((*lead, rows, size), (*lead, rows, hidden), (*lead, bias))
    return [floats(rng.normal(size=shape)) for shape in shapes]


def cell(rng: Rng, name: str) -> Fed:
    kind = name.partition("Cell")[0]
    count, size, hidden = (int(number) for number in rng.integers(1, 5, 3))
    raw, states = attributes(rng, kind, hidden), KINDS[kind][1]
    arrays = [floats(rng.normal(size=(count, size)))]
    arrays += [floats(rng.normal(size=(count, hidden))) for _ in range(states)]
    arrays += weights(rng, kind, raw, (size, hidden), ())
    if name == "LSTMCell-1":
        raw |= {"weights_format": one_of(rng, "fico", "icof", "ifco", "iofc"), "input_forget": flag(rng)}
        arrays = [arrays[:-1], arrays, [*arrays, floats(rng.normal(size=3 * hidden))]][rng.integers(3)]
    return Fed(OPS[name], raw, arrays, constants=tuple(range(1 + states, len(arrays))))


def sequence(rng: Rng, name: str) -> Fed:
    kind = name.partition("Sequence")[0]
    count, steps, size, hidden = (int(number) for number in rng.integers(1, 5, 4))
    raw, states = attributes(rng, kind, hidden), KINDS[kind][1]
    raw["direction"] = one_of(rng, "forward", "reverse", "bidirectional")
    ways = 2 if raw["direction"] == "bidirectional" else 1
    arrays = [floats(rng.normal(size=(count, steps, size)))]
    arrays += [floats(rng.normal(size=(count, ways, hidden))) for _ in range(states)]
    arrays.append(rng.integers(1, steps + 1, count).astype(one_of(rng, "int32", "int64")))
    arrays += weights(rng, kind, raw, (size, hidden), (ways,))
    return Fed(OPS[name], raw, arrays, constants=tuple(range(2 + states, len(arrays))))


def maker(name: str) -> Maker:
    """Random settings of one operation."""

    def make(rng: Rng) -> Fed:
        return cell(rng, name) if "Cell" in name else sequence(rng, name)

    make.__name__ = name
    return make


MAKERS: tuple[Maker, ...] = tuple(map(maker, OPS))
