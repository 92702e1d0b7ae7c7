"""`ir-tools validate`: everything that is wrong with IR files, with file, line, layer and remedy."""

import contextlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ir_tools.cli.app import Answer, Row, command, print_document
from ir_tools.cli.baseline import Baseline
from ir_tools.cli.checking import Checked, Runtime, Task, check_all
from ir_tools.cli.discovery import Discovery, discover, require_none, require_one
from ir_tools.cli.findings import show_findings, show_statistics, statistics
from ir_tools.cli.options import bin_option, extension_option, install_option, python_option, shapes_option
from ir_tools.cli.paths import InputPath, ModelsPath, OutputFile
from ir_tools.cli.releases import INSTALLED, OptionalRelease, ReleaseOptions
from ir_tools.cli.settings import Output, Settings, output_options, settings_options
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.display import plural
from ir_tools.errors import UsageError
from ir_tools.files import same_file, write_file
from ir_tools.format.read import stream_content
from ir_tools.runtime.installed import require_openvino

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen

__all__ = ["validate"]

STANDARD_INPUT = Path("-")


@command(
    "validate",
    example="ir-tools validate model.xml models/ --ignore IR5 --format sarif > findings.sarif",
    cls=OptionalRelease,
)
@click.argument("paths", nargs=-1, required=True, type=ModelsPath(), metavar="PATH...")
@output_options
@settings_options
@click.option(
    "--baseline", type=InputPath(), metavar="FILE", help="Leave out the findings that the baseline FILE lists."
)
@click.option(
    "--write-baseline",
    "new_baseline",
    type=OutputFile(".json"),
    metavar="FILE.json",
    help="Write the findings to the baseline FILE, and keep its findings of other files.",
)
@click.option(
    "--runtime",
    "release_name",
    metavar="[NAME]",
    help="Also read and run each file with the installed OpenVINO, or with a release such as openvino-2024.6.",
)
@python_option
@install_option
@extension_option
@shapes_option
@bin_option()
@click.option(
    "--stdin-filename",
    "name",
    type=ModelsPath(),
    metavar="NAME",
    help="File name for standard input (-) in the findings.",
)
@click.option("--skip-others", is_flag=True, help="Skip files that are not IR, even if they are named.")
@click.option("--jobs", type=click.IntRange(min=1), help="Number of processes. Default: one, or more for many files.")
def validate(
    paths: tuple[Path, ...],
    output: Output,
    settings: Settings,
    baseline: Path | None,
    new_baseline: Path | None,
    release_name: str | None,
    python: Path | None,
    install: bool,
    extensions: tuple[Path, ...],
    shapes: tuple[tuple[str, str], ...],
    weights: Path | None,
    name: Path | None,
    skip_others: bool,
    jobs: int | None,
) -> Answer:
    """Find what is wrong with each IR file in PATH: files, folders that are searched for them, or - for standard input.

    Exits with 1 if anything of severity error was found (see --fail-on), with 2 if a PATH cannot be checked, else with
    0. `ir-tools explain CODE` explains a code. Settings can be in a pyproject.toml or ir-tools.toml.
    """
    asked = release_name is not None
    release = ReleaseOptions(None if release_name == INSTALLED else release_name, python, install)
    release.require_name()
    if asked and release.name is None:
        require_openvino()
    if shapes and not asked:
        raise UsageError("--set needs --runtime, which runs the model")
    here = settings.of(Path.cwd())
    output = output.completed(here.format)
    if baseline is None and new_baseline is None and here.baseline is not None:
        baseline = here.baseline
        if not baseline.exists():
            remedy = "create it with --write-baseline"
            raise UsageError(f"{here.file}: the baseline is {baseline}, which does not exist; {remedy}")
    _refuse_to_write(output.file, new_baseline, reads=(here.file, baseline))
    known = None if baseline is None else Baseline.read(baseline)
    if STANDARD_INPUT in paths:
        tasks, discovery = _standard_input(paths, name, weights, settings), Discovery()
    else:
        discovery = discover(paths, settings.excludes, skip_others=skip_others)
        tasks = _tasks(discovery, name, weights, settings)
    checked = check_all(tasks, Runtime(asked, extensions, shapes, release), jobs, quiet=output.quiet)
    if new_baseline is not None:
        return _write_baseline(new_baseline, checked)
    left = [*_unknown(checked, known), *_problems(discovery, settings)]
    data = _facts(left)
    if known is not None:
        gone = _gone(known, checked, asked)
        data["baseline"] = {"file": str(known.file), "gone": gone}
        if gone and not output.quiet:
            what = "1 entry is" if len(gone) == 1 else f"{len(gone)} entries are"
            click.echo(f"{known.file}: {what} no longer found; update the baseline with --write-baseline", err=True)
    if output.file is not None:
        _write(output, left, data)
    code = 2 if discovery.bad_arguments else int(any(file.failures for file in left))
    return Answer({"ok": code == 0, **data}, lambda screen: _show(screen, output, left, data), code)


def _refuse_to_write(*outputs: Path | None, reads: Sequence[Path | None]) -> None:
    """Raise a UsageError if a file of the configuration would be written."""
    for file in filter(None, outputs):
        if any(same_file(file, other) for other in reads if other is not None):
            raise UsageError(f"{file} is read by this command; write to another file")


# --- what is checked ----------------------------------------------------------------------------------------------


def _standard_input(paths: Sequence[Path], name: Path | None, weights: Path | None, settings: Settings) -> list[Task]:
    if len(paths) > 1:
        raise UsageError("- (standard input) cannot be combined with other paths")
    beside = None if name is None or not name.with_suffix(".bin").exists() else name.with_suffix(".bin")
    file = STANDARD_INPUT if name is None else name
    if name is not None and settings.excludes(name, named=True):
        return []
    data = stream_content(sys.stdin.buffer) if sys.stdin else b""
    return [settings.task(file, data=data, weights=weights or beside)]


def _tasks(discovery: Discovery, name: Path | None, weights: Path | None, settings: Settings) -> list[Task]:
    if name is not None:
        raise UsageError("--stdin-filename needs the path - (standard input)")
    if not discovery.files and not discovery.unreadable:
        require_none(discovery.bad_arguments)
    require_one(weights, discovery.files)
    return [settings.task(file, weights=weights) for file in discovery.files]


def _problems(discovery: Discovery, settings: Settings) -> list[Checked]:
    """Return the arguments and folders that cannot be checked, as files with a finding."""
    tasks = ((settings.task(Path(str(one.file))), one) for one in (*discovery.bad_arguments, *discovery.unreadable))
    return [Checked(task, [problem]) for task, problem in tasks if problem.code in task.codes]


# --- the baseline -------------------------------------------------------------------------------------------------


def _unknown(checked: Sequence[Checked], known: Baseline | None) -> list[Checked]:
    if known is None:
        return list(checked)
    new = ((file, known.unknown(file.file, file.findings)) for file in checked)
    return [Checked(file.task, found, len(file.findings) - len(found)) for file, found in new]


def _gone(known: Baseline, checked: Sequence[Checked], asked: bool) -> list[Row]:
    """Return the entries that no file has any more; those of the runtime only if it was asked."""
    entries: list[Row] = []
    for file in checked:
        codes = {code for code in file.task.codes if asked or not code.startswith("RUN")}
        gone = known.gone(file.file, file.findings, codes)
        entries += [{"file": str(file.file), **entry._asdict()} for entry in gone]
    return entries + [{"file": name} for name in known.gone_files()]


def _write_baseline(file: Path, checked: Sequence[Checked]) -> Answer:
    """Write all findings; what was known of files that were not checked stays."""
    old = Baseline.read(file) if file.exists() else Baseline(file)
    old.updated({entry.file: entry.findings for entry in checked}).write()
    findings = sum(len(entry.findings) for entry in checked)
    data: Row = {"ok": True, "written": str(file), "findings": findings, "files": len(checked)}
    text = f"Wrote {file}: {plural(findings, 'finding')} in {plural(len(checked), 'file')}."
    return Answer(data, lambda screen: screen.verdict(text, good=True))


# --- output -------------------------------------------------------------------------------------------------------


def _facts(checked: Sequence[Checked]) -> Row:
    everything: list[Diagnostic] = [finding for file in checked for finding in file.findings]
    return {
        "counts": {str(key): sum(finding.severity is key for finding in everything) for key in Severity},
        "statistics": statistics(checked),
        "files": [
            {"file": str(file.file), "findings": [finding.as_dict() for finding in file.findings]} for file in checked
        ],
    }


def _write(output: Output, checked: Sequence[Checked], data: Row) -> None:
    from ir_tools.cli.screen import Screen

    assert output.file is not None
    content = io.BytesIO()
    text = io.TextIOWrapper(content, "utf-8", "backslashreplace", newline="\n", write_through=True)
    with contextlib.redirect_stdout(text):
        _print(Screen(), output, checked, data)
    write_file(output.file, lambda file: file.write(content.getbuffer()))


def _show(screen: "Screen", output: Output, checked: Sequence[Checked], data: Row) -> None:
    if output.file is None:
        _print(screen, output, checked, data)


def _print(screen: "Screen", output: Output, checked: Sequence[Checked], data: Row) -> None:
    if output.style == "json":
        print_document("validate", {"ok": not any(file.failures for file in checked), **data})
    elif output.style is not None and output.style not in {"text", "concise"}:
        from ir_tools.cli.formats import RENDERERS

        text = RENDERERS[output.style](checked)
        click.echo(text.removesuffix("\n"), nl=bool(text))
    elif output.statistics:
        show_statistics(screen, checked, quiet=output.quiet)
    else:
        show_findings(screen, checked, concise=output.style == "concise", quiet=output.quiet)
