"""Resizes that the CPU plugin rejects or computes wrongly, by axes and mode. Measured on 2026.4.1.

The plugin has kernels for the last three dimensions. Of other axes it moves those to the end, if they are no more than
the data have after batch and channels. Volumes in the modes `cubic` and Pillow's it leaves to OpenVINO's core.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ir_tools.ops.definition import Fact, Violation, ViolationKind
from ir_tools.types import Dim

__all__ = ["Resized", "limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """What is known of a layer before it runs.

    Attributes:
        data: the input.
        mode: as the layer has it.
        axes: those that are named, or all of them.
        padded: the sizes of the data with their padding.
        output: the sizes of the output.
        pads: whether anything is padded.
        target: the name of the input that holds sizes or factors.
    """

    data: Fact
    mode: str
    axes: Sequence[int]
    padded: Sequence[Dim]
    output: Sequence[Dim]
    pads: bool
    target: str

    @property
    def rank(self) -> int:
        """Of the data; 0 where it is not known."""
        return len(self.data.shape or ())

    @property
    def changed(self) -> list[int]:
        """Those of `axes` that surely get another size."""
        return [axis for axis in self.axes if self.padded[axis].meet(self.output[axis]) is None]

    @property
    def pillow(self) -> bool:
        """Whether the mode is one of Pillow's."""
        return self.mode.endswith("pillow")

    @property
    def by_core(self) -> bool:
        """Whether OpenVINO's core resizes, and not the plugin."""
        return (self.rank > 4 and (self.pillow or self.mode == "cubic")) or self.rank > 5

    @property
    def turned(self) -> bool:
        """Whether the plugin moves the axes to the end."""
        few = len(self.axes) <= self.rank - 2
        return few and not self.pillow and any(axis < 2 for axis in self.axes)


def limits(resized: Resized) -> Iterator[Violation]:
    """Check for settings that are refused or come out wrong.

    Data that are known before running are not the plugin's.
    """
    if resized.data.constant or not resized.rank:
        return
    if resized.by_core:
        yield from _limits_of_core(resized)
        return
    if any(dim.hi == 0 for dim in resized.padded):
        yield from _of_nothing(resized)
        return
    outer = resized.rank - 3
    if not resized.turned and resized.rank > 3 and any(axis < outer for axis in resized.changed):
        message = (
            f"resizes axis {min(resized.changed)} of data of rank {resized.rank}, which the runtime does not support"
        )
        yield Violation(resized.target, message, "leave the size of that axis unchanged")
    else:
        yield from _wrong(resized)


def _limits_of_core(resized: Resized) -> Iterator[Violation]:
    dtype = resized.data.dtype
    if dtype.is_integer and dtype.bits > 8:
        message = (
            f"has element type {dtype}, which the runtime does not support in mode {resized.mode} for data of this rank"
        )
        yield Violation("data", message, "convert it to f32", ViolationKind.TYPES, 0)
    if resized.pillow and len(resized.axes) != 2:
        yield Violation("axes", f"has {len(resized.axes)} axes, but mode {resized.mode} supports two", "list two axes")
    if resized.mode == "linear_onnx":
        message = f"is linear_onnx, which the runtime does not support for data of rank {resized.rank}"
        yield Violation("mode", message, 'write mode="linear"')


def _of_nothing(resized: Resized) -> Iterator[Violation]:
    """Check for elements that are made of none: the plugin runs no kernel, and leaves them as its memory is."""
    if all(dim.lo > 0 for dim in resized.output):
        message = "resizes empty data to a tensor with elements, which the runtime leaves uninitialized"
        yield Violation(resized.target, message, kind=ViolationKind.SUSPECT)


def _wrong(resized: Resized) -> Iterator[Violation]:
    """Check for what the runtime computes wrongly, without an error."""
    inner, first = resized.rank - 2, min(resized.changed, default=resized.rank)
    swapped = resized.rank == 4 and list(resized.axes) == [1, 2] and not resized.pads
    if resized.pads and resized.turned:
        message = "is not 0, and axes other than the last ones are resized: the runtime then pads the wrong axes"
        yield Violation("pads_begin", message, "use a separate Pad layer before this one", ViolationKind.SUSPECT)
    elif resized.mode == "cubic" and not resized.turned and first < inner:
        message = "resizes more than the last two axes, for which the runtime computes wrong values in mode cubic"
        yield Violation(resized.target, message, "resize the other axes in a separate layer", ViolationKind.SUSPECT)
    elif resized.pillow and first < inner and not swapped:
        message = (
            "resizes an axis other than the last two, for which the runtime computes wrong values in mode "
            f"{resized.mode}"
        )
        yield Violation(
            resized.target,
            message,
            "resize only the last two axes; use Transpose layers for others",
            ViolationKind.SUSPECT,
        )
