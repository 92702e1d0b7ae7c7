"""Layers of two models belong together: copies whose layers are known are paired rightly, or not at all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.comparison import compare
from ir_tools.comparison._models import output_names, paired_models, renamed
from ir_tools.comparison._structure import ENDS, Side, View
from ir_tools.graph import Model
from ir_tools.ops import role_of
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import ELEMENT_TYPES, element_type
from ir_tools.weights import constant
from tests.comparison import mutations as change
from tests.comparison.networks import looping_network
from tests.conftest import corpus_cases, has_weights
from tests.made.models import model_of

EXACT: dict[str, Sequence[change.Mutation]] = {
    "as-it-is": (),
    "renamed": (change.rename, change.renumber),
    "names-of-others": (change.shuffle_names, change.renumber),
    "repeated-names": (change.repeat_names, change.renumber),
    "swapped-inputs": (change.swap, change.rename, change.renumber),
    "noise": (change.add_noise, change.renumber),
    "noise-renamed": (change.add_noise, change.rename, change.renumber),
    "noise-names-of-others": (change.add_noise, change.shuffle_names, change.renumber),
    "retrained": (change.retrain, change.renumber),
    "inserted": (change.insert, change.renumber),
    "removed": (change.remove, change.renumber),
}
"""Changes after which every layer has its partner."""
CAREFUL: dict[str, Sequence[change.Mutation]] = {
    "inserted-renamed": (change.insert, change.rename, change.renumber),
    "inserted-names-of-others": (change.insert, change.shuffle_names, change.renumber),
    "removed-renamed": (change.remove, change.rename, change.renumber),
    "retrained-renamed": (change.retrain, change.rename, change.renumber),
    "all-but-names": (change.insert_other, change.remove, change.retrain, change.renumber),
    "noise-all": (change.insert_other, change.remove, change.add_noise, change.rename, change.renumber),
    "all": (change.insert_other, change.remove, change.retrain, change.rename, change.renumber),
}
"""Changes after which some layers may have none."""


def blocks(rng: np.random.Generator) -> ov.Model:
    """Blocks with equal weights in a row, two towers that share weights, and branches of one shape side by side."""
    shared = [op.constant(rng.normal(0, 0.4, (4, 4, 3, 3)).astype(np.float32)) for _ in range(3)]
    ends = [op.parameter([1, 4, 8, 8], np.float32, name=name) for name in ("left", "right")]

    def convolution(node: ov.Node, weights: ov.Node) -> ov.Node:
        return op.convolution(node, weights, [1, 1], [1, 1], [1, 1], [1, 1])

    towers = []
    for end in ends:
        node = end
        for weights in (shared[0], shared[1], shared[1], shared[1]):
            node = op.relu(op.add(convolution(node, weights), np.float32(rng.normal())))
        towers.append(node)
    joined = op.add(*towers)
    branches = [op.relu(convolution(joined, shared[2])) for _ in range(2)]
    branches += [op.tanh(convolution(joined, rng.normal(0, 0.4, (4, 4, 3, 3)).astype(np.float32))) for _ in range(2)]
    branches.append(op.multiply(branches[0], branches[2]))
    branches.append(op.avg_pool(joined, [1, 1], [1, 1], [1, 1], [3, 3], True))
    wide = op.concat(branches, 1)
    mean = op.reduce_mean(wide, np.array([2, 3], np.int64), keep_dims=False)
    outputs = [op.result(op.softmax(mean, 1), name="scores"), op.result(op.sigmoid(towers[0]), name="left_out")]
    return ov.Model([*outputs, op.result(op.sigmoid(towers[1]), name="right_out")], ends)


def blocks_model(seed: int, folder: Path) -> Model:
    ov.serialize(blocks(np.random.default_rng(seed)), folder / f"{seed}.xml")
    return ir_tools.read(folder / f"{seed}.xml")


def meanings(*models: Model) -> list[dict[int, int]]:
    """What each layer computes from the inputs, as a number: equal ones compute the same, whichever layers they are."""
    known: dict[object, int] = {}
    found = []
    for model in models:
        numbers: dict[int, int] = {}
        for layer in model.graph.ordered():
            sources = model.graph.sources(layer.id)
            reads = [(numbers[sources[port.id].layer], sources[port.id].port) for port in layer.inputs]
            key: object = (
                layer.type,
                *sorted(layer.raw.items()),
                *(sorted(reads) if layer.type in change.COMMUTATIVE else reads),
            )
            if layer.type == "Const":
                key = layer.raw["shape"], layer.raw["element_type"], constant(layer.raw, model.weights).tobytes()
            elif layer.type == "Parameter":
                key = layer.name
            numbers[layer.id] = known.setdefault(key, len(known))
        found.append(numbers)
    return found


def judged(model: Model, mutations: Sequence[change.Mutation], seed: int) -> Counter[str]:
    """How many layers have the right partner, a wrong one, or none though there is one."""
    rng = np.random.default_rng(seed)
    twin = change.copied(model)
    for mutation in mutations:
        mutation(rng, twin)
    pairs = paired_models(model, twin.model)
    for partners in ([partner.id for partner in pairs.layers.values()], [*pairs.sources.values()]):
        assert len(set(partners)) == len(partners), "a partner belongs to one layer"
    numbers = meanings(model, twin.model)
    found: Counter[str] = Counter()
    for layer in change.inner(model.graph):
        partner = pairs.layers.get(layer.id)
        if layer.type == "Const" or (partner is None and layer.id not in twin.twins):
            continue
        same = partner and (twin.twins.get(layer.id) == partner.id or numbers[0][layer.id] == numbers[1][partner.id])
        found["right" if same else "none" if partner is None else f"wrong: {layer.name} is {partner.name}"] += 1
    return found


def two_constants(shared: bool) -> Model:
    """Two multiplications with equal constants, or with one."""
    builder = ir_tools.Builder()
    numbers = [np.full(3, 2, np.float32) for _ in range(2)]
    constants = [builder.constant(numbers[0])] * 2 if shared else [*map(builder.constant, numbers)]
    for type, factor in zip(("Multiply", "Divide"), constants, strict=True):
        builder.result(builder.call(type, builder.parameter(f"in_{type}", "3"), factor), type)
    return builder.model


def twins(*, swapped: bool) -> Model:
    """Two multiplications by constants, each behind its own ReLU; `swapped`: with other names, in another order."""
    builder = Builder()
    x = builder.parameter("x", "2,3")
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(3, 8)).astype(np.float32) for _ in range(2)]
    if swapped:
        weights = [weight * np.float32(1.001) for weight in reversed(weights)]
    ends = [builder.call("ReLU", builder.call("MatMul", x, builder.constant(weight))) for weight in weights]
    builder.result(builder.call("Add", *ends))
    return builder.model


def test_layers_between_pairs_and_what_commutes_are_found_by_their_neighbours() -> None:
    own, other = twins(swapped=False), twins(swapped=True)
    found = paired_models(own, other).layers
    chains = [
        [[layer.id for layer in model.graph.layers() if layer.type == kind] for kind in ("MatMul", "ReLU")]
        for model in (own, other)
    ]
    for mine, theirs in zip(*chains, strict=True):
        assert [found[layer].id for layer in mine] == theirs[::-1]


@pytest.mark.parametrize("shared", [(False, True), (True, False)], ids=["one-in-the-other", "two-in-the-other"])
def test_a_constant_belongs_to_one_other(shared: tuple[bool, bool]) -> None:
    own, other = map(two_constants, shared)
    pairs = paired_models(own, other)
    constants = [theirs.id for mine, theirs in pairs.layers.items() if own.graph.layer(mine).type == "Const"]
    assert len(constants) == 1


def chain_of(last: str, names: tuple[str, str]) -> Model:
    builder = ir_tools.Builder()
    source = builder.call("ReLU", builder.parameter("x", "3"))
    end = builder.call(last, source)
    builder.result(end, "out")
    for made, name in zip((source, end), names, strict=True):
        layer = builder.graph.layer(made.layer)
        builder.graph.rename(layer.id, f"{layer.type} {name}")
        layer.port(made.port).names = (name,)
    return builder.model


def test_a_tensor_whose_partner_is_known_gets_no_other_by_its_name() -> None:
    own, other = chain_of("Sigmoid", ("a", "b")), chain_of("Tanh", ("b", "c"))
    pairs = paired_models(own, other)
    assert len(set(pairs.sources.values())) == len(pairs.sources)
    assert {own.graph.layer(mine.layer).type for mine in pairs.sources} == {"Parameter", "ReLU"}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("seed", range(3))
def test_every_layer_has_its_partner(name: str, seed: int, tmp_path: Path) -> None:
    assert set(judged(blocks_model(seed, tmp_path), EXACT[name], seed)) == {"right"}


@pytest.mark.parametrize("name", CAREFUL)
@pytest.mark.parametrize("seed", range(6))
def test_no_layer_has_a_wrong_partner(name: str, seed: int, tmp_path: Path) -> None:
    found = judged(blocks_model(seed, tmp_path), CAREFUL[name], seed)
    assert set(found) <= {"right", "none"}
    assert found["right"]


def is_of_one_graph(path: Path) -> bool:
    """Whether all weights of a model, which are changed here, are in its main graph."""
    return has_weights(path) and b"<port_map>" not in path.read_bytes()


@pytest.mark.sweep
@pytest.mark.parametrize("path", corpus_cases(fits=is_of_one_graph))
def test_networks_of_the_corpus(path: Path) -> None:
    model = ir_tools.read(path)
    for seed in range(3):
        for name, mutations in {**EXACT, **CAREFUL}.items():
            found = judged(model, mutations, seed)
            assert set(found) <= {"right", "none"}, name
            assert found["none"] <= 0.02 * found["right"] or "retrained" in name or name == "all", name


def test_saved_by_openvino(tmp_path: Path) -> None:
    """Layers keep their names then; taking part in no decision, these are the oracle."""
    made = blocks(np.random.default_rng(1))
    ov.serialize(made, tmp_path / "one.xml")
    ov.save_model(made, tmp_path / "two.xml", compress_to_fp16=True)
    one, two = ir_tools.read(tmp_path / "one.xml"), ir_tools.read(tmp_path / "two.xml")
    names = {layer.id: layer.name for layer in two.graph.layers()}
    hidden = change.copied(two)
    change.rename(np.random.default_rng(0), hidden)
    pairs = paired_models(one, hidden.model)
    computed = [layer for layer in change.inner(one.graph) if layer.type != "Const"]
    assert [names[pairs.layers[layer.id].id] for layer in computed] == [layer.name for layer in computed]


def test_inputs_and_outputs_without_a_shared_name(tmp_path: Path) -> None:
    """Inputs are told apart by type and shape, outputs by what makes them."""

    def model(path: Path, names: Sequence[str], turn: int) -> Model:
        ends = [
            op.parameter(shape, kind) for shape, kind in (([2, 3], np.float32), ([4], np.float32), ([2, 3], np.int32))
        ]
        results = [op.relu(ends[0]), op.tanh(ends[1]), op.negative(ends[2])]
        for name, end in zip(names, ends, strict=True):
            end.set_friendly_name(name)
        order = [(place + turn) % 3 for place in range(3)]
        ov.serialize(ov.Model([results[place] for place in order], [ends[place] for place in order]), path)
        return ir_tools.read(path)

    one, two = model(tmp_path / "one.xml", "abc", 0), model(tmp_path / "two.xml", "xyz", 1)
    pairs = paired_models(one, two)
    types = {layer.type: pairs.layers[layer.id].type for layer in change.inner(one.graph)}
    assert types == {kind: kind for kind in ("ReLU", "Tanh", "Negative")}
    names = output_names(one, two, pairs)
    assert [made_by(one, name) for name in names] == [made_by(two, name) for name in names.values()]


def made_by(model: Model, output: str) -> str:
    end = next(end for end in model.outputs if end.name == output)
    return model.graph.layer(next(iter(model.graph.sources(end.layer.id).values())).layer).type


def repeated(path: Path) -> Model:
    """Tensor names as in files of Open Model Zoo: a convolution, its bias and its activation have one."""
    rng = np.random.default_rng(0)
    data = op.parameter([1, 4, 8, 8], np.float32, name="data")
    node: ov.Node = data
    for number in range(3):
        weights = rng.normal(0, 0.4, (4, 4, 3, 3)).astype(np.float32)
        node = op.convolution(node, weights, [1, 1], [1, 1], [1, 1], [1, 1], name=f"conv{number}/WithoutBiases")
        node = op.relu(op.add(node, np.float32(rng.normal()), name=f"conv{number}"), name=f"relu{number}")
    ov.serialize(ov.Model([node], [data]), path)
    model = ir_tools.read(path)
    for layer in change.inner(model.graph):
        for port in layer.outputs:
            port.names = (f"conv{layer.name[4]}",) if layer.type in {"Convolution", "Add", "ReLU"} else ()
    return model


def test_repeated_tensor_names(tmp_path: Path, client: RuntimeClient) -> None:
    """The last layer of a name was taken."""
    model = repeated(tmp_path / "model.xml")
    found = compare(model, model.copy(), client=client)
    assert found.ok
    assert found.needed == 0.0
    assert [entry.counterpart for entry in found.layers] == [entry.path for entry in found.layers]
    assert [entry.counterpart for entry in found.outputs] == [entry.name for entry in found.outputs]


def test_layers_in_bodies_name_their_counterparts(tmp_path: Path, client: RuntimeClient) -> None:
    """Parameters of bodies belong together by the ports that they stand for, here without any name."""
    path = looping_network(tmp_path / "looping.xml")
    model, other = ir_tools.read(path), ir_tools.read(path)
    for located in other.walk():
        if located.layer.type not in {"Result"} and located.layer.name not in {"data", "flag"}:
            located.layer.tag["name"] = f"other{located.layer.id}"
    found = compare(model, other, {"flag": np.array(True)}, client=client)
    assert found.ok
    compared = {entry.path: entry.counterpart for entry in found.layers if entry.status != "skipped"}
    layers = {path: layer.id for path, layer, _ in model.walk()}
    twins = {path: layer.id for path, layer, _ in other.walk()}
    assert {path: twins[partner or ""] for path, partner in compared.items()} == {
        path: layers[path] for path in compared
    }
    assert any(path.startswith("Loop_1/body/") for path in compared)


def changed_constants(model: Model) -> Iterator[Model]:
    """Copies with one constant of other bytes, another shape of as many elements, or another type of that size."""
    for layer in [layer for layer in model.graph.layers() if layer.type == "Const"]:
        twin, kind = model.copy(), element_type(layer.raw["element_type"])
        others = (each.name for each in ELEMENT_TYPES.values() if each.bits == kind.bits and each != kind)
        place = twin.weights.append(bytes(byte ^ 1 for byte in constant(layer.raw, model.weights).tobytes()))
        for raw in (
            dict(zip(("offset", "size"), map(str, place), strict=True)),
            {"shape": f"1,{layer.raw['shape']}".strip(",")},
            {"element_type": next(others, kind.name)},
        ):
            again = twin.copy()
            again.graph.layer(layer.id).raw.update(raw)
            yield again


@pytest.mark.parametrize("seeds", [15, pytest.param(40, marks=pytest.mark.sweep)])
def test_layers_are_alike_if_they_compute_the_same(seeds: int) -> None:
    """`meanings` works it out in another way: with whole constants, and without digests."""
    compared = Counter[bool]()
    for seed in range(seeds):
        model = model_of(seed)
        ends = {layer.id: number for number, layer in enumerate(model.graph.layers()) if role_of(layer) in ENDS}
        for twin in (model, *changed_constants(model)):
            numbers = meanings(model, twin)
            digests = [View(Side(one, one.graph), ends).digest(0, "down") for one in (model, twin)]
            for layer in model.graph.layers():
                if layer.id in digests[0] and role_of(layer) not in ENDS and not layer.bodies:
                    same = numbers[0][layer.id] == numbers[1][layer.id]
                    assert (digests[0][layer.id] == digests[1][layer.id]) is same, (seed, layer)
                    compared[same] += 1
    assert min(compared[True], compared[False]) > 50


def inputs_called(rng: np.random.Generator, count: int) -> Model:
    builder = ir_tools.Builder()
    for number in rng.permutation(12)[:count]:
        source = builder.parameter(f"in{number}", "3")
        for more in rng.integers(12, size=2):
            builder.graph.layer(source.layer).add_tensor_name(source.port, f"in{more}")
    return builder.model


def test_inputs_are_paired_by_their_first_names_then_by_any_then_in_order() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        model, other = inputs_called(rng, 8), inputs_called(rng, 8)
        own, theirs, expected = [*model.inputs], [*other.inputs], {}
        for first in (True, False):
            for one in [*own]:
                shared = (two for two in theirs if (one.name == two.name if first else {*one.names} & {*two.names}))
                if two := next(shared, None):
                    expected[two.name] = one.name
                    own.remove(one)
                    theirs.remove(two)
        expected |= {two.name: one.name for one, two in zip(own, theirs, strict=True)}
        fed = {end.name: np.full(3, number, np.float32) for number, end in enumerate(model.inputs)}
        found = renamed(model, other, fed)
        assert {name: found[name][0] for name in found} == {two: fed[one][0] for two, one in expected.items()}
