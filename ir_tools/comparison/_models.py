"""Two models side by side: which inputs, tensors and outputs belong together."""

from collections.abc import Mapping, Sequence

from ir_tools.errors import UsageError
from ir_tools.graph import Located, Model
from ir_tools.ops import Array
from ir_tools.runtime.client import Tap

__all__ = ["matched_outputs", "partners", "renamed"]


def renamed(model: Model, other: Model, fed: Mapping[str, Array]) -> dict[str, Array]:
    """The same arrays under the other model's names: by any shared name, else by position.

    Raises:
        UsageError: the models have different numbers of inputs.
    """
    own, theirs = model.inputs, other.inputs
    if len(own) != len(theirs):
        raise UsageError(f"the models have {len(own)} and {len(theirs)} inputs and cannot be fed alike")
    found = {}
    for index, endpoint in enumerate(own):
        shared = [entry for entry in theirs if set(entry.names) & set(endpoint.names)]
        found[(shared[0] if shared else theirs[index]).name] = fed[endpoint.name]
    return found


def matched_outputs(before: Mapping[str, Array], after: Mapping[str, Array]) -> dict[str, Array]:
    """The second run's outputs under the first one's names: by name, else by position.

    Raises:
        UsageError: there are different numbers of them.
    """
    if len(before) != len(after):
        raise UsageError(f"the models have {len(before)} and {len(after)} outputs")
    by_position = list(after.values())
    return {name: after.get(name, by_position[index]) for index, name in enumerate(before)}


def partners(layers: Sequence[Located], others: Sequence[Located]) -> dict[Tap, Tap]:
    """The other model's tensor for each tensor of the layers: by tensor name, else by name of the layer and output."""
    by_tensor: dict[str, Tap] = {}
    by_layer: dict[Tap, Tap] = {}
    for entry in others:
        for index, port in enumerate(entry.layer.outputs):
            tap = Tap(entry.layer.name, index)
            by_layer[tap] = tap
            by_tensor.update(dict.fromkeys(port.names, tap))
    found = {}
    for entry in layers:
        for index, port in enumerate(entry.layer.outputs):
            tap = Tap(entry.layer.name, index)
            named = next((by_tensor[name] for name in port.names if name in by_tensor), None)
            partner = named or by_layer.get(tap)
            if partner is not None:
                found[tap] = partner
    return found
