"""What decides of the cases that were measured, told by a table that is made up."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ir_tools import Builder
from ir_tools.compatibility import compatibility
from ir_tools.format.read import read
from ir_tools.known_differences import as_model, verdicts
from ir_tools.known_differences._model import Call, Fixed, counted
from ir_tools.known_differences.neighbours import gives_known_sizes
from ir_tools.known_differences.releases import ROWS, Seen, _applying, rows_of
from ir_tools.known_differences.releases.seen import MULTIPLE, Pattern
from ir_tools.known_differences.surroundings import Surroundings
from ir_tools.known_differences.verdicts import Answer, _unknown_sizes, behaviour, decisive
from ir_tools.ops import find_op
from ir_tools.ops.definition import Fact
from ir_tools.ops.records import constant_fact
from ir_tools.releases.measured import State
from ir_tools.releases.table import Release, find_release
from ir_tools.types import element_type, parse_shape
from tests.ops.test_control_flow import iterator_model
from tests.releases.test_beside_rows import falls_under

RELEASE = find_release("openvino-2023.0")
FACT = Fact(element_type("f32"), parse_shape("2,3"))
KNOWN = constant_fact(np.zeros((2, 3), np.float32))


def seen(version: int = 11, *, border: bool = False, short: bool = False) -> Seen:
    op = find_op("ReLU", "opset1")
    assert op is not None
    return Seen(
        op,
        op.read({}, []),
        [FACT],
        [FACT],
        version=version,
        opset=1,
        first=border,
        absent=frozenset({"axis"} if short else ()),
    )


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict[str, State]:
    """By case, "" being the plain model; there are no rows."""
    states: dict[str, State] = {"": State.RUNS}

    def state(release: Release, name: str, case: str = "") -> State | None:
        return states.get(case) if name == "ReLU-1" else State.RUNS

    monkeypatch.setattr(verdicts, "state", state)
    monkeypatch.setattr(verdicts, "cases", lambda op: states)
    monkeypatch.setattr(verdicts, "described_inputs", lambda op: range(9))
    monkeypatch.setattr(verdicts, "rows_of", lambda *of, **more: ())
    monkeypatch.setattr(verdicts, "release_differences", lambda *of, **more: ())
    return states


def answer(layer: Seen) -> Answer | None:
    found = behaviour(RELEASE, layer)
    return None if found is None else found[0]


def test_the_worst_case_decides_and_of_better_ones_than_the_plain_model_the_best(table: dict[str, State]) -> None:
    table |= {"f32": State.DIFFERS, "short": State.FAILS}
    assert answer(seen()) is Answer.DIFFERS
    assert answer(seen(short=True)) is Answer.READS
    table |= {"": State.UNREAD, "f32": State.RUNS}
    assert answer(seen()) is None
    assert answer(seen(short=True)) is None
    table |= {"": State.UNCOMPILED, "short": State.UNREAD}
    assert answer(seen(short=True)) is Answer.STOPPED


def test_the_case_of_ir_v10_is_that_of_inputs_and_outputs(table: dict[str, State]) -> None:
    table["v10"] = State.FAILS
    assert answer(seen(10, border=True)) is Answer.READS
    assert answer(seen(10)) is None
    assert answer(seen(11, border=True)) is None


def test_what_was_measured_as_unknown_together_is_not_asked_about_one_by_one(
    table: dict[str, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "TOGETHER", {"ReLU": (1,)})
    table["? input 1"] = State.UNCOMPILED
    unknown = Fact(element_type("f32"), parse_shape("?,?"))
    assert answer(replace(seen(), inputs=[FACT, unknown])) is Answer.READS
    assert answer(replace(seen(), inputs=[unknown, unknown])) is None
    assert answer(replace(seen(), inputs=[unknown])) is None, "an input that is absent is not asked about"


def test_a_type_of_which_a_release_takes_no_inputs_does_as_another() -> None:
    op = find_op("ReduceMean", "opset1")
    assert op is not None
    facts = [Fact(element_type(kind), parse_shape("2,3")) for kind in ("u32", "i32")]
    layer = Seen(op, op.read({"keep_dims": "true"}, []), facts, facts[:1], constant=(1,), version=10, opset=1)
    found = behaviour(find_release("openvino-2021.4"), layer)
    assert found == (Answer.READS, "ReduceMean-1 with u64 is read but not compiled")


def test_a_row_about_other_types_leaves_what_was_measured(
    table: dict[str, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = (row for row in ROWS if row.name == "functions of small integers")
    monkeypatch.setattr(verdicts, "rows_of", lambda *of, **more: (row,))
    table["f32"] = State.DIFFERS
    assert answer(seen()) is Answer.DIFFERS
    monkeypatch.setattr(verdicts, "rows_of", lambda *of, **more: (replace(row, types="f32"),))
    assert answer(seen()) is None


def test_a_row_of_other_processors_leaves_what_was_measured_if_any_is_asked_about(
    table: dict[str, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = (row for row in ROWS if row.name == "functions of small integers")
    found = (replace(row, types="f32"),)
    monkeypatch.setattr(verdicts, "rows_of", lambda *of, anywhere=False: found if anywhere else ())
    table["f32"] = State.DIFFERS
    assert behaviour(RELEASE, seen(), anywhere=True) is None
    assert answer(seen()) is Answer.DIFFERS


def test_f16_that_is_computed_in_f32_is_not_asked_about(table: dict[str, State]) -> None:
    table["f16"] = State.DIFFERS
    half = Fact(element_type("f16"), parse_shape("2,3"))
    assert answer(replace(seen(border=True), inputs=[half])) is Answer.DIFFERS
    assert answer(replace(seen(), inputs=[half])) is None, "within a model"
    assert answer(replace(seen(10, border=True), inputs=[half])) is None, "converted at inputs of IR v10"


def test_a_case_that_a_row_describes_does_not_count(table: dict[str, State], monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = (row for row in ROWS if row.name == "functions of small integers")
    other = replace(row, state=State.DIES, instead=("short",))
    monkeypatch.setattr(verdicts, "rows_of", lambda release, op, **more: (other,) if op == "ReLU-1" else ())
    table["short"] = State.FAILS
    assert answer(seen(short=True)) is None
    other = replace(other, instead=("v10",))
    assert answer(seen(short=True)) is Answer.READS


def test_a_case_that_a_row_of_another_processor_describes_counts_here(
    table: dict[str, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = (row for row in ROWS if row.name == "functions of small integers")
    elsewhere = (replace(row, instead=("short",)),)
    monkeypatch.setattr(verdicts, "rows_of", lambda *of, anywhere=False: elsewhere if anywhere else ())
    table["short"] = State.FAILS
    assert answer(seen(short=True)) is Answer.READS
    assert behaviour(RELEASE, seen(short=True), anywhere=True) is None


@pytest.mark.parametrize(("state", "wanted"), [(State.UNREAD, Answer.STOPPED), (State.FAILS, None)])
def test_of_types_that_are_no_inputs_only_those_that_are_not_read_were_measured(
    monkeypatch: pytest.MonkeyPatch, table: dict[str, State], state: State, wanted: Answer | None
) -> None:
    """A model with such an input fails for it, whatever the release does with the operation."""
    states = {("ReLU-1", "u16"): state, ("Parameter-1", "u16"): State.FAILS}
    monkeypatch.setattr(verdicts, "state", lambda release, op, case="": states.get((op, case), State.RUNS))
    words = Fact(element_type("u16"), parse_shape("2,3"))
    assert answer(replace(seen(), inputs=[words])) is wanted


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        (State.DIES, Answer.READS),
        (State.DIFFERS, Answer.DIFFERS),
        (State.FAILS, None),
        (State.UNCOMPILED, None),
    ],
)
def test_what_is_folded_is_not_run(table: dict[str, State], state: State, wanted: Answer | None) -> None:
    table[""] = state
    op = seen().op
    assert answer(Seen(op, op.read({}, []), [KNOWN], [KNOWN], constant=(0,), opset=1)) is wanted
    assert answer(seen()) is not None


@pytest.mark.parametrize(("kind", "wanted"), [("f32", Answer.DIFFERS), ("f64", None)])
def test_a_row_counts_for_what_is_folded_of_types_that_a_release_takes(
    kind: str, wanted: Answer | None, table: dict[str, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release without dynamic shapes, which takes no inputs of f64."""
    unread = {("ReLU-1", ""), ("Parameter-1", "f64")}
    monkeypatch.setattr(
        verdicts, "state", lambda release, name, case="": State.UNREAD if (name, case) in unread else State.RUNS
    )
    row = replace(ROWS[0], state=State.DIFFERS, folded=True)
    monkeypatch.setattr(verdicts, "release_differences", lambda *of, **more: (row,))
    op, fact = seen().op, constant_fact(np.zeros((2, 3), element_type(kind).dtype))
    layer = Seen(op, op.read({}, []), [fact], [fact], constant=(0,), opset=1)
    found = behaviour(find_release("openvino-2021.4"), layer)
    assert (None if found is None else found[0]) is wanted


def test_a_row_explains_what_was_measured_of_types_and_not_of_other_cases(
    table: dict[str, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = replace(ROWS[0], state=State.FAILS, types="f32", measured=True)
    monkeypatch.setattr(verdicts, "rows_of", lambda *of, **more: (row,))
    table |= {"": State.FAILS}
    assert answer(seen()) is None
    table |= {"": State.RUNS, "short": State.FAILS}
    assert answer(seen(short=True)) is Answer.READS


def test_a_layer_with_absent_attributes_that_is_not_read_is_not_read_of_unknown_sizes_either(
    table: dict[str, State],
) -> None:
    """Unlike one that was measured with others as inputs and outputs of the model."""
    unknown = Fact(element_type("f32"), parse_shape("?,3"))
    release = find_release("openvino-2021.4")
    for case, wanted in (("short", Answer.STOPPED), ("f32", Answer.UNKNOWN)):
        table.clear()
        table |= {"": State.RUNS, case: State.UNREAD}
        found = behaviour(release, replace(seen(short=True), outputs=[unknown]))
        assert found is not None
        assert found[0] is wanted


def test_a_row_about_constants_counts_if_the_same_was_measured(
    table: dict[str, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    op = seen().op
    layer = Seen(op, op.read({}, []), [KNOWN], [KNOWN], constant=(0,), opset=1)
    table[""] = State.FAILS
    assert answer(layer) is None
    row = replace(ROWS[0], state=State.FAILS, folded=True)
    monkeypatch.setattr(verdicts, "release_differences", lambda *of, **more: (row,))
    assert answer(layer) is Answer.READS


@pytest.mark.parametrize("between", [False, True])
def test_what_sizes_say_is_folded_within_a_model(between: bool) -> None:
    """A ShapeOf that is not the whole model."""
    assert replace(seen(), outputs=[KNOWN], between=between).folded is not between


def test_what_is_folded_of_its_first_input_alone() -> None:
    """A ConvertLike of a constant is folded whatever it is converted like, and not compiled else."""
    release = find_release("openvino-2022.1")
    for constant, wanted in ((True, Answer.RUNS), (False, Answer.READS)):
        builder = Builder()
        data = np.ones(2, np.float32)
        given = builder.constant(data) if constant else builder.parameter("x", "2")
        like = builder.parameter("like", "1", "i64")
        builder.result(builder.call("ConvertLike", given, like))
        (found,) = compatibility(builder.model, [release])
        assert found.answer is wanted


def test_what_is_not_folded_is_not_compiled_of_constants_either() -> None:
    builder = Builder()
    builder.result(
        builder.call("Add", builder.call("Identity", np.ones((1, 1), np.float32)), builder.parameter("x", "1,1"))
    )
    releases = [find_release(f"openvino-{name}") for name in ("2025.3", "2025.4")]
    assert [found.answer for found in compatibility(builder.model, releases)] == [Answer.READS, Answer.RUNS]


@pytest.mark.parametrize(
    ("name", "last", "wanted"),
    [
        ("ReduceMax-1 of integers along a short last axis", "2022.1", Answer.RUNS),
        ("ReduceMax-1 of integers along a short last axis", "2022.2", Answer.RUNS),
        ("Asin", "2025.2", Answer.DIFFERS),
        ("SoftSign after an elementwise layer", "2022.2", Answer.DIFFERS),
        ("functions of small integers", "2021.4", Answer.DIFFERS),
    ],
)
def test_other_values_of_constants(name: str, last: str, wanted: Answer) -> None:
    """What is computed before a device sees it is right from 2022.1 on, unless a row says that it is not."""
    name = "u16 results that are not numbers, anywhere" if name == "Asin" else name
    (row,) = (row for row in ROWS if row.name == name)
    model, _ = as_model(_of_constants(row.model))
    model.version = row.version
    (found,) = compatibility(model, [find_release(f"openvino-{last}")])
    assert found.answer is wanted


def _of_constants(call: Call) -> Call:
    """Return a call with constants in the place of what its Parameters are fed."""
    inputs = (
        _of_constants(one) if isinstance(one, Call) else one if isinstance(one, Fixed) else Fixed(np.asarray(one))
        for one in call.inputs
    )
    return replace(call, inputs=tuple(inputs))


@pytest.mark.parametrize(
    ("layers", "wanted"),
    [
        (["Multiply"], Answer.READS),
        (["Subtract", "Multiply"], Answer.READS),
        (["Subtract"], Answer.RUNS),
        (["Multiply", "Abs"], Answer.RUNS),
    ],
)
def test_weights_of_4_bits_that_are_scaled_by_what_is_computed(layers: list[str], wanted: Answer) -> None:
    builder = Builder()
    held = builder.constant(np.arange(8, dtype=np.uint8), "held", "u4", (4, 4))
    weights = builder.call("Convert", held, destination_type="f32")
    for type in layers:
        weights = builder.call(type, weights, *([] if type == "Abs" else [builder.parameter(f"by {type}", "1")]))
    builder.result(builder.call("MatMul", builder.parameter("data", "2,4"), weights))
    releases = [find_release(f"openvino-{name}") for name in ("2023.2", "2024.1", "2024.2")]
    assert [found.answer for found in compatibility(builder.model, releases)] == [wanted, wanted, Answer.RUNS]


def test_what_is_not_read_is_not_read_of_constants_either() -> None:
    """OpenVINO 2021.2 looks at the sizes of a DepthToSpace before it computes it of constants."""
    call = Call("DepthToSpace-1", (Fixed(counted(1, 4, 3)),), {"mode": "blocks_first", "block_size": "4"})
    model, _ = as_model(call)
    model.version = 10
    releases = [find_release(f"openvino-{name}") for name in ("2021.2", "2021.3")]
    assert [found.answer for found in compatibility(model, releases)] == [Answer.STOPPED, Answer.RUNS]


def test_of_answers_about_layers_the_one_that_says_least_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stopped is not run, and nothing is known of what runs with a layer of which nothing is known."""
    builder = Builder()
    data = builder.parameter("x", "2,3")
    for type in ("Abs", "ReLU", "Exp"):
        data = builder.call(type, data)
    builder.result(data)
    answers = {"Abs-1": Answer.DIFFERS, "ReLU-1": Answer.READS, "Exp-1": Answer.UNKNOWN}

    def given(release: Release, seen: Seen) -> tuple[Answer, str] | None:
        return (answers[str(seen.op)], "why") if str(seen.op) in answers else None

    monkeypatch.setattr("ir_tools.compatibility.verdict", given)
    for left in ("Exp-1", "ReLU-1", "Abs-1"):
        (found,) = compatibility(builder.model, [RELEASE])
        assert found.answer is answers.pop(left)
        assert len(found.obstacles) == 1
    (found,) = compatibility(builder.model, [RELEASE])
    assert found.answer is Answer.RUNS


@pytest.mark.parametrize(
    ("shape", "cases"),
    [("", []), ("2,3", []), ("?", ["?"]), ("1..2", ["?"]), ("?,?", ["?"]), ("?,3", ["? 0"]), ("...", ["?"])],
)
def test_all_sizes_unknown_are_a_case_of_their_own(shape: str, cases: list[str]) -> None:
    assert [*_unknown_sizes(parse_shape(shape))] == cases


def test_on_other_processors_only_other_values_count() -> None:
    """A layer that another processor's release does not compile needs no rewrite here."""
    elsewhere = [row for row in ROWS if not row.processor.is_here]
    assert {row.state for row in elsewhere} > {State.DIFFERS}
    for row in elsewhere:
        for anywhere in (False, True):
            found = rows_of(row.releases[0].name, row.ops[0], anywhere=anywhere)
            assert (row in found) is (anywhere and row.state is State.DIFFERS)


def test_a_row_that_cannot_decide_about_a_valid_layer_is_an_error() -> None:
    row = replace(ROWS[0], types="", applies=lambda seen: seen.inputs[9].shape is None)
    with pytest.raises(IndexError):
        _applying((row,), seen())
    assert _applying((row,), replace(seen(), attrs=None)) == ()


@pytest.mark.parametrize(
    ("kind", "version", "readers"),
    [
        ("i64", 10, {"Convert", "Abs"}),
        ("f32", 10, {"Result", "Abs"}),
        ("i32", 10, {"Result", "Abs"}),
        ("i64", 11, {"Result", "Abs"}),
    ],
)
def test_a_conversion_reads_the_outputs_of_ir_v10(kind: str, version: int, readers: set[str]) -> None:
    builder, fact = Builder(), Fact(element_type(kind), parse_shape("2"))
    first = builder.call("Abs", builder.parameter("x", "2", kind), name="first")
    for end, source in (("one", first), ("two", builder.call("Abs", first))):
        builder.result(source, end)
    located = next(one for one in builder.model.walk() if one.layer.name == "first")
    op = find_op("Abs", "opset1")
    assert op is not None
    found = Surroundings(builder.model).seen(located, op, [fact], [fact], version)
    assert {reader for _, reader in found.readers} == readers


def test_an_input_that_is_absent_is_behind_no_layer() -> None:
    layer = replace(seen(), producers=("Exp",))
    assert [layer.is_behind({"Exp"}, number) for number in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    ("type", "data", "divisor", "found"),
    [
        ("FloorMod", "x", "by", MULTIPLE),
        ("Mod", "x", "by", MULTIPLE),
        ("Mod", "x", "other", "Subtract"),
        ("Mod", "other", "by", "Subtract"),
        ("Minimum", "x", "by", "Subtract"),
    ],
)
def test_what_is_less_its_remainder_is_a_multiple(type: str, data: str, divisor: str, found: str) -> None:
    builder = Builder()
    given = {name: builder.parameter(name, "2", "i32") for name in ("x", "by", "other")}
    rest = builder.call(type, given[data], given[divisor])
    builder.result(builder.call("Divide", builder.call("Subtract", given["x"], rest), given["by"], name="quotient"))
    located = next(one for one in builder.model.walk() if one.layer.name == "quotient")
    op, fact = find_op("Divide", "opset1"), Fact(element_type("i32"), parse_shape("2"))
    assert op is not None
    assert Surroundings(builder.model).seen(located, op, [fact, fact], [fact], 11).producers == (found, "")


@pytest.mark.parametrize("names", [("sizes", "data"), ("data", "sizes")])
def test_remainders_of_sizes_decide_beside_those_of_data(names: tuple[str, str]) -> None:
    builder, found = Builder(opset=8), dict[str, frozenset[str]]()
    data = builder.parameter("x", "?,?", "f32")
    rest = builder.call("Mod", builder.call("ShapeOf", data, output_type="i64"), np.int64(3), name="sizes")
    computed = builder.call("Add", builder.parameter("more", "2", "i64"), rest)
    for end in (computed, rest):
        builder.result(builder.call("Reshape", np.ones(6, np.float32), end, special_zero=False))
    builder.result(builder.call("Negative", builder.call("Mod", computed, np.int64(5), name="data")))
    located, op, fact = (
        {one.layer.name: one for one in builder.model.walk()},
        find_op("Mod", "opset1"),
        seen().inputs[0],
    )
    assert op is not None
    around = Surroundings(builder.model)
    for name in names:
        found[name] = around.seen(located[name], op, [fact, fact], [fact], 11).patterns
    assert found == {"sizes": {Pattern.LATE_SIZES, Pattern.LATE_SHAPES}, "data": set()}


def test_no_conversion_reads_the_outputs_of_bodies_of_ir_v10() -> None:
    """Nor do their names have to be those of tensors."""
    text, weights = iterator_model(np.random.default_rng(1), static=True)
    model = read(text.replace(b'"f32"', b'"f16"').replace(b"FP32", b"FP16"), weights)
    located = next(one for one in model.walk() if one.layer.type == "Add")
    op, fact = find_op("Add", "opset1"), Fact(element_type("f16"), parse_shape("1,2,3"))
    assert op is not None
    assert Surroundings(model).seen(located, op, [fact, fact], [fact], 10).readers == ((0, "Negative"), (0, "Result"))


def test_rows_of_other_processors_are_none_of_this_one() -> None:
    elsewhere = [row for row in ROWS if not row.processor.is_here and row.state is State.DIFFERS]
    found = [falls_under(row, row.model) for row in elsewhere]
    assert elsewhere
    assert not any(found)


@pytest.mark.parametrize(
    ("computed", "dims", "levels", "least", "found"),
    [
        ((), (), 256, -3.5, {Pattern.QUANTIZED}),
        ((), (1, 1), 16, -3.5, {Pattern.QUANTIZED}),
        ((), (), 256, -4, {Pattern.QUANTIZED}),
        ((), (), 256, -2.5, set()),
        ((), (), 256, -5, set()),
        ((1,), (), 256, -3.5, set()),
        ((1, 2, 3, 4), (), 256, -3.5, set()),
        ((), (3,), 256, -3.5, set()),
        ((), (), 17, -3.5, set()),
    ],
)
def test_what_is_quantized_to_bytes(
    computed: tuple[int, ...], dims: tuple[int, ...], levels: int, least: float, found: set[str]
) -> None:
    """Between constant numbers around 0, to as many levels as 4 or 8 bits have; what moves elements carries it on."""
    builder = Builder()
    limits = [
        builder.parameter(f"limit{number}", dims) if number in computed else np.full(dims, number + least, np.float32)
        for number in range(1, 5)
    ]
    data = builder.call("FakeQuantize", builder.parameter("x", "2,3"), *limits, levels=levels)
    moved = builder.call("Transpose", builder.call("ReLU", data), np.array([1, 0]))
    builder.result(builder.call("MatMul", moved, np.ones((2, 2), np.float32), name="product"))
    located = next(one for one in builder.model.walk() if one.layer.name == "product")
    op, facts = find_op("MatMul", "opset1"), [Fact(element_type("f32"), parse_shape(dims)) for dims in ("3,2", "2,2")]
    assert op is not None
    seen = Surroundings(builder.model).seen(located, op, facts, facts[:1], 11)
    assert seen.patterns & {Pattern.QUANTIZED} == found


@pytest.mark.parametrize(
    ("part", "dims", "found"), [(0, "?,1", set()), (1, "?,1", {Pattern.JOINED}), (1, "2,1", set())]
)
def test_a_part_behind_the_first_that_is_joined_with_a_tensor_of_unknown_size(
    part: int, dims: str, found: set[str]
) -> None:
    builder = Builder()
    parts = builder.outputs("Split", builder.parameter("x", "2,4"), np.array(1), num_splits=2, name="split")
    builder.result(builder.call("Add", parts[part], builder.parameter("y", dims)))
    located = next(one for one in builder.model.walk() if one.layer.name == "split")
    op, index = find_op("Split", "opset1"), Fact(element_type("i64"), parse_shape("[]"))
    data, half = (Fact(element_type("f32"), parse_shape(sizes)) for sizes in ("2,4", "2,2"))
    assert op is not None
    seen = Surroundings(builder.model).seen(located, op, [data, index], [half, half], 11)
    assert seen.patterns & {Pattern.JOINED} == found


@pytest.mark.parametrize(("dims", "known"), [("2,3", True), ("0,1", True), ("2,?", False), ("...", False)])
def test_sizes_that_the_file_has(dims: str, known: bool) -> None:
    """A tensor of unknown rank has none."""
    builder = Builder()
    builder.result(builder.call("ShapeOf", builder.parameter("x", dims), output_type="i64", name="sizes"))
    layer = next(one.layer for one in builder.model.walk() if one.layer.name == "sizes")
    assert gives_known_sizes(layer) is known


@pytest.mark.parametrize(
    "change",
    [
        *({name: True} for name in ("first", "last", "open", "between")),
        *({"version": 10}, {"opset": 2}, {"constant": frozenset({0})}, {"names": frozenset({"EMPTY"})}),
        {"absent": frozenset({"axis"})},
    ],
    ids=lambda change: next(iter(change)),
)
def test_layers_get_one_answer_only_if_nothing_that_is_asked_about_differs(change: dict[str, Any]) -> None:
    assert decisive(replace(seen(), **change)) != decisive(seen())
