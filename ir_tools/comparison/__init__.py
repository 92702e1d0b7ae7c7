"""Comparison, layer by layer: the reference against the runtime, two devices or precisions, two models."""

import contextlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ir_tools.comparison._bodies import BodyRunner
from ir_tools.comparison._differences import (
    DECADES,
    TOLERANCES,
    Difference,
    aligned,
    allowed,
    difference,
    padded,
    type_name,
)
from ir_tools.comparison._layers import IDLE, Rows, Sink, sets_of
from ir_tools.comparison._models import Side, matched_outputs, paired, partners, renamed
from ir_tools.comparison._origin import Origin
from ir_tools.comparison._results import Comparison, LayerComparison, Mode, OutputComparison
from ir_tools.comparison._summary import narrow_note, one_line
from ir_tools.comparison._tensors import SILENT, Choice, Setting, batches, living, living_taps
from ir_tools.comparison._whole import Whole, infer
from ir_tools.errors import UsageError
from ir_tools.execute import Execution, Precision
from ir_tools.graph import Located, Model
from ir_tools.inputs import complete_inputs
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.one_layer import LayerRunner

__all__ = [
    "DECADES",
    "IDLE",
    "LEFT_OUT",
    "TOLERANCES",
    "Comparison",
    "Difference",
    "LayerComparison",
    "Mode",
    "OutputComparison",
    "Sink",
    "aligned",
    "allowed",
    "compare",
    "difference",
    "narrow_note",
    "one_line",
]

LEFT_OUT = "leads to no output of the model: the runtime leaves it out"


def compare(
    model: Model,
    other: Model | None = None,
    inputs: Mapping[str, Array] | None = None,
    layers: bool | Collection[str] = True,
    *,
    mode: Literal["in place", "free running"] = "in place",
    seed: int = 0,
    device: str = "CPU",
    precision: str = "f32",
    against: tuple[str, str] | None = None,
    tolerance: float | None = None,
    client: RuntimeClient | None = None,
    sink: Sink | None = None,
    advance: Callable[[], None] | None = None,
) -> Comparison:
    """Compare tensors layer by layer: what the reference, another device or another model makes of them.

    Args:
        model: the model.
        other: a second model with the same inputs: its tensors are compared with this one's, matched by tensor name,
            else by layer name; outputs by name, else by position.
        inputs: arrays by tensor or layer name; what is missing is drawn from `seed`.
        layers: True for every layer, or operation types (`{"MaxPool"}`), or False for the outputs alone.
        mode: of the reference: each layer on the runtime's own inputs, or the whole model by itself.
        seed: of the inputs.
        device: of the runtime.
        precision: in which it is asked to compute floats (`INFERENCE_PRECISION_HINT`).
        against: another device and precision to compare with, in place of the reference.
        tolerance: in place of the table `TOLERANCES`.
        client: a runtime to use; one is started and ended here otherwise.
        sink: takes every pair of tensors that is compared.
        advance: called after every layer, for a progress bar.

    Raises:
        UsageError: inputs that the model does not have or take; types that none of its layers has; models whose
            outputs do not match.
        RuntimeFailure: the runtime rejects the model, crashes, or takes too long.
    """
    if other is not None and against is not None:
        raise UsageError("compare with another model or with another device, not with both at once")
    choice = Choice.of(layers)
    _require_layers(model, choice)
    fed = complete_inputs(model, inputs, seed=seed)
    with contextlib.ExitStack() as stack:
        runtime = stack.enter_context(RuntimeClient()) if client is None else client
        setting = Setting(device, precision)
        rows = Rows(model, choice, BodyRunner(runtime, setting), tolerance, sink, advance)
        work = _Work(runtime, model, fed, setting, rows)
        if other is not None:
            return work.with_model(other)
        if against is not None:
            return work.with_setting(Setting(*against))
        return work.in_place() if mode == "in place" else work.free_running()


def _require_layers(model: Model, choice: Choice) -> None:
    """Every type that is asked for is one of the model's."""
    if not choice.types:
        return
    known = {choice.name(located.layer) for located in model.walk()} - SILENT
    missing = sorted(choice.types - known)
    if missing:
        raise UsageError(f"the model has no layer of type '{missing[0]}'; it has {', '.join(sorted(known)) or 'none'}")


@dataclass(frozen=True, slots=True)
class _Work:
    """One comparison."""

    runtime: RuntimeClient
    model: Model
    fed: Mapping[str, Array]
    setting: Setting
    rows: Rows

    def in_place(self) -> Comparison:
        """The reference on the runtime's own inputs; outputs: all tensors taken out, against the model as it is."""
        whole = Whole.of(self.runtime, self.model, self.fed, self.setting)
        top, dead = self._chosen()
        tapped: Mapping[str, Array] = whole.wide
        entries: list[LayerComparison] = []
        alone = LayerRunner(self.runtime)
        for batch in batches(self.runtime, self.model, self.fed, top, self.setting, with_inputs=True):
            tapped = batch.outputs or tapped
            entries += self.rows.in_place(batch, self._precision, alone)
        return self._result("in place", "reference", [*entries, *dead], whole, (whole.wide, tapped))

    def free_running(self) -> Comparison:
        """The reference by itself."""
        whole = Whole.of(self.runtime, self.model, self.fed, self.setting)
        top, dead = self._chosen()
        alone = LayerRunner(self.runtime)
        reference = Execution(self.model, self._precision, alone, torn=True)
        walk = reference.steps(self.fed)
        entries: list[LayerComparison] = []
        for batch in batches(self.runtime, self.model, self.fed, top, self.setting, with_inputs=False):
            entries += self.rows.free_running(batch, walk, self._precision, alone)
        for _ in walk:
            pass
        return self._result("free running", "reference", [*entries, *dead], whole, (reference.results, whole.wide))

    @property
    def _precision(self) -> Precision:
        """Of the reference: with floats as wide as the runtime computes them."""
        return "f32" if self.setting.wide else "as written"

    def _chosen(self) -> tuple[list[Located], list[LayerComparison]]:
        """The layers of the main graph to compare, and rows for those that the runtime leaves out."""
        alive = living(self.model.graph)
        found = self.rows.choice.located(self.model.graph)
        top = [located for located in found if located.layer.id in alive]
        return top, [self.rows.skipped(located, LEFT_OUT) for located in found if located.layer.id not in alive]

    def with_setting(self, second: Setting) -> Comparison:
        """The same model on another device, or in another precision."""
        return self._two_runs("runtime against runtime", str(second), self.model, self.fed, second)

    def with_model(self, other: Model) -> Comparison:
        """Another model on the same inputs."""
        name = str(other.path or other.name or "the other model")
        fed = renamed(self.model, other, self.fed)
        return self._two_runs("model against model", name, other, fed, self.setting)

    def _two_runs(self, mode: Mode, name: str, other: Model, fed: Mapping[str, Array], setting: Setting) -> Comparison:
        before = Whole.of(self.runtime, self.model, self.fed, self.setting, as_used=True)
        after = matched_outputs(before.wide, infer(self.runtime, other, fed, setting).outputs)
        top, dead = self._chosen()
        pairs = paired(Side(self.model, self.model.graph), Side(other, other.graph))
        alive = living_taps(other.graph)
        entries: list[LayerComparison] = []
        for batch in batches(self.runtime, self.model, self.fed, top, self.setting, with_inputs=False):
            taps = tuple(tap for tap in dict.fromkeys(partners(batch, pairs)) if tap in alive)
            second = infer(self.runtime, other, fed, setting, taps).taps if taps else {}
            entries += self.rows.of_runs(batch, other, second, pairs, BodyRunner(self.runtime, setting))
        if other is not self.model:
            entries = Origin(self.runtime, self.model, other, pairs, self.fed, self.setting).marked(entries)
        return self._result(mode, name, [*entries, *dead], before, (before.wide, after))

    def _result(
        self,
        mode: Mode,
        second: str,
        entries: Sequence[LayerComparison],
        whole: Whole,
        outputs: tuple[Mapping[str, Array], Mapping[str, Array]],
    ) -> Comparison:
        sets = _sets(self.model)
        carried = _carried(self.model, self.rows)
        compared = _compare_outputs(*outputs, self.rows.tolerance, sets, self.setting.precision, carried)
        in_use: tuple[OutputComparison, ...] = ()
        if whole.narrow:
            in_use = _compare_outputs(whole.wide, whole.run.outputs, math.inf, sets)
        return Comparison(
            mode=mode,
            layers=tuple(entries),
            outputs=compared,
            runtime=whole.run.version,
            device=whole.run.device,
            precision=whole.run.precision,
            second=second,
            inputs=self.fed,
            narrow=whole.narrow,
            in_use=in_use,
        )


def _sets(model: Model) -> frozenset[str]:
    """The outputs whose rows are a set: those of detections."""
    found = set()
    for end in model.outputs:
        for source in model.graph.sources(end.layer.id).values():
            maker = model.graph.layer(source.layer)
            if [port.id for port in maker.outputs].index(source.port) in sets_of(maker):
                found.add(end.name)
    return frozenset(found)


def _carried(model: Model, rows: Rows) -> dict[str, str]:
    """The outputs that carry errors of a narrower type than f32."""
    reached = rows.coarse(model.graph).reached
    return {end.name: reached[end.layer.id] for end in model.outputs if end.layer.id in reached}


def _compare_outputs(
    expected: Mapping[str, Array],
    actual: Mapping[str, Array],
    tolerance: float | None,
    sets: frozenset[str],
    precision: str = "f32",
    carried: Mapping[str, str] | None = None,
) -> tuple[OutputComparison, ...]:
    """`carried`: by output, a narrower type of whose errors it has some."""
    entries = []
    for name, array in expected.items():
        found, reason = actual[name], ""
        kind, shape = type_name(found), found.shape
        if array.shape != shape:
            reason = f"it is {list(array.shape)} on one side, {list(shape)} on the other"
            if array.ndim != found.ndim or kind == "string":
                raise UsageError(f"output '{name}': {reason}")
            array, found = padded(array, found)
        if name in sets:
            found = aligned(array, found)
        rounded = (carried or {}).get(name, kind) if kind == "f32" else kind
        limit = allowed(rounded, tolerance, precision)
        entries.append(
            OutputComparison(
                name=name,
                element_type=kind,
                shape=shape,
                difference=difference(array, found, tolerance=limit),
                reason=reason,
            )
        )
    return tuple(entries)
