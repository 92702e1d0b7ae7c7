"""The child process: values in and out, taps, shapes, and everything that kills openvino."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset15 as op

import ir_tools
from ir_tools.errors import RuntimeFailure, UsageError
from ir_tools.format.read import read
from ir_tools.releases.table import find_release
from ir_tools.runtime import _process
from ir_tools.runtime.client import Inference, RuntimeClient, Tap, TensorInfo, _by_endpoint
from ir_tools.runtime.release import release_client
from ir_tools.types import Dim, element_type
from ir_tools.types.packing import unpack
from tests import stateful
from tests.conftest import corpus_cases, is_readable
from tests.runtime.made import POOL, iterated, one_layer, parameter, save
from tests.runtime.releases import small

X = {"x": np.arange(192, dtype=np.float32).reshape(1, 3, 8, 8)}
GOOD = one_layer("AvgPool", "opset1", POOL)
MEANS = X["x"].reshape(1, 3, 4, 2, 4, 2).mean((3, 5))


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> None:
    """None here: the workers start as those of users do."""


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient(timeout=30) as started:
        yield started


def failure(client: RuntimeClient, text: bytes, kinds: str, timeout: float = 10, **inputs: np.ndarray) -> str:
    """The message of the failure, which has to come before the client's own limit and leave the client usable."""
    start = time.monotonic()
    with pytest.raises(RuntimeFailure) as caught:
        client.infer(text, None, inputs or X, timeout=timeout)
    assert time.monotonic() - start < client.timeout
    assert caught.value.kind in kinds.split(" or ")
    assert "src/" not in str(caught.value)
    assert "\n" not in str(caught.value)
    np.testing.assert_allclose(client.infer(GOOD, None, X).outputs["layer"], MEANS)
    return str(caught.value)


# --- inference ---


def test_inference_says_what_ran(client: RuntimeClient) -> None:
    found = client.infer(GOOD, None, X)
    np.testing.assert_allclose(found.outputs["layer"], MEANS)
    assert found.version == ov.get_version()
    assert found.device == ov.Core().get_property("CPU", "FULL_DEVICE_NAME")
    assert found.precision == "f32"
    assert found.info[0].names == ("layer", "y")


def test_config_overrides_the_precision(client: RuntimeClient) -> None:
    """A processor without bf16 stays at f32."""
    found = client.infer(GOOD, None, X, config={"INFERENCE_PRECISION_HINT": "bf16"})
    able = "BF16" in ov.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    assert found.precision == ("bf16" if able else "f32")


@pytest.mark.parametrize("hint", ["f32", "bf16"])
def test_executed_layers_tell_their_precision(client: RuntimeClient, tmp_path: Path, hint: str) -> None:
    x = parameter([1, 8, 16, 16])
    product = op.convolution(x, op.constant(np.ones((8, 8, 3, 3), np.float32)), [1, 1], [1, 1], [1, 1], [1, 1])
    product.set_friendly_name("product")
    relu = op.relu(product)
    relu.set_friendly_name("relu")
    path = save(tmp_path, [relu], [x])
    values = {"x": np.ones((1, 8, 16, 16), np.float32)}
    found = client.infer(path, None, values, config={"INFERENCE_PRECISION_HINT": hint}, executed=True).executed
    (fused,) = (entry for entry in found if entry.kind == "Convolution")
    assert {"product", "relu"} <= set(fused.layers)
    assert fused.element_type in {hint, "f32"}
    assert client.infer(path, None, values).executed == ()


@pytest.mark.parametrize(
    ("device", "config", "message"),
    [
        ("NONE", {}, "no device 'NONE' here; it has .*CPU"),
        ("CPU", {"COLOUR": "blue"}, "device 'CPU' has no property 'COLOUR'"),
    ],
    ids=["device", "property"],
)
def test_what_the_runtime_does_not_have_is_told(
    client: RuntimeClient, device: str, config: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        client.infer(GOOD, None, X, device=device, config=config)


FLOATS = ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"]
WHOLE = ["i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "boolean"]


def passing(kind: str, shape: str = "2,3") -> bytes:
    """An input that is an output."""
    return (
        '<net name="passing" version="11"><layers><layer id="0" name="x" type="Parameter" version="opset1">'
        f'<data shape="{shape}" element_type="{kind}"/><output><port id="0" precision="FP32"/></output></layer>'
        '<layer id="1" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer></layers>'
        '<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'
    ).encode()


@pytest.mark.parametrize("kind", [*FLOATS, *WHOLE])
def test_values_pass_in_every_element_type(client: RuntimeClient, kind: str) -> None:
    values = np.array([[0, 1, 2], [3, 0, 1]]).astype(element_type(kind).dtype)
    text = passing(kind)
    found = client.infer(text, None, {"x": values}).outputs["x"]
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found.astype(np.float64), values.astype(np.float64))


@pytest.mark.parametrize(("kind", "size"), [("u4", 3), ("i4", 3), ("nf4", 3), ("f4e2m1", 3)])
def test_packed_values_pass_both_ways(client: RuntimeClient, kind: str, size: int) -> None:
    """As bytes, and as what the bytes are unpacked to."""
    values = np.arange(1, size + 1, dtype=np.uint8)
    unpacked = unpack(values, element_type(kind), 6).reshape(2, 3)
    for given in (values, unpacked):
        found = client.infer(passing(kind), None, {"x": given})
        assert found.outputs["x"].tolist() == unpacked.tolist()
    assert (found.info[0].element_type, found.info[0].shape) == (kind, (Dim.of(2), Dim.of(3)))
    with pytest.raises(UsageError, match="needs 3 bytes"):
        client.infer(passing(kind), None, {"x": np.arange(9, dtype=np.uint8)})
    with pytest.raises(UsageError, match="packed into bytes"):
        client.infer(passing(kind, "?,3"), None, {"x": values})


def test_strings_pass_both_ways(client: RuntimeClient, tmp_path: Path) -> None:
    x = parameter([-1], ov.Type.string)
    path = save(tmp_path, [x], [x])
    texts = np.array(["", "a b", "grüße\n", "日本"], dtype=object)
    found = client.infer(path, None, {"x": texts}).outputs["x"]
    assert found.tolist() == texts.tolist()


@pytest.mark.parametrize("name", ["x", "tensor_a", "tensor_b"])
def test_inputs_answer_to_all_their_names(client: RuntimeClient, tmp_path: Path, name: str) -> None:
    x = parameter([3])
    x.output(0).get_tensor().set_names({"tensor_a", "tensor_b"})
    path = save(tmp_path, [op.relu(x)], [x])
    found = client.infer(path, None, {name: np.array([-1, 0, 1], np.float32)})
    assert next(iter(found.outputs.values())).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "input 'x' has no value"),
        ({"z": X["x"]}, "no input 'z'; the model has 'x'"),
        ({"x": X["x"] + 1e-9}, None),
        ({"x": X["x"].astype(np.float64) + 1e-9}, "needs f32, not f64"),
        ({"x": np.array([["a"]], dtype=object)}, "needs f32, not string"),
    ],
    ids=["missing", "unknown", "right", "loses_digits", "text"],
)
def test_wrong_inputs_are_refused(client: RuntimeClient, inputs: dict[str, np.ndarray], message: str | None) -> None:
    if message is None:
        assert client.infer(GOOD, None, inputs).outputs
        return
    with pytest.raises(UsageError, match=message):
        client.infer(GOOD, None, inputs)


def test_model_is_reshaped_first(client: RuntimeClient) -> None:
    found = client.infer(GOOD, None, {"x": np.ones((2, 3, 4, 6), np.float32)}, shapes={"x": "2,3,?,6"})
    assert found.outputs["layer"].shape == (2, 3, 2, 3)


def test_large_answers_stay_as_they_are() -> None:
    """They are in memory that the child made; later answers, changes and the end of the child leave them alone."""
    text, size = passing("f32", "?"), (1 << 20) + 3
    first, second = np.arange(size, dtype=np.float32), np.full(size, 7, np.float32)
    files = len(os.listdir("/proc/self/fd"))
    with RuntimeClient(timeout=30) as own:
        found = own.infer(text, None, {"x": first}).outputs["x"]
        other = own.infer(text, None, {"x": second}).outputs["x"]
        other[0] = 5
        again = own.infer(text, None, {"x": second}).outputs["x"]
    np.testing.assert_array_equal(found, first)
    np.testing.assert_array_equal(again, second)
    assert other[:2].tolist() == [5, 7]
    del found, other, again
    assert len(os.listdir("/proc/self/fd")) == files


# --- taps ---


def diamond(folder: Path) -> Path:
    """X -> relu -> split in two -> add; the split halves are tapped."""
    x = parameter([1, 4])
    relu = op.relu(x)
    relu.set_friendly_name("relu")
    parts = op.split(relu, op.constant(np.array(1)), 2)
    parts.set_friendly_name("parts")
    total = op.add(parts.output(0), parts.output(1))
    total.set_friendly_name("total")
    return save(folder, [total], [x])


def test_taps_return_inner_tensors(client: RuntimeClient, tmp_path: Path) -> None:
    taps = [Tap("parts", 1), Tap("relu"), Tap("x"), Tap("relu"), Tap("total"), Tap("result_0")]
    found = client.infer(diamond(tmp_path), None, {"x": np.array([[-1, 2, 3, 4]], np.float32)}, taps=taps)
    assert {tap: array.tolist() for tap, array in found.taps.items()} == {
        Tap("parts", 1): [[3, 4]],
        Tap("relu"): [[0, 2, 3, 4]],
        Tap("x"): [[-1, 2, 3, 4]],
        Tap("total"): [[3, 6]],
        Tap("result_0"): [[3, 6]],
    }
    assert [array.tolist() for array in found.outputs.values()] == [[[3, 6]]]


def test_taps_of_a_reshaped_model_and_of_a_constant(client: RuntimeClient, tmp_path: Path) -> None:
    x = parameter([1, 2])
    bias = op.constant(np.array([[5, 6]], np.float32), name="bias")
    path = save(tmp_path, [op.relu(op.add(x, bias), name="relu")], [x])
    values = {"x": np.array([[1, 2], [3, -9]], np.float32)}
    found = client.infer(path, None, values, taps=[Tap("bias"), Tap("relu")], shapes={"x": "1..4,2"})
    assert found.taps[Tap("bias")].tolist() == [[5, 6]]
    assert found.taps[Tap("relu")].tolist() == [[6, 8], [8, 0]]
    assert found.info[0].shape == (Dim(1, 4), Dim.of(2))


@pytest.mark.parametrize(
    ("tap", "message"),
    [(Tap("nowhere"), "no layer 'nowhere'"), (Tap("parts", 2), "'parts' has no output 2")],
    ids=["unknown", "output"],
)
def test_wrong_taps_are_refused(client: RuntimeClient, tmp_path: Path, tap: Tap, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        client.infer(diamond(tmp_path), None, {"x": np.zeros((1, 4), np.float32)}, taps=[tap])


def test_tap_of_a_name_that_two_layers_have_is_refused(client: RuntimeClient, tmp_path: Path) -> None:
    path = diamond(tmp_path)
    path.write_text(path.read_text().replace('name="total"', 'name="relu"'))
    with pytest.raises(UsageError, match="2 layers are called 'relu'"):
        client.infer(path, None, {"x": np.zeros((1, 4), np.float32)}, taps=[Tap("relu")])


def old_half(folder: Path) -> Path:
    """An IR v10 in f16, which the runtime presents as f32."""
    x = parameter([1, 3], np.float16)
    path = save(folder, [op.abs(op.exp(x))], [x])
    path.write_text(path.read_text().replace('version="11"', 'version="10"', 1))
    return path


def test_taps_of_ir_v10_have_the_layers_own_types(client: RuntimeClient, tmp_path: Path) -> None:
    path = old_half(tmp_path)
    names = [layer.name for layer in read(path).graph.layers()]
    values = {"x": np.array([[-1.5, 0, 2]], np.float16)}
    plain = client.infer(path, None, values)
    tapped = client.infer(path, None, values, taps=[Tap(name) for name in names[:-1]])
    assert [array.dtype for array in tapped.taps.values()] == [np.float16] * len(names[:-1])
    np.testing.assert_array_equal(tapped.taps[Tap("x")], values["x"])
    for name, array in plain.outputs.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(tapped.outputs[name], array)


def test_ir_v10_is_described_as_the_runtime_presents_it(client: RuntimeClient, tmp_path: Path) -> None:
    path = old_half(tmp_path)
    found = client.describe(path)
    assert [item.element_type for item in (*found.inputs, *found.outputs)] == ["f32", "f32"]
    assert {kind for kind, _ in client.shapes(path, None).values()} == {"f16"}


# --- models in memory ---


def test_changed_model_runs_and_leaves_no_files(
    client: RuntimeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    x = parameter([1, 3])
    path = save(tmp_path, [op.relu(op.add(x, op.constant(np.full((1, 3), -1, np.float32))))], [x])
    model = read(path)
    values = {"x": np.array([[0, 1, 3]], np.float32)}
    (name,) = (end.name for end in model.outputs)
    assert client.infer_model(model, values).outputs[name].tolist() == [[0, 0, 2]]
    for layer in model.graph.layers():
        if layer.type == "ReLU":
            layer.tag["type"] = "Abs"
    assert client.infer_model(model, values).outputs[name].tolist() == [[1, 0, 2]]
    offset, size = model.weights.append(np.full((1, 3), 5, np.float32))
    for layer in model.graph.layers():
        if layer.type == "Const":
            layer.raw.update(offset=str(offset), size=str(size))
    assert client.infer_model(model, values).outputs[name].tolist() == [[5, 6, 8]]
    assert os.listdir(tmp_path / "temporary") == []


@pytest.mark.parametrize(
    ("layers", "names"),
    [(("y", "z"), ["sum", "twice"]), (("z", "y"), ["twice", "sum"]), (("y", "elsewhere"), ["sum", "twice"])],
    ids=["in_order", "swapped", "other_names"],
)
def test_outputs_go_by_their_results_or_else_by_their_order(layers: tuple[str, str], names: list[str]) -> None:
    info = tuple(TensorInfo((f"runtime's {layer}",), layer, "f32", (Dim.of(1),)) for layer in layers)
    found = Inference({layer: np.array(number) for number, layer in enumerate(layers)}, {}, info, "", "", "f32")
    assert _by_endpoint(read(small(11)), found).outputs == dict(zip(names, (0, 1), strict=True))


def test_outputs_of_results_of_one_name_go_by_their_order() -> None:
    text = small(11).replace(b'name="z"', b'name="y"')
    assert text.count(b'name="y" type="Result"') == 2
    info = tuple(TensorInfo((f"{number}",), "y", "f32", (Dim.of(1),)) for number in range(2))
    found = Inference({str(number): np.array(number) for number in range(2)}, {}, info, "", "", "f32")
    assert _by_endpoint(read(text), found).outputs == {"sum": 0, "twice": 1}


def test_model_from_bytes_runs(client: RuntimeClient, tmp_path: Path) -> None:
    x = parameter([1, 3])
    path = save(tmp_path, [op.add(x, op.constant(np.full((1, 3), 2, np.float32)))], [x])
    model = read(path.read_bytes(), path.with_suffix(".bin").read_bytes())
    assert next(iter(client.infer_model(model, {"x": np.ones((1, 3), np.float32)}).outputs.values())).tolist() == [
        [3, 3, 3]
    ]


# --- shapes ---


def test_shapes_reach_into_bodies(client: RuntimeClient, tmp_path: Path) -> None:
    x = parameter([2, 3, 4])
    path = iterated(tmp_path, op.constant(np.int64(5)), x)
    found = client.shapes(path, None)
    assert found["loop", 0] == ("f32", "2,3,4")
    assert found["loop", 1] == ("f32", "10,3,4")
    assert found["loop/body/added", 0] == ("f32", "2,3,4")
    assert found["loop/body/number", 0] == ("i64", "[]")
    assert client.shapes(path, None, {"x": "1..3,3,4"})["loop", 1] == ("f32", "?,3,4")


def test_shapes_tell_layers_of_the_same_name_apart(client: RuntimeClient, tmp_path: Path) -> None:
    path = diamond(tmp_path)
    path.write_text(path.read_text().replace('name="total"', 'name="relu"'))
    ids = [layer.id for layer in read(path).graph.layers() if layer.name == "relu"]
    found = client.shapes(path, None)
    assert [found[f"relu#{layer_id}", 0][1] for layer_id in ids] == ["1,4", "1,2"]


@pytest.mark.parametrize("path", corpus_cases(fits=is_readable))
def test_shapes_of_every_layer_are_there(client: RuntimeClient, path: Path) -> None:
    found = client.shapes(path, None)
    places = [place for place, layer, _ in read(path).walk() if layer.type != "Result"]
    assert [place for place in places if (place, 0) not in found] == []


def test_states_to_start_from_are_those_of_the_innermost_block(client: RuntimeClient) -> None:
    model, data = ir_tools.read(stateful.accumulator()), {"x": np.array([[1, 2]], np.float32)}
    stored = [{"sum": np.full((1, 2), number, np.float32)} for number in (10, 20)]
    with client.starting_from(stored[0]):
        with client.starting_from(stored[1]):
            assert client.infer_model(model, data).outputs["y"].tolist() == [[42, 44]]
        assert client.infer_model(model, data).outputs["y"].tolist() == [[22, 24]]
    assert client.infer_model(model, data).outputs["y"].tolist() == [[8, 10]]


# --- what kills openvino ---


def test_segmentation_fault_is_survived(client: RuntimeClient) -> None:
    text = one_layer("AvgPool", "opset16", POOL)
    assert failure(client, text, "crashed") == "the runtime crashed (SIGSEGV) while compiling the model"


def endless(folder: Path) -> Path:
    """A Loop of 2^40 rounds."""
    x = parameter([1, 3, 4])
    body_input = parameter([1, 3, 4], name="inner")
    loop = op.loop(op.constant(np.int64(2**40)), op.constant(np.array(True)))
    added = op.add(body_input, op.constant(np.float32(1)))
    loop.set_function(ov.Model([op.result(op.constant(np.array(True))), op.result(added)], [body_input], "body"))
    loop.set_special_body_ports([-1, 0])
    loop.set_merged_input(body_input, x.output(0), added.output(0))
    return save(folder, [loop.get_iter_value(added.output(0), -1)], [x])


def test_endless_loop_is_stopped(client: RuntimeClient, tmp_path: Path) -> None:
    path = endless(tmp_path)
    start = time.monotonic()
    with pytest.raises(RuntimeFailure, match=r"took more than 1.5 s while running the model") as caught:
        client.infer(path, None, {"x": np.zeros((1, 3, 4), np.float32)}, timeout=1.5)
    assert caught.value.kind == "timeout"
    assert time.monotonic() - start < client.timeout


def test_part_size_of_zero_is_survived(client: RuntimeClient, tmp_path: Path) -> None:
    x, inner = parameter([1, 6, 4]), parameter([1, 1, 4], name="inner")
    iterator = op.tensor_iterator()
    body = op.relu(inner)
    iterator.set_body(ov.Model([op.result(body)], [inner], "body"))
    iterator.set_sliced_input(inner, x.output(0), 0, 1, 1, -1, 1)
    path = save(tmp_path, [iterator.get_concatenated_slices(body.output(0), 0, 1, 1, -1, 1)], [x])
    text = re.sub(r'part_size="1"', 'part_size="0"', path.read_text(), count=1).encode()
    message = failure(client, text, "crashed", x=np.zeros((1, 6, 4), np.float32))
    assert message == "the runtime crashed (SIGFPE) while reading the model"


def test_pads_of_a_thousand_million_are_survived(client: RuntimeClient) -> None:
    text = one_layer("AvgPool", "opset1", {**POOL, "pads_begin": "1000000000,1000000000"})
    failure(client, text, "rejected or memory")


def test_memory_limit_holds() -> None:
    text = one_layer("AvgPool", "opset1", {**POOL, "pads_begin": "20000,20000"})
    with RuntimeClient(timeout=30, memory=1 << 30) as small:
        message = failure(small, text, "memory")
    assert "while compiling the model (its limit is 1 GiB)" in message or "while running the model" in message


@pytest.mark.parametrize(("kills", "kind"), [((1, 1), "crashed"), ((1, 2), "memory")])
def test_a_child_that_is_killed(monkeypatch: pytest.MonkeyPatch, kills: tuple[int, int], kind: str) -> None:
    """Memory ran out only if the system says that it killed something."""
    counts = iter(kills)
    monkeypatch.setattr(_process, "_out_of_memory_kills", lambda: next(counts))
    with RuntimeClient() as client:
        client.describe(GOOD)
        assert client._child is not None
        os.kill(client._child._process.pid, signal.SIGSTOP)
        threading.Timer(0.2, os.kill, (client._child._process.pid, signal.SIGKILL)).start()
        with pytest.raises(RuntimeFailure) as caught:
            client.describe(GOOD)
    assert caught.value.kind == kind


@pytest.mark.parametrize("breaks", [True, False])
def test_a_child_is_started_again_only_after_what_breaks_it(monkeypatch: pytest.MonkeyPatch, breaks: bool) -> None:
    monkeypatch.setattr(_process, "breaks_child", lambda text: breaks)
    with RuntimeClient() as client:
        with pytest.raises(RuntimeFailure, match="Kernel"):
            client.describe(GOOD.replace(b'kernel="2,2"', b'kernel="99,99"'))
        assert (client._child is None) is breaks
        assert client.describe(GOOD).outputs


def test_a_program_that_is_no_python(tmp_path: Path) -> None:
    program = tmp_path / "python"
    answer = "import os, sys, time; os.write(int(sys.argv[5]), bytes([3, *[0] * 12, *b'[1]'])); time.sleep(9)"
    program.write_text(f"#!{sys.executable}\n{answer}\n")
    program.chmod(0o755)
    with release_client(find_release("openvino-2022.3"), program) as client, pytest.raises(RuntimeFailure) as caught:
        client.describe(GOOD)
    told = f"OpenVINO 2022.3 crashed ({program} does not return valid answers)"
    assert str(caught.value) == f"{told}; name another Python with --runtime-python"


def test_rejection_names_the_layer(client: RuntimeClient) -> None:
    text = one_layer("AvgPool", "opset1", {**POOL, "kernel": "9,9"})
    message = failure(client, text, "rejected")
    assert message.startswith("the runtime rejects it: AvgPool that reads 'x': Kernel after dilation has size")


def test_missing_openvino_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "openvino.py").write_text("raise ImportError('no such thing')")
    monkeypatch.syspath_prepend(tmp_path)
    with RuntimeClient() as client, pytest.raises(RuntimeFailure, match="pip install") as caught:
        client.infer(GOOD, None, X)
    assert caught.value.kind == "missing"


def test_printing_does_not_disturb_the_frames(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    noise = "import os\nos.write(1, b'noise')\nprint('more noise', flush=True)\nos.read(0, 1)\n"
    (tmp_path / "sitecustomize.py").write_text(noise)
    (tmp_path / "openvino.py").write_text(
        f"import sys\nsys.path.remove({str(tmp_path)!r})\ndel sys.modules['openvino']\n{noise}import openvino\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with RuntimeClient() as client:
        np.testing.assert_allclose(client.infer(GOOD, None, X).outputs["layer"], MEANS)


# --- processes ---


def workers() -> set[int]:
    """Children of this process that are still there, dead or alive."""
    listing = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=True
    )
    return {int(line.split()[0]) for line in listing.stdout.splitlines() if "worker" in line or "defunct" in line}


def test_close_leaves_no_process() -> None:
    before = workers()
    with RuntimeClient() as client:
        client.infer(GOOD, None, X)
        assert len(workers() - before) == 1
    assert workers() == before
    client.infer(GOOD, None, X)
    client.close()
    assert workers() == before


def test_forgotten_client_leaves_no_process() -> None:
    before = workers()
    RuntimeClient().infer(GOOD, None, X)
    assert workers() == before


SCRIPT = """
import signal, sys, time
import numpy as np
from ir_tools.runtime.client import RuntimeClient
signal.signal(signal.SIGINT, signal.default_int_handler)
client = RuntimeClient()
client.infer(open(sys.argv[1], "rb").read(), None, {"x": np.zeros((1, 3, 8, 8), np.float32)})
print(client._child._process.pid, flush=True)
"""
"""Programs that a shell starts in the background ignore interrupts, unless they say otherwise."""


def run_script(folder: Path, more: str) -> subprocess.Popen[str]:
    (folder / "good.xml").write_bytes(GOOD)
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT + more, str(folder / "good.xml")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def gone(pid: int) -> bool:
    for _ in range(1200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_end_of_the_program_ends_the_child(tmp_path: Path) -> None:
    script = run_script(tmp_path, "")
    out, err = script.communicate(timeout=60)
    assert (script.returncode, err) == (0, "")
    assert gone(int(out))


def test_killed_program_leaves_no_child(tmp_path: Path) -> None:
    with run_script(tmp_path, "time.sleep(60)") as script:
        assert script.stdout is not None
        child = int(script.stdout.readline())
        script.kill()
    assert gone(child)


def test_killed_program_leaves_no_busy_child(tmp_path: Path) -> None:
    path = endless(tmp_path)
    more = f'client.infer({str(path)!r}, None, {{"x": np.zeros((1, 3, 4), np.float32)}})'
    with run_script(tmp_path, more) as script:
        assert script.stdout is not None
        child = int(script.stdout.readline())
        time.sleep(0.5)
        script.kill()
    assert gone(child)


def test_interrupt_leaves_no_child_and_none_of_its_words(tmp_path: Path) -> None:
    with run_script(tmp_path, "time.sleep(60)") as script:
        assert script.stdout is not None
        child = int(script.stdout.readline())
        os.killpg(script.pid, signal.SIGINT)
        _, err = script.communicate(timeout=60)
    assert err.count("Traceback") == 1
    assert "worker" not in err
    assert gone(child)


def forked(client: RuntimeClient, queue: "multiprocessing.Queue[float]") -> None:
    queue.put(float(client.infer(GOOD, None, X).outputs["layer"].sum()))


def test_forked_process_gets_a_child_of_its_own() -> None:
    context = multiprocessing.get_context("fork")
    with RuntimeClient() as client:
        client.infer(GOOD, None, X)
        queue = context.Queue()
        process = context.Process(target=forked, args=(client, queue))
        process.start()
        assert queue.get(timeout=60) == pytest.approx(MEANS.sum())
        process.join(60)
        assert client.infer(GOOD, None, X).outputs["layer"].sum() == pytest.approx(MEANS.sum())


def test_threads_share_a_client(client: RuntimeClient) -> None:
    sums: list[float] = []

    def ask(factor: int) -> Callable[[], None]:
        values = {"x": X["x"] * factor}
        return lambda: sums.append(float(client.infer(GOOD, None, values).outputs["layer"].sum()) / factor)

    threads = [threading.Thread(target=ask(factor)) for factor in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == pytest.approx([float(MEANS.sum())] * 5)
