"""Suspect settings."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

SUSPECT_SETTING = Rule(
    "IR401",
    "suspect-setting",
    Severity.WARNING,
    what="The settings of a layer are valid, but probably not intended.",
    why="the runtime applies them silently, although they are rarely useful.",
    bad='<data strides="9, 9" ... />',
    good='<data strides="3, 3" ... />',
)
KERNEL_LARGER_THAN_INPUT = Rule(
    "IR402",
    "kernel-larger-than-input",
    Severity.ERROR,
    what="The window of a pooling does not fit into its padded input.",
    why="the runtime refuses the layer.",
    bad='<data kernel="9, 9" strides="2, 2" ... />',
    good='<data kernel="8, 8" strides="2, 2" ... />',
)
PADS_COVER_KERNEL = Rule(
    "IR403",
    "pads-cover-kernel",
    Severity.ERROR,
    what="The pads of an average pooling that does not count padding are as large as its window.",
    why="some windows would contain only padding and no input element; the runtime refuses the layer.",
    bad='<data ... pads_begin="2, 2" pads_end="0, 0" exclude-pad="true" ... />',
    good='<data ... pads_begin="1, 1" pads_end="1, 1" exclude-pad="true" ... />',
)
WINDOW_IN_PADDING = Rule(
    "IR404",
    "window-in-padding",
    Severity.WARNING,
    what="A pooling has windows that lie entirely in the padding.",
    why="their result is arbitrary, and differs between releases and devices.",
    bad='<data kernel="1, 1" strides="3, 3" ... rounding_type="ceil" />',
    good='<data kernel="1, 1" strides="3, 3" ... rounding_type="floor" />',
)
FULL_KERNEL_DIVISOR = Rule(
    "IR405",
    "full-kernel-divisor",
    Severity.WARNING,
    what="The last window of an average pooling that counts padding reaches beyond the padded input.",
    why=(
        "the runtime divides the sum of such a window by the size of the kernel; ONNX and PyTorch divide by "
        "the number of its elements in the padded input."
    ),
    bad='<data kernel="3, 3" strides="2, 2" ... exclude-pad="false" ... rounding_type="ceil" />',
    good='<data kernel="3, 3" strides="2, 2" ... exclude-pad="true" ... rounding_type="ceil" />',
)
IGNORED_ATTRIBUTE = Rule(
    "IR406",
    "ignored-attribute",
    Severity.WARNING,
    what="A layer has an attribute that has no effect because of another attribute.",
    why="the runtime ignores it; other tools that read the file may not.",
    bad='<data ... pads_begin="1, 1" pads_end="1, 1" ... auto_pad="valid" ... />',
    good='<data ... pads_begin="0, 0" pads_end="0, 0" ... auto_pad="valid" ... />',
)
