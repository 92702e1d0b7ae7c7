"""The loop of a child process in another environment: `PYTHON _foreign.py TASKS REQUESTS ANSWERS FILES MEMORY`.

It runs on Python 3.6 and later, and imports nothing of ir_tools. TASKS is a file with a table `TASKS` of functions that
take a `Request` and return a header and blobs, each an element type, sizes and bytes. Frames are those of `frames.py`;
answers go through the pipe, and FILES is not used. An exception is an answer, of the kind that its attribute `kind`
says: `usage`, `missing`, `memory`, or `rejected`.
"""

import importlib.util
import json
import os
import resource
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

PREFIX = struct.Struct("<IQ?")
STAGE = "ir_tools: "
TASKS = {}  # type: dict[str, dict[str, Callable[[Any], Any]]]
"""By file."""


class Request:
    """A request: the arguments of its header, and its blobs."""

    def __init__(self, header: "dict[str, Any]", blobs: "list[Any]") -> None:
        """`blobs`: element type, sizes and bytes of each."""
        self.header = header
        self.blobs = blobs

    def __getitem__(self, name: str) -> Any:
        """Return an argument."""
        return self.header[name]

    def stage(self, text: str) -> None:
        """Leave word of what comes next, in case it is the last thing."""
        os.write(2, (STAGE + text + "\n").encode())


def load(path: str) -> "dict[str, Callable[[Any], Any]]":
    """Return the tasks of a file."""
    spec = importlib.util.spec_from_file_location("tasks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tasks = module.TASKS  # type: dict[str, Callable[[Any], Any]]
    return tasks


def blobs_of(table: "list[Any]", payload: bytes) -> "list[Any]":
    """Return element type, sizes and bytes of the blobs of a frame."""
    found, start = [], 0
    for type_, shape, size in table:
        found.append((type_, tuple(shape), payload[start : start + size]))
        start += size
    return found


def answer(path: str, request: Request) -> "tuple[dict[str, Any], list[Any]]":
    """Return the result of a task, or what went wrong; the tasks are loaded with the first."""
    try:
        tasks = TASKS.get(path) or TASKS.setdefault(path, load(path))
        result, blobs = tasks[request["do"]](request)
        return result, blobs
    except MemoryError:
        kind, message = "memory", "it does not fit into the memory limit"
    except Exception as error:
        kind, message = getattr(error, "kind", "rejected"), str(error)
        if request["do"] == "hello":
            kind, message = "missing", f"{request['name']} cannot be loaded in {sys.executable}: {error}"
    return {"error": kind, "message": message}, []


def serve(path: str, source: "IO[bytes]", sink: "IO[bytes]") -> None:
    """Answer requests until there are no more."""
    while True:
        prefix = source.read(PREFIX.size)
        if not prefix:
            return
        os.ftruncate(2, 0)
        head, body, _ = PREFIX.unpack(prefix)
        header, payload = json.loads(source.read(head).decode()), source.read(body)
        signal.setitimer(signal.ITIMER_REAL, header["limit"])
        signal.setitimer(signal.ITIMER_PROF, header.get("seconds", 0.0))
        result, blobs = answer(path, Request(header, blobs_of(header.pop("blobs"), payload)))
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        result["blobs"] = [(type_, shape, len(data)) for type_, shape, data in blobs]
        text = json.dumps(result).encode()
        sink.write(PREFIX.pack(len(text), sum(len(data) for _, _, data in blobs), False) + text)
        for _, _, data in blobs:
            sink.write(data)
        sink.flush()


def end_with(parent: int) -> None:
    """End this process, whatever it does, when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """Limit the memory, and answer."""
    path = sys.argv[1]
    requests, answers, _, memory = (int(argument) for argument in sys.argv[2:])
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    with os.fdopen(requests, "rb") as source, os.fdopen(answers, "wb") as sink:
        serve(path, source, sink)


if __name__ == "__main__":
    main()
