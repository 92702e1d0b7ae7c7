"""Names and element types of the inputs and outputs of IR v10 that releases object to."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.compatibility import Answer, compatibility
from ir_tools.errors import IrToolsError
from ir_tools.graph import Model
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.rewrite.migration import migrate
from ir_tools.runtime.client import sources
from ir_tools.runtime.environments import environment
from ir_tools.types import element_type
from tests.runtime.releases import client_of

Names = Mapping[str, Sequence[str]]
LETTERS = {Answer.RUNS: "+", Answer.READS: "c", Answer.STOPPED: "-"}
SINCE_2022 = [release for release in OPENVINO if release.number > (2021, 4)]
RUNS_2022, NOT_2025 = "+" * 24, "+" * 14 + "-" * 10
CONVERTED = "-" * 5 + "ccc" + "+" * 16
CASES: list[tuple[str, str, Names, str]] = [
    ("f32", "rr", {}, RUNS_2022),
    ("f32", "rr", {"r": "t"}, NOT_2025),
    ("f32", "rr", {"r": "r"}, NOT_2025),
    ("f32", "rrr", {"r": ["o0"]}, NOT_2025),
    ("f32", "x", {}, RUNS_2022),
    ("f32", "xx", {}, RUNS_2022),
    ("f32", "xr", {"x": "t"}, NOT_2025),
    ("f32", "xx", {"x": "t"}, NOT_2025),
    ("f32", "rq", {"r": "x"}, "-" * 24),
    ("f32", "rq", {"r": "q"}, "-" * 24),
    ("f32", "rq", {"x": "q"}, "-" * 24),
    ("f32", "rq", {"r": "q", "q": "r"}, "-" * 24),
    ("f32", "rq", {"r": "t", "q": "t"}, "-" * 15 + "+" * 9),
    ("f32", "r", {"r": "t", "x": "t"}, "-" * 15 + "+" * 9),
    ("f32", "rq", {"r": ["t", "r"], "x": "x", "q": ["o0", "o1"]}, RUNS_2022),
    ("f32", "q", {"r": "x", "q": "t"}, RUNS_2022),
    ("f32", "q", {"r": "t", "q": "t"}, RUNS_2022),
    ("f16", "x", {}, RUNS_2022),
    ("f16", "xx", {}, CONVERTED),
    ("i32", "xx", {}, RUNS_2022),
    ("i64", "x", {}, "c" * 24),
    ("i64", "xx", {}, "-" * 5 + "c" * 19),
    ("u8", "xq", {}, "c" * 24),
    ("u8", "xxq", {}, "-" * 5 + "c" * 19),
]
"""Element type of the input `x`; which of it, `r` and `q` behind it the Results read; tensor names; what releases do.

Measured of 2022.1 to 2026.4.
"""
CASE = pytest.mark.parametrize(("dtype", "ends", "names", "wanted"), CASES)


def bordered(dtype: str, ends: str, names: Names) -> Model:
    """A model of IR v10."""
    made = Builder(opset=7)
    data = made.parameter("x", "2,4", dtype)
    first = made.call("Convert", data, name="r", destination_type="f32")
    found = {"x": data, "r": first, "q": made.call("Sigmoid", first, name="q")}
    for number, name in enumerate(ends):
        made.result(found[name], f"o{number}")
    for name, source in found.items():
        made.graph.layer(source.layer).port(source.port).names = tuple(names.get(name, ()))
    made.model.version = 10
    return made.model


def said(model: Model, releases: Sequence[Release]) -> str:
    return "".join(LETTERS[one.answer] for one in compatibility(model, releases))


@CASE
def test_what_compat_says(dtype: str, ends: str, names: Names, wanted: str) -> None:
    assert said(bordered(dtype, ends, names), SINCE_2022) == wanted


def test_2021_4_does_not_read_two_results_of_a_computed_tensor() -> None:
    releases = [release for release in OPENVINO if release.number < (2022, 1)]
    assert said(bordered("f32", "rr", {}), releases) == "++-"
    assert said(bordered("f32", "xx", {}), releases) == "+++"


@CASE
def test_releases_run_the_model_after_a_migration(dtype: str, ends: str, names: Names, wanted: str) -> None:
    model = bordered(dtype, ends, names)
    for release, letter in [*zip(SINCE_2022, wanted, strict=True)][::-6]:
        found = migrate(model, release.name)
        assert said(found.model, [release]) == "+"
        assert bool(found.steps) is (letter != "+")


def test_outputs_of_ir_v10_keep_apart_for_all_releases() -> None:
    model = bordered("f32", "xrr", {"r": "t"})
    model.version = 11
    made = migrate(model, "ir10").model
    assert set(said(made, OPENVINO)) == {"+"}
    assert len({made.graph.source(end.layer.id, 0) for end in made.outputs}) == 3


def test_a_second_output_is_not_called_as_the_tensor_of_the_first() -> None:
    made = migrate(bordered("f32", "rr", {"r": "t"}), "openvino-2026.4")
    given = [source for end in made.model.outputs for source in made.model.graph.sources(end.layer.id).values()]
    layers = [made.model.graph.layer(source.layer) for source in given]
    assert [(layer.name, layer.outputs[0].names) for layer in layers] == [("r", ("t",)), ("t/2", ())]
    assert made.notes == ("output 't' is called 't/2' in IR v10",)


@pytest.mark.sweep
@pytest.mark.parametrize("release", SINCE_2022, ids=lambda release: release.short)
def test_what_releases_do(release: Release) -> None:
    if release is not OPENVINO[-1] and environment(release) is None:
        pytest.skip("the release is not here (ir-tools runtimes --add NAME)")
    number = SINCE_2022.index(release)
    with client_of(release.short) as client:

        def runs(model: Model, dtype: str) -> str:
            kind = element_type(dtype).dtype
            with sources(model) as files:
                try:
                    found = client.infer(*files, {"x": np.ones((2, 4), kind)}).outputs
                except IrToolsError:
                    return "-"
            return "+" if len(found) == len(model.outputs) else "-"

        for dtype, ends, names, wanted in CASES:
            model = bordered(dtype, ends, names)
            assert (runs(model, dtype) == "+") is (wanted[number] == "+"), (dtype, ends, names)
            assert runs(migrate(model, release.name).model, dtype) == "+", (dtype, ends, names)
