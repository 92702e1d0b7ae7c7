"""The generators of all legacy layer types, by name."""

import numpy as np

from tests.legacy import (
    activation,
    convolution,
    detection,
    elementwise,
    layout,
    normalization,
    pooling,
    recurrent,
    reduction,
)
from tests.legacy.net import LegacyCase, Maker

FAMILIES = (convolution, activation, normalization, pooling, detection, layout, elementwise, reduction, recurrent)
MAKERS: dict[str, Maker] = {name: maker for family in FAMILIES for name, maker in family.MAKERS.items()}
VERSIONS = (2, 3, 4, 5, 6, 7)


def case(name: str, seed: int) -> LegacyCase:
    """Return a case: the versions take turns."""
    rng = np.random.default_rng([seed, *name.encode()])
    return MAKERS[name](rng, VERSIONS[seed % len(VERSIONS)])
