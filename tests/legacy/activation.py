"""Random legacy layers that work element by element, and softmax."""

import numpy as np

from tests.legacy.net import Array, LegacyCase, Maker, Net, Rng, chance, dims, kind_of, optional, pick, single


def number(rng: Rng, low: float = -2.0, high: float = 2.0) -> str:
    """Draw a number, spelled as a file of the time has it."""
    value = float(rng.uniform(low, high))
    text: str = pick(rng, f"{value:.3f}", str(value), str(round(value)))
    return text


def relu(rng: Rng, version: int) -> LegacyCase:
    data = optional(rng, {"negative_slope": pick(rng, "0", "0.0", "0.1", number(rng))}, negative_slope="0")
    return single(rng, version, kind_of(rng, "ReLU"), dims(rng, 1, 5), data or pick(rng, None, {}))


def prelu(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 2, 5)
    shared = chance(rng, 0.4)
    slopes = net.values(1 if shared and chance(rng, 0.8) else shape[1])
    data = optional(rng, {"channel_shared": int(shared)}, channel_shared=0)
    source = net.input(net.values(*shape))
    net.layer(kind_of(rng, "PReLU"), [source], [shape], data or pick(rng, None, {}), {"weights": slopes})
    return net.case()


def clamp(rng: Rng, version: int) -> LegacyCase:
    low, high = sorted(float(number(rng)) for _ in range(2))
    return single(rng, version, kind_of(rng, "Clamp"), dims(rng, 1, 5), {"min": low, "max": high})


def elu(rng: Rng, version: int) -> LegacyCase:
    data = optional(rng, {"alpha": pick(rng, "1.0", number(rng))}, alpha="1.0")
    return single(rng, version, kind_of(rng, "ELU", 0.3), dims(rng, 1, 5), data)


def power(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 5)
    exponent = pick(rng, "1", "1.0", "0", "2", "3", "-1", "0.5", "-0.5", "2.5")
    values = net.values(*shape)
    scale, shift = number(rng), number(rng)
    if "." in exponent or "-" in exponent:
        values, scale, shift = np.abs(values) + np.float32(0.1), number(rng, 0.6, 3), number(rng, 0, 3)
    if exponent == "1" and chance(rng, 0.5):
        scale, shift = "1", "0"
    source = net.input(values)
    net.layer(kind_of(rng, "Power"), [source], [shape], {"power": exponent, "scale": scale, "shift": shift})
    return net.case()


def activation(rng: Rng, version: int) -> LegacyCase:
    """Make the layer that names its function in an attribute."""
    net = Net(rng, version)
    shape = dims(rng, 1, 4)
    kind = pick(rng, "sigmoid", "logistic", "tanh", "elu", "relu", "relu6", "exp", "clamp", "prelu", "not")
    data: dict[str, object] = {}
    blobs = {}
    if kind == "elu":
        data = optional(rng, {"alpha": pick(rng, "1.0", number(rng))}, alpha="1.0")
    if kind == "relu":
        data = optional(rng, {"negative_slope": pick(rng, "0", number(rng))}, negative_slope="0")
    if kind == "relu6":
        data = optional(rng, {"n": pick(rng, "6", number(rng, 0.5, 3))}, n="6")
    if kind == "clamp":
        low, high = sorted(float(number(rng)) for _ in range(2))
        data = {"min": low, "max": high}
    if kind == "prelu":
        shape = dims(rng, 2, 4)
        blobs = {"weights": net.values(shape[1])}
    spelled = kind_of(rng, kind, 0.1 if kind != "not" else 0)
    source = net.input(net.values(*shape))
    net.layer("Activation", [source], [shape], {"type": spelled, **data}, blobs)
    return net.case()


def _abs_below_one(values: Array) -> Array:
    return np.asarray(np.tanh(values) * np.float32(0.95))


DOMAINS = {
    "Acos": _abs_below_one,
    "Asin": _abs_below_one,
    "Atanh": _abs_below_one,
    "Acosh": lambda values: np.abs(values) + np.float32(1.1),
    "Log": lambda values: np.abs(values) + np.float32(0.05),
    "Reciprocal": lambda values: np.sign(values + np.float32(1e-3)) * (np.abs(values) + np.float32(0.1)),
    "Tan": lambda values: np.tanh(values) * np.float32(1.4),
}
"""Inputs on which functions are finite and not steep, made from any values."""
FUNCTIONS = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Floor", "HardSigmoid"),
    *("Log", "Neg", "Not", "Reciprocal", "Selu", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Tan"),
)


def math(rng: Rng, version: int) -> LegacyCase:
    """Make a layer of a mathematical function."""
    net = Net(rng, version)
    kind = pick(rng, *FUNCTIONS)
    shape = dims(rng, 1, 4)
    values = net.values(*shape)
    values = DOMAINS.get(kind, np.asarray)(values).astype(np.float32)
    data: dict[str, object] = {}
    if kind == "HardSigmoid":
        data = {"alpha": pick(rng, "0.2", number(rng, 0.1, 1)), "beta": pick(rng, "0.5", number(rng, 0.1, 1))}
        data = optional(rng, data, alpha="0.2", beta="0.5")
    if kind == "Selu":
        data = {"alpha": pick(rng, "1.67326", number(rng, 0.5, 2)), "gamma": pick(rng, "1.0507", number(rng, 0.5, 2))}
        data = optional(rng, data, alpha="1.67326", gamma="1.0507")
    net.layer(kind, [net.input(values)], [shape], data or None)
    return net.case()


def softmax(rng: Rng, version: int) -> LegacyCase:
    shape = dims(rng, 2, 4)
    data = optional(rng, {"axis": int(rng.integers(0, len(shape)))}, axis=1)
    return single(rng, version, pick(rng, "SoftMax", "Softmax", "SoftMax", "softmax"), shape, data)


def log_softmax(rng: Rng, version: int) -> LegacyCase:
    shape = tuple(size + 1 for size in dims(rng, 2, 4))
    data = optional(rng, {"axis": int(rng.integers(-1, len(shape)))}, axis=-1)
    return single(rng, version, "LogSoftmax", shape, data)


MAKERS: dict[str, Maker] = {
    "ReLU": relu,
    "PReLU": prelu,
    "Clamp": clamp,
    "ELU": elu,
    "Power": power,
    "Activation": activation,
    "Math": math,
    "SoftMax": softmax,
    "LogSoftmax": log_softmax,
}
