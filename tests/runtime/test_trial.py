"""Asking the runtime about a file: what it rejects, what kills it, and which layer is to blame."""

import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset15 as op

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import RuntimeFailure
from ir_tools.format.read import read
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.trial import try_model
from tests.conftest import corpus_cases
from tests.runtime import killers
from tests.runtime.made import POOL, one_layer, parameter, save

Files = tuple[bytes, bytes]
TIME = 2.0
"""Seconds of processor time for one model here; the machine may be busy with other things."""


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient(memory=2 << 30) as started:
        yield started


def one(client: RuntimeClient, files: Files, **limits: Any) -> Diagnostic:
    """The only finding."""
    (found,) = try_model(*files, client=client, **{"seconds": TIME, **limits})
    return found


def bare(build: Callable[[], bytes]) -> Callable[[], Files]:
    return lambda: (build(), b"")


# --- what kills the runtime ---

KILLERS: dict[str, tuple[Callable[[], Files], str, str, str]] = {
    "pool-without-dilations": (bare(killers.pool_without_dilations), "RUN104", "offending", "SIGSEGV"),
    "parts-of-size-0": (bare(killers.no_parts), "RUN104", "offending", "SIGFPE"),
    "crash-in-a-body": (killers.crash_in_a_body, "RUN104", "loop/body/offending", "SIGSEGV"),
    "pads-of-1e9": (bare(killers.huge_pads), "RUN102|RUN106", "offending", ""),
    "adaptive-to-2^40": (lambda: killers.adaptive_to(1 << 40), "RUN106", "offending", "memory"),
    "adaptive-to-2^20": (lambda: killers.adaptive_to(1 << 20), "RUN106", "offending", "memory"),
    "string-of-2^32": (lambda: killers.strings(str(1 << 32)), "RUN106|RUN104", "offending", ""),
    "loop-of-2^40": (lambda: killers.endless(1 << 40), "RUN105", "loop", "0.2 s"),
    "loop-of-minus-5": (lambda: killers.endless(-5), "RUN105", "loop", "0.2 s"),
    "rejected-without-a-name": (lambda: (killers.amid("Transpose", "opset1", {}), b""), "RUN101", "offending", ""),
    "rejected-in-a-body": (killers.rejected_in_a_body, "RUN101", "loop/body/offending", "out of range"),
    "rejected-by-the-device": (bare(killers.dilated_integers), "RUN102", "offending", ""),
    "rejected-while-running": (killers.unfit_values, "RUN103", "offending", "seq_lengths"),
}


@pytest.mark.parametrize(("build", "code", "path", "words"), KILLERS.values(), ids=KILLERS)
def test_killers_are_survived_and_named(
    client: RuntimeClient, build: Callable[[], Files], code: str, path: str, words: str
) -> None:
    files = build()
    found = one(client, files, seconds=0.2 if code == "RUN105" else TIME)
    assert re.fullmatch(code, found.code)
    assert (found.path, found.severity) == (path, Severity.ERROR)
    name = path.rpartition("/")[2]
    (line,) = [number for number, text in enumerate(files[0].split(b"\n"), 1) if f'name="{name}"'.encode() in text]
    assert found.line == line
    assert words in found.message
    assert "src/" not in found.message
    assert try_model(one_layer("AvgPool", "opset1", POOL), client=client) == []


def test_deep_bodies_are_survived(client: RuntimeClient) -> None:
    found = one(client, (killers.nested(4000), b""))
    assert found.code == "RUN104"
    assert "nested too deep" in found.message


def test_strides_of_2_31_are_survived(client: RuntimeClient) -> None:
    files = killers.amid("AvgPool", "opset1", {**POOL, "strides": "2147483648,2147483648"})
    assert [entry.path for entry in try_model(files, client=client)] in ([], ["offending"])


def test_no_layer_is_blamed_for_many(client: RuntimeClient) -> None:
    found = one(client, (killers.chain(2000), b""), seconds=0.3)
    assert (found.code, found.path) == ("RUN105", None)
    assert "no single layer is the cause" in found.message


@pytest.mark.sweep
def test_chain_of_20000_layers_is_survived(client: RuntimeClient) -> None:
    found = one(client, (killers.chain(20000), b""), seconds=5.0)
    assert (found.code, found.path) == ("RUN105", None)


def test_search_ends_in_its_time(client: RuntimeClient) -> None:
    start = time.monotonic()
    found = one(client, killers.endless(1 << 40), seconds=0.2, search_seconds=0.0)
    assert (found.code, found.path) == ("RUN105", None)
    assert "time limit did not allow" in found.message
    assert time.monotonic() - start < 30


# --- the right layer ---


def wired(seed: int) -> tuple[bytes, str]:
    """Layers wired at random, one of them without its second input, and broken ones that lead nowhere."""
    dice = random.Random(seed)
    net = killers.Net()
    ports = [net.parameter("1,3,8,8") for _ in range(dice.randint(1, 3))]
    count = dice.randint(2, 60)
    offending = dice.randrange(count)
    for number in range(count):
        kind, arity = dice.choice([("ReLU", 1), ("Add", 2), ("Multiply", 2), ("Sigmoid", 1)])
        if number == offending:
            # The name is one that the runtime itself might make up for another layer.
            bad = net.layer("Transpose", [dice.choice(ports)], name=f"Transpose_{dice.randint(1, 90)}")
            ports.append(bad)
        elif dice.random() < 0.1:
            net.layer("Transpose", [dice.choice(ports)], name=f"dead_{number}")
        else:
            ports.append(net.layer(kind, [dice.choice(ports) for _ in range(arity)]))
    for port in {bad, *dice.sample(ports, 1)}:
        net.layer("Result", [port])
    (name,) = re.findall(rf'<layer id="{bad[0]}" name="([^"]*)"', net.text())
    return net.model(), name


@pytest.mark.parametrize("seed", range(40))
def test_layer_is_found_wherever_it_is(client: RuntimeClient, seed: int) -> None:
    text, name = wired(seed)
    found = one(client, (text, b""))
    assert (found.code, found.layer_name) == ("RUN101", name)


@pytest.mark.parametrize("number", range(3))
def test_guilty_input_is_found(client: RuntimeClient, number: int) -> None:
    net = killers.Net()
    ports = [net.parameter("1,3" if index != number else "1;3") for index in range(3)]
    for port in ports:
        net.layer("Result", [net.relus(port, 2)])
    found = one(client, (net.model(), b""))
    assert (found.code, found.layer_id, found.layer_name) == ("RUN101", number, f"Parameter_{number}")


PLACES = {
    "offset": (b'id="1" precision="FP32"', b'precision="FP32"', "missing mandatory attribute: id"),
    "name-and-id": (b'version="opset1"><data/><input><port id="0"/>', b'version="x"><data/><input><port id="0"/>', "x"),
}


@pytest.mark.parametrize(("old", "new", "words"), PLACES.values(), ids=PLACES)
def test_place_in_the_message_is_used(client: RuntimeClient, old: bytes, new: bytes, words: str) -> None:
    text = killers.chain(9)
    at = text.index(old, text.index(b'name="ReLU_4"'))
    text = text[:at] + new + text[at + len(old) :]
    found = one(client, (text, b""))
    assert (found.code, found.layer_name, found.line) == ("RUN101", "ReLU_4", 6)
    assert words in found.message


# --- valid models ---


@pytest.mark.parametrize(
    "kind", ["f64", "f32", "f16", "bf16", "i64", "i8", "u8", "u64", "boolean", "string", "u4", "f8e4m3"]
)
@pytest.mark.parametrize("shape", [[], [2, 3], [ov.Dimension(2, 5), -1]], ids=["scalar", "static", "dynamic"])
def test_inputs_of_every_type_are_made_up(
    client: RuntimeClient, tmp_path: Path, kind: str, shape: list[object]
) -> None:
    x = op.parameter(ov.PartialShape(shape), getattr(ov.Type, kind), name="x")
    assert try_model(save(tmp_path, [x], [x]), client=client) == []


def test_whole_numbers_are_indices(client: RuntimeClient, tmp_path: Path) -> None:
    """Only 0 is an index into the second axis."""
    index = parameter([1], np.int64, "index")
    table, ones = (op.constant(np.ones(shape, np.float32)) for shape in ((3, 1, 4), (1, 1, 1)))
    indices = op.reshape(index, op.constant(np.array([1, 1, 1])), False)
    path = save(tmp_path, [op.scatter_elements_update(table, indices, ones, op.constant(np.array(1)))], [index])
    assert try_model(path, client=client) == []


def test_sizes_are_made_up_until_they_fit(client: RuntimeClient, tmp_path: Path) -> None:
    x = parameter([1, 3, -1, -1])
    weights = op.constant(np.ones((2, 3, 40, 40), np.float32))
    path = save(tmp_path, [op.convolution(x, weights, [1, 1], [0, 0], [0, 0], [1, 1])], [x])
    assert try_model(path, client=client) == []


@pytest.mark.parametrize("path", corpus_cases(100_000))
def test_valid_models_have_no_finding(client: RuntimeClient, path: Path) -> None:
    found = try_model(path, client=client)
    missing = "tokenizer" in path.name or not path.with_suffix(".bin").exists()
    assert [entry.code for entry in found] == ["RUN107"] * missing
    assert [entry.severity for entry in found] == [Severity.INFO] * missing


def test_model_in_memory_is_tried_as_it_is_now(client: RuntimeClient, tmp_path: Path) -> None:
    x = parameter([1, 3])
    path = save(tmp_path, [op.add(op.relu(x), op.constant(np.ones((1, 3), np.float32)))], [x])
    model = read(path)
    assert try_model(model, client=client) == []
    relu = next(layer for layer in model.graph.layers() if layer.type == "ReLU")
    relu.tag["type"] = "Transpose"
    (found,) = try_model(model, client=client)
    assert (found.code, found.layer_id, found.file) == ("RUN101", relu.id, str(path))


# --- what cannot be tried ---


@pytest.mark.usefixtures("started_workers")
def test_missing_openvino_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "openvino.py").write_text("raise ImportError('no such thing')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeFailure, match="pip install") as raised:
        try_model(one_layer("AvgPool", "opset1", POOL))
    assert raised.value.kind == "missing"


def test_missing_files_are_told(client: RuntimeClient, tmp_path: Path) -> None:
    (found,) = try_model(tmp_path / "none.xml", client=client)
    assert (found.code, found.severity) == ("RUN107", Severity.INFO)
    text, weights = killers.endless(3)
    (tmp_path / "loop.xml").write_bytes(text)
    (found,) = try_model(tmp_path / "loop.xml", client=client)
    assert (found.code, found.help) == ("RUN107", "copy the .bin beside the .xml, or name it with --bin")
    (tmp_path / "loop.bin").write_bytes(weights)
    assert try_model(tmp_path / "loop.xml", client=client) == []


def test_unknown_rank_is_told(client: RuntimeClient, tmp_path: Path) -> None:
    x = op.parameter(ov.PartialShape.dynamic(), np.float32, name="x")
    (found,) = try_model(save(tmp_path, [x], [x]), client=client)
    assert found.code in {"RUN102", "RUN107"}
    assert "rank" in found.message


def test_made_up_values_are_no_error(client: RuntimeClient, tmp_path: Path) -> None:
    """What is wrong with inputs that the user never gave is not wrong with the file."""
    x, sizes = parameter([2, 3]), parameter([1], np.int64, "sizes")
    path = save(tmp_path, [op.reshape(x, op.concat([sizes, op.constant(np.array([5]))], 0), False)], [x, sizes])
    assert {entry.severity for entry in try_model(path, client=client)} == {Severity.INFO}


def test_child_is_kept_where_nothing_died(client: RuntimeClient) -> None:
    try_model(one_layer("AvgPool", "opset1", POOL), client=client)
    before = client._child
    try_model(killers.amid("Transpose", "opset1", {}), client=client)
    assert client._child is before
