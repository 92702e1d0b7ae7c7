"""Whether OpenVINO is installed, and which: without loading it."""

import importlib.util

from ir_tools.errors import RuntimeFailure

__all__ = ["openvino_version", "require_openvino", "unimportable"]

INSTALL = 'pip install "ir_tools[runtime]"'


def openvino_version() -> str | None:
    """Return the version of the installed package, None without one."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("openvino")
    except PackageNotFoundError:
        return None


def require_openvino() -> None:
    """Return if OpenVINO is installed.

    Raises:
        RuntimeFailure: it is not; the message says how to install it.
    """
    if importlib.util.find_spec("openvino") is None:
        raise RuntimeFailure(f"this needs OpenVINO, which is not installed: {INSTALL}", kind="missing")


def unimportable(error: ImportError) -> str:
    """Return the message for an OpenVINO that is installed and cannot be imported."""
    return f"openvino cannot be imported ({error}); install it with: {INSTALL}"
