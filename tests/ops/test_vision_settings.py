"""Settings of images, sorting, regions and random numbers, one by one, against the CPU plugin; and what is refused."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from ir_tools.errors import RuntimeFailure
from ir_tools.known_differences import find
from ir_tools.ops import Array, Op, ops_of
from ir_tools.ops.checks import check_types
from ir_tools.ops.definition import ViolationKind
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type
from tests.ops.layer_support import fact_of
from tests.ops.single import Slot, attrs_of, computed, single_text

RNG = np.random.default_rng(0)
TWO_THREADS = {"INFERENCE_NUM_THREADS": "2"}
BF16 = element_type("bf16").dtype
SIZES = {"shape_calculation_mode": "sizes"}
PROPOSAL = {
    "base_size": "16",
    "pre_nms_topn": "100",
    "post_nms_topn": "4",
    "nms_thresh": "0.7",
    "feat_stride": "16",
    "min_size": "1",
    "ratio": "1",
    "scale": "1",
}
ALIGN = {"pooled_h": "2", "pooled_w": "2", "sampling_ratio": "2", "spatial_scale": "1", "mode": "avg"}


def op_of(name: str) -> Op:
    type, _, version = name.rpartition("-")
    return next(op for op in ops_of(type) if op.version == int(version))


def by_runtime(client: RuntimeClient, op: Op, raw: Mapping[str, str], arrays: Sequence[Array], fixed: int) -> Array:
    """The first output; inputs from number `fixed` on are constants."""
    slots: list[Slot] = list(arrays)
    for number, array in enumerate(arrays[:fixed]):
        kind = next(name for name in KINDS if element_type(name).dtype == array.dtype)
        slots[number] = (kind, ",".join(map(str, array.shape)))
    text, blob = single_text(op.type, op.version, raw, slots, len(op.outputs))
    fed = {f"in{number}": array for number, array in enumerate(arrays[:fixed])}
    found = client.infer(text, blob, fed, config=TWO_THREADS).outputs
    return next(iter(found.values()))


KINDS = ("f32", "f16", "bf16", "i8", "u8", "i16", "i32", "i64")


def pixels(kind: str, *shape: int) -> Array:
    """Integers of any size that the type has."""
    limits = np.iinfo(kind)
    return RNG.integers(max(limits.min, -100), min(limits.max, 200), shape).astype(kind)


RESIZED = [
    pytest.param(mode, kind, shape, axes, id=f"{mode}-{kind}-{len(shape)}d")
    for mode, shape, axes in (
        ("linear", (1, 2, 3, 4, 5), (3, 4)),
        ("linear", (2, 3, 6, 7), (2, 3)),
        ("cubic", (1, 2, 3, 4, 5), (3, 4)),
        ("bicubic_pillow", (1, 2, 6, 7), (2, 3)),
        ("bilinear_pillow", (1, 2, 6, 7), (2, 3)),
    )
    for kind in ("int8", "uint8", "int32")
    if not (mode == "cubic" and kind == "int32")
]


@pytest.mark.parametrize(("mode", "kind", "shape", "axes"), RESIZED)
def test_integers_are_resized_as_by_the_plugin(
    client: RuntimeClient, mode: str, kind: str, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    op, raw = op_of("Interpolate-11"), {**SIZES, "mode": mode}
    arrays = [pixels(kind, *shape), np.array([7, 4]), np.array(axes)]
    attrs = attrs_of(op, raw)
    assert op.undefined_mask is not None
    (own,), torn = computed(op, attrs, arrays), op.undefined_mask(attrs, arrays)
    assert torn is not None
    assert torn.mean() < 0.2
    assert np.array_equal(own[~torn], by_runtime(client, op, raw, arrays, 1)[~torn])


@pytest.mark.parametrize("kind", ["int8", "int16", "float32"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_grids_of_half_floats(client: RuntimeClient, kind: str, mode: str) -> None:
    """Places are computed in f32; 8-bit integers are rounded, wider ones cut off."""
    op, raw = op_of("GridSample-9"), {"mode": mode, "padding_mode": "border"}
    data = RNG.standard_normal((2, 3, 5, 6)).astype(kind) if kind == "float32" else pixels(kind, 2, 3, 5, 6)
    arrays = [data, RNG.uniform(-1.2, 1.2, (2, 4, 5, 2)).astype(BF16)]
    attrs = attrs_of(op, raw)
    (own,), found = computed(op, attrs, arrays), by_runtime(client, op, raw, arrays, 2)
    assert np.abs(own.astype(float) - found.astype(float)).max() <= 1e-5 * np.abs(data.astype(float)).max() * (
        kind == "float32"
    )


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "i32", "i64"])
def test_seeds_decide_random_numbers(client: RuntimeClient, kind: str, alignment: str) -> None:
    dtype = element_type(kind).dtype
    assert dtype is not None
    raw = {"output_type": kind, "global_seed": "150", "op_seed": str(2**33 + 7), "alignment": alignment}
    op, arrays = op_of("RandomUniform-8"), [np.array([3, 5]), np.array(-3).astype(dtype), np.array(40).astype(dtype)]
    attrs = attrs_of(op, raw)
    (own,), found = computed(op, attrs, arrays), by_runtime(client, op, raw, arrays, 0)
    assert own.dtype == found.dtype
    close = np.abs(own.astype(float) - found.astype(float)).max() <= 40 * (1.6e-2 if kind == "bf16" else 2e-3)
    assert bool(close) is not bool(find(op, attrs, arrays))


def test_points_at_the_edge_of_an_image(client: RuntimeClient) -> None:
    """In f32, a point that lies on the edge by the numbers can lie outside by rounding, or inside."""
    op, raw = (
        op_of("ROIAlign-3"),
        {**ALIGN, "pooled_h": "4", "pooled_w": "3", "sampling_ratio": "3", "spatial_scale": "0.0625"},
    )
    rois = np.array([[75, 9, 78, 31], [32, 30, 41, 40]], np.float32)
    arrays = [pixels("int8", 5, 8, 2, 6).astype(np.float32), rois, np.array([4, 3])]
    attrs = attrs_of(op, raw)
    (own,), found = computed(op, attrs, arrays), by_runtime(client, op, raw, arrays, 2)
    assert np.abs(own - found).max() <= 1e-4 * np.abs(found).max()


def test_places_of_equal_elements_are_undefined() -> None:
    op = op_of("TopK-11")
    attrs = attrs_of(op, {"axis": "0", "mode": "max", "sort": "value"})
    assert op.undefined_mask is not None
    mask = op.undefined_mask(attrs, [np.array([1.0, 3.0, 2.0, 2.0, 0.0, 1.0]), np.array(4)])
    assert mask is not None
    assert mask.tolist() == [False, True, True, True]
    attrs = attrs_of(op, {"axis": "0", "mode": "max", "sort": "index"})
    cut = op.undefined_mask(attrs, [np.array([3.0, 2.0, 2.0]), np.array(2)])
    whole = op.undefined_mask(attrs, [np.array([3.0, 2.0, 2.0]), np.array(3)])
    assert cut is not None
    assert cut.all()
    assert whole is not None
    assert not whole.any()


IMAGE = ("f32", "2,3,4,5")
REFUSED: dict[str, tuple[str, Mapping[str, str], Sequence[Slot]]] = {
    "batch is resized": ("Interpolate-11", {**SIZES, "mode": "nearest"}, (IMAGE, np.array([4, 3, 8, 10]))),
    "volume of integers in cubic": (
        "Interpolate-11",
        {**SIZES, "mode": "cubic"},
        (("i32", "1,1,2,3,4"), np.array([6, 8]), np.array([3, 4])),
    ),
    "mode area": ("Interpolate-1", {"mode": "area", "axes": "2,3"}, (IMAGE, np.array([8, 10]))),
    "sizes of 8 bits": ("Interpolate-1", {"mode": "nearest", "axes": "2,3"}, (IMAGE, np.array([8, 10], np.uint8))),
    "image that is not there": (
        "ROIAlign-3",
        ALIGN,
        (IMAGE, ("f32", "2,4"), np.array([0, 2], np.int32)),
    ),
    "more steps than there are": (
        "CTCGreedyDecoderSeqLen-6",
        {},
        (("f32", "2,5,4"), np.array([5, 6], np.int32)),
    ),
    "few proposals": (
        "Proposal-4",
        PROPOSAL,
        (("f32", "1,2,1,4"), ("f32", "1,4,1,4"), np.array([100, 100, 1], np.float32)),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_runtime_refuses_is_found(client: RuntimeClient, name: str) -> None:
    op, raw, slots = op_of(REFUSED[name][0]), *REFUSED[name][1:]
    text, blob = single_text(op.type, op.version, raw, slots, len(op.outputs))
    with pytest.raises(RuntimeFailure):
        client.attempt(text, blob)
    assert errors(op, raw, slots)


def errors(op: Op, raw: Mapping[str, str], slots: Sequence[Slot]) -> list[str]:
    """What is told of a layer as an error: by the types of its inputs, or by its own check."""
    facts, attrs = [fact_of(slot) for slot in slots], op.read(raw, [])
    assert attrs is not None
    found = [*check_types(op, facts), *op.check(attrs, facts)]
    return [violation.message for violation in found if not ViolationKind(violation.kind).mild]


@pytest.mark.parametrize(
    ("mode", "sizes"), [("nearest", (2, 3, 8, 10)), ("nearest", (2, 6, 8, 10)), ("cubic", (2, 3, 8, 10))]
)
def test_sizes_that_stay_are_no_error(client: RuntimeClient, mode: str, sizes: tuple[int, ...]) -> None:
    op, raw = op_of("Interpolate-11"), {**SIZES, "mode": mode}
    text, blob = single_text(op.type, op.version, raw, (IMAGE, np.array(sizes)))
    client.attempt(text, blob)
    assert not errors(op, raw, (IMAGE, np.array(sizes)))
