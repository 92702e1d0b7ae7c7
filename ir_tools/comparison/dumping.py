"""Every tensor that is compared, as files that numpy loads."""

import json
import re
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from ir_tools.comparison._layers import Compared
from ir_tools.errors import WriteError
from ir_tools.files import write_file
from ir_tools.ops import Array

__all__ = ["Dump", "save_array"]


class Dump:
    """A `Sink` that writes `NUMBER_NAME.OUTPUT.expected.npy` and `.actual.npy` into a folder.

    As a context manager, it leaves `tensors.json` there, the table of them.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is made, if it is not there.

        Raises:
            WriteError: it cannot be made.
        """
        self.folder = folder
        self._is_new = not folder.exists()
        self._rows: list[dict[str, object]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            raise WriteError(f"{folder} cannot be created: {why.strerror or why}") from None

    def __call__(self, tensors: Compared) -> None:
        """Write both tensors of one output.

        Raises:
            WriteError: a file cannot be written.
        """
        located, index = tensors.located, tensors.output
        stem = f"{len(self._rows):05}_{re.sub(r'[^A-Za-z0-9._-]+', '_', located.path)[:80]}.{index}"
        row: dict[str, object] = {"layer": located.path, "layer_id": located.layer.id, "output": index}
        row["counterpart"] = tensors.counterpart
        for side, array in (("expected", tensors.expected), ("actual", tensors.actual)):
            row[side] = f"{stem}.{side}.npy"
            save_array(self.folder / f"{stem}.{side}.npy", array)
        self._rows.append(row)

    def __enter__(self) -> Self:
        """Return the sink itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the table of what was written so far; after an error, only if there is anything, else drop the folder.

        Raises:
            WriteError: it cannot be written, and nothing went wrong before.
        """
        table = json.dumps(self._rows, indent=1).encode()
        if self._rows or error is None:
            with nullcontext() if error is None else suppress(WriteError):
                write_file(self.folder / "tensors.json", lambda file: file.write(table))
        elif self._is_new:
            with suppress(OSError):
                self.folder.rmdir()


def save_array(path: Path, array: Array) -> None:
    """Write an array as `.npy`, of a type that numpy knows without help: bf16 and f8 as f32, texts as unicode.

    Raises:
        WriteError: it cannot be written.
    """
    write_file(path, lambda file: np.lib.format.write_array(_Checked(file), _plain(array), allow_pickle=False))


class _Checked:
    """A file that numpy writes to as to any stream: to a file of the system it writes without looking at errors."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def _plain(array: Array) -> Array:
    if array.dtype.kind == "V":
        return array.astype(np.float32)
    return array.astype(str) if array.dtype.kind == "O" else array
