"""nGraph's AvgPool-0: what it means, and the same as a model of today's layers.

Source: the page of the operation in the nGraph documentation. Its divisor tensor repeats the denominator of the sum
tensor; what is meant is the quotient of the two, in which that denominator cancels.
"""

from collections.abc import Sequence

from ir_tools import types
from ir_tools.errors import MigrationError, UsageError
from ir_tools.graph import Model
from ir_tools.migration import parse_target
from ir_tools.ops import Fact, Form, Pooling, Refused, average_pooling
from ir_tools.single import as_model
from ir_tools.types import Dim, format_shape, parse_shape

__all__ = ["avg_pool", "to_model"]


def avg_pool(
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding_below: Sequence[int] | None = None,
    padding_above: Sequence[int] | None = None,
    include_padding: bool = False,
) -> Form:
    """The meaning of AvgPool-0, with `d` elements on an axis and window `w`, strides `s`, padding `p` and `q`.

    There are `ceil((p + d + q - w + 1) / s)` windows, which is `floor((p + d + q - w) / s) + 1`, so that none hangs
    over the padded input. They divide by the elements that they read; with `include_padding` by `w`.

    Args:
        window_shape: one size per spatial axis.
        strides: 1 on every axis where left out.
        padding_below: before the first element; 0 where left out.
        padding_above: after the last element; 0 where left out.
        include_padding: average as though the padding held zeros.

    Raises:
        UsageError: no axis, a list that is not as long as the window, or a value out of range.
    """
    window = _list("window_shape", window_shape, len(window_shape), 1)
    rank = len(window)
    if rank == 0:
        raise UsageError("window_shape is empty where one size per spatial axis is meant")
    pooling = Pooling(
        kernel=window,
        strides=_list("strides", (1,) * rank if strides is None else strides, rank, 1),
        pads_begin=_list("padding_below", (0,) * rank if padding_below is None else padding_below, rank, 0),
        pads_end=_list("padding_above", (0,) * rank if padding_above is None else padding_above, rank, 0),
        dilations=(1,) * rank,
        exclude_pad=not include_padding,
    )
    return Form(pooling, divisor="padded" if include_padding else "real")


def to_model(
    pooling: Form, data_shape: str | Sequence[int | Dim], element_type: str = "f32", to: str = "opset8"
) -> Model:
    """A model of IR v11 that takes `data`, pools it in layers of the opset `to`, and gives `AvgPool`.

    Args:
        pooling: from `avg_pool`.
        data_shape: `[N, C, spatial...]`; a dimension may be an interval or `?`, as in `"?,3,224,16..64"`.
        element_type: `f32`, `f16` and the like.
        to: an opset.

    Raises:
        UsageError: the shape is not of the window's rank, or not a shape at all; no such element type.
        ShapeError: the window is larger than the padded input.
        MigrationError: there is no such opset, or it has no layers that mean the same.
    """
    target, shape, rank = parse_target(to), parse_shape(data_shape), pooling.pooling.rank
    if shape is None or len(shape) != rank + 2:
        raise UsageError(f"AvgPool with {rank} spatial axes takes [N, C, spatial...], not [{format_shape(shape)}]")
    data = Fact(types.element_type(element_type), shape)
    rewrite = average_pooling(pooling, data, target)
    if isinstance(rewrite, Refused):
        raise MigrationError(f"AvgPool has no exact form in opset{target}: {rewrite.reason}")
    return as_model(rewrite, data, name="AvgPool")


def _list(name: str, values: Sequence[int], length: int, least: int) -> tuple[int, ...]:
    if len(values) != length:
        raise UsageError(f"{name} has {len(values)} values where window_shape has {length}")
    if any(value < least for value in values):
        raise UsageError(f"{name} is {list(values)} where every value must be at least {least}")
    return tuple(int(value) for value in values)
