"""Express FakeQuantize by other layers, for releases that do not run it."""

from ir_tools.ops._layers import DATA, Layers, by_formula
from ir_tools.ops.definition import Ref, Refused
from ir_tools.ops.fields import Attrs

__all__ = ["quantize"]


@by_formula(
    (
        "round((x - low) / (high - low) * (levels - 1)) / (levels - 1) * (out_high - out_low) + out_low, with x "
        "clamped to the limits"
    ),
    wide=True,
)
def quantize(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite FakeQuantize with the arithmetic of the CPU plugin."""
    if attrs.auto_broadcast == "pdpd":
        return Refused(
            "is pdpd, but the layers that would replace this one support numpy broadcasting only", "auto_broadcast"
        )
    if not attrs.levels:
        return Refused("is missing, so the layer does not quantize", "levels")
    if not layers.fact(DATA).dtype.is_float:
        return Refused("rounds integers in its own way", "levels")
    data = layers.working(0)
    low, high, out_low, out_high = (layers.to_type(limit, layers.fact(data).dtype) for limit in layers.given[1:])
    lower, upper, last = (
        layers.call("Minimum", low, high),
        layers.call("Maximum", low, high),
        layers.number(attrs.levels - 1, data),
    )
    scale = layers.call("Divide", last, layers.call("Subtract", high, low))
    inside = layers.call("Maximum", layers.call("Minimum", data, upper), lower)
    place = layers.call("Subtract", layers.call("Multiply", inside, scale), layers.call("Multiply", low, scale))
    level = layers.call("Round", place, mode="half_to_even")
    step = layers.call("Divide", layers.call("Subtract", out_high, out_low), last)
    between = layers.call("Add", layers.call("Multiply", level, step), out_low)
    above = layers.call("Select", layers.call("Greater", data, upper), out_high, between)
    return layers.call("Select", layers.call("LessEqual", data, lower), out_low, above)
