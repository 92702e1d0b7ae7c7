"""Environments of other releases: folders with a Python and the packages of one release, found, made and removed.

They are in the folder that the environment variable `IR_TOOLS_RUNTIMES` names, by default `ir-tools/runtimes` in the
user's cache; each has the name of its release, and may be a link to an environment that is elsewhere.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ir_tools.display import listing, notebook_table
from ir_tools.errors import RuntimeFailure, UsageError
from ir_tools.files import temporary_folder
from ir_tools.releases.table import RELEASES, Release
from ir_tools.runtime.installed import openvino_version

__all__ = [
    "Installation",
    "Runtime",
    "Runtimes",
    "all_runtimes",
    "environment",
    "found_python",
    "installation",
    "release_python",
    "remedy",
    "remove",
    "runtimes_folder",
]

VARIABLE = "IR_TOOLS_RUNTIMES"
PATIENCE = 3600.0
"""Seconds that a step of an installation may take."""
UNREACHED = re.compile(r"connection broken by|failed to fetch|name resolution", re.I)
"""What pip and uv print before their error if the network is the reason, which the error itself does not say."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime that can run models.

    Attributes:
        name: the name for `--runtime` and `runtime=`; `openvino` for the installed OpenVINO, which needs no option.
        title: the title of the release.
        reads: the first and the last IR version that it is used for.
        python: the path of the interpreter that has it; None if it is not installed.

    Example:
        >>> runtime = next(one for one in ir_tools.runtimes() if one.name == "openvino-2021.4")
        >>> runtime.title, runtime.versions
        ('OpenVINO 2021.4', 'IR v10')
    """

    name: str
    title: str
    reads: tuple[int, int]
    python: Path | None

    @property
    def versions(self) -> str:
        """The IR versions in words: `IR v10`, `IR v2 to v7`."""
        first, last = self.reads
        return f"IR v{first}" if first == last else f"IR v{first} to v{last}"

    def __str__(self) -> str:
        """Return `openvino-2021.4 (IR v10): not installed`."""
        return f"{self.name} ({self.versions}): {self.python or 'not installed'}"


class Runtimes(list[Runtime]):
    """A list of all runtimes. Its repr shows those that are installed; a notebook shows a table.

    Example:
        >>> print(str(ir_tools.runtimes()[2]).partition(":")[0])
        openvino-2021.2 (IR v10)
    """

    def __repr__(self) -> str:
        """Return how many are here, and a line for each of the first."""
        here = [one for one in self if one.python]
        return listing(f"{len(here)} of {len(self)} runtimes are installed", here)

    def _repr_html_(self) -> str:
        """Return a table, those that are here first."""
        ordered = sorted(self, key=lambda one: one.python is None)
        rows = ((one.name, one.title, one.versions, one.python or "not installed") for one in ordered)
        return notebook_table(str(runtimes_folder()), ("name", "release", "reads", "Python"), rows)


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment that can be made.

    Attributes:
        release: what is installed.
        folder: where.
        python: the interpreter that it is made of; a version for uv to download if there is none here.
    """

    release: Release
    folder: Path
    python: str

    def __str__(self) -> str:
        """Return what is made, and its size, in one line."""
        release = self.release
        return (
            f"{self.folder}: {', '.join(release.packages)} with Python {self.python},"
            f" about {release.size} MB ({release.download} MB to download)"
        )

    def make(self) -> Path:
        """Make the environment, complete or not at all. One that another process made meanwhile stays.

        Returns:
            Its interpreter.

        Raises:
            RuntimeFailure: it cannot be made; the message has the reason of the tool that failed.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder.parent).free // 10**6
            with temporary_folder(self.folder.parent) as draft:
                for command in self._commands(draft / "environment"):
                    self._run(command, free)
                (draft / "environment").rename(self.folder)
        except OSError as why:
            if _python_in(self.folder).exists():
                return _python_in(self.folder)
            raise self._failure(f"{why.filename}: {why.strerror}; {VARIABLE} names the folder") from why
        return _python_in(self.folder)

    def _commands(self, folder: Path) -> Iterator[Sequence[str]]:
        """Yield what makes the environment.

        pip installs: uv leaves out the libraries of the wheel of 2021.2, which are in a data folder of another
        name than the wheel's.
        """
        uv, python = shutil.which("uv"), str(_python_in(folder))
        if uv:
            yield [uv, "venv", "--quiet", "--seed", "--python", self.python, str(folder)]
        else:
            yield [self.python, "-I", "-m", "venv", str(folder)]
        options = ["--quiet", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:"]
        yield [python, "-I", "-m", "pip", "install", *options, *self.release.packages]

    def _run(self, command: Sequence[str], free: int) -> None:
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise self._failure(f"{command[0]} took more than {PATIENCE / 60:g} minutes and was stopped") from None
        if done.returncode:
            lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
            errors = [line for line in lines if line.lower().startswith("error")]
            reason = (errors or lines or [f"{command[0]} failed"])[-1].rstrip(".")
            if any(map(UNREACHED.search, lines)):
                reason += "; PyPI cannot be reached, check the network and the proxy"
            if free < self.release.size:
                reason += f"; about {self.release.size} MB are needed, but {self.folder.parent} has {free} MB"
            raise self._failure(reason)

    def _failure(self, reason: str) -> RuntimeFailure:
        return RuntimeFailure(
            f"{self.release.title} cannot be installed: {reason}; it needs {', '.join(self.release.packages)} from"
            f" PyPI, or name a Python that has them with --runtime-python",
            kind="missing",
            reason=reason,
        )


def runtimes_folder() -> Path:
    """Return the folder of all environments, which need not exist."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "ir-tools" / "runtimes"


def all_runtimes() -> Runtimes:
    """Return the installed OpenVINO and every release that is known, oldest first, and where they are."""
    version = openvino_version()
    title = f"OpenVINO {version}" if version else "OpenVINO"
    installed = Runtime("openvino", title, (10, 11), Path(sys.executable) if version else None)
    return Runtimes([installed, *(Runtime(one.name, one.title, one.reads, found_python(one)) for one in RELEASES)])


def environment(release: Release) -> Path | None:
    """Return the folder of a release's environment, None if there is none."""
    folder = runtimes_folder() / release.name
    return folder if _python_in(folder).exists() else None


def found_python(release: Release) -> Path | None:
    """Return the interpreter of a release's environment, or this one if it has the release, or None."""
    folder = environment(release)
    if folder is not None:
        return _python_in(folder)
    installed = openvino_version() or ""
    return Path(sys.executable) if f"openvino-{installed}.".startswith(f"{release.name}.") else None


def release_python(release: Release, python: Path | None = None) -> Path:
    """Return the interpreter that has a release: the one that is named, or that of its environment.

    Raises:
        UsageError: the one that is named is not a program.
        RuntimeFailure: none is named, and there is no environment; the message says how to make one.
    """
    if python is not None:
        if not (python.is_file() and os.access(python, os.X_OK)):
            raise UsageError(f"{python} is not a program; name a Python that has {release.title}")
        return python.absolute()
    found = found_python(release)
    folder = runtimes_folder() / release.name
    if found is None and os.path.lexists(folder):
        raise RuntimeFailure(
            f"{release.title} is not installed: the Python of {folder} does not exist{remedy(_python_in(folder))}",
            kind="missing",
        )
    if found is None:
        raise RuntimeFailure(
            (
                f"{release.title} is not installed; add it with: ir-tools runtimes --add {release.name} (about "
                f"{release.size} MB), or name a Python that has it with --runtime-python"
            ),
            kind="missing",
        )
    return found


def installation(release: Release) -> Installation:
    """Return what would be made for a release.

    Raises:
        UsageError: its environment is there already.
        RuntimeFailure: no Python that it can be installed in is here.
    """
    folder = runtimes_folder() / release.name
    if os.path.lexists(folder):
        raise UsageError(f"{folder} exists already; remove it first with: ir-tools runtimes --remove {release.name}")
    python = next(_interpreters(release.pythons), None)
    if python is None and not shutil.which("uv"):
        wanted = " or ".join(sorted(release.pythons, key=_numbers))
        raise RuntimeFailure(
            (
                f"{release.title} needs Python {wanted}, and none was found (pyenv, PATH, uv); install one, or "
                "install uv, which downloads it"
            ),
            kind="missing",
        )
    return Installation(release, folder, python or release.pythons[0])


def remove(release: Release) -> Path:
    """Remove the environment of a release, or the link or file of its name, and return its folder.

    Raises:
        UsageError: there is none, or it cannot be removed.
    """
    folder = runtimes_folder() / release.name
    try:
        if folder.is_dir():
            with temporary_folder(folder.parent) as going:
                folder.rename(going / folder.name)
        else:
            folder.unlink()
    except FileNotFoundError:
        raise UsageError(f"{folder}: there is no such environment") from None
    except OSError as why:
        raise UsageError(f"{why.filename or folder} cannot be removed: {why.strerror}") from why
    return folder


def remedy(python: Path) -> str:
    """Return what to do about an interpreter whose environment does not work, to be put after what is wrong."""
    if not python.is_relative_to(runtimes_folder()):
        return "; name another Python with --runtime-python"
    name = python.relative_to(runtimes_folder()).parts[0]
    return f"; recreate it with: ir-tools runtimes --remove {name} && ir-tools runtimes --add {name}"


def _python_in(folder: Path) -> Path:
    return folder / "bin" / "python"


def _interpreters(versions: Sequence[str]) -> Iterator[str]:
    """Yield interpreters of these versions that run: this one, those of pyenv, on the PATH, of uv."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" in versions:
        yield sys.executable
    data = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
    pyenv = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser() / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    for version in versions:
        places = [*_newest(pyenv, f"{version}.*"), *_newest(uv, f"cpython-{version}.*")]
        programs = [folder / "bin" / f"python{version}" for folder in places]
        named = shutil.which(f"python{version}")
        for program in [*map(str, programs), *([named] if named else [])]:
            if _runs(program, version):
                yield program


def _newest(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern), key=lambda path: _numbers(path.name), reverse=True)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _runs(program: str, version: str) -> bool:
    """Return whether a program is a Python of this version; a shim of pyenv may lead to none."""
    ask = [program, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(ask, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
        return done.stdout.strip() == version
    return False
