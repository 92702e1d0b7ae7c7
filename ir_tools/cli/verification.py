"""Runs of a model before and after its migration, and what comes of comparing them."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import ir_tools
from ir_tools.cli.app import Row
from ir_tools.cli.arrays import InputOptions, not_run
from ir_tools.cli.releases import located
from ir_tools.errors import IrToolsError, RuntimeFailure, UnsupportedError
from ir_tools.runtime.installed import require_openvino
from ir_tools.types import precision_in_file

if TYPE_CHECKING:
    from ir_tools.comparison import Comparison
    from ir_tools.graph import Model
    from ir_tools.inputs import InputPlan
    from ir_tools.ops import Array
    from ir_tools.rewrite.migration import Migration
    from ir_tools.runtime.client import RuntimeClient
    from ir_tools.runtime.legacy import LegacyClient
    from ir_tools.runtime.release import ReleaseClient

__all__ = ["measured_int8", "verify", "verify_legacy"]

QUANTIZED = (
    "the model is quantized, and a value between two levels may be rounded to either; verify it with typical inputs "
    "(--input), or accept the difference with --tolerance"
)


def verify(
    before: "Model",
    migration: "Migration",
    inputs: InputOptions,
    extensions: Sequence[Path],
    tolerance: float | None,
    *,
    client: "ReleaseClient | None",
    their: "ReleaseClient | None",
) -> Row:
    """Run both models on the runtime and compare their outputs; without a comparison, say why there is none."""
    from ir_tools.cli.screen import working
    from ir_tools.known_differences.surroundings import quantized_note
    from ir_tools.runtime.client import RuntimeClient

    source = inputs.reshaped(before, extensions)
    target = _like(inputs, before, migration.model).reshaped(migration.model, extensions)
    plan = inputs.plan(source)
    shared: Row = {"seed": inputs.seed, "inputs": plan.as_rows()}
    try:
        with (
            working("running both models on the runtime"),
            client or RuntimeClient(extensions=extensions) as first,
            their or nullcontext() as second,
            located(source, first),
            located(target, second or first),
        ):
            taken = _taken(plan, source, target)
            fed = {new.name: taken[old.name] for old, new in zip(source.inputs, target.inputs, strict=True)}
            found, fault = _compared(source, taken, target, fed, tolerance, first, second)
    except IrToolsError as error:
        return {**not_run(error), **shared}
    if not found.ok and quantized_note(target):
        shared |= {"help": QUANTIZED}
    if fault is not None:
        shared |= {"fault": fault, "old": "The reference", "new": f"{(second or first).title}: the migrated model"}
    elif second is not None or client is not None:
        same = f"{first.title}: the migrated model" if before is migration.model else found.layer_sides.expected
        shared |= {"old": same, "new": f"{(second or first).title}: the migrated model"}
    return {"ok": found.ok, **_facts(found), **shared}


def _compared(
    before: "Model",
    fed: "Mapping[str, Array]",
    after: "Model",
    taken: "Mapping[str, Array]",
    tolerance: float | None,
    client: "RuntimeClient",
    their: "RuntimeClient | None",
) -> "tuple[Comparison, str | None]":
    """Compare both models on the runtime; or the migrated one with the reference, and say why.

    That is if the original fails there or gives other values, and the reference computes of both models what the
    migrated one gives.

    Raises:
        RuntimeFailure: a model does not run.
    """
    from ir_tools.comparison import compare

    by_reference = partial(_by_reference, before, fed, after, taken, tolerance, their or client)
    try:
        found = compare(
            before, after, inputs=fed, layers=False, tolerance=tolerance, client=client, against_client=their
        )
    except RuntimeFailure as failure:
        if (other := by_reference()) is None:
            raise
        return other, f"The original model fails, so the migrated model is compared with the reference: {failure}"
    if found.ok or (other := by_reference()) is None:
        return found, None
    return other, _fault(before, client)


def _by_reference(
    before: "Model",
    fed: "Mapping[str, Array]",
    after: "Model",
    taken: "Mapping[str, Array]",
    tolerance: float | None,
    client: "RuntimeClient",
) -> "Comparison | None":
    """Return a comparison with the reference; None if that differs, or computes something else of the other model."""
    from ir_tools.comparison import compare, difference
    from ir_tools.execute import run

    with suppress(UnsupportedError):
        found = compare(after, inputs=taken, mode="cumulative", layers=False, tolerance=tolerance, client=client)
        pairs = zip(run(before, fed).values(), run(after, taken).values(), strict=True)
        if found.ok and all(
            one.shape == two.shape and difference(one, two, tolerance=tolerance).ok for one, two in pairs
        ):
            return found
    return None


def _fault(model: "Model", client: "RuntimeClient") -> str:
    """Say that the runtime gives other values of the original than the reference, and why if that is known."""
    from ir_tools.compatibility import Answer, compatibility
    from ir_tools.releases.table import OPENVINO

    releases = [release for release in OPENVINO if f"{client.title}.".startswith(f"{release.title}.")]
    reasons = [f": {one.why}" for one in compatibility(model, releases) if one.answer is Answer.DIFFERS]
    found = (
        f"{client.title} computes wrong values for the original model, so the migrated model is compared with the "
        "reference"
    )
    return "".join([found, *reasons])


def _like(inputs: InputOptions, before: "Model", after: "Model") -> InputOptions:
    """Return the options with the shapes of `--set` by the names of the migrated model; a file of IR v10 has others."""
    ends = zip(before.inputs, after.inputs, strict=True)
    names = {alias: new.name for old, new in ends for alias in old.names}
    return replace(inputs, shapes=tuple((names.get(name, name), shape) for name, shape in inputs.shapes))


def _taken(plan: "InputPlan", before: "Model", after: "Model") -> "dict[str, Array]":
    """Return the inputs, rounded to what the migrated model takes where that is another type."""
    found = dict(plan.arrays())
    for old, new in zip(before.inputs, after.inputs, strict=True):
        array, kind = found[old.name], precision_in_file(new.port.precision or "")
        if kind is not None and kind.dtype is not None and not kind.packed:
            found[old.name] = array.astype(kind.dtype).astype(array.dtype)
    return found


def verify_legacy(
    before: "Model",
    migration: "Migration",
    inputs: InputOptions,
    extensions: Sequence[Path],
    tolerance: float | None,
    *,
    old: "LegacyClient",
    layers: bool,
    their: "ReleaseClient | None",
) -> Row:
    """Run the old model on the runtime of its time, and compare; without a comparison, say why there is none."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison import count_compared
    from ir_tools.comparison.releases import compare_releases
    from ir_tools.runtime.client import RuntimeClient

    plan = inputs.plan(migration.model)
    shared: Row = {"seed": inputs.seed, "inputs": plan.as_rows()}
    steps = count_compared(before, layers) if layers else None
    try:
        with (
            old,
            working("running both models", steps) as advance,
            their or RuntimeClient(extensions=extensions) as client,
            located(migration.model, client),
        ):
            found = compare_releases(
                before,
                migration.model,
                plan,
                layers,
                legacy=old,
                tolerance=tolerance,
                client=client,
                advance=advance,
            )
    except IrToolsError as error:
        return {**not_run(error), **shared}
    compared = sum(entry.status != "skipped" for entry in found.layers)
    if their is not None:
        shared |= {"new": found.layer_sides.actual}
    shared |= {"old": found.second, "layers": compared, "first_difference": found.first_difference}
    return {"ok": found.ok, **_facts(found), **shared}


def measured_int8(in_floats: "Model", in_int8: "Model", inputs: InputOptions) -> Row:
    """Run the migrated model in floats and in INT8, and return how far outputs are apart; or why it did not run."""
    from ir_tools.cli.screen import working

    plan = inputs.plan(in_floats)
    shared: Row = {"seed": inputs.seed, "inputs": plan.as_rows()}
    try:
        require_openvino()
        with working("running the model in floats and in INT8"):
            found = ir_tools.compare(in_floats, in_int8, plan.arrays(), layers=False, precision="int8")
    except IrToolsError as error:
        return {**not_run(error), **shared}
    return {**_facts(found), **shared}


def _facts(found: "Comparison") -> Row:
    """Return what ran, and what came of it."""
    from ir_tools.comparison import weak_notes

    outputs = _outputs(found)
    return {"weak": weak_notes(found), "runtime": found.runtime, "device": found.device, "outputs": outputs}


def _outputs(found: "Comparison") -> list[Row]:
    return [
        {"name": entry.name, "ok": entry.ok, "max_abs": entry.difference.max_abs, "max_rel": entry.difference.max_rel}
        | {"needed": entry.difference.needed, "allowed": entry.difference.tolerance}
        | {"weak": entry.weak, "reason": entry.reason}
        for entry in found.outputs
    ]
