"""What a comparison found: one row per tensor, and the whole."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from ir_tools.comparison._differences import Difference
from ir_tools.comparison._gold import F64Errors
from ir_tools.display import brief_fields
from ir_tools.execute import Engine
from ir_tools.ops import Array

__all__ = ["Comparison", "LayerComparison", "Mode", "OutputComparison", "ReferenceMode", "Sides"]

ReferenceMode = Literal["isolated", "cumulative"]
"""Isolated: each layer of the reference gets the runtime's own inputs, which isolates its error. Cumulative: the
reference runs the whole model by itself, so that errors accumulate as in use."""
Mode = ReferenceMode | Literal["runtime against runtime", "model against model"]


class Sides(NamedTuple):
    """Who computed the two tensors of a row, in words."""

    expected: str
    actual: str


UNNAMED = Sides("expected", "actual")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerComparison:
    """Output number `output` of one layer: expected against actual, as the mode says.

    Attributes:
        path, layer_id, line, op: of the layer.
        index: of the layer in the order of execution.
        element_type, shape: of the tensor.
        status: `skipped` if nothing was compared; `reason` says why.
        difference: None if nothing was compared, or if the shapes disagree.
        engine: who computed what is expected; None if nothing was compared. Against the reference, that is the runtime
            for a layer without a kernel, which it ran as that one layer alone.
        reason: why nothing was compared, or what makes the tensors differ.
        known: the rows of `known_differences` that the layer falls under, if it differs or leaves something out.
        counterpart: the path of the other model's tensor, if there is another model; with `.N` for output N above 0.
        iteration: of a layer in a body: the iteration of the body, from 0 on, in which it is furthest off.
        f64: of a tensor that differs, how far both sides are from the same computed in f64; isolated from the same
            inputs of the layer, otherwise from those of the model. None if it was not computed.
        sample: of the inputs, in which it is furthest off, from 0 on.
        follows: the path of a layer before it whose order rounding decides, which is why it was not compared.

    Example:
        >>> row = ir_tools.compare("model.xml").layers[0]
        >>> row.path, row.op, row.shape, row.status
        ('pool', 'AvgPool-1', (1, 2, 4, 4), 'ok')
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
    engine: Engine | None = None
    reason: str | None = None
    known: tuple[str, ...] = ()
    counterpart: str | None = None
    iteration: int | None = None
    f64: F64Errors | None = None
    sample: int = 0
    follows: str | None = None

    __repr__ = brief_fields

    @property
    def share(self) -> float:
        """Which part of its tolerance it needs: infinite if shapes disagree, -1 if nothing was compared."""
        return -1.0 if self.status == "skipped" else _share(self.difference)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputComparison:
    """One output of the model under two runs.

    Attributes:
        name, element_type, shape: of the output, in the second run.
        difference: what one of two sizes does not have counts as NaN there.
        reason: what else is to be said.
        counterpart: the other model's output, if there is another model.
        f64: of an output that differs, how far both sides are from the model computed in f64; None if it was not.
        weak: why its agreement proves little: NaN, one value throughout, or inputs that do not change it; or empty.
        sample: of the inputs, in which it is furthest off, from 0 on.

    Example:
        >>> output = ir_tools.compare("model.xml").outputs[0]
        >>> output.name, output.element_type, output.shape, output.ok
        ('pooled', 'f32', (1, 2, 4, 4), True)
    """

    name: str
    element_type: str
    shape: tuple[int, ...]
    difference: Difference
    reason: str = ""
    counterpart: str | None = None
    f64: F64Errors | None = None
    weak: str = ""
    sample: int = 0

    __repr__ = brief_fields

    @property
    def share(self) -> float:
        """Which part of its tolerance it needs."""
        return _share(self.difference)

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
        outputs: of the model. Isolated: with all tensors taken out of the runtime against the untouched model, since
            taking tensors out changes what the runtime fuses. Cumulative: the reference's against the untouched
            model's. Otherwise: the second run's against the first one's.
        runtime, device, precision: what computed; the precision is that of floats, or `int8`.
        second: in words, what was compared with it: the reference, another device, another model.
        layer_sides, output_sides: who computed what is expected, and what is actual.
        inputs: what was fed; of several samples, that of the first difference.
        narrow: how many operations the device computes in int8 as the model is used, though f32 was asked for; all
            that is judged was computed in f32.
        samples: how many samples of the inputs were compared; each tensor is as in the one where it is furthest off.
        in_use: the outputs as the model is used, where `narrow` is not 0, against those in f32: what quantized
            arithmetic costs. No part of the verdict.
        rounding: the precision below f32 whose errors of rounding add up through the network, on one side or both; then
            the outputs alone decide. Empty if nothing does, as isolated.

    Example:
        >>> ir_tools.compare("model.xml")
        Comparison(isolated against reference: 1 tensor and 1 output agree, ... is enough)
    """

    mode: Mode
    layers: tuple[LayerComparison, ...]
    outputs: tuple[OutputComparison, ...]
    runtime: str
    device: str
    precision: str
    second: str
    inputs: Mapping[str, Array] = field(repr=False)
    layer_sides: Sides = UNNAMED
    output_sides: Sides = UNNAMED
    narrow: int = 0
    in_use: tuple[OutputComparison, ...] = ()
    samples: int = 1
    rounding: str = ""

    def __repr__(self) -> str:
        """Return `Comparison(isolated against reference: 12 tensors and 1 output agree, 1.2e-07 is enough)`."""
        from ir_tools.comparison._summary import one_line

        return f"Comparison({one_line(self)})"

    def _repr_html_(self) -> str:
        """Return a heading and the table of the outputs and of the layers that differ, for notebooks."""
        from ir_tools.comparison._summary import html_table

        return html_table(self)

    @property
    def first_difference(self) -> LayerComparison | OutputComparison | None:
        """The first layer beyond its tolerance, else the first such output."""
        bad_layers = (entry for entry in self.layers if entry.status == "differs")
        bad_outputs = (entry for entry in self.outputs if not entry.ok)
        return next(bad_layers, None) or next(bad_outputs, None)

    @property
    def with_reference(self) -> bool:
        """Whether one of the sides is the reference."""
        return self.mode in get_args(ReferenceMode)

    @property
    def other(self) -> bool:
        """Whether there is another model."""
        return self.mode == "model against model"

    @property
    def without_kernel(self) -> int:
        """How many tensors were compared with the runtime alone, since the reference has no kernel for their layers."""
        return sum(entry.engine == "runtime" for entry in self.layers) if self.with_reference else 0

    @property
    def skipped(self) -> tuple[LayerComparison, ...]:
        """Layers that were asked for and could not be compared, each with its reason."""
        return tuple(entry for entry in self.layers if entry.status == "skipped")

    @property
    def ok(self) -> bool:
        """Whether everything that was compared is within its tolerance; with `rounding`, all outputs."""
        outputs = all(entry.ok for entry in self.outputs)
        return outputs if self.rounding and self.outputs else self.first_difference is None

    @property
    def weak(self) -> tuple[OutputComparison, ...]:
        """The outputs whose agreement proves little, each with its reason."""
        return tuple(entry for entry in self.outputs if entry.weak)

    @property
    def needed(self) -> float:
        """The smallest tolerance, relative to each tensor's largest magnitude, that would pass everywhere."""
        layers = (entry.difference.needed for entry in self.layers if entry.difference is not None)
        return max((*layers, *(entry.difference.needed for entry in self.outputs)), default=0.0)


def _share(difference: Difference | None) -> float:
    """Return the share of the tolerance that a difference needs; infinite if nothing is allowed."""
    if difference is None:
        return math.inf
    if difference.needed == 0.0:
        return 0.0
    return difference.needed / difference.tolerance if difference.tolerance else math.inf
