"""Random layers of every operation in the table: its sample with other attributes, inputs, shapes and element types."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ir_tools.ops import FAMILIES, Array, Op
from ir_tools.ops.fields import Field, Flag, Float, Floats, Int, Ints, OneOf, Type
from ir_tools.types import ELEMENT_TYPES, element_type, from_dtype
from tests.ops.around import around
from tests.ops.layer_support import COMPUTED_KINDS, Setting
from tests.ops.samples import Sample, ints, sample, sample_of, scalar
from tests.ops.single import Between, Fed, Slot

Rng = np.random.Generator
MORE = {
    "Parameter-1": sample("element_type=f32;shape=2,3"),
    "Const-1": sample("element_type=f32;shape=2,3;offset=0;size=24"),
    "Assign-3": sample("variable_id=v", "f32 2,3"),
    "Assign-6": sample("variable_id=v", "f32 2,3"),
    "Broadcast-1": sample("mode=pdpd;mode.auto_broadcast_axis=1", "f32 3", ints(2, 3), ints(0)),
    "Bincount-17": sample("minlength=0", "i32 4"),
    "ConvertPromoteTypes-14": sample("promote_unsafe=true", "u64 2", "i32 2"),
    "PSROIPooling-1": sample(
        "output_dim=1;group_size=2;spatial_scale=0.5;mode=bilinear;spatial_bins_x=2;spatial_bins_y=2",
        *("f32 1,16,8,8", "f32 2,5"),
    ),
    "Broadcast-3": sample("mode=explicit", "f32 3", ints(2, 3), ints(1)),
    "MulticlassNms-9": sample("", "f32 2,6,4", "f32 2,6", "i32 1"),
    "StridedSlice-1": sample(
        "begin_mask=0,1,0;end_mask=1,0,0;new_axis_mask=0,0,1;shrink_axis_mask=0,0,0;ellipsis_mask=0,0,0",
        *("f32 4,5", ints(1, 0, 0), ints(3, 4, 1), ints(2, 2, 1)),
    ),
    **dict.fromkeys(("NV12toRGB-8", "NV12toBGR-8"), sample("", "f32 1,4,4,1", "f32 1,2,2,2")),
    **dict.fromkeys(("I420toRGB-8", "I420toBGR-8"), sample("", "f32 1,4,4,1", "f32 1,2,2,1", "f32 1,2,2,1")),
}
"""Where the table of samples has none, or one that reads less."""
OPTIONAL: Mapping[str, tuple[Slot, ...]] = {
    "Swish-4": (scalar(1.5, "f32"),),
    **dict.fromkeys(("DFT-7", "IDFT-7", "RDFT-9", "IRDFT-9"), (ints(3),)),
    "ISTFT-16": (scalar(40),),
    "ScaledDotProductAttention-13": (("f32", "1,1,4,6"), scalar(0.5, "f32"), ("f32", "1,2,4,1")),
    **dict.fromkeys(("DetectionOutput-1", "DetectionOutput-8"), (("f32", "1,4"), ("f32", "1,8"))),
    "LSTMCell-1": (("f32", "9"),),
    "DeformablePSROIPooling-1": (("f32", "2,2,1,1"),),
    **dict.fromkeys(("CTCGreedyDecoderSeqLen-6", "CTCLoss-4"), (scalar(1, "i32"),)),
    **dict.fromkeys(("NonMaxSuppression-5", "NonMaxSuppression-9"), (scalar(0.5, "f32"),)),
    **dict.fromkeys(("ConvolutionBackpropData-1", "GroupConvolutionBackpropData-1"), (ints(10, 10),)),
    "DeformableConvolution-8": (("f32", "1,9,6,6"),),
    "SegmentMax-16": (scalar(4),),
    "Eye-9": (ints(2),),
    "Unique-10": (scalar(1),),
    "Bincount-17": (("f32", "4"),),
}
"""Inputs that follow those of a sample."""
OPS = [
    op
    for family in FAMILIES
    for op in family.OPS
    if op.inputs and op.shape and op.last_opset is None and sample_of(op) and op.type not in {"Result", "ReadValue"}
]
KINDS = [kind.name for kind in ELEMENT_TYPES.values() if kind.kind != "dynamic"]
SPECIAL = (0.0, -1.0, 1.0, 0.5, -2.5, 1e30, np.inf, -np.inf, np.nan)


def given(rng: Rng, op: Op) -> Sample:
    """A sample of the operation."""
    found = samples(op)
    return found[rng.integers(len(found))]


def samples(op: Op) -> list[Sample]:
    """The samples of an operation, of which one has all inputs."""
    plain = sample_of(op)
    full = None if plain is None or str(op) not in OPTIONAL else replace(plain, slots=plain.slots + OPTIONAL[str(op)])
    return [one for one in (plain, MORE.get(str(op)), full) if one is not None]


def outputs_of(op: Op) -> int:
    """How many outputs the samples have."""
    return 2 if op.outputs[-1].many else len(op.outputs)


# --- attributes -------------------------------------------------------------------------------------------------


def raw_of(rng: Rng, op: Op, raw: dict[str, str]) -> dict[str, str]:
    """The attributes of a sample, some of them with other values or absent."""
    raw = dict(raw)
    for name, spec in op.attrs.items():
        if rng.random() >= max(0.25, 1 / len(op.attrs)) * 0.7:
            continue
        key = spec.xml or name
        if rng.random() < 0.1:
            raw.pop(key, None)
        else:
            raw[key] = text_of(rng, spec, raw.get(key))
    return raw


def text_of(rng: Rng, spec: Field, text: str | None) -> str:
    """Another value of an attribute."""
    if isinstance(spec, Flag):
        return str(rng.choice(["true", "false"]))
    if isinstance(spec, OneOf):
        return str(rng.choice([*spec.words, *spec.synonyms]))
    if isinstance(spec, Type):
        return str(rng.choice(KINDS))
    if isinstance(spec, Int):
        return str(near(rng, int(text or 0)))
    if isinstance(spec, Float):
        return str(rng.choice([0.25, 1e-5, 3.0, -1.5, 0.0, 1.0]))
    if isinstance(spec, Ints | Floats):
        numbers = [float(word) for word in (text or "1,1").split(",")]
        numbers[rng.integers(len(numbers))] = near(rng, int(numbers[-1]))
        return ",".join(f"{number:g}" for number in [*numbers, *numbers[:1]][: len(numbers) + (rng.random() < 0.1)])
    return text or "a"


def near(rng: Rng, value: int) -> int:
    """An integer near another, or a small one."""
    return int(rng.choice([value - 1, value + 1, value + 1, value * 2, -value, 0, -1, 1, 2, 3]))


# --- inputs -----------------------------------------------------------------------------------------------------


def slots_of(rng: Rng, op: Op, slots: Sequence[Slot]) -> list[Slot]:
    """The inputs of a sample, some of another element type, fewer or other values."""
    out = list(slots)
    least = sum(not one.optional for one in op.inputs)
    if len(out) > least and rng.random() < 0.2:
        out = out[: rng.integers(least, len(out))]
    if rng.random() < 0.15:
        kind = str(rng.choice(["i64", "i64", "i32"]))
        return [small(rng, kind) if isinstance(slot, tuple) else slot for slot in out]
    if rng.random() < 0.1:
        out = of_rank(rng, out)
    kind = str(rng.choice(KINDS))
    case, which = rng.random(), int(rng.integers(len(out)))
    for number, slot in enumerate(out):
        if isinstance(slot, np.ndarray):
            out[number] = other_values(rng, slot)
        elif isinstance(slot, tuple) and ((case < 0.15 and slot[0] == "f32") or (case < 0.3 and number == which)):
            out[number] = kind, slot[1]
    return out


def small(rng: Rng, kind: str) -> Slot:
    """A few integers of which the values, or their bounds, are known."""
    values = rng.integers(-3, 6, 3)
    if rng.random() < 0.4:
        return values.astype(kind.replace("i", "int"))
    highs = [None if rng.random() < 0.15 else int(low) + int(rng.integers(0, 4)) for low in values]
    return Between(kind, tuple(zip(map(int, values), highs, strict=True)))


def of_rank(rng: Rng, slots: Sequence[Slot]) -> list[Slot]:
    """The inputs with a dimension more or less in all that have as many as the first."""
    first = slots[0][1].count(",") if isinstance(slots[0], tuple) else None
    place = int(rng.integers(4))
    out = list(slots)
    for number, slot in enumerate(slots):
        if isinstance(slot, tuple) and slot[1] and slot[1].count(",") == first:
            sizes = slot[1].split(",")
            sizes = [*sizes[:place], "2", *sizes[place:]] if place < 3 else sizes[1:]
            out[number] = slot[0], ",".join(sizes)
    return out


def other_values(rng: Rng, array: Array) -> Array:
    """A constant, at times with one of its integers changed or counted from the end, or with one more or less."""
    if array.dtype.kind != "i" or not array.size or rng.random() < 0.6:
        return array
    if array.ndim == 1 and rng.random() < 0.2:
        return array[1:] if rng.random() < 0.5 else np.append(array, array[-1:] + 1)
    values = array.copy()
    values.flat[rng.integers(array.size)] += int(rng.choice([-1, -1, 1, -2, 2, -4]))
    return values


def setting(rng: Rng, op: Op) -> Setting:
    """A layer near the sample, of which shapes are known in part."""
    base = given(rng, op)
    slots = around(rng, slots_of(rng, op, base.slots))
    return Setting(op, slots, raw_of(rng, op, dict(base.raw)), outputs_of(op))


# --- values -----------------------------------------------------------------------------------------------------


def fed(rng: Rng, op: Op) -> Fed:
    """A layer near the sample, with arrays."""
    base = given(rng, op)
    slots = slots_of(rng, op, base.slots)
    sizes = sizes_of(rng, slots)
    arrays = [array_of(rng, slot, size) for slot, size in zip(slots, sizes, strict=True)]
    constants = [number for number, slot in enumerate(base.slots[: len(slots)]) if isinstance(slot, np.ndarray)]
    return Fed(op, raw_of(rng, op, dict(base.raw)), arrays, constants, outputs_of(op))


def sizes_of(rng: Rng, slots: Sequence[Slot]) -> list[list[int]]:
    """The sizes of the inputs; at times one that several have becomes another in all of them, or 1 in one."""
    sizes = [
        list(slot.shape)
        if isinstance(slot, np.ndarray)
        else [len(slot.bounds)]
        if isinstance(slot, Between)
        else [int(size) for size in slot[1].split(",") if size]
        for slot in slots
    ]
    loose = [number for number, slot in enumerate(slots) if isinstance(slot, tuple) and sizes[number]]
    if loose and rng.random() < 0.5:
        old, new = int(rng.choice(sizes[rng.choice(loose)])), int(rng.choice([0, 1, 2, 3, 5, 7]))
        for number in loose:
            sizes[number] = [new if size == old else size for size in sizes[number]]
    if loose and rng.random() < 0.3:
        one = sizes[rng.choice(loose)]
        one[rng.integers(len(one))] = 1
    return sizes


def array_of(rng: Rng, slot: Slot, sizes: Sequence[int]) -> Array:
    """Values for an input: small ones, now and then with some that are special."""
    if isinstance(slot, np.ndarray):
        return slot
    if isinstance(slot, Between):
        return rng.integers(-3, 6, sizes)
    dtype = element_type(slot[0]).held_dtype
    if dtype is None or dtype.kind == "O":
        return np.full(sizes, "text", dtype=object)
    if dtype.kind == "b":
        return rng.random(sizes) < 0.5
    if dtype.kind in "iu":
        largest = 3 if rng.random() < 0.7 else 100
        return rng.integers(-largest if dtype.kind == "i" and rng.random() < 0.4 else 0, largest, sizes).astype(dtype)
    values = np.round(rng.normal(size=sizes) * float(rng.choice([1, 8])), 2)
    if values.size and rng.random() < 0.3:
        values.flat[rng.integers(values.size)] = rng.choice(SPECIAL)
    with np.errstate(all="ignore"):
        return values.astype(np.float32).astype(dtype)


def computes(layer: Fed) -> bool:
    """Whether the runtime can be asked: the types are those that it computes in."""
    return all(from_dtype(array.dtype).name in COMPUTED_KINDS for array in layer.arrays)


def layer(rng: Rng, op: Op) -> Fed:
    """A random layer with arrays of types that the runtime computes."""
    return next(one for one in iter(lambda: fed(rng, op), None) if computes(one))


def layers(op: Op, count: int, seed: int) -> Iterator[Fed]:
    """Random layers with arrays."""
    rng = np.random.default_rng(seed)
    return (layer(rng, op) for _ in range(count))


def settings(op: Op, count: int, seed: int) -> Iterator[Setting]:
    """Random layers of which shapes are known in part."""
    rng = np.random.default_rng(seed)
    return (setting(rng, op) for _ in range(count))
