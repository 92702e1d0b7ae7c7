"""Modules that run once, in a process of their own: what a library does to it reaches nobody else."""

import subprocess
import sys

from ir_tools.errors import RuntimeFailure

__all__ = ["run_module"]

LIMIT = 600.0
"""Seconds that a module may take."""


def run_module(who: str, module: str, *arguments: str) -> tuple[str, str]:
    """Run a module with arguments; returns what it printed, and the last line of its errors.

    Raises:
        RuntimeFailure: it takes too long, or crashes; the message begins with `who`.
    """
    try:
        done = _run([sys.executable, "-m", module, *arguments])
    except subprocess.TimeoutExpired:
        raise RuntimeFailure(f"{who} took more than {LIMIT:.0f} s", kind="timeout") from None
    if done.returncode < 0:
        raise RuntimeFailure(f"{who} crashed (signal {-done.returncode})", kind="crashed")
    return done.stdout, "".join(done.stderr.strip().splitlines()[-1:]) or "it gave no reason"


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
