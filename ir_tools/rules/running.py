"""What the reference and the installed runtime do."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

NO_KERNEL = Rule(
    "RUN001",
    "no-kernel",
    Severity.ERROR,
    what="The reference executor has no kernel for the operation of a layer.",
    why="`run` and `compare` cannot compute the layer without the runtime.",
    bad='<layer id="1" name="own" type="Own" version="extension">',
    good='<layer id="1" name="own" type="ReLU" version="opset1">',
)
REJECTED_WHILE_READING = Rule(
    "RUN101",
    "rejected-while-reading",
    Severity.ERROR,
    what="The runtime (the installed one, or that of `--runtime`) does not read the file.",
    why=(
        "`Core.read_model` checks attributes, ports and shapes of each layer that leads to a Result, and stops at "
        "the first that it does not take. The layer is found by reading ever smaller parts of the model."
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
        "a device knows fewer operations, element types and ranks than the format has, and checks some attributes "
        "again, more strictly. AvgPool with dilations on i32 with one channel is such a case."
    ),
    bad='<data element_type="i32" shape="1,1,8,8" />',
    good='<data element_type="f32" shape="1,1,8,8" />',
)
REJECTED_WHILE_RUNNING = Rule(
    "RUN103",
    "rejected-while-running",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The first inference fails, with static input shapes and made-up values.",
    why=(
        "sizes that are known only when the model runs contradict each other: lengths beyond the axis of a "
        "ReverseSequence, say. Integers and booleans were all 1, then all 0; floats were random."
    ),
    bad='<data seq_axis="3" ... />',
    good='<data seq_axis="1" ... />',
)
RUNTIME_CRASH = Rule(
    "RUN104",
    "runtime-crash",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The runtime ends by a signal: a segmentation fault, a division by zero, an abort.",
    why=(
        "it takes some attributes without checking them (AvgPool of opset16 without `dilations`, a TensorIterator "
        'with `part_size="0"`). A program that loads the file ends too. Here only a child process did.'
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
    why="a Loop of 2^40 or -5 iterations, or so many layers that compiling takes this long.",
    bad='<layer id="7" name="trip_count" type="Const" version="opset1"> of -5',
    good='<layer id="7" name="trip_count" type="Const" version="opset1"> of 5',
)
RUNTIME_OUT_OF_MEMORY = Rule(
    "RUN106",
    "runtime-out-of-memory",
    Severity.ERROR,
    milder=Severity.WARNING,
    what="The runtime asks for more memory than it may have.",
    why="pads of 10^9, or an output of 2^40 elements, are read silently and allocated later.",
    bad='<data kernel="2, 2" pads_begin="1000000000, 0" ... />',
    good='<data kernel="2, 2" pads_begin="1, 0" ... />',
)
NOT_TRIED = Rule(
    "RUN107",
    "not-tried",
    Severity.INFO,
    what="The runtime could not be asked, or not as far as an inference.",
    why=(
        "the `.bin` is not there, openvino is not installed, the model needs an extension, or no input sizes that "
        "were made up for dynamic dimensions fit."
    ),
    bad='<layer id="4" name="split" type="RegexSplit" version="extension">',
    good='<layer id="4" name="split" type="Split" version="opset1">',
)
