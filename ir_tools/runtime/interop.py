"""Models to and from `openvino.Model`, in this process: the one place where a caller has openvino loaded anyway."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools.errors import RuntimeFailure
from ir_tools.files import temporary_folder
from ir_tools.format.read import read
from ir_tools.graph import Model
from ir_tools.runtime.client import sources
from ir_tools.runtime.extensions import Extensions, core_with, library_paths
from ir_tools.runtime.installed import require_openvino, unimportable
from ir_tools.runtime.messages import explain

if TYPE_CHECKING:
    import openvino as ov

__all__ = ["from_openvino", "to_openvino"]


def to_openvino(model: Model, extensions: Extensions = ()) -> ov.Model:
    """Return the model as openvino reads it, with the operations of `extensions`.

    The weights are mapped from their file, or from a copy without a name where constants were added.

    Raises:
        UsageError: an extension cannot be loaded.
        RuntimeFailure: openvino is not installed, or rejects the model.
    """
    require_openvino()
    libraries = library_paths(extensions)
    try:
        core = core_with(libraries)
    except ImportError as error:
        raise RuntimeFailure(unimportable(error), kind="missing") from None
    with sources(model) as (text, weights), temporary_folder() as folder:
        path = text if isinstance(text, Path) else folder / "model.xml"
        if isinstance(text, bytes):
            path.write_bytes(text)
        try:
            return core.read_model(path, weights or "")
        except RuntimeError as error:
            raise RuntimeFailure(f"the runtime rejects it: {explain(str(error))}", kind="rejected") from None


def from_openvino(model: ov.Model) -> Model:
    """Return the model as openvino serialises it: IR v11, or v10 if it was read from that; constants as they are.

    The weights are mapped from a temporary file without a name, whose space is free again with the model.

    Raises:
        RuntimeFailure: openvino cannot serialise the model.
    """
    import openvino as ov

    with temporary_folder() as folder:
        path, beside = folder / "model.xml", folder / "model.bin"
        try:
            ov.serialize(model, path, beside)
        except RuntimeError as error:
            message = f"the runtime cannot write it: {explain(str(error))}"
            raise RuntimeFailure(message, kind="rejected") from None
        found = read(path.read_bytes(), beside)
    found.weights.path = None
    return found
