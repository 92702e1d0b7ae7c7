"""Random models for random releases: `python -m tests.releases.pairs COUNT SEED` tells where `compat` is wrong.

With `migrated` behind them it tells where a release does not run a model that is migrated for it, as `compat` promises.

The models have settings that `measured.json` was not measured with: attributes, element types, ranks, intervals of
sizes, several layers, bodies, quantized parts, equal names, and stamps of other opsets.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

import ir_tools
from ir_tools.builder import Builder
from ir_tools.compatibility import Compatibility, after_migration, compatibility
from ir_tools.errors import IrToolsError, RuntimeFailure, UnsupportedError
from ir_tools.execute import Execution
from ir_tools.format.write import render
from ir_tools.graph import Model, Source
from ir_tools.known_differences import find
from ir_tools.known_differences.verdicts import Answer
from ir_tools.ops import Array, Op, Role, find_op, pooling
from ir_tools.ops.fields import Flag, OneOf
from ir_tools.releases.measured import State
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.rewrite.migration import migrate
from ir_tools.runtime.client import RuntimeClient, sources
from ir_tools.types import from_dtype, precision_in_file
from ir_tools.validation import validate
from tests.ops import pooling_support, recorded
from tests.ops.samples import Sample, resized, sample_of, sizes_in
from tests.ops.single import Fed, Maker
from tests.ops.test_control_flow import if_model, iterator_model, small_loop
from tests.releases.measure import Answer as Given
from tests.releases.measure import ask, client_of, inferred, numbers, reference
from tests.releases.questions import OPS, Question, planned

__all__ = ["Clients", "Pair", "are_defined", "asked", "pair_of", "random_question"]

Rng = np.random.Generator
ANSWERS = {State.UNREAD: Answer.STOPPED, State.DIFFERS: Answer.DIFFERS, State.RUNS: Answer.RUNS}
LEFT_OUT = {"BinaryConvolution", "Multinomial", "RandomUniform"}
"""Operations that do something else in each run, or that builders cannot make."""
SCALES = (3, 0.01, 0, 3, 1e5)
"""Of other inputs that are tried if other values are expected and not seen."""
STAMPS = [f"opset{number}" for number in range(1, 18)]


# --- layers -----------------------------------------------------------------------------------------------------


def _recorded(name: str, rng: Rng) -> Fed:
    layer = recorded.RECORDED[name].layer(int(rng.choice(VALUES[name])))
    assert isinstance(layer, Fed)
    return layer


def _of_pooling(op: Op, rng: Rng) -> Fed:
    found = pooling_support.random_setting(rng, op)
    return Fed(op, found.data, found.arrays(rng), [1] if found.sizes else [])


def _of_sample(op: Op, sample: Sample, rng: Rng) -> Fed:
    """Return the sample with another element type, other flags and words, a size of 0 or 1, or another rank."""
    known = op.fields.keys()
    raw = {key: value for key, value in sample.raw.items() if key in known}
    for name, spec in op.attrs.items():
        words = spec.words if isinstance(spec, OneOf) else ("true", "false") if isinstance(spec, Flag) else ()
        if words and rng.random() < 0.3:
            raw[spec.xml or name] = str(rng.choice(list(words)))
    kind = str(rng.choice(["f32", "f32", "f16", "bf16", "f64", "i32", "i64", "u8", "i8", "i16", "u16", "u32", "u64"]))
    slots = list(sample.slots)
    plain = all(slot == slots[0] for slot in slots) and slots and slots[0] in {("f32", "2,3"), ("boolean", "2,3")}
    if plain and isinstance(slots[0], tuple):
        shape = ",".join(map(str, rng.integers(1, 5, rng.integers(0, 6))))
        slots = [(slots[0][0], shape)] * len(slots)
    if rng.random() < 0.5:
        slots = [(kind, slot[1]) if isinstance(slot, tuple) and slot[0] == "f32" else slot for slot in slots]
    other = Sample(raw, tuple(slots))
    if (sizes := sizes_in(other)) and rng.random() < 0.1:
        other = resized(other, str(rng.choice(sizes)), str(rng.choice(["0", "1"])))
    arrays = planned(op, other)
    constants = [number for number, slot in enumerate(slots) if isinstance(slot, np.ndarray)]
    return Fed(op, raw, [_varied(rng, array) if plain else array for array in arrays], constants)


def _varied(rng: Rng, array: Array) -> Array:
    """Return other values of an array of floats."""
    if array.dtype.kind != "f":
        return array
    found: Array = np.round(rng.normal(size=array.shape) * rng.choice([1, 8]), 2).astype(array.dtype)
    return found


VALUES = {name: [*layers] for name, layers in recorded.load().items() if name.startswith("table values") and layers}
"""Layers whose values the runtime computes as well, by number."""
MAKERS: tuple[Maker, ...] = (
    *(partial(_recorded, name) for name in VALUES),
    *(partial(_of_pooling, op) for op in pooling.OPS),
)
SAMPLED: tuple[Maker, ...] = tuple(
    partial(_of_sample, op, sample)
    for op in OPS
    if op.role is Role.COMPUTATION and op.type not in LEFT_OUT and (sample := sample_of(op)) is not None
)


# --- models -----------------------------------------------------------------------------------------------------


def _part(rng: Rng) -> Fed:
    """Return a random layer whose values are known to have a meaning."""
    makers = SAMPLED if rng.random() < 0.45 else MAKERS
    while True:
        try:
            part = makers[rng.integers(len(makers))](rng)
        except (IrToolsError, ValueError, AssertionError):
            continue
        attrs = part.op.read(part.raw, [])
        if part.op.type in LEFT_OUT or attrs is None or find(part.op, attrs, part.arrays, part.constants):
            continue
        if any(array.dtype.name.startswith("float8") for array in part.arrays):
            continue
        return part


def _dims(rng: Rng, array: Array, dynamic: bool) -> Sequence[int] | str | None:
    """Return what a Parameter says of the sizes of an array."""
    if not dynamic:
        return [*array.shape]
    if rng.random() < 0.05:
        return "..."
    words, open = [], rng.random() < 0.3
    for size in array.shape:
        choice = 1 if open else rng.integers(5)
        words.append([str(size), "?", f"1..{size + 4}", f"..{size + 1}", f"{size}.."][choice] if size else "?")
    return ",".join(words)


def _add(builder: Builder, fed: dict[str, Array], rng: Rng, number: int, dynamic: bool) -> None:
    """Add a layer with its inputs and Results, behind and before another operation now and then.

    Boxes with the number of their image in front stay as they are: of an image that is not there memory is read.
    """
    part, sources, quantized = _part(rng), list[Source](), rng.random() < 0.08
    for index, array in enumerate(part.arrays):
        name = f"in{number}_{index}"
        negative = index and array.dtype.kind == "i" and bool((array < 0).any())
        if index in part.constants or negative or (index and rng.random() < 0.2):
            sources.append(_constant(builder, array, name, quantized))
            continue
        source = builder.parameter(name, _dims(rng, array, dynamic), from_dtype(array.dtype))
        fed[name] = array
        numbered = index > 0 and part.op.type.endswith("ROIPooling")
        if array.dtype == np.float32 and not numbered and rng.random() < 0.15:
            other = np.array([1.5], np.float32)
            source = builder.call(str(rng.choice(["Multiply", "Add"])), source, other, name=f"before{number}_{index}")
        sources.append(source)
    made = builder.unchecked(part.op, part.raw, sources, f"op{number}")
    for index, output in enumerate(made):
        fact = builder.fact(output)
        if fact.dtype.name == "f32" and rng.random() < 0.15:
            output = builder.call("Abs", output, name=f"after{number}_{index}")
        if index == 0 or rng.random() < 0.8:
            builder.result(output, f"out{number}_{index}")


def _constant(builder: Builder, array: Array, name: str, quantized: bool) -> Source:
    """Return a constant; of floats in 8 bits if it is `quantized`."""
    if not quantized or array.dtype != np.float32 or array.ndim < 2:
        return builder.constant(array, name)
    scale = float(np.abs(array).max(initial=0)) / 127 or 1.0
    held = builder.constant(np.round(array / scale).astype(np.int8), name)
    floats = builder.call("Convert", held, destination_type="f32", name=f"{name}/floats")
    return builder.call("Multiply", floats, np.array([scale], np.float32), name=f"{name}/scaled")


def _layers(rng: Rng) -> Question:
    """Return a model of one to four layers."""
    builder, fed = Builder(), dict[str, Array]()
    dynamic = rng.random() < 0.2
    for number in range(int(rng.choice([1, 1, 1, 2, 3, 4]))):
        _add(builder, fed, rng, number, dynamic)
    if rng.random() < 0.1:
        values = (rng.normal(size=(2, 3)) * int(rng.integers(2))).astype(np.float32)
        _variable(builder, fed, values, int(rng.choice([3, 6])))
    return _question(builder.model, b"".join(builder.model.weights.tail()), fed, rng)


def _variable(builder: Builder, fed: dict[str, Array], values: Array, version: int) -> None:
    read, assign = (next(op for op in OPS if str(op) == f"{name}-{version}") for name in ("ReadValue", "Assign"))
    raw = {"variable_id": "v"} | ({"variable_type": "f32", "variable_shape": "2,3"} if version == 6 else {})
    source = builder.unchecked(read, raw, [builder.constant(values, "initial")], "state")[0]
    fed["step"] = np.ones((2, 3), np.float32)
    total = builder.call("Add", source, builder.parameter("step", "2,3"), name="counted")
    builder.unchecked(assign, {"variable_id": "v"}, [total], "kept")
    builder.result(total)


def _bodies(rng: Rng) -> Question:
    """Return a model with a body."""
    floats = np.ones((2, 3), np.float32)
    kind = rng.integers(3)
    if kind == 0:
        text, weights = iterator_model(rng, static=True)
        fed: dict[str, Array] = {"Parameter_0": rng.normal(size=(6, 2, 3)), "Parameter_1": np.ones((1, 2, 3))}
    elif kind == 1:
        text, weights = if_model(rng, static=True)
        fed = {"Parameter_0": np.array(rng.random() < 0.5), "Parameter_1": floats, "Parameter_2": floats - 2}
        if b'element_type="boolean" shape="1"' in text:
            fed["Parameter_0"] = fed["Parameter_0"].reshape(1)
    else:
        trips, goes = (
            (str(rng.choice(["i64", "i32"])), str(rng.choice(["", "1"]))),
            ("boolean", str(rng.choice(["", "1"]))),
        )
        text, weights = small_loop(trips, goes)
        fed = {"Parameter_0": np.array(int(rng.integers(1, 6))).astype({"i64": np.int64, "i32": np.int32}[trips[0]])}
        fed |= {"Parameter_1": np.array(True), "Parameter_2": np.ones(3, np.float32)}
        fed = {
            name: array.reshape(1) if (trips if name[-1] == "0" else goes)[1] and name[-1] != "2" else array
            for name, array in fed.items()
        }
    fed = {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in fed.items()}
    model = ir_tools.read(text, weights)
    ir_tools.propagate_shapes(model, in_place=True)
    return _question(model, weights, fed, rng)


def _question(model: Model, weights: bytes, fed: Mapping[str, Array], rng: Rng) -> Question:
    """Return a model with other stamps and names."""
    layers = [located.layer for located in model.walk()]
    for layer in layers:
        op = find_op(layer.type, layer.version)
        if op is not None and rng.random() < 0.15:
            layer.tag["version"] = str(rng.choice([stamp for stamp in STAMPS if find_op(layer.type, stamp) is op]))
    inner = [layer for layer in model.graph.layers() if layer.type not in {"Parameter", "Result"}]
    if len(inner) > 1 and rng.random() < 0.04:
        one, other = rng.choice(len(inner), 2, replace=False)
        inner[one].tag["name"] = inner[other].name
    model.version = int(rng.choice([10, 11]))
    about = "+".join(
        f"{layer.type}-{layer.version[5:]}" for layer in layers if layer.type not in {"Parameter", "Const", "Result"}
    )
    return Question(about, "", model.version, render(model), weights, fed)


def random_question(rng: Rng) -> Question:
    """Return a random model in which `validate` finds no error, with inputs that define all of its values."""
    while True:
        try:
            question = (_bodies if rng.random() < 0.06 else _layers)(rng)
            model = ir_tools.read(question.xml, question.weights)
        except (IrToolsError, ValueError):
            continue
        if not any(found.severity == "error" for found in validate(model)) and are_defined(model, question.fed):
            return question


def are_defined(model: Model, fed: Mapping[str, Array]) -> bool:
    """Return whether inputs define all values: none is out of range, and no element of an output is undefined.

    Releases do anything with others. Models with layers without a kernel count as defined.
    """
    masks = (mask for step in Execution(model).steps(fed) for mask in step.undefined)
    try:
        return not any(mask is not None and mask.any() for mask in masks)
    except UnsupportedError:
        return True
    except IrToolsError:
        return False


# --- pairs ------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A model and a release: what is said of it, and what it does."""

    question: Question
    release: Release
    said: Compatibility
    does: State

    @property
    def right(self) -> bool:
        """Whether both are the same."""
        return self.said.answer is ANSWERS.get(self.does, Answer.READS)


def does(question: Question, answer: Given, newest: Given) -> State:
    """Return what a release does with a model, by the installed runtime and the reference."""
    if answer.state is not None:
        return answer.state
    if newest.state is None and close(question, answer.outputs, newest.outputs):
        return State.RUNS
    computed = reference(question, len(answer.outputs))
    return State.RUNS if computed and close(question, answer.outputs, computed) else State.DIFFERS


def close(question: Question, found: Sequence[Array], wanted: Sequence[Array]) -> bool:
    """Return whether outputs are equal but for the rounding of the element types of a model."""
    part = 4e-2 if b'"bf16"' in question.xml or b"BF16" in question.xml else 1e-2 if b"FP16" in question.xml else 1e-4
    if len(found) != len(wanted):
        return False
    for ours, theirs in zip(found, wanted, strict=True):
        if ours.shape != theirs.shape and not ours.size == theirs.size == 1:
            return False
        left, right = ours.ravel(), theirs.ravel()
        largest = np.abs(right[np.isfinite(right)]).max(initial=0)
        if not np.allclose(left, right, rtol=part, atol=part * max(largest, 0.1), equal_nan=True):
            return False
    return True


class Clients(ExitStack):
    """Clients of releases, each of which is opened once."""

    def __init__(self) -> None:
        """Open none."""
        super().__init__()
        self.opened = dict[str, RuntimeClient]()

    def of(self, release: Release) -> RuntimeClient:
        """Return the client of a release."""
        if release.name not in self.opened:
            self.opened[release.name] = self.enter_context(client_of(release))
        return self.opened[release.name]


def pair_of(question: Question, release: Release, clients: Clients, *, by_reference: bool = False) -> Pair | None:
    """Return what is said of a model, and what a release does; None of inputs that can nowhere be computed.

    Values are right if the installed runtime has them, too, or the reference; with `by_reference` only by that.
    """
    client, newest = clients.of(release), None if by_reference else clients.of(OPENVINO[-1])
    if (newest is None or ask(newest, question).state is not None) and not reference(question):
        return None
    model = ir_tools.read(question.xml, question.weights)
    (said,) = compatibility(model, [release])
    found = _does(question, client, newest)
    rng = np.random.default_rng(len(question.xml))
    for scale in SCALES if said.answer is Answer.DIFFERS else ():
        if found is State.RUNS:
            fed = {name: _other(rng, array, scale) for name, array in question.fed.items()}
            if are_defined(model, fed) and _does(replace(question, fed=fed), client, newest) is State.DIFFERS:
                found = State.DIFFERS
    return Pair(question, release, said, found)


def asked(questions: Iterable[tuple[Question, Release]]) -> Iterator[Pair]:
    """Yield what is said of pairs, and what the releases do; not of inputs that can nowhere be computed."""
    with Clients() as clients:
        yield from filter(None, (pair_of(question, release, clients) for question, release in questions))


def _does(question: Question, client: RuntimeClient, newest: RuntimeClient | None) -> State:
    wanted = Given(State.FAILS, []) if newest is None else ask(newest, question)
    with np.errstate(all="ignore"):
        return does(question, wanted if client is newest else ask(client, question), wanted)


def _other(rng: Rng, array: Array, scale: float) -> Array:
    """Return other values of the same type; integers are mostly small, as they may be indices, and some below 0."""
    least = -3 if array.dtype.kind == "i" and rng.random() < 0.5 else 0
    floats = array.dtype.kind == "f"
    found: Array = (
        rng.normal(size=array.shape) * scale if floats else rng.integers(least, 4 if scale < 4 else 100, array.shape)
    )
    return found.astype(array.dtype)


def after_migration_runs(question: Question, release: Release) -> bool | None:
    """Return whether a release runs a model that is migrated for it as promised; None if nothing is promised."""
    model = ir_tools.read(question.xml, question.weights)
    if not after_migration(model, release).runs:
        return None
    made = migrate(model, release.name).model
    with ExitStack() as stack:
        client, newest = (stack.enter_context(client_of(one)) for one in (release, OPENVINO[-1]))
        xml, weights = stack.enter_context(sources(made))
        fed = {}
        for old, new in zip(model.inputs, made.inputs, strict=True):
            kind = precision_in_file(new.port.precision or "")
            assert kind is not None
            array = question.fed[old.name]
            fed[new.name] = array if kind.dtype is None else array.astype(kind.dtype)
        try:
            found = [*map(numbers, inferred(client, xml, weights, fed))]
        except RuntimeFailure:
            return False
        return does(question, Given(None, found), ask(newest, question)) is State.RUNS


def main(count: int, seed: int) -> None:
    """Print what is wrong, and how much."""
    rng, all_of, wrong, runs = np.random.default_rng(seed), 0, 0, 0
    pairs = [(random_question(rng), OPENVINO[rng.integers(len(OPENVINO))]) for _ in range(count)]
    for pair in asked(pairs):
        all_of += 1
        if not pair.right:
            wrong += 1
            runs += pair.said.answer is Answer.RUNS
            reason = pair.said.obstacles[0] if pair.said.obstacles else ""
            print(f"{pair.release.name}: {pair.said.answer}, does {pair.does.name}: {pair.question.about}; {reason}")
    print(f"{all_of - wrong} of {all_of} right, {runs} false `runs`")


def main_migrated(count: int, seed: int) -> None:
    """Print where a release does not run what `after migrate` promises, and of how many promises."""
    rng, promised, kept = np.random.default_rng(seed), 0, 0
    for _ in range(count):
        question, release = random_question(rng), OPENVINO[rng.integers(len(OPENVINO))]
        runs = after_migration_runs(question, release)
        promised += runs is not None
        kept += runs is True
        if runs is False:
            print(f"{release.name}: {question.about} of IR v{question.version}")
    print(f"{kept} of {promised} promises kept, {count} models")


if __name__ == "__main__":
    (main_migrated if sys.argv[3:] == ["migrated"] else main)(*map(int, sys.argv[1:3]))
