"""Runs `ir_tools.validate` over mutants and counts what it finds: `python -m tests.faults.sweep --help`."""

from __future__ import annotations

import argparse
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import ir_tools
from ir_tools.diagnostics import Diagnostic, Severity
from tests.faults.catalogue import FAULTS, mutants
from tests.faults.define import Fault, Mutant, Spot

__all__ = ["BROKEN", "Figures", "Verdict", "judge", "one_of_each_family", "table"]

SECONDS = 2.0
GIB = 1 << 30
BROKEN = "the check itself broke"
"""What validation says of a rule that raised an exception."""


class TooSlow(BaseException):
    """The time is up."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What validation made of a mutant. `trouble`: an exception, a hang or too much memory, in words."""

    mutant: Mutant
    found: tuple[Diagnostic, ...]
    seconds: float
    trouble: str = ""

    @property
    def errors(self) -> list[Diagnostic]:
        return [finding for finding in self.found if finding.severity == Severity.ERROR]

    @property
    def told(self) -> list[Diagnostic]:
        """The findings that count: errors, and warnings where a warning is enough."""
        enough = self.mutant.expect == "warning"
        return [
            one for one in self.found if one.severity == Severity.ERROR or (enough and one.severity == Severity.WARNING)
        ]

    @property
    def right(self) -> bool:
        """An error where there must be one, at least a warning where there must be one, no error on a valid file."""
        return not self.trouble and (not self.errors if self.mutant.expect == "valid" else bool(self.told))

    @property
    def layer_right(self) -> bool:
        return any(_names(finding, spot) for finding in self.told for spot in self.mutant.layers)

    @property
    def line_right(self) -> bool:
        return any(finding.line in self.mutant.lines for finding in self.told)


def _names(finding: Diagnostic, spot: Spot) -> bool:
    path = finding.path or finding.layer_name or ""
    if not path.startswith(spot.prefix) or (finding.layer_id is None and finding.layer_name is None):
        return False
    rest = path[len(spot.prefix) :]
    if rest.removeprefix(spot.name).startswith("/"):
        return False
    if finding.layer_id is not None and spot.id.strip().isdigit():
        return finding.layer_id == int(spot.id)
    return spot.name == finding.layer_name or rest in (spot.name, f"{spot.name}#{spot.id}")


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow("".join(traceback.format_stack(frame, 3)))

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def judge(mutant: Mutant, folder: Path) -> Verdict:
    """Writes the files and validates them."""
    path = folder / "mutant.xml"
    path.write_bytes(mutant.xml)
    weights = path.with_suffix(".bin")
    if mutant.weights is None:
        weights.unlink(missing_ok=True)
    else:
        weights.write_bytes(mutant.weights)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, used, found, trouble = time.monotonic(), time.process_time(), tuple[Diagnostic, ...](), ""
    try:
        with _limited(10 * SECONDS):
            found = tuple(ir_tools.validate(path))
    except TooSlow as why:
        trouble = f"hangs: {str(why)[-300:]}"
    except Exception as why:
        trouble = f"{type(why).__name__}: {why} at {_last_frame(why)}"
    seconds = min(time.monotonic() - start, time.process_time() - used)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    trouble = trouble or next((one.message for one in found if BROKEN in one.message), "")
    if not trouble and seconds > SECONDS:
        trouble = f"took {seconds:.1f} s"
    if not trouble and grown > GIB:
        trouble = f"took {grown / GIB:.1f} GiB"
    return Verdict(mutant, found, seconds, trouble)


def _last_frame(why: BaseException) -> str:
    frame = traceback.extract_tb(why.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


# --- figures ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Figures:
    """Counts over verdicts."""

    files: int = 0
    right: int = 0
    with_layer: int = 0
    layer: int = 0
    with_line: int = 0
    line: int = 0
    trouble: int = 0
    slowest: float = 0.0
    kinds: set[str] = field(default_factory=set)

    def add(self, verdict: Verdict) -> None:
        mutant = verdict.mutant
        self.files += 1
        self.kinds.add(mutant.kind)
        self.right += verdict.right
        self.trouble += bool(verdict.trouble)
        self.slowest = max(self.slowest, verdict.seconds)
        if mutant.layers:
            self.with_layer += 1
            self.layer += verdict.layer_right
        if mutant.lines:
            self.with_line += 1
            self.line += verdict.line_right

    def __str__(self) -> str:
        shares = (
            _share(self.right, self.files),
            _share(self.layer, self.with_layer),
            _share(self.line, self.with_line),
        )
        return f"{len(self.kinds):5} {self.files:6} " + " ".join(shares) + f" {self.trouble:5} {self.slowest:6.2f}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:7.2f}" if whole else "      -"


def table(verdicts: Iterable[Verdict]) -> dict[str, Figures]:
    """Figures by what must happen, and by group."""
    found: dict[str, Figures] = {}
    for verdict in verdicts:
        for key in (f"must: {verdict.mutant.expect}", f"{verdict.mutant.group} ({verdict.mutant.expect})"):
            found.setdefault(key, Figures()).add(verdict)
    return dict(sorted(found.items(), key=lambda row: (not row[0].startswith("must"), row[0])))


def one_of_each_family() -> tuple[Fault, ...]:
    """The first fault of every family."""
    return tuple({fault.family or fault.kind: fault for fault in FAULTS}.values())


HEADING = f"{'':28} kinds  files   found   layer    line trouble slowest"


def text(figures: dict[str, Figures]) -> str:
    return "\n".join([HEADING, *(f"{name:28} {row}" for name, row in figures.items())])


# --- the command line ---------------------------------------------------------------------------------------------


def main() -> None:
    """Judges mutants and prints the figures."""
    parser = argparse.ArgumentParser(description="Hold ir_tools.validate against broken and valid files.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-kind", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds or groups that contain this text")
    parser.add_argument("--families", action="store_true", help="one kind of each family")
    parser.add_argument("--show", action="store_true", help="print each file's offending lines and findings")
    chosen = parser.parse_args()
    faults = tuple(
        one
        for one in (one_of_each_family() if chosen.families else FAULTS)
        if chosen.only in one.kind or chosen.only == one.group
    )
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        for mutant in mutants(chosen.seed, chosen.per_kind, faults):
            verdicts.append(judge(mutant, Path(folder)))
            if chosen.show:
                print(shown(verdicts[-1]))
    print(text(table(verdicts)))


def shown(verdict: Verdict) -> str:
    """The offending lines of a file, and what was found."""
    mutant = verdict.mutant
    lines = mutant.xml.decode("utf-8", "replace").splitlines()
    rows = [f"{mutant.kind} in {mutant.base}: must: {mutant.expect}; offending: {_guilty(mutant)}"]
    rows += [
        f"  {number:5} {lines[number - 1].strip()[:150]}"
        for number in sorted(mutant.lines)[:12]
        if number <= len(lines)
    ]
    rows += [
        f"    found {one.severity} {one.code} line {one.line} layer {one.layer_id} {one.path}: {one.message[:200]}"
        for one in verdict.found
    ]
    if verdict.trouble:
        rows.append(f"    TROUBLE {verdict.trouble}")
    return "\n".join(rows)


def _guilty(mutant: Mutant) -> str:
    return ", ".join(f"{spot.prefix}{spot.name}({spot.id})" for spot in mutant.layers[:4]) or "nobody"


if __name__ == "__main__":
    main()
