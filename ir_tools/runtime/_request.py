"""What every task of the worker needs: the one Core, the model of a request, and word of what is being done."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_tools.runtime.frames import STAGE, Blob
from ir_tools.runtime.release_worker import OLD_NET

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["Answer", "Header", "Request", "core"]

Header = dict[str, Any]
Answer = tuple[Header, list[Blob]]


class Request:
    """A request, with its model read from paths or blobs."""

    def __init__(self, header: Header, blobs: Sequence[Blob]) -> None:
        """`model` and `weights` in the header are paths, numbers of blobs, or None."""
        self.header = header
        self.blobs = blobs
        self._kept: list[Any] = []

    def __getitem__(self, name: str) -> Any:
        """Return an argument."""
        return self.header[name]

    def stage(self, text: str) -> None:
        """Leave word of what comes next, in case it is the last thing."""
        os.write(2, f"{STAGE}{text}\n".encode())

    def document(self) -> bytes:
        """Return the bytes of the `.xml`."""
        source = self.header["model"]
        return Path(source).read_bytes() if isinstance(source, str) else bytes(self.blobs[source].data)

    def weights(self) -> ov.Tensor | None:
        """Return the bytes of the `.bin`, mapped if it is a file."""
        import openvino as ov

        source, path = self.header["weights"], self.header["model"]
        if source is None and isinstance(path, str):
            beside = Path(path).with_suffix(".bin")
            source = str(beside) if beside.exists() else None
        if source is None:
            return None
        if isinstance(source, int):
            data = np.frombuffer(self.blobs[source].data, np.uint8)
        else:
            data = np.memmap(source, np.uint8, "r") if Path(source).stat().st_size else np.zeros(0, np.uint8)
        self._kept.append(data)
        return ov.Tensor(_writeable(data), shared_memory=True) if data.size else None

    def read(self) -> ov.Model:
        """Return the model as openvino presents it, an IR v10 with Convert layers at its borders."""
        source, weights = self.header["model"], self.header["weights"]
        if isinstance(source, str) and not isinstance(weights, int):
            return core().read_model(source, weights or "")
        return core().read_model(self.document(), self.weights())

    def read_as_written(self, document: bytes) -> ov.Model:
        """Return the model of a text layer by layer: IR v10 is read as v11, without Converts at its borders."""
        return core().read_model(OLD_NET.sub(rb"\g<1>11\2", document, count=1), self.weights())


def _writeable(data: Any) -> Any:
    """Return the same bytes, declared writeable as openvino wants weights. The caller keeps `data` alive."""
    return np.frombuffer((ctypes.c_ubyte * data.size).from_address(data.ctypes.data), np.uint8)


_CORE: list[ov.Core] = []


def core() -> ov.Core:
    """Return the one Core."""
    if not _CORE:
        import openvino as ov

        _CORE.append(ov.Core())
    return _CORE[0]
