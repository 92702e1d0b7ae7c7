"""`ir-tools compare`: the reference against the runtime layer by layer, or a model against another."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

import ir_tools
from ir_tools.cli._onnx import engine_rows, is_onnx, output_rows, show_engines
from ir_tools.cli.app import Answer, Row, command
from ir_tools.cli.loading import load
from ir_tools.cli.options import inputs_option, load_inputs, model_argument, seed_option

if TYPE_CHECKING:
    from ir_tools.cli.screen import Column, Screen
    from ir_tools.comparison import Comparison, Difference, LayerComparison
    from ir_tools.onnx_comparison import OnnxComparison

__all__ = ["compare"]


@command("compare", example="ir-tools compare model.xml --layers")
@model_argument()
@model_argument("other", required=False)
@click.option("--layers", is_flag=True, help="Compare every pooling layer in place (the default without OTHER).")
@click.option("--device", default="CPU", show_default=True, help="Device of the runtime.")
@click.option("--tolerance", type=click.FloatRange(min=0), help="Relative to each tensor's largest value.")
@seed_option
@inputs_option
def compare(
    model: Path,
    other: Path | None,
    layers: bool,
    device: str,
    tolerance: float | None,
    seed: int,
    inputs: tuple[tuple[str, str], ...],
) -> Answer:
    """Compare the numpy reference with the runtime on MODEL, or the outputs of OTHER with those of MODEL.

    In place: every pooling layer gets the runtime's own inputs, so that a difference is that layer's alone. The outputs
    of an .onnx are computed three ways: converted here, converted by OpenVINO alone, and by onnxruntime. Exits with 0
    within tolerance and with 1 where something differs.
    """
    from ir_tools.cli.screen import working

    if other is not None and layers:
        raise click.UsageError("--layers compares one model with the reference; leave out OTHER")
    replay = _replay(model, other, device, tolerance, seed, inputs)
    if is_onnx(model) and other is None:
        with working("running"):
            judged = ir_tools.compare_onnx(model, load_inputs(inputs), seed=seed, device=device, tolerance=tolerance)
        return _judged(model, judged, device, seed, replay)
    with working("running"):
        found = ir_tools.compare(
            load(model),
            None if other is None else load(other),
            load_inputs(inputs),
            seed=seed,
            device=device,
            tolerance=tolerance,
        )
    data: Row = {
        "file": str(model),
        "other": None if other is None else str(other),
        "ok": found.ok,
        "mode": found.mode,
        "runtime": found.runtime,
        "device": found.device,
        "precision": found.precision,
        "seed": seed,
        "first_difference": found.first_difference,
        "layers": found.layers,
        "outputs": found.outputs,
        "replay": replay,
    }
    return Answer(data, lambda screen: _show(screen, found, replay), 0 if found.ok else 1)


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


def _replay(
    model: Path,
    other: Path | None,
    device: str,
    tolerance: float | None,
    seed: int,
    inputs: Sequence[tuple[str, str]],
) -> str:
    words = ["ir-tools", "compare", str(model), *([str(other)] if other else [])]
    words += ["--device", device, "--seed", str(seed)]
    words += [] if tolerance is None else ["--tolerance", str(tolerance)]
    for name, file in inputs:
        words += ["--input", f"{name}={file}"]
    return shlex.join(words)


def _show(screen: "Screen", found: "Comparison", replay: str) -> None:
    screen.line(f"{found.mode}: OpenVINO {found.runtime} on {found.device}, precision {found.precision}", style="dim")
    if found.layers:
        screen.heading("Reference against runtime, each layer on the runtime's own inputs")
        _show_layers(screen, found.layers)
    if found.mode == "in place":
        screen.heading("Outputs of the model: untouched against tapped")
    else:
        screen.heading("Outputs: first model against second")
    _show_outputs(screen, found)
    _show_verdict(screen, found)
    screen.line(f"again: {replay}", style="dim")


def _columns() -> "list[Column]":
    from ir_tools.cli.screen import Column

    spare = ("at", "allowed", "undefined")
    names = ("max abs", "at", "max rel", "needs", "allowed", "undefined")
    return [Column(name, right=True, spare=name in spare) for name in names]


def _cells(difference: "Difference | None") -> list[str]:
    from ir_tools.cli.screen import number

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


def _show_verdict(screen: "Screen", found: "Comparison") -> None:
    from ir_tools.cli.screen import plural

    layers = plural(sum(entry.status != "skipped" for entry in found.layers), "layer")
    first = found.first_difference
    if first is None:
        text = f"No difference beyond the tolerance in {layers} and {plural(len(found.outputs), 'output')}."
        screen.verdict(text, good=True)
        return
    name = getattr(first, "path", None) or getattr(first, "name", "")
    text = f"The first difference is '{name}'"
    if found.mode == "in place" and first in found.outputs:
        text = f"{layers} agree, but taking their tensors out changed the output '{name}' of the runtime"
    if first.difference is not None:
        place = list(first.difference.max_abs_at or ())
        text += f": expected {first.difference.expected}, got {first.difference.actual} at {place}"
    screen.verdict(f"{text}.", good=False)
