"""`ir-tools validate`: everything that is wrong with IR files, with file, line, layer and remedy."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools import __version__
from ir_tools.cli.app import Answer, Row, command, print_document, print_json
from ir_tools.cli.findings import count, show_findings
from ir_tools.cli.options import similar
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import UsageError
from ir_tools.sarif import to_sarif
from ir_tools.validation import chosen
from ir_tools.validation import validate as validate_file

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.runtime.client import RuntimeClient

__all__ = ["validate"]

PEEK = 1 << 16
"""Bytes at the start of an `.xml` of a folder that tell whether it is an IR."""
FILES_PER_PROCESS = 16
"""A process more pays from so many files on."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to look for."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    runtime: bool


class Codes(click.ParamType[tuple[str, ...]]):
    """`IR103,IR2`: codes or the beginnings of codes."""

    name = "codes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The words between the commas."""
        del param, ctx
        if isinstance(value, tuple):
            return value
        return tuple(word.strip().upper() for word in str(value).split(",") if word.strip())


@command("validate", example="ir-tools validate model.xml models/ --ignore IR5 --format sarif > findings.sarif")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="For people, for programs, or for code-scanning services.",
)
@click.option("--runtime", is_flag=True, help="Also let the installed OpenVINO read, compile and infer each file.")
@click.option("--select", type=Codes(), multiple=True, metavar="CODES", help="Only these: IR103,IR2. May be repeated.")
@click.option("--ignore", type=Codes(), multiple=True, metavar="CODES", help="All but these. May be repeated.")
@click.option("--skip-others", is_flag=True, help="Leave out .xml files that are no IR, also where they are named.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; by default one, more for many files.")
def validate(
    paths: tuple[Path, ...],
    style: str,
    runtime: bool,
    select: tuple[tuple[str, ...], ...],
    ignore: tuple[tuple[str, ...], ...],
    skip_others: bool,
    jobs: int | None,
) -> Answer:
    """Tell what is wrong with each IR file in PATH: files, or folders that are searched for them.

    Exits with 1 if anything of severity error was found, else with 0. `ir-tools explain CODE` tells more of a code.
    """
    options = Options(sum(select, ()), sum(ignore, ()), runtime)
    chosen(options.select, options.ignore)
    files = list(_files(paths, skip_others=skip_others))
    found = _validate_all(files, options, jobs)
    data = _facts(files, found)
    everything = [diagnostic for diagnostics in found for diagnostic in diagnostics]
    code = 1 if any(diagnostic.severity is Severity.ERROR for diagnostic in everything) else 0
    shows: Mapping[str, Callable[[Screen], None]] = {
        "text": lambda screen: show_findings(screen, everything, len(files)),
        "json": lambda screen: print_document("validate", data),
        "sarif": lambda screen: print_json(to_sarif(everything, version=__version__, root=Path.cwd())),
    }
    return Answer(data, shows[style], code)


# --- files ------------------------------------------------------------------------------------------------------


def _files(paths: Sequence[Path], *, skip_others: bool) -> Iterator[Path]:
    """The files that are named, and the IR files below the folders that are named, each once."""
    seen = set()
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder{similar(path)}")
        if path.suffix.lower() in {".bin", ".onnx"} and path.is_file():
            raise UsageError(f"{path} is no IR; name an .xml, or a folder with such files")
        for file in _below(path) if path.is_dir() else [path]:
            if file not in seen and not (skip_others and not _is_ir(file)):
                seen.add(file)
                yield file


def _below(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*.xml")) if path.is_file() and _is_ir(path)]
    if not found:
        raise UsageError(f"{folder}: there is no IR (.xml with a <net>) in this folder")
    return found


def _is_ir(path: Path) -> bool:
    """Whether an `.xml` is meant as an IR: it has a `<net>`, or weights lie beside it."""
    try:
        with path.open("rb") as file:
            start = file.read(PEEK)
    except OSError:
        return True
    return b"<net" in start or b"<\0n\0e\0t" in start or path.with_suffix(".bin").exists()


def _validate_all(files: Sequence[Path], options: Options, jobs: int | None) -> list[list[Diagnostic]]:
    """The findings of each file, in the order of the files."""
    from ir_tools.cli.screen import working

    work = partial(_validate_one, options=options)
    processes = _processes(len(files), jobs, options)
    found = []
    with working("validating", len(files)) as advance:
        if processes == 1:
            for file in files:
                found.append(work(file))
                advance()
            return found
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(processes) as pool:
            for diagnostics in pool.map(work, files):
                found.append(diagnostics)
                advance()
    return found


def _processes(files: int, jobs: int | None, options: Options) -> int:
    """As many as asked for, else as many as pay; the runtime uses all cores by itself."""
    paying = 1 if options.runtime else min(len(os.sched_getaffinity(0)), files // FILES_PER_PROCESS)
    return max(1, min(jobs or paying, files))


def _validate_one(file: Path, options: Options) -> list[Diagnostic]:
    runtime = _runtime() if options.runtime else False
    return validate_file(file, select=options.select, ignore=options.ignore, runtime=runtime)


@cache
def _runtime() -> "RuntimeClient":
    """One child process for all files of this process."""
    from ir_tools.runtime.client import RuntimeClient
    from ir_tools.runtime.trial import MEMORY

    return RuntimeClient(memory=MEMORY)


def _facts(files: Sequence[Path], found: Sequence[Sequence[Diagnostic]]) -> Row:
    rows: list[Row] = [
        {"file": str(file), "findings": [diagnostic.as_dict() for diagnostic in diagnostics]}
        for file, diagnostics in zip(files, found, strict=True)
    ]
    everything = [diagnostic for diagnostics in found for diagnostic in diagnostics]
    return {
        "ok": not count(everything, Severity.ERROR),
        "counts": {str(severity): count(everything, severity) for severity in Severity},
        "files": rows,
    }
