"""What all commands share: the table of commands, `--json` and `--debug`, errors in one line, exit codes."""

import functools
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from ir_tools import __version__
from ir_tools.cli.help import GroupedCommand
from ir_tools.cli.paths import Writing, guarded
from ir_tools.cli.plain_text import escaped, visible
from ir_tools.cli.process import drop_unwritten, ended_by_signals, lost_files_reported, open_streams
from ir_tools.collection import gc_paused
from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import IrToolsError, ReadError, UsageError, WriteError

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen

__all__ = ["COMMANDS", "NOTES", "Answer", "Row", "command", "main", "print_document", "rows_of"]

Row = dict[str, object]
"""A part of a JSON document."""

COMMANDS: Mapping[str, str] = {
    "inspect": "ir_tools.cli.inspect",
    "validate": "ir_tools.cli.validate",
    "explain": "ir_tools.cli.explain",
    "shapes": "ir_tools.cli.shapes",
    "migrate": "ir_tools.cli.migrate",
    "run": "ir_tools.cli.run",
    "compare": "ir_tools.cli.compare",
    "compat": "ir_tools.cli.compat",
    "runtimes": "ir_tools.cli.runtimes",
}
"""Name of the command -> the module that holds it under the same name. A module loads when its command is called."""

FAILED, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
"""Exit codes: bad usage or an error of any kind; Ctrl-C; the reader of the output went away."""

NOTES = "ir_tools.findings"
"""Where the context of a command keeps what is wrong with its models."""

COMPLETION = "_IR_TOOLS_COMPLETE"
"""The variable in which a shell asks for completions: `bash_source`, `zsh_complete` and the like."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def rows_of(value: object) -> list[Row]:
    """Return the rows in a part of a JSON document."""
    assert isinstance(value, list)
    return value


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found: `data` for `--json`, `show` for people, `code` for the shell."""

    data: Mapping[str, object]
    show: "Callable[[Screen], None]"
    code: int = 0


class Commands(click.Group):
    """The table of commands as a click group that imports what is called and nothing else."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, loaded now."""
        if cmd_name not in COMMANDS:
            raise click.exceptions.NoSuchCommand(cmd_name, possibilities=COMMANDS, ctx=ctx)
        with gc_paused():
            loaded: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, from the text of their modules."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(_docstring(name))) for name in COMMANDS])


def _docstring(name: str) -> str:
    """Return the docstring of a command from the text of its module, which is not loaded."""
    import ast
    from pkgutil import get_data

    package, _, module = COMMANDS[name].rpartition(".")
    parsed = ast.parse(get_data(package, f"{module}.py") or b"")
    functions = (node for node in parsed.body if isinstance(node, ast.FunctionDef))
    return next(ast.get_docstring(node) or "" for node in functions if node.name == name)


def _summary(docstring: str) -> str:
    """Return the first sentence."""
    return docstring.partition(".")[0] + "."


def _print_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from ir_tools.runtime.installed import openvino_version

        click.echo(f"ir-tools {__version__}")
        click.echo(f"OpenVINO {openvino_version() or 'not installed'}")
        click.echo(f"Python {platform.python_version()}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings=SETTINGS,
    invoke_without_command=True,
    epilog="Every command takes --json, --debug and -h. Example: ir-tools inspect model.xml",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the versions of ir-tools, OpenVINO and Python.",
)
@click.pass_context
def tools(ctx: click.Context) -> None:
    """Check, migrate and prove OpenVINO IR models."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(FAILED)


def command(
    name: str, *, example: str, cls: type[click.Command] = GroupedCommand
) -> Callable[[Callable[..., Answer]], click.Command]:
    """Make a command of a function that returns an `Answer`; it gets `--json`, `--debug` and `-h` here."""

    def wrap(function: Callable[..., Answer]) -> click.Command:
        @functools.wraps(function)
        def call(*, as_json: bool, no_clobber: bool = False, **arguments: object) -> None:
            context = click.get_current_context()
            with guarded(context, overwrite=not no_clobber), lost_files_reported():
                answer = function(**arguments)
            _deliver(name, answer, as_json)
            context.exit(answer.code)

        made = click.command(
            name,
            cls=cls,
            context_settings=SETTINGS,
            short_help=_summary(function.__doc__ or ""),
            epilog=f"\b\nExample:\n  {example}",
        )(call)
        if any(isinstance(param.type, Writing) for param in made.params):
            made.params.append(click.Option(["--no-clobber"], is_flag=True, help="Do not overwrite existing files."))
        made.params += [
            click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document and nothing else."),
            click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error."),
        ]
        return made

    return wrap


def _deliver(name: str, answer: Answer, as_json: bool) -> None:
    """Print the answer; what is wrong with the model comes along in JSON, and on standard error for people."""
    found = click.get_current_context().meta.get(NOTES, ())
    try:
        if as_json:
            notes = {"diagnostics": [diagnostic.as_dict() for diagnostic in found]} if found else {}
            print_document(name, {**answer.data, **notes})
        else:
            _show(answer, found)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as why:
        raise WriteError(f"standard output: {why.strerror}") from why


def _show(answer: Answer, found: Sequence[Diagnostic]) -> None:
    from ir_tools.cli.screen import Screen

    for diagnostic in found:
        click.echo(visible(str(diagnostic)), err=True)
    answer.show(Screen())


def print_document(name: str, data: Mapping[str, object]) -> None:
    """Print the one document of `--json`: the command, the version of ir_tools, and what the command found."""
    print_json({"command": name, "ir_tools": __version__, **data})


def print_json(document: Mapping[str, object]) -> None:
    """Print a JSON document in the encoding of standard output, with escapes for what would steer its reader."""
    from ir_tools.cli.screen import plain

    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(escaped(json.dumps(plain(document), indent=2, ensure_ascii=not unicode, allow_nan=False)))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit. No traceback reaches the user unless `--debug` asks for it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    open_streams()
    with ended_by_signals():
        try:
            code = _run(words)
        finally:
            drop_unwritten()
    sys.exit(code)


def _run(words: Sequence[str]) -> int:
    """Return the exit code."""
    noted: list[Diagnostic] = []
    try:
        if COMPLETION in os.environ:
            from click.shell_completion import shell_complete

            return shell_complete(tools, {}, "ir-tools", COMPLETION, os.environ[COMPLETION])
        with tools.make_context("ir-tools", list(words)) as context:
            noted = context.meta.setdefault(NOTES, noted)
            tools.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE
    except Exception as error:
        ending = _ending(error)
        if isinstance(ending, SystemExit):
            return int(ending.code or 0)
        if isinstance(ending, KeyboardInterrupt):
            return INTERRUPTED
        with suppress(OSError):
            _report(error, words, noted)
        return FAILED
    return 0


def _ending(error: BaseException | None) -> BaseException | None:
    """Return what ended the command before an error that came of tidying up after it."""
    while error is not None and not isinstance(error, SystemExit | KeyboardInterrupt):
        error = error.__context__
    return error


def _report(error: Exception, words: Sequence[str], noted: Sequence[Diagnostic]) -> None:
    """Print an error, and before it what is wrong with the model, often the reason of one that is not of usage."""
    if "--debug" in words:
        traceback.print_exception(error)
    text = _text(error)
    usage = isinstance(error, UsageError | click.ClickException)
    found = getattr(error, "diagnostics", None) or ([] if usage else noted)
    for diagnostic in [] if usage else noted:
        click.echo(visible(str(diagnostic)), err=True)
    for line in text.split("\n"):
        click.echo(f"ir-tools: {visible(line)}", err=True)
    if "--json" in words:
        rows = [diagnostic.as_dict() for diagnostic in found]
        name = next((word for word in words if word in COMMANDS), None)
        told = {"error": text, "kind": type(error).__name__, "diagnostics": rows}
        print_json({"command": name, "ir_tools": __version__, **told})


def _text(error: Exception) -> str:
    """Return the error in words fit for a user."""
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        hint = f"; see {context.command_path} --help" if context else ""
        return " ".join(error.format_message().rstrip(".").split()) + hint
    if isinstance(error, ReadError):
        return "\n".join(map(str, error.diagnostics))
    if isinstance(error, IrToolsError):
        return " ".join(str(error).splitlines())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "there is not enough memory for this model"
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error, {reason} (run again with --debug and report the traceback)"
