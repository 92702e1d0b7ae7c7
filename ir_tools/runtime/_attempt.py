"""In the worker: to read, compile and run a model once, on inputs that are made up."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ir_tools.errors import UsageError
from ir_tools.runtime._frames import Blob
from ir_tools.runtime._messages import explain, is_memory
from ir_tools.runtime._request import Answer, Request, compile_model, stage
from ir_tools.runtime._tensors import feed
from ir_tools.runtime.release_worker import SIZES, peak, reset_peak, within
from ir_tools.types import element_type

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["attempt"]

MAX_ELEMENTS = 1 << 24
"""Of an input with dynamic dimensions; sizes that would make more are not tried."""


def attempt(request: Request) -> Answer:
    """Go as far as `until`: `reading the model`, `compiling the model`, `running the model`.

    Answers `seconds` of processor time, `peak` memory in bytes and `unfit`: why the inference was rejected on each
    of the sizes that were made up for dynamic dimensions, or nothing.
    """
    started = time.process_time()
    reset_peak()
    unfit = ""
    stage("reading the model")
    model = request.read()
    if request["until"] != "reading the model":
        compiled = compile_model(model, request)
        if request["until"] != "compiling the model":
            given = dict(zip(request["inputs"], request.blobs[-len(request["inputs"]) :], strict=False))
            unfit = _run_on(compiled, given) if given else _run(compiled, request["fills"])
    return {"seconds": time.process_time() - started, "peak": peak(), "unfit": unfit}, []


def _run_on(compiled: ov.CompiledModel, given: Mapping[str, Blob]) -> str:
    """Infer on the inputs that are given."""
    run = compiled.create_infer_request()
    stage("making up inputs")
    for index, tensor in feed(compiled, given).items():
        run.set_input_tensor(index, tensor)
    stage("running the model")
    run.infer()
    return ""


def _run(compiled: ov.CompiledModel, fills: list[int]) -> str:
    """Infer until one choice of inputs is taken.

    Returns:
        Why none was, where dynamic dimensions had to be made up.

    Raises:
        RuntimeError: every choice was rejected, with static shapes.
    """
    run = compiled.create_infer_request()
    reasons: list[str] = []
    for sizes in _choices(compiled):
        for fill in fills:
            stage("making up inputs")
            generator = np.random.default_rng(0)
            for index, (parameter, shape) in enumerate(zip(compiled.inputs, sizes, strict=True)):
                run.set_input_tensor(index, _tensor(generator, parameter, shape, fill))
            stage("running the model")
            try:
                run.infer()
            except RuntimeError as error:
                if is_memory(str(error)):
                    raise
                reasons.append(str(error))
            else:
                return ""
    if all(parameter.get_partial_shape().is_static for parameter in compiled.inputs):
        raise RuntimeError(reasons[0])
    return explain(reasons[0])


def _choices(compiled: ov.CompiledModel) -> Iterator[list[tuple[int, ...]]]:
    """Shapes for all inputs: one choice where they are static, else one for each of `SIZES`, without repetitions."""
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for size in SIZES:
        shapes = [_shape(parameter, size) for parameter in compiled.inputs]
        key = tuple(shapes)
        dynamic = any(parameter.get_partial_shape().is_dynamic for parameter in compiled.inputs)
        if key not in seen and not (seen and dynamic and any(math.prod(shape) > MAX_ELEMENTS for shape in shapes)):
            seen.add(key)
            yield shapes


def _shape(parameter: ov.Output, size: int) -> tuple[int, ...]:
    partial = parameter.get_partial_shape()
    if partial.rank.is_dynamic:
        raise UsageError(f"input '{parameter.get_node().get_friendly_name()}' has no known rank")
    return tuple(within(dim, 1 if axis == 0 else size) for axis, dim in enumerate(partial))


def _tensor(generator: np.random.Generator, parameter: ov.Output, shape: tuple[int, ...], fill: int) -> ov.Tensor:
    """Return normal floats; integers and booleans are all `fill`, which is an index, a length and a count alike."""
    import openvino as ov

    kind = element_type(parameter.get_element_type().get_type_name())
    if math.prod(shape) * max(kind.bits, 1) >= 1 << 62:
        raise MemoryError
    if kind.name == "string":
        return ov.Tensor(np.full(shape, "text"))
    tensor = ov.Tensor(parameter.get_element_type(), ov.Shape(shape))
    data = tensor.data.reshape(-1).view(np.uint8)
    if kind.dtype is None:
        data[:] = 0
    elif kind.is_float:
        for part in np.array_split(data.view(kind.dtype), max(tensor.size >> 20, 1)):
            part[:] = generator.standard_normal(part.size, np.float32).astype(kind.dtype)
    else:
        data.view(kind.dtype)[:] = fill
    return tensor
