"""Variables that live from one inference to the next: ReadValue-3/-6, Assign-3/-6."""

from collections.abc import Sequence

from ir_tools.ops._define import Array, Attrs, Fact, Input, Op, Text
from ir_tools.ops._fields import ShapeText, Type
from ir_tools.types import element_type

__all__ = ["OPS"]

DYNAMIC = element_type("dynamic")


def same_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The input."""
    del attrs
    return (Fact(inputs[0].dtype, inputs[0].shape),)


def variable_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The initial value's shape; the variable's where there is none."""
    if not inputs:
        return (Fact(attrs.variable_type, attrs.variable_shape),)
    (value,) = inputs
    return (Fact(value.dtype, value.shape),)


def same_value(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The input: a variable that nobody has assigned holds its initial value, and Assign passes on what it stores."""
    del attrs
    return (inputs[0],)


READ_VALUE_3 = Op(
    type="ReadValue",
    version=3,
    inputs=(Input("init_value"),),
    attrs={"variable_id": Text()},
    shape=same_shape,
    kernel=same_value,
)
READ_VALUE_6 = READ_VALUE_3.at(
    6,
    inputs=(Input("init_value", optional=True),),
    attrs={"variable_type": Type(default=DYNAMIC), "variable_shape": ShapeText(default=None)},
    shape=variable_shape,
)
ASSIGN_3 = Op(
    type="Assign",
    version=3,
    inputs=(Input("new_value"),),
    attrs={"variable_id": Text()},
    shape=same_shape,
    kernel=same_value,
)
ASSIGN_6 = ASSIGN_3.at(6)

OPS = (READ_VALUE_3, READ_VALUE_6, ASSIGN_3, ASSIGN_6)
