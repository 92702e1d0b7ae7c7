"""`ir-tools compare`: the reference against the runtime layer by layer, or a model against another."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import numpy as np

import ir_tools
from ir_tools.cli._onnx import engine_rows, is_onnx, output_rows, show_engines
from ir_tools.cli.app import Answer, Row, command
from ir_tools.cli.arrays import load_inputs
from ir_tools.cli.loading import load
from ir_tools.cli.options import XmlPath, inputs_option, model_argument, seed_option
from ir_tools.cli.screen import number, plural

if TYPE_CHECKING:
    from ir_tools.cli.screen import Column, Screen
    from ir_tools.comparison import Comparison, Difference, LayerComparison
    from ir_tools.graph import Model
    from ir_tools.onnx_comparison import OnnxComparison
    from ir_tools.ops import Array

__all__ = ["compare"]

SHOWN = 12
"""Layers that are listed without `--all`."""
OUTPUTS = {
    "in place": "as it is against all tensors taken out",
    "free running": "reference against runtime",
    "runtime against runtime": "first setting against second",
    "model against model": "first model against second",
}
"""What the outputs are compared with, by mode."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare."""

    mode: Literal["in place", "free running"]
    device: str
    precision: str
    against: tuple[str, str] | None
    types: frozenset[str]
    outputs_only: bool
    tolerance: float | None
    seed: int
    inputs: tuple[tuple[str, str], ...]

    @property
    def layers(self) -> bool | frozenset[str]:
        """Which layers."""
        return False if self.outputs_only else self.types or True

    def words(self) -> Iterator[str]:
        """The options as a command line."""
        yield from ("--device", self.device, "--precision", self.precision, "--seed", str(self.seed))
        if self.mode != "in place":
            yield from ("--mode", self.mode.replace(" ", "-"))
        if self.against is not None:
            yield from ("--against", ":".join(self.against))
        for name in sorted(self.types):
            yield from ("--type", name)
        if self.outputs_only:
            yield "--outputs-only"
        if self.tolerance is not None:
            yield from ("--tolerance", str(self.tolerance))
        for name, file in self.inputs:
            yield from ("--input", f"{name}={file}")


class Setting(click.ParamType[tuple[str, str]]):
    """`DEVICE:PRECISION` as a pair; without a precision, f32."""

    name = "DEVICE[:PRECISION]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The two words."""
        del param, ctx
        if isinstance(value, tuple):
            return value
        device, _, precision = str(value).rpartition(":") if ":" in str(value) else (str(value), "", "f32")
        return device, precision


@command("compare", example="ir-tools compare model.xml --mode free-running --report report.html")
@model_argument()
@model_argument("other", required=False)
@click.option(
    "--mode",
    type=click.Choice(["in-place", "free-running"]),
    default="in-place",
    show_default=True,
    help="Each layer on the runtime's own inputs, or the reference by itself, so that errors add up.",
)
@click.option("--device", default="CPU", show_default=True, help="Device of the runtime.")
@click.option("--precision", default="f32", show_default=True, help="In which the runtime computes floats.")
@click.option(
    "--against", type=Setting(), help="Another device or precision, in place of the reference: GPU, CPU:bf16."
)
@click.option("--layers", is_flag=True, help="Compare every layer; this is the default.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only layers of this type. May be repeated.")
@click.option("--outputs-only", is_flag=True, help="Compare the outputs of the model alone.")
@click.option("--tolerance", type=click.FloatRange(min=0), help="Relative to each tensor's largest value.")
@seed_option
@inputs_option
@click.option("--all", "everything", is_flag=True, help="List every layer, not only the worst ones.")
@click.option("--report", type=click.Path(path_type=Path), metavar="OUT.html", help="Write a page with all of it.")
@click.option("--dump", type=click.Path(path_type=Path), metavar="FOLDER", help="Write every tensor compared as .npy.")
@click.option("--bisect", type=XmlPath(), metavar="OUT.xml", help="Write the smallest part that still differs.")
def compare(
    model: Path,
    other: Path | None,
    mode: str,
    device: str,
    precision: str,
    against: tuple[str, str] | None,
    layers: bool,
    types: tuple[str, ...],
    outputs_only: bool,
    tolerance: float | None,
    seed: int,
    inputs: tuple[tuple[str, str], ...],
    everything: bool,
    report: Path | None,
    dump: Path | None,
    bisect: Path | None,
) -> Answer:
    """Compare what the numpy reference and the runtime make of MODEL, layer by layer, or MODEL with OTHER.

    In place, a difference is that layer's alone; free running, errors add up as in use. The outputs of an .onnx are
    computed three ways: converted here, converted by OpenVINO alone, and by onnxruntime. Exits with 0 within tolerance
    and with 1 where something differs.
    """
    _require_sense(other, against, layers and outputs_only, bisect)
    chosen: Literal["in place", "free running"] = "in place" if mode == "in-place" else "free running"
    options = Options(chosen, device, precision, against, frozenset(types), outputs_only, tolerance, seed, inputs)
    replay = shlex.join(["ir-tools", "compare", str(model), *([str(other)] if other else []), *options.words()])
    if is_onnx(model) and other is None:
        return _compare_onnx(model, options, replay)
    loaded = load(model)
    found = _compare(loaded, None if other is None else load(other), options, dump)
    data = _facts(model, other, found, seed, replay)
    if bisect is not None and not found.ok:
        data["part"] = _bisect(loaded, found, options, bisect)
    if report is not None:
        from ir_tools.report import write_report

        write_report(found, report, model=str(model), replay=replay)
        data["report"] = str(report)
    return Answer(data, lambda screen: _show(screen, found, data, everything=everything), 0 if found.ok else 1)


def _require_sense(other: Path | None, against: object, contradiction: bool, bisect: Path | None) -> None:
    if contradiction:
        raise click.UsageError("--layers and --outputs-only contradict each other")
    if other is not None and against is not None:
        raise click.UsageError("compare with OTHER or --against another device, not with both")
    if other is not None and bisect is not None:
        raise click.UsageError("--bisect cuts a part out of one model; leave out OTHER")


def _compare(model: "Model", other: "Model | None", options: Options, dump: Path | None) -> "Comparison":
    from ir_tools.cli.screen import working
    from ir_tools.comparison.dumping import Dump

    sink = nullcontext() if dump is None else Dump(dump)
    with working("comparing", None if options.outputs_only else len(model.graph)) as advance, sink as taken:
        return ir_tools.compare(
            model,
            other,
            load_inputs(options.inputs, model),
            options.layers,
            mode=options.mode,
            seed=options.seed,
            device=options.device,
            precision=options.precision,
            against=options.against,
            tolerance=options.tolerance,
            sink=taken,
            advance=advance,
        )


def _bisect(model: "Model", found: "Comparison", options: Options, output: Path) -> Row:
    """Search and write the smallest part; what it is, and the command that compares it."""
    from ir_tools.cli.screen import working
    from ir_tools.comparison import compare as compare_models
    from ir_tools.comparison._tensors import Setting as Place
    from ir_tools.comparison.bisection import smallest_part
    from ir_tools.runtime.client import RuntimeClient

    with RuntimeClient() as client, working("searching the smallest part that differs"):

        def judge(part: "Model", fed: "dict[str, Array]") -> "Comparison":
            return compare_models(
                part,
                inputs=fed,
                layers=False,
                mode="free running",
                device=options.device,
                precision=options.precision,
                against=options.against,
                tolerance=options.tolerance,
                client=client,
            )

        part = smallest_part(model, found, judge, client, Place(options.device, options.precision))
    ir_tools.write(part.model, output)
    files = {name: output.with_name(f"{output.stem}.{number}.npy") for number, name in enumerate(part.inputs)}
    for name, file in files.items():
        np.save(file, part.inputs[name])
    pairs = tuple((name, str(file)) for name, file in files.items())
    again = replace(options, inputs=pairs, mode="free running", types=frozenset(), outputs_only=True)
    return {
        "layers": part.layers,
        "written": str(output),
        "inputs": {name: str(file) for name, file in files.items()},
        "replay": shlex.join(["ir-tools", "compare", str(output), *again.words()]),
    }


def _facts(model: Path, other: Path | None, found: "Comparison", seed: int, replay: str) -> Row:
    return {
        "file": str(model),
        "other": None if other is None else str(other),
        "ok": found.ok,
        "mode": found.mode,
        "runtime": found.runtime,
        "device": found.device,
        "precision": found.precision,
        "second": found.second,
        "seed": seed,
        "needed": found.needed,
        "first_difference": found.first_difference,
        "layers": found.layers,
        "outputs": found.outputs,
        "int8": {"operations": found.narrow, "outputs": found.in_use},
        "replay": replay,
    }


def _compare_onnx(model: Path, options: Options, replay: str) -> Answer:
    from ir_tools.cli.screen import working

    with working("running"):
        judged = ir_tools.compare_onnx(
            model,
            load_inputs(options.inputs, None),
            seed=options.seed,
            device=options.device,
            tolerance=options.tolerance,
        )
    return _judged(model, judged, options.device, options.seed, replay)


def _judged(path: Path, found: "OnnxComparison", device: str, seed: int, replay: str) -> Answer:
    """The outputs of an ONNX file three ways, and its poolings in place."""
    assert found.in_place is not None
    first = found.first_difference
    engines, outputs = engine_rows(found), output_rows(found)
    data: Row = {
        "file": str(path),
        "other": None,
        "ok": found.ok,
        "mode": "three ways",
        "engines": engines,
        "runtime": found.in_place.runtime,
        "device": found.in_place.device,
        "precision": found.in_place.precision,
        "seed": seed,
        "first_difference": first or found.in_place.first_difference,
        "layers": [replace(entry, line=None) for entry in found.in_place.layers],
        "outputs": outputs,
        "warnings": [finding.as_dict() for finding in found.diagnostics],
        "replay": replay,
    }

    def show(screen: "Screen") -> None:
        for finding in found.diagnostics:
            screen.line(f"warning: {finding.message}", style="yellow")
        if found.in_place and found.in_place.layers:
            screen.heading("Reference against runtime, each layer on the runtime's own inputs")
            _show_layers(screen, found.in_place.layers)
        show_engines(screen, engines, outputs)
        text = "No difference beyond the tolerance."
        if first is not None:
            text = f"The first difference is '{first.name}': {first.verdict}."
        elif not found.ok:
            text = "A pooling layer differs from the reference."
        screen.verdict(text, good=found.ok)
        screen.line(f"again: {replay}", style="dim")

    return Answer(data, show, 0 if found.ok else 1)


def _show(screen: "Screen", found: "Comparison", data: Row, *, everything: bool) -> None:
    from ir_tools.comparison import narrow_note

    place = f"OpenVINO {found.runtime} on {found.device}, precision {found.precision}"
    screen.line(f"{found.mode}: {place}, against {found.second}", style="dim")
    compared = [entry for entry in found.layers if entry.status != "skipped"]
    shown = found.layers if everything or len(found.layers) <= SHOWN else _worst(found)
    if shown:
        heading = f"The {len(shown)} layers that are furthest off (--all lists {len(found.layers)})"
        screen.heading("Layers" if len(shown) == len(found.layers) else heading)
        _show_layers(screen, shown)
    screen.heading(f"Outputs of the model: {OUTPUTS[found.mode]}")
    _show_outputs(screen, found)
    note = narrow_note(found)
    if note is not None:
        screen.line()
        screen.line(note, style="yellow")
    _show_verdict(screen, found, len(compared))
    part = data.get("part")
    if isinstance(part, dict):
        screen.line(f"the smallest part that differs, {plural(part['layers'], 'layer')}: {part['written']}")
        screen.line(f"that part again: {part['replay']}", style="dim")
    if "report" in data:
        screen.line(f"wrote {data['report']}")
    screen.line(f"again: {data['replay']}", style="dim")


def _worst(found: "Comparison") -> "Sequence[LayerComparison]":
    """The layers that differ or need the largest part of their tolerance, in the order of execution."""

    def share(entry: "LayerComparison") -> float:
        if entry.difference is None:
            return -1.0 if entry.status == "skipped" else float("inf")
        return entry.difference.needed / (entry.difference.tolerance or 1.0)

    first = found.first_difference
    worst = sorted(found.layers, key=share, reverse=True)[:SHOWN]
    return [entry for entry in found.layers if entry in worst or entry is first]


def _columns() -> "list[Column]":
    from ir_tools.cli.screen import Column

    spare = ("at", "allowed", "undefined")
    names = ("max abs", "at", "max rel", "needs", "allowed", "undefined")
    return [Column(name, right=True, spare=name in spare) for name in names]


def _cells(difference: "Difference | None") -> list[str]:
    if difference is None:
        return ["-"] * len(_columns())
    return [
        number(difference.max_abs),
        ",".join(map(str, difference.max_abs_at)) if difference.max_abs_at is not None else "-",
        number(difference.max_rel),
        number(difference.needed),
        number(difference.tolerance),
        str(difference.undefined),
    ]


def _show_layers(screen: "Screen", layers: "Sequence[LayerComparison]") -> None:
    from ir_tools.cli.screen import Column

    columns = [Column("layer", fold=True), Column("operation"), Column("type", spare=True), Column("shape", spare=True)]
    columns += [*_columns(), Column("result")]
    rows = [
        [
            entry.path + (f".{entry.output}" if entry.output else ""),
            entry.op,
            entry.element_type or "-",
            "-" if entry.shape is None else ",".join(map(str, entry.shape)),
            *_cells(entry.difference),
            entry.status,
        ]
        for entry in layers
    ]
    screen.table(columns, rows, [_STYLES[entry.status] for entry in layers])
    for entry in layers:
        if entry.reason:
            screen.line(f"{entry.path}: {entry.status}: {entry.reason}", style="yellow")


_STYLES: Mapping[str, str] = {"ok": "", "differs": "red", "skipped": "dim"}


def _show_outputs(screen: "Screen", found: "Comparison") -> None:
    from ir_tools.cli.screen import Column

    columns = [Column("output", fold=True), Column("type", spare=True), Column("shape", spare=True)]
    columns += [*_columns(), Column("result")]
    rows = [
        [
            entry.name,
            entry.element_type,
            ",".join(map(str, entry.shape)) or "[]",
            *_cells(entry.difference),
            "ok" if entry.ok else "differs",
        ]
        for entry in found.outputs
    ]
    screen.table(columns, rows, ["" if entry.ok else "red" for entry in found.outputs])
    for entry in found.outputs:
        if entry.reason:
            screen.line(f"{entry.name}: {entry.reason}", style="yellow")


def _show_verdict(screen: "Screen", found: "Comparison", compared: int) -> None:
    layers = plural(compared, "tensor")
    alone = sum(entry.engine == "runtime" for entry in found.layers)
    if alone:
        screen.line()
        screen.line(f"{plural(alone, 'tensor')} computed by the runtime, one layer alone: the reference has no kernel.")
    first = found.first_difference
    if first is None:
        text = f"No difference beyond the tolerance in {layers} and {plural(len(found.outputs), 'output')};"
        screen.verdict(f"{text} {number(found.needed)} would have been enough.", good=True)
        return
    name = getattr(first, "path", None) or getattr(first, "name", "")
    text = f"The first difference is '{name}'"
    if found.mode == "in place" and first in found.outputs:
        text = f"{layers} agree, but taking their tensors out changed the output '{name}' of the runtime"
    if getattr(first, "round", None) is not None:
        text += f" in round {getattr(first, 'round', 0) + 1} of its body"
    if first.difference is not None:
        place = list(first.difference.max_abs_at or ())
        text += f": expected {first.difference.expected}, got {first.difference.actual} at {place}"
    screen.verdict(f"{text}.", good=False)
