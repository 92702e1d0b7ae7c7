"""Releases of OpenVINO in child processes: what they return, and what their failures become."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ir_tools import Builder, RuntimeFailure, UsageError
from ir_tools.known_differences._model import Fixed, as_model
from ir_tools.known_differences.releases import _quantization
from ir_tools.processors import Processor
from ir_tools.releases.table import find_release
from ir_tools.runtime import _foreign, legacy_worker, release_worker
from ir_tools.runtime.client import Tap, sources
from ir_tools.runtime.environments import found_python
from ir_tools.runtime.release import ReleaseClient, release_client
from ir_tools.types import element_type, format_shape
from tests.runtime.made import POOL, one_layer
from tests.runtime.releases import MEASURED, client_of, small

X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
N = np.array([1000, -3])
SUM = [[2, -2, 6], [-4, 10, -6]]


@pytest.fixture(scope="module", params=MEASURED)
def client(request: pytest.FixtureRequest) -> Iterator[ReleaseClient]:
    with client_of(request.param) as client:
        yield client


@pytest.mark.parametrize("module", [_foreign, legacy_worker, release_worker], ids=lambda module: module.__name__)
def test_child_is_python_3_6(module: object) -> None:
    ast.parse(Path(str(getattr(module, "__file__", ""))).read_text(), feature_version=(3, 6))


def test_outputs_and_taps(client: ReleaseClient) -> None:
    client.check(small())
    taps = [Tap("relu"), Tap("twice"), Tap("y")]
    found = client.infer(small(), b"", {"x": X, "n": N}, taps=taps)
    assert client.release.name.removeprefix("openvino-") in found.version
    assert [array.tolist() for array in found.outputs.values()] == [SUM, [2000, -6]]
    assert [(item.layer, item.element_type) for item in found.info] == [("y", "f32"), ("z", "i32")]
    assert found.taps[Tap("relu")].tolist() == [[1, 0, 3], [0, 5, 0]]
    assert found.taps[Tap("y")].tolist() == SUM
    assert found.taps[Tap("twice")].dtype == ("int32" if client.release.number < (2022,) else "int64")
    assert found.taps[Tap("twice")].tolist() == [2000, -6]


def test_a_release_compiles_others_after_a_model_that_breaks_it() -> None:
    row = next(row for row in _quantization.ROWS if row.name == "quantized convolutions")
    if not row.processor.is_here:
        pytest.skip("2023.0 compiles the model on this processor")
    plain = replace(row.model, inputs=(np.ones((1, 3, 4, 4), np.float32), Fixed(np.ones((2, 3, 1, 1), np.float32))))
    (broken, fed), (other, ones) = map(as_model, (row.model, plain))
    with client_of("2023.0") as client, sources(broken) as first, sources(other) as second:
        with pytest.raises(RuntimeFailure, match="could not create a primitive"):
            client.infer(*first, fed)
        (found,) = client.infer(*second, ones).outputs.values()
    assert found.tolist() == np.full((1, 2, 4, 4), 3).tolist()


def test_inputs_and_outputs_are_described(client: ReleaseClient) -> None:
    found = client.describe(small())
    assert [(item.layer, format_shape(item.shape)) for item in found.inputs] == [("x", "2,3"), ("n", "2")]
    assert [(item.layer, "twice" in item.names) for item in found.outputs] == [("y", False), ("z", True)]
    assert format_shape(client.describe(small(), set_inputs={"x": "4,3"}).outputs[0].shape) == "4,3"
    assert client.shapes(small(), b"")["twice", 0] == ("i64", "2")


def test_an_output_of_a_layer_with_several_is_called_by_its_number(client: ReleaseClient) -> None:
    builder = Builder(name="parts", opset=1)
    for number, part in enumerate(builder.outputs("Split", builder.parameter("x", "2"), 0, name="s", num_splits=2)):
        builder.result(part, f"part{number}")
    builder.model.version = 10 if client.release.number < (2022, 1) else 11
    with sources(builder.model) as (text, weights):
        found = client.describe(text, weights)
    assert [f"s.{number}" in item.names for number, item in enumerate(found.outputs)] == [True, True]


def test_nothing_is_written_beside_the_model(client: ReleaseClient, tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_bytes(small())
    client.check(path)
    client.describe(path)
    client.shapes(path, b"")
    client.infer(path, b"", {"x": X, "n": N}, taps=[Tap("relu")])
    assert [*tmp_path.iterdir()] == [path]


def test_ir_v11_is_read_from_2022_on(client: ReleaseClient) -> None:
    if client.release.number < (2022,):
        with pytest.raises(RuntimeFailure, match="rejects it: ") as caught:
            client.check(small(11))
        assert (caught.value.kind, caught.value.stage) == ("rejected", "reading the model")
        return
    found = client.infer(small(11), b"", {"x": X, "n": N})
    assert [item.element_type for item in found.info] == ["f32", "i64"]


def test_layer_that_is_rejected_and_the_next_file_runs(client: ReleaseClient) -> None:
    with pytest.raises(RuntimeFailure, match=rf"^{client.release.title} rejects it: .*Nonsense") as caught:
        client.check(small(layer='type="Nonsense" version="opset1"'))
    assert caught.value.kind == "rejected"
    assert client.attempt(small(), b"").unfit == ""


@pytest.mark.parametrize(
    ("inputs", "taps", "message"),
    [
        ({"x": X}, [], "input 'n' has no value"),
        ({"x": X, "n": N, "o": N}, [], "there is no input 'o'; the model has "),
        ({"x": X.astype(np.float64) / 3, "n": N}, [], "input 'x' takes f32, not f64: values change"),
        ({"x": X, "n": N}, ["absent"], "it has no layer 'absent'"),
    ],
    ids=["missing", "unknown", "cast", "tap"],
)
def test_arguments_that_do_not_fit(
    client: ReleaseClient, inputs: dict[str, np.ndarray], taps: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        client.infer(small(), b"", inputs, taps=[Tap(name) for name in taps])


def test_small_models_stay_compiled(client: ReleaseClient) -> None:
    def ask(layer: str, x: np.ndarray) -> list[list[float]]:
        model = small(layer=f'type="{layer}" version="opset1"')
        found = client.infer(model, b"", {"x": x, "n": N}, taps=[Tap("relu")], keep=True)
        rows: list[list[float]] = found.taps[Tap("relu")].tolist()
        return rows

    assert [ask("ReLU", X), ask("ReLU", -X)] == [[[1, 0, 3], [0, 5, 0]], [[0, 2, 0], [4, 0, 6]]]
    assert [ask("Abs", -X), ask("ReLU", X)] == [np.abs(X).tolist(), [[1, 0, 3], [0, 5, 0]]]


def test_equal_requests_are_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_worker, "KEPT", {})
    monkeypatch.setattr(release_worker, "MAX_KEPT", 2)
    asked: list[str | None] = []

    def prepare(request: _foreign.Request) -> str:
        asked.append(request.header.get("kept"))
        return f"model {asked[-1]}"

    keys = ("a", "a", "b", "a", "c", "a", "b", None, None)
    requests = [_foreign.Request({"kept": key} if key else {}, []) for key in keys]
    assert [release_worker.kept(request, prepare) for request in requests] == [f"model {key}" for key in keys]
    assert asked == ["a", "b", "c", "b", None, None]


def test_inputs_of_bf16(client: ReleaseClient) -> None:
    if client.release.number < (2023, 0) and Processor.NO_AVX512.is_here:
        pytest.skip("these releases compile no sum of bf16 without AVX-512")
    model = small().replace(b"FP32", b"BF16").replace(b'"f32"', b'"bf16"')
    presented = {item.layer: item.element_type for item in client.describe(model).inputs}["x"]
    found = client.infer(model, b"", {"x": X.astype(element_type(presented).dtype), "n": N})
    assert next(iter(found.outputs.values())).astype(np.float32).tolist() == SUM


def test_time_limit_is_an_outcome_and_the_next_file_runs(client: ReleaseClient) -> None:
    with pytest.raises(RuntimeFailure, match=rf"^{client.release.title} took more than 0 s") as caught:
        client.infer(small(), b"", {"x": X, "n": N}, timeout=0.0)
    assert caught.value.kind == "timeout"
    client.check(small())


def test_crash_is_an_outcome_and_the_next_file_runs() -> None:
    """AvgPool-16 without dilations crashes the process in 2025.4."""
    pool = one_layer("AvgPool", "opset16", POOL, "1,1,4,4")
    with client_of("2025.4") as client:
        with pytest.raises(
            RuntimeFailure, match=r"^OpenVINO 2025\.4 crashed \(SIGSEGV\) while \w+ing the model"
        ) as caught:
            client.check(pool)
        assert caught.value.kind == "crashed"
        client.check(small())


def test_python_with_another_release() -> None:
    with (
        release_client(find_release("openvino-2021.4"), Path(sys.executable)) as client,
        pytest.raises(RuntimeFailure, match=r"OpenVINO 2021\.4 cannot be loaded in .*: it has 20\d\d\.") as caught,
    ):
        client.check(small())
    assert caught.value.kind == "missing"


def test_installed_openvino_is_its_release() -> None:
    assert found_python(find_release("openvino-2026.4")) == Path(sys.executable)


@pytest.mark.parametrize(
    ("low", "high", "wanted", "size"), [(1, 100, 16, 16), (1, 4, 16, 4), (20, -1, 16, 20), (0, -1, 16, 16)]
)
def test_a_made_up_size_is_the_wanted_one_if_the_dimension_allows_it(
    low: int, high: int, wanted: int, size: int
) -> None:
    dim = SimpleNamespace(get_min_length=lambda: low, get_max_length=lambda: high)
    assert release_worker.within(dim, wanted) == size


def test_outputs_have_their_numbers_whatever_the_order_of_layers_in_the_file(tmp_path: Path) -> None:
    """2021 numbers the outputs of a layer with several; a migrated file may have the Result before that layer."""
    (tmp_path / "model.xml").write_text(
        '<net version="10"><layers><layer id="1" name="y" type="Result"/><layer id="0" name="split" type="Split">'
        '<output><port id="2" names="a"/><port id="3" names="b"/></output></layer></layers>'
        '<edges><edge from-layer="0" from-port="3" to-layer="1" to-port="0"/></edges></net>'
    )
    assert release_worker.Layers(str(tmp_path / "model.xml")).outputs == [("y", "split.1", ["b"])]
