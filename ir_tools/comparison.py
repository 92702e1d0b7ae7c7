"""Comparison: the reference against the runtime, layer by layer in place, and a model against another.

*In place* means that each layer gets the runtime's own inputs, so that a difference is that layer's alone.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ir_tools.errors import UsageError
from ir_tools.execute import run_layer
from ir_tools.graph import Graph, Layer, Located, Model, Port
from ir_tools.inputs import complete_inputs
from ir_tools.ops import Array, find_op, pooling
from ir_tools.runtime.client import Inference, RuntimeClient, Tap
from ir_tools.types import from_dtype
from ir_tools.weights import constant

__all__ = [
    "TOLERANCES",
    "Comparison",
    "Difference",
    "LayerComparison",
    "OutputComparison",
    "compare",
    "difference",
]

TOLERANCES: Mapping[str, float] = {
    "f64": 1e-4,
    "f32": 1e-4,
    "f16": 2e-3,
    "bf16": 1.6e-2,
}
"""By element type: the largest difference allowed, relative to the tensor's largest magnitude.

f64 as f32, because the CPU plugin computes f64 in f32; f16 and bf16 allow two units in the last place. Every type
that is not here (integers, booleans, strings) has to be equal.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far a tensor is from the expected one. Coordinates index the tensor; None where nothing differs.

    Attributes:
        elements: how many were compared.
        undefined: how many were left out because no element of the input decides them.
        max_abs, max_abs_at: the largest absolute difference; inf where NaN or infinities do not match.
        max_rel, max_rel_at: the largest difference relative to the expected element.
        needed: the smallest tolerance, relative to the tensor's largest magnitude, that would pass.
        tolerance: the one that was asked for.
        expected, actual: the values at `max_abs_at`.
    """

    elements: int
    undefined: int
    max_abs: float
    max_abs_at: tuple[int, ...] | None
    max_rel: float
    max_rel_at: tuple[int, ...] | None
    needed: float
    tolerance: float
    expected: object
    actual: object

    @property
    def ok(self) -> bool:
        """Whether the tensor is within the tolerance."""
        return self.needed <= self.tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerComparison:
    """One layer: the reference (expected) on the runtime's inputs, and the runtime's output number `output` (actual).

    `reason` says why, where `status` is `skipped`, or `differs` without a `difference` (the shapes disagree).
    """

    path: str
    layer_id: int
    line: int | None
    op: str
    output: int = 0
    element_type: str | None = None
    shape: tuple[int, ...] | None = None
    status: Literal["ok", "differs", "skipped"]
    difference: Difference | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputComparison:
    """One output of the model under two runs."""

    name: str
    element_type: str
    shape: tuple[int, ...]
    difference: Difference

    @property
    def ok(self) -> bool:
        """Whether the output is within the tolerance."""
        return self.difference.ok


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What was compared, how, and what came of it.

    Attributes:
        mode: `in place` (reference against runtime) or `model against model`.
        layers: one entry per output of every layer compared, in the order of execution.
        outputs: in place: the tapped model's outputs against the untouched model's. Model against model: the other
            model's outputs against this one's.
        runtime, device, precision: what computed.
        inputs: what was fed.
    """

    mode: Literal["in place", "model against model"]
    layers: tuple[LayerComparison, ...]
    outputs: tuple[OutputComparison, ...]
    runtime: str
    device: str
    precision: str
    inputs: Mapping[str, Array] = field(repr=False)

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


def compare(
    model: Model,
    other: Model | None = None,
    inputs: Mapping[str, Array] | None = None,
    layers: bool | Collection[str] = True,
    *,
    seed: int = 0,
    device: str = "CPU",
    tolerance: float | None = None,
    client: RuntimeClient | None = None,
) -> Comparison:
    """Compare the reference with the runtime in place or, with `other`, that model's outputs with this one's.

    Args:
        model: the model.
        other: a second model with the same inputs; outputs are matched by name, by position where no name matches.
        inputs: arrays by tensor or layer name; what is missing is drawn from `seed`.
        layers: True for every pooling, or operation types (`{"MaxPool"}`), or False for the outputs alone.
        seed: of the inputs.
        device: of the runtime. The precision hint is f32 always.
        tolerance: in place of the table `TOLERANCES`.
        client: a runtime to use; one is started and ended here otherwise.

    Raises:
        UsageError: inputs that the model does not have or take; models whose outputs do not match.
        RuntimeFailure: the runtime rejects the model, crashes, or takes too long.
    """
    fed = complete_inputs(model, inputs, seed=seed)
    owned = RuntimeClient() if client is None else None
    runtime = client or owned
    assert runtime is not None
    try:
        if other is not None:
            return _compare_models(runtime, model, other, fed, device, tolerance)
        return _compare_in_place(runtime, model, fed, _wanted_types(layers), device, tolerance)
    finally:
        if owned is not None:
            owned.close()


def difference(
    expected: Array,
    actual: Array,
    *,
    tolerance: float | None = None,
    undefined: npt.NDArray[np.bool_] | None = None,
) -> Difference:
    """The difference of two arrays of the same shape; where `undefined` holds, nothing is compared.

    NaN equals NaN, and an infinity equals itself.
    """
    allowed = TOLERANCES.get(_type_name(expected), 0.0) if tolerance is None else tolerance
    mask = np.zeros(expected.shape, dtype=bool) if undefined is None else np.broadcast_to(undefined, expected.shape)
    gap = np.where(mask, 0.0, _gap(expected, actual))
    worst, worst_at = _largest(gap)
    worst_relative, worst_relative_at = _largest(_relative(gap, expected))
    magnitude = _magnitude(expected, mask)
    return Difference(
        elements=int(expected.size - mask.sum()),
        undefined=int(mask.sum()),
        max_abs=worst,
        max_abs_at=worst_at,
        max_rel=worst_relative,
        max_rel_at=worst_relative_at,
        needed=0.0 if worst == 0.0 else worst / magnitude if magnitude else float("inf"),
        tolerance=allowed,
        expected=expected[worst_at] if worst_at is not None else None,
        actual=actual[worst_at] if worst_at is not None else None,
    )


def _is_text(array: Array) -> bool:
    return array.dtype.kind in "OUST"


def _gap(expected: Array, actual: Array) -> npt.NDArray[np.float64]:
    """Absolute differences; texts that differ are 1 apart, whole numbers that differ at least 1."""
    if _is_text(expected):
        return np.asarray(expected != actual, dtype=np.float64)
    wanted, found = expected.astype(np.float64), actual.astype(np.float64)
    with np.errstate(all="ignore"):
        gap = np.abs(found - wanted)
    same = (expected == actual) | (np.isnan(wanted) & np.isnan(found))
    if expected.dtype.kind in "iub":
        gap = np.maximum(gap, 1.0)
    return np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap))


def _relative(gap: npt.NDArray[np.float64], expected: Array) -> npt.NDArray[np.float64]:
    if _is_text(expected):
        return gap
    with np.errstate(all="ignore"):
        relative = gap / np.abs(expected.astype(np.float64))
    return np.where(gap == 0.0, 0.0, np.where(np.isnan(relative), np.inf, relative))


def _magnitude(expected: Array, mask: npt.NDArray[np.bool_]) -> float:
    """The largest finite magnitude where `mask` does not hold."""
    if _is_text(expected):
        return 0.0
    values = np.abs(expected.astype(np.float64))
    return float(np.max(values, initial=0.0, where=np.isfinite(values) & ~mask))


def _largest(values: npt.NDArray[np.float64]) -> tuple[float, tuple[int, ...] | None]:
    if not values.size or not values.any():
        return 0.0, None
    at = np.unravel_index(int(values.argmax()), values.shape)
    return float(values[at]), tuple(int(index) for index in at)


def _type_name(array: Array) -> str:
    return "string" if _is_text(array) else from_dtype(array.dtype).name


def _wanted_types(layers: bool | Collection[str]) -> frozenset[str]:
    if layers is True:
        return frozenset(op.type for op in pooling.OPS)
    return frozenset(layers or ())


def _is_one_of(layer: Layer, types: frozenset[str]) -> bool:
    op = find_op(layer.type, layer.version)
    return (op.type if op else layer.type) in types


def _compare_models(
    runtime: RuntimeClient, model: Model, other: Model, fed: Mapping[str, Array], device: str, tolerance: float | None
) -> Comparison:
    before = runtime.infer_model(model, fed, device=device)
    after = runtime.infer_model(other, _renamed(model, other, fed), device=device)
    return Comparison(
        mode="model against model",
        layers=(),
        outputs=_compare_outputs(before.outputs, _matched(before, after), tolerance),
        runtime=before.version,
        device=before.device,
        precision=before.precision,
        inputs=fed,
    )


def _renamed(model: Model, other: Model, fed: Mapping[str, Array]) -> dict[str, Array]:
    """The same arrays under the other model's names: by any shared name, else by position."""
    own, theirs = model.inputs, other.inputs
    if len(own) != len(theirs):
        raise UsageError(f"the models have {len(own)} and {len(theirs)} inputs and cannot be fed alike")
    renamed = {}
    for index, endpoint in enumerate(own):
        shared = [entry for entry in theirs if set(entry.names) & set(endpoint.names)]
        renamed[(shared[0] if shared else theirs[index]).name] = fed[endpoint.name]
    return renamed


def _matched(before: Inference, after: Inference) -> dict[str, Array]:
    """The second run's outputs under the first one's names: by name, else by position."""
    if len(before.outputs) != len(after.outputs):
        raise UsageError(f"the models have {len(before.outputs)} and {len(after.outputs)} outputs")
    by_position = list(after.outputs.values())
    return {name: after.outputs.get(name, by_position[index]) for index, name in enumerate(before.outputs)}


def _compare_outputs(
    expected: Mapping[str, Array], actual: Mapping[str, Array], tolerance: float | None
) -> tuple[OutputComparison, ...]:
    entries = []
    for name, array in expected.items():
        found = actual[name]
        if array.shape != found.shape:
            raise UsageError(f"output '{name}' is {list(array.shape)} in one model, {list(found.shape)} in the other")
        entries.append(
            OutputComparison(
                name=name,
                element_type=_type_name(array),
                shape=array.shape,
                difference=difference(array, found, tolerance=tolerance),
            )
        )
    return tuple(entries)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The layers to compare and the tensors to tap for them."""

    layers: tuple[Located, ...]
    inside: tuple[Located, ...]
    taps: tuple[Tap, ...]


def _plan(model: Model, types: frozenset[str]) -> _Plan:
    order = {layer.id: index for index, layer in enumerate(model.graph.ordered())}
    chosen = [entry for entry in model.walk() if _is_one_of(entry.layer, types)]
    top = sorted((entry for entry in chosen if entry.graph is model.graph), key=lambda entry: order[entry.layer.id])
    taps: dict[Tap, None] = {}
    for _, layer, graph in top:
        for port in layer.inputs:
            maker, index = _source(graph, layer, port)
            if maker.type != "Const":
                taps[Tap(maker.name, index)] = None
        for index, _ in enumerate(layer.outputs):
            taps[Tap(layer.name, index)] = None
    return _Plan(tuple(top), tuple(entry for entry in chosen if entry.graph is not model.graph), tuple(taps))


def _source(graph: Graph, layer: Layer, port: Port) -> tuple[Layer, int]:
    source = graph.sources(layer.id)[port.id]
    maker = graph.layer(source.layer)
    return maker, next(index for index, out in enumerate(maker.outputs) if out.id == source.port)


def _compare_in_place(
    runtime: RuntimeClient,
    model: Model,
    fed: Mapping[str, Array],
    types: frozenset[str],
    device: str,
    tolerance: float | None,
) -> Comparison:
    steps = _plan(model, types)
    untouched = runtime.infer_model(model, fed, device=device)
    tapped = runtime.infer_model(model, fed, taps=steps.taps, device=device) if steps.taps else untouched
    entries = [entry for located in steps.layers for entry in _compare_layer(model, located, tapped, tolerance)]
    entries += [
        _skipped(model, located, "stands in a body, whose tensors the runtime does not hand out")
        for located in steps.inside
    ]
    return Comparison(
        mode="in place",
        layers=tuple(entries),
        outputs=_compare_outputs(untouched.outputs, tapped.outputs, tolerance),
        runtime=untouched.version,
        device=untouched.device,
        precision=untouched.precision,
        inputs=fed,
    )


def _compare_layer(
    model: Model, located: Located, run: Inference, tolerance: float | None
) -> Iterator[LayerComparison]:
    layer = located.layer
    op = find_op(layer.type, layer.version)
    if op is None or op.kernel is None:
        yield _skipped(model, located, f"the reference has no kernel for {layer.type} {layer.version}")
        return
    arrays = []
    for port in layer.inputs:
        maker, index = _source(located.graph, layer, port)
        arrays.append(constant(maker.raw, model.weights) if maker.type == "Const" else run.taps[Tap(maker.name, index)])
    result = run_layer(layer, arrays)
    for index, (expected, undefined) in enumerate(zip(result.outputs, result.undefined, strict=True)):
        actual = run.taps[Tap(layer.name, index)]
        blank = _skipped(model, located, "")
        common = replace(blank, op=str(op), output=index, element_type=_type_name(actual), shape=actual.shape)
        if expected.shape != actual.shape:
            yield replace(common, status="differs", reason=f"the reference gives {list(expected.shape)}")
            continue
        found = difference(expected, actual, tolerance=tolerance, undefined=undefined)
        yield replace(common, status="ok" if found.ok else "differs", difference=found, reason=None)


def _skipped(model: Model, located: Located, reason: str) -> LayerComparison:
    return LayerComparison(
        path=located.path,
        layer_id=located.layer.id,
        line=model.line_of(located.graph, located.layer.id),
        op=f"{located.layer.type} {located.layer.version}",
        status="skipped",
        reason=reason,
    )
