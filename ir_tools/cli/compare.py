"""`ir-tools compare`: the reference against the runtime layer by layer, or a model against another."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

import ir_tools
from ir_tools.cli._comparison_options import Options, Request, Side, command_line
from ir_tools.cli._comparisons import known_words, show_comparison, show_comparisons, show_layers
from ir_tools.cli._onnx import engine_rows, is_onnx, output_rows, show_engines
from ir_tools.cli.app import Answer, Row, command
from ir_tools.cli.arrays import InputOptions, listing_made_up, show_plan
from ir_tools.cli.loading import load, load_current
from ir_tools.cli.options import (
    bin_option,
    extension_option,
    input_options,
    model_argument,
    release_options,
    states_option,
    tolerance_option,
)
from ir_tools.cli.paths import InputPath, OutputFile, OutputFolder, OutputModel
from ir_tools.cli.releases import ReleaseOptions, located
from ir_tools.cli.steps import load_states
from ir_tools.releases.table import RELEASES, Release
from ir_tools.runtime.setting import PRECISIONS, RuntimePrecision, Setting

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.comparison import Comparison, ReferenceMode, Sides
    from ir_tools.comparison.onnx import OnnxComparison
    from ir_tools.comparison.saved import SavedRun
    from ir_tools.graph import Model
    from ir_tools.inputs import InputPlan
    from ir_tools.ops import Array

__all__ = ["compare"]

MAX_SAMPLES = 10_000
"""The results of all samples are kept until the last one, so those of more would not fit into memory."""


@command("compare", example="ir-tools compare model.xml --mode cumulative --report report.html")
@model_argument()
@model_argument("other", required=False)
@bin_option()
@bin_option("other-bin")
@click.option(
    "--mode",
    type=click.Choice(["isolated", "cumulative"]),
    help=(
        "isolated (the default): compute each layer on the runtime's own inputs. cumulative: let the reference run "
        "the whole model, so that errors add up."
    ),
)
@click.option("--device", default="CPU", show_default=True, help="Device of the runtime.")
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    help=(
        "Element type in which the runtime computes floats; int8 runs quantized models as they are deployed. "
        "Default: f32, or with --golden that of the saved run."
    ),
)
@click.option(
    "--against",
    type=Side(),
    multiple=True,
    help=(
        "Compare with another release, device or precision instead of the reference: openvino-2024.6, GPU, "
        "CPU:bf16. With OTHER, the release that OTHER runs on. May be repeated."
    ),
)
@click.option("--layers", is_flag=True, help="Compare every layer; this is the default.")
@click.option(
    "--type", "types", multiple=True, metavar="TYPE", help="Compare only layers of this type. May be repeated."
)
@click.option("--outputs-only", is_flag=True, help="Compare only the outputs of the model, cumulatively.")
@tolerance_option
@input_options
@click.option(
    "--samples",
    type=click.IntRange(min=1, max=MAX_SAMPLES),
    default=1,
    show_default=True,
    help="Compare on N samples of the inputs; for each tensor, show the sample with the largest difference.",
    metavar="N",
)
@states_option
@extension_option
@release_options
@click.option(
    "--all", "everything", is_flag=True, help="List every layer, not only those with the largest differences."
)
@click.option(
    "--report", type=OutputFile(".html", ".htm"), metavar="OUT.html", help="Write all results to an HTML page."
)
@click.option("--dump", type=OutputFolder(), metavar="FOLDER", help="Write every compared tensor as a .npy file.")
@click.option(
    "--save",
    type=OutputFile(".irrun"),
    metavar="OUT.irrun",
    help=(
        "Write the run of the runtime: inputs, outputs, and the tensors of all layers, or of those of --type (none "
        "with --outputs-only)."
    ),
)
@click.option(
    "--golden",
    type=InputPath(),
    metavar="RUN.irrun",
    help="Compare with a run that --save wrote, on the inputs of that run.",
)
@click.option(
    "--bisect", type=OutputModel(), metavar="OUT.xml", help="Write the smallest part of the model that still differs."
)
def compare(
    model: Path,
    other: Path | None,
    weights: Path | None,
    other_weights: Path | None,
    mode: "ReferenceMode | None",
    device: str,
    precision: RuntimePrecision | None,
    against: tuple[Setting | Release, ...],
    layers: bool,
    types: tuple[str, ...],
    outputs_only: bool,
    tolerance: float | None,
    inputs: InputOptions,
    samples: int,
    extensions: tuple[Path, ...],
    states: tuple[tuple[str, str], ...],
    release: ReleaseOptions,
    everything: bool,
    report: Path | None,
    dump: Path | None,
    save: Path | None,
    golden: Path | None,
    bisect: Path | None,
) -> Answer:
    """Compare what the numpy reference and the runtime make of MODEL, layer by layer, or MODEL with OTHER.

    With --against RELEASE, MODEL runs on the installed OpenVINO, or the release of --runtime, and on that release: the
    first layer that differs is where their difference starts. A legacy MODEL (IR v2 to v7) with an OTHER, such as what
    it was migrated to, runs on Inference Engine 2020.1.

    Several --against are compared one after the other, and summed up in a table; --report then has a page for each.

    Isolated, a difference is that layer's alone; cumulative, errors add up as in use. The outputs of an .onnx are
    computed three ways: converted here, converted by OpenVINO alone, and by onnxruntime; with an option about layers,
    sides or files, the model converted here is compared as any other. Exits with 0 within tolerance and with 1 where
    something differs.
    """
    from ir_tools.comparison.saved import SavedRun
    from ir_tools.rewrite.legacy import current_model

    request = Request(
        other=other,
        other_weights=other_weights,
        mode=mode,
        against=against,
        layers=layers,
        types=types,
        outputs_only=outputs_only,
        inputs=inputs,
        samples=samples,
        states=states,
        dump=dump,
        save=save,
        golden=golden,
        bisect=bisect,
    )
    request.check()
    options = Options(
        mode=mode or "isolated",
        device=device,
        precision=precision or "f32",
        against=against,
        types=frozenset(types),
        outputs_only=outputs_only,
        tolerance=tolerance,
        inputs=inputs,
        samples=samples,
        extensions=extensions,
        states=states,
        release=release,
        dump=dump,
    )
    models = (*_models(model, other, weights, other_weights),)
    replay = command_line([*models, *options.words(), *([] if save is None else ["--save", str(save)])])
    others = (report, dump, save, golden, bisect, release.given, samples > 1, options.precision != "f32")
    one_model = (layers, types, outputs_only, mode, against, *others)
    if is_onnx(model, weights) and other is None and not any(one_model):
        return _compare_onnx(model, options, replay)
    first = load(model, weights, extensions)
    if golden is not None:
        run = SavedRun.open(golden)
        options = replace(options, precision=precision or run.table.setting.precision)
        replay = command_line([*models, *options.words(), "--golden", str(golden)])
        return _compare_golden(model, current_model(first), run, options, replay, report, everything)
    release.check(first, more=any(isinstance(side, Release) for side in against))
    legacy = first if first.is_legacy and release.legacy and (other is not None or release.given) else None
    if legacy is not None:
        request.check_legacy(legacy)
    second = None if other is None else inputs.reshaped(load_current(other, other_weights, extensions), extensions)
    loaded = second if legacy and second else inputs.reshaped(current_model(first), extensions)
    plan = inputs.plan(loaded)
    made: list[tuple[Comparison, Row]] = []
    for side in against or (None,):
        if legacy is None:
            found = _compare(loaded, second, plan, options, side)
        else:
            found = _compare_releases(legacy, loaded, plan, options, side)
        data = _facts(model, other, found, plan, replay)
        if legacy is None or isinstance(side, Release):
            names = [side.short] if isinstance(side, Release) else []
            data["known"] = _known(loaded, found, found.runtime, *names)
        if bisect is not None:
            data["part"] = None if found.ok else _bisect(loaded, found, options, bisect, side)
        made.append((found, data))
    if save is not None:
        _save(loaded, plan, options, save)
    written = _report(made, model, report, replay, plan) | ({} if save is None else {"saved": str(save)})
    return _answer(made, model, written, replay, plan, everything)


def _answer(
    made: "Sequence[tuple[Comparison, Row]]",
    model: Path,
    written: Row,
    replay: str,
    plan: "InputPlan",
    everything: bool,
) -> Answer:
    """Return one comparison or several with what they have in common; `written`: the files, by what they hold."""
    ok = all(found.ok for found, _ in made)
    if len(made) == 1:
        found, data = made[0]
        row = {**data, **written}
        show = partial(show_comparison, found=found, data=row, plan=plan, everything=everything)
    else:
        row = {"file": str(model), "ok": ok, "comparisons": [data for _, data in made], "replay": replay, **written}
        show = partial(show_comparisons, made=made, data=row, plan=plan, everything=everything)
    return Answer(row, show, 0 if ok else 1)


def _report(
    made: "Sequence[tuple[Comparison, Row]]", model: Path, report: Path | None, replay: str, plan: "InputPlan"
) -> Row:
    """Write the report, if one is asked for, and return what the data say of it."""
    if report is None:
        return {}
    from ir_tools.report import write_report

    pages = [(found, known_words(data)) for found, data in made]
    write_report(pages, report, model=str(model), replay=replay, plan=plan)
    return {"report": str(report)}


def _known(model: "Model", found: "Comparison", *versions: str) -> list[Row]:
    """Return the layers of which it is known that one of these releases gives other values.

    If no values differ: those of which it is known of one release and not of another.
    """
    from ir_tools.compatibility import Answer as ReleaseAnswer
    from ir_tools.compatibility import compatibility

    names = {f"openvino-{'.'.join(version.split('.')[:2])}" for version in versions}
    releases = [release for release in RELEASES if release.name in names]
    if not found.first_difference and len(releases) < 2:
        return []
    rows: list[Row] = [
        {"release": one.release.name, "path": layer.path, "line": layer.line, "reason": layer.reason}
        for one in compatibility(model, releases)
        for layer in one.obstacles
        if layer.answer is ReleaseAnswer.DIFFERS
    ]
    counts = Counter((row["path"], row["reason"]) for row in rows)
    return [row for row in rows if found.first_difference or counts[row["path"], row["reason"]] < len(releases)]


def _models(model: Path, other: Path | None, weights: Path | None, other_weights: Path | None) -> Iterator[str]:
    """Yield the start of a command line that compares the same models."""
    yield from ("ir-tools", "compare", *(_argument(path) for path in (model, other) if path is not None))
    if weights is not None:
        yield from ("--bin", str(weights))
    if other_weights is not None:
        yield from ("--other-bin", str(other_weights))


def _argument(path: Path) -> str:
    """Return a path as a word that is not taken for an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def _compare(
    model: "Model",
    other: "Model | None",
    plan: "InputPlan",
    options: Options,
    side: Setting | Release | None,
) -> "Comparison":
    from ir_tools.cli.screen import working
    from ir_tools.comparison import compare as compare_models

    with (
        options.sink() as sink,
        options.clients(side) as (client, their),
        working("comparing", options.steps(model)) as advance,
        listing_made_up(plan),
        located(model, client),
        located(other or model, their),
    ):
        return compare_models(
            model,
            other,
            plan,
            options.layers,
            samples=options.samples,
            mode=options.mode,
            device=options.device,
            precision=options.precision,
            against=side if isinstance(side, Setting) else None,
            tolerance=options.tolerance,
            client=client,
            against_client=their,
            states=load_states(options.states),
            sink=sink,
            advance=advance,
        )


def _compare_golden(
    path: Path,
    model: "Model",
    run: "SavedRun",
    options: Options,
    replay: str,
    report: Path | None,
    everything: bool,
) -> Answer:
    """Compare what the runtime gives with a saved run."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison.saved import compare_saved
    from ir_tools.inputs import plan_inputs

    options.release.check(model)
    loaded = InputOptions(shapes=tuple(run.shapes_for(model).items())).reshaped(model, options.extensions)
    with (
        options.sink() as sink,
        options.clients(None) as (client, _),
        working("comparing", options.steps(loaded, len(run.samples))) as advance,
        located(loaded, client),
    ):
        found = compare_saved(
            run,
            loaded,
            options.layers,
            client=client,
            setting=options.setting,
            tolerance=options.tolerance,
            sink=sink,
            advance=advance,
        )
    plan = plan_inputs(loaded, run.samples[0].inputs)
    same = run.is_of(loaded)
    data = {**_facts(path, None, found, plan, replay), "golden": str(run.path), "same_model": same}
    data["known"] = _known(loaded, found, run.table.runtime, found.runtime)
    data |= _report([(found, data)], path, report, replay, plan)

    def show(screen: "Screen") -> None:
        show_comparison(screen, found, data, plan, everything=everything)
        if not same:
            screen.line(
                "the bytes of the saved run's model differ from this one; tensors are matched by layer name",
                style="yellow",
            )

    return Answer(data, show, 0 if found.ok else 1)


def _save(model: "Model", plan: "InputPlan", options: Options, path: Path) -> None:
    """Write what the runtime gives."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison.saved import save_run

    with options.clients(None) as (client, _), working("saving the run"):
        save_run(
            path,
            model,
            [plan.arrays(sample) for sample in range(options.samples)],
            options.layers,
            client=client,
            setting=options.setting,
            shapes=dict(options.inputs.shapes),
            seed=options.inputs.seed,
            states=load_states(options.states),
        )


def _compare_releases(
    old: "Model",
    new: "Model",
    plan: "InputPlan",
    options: Options,
    side: Setting | Release | None,
) -> "Comparison":
    """Compare a legacy model on the runtime of its time with another model, on the installed OpenVINO or a release."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison.releases import compare_releases

    their = options.release.beside(side, options.extensions) if isinstance(side, Release) else None
    with (
        options.sink() as sink,
        options.release.client(old, options.inputs) as legacy,
        their or nullcontext() as client,
        working("comparing", options.steps(old)) as advance,
        located(new, client),
    ):
        return compare_releases(
            old,
            new,
            plan,
            options.layers,
            legacy=legacy,
            setting=options.setting,
            tolerance=options.tolerance,
            samples=options.samples,
            client=client,
            extensions=options.extensions,
            sink=sink,
            advance=advance,
        )


def _bisect(model: "Model", found: "Comparison", options: Options, output: Path, side: Setting | Release | None) -> Row:
    """Search and write the smallest part; what it is, and the command that compares it."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison import compare as compare_models
    from ir_tools.comparison.bisection import smallest_part
    from ir_tools.comparison.dumping import array_file
    from ir_tools.format.write import write

    with options.clients(side) as (client, their), working("searching the smallest part that differs"):

        def compare_part(part: "Model", fed: "dict[str, Array]") -> "Comparison":
            return compare_models(
                part,
                inputs=fed,
                layers=False,
                mode="cumulative",
                device=options.device,
                precision=options.precision,
                against=side if isinstance(side, Setting) else None,
                tolerance=options.tolerance,
                client=client,
                against_client=their,
            )

        part = smallest_part(model, found, compare_part, client, options.setting)
    files = {name: output.with_name(f"{output.stem}.{number}.npy") for number, name in enumerate(part.inputs)}
    write(part.model, output, beside=[array_file(file, part.inputs[name]) for name, file in files.items()])
    texts = tuple(f"{name}={file}" for name, file in files.items())
    inputs = InputOptions(texts, options.inputs.seed)
    again = replace(options, inputs=inputs, mode="cumulative", types=frozenset(), outputs_only=True)
    return {
        "layers": part.layers,
        "written": str(output),
        "inputs": {name: str(file) for name, file in files.items()},
        "replay": command_line(["ir-tools", "compare", _argument(output), *again.words()]),
    }


def _facts(model: Path, other: Path | None, found: "Comparison", plan: "InputPlan", replay: str) -> Row:
    return {
        "file": str(model),
        "other": None if other is None else str(other),
        "ok": found.ok,
        "mode": found.mode,
        "runtime": found.runtime,
        "device": found.device,
        "precision": found.precision,
        "instead": found.instead,
        "second": found.second,
        "sides": {"layers": _side_words(found.layer_sides), "outputs": _side_words(found.output_sides)},
        "seed": plan.seed,
        "inputs": plan.as_rows(),
        "samples": found.samples,
        "needed": found.needed,
        "weak": {entry.name: entry.weak for entry in found.weak},
        "first_difference": found.first_difference,
        "layers": found.layers,
        "outputs": found.outputs,
        "int8": {"operations": found.narrow, "outputs": found.in_use},
        "replay": replay,
    }


def _side_words(sides: "Sides") -> Row:
    return {"expected": sides.expected, "actual": sides.actual}


def _compare_onnx(model: Path, options: Options, replay: str) -> Answer:
    from ir_tools.cli.screen import working

    if options.states:
        raise click.UsageError("--state is for IR models; an .onnx has no variables")
    plan = options.inputs.plan(load_current(model, extensions=options.extensions))
    with working("running"):
        judged = ir_tools.compare_onnx(
            model,
            plan.arrays(),
            device=options.device,
            tolerance=options.tolerance,
            extensions=options.extensions,
        )
    return _judged(model, judged, plan, replay)


def _judged(path: Path, found: "OnnxComparison", plan: "InputPlan", replay: str) -> Answer:
    """Return the outputs of an ONNX file three ways, and its poolings, isolated."""
    assert found.isolated is not None
    first = found.first_difference
    engines, outputs = engine_rows(found), output_rows(found)
    data: Row = {
        "file": str(path),
        "other": None,
        "ok": found.ok,
        "mode": "three ways",
        "engines": engines,
        "runtime": found.isolated.runtime,
        "device": found.isolated.device,
        "precision": found.isolated.precision,
        "seed": plan.seed,
        "inputs": plan.as_rows(),
        "first_difference": first or found.isolated.first_difference,
        "layers": [replace(entry, line=None) for entry in found.isolated.layers],
        "outputs": outputs,
        "warnings": [finding.as_dict() for finding in found.diagnostics],
        "replay": replay,
    }

    def show(screen: "Screen") -> None:
        for finding in found.diagnostics:
            screen.line(f"warning: {finding.message}", style="yellow")
        if found.isolated and found.isolated.layers:
            screen.heading("Reference against runtime, each layer on the runtime's own inputs")
            show_layers(screen, found.isolated, found.isolated.layers)
        show_engines(screen, engines, outputs)
        show_plan(screen, plan)
        text = "No difference exceeds the tolerance."
        if first is not None:
            text = f"The first difference is '{first.name}': {first.verdict}."
        elif not found.ok:
            text = "A pooling layer differs from the reference."
        screen.verdict(text, good=found.ok)
        screen.line(f"again: {replay}", style="dim")

    return Answer(data, show, 0 if found.ok else 1)
