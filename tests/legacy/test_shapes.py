"""Shapes of legacy models, for another batch size: those of the model that they are migrated to, and of the runtime."""

from pathlib import Path

import pytest

import ir_tools
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim


def legacy_models(corpus: Path) -> list[Path]:
    return sorted(path for path in corpus.glob("models/*.xml") if any(f".v{n}." in path.name for n in range(2, 8)))


@pytest.mark.sweep
def test_real_models_take_another_batch_size_before_and_after_the_migration(corpus: Path) -> None:
    models = legacy_models(corpus)
    assert models
    for path in models:
        model = ir_tools.read(path)
        shapes = {end.name: (3, *end.port.dims[1:]) for end in model.inputs if end.port.dims[0] == 1}
        report = ir_tools.propagate_shapes(model, shapes, in_place=True)
        assert "unknown" not in report.origins.values(), path.name
        direct = ir_tools.migrate(model)
        assert direct.ok, (path.name, direct.refused)
        assert not [found for found in ir_tools.validate(direct.model) if found.severity == "error"]
