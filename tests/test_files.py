"""Writing files: each is replaced as a whole or not at all, whenever the process ends and whoever else writes."""

import ast
import errno
import fcntl
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from io import FileIO
from pathlib import Path
from typing import IO, Any

import pytest

from ir_tools import files
from ir_tools.errors import WriteError
from ir_tools.files import (
    Growth,
    NewFile,
    check_target,
    is_stream,
    locked,
    protect,
    protecting,
    same_file,
    temporary_folder,
    write_file,
    write_files,
)

OLD, NEW = b"old" * 1000, b"new" * 1000


@pytest.fixture(params=["nameless", "named", "without hard links"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in file systems of three kinds."""
    if request.param != "nameless":
        monkeypatch.setattr(files, "NAMELESS", str(tmp_path / "nothing"))
    if request.param == "without hard links":
        monkeypatch.setattr(os, "link", refuse_link)
    here = tmp_path / "work"
    here.mkdir()
    return here


def refuse_link(*_: object, **__: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def new(file: IO[bytes]) -> None:
    file.write(NEW)


@pytest.mark.parametrize("mode", [None, 0o640, 0o755, 0o600])
def test_a_file_is_written(folder: Path, mode: int | None) -> None:
    if mode is not None:
        (folder / "a").write_bytes(OLD)
        (folder / "a").chmod(mode)
    write_file(folder / "a", new)
    assert content(folder) == {"a": NEW}
    umask = os.umask(0)
    os.umask(umask)
    assert (folder / "a").stat().st_mode & 0o777 == (0o666 & ~umask if mode is None else mode)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_goes_wrong_while_writing_changes_nothing(folder: Path, error: BaseException) -> None:
    def fail(file: IO[bytes]) -> None:
        new(file)
        raise error

    (folder / "a").write_bytes(OLD)
    with pytest.raises((WriteError, KeyboardInterrupt)) as raised:
        write_files([NewFile(folder / "b", new), NewFile(folder / "a", fail)])
    assert content(folder) == {"a": OLD}
    if isinstance(error, OSError):
        assert str(raised.value) == f"{folder / 'a'} cannot be written: No space left on device; nothing was changed"


def test_a_file_that_cannot_grow_is_as_it_was(folder: Path) -> None:
    (folder / "a").write_bytes(OLD)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
    try:
        with pytest.raises(WriteError, match="a cannot be written: File too large"):
            write_files([NewFile(folder / "b", new)], growth=Growth(folder / "a", NEW))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert content(folder) == {"a": OLD}


def test_a_file_that_grew_is_cut_off_if_the_rest_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a").write_bytes(OLD)
    monkeypatch.setattr(os, "replace", refuse_link)
    with pytest.raises(WriteError, match="b cannot be written"):
        write_files([NewFile(folder / "b", new)], growth=Growth(folder / "a", NEW))
    assert content(folder) == {"a": OLD}


@pytest.mark.parametrize("call", [1, 2])
def test_a_rename_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    calls, rename = [0], os.replace

    def replace(source: Path, target: Path) -> None:
        calls[0] += 1
        if calls[0] == call:
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    for name in ("a", "b"):
        (folder / name).write_bytes(OLD)
    with pytest.raises(WriteError, match="Input/output error"):
        write_files([NewFile(folder / name, new) for name in ("a", "b")])
    assert content(folder) == {"a": OLD, "b": OLD}


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_that_is_not_replaced_after_all_is_a_link(
    folder: Path, monkeypatch: pytest.MonkeyPatch, dangling: bool
) -> None:
    rename = os.replace

    def replace(source: Path, target: Path) -> None:
        if target.name == "b":
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    there = {} if dangling else {"old": OLD}
    for name, data in there.items():
        (folder / name).write_bytes(data)
    (folder / "a").symlink_to("old")
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(WriteError, match="Input/output error"):
        write_files([NewFile(folder / name, new) for name in ("a", "b")])
    assert os.readlink(folder / "a") == "old"
    assert content(folder) == {**there, **dict.fromkeys(["a"] if there else [], OLD)}
    assert set(os.listdir(folder)) == {"a", *there}


@pytest.mark.parametrize("allowed", [True, False])
def test_a_file_keeps_its_owner_as_far_as_the_system_allows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    (folder / "a").write_bytes(OLD)
    old, owners = (folder / "a").stat(), list[tuple[int, int]]()

    def fchown(_: int, user: int, group: int) -> None:
        owners.append((user, group))
        if not allowed:
            raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", fchown)
    write_files([NewFile(folder / "a", new), NewFile(folder / "b", new)])
    assert owners == [(old.st_uid, old.st_gid)]
    assert content(folder) == {"a": NEW, "b": NEW}


def test_content_is_on_the_disk_before_it_gets_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grown", "whole", "copy"):
        (folder / name).write_bytes(OLD)
    events: list[str] = []
    sync, rename = os.fsync, os.replace

    def fsync(file: int) -> None:
        events.append(f"{os.fstat(file).st_size} bytes")
        sync(file)

    def replace(source: Path, target: Path) -> None:
        events.append(target.name)
        rename(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    made = [NewFile(folder / "whole", new), NewFile(folder / "copy", lambda file: file.write(b"copy"), durable=False)]
    write_files(made, growth=Growth(folder / "grown", b"tail"))
    assert events == [f"{len(NEW)} bytes", f"{len(OLD) + 4} bytes", "whole", "copy"]


def test_a_link_is_not_appended_to(folder: Path) -> None:
    """It may have come to be after somebody looked."""
    (folder / "a").write_bytes(OLD)
    (folder / "link").symlink_to("a")
    with pytest.raises(WriteError, match="link cannot be written"):
        write_files([], growth=Growth(folder / "link", NEW))
    assert content(folder) == {"a": OLD, "link": OLD}


def test_an_append_of_which_the_system_writes_a_part_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hesitant(FileIO):
        def write(self, data: Any) -> int:
            return super().write(data[:1000])

    def opened(path: Path, mode: str, **options: Any) -> IO[Any]:
        return Hesitant(path, mode, opener=options["opener"]) if mode == "ab" else open(path, mode, **options)

    (folder / "a").write_bytes(OLD)
    monkeypatch.setattr(files, "open", opened, raising=False)
    write_files([], growth=Growth(folder / "a", NEW))
    assert content(folder) == {"a": OLD + NEW}


def test_existing_files_are_kept_on_demand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "b").write_bytes(OLD)
    with pytest.raises(WriteError, match="b exists already"):
        write_files([NewFile(folder / name, new) for name in ("a", "b")], overwrite=False)
    assert content(folder) == {"b": OLD}
    monkeypatch.setattr(files, "check_target", lambda *_, **__: None)
    with pytest.raises(WriteError, match="b cannot be written: File exists"):
        write_files([NewFile(folder / name, new) for name in ("a", "b")], overwrite=False)
    assert content(folder) == {"b": OLD}, "also if it came to be after it was looked for"


def test_protected_files_are_not_written(folder: Path) -> None:
    (folder / "read").write_bytes(OLD)
    (folder / "soft").symlink_to("read")
    (folder / "sub").mkdir()
    with protecting([folder / "read"]):
        for name in ("read", "soft", "sub/../read"):
            assert same_file(folder / name, folder / "read")
            also = "" if name == "read" else f"/{name} is the same file as {folder}/read, which"
            with pytest.raises(WriteError, match=f"{also or 'read'} is read by this command; write to another file"):
                check_target(folder / name)
            with pytest.raises(WriteError, match="read by this command"):
                write_file(folder / name, new)
        write_file(folder / "other", new)
        protect(folder / "other")
        for name in ("read", "other"):
            with pytest.raises(WriteError, match=f"{name} is read by this command"):
                write_file(folder / name, new)
    protect(folder / "read")
    write_file(folder / "read", new)
    assert (folder / "read").read_bytes() == NEW


def test_pipes_and_devices_are_streams(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "file").write_bytes(OLD)
    streams = [name for name in ("pipe", "file", ".", "none", "a\0b", "/dev/null") if is_stream(folder / name)]
    assert streams == ["pipe", "/dev/null"]
    reader = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_file(folder / "pipe", new)
    assert os.read(reader, 2 * len(NEW)) == NEW
    os.close(reader)


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.EACCES, errno.ENOSPC])
def test_only_file_systems_without_nameless_files_get_files_with_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    opened = os.open

    def refuse(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(code, os.strerror(code))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    if code in {errno.EACCES, errno.ENOSPC}:
        with pytest.raises(WriteError, match=f"cannot be written: {os.strerror(code)}"):
            write_file(tmp_path / "a", new)
        assert content(tmp_path) == {}
    else:
        write_file(tmp_path / "a", new)
        assert content(tmp_path) == {"a": NEW}


@pytest.mark.parametrize("name", ["folder", "fifo", "none/such", "loop", "x" * 300, "a\0b", "file/below"])
def test_places_that_take_no_file(folder: Path, name: str) -> None:
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "file").write_bytes(OLD)
    before = sorted(os.listdir(folder))
    for others in (nullcontext(), temporary_folder()):
        with others, pytest.raises(WriteError, match=f"{folder}"):
            check_target(folder / name)
    assert sorted(os.listdir(folder)) == before


def test_a_read_only_file_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a").write_bytes(OLD)
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(WriteError, match="a is read-only"):
        write_file(folder / "a", new)


def test_names_may_be_as_long_as_the_system_allows(folder: Path) -> None:
    write_file(folder / ("x" * 255), new)
    write_file(folder / ("x" * 255), new)
    assert content(folder) == {"x" * 255: NEW}


def test_a_lock_is_waited_for_but_not_forever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with locked(folder, shared=True):
        before = time.monotonic()
        with locked(folder, shared=True):
            assert time.monotonic() - before < files.PATIENCE
        monkeypatch.setattr(files, "PATIENCE", 0.2)
        before = time.monotonic()
        write_file(folder / "a", new)
        assert time.monotonic() - before >= 0.2
    assert content(folder) == {"a": NEW}


def test_all_folders_are_locked_while_files_get_their_names(folder: Path) -> None:
    folders = [folder / "one", folder / "two"]
    for each in folders:
        each.mkdir()

    def others_wait() -> None:
        for each in folders:
            descriptor = os.open(each, os.O_RDONLY)
            with pytest.raises(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(descriptor)

    write_files([NewFile(each / "a", new) for each in folders], confirm=others_wait)
    assert [content(each) for each in folders] == [{"a": NEW}] * 2


# --- other processes --------------------------------------------------------------------------------------------

PROLOGUE = """
import os, sys
from io import FileIO
from pathlib import Path
from ir_tools import files
folder = Path(sys.argv[1])
if sys.argv[2] == "named":
    files.NAMELESS = "/nothing"
def pair(text):
    return [files.NewFile(folder / name, lambda file: file.write(text)) for name in ("a.bin", "a.xml")]
"""
KILLED_AT_EACH_STEP = """
import signal
STEPS = {"open", "os.rename", "os.link", "os.remove", "os.truncate", "fcntl.flock", "os.chmod", "os.chown"}
def write():
    if sys.argv[2] == "growing":
        files.write_files(pair(b"new" * 1000)[1:], growth=files.Growth(folder / "a.bin", b"new" * 1000))
    else:
        files.write_files(pair(b"new" * 1000))
def state(code):
    name = lambda path: path.name.rpartition(".tmp")[1] or path.name
    known = {b"old" * 1000: "old", b"new" * 1000: "new", b"old" * 1000 + b"new" * 1000: "new"}
    found = {name(path): known.get(path.read_bytes(), "half") for path in folder.iterdir()}
    files.YOUNG = -1
    files.write_files(pair(b"old" * 1000))
    files.YOUNG = 60
    print([code, found, sorted(path.name for path in folder.iterdir())])
step = 0
while True:
    for path in folder.iterdir():
        path.unlink()
    files.write_files(pair(b"old" * 1000))
    step += 1
    child = os.fork()
    if not child:
        seen = [0]
        def count(event, arguments):
            seen[0] += event in STEPS
            if event in STEPS and seen[0] == step:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        write()
        os._exit(0)
    code = os.waitpid(child, 0)[1]
    state(code)
    if code == 0:
        break
"""


def python(program: str, *words: object) -> list[str]:
    command = [sys.executable, "-c", PROLOGUE + program, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()


@pytest.mark.parametrize("kind", ["nameless", "named", "growing"])
def test_killed_at_each_step(tmp_path: Path, kind: str) -> None:
    states = [ast.literal_eval(line) for line in python(KILLED_AT_EACH_STEP, tmp_path, kind)]
    assert len(states) > 12
    assert states[-1][:2] == [0, {"a.bin": "new", "a.xml": "new"}]
    assert {code for code, *_ in states[:-1]} == {signal.SIGKILL}
    for _, found, later in states:
        assert later == ["a.bin", "a.xml"], "the next writer removes what is left"
        pair = found["a.bin"], found["a.xml"]
        assert pair in {("old", "old"), ("new", "new"), ("new", "old")}
        if kind != "named":
            assert found.get(".tmp", "new") != "half"
    mixed = [found for _, found, _ in states if found["a.bin"] != found["a.xml"]]
    assert kind == "growing" or len(mixed) == 1, "only between the two renames"


TWO_AT_ONCE = """
for round in range(40):
    text = b"%d" % (int(sys.argv[3]) * 1000 + round) * 2000
    files.write_files(pair(text))
"""
READING = """
seen = set()
while not (folder / "stop").exists():
    with files.locked(folder, shared=True):
        seen.add((folder / "a.bin").read_bytes() == (folder / "a.xml").read_bytes())
print(seen)
"""


def test_two_writers_and_a_reader(tmp_path: Path) -> None:
    write_files([NewFile(tmp_path / name, new) for name in ("a.bin", "a.xml")])
    reader = subprocess.Popen(
        [sys.executable, "-c", PROLOGUE + READING, tmp_path, "nameless"], stdout=subprocess.PIPE, text=True
    )
    command = [sys.executable, "-c", PROLOGUE + TWO_AT_ONCE, str(tmp_path), "nameless"]
    writers = [subprocess.Popen([*command, str(number)]) for number in (1, 2)]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    (tmp_path / "stop").touch()
    assert reader.communicate(timeout=60)[0] == "{True}\n"
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "a.xml").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "a.xml", "stop"]


def test_writing_into_a_temporary_folder_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "locked", lambda folder: pytest.fail("waits for the lock that the process itself holds"))
    with temporary_folder() as folder:
        write_files([NewFile(folder / "one", lambda file: file.write(b"1"))])
        assert (folder / "one").read_bytes() == b"1"


def test_a_full_folder_for_temporary_files_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(file: IO[bytes]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder() as folder, pytest.raises(WriteError, match=r"No space left on device; .*; set TMPDIR to"):
        write_file(folder / "a", fail)


def test_a_temporary_folder_goes_with_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder() as folder:
        (folder / "file").write_bytes(NEW)
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_folders_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    abandoned, young, other = (
        tmp_path / name for name in (f"ir_tools-{'0' * 16}", f"ir_tools-{'1' * 16}", "ir_tools-")
    )
    for folder in (abandoned, young, other):
        folder.mkdir()
        (folder / "file").touch()
    for folder in (abandoned, other):
        os.utime(folder, (0, 0))
    with temporary_folder(tmp_path) as held:
        os.utime(held, (0, 0))
        files._remove_abandoned.cache_clear()
        with temporary_folder(tmp_path):
            assert sorted(folder for folder in tmp_path.iterdir() if folder.stat().st_mtime == 0) == [other, held]
    assert sorted(tmp_path.iterdir()) == [other, young]


def test_temporary_files_of_processes_that_live_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer may take long to fill its file, and another may have just made one."""
    young, other = folder / f".ir-tools-{'0' * 16}.tmp", folder / ".ir-tools-mine.tmp"
    young.touch()
    other.touch()
    write_file(folder / "a.xml", new)
    young.unlink()
    young.symlink_to(other)  # of no writer
    monkeypatch.setattr(files, "YOUNG", -1)

    def write_another(file: IO[bytes]) -> None:
        write_file(folder / "b.xml", new)
        new(file)

    write_file(folder / "a.bin", write_another)
    assert content(folder) == {young.name: b"", other.name: b"", "a.xml": NEW, "a.bin": NEW, "b.xml": NEW}


def test_a_signal_while_the_folder_is_made_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir = Path.mkdir

    def interrupted(path: Path, mode: int) -> None:
        mkdir(path, mode)
        raise SystemExit(143)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(SystemExit), temporary_folder():
        pass
    assert list(tmp_path.iterdir()) == []
