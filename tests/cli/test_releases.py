"""A legacy model on Inference Engine 2020.1 against a new one on OpenVINO: in Python, and on the command line."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ir_tools
from ir_tools.comparison import Comparison
from ir_tools.comparison.releases import compare_releases
from ir_tools.inputs import plan_inputs
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.environments import Installation
from ir_tools.runtime.legacy import LegacyClient
from tests.cli.conftest import Cli
from tests.legacy.net import Net
from tests.runtime.releases import client_of

POOL = {"kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "pool-method": "max"}
CONVOLUTION = {"kernel": "3,3", "strides": "1,1", "pads_begin": "1,1", "pads_end": "1,1", "output": "4"}


@pytest.fixture(scope="module")
def legacy(legacy_python: Path) -> Iterator[LegacyClient]:
    with LegacyClient(legacy_python, timeout=60.0) as client:
        yield client


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Input -> Convolution -> ReLU -> Pooling, and a second output."""
    net = Net(np.random.default_rng(1), 5)
    image = net.input(net.values(1, 3, 8, 8))
    blobs = {"weights": net.values(4, 3, 3, 3), "biases": net.values(4)}
    (made,) = net.layer("Convolution", [image], [(1, 4, 8, 8)], CONVOLUTION, blobs, name="conv")
    (above,) = net.layer("ReLU", [made], [(1, 4, 8, 8)], name="relu")
    net.layer("Pooling", [above], [(1, 4, 4, 4)], POOL, name="pool")
    net.layer("ReLU", [made], [(1, 4, 8, 8)], {"negative_slope": "0.5"}, name="leaky")
    case = net.case()
    path = tmp_path / "old.xml"
    path.write_text(case.xml)
    path.with_suffix(".bin").write_bytes(case.weights)
    return path


@pytest.fixture
def new(old: Path) -> Path:
    """What it is migrated to, on disk."""
    path = old.with_name("new.xml")
    ir_tools.write(ir_tools.migrate(old).model, path)
    return path


def other(old: Path) -> Path:
    """A model that differs from the old one in one attribute of one layer."""
    text = old.read_text().replace('negative_slope="0.5"', 'negative_slope="0.25"')
    path = old.with_name("other.xml")
    ir_tools.write(ir_tools.migrate(ir_tools.read(text.encode(), old.with_suffix(".bin"))).model, path)
    return path


def compared(old: Path, new: Path, legacy: LegacyClient, client: RuntimeClient) -> Comparison:
    model = ir_tools.read(new)
    return compare_releases(ir_tools.read(old), model, plan_inputs(model), legacy=legacy, client=client)


def test_migrated_model_agrees_layer_by_layer(
    old: Path, new: Path, legacy: LegacyClient, client: RuntimeClient
) -> None:
    found = compared(old, new, legacy, client)
    assert found.ok
    assert [(entry.path, entry.status) for entry in found.layers] == [
        (name, "ok") for name in ("conv", "relu", "pool", "leaky")
    ]
    assert [entry.name for entry in found.outputs] == ["pool", "leaky"]
    assert found.layer_sides.expected == f"Inference Engine 2020.1 on {old}"
    assert found.layer_sides.actual.endswith(f" on {new}")


def test_layer_where_a_difference_starts_is_named(old: Path, legacy: LegacyClient, client: RuntimeClient) -> None:
    found = compared(old, other(old), legacy, client)
    first = found.first_difference
    assert isinstance(first, ir_tools.LayerComparison)
    line = old.read_text().partition('name="leaky"')[0].count("\n") + 1
    assert (first.path, first.counterpart, first.line) == ("leaky", "leaky", line)
    assert [entry.path for entry in found.layers if entry.status == "ok"] == ["conv", "relu", "pool"]
    assert [entry.name for entry in found.outputs if not entry.ok] == ["leaky"]


def test_elements_that_rounding_decides_are_not_compared(
    tmp_path: Path, legacy: LegacyClient, client: RuntimeClient
) -> None:
    models = []
    for scale in ("1", "1.000001"):
        net = Net(np.random.default_rng(1), 5)
        image = net.input(net.values(1, 1, 4, 4))
        halves = [
            net.layer("Power", [image], [(1, 1, 4, 4)], {"power": 1, "scale": each, "shift": 0}, name=f"half{number}")[
                0
            ]
            for number, each in enumerate(("1", scale))
        ]
        (both,) = net.layer("Concat", halves, [(1, 2, 4, 4)], {"axis": 1}, name="both")
        net.layer("ArgMax", [both], [(1, 1, 4, 4)], {"axis": 1, "out_max_val": 0, "top_k": 1}, name="class")
        case = net.case()
        models.append(ir_tools.read(case.xml.encode(), case.weights))
    new = ir_tools.migrate(models[1]).model
    found = compare_releases(models[0], new, plan_inputs(new), legacy=legacy, client=client)
    assert found.ok
    assert [entry.difference and entry.difference.undefined for entry in found.layers] == [0, 0, 0, 16]
    assert [entry.difference.undefined for entry in found.outputs] == [16]


@pytest.mark.parametrize(("shift", "status"), [(-1000.0, "ok"), (-1001.0, "differs")])
def test_errors_of_the_layers_before_are_not_those_of_a_layer(
    legacy: LegacyClient, client: RuntimeClient, shift: float, status: str
) -> None:
    """`less` leaves little of values about 1000 that are 1e-4 apart."""
    models = []
    for scale, less in ((1.0, -1000.0), (1.0001, shift)):
        net = Net(np.random.default_rng(1), 5)
        image = net.input(net.values(1, 2, 4, 4))
        (above,) = net.layer(
            "Power", [image], [(1, 2, 4, 4)], {"power": 1, "scale": 1, "shift": 1000 * scale}, name="above"
        )
        net.layer("Power", [above], [(1, 2, 4, 4)], {"power": 1, "scale": 1, "shift": less}, name="less")
        case = net.case()
        models.append(ir_tools.read(case.xml.encode(), case.weights))
    new = ir_tools.migrate(models[1]).model
    found = compare_releases(models[0], new, plan_inputs(new), legacy=legacy, client=client)
    assert [entry.status for entry in found.layers] == ["ok", status]
    assert not found.outputs[0].ok
    if status == "ok":
        assert found.layers[1].reason
        assert found.layers[1].reason.startswith("carries 0.0")


def test_statistics_are_left_out(old: Path, new: Path, legacy: LegacyClient, client: RuntimeClient) -> None:
    text = "<statistics><layer><name>conv</name><min>0</min><max>1</max></layer></statistics></net>"
    old.write_text(old.read_text().replace("</net>", text))
    found = compared(old, new, legacy, client)
    assert found.ok
    assert found.layer_sides.expected == f"Inference Engine 2020.1 on {old}, in floats (<statistics> ignored)"


def test_migrate_verifies_on_the_old_runtime(cli: Cli, old: Path, legacy_python: Path) -> None:
    words = ("migrate", old, "--verify", "--layers", "--runtime-python", legacy_python, "-o", old.with_name("new.xml"))
    outcome = cli(*words)
    assert outcome.code == 0, outcome.err
    assert f"Inference Engine 2020.1 on {old}, against the new model on " in outcome.out
    assert "4 tensors of layers compared" in outcome.out
    checked = cli(*words, "--json").document["verified"]
    assert (checked["ok"], checked["layers"], checked["first_difference"]) == (True, 4, None)
    assert [entry["name"] for entry in checked["outputs"]] == ["pool", "leaky"]


def test_migration_that_differs_is_not_written(
    cli: Cli, old: Path, legacy_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(ir_tools.migrate(old), model=ir_tools.read(other(old)))
    monkeypatch.setattr("ir_tools.migrate", lambda *_, **__: wrong)
    target = old.with_name("new.xml")
    words = ("migrate", old, "--verify", "--runtime-python", legacy_python, "-o", target)
    outcome = cli(*words)
    assert outcome.code == 4
    assert "is allowed; add --layers to find the first layer that differs" in outcome.out
    shown = cli(*words, "--layers").out
    assert re.search(r"Not verified: layer 'leaky' \(ReLU, line \d+\) is the first that differs by", shown)
    assert cli(*words, "--layers", "--tolerance", "2").code == 0
    target.unlink()
    assert not target.exists()


def test_compare_runs_the_old_model_on_the_old_runtime(cli: Cli, old: Path, new: Path, legacy_python: Path) -> None:
    runtime = ("--runtime", "inference-engine-2020.1", "--runtime-python", legacy_python)
    report = old.with_name("report.html")
    outcome = cli("compare", old, new, *runtime, "--report", report, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.document["sides"]["layers"]["expected"] == f"Inference Engine 2020.1 on {old}"
    assert "Inference Engine 2020.1" in report.read_text()
    outcome = cli("compare", old, other(old), *runtime)
    assert outcome.code == 1
    assert "The first difference is 'leaky'" in outcome.out
    outcome = cli("compare", old, *runtime, "--outputs-only", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.document["sides"]["outputs"]["actual"].endswith("on what it is migrated to")


def test_compare_runs_the_new_model_on_another_release(cli: Cli, old: Path, new: Path, legacy_python: Path) -> None:
    client_of("2022.3")
    words = ("compare", old, new, "--runtime-python", legacy_python, "--against", "openvino-2022.3", "--json")
    outcome = cli(*words)
    assert outcome.code == 0, outcome.err
    sides = outcome.document["sides"]["layers"]
    assert sides["expected"] == f"Inference Engine 2020.1 on {old}"
    assert sides["actual"].startswith("OpenVINO 2022.3.")
    assert cli(*words, "--against", "CPU:bf16").code == 2


def test_missing_runtime(cli: Cli, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_TOOLS_RUNTIMES", str(old.parent / "none"))
    for words in (("compare", old, new), ("migrate", old, "--verify", "-o", new)):
        outcome = cli(*words)
        assert outcome.is_one_line
        assert "add it with: ir-tools runtimes --add inference-engine-2020.1" in outcome.err


def test_install_makes_the_environment_first(
    cli: Cli, old: Path, legacy_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = old.parent / "runtimes"
    folder.mkdir()
    monkeypatch.setenv("IR_TOOLS_RUNTIMES", str(folder))
    monkeypatch.setattr(Installation, "make", lambda planned: planned.folder.symlink_to(legacy_python.parents[1]))
    words = ("migrate", old, "--verify", "--install", "-o", old.with_name("new.xml"))
    outcome = cli(*words)
    assert outcome.code == 0, outcome.err
    assert outcome.err.startswith("ir-tools: installing Inference Engine 2020.1 into ")
    assert cli(*words).err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--set", "in0=2,3,8,8"),
            "Inference Engine 2020.1 runs the file with the sizes that it records; leave out --set",
        ),
        (("--runtime", "openvino-1"), "there is no release 'openvino-1'"),
        (("--state", "states.npz"), "--state does not support models of IR v5 on their original runtime"),
    ],
    ids=["set", "runtime", "state"],
)
def test_wrong_usage(cli: Cli, old: Path, new: Path, words: tuple[str, ...], message: str) -> None:
    np.savez(old.with_name("states.npz"), a=np.zeros(1))
    outcome = cli("compare", old, new, *(str(old.with_name(word)) if word.endswith(".npz") else word for word in words))
    assert outcome.is_one_line
    assert message in outcome.err


def test_release_is_for_legacy_models(cli: Cli, new: Path) -> None:
    for words in (("compare", new), ("migrate", new, "--dry-run", "--verify")):
        outcome = cli(*words, "--runtime", "inference-engine-2020.1")
        assert (outcome.code, outcome.out) == (2, "")
        assert "inference-engine-2020.1 runs models of IR v2 to v7, but this one is IR v11" in outcome.err
