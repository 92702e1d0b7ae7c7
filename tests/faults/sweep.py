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
from tests.faults.base_models import bases
from tests.faults.catalogue import FAULTS, mutants
from tests.faults.define import Fault, Mutant, Spot
from tests.faults.markup import render
from tests.faults.oracle import Oracle

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

    @property
    def line_near(self) -> bool:
        return any(finding.line in self.mutant.near for finding in self.told)

    @property
    def only_guilty(self) -> bool:
        """The first finding names a offending layer, and no error any other."""
        first = self.told[:1]
        if not first or not any(_names(first[0], spot) for spot in self.mutant.layers):
            return False
        accused = [one for one in self.errors if one.layer_id is not None or one.layer_name is not None]
        return all(any(_names(finding, spot) for spot in self.mutant.layers) for finding in accused)


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
    near: int = 0
    only_guilty: int = 0
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
            self.only_guilty += verdict.only_guilty
        if mutant.lines:
            self.with_line += 1
            self.line += verdict.line_right
            self.near += verdict.line_near

    def __str__(self) -> str:
        shares = (
            _share(self.right, self.files),
            _share(self.layer, self.with_layer),
            _share(self.line, self.with_line),
            _share(self.near, self.with_line),
            _share(self.only_guilty, self.with_layer),
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


HEADING = f"{'':28} kinds  files   found   layer    line    near  only it trouble slowest"


def text(figures: dict[str, Figures]) -> str:
    return "\n".join([HEADING, *(f"{name:28} {row}" for name, row in figures.items())])


# --- the command line ---------------------------------------------------------------------------------------------


def main() -> None:
    """Judges mutants, prints the figures, and lists what was missed."""
    parser = argparse.ArgumentParser(description="Hold ir_tools.validate against broken and valid files.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-kind", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds or groups that contain this text")
    parser.add_argument("--families", action="store_true", help="one kind of each family")
    parser.add_argument("--missed", type=Path, help="write what was missed to this file")
    parser.add_argument("--show", action="store_true", help="print each file's offending lines and findings")
    parser.add_argument("--ask", action="store_true", help="say what the runtime makes of the files that were missed")
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
    figures = text(table(verdicts))
    print(figures)
    if chosen.missed:
        chosen.missed.write_text(missed(verdicts, figures, chosen.seed, false_alarms(), ask=chosen.ask))


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


OWNER = {
    "xml": "IR0xx",
    "constants": "IR0xx",
    "structure": "IR1xx",
    "layers": "IR1xx",
    "edges": "IR1xx",
    "bodies": "IR1xx",
    "rt_info": "IR1xx",
    "operations": "IR2xx",
    "element types": "IR2xx",
    "shapes": "IR3xx",
    "pooling": "IR4xx",
    "compatibility": "IR5xx",
    "valid": "no error at all",
}


def false_alarms() -> dict[str, tuple[Diagnostic, ...]]:
    """Errors on the base models themselves."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, base in bases().items():
            lines: frozenset[int] = frozenset()
            whole = Mutant(
                "base", "valid", "valid", name, render(base.root, base.style).encode(), base.weights, (), lines, lines
            )
            found[name] = tuple(judge(whole, Path(folder)).errors)
    return found


def _only_alarms(one: Verdict, alarms: dict[str, tuple[Diagnostic, ...]]) -> bool:
    """Whether a valid file has no other errors than its base."""
    known = {finding.code for finding in alarms[one.mutant.base]}
    return one.mutant.expect == "valid" and all(finding.code in known for finding in one.errors)


def missed(
    verdicts: list[Verdict], figures: str, seed: int, alarms: dict[str, tuple[Diagnostic, ...]], *, ask: bool = False
) -> str:
    """What was missed, by kind: nothing found, trouble, wrong layer, wrong line."""
    rows = ["```", figures, "```", f"Reproduce: `python -m tests.faults.sweep --seed {seed} --show --only KIND`", ""]
    rows.append(f"## ERRORS ON VALID BASE MODELS: {sum(map(bool, alarms.values()))}")
    rows += [
        f"- {name}: {one.code} line {one.line} {one.path}: {one.message[:200]}"
        for name, some in alarms.items()
        for one in some
    ]
    for heading, part in _parts(verdicts, alarms).items():
        rows.append(f"## {heading}: {len(part)}")
        by_kind: dict[str, list[Verdict]] = {}
        for one in part:
            by_kind.setdefault(one.mutant.kind, []).append(one)
        for kind, some in sorted(by_kind.items(), key=lambda row: (row[1][0].mutant.group, row[0])):
            group = some[0].mutant.group
            rows += [f"### {kind} [{group}, {OWNER[group]}] x {len(some)}", "```", shown(some[0])]
            if ask and heading.startswith("NOT"):
                rows.append(f"    the runtime: {_runtime(some[0].mutant)}")
            rows.append("```")
    return "\n".join(rows) + "\n"


def _runtime(mutant: Mutant) -> str:
    with Oracle(10) as oracle:
        base = bases()[mutant.base]
        before = oracle.run(render(base.root, base.style).encode(), base.weights)
        now = oracle.run(mutant.xml, mutant.weights)
    return f"{now.kind}: {now.why[:200]}" if not now.ok else "gives what the base gives" if now.same(before) else "runs"


def _parts(verdicts: list[Verdict], alarms: dict[str, tuple[Diagnostic, ...]]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {
        name: []
        for name in (
            "TROUBLE",
            "NOT FOUND (or an error on a valid file)",
            "WRONG LAYER",
            "WRONG LINE",
            "OTHERS ACCUSED TOO",
        )
    }
    for one in verdicts:
        if one.trouble:
            found["TROUBLE"].append(one)
        elif not one.right:
            if not _only_alarms(one, alarms):
                found["NOT FOUND (or an error on a valid file)"].append(one)
        elif one.mutant.layers and not one.layer_right:
            found["WRONG LAYER"].append(one)
        elif one.mutant.lines and not one.line_right:
            found["WRONG LINE"].append(one)
        elif one.mutant.layers and not one.only_guilty and not alarms[one.mutant.base]:
            found["OTHERS ACCUSED TOO"].append(one)
    return found


if __name__ == "__main__":
    main()
