"""The runtime, asked through a child process: what kills openvino kills only the child."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.errors import RuntimeFailure
from ir_tools.files import NewFile, temporary_folder, write_files
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.runtime._child import OWN
from ir_tools.runtime._process import Header, WorkerProcess
from ir_tools.runtime.extensions import Extensions, library_paths
from ir_tools.runtime.frames import Blob, from_array, to_array
from ir_tools.runtime.installed import openvino_version, require_openvino
from ir_tools.runtime.messages import explain
from ir_tools.states import checked_states
from ir_tools.types import Shape, parse_shape

__all__ = ["STAGES", "Attempt", "Executed", "Inference", "RuntimeClient", "Tap", "TensorInfo", "key_of", "sources"]

Array = npt.NDArray[Any]
Source = Path | str | bytes | None
Row = tuple[str, str, tuple[list[float], list[float]] | None]
STAGES = ("reading the model", "compiling the model", "making up inputs", "running the model")
"""What a child says that it is doing, in this order, when it tries a model."""
SOUND = (
    b'<net name="sound" version="10"><layers>'
    b'<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1" element_type="f32"/>'
    b'<output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>'
    b'<layer id="1" name="y" type="ReLU" version="opset1"><input><port id="0"><dim>1</dim></port></input>'
    b'<output><port id="1" precision="FP32"><dim>1</dim></port></output></layer>'
    b'<layer id="2" name="z" type="Result" version="opset1"><input><port id="0"><dim>1</dim></port></input></layer>'
    b'</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
    b'<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>'
)
"""A model that every release runs whose files are complete."""
F32 = {"INFERENCE_PRECISION_HINT": "f32"}

TWO_THREADS = {"INFERENCE_NUM_THREADS": "2"}
"""On one thread the CPU plugin of 2026.4.1 hides errors while a model with dynamic shapes runs."""


class Tap(NamedTuple):
    """A tensor inside the model: a layer of the main graph by name, and the number of its output."""

    layer_name: str
    output_index: int = 0


@dataclass(frozen=True, slots=True)
class Executed:
    """One operation as the device runs it, several layers fused into one, or one of its own.

    Attributes:
        name: the device's.
        layers: of the model that are in it; a name with commas comes in pieces.
        kind: the device's type of operation, `Convolution`.
        element_type: of what it computes.
        code: what computes it, `jit_avx512_f32`.
    """

    name: str
    layers: tuple[str, ...]
    kind: str
    element_type: str
    code: str


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An input or output as the runtime presents it. `names`: all that it answers to, the best first."""

    names: tuple[str, ...]
    layer: str
    element_type: str
    shape: Shape

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The inputs and outputs of a model, in its order, as the runtime presents them (an IR v10 with other types)."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


@dataclass(frozen=True, slots=True)
class Inference:
    """What one inference gave.

    Attributes:
        outputs: by name, in the order of the model.
        taps: the tensors that were asked for, each in the layer's own element type, or wider on demand.
        info: names, element type and shape of each output, in the order of the model.
        version: of the runtime.
        device: its full name.
        precision: the element type that floats were computed in, or `dynamic` where the device does not say.
        executed: the operations in the order of execution, where they were asked for.
        states: the values of the variables after the inference, by id.
    """

    outputs: dict[str, Array]
    taps: dict[Tap, Array] = field(repr=False)
    info: tuple[TensorInfo, ...]
    version: str
    device: str
    precision: str
    executed: tuple[Executed, ...] = ()
    states: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A model that was read, compiled and run on inputs that were made up, as far as was asked.

    Attributes:
        seconds: of processor time that it took.
        peak: the most memory that the runtime held, in bytes; 0 where the system does not say.
        unfit: why the inference was rejected, where that may be due to sizes made up for dynamic dimensions.
    """

    seconds: float
    peak: int
    unfit: str


class RuntimeClient(WorkerProcess):
    """openvino in a child process, started when first needed, kept, and started again after a crash.

    A context manager; `close` ends the child, and so does the end of the program.
    """

    def __init__(self, *, timeout: float = 300.0, memory: int | None = None, extensions: Extensions = ()) -> None:
        """Prepare a child; with extensions it starts now, to load them.

        Args:
            timeout: seconds that one request may take.
            memory: bytes that the child may allocate; by default three quarters of what the machine, or its container,
                has.
            extensions: libraries with operations of others, for OpenVINO to load.

        Raises:
            UsageError: an extension is not a file, or not a library for this OpenVINO.
            RuntimeFailure: an extension crashes the child or takes too long.
        """
        libraries = library_paths(extensions)
        hello = {"do": "hello", "extensions": libraries}
        super().__init__(OWN, hello, name="the runtime", timeout=timeout, memory=memory)
        self._states: Mapping[str, Array] = {}
        if libraries:
            self._started()

    @property
    def title(self) -> str:
        """The runtime and its version."""
        return f"OpenVINO {openvino_version()}"

    def _check_installed(self) -> None:
        require_openvino()

    @contextlib.contextmanager
    def starting_from(self, states: Mapping[str, Array]) -> Iterator[None]:
        """Let the variables have these values before each inference of `infer_model` that does not name others."""
        before, self._states = self._states, states
        try:
            yield
        finally:
            self._states = before

    # --- requests ---

    def infer(
        self,
        model_xml: Path | str | bytes,
        weights: Source,
        inputs: Mapping[str, Array],
        *,
        taps: Sequence[Tap] = (),
        wide: bool = False,
        device: str = "CPU",
        config: Mapping[str, str] | None = None,
        shapes: Mapping[str, str] | None = None,
        states: Mapping[str, Array] | None = None,
        times: int = 1,
        executed: bool = False,
        keep: bool = False,
        timeout: float | None = None,
    ) -> Inference:
        """Run one inference, or the last of several.

        Args:
            model_xml: a path, or the bytes of an `.xml`.
            weights: a path, or the bytes of the `.bin`; None for the file beside the `.xml`, or for no constants.
            inputs: arrays by tensor name or layer name, of the model's types (an IR v10 takes the file's as well as
                those that the runtime presents); packed types as `PackedArray`, strings as objects.
            taps: tensors inside the model to return as well; none in a body, which the runtime does not hand out.
            wide: whether taps of f16 and bf16 come in f32, as they are computed with the hint f32, and not rounded.
            device: as openvino calls it.
            config: properties of the device; floats are computed in f32 unless it says otherwise.
            shapes: new input shapes to reshape the model to first.
            states: values of variables by id; the others have their initial values.
            times: how often to run in a row on the same inputs; the variables keep their values in between.
            executed: return also what the device made of the layers, and in which element types.
            keep: let the child keep the compiled model for the same request with other inputs; for small models.
            timeout: seconds, in place of the client's.

        Raises:
            UsageError: an unknown input, tap, device or property, a value that does not fit.
            RuntimeFailure: the runtime rejected the model, crashed, hung or ran out of memory.
        """
        wanted = tuple(dict.fromkeys(Tap(*tap) for tap in taps))
        before = states or {}
        header, blobs = self._ask_model(
            {
                "do": "infer",
                "inputs": list(inputs),
                "states": list(before),
                "taps": wanted,
                "wide": wide,
                "device": device,
                "config": {**F32, **(config or {})},
                "shapes": dict(shapes or {}),
                "times": times,
                "executed": executed,
                "keep": keep,
            },
            model_xml,
            weights,
            [from_array(np.asanyarray(array)) for array in (*inputs.values(), *before.values())],
            timeout,
        )
        arrays = iter([to_array(blob) for blob in blobs])
        info = tuple(_info(row) for row in header["outputs"])
        return Inference(
            outputs={name: next(arrays) for name in _distinct(info)},
            taps={tap: next(arrays) for tap in wanted},
            states={name: next(arrays) for name in header["states"]},
            info=info,
            version=header["version"],
            device=header["device"],
            precision=header["precision"],
            executed=tuple(Executed(name, tuple(layers), *rest) for name, layers, *rest in header["executed"]),
        )

    def infer_model(
        self,
        model: Model,
        inputs: Mapping[str, Array],
        *,
        taps: Sequence[Tap] = (),
        wide: bool = False,
        device: str = "CPU",
        config: Mapping[str, str] | None = None,
        states: Mapping[str, Array] | None = None,
        executed: bool = False,
        keep: bool = False,
    ) -> Inference:
        """Run one inference of a model in memory; outputs and inputs go by `Endpoint.name`. See `infer`."""
        states = self._states if states is None else states
        with sources(model) as (text, weights):
            found = self.infer(
                text,
                weights,
                inputs,
                taps=taps,
                wide=wide,
                device=device,
                config=config,
                states=checked_states(model, states),
                executed=executed,
                keep=keep,
            )
        return _by_endpoint(model, found)

    def shapes(
        self,
        model_xml: Path | str | bytes,
        weights: Source,
        set_inputs: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
    ) -> dict[tuple[str, int], tuple[str, str]]:
        """Element type and partial shape of every output of every layer, as the runtime computes them on reading.

        The key is the layer's path (`Loop_3/body/Add_7`) and the number of the output. An IR v10 is taken as written,
        without the Convert layers that the runtime puts at its borders.

        Raises:
            UsageError: an unknown input.
            RuntimeFailure: the runtime rejected the model or the shapes.
        """
        request = {"do": "shapes", "shapes": dict(set_inputs or {})}
        header, _ = self._ask_model(request, model_xml, weights, [], timeout)
        return {(path, index): (kind, shape) for path, index, kind, shape in header["shapes"]}

    def describe(
        self, model_xml: Path | str | bytes, weights: Source = None, set_inputs: Mapping[str, str] | None = None
    ) -> Endpoints:
        """Names, element types and partial shapes of inputs and outputs.

        Raises:
            RuntimeFailure: the runtime rejected the model.
        """
        request = {"do": "describe", "shapes": dict(set_inputs or {})}
        header, _ = self._ask_model(request, model_xml, weights, [], None)
        return Endpoints(tuple(map(_info, header["inputs"])), tuple(map(_info, header["outputs"])))

    def ask(
        self, model_xml: bytes, weights: bytes, layer: str, *, zeros: int = 0, timeout: float | None = None
    ) -> list[Row]:
        """Return what the runtime computes for one layer of a small model; see `ir_tools.runtime.ask.LayerOracle`.

        `zeros`: zero bytes that follow `weights`, made in the child.

        Returns:
            Of each output: element type, partial shape, and the bounds of its values (lower, upper) where known.
        """
        request = {"do": "ask", "layer": layer, "zeros": zeros}
        header, _ = self._ask_model(request, model_xml, weights, [], timeout)
        return [(kind, shape, values) for kind, shape, values in header["outputs"]]

    def attempt(
        self,
        model_xml: Path | str | bytes,
        weights: Source = None,
        *,
        until: str = "running the model",
        seconds: float = 30.0,
        inputs: Mapping[str, Array] | None = None,
        fills: Sequence[int] = (1, 0),
        device: str = "CPU",
    ) -> Attempt:
        """Read, compile and run a model once, on the inputs that are given, or on inputs that the child makes up.

        Args:
            model_xml: as in `infer`.
            weights: as in `infer`.
            until: the last stage: `reading the model`, `compiling the model` or `running the model`.
            seconds: of processor time; by the clock it may take three times as long.
            inputs: arrays by tensor name or layer name, as in `infer`; by default the child makes them up.
            fills: values for integers and booleans of the inputs, tried one after the other.
            device: as openvino calls it.

        Raises:
            UsageError: an input of unknown rank.
            RuntimeFailure: the runtime rejected the model, crashed, hung or ran out of memory.
        """
        config = {**F32, **TWO_THREADS} if device == "CPU" else F32
        header = {
            "do": "attempt",
            "until": until,
            "seconds": seconds,
            "inputs": list(inputs or {}),
            "fills": list(fills),
            "device": device,
            "config": config,
        }
        blobs = [from_array(array) for array in (inputs or {}).values()]
        answer, _ = self._ask_model(header, model_xml, weights, blobs, 3 * seconds)
        return Attempt(answer["seconds"], answer["peak"], explain(answer["unfit"]) if answer["unfit"] else "")

    def check_sound(self, failure: RuntimeFailure, device: str = "CPU") -> None:
        """Check that a model of one ReLU does not fail as a model did: then no layer is the cause of the failure.

        Raises:
            RuntimeFailure: it fails in the same way, so files of the runtime are damaged (`kind` is `missing`).
        """
        if failure.kind not in {"rejected", "crashed"} or failure.stage not in STAGES:
            return
        try:
            self.attempt(SOUND, until=failure.stage, device=device)
        except RuntimeFailure as other:
            if (other.kind, other.stage) == (failure.kind, failure.stage):
                raise RuntimeFailure(
                    f"{failure}; a model of one ReLU fails as well, so files of the runtime are damaged"
                    f"{self._remedy or '; install openvino again'}",
                    kind="missing",
                    stage=failure.stage,
                    reason=failure.reason,
                ) from None

    def _ask_model(
        self,
        header: Header,
        model_xml: Path | str | bytes,
        weights: Source,
        blobs: Sequence[Blob],
        timeout: float | None,
    ) -> tuple[Header, list[Blob]]:
        sent: list[Blob] = []
        if header.get("keep"):
            header["kept"] = key_of(header, model_xml, weights)
        for name, source in (("model", model_xml), ("weights", weights)):
            if isinstance(source, bytes | bytearray | memoryview):
                header[name] = len(sent)
                sent.append(Blob("u8", (len(source),), source))
            else:
                header[name] = None if source is None else os.path.abspath(source)
        return self._exchange(header, [*sent, *blobs], self.timeout if timeout is None else timeout)


def key_of(header: Header, *sources: Source) -> str:
    """Return what two requests have in common whose model is compiled once."""
    key = hashlib.blake2b(json.dumps({**header, "inputs": [], "states": [], "times": 1}).encode())
    for source in sources:
        if isinstance(source, Path | str):
            stat = os.stat(source)
            source = str((stat.st_ino, stat.st_size, stat.st_mtime_ns)).encode()
        key.update(hashlib.blake2b(source or b"").digest())
    return key.hexdigest()


# --- models and names -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def sources(model: Model) -> Iterator[tuple[Path | bytes, Source]]:
    """Return a model as `RuntimeClient` takes it: its own files if nothing was changed, else its text and old weights.

    Only weights that were added to, or never were a file, go through a temporary file, which goes with the context.
    """
    text, weights = render(model), model.weights
    if not weights.pending and (weights.missing or weights.stays):
        path = model.path
        own = path is not None and weights.path in {None, path.with_suffix(".bin")} and _holds(path, text)
        yield path if own and path is not None else text, None if weights.missing else weights.path
        return
    with temporary_folder() as folder:
        copy = folder / "weights.bin"
        write_files([NewFile(copy, weights.save, durable=False)])
        yield text, copy


def _holds(path: Path, text: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == text
    except OSError:
        return False


def _info(row: Header) -> TensorInfo:
    names = [*row["names"], *([row["producer"]] if "producer" in row else []), row["layer"]]
    return TensorInfo(tuple(dict.fromkeys(names)), row["layer"], row["type"], parse_shape(row["shape"]))


def _distinct(info: Sequence[TensorInfo]) -> list[str]:
    """Return one name for each output: the first that no other output took before."""
    taken: dict[str, None] = {}
    for number, item in enumerate(info):
        taken[next((name for name in item.names if name not in taken), f"{item.name}#{number}")] = None
    return list(taken)


def _by_endpoint(model: Model, found: Inference) -> Inference:
    """Return the same with outputs under the names that the model gives them: by the Results' names, else in order."""
    names = [endpoint.name for endpoint in model.outputs]
    by_layer = {endpoint.layer.name: endpoint.name for endpoint in model.outputs}
    if len(by_layer) == len(names) and all(item.layer in by_layer for item in found.info):
        names = [by_layer[item.layer] for item in found.info]
    if len(names) != len(found.outputs):
        return found
    return replace(found, outputs=dict(zip(names, found.outputs.values(), strict=True)))
