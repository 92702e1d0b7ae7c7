"""Inference Engine 2020.1 in a child process: what it returns, and what its failures become."""

import ast
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from ir_tools import RuntimeFailure, Severity, UsageError, validate
from ir_tools.runtime import legacy_worker
from ir_tools.runtime.legacy import LegacyClient, LegacyTensor
from tests.runtime.legacy_files import legacy_xml

POOL = {"kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "pool-method": "max"}
POOLING = legacy_xml("Pooling", POOL, {"data": (1, 1, 2, 4)}, [(1, 1, 1, 2)])
SPLIT = legacy_xml("Split", {"axis": "1"}, {"data": (1, 4)}, [(1, 1), (1, 3)])
GATHER = legacy_xml(
    "Gather", {"axis": "0"}, {"table": (3, 2), "indices": (2,)}, [(2, 2)], types={"indices": "I32"}, version=6
)
CRASH = legacy_xml(
    "ROIPooling",
    {"pooled_h": "1", "pooled_w": "1", "spatial_scale": "1", "method": "bilinear"},
    {"data": (1, 1, 4, 4), "rois": (1, 5)},
    [(1, 1, 1, 1)],
)
"""A bilinear ROIPooling to size 1 reads wild memory: it divides by zero."""
DATA = np.array([[[[1, 5, 2, 0], [3, 4, 9, 7]]]], np.float32)


@pytest.fixture(scope="module")
def client(legacy_python: Path) -> Iterator[LegacyClient]:
    with LegacyClient(legacy_python, timeout=60.0) as client:
        yield client


def test_worker_is_python_3_6() -> None:
    ast.parse(Path(legacy_worker.__file__).read_text(), feature_version=(3, 6))


def test_outputs_go_by_the_name_of_their_layer(client: LegacyClient) -> None:
    found = client.infer(POOLING, b"", {"data": DATA})
    assert {name: array.tolist() for name, array in found.items()} == {"layer": [[[[5.0, 9.0]]]]}


def test_outputs_of_one_layer_are_numbered(client: LegacyClient) -> None:
    row = np.arange(4, dtype=np.float32)[None]
    found = client.infer(SPLIT, b"", {"data": row})
    assert {name: array.tolist() for name, array in found.items()} == {"layer.0": [[0.0]], "layer.1": [[1.0, 2.0, 3.0]]}
    assert list(client.infer(SPLIT, b"", {"data": row}, outputs=["layer.1"])) == ["layer.1"]


@pytest.mark.parametrize("version", range(2, 8))
@pytest.mark.parametrize(("name", "codes"), [("data", []), ("layer", ["IR104"])])
def test_layers_of_one_name_are_an_error_because_it_rejects_them(
    client: LegacyClient, version: int, name: str, codes: list[str]
) -> None:
    text = legacy_xml("ReLU", {}, {name: (1, 4)}, [(1, 4)], version=version)
    with pytest.raises(RuntimeFailure, match="rejects it") if codes else nullcontext():
        client.describe(text, b"")
    assert _errors_of_names(text) == codes


def test_a_layer_without_outputs_may_have_the_name_of_another(client: LegacyClient) -> None:
    port = '<port id="{}"><dim>1</dim><dim>4</dim></port>'
    text = f"""<net name="n" version="5" batch="1"><layers>
        <layer id="0" name="data" type="Input" precision="FP32"><output>{port.format(0)}</output></layer>
        <layer id="1" name="kept" type="Memory" precision="FP32"><data id="m" index="1" size="2"/>
            <output>{port.format(0)}</output></layer>
        <layer id="2" name="sum" type="Eltwise" precision="FP32"><data operation="sum"/>
            <input>{port.format(0)}{port.format(1)}</input><output>{port.format(2)}</output></layer>
        <layer id="3" name="same" type="ReLU" precision="FP32">
            <input>{port.format(0)}</input><output>{port.format(1)}</output></layer>
        <layer id="4" name="same" type="Memory" precision="FP32"><data id="m" index="0" size="2"/>
            <input>{port.format(0)}</input></layer></layers><edges>
        <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
        <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
        <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
        <edge from-layer="2" from-port="2" to-layer="4" to-port="0"/></edges></net>""".encode()
    client.describe(text, b"")
    assert _errors_of_names(text) == []


def _errors_of_names(text: bytes) -> list[str]:
    return [one.code for one in validate(text) if one.severity is Severity.ERROR and one.code == "IR104"]


def test_integers(client: LegacyClient) -> None:
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = client.infer(GATHER, b"", {"table": table, "indices": np.array([2, 0])})
    assert found["layer"].tolist() == [[4.0, 5.0], [0.0, 1.0]]


def test_layers_inside(client: LegacyClient) -> None:
    inner = POOLING.replace(b"</layers><edges>", _RELU.encode() + b"</layers><edges>" + _READS.encode())
    assert list(client.infer(inner, b"", {"data": -DATA})) == ["relu"]
    found = client.infer(inner, b"", {"data": -DATA}, outputs=["relu", "layer"])
    assert {name: array.ravel().tolist() for name, array in found.items()} == {"relu": [0.0, 0.0], "layer": [-1.0, 0.0]}


_SIZES = "<dim>1</dim><dim>1</dim><dim>1</dim><dim>2</dim></port>"
_RELU = (
    f'<layer id="7" name="relu" type="ReLU" precision="FP32"><input><port id="0">{_SIZES}</input>'
    f'<output><port id="1">{_SIZES}</output></layer>'
)
_READS = '<edge from-layer="1" from-port="1" to-layer="7" to-port="0"/>'


def test_inputs_and_outputs_are_described(client: LegacyClient) -> None:
    inputs, outputs = client.describe(GATHER, b"")
    assert inputs == [LegacyTensor("indices", "i32", (2,)), LegacyTensor("table", "f32", (3, 2))]
    assert outputs == [LegacyTensor("layer", "f32", (2, 2))]


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({}, None, "input 'data' has no value"),
        ({"data": DATA, "other": DATA}, None, "there is no input 'other'; the model has 'data'"),
        ({"data": DATA[0]}, None, r"input 'data' has shape \[1, 1, 2, 4\], not \[1, 2, 4\]"),
        ({"data": DATA + 1e-12}, None, None),
        (
            {"data": DATA.astype(np.float64) / 3},
            None,
            "input 'data' has element type f32, and its values would change in the cast",
        ),
        ({"data": DATA}, ["layr"], "there is no layer output 'layr'"),
    ],
    ids=["missing", "unknown", "shape", "f32", "f64", "unknown_output"],
)
def test_arguments_that_do_not_fit(
    client: LegacyClient, inputs: dict[str, np.ndarray], outputs: list[str] | None, message: str | None
) -> None:
    if message is None:
        client.infer(POOLING, b"", inputs, outputs=outputs)
        return
    with pytest.raises(UsageError, match=message):
        client.infer(POOLING, b"", inputs, outputs=outputs)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"", r"Error loading XML file: model\.xml:1:0: No document element found"),
        (b"<net", r"Error loading XML file: model\.xml:1:3: Error parsing"),
        (POOLING.replace(b"Pooling", b"Nonsense"), "Unsupported primitive of type: Nonsense name: layer"),
        (POOLING.replace(b"<dim>4</dim>", b"<dim>0</dim>"), r"dimension \(0\) in node dim must be a positive"),
        (POOLING.replace(b"Pooling", b"Power"), "No such parameter name 'shift' for layer layer"),
    ],
    ids=["empty", "cut", "type", "dims", "attribute"],
)
def test_file_that_is_rejected(client: LegacyClient, broken: bytes, reason: str) -> None:
    with pytest.raises(RuntimeFailure, match=rf"^Inference Engine 2020\.1 rejects it: .*{reason}") as caught:
        client.infer(broken, b"", {"data": DATA})
    assert caught.value.kind == "rejected"


def test_crash_is_an_outcome_and_the_next_file_runs(client: LegacyClient) -> None:
    boxes = np.array([[0, 0, 0, 3, 3]], np.float32)
    with pytest.raises(RuntimeFailure, match=r"crashed \(SIG\w+\) while running the model") as caught:
        client.infer(CRASH, b"", {"data": np.ones((1, 1, 4, 4), np.float32), "rois": boxes})
    assert caught.value.kind == "crashed"
    test_outputs_go_by_the_name_of_their_layer(client)


def test_time_limit_is_an_outcome_and_the_next_file_runs(client: LegacyClient) -> None:
    with pytest.raises(RuntimeFailure, match=r"Inference Engine 2020\.1 took more than 0 s") as caught:
        client.infer(POOLING, b"", {"data": DATA}, timeout=0.0)
    assert caught.value.kind == "timeout"
    test_outputs_go_by_the_name_of_their_layer(client)


def test_python_without_the_libraries() -> None:
    with (
        LegacyClient(Path(sys.executable)) as client,
        pytest.raises(RuntimeFailure, match=r"cannot be loaded in .*: there is no package cv2") as caught,
    ):
        client.describe(POOLING, b"")
    assert caught.value.kind == "missing"
