"""Attributes that releases read as other values, whatever the operation."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ir_tools.known_differences._model import Call, floats
from ir_tools.known_differences.releases._row import ReleaseDifference, not_read
from ir_tools.known_differences.releases.seen import Seen
from ir_tools.ops import FAMILIES
from ir_tools.ops.fields import Float, Floats
from ir_tools.processors import Processor
from ir_tools.releases.measured import State

__all__ = ["ROWS"]

NUMBERED = tuple(
    str(op)
    for family in FAMILIES
    for op in family.OPS
    if any(isinstance(spec, Float | Floats) for spec in op.attrs.values())
)
"""The operations that have numbers for attributes."""


def _has_no_end(seen: Seen) -> bool:
    """Return whether a number is infinite or NaN; values are clipped neither at infinity nor at 0."""
    if seen.attrs is None:
        return False
    names = [name for name, spec in seen.op.attrs.items() if isinstance(spec, Float | Floats) and name != "clip"]
    numbers = [seen.attrs[name] for name in names]
    return not all(math.isfinite(one) for each in numbers for one in (each if isinstance(each, tuple) else (each,)))


def _crosses(seen: Seen) -> bool:
    """Return whether the limits of a Clamp change places if infinite ones are 0."""
    if seen.attrs is None:
        return False
    low, high = (value if math.isfinite(value) else 0 for value in (seen.attrs.min, seen.attrs.max))
    return low > high


def _has_other_limits(seen: Seen, *, rounded: bool) -> bool:
    """Return whether a Clamp of 8 bits has fractions as limits that change if they are `rounded` or else cut off."""
    if seen.attrs is None:
        return False
    change: Callable[[float], int] = round if rounded else math.trunc
    meant = ((float(seen.attrs.min), math.ceil), (float(seen.attrs.max), math.floor))
    other = [limit for limit, whole in meant if math.isfinite(limit) and change(limit) != whole(limit)]
    if not other or seen.inputs[0].dtype.name not in {"i8", "u8"}:
        return False
    least, most = (-128, 127) if seen.inputs[0].dtype.name == "i8" else (0, 255)
    return any(least < limit < most for limit in other)


def _gives(seen: Seen, *, kind: str) -> bool:
    """Return whether an output has an element type that begins so."""
    return any(fact.dtype.name.startswith(kind) for fact in seen.outputs)


CLASSES = floats([[1, 0], [1, 0]])
ROWS = (
    *(
        ReleaseDifference(
            name=f"Clamp of 8 bits between fractions, {span}",
            span=span,
            ops=("Clamp-1",),
            reason=f"Limits that are fractions are {how}, instead of up for `min` and down for `max`.",
            model=Call("Clamp-1", (np.arange(5, dtype=np.uint8),), {"min": low, "max": high}),
            applies=partial(_has_other_limits, rounded=how == "rounded"),
        )
        for span, how, low, high in (
            ("2023.0 to 2025.3", "rounded", "0", "1.5"),
            ("2025.4 to 2026.4", "cut off", "0.75", "3"),
        )
    ),
    *(
        ReleaseDifference(
            name=f"CTCGreedyDecoderSeqLen to {kind}, {span}",
            span=span,
            ops=("CTCGreedyDecoderSeqLen-6",),
            state=state,
            reason=f"Classes or lengths as {kind} are not converted from integers: the layer {state.words}.",
            model=Call("CTCGreedyDecoderSeqLen-6", (CLASSES, np.array([2], np.int32)), {"classes_index_type": name}),
            applies=partial(_gives, kind=name[:3]),
            processor=processor,
        )
        for kind, name, span, state, processor in (
            ("f64", "f64", "2023.3 to 2026.4", State.UNCOMPILED, Processor.ANY),
            ("f8", "f8e4m3", "2024.4 to 2024.6", State.UNCOMPILED, Processor.NO_AMX),
            ("f8", "f8e4m3", "2025.0 to 2026.4", State.FAILS, Processor.NO_AMX),
        )
    ),
    ReleaseDifference(
        name="CTCGreedyDecoderSeqLen without merge_repeated",
        span="2021.3 to 2021.4",
        ops=("CTCGreedyDecoderSeqLen-6",),
        reason="Repeated classes are kept if the attribute is absent.",
        sometimes=True,
        model=Call("CTCGreedyDecoderSeqLen-6", (CLASSES, np.array([2], np.int32))),
        applies=lambda seen: "merge_repeated" in seen.absent,
    ),
    not_read(
        name="infinite attributes on 2021.2",
        span="2021.2 to 2021.2",
        ops=NUMBERED,
        reason="Attributes of inf or nan are not supported: the model is not read.",
        model=Call("Elu-1", (floats(-1, 2),), {"alpha": "inf"}),
        applies=_has_no_end,
    ),
    ReleaseDifference(
        name="infinite attributes",
        span="2021.3 to 2026.1",
        ops=NUMBERED,
        reason="Attributes of inf or nan are read as 0.",
        model=Call("Elu-1", (floats(-1, 2),), {"alpha": "inf"}),
        applies=_has_no_end,
    ),
    not_read(
        name="Clamp between a number and infinity",
        span="2021.2 to 2026.1",
        ops=("Clamp-1",),
        reason="Attributes of inf are read as 0, so the limits are in the wrong order.",
        model=Call("Clamp-1", (floats(-1, 2),), {"min": "1", "max": "inf"}),
        applies=_crosses,
    ),
)
