"""The limits on the sizes of a layer, in one table, and the checks for them."""

from collections.abc import Iterator, Sequence

from ir_tools.errors import ShapeError
from ir_tools.ops.definition import Check, Fact, ShapeRule, Violation, ViolationKind
from ir_tools.ops.fields import Attrs
from ir_tools.types import Shape, product, shape_text

__all__ = [
    "MAX_BINS",
    "MAX_BOXES",
    "MAX_DENSITY",
    "MAX_ELEMENTS",
    "MAX_ITERATIONS",
    "MAX_MATRIX",
    "MAX_PLACES",
    "MAX_SAMPLES",
    "MAX_SIZES",
    "MAX_VALUES",
    "MAX_WINDOW",
    "check_kernel_size",
    "check_output_size",
    "check_samples",
    "excessive",
    "too_large",
]

MAX_ELEMENTS = 1 << 33
"""Of a tensor: 32 GiB in f32. The runtime tries to allocate it all the same."""
MAX_VALUES = 1 << 16
"""Elements of a tensor that carries its values through shape rules: none that decides a shape is that large."""
MAX_SIZES = 1 << 12
"""Dimensions of a tensor, and outputs of a layer."""
MAX_WINDOW = 10**8
"""Elements that a kernel, stride, dilation or pad may span; the largest of real models are thousands."""
MAX_KERNEL = 1 << 16
"""Elements of a kernel over an axis of unknown size."""
LARGE_KERNEL, LARGE_RATIO = 64, 8
"""A kernel of at least so many elements may not be more times as large as its axis; real models have 51 over 7."""
MAX_BOXES = 1 << 28
"""That a layer selects: there is no memory for more."""
MAX_SAMPLES = 1 << 28
"""Points of one region: there is no memory for more."""
MAX_BINS = 1 << 14
"""Points along an axis of one part of a region: with more the runtime does not come to an end."""
MAX_DENSITY = 1024
"""Boxes side by side, of one size: there is no memory for more."""
MAX_PLACES, MAX_MATRIX = 1 << 20, 1 << 22
"""Elements of a list of places, and of a matrix, that a rewrite writes as a constant."""
MAX_ITERATIONS = 1 << 16
"""Of shape propagation through a body, after which its shapes count as never settling."""


def excessive(shape: Shape) -> str:
    """Return a shape and the number of its elements if they fit into no memory, however small unknown sizes are."""
    elements = product(dim.lo for dim in shape or ())
    return f"{shape_text(shape)}, whose {elements} elements do not fit into memory" if elements > MAX_ELEMENTS else ""


def too_large(name: str, shape: Shape) -> Iterator[Violation]:
    """Yield a violation of `name` if an output of this shape fits into no memory, however small unknown sizes are."""
    if excess := excessive(shape):
        yield Violation(name, f"makes the output {excess}", kind=ViolationKind.FATAL)


def check_output_size(name: str, shape: ShapeRule) -> Check:
    """Return a check for a first output that is too large by the shape rule, with `name` as the reason."""

    def check(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        try:
            output = shape(attrs, inputs)[0]
        except ShapeError:
            return
        yield from too_large(name, output.shape)

    return check


def check_samples(parts: int, ratio: int) -> Iterator[Violation]:
    """Yield a violation if a region of so many parts has more sampling points than there is memory for."""
    if parts * ratio**2 > MAX_SAMPLES:
        yield Violation("sampling_ratio", f"is {ratio}, which requires more sampling points than fit into memory")


def check_kernel_size(name: str, kernel: Sequence[int], data: Shape) -> Iterator[Violation]:
    """Yield the first axis over which a kernel is many times as large as the data: most of it reads padding."""
    sizes = [dim.hi for dim in (data or ())[2:]] or [None] * len(kernel)
    for axis, (length, size) in enumerate(zip(kernel, sizes, strict=False)):
        if length > MAX_KERNEL if size is None else length >= LARGE_KERNEL and length > LARGE_RATIO * size:
            there = "an unknown size" if size is None else f"{size} element{'s' if size != 1 else ''}"
            message = f"has {length} elements over axis {axis + 2} of the data, which has {there}"
            yield Violation(name, message, "make it smaller, or check the shape of the data", ViolationKind.SUSPECT)
            return
