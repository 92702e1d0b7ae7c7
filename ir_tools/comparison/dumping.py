"""Every tensor that is compared, as files that numpy loads."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from ir_tools.comparison._layers import Compared
from ir_tools.errors import WriteError
from ir_tools.files import ALONE, NewFile, check_target, temporary_folder, write_file
from ir_tools.ops import Array

__all__ = ["Dump", "array_file"]


class Dump:
    """A `Sink` that writes `NUMBER_NAME.OUTPUT.expected.npy` and `.actual.npy` into a folder.

    As a context manager, it leaves `tensors.json` there, the table of them. Nothing is in the folder before everything
    is written, so that a full disk leaves what was there.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is made, if it is not there.

        Raises:
            WriteError: it cannot be made.
        """
        self.folder = folder
        self._made: list[Path] = []
        self._rows: list[dict[str, object]] = []
        self._stack = ExitStack()
        try:
            self._made = [path for path in (folder, *folder.parents) if not path.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            self._forget()
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
            check_target(self.folder / f"{stem}.{side}.npy")
            with self._named():
                file = array_file(self._draft / f"{stem}.{side}.npy", array)
                write_file(file.path, file.fill)
        self._rows.append(row)

    def __enter__(self) -> Self:
        """Return the sink itself.

        Raises:
            WriteError: nothing can be written into the folder.
        """
        try:
            parent = self.folder.parent if self._made else self.folder
            self._draft = self._stack.enter_context(temporary_folder(parent)) / "dump"
            self._draft.mkdir()
        except OSError as why:
            self._stack.close()
            self._forget()
            raise WriteError(f"{self.folder} cannot be written: {why.strerror or why}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave what was written so far, and the table of it; after an error, only if there is anything.

        Raises:
            WriteError: it cannot be written, and nothing went wrong before.
        """
        kept = error is None or (bool(self._rows) and not isinstance(error, WriteError))
        try:
            with self._stack, nullcontext() if error is None else suppress(WriteError):
                if kept:
                    self._publish()
        finally:
            self._forget()

    def _publish(self) -> None:
        """Write the table, and move everything into the folder.

        Raises:
            WriteError: that is not possible.
        """
        table = json.dumps(self._rows, indent=1).encode()
        check_target(self.folder / "tensors.json")
        with self._named():
            write_file(self._draft / "tensors.json", lambda file: file.write(table))
            try:
                os.rename(self._draft, self.folder)
            except OSError:
                for path in self._draft.iterdir():
                    os.replace(path, self.folder / path.name)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn errors into one that names the folder."""
        try:
            yield
        except (OSError, WriteError) as why:
            cause = why if isinstance(why, OSError) else why.__cause__
            reason = getattr(cause, "strerror", None) or why
            raise WriteError(f"{self.folder} cannot be written: {reason}; {ALONE}") from why

    def _forget(self) -> None:
        """Remove the folders that were made, if nothing is in them."""
        for path in self._made:
            with suppress(OSError):
                path.rmdir()


def array_file(path: Path, array: Array) -> NewFile:
    """Return an array as a `.npy`, of a type that numpy knows without help: bf16 and f8 as f32, texts as unicode."""
    return NewFile(path, lambda file: np.lib.format.write_array(_Checked(file), _plain(array), allow_pickle=False))


class _Checked:
    """A file that numpy writes to as to any stream: to a file of the system it writes without looking at errors."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def _plain(array: Array) -> Array:
    if array.dtype.kind == "V":
        return array.astype(np.float32)
    return array.astype(str) if array.dtype.kind == "O" else array
