"""Small models that a release is asked about, by what they show: an operation, a type, an attribute's value."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

import ir_tools
from ir_tools.builder import Builder
from ir_tools.errors import IrToolsError
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.infer import propagate_shapes
from ir_tools.inputs import plan_inputs
from ir_tools.known_differences.model_problems import COUNTED_FLAGS
from ir_tools.ops import FAMILIES, Array, Op, Role
from ir_tools.ops.definition import Oracle
from ir_tools.ops.fields import REQUIRED, Flag, OneOf
from ir_tools.releases.measured import TOGETHER
from ir_tools.types import ELEMENT_TYPES, element_type, from_dtype
from tests.ops.samples import Sample, sample_of
from tests.ops.single import Slot
from tests.ops.test_control_flow import if_model, iterator_model, small_loop

OPS = tuple(op for family in FAMILIES for op in family.OPS if op.oracle is not Oracle.SPECIFICATION)
KINDS = ("f16", "bf16", "f64", "i32", "i64", "u8", "i8", "i16", "u16", "u32", "u64", "boolean", "string")
MORE = {
    "RegionYolo": {"mask": "0,1"},
    "PriorBox": {"min_size": "16"},
    "PriorBoxClustered": {"variance": "0.1,0.1,0.2,0.2", "step": "8"},
    "AdaptiveMaxPool": {"index_element_type": "i32"},
    "Convert": {"destination_type": "i32"},
}
"""What an operation needs to give an output that all releases agree on."""
EVERY = range(100)
"""All axes of an input."""


@dataclass(frozen=True)
class Question:
    """A model.

    Attributes:
        about: the operation.
        case: what is special: empty, `f16`, `mode=cubic`, `input 1`, `?`.
        version: of the IR.
        xml, weights: the model.
        fed: its inputs.
    """

    about: str
    case: str
    version: int
    xml: bytes
    weights: bytes
    fed: Mapping[str, Array]


def questions(version: int, plain: bool = False) -> Iterator[Question]:
    """Yield all or the `plain` questions about a release that reads this version of the IR; these of v10, too."""
    for op in OPS:
        sample = sample_of(op)
        if op.role in {Role.PARAMETER, Role.CONSTANT, Role.RESULT}:
            yield from () if plain else _of_types(op, version)
        elif sample is not None:
            sample = replace(sample, raw={**sample.raw, **MORE.get(op.type, {})})
            whole = replace(sample, raw=_complete(op, sample))
            for other in sorted({10, version}):
                yield from _asked(op, "", whole, other)
            if whole.raw != _raw(op, sample):
                yield from _asked(op, "short", sample, version)
            if not plain:
                yield from _cases(op, whole, version)
    for other in sorted({10, version}):
        yield from _of_bodies(other)


def _of_bodies(version: int) -> Iterator[Question]:
    """Yield a model of each operation with bodies."""
    rng, floats = np.random.default_rng(0), np.ones((2, 3), np.float32)
    given = {"Parameter_0": np.ones((6, 2, 3), np.float32), "Parameter_1": np.ones((1, 2, 3), np.float32)}
    chosen = {"Parameter_0": np.ones((), np.bool_), "Parameter_1": floats, "Parameter_2": floats - 2}
    loop = {"Parameter_0": np.array(5), "Parameter_1": np.array(True), "Parameter_2": np.ones(3, np.float32)}
    for about, made, fed in (
        ("TensorIterator-1", iterator_model(rng, static=True), given),
        ("If-8", if_model(np.random.default_rng(3), static=True), chosen),
        ("Loop-5", small_loop(("i64", ""), ("boolean", "")), loop),
    ):
        text, weights = made
        if about == "If-8":
            shape = propagate_shapes(ir_tools.read(text, weights)).shapes["Parameter_0", 0] or ()
            fed = {**fed, "Parameter_0": np.ones([dim.size for dim in shape], np.bool_)}
        model = ir_tools.read(text, weights)
        propagate_shapes(model, in_place=True)
        model.version = version
        yield Question(about, "", version, render(model), weights, fed)


def _cases(op: Op, sample: Sample, version: int) -> Iterator[Question]:
    for name, spec in op.attrs.items():
        key = spec.xml or name
        words = spec.words if isinstance(spec, OneOf) else ("true", "false") if isinstance(spec, Flag) else ()
        for word in words:
            if sample.raw.get(key, "").lower() != word:
                yield from _asked(op, f"{key}={word}", replace(sample, raw={**sample.raw, key: word}), version)
    for number, slot in enumerate(sample.slots[1:], 1):
        yield from _asked(op, f"input {number}", sample, version, computed=number)
        if version >= 11 and isinstance(slot, tuple):
            yield from _asked(op, f"? input {number}", sample, version, computed=number, unknown=EVERY)
            for axis in _axes(slot):
                yield from _asked(op, f"? {axis} input {number}", sample, version, computed=number, unknown=[axis])
    for kind in KINDS:
        typed = _of_kind(sample, kind)
        if typed is not None:
            yield from _asked(op, kind, typed, version)
    if version >= 11:
        yield from _asked(op, "?", sample, version, unknown=EVERY)
        for axis in _axes(sample.slots[0]) if sample.slots and isinstance(sample.slots[0], tuple) else ():
            yield from _asked(op, f"? {axis}", sample, version, unknown=[axis])


def _axes(slot: Slot) -> range:
    """Return the axes of an input that is fed."""
    assert isinstance(slot, tuple)
    sizes = slot[1].split(",") if slot[1] else []
    return range(len(sizes) if len(sizes) > 1 else 0)


def _of_kind(sample: Sample, kind: str) -> Sample | None:
    """Return the sample with another element type in the place of that of its first input."""
    first = _kind(sample.slots[0]) if sample.slots else kind
    if first == kind:
        return None
    return replace(sample, slots=tuple(_cast(slot, kind) if _kind(slot) == first else slot for slot in sample.slots))


def _kind(slot: Slot) -> str:
    if isinstance(slot, tuple):
        return slot[0]
    assert isinstance(slot, np.ndarray)
    return from_dtype(slot.dtype).name


def _cast(slot: Slot, kind: str) -> Slot:
    if isinstance(slot, tuple):
        return kind, slot[1]
    assert isinstance(slot, np.ndarray)
    dtype = element_type(kind).dtype
    return slot if dtype is None else slot.astype(dtype)


def _asked(
    op: Op, case: str, sample: Sample, version: int, *, computed: int = 0, unknown: Container[int] = ()
) -> Iterator[Question]:
    """Yield the model of a sample: its first input is a Parameter, and so is number `computed`.

    Of the latter the sizes of the axes `unknown` are not known.
    """
    try:
        values = planned(op, sample)
    except IrToolsError:
        return
    builder, fed, sources = Builder(name="question"), dict[str, Array](), list[Source]()
    raw = {key: _written(op, key, value) for key, value in _raw(op, sample).items()}
    for number, (slot, value) in enumerate(zip(sample.slots, values, strict=True)):
        name = f"in{number}"
        if number == computed or (isinstance(slot, tuple) and (number == 0 or number in TOGETHER.get(op.type, ()))):
            dims = [*map(str, value.shape)]
            if number == computed or (computed == 0 and number in TOGETHER.get(op.type, ())):
                dims = ["?" if axis in unknown else size for axis, size in enumerate(dims)]
            sources.append(builder.parameter(name, ",".join(dims), _kind(slot)))
            fed[name] = value
        elif isinstance(slot, tuple) and element_type(slot[0]).dtype is None:
            kind = element_type(slot[0])
            sizes = [int(size) for size in slot[1].split(",") if size]
            packed = np.arange(kind.byte_size(int(np.prod(sizes))), dtype=np.uint8)
            sources.append(builder.constant(packed, name, kind.name, sizes))
        else:
            sources.append(builder.constant(value, name))
    made = builder.unchecked(op, raw, sources, "op")
    if op.role is Role.READ_VARIABLE:
        assign = next(other for other in OPS if other.type == "Assign" and other.version == op.version)
        builder.unchecked(assign, {"variable_id": raw["variable_id"]}, [made[0]], "assign")
    for output in made:
        builder.result(output)
    yield _question(str(op), case, version, builder, fed)


def _question(about: str, case: str, version: int, builder: Builder, fed: Mapping[str, Array]) -> Question:
    model = builder.model
    model.version = version
    return Question(about, case, version, render(model), b"".join(model.weights.tail()), fed)


def _written(op: Op, key: str, value: str) -> str:
    """Return an attribute as all releases read it."""
    return str(int(value.lower() == "true")) if key in COUNTED_FLAGS.get(op.type, ()) else value


def _raw(op: Op, sample: Sample) -> dict[str, str]:
    """Return the attributes that this version of the operation has."""
    known = op.fields.keys()
    return {key: value for key, value in sample.raw.items() if key in known}


def _complete(op: Op, sample: Sample) -> dict[str, str]:
    """Return the attributes, with those that the sample leaves out and that have a default."""
    raw = _raw(op, sample)
    for name, spec in op.attrs.items():
        if (spec.xml or name) not in raw and spec.default not in {REQUIRED, None, (), ""}:
            raw[spec.xml or name] = spec.render(spec.default, ",")
    return raw


def planned(op: Op, sample: Sample) -> list[Array]:
    """Return values for every input, made up by what the operation does with them."""
    builder = Builder(name="question")
    sources = [
        builder.parameter(f"in{number}", slot[1], slot[0])
        if isinstance(slot, tuple)
        else builder.constant(_array(slot))
        for number, slot in enumerate(sample.slots)
    ]
    for output in builder.unchecked(op, _raw(op, sample), sources, "op"):
        builder.result(output)
    made = plan_inputs(ir_tools.read(render(builder.model), b"".join(builder.model.weights.tail()))).arrays()
    return [
        made[f"in{number}"] if isinstance(slot, tuple) else _array(slot) for number, slot in enumerate(sample.slots)
    ]


def _array(slot: Slot) -> Array:
    assert isinstance(slot, np.ndarray)
    return slot


def _of_types(op: Op, version: int) -> Iterator[Question]:
    """Yield, for an operation that takes any tensor, a model of each element type."""
    convert = next(other for other in OPS if str(other) == "Convert-1")
    for kind in ELEMENT_TYPES.values():
        if kind.kind in {"dynamic", "string"} or (op.role is not Role.CONSTANT and kind.dtype is None):
            continue
        builder, fed = Builder(name="question"), dict[str, Array]()
        if op.role is Role.CONSTANT:
            raw = np.arange(1, 1 + kind.byte_size(24), dtype=np.uint8) % (2 if kind.name == "boolean" else 56)
            if kind.dtype is not None:
                raw = np.arange(24).astype(kind.dtype).view(np.uint8)
            held = builder.constant(raw, "held", kind.name, (2, 12))
            source = (
                held if kind.name == "f32" else builder.unchecked(convert, {"destination_type": "f32"}, [held], "as")[0]
            )
            fed["in0"] = np.ones((2, 12), np.float32)
            source = builder.call("Add", source, builder.parameter("in0", "2,12"), name="op")
        elif op.role is Role.PARAMETER:
            fed["in0"] = np.arange(6).reshape(2, 3).astype(kind.dtype)
            source = builder.parameter("in0", "2,3", kind)
            source = builder.unchecked(convert, {"destination_type": "f32"}, [source], "op")[0]
        else:
            fed["in0"] = np.arange(6, dtype=np.float32).reshape(2, 3)
            source = builder.parameter("in0", "2,3")
            if kind.name == "boolean":
                source = builder.call("Greater", source, 2.5, name="op")
            else:
                source = builder.unchecked(convert, {"destination_type": kind.name}, [source], "op")[0]
        builder.result(source)
        yield _question(str(op), "" if kind.name == "f32" else kind.name, version, builder, fed)
