"""Compatibility with releases."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

DEPRECATED_OPERATION = Rule(
    "IR501",
    "deprecated-operation",
    Severity.INFO,
    what="The operation is deprecated; another one replaces it.",
    why="later opsets no longer contain it, and runtimes drop it sooner than others.",
    bad='<layer id="2" name="either" type="Xor" version="opset1">',
    good='<layer id="2" name="either" type="LogicalXor" version="opset1">',
)
BORDER_CONVERSION = Rule(
    "IR502",
    "border-conversion",
    Severity.INFO,
    what="A file of IR v10 has inputs or outputs that newer runtimes show in another element type than the file.",
    why=(
        "OpenVINO 2022.1 and later put conversions to the types of older releases at the borders of such a model: "
        "callers see them, and a conversion to IR v11 removes them."
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
    Severity.INFO,
    what="An input of the model has an unknown rank.",
    why="the runtime reads the model, but the CPU plugin compiles it only once the input has a shape.",
    bad='<data shape="..." element_type="f32" />',
    good='<data shape="1,3,?,?" element_type="f32" />',
)
