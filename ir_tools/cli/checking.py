"""Checking files for `validate`, in several processes if there are many."""

import os
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ir_tools.cli.releases import ReleaseOptions
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.validation import validate

if TYPE_CHECKING:
    from ir_tools.runtime.client import RuntimeClient

__all__ = ["Checked", "Runtime", "Task", "check_all"]

FILES_PER_PROCESS = 16
"""A process more pays from so many files on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One file to check.

    Attributes:
        file: its path, or the name of standard input.
        data: the content of standard input.
        weights: the `.bin`, if it is not beside the file.
        codes: the rules to check it for.
        failing: the severities with which `validate` fails.
    """

    file: Path
    codes: tuple[str, ...]
    failing: frozenset[Severity] = frozenset({Severity.ERROR})
    data: bytes | None = None
    weights: Path | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A file and what was found in it.

    Attributes:
        task: what it was checked for.
        findings: those that are shown.
        known: how many others a baseline lists.
    """

    task: Task
    findings: Sequence[Diagnostic]
    known: int = 0

    @property
    def file(self) -> Path:
        """Return the file."""
        return self.task.file

    @property
    def failures(self) -> list[Diagnostic]:
        """Return the findings with which `validate` fails."""
        return [finding for finding in self.findings if finding.severity in self.task.failing]


@dataclass(frozen=True, slots=True)
class Runtime:
    """Whether OpenVINO is asked, what it loads, new input shapes, and which release it is."""

    asked: bool
    extensions: tuple[Path, ...]
    shapes: tuple[tuple[str, str], ...]
    release: ReleaseOptions = field(default_factory=ReleaseOptions)


def check_all(tasks: Sequence[Task], runtime: Runtime, jobs: int | None, *, quiet: bool = False) -> list[Checked]:
    """Return the findings in each file, in the order of the files.

    Args:
        tasks: the files.
        runtime: whom to ask.
        jobs: processes; None for as many as pay.
        quiet: whether to show no progress.
    """
    from ir_tools.cli.screen import working

    work = partial(_check, runtime=runtime)
    processes = _processes(len(tasks), jobs, runtime)
    found = []
    progress = nullcontext(_nothing) if quiet else working("validating", len(tasks))
    with progress as advance:
        if processes == 1:
            for task in tasks:
                found.append(Checked(task, work(task)))
                advance()
            return found
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(processes, initializer=_end_with_parent) as pool:
            for task, findings in zip(tasks, pool.map(work, tasks), strict=True):
                found.append(Checked(task, findings))
                advance()
    return found


def _end_with_parent() -> None:
    """Let this process end as soon as the one that started it has ended, however it did."""
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _nothing() -> None:
    """Show no progress."""


def _processes(files: int, jobs: int | None, runtime: Runtime) -> int:
    """Return as many as asked for, else as many as pay; the runtime uses all cores by itself."""
    paying = 1 if runtime.asked else min(len(os.sched_getaffinity(0)), files // FILES_PER_PROCESS)
    return max(1, min(jobs or paying, files))


def _check(task: Task, runtime: Runtime) -> list[Diagnostic]:
    if not task.codes:
        return []
    client = _client(runtime.extensions, runtime.release) if runtime.asked else False
    source = task.file if task.data is None else task.data
    found = validate(
        source,
        task.weights,
        select=task.codes,
        runtime=client,
        extensions=runtime.extensions,
        shapes=dict(runtime.shapes),
    )
    return [finding if finding.file else replace(finding, file=str(task.file)) for finding in found]


@cache
def _client(extensions: tuple[Path, ...], release: ReleaseOptions) -> "RuntimeClient":
    """Return one child process for all files of this process."""
    from ir_tools.runtime.client import RuntimeClient
    from ir_tools.runtime.trial import MEMORY

    return release.runtime(extensions, MEMORY) or RuntimeClient(memory=MEMORY, extensions=extensions)
