"""Random legacy layers that scale or normalise their input."""

import numpy as np

from tests.legacy.activation import number
from tests.legacy.net import LegacyCase, Maker, Net, Rng, chance, dims, kind_of, optional, pick, single


def norm(rng: Rng, version: int) -> LegacyCase:
    data: dict[str, object] = {
        pick(rng, "local-size", "local_size"): pick(rng, 1, 3, 5, 5, 7),
        "alpha": pick(rng, "0.0001", "9.999999747378752e-05", number(rng, 0.01, 1)),
        "beta": pick(rng, "0.75", "0.5", number(rng, 0.3, 1)),
        "k": pick(rng, 1, 1, 2),
        "region": pick(rng, "across", "across", "Across", "same", "SAME"),
    }
    if chance(rng, 0.1):
        data |= {"local-size": 1, "local_size": 2}
    channels = pick(rng, 1, 3, 8, 16, 17)
    shape = (int(rng.integers(1, 3)), channels, *(int(size) for size in rng.integers(1, 8, 2)))
    return single(rng, version, kind_of(rng, "Norm"), shape, optional(rng, data, k=1))


def batch_normalization(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 4, pick(rng, 4, 4, 5))
    blobs = {"weights": np.abs(net.values(shape[1])) + np.float32(0.1), "biases": net.values(shape[1])}
    data = {"epsilon": pick(rng, "1e-05", "0.001", "9.999999747378752e-06")}
    net.layer(kind_of(rng, "BatchNormalization"), [net.input(net.values(*shape))], [shape], data, blobs)
    return net.case()


def scale_shift(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 3, 5)
    broadcast = pick(rng, None, None, 0, 1, 2)
    count = 1 if broadcast and chance(rng, 0.2) else shape[1]
    blobs = {"weights": net.values(count)} | ({"biases": net.values(count)} if chance(rng, 0.7) else {})
    data = None if broadcast is None else {"broadcast": broadcast}
    net.layer(kind_of(rng, "ScaleShift"), [net.input(net.values(*shape))], [shape], data, blobs)
    return net.case()


def normalize(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 4, 4, 8)
    shared = chance(rng, 0.4)
    data = {
        "across_spatial": pick(rng, 0, 1, "true", "False", "1.0", "0.5", "-1", ""),
        "channel_shared": pick(rng, 1, "true", "2", "1e-3") if shared else pick(rng, 0, "FALSE", "0.9", ""),
        "eps": pick(rng, "1e-10", "0.001", "0.1"),
    }
    data = optional(rng, data, across_spatial=0, channel_shared=0)
    blobs = {"weights": net.values(1 if shared else shape[1])}
    net.layer("Normalize", [net.input(net.values(*shape))], [shape], data, blobs)
    return net.case()


def mvn(rng: Rng, version: int) -> LegacyCase:
    data = {
        "across_channels": int(chance(rng, 0.5)),
        "normalize_variance": int(chance(rng, 0.7)),
        "eps": pick(rng, "1e-9", "1e-05", "0.01", "0.1"),
    }
    shape = (*dims(rng, 2, 2, 20), *(int(size) for size in rng.integers(2, 6, pick(rng, 2, 2, 3))))
    return single(
        rng, version, kind_of(rng, "MVN"), shape, optional(rng, data, across_channels=0, normalize_variance=1)
    )


def grn(rng: Rng, version: int) -> LegacyCase:
    return single(rng, version, "GRN", dims(rng, 2, 4), {"bias": pick(rng, "1.0", "1e-05", number(rng, 0.1, 2))})


MAKERS: dict[str, Maker] = {
    "Norm": norm,
    "BatchNormalization": batch_normalization,
    "ScaleShift": scale_shift,
    "Normalize": normalize,
    "MVN": mvn,
    "GRN": grn,
}
