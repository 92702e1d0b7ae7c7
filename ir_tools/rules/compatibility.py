"""Compatibility with releases."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

DEPRECATED_OPERATION = Rule(
    "IR501",
    "deprecated-operation",
    Severity.INFO,
    what="The operation is deprecated; another one replaces it.",
    why="later opsets do not contain it, and releases remove deprecated operations first.",
    bad='<layer id="2" name="either" type="Xor" version="opset1">',
    good='<layer id="2" name="either" type="LogicalXor" version="opset1">',
)
BORDER_CONVERSION = Rule(
    "IR502",
    "border-conversion",
    Severity.INFO,
    what=(
        "OpenVINO 2022.1 and later expose an input or output of an IR v10 file with another element type than the "
        "file records."
    ),
    why=(
        "these releases insert Convert layers at the inputs and outputs of the model, so that callers see the "
        "element types that older releases used. Migrating the file to IR v11 writes these conversions into it, so "
        "that it records what callers see."
    ),
    bad="""
        <net name="model" version="10">
        ...
        <data shape="1,3,8,8" element_type="f16" />
    """,
    good="""
        <net name="model" version="11">
        ...
        <data shape="1,3,8,8" element_type="f16" />
    """,
)
UNKNOWN_RANK_INPUT = Rule(
    "IR503",
    "unknown-rank-input",
    Severity.WARNING,
    what="An input of the model has an unknown rank.",
    why="the runtime reads the model, but the CPU plugin cannot compile it until the input has a known rank.",
    bad='<data shape="..." element_type="f32" />',
    good='<data shape="1,3,?,?" element_type="f32" />',
)
UNCOMPILED_LAYER = Rule(
    "IR504",
    "uncompiled-layer",
    Severity.ERROR,
    what="A layer is valid, but the newest OpenVINO does not compile or run it, or its process ends.",
    why=(
        "a model that the specification allows cannot be used there. The finding comes from the table of what each "
        "release was measured to do with each operation; `ir-tools compat` lists the releases that run the model. It "
        "is an error only if the process ends."
    ),
    bad="""
        <layer id="1" name="axes" type="Parameter" version="opset1">
        ...
        <layer id="5" name="slice" type="Slice" version="opset8">
    """,
    good="""
        <layer id="4" name="axes" type="Const" version="opset1">
        ...
        <layer id="5" name="slice" type="Slice" version="opset8">
    """,
    milder=Severity.WARNING,
)
