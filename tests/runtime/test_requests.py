"""What clients send: every argument of every request arrives, and every part of an answer is handed on."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import openvino as ov
import pytest

import ir_tools
from ir_tools.releases.table import find_release
from ir_tools.runtime._process import WorkerProcess
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.frames import Blob
from ir_tools.runtime.legacy import LegacyClient
from ir_tools.runtime.release import ReleaseClient
from tests.stateful import accumulator, growing

ONE = np.ones(1, np.float32)
GIVEN: Mapping[str, object] = {
    "model_xml": b"<net/>",
    "weights": b"1234",
    "inputs": {"x": ONE},
    "layer": "pool",
}
"""Arguments that have no default."""
OTHER: Mapping[str, object] = {
    "model_xml": b"<net />",
    "weights": b"4321",
    "inputs": {"x": ONE + 1},
    "layer": "other",
    "taps": [("pool", 1)],
    "wide": True,
    "device": "GPU",
    "config": {"INFERENCE_PRECISION_HINT": "bf16"},
    "shapes": {"x": "1,2"},
    "set_inputs": {"x": "1,2"},
    "states": {"sum": np.full((1, 2), 5, np.float32)},
    "times": 2,
    "executed": True,
    "keep": True,
    "timeout": 7.5,
    "zeros": 16,
    "until": "reading the model",
    "seconds": 4.5,
    "fills": (3,),
    "outputs": ["pool.1"],
}
"""Another value for each argument."""
REQUESTS: Mapping[type[WorkerProcess], Sequence[str]] = {
    RuntimeClient: ("infer", "infer_model", "shapes", "describe", "ask", "attempt"),
    ReleaseClient: ("infer", "infer_model", "shapes", "describe", "attempt", "check"),
    LegacyClient: ("infer", "describe"),
}


class Sent(Exception):
    """What a client sends, in place of sending it."""


@pytest.fixture(autouse=True)
def nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def send(self: WorkerProcess, header: Mapping[str, Any], blobs: Sequence[Blob], timeout: float) -> NoReturn:
        data = [(blob.type, blob.shape, bytes(blob.data)) for blob in blobs]
        read = {name: Path(header[name]).read_bytes() for name in ("model", "weights") if _is_file(header[name])}
        raise Sent({**header, **read, "folder": None}, data, timeout)

    monkeypatch.setattr(WorkerProcess, "_exchange", send)


def _is_file(source: object) -> bool:
    return isinstance(source, str) and Path(source).is_file()


def client_of(kind: type[WorkerProcess]) -> Any:
    if kind is ReleaseClient:
        return ReleaseClient(find_release("openvino-2023.0"), Path("python"), timeout=5)
    return LegacyClient(Path("python"), timeout=5) if kind is LegacyClient else RuntimeClient(timeout=5)


def sent(call: Callable[..., object], **others: object) -> tuple[Any, ...]:
    """Header, blobs and seconds of a request with the arguments that it needs, and others."""
    needed = {name: value for name, value in GIVEN.items() if name in inspect.signature(call).parameters}
    with pytest.raises(Sent) as found:
        call(**{**needed, **others})
    return found.value.args


def arguments() -> Iterator[object]:
    for kind, methods in REQUESTS.items():
        for method in methods:
            for name in list(inspect.signature(getattr(kind, method)).parameters)[1:]:
                yield pytest.param(kind, method, name, id=f"{kind.__name__}-{method}-{name}")


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Sequence[ir_tools.Model]:
    """Two models with a variable."""
    paths = [tmp_path_factory.mktemp("sums") / name for name in ("sum.xml", "all.xml")]
    for path, model in zip(paths, (accumulator(), growing()), strict=True):
        ov.save_model(model, path, compress_to_fp16=False)
    return [*map(ir_tools.read, paths)]


@pytest.mark.parametrize(("kind", "method", "name"), [*arguments()])
def test_every_argument_arrives(
    kind: type[WorkerProcess], method: str, name: str, sums: Sequence[ir_tools.Model]
) -> None:
    call = getattr(client_of(kind), method)
    model = {"model": sums[0]} if method == "infer_model" else {}
    before, after = sent(call, **model), sent(call, **{**model, name: {**OTHER, "model": sums[1]}[name]})
    assert before != after
    times = 3 if method == "check" else 1
    limits = {"timeout": (5 * times, 7.5 * times), "seconds": (90.0, 13.5)}
    assert (before[-1], after[-1]) == limits.get(name, (before[-1], before[-1]))


def test_the_configuration_of_a_request_comes_before_that_of_the_client() -> None:
    plain, _, _ = sent(RuntimeClient().infer)
    other, _, _ = sent(RuntimeClient().infer, config={"NUM_STREAMS": "1"})
    assert other["config"] == {**plain["config"], "NUM_STREAMS": "1"}
    for key in plain["config"]:
        changed, _, _ = sent(RuntimeClient().infer, config={key: "bf16"})
        assert changed["config"] == {**plain["config"], key: "bf16"}


def test_variables_start_from_what_the_innermost_context_says(sums: Sequence[ir_tools.Model]) -> None:
    client, values = RuntimeClient(), [np.full((1, 2), number, np.float32) for number in range(3)]

    def starts() -> float | None:
        _, blobs, _ = sent(client.infer_model, model=sums[0], inputs={})
        arrays = [np.frombuffer(data, np.float32) for kind, _, data in blobs if kind == "f32"]
        return float(arrays[0][0]) if arrays else None

    assert starts() is None
    with client.starting_from({"sum": values[1]}):
        assert starts() == 1
        with client.starting_from({"sum": values[2]}):
            assert starts() == 2
        assert starts() == 1
    assert starts() is None


def test_what_is_wanted_twice_is_asked_for_once() -> None:
    taps, outputs = [("a", 0), ("b", 1), ("a", 0)], ["b", "a", "b"]
    assert sent(RuntimeClient().infer, taps=taps)[0]["taps"] == (("a", 0), ("b", 1))
    assert sent(client_of(LegacyClient).infer, outputs=outputs)[0]["outputs"] == ["b", "a"]
