"""Quantization in IR v2 to v7: FakeQuantize, which is Quantize before v6.

Source: measured on Inference Engine 2020.1.
"""

import numpy as np

from ir_tools.graph import Source
from ir_tools.ops.definition import Float, Input
from ir_tools.ops.legacy._tensors import as_floats
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


def fake_quantize(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input rounded to levels; of two levels, where both input limits are equal, one of the output limits.

    FakeQuantize of today gives NaN for equal limits, as those of binary networks are.
    """
    data, *limits = (as_floats(layer, each) for each in layer.inputs)
    low, high, out_low, out_high = (_by_channel(layer, each, data) for each in limits)
    levels = int(layer.attrs.levels)
    lowest, highest = layer.numbers(limits[0]), layer.numbers(limits[1])
    equal = np.zeros(1, bool)
    if levels == 2 and lowest is not None and highest is not None:
        equal = np.asarray(lowest == highest)
    if equal.all():
        return (layer.call("Select", layer.call("Greater", data, low), out_high, out_low),)
    found = layer.call("FakeQuantize", data, low, high, out_low, out_high, levels=levels)
    if not equal.any():
        return (found,)
    binary = layer.call("Select", layer.call("Greater", data, low), out_high, out_low)
    return (layer.call("Select", _by_channel(layer, layer.constant(equal), data), binary, found),)


def _by_channel(layer: LegacyLayer, limit: Source, data: Source) -> Source:
    """Return a limit that is a list as one for each channel."""
    sizes, rank = layer.sizes(limit), len(layer.sizes(data))
    if len(sizes) != 1 or sizes == (1,) or rank < 2:
        return limit
    return layer.call("Reshape", limit, [1, *sizes, *[1] * (rank - 2)], special_zero=False)


OPS = tuple(
    legacy_type(
        name,
        fake_quantize,
        inputs=(Input("data"), Input("input_low"), Input("input_high"), Input("output_low"), Input("output_high")),
        attrs={"levels": Float(minimum=2)},
    )
    for name in ("FakeQuantize", "Quantize")
)
