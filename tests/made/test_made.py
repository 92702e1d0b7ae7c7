"""What becomes of made models is what was recorded; migrated ones are valid, a fixed point, and give equal values."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.diagnostics import Severity
from ir_tools.errors import IrToolsError, UsageError
from ir_tools.execute import run
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Layer, Model
from ir_tools.infer import LayerSignatures, propagate_shapes
from ir_tools.inputs import plan_inputs
from ir_tools.ops import Array
from ir_tools.rewrite.migration import _Migrating, migrate
from ir_tools.types import element_type
from ir_tools.validation import validate
from tests.made.models import model_of
from tests.made.recorded import FILE, SEEDS, TARGETS, found, migrated
from tests.tables import load

WANTED = load(FILE)
ZEROS = np.zeros((1, 2), np.float32)
GIVE: Mapping[str, Callable[[Model, tuple[str, ...]], object]] = {
    "shapes": lambda model, names: propagate_shapes(model, dict.fromkeys(names, "1,2")),
    "arrays": lambda model, names: run(model, dict.fromkeys(names, ZEROS)),
    "plan": lambda model, names: plan_inputs(model, dict.fromkeys(names, ZEROS)),
}


def errors(model: Model) -> Counter[str]:
    return Counter(one.code for one in validate(model) if one.severity is Severity.ERROR)


def numbered(model: Model) -> Model:
    """A copy whose inputs and outputs go by their places, whatever they were called."""
    twin = model.copy()
    for number, end in enumerate(twin.outputs):
        end.layer.tag["output_names"] = f"output {number}"
    for number, end in enumerate(twin.inputs):
        end.port.names = (f"input {number}",)
    return twin


def outputs(model: Model, fed: Sequence[Array]) -> list[Array] | None:
    """The outputs in the order of the Results; None if the reference does not run it."""
    names = {end.name: element_type(end.layer.raw["element_type"]).dtype for end in model.inputs}
    given = {name: array.astype(dtype) for (name, dtype), array in zip(names.items(), fed, strict=True)}
    try:
        found = run(model, given)
    except IrToolsError:
        return None
    return [found[f"output {number}"] for number in range(len(found))]


@pytest.mark.parametrize("seed", [*SEEDS[::2], *(pytest.param(seed, marks=pytest.mark.sweep) for seed in SEEDS[1::2])])
def test_what_was_recorded(seed: int) -> None:
    """If it is something else on purpose, `python -m tests.made.recorded` records it again."""
    assert found(seed) == WANTED[str(seed)]


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_a_migrated_model_is_valid_means_the_same_and_stays(seed: int) -> None:
    model = model_of(seed)
    twin, wrong = numbered(model), errors(model)
    fed = [*plan_inputs(twin).arrays(0).values()]
    before = outputs(twin, fed)
    for target in TARGETS:
        new = migrate(model, target)
        if new.refused:
            continue
        assert not errors(new.model) - wrong, target
        assert migrate(new.model, target).steps == (), target
        after = None if before is None else outputs(numbered(new.model), fed)
        assert (after is None) == (before is None)
        for one, two in zip(before or (), after or (), strict=True):
            kind = np.result_type(one.dtype, np.float64)
            np.testing.assert_allclose(two.astype(kind), one.astype(kind), rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_layers_share_a_signature_only_if_they_say_the_same(seed: int) -> None:
    """Made models and what a file of them gives; with each layer a twin that differs from it in one thing."""
    model, signatures = model_of(seed), LayerSignatures()
    read_again = read(bytes(render(model)), b"")
    layers = [layer for one in (model, read_again) for _, layer, _ in one.walk()]
    known: dict[int, object] = {}
    for layer in [*layers, *(twin for one in layers for twin in others(one))]:
        ports = [[(port.id, port.precision, port.dims) for port in side] for side in (layer.inputs, layer.outputs)]
        raw = {key: text for key, text in layer.raw.items() if key != "offset"}
        said = layer.type, layer.version, sorted(raw.items()), ports
        assert known.setdefault(signatures.of(layer)[0].number, said) == said


def others(layer: Layer) -> Iterator[Layer]:
    """Copies of a layer with one thing changed."""

    def changed(change: Callable[[Layer], object]) -> Layer:
        twin = layer.copy()
        change(twin)
        return twin

    yield changed(lambda twin: twin.tag.update(type=f"{twin.type}2"))
    yield changed(lambda twin: twin.tag.update(version="opset14"))
    yield changed(lambda twin: twin.raw.update(new="1"))
    for number in range(len(layer.inputs) + len(layer.outputs)):
        for name, value in {"id": 99, "precision": "I4", "dims": (9,)}.items():
            yield changed(lambda twin: setattr((*twin.inputs, *twin.outputs)[number], name, value))  # noqa: B023  # called at once


@pytest.mark.parametrize("give", GIVE)
def test_two_names_of_one_input_are_one_input(give: str) -> None:
    """Whoever names an input twice, by the names of its tensor or that of its layer, has made a mistake."""
    builder = Builder()
    data = builder.parameter("x", "1,2", "f32")
    builder.result(builder.call("ReLU", data), "y")
    builder.graph.layer(data.layer).outputs[0].names = ("first", "second")
    for names in combinations(("first", "second", "x"), 2):
        with pytest.raises(UsageError, match="input 'first' has two"):
            GIVE[give](builder.model, names)


def test_layers_that_stay_by_type_and_stamp_would_stay_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Migrating, "leaves", lambda stage, type, version: False)
    for seed in SEEDS[:10]:
        for target in ("opset1", "opset8"):
            assert migrated(migrate(model_of(seed), target)) == WANTED[str(seed)][target]


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_signatures_stay_as_they_are_when_layers_change(seed: int) -> None:
    model, signatures = model_of(seed), LayerSignatures()
    layers = [layer for _, layer, _ in model.walk()]
    kept = [(signatures.of(layer)[0], layer.copy()) for layer in layers]
    for layer in layers:
        layer.raw["new"] = "1"
        for port in (*layer.inputs, *layer.outputs):
            port.dims = (7,)
    for signature, old in kept:
        assert signature.raw.keys() == old.raw.keys()
        assert [port.dims for port in (*signature.inputs, *signature.outputs)] == [
            port.dims for port in (*old.inputs, *old.outputs)
        ]
