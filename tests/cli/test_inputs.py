"""Commands on models whose inputs have to suit each other, without options and with them."""

from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

import ir_tools
from tests.cli.conftest import Cli
from tests.inputs.networks import NETWORKS


@pytest.mark.parametrize("command", ["run", "compare", "migrate", "validate"])
def test_commands_need_no_options(cli: Cli, tmp_path: Path, command: str) -> None:
    path = tmp_path / "decoder.xml"
    ov.serialize(NETWORKS["crossed_decoder"](), path)
    more: dict[str, list[object]] = {
        "migrate": ["--verify", "-o", tmp_path / "out.xml", "--to", "opset14"],
        "validate": ["--runtime"],
    }
    words = more.get(command, [])
    outcome = cli(command, path, *words, "--json")
    assert outcome.code == 0, outcome.err
    if command == "validate":
        assert not [found for found in outcome.document["files"][0]["findings"] if found["code"].startswith("RUN")]
    else:
        rows = outcome.document["verified"]["inputs"] if command == "migrate" else outcome.document["inputs"]
        assert all(row["sizes_chosen"] and row["values_chosen"] and row["text"] for row in rows)


def test_sizes_that_no_layer_takes_are_reported(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "network.xml"
    model = ir_tools.read(NETWORKS["short_table"]())
    model.graph.layer(next(end.layer.id for end in model.inputs)).raw["shape"] = "?,12..20"
    ir_tools.write(model, path)
    for command, code in (("run", 2), ("compare", 2), ("migrate", 4)):
        words = ["--verify", "--dry-run"] if command == "migrate" else []
        outcome = cli(command, path, *words)
        assert outcome.code == code, outcome.out
        told = outcome.err + outcome.out
        assert "no input sizes were found that the model accepts: Add '" in told
        assert ("Not verified" in told) is (command == "migrate")
        assert "--set" in told


def test_a_layer_that_accepts_no_sizes_is_no_matter_of_sizes(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "pool.xml"
    builder = ir_tools.Builder(opset=8)
    settings = {"kernel": (2, 2), "strides": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0), "exclude_pad": True}
    pool = builder.call("AvgPool", builder.parameter("data", "?,3,?,?"), name="pool", **settings)
    builder.result(pool, "out")
    ir_tools.write(builder.model, path)
    assert cli("run", path).code == 0
    path.write_text(path.read_text().replace('strides="1,1"', 'strides="0,0"'))
    told = cli("run", path).err
    assert "AvgPool 'pool' refuses inputs of any size: strides is 0,0; expected at least 1 for each; ir-tools v" in told
    assert "--set" not in told


def test_arrays_that_do_not_suit_each_other(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "network.xml"
    ov.serialize(NETWORKS["encoder"](), path)
    words = []
    for name, size in (("ids", 5), ("kinds", 5), ("mask", 6)):
        np.save(tmp_path / f"{name}.npy", np.ones((1, size), np.int64))
        words += ["--input", f"{name}={tmp_path / name}.npy"]
    assert cli("run", path, *words[:4]).code == 0
    for command in (["run"], ["run", "--engine", "runtime"], ["compare"]):
        outcome = cli(*command, path, *words)
        assert outcome.code == 2
        assert "the arrays do not fit each other: Add '" in outcome.err
        assert outcome.err.count("\n") == 1
    outcome = cli("migrate", path, "--verify", "--dry-run", *words)
    assert (outcome.code, "Not verified: the arrays do not fit" in outcome.out) == (4, True)


def test_validate_with_shapes(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "network.xml"
    ov.serialize(NETWORKS["short_table"](), path)
    assert "RUN" not in cli("validate", "--runtime", path, "--set", "ids=3,11").out
    told = cli("validate", "--runtime", path, "--set", "ids=3,12").out
    assert "RUN107" in told
    assert "the model does not accept the new shapes" in told
    assert "Add" in told
    for words, says in ((["--runtime", "--set", "nobody=3"], "nobody"), (["--set", "ids=3,11"], "--runtime")):
        outcome = cli("validate", path, *words)
        assert (outcome.code, says in outcome.err) == (2, True), outcome
    assert not ir_tools.validate(path, runtime=True, shapes={"ids": "3,11"})


@pytest.mark.parametrize("words", [["run", "--engine", "runtime"], ["compare"]], ids=lambda words: words[0])
def test_a_rejection_lists_what_was_made_up(cli: Cli, tmp_path: Path, words: list[str]) -> None:
    """The runtime cannot multiply rows of unknown number by a stack of matrices."""
    rows = ops.parameter([-1, 4], np.float32, name="rows")
    products = ops.matmul(ops.unsqueeze(rows, np.int64(0)), np.ones((3, 5, 4), np.float32), False, True)
    ov.save_model(ov.Model([ops.result(products)], [rows]), tmp_path / "stack.xml")
    command, *options = words
    outcome = cli(command, tmp_path / "stack.xml", *options)
    assert outcome.code == 2
    assert (
        "; generated inputs: rows: f32 [1,4], normal, sizes and values chosen (--input and --set change them)"
        in outcome.err
    )
    np.save(tmp_path / "rows.npy", np.ones((2, 4), np.float32))
    outcome = cli(command, tmp_path / "stack.xml", *options, "--input", tmp_path / "rows.npy")
    assert outcome.code == 2
    assert "made up" not in outcome.err
