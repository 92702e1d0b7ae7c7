"""Layers of which the same is known are planned once, and others each for itself."""

from typing import Any

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.execute import run
from ir_tools.ops import Op
from ir_tools.rewrite import migration
from ir_tools.rewrite.migration import migrate

WINDOWS = {"kernel": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0)}


def test_layers_that_differ_in_sizes_which_are_computed_get_each_their_own_rewrite() -> None:
    """The file records the sizes of neither."""
    builder, rng = Builder(), np.random.default_rng(0)
    fed = {f"x{count}": rng.normal(size=(1, 2, 8, 8)).astype(np.float32) for count in (3, 5)}
    for count in (3, 5):
        counts = builder.call("ShapeOf", builder.parameter(f"like{count}", (count, count)), output_type="i64")
        data = builder.parameter(f"x{count}", (1, 2, 8, 8))
        builder.result(builder.call("AdaptiveAvgPool", data, counts, name=f"pool{count}"), f"y{count}")
        fed[f"like{count}"] = np.zeros((count, count), np.float32)
    for layer in builder.graph.layers():
        for port in layer.outputs if layer.type == "AdaptiveAvgPool" else ():
            port.dims = (1, 2, -1, -1)
    migrated = migrate(builder.model, "opset7")
    wanted, found = run(builder.model, fed), run(migrated.model, fed)
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)


def test_layers_whose_sizes_are_equal_get_one_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes of the pooled tensors are those of other inputs."""
    builder, planned, outcome = Builder(), list[str](), migration._outcome
    for number, count in enumerate((3, 3, 5, 3, 5, 5, 3)):
        counts = builder.call("ShapeOf", builder.parameter(f"like{number}", (count, count)), output_type="i64")
        builder.result(builder.call("AdaptiveAvgPool", builder.parameter(f"x{number}", (1, 2, 8, 8)), counts))
    for port in (port for layer in builder.graph.layers() if layer.type == "AdaptiveAvgPool" for port in layer.outputs):
        port.dims = (1, 2, -1, -1)

    def counted(rewrite: Any, op: Op, *given: Any) -> Any:
        planned.append(op.type)
        return outcome(rewrite, op, *given)

    monkeypatch.setattr(migration, "_outcome", counted)
    assert len(migrate(builder.model, "opset7").steps) == 7
    assert len(planned) < 4


@pytest.mark.parametrize("names", [("values", "both"), ("both", "values"), ("both", "more")])
def test_only_layers_whose_indices_are_read_are_refused_for_a_release_without_them(names: tuple[str, str]) -> None:
    builder = Builder()
    for name in names:
        values, indices = builder.outputs("MaxPool", builder.parameter(name, "1,2,8,8"), name=f"{name} pool", **WINDOWS)
        builder.result(values, f"{name} y")
        if name != "values":
            builder.result(indices, f"{name} indices")
    refused = migrate(builder.model, "openvino-2021.4").refused
    assert [step.path for step in refused] == [f"{name} pool" for name in names if name != "values"]
    words = "a layer reads output 1, which the target does not have; OpenVINO 2024.0 and later run it"
    assert {step.reason for step in refused} == {words}


def test_sizes_that_a_step_corrects_are_those_of_the_steps_behind_it() -> None:
    """The file records 5x5 for what is 7x7, where rounding up and down give other windows of the second pooling."""
    builder = Builder()
    first = builder.call("AvgPool", builder.parameter("x", "1,1,14,14"), exclude_pad=True, name="first", **WINDOWS)
    second = {**WINDOWS, "strides": (3, 3), "rounding_type": "ceil_torch"}
    between = builder.call("ReLU", first, name="between")
    builder.result(builder.call("AvgPool", between, exclude_pad=True, name="second", **second), "y")
    counts = builder.call("ShapeOf", builder.parameter("other", "1,1"), output_type="i64")
    builder.result(builder.call("AdaptiveAvgPool", builder.parameter("image", "1,1,4,4"), counts, name="third"), "mean")
    layers = {layer.name: layer for layer in builder.graph.layers()}
    for port in (
        *layers["first"].outputs,
        *layers["between"].inputs,
        *layers["between"].outputs,
        *layers["second"].inputs,
    ):
        port.dims = (1, 1, 5, 5)
    migrated = migrate(builder.model, "opset7", ["adaptive-to-reduce-mean", "avg-pool-to-adaptive"])
    assert [step.path for step in migrated.steps[:2]] == ["third", "first"]
    fed = {name: np.ones(dims, np.float32) for name, dims in (("other", (1, 1)), ("image", (1, 1, 4, 4)))}
    fed["x"] = np.arange(196, dtype=np.float32).reshape(1, 1, 14, 14)
    assert run(migrated.model, fed)["y"].tolist() == run(builder.model, fed)["y"].tolist()
