"""What a release does with layers that are not in a model yet."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from itertools import cycle, islice, product
from typing import Any

import numpy as np
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.errors import ShapeError
from ir_tools.graph import Located, Model, Source
from ir_tools.known_differences.releases.seen import Seen, Unplaced
from ir_tools.known_differences.verdicts import Answer
from ir_tools.ops import Op, Role, find_op, role_of
from ir_tools.ops.definition import Fact, NewLayer, Ref, Rewrite
from ir_tools.releases.table import find_release
from ir_tools.rewrite.facts import KnownFacts
from ir_tools.rewrite.release_answers import ReleaseAnswers, _feed
from ir_tools.rewrite.rewriter import Rewriter, lost_output
from ir_tools.types import element_type, parse_shape
from tests.made.models import model_of
from tests.rewrite.test_opset_steps import MIGRATING, OPERATIONS, SUBSTITUTED, sampled

COMPARED_APART = {"op", "attrs", "inputs", "outputs", "version"}
"""What `Seen.around` leaves out: these are those of the layer, or of the whole model."""


def answers_and_seen(builder: Builder, release: str) -> tuple[ReleaseAnswers, Seen]:
    """Who knows the release, and the layer `y` as it decides."""
    located = next(found for found in builder.model.walk() if found.layer.name == "y")
    return _answers_of_layer(builder, release, located)


def _answers_of_layer(builder: Builder, release: str, located: Located) -> tuple[ReleaseAnswers, Seen]:
    answers = answers_of(builder.model, release)
    return answers, seen_in(answers, located)


def answers_of(model: Model, release: str) -> ReleaseAnswers:
    return ReleaseAnswers(model, KnownFacts(model), find_release(release), 10)


def seen_in(answers: ReleaseAnswers, located: Located) -> Seen:
    op = find_op(located.layer.type, located.layer.version)
    assert op is not None
    return answers.seen(located, op)


def new(type: str, source: Ref, kind: str, **raw: str) -> NewLayer:
    fact = Fact(element_type(kind), parse_shape("2,3"))
    return NewLayer(type=type, opset=1, inputs=(source,), outputs=(fact,), raw=raw)


def test_layers_that_differ_in_constants_alone_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    builder, asked = Builder(), list[Seen]()
    data = builder.parameter("x", "2,3")
    for number in range(8):
        data = builder.call("PReLU", data, np.array([number + 2], np.float32), name=f"y{number}")
    builder.result(data)
    answers, of = answers_of(builder.model, "openvino-2021.4"), ReleaseAnswers.of

    def counted(answers: ReleaseAnswers, seen: Seen) -> object:
        asked.append(seen)
        return of(answers, seen)

    monkeypatch.setattr(ReleaseAnswers, "of", counted)
    op = find_op("PReLU", "opset1")
    assert op is not None
    layers = [located for located in builder.model.walk() if located.layer.type == "PReLU"]
    assert [answers.does(located, op) for located in layers] == [None] * 8
    assert isinstance(asked.pop(1), Unplaced)
    assert [(seen.first, seen.last) for seen in asked] == [(True, False), (False, False), (False, True)]


@pytest.mark.parametrize("name", [field.name for field in fields(Seen) if field.name not in COMPARED_APART])
def test_layers_are_equal_only_if_nothing_around_them_differs(name: str) -> None:
    builder = Builder()
    builder.result(builder.call("Exp", builder.parameter("x", "2,3"), name="y"))
    _, seen = answers_and_seen(builder, "openvino-2021.4")
    value = getattr(seen, name)
    changed: dict[str, Any] = {name: value + 1 if isinstance(value, int) else type(value)([*value, "more"])}
    assert replace(seen, **changed).around != seen.around


def test_a_rewrite_is_as_good_as_the_worst_of_its_layers() -> None:
    """2021.4 computes the exponentials of bytes in another way."""
    builder = Builder()
    builder.result(builder.call("Exp", builder.parameter("x", "2,3", "u8"), name="y"))
    answers, seen = answers_and_seen(builder, "openvino-2021.4")
    bad, good = new("Exp", Ref(None), "u8"), new("Convert", Ref(0), "f32", destination_type="f32")
    assert answers.of(seen) is not None
    assert answers.of_rewrite(Rewrite(layers=(bad, good), strategy="", proof=""), seen) == answers.of(seen)
    first = new("Convert", Ref(None), "f32", destination_type="f32")
    assert answers.of_rewrite(Rewrite(layers=(first, new("Exp", Ref(0), "f32")), strategy="", proof=""), seen) is None


def test_what_else_is_in_a_model_is_looked_at_again_after_changes() -> None:
    """On 2025.4 a Clamp is another layer only behind a FakeQuantize."""
    plain = []
    changed: ReleaseAnswers | None = None
    for limits in ((), (-1, 1, -1, 1)):
        builder = Builder()
        data = builder.parameter("x", "2,3")
        if limits:
            data = builder.call("FakeQuantize", data, *map(np.float32, limits), levels=256)
        builder.result(builder.call("Clamp", data, min=0.0, max=1.0, name="y"))
        located = next(one for one in builder.model.walk() if one.layer.name == "y")
        fresh, op = answers_of(builder.model, "openvino-2025.4"), find_op("Clamp", "opset1")
        assert op is not None
        if changed is None:
            changed = fresh
        changed.known.moved(builder.model)
        changed.known.changed([])
        changed.changed(builder.model)
        plain += [one.is_plain(one.known.signatures.of(located.layer)[0], op) for one in (fresh, changed)]
    assert plain == [True, True, False, False]


def test_layers_that_a_rewrite_does_not_read_do_not_count() -> None:
    """Scaled weights of 8 bits make a product another one on 2024.6."""
    builder = Builder()
    floats = builder.call("Convert", builder.constant(np.ones((4, 4), np.int8)), destination_type="f32")
    weights = builder.call("Multiply", floats, np.ones((1, 4), np.float32))
    builder.result(builder.call("MatMul", builder.parameter("x", "4,4"), weights, name="y"))
    answers, seen = answers_and_seen(builder, "openvino-2024.6")
    for number, differs in ((0, False), (1, True)):
        product = replace(new("MatMul", Ref(None), "f32"), inputs=(Ref(None), Ref(None, number)))
        found = answers.of_rewrite(Rewrite(layers=(product,), strategy="", proof=""), seen)
        assert (found is not None) is differs


def test_what_decides_about_a_new_layer_is_what_decides_about_it_in_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rewrite that puts a layer in its own place, with another stamp, is seen as the layer, but for the stamp."""
    builder = Builder(opset=8)
    weights = builder.call("Convert", builder.constant(np.ones((3, 3), np.int8)), destination_type="f32")
    builder.result(builder.call("MatMul", builder.parameter("x", "3,3"), weights, name="y"))
    answers, seen = answers_and_seen(builder, "openvino-2024.6")
    layer = next(layer for layer in builder.graph.layers() if layer.name == "y")
    made: list[Seen] = []
    monkeypatch.setattr(answers, "of", made.append)
    for raw in (layer.raw, {}):
        same = NewLayer(type="MatMul", opset=4, inputs=(Ref(None), Ref(None, 1)), outputs=tuple(seen.outputs), raw=raw)
        answers.of_rewrite(Rewrite(layers=(same,), strategy="", proof=""), seen)
    found, wanted = (replace(one, attrs=None, inputs=[*one.inputs], outputs=[*one.outputs]) for one in (made[0], seen))
    assert found == replace(wanted, opset=4)
    assert dict(made[0].attrs or {}) == dict(seen.attrs or {})
    assert made[1].absent


@pytest.mark.parametrize(("end", "plain"), [(0, False), (2, True)], ids=["nothing", "two-rows"])
def test_a_layer_that_gives_nothing_is_asked_about(end: int, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even of an operation that runs: not all releases take outputs without elements."""
    monkeypatch.setattr("ir_tools.rewrite.release_answers.is_plain", lambda *of, **more: True)
    builder = Builder(opset=8)
    data = builder.parameter("x", "2,3")
    taken = builder.call("Slice", data, *(np.array([each]) for each in (0, end, 1, 0)), name="y")
    builder.result(taken)
    located = next(found for found in builder.model.walk() if found.layer.name == "y")
    answers, seen = answers_and_seen(builder, "openvino-2026.4")
    assert answers.is_plain(answers.known.signatures.of(located.layer)[0], seen.op) is plain


@pytest.mark.parametrize(("lengths", "plain"), [((0, 2), False), ((2, 0), False), ((1, 1), True)])
def test_a_layer_with_one_output_of_nothing_is_asked_about(
    lengths: tuple[int, int], plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ir_tools.rewrite.release_answers.is_plain", lambda *of, **more: True)
    builder = Builder(opset=8)
    builder.call("VariadicSplit", builder.parameter("x", "2,3"), np.array(0), np.array(lengths), name="y")
    located = next(found for found in builder.model.walk() if found.layer.name == "y")
    answers, seen = answers_and_seen(builder, "openvino-2026.4")
    assert answers.is_plain(answers.known.signatures.of(located.layer)[0], seen.op) is plain


def test_of_what_nothing_is_known_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder()
    builder.result(builder.call("ReLU", builder.parameter("x", "2,3"), name="y"))
    answers, seen = answers_and_seen(builder, "openvino-2024.6")
    for answer in Answer:
        monkeypatch.setattr(
            "ir_tools.rewrite.release_answers.behaviour",
            lambda release, seen, *, anywhere, answer=answer: (answer, "why"),
        )
        assert (answers.of(seen) is not None) is (answer in {Answer.STOPPED, Answer.READS, Answer.DIFFERS})


@pytest.mark.parametrize(
    ("release", "kind", "plain"), [("2021.4", "f64", True), ("2021.2", "bf16", False), ("2021.4", "f32", True)]
)
def test_inputs_that_are_converted_are_not_asked_about(release: str, kind: str, plain: bool) -> None:
    builder = Builder()
    builder.result(builder.parameter("y", "2,3", kind))
    located = next(builder.model.walk())
    answers, seen = answers_and_seen(builder, f"openvino-{release}")
    assert answers.is_plain(answers.known.signatures.of(located.layer)[0], seen.op) is plain


def test_a_new_layer_holds_what_the_constants_that_it_reads_are_computed_of() -> None:
    builder = Builder()
    weights = builder.call("Convert", builder.constant(np.ones((2, 3), np.uint8)), destination_type="f32")
    builder.result(builder.call("Add", builder.parameter("x", "2,3"), weights, name="y"))
    _, seen = answers_and_seen(builder, "openvino-2024.6")
    assert (seen.constant, seen.held) == ({1}, {"u8"})
    data, constant = (_feed(Ref(None, number), seen, []) for number in range(2))
    assert (data.constant, data.held) == (False, frozenset())
    assert (constant.constant, constant.held) == (True, {"u8"})
    made = [replace(seen, outputs=[data.fact], constant=frozenset({0, 1}))]
    assert _feed(Ref(0), seen, made)[1:] == (True, {"u8"})
    assert _feed(np.ones(2, np.float16), seen, [])[1:] == (True, {"f16"})


def surround(model: Model) -> None:
    """Put a layer of another type behind each input of the model, and one before each output: floats are scaled."""
    builder = Builder(model)
    kinds = cycle(("Negative", "Abs", "Sign", "ReLU"))
    for end, kind in zip(model.inputs, kinds, strict=False):
        if end.port.precision not in {"BOOL", "U1"}:
            builder.insert(Source(end.layer.id, end.port.id), kind)
    for end in model.outputs:
        for source in model.graph.sources(end.layer.id).values():
            if end.port.precision == "FP32":
                builder.insert(source, "Multiply", 2.0)
            else:
                builder.insert(source, "LogicalNot" if end.port.precision == "BOOL" else "Abs")


def rewrites_of(op: Op) -> Iterator[tuple[Model, Rewrite]]:
    """Models of the operation called `layer`, with what is put in its place for older opsets and for releases."""
    for setting in islice(sampled(op, np.random.default_rng(5)), 1):
        steps = ((op.migrate, max(op.version - 1, 1)), (op.substitute, 15))
        for (step, opset), around in product(steps, (False, True)):
            model = setting.model()
            if around:
                surround(model)
            place = next(located for located in model.walk() if located.path == "layer")
            known, attrs = KnownFacts(model), op.read(place.layer.raw, [])
            found = None
            if step is not None and attrs is not None:
                with suppress(ShapeError):
                    found = step(attrs, known.of(place).inputs, opset)
            signature = known.signatures.of(place.layer)[0]
            if isinstance(found, Rewrite) and not lost_output(place.graph, place.layer.id, signature, found):
                yield model, found


def decides(seen: Seen) -> dict[str, Any]:
    """What decides about a layer; i64 is also the type of sizes, which a model has of no constant.

    What scales a layer within a rewrite is not looked at.
    """
    facts = [(fact.dtype.name, fact.shape) for fact in (*seen.inputs, *seen.outputs)]
    own = {
        name: getattr(seen, name)
        for name in ("op", "opset", "first", "last", "absent", "between", "producers", "readers")
    }
    own["scaled"] = seen.scaled if seen.op.type.startswith("Reduce") else frozenset()
    constants = {*seen.constant}, seen.held - {"i64"}
    return own | {"attrs": dict(seen.attrs or {}), "facts": facts, "constants": constants}


def test_layers_of_a_rewrite_are_seen_as_they_are_in_the_model_that_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all operations that have steps: what is said of a rewrite is said of its layers when they are made."""
    wrong, compared, made = [], 0, list[Seen]()
    monkeypatch.setattr(ReleaseAnswers, "of", lambda answers, seen: made.append(seen))
    for op in (OPERATIONS[name] for name in {**MIGRATING, **dict.fromkeys(SUBSTITUTED)}):
        for model, rewrite in rewrites_of(op):
            made.clear()
            place = next(located for located in model.walk() if located.path == "layer")
            answers, before = answers_of(model, "openvino-2024.6"), {layer.id for layer in model.graph.layers()}
            answers.of_rewrite(rewrite, seen_in(answers, place))
            Rewriter(model).apply(place.graph, place.layer, op, rewrite)
            answers, last = answers_of(model, "openvino-2024.6"), place.layer.id
            new = {one.layer.id: one for one in model.walk() if one.layer.id not in before - {last}}
            order = [
                number for number in sorted(new.keys() - {last}) if role_of(new[number].layer) is not Role.CONSTANT
            ]
            for number, seen in zip([*order, last], made, strict=True):
                wanted, found = decides(seen_in(answers, new[number])), decides(seen)
                if number != last:
                    wanted["scaled"] &= found["scaled"]
                wrong += [(str(op), key, found[key], wanted[key]) for key in wanted if found[key] != wanted[key]]
                compared += 1
    assert wrong == []
    assert compared > 500


@pytest.mark.parametrize("data", ["2,?,4", "2,3,?"], ids=["steps of unknown number", "unrolled"])
@pytest.mark.parametrize(("type", "gates", "states"), [("LSTMSequence", 4, 2), ("GRUSequence", 3, 1)])
def test_a_sequence_without_activations_has_the_usual_ones(type: str, gates: int, states: int, data: str) -> None:
    builder, numbers = Builder(opset=5), np.random.default_rng(0)
    weights = (numbers.normal(size=(1, 5 * gates, *rest)).astype("f4") for rest in ((4,), (5,), ()))
    given = builder.parameter("x", data), *(builder.parameter(f"h{index}", "?,1,5") for index in range(states))
    lengths = builder.constant(np.array([3, 3], np.int32))
    usual = {4: "sigmoid,tanh,tanh", 3: "sigmoid,tanh"}[gates]
    found = builder.call(
        type, *given, lengths, *map(builder.constant, weights), hidden_size=5, direction="forward", activations=usual
    )
    builder.result(found, "out")
    inputs = {"x": numbers.normal(size=(2, 3, 4)).astype("f4")}
    inputs |= {f"h{index}": numbers.normal(size=(2, 1, 5)).astype("f4") for index in range(states)}
    expected = ir_tools.run(builder.model, inputs)
    del builder.graph.layer(found.layer).raw["activations"]
    migration = ir_tools.migrate(builder.model, to="openvino-2022.1")
    assert migration.ok
    got = ir_tools.run(migration.model, inputs)
    assert np.allclose(got["out"], expected["out"], atol=1e-6)


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("release", ["2021.4", "2022.3", "2023.0", "2024.6", "2026.4"])
def test_a_layer_that_is_plain_runs(release: str, typed: bool) -> None:
    """Also where input ports do not record types, as in IR v10."""
    plain = 0
    for seed in range(40):
        model = model_of(seed)
        for port in (port for _, layer, _ in model.walk() if not typed for port in layer.inputs):
            port.precision = None
        answers = answers_of(model, f"openvino-{release}")
        for located in model.walk():
            op = find_op(located.layer.type, located.layer.version)
            if (
                op is not None
                and op.role is Role.COMPUTATION
                and answers.is_plain(answers.known.signatures.of(located.layer)[0], op)
            ):
                assert answers.of(answers.seen(located, op)) is None, (seed, located)
                plain += 1
    assert plain > 30


def test_layers_of_other_types_are_asked_about_by_themselves() -> None:
    """2021.4 computes the exponentials of floats rightly, and those of bytes in another way."""
    builder = Builder()
    for kind in ("f32", "u8", "f32"):
        builder.result(builder.call("Exp", builder.parameter("x", "2,3", kind), name=kind))
    answers = answers_of(builder.model, "openvino-2021.4")
    layers = [located for located in answers.model.walk() if located.layer.type == "Exp"]
    assert [
        answers.is_plain(answers.known.signatures.of(one.layer)[0], seen_in(answers, one).op) for one in layers
    ] == [True, False, True]


@pytest.mark.parametrize(
    ("around", "attributes", "plain"),
    [
        ("", {}, True),
        ("", {"auto_broadcast": "pdpd"}, False),
        ("FakeQuantize", {}, False),
        ("Floor", {"auto_broadcast": "numpy"}, True),
    ],
)
def test_a_layer_is_plain_by_its_attributes_and_the_types_of_the_model(
    around: str, attributes: dict[str, str], plain: bool
) -> None:
    """2021.4 stops at some products as in pdpd, and at some of the outputs of a FakeQuantize."""
    builder = Builder()
    data = builder.parameter("x", "2,3")
    if around:
        quantizes = around == "FakeQuantize"
        limits, more = ((0, 1, 0, 1), {"levels": "256"}) if quantizes else ((), dict[str, str]())
        builder.result(builder.call(around, data, *map(np.float32, limits), name=None, **more))
    builder.result(builder.call("Multiply", data, data, name="y", **attributes))
    located = next(found for found in builder.model.walk() if found.layer.name == "y")
    answers, seen = answers_and_seen(builder, "openvino-2021.4")
    assert answers.is_plain(answers.known.signatures.of(located.layer)[0], seen.op) is plain


def test_nothing_is_known_of_a_rewrite_that_reads_an_input_which_nothing_feeds() -> None:
    builder = Builder()
    builder.result(builder.call("ReLU", builder.parameter("x", "2,3", "u8"), name="y"))
    answers, seen = answers_and_seen(builder, "openvino-2021.4")
    for number, known in ((0, True), (1, False)):
        rewrite = Rewrite(layers=(new("Exp", Ref(None, number), "u8"),), strategy="", proof="")
        assert (answers.of_rewrite(rewrite, seen) is not None) is known


def test_which_releases_run_a_refused_layer_is_asked_of_the_model_as_it_is() -> None:
    """In IR v10, which the migrated model gets, no release takes an input and an output of one name."""
    builder = Builder(opset=15)
    boxes, images = np.ones((2, 5), np.float32), np.zeros(2, np.int64)
    sizes: dict[str, Any] = {"pooled_h": 2, "pooled_w": 2, "sampling_ratio": 1, "spatial_scale": 1.0}
    data = builder.parameter("x", "1,3,8,8")
    found = builder.call("ROIAlignRotated", data, boxes, images, clockwise_mode=False, **sizes)
    builder.graph.layer(found.layer).tag["name"] = "x"
    builder.result(found)
    (refused,) = ir_tools.migrate(builder.model, to="openvino-2021.4").refused
    assert refused.reason.endswith("; OpenVINO 2024.2 and later run it")
