"""Writing files: each is replaced as a whole or not at all, and never if it is protected.

New content goes into a file without a name in the folder of its target. It gets the name when it is complete, so that a
full disk, an interrupt or a kill leaves what was there, and no remains. File systems that have no such files get a
temporary file with a name.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

from ir_tools.errors import UsageError, WriteError

__all__ = [
    "ALONE",
    "TEMPORARY_ADVICE",
    "Growth",
    "NewFile",
    "check_folder",
    "check_readable",
    "check_target",
    "forget",
    "is_stream",
    "locked",
    "protect",
    "protecting",
    "same_file",
    "temporary_folder",
    "write_file",
    "write_files",
]

Fill = Callable[[IO[bytes]], object]
PATIENCE = 10.0
"""Seconds to wait for another program that holds the lock of a folder."""
TEMPORARY = "ir_tools-"
"""How the names of temporary folders begin."""
_OWN: set[str] = set()
"""The temporary folders of this process, which it has locked."""
DRAFT, DRAFT_END = ".ir-tools-", ".tmp"
"""How the names of temporary files begin and end."""
YOUNG = 60.0
"""Seconds after which a temporary file or folder that nobody has locked is nobody's."""
ALONE, TOGETHER = "it is as it was", "nothing was changed"
"""What errors say of the old content: of one file, and of files that are written together."""
TEMPORARY_ADVICE = "it is in the folder for temporary files; set TMPDIR to one with free space"
"""What errors say of a file in a temporary folder."""
NAMELESS = "/proc/self/fd"
"""The folder through which a file without a name gets one."""
UNSUPPORTED = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL}
"""Errors of file systems that have no files without a name."""


class NewFile(NamedTuple):
    """A file to write.

    Attributes:
        path: its name; a symbolic link of this name is replaced, not followed.
        fill: writes the content.
        durable: whether the content has to be on the disk before it replaces the old one. False for copies of files
            that stay.
    """

    path: Path
    fill: Fill
    durable: bool = True


class Growth(NamedTuple):
    """A file to append to.

    Attributes:
        path: its name, not a link.
        tail: what is appended, in one piece.
    """

    path: Path
    tail: bytes


@dataclass(frozen=True, slots=True)
class _Protection:
    """Files that must not be written, and whether other files that exist may be."""

    files: tuple[Path, ...] = ()
    overwrite: bool = True


_NONE = _Protection()
_PROTECTION: ContextVar[_Protection] = ContextVar("_PROTECTION", default=_NONE)


@contextmanager
def protecting(files: Iterable[Path], *, overwrite: bool = True) -> Iterator[None]:
    """Refuse to write any of `files` inside the block, by whatever name; without `overwrite`, any file that exists."""
    token = _PROTECTION.set(_Protection(tuple(files), overwrite))
    try:
        yield
    finally:
        _PROTECTION.reset(token)


def protect(path: Path) -> None:
    """Protect one more file until the end of the block of `protecting` around the call, if there is one."""
    current = _PROTECTION.get()
    if current is not _NONE:
        _PROTECTION.set(replace(current, files=(*current.files, path)))


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder for temporary files, and remove it with all that is in it, also if a signal ends the block.

    A process that is killed cannot remove it; the next one that makes such a folder does.

    Args:
        parent: where; by default the system's folder for such files.
    """
    import shutil
    import tempfile

    parent = parent or Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    folder = parent / f"{TEMPORARY}{os.urandom(8).hex()}"
    try:
        folder.mkdir(0o700)
        _OWN.add(os.path.realpath(folder))
        with _held(folder):
            yield folder
    finally:
        _OWN.discard(os.path.realpath(folder))
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path, mode: int = fcntl.LOCK_SH) -> Iterator[bool]:
    """Lock a folder as long as the block, or the process, lasts; whether that was possible."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        held = False
        with suppress(OSError):
            held = _locked(descriptor, mode | fcntl.LOCK_NB)
        yield held
    finally:
        os.close(descriptor)


@cache
def _remove_abandoned(parent: Path) -> None:
    """Remove the temporary folders of processes that are gone: those that nobody has locked."""
    import shutil

    for folder in parent.glob(f"{TEMPORARY}{'[0-9a-f]' * 16}"):
        with suppress(OSError):
            if time.time() - folder.lstat().st_mtime > YOUNG:
                with _held(folder, fcntl.LOCK_EX) as abandoned:
                    if abandoned:
                        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned_drafts(folder: Path) -> None:
    """Remove the temporary files in a folder of processes that are gone."""
    for draft in folder.glob(f"{DRAFT}{'[0-9a-f]' * 16}{DRAFT_END}"):
        with suppress(OSError):
            if time.time() - draft.lstat().st_ctime > YOUNG:
                descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with open(descriptor, "rb"):
                    if _locked(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
                        forget(draft)


def same_file(first: Path, second: Path) -> bool:
    """Return whether two names lead to one file that exists, through links of any kind and relative parts."""
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):
        return False


def is_stream(path: Path) -> bool:
    """Return whether `path` is a pipe or a device, which are written to and not replaced."""
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
    return False


ENDLESS = frozenset(f"/dev/{name}" for name in ("zero", "full", "random", "urandom"))
"""Devices that can be read for ever."""


def check_readable(path: Path) -> None:
    """Check that `path` is not a pipe on disk, which nobody may ever write to, or a device that does not end.

    A pipe that is open already may be read.

    Raises:
        UsageError: it is.
    """
    real = Path(os.path.realpath(path))
    if real.is_fifo():
        raise UsageError(f"{path} is a named pipe; copy its content to a file, or use <(command)")
    if real.is_char_device() and str(real) in ENDLESS:
        raise UsageError(f"{path} is a device without an end; name a file")


def check_target(path: Path, *, overwrite: bool = True) -> None:
    """Check that a file can be written at `path`, and leave no trace.

    Raises:
        WriteError: it is protected, is something else than a file, or the file system refuses.
    """
    protection = _PROTECTION.get()
    for other in protection.files:
        if same_file(path, other):
            name = path if path == other else f"{path} is the same file as {other}, which"
            raise WriteError(f"{name} is read by this command; write to another file")
    with _named(path):
        if os.path.lexists(path) and not (overwrite and protection.overwrite):
            raise WriteError(f"{path} exists already; nothing was written")
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):
                raise WriteError(f"{path} is a folder; name a file")
            if not stat.S_ISREG(mode):
                raise WriteError(f"{path} is not a regular file; name another file")
            if not os.access(path, os.W_OK):
                raise WriteError(f"{path} is read-only; name another file or change its permissions")
    check_folder(path.parent)


def check_folder(folder: Path) -> None:
    """Check that files can be made in a folder, and leave no trace.

    Raises:
        WriteError: there is no such folder, or the file system refuses.
    """
    with _named(folder):
        if not folder.is_dir():
            raise WriteError(f"{folder}: there is no such folder; create it first")
        with _Draft(folder):
            pass


def write_file(path: Path, fill: Fill) -> None:
    """Write one file, or the file that a symbolic link leads to. A pipe or device gets the complete content.

    Raises:
        WriteError: it is protected or cannot be written; it is as it was.
    """
    if not is_stream(path):
        write_files([NewFile(Path(os.path.realpath(path)) if path.is_symlink() else path, fill)])
        return
    import shutil
    import tempfile

    with _named(path), open(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb") as stream:
        os.set_blocking(stream.fileno(), True)
        with tempfile.TemporaryFile() as complete:
            fill(complete)
            complete.seek(0)
            shutil.copyfileobj(complete, stream)


def write_files(
    files: Sequence[NewFile],
    *,
    growth: Growth | None = None,
    overwrite: bool = True,
    confirm: Callable[[], object] | None = None,
) -> None:
    """Write all files or none.

    Args:
        files: in the order in which they get their names.
        growth: a file that grows before they do; readers of the old files must not mind.
        overwrite: False to refuse to replace files.
        confirm: called when everything is written and before it gets its name, while no other program of ours renames
            files in these folders; raises an error to stop.

    The process has locked its own temporary folders already.

    Raises:
        WriteError: a file is protected or cannot be written; all are as they were.
    """
    overwrite = overwrite and _PROTECTION.get().overwrite
    kept = ALONE if len(files) == 1 and growth is None else TOGETHER
    with ExitStack() as stack:
        drafts = []
        if growth is not None:
            check_target(growth.path, overwrite=overwrite)
        for file in files:
            check_target(file.path, overwrite=overwrite)
            with _named(file.path, kept):
                drafts.append(stack.enter_context(_Draft(file.path.parent)))
                drafts[-1].fill(file)
        for folder in sorted({os.path.realpath(file.path.parent) for file in files}):
            if folder not in _OWN:
                stack.enter_context(locked(Path(folder)))
                _remove_abandoned_drafts(Path(folder))
        if confirm is not None:
            confirm()
        tidy, undo = stack.enter_context(ExitStack()), stack.enter_context(ExitStack())
        if growth is not None:
            _append(growth, undo)
        _rename(drafts, [file.path for file in files], tidy, undo, overwrite=overwrite, kept=kept)
        undo.pop_all()


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a folder, under which pairs of files are renamed; `shared` with others that only read.

    The lock is advisory. File systems without locks, and programs that hold it for long, are not waited for.
    """
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + PATIENCE
    with ExitStack() as stack:
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, descriptor)
            while not _locked(descriptor, kind) and time.monotonic() < deadline:
                time.sleep(0.01)
        yield


def _locked(descriptor: int, kind: int) -> bool:
    """Lock an open folder, unless another program holds it; an OSError on file systems without locks."""
    try:
        fcntl.flock(descriptor, kind)
    except BlockingIOError:
        return False
    return True


class _Draft:
    """New content in a folder, without a name if the file system can; a context manager that drops what is left."""

    def __init__(self, folder: Path) -> None:
        self.name: Path | None = None
        self._folder = folder
        self._file = self._open()

    def _open(self) -> IO[bytes]:
        try:
            if os.path.isdir(NAMELESS):
                return open(os.open(self._folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
        except OSError as why:
            if why.errno not in UNSUPPORTED:
                raise
        name = _free_name(self._folder)
        file = name.open("xb")
        self.name = name
        with suppress(OSError):
            _locked(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
        return file

    def fill(self, file: NewFile) -> None:
        """Write the content, with the permissions of the file that it replaces."""
        file.fill(self._file)
        self._file.flush()
        with suppress(FileNotFoundError):
            old = file.path.stat()
            os.fchmod(self._file.fileno(), stat.S_IMODE(old.st_mode))
            with suppress(PermissionError):
                os.fchown(self._file.fileno(), old.st_uid, old.st_gid)
        if file.durable:
            os.fsync(self._file.fileno())

    def link(self, path: Path) -> None:
        """Give the content a name that is free."""
        if self.name is None:
            descriptor = self._file.fileno()
            os.link(f"{NAMELESS}/{descriptor}", path, src_dir_fd=descriptor)
            return
        try:
            os.link(self.name, path)
        except PermissionError:
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            os.rename(self.name, path)

    def name_it(self) -> Path:
        """Return the temporary name; the content gets one if it has none."""
        if self.name is None:
            name = _free_name(self._folder)
            self.link(name)
            self.name = name
        return self.name

    def __enter__(self) -> "_Draft":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._file.close()
        if self.name is not None:
            forget(self.name)


def _append(growth: Growth, undo: ExitStack) -> None:
    """Append to a file, on the disk; `undo` cuts it off again."""
    with _named(growth.path, TOGETHER), open(growth.path, "ab", buffering=0, opener=_open_no_link) as file:
        undo.callback(os.truncate, growth.path, os.fstat(file.fileno()).st_size)
        left = memoryview(growth.tail)
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)


def _rename(
    drafts: Sequence[_Draft], paths: Sequence[Path], tidy: ExitStack, undo: ExitStack, *, overwrite: bool, kept: str
) -> None:
    """Give each draft its name. `undo` puts back what the names led to, and `tidy` drops what is kept for that.

    The renames follow each other at once: a kill between them leaves a pair of which one file is new.
    """
    names = []
    for draft, path in zip(drafts, paths, strict=True):
        with _named(path, kept):
            if overwrite:
                _keep(path, tidy, undo)
                names.append(draft.name_it())
            else:
                draft.link(path)
                undo.callback(forget, path)
    for name, path in zip(names, paths, strict=False):
        with _named(path, kept):
            os.replace(name, path)


def _keep(path: Path, tidy: ExitStack, undo: ExitStack) -> None:
    """Keep what `path` leads to under a second name, which `undo` puts back and `tidy` drops."""
    if not os.path.lexists(path):
        undo.callback(forget, path)
        return
    old = _free_name(path.parent)
    tidy.callback(forget, old)
    try:
        os.link(path, old, follow_symlinks=False)
    except OSError:
        os.rename(path, old)
    undo.callback(os.replace, old, path)


def _free_name(folder: Path) -> Path:
    return folder / f"{DRAFT}{os.urandom(8).hex()}{DRAFT_END}"


def forget(path: Path) -> None:
    """Delete a file, if that is possible."""
    with suppress(OSError):
        path.unlink()


def _is_temporary(path: Path) -> bool:
    """Return whether a file is in a temporary folder of this process; a name that no file can have is not."""
    with suppress(ValueError):
        return any(Path(os.path.realpath(path)).is_relative_to(own) for own in _OWN)
    return False


@contextmanager
def _named(path: Path, kept: str = ALONE) -> Iterator[None]:
    """Turn what the system says into an error that names the file; `kept`: what is as it was then."""
    try:
        yield
    except (OSError, ValueError) as why:
        reason = getattr(why, "strerror", None) or why
        kept = TEMPORARY_ADVICE if _is_temporary(path) else kept
        raise WriteError(f"{path} cannot be written: {reason}; {kept}") from why
