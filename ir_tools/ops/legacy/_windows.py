"""What layers with windows share: the spellings of their attributes, and how far they pad."""

from collections.abc import Iterator, Mapping, Sequence

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops.definition import Fact, Refused, Violation
from ir_tools.ops.fields import Attrs, Field, Ints, Text
from ir_tools.ops.legacy.definition import LegacyLayer

__all__ = ["WINDOW_ATTRS", "begin_pads", "check_windows", "end_pad", "per_axis", "respell", "spatial_sizes"]

AXES = ("z", "y", "x")
"""The letters of the axes in the earliest files, outermost first."""
NAMES = {
    "kernel": ("kernel", "1"),
    "stride": ("strides", "1"),
    "pad": ("pads_begin", "0"),
    "dilation": ("dilations", "1"),
}
"""By the name of the earliest files, which have one attribute for each axis: the usual name, and the default."""
ENDS = {"z": "pad-back", "y": "pad-b", "x": "pad-r"}
"""What the earliest files call the end pad of an axis."""
EARLY = {*ENDS.values(), "stride", "rounding-type", *(f"{name}-{axis}" for name in NAMES for axis in AXES)}
"""Attributes of the earliest files."""
WINDOW_ATTRS: Mapping[str, Field] = {
    "kernel": Ints(minimum=1),
    "strides": Ints(minimum=1, default=()),
    "pads_begin": Ints(minimum=0, default=()),
    "pads_end": Ints(minimum=0, default=()),
    "dilations": Ints(minimum=1, default=()),
    "auto_pad": Text(default=""),
}


def respell(raw: Mapping[str, str]) -> Mapping[str, str]:
    """Return attributes by their usual names: `kernel-x="3" kernel-y="2"` becomes `kernel="2,3"`.

    Where there is a `kernel`, the names of the earliest files are read by nothing, and the usual ones where there is
    none. The earliest files leave out an axis with the default, and the pad at the end where it is that at the
    beginning; their `stride="1,1,2,2"` is read by nothing.
    """
    found = {name: text for name, text in raw.items() if name not in EARLY}
    if "rounding-type" in raw:
        found.setdefault("rounding_type", raw["rounding-type"])
    if not raw.get("kernel") and any(f"kernel-{axis}" in raw for axis in AXES):
        axes = [axis for axis in AXES if axis != "z" or any(f"{name}-z" in raw for name in NAMES)]
        for early, (name, default) in NAMES.items():
            found[name] = ",".join(raw.get(f"{early}-{axis}", default) for axis in axes)
        found["pads_end"] = ",".join(raw.get(ENDS[axis], raw.get(f"pad-{axis}", "0")) for axis in axes)
    return found


def check_windows(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Yield the lists that do not have one number for each spatial axis of the first input."""
    shape = inputs[0].shape if inputs else None
    for name in WINDOW_ATTRS if shape is not None else ():
        try:
            if name != "auto_pad" and name in attrs:
                per_axis(attrs, name, len(shape or ()) - 2)
        except ShapeError as why:
            yield Violation(name, why.message)


def spatial_sizes(layer: LegacyLayer) -> tuple[list[int], list[int]] | Refused:
    """Return the spatial sizes of the first input, and those that the file declares for the output."""
    sizes, outputs = list(layer.sizes(layer.inputs[0])[2:]), [dim.lo for dim in (layer.declared[0].shape or ())[2:]]
    if len(sizes) != len(outputs):
        return Refused(f"its input has {len(sizes)} spatial axes, and its output {len(outputs)}")
    return sizes, outputs


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
    return per_axis(attrs, "pads_begin", len(sizes), 0)


def end_pad(size: int, output: int, stride: int, reach: int, begin: int) -> int:
    """Return the pad with which the windows give the declared size; none where the last ones do not reach the end."""
    pad = (output - 1) * stride + reach - size - begin
    return 0 if -stride < pad < 0 else pad


def per_axis(attrs: Attrs, name: str, rank: int, default: int = 1) -> tuple[int, ...]:
    """Return one number of an attribute per axis, `default` where none are given.

    Raises:
        ShapeError: there are more numbers than axes, or fewer.
    """
    given = tuple(attrs[name])
    if given and len(given) != rank:
        raise ShapeError(f"has {plural(len(given), 'value')}; the input has {rank} spatial axes", attribute=name)
    return given or (default,) * rank
