"""The ways in which the runtime fails over a file: the rows of the code table that `ir_tools.runtime.trial` finds."""

from dataclasses import dataclass

from ir_tools.diagnostics import Severity

__all__ = ["COMPILING", "CRASHED", "ENDLESS", "OUTCOMES", "READING", "RUNNING", "TOO_LARGE", "UNTRIED", "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A way in which the runtime fails: `name` as of a rule, `message` with gaps, and what to do about it."""

    code: str
    name: str
    severity: Severity
    message: str
    help: str
    doc: str


READING = Outcome(
    "RUN101",
    "rejected-while-reading",
    Severity.ERROR,
    "the runtime rejects the file: {reason}",
    "correct the layer as the message says",
    """The installed runtime does not read the file.

Why: `Core.read_model` checks attributes, ports and shapes of each layer that leads to a Result, and stops at the first
that it does not take. The layer is found by reading ever smaller parts of the model.

Bad:
    <data kernel="2, 2" strides="2" ... />

Good:
    <data kernel="2, 2" strides="2, 2" ... />
""",
)
COMPILING = Outcome(
    "RUN102",
    "rejected-while-compiling",
    Severity.ERROR,
    "the runtime cannot compile the model: {reason}",
    "correct the layer, or choose another device, if this one lacks the operation or its element type",
    """The installed runtime reads the file, but its device cannot compile it.

Why: a device knows fewer operations, element types and ranks than the format has, and checks some attributes again,
more strictly. AvgPool with dilations on i32 with one channel is such a case.

Bad:
    <data element_type="i32" shape="1,1,8,8" />

Good:
    <data element_type="f32" shape="1,1,8,8" />
""",
)
RUNNING = Outcome(
    "RUN103",
    "rejected-while-running",
    Severity.ERROR,
    "the runtime compiles the model but cannot run it: {reason}",
    "correct the layer as the message says",
    """The first inference fails, with static input shapes and made-up values.

Why: sizes that are known only when the model runs contradict each other: lengths beyond the axis of a ReverseSequence,
say. Integers and booleans were all 1, then all 0; floats were random.

Bad:
    <data seq_axis="3" ... />

Good:
    <data seq_axis="1" ... />
""",
)
CRASHED = Outcome(
    "RUN104",
    "runtime-crash",
    Severity.ERROR,
    "the runtime crashes ({reason}) while {stage}",
    "correct the layer before any program loads the file: it would end with a signal and without a message",
    """The runtime ends by a signal: a segmentation fault, a division by zero, an abort.

Why: it takes some attributes without checking them (AvgPool of opset16 without `dilations`, a TensorIterator with
`part_size="0"`). A program that loads the file ends too. Here only a child process did.

Bad:
    <input external_port_id="0" internal_layer_id="0" axis="1" part_size="0" ... />

Good:
    <input external_port_id="0" internal_layer_id="0" axis="1" part_size="1" ... />
""",
)
ENDLESS = Outcome(
    "RUN105",
    "runtime-too-slow",
    Severity.ERROR,
    "the runtime does not end within {seconds:g} s while {stage}",
    "look for a trip count or size that is far too large; give a larger model more time",
    """The runtime does not end in the time that it was given.

Why: a Loop with a trip count of 2^40 or -5, or so many layers that compiling takes this long.

Bad:
    <layer id="7" name="trip_count" type="Const" version="opset1"> of -5

Good:
    <layer id="7" name="trip_count" type="Const" version="opset1"> of 5
""",
)
TOO_LARGE = Outcome(
    "RUN106",
    "runtime-out-of-memory",
    Severity.ERROR,
    "the runtime runs out of memory (it may have {memory:.3g} GiB) while {stage}{words}",
    "look for pads, strides or sizes that are far too large; give a larger model more memory",
    """The runtime asks for more memory than it may have.

Why: pads of 10^9, or an output of 2^40 elements, are read silently and allocated later.

Bad:
    <data kernel="2, 2" pads_begin="1000000000, 0" ... />

Good:
    <data kernel="2, 2" pads_begin="1, 0" ... />
""",
)
UNTRIED = Outcome(
    "RUN107",
    "not-tried",
    Severity.INFO,
    "the model could not be tried: {reason}",
    "",
    """The runtime could not be asked, or not as far as an inference.

Why: the `.bin` is not there, openvino is not installed, the model needs an extension, or no input sizes that were made
up for dynamic dimensions fit.

Bad:
    <layer id="4" name="split" type="RegexSplit" version="extension">

Good:
    <layer id="4" name="split" type="Split" version="opset1">
""",
)
OUTCOMES = (READING, COMPILING, RUNNING, CRASHED, ENDLESS, TOO_LARGE, UNTRIED)
"""By code."""
