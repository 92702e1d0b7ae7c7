"""What `inspect`, `migrate` and `compare` say of an `.onnx`, beyond what they say of an IR."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools.cli.app import Row
from ir_tools.display import without_build
from ir_tools.errors import IrToolsError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from ir_tools.cli.arrays import InputOptions
    from ir_tools.cli.screen import Screen
    from ir_tools.comparison.onnx import OnnxComparison
    from ir_tools.graph import Model

__all__ = ["engine_rows", "head", "is_onnx", "output_rows", "show_engines", "verify"]

KNOWN = (
    "OpenVINO's importer is known to deviate from ONNX for ceil_mode=1 and count_include_pad=1 with pads "
    "(docs/onnx-average-pooling.md); install onnxruntime for a third result"
)


def is_onnx(path: Path, weights: Path | None = None) -> bool:
    """Return whether the file is taken for ONNX.

    Raises:
        UsageError: it is, and has weights in a file of their own.
    """
    found = path.suffix.lower() == ".onnx"
    if found and weights is not None:
        raise UsageError(f"--bin is for IR; {path} is an ONNX model")
    return found


def head(path: Path) -> Row:
    """Opsets, IR version and producer of the file; `reason` alone where the `onnx` package is not installed."""
    from ir_tools.importers.onnx.about import about

    try:
        found = about(path)
    except UnsupportedError as why:
        return {"reason": str(why)}
    return {
        "ir_version": found.ir_version,
        "opsets": found.opsets,
        "producer": found.producer,
        "average_pools": found.average_pools,
    }


def verify(
    model: "Model", path: Path, inputs: "InputOptions", extensions: Sequence[Path], tolerance: float | None
) -> Row:
    """Compare the migrated model with the engines that take the `.onnx` itself; without any that ran, say why.

    An output passes if one of them, OpenVINO's own conversion or onnxruntime, agrees with it.
    """
    from ir_tools.cli.arrays import not_run
    from ir_tools.cli.screen import working
    from ir_tools.comparison.onnx import compare_engines
    from ir_tools.runtime.client import RuntimeClient

    shaped = inputs.reshaped(model, extensions)
    plan = inputs.plan(shaped)
    shared: Row = {"seed": inputs.seed, "inputs": plan.as_rows()}
    try:
        with working("running the model on all backends"), RuntimeClient(extensions=extensions) as client:
            found = compare_engines(shaped, path, plan.arrays(), tolerance=tolerance, client=client)
    except IrToolsError as error:
        return {**not_run(error), **shared}
    shared |= {"engines": engine_rows(found), "outputs": output_rows(found)}
    others = [entry for entry in found.engines[1:] if entry.ran]
    if not others:
        why = "; ".join(f"{entry.name}: {entry.reason}" for entry in found.engines[1:])
        return {**not_run(UsageError(f"no other engine ran the model: {why}")), "remarks": [], **shared}
    remarks: list[Row] = [] if found.supports_ours or len(others) > 1 else [{"text": KNOWN}]
    return {"ok": found.supports_ours, "remarks": remarks, **shared}


def engine_rows(found: "OnnxComparison") -> list[Row]:
    """Who computed, and why others did not."""
    return [{"name": entry.name, "version": entry.version, "reason": entry.reason} for entry in found.engines]


def output_rows(found: "OnnxComparison") -> list[Row]:
    """Return each output: whether all agree, who deviates, and the differences of every two."""
    return [
        {
            "name": entry.name,
            "ok": entry.ok,
            "supported": entry.supported("ir_tools"),
            "deviates": list(entry.deviates),
            "verdict": entry.verdict,
            "type": entry.element_type,
            "shapes": entry.shapes,
            "pairs": [
                {"first": pair.first, "second": pair.second, "ok": pair.ok, "reason": pair.reason}
                | {"max_abs": pair.difference and pair.difference.max_abs}
                | {"needed": pair.difference and pair.difference.needed}
                for pair in entry.pairs
            ],
        }
        for entry in found.outputs
    ]


def show_engines(screen: "Screen", engines: list[Row], outputs: list[Row]) -> None:
    """Print the table of outputs, one column for every two engines that ran, and who deviates."""
    from ir_tools.cli.screen import Column

    for engine in engines:
        if engine["reason"] is not None:
            screen.line(f"{engine['name']} did not run: {engine['reason']}", style="yellow")
    ran = [
        f"{engine['name']} {without_build(str(engine['version']))}" for engine in engines if engine["reason"] is None
    ]
    screen.heading("Largest difference between the outputs of each pair of engines")
    screen.line("ir_tools: converted by ir_tools and run on OpenVINO; openvino: converted by OpenVINO", style="dim")
    screen.line(", ".join(ran), style="dim")
    pairs: list[list[Row]] = [entry["pairs"] for entry in outputs if isinstance(entry["pairs"], list)]
    titles = list(dict.fromkeys(f"{pair['first']}:{pair['second']}" for row in pairs for pair in row))
    columns = [Column("output", fold=True), *(Column(title, right=True) for title in titles)]
    columns.append(Column("result", keep=True))
    rows = []
    for entry, own in zip(outputs, pairs, strict=True):
        cells = {f"{pair['first']}:{pair['second']}": _cell(pair) for pair in own}
        rows.append([str(entry["name"]), *(cells.get(title, "-") for title in titles), str(entry["verdict"])])
    screen.table(columns, rows, ["" if entry["ok"] else "red" for entry in outputs])
    for row in pairs:
        for pair in row:
            if pair["reason"] is not None:
                screen.line(str(pair["reason"]), style="yellow")


def _cell(pair: Row) -> str:
    from ir_tools.cli.screen import number

    value = pair["max_abs"]
    return number(value) if isinstance(value, float) else "shape"
