"""What a comparison found: one row per tensor, and the whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ir_tools.comparison._differences import Difference
from ir_tools.execute import Engine
from ir_tools.ops import Array

__all__ = ["Comparison", "LayerComparison", "Mode", "OutputComparison"]

Mode = Literal["in place", "free running", "runtime against runtime", "model against model"]
"""In place: each layer of the reference gets the runtime's own inputs, which isolates its error. Free running: the
reference runs the whole model by itself, so that errors accumulate as in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerComparison:
    """Output number `output` of one layer: expected against actual, as the mode says.

    `engine`: who computed what is expected, where that is the reference: the runtime stands in, with that one layer
    alone, where the reference has no kernel. `reason` says why, where `status` is `skipped`, or `differs` without a
    `difference` (the shapes disagree), or what makes it differ. `index` counts the layers in the order of execution. A
    layer in a body has the `round` of the body, from 0 on, in which it is furthest off.
    `known`: the rows of `known_differences` that the layer falls under, where it differs or leaves something out.
    """

    path: str
    layer_id: int
    line: int | None
    op: str
    output: int = 0
    index: int = 0
    element_type: str | None = None
    shape: tuple[int, ...] | None = None
    status: Literal["ok", "differs", "skipped"]
    difference: Difference | None = None
    engine: Engine = "reference"
    reason: str | None = None
    known: tuple[str, ...] = ()
    round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputComparison:
    """One output of the model under two runs.

    Attributes:
        name, element_type, shape: of the output, in the second run.
        difference: what one of two sizes does not have counts as NaN there.
        reason: what else is to be said.
    """

    name: str
    element_type: str
    shape: tuple[int, ...]
    difference: Difference
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the output is within the tolerance."""
        return self.difference.ok


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What was compared, how, and what came of it.

    Attributes:
        mode: what was compared with what.
        layers: one entry per output of every layer compared, in the order of execution.
        outputs: of the model. In place: with all tensors taken out of the runtime against the untouched model, since
            taking tensors out changes what the runtime fuses. Free running: the reference's against the untouched
            model's. Otherwise: the second run's against the first one's.
        runtime, device, precision: what computed.
        second: in words, what was compared with it: the reference, another device, another model.
        inputs: what was fed.
        narrow: how many operations the device computes in int8 as the model is used, though f32 was asked for; all
            that is judged was computed in f32.
        in_use: the outputs as the model is used, where `narrow` is not 0, against those in f32: what quantized
            arithmetic costs. No part of the verdict.
    """

    mode: Mode
    layers: tuple[LayerComparison, ...]
    outputs: tuple[OutputComparison, ...]
    runtime: str
    device: str
    precision: str
    second: str
    inputs: Mapping[str, Array] = field(repr=False)
    narrow: int = 0
    in_use: tuple[OutputComparison, ...] = ()

    def __repr__(self) -> str:
        """`Comparison(in place against reference: 12 tensors and 1 output agree, 1.2e-07 is enough)`."""
        from ir_tools.comparison._summary import one_line

        return f"Comparison({one_line(self)})"

    def _repr_html_(self) -> str:
        """A heading and the table of the outputs and of the layers that differ, for notebooks."""
        from ir_tools.comparison._summary import html_table

        return html_table(self)

    @property
    def first_difference(self) -> LayerComparison | OutputComparison | None:
        """The first layer beyond its tolerance, else the first such output."""
        bad_layers = (entry for entry in self.layers if entry.status == "differs")
        bad_outputs = (entry for entry in self.outputs if not entry.ok)
        return next(bad_layers, None) or next(bad_outputs, None)

    @property
    def skipped(self) -> tuple[LayerComparison, ...]:
        """Layers that were asked for and could not be compared, each with its reason."""
        return tuple(entry for entry in self.layers if entry.status == "skipped")

    @property
    def ok(self) -> bool:
        """Whether everything that was compared is within its tolerance."""
        return self.first_difference is None

    @property
    def needed(self) -> float:
        """The smallest tolerance, relative to each tensor's largest magnitude, that would pass everywhere."""
        layers = (entry.difference.needed for entry in self.layers if entry.difference is not None)
        return max((*layers, *(entry.difference.needed for entry in self.outputs)), default=0.0)
