"""Settings at the edges of kernels, shape rules and checks, one by one against the runtime."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product

import numpy as np
import pytest

from ir_tools import execute, read, validation
from ir_tools.comparison import difference
from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.format.write import render
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import Call, Fixed, Given, as_model
from ir_tools.known_differences._model import floats
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient, sources
from ir_tools.types import element_type, format_shape
from tests.ops.single import single_text

WIDE = ("i8", "u8", "i16", "u32", "i64")
CONVOLUTION = {"strides": "2", "pads_begin": "0", "pads_end": "1", "dilations": "1"}
LIMITS = tuple(Fixed(np.array(value)) for value in (-7.12, 7.13, -7.12, 7.13))
BATCH = (2, 3, 2, 3, 3, 2)


def whole(kind: str, *values: int) -> Array:
    dtype = element_type(kind).dtype
    assert dtype is not None
    return np.array(values).astype(dtype)


def axes(*values: int) -> Fixed:
    return Fixed(np.array(values, np.int64))


def ramp(kind: str, *sizes: int) -> Array:
    return whole(kind, *(number * 7 % 19 - 9 * kind.startswith("i") for number in range(np.prod(sizes)))).reshape(sizes)


def between_two_levels() -> Call:
    """Numbers at the border of two levels, and their neighbours, for limits of each channel."""
    low = floats(2.2, -0.6, -2.9, 0.3, -7.3, 1.1).reshape(1, 6, 1, 1)
    high = low + floats(0.4, 1.8, 5, 1, 0.3, 2.7).reshape(1, 6, 1, 1)
    border = (low + high) / 2
    data = np.concatenate([np.nextafter(border, low), border, np.nextafter(border, high)], axis=3)
    limits = (Fixed(low), Fixed(high), Fixed(low - 1), Fixed(high))
    return Call("FakeQuantize-1", (data, *limits), {"levels": "2"})


def calls() -> Iterator[Call]:
    """Layers that kernels had wrong, or failed on; and ends of ranges that random settings do not meet."""
    for kind in ("f16", "bf16"):
        sums = (whole(kind, 2048), np.zeros((16, 1), np.int32), whole(kind, *[1] * 16))
        yield Call("ScatterNDUpdate-15", sums, {"reduction": "sum"})
    for kind in WIDE:
        for type in ("Sinh-1", "Cosh-1", "Exp-1"):
            yield Call(type, (whole(kind, 2, 5, 23, 25, 100),))
        yield Call("BitwiseLeftShift-15", (whole(kind, 3, 100, 7), whole(kind, 2, 4, 6)))
        for name in ("ReduceMax-1", "ReduceMin-1"):
            yield Call(name, (whole(kind).reshape(2, 0), axes(1)), {"keep_dims": "true"})
        for name, places in (("ReduceMean-1", (1, 3)), ("ReduceMean-1", (4, 5)), ("ReduceMean-1", (5, 4))):
            yield Call(name, (ramp(kind, *BATCH), axes(*places)), {"keep_dims": "true"})
        yield Call("Convert-1", (np.array([-3.7, 300.5, -300.5, 7e4, 3e9, -3e9]),), {"destination_type": kind})
    for type in ("Sqrt-1", "Log-1", "Acos-1", "Acosh-4", "Atanh-4"):
        yield Call(type, (whole("i8", -3, 5),))
    for dtype in (np.float16, np.float64):
        yield Call("ReduceMax-1", (np.zeros((2, 0), dtype), axes(1)), {"keep_dims": "false"})
    yield Call("BitwiseLeftShift-15", (whole("i32", 3, 5), whole("i32", 33, 40)))
    yield Call("BitwiseRightShift-15", (whole("i16", -300, 5), whole("i16", 34, 65)))
    yield Call("Maximum-1", (np.array(25), np.array(-10)), {"auto_broadcast": "pdpd"})
    for kind in ("i8", "u8", "i32"):
        limits = np.iinfo(whole(kind).dtype)
        best = {"axis": "0", "mode": "max", "sort": "value", "index_element_type": "i32"}
        yield Call("TopK-3", (whole(kind, 1, limits.min, 0, limits.max), Fixed(np.array(4))), best)
    for mode in ("constant", "edge"):
        yield Call("Pad-12", (ramp("i32", 2, 6), axes(1, -1), axes(0, -2)), {"pad_mode": mode})
    yield Call("Gather-8", (ramp("i32", 2, 3), whole("i32", 3, 2, 0, -3, -4), Fixed(np.array(1))), {"batch_dims": "0"})
    for reduction, keeps in product(("mean", "sum"), ("true", "false")):
        raw = {"reduction": reduction, "use_init_val": keeps}
        rows, updates = Fixed(whole("i32", 0, 0, 1)), whole("i32", -4, -3, 5)
        yield Call("ScatterElementsUpdate-12", (whole("i32", -1, -8, 9), rows, updates, axes(0)), raw)
    yield Call("PReLU-1", (-np.arange(18, dtype=np.float32).reshape(2, 3, 3), Fixed(floats(0.5, 2, -1))))
    yield Call("PReLU-1", (-np.arange(6, dtype=np.float32).reshape(2, 3), Fixed(floats(0.5, 2, -1).reshape(1, 1, 3))))
    yield Call("BatchToSpace-2", (ramp("i32", 2, 3, 2), axes(1, 1, 2), axes(0, 0, 1), axes(0, 0, 3)))
    yield Call("FakeQuantize-1", (np.array(4.5), *LIMITS), {"levels": "3"})
    yield between_two_levels()
    empty, filters = np.zeros((0, 2, 3), np.float32), Fixed(np.ones((2, 3, 2), np.float32))
    yield Call("ConvolutionBackpropData-1", (empty, filters), CONVOLUTION)
    for size in (4, 5):
        window, frames = np.ones(size, np.float32), ramp("i32", size // 2 + 1, 4, 2).astype(np.float32)
        numbers = (Fixed(np.array(size)), Fixed(np.array(2)))
        yield Call("ISTFT-16", (frames, window, *numbers), {"center": "true", "normalized": "false"})


def case_id(call: Call) -> str:
    kinds = [feed.dtype.name if isinstance(feed, np.ndarray) else "-" for feed in call.inputs]
    return "-".join([call.op, *kinds[:1], *call.raw.values()])


CALLS = tuple(calls())


@pytest.mark.parametrize("call", CALLS, ids=case_id)
def test_values(call: Call, client: RuntimeClient) -> None:
    """Values, shapes and types are the runtime's; validation finds nothing wrong; in f64 it runs, too."""
    model, fed = as_model(call)
    wanted = client.infer_model(model, fed, config={"INFERENCE_NUM_THREADS": "1"}).outputs
    found = execute.run(model, fed)
    for ours, theirs in zip(found.values(), wanted.values(), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert difference(ours, theirs).ok, (ours, theirs)
    execute.run(model, fed, precision="f64")
    assert [fault for fault in validation.validate(model) if fault.severity.name == "ERROR"] == []


@pytest.mark.parametrize("call", CALLS[-2:], ids=case_id)
def test_shapes(call: Call, client: RuntimeClient) -> None:
    model, _ = as_model(call)
    layer = next(layer for layer in model.graph.layers() if layer.type == call.operation.type)
    with sources(model) as (text, weights):
        rows = client.shapes(text, weights)
    facts = propagate_shapes(model).facts
    for number, port in enumerate(layer.outputs):
        assert format_shape(facts[layer.name, port.id].shape) == rows[layer.name, number][1]


@pytest.mark.parametrize("shape", ["0", "2,0", "2,3", "?,0"])
def test_symbols_of_strings(shape: str, client: RuntimeClient) -> None:
    """No string has no symbols; how many others have is not known."""
    text, _ = single_text("StringTensorUnpack", 15, {}, [("string", shape)], 3)
    (wanted,) = (row[1] for name, row in client.shapes(text, None).items() if name == ("op", 2))
    facts = propagate_shapes(read(text)).facts
    assert format_shape(facts["op", 3].shape) == wanted


TOLD: Mapping[str, Call] = {
    "a scalar reduced along computed axes": Call(
        "ReduceMax-1", (whole("u8", 4).reshape(()), np.array([0])), {"keep_dims": "true"}
    ),
    "a spectrum along computed axes": Call("RDFT-9", (np.ones((2, 4), np.float32), np.array([1]))),
    "strings of nothing": Call(
        "StringTensorPack-15", (np.zeros((3, 0), np.int32), np.zeros((3, 0), np.int32), whole("u8", 97))
    ),
}
"""Layers that kill the runtime, or that it refuses."""


@pytest.mark.parametrize("name", TOLD)
def test_what_dies_is_told(name: str) -> None:
    model, fed = as_model(TOLD[name])
    with RuntimeClient(timeout=30) as fresh, pytest.raises(RuntimeFailure):
        fresh.infer_model(model, fed)
    assert any(found.layer_name == TOLD[name].operation.type for found in validation.validate(model))


def test_offsets_behind_the_last_index() -> None:
    table, indices = np.ones((2, 2), np.float32), np.array([0, 1])
    for last, told in ((1, False), (2, True)):
        model, _ = as_model(Call("EmbeddingBagOffsetsSum-3", (table, indices, Fixed(np.array([0, last])))))
        assert any(found.severity.name == "ERROR" for found in validation.validate(model)) == told


@pytest.mark.parametrize("kind", ["u4", "i4", "u2", "nf4", "f4e2m1"])
def test_packed_inputs(kind: str, client: RuntimeClient) -> None:
    """The bytes of packed elements are taken as the runtime takes them."""
    raw = {"destination_type": "f32"}
    model, _ = as_model(Call("Convert-1", (Given(np.zeros((3, 5), np.uint8), "3,5"),), raw))
    text = render(model).replace(b'element_type="u8"', f'element_type="{kind}"'.encode())
    text = text.replace(b'precision="U8"', f'precision="{element_type(kind).precision}"'.encode())
    packed = np.arange(element_type(kind).byte_size(15), dtype=np.uint8) * 37
    fed = {read(text).inputs[0].name: packed}
    (wanted,) = client.infer(text, None, fed).outputs.values()
    (found,) = execute.run(read(text), fed).values()
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("mode", "begin", "end", "told"),
    [
        ("reflect", 3, 0, "at most 2"),
        ("symmetric", 0, 4, "at most 3"),
        ("constant", -2, -2, "remove 4 of the 3 elements"),
    ],
)
def test_pads_beyond_the_data(mode: str, begin: int, end: int, told: str) -> None:
    """The executor refuses them, also where the pads are computed while it runs."""
    pads = [Call("Add-1", (np.array([pad]), np.array([0]))) for pad in (begin, end)]
    model, fed = as_model(Call("Pad-1", (np.arange(3.0), *pads), {"pad_mode": mode}))
    with pytest.raises(ShapeError, match=told):
        execute.run(model, fed)


@pytest.mark.parametrize(
    ("raw", "axes"),
    [
        ({"across_channels": "true", "reduction_axes": "2,3"}, (2, 3)),
        ({"across_channels": "false", "reduction_axes": "1,2,3"}, (1, 2, 3)),
        ({"across_channels": "false", "reduction_axes": "3"}, (2, 3)),
        ({"across_channels": "true"}, (1, 2, 3)),
    ],
    ids=["no-channels", "channels", "width-counts-as-height-and-width", "no-reduction_axes"],
)
def test_axes_of_the_first_mvn(raw: dict[str, str], axes: tuple[int, ...], client: RuntimeClient) -> None:
    """`reduction_axes` decides whether channels are taken together, and nothing else."""
    data = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32) * 3
    model, fed = as_model(Call("MVN-1", (data,), {"eps": "1e-6", "normalize_variance": "true", **raw}))
    exact = (data - data.mean(axes, keepdims=True)) / np.sqrt(data.var(axes, keepdims=True) + 1e-6)
    for (found,) in (execute.run(model, fed).values(), client.infer_model(model, fed).outputs.values()):
        np.testing.assert_allclose(found, exact, atol=1e-4)


def known_call(type: str, *inputs: Array, **raw: str) -> Call:
    return Call(type, tuple(map(Fixed, inputs)), raw)


@pytest.mark.parametrize(
    "call",
    [
        known_call("Pad-12", np.array(2.5), np.zeros(0, np.int64), np.zeros(0, np.int64), pad_mode="edge"),
        known_call("Gather-8", np.zeros((0, 3, 2)), np.zeros(0, np.int64), np.array(1), batch_dims="1"),
        known_call("ScatterElementsUpdate-3", np.zeros((2, 2)), np.ones((3, 1), int), np.ones((3, 1)), np.array(1)),
    ],
    ids=lambda call: call.op,
)
def test_values_of_constants_that_are_scalar_empty_or_out_of_range(call: Call) -> None:
    """Shapes are worked out, or the layer is refused in words, by rule and executor."""
    model, fed = as_model(call)
    with suppress(ShapeError):
        propagate_shapes(model)
    with suppress(ShapeError):
        execute.run(model, fed)


def test_broadcast_refuses_what_the_axis_does_not_fit() -> None:
    model, fed = as_model(Call("Broadcast-3", (floats(1, 2), Fixed(np.array([2, 2]))), {"mode": "pdpd"}))
    with pytest.raises(ShapeError, match="cannot be broadcast"):
        execute.run(model, fed)


@pytest.mark.parametrize(("reduction", "wanted"), [("max", -3), ("min", -5), ("prod", 15), ("sum", -8)])
def test_a_reduction_without_the_first_value_forgets_it(reduction: str, wanted: float) -> None:
    """100, and -100, are combined with -5 and -3 twice, by hand."""
    places, updates = Fixed(np.zeros((2, 2), np.int64)), floats(-5, -5, -3, -3).reshape(2, 2)
    raw = {"reduction": reduction, "use_init_val": "false"}
    call = Call("ScatterElementsUpdate-12", (floats(100, -100, 9, 9).reshape(2, 2), places, updates, axes(0)), raw)
    (found,) = execute.run(*as_model(call)).values()
    assert found.tolist() == [[wanted, wanted], [9, 9]]
