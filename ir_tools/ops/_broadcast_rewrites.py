"""Elementwise layers that broadcast as numpy does, for those of mode `pdpd`, which releases read and do not run."""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops._broadcast import first_axis
from ir_tools.ops._layers import Layers
from ir_tools.ops.definition import Fact, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs

__all__ = ["as_in_numpy"]


def as_in_numpy(type: str, widest: int = 0) -> Step:
    """Return the step from mode `pdpd` to `numpy`. `widest`: the input whose axes the others lie within."""

    def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
        if attrs.auto_broadcast != "pdpd":
            return Refused("its shapes already broadcast by the rules of numpy", "auto_broadcast")
        layers = Layers(inputs, target)
        rank = layers.rank(Ref(None, widest))

        def lined(source: Ref) -> Ref:
            if source.output == widest:
                return source
            own = layers.rank(source)
            behind = rank - own - first_axis(attrs.auto_broadcast_axis, rank, own)
            return layers.call("Unsqueeze", source, np.arange(own, own + behind)) if behind else source

        kept = {name: value for name, value in attrs.items() if not name.startswith("auto_broadcast")}
        layers.call(type, *map(lined, layers.given), auto_broadcast="numpy", **kept)
        return layers.rewrite("broadcast as in numpy", "the same sizes, with dimensions of 1 at the end")

    return step
