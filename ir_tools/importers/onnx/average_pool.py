"""Describe ONNX AveragePool, versions 1, 7, 10, 11, 19 and 22, as windows and divisors.

Sources: the operator's page for each version; the node tests of the `onnx` package if a page does not specify a case or
contradicts them. An attribute that a version lacks (`count_include_pad` before 7, `ceil_mode` before 10, `dilations`
before 19) has its default value there, so the attributes determine the result for every version.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ir_tools import parameters
from ir_tools.display import plural
from ir_tools.errors import UsageError
from ir_tools.ops import AutoPad, Pooling, PoolingSpec
from ir_tools.parameters import checked, optional

__all__ = ["SINCE", "average_pool", "disputed"]

SINCE: Mapping[str, int] = {
    "auto_pad": 1,
    "kernel_shape": 1,
    "pads": 1,
    "strides": 1,
    "count_include_pad": 7,
    "ceil_mode": 10,
    "dilations": 19,
}
"""The attributes, each with the version of AveragePool that introduced it."""

AUTO_PADS: Mapping[str, AutoPad] = {
    "NOTSET": "explicit",
    "": "explicit",
    "VALID": "valid",
    "SAME_UPPER": "same_upper",
    "SAME_LOWER": "same_lower",
}


@dataclass(frozen=True, slots=True)
class _Settings:
    """Hold the attributes, checked, one entry per spatial axis."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    dilations: tuple[int, ...]
    auto_pad: AutoPad
    ceil: bool
    counts: bool


@checked(attributes=parameters.ATTRIBUTES, rank=optional(parameters.COUNT))
def average_pool(attributes: Mapping[str, Any], rank: int | None = None) -> PoolingSpec:
    """Describe what an AveragePool node computes.

    - Number of windows: rounded down; with `ceil_mode=1` rounded up, without a last window that would start in the
      padding after the input (node test `averagepool_2d_ceil_last_window_starts_on_pad`). `SAME_*` always has
      `ceil(size / stride)` windows; a negative total padding is taken as 0. `VALID` with `ceil_mode=1` has as many
      windows as explicit padding of 0, as in onnx's shape inference and the runtimes, not as in the page's formula.
    - Divisor: the number of elements that the window reads; with `count_include_pad=1` the number of positions of the
      *padded* input that it covers.

    Args:
        attributes: the attributes by ONNX name; `auto_pad` as text or bytes.
        rank: the number of spatial axes of the input, if it is known.

    Returns:
        The windows and the divisor, in the form that all average poolings share.

    Raises:
        UsageError: an attribute is missing, has the wrong length or is out of range, or an argument has the wrong type.

    Example:
        >>> meaning = ir_tools.onnx.average_pool({"kernel_shape": [2, 2], "strides": [2, 2]})
        >>> meaning.pooling.strides, meaning.divisor
        ((2, 2), 'real')
    """
    settings = _settings(attributes, rank)
    same = settings.auto_pad.startswith("same")
    pooling = Pooling(
        kernel=settings.kernel,
        strides=settings.strides,
        pads_begin=settings.begins,
        pads_end=settings.ends,
        dilations=settings.dilations,
        rounding="ceil_torch" if settings.ceil and not same else "floor",
        auto_pad=settings.auto_pad,
        exclude_pad=not settings.counts,
    )
    return PoolingSpec(pooling, divisor="padded" if settings.counts else "real")


def disputed(attributes: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings that the specification leaves open or that contradict its tests, and how they are treated."""
    settings = _settings(attributes, None)
    pads = (*settings.begins, *settings.ends)
    if settings.auto_pad != "explicit" and any(pads):
        yield "both auto_pad and pads are set; pads are ignored"
    if settings.auto_pad == "valid" and settings.ceil:
        yield (
            "auto_pad=VALID with ceil_mode=1: the number of windows is that of pads of 0, as in shape "
            "inference and the runtimes; the formula on the operator's page may give one window less"
        )


def _settings(attributes: Mapping[str, Any], rank: int | None) -> _Settings:
    kernel = tuple(int(size) for size in attributes.get("kernel_shape") or ())
    if not kernel:
        raise UsageError("kernel_shape is missing or empty")
    axes = len(kernel)
    if rank is not None and axes != rank:
        raise UsageError(f"kernel_shape has {plural(axes, 'value')}, but the input has {rank} spatial axes")
    pads = _list(attributes, "pads", 2 * axes, 0)
    auto_pad = attributes.get("auto_pad", "NOTSET")
    word = auto_pad.decode() if isinstance(auto_pad, bytes) else str(auto_pad)
    if word not in AUTO_PADS:
        raise UsageError(f"auto_pad is '{word}'; expected one of NOTSET, VALID, SAME_UPPER, SAME_LOWER")
    settings = _Settings(
        kernel=kernel,
        strides=_list(attributes, "strides", axes, 1),
        begins=pads[:axes],
        ends=pads[axes:],
        dilations=_list(attributes, "dilations", axes, 1),
        auto_pad=AUTO_PADS[word],
        ceil=_flag(attributes, "ceil_mode"),
        counts=_flag(attributes, "count_include_pad"),
    )
    for name, values, minimum in (
        ("kernel_shape", kernel, 1),
        ("strides", settings.strides, 1),
        ("pads", pads, 0),
        ("dilations", settings.dilations, 1),
    ):
        if any(value < minimum for value in values):
            raise UsageError(f"{name} is {list(values)}; expected at least {minimum} for each")
    return settings


def _list(attributes: Mapping[str, Any], name: str, length: int, default: int) -> tuple[int, ...]:
    values = tuple(int(value) for value in attributes.get(name) or ())
    if not values:
        return (default,) * length
    if len(values) != length:
        raise UsageError(f"{name} has {plural(len(values), 'value')}; expected {length} for this kernel_shape")
    return values


def _flag(attributes: Mapping[str, Any], name: str) -> bool:
    value = int(attributes.get(name, 0))
    if value not in {0, 1}:
        raise UsageError(f"{name} is {value}; expected 0 or 1")
    return bool(value)
