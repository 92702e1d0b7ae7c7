"""The options of `ir-tools compare`, and which of them contradict each other."""

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli.arrays import InputOptions
from ir_tools.cli.releases import ReleaseOptions
from ir_tools.releases.table import Release, find_release, is_release
from ir_tools.runtime.setting import RuntimePrecision, Setting

if TYPE_CHECKING:
    from ir_tools.comparison import ReferenceMode, Sink
    from ir_tools.graph import Model
    from ir_tools.runtime.client import RuntimeClient

__all__ = ["Options", "Request", "Side", "command_line"]

CONTRADICTIONS = (
    ("--layers", "--outputs-only"),
    ("--layers", "--type"),
    ("--type", "--outputs-only"),
    ("--mode isolated", "--outputs-only"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare."""

    mode: "ReferenceMode"
    device: str
    precision: RuntimePrecision
    against: tuple[Setting | Release, ...]
    types: frozenset[str]
    outputs_only: bool
    tolerance: float | None
    inputs: InputOptions
    samples: int
    extensions: tuple[Path, ...]
    states: tuple[tuple[str, str], ...]
    release: ReleaseOptions
    dump: Path | None

    @property
    def setting(self) -> Setting:
        """Device and precision."""
        return Setting(self.device, self.precision)

    def sink(self) -> "AbstractContextManager[Sink | None]":
        """Return what takes the tensors that are compared: the folder of `--dump`, or nothing.

        Raises:
            WriteError: the folder cannot be made.
        """
        from ir_tools.comparison.dumping import Dump

        return nullcontext() if self.dump is None else Dump(self.dump)

    @property
    def layers(self) -> bool | frozenset[str]:
        """Which layers."""
        return False if self.outputs_only else self.types or True

    def steps(self, model: "Model", samples: int | None = None) -> int | None:
        """Return how many steps the progress of a comparison has; None without layers. `samples`: of a saved run."""
        from ir_tools.comparison import count_compared

        return None if self.outputs_only else count_compared(model, self.layers) * (samples or self.samples)

    @contextmanager
    def clients(self, side: Setting | Release | None) -> "Iterator[tuple[RuntimeClient, RuntimeClient | None]]":
        """Start the runtime, and another one if a side of `--against` is a release or the runtime is one."""
        from ir_tools.runtime.client import RuntimeClient

        with ExitStack() as stack:
            release = self.release.runtime(self.extensions)
            their = self.release.started(side, self.extensions) if isinstance(side, Release) else None
            client = stack.enter_context(release or RuntimeClient(extensions=self.extensions))
            yield client, None if their is None else stack.enter_context(their)

    def words(self) -> Iterator[str]:
        """Yield the options as a command line."""
        yield from ("--device", self.device, "--precision", self.precision)
        for side in self.against:
            yield from ("--against", ":".join(side) if isinstance(side, Setting) else side.name)
        for name in sorted(self.types):
            yield from ("--type", name)
        if self.outputs_only:
            yield "--outputs-only"
        elif self.mode != "isolated":
            yield from ("--mode", self.mode)
        if self.tolerance is not None:
            yield from ("--tolerance", str(self.tolerance))
        yield from self.inputs.words()
        if self.samples > 1:
            yield from ("--samples", str(self.samples))
        for library in self.extensions:
            yield from ("--extension", str(library))
        for name, file in self.states:
            yield from ("--state", f"{name}={file}" if name else file)
        yield from self.release.words()


class Side(click.ParamType["Setting | Release"]):
    """A release of OpenVINO, or `DEVICE:PRECISION`; without a precision, f32."""

    name = "RELEASE|DEVICE[:PRECISION]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> "Setting | Release":
        """Read it; UsageError for an unknown release or precision."""
        if not isinstance(value, str):
            assert isinstance(value, Setting | Release)
            return value
        return find_release(value) if is_release(value) else Setting.parse(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options as they are given, which may contradict each other."""

    other: Path | None
    other_weights: Path | None
    mode: "ReferenceMode | None"
    against: Sequence[Setting | Release]
    layers: bool
    types: Sequence[str]
    outputs_only: bool
    inputs: InputOptions
    samples: int
    states: Sequence[tuple[str, str]]
    dump: Path | None
    save: Path | None
    golden: Path | None
    bisect: Path | None

    def check(self) -> None:
        """Raise a usage error for options that contradict each other or that nothing would read."""
        self._check_sides()
        self._check_run()
        self._check_files()

    def _check_sides(self) -> None:
        chosen = {
            "--layers": self.layers,
            "--type": bool(self.types),
            "--outputs-only": self.outputs_only,
            "--mode isolated": self.mode == "isolated",
        }
        for first, second in CONTRADICTIONS:
            if chosen[first] and chosen[second]:
                raise click.UsageError(f"{first} and {second} cannot be combined")
        if self.mode is not None and (self.other is not None or self.against):
            raise click.UsageError("--mode is for the reference; leave it out with OTHER and --against")
        if self.other is not None and any(isinstance(side, Setting) for side in self.against):
            raise click.UsageError("use either OTHER or --against with a device, not both")
        if self.other is not None and self.bisect is not None:
            raise click.UsageError("--bisect extracts a part of one model; leave out OTHER")

    def _check_run(self) -> None:
        """Raise a usage error for options that a saved run cannot have."""
        chosen: dict[str, object] = {"OTHER": self.other}
        if self.golden is not None:
            inputs = self.inputs
            chosen |= {"--against": self.against, "--mode": self.mode, "--save": self.save, "--bisect": self.bisect}
            chosen |= {"--input": inputs.texts, "--set": inputs.shapes, "--seed": inputs.seed}
            chosen |= {"--state": self.states, "--samples": self.samples > 1}
            chosen |= inputs.images.given
        for option, value in chosen.items():
            if value and (self.save is not None or self.golden is not None):
                run = "--save" if self.golden is None else "--golden"
                raise click.UsageError(
                    f"{option} cannot be combined with {run}, which is a run of one model on its own inputs; leave it "
                    "out"
                )

    def _check_files(self) -> None:
        """Raise a usage error for files that would not be read, or that one comparison fills."""
        if self.other is None and self.other_weights is not None:
            raise click.UsageError("--other-bin is for OTHER, which is missing")
        if self.states and self.bisect is not None:
            raise click.UsageError("--bisect compares parts of the model without variables; leave out --state")
        for option, file in {"--dump": self.dump, "--bisect": self.bisect}.items():
            if file is not None and len(self.against) > 1:
                raise click.UsageError(f"{option} writes one comparison; name one --against")
        if self.dump is not None and self.samples > 1:
            raise click.UsageError("--dump writes the tensors of one sample; leave out --samples")

    def check_legacy(self, model: "Model") -> None:
        """Raise a usage error for options that the runtime of a legacy model cannot do."""
        settings = [side for side in self.against if isinstance(side, Setting)]
        chosen = {"--against DEVICE": settings, "--mode": self.mode, "--bisect": self.bisect}
        for option, value in {**chosen, "--state": self.states, "--save": self.save}.items():
            if value:
                raise click.UsageError(
                    f"{option} does not support models of IR v{model.version} on their original runtime"
                )


def command_line(words: Iterable[str]) -> str:
    """Return a line that a shell takes apart into these words, of printable characters (`$'...'` is bash and zsh)."""
    return " ".join(shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_escaped, word))}'" for word in words)


def _escaped(character: str) -> str:
    if character.isprintable() and character not in "\\'":
        return character
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))
