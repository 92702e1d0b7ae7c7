"""Convolutions and patches against the installed runtime: partial shapes, faults, element types, values."""

import numpy as np
import pytest

from ir_tools import execute
from ir_tools.builder import Builder
from ir_tools.errors import ShapeError
from ir_tools.ops import _convolution_kernels, convolution, patches
from ir_tools.ops.fields import listed
from tests.ops import table_makers
from tests.ops.layer_support import fact_of, faults_of
from tests.ops.math_support import (
    Case,
    random_array,
    runtime_shapes,
    shape_difference,
)
from tests.ops.single import CORE, Slot, attrs_of, computed, infer, single_text

BY_NAME = {str(op): op for op in (*convolution.OPS, *patches.OPS)}
PLAIN = [op for op in convolution.OPS if "Deformable" not in op.type]


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
    for layer in table_makers.layers(op, 80, seed=4):
        if faults_of(op, layer.raw, layer.arrays):
            continue
        attrs = attrs_of(op, layer.raw)
        kind = str(rng.choice(["float32", "float16"]))
        monkeypatch.undo()
        with np.errstate(all="ignore"):
            floats = [array.astype(kind) for array in layer.arrays]
            (wanted,) = computed(op, attrs, floats)
            monkeypatch.setattr(_convolution_kernels, "STRIP_BYTES", 1)
            (found,) = computed(op, attrs, floats)
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3, err_msg=str(layer))


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
