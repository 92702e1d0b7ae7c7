"""Every exception that ir_tools raises. All derive from `IrToolsError`, whose text is fit for a user."""

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
    """Any error of ir_tools.

    Attributes:
        diagnostics: the findings behind it, if there are any.

    Example:
        >>> try:
        ...     ir_tools.read("missing.xml")
        ... except ir_tools.IrToolsError as error:
        ...     print(error.diagnostics[0].code, error.diagnostics[0].message)
        IR001 there is no such file
    """

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        """`message` is shown to people as it is."""
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle message and attributes, whatever the arguments of the class are."""
        return _unpickled, (type(self), self.args), self.__dict__


class ReadError(IrToolsError):
    """A file cannot be read as IR; the findings name file and line.

    Example:
        >>> ir_tools.read("missing.xml")
        Traceback (most recent call last):
        ir_tools.errors.ReadError: missing.xml: error IR001: there is no such file (check the path)
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        """Take the findings as the message, one a line."""
        super().__init__(format_text(diagnostics), diagnostics)


class WriteError(IrToolsError):
    """A file cannot be written; nothing was changed on disk.

    Example:
        >>> ir_tools.write(ir_tools.read("model.xml"), "no/such/folder/out.xml")
        Traceback (most recent call last):
        ir_tools.errors.WriteError: ...
    """


class GraphError(IrToolsError):
    """An edit that would leave the graph broken: an unknown layer or port, a layer that others still read.

    Example:
        >>> ir_tools.read("model.xml").graph.layer(7)
        Traceback (most recent call last):
        ir_tools.errors.GraphError: there is no layer 7
    """


class ShapeError(IrToolsError):
    """A layer whose inputs or attributes contradict each other, so that it has no output shape.

    Attributes:
        attribute: the attribute or input that is wrong, by its name in the file, if it is a single one.
        message: what is wrong, without that name.

    Example:
        >>> ir_tools.propagate_shapes("model.xml", {"data": "1,2,1,1"})
        Traceback (most recent call last):
        ir_tools.errors.ShapeError: model.xml:8: layer 1 'pool': error IR301: ...
    """

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = (), *, attribute: str | None = None) -> None:
        """Show `message` to people, after the name of the attribute."""
        super().__init__(message if attribute is None else f"{attribute} {message}", diagnostics)
        self.attribute = attribute
        self.message = message


class MigrationError(IrToolsError):
    """A migration that cannot be planned: an unknown target or pass, an ONNX node without an exact form.

    Example:
        >>> ir_tools.migrate("model.xml", to="opset99")
        Traceback (most recent call last):
        ir_tools.errors.MigrationError: 'opset99' is not a target; ...
    """


class UnsupportedError(IrToolsError):
    """Something valid that this version of ir_tools does not do, with what to use instead.

    Example:
        >>> ir_tools.run("custom.xml", {"data": np.ones((1, 2, 8, 8), np.float32)}, runtime=False)
        Traceback (most recent call last):
        ir_tools.errors.UnsupportedError: ...
    """


class RuntimeFailure(IrToolsError):
    """The OpenVINO runtime rejected the model, crashed, hung or ran out of memory in its child process.

    Attributes:
        kind: `rejected`, `crashed`, `timeout`, `memory` or `missing`.
        stage: what it was doing, if it said so: `reading the model`, `compiling the model`, `running the model`.
        reason: its own words, the name of the signal if it crashed, or nothing.

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
        """`message` says what the runtime did and, where known, to which layer."""
        super().__init__(message, diagnostics)
        self.kind = kind
        self.stage = stage
        self.reason = reason


class UsageError(IrToolsError):
    """Wrong arguments to a function or command: a wrong type, an unknown input name, a shape that cannot be read.

    Example:
        >>> ir_tools.run("model.xml", [1, 2, 3])
        Traceback (most recent call last):
        ir_tools.errors.UsageError: run: inputs is [1, 2, 3] (list); expected arrays or generators by name ...
    """


def _unpickled(kind: type[IrToolsError], arguments: tuple[object, ...]) -> IrToolsError:
    return kind.__new__(kind, *arguments)
