"""onnxruntime in a child process, one more backend for an ONNX file: `python -m ir_tools.comparison.onnxruntime ...`.

Its arguments are the model and two files, the inputs and the answer, in the frames of the runtime's child process.
"""

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ir_tools.errors import RuntimeFailure
from ir_tools.files import temporary_folder
from ir_tools.ops import Array
from ir_tools.runtime.frames import PREFIX, Buffer, from_array, pack, to_array, unpack
from ir_tools.runtime.module import run_module

__all__ = ["main", "run_onnxruntime"]


@dataclass(frozen=True, slots=True)
class OrtRun:
    """Hold the outputs by ONNX name, and the version of onnxruntime."""

    outputs: dict[str, Array] = field(repr=False)
    version: str


def run_onnxruntime(path: Path, inputs: Mapping[str, Array]) -> OrtRun:
    """Run one inference on onnxruntime's CPU provider; `inputs` may hold more names than the model has.

    Raises:
        RuntimeFailure: onnxruntime is not installed, rejects the model, crashes, or takes too long.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        raise RuntimeFailure("onnxruntime is not installed", kind="missing")
    with temporary_folder() as folder:
        fed, answer = folder / "inputs", folder / "outputs"
        _save(fed, {"names": list(inputs)}, list(inputs.values()))
        _, error = run_module("onnxruntime", "ir_tools.comparison.onnxruntime", str(path), str(fed), str(answer))
        if not answer.is_file():
            raise RuntimeFailure(f"onnxruntime cannot run: {error}", kind="missing")
        header, arrays = _load(answer)
    if "error" in header:
        raise RuntimeFailure(header["error"], kind="rejected")
    return OrtRun(dict(zip(header["names"], arrays, strict=True)), header["version"])


def main(model: str, fed: str, answer: str) -> int:
    """Run the model on the arrays in `fed` and leave the outputs, or the reason that there are none, in `answer`."""
    import onnxruntime

    header, arrays = _load(Path(fed))
    given = dict(zip(header["names"], arrays, strict=True))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        outputs = session.run(None, {entry.name: given[entry.name] for entry in session.get_inputs()})
    except Exception as error:  # onnxruntime's errors share no base class
        _save(Path(answer), {"error": " ".join(str(error).split())}, [])
        return 1
    names = [entry.name for entry in session.get_outputs()]
    _save(Path(answer), {"names": names, "version": onnxruntime.__version__}, outputs)
    return 0


def _save(path: Path, header: Mapping[str, Any], arrays: Sequence[Array]) -> None:
    parts: list[Buffer] = pack(header, [from_array(array) for array in arrays])
    with path.open("wb") as file:
        file.writelines(parts)


def _load(path: Path) -> tuple[dict[str, Any], list[Array]]:
    data = path.read_bytes()
    size, *_ = PREFIX.unpack_from(data)
    start = PREFIX.size + size
    header, blobs = unpack(data[PREFIX.size : start], memoryview(data)[start:])
    return header, [to_array(blob) for blob in blobs]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
