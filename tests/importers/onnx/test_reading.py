"""ONNX files through `ir_tools.onnx.read`: names, subgraphs, targets, and one clear line for what is wrong."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

import ir_tools
import ir_tools.onnx as from_onnx
from ir_tools.errors import MigrationError, ReadError, WriteError
from ir_tools.importers.onnx import reading
from ir_tools.importers.onnx.about import About, about
from ir_tools.onnx import average_pool_extension
from tests.importers.onnx.models import Row, compiled, differs, model_of, onnx, translated
from tests.importers.onnx.oracle import average_pool

DEVIATING: dict[str, Any] = {
    "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1, "count_include_pad": 1,
}  # fmt: skip
"""Where OpenVINO's own importer divides by too much."""
DATA = np.random.default_rng(3).standard_normal((1, 2, 6, 6)).astype(np.float32)


def info(name: str, shape: Sequence[int | str] | None, kind: str = "FLOAT") -> Any:
    return onnx.helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), shape)


def saved(folder: Path, nodes: Sequence[Any], inputs: Sequence[Any], initializers: Sequence[Any] = ()) -> Path:
    helper = onnx.helper
    graph = helper.make_graph(list(nodes), "graph", list(inputs), [info("y", None)], list(initializers))
    path = folder / "model.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def pool(source: str = "x", target: str = "y", /, **attributes: Any) -> Any:
    return onnx.helper.make_node("AveragePool", [source], [target], name="my_pool", **attributes)


def one_node(folder: Path, opset: int, **attributes: Any) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model_of([Row(attributes, [1, 2, 6, 6])], opset).SerializeToString())
    return path


# --- what comes out -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["opset1", "opset8", "opset14", "opset16"])
@pytest.mark.parametrize("dilations", [[1, 1], [2, 2]], ids=["plain", "dilated"])
def test_every_target_means_the_same(tmp_path: Path, target: str, dilations: list[int]) -> None:
    attributes = {**DEVIATING, "dilations": dilations}
    model = from_onnx.read(one_node(tmp_path, 19, **attributes), to=target)
    opset = int(target.removeprefix("opset"))
    stamps = {layer.version for layer in model.graph.layers() if layer.type == "AvgPool"}
    assert all(int(stamp.removeprefix("opset")) <= opset for stamp in stamps)
    got = compiled(ir_tools.to_openvino(model))({"x0": DATA})["y0"]
    assert not differs(average_pool(attributes, DATA), got, 1e-4)


def test_output_and_tensor_names_are_kept(tmp_path: Path) -> None:
    relu = onnx.helper.make_node("Relu", ["pooled"], ["y"], name="relu")
    path = saved(tmp_path, [pool("x", "pooled", **DEVIATING), relu], [info("x", [1, 2, 6, 6])])
    model = ir_tools.to_openvino(from_onnx.read(path))
    assert [port.any_name for port in (*model.inputs, *model.outputs)] == ["x", "y"]
    model.add_outputs("pooled")
    outputs = compiled(model)({"x": DATA})
    assert not differs(average_pool(DEVIATING, DATA), outputs["pooled"], 1e-4)
    np.testing.assert_array_equal(outputs["y"], np.maximum(outputs["pooled"], 0))


def test_through_convert_model(tmp_path: Path) -> None:
    path = one_node(tmp_path, 19, **DEVIATING)
    model = ov.convert_model(path, extension=[average_pool_extension("opset8")])
    assert not differs(average_pool(DEVIATING, DATA), compiled(model)({"x0": DATA})["y0"], 1e-4)


def test_the_report_says_what_became_of_each_node() -> None:
    _, reported = translated(model_of([Row({"kernel_shape": [2]}, [1, 1, "n"]), Row(DEVIATING, [1, 2, 6, 6])], 19))
    found = {node.name: node for node in reported}
    assert found["x0"].layers == "AvgPool"
    assert found["x1"].layers == "Pad + AvgPool"
    assert "equal windows" in found["x1"].proof


def test_both_branches_of_an_if(tmp_path: Path) -> None:
    helper, dilated = onnx.helper, {**DEVIATING, "dilations": [2, 2]}
    branches = {
        name: helper.make_graph([pool("x", name, **attributes)], name, [], [info(name, None)])
        for name, attributes in (("then_branch", DEVIATING), ("else_branch", dilated))
    }
    node = helper.make_node("If", ["condition"], ["y"], name="choice", **branches)
    path = saved(tmp_path, [node], [info("condition", [], "BOOL"), info("x", [1, 2, 6, 6])])
    infer = compiled(ir_tools.to_openvino(from_onnx.read(path)))
    for chosen, attributes in ((True, DEVIATING), (False, dilated)):
        got = infer({"condition": np.array(chosen), "x": DATA})["y"]
        assert not differs(average_pool(attributes, DATA), got, 1e-4)


def test_global_average_pool_stays_as_the_frontend_makes_it(tmp_path: Path) -> None:
    node = onnx.helper.make_node("GlobalAveragePool", ["x"], ["y"], name="global")
    path = saved(tmp_path, [node], [info("x", [1, 2, 6, 6])])
    model = ir_tools.to_openvino(from_onnx.read(path))
    own = ov.Core().read_model(path)
    assert [op.get_type_name() for op in model.get_ordered_ops()] == [
        op.get_type_name() for op in own.get_ordered_ops()
    ]


def test_a_temporary_folder_that_cannot_be_written_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, [pool(kernel_shape=[2, 2])], [info("x", [1, 2, 6, 6])])
    monkeypatch.setattr(reading, "temporary_folder", lambda: nullcontext(path))
    with pytest.raises(WriteError, match=r"model\.onnx: .*model\.xml cannot be written: .*; set TMPDIR"):
        from_onnx.read(path)


@pytest.mark.parametrize("attributes", [{**DEVIATING, "dilations": [2, 2]}, DEVIATING], ids=["dilated", "ceil"])
def test_an_unknown_rank_is_refused_where_one_layer_is_not_enough(tmp_path: Path, attributes: dict[str, Any]) -> None:
    path = saved(tmp_path, [pool(**attributes)], [info("x", None)])
    with pytest.raises(MigrationError, match=r"'my_pool'.*input's rank is not known"):
        from_onnx.read(path)


def test_an_unknown_rank_where_one_layer_is_enough(tmp_path: Path) -> None:
    path = saved(tmp_path, [pool(kernel_shape=[2, 2])], [info("x", None)])
    model = ir_tools.to_openvino(from_onnx.read(path))
    model.reshape(ov.PartialShape([1, 2, 6, 6]))
    assert not differs(average_pool({"kernel_shape": [2, 2]}, DATA), compiled(model)({"x": DATA})["y"], 1e-4)


def test_a_disputed_setting_is_a_warning(tmp_path: Path) -> None:
    path = one_node(tmp_path, 19, kernel_shape=[2, 2], strides=[2, 2], auto_pad="VALID", ceil_mode=1)
    (found,) = from_onnx.convert(path).diagnostics
    assert (found.code, found.layer_name) == ("ONNX005", "pool0")


# --- what is wrong --------------------------------------------------------------------------------------------------


def failure(path: Path, to: str = "opset8") -> str:
    """The one line that a user sees."""
    with pytest.raises(ReadError) as caught:
        from_onnx.read(path, to)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(str(path))
    assert "Traceback" not in line
    assert ".py" not in line
    return line


@pytest.mark.parametrize(
    ("opset", "attributes", "message"),
    [
        (7, {"kernel_shape": [2, 2], "ceil_mode": 1}, "has ceil_mode, which exists since opset 10"),
        (6, {"kernel_shape": [2, 2], "count_include_pad": 1}, "has count_include_pad, which exists since opset 7"),
        (11, {"kernel_shape": [2, 2], "dilations": [1, 1]}, "has dilations, which exists since opset 19"),
        (19, {"kernel_shape": [2, 2], "pad": [1, 1]}, "has an unknown attribute pad"),
        (19, {"kernel_shape": [2, 2], "strides": [2]}, "strides has 1 value; expected 2 for this kernel_shape"),
        (19, {"kernel_shape": [2, 2], "pads": [1, 1]}, "pads has 2 values; expected 4 for this kernel_shape"),
        (
            19,
            {"kernel_shape": [2, 2], "dilations": [1] * 3},
            "dilations has 3 values; expected 2 for this kernel_shape",
        ),
        (19, {"kernel_shape": [2, 2], "pads": [0, 0, -1, 0]}, "pads is [0, 0, -1, 0]; expected at least"),
        (19, {"kernel_shape": [2, 2], "strides": [0, 1]}, "strides is [0, 1]; expected at least 1 for each"),
        (19, {"strides": [2, 2]}, "kernel_shape is missing"),
        (19, {"kernel_shape": [2, 2, 2]}, "kernel_shape has 3 values, but the input has 2 spatial axes"),
        (19, {"kernel_shape": [9, 2]}, "kernel spans 9 elements, but axis 2 has 6"),
        (19, {"kernel_shape": [2, 2], "auto_pad": "SAME"}, "auto_pad is 'SAME'; expected one of"),
        (19, {"kernel_shape": [2, 2], "auto_pad": 1}, "auto_pad is of type INT; expected STRING"),
        (19, {"kernel_shape": [2.5, 2.0]}, "kernel_shape is of type FLOATS; expected INTS"),
        (19, {"kernel_shape": "2,2"}, "kernel_shape is of type STRING; expected INTS"),
        (19, {"kernel_shape": [2, 2], "ceil_mode": 2}, "ceil_mode is 2; expected 0 or 1"),
    ],
)
def test_wrong_attributes(tmp_path: Path, opset: int, attributes: dict[str, Any], message: str) -> None:
    line = failure(one_node(tmp_path, opset, **attributes))
    assert message in line
    assert "'pool0'" in line


def test_a_node_without_input(tmp_path: Path) -> None:
    node = onnx.helper.make_node("AveragePool", [], ["y"], name="my_pool", kernel_shape=[2, 2])
    assert "'my_pool' has no input" in failure(saved(tmp_path, [node], [info("x", [1, 2, 6, 6])]))


def test_two_dimensions_are_too_few(tmp_path: Path) -> None:
    line = failure(saved(tmp_path, [pool(kernel_shape=[2])], [info("x", [3, 4])]))
    assert "'my_pool'" in line
    assert "[N, C, spatial...], not [3,4]" in line


@pytest.mark.parametrize("domain", ["", "my.domain"])
def test_an_operation_that_nobody_knows(tmp_path: Path, domain: str) -> None:
    node = onnx.helper.make_node("Unheard", ["x"], ["z"], name="strange", domain=domain)
    line = failure(saved(tmp_path, [node, pool("z", kernel_shape=[2, 2])], [info("x", [1, 2, 6, 6])]))
    assert "no conversion for" in line
    assert "Unheard" in line
    assert "'strange'" in line


def test_files_that_are_no_models(tmp_path: Path) -> None:
    good, broken = one_node(tmp_path, 19, kernel_shape=[2, 2]).read_bytes(), tmp_path / "broken.onnx"
    for content in (b"", b"some text\n" * 20, *(good[:size] for size in range(1, len(good), 11))):
        broken.write_bytes(content)
        assert "is not an ONNX model, or is truncated" in failure(broken)
    assert "is a folder" in failure(tmp_path)
    assert "there is no such file" in failure(tmp_path / "none.onnx")


@pytest.mark.parametrize(
    ("location", "entries", "message"),
    [
        ("none.bin", {}, "is missing: none.bin"),
        ("../weights.bin", {}, "lies outside the model's folder: ../weights.bin"),
        ("/etc/hostname", {}, "lies outside the model's folder: /etc/hostname"),
        ("cut.bin", {}, "extends beyond the end of cut.bin"),
        ("cut.bin", {"length": "0"}, "external data file does not match the byte size"),
        ("cut.bin", {"offset": "many"}, "an offset or length that is not a number of bytes"),
        ("cut.bin", {"offset": "-4"}, "an offset or length that is not a number of bytes"),
    ],
)
def test_external_data(tmp_path: Path, location: str, entries: dict[str, str], message: str) -> None:
    weights = onnx.numpy_helper.from_array(DATA, "weights")
    (tmp_path / "cut.bin").write_bytes(weights.raw_data[:100])
    for key, value in {"location": location, "offset": "0", "length": str(DATA.nbytes), **entries}.items():
        weights.external_data.add(key=key, value=value)
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    add = onnx.helper.make_node("Add", ["x", "weights"], ["z"])
    path = saved(tmp_path, [add, pool("z", kernel_shape=[2, 2])], [info("x", [1, 2, 6, 6])], [weights])
    line = failure(path)
    assert message in line
    assert "'weights'" in line


def test_external_data_that_is_there(tmp_path: Path) -> None:
    weights = onnx.numpy_helper.from_array(DATA, "weights")
    (tmp_path / "weights.bin").write_bytes(weights.raw_data)
    weights.external_data.add(key="location", value="weights.bin")
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    add = onnx.helper.make_node("Add", ["x", "weights"], ["z"])
    path = saved(tmp_path, [add, pool("z", **DEVIATING)], [info("x", [1, 2, 6, 6])], [weights])
    got = compiled(ir_tools.to_openvino(from_onnx.read(path)))({"x": DATA})["y"]
    assert not differs(average_pool(DEVIATING, 2 * DATA), got, 1e-4)


def test_no_such_target(tmp_path: Path) -> None:
    with pytest.raises(MigrationError, match="'opset99' is not a target"):
        from_onnx.read(one_node(tmp_path, 19, kernel_shape=[2, 2]), to="opset99")


def test_what_a_file_says_of_itself(tmp_path: Path) -> None:
    """Of nodes in subgraphs nothing is counted."""
    pool = onnx.helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[1, 1])
    relu = onnx.helper.make_node("Relu", ["y"], ["z"])
    last = onnx.helper.make_node("AveragePool", ["z"], ["out"], kernel_shape=[2, 2])
    ends = [onnx.helper.make_tensor_value_info(name, 1, [1, 1, 4, 4]) for name in ("x", "out")]
    graph = onnx.helper.make_graph([pool, relu, last], "g", ends[:1], ends[1:])
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in (("", 17), ("ai.onnx.ml", 3))]
    model = onnx.helper.make_model(graph, opset_imports=opsets, producer_name="maker", ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    assert about(tmp_path / "m.onnx") == About(8, {"ai.onnx": 17, "ai.onnx.ml": 3}, "maker", 2)
    model.producer_version = "1.5"
    onnx.save(model, tmp_path / "m.onnx")
    assert about(tmp_path / "m.onnx").producer == "maker 1.5"
