"""Every exception that ir_tools raises. All derive from `IrToolsError`, whose text is fit for a user."""

from collections.abc import Iterable

from ir_tools.diagnostics import Diagnostic, format_text

__all__ = [
    "GraphError",
    "IrToolsError",
    "MigrationError",
    "ReadError",
    "RuntimeFailure",
    "ShapeError",
    "UnsupportedError",
    "UsageError",
    "WriteError",
]


class IrToolsError(Exception):
    """Base of all errors of ir_tools; `diagnostics` holds the findings behind it, where there are any."""

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        """`message` is shown to people as it is."""
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)


class ReadError(IrToolsError):
    """A file cannot be read as IR; the findings name file and line."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        """The message is the findings, one a line."""
        super().__init__(format_text(diagnostics), diagnostics)


class WriteError(IrToolsError):
    """A model cannot be written; nothing was changed on disk."""


class GraphError(IrToolsError):
    """An edit that would leave the graph broken: an unknown layer or port, a port connected twice."""


class ShapeError(IrToolsError):
    """A layer whose inputs or attributes contradict each other, so that it has no output shape."""


class MigrationError(IrToolsError):
    """A move that was asked for cannot be planned at all (an unknown target, say)."""


class UnsupportedError(IrToolsError):
    """Something valid that this version of ir_tools does not do, with what to use instead."""


class RuntimeFailure(IrToolsError):
    """The OpenVINO runtime rejected the model, crashed, hung or ran out of memory in its child process.

    Attributes:
        kind: `rejected`, `crashed`, `timeout`, `memory` or `missing`.
        stage: what it was doing, where it said so: `reading the model`, `compiling the model`, `running the model`.
        reason: its own words, the name of the signal where it crashed, or nothing.
    """

    def __init__(
        self, message: str, *, kind: str, stage: str = "", reason: str = "", diagnostics: Iterable[Diagnostic] = ()
    ) -> None:
        """`message` says what the runtime did and, where known, to which layer."""
        super().__init__(message, diagnostics)
        self.kind = kind
        self.stage = stage
        self.reason = reason


class UsageError(IrToolsError):
    """Wrong arguments to a function or command: an unknown input name, a shape that cannot be read."""
