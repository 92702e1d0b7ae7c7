"""What is known of the inputs of a rewrite: sizes that small tensors hold are computed if a step looks at them."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import ShapeError
from ir_tools.execute import run
from ir_tools.graph import Graph, Model, Source
from ir_tools.infer import Propagation
from ir_tools.infer._engine import Step, Tensors
from ir_tools.ops import FAMILIES
from ir_tools.ops.definition import Fact
from ir_tools.rewrite.facts import KnownFacts
from ir_tools.rewrite.migration import _Plan, _Planning, migrate
from ir_tools.types import element_type
from tests.made.models import model_of
from tests.ops.layer_support import fact_of
from tests.ops.samples import sample_of
from tests.rewrite.test_opset_steps import is_valid, sampled


def picked(indices: str) -> Model:
    """Sizes of a ReLU, of which a Gather-1 picks some."""
    builder = Builder(opset=3)

    def relu(name: str, shape: list[int], dtype: str) -> Source:
        return builder.call("ReLU", builder.parameter(f"{name}_input", shape, dtype), name=name)

    def sizes(name: str, rank: int) -> Source:
        return builder.call("ShapeOf", relu(name, [1] * rank, "f32"), name=f"{name}_sizes")

    places = {
        "of constants": lambda: builder.constant(np.array([0, 1])),
        "of sizes": lambda: sizes("other", 2),
        "of data": lambda: relu("places", [2], "i64"),
    }[indices]()
    out = builder.call("Gather", sizes("data", 4), places, builder.constant(np.array(0)), name="picked")
    builder.result(out, "out")
    return builder.model


def test_a_step_to_another_version_alone_computes_no_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder(opset=1)
    sizes = [builder.call("ShapeOf", builder.parameter(name, [4, 4], "f32")) for name in ("features", "image")]
    boxes = {"min_size": (2.0,), "offset": 0.5, "variance": (0.1,)}
    builder.result(builder.call("PriorBox", *sizes, name="priors", **boxes), "out")
    monkeypatch.setattr(Propagation, "fact", lambda *_: pytest.fail("a size is computed"))
    steps = {step.path: step.after for step in migrate(builder.model, "opset8").steps}
    assert steps["priors"] == "PriorBox opset8"


@pytest.mark.parametrize(
    ("indices", "visited"), [("of constants", set()), ("of sizes", {"other", "other_input"}), ("of data", set())]
)
def test_only_sizes_that_a_step_looks_at_are_computed(
    indices: str, visited: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, visit = set[str](), Propagation._visit

    def noting(self: Propagation, graph: Graph, step: Step, facts: Tensors, given: Mapping[int, Fact]) -> None:
        found.add(step.layer.name)
        visit(self, graph, step, facts, given)

    monkeypatch.setattr(Propagation, "_visit", noting)
    steps = [step.after for step in migrate(picked(indices), "opset8").steps]
    assert {name for name in found if "sizes" not in name} == visited
    assert steps == ([] if indices == "of data" else ["Gather opset8"])


def test_layers_of_equal_records_are_planned_one_by_one_if_their_sizes_are_looked_at() -> None:
    """Two slices along axes that sizes say, which their records do not."""
    builder, rng = Builder(opset=8), np.random.default_rng(1)
    data, limits = builder.parameter("data", "3,4,5"), [np.array([number]) for number in (1, 3, 1)]
    fed = {"data": rng.random((3, 4, 5), np.float32)}
    for axis in (1, 2):
        axes = builder.call("ShapeOf", builder.parameter(f"x{axis}", [axis]), output_type="i64")
        part = builder.call("Slice", data, *limits, axes)
        builder.graph.layer(part.layer).outputs[0].dims = (-1, -1, -1)
        builder.result(part, f"y{axis}")
        fed[f"x{axis}"] = np.zeros(axis, np.float32)
    migrated = migrate(builder.model, "opset7")
    assert [step.after for step in migrated.steps] == ["StridedSlice opset1"] * 2
    found = run(migrated.model, fed)
    np.testing.assert_array_equal(found["y1"], fed["data"][:, 1:3])
    np.testing.assert_array_equal(found["y2"], fed["data"][:, :, 1:3])


@pytest.mark.parametrize("sizes", [2, 3])
def test_values_are_known_of_tensors_that_are_as_large_as_recorded(sizes: int) -> None:
    """Of two sizes that a ShapeOf is said to give three, none is known."""
    builder = Builder(opset=8)
    given = builder.call("ShapeOf", builder.parameter("x", "4,5"), output_type="i64", name="sizes")
    builder.result(builder.call("Reshape", builder.parameter("data", "20"), given, special_zero=False, name="y"))
    builder.graph.layer(given.layer).outputs[0].dims = (sizes,)
    place = next(located for located in builder.model.walk() if located.layer.name == "y")
    value = KnownFacts(builder.model).of(place).inputs[1].value
    assert (None if value is None else value.lower.tolist()) == ([4, 5] if sizes == 2 else None)


def test_no_rule_knows_values_that_depend_on_an_input_without_values() -> None:
    rng, compared = np.random.default_rng(3), 0
    for op in (op for family in FAMILIES for op in family.OPS if op.type != "ShapeOf" and op.bodies is None):
        sample = sample_of(op)
        if sample is None or any(
            isinstance(slot, tuple) and element_type(slot[0]).dtype is None for slot in sample.slots
        ):
            continue
        for setting in filter(is_valid, sampled(op, rng)):
            attrs, facts = op.read(setting.raw, []), [fact_of(array) for array in setting.arrays]
            assert attrs is not None
            compared += any(fact.value is not None for fact in op.outputs_of(attrs, facts) or ())
            for index, fact in enumerate(facts):
                with suppress(ShapeError):
                    outputs = op.outputs_of(attrs, [*facts[:index], Fact(fact.dtype, fact.shape), *facts[index + 1 :]])
                    assert {one.value for one in outputs or ()} <= {None}, f"{setting}: input {index}"
    assert compared > 200


def facts(known: KnownFacts, model: Model) -> dict[str, object]:
    """All that is known of the tensors of a model; bodies are asked about before their layers."""
    return {
        located.path: [
            (
                fact.dtype,
                fact.shape,
                None if fact.value is None else (fact.value.lower.tolist(), fact.value.upper.tolist()),
            )
            for fact in (
                *known.of(located).inputs,
                *known.computed(located.graph, located.layer),
                *known.results(located),
            )
        ]
        for located in reversed([*model.walk()])
    }


@pytest.mark.parametrize("seed", range(20))
def test_what_is_known_after_rewrites_is_what_is_found_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of layers behind those that were rewritten, in bodies and around them, and of new constants."""
    plan, move, change, compared = _Planning.plan, KnownFacts.moved, KnownFacts.changed, list[str]()
    models = dict[int, Model]()

    def planned(planning: _Planning) -> _Plan:
        facts(planning.known, planning.model)
        return plan(planning)

    def moved(known: KnownFacts, model: Model) -> None:
        move(known, model)
        models[id(known)] = model

    def changed(known: KnownFacts, layers: Iterable[tuple[Graph, int]]) -> None:
        change(known, layers)
        model = models[id(known)]
        fresh = facts(KnownFacts(model), model)
        assert facts(known, model) == fresh
        compared.extend(fresh)

    monkeypatch.setattr(_Planning, "plan", planned)
    monkeypatch.setattr(KnownFacts, "moved", moved)
    monkeypatch.setattr(KnownFacts, "changed", changed)
    for target in ("opset1", "opset8", "openvino-2021.4"):
        migrate(model_of(seed), target)
    assert compared or seed not in (1, 3, 5)


@pytest.mark.parametrize("seed", [8, 14, 27])
def test_what_is_known_after_layers_are_added_to_bodies_is_what_is_found_anew(seed: int) -> None:
    model = model_of(seed)
    known = KnownFacts(model)
    before = facts(known, model)
    changed: list[tuple[Graph, int]] = []
    for body in (body for _, layer, _ in model.walk() for body in layer.bodies.values()):
        result = next(layer for layer in body.layers() if layer.type == "Result")
        source = body.sources(result.id)[result.inputs[0].id]
        twice = Builder(model, graph=body).call("Concat", source, source, axis=0)
        body.disconnect(result.id, result.inputs[0].id)
        body.connect(twice, result.id, result.inputs[0].id)
        changed.append((body, twice.layer))
    known.changed(changed)
    assert facts(known, model) == facts(KnownFacts(model), model) != before
