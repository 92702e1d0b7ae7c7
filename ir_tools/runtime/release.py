"""Any release of OpenVINO in a child process of another interpreter, asked as the installed one is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ir_tools.errors import RuntimeFailure, UsageError
from ir_tools.releases.table import Release, find_release
from ir_tools.runtime._foreign_files import Files, foreign_program
from ir_tools.runtime._process import Header
from ir_tools.runtime.client import RuntimeClient, Source, key_of
from ir_tools.runtime.environments import release_python, remedy
from ir_tools.runtime.extensions import Extensions, library_paths
from ir_tools.runtime.frames import Blob
from ir_tools.runtime.messages import explain, is_memory

__all__ = ["ReleaseClient", "release_client", "runtime_named"]


class ReleaseClient(RuntimeClient):
    """A release of OpenVINO in a child process of its environment; requests and answers are those of `RuntimeClient`.

    Element types of inputs and outputs are those that the API of the release presents: all before 2022 present i64 as
    i32 and f16 as f32, and so do all later ones for IR v10. Inputs go by tensor or layer name; outputs are in the order
    of the file.

    Example:
        >>> with release_client(find_release("openvino-2022.3")) as client:
        ...     found = client.infer("model.xml", None, {"data": array}, taps=[Tap("conv1", 0)])
        ...     list(found.outputs.values())[0], found.taps[Tap("conv1", 0)]
    """

    def __init__(self, release: Release, python: Path, *, timeout: float = 300.0, memory: int | None = None) -> None:
        """Prepare a child.

        Args:
            release: which.
            python: the interpreter of an environment with its packages.
            timeout: seconds that one request may take.
            memory: bytes that the child may allocate; by default three quarters of what the machine, or its container,
                has.
        """
        super().__init__(timeout=timeout, memory=memory)
        self.release = release
        self.name = release.title
        version = release.short
        self._program, self._hello = foreign_program(python, "release_worker.py", release.title, version)
        self._remedy = remedy(python)
        self._files = Files()
        self._installed = RuntimeClient(timeout=timeout, memory=memory)
        """Computes the shapes of single layers, which a release is not asked for."""

    def close(self) -> None:
        """End the child, and that of the installed OpenVINO, if there is one."""
        super().close()
        self._installed.close()

    @property
    def title(self) -> str:
        """The release."""
        return self.release.title

    def unread(self, version: int | None) -> str:
        """Return that the release does not read an IR version, if so; else nothing."""
        first, last = self.release.reads
        return "" if first <= (version or 0) <= last else f"{self.title} does not read IR v{version}"

    @property
    def migration(self) -> str:
        """The command that makes a file which the release reads."""
        return f"ir-tools migrate MODEL --for {self.release.name} -o OUT.xml"

    def check(self, model_xml: Path | str | bytes, weights: Source = None, *, timeout: float | None = None) -> None:
        """Let the release read a file and compile it for the CPU.

        Raises:
            RuntimeFailure: it rejects the file (`kind` is `rejected`; `stage` says whether while reading or compiling),
                crashes (`crashed`), takes too long (`timeout`) or runs out of memory (`memory`).
        """
        seconds = self.timeout if timeout is None else timeout
        self.attempt(model_xml, weights, until="compiling the model", seconds=seconds)

    def _check_installed(self) -> None:
        """Leave it to the child, whose environment is another one."""

    def _ask_model(
        self,
        header: Header,
        model_xml: Path | str | bytes,
        weights: Source,
        blobs: Sequence[Blob],
        timeout: float | None,
    ) -> tuple[Header, list[Blob]]:
        if header["do"] == "ask":
            return self._installed._ask_model(header, model_xml, weights, blobs, timeout)
        files = self._files.of(model_xml, weights)
        if header.get("keep"):
            files["kept"] = key_of(header, model_xml, files["weights"] if weights is None else weights)
        return self._exchange({**header, **files}, blobs, self.timeout if timeout is None else timeout)

    def _failure(self, kind: str, words: str, stage: str, how: str = "") -> RuntimeFailure:
        if kind == "rejected":
            kind, words = "memory" if is_memory(words) else kind, explain(words)
        return super()._failure(kind, words, stage, how)


def release_client(
    release: Release,
    python: Path | None = None,
    *,
    timeout: float = 300.0,
    memory: int | None = None,
    extensions: Extensions = (),
) -> ReleaseClient:
    """Return a client for a release in its environment, or in that of an interpreter.

    Raises:
        UsageError: the interpreter is not a program, the release is one for legacy models, or there are extensions,
            which are libraries for the installed OpenVINO.
        RuntimeFailure: the release is not here; the message says how to install it.
    """
    if not release.opset:
        raise UsageError(
            f"{release.title} runs models of IR v{release.reads[0]} to v{release.reads[1]}, only in compare and "
            "migrate --verify; name a release of OpenVINO"
        )
    if library_paths(extensions):
        raise UsageError(
            f"extensions are supported only with the installed OpenVINO; leave them out with {release.title}"
        )
    return ReleaseClient(release, release_python(release, python), timeout=timeout, memory=memory)


def runtime_named(name: str | None, extensions: Extensions = ()) -> RuntimeClient:
    """Return a client for the release of this name, for the installed OpenVINO without one; see `release_client`."""
    if name is None:
        return RuntimeClient(extensions=extensions)
    return release_client(find_release(name), extensions=extensions)
