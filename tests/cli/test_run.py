"""`ir-tools run`."""

from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

import ir_tools
from ir_tools.cli.arrays import InputOptions
from ir_tools.cli.steps import plans_by_step
from tests import stateful
from tests.cli.conftest import Cli


@pytest.fixture
def array(tmp_path: Path) -> Path:
    path = tmp_path / "data.npy"
    np.save(path, np.arange(128, dtype=np.float32).reshape(1, 2, 8, 8))
    return path


@pytest.mark.parametrize("engine", ["reference", "runtime"])
def test_values(cli: Cli, model: Path, array: Path, tmp_path: Path, engine: str) -> None:
    target = tmp_path / "out.npz"
    outcome = cli("run", model, "--input", f"data={array}", "--engine", engine, "-o", target, "--json")
    assert outcome.code == 0
    (entry,) = outcome.document["outputs"]
    assert entry["shape"] == [1, 2, 4, 4]
    assert entry["first"] == [4.5, 6.5, 8.5, 10.5, 20.5]
    assert (entry["min"], entry["max"], entry["nan"]) == (4.5, 122.5, 0)
    with np.load(target) as saved:
        expected = np.load(array).reshape(1, 2, 4, 2, 4, 2).mean(axis=(3, 5))
        np.testing.assert_array_equal(saved[entry["name"]], expected)


def test_the_seed_decides(cli: Cli, model: Path) -> None:
    values = [cli("run", model, "--seed", seed, "--json").document["outputs"][0]["first"] for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_text(cli: Cli, model: Path, array: Path) -> None:
    shown = cli("run", model, "--input", f"data={array}").out
    assert "4.5 6.5 8.5 10.5 20.5" in shown
    assert "1,2,4,4" in shown


def test_a_boolean_output(cli: Cli, tmp_path: Path) -> None:
    data = ops.parameter([2], np.float32)
    target = tmp_path / "signs.xml"
    ov.save_model(ov.Model([ops.greater(data, np.float32(0))], [data]), target)
    path = tmp_path / "signs.npy"
    np.save(path, np.array([1, -1], dtype=np.float32))
    told = "run", target, "--input", f"{ir_tools.read(target).inputs[0].name}={path}"
    shown = cli(*told)
    assert (shown.code, "True False" in shown.out) == (0, True)
    assert cli(*told, "--json").document["outputs"][0]["first"] == [True, False]


def test_not_a_number_is_text_in_json(cli: Cli, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "nan.npy"
    np.save(path, np.full((1, 2, 8, 8), np.nan, dtype=np.float32))
    (entry,) = cli("run", model, "--input", f"data={path}", "--json").document["outputs"]
    assert (entry["nan"], entry["min"], entry["first"][0]) == (32, None, "nan")


def test_wrong_arguments(cli: Cli, model: Path, array: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "several.npz", a=np.zeros(1), b=np.zeros(1))
    np.save(tmp_path / "small.npy", np.zeros((1, 2), dtype=np.float32))
    np.save(tmp_path / "wide.npy", np.full((1, 2, 8, 8), 1e60))
    (tmp_path / "random.npz").write_bytes(bytes(range(200, 256)))
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    np.save(tmp_path / "dates.npy", np.zeros((1, 2, 8, 8), "datetime64[s]"))
    (tmp_path / "empty.npy").touch()
    (tmp_path / "cut.npy").write_bytes(array.read_bytes()[:-8])
    (tmp_path / "cut.npz").write_bytes((tmp_path / "several.npz").read_bytes()[:-8])
    (tmp_path / "text.npy").write_text("no array")
    cases: list[tuple[list[object], str]] = [
        (["--input", "data"], "data"),
        (["--input", "data="], "data="),
        (["--input", f"data={tmp_path / 'objects.npy'}"], "Python objects"),
        (["--input", f"data={tmp_path / 'random.npz'}"], "it is damaged, or is another kind of file"),
        (["--input", f"data={tmp_path / 'dates.npy'}"], "datetime64"),
        (["--input", f"data={tmp_path / 'empty.npy'}"], "empty.npy"),
        (["--input", f"data={tmp_path / 'cut.npy'}"], "cut.npy"),
        (["--input", f"data={tmp_path / 'cut.npz'}"], "cut.npz"),
        (["--input", tmp_path], "Is a directory"),
        (["--input", "unifrom:0:1"], "a generator such as uniform:0:255"),
        (["--input", "data=uniform:1:0"], "uniform:LOW:HIGH"),
        (["--input", "data=uniform:a"], "uniform:LOW:HIGH"),
        (["--input", "data=constant"], "constant:VALUE"),
        (["--input", "data=constant:1e60"], "f32 cannot hold"),
        (["--input", "data=ones", "--input", "pooled=ones"], "pooled"),
        (["--input", "data=ones", "--input", "data=zeros"], "2 values"),
        (["--input", "data=ones", "--input", "ones"], "two values"),
        (["--set", "data=1,2"], "pool"),
        (["--set", "other=1,2,8,8"], "other"),
        (["--layout", "other=NCHW"], "other"),
        (["--input", "data=nowhere.npy"], "nowhere.npy"),
        (["--input", f"data={tmp_path / 'text.npy'}"], "text.npy"),
        (["--input", f"data={tmp_path / 'several.npz'}"], "several"),
        (["--input", f"data={tmp_path / 'small.npy'}"], "data"),
        (["--input", f"data={tmp_path / 'wide.npy'}"], "f32"),
        (["--input", f"other={array}"], "other"),
        (["--engine", "gpu"], "gpu"),
        (["-o", tmp_path / "nowhere" / "out.npz"], "nowhere"),
    ]
    for words, says in cases:
        outcome = cli("run", model, *words)
        assert outcome.code == 2, words
        assert says in outcome.err, words
        assert outcome.err.count("\n") == 1, words


def test_a_layer_without_a_kernel_is_named(cli: Cli, model: Path) -> None:
    model.write_text(model.read_text().replace('type="AvgPool"', 'type="Mystery"'))
    outcome = cli("run", model)
    assert outcome.code == 2
    assert "Mystery" in outcome.err
    found, last = outcome.err.splitlines()
    assert ": layer 1 'pool': error IR201: " in found
    assert last.startswith("ir-tools: the runtime rejects it: ")


@pytest.fixture
def accumulator(tmp_path: Path) -> Path:
    """`y = 2 * (sum + x)`; `sum` is 3 at first."""
    path = tmp_path / "accumulator.xml"
    ov.serialize(stateful.accumulator(), path)
    return path


@pytest.mark.parametrize("engine", ["reference", "runtime"])
def test_steps_keep_states(cli: Cli, accumulator: Path, tmp_path: Path, engine: str) -> None:
    np.save(tmp_path / "x.npy", np.array([[[1, 1]], [[2, 2]], [[3, 0]]], np.float32))
    words = ["run", accumulator, "--input", f"x={tmp_path / 'x.npy'}", "--steps", 3, "--engine", engine]
    found = cli(*words, "-o", tmp_path / "out.npz", "--json").document
    assert found["steps"] == 3
    assert [(entry["step"], entry["first"]) for entry in found["inputs"]] == [(1, [1, 1]), (2, [2, 2]), (3, [3, 0])]
    assert [entry["first"] for entry in found["outputs"]] == [[8, 8], [12, 12], [18, 12]]
    assert [(entry["name"], entry["first"]) for entry in found["states"]] == [("sum", [9, 6])]
    with np.load(tmp_path / "out.npz") as saved:
        assert {name: saved[name].tolist() for name in saved} == {
            "step1/y": [[8, 8]],
            "step2/y": [[12, 12]],
            "step3/y": [[18, 12]],
            "state/sum": [[9, 6]],
        }
    again = cli("run", accumulator, "--input", f"x={tmp_path / 'x.npy'}", "--state", tmp_path / "out.npz", "--steps", 3)
    assert "30 18" in again.out


def test_inputs_of_later_steps(cli: Cli, accumulator: Path, tmp_path: Path) -> None:
    for number in (1, 5):
        np.save(tmp_path / f"{number}.npy", np.full((1, 2), number, np.float32))
    inputs = [word for number in (1, 5) for word in ("--input", f"x={tmp_path / f'{number}.npy'}")]
    assert "has 2 values; leave out all but one" in cli("run", accumulator, *inputs).err
    found = cli("run", accumulator, *inputs, "--steps", 4, "--json").document
    assert [entry["first"][0] for entry in found["inputs"]] == [1, 5, 5, 5]
    assert [entry["first"][0] for entry in found["outputs"]] == [8, 18, 28, 38]
    made_up = cli("run", accumulator, "--steps", 2, "--json").document["inputs"]
    assert made_up[0]["first"] != made_up[1]["first"]


def test_a_state_that_is_set_twice(cli: Cli, accumulator: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "sum.npy", np.ones((1, 2), np.float32))
    twice = cli("run", accumulator, *("--state", f"sum={tmp_path / 'sum.npy'}") * 2)
    assert (twice.code, "--state: variable 'sum' has 2 values; leave out all but one" in twice.err) == (2, True)


def test_a_state_that_is_set(cli: Cli, accumulator: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[1, 1]], np.float32))
    np.save(tmp_path / "sum.npy", np.array([[10, 20]], np.float32))
    words = ["run", accumulator, "--input", f"x={tmp_path / 'x.npy'}"]
    assert "22 42" in cli(*words, "--state", f"sum={tmp_path / 'sum.npy'}").out
    for given, says in (
        (f"total={tmp_path / 'sum.npy'}", "there is no state 'total'; the states of the model are 'sum'"),
        (f"sum={tmp_path / 'nowhere.npy'}", "nowhere.npy: No such file"),
        (tmp_path / "x.npy", "expected NAME=FILE"),
    ):
        outcome = cli(*words, "--state", given)
        assert (outcome.code, outcome.err.count("\n"), says in outcome.err) == (2, 1, True), outcome.err
    np.save(tmp_path / "x.npy", np.zeros((4, 1, 2), np.float32))
    assert "has values for 4 steps; expected 3" in cli(*words, "--steps", 3).err


@pytest.mark.parametrize(("command", "option", "most"), [("run", "--steps", 100_000), ("compare", "--samples", 10_000)])
def test_more_than_memory_holds_is_refused_at_once(cli: Cli, model: Path, command: str, option: str, most: int) -> None:
    found = cli(command, model, option, most + 1)
    assert (found.code, found.out) == (2, "")
    assert f"{most + 1} is not in the range 1<=x<={most}" in found.err


def test_steps_are_not_planned_one_by_one(accumulator: Path) -> None:

    assert len(plans_by_step(InputOptions(), ir_tools.read(accumulator), 10**18)) == 1


def test_many_steps_fit_on_a_screen(cli: Cli, accumulator: Path) -> None:
    shown = cli("run", accumulator, "--steps", 30).out
    assert "steps 5 to 26 are not shown" in shown
    assert ("output 4" in shown, "output 5" in shown, "output 27" in shown) == (True, False, True)


@pytest.mark.parametrize("engine", ["reference", "runtime"])
def test_made_up_inputs_do_not_grow_with_the_states(cli: Cli, growing: Path, tmp_path: Path, engine: str) -> None:
    assert cli("run", growing, "--steps", "1", "--engine", engine).code == 0
    failed = cli("run", growing, "--steps", "2", "--engine", engine)
    assert failed.code == 2
    assert "step 2: " in failed.err
    assert "pass values for each step with --input NAME=FILE ('x', 'mask')" in " ".join(failed.err.split())
    arrays = {"x": [np.zeros([1, 4], np.float32)] * 2, "mask": [np.zeros([1, size], np.float32) for size in (4, 8)]}
    options = []
    for name, steps in arrays.items():
        for number, array in enumerate(steps):
            np.save(tmp_path / f"{name}{number}.npy", array)
            options += ["--input", f"{name}={tmp_path / f'{name}{number}.npy'}"]
    assert cli("run", growing, "--steps", "2", "--engine", engine, *options).code == 0


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    """A variable that each step makes longer, and a mask that has to be as long as it is then."""
    ov.serialize(stateful.growing(), tmp_path / "growing.xml")
    return tmp_path / "growing.xml"
