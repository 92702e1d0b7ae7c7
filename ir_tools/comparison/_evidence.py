"""Whether the agreement of an output proves anything."""

from collections.abc import Mapping

import numpy as np

from ir_tools.comparison._differences import difference
from ir_tools.display import number
from ir_tools.errors import RuntimeFailure, UsageError
from ir_tools.graph import Model
from ir_tools.inputs import InputPlan
from ir_tools.ops import Array, Role, role_of
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.setting import Setting

__all__ = ["outputs_on_other_inputs", "weakness"]

LIKE_NUMBERS = "fiubV"


def outputs_on_other_inputs(
    client: RuntimeClient, model: Model, plan: InputPlan, sample: int, setting: Setting
) -> Mapping[str, Array]:
    """Return the outputs that inputs can change, on other values than those of a sample; none if that does not run."""
    fed = plan.arrays(sample)
    other = {name: _another(array, next_one) for (name, array), next_one in _pairs(plan, fed, sample)}
    names = _reached(model)
    if not names or all(_same(fed[name], other[name]) for name in fed):
        return {}
    try:
        found = client.infer_model(model, other, device=setting.device, config=setting.config).outputs
    except (RuntimeFailure, UsageError):
        return {}
    return {name: array for name, array in found.items() if name in names}


def weakness(expected: Array, actual: Array, before: Array | None, after: Array | None, limit: float) -> str:
    """Return why the agreement of two tensors proves little, or an empty text.

    Args:
        expected: one of the tensors.
        actual: the other one, within the tolerance.
        before: the output on the inputs of the comparison; None if unknown.
        after: the output on others; None if unknown.
        limit: the difference allowed.
    """
    if not expected.size:
        return "it is empty"
    if expected.dtype.kind in "fV":
        odd = int((~np.isfinite(expected.astype(np.float64))).sum())
        if odd:
            return f"{_of_all(odd, expected.size)} NaN or infinite on both sides"
    if expected.size > 1 and bool((expected == expected.flat[0]).all()) and bool((actual == actual.flat[0]).all()):
        return f"all {expected.size} elements are {_value(expected.flat[0])} on both sides"
    if before is None or after is None or before.shape != after.shape or before.dtype.kind not in LIKE_NUMBERS:
        return ""
    moved = difference(before, after).needed
    if moved > limit:
        return ""
    if moved == 0:
        return "other inputs do not change it"
    return f"other inputs change it by {moved:.2g} of its largest magnitude, and {limit:.2g} is allowed"


def _value(element: object) -> str:
    return number(float(element)) if isinstance(element, np.floating) else str(element)


def _of_all(count: int, size: int) -> str:
    return f"all {size} elements are" if count == size else f"{count} of {size} elements are"


def _pairs(plan: InputPlan, fed: Mapping[str, Array], sample: int) -> "zip[tuple[tuple[str, Array], Array]]":
    return zip(fed.items(), plan.arrays(sample + 1).values(), strict=True)


def _another(array: Array, generated: Array) -> Array:
    """Other values for an input: those of the next sample, or of an array that was given its elements backwards."""
    if not _same(array, generated) or type(array) is not np.ndarray:
        return generated
    return np.ascontiguousarray(array.ravel()[::-1].reshape(array.shape))


def _same(one: Array, two: Array) -> bool:
    return one is two or (type(one) is np.ndarray and bool((one == two).all()))


def _reached(model: Model) -> set[str]:
    """Return the outputs that depend on an input."""
    found = set()
    for end in model.outputs:
        queue = [end.layer.id]
        seen = set(queue)
        for entry in queue:
            new = {source.layer for source in model.graph.sources(entry).values()} - seen
            seen |= new
            queue += new
        if any(role_of(model.graph.layer(entry)) is Role.PARAMETER for entry in queue):
            found.add(end.name)
    return found
