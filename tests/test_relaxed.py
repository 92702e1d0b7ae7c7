"""Reshapes with hard-coded sizes in front of a MatMul, after new input shapes: as the runtime, and so when written."""

from pathlib import Path

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.format.read import read
from ir_tools.format.write import write
from ir_tools.infer import propagate_shapes
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import format_shape, parse_shape
from tests.ir_text import edge, layer, net, parameter, port, result


def model(folder: Path, pattern: tuple[int, int], first: bool, transposes: tuple[bool, bool]) -> Path:
    """A Parameter [1,2,3,3], a Reshape, and a MatMul with weights of 18 x 4, or 4 x 18."""
    swap = transposes[1] if first else transposes[0]
    weights = (18, 4) if first != swap else (4, 18)
    flags = " ".join(f'transpose_{name}="{str(flag).lower()}"' for name, flag in zip("ab", transposes, strict=True))
    sizes = port(0, (2,), precision="I64")
    sizes_of_rows = tuple(18 // abs(pattern[1 - axis]) if size < 0 else size for axis, size in enumerate(pattern))
    shapes = (sizes_of_rows, weights) if first else (weights, sizes_of_rows)
    texts = [
        parameter(0, (1, 2, 3, 3), name="x"),
        layer(1, "Const", name="sizes", data='element_type="i64" shape="2" offset="0" size="16"', outputs=[sizes]),
        layer(
            2,
            "Const",
            name="w",
            data=f'element_type="f32" shape="{weights[0]},{weights[1]}" offset="64" size="288"',
            outputs=[port(0, weights)],
        ),
        reshape(3, "rows", (1, 2, 3, 3), sizes_of_rows),
        layer(
            4,
            "MatMul",
            name="y",
            data=flags,
            inputs=[port(0, shapes[0]), port(1, shapes[1])],
            outputs=[port(2, (1, 4))],
        ),
        result(5, (1, 4), name="out"),
    ]
    wires = [(0, 0, 3, 0), (1, 0, 3, 1), (3, 2, 4, int(not first)), (2, 0, 4, int(first)), (4, 2, 5, 0)]
    path = folder / "m.xml"
    path.write_bytes(net(texts, [edge(*wire) for wire in wires]))
    path.with_suffix(".bin").write_bytes(np.array(pattern, np.int64).tobytes() + bytes(48 + 288))
    return path


def reshape(number: int, name: str, before: tuple[int, ...], after: tuple[int, ...]) -> str:
    """A Reshape by a list of two sizes."""
    inputs = [port(0, before), port(1, (2,), precision="I64")]
    return layer(number, "Reshape", name=name, data='special_zero="false"', inputs=inputs, outputs=[port(2, after)])


CASES = [
    pytest.param((1, 18), True, (False, False), id="A"),
    pytest.param((1, 18), True, (False, True), id="A-weights-transposed"),
    pytest.param((18, 1), True, (True, False), id="A-transposed"),
    pytest.param((18, 1), False, (False, False), id="B"),
    pytest.param((1, 18), False, (True, True), id="B-both-transposed"),
    pytest.param((1, -1), True, (False, False), id="A-rest-of-one-row"),
    pytest.param((-1, 1), True, (True, False), id="A-transposed-rest-of-one-column"),
    pytest.param((-1, 18), True, (False, False), id="A-rows-of-any-number"),
]


@pytest.mark.parametrize("shape", ["3,2,3,3", "1,2,3,3", "2..5,2,3,3", "?,2,?,?", "1,2,6,3"])
@pytest.mark.parametrize(("pattern", "first", "transposes"), CASES)
def test_as_the_runtime(
    pattern: tuple[int, int],
    first: bool,
    transposes: tuple[bool, bool],
    shape: str,
    client: RuntimeClient,
    tmp_path: Path,
) -> None:
    path = model(tmp_path, pattern, first, transposes)
    wanted = client.shapes(path, None, {"x": shape})
    changed = read(path)
    report = propagate_shapes(changed, {"x": shape}, in_place=True)
    assert report.facts["rows", 2].shape == parse_shape(wanted["rows", 0][1])
    assert report.facts["y", 2].shape == parse_shape(wanted["y", 0][1])
    write(changed, tmp_path / "out.xml")
    again = client.shapes(tmp_path / "out.xml", None)
    assert again["y", 0][1] == format_shape(report.facts["y", 2].shape)


@pytest.mark.parametrize("shared", [False, True], ids=["sizes-of-its-own", "the-same-sizes"])
def test_another_reshape_to_the_same_sizes_is_as_in_the_runtime(
    client: RuntimeClient, tmp_path: Path, shared: bool
) -> None:
    """It stands in front of no MatMul: sizes of its own stay; those that it shares change with the others."""
    path, dims = model(tmp_path, (1, 18), True, (False, False)), (2, 9) if shared else (-1, 9)
    sizes = [port(0, (2,), precision="I64")]
    texts = [
        parameter(6, dims, name="z"),
        layer(7, "Const", name="own", data='element_type="i64" shape="2" offset="0" size="16"', outputs=sizes),
        reshape(8, "other", dims, (1, 18)),
        result(9, (1, 18), name="end"),
    ]
    wires = [(6, 0, 8, 0), (1 if shared else 7, 0, 8, 1), (8, 2, 9, 0)]
    if shared:
        del texts[1]
    text = path.read_text().replace("</layers>", "".join(texts) + "</layers>")
    path.write_text(text.replace("</edges>", "".join(edge(*wire) for wire in wires) + "</edges>"))
    wanted = client.shapes(path, None, {"x": "3,2,3,3"})
    changed = read(path)
    assert all(
        layer.content for layer in changed.graph.layers()
    )  # from there on constants that are alike share answers
    report = propagate_shapes(changed, {"x": "3,2,3,3"}, in_place=True)
    write(changed, tmp_path / "out.xml")
    again = client.shapes(tmp_path / "out.xml", None)
    for name in ("rows", "other", "y"):
        found = format_shape(report.facts[name, 2].shape)
        assert found == wanted[name, 0][1] == again[name, 0][1], name


def test_without_new_shapes_nothing_gives_way(tmp_path: Path) -> None:
    path = model(tmp_path, (1, 18), True, (False, False))
    other = read(path.read_text().replace('shape="1,2,3,3"', 'shape="3,2,3,3"').encode(), path.with_suffix(".bin"))
    with pytest.raises(ShapeError, match="number of elements"):
        propagate_shapes(other)


def test_a_pattern_that_copies_a_size_keeps_its_bytes(tmp_path: Path) -> None:
    path = model(tmp_path, (0, 18), True, (False, False))
    text = path.read_text().replace('special_zero="false"', 'special_zero="true"')
    text = text.replace("<dim>0</dim>", "<dim>1</dim>")
    copied = read(text.encode(), path.with_suffix(".bin"))
    report = propagate_shapes(copied, {"x": "3,2,3,3"}, in_place=True)
    assert report.shapes["y", 2] == parse_shape("3,4")
    assert not copied.weights.pending


@pytest.mark.parametrize("between", ["", "Convert", "Transpose", "Reshape"])
@pytest.mark.parametrize("first", [True, False])
def test_weights_behind_a_layer_are_as_in_the_runtime(
    between: str, first: bool, client: RuntimeClient, tmp_path: Path
) -> None:
    """A Reshape gives way where constants are multiplied, unless another Reshape makes these."""
    builder = Builder()
    pattern, shape = ((1, 18), (18, 4)) if first else ((18, 1), (4, 18))
    rows = builder.call("Reshape", builder.parameter("x", "1,2,3,3"), np.array(pattern), special_zero=False)
    numbers = np.ones(
        shape[::-1] if between == "Transpose" else shape, np.float16 if between == "Convert" else np.float32
    )
    weights = builder.constant(numbers)
    if between == "Convert":
        weights = builder.call("Convert", weights, destination_type="f32")
    elif between:
        second = np.array([1, 0] if between == "Transpose" else shape)
        weights = builder.call(between, weights, second)
    builder.result(builder.call("MatMul", *((rows, weights) if first else (weights, rows)), name="product"), "y")
    write(builder.model, tmp_path / "m.xml")
    try:
        wanted: str | None = client.shapes(tmp_path / "m.xml", None, {"x": "3,2,3,3"})["product", 0][1]
    except RuntimeFailure:
        wanted = None
    try:
        found: str | None = format_shape(propagate_shapes(builder.model, {"x": "3,2,3,3"}).shapes["product", 2])
    except ShapeError:
        found = None
    assert found == wanted
    assert (wanted is None) == (between == "Reshape")


def test_patterns_that_still_fit_keep_their_bytes(tmp_path: Path) -> None:
    path = model(tmp_path, (1, 18), True, (False, False))
    same = read(path)
    propagate_shapes(same, {"x": "1,2,3,3"}, in_place=True)
    assert not same.weights.pending
