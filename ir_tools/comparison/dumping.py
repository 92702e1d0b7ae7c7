"""Every tensor that is compared, as files that numpy loads."""

import json
import re
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from ir_tools.errors import WriteError
from ir_tools.graph import Located
from ir_tools.ops import Array

__all__ = ["Dump"]


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
        self._rows: list[dict[str, object]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            raise WriteError(f"{folder} cannot be made: {why.strerror or why}") from None

    def __call__(self, located: Located, index: int, expected: Array, actual: Array) -> None:
        """Write both tensors of one output.

        Raises:
            WriteError: a file cannot be written.
        """
        stem = f"{len(self._rows):05}_{re.sub(r'[^A-Za-z0-9._-]+', '_', located.path)[:80]}.{index}"
        row: dict[str, object] = {"layer": located.path, "layer_id": located.layer.id, "output": index}
        try:
            for side, array in (("expected", expected), ("actual", actual)):
                row[side] = f"{stem}.{side}.npy"
                np.save(self.folder / f"{stem}.{side}.npy", _plain(array), allow_pickle=False)
            self._rows.append(row)
        except OSError as why:
            raise WriteError(f"{self.folder / stem} cannot be written: {why.strerror or why}") from None

    def __enter__(self) -> Self:
        """The sink itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the table of what was written so far.

        Raises:
            WriteError: it cannot be written.
        """
        try:
            (self.folder / "tensors.json").write_text(json.dumps(self._rows, indent=1))
        except OSError as why:
            raise WriteError(f"{self.folder / 'tensors.json'} cannot be written: {why.strerror or why}") from None


def _plain(array: Array) -> Array:
    """The array in a type that numpy knows without help: bf16 and f8 as f32, texts as unicode."""
    if array.dtype.kind == "V":
        return array.astype(np.float32)
    return array.astype(str) if array.dtype.kind == "O" else array
