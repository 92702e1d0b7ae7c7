"""`ir-tools migrate`: migrate a model to another opset, with a proof for every step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import ir_tools
from ir_tools.cli._migrations import difference_of, show_migration
from ir_tools.cli._onnx import is_onnx
from ir_tools.cli._onnx import verify as verify_onnx
from ir_tools.cli.app import FAILED, Answer, Row, command
from ir_tools.cli.arrays import InputOptions
from ir_tools.cli.discovery import discover
from ir_tools.cli.loading import load
from ir_tools.cli.options import (
    bin_option,
    extension_option,
    input_options,
    release_options,
    tolerance_option,
)
from ir_tools.cli.paths import ModelPath, OutputModel, require_xml
from ir_tools.cli.releases import ReleaseOptions
from ir_tools.cli.verification import measured_int8, verify, verify_legacy
from ir_tools.collection import gc_paused
from ir_tools.errors import IrToolsError, MigrationError, UsageError
from ir_tools.runtime.installed import require_openvino

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.graph import Model
    from ir_tools.rewrite.migration import Migration
    from ir_tools.runtime.release import ReleaseClient

__all__ = ["migrate"]

DONE, REFUSED, NOT_VERIFIED = 0, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What `migrate` takes besides a model and where to write it."""

    weights: Path | None
    to: str | None
    for_release: str | None
    passes: tuple[str, ...]
    int8: bool
    dry_run: bool
    every: bool
    verify: bool
    layers: bool
    tolerance: float | None
    release: ReleaseOptions
    inputs: InputOptions
    extensions: tuple[Path, ...]

    @property
    def target(self) -> str | None:
        """The release, opset or IR version; None if passes alone run."""
        given = self.to if self.for_release is None else self.for_release
        return given if given is not None else None if self.passes else "opset8"

    @property
    def shapes(self) -> Mapping[str, str] | None:
        """The shapes of `--set` if they become those of the migrated model, as for a release without dynamic ones.

        Raises:
            UsageError: an unknown release.
        """
        from ir_tools.releases.table import find_release

        name = self.for_release
        return None if name is None or find_release(name).dynamic else dict(self.inputs.shapes)

    def migrate(self, model: "Path | Model", *, int8: bool = False) -> "Migration":
        """Migrate a model, or an `.onnx`."""
        return ir_tools.migrate(
            model, to=self.target, passes=self.passes, int8=int8, shapes=self.shapes, extensions=self.extensions
        )


@command("migrate", example="ir-tools migrate model.xml --to opset8 --verify -o migrated.xml")
@click.argument("model", type=ModelPath(folders=True), metavar="MODEL")
@bin_option()
@click.option(
    "-o",
    "--output",
    type=OutputModel(may_replace_model=True, folders=True),
    metavar="OUT.xml",
    help=(
        "Where to write the migrated model; its weights are written to the .bin beside it. For a folder of models, "
        "another folder."
    ),
)
@click.option(
    "--to",
    metavar="TARGET",
    help="Target: opset1 to opset17, ir10 or ir11. Default: opset8, or none with --pass.",
)
@click.option(
    "--for", "for_release", metavar="RELEASE", help="Release to run on, such as openvino-2021.4, instead of --to."
)
@click.option("--pass", "passes", metavar="NAME", multiple=True, help="Run this pass first. May be repeated.")
@click.option(
    "--int8",
    is_flag=True,
    help=(
        "For IR v2 to v7: add FakeQuantize layers with the ranges of <statistics>, and show how much they change "
        "the outputs."
    ),
)
@click.option("--dry-run", is_flag=True, help="List the steps and write nothing.")
@click.option("--all", "every", is_flag=True, help="List every layer with its line, not only each kind of step.")
@click.option("--verify", is_flag=True, help="Run both models on the runtime and compare before writing.")
@click.option("--layers", is_flag=True, help="With --verify of IR v2 to v7: compare every layer, not only the outputs.")
@tolerance_option
@release_options
@input_options
@extension_option
def migrate(model: Path, output: Path | None, **given: Any) -> Answer:
    """Migrate MODEL to another opset or IR version, or for a release of OpenVINO; also from IR v2 to v7.

    Every step is proved; if one has no proof, nothing is written. The IR files of a folder are migrated one by one,
    into files of the same names in the folder that -o names.

    In an .onnx, every AveragePool is converted as ONNX defines it and the rest by OpenVINO's frontend; --verify runs
    OpenVINO's own conversion, which deviates in known cases, and onnxruntime: one of them has to agree on each output.

    A model that is migrated for a release is verified on that release (ir-tools runtimes --add, or --install), against
    the old one on the installed OpenVINO, or on that of --runtime; of an .onnx, against the new one there. Without
    --for, the new model of an .onnx is compared on the installed OpenVINO and on that of --runtime.

    A model of IR v2 to v7 is verified on the runtime of its time: Inference Engine 2020.1 on the old file against
    OpenVINO on the new one, both in floats. With --int8, the outputs in INT8 are shown beside those in floats.

    Exits with 0 when done, 3 when a layer was refused, 4 when --verify found a difference or could not run the models;
    of a folder, with the highest code of its models, 2 for one that cannot be read.
    """
    options = _Options(**given)
    if output is None and not options.dry_run:
        raise UsageError("name the file to write with -o OUT.xml, or use --dry-run")
    if options.to is not None and options.for_release is not None:
        raise UsageError("--to and --for exclude each other: a release determines opset and IR version")
    if output is not None and not model.is_dir():
        require_xml(output)
    if not model.is_dir():
        return _migrated(model, output, options)
    if options.weights is not None or options.every:
        raise UsageError(f"{'--all' if options.every else '--bin'} is for one model, but {model} is a folder")
    if options.target is not None:
        from ir_tools.rewrite.target import Target

        Target.of(options.target)
    return _of_folder(model, output, partial(_migrated, options=options))


@gc_paused()
def _migrated(model: Path, output: Path | None, options: _Options) -> Answer:
    """Migrate one model."""
    if options.verify:
        require_openvino()
    if options.inputs.shapes and options.shapes is None and not options.verify:
        raise UsageError(
            "--set is only for the inputs of --verify and for releases without dynamic shapes; use ir-tools "
            "shapes to write a model with other shapes"
        )
    if not options.verify:
        _require_verify(options)
    rounded = None
    if is_onnx(model, options.weights):
        try:
            migration, checked = _of_onnx(model, options)
        except MigrationError as error:
            if not error.diagnostics:
                raise
            return _refused_node(model, error)
    else:
        loaded = load(model, options.weights, options.extensions)
        migration, checked = _of_ir(loaded, options)
        if options.int8 and not migration.refused:
            in_floats, migration = migration.model, options.migrate(loaded, int8=True)
            rounded = measured_int8(in_floats, migration.model, options.inputs)
    code = REFUSED if migration.refused else NOT_VERIFIED if checked and not checked["ok"] else DONE
    written = None if options.dry_run or code != DONE else output
    if written is not None:
        written.parent.mkdir(parents=True, exist_ok=True)
        ir_tools.write(migration.model, written)
    data: Row = {
        "file": str(model),
        "ok": code == DONE,
        "steps": migration.steps,
        "refused": migration.refused,
        "remaining": migration.remaining,
        "notes": migration.notes,
        "verified": checked,
        "int8": rounded,
        "written": None if written is None else str(written),
    }
    return Answer(data, lambda screen: show_migration(screen, migration, data, options.every), code)


def _of_onnx(model: Path, options: _Options) -> "tuple[Migration, Row | None]":
    """Migrate an `.onnx`, and verify it if that is asked for.

    Raises:
        MigrationError: an AveragePool has no exact form in the target; its diagnostics name it.
    """
    if options.layers:
        raise UsageError("--layers is for models of IR v2 to v7, but this one is an .onnx; use ir-tools compare")
    if options.int8:
        raise UsageError("--int8 is for models of IR v2 to v7")
    migration = options.migrate(model)
    options.release.check(migration.model, more=options.for_release is not None)
    if not options.verify or migration.refused:
        return migration, None
    client, their = options.release.runtime(options.extensions), _target(options)
    if their is None:
        client, their = None, client
    how = options.inputs, options.extensions, options.tolerance
    checked = verify_onnx(migration.model, model, *how)
    if checked["ok"] and their is not None:
        asked = verify(migration.model, migration, *how, client=client, their=their)
        checked |= {key: asked[key] for key in ("ok", "error", "help") if key in asked} | {"release": asked}
    return migration, checked


def _of_ir(model: "Model", options: _Options) -> "tuple[Migration, Row | None]":
    """Migrate an IR model, and verify it if that is asked for."""
    options.release.check(model, more=options.for_release is not None)
    if options.layers and not model.is_legacy:
        raise UsageError(
            f"--layers is for models of IR v2 to v7, but this one is IR v{model.version}; use ir-tools compare"
        )
    old = options.release.client(model, options.inputs) if options.verify and model.is_legacy else None
    migration = options.migrate(model)
    if not options.verify or migration.refused:
        return migration, None
    their = _target(options)
    if old is None:
        run = partial(verify, client=options.release.runtime(options.extensions), their=their)
    else:
        run = partial(verify_legacy, old=old, layers=options.layers, their=their)
    return migration, run(model, migration, options.inputs, options.extensions, options.tolerance)


def _of_folder(folder: Path, output: Path | None, one: Callable[[Path, Path | None], Answer]) -> Answer:
    """Migrate the IR files of a folder into files of the same names in another; what is wrong with one stops no other.

    Raises:
        UsageError: the folder holds no model or cannot be searched, or the output is a file.
    """

    def is_output(path: Path, *, named: bool = False) -> bool:
        return output is not None and not named and output.is_dir() and path.is_dir() and path.samefile(output)

    if output is not None and output.suffix.lower() == ".xml":
        raise UsageError(f"{output} is a file, but {folder} is a folder; name a folder with -o")
    found = discover([folder], is_output)
    found.require_readable()
    if not found.files:
        raise UsageError(f"{folder} has no IR except those in {output}")
    rows, codes = list[Mapping[str, Any]](), list[int]()
    for path in found.files:
        try:
            answer = one(path, None if output is None else output / path.relative_to(folder))
        except IrToolsError as why:
            answer = Answer({"file": str(path), "ok": False, "error": str(why)}, lambda screen: None, FAILED)
        rows.append(answer.data)
        codes.append(answer.code)
    data: Row = {"ok": not any(codes), "files": rows}
    return Answer(data, lambda screen: _show_folder(screen, rows), max(codes))


def _show_folder(screen: "Screen", rows: Sequence[Mapping[str, Any]]) -> None:
    from ir_tools.cli.screen import plural

    for row in rows:
        name, text = str(row["file"]), _in_words(row)
        screen.line(text if text.startswith(name) else f"{name}: {text}", style="" if row["ok"] else "red")
    done = sum(bool(row["ok"]) for row in rows)
    screen.verdict(f"{done} of {plural(len(rows), 'model')} migrated.", good=done == len(rows))


def _in_words(row: Mapping[str, Any]) -> str:
    """Return what became of one model of a folder."""
    from ir_tools.cli.screen import plural

    if "error" in row:
        return str(row["error"])
    if row["refused"]:
        more = f" and {len(row['refused']) - 1} more" if len(row["refused"]) > 1 else ""
        return f"refused: {row['refused'][0]}{more}"
    checked = row["verified"]
    if not row["ok"]:
        return f"not verified: {checked['error'] if 'error' in checked else difference_of(checked)}"
    count = len({step.path for step in row["steps"]})
    steps = f"{plural(count, 'layer')} migrated" if count else "no layer had to be changed"
    return f"{steps}{', verified' if checked else ''}{', written' if row['written'] else ''}"


def _require_verify(options: _Options) -> None:
    """Raise a UsageError for an option that only what is run reads."""
    release, inputs = options.release, options.inputs
    given: dict[str, object] = {"--layers": options.layers, "--tolerance": options.tolerance is not None}
    given |= {"--runtime": release.name, "--runtime-python": release.python, "--install": release.install}
    if not options.int8:
        given |= {"--input": inputs.texts, "--seed": inputs.seed}
        given |= inputs.images.given
    unread = next((option for option, value in given.items() if value), None)
    if unread is not None:
        raise UsageError(f"{unread} is for --verify, which runs the models; add it")


def _target(options: _Options) -> "ReleaseClient | None":
    """Return the release that a model is migrated for, None if it is for none.

    Raises:
        RuntimeFailure: the release is not here.
    """
    from ir_tools.releases.table import find_release

    name = options.for_release
    return None if name is None else options.release.started(find_release(name), options.extensions)


def _refused_node(path: Path, error: MigrationError) -> Answer:
    """Report an AveragePool that has no exact form in the target."""
    found = error.diagnostics[0]
    refused = {"path": found.layer_name, "layer_id": None, "line": None, "before": "AveragePool"}
    data: Row = {
        "file": str(path),
        "ok": False,
        "steps": [],
        "refused": [{**refused, "reason": found.message, "attribute": None, "notes": []}],
        "remaining": [],
        "notes": [],
        "verified": None,
        "int8": None,
        "written": None,
    }

    def show(screen: "Screen") -> None:
        screen.line(str(error))
        screen.verdict("1 refused; nothing was written.", good=False)

    return Answer(data, show, REFUSED)
