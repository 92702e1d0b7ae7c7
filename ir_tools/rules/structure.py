"""Structure: layers, ids, ports, edges, bodies."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

BAD_LAYER_ID = Rule(
    "IR101",
    "bad-layer-id",
    Severity.ERROR,
    what="The id of a layer is missing, or is not an integer from 0 to 2^63 - 1.",
    why="edges name layers by id.",
    bad='<layer id="1.0" name="relu" type="ReLU" version="opset1">',
    good='<layer id="1" name="relu" type="ReLU" version="opset1">',
)
DUPLICATE_LAYER_ID = Rule(
    "IR102",
    "duplicate-layer-id",
    Severity.ERROR,
    what="Two layers of one graph have the same id.",
    why="edges name layers by id; the runtime silently joins such layers and computes something else.",
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
    Severity.WARNING,
    what="Two layers of one graph have the same name.",
    why=(
        "the runtime keeps both, and whoever asks for the layer by name gets one of them; IR v10 makes tensor names"
        " of layer names."
    ),
    bad='<layer id="2" name="same" type="Abs" version="opset1">',
    good='<layer id="2" name="other" type="Abs" version="opset1">',
)
DUPLICATE_TENSOR_NAME = Rule(
    "IR105",
    "duplicate-tensor-name",
    Severity.WARNING,
    what="Two output ports have the same tensor name.",
    why=(
        "tensor names are how a program finds inputs and outputs; the runtime renames one of the two or finds the "
        "other."
    ),
    bad='<port id="1" precision="FP32" names="same">',
    good='<port id="1" precision="FP32" names="other">',
)
BAD_PORT_ID = Rule(
    "IR111",
    "bad-port-id",
    Severity.ERROR,
    what="The id of a port is missing, or is not an integer from 0 to 2^63 - 1.",
    why="edges name ports by id.",
    bad='<port id="one" precision="FP32" names="r">',
    good='<port id="1" precision="FP32" names="r">',
)
DUPLICATE_PORT_ID = Rule(
    "IR112",
    "duplicate-port-id",
    Severity.ERROR,
    what="Two inputs of a layer, or two outputs, have the same id.",
    why='an edge to that id means both; the runtime says "has incorrect input" or "node index is out of range".',
    bad='<port id="0" precision="FP16">',
    good='<port id="0" precision="FP32">',
)
BAD_DIMENSION = Rule(
    "IR113",
    "bad-dimension",
    Severity.ERROR,
    what="A <dim> holds something else than an integer.",
    why="the runtime reads 3.5 as 3 and `4 4` as 4 silently, and rejects a text, an empty one, and all below -1.",
    bad="<dim>3.5</dim>",
    good="<dim>8</dim>",
)
UNKNOWN_PRECISION = Rule(
    "IR114",
    "unknown-precision",
    Severity.ERROR,
    what="The precision of a port is not an element type, or an output port has none.",
    why="the runtime rejects such an output; of an input it reads no precision, and so its record says nothing.",
    bad='<port id="1" precision="FP33" names="r">',
    good='<port id="1" precision="FP32" names="r">',
)
DISORDERED_PORTS = Rule(
    "IR115",
    "disordered-ports",
    Severity.WARNING,
    what="The ports of one side of a layer are not in the order of their ids.",
    why="the runtime does not go by ids: the first <port> is the first input, whatever its id.",
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
    what="An edge has no from-layer, from-port, to-layer or to-port, or one that is not an integer.",
    why="it leads from nowhere or to nowhere.",
    bad='<edge from-layer="0" from_port="0" to-layer="1" to-port="0" />',
    good='<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />',
)
DANGLING_EDGE = Rule(
    "IR122",
    "dangling-edge",
    Severity.ERROR,
    what="An edge leads to or from a layer or a port that does not exist.",
    why=(
        "what it carries comes from nowhere or is lost; the runtime rejects most of them, and skips an edge to"
        " a layer that is not there."
    ),
    bad='<edge from-layer="1" from-port="7" to-layer="2" to-port="0" />',
    good='<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />',
)
INPUT_FED_TWICE = Rule(
    "IR123",
    "input-fed-twice",
    Severity.ERROR,
    what="Two edges from different ports lead to one input.",
    why="an input has one value; the runtime counts one input too many and rejects the layer.",
    bad='<edge from-layer="0" from-port="0" to-layer="2" to-port="0" />',
    good='<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />',
)
CIRCULAR_LAYERS = Rule(
    "IR124",
    "circular-layers",
    Severity.ERROR,
    what="Layers feed each other in a circle.",
    why='none of them can be computed first; the runtime says "Attempt to access node that not in graph".',
    bad='<edge from-layer="1" from-port="1" to-layer="1" to-port="0" />',
    good='<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />',
)
REPEATED_EDGE = Rule(
    "IR125",
    "repeated-edge",
    Severity.ERROR,
    what="The same edge occurs twice.",
    why='the runtime counts one input too many: "has incorrect input with index 1!".',
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
        "the layer has nothing to compute from. The runtime rejects it without a name (\"index '0' out of range\"), "
        "unless no result depends on the layer."
    ),
    bad='<port id="7" precision="FP32">',
    good='<port id="0" precision="FP32">',
)
UNREAD_LAYER = Rule(
    "IR127",
    "unread-layer",
    Severity.WARNING,
    what="Nothing reads what a layer gives.",
    why=(
        "the runtime drops such a layer, and an input of the model that nothing reads changes no result. An edge "
        "may begin at the wrong layer, or a Result may be missing. Parameters of bodies may go unread: a Loop gives"
        " more than a body needs."
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
    what="There is no <layers>, or it is empty.",
    why="the runtime reads a model without layers, and computes nothing.",
    bad="<layers />",
    good="<layers>",
)
MISSING_EDGES = Rule(
    "IR132",
    "missing-edges",
    Severity.ERROR,
    what="There is no <edges>, or it is empty, and layers have inputs.",
    why='no input is connected; the runtime says "Argument has 0 outputs (1 expected)".',
    bad="<edges />",
    good="<edges>",
)
REPEATED_ELEMENT = Rule(
    "IR133",
    "repeated-element",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="An element that may occur once occurs twice.",
    why="the runtime reads the first one, and what is in the second is lost, unless that is empty or the same.",
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
    what="An element is misspelled, is in a place where the runtime does not read it, or belongs to older files.",
    why="the runtime silently ignores it, so that its content is lost; on some relics of older files it stops.",
    bad='<dat auto_broadcast="numpy" />',
    good='<data auto_broadcast="numpy" />',
)
STRAY_TEXT = Rule(
    "IR135",
    "stray-text",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="There is text where only elements belong.",
    why="the runtime ignores it, and stops in <meta_data>; it is left over, or an element lost its brackets.",
    bad="<layers> left over",
    good="<layers>",
)
MISSPELLED_ATTRIBUTE = Rule(
    "IR136",
    "misspelled-attribute",
    Severity.WARNING,
    what="An attribute of a tag has almost the name of one that the runtime reads.",
    why="the runtime ignores it: tensor names are lost, a layer keeps no name.",
    bad='<port id="1" precision="FP32" name="r">',
    good='<port id="1" precision="FP32" names="r">',
)
NO_RESULT = Rule(
    "IR137",
    "no-result",
    Severity.ERROR,
    what="The model has no Result: nothing that it computes can be asked for.",
    why="the runtime reads it, throws away every layer that no Result depends on, and computes nothing.",
    bad='<layer id="2" name="abs" type="Abs" version="opset1">',
    good='<layer id="2" name="result" type="Result" version="opset1">',
)
MISSING_BODY = Rule(
    "IR141",
    "missing-body",
    Severity.ERROR,
    what="A layer of type TensorIterator, Loop or If has no body.",
    why='there is nothing to compute; the runtime says "TensorIterator has no body", whatever the type.',
    bad="<body />",
    good="<body>",
)
UNEXPECTED_BODY = Rule(
    "IR142",
    "unexpected-body",
    Severity.WARNING,
    what="A layer has a body, or a table that ties one to it, but its operation takes none.",
    why="the runtime does not read it.",
    bad="<then_port_map />",
    good="<port_map>",
)
MISSING_PORT_MAP = Rule(
    "IR143",
    "missing-port-map",
    Severity.ERROR,
    what="A layer has a body, but no table that ties its ports to it.",
    why="the body gets no input and its results go nowhere.",
    bad="<back_edges />",
    good="<port_map>",
)
BAD_PORT_MAP_ROW = Rule(
    "IR144",
    "bad-port-map-row",
    Severity.ERROR,
    what="A row of a port map lacks a number, or has one that cannot be read.",
    why="the runtime rejects the file and gives an offset in bytes.",
    bad='<input external_port_id="0" axis="1" />',
    good='<input external_port_id="0" internal_layer_id="0" axis="1" />',
)
WRONG_PORT_MAP_ROW = Rule(
    "IR145",
    "wrong-port-map-row",
    Severity.ERROR,
    milder=Severity.WARNING,
    what=(
        "A row of a port map names a port that the layer lacks, or a layer of the body that is not a Parameter or "
        "Result."
    ),
    why=(
        'inputs go to Parameters, outputs come from Results. The runtime says "unordered_map::at"; an output port '
        "that is not there it accepts, and counts. Of an input it takes the id as its number. The current iteration"
        ' of a Loop comes from no port (`external_port_id="-1"`).'
    ),
    bad='<output external_port_id="9" internal_layer_id="2" axis="1" />',
    good='<output external_port_id="1" internal_layer_id="2" axis="1" />',
)
REPEATED_PORT_MAP_ROW = Rule(
    "IR146",
    "repeated-port-map-row",
    Severity.ERROR,
    what="Two rows of a port map feed one Parameter, or give one output.",
    why="each has one value; the runtime takes one of them silently.",
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
    what="No row of the port map feeds a Parameter of the body, takes its Result, or gives an output of the layer.",
    why=(
        "a Parameter without a value cannot be computed with, and an output that nothing gives has no shape. A "
        "Result that neither a row nor a back edge takes is a warning: the runtime computes it in vain."
    ),
    bad='<layer id="0" name="slice" type="Parameter" version="opset1">',
    good='<input external_port_id="0" internal_layer_id="0" axis="1" />',
)
BAD_BACK_EDGE = Rule(
    "IR148",
    "bad-back-edge",
    Severity.ERROR,
    what="A back edge does not lead from a Result of the body to a Parameter of it.",
    why=(
        "it carries a value from one iteration to the next. The runtime rejects one from nowhere, and skips one to"
        " nowhere: every iteration then starts from the same value."
    ),
    bad='<edge from-layer="2" to-layer="9" />',
    good='<edge from-layer="2" to-layer="0" />',
)
BAD_SLICE = Rule(
    "IR149",
    "bad-slice",
    Severity.ERROR,
    what="A row of a port map slices its tensor into no parts, unequal parts, or more or fewer parts than others.",
    why='the number of parts is how often the body runs. stride="0" and part_size="0" kill the runtime\'s process.',
    bad='<input external_port_id="0" internal_layer_id="0" axis="1" part_size="0" />',
    good='<input external_port_id="0" internal_layer_id="0" axis="1" />',
)
MISSING_EXECUTION_CONDITION = Rule(
    "IR150",
    "missing-execution-condition",
    Severity.ERROR,
    what="A Loop has no output of its body with the purpose execution_condition.",
    why="it is undefined whether it goes on; the runtime gives its outputs no shape and cannot compile it.",
    bad="<port_map>",
    good='<output external_port_id="-1" internal_layer_id="5" purpose="execution_condition" />',
)
LOOP_WITHOUT_BACK_EDGE = Rule(
    "IR151",
    "loop-without-back-edge",
    Severity.WARNING,
    what="A Loop or TensorIterator lacks a back edge, so that its iterations do not depend on each other.",
    why=(
        "every iteration begins with the same values. That is intended if each reads another slice and all "
        "outputs are joined, or if a Loop ends at the first hit; otherwise all iterations but the last are in vain."
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
        "An attribute of rt_info has no name or version, is there twice, or has a value that cannot be read or does"
        " not fit."
    ),
    why=(
        "the runtime knows them by name and version, and takes one of two. It rejects the file for a layout, an "
        "order of dimensions or an element type that it cannot read, and for a layout of another rank at an input "
        "or output of the model."
    ),
    bad='<attribute name="layout" version="0" layout="[N," />',
    good='<attribute name="layout" version="0" layout="[N,C,H,W]" />',
)
REPEATED_MODEL_INFO = Rule(
    "IR162",
    "repeated-model-info",
    Severity.WARNING,
    what="An entry of the model's rt_info occurs twice.",
    why="the runtime keeps one of the two.",
    bad="""
        <framework value="onnx" />
        <framework value="pytorch" />
    """,
    good='<framework value="onnx" />',
)
