"""Shapes: what is recorded against what is computed."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

IMPOSSIBLE_SHAPE = Rule(
    "IR301",
    "impossible-shape",
    Severity.ERROR,
    what="The shapes of the inputs of a layer do not fit its operation or each other.",
    why="the runtime refuses the model when it reads it, often without naming the layer.",
    bad='<data shape="1,3,8,7" element_type="f32" />',
    good='<data shape="1,3,8,8" element_type="f32" />',
)
UNKNOWN_SHAPES = Rule(
    "IR302",
    "unknown-shapes",
    Severity.INFO,
    what="The operation of a layer belongs to openvino-tokenizers, which the runtime needs to read the file.",
    why="ir_tools does not check its attributes, element types and shapes, and uses the shapes that the file records.",
    bad='<layer id="1" name="own" type="CaseFold" version="extension">',
    good='<layer id="1" name="own" type="ReLU" version="opset1">',
)
WRONG_PORT_SHAPE = Rule(
    "IR303",
    "wrong-port-shape",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="An output records other dimensions than its layer computes, or an input others than its producer outputs.",
    why=(
        "the runtime ignores the record and computes the dimensions. Either the record is wrong, and misleads other "
        "tools and people who read the file, or the layer is. `ir-tools shapes MODEL -o OUT.xml` corrects all "
        "records. A record that only leaves open a size that is known, or fixes one that is not, is a warning."
    ),
    bad="""
        <layer id="1" name="abs" ...>
            <output> ... <dim>8</dim>
        <layer id="2" name="relu" ...>
            <input> ... <dim>9</dim>
    """,
    good="""
        <layer id="1" name="abs" ...>
            <output> ... <dim>8</dim>
        <layer id="2" name="relu" ...>
            <input> ... <dim>8</dim>
    """,
)
WRONG_PORT_PRECISION = Rule(
    "IR304",
    "wrong-port-precision",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="An output records another element type than its layer computes, or an input than its producer outputs.",
    why=(
        "the runtime ignores the record and computes the element type. Either the record is wrong, and misleads "
        "other tools and people who read the file, or the layer is. `ir-tools shapes MODEL -o OUT.xml` corrects all "
        "records. Two records that old tools wrote are warnings: FP32 for f16, and floats for an integer output "
        "without a consumer."
    ),
    bad="""
        <layer id="1" name="abs" ...>
            <output> <port id="1" precision="FP32">
        <layer id="2" name="relu" ...>
            <input> <port id="0" precision="I64">
    """,
    good="""
        <layer id="1" name="abs" ...>
            <output> <port id="1" precision="FP32">
        <layer id="2" name="relu" ...>
            <input> <port id="0" precision="FP32">
    """,
)
CONTRADICTING_RECORD = Rule(
    "IR305",
    "contradicting-record",
    Severity.ERROR,
    what="The output of a layer differs from what the file records for the layer and for its consumers.",
    why="either the attributes of the layer are wrong, or the dimensions recorded for all layers after it.",
    bad='<data kernel="2, 2" strides="1, 1" ... />',
    good='<data kernel="2, 2" strides="2, 2" ... />',
)
HUGE_OUTPUT = Rule(
    "IR306",
    "huge-output",
    Severity.ERROR,
    what="The output of a layer has more elements than fit into memory.",
    why="the runtime reads and compiles the model, and crashes when it runs it.",
    bad='<data shape="1,3,1048576,1048576" element_type="f32" />',
    good='<data shape="1,3,1024,1024" element_type="f32" />',
)
