"""Random legacy pooling layers, and the windows of them that the old runtime leaves undefined."""

from dataclasses import dataclass

import numpy as np

from tests.legacy.convolution import spellings
from tests.legacy.net import Array, LegacyCase, Maker, Net, Rng, chance, kind_of, pick


@dataclass(frozen=True)
class Axis:
    """One axis of a pooling layer, its pads as the attributes give them."""

    size: int
    kernel: int
    stride: int
    begin: int
    end: int

    def pads(self, auto_pad: str) -> tuple[int, int]:
        """Return the pads that the old runtime uses when it runs."""
        if auto_pad == "":
            return self.begin, self.end
        if auto_pad == "valid":
            return 0, 0
        total = max(self.kernel - (self.size % self.stride or self.stride), 0)
        small, large = total // 2, total - total // 2
        return {"same_upper": (small, large), "same_lower": (large, small)}.get(auto_pad, (small, small))

    def windows(self, auto_pad: str, *, floor: bool) -> int:
        """Return the number of windows, by the old shape inference; not positive if the window is too large."""
        if auto_pad == "valid":
            return -(-(self.size - self.kernel + 1) // self.stride)
        if auto_pad.startswith("same"):
            return -(-self.size // self.stride)
        room = self.size + self.begin + self.end - self.kernel
        if room < 0:
            return 0
        count = (room // self.stride if floor else -(-room // self.stride)) + 1
        return count - 1 if (count - 1) * self.stride >= self.size + self.begin else count

    def accepted(self, auto_pad: str, count: int) -> bool:
        """Return whether the plugin finds as many windows again; it divides towards 0 a kernel that is too large."""
        room = self.size - self.kernel + self.pads(auto_pad)[0]
        end = (count - int(room / self.stride) - 1) * self.stride
        return int((room + end) / self.stride) + 1 == count

    def real(self, auto_pad: str, count: int) -> Array:
        """Return how many elements of the input each window reads."""
        start = np.arange(count) * self.stride - self.pads(auto_pad)[0]
        return np.asarray(np.maximum(np.minimum(start + self.kernel, self.size) - np.maximum(start, 0), 0))


def pooling(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    rank = 2 if version == 2 else pick(rng, 2, 2, 2, 3)
    floor, method = chance(rng, 0.5), pick(rng, "avg", "max")
    auto_pad = pick(rng, "", "", "", "valid", "same_upper", "same_lower", "explicit", "notset")
    while True:
        axes = [_axis(rng, rank) for _ in range(rank)]
        out = [axis.windows(auto_pad, floor=floor) for axis in axes]
        if min(out) > 0 and all(axis.accepted(auto_pad, count) for axis, count in zip(axes, out, strict=True)):
            break
    data: dict[str, object] = {}
    rounding = "floor" if floor else pick(rng, "ceil", "ceil", None)
    if rounding:
        data[pick(rng, "rounding_type", "rounding-type")] = rounding
    if method == "avg" or chance(rng, 0.6):
        data["pool-method"] = method
    exclude = chance(rng, 0.5)
    if exclude or chance(rng, 0.5):
        data["exclude-pad"] = str(exclude).lower()
    windows = {
        "kernel": [axis.kernel for axis in axes],
        "strides": [axis.stride for axis in axes],
        "pads_begin": [axis.begin for axis in axes],
        "pads_end": [axis.end for axis in axes],
    }
    channels = pick(rng, 1, 3, 8, 16, 17)
    batch = int(rng.integers(1, 3))
    source = net.input(net.values(batch, channels, *(axis.size for axis in axes)))
    data = spellings(rng, version, windows, auto_pad, plain=data)
    net.layer(kind_of(rng, "Pooling"), [source], [(batch, channels, *out)], data)
    counts = [axis.real(auto_pad, count) for axis, count in zip(axes, out, strict=True)]
    mask = np.broadcast_to(_empty(counts), (batch, channels, *out))
    mixed = (
        rank == 3 and channels > 1 and method == "avg" and not exclude and any(axis.pads(auto_pad)[0] for axis in axes)
    )
    why = "the old runtime mixes divisors in average pooling of volumes" if mixed else ""
    return net.case(undefined=why, mask=mask)


def _axis(rng: Rng, rank: int) -> Axis:
    kernel = int(rng.integers(1, 5))
    size = int(rng.integers(1, 14 if rank == 2 else 8))
    padded = chance(rng, 0.6)
    begin, end = (int(rng.integers(0, kernel)) if padded else 0 for _ in range(2))
    return Axis(size, kernel, int(rng.integers(1, 4)), begin, end)


def _empty(counts: list[Array]) -> Array:
    """Return which windows read no element of the input."""
    empty = np.zeros(tuple(len(count) for count in counts), np.bool_)
    for at, count in enumerate(counts):
        empty |= (count == 0).reshape([-1 if axis == at else 1 for axis in range(len(counts))])
    return empty


MAKERS: dict[str, Maker] = {"Pooling": pooling}
