"""The rows of a comparison: each layer's tensors as one side has them against the other's."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ir_tools.comparison._differences import TOLERANCES, aligned, difference, type_name
from ir_tools.comparison._results import LayerComparison
from ir_tools.comparison._tensors import Batch, inputs_of
from ir_tools.errors import IrToolsError
from ir_tools.execute import Fallback, Precision, Step, run_one
from ir_tools.graph import Layer, Located, Model
from ir_tools.ops import Array, find_op
from ir_tools.runtime.client import Tap

__all__ = ["Rows", "Sink", "sets_of"]

Sink = Callable[[Located, int, Array, Array], None]
"""Takes every tensor that is compared: the layer, the number of the output, what is expected, and what is there."""


@dataclass(slots=True)
class Rows:
    """Makes the rows of one comparison.

    Attributes:
        model: whose layers they are.
        tolerance: in place of the table.
        sink: takes the tensors, where somebody wants them.
        advance: called after every layer, for a progress bar.
    """

    model: Model
    tolerance: float | None = None
    sink: Sink | None = None
    advance: Callable[[], None] | None = None
    _order: dict[int, int] = field(default_factory=dict)

    def in_place(self, batch: Batch, precision: Precision, fallback: Fallback) -> Iterator[LayerComparison]:
        """Every layer: the reference on the runtime's own inputs against the runtime."""
        for located in batch.layers:
            arrays = inputs_of(self.model, located, batch.tensors)
            try:
                step = run_one(self.model, located, arrays, precision=precision, fallback=fallback)
            except IrToolsError as why:
                yield replace(self._blank(located), status="differs", reason=f"the reference fails: {why}")
            else:
                yield from self._of_step(located, step, batch.tensors)
            self._done()

    def free_running(self, batch: Batch, walk: Iterator[Step]) -> Iterator[LayerComparison]:
        """Every layer as the reference computes it by itself, against the runtime.

        Where no element of the input decides a value, or an error of rounding does, the reference goes on with the
        runtime's: such values are as good as random, and would make all that follows differ.
        """
        for located in batch.layers:
            step = next(step for step in walk if step.layer is located.layer)
            yield from self._of_step(located, step, batch.tensors)
            for index, undefined in enumerate(step.undefined[: len(located.layer.outputs)]):
                if undefined is not None:
                    actual = batch.tensors[Tap(located.layer.name, index)]
                    allowed = TOLERANCES.get(_kind(located.layer, index, actual), 0.0)
                    step.outputs[index] = _adopted(step.outputs[index], actual, undefined, allowed)
            self._done()

    def of_runs(
        self, first: Batch, second: Mapping[Tap, Array], partners: Mapping[Tap, Tap]
    ) -> Iterator[LayerComparison]:
        """Every layer under two runs; `partners`: the taps of the second run by those of the first."""
        for located in first.layers:
            for index in range(len(located.layer.outputs)):
                tap = Tap(located.layer.name, index)
                if tap in partners:
                    yield self._row(located, index, first.tensors[tap], second[partners[tap]])
                else:
                    yield replace(self._blank(located), output=index, reason="the other model has no such tensor")
            self._done()

    def skipped(self, located: Located, reason: str) -> LayerComparison:
        """A layer that is not compared."""
        return replace(self._blank(located), reason=reason)

    def _of_step(self, located: Located, step: Step, actual: Mapping[Tap, Array]) -> Iterator[LayerComparison]:
        ports = zip(located.layer.outputs, step.outputs, step.undefined, strict=False)
        for index, (_, expected, undefined) in enumerate(ports):
            row = self._row(located, index, expected, actual[Tap(located.layer.name, index)], undefined)
            yield replace(row, engine=step.engine)

    def _row(
        self,
        located: Located,
        index: int,
        expected: Array,
        actual: Array,
        undefined: npt.NDArray[np.bool_] | None = None,
    ) -> LayerComparison:
        if self.sink is not None:
            self.sink(located, index, expected, actual)
        kind = _kind(located.layer, index, actual)
        row = replace(self._blank(located), output=index, element_type=kind, shape=actual.shape)
        if expected.shape != actual.shape:
            return replace(row, status="differs", reason=f"{list(expected.shape)} is expected")
        if index in sets_of(located.layer):
            actual = aligned(expected, actual)
        allowed = TOLERANCES.get(kind, 0.0) if self.tolerance is None else self.tolerance
        found = difference(expected, actual, tolerance=allowed, undefined=undefined)
        return replace(row, status="ok" if found.ok else "differs", difference=found)

    def _blank(self, located: Located) -> LayerComparison:
        layer = located.layer
        if not self._order:
            self._order = {entry.id: index for index, entry in enumerate(self.model.graph.ordered())}
        op = find_op(layer.type, layer.version)
        return LayerComparison(
            path=located.path,
            layer_id=layer.id,
            line=self.model.line_of(located.graph, layer.id),
            op=f"{layer.type} {layer.version}" if op is None else str(op),
            index=self._order.get(layer.id, 0) if located.graph is self.model.graph else 0,
            status="skipped",
        )

    def _done(self) -> None:
        if self.advance is not None:
            self.advance()


def _kind(layer: Layer, index: int, array: Array) -> str:
    """The element type of an output: what the file says of f16 and bf16, which may be handed out in f32."""
    precision = layer.outputs[index].precision
    return {"FP16": "f16", "BF16": "bf16"}.get(precision or "", type_name(array))


def _adopted(own: Array, actual: Array, undefined: npt.NDArray[np.bool_], allowed: float) -> Array:
    """The reference's tensor with the runtime's values where they may differ and do, by more than is `allowed`."""
    near = allowed * np.max(np.abs(actual.astype(np.float64)), initial=0.0)
    with np.errstate(all="ignore"):
        same = np.abs(own.astype(np.float64) - actual.astype(np.float64)) <= near
    return np.where(undefined & ~same, actual, own).astype(own.dtype)


def sets_of(layer: Layer) -> tuple[int, ...]:
    """The numbers of the outputs whose rows are a set."""
    op = find_op(layer.type, layer.version)
    return () if op is None else op.sets
