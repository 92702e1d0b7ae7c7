"""The functions behind `import ir_tools`: paths or models in, the runtime wired in where it is needed.

Each function imports what it needs when it is called, so that reading a model does not load the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ir_tools.errors import UsageError
from ir_tools.format.read import read as read_ir
from ir_tools.graph import Model

if TYPE_CHECKING:
    import openvino

    from ir_tools.comparison import Comparison, Sink
    from ir_tools.diagnostics import Diagnostic
    from ir_tools.execute import Precision
    from ir_tools.infer import ShapeReport
    from ir_tools.migration import Migration, MigrationStep
    from ir_tools.onnx import Translated
    from ir_tools.onnx_comparison import OnnxComparison
    from ir_tools.ops import Array
    from ir_tools.types import Shape

__all__ = [
    "compare",
    "compare_onnx",
    "migrate",
    "propagate_shapes",
    "read",
    "run",
    "to_openvino",
    "validate",
    "write",
]


def read(source: str | Path | bytes | openvino.Model, weights: bytes | str | Path | None = None) -> Model:
    """Read an IR model of version 10 or 11, or an ONNX model as IR (`ir_tools.onnx.read`).

    Args:
        source: the path of an `.xml` (its `.bin` lies beside it) or `.onnx`, the bytes of an `.xml`, or an
            `openvino.Model`.
        weights: the `.bin`, as bytes or path, where it does not lie beside the `.xml`.

    Raises:
        ReadError: the file cannot be read; its diagnostics name file, line and reason.
    """
    if isinstance(source, str | Path) and _is_onnx(source):
        if weights is not None:
            raise UsageError(f"{source}: an ONNX model takes no weights")
        return _model(source)
    if isinstance(source, str | Path | bytes):
        return read_ir(source, weights)
    from ir_tools.runtime.interop import from_openvino

    return from_openvino(source)


def write(model: Model, path: str | Path) -> None:
    """Write `path` and the `.bin` beside it: both or, on any error, neither. What was not changed keeps its bytes.

    Raises:
        WriteError: the folder is not there or cannot be written.
    """
    from ir_tools.format.write import write as write_ir

    write_ir(model, path)


def propagate_shapes(
    model: Model | str | Path, inputs: Mapping[str, str | Sequence[int] | Shape] | None = None
) -> ShapeReport:
    """Recompute the element type and partial shape of every port, bodies included, and write them into the model.

    Args:
        model: the model, changed in place, or the path of one.
        inputs: new input shapes by tensor or layer name: `"1,3,?,16..64"`, `[1, 3, -1, 64]`.

    Raises:
        ShapeError: a layer that cannot take its inputs; the diagnostics name it.
        UsageError: an unknown input, or text that is no shape.
    """
    from ir_tools import infer
    from ir_tools.runtime.ask import LayerOracle
    from ir_tools.runtime.client import RuntimeClient

    with RuntimeClient() as client:
        return infer.propagate_shapes(_model(model), inputs, ask=LayerOracle(client))


def validate(
    model: Model | str | Path | bytes,
    weights: bytes | str | Path | None = None,
    *,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    runtime: bool = False,
) -> list[Diagnostic]:
    """Everything that is wrong with an IR, in the order of its lines; empty where nothing is.

    Args:
        model: path of the `.xml`, its bytes, or a model in memory (of which what `write` would write is looked at).
        weights: path or content of the `.bin`; by default the file beside the `.xml`, or the model's own.
        select: only these codes or groups of codes (`IR103`, `IR2`).
        ignore: all but these.
        runtime: also let the installed OpenVINO read, compile and infer it, in a child process.

    Raises:
        UsageError: `select` or `ignore` name no code.
    """
    from ir_tools import validation

    return validation.validate(model, weights, select=select, ignore=ignore, runtime=runtime)


def migrate(model: Model | str | Path, to: str | None = "opset8", passes: Sequence[str] = ()) -> Migration:
    """Move a model to another opset: every step planned and proved first, then all of them, or none.

    Args:
        model: the model or the path of one; it is not changed. Of an `.onnx`, AveragePool is moved by its own meaning
            first, one step for each node, then what the frontend made of the rest.
        to: `opset8`, `opset14`, ...; None to run the passes alone.
        passes: names of passes to run before the move.

    Raises:
        MigrationError: an unknown target or pass; an ONNX node that has no exact form in the target.
    """
    from ir_tools import migration

    if not isinstance(model, Model) and _is_onnx(model):
        return _migrate_onnx(Path(model), to, passes)
    return migration.migrate(_model(model), to=to, passes=passes, in_place=not isinstance(model, Model))


def run(
    model: Model | str | Path,
    inputs: Mapping[str, Array],
    *,
    precision: Precision = "as written",
    runtime: bool = True,
) -> dict[str, Array]:
    """One inference in the numpy reference: arrays in and out by tensor name or layer name.

    A layer for which the reference has no kernel is run by the runtime, as that one layer, in a child process; a
    `RuntimeWarning` names all such layers.

    Args:
        model: the model or the path of one.
        inputs: an array for every input.
        precision: `f64` computes all floats in f64: the gold answer, which tells which of two results is closer.
        runtime: False to refuse a model with a layer without a kernel.

    Raises:
        UnsupportedError: there is such a layer, and the runtime is not to be asked.
        UsageError: an input that is missing, unknown, or of the wrong type or shape.
        RuntimeFailure: the runtime rejects such a layer or crashes.
    """
    from ir_tools import execute

    loaded = _model(model)
    missing = execute.without_kernel(loaded)
    if not runtime or not missing:
        return execute.run(loaded, inputs, precision=precision)
    from ir_tools.runtime.client import RuntimeClient
    from ir_tools.runtime.one_layer import LayerRunner

    names = ", ".join(f"'{place.path}' ({place.layer.type})" for place in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    warnings.warn(f"the reference has no kernel for {names}{more}; the runtime ran them", RuntimeWarning, stacklevel=2)
    with RuntimeClient() as client:
        return execute.run(loaded, inputs, precision=precision, fallback=LayerRunner(client))


def compare(
    model: Model | str | Path,
    other: Model | str | Path | None = None,
    inputs: Mapping[str, Array] | None = None,
    layers: bool | Collection[str] = True,
    *,
    mode: Literal["in place", "free running"] = "in place",
    seed: int = 0,
    device: str = "CPU",
    precision: str = "f32",
    against: tuple[str, str] | None = None,
    tolerance: float | None = None,
    sink: Sink | None = None,
    advance: Callable[[], None] | None = None,
) -> Comparison:
    """Compare tensors layer by layer: the reference with the runtime, two devices or precisions, two models.

    See `ir_tools.comparison.compare`.
    """
    from ir_tools import comparison

    return comparison.compare(
        _model(model),
        None if other is None else _model(other),
        inputs,
        layers,
        mode=mode,
        seed=seed,
        device=device,
        precision=precision,
        against=against,
        tolerance=tolerance,
        sink=sink,
        advance=advance,
    )


def compare_onnx(
    path: str | Path,
    inputs: Mapping[str, Array] | None = None,
    *,
    seed: int = 0,
    to: str = "opset8",
    device: str = "CPU",
    tolerance: float | None = None,
) -> OnnxComparison:
    """Compare an ONNX file three ways: our conversion, OpenVINO's own, onnxruntime; see `ir_tools.onnx_comparison`."""
    from ir_tools import onnx_comparison

    return onnx_comparison.compare_onnx(path, inputs, seed=seed, to=to, device=device, tolerance=tolerance)


def to_openvino(model: Model | str | Path) -> openvino.Model:
    """The model as an `openvino.Model`, in this process.

    Raises:
        RuntimeFailure: openvino is not installed or rejects the model.
    """
    from ir_tools.runtime.interop import to_openvino as convert

    return convert(_model(model))


def _model(source: Model | str | Path) -> Model:
    if isinstance(source, Model):
        return source
    if not _is_onnx(source):
        return read_ir(source)
    from ir_tools import onnx

    return onnx.read(source)


def _is_onnx(path: str | Path) -> bool:
    return Path(path).suffix.lower() == ".onnx"


def _migrate_onnx(path: Path, to: str | None, passes: Sequence[str]) -> Migration:
    """Steps for the nodes, then those for other layers; AvgPool layers are in the first, and no line is in the file."""
    from ir_tools import migration, onnx

    target = to or "opset8"
    found = onnx.convert(path, target)
    moved = migration.migrate(found.model, to=to, passes=passes, in_place=True)
    others = tuple(replace(step, line=None) for step in moved.steps if not _only_restamped(step))
    return replace(moved, steps=(*(_step(node, target) for node in found.nodes), *others))


def _only_restamped(step: MigrationStep) -> bool:
    return step.before.startswith("AvgPool-") and step.after.startswith("AvgPool ")


def _step(node: Translated, target: str) -> MigrationStep:
    from ir_tools.migration import MigrationStep

    return MigrationStep(
        path=node.name,
        layer_id=None,
        line=None,
        before="AveragePool",
        after=f"AvgPool {target}" if node.layers == "AvgPool" else node.layers,
        how=node.how,
        proof=node.proof,
        notes=node.notes,
    )
