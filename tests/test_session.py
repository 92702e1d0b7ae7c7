"""Sessions: variables over several runs, on both engines, against an `InferRequest` of OpenVINO in this process."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import openvino as ov
import pytest

import ir_tools
from ir_tools.comparison import Compared
from ir_tools.comparison._layers import Rows
from ir_tools.errors import UsageError
from ir_tools.execute import Engine
from ir_tools.states import initial_text, variables
from tests import stateful

Values = npt.NDArray[Any]
Feed = Mapping[str, Values]
ENGINES: Sequence[Engine] = ("reference", "runtime")
F32 = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}


def lstm_feeds() -> list[Feed]:
    return [{"x": np.random.default_rng(step).standard_normal((2, 3)).astype(np.float32)} for step in range(5)]


def decoder_feeds() -> list[Feed]:
    """A prompt of three words for two beams, then word by word; in one step the beams change places."""
    words = [[[3, 4, 5], [7, 8, 9]], *([[word], [word + 1]] for word in range(10, 14))]
    beams = [[0, 1], [0, 1], [1, 0], [0, 0], [0, 1]]
    return [
        {"input_ids": np.array(ids, np.int64), "beam_idx": np.array(beam, np.int32)}
        for ids, beam in zip(words, beams, strict=True)
    ]


def accumulator_feeds() -> list[Feed]:
    return [{"x": np.array([[step, 1]], np.float32)} for step in range(5)]


CASES: Mapping[str, tuple[Callable[[], ov.Model], Callable[[], list[Feed]]]] = {
    "accumulator": (stateful.accumulator, accumulator_feeds),
    "lstm": (stateful.lstm, lstm_feeds),
    "decoder": (stateful.decoder, decoder_feeds),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_five_steps_as_an_infer_request_takes_them(name: str, engine: Engine) -> None:
    make, feeds = CASES[name]
    made = make()
    request = ov.Core().compile_model(made, "CPU", F32).create_infer_request()
    with ir_tools.Session(ir_tools.read(made), engine=engine) as session:
        for feed in feeds():
            request.infer(dict(feed))
            (output,) = session.run(feed).values()
            np.testing.assert_allclose(output, request.get_output_tensor(0).data, rtol=1e-4, atol=1e-5)
            after = {entry.name: entry.state.data for entry in request.query_state()}
            assert session.states.keys() == after.keys() != set()
            for key, value in after.items():
                np.testing.assert_allclose(session.states[key], value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_states_are_set_and_reset(engine: Engine) -> None:
    feed = {"x": np.array([[1, 2]], np.float32)}
    with ir_tools.Session(ir_tools.read(stateful.accumulator()), engine=engine) as session:
        assert session.run(feed)["y"].tolist() == [[8, 10]]
        session.states["sum"] = np.array([[10, 20]], np.float32)
        assert session.run(feed)["y"].tolist() == [[22, 44]]
        session.states.clear()
        assert session.run(feed)["y"].tolist() == [[8, 10]]
        session.close()
        assert session.run(feed)["y"].tolist() == [[10, 14]]


def test_states_of_the_gold_answer_are_in_f64() -> None:
    session = ir_tools.Session(ir_tools.read(stateful.lstm()), precision="f64")
    for feed in lstm_feeds()[:2]:
        session.run(feed)
    assert {state.dtype for state in session.states.values()} == {np.dtype(np.float64)}


@pytest.mark.parametrize("engine", ["reference", "runtime"])
@pytest.mark.parametrize("kind", [object, "U", "S"])
def test_texts_in_any_of_the_types_that_numpy_has_for_them(kind: Any, engine: Engine) -> None:
    builder = ir_tools.Builder()
    ends = [builder.parameter(name, [2], "string") for name in "xy"]
    builder.result(builder.call("Concat", *ends, name="all", axis=0))
    words = np.array(["a", "büro"], object)
    given = np.array([word.encode() for word in words] if kind == "S" else words, kind)
    with ir_tools.Session(builder.model, engine=engine) as session:
        assert session.run({"x": given, "y": words})["all"].tolist() == [*words, *words]


def test_inputs_are_made_up() -> None:
    model = ir_tools.read(stateful.accumulator())
    found = [ir_tools.run(model, given, seed=3) for given in (None, ir_tools.plan_inputs(model, seed=3).arrays())]
    assert found[0]["y"].tolist() == found[1]["y"].tolist()


def test_one_run_starts_from_initial_values() -> None:
    model, feed = ir_tools.read(stateful.accumulator()), {"x": np.zeros((1, 2), np.float32)}
    assert [ir_tools.run(model, feed)["y"].tolist() for _ in range(2)] == [[[6, 6]]] * 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"total": np.zeros((1, 2), np.float32)}, "there is no state 'total'; the states of the model are 'sum'"),
        ({"sum": np.zeros((2, 2), np.float32)}, r"state 'sum' has shape \[2,2\]; expected \[1,2\]"),
        ({"sum": np.zeros((1, 2, 1), np.float32)}, r"state 'sum' has shape \[1,2,1\]; expected \[1,2\]"),
        ({"sum": np.zeros((1, 2), np.int32)}, "state 'sum' has values of int32; expected f32"),
    ],
)
def test_states_that_do_not_fit(states: Mapping[str, Values], message: str, engine: Engine) -> None:
    with ir_tools.Session(ir_tools.read(stateful.accumulator()), engine=engine) as session:
        session.states.update(states)
        with pytest.raises(UsageError, match=message):
            session.run({"x": np.zeros((1, 2), np.float32)})


def test_wrong_arguments(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    ov.save_model(stateful.accumulator(), path)
    with pytest.raises(UsageError, match="engine 'gpu' is not one of 'reference', 'runtime'"):
        ir_tools.Session(path, engine="gpu")  # type: ignore[arg-type]  # the wrong word is the point
    with pytest.raises(UsageError, match="precision is for the reference"):
        ir_tools.Session(path, engine="runtime", precision="f64")
    with pytest.raises(UsageError, match=r"runtime is openvino-2024\.6, which needs engine 'runtime'"):
        ir_tools.Session(path, engine="reference", runtime="openvino-2024.6")


def test_variables_of_a_model() -> None:
    model = ir_tools.read(stateful.decoder(layers=1))
    found = variables(model)
    assert {name: (str(entry.element_type), len(entry.shape or ())) for name, entry in found.items()} == {
        "past.0.key": ("f32", 4),
        "past.0.value": ("f32", 4),
    }
    assert {initial_text(model, entry) for entry in found.values()} == {"0.0"}
    assert None not in {entry.stored_by for entry in found.values()}


@pytest.mark.parametrize(
    ("initial", "text"),
    [
        (np.full([1, 2], 3, np.float32), "3.0"),
        (np.array([[1, 2]], np.float32), "constant 'start'"),
        (None, "0"),
    ],
)
def test_initial_values(initial: Values | None, text: str) -> None:
    from openvino import opset13 as ops

    x = ops.parameter([1, 2], np.float32, name="x")
    kept = stateful.variable("v", [1, 2])
    read = ops.read_value(kept) if initial is None else ops.read_value(ops.constant(initial, name="start"), kept)
    total = ops.add(read, x)
    model = ir_tools.read(ov.Model([ops.result(total)], [ops.assign(total, kept)], [x], "m"))
    assert initial_text(model, variables(model)["v"]) == text


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
@pytest.mark.parametrize("name", CASES)
def test_comparisons_after_three_steps(name: str, mode: Literal["isolated", "cumulative"]) -> None:
    make, feeds = CASES[name]
    model, inputs = ir_tools.read(make()), feeds()
    with ir_tools.Session(model, engine="runtime") as session:
        for feed in inputs[:3]:
            session.run(feed)
        states = dict(session.states)
        expected = session.run(inputs[3])
    taken: dict[str, Values] = {}

    def sink(tensors: Compared) -> None:
        taken[tensors.located.path] = tensors.actual

    found = ir_tools.compare(model, inputs=inputs[3], mode=mode, states=states, sink=sink)
    assert found.ok
    reads = {entry.id: entry.read.path for entry in variables(model).values()}
    for key, value in states.items():
        np.testing.assert_allclose(taken[reads[key]], value, rtol=1e-5, atol=1e-6)
    assert {entry.name for entry in found.outputs} == expected.keys()
    first = ir_tools.compare(model, inputs=inputs[3], mode=mode)
    assert first.ok
    with pytest.raises(UsageError, match="there is no state 'other'"):
        ir_tools.compare(model, inputs=inputs[3], states={"other": np.zeros(1)})


def test_a_wrong_state_on_one_side_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference without its states differs from the runtime in ReadValue and all that follows."""
    model, feed = ir_tools.read(stateful.accumulator()), accumulator_feeds()[0]
    monkeypatch.setattr(Rows, "states", property(lambda self: {}, lambda self, value: None), raising=False)
    found = ir_tools.compare(model, inputs=feed, states={"sum": np.full((1, 2), 50, np.float32)}, mode="cumulative")
    assert [entry.status for entry in found.layers] == ["differs"] * 3


def test_variables_in_bodies() -> None:
    model = ir_tools.read(stateful.accumulator())
    outer = ir_tools.Graph()
    tag = {"name": "loop", "type": "Loop", "version": "opset5"}
    outer.add(ir_tools.Layer(0, tag, ir_tools.LayerContent({}, [], []), bodies={"body": model.graph}))
    model.graph = outer
    (found,) = variables(model).values()
    assert (found.id, found.read.path.split("_")[0], initial_text(model, found)) == (
        "sum",
        "loop/body/ReadValue",
        "3.0",
    )
