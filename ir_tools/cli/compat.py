"""`ir-tools compat`: which releases of OpenVINO run models."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli._onnx import is_onnx
from ir_tools.cli.app import Answer, Row, command
from ir_tools.cli.discovery import discover, keep_all, require_one
from ir_tools.cli.options import bin_option, extension_option
from ir_tools.cli.paths import ModelsPath
from ir_tools.collection import gc_paused
from ir_tools.errors import ReadError, UsageError

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.compatibility import Compatibility, CompatibilityReport
    from ir_tools.graph.model import Model

__all__ = ["compat"]


@command("compat", example="ir-tools compat model.xml")
@click.argument("paths", nargs=-1, required=True, type=ModelsPath(), metavar="PATH...")
@bin_option()
@extension_option
@click.option("--release", "names", metavar="NAME", multiple=True, help="Check only this release. May be repeated.")
@click.option("--badge", is_flag=True, help="Print one line per model, such as: OpenVINO 2022.1 to 2026.4.")
@click.option("--migrated", is_flag=True, help="Also show which releases run the model after migrate --for RELEASE.")
@click.option("--check", "asked", is_flag=True, help="Also read and compile each file with the installed releases.")
def compat(
    paths: tuple[Path, ...],
    weights: Path | None,
    extensions: tuple[Path, ...],
    names: tuple[str, ...],
    badge: bool,
    migrated: bool,
    asked: bool,
) -> Answer:
    """Report which releases of OpenVINO run the models in PATH, files and folders, and what stops the others.

    The answers are those of a table of what each release was seen to do with every operation; nothing is run. If a
    release runs a model, no layer is known to fail there or to give other values. Of an .onnx, the answer is about the
    IR that the installed OpenVINO makes of it, with the extensions. Exits with 1 if no release runs one of the models.
    """
    from ir_tools.compatibility import report
    from ir_tools.releases.table import OPENVINO, find_release

    releases = [find_release(name) for name in names] or [*OPENVINO]
    if badge and (asked or migrated):
        raise UsageError("--badge prints one line from the tables; leave out --check and --migrated")
    converted = [path for path in paths if is_onnx(path, weights)]
    found = discover([path for path in paths if path not in converted], keep_all)
    found.require_readable()
    chosen = [*found.files, *converted]
    require_one(weights, chosen)
    ask = partial(report, releases=releases, weights=weights, migrated=migrated, check=asked)
    reports = {path: _report(path, ask, extensions, alone=len(chosen) == 1) for path in chosen}
    files = [_file(path, report, migrated, asked) for path, report in reports.items()]
    runs = all(row["runs"] for row in files)
    return Answer({"ok": runs, "files": files}, lambda screen: _show(screen, reports, badge), 0 if runs else 1)


def _report(
    path: Path, ask: "Callable[[Model | Path], CompatibilityReport]", extensions: Sequence[Path], *, alone: bool
) -> "CompatibilityReport":
    """Return what is known of one file; one of several that cannot be read is run by no release.

    Raises:
        ReadError: the only file cannot be read.
    """
    from ir_tools import onnx
    from ir_tools.compatibility import CompatibilityReport

    try:
        return ask(onnx.read(path, extensions=extensions) if is_onnx(path) else path)
    except ReadError as why:
        if alone:
            raise
        return CompatibilityReport([], str(why))


@gc_paused()
def _file(path: Path, report: "CompatibilityReport", migrated: bool, asked: bool) -> Row:
    rows = []
    for one in report:
        row = _row(one)
        if migrated:
            row["migrated"] = None if one.migrated is None else str(one.migrated)
        if asked:
            row["checked"] = one.checked
        rows.append(row)
    return {"file": str(path), "badge": report.badge, "note": report.note, "runs": report.runs, "releases": rows}


def _row(one: "Compatibility") -> Row:
    return {
        "release": one.release.name,
        "answer": str(one.answer),
        "layers": [
            {"path": layer.path, "line": layer.line, "layer": layer.layer, "reason": layer.reason}
            for layer in one.obstacles
        ],
        "why": one.why,
    }


def _show(screen: "Screen", reports: Mapping[Path, "CompatibilityReport"], badge: bool) -> None:
    from ir_tools.cli.screen import Column

    for number, (path, report) in enumerate(reports.items()):
        if not report or (badge and len(reports) == 1):
            screen.line(report.badge)
            continue
        if badge:
            screen.line(f"{path}: {report.badge}")
            continue
        if number:
            screen.line()
        screen.line(f"{path}: {report.badge}", style="bold")
        more = [key for key in ("migrated", "checked") if any(getattr(one, key) for one in report)]
        columns = [Column("OpenVINO", keep=True), Column("answer", keep=True), *map(Column, more)]
        columns.append(Column("why", fold=True))
        keys = ["answer", *more, "why"]
        rows = [[span, *(str(getattr(one, key) or "") for key in keys)] for span, one in report.spans]
        screen.table(columns, rows)
        if report.note:
            screen.line(report.note)
