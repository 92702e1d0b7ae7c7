"""Averages and maxima of windows."""

from functools import partial
from math import inf, prod

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from ir_tools.known_differences.releases._predicates import assumed, gives_alone, has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, not_compiled, not_run
from ir_tools.known_differences.releases._samples import INDEXED, WINDOWS
from ir_tools.known_differences.releases.seen import FIRST_VERSION, Seen
from ir_tools.processors import Processor
from ir_tools.types import Dim, element_type, is_static

__all__ = ["ROWS"]

MEANS = ("AvgPool-1", "AvgPool-14", "AvgPool-16")
CUBES = {"kernel": "1,1,1", "strides": "1,1,1", "pads_end": "0,0,0", "exclude-pad": "false"}


def _has_uneven_end(seen: Seen) -> bool:
    """Return whether the last window of a ceil_torch pooling may not end with the padding.

    Beyond it that matters if padding counts.
    """
    attrs, data, pooled = seen.attrs, seen.inputs[0].shape, seen.outputs[0].shape
    if attrs is None or attrs.rounding_type != "ceil_torch":
        return False
    if not is_static(data) or not is_static(pooled):
        return True
    begins, ends = attrs.pads_begin, attrs.pads_end
    sizes = zip((data or ())[2:], (pooled or ())[2:], attrs.kernel, attrs.strides, begins, ends, strict=False)
    beyond = [(new.lo - 1) * stride + size - old.lo - begin - end for old, new, size, stride, begin, end in sizes]
    counts = not attrs.exclude_pad and any((*begins, *ends))
    return any(elements < 0 or (elements and counts) for elements in beyond)


def _has_one_channel(seen: Seen) -> bool:
    """Return whether a pooling is known to have one channel."""
    shape = seen.inputs[0].shape
    return shape is not None and shape[1].hi == 1


def _may_have_few_channels(seen: Seen, *, several: bool) -> bool:
    """Return whether images may have fewer than four channels, or more.

    `several`: whether they are those of three axes, of which two or three are of unknown size.
    """
    shape = seen.inputs[0].shape
    if shape is not None:
        channels, axes = shape[1], shape[2:]
        unknown = sum(not dim.static for dim in axes)
        if len(axes) < 2 or (len(axes) > 2 and unknown > 1) is not several or channels.lo > 3 or (channels.hi or 4) < 4:
            return False
    return all(number == 0 for number, _ in seen.readers)


def _pads_windows(seen: Seen) -> bool:
    """Return whether the padding of a pooling, with what is added for the last window, fills a kernel."""
    attrs, data, pooled = seen.attrs, seen.inputs[0].shape, seen.outputs[0].shape
    if attrs is None or attrs.auto_pad != "explicit" or data is None or pooled is None:
        return False
    axes = zip(attrs.pads_begin, attrs.pads_end, attrs.kernel, attrs.strides, data[2:], pooled[2:], strict=False)
    return any(begin >= size or _behind(begin, end, size, *others) >= size for begin, end, size, *others in axes)


def _behind(begin: int, end: int, size: int, stride: int, old: Dim, new: Dim) -> int:
    """Return how many elements the last window of a pooling reaches beyond the data, of the size it is compiled for."""
    if old.static:
        return (new.lo - 1) * stride + size - old.lo - begin
    return end - (begin + assumed(old) + end - size) % stride


def _has_few_means(seen: Seen) -> bool:
    """Return whether a pooling of one channel is known to give fewer than four elements."""
    shape = seen.outputs[0].shape
    return shape is not None and _has_one_channel(seen) and prod(inf if dim.hi is None else dim.hi for dim in shape) < 4


def _mean(pads: str) -> Call:
    """Return an average pooling of integers of one channel, with windows of one element."""
    return Call("AvgPool-1", (np.ones((1, 1, 4, 4), np.int32),), WINDOWS | {"pads_begin": pads})


def _maximum(kinds: str) -> Call:
    """Return a maximum pooling of the first of these types, with windows of padding alone."""
    data = counted(1, 1, 2, 2).astype(element_type(kinds.split()[0]).dtype)
    return Call("MaxPool-1", (data,), {"kernel": "1,1", "strides": "1,1", "pads_begin": "1,0", "pads_end": "0,0"})


ROWS = (
    ReleaseDifference(
        name="ceil_torch with an uneven end",
        span="2024.2 to 2024.2",
        ops=("AvgPool-14",),
        reason="Windows at the end count elements after the padding, and a window that starts there is not omitted.",
        model=Call(
            "AvgPool-14",
            (counted(1, 1, 6, 6),),
            {
                "kernel": "3,3",
                "strides": "2,2",
                "pads_begin": "1,1",
                "pads_end": "1,1",
                "exclude-pad": "false",
                "rounding_type": "ceil_torch",
            },
        ),
        applies=_has_uneven_end,
    ),
    not_compiled(
        name="AvgPool-14 of 2024.1",
        span="2024.1 to 2024.1",
        ops=("AvgPool-14",),
        reason="AvgPool-14 is read but not compiled.",
        measured=True,
        model=Call("AvgPool-14", (counted(1, 1, 4, 4),), WINDOWS | {"pads_begin": "0,0"}),
    ),
    not_compiled(
        name="AvgPool of integers of one channel",
        span="2021.3 to 2026.0",
        ops=MEANS,
        reason="Integers of one channel are read but not compiled.",
        model=_mean("0,0"),
        types="i16 i32 i64 u16 u32 u64",
        applies=_has_one_channel,
    ),
    *(
        ReleaseDifference(
            name=f"MaxPool of {kinds.split()[0]} with a padding as large as the kernel, {span}",
            span=span,
            ops=("MaxPool-1", "MaxPool-8", "MaxPool-14"),
            reason="Windows of padding alone do not give the lowest number.",
            model=_maximum(kinds),
            types=kinds,
            applies=_pads_windows,
        )
        for kinds, span in (
            ("i8 i16 i32", "2021.2 to 2022.2"),
            ("f32 u8 u16 u64", "2021.2 to 2021.2"),
            ("f16", "2022.1 to 2024.2"),
            ("i64", "2021.2 to 2026.4"),
            ("bf16", "2021.3 to 2026.4"),
            ("i16 u32 u64", "2025.4 to 2026.4"),
        )
    ),
    *(
        ReleaseDifference(
            name=f"MaxPool of {kinds.split()[0]} with a padding as large as the kernel in IR v10",
            only_v10=True,
            span=span,
            ops=("MaxPool-1", "MaxPool-8", "MaxPool-14"),
            reason="Windows of padding alone give the lowest number of the type that inputs are converted to.",
            model=_maximum(kinds),
            types=kinds,
            applies=lambda seen: seen.version == FIRST_VERSION and _pads_windows(seen),
        )
        for kinds, span in (("u16 i16 u32 u64", "2022.3 to 2026.4"), ("f16", "2021.2 to 2026.4"))
    ),
    not_compiled(
        name="AvgPool of integers of one channel with a padding as large as the kernel",
        span="2021.3 to 2026.4",
        ops=MEANS,
        reason="Integers of one channel with padding as large as the kernel are read but not compiled.",
        model=_mean("0,1"),
        types="i16 i32 i64 u16 u32 u64",
        applies=lambda seen: _has_one_channel(seen) and _pads_windows(seen),
    ),
    not_compiled(
        name="AvgPool of integers of one channel with dilations",
        span="2025.3 to 2026.4",
        ops=("AvgPool-16",),
        reason="Integers of one channel with dilations are read but not compiled.",
        model=Call(
            "AvgPool-16",
            (np.ones((1, 1, 6, 6), np.int32),),
            WINDOWS | {"kernel": "2,2", "pads_begin": "0,0", "dilations": "2,2"},
        ),
        types="i16 i32 i64 u16 u32 u64",
        applies=lambda seen: _has_one_channel(seen) and seen.attrs is not None and {*seen.attrs.dilations} != {1},
    ),
    not_compiled(
        name="AvgPool of integers to fewer than four elements",
        span="2021.3 to 2026.4",
        ops=MEANS,
        reason="Integers of one channel are read but not compiled if the output has fewer than four elements.",
        model=Call("AvgPool-1", (np.ones((1, 1, 3, 1), np.int32),), WINDOWS | {"pads_begin": "0,0"}),
        types="i16 i32 i64 u16 u32 u64",
        applies=_has_few_means,
        processor=Processor.NO_AVX512,
    ),
    *(
        not_compiled(
            name=f"{op} of bf16 whose indices are read",
            span=f"{first} to 2026.4",
            ops=(op,),
            types="bf16",
            reason="Indices are not supported for bf16.",
            model=Call(op, (counted(1, 1, 4, 4).astype(element_type("bf16").dtype),), INDEXED, (1,)),
            instead=("bf16",),
            processor=Processor.AVX512,
            applies=lambda seen: any(number == 1 for number, _ in seen.readers),
        )
        for op, first in (("MaxPool-8", "2022.1"), ("MaxPool-14", "2024.0"))
    ),
    *(
        not_run(
            name=f"pooling of an unknown number of channels{what}",
            span="2022.1 to 2022.3",
            ops=("AvgPool-1", "MaxPool-1", "MaxPool-8"),
            reason="If the number of channels is unknown, fewer than four do not run.",
            model=Call("AvgPool-1", (Given(counted(*sizes), dims),), raw),
            types="f32 f16",
            applies=partial(_may_have_few_channels, several=several),
            processor=processor,
        )
        for what, sizes, dims, raw, several, processor in (
            ("", (1, 3, 4, 4), "1,?,4,4", WINDOWS, False, Processor.AVX512),
            (", and two sizes or more", (1, 3, 4, 4, 4), "1,?,4,?,?", CUBES, True, Processor.AMX),
        )
    ),
    not_compiled(
        name="i64 indices of AdaptiveMaxPool that are not read",
        span="2022.1 to 2026.4",
        ops=("AdaptiveMaxPool-8",),
        reason="Indices of i64 are compiled only if they are an output of the model, and since 2023.3 not at all.",
        model=Call("AdaptiveMaxPool-8", (counted(1, 1, 4, 4), Fixed(whole(2, 2))), results=(0,)),
        applies=lambda seen: has_value("index_element_type", "i64")(seen) and not gives_alone(seen, 1),
    ),
    not_compiled(
        name="dilated MaxPool of bf16",
        span="2022.1 to 2022.1",
        ops=("MaxPool-8",),
        reason="Dilations are not compiled for bf16.",
        model=Call(
            "MaxPool-8",
            (counted(1, 1, 8).astype(element_type("bf16").dtype),),
            {"kernel": "2", "strides": "1", "dilations": "3", "pads_begin": "0", "pads_end": "0"},
            (0,),
        ),
        types="bf16",
        applies=lambda seen: seen.attrs is not None and any(step > 1 for step in seen.attrs.dilations),
        processor=Processor.AVX512,
    ),
)
"""The rows."""
