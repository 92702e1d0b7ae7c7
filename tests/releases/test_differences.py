"""The table of releases that have wrong values against these releases."""

import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from ir_tools import Builder, migrate, read
from ir_tools.compatibility import compatibility
from ir_tools.errors import IrToolsError, RuntimeFailure
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences import TABLE, DifferenceKind, KnownDifference, as_model
from ir_tools.known_differences.releases import ROWS, ReleaseDifference, may_apply, release_differences
from ir_tools.known_differences.releases.seen import NEEDED, UNFOLDED, Pattern, Undecided, Unplaced
from ir_tools.known_differences.surroundings import Surroundings
from ir_tools.known_differences.verdicts import Answer, behaviour
from ir_tools.ops import Array, Op, Role, find_op
from ir_tools.releases.measured import State, state
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.runtime.client import sources
from ir_tools.runtime.environments import environment
from tests.ops.samples import Sample, sample_of
from tests.releases.measure import STAGES, client_of, executed, inferred
from tests.releases.questions import OPS, planned

ROW = pytest.mark.parametrize("row", [row for row in ROWS if row.processor.is_here], ids=lambda row: row.name)
STOPPED = [row for row in TABLE if row.kind in {DifferenceKind.REFUSES, DifferenceKind.DIES} and row.processor.is_here]
"""Known differences for which the newest release does not run a layer."""
LEFT_OUT = frozenset({"BinaryConvolution", "RandomUniform", "StringTensorUnpack"})
"""Operations whose samples cannot be made of constants, and one that releases stop at only if its size is computed."""
LACKING = re.compile(r"(<port [^>]*>)(?:\s*<dim>[^<]*</dim>)+\s*(</port>)|<data [^>]*/>")
"""The sizes of a port, and attributes."""
FOLDING = """
import pathlib, sys
import openvino
from openvino.passes import ConstantFolding, Manager
for path in pathlib.Path(sys.argv[1]).glob("*.xml"):
    try:
        model = openvino.Core().read_model(path)
    except RuntimeError:
        continue
    manager = Manager()
    manager.register_pass(ConstantFolding())
    manager.run_passes(model)
    if any(op.get_type_name() not in {"Constant", "Result"} for op in model.get_ops()):
        print(path.stem)
"""
"""A script that prints the names of the models in a folder of which something is left to compute."""


FILLED = {"MALLOC_PERTURB_": "133", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
"""What has the C library fill new memory with numbers."""


def does(release: Release, row: ReleaseDifference) -> State:
    """What a release does with the model of a row."""
    model, fed = as_model(row.model)
    model.version = min(row.version, release.reads[1])
    with client_of(release) as client, sources(model) as (text, weights):
        try:
            found = inferred(client, text, weights, fed)
        except RuntimeFailure as failure:
            return STAGES[failure.stage] if failure.kind == "rejected" else State.DIES
    wanted = executed(model, fed, len(found))
    return State.RUNS if all(_close(*pair) for pair in zip(found, wanted, strict=True)) else State.DIFFERS


def _close(found: Array, wanted: Array) -> bool:
    part = 2e-2 if wanted.dtype.name == "bfloat16" else 1e-4
    with np.errstate(all="ignore"):
        return found.shape == wanted.shape and np.allclose(found.astype(float), wanted.astype(float), part, part / 10)


@ROW
def test_span(row: ReleaseDifference) -> None:
    """The names are releases, in order."""
    assert row.releases
    names = [release.name.removeprefix("openvino-") for release in (row.releases[0], row.releases[-1])]
    assert row.span == " to ".join(names)


@ROW
def test_layers_that_lack_something_are_migrated_or_refused(row: ReleaseDifference) -> None:
    """Some of their ports have no sizes, or attributes cannot be read."""
    model, _ = as_model(row.model)
    text, weights = render(model).decode(), b"".join(model.weights.tail())
    for found in islice(LACKING.finditer(text), 1, None, 9):
        kept = "".join(part for part in found.groups() if part) or re.sub('=".*?"', '="?"', found[0])
        broken = text[: found.start()] + kept + text[found.end() :]
        with suppress(IrToolsError):
            migrate(read(broken.encode(), weights), row.releases[0].name)


@ROW
def test_is_told_from_a_layer(row: ReleaseDifference) -> None:
    """The row is found for a layer of its own model, and not ruled out by its attributes and the types around it.

    If it needs a pattern of layers of certain types, it is ruled out for a model that has none of these.
    """
    model, _ = as_model(row.model)
    facts, around = propagate_shapes(model).facts, Surroundings(model)
    found: list[ReleaseDifference] = []
    types = {located.layer.type for located in model.walk()}
    for located in model.walk():
        path, layer, _ = located
        op = find_op(layer.type, layer.version)
        assert op is not None
        inputs, outputs = ([facts[path, port.id] for port in ports] for ports in (layer.inputs, layer.outputs))
        seen = around.seen(located, op, inputs, outputs, row.version)
        applying = release_differences(row.releases[0], seen)
        alone, kinds = Unplaced(op, seen.attrs, types), {fact.dtype.name for fact in inputs[:1]}
        assert all(may_apply(one, kinds, alone) for one in applying)
        plain = release_differences(row.releases[0], replace(seen, patterns=seen.patterns - NEEDED.keys()))
        lonely = Unplaced(op, seen.attrs, {op.type})
        assert not any(may_apply(one, kinds, lonely) for one in applying if one not in plain)
        known: dict[str, object] = {"inputs": inputs, "outputs": outputs, "version": row.version}
        placeless = Unplaced(op, seen.attrs, types, **known, opset=seen.opset, absent=seen.absent)
        for release in (*row.releases, OPENVINO[-1]):
            with suppress(Undecided):
                assert behaviour(release, placeless, anywhere=True) == behaviour(release, seen, anywhere=True)
        assert op.role is Role.CONSTANT or seen.patterns <= {*Pattern}
        found += applying
    assert row in found


@pytest.mark.parametrize("difference", STOPPED, ids=lambda difference: difference.name)
def test_what_the_newest_release_stops_at_is_a_row_of_releases_too(difference: KnownDifference) -> None:
    """`compat` and `validate` read the table of releases: a known difference that is missing there runs for them."""
    (said,) = compatibility(as_model(difference.model)[0], [OPENVINO[-1]])
    assert said.answer in {Answer.READS, Answer.STOPPED, Answer.UNKNOWN}


@pytest.mark.sweep
@ROW
def test_span_by_the_releases(row: ReleaseDifference) -> None:
    """The first and the last release of a row do what it says, and those before and behind it do not."""
    inside = {release.name for release in row.releases}
    number = [release.name for release in OPENVINO].index(row.releases[0].name)
    beside = OPENVINO[max(number - 1, 0) : number + len(inside) + 1]
    here = [release for release in beside if release is OPENVINO[-1] or environment(release) is not None]
    if not here:
        pytest.skip("none of the releases is here (ir-tools runtimes --add NAME)")
    asked = [release for release in here if release.reads[1] >= row.version and release.holds(*_last(row))]
    answers = {release.name: answer(release, row, 30 if release.name in inside else 1) for release in asked}
    wrong = {name: answer for name, answer in answers.items() if (answer is row.state) is not (name in inside)}
    assert wrong == {}


@pytest.mark.sweep
def test_what_the_installed_openvino_computes_of_constants(tmp_path: Path) -> None:
    """Its ConstantFolding leaves the operations of `UNFOLDED`, and no others."""
    for op in OPS:
        sample = sample_of(op)
        if sample is not None and op.role is Role.COMPUTATION and op.type not in LEFT_OUT:
            (tmp_path / f"{op}.xml").write_bytes(render(model := _of_constants(op, sample)))
            (tmp_path / f"{op}.bin").write_bytes(b"".join(model.weights.tail()))
    kept = subprocess.run([sys.executable, "-c", FOLDING, tmp_path], capture_output=True, check=True, text=True).stdout
    known = {path.stem for path in tmp_path.glob("*.xml")}
    assert {*kept.split()} == UNFOLDED & known


def _uncompiling(name: str) -> list[Release]:
    """The releases that read an operation and do not compile it."""
    return [release for release in OPENVINO if state(release, name) is State.UNCOMPILED and release.reads[1] > 10]


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name in sorted(UNFOLDED) if _uncompiling(name)])
def test_what_is_kept_is_not_compiled_of_constants_either(name: str) -> None:
    """A release that does not compile an operation does not compute it of constants before it compiles."""
    op = next(op for op in OPS if str(op) == name)
    sample = sample_of(op)
    assert sample is not None
    model = _of_constants(op, sample)
    here = [one for one in _uncompiling(name) if one is OPENVINO[-1] or environment(one) is not None]
    if not here:
        pytest.skip("none of the releases is here (ir-tools runtimes --add NAME)")
    for release in here:
        with client_of(release) as client, sources(model) as (text, weights):
            with pytest.raises(RuntimeFailure) as failure:
                client.infer(text, weights, {})
            assert STAGES[failure.value.stage] is State.UNCOMPILED


def _of_constants(op: Op, sample: Sample) -> Model:
    builder = Builder()
    constants = [builder.constant(array) for array in planned(op, sample)]
    known = op.fields.keys()
    raw = {key: value for key, value in sample.raw.items() if key in known}
    for output in builder.unchecked(op, raw, constants, "kept"):
        builder.result(output)
    return builder.model


def answer(release: Release, row: ReleaseDifference, most: int) -> State:
    """What a release does with the model of a row, asked up to `most` times: once if it is not one of the row.

    What reads beyond the data, or numbers that were never set, meets others there, or ends, or, by chance, the right
    ones: every second time new memory is filled with numbers.
    """
    for attempt in range(most):
        with patch.dict(os.environ, FILLED if attempt % 2 else {}):
            found = does(release, row)
        if row.state is State.DIES and found is State.DIFFERS and most > 1:
            return State.DIES
        if found is row.state:
            break
    return found


def _last(row: ReleaseDifference) -> tuple[Op, int]:
    """The operation of a row's model."""
    return row.model.operation, row.model.operation.version
