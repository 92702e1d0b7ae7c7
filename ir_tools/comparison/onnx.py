"""Compare an ONNX file on three backends: our IR on OpenVINO, OpenVINO's own conversion, and onnxruntime."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from ir_tools.comparison import Comparison, Difference, compare, difference
from ir_tools.comparison.onnxruntime import run_onnxruntime
from ir_tools.diagnostics import Diagnostic
from ir_tools.display import notebook_table, plural
from ir_tools.errors import RuntimeFailure
from ir_tools.graph import Model
from ir_tools.importers.onnx.reading import convert
from ir_tools.inputs import InputValue, complete_inputs
from ir_tools.ops import Array, pooling
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.extensions import Extensions

__all__ = ["Engine", "OnnxComparison", "Pair", "compare_engines", "compare_onnx"]

OURS, IMPORTER, ORT = "ir_tools", "openvino", "onnxruntime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One backend: `ir_tools`, `openvino` or `onnxruntime`.

    Attributes:
        name: its name.
        version: its version; None if it is not known.
        reason: why it has no outputs; None if it ran.
    """

    name: str
    version: str | None = None
    reason: str | None = None

    @property
    def ran(self) -> bool:
        """Whether it computed outputs."""
        return self.reason is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two backends compared on one output; if shapes or types differ, `reason` says so in place of a difference."""

    first: str
    second: str
    difference: Difference | None = None
    reason: str | None = None

    @property
    def ok(self) -> bool:
        """Whether they agree within the tolerance."""
        return self.difference is not None and self.difference.ok


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOutput:
    """One output of the model, compared between all backends.

    Attributes:
        name: the ONNX name.
        element_type: the element type.
        shapes: the shape that each backend computed, by its name.
        pairs: the comparison of every two backends that ran.
        deviates: the backends that agree with no other one.
    """

    name: str
    element_type: str
    shapes: Mapping[str, tuple[int, ...]]
    pairs: tuple[Pair, ...]
    deviates: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether all backends that ran agree."""
        return all(pair.ok for pair in self.pairs)

    @property
    def verdict(self) -> str:
        """The result in words: `all agree`, `onnxruntime deviates`, ..."""
        bad = [pair for pair in self.pairs if not pair.ok]
        if not self.pairs:
            return "no other engine ran the model"
        if not bad:
            return "all agree"
        if len(self.deviates) == 1:
            return f"{self.deviates[0]} deviates"
        if len(self.deviates) > 2:
            return "all differ"
        return f"{bad[0].first} and {bad[0].second} differ"

    def supported(self, engine: str) -> bool:
        """Return whether at least one other backend agrees with this one."""
        return any(pair.ok for pair in self.pairs if engine in {pair.first, pair.second})


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxComparison:
    """The result of a comparison of an ONNX file.

    Attributes:
        engines: the three backends; for one that could not run, with the reason.
        outputs: one entry per output of the model.
        isolated: the isolated comparison of each pooling with the numpy reference; None if it was not requested.
        diagnostics: the findings about the file.
        inputs: the input arrays by name.

    Example:
        >>> comparison = ir_tools.compare_onnx("model.onnx")
        >>> comparison
        OnnxComparison(ir_tools, openvino, onnxruntime: 1 of 1 output agree)
        >>> comparison.ok, comparison.supports_ours
        (True, True)
    """

    engines: tuple[Engine, ...]
    outputs: tuple[OnnxOutput, ...]
    isolated: Comparison | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    inputs: Mapping[str, Array] = field(repr=False)

    def __repr__(self) -> str:
        """Return `OnnxComparison(ir_tools, openvino, onnxruntime: 1 of 2 outputs agree)`."""
        engines = ", ".join(engine.name for engine in self.engines if engine.ran)
        agree = sum(entry.ok for entry in self.outputs)
        return f"OnnxComparison({engines}: {agree} of {plural(len(self.outputs), 'output')} agree)"

    def _repr_html_(self) -> str:
        """Return the text of `repr`, and a table of the outputs."""
        rows = ((one.name, one.element_type, one.verdict) for one in self.outputs)
        return notebook_table(repr(self), ("output", "type", "verdict"), rows)

    @property
    def first_difference(self) -> OnnxOutput | None:
        """Return the first output on which the engines do not agree."""
        return next((entry for entry in self.outputs if not entry.ok), None)

    @property
    def ok(self) -> bool:
        """Return whether all engines that ran agree, and so do the isolated poolings."""
        return self.first_difference is None and (self.isolated is None or self.isolated.ok)

    @property
    def supports_ours(self) -> bool:
        """Return whether, for every output, at least one other engine agrees with ours."""
        return all(entry.supported(OURS) for entry in self.outputs)


def compare_onnx(
    path: str | Path,
    inputs: Mapping[str, InputValue] | None = None,
    *,
    seed: int = 0,
    to: str = "opset8",
    device: str = "CPU",
    tolerance: float | None = None,
    extensions: Extensions = (),
) -> OnnxComparison:
    """Compare an ONNX file's poolings, each isolated, and its outputs three ways.

    Args:
        path: of the `.onnx`.
        inputs: arrays or generators (`uniform:0:255`) by name; see `plan_inputs` for those missing.
        seed: of the inputs.
        to: the opset of our conversion.
        device: of the OpenVINO runtime; onnxruntime runs on the CPU.
        tolerance: in place of the table `comparison.TOLERANCES`.
        extensions: libraries with operations of others, for the OpenVINO runtime to load.

    Raises:
        ReadError: the file is broken or cannot be converted.
        UsageError: inputs that the model does not have or take.
        RuntimeFailure: the runtime cannot run our conversion. (What the other engines cannot do is only reported.)
    """
    path = Path(path)
    found = convert(path, to, extensions)
    pools = {op.type for op in pooling.OPS} & {located.layer.type for located in found.model.walk()}
    with RuntimeClient(extensions=extensions) as client:
        result = compare_engines(
            found.model, path, inputs, seed=seed, device=device, tolerance=tolerance, client=client
        )
        isolated = compare(
            found.model,
            inputs=result.inputs,
            layers=pools or False,
            device=device,
            tolerance=tolerance,
            client=client,
        )
    return OnnxComparison(
        engines=result.engines,
        outputs=result.outputs,
        isolated=isolated,
        diagnostics=found.diagnostics,
        inputs=result.inputs,
    )


def compare_engines(
    model: Model,
    path: Path,
    inputs: Mapping[str, InputValue] | None = None,
    *,
    seed: int = 0,
    device: str = "CPU",
    tolerance: float | None = None,
    client: RuntimeClient | None = None,
) -> OnnxComparison:
    """Compare the outputs of `model`, made of the ONNX file `path`, against those of the other engines on that file.

    Raises:
        UsageError: inputs that the model does not have or take.
        RuntimeFailure: the runtime cannot run `model`.
    """
    fed = complete_inputs(model, inputs, seed=seed)
    runtime = client or RuntimeClient()
    try:
        ours = runtime.infer_model(model, fed, device=device)
        runs = {OURS: dict(ours.outputs)}
        engines = [Engine(name=OURS, version=ours.version)]
        asks: dict[str, _Ask] = {
            IMPORTER: lambda: _importer(runtime, path, fed, device),
            ORT: lambda: _onnxruntime(path, model, fed),
        }
        for name, ask in asks.items():
            try:
                version, outputs = ask()
            except RuntimeFailure as why:
                engines.append(Engine(name=name, reason=str(why)))
                continue
            engines.append(Engine(name=name, version=version))
            runs[name] = _under_our_names(model, outputs)
    finally:
        if client is None:
            runtime.close()
    compared = tuple(_output(name, runs, tolerance) for name in ours.outputs)
    return OnnxComparison(engines=tuple(engines), outputs=compared, inputs=fed)


_Ask = Callable[[], tuple[str, Mapping[str, Array]]]


def _importer(
    runtime: RuntimeClient, path: Path, fed: Mapping[str, Array], device: str
) -> tuple[str, Mapping[str, Array]]:
    found = runtime.infer(path, None, fed, device=device)
    return found.version, found.outputs


def _onnxruntime(path: Path, model: Model, fed: Mapping[str, Array]) -> tuple[str, Mapping[str, Array]]:
    by_name = {alias: fed[end.name] for end in model.inputs for alias in end.names}
    found = run_onnxruntime(path, by_name)
    return found.version, found.outputs


def _under_our_names(model: Model, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return outputs by any name that both know the output under, else by position."""
    in_order = list(outputs.values())
    renamed = {}
    for index, end in enumerate(model.outputs):
        known = next((alias for alias in end.names if alias in outputs), None)
        if known is not None or index < len(in_order):
            renamed[end.name] = in_order[index] if known is None else outputs[known]
    return renamed


def _output(name: str, runs: Mapping[str, Mapping[str, Array]], tolerance: float | None) -> OnnxOutput:
    arrays = {engine: outputs[name] for engine, outputs in runs.items() if name in outputs}
    pairs = tuple(
        _pair(first, second, arrays[first], arrays[second], tolerance) for first, second in combinations(arrays, 2)
    )
    return OnnxOutput(
        name=name,
        element_type=str(arrays[OURS].dtype),
        shapes={engine: array.shape for engine, array in arrays.items()},
        pairs=pairs,
        deviates=tuple(_alone(list(arrays), pairs)),
    )


def _pair(first: str, second: str, expected: Array, actual: Array, tolerance: float | None) -> Pair:
    if expected.shape != actual.shape:
        reason = f"{first} returns shape {list(expected.shape)}, {second} {list(actual.shape)}"
    elif expected.dtype != actual.dtype:
        reason = f"{first} returns {expected.dtype}, {second} {actual.dtype}"
    else:
        return Pair(first=first, second=second, difference=difference(expected, actual, tolerance=tolerance))
    return Pair(first=first, second=second, reason=reason)


def _alone(engines: Sequence[str], pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield those that agree with nobody, of two or more."""
    for engine in engines:
        own = [pair for pair in pairs if engine in {pair.first, pair.second}]
        if own and not any(pair.ok for pair in own):
            yield engine
