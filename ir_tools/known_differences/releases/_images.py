"""Images: Interpolate, patches, color."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ir_tools.known_differences._model import PLANE, Call, Fixed, Given, converted, counted, floats, whole
from ir_tools.known_differences.releases._predicates import has_rank, has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read, not_run
from ir_tools.known_differences.releases._samples import READING_NOTHING
from ir_tools.known_differences.releases.seen import Seen
from ir_tools.ops.image import padded_dims, pads
from ir_tools.releases.measured import State
from ir_tools.types import is_static

__all__ = ["ROWS"]

INTERPOLATE = ("Interpolate-1", "Interpolate-4", "Interpolate-11")
AXES = {"Interpolate-4": 3, "Interpolate-11": 2}


def _in_five_dimensions(mode: str) -> Callable[[Seen], bool]:
    """Return whether an Interpolate of a mode has data of five dimensions."""
    return lambda seen: has_value("mode", mode)(seen) and has_rank(seen, 5)


def _named_axes(seen: Seen) -> list[int]:
    """Return the axes that an Interpolate names, or all; unknown: empty."""
    if str(seen.op) == "Interpolate-1":
        return [] if seen.attrs is None else list(seen.attrs.axes)
    axes = seen.inputs[AXES[str(seen.op)] :]
    return (axes[0].integers() or []) if axes else list(range(len(seen.inputs[0].shape or ())))


def _resized(seen: Seen) -> set[int]:
    """Return the axes that get another size than that of the padded data.

    Of unknown sizes they are those that the layer names, if not all are named.
    """
    before, after, attrs = seen.inputs[0].shape, seen.outputs[0].shape, seen.attrs
    if not before or not after or attrs is None:
        return set()
    named = _named_axes(seen)
    dims = before if str(seen.op) == "Interpolate-1" else padded_dims(attrs, before)
    return {
        axis
        for axis, (old, new) in enumerate(zip(dims, after, strict=False))
        if (old != new if old.static and new.static else len(named) < len(dims) and axis in named)
    }


def _resizes_most(seen: Seen) -> bool:
    """Return whether an Interpolate of three or four dimensions resizes batch or channels, and names all but one."""
    rank = len(seen.inputs[0].shape or ())
    return rank in {3, 4} and len(_named_axes(seen)) >= rank - 1 and not _resized(seen).isdisjoint({0, 1})


def _has_more_sizes_than_axes(seen: Seen) -> bool:
    """Return whether the axes, all of them if none are given, are known to be fewer than the sizes or scales."""
    sizes, axes = (seen.inputs[number].shape if number < len(seen.inputs) else None for number in (1, 2))
    count = axes[0].hi if axes else len(seen.inputs[0].shape or ())
    return bool(sizes and count and sizes[0].lo > count)


def _is_constant_by_narrow(seen: Seen, number: int) -> bool:
    """Return whether constant data are resized by sizes or axes of i32."""
    return 0 in seen.constant and len(seen.inputs) > number and seen.inputs[number].dtype.name == "i32"


def _is_static(seen: Seen) -> bool:
    """Return whether all sizes of the data and the output are known."""
    return is_static(seen.inputs[0].shape) and is_static(seen.outputs[0].shape)


def _padded_axes(seen: Seen) -> set[int]:
    """Return the axes that an Interpolate pads."""
    attrs, shape = seen.attrs, seen.inputs[0].shape
    return {axis for axis, both in enumerate(pads(attrs, len(shape))) if any(both)} if attrs and shape else set()


def _misplaces_pads(seen: Seen) -> bool:
    """Return whether an Interpolate names batch or channels, but not all axes, and has a pad that goes to another axis.

    Pads of a batch that is not named are right, and those of the last axis, if it is named last.
    """
    axes, last = _named_axes(seen), len(seen.inputs[0].shape or ()) - 1
    if last < 2 or not {0, 1} & {*axes} or len(axes) > last or _resizes_most(seen):
        return False
    return bool(_padded_axes(seen) - ({last} & {*axes[-1:]}) - ({0} - {*axes}))


def _pads_beside_lines(seen: Seen) -> bool:
    """Return whether an Interpolate that resizes the last of three axes has pads before the data along another one."""
    return has_rank(seen, 3) and 2 in _resized(seen) and seen.attrs is not None and any(seen.attrs.pads_begin[:2])


def _is_of_least_height(seen: Seen) -> bool:
    """Return whether an image conversion has one plane, and its least height may be more than that of an image."""
    shape = seen.inputs[0].shape
    return len(seen.inputs) == 1 and shape is not None and not shape[1].static and shape[1].lo > 2


def _interpolated(seen: Seen) -> tuple[str, bool, tuple[int, ...]]:
    """Return mode, whether corners are aligned, and the axes of an Interpolate-1; of no meaning: empty."""
    attrs = seen.attrs
    return ("", False, ()) if attrs is None else (attrs.mode, attrs.align_corners, tuple(attrs.axes))


def _pads_beside_axes(seen: Seen) -> bool:
    """Return whether an Interpolate-1 pads axes that get no other size."""
    attrs = seen.attrs
    if attrs is None:
        return False
    return any(
        pad for given in (attrs.pads_begin, attrs.pads_end) for axis, pad in enumerate(given) if axis not in attrs.axes
    )


def _shrinks(seen: Seen) -> bool:
    """Return whether an axis may get smaller."""
    before, after = seen.inputs[0].shape, seen.outputs[0].shape
    if before is None or after is None:
        return True
    return any(new.hi is None or new.hi < old.lo for old, new in zip(before, after, strict=False))


def _is_resized_between(seen: Seen) -> bool:
    """Return whether an axis may get another size, which is not a multiple unless corners are aligned."""
    pairs = zip(seen.inputs[0].shape or (), seen.outputs[0].shape or (), strict=False)
    aligned = _interpolated(seen)[1]
    return any(
        old != new if aligned or not (old.static and new.static) else bool(new.size % old.size) for old, new in pairs
    )


def _is_mostly_padding(seen: Seen) -> bool:
    """Return whether the padding of an ExtractImagePatches before its data is known to be larger than these."""
    attrs, data, found = seen.attrs, seen.inputs[0].shape, seen.outputs[0].shape
    if attrs is None or attrs.auto_pad == "valid" or data is None or found is None:
        return False
    added = int(attrs.auto_pad == "same_lower")
    return any(
        old.static and ((new.lo - 1) * stride + (size - 1) * rate + 1 - old.lo + added) // 2 > old.lo
        for size, stride, rate, old, new in zip(
            attrs.sizes, attrs.strides, attrs.rates, data[2:], found[2:], strict=False
        )
    )


def _interpolate(axes: str, *sizes: int, mode: str = "linear") -> Call:
    raw = {"mode": mode, "axes": axes, "align_corners": "false", "antialias": "false"}
    return Call("Interpolate-1", (counted(2, 2, 6, 4), Fixed(whole(*sizes))), raw)


def _padded(shape: Sequence[int], axes: Sequence[int], before: Sequence[int]) -> Call:
    """Return an Interpolate-4 of counted elements, padded and then resized to nine of the nearest ones along axes."""
    count = len(axes)
    return Call(
        "Interpolate-4",
        (counted(*shape), Fixed(whole(*(9,) * count)), Fixed(floats(*(1,) * count)), Fixed(whole(*axes))),
        {"mode": "nearest", "shape_calculation_mode": "sizes", "pads_begin": ",".join(map(str, before))},
    )


ROWS = (
    *(
        ReleaseDifference(
            name=f"spectra along no axes, {span}",
            span=span,
            ops=("DFT-7", "IDFT-7"),
            reason="The output, which is equal to the data, is uninitialized.",
            model=Call("DFT-7", (counted(2, 4, 2), Fixed(whole()))),
            applies=lambda seen: seen.inputs[1].dims == (0,),
        )
        for span in READING_NOTHING
    ),
    not_compiled(
        name="spectra of a computed size",
        span="2022.2 to 2026.4",
        ops=("RDFT-9", "IRDFT-9"),
        reason="A computed `signal_size` is compiled only for data of unknown size.",
        model=Call("RDFT-9", (counted(2, 4), Fixed(whole(1)), whole(3))),
        applies=lambda seen: len(seen.inputs) > 2 and 2 not in seen.constant and is_static(seen.inputs[0].shape),
    ),
    *(
        ReleaseDifference(
            name=f"IRDFT along computed axes, {span}",
            span=span,
            ops=("IRDFT-9",),
            state=state,
            reason="Computed axes of data of known sizes are not compiled, or end the process.",
            model=Call("IRDFT-9", (counted(2, 4, 2), whole(1))),
            instead=("input 1",),
            applies=lambda seen: 1 not in seen.constant and all(is_static(fact.shape) for fact in seen.inputs[:2]),
        )
        for span, state in (("2022.2 to 2023.2", State.UNCOMPILED), ("2023.3 to 2026.4", State.DIES))
    ),
    not_compiled(
        name="IRDFT along any number of axes",
        span="2022.2 to 2022.3",
        ops=("IRDFT-9",),
        reason="An unknown number of axes is not compiled.",
        model=Call("IRDFT-9", (counted(2, 4, 2), Given(whole(1), "?"))),
        applies=lambda seen: not is_static(seen.inputs[1].shape),
    ),
    not_read(
        name="Interpolate-4 of f64",
        span="2021.2 to 2026.2",
        ops=("Interpolate-4",),
        reason="f64 data is not supported: the model is not read.",
        model=Call(
            "Interpolate-4",
            (converted(counted(1, 1, 2, 2), "f64"), Fixed(whole(4, 4)), Fixed(floats(2, 2)), Fixed(whole(2, 3))),
            {"mode": "nearest", "shape_calculation_mode": "sizes"},
        ),
        types="f64",
    ),
    not_compiled(
        name="Interpolate-1 of f64",
        span="2021.3 to 2026.2",
        ops=("Interpolate-1",),
        reason="f64 data is not compiled.",
        model=Call(
            "Interpolate-1",
            (converted(counted(1, 1, 2, 2), "f64"), Fixed(whole(4, 4))),
            {"mode": "nearest", "axes": "2,3", "align_corners": "false", "antialias": "false"},
        ),
        types="f64",
    ),
    *(
        ReleaseDifference(
            name=f"Interpolate-1 with pads beside its axes, in {span[-6:]}",
            span=span,
            ops=("Interpolate-1",),
            state=state,
            reason="Pads of axes that are not resized are missing in the output shape.",
            model=Call(
                "Interpolate-1",
                (counted(1, 1, 2, 2), Fixed(whole(4))),
                {"mode": "nearest", "axes": "3", "align_corners": "false", "antialias": "false", "pads_begin": "0,0,1"},
            ),
            applies=_pads_beside_axes,
        )
        for span, state in (("2021.2 to 2021.3", State.UNCOMPILED), ("2021.4 to 2021.4", State.FAILS))
    ),
    not_read(
        name="Interpolate of integers",
        span="2021.2 to 2021.4",
        ops=("Interpolate-4",),
        reason="Integers other than i8 are not supported: the model is not read.",
        model=Call(
            "Interpolate-4",
            (np.ones((1, 1, 2, 2), np.int32), Fixed(whole(4, 4)), Fixed(floats(2, 2)), Fixed(whole(2, 3))),
            {"mode": "nearest", "shape_calculation_mode": "sizes"},
        ),
        types="boolean i16 i32 i64 u8 u16 u32 u64",
    ),
    not_compiled(
        name="Interpolate of integers along computed axes",
        span="2022.1 to 2026.4",
        ops=tuple(AXES),
        reason="Of i32 and i64 only constant axes are compiled.",
        model=Call(
            "Interpolate-4",
            (np.ones((1, 1, 2, 2), np.int32), Fixed(whole(4, 4)), Fixed(floats(2, 2)), whole(2, 3)),
            {"mode": "nearest", "shape_calculation_mode": "sizes"},
        ),
        types="i32 i64",
        applies=lambda seen: not {*range(AXES[str(seen.op)], len(seen.inputs))} <= {*seen.constant},
    ),
    *(
        ReleaseDifference(
            name=f"{mode} Interpolate of five dimensions, {span}",
            span=span,
            ops=("Interpolate-1", "Interpolate-4"),
            state=state,
            reason=f"Data of rank 5 is read, but {what}, if the mode is {mode}.",
            model=Call(
                "Interpolate-4",
                (counted(1, 1, 3, 5, 5), Fixed(whole(4, 4, 4)), Fixed(floats(1, 1, 1)), Fixed(whole(2, 3, 4))),
                {"mode": mode, "shape_calculation_mode": "sizes"},
            ),
            applies=_in_five_dimensions(mode),
        )
        for mode, span, state, what in (
            ("cubic", "2021.2 to 2021.3", State.UNCOMPILED, "not compiled"),
            ("cubic", "2021.4 to 2021.4", State.DIES, "ends the process"),
            ("linear_onnx", "2021.2 to 2021.2", State.UNCOMPILED, "not compiled"),
        )
    ),
    *(
        ReleaseDifference(
            name=f"Interpolate of a constant by {what} of i32, {span}",
            span=span,
            ops=("Interpolate-4",),
            state=state,
            reason="If the data is constant, sizes and axes of i32 are read as i64, beyond the end of their memory.",
            folded=True,
            model=Call(
                "Interpolate-4",
                (Fixed(counted(1, 1, 3, 3)), Fixed(sizes), Fixed(floats(1, 1)), Fixed(axes)),
                {"mode": "linear_onnx", "shape_calculation_mode": "sizes"},
            ),
            applies=partial(_is_constant_by_narrow, number=number),
        )
        for what, number, sizes, axes, span, state in (
            ("sizes", 1, np.array([5, 5], np.int32), whole(2, 3), "2021.2 to 2021.2", State.UNREAD),
            ("sizes", 1, np.array([5, 5], np.int32), whole(2, 3), "2021.3 to 2021.4", State.UNCOMPILED),
            ("axes", 3, whole(5, 5), np.array([2, 3], np.int32), "2021.2 to 2021.4", State.DIES),
        )
    ),
    ends(
        name="Col2Im by computed sizes",
        span="2024.3 to 2025.4",
        ops=("Col2Im-15",),
        reason="If the sizes of the data are known, but not those of the image or the windows, the process ends.",
        instead=("input 1", "input 2"),
        model=Call(
            "Col2Im-15",
            (counted(1, 4, 4), whole(3, 3), Fixed(whole(2, 2))),
            PLANE,
        ),
        applies=lambda seen: is_static(seen.inputs[0].shape) and not {1, 2} <= {*seen.constant},
    ),
    not_compiled(
        name="Interpolate of batch or channels",
        span="2021.2 to 2021.4",
        ops=INTERPOLATE,
        reason="The batch and channel axes cannot be resized.",
        model=_interpolate("0,1", 3, 3),
        applies=lambda seen: not has_rank(seen, 2) and not {0, 1}.isdisjoint(_resized(seen)),
    ),
    not_compiled(
        name="Interpolate of channels, height and width",
        span="2021.2 to 2025.3",
        ops=INTERPOLATE,
        reason="Resizing channels is not compiled if three axes of data of rank 4, or two of rank 3, are named.",
        model=_interpolate("1,2,3", 3, 3, 3),
        applies=lambda seen: _resizes_most(seen) and _is_static(seen),
    ),
    not_run(
        name="Interpolate of channels, height and width of unknown sizes",
        span="2022.1 to 2025.3",
        ops=INTERPOLATE,
        reason="Resizing channels is not run if three axes of data of rank 4, or two of rank 3, are named.",
        model=Call(
            "Interpolate-4",
            (Given(counted(1, 3, 4), "1,?,?"), Fixed(whole(6, 8)), Fixed(floats(2, 2)), Fixed(whole(1, 2))),
            {"mode": "nearest", "shape_calculation_mode": "sizes"},
        ),
        applies=lambda seen: _resizes_most(seen) and not _is_static(seen),
    ),
    ReleaseDifference(
        name="cubic Interpolate of channels, height and width",
        span="2025.4 to 2026.4",
        ops=INTERPOLATE,
        reason="Resizing three axes of data of rank 4, or two of rank 3 but not the last two, reads memory after the "
        "data.",
        model=Call(
            "Interpolate-11",
            (counted(2, 3, 4, 4), Fixed(whole(5, 6, 5)), Fixed(whole(1, 2, 3))),
            {"mode": "cubic", "shape_calculation_mode": "sizes"},
        ),
        applies=lambda seen: (
            has_value("mode", "cubic")(seen)
            and _resizes_most(seen)
            and not (has_rank(seen, 3) and _resized(seen) == {1, 2})
        ),
    ),
    ReleaseDifference(
        name="Interpolate with pads of batch or channels",
        span="2022.1 to 2026.4",
        ops=tuple(AXES),
        reason="Where the first two axes are resized, pads go to other axes.",
        model=_padded((2, 3, 4, 5), (1, 2), (0, 0, 1, 0)),
        applies=_misplaces_pads,
    ),
    ends(
        name="Interpolate of lines with pads beside them",
        span="2021.3 to 2025.3",
        ops=tuple(AXES),
        reason="Where the last of three axes is resized, pads before the data along another axis read other "
        "memory: the process ends, or values are wrong.",
        model=_padded((2, 3, 4), (2,), (0, 1, 0)),
        applies=_pads_beside_lines,
    ),
    not_read(
        name="Interpolate-11 to more sizes than axes",
        span="2023.0 to 2023.0",
        ops=("Interpolate-11",),
        reason="More sizes or scales than axes are not read.",
        model=Call(
            "Interpolate-11",
            (counted(1, 2, 4, 4), Fixed(whole(2, 2, 2)), Fixed(whole(2, 3))),
            {"mode": "nearest", "shape_calculation_mode": "sizes"},
        ),
        applies=_has_more_sizes_than_axes,
    ),
    not_compiled(
        name="Interpolate-4 of three dimensions",
        span="2021.2 to 2021.2",
        ops=("Interpolate-4",),
        reason="Data of three dimensions are not resized.",
        model=_padded((1, 3, 4), (2,), (0,)),
        applies=lambda seen: has_rank(seen, 3),
    ),
    not_compiled(
        name="Interpolate-1 of 2021.2",
        span="2021.2 to 2021.2",
        ops=("Interpolate-1",),
        reason='A single axis, mode="cubic" and antialias are read but not compiled.',
        model=_interpolate("2", 3),
        applies=lambda seen: (
            seen.attrs is not None and (seen.attrs.antialias or seen.attrs.mode == "cubic" or len(seen.attrs.axes) == 1)
        ),
    ),
    ReleaseDifference(
        name="Interpolate-1 whose corners are not aligned",
        span="2021.3 to 2021.3",
        ops=("Interpolate-1",),
        reason='With align_corners="false" the wrong positions are read.',
        model=_interpolate("2,3", 3, 3),
        applies=lambda seen: (
            _interpolated(seen)[:2] == ("cubic", False)
            or (_interpolated(seen)[:2] == ("linear", False) and len(_interpolated(seen)[2]) > 1)
        ),
    ),
    ReleaseDifference(
        name="Interpolate-1 to fewer elements",
        span="2021.2 to 2021.3",
        ops=("Interpolate-1",),
        reason='With align_corners="false" the wrong element is taken as the nearest one.',
        model=_interpolate("2,3", 3, 3, mode="nearest"),
        applies=lambda seen: _interpolated(seen)[:2] == ("nearest", False) and _shrinks(seen),
    ),
    ReleaseDifference(
        name="Interpolate-1 to the nearest element of other sizes",
        span="2021.3 to 2021.3",
        ops=("Interpolate-1",),
        reason='The wrong element is taken, except for align_corners="false" and multiples of the size.',
        sometimes=True,
        model=_interpolate("2,3", 8, 8, mode="nearest"),
        applies=lambda seen: _interpolated(seen)[0] == "nearest" and _is_resized_between(seen),
    ),
    *(
        ReleaseDifference(
            name=f"ExtractImagePatches with more padding than data, {span}",
            span=span,
            ops=("ExtractImagePatches-3",),
            state=state,
            reason=(
                "If the padding is larger than the data, memory after the output is overwritten: the process "
                "crashes, or values differ."
            ),
            sometimes=True,
            model=Call(
                "ExtractImagePatches-3",
                (counted(1, 1, 5, 1),),
                {"sizes": "2,3", "strides": "2,1", "rates": "1,2", "auto_pad": "same_lower"},
            ),
            applies=_is_mostly_padding,
        )
        for span, state in (("2021.4 to 2025.2", State.DIES), ("2025.3 to 2026.1", State.DIFFERS))
    ),
    *(
        not_run(
            name=f"{op} of one plane of a least height",
            span="2022.1 to 2023.0",
            ops=(op,),
            reason="The least height of the plane is taken for that of the image, which has fewer rows.",
            model=Call(op, (Given(counted(1, 6, 4, 1), "1,6..,4,1"),)),
            applies=_is_of_least_height,
        )
        for op in ("NV12toBGR-8", "NV12toRGB-8", "I420toBGR-8", "I420toRGB-8")
    ),
)
"""The rows."""
