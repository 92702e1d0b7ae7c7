"""Random legacy layers that reduce, order or make elements."""

import numpy as np

from tests.legacy.net import LegacyCase, Maker, Net, Rng, chance, dims, optional, pick

REDUCTIONS = ("And", "L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Or", "Prod", "Sum", "SumSquare")


def reduce(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4, 5)
    kind = pick(rng, *REDUCTIONS)
    axes = rng.choice(len(shape), int(rng.integers(1, len(shape) + 1)), replace=False)
    keep = chance(rng, 0.6)
    keep = keep or len(axes) == len(shape)
    out = np.sum(np.empty(shape), tuple(axes.tolist()), keepdims=keep).shape
    values = net.values(*shape)
    if kind in ("LogSum", "Max"):
        values = np.abs(values) + np.float32(0.1)
    below = kind == "Max" and chance(rng, 0.1)
    source = net.input(-values if below else values)
    places = np.where(rng.random(axes.shape) < 0.3, axes - len(shape), axes).astype(np.int32)
    data = optional(rng, {"keep_dims": pick(rng, str(keep), str(keep).lower(), int(keep))}, keep_dims=1)
    net.layer(f"Reduce{kind}", [source, net.const(places)], [out], data or None)
    return net.case(undefined="the old runtime starts a maximum from 1.18e-38, which is wrong below 0" if below else "")


def _distinct(rng: Rng, *shape: int) -> np.ndarray:
    count = int(np.prod(shape))
    return (rng.permutation(count) - count / 2).astype(np.float32).reshape(shape)


def arg_max(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 4, 4, 5)
    values = int(chance(rng, 0.5))
    data: dict[str, object] = {"out_max_val": values}
    if chance(rng, 0.6):
        axis = int(rng.integers(0, 4))
        top = int(rng.integers(1, shape[axis] + 1))
        data["axis"] = pick(rng, axis, axis - 4)
        out: tuple[int, ...] = (*shape[:axis], top, *shape[axis + 1 :])
    else:
        top = int(rng.integers(1, int(np.prod(shape[1:])) + 1))
        out = (shape[0], 2 if values else 1, top)
    data["top_k"] = top
    source = net.input(_distinct(rng, *shape))
    net.layer("ArgMax", [source], [out], data)
    return net.case()


def top_k(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4, 7)
    axis = int(rng.integers(0, len(shape)))
    top = int(rng.integers(1, shape[axis] + 1))
    out = (*shape[:axis], top, *shape[axis + 1 :])
    data: dict[str, object] = {
        "mode": pick(rng, "max", "min"),
        "sort": pick(rng, "value", "index", "none"),
        "axis": pick(rng, axis, axis - len(shape)),
    }
    source = net.input(_distinct(rng, *shape))
    data = optional(rng, data, mode="max", sort="index", axis=-1)
    net.layer("TopK", [source, net.const(np.array([top], np.int32))], [out, out], data)
    return net.case()


def one_hot(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 3, 5)
    depth = int(rng.integers(1, 6))
    axis = int(rng.integers(-1, len(shape) + 1))
    at = len(shape) if axis == -1 else axis
    data = {"depth": depth, "axis": axis, "on_value": pick(rng, "1.0", "2.5"), "off_value": pick(rng, "0.0", "-1.0")}
    places = rng.integers(0, depth + 2, shape).astype(pick(rng, np.int32, np.float32))
    data = optional(rng, data, axis=-1, on_value="1.0", off_value="0.0")
    net.layer("OneHot", [net.input(places)], [(*shape[:at], depth, *shape[at:])], data)
    return net.case()


def span(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    kind = np.int32 if net.precision == "FP16" else pick(rng, np.int32, np.float32)
    start, count, step = int(rng.integers(-5, 6)), int(rng.integers(1, 8)), int(pick(rng, 1, 1, 2, 3, -1, -2))
    limit = start + count * step
    inputs = [net.const(np.array([value], kind)) for value in (start, limit, step)]
    out = net.layer("Range", inputs, [(count,)], precision="I32" if kind == np.int32 else "")[0]
    source = net.input(np.zeros(count, np.int32) if kind == np.int32 else net.values(count))
    net.layer("Concat", [out, source], [(2 * count,)], {"axis": 0}, precision=out.precision)
    return net.case()


def fill(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4)
    sizes = net.const(np.array(shape, np.int32))
    net.layer("Fill", [sizes, net.input(net.values(1))], [shape])
    return net.case()


MAKERS: dict[str, Maker] = {
    "Reduce": reduce,
    "ArgMax": arg_max,
    "TopK": top_k,
    "OneHot": one_hot,
    "Range": span,
    "Fill": fill,
}
