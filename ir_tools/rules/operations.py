"""Operations: attributes, inputs, outputs, element types."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

UNKNOWN_OPERATION = Rule(
    "IR201",
    "unknown-operation",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The type of a layer is not one of OpenVINO's operations.",
    why="the runtime refuses the file; if the misspelled type is `Result`, it silently loses that output.",
    bad='<layer id="1" name="pool" type="AvgPol" version="opset1">',
    good='<layer id="1" name="pool" type="AvgPool" version="opset1">',
)
UNKNOWN_OPSET = Rule(
    "IR202",
    "unknown-opset",
    Severity.ERROR,
    what="The version of a layer is not an opset.",
    why="the runtime compares the version letter by letter, and refuses a layer that has none.",
    bad='<layer id="1" name="pool" type="AvgPool" version="Opset1">',
    good='<layer id="1" name="pool" type="AvgPool" version="opset1">',
)
OPERATION_NOT_IN_OPSET = Rule(
    "IR203",
    "operation-not-in-opset",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The opset in the version of a layer does not contain its operation.",
    why=(
        "the runtime looks in that opset only, and refuses the file. The operation was added in a later opset, or "
        "removed before this one."
    ),
    bad='<layer id="1" name="soft" type="SoftPlus" version="opset3">',
    good='<layer id="1" name="soft" type="SoftPlus" version="opset4">',
)
MISSING_ATTRIBUTE = Rule(
    "IR204",
    "missing-attribute",
    Severity.ERROR,
    what="A layer lacks a required attribute, or spells its name in a way that the runtime does not read.",
    why="the runtime refuses the layer, often without naming it, or uses another value than the one in the file.",
    bad='<data kernel="2, 2" pads_begin="0, 0" ... />',
    good='<data kernel="2, 2" strides="2, 2" pads_begin="0, 0" ... />',
)
ASSUMED_ATTRIBUTE = Rule(
    "IR205",
    "assumed-attribute",
    Severity.WARNING,
    what="A layer lacks an attribute that the specification requires, and the runtime assumes a value for it.",
    why="the specification defines no default, so other tools may refuse the file or assume another value.",
    bad='<data ... pads_begin="0, 0" exclude-pad="true" auto_pad="valid" ... />',
    good='<data ... pads_begin="0, 0" pads_end="0, 0" exclude-pad="true" auto_pad="valid" ... />',
)
UNKNOWN_ATTRIBUTE = Rule(
    "IR206",
    "unknown-attribute",
    Severity.WARNING,
    what="A layer has an attribute that its operation does not have.",
    why="the runtime silently ignores it. If the name is misspelled, the layer uses the default value instead.",
    bad='<data ... auto-pad="valid" ... />',
    good='<data ... auto_pad="valid" ... />',
)
UNREADABLE_ATTRIBUTE = Rule(
    "IR207",
    "unreadable-attribute",
    Severity.ERROR,
    what="The text of an attribute is not a value of its type.",
    why="the runtime refuses it, or silently reads another value: `2.5` and `2abc` as 2, `no` as true.",
    bad='<data kernel="2, 2" strides="2.5, 2" ... />',
    good='<data kernel="2, 2" strides="2, 2" ... />',
)
ATTRIBUTE_OUT_OF_RANGE = Rule(
    "IR208",
    "attribute-out-of-range",
    Severity.ERROR,
    what="An attribute has a value, or a number of values, that the operation does not allow.",
    why="the runtime refuses the layer, crashes on it, or computes something undefined.",
    bad='<data stride="0" />',
    good='<data stride="2" />',
)
WRONG_NUMBER_OF_INPUTS = Rule(
    "IR209",
    "wrong-number-of-inputs",
    Severity.ERROR,
    what="A layer has more or fewer inputs than its operation takes.",
    why=(
        "the runtime refuses the file, usually with a message about an index out of range that does not name the layer."
    ),
    bad="""
        <layer id="1" name="relu" type="ReLU" version="opset1">
        <input>
        <port id="0" precision="FP32">
        <port id="1" precision="FP32">
        </input>
    """,
    good="""
        <layer id="1" name="relu" type="ReLU" version="opset1">
        <input>
        <port id="0" precision="FP32">
        </input>
    """,
)
WRONG_NUMBER_OF_OUTPUTS = Rule(
    "IR210",
    "wrong-number-of-outputs",
    Severity.ERROR,
    what="A layer has more outputs than its operation.",
    why="the runtime refuses the file with a message about an index out of range that does not name the layer.",
    bad="""
        <layer id="1" name="relu" type="ReLU" version="opset1">
        <output>
        <port id="1" precision="FP32">
        <port id="2" precision="FP32">
        </output>
    """,
    good="""
        <layer id="1" name="relu" type="ReLU" version="opset1">
        <output>
        <port id="1" precision="FP32">
        </output>
    """,
)
WRONG_ELEMENT_TYPE = Rule(
    "IR211",
    "wrong-element-type",
    Severity.ERROR,
    milder=Severity.WARNING,
    what=(
        "An input has an element type that the operation does not accept, an element type that differs from "
        "that of another input, or none."
    ),
    why="the runtime refuses the layer when it reads or compiles the model.",
    bad="""
        <layer id="1" name="both" type="LogicalAnd" version="opset1">
        ...
        <input>
        <port id="0" precision="FP32">
    """,
    good="""
        <layer id="1" name="both" type="LogicalAnd" version="opset1">
        ...
        <input>
        <port id="0" precision="BOOL">
    """,
)
CONTRADICTING_LAYER = Rule(
    "IR212",
    "contradicting-layer",
    Severity.ERROR,
    what="The attributes and inputs of a layer contradict each other.",
    why="the runtime refuses the layer, or computes something undefined.",
    bad='<data kernel="2, 2" strides="2" ... />',
    good='<data kernel="2, 2" strides="2, 2" ... />',
)
FATAL_SETTING = Rule(
    "IR213",
    "fatal-setting",
    Severity.ERROR,
    what="A setting crashes the runtime, hangs it, or exhausts memory.",
    why="a crash ends the whole process. An example is AvgPool of opset16 without `dilations`.",
    bad="""
        <layer id="1" name="pool" type="AvgPool" version="opset16">
        <data kernel="2, 2" ... rounding_type="floor" />
    """,
    good="""
        <layer id="1" name="pool" type="AvgPool" version="opset16">
        <data kernel="2, 2" ... rounding_type="floor" dilations="1, 1" />
    """,
)
UNREAD_VARIABLE = Rule(
    "IR214",
    "unread-variable",
    Severity.ERROR,
    what=(
        "An Assign stores a variable that no ReadValue reads, or on whose ReadValue no Result and no Assign depends."
    ),
    why=(
        "the runtime takes the element type and the shape of a variable from its ReadValue, and refuses the file "
        "if there is none."
    ),
    bad="""
        <layer id="1" name="read" type="ReadValue" version="opset6">
        <data variable_id="memory" variable_type="f32" variable_shape="1,3" />
        ...
        <layer id="3" name="store" type="Assign" version="opset6">
        <data variable_id="memori" />
    """,
    good="""
        <layer id="1" name="read" type="ReadValue" version="opset6">
        <data variable_id="memory" variable_type="f32" variable_shape="1,3" />
        ...
        <layer id="3" name="store" type="Assign" version="opset6">
        <data variable_id="memory" />
    """,
)
VARIABLE_STORED_TWICE = Rule(
    "IR215",
    "variable-stored-twice",
    Severity.ERROR,
    what="Two Assign layers store the same variable.",
    why="the value that the next inference reads is undefined; the runtime refuses the model.",
    bad="""
        <layer id="3" name="store" type="Assign" version="opset6">
        ...
        <layer id="5" name="again" type="Assign" version="opset6">
        <data variable_id="memory" />
    """,
    good="""
        <layer id="3" name="store" type="Assign" version="opset6">
        <data variable_id="memory" />
    """,
)
UNKNOWN_EXTENSION = Rule(
    "IR216",
    "unknown-extension",
    Severity.ERROR,
    milder=Severity.INFO,
    what="The operation of a layer belongs neither to an opset nor to a known extension library.",
    why=(
        "the runtime refuses the file unless the library is loaded. With `--extension LIB` the severity is "
        "info: ir_tools cannot check the attributes, element types and shapes of the layer."
    ),
    bad='<layer id="1" name="own" type="Own" version="extension">',
    good='<layer id="1" name="own" type="ReLU" version="opset1">',
)
