"""Arithmetic on dimension intervals, as the runtime does it: bounds never go below 0."""

from ir_tools.types import Dim

__all__ = ["ceil_div", "floor_div", "minus", "plus", "times"]


def plus(dim: Dim, number: int) -> Dim:
    """`dim + number`; what would be negative is 0."""
    return Dim(max(dim.lo + number, 0), None if dim.hi is None else max(dim.hi + number, 0))


def minus(left: Dim, right: Dim) -> Dim:
    """`left - right`; what would be negative is 0."""
    lo = 0 if right.hi is None else max(left.lo - right.hi, 0)
    return Dim(lo, None if left.hi is None else max(left.hi - right.lo, 0))


def times(left: Dim, right: Dim) -> Dim:
    """`left * right`; nothing times anything is nothing, even without an upper bound."""
    zero = Dim.of(0) in {left, right}
    hi = None if left.hi is None or right.hi is None else left.hi * right.hi
    return Dim(left.lo * right.lo, 0 if zero else hi)


def floor_div(dim: Dim, number: int) -> Dim:
    """`dim / number`, rounded down."""
    return Dim(dim.lo // number, None if dim.hi is None else dim.hi // number)


def ceil_div(dim: Dim, number: int) -> Dim:
    """`dim / number`, rounded up."""
    return Dim(-(-dim.lo // number), None if dim.hi is None else -(-dim.hi // number))
