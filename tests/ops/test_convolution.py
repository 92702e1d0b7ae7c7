"""Convolutions and patches against the installed runtime: partial shapes, faults, element types, values."""

from collections.abc import Callable

import numpy as np
import pytest

from ir_tools import execute
from ir_tools.builder import Builder
from ir_tools.errors import ShapeError
from ir_tools.known_differences import named
from ir_tools.ops import Array, Op, _convolution_kernels, convolution, patches
from ir_tools.ops.fields import listed
from tests.ops.layer_support import fact_of, faults_of
from tests.ops.math_support import (
    AMOUNTS,
    FLOATS,
    INTEGERS,
    TYPES,
    Case,
    agreement,
    kinds,
    random_array,
    random_shape,
    runtime_shapes,
    shape_difference,
    values_agree,
)
from tests.ops.single import CORE, Between, Slot, attrs_of, computed, infer, single_text, slots_of

BY_NAME = {str(op): op for op in (*convolution.OPS, *patches.OPS)}
PLAIN = [op for op in convolution.OPS if "Deformable" not in op.type]
DEFORMABLE = [op for op in convolution.OPS if "Deformable" in op.type]


# --- partial shapes ---------------------------------------------------------------------------------------------


def random_convolution(rng: np.random.Generator, op: Op) -> Case:
    """Any of the plain convolutions; most are valid."""
    rank = 2 if op.type == "BinaryConvolution" else int(rng.integers(1, 4))
    grouped, backward = op.type.startswith("Group"), "Backprop" in op.type
    groups, into, out = int(rng.integers(1, 4)) if grouped else 1, int(rng.integers(1, 4)), int(rng.integers(1, 4))
    known = 0.5 if rng.random() < 0.6 else 1.0
    channels = [into, out] if backward else [out, into]
    data = random_shape(rng, [2, groups * into, *rng.integers(1, 9, rank)], known)
    filters = random_shape(rng, [*([groups] if grouped else []), *channels, *rng.integers(1, 4, rank)], known)
    if rng.random() < 0.05:
        data = data.rsplit(",", 1)[0]

    def numbers(low: int, high: int) -> str:
        count = rank if rng.random() < 0.97 else rank + 1
        return listed(rng.integers(low, high + 1, count)) if rng.random() < 0.9 else ""

    raw = {
        "strides": numbers(1, 3),
        "dilations": numbers(1, 2),
        "pads_begin": numbers(0, int(rng.choice([0, 2, 4]))),
        "pads_end": numbers(0, int(rng.choice([0, 2, 4]))),
        "auto_pad": str(rng.choice(["explicit"] * 4 + ["valid", "same_upper", "same_lower"])),
    }
    slots: list[Slot] = [("f32", data), ("u1" if op.type == "BinaryConvolution" else "f32", filters)]
    if backward:
        raw["output_padding"] = numbers(0, 2)
        slots += random_sizes(rng, rank)
    return Case(op, raw, slots)


def random_sizes(rng: np.random.Generator, rank: int) -> list[Slot]:
    """The third input of a backward convolution: mostly none."""
    kind = rng.random()
    if kind < 0.2:
        return [rng.integers(1, 12, rank)]
    if kind < 0.3:
        return [Between("i64", tuple((int(low), int(low) + 2) for low in rng.integers(0, 5, rank)))]
    return [("i64", str(rank))] if kind < 0.35 else []


def random_deformable(rng: np.random.Generator, op: Op) -> Case:
    """A deformable convolution whose tables of offsets mostly fit."""
    group, tables, into, out = (int(size) for size in rng.integers(1, 3, 4))
    kernel, strides, dilations = (rng.integers(1, high, 2) for high in (4, 3, 3))
    begin, end = rng.integers(0, 2, (2, 2))
    sizes = rng.integers(4, 9, 2)
    auto_pad = str(rng.choice(["explicit"] * 4 + ["valid", "same_upper"]))
    padded = sizes + (begin + end if auto_pad == "explicit" else 0)
    counts = np.maximum((padded - (kernel - 1) * dilations - 1) // strides + 1, 1)
    if auto_pad.startswith("same"):
        counts = -(-sizes // strides)
    known = 0.6 if rng.random() < 0.6 else 1.0
    positions = int(np.prod(kernel)) * tables
    shapes = [
        [2, group * into, *sizes],
        [2, 2 * positions + int(rng.random() < 0.05), *counts],
        [group * out, into, *kernel],
        [2 + int(rng.random() < 0.05), positions, *counts],
    ]
    inputs = 3 if op.version == 1 else int(rng.integers(3, 5))
    raw = {
        "strides": listed(strides),
        "dilations": listed(dilations),
        "pads_begin": listed(begin),
        "pads_end": listed(end),
        "auto_pad": auto_pad,
        "group": str(group),
        "deformable_group": str(tables),
    }
    return Case(op, raw, [("f32", random_shape(rng, shape, known)) for shape in shapes[:inputs]])


def random_patches(rng: np.random.Generator) -> Case:
    raw = {name: listed(rng.integers(1, high, 2)) for name, high in (("sizes", 4), ("strides", 7), ("rates", 3))}
    raw["auto_pad"] = str(rng.choice(["valid", "same_upper", "same_lower"]))
    shape = random_shape(rng, [2, 3, *rng.integers(0, 9, 2)], 0.4)
    return Case(BY_NAME["ExtractImagePatches-3"], raw, [("f32", shape)])


def random_columns(rng: np.random.Generator) -> Case:
    kernel, strides, dilations = (rng.integers(1, high, 2) for high in (4, 3, 3))
    begin, end = rng.integers(0, 2, (2, 2))
    sizes = rng.integers(2, 9, 2)
    counts = np.maximum((sizes + begin + end - (kernel - 1) * dilations - 1) // strides + 1, 1)
    data = [int(np.prod(kernel)) * int(rng.integers(1, 4)), int(np.prod(counts)) + int(rng.random() < 0.1)]
    shape = random_shape(rng, data if rng.random() < 0.3 else [2, *data], float(rng.choice([1.0, 0.5])))
    raw = {"strides": strides, "dilations": dilations, "pads_begin": begin, "pads_end": end}

    def pair(values: np.ndarray) -> Slot:
        kind = rng.random()
        if kind < 0.7:
            return values
        between = Between("i64", tuple((int(value), int(value) + 1) for value in values))
        return between if kind < 0.85 else ("i64", "2")

    texts = {name: listed(values) for name, values in raw.items()}
    return Case(BY_NAME["Col2Im-15"], texts, [("f32", shape), pair(sizes), pair(kernel)])


@pytest.mark.parametrize("op", PLAIN, ids=str)
def test_shapes_of_convolutions(op: Op) -> None:
    assert agreement(lambda rng: random_convolution(rng, op), 100) > 0.6


@pytest.mark.parametrize("op", DEFORMABLE, ids=str)
def test_shapes_of_deformable_convolutions(op: Op) -> None:
    assert agreement(lambda rng: random_deformable(rng, op), 100) > 0.5


def test_shapes_of_patches() -> None:
    assert agreement(random_patches, 100) == 1


def test_shapes_of_columns() -> None:
    assert agreement(random_columns, 100) > 0.7


# --- faults -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", ["5..8", "4..9", "0..3", "7..", "..2"])
@pytest.mark.parametrize("name", ["GroupConvolution-1", "GroupConvolutionBackpropData-1"])
def test_groups_that_follow_from_the_channels(name: str, channels: str) -> None:
    case = Case(BY_NAME[name], WINDOW, [("f32", f"1,{channels},8,8"), ("f32", "?,2,2,3,3")])
    assert shape_difference(case, runtime_shapes([case])[0]) is None


WINDOW = {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,1"}
F32 = ("f32", "1,4,8,8")
FILTERS = ("f32", "6,4,3,3")

BROKEN = [
    ("Convolution-1", {"strides": "1"}, [F32, FILTERS], "strides", "has 1 value; expected 2, one per spatial axis"),
    ("Convolution-1", {"strides": "0,1"}, [F32, FILTERS], "strides", "at least 1"),
    ("Convolution-1", {"pads_begin": "-1,0"}, [F32, FILTERS], "pads_begin", "expected values of at least 0"),
    ("Convolution-1", {"pads_begin": "1000000000,0"}, [F32, FILTERS], "pads_begin", "do not fit into memory"),
    ("Convolution-1", {"dilations": "4,1"}, [F32, FILTERS], "filters", "spans 9 elements, but axis 2"),
    ("Convolution-1", {}, [F32, ("f32", "6,5,3,3")], "filters", "reads 5 channels, but the data has 4"),
    ("Convolution-1", {}, [F32, ("f32", "6,4,3")], "filters", "1 spatial axes, but the data"),
    ("Convolution-1", {}, [("f32", "1,4"), ("f32", "6,4")], "data", "rank 3, 4 or 5"),
    ("GroupConvolution-1", {}, [F32, ("f32", "3,2,1,3,3")], "filters", "in each of 3 groups, but the data has 4"),
    ("ConvolutionBackpropData-1", {"strides": "1000000000,1"}, [F32, ("f32", "4,6,3,3")], "strides", "fit into memory"),
    (
        "ConvolutionBackpropData-1",
        {"pads_begin": "20,0"},
        [F32, ("f32", "4,6,3,3")],
        "pads_begin",
        "remove 20 of the 10",
    ),
    (
        "ConvolutionBackpropData-1",
        {},
        [F32, ("f32", "4,6,3,3"), np.array([5, -1])],
        "output_shape",
        "has a negative size",
    ),
    ("BinaryConvolution-1", {"mode": "and"}, [F32, ("u1", "6,4,3,3")], "mode", "xnor-popcount"),
    (
        "DeformableConvolution-8",
        {"group": "3", "deformable_group": "1"},
        [F32, ("f32", "1,18,6,6"), FILTERS],
        "data",
        "not a multiple of group 3",
    ),
    ("DeformableConvolution-1", {}, [F32, ("f32", "1,18,5,6"), FILTERS], "offsets", "the output has 6,6 positions"),
    ("Col2Im-15", {"strides": ""}, [("f32", "1,12,9"), np.array([4, 4]), np.array([2, 2])], "strides", "crashes"),
    ("Col2Im-15", {}, [("f32", "1,12,8"), np.array([4, 4]), np.array([2, 2])], "data", "has 3,3 windows of 2,2"),
    ("Col2Im-15", {}, [("f32", "1,1,12,9"), np.array([4, 4]), np.array([2, 2])], "data", "expected rank 2 or 3"),
]


@pytest.mark.parametrize(
    ("name", "change", "slots", "attribute", "message"),
    BROKEN,
    ids=[f"{row[0]}-{row[3]}-{index}" for index, row in enumerate(BROKEN)],
)
def test_faults(name: str, change: dict[str, str], slots: list[Slot], attribute: str, message: str) -> None:
    """Each is rejected by the runtime on reading or compiling, or kills it."""
    found = faults_of(BY_NAME[name], {**WINDOW, **change}, slots)
    assert [fault.attribute for fault in found] == [attribute]
    assert message in found[0].message


@pytest.mark.parametrize(
    ("change", "attribute"),
    [
        ({"pads_end": "0,3"}, "pads_end"),
        ({"strides": "1000000000,1"}, "strides"),
        ({"auto_pad": "valid", "pads_begin": "1,1"}, "auto_pad"),
    ],
)
def test_suspects(change: dict[str, str], attribute: str) -> None:
    """The runtime runs these."""
    case = Case(BY_NAME["Convolution-1"], {**WINDOW, **change}, [F32, FILTERS])
    attrs = attrs_of(case.op, case.raw)
    found = list(case.op.check(attrs, [fact_of(slot) for slot in case.slots]))
    assert [(fault.attribute, fault.kind.mild) for fault in found] == [(attribute, True)]


# --- values -----------------------------------------------------------------------------------------------------

LEFT_OUT = named(
    "BinaryConvolution-1 after FakeQuantize",
    "BinaryConvolution-1 of few channels",
    "convolutions of integers beyond 2^24",
)
"""Layers that are not generated."""

NUMBERS = (*FLOATS[1:3], *INTEGERS)


def layer_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    """A convolution of any rank, with the windows that fit."""
    rank = int(rng.integers(1, 4))
    grouped, backward = op.type.startswith("Group"), "Backprop" in op.type
    groups = int(rng.choice([1, 2, 3, 4, 8])) if grouped else 1
    into, out = int(rng.choice([1, 2, 3, 5, 8])), int(rng.choice([1, 2, 3, 4, 7]))
    kernel, strides, dilations = (rng.integers(1, high, rank) for high in (5 if rank < 3 else 4, 4, 3))
    begin, end = (rng.integers(0, 4, rank) * int(rng.random() < 0.6) for _ in range(2))
    auto_pad = str(rng.choice(["explicit"] * 5 + ["valid", "same_upper", "same_lower"]))
    pads = (begin + end) * int(auto_pad == "explicit")
    reach = (kernel - 1) * dilations + 1
    sizes = rng.integers(1, [30, 14, 8][rank - 1], rank)
    raw = {"strides": strides, "dilations": dilations, "pads_begin": begin, "pads_end": end}
    if backward:
        more = np.minimum(rng.integers(0, 3, rank), strides - 1) * int(rng.random() < 0.4)
        raw["output_padding"] = more
        sizes = np.where((sizes - 1) * strides + reach + more > pads, sizes, sizes + pads)
    else:
        sizes = sizes if auto_pad.startswith("same") else np.maximum(sizes, np.maximum(reach - pads, 1))
    channels = [into, out] if backward else [out, into]
    kind = kinds(rng, *NUMBERS)
    arrays = [
        random_array(rng, kind, [int(rng.integers(1, 3)), groups * into, *sizes]),
        random_array(rng, kind, [*([groups] if grouped else []), *channels, *kernel]),
    ]
    constants = [1] if rng.random() < 0.7 else []
    if backward and rng.random() < 0.3:
        arrays.append(rng.integers(1, 12, rank))
        constants.append(2)
    texts = {name: listed(values) for name, values in raw.items()} | {"auto_pad": auto_pad}
    return Case(op, texts, slots_of(arrays, constants)), arrays


def deformable_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    group, tables, into, out = (int(size) for size in rng.integers(1, 4, 4))
    kernel, strides, dilations = (rng.integers(1, high, 2) for high in (4, 3, 3))
    begin, end = rng.integers(0, 3, (2, 2))
    auto_pad = str(rng.choice(["explicit"] * 4 + ["valid", "same_upper", "same_lower"]))
    reach = (kernel - 1) * dilations + 1
    sizes = np.maximum(rng.integers(3, 12, 2), reach)
    counts = (sizes + (begin + end) * int(auto_pad == "explicit") - reach) // strides + 1
    counts = -(-sizes // strides) if auto_pad.startswith("same") else counts
    batch, positions, kind = int(rng.integers(1, 3)), tables * int(np.prod(kernel)), kinds(rng, "f16", "bf16")
    offsets = random_array(rng, "f32", [batch, 2 * positions, *counts]) * rng.choice([0.5, 2])
    offsets = np.round(offsets) if rng.random() < 0.3 else offsets
    data = random_array(rng, kind, [batch, group * tables * into, *sizes])
    arrays = [data, offsets.astype(data.dtype), random_array(rng, kind, [group * out, tables * into, *kernel])]
    raw = {"strides": strides, "dilations": dilations, "pads_begin": begin, "pads_end": end}
    texts = {name: listed(values) for name, values in raw.items()} | {"auto_pad": auto_pad}
    texts |= {"group": str(group), "deformable_group": str(tables)}
    if op.version == 8:
        texts["bilinear_interpolation_pad"] = str(rng.choice(["true", "false"]))
        arrays += [random_array(rng, kind, [batch, positions, *counts])] if rng.random() < 0.6 else []
    return Case(op, texts, slots_of(arrays, [2] if rng.random() < 0.5 else [])), arrays


def patches_values(rng: np.random.Generator) -> tuple[Case, list[Array]]:
    raw = {name: listed(rng.integers(1, high, 2)) for name, high in (("sizes", 4), ("strides", 5), ("rates", 3))}
    raw["auto_pad"] = str(rng.choice(["valid", "same_upper", "same_lower"]))
    arrays = [random_array(rng, kinds(rng, *TYPES), [*rng.integers(1, 4, 2), *rng.integers(1, 12, 2)])]
    return Case(BY_NAME["ExtractImagePatches-3"], raw, slots_of(arrays)), arrays


def columns_values(rng: np.random.Generator) -> tuple[Case, list[Array]]:
    kernel, strides, dilations = (rng.integers(1, high, 2) for high in (4, 4, 3))
    begin, end = rng.integers(0, 3, (2, 2))
    sizes = rng.integers(5, 12, 2)
    counts = (sizes + begin + end - (kernel - 1) * dilations - 1) // strides + 1
    shape = [int(rng.integers(1, 4)) * int(np.prod(kernel)), int(np.prod(counts))]
    data = random_array(rng, kinds(rng, *FLOATS, *INTEGERS), shape if rng.random() < 0.3 else [2, *shape])
    raw = {"strides": strides, "dilations": dilations, "pads_begin": begin, "pads_end": end}
    arrays = [data, sizes, kernel]
    texts = {name: listed(values) for name, values in raw.items()}
    return Case(BY_NAME["Col2Im-15"], texts, slots_of(arrays, [1, 2])), arrays


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("op", [op for op in PLAIN if op.type != "BinaryConvolution"], ids=str)
def test_values_of_convolutions(op: Op, count: int) -> None:
    values_agree(lambda rng: layer_values(rng, op), count, least=0.6)


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("op", DEFORMABLE, ids=str)
def test_values_of_deformable_convolutions(op: Op, count: int) -> None:
    values_agree(lambda rng: deformable_values(rng, op), count)


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("make", [patches_values, columns_values])
def test_values_of_patches(make: Callable[[np.random.Generator], tuple[Case, list[Array]]], count: int) -> None:
    values_agree(make, count)


@pytest.mark.parametrize("pad_value", [-1, 0, 1])
@pytest.mark.parametrize(("channels", "kernel", "pads"), [(8, 3, 0), (16, 3, 1), (64, 1, 0), (32, 3, 1)])
def test_values_of_binary_convolutions(channels: int, kernel: int, pads: int, pad_value: int) -> None:
    """Filters of single bits, in a file as OpenVINO packs them."""
    rng = np.random.default_rng(channels + pad_value)
    out, size = 8, 7
    count = out * channels * kernel * kernel
    packed = rng.integers(0, 256, count // 8).astype(np.uint8)
    data = random_array(rng, "f32", [1, channels, size, size])
    op = BY_NAME["BinaryConvolution-1"]
    raw = {**WINDOW, "mode": "xnor-popcount", "pad_value": str(pad_value)}
    raw |= {"pads_begin": f"{pads},{pads}", "pads_end": f"{pads},{pads}"}
    text, _ = single_text(op.type, 1, raw, [("f32", listed(data.shape)), packed])
    shape = f'shape="{listed([out, channels, kernel, kernel])}"'
    text = text.replace(f'shape="{packed.size}"'.encode(), shape.encode())
    text = text.replace(b'element_type="u8"', b'element_type="u1"').replace(b'"U8"', b'"BIN"')
    wanted = infer(CORE.read_model(text, packed.tobytes()), [data])
    bits = np.unpackbits(packed)[:count].reshape(out, channels, kernel, kernel)
    attrs = attrs_of(op, raw)
    np.testing.assert_array_equal(computed(op, attrs, [data, bits])[0], wanted)


def test_blocks_of_every_sort() -> None:
    """Many groups at a time, some rows of a group, some channels of some rows: all give what one product gives."""
    rng = np.random.default_rng(3)
    op = BY_NAME["GroupConvolution-1"]
    attrs = attrs_of(op, WINDOW)
    for groups, into, out, size, extent in (
        (64, 1, 1, 40, 3),
        (1, 8, 4, 130, 5),
        (1, 300, 3, 40, 5),
        (2, 96, 5, 60, 3),
        (1, 2, 2, 38, 19),
    ):
        data = rng.normal(size=(2, groups * into, size, size))
        filters = rng.normal(size=(groups, out, into, extent, extent))
        windows = np.lib.stride_tricks.sliding_window_view(data, (extent, extent), axis=(2, 3))
        split = windows.reshape(2, groups, into, *windows.shape[2:])
        wanted = np.einsum("ngihwkl,goikl->ngohw", split, filters, optimize=True)
        found = computed(op, attrs, [data, filters])[0]
        np.testing.assert_allclose(found, wanted.reshape(found.shape), rtol=1e-9, atol=1e-9)


def test_strips_of_large_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images that are padded strip by strip give what they give as a whole, in half floats too."""
    rng = np.random.default_rng(4)
    op = BY_NAME["GroupConvolution-1"]
    for _ in range(40):
        case, arrays = layer_values(rng, op)
        attrs = attrs_of(op, case.raw)
        kind = str(rng.choice(["float32", "float16"]))
        floats = [array.astype(kind) for array in arrays]
        monkeypatch.undo()
        (wanted,) = computed(op, attrs, floats)
        monkeypatch.setattr(_convolution_kernels, "STRIP_BYTES", 1)
        (found,) = computed(op, attrs, floats)
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3, err_msg=str(case))


def test_offsets_of_other_sizes_than_the_output_are_refused_where_only_the_data_shows_it() -> None:
    builder = Builder()
    inputs = [builder.parameter(name, "?,?,?,?") for name in ("data", "offsets", "filters")]
    builder.result(builder.call("DeformableConvolution", *inputs, **WINDOW, auto_pad="same_upper"))
    shapes = {"data": (1, 2, 8, 8), "offsets": (1, 18, 6, 6), "filters": (1, 2, 3, 3)}
    fed = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    with pytest.raises(ShapeError, match=r"offsets is \[1,18,6,6\], but the output has 8,8 positions"):
        execute.run(builder.model, fed)
    fed["offsets"] = np.zeros((1, 18, 8, 8), np.float32)
    (found,) = execute.run(builder.model, fed).values()
    assert found.shape == (1, 1, 8, 8)
