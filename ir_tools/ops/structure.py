"""What every graph needs: Parameter, Const, Result, Identity, and ShapeOf, which turns shapes into values.

Specification: `infrastructure/`, `shape/`, `activation/`.
"""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops._shape_rewrites import migrate_identity, migrate_shape_of_3
from ir_tools.ops._values import same_shape
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import NEWEST_OPSET, UNBOUNDED, Array, Bounds, Elements, Fact, Input, Op, Role
from ir_tools.ops.fields import Attrs, IndexType, Int, ShapeText, Type
from ir_tools.types import Dim, element_type

__all__ = ["OPS", "PARAMETER", "RESULT", "SHAPE_OF_3"]


def parameter_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return what the attributes say."""
    return (Fact(attrs.element_type, attrs.shape),)


def no_outputs(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return nothing: a Result has no output port."""
    return ()


def identity(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the input as it is."""
    return (arrays[0],)


def shape_of_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return a list as long as the rank, with the dimensions as bounds of its values."""
    shape, dtype = inputs[0].shape, attrs.get("output_type", I64)
    if shape is None:
        return (Fact(dtype, (Dim(),)),)
    largest = np.iinfo(np.int32).max if dtype.name == "i32" else UNBOUNDED
    lower = np.array([dim.lo for dim in shape], dtype=np.int64)
    upper = np.array([UNBOUNDED if dim.hi in (None, largest) else dim.hi for dim in shape], dtype=np.int64)
    return (Fact(dtype, (Dim.of(len(shape)),), Bounds(lower, upper)),)


def shape_of(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the sizes of the input."""
    return (np.array(arrays[0].shape, dtype=attrs.get("output_type", I64).dtype),)


I64 = element_type("i64")

PARAMETER = Op(
    type="Parameter",
    version=1,
    last_opset=NEWEST_OPSET,
    role=Role.PARAMETER,
    inputs=(),
    attrs={"element_type": Type(open=True), "shape": ShapeText(default=())},
    shape=parameter_shape,
)
CONST = Op(
    type="Const",
    version=1,
    role=Role.CONSTANT,
    inputs=(),
    attrs={
        "element_type": Type(open=True),
        "shape": ShapeText(default=()),
        "offset": Int(plus=True),
        "size": Int(plus=True),
    },
    shape=parameter_shape,
    unread={name: "it is the position of the constant in the .bin" for name in ("offset", "size")},
)
RESULT = Op(
    type="Result", version=1, role=Role.RESULT, strings=True, inputs=(Input("input"),), outputs=(), shape=no_outputs
)
SHAPE_OF_1 = Op(
    type="ShapeOf",
    version=1,
    strings=True,
    inputs=(Input("data", elements=Elements.UNREAD),),
    shape=shape_of_shape,
    kernel=shape_of,
    migrate=VersionStep("ShapeOf", 1),
)
SHAPE_OF_3 = SHAPE_OF_1.at(
    3,
    attrs={"output_type": IndexType(default=I64, needed=True)},
    readers={"output_type": "shape kernel migrate"},
    last_opset=NEWEST_OPSET,
    migrate=migrate_shape_of_3,
)

IDENTITY = Op(
    type="Identity",
    version=16,
    inputs=(Input("data", elements=Elements.IN_ORDER),),
    shape=same_shape,
    kernel=identity,
    migrate=migrate_identity,
)

OPS = (PARAMETER, CONST, RESULT, SHAPE_OF_1, SHAPE_OF_3, IDENTITY)
