"""`ir-tools compat`: which releases of OpenVINO run models."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli.app import Answer, Row, command
from ir_tools.cli.discovery import discover
from ir_tools.cli.paths import ModelsPath
from ir_tools.errors import ReadError, UsageError

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.compatibility import Compatibility
    from ir_tools.releases.table import Release

__all__ = ["compat"]


@command("compat", example="ir-tools compat model.xml")
@click.argument("paths", nargs=-1, required=True, type=ModelsPath(), metavar="PATH...")
@click.option("--release", "names", metavar="NAME", multiple=True, help="Only this release. May be repeated.")
@click.option("--badge", is_flag=True, help="Print one line for each model: OpenVINO 2022.1 to 2026.4.")
@click.option("--migrated", is_flag=True, help="Also tell which releases run the model after migrate --for RELEASE.")
@click.option("--check", "asked", is_flag=True, help="Also let the releases that are here read and compile each file.")
def compat(paths: tuple[Path, ...], names: tuple[str, ...], badge: bool, migrated: bool, asked: bool) -> Answer:
    """Tell which releases of OpenVINO run the models in PATH, files and folders, and what stops the others.

    The answers are those of a table of what each release was seen to do with every operation; nothing is run. If a
    release runs a model, no layer is known to fail there or to give other values. Exits with 1 if no release runs one
    of the models.
    """
    from ir_tools.releases.table import OPENVINO, find_release

    releases = [find_release(name) for name in names] or [*OPENVINO]
    if badge and (asked or migrated):
        raise UsageError("--badge is one line from the table; leave out --check and --migrated")
    found = discover(paths, _none)
    if problems := [*found.bad_arguments, *found.unreadable]:
        raise UsageError("; ".join(f"{bad.file}: {bad.message}" for bad in problems))
    files = [_file(path, releases, migrated, asked, alone=len(found.files) == 1) for path in found.files]
    runs = all(row["runs"] for row in files)
    return Answer({"ok": runs, "files": files}, lambda screen: _show(screen, files, badge), 0 if runs else 1)


def _none(path: Path, *, named: bool = False) -> bool:
    del path, named
    return False


def _file(path: Path, releases: Sequence["Release"], migrated: bool, asked: bool, *, alone: bool) -> Row:
    """Return what is known of one file; one of several that cannot be read is run by no release.

    Raises:
        ReadError: the only file cannot be read.
    """
    import ir_tools
    from ir_tools.compatibility import report

    try:
        model = ir_tools.read(path)
    except ReadError as why:
        if alone:
            raise
        return {"file": str(path), "badge": str(why), "note": "", "runs": False, "releases": []}
    found = report(model, releases, migrated=migrated, check=asked)
    rows = []
    for one in found:
        row = _row(one)
        if migrated:
            row["migrated"] = None if one.migrated is None else str(one.migrated)
        if asked:
            row["checked"] = one.checked
        rows.append(row)
    return {"file": str(path), "badge": found.badge, "note": found.note, "runs": found.runs, "releases": rows}


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


def _show(screen: "Screen", files: Sequence[Row], badge: bool) -> None:
    from ir_tools.cli.screen import Column

    for number, file in enumerate(files):
        rows = file["releases"]
        assert isinstance(rows, list)
        if not rows or (badge and len(files) == 1):
            screen.line(str(file["badge"]))
            continue
        if badge:
            screen.line(f"{file['file']}: {file['badge']}")
            continue
        if number:
            screen.line()
        screen.line(f"{file['file']}: {file['badge']}", style="bold")
        more = [key for key in ("migrated", "checked") if key in rows[0]]
        columns = [Column("release", keep=True), Column("answer", keep=True), *map(Column, more)]
        columns.append(Column("why", fold=True))
        keys = ["release", "answer", *more, "why"]
        screen.table(columns, [[str(row[key] or "") for key in keys] for row in rows])
        if file["note"]:
            screen.line(str(file["note"]))
