"""Shapes: what is recorded against what is computed."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

IMPOSSIBLE_SHAPE = Rule(
    "IR301",
    "impossible-shape",
    Severity.ERROR,
    what="A layer cannot take inputs of these shapes.",
    why="the runtime refuses the model when it reads it, often without the layer's name.",
    bad='<data shape="1,3,8,7" element_type="f32" />',
    good='<data shape="1,3,8,8" element_type="f32" />',
)
UNKNOWN_SHAPES = Rule(
    "IR302",
    "unknown-shapes",
    Severity.INFO,
    what="A layer is an operation of a library: the runtime needs openvino-tokenizers to read the file.",
    why="its attributes, types and shapes are not checked; those in the file are believed.",
    bad='<layer id="1" name="own" type="CaseFold" version="extension">',
    good='<layer id="1" name="own" type="ReLU" version="opset1">',
)
WRONG_PORT_SHAPE = Rule(
    "IR303",
    "wrong-port-shape",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="A port records dimensions that its tensor does not have.",
    why="the runtime computes its own and never looks at these; other readers of the file, and people, believe them.",
    bad="<dim>9</dim>",
    good="<dim>8</dim>",
)
WRONG_PORT_PRECISION = Rule(
    "IR304",
    "wrong-port-precision",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="A port records an element type that its tensor does not have.",
    why="the runtime recomputes it and never reads this one; other readers of the file, and people, believe it.",
    bad='<port id="0" precision="I64">',
    good='<port id="0" precision="FP32">',
)
CONTRADICTING_RECORD = Rule(
    "IR305",
    "contradicting-record",
    Severity.ERROR,
    what="A layer gives something other than what the file records for it and for its consumers.",
    why="one of the two is wrong: the attributes of the layer, or the dimensions of everything behind it.",
    bad='<data kernel="2, 2" strides="1, 1" ... />',
    good='<data kernel="2, 2" strides="2, 2" ... />',
)
HUGE_OUTPUT = Rule(
    "IR306",
    "huge-output",
    Severity.ERROR,
    what="A layer gives a tensor that does not fit into any memory.",
    why="the runtime reads and compiles the model, and dies when it runs it.",
    bad='<data shape="1,3,1048576,1048576" element_type="f32" />',
    good='<data shape="1,3,1024,1024" element_type="f32" />',
)
