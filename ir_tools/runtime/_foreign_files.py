"""What starts a child in another environment, and the files through which models reach it."""

import os
import weakref
from contextlib import ExitStack
from pathlib import Path

from ir_tools.files import NewFile, temporary_folder, write_files
from ir_tools.runtime._process import Header

__all__ = ["Files", "foreign_program"]

LOOP = Path(__file__).with_name("_foreign.py")


def foreign_program(python: Path, tasks: str, name: str, version: str = "") -> tuple[tuple[str, ...], Header]:
    """Return the program of a child with the tasks of a file of this folder, and its first request.

    Args:
        python: the interpreter of the environment.
        tasks: name of the file.
        name: of the runtime, in messages.
        version: that the environment should have.
    """
    hello = {"do": "hello", "name": name, "version": version}
    return (str(python), "-I", str(LOOP), str(LOOP.with_name(tasks))), hello


class Files:
    """Files with what is not on disk, in a folder that goes with this object.

    Later ones replace earlier ones, and are not written over them: a child may still have those mapped.
    """

    def __init__(self) -> None:
        """Make the folder."""
        stack = ExitStack()
        weakref.finalize(self, stack.close)
        self._folder = stack.enter_context(temporary_folder())

    def of(self, model_xml: Path | str | bytes, weights: Path | str | bytes | None) -> Header:
        """Return the arguments `model`, `weights` and `folder`, which the child may write into, as paths.

        The weights are by default the `.bin` beside the model.
        """
        model = self._path("model.xml", model_xml)
        if weights is None:
            beside = None if isinstance(model_xml, bytes) else Path(model_xml).with_suffix(".bin")
            weights = beside if beside is not None and beside.exists() else b""
        return {"model": model, "weights": self._path("model.bin", weights), "folder": str(self._folder)}

    def _path(self, name: str, source: Path | str | bytes) -> str:
        path = self._folder / name
        draft = path.with_suffix(".new")
        if isinstance(source, bytes | bytearray | memoryview):
            write_files([NewFile(draft, lambda file: file.write(source), durable=False)])
        elif _is_text(found := os.path.abspath(source)):
            return found
        else:
            draft.symlink_to(found)
        draft.replace(path)
        return str(path)


def _is_text(path: str) -> bool:
    """Return whether a path is text in UTF-8, as the API of a release takes it; a system may have others."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
