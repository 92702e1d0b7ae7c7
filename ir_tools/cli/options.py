"""Arguments and options that several commands take, read in one place."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ir_tools.errors import UsageError

__all__ = ["XmlPath", "inputs_option", "model_argument", "output_option", "seed_option", "shapes_option", "similar"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class ModelPath(click.ParamType[Path]):
    """The path of an IR's `.xml` or of an `.onnx` that is there."""

    name = "model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; UsageError, with what is wrong with it, otherwise."""
        del param, ctx
        path = Path(value)
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name an .xml{_listed(path)}")
        if not path.exists():
            raise UsageError(f"{path}: there is no such file{similar(path)}")
        if path.suffix.lower() == ".bin":
            raise UsageError(f"{path} holds weights; name the .xml beside it")
        return path


class XmlPath(click.ParamType[Path]):
    """The path of an `.xml` to write, in a folder that is there."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; UsageError, with what is wrong with it, otherwise."""
        del param, ctx
        path = Path(value)
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name the .xml to write")
        if path.suffix.lower() != ".xml":
            raise UsageError(f"{path} does not end in .xml; the weights go into the .bin beside it")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: there is no such folder")
        return path


class Named(click.ParamType[tuple[str, str]]):
    """`NAME=VALUE` as a pair of texts."""

    def __init__(self, value: str) -> None:
        """`value`: what stands behind the sign, for messages (`SHAPE`)."""
        self.name = f"NAME={value}"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """`NAME=SHAPE`."""
        del param, ctx
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The name and the text behind the first sign."""
        del param, ctx
        if isinstance(value, tuple):
            return value
        name, sign, text = str(value).partition("=")
        if not sign or not name or not text:
            raise UsageError(f"'{value}' is not {self.name}")
        return name, text


class InputFile(Named):
    """`NAME=FILE`, or a `.npz` alone, as a pair of texts; the name of the latter is empty."""

    def __init__(self) -> None:
        """The words of `--input`."""
        super().__init__("FILE")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The name and the file."""
        if isinstance(value, str) and "=" not in value and value.lower().endswith(".npz"):
            return "", value
        return super().convert(value, param, ctx)


def _listed(folder: Path) -> str:
    files = sorted(path.name for path in folder.glob("*.xml"))[:3]
    return f" in it, such as {files[0]}" if files else ""


def similar(path: Path) -> str:
    """What a path that is not there may be meant for, as the end of a message; empty where nothing is like it."""
    if not path.parent.is_dir():
        return ""
    names = [entry.name for entry in path.parent.iterdir() if entry.suffix in {".xml", ".onnx"}]
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {path.with_name(close[0])}?" if close else ""


def model_argument(name: str = "model", *, required: bool = True) -> Decorator:
    """`MODEL`."""
    return click.argument(
        name, type=ModelPath(), metavar=name.upper() if required else f"[{name.upper()}]", required=required
    )


def output_option(help_text: str) -> Decorator:
    """`-o OUT.xml`."""
    return click.option("-o", "--output", type=XmlPath(), metavar="OUT.xml", help=help_text)


def shapes_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--set NAME=1,3,?,16..64`, any number of times."""
    return click.option(
        "--set",
        "shapes",
        type=Named("SHAPE"),
        multiple=True,
        help="New shape of an input: sizes, ? for any, 16..64 for an interval. May be repeated.",
    )(function)


def inputs_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--input NAME=FILE`, any number of times."""
    return click.option(
        "--input",
        "inputs",
        type=InputFile(),
        multiple=True,
        help="Values of an input: .npy, .npz or an image; a .npz alone gives all its arrays. May be repeated.",
    )(function)


def seed_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--seed N`."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of random inputs."
    )(function)
