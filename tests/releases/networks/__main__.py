"""Ask releases: `python -m tests.releases.networks SEED COUNT RELEASE...`.

It tells where `compat` is wrong, with the first layer whose values differ, and where a release does not run what is
migrated for it.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import ir_tools
from ir_tools.builder import Builder
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.ops import Role, role_of
from ir_tools.releases.measured import State
from ir_tools.releases.table import Release, find_release
from ir_tools.runtime.client import RuntimeClient
from tests.releases.measure import Answer as Given
from tests.releases.measure import ask, client_of, reference
from tests.releases.networks import network
from tests.releases.pairs import after_migration_runs, asked, does
from tests.releases.questions import Question


def first_wrong(question: Question, release: Release) -> str:
    """Return the first layer, in order, that a release computes otherwise if its outputs are those of the model."""
    with client_of(release) as client:
        return _first_wrong(question, client)


def _first_wrong(question: Question, client: RuntimeClient) -> str:
    for place in range(len([*ir_tools.read(question.xml, question.weights).graph.ordered()])):
        model = ir_tools.read(question.xml, question.weights)
        layer = [*model.graph.ordered()][place]
        if role_of(layer) is not Role.COMPUTATION:
            continue
        for result in [one for one in model.graph.layers() if role_of(one) is Role.RESULT]:
            model.graph.remove(result.id)
        for port in layer.outputs:
            Builder(model).result(Source(layer.id, port.id))
        part = replace(question, xml=render(model))
        found = ask(client, part)
        wanted = reference(part, max(len(found.outputs), 1))
        if wanted and does(part, found, Given(None, wanted)) is not State.RUNS:
            return f"{layer.type} '{layer.name}'"
    return "no layer alone"


def wrong(seeds: Sequence[int], names: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong about networks, and then how much is right."""
    all_of = right = promised = kept = 0
    asking = ((network(seed), release) for seed in seeds for release in map(find_release, names))
    for pair in asked(asking):
        all_of += 1
        about, right = f"{pair.release.name}: {pair.question.case}", right + pair.right
        if not pair.right:
            why = pair.said.obstacles[0] if pair.said.obstacles else first_wrong(pair.question, pair.release)
            yield f"{about}: {pair.said.answer}, does {pair.does.name}: {pair.question.about}: {why}"
        runs = None if pair.does is State.RUNS else after_migration_runs(pair.question, pair.release)
        promised, kept = promised + (runs is not None), kept + (runs is True)
        if runs is False:
            yield f"{about}: does not run after migration"
    yield f"{right} of {all_of} right; {kept} of {promised} promises kept"


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:3])
    for line in wrong(range(first, first + count), sys.argv[3:]):
        print(line, flush=True)
