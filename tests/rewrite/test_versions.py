"""Layers in the versions of other opsets compute the same on the runtime, too: random settings, and named edges."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.execute import run
from ir_tools.graph import Model
from ir_tools.ops import Array, Op, find_op
from ir_tools.ops.definition import ObservedAttrs, Refused, Rewrite
from ir_tools.rewrite.rewriter import Rewriter
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim, from_dtype
from tests.ops import gathering_makers, layout_makers, padding_makers, slicing_makers
from tests.ops.around import ONE_THREAD, clients
from tests.ops.kernel_settings import Setting
from tests.ops.layer_support import Call

client = pytest.fixture(scope="module")(clients)
Maker = Callable[[np.random.Generator], Call | Setting]
MAKERS: Sequence[Maker] = (
    gathering_makers.gather_calls,
    gathering_makers.gather_nd_calls,
    gathering_makers.one_hot_calls,
    gathering_makers.element_update_calls,
    gathering_makers.update_nd_calls,
    layout_makers.squeeze_calls,
    layout_makers.roll_calls,
    padding_makers.pad_calls,
    padding_makers.broadcast_calls,
    slicing_makers.slice_calls,
    slicing_makers.slice_scatter_calls,
)
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-5}
"""Of the largest magnitude: a reduction is rounded once, and a few layers after each of them."""


class Layer(NamedTuple):
    """A layer in a model of its own, what feeds it, and its rewrite."""

    op: Op
    builder: Builder
    inputs: dict[str, Array]
    rewrite: Rewrite | Refused | None

    def rewritten(self) -> Model:
        """The model with the rewrite in place of the layer."""
        assert isinstance(self.rewrite, Rewrite)
        model = self.builder.model.copy()
        place = next(layer for layer in model.graph.layers() if layer.name == "op")
        Rewriter(model).apply(model.graph, place, self.op, self.rewrite)
        return model


def layer_of(call: Call | Setting, rng: np.random.Generator, target: int) -> Layer:
    """A random call as a layer, some sizes of its inputs not known."""
    builder, sources, inputs = Builder(opset=target), [], {}
    constants = call.constants if isinstance(call, Call) else call.constant
    for index, array in enumerate(call.arrays):
        if index in constants:
            sources.append(builder.constant(array))
            continue
        share = 0.5 if rng.random() < 0.3 else 0.0
        dims = [Dim() if rng.random() < share else Dim.of(size) for size in array.shape]
        shape = None if rng.random() < share / 4 else dims
        sources.append(builder.parameter(f"in{index}", shape, from_dtype(array.dtype)))
        inputs[f"in{index}"] = array
    attrs = call.op.read(call.raw, [])
    assert attrs is not None
    assert call.op.migrate is not None
    facts = [builder.fact(source) for source in sources]
    observed = ObservedAttrs(attrs)
    try:
        call.op.outputs_of(attrs, facts)
        rewrite = call.op.migrate(observed, facts, target)
    except ShapeError as why:
        rewrite = Refused(str(why))
    if isinstance(rewrite, Rewrite):
        lost = call.op.not_carried_over(observed)
        rewrite = Refused("is lost", lost) if lost else rewrite
    made = builder.unchecked(call.op, call.raw, sources, "op")
    kept = len(rewrite.layers[-1].outputs) if isinstance(rewrite, Rewrite) else len(made)
    for number, output in enumerate(made[:kept]):
        builder.result(output, f"out{number}")
    return Layer(call.op, builder, inputs, rewrite)


def random_layers(make: Maker, rng: np.random.Generator, count: int) -> Iterator[Layer]:
    """Random layers of a maker, each for a random opset that holds another version of it, or none."""
    for _ in range(count):
        call = make(rng)
        others = [opset for opset in range(1, 17) if find_op(call.op.type, f"opset{opset}") is not call.op]
        yield layer_of(call, rng, int(rng.choice(others)))


def difference(before: dict[str, Array], after: dict[str, Array]) -> str | None:
    """How outputs differ, or None."""
    for (name, old), new in zip(before.items(), after.values(), strict=True):
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            return f"{name}: {old.dtype}{old.shape} became {new.dtype}{new.shape}"
        left, right = old.astype(np.float64), new.astype(np.float64)
        atol = TOLERANCE.get(old.dtype.name, 0.0) * np.abs(left[np.isfinite(left)]).max(initial=0)
        if not np.allclose(left, right, rtol=0, atol=atol, equal_nan=True):
            return f"{name}: {left.ravel()[:12]} became {right.ravel()[:12]}"
    return None


def described(layer: Layer) -> str:
    """What to look at when it fails."""
    assert isinstance(layer.rewrite, Rewrite)
    inner = next(one for one in layer.builder.model.graph.layers() if one.name == "op")
    shapes = [f"{array.dtype}{array.shape}" for array in layer.inputs.values()]
    kinds = [f"{new.type}-{new.opset}{dict(new.raw)}" for new in layer.rewrite.layers]
    return f"{layer.op} {inner.raw} {shapes} -> {kinds}"


def check_layers(layers: Iterator[Layer], client: RuntimeClient | None) -> int:
    """Assert that all layers compute the same when rewritten; how many were."""
    count = 0
    for layer in layers:
        if not isinstance(layer.rewrite, Rewrite):
            continue
        count += 1
        after = layer.rewritten()
        with np.errstate(all="ignore"):
            wanted = run(layer.builder.model, layer.inputs)
            problem = difference(wanted, run(after, layer.inputs))
        assert problem is None, f"{described(layer)}\n{problem}"
        if client is not None:
            try:
                old = client.infer_model(layer.builder.model, layer.inputs, config=ONE_THREAD).outputs
            except RuntimeFailure:
                continue
            new = client.infer_model(after, layer.inputs, config=ONE_THREAD).outputs
            problem = difference(dict(old), dict(new))
            assert problem is None, f"{described(layer)}\n{problem}"
    return count


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_rewritten_layers_compute_the_same(make: Maker, client: RuntimeClient) -> None:
    assert check_layers(random_layers(make, np.random.default_rng(1), 12), client)


@pytest.mark.sweep
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_many_rewritten_layers_compute_the_same(make: Maker, client: RuntimeClient) -> None:
    rng = np.random.default_rng(2)
    check_layers(random_layers(make, rng, 1000), None)
    check_layers(random_layers(make, rng, 200), client)


def rewritten(
    name: str, target: int, attributes: dict[str, str], *arrays: Array, constant: Sequence[int] = ()
) -> Layer:
    """A layer of `Gather-8` and the like on these arrays, with its rewrite."""
    type, _, version = name.rpartition("-")
    op = find_op(type, f"opset{version}")
    assert op is not None
    return layer_of(Call(op, arrays, attributes, constants=tuple(constant)), np.random.default_rng(0), target)


def refusal(layer: Layer) -> str:
    """Why it was refused, with the attribute."""
    assert isinstance(layer.rewrite, Refused), layer.rewrite
    return f"{layer.rewrite.attribute}: {layer.rewrite.reason}"
