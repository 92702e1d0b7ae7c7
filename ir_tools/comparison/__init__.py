"""Compare tensors layer by layer: reference and runtime, two devices or precisions, or two models."""

from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import get_args

from ir_tools.arguments import check_word
from ir_tools.comparison._bodies import BodyRunner
from ir_tools.comparison._differences import DECADES, TOLERANCES, Difference, allowed, coarser, difference, rounding_of
from ir_tools.comparison._evidence import outputs_on_other_inputs
from ir_tools.comparison._gold import F64Errors, GoldRun
from ir_tools.comparison._layers import IDLE, Compared, Rows, Sink
from ir_tools.comparison._models import paired_models
from ir_tools.comparison._modes import LEFT_OUT, Found, Work
from ir_tools.comparison._outputs import Outputs
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison._results import Comparison, LayerComparison, Mode, OutputComparison, ReferenceMode, Sides
from ir_tools.comparison._samples import merged
from ir_tools.comparison._summary import (
    closer_words,
    compared_words,
    difference_words,
    f64_note,
    first_name,
    narrow_note,
    one_line,
    outputs_words,
    place,
    rounding_note,
    weak_notes,
)
from ir_tools.comparison._tensors import Choice, count_compared, is_quantized, require_layers
from ir_tools.errors import UsageError
from ir_tools.graph import Model
from ir_tools.inputs import InputPlan, InputValue, plan_inputs
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.extensions import Extensions
from ir_tools.runtime.one_layer import LayerRunner
from ir_tools.runtime.release import ReleaseClient
from ir_tools.runtime.setting import RuntimePrecision, Setting
from ir_tools.states import checked_states

__all__ = [
    "DECADES",
    "IDLE",
    "LEFT_OUT",
    "TOLERANCES",
    "Compared",
    "Comparison",
    "Difference",
    "F64Errors",
    "LayerComparison",
    "OutputComparison",
    "ReferenceMode",
    "Sides",
    "Sink",
    "allowed",
    "closer_words",
    "compare",
    "compared_words",
    "count_compared",
    "difference",
    "difference_words",
    "f64_note",
    "first_name",
    "narrow_note",
    "one_line",
    "outputs_words",
    "place",
    "rounding_note",
    "weak_notes",
]


def compare(
    model: Model,
    other: Model | None = None,
    inputs: Mapping[str, InputValue] | InputPlan | None = None,
    layers: bool | str | Collection[str] = True,
    *,
    mode: ReferenceMode = "isolated",
    seed: int = 0,
    samples: int = 1,
    device: str = "CPU",
    precision: RuntimePrecision = "f32",
    against: str | tuple[str, RuntimePrecision] | None = None,
    tolerance: float | None = None,
    client: RuntimeClient | None = None,
    against_client: RuntimeClient | None = None,
    extensions: Extensions = (),
    states: Mapping[str, Array] | None = None,
    sink: Sink | None = None,
    advance: Callable[[], None] | None = None,
) -> Comparison:
    """Compare tensors layer by layer: with the reference, another device, another release or another model.

    Args:
        model: the model.
        other: a second model with the same inputs. Tensors are matched by structure, constants and names; outputs by
            name, else by the layers that compute them, else by position.
        inputs: arrays or generators (`uniform:0:255`) by tensor or layer name, or a plan; `plan_inputs` generates the
            others.
        layers: True for every layer, operation types (`{"MaxPool"}`), or False for only the outputs of the model.
        mode: how the reference runs: `isolated`, each layer on the inputs that it had in the runtime, or `cumulative`,
            the whole model. With `layers=False` it runs the whole model.
        seed: the seed of generated inputs.
        samples: the number of input samples; each tensor is reported for the sample with its largest difference.
        device: the OpenVINO device.
        precision: the type in which the runtime computes floats: `f32`, `f16`, `bf16`, or `int8` for quantized models.
        against: another device and precision to compare with, in place of the reference: `CPU:bf16`, or a pair.
        tolerance: the allowed difference relative to the largest magnitude of each tensor, in place of `TOLERANCES`.
        client: the runtime to use, for example another release; by default, one is started with `extensions`, and ended
            after the comparison.
        against_client: the runtime for the second side: `other`, or the model itself.
        extensions: extension libraries with further operations, which the runtime loads.
        states: values of variables by id before the inference, for all sides; by default their initial values.
        sink: called with every pair of tensors that is compared.
        advance: called after every layer, for a progress bar.

    Raises:
        UsageError: the mode or precision is unknown, the model does not have or accept an input, none of its layers has
            a type in `layers`, or the outputs of the models do not match.
        RuntimeFailure: the runtime rejects the model, crashes, or takes too long.
    """
    check_word("mode", mode, get_args(ReferenceMode))
    if other is not None and against is not None:
        raise UsageError("pass either other or a device to compare with, not both")
    if tolerance is not None and not tolerance >= 0.0:
        raise UsageError(f"tolerance is {tolerance}; expected 0 or more")
    setting = Setting.of(device, precision)
    second = None if against is None else Setting.parse(against) if isinstance(against, str) else Setting.of(*against)
    choice = Choice.of(layers)
    require_layers(model, choice)
    plan = inputs if isinstance(inputs, InputPlan) else plan_inputs(model, inputs, seed=seed)
    before = checked_states(model, states or {})
    with (
        nullcontext(client) if client else RuntimeClient(extensions=extensions) as runtime,
        runtime.starting_from(before),
        nullcontext() if against_client is None else against_client.starting_from(before),
    ):
        their = against_client or runtime
        if against_client is not None and other is None and second is None:
            second = setting
        pairs = None if other is None else paired_models(model, other)

        in_int8 = any(one is not None and one.precision == "int8" for one in (setting, second))
        unquantized = in_int8 and not any(one is not None and is_quantized(one) for one in (model, other))

        def compared(sample: int) -> Comparison:
            fed = plan.arrays(sample)
            precision = setting.precision if second is None else coarser(setting.precision, second.precision)
            gold = GoldRun(model, fed, LayerRunner(runtime), before) if other is None else None
            bodies = BodyRunner(runtime, setting)
            rows = Rows(model, choice, bodies, gold, precision, tolerance, sink, advance, before)
            work = Work(runtime, model, fed, setting, rows)
            outputs = Outputs.of(model, rows.coarse(model.graph), precision, tolerance)
            mine, found, sides, output_sides = _found(work, mode, other, pairs, their, second)
            again = outputs_on_other_inputs(runtime, model, plan, sample, setting)
            one = _result(mine, found, outputs, fed, sides, output_sides, again, gold, setting, precision)
            return replace(one, unquantized=unquantized)

        return merged([compared(sample) for sample in range(samples)])


def _found(
    work: Work,
    mode: ReferenceMode,
    other: Model | None,
    pairs: Pairs | None,
    their: RuntimeClient,
    second: Setting | None,
) -> tuple[Mode, Found, Sides, Sides]:
    """Compare on one sample: in which mode, what came of it, and the sides of the layers and of the outputs."""
    mine = _on(work.runtime, their)
    if other is not None and pairs is not None:
        sides = Sides(
            f"{mine}{_name(work.model, 'the model')}", f"{_on(their, work.runtime)}{_name(other, 'the other model')}"
        )
        return "model against model", work.with_model(their, other, pairs), sides, sides
    setting = f"{mine}{work.setting}"
    if second is not None:
        sides = Sides(setting, f"{_on(their, work.runtime)}{second}")
        return "runtime against runtime", work.with_setting(their, second), sides, sides
    sides = Sides("reference", setting)
    if mode == "cumulative" or not work.rows.choice.any:
        return "cumulative", work.cumulative(), sides, sides
    as_it_is = Sides(f"{setting}, as it is", f"{setting}, all tensors as outputs")
    return "isolated", work.isolated(), sides, as_it_is


def _on(client: RuntimeClient, other: RuntimeClient) -> str:
    """Return a runtime before what it runs; nothing if it is the only one, and the installed one."""
    return f"{client.title}: " if client is not other or isinstance(client, ReleaseClient) else ""


def _result(
    mode: Mode,
    found: Found,
    outputs: Outputs,
    fed: Mapping[str, Array],
    sides: Sides,
    output_sides: Sides,
    again: Mapping[str, Array],
    gold: GoldRun | None,
    setting: Setting,
    coarsest: RuntimePrecision,
) -> Comparison:
    whole = found.whole
    return Comparison(
        mode=mode,
        layers=tuple(found.rows),
        outputs=outputs.compared(found.expected, found.actual, found.counterparts, gold, (whole.run.outputs, again)),
        rounding="" if mode == "isolated" else rounding_of(coarsest),
        runtime=whole.run.version,
        device=whole.run.device,
        precision=setting.computed_in(whole.run.precision),
        second=sides.expected if mode in get_args(ReferenceMode) else sides.actual,
        layer_sides=sides,
        output_sides=output_sides,
        inputs=fed,
        narrow=whole.narrow,
        in_use=outputs.measured(whole.wide, whole.run.outputs) if whole.narrow else (),
        instead=tuple(filter(None, dict.fromkeys((setting.instead(whole.run.precision), found.instead)))),
    )


def _name(model: Model, unnamed: str) -> str:
    return str(model.path or model.name or unnamed)
