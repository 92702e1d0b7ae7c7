"""What `runtimes`, `migrate` and `compare` share: installing a release, with its size shown before."""

from typing import TYPE_CHECKING

import click

from ir_tools.cli.plain_text import visible

if TYPE_CHECKING:
    from ir_tools.runtime.releases import Release

__all__ = ["install"]


def install(release: "Release") -> None:
    """Make the environment of a release; what is made and its size are printed on standard error first.

    Raises:
        UsageError: it is there already.
        RuntimeFailure: it cannot be made.
    """
    from ir_tools.cli.screen import working
    from ir_tools.runtime.environments import installation

    planned = installation(release)
    click.echo(visible(f"ir-tools: installing {release.title} into {planned}"), err=True)
    with working(f"installing {release.title}"):
        planned.make()
