"""Tensors that are compared, as files in a folder."""

import json
from pathlib import Path

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.comparison._layers import Compared
from ir_tools.comparison.dumping import Dump


def compared(name: str) -> Compared:
    """Two tensors of a layer of this name."""
    builder = Builder()
    builder.result(builder.call("ReLU", builder.parameter("x", "2"), name=name))
    located = next(located for located in builder.model.walk() if located.layer.type == "ReLU")
    return Compared(located, 0, np.zeros(2, np.float32), np.ones(2, np.float32))


def test_files_are_named_after_layers_without_what_file_systems_refuse(tmp_path: Path) -> None:
    with Dump(tmp_path / "out") as sink:
        sink(compared("a/b: c"))
    stem = "00000_a_b_c.0"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("tensors.json", f"{stem}.expected.npy", f"{stem}.actual.npy")
    }
    (row,) = json.loads((tmp_path / "out" / "tensors.json").read_text())
    assert (row["layer"], row["output"], row["counterpart"]) == ("a/b: c", 0, None)
    assert [np.load(tmp_path / "out" / row[side]).tolist() for side in ("expected", "actual")] == [[0, 0], [1, 1]]


def interrupted(dump: Dump, written: int) -> None:
    """Write so many pairs of tensors, and be interrupted."""
    with dump as sink:
        for number in range(written):
            sink(compared(f"layer{number}"))
        raise KeyboardInterrupt


@pytest.mark.parametrize("written", [0, 1])
def test_an_interrupted_comparison_leaves_what_there_is(tmp_path: Path, written: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(Dump(tmp_path / "out"), written)
    assert (tmp_path / "out").exists() == bool(written)
    if written:
        assert len(json.loads((tmp_path / "out" / "tensors.json").read_text())) == written


def test_a_comparison_of_nothing_has_an_empty_table(tmp_path: Path) -> None:
    with Dump(tmp_path / "out"):
        pass
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tensors.json"]
