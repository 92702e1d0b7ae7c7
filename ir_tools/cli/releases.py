"""What `runtimes`, `migrate` and `compare` share: installing a release, with its size shown before, and running it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli.plain_text import visible
from ir_tools.errors import UsageError

if TYPE_CHECKING:
    from ir_tools.cli.arrays import InputOptions
    from ir_tools.graph import Model
    from ir_tools.releases.table import Release
    from ir_tools.runtime.legacy import LegacyClient

__all__ = ["ReleaseOptions", "install"]

DEFAULT = "inference-engine-2020.1"


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """Which release a legacy model runs on.

    Attributes:
        name: of `--runtime`; None if it is not given.
        python: of `--runtime-python`.
        install: of `--install`.
    """

    name: str | None = None
    python: Path | None = None
    install: bool = False

    @property
    def given(self) -> bool:
        """Whether any of the options is."""
        return self != ReleaseOptions()

    def words(self) -> Iterator[str]:
        """Yield the options as a command line, without `--install`, which is done once."""
        if self.name is not None:
            yield from ("--runtime", self.name)
        if self.python is not None:
            yield from ("--runtime-python", str(self.python))

    def client(self, model: "Model", inputs: "InputOptions") -> "LegacyClient":
        """Return the release for a legacy model; its environment is made first if that is asked for and it is missing.

        Raises:
            UsageError: an unknown release, a model or inputs that are not for it.
            RuntimeFailure: it is not here, or cannot be installed.
        """
        from ir_tools.releases.table import find_release
        from ir_tools.runtime.environments import environment, release_python
        from ir_tools.runtime.legacy import LegacyClient

        release = find_release(self.name or DEFAULT)
        if inputs.shapes:
            raise UsageError(f"{release.title} runs the file with the sizes in it; leave out --set")
        if self.install and self.python is None and environment(release) is None:
            install(release)
        self.check(model)
        return LegacyClient(release_python(release, self.python))

    def check(self, model: "Model") -> None:
        """Raise a UsageError if the options are given and the model is not one that they are for."""
        if self.given and not model.is_legacy:
            raise UsageError(f"--runtime is for models of IR v2 to v7; this one is IR v{model.version}")


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
