"""The functions behind `import ir_tools`: paths or models in, the runtime wired in.

Each function imports what it needs when it is called, so that reading a model does not load the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools import parameters
from ir_tools.arguments import word_list
from ir_tools.errors import UsageError
from ir_tools.graph import Model
from ir_tools.parameters import checked, optional
from ir_tools.session import Session, is_onnx, load_model, path_or_bytes

if TYPE_CHECKING:
    import openvino

    from ir_tools.comparison import Comparison, ReferenceMode, Sink
    from ir_tools.comparison.onnx import OnnxComparison
    from ir_tools.compatibility import CompatibilityReport
    from ir_tools.execute import Precision
    from ir_tools.findings import Findings
    from ir_tools.infer import ShapeReport
    from ir_tools.inputs import InputPlan, InputValue
    from ir_tools.onnx import Translated
    from ir_tools.ops import Array
    from ir_tools.rewrite.migration import Migration
    from ir_tools.rewrite.steps import MigrationStep
    from ir_tools.runtime.environments import Runtimes
    from ir_tools.runtime.extensions import Extensions
    from ir_tools.runtime.setting import RuntimePrecision
    from ir_tools.session import File, ModelSource
    from ir_tools.types import Shapes

__all__ = [
    "compare",
    "compare_onnx",
    "compat",
    "migrate",
    "plan_inputs",
    "propagate_shapes",
    "read",
    "run",
    "runtimes",
    "to_openvino",
    "validate",
    "write",
]


@checked(source=parameters.SOURCE, weights=optional(parameters.WEIGHTS))
def read(source: ModelSource, weights: bytes | File | None = None) -> Model:
    """Read an IR model of version 10 or 11, or an ONNX model as IR (`ir_tools.onnx.read`).

    Args:
        source: the path of an `.xml` (with its `.bin` beside it) or `.onnx`, the bytes of an `.xml`, or an
            `openvino.Model`. A model of ir_tools is returned as it is.
        weights: the `.bin`, as bytes or path, if it is not beside the `.xml`.

    Returns:
        The model. Its weights are mapped, not loaded.

    Raises:
        ReadError: the file cannot be read; the diagnostics name file, line and reason.
        UsageError: an argument of the wrong type, or weights for a source that has its own.
        RuntimeFailure: OpenVINO, which converts ONNX models, is not installed or crashes.

    Example:
        >>> model = ir_tools.read("model.xml")
        >>> model
        Model('small', IR v11, 3 layers, model.xml)
        >>> [layer.type for layer in model.graph.layers()]
        ['Parameter', 'AvgPool', 'Result']
    """
    return load_model(source, weights=weights)


@checked(model=parameters.MODEL, path=parameters.PATH, overwrite=parameters.FLAG)
def write(model: Model, path: File, *, overwrite: bool = True) -> None:
    """Write an `.xml` and the `.bin` beside it: both, or on any error neither. What was not changed keeps its bytes.

    Args:
        model: the model; one that was read without the `.bin` that it needs, or with a part of it, is not written.
        path: of the `.xml`; it may be the file that the model was read from.
        overwrite: False to refuse to replace files that exist.

    Raises:
        WriteError: the files cannot be written, or a `.bin` exists there without its `.xml`.
        UsageError: an argument of the wrong type.

    Example:
        >>> model = ir_tools.read("model.xml")
        >>> model.graph.rename(1, "average")
        >>> ir_tools.write(model, "renamed.xml")
    """
    from ir_tools.format.write import write as write_ir

    write_ir(model, Path(path), overwrite=overwrite)


@checked(
    model=parameters.SOURCE,
    inputs=optional(parameters.INPUT_SHAPES),
    in_place=parameters.FLAG,
    extensions=parameters.EXTENSIONS,
)
def propagate_shapes(
    model: ModelSource,
    inputs: Shapes | None = None,
    *,
    in_place: bool = False,
    extensions: Extensions = (),
) -> ShapeReport:
    """Recompute the element type and partial shape of every port, bodies included.

    Args:
        model: the model, or what `read` takes.
        inputs: new input shapes by tensor or layer name: `"1..8,3,?,?"`, `[1, 3, -1, 64]`.
        in_place: also write the new types and shapes into the model.
        extensions: libraries with operations of others, for the runtime to load.

    Returns:
        The shape of every port, where it comes from, and what the model records differently.

    Raises:
        ShapeError: a layer cannot take its inputs; the diagnostics name it. The model is unchanged.
        ReadError: the file cannot be read.
        UsageError: an unknown input, a text that is not a shape, or `in_place` without a model to change.

    Example:
        >>> report = ir_tools.propagate_shapes("model.xml", {"data": "1..4,2,?,8"})
        >>> report
        ShapeReport(4 ports: 4 by rule, 4 differ from the record)
        >>> ", ".join(map(str, report.shapes["pool", 1]))
        '1..4, 2, 1.., 4'
    """
    from ir_tools import infer
    from ir_tools.rewrite.legacy import LegacyShapes
    from ir_tools.runtime.ask import LayerOracle
    from ir_tools.runtime.client import RuntimeClient

    if in_place and not isinstance(model, Model):
        raise UsageError(
            "propagate_shapes: in_place=True changes a Model, not a file; pass ir_tools.read(path), and write "
            "the model afterwards"
        )
    loaded = load_model(model, extensions)
    with RuntimeClient(extensions=extensions) as client:
        ask = LegacyShapes(loaded, inputs or {}) if loaded.is_legacy else LayerOracle(client)
        return infer.propagate_shapes(loaded, inputs, ask=ask, in_place=in_place)


@checked(
    model=parameters.SOURCE,
    weights=optional(parameters.WEIGHTS),
    select=parameters.CODES,
    ignore=parameters.CODES,
    runtime=parameters.RUNTIME,
    extensions=parameters.EXTENSIONS,
    shapes=optional(parameters.INPUT_SHAPES),
)
def validate(
    model: ModelSource,
    weights: bytes | File | None = None,
    *,
    select: str | Collection[str] = (),
    ignore: str | Collection[str] = (),
    runtime: bool | str = False,
    extensions: Extensions = (),
    shapes: Shapes | None = None,
) -> Findings:
    """List everything that is wrong with an IR, in the order of its lines.

    Args:
        model: the path of the `.xml`, its bytes, or a model in memory, which is checked as `write` would write it.
        weights: the `.bin`, as path or bytes; by default the file beside the `.xml`, or the model's own.
        select: only these rules: codes (`IR103`), beginnings of codes (`IR2`) or names; by default all.
        ignore: leave out these rules. Of `select` and `ignore`, the longer word decides about a rule.
        runtime: also let the installed OpenVINO, or a release of this name (`"openvino-2024.6"`), read, compile and run
            the model, in a child process.
        extensions: libraries with operations of others, for the runtime to load.
        shapes: with `runtime`, of inputs that it runs with, in place of those in the file.

    Returns:
        The findings; empty if nothing is wrong.

    Raises:
        UsageError: `select` or `ignore` name an unknown rule, an extension cannot be loaded, an argument has the wrong
            type.
        RuntimeFailure: `runtime` is asked for and OpenVINO is not installed.

    Example:
        >>> for finding in ir_tools.validate("broken.xml"):
        ...     print(finding.code, finding.line, finding.path, finding.help)
        IR204 9 pool call it exclude-pad
    """
    from ir_tools import validation
    from ir_tools.findings import Findings

    if isinstance(model, str | PathLike) and is_onnx(model):
        raise UsageError(f"validate: {model} is an ONNX file, but validate checks IR; pass ir_tools.read(path)")
    source = path_or_bytes(model) if isinstance(model, str | PathLike | bytes) else load_model(model, extensions)
    given = None if weights is None else path_or_bytes(weights)
    return Findings(
        validation.validate(
            source, given, select=select, ignore=ignore, runtime=runtime, extensions=extensions, shapes=shapes
        )
    )


@checked(
    model=parameters.SOURCE,
    to=optional(parameters.TARGET),
    passes=parameters.NAMES,
    shapes=optional(parameters.INPUT_SHAPES),
    int8=parameters.FLAG,
    extensions=parameters.EXTENSIONS,
)
def migrate(
    model: ModelSource,
    to: str | None = "opset8",
    passes: str | Sequence[str] = (),
    *,
    shapes: Shapes | None = None,
    int8: bool = False,
    extensions: Extensions = (),
) -> Migration:
    """Migrate a model to another opset or IR version, or for a release of OpenVINO.

    Every step is planned and proved first; then all are made, or none.

    Args:
        model: the model, which is not changed, or what `read` takes. Of an `.onnx`, AveragePool is migrated by its own
            meaning first, one step for each node, then what OpenVINO made of the rest.
        to: an opset, `opset8`; an IR version, `ir10` or `ir11`; a release that the model is to run on,
            `openvino-2021.4`: what it reads stays as it is; None to run the passes alone.
        passes: names of passes to run before the migration.
        shapes: new input shapes of the migrated model, as for `propagate_shapes`: a release before 2022.1 takes fixed
            sizes only.
        int8: of a model of IR v2 to v7 with `<statistics>`: put FakeQuantize where they made it run in INT8.
        extensions: libraries with operations of others, for the conversion of an `.onnx`.

    Returns:
        The migrated model, the steps with their proofs, and what was refused.

    Raises:
        MigrationError: an unknown target or pass; an ONNX node without an exact form in the target.
        ReadError: the file, or a constant that a rewrite depends on, cannot be read.
        ShapeError: a layer that cannot take its new inputs.
        UsageError: an argument of the wrong type; an unknown release; shapes of a model of IR v2 to v7.

    Example:
        >>> migration = ir_tools.migrate("model.xml", to="opset8")
        >>> migration
        Migration(1 step, 0 refused)
        >>> print(migration.steps[0].path, migration.steps[0].after, "because of", migration.steps[0].proof)
        pool AvgPool opset8 because of equal windows on 8x8 (equal attributes)
        >>> ir_tools.write(migration.model, "migrated.xml")
    """
    from ir_tools.rewrite import migration
    from ir_tools.rewrite.legacy import migrate_legacy

    if not int8 and isinstance(model, str | PathLike) and is_onnx(model):
        return _migrate_onnx(Path(model), to, passes, shapes, extensions)
    loaded = load_model(model)
    if loaded.is_legacy:
        if shapes:
            raise UsageError(f"shapes are for IR v10 and v11; this model is IR v{loaded.version}: migrate it first")
        return migrate_legacy(loaded, to, passes, int8=int8)
    if int8:
        raise UsageError(f"int8 is for models of IR v2 to v7; this one is IR v{loaded.version}")
    shaped = reshaped(loaded, shapes, extensions)
    return migration.migrate(shaped, to=to, passes=passes, in_place=not isinstance(model, Model))


@checked(
    model=parameters.SOURCE,
    inputs=optional(parameters.INPUT_VALUES),
    shapes=optional(parameters.INPUT_SHAPES),
    seed=parameters.SEED,
    extensions=parameters.EXTENSIONS,
)
def plan_inputs(
    model: ModelSource,
    inputs: Mapping[str, InputValue] | None = None,
    *,
    shapes: Shapes | None = None,
    seed: int = 0,
    extensions: Extensions = (),
) -> InputPlan:
    """Choose what each input of a model gets: what is given, and for the rest sizes and values that suit the model.

    Args:
        model: the model, or what `read` takes.
        inputs: arrays or generators (`"uniform:0:255"`) by tensor name or layer name.
        shapes: new input shapes, as for `propagate_shapes`.
        seed: of the values that are made up.
        extensions: libraries with operations of others, for the runtime to load.

    Returns:
        The plan: `.inputs` says for each input its shape, its values and why; `.arrays(sample)` makes the arrays.

    Raises:
        ShapeError: a layer that cannot take the new shapes.
        ReadError: the file cannot be read.
        UsageError: an input that the model does not have or that does not take the array; a wrong argument.

    Example:
        >>> plan = ir_tools.plan_inputs("model.xml", {"data": "uniform:0:255"})
        >>> plan.arrays()["data"].shape
        (1, 2, 8, 8)
        >>> outputs = ir_tools.run("model.xml", plan.arrays())
    """
    from ir_tools import inputs as planning
    from ir_tools.rewrite.legacy import current_model

    given = current_model(load_model(model, extensions))
    return planning.plan_inputs(reshaped(given, shapes, extensions), inputs, seed=seed)


@checked(
    model=parameters.SOURCE,
    inputs=optional(parameters.INPUT_VALUES),
    seed=parameters.SEED,
    precision=parameters.TEXT,
    runtime=parameters.RUNTIME,
    extensions=parameters.EXTENSIONS,
)
def run(
    model: ModelSource,
    inputs: Mapping[str, InputValue] | None = None,
    *,
    seed: int = 0,
    precision: Precision = "as written",
    runtime: bool | str = True,
    extensions: Extensions = (),
) -> dict[str, Array]:
    """Run one inference, in numpy or on a release: arrays in and out by tensor name or layer name.

    Variables have their initial values; `Session` keeps them from run to run, and runs on either engine. In numpy, a
    layer without a kernel is run by the runtime, as that one layer, in a child process; a `RuntimeWarning` names all
    such layers.

    Args:
        model: the model, or what `read` takes.
        inputs: an array for every input, of any type whose values the input can hold, or a generator of values
            (`"uniform:0:255"`); None: those that `plan_inputs` makes up.
        seed: of the values of generators and of what is made up.
        precision: `as written`, `f32` or `f64`; `f64` computes all floats in f64, to decide which of two results is
            closer.
        runtime: False to refuse a model with a layer without a kernel; a name (`"openvino-2024.6"`) to run the whole
            model on that release, and not in numpy.
        extensions: libraries with operations of others, for the runtime to load.

    Returns:
        The outputs.

    Raises:
        UsageError: an input that is missing, unknown, or of the wrong type or shape; an argument of the wrong type.
        UnsupportedError: a layer has no kernel, and `runtime` is False.
        RuntimeFailure: the runtime rejects such a layer or crashes, or is not installed.
        ReadError: the file cannot be read.

    Example:
        >>> outputs = ir_tools.run("model.xml", {"data": np.ones((1, 2, 8, 8), np.float32)})
        >>> outputs["pooled"].shape
        (1, 2, 4, 4)
    """
    with Session(model, precision=precision, runtime=runtime, extensions=extensions) as session:
        if inputs is None:
            inputs = plan_inputs(session.model, seed=seed, extensions=extensions).arrays()
        return session.run(inputs, seed=seed)


@checked(
    model=parameters.SOURCE,
    other=optional(parameters.SOURCE),
    inputs=optional(parameters.INPUT_VALUES),
    layers=parameters.LAYERS,
    shapes=optional(parameters.INPUT_SHAPES),
    mode=parameters.TEXT,
    seed=parameters.SEED,
    samples=parameters.SAMPLES,
    device=parameters.TEXT,
    precision=optional(parameters.TEXT),
    runtime=optional(parameters.TEXT),
    against=optional(parameters.SETTING),
    save=optional(parameters.PATH),
    golden=optional(parameters.PATH),
    tolerance=optional(parameters.TOLERANCE),
    sink=optional(parameters.CALLABLE),
    extensions=parameters.EXTENSIONS,
    states=optional(parameters.ARRAYS),
    advance=optional(parameters.CALLABLE),
)
def compare(
    model: ModelSource,
    other: ModelSource | None = None,
    inputs: Mapping[str, InputValue] | None = None,
    layers: bool | str | Collection[str] = True,
    *,
    shapes: Shapes | None = None,
    mode: ReferenceMode = "isolated",
    seed: int = 0,
    samples: int = 1,
    device: str = "CPU",
    precision: RuntimePrecision | None = None,
    runtime: str | None = None,
    against: str | tuple[str, RuntimePrecision] | None = None,
    save: File | None = None,
    golden: File | None = None,
    tolerance: float | None = None,
    extensions: Extensions = (),
    states: Mapping[str, Array] | None = None,
    sink: Sink | None = None,
    advance: Callable[[], None] | None = None,
) -> Comparison:
    """Compare tensors layer by layer: the reference with the runtime, two devices or precisions, two models.

    Args:
        model: the model, or what `read` takes.
        other: a second model with the same inputs, to compare with in place of the reference.
        inputs: arrays or generators (`"uniform:0:255"`) by tensor or layer name; `plan_inputs` makes up the rest.
        layers: True for every layer, operation types (`{"MaxPool"}`), or False for the outputs alone.
        shapes: new input shapes, as for `propagate_shapes`.
        mode: of the reference: `isolated`, each layer on the runtime's own inputs, or `cumulative`, the whole model by
            itself, so that errors add up.
        seed: of the inputs that are made up.
        samples: how many samples of the inputs to compare; each tensor is shown where it is furthest off.
        device: of the runtime.
        precision: in which the runtime is asked to compute floats (`INFERENCE_PRECISION_HINT`); by default `f32`, or
            that of the golden run.
        runtime: a release in place of the installed one: `"openvino-2022.3"`; `ir-tools runtimes` lists and adds them.
        against: another device and precision to compare with, in place of the reference (`"CPU:bf16"`), or another
            release (`"openvino-2024.6"`); with `other`, the release that it runs on.
        save: writes what the runtime gave for `model` to this `.irrun`: inputs, outputs, and the tensors of `layers`.
        golden: a file that `save` wrote, to compare what the runtime gives with, on the inputs in it.
        tolerance: relative to each tensor's largest magnitude, in place of the table by element type.
        extensions: libraries with operations of others, for the runtime to load.
        states: values of variables by id before the inference, such as `Session.states`; by default the initial ones.
        sink: takes every pair of tensors that is compared.
        advance: called after every layer, for a progress bar.

    Returns:
        One entry per tensor and per output, and whether all are within the tolerance.

    Raises:
        UsageError: inputs that the model does not have or take; layer types that it does not have; models whose
            outputs do not match; an argument of the wrong type.
        RuntimeFailure: the runtime rejects the model, crashes, takes too long, or is not installed.
        ReadError: a file cannot be read.
        WriteError: `save` cannot be written, or is a file of the model.

    Example:
        >>> comparison = ir_tools.compare("model.xml")
        >>> comparison.ok, [(row.path, row.op, row.status) for row in comparison.layers]
        (True, [('pool', 'AvgPool-1', 'ok')])
    """
    from contextlib import ExitStack

    from ir_tools import comparison
    from ir_tools.comparison import saved
    from ir_tools.files import check_target, protecting
    from ir_tools.releases.table import is_release
    from ir_tools.rewrite.legacy import current_model
    from ir_tools.runtime.release import runtime_named
    from ir_tools.runtime.setting import Setting

    if golden is not None and (save or other or against or inputs or shapes or states or samples > 1):
        raise UsageError("golden is a saved run of one model with its own inputs; leave out other and inputs")
    if save is not None and other:
        raise UsageError("save is for a run of one model; leave out other")
    with ExitStack() as stack:
        named = isinstance(against, str) and is_release(against)
        client = stack.enter_context(runtime_named(runtime, extensions))
        their = stack.enter_context(runtime_named(str(against), extensions)) if named else None
        setting = Setting.of(device, "f32" if precision is None else precision)
        loaded = load_model(model, extensions)
        if save is not None:
            if Path(save).suffix.lower() != saved.ENDING:
                raise UsageError(f"{save}: expected a name that ends in {saved.ENDING}")
            stack.enter_context(protecting(file for file in (loaded.path, loaded.weights.path) if file))
            check_target(Path(save))
        given = current_model(loaded)
        if golden is not None:
            run = saved.SavedRun.open(Path(golden))
            return saved.compare_saved(
                run,
                reshaped(given, run.shapes, extensions),
                layers,
                client=client,
                setting=setting if precision else Setting(device, run.setting.precision),
                tolerance=tolerance,
                sink=sink,
                advance=advance,
            )
        given = reshaped(given, shapes, extensions)
        plan = plan_inputs(given, inputs, seed=seed)
        found = comparison.compare(
            given,
            None if other is None else reshaped(current_model(load_model(other, extensions)), shapes, extensions),
            plan,
            layers,
            mode=mode,
            samples=samples,
            device=device,
            precision=setting.precision,
            against=None if named else against,
            tolerance=tolerance,
            client=client,
            against_client=their,
            states=states,
            sink=sink,
            advance=advance,
        )
        if save is not None:
            fed = found.inputs.items() if shapes else ()
            record = {name: ",".join(map(str, array.shape)) or "[]" for name, array in fed}
            saved.save_run(
                Path(save),
                given,
                [plan.arrays(sample) for sample in range(samples)],
                layers,
                client=client,
                setting=setting,
                shapes=record,
                seed=seed,
                states=states,
            )
        return found


@checked(
    path=parameters.PATH,
    inputs=optional(parameters.INPUT_VALUES),
    seed=parameters.SEED,
    to=parameters.OPSET,
    device=parameters.TEXT,
    tolerance=optional(parameters.TOLERANCE),
    extensions=parameters.EXTENSIONS,
)
def compare_onnx(
    path: File,
    inputs: Mapping[str, InputValue] | None = None,
    *,
    seed: int = 0,
    to: str = "opset8",
    device: str = "CPU",
    tolerance: float | None = None,
    extensions: Extensions = (),
) -> OnnxComparison:
    """Compare an ONNX file three ways: the conversion of ir_tools, OpenVINO's own, and onnxruntime.

    Args:
        path: of the `.onnx`.
        inputs: arrays or generators (`"uniform:0:255"`) by name; the rest is made up.
        seed: of the inputs that are made up.
        to: the opset of the conversion.
        device: of the OpenVINO runtime; onnxruntime runs on the CPU.
        tolerance: relative to each tensor's largest magnitude, in place of the table by element type.
        extensions: libraries with operations of others, for the runtime to load.

    Returns:
        For each output, who agrees with whom, and the numpy reference against the runtime for each pooling.

    Raises:
        ReadError: the file is broken or cannot be converted.
        MigrationError: an unknown opset, or a node without an exact form in it.
        UsageError: inputs that the model does not have or take; an argument of the wrong type.
        RuntimeFailure: the runtime cannot run the conversion, or is not installed. What the other two cannot do is only
            reported.

    Example:
        >>> comparison = ir_tools.compare_onnx("model.onnx")
        >>> comparison.ok, comparison.outputs[0].verdict
        (True, 'all agree')
    """
    from ir_tools.comparison import onnx as onnx_comparison

    return onnx_comparison.compare_onnx(
        Path(path), inputs, seed=seed, to=to, device=device, tolerance=tolerance, extensions=extensions
    )


@checked(model=parameters.SOURCE, releases=parameters.RELEASES, migrated=parameters.FLAG, check=parameters.FLAG)
def compat(
    model: ModelSource, releases: str | Sequence[str] = (), *, migrated: bool = False, check: bool = False
) -> CompatibilityReport:
    """Tell which releases of OpenVINO run a model, and what stops the others, by a table; nothing is run.

    Args:
        model: the model, or what `read` takes.
        releases: names, as in `["openvino-2021.4"]`; by default all.
        migrated: also answer for the model after `migrate(model, to=release)`, where it does not run as it is.
        check: also let the releases that are here (`runtimes`) read and compile it.

    Returns:
        An entry for each release, the oldest first; `badge` is one line about all.

    Raises:
        ReadError: the file cannot be read.
        UsageError: an unknown release, or an argument of the wrong type.

    Example:
        >>> report = ir_tools.compat("model.xml", ["openvino-2021.4", "openvino-2024.6"], migrated=True)
        >>> report
        OpenVINO 2024.6
        2021.4: stopped: it does not read IR v11
        >>> str(report[0].migrated)
        'yes: 1 step'
    """
    from ir_tools.compatibility import report
    from ir_tools.releases.table import OPENVINO, find_release

    chosen = [find_release(name) for name in word_list(releases)] or OPENVINO
    if isinstance(model, str | PathLike | bytes) and not is_onnx(model):
        source: Model | Path | bytes = path_or_bytes(model)
    else:
        source = load_model(model)
    return report(source, chosen, migrated=migrated, check=check)


@checked(add=optional(parameters.TEXT), remove=optional(parameters.TEXT))
def runtimes(add: str | None = None, remove: str | None = None) -> Runtimes:
    """List the runtimes that models can be run on, and where they are; make or remove the environment of one.

    Args:
        add: the name of a release to install from PyPI, into the folder that `IR_TOOLS_RUNTIMES` names.
        remove: the name of a release whose environment to remove.

    Returns:
        The installed OpenVINO and every release that is known.

    Raises:
        UsageError: an unknown release, one to add that is there, or one to remove that is not.
        RuntimeFailure: it cannot be installed.

    Example:
        >>> runtimes = ir_tools.runtimes()
        >>> [one.name for one in runtimes][:3]
        ['openvino', 'inference-engine-2020.1', 'openvino-2021.2']
    """
    from ir_tools.releases.table import find_release
    from ir_tools.runtime import environments

    if add is not None and remove is not None:
        raise UsageError("add and remove exclude each other; make two calls")
    if add is not None:
        environments.installation(find_release(add)).make()
    if remove is not None:
        environments.remove(find_release(remove))
    return environments.all_runtimes()


def reshaped(model: Model, shapes: Shapes | None, extensions: Extensions = ()) -> Model:
    """Return a copy of a model with new input shapes, all ports recomputed; the same model if there are none.

    Args:
        model: the model; it is not changed.
        shapes: by tensor or layer name, as for `propagate_shapes`.
        extensions: libraries with operations of others, for the runtime to load.

    Raises:
        ShapeError: a layer that cannot take its new inputs.
        UsageError: an unknown input, or text that is not a shape.
    """
    if not shapes:
        return model
    twin = model.copy()
    propagate_shapes(twin, shapes, in_place=True, extensions=extensions)
    return twin


@checked(model=parameters.SOURCE, extensions=parameters.EXTENSIONS)
def to_openvino(model: ModelSource, *, extensions: Extensions = ()) -> openvino.Model:
    """Convert a model to an `openvino.Model`, in this process.

    Args:
        model: the model, or what `read` takes.
        extensions: libraries with operations of others, to load into this process.

    Returns:
        The model as OpenVINO reads it; its weights are mapped from the same file.

    Raises:
        RuntimeFailure: OpenVINO is not installed or rejects the model.
        ReadError: the file cannot be read.
        UsageError: an argument of the wrong type.

    Example:
        >>> ir_tools.to_openvino(ir_tools.read("model.xml")).get_friendly_name()
        'small'
    """
    from ir_tools.rewrite.legacy import current_model
    from ir_tools.runtime.interop import to_openvino as convert

    return convert(current_model(load_model(model, extensions)), extensions)


def _migrate_onnx(
    path: Path, to: str | None, passes: str | Sequence[str], shapes: Shapes | None, extensions: Extensions
) -> Migration:
    """Return steps for the nodes, then for other layers; AvgPool layers are in the first, no line is in the file."""
    from ir_tools import onnx
    from ir_tools.rewrite import migration
    from ir_tools.rewrite.target import Target

    target = f"opset{(to and Target.of(to).opset) or 8}"
    found = onnx.convert(path, target, extensions)
    shaped = reshaped(found.model, shapes, extensions)
    migrated = migration.migrate(shaped, to=to, passes=passes, in_place=True)
    others = tuple(replace(step, line=None) for step in migrated.steps if not _only_restamped(step))
    return replace(migrated, steps=(*(_step(node, target) for node in found.nodes), *others))


def _only_restamped(step: MigrationStep) -> bool:
    return step.before.startswith("AvgPool-") and step.after.startswith("AvgPool ")


def _step(node: Translated, target: str) -> MigrationStep:
    from ir_tools.rewrite.steps import MigrationStep

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
