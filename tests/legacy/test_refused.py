"""Single layers of IR v2 to v7 that are refused, or migrated with a note, and why."""

from collections.abc import Sequence

import numpy as np
import pytest

import ir_tools
from ir_tools.errors import MigrationError
from ir_tools.rewrite.migration import Migration
from ir_tools.rewrite.steps import RefusedStep
from tests.legacy.net import Data, LegacyCase, Net

LINEAR = {"type": "caffe.ResampleParameter.LINEAR"}
REFUSED = [
    (
        "Interp",
        (1, 2, 4, 4),
        (1, 2, 6, 6),
        {"pad_beg": 1},
        "pad_beg: is above 0, with which Inference Engine 2020.1 reads memory outside the image",
    ),
    ("Resample", (1, 1, 3, 2), (1, 1, 12, 8), LINEAR, "reads outside the image"),
    ("Resample", (1, 1, 3, 1), (1, 1, 12, 4), LINEAR, "reads outside the image"),
    (
        "Resample",
        (1, 1, 3, 2),
        (1, 1, 6, 4),
        {"type": "caffe.ResampleParameter.CUBIC"},
        "type: is 'caffe.ResampleParameter.CUBIC'; expected one of",
    ),
    ("Eltwise", (2, 3), (2, 3), {"coeff": "1,2"}, "coeff: has 2 values for 1 inputs"),
    ("Eltwise", (2, 3), (2, 3), {"operation": "mul", "coeff": "2"}, "coeff: is present for the operation mul"),
    ("Crop", (2, 3), (2, 2), {"axis": "1", "offset": "0,1"}, "offset: has 2 values; expected one per axis"),
    ("Permute", (2, 3), (3, 2), {"order": "1,0,2"}, "order has 3 values"),
    ("Tile", (2, 3), (2, 6), {"axis": 4, "tiles": 2}, "axis: is 4, but the input has 2 dimensions"),
    ("Pooling", (1, 2, 4, 4), (1, 2, 2, 2), {"kernel": "2,2", "strides": "2"}, "strides has 1 value; the input has 2"),
    ("Pooling", (1, 2, 4, 4), (1, 2, 2), {"kernel": "2,2"}, "its input has 2 spatial axes, and its output 1"),
    ("PReLU", (2, 3), (2, 3), {"channel_shared": "yes"}, "channel_shared: is 'yes'; expected 1 or 0"),
    ("Reshape", (2, 3), (2, 4), {"dim": "2,4"}, ""),
    ("MVN", (2, 3, 4), (2, 3, 4), {"eps": 1e-9}, "reads memory outside the input if it has 3 dimensions"),
    ("LSTMCell", (2, 3), (2, 4), {"hidden_size": 4}, "has 3 (data, hidden_state, cell_state)"),
    ("RNNSequence", (2, 3, 4), (2, 3, 5), {"hidden_size": 5, "direction": "Forward"}, "the layer has no weights"),
    ("TensorIterator", (2, 3), (2, 3), {}, "it has no body"),
]
"""Type, sizes of input and output, attributes, words of the refusal."""


def layer(kind: str, shape: Sequence[int], out: Sequence[int], data: Data) -> LegacyCase:
    """Make a model of one layer with one input."""
    net = Net(np.random.default_rng(0), 6)
    net.layer(kind, [net.input(net.values(*shape))], [out], data)
    return net.case()


@pytest.mark.parametrize(("kind", "shape", "out", "data", "words"), REFUSED)
def test_refused_layer_says_why(kind: str, shape: Sequence[int], out: Sequence[int], data: Data, words: str) -> None:
    made = layer(kind, shape, out, data)
    [step] = ir_tools.migrate(made.model()).refused
    assert words in str(step)
    assert step.attribute is None or words.startswith(f"{step.attribute}: ")


def test_what_cannot_be_migrated_does_not_run_and_the_error_names_the_first_layer() -> None:
    net = Net(np.random.default_rng(0), 6)
    data = net.input(net.values(2, 3))
    for name in ("first", "second"):
        net.layer("Mystery", [data], [(2, 3)], name=name)
    words = "IR v6 is migrated before it runs: layer 1 'first' .*, and 1 more$"
    with pytest.raises(MigrationError, match=words):
        ir_tools.run(net.case().model(), {})


def test_indices_outside_of_the_axis_are_refused() -> None:
    net = Net(np.random.default_rng(0), 6)
    net.layer("Gather", [net.input(net.values(3, 2)), net.const(np.array([0, -1], np.int32))], [(2, 2)], {"axis": 0})
    made = net.case()
    [step] = ir_tools.migrate(made.model()).refused
    assert "not from 0 to 2" in step.reason


def test_layer_of_a_body_is_refused_by_its_path() -> None:
    net = Net(np.random.default_rng(0), 6)
    body = Net(net.rng, 6)
    body.precision = net.precision
    found = body.layer("Mystery", [body.outer(2, 1)], [(2, 1)], name="inside")[0]
    rows = (
        '<input external_port_id="0" internal_layer_id="0" internal_port_id="0" axis="1"/>'
        f'<output external_port_id="1" internal_layer_id="0" internal_port_id="{found.port}" axis="1"/>'
    )
    after = f"<port_map>{rows}</port_map><body>{body.content()}</body>"
    net.layer("TensorIterator", [net.input(net.values(2, 3))], [(2, 3)], after=after, name="loop")
    made = net.case()
    refused = ir_tools.migrate(made.model()).refused
    assert [step.path for step in refused] == ["loop/body/inside", "loop"]


def test_memory_that_nothing_reads_is_refused() -> None:
    net = Net(np.random.default_rng(0), 6)
    data = net.input(net.values(1, 3))
    net.layer("Memory", [data], [], {"id": "state", "index": 0, "size": 2})
    net.layer("ReLU", [data], [(1, 3)])
    made = net.case()
    [step] = ir_tools.migrate(made.model()).refused
    assert (step.path, step.attribute) == ("memory1", "id")
    assert step.reason == "no Memory with index=\"1\" reads the variable 'state'"


def test_mean_image_of_the_wrong_size_is_an_error_of_the_model() -> None:
    net = Net(np.random.default_rng(0), 6)
    net.layer("ReLU", [net.input(net.values(1, 1, 2, 2))], [(1, 1, 2, 2)])
    net.weights += bytes(16)
    net.extra = '<pre-process><channel id="0"><mean offset="0" size="13"/></channel></pre-process>'
    with pytest.raises(ir_tools.ShapeError, match=r"mean images of 'in0' have 13 bytes; expected f32 of \[1, 2, 2\]"):
        ir_tools.migrate(net.case().model())


def test_output_of_a_loop_that_nothing_gives_is_refused() -> None:
    net = Net(np.random.default_rng(0), 6)
    body = Net(net.rng, 6)
    body.layer("ReLU", [body.outer(2, 1)], [(2, 1)])
    row = '<input external_port_id="0" internal_layer_id="0" internal_port_id="0" axis="1"/>'
    after = f"<port_map>{row}</port_map><body>{body.content()}</body>"
    net.layer("TensorIterator", [net.input(net.values(2, 3))], [(2, 3)], after=after)
    made = net.case()
    [step] = ir_tools.migrate(made.model()).refused
    assert step.reason == "its <port_map> has no row for output port 1"


def test_memory_keeps_its_value_and_starts_with_zeros() -> None:
    net = Net(np.random.default_rng(0), 5)
    source = net.input(np.ones((1, 3), np.float32))
    kept = net.layer("Memory", [], [(1, 3)], {"id": "state", "index": 1, "size": 2})[0]
    total = net.layer("Eltwise", [source, kept], [(1, 3)], {"operation": "sum"})[0]
    net.layer("Memory", [total], [], {"id": "state", "index": 0, "size": 2})
    net.layer("ReLU", [total], [(1, 3)], name="out")
    made = net.case()
    migration = ir_tools.migrate(made.model())
    assert any("starts with uninitialized memory" in note for step in migration.steps for note in step.notes)
    with ir_tools.Session(migration.model) as session:
        assert [float(session.run(made.inputs)["out"][0, 0]) for _ in range(3)] == [1, 2, 3]


def test_two_levels_of_which_some_channels_have_equal_limits() -> None:
    net = Net(np.random.default_rng(0), 6)
    net.precision = "FP32"
    values = np.array([[[-1.0], [1.0]], [[0.25], [3.0]]], np.float32)
    limits = [(0, 0), (0, 2), (-5, -6), (5, 6)]
    given = [net.input(values), *(net.const(np.array(limit, np.float32)) for limit in limits)]
    net.layer("FakeQuantize", given, [values.shape], {"levels": 2}, name="out")
    made = net.case()
    found = ir_tools.run(ir_tools.migrate(made.model()).model, made.inputs)
    assert found["out"].tolist() == [[[-5], [6]], [[5], [6]]]


def test_what_a_target_refuses_leaves_the_legacy_model(monkeypatch: pytest.MonkeyPatch) -> None:
    step = RefusedStep(path="relu", layer_id=1, line=None, before="ReLU-1", reason="not there")
    later = "ir_tools.rewrite.legacy.migrate"
    monkeypatch.setattr(later, lambda model, *_, **__: Migration(model=model, refused=(step,)))
    made = layer("ReLU", (2, 3), (2, 3), {})
    model = made.model()
    found = ir_tools.migrate(model, to="opset1")
    assert found.refused == (step,)
    assert found.model is model


def test_an_average_with_a_kernel_larger_than_the_padded_input_divides_by_what_is_before_its_end() -> None:
    """Inference Engine 2020.1 gives 10 / 9, though the kernel has 16 elements."""
    net = Net(np.random.default_rng(0), 6)
    net.precision = "FP32"
    pads = {"pads_begin": "1,1", "pads_end": "0,0", "exclude-pad": "false", "rounding_type": "ceil"}
    data = {"kernel": "4,4", "strides": "2,2", "pool-method": "avg", **pads}
    net.layer("Pooling", [net.input(np.array([[[[1, 2], [3, 4]]]], np.float32))], [(1, 1, 1, 1)], data, name="out")
    made = net.case()
    found = ir_tools.run(ir_tools.migrate(made.model()).model, made.inputs)
    assert found["out"].item() == pytest.approx(10 / 9)


def test_an_antialiased_resample_to_half_the_size_weighs_three_elements() -> None:
    """Inference Engine 2020.1 gives 12 / 7 and 23 / 7: weights 3, 3, 1 of elements at distances 1/4, 1/4, 3/4."""
    net = Net(np.random.default_rng(0), 6)
    net.precision = "FP32"
    rows = net.input(np.tile(np.arange(1, 5, dtype=np.float32), (4, 1)).reshape(1, 1, 4, 4))
    net.layer("Resample", [rows], [(1, 1, 2, 2)], {**LINEAR, "antialias": 1}, name="out")
    made = net.case()
    found = ir_tools.run(ir_tools.migrate(made.model()).model, made.inputs)
    assert found["out"][0, 0, 0].tolist() == pytest.approx([12 / 7, 23 / 7])
