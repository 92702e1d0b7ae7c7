"""What `compat` answers, against what the releases do with the models."""

import random

import pytest

import ir_tools
from ir_tools.compatibility import Answer, compatibility
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.inputs import plan_inputs
from ir_tools.ops import Op, Role, find_op
from ir_tools.releases.measured import State
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.runtime.environments import environment
from tests.ops.samples import sample_of
from tests.ops.single import single_text
from tests.releases.measure import ask, client_of, judged
from tests.releases.questions import OPS, Question

COUNT = 25
"""Models for each release."""
CHECKED = [op for op in OPS if op.role is Role.COMPUTATION and sample_of(op) and op.type not in {"BinaryConvolution"}]
ANSWERS = {State.UNREAD: Answer.STOPPED, State.DIFFERS: Answer.DIFFERS, State.RUNS: Answer.RUNS}


def made(rng: random.Random, op: Op) -> Model:
    """A model of one layer: any stamp of an opset that holds it, every input that is not a constant a Parameter."""
    sample = sample_of(op)
    assert sample is not None
    known = {spec.xml or name for name, spec in op.attrs.items()}
    raw = {key: value for key, value in sample.raw.items() if key in known}
    stamp = rng.choice([number for number in range(1, 18) if find_op(op.type, f"opset{number}") is op])
    outputs = 2 if any(output.many for output in op.outputs) else len(op.outputs)
    model = ir_tools.read(*single_text(op.type, stamp, raw, sample.slots, outputs))
    propagate_shapes(model, in_place=True)
    model.version = rng.choice([10, 11])
    return model


@pytest.mark.sweep
@pytest.mark.parametrize("release", OPENVINO, ids=lambda release: release.name)
def test_answers_are_what_releases_do(release: Release) -> None:
    """No release fails where the answer is `runs`; the other answers are right but for a few that say too little."""
    if release is not OPENVINO[-1] and environment(release) is None:
        pytest.skip(f"{release.name} is not here (ir-tools runtimes --add {release.name})")
    rng = random.Random(f"pairs {release.name}")
    wrong = {}
    with client_of(OPENVINO[-1]) as newest, client_of(release) as client:
        for op in rng.sample(CHECKED, COUNT):
            model = made(rng, op)
            (found,) = compatibility(model, [release])
            weights, fed = model.weights.view(0, model.weights.size).tobytes(), plan_inputs(model).arrays()
            question = Question(str(op), "", model.version, render(model), weights, fed)
            does = judged(question, ask(client, question), ask(newest, question))
            if found.answer is not ANSWERS.get(does, Answer.READS):
                wrong[str(op), model.version] = found.answer, does
    assert [pair for pair, (answer, _) in wrong.items() if answer is Answer.RUNS] == []
    assert len(wrong) <= 2, wrong
