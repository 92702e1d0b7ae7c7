"""The results of a comparison: one row per tensor, and a summary."""

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
"""`isolated`: each layer of the reference runs on the inputs that it had in the runtime, so its error is its own.
`cumulative`: the reference runs the whole model, so errors add up through the network.
"""
Mode = ReferenceMode | Literal["runtime against runtime", "model against model"]


class Sides(NamedTuple):
    """The names of the two sides that computed the tensors of a row."""

    expected: str
    actual: str


UNNAMED = Sides("expected", "actual")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerComparison:
    """The comparison of one output of one layer.

    Attributes:
        path, layer_id, line, op: the layer; `op` is its operation, `AvgPool-14`.
        output: the number of the output, from 0.
        index: the position of the layer in the execution order.
        element_type, shape: the element type and shape of the tensor.
        status: `ok`, `differs`, or `skipped` if nothing was compared.
        difference: None if nothing was compared, or if the shapes differ.
        engine: the engine that computed the expected tensor; None if nothing was compared. In a comparison with the
            reference it is `runtime` for a layer without a kernel, which the runtime ran as a model of one layer.
        reason: why nothing was compared, or why the tensors differ.
        known: the names of the known differences that apply to the layer, if it differs or has undefined elements.
        counterpart: the path of the tensor in the other model, if there is one; with `.N` for output N above 0.
        iteration: for a layer in a body, the iteration with the largest difference, from 0.
        f64: for a tensor that differs, the errors of both sides relative to a computation in f64; in isolated mode from
            the same inputs of the layer, otherwise from the inputs of the model. None if it was not computed.
        sample: the input sample with the largest difference, from 0.
        follows: the path of a preceding layer whose order of elements depends on rounding, so that this tensor was not
            compared.

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
        """The share of the tolerance that is needed: infinite if the shapes differ, -1 if nothing was compared."""
        return -1.0 if self.status == "skipped" else _share(self.difference)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputComparison:
    """The comparison of one output of the model in two runs.

    Attributes:
        name, element_type, shape: name, element type and shape of the output in the second run.
        difference: the difference; if the sizes differ, elements that one side lacks count as NaN.
        reason: why the outputs differ, or a remark; may be empty.
        counterpart: the output of the other model, if there is one.
        f64: for an output that differs, the errors of both sides relative to the model computed in f64; None if that
            was not computed.
        weak: why agreement proves little: NaN, one value throughout, or no change with other inputs; may be empty.
        sample: the input sample with the largest difference, from 0.

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
        """The share of the tolerance that is needed."""
        return _share(self.difference)

    @property
    def ok(self) -> bool:
        """Whether the output is within the tolerance."""
        return self.difference.ok


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        mode: `isolated`, `cumulative`, `runtime against runtime` or `model against model`.
        layers: one entry per output of every compared layer, in execution order.
        outputs: one entry per output of the model. In isolated mode, the unchanged model is compared with the model
            that has every tensor as an output, since more outputs change how the runtime fuses layers. In cumulative
            mode, the reference is compared with the unchanged model; otherwise, the first run with the second one.
        runtime, device, precision: the version and device of OpenVINO, and the type in which it computed floats, or
            `int8`.
        second: what was compared with it: the reference, another device, or another model.
        layer_sides, output_sides: the names of the sides that computed the expected and the actual tensors.
        inputs: the input arrays by name; for several samples, those of the sample with the first difference.
        narrow: the number of operations that the device computes in int8 by default. The comparison itself computes
            them in f32.
        samples: the number of input samples; each tensor is reported for the sample with its largest difference.
        in_use: if `narrow` is not 0, the outputs with the default int8 arithmetic compared with those in f32. They do
            not affect `ok`.
        instead: the devices without the precision that was asked for: `CPU, bf16 (computed in f32)`.
        unquantized: whether int8 was asked for, and nothing in the model is quantized.
        rounding: the precision below f32 whose rounding errors add up through the network; then only the outputs
            determine `ok`. Empty if there is none, as in isolated mode.

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
    instead: tuple[str, ...] = ()
    unquantized: bool = False
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
        """The first layer beyond its tolerance; without one, the first such output; None if there is none."""
        bad_layers = (entry for entry in self.layers if entry.status == "differs")
        bad_outputs = (entry for entry in self.outputs if not entry.ok)
        return next(bad_layers, None) or next(bad_outputs, None)

    @property
    def with_reference(self) -> bool:
        """Whether one of the sides is the reference."""
        return self.mode in get_args(ReferenceMode)

    @property
    def other(self) -> bool:
        """Whether two models were compared."""
        return self.mode == "model against model"

    @property
    def without_kernel(self) -> int:
        """The number of tensors of layers without a kernel, which were compared with the runtime itself."""
        return sum(entry.engine == "runtime" for entry in self.layers) if self.with_reference else 0

    @property
    def skipped(self) -> tuple[LayerComparison, ...]:
        """The requested layers that could not be compared, each with its reason."""
        return tuple(entry for entry in self.layers if entry.status == "skipped")

    @property
    def ok(self) -> bool:
        """Whether all compared tensors are within their tolerances; with `rounding`, whether all outputs are."""
        outputs = all(entry.ok for entry in self.outputs)
        return outputs if self.rounding and self.outputs else self.first_difference is None

    @property
    def weak(self) -> tuple[OutputComparison, ...]:
        """The outputs whose agreement proves little, each with its reason."""
        return tuple(entry for entry in self.outputs if entry.weak)

    @property
    def needed(self) -> float:
        """The smallest tolerance, relative to the largest magnitude of each tensor, with which all tensors pass."""
        layers = (entry.difference.needed for entry in self.layers if entry.difference is not None)
        return max((*layers, *(entry.difference.needed for entry in self.outputs)), default=0.0)


def _share(difference: Difference | None) -> float:
    """Return the share of the tolerance that a difference needs; infinite if the tolerance is 0."""
    if difference is None:
        return math.inf
    if difference.needed == 0.0:
        return 0.0
    return difference.needed / difference.tolerance if difference.tolerance else math.inf
