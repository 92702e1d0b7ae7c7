"""All kinds of files, by group; and how large a file gets."""

from collections.abc import Callable, Mapping

from tests.benchmarks.growth.attributes import ATTRIBUTES
from tests.benchmarks.growth.bodies import BODIES
from tests.benchmarks.growth.edges import EDGES
from tests.benchmarks.growth.layers import LAYERS
from tests.benchmarks.growth.legacy import LEGACY
from tests.benchmarks.growth.markup import MARKUP
from tests.benchmarks.growth.pieces import Sample
from tests.benchmarks.growth.ports import PORTS

__all__ = ["GROUPS", "made", "maker"]

GROUPS: Mapping[str, Mapping[str, Callable[[int], Sample]]] = {
    "attributes": ATTRIBUTES,
    "ports": PORTS,
    "edges": EDGES,
    "layers": LAYERS,
    "bodies": BODIES,
    "markup": MARKUP,
    "IR v6": LEGACY,
}
FIRST_TRIAL = 16
"""The number of things from which it is worked out how many bytes one takes."""


def maker(kind: str) -> Callable[[int], Sample]:
    """What makes a file of a kind, with as many things as are asked for."""
    return next(group[kind] for group in GROUPS.values() if kind in group)


def made(kind: str, size: int) -> Sample:
    """A file of a kind with about `size` bytes."""
    make = maker(kind)
    count, found = 1, make(1)
    least = found.size
    more = FIRST_TRIAL
    while found.size < 0.95 * size and more > count:
        count, found = more, make(more)
        more = round(count * (size - least) / (found.size - least))
        more = min(more, 16 * count)
    return found
