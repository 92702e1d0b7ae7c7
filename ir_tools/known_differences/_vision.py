"""Images, regions and sorting, where the CPU plugin and what works constants out before running do not agree."""

from collections.abc import Sequence

import numpy as np

from ir_tools.known_differences._define import Instance, KnownDifference, Mask, unwritten
from ir_tools.known_differences._model import Call, Fixed, counted, floats, whole
from ir_tools.ops import Array

__all__ = ["ROWS"]

SIZES = {"mode": "linear", "shape_calculation_mode": "sizes"}
INTERPOLATE = ("Interpolate-1", "Interpolate-4", "Interpolate-11")


def resized(
    shape: Sequence[int],
    axes: Sequence[int],
    sizes: Sequence[int],
    *,
    constant: bool = False,
    kind: str = "f4",
    **raw: str,
) -> Call:
    """Return Interpolate-11 to given sizes of counted elements."""
    data = (counted(*shape) * 13).astype(kind)
    return Call(
        "Interpolate-11",
        (Fixed(data) if constant else data, Fixed(whole(*sizes)), Fixed(whole(*axes))),
        {**SIZES, **raw},
    )


def _named(layer: Instance) -> bool:
    """Return whether the last input of an Interpolate names the axes."""
    return len(layer.inputs) > 2 and layer.inputs[-1].dtype.kind in "iu"


def _axes(layer: Instance) -> list[int]:
    """Return the axes that an Interpolate resizes: all where none are named."""
    if "axes" in layer.attrs:
        return list(layer.attrs.axes)
    return layer.inputs[-1].ravel().tolist() if _named(layer) else list(range(layer.inputs[0].ndim))


def _changed(layer: Instance) -> list[int]:
    """Return the axes along which an Interpolate changes the size, or takes another factor than 1."""
    axes, sizes = _axes(layer), layer.inputs[0].shape
    if _padded(layer):
        return axes
    if "shape_calculation_mode" in layer.attrs and layer.attrs.shape_calculation_mode == "scales":
        given, sizes = next(one for one in layer.inputs[1:] if one.dtype.kind in "fV"), (1,) * len(sizes)
    else:
        given = layer.inputs[1]
    return [axis for axis, number in zip(axes, given.ravel().tolist(), strict=False) if number != sizes[axis]]


def _by_core(layer: Instance) -> bool:
    """Return whether OpenVINO's core resizes: all inputs are constants, or the axes are not."""
    return _all_constant(layer) or (_named(layer) and len(layer.inputs) - 1 not in layer.constant)


def _all_constant(layer: Instance) -> bool:
    return set(range(len(layer.inputs))) <= set(layer.constant)


def _padded(layer: Instance) -> bool:
    return any(layer.attrs.pads_begin + layer.attrs.pads_end)


def _without_score(outputs: Sequence[Array]) -> list[Mask | None]:
    """Return regions whose score is 0."""
    none = outputs[1] <= 0
    return [np.broadcast_to(none[:, None], outputs[0].shape), none]


def _turned(layer: Instance) -> bool:
    """Return whether the layer is padded, and the plugin moves the few axes, which are not the last, to the end."""
    axes, rank = _axes(layer), layer.inputs[0].ndim
    return _padded(layer) and len(axes) <= rank - 2 and any(axis < 2 for axis in axes)


def _out_of_order(layer: Instance) -> bool:
    """Return whether other sizes than in the order of the axes are given."""
    pairs = [*zip(layer.attrs.axes, layer.inputs[1].ravel().tolist(), strict=False)]
    return [size for _, size in sorted(pairs)] != [size for _, size in pairs]


ROWS = (
    KnownDifference(
        name="Interpolate-1 axes out of order",
        ops=("Interpolate-1",),
        setting="`axes` that are not in ascending order",
        reason="OpenVINO sorts the axes, not the sizes; by the specification the first size is that of the first axis.",
        model=Call("Interpolate-1", (counted(1, 1, 2, 4), Fixed(whole(3, 5))), {"mode": "nearest", "axes": "3,2"}),
        applies=_out_of_order,
    ),
    KnownDifference(
        name="Interpolate with pads along axes before the last ones",
        ops=INTERPOLATE,
        setting="pads, and axes that include 0 or 1, not more of them than the data has spatial axes",
        reason="The plugin moves the axes to the end but not the pads, so the output has another shape than inferred.",
        model=resized((1, 2, 3, 4), (1,), (4,), pads_begin="0,0,0,1", pads_end="0,0,1,0"),
        applies=_turned,
    ),
    unwritten(
        name="Interpolate cubic along more than two axes",
        ops=INTERPOLATE,
        setting="mode `cubic`, data of rank 3 or 4, and an axis before the last two whose size changes",
        reason="The plugin interpolates only along two axes; the other elements are copied or left uninitialized.",
        model=resized((2, 3, 4), (0, 1, 2), (4, 6, 8), mode="cubic"),
        applies=lambda layer: (
            layer.attrs.mode == "cubic"
            and layer.inputs[0].ndim < 5
            and len(_axes(layer)) != 1
            and any(axis < layer.inputs[0].ndim - 2 for axis in _changed(layer))
        ),
    ),
    KnownDifference(
        name="Interpolate of integers before running",
        ops=INTERPOLATE,
        setting="integers, and either only constant inputs or axes that are not constants",
        reason="OpenVINO's core truncates values that the plugin rounds, and wraps them around.",
        model=resized((1, 1, 2, 3), (2, 3), (5, 7), constant=True, kind="u1", mode="linear_onnx"),
        applies=lambda layer: layer.kind() in {"i", "u"} and _by_core(layer),
    ),
    KnownDifference(
        name="Interpolate before running",
        ops=("Interpolate-4", "Interpolate-11"),
        setting=(
            "`antialias` in mode `linear`, or mode `bicubic_pillow`, with data of rank 4 or less, and either only "
            "constant inputs or axes that are not constants"
        ),
        reason=(
            "OpenVINO's core applies both settings; the plugin applies neither, and the reference follows the plugin."
        ),
        model=resized((1, 1, 4, 6), (2, 3), (3, 3), constant=True, antialias="true"),
        applies=lambda layer: (
            layer.inputs[0].ndim < 5
            and _by_core(layer)
            and (layer.attrs.mode == "bicubic_pillow" or layer.attrs.antialias)
        ),
    ),
    KnownDifference(
        name="TopK in no order before running",
        ops=("TopK-1", "TopK-3", "TopK-11"),
        setting='`sort="none"`, and constant inputs',
        reason=(
            "OpenVINO's core returns the selected elements in the order of a partial sort; the plugin and the "
            "reference sort them."
        ),
        model=Call(
            "TopK-3",
            (Fixed(floats(-4, 6, -0.5)), Fixed(np.array(3))),
            {"axis": "0", "mode": "min", "sort": "none"},
        ),
        applies=lambda layer: layer.attrs.sort == "none" and _all_constant(layer),
    ),
    KnownDifference(
        name="Proposals of one image, of small boxes",
        ops=("ExperimentalDetectronGenerateProposalsSingleImage-6",),
        setting="boxes smaller than `min_size`",
        reason=(
            "All such boxes have score 0, and their order is arbitrary, which also changes which boxes are suppressed."
        ),
        model=Call(
            "ExperimentalDetectronGenerateProposalsSingleImage-6",
            (
                floats(60, 60, 1),
                (counted(40, 4) % 50) + floats(0, 0, 9, 9),
                np.zeros((4, 5, 8), np.float32),
                counted(1, 5, 8) + 1,
            ),
            {"min_size": "30", "nms_threshold": "0.7", "pre_nms_count": "40", "post_nms_count": "40"},
        ),
        applies=lambda layer: layer.attrs.min_size > 0,
        arbitrary=_without_score,
    ),
)
