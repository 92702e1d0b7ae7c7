"""Where the runtime is known to differ from the reference, each with a reason and a minimal model: the one table.

Another release may be right where this one is wrong: the tests run every model of the table on the installed runtime,
and a row that no longer differs has to go.
"""

from collections.abc import Collection, Sequence
from functools import cache

from ir_tools.known_differences import _detection, _elementwise, _flow, _math, _moving, _numbers, _settings, _vision
from ir_tools.known_differences._define import SEEN, DifferenceKind, Instance, KnownDifference, Mask
from ir_tools.known_differences._model import Call, Fixed, Given, as_model
from ir_tools.ops import Array, Attrs, Op

__all__ = [
    "PAGE",
    "SEEN",
    "TABLE",
    "Call",
    "DifferenceKind",
    "Fixed",
    "Given",
    "Instance",
    "KnownDifference",
    "Mask",
    "as_model",
    "find",
    "named",
]

PAGE = "docs/known-differences.md"
"""The page of documentation that lists the table."""
TABLE: tuple[KnownDifference, ...] = (
    *_math.ROWS,
    *_settings.ROWS,
    *_elementwise.ROWS,
    *_numbers.ROWS,
    *_moving.ROWS,
    *_flow.ROWS,
    *_detection.ROWS,
    *_vision.ROWS,
)


@cache
def _by_op() -> dict[str, tuple[KnownDifference, ...]]:
    names = {op for row in TABLE for op in row.ops}
    return {name: tuple(row for row in TABLE if name in row.ops and row.applies) for name in names}


def find(op: Op, attrs: Attrs, inputs: Sequence[Array], constant: Collection[int] = ()) -> tuple[KnownDifference, ...]:
    """Return the rows that a layer on these arrays falls under, as far as that is known.

    `constant`: the numbers of the inputs that are constants of the model.
    """
    rows = _by_op().get(str(op), ())
    return tuple(row for row in rows if row.covers(Instance(attrs, inputs, constant)))


def named(*names: str) -> tuple[KnownDifference, ...]:
    """Return rows by name.

    Raises:
        KeyError: there is none of that name.
    """
    rows = {row.name: row for row in TABLE}
    return tuple(rows[name] for name in names)
