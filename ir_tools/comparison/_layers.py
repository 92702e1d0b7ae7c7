"""The rows of a comparison: each layer's tensors as one side has them against the other's."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.comparison._bodies import BodyRunner, Given
from ir_tools.comparison._coarse import NARROW, Coarse
from ir_tools.comparison._differences import aligned, allowed, difference, error_of, type_name
from ir_tools.comparison._gold import GoldRun, errors
from ir_tools.comparison._partners import SecondRun
from ir_tools.comparison._results import LayerComparison
from ir_tools.comparison._tensors import Batch, Choice, decided_by_rounding, labels_of, living
from ir_tools.errors import IrToolsError
from ir_tools.execute import Fallback, Precision, Step, ill_conditioned, run_one
from ir_tools.graph import Graph, Layer, Located, Model, Source
from ir_tools.known_differences import PAGE
from ir_tools.ops import Array, find_op
from ir_tools.runtime.client import Tap

__all__ = ["IDLE", "Compared", "Rows", "Sink", "sets_of"]

IDLE = "its body does not run on these inputs"
UNREAD = "it has no consumer"


class Compared(NamedTuple):
    """Two tensors that are compared.

    Attributes:
        located: the layer.
        output: the number of its output.
        expected, actual: the tensors.
        counterpart: the path of the other model's tensor, if there is another model.
    """

    located: Located
    output: int
    expected: Array
    actual: Array
    counterpart: str | None = None


Sink = Callable[[Compared], None]
"""Takes every two tensors that are compared."""
Gold = Callable[[], Sequence[Array] | None]
"""Computes the outputs of a layer in f64, where somebody asks for them."""
BodyRows = Callable[[Batch, Given], Iterable[LayerComparison]]
"""The rows of one iteration of a body, and what the body was given."""


@dataclass(slots=True)
class Rows:
    """Makes the rows of one comparison.

    Attributes:
        model: whose layers they are.
        choice: of the layers.
        bodies: runs bodies.
        gold: the model by itself in f64; None if no side is expected to give the same.
        precision: the coarser one of both sides.
        tolerance: instead of the table.
        sink: takes the tensors, where somebody wants them.
        advance: called after every layer, for a progress bar.
        states: the values of variables before the inference, by id; the others have their initial values.
    """

    model: Model
    choice: Choice
    bodies: BodyRunner
    gold: GoldRun | None = None
    precision: str = "f32"
    tolerance: float | None = None
    sink: Sink | None = None
    advance: Callable[[], None] | None = None
    states: Mapping[str, Array] = field(default_factory=dict)
    _order: dict[int, int] = field(default_factory=dict)
    _coarse: dict[int, Coarse] = field(default_factory=dict)

    def isolated(self, batch: Batch, precision: Precision, fallback: Fallback) -> Iterator[LayerComparison]:
        """Compare every layer: the reference on the runtime's own inputs with the runtime; bodies before their layer.

        Computed in less than f32, an element at the border of two levels may be on either: it counts as undefined.
        """
        for located in batch.layers:
            if batch.refused:
                yield self._refused(located, batch.refused)
                continue
            arrays = batch.arrays(self.model, located)
            yield from self._inside(located, arrays, lambda inner, _: self.isolated(inner, precision, fallback))
            if not self.choice.takes(located.layer):
                continue
            try:
                step = run_one(
                    self.model,
                    located,
                    arrays,
                    precision=precision,
                    fallback=fallback,
                    states=self._states_in(located),
                    mask_rounding=self.precision != "f32",
                )
            except IrToolsError as why:
                yield replace(self._blank(located), status="differs", reason=f"the reference fails: {why}")
            else:
                self._limit_undefined(located, step, batch)
                gold = partial(self._alone_in_f64, located, arrays, fallback)
                yield from self._of_step(located, step, batch, gold)
            self._done(located)

    def cumulative(
        self, batch: Batch, walk: Iterator[Step], precision: Precision, fallback: Fallback
    ) -> Iterator[LayerComparison]:
        """Compare every layer as the reference computes it by itself with the runtime; those in bodies isolated.

        Where no element of the input decides a value, or an error of rounding does, the reference goes on with the
        runtime's: such values are as good as random, and would make all that follows differ.
        """
        for located in batch.layers:
            if batch.refused:
                yield self._refused(located, batch.refused)
                continue
            if located.layer.bodies:
                arrays = batch.arrays(self.model, located)
                yield from self._inside(located, arrays, lambda inner, _: self.isolated(inner, precision, fallback))
            step = next(step for step in walk if step.layer is located.layer)
            self._limit_undefined(located, step, batch)
            if self.choice.takes(located.layer):
                yield from self._of_step(located, step, batch, self._gold_of(located), inherits=True)
            for index, undefined in enumerate(step.undefined[: len(located.layer.outputs)]):
                if undefined is not None:
                    actual = batch.actual(located, index)
                    near = allowed(_kind(located.layer, index, actual))
                    step.outputs[index] = _adopted(step.outputs[index], actual, undefined, near)
            self._done(located)

    def of_runs(self, first: Batch, second: SecondRun) -> Iterator[LayerComparison]:
        """Yield a row for every tensor under two runs.

        What differs behind an order that rounding decides otherwise on the two sides, as that of experts, is skipped.
        """
        follows: dict[int, str] = {}
        for located in first.layers:
            if first.refused:
                yield self._refused(located, first.refused)
                continue
            yield from self._inside_both(first, located, second)
            if not self.choice.takes(located.layer):
                continue
            gold, undecided = self._gold_of(located), self._undecided(located, first)
            producers = (source.layer for source in located.graph.sources(located.layer.id).values())
            cause = next((follows[producer] for producer in producers if producer in follows), None)
            for index, port in enumerate(located.layer.outputs):
                partner = second.partner(Source(located.layer.id, port.id))
                if index and not located.graph.consumers(located.layer.id, port.id):
                    yield replace(self._blank(located), output=index, reason=UNREAD)
                elif partner is not None:
                    tensors = Compared(located, index, first.actual(located, index), partner.tensor, partner.path)
                    masked = partner.undecided if undecided is None else undecided
                    row = self._row(tensors, gold, masked, partner.narrow)
                    if undecided is not None and row.status == "ok" and _exchanged(tensors, undecided):
                        cause = cause or located.path
                    follows.update({located.layer.id: cause} if cause else {})
                    if cause and row.status == "differs":
                        row = replace(
                            self.skipped(located, f"depends on '{cause}', whose order depends on rounding"),
                            follows=cause,
                        )
                    yield replace(row, output=index, engine="runtime")
                else:
                    why = second.why_absent(Source(located.layer.id, port.id))
                    yield replace(self._blank(located), output=index, reason=why)
            self._done(located)

    def _undecided(self, located: Located, first: Batch) -> npt.NDArray[np.bool_] | None:
        """Return which places in the order of a layer's outputs an error of the coarser side's precision exchanges."""
        op = find_op(located.layer.type, located.layer.version)
        if op is None or op.monotonic or not decided_by_rounding(located.layer):
            return None
        inputs = tuple(first.arrays(self.model, located).values())
        return ill_conditioned(located.layer, inputs, error_of(self.precision))

    def _inside_both(self, first: Batch, located: Located, second: SecondRun) -> Iterator[LayerComparison]:
        """Yield rows for the bodies of a layer in both models, on what the first one gives them."""
        twin = second.pairs.layers.get(located.layer.id)
        if twin is None or not located.layer.bodies or twin.bodies.keys() != located.layer.bodies.keys():
            return

        def rows(inner: Batch, given: Given) -> Iterable[LayerComparison]:
            graph = inner.layers[0].graph
            body = next(name for name, entry in located.layer.bodies.items() if entry is graph)
            deeper = second.inside(self.model, located.layer, twin, body, given)
            return self.of_runs(inner, deeper)

        yield from self._inside(located, first.arrays(self.model, located), rows)

    def skipped(self, located: Located, reason: str) -> LayerComparison:
        """Return the row of a layer that is not compared."""
        return replace(self._blank(located), reason=reason)

    def _refused(self, located: Located, reason: str) -> LayerComparison:
        """Return the row of a layer whose tensors the runtime does not hand out."""
        self._done(located)
        return self.skipped(located, reason)

    def _states_in(self, located: Located) -> Mapping[str, Array]:
        """Return the values of variables for a layer of the main graph."""
        return self.states if located.graph is self.model.graph else {}

    def _inside(self, located: Located, arrays: Mapping[int, Array], rows: BodyRows) -> Iterator[LayerComparison]:
        """Yield rows for the layers in the bodies of a layer, each in the iteration in which it is furthest off."""
        if not located.layer.bodies or not self.choice.inside(located.layer):
            return
        worst: dict[tuple[str, int], LayerComparison] = {}
        idle = dict(located.layer.bodies)
        iterations = 0

        def visit(body: str, graph: Graph, given: Given, tensors: Mapping[Tap, Array]) -> None:
            nonlocal iterations
            idle.pop(body, None)
            alive = living(graph)
            inner = [
                entry for entry in self.choice.located(graph, f"{located.path}/{body}/") if entry.layer.id in alive
            ]
            if inner:
                for row in rows(Batch(tuple(inner), tensors, {}, labels_of(graph)), given):
                    known = worst.get((row.path, row.output))
                    if known is None or row.share > known.share:
                        worst[row.path, row.output] = replace(row, iteration=iterations)
            iterations += 1

        try:
            self.bodies.run(self.model, located.layer, arrays, visit)
        except IrToolsError as why:
            yield replace(self._blank(located), reason=f"its body does not run on its own: {why}")
        yield from worst.values()
        for body, graph in idle.items():
            for entry in self.choice.located(graph, f"{located.path}/{body}/"):
                yield self.skipped(entry, IDLE)

    def _of_step(
        self, located: Located, step: Step, batch: Batch, gold: Gold, *, inherits: bool = False
    ) -> Iterator[LayerComparison]:
        """Yield a row for each output; `inherits`: the step carries the errors of all steps before."""
        gold = gold if step.engine == "reference" else _no_gold
        coarse = self.coarse(located.graph)
        carried = (coarse.reached if inherits else coarse.alone).get(located.layer.id)
        ports = zip(located.layer.outputs, step.outputs, step.undefined, strict=False)
        for index, (_, expected, undefined) in enumerate(ports):
            tensors = Compared(located, index, expected, batch.actual(located, index))
            row = self._row(tensors, gold, undefined, carried)
            yield _explained(replace(row, engine=step.engine), step)

    def _limit_undefined(self, located: Located, step: Step, batch: Batch) -> None:
        """Compare undefined elements that are further off than errors of rounding explain, as by two levels."""
        undefined = step.undefined[0] if step.undefined else None
        if undefined is None or step.bounds is None:
            return
        actual = batch.actual(located, 0)
        if actual.shape != undefined.shape:
            return
        ends = np.sort([bound.astype(np.float64) for bound in step.bounds], axis=0)
        spare = self._limit(_kind(located.layer, 0, actual), None) * np.max(np.abs(ends), initial=0.0)
        for side in (step.outputs[0], actual):
            values = side.astype(np.float64)
            undefined = undefined & (values >= ends[0] - spare) & (values <= ends[1] + spare)
        step.undefined = (undefined, *step.undefined[1:])

    def _alone_in_f64(
        self, located: Located, arrays: Mapping[int, Array], fallback: Fallback
    ) -> Sequence[Array] | None:
        """Return the outputs of a layer on given arrays in f64; None if it cannot be computed."""
        states = self._states_in(located)
        try:
            return run_one(self.model, located, arrays, precision="f64", fallback=fallback, states=states).outputs
        except IrToolsError:
            return None

    def _gold_of(self, located: Located) -> Gold:
        """Return the outputs of a layer of the main graph in the run in f64."""
        if self.gold is None or located.graph is not self.model.graph:
            return _no_gold
        return partial(self.gold.outputs_of, located.layer)

    def _row(
        self,
        tensors: Compared,
        gold: Gold,
        undefined: npt.NDArray[np.bool_] | None = None,
        carried: str | None = None,
    ) -> LayerComparison:
        """Compare one output; `carried`: a narrower type than the tensor's, of whose errors it has some."""
        if self.sink is not None:
            self.sink(tensors)
        located, index, expected, actual, counterpart = tensors
        kind = _kind(located.layer, index, actual)
        row = replace(
            self._blank(located), output=index, element_type=kind, shape=actual.shape, counterpart=counterpart
        )
        if expected.shape != actual.shape or (kind == "string") != (type_name(expected) == "string"):
            wanted = f"expected {type_name(expected)} {list(expected.shape)}"
            return replace(row, status="differs", reason=wanted)
        rows = index in sets_of(located.layer)
        if rows:
            actual = aligned(expected, actual)
        limit = self._limit(kind, carried)
        found = difference(expected, actual, tolerance=limit, undefined=undefined)
        if found.ok:
            return replace(row, status="ok", difference=found)
        exact = (gold() or ())[index : index + 1]
        judged = errors(exact[0], expected, actual, undefined=undefined, rows=rows) if exact else None
        return replace(row, status="differs", difference=found, f64=judged)

    def _limit(self, kind: str, carried: str | None) -> float:
        """Return how far off a tensor may be; `carried`: a narrower type of whose errors it has some."""
        own = allowed(kind, self.tolerance, self.precision)
        return max(own, allowed(carried, self.tolerance)) if carried and own else own

    def coarse(self, graph: Graph) -> Coarse:
        """Return which tensors of a graph carry errors of a narrower type than their own."""
        known = self._coarse.get(id(graph))
        if known is None:
            known = self._coarse[id(graph)] = Coarse.of(graph)
        return known

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

    def _done(self, located: Located) -> None:
        if self.advance is not None and located.graph is self.model.graph:
            self.advance()


def _no_gold() -> None:
    """Compute nothing in f64."""


def _exchanged(tensors: Compared, undecided: npt.NDArray[np.bool_]) -> bool:
    """Return whether two tensors of integers differ where rounding decides."""
    return tensors.actual.dtype.kind in "iu" and bool((undecided & (tensors.expected != tensors.actual)).any())


def _explained(row: LayerComparison, step: Step) -> LayerComparison:
    """Return the row with the known differences that its layer falls under, if it differs or leaves something out."""
    left_out = row.difference is not None and row.difference.undefined
    if not step.known or (row.status == "ok" and not left_out):
        return row
    names = tuple(known.name for known in step.known)
    text = f"known difference: {'; '.join(names)}, see {PAGE}"
    return replace(row, known=names, reason=f"{row.reason}; {text}" if row.reason else text)


def _kind(layer: Layer, index: int, array: Array) -> str:
    """Return the element type of an output: what the file says of f16 and bf16, which may be handed out in f32."""
    precision = layer.outputs[index].precision
    return NARROW.get(precision, type_name(array))


def _adopted(own: Array, actual: Array, undefined: npt.NDArray[np.bool_], limit: float) -> Array:
    """Return the reference's tensor with the runtime's values where they may and do differ by more than the limit."""
    near = limit * np.max(np.abs(actual.astype(np.float64)), initial=0.0)
    with np.errstate(all="ignore"):
        same = np.abs(own.astype(np.float64) - actual.astype(np.float64)) <= near
    return np.where(undefined & ~same, actual, own).astype(own.dtype)


def sets_of(layer: Layer) -> tuple[int, ...]:
    """Return the numbers of the outputs whose rows are a set."""
    op = find_op(layer.type, layer.version)
    return () if op is None else op.sets
