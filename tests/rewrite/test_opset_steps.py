"""Every operation version that migrates, to every opset: equal on the reference executor, readable, a fixed point."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, product

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.diagnostics import Severity
from ir_tools.errors import IrToolsError, RuntimeFailure, ShapeError
from ir_tools.execute import run
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.infer import ConsistencyCheck
from ir_tools.known_differences import find
from ir_tools.ops import (
    COMPLETE_OPSETS,
    FAMILIES,
    NEWEST_OPSET,
    Array,
    Op,
    Role,
    activations,
    elementwise,
    find_op,
    named_rewrites,
    opset_number,
)
from ir_tools.ops.definition import Lowering, Rewrite
from ir_tools.releases.table import find_release
from ir_tools.rewrite.facts import KnownFacts
from ir_tools.rewrite.migration import migrate
from ir_tools.rewrite.rewriter import Rewriter
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.environments import environment
from ir_tools.runtime.release import release_client
from ir_tools.types import ELEMENT_TYPES, from_dtype
from tests.ops import layer_support
from tests.ops.recorded import RECORDED, load, right_outputs
from tests.ops.samples import Sample, sample, sample_of
from tests.ops.single import ONE_THREAD, Slot
from tests.ops.test_attribute_reads import words

OPERATIONS = {str(op): op for family in FAMILIES for op in family.OPS}
REASONS = {name: op.migrate.reason for name, op in OPERATIONS.items() if isinstance(op.migrate, Lowering)}
MIGRATING = {name: op for name, op in OPERATIONS.items() if op.migrate is not None and not REASONS.get(name)}
UNCOMPARED = {"TopK", "LSTMSequence", "GRUSequence", "RNNSequence"}
"""TopK without an order may give any; of sequences, only those without activations change, which the reference
refuses: `test_release_answers.py` compares them with the same that name theirs."""
SUBSTITUTED = [name for name, op in OPERATIONS.items() if op.substitute is not None and op.type not in UNCOMPARED]
TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float64": 1e-9}
"""Of the largest magnitude; f32: 1e-5."""
ON_RUNTIME = {"float16": 4e-3, "bfloat16": 4e-2}
"""The same on the CPU plugin, which computes f64 in f32."""


@dataclass(frozen=True)
class Setting:
    """A layer and its inputs; those that `constants` numbers are constants of the model."""

    op: Op
    raw: Mapping[str, str]
    arrays: Sequence[Array]
    constants: frozenset[int] = frozenset()

    def model(self, dynamic: int = 0) -> Model:
        """A model of this layer. `dynamic`: 1 hides the sizes of its inputs, 2 their ranks, 3 their first sizes."""
        builder = Builder()
        sources = []
        for number, array in enumerate(self.arrays):
            if number in self.constants:
                sources.append(builder.constant(array, f"in{number}"))
            else:
                shape = (list(array.shape), [-1] * array.ndim, None, [-1, *array.shape[1:]][: array.ndim])[dynamic]
                sources.append(builder.parameter(f"in{number}", shape, from_dtype(array.dtype)))
        for number, output in enumerate(builder.unchecked(self.op, self.raw, sources, "layer")):
            builder.result(output, f"out{number}")
        return builder.model

    def inputs(self) -> dict[str, Array]:
        """What the model is fed."""
        return {f"in{number}": array for number, array in enumerate(self.arrays) if number not in self.constants}

    def __str__(self) -> str:
        """What to look at when it fails."""
        arrays = [f"{array.dtype}{list(array.shape)}" for array in self.arrays]
        return f"{self.op} {dict(self.raw)} {' '.join(arrays)} constants {sorted(self.constants)}"


# --- settings ---------------------------------------------------------------------------------------------------

VARIANTS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "Convert-1": [{"destination_type": "boolean"}],
    "Gelu-7": [{"approximation_mode": "ERF"}, {"approximation_mode": "TANH"}],
    "Round-5": [{"mode": "half_to_even"}, {"mode": "half_away_from_zero"}],
    "IsInf-10": [
        {},
        {"detect_negative": "false"},
        {"detect_positive": "false"},
        {"detect_negative": "0", "detect_positive": "0"},
    ],
    "MVN-1": [{}, {"across_channels": "false", "normalize_variance": "false"}],
    "MVN-6": [{}, {"eps_mode": "OUTSIDE_SQRT"}, {"normalize_variance": "false"}],
    "ReduceL1-4": [{}, {"keep_dims": "true"}],
    "ReduceL2-4": [{}, {"keep_dims": "true"}],
    "ScaledDotProductAttention-13": [{"causal": "false"}, {"causal": "true"}],
    "LogSoftmax-5": [{"axis": "-1"}, {"axis": "0"}, {"axis": "1"}],
    **{name: [{}, {"axis": "2"}, {"axis": "-1"}] for name in ("MaxPool-8", "MaxPool-14")},
}
"""Attributes beyond those of the samples."""
ATTENTION = ("f32 1,2,4,8", "f32 1,2,6,8", "f32 1,2,6,5")
BITS = [
    (array.reshape(-1, 1).astype(name), array[2:].astype(name))
    for name, array in (
        ("int8", np.array([-128, -77, -1, 0, 1, 85, 127])),
        ("uint8", np.array([0, 1, 85, 128, 255])),
        ("int16", np.array([-(2**15), -300, -1, 0, 2**15 - 1])),
        ("uint16", np.array([0, 300, 2**16 - 1])),
    )
]
SPECIAL = np.array([np.inf, -np.inf, np.nan, -0.0, 1, np.finfo(np.float32).max], np.float32)
TRANSFORMS = (([0, 1],), ([-1],), ([1, -1], np.array([4, 7])), ([2], np.array([-1])))
ALONG = sample("auto_broadcast=pdpd;auto_broadcast.auto_broadcast_axis=1", "boolean 2,3,4", "boolean 3")
"""Of two tensors one lies along an axis in the middle of the other."""
BY_NUMBER = [sample("", "f32 2,3,4", "f32 1,1"), sample("", "f16 ", "f16 2,3"), sample("", "f32 1", "f32 1")]
MORE = {
    "AdaptiveAvgPool-8": [
        sample("", "f32 1,2,4,6", np.array(sizes)) for sizes in ([1, 1], [1, 6], [4, 1], [2, 3], [3, 4])
    ],
    "Interpolate-1": [
        sample("axes=2,3;mode=nearest;align_corners=false;pads_begin=0,1,0,0", "f32 1,2,4,5", np.array([7, 8]))
    ],
    "ReduceMean-1": [sample(f"keep_dims={keep}", "f32 2,3,4,5", np.array([2, 3])) for keep in ("true", "false")],
    "Swish-4": [sample("", "f32 2,3", "f32 ")],
    "Select-1": [
        sample("auto_broadcast=pdpd;auto_broadcast.auto_broadcast_axis=0", "boolean 2,3", "f32 2,3,4", "f32 2"),
        *(
            sample("", f"boolean {condition}", f"f32 {then}", f"f32 {other}")
            for condition, then, other in (
                ("2,3,1,2,1,3", "2,3,1,2,1,3", ""),
                ("2,3,1,1,1,1", "2,3,2,2,1,3", "1,1,2,2,1,3"),
                ("2,1,2,1,2,1", "2,3,2,2,2,3", "3"),
                ("2", "2,1,2,1,1,2,2", "2,1,1,1,1,1,1"),
                ("1,1,1,1,1,1", "1,1,1,1,1,1", "1"),
            )
        ),
    ],
    "Divide-1": [
        *(sample("", f"{kind} 2,3", f"{kind} 3") for kind in ("i8", "u8", "i32", "i64")),
        sample("m_pythondiv=false", "i32 2,3", "i32 2,1"),
    ],
    "PReLU-1": [
        sample("", "f32 2,3,4", "f32 3"),
        sample("", "f32 ", "f32 1"),
        sample("", "f32 2,3,4", "f32 3,1"),
        sample("", "f16 2,3,2,2", "f16 3"),
    ],
    "FakeQuantize-1": [
        sample("levels=256", "f32 2,3,4", *(np.full((3, 1), limit, np.float32) for limit in (-1, 2, -1, 2))),
        sample("levels=16", "f16 2,3,4", *(np.full((), limit, np.float16) for limit in (0, 3, 1, -1))),
        sample("levels=2", "f32 2,3,4", *(np.full((), limit, np.float32) for limit in (-0.3, 0.4, -2, 3))),
    ],
    "NormalizeL2-1": [
        sample(f"eps={eps};eps_mode={mode}", "f32 2,3,4,5", np.array(axes))
        for eps, mode, axes in (("2", "max", [1, 2]), ("0.5", "add", [3, -2]), ("1e-6", "add", [1]))
    ],
    "Pad-1": [
        sample("pad_mode=reflect", f"f32 {dims}", np.array(begins), np.array(ends))
        for dims, begins, ends in (
            ("2,4,1", [0, 3, 0], [1, 0, 0]),
            ("1,1,1,3", [0, 0, 0, 2], [0, 0, 0, 1]),
            ("2,3,1,4,1", [1, 0, 0, 2, 0], [0, 2, 0, 3, 0]),
        )
    ],
    "Interpolate-4": [
        sample(f"mode={mode};shape_calculation_mode={by};pads_end={pads}", "f32 2,3,4,5", *amounts, np.array(axes))
        for mode, by, pads, axes in (
            ("linear_onnx", "sizes", "0,0,0,0", [1, 2]),
            ("nearest", "scales", "0,1,1,0", [2, 1]),
            ("cubic", "sizes", "0,0,0,0", [0]),
            ("linear", "scales", "1,0,0,0", [0, 3]),
        )
        for amounts in [(np.array([6, 3][: len(axes)]), np.array([1.5, 2][: len(axes)], np.float32))]
    ],
    "Unsqueeze-1": [sample("", "f32 2,3", np.array(axis)) for axis in (0, 1, -1)],
    "Concat-1": [
        sample("axis=1", "f32 1,2,3", "f32 1,4,3"),
        sample("axis=-1", "i64 1,2", "i64 1,1", "i64 1,3"),
        sample("axis=-3", "f32 1,1,2,2", "f32 1,2,2,2"),
        sample("axis=1", "f32 2,0", "f32 2,3"),
        sample("axis=0", "f32 2,3", "f32 0,3", "f32 1,3"),
    ],
    "Tile-1": [sample("", "f32 2,3", np.array([2, 1, 3])), sample("", "i32 ", np.array([2, 1]))],
    **{
        name: [
            sample("auto_broadcast=pdpd;auto_broadcast.auto_broadcast_axis=1", "f32 2,3,4", "f32 3"),
            sample("auto_broadcast=pdpd;auto_broadcast.auto_broadcast_axis=-1", "f32 2,3,4", "f32 3,4"),
            sample("auto_broadcast=pdpd", "f32 2,3,4", "f32 1,3,4"),
            sample("auto_broadcast=pdpd", "f32 2,3,4", "f32 2,3,1"),
            *(BY_NUMBER if name in {"Add-1", "Subtract-1"} else []),
        ]
        for name in (
            *("Add-1", "Subtract-1", "Multiply-1", "Divide-1", "Maximum-1", "Minimum-1", "Power-1", "FloorMod-1"),
            *("Mod-1", "SquaredDifference-1", "Equal-1", "NotEqual-1", "Greater-1", "GreaterEqual-1", "Less-1"),
            "LessEqual-1",
        )
    },
    "SoftMax-1": [sample("axis=1", "f32 2,8,3"), sample("axis=2", "f32 2,3,4")],
    "SoftMax-8": [sample("axis=-2", "f32 2,8,3"), sample("axis=0", "f32 2,3")],
    "Convolution-1": [
        sample("strides=2,1;pads_begin=0,0;pads_end=0,0;dilations=1,1", "f32 2,3,5,4", "f32 2,3,1,1"),
        sample("strides=2,3;pads_begin=1,2;pads_end=0,3;dilations=1,1", "f32 1,3,5,4", "f32 2,3,1,1"),
    ],
    "MatMul-1": [
        sample("", "f32 2,3,4", "f32 2,4,1"),
        sample("transpose_a=true;transpose_b=true", "f32 2,4,3", "f32 2,1,4"),
        sample("", "f32 3,1", "f32 2,1,5"),
        sample("transpose_b=true", "f32 2,2,3,1", "f32 2,1,5,1"),
        sample("transpose_b=true", "f32 2,1,2,3,4", "f32 2,1,2,5,4"),
        sample("transpose_a=true", "f32 1,1,1,4,3", "f32 2,4,5"),
        sample("", "f32 2,1,2,3,4", "f32 4,5"),
        sample("", "f32 2,1,2,3,4", "f32 1,3,2,4,5"),
    ],
    "MVN-6": [
        sample("eps=0.01;eps_mode=inside_sqrt;normalize_variance=true", "f32 2,3,4,5", np.array(axes))
        for axes in ([1, 2, 3], [-1, -2], [-1], [0, 2])
    ],
    "GroupNormalization-12": [sample("num_groups=3;epsilon=0.01", "f32 2,6", "f32 6", "f32 6")],
    "ScaledDotProductAttention-13": [
        sample("", *ATTENTION, "boolean 1,1,4,6"),
        sample("", *ATTENTION, "f32 4,6", "f32 1"),
        sample("", *ATTENTION, "f32 4,6", "f32 ", "f32 1,2,1,1"),
    ],
    "Eye-9": [sample("output_type=i64", np.array([2]), np.array([3]), np.array([-1]), np.array([2, 1]))],
    "RDFT-9": [
        sample("", "f32 2,6,5", np.array([1, 2])),
        sample("", "f32 2,6,5", np.array([-1, 1])),
        sample("", "f32 2,6,5", np.array([2]), np.array([4])),
    ],
    "IRDFT-9": [
        sample("", "f32 2,6,4,2", np.array([1, 2])),
        sample("", "f32 2,6,4,2", np.array([0, -1]), np.array([2, 7])),
        sample("", "f32 2,6,4,2", np.array([1]), np.array([5])),
        sample("", "f32 2,6,4,2", np.array([2]), np.array([9])),
    ],
    "ConvertPromoteTypes-14": [
        sample("promote_unsafe=true", "f16 2,3", "i32 2,3"),
        sample("promote_unsafe=true", "u8 2,3", "i8 2,3"),
    ],
    "ReadValue-6": [sample("variable_id=v;variable_type=f32;variable_shape=2,3")],
    "Assign-6": [sample("variable_id=v", "f32 2,3")],
    **{name: [sample("", SPECIAL)] for name in ("IsFinite-10", "IsInf-10", "IsNaN-10")},
    **{
        f"Gather-{version}": [
            sample(f"batch_dims={batches}", "f32 2,3,4", np.array(places), np.array(axis))
            for batches, places, axis in ((0, [-1, 2, 0], 1), (0, 1, -1), (0, [1, 1], 0), (1, [[2, -3], [0, 1]], 1))
        ]
        + [sample("batch_dims=-1", "f32 1,3,4", np.array([[2, -3]]), np.array(-2))]
        for version in (7, 8)
    },
    "GatherND-8": [sample("batch_dims=2", "f32 2,3,4,5", "i64 2,3,1")],
    "Bincount-17": [
        sample("minlength=4", np.array([1, 6, 1])),
        sample("minlength=0", np.array([2, 0, 2]), "f32 3"),
        sample("minlength=3", "i32 0"),
    ],
    "SearchSorted-15": [
        sample(f"right_mode={mode}", np.array([1, 2, 2, 5], np.float32), "f32 3,2") for mode in ("true", "false")
    ],
    "Einsum-7": [
        sample(f"equation={equation}", *shapes)
        for equation, *shapes in (
            ("ab->b", "f32 2,3"),
            ("ab->ba", "f32 2,3"),
            ("ab->ab", "f32 2,3"),
            ("abc,dbe->adce", "f32 2,3,4", "f32 5,3,6"),
            ("bhqd,bhkd->bhqk", "f32 1,2,3,4", "f32 1,2,5,4"),
            ("abcd,acde->ae", "f32 2,3,4,5", "f32 2,4,5,6"),
            ("a,b->ba", "f32 2", "f32 3"),
            ("ab,ab->", "f32 2,3", "f32 2,3"),
            ("aib,bc->aci", "f32 2,3,4", "f32 4,5"),
            ("ab,ac->abc", "f32 1,3", "f32 2,4"),
            ("abc,cd->ad", "f32 2,3,4", "f32 4,5"),
            ("ab,cd->ad", "f32 2,3", "f32 4,5"),
            ("...ab,...bc->...ac", "f32 2,1,3,4", "f32 5,4,2"),
            ("a...->...a", "f32 2,3,4"),
            ("ab...,b->a", "f32 2,3,4", "f32 3"),
            ("daa,ba->a", "f32 2,3,3", "f32 4,3"),
            ("aaa->a", "f32 3,3,3"),
            ("da,d->a", "f32 5,2", "f32 1"),
            ("da,dab->b", "f32 1,2", "f32 5,1,3"),
            ("ab,bc,cd->ad", "f32 2,3", "f32 3,4", "f32 4,5"),
            ("ab,ab,a->b", "f32 2,3", "f32 2,3", "f32 2"),
        )
    ],
    "Bucketize-3": [
        sample(f"output_type=i32;with_right_bound={right}", "f32 3,2", np.array([-1, 0.5, 0.5, 5], np.float32))
        for right in ("true", "false")
    ],
    "DFT-7": [sample("", "f32 2,6,5,2", np.array(axes), *sizes) for axes, *sizes in TRANSFORMS],
    "IDFT-7": [sample("", "f32 2,6,5,2", np.array(axes), *sizes) for axes, *sizes in TRANSFORMS],
    "ISTFT-16": [
        sample(f"center={center};normalized={normalized}", f"f32 {shape}", "f32 6", np.array(8), np.array(3), *length)
        for center, normalized, shape, *length in (
            ("true", "true", "2,5,4,2"),
            ("false", "false", "5,4,2"),
            ("true", "false", "5,4,2", np.array(20)),
            ("false", "true", "2,5,4,2", np.array(4)),
        )
    ],
    "GroupedMatMul-17": [
        sample("", "f32 10,4", "f32 3,5,4", np.array([2, 2, 10], np.int32)),
        sample("", "f32 3,2,4", "f32 3,5,4"),
        sample("", "i8 3,2,4", "i8 3,5,4"),
    ],
    "STFT-15": [sample("transpose_frames=true", "f32 2,48", "f32 13", np.array(16), np.array(5))],
    **{
        name: [sample("", "boolean 2,3", "boolean 3"), ALONG, *(sample("", numbers, other) for numbers, other in BITS)]
        for name in ("BitwiseAnd-13", "BitwiseOr-13", "BitwiseXor-13")
    },
    **{
        name: [sample("", numbers, np.array([0, 1, 3, 9, 15, 31, 33], numbers.dtype)) for numbers, _ in BITS]
        for name in ("BitwiseLeftShift-15", "BitwiseRightShift-15")
    },
    "Xor-1": [ALONG],
    "BitwiseNot-13": [sample("", "boolean 2,3"), *(sample("", numbers) for numbers, _ in BITS)],
    **{
        name: [
            sample(f"reduction={reduction};{more}", f"{kind} 4,3", f"i64 {indices}", f"{kind} 2,3", *axis)
            for reduction, kind in product(("sum", "prod", "min", "max"), ("i32", "f32"))
            for more in options
        ]
        for name, indices, options, *axis in (
            ("ScatterElementsUpdate-12", "2,3", ("use_init_val=true", "use_init_val=false"), np.array(0)),
            ("ScatterNDUpdate-15", "2,1", ("",)),
        )
    },
    "ScatterUpdate-3": [sample("", "f32 4,3", np.array([3, 0]), f"f32 {shape}", np.array(0)) for shape in ["2,3"] * 4],
    "ScatterElementsUpdate-3": [sample("", "f32 4,3", np.zeros((0, 3), np.int64), "f32 0,3", np.array(0))],
    "ScatterNDUpdate-4": [sample("", "f32 4,3", np.zeros((0, 1), np.int64), "f32 0,3")],
}
UNCHANGED = {"MaxPool-1", "Proposal-4"}
"""Versions that stay as they are, or are refused."""
NOT_RANDOM = {"Bucketize-3", "GroupedMatMul-17", "SearchSorted-15"}
"""Versions that mean nothing on random numbers, such as rows that are not sorted."""
UNSAMPLED = NOT_RANDOM | {"GRUSequence-5", "LSTMSequence-5", "RNNSequence-5"}
"""Versions whose samples mean nothing, such as lengths above the steps."""
NOT_FED = {"bfloat16", "float64"}
"""Element types of inputs that the API of old releases does not take as they are."""
FLOATS: Sequence[str] = ("f32", "f16", "bf16", "f64")
INTEGERS = [name for name, kind in ELEMENT_TYPES.items() if kind.is_integer and kind.bits >= 8]


def numbers(rng: np.random.Generator, kind: str, shape: Sequence[int], most: int) -> Array:
    """Values of an element type, some of them special; integers up to `most`."""
    dtype = ELEMENT_TYPES[kind].dtype
    assert dtype is not None
    if kind == "boolean":
        return rng.random(tuple(shape)) < 0.5
    if ELEMENT_TYPES[kind].is_integer:
        return rng.integers(0, most + 1, tuple(shape)).astype(dtype)
    values = rng.normal(size=tuple(shape)) * rng.choice([1, 8])
    found: Array = np.where(rng.random(tuple(shape)) < 0.2, np.round(values) + 0.5, values).astype(dtype)
    return found


def samples_of(op: Op) -> list[Sample]:
    """The samples of an operation."""
    one = sample_of(op)
    return [*([one] if one and str(op) not in UNSAMPLED else []), *MORE.get(str(op), [])]


def fixed(op: Op, each: Sample) -> tuple[dict[str, str], frozenset[int], int]:
    """What is the same for all settings of a sample: attributes, which inputs are constants, the largest integer."""
    own = {key: text for key, text in each.raw.items() if key in op.fields}
    constants = frozenset(number for number, slot in enumerate(each.slots) if isinstance(slot, np.ndarray))
    return own, constants, 0 if any("indices" in slot.name for slot in op.inputs) else 99


def of_floats(op: Op, rng: np.random.Generator, each: Sample, kinds: Sequence[str]) -> Iterator[Setting]:
    """A sample in these float types, or as it is if it has no floats, with every variant of attributes."""
    own, constants, most = fixed(op, each)
    floats = any(isinstance(slot, tuple) and slot[0] == "f32" for slot in each.slots)
    for raw, kind in product(VARIANTS.get(str(op), [{}]), kinds if floats else ("f32",)):
        yield Setting(op, {**own, **raw}, arrays_of(rng, each.slots, kind, most), constants)


def sampled(op: Op, rng: np.random.Generator, every: bool = False) -> Iterator[Setting]:
    """The samples of an operation with random numbers and every variant of attributes, the first in all element types.

    `every`: the others, too; else they take turns at the types.
    """
    for number, each in enumerate(samples_of(op)):
        own, constants, most = fixed(op, each)
        floats, integers = FLOATS, INTEGERS
        if number and not every:
            floats, integers = ("f32", FLOATS[1 + number % 3]), [INTEGERS[number % len(INTEGERS)]]
        yield from of_floats(op, rng, each, floats)
        for raw in other_words(op):
            setting = Setting(op, {**own, **raw}, arrays_of(rng, each.slots, "f32", most), constants)
            if is_valid(setting):
                yield setting
        own_setting = Setting(op, own, arrays_of(rng, each.slots, "f32", most), constants)
        yield from (
            one
            for one in of_integers(rng, own_setting, each.slots, min(most, 9), integers)
            if is_valid(one) and not errors(one.model())
        )


def of_integers(
    rng: np.random.Generator, setting: Setting, slots: Sequence[Slot], most: int, kinds: Sequence[str]
) -> Iterator[Setting]:
    """The same with integers in the place of floats, and with constants of these other integer types."""
    for raw in ({}, *other_words(setting.op)) if not cut_off(setting) else ():
        pairs = zip(slots, arrays_of(rng, slots, "i32", most), strict=True)
        arrays = [array - most // 2 if isinstance(slot, tuple) and slot[0] == "f32" else array for slot, array in pairs]
        yield replace(setting, raw={**setting.raw, **raw}, arrays=arrays)
    for number in setting.constants:
        for kind in kinds if setting.arrays[number].dtype.kind in "iu" else ():
            array = setting.arrays[number].astype(ELEMENT_TYPES[kind].dtype)
            if np.array_equal(array, setting.arrays[number]):
                arrays = [array if place == number else other for place, other in enumerate(setting.arrays)]
                yield replace(setting, arrays=arrays)


def cut_off(setting: Setting) -> bool:
    """Whether the runtime cuts off integers that the reference rounds, as it does where one is left of each channel."""
    return str(setting.op) == "AdaptiveAvgPool-8" and set(setting.arrays[1].tolist()) == {1}


def other_words(op: Op) -> Iterator[Mapping[str, str]]:
    """Each word that an attribute takes."""
    for name, field in op.attrs.items():
        yield from ({field.xml or name: word} for word in words(field))


def is_valid(setting: Setting) -> bool:
    """Whether attributes, check and shape rule find nothing wrong."""
    attrs, facts = setting.op.read(setting.raw, []), [layer_support.fact_of(array) for array in setting.arrays]
    try:
        return (
            attrs is not None
            and setting.op.outputs_of(attrs, facts) is not None
            and not any(not fault.kind.mild for fault in setting.op.check(attrs, facts))
        )
    except ShapeError:
        return False


def arrays_of(rng: np.random.Generator, slots: Sequence[Slot], kind: str, most: int) -> list[Array]:
    """What a sample's inputs are fed."""
    return [array_of(rng, slot, kind, most) for slot in slots]


def array_of(rng: np.random.Generator, slot: Slot, kind: str, most: int) -> Array:
    """What a sample's input is fed; `kind` in the place of f32; integers up to `most`."""
    if isinstance(slot, np.ndarray):
        return slot
    assert isinstance(slot, tuple)
    own, shape = slot
    return numbers(rng, kind if own == "f32" else own, [int(size) for size in shape.split(",") if size], most)


OFTEN, SELDOM, UNRECORDED = 9, 6, 12
"""How many random layers of a version are tried each time, and of one that the runtime does not run."""
RANDOM = load()


@cache
def near_samples(name: str, most: int | None = None) -> list[Setting]:
    """Random layers with finite numbers in which nothing is wrong; if it runs them, the runtime computes the same.

    The first `most` of them, or all.
    """
    if name in NOT_RANDOM or f"table values {name}" not in RECORDED:
        return []
    kind, known = f"table values {name}", OPERATIONS[name].fields.keys()
    made = (
        Setting(one.op, {key: one.raw[key] for key in one.raw if key in known}, one.arrays, frozenset(one.constants))
        for one in map(RECORDED[kind].layer, RANDOM[kind] or range(UNRECORDED))
        if all(array.size and (array.dtype.kind in "biuO" or np.isfinite(array).all()) for array in one.arrays)
        and right_outputs(one)
    )
    return [*islice((one for one in made if not errors(one.model())), most)]


@cache
def settings(most: int | None = None, every: bool = True) -> dict[str, list[Setting]]:
    """Settings by version: its samples, `every` of them in all element types, and up to `most` random layers."""
    rng = np.random.default_rng(2)
    return {name: [*sampled(op, rng, every), *near_samples(name, most)] for name, op in MIGRATING.items()}


# --- the test ---------------------------------------------------------------------------------------------------


def unreadable(model: Model, target: int) -> list[str]:
    """The layers that the target opset does not hold."""
    wrong = []
    for _, layer, _ in model.walk():
        op, opset = find_op(layer.type, layer.version), opset_number(layer.version)
        if op is None or opset is None or opset > target or not op.in_opset(opset):
            wrong.append(f"{layer.type} {layer.version}")
    return wrong


def errors(model: Model) -> list[str]:
    """What is wrong with the layers by their own checks."""
    problems = ConsistencyCheck(model).problems
    return [one.message for one in problems if (one.severity or one.rule.severity) is Severity.ERROR]


def difference(found: Array, wanted: Array, tolerance: Mapping[str, float] = TOLERANCE) -> str | None:
    """How two outputs differ, in words."""
    if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
        return f"{found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind not in "fV":
        return None if np.array_equal(found, wanted) else f"{found.tolist()} instead of {wanted.tolist()}"
    left, right = found.astype(np.float64), wanted.astype(np.float64)
    largest = np.abs(right[np.isfinite(right)]).max(initial=1)
    if np.allclose(left, right, rtol=0, atol=tolerance.get(wanted.dtype.name, 1e-5) * largest, equal_nan=True):
        return None
    return f"{np.nanmax(np.abs(left - right))} apart: {left.tolist()} instead of {right.tolist()}"


def failure_of(setting: Setting, model: Model, target: int) -> str | None:
    """How a step fails at a layer of which all is known, where it should give layers or a reason; None if it does."""
    place = next(located for located in model.walk() if located.path == "layer")
    attrs, facts = setting.op.read(place.layer.raw, []), KnownFacts(model).of(place).inputs
    assert setting.op.migrate is not None
    assert attrs is not None
    try:
        setting.op.outputs_of(attrs, facts)
    except ShapeError:
        return None
    try:
        setting.op.migrate(attrs, facts, target)
    except ShapeError as why:
        return f"{setting} to opset{target} fails: {why}"
    return None


def problems_of(setting: Setting, targets: Iterable[int], dynamic: int) -> Iterator[str | None]:
    """For every target that the setting is migrated to with a change, what is wrong there."""
    model = setting.model(dynamic)
    wanted: dict[str, Array] | None = None
    right = not dynamic and not errors(model)
    seen = {bytes(render(model))}
    for target in targets:
        migrated = migrate(model, f"opset{target}")
        assert not migrated.remaining
        if migrated.refused:
            failure = None if dynamic else failure_of(setting, model, target)
            yield from [failure] if failure else []
            continue
        for step in migrate(migrated.model, f"opset{target}").steps if migrated.steps else ():
            yield f"{setting} to opset{target} again: {step}"
        yield from (f"{setting} to opset{target}: {one}" for one in unreadable(migrated.model, target))
        text = bytes(render(migrated.model))
        if text in seen:
            continue
        seen.add(text)
        if right:
            yield from (f"{setting} to opset{target}: {one}" for one in errors(migrated.model))
        with np.errstate(all="ignore"):
            wanted = run(model, setting.inputs()) if wanted is None else wanted
            found = run(migrated.model, setting.inputs())
        differences = {name: difference(found[name], array) for name, array in wanted.items()}
        wrong = [f"{setting} to opset{target}, {name}: {why}" for name, why in differences.items() if why]
        yield from wrong or (None,)


OPSETS = range(1, COMPLETE_OPSETS + 1)


def problems_of_version(name: str, brief: bool = False) -> list[str]:
    """What is wrong with an operation version; `brief`: of fewer settings, and few opsets of each."""
    seen: set[tuple[str, ...]] = set()
    found = [
        problem
        for number, setting in enumerate((settings(SELDOM, every=False) if brief else settings())[name])
        for problem in problems_of(
            setting,
            dict.fromkeys(
                [
                    *(few(setting.op, number) if brief else OPSETS),
                    *(other_answers(setting, seen) if number < FIRST else ()),
                ]
            ),
            (0, 1, 0, 3, 2, 3, 0)[number % 7],
        )
    ]
    assert bool(found) == (name not in UNCHANGED)
    return [problem for problem in found if problem]


FIRST = 3
"""Of how many settings of a version each opset is tried at which its step gives other layers."""


def other_answers(setting: Setting, seen: set[tuple[str, ...]]) -> Iterator[int]:
    """The lowest opset for each list of layers that the step gives and that is not `seen` yet."""
    attrs, facts = setting.op.read(setting.raw, []), [layer_support.fact_of(array) for array in setting.arrays]
    assert setting.op.migrate is not None
    assert attrs is not None
    for target in OPSETS:
        with suppress(ShapeError):
            found = setting.op.migrate(attrs, facts, target)
            layers = tuple(f"{one.type}-{one.opset}" for one in found.layers) if isinstance(found, Rewrite) else ()
            if layers not in seen:
                seen.add(layers)
                yield target


def few(op: Op, number: int) -> list[int]:
    """The opset before the version, and the last one or another in turn."""
    return [max(op.version - 1, 1), 1 + number * 3 % COMPLETE_OPSETS if number % 4 else COMPLETE_OPSETS]


def test_every_version_has_a_step_or_the_reason_why_there_is_none() -> None:
    for name, op in OPERATIONS.items():
        if op.version > 1:
            assert op.migrate is not None, f"{name} needs a step to older opsets, or no_step with a reason"
        if isinstance(op.migrate, Lowering):
            assert op.migrate.version == op.version
            assert bool(op.migrate.reason) == (op.migrate.lower is None)
            assert op.migrate.lower or find_op(op.type, f"opset{op.version - 1}") is None


@pytest.mark.parametrize("name", MIGRATING)
def test_steps_of_every_version(name: str) -> None:
    assert problems_of_version(name, brief=True) == []


def test_an_opset_that_holds_only_what_it_brings_takes_older_versions_as_its_predecessor_does() -> None:
    for name, op in MIGRATING.items():
        one = next(sampled(op, np.random.default_rng(1)), None)
        if one is not None and op.version <= COMPLETE_OPSETS:
            newest, before = (migrate(one.model(), f"opset{last}") for last in (NEWEST_OPSET, COMPLETE_OPSETS))
            assert newest.refused == before.refused, name
            assert render(newest.model) == render(before.model), name


def test_what_the_version_before_reads_alike_is_not_refused() -> None:
    compared = 0
    for op in MIGRATING.values():
        old, rng = find_op(op.type, f"opset{op.version - 1}"), np.random.default_rng(6)
        if old is None or len(old.outputs) < len(op.outputs):
            continue
        known = {field.xml or name for name, field in old.attrs.items()}
        for setting in sampled(op, rng):
            reads = known.issuperset(setting.raw) and len(setting.arrays) <= len(old.inputs)
            if reads and old.read(setting.raw, []) is not None and is_valid(setting):
                migrated = migrate(setting.model(), f"opset{op.version - 1}")
                assert not migrated.refused, f"{setting}: {migrated.refused}"
                compared += 1
    assert compared > 150


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize(("reduction", "rest"), [("sum", (3,)), ("sub", ()), ("sum", (2, 3))])
def test_rows_of_unknown_number_meet_in_rows_of_the_data(reduction: str, rest: tuple[int, ...], kind: str) -> None:
    builder, unknown = Builder(opset=15), [-1 for _ in rest]
    data, rows = (builder.parameter(name, [-1, *unknown], kind) for name in ("data", "rows"))
    indices = builder.parameter("indices", [-1, 1], "i64")
    builder.result(builder.call("ScatterNDUpdate", data, indices, rows, reduction=reduction), "out")
    migrated, rng, dtype = migrate(builder.model, "opset8"), np.random.default_rng(1), ELEMENT_TYPES[kind].dtype
    assert migrated.ok
    for count in (5, 1, 0):
        fed: dict[str, Array] = {
            "data": rng.normal(size=(4, *rest)).astype(dtype),
            "rows": rng.normal(size=(count, *rest)).astype(dtype),
            "indices": rng.integers(-4, 4, (count, 1)),
        }
        assert difference(run(migrated.model, fed)["out"], run(builder.model, fed)["out"]) is None


SPECIAL = np.array(
    [0, -0.0, 0.5, -0.5, 1, -1, 2.5, -3.5, 1e-20, 1e10, 1e20, -1e20, np.inf, -np.inf, np.nan], np.float32
)
ELEMENTWISE = [name for name, op in MIGRATING.items() if op in (*activations.OPS, *elementwise.OPS)]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_steps_at_special_numbers(name: str) -> None:
    """Zeros, large and infinite numbers and NaN, each beside each."""
    op = MIGRATING[name]
    one = sample_of(op)
    assert one is not None
    if not all(isinstance(slot, tuple) and slot[0] == "f32" for slot in one.slots) or len(one.slots) > 2:
        return
    arrays = (
        [SPECIAL]
        if len(one.slots) == 1
        else [SPECIAL[:, None].repeat(len(SPECIAL), 1), np.tile(SPECIAL, (len(SPECIAL), 1))]
    )
    for setting in (Setting(op, {**one.raw, **raw}, arrays) for raw in ({}, *other_words(op))):
        if not is_valid(setting):
            continue
        model = setting.model()
        for target in (max(op.version - 1, 1), 1):
            migrated = migrate(model, f"opset{target}")
            if migrated.refused or not migrated.steps:
                continue
            with np.errstate(all="ignore"):
                wanted, found = run(model, setting.inputs()), run(migrated.model, setting.inputs())
            for key, array in wanted.items():
                np.testing.assert_allclose(
                    found[key], array, rtol=1e-4, atol=1e-6, err_msg=f"{setting} to opset{target}"
                )


@pytest.mark.parametrize("name", SUBSTITUTED)
def test_substitutes(name: str) -> None:
    """The layers that a release may run in the place of an operation compute the same, or are refused."""
    op, compared = OPERATIONS[name], 0
    for setting in (*sampled(op, np.random.default_rng(4)), *near_samples(name, OFTEN)):
        wanted: dict[str, Array] | None = None
        for model in map(setting.model, (0, 1)):
            place = next(located for located in model.walk() if located.path == "layer")
            attrs, facts = op.read(place.layer.raw, []), KnownFacts(model).of(place).inputs
            assert attrs is not None
            assert op.substitute is not None
            found = op.substitute(attrs, facts, COMPLETE_OPSETS)
            if isinstance(found, Rewrite):
                with np.errstate(all="ignore"):
                    wanted = wanted or run(model, setting.inputs())
                    Rewriter(model).apply(place.graph, place.layer, op, found)
                    values = run(model, setting.inputs())
                wrong = {key: difference(values[key], array) for key, array in wanted.items()}
                assert not any(wrong.values()), f"{setting}: {wrong}"
                compared += 1
    assert compared


UNFED = {"BinaryConvolution-1", "StringTensorUnpack-15"}
"""Operations of types of which no random numbers are made."""
FED = [name for name, op in OPERATIONS.items() if op.kernel and op.inputs and name not in UNFED]


@pytest.mark.parametrize("name", [name for name in FED if any(sampled(OPERATIONS[name], np.random.default_rng(0)))])
def test_a_layer_that_lacks_its_inputs_is_refused(name: str) -> None:
    """By the reference; a migration leaves it as it is, or refuses it."""
    setting = next(sampled(OPERATIONS[name], np.random.default_rng(4)))
    model = setting.model(0)
    place = next(located for located in model.walk() if located.path == "layer")
    place.graph.remove_edges_from([*place.graph.in_edges(place.layer.id, keys=True)])
    place.layer.content.inputs = []
    if any(not slot.optional for slot in OPERATIONS[name].inputs):
        with pytest.raises(IrToolsError):
            run(model, setting.inputs())
    for target in ("opset1", "openvino-2021.4"):
        migrate(model, target)


@pytest.mark.parametrize("name", named_rewrites())
def test_named_rewrites(name: str) -> None:
    """What a rewrite that users name makes of the samples computes the same, and stays as it is in a second run."""
    compared = 0
    for op in OPERATIONS.values():
        for setting in sampled(op, np.random.default_rng(5)) if name in op.rewrites else ():
            model = setting.model()
            found = migrate(model, None, [name])
            if found.steps:
                wanted, values = run(model, setting.inputs()), run(found.model, setting.inputs())
                wrong = {key: difference(values[key], array) for key, array in wanted.items()}
                assert not any(wrong.values()), f"{setting}: {wrong}"
                assert not migrate(found.model, None, [name]).steps
                compared += 1
    assert compared, f"no sample is rewritten: add one to MORE that {name} takes"


@pytest.mark.sweep
@pytest.mark.parametrize("name", MIGRATING)
def test_many_steps_of_every_version(name: str) -> None:
    assert problems_of_version(name) == []


@pytest.mark.sweep
@pytest.mark.parametrize("name", MIGRATING)
def test_steps_on_the_runtime(name: str) -> None:
    """The migrated model gives on the runtime what the model itself does there."""
    wrong: list[str] = []
    with RuntimeClient() as client:
        for number, setting in enumerate(settings(OFTEN)[name]):
            attrs = setting.op.read(setting.raw, [])
            assert attrs is not None
            if setting.op.role is Role.READ_VARIABLE:
                continue
            facts = [layer_support.fact_of(array) for array in setting.arrays]
            if find(setting.op, attrs, setting.arrays, setting.constants) or any(setting.op.check(attrs, facts)):
                continue
            model, seen = setting.model(number % 2), set[bytes]()
            try:
                wanted = client.infer_model(model, setting.inputs(), config=ONE_THREAD).outputs
            except RuntimeFailure:
                continue
            for target in OPSETS:
                migrated = migrate(model, f"opset{target}")
                text = bytes(render(migrated.model))
                if not migrated.steps or migrated.refused or text in seen:
                    continue
                seen.add(text)
                try:
                    found = client.infer_model(migrated.model, setting.inputs(), config=ONE_THREAD).outputs
                except RuntimeFailure as failure:
                    wrong.append(f"{setting} to opset{target}: {failure}")
                    continue
                for one, other in zip(found.values(), wanted.values(), strict=True):
                    why = difference(one, other, ON_RUNTIME)
                    wrong += [f"{setting} to opset{target}: {why}"] if why else []
    assert wrong == []


@pytest.mark.sweep
@pytest.mark.parametrize("release", ["openvino-2021.4", "openvino-2022.1", "openvino-2022.3", "openvino-2024.6"])
def test_steps_on_releases(release: str) -> None:
    """What is migrated for a release gives there what the reference says of the layer itself, in f32 and f16.

    Up to four dimensions: 2021.4 does not resize others by cubic.
    """
    if environment(find_release(release)) is None:
        pytest.skip(f"{release} is not here (ir-tools runtimes --add {release})")
    wrong, compared = [], 0
    with release_client(find_release(release)) as client:
        for setting in (setting for found in settings(5).values() for setting in found):
            if any(not array.size or array.ndim > 4 or array.dtype.name in NOT_FED for array in setting.arrays):
                continue
            model = setting.model()
            migrated = migrate(model, release)
            if migrated.refused or find_release(release).holds(setting.op, setting.op.version):
                continue
            with np.errstate(all="ignore"):
                wanted = run(model, setting.inputs())
            try:
                found = client.infer_model(migrated.model, setting.inputs()).outputs
            except RuntimeFailure as failure:
                empty = any(not array.size for array in wanted.values())
                wrong += [] if empty else [f"{setting}: {failure}"]
                continue
            compared += 1
            for one, other in zip(found.values(), wanted.values(), strict=True):
                why = difference(one.astype(np.float64), other.astype(np.float64), {"float64": 4e-3})
                wrong += [f"{setting}: {why}"] if why else []
    assert wrong == []
    assert compared > 20
