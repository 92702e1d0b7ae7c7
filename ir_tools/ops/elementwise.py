"""Elementwise operations on two tensors with broadcasting: arithmetic, comparison, logic, bits; Select.

Specification: `arithmetic/`, `comparison/`, `logical/`, `bitwise/`, `condition/`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops import _activation_rewrites as rewrites
from ir_tools.ops import _bit_rewrites as bits
from ir_tools.ops._broadcast import AUTO_BROADCAST, auto_broadcast, broadcast_arrays, interval, no_bound, unbounded
from ir_tools.ops._by_blocks import elementwise
from ir_tools.ops._elementwise_rewrites import (
    as_in_numpy,
    exact_quotient,
    known_quotient,
    remainder_by_floor_mod,
    select_in_fewer_dimensions,
    with_computed_number,
)
from ir_tools.ops._numbers import in_working_type, through_floats
from ir_tools.ops._requirements import check_divisor, require_type, same_type
from ir_tools.ops._versions import first_of
from ir_tools.ops.definition import (
    COMPLETE_OPSETS,
    NUMBERS,
    UNBOUNDED,
    Array,
    Bounds,
    Check,
    Elements,
    Fact,
    Infinity,
    Input,
    Op,
    Oracle,
    Step,
    Violation,
    no_violations,
)
from ir_tools.ops.fields import Attrs, Field, Flag
from ir_tools.types import element_type

__all__ = ["OPS", "SELECT", "Binary"]

BOOLEAN = element_type("boolean")
Folds = Literal["interval", "exact", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """An elementwise operation on two tensors.

    Attributes:
        type, version: the type and version of the operation.
        function: a function of two arrays of the same type, which broadcasts as numpy does; f16 and bf16 are passed as
            f32.
        accepts: the element types that the runtime accepts.
        boolean: whether the result is always boolean.
        folds: how the runtime computes the values of the result before it runs: bounds, only exact values, or nothing.
        folds_of: the element types for which it computes values; empty for all.
        folded: the function on values before running, if it is another one.
        chosen: the function that attributes choose, instead of `function` and, for integers, of `folded`.
        saturates: whether 8-bit integers saturate, as in the CPU plugin.
        oracle: as for `Op`.
        attrs: the attributes of the operation besides those of broadcasting.
        last_opset, replaced_by: the last opset that contains the operation, and the operation to use in its place.
        migrate, elements, commutative, infinity: as for `Op`.
        substitute: as for `Op`; by default, one for mode `pdpd` of broadcasting.
        check: as for `Op`.
    """

    type: str
    function: Callable[[Array, Array], Array]
    version: int = 1
    accepts: str = "float integer"
    boolean: bool = False
    folds: Folds = "exact"
    folds_of: str = ""
    folded: Callable[[Array, Array], Array] | None = None
    chosen: Callable[[Attrs], Callable[[Array, Array], Array] | None] | None = None
    saturates: bool = True
    oracle: Oracle = Oracle.RUNTIME
    attrs: Mapping[str, Field] = field(default_factory=dict)
    last_opset: int | None = None
    replaced_by: str | None = None
    migrate: Step | None = None
    elements: Elements = Elements.COMPUTED
    commutative: bool = False
    infinity: Infinity = Infinity.SUSPECT
    substitute: Step | None = None
    check: Check = no_violations

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return the broadcast shape, the common type or boolean."""
        dtype = same_type(inputs)
        require_type(dtype, self.accepts)
        shape = auto_broadcast(attrs, inputs[0].shape, inputs[1].shape)
        return (Fact(BOOLEAN if self.boolean else dtype, shape, self.value(attrs, inputs)),)

    def value(self, attrs: Attrs, inputs: Sequence[Fact]) -> Bounds | None:
        """Return the bounds of the result's values, as the runtime computes them."""
        left, right = inputs[0].value, inputs[1].value
        if self.folds == "none" or left is None or right is None:
            return None
        if attrs.auto_broadcast == "pdpd":
            lower = broadcast_arrays(attrs, left.lower, right.lower)
            upper = broadcast_arrays(attrs, left.upper, right.upper)
            left, right = map(Bounds, lower, upper)
        if not inputs[0].dtype.is_one_of(self.folds_of):
            return None
        function = self._chosen(attrs) or self.folded or self.function
        with np.errstate(all="ignore"):
            if left.exact is not None and right.exact is not None:
                return Bounds.exactly(function(left.exact, right.exact))
            if self.type == "Mod":
                return _rest_bounds(left, right)
            if self.folds == "exact":
                return None
            if self.type == "Divide":
                return _divide_bounds(left, right)
            return _equal_bounds(left, right) if self.boolean else interval(function, left, right)

    def kernel(self, attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Apply the function to the broadcast inputs."""
        function = self._chosen(attrs) or self.function
        left, right = broadcast_arrays(attrs, arrays[0], arrays[1])
        if isinstance(function, np.ufunc) and left.dtype.kind == "f" and left.dtype.itemsize > 2:
            return (function(left, right),)

        def applied(one: Array, other: Array) -> Array:
            return in_working_type(function, one, other, saturate=self.saturates)

        return (elementwise(applied, left, right),)

    def _chosen(self, attrs: Attrs) -> Callable[[Array, Array], Array] | None:
        return None if self.chosen is None else self.chosen(attrs)

    def _as_in_numpy(self) -> Step | None:
        return as_in_numpy(self.replaced_by or self.type) if self.version <= COMPLETE_OPSETS else None

    @property
    def op(self) -> Op:
        """The operation."""
        return Op(
            type=self.type,
            version=self.version,
            inputs=tuple(Input(name, type="T", elements=self.elements) for name in ("a", "b")),
            attrs={**AUTO_BROADCAST, **self.attrs},
            commutative=self.commutative,
            infinity=Infinity.BOUND if self.boolean else self.infinity,
            types={"T": NUMBERS if self.accepts == "any" else self.accepts},
            last_opset=self.last_opset,
            replaced_by=self.replaced_by,
            check=self.check,
            shape=self.shape,
            kernel=self.kernel,
            oracle=self.oracle,
            migrate=self.migrate,
            substitute=self.substitute or self._as_in_numpy(),
        )


# --- values before running --------------------------------------------------------------------------------------


def _divide_bounds(left: Bounds, right: Bounds) -> Bounds:
    """Return the bounds of a quotient, as the runtime computes them for dividends of at least 0.

    If the divisor may be 0, there is no upper bound; if it may have either sign, there is no lower one either.
    """
    zero = (right.lower <= 0) & (right.upper >= 0)
    farthest = np.where(right.upper > 0, right.upper, right.lower)
    divisor = Bounds(np.where(zero, farthest, right.lower), np.where(zero, farthest, right.upper))
    out = interval(floor_divide, left, divisor)
    limit = no_bound(out.upper)
    open_below = (zero & ((right.lower < 0) == (right.upper > 0))) & ~(unbounded(left) | unbounded(right))
    lower = np.where(open_below, 0 if out.upper.dtype.kind == "f" else -UNBOUNDED, out.lower)
    return Bounds(lower, np.where(zero, limit, out.upper))


def _rest_bounds(left: Bounds, right: Bounds) -> Bounds | None:
    """Return the bounds of the remainder of sizes by sizes, as the runtime computes them.

    Of the divisors between two bounds it only knows what they leave of a single number.
    """
    low, high, least, most = np.broadcast_arrays(left.lower, left.upper, right.lower, right.upper)
    if low.dtype.kind != "i" or least.dtype.kind != "i" or (low < 0).any() or (least < 0).any():
        return None
    unknown = (high == UNBOUNDED) | (least == 0) | (least == UNBOUNDED)
    least, most = np.where(unknown, 1, least), np.where(unknown, 1, most)
    pairs = zip(_rest_of(low, high, least), _rest_of(low, high, most), strict=True)
    (first, _), (_, last) = ((np.minimum(*pair), np.maximum(*pair)) for pair in pairs)
    half = high // 2
    single = (low == high) & (most - least > 1) & ((least < half) | ((least < high) & (high < most)))
    largest = np.where((half < most) & (most < high), high % (half + 1), most - 1)
    first, last = np.where(single, 0, first), np.where(single, largest, last)
    return Bounds(np.where(unknown, 0, first), np.where(unknown, UNBOUNDED, last))


def _rest_of(low: Array, high: Array, by: Array) -> tuple[Array, Array]:
    """Return the bounds of the remainder by a known number: from one multiple to the next, or from 0 on."""
    first, last = low % by, high % by
    wide = (last < first) | ((low != high) & (high - low >= by))
    return np.where(wide, 0, first), np.where(wide, by - 1, last)


def _equal_bounds(left: Bounds, right: Bounds) -> Bounds:
    """Return the bounds of whether two tensors are equal.

    They are certainly equal if both are known and equal, and certainly not equal if the intervals do not overlap.
    """
    apart = (left.upper < right.lower) | (right.upper < left.lower)
    same = (left.lower == left.upper) & (right.lower == right.upper) & (left.lower == right.lower)
    return Bounds(same.astype(np.int64), (~apart).astype(np.int64))


# --- functions --------------------------------------------------------------------------------------------------


def maximum(left: Array, right: Array) -> Array:
    """Return the larger value; the second one if either is NaN, as the CPU plugin does."""
    return np.where(left > right, left, right)


def minimum(left: Array, right: Array) -> Array:
    """Return the smaller value; the second one if either is NaN, as the CPU plugin does."""
    return np.where(left < right, left, right)


def floor_divide(left: Array, right: Array) -> Array:
    """Return the quotient that the runtime computes before running: integers are rounded down."""
    return np.divide(left, right) if left.dtype.kind == "f" else np.floor_divide(left, right)


Function = Callable[[Array, Array], Array]


def exact(whole: Function, coarse: Function, lacks: Function) -> Function:
    """Return a function that is `whole` for integers, and `coarse` for other types and for integers without a result.

    The CPU plugin computes in f32, and so does `coarse`.
    """

    def wrapped(left: Array, right: Array) -> Array:
        if left.dtype.kind not in "iu":
            return coarse(left, right)
        lacking = lacks(left, right)
        out = whole(left, np.where(lacking, 1, right).astype(right.dtype))
        return np.where(lacking, coarse(left, right), out) if lacking.any() else out

    return wrapped


def without_quotient(left: Array, right: Array) -> Array:
    """Return where integers are divided by 0, or the lowest integer by -1."""
    least = np.iinfo(left.dtype).min
    out: Array = (right == 0) | ((left == least) & (right == -1) & (least < 0))
    return out


def without_power(left: Array, right: Array) -> Array:
    """Return where the power of integers is outside the range of the type."""
    power = np.power(left.astype(np.float64), right.astype(np.float64))
    limits = np.iinfo(left.dtype)
    held = (power >= limits.min) & (power < float(limits.max) + 1)
    out: Array = (right < 0) | ~held
    return out


def quotient(left: Array, right: Array) -> Array:
    """Return the quotient of integers, truncated."""
    out: Array = np.floor_divide(left - np.fmod(left, right), right)
    return out


def divide_towards_zero(attrs: Attrs) -> Callable[[Array, Array], Array] | None:
    """Return the quotient for `m_pythondiv="false"`, truncated."""
    return None if attrs.m_pythondiv else exact(quotient, through_floats(np.divide, np.trunc), without_quotient)


def mod(left: Array, right: Array) -> Array:
    """Return the remainder with the sign of the dividend."""
    out: Array = left - np.trunc(left / right) * right
    return out


def floor_mod(left: Array, right: Array) -> Array:
    """Return the remainder with the sign of the divisor."""
    out: Array = left - np.floor(left / right) * right
    return out


def whole_power(left: Array, right: Array) -> Array:
    """Return the power that the runtime computes before running."""
    return np.power(left.astype(np.float64), right.astype(np.float64)).astype(left.dtype)


def shifted_by(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return a shift in 32 bits by the low five bits of the count, as in the CPU plugin; i64 and u64 are unchanged."""

    def wrapped(left: Array, right: Array) -> Array:
        if left.dtype.itemsize == 8:
            return function(left, right)
        wide = left if left.dtype.itemsize == 4 else left.astype(np.int32)
        return function(wide, (right & 31).astype(wide.dtype)).astype(left.dtype)

    return wrapped


def squared_difference(left: Array, right: Array) -> Array:
    """Return `(a - b)^2`."""
    difference = np.subtract(left, right)
    return np.multiply(difference, difference)


def check_quotient(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a constant divisor that holds 0."""
    yield from check_divisor("b", inputs[1])


ARITHMETIC = partial(Binary, folds="interval")
TEST = partial(Binary, accepts="any", boolean=True)
LOGICAL = partial(Binary, accepts="boolean", boolean=True)
BITWISE = partial(Binary, version=13, accepts="integer boolean", folds="none", commutative=True)
SHIFT = partial(Binary, version=15, accepts="integer", folds="none", saturates=False)
EITHER = partial(ARITHMETIC, infinity=Infinity.BOUND, elements=Elements.LIKE, commutative=True)
"""What rows of one kind have in common; `EITHER` gives one of the two numbers."""

ROWS = (
    ARITHMETIC(
        type="Add",
        function=np.add,
        infinity=Infinity.MASK,
        commutative=True,
        substitute=first_of(as_in_numpy("Add"), with_computed_number("Add")),
    ),
    ARITHMETIC(
        type="Subtract",
        function=np.subtract,
        infinity=Infinity.MASK,
        substitute=first_of(as_in_numpy("Subtract"), with_computed_number("Subtract")),
    ),
    ARITHMETIC(type="Multiply", function=np.multiply, commutative=True),
    ARITHMETIC(
        type="Divide",
        function=exact(np.floor_divide, through_floats(np.divide, np.floor), without_quotient),
        folded=floor_divide,
        check=check_quotient,
        chosen=divide_towards_zero,
        attrs={"m_pythondiv": Flag(default=True)},
        substitute=first_of(as_in_numpy("Divide"), known_quotient, exact_quotient),
    ),
    EITHER(type="Maximum", function=maximum),
    EITHER(type="Minimum", function=minimum),
    ARITHMETIC(
        type="Power", function=exact(np.power, through_floats(np.power, np.trunc), without_power), folded=whole_power
    ),
    Binary(
        type="Mod",
        function=exact(np.fmod, through_floats(mod, np.trunc), without_quotient),
        folds_of="integer",
        folded=np.fmod,
        check=check_quotient,
        substitute=first_of(as_in_numpy("Mod"), remainder_by_floor_mod),
    ),
    ARITHMETIC(
        type="FloorMod",
        function=exact(np.mod, through_floats(floor_mod, np.trunc), without_quotient),
        folded=np.mod,
        check=check_quotient,
    ),
    Binary(
        type="Atan2",
        version=17,
        function=np.arctan2,
        accepts="float",
        folds="none",
        oracle=Oracle.SPECIFICATION,
        migrate=rewrites.atan2,
    ),
    Binary(type="SquaredDifference", function=squared_difference, folds_of="float", commutative=True),
    TEST(type="Equal", function=np.equal, folds="interval", commutative=True),
    TEST(type="NotEqual", function=np.not_equal, commutative=True),
    TEST(type="Greater", function=np.greater),
    TEST(type="GreaterEqual", function=np.greater_equal),
    TEST(type="Less", function=np.less),
    TEST(type="LessEqual", function=np.less_equal),
    LOGICAL(type="LogicalAnd", function=np.logical_and, elements=Elements.LIKE, commutative=True),
    LOGICAL(type="LogicalOr", function=np.logical_or, elements=Elements.LIKE, commutative=True),
    LOGICAL(type="LogicalXor", function=np.logical_xor, commutative=True),
    LOGICAL(type="Xor", function=np.logical_xor, last_opset=1, replaced_by="LogicalXor", migrate=rewrites.migrate_xor),
    BITWISE(type="BitwiseAnd", function=np.bitwise_and, elements=Elements.LIKE, migrate=bits.bitwise_and),
    BITWISE(type="BitwiseOr", function=np.bitwise_or, elements=Elements.LIKE, migrate=bits.bitwise_or),
    BITWISE(type="BitwiseXor", function=np.bitwise_xor, migrate=bits.bitwise_xor),
    SHIFT(type="BitwiseLeftShift", function=shifted_by(np.left_shift), migrate=bits.left_shift),
    SHIFT(type="BitwiseRightShift", function=shifted_by(np.right_shift), migrate=bits.right_shift),
)


# --- Select -----------------------------------------------------------------------------------------------------


def select_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the three inputs broadcast together; the type of `then` and `else`."""
    condition, then, other = inputs
    require_type(condition.dtype, "boolean")
    first, second = (then, other) if attrs.auto_broadcast == "pdpd" else (other, then)
    shape = auto_broadcast(attrs, auto_broadcast(attrs, first.shape, second.shape), condition.shape)
    return (Fact(same_type(inputs[1:]), shape, _select_value(condition, then, other)),)


def _select_value(condition: Fact, then: Fact, other: Fact) -> Bounds | None:
    if condition.value is None or then.value is None or other.value is None:
        return None
    which = condition.value.exact
    if which is None:
        return None
    try:
        return Bounds(
            np.where(which, then.value.lower, other.value.lower), np.where(which, then.value.upper, other.value.upper)
        )
    except ValueError as why:
        raise ShapeError(f"the inputs cannot be broadcast: {why}") from None


def select(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `then` where the condition holds, `else` elsewhere."""
    condition, then, other = arrays
    then, other = broadcast_arrays(attrs, then, other)
    then, condition = broadcast_arrays(attrs, then, condition)
    return (np.where(condition, then, other),)


SELECT = Op(
    type="Select",
    version=1,
    infinity=Infinity.BOUND,
    inputs=(
        Input("cond", type="boolean"),
        *(Input(name, type="T", elements=Elements.LIKE) for name in ("then", "else")),
    ),
    attrs=AUTO_BROADCAST,
    types={"T": NUMBERS},
    shape=select_shape,
    kernel=select,
    substitute=first_of(as_in_numpy("Select", 1), select_in_fewer_dimensions),
)

OPS = (*(row.op for row in ROWS), SELECT)
