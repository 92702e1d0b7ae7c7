"""Pooling of IR v2 to v7, as windows of the time: see `pooling_plan`.

Source: 8,500 settings, measured on Inference Engine 2020.1.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ir_tools.graph import Source
from ir_tools.ops._equivalence import equal_plans
from ir_tools.ops._windows import AxisWindows, Pooling, WindowPlan, plan
from ir_tools.ops.definition import Array, Refused
from ir_tools.ops.fields import Attrs, OneOf
from ir_tools.ops.legacy._windows import (
    WINDOW_ATTRS,
    begin_pads,
    check_windows,
    end_pad,
    per_axis,
    respell,
    spatial_sizes,
)
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, legacy_type

__all__ = ["OPS"]

LOWEST = float(np.finfo(np.float32).min)
MIXED = (
    "for padded averages over volumes with several channels, Inference Engine 2020.1 divides some windows by "
    "wrong numbers; the new model divides by the right ones"
)


def pooling_plan(pooling: Pooling, sizes: Sequence[int], counts: Sequence[int]) -> WindowPlan:
    """Return the windows on an input with these spatial sizes, `counts` of them.

    An average divides by the elements that a window reads if `exclude-pad` is true. Otherwise a window is clipped at
    the end of the input plus as much padding as at its beginning; plus none where on no axis more windows are declared
    than fit without padding at the end.
    """
    axes = list(zip(sizes, counts, pooling.kernel, pooling.strides, pooling.pads_begin, strict=True))
    fitting = all(count == int((size - wide + begin) / step) + 1 for size, count, wide, step, begin in axes)
    windows = []
    for size, count, wide, step, begin in axes:
        start = np.arange(count, dtype=np.int64) * step - begin
        first, last = np.maximum(start, 0), np.minimum(start + wide, size) - 1
        end = size + (0 if fitting else begin)
        divisor = last - first + 1 if pooling.exclude_pad else np.minimum(start + wide, end) - start
        windows.append(AxisWindows(first, last, 1, np.where(last < first, 0, divisor)))
    return WindowPlan(tuple(windows))


def pooling(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return MaxPool or AvgPool; an average with other divisors is multiplied by constants."""
    known = spatial_sizes(layer)
    if isinstance(known, Refused):
        return known
    attrs, data, (sizes, counts) = layer.attrs, layer.inputs[0], known
    rank = len(sizes)
    kernel, strides, begins = per_axis(attrs, "kernel", rank), per_axis(attrs, "strides", rank), _begins(attrs, sizes)
    ends = tuple(map(end_pad, sizes, counts, strides, kernel, begins))
    if min(ends) < 0:
        ends = tuple(max(end, 0) for end in ends)
        layer.note("the file records fewer windows than the attributes define; the others are cut off")
    windows = Pooling(kernel=kernel, strides=strides, pads_begin=begins, pads_end=ends, dilations=(1,) * rank)
    found = _maximum(layer, data, windows) if attrs.pool_method == "max" else _average(layer, data, windows, counts)
    if list(layer.sizes(found)[2:]) == counts:
        return (found,)
    axes = list(range(2, rank + 2))
    return (layer.call("Slice", found, [0] * rank, counts, [1] * rank, axes),)


def _begins(attrs: Attrs, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the pads at the beginning; a word for `auto_pad` that is not known pads both sides alike."""
    strides = per_axis(attrs, "strides", len(sizes))
    if attrs.auto_pad.lower() in {"", "valid", "same_upper", "same_lower"}:
        return begin_pads(attrs, sizes, strides, attrs.kernel)
    return tuple(
        max(wide - (size % step or step), 0) // 2 for size, step, wide in zip(sizes, strides, attrs.kernel, strict=True)
    )


def _maximum(layer: LegacyLayer, data: Source, windows: Pooling) -> Source:
    if not _overlap(windows):
        data, windows = _padded(layer, data, windows, LOWEST), _bare(windows)
    indices = {"dilations": windows.dilations, "axis": 0, "index_element_type": "i64"}
    return layer.call("MaxPool", data, **_attributes(windows), **indices)


def _average(layer: LegacyLayer, data: Source, windows: Pooling, counts: Sequence[int]) -> Source:
    sizes, windows = layer.sizes(data), windows._replace(exclude_pad=layer.attrs.exclude_pad)
    if len(sizes) == 5 and sizes[1] > 1 and not layer.attrs.exclude_pad and any(windows.pads_begin):
        layer.note(MIXED)
    exclude = _exclude_pad(windows, sizes[2:], tuple(counts))
    if exclude is not None:
        return layer.call("AvgPool", data, **_attributes(windows), exclude_pad=exclude)
    padded = _padded(layer, data, windows, 0.0)
    found = layer.call("AvgPool", padded, **_attributes(_bare(windows)), exclude_pad=False)
    wanted = pooling_plan(windows, sizes[2:], counts)
    return layer.call("Multiply", found, _factors(wanted, windows.kernel, layer.sizes(found)[2:]))


@lru_cache(1024)
def _exclude_pad(windows: Pooling, sizes: tuple[int, ...], counts: tuple[int, ...]) -> bool | None:
    """Return with which `exclude_pad` an AvgPool divides as the windows of the time do; None if with neither."""
    wanted = pooling_plan(windows, sizes, counts)
    for exclude in (True, False) if _overlap(windows) else ():
        if equal_plans(wanted, plan(windows._replace(exclude_pad=exclude), sizes)) is None:
            return exclude
    return None


def _factors(wanted: WindowPlan, kernel: Sequence[int], counts: Sequence[int]) -> Array:
    """Return by what to multiply averages over whole kernels: `[1, 1, counts...]`; windows that read nothing give 0."""
    factors = np.ones((1, 1, *counts), np.float64)
    for axis, (windows, wide, count) in enumerate(zip(wanted.axes, kernel, counts, strict=True), 2):
        along = [1] * factors.ndim
        along[axis] = -1
        own = np.zeros(count)
        own[: len(windows.divisor)] = np.where(windows.divisor > 0, wide / np.maximum(windows.divisor, 1), 0)
        factors = factors * own.reshape(along)
    return factors.astype(np.float32)


def _overlap(windows: Pooling) -> bool:
    """Return whether every pad is smaller than the kernel, as the runtime demands."""
    pads = zip(windows.kernel, windows.pads_begin, windows.pads_end, strict=True)
    return all(max(begin, end) < wide for wide, begin, end in pads)


def _bare(windows: Pooling) -> Pooling:
    none = (0,) * windows.rank
    return windows._replace(pads_begin=none, pads_end=none)


def _attributes(windows: Pooling) -> dict[str, object]:
    """Return all attributes that both kinds of pooling have, so that nothing is left to be written in a later step."""
    own = {name: getattr(windows, name) for name in ("kernel", "strides", "pads_begin", "pads_end")}
    return {**own, "rounding_type": "floor", "auto_pad": "explicit"}


def _padded(layer: LegacyLayer, data: Source, windows: Pooling, value: float) -> Source:
    begins, ends = [0, 0, *windows.pads_begin], [0, 0, *windows.pads_end]
    if not any((*begins, *ends)):
        return data
    return layer.call("Pad", data, begins, ends, value, pad_mode="constant")


OPS = (
    legacy_type(
        "Pooling",
        pooling,
        attrs={
            **{name: field for name, field in WINDOW_ATTRS.items() if name != "dilations"},
            "pool_method": OneOf(xml="pool-method", words=("max", "avg"), default="max"),
            "exclude_pad": LegacyFlag(xml="exclude-pad", default=False),
            "rounding_type": OneOf(words=("ceil", "floor"), default="ceil"),
        },
        respell=respell,
        check=check_windows,
    ),
)
