"""Arguments and options that several commands take, read in one place."""

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from ir_tools.cli.paths import InputPath, ModelPath, OutputModel, Reading
from ir_tools.display import quoted
from ir_tools.errors import UsageError

__all__ = [
    "bin_option",
    "extension_option",
    "input_options",
    "install_option",
    "model_argument",
    "output_option",
    "python_option",
    "shapes_option",
    "states_option",
    "tolerance_option",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Named(click.ParamType[tuple[str, str]]):
    """`NAME=VALUE` as a pair of texts."""

    def __init__(self, value: str) -> None:
        """`value`: what stands behind the sign, for messages (`SHAPE`)."""
        self.name = f"NAME={value}"

    def get_metavar(self, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return `NAME=SHAPE`."""
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return the name and the text behind the last sign."""
        if isinstance(value, tuple):
            return value
        name, sign, text = str(value).rpartition("=")
        if not sign or not name or not text:
            option = "" if param is None else f"{param.opts[-1]} "
            raise UsageError(f"{option}'{value}': expected {self.get_metavar(param, ctx)}")
        return name, text


class StateFile(Named, Reading[tuple[str, str]]):
    """`NAME=FILE`, or a `.npz` alone, as a pair of texts; the name of the latter is empty."""

    def __init__(self) -> None:
        """Read the words of `--state`."""
        super().__init__("FILE")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return the name and the file."""
        if isinstance(value, str) and "=" not in value and value.lower().endswith(".npz"):
            return "", value
        return super().convert(value, param, ctx)

    def reads(self, value: tuple[str, str]) -> Iterable[Path]:
        """Yield the file."""
        yield Path(value[1])


class InputShape(Named):
    """`NAME=SHAPE`, or a shape alone, whose name is empty, as a pair of texts."""

    def __init__(self) -> None:
        """Read the words of `--set`."""
        super().__init__("SHAPE")

    def get_metavar(self, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return `[NAME=]SHAPE`."""
        return "[NAME=]SHAPE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return the name and the shape."""
        if isinstance(value, str) and value and "=" not in value:
            return "", value
        return super().convert(value, param, ctx)


class InputValues(Reading[str]):
    """`NAME=FILE`, `NAME=GENERATOR`, or either alone; names may hold the sign, and the model decides where they end."""

    name = "[NAME=]VALUES"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text; UsageError if nothing is in it but a name."""
        if str(value).endswith("=") or not value:
            raise UsageError(f"--input '{value}': expected a file or a generator such as uniform:0:255 as the value")
        return str(value)

    def reads(self, value: str) -> Iterable[Path]:
        """Yield all that may be the file."""
        words = value.split("=")
        yield from (Path("=".join(words[start:])) for start in range(len(words)))


def model_argument(name: str = "model", *, required: bool = True) -> Decorator:
    """Add `MODEL`."""
    return click.argument(
        name, type=ModelPath(), metavar=name.upper() if required else f"[{name.upper()}]", required=required
    )


def bin_option(name: str = "bin") -> Decorator:
    """Add `--bin FILE`, as the argument `weights` of the command, or `--other-bin FILE`."""
    of = "OTHER" if name == "other-bin" else "MODEL"
    return click.option(
        f"--{name}",
        name.replace("bin", "weights").replace("-", "_"),
        type=InputPath(),
        metavar="FILE",
        help=f"The weights of {of}, if not in the .bin beside it.",
    )


def output_option(help_text: str) -> Decorator:
    """Add `-o OUT.xml`."""
    return click.option("-o", "--output", type=OutputModel(may_replace_model=True), metavar="OUT.xml", help=help_text)


def shapes_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--set NAME=1,3,?,16..64`, any number of times."""
    return click.option(
        "--set",
        "shapes",
        type=InputShape(),
        multiple=True,
        callback=_named_once,
        help=(
            "New shape of an input: sizes, ? for an unknown size, 16..64 for an interval. NAME may be left out if "
            "the model has one input. May be repeated."
        ),
    )(function)


def _named_once(
    _: click.Context, parameter: click.Parameter, pairs: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs; UsageError if two have one name."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            whose = f"input '{quoted(name)}'" if name else "the input"
            raise UsageError(f"{parameter.opts[-1]}: {whose} has {count} shapes; leave out all but one")
    return pairs


def extension_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--extension LIB`, any number of times."""
    return click.option(
        "--extension",
        "extensions",
        type=InputPath(),
        multiple=True,
        metavar="LIB",
        callback=_loadable,
        help="Extension library for OpenVINO to load. May be repeated.",
    )(function)


def _loadable(ctx: click.Context, parameter: click.Parameter, libraries: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the libraries if OpenVINO, where it is installed, can load them in a child process."""
    if libraries:
        from ir_tools.runtime.client import RuntimeClient
        from ir_tools.runtime.installed import openvino_version

        if openvino_version() is not None:
            RuntimeClient(extensions=libraries).close()
    return libraries


def input_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options about inputs, as one argument `inputs` of the command."""

    @functools.wraps(function)
    def gathered(texts: tuple[str, ...], seed: int, shapes: tuple[tuple[str, str], ...], **arguments: Any) -> Any:
        from ir_tools.cli.arrays import InputOptions
        from ir_tools.cli.images import ImageOptions

        given = {name: arguments.pop(name) for name in IMAGE_OPTIONS}
        empty = next((name for name, values in given.items() if "" in values), None)
        if empty is not None:
            raise UsageError(f"--{empty} '': expected {IMAGE_OPTIONS[empty][0]}")
        images = ImageOptions(**given)
        return function(inputs=InputOptions(texts, seed, shapes, images), **arguments)

    described: Callable[..., Any] = gathered
    for name, (metavar, text) in reversed(IMAGE_OPTIONS.items()):
        described = click.option(f"--{name}", name, multiple=True, metavar=metavar, help=text)(described)
    described = click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed for generated values."
    )(described)
    described = shapes_option(described)
    return click.option(
        "--input",
        "texts",
        type=InputValues(),
        multiple=True,
        help=(
            "Values of an input: a .npy, .npz or image, or a generator such as uniform:0:255, normal, ones, zeros, "
            "integers:0:9, constant:0.5, image. A .npz without NAME provides every array in it. May be repeated."
        ),
    )(described)


IMAGE_OPTIONS = {
    "layout": ("[NAME=]AXES", "Order of the axes of an image input: NCHW, NHWC."),
    "mean": ("[NAME=]NUMBERS", "Subtract this from an image: one number, or one per channel (123.7,116.3,103.5)."),
    "scale": ("[NAME=]NUMBERS", "Divide an image by this after --mean: one number, or one per channel."),
    "color": ("[NAME=]ORDER", "Order of the channels of an image: rgb (the default) or bgr."),
}
"""Of images among the inputs: the option, how its value is written, what it does."""


def release_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--runtime`, `--runtime-python` and `--install`, as one argument `release` of the command."""

    @functools.wraps(function)
    def gathered(release_name: str | None, python: Path | None, install: bool, **arguments: Any) -> Any:
        from ir_tools.cli.releases import ReleaseOptions

        return function(release=ReleaseOptions(release_name, python, install), **arguments)

    name = click.option(
        "--runtime",
        "release_name",
        metavar="NAME",
        help=(
            "Release to run on, such as openvino-2024.6 (ir-tools runtimes lists them). Default: the installed "
            "OpenVINO, or inference-engine-2020.1 for a model of IR v2 to v7."
        ),
    )
    return name(python_option(install_option(gathered)))


python_option = click.option(
    "--runtime-python", "python", type=InputPath(), metavar="PATH", help="The Python that has this release installed."
)
install_option = click.option("--install", is_flag=True, help="Install the release first if necessary.")


def tolerance_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--tolerance`."""
    return click.option(
        "--tolerance", type=click.FloatRange(min=0), help="Tolerance, relative to the largest magnitude of each tensor."
    )(function)


def states_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--state ID=FILE`, any number of times."""
    return click.option(
        "--state",
        "states",
        type=StateFile(),
        multiple=True,
        help=(
            "Value of a variable before the run, as a .npy. A .npz without NAME provides every state in it. May be "
            "repeated."
        ),
    )(function)
