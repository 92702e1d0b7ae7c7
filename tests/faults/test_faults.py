"""Holds `ir_tools.validate` against files that are known to be broken, doubtful or valid."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.faults.base_models import base_names, bases
from tests.faults.catalogue import FAULTS, mutants
from tests.faults.define import Fault
from tests.faults.differential import differences
from tests.faults.markup import render
from tests.faults.oracle import Answer, Oracle
from tests.faults.sweep import Verdict, judge, one_of_each_family, shown, table, text
from tests.faults.valid_variants import REFUSED

FOUND = {"error": 99.5, "warning": 99.0, "valid": 100.0}
"""Per cent of the files in which at least the right thing must be found."""
PLACED = 98.0
"""Per cent of the files with a offending layer (line) in which it must be named."""


def test_there_are_enough_kinds_and_bases() -> None:
    assert len(bases()) >= 16
    assert list(bases()) == base_names()
    assert len({fault.kind for fault in FAULTS}) == len(FAULTS) > 400
    assert sum(fault.expect == "valid" for fault in FAULTS) > 60


@cache
def _base_answers() -> dict[str, Answer]:
    """What the runtime makes of every base, in the second of two runs.

    Outputs that are other ones in each run, as a GatherTree leaves some of its memory unwritten, are empty.
    """
    with Oracle() as oracle:
        found = {}
        for name, base in bases().items():
            first, second = (oracle.run(render(base.root, base.style).encode(), base.weights) for _ in range(2))
            found[name] = second.steady(first)
        return found


@pytest.mark.parametrize("name", base_names())
def test_bases_run(name: str) -> None:
    assert _base_answers()[name].ok, _base_answers()[name].why


def _verdicts(seed: int, per_kind: int, faults: tuple[Fault, ...], folder: Path) -> list[Verdict]:
    return [judge(mutant, folder) for mutant in mutants(seed, per_kind, faults)]


def _hold(verdicts: list[Verdict]) -> None:
    """All bars, with the figures and some of what was missed as the message."""
    figures = table(verdicts)
    report = text(figures)
    wrong = [one for one in verdicts if not one.right]
    examples = "\n".join(map(shown, wrong[:20]))
    for expect, bar in FOUND.items():
        row = figures[f"must: {expect}"]
        assert 100 * row.right / row.files >= bar, f"{report}\n{examples}"
    row = figures["must: error"]
    assert 100 * row.layer / row.with_layer >= PLACED, report
    assert 100 * row.line / row.with_line >= PLACED, report
    assert not [one.trouble for one in verdicts if one.trouble], report


def test_an_eighth_of_the_families(tmp_path: Path) -> None:
    _hold(_verdicts(1, 1, one_of_each_family()[::8], tmp_path))


@pytest.mark.sweep
def test_one_of_each_family(tmp_path: Path) -> None:
    _hold(_verdicts(1, 1, one_of_each_family(), tmp_path))


@pytest.mark.sweep
def test_every_kind(tmp_path: Path) -> None:
    """The figures are printed (`-s` shows them)."""
    verdicts = _verdicts(2, 1, FAULTS, tmp_path)
    print(text(table(verdicts)))
    _hold(verdicts)


@pytest.mark.sweep
def test_claims_against_the_runtime() -> None:
    """Valid files run and give what their base gives; poolings and rt_info that deserve a warning are not rejected.

    A misspelled attribute is at least a warning, and more where the runtime rejects what is left.
    """
    mild = ("pooling", "rt_info", "valid")
    faults = tuple(fault for fault in one_of_each_family() if fault.expect != "error" and fault.group in mild)
    wrong = []
    with Oracle() as oracle:
        for mutant in mutants(3, 1, faults):
            answer = oracle.run(mutant.xml, mutant.weights)
            fine = answer.ok if mutant.expect == "warning" else answer.same(_base_answers()[mutant.base])
            if (
                not fine
                and mutant.kind not in REFUSED
                and mutant.kind not in ("valid-one-result-less", "tensor-name-of-two-inputs")
            ):
                wrong.append((mutant.kind, mutant.base, answer.why))
    assert not wrong


@pytest.mark.sweep
def test_runtime_and_validation_agree(tmp_path: Path) -> None:
    """On well-formed edits whose meaning only the runtime knows; what depends on the numbers fed is not counted."""
    found = list(differences(4, 400, tmp_path))
    wrong = [one for one in found if one and not one.runtime.startswith("run: rejected")]
    assert len(wrong) <= 0.02 * len(found), "\n".join(map(str, wrong))


@pytest.mark.sweep
def test_command_line() -> None:
    command = [sys.executable, "-m", "tests.faults.sweep", "--only", "duplicate-layer-id", "--show"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert re.search(r"duplicate-layer-id in \w+: must: error", done.stdout)
