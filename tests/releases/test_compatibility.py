"""What `compat` answers, and whether it is what the releases do with the models."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import openvino.opset8 as ops
import pytest

from ir_tools.builder import Builder
from ir_tools.compatibility import Answer, Compatibility, Obstacle, _layers, compatibility, report
from ir_tools.diagnostics import Severity
from ir_tools.errors import RuntimeFailure
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Graph, Model, Source
from ir_tools.known_differences import as_model
from ir_tools.known_differences.model_problems import lacks_bytes
from ir_tools.known_differences.releases import ROWS, Seen
from ir_tools.known_differences.releases.seen import Pattern
from ir_tools.known_differences.surroundings import Surroundings
from ir_tools.known_differences.verdicts import decisive, verdict
from ir_tools.ops import find_op
from ir_tools.ops.definition import Fact
from ir_tools.ops.fields import Attrs, Flag, OneOf
from ir_tools.ops.records import constant_fact
from ir_tools.releases.table import OPENVINO, Release, find_release
from ir_tools.rewrite.migration import migrate
from ir_tools.runtime.client import sources
from ir_tools.runtime.environments import environment
from ir_tools.types import element_type, parse_shape
from ir_tools.validation import validate
from tests.benchmarks.growth.layers import pieces_of_a_product, weights_behind_a_chain
from tests.ops.test_control_flow import iterator_model
from tests.releases.networks import network
from tests.releases.pairs import asked, random_question
from tests.runtime import killers
from tests.runtime.releases import client_of

COUNT = 40
"""Models for each release."""


def builder(dims: str = "2,3", version: int = 11) -> Builder:
    """A model of two sums, `first` and `second`, behind each other."""
    made = Builder(opset=7)
    first = made.call("Add", made.parameter("data", dims), np.array([1], np.float32), name="first")
    made.result(made.call("Multiply", first, np.array([2], np.float32), name="second"), "end")
    made.model.version = version
    return made


def answers(made: Builder) -> dict[str, Answer]:
    return {one.release.short: one.answer for one in compatibility(made.model)}


def rename(made: Builder, name: str, new: str) -> Builder:
    next(layer for layer in made.graph.layers() if layer.name == name).tag["name"] = new
    return made


def test_axes_of_a_sum_of_quantized_data_that_a_model_is_given() -> None:
    made = Builder()
    limits = [np.array(limit, np.float32) for limit in (-1, 1, -1, 1)]
    levels = made.call("FakeQuantize", made.parameter("data", "1,2,3,4"), *limits, levels=256)
    made.result(made.call("ReduceSum", levels, made.parameter("axes", "1", "i64"), keep_dims=True))
    found = answers(made)
    assert [found[name] for name in ("2021.4", "2022.1", "2026.4")] == [Answer.STOPPED, Answer.RUNS, Answer.RUNS]


def test_booleans_that_are_computed_within_a_model_run_on_2021_2() -> None:
    """It takes no inputs of booleans, which its measured models had."""
    made = Builder(opset=4)
    data = made.parameter("x", "2,3")
    made.result(made.call("Select", made.call("Greater", data, np.float32(0)), data, np.float32(1)))
    made.model.version = 10
    assert answers(made)["2021.2"] is Answer.RUNS
    made = Builder(opset=4)
    condition, data = made.parameter("c", "2,3", "boolean"), made.parameter("x", "2,3")
    made.result(made.call("Select", condition, data, np.float32(1)))
    made.model.version = 10
    assert answers(made)["2021.2"] is Answer.READS


def test_lists_that_are_computed_from_sizes_have_known_lengths_on_2021() -> None:
    made = Builder(opset=4)
    data = made.parameter("x", "1,3,5,5")
    rank = made.call("Squeeze", made.call("ShapeOf", made.call("ShapeOf", data, output_type="i64"), output_type="i64"))
    axes = made.call("Range", np.int64(2), rank, np.int64(1), output_type="i64")
    made.result(made.call("ReduceMean", data, axes, keep_dims=True))
    made.model.version = 10
    assert answers(made)["2021.4"] is Answer.RUNS


def test_a_sum_without_an_output_port_is_part_of_nothing() -> None:
    made = Builder(opset=7)
    made.call("Add", made.parameter("data", "2,3"), np.array([1], np.float32), name="idle")
    before, behind = render(made.model).split(b'name="idle"')
    start, end = behind.index(b"<output>"), behind.index(b"</output>") + len(b"</output>")
    model = read(before + b'name="idle"' + behind[:start] + behind[end:], b"".join(made.model.weights.tail()))
    located, op = next(one for one in model.walk() if one.layer.name == "idle"), find_op("Add", "opset1")
    assert op is not None
    assert Surroundings(model).seen(located, op, [], [], 11).patterns == frozenset()


def suppressed(kind: str = "i32", *, given: bool = False) -> tuple[bytes, bytes]:
    """Boxes that a suppression selects, or, if `given`, their numbers; files of the time record the largest sizes."""
    made = Builder(opset=7)
    boxes, scores = made.parameter("boxes", "1,3,4"), made.parameter("scores", "1,1,3")
    limits = np.int64(3), np.float32(0.5), np.float32(0.4)
    selected = made.call("NonMaxSuppression", boxes, scores, *limits, output_type=kind)
    column = made.call("Gather", selected, np.array([2]), np.int64(1))
    taken = made.call(
        "Gather", made.call("Squeeze", boxes, np.array([0])), made.call("Squeeze", column, np.array([1])), np.int64(0)
    )
    made.result(selected if given else taken)
    made.model.version = 10
    return render(made.model).replace(b"<dim>-1</dim>", b"<dim>3</dim>"), b"".join(made.model.weights.tail())


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        ("i32", True, Answer.DIFFERS),
        ("i32", False, Answer.DIFFERS),
        ("i64", False, Answer.DIFFERS),
        ("i64", True, Answer.READS),
    ],
)
def test_2021_takes_the_sizes_that_a_suppression_decides_for_the_largest(
    kind: str, given: bool, wanted: Answer
) -> None:
    model = read(*suppressed(kind, given=given))
    found = {one.release.short: one for one in compatibility(model)}
    assert found["2021.4"].answer is wanted
    assert len(found["2021.4"].obstacles) == 1
    assert [step.before for step in migrate(model, "openvino-2021.4").refused] == ["NonMaxSuppression-5"]
    fed = {"boxes": np.array([[[0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3]]], np.float32)}
    fed["scores"] = np.array([[[0.9, 0.8, 0.1]]], np.float32)
    with client_of("2021.4") as client, sources(model) as files:
        if wanted is Answer.READS:
            with pytest.raises(RuntimeFailure):
                client.check(*files)
            return
        (array,) = client.infer(*files, fed).outputs.values()
    assert array.shape[0] == 3


@pytest.mark.parametrize(("precision", "wanted"), [(b"FP32", Answer.RUNS), (b"UNSPECIFIED", Answer.STOPPED)])
def test_an_input_of_a_body_without_an_element_type(precision: bytes, wanted: Answer) -> None:
    """No release after 2022.2 finds the type of what a TensorIterator reads for its body."""
    text, weights = iterator_model(np.random.default_rng(1), static=True)
    before, body = text.split(b"<body>")
    untyped = body.replace(b'element_type="f32"', b'element_type="dynamic"', 1).replace(b"FP32", precision, 1)
    made = read(before + b"<body>" + untyped, weights)
    found = {one.release.short: one.answer for one in compatibility(made)}
    assert [found["2022.2"], found["2025.4"]] == [wanted, Answer.READS]
    with client_of("2025.4") as client, sources(made) as files, pytest.raises(RuntimeFailure):
        client.check(*files)


@pytest.mark.parametrize(("word", "wanted"), [("1", Answer.RUNS), ("true", Answer.STOPPED), ("FALSE", Answer.STOPPED)])
def test_2021_2_reads_some_flags_only_as_numbers(word: str, wanted: Answer) -> None:
    made = Builder(opset=3)
    sizes = [made.call("ShapeOf", made.parameter(name, "1,3,4,5"), output_type="i64") for name in "xy"]
    masks: dict[str, Any] = dict.fromkeys(
        ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"), (0,)
    )
    ends = [made.call("StridedSlice", size, np.array([2]), np.array([4]), np.array([1]), **masks) for size in sizes]
    prior: dict[str, Any] = {
        "width": 2.0,
        "height": 3.0,
        "step_w": 1.0,
        "step_h": 1.0,
        "offset": 0.5,
        "variance": (0.1, 0.1, 0.2, 0.2),
    }
    boxes = made.call("PriorBoxClustered", *ends, name="boxes", clip=True, **prior)
    made.result(made.call("Unsqueeze", boxes, np.array([0])))
    made.model.version = 10
    text = render(made.model).replace(b'clip="true"', f'clip="{word}"'.encode())
    model = read(text, b"".join(made.model.weights.tail()))
    assert {one.release.short: one.answer for one in compatibility(model)}["2021.2"] is wanted
    with client_of("2021.2") as client, sources(model) as files:
        if wanted is Answer.RUNS:
            client.check(*files)
        else:
            with pytest.raises(RuntimeFailure, match="stoi"):
                client.check(*files)


def test_an_empty_constant_as_an_output() -> None:
    made = builder()
    made.result(made.constant(np.zeros(0, np.float32), "empty"), "nothing")
    found = answers(made)
    assert [found[release] for release in ("2023.1", "2023.2", "2023.3")] == [
        Answer.STOPPED,
        Answer.READS,
        Answer.RUNS,
    ]


@pytest.mark.parametrize("kind", ["boolean", "f16"])
def test_layers_that_differ_in_what_is_around_them_alone_are_told_apart(kind: str) -> None:
    """The second half of a Split, that is converted as the first is, has wrong values as a boolean."""
    builder = Builder(opset=8)
    halves = builder.outputs("Split", builder.parameter("x", "4"), np.array(0), num_splits=2)
    for number, half in enumerate(halves):
        builder.result(builder.call("Convert", half, destination_type=kind, name=f"half{number}"), f"y{number}")
    row = next(row for row in ROWS if row.name == "conversion of a later output of floats to boolean")
    (found,) = compatibility(builder.model, [row.releases[-1]])
    assert [one.path for one in found.obstacles] == (["half1"] if kind == "boolean" else [])


@pytest.mark.parametrize("taken", [False, True])
def test_a_branch_may_give_nothing(taken: bool, tmp_path: Path) -> None:
    """Outputs of a branch are none of the model: releases from 2022.1 on run it with and without elements."""
    condition, data, other = (
        ops.parameter([], np.bool_),
        ops.parameter([3], np.float32),
        ops.parameter([-1], np.float32),
    )
    given = [ops.result(one) for one in (ov.op.Constant(np.zeros(0, np.float32)), ops.relu(other))]
    choice = ops.if_op(condition)
    choice.set_then_body(ov.Model([given[0]], []))
    choice.set_else_body(ov.Model([given[1]], [other]))
    choice.set_input(data.output(0), None, other)
    output = choice.set_output(*given)
    ov.serialize(ov.Model([ops.abs(output)], [condition, data]), tmp_path / "m.xml", tmp_path / "m.bin")
    model = read(tmp_path / "m.xml")
    found = compatibility(model, [release for release in OPENVINO if release.number >= (2022, 1)])
    assert {one.answer for one in found} == {Answer.RUNS}
    fed = {one.name: np.ones(3, np.float32) if one.port.dims else np.array(taken) for one in model.inputs}
    for name in ("2022.1", "2023.1"):
        with client_of(name) as client, sources(model) as (text, weights):
            (array,) = client.infer(text, weights, fed).outputs.values()
            assert array.shape == (0 if taken else 3,)


@pytest.mark.parametrize(("number", "wanted"), [(0, Answer.RUNS), (2, Answer.STOPPED)])
def test_a_part_without_elements_stops_releases_before_2023_2_only_as_an_output(number: int, wanted: Answer) -> None:
    made = Builder(opset=7)
    parts = made.outputs("VariadicSplit", made.parameter("x", "6,3"), np.array(0), np.array([3, 3, 0]))
    for part in {0, 1, number}:
        made.result(parts[part])
    made.model.version = 10
    found = answers(made)
    assert [found[name] for name in ("2021.3", "2021.4", "2022.3", "2023.3")] == [
        Answer.READS if number == 0 else Answer.STOPPED,
        wanted,
        wanted,
        Answer.RUNS,
    ]
    for name in ("2021.3", "2021.4", "2022.3"):
        with client_of(name) as client, sources(made.model) as files:
            if found[name] is Answer.RUNS:
                client.check(*files)
            else:
                with pytest.raises(RuntimeFailure):
                    client.check(*files)


@pytest.mark.parametrize("version", [10, 11])
def test_layers_of_one_name(version: int) -> None:
    found = answers(rename(builder(version=version), "first", "second"))
    assert {found["2022.1"], found["2024.0"]} == {Answer.STOPPED}
    assert {found["2024.1"], found["2026.4"]} == {Answer.RUNS}


def test_inputs_and_outputs_of_one_name() -> None:
    assert answers(rename(builder(version=11), "second", "data"))["2026.4"] is Answer.RUNS
    assert set(answers(rename(builder(version=10), "second", "data")).values()) == {Answer.STOPPED}


def test_outputs_of_a_layer_with_several_have_numbers_in_their_names() -> None:
    for name, wanted in (("parts", Answer.RUNS), ("parts.0", Answer.STOPPED)):
        made = Builder(opset=7)
        for one in made.outputs("Split", made.parameter("x", "2,3"), np.array(0), num_splits=2, name="parts"):
            made.result(one)
        made.model.version = 10
        assert answers(rename(made, "x", name))["2026.4"] is wanted


def test_results_of_one_name() -> None:
    found = answers(rename(builder(version=10), "end/result", "first"))
    assert found["2021.2"] is Answer.STOPPED
    assert found["2021.3"] is found["2026.4"] is Answer.RUNS


def test_an_output_may_be_a_slice_to_the_size_of_another_tensor() -> None:
    made = Builder()
    rows, data = made.parameter("rows", "?,4"), made.parameter("data", "?,4")
    size = made.call("Gather", made.call("ShapeOf", rows, output_type="i64"), np.array([0]), np.array(0))
    part = made.call("Slice", data, np.array([0]), size, np.array([1]), np.array([0]))
    made.result(made.call("Transpose", made.call("Abs", part), np.array([1, 0])))
    made.result(part)
    assert answers(made)["2026.4"] is Answer.RUNS


def test_a_layer_that_does_not_run_says_more_than_one_that_gives_other_values() -> None:
    old = Builder(opset=1)
    ends = (old.parameter(name, "2", "boolean") for name in "ab")
    old.result(old.call("Xor", *ends, name="xor"), "c")
    made = Builder(old.model, opset=6)
    named = {"variable_id": "v", "variable_type": "f32", "variable_shape": "2"}
    state = made.call("ReadValue", made.parameter("x", "2"), **named, name="state")
    made.call("Assign", state, variable_id="v")
    made.result(state, "s")
    found = answers(made)
    assert (found["2022.1"], found["2022.3"], found["2024.0"]) == (Answer.READS, Answer.DIFFERS, Answer.RUNS)


def test_inputs_that_are_outputs() -> None:
    made = Builder(opset=7)
    made.result(made.parameter("data", "3"), "end")
    made.model.version = 10
    found = answers(made)
    assert found["2021.2"] is found["2024.6"] is Answer.RUNS
    assert found["2025.0"] is found["2026.4"] is Answer.STOPPED


@pytest.mark.parametrize(("name", "first"), [("data", "2024.2"), ("second/result", "2024.5")])
def test_stamps_of_which_a_part_is_read(name: str, first: str) -> None:
    """A Parameter is read with an opset that a release has begun; a Result is not."""
    made = builder(version=10)
    next(layer for layer in made.graph.layers() if layer.name in {name, "end/result"}).tag["version"] = "opset15"
    found = [release for release, answer in answers(made).items() if answer is Answer.RUNS]
    assert found[0] == first


def test_inputs_of_unknown_rank() -> None:
    found = answers(builder("..."))
    assert {found["2022.1"], found["2026.4"]} == {Answer.READS}


def test_tensors_without_elements() -> None:
    found = answers(builder("0,3"))
    assert [found[name] for name in ("2023.1", "2023.2", "2023.3")] == [Answer.STOPPED, Answer.READS, Answer.RUNS]
    made = builder(version=10)
    empty = made.call("ReduceSum", made.parameter("other", "2,3"), np.zeros(0, np.int64), name="empty", keep_dims=True)
    made.result(made.call("Add", empty, np.array([1], np.float32), name="rest"))
    found = answers(made)
    assert [found[name] for name in ("2021.2", "2021.3", "2022.1")] == [Answer.STOPPED, Answer.RUNS, Answer.RUNS]


def test_a_file_without_bytes() -> None:
    """The only constant has no elements: releases until 2021.4, and 2026.2 and 2026.3, do not read the model."""
    made = Builder(opset=7)
    made.result(made.call("ReduceSum", made.parameter("x", "2,3"), np.zeros(0, np.int64), keep_dims=True))
    made.model.version = 10
    found = answers(made)
    assert {found[name] for name in ("2021.4", "2026.2", "2026.3")} == {Answer.STOPPED}
    assert found["2022.1"] is found["2026.1"] is found["2026.4"] is Answer.RUNS


def test_a_file_whose_bytes_are_missing_is_no_file_without_bytes() -> None:
    """One of two constants has elements."""
    made = Builder(opset=7)
    total = made.call("ReduceSum", made.parameter("x", "2,3"), np.zeros(0, np.int64), keep_dims=True)
    made.result(made.call("Add", total, np.ones(1, np.float32)))
    assert not lacks_bytes(read(bytes(render(made.model)), b""))


def test_layers_that_nothing_needs_are_not_read() -> None:
    made = builder(version=10)
    made.call("Abs", made.parameter("more", "2"), name="unused")
    next(layer for layer in made.graph.layers() if layer.name == "unused").tag["version"] = "opset15"
    assert set(answers(made).values()) == {Answer.RUNS}


@pytest.mark.parametrize("kept", [False, True])
def test_what_a_variable_keeps_is_read(kept: bool) -> None:
    """By no release before 2024.4, as an operation of opset 15 leads to it."""
    made = Builder(opset=6)
    data = made.parameter("x", "2")
    made.result(made.call("ReLU", data))
    shifted = made.call("Abs", data, name="newer")
    if kept:
        shape = {"variable_id": "v", "variable_type": "f32", "variable_shape": "2"}
        made.call(
            "Assign",
            made.call("Add", shifted, made.call("ReadValue", np.zeros(2, np.float32), **shape)),
            variable_id="v",
        )
    next(layer for layer in made.graph.layers() if layer.name == "newer").tag["version"] = "opset15"
    found = answers(made)
    assert found["2023.3"] is (Answer.STOPPED if kept else Answer.RUNS)
    refused = pytest.raises(RuntimeFailure) if kept else nullcontext()
    with client_of("2023.3") as client, sources(made.model) as files, refused:
        client.check(*files)


@pytest.mark.parametrize("stamp", ["opset6", "experimental", "extension"])
def test_stamps_of_experimental_operations(stamp: str) -> None:
    made = Builder(opset=6)
    made.result(
        made.call("ExperimentalDetectronTopKROIs", made.parameter("x", "5,4"), made.parameter("p", "5"), max_rois=3)
    )
    next(layer for layer in made.graph.layers() if "TopK" in layer.type).tag["version"] = stamp
    made.model.version = 10
    found = answers(made)
    assert {found[name] for name in ("2021.4", "2022.3", "2026.4")} == {Answer.RUNS}
    with client_of("2021.4") as client, sources(made.model) as files:
        client.check(*files)


def unread(empty: bool) -> Model:
    """A model with a layer that no Result needs, of unknown size or without elements."""
    made = Builder(opset=6)
    data = made.parameter("x", "6")
    made.result(made.call("ReLU", data))
    if empty:
        made.call("StridedSlice", data, *(np.array([one]) for one in (3, 3, 1)), begin_mask=(0,), end_mask=(0,))
    else:
        made.call("NonZero", data, output_type="i64")
    made.model.version = 10
    return made.model


def unsized(read: bool) -> Model:
    """A model with an output of unknown size, which an input or a layer decides."""
    made = Builder(opset=6)
    data = made.parameter("x", "?,2" if read else "6")
    made.result(made.call("ReLU", data) if read else made.call("NonZero", data, output_type="i32"))
    made.model.version = 10
    return made.model


def empty_within() -> Model:
    """A model in which a Convert reads what has no elements, and nothing without elements is an output."""
    made = Builder(opset=6)
    data = made.parameter("x", "6")
    part = made.call("StridedSlice", data, *(np.array([one]) for one in (3, 3, 1)), begin_mask=(0,), end_mask=(0,))
    whole = [made.call("Convert", one, destination_type="i32") for one in (part, data)]
    made.result(made.call("Concat", *whole, axis=0))
    made.model.version = 10
    return made.model


SIZES = pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (unread(empty=False), {"2021.2": "runs", "2021.3": "stopped", "2021.4": "stopped", "2022.1": "runs"}),
        (unread(empty=True), {"2021.2": "stopped", "2021.3": "runs", "2021.4": "runs"}),
        (unsized(read=True), {"2021.2": "stopped", "2021.3": "stopped", "2022.1": "runs"}),
        (unsized(read=False), {"2021.2": "reads", "2021.3": "stopped", "2022.1": "runs"}),
        (empty_within(), {"2021.4": "runs", "2022.3": "runs", "2023.0": "runs"}),
    ],
)


@SIZES
def test_sizes_that_early_releases_do_not_read(model: Model, wanted: Mapping[str, str]) -> None:
    found = compatibility(model, [find_release(f"openvino-{name}") for name in wanted])
    assert {one.release.short: str(one.answer) for one in found} == wanted


@pytest.mark.sweep
@SIZES
def test_early_releases_do_not_read_them(model: Model, wanted: Mapping[str, str]) -> None:
    for name, answer in wanted.items():
        with client_of(name) as client, sources(model) as files:
            if answer == "runs":
                client.check(*files)
            else:
                with pytest.raises(RuntimeFailure) as failure:
                    client.check(*files)
                assert failure.value.stage == ("reading the model" if answer == "stopped" else "compiling the model")


def variants(seen: Seen) -> Iterator[Seen]:
    """Yield a layer with one thing changed at a time, whether or not there is such a layer."""
    yield seen
    yield replace(seen, opset=seen.opset + 3)
    halves = [replace(fact, dtype=element_type("f16")) for fact in seen.inputs]
    for version in (10, 11):
        for first in (False, True):
            yield replace(seen, version=version, first=first, inputs=halves)
    known = [constant_fact(np.zeros((2, 2), np.float32))] * len(seen.outputs)
    for fact in known:
        yield replace(seen, outputs=[replace(fact, value=None)] * len(known), between=False)
        yield replace(seen, outputs=known, between=False)
    yield replace(seen, names=frozenset({"another layer has this name"}))
    yield replace(seen, constant=frozenset(range(len(seen.inputs))) - {*seen.constant})
    yield replace(seen, producers=("ReLU",) * len(seen.inputs), readers=((0, "ReLU"),))
    yield replace(seen, held=frozenset({"i8"}))
    yield replace(seen, scaled=frozenset({1}))
    yield from (
        replace(seen, patterns=frozenset({name}))
        for name in ("sum", Pattern.AFFINE, Pattern.JOINED, Pattern.SHARED, Pattern.QUANTIZED)
    )
    changes: list[dict[str, Any]] = [{flag: not getattr(seen, flag)} for flag in ("first", "last", "open", "between")]
    changes.append({"absent": frozenset(seen.op.attrs) - seen.absent})
    for side in ("inputs", "outputs"):
        facts = getattr(seen, side)
        for number, fact in enumerate(facts[:2]):
            shapes = [None, *map(parse_shape, ("?,?", "2,?", "0,2", "7,8"))]
            others = [Fact(fact.dtype, shape) for shape in shapes]
            others += [Fact(element_type(kind), fact.shape) for kind in ("f16", "u4", "string")]
            changes += [{side: [*facts[:number], other, *facts[number + 1 :]]} for other in others]
    for change in changes:
        yield replace(seen, **change)
    if seen.attrs is not None:
        for name, spec in seen.op.attrs.items():
            if isinstance(spec, OneOf):
                for word in spec.words:
                    yield replace(seen, attrs=Attrs({**seen.attrs, name: word}))
            elif isinstance(spec, Flag):
                yield replace(seen, attrs=Attrs({**seen.attrs, name: not seen.attrs[name]}))


def test_records_that_validate_only_warns_of_do_not_hide_the_answer() -> None:
    """A port that records an unknown size, though its size is known."""
    made = builder()
    first = next(layer for layer in made.graph.layers() if layer.name == "first")
    first.outputs[0].dims = (-1, 3)
    assert {one.severity for one in validate(made.model)} == {Severity.WARNING}
    assert answers(made)["2022.1"] is Answer.RUNS


def test_a_wrong_precision_of_a_port_does_not_hide_the_answer() -> None:
    """Releases compute the element types themselves."""
    made = builder()
    next(layer for layer in made.graph.layers() if layer.name == "first").outputs[0].precision = "FP16"
    assert {one.severity for one in validate(made.model)} == {Severity.ERROR}
    assert answers(made)["2022.1"] is Answer.RUNS


def test_f16_is_asked_about_on_releases_that_convert_it() -> None:
    """2021.4 does not run ScatterNDUpdate of f16 as it does that of f32."""
    for kind, wanted in (("f32", Answer.RUNS), ("f16", Answer.DIFFERS)):
        made = Builder(opset=7)
        data, updates = made.parameter("data", "3,2", kind), made.parameter("updates", "1,2", kind)
        made.result(made.call("ScatterNDUpdate", data, np.array([[1]]), updates))
        made.model.version = 10
        assert answers(made)["2021.4"] is wanted


def test_sizes_of_1_before_others_are_found_beside_unknown_ones() -> None:
    """2022.3 does not stretch a dimension of 1 that one of unknown size follows."""
    made = Builder(opset=7)
    data, other = made.parameter("x", "?,?,3,?"), made.parameter("y", "?,1,1..")
    made.result(made.call("Maximum", data, other, auto_broadcast="pdpd", auto_broadcast_axis=1))
    fed = {"x": np.ones((2, 4, 3, 5), np.float32), "y": np.ones((4, 1, 5), np.float32)}
    assert answers(made)["2022.3"] is Answer.STOPPED
    with client_of("2022.3") as client, pytest.raises(RuntimeFailure):
        client.infer_model(made.model, fed)


def test_layers_of_one_key_get_one_answer_from_each_release() -> None:
    """Answers are kept for layers that are alike: of what decides about a layer nothing may be left out of the key."""
    alike, ops = defaultdict[Hashable, list[Seen]](list), set[str]()
    for row in ROWS:
        if row.ops[0] in ops:
            continue
        ops.add(row.ops[0])
        model, _ = as_model(row.model)
        for _, seen in _layers(model):
            for one in variants(seen) if isinstance(seen, Seen) else ():
                alike[decisive(one)].append(one)
    for group in (group for group in alike.values() if len(group) > 1):
        first, *others = ([verdict(release, one) for release in OPENVINO[::4]] for one in group)
        assert all(given == first for given in others), group
    assert sum(map(len, alike.values())) > 2 * len(alike)


def test_indices_are_looked_at_in_each_layer() -> None:
    """2025.2 reads negative ones from before the data, and others rightly."""
    made = Builder(opset=8)
    data = made.parameter("data", "3,2")
    for name, index in (("first", 0), ("second", -1)):
        made.result(made.call("GatherND", data, np.array([[index]]), name=name))
    (found,) = [one for one in compatibility(made.model) if one.release.name == "openvino-2025.2"]
    assert [one.path for one in found.obstacles] == ["second"]


def test_a_layer_in_a_body_has_its_own_line() -> None:
    body = killers.Net()
    middle = body.relus(body.parameter("1,3,8,8"), 3)
    text, weights = killers.loop(2, body, body.layer("ReLU", [middle], name="offending", version="opset15"))
    (old,) = [one for one in compatibility(read(text, weights)) if one.release.name == "openvino-2022.1"]
    found = old.obstacles
    assert [one.path for one in found] == ["loop/body/offending"], old
    assert b'name="offending"' in text.splitlines()[(found[0].line or 0) - 1]


def test_single_unknown_sizes() -> None:
    """The last size of boxes has to be known to compile it, the others have not."""
    for dims, wanted in (("1,?,4", Answer.RUNS), ("1,6,?", Answer.READS)):
        made = Builder(opset=5)
        ends = made.parameter("boxes", dims), made.parameter("scores", "1,2,6")
        made.result(made.outputs("NonMaxSuppression", *ends, output_type="i32")[0])
        assert answers(made)["2024.6"] is wanted


@pytest.mark.parametrize(
    ("equation", "shapes", "wanted"),
    [
        ("ab,bc->ac", ["2,3", "3,4"], Answer.RUNS),
        ("ab,bc->ac", ["2,1", "3,4"], Answer.STOPPED),
        ("aab->b", ["2,2,3"], Answer.READS),
        ("a...,a->...", ["2,3", "2"], Answer.READS),
    ],
)
def test_equations(equation: str, shapes: list[str], wanted: Answer) -> None:
    made = Builder(opset=7)
    sources = [made.parameter(f"x{number}", dims) for number, dims in enumerate(shapes)]
    made.result(made.call("Einsum", *sources, equation=equation))
    found = answers(made)
    assert found["2022.1"] is found["2025.0"] is wanted
    assert found["2025.1"] is Answer.RUNS


def test_shapes_that_are_computed() -> None:
    """What follows from known sizes is known to a release as a constant is, what follows from values is not."""
    made = Builder(opset=7)
    data, shape = made.parameter("data", "2,3"), made.parameter("shape", "2", "i64")
    made.result(made.call("Reshape", data, made.call("ShapeOf", data, output_type="i64"), special_zero=False))
    made.model.version = 10
    assert answers(made)["2021.4"] is Answer.RUNS
    made.result(made.call("Reshape", data, shape, special_zero=False, name="computed"))
    assert answers(made)["2021.4"] is not Answer.RUNS


@pytest.mark.sweep
@pytest.mark.parametrize("release", OPENVINO, ids=lambda release: release.name)
def test_answers_are_what_releases_do(release: Release) -> None:
    """No release fails where the answer is `runs`; the other answers are right but for a few that say too little."""
    if release is not OPENVINO[-1] and environment(release) is None:
        pytest.skip(f"{release.name} is not here (ir-tools runtimes --add {release.name})")
    rng = np.random.default_rng(OPENVINO.index(release))
    networks = map(network, range(COUNT // 4))
    pairs = list(asked((one, release) for one in (*(random_question(rng) for _ in range(COUNT)), *networks)))
    wrong = [(pair.question.about, pair.said.answer, pair.does) for pair in pairs if not pair.right]
    assert [pair for pair in wrong if pair[1] is Answer.RUNS] == []
    assert len(wrong) <= 1, wrong


def test_chains_that_layers_have_in_common_are_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many layers ask no more than twice, and some, for what feeds and what reads a port."""
    asked = Counter[str]()
    ask = Graph.source, Graph.consumers

    def source(graph: Graph, layer: int, port: int) -> Source | None:
        asked["source"] += 1
        return ask[0](graph, layer, port)

    def consumers(graph: Graph, layer: int, port: int, at_most: int | None = None) -> list[tuple[int, int]]:
        asked["consumers"] += 1
        return ask[1](graph, layer, port, at_most)

    monkeypatch.setattr(Graph, "source", source)
    monkeypatch.setattr(Graph, "consumers", consumers)
    for make in (pieces_of_a_product, weights_behind_a_chain):
        numbers = []
        for layers in (40, 80):
            asked.clear()
            compatibility(read(*make(layers)))
            numbers.append(asked.total())
        assert numbers[1] < 2.2 * numbers[0]


def test_long_chains_behind_square_weights() -> None:
    made = Builder(opset=8)
    weights = made.constant(np.eye(3, dtype=np.float32))
    for _ in range(600):
        weights = made.call(
            "Unsqueeze", made.call("Reshape", weights, np.array([9]), special_zero=False), np.array([0])
        )
    made.result(made.call("MatMul", made.parameter("data", "1,9", "f32"), weights, transpose_b=True))
    assert {one.answer for one in compatibility(made.model)} == {Answer.STOPPED, Answer.RUNS}


def test_a_model_without_inputs_is_not_compiled_before_2021_3() -> None:
    b = Builder(opset=1)
    b.result(b.call("ReLU", b.constant(np.ones((2, 3), np.float32))))
    b.model.version = 10
    answers = {one.release.number: one.answer for one in compatibility(b.model, OPENVINO[:3])}
    assert answers == {(2021, 2): Answer.READS, (2021, 3): Answer.RUNS, (2021, 4): Answer.RUNS}


def test_a_transposed_vector_is_another_output_too() -> None:
    """The output of the Transpose is uninitialized, whatever else reads it. Measured."""
    b = Builder(opset=1)
    moved = b.call("Transpose", b.parameter("x", "3", "f32"), b.constant(np.array([0])))
    b.result(moved)
    b.result(b.call("ReLU", moved))
    answers = [one.answer for one in compatibility(b.model, [one for one in OPENVINO if one.number >= (2025, 0)])]
    assert answers[:3] == [Answer.DIFFERS, Answer.READS, Answer.READS]


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (2, "; b: no"), (3, "; b: no; and 1 more"), (5, "; b: no; and 3 more")]
)
def test_the_first_obstacles_are_named_and_the_others_counted(count: int, more: str) -> None:
    obstacles = (
        Obstacle(path=path, line=None, layer="", reason="no", answer=Answer.STOPPED) for path in "abcde"[:count]
    )
    found = Compatibility(release=OPENVINO[0], answer=Answer.STOPPED, obstacles=tuple(obstacles))
    assert found.why.replace(" ()", "") == f"a: no{more}"


HEADERS = pytest.mark.parametrize(
    ("before", "within", "older", "newer"),
    [
        *((0, 0, False, True), (0, 600, True, True), (600, 600, False, True), (300, 300, True, True)),
        *((480, 600, True, True), (481, 600, False, False), (484, 600, False, False), (485, 600, False, True)),
        *((0, 79, False, True), (0, 80, True, True)),
    ],
)
"""Whether releases before 2024.5 read a file, and whether later ones do."""


def headed(before: int, within: int) -> bytes:
    """A file of less than 513 bytes with comments of this length before and in its element."""
    port, comment = '<port id="0" precision="FP32"><dim>2</dim></port>', within * "x"
    return (
        f"<!--{before * 'x'}-->"
        '<net name="n" version="11"><layers>'
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>'
        f"<output>{port}</output></layer>"
        f'<layer id="1" name="y" type="Result" version="opset1"><input>{port}</input></layer></layers>'
        f'<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges><!--{comment}--></net>'
    ).encode()


@HEADERS
def test_releases_look_for_the_version_in_the_first_bytes(before: int, within: int, older: bool, newer: bool) -> None:
    for one in report(headed(before, within)):
        read = newer if one.release.number >= (2024, 5) else older
        assert (one.answer is Answer.RUNS) is (read and one.release.dynamic), one.release


@pytest.mark.sweep
@HEADERS
@pytest.mark.parametrize("name", ["2022.1", "2024.4", "2024.5", "2026.4"])
def test_releases_find_the_version_there(
    name: str, before: int, within: int, older: bool, newer: bool, tmp_path: Path
) -> None:
    files = tmp_path / "model.xml", tmp_path / "model.bin"
    for file, data in zip(files, (headed(before, within), b""), strict=True):
        file.write_bytes(data)
    with client_of(name) as client:
        try:
            client.check(*files)
        except RuntimeFailure:
            read = False
        else:
            read = True
    assert read is (newer if name >= "2024.5" else older)


def chosen(data: ov.Node, condition: ov.Node, depth: int) -> ov.Output:
    """An If whose first branch is an Einsum that releases before 2025.1 do not compile, and the other a ReLU.

    `depth`: how many more Ifs, whose condition is true, are around the Einsum.
    """
    inner, other = (ops.parameter([3, 3, 4], np.float32) for _ in range(2))
    made = chosen(inner, ops.constant(np.array(True)), depth - 1) if depth else ops.einsum([inner], "aab->ab")
    taken = ov.Model([ops.result(made)], [inner])
    rest = ov.Model([ops.result(ops.reduce_max(ops.relu(other), 0))], [other])
    choice = ops.if_op(condition.output(0))
    choice.set_then_body(taken)
    choice.set_else_body(rest)
    choice.set_input(data.output(0), inner, other)
    return choice.set_output(taken.results[0], rest.results[0])


def branching(path: Path, condition: ov.Node, depth: int) -> Path:
    """Write such an If."""
    data = ops.parameter([3, 3, 4], np.float32)
    given = [condition] if condition.get_type_name() == "Parameter" else []
    ov.serialize(ov.Model([chosen(data, condition, depth)], [*given, data]), path, path.with_suffix(".bin"))
    return path


@pytest.mark.parametrize(("axis", "wanted"), [(1, Answer.UNKNOWN), (0, Answer.READS)])
def test_an_if_by_sizes_that_are_compared_with_themselves(axis: int, wanted: Answer, tmp_path: Path) -> None:
    """Releases from 2026.0 on find that these are equal, and take one branch, of another rank than the other."""
    data, inner, other = (ops.parameter(ov.PartialShape("?,?,4"), np.float32) for _ in range(3))
    shape, first = ops.shape_of(data), ops.constant(np.array(0))
    sizes = {number: ops.gather(shape, ops.constant(np.array(number)), first) for number in (0, 1)}
    bodies = [ov.Model([ops.unsqueeze(inner, first)], [inner]), ov.Model([ops.relu(other)], [other])]
    choice = ops.if_op(ops.not_equal(sizes[1], sizes[axis]).output(0))
    choice.set_then_body(bodies[0])
    choice.set_else_body(bodies[1])
    choice.set_input(data.output(0), inner, other)
    output = choice.set_output(bodies[0].results[0], bodies[1].results[0])
    ov.serialize(ov.Model([ops.abs(output)], [data]), tmp_path / "m.xml", tmp_path / "m.bin")
    found = {one.release.short: one.answer for one in compatibility(read(tmp_path / "m.xml"))}
    assert [found["2025.4"], found["2026.0"], found["2026.4"]] == [Answer.READS, wanted, wanted]
    try:
        ov.Core().compile_model(tmp_path / "m.xml", "CPU")
    except RuntimeError:
        assert wanted is Answer.READS
    else:
        assert wanted is Answer.UNKNOWN


CONDITION = pytest.mark.parametrize(
    ("condition", "depth", "compiled"),
    [
        (lambda: ops.constant(np.array(False)), 0, True),
        (lambda: ops.constant(np.array(False)), 1, True),
        (lambda: ops.equal(ops.constant(np.array(9)), ops.constant(np.array(3))), 0, True),
        (lambda: ops.constant(np.array(True)), 0, False),
        (lambda: ops.parameter([], np.bool_), 0, False),
    ],
    ids=["false", "nested", "computed", "true", "unknown"],
)


@CONDITION
def test_a_branch_that_a_known_condition_does_not_take_is_not_compiled(
    condition: Callable[[], ov.Node], depth: int, compiled: bool, tmp_path: Path
) -> None:
    model = read(branching(tmp_path / "m.xml", condition(), depth))
    said = compatibility(model, [release for release in OPENVINO if (2022, 1) <= release.number <= (2025, 0)])
    assert {one.answer for one in said} == {Answer.RUNS if compiled else Answer.READS}
    assert bool(migrate(model, "openvino-2023.3").steps) is not compiled


@pytest.mark.sweep
@CONDITION
@pytest.mark.parametrize("name", ["2022.1", "2025.0"])
def test_releases_do_not_compile_it(
    name: str, condition: Callable[[], ov.Node], depth: int, compiled: bool, tmp_path: Path
) -> None:
    path, data = branching(tmp_path / "m.xml", condition(), depth), np.ones((3, 3, 4), np.float32)
    model = read(path)
    fed = {one.name: data if one.port.dims else np.array(True) for one in model.inputs}
    with client_of(name) as client, sources(model) as (text, weights):
        try:
            client.infer(text, weights, fed)
        except RuntimeFailure:
            assert not compiled
        else:
            assert compiled
