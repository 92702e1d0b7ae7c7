"""Build a model that computes nGraph's AvgPool-0; `docs/ngraph-average-pooling.md` has an example and the source."""

from collections.abc import Sequence

from ir_tools import parameters, types
from ir_tools.display import plural
from ir_tools.errors import MigrationError, UsageError
from ir_tools.graph import Model
from ir_tools.ops import Fact, Pooling, PoolingSpec, Refused, average_pooling
from ir_tools.parameters import checked, optional
from ir_tools.rewrite.single import model_of
from ir_tools.rewrite.target import parse_target
from ir_tools.types import Dim, parse_shape, shape_text

__all__ = ["avg_pool", "to_model"]


@checked(
    window_shape=parameters.INTEGERS,
    strides=optional(parameters.INTEGERS),
    padding_below=optional(parameters.INTEGERS),
    padding_above=optional(parameters.INTEGERS),
    include_padding=parameters.FLAG,
)
def avg_pool(
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding_below: Sequence[int] | None = None,
    padding_above: Sequence[int] | None = None,
    include_padding: bool = False,
) -> PoolingSpec:
    """Describe one AvgPool-0, for `to_model`.

    An axis of `d` elements with window `w`, stride `s` and padding `p` and `q` has `ceil((p + d + q - w + 1) / s)`
    windows, so no window reaches beyond the padded input. Each output is the sum of the elements in its window, divided
    by their number, or with `include_padding` by `prod(w)`.

    Args:
        window_shape: one size per spatial axis.
        strides: one stride per spatial axis; 1 by default.
        padding_below: the number of padding elements before each spatial axis; 0 by default.
        padding_above: the number of padding elements after each spatial axis; 0 by default.
        include_padding: count the padding as zeros.

    Returns:
        The windows and the divisor, in the form that all average poolings share.

    Raises:
        UsageError: `window_shape` is empty, a list has another length, a value is out of range, or an argument has the
            wrong type.

    Example:
        >>> ir_tools.ngraph.avg_pool([2, 2], strides=[2, 2]).pooling.kernel
        (2, 2)
    """
    window = _list("window_shape", window_shape, len(window_shape), 1)
    rank = len(window)
    if rank == 0:
        raise UsageError("window_shape is empty; expected one size per spatial axis")
    pooling = Pooling(
        kernel=window,
        strides=_list("strides", (1,) * rank if strides is None else strides, rank, 1),
        pads_begin=_list("padding_below", (0,) * rank if padding_below is None else padding_below, rank, 0),
        pads_end=_list("padding_above", (0,) * rank if padding_above is None else padding_above, rank, 0),
        dilations=(1,) * rank,
        exclude_pad=not include_padding,
    )
    return PoolingSpec(pooling, divisor="padded" if include_padding else "real")


@checked(
    pooling=parameters.instance(PoolingSpec, "what avg_pool returned"),
    data_shape=parameters.SHAPE,
    element_type=parameters.TEXT,
    to=parameters.OPSET,
)
def to_model(
    pooling: PoolingSpec, data_shape: str | Sequence[int | Dim], element_type: str = "f32", to: str = "opset8"
) -> Model:
    """Build a model of IR v11 with the input `data`, layers of the opset `to`, and the output `AvgPool`.

    Args:
        pooling: from `avg_pool`.
        data_shape: the shape of the input, `[N, C, spatial...]`; a dimension may be an interval or `?`, as in
            `"?,3,224,16..64"`.
        element_type: the element type of the input: `f32`, `f16`, ...
        to: the opset of the layers.

    Returns:
        The model.

    Raises:
        UsageError: the shape cannot be read or has another rank than the window, the element type is unknown, or an
            argument has the wrong type.
        ShapeError: the window is larger than the padded input.
        MigrationError: the opset is unknown, or has no layers that compute the same.

    Example:
        >>> ir_tools.ngraph.to_model(ir_tools.ngraph.avg_pool([2, 2]), "1,3,8,8")
        Model('AvgPool', IR v11, 3 layers)
    """
    target, shape, rank = parse_target(to), parse_shape(data_shape), pooling.pooling.rank
    if shape is None or len(shape) != rank + 2:
        raise UsageError(
            f"AvgPool with {plural(rank, 'spatial axis')} expects [N, C, spatial...], not {shape_text(shape)}"
        )
    data = Fact(types.element_type(element_type), shape)
    rewrite = average_pooling(pooling, data, target)
    if isinstance(rewrite, Refused):
        raise MigrationError(f"AvgPool cannot be expressed exactly in opset{target}: {rewrite.reason}")
    return model_of(rewrite, data, name="AvgPool")


def _list(name: str, values: Sequence[int], length: int, minimum: int) -> tuple[int, ...]:
    if len(values) != length:
        raise UsageError(f"{name} has {plural(len(values), 'value')}; expected {length}, one per value of window_shape")
    if any(value < minimum for value in values):
        raise UsageError(f"{name} is {list(values)}; expected values of at least {minimum}")
    return tuple(int(value) for value in values)
