"""Migration of whole models: what is planned, what is changed, and what keeps its bytes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import MigrationError, ReadError
from ir_tools.format.read import read
from ir_tools.format.write import render
from ir_tools.graph import Layer, Model, Source
from ir_tools.ops import find_op
from ir_tools.ops.definition import Array, Fact, NewLayer, Op, Ref, Rewrite
from ir_tools.ops.fields import Int
from ir_tools.rewrite import migration
from ir_tools.rewrite.migration import migrate
from ir_tools.rewrite.rewriter import Rewriter, remove_unread
from ir_tools.types import Dim, element_type
from tests.benchmarks.large_models import write_large
from tests.rewrite.migrations import Compiled, Row, build, model_of
from tests.rules.test_rules import FOLDER

PLAIN = {
    "kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "exclude-pad": "true",
    "rounding_type": "floor", "auto_pad": "explicit",
}  # fmt: skip
DILATED = {**PLAIN, "dilations": "2,1"}


def pool(version: str = "opset14", shape: tuple[int, ...] = (1, 3, 7, 8), **changes: str) -> Row:
    attrs = {**PLAIN, **{key.replace("__", "-"): text for key, text in changes.items()}}
    return Row("AvgPool", version, attrs, shape, (*shape[:2], -1, -1))


def layer(model: Model, name: str) -> Layer:
    return next(found.layer for found in model.walk() if found.path == name)


def subtraction() -> tuple[Builder, Layer]:
    builder = Builder()
    one, two = builder.parameter("one", "2"), builder.parameter("two", "2")
    builder.result(builder.call("Subtract", one, two, name="minus"), "out")
    return builder, layer(builder.model, "minus")


def other_subtraction(*inputs: Ref | Array) -> Rewrite:
    new = NewLayer(type="Subtract", opset=1, inputs=inputs, outputs=(Fact(element_type("f32"), (Dim.of(2),)),))
    return Rewrite(layers=(new,), strategy="for a test", proof="none")


def changed_lines(before: Model, after: Model) -> list[tuple[str, str]]:
    old, new = render(before).decode().splitlines(), render(after).decode().splitlines()
    assert len(old) == len(new)
    return [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]


def test_an_edit_in_place_changes_that_layers_tags_only() -> None:
    model = model_of([pool("opset14"), pool("opset8"), pool("opset16", dilations="1,1")])
    migrated = migrate(model, "opset8")
    pairs = changed_lines(model, migrated.model)
    assert [('version="opset14"' in old, 'version="opset16"' in old) for old, _ in pairs] == [
        (True, False),
        (False, True),
    ]
    assert all('version="opset8"' in new and "dilations" not in new for _, new in pairs)
    first, second = pairs[0]
    assert second == first.replace("opset14", "opset8")


def test_the_callers_model_is_not_changed() -> None:
    model = model_of([pool("opset16", dilations="2,2", rounding_type="ceil_torch")])
    text = render(model)
    migrated = migrate(model, "opset8")
    assert migrated.ok
    assert migrated.model is not model
    assert render(model) == text
    assert model.weights.pending == 0


def test_moving_twice_changes_nothing() -> None:
    rows = [pool("opset16", dilations="2,2"), pool("opset1"), pool(rounding_type="ceil_torch", strides="3,2")]
    once = migrate(model_of(rows), "opset8").model
    again = migrate(once, "opset8")
    assert again.steps == ()
    assert render(again.model) == render(once)


def test_a_legacy_layer_is_completed_and_its_misspellings_are_noted() -> None:
    attrs = {
        "kernel": "2,2",
        "strides": "2,2",
        "pads_begin": "1,1",
        "pads_end": "1,1",
        "exclude_pad": "false",
        "mine": "1",
    }
    model = model_of([Row("AvgPool", "opset1", attrs, (1, 3, 7, 8), (1, 3, 4, 5))])
    migrated = migrate(model, "opset8")
    (step,) = migrated.steps
    assert any("exclude_pad" in note for note in step.notes)
    raw = layer(migrated.model, "pool0").raw
    assert raw == {
        "kernel": "2,2", "strides": "2,2", "pads_begin": "1,1", "pads_end": "1,1", "mine": "1",
        "exclude-pad": "true", "rounding_type": "floor", "auto_pad": "explicit",
    }  # fmt: skip
    data = {"x0": np.random.default_rng(0).random((1, 3, 7, 8), np.float32)}
    assert np.array_equal(Compiled(model)(data)["y0"], Compiled(migrated.model)(data)["y0"])


def test_a_misspelling_beside_the_attribute_is_dropped() -> None:
    model = model_of([pool("opset8", exclude_pad="false")])
    migrated = migrate(model, "opset8")
    assert len(migrated.steps) == 1
    assert layer(migrated.model, "pool0").raw == PLAIN
    assert migrate(migrated.model, "opset8").steps == ()


def test_missing_dilations_that_crash_the_runtime_are_filled_in() -> None:
    model = model_of([pool("opset16")])
    assert layer(migrate(model, "opset16").model, "pool0").raw["dilations"] == "1,1"
    assert migrate(model, "opset8").ok


@pytest.mark.parametrize(("style", "expected"), [("2, 2", "0, 1"), ("2,2", "0,1")])
def test_lists_are_written_as_the_file_writes_them(style: str, expected: str) -> None:
    attrs = {key: text.replace("2,2", style).replace("0,0", style.replace("2", "0")) for key, text in PLAIN.items()}
    attrs |= {"kernel": style.replace("2", "3"), "strides": style.replace("2", "5"), "rounding_type": "ceil_torch"}
    model = model_of([Row("AvgPool", "opset14", attrs, (1, 3, 8, 9), (1, 3, 2, 2))])
    raw = layer(migrate(model, "opset8").model, "pool0").raw
    separator = ", " if ", " in expected else ","
    assert all(raw[key].count(separator) == 1 for key in ("kernel", "strides", "pads_begin", "pads_end"))
    assert raw["kernel"] == style.replace("2", "3")


@pytest.mark.parametrize("first", ["1, 3, 9, 9", "1,3,9,9"])
@pytest.mark.parametrize("own", ["3, 3", "3,3", ""], ids=["blank", "no-blank", "no-list"])
def test_lists_are_written_as_in_the_layer_itself_or_else_in_its_graph(first: str, own: str) -> None:
    attrs = {"kernel": own, "strides": own} if own else {}
    model = model_of([Row("AvgPool", "opset14", attrs, (1, 3, 9, 9), (1, 3, 3, 3))])
    layer(model, "x0").raw["shape"] = first
    new = NewLayer(
        type="AvgPool",
        opset=8,
        inputs=(Ref(None, 0),),
        outputs=(Fact(element_type("f32"), tuple(map(Dim.of, (1, 3, 3, 3)))),),
        raw={"kernel": "3,3", "pads_begin": "0,0", "auto_pad": "a,b"},
    )
    rewrite = Rewrite(layers=(new,), strategy="for a test", proof="none")
    Rewriter(model).apply(model.graph, layer(model, "pool0"), find_op("AvgPool", "opset14"), rewrite)
    raw = layer(model, "pool0").raw
    assert raw["pads_begin"] == ("0, 0" if ", " in (own or first) else "0,0")
    assert raw["auto_pad"] == "a,b", "not a list of numbers"


def test_a_replacement_keeps_id_name_tensor_names_and_readers() -> None:
    text, weights = build([pool("opset16", dilations="2,2")])
    port, end = b'<port id="1" precision="FP32"', b'</output></layer>\n<layer id="2"'
    info = b'<rt_info><attribute name="fused" version="0" value="a"/></rt_info>'
    named = text.replace(port, port + b' names="mine,ours"', 1).replace(end, end.replace(b"><", b">" + info + b"<", 1))
    model = read(named, weights)
    migrated = migrate(model, "opset8").model
    old, new = layer(model, "pool0"), layer(migrated, "pool0")
    assert (new.id, new.name, new.type) == (old.id, old.name, "GroupConvolution")
    assert new.outputs[0].names == ("mine", "ours")
    assert new.outputs[0].dims == old.outputs[0].dims == (1, 3, -1, -1), "as the file records them"
    assert new.rt_info == old.rt_info == [{"name": "fused", "version": "0", "value": "a"}]
    assert [end.name for end in migrated.outputs] == [end.name for end in model.outputs]
    names = [found.layer.name for found in migrated.walk()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("target", ["opset8", "opset13"])
@pytest.mark.parametrize("axis", ["0", "2", "-1"])
def test_indices_of_max_pool_go_on_to_be_counted_from_their_axis(axis: str, target: str) -> None:
    attrs = {**DILATED, "index_element_type": "i32", "axis": axis, "dilations": "2,2"}
    del attrs["exclude-pad"]
    migrated = migrate(model_of([Row("MaxPool", "opset14", attrs, (1, 3, 7, 8), (1, 3, 3, 3))]), target)
    assert migrated.ok
    raw = layer(migrated.model, "pool0").raw
    assert (raw["axis"], raw["index_element_type"], raw["dilations"]) == (axis, "i32", "2,2")


def test_a_refusal_changes_nothing_and_says_why() -> None:
    attrs = {**DILATED, "index_element_type": "i64", "axis": "0", "dilations": "2,2"}
    del attrs["exclude-pad"]
    rows = [pool("opset14"), Row("MaxPool", "opset8", attrs, (1, 3, 7, 8), (1, 3, 3, 3))]
    model = model_of(rows)
    text = render(model)
    migrated = migrate(model, "opset1")
    (refused,) = migrated.refused
    assert (refused.path, refused.attribute, refused.before) == ("pool1", "dilations", "MaxPool-8")
    assert migrated.model is model
    assert render(model) == text


def test_a_refusal_of_a_later_stage_leaves_a_model_that_is_changed_in_place_alone() -> None:
    attrs = {**DILATED, "index_element_type": "i64", "axis": "0", "dilations": "2,2"}
    del attrs["exclude-pad"]
    model = model_of([pool("opset14", (1, 3, 8, 8)), Row("MaxPool", "opset8", attrs, (1, 3, 7, 8), (1, 3, 3, 3))])
    text = render(model)
    migrated = migrate(model, "opset1", "avg-pool-to-adaptive", in_place=True)
    assert migrated.steps[0].after == "AdaptiveAvgPool opset8"
    assert [refused.path for refused in migrated.refused] == ["pool1"]
    assert render(model) == text


@pytest.mark.parametrize("target", ["opset8", "ir10", "openvino-2024.6"])
def test_a_model_that_may_be_changed_is_not_copied(target: str) -> None:
    model = model_of([pool("opset14", (1, 3, 8, 8))])
    assert migrate(model, target).model is not model
    assert migrate(model, target, in_place=True).model is model


def test_layers_that_differ_in_a_constant_alone_are_planned_one_by_one() -> None:
    sizes = [(1, 1), (2, 1), (1, 1)]
    rows = [Row("AdaptiveAvgPool", "opset8", {}, (1, 3, 4, 4), (1, 3, -1, -1), sizes=size) for size in sizes]
    steps = migrate(model_of(rows), "opset7").steps
    assert [step.after for step in steps] == ["ReduceMean opset1", "AvgPool opset1", "ReduceMean opset1"]


def test_a_layer_of_the_same_type_with_its_inputs_in_another_order_is_no_edit_in_place() -> None:
    builder, old = subtraction()
    before = [*builder.graph.sources(old.id).values()]
    rewrite = other_subtraction(Ref(None, 1), Ref(None, 0))
    Rewriter(builder.model).apply(builder.graph, old, find_op("Subtract", "opset1"), rewrite)
    assert [*builder.graph.sources(old.id).values()] == before[::-1]


def test_a_replacement_reads_what_fed_the_ports_in_whatever_order_they_were_connected() -> None:
    builder, old = subtraction()
    before = builder.graph.sources(old.id)
    builder.graph.disconnect(old.id, old.inputs[0].id)
    builder.graph.connect(before[old.inputs[0].id], old.id, old.inputs[0].id)
    assert [*builder.graph.sources(old.id)] == [port.id for port in old.inputs[::-1]]
    rewrite = other_subtraction(Ref(None, 1), Ref(None, 0))
    Rewriter(builder.model).apply(builder.graph, old, find_op("Subtract", "opset1"), rewrite)
    after = builder.graph.sources(old.id)
    assert [after[port] for port in (0, 1)] == [before[port] for port in (1, 0)]


@pytest.mark.parametrize(("recorded", "written"), [("FP16", "FP16"), (None, "FP32")])
def test_a_replacement_records_what_the_layer_recorded(recorded: str | None, written: str) -> None:
    builder, old = subtraction()
    old.outputs[0].precision, old.outputs[0].dims = recorded, (-1,)
    rewrite = other_subtraction(Ref(None, 1), Ref(None, 0))
    Rewriter(builder.model).apply(builder.graph, old, find_op("Subtract", "opset1"), rewrite)
    (port,) = builder.graph.layer(old.id).outputs
    assert (port.precision, port.dims) == (written, (-1,))


def test_a_constant_of_a_rewrite_is_made_once_in_each_graph() -> None:
    main, one = subtraction()
    body, two = subtraction()
    rewriter, rewrite = Rewriter(main.model), other_subtraction(Ref(None, 0), np.ones(2, np.float32))
    for graph, old in ((main.graph, one), (body.graph, two)):
        rewriter.apply(graph, old, find_op("Subtract", "opset1"), rewrite)
        assert [layer.type for layer in graph.layers()].count("Const") == 1
        assert all(source.layer in graph for source in graph.sources(old.id).values())
        (made,) = (layer.name for layer in graph.layers() if layer.type == "Const")
        assert made == "minus/_1", "the number of the input that it feeds"
    assert main.model.weights.size == 8


def test_attributes_stay_with_the_layer_of_the_same_type() -> None:
    builder, old = subtraction()
    old.raw["note"] = "kept"
    f32 = Fact(element_type("f32"), (Dim.of(2),))
    first = NewLayer(type="Abs", opset=1, inputs=(Ref(None, 0),), outputs=(f32,), label="abs")
    last = NewLayer(type="Subtract", opset=1, inputs=(Ref(0), Ref(None, 1)), outputs=(f32,))
    rewrite = Rewrite(layers=(first, last), strategy="for a test", proof="none")
    Rewriter(builder.model).apply(builder.graph, old, find_op("Subtract", "opset1"), rewrite)
    assert layer(builder.model, "minus/abs").raw == {}
    assert layer(builder.model, "minus").raw == {"note": "kept"}


def test_layers_of_one_text_may_be_rewritten_in_different_ways() -> None:
    builder = Builder()
    one = builder.parameter("one", "2")
    for name in ("first", "second"):
        builder.result(builder.call("Elu", one, name=name, alpha=1.0), f"{name}/out")
    rewriter, f32 = Rewriter(builder.model), Fact(element_type("f32"), (Dim.of(2),))
    rewrites = []
    for name, alpha in (("first", "2"), ("second", "3")):
        new = NewLayer(type="Elu", opset=1, inputs=(Ref(None, 0),), outputs=(f32,), raw={"alpha": alpha})
        rewrites.append(Rewrite(layers=(new,), strategy="for a test", proof="none"))
        rewriter.apply(builder.graph, layer(builder.model, name), find_op("Elu", "opset1"), rewrites[-1])
        assert layer(builder.model, name).raw == {"alpha": alpha}


def test_one_rewrite_leaves_each_layer_its_own_attributes() -> None:
    builder = Builder()
    one, f32 = builder.parameter("one", "2"), Fact(element_type("f32"), (Dim.of(2),))
    notes: dict[str, dict[str, str]] = {"first": {"note": "a"}, "second": {"note": "b"}, "third": {}}
    for name, note in notes.items():
        builder.result(builder.call("Elu", one, name=name, alpha=1.0), f"{name}/out")
        layer(builder.model, name).raw.update(note)
    new = NewLayer(type="Elu", opset=1, inputs=(Ref(None, 0),), outputs=(f32,), raw={"alpha": "2"})
    rewriter, rewrite = Rewriter(builder.model), Rewrite(layers=(new,), strategy="for a test", proof="none")
    for name, note in notes.items():
        rewriter.apply(builder.graph, layer(builder.model, name), find_op("Elu", "opset1"), rewrite)
        assert layer(builder.model, name).raw == {"alpha": "2", **note}


def test_what_nothing_reads_is_removed_up_to_the_inputs_of_the_model() -> None:
    builder, old = subtraction()
    graph = builder.graph
    (result,) = graph.successors(old.id)
    graph.remove(result)
    remove_unread([(graph, old.id)])
    assert [layer.name for layer in graph.layers()] == ["one", "two"]


@pytest.mark.parametrize(("recorded", "written"), [("FP16", "FP16"), (None, "FP32")])
def test_an_output_of_another_new_layer_records_what_the_layer_recorded(recorded: str | None, written: str) -> None:
    builder = Builder()
    axis = builder.constant(np.array(0))
    halves = builder.call("Split", builder.parameter("one", "2"), axis, name="halves", num_splits=2)
    old, f32 = layer(builder.model, "halves"), Fact(element_type("f32"), (Dim.of(1),))
    for port in old.outputs:
        builder.result(Source(halves.layer, port.id), f"out{port.id}")
        port.dims, port.precision = (-1,), recorded
    first = NewLayer(type="Abs", opset=1, inputs=(Ref(None, 0),), outputs=(f32,), label="abs")
    last = NewLayer(type="Exp", opset=1, inputs=(Ref(0),), outputs=(f32,))
    rewrite = Rewrite(layers=(first, last), strategy="for a test", proof="none", outputs=(Ref(0), Ref(1)))
    Rewriter(builder.model).apply(builder.graph, old, find_op("Split", "opset1"), rewrite)
    ports = [port for name in ("halves/abs", "halves") for port in layer(builder.model, name).outputs]
    assert [(port.precision, port.dims) for port in ports] == [(written, (-1,))] * 2


def test_an_output_that_a_layer_lacks_is_added_behind_its_ports() -> None:
    """As of a MaxPool-8 of which the file has no indices."""
    builder, old = subtraction()
    (new,) = other_subtraction(Ref(None, 0), Ref(None, 1)).layers
    rewrite = Rewrite(layers=(replace(new, outputs=new.outputs * 3),), strategy="for a test", proof="none")
    Rewriter(builder.model).apply(builder.graph, old, find_op("Subtract", "opset1"), rewrite)
    assert [port.id for port in old.outputs] == [2, 3, 4]


def test_an_output_that_is_read_is_not_dropped() -> None:
    attrs = {**PLAIN, "dilations": "1,1", "index_element_type": "i64", "axis": "0"}
    del attrs["exclude-pad"]
    text, weights = build([Row("MaxPool", "opset8", attrs, (1, 3, 7, 8), (1, 3, 3, 4))])
    migrated = migrate(read(text, weights), "opset7")
    assert migrated.ok
    assert [len(layer(each, "pool0").outputs) for each in (read(text, weights), migrated.model)] == [2, 1]
    indices = text.replace(b'from-layer="1" from-port="1"', b'from-layer="1" from-port="2"')
    (refused,) = migrate(read(indices, weights), "opset7").refused
    assert refused.reason == "a layer reads output 1, which the target does not have"


@pytest.mark.parametrize("read", [0, 1])
@pytest.mark.parametrize("target", ["opset7", "openvino-2021.3"])
def test_of_layers_that_are_alike_only_those_whose_lost_outputs_are_read_are_refused(read: int, target: str) -> None:
    builder = Builder(opset=8)
    windows = {"kernel": (2, 2), "strides": (2, 2), "pads_begin": (0, 0), "pads_end": (0, 0), "dilations": (1, 1)}
    data = builder.parameter("x", "1,1,4,4")
    pools = [builder.outputs("MaxPool", data, **windows, name=name) for name in "ab"]
    for source in (pools[0][0], pools[1][0], pools[read][1]):
        builder.result(source)
    found = migrate(builder.model, target)
    assert [step.path for step in found.refused] == ["ab"[read]]
    assert [step.path for step in found.steps] == ["ba"[read]]


def test_layers_in_bodies_are_moved() -> None:
    text, weights = build([pool("opset14", rounding_type="ceil_torch")])
    inner = text[text.index(b"<layers>") : text.index(b"</net>")].decode()
    port = '<port id="{}" precision="FP32"><dim>1</dim><dim>3</dim><dim>7</dim><dim>8</dim></port>'
    outer = (
        '<?xml version="1.0"?>\n<net name="outer" version="11">\n<layers>\n'
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,3,7,8" element_type="f32"/>'
        f"<output>{port.format(0)}</output></layer>\n"
        '<layer id="1" name="loop" type="TensorIterator" version="opset1">'
        f"<input>{port.format(0)}</input><output>{port.format(1)}</output>"
        '<port_map><input external_port_id="0" internal_layer_id="0"/>'
        '<output external_port_id="1" internal_layer_id="2"/></port_map>'
        f"<body>\n{inner}</body></layer>\n"
        f'<layer id="2" name="y" type="Result" version="opset1"><input>{port.format(0)}</input></layer>\n'
        '</layers>\n<edges>\n<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\n'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>\n</edges>\n</net>\n'
    )
    model = read(outer.encode(), weights)
    migrated = migrate(model, "opset8")
    assert [step.path for step in migrated.steps] == ["loop/body/pool0"]
    assert len(changed_lines(model, migrated.model)) == 1


def test_wrong_recorded_dims_are_noted() -> None:
    text, weights = build([pool("opset14")])
    port = b'<input><port id="0" precision="FP32"><dim>1</dim><dim>3</dim><dim>'
    wrong = text.replace(port + b"7", port + b"9", 1)
    (step,) = migrate(read(wrong, weights), "opset8").steps
    assert step.notes == ("input port 0 records [1, 3, 9, 8], but 'x0' outputs [1,3,7,8]",)
    shorter = text.replace(port + b"7</dim><dim>8</dim>", port + b"7</dim>", 1)
    (step,) = migrate(read(shorter, weights), "opset8").steps
    assert step.notes == ("input port 0 records [1, 3, 7], but 'x0' outputs [1,3,7,8]",)


def test_a_remaining_layer_of_a_body_is_told_with_its_line() -> None:
    text = (FOLDER / "missing_execution_condition" / "good.xml").read_text(encoding="utf-8")
    newer = text.replace('name="double" type="Add" version="opset1"', 'name="double" type="Mystery" version="opset13"')
    (entry,) = migrate(read(newer.encode(), bytes(24)), "opset8").remaining
    lines = [number for number, one in enumerate(newer.splitlines(), 1) if "Mystery" in one]
    assert (entry.path, entry.line) == ("loop/body/double", *lines)


def test_the_proof_names_what_it_covers() -> None:
    rows = [pool(rounding_type="ceil_torch"), pool(shape=(1, 3, -1, 8), rounding_type="ceil_torch")]
    first, second = migrate(model_of(rows), "opset8").steps
    assert first.proof == "equal windows on 7x8"
    assert second.proof == "equal windows for every size of [?, 8]"


def test_unknown_pass() -> None:
    with pytest.raises(MigrationError, match="adaptive-to-avg-pool"):
        migrate(model_of([pool()]), None, ["no-such-pass"])


def test_layers_above_the_target_are_listed() -> None:
    text, weights = build([pool("opset14")])
    newer = text.replace(b'type="Result" version="opset1"', b'type="Mystery" version="opset13"')
    migrated = migrate(read(newer, weights), "opset8")
    assert repr(migrated) == "Migration(1 step, 0 refused, 1 remaining)"
    (entry,) = migrated.remaining
    assert entry.line == next(number for number, one in enumerate(newer.splitlines(), 1) if b"Mystery" in one)
    at_target = text.replace(b'type="Result" version="opset1"', b'type="Mystery" version="opset8"')
    assert migrate(read(at_target, weights), "opset8").remaining == ()
    assert (entry.type, entry.version) == ("Mystery", "opset13")


@pytest.mark.parametrize("target", ["opset1", "opset8", "opset16"])
def test_real_models_are_moved(corpus_model: Path, target: str) -> None:
    model = read(corpus_model)
    try:
        migrated = migrate(model, target)
    except ReadError:
        assert not corpus_model.with_suffix(".bin").exists(), "a constant can be added"
        return
    if migrated.refused:
        assert target == "opset1"
        assert not any("Pool" in refused.before for refused in migrated.refused)
        return
    assert migrate(migrated.model, target).steps == ()
    pools = [found for found in migrated.model.walk() if found.layer.type == "AvgPool"]
    assert all(int(found.layer.version[5:]) <= int(target[5:]) for found in pools)


def test_an_interval_decides_where_not_every_size_would_do() -> None:
    """Below 5 elements the ends agree; the interval comes from the Parameter, through a layer in between."""
    text, weights = build([pool("opset14", shape=(1, 3, -1, 8), rounding_type="ceil_torch")])
    bounded = text.replace(b'shape="1,3,?,8"', b'shape="1,3,4..9,8"')
    (step,) = migrate(read(bounded, weights), "opset8").steps
    assert step.proof == "equal windows for every size of [4..9, 8]"


def test_output_sizes_that_the_graph_computes_are_known() -> None:
    text, weights = build([Row("AdaptiveAvgPool", "opset8", {}, (1, 3, 8, 8), (1, 3, 1, 1), "f32", (1, 1))])
    relu = (
        b'<layer id="9" name="same" type="Convert" version="opset1"><data destination_type="i64"/><input>'
        b'<port id="0" precision="I64"><dim>2</dim></port></input><output><port id="1" precision="I64"><dim>2</dim>'
        b"</port></output></layer>\n</layers>"
    )
    computed = text.replace(b"</layers>", relu).replace(
        b'<edge from-layer="3" from-port="0" to-layer="1" to-port="1"/>',
        b'<edge from-layer="3" from-port="0" to-layer="9" to-port="0"/>\n'
        b'<edge from-layer="9" from-port="1" to-layer="1" to-port="1"/>',
    )
    (step,) = migrate(read(computed, weights), None, ["adaptive-to-reduce-mean"]).steps
    assert step.after == "ReduceMean opset1"


def test_a_missing_element_type_is_computed() -> None:
    text, weights = build([pool("opset16", dilations="2,2")])
    bare = text.replace(b' precision="FP32" names="x0"', b' names="x0"', 1).replace(b' precision="FP32"', b"")
    migrated = migrate(read(bare, weights), "opset8")
    assert [step.after for step in migrated.steps] == ["GroupConvolution opset1"]
    ports = [port for place in migrated.model.walk() for port in place.layer.inputs]
    assert {port.precision for port in ports} == {None}, "as in the rest of the file"


def test_a_constant_without_sizes_has_no_values() -> None:
    builder = Builder()
    limits = [np.array([number]) for number in (0, 1, 1, 0)]
    builder.result(builder.call("Slice", builder.parameter("x", "?,3"), *limits))
    text = render(builder.model).replace(b'element_type="i64" shape="1"', b'element_type="i64" shape="-1"', 1)
    assert b'shape="-1"' in text
    migrated = migrate(read(text, b"".join(builder.model.weights.tail())), "openvino-2022.1").model
    assert "Slice" in {layer.type for layer in migrated.graph.layers()}


def test_infinities_stay_in_their_windows() -> None:
    data = np.ones((1, 1, 9, 9), np.float32)
    data[0, 0, 4, 4], data[0, 0, 0, 8] = np.inf, np.nan
    rows = [pool("opset16", shape=(1, 1, 9, 9), dilations="2,2", pads_end="1,1", rounding_type="ceil")]
    model = model_of(rows)
    before, after = Compiled(model)({"x0": data})["y0"], Compiled(migrate(model, "opset8").model)({"x0": data})["y0"]
    assert np.array_equal(before, after, equal_nan=True)
    assert np.isfinite(before).any()
    assert not np.isfinite(before).all()


def with_a_divisor(type: str, version: str) -> Op | None:
    """The table, with an attribute of AvgPool that nothing reads."""
    op = find_op(type, version)
    if op is None or type != "AvgPool":
        return op
    return op.at(op.version, attrs={"divisor_override": Int(default=0)}, readers={"divisor_override": ""})


@pytest.mark.parametrize("to", ["opset8", None])
def test_an_attribute_that_would_be_lost_stops_the_rewrite(to: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "find_op", with_a_divisor)
    passes = [] if to else ["avg-pool-to-adaptive"]
    for text, lost in (("3", True), ("0", False)):
        migrated = migrate(model_of([pool("opset14", (1, 3, 8, 8), divisor_override=text)]), to, passes)
        assert len(migrated.steps) == (not lost)
        message = "layer 1 'pool0' (AvgPool-14): divisor_override: has a value that is not carried over"
        assert list(map(str, migrated.refused)) == [message] * (lost and to is not None)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"strides": "2,x"}, "strides: has 'x'; expected an integer"),
        ({"kernel": "9,9"}, "kernel spans 9 elements, but axis 2 has 7 including padding"),
    ],
    ids=["unreadable-attribute", "kernel-larger-than-input"],
)
def test_a_layer_that_has_no_meaning_is_refused(changes: dict[str, str], wanted: str) -> None:
    """With the place in the file, and the notes about the layer as it was."""
    attrs = {name.replace("-", "_"): word for name, word in PLAIN.items()} | changes
    text, weights = build([pool(), Row("AvgPool", "opset14", attrs, (1, 3, 7, 8), (1, 3, -1, -1))])
    migrated = migrate(read(text, weights), "opset8")
    (refused,) = migrated.refused
    assert str(refused) == f"layer 5 'pool1' (AvgPool-14): {wanted}"
    line = next(number for number, one in enumerate(text.splitlines(), 1) if b'"pool1"' in one)
    assert (refused.line, refused.reason) == (line, wanted.rpartition("strides: ")[2])
    assert [note.split()[0] for note in refused.notes] == ["exclude_pad"]
    assert repr(migrated) == "Migration(1 step, 1 refused)"


def test_stages_that_run_at_once_know_what_each_of_them_changed() -> None:
    """The sizes behind the first pooling are computed, as the input is an interval, and again after its rewrite."""

    def pooled() -> Model:
        builder = Builder(opset=16)
        settings = {"strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,1"}
        found = builder.call("AdaptiveAvgPool", builder.parameter("x", "1..2,3,16,24"), [4, 4])
        for _ in range(2):
            found = builder.call("AvgPool", found, kernel="2,2", exclude_pad=True, **settings)
        builder.result(found)
        return builder.model

    passes = ["adaptive-to-avg-pool", "avg-pool-to-adaptive"]
    one = migrate(pooled(), to="opset8", passes=passes)
    first = migrate(pooled(), to=None, passes=passes[:1])
    second = migrate(first.model, to=None, passes=passes[1:])
    third = migrate(second.model, to="opset8")
    steps = [*first.steps, *second.steps, *third.steps]
    assert len(steps) > 2
    assert [step.proof for step in one.steps] == [step.proof for step in steps]
    assert bytes(render(one.model)) == bytes(render(third.model))


def test_a_layer_with_another_stamp_is_not_taken_for_one_of_its_text(tmp_path: Path) -> None:
    """The stamp alone was changed, before anything was asked of the layer."""
    model = read(write_large(tmp_path / "model.xml", 12, poolings=3))
    first, *others = (layer for layer in model.graph.layers() if layer.type == "AvgPool")
    first.tag["version"] = "opset1"
    found = migrate(model, "opset8")
    assert [step.before for step in found.steps] == ["AvgPool-1", *("AvgPool-14" for _ in others)]
