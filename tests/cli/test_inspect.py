"""`ir-tools inspect`."""

from pathlib import Path

import numpy as np
import openvino as ov
import pytest

import ir_tools
from ir_tools.builder import Builder
from tests import stateful
from tests.cli.conftest import Cli
from tests.comparison.networks import looping_network
from tests.legacy.convolution import fully_connected
from tests.legacy.pooling import pooling

KEYS = {
    "command", "ir_tools", "file", "name", "ir_version", "producer", "bytes", "inputs", "outputs", "layers", "bodies",
    "operations", "poolings", "constants", "states",
}  # fmt: skip


def test_document(cli: Cli, model: Path) -> None:
    found = cli("inspect", model, "--json").document
    assert set(found) == KEYS
    assert (found["ir_version"], found["layers"], found["bodies"]) == (11, 3, 0)
    assert found["producer"] == {"Runtime_version": "2026.4.1-test"}
    assert found["bytes"] == {"xml": model.stat().st_size, "bin": None}
    assert found["inputs"] == [{"name": "data", "names": ["data"], "type": "f32", "shape": "1,2,8,8"}]
    assert found["outputs"] == [
        {"name": "pooled", "names": ["pooled", "pool", "result"], "type": "f32", "shape": "1,2,4,4"}
    ]
    assert {"type": "AvgPool", "version": "opset1", "count": 1} in found["operations"]


def test_the_type_of_an_output_whose_result_records_none(cli: Cli, model: Path) -> None:
    """As in IR v10."""
    head, result = model.read_text().split('type="Result"')
    model.write_text('type="Result"'.join([head, result.replace(' precision="FP32"', "")]))
    (output,) = cli("inspect", model, "--json").document["outputs"]
    assert output["type"] == "f32"


def test_poolings_are_told_as_the_runtime_reads_them(cli: Cli, model: Path) -> None:
    model.write_text(model.read_text().replace('exclude-pad="true"', 'exclude_pad="false"'))
    (pooling,) = cli("inspect", model, "--json").document["poolings"]
    assert (pooling["path"], pooling["line"], pooling["op"]) == ("pool", 8, "AvgPool-1")
    assert (pooling["input"], pooling["output"]) == ("1,2,8,8", "1,2,4,4")
    assert pooling["attributes"]["exclude_pad"] is True
    assert pooling["attributes"]["auto_pad"] == "explicit"


def test_a_pooling_that_cannot_be_read_is_shown_as_it_stands(cli: Cli, model: Path) -> None:
    model.write_text(model.read_text().replace('kernel="2,2"', 'kernel="2,x"'))
    outcome = cli("inspect", model)
    assert outcome.code == 0
    assert "2,x" in outcome.out


def test_shared_constants_count_once(cli: Cli, tmp_path: Path) -> None:
    constant = (
        '<layer id="{}" name="c{}" type="Const" version="opset1">'
        '<data element_type="f16" shape="3" offset="0" size="6"/></layer>'
    )
    path = tmp_path / "constants.xml"
    layers = "".join(constant.format(number, number) for number in range(2))
    path.write_text(f'<net name="" version="11"><layers>{layers}</layers><edges></edges></net>')
    path.with_suffix(".bin").write_bytes(bytes(6))
    found = cli("inspect", path, "--json").document
    assert found["constants"] == [{"type": "f16", "count": 2, "bytes": 6}]
    assert found["bytes"]["bin"] == 6
    assert "(no name)" in cli("inspect", path).out


def test_states(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    ov.serialize(stateful.accumulator(), path)
    (found,) = cli("inspect", path, "--json").document["states"]
    assert [found.pop(key)[:6] for key in ("read_by", "stored_by")] == ["ReadVa", "Assign"]
    assert found == {"id": "sum", "type": "f32", "shape": "1,2", "initial": "3.0"}
    assert "States (1)\nvariable  type  shape  initial value\nsum       f32   [1,2]  3.0\n" in cli("inspect", path).out


def test_blobs_and_poolings_of_a_legacy_model(cli: Cli, tmp_path: Path) -> None:
    made = pooling(np.random.default_rng(0), 6)
    stored = fully_connected(np.random.default_rng(0), 6)
    for name, case in (("pooling", made), ("connected", stored)):
        (tmp_path / f"{name}.xml").write_text(case.xml)
        (tmp_path / f"{name}.bin").write_bytes(case.weights)
    found = cli("inspect", tmp_path / "pooling.xml", "--json").document
    assert [row["op"] for row in found["poolings"]] == ["Pooling"]
    assert found["constants"] == []
    found = cli("inspect", tmp_path / "connected.xml", "--json").document
    assert found["ir_version"] == 6
    assert sum(row["bytes"] for row in found["constants"]) == len(stored.weights) > 0


def test_layers_are_listed_with_their_neighbours(cli: Cli, model: Path) -> None:
    found = cli("inspect", model, "--layers", "--json").document
    assert [(row["path"], row["op"], row["line"]) for row in found["layer_list"]] == [
        ("data", "Parameter-1", 4),
        ("pool", "AvgPool-1", 8),
        ("result", "Result-1", 13),
    ]
    (pool,) = cli("inspect", model, "--layer", "pool", "--json").document["layer_list"]
    assert pool == found["layer_list"][1]
    assert pool["attributes"]["kernel"] == "2,2"
    assert pool["inputs"] == [{"port": 0, "type": "f32", "shape": "[1,2,8,8]", "from": "data", "from_port": 0}]
    output = {"port": 1, "type": "f32", "shape": "[1,2,4,4]", "names": ["pooled"], "read_by": ["result"]}
    assert pool["outputs"] == [output]
    assert "\npool   " in cli("inspect", model, "--layers").out


@pytest.mark.parametrize(
    ("type", "values", "shown"),
    [
        ("i4", np.arange(-8, 8), "-8, -7, -6, -5, -4, -3, -2, -1\nrange         -8 to 7\n"),
        ("f16", np.array([0.5, np.inf]), "0.5, inf\nrange         0.5 to inf\n"),
        ("f32", np.array([0.1, -1 / 3]), "0.1, -0.3333\nrange         -0.3333 to 0.1\n"),
        ("boolean", np.array([True, False]), "True, False\n"),
        ("f32", np.zeros((0, 3)), "\n"),
    ],
)
def test_values_of_a_constant(type: str, values: np.ndarray, shown: str, cli: Cli, tmp_path: Path) -> None:
    b = Builder()
    b.result(b.call("Convert", b.constant(values, "table", type), destination_type="f32"))
    ir_tools.write(b.model, tmp_path / "constant.xml")
    out = cli("inspect", tmp_path / "constant.xml", "--layer", "table").out
    assert shown in out
    assert ("values" in out) is bool(values.size)


def test_a_layer_in_a_body_and_one_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    path = looping_network(tmp_path / "looping.xml")
    (row,) = cli("inspect", path, "--layer", "Loop_1/body/bend", "--json").document["layer_list"]
    assert (row["op"], row["inputs"][0]["from"]) == ("Tanh-1", "plus")
    (loop,) = cli("inspect", path, "--layer", "Loop_1", "--json").document["layer_list"]
    assert loop["bodies"] == ["body"]
    outcome = cli("inspect", path, "--layer", "Loop_1/body/bent")
    assert (outcome.code, outcome.out) == (2, "")
    assert "did you mean 'Loop_1/body/bend'?" in outcome.err
