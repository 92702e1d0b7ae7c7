"""Settings of layers that rows of several families ask for, and types of layers."""

from collections.abc import Callable

from ir_tools.known_differences.releases.seen import Seen
from ir_tools.types import Dim

__all__ = [
    "ELEMENTWISE",
    "ELEMENTWISE_ALONE",
    "assumed",
    "axes_of",
    "gives_alone",
    "has_rank",
    "has_value",
]

ELEMENTWISE = frozenset(
    {
        *("Abs", "Add", "Clamp", "Divide", "Elu", "Erf", "Exp", "FloorMod", "Gelu", "HSwish", "Maximum", "Minimum"),
        *("Mod", "Multiply", "Negative", "PReLU", "Power", "ReLU", "Round", "Sigmoid", "Sqrt", "SquaredDifference"),
        *("Subtract", "Swish", "Tanh"),
    }
)
ELEMENTWISE_ALONE = frozenset({"HSigmoid", "Mish", "SoftPlus", "SoftSign"})


def assumed(dim: Dim) -> int:
    """Return the size that a layer is compiled for: 64 where it is not known, within its bounds."""
    return max(dim.lo, 64 if dim.hi is None else min(64, dim.hi))


def has_value(name: str, value: object) -> Callable[[Seen], bool]:
    """Return whether an attribute has this value."""
    return lambda seen: seen.attrs is not None and seen.attrs[name] == value


def has_rank(seen: Seen, rank: int) -> bool:
    """Return whether the first input is known to have this rank."""
    shape = seen.inputs[0].shape
    return shape is not None and len(shape) == rank


def axes_of(seen: Seen, number: int = 1) -> list[int] | None:
    """Return the axes that an input, mostly the second, names, from the first one; None if they are not known."""
    axes, shape = seen.inputs[number].integers(), seen.inputs[0].shape
    return None if axes is None or shape is None else sorted(axis % max(len(shape), 1) for axis in axes)


def gives_alone(seen: Seen, number: int) -> bool:
    """Return whether an output is one of the model, and nothing else reads it."""
    return [type for one, type in seen.readers if one == number] == ["Result"]
