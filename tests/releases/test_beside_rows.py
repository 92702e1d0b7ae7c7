"""Layers beside those that show the rows of releases: which of them a row is about, too."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

from ir_tools.compatibility import compatibility
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import as_model
from ir_tools.known_differences._model import Call, Fixed, counted
from ir_tools.known_differences.releases import ROWS, ReleaseDifference, Seen, _applying, release_differences
from ir_tools.known_differences.surroundings import Surroundings
from ir_tools.known_differences.verdicts import Answer
from ir_tools.ops import find_op
from ir_tools.releases.table import OPENVINO, find_release
from ir_tools.runtime.environments import environment
from tests.releases import beside as families
from tests.releases.beside import Beside
from tests.releases.beside.elementwise import as_pdpd
from tests.releases.beside.moving import DOUBLE_ROWS, FEW, HALVES, OF_A_SIZE, product_of_rows
from tests.releases.beside.quantization import between_bytes
from tests.releases.test_differences import answer

FAMILIES = (import_module(f"{families.__name__}.{module.name}") for module in iter_modules(families.__path__))
BESIDE: list[Beside] = [each for family in FAMILIES for each in family.BESIDE]
NAMES = {row.name: row for row in ROWS if row.processor.is_here}
CASE = pytest.mark.parametrize(
    "beside", [one for one in BESIDE if one.row in NAMES], ids=lambda one: f"{one.row}: {'yes' if one.falls else 'no'}"
)


def test_the_rows_are_in_the_table() -> None:
    assert {one.row for one in BESIDE} <= {row.name for row in ROWS}


def falls_under(row: ReleaseDifference, call: Call) -> bool:
    """Whether a layer of a model falls under a row."""
    return any(row in release_differences(row.releases[-1], seen) for seen in layers_of(call, row.version))


def layers_of(call: Call, version: int) -> Iterator[Seen]:
    """The layers of a model, as they decide."""
    model, _ = as_model(call)
    facts, around = propagate_shapes(model).facts, Surroundings(model)
    for located in model.walk():
        path, layer, _ = located
        op = find_op(layer.type, layer.version)
        assert op is not None
        inputs, outputs = ([facts[path, port.id] for port in ports] for ports in (layer.inputs, layer.outputs))
        yield around.seen(located, op, inputs, outputs, version)


@pytest.mark.parametrize("row", [row for row in ROWS if not row.processor.is_here], ids=lambda row: row.name)
def test_a_row_of_other_processors_is_about_its_model(row: ReleaseDifference) -> None:
    """Rows of this processor are compared with what their models do here."""
    seen = [one for one in layers_of(row.model, row.version) if str(one.op) in row.ops]
    assert any(row in _applying((row,), one) for one in seen)


@CASE
def test_a_layer_beside_a_row_falls_under_it_or_not(beside: Beside) -> None:
    assert falls_under(NAMES[beside.row], beside.model) is beside.falls


@pytest.mark.parametrize("divisor", [[2, 4], [2, 0]])
def test_constants_that_are_divided_by_0_may_be_rounded(divisor: list[int]) -> None:
    data, by = (Fixed(np.array(numbers, np.int32)) for numbers in ([8, 8], divisor))
    assert falls_under(NAMES["quotients of i32"], Call("Divide-1", (data, by))) is (0 in divisor)


@pytest.mark.parametrize(("constant", "differs"), [(True, []), (False, ["2023.0", "2023.1"])])
def test_a_number_in_a_test_is_broadcast_from_an_axis_on_if_it_is_constant(constant: bool, differs: list[str]) -> None:
    one = counted(1)
    model, _ = as_model(as_pdpd("Equal-1", counted(2, 3), Fixed(one) if constant else one, axis=0))
    said = compatibility(model, [release for release in OPENVINO if release.number > (2021, 4)])
    assert [one.release.name.removeprefix("openvino-") for one in said if one.answer is Answer.DIFFERS] == differs


@pytest.mark.parametrize("rows", [HALVES, OF_A_SIZE, DOUBLE_ROWS])
def test_sizes_of_what_is_combined_limit_a_slice_since_2024_1(rows: Call) -> None:
    model, _ = as_model(product_of_rows(rows, FEW))
    said = compatibility(model, [find_release(f"openvino-{name}") for name in ("2023.2", "2024.0", "2024.1", "2024.2")])
    assert [one.answer is Answer.RUNS for one in said] == [True, True, False, False]


@pytest.mark.parametrize(("levels", "differs"), [(256, True), (16, False)])
def test_zero_points_are_rounded_before_2022_only_if_there_are_as_many_levels_as_bytes(
    levels: int, differs: bool
) -> None:
    model, _ = as_model(between_bytes(levels))
    model.version = 10
    (said,) = compatibility(model, [find_release("openvino-2021.4")])
    assert (said.answer is Answer.DIFFERS) is differs


@pytest.mark.sweep
@CASE
def test_releases_do_with_it_what_the_row_says_or_run_it(beside: Beside) -> None:
    row = NAMES[beside.row]
    here = [one for one in row.releases if one is OPENVINO[-1] or environment(one) is not None]
    if not here:
        pytest.skip("none of the releases is here (ir-tools runtimes --add NAME)")
    found = answer(here[-1], replace(row, model=beside.model), 30 if beside.falls else 1)
    assert (found is row.state) is beside.falls
