"""What a migration does besides operations: IR versions, element types, sizes, names."""

import io
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ir_tools import Builder, Model, Session, compat, migrate, processors, run, validate, write
from ir_tools import read as read_file
from ir_tools.compatibility import compatibility
from ir_tools.errors import RuntimeFailure
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.inputs import plan_inputs
from ir_tools.known_differences import as_model
from ir_tools.known_differences.packed_weights import PackedWeights
from ir_tools.known_differences.releases import ROWS, rows_about, rows_of
from ir_tools.known_differences.verdicts import Answer
from ir_tools.releases.table import OPENVINO, PARAMETERS_OF_10, RESULTS_OF_10
from ir_tools.rewrite import fitting, migration
from ir_tools.rewrite.fitting import Fitting
from ir_tools.rewrite.migration import Migration
from ir_tools.rewrite.target import Target
from ir_tools.rules.storage import UNREAD_WEIGHTS
from ir_tools.rules.structure import UNREAD_LAYER
from ir_tools.runtime.client import RuntimeClient, sources
from ir_tools.types import ELEMENT_TYPES, element_type
from ir_tools.types.packing import PackedArray, in_element_type, pack
from ir_tools.weights import constant
from tests.ops.test_control_flow import iterator_model
from tests.runtime import killers
from tests.runtime.releases import client_of, kept_client


def doubled(shape: str = "2,3", kind: str = "f32") -> Model:
    """A layer `sum` whose tensor is called `y`, and an input `x`."""
    builder = Builder(name="doubled")
    data = builder.parameter("x", shape, kind)
    builder.result(builder.call("Add", data, data, name="sum"), "y")
    return builder.model


def packed_constant(builder: Builder, kind: str, array: np.ndarray[Any, Any]) -> Source:
    """A constant of a type of few bits."""
    packed = in_element_type(array, element_type(kind))
    assert isinstance(packed, PackedArray)
    return builder.constant(pack(packed), "weights", element_type(kind), array.shape)


def compressed_product(kind: str, scale: tuple[int, int], *, transposed: bool = True, second: bool = True) -> Model:
    """A MatMul of an input `x`, `[2, 4]`, and weights of few bits with a scale of a shape; `second`: `x` is the first.

    The weights are `[6, 4]` if they are transposed or the first input, else `[4, 6]`.
    """
    builder, rng = Builder(name="compressed"), np.random.default_rng(6)
    shape = (6, 4) if transposed or not second else (4, 6)
    weights = packed_constant(builder, kind, rng.choice([0.0, 1.0] if kind == "nf4" else [2.0, 7.0, 1.0, 0.0], shape))
    floats = builder.call("Convert", weights, destination_type="f32")
    scaled = builder.call("Multiply", floats, rng.uniform(0.5, 1, scale).astype(np.float32))
    sides = builder.parameter("x", [2, 4]), scaled
    left, right = sides if second else sides[::-1]
    builder.result(builder.call("MatMul", left, right, transpose_a=False, transpose_b=transposed))
    return builder.model


def weighed(kind: str, numbers: Any, reader: str = "Convert") -> Model:
    """A constant of a type, converted to f32 and added to the input."""
    builder = Builder(name="weighed")
    dtype = element_type(kind)
    array = np.asarray(numbers)
    if dtype.packed:
        weights = packed_constant(builder, kind, array)
    else:
        weights = builder.constant(array.astype(dtype.dtype), "weights", dtype)
    if reader != "Convert":
        weights = builder.call(reader, weights, [0])
    floats = builder.call("Convert", weights, destination_type="f32")
    builder.result(builder.call("Add", builder.parameter("x", [len(numbers)]), floats, name="y"))
    return builder.model


def names(model: Model) -> list[str]:
    return [layer.name for layer in model.graph.ordered()]


def test_ir_10_calls_layers_by_the_names_of_tensors() -> None:
    migrated = migrate(doubled(), "ir10")
    assert migrated.model.version == 10
    assert names(migrated.model)[:2] == ["x", "y"]
    assert [(step.path, step.after, step.strategy) for step in migrated.steps] == [
        ("sum", "Add 'y'", "named after its tensor")
    ]
    assert migrated.notes == ()
    assert migrate(migrated.model, "ir10").steps == ()


def test_a_layer_that_has_the_name_already_gives_it_up() -> None:
    builder = Builder()
    data = builder.parameter("x", "2,3")
    inner = builder.call("ReLU", data, name="y")
    builder.result(builder.call("Abs", inner, name="abs"), "y")
    model = migrate(builder.model, "openvino-2021.4").model
    assert {layer.type: layer.name for layer in model.graph.layers() if layer.type in {"ReLU", "Abs"}} == {
        "ReLU": "y/relu",
        "Abs": "y",
    }


@pytest.mark.parametrize(("kind", "wanted"), [("i64", "i32"), ("u8", "f32"), ("f32", None), ("i32", None)])
def test_types_that_ir_10_does_not_give_are_noted(kind: str, wanted: str | None) -> None:
    notes = migrate(doubled(kind=kind), "ir10").notes
    assert notes == ((f"output 'y' has element type {wanted} in IR v10; it is {kind} in the file",) if wanted else ())


def test_a_tensor_that_two_results_call_otherwise_keeps_both_names_in_ir_10() -> None:
    builder = Builder()
    total = builder.call("ReLU", builder.parameter("x", "2"), name="sum")
    builder.result(total)
    builder.result(total)
    results = [layer for layer in builder.model.graph.layers() if layer.type == "Result"]
    for layer, name in zip(results, ("y", "z"), strict=True):
        layer.tag["output_names"] = name
    migrated = migrate(builder.model, "ir10")
    names = {layer.type: layer.name for layer in migrated.model.graph.layers()}
    assert (names["ReLU"], names["Convert"]) == ("y", "z")
    assert migrated.notes == ()


def test_ir_11_gives_names_and_types_of_ir_10() -> None:
    model = doubled(kind="f16")
    model.version = 10
    for layer in model.graph.layers():
        for port in layer.outputs:
            port.names = ()
    migrated = migrate(model, "ir11")
    assert [end.name for end in (*migrated.model.inputs, *migrated.model.outputs)] == ["x", "sum"]
    assert [end.port.precision for end in (*migrated.model.inputs, *migrated.model.outputs)] == ["FP32", "FP32"]
    assert [layer.type for layer in migrated.model.graph.ordered()] == [
        "Parameter",
        "Convert",
        "Add",
        "Convert",
        "Result",
    ]
    assert [step.after for step in migrated.steps] == ["Parameter of f32 + Convert", "Convert + Result"]
    named = [name for layer in migrated.model.graph.layers() for port in layer.outputs for name in port.names]
    assert sorted(named) == sorted(set(named))


def test_types_in_ir_10_are_those_that_the_runtime_takes_and_gives() -> None:
    kinds = [name for name, kind in ELEMENT_TYPES.items() if kind.bits]
    builder = Builder(opset=1)
    for kind in kinds:
        given = builder.call("Convert", builder.parameter(f"from {kind}", "2", kind), destination_type="f32")
        builder.result(builder.call("Convert", given, destination_type=kind, name=f"to {kind}"))
    builder.model.version = 10
    with RuntimeClient() as client, sources(builder.model) as (text, weights):
        found = client.describe(text, weights)
    ends = {end.name: end.element_type for end in (*found.inputs, *found.outputs)}
    assert {kind: ends[f"from {kind}"] for kind in kinds if ends[f"from {kind}"] != kind} == PARAMETERS_OF_10
    assert {kind: ends[f"to {kind}"] for kind in kinds if ends[f"to {kind}"] != kind} == RESULTS_OF_10


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [("?,3", "1,3"), ("1..4,3", "1,3"), ("?,?", "1,32"), ("5..,100..", "5,100"), ("0..2,..32", "1,32")],
)
def test_dynamic_shapes_are_refused_with_what_to_type_and_fixed_on_request(shape: str, sizes: str) -> None:
    """With sizes that the model can take where the shape leaves them open."""
    model = doubled(shape)
    (refused,) = migrate(model, "openvino-2021.4").refused
    assert (
        refused.reason
        == f"OpenVINO 2021.4 does not support dynamic shapes; set static sizes of the input: --set x={sizes}"
    )
    migrated = migrate(model, "openvino-2021.4", shapes={"x": sizes})
    assert migrated.ok
    assert migrated.model.inputs[0].layer.raw["shape"] == sizes
    assert migrate(model, "openvino-2022.1").refused == ()


def test_sizes_to_type_are_some_that_the_layers_take() -> None:
    builder = Builder()
    one, none = (1,), (0,)
    data, filters = builder.parameter("x", "1,1,?"), np.ones((1, 1, 100), np.float32)
    found = builder.call("Convolution", data, filters, strides=one, dilations=one, pads_begin=none, pads_end=none)
    builder.result(found)
    (refused,) = migrate(builder.model, "openvino-2021.4").refused
    assert migrate(builder.model, "openvino-2021.4", shapes=dict([refused.reason.rpartition(" ")[2].split("=")])).ok


def test_sizes_that_data_decide_are_refused() -> None:
    builder = Builder()
    places = builder.call("NonZero", builder.parameter("x", "2,3"), output_type="i64", name="places")
    builder.result(places)
    (refused,) = migrate(builder.model, "openvino-2021.4").refused
    assert (refused.path, refused.reason.partition("; ")[2]) == (
        "places",
        "OpenVINO 2022.1 and later support them, but this shape depends on the data",
    )


FLOATS = [0.0, 0.5, -1.5, 6.0]


@pytest.mark.parametrize(
    ("kind", "release", "stored", "numbers"),
    [
        ("i4", "openvino-2022.3", "i8", [-8, 7, 0, -1]),
        ("u4", "openvino-2021.4", "u8", [15, 0, 3, 8]),
        ("u2", "openvino-2024.6", "u8", [3, 0, 1, 2]),
        ("nf4", "openvino-2023.1", "f32", [1.0, -1.0, 0.0, -0.5250730514526367]),
        ("f4e2m1", "openvino-2024.2", "f16", FLOATS),
        ("f8e4m3", "openvino-2023.3", "f16", FLOATS),
        ("f8e8m0", "openvino-2024.0", "f32", [0.5, 2.0, 1.0, 4.0]),
    ],
)
def test_constants_of_types_that_a_release_lacks(kind: str, release: str, stored: str, numbers: list[float]) -> None:
    migrated = migrate(weighed(kind, numbers), release)
    assert f"Const of {stored}" in [step.after for step in migrated.steps]
    layer = next(one for one in migrated.model.graph.layers() if one.name == "weights")
    assert (layer.raw["element_type"], layer.outputs[0].precision) == (stored, element_type(stored).precision)
    assert constant(layer.raw, migrated.model.weights).tolist() == numbers
    (reader,) = (one for one in migrated.model.graph.layers() if one.type == "Convert")
    assert reader.inputs[0].precision == layer.outputs[0].precision


@pytest.mark.parametrize(
    ("kind", "last_wrong", "first_right"),
    [("i4", "2023.1", "2023.2"), ("u4", "2023.1", "2023.2"), ("u2", "2025.2", "2025.3")],
)
def test_a_type_stays_from_the_first_release_on_that_reads_it_rightly(
    kind: str, last_wrong: str, first_right: str
) -> None:
    assert migrate(weighed(kind, [1, 0]), f"openvino-{first_right}").steps == ()
    assert [step.path for step in migrate(weighed(kind, [1, 0]), f"openvino-{last_wrong}").steps] == ["weights"]


PRODUCTS: dict[str, tuple[dict[str, Any], bool]] = {
    "by rows": ({"scale": (6, 1)}, False),
    "by columns": ({"scale": (1, 6), "transposed": False}, False),
    "by one number": ({"scale": (1, 1)}, True),
    "by one number, not transposed": ({"scale": (1, 1), "transposed": False}, True),
    "along the sum": ({"scale": (1, 4)}, True),
    "along the sum, not transposed": ({"scale": (4, 1), "transposed": False}, True),
    "first input": ({"scale": (6, 1), "second": False}, True),
}
"""Scales of compressed weights, and whether releases before 2024.2 (of nf4, 2024.4) do not compile the MatMul."""


@pytest.mark.parametrize(("kind", "first"), [("i4", "2024.2"), ("u4", "2024.2"), ("nf4", "2024.4")])
@pytest.mark.parametrize("name", PRODUCTS)
def test_compressed_weights_that_an_older_release_does_not_unpack_are_stored_in_another_type(
    name: str, kind: str, first: str
) -> None:
    setting, wider = PRODUCTS[name]
    model = compressed_product(kind, **setting)
    migrated = migrate(model, "openvino-2023.3")
    assert [step.path for step in migrated.steps] == ["weights"] * wider
    assert migrated.notes == ()
    assert migrate(model, f"openvino-{first}").steps == ()


@pytest.fixture(params=[(), ("avx512bw",), ("avx512bw", "avx512_vnni")], ids=" ".join)
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Processors with and without AVX-512 and VNNI."""
    cached = (rows_about, rows_of)
    with monkeypatch.context() as patch:
        patch.setattr(processors, "_flags", lambda: frozenset(request.param))
        for rows in cached:
            rows.cache_clear()
        yield
    for rows in cached:
        rows.cache_clear()


@pytest.mark.usefixtures("processor")
def test_the_migrated_model_is_the_same_on_every_processor() -> None:
    """Only a processor with VNNI quantizes data dynamically, but the model has to run on any."""
    migrated = migrate(compressed_product("i4", **PRODUCTS["by one number"][0]), "openvino-2024.6")
    assert [step.after for step in migrated.steps] == ["Const of f32"]


@pytest.mark.usefixtures("processor")
def test_what_processors_without_vnni_compute_in_another_way_is_noted_on_every_processor() -> None:
    builder = Builder(name="compressed")
    floats = builder.call("Convert", builder.constant(np.ones((4, 4), np.int8)), destination_type="f32")
    weights = builder.call("Multiply", floats, np.ones((1, 4), np.float32))
    builder.result(builder.call("MatMul", builder.parameter("x", [4, 4]), weights), "y")
    assert any("computes other values" in note for note in migrate(builder.model, "openvino-2024.3").notes)


UNPACKED = {"2024.3": "by one number", "2024.6": "by one number", "2025.0": "along the sum", "2026.4": "along the sum"}


@pytest.mark.parametrize(("version", "what"), UNPACKED.items())
@pytest.mark.parametrize("name", PRODUCTS)
def test_compressed_weights_that_a_release_scales_in_another_way_are_unpacked(
    name: str, version: str, what: str
) -> None:
    model = compressed_product("i4", **PRODUCTS[name][0])
    data = np.random.default_rng(7).normal(size=(2, 4)).astype(np.float32)
    migrated = migrate(model, f"openvino-{version}")
    assert [step.after for step in migrated.steps] == ["Const of f32"] * name.startswith(what)
    assert {layer.type for layer in migrated.model.graph.layers()} >= ({"MatMul"} if migrated.steps else {"Convert"})
    for wanted, found in zip(run(model, {"x": data}).values(), run(migrated.model, {"x": data}).values(), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("version", "steps"), [("2024.3", 0), ("2024.4", 1), ("2026.4", 1)])
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_square_weights_of_products_both_ways_become_two(
    kind: type[np.floating[Any]], version: str, steps: int
) -> None:
    builder, rng = Builder(name="both"), np.random.default_rng(3)
    weights = builder.call("Convert", builder.constant(rng.normal(size=(4, 4)).astype(kind)), destination_type="f32")
    for name, transposed in (("x", True), ("y", False)):
        data = builder.parameter(name, [2, 4])
        builder.result(builder.call("MatMul", data, weights, transpose_a=False, transpose_b=transposed), f"{name} out")
    fed = {name: rng.normal(size=(2, 4)).astype(np.float32) for name in "xy"}
    migrated = migrate(builder.model, f"openvino-{version}")
    assert [step.strategy for step in migrated.steps] == ["weights transposed"] * steps
    assert migrate(migrated.model, f"openvino-{version}").steps == ()
    for wanted, found in zip(run(builder.model, fed).values(), run(migrated.model, fed).values(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_weights_that_differ_in_nothing_but_their_offsets_are_unpacked_each() -> None:
    builder, rng = Builder(name="products"), np.random.default_rng(3)
    arrays = [rng.integers(-9, 9, (4, 6), np.int8) for _ in range(3)]
    for number, array in enumerate(arrays):
        floats = builder.call("Convert", builder.constant(array), destination_type="f32")
        weights = builder.call("Multiply", floats, np.array([0.5], np.float32))
        product = builder.call("MatMul", builder.parameter(f"x{number}", [2, 4]), weights)
        builder.result(product, f"y{number}")
    model = read(render(builder.model), b"".join(builder.model.weights.tail()))
    found = [
        numbers
        for layer in model.graph.layers()
        if layer.type == "Const" and (packed := PackedWeights.of(model, model.graph, layer, {})) is not None
        if (numbers := packed.unpacked()) is not None
    ]
    np.testing.assert_array_equal(np.stack(found), np.stack(arrays) / 2)


@pytest.mark.parametrize("type", ["Convert", "Multiply"])
def test_weights_behind_a_layer_that_is_not_known_are_not_unpacked(type: str) -> None:
    """Such a model has an error of its own."""
    row = next(row for row in ROWS if row.name == "weights of sequences in part of 8 bits, 2024.4 to 2026.4")
    model, _ = as_model(row.model)
    wrong = next(layer for layer in model.graph.layers() if layer.type == type)
    wrong.tag["version"] = "0"
    migrated = migrate(model, row.releases[-1].name)
    assert any(layer.name == wrong.name and layer.type == type for layer in migrated.model.graph.layers())
    assert [finding.code for finding in validate(migrated.model) if finding.severity == "error"] == ["IR202"]


def test_a_product_of_transposed_weights_records_their_sizes() -> None:
    builder, rng = Builder(name="both"), np.random.default_rng(3)
    floats = builder.call("Convert", builder.constant(rng.integers(-9, 9, (4, 6), np.int8)), destination_type="f32")
    weights = builder.call("Multiply", floats, np.array([0.1], np.float32))
    for name, columns, transposed in (("x", 6, True), ("y", 4, False)):
        data = builder.parameter(name, [2, columns])
        builder.result(builder.call("MatMul", data, weights, transpose_a=False, transpose_b=transposed), f"{name} out")
    migrated = migrate(builder.model, "openvino-2024.4")
    assert [step.strategy for step in migrated.steps] == ["weights transposed", "unpacked"]
    products = [layer for layer in migrated.model.graph.layers() if layer.type == "MatMul"]
    assert migrated.steps[0].path == products[1].name
    assert [[port.dims for port in layer.inputs] for layer in products] == [[(2, 6), (4, 6)], [(2, 4), (6, 4)]]


@pytest.mark.parametrize(
    "version",
    ["2024.6", *(pytest.param(version, marks=pytest.mark.sweep) for version in ("2023.2", "2023.3", "2025.4"))],
)
def test_releases_run_compressed_weights_however_they_are_scaled(version: str) -> None:
    """Data that releases quantize to 8 bits without a difference."""
    data = np.random.default_rng(7).integers(-127, 127, (2, 4)).astype(np.float32)
    data[:, 0] = 127
    for kind in ("i4", "u4", "nf4"):
        for setting, _ in PRODUCTS.values():
            model = compressed_product(kind, **setting)
            found = ran(migrate(model, f"openvino-{version}"), version, data)
            np.testing.assert_allclose(found, next(iter(run(model, {"x": data}).values())), rtol=1e-3, atol=1e-3)


def padded_and_scattered() -> Model:
    """Layers of newer opsets with constants that older ones have no use for, and one that other layers read, too."""
    builder = Builder(name="padded")
    data = builder.parameter("x", [3, 4], "f32")
    begin, end, value = builder.constant([0, -1], "begin"), builder.constant([1, 2], "end"), np.float32(0.5)
    rows = builder.constant([[2, 0, 1, 2]], "rows")
    padded = builder.call("Pad", data, begin, end, builder.constant(value, "value"), pad_mode="constant")
    spread = builder.call("ScatterElementsUpdate", data, rows, builder.call("Gather", data, [0], 0), 0)
    builder.result(padded)
    builder.result(spread)
    builder.result(builder.call("Add", end, builder.call("ShapeOf", spread)))
    return builder.model


@pytest.mark.parametrize("release", ["openvino-2021.4", "openvino-2022.3", "openvino-2024.6"])
@pytest.mark.parametrize(
    "model",
    [
        weighed("i4", [-8, 7, 0, 3] * 8),
        weighed("u2", [0, 3, 1, 2] * 4),
        compressed_product("i4", **PRODUCTS["by one number"][0]),
        padded_and_scattered(),
    ],
)
def test_nothing_stays_that_nothing_reads(model: Model, release: str, tmp_path: Path) -> None:
    """Bytes that no constant reads stay where no constant gets another type: the others keep their places."""
    write(model, tmp_path / "old.xml")
    write(migrate(read_file(tmp_path / "old.xml"), release).model, tmp_path / "new.xml")
    assert not validate(tmp_path / "new.xml", select=[UNREAD_LAYER.code])
    old, new = places_of_constants(tmp_path / "old.xml"), places_of_constants(tmp_path / "new.xml")
    if model.name == "padded":
        assert new.items() >= {name: old[name] for name in old.keys() & new.keys()}.items()
        assert (tmp_path / "new.bin").read_bytes().startswith((tmp_path / "old.bin").read_bytes())
    else:
        assert not validate(tmp_path / "new.xml", select=[UNREAD_WEIGHTS.code])
    expected, found = (run(read_file(tmp_path / name), plan_inputs(model).arrays()) for name in ("old.xml", "new.xml"))
    for one, other in zip(expected.values(), found.values(), strict=True):
        np.testing.assert_array_equal(one, other)


def places_of_constants(path: Path) -> dict[str, str]:
    return {layer.name: layer.raw["offset"] for layer in read_file(path).graph.layers() if layer.type == "Const"}


def test_layers_that_nothing_read_before_stay() -> None:
    builder = Builder()
    data = builder.parameter("x", "2,3")
    builder.call("Abs", data, name="unread")
    builder.result(builder.call("Swish", data, name="y"))
    assert "unread" in names(migrate(builder.model, "opset3").model)


def test_a_constant_that_is_not_converted_at_once_is_refused() -> None:
    (*_, refused) = migrate(weighed("nf4", [1.0], reader="Unsqueeze"), "openvino-2022.3").refused
    reading = "OpenVINO 2023.2 and later read it"
    assert refused.reason == f"its output has element type nf4, which OpenVINO 2022.3 does not support; {reading}"


def test_a_constant_that_something_else_reads_beside_a_convert_is_refused() -> None:
    model = weighed("nf4", [1.0])
    builder, weights = Builder(model), next(one for one in model.graph.layers() if one.name == "weights")
    builder.result(builder.call("Unsqueeze", Source(weights.id, weights.outputs[0].id), [0]))
    assert [one.path for one in migrate(model, "openvino-2022.3").refused] == ["weights", "unsqueeze"]


def test_a_release_is_not_asked_again_about_layers_whose_names_change(monkeypatch: pytest.MonkeyPatch) -> None:
    model = doubled()
    [layer for layer in model.graph.ordered()][1].tag["name"] = "x"
    monkeypatch.setattr(fitting, "ReleaseAnswers", None)
    (step,) = migration.migrate(model, "openvino-2023.3", in_place=True).steps
    assert step.strategy == "a unique name"


def test_names_and_rt_info_that_older_releases_refuse() -> None:
    model = doubled()
    x, total = [layer for layer in model.graph.ordered()][:2]
    total.tag["name"] = "x"
    x.rt_info.append({"name": "mine", "value": "1"})
    migrated = migrate(model, "openvino-2023.3")
    assert names(migrated.model)[:2] == ["x", "x/2"]
    (step,) = migrated.steps
    assert (step.after, step.strategy) == ("Add 'x/2'", "a unique name")
    assert step.proof == "names do not change values"
    assert migrated.notes == ("rt_info without a version removed from 1 layer: OpenVINO 2023.3 does not read it",)
    assert migrate(model, "openvino-2024.6").steps == ()
    assert migrate(model, "openvino-2024.6").notes == ()


FIRST_TO_READ = {"brackets": (2022, 3), "names": (2024, 1), "rt_info": (2024, 5)}
"""Releases before these change what a file says in an unusual way."""


def unusual(what: str, version: int = 11) -> Model:
    """A shape in brackets, a name that two layers have, or rt_info without a version."""
    model = doubled()
    model.version = version
    x, total = [layer for layer in model.graph.ordered()][:2]
    if what == "brackets":
        x.raw["shape"] = " [2,3] "
    elif what == "names":
        total.tag["name"] = "x"
    else:
        x.rt_info.append({"name": "mine", "value": "1"})
    return model


@pytest.mark.parametrize("what", FIRST_TO_READ)
def test_files_are_changed_for_the_releases_that_do_not_read_them(what: str) -> None:
    model = unusual(what)
    kept = [one.number for one in OPENVINO if render(migrate(model, one.name).model) == render(model)]
    assert kept == [one.number for one in OPENVINO if one.number >= FIRST_TO_READ[what]]


@pytest.mark.parametrize("what", FIRST_TO_READ)
def test_compat_knows_which_releases_read_them(what: str) -> None:
    releases = [one for one in OPENVINO if one.number >= (2022, 1)]
    said = compatibility(unusual(what), releases)
    assert [one.release for one in said if one.answer is Answer.RUNS] == [
        one for one in releases if one.number >= FIRST_TO_READ[what]
    ]


def test_rt_info_of_ir_v10_needs_no_version() -> None:
    model = unusual("rt_info", 10)
    for release in OPENVINO:
        assert render(migrate(model, release.name).model) == render(model)
    assert {one.answer for one in compatibility(model)} == {Answer.RUNS}


@pytest.mark.sweep
@pytest.mark.parametrize("release", ["2021.2", "2023.3"])
def test_releases_read_it(release: str) -> None:
    with sources(unusual("rt_info", 10)) as files:
        kept_client(release).check(*files)


@pytest.mark.sweep
@pytest.mark.parametrize("what", FIRST_TO_READ)
def test_the_first_releases_that_read_them(what: str) -> None:
    number = next(place for place, one in enumerate(OPENVINO) if one.number == FIRST_TO_READ[what])
    for release, reads in zip(OPENVINO[number - 1 : number + 1], (False, True), strict=True):
        client = kept_client(release.name.removeprefix("openvino-"))
        with sources(unusual(what)) as files:
            with nullcontext() if reads else pytest.raises(RuntimeFailure):
                client.check(*files)
            with sources(migrate(unusual(what), release.name).model) as files:
                client.check(*files)


def twice() -> Model:
    """One output of a Split that two Results give, and the other output."""
    builder = Builder(name="twice")
    halves = builder.outputs("Split", builder.parameter("x", "2,4", "f32"), 1, num_splits=2)
    for source, name in zip((halves[1], halves[1], halves[0]), ("a", "b", "c"), strict=True):
        builder.result(source, name)
    return builder.model


def test_a_tensor_of_two_results_has_a_name_for_each_in_ir_10() -> None:
    migrated = migrate(twice(), "ir10")
    sources = [migrated.model.graph.sources(end.layer.id).popitem()[1] for end in migrated.model.outputs]
    assert len({*sources}) == 3
    assert [step.strategy for step in migrated.steps if step.after == "Convert + Result"] == ["a separate tensor"]


def flattened() -> Model:
    """Data reshaped to sizes that a Concat joins along its last axis."""
    builder = Builder(name="flattened")
    data = builder.parameter("x", "?,3,4", "f32")
    rows = builder.call("Gather", builder.call("ShapeOf", data, output_type="i64"), [0], 0)
    sizes = builder.call("Concat", rows, np.array([12]), axis=-1)
    builder.result(builder.call("ReLU", builder.call("Reshape", data, sizes, special_zero=True)), "y")
    return builder.model


@pytest.mark.parametrize(("release", "steps"), [("openvino-2022.1", 1), ("openvino-2022.2", 0)])
def test_lists_are_joined_along_the_first_axis(release: str, steps: int) -> None:
    migrated = migrate(flattened(), release)
    assert [step.strategy for step in migrated.steps if step.before == "Concat-1"] == ["axis 0"] * steps


def test_matrices_are_joined_along_the_last_axis() -> None:
    builder = Builder(name="joined")
    data = builder.parameter("x", "2,3", "f32")
    builder.result(builder.call("Concat", data, data, axis=-1), "y")
    (found,) = run(migrate(builder.model, "openvino-2022.1").model, {"x": np.eye(2, 3, dtype=np.float32)}).values()
    assert found.tolist() == [[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0]]


def test_layers_of_one_name_get_others_in_ir_10() -> None:
    builder = Builder()
    inner = builder.call("ReLU", builder.parameter("x", "2,3"))
    builder.graph.layer(inner.layer).tag["name"] = "x"
    builder.result(builder.call("Abs", inner, name="y"), "y")
    assert names(migrate(builder.model, "ir10").model)[:3] == ["x", "x/2", "y"]
    assert names(migrate(builder.model, "ir11").model)[:3] == ["x", "x", "y"]


def test_layers_of_one_name_in_a_body_get_others_in_ir_10() -> None:
    text, weights = iterator_model(np.random.default_rng(1), static=True)
    before, body = text.split(b"<body>")
    model = read(before + b"<body>" + body.replace(b'"Parameter_1"', b'"Parameter_0"'), weights)
    for target, equal in (("ir10", 0), ("ir11", 1)):
        graphs = [[layer.name for layer in graph.layers()] for graph in migrate(model, target).model.graphs()]
        assert [len(called) - len({*called}) for called in graphs] == [0, equal]


def test_an_input_that_is_an_output_keeps_its_name_for_2021() -> None:
    """This release reads a Result of an input, which other readers of IR v10 do not."""
    builder = Builder()
    data = builder.parameter("x", "2")
    builder.result(data)
    builder.result(builder.call("Abs", data, name="z"), "z")
    next(layer for layer in builder.graph.layers() if layer.type == "Result").tag["output_names"] = "y"
    migrated = migrate(builder.model, "openvino-2021.4")
    assert (names(migrated.model)[0], migrated.steps) == ("x", ())
    assert migrated.notes == ("output 'y' is called 'x' in IR v10",)


def test_sizes_of_0_are_known_sizes() -> None:
    builder = Builder()
    empty = builder.constant(np.zeros((0, 3), np.float32))
    builder.result(builder.call("Concat", builder.parameter("x", "2,3"), empty, axis=0))
    assert migrate(builder.model, "openvino-2021.4").refused == ()


@pytest.mark.parametrize(("kind", "taken"), [("f64", "f32"), ("u32", "i64")])
def test_inputs_of_types_that_2021_does_not_take(kind: str, taken: str) -> None:
    migrated = migrate(doubled(kind=kind), "openvino-2021.4")
    assert (
        f"input 'x' has element type {taken}, because OpenVINO 2021.4 does not support inputs of {kind}"
        in migrated.notes
    )
    assert [layer.type for layer in migrated.model.graph.ordered()] == ["Parameter", "Convert", "Add", "Result"]


def test_the_output_of_a_split_has_its_place_among_the_outputs_in_ir_10() -> None:
    """IR v10 knows `split.1`, whatever the ids of the ports, which count the inputs too."""
    builder = Builder()
    parts = builder.outputs("Split", builder.parameter("x", "4"), np.array(0), num_splits=2, name="split")
    for number, part in enumerate(parts):
        builder.result(part, f"part{number}")
    assert migrate(builder.model, "ir10").notes == (
        "output 'part0' is called 'split.0' in IR v10",
        "output 'part1' is called 'split.1' in IR v10",
    )


def test_the_outputs_of_a_split_get_their_places_as_names_in_ir_11() -> None:
    builder = Builder()
    for part in builder.outputs("Split", builder.parameter("x", "4"), np.array(0), num_splits=2, name="split"):
        builder.result(part)
    builder.model.version = 10
    for layer in builder.model.graph.layers():
        for port in layer.outputs:
            port.names = ()
    migrated = migrate(builder.model, "ir11")
    assert [end.name for end in migrated.model.outputs] == ["split.0", "split.1"]


def test_inputs_of_bodies_keep_their_types_for_2021() -> None:
    text, weights = killers.endless(3)
    model = read(text.replace(b"f32", b"f64").replace(b"FP32", b"FP64"), weights)
    fitting = Fitting(model, Target.of("openvino-2021.4"))
    fitting.apply(model, None)
    kinds = {path: layer.raw["element_type"] for path, layer, _ in model.walk() if layer.type == "Parameter"}
    assert kinds == {"Parameter_0": "f32", "loop/body/Parameter_0": "f64"}
    assert [step.after for step in fitting.steps] == ["Parameter of f32 + Convert"]


def ran(migrated: Migration, version: str, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    assert migrated.ok
    found = kept_client(version).infer_model(migrated.model, {migrated.model.inputs[0].name: data})
    return next(iter(found.outputs.values()))


@pytest.mark.parametrize("version", ["2021.4", "2022.1", "2022.3", "2023.3"])
def test_older_releases_read_the_values_of_packed_types(version: str) -> None:
    migrated = migrate(weighed("i4", [-8, 7, 0, -1]), f"openvino-{version}")
    assert ran(migrated, version, np.zeros(4, np.float32)).tolist() == [-8, 7, 0, -1]


UNREAD = {"2021.2": {"weights"}, "2021.4": {"dynamic"}, "2022.1": set[str](), "2026.4": set[str]()}


@pytest.mark.parametrize(("version", "removed"), UNREAD.items())
def test_layers_that_no_result_needs_stay_unless_their_ports_cannot_be_read(version: str, removed: set[str]) -> None:
    """Releases read all ports, but what they lack of operations and right values does not matter here."""
    builder = Builder(name="unread")
    data = builder.parameter("x", [3, 4])
    builder.result(builder.call("ReLU", data))
    builder.call("Slice", data, [0], [2], [1], name="rows")
    builder.call("Convert", packed_constant(builder, "i4", np.array([1, -8])), destination_type="bf16", name="few")
    builder.call("Abs", builder.call("NonZero", data, name="dynamic"), name="behind")
    fed = np.arange(-6, 6, dtype=np.float32).reshape(3, 4)
    before = {one.release.short: one.answer for one in compat(builder.model)}
    assert before[version] == ("stopped" if removed else "runs")
    migrated = migrate(builder.model, f"openvino-{version}")
    assert {step.path for step in migrated.steps if step.strategy == "removed"} == removed
    assert {"rows", "few", "behind"} - {layer.name for layer in migrated.model.graph.layers()} == (
        {"2021.2": {"few"}, "2021.4": {"behind"}}.get(version, set())
    )
    np.testing.assert_array_equal(ran(migrated, version, fed), np.maximum(fed, 0))


@pytest.mark.parametrize(
    ("kind", "last_wrong", "first_right"),
    [
        ("i4", "2024.1", "2024.2"),
        ("nf4", "2024.6", "2025.0"),
        ("f4e2m1", "2025.1", "2025.2"),
        ("u2", "2025.4", "2026.0"),
    ],
)
def test_inputs_of_packed_types_are_refused_where_they_are_not_compiled(
    kind: str, last_wrong: str, first_right: str
) -> None:
    """Asked of the releases themselves."""
    builder = Builder(name="packed")
    builder.result(builder.call("Convert", builder.parameter("x", [2], kind), destination_type="f32"))
    packed = in_element_type(np.zeros(2, element_type(kind).held_dtype), element_type(kind))
    answers = {one.release.short: one for one in compat(builder.model)}
    for version, state in ((last_wrong, "reads"), (first_right, "runs")):
        assert answers[version].answer == state
        with client_of(version) as client, nullcontext() if state == "runs" else pytest.raises(RuntimeFailure):
            client.infer_model(builder.model, {"x": packed})
    assert "inputs of element type" in answers[last_wrong].why
    (refused,) = migrate(builder.model, f"openvino-{last_wrong}").refused
    assert f"OpenVINO {first_right} and later compile it" in refused.reason


def test_inputs_that_no_release_compiles_are_refused_by_all() -> None:
    builder = Builder(name="packed")
    builder.result(builder.call("Convert", builder.parameter("x", [2], "u3"), destination_type="f32"))
    (refused,) = migrate(builder.model, "openvino-2023.3").refused
    assert "its output has element type u3, which OpenVINO 2023.3 does not support" in refused.reason
    (refused,) = migrate(builder.model, "openvino-2026.4").refused
    assert refused.reason.endswith(
        "inputs of element type u3 are not compiled; no release of OpenVINO is known to compile it"
    )


def test_2021_gives_a_tensor_twice() -> None:
    migrated = migrate(twice(), "openvino-2021.4")
    data = np.arange(8, dtype=np.float32).reshape(2, 4)
    found = kept_client("2021.4").infer_model(migrated.model, {"x": data}).outputs
    np.testing.assert_array_equal(found["a"], data[:, 2:])
    np.testing.assert_array_equal(found["c"], data[:, :2])


def test_2022_1_takes_sizes_that_are_joined() -> None:
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(ran(migrate(flattened(), "openvino-2022.1"), "2022.1", data), data.reshape(2, 12))


@pytest.mark.parametrize("kind", ["f32", "f16", "f64", "u32", "i64", "u8"])
def test_2021_takes_the_inputs(kind: str) -> None:
    migrated = migrate(doubled("2", kind), "openvino-2021.4")
    dtype = element_type(migrated.model.inputs[0].layer.raw["element_type"]).dtype
    assert ran(migrated, "2021.4", np.array([1, 2], dtype)).tolist() == [2, 4]


def test_notes_have_the_names_that_layers_get() -> None:
    builder = Builder(opset=7)
    data = builder.parameter("x", [2, 3], "u8")
    builder.result(builder.call("Add", data, builder.constant(np.ones(3, np.uint8)), name="sum"), "y")
    (note,) = (note for note in migrate(builder.model, "openvino-2021.4").notes if "other values" in note)
    assert note.startswith("OpenVINO 2021.4 computes other values for 'y' (Add-1)")


@pytest.mark.parametrize("missing", [0, 1])
def test_weights_that_are_cut_off_stay_as_they_are(missing: int) -> None:
    """Constants that a release reads in another type are stored in it; of the others none has to be there."""
    builder = Builder()
    held = builder.constant(np.array([1, 2], np.int8), "held", "i8")
    builder.graph.layer(held.layer).raw.update(element_type="f8e4m3")
    builder.graph.layer(held.layer).outputs[0].precision = "F8E4M3"
    builder.result(builder.call("Convert", held, destination_type="f32"), "y")
    builder.result(builder.call("ReLU", builder.constant(np.ones(40, np.float32))), "z")
    file = io.BytesIO()
    builder.model.weights.save(file)
    model = read(bytes(render(builder.model)), file.getvalue()[: file.tell() - missing])
    found = migrate(model, "openvino-2023.3").model
    assert [step.path for step in migrate(model, "openvino-2023.3").steps] == ["held"]
    assert (found.weights.stored == file.tell() - missing) is bool(missing)


def test_variables_of_a_model_without_constants_are_rewritten_once(tmp_path: Path) -> None:
    """The zeros that new layers begin with are known, though the file has no `.bin`."""
    builder = Builder(opset=6)
    data = builder.parameter("data", (1, 3))
    state = builder.call("ReadValue", data, variable_id="v", variable_type="f32", variable_shape="1,3")
    builder.call("Assign", state, variable_id="v")
    builder.result(state, "out")
    write(builder.model, tmp_path / "model.xml")
    (tmp_path / "model.bin").unlink()
    found = migrate(read_file(tmp_path / "model.xml"), to="openvino-2021.4")
    names = [layer.raw["variable_id"] for layer in found.model.graph.layers() if layer.type == "ReadValue"]
    assert names == ["v", "v/started"]


def test_variables_are_rewritten_alike_and_keep_their_names() -> None:
    """Three runs give what they gave, each variable on its own; layers of one shape share their constants."""
    builder, names = Builder(opset=6), ["v", "v/started/2", "w&", "x"]
    data = builder.parameter("data", (1, 3))
    for number, name in enumerate(names):
        shape = [1, 3] if name != "x" else [1, 1, 3]
        first = builder.call("Reshape", builder.call("Multiply", data, float(number)), shape, special_zero="false")
        listed = ",".join(map(str, shape))
        state = builder.call("ReadValue", first, variable_id=name, variable_type="f32", variable_shape=listed)
        new = builder.call("Add", builder.call("Multiply", state, 2.0), float(number + 1))
        builder.call("Assign", new, variable_id=name)
        builder.result(new, f"out{number}")
    found = migrate(builder.model, to="openvino-2021.4").model
    layers = [*found.graph.layers()]
    for type in ("ReadValue", "Assign"):
        ids = [layer.raw["variable_id"] for layer in layers if layer.type == type]
        assert sorted(ids) == sorted([*names, *(f"{name}/started" for name in names)])
    zeros = [layer for layer in layers if layer.type == "Const" and layer.raw["shape"] == "1,3"]
    assert len(zeros) == 1
    before, after = Session(builder.model), Session(found)
    for step in range(3):
        given = {"data": np.array([[step + 1, 5, -2]], np.float32)}
        expected, given_now = before.run(given), after.run(given)
        assert all(np.array_equal(expected[name], given_now[name]) for name in expected)


def test_square_scales_of_packed_weights_go_with_them() -> None:
    """They are a square constant themselves, and no longer there once the weights are unpacked."""
    builder = Builder()
    packed = builder.constant(np.arange(8, dtype=np.uint8) * 23, "packed", "u4", (4, 4))
    floats = builder.call("Convert", packed, destination_type="f32")
    weights = builder.call("Multiply", floats, (np.arange(16).reshape(4, 4) / 9).astype(np.float32))
    product = builder.call("MatMul", builder.parameter("data", "2,4"), weights, transpose_a=False, transpose_b=False)
    builder.result(product, "y")
    fed = {"data": np.arange(8, dtype=np.float32).reshape(2, 4)}
    found, wanted = (run(model, fed) for model in (migrate(builder.model, "openvino-2026.1").model, builder.model))
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-6)
