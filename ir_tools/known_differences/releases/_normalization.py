"""Normalizations and SoftMax."""

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, number, whole
from ir_tools.known_differences.releases._predicates import axes_of, has_rank
from ir_tools.known_differences.releases._row import ReleaseDifference
from ir_tools.known_differences.releases._seen import Seen
from ir_tools.releases.measured import State
from ir_tools.types import is_static

__all__ = ["ROWS"]


def _is_of_one_channel(seen: Seen) -> bool:
    """Return whether there is one channel, with a constant scale or bias, and may be several images."""
    shape = seen.inputs[0].shape
    return shape is not None and shape[0].hi != 1 and shape[1].hi == 1 and not {1, 2}.isdisjoint(seen.constant)


ROWS = (
    ReleaseDifference(
        name="NormalizeL2 over some axes",
        first="2021.2",
        last="2021.3",
        ops=("NormalizeL2-1",),
        reason="Over axes that are not all but the first, other elements are added up.",
        measured=True,
        model=Call("NormalizeL2-1", (counted(2, 3, 4, 4), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}),
        version=10,
        applies=lambda seen: axes_of(seen) != [*range(1, len(seen.inputs[0].shape or ()))],
    ),
    ReleaseDifference(
        name="NormalizeL2 over other axes than the channels",
        first="2021.4",
        last="2021.4",
        ops=("NormalizeL2-1",),
        state=State.UNCOMPILED,
        reason="Axes have to be the second, or all but the first.",
        model=Call("NormalizeL2-1", (counted(2, 3, 4, 4), Fixed(whole(2, 3))), {"eps": "0.001", "eps_mode": "add"}),
        version=10,
        applies=lambda seen: axes_of(seen) not in ([1], [*range(1, len(seen.inputs[0].shape or ()))]),
    ),
    ReleaseDifference(
        name="GroupNormalization of two dimensions",
        first="2023.1",
        last="2024.0",
        ops=("GroupNormalization-12",),
        state=State.UNCOMPILED,
        reason="Data of batch and channels alone is read and not compiled.",
        model=Call(
            "GroupNormalization-12",
            (counted(2, 6), counted(6), counted(6)),
            {"num_groups": "3", "epsilon": "0.01"},
        ),
        applies=lambda seen: has_rank(seen, 2),
    ),
    ReleaseDifference(
        name="SoftMax of a single number",
        first="2021.2",
        last="2026.0",
        ops=("SoftMax-1", "SoftMax-8", "LogSoftmax-5"),
        state=State.UNREAD,
        reason="A tensor without dimensions is not read.",
        model=Call("SoftMax-1", (number(1.5),), {"axis": "0"}),
        version=10,
        applies=lambda seen: has_rank(seen, 0),
    ),
    ReleaseDifference(
        name="GroupNormalization of one channel",
        first="2024.1",
        last="2025.0",
        ops=("GroupNormalization-12",),
        reason="Of several images of one channel the later ones get other values.",
        model=Call(
            "GroupNormalization-12",
            (counted(3, 1, 8), Fixed(floats(1)), Fixed(floats(0))),
            {"num_groups": "1", "epsilon": "0.001"},
        ),
        applies=_is_of_one_channel,
    ),
    ReleaseDifference(
        name="GroupNormalization of a matrix of unknown size",
        first="2023.1",
        last="2026.4",
        ops=("GroupNormalization-12",),
        state=State.UNCOMPILED,
        reason="Two dimensions are compiled for known sizes only.",
        model=Call(
            "GroupNormalization-12",
            (Given(counted(2, 4), "?,4"), Fixed(floats(1, 2, 3, 4)), Fixed(floats(0, 1, 2, 3))),
            {"num_groups": "2", "epsilon": "0.001"},
        ),
        applies=lambda seen: len(seen.inputs[0].shape or ()) == 2 and not is_static(seen.inputs[0].shape),
    ),
)
"""The rows."""
