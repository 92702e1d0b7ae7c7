"""`ir-tools compat`."""

import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.compatibility import (
    Answer,
    Compatibility,
    CompatibilityReport,
    Migrated,
    Obstacle,
    after_migration,
    compatibility,
    summary,
)
from ir_tools.errors import RuntimeFailure
from ir_tools.format.write import write
from ir_tools.known_differences import as_model
from ir_tools.known_differences.releases import ROWS
from ir_tools.releases.measured import State
from ir_tools.releases.table import OPENVINO, find_release
from ir_tools.rewrite.migration import migrate
from ir_tools.runtime.release import ReleaseClient
from ir_tools.source import Document
from tests.cli.conftest import Cli, pooling_xml
from tests.importers.onnx.models import Row, model_of


def pooling(version: int = 11, **attributes: object) -> Builder:
    """A model of one AvgPool-14."""
    builder = Builder(opset=14)
    data = builder.parameter("data", "1,3,8,8")
    settings = {"kernel": (2, 2), "strides": (2, 2), "pads_begin": (0, 0), "pads_end": (0, 0), "exclude_pad": True}
    pool = builder.call("AvgPool", data, name="pool", **settings | attributes)
    builder.result(pool, "out")
    builder.model.version = version
    return builder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write(pooling().model, tmp_path / "model.xml")
    return tmp_path / "model.xml"


def answers(builder: Builder) -> dict[str, Answer]:
    return {one.release.short: one.answer for one in compatibility(builder.model)}


def test_onnx(cli: Cli, model: Path) -> None:
    path = model.with_name("pool.onnx")
    path.write_bytes(model_of([Row({"kernel_shape": [2, 2]}, (1, 2, 6, 6))], 11).SerializeToString())
    first, second = cli("compat", path, model, "--badge").out.splitlines()
    assert (first.partition(":")[0], second) == (str(model), f"{path}: OpenVINO 2022.1 to 2026.4")
    assert cli("compat", path.with_name("none.onnx")).code == 2


def test_weights_of_another_name(cli: Cli, tmp_path: Path) -> None:
    path, moved = tmp_path / "model.xml", tmp_path / "moved.bin"
    builder = Builder(opset=8)
    builder.result(
        builder.call("Add", builder.parameter("data", "1,3"), builder.constant(np.ones(3, np.float32))), "sum"
    )
    write(builder.model, path)
    expected = cli("compat", path).out
    path.with_suffix(".bin").rename(moved)
    assert cli("compat", path, "--bin", moved).out == expected
    assert cli("compat", path).out != expected
    path.with_name("other.xml").write_bytes(path.read_bytes())
    assert cli("compat", tmp_path, "--bin", moved).code == 2


def test_a_file_is_parsed_once(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str | None] = []
    parse = Document.__init__

    def note(document: Document, data: bytes, file: str | None) -> None:
        parsed.append(file)
        parse(document, data, file)

    monkeypatch.setattr(Document, "__init__", note)
    assert cli("compat", model).code == 0
    assert ir_tools.compat(model).runs
    assert parsed == [str(model)] * 2


def test_versions_of_the_ir_and_of_operations() -> None:
    found = answers(pooling())
    assert found["2021.4"] is found["2023.3"] is Answer.STOPPED
    assert found["2024.0"] is found["2026.4"] is Answer.RUNS


def test_values_of_attributes() -> None:
    """2024.2 keeps a window that begins behind the padding."""
    uneven = pooling(rounding_type="ceil_torch", kernel=(3, 3), strides=(4, 4))
    assert answers(pooling(rounding_type="ceil_torch"))["2024.2"] is Answer.RUNS
    found = answers(uneven)
    assert found["2024.0"] is Answer.STOPPED
    assert found["2024.1"] is Answer.READS
    assert found["2024.2"] is Answer.DIFFERS
    assert found["2024.3"] is Answer.RUNS


def test_element_types_and_unknown_sizes() -> None:
    builder = Builder(opset=1)
    data = builder.parameter("data", "?,4", "f16")
    builder.result(builder.call("ReLU", data), "out")
    builder.model.version = 10
    found = answers(builder)
    assert found["2021.4"] is Answer.STOPPED
    assert found["2022.1"] is found["2026.4"] is Answer.RUNS


def test_after_migration() -> None:
    model, release = pooling().model, find_release("openvino-2023.3")
    assert compatibility(model, [release])[0].answer is not Answer.RUNS
    found = after_migration(model, release)
    assert found.runs
    assert str(found) == "yes: 1 step"
    refused = after_migration(pooling(rounding_type="ceil_torch").model, release)
    assert str(refused).startswith(("yes: ", "no: "))


def test_one_line() -> None:
    assert summary(compatibility(pooling().model)) == "OpenVINO 2024.0, 2024.2 to 2026.4"
    torch = compatibility(pooling(rounding_type="ceil_torch").model)
    assert summary(torch) == "OpenVINO 2024.2 to 2026.4"
    assert summary(compatibility(pooling().model, OPENVINO[:3])) == "not OpenVINO 2021.2, 2021.3, 2021.4"
    assert summary(compatibility(pooling().model, OPENVINO[-1:-4:-2])) == "OpenVINO 2026.2, 2026.4"
    none = compatibility(Builder(opset=1).model)
    assert summary([replace(one, answer=Answer.READS) for one in none]) == "no release of OpenVINO"


def test_releases_that_differ_in_any_answer_are_shown_apart() -> None:
    layer = Obstacle(path="a", line=1, layer="ReLU opset1", reason="why", answer=Answer.READS)
    first = Compatibility(
        release=OPENVINO[0],
        answer=Answer.READS,
        obstacles=(layer,),
        migrated=Migrated(True, "1 step"),
        checked="memory",
    )
    second = replace(first, release=OPENVINO[1])
    assert [span for span, _ in CompatibilityReport([first, second], "").spans] == ["2021.2 to 2021.3"]
    changes: dict[str, Any] = {
        "release": OPENVINO[2],
        "answer": Answer.STOPPED,
        "obstacles": (replace(layer, reason="other"),),
        "migrated": Migrated(False, "why not"),
        "checked": None,
    }
    assert changes.keys() == {field.name for field in fields(Compatibility)}
    for name, value in changes.items():
        assert len(CompatibilityReport([first, replace(second, **{name: value})], "").spans) == 2, name


def test_releases_that_refuse_a_migration_for_one_reason_share_a_line(tmp_path: Path) -> None:
    path, builder = tmp_path / "dynamic.xml", Builder(opset=1)
    builder.result(builder.call("ReLU", builder.parameter("data", "?,2")), "out")
    write(builder.model, path)
    found = ir_tools.compat(path, [one.name for one in OPENVINO[:3]], migrated=True)
    ((span, one),) = found.spans
    assert span == "2021.2 to 2021.4"
    assert "the release does not support dynamic shapes" in str(one.migrated)
    assert "<th style='text-align: left'>after migration</th>" in found._repr_html_()
    assert "checked" not in found._repr_html_()
    assert "after migration" not in ir_tools.compat(path, OPENVINO[0].name)._repr_html_()


def test_command(cli: Cli, model: Path) -> None:
    outcome = cli("compat", model)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == f"{model}: OpenVINO 2024.0, 2024.2 to 2026.4"
    assert lines[1].split() == ["OpenVINO", "answer", "why"]
    assert [" ".join(line.split()[:4]) for line in lines[2:]] == [
        "2021.2 to 2021.4 stopped",
        "2022.1 to 2023.3 stopped",
        "2024.0 runs",
        "2024.1 reads pool (line",
        "2024.2 to 2026.4 runs",
    ]
    assert lines[3].endswith("pool (line 15, AvgPool opset14): AvgPool-14 is not read")
    two = cli("compat", model, "--release", "openvino-2026.4", "--release", "openvino-2026.2").out.splitlines()
    assert [line.split()[0] for line in two[2:]] == ["2026.4", "2026.2"]


@pytest.mark.parametrize(("number", "more"), [(1, ""), (2, " and 1 more")])
def test_of_a_model_with_errors_nothing_is_said(number: int, more: str) -> None:
    """The first error is the reason, and how many others there are."""
    text = pooling_xml(name="pool").replace('shape="1,2,8,8"', 'shape="1,2,8,x"' if number > 1 else 'shape="1,2,8,8"')
    text = text.replace('strides="2,2"', 'strides="0,2"')
    errors = [found for found in ir_tools.validate(text.encode()) if found.severity == "error"]
    assert len(errors) == number
    (found,) = compatibility(ir_tools.read(text.encode()), OPENVINO[-1:])
    reason = f"{errors[0].code}: {errors[0].message}{more} (ir-tools validate)"
    assert found.obstacles == (Obstacle(path="", line=None, layer="", reason=reason, answer=Answer.UNKNOWN),)


def test_note_of_a_quantized_model(cli: Cli, tmp_path: Path) -> None:
    """Constants are quantized once, before a model runs."""
    builder = Builder(opset=1)
    limits = [np.array(limit, np.float32) for limit in (0, 1, 0, 1)]
    data, weights = builder.parameter("data", "2,3"), builder.constant(np.ones((2, 3), np.float32))
    builder.result(builder.call("FakeQuantize", weights, *limits, levels=256, name="weights"), "constant")
    scale = builder.parameter("scale", "")
    builder.result(builder.call("FakeQuantize", weights, limits[0], scale, *limits[2:], levels=256), "scaled")
    write(builder.model, tmp_path / "floats.xml")
    builder.result(builder.call("FakeQuantize", data, *limits, levels=256, name="quantized"), "out")
    write(builder.model, tmp_path / "int8.xml")
    floats, int8 = (cli("compat", tmp_path / name).out.splitlines() for name in ("floats.xml", "int8.xml"))
    assert floats[-1] == "2022.1 to 2026.4  runs"
    assert int8[-1].startswith("1 tensor quantized: ")
    report = ir_tools.compat(tmp_path / "int8.xml")
    assert report.note in repr(report)
    assert report.note in report._repr_html_()


def test_document(cli: Cli, model: Path) -> None:
    document = cli("compat", model, "--json", "--release", "openvino-2023.3", "--migrated").document
    (file,) = document["files"]
    (row,) = file["releases"]
    assert (document["ok"], file["runs"], row["release"], row["answer"]) == (False, False, "openvino-2023.3", "stopped")
    assert row["migrated"] == "yes: 1 step"
    assert row["layers"][0]["path"] == "pool"
    assert row["layers"][0]["line"] == 15
    newest = cli("compat", model, "--json", "--release", OPENVINO[-1].name, "--check").document
    assert newest["files"][0]["releases"][0]["checked"] == "compiles"


@pytest.mark.parametrize(
    ("kind", "stage", "answer", "checked"),
    [
        ("rejected", "reading the model", Answer.STOPPED, "rejected"),
        ("rejected", "compiling the model", Answer.READS, "rejected"),
        ("crashed", "compiling the model", Answer.READS, "crashed"),
        ("timeout", "compiling the model", Answer.RUNS, "timeout"),
        ("memory", "compiling the model", Answer.RUNS, "memory"),
        ("crashed", "starting python", Answer.RUNS, "crashed"),
    ],
)
def test_a_release_that_rejects_a_model_does_not_run_it(
    model: Path, monkeypatch: pytest.MonkeyPatch, kind: str, stage: str, answer: Answer, checked: str
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeFailure("could not create a primitive", kind=kind, stage=stage)

    monkeypatch.setattr(ReleaseClient, "check", fail)
    newest = OPENVINO[-1].name
    report = ir_tools.compat(model, newest, check=True, migrated=True)
    (one,) = report
    assert (one.answer, one.checked, report.runs) == (answer, checked, answer is Answer.RUNS)
    if answer is not Answer.RUNS:
        assert "could not create a primitive" in one.why
        assert str(one.migrated).startswith(f"no: {answer}: could not create a primitive")
        assert report.badge == f"not OpenVINO {OPENVINO[-1].short}"


def test_a_release_that_rejects_a_model_does_not_give_other_values(monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in ROWS if row.state is State.DIFFERS and row.releases[-1] is OPENVINO[-1])
    model, _ = as_model(row.model)
    assert ir_tools.compat(model, OPENVINO[-1].name)[0].answer is Answer.DIFFERS

    def fail(*_: object) -> None:
        raise RuntimeFailure("could not create a primitive", kind="rejected", stage="compiling the model")

    monkeypatch.setattr(ReleaseClient, "check", fail)
    (one,) = ir_tools.compat(model, OPENVINO[-1].name, check=True)
    assert (one.answer, one.checked) == (Answer.READS, "rejected")


def test_in_python(model: Path) -> None:
    found = ir_tools.compat(model, "openvino-2023.3, openvino-2026.4", migrated=True, check=True)
    assert [(one.release.name, one.runs, str(one.migrated), one.checked) for one in found][1] == (
        "openvino-2026.4",
        True,
        "None",
        "compiles",
    )
    assert str(found[0].migrated) == "yes: 1 step"
    assert repr(found).splitlines() == [
        "OpenVINO 2026.4",
        "2023.3: stopped: pool (line 15, AvgPool opset14): AvgPool-14 is not read",
    ]
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.badge) == (found, found.badge)
    assert len(ir_tools.compat(ir_tools.read(model))) == len(OPENVINO)


def test_folder_in_one_line_each(cli: Cli, model: Path) -> None:
    (model.parent / "old.xml").write_text('<net name="old" version="6"><layers/><edges/></net>')
    outcome = cli("compat", model.parent, "--badge")
    assert outcome.code == 1
    assert outcome.out.splitlines()[0] == f"{model}: OpenVINO 2024.0, 2024.2 to 2026.4"
    assert outcome.out.splitlines()[1] == f"{model.parent / 'old.xml'}: Inference Engine up to 2020 (IR v6)"
    assert cli("compat", model, "--badge").out == "OpenVINO 2024.0, 2024.2 to 2026.4\n"
    (model.parent / "old.xml").write_text('<net version="11"')
    lines = cli("compat", model.parent, "--badge").out.splitlines()
    assert lines[1].startswith(f"{model.parent / 'old.xml'}:1: error IR002")
    model.write_text(model.read_text().replace('kernel="', 'kernel="-'))
    assert cli("compat", model, "--badge").out == "unknown\n"


def test_wrong_use(cli: Cli, model: Path) -> None:
    assert cli("compat", model, "--badge", "--check").code == 2
    assert cli("compat", model, "--release", "openvino-1.0").code == 2
    assert cli("compat", model.parent / "none.xml").code == 2
    model.write_text("text")
    assert cli("compat", model).code == 2


@pytest.mark.parametrize("known", [True, False], ids=["fixed", "computed"])
def test_sizes_of_fixed_shapes_are_known_before_a_device_sees_them(known: bool) -> None:
    """2021 reads no Reshape to a computed shape, and 2021.2 compiles no ShapeOf, unless all is known from sizes."""
    builder = Builder(opset=5)
    data = builder.call("ReLU", builder.parameter("x", [2, 3], "f32"), name="data")
    shape = builder.call("ShapeOf", data, name="shape", output_type="i64")
    sizes = shape if known else builder.parameter("sizes", [2], "i64")
    builder.result(builder.call("Reshape", data, sizes, name="same", special_zero="false"))
    builder.model.version = 10
    found = {one.release.name: str(one.answer) for one in compatibility(builder.model, OPENVINO[:3])}
    assert ([*found.values()] == ["runs"] * 3) is known
    migrated = migrate(builder.model, "openvino-2021.2")
    assert (migrated.refused == () and migrated.steps == ()) is known
