"""`ir-tools run`: one inference or several in a row, by the numpy reference or by the runtime."""

import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

import ir_tools
from ir_tools.cli.app import Answer, Row, command
from ir_tools.cli.arrays import InputOptions, listing_made_up, show_plan
from ir_tools.cli.loading import load_current
from ir_tools.cli.options import (
    bin_option,
    extension_option,
    input_options,
    model_argument,
    release_options,
    states_option,
)
from ir_tools.cli.paths import OutputFile
from ir_tools.cli.releases import ReleaseOptions, located
from ir_tools.cli.steps import STATE, load_states, plans_by_step
from ir_tools.display import quoted_names
from ir_tools.errors import IrToolsError, UsageError
from ir_tools.files import write_file

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.execute import Engine, Precision
    from ir_tools.inputs import InputPlan
    from ir_tools.ops import Array

__all__ = ["run"]

FIRST = 5
"""How many values of a tensor are shown."""
MAX_STEPS = 100_000
"""The answer lists the tensors of each step, so more would not fit into memory."""
SHOWN = 4
"""Steps that are shown at the start and at the end."""


@command("run", example="ir-tools run model.xml --input data=image.npy --engine runtime -o out.npz")
@model_argument()
@bin_option()
@input_options
@click.option(
    "--steps",
    type=click.IntRange(min=1, max=MAX_STEPS),
    metavar="N",
    help=(
        "Run N times in a row; variables keep their values. Repeat --input for one name to set its values for the "
        "first steps, or pass an array with an additional first dimension for the steps."
    ),
)
@states_option
@click.option(
    "--engine",
    type=click.Choice(["reference", "runtime"]),
    help=(
        "The engine: reference (numpy, the default), or runtime (OpenVINO in a child process, the default with "
        "--runtime)."
    ),
)
@release_options
@click.option(
    "--f64", "gold", is_flag=True, help="Let the reference compute all floats in f64, for the most accurate result."
)
@extension_option
@click.option(
    "-o", "--output", type=OutputFile(".npz"), metavar="OUT.npz", help="Write the outputs and states, by name."
)
def run(
    model: Path,
    weights: Path | None,
    inputs: InputOptions,
    steps: int | None,
    states: tuple[tuple[str, str], ...],
    engine: "Engine | None",
    release: ReleaseOptions,
    gold: bool,
    extensions: tuple[Path, ...],
    output: Path | None,
) -> Answer:
    """Run MODEL and show its outputs, and the values that its variables have afterwards."""
    from ir_tools.cli.screen import working
    from ir_tools.execute import without_kernel

    release.require_name()
    engine = engine or ("runtime" if release.given else "reference")
    if release.given and engine == "reference":
        raise click.UsageError("--runtime needs --engine runtime; leave out --engine reference")
    if gold and engine != "reference":
        raise click.UsageError("--f64 is for the reference")
    loaded = inputs.reshaped(load_current(model, weights, extensions), extensions)
    plans = plans_by_step(inputs, loaded, steps)
    fed: list[Row] = []
    found: list[Row] = []
    kept: dict[str, Array] = {}
    precision: Precision = "f64" if gold else "as written"
    client = release.runtime(extensions)
    session = ir_tools.Session(loaded, engine=engine, precision=precision, extensions=extensions)
    session.states.update(load_states(states))
    if client is not None:
        session.use(client)
    with (
        session,
        listing_made_up(plans[0]),
        located(loaded, client),
        working(f"running on the {engine}", steps) as advance,
    ):
        for step in range(1, (steps or 1) + 1):
            plan = plans[min(step, len(plans)) - 1]
            arrays = plan.arrays(step - 1)
            outputs = _run_step(session, arrays, plan, step)
            fed += [{**entry.as_dict(), **_summary(entry.name, arrays[entry.name], step)} for entry in plan.inputs]
            found += [_summary(name, array, step) for name, array in outputs.items()]
            if output is not None:
                kept |= {name if steps is None else f"step{step}/{name}": array for name, array in outputs.items()}
            advance()
    if output is not None:
        kept |= {f"{STATE}{name}": array for name, array in session.states.items()}
        write_file(output, lambda file: _save(file, kept))
    missing = [place.path for place in without_kernel(loaded)] if engine == "reference" else []
    data: Row = {
        "file": str(model),
        "engine": engine,
        "release": None if client is None else client.release.name,
        "by_runtime": missing,
        "seed": inputs.seed,
        "steps": steps or 1,
        "inputs": fed,
        "outputs": found,
        "states": [_summary(name, array, steps or 1) for name, array in session.states.items()],
        "written": None if output is None else str(output),
    }
    return Answer(data, lambda screen: _show(screen, data, plans[0]))


def _run_step(
    session: "ir_tools.Session", arrays: "Mapping[str, Array]", plan: "InputPlan", step: int
) -> "dict[str, Array]":
    """Run once; the layers without a kernel are listed in the answer, not in a warning.

    Raises:
        UsageError: a later step fails on inputs that were made up for the first.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return session.run(arrays)
        except IrToolsError as why:
            made_up = [entry.name for entry in plan.inputs if entry.values_chosen]
            if step == 1 or not made_up:
                raise
            raise UsageError(
                f"step {step}: {why}; the sizes of the states have changed, but those of the generated inputs "
                f"have not: pass values for each step with --input NAME=FILE ({quoted_names(made_up)})"
            ) from None


def _save(file: IO[bytes], arrays: "Mapping[str, Array]") -> None:
    """Write a .npz whose names are those of the outputs, whatever they are."""
    import numpy as np

    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array)


def _summary(name: str, array: "Array", step: int) -> Row:
    """Return shape, type, range, mean and first values; nothing but the first two and the last for texts."""
    import numpy as np

    from ir_tools.types import from_dtype

    head: Row = {"name": name, "step": step, "shape": list(array.shape), "first": array.ravel()[:FIRST]}
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


def _show(screen: "Screen", data: Row, plan: "InputPlan") -> None:
    from ir_tools.cli.screen import Column

    steps = data["steps"]
    assert isinstance(steps, int)
    names = ("min", "max", "mean")
    columns = [Column(""), Column("name", fold=True), Column("type"), Column("shape")]
    columns += [*(Column(name, right=True) for name in names), Column("first values", spare=True)]
    left_out = range(SHOWN + 1, steps - SHOWN + 1)
    rows = []
    for side in ("inputs", "outputs", "states"):
        entries = data[side]
        assert isinstance(entries, list)
        rows += [
            [
                side[:-1] if steps == 1 or side == "states" else f"{side[:-1]} {entry['step']}",
                entry["name"],
                entry["type"],
                ",".join(map(str, entry["shape"])) or "[]",
                *(_value(entry[name]) for name in names),
                " ".join(_value(value) for value in entry["first"])
                + (f"  ({entry['nan']} NaN)" if entry["nan"] else ""),
            ]
            for entry in entries
            if entry["step"] not in left_out
        ]
    screen.table(columns, rows)
    if left_out:
        screen.line(f"steps {left_out[0]} to {left_out[-1]} are not shown; -o and --json contain them", style="dim")
    show_plan(screen, plan)
    screen.line()
    engine = data["release"] or f"the {data['engine']}"
    screen.line(f"computed by {engine}, seed {data['seed']}", style="dim")
    if data["by_runtime"]:
        assert isinstance(data["by_runtime"], list)
        screen.line(
            f"layers without a kernel, computed by the runtime: {', '.join(data['by_runtime'])}", style="yellow"
        )
    if data["written"]:
        screen.line(f"wrote {data['written']}")


def _value(value: object) -> str:
    if value is None:
        return "-"
    text = str(value)
    return text if isinstance(value, str) or text in {"True", "False"} else f"{float(text):.4g}"
