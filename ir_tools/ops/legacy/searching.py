"""The largest elements and decoding by them in IR v2 to v7: TopK, ArgMax, CTCGreedyDecoder.

Source: measured on Inference Engine 2020.1, which gives places as floats.
"""

from ir_tools.graph import Source
from ir_tools.ops.definition import Input, Output
from ir_tools.ops.fields import Int, OneOf
from ir_tools.ops.legacy._tensors import as_declared, as_floats, declared_sizes
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, legacy_type

__all__ = ["OPS"]


def top_k(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the largest or smallest elements along an axis, as many as the file declares, and their places."""
    attrs = layer.attrs
    count = declared_sizes(layer)[attrs.axis]
    order = "value" if attrs.sort == "value" else "index"
    return _largest(layer, layer.inputs[0], count, attrs.axis, attrs.mode, order)


def arg_max(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the places of the largest elements along an axis, or the elements themselves.

    Without an axis, of all elements of each image: their places, and with `out_max_val` also the elements.
    """
    attrs, data = layer.attrs, layer.inputs[0]
    if attrs.axis is not None:
        values, places = _largest(layer, data, attrs.top_k, attrs.axis)
        return (values if attrs.out_max_val else places,)
    values, places = _largest(layer, layer.call("Reshape", data, [0, 1, -1], special_zero=True), attrs.top_k, 2)
    found = layer.call("Concat", as_floats(layer, places), values, axis=1) if attrs.out_max_val else places
    return (as_declared(layer, found),)


def ctc_greedy_decoder(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the classes of each sequence without blanks and repetitions, whatever `ctc_merge_repeated` is."""
    data, mask = layer.inputs
    return (as_declared(layer, layer.call("CTCGreedyDecoder", data, mask, ctc_merge_repeated=True)),)


def _largest(
    layer: LegacyLayer, data: Source, count: int, axis: int, mode: str = "max", sort: str = "value"
) -> tuple[Source, Source]:
    """Return values and places."""
    values, places = layer.outputs("TopK", as_floats(layer, data), count, axis=axis, mode=mode, sort=sort)
    return values, places


OPS = (
    legacy_type(
        "TopK",
        top_k,
        inputs=(Input("data"), Input("k")),
        outputs=(Output("values"), Output("indices")),
        attrs={
            "axis": Int(default=-1),
            "mode": OneOf(words=("max", "min"), default="max"),
            "sort": OneOf(words=("value", "index", "none"), default="index"),
        },
    ),
    legacy_type(
        "ArgMax",
        arg_max,
        attrs={"axis": Int(default=None), "top_k": Int(default=1, minimum=1), "out_max_val": LegacyFlag(default=False)},
    ),
    legacy_type(
        "CTCGreedyDecoder",
        ctc_greedy_decoder,
        inputs=(Input("data"), Input("sequence_indicators")),
        attrs={"ctc_merge_repeated": LegacyFlag(default=True)},
    ),
)
