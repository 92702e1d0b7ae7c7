"""`ir-tools compare`: the reference against the runtime layer by layer, or a model against another."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

import ir_tools
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
)
from ir_tools.cli.paths import InputPath, OutputFile, OutputFolder, OutputModel
from ir_tools.cli.releases import ReleaseOptions, located
from ir_tools.cli.screen import number, plural
from ir_tools.cli.steps import load_states
from ir_tools.display import sufficient
from ir_tools.releases.table import RELEASES, Release, find_release, is_release
from ir_tools.runtime.setting import PRECISIONS, RuntimePrecision, Setting

if TYPE_CHECKING:
    from ir_tools.cli.screen import Column, Screen
    from ir_tools.comparison import Comparison, Difference, LayerComparison, ReferenceMode, Sides
    from ir_tools.comparison.onnx import OnnxComparison
    from ir_tools.comparison.saved import SavedRun
    from ir_tools.graph import Model
    from ir_tools.inputs import InputPlan
    from ir_tools.ops import Array
    from ir_tools.runtime.client import RuntimeClient

__all__ = ["compare"]

SHOWN = 12
"""Layers that are listed without `--all`."""
CONTRADICTIONS = (
    ("--layers", "--outputs-only"),
    ("--layers", "--type"),
    ("--type", "--outputs-only"),
    ("--mode isolated", "--outputs-only"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare."""

    mode: "ReferenceMode"
    device: str
    precision: RuntimePrecision
    against: tuple[Setting | Release, ...]
    types: frozenset[str]
    outputs_only: bool
    tolerance: float | None
    inputs: InputOptions
    samples: int
    extensions: tuple[Path, ...]
    states: tuple[tuple[str, str], ...]
    release: ReleaseOptions

    @property
    def layers(self) -> bool | frozenset[str]:
        """Which layers."""
        return False if self.outputs_only else self.types or True

    @contextmanager
    def clients(self, side: Setting | Release | None) -> "Iterator[tuple[RuntimeClient, RuntimeClient | None]]":
        """Start the runtime, and another one if a side of `--against` is a release or the runtime is one."""
        from ir_tools.runtime.client import RuntimeClient

        with ExitStack() as stack:
            release = self.release.runtime(self.extensions)
            their = self.release.started(side, self.extensions) if isinstance(side, Release) else None
            client = stack.enter_context(release or RuntimeClient(extensions=self.extensions))
            yield client, None if their is None else stack.enter_context(their)

    def words(self) -> Iterator[str]:
        """Yield the options as a command line."""
        yield from ("--device", self.device, "--precision", self.precision)
        for side in self.against:
            yield from ("--against", ":".join(side) if isinstance(side, Setting) else side.name)
        for name in sorted(self.types):
            yield from ("--type", name)
        if self.outputs_only:
            yield "--outputs-only"
        elif self.mode != "isolated":
            yield from ("--mode", self.mode)
        if self.tolerance is not None:
            yield from ("--tolerance", str(self.tolerance))
        yield from self.inputs.words()
        if self.samples > 1:
            yield from ("--samples", str(self.samples))
        for library in self.extensions:
            yield from ("--extension", str(library))
        for name, file in self.states:
            yield from ("--state", f"{name}={file}" if name else file)
        yield from self.release.words()


class Side(click.ParamType["Setting | Release"]):
    """A release of OpenVINO, or `DEVICE:PRECISION`; without a precision, f32."""

    name = "RELEASE|DEVICE[:PRECISION]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> "Setting | Release":
        """Read it; UsageError for an unknown release or precision."""
        if not isinstance(value, str):
            assert isinstance(value, Setting | Release)
            return value
        return find_release(value) if is_release(value) else Setting.parse(value)


@command("compare", example="ir-tools compare model.xml --mode cumulative --report report.html")
@model_argument()
@model_argument("other", required=False)
@bin_option()
@bin_option("other-bin")
@click.option(
    "--mode",
    type=click.Choice(["isolated", "cumulative"]),
    help="Each layer on the runtime's own inputs (the default), or the reference by itself, so that errors add up.",
)
@click.option("--device", default="CPU", show_default=True, help="Device of the runtime.")
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    help="Type in which the runtime computes floats; int8: quantized models as they are used. Default: f32, or with"
    " --golden that of the saved run.",
)
@click.option(
    "--against",
    type=Side(),
    multiple=True,
    help="Another release, device or precision, instead of the reference: openvino-2024.6, GPU, CPU:bf16. With OTHER,"
    " the release that OTHER runs on. May be repeated.",
)
@click.option("--layers", is_flag=True, help="Compare every layer; this is the default.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only layers of this type. May be repeated.")
@click.option("--outputs-only", is_flag=True, help="Compare the outputs of the model alone, cumulative.")
@click.option("--tolerance", type=click.FloatRange(min=0), help="Tolerance, relative to each tensor's largest value.")
@input_options
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Compare on N samples of the inputs; each tensor is shown for the sample with its largest difference.",
    metavar="N",
)
@states_option
@extension_option
@release_options
@click.option("--all", "everything", is_flag=True, help="List every layer, not only the worst ones.")
@click.option(
    "--report", type=OutputFile(".html", ".htm"), metavar="OUT.html", help="Write an HTML page with all results."
)
@click.option("--dump", type=OutputFolder(), metavar="FOLDER", help="Write every tensor compared as .npy.")
@click.option(
    "--save",
    type=OutputFile(".irrun"),
    metavar="OUT.irrun",
    help="Write what the runtime gave: inputs, outputs, and all tensors or those of --type (none with --outputs-only).",
)
@click.option(
    "--golden", type=InputPath(), metavar="RUN.irrun", help="Compare with a run that --save wrote, on its inputs."
)
@click.option("--bisect", type=OutputModel(), metavar="OUT.xml", help="Write the smallest part that still differs.")
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

    _require_sense(other, against, mode, layers, types, outputs_only, bisect)
    _require_sense_of_runs(other, against, mode, save, golden, bisect, states, inputs, samples)
    if other is None and other_weights is not None:
        raise click.UsageError("--other-bin is for OTHER, which is not given")
    chosen = frozenset(types)
    options = Options(
        mode=mode or "isolated",
        device=device,
        precision=precision or "f32",
        against=against,
        types=chosen,
        outputs_only=outputs_only,
        tolerance=tolerance,
        inputs=inputs,
        samples=samples,
        extensions=extensions,
        states=states,
        release=release,
    )
    models = (*_models(model, other, weights, other_weights),)
    replay = shlex.join([*models, *options.words(), *([] if save is None else ["--save", str(save)])])
    if states and bisect is not None:
        raise click.UsageError("--bisect compares parts of the model, which have no variables; leave out --state")
    for option, file in {"--dump": dump, "--bisect": bisect}.items():
        if file is not None and len(against) > 1:
            raise click.UsageError(f"{option} writes one comparison; name one --against")
    if dump is not None and samples > 1:
        raise click.UsageError("--dump writes the tensors of one sample; leave out --samples")
    others = (report, dump, save, golden, bisect, release.given, samples > 1, options.precision != "f32")
    one_model = (layers, types, outputs_only, mode, against, *others)
    if is_onnx(model, weights) and other is None and not any(one_model):
        return _compare_onnx(model, options, replay)
    first = load(model, weights, extensions)
    if golden is not None:
        run = SavedRun.open(golden)
        options = replace(options, precision=precision or run.setting.precision)
        replay = shlex.join([*models, *options.words(), "--golden", str(golden)])
        return _compare_golden(model, current_model(first), run, options, replay, dump, report, everything)
    release.check(first, more=any(isinstance(side, Release) for side in against))
    legacy = first if first.is_legacy and release.legacy and (other is not None or release.given) else None
    _require_sense_of_legacy(legacy, against, mode, bisect, states, save)
    second = None if other is None else inputs.reshaped(load_current(other, other_weights, extensions), extensions)
    loaded = second if legacy and second else inputs.reshaped(current_model(first), extensions)
    plan = inputs.plan(loaded)
    made: list[tuple[Comparison, Row]] = []
    for side in against or (None,):
        if legacy is None:
            found = _compare(loaded, second, plan, options, dump, side)
        else:
            found = _compare_releases(legacy, loaded, plan, options, dump, side)
        data = _facts(model, other, found, plan, replay)
        if isinstance(side, Release) or not release.legacy:
            names = [side.short] if isinstance(side, Release) else []
            data["known"] = _known(loaded, found, found.runtime, *names)
        if bisect is not None:
            data["part"] = None if found.ok else _bisect(loaded, found, options, bisect, side)
        if save is not None:
            _save(loaded, plan, options, save)
            data["saved"] = str(save)
        made.append((found, data))
    if report is not None:
        from ir_tools.report import write_report

        pages = [(found, _known_words(data)) for found, data in made]
        write_report(pages, report, model=str(model), replay=replay, plan=plan)
    written = {} if report is None else {"report": str(report)}
    if len(made) == 1:
        found, data = made[0]
        return _answer(found, {**data, **written}, plan, everything)
    rows, ok = [data for _, data in made], all(found.ok for found, _ in made)
    several: Row = {"file": str(model), "ok": ok, "comparisons": rows, "replay": replay, **written}
    show = partial(_show_several, made=made, data=several, plan=plan, everything=everything)
    return Answer(several, show, 0 if ok else 1)


def _answer(found: "Comparison", data: Row, plan: "InputPlan", everything: bool) -> Answer:
    return Answer(data, lambda screen: _show(screen, found, data, plan, everything=everything), 0 if found.ok else 1)


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


def _known_words(data: Row) -> list[str]:
    """Return a sentence for each known difference of a release, with its first layer."""
    known, groups = data.get("known"), dict[tuple[str, str], list[Row]]()
    for one in known if isinstance(known, list) else ():
        groups.setdefault((one["release"], one["reason"]), []).append(one)
    here = ", not seen here" if data["ok"] else ""
    return [f"known of {release}{here}: {_layer_words(rows)}: {reason}" for (release, reason), rows in groups.items()]


def _layer_words(rows: Sequence[Row]) -> str:
    first = rows[0]
    more = f" and {plural(len(rows) - 1, 'more layer')}" if len(rows) > 1 else ""
    return f"'{first['path']}' (line {first['line']}){more}" if first["path"] else "the model"


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


def _require_sense(
    other: Path | None,
    against: Sequence[Setting | Release],
    mode: "ReferenceMode | None",
    layers: bool,
    types: Sequence[str],
    outputs_only: bool,
    bisect: Path | None,
) -> None:
    """Raise a usage error for options that contradict each other or that nothing would read."""
    chosen = {
        "--layers": layers,
        "--type": bool(types),
        "--outputs-only": outputs_only,
        "--mode isolated": mode == "isolated",
    }
    for first, second in CONTRADICTIONS:
        if chosen[first] and chosen[second]:
            raise click.UsageError(f"{first} and {second} contradict each other")
    if mode is not None and (other is not None or against):
        raise click.UsageError("--mode is for the reference; leave it out with OTHER and --against")
    if other is not None and any(isinstance(side, Setting) for side in against):
        raise click.UsageError("compare with OTHER or --against another device, not with both")
    if other is not None and bisect is not None:
        raise click.UsageError("--bisect cuts a part out of one model; leave out OTHER")


def _require_sense_of_runs(
    other: Path | None,
    against: Sequence[Setting | Release],
    mode: "ReferenceMode | None",
    save: Path | None,
    golden: Path | None,
    bisect: Path | None,
    states: Sequence[tuple[str, str]],
    inputs: InputOptions,
    samples: int,
) -> None:
    """Raise a usage error for options that a saved run cannot have."""
    chosen: dict[str, object] = {"OTHER": other}
    if save is not None and len(against) > 1:
        raise click.UsageError("--save writes one run; name one --against")
    if golden is not None:
        chosen |= {"--against": against, "--mode": mode, "--save": save, "--bisect": bisect}
        chosen |= {"--input": inputs.texts, "--set": inputs.shapes, "--seed": inputs.seed}
        chosen |= {"--state": states, "--samples": samples > 1}
        chosen |= {f"--{name}": value for name, value in asdict(inputs.images).items()}
    for option, value in chosen.items():
        if value and (save is not None or golden is not None):
            run = "--save" if golden is None else "--golden"
            raise click.UsageError(f"{option} is not for {run}, a run of one model on its own inputs; leave it out")


def _require_sense_of_legacy(
    legacy: "Model | None",
    against: Sequence[Setting | Release],
    mode: "ReferenceMode | None",
    bisect: Path | None,
    states: Sequence[tuple[str, str]],
    save: Path | None,
) -> None:
    """Raise a usage error for options that the runtime of a legacy model cannot do."""
    settings = [side for side in against if isinstance(side, Setting)]
    chosen = {"--against DEVICE": settings, "--mode": mode, "--bisect": bisect, "--state": states, "--save": save}
    for option, value in chosen.items():
        if legacy is not None and value:
            raise click.UsageError(f"{option} is not for a model of IR v{legacy.version} on the runtime of its time")


def _compare(
    model: "Model",
    other: "Model | None",
    plan: "InputPlan",
    options: Options,
    dump: Path | None,
    side: Setting | Release | None,
) -> "Comparison":
    from ir_tools.cli.screen import working
    from ir_tools.comparison import compare as compare_models
    from ir_tools.comparison.dumping import Dump

    sink = nullcontext() if dump is None else Dump(dump)
    steps = None if options.outputs_only else len(model.graph) * options.samples
    with (
        options.clients(side) as (client, their),
        working("comparing", steps) as advance,
        sink as taken,
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
            sink=taken,
            advance=advance,
        )


def _compare_golden(
    path: Path,
    model: "Model",
    run: "SavedRun",
    options: Options,
    replay: str,
    dump: Path | None,
    report: Path | None,
    everything: bool,
) -> Answer:
    """Compare what the runtime gives with a saved run."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison.dumping import Dump
    from ir_tools.comparison.saved import compare_saved
    from ir_tools.inputs import plan_inputs

    options.release.check(model)
    loaded = InputOptions(shapes=tuple(run.shapes.items())).reshaped(model, options.extensions)
    sink = nullcontext() if dump is None else Dump(dump)
    with (
        options.clients(None) as (client, _),
        working("comparing", None if options.outputs_only else len(loaded.graph)) as advance,
        sink as taken,
        located(loaded, client),
    ):
        found = compare_saved(
            run,
            loaded,
            options.layers,
            client=client,
            setting=Setting(options.device, options.precision),
            tolerance=options.tolerance,
            sink=taken,
            advance=advance,
        )
    plan = plan_inputs(loaded, run.samples[0].inputs)
    same = run.is_of(loaded)
    data = {**_facts(path, None, found, plan, replay), "golden": str(run.path), "same_model": same}
    data["known"] = _known(loaded, found, run.runtime, found.runtime)
    if report is not None:
        from ir_tools.report import write_report

        write_report([(found, _known_words(data))], report, model=str(path), replay=replay, plan=plan)
        data["report"] = str(report)

    def show(screen: "Screen") -> None:
        _show(screen, found, data, plan, everything=everything)
        if not same:
            screen.line(
                "the saved run is of a model with other bytes; tensors go by the names of layers", style="yellow"
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
            setting=Setting(options.device, options.precision),
            shapes=dict(options.inputs.shapes),
            seed=options.inputs.seed,
            states=load_states(options.states),
        )


def _compare_releases(
    old: "Model",
    new: "Model",
    plan: "InputPlan",
    options: Options,
    dump: Path | None,
    side: Setting | Release | None,
) -> "Comparison":
    """Compare a legacy model on the runtime of its time with another model, on the installed OpenVINO or a release."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison.dumping import Dump
    from ir_tools.comparison.releases import compare_releases

    sink = nullcontext() if dump is None else Dump(dump)
    steps = None if options.outputs_only else len(old.graph) * options.samples
    their = options.release.beside(side, options.extensions) if isinstance(side, Release) else None
    with (
        options.release.client(old, options.inputs) as legacy,
        their or nullcontext() as client,
        working("comparing", steps) as advance,
        sink as taken,
        located(new, client),
    ):
        return compare_releases(
            old,
            new,
            plan,
            options.layers,
            legacy=legacy,
            setting=Setting(options.device, options.precision),
            tolerance=options.tolerance,
            samples=options.samples,
            client=client,
            extensions=options.extensions,
            sink=taken,
            advance=advance,
        )


def _bisect(model: "Model", found: "Comparison", options: Options, output: Path, side: Setting | Release | None) -> Row:
    """Search and write the smallest part; what it is, and the command that compares it."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison import compare as compare_models
    from ir_tools.comparison.bisection import smallest_part
    from ir_tools.comparison.dumping import save_array

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

        part = smallest_part(model, found, compare_part, client, Setting(options.device, options.precision))
    ir_tools.write(part.model, output)
    files = {name: output.with_name(f"{output.stem}.{number}.npy") for number, name in enumerate(part.inputs)}
    for name, file in files.items():
        save_array(file, part.inputs[name])
    texts = tuple(f"{name}={file}" for name, file in files.items())
    inputs = InputOptions(texts, options.inputs.seed)
    again = replace(options, inputs=inputs, mode="cumulative", types=frozenset(), outputs_only=True)
    return {
        "layers": part.layers,
        "written": str(output),
        "inputs": {name: str(file) for name, file in files.items()},
        "replay": shlex.join(["ir-tools", "compare", _argument(output), *again.words()]),
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
            _show_layers(screen, found.isolated, found.isolated.layers)
        show_engines(screen, engines, outputs)
        show_plan(screen, plan)
        text = "No difference beyond the tolerance."
        if first is not None:
            text = f"The first difference is '{first.name}': {first.verdict}."
        elif not found.ok:
            text = "A pooling layer differs from the reference."
        screen.verdict(text, good=found.ok)
        screen.line(f"again: {replay}", style="dim")

    return Answer(data, show, 0 if found.ok else 1)


def _show(screen: "Screen", found: "Comparison", data: Row, plan: "InputPlan", *, everything: bool) -> None:
    from ir_tools.comparison import narrow_note, place, weak_notes

    screen.line(f"{found.mode}: {place(found)}, against {found.second}", style="dim")
    compared = [entry for entry in found.layers if entry.status != "skipped"]
    shown = found.layers if everything or len(found.layers) <= SHOWN else _worst(found)
    if shown:
        heading = f"Furthest off: {plural(len(shown), 'layer')} (--all lists {len(found.layers)})"
        screen.heading("Layers" if len(shown) == len(found.layers) else heading)
        _show_layers(screen, found, shown)
    screen.heading(f"Outputs of the model: {' against '.join(found.output_sides)}")
    _show_outputs(screen, found)
    show_plan(screen, plan)
    note = narrow_note(found)
    if note is not None:
        screen.line()
        screen.line(note, style="yellow")
    for text in weak_notes(found):
        screen.line()
        screen.line(text, style="yellow")
    _show_verdict(screen, found, len(compared))
    for text in _known_words(data):
        screen.line(text, style="yellow")
    part = data.get("part")
    if "part" in data and part is None:
        screen.line("no part was written: the comparison is ok")
    if isinstance(part, dict):
        screen.line(f"the smallest part that differs, {plural(part['layers'], 'layer')}: {part['written']}")
        screen.line(f"that part again: {part['replay']}", style="dim")
    _show_end(screen, data)


def _show_several(
    screen: "Screen", made: "Sequence[tuple[Comparison, Row]]", data: Row, plan: "InputPlan", *, everything: bool
) -> None:
    """Print each comparison, and a table of all."""
    from ir_tools.cli.screen import Column
    from ir_tools.comparison import first_name

    for at, (found, one) in enumerate(made):
        if at:
            screen.line()
        _show(screen, found, {**one, "replay": None}, plan, everything=everything)
    columns = [Column("against", fold=True), Column("needs", right=True), Column("first difference", fold=True)]
    rows = [
        [found.second, sufficient(found.needed), first_name(found), "ok" if found.ok else "differs"]
        for found, _ in made
    ]
    screen.heading("Summary")
    screen.table([*columns, Column("result", keep=True)], rows, ["" if found.ok else "red" for found, _ in made])
    _show_end(screen, data)


def _show_end(screen: "Screen", data: Row) -> None:
    """Print what was written, and the command to repeat it."""
    for key in ("report", "saved"):
        if key in data:
            screen.line(f"wrote {data[key]}")
    if data["replay"]:
        screen.line(f"again: {data['replay']}", style="dim")


def _worst(found: "Comparison") -> "Sequence[LayerComparison]":
    """Return the layers that differ or need the largest part of their tolerance, in the order of execution."""
    first = found.first_difference
    unequal = [entry for entry in found.layers if entry.share > 0]
    worst = sorted(unequal, key=lambda entry: entry.share, reverse=True)[:SHOWN]
    return [entry for entry in found.layers if entry in worst or entry is first]


def _columns() -> "list[Column]":
    from ir_tools.cli.screen import Column

    spare = ("at", "allowed", "undefined")
    names = ("max abs", "at", "max rel", "needs", "allowed", "undefined")
    return [Column(name, right=True, spare=name in spare) for name in names]


def _closer_column(judged: bool) -> "list[Column]":
    from ir_tools.cli.screen import Column

    return [Column("closer to f64")] if judged else []


def _cells(difference: "Difference | None") -> list[str]:
    if difference is None:
        return ["-"] * len(_columns())
    return [
        number(difference.max_abs),
        ",".join(map(str, difference.max_abs_at)) if difference.max_abs_at is not None else "-",
        number(difference.max_rel),
        sufficient(difference.needed),
        number(difference.tolerance),
        str(difference.undefined),
    ]


def _show_layers(screen: "Screen", found: "Comparison", layers: "Sequence[LayerComparison]") -> None:
    from ir_tools.cli.screen import Column
    from ir_tools.comparison import closer_words, f64_note

    renamed = any(entry.counterpart != entry.path for entry in layers) if found.other else False
    other = [Column("in the other model", fold=True)] if renamed else []
    columns = [Column("layer", fold=True), *other, Column("operation"), Column("type", spare=True)]
    judged = any(entry.f64 for entry in layers)
    columns += [Column("shape", spare=True), *_columns(), *_closer_column(judged), Column("result", keep=True)]
    rows = [
        [
            entry.path + (f".{entry.output}" if entry.output else ""),
            *([entry.counterpart or "-"] if renamed else []),
            entry.op,
            entry.element_type or "-",
            "-" if entry.shape is None else ",".join(map(str, entry.shape)),
            *_cells(entry.difference),
            *([closer_words(entry.f64, found.layer_sides) or "-"] if judged else []),
            entry.status,
        ]
        for entry in layers
    ]
    screen.table(columns, rows, [_STYLES[entry.status] for entry in layers])
    for entry in layers:
        if entry.reason:
            screen.line(f"{entry.path}: {entry.status}: {entry.reason}", style="yellow")
        if entry.f64:
            screen.line(f"{entry.path}: {f64_note(entry.f64, found.layer_sides)}", style="yellow")


_STYLES: Mapping[str, str] = {"ok": "", "differs": "red", "skipped": "dim"}


def _show_outputs(screen: "Screen", found: "Comparison") -> None:
    from ir_tools.cli.screen import Column
    from ir_tools.comparison import closer_words, f64_note

    renamed = any(entry.counterpart != entry.name for entry in found.outputs) if found.other else False
    other = [Column("in the other model", fold=True)] if renamed else []
    columns = [Column("output", fold=True), *other, Column("type", spare=True), Column("shape", spare=True)]
    judged = any(entry.f64 for entry in found.outputs)
    columns += [*_columns(), *_closer_column(judged), Column("result", keep=True)]
    rows = [
        [
            entry.name,
            *([entry.counterpart or "-"] if renamed else []),
            entry.element_type,
            ",".join(map(str, entry.shape)) or "[]",
            *_cells(entry.difference),
            *([closer_words(entry.f64, found.output_sides) or "-"] if judged else []),
            "ok" if entry.ok else "differs",
        ]
        for entry in found.outputs
    ]
    screen.table(columns, rows, ["" if entry.ok else "red" for entry in found.outputs])
    for entry in found.outputs:
        if entry.reason:
            screen.line(f"{entry.name}: {entry.reason}", style="yellow")
        if entry.f64:
            screen.line(f"{entry.name}: {f64_note(entry.f64, found.output_sides)}", style="yellow")


def _show_verdict(screen: "Screen", found: "Comparison", compared: int) -> None:
    from ir_tools.comparison import compared_words, difference_words, first_name, outputs_words, rounding_note

    layers = plural(compared, "tensor")
    if found.without_kernel:
        screen.line()
        what = plural(found.without_kernel, "tensor")
        screen.line(f"{what} computed by the runtime, one layer alone: the reference has no kernel.")
    first = found.first_difference
    if first is None:
        beyond = " beyond the tolerance" if found.needed else ""
        text = f"No difference{beyond} in {compared_words(found)}"
        text += f", {found.samples} samples" if found.samples > 1 else ""
        text += f"; {sufficient(found.needed)} would have been enough" if found.needed else ""
        screen.verdict(f"{text}.", good=True)
        return
    name = first_name(found)
    text = f"{outputs_words(found)}. " if found.outputs and found.mode != "isolated" else ""
    text += f"{rounding_note(found)}; the first is '{name}'" if found.ok else f"The first difference is '{name}'"
    if found.mode == "isolated" and first in found.outputs:
        text = f"{layers} agree, but taking their tensors out changed the output '{name}' of the runtime"
    if getattr(first, "iteration", None) is not None:
        text += f" in iteration {getattr(first, 'iteration', 0) + 1} of its body"
    if found.samples > 1:
        text += f" in sample {first.sample + 1} of {found.samples}"
    if first.difference is not None:
        text += f": {difference_words(first, found)}"
    screen.verdict(f"{text}.", good=found.ok)
