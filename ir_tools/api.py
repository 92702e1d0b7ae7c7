"""The public functions of `import ir_tools`. They take paths or models, and start the runtime if they need it.

Each function imports its modules when it is called, so that reading a model does not load the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
from ir_tools.types import Dim, format_shape

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
    """Read an IR model (versions 2 to 7, 10 and 11), or convert an ONNX model to IR (`ir_tools.onnx.read`).

    Args:
        source: the path of an `.xml` (with its `.bin` beside it) or `.onnx`, the bytes of an `.xml`, or an
            `openvino.Model`. A `Model` is returned unchanged.
        weights: the `.bin`, as bytes or path, if it is not beside the `.xml`.

    Returns:
        The model. Its weights are mapped into memory, not copied.

    Raises:
        ReadError: the file cannot be read; the diagnostics give the file, the line and the reason.
        UsageError: an argument has the wrong type, or the source has its own weights.
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
    """Write an `.xml` and the `.bin` beside it: both files, or neither if there is an error.

    Parts of the model that were not changed keep the bytes that they had in the file.

    Args:
        model: the model. If its `.bin` is missing or too short for its constants, nothing is written.
        path: the path of the `.xml`; it may be the file that the model was read from.
        overwrite: if False, files that exist are not replaced, and an error is raised.

    Raises:
        WriteError: the files cannot be written, or there is a `.bin` without its `.xml`.
        UsageError: an argument has the wrong type.

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
    """Compute the element type and partial shape of every port again, including ports in bodies.

    Args:
        model: a `Model`, or a source that `read` accepts.
        inputs: new input shapes by tensor or layer name: `"1..8,3,?,?"`, or `[1, 3, -1, 64]` with -1 for any size.
        in_place: also record the new types and shapes in the model.
        extensions: extension libraries with further operations, which the runtime loads.

    Returns:
        The shape of every port, its origin, and the ports whose recorded type or shape differs.

    Raises:
        ShapeError: a layer does not accept its inputs; the diagnostics name the layer. The model is unchanged.
        ReadError: the file cannot be read.
        UsageError: an input name is unknown, a text is not a shape, or `in_place` is used with a file.

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
    """Check an IR model, and list the findings in the order of its lines.

    Args:
        model: the path of the `.xml`, its bytes, or a model in memory, which is checked as `write` would write it.
        weights: the `.bin`, as path or bytes; by default the file beside the `.xml`, or the weights of the model.
        select: check only these rules: codes (`IR103`), prefixes of codes (`IR2`) or names; by default all.
        ignore: leave out these rules. If a rule matches both `select` and `ignore`, the longer word decides.
        runtime: True to let the installed OpenVINO also read, compile and run the model, in a child process; or the
            name of a release (`"openvino-2024.6"`) that does so.
        extensions: extension libraries with further operations, which the runtime loads.
        shapes: with `runtime`, the input shapes of that run, in place of those in the file.

    Returns:
        The findings; an empty list if there are none.

    Raises:
        UsageError: `select` or `ignore` names an unknown rule, an extension cannot be loaded, or an argument has the
            wrong type.
        RuntimeFailure: `runtime` is set, and that is not installed or cannot start.

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

    Every step is planned and proved equal first. Then all steps are applied, or none if one layer is refused.

    Args:
        model: a `Model`, which is not changed, or a source that `read` accepts. Each AveragePool node of an `.onnx` is
            translated by its ONNX definition, in one step; the other nodes are converted by OpenVINO and then migrated.
        to: an opset (`opset8`); an IR version (`ir10`, `ir11`); a release that is to run the model
            (`openvino-2021.4`), for which layers that it runs are not changed; or None to run only the passes.
        passes: names of passes to run before the migration.
        shapes: new input shapes of the migrated model, as for `propagate_shapes`; releases before 2022.1 need fixed
            sizes.
        int8: for a model of IR v2 to v7 with `<statistics>`: insert FakeQuantize before the layers that those
            statistics made run in INT8.
        extensions: extension libraries with further operations, for the conversion of an `.onnx`.

    Returns:
        The migrated model, the steps with their proofs, and the refused layers.

    Raises:
        MigrationError: the target or a pass is unknown, or an ONNX node has no exact form in the target.
        ReadError: the file, or a constant that a rewrite depends on, cannot be read.
        ShapeError: a layer does not accept the new input shapes.
        UsageError: an argument has the wrong type, the release is unknown, or `shapes` is given for IR v2 to v7.

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
    """Choose a shape and values for each input of a model.

    Inputs that are given are used; for the others, sizes and values are chosen that the layers of the model accept.

    Args:
        model: a `Model`, or a source that `read` accepts.
        inputs: arrays or generators (`"uniform:0:255"`) by tensor name or layer name.
        shapes: new input shapes, as for `propagate_shapes`.
        seed: the seed of the random values.
        extensions: extension libraries with further operations, which the runtime loads.

    Returns:
        The plan: `.inputs` lists the shape and values of each input, with the reason; `.arrays(sample)` makes the
        arrays of one sample.

    Raises:
        ShapeError: a layer does not accept the new shapes.
        ReadError: the file cannot be read.
        UsageError: the model does not have an input, an input does not accept its array, or an argument has the wrong
            type.

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
    """Run one inference, with the numpy reference or on a release of OpenVINO.

    Variables have their initial values; use `Session` to keep their values between runs. In numpy, a layer without a
    kernel is run by the runtime, as a model of that one layer, in a child process; a `RuntimeWarning` names these
    layers.

    Args:
        model: a `Model`, or a source that `read` accepts.
        inputs: for every input, by tensor name or layer name, an array of any type whose values the input can hold, or
            a generator (`"uniform:0:255"`); None to generate all inputs, as `plan_inputs` does.
        seed: the seed of generated values.
        precision: the type in which the reference computes floats: `as written`, `f32` or `f64`.
        runtime: True to run layers without a kernel on the installed OpenVINO, False to raise an error for them, or
            the name of a release (`"openvino-2024.6"`) that runs the whole model in place of numpy.
        extensions: extension libraries with further operations, which the runtime loads.

    Returns:
        The output arrays, by tensor name or layer name.

    Raises:
        UsageError: an input is missing, unknown, or has the wrong type or shape, or an argument has the wrong type.
        UnsupportedError: a layer has no kernel, and `runtime` is False.
        RuntimeFailure: the runtime rejects a layer or the model, crashes, or is not installed.
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
    """Compare tensors layer by layer: reference and runtime, two releases, devices or precisions, or two models.

    Args:
        model: a `Model`, or a source that `read` accepts.
        other: a second model with the same inputs, which is compared in place of the reference.
        inputs: arrays or generators (`"uniform:0:255"`) by tensor or layer name; `plan_inputs` generates the others.
        layers: True for every layer, operation types (`{"MaxPool"}`), or False for only the outputs of the model.
        shapes: new input shapes, as for `propagate_shapes`.
        mode: how the reference runs: `isolated`, each layer on the inputs that it had in the runtime, or `cumulative`,
            the whole model, so that errors add up.
        seed: the seed of generated inputs.
        samples: the number of input samples; each tensor is reported for the sample with its largest difference.
        device: the OpenVINO device.
        precision: the type in which the runtime computes floats (`INFERENCE_PRECISION_HINT`), or `int8` for quantized
            models; by default `f32`, or the precision of the golden run.
        runtime: a release that runs the model in place of the installed OpenVINO: `"openvino-2022.3"`;
            `ir-tools runtimes` lists and adds them.
        against: another device and precision (`"CPU:bf16"`) or another release (`"openvino-2024.6"`), which is
            compared in place of the reference; with `other`, the release that runs `other`.
        save: an `.irrun` to which the run of `model` is written: inputs, outputs, and the tensors of `layers`.
        golden: an `.irrun` that `save` wrote; the model runs on the inputs in it and is compared with its tensors.
        tolerance: the allowed difference relative to the largest magnitude of each tensor, in place of the table by
            element type.
        extensions: extension libraries with further operations, which the runtime loads.
        states: values of variables by id before the inference, for example `Session.states`; by default their initial
            values.
        sink: called with every pair of tensors that is compared.
        advance: called after every layer, for a progress bar.

    Returns:
        One entry per tensor and per output; `ok` is whether all are within the tolerance.

    Raises:
        UsageError: the model does not have or accept an input, has no layer of a type in `layers`, the outputs of the
            two models do not match, or an argument has the wrong type.
        RuntimeFailure: the runtime rejects the model, crashes, takes too long, or is not installed.
        ReadError: a file cannot be read.
        WriteError: `save` cannot be written, or is a file of the model.

    Example:
        >>> comparison = ir_tools.compare("model.xml")
        >>> comparison.ok, [(row.path, row.op, row.status) for row in comparison.layers]
        (True, [('pool', 'AvgPool-1', 'ok')])
    """
    from ir_tools import comparison
    from ir_tools.comparison import saved
    from ir_tools.releases.table import is_release
    from ir_tools.rewrite.legacy import current_model
    from ir_tools.runtime.release import runtime_named
    from ir_tools.runtime.setting import Setting

    excluded: dict[str, object] = {"other": other, "against": against, "save": save, "inputs": inputs}
    excluded |= {"shapes": shapes, "states": states, "samples": samples > 1}
    if golden is not None and any(excluded.values()):
        names = ", ".join(name for name, value in excluded.items() if value)
        raise UsageError(f"golden is a saved run of one model on its own inputs; leave out {names}")
    if save is not None and other:
        raise UsageError("save is for a run of one model; leave out other")
    with ExitStack() as stack:
        client = stack.enter_context(runtime_named(runtime, extensions))
        release = against if isinstance(against, str) and is_release(against) else None
        their = None if release is None else stack.enter_context(runtime_named(release, extensions))
        setting = Setting.of(device, "f32" if precision is None else precision)
        loaded = load_model(model, extensions)
        if save is not None:
            stack.enter_context(_protected(loaded, Path(save)))
        given = current_model(loaded)
        if golden is not None:
            run = saved.SavedRun.open(Path(golden))
            given = reshaped(given, run.shapes_for(given), extensions)
            own = setting if precision else Setting(device, run.table.setting.precision)
            return saved.compare_saved(
                run, given, layers, client=client, setting=own, tolerance=tolerance, sink=sink, advance=advance
            )
        given = reshaped(given, shapes, extensions)
        second = None if other is None else reshaped(current_model(load_model(other, extensions)), shapes, extensions)
        plan = plan_inputs(given, inputs, seed=seed)
        found = comparison.compare(
            given,
            second,
            plan,
            layers,
            mode=mode,
            samples=samples,
            device=device,
            precision=setting.precision,
            against=None if release else against,
            tolerance=tolerance,
            client=client,
            against_client=their,
            states=states,
            sink=sink,
            advance=advance,
        )
        if save is not None:
            fed = [plan.arrays(sample) for sample in range(samples)]
            record = {name: format_shape(tuple(map(Dim.of, array.shape))) for name, array in found.inputs.items()}
            own_shapes = record if shapes else {}
            saved.save_run(
                Path(save),
                given,
                fed,
                layers,
                client=client,
                setting=setting,
                shapes=own_shapes,
                seed=seed,
                states=states,
            )
        return found


@contextmanager
def _protected(model: Model, path: Path) -> Iterator[None]:
    """Check the path of a saved run, and keep the files of its model from being replaced.

    Raises:
        UsageError: the name does not end in `.irrun`.
        WriteError: the file cannot be written, or is one of the model.
    """
    from ir_tools.comparison.saved import ENDING
    from ir_tools.files import check_target, protecting

    if path.suffix.lower() != ENDING:
        raise UsageError(f"{path}: expected a name that ends in {ENDING}")
    with protecting(file for file in (model.path, model.weights.path) if file):
        check_target(path)
        yield


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
    """Compare an ONNX file on three backends: the conversion by ir_tools, the one by OpenVINO, and onnxruntime.

    Args:
        path: the path of the `.onnx`.
        inputs: arrays or generators (`"uniform:0:255"`) by name; the others are generated.
        seed: the seed of generated inputs.
        to: the opset of the conversion by ir_tools.
        device: the OpenVINO device; onnxruntime runs on the CPU.
        tolerance: the allowed difference relative to the largest magnitude of each tensor, in place of the table by
            element type.
        extensions: extension libraries with further operations, which the runtime loads.

    Returns:
        For each output, which backends agree; for each pooling, the numpy reference against the runtime.

    Raises:
        ReadError: the file is broken or cannot be converted.
        MigrationError: the opset is unknown, or a node has no exact form in it.
        UsageError: the model does not have or accept an input, or an argument has the wrong type.
        RuntimeFailure: OpenVINO cannot run the conversion by ir_tools, or is not installed. A failure of one of the
            other two backends is only reported.

    Example:
        >>> comparison = ir_tools.compare_onnx("model.onnx")
        >>> comparison.ok, comparison.outputs[0].verdict
        (True, 'all agree')
    """
    from ir_tools.comparison import onnx as onnx_comparison

    return onnx_comparison.compare_onnx(
        Path(path), inputs, seed=seed, to=to, device=device, tolerance=tolerance, extensions=extensions
    )


@checked(
    model=parameters.SOURCE,
    releases=parameters.RELEASES,
    migrated=parameters.FLAG,
    check=parameters.FLAG,
    extensions=parameters.EXTENSIONS,
)
def compat(
    model: ModelSource,
    releases: str | Sequence[str] = (),
    *,
    migrated: bool = False,
    check: bool = False,
    extensions: Extensions = (),
) -> CompatibilityReport:
    """List which releases of OpenVINO run a model, and which layers the others do not run.

    The answers come from tables that were measured with one-layer models; the model is not run.

    Args:
        model: a `Model`, or a source that `read` accepts.
        releases: names of releases, as in `["openvino-2021.4"]`; by default all.
        migrated: also report, for each release that does not run the model, whether it runs the model after
            `migrate(model, to=release)`.
        check: also let the installed releases (see `runtimes`) read and compile the model.
        extensions: extension libraries with further operations, for the conversion of an `.onnx`.

    Returns:
        An entry for each release, the oldest first; `badge` is a summary in one line.

    Raises:
        ReadError: the file cannot be read.
        UsageError: a release is unknown, or an argument has the wrong type.

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
        source = load_model(model, extensions)
    return report(source, chosen, migrated=migrated, check=check)


@checked(add=optional(parameters.TEXT), remove=optional(parameters.TEXT))
def runtimes(add: str | None = None, remove: str | None = None) -> Runtimes:
    """List the runtimes that can run models, with their interpreters; create or remove the environment of one.

    An environment is a folder with a Python and the packages of one release.

    Args:
        add: the name of a release to install from PyPI. The environment is created in the folder that the environment
            variable `IR_TOOLS_RUNTIMES` names, by default `ir-tools/runtimes` in the user's cache folder.
        remove: the name of a release whose environment to remove.

    Returns:
        The installed OpenVINO and every known release.

    Raises:
        UsageError: the release is unknown, `add` names one that is installed, or `remove` one that is not.
        RuntimeFailure: the release cannot be installed.

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
    """Return a copy of a model with new input shapes, all ports recomputed; the model itself without new shapes.

    Args:
        model: the model; it is not changed.
        shapes: new shapes by tensor or layer name, as for `propagate_shapes`.
        extensions: extension libraries with further operations, which the runtime loads.

    Raises:
        ShapeError: a layer does not accept the new input shapes.
        UsageError: an input name is unknown, or a text is not a shape.
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
        model: a `Model`, or a source that `read` accepts. IR v2 to v7 is migrated to IR v11 first.
        extensions: extension libraries with further operations, which are loaded into this process.

    Returns:
        The model as OpenVINO reads it; its weights are mapped from the same file.

    Raises:
        RuntimeFailure: OpenVINO is not installed or rejects the model.
        ReadError: the file cannot be read.
        UsageError: an argument has the wrong type.

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
    """Migrate an ONNX file: a step per AveragePool node, then the steps of other layers, all without a line number."""
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
        strategy=node.strategy,
        proof=node.proof,
        notes=node.notes,
    )
