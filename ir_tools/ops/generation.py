"""Tensors made from numbers: Range-1/-4, Eye-9.

The rules are those of OpenVINO's core (*_shape_inference.hpp), measured.

Specification: `generation/`.
"""

from collections.abc import Iterator, Sequence
from math import ceil, isfinite, trunc

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._generation_rewrites import matrix_of_ones, migrate_range_1, range_of_converted
from ir_tools.ops._requirements import require_integers, require_one, require_sizes, same_type
from ir_tools.ops._values import carried, sizes_of
from ir_tools.ops.definition import Array, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Type
from ir_tools.ops.limits import too_large
from ir_tools.types import Dim, ElementType, Shape, from_dtype
from ir_tools.types.packing import fit

__all__ = ["OPS"]

NAMES = ("start", "stop", "step")
WRAP = 1 << 32
"""The runtime counts the elements of a Range in 32 bits."""
UNSUPPORTED = frozenset({"u1", "u2", "u3", "u6", "string"})
"""Element types that the CPU plugin makes nothing of. Measured."""

# --- Range ------------------------------------------------------------------------------------------------------


def range_1_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return a list from start to stop, without stop, by step, in the type of the inputs."""
    return _range_facts(same_type(inputs), attrs, inputs)


def range_4_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return a list from start to stop, without stop, by step."""
    if attrs.output_type.kind == "boolean":
        raise ShapeError("is boolean; expected a type of numbers", attribute="output_type")
    return _range_facts(attrs.output_type, attrs, inputs)


def _range_facts(dtype: ElementType, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    numbers = []
    for fact, name in zip(inputs, NAMES, strict=True):
        require_one(fact, name, only_scalar=True)
        exact = fact.exact
        number = None if exact is None else float(exact.ravel()[0])
        if number is not None and (not isfinite(number) or (name == "step" and number == 0)):
            raise ShapeError(f"is {number:g}; expected a finite number", attribute=name)
        numbers.append(number)
    start, stop, step = numbers
    if start is None or stop is None or step is None:
        return (Fact(dtype, (Dim(),)),)
    count = _count(start, stop, step, dtype.is_integer)
    return carried(range_, attrs, inputs, [Fact(dtype, (Dim.of(count),))], ())


def _count(start: float, stop: float, step: float, whole: bool) -> int:
    """Return how many numbers lie from start to stop, as the runtime counts them.

    Whole ones are cut off first, and none lie there by a step of 0.
    """
    if whole:
        start, stop, step = trunc(start), trunc(stop), trunc(step)
    if step == 0:
        return 0
    return max(ceil((stop - start) / step), 0) % WRAP


def check_range(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for more numbers than the runtime can count, or a machine hold."""
    values = [fact.exact for fact in inputs]
    numbers = [float(value.ravel()[0]) for value in values if value is not None and value.size == 1]
    if len(numbers) < 3 or not all(map(isfinite, numbers)) or numbers[2] == 0:
        return
    dtype = attrs.output_type if "output_type" in attrs else inputs[0].dtype
    if dtype.is_integer and trunc(numbers[2]) == 0:
        yield Violation("step", f"is {numbers[2]:g}, which becomes 0 as an integer", kind=ViolationKind.SUSPECT)
        return
    count = max(ceil((numbers[1] - numbers[0]) / numbers[2]), 0)
    if count >= WRAP:
        yield Violation("stop", f"defines {count} numbers, but the runtime returns {count % WRAP}")
    else:
        yield from too_large("stop", (Dim.of(count),))


def check_range_4(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a type that the CPU plugin has numbers of, and as Range-1 does."""
    if attrs.output_type.name in UNSUPPORTED:
        yield Violation("output_type", f"is {attrs.output_type}, which the CPU plugin does not support")
    yield from check_range(attrs, inputs)


def range_(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `start + i * step` in the output's type; floats of fewer than 32 bits are computed in f32."""
    kind = attrs.output_type if "output_type" in attrs else from_dtype(arrays[0].dtype)
    wide = np.dtype(np.float32) if kind.is_float and kind.bits < 32 else kind.held_dtype
    start, stop, step = (array.ravel()[0] for array in arrays)
    count = _count(float(start), float(stop), float(step), kind.is_integer)
    first, by = (np.asarray(value).astype(wide) for value in (start, step))
    numbers = first + np.arange(count).astype(wide) * by
    return (fit(numbers, kind) if kind.packed else numbers.astype(kind.held_dtype),)


# --- Eye --------------------------------------------------------------------------------------------------------


def eye_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[batch..., rows, columns]`."""
    for fact, name in zip(inputs, ("num_rows", "num_columns", "diagonal_index", "batch_shape"), strict=False):
        require_integers(fact, name)
        if name != "batch_shape":
            require_one(fact, name)
        if name != "diagonal_index" and any(size < 0 for size in fact.integers() or ()):
            raise ShapeError("is negative", attribute=name)
    dims = [(sizes_of(fact, "num_rows") or (Dim(),))[0] for fact in inputs[:2]]
    shape: Shape = tuple(dims)
    if len(inputs) > 3:
        batch = inputs[3]
        require_sizes(batch, "batch_shape")
        sizes = sizes_of(batch, "batch_shape")
        if sizes is None and batch.shape is not None and batch.shape[0].static:
            sizes = (Dim(),) * batch.shape[0].lo
        shape = None if sizes is None else (*sizes, *dims)
    return carried(eye, attrs, inputs, [Fact(attrs.output_type, shape)], ())


def eye(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return ones on a diagonal: above the main one where the index is positive."""
    rows, columns, index = (int(array.ravel()[0]) for array in arrays[:3])
    batch = [int(size) for size in arrays[3]] if len(arrays) > 3 else []
    # Beyond the matrix numpy counts a diagonal from the other end.
    matrix = np.eye(rows, columns, max(min(index, columns), -rows), dtype=np.int8).astype(attrs.output_type.dtype)
    return (np.broadcast_to(matrix, (*batch, rows, columns)),)


WITHOUT_ONES = UNSUPPORTED | {"nf4", "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0"}
"""Element types of which the CPU plugin makes no unit matrix. Measured."""


def check_eye(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a type that has ones in the CPU plugin, and for a matrix that no machine can hold."""
    if attrs.output_type.name in WITHOUT_ONES:
        yield Violation("output_type", f"is {attrs.output_type}, which the CPU plugin does not support")
    try:
        (out,) = eye_shape(attrs, inputs)
    except ShapeError:
        return
    yield from too_large("num_rows", out.shape)


# --- the operations ---------------------------------------------------------------------------------------------

RANGE_1 = Op(
    type="Range",
    version=1,
    inputs=tuple(Input(name, type="T") for name in NAMES),
    types={"T": "float integer"},
    check=check_range,
    shape=range_1_shape,
    kernel=range_,
    migrate=migrate_range_1,
)
RANGE_4 = RANGE_1.at(
    4,
    inputs=tuple(Input(name, type="float integer") for name in NAMES),
    attrs={"output_type": Type()},
    readers={"output_type": "check shape kernel migrate"},
    types={},
    check=check_range_4,
    shape=range_4_shape,
    migrate=range_of_converted,
)
INDEX = "i32 i64"
EYE = Op(
    type="Eye",
    version=9,
    inputs=(
        Input("num_rows", type=INDEX),
        Input("num_columns", type=INDEX),
        Input("diagonal_index", type=INDEX),
        Input("batch_shape", optional=True, type=INDEX),
    ),
    attrs={"output_type": Type()},
    check=check_eye,
    shape=eye_shape,
    kernel=eye,
    migrate=matrix_of_ones,
)

OPS = (RANGE_1, RANGE_4, EYE)
