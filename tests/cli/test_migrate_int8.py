"""`ir-tools migrate --int8`."""

from pathlib import Path

import pytest

import ir_tools
from ir_tools.processors import Processor
from tests.cli.conftest import Cli
from tests.legacy.test_int8 import quantized_net


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A model of IR v6 with `<statistics>`."""
    made, path = quantized_net(0, signed=True).case(), tmp_path / "old.xml"
    path.write_text(made.xml)
    path.with_suffix(".bin").write_bytes(made.weights)
    return path


def test_the_difference_is_shown(cli: Cli, old: Path, tmp_path: Path) -> None:
    document = cli("migrate", str(old), "-o", str(tmp_path / "new.xml"), "--int8", "--json").document
    assert document["notes"] == ["2 FakeQuantizes for inputs and weights, with the ranges of <statistics>"]
    (output,) = document["int8"]["outputs"]
    assert output["name"] == "conv"
    assert output["max_abs"] > 0.01
    assert output["max_abs"] < 1 or Processor.NO_VNNI.is_here, "products of 8 bits saturate there"
    assert {layer.type for layer in ir_tools.read(tmp_path / "new.xml").graph.layers()} >= {"FakeQuantize"}
    assert "INT8 against floats" in cli("migrate", str(old), "--int8", "--dry-run").out


def test_unreadable_statistics(cli: Cli, old: Path) -> None:
    old.write_text(old.read_text().replace("<max>40.0", "<max>many"))
    outcome = cli("migrate", str(old), "--int8", "--dry-run")
    assert outcome.code == 2
    assert "the <min> and <max> of a layer in <statistics> are not lists of numbers" in outcome.err


def test_a_refused_model_is_not_measured(cli: Cli, old: Path) -> None:
    old.write_text(old.read_text().replace('type="Convolution"', 'type="Nonsense"'))
    outcome = cli("migrate", str(old), "--int8", "--dry-run", "--json")
    assert outcome.code == 3
    assert outcome.document["int8"] is None
    assert len(outcome.document["refused"]) == 1
