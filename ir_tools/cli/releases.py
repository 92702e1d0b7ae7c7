"""What commands share that run releases: installing one, with its size shown before, and starting it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli.help import GroupedCommand
from ir_tools.cli.plain_text import visible
from ir_tools.errors import RuntimeFailure, UsageError
from ir_tools.releases.table import find_release, is_release

if TYPE_CHECKING:
    from ir_tools.cli.arrays import InputOptions
    from ir_tools.graph import Model
    from ir_tools.releases.table import Release
    from ir_tools.runtime.client import RuntimeClient
    from ir_tools.runtime.legacy import LegacyClient
    from ir_tools.runtime.release import ReleaseClient

__all__ = ["INSTALLED", "OptionalRelease", "ReleaseOptions", "install", "located"]

INSTALLED = "installed"
"""What `--runtime` without a name stands for."""

DEFAULT = "inference-engine-2020.1"
SEARCH = 20.0
"""Seconds that the layer over which a release fails is searched."""


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """Which release a model runs on, in place of the installed OpenVINO, or of the release of a legacy model's time.

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

    @property
    def legacy(self) -> bool:
        """Whether the release is one for legacy models, as it is by default."""
        return self.name is None or not find_release(self.name).opset

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
        from ir_tools.runtime.environments import release_python
        from ir_tools.runtime.legacy import LegacyClient

        release = find_release(self.name or DEFAULT)
        if inputs.shapes:
            raise UsageError(f"{release.title} runs the file with the sizes that it records; leave out --set")
        self.check(model)
        self._install(release, self.python)
        return LegacyClient(release_python(release, self.python))

    def runtime(self, extensions: Sequence[Path] = (), memory: int | None = None) -> "ReleaseClient | None":
        """Return the release of OpenVINO that `--runtime` names, None if it names none; see `client`."""
        return None if self.name is None else self.started(find_release(self.name), extensions, memory)

    def require_name(self) -> None:
        """Raise a UsageError if an option says where a release is, or to install it, and none says which."""
        if self.name is None and self.given:
            raise UsageError("--runtime-python and --install need a release; name it with --runtime")

    def started(
        self, release: "Release", extensions: Sequence[Path] = (), memory: int | None = None
    ) -> "ReleaseClient":
        """Return a release of OpenVINO; `--runtime-python` names that of `--runtime`, or this one without it."""
        from ir_tools.runtime.release import release_client

        own = self.name is None or find_release(self.name) is release
        python = self.python if own else None
        self._install(release, python)
        return release_client(release, python, memory=memory, extensions=extensions)

    def beside(self, release: "Release", extensions: Sequence[Path] = ()) -> "ReleaseClient":
        """Return a release of OpenVINO for the new one of two models; the options are for the legacy one."""
        return replace(self, name=self.name or DEFAULT).started(release, extensions)

    def _install(self, release: "Release", python: Path | None) -> None:
        """Install a release that is missing, if that is asked for."""
        from ir_tools.runtime.environments import found_python

        if self.install and python is None and found_python(release) is None:
            install(release)

    def check(self, model: "Model", *, more: bool = False) -> None:
        """Raise a UsageError if the options are given and the model is not one that they are for.

        `more`: whether another option names a release of OpenVINO.
        """
        if self.given and self.legacy and not model.is_legacy and not (more and self.name is None):
            raise UsageError(
                f"{DEFAULT} runs models of IR v2 to v7, but this one is IR v{model.version}; name another "
                "release with --runtime"
            )


class OptionalRelease(GroupedCommand):
    """A command whose `--runtime` takes a name only if a release is named: what follows it may be a file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give `--runtime` its value if the word after it is not a release."""
        following = [*args[1:], ""]
        words = [
            f"{word}={INSTALLED}" if word == "--runtime" and not is_release(after) else word
            for word, after in zip(args, following, strict=False)
        ]
        return super().parse_args(ctx, words)


@contextmanager
def located(model: "Model", *clients: "RuntimeClient | None") -> Iterator[None]:
    """Let the failure of a runtime name the layer that it rejects or crashes over, its line, and what to do about it.

    Raises:
        RuntimeFailure: the failure, with the layer if it is found.
    """
    try:
        yield
    except RuntimeFailure as failure:
        from ir_tools.runtime.release import ReleaseClient
        from ir_tools.runtime.trial import try_model

        for client in clients:
            if client is None or not str(failure).startswith(client.name) or "; the layer is '" in str(failure):
                continue
            text = ""
            if isinstance(client, ReleaseClient) and (unread := client.unread(model.version)):
                text = f"{unread}; migrate the model for it with: {client.migration}"
            elif failure.stage and failure.kind in {"rejected", "crashed"}:
                found = try_model(model, client=client, search_seconds=SEARCH)
                place = next((one for one in found if one.path), None)
                line = f" (line {place.line})" if place and place.line else ""
                text = f"{failure}; the layer is '{place.path}'{line}" if place else ""
                if isinstance(client, ReleaseClient) and _is_stopped(model, client.release):
                    advice = "ir-tools compat lists the layers that it does not run; migrate the model for it with"
                    text = f"{text or failure}; {advice}: {client.migration}"
            if text:
                raise RuntimeFailure(text, kind=failure.kind, stage=failure.stage, reason=failure.reason) from None
        raise


def _is_stopped(model: "Model", release: "Release") -> bool:
    """Return whether the tables say that a release does not run a model."""
    from ir_tools.compatibility import Answer, compatibility

    (found,) = compatibility(model, [release])
    return found.answer in {Answer.STOPPED, Answer.READS}


def install(release: "Release") -> Path:
    """Make the environment of a release; what is made and its size are printed on standard error first.

    Returns:
        Its interpreter.

    Raises:
        UsageError: it is there already.
        RuntimeFailure: it cannot be made.
    """
    from ir_tools.cli.screen import working
    from ir_tools.runtime.environments import installation

    planned = installation(release)
    click.echo(visible(f"ir-tools: installing {release.title} into {planned}"), err=True)
    with working(f"installing {release.title}"):
        return planned.make()
