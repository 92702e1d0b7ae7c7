"""Images of another size in IR v2 to v7: Interp, Resample.

Source: measured on Inference Engine 2020.1, which gives every output the sizes that the file declares.
"""

import numpy as np

from ir_tools.graph import Source
from ir_tools.ops.definition import Array, Input, Refused
from ir_tools.ops.fields import Float, Int, OneOf
from ir_tools.ops.legacy._tensors import as_floats, declared_sizes
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, legacy_type

__all__ = ["OPS"]

PAST_THE_END = (
    "Inference Engine 2020.1 may read past the end of an image that it enlarges 4 times; the new model does not"
)


def interp(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return rows and columns interpolated between the nearest two, after cutting off what the pads say."""
    attrs, data = layer.attrs, as_floats(layer, layer.inputs[0])
    if attrs.pad_beg > 0 or attrs.pad_end > 0:
        side = "pad_beg" if attrs.pad_beg > 0 else "pad_end"
        return Refused("is above 0, with which Inference Engine 2020.1 reads memory outside the image", side)
    if attrs.pad_beg or attrs.pad_end:
        ends = [size + attrs.pad_end for size in layer.sizes(data)[2:]]
        data = layer.call("Slice", data, [-attrs.pad_beg] * 2, ends, [1, 1], [2, 3])
    mode = "align_corners" if attrs.align_corners else "asymmetric"
    return (_interpolated(layer, data, "linear_onnx", mode),)


def resample(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return rows and columns taken from the nearest one, or averaged with weights that fall with the distance."""
    attrs, data = layer.attrs, as_floats(layer, layer.inputs[0])
    if attrs.type == NEAREST:
        return (_interpolated(layer, data, "nearest", "half_pixel"),)
    pairs = [*zip(layer.sizes(data)[2:], declared_sizes(layer)[2:], strict=True)]
    if all(output == 4 * size for size, output in pairs):
        if pairs[-1] == (2, 8) or min(pairs) == (1, 4):
            return Refused(
                "it enlarges an axis of 1 or 2 elements 4 times, for which Inference Engine 2020.1 reads "
                "outside the image"
            )
        layer.note(PAST_THE_END)
    if attrs.antialias and any(size > output for size, output in pairs):
        rows, columns = (_averages(size, output) for size, output in pairs)
        return (layer.call("MatMul", layer.call("MatMul", rows, data), columns, transpose_b=True),)
    return (_interpolated(layer, data, "linear", "half_pixel"),)


def _interpolated(layer: LegacyLayer, data: Source, mode: str, coordinates: str) -> Source:
    """Return an image in the declared size; the scales are not read then."""
    sizes = declared_sizes(layer)[2:]
    return layer.call(
        "Interpolate",
        data,
        sizes,
        [1.0] * len(sizes),
        [*range(2, 2 + len(sizes))],
        mode=mode,
        shape_calculation_mode="sizes",
        coordinate_transformation_mode=coordinates,
        nearest_mode="round_prefer_ceil",
    )


def _averages(size: int, output: int) -> Array:
    """Return the weight of each input element in each output element: a triangle as wide as the step, or all 0."""
    step = np.float32(size / output)
    places = np.arange(output, dtype=np.float32)[:, None] * step + step / 2 - np.float32(0.5)
    distances = (places - np.arange(size, dtype=np.float32)) / step
    weights = np.maximum(np.float32(0), 1 - np.abs(distances))
    sums = weights.sum(1, keepdims=True)
    return np.asarray(weights / np.where(sums == 0, 1, sums))


NEAREST, LINEAR = "caffe.resampleparameter.nearest", "caffe.resampleparameter.linear"
DATA_AND_LIKE = (Input("data"), Input("like", optional=True))
OPS = (
    legacy_type(
        "Interp",
        interp,
        inputs=DATA_AND_LIKE,
        attrs={
            "align_corners": LegacyFlag(default=True),
            "pad_beg": Int(default=0),
            "pad_end": Int(default=0),
            "width": Int(default=0),
            "height": Int(default=0),
            "factor": Float(default=0.0),
            "zoom_factor": Float(default=0.0),
            "shrink_factor": Float(default=0.0),
        },
    ),
    legacy_type(
        "Resample",
        resample,
        inputs=DATA_AND_LIKE,
        attrs={
            "type": OneOf(words=(NEAREST, LINEAR)),
            "antialias": LegacyFlag(default=False),
            "factor": Float(default=0.0),
            "width": Int(default=0),
            "height": Int(default=0),
        },
    ),
)
