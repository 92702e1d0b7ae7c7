"""Run one model repeatedly, on either engine; its variables keep their values between runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, get_args

from ir_tools import parameters
from ir_tools.arguments import check_word
from ir_tools.display import plural
from ir_tools.errors import UsageError
from ir_tools.format.read import read as read_ir
from ir_tools.graph import Model
from ir_tools.parameters import checked
from ir_tools.runtime.extensions import Extensions, library_paths

if TYPE_CHECKING:
    import openvino

    from ir_tools.execute import Engine, Precision
    from ir_tools.inputs import InputValue
    from ir_tools.ops import Array
    from ir_tools.runtime.client import RuntimeClient

    File: TypeAlias = str | PathLike[str]
    ModelSource: TypeAlias = Model | File | bytes | openvino.Model

__all__ = ["Session", "is_onnx", "load_model", "path_or_bytes"]


class Session:
    """A model that is run repeatedly; its variables keep their values from one run to the next.

    Use it as a context manager, or call `close`, to end the child process of the runtime.

    Example:
        >>> with ir_tools.Session("model.xml", engine="runtime") as session:
        ...     session.run({"data": np.ones((1, 2, 8, 8), np.float32)})["pooled"].shape
        (1, 2, 4, 4)

    Attributes:
        model: the model.
        engine: `reference` or `runtime`.
        states: the values of the variables after the last run, as arrays by variable id. Assign to an entry to set a
            variable. A variable without an entry has its initial value; `states.clear()` resets all variables.
    """

    @checked(
        model=parameters.SOURCE,
        engine=parameters.optional(parameters.TEXT),
        precision=parameters.TEXT,
        runtime=parameters.RUNTIME,
        extensions=parameters.EXTENSIONS,
    )
    def __init__(
        self,
        model: ModelSource,
        *,
        engine: Engine | None = None,
        precision: Precision = "as written",
        runtime: bool | str = True,
        extensions: Extensions = (),
    ) -> None:
        """Prepare to run a model.

        Args:
            model: a `Model`, or a source that `read` accepts. IR v2 to v7 is migrated to IR v11 first.
            engine: `reference` computes in numpy, `runtime` on OpenVINO with f32 precision, in a child process; by
                default `reference`, or `runtime` if a release is named.
            precision: the type in which the reference computes floats: `as written`, `f32` or `f64`.
            runtime: the name of a release that runs the model in place of the installed OpenVINO (`"openvino-2024.6"`).
                For the reference: True to run layers without a kernel on the installed OpenVINO (a `RuntimeWarning`
                names them), False to raise an error for them.
            extensions: extension libraries with further operations, which the runtime loads.

        Raises:
            UsageError: the engine or release is unknown, a release is named with the engine `reference`, a precision
                with the engine `runtime`, or an extension is not a file.
            MigrationError: a layer of IR v2 to v7 cannot be migrated.
        """
        from ir_tools import execute
        from ir_tools.releases.table import find_release
        from ir_tools.rewrite.legacy import current_model

        named = isinstance(runtime, str)
        if engine is None:
            engine = "runtime" if named else "reference"
        check_word("engine", engine, get_args(execute.Engine))
        check_word("precision", precision, get_args(execute.Precision))
        if engine == "runtime" and precision != "as written":
            raise UsageError("precision is for the reference; the runtime computes in f32")
        if isinstance(runtime, str):
            find_release(runtime)
        if named and engine == "reference":
            raise UsageError(f"runtime is {runtime}, which needs engine 'runtime'; leave out engine 'reference'")
        self._extensions = library_paths(extensions)
        self.model = current_model(load_model(model, self._extensions))
        self.engine = engine
        self.states: dict[str, Array] = {}
        self._precision = precision
        self._runtime = runtime
        self._client: RuntimeClient | None = None

    def __repr__(self) -> str:
        """Show the model, the engine and how many variables have a value."""
        return f"Session({self.model!r}, {self.engine}, {plural(len(self.states), 'state')})"

    @checked(inputs=parameters.INPUT_VALUES, seed=parameters.SEED)
    def run(self, inputs: Mapping[str, InputValue], *, seed: int = 0) -> dict[str, Array]:
        """Run the model once.

        Args:
            inputs: for every input, by tensor name or layer name, an array of any type whose values the input can hold,
                or a generator (`"uniform:0:255"`).
            seed: the seed of generated values.

        Returns:
            The output arrays, by tensor name or layer name.

        Raises:
            UnsupportedError: a layer has no kernel, and `runtime` is False.
            UsageError: an input or a state is missing, unknown, or has the wrong type or shape.
            RuntimeFailure: the runtime rejects the model or a layer, crashes, or is not installed.
        """
        from ir_tools.inputs import generated_inputs

        arrays = generated_inputs(self.model, inputs, seed=seed)
        if self.engine == "runtime":
            found = self._started().infer_model(self.model, arrays, states=self.states, keep=True)
            self.states.update(found.states)
            return found.outputs
        from ir_tools.execute import Execution
        from ir_tools.runtime.one_layer import LayerRunner

        fallback = LayerRunner(self._started()) if self._runtime and self._without_kernel() else None
        execution = Execution(self.model, self._precision, fallback, states=self.states)
        outputs = execution.run(arrays)
        self.states.update(execution.states)
        return outputs

    def close(self) -> None:
        """End the child process; the next run starts a new one. The values of the variables are kept."""
        if self._client is not None:
            self._client.close()

    def __enter__(self) -> Self:
        """Return the session itself."""
        return self

    def use(self, client: RuntimeClient) -> None:
        """Run on this runtime from now on, and end it with `close`."""
        self.close()
        self._client = client

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the child process."""
        self.close()

    def _started(self) -> RuntimeClient:
        from ir_tools.runtime.release import runtime_named

        if self._client is None:
            name = self._runtime if isinstance(self._runtime, str) else None
            self._client = runtime_named(name, self._extensions)
        return self._client

    def _without_kernel(self) -> bool:
        """Return whether a layer has no kernel, and warn about the layers without one."""
        from ir_tools.execute import without_kernel

        missing = without_kernel(self.model)
        if missing:
            names = ", ".join(f"'{place.path}' ({place.layer.type})" for place in missing[:3])
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            warnings.warn(
                f"the reference has no kernel for {names}{more}; the runtime ran them", RuntimeWarning, stacklevel=4
            )
        return bool(missing)


def load_model(source: ModelSource, extensions: Extensions = (), *, weights: bytes | File | None = None) -> Model:
    """Read a model from any source, as `ir_tools.read`; `extensions` are loaded for the conversion of an `.onnx`.

    Raises:
        ReadError: the file cannot be read.
        UsageError: `weights` is given for a source that has its own.
        RuntimeFailure: OpenVINO, which converts ONNX models, is not installed or crashes.
    """
    if isinstance(source, str | PathLike | bytes) and not is_onnx(source):
        return read_ir(path_or_bytes(source), None if weights is None else path_or_bytes(weights))
    if weights is not None:
        raise UsageError("weights are for an .xml; this source has its own weights")
    if isinstance(source, Model):
        return source
    if isinstance(source, str | PathLike):
        from ir_tools import onnx

        return onnx.read(Path(source), extensions=extensions)
    from ir_tools.runtime.interop import from_openvino

    return from_openvino(source)


def is_onnx(source: object) -> bool:
    """Return whether a source is a path that ends in `.onnx`."""
    return isinstance(source, str | PathLike) and Path(source).suffix.lower() == ".onnx"


def path_or_bytes(source: File | bytes) -> Path | bytes:
    """Return bytes as they are, and any other source as a path."""
    return source if isinstance(source, bytes) else Path(source)
