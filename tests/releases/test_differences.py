"""The table of releases that give other values against these releases."""

from pathlib import Path

import numpy as np
import pytest

from ir_tools import execute
from ir_tools.errors import RuntimeFailure
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import as_model
from ir_tools.known_differences._releases_listing import listing
from ir_tools.known_differences.releases import ROWS, ReleaseDifference, Seen, release_differences
from ir_tools.ops import Array, find_op
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.runtime.client import sources
from ir_tools.runtime.environments import environment
from tests.releases.measure import client_of

ROOT = Path(__file__).parents[2]
ROW = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def right(release: Release, row: ReleaseDifference) -> bool | None:
    """Whether a release gives the values of the reference; None if it does not run the model."""
    model, fed = as_model(row.model)
    model.version = min(row.version, release.reads[1])
    wanted = [*execute.run(model, fed).values()]
    with client_of(release) as client, sources(model) as (text, weights):
        try:
            found = [*client.infer(text, weights, fed).outputs.values()]
        except RuntimeFailure:
            return None
    return all(_close(*pair) for pair in zip(found, wanted, strict=True))


def _close(found: Array, wanted: Array) -> bool:
    return found.shape == wanted.shape and np.allclose(found.astype(float), wanted.astype(float), 1e-4, 1e-5)


@ROW
def test_span(row: ReleaseDifference) -> None:
    """The names are releases, in order."""
    assert row.releases
    assert row.releases[0].name.endswith(row.first)
    assert row.releases[-1].name.endswith(row.last)


@ROW
def test_is_told_from_a_layer(row: ReleaseDifference) -> None:
    """The row is found for a layer of its own model."""
    model, _ = as_model(row.model)
    facts = propagate_shapes(model).facts
    found: list[ReleaseDifference] = []
    for path, layer, _ in model.walk():
        op = find_op(layer.type, layer.version)
        assert op is not None
        inputs, outputs = ([facts[path, port.id] for port in ports] for ports in (layer.inputs, layer.outputs))
        seen = Seen(op, op.read(layer.raw, []), inputs, outputs, (), row.version, {"i8"})
        found += release_differences(row.releases[0], seen)
    assert row in found


def test_the_page_is_made_from_the_tables() -> None:
    """`python -m ir_tools.known_differences._releases_listing > docs/releases.md` makes it."""
    assert (ROOT / "docs" / "releases.md").read_text(encoding="utf-8") == listing()


@pytest.mark.sweep
@ROW
def test_span_by_the_releases(row: ReleaseDifference) -> None:
    """The first and the last release of a row differ, and those before and behind it do not."""
    inside = {release.name for release in row.releases}
    number = [release.name for release in OPENVINO].index(row.releases[0].name)
    beside = OPENVINO[max(number - 1, 0) : number + len(inside) + 1]
    here = [release for release in beside if release is OPENVINO[-1] or environment(release) is not None]
    if not here:
        pytest.skip("none of the releases is here (ir-tools runtimes)")
    answers = {release.name: right(release, row) for release in here if release.reads[1] >= row.version}
    assert {name: answer for name, answer in answers.items() if answer is (name in inside)} == {}
