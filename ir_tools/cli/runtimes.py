"""`ir-tools runtimes`: the releases of the runtime that models can be run on."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli.app import Answer, Row, command
from ir_tools.errors import UsageError

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.runtime.environments import Runtime, Runtimes

__all__ = ["runtimes"]


@command("runtimes", example="ir-tools runtimes --add inference-engine-2020.1")
@click.option("--add", "added", metavar="NAME", help="Create the environment of this release, from PyPI.")
@click.option("--remove", "removed", metavar="NAME", help="Remove the environment of this release.")
def runtimes(added: str | None, removed: str | None) -> Answer:
    """List the releases of the runtime that models can be run on, and where they are; add or remove one.

    Each release other than the installed OpenVINO is in an environment of its own, in the folder that IR_TOOLS_RUNTIMES
    names (by default ir-tools/runtimes in the cache folder). What is made, and its size, is printed first.
    """
    from ir_tools.cli.releases import install
    from ir_tools.releases.table import find_release
    from ir_tools.runtime import environments

    if added is not None and removed is not None:
        raise UsageError("--add and --remove cannot be combined; run two commands")
    done = ""
    if added is not None:
        done = f"Made {install(find_release(added))}"
    if removed is not None:
        done = f"Removed {environments.remove(find_release(removed))}"
    found, folder = environments.all_runtimes(), environments.runtimes_folder()
    data: Row = {
        "folder": str(folder),
        "runtimes": [
            {"name": one.name, "title": one.title, "reads": one.reads, "python": one.python and str(one.python)}
            for one in found
        ],
    }
    return Answer(data, lambda screen: _show(screen, found, folder, done))


def _show(screen: "Screen", found: "Runtimes", folder: Path, done: str) -> None:
    from ir_tools.cli.screen import Column

    columns = [Column("name", keep=True), Column("reads"), Column("where", fold=True)]
    screen.table(columns, [[one.name, one.versions, _where(one, folder)] for one in found])
    screen.line(f"environments are in {folder}; add one with: ir-tools runtimes --add NAME", style="dim")
    if done:
        screen.line(done)


def _where(runtime: "Runtime", folder: Path) -> str:
    """Return `installed`, `not installed`, or the Python of one that is elsewhere."""
    if runtime.python is None:
        return "not installed"
    return "installed" if runtime.python.is_relative_to(folder) else f"{runtime.title}: {runtime.python}"
