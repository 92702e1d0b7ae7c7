"""What the reference and the installed runtime do."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

NO_KERNEL = Rule(
    "RUN001",
    "no-kernel",
    Severity.ERROR,
    what="The reference executor has no kernel for the operation of a layer.",
    why="`run` and `compare` need the runtime to compute the layer.",
    bad='<layer id="1" name="own" type="Own" version="extension">',
    good='<layer id="1" name="own" type="ReLU" version="opset1">',
)
REJECTED_WHILE_READING = Rule(
    "RUN101",
    "rejected-while-reading",
    Severity.ERROR,
    what="The runtime (the installed one, or the release that `--runtime` names) does not read the file.",
    why=(
        "`Core.read_model` checks the attributes, ports and shapes of every layer that leads to a Result, and "
        "stops at the first one that it rejects. If the message does not name the layer, ir_tools finds it by "
        "reading smaller and smaller parts of the model."
    ),
    bad='<data kernel="2, 2" strides="2" ... />',
    good='<data kernel="2, 2" strides="2, 2" ... />',
)
REJECTED_WHILE_COMPILING = Rule(
    "RUN102",
    "rejected-while-compiling",
    Severity.ERROR,
    what="The runtime reads the file, but its device cannot compile it.",
    why=(
        "a device supports fewer operations, element types and ranks than the format, and checks some "
        "attributes more strictly. An example is AvgPool with dilations on i32 data of one channel."
    ),
    bad='<data element_type="i32" shape="1,1,8,8" />',
    good='<data element_type="f32" shape="1,1,8,8" />',
)
REJECTED_WHILE_RUNNING = Rule(
    "RUN103",
    "rejected-while-running",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The first inference, on static input shapes and generated values, fails.",
    why=(
        "values that are known only at run time contradict each other, such as a length beyond the axis of a "
        "ReverseSequence. The inputs were random floats, and integers and booleans that were all 1, then all 0."
    ),
    bad='<data seq_axis="3" ... />',
    good='<data seq_axis="1" ... />',
)
RUNTIME_CRASH = Rule(
    "RUN104",
    "runtime-crash",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The runtime crashes with a signal, such as a segmentation fault, a division by zero or an abort.",
    why=(
        "it does not check some attributes (AvgPool of opset16 without `dilations`, a TensorIterator with "
        '`part_size="0"`). Every program that loads the file crashes; ir_tools ran it in a child process.'
    ),
    bad='<input external_port_id="0" internal_layer_id="0" axis="1" part_size="0" ... />',
    good='<input external_port_id="0" internal_layer_id="0" axis="1" part_size="1" ... />',
)
RUNTIME_TOO_SLOW = Rule(
    "RUN105",
    "runtime-too-slow",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The runtime does not finish in the time allowed.",
    why="the model has a Loop of, for example, 2^40 or -5 iterations, or so many layers that compiling takes longer.",
    bad='<layer id="7" name="trip_count" type="Const" version="opset1"> of -5',
    good='<layer id="7" name="trip_count" type="Const" version="opset1"> of 5',
)
RUNTIME_OUT_OF_MEMORY = Rule(
    "RUN106",
    "runtime-out-of-memory",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The runtime needs more memory than the limit.",
    why=(
        "the runtime reads pads of 10^9 or an output of 2^40 elements without an error, and allocates the memory later."
    ),
    bad='<data kernel="2, 2" pads_begin="1000000000, 0" ... />',
    good='<data kernel="2, 2" pads_begin="1, 0" ... />',
)
NOT_TRIED = Rule(
    "RUN107",
    "not-tried",
    Severity.INFO,
    what="The model could not be run as far as an inference.",
    why=(
        "the `.bin` is missing, the model needs an extension, or ir_tools found no sizes for the dynamic dimensions of "
        "the inputs that the model accepts."
    ),
    bad='<layer id="4" name="split" type="RegexSplit" version="extension">',
    good='<layer id="4" name="split" type="Split" version="opset1">',
)
