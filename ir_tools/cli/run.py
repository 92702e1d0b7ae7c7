"""`ir-tools run`: one inference, by the numpy reference or by the runtime."""

import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

import ir_tools
from ir_tools.cli.app import Answer, Row, command
from ir_tools.cli.arrays import load_inputs
from ir_tools.cli.loading import load
from ir_tools.cli.options import inputs_option, model_argument, seed_option
from ir_tools.errors import UsageError

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.graph import Model
    from ir_tools.ops import Array

__all__ = ["run"]

FIRST = 5
"""How many values of an output are shown."""


@command("run", example="ir-tools run model.xml --input data=image.npy --engine runtime -o out.npz")
@model_argument()
@inputs_option
@seed_option
@click.option(
    "--engine",
    type=click.Choice(["reference", "runtime"]),
    default="reference",
    show_default=True,
    help="Who computes: numpy, or the installed OpenVINO in a child process.",
)
@click.option("--f64", "gold", is_flag=True, help="Let the reference compute all floats in f64: the gold answer.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT.npz", help="Write the outputs by name.")
def run(
    model: Path, inputs: tuple[tuple[str, str], ...], seed: int, engine: str, gold: bool, output: Path | None
) -> Answer:
    """Run MODEL once and show its outputs."""
    from ir_tools.cli.screen import working
    from ir_tools.execute import without_kernel
    from ir_tools.inputs import complete_inputs

    if gold and engine != "reference":
        raise click.UsageError("--f64 is for the reference")
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"{output.parent}: there is no such folder")
    loaded = load(model)
    fed = complete_inputs(loaded, load_inputs(inputs, loaded), seed=seed)
    missing = [place.path for place in without_kernel(loaded)] if engine == "reference" else []
    with working(f"running on the {engine}"):
        outputs = _on_reference(loaded, fed, gold) if engine == "reference" else _on_runtime(loaded, fed)
    if output is not None:
        _save(output, outputs)
    data: Row = {
        "file": str(model),
        "engine": engine,
        "by_runtime": missing,
        "seed": seed,
        "inputs": [_summary(name, array) for name, array in fed.items()],
        "outputs": [_summary(name, array) for name, array in outputs.items()],
        "written": None if output is None else str(output),
    }
    return Answer(data, lambda screen: _show(screen, data))


def _on_reference(model: "Model", fed: "Mapping[str, Array]", gold: bool) -> "dict[str, Array]":
    """The layers without a kernel are told in the answer, not as a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return ir_tools.run(model, fed, precision="f64" if gold else "as written")


def _on_runtime(model: "Model", fed: "Mapping[str, Array]") -> "dict[str, Array]":
    from ir_tools.runtime.client import RuntimeClient

    with RuntimeClient() as client:
        return client.infer_model(model, fed).outputs


def _save(path: Path, arrays: "Mapping[str, Array]") -> None:
    """A .npz whose names are those of the outputs, whatever they are."""
    import numpy as np

    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array)


def _summary(name: str, array: "Array") -> Row:
    """Shape, type, range, mean and first values; nothing but the first two and the last for texts."""
    import numpy as np

    from ir_tools.types import from_dtype

    head: Row = {"name": name, "shape": list(array.shape), "first": array.ravel()[:FIRST]}
    if array.dtype.kind in "OUST" or not array.size:
        kind = "string" if array.dtype.kind in "OUST" else str(from_dtype(array.dtype))
        return {**head, "type": kind, "min": None, "max": None, "mean": None, "nan": 0}
    wide = array.astype(np.float64)
    known = wide[~np.isnan(wide)]
    ends = (known.min(), known.max(), known.mean()) if known.size else (None, None, None)
    return {
        **head,
        "type": str(from_dtype(array.dtype)),
        **dict(zip(("min", "max", "mean"), ends, strict=True)),
        "nan": int(wide.size - known.size),
    }


def _show(screen: "Screen", data: Row) -> None:
    from ir_tools.cli.screen import Column

    names = ("min", "max", "mean")
    columns = [Column(""), Column("name", fold=True), Column("type"), Column("shape")]
    columns += [*(Column(name, right=True) for name in names), Column("first values", spare=True)]
    rows = []
    for side in ("inputs", "outputs"):
        entries = data[side]
        assert isinstance(entries, list)
        rows += [
            [
                side[:-1],
                entry["name"],
                entry["type"],
                ",".join(map(str, entry["shape"])) or "[]",
                *(_value(entry[name]) for name in names),
                " ".join(_value(value) for value in entry["first"])
                + (f"  ({entry['nan']} NaN)" if entry["nan"] else ""),
            ]
            for entry in entries
        ]
    screen.table(columns, rows)
    screen.line()
    screen.line(f"computed by the {data['engine']}; inputs without a file from seed {data['seed']}", style="dim")
    if data["by_runtime"]:
        assert isinstance(data["by_runtime"], list)
        screen.line(f"without a kernel, run by the runtime alone: {', '.join(data['by_runtime'])}", style="yellow")
    if data["written"]:
        screen.line(f"wrote {data['written']}")


def _value(value: object) -> str:
    if value is None:
        return "-"
    text = str(value)
    return text if isinstance(value, str) or text in {"True", "False"} else f"{float(text):.4g}"
