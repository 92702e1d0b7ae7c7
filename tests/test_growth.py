"""How often functions are called grows with the size of a file, for kinds of files for which it once grew faster."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from types import FrameType

import pytest

import ir_tools
from ir_tools.cli import main
from ir_tools.graph import Graph, Layer, Source
from ir_tools.infer import Propagation, _engine, propagate_shapes
from ir_tools.infer._engine import Tensors
from ir_tools.ops import Fact
from tests.benchmarks.growth.bodies import loops_in_loops, poolings, register
from tests.benchmarks.growth.edges import fan_in
from tests.benchmarks.growth.layers import parameters, results_of_one
from tests.benchmarks.growth.legacy import parts
from tests.benchmarks.growth.markup import all_wrong
from tests.benchmarks.growth.pieces import Sample, chain
from tests.benchmarks.large_models import write_large
from tests.ir_text import relu


def counted_calls(work: Callable[[], object]) -> int:
    """How many functions are called."""
    count = 0

    def called(frame: FrameType, event: str, what: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    with suppress(SystemExit):
        sys.setprofile(called)
        try:
            work()
        finally:
            sys.setprofile(None)
    return count


def calls(made: Sample, command: list[str], folder: Path) -> int:
    """How many functions a command calls for a file."""
    model = folder / "model.xml"
    model.write_bytes(made.xml)
    if made.weights:
        model.with_suffix(".bin").write_bytes(made.weights)
    with redirect_stdout(StringIO()):
        return counted_calls(lambda: main([command[0], str(model), *command[1:]]))


@pytest.mark.parametrize(
    ("make", "command"),
    [
        (fan_in((1, 9)), ["validate"]),
        (register, ["validate"]),
        (register, ["compat"]),
        (lambda count: loops_in_loops(count // 10)(1), ["validate"]),
        (poolings, ["migrate", "--to", "opset8"]),
        (lambda count: parameters(4 * count), ["migrate", "--for", "openvino-2021.4"]),
        (parts, ["shapes"]),
    ],
    ids=[
        "wrong inputs",
        "a register",
        "releases of a register",
        "loops in loops",
        "bodies to migrate",
        "inputs by name",
        "parts in IR v6",
    ],
)
def test_calls_grow_with_the_file(
    make: Callable[[int], Sample], command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_engine, "MIN_REPEATED", 0)
    if command[0] == "migrate":
        command = [*command, "-o", str(tmp_path / "out.xml")]
    calls(make(20), command, tmp_path)
    few, more, most = (calls(make(count), command, tmp_path) for count in (20, 40, 80))
    assert most - more < 2.7 * (more - few), (few, more, most)


@pytest.mark.parametrize("word", ['name="wrong"', 'type="AvgPool"', 'precision="FP', 'stride="', 'auto_pad="', "<dim>"])
def test_findings_quote_the_begin_of_long_words(word: str) -> None:
    """A thousand findings about one layer with a name of a megabyte would take a gigabyte."""
    opening = word.removesuffix('"') if word.count('"') > 1 else word
    source = all_wrong(3).xml.replace(opening.encode(), opening.encode() + 20_000 * b"w")
    found = ir_tools.validate(source)
    assert found
    assert max(len(str(one)) for one in found) < 3000
    assert max(len(json.dumps(one.as_dict())) for one in found) < 4000


def test_a_body_is_put_in_order_once_however_often_it_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same goes for the signatures of its layers, and for what feeds them."""
    walked, sorted_bodies = Counter[int](), Counter[int]()
    walk, ordered = Propagation.walk, Graph.ordered

    def walking(self: Propagation, graph: Graph, given: Mapping[int, Fact]) -> Tensors:
        walked[id(graph)] += 1
        return walk(self, graph, given)

    def sorting(self: Graph) -> Iterator[Layer]:
        sorted_bodies[id(self)] += 1
        return ordered(self)

    model = ir_tools.read(loops_in_loops(3)(1).xml)
    monkeypatch.setattr(Propagation, "walk", walking)
    monkeypatch.setattr(Graph, "ordered", sorting)
    propagate_shapes(model)
    assert max(walked.values()) > 2
    assert {*sorted_bodies.values()} == {1}


class Compared(int):
    """A number that counts how often such numbers are compared."""

    count = 0
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        """Compare the numbers."""
        Compared.count += 1
        return int(self) == other


def test_no_port_is_looked_for_among_all_when_sizes_are_written() -> None:
    model = ir_tools.read(register(100).xml)
    ports = model.graph.layer(1).inputs + model.graph.layer(1).outputs
    for port in ports:
        port.id, port.dims = Compared(port.id), (1, 7)
    work = Propagation(model)
    work.walk(model.graph, {})
    report = work.report()
    Compared.count = 0
    work.write(report, parameters=False)
    assert {port.dims for port in ports[2:]} != {(1, 7)}
    assert Compared.count <= 2 * len(ports)


def test_results_share_the_names_of_their_tensor(tmp_path: Path) -> None:
    model = tmp_path / "model.xml"
    model.write_bytes(results_of_one(str)(300).xml)
    ends = ir_tools.read(model).outputs
    assert len({id(group) for end in ends for group in end.groups if len(group) > 1}) == 1
    assert [len(end.names) for end in ends] == [302] * 300
    with redirect_stdout(StringIO()) as out, suppress(SystemExit):
        main(["inspect", str(model), "--json"])
    assert {len(end["names"]) for end in json.loads(out.getvalue())["outputs"]} == {102}


class Hashed(str):
    """A name that counts how often such names are looked for."""

    hashes = 0
    __slots__ = ()
    __eq__ = str.__eq__

    def __hash__(self) -> int:
        """Return that of the text."""
        Hashed.hashes += 1
        return str.__hash__(self)


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
def test_names_of_a_chain_that_is_bypassed_are_looked_at_once(backwards: bool) -> None:
    graph = ir_tools.read(chain(map(relu, range(1, 101)), (), 100).xml).graph
    names = [Hashed(f"name{number}") for number in range(101)]
    for number, name in enumerate(names):
        graph.layer(number).outputs[0].names = (name,)
    Hashed.hashes = 0
    for number in sorted(range(1, 101), reverse=backwards):
        [source] = graph.sources(number).values()
        graph.redirect(Source(number, 1), source)
        graph.remove(number)
    assert sorted(graph.layer(0).outputs[0].names) == sorted(names)
    assert Hashed.hashes < 10 * len(names)


def migrating_calls(layers: int, poolings: int, folder: Path) -> int:
    """How many functions are called to migrate and write a model."""
    path = write_large(folder / f"{layers}_{poolings}.xml", layers, poolings=poolings)
    return counted_calls(lambda: ir_tools.write(ir_tools.migrate(path).model, folder / "migrated.xml"))


def test_layers_of_known_texts_are_migrated_with_few_calls(tmp_path: Path) -> None:
    """Type, stamp, extent and plan are those of the text; what is done for each layer is to read, name and write it."""
    migrating_calls(30, 1, tmp_path)
    stays = (migrating_calls(600, 1, tmp_path) - migrating_calls(300, 1, tmp_path)) / 300
    rewritten = (migrating_calls(900, 200, tmp_path) - migrating_calls(900, 100, tmp_path)) / 100
    assert stays < 60
    assert rewritten < 215
