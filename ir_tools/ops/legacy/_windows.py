"""What layers with windows share: the spellings of their attributes, and how far they pad."""

from collections.abc import Mapping, Sequence

from ir_tools.ops.definition import Attrs, Field, Ints, Text

__all__ = ["WINDOW_ATTRS", "begin_pads", "respell", "sizes_of"]

AXES = ("z", "y", "x")
"""The letters of the axes in the earliest files, outermost first."""
NAMES = {"kernel": "kernel", "stride": "strides", "pad": "pads_begin", "dilation": "dilations"}
"""By the name of the earliest files, which have one attribute for each axis."""
ENDS = {"z": "pad-back", "y": "pad-b", "x": "pad-r"}
"""What the earliest files call the end pad of an axis."""
WINDOW_ATTRS: Mapping[str, Field] = {
    "kernel": Ints(minimum=1),
    "strides": Ints(minimum=1, default=()),
    "pads_begin": Ints(default=()),
    "pads_end": Ints(default=()),
    "dilations": Ints(minimum=1, default=()),
    "auto_pad": Text(default=""),
}


def respell(raw: Mapping[str, str]) -> Mapping[str, str]:
    """Return attributes by their usual names: `kernel-x="3" kernel-y="2"` becomes `kernel="2,3"`.

    The earliest files also have `stride="1,1,2,2"` beside `stride-x`, which nothing reads.
    """
    found = {name: text for name, text in raw.items() if not _is_early(name)}
    for early, name in NAMES.items():
        axes = [raw[f"{early}-{axis}"] for axis in AXES if f"{early}-{axis}" in raw]
        if axes:
            found.setdefault(name, ",".join(axes))
    ends = [raw.get(ENDS[axis], raw[f"pad-{axis}"]) for axis in AXES if f"pad-{axis}" in raw]
    if ends:
        found.setdefault("pads_end", ",".join(ends))
    if "rounding-type" in raw:
        found.setdefault("rounding_type", raw["rounding-type"])
    return found


def _is_early(name: str) -> bool:
    return name in {*ENDS.values(), "stride", "rounding-type"} or (name.partition("-")[0] in NAMES and "-" in name)


def begin_pads(attrs: Attrs, sizes: Sequence[int], strides: Sequence[int], reach: Sequence[int]) -> tuple[int, ...]:
    """Return the pads at the beginning: of `auto_pad` by sizes, strides and the reach of a dilated kernel, or as given.

    `same_upper` and `same_lower` pad so that an output of ceil(size / stride) fits; the odd one is at the end or the
    beginning.
    """
    word = attrs.auto_pad.lower()
    if word == "valid":
        return (0,) * len(sizes)
    if word in {"same_upper", "same_lower"}:
        totals = [
            max(kernel - (size % step or step), 0) for size, step, kernel in zip(sizes, strides, reach, strict=True)
        ]
        return tuple((total + (word == "same_lower")) // 2 for total in totals)
    return sizes_of(attrs.pads_begin, len(sizes), 0)


def sizes_of(given: Sequence[int], rank: int, default: int) -> tuple[int, ...]:
    """Return one number per axis, `default` where none are given."""
    return tuple(given) or (default,) * rank
