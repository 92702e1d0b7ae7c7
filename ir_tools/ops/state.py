"""Variables that live from one inference to the next: ReadValue-3/-6, Assign-3/-6.

Specification: `infrastructure/`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._layers import Layers, by_formula
from ir_tools.ops._requirements import require
from ir_tools.ops._values import same_shape
from ir_tools.ops._versions import VersionStep, no_step
from ir_tools.ops.definition import (
    UNKNOWN,
    Array,
    Elements,
    Fact,
    Input,
    Op,
    Ref,
    Refused,
    Rewrite,
    Role,
    Step,
    Violation,
)
from ir_tools.ops.fields import Attrs, Label, ShapeText, Type
from ir_tools.types import Dim, Shape, format_shape, from_dtype, is_static, shape_text

__all__ = ["OPS"]

KEPT = no_step(3, "no older operation keeps a value from one inference to the next")


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableShape(ShapeText):
    """A partial shape, of which an empty text is a scalar's."""

    blank: ClassVar[bool] = False


def variable_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the variable's type and shape, which must hold the initial value's.

    The initial value's where neither is said.
    """
    own = Fact(attrs.variable_type, attrs.variable_shape)
    if not inputs:
        return (own,)
    (value,) = inputs
    if own == UNKNOWN:
        return (Fact(value.dtype, value.shape),)
    require(
        _within(value.shape, own.shape),
        f"is {shape_text(own.shape)}, but the initial value is {shape_text(value.shape)}",
        attribute="variable_shape",
    )
    require(
        own.dtype in {value.dtype, UNKNOWN.dtype},
        f"is {own.dtype}, but the initial value has element type {value.dtype}",
        attribute="variable_type",
    )
    return (own,)


def _within(value: Shape, own: Shape) -> bool:
    if value is None or own is None:
        return own is None
    return len(value) == len(own) and all(one.within(other) for one, other in zip(value, own, strict=True))


def check_variable(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a variable of which type or rank is not known, over which the runtime fails to compile or to run."""
    own = Fact(attrs.variable_type, attrs.variable_shape)
    if own == UNKNOWN and inputs:
        return
    value = inputs[0] if inputs else UNKNOWN
    for name, missing, known in (
        ("variable_type", own.dtype == UNKNOWN.dtype, str(value.dtype)),
        ("variable_shape", own.shape is None, format_shape(value.shape)),
    ):
        if missing:
            remedy = f'write {name}="{known}"' if inputs else f"write {name}"
            yield Violation(name, "is not known, and neither is that of the initial value", remedy)


def initial_value(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the initial value; zeros where there is none, and nothing along dimensions of any size."""
    if inputs:
        return (inputs[0],)
    dtype = attrs.variable_type.dtype
    if dtype is None or attrs.variable_shape is None:
        raise ShapeError("the variable has no initial value, and its type or shape is not known")
    return (np.zeros([dim.lo for dim in attrs.variable_shape], dtype),)


def same_value(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the input: a variable that nobody has assigned holds its initial value.

    Assign passes on what it stores.
    """
    return (inputs[0],)


def migrate_read_value(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite ReadValue-6 before opset6: ReadValue-3 takes type and shape of the variable from its initial value."""
    if target >= 6 or target < 3:
        return KEPT(attrs, inputs, target)
    layers, (own,) = Layers(inputs, target), variable_shape(attrs, inputs)
    initial: Ref | Array = Ref(None)
    if not inputs:
        if own.dtype.dtype is None or not is_static(own.shape):
            return Refused("has dimensions that are not known, and the variable has no initial value", "variable_shape")
        initial = np.zeros([dim.size for dim in own.shape], own.dtype.dtype)
    elif own.shape != inputs[0].shape:
        return Refused("differs from the shape of the initial value, which ReadValue-3 uses", "variable_shape")
    layers.call("ReadValue", initial, variable_id=attrs.variable_id)
    return layers.rewrite(
        "type and shape from the initial value",
        "the variable of ReadValue-3 has the type and shape of the initial value",
    )


def _read(layers: Layers, version: int, first: Array, name: str) -> Ref:
    """Add a layer that reads a variable of the type and shape of `first`, which the first run gets."""
    if version < 6:
        return layers.call("ReadValue", first, version=version, variable_id=name)
    kind, shape = from_dtype(first.dtype), tuple(map(Dim.of, first.shape))
    return layers.call("ReadValue", first, version=version, variable_id=name, variable_type=kind, variable_shape=shape)


def _started(version: int) -> Step:
    """Return the step that lets a variable begin with zeros, as it does on releases before 2023.3."""

    @by_formula("a second variable holds whether the model has run before; the first run uses the initial value")
    def step(layers: Layers, attrs: Attrs) -> Ref | Refused:
        shape = layers.inputs[0].shape if layers.inputs else None
        if not is_static(shape):
            return Refused("its sizes are not known")
        if version > 3 and attrs.variable_shape not in {None, shape}:
            return Refused("differs from the shape of the initial value", "variable_shape")
        zeros = np.zeros([dim.size for dim in shape], layers.dtype(Ref(None)))
        state = _read(layers, version, zeros, attrs.variable_id)
        name, before = f"{attrs.variable_id}/started", np.zeros([1] * len(shape), np.float32)
        started = _read(layers, version, before, name)
        layers.call("Assign", layers.call("Maximum", started, before + 1), version=version, variable_id=name)
        return layers.call("Select", layers.call("Equal", started, before), Ref(None), state)

    return step


VARIABLE = {"variable_id": "it identifies the state, which the executor stores"}

READ_VALUE_3 = Op(
    type="ReadValue",
    version=3,
    migrate=KEPT,
    strings=True,
    role=Role.READ_VARIABLE,
    inputs=(Input("init_value", elements=Elements.LIKE),),
    attrs={"variable_id": Label()},
    shape=same_shape,
    kernel=same_value,
    unread=VARIABLE,
    substitute=_started(3),
)
READ_VALUE_6 = READ_VALUE_3.at(
    6,
    inputs=(Input("init_value", optional=True, elements=Elements.LIKE),),
    attrs={"variable_type": Type(default=UNKNOWN.dtype, open=True), "variable_shape": VariableShape(default=None)},
    check=check_variable,
    shape=variable_shape,
    kernel=initial_value,
    migrate=migrate_read_value,
    substitute=_started(6),
)
ASSIGN_3 = Op(
    type="Assign",
    version=3,
    migrate=KEPT,
    strings=True,
    role=Role.ASSIGN_VARIABLE,
    inputs=(Input("new_value"),),
    attrs={"variable_id": Label()},
    shape=same_shape,
    kernel=same_value,
    unread=VARIABLE,
)
ASSIGN_6 = ASSIGN_3.at(6, migrate=VersionStep("Assign", 6, older=KEPT))

OPS = (READ_VALUE_3, READ_VALUE_6, ASSIGN_3, ASSIGN_6)
