"""The child process in which openvino runs: `python -m ir_tools.runtime.worker REQUESTS ANSWERS FILES MEMORY`.

REQUESTS and ANSWERS are the numbers of two pipes that frames pass through, FILES that of a socket for the files of
large answers; MEMORY is a limit in bytes, or 0.

A request is a frame whose header holds `do` (the name of a task) and its arguments; the answer is a frame with the
result, or with `error` (a kind of `RuntimeFailure`, or `usage`) and `message`. The worker ends when its input ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ir_tools.errors import IrToolsError, UsageError
from ir_tools.runtime._foreign import end_with
from ir_tools.runtime._request import Answer, Request, core
from ir_tools.runtime._tensors import from_tensor, input_tensor, made_up, new_tensor, numbers
from ir_tools.runtime.extensions import add_extensions
from ir_tools.runtime.frames import PREFIX, Blob, pack_shared, unpack
from ir_tools.runtime.installed import unimportable
from ir_tools.runtime.messages import explain, is_memory, lacks_device, unknown_property
from ir_tools.runtime.release_worker import HINT, Misused, Modern, attempt, shape_words

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["leave_out_converter", "main"]

LARGEST_VALUE = 4096
"""Tensors with more elements are not asked for their values."""


class Installed(Modern):
    """The OpenVINO of this environment: models come as bytes, too, and arrays in all of its element types."""

    title = "the runtime"

    def __init__(self) -> None:
        """Load it."""
        import openvino as ov
        from openvino import opset1 as ops

        self.ov, self.core, self.ops = ov, core(), ops

    def read(self, request: Request) -> ov.Model:
        """Return the model as openvino presents it, an IR v10 with Convert layers at its borders."""
        request.stage("reading the model")
        return request.read()

    def read_as_written(self, request: Request, rename: Callable[[bytes], bytes] | None = None) -> ov.Model:
        """Return the model layer by layer as in the file; see `Modern`."""
        document = request.document()
        return request.read_as_written(rename(document) if rename else document)

    def compile(self, model: ov.Model, request: Request) -> ov.CompiledModel:
        """Compile the model on the device and with the properties of the request.

        With the hint f32 the CPU plugin keeps keys and values of attention in f32, too, and not in u8.

        Raises:
            UsageError: there is no such device here, or it has no such property.
            RuntimeError: the device rejects the model.
        """
        request.stage("compiling the model")
        config = request["config"]
        if request["device"] == "CPU" and config.get(HINT) == "f32":
            config = {"KV_CACHE_PRECISION": "f32", **config}
        try:
            return self.core.compile_model(model, request["device"], config)
        except RuntimeError as error:
            if lacks_device(str(error)):
                here = ", ".join(self.core.available_devices)
                raise UsageError(f"the runtime has no device '{request['device']}' here; it has {here}") from None
            if name := unknown_property(str(error)):
                raise UsageError(f"device '{request['device']}' has no property '{name}'") from None
            raise

    def is_final(self, error: RuntimeError) -> bool:
        """Return whether memory ran out."""
        return is_memory(str(error))

    def input_tensor(self, what: str, blob: Blob, item: ov.Output) -> ov.Tensor:
        """Return a tensor for an input."""
        return input_tensor(what, blob, item)

    def tensor(self, what: str, blob: Blob, type_: ov.Type) -> ov.Tensor:
        """Return a tensor of a type with the values of a blob, cast if no value changes."""
        return new_tensor(what, blob, type_, blob.shape)

    def taken(self, tensor: ov.Tensor) -> Blob:
        """Return the blob of a tensor."""
        return from_tensor(tensor)

    def made_up(self, item: ov.Output, sizes: tuple[int, ...], fill: int) -> ov.Tensor:
        """Return values for an input."""
        return made_up(item, sizes, fill)

    def device_name(self, compiled: ov.CompiledModel, asked: str) -> str:
        """Return the full name of the device that ran, or the name that was asked for."""
        with contextlib.suppress(RuntimeError):
            ran = compiled.get_property("EXECUTION_DEVICES")[0].strip("()")
            return str(self.core.get_property(ran, "FULL_DEVICE_NAME"))
        return asked

    def precision(self, compiled: ov.CompiledModel, asked: str) -> str:
        """Return the element type that floats are computed in; `dynamic` if the device does not say."""
        return super().precision(compiled, "dynamic")


@cache
def installed() -> Installed:
    """Return the one runtime."""
    return Installed()


# --- ask --------------------------------------------------------------------------------------------------------


def ask(request: Request) -> Answer:
    """Element type, partial shape and, for small tensors, bounds of the values of a layer's outputs.

    `layer`: its name in the model. `zeros`: how many zero bytes follow the weights that were sent.
    """
    import openvino as ov

    sent = request.blobs[request["weights"]].data
    room = np.zeros(len(sent) + request["zeros"] + 1, np.uint8)
    room[: len(sent)] = np.frombuffer(sent, np.uint8)
    model = core().read_model(request.document(), ov.Tensor(room, shared_memory=True))
    layer = next(node for node in model.get_ops() if node.get_friendly_name() == request["layer"])
    rows = [
        (output.get_element_type().get_type_name(), shape_words(output), _values(output)) for output in layer.outputs()
    ]
    return {"outputs": rows}, []


def _values(output: ov.Output) -> tuple[list[float], list[float]] | None:
    """Lower and upper bounds, flat. To broadcast to the tensor makes the runtime compute them, even if it objects."""
    from openvino import opset1 as ops

    shape, kind = output.get_partial_shape(), output.get_element_type()
    if not shape.is_static or not 0 < int(np.prod(shape.to_shape(), dtype=np.int64)) <= LARGEST_VALUE:
        return None
    with contextlib.suppress(RuntimeError):
        sizes = output if kind.get_type_name() in {"i32", "i64"} else ops.convert(output, "i64")
        ops.broadcast(ops.constant(np.float32(0)), ops.reshape(sizes, ops.constant(np.array([-1])), False))
    tensor = output.get_tensor()
    try:
        return numbers(tensor.get_lower_value()), numbers(tensor.get_upper_value())
    except RuntimeError:
        return None


# --- the loop ---------------------------------------------------------------------------------------------------


def hello(request: Request) -> Answer:
    """Load openvino, which takes the longest at the start, and the extensions."""
    request.stage("loading openvino")
    loaded = core()
    for path in request["extensions"]:
        request.stage(f"loading the extension {path}")
        add_extensions(loaded, [path])
    return {}, []


TASKS: Mapping[str, Callable[[Request], Answer]] = {
    "hello": hello,
    "infer": lambda request: installed().infer(request),
    "shapes": lambda request: installed().shapes(request),
    "describe": lambda request: installed().describe(request),
    "ask": ask,
    "attempt": lambda request: attempt(request, installed()),
}


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers, files, memory = map(int, sys.argv[1:])
    _restrict(memory)
    leave_out_converter()
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    with open(requests, "rb") as source, open(answers, "wb") as sink, socket.socket(fileno=files) as beside:
        _serve(source, sink, beside)


def _serve(source: IO[bytes], sink: IO[bytes], beside: socket.socket) -> None:
    while prefix := source.read(PREFIX.size):
        os.ftruncate(2, 0)
        Request({}, []).stage("receiving the model and its inputs")
        head, body, _ = PREFIX.unpack(prefix)
        header, blobs = unpack(source.read(head), source.read(body))
        signal.setitimer(signal.ITIMER_REAL, header["limit"])
        signal.setitimer(signal.ITIMER_PROF, header.get("seconds", 0.0))
        answer = _answer(Request(header, blobs))
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        parts, file = pack_shared(*answer)
        if file is not None:
            socket.send_fds(beside, [b"x"], [file])
            os.close(file)
        for part in parts:
            sink.write(part)
        sink.flush()


def leave_out_converter() -> None:
    """Let openvino load without its converter of other formats: half of its time, and it takes it for not installed."""
    not_installed: Any = None
    sys.modules["openvino.tools.ovc"] = not_installed


def _restrict(memory: int) -> None:
    """Limit the memory, and let the system end this process rather than another when it runs short."""
    import resource

    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _answer(request: Request) -> Answer:
    """Return the result of a task, or what went wrong."""
    try:
        return TASKS[request["do"]](request)
    except ImportError as error:
        kind, message = "missing", unimportable(error)
    except MemoryError:
        kind, message = "memory", "it does not fit into the memory limit"
    except (IrToolsError, Misused) as error:
        kind, message = "usage", str(error)
    except Exception as error:
        message = str(error)
        kind = "memory" if is_memory(message) else "rejected"
        message = explain(message)
    return {"error": kind, "message": message}, []


if __name__ == "__main__":
    main()
