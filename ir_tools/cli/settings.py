"""The options of `validate` about settings and output, each group gathered into one argument of the command."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from ir_tools.arguments import word_list
from ir_tools.cli.checking import Task
from ir_tools.cli.configuration import FAIL_ON, FORMATS, Configuration, Configurations, load
from ir_tools.cli.paths import InputPath, OutputFile
from ir_tools.cli.patterns import Pattern
from ir_tools.errors import UsageError
from ir_tools.validation import chosen

__all__ = ["Output", "Settings", "output_options", "settings_options"]

Command = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """Which settings hold for a file: those of the command line, then those of a configuration file.

    Attributes:
        given: on the command line.
        config: the configuration of all files; None for the nearest of each.
        nearest: the configurations that were read.
    """

    given: Configuration
    config: Configuration | None
    nearest: Configurations = field(default_factory=Configurations)

    def of(self, folder: Path) -> Configuration:
        """Return the settings of the files in a folder; `--select` replaces what a configuration selects and ignores.

        Raises:
            UsageError: a configuration file cannot be read, or has a setting that does not exist.
        """
        base = self.nearest.of(folder) if self.config is None else self.config
        if self.given.select is not None:
            base = replace(base, extend_select=(), ignore=None, extend_ignore=())
        return base.extended(self.given)

    def excludes(self, path: Path, *, named: bool = False) -> bool:
        """Return whether a path is left out; `named`: if it is one of the arguments."""
        settings = self.of(path.parent)
        return settings.excludes(path, deep=named) if settings.force_exclude or not named else False

    def task(self, file: Path, *, data: bytes | None = None, weights: Path | None = None) -> Task:
        """Return what to check a file for."""
        settings = self.of(file.parent)
        return Task(file=file, codes=settings.codes(file), failing=settings.failing, data=data, weights=weights)


@dataclass(frozen=True, slots=True)
class Output:
    """How findings are shown.

    Attributes:
        style: one of `FORMATS`; None for that of the configuration.
        file: where to write them.
        quiet: whether to show the findings alone.
        statistics: whether to show how often each rule was broken instead of the findings.
    """

    style: str | None
    file: Path | None
    quiet: bool
    statistics: bool

    def completed(self, configured: str | None) -> "Output":
        """Return the same with the format of the configuration if none was given.

        Raises:
            UsageError: options that contradict each other.
        """
        style = self.style or configured or "text"
        as_json = click.get_current_context().params.get("as_json")
        if as_json and self.file is not None:
            raise UsageError("--json prints to standard output; to write JSON to --output-file, use --format json")
        if as_json and self.style not in {None, "json"}:
            raise UsageError(f"--json means --format json; leave out --json or --format {self.style}")
        if self.statistics and not as_json and style not in {"text", "concise", "json"}:
            raise UsageError(f"--statistics supports --format text, concise and json, not {style}")
        return replace(self, style=style)


def output_options(function: Command) -> Command:
    """Add `--format`, `--output-file`, `--quiet` and `--statistics` as the argument `output`."""

    @functools.wraps(function)
    def gathered(style: str | None, file: Path | None, quiet: bool, statistics: bool, **arguments: Any) -> Any:
        return function(output=Output(style, file, quiet, statistics), **arguments)

    return _with(
        gathered,
        click.option(
            "--format",
            "style",
            type=click.Choice(FORMATS),
            help=(
                "Format of the findings: text (the default) and concise (one line each) for people, json for "
                "programs, sarif for code scanning, the others for CI systems."
            ),
        ),
        click.option(
            "--output-file", "file", type=OutputFile(), metavar="FILE", help="Write to FILE and print nothing."
        ),
        click.option("-q", "--quiet", is_flag=True, help="Show only the findings, without counts and progress."),
        click.option("--statistics", is_flag=True, help="Show the number of findings of each rule instead."),
    )


def settings_options(function: Command) -> Command:
    """Add the options that select rules and files, and those about configuration files, as the argument `settings`."""

    @functools.wraps(function)
    def gathered(
        select: Sequence[str],
        more: Sequence[str],
        ignore: Sequence[str],
        exclude: Sequence[str],
        extend_exclude: Sequence[str],
        force_exclude: bool,
        fail_on: str | None,
        config: Path | None,
        isolated: bool,
        **arguments: Any,
    ) -> Any:
        if config is not None and isolated:
            raise UsageError("--config and --isolated cannot be combined")
        given = Configuration(
            select=_codes(select) or None,
            extend_select=_codes(more),
            extend_ignore=_codes(ignore),
            exclude=_patterns(exclude) or None,
            extend_exclude=_patterns(extend_exclude),
            force_exclude=force_exclude or None,
            fail_on=fail_on,
        )
        read = load(config) if config is not None else Configuration() if isolated else None
        return function(settings=Settings(given, read), **arguments)

    codes: dict[str, Any] = {"multiple": True, "metavar": "CODES"}
    globs: dict[str, Any] = {"multiple": True, "metavar": "GLOBS"}
    return _with(
        gathered,
        click.option("--select", **codes, help="Check only these rules: IR103,IR2,unfed-input."),
        click.option("--extend-select", "more", **codes, help="Also check these rules."),
        click.option(
            "--ignore",
            **codes,
            help="Skip these rules. If --select and --ignore both match a rule, the longer code decides.",
        ),
        click.option("--exclude", **globs, help="Files and folders to skip: 'old/**', third_party."),
        click.option(
            "--extend-exclude", **globs, help="Files and folders to skip in addition to those of the configuration."
        ),
        click.option("--force-exclude", is_flag=True, help="Skip excluded files even if they are named."),
        click.option(
            "--fail-on", type=click.Choice([*FAIL_ON]), help="Lowest severity for exit code 1.  [default: error]"
        ),
        click.option("--config", type=InputPath(), metavar="FILE", help="Configuration file for all models."),
        click.option("--isolated", is_flag=True, help="Read no configuration file."),
    )


def _with(function: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        function = option(function)
    return function


def _codes(texts: Sequence[str]) -> tuple[str, ...]:
    words = tuple(word for text in texts for word in word_list(text))
    chosen(words)
    return words


def _patterns(texts: Sequence[str]) -> tuple[Pattern, ...]:
    return tuple(Pattern(word, Path.cwd()) for text in texts for word in word_list(text))
