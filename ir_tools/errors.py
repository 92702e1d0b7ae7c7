"""All exceptions that ir_tools raises. They derive from `IrToolsError`; their messages are written for users."""

from collections.abc import Iterable
from typing import Any

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
    """The base class of all errors of ir_tools.

    Attributes:
        diagnostics: the findings that caused the error; empty if there are none.

    Example:
        >>> try:
        ...     ir_tools.read("missing.xml")
        ... except ir_tools.IrToolsError as error:
        ...     print(error.diagnostics[0].code, error.diagnostics[0].message)
        IR001 there is no such file
    """

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        """Make an error with a message for users and the findings that caused it."""
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message and the attributes, independently of the arguments of the class."""
        return _unpickled, (type(self), self.args), self.__dict__


class ReadError(IrToolsError):
    """A file cannot be read as IR or ONNX; the diagnostics give the file and the line.

    Example:
        >>> ir_tools.read("missing.xml")
        Traceback (most recent call last):
        ir_tools.errors.ReadError: missing.xml: error IR001: there is no such file (check the path)
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        """Make an error whose message lists the findings, one per line."""
        super().__init__(format_text(diagnostics), diagnostics)


class WriteError(IrToolsError):
    """A file cannot be written; no file was changed.

    Example:
        >>> ir_tools.write(ir_tools.read("model.xml"), "no/such/folder/out.xml")
        Traceback (most recent call last):
        ir_tools.errors.WriteError: ...
    """


class GraphError(IrToolsError):
    """An edit would make the graph invalid: a layer or port does not exist, or a removed layer still has consumers.

    Example:
        >>> ir_tools.read("model.xml").graph.layer(7)
        Traceback (most recent call last):
        ir_tools.errors.GraphError: there is no layer 7
    """


class ShapeError(IrToolsError):
    """The inputs and attributes of a layer contradict each other, so its output shape cannot be computed.

    Attributes:
        attribute: the name in the file of the wrong attribute or input; None if several are involved.
        message: what is wrong, without that name.

    Example:
        >>> ir_tools.propagate_shapes("model.xml", {"data": "1,2,1,1"})
        Traceback (most recent call last):
        ir_tools.errors.ShapeError: model.xml:8: layer 1 'pool': error IR301: ...
    """

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = (), *, attribute: str | None = None) -> None:
        """Make an error whose text is the name of the attribute and `message`."""
        super().__init__(message if attribute is None else f"{attribute} {message}", diagnostics)
        self.attribute = attribute
        self.message = message


class MigrationError(IrToolsError):
    """A migration cannot be planned: the target or a pass is unknown, or an ONNX node has no exact form in the target.

    Example:
        >>> ir_tools.migrate("model.xml", to="opset99")
        Traceback (most recent call last):
        ir_tools.errors.MigrationError: 'opset99' is not a target; ...
    """


class UnsupportedError(IrToolsError):
    """The input is valid, but this version of ir_tools does not support it; the message says what to use instead.

    Example:
        >>> ir_tools.run("custom.xml", {"data": np.ones((1, 2, 8, 8), np.float32)}, runtime=False)
        Traceback (most recent call last):
        ir_tools.errors.UnsupportedError: ...
    """


class RuntimeFailure(IrToolsError):
    """The runtime rejected the model, crashed, timed out, ran out of memory or is not installed.

    Attributes:
        kind: `rejected`, `crashed`, `timeout`, `memory` or `missing`.
        stage: the stage that failed, if known: `reading the model`, `compiling the model`, `running the model`.
        reason: the message of the runtime, the name of the signal after a crash, or empty.

    Example:
        >>> try:
        ...     ir_tools.to_openvino("custom.xml")
        ... except ir_tools.RuntimeFailure as failure:
        ...     print(failure.kind)
        rejected
    """

    def __init__(
        self, message: str, *, kind: str, stage: str = "", reason: str = "", diagnostics: Iterable[Diagnostic] = ()
    ) -> None:
        """Make an error; `message` says what the runtime did and, if known, with which layer."""
        super().__init__(message, diagnostics)
        self.kind = kind
        self.stage = stage
        self.reason = reason


class UsageError(IrToolsError):
    """The arguments of a function or command are wrong: a wrong type, an unknown input name, an unreadable shape.

    Example:
        >>> ir_tools.run("model.xml", [1, 2, 3])
        Traceback (most recent call last):
        ir_tools.errors.UsageError: run: inputs is [1, 2, 3] (list); expected arrays or generators by name ...
    """


def _unpickled(kind: type[IrToolsError], arguments: tuple[object, ...]) -> IrToolsError:
    return kind.__new__(kind, *arguments)
