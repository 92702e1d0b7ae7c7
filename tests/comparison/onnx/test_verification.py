"""`migrate x.onnx --verify` on models whose inputs have to suit each other, and where nothing could run."""

from pathlib import Path

import numpy as np
import pytest

from ir_tools.comparison import onnx as onnx_comparison
from ir_tools.errors import RuntimeFailure
from tests.cli.conftest import Cli, cli

__all__ = ["cli"]

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


@pytest.fixture
def embedded(tmp_path: Path) -> Path:
    """Rows of a table of 11, and one position for each of 7 of them."""
    helper, kinds = onnx.helper, onnx.TensorProto
    rng = np.random.default_rng(0)
    tables = {"table": rng.standard_normal((11, 4)), "places": rng.standard_normal((1, 7, 4))}
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["rows"]), helper.make_node("Add", ["rows", "places"], ["y"])],
        "embedded",
        [helper.make_tensor_value_info("ids", kinds.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("y", kinds.FLOAT, None)],
        [onnx.numpy_helper.from_array(table.astype(np.float32), name) for name, table in tables.items()],
    )
    path = tmp_path / "embedded.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize(
    "command", [["migrate", "--dry-run", "--verify"], ["compare"], ["run"]], ids=lambda words: words[0]
)
def test_what_is_made_up_suits_every_engine(cli: Cli, embedded: Path, command: list[str]) -> None:
    outcome = cli(command[0], embedded, *command[1:], "--json")
    assert outcome.code == 0, outcome.err + outcome.out
    found = outcome.document
    (entry,) = found["verified"]["inputs"] if command[0] == "migrate" else found["inputs"]
    assert (entry["shape"], entry["values"]) == ([1, 7], "integers:0:10")


def test_a_run_that_fails_is_not_verified(cli: Cli, embedded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(embedded.with_name("long.npy"), np.zeros((1, 8), np.int64))
    outcome = cli("migrate", embedded, "--dry-run", "--verify", "--input", embedded.with_name("long.npy"))
    assert outcome.code == 4
    assert "Not verified: the arrays do not fit each other: Add '" in outcome.out
    assert "same values" not in outcome.out

    def fails(*_: object, **__: object) -> None:
        raise RuntimeFailure("it does not run", kind="rejected")

    for name in ("_importer", "_onnxruntime"):
        monkeypatch.setattr(onnx_comparison, name, fails)
    outcome = cli("migrate", embedded, "--dry-run", "--verify")
    assert outcome.code == 4
    assert "Not verified: no other engine ran the model: openvino: it does not run" in outcome.out
    assert "same values" not in outcome.out
