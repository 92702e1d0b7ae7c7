"""The child process in which openvino runs: `python -m ir_tools.runtime.worker REQUESTS ANSWERS FILES MEMORY`.

REQUESTS and ANSWERS are the numbers of two pipes that frames pass through, FILES that of a socket for the files of
large answers; MEMORY is a limit in bytes, or 0.

A request is a frame whose header holds `do` (the name of a task) and its arguments; the answer is a frame with the
result, or with `error` (a kind of `RuntimeFailure`, or `usage`) and `message`. The worker ends when its input ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ir_tools.errors import IrToolsError, UsageError
from ir_tools.runtime._attempt import attempt
from ir_tools.runtime._foreign import end_with
from ir_tools.runtime._frames import PREFIX, Blob, pack_shared, unpack
from ir_tools.runtime._messages import explain, is_memory
from ir_tools.runtime._request import Answer, Header, Request, compile_model, core, stage
from ir_tools.runtime._tensors import feed, from_tensor, input_numbers, new_tensor
from ir_tools.runtime.extensions import add_extensions
from ir_tools.runtime.installed import unimportable
from ir_tools.runtime.release_worker import duplicates, executed, graphs, shape_words, unique_names, walk

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["leave_out_converter", "main"]

LARGEST_VALUE = 4096
"""Tensors with more elements are not asked for their values."""


# --- infer ------------------------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """A compiled model: as the caller sees it, as it runs with its taps, and the numbers of their outputs.

    `request` holds the bytes of the constants, which openvino does not copy.
    """

    presented: ov.Model
    model: ov.Model
    tapped: list[int]
    compiled: ov.CompiledModel
    request: Request


_KEPT: dict[bytes, Prepared] = {}
MAX_KEPT = 64
"""Small models that stay compiled, the last ones."""


def infer(request: Request) -> Answer:
    """Run one inference; see `RuntimeClient.infer`."""
    import openvino as ov

    presented, model, tapped, compiled, _ = _kept(request) if request["keep"] else _prepare(request)
    run = compiled.create_infer_request()
    names, states = request["inputs"], request["states"]
    arrays = iter(request.blobs[_first_array(request) :])
    for index, tensor in feed(model, {name: next(arrays) for name in names}).items():
        run.set_input_tensor(index, tensor)
    _set_states(run, {name: next(arrays) for name in states})
    stage("running the model")
    run.infer()
    after = run.query_state()
    results = [from_tensor(run.get_output_tensor(index)) for index in range(len(model.outputs))]
    own = len(presented.outputs)
    header = {
        "outputs": [_describe(output) for output in presented.outputs],
        "version": ov.get_version(),
        "device": _device_name(compiled, request["device"]),
        "precision": _precision(compiled),
        "executed": executed(compiled.get_runtime_model()) if request["executed"] else [],
        "states": [variable.name for variable in after],
    }
    values = (from_tensor(variable.state) for variable in after)
    return header, [*results[:own], *(results[index] for index in tapped), *values]


def _prepare(request: Request) -> Prepared:
    stage("reading the model")
    presented = request.read()
    model, tapped = _tapped(request, presented) if request["taps"] else (presented, [])
    for each in {id(model): model, id(presented): presented}.values():
        _reshape(each, request["shapes"])
    return Prepared(presented, model, tapped, compile_model(model, request), request)


def _kept(request: Request) -> Prepared:
    """Return the model of an equal request, or a new one, which is kept."""
    files = [os.stat(path) for path in (request["model"], request["weights"]) if isinstance(path, str)]
    stamps = [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in files]
    key = hashlib.blake2b(json.dumps([{**request.header, "inputs": [], "states": []}, stamps]).encode())
    for blob in request.blobs[: _first_array(request)]:
        key.update(len(blob.data).to_bytes(8, "little"))
        key.update(blob.data)
    found = _KEPT.pop(key.digest(), None) or _prepare(request)
    _KEPT[key.digest()] = found
    if len(_KEPT) > MAX_KEPT:
        del _KEPT[next(iter(_KEPT))]
    return found


def _first_array(request: Request) -> int:
    """Return the number of the blob of the first input; before it come the model and its weights, if they were sent."""
    return len(request.blobs) - len(request["inputs"]) - len(request["states"])


def _set_states(run: ov.InferRequest, given: Mapping[str, Blob]) -> None:
    known = {variable.name: variable for variable in run.query_state()} if given else {}
    for name, blob in given.items():
        if name not in known:
            raise UsageError(f"there is no state '{name}'; the model has {', '.join(known) or 'none'}")
        known[name].state = new_tensor(f"state '{name}'", blob, known[name].state.element_type, blob.shape)


def _device_name(compiled: ov.CompiledModel, asked: str) -> str:
    """Return the full name of the device that ran, or the name that was asked for."""
    with contextlib.suppress(RuntimeError):
        ran = compiled.get_property("EXECUTION_DEVICES")[0].strip("()")
        return str(core().get_property(ran, "FULL_DEVICE_NAME"))
    return asked


def _precision(compiled: ov.CompiledModel) -> str:
    """Return the element type that floats are computed in; `dynamic` if the device does not say."""
    with contextlib.suppress(RuntimeError):
        return str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())
    return "dynamic"


def _tapped(request: Request, presented: ov.Model) -> tuple[ov.Model, list[int]]:
    """Return the model with an output for every tap, and the numbers of these outputs.

    It is read as written, so that layers keep their own types, and then given the presented types at its borders.
    """
    import openvino as ov
    from openvino import opset1 as ops

    model = request.read_as_written()
    if any("#" in name for name, _ in request["taps"]) and duplicates(model):
        model = request.read_as_written(unique_names(request.document()))
    places: dict[tuple[int, int], int] = {}
    tapped = []
    named: dict[str, list[ov.Node]] = {}
    for node in model.get_ops():
        named.setdefault(node.get_friendly_name(), []).append(node)
    for name, index in request["taps"]:
        source = _find(named, name, index)
        key = (source.node.get_instance_id(), source.index)
        if key not in places:
            places[key] = len(model.outputs)
            narrow = request["wide"] and source.get_element_type() in {ov.Type.f16, ov.Type.bf16}
            model.add_results([ops.result(ops.convert(source, "f32") if narrow else source)])
        tapped.append(places[key])
    _present(model, presented)
    model.validate_nodes_and_infer_types()
    return model, tapped


def _find(named: Mapping[str, list[ov.Node]], name: str, index: int) -> ov.Output:
    """Output `index` of the layer called `name`; what a Result reads, for a Result."""
    found = named.get(name, [])
    if not found:
        raise UsageError(
            f"the runtime has no layer '{name}': nothing that leads to an output of the model has this name"
        )
    if len(found) > 1:
        raise UsageError(f"{len(found)} layers are called '{name}'; rename all but one")
    if found[0].get_type_name() == "Result":
        return found[0].input_value(0)
    if index >= found[0].get_output_size():
        raise UsageError(f"layer '{name}' has no output {index}")
    return found[0].output(index)


def _present(model: ov.Model, presented: ov.Model) -> None:
    """Give inputs and outputs the types of `presented`, with Convert layers inside, as openvino does for IR v10."""
    from openvino import opset1 as ops

    for own, shown in zip(model.get_parameters(), presented.get_parameters(), strict=True):
        wanted, type_ = shown.get_element_type(), own.get_element_type()
        if wanted != type_:
            consumers = own.output(0).get_target_inputs()
            own.set_element_type(wanted)
            own.validate_and_infer_types()
            inner = ops.convert(own, type_.get_type_name())
            for consumer in consumers:
                consumer.replace_source_output(inner.output(0))
    for own, shown in zip(model.get_results(), presented.get_results(), strict=False):
        wanted = shown.get_element_type()
        if wanted != own.get_element_type():
            outer = ops.convert(own.input_value(0), wanted.get_type_name())
            own.input(0).replace_source_output(outer.output(0))


def _describe(output: ov.Output) -> Header:
    """Return an input or output of a model: every name that it answers to, type and shape."""
    node = output.get_node()
    header = {"names": sorted(output.get_names()), "layer": node.get_friendly_name()}
    if node.get_type_name() == "Result":
        producer = node.input_value(0)
        label = producer.node.get_friendly_name()
        header["producer"] = label if producer.node.get_output_size() == 1 else f"{label}.{producer.index}"
    return {**header, "type": output.get_element_type().get_type_name(), "shape": shape_words(output)}


def _reshape(model: ov.Model, shapes: Mapping[str, str]) -> None:
    import openvino as ov

    if shapes:
        stage("reshaping the model")
        numbers = input_numbers(model, shapes)
        model.reshape(dict(zip(numbers, map(ov.PartialShape, shapes.values()), strict=True)))


# --- shapes -----------------------------------------------------------------------------------------------------


def shapes(request: Request) -> Answer:
    """Element type and partial shape of every output of every layer, bodies included."""
    stage("reading the model")
    model = request.read_as_written()
    if any(duplicates(graph) for graph in graphs(model)):
        model = request.read_as_written(unique_names(request.document()))
    _reshape(model, request["shapes"])
    return {"shapes": list(walk(model, ""))}, []


def describe(request: Request) -> Answer:
    """Return inputs and outputs as openvino presents them."""
    stage("reading the model")
    model = request.read()
    _reshape(model, request["shapes"])
    return {
        "inputs": [_describe(item) for item in model.inputs],
        "outputs": [_describe(item) for item in model.outputs],
    }, []


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
        lower, upper = tensor.get_lower_value(), tensor.get_upper_value()
        return lower.data.ravel().tolist(), upper.data.ravel().tolist()
    except RuntimeError:
        return None


# --- the loop ---------------------------------------------------------------------------------------------------


def hello(request: Request) -> Answer:
    """Load openvino, which takes the longest at the start, and the extensions."""
    stage("loading openvino")
    loaded = core()
    for path in request["extensions"]:
        stage(f"loading the extension {path}")
        add_extensions(loaded, [path])
    return {}, []


TASKS: Mapping[str, Callable[[Request], Answer]] = {
    "hello": hello,
    "infer": infer,
    "shapes": shapes,
    "describe": describe,
    "ask": ask,
    "attempt": attempt,
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
        stage("receiving the model and its inputs")
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
    except IrToolsError as error:
        kind, message = "usage", str(error)
    except Exception as error:
        message = str(error)
        kind = "memory" if is_memory(message) else "rejected"
        message = explain(message)
    return {"error": kind, "message": message}, []


if __name__ == "__main__":
    main()
