"""Measure releases, and put what they do into the table: `python -m tests.releases.measure NAME...`, or `--all`.

An operation among the names (`Convert-1`) is measured alone.

Every question of `questions.py` is asked of the release, in its environment (`ir-tools runtimes --add NAME`), and its
outputs are compared with those of the installed runtime and of the reference executor.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ir_tools
from ir_tools import releases
from ir_tools.errors import IrToolsError, RuntimeFailure, UsageError
from ir_tools.graph import Model
from ir_tools.ops import Array
from ir_tools.releases.measured import State
from ir_tools.releases.table import OPENVINO, Release, find_release
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.release import release_client
from ir_tools.session import Session
from tests.releases.questions import OPS, Question, questions

TABLE = Path(releases.__file__).with_name("measured.json")
STAGES = {
    "reading the model": State.UNREAD,
    "compiling the model": State.UNCOMPILED,
    "running the model": State.FAILS,
}
TOLERANCES = {"bf16": (3e-2, 1e-2), "f16": (1e-2, 1e-3)}
SECONDS = 20
INFERENCES = 3
"""Of a model with variables: the first ones read other values than those behind."""
AXIS = re.compile(r"\? \d+")
"""What a case says of one axis whose size is unknown."""
Rows = dict[str, dict[str, dict[str, str]]]
"""Letters by operation, case and release."""


class Answer(NamedTuple):
    """What a release does with a model: the state if it does not run it, and the outputs."""

    state: State | None
    outputs: list[Array]


Expected = Mapping[tuple[str, str], Answer]
"""What the installed runtime answers, by operation and case."""


def client_of(release: Release) -> RuntimeClient:
    """Return a client for a release; the installed runtime is the newest one."""
    return RuntimeClient(timeout=SECONDS) if release is OPENVINO[-1] else release_client(release, timeout=SECONDS)


def inferred(
    client: RuntimeClient, xml: Path | str | bytes, weights: Path | str | bytes | None, fed: Mapping[str, Array]
) -> list[Array]:
    """Return the outputs of a model; of each of several inferences in a row if it has variables."""
    first = client.infer(xml, weights, fed)
    more = range(2, INFERENCES + 1) if first.states else ()
    found = [first, *(client.infer(xml, weights, fed, times=times) for times in more)]
    return [array for each in found for array in each.outputs.values()]


def executed(model: Model, fed: Mapping[str, Array], count: int) -> list[Array]:
    """Return the first `count` outputs by the reference executor, as `inferred` does."""
    outputs, session = list[Array](), Session(model, runtime=False)
    while len(outputs) < count and (found := session.run(fed)):
        outputs += found.values()
    return outputs


def ask(client: RuntimeClient, question: Question) -> Answer:
    """Return what a release does with a model."""
    try:
        outputs = inferred(client, question.xml, question.weights, question.fed)
    except RuntimeFailure as failure:
        return Answer(STAGES.get(failure.stage, State.FAILS) if failure.kind == "rejected" else State.DIES, [])
    except UsageError:
        return Answer(State.FAILS, [])
    return Answer(None, [*map(numbers, outputs)])


def numbers(array: Array) -> Array:
    """Return an array as floats; nothing of strings."""
    return np.zeros(0) if array.dtype == object else np.asarray(array, np.float64)


def expected(ops: Collection[str]) -> Expected:
    """Ask the installed runtime all questions about operations."""
    with client_of(OPENVINO[-1]) as client:
        asked = (one for one in questions(11) if one.version == 11 and one.about in ops)
        return {(one.about, one.case): ask(client, one) for one in asked}


def asked_of(release: Release, wanted: Expected, rows: Rows) -> Iterator[Question]:
    """Yield the questions for a release: the plain ones, and others that the installed runtime reads.

    Axes of unknown size are asked about one by one if the model in which all are unknown does not do as the plain one.
    """
    for question in questions(release.reads[1]):
        about, case = question.about, question.case
        if case and ((about, case) not in wanted or wanted[about, case].state is State.UNREAD):
            continue
        whole = AXIS.sub("?", case)
        if (about, "") in wanted and (
            whole == case
            or _row(rows, about, whole).get(release.name) not in {None, _row(rows, about, "").get(release.name)}
        ):
            yield question


def right(found: Sequence[Array], wanted: Sequence[Array], case: str = "") -> bool:
    """Return whether outputs are equal, whatever their types are."""
    rtol, atol = TOLERANCES.get(case, (1e-4, 1e-5))
    return len(found) == len(wanted) and all(_equal(*pair, rtol, atol) for pair in zip(found, wanted, strict=True))


def _equal(found: Array, wanted: Array, rtol: float, atol: float) -> bool:
    if found.shape != wanted.shape and not found.size == wanted.size == 1:
        return False
    ours, theirs = (np.asarray(array, np.float64).ravel() for array in (found, wanted))
    return np.allclose(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)


def reference(question: Question, count: int = 1) -> list[Array]:
    """Return the first `count` outputs of the reference executor; none if it cannot compute them."""
    try:
        outputs = executed(ir_tools.read(question.xml, question.weights), question.fed, count)
    except IrToolsError:
        return []
    return [*map(numbers, outputs)]


def judged(question: Question, answer: Answer, wanted: Answer) -> State:
    """Return what a release does with a question; `wanted` is what the installed runtime does."""
    if answer.state is not None:
        return answer.state
    if right(answer.outputs, wanted.outputs, question.case):
        return State.RUNS
    computed = reference(question, len(answer.outputs))
    return State.RUNS if computed and right(answer.outputs, computed, question.case) else State.DIFFERS


def case_of(question: Question, release: Release) -> str:
    """Return the case of the table that a question is about."""
    return question.case or ("v10" if question.version < release.reads[1] else "")


def measure(release: Release, wanted: Expected, rows: Rows) -> None:
    """Put what a release does into the table."""
    with client_of(release) as client:
        for question in asked_of(release, wanted, rows):
            state = judged(question, ask(client, question), wanted[question.about, question.case])
            _row(rows, question.about, case_of(question, release))[release.name] = state.value


def _row(rows: Rows, about: str, case: str) -> dict[str, str]:
    return rows.setdefault(about, {"": {}}).setdefault(case, {})


def load() -> Rows:
    """Return the table, with every letter."""
    held = json.loads(TABLE.read_text())
    names = held["releases"]
    return {
        op: {
            case: dict(zip(names, text if len(text) > 1 else text * len(names), strict=True))
            for case, text in row.items()
        }
        for op, row in held["operations"].items()
    }


def save(rows: Rows) -> None:
    """Write the table, without what goes without saying."""
    known = {name for cases in rows.values() for name in cases[""]}
    names = [release.name for release in OPENVINO if release.name in known]
    lines = []
    for op in sorted(rows, key=str.lower):
        plain = {name: rows[op][""].get(name, State.UNREAD) for name in names}
        texts = {"": "".join(plain.values())}
        texts |= {case: text for case, row in sorted(rows[op].items()) if case and (text := _text(row, plain))}
        lines.append(f"{json.dumps(op)}: {json.dumps(texts)}")
    body = ",\n".join(lines)
    TABLE.write_text(f'{{"releases": {json.dumps(names)},\n"operations": {{\n{body}\n}}}}\n')


def _text(row: Mapping[str, str], plain: Mapping[str, str]) -> str:
    """Return the letters of a case; empty if they are those of the plain model, one if they are all the same."""
    letters = [plain[name] if plain[name] == State.UNREAD else row.get(name, plain[name]) for name in plain]
    own = {letter for letter, other in zip(letters, plain.values(), strict=True) if other != State.UNREAD}
    if letters == [*plain.values()]:
        return ""
    return own.pop() if len(own) == 1 else "".join(letters)


def main(names: Collection[str]) -> None:
    """Measure releases."""
    known = {str(op) for op in OPS}
    rows, wanted = load(), expected(known & {*names} or known)
    releases = OPENVINO if "--all" in names else [find_release(name) for name in names if name not in known]
    for release in releases:
        measure(release, wanted, rows)
        save(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
