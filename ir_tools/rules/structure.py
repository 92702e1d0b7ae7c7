"""Structure: layers, ids, ports, edges, bodies."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

BAD_LAYER_ID = Rule(
    "IR101",
    "bad-layer-id",
    Severity.ERROR,
    what="The id of a layer is missing, or is not an integer from 0 to 2^63 - 1.",
    why="edges refer to layers by id.",
    bad='<layer id="1.0" name="relu" type="ReLU" version="opset1">',
    good='<layer id="1" name="relu" type="ReLU" version="opset1">',
)
DUPLICATE_LAYER_ID = Rule(
    "IR102",
    "duplicate-layer-id",
    Severity.ERROR,
    what="Two layers of one graph have the same id.",
    why="edges refer to layers by id; the runtime silently merges such layers and computes something else.",
    bad="""
        <layer id="3" name="abs" type="Abs" version="opset1">
        <layer id="3" name="relu" type="ReLU" version="opset1">
    """,
    good="""
        <layer id="3" name="abs" type="Abs" version="opset1">
        <layer id="4" name="relu" type="ReLU" version="opset1">
    """,
)
MISSING_LAYER_ATTRIBUTE = Rule(
    "IR103",
    "missing-layer-attribute",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="A layer has no name, type or version.",
    why='the runtime needs all three; without one it says "missing mandatory attribute" and an offset in bytes.',
    bad='<layer id="1" name="relu" version="opset1">',
    good='<layer id="1" name="relu" type="ReLU" version="opset1">',
)
DUPLICATE_LAYER_NAME = Rule(
    "IR104",
    "duplicate-layer-name",
    Severity.ERROR,
    what="Two layers of one graph have the same name.",
    why=(
        "the runtime keeps both, and a program that asks for the layer by name gets either one. In IR v10, "
        "layer names are also tensor names. Inference Engine, which reads IR v2 to v7, finds layers by name and "
        "rejects such a file: there it is an error for layers with outputs, except in bodies."
    ),
    bad='<layer id="2" name="same" type="Abs" version="opset1">',
    good='<layer id="2" name="other" type="Abs" version="opset1">',
    milder=Severity.WARNING,
)
DUPLICATE_TENSOR_NAME = Rule(
    "IR105",
    "duplicate-tensor-name",
    Severity.WARNING,
    what="Two output ports of one graph have the same tensor name.",
    why=(
        "programs find inputs and outputs by tensor name. If two tensors have the name, the runtime renames one of "
        "them, or returns the one that was not meant. In IR v10, the runtime also names the tensor of each input and "
        "output after its layer, and refuses the file if another input or output has that name; releases from 2025.0 "
        "on also refuse two outputs that are one tensor with a name, or an output that is an input."
    ),
    bad="""
        <layer id="1" ...>
            <port id="1" precision="FP32" names="same">
        <layer id="2" ...>
            <port id="1" precision="FP32" names="same">
    """,
    good="""
        <layer id="1" ...>
            <port id="1" precision="FP32" names="same">
        <layer id="2" ...>
            <port id="1" precision="FP32" names="other">
    """,
)
BAD_PORT_ID = Rule(
    "IR111",
    "bad-port-id",
    Severity.ERROR,
    what="The id of a port is missing, or is not an integer from 0 to 2^63 - 1.",
    why="edges refer to ports by id.",
    bad='<port id="one" precision="FP32" names="r">',
    good='<port id="1" precision="FP32" names="r">',
)
DUPLICATE_PORT_ID = Rule(
    "IR112",
    "duplicate-port-id",
    Severity.ERROR,
    what="Two inputs of a layer, or two outputs, have the same id.",
    why='an edge to that id is ambiguous; the runtime says "has incorrect input" or "node index is out of range".',
    bad='<port id="0" precision="FP16">',
    good='<port id="0" precision="FP32">',
)
BAD_DIMENSION = Rule(
    "IR113",
    "bad-dimension",
    Severity.ERROR,
    what="A <dim> does not contain an integer.",
    why=(
        "the runtime silently reads 3.5 as 3 and `4 4` as 4; it rejects other text, an empty <dim>, and integers "
        "below -1."
    ),
    bad="<dim>3.5</dim>",
    good="<dim>8</dim>",
)
UNKNOWN_PRECISION = Rule(
    "IR114",
    "unknown-precision",
    Severity.ERROR,
    what="The precision of a port is not an element type, or an output port has none.",
    why=(
        "the runtime rejects such an output port. It does not read the precision of an input port, so the record "
        "is useless there."
    ),
    bad='<port id="1" precision="FP33" names="r">',
    good='<port id="1" precision="FP32" names="r">',
)
DISORDERED_PORTS = Rule(
    "IR115",
    "disordered-ports",
    Severity.WARNING,
    what="The input ports or the output ports of a layer are not in the order of their ids.",
    why="the runtime uses the position, not the id: the first <port> is the first input.",
    bad="""
        <port id="1" precision="FP32">
        ...
        <port id="0" precision="FP32">
    """,
    good="""
        <port id="0" precision="FP32">
        ...
        <port id="1" precision="FP32">
    """,
)
BAD_EDGE = Rule(
    "IR121",
    "bad-edge",
    Severity.ERROR,
    what="The from-layer, from-port, to-layer or to-port of an edge is missing or is not an integer.",
    why="the edge does not connect two ports.",
    bad='<edge from-layer="0" from_port="0" to-layer="1" to-port="0" />',
    good='<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />',
)
DANGLING_EDGE = Rule(
    "IR122",
    "dangling-edge",
    Severity.ERROR,
    what="An edge leads to or from a layer or a port that does not exist.",
    why=(
        "the edge does not connect two ports. The runtime rejects most such edges, and skips an edge to a "
        "layer that does not exist."
    ),
    bad='<edge from-layer="1" from-port="7" to-layer="2" to-port="0" />',
    good='<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />',
)
INPUT_FED_TWICE = Rule(
    "IR123",
    "input-fed-twice",
    Severity.ERROR,
    what="Two edges from different ports lead to the same input.",
    why="an input has one value; the runtime counts an extra input and rejects the layer.",
    bad='<edge from-layer="0" from-port="0" to-layer="2" to-port="0" />',
    good='<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />',
)
CIRCULAR_LAYERS = Rule(
    "IR124",
    "circular-layers",
    Severity.ERROR,
    what="Layers form a cycle.",
    why='no layer of a cycle can be computed first; the runtime says "Attempt to access node that not in graph".',
    bad='<edge from-layer="1" from-port="1" to-layer="1" to-port="0" />',
    good='<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />',
)
REPEATED_EDGE = Rule(
    "IR125",
    "repeated-edge",
    Severity.ERROR,
    what="The same edge occurs twice.",
    why='the runtime counts an extra input: "has incorrect input with index 1!".',
    bad="""
        <edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
        <edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
    """,
    good='<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />',
)
UNFED_INPUT = Rule(
    "IR126",
    "unfed-input",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="No edge leads to an input of a layer.",
    why=(
        "the layer cannot be computed. The runtime rejects the file without naming the layer (\"index '0' out "
        'of range"), unless no Result depends on it.'
    ),
    bad='<port id="7" precision="FP32">',
    good='<port id="0" precision="FP32">',
)
UNREAD_LAYER = Rule(
    "IR127",
    "unread-layer",
    Severity.WARNING,
    what="The output of a layer has no consumer.",
    why=(
        "the runtime removes such a layer; an input of the model without a consumer changes no result. Perhaps "
        "an edge begins at the wrong layer, or a Result is missing. Parameters of bodies are not reported, "
        "because a Loop may pass more values than its body needs."
    ),
    bad="""
        <edge from-layer="0" from-port="0" to-layer="3" to-port="0" />
        <edge from-layer="0" from-port="0" to-layer="3" to-port="1" />
    """,
    good="""
        <edge from-layer="0" from-port="0" to-layer="3" to-port="0" />
        <edge from-layer="1" from-port="0" to-layer="3" to-port="1" />
    """,
)
MISSING_LAYERS = Rule(
    "IR131",
    "missing-layers",
    Severity.ERROR,
    what="The model has no <layers>, or <layers> is empty.",
    why="the runtime reads a model without layers, and computes nothing.",
    bad="<layers />",
    good="<layers>",
)
MISSING_EDGES = Rule(
    "IR132",
    "missing-edges",
    Severity.ERROR,
    what="Layers have inputs, but <edges> is missing or empty.",
    why='no input is connected; the runtime says "Argument has 0 outputs (1 expected)".',
    bad="<edges />",
    good="<edges>",
)
REPEATED_ELEMENT = Rule(
    "IR133",
    "repeated-element",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="An element that may occur only once occurs twice.",
    why="the runtime reads only the first one, so the content of the second is lost, unless it is empty or the same.",
    bad="""
        <data auto_broadcast="numpy" />
        <data auto_broadcast="none" />
    """,
    good='<data auto_broadcast="numpy" />',
)
UNKNOWN_ELEMENT = Rule(
    "IR134",
    "unknown-element",
    Severity.ERROR,
    milder=Severity.WARNING,
    what=(
        "An element is misspelled, is in a place where the runtime does not read it, or belongs to older versions "
        "of IR."
    ),
    why=(
        "the runtime silently ignores it, so its content is lost; some elements of older versions make the runtime "
        "refuse the file."
    ),
    bad='<dat auto_broadcast="numpy" />',
    good='<data auto_broadcast="numpy" />',
)
STRAY_TEXT = Rule(
    "IR135",
    "stray-text",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="An element that may contain only elements contains text.",
    why=(
        "the runtime ignores it (in <meta_data> it refuses the file). The text may be a leftover, or an element "
        "that lost its angle brackets."
    ),
    bad="<layers> left over",
    good="<layers>",
)
MISSPELLED_ATTRIBUTE = Rule(
    "IR136",
    "misspelled-attribute",
    Severity.WARNING,
    what=(
        "The name of an XML attribute is a misspelling of one that the runtime reads, or an attribute of an "
        "operation is in the tag of its layer instead of in <data>."
    ),
    why="the runtime ignores it, so tensor names, the name of a layer or a setting are lost.",
    bad='<port id="1" precision="FP32" name="r">',
    good='<port id="1" precision="FP32" names="r">',
)
NO_RESULT = Rule(
    "IR137",
    "no-result",
    Severity.ERROR,
    what="The model has no Result, so it has no outputs.",
    why="the runtime removes every layer that no Result depends on, and computes nothing.",
    bad='<layer id="2" name="abs" type="Abs" version="opset1">',
    good='<layer id="2" name="result" type="Result" version="opset1">',
)
MISSING_BODY = Rule(
    "IR141",
    "missing-body",
    Severity.ERROR,
    what="A layer of type TensorIterator, Loop or If has no body.",
    why='there is nothing to compute; the runtime says "TensorIterator has no body" for all three types.',
    bad="<body />",
    good="<body>",
)
UNEXPECTED_BODY = Rule(
    "IR142",
    "unexpected-body",
    Severity.WARNING,
    what="A layer has a body or a port map, but its operation has none of that name.",
    why="the runtime does not read it.",
    bad="<then_port_map />",
    good="<port_map>",
)
MISSING_PORT_MAP = Rule(
    "IR143",
    "missing-port-map",
    Severity.ERROR,
    what="A layer has a body, but no port map that connects its ports to the body.",
    why="the body has no inputs, and its results are lost.",
    bad="<back_edges />",
    good="<port_map>",
)
BAD_PORT_MAP_ROW = Rule(
    "IR144",
    "bad-port-map-row",
    Severity.ERROR,
    what="A number in a row of a port map is missing or invalid.",
    why="the runtime rejects the file, and its message has only an offset in bytes.",
    bad='<input external_port_id="0" axis="1" />',
    good='<input external_port_id="0" internal_layer_id="0" axis="1" />',
)
WRONG_PORT_MAP_ROW = Rule(
    "IR145",
    "wrong-port-map-row",
    Severity.ERROR,
    milder=Severity.WARNING,
    what=(
        "A row of a port map names a port that the layer does not have, or a layer of the body that is not a "
        "Parameter or Result."
    ),
    why=(
        'inputs lead to Parameters, and outputs come from Results. The runtime says "unordered_map::at"; it '
        "accepts a missing output port as an additional output. It uses the id of an input port as its "
        'position. The current iteration of a Loop has `external_port_id="-1"`.'
    ),
    bad='<output external_port_id="9" internal_layer_id="2" axis="1" />',
    good='<output external_port_id="1" internal_layer_id="2" axis="1" />',
)
REPEATED_PORT_MAP_ROW = Rule(
    "IR146",
    "repeated-port-map-row",
    Severity.ERROR,
    what="Two rows of a port map lead to the same Parameter, or to the same output.",
    why="each has one value; the runtime silently uses one of the two rows.",
    bad="""
        <input external_port_id="0" internal_layer_id="0" axis="1" />
        <input external_port_id="0" internal_layer_id="0" axis="1" />
    """,
    good='<input external_port_id="0" internal_layer_id="0" axis="1" />',
)
UNMAPPED_PORT = Rule(
    "IR147",
    "unmapped-port",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="A Parameter or Result of the body, or an output of the layer, has no row in the port map.",
    why=(
        "such a Parameter has no value, and such an output has no shape. A Result with neither a row nor a "
        "back edge is a warning: the runtime computes it, and the value is not used."
    ),
    bad='<layer id="0" name="slice" type="Parameter" version="opset1">',
    good='<input external_port_id="0" internal_layer_id="0" axis="1" />',
)
BAD_BACK_EDGE = Rule(
    "IR148",
    "bad-back-edge",
    Severity.ERROR,
    what="A back edge does not lead from a Result of the body to a Parameter of the same body.",
    why=(
        "a back edge passes a value from one iteration to the next. The runtime rejects one that comes from a "
        "missing layer. It skips one that leads to a missing layer: every iteration then starts with the same "
        "value."
    ),
    bad='<edge from-layer="2" to-layer="9" />',
    good='<edge from-layer="2" to-layer="0" />',
)
BAD_SLICE = Rule(
    "IR149",
    "bad-slice",
    Severity.ERROR,
    milder=Severity.WARNING,
    what=(
        "A row of a port map slices its tensor into no parts, into unequal parts, or into another number of parts "
        "than an earlier row; or the runtime ignores what it says of the slices."
    ),
    why=(
        'the number of parts is the number of iterations. With stride="0" or part_size="0" the process of the '
        "runtime crashes."
    ),
    bad='<input external_port_id="0" internal_layer_id="0" axis="1" part_size="0" />',
    good='<input external_port_id="0" internal_layer_id="0" axis="1" />',
)
MISSING_EXECUTION_CONDITION = Rule(
    "IR150",
    "missing-execution-condition",
    Severity.ERROR,
    what="The port map of a Loop has no output with the purpose execution_condition.",
    why=(
        "this output decides whether the loop continues; without it the runtime cannot determine the output shapes "
        "and cannot compile the model."
    ),
    bad="<port_map>",
    good='<output external_port_id="-1" internal_layer_id="5" purpose="execution_condition" />',
)
LOOP_WITHOUT_BACK_EDGE = Rule(
    "IR151",
    "loop-without-back-edge",
    Severity.WARNING,
    what="A Loop or TensorIterator lacks a back edge, so its iterations do not depend on each other.",
    why=(
        "every iteration starts with the same values. This is valid if each iteration reads another slice and "
        "all outputs are concatenated, or if the Loop stops when a condition is met; otherwise only the last "
        "iteration has an effect."
    ),
    bad="<back_edges />",
    good="""
        <back_edges>
        <edge from-layer="2" to-layer="0" />
    """,
)
BAD_RT_INFO = Rule(
    "IR161",
    "bad-rt-info",
    Severity.ERROR,
    milder=Severity.WARNING,
    what=(
        "An attribute of rt_info has no name or version, occurs twice, or has a value that is invalid or does "
        "not fit its port."
    ),
    why=(
        "the runtime finds these attributes by name and version, and uses one of two equal ones. It rejects "
        "the file if a layout, an order of dimensions or an element type is invalid, or if the layout of an "
        "input or output of the model has another rank."
    ),
    bad='<attribute name="layout" version="0" layout="[N," />',
    good='<attribute name="layout" version="0" layout="[N,C,H,W]" />',
)
REPEATED_MODEL_INFO = Rule(
    "IR162",
    "repeated-model-info",
    Severity.WARNING,
    what="An entry of the model's rt_info occurs twice.",
    why="the runtime keeps only one of the two.",
    bad="""
        <framework value="onnx" />
        <framework value="pytorch" />
    """,
    good='<framework value="onnx" />',
)
