"""Quantization in IR v2 to v7: FakeQuantize, which is Quantize before v6.

Source: measured on Inference Engine 2020.1.
"""

from collections.abc import Sequence

import numpy as np

from ir_tools.graph import Source
from ir_tools.ops.definition import Array, Input
from ir_tools.ops.fields import Float
from ir_tools.ops.legacy._tensors import as_floats
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


BITS = (
    "Inference Engine 2020.1 packs the output into bits, which only BinaryConvolution can read; the new model "
    "outputs the limits"
)

SMALLEST = np.finfo(np.float32).tiny
"""The smallest number that the CPU does not take for 0."""


def fake_quantize(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input rounded to levels."""
    data, *limits = (as_floats(layer, each) for each in layer.inputs)
    low, high, out_low, out_high = (_by_channel(layer, each, data) for each in limits)
    levels = int(layer.attrs.levels)
    numbers = [layer.numbers(limit) for limit in (low, high, out_low, out_high)]
    if levels == 2 and all(found is not None for found in numbers):
        return (_one_of_two(layer, data, [found for found in numbers if found is not None]),)
    return (layer.call("FakeQuantize", data, low, high, out_low, out_high, levels=levels),)


def _one_of_two(layer: LegacyLayer, data: Source, limits: Sequence[Array]) -> Source:
    """Return the lower or the upper output limit.

    The input is high from the middle of its limits on; if they are equal, as in binary networks, or swapped, above the
    first of them. FakeQuantize of today gives the lower output limit in the middle, and NaN for equal limits.

    Output limits that are all 0 or 1 make bits: high above the first limit, and low is the opposite of high.
    """
    low, high, out_low, out_high = limits
    middle = (low + high) / 2
    below = np.where(middle == 0, -SMALLEST, np.nextafter(middle, np.float32(-np.inf)))
    threshold = np.where(low < high, below, low)
    if np.isin(out_low, (0, 1)).all() and np.isin(out_high, (0, 1)).all():
        if "binaryconvolution" in layer.readers:
            threshold, out_low = low, 1 - out_high
        if layer.readers != {"binaryconvolution"}:
            layer.note(BITS)
    return layer.call("Select", layer.call("Greater", data, threshold), out_high, out_low)


def _by_channel(layer: LegacyLayer, limit: Source, data: Source) -> Source:
    """Return a limit that is a list as one for each channel."""
    sizes, rank = layer.sizes(limit), len(layer.sizes(data))
    if len(sizes) != 1 or sizes == (1,) or rank < 2:
        return limit
    shape = [1, *sizes, *[1] * (rank - 2)]
    numbers = layer.numbers(limit)
    if numbers is not None:
        return layer.constant(numbers.reshape(shape))
    return layer.call("Reshape", limit, shape, special_zero=False)


OPS = tuple(
    legacy_type(
        name,
        fake_quantize,
        inputs=(Input("data"), Input("input_low"), Input("input_high"), Input("output_low"), Input("output_high")),
        attrs={"levels": Float(minimum=2)},
    )
    for name in ("FakeQuantize", "Quantize")
)
