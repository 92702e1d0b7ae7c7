"""What the table says of releases, in itself and against releases that are here."""

import random
from functools import cache, partial

import numpy as np
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.compatibility import Answer, compatibility
from ir_tools.ops import FAMILIES, ops_of
from ir_tools.releases.measured import State, cases, described_inputs, in_words, is_measured, operations, state
from ir_tools.releases.table import OPENVINO, Release, find_release
from ir_tools.runtime.environments import environment
from tests.releases.measure import ask, case_of, client_of, judged, load, save
from tests.releases.questions import OPS, Question, questions

UNSTEADY = {"bf16", "string"}
"""Element types whose values a release gets in different ways."""
RANDOM = {"BinaryConvolution-1", "Multinomial-13", "RandomUniform-8", "ReadValue-3"}
"""Operations that do something else in each run, or read memory that nobody wrote."""
UNSTEADY_CASES = {("DFT-7", "input 1"), ("IDFT-7", "input 1"), ("IRDFT-9", "input 1")}
"""Cases in which a release now rejects the model, now crashes, and now computes anything."""
SAMPLE = 60
"""Questions that are asked of a release again."""


OTHERWISE_SPELLED = {"BatchNormInference-1", "BinaryConvolution-1", "StridedSlice-1"}
"""Operations that 2021.2 reads with other attributes alone."""
UNKNOWN_SIZES = {"NonMaxSuppression-5", "NonZero-3"}
"""Operations whose outputs have unknown sizes, which no file of IR v10 could record until 2021.4."""


def test_inputs_are_described_that_a_case_is_about() -> None:
    for op in operations():
        numbers = [number for number in range(1, 100) if any(case.endswith(f"input {number}") for case in cases(op))]
        assert described_inputs(op) == {*numbers}


def test_every_release_and_operation_is_there() -> None:
    assert all(is_measured(release) for release in OPENVINO)
    assert [str(op) for op in OPS if not cases(str(op)) and op.type != "Assign"] == []
    assert {op.type for family in FAMILIES for op in family.OPS} >= {name.rpartition("-")[0] for name in load()}


@pytest.mark.parametrize("release", OPENVINO, ids=lambda release: release.name)
def test_reads_what_the_table_of_releases_says(release: Release) -> None:
    """What a release does not hold it does not read, and the other way round."""
    left_out = set() if release.dynamic else UNKNOWN_SIZES
    left_out |= OTHERWISE_SPELLED if release.number == (2021, 2) else set()
    for name in load():
        op = next(op for op in ops_of(name.rpartition("-")[0]) if str(op) == name)
        read = state(release, name) is not State.UNREAD
        assert read == release.holds(op, op.version) or (name in left_out and not read), name


@pytest.mark.parametrize("release", OPENVINO, ids=lambda release: release.name)
def test_element_types_of_constants(release: Release) -> None:
    for kind in cases("Const-1"):
        if kind:
            assert (state(release, "Const-1", kind) is not State.UNREAD) == release.has_type(kind), kind


def test_what_was_measured_to_fail_is_not_said_to_run() -> None:
    """A row that says exactly when an operation fails does not hide that its plain model does."""
    ops = {str(op): op for op in OPS}
    for question in questions(11, plain=True):
        op = ops[question.about]
        failing = [
            release
            for release in OPENVINO
            if release.reads[1] == question.version
            and release.holds(op, op.version)
            and said(release, question) not in {None, State.RUNS}
        ]
        found = compatibility(ir_tools.read(question.xml, question.weights), failing) if failing else []
        assert [one.release.name for one in found if one.answer is Answer.RUNS] == [], question.about


def test_writing_it_again_changes_nothing(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    from tests.releases import measure

    assert isinstance(tmp_path, Path)
    before, rows = measure.TABLE.read_text(), load()
    monkeypatch.setattr(measure, "TABLE", tmp_path / "measured.json")
    save(rows)
    assert measure.TABLE.read_text() == before


def said(release: Release, question: Question) -> State | None:
    """What the table says of a question."""
    return state(release, question.about, case_of(question, release)) or state(release, question.about)


@cache
def asked_of(version: int) -> tuple[Question, ...]:
    return tuple(questions(version))


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("release", OPENVINO, ids=lambda release: release.name)
def test_a_sample_is_as_measured(release: Release) -> None:
    if release is not OPENVINO[-1] and environment(release) is None:
        pytest.skip(f"{release.name} is not here (ir-tools runtimes --add {release.name})")
    rng = random.Random(release.name)
    asked = [
        one
        for one in asked_of(release.reads[1])
        if one.case not in UNSTEADY and one.about not in RANDOM and (one.about, one.case) not in UNSTEADY_CASES
    ]
    found = {}
    with client_of(OPENVINO[-1]) as newest, client_of(release) as client:
        for question in rng.sample(asked, SAMPLE):
            wanted = ask(newest, question)
            if wanted.state is None:
                answer = judged(question, ask(client, question), wanted)
                if answer is not said(release, question):
                    found[question.about, question.case, question.version] = answer, said(release, question)
    assert found == {}


def test_a_model_that_ends_the_process_of_a_release_is_only_read_there() -> None:
    builder, ones = Builder(opset=1), partial(np.ones, dtype=np.float32)
    states, weights = (ones((1, 4)), ones((1, 4))), (ones((16, 3)), ones((16, 4)), ones(16))
    builder.result(builder.outputs("LSTMCell", builder.parameter("x", "1,3"), *states, *weights, hidden_size=4)[0])
    asked = [find_release(f"openvino-{name}") for name in ("2022.2", "2023.1")]
    assert [one.answer for one in compatibility(builder.model, asked)] == [Answer.READS, Answer.RUNS]
    assert state(asked[0], "LSTMCell-1") is State.DIES


def test_what_is_not_read_is_not_read_in_any_case() -> None:
    """A text of one letter counts for every release, but for those that do not read the operation."""
    old, new = find_release("openvino-2021.4"), find_release("openvino-2026.4")
    assert cases("Identity-16")["string"] == "x"
    assert (state(old, "Identity-16", "string"), state(new, "Identity-16", "string")) == (State.UNREAD, State.DIES)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("?", "unknown sizes"),
        ("? 0", "an unknown size along axis 0"),
        ("input 1", "a computed input 1"),
        ("? input 2", "a computed input 2 of unknown size"),
        ("? 1 input 2", "a computed input 2 of unknown size along axis 1"),
        ("short", "missing attributes"),
        ("mode=max", "mode=max"),
    ],
)
def test_cases_are_said_in_words(case: str, words: str) -> None:
    assert in_words(case) == words


def test_no_words_of_a_case_have_its_signs() -> None:
    assert not [case for op in operations() for case in cases(op) if case and "?" in in_words(case)]
