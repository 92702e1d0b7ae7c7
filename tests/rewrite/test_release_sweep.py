"""Whole models migrated for releases, which run them with the outputs of the originals on the installed OpenVINO."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import ir_tools
from ir_tools.comparison import compare
from ir_tools.errors import RuntimeFailure
from ir_tools.graph import Model
from ir_tools.rewrite.legacy import current_model
from ir_tools.runtime.client import sources
from ir_tools.runtime.release import ReleaseClient
from tests.conftest import corpus_cases, is_readable
from tests.importers.onnx.models import LIGHT, with_random_weights
from tests.runtime.releases import MEASURED, client_of

pytestmark = pytest.mark.sweep

CHAOTIC = {
    "person-detection-0203.FP16-INT8.v10.kovakimy": "from noise it finds as many boxes as rounding decides",
    "person-vehicle-bike-detection-crossroad-0078.INT8.v11.md-rasel-uddin": "the same",
}
"""Quantized detectors on noise: other values on releases before 2023, the file being the same."""


@pytest.fixture(scope="module", params=MEASURED[:-1])
def client(request: pytest.FixtureRequest) -> Iterator[ReleaseClient]:
    with client_of(request.param) as client:
        yield client


def verified(model: Model, client: ReleaseClient) -> str:
    """What is wrong with the migrated model on the release; a refusal is right if the release refuses the original."""
    migrated = ir_tools.migrate(model, to=client.release.name)
    if migrated.refused:
        try:
            with sources(model) as (text, weights):
                client.check(text, weights)
        except RuntimeFailure:
            return ""
        return f"refused without need: {migrated.refused[0]}"
    found = compare(model, migrated.model, layers=False, against_client=client)
    return "" if found.ok else str(found)


@pytest.mark.parametrize("path", corpus_cases(fits=is_readable))
def test_models_of_the_corpus(path: Path, client: ReleaseClient) -> None:
    if path.stem in CHAOTIC and client.release.number < (2023,):
        pytest.skip(CHAOTIC[path.stem])
    assert verified(ir_tools.read(path), client) == ""


@pytest.mark.parametrize("name", sorted(path.name for path in LIGHT.glob("*.onnx")))
def test_light_models(name: str, client: ReleaseClient, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(with_random_weights(LIGHT / name, 5).SerializeToString())
    assert verified(ir_tools.onnx.read(path), client) == ""


@pytest.mark.parametrize("number", range(17))
def test_legacy_models(number: int, corpus: Path, client: ReleaseClient) -> None:
    path = sorted(one for one in corpus.glob("models/*.xml") if ".v1" not in one.name)[number]
    model = ir_tools.read(path)
    migrated = ir_tools.migrate(model, to=client.release.name)
    assert migrated.ok
    found = compare(current_model(model), migrated.model, layers=False, against_client=client)
    assert found.ok, str(found)
