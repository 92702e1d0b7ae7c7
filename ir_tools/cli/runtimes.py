"""`ir-tools runtimes`: the releases of the runtime that models can be run on."""

from typing import TYPE_CHECKING

import click

from ir_tools.cli.app import Answer, Row, command
from ir_tools.errors import UsageError

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.releases.table import Release

__all__ = ["runtimes"]


@command("runtimes", example="ir-tools runtimes --add inference-engine-2020.1")
@click.option("--add", "added", metavar="NAME", help="Make the environment of this release, from PyPI.")
@click.option("--remove", "removed", metavar="NAME", help="Remove the environment of this release.")
def runtimes(added: str | None, removed: str | None) -> Answer:
    """List the releases of the runtime that models can be run on, and where they are; add or remove one.

    Each release other than the installed OpenVINO is in an environment of its own, in the folder that IR_TOOLS_RUNTIMES
    names (by default ir-tools/runtimes in the cache folder). What is made, and its size, is printed first.
    """
    from ir_tools.cli.releases import install
    from ir_tools.releases.table import RELEASES, find_release
    from ir_tools.runtime import environments

    if added and removed:
        raise UsageError("--add and --remove are two commands")
    if added:
        install(find_release(added))
    if removed:
        environments.remove(find_release(removed))
    rows = [_installed(), *map(_row, RELEASES)]
    return Answer({"folder": str(environments.runtimes_folder()), "runtimes": rows}, lambda screen: _show(screen, rows))


def _installed() -> Row:
    import sys

    from ir_tools.runtime.installed import openvino_version

    version = openvino_version()
    return {
        "name": "openvino",
        "title": f"OpenVINO {version}" if version else "OpenVINO",
        "reads": [10, 11],
        "python": sys.executable if version else None,
    }


def _row(release: "Release") -> Row:
    from ir_tools.runtime.environments import found_python

    python = found_python(release)
    return {
        "name": release.name,
        "title": release.title,
        "reads": release.reads,
        "python": None if python is None else str(python),
    }


def _show(screen: "Screen", rows: list[Row]) -> None:
    from ir_tools.cli.screen import Column

    columns = [Column("name", keep=True), Column("release"), Column("IR versions"), Column("Python", fold=True)]
    screen.table(columns, [[str(row["name"]), str(row["title"]), _span(row["reads"]), _where(row)] for row in rows])


def _span(versions: object) -> str:
    assert isinstance(versions, tuple | list)
    return f"{versions[0]} to {versions[1]}"


def _where(row: Row) -> str:
    return str(row["python"] or "not here")
