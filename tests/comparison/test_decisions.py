"""What a comparison decides, one decision at a time: no runtime, and an oracle of a few lines for each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.comparison import Comparison, LayerComparison, OutputComparison, weak_notes
from ir_tools.comparison import _gold as gold
from ir_tools.comparison import _tensors as tensors
from ir_tools.comparison._bodies import BodyRunner, Visit, alone
from ir_tools.comparison._coarse import Coarse
from ir_tools.comparison._differences import difference
from ir_tools.comparison._evidence import _another, weakness
from ir_tools.comparison._gold import GoldRun, errors
from ir_tools.comparison._layers import Compared, Rows, _adopted, _exchanged
from ir_tools.comparison._models import _form, _inputs, output_names
from ir_tools.comparison._origin import Origin
from ir_tools.comparison._outputs import Outputs, _rows, _sets
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison._partners import SecondRun
from ir_tools.comparison._results import Sides
from ir_tools.comparison._samples import merged
from ir_tools.comparison._summary import WEAK_SHOWN, _told_apart, closer_words, f64_note
from ir_tools.comparison._tensors import Batch, Choice, groups, labels_of, living
from ir_tools.comparison.bisection import _Search
from ir_tools.comparison.releases import _carried
from ir_tools.errors import RuntimeFailure
from ir_tools.execute import Engine, Step
from ir_tools.graph import Graph, Layer, LayerContent, Located, Model, Port, Source
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient, Tap
from ir_tools.runtime.setting import Setting
from ir_tools.weights import Weights
from tests.comparison.mutations import copied, renumber

CLIENT = RuntimeClient()
BODIES = BodyRunner(CLIENT, Setting.of("CPU", "f32"))
ENDS = {"Result", "Assign"}


def graph_of(*rows: tuple[str, str, Sequence[int]]) -> Graph:
    """Layers numbered from 0: type, precision of the output, and the layers that are read."""
    graph = Graph()
    for number, (kind, precision, reads) in enumerate(rows):
        outputs = [] if kind in ENDS else [Port(9, precision, (2,))]
        content = LayerContent({}, [Port(place, precision, (2,)) for place in range(len(reads))], outputs)
        tag = {"name": f"layer_{number}", "type": kind, "version": "opset1"}
        graph.add(Layer(number, tag, content), {place: Source(read, 9) for place, read in enumerate(reads)})
    return graph


def model_of(graph: Graph) -> Model:
    return Model(graph, name="m", version=11, weights=Weights.from_bytes(b""), origin=None, path=None)


def chain(*kinds: str) -> Graph:
    return graph_of(*((kind, "FP32", [number - 1] if number else []) for number, kind in enumerate(kinds)))


def rows_of(model: Model, **options: Any) -> Rows:
    return Rows(model, Choice.of(True), BODIES, **options)


def row_of(share: float, path: str = "a", number: int = 0, **more: Any) -> LayerComparison:
    """A row that needs this share of its tolerance; infinite: of other shapes."""
    gap = None if math.isinf(share) else difference(np.ones(1), np.full(1, 1 + share * 1e-4))
    status: Literal["differs", "ok"] = "differs" if share > 1 else "ok"
    return LayerComparison(path=path, layer_id=number, line=None, op="ReLU-1", status=status, difference=gap, **more)


def comparison_of(layers: Sequence[LayerComparison] = (), outputs: Sequence[OutputComparison] = ()) -> Comparison:
    return Comparison(
        mode="isolated",
        layers=tuple(layers),
        outputs=tuple(outputs),
        runtime="1",
        device="CPU",
        precision="f32",
        second="reference",
        inputs={},
    )


# --- which layers and tensors -----------------------------------------------------------------------------------


def test_the_living_lead_to_a_result_or_a_state() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        kinds = ["Parameter", *rng.choice(["ReLU", "Add", "Result", "Assign"], 9)]
        makers: list[int] = []
        rows = []
        for number, kind in enumerate(kinds):
            reads = [int(one) for one in rng.choice(makers, 1 + (kind == "Add"))] if makers else []
            rows.append((str(kind), "FP32", reads))
            makers += [] if kind in ENDS else [number]
        graph = graph_of(*rows)
        plain = nx.DiGraph([(read, number) for number, row in enumerate(rows) for read in row[2]])
        ends = [number for number, kind in enumerate(kinds) if kind in ENDS]
        assert living(graph) == {*ends}.union(*(nx.ancestors(plain, end) for end in ends))


@pytest.mark.parametrize("with_inputs", [False, True])
def test_tensors_of_one_run_are_as_many_as_fit(with_inputs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    precisions = {"FP32": 4, "I64": 8, "U8": 1, "U4": 1, "U1": 1, "FP16": 2, None: 4, "STRANGE": 4}
    layers: list[Located] = []
    sizes: list[int] = []
    for precision, count in product(precisions, (1, 3, 8, -1)):
        ports = [Port(0, precision, (count,))], [Port(1, precision, (2, count))]
        layer = Layer(len(layers), {"name": str(len(layers))}, LayerContent({}, *ports))
        layers.append(Located(layer.name, layer, Graph()))
        size = precisions[precision] * (tensors.FREE_SIZE if count < 0 else count)
        sizes.append(2 * size + size * with_inputs)
    for most in (1, 16, 24, 48, 96, sum(sizes) - 1, sum(sizes)):
        monkeypatch.setattr(tensors, "LARGEST", most)
        wanted: list[list[int]] = []
        for number, size in enumerate(sizes):
            if wanted and sum(sizes[one] for one in wanted[-1]) + size <= most:
                wanted[-1].append(number)
            else:
                wanted.append([number])
        found = [[one.layer.id for one in group] for group in groups(layers, {}, with_inputs=with_inputs)]
        assert found == wanted


def test_quantized_tensors_that_lead_nowhere_are_not_taken_out() -> None:
    builder = Builder()
    limits = [np.array(limit, np.float32) for limit in (0, 1, 0, 1)]
    for name in ("living", "dead"):
        data = builder.call("Abs", builder.parameter(f"{name}_input", "2,3"), name=name)
        found = builder.call("FakeQuantize", data, *limits, levels=256)
        if name == "living":
            builder.result(found)
    assert tensors.quantized(builder.model) == (Tap("living", 0),)


@pytest.mark.parametrize("kind", ["rejected", "crashed", "timeout", "memory", "missing"])
def test_a_group_runs_in_parts_without_what_cannot_be_taken_out(kind: str) -> None:
    for bad in map(set, subsets(range(5))):

        def run(group: Sequence[int], bad: set[int] = bad) -> list[int]:
            if bad.intersection(group):
                raise RuntimeFailure("no", kind=kind)
            return [*group]

        parts = tensors.as_far_as_it_runs(run, range(5), lambda group, reason: [-one - 1 for one in group])
        if bad and kind not in {"rejected", "crashed"}:
            with pytest.raises(RuntimeFailure):
                list(parts)
        else:
            assert [one for part in parts for one in part] == [-one - 1 if one in bad else one for one in range(5)]


def subsets(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All sets of these numbers."""
    for count in range(len(numbers) + 1):
        yield from combinations(numbers, count)


@pytest.mark.parametrize("status", ["ok", "differs", "skipped"])
@pytest.mark.parametrize("apart", [None, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("shapes", [True, False], ids=["of-its-shape", "of-another-shape"])
def test_a_layer_that_is_right_on_what_it_was_given_carries_the_error_of_others(
    status: Literal["ok", "differs", "skipped"], apart: float | None, shapes: bool
) -> None:
    row = replace(row_of(2.0 if shapes else math.inf), status=status)
    alone = None if apart is None else row_of(apart).difference
    carried = status == "differs" and shapes and apart is not None and apart <= 1
    found = _carried(row, alone)
    assert (found.status, found.difference) == (("ok", alone) if carried else (status, row.difference))


# --- errors of narrow types -------------------------------------------------------------------------------------


def test_errors_of_constants_reach_all_that_follows() -> None:
    graph = graph_of(
        ("Const", "FP16", []),
        ("Reshape", "FP16", [0]),
        ("Multiply", "FP16", [1, 0]),
        ("Convert", "FP32", [2]),
        ("Parameter", "FP32", []),
        ("Add", "FP32", [4, 3]),
        ("ReLU", "FP32", [5]),
        ("Add", "FP16", [4, 1]),
        ("Const", "BF16", []),
        ("Multiply", "BF16", [8, 8]),
        ("Add", "FP32", [9, 3]),
        ("Add", "FP32", [6, 10]),
    )
    found = Coarse.of(graph)
    assert found.alone == {2: "f16", 3: "f16", 5: "f16", 9: "bf16", 10: "bf16", 11: "bf16"}
    assert found.reached == {**found.alone, 6: "f16"}


@pytest.mark.parametrize("bodied", [False, True])
def test_what_a_body_makes_of_constants_is_computed_when_it_runs(bodied: bool) -> None:
    graph = graph_of(("Const", "FP16", []), ("Loop", "FP16", [0]), ("ReLU", "FP32", [1]))
    if bodied:
        graph.layer(1).bodies["body"] = Graph()
    assert Coarse.of(graph).reached == ({} if bodied else {1: "f16", 2: "f16"})


@pytest.mark.parametrize("tolerance", [None, 0.0, 1e-3])
@pytest.mark.parametrize(
    ("kind", "carried", "table"),
    [("f32", None, 1e-4), ("f32", "f16", 2e-3), ("f32", "bf16", 1.6e-2), ("bf16", "f16", 1.6e-2), ("i32", "f16", 0.0)],
)
def test_the_larger_tolerance_counts(kind: str, carried: str | None, table: float, tolerance: float | None) -> None:
    rows = rows_of(model_of(Graph()), tolerance=tolerance)
    assert rows._limit(kind, carried) == (table if tolerance is None else tolerance)


# --- what is undefined ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("side", ["expected", "actual"])
def test_undefined_elements_lie_between_two_levels(side: str, turned: bool) -> None:
    """With a little room on both sides, for errors of rounding: 1e-4 of the larger level."""
    graph = chain("Parameter", "ReLU")
    low, high, room = 2.0, 4.0, 4e-4
    values = np.array([low - 2 * room, low - room / 2, low, 3, high, high + room / 2, high + 2 * room])
    inside = np.full(len(values), 3.0)
    bounds = np.full(len(values), low), np.full(len(values), high)
    expected, actual = (values, inside) if side == "expected" else (inside, values)
    layer = graph.layer(1)
    step = Step(
        layer, [expected], (np.arange(len(values)) != 3,), "reference", bounds=bounds[::-1] if turned else bounds
    )
    batch = Batch((), {Tap("layer_1", 0): actual.astype(np.float32)}, {}, labels_of(graph))
    rows_of(model_of(graph))._limit_undefined(Located("layer_1", layer, graph), step, batch)
    (undefined,) = step.undefined
    assert undefined is not None
    assert undefined.tolist() == [False, True, True, False, True, True, False]


def test_only_what_differs_and_may_is_taken_over() -> None:
    own = np.array([1, 1, 1, 1, np.nan], np.float32)
    actual = np.array([1.05, 1.5, 1.5, 10, 7], np.float64)
    undefined = np.array([True, True, False, True, True])
    taken = _adopted(own, actual, undefined, 0.01)
    assert taken.dtype == np.float32
    assert taken.tolist() == [1, 1.5, 1, 10, 7]


@pytest.mark.parametrize(("kind", "counts"), [("int32", True), ("uint8", True), ("float32", False)])
@pytest.mark.parametrize("place", [0, 1, None])
def test_integers_are_exchanged_where_rounding_decides(kind: str, counts: bool, place: int | None) -> None:
    expected, actual = np.array([1, 2], kind), np.array([1, 2], kind)
    if place is not None:
        actual[place] = 5
    located = Located("a", Layer(0), Graph())
    assert _exchanged(Compared(located, 0, expected, actual), np.array([True, False])) == (counts and place == 0)


# --- the worst of several ---------------------------------------------------------------------------------------

SHARES = [list(row) for row in product((0.0, 0.5, 2.0, math.inf), repeat=3)]


def test_a_layer_in_a_body_is_shown_in_the_first_iteration_where_it_is_furthest_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = chain("Parameter", "Loop", "Result")
    body = chain("Parameter", "ReLU", "Result")
    graph.layer(1).bodies["body"] = body
    rows, located = rows_of(model_of(graph)), Located("loop", graph.layer(1), graph)

    def iterations(_: object, model: Model, layer: Layer, arrays: Mapping[int, Array], visit: Visit) -> None:
        for _ in range(3):
            visit("body", body, {}, {})

    monkeypatch.setattr(BodyRunner, "run", iterations)
    for shares in SHARES:
        left = iter(shares)

        def one_iteration(batch: Batch, given: object, left: Iterator[float] = left) -> list[LayerComparison]:
            assert [inner.path for inner in batch.layers] == ["loop/body/layer_1"]
            return [row_of(next(left))]

        (row,) = rows._inside(located, {}, one_iteration)
        assert row.share == pytest.approx(max(shares), rel=1e-6)
        assert row.iteration == shares.index(max(shares))


def test_a_tensor_is_shown_in_the_first_sample_where_it_is_furthest_off() -> None:
    for shares in SHARES:
        found = merged([comparison_of([row_of(share), row_of(0.1, "b")]) for share in shares])
        first, second = found.layers
        assert first.share == pytest.approx(max(shares), rel=1e-6)
        assert (first.sample, second.sample) == (shares.index(max(shares)), 0)


# --- agreement that proves little -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moved", "reason"),
    [
        (0.25, "other inputs change it by 0.25 of its largest magnitude, and 0.25 is allowed"),
        (0.2500001, ""),
        (0.0, "other inputs do not change it"),
    ],
)
def test_an_output_has_to_move_by_more_than_is_allowed(moved: float, reason: str) -> None:
    before = np.array([1.0, 2.0])
    assert weakness(before, before, before, np.array([1.0, 2.0 + 2 * moved]), 0.25) == reason


@pytest.mark.parametrize(
    ("values", "weak"), [([3], False), ([3, 3], True), ([3, 4], False), ([], True), ([3, 3, 4], False)]
)
def test_one_value_throughout_is_of_two_elements_at_least(values: list[float], weak: bool) -> None:
    array = np.array(values)
    assert bool(weakness(array, array, None, None, 1e-4)) == weak


def test_other_values_for_an_input() -> None:
    """Those that are generated; of an array that was given, its elements backwards."""
    given, generated = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    assert _another(given, generated) is generated
    assert _another(given, given.copy()).tolist() == [[5, 4, 3], [2, 1, 0]]


def output_of(name: str, weak: str) -> OutputComparison:
    gap = difference(np.ones(1), np.ones(1))
    return OutputComparison(name=name, element_type="f32", shape=(1,), difference=gap, weak=weak)


@pytest.mark.parametrize("strong", [0, 1])
@pytest.mark.parametrize("count", range(WEAK_SHOWN + 3))
def test_outputs_that_prove_little_are_named_up_to_a_few(count: int, strong: int) -> None:
    weak = [output_of(f"y{number}", "it is flat") for number in range(count)]
    notes = weak_notes(comparison_of((), [*weak, *[output_of("good", "")] * strong]))
    named = [f"The output 'y{number}' proves little: it is flat." for number in range(min(count, WEAK_SHOWN))]
    assert notes[: len(named)] == named
    assert len(notes) == len(named) + (count > WEAK_SHOWN) + (count > 0 and not strong)
    assert not count or strong or notes[-1].startswith("No output proves anything")


@pytest.mark.parametrize(
    ("mode", "layers", "output", "noted"),
    [
        ("runtime against runtime", [0.5], 2.0, True),
        ("runtime against runtime", [0.5], 0.5, False),
        ("runtime against runtime", [0.5, 2.0], 2.0, False),
        ("runtime against runtime", [], 2.0, False),
        ("isolated", [0.5], 2.0, False),
    ],
)
def test_outputs_that_differ_without_a_layer_are_explained(
    mode: Any, layers: Sequence[float], output: float, noted: bool
) -> None:
    gap = difference(np.ones(1), np.full(1, 1 + output * 1e-4))
    outputs = [OutputComparison(name="y", element_type="f32", shape=(1,), difference=gap)]
    found = replace(comparison_of([row_of(share) for share in layers], outputs), mode=mode)
    assert any(note.startswith("No tensor inside differs.") for note in weak_notes(found)) is noted


# --- who is right -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "actual", "closer"),
    [(5, 6, None), (5, 6.001, "expected"), (6.001, 5, "actual"), (4, 4, None), (4, 4.1, "expected"), (3, 5, None)],
)
def test_the_closer_side_is_more_than_twice_as_close(expected: float, actual: float, closer: str | None) -> None:
    found = errors(np.array([4.0]), np.array([float(expected)]), np.array([float(actual)]))
    assert found is not None
    assert found.closer == closer


@pytest.mark.parametrize(
    ("expected", "actual", "column", "note"),
    [
        (5, 4, "B equal", "A is off by 0.25 and B by 0: B is equal to it"),
        (5, 8, "A 4x", "A is off by 0.25 and B by 1: A is 4x closer"),
        (5, 3, "neither", "A is off by 0.25 and B by 0.25: neither is clearly closer"),
    ],
)
def test_who_is_closer_in_words(expected: float, actual: float, column: str, note: str) -> None:
    found = errors(np.array([4.0]), np.array([float(expected)]), np.array([float(actual)]))
    assert closer_words(found, Sides("A", "B")) == column
    assert f64_note(found, Sides("A", "B")) == f"computed in f64, {note}"


@pytest.mark.parametrize("engines", list(product(("reference", "runtime"), repeat=3)), ids="-".join)
def test_what_the_runtime_helped_with_is_no_judge(engines: tuple[Engine, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    graph = chain("Parameter", "ReLU", "ReLU", "ReLU", "Result")

    class Executed:
        results: Mapping[str, Array] = {"y": np.zeros(1)}

        def __init__(self, *_: object, **__: object) -> None:
            """Nothing runs."""

        def steps(self, _: object) -> Iterator[Step]:
            for number, engine in enumerate(engines, 1):
                yield Step(graph.layer(number), [np.full(1, number)], (None,), engine)

    monkeypatch.setattr(gold, "Execution", Executed)
    run = GoldRun(model_of(graph), {}, lambda *_: (), {})
    for number in (1, 2, 3):
        found = run.outputs_of(graph.layer(number))
        assert (found is None) == ("runtime" in engines[:number])
        assert found is None or found[0].tolist() == [number]
    assert bool(run.results()) == ("runtime" not in engines)


@pytest.mark.parametrize("own", [0.0, 1e-5, math.inf])
@pytest.mark.parametrize("alone", list(product((0.0, 1e-6, 0.3), repeat=2)), ids=str)
@pytest.mark.parametrize("moved", list(product((0.0, 0.5), repeat=2)), ids=str)
def test_a_difference_starts_at_the_layer_that_is_furthest_off_by_itself(
    own: float, alone: tuple[float, float], moved: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among those before it whose tensor moved; unless the layer errs itself."""
    graph = chain("Parameter", "ReLU", "ReLU", "ReLU", "Result")
    off = dict(enumerate((*alone, own), 1))
    monkeypatch.setattr(Origin, "_error", lambda _, layer_id: off.get(layer_id, math.inf))
    model = model_of(graph)
    origin = Origin(CLIENT, model, model, Pairs.identical(graph), {}, Setting.of("CPU", "f32"))
    rows = [row_of(share, f"layer_{number}", number) for number, share in enumerate((*moved, 3.0), 1)]
    candidates = {number: alone[number - 1] for number in (2, 1) if moved[number - 1] and alone[number - 1]}
    wanted = max(candidates, key=lambda number: candidates[number]) if candidates and not own else 3
    assert origin._furthest_off(rows, rows[-1]) == wanted


# --- outputs ----------------------------------------------------------------------------------------------------


def test_a_set_ends_at_the_row_that_begins_with_minus_one() -> None:
    for count in range(4):
        for firsts in product((-2.0, -1.0, -0.5, 0.0, 1.0), repeat=count):
            wanted = next((place for place, first in enumerate(firsts) if first == -1), count)
            array = np.zeros((1, count, 3))
            array[0, :, 0] = firsts
            assert _rows(array) == wanted


@pytest.mark.parametrize(
    ("expected", "actual", "elements"), [((2, 3), (2, 4), 8), ((2, 3), (3, 2), 9), ((2, 3), (6,), 0), ((), (1,), 0)]
)
def test_what_one_of_two_sizes_lacks_differs(expected: tuple[int, ...], actual: tuple[int, ...], elements: int) -> None:
    (row,) = Outputs("f32", None, frozenset(), {}).compared({"y": np.ones(expected)}, {"y": np.ones(actual)})
    assert (row.ok, row.difference.elements, row.difference.needed) == (False, elements, math.inf)
    assert row.reason == f"expected f64 {list(expected)}, found f64 {list(actual)}"


@pytest.mark.parametrize("prefix", ["", "loop/body/", None])
def test_outputs_after_the_first_are_numbered(prefix: str | None) -> None:
    layer = Layer(0, {"name": "split"}, LayerContent(outputs=[Port(4, "FP16"), Port(5, "FP32"), Port(7, "BF16")]))
    graph = Graph()
    graph.add(layer)
    found = {Tap("split", place): np.full(1, place) for place in range(3)}
    run = SecondRun(model_of(graph), graph, found, Pairs.identical(graph), BODIES, prefix)
    partners = [run.partner(Source(0, port)) for port in (4, 5, 7)]
    paths = [None] * 3 if prefix is None else [f"{prefix}split{end}" for end in ("", ".1", ".2")]
    assert [one and one.path for one in partners] == paths
    assert [one and one.narrow for one in partners] == ["f16", None, "bf16"]
    assert [one and one.tensor.tolist() for one in partners] == [[0], [1], [2]]


# --- two models -------------------------------------------------------------------------------------------------

FORMS = ("FP32", "I64", "U8")


def inputs_of(prefix: str, precisions: Sequence[str]) -> Model:
    graph = graph_of(*(("Parameter", precision, []) for precision in precisions))
    for layer in graph.layers():
        layer.tag["name"] = f"{prefix}{layer.id}"
    return model_of(graph)


def test_inputs_without_a_common_name_belong_together_by_form_then_in_order() -> None:
    for mine, theirs in product(product(FORMS, repeat=3), repeat=2):
        pairs = _inputs(inputs_of("a", mine), inputs_of("b", theirs))
        found = {one.layer.id: two.layer.id for one, two in pairs}
        assert sorted(found) == sorted(found.values()) == [0, 1, 2]
        only = {form for form in FORMS if mine.count(form) == theirs.count(form) == 1}
        assert all(_form(one) == _form(two) for one, two in pairs if one.port.precision in only)
        rest = [found[place] for place, form in enumerate(mine) if form not in only]
        assert rest == sorted(rest)


def outputs_of(labels: str) -> Model:
    """Two outputs of these names, made by layers 1 and 2."""
    ends = ("Result", "FP32", [1]), ("Result", "FP32", [2])
    graph = graph_of(("Parameter", "FP32", []), *[("ReLU", "FP32", [0])] * 2, *ends)
    for maker, label in enumerate(labels, 1):
        graph.layer(maker).tag["name"] = label
        graph.layer(maker + 2).tag["name"] = f"{label}/end"
    return model_of(graph)


@pytest.mark.parametrize(
    ("own", "theirs", "made", "found"),
    [
        ("ab", "xz", {1: 2, 2: 1}, "zx"),
        ("ab", "xz", {1: 1, 2: 2}, "xz"),
        ("ab", "xz", {1: 2}, "zx"),
        ("ab", "xz", {2: 1}, "zx"),
        ("ab", "xz", {}, "xz"),
        ("xy", "zx", {1: 1, 2: 2}, "xz"),
        ("xy", "yx", {1: 1, 2: 2}, "xy"),
        ("xb", "zx", {}, "xz"),
    ],
)
def test_outputs_belong_together_by_name_then_by_what_makes_them_then_in_order(
    own: str, theirs: str, made: dict[int, int], found: str
) -> None:
    models = outputs_of(own), outputs_of(theirs)
    pairs = Pairs.of(models[1].graph, {}, {Source(one, 9): Source(two, 9) for one, two in made.items()})
    assert output_names(*models, pairs) == dict(zip(own, found, strict=True))


@pytest.mark.parametrize(
    ("here", "there", "told"),
    [
        ("1,2", "1, 2", ""),
        ("TRUE", "true", ""),
        ("1,2", "12", 'at is "1,2" in the first model and "12" in the other'),
        ("1", None, 'at is "1" in the first model and absent in the other'),
        (None, "1", 'at is absent in the first model and "1" in the other'),
    ],
)
def test_attributes_that_mean_the_same_are_no_cause(here: str | None, there: str | None, told: str) -> None:
    own, other = (model_of(chain("Parameter", "ReLU", "Result")) for _ in range(2))
    for model, text in ((own, here), (other, there)):
        model.graph.layer(1).raw.update({} if text is None else {"at": text})
    origin = Origin(CLIENT, own, other, Pairs.identical(other.graph), {}, Setting.of("CPU", "f32"))
    assert [*origin._causes(row_of(2.0, "layer_1", 1))] == ([told] if told else [])


# --- bodies and parts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "given", "shape", "after"),
    [
        ("2,3", (2, 3), (2, 3), "2,3"),
        ("?,3", (2, 3), (2, 3), "?,3"),
        ("2,3", (4, 3), (4, 3), "?,?"),
        ("2,3", (2, 3, 1), (2, 3, 1), "?,?,?"),
        ("", (1,), (), ""),
        ("", (1, 1), (), ""),
        ("", (2,), (2,), "?"),
        ("1", (), (1,), "1"),
        ("2", (), (), "[]"),
        ("...", (2, 3), (2, 3), "?,?"),
    ],
)
def test_a_parameter_of_a_body_takes_what_it_is_given(
    record: str, given: tuple[int, ...], shape: tuple[int, ...], after: str
) -> None:
    graph = chain("Parameter", "Result")
    graph.layer(0).raw.update(shape=record, element_type="f32")
    body, fed = alone(model_of(graph), graph, {0: np.ones(given, np.float64)})
    (array,) = fed.values()
    assert array.shape == shape
    assert array.dtype == np.float32
    assert body.graph.layer(0).raw["shape"] == after
    assert graph.layer(0).raw["shape"] == record


@pytest.mark.parametrize("length", [1, 2, 7, 20])
def test_a_part_is_shrunk_from_its_far_end_to_what_is_needed(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = chain("Parameter", *["ReLU"] * length, "Result")
    distance = {length - steps: steps for steps in range(length)}
    for needed in range(1, length + 1):
        search = _Search(model_of(graph), length, lambda *_: comparison_of(), CLIENT, Setting.of("CPU", "f32"), {})
        tried: list[frozenset[int]] = []

        def differs(layers: frozenset[int], tried: list[frozenset[int]] = tried, needed: int = needed) -> bool:
            tried.append(layers)
            return len(layers) >= needed

        monkeypatch.setattr(search, "differs", differs)
        grown = search.grown(distance)
        assert grown is not None
        assert len(grown) == min(length, next(size for size in (2**power for power in range(9)) if size >= needed))
        tried.clear()
        assert search.shrunk(grown, distance) == set(range(length - needed + 1, length + 1))
        assert len(tried) < 2 or len(tried[0]) == len(grown) - len(grown) // 2


@pytest.mark.parametrize("seed", range(3))
def test_outputs_are_sets_by_their_place_whatever_the_ids_of_ports_are(seed: int) -> None:
    builder = Builder(opset=9)
    given = builder.parameter("boxes", "1,6,4"), builder.parameter("scores", "1,2,6")
    found = builder.outputs("NonMaxSuppression", *given, np.array(2), np.array(0.5, "f4"), np.array(0.1, "f4"))
    for name, output in zip(("rows", "scores", "count"), found, strict=True):
        builder.result(output, name)
    twin = copied(builder.model)
    renumber(np.random.default_rng(seed), twin)
    for model in (builder.model, twin.model):
        assert _sets(model) == {"rows", "scores"}


@pytest.mark.parametrize(
    ("elements", "texts"),
    [
        ((np.float32(0.1), np.float32(0.3)), ("0.1", "0.3")),
        ((np.float64(1 / 3), np.float64(1 / 3 + 1e-7)), ("0.3333333", "0.3333334")),
        ((np.int64(10**17), np.int64(1)), ("100000000000000000", "1")),
        ((np.float32(np.nan), np.float32(1e30)), ("nan", "1e+30")),
    ],
)
def test_elements_have_as_few_digits_as_tell_them_apart(
    elements: tuple[object, object], texts: tuple[str, str]
) -> None:
    assert _told_apart(*elements) == texts
