"""Layers that the newest release does not run, by the models that its rows of known differences were measured with."""

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.checks import uncompiled_layer
from ir_tools.checks.uncompiled_layer import NEWEST
from ir_tools.compatibility import Answer, report
from ir_tools.diagnostics import Severity
from ir_tools.known_differences import as_model
from ir_tools.known_differences.releases import ROWS, ReleaseDifference, Seen
from ir_tools.known_differences.surroundings import Surroundings
from ir_tools.releases.measured import State
from ir_tools.rules.compatibility import UNCOMPILED_LAYER
from ir_tools.runtime.client import RuntimeClient
from ir_tools.validation import errors_in, opened, validate
from tests.benchmarks.growth.table import maker
from tests.ops.test_control_flow import iterator_model
from tests.outcomes import works
from tests.rules.test_rules import FOLDER

STOPS = {State.UNREAD, State.UNCOMPILED, State.FAILS, State.DIES}
HERE = [row for row in ROWS if NEWEST in row.releases and row.processor.is_here]


@pytest.mark.parametrize("row", [row for row in HERE if row.state in STOPS], ids=lambda row: row.name)
def test_what_stops_is_found(row: ReleaseDifference) -> None:
    """Once, in the layer that the row is about; what ends the process is an error."""
    model, _ = as_model(row.model)
    found = [one for one in validate(model) if one.severity is Severity.ERROR or one.code == UNCOMPILED_LAYER.code]
    assert found
    assert errors_in(opened(model)) == [one for one in found if one.severity is Severity.ERROR]
    if row.state is State.DIES:
        assert {one.severity for one in found} == {Severity.ERROR}


def test_layers_that_cannot_end_the_process_are_not_looked_at_for_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    row, asked = next(row for row in HERE if row.ops == ("LRN-1",) and row.state in STOPS), list[Seen]()
    file = opened(as_model(row.model)[0])
    monkeypatch.setattr(uncompiled_layer, "_reason", asked.append)
    assert errors_in(file) == []
    assert not asked
    assert [*uncompiled_layer.find(file)] == []
    assert asked


@pytest.mark.parametrize("row", [row for row in HERE if row.state not in STOPS], ids=lambda row: row.name)
def test_what_gives_other_values_is_left_to_compare(row: ReleaseDifference) -> None:
    """It runs."""
    model, _ = as_model(row.model)
    assert not any(one.code == UNCOMPILED_LAYER.code for one in validate(model))


@pytest.mark.parametrize("count", ["2", "?"])
@pytest.mark.parametrize("consumer", ["ReLU", None])
def test_where_a_rank_is_lost(count: str, consumer: str | None, client: RuntimeClient) -> None:
    """A Reshape to any number of sizes is one layer, whatever reads it; no other rule finds it."""
    builder = Builder()
    data, sizes = builder.parameter("x", "2,6"), builder.parameter("sizes", count, "i64")
    last = builder.call("Reshape", data, sizes, special_zero=False)
    builder.result(last if consumer is None else builder.call(consumer, last), "y")
    found = [one.layer_id for one in validate(builder.model) if one.code == UNCOMPILED_LAYER.code]
    assert found == ([] if count == "2" else [2])
    given = {"x": np.zeros((2, 6), np.float32), "sizes": np.array([3, 4])}
    assert works(client.infer_model, builder.model, given) == (not found)


def test_other_releases_are_asked_nevertheless() -> None:
    """An error that is the newest release's alone says nothing of those that run the model."""
    answers = {one.release.name: one.answer for one in report(FOLDER / "uncompiled_layer" / "bad.xml")}
    assert answers[NEWEST.name] is Answer.READS
    assert Answer.UNKNOWN not in answers.values()


def test_a_file_with_errors_has_no_such_finding() -> None:
    """What a lost .bin would say of sizes is not known; layers whose sizes are known run."""
    text = (FOLDER / "uncompiled_layer" / "bad.xml").read_bytes()
    assert [one.code for one in validate(text, bytes(24))] == [UNCOMPILED_LAYER.code]
    assert UNCOMPILED_LAYER.code not in {one.code for one in validate(text, bytes(23))}


def test_without_a_pattern_no_more_is_looked_at_of_layers_that_only_a_pattern_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The runtime stops at a Result of a body only if that gives back an input, which these bodies do not."""
    asked: list[object] = []
    monkeypatch.setattr(Surroundings, "seen", lambda self, *given: asked.append(given))
    validate(*maker("many of 8 bodies inside each other")(1))
    assert not asked


def test_an_input_of_a_body_in_a_body_without_an_element_type() -> None:
    text, weights = iterator_model(np.random.default_rng(1), static=True)
    before, body = text[text.index(b"<layers>") : text.index(b"</net>")].split(b"<body>")
    untyped = body.replace(b'element_type="f32"', b'element_type="dynamic"', 1)
    start, end = text.index(b"<body>"), text.index(b"</body>")
    outer = text[:start].replace(b'"4"', b'"3"').replace(b'"5"', b'"4"')  # the graph around the body has no Negative
    nested = outer + b"<body>" + before + b"<body>" + untyped + text[end:]
    (found,) = (one for one in validate(nested, weights) if "the body of a TensorIterator" in one.message)
    assert (found.path or "").count("/body/") == 2


def test_a_layer_that_stops_only_at_the_inputs_and_outputs_of_ir_v10_is_found() -> None:
    builder = Builder(opset=15)
    begins, ends, symbols = (builder.parameter(f"x{kind}", "2", kind) for kind in ("i32", "i64", "u8"))
    ends = builder.call("Convert", ends, destination_type="i32")
    builder.result(builder.call("StringTensorPack", begins, ends, symbols, name="packed"), "y")
    for version, wanted in ((11, set[str]()), (10, {"packed"})):
        builder.model.version = version
        assert {one.path for one in validate(builder.model) if one.code == UNCOMPILED_LAYER.code} == wanted
