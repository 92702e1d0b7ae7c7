"""Operations with bodies: TensorIterator, Loop, If; the inputs and outputs of their bodies.

The rules are those of OpenVINO's core (tensor_iterator.cpp, loop.cpp, if.cpp). A body is run through a callback, so
this module does not depend on how a graph is walked.

Specification: `infrastructure/`, `condition/`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._values import normal_axis, with_size
from ir_tools.ops._versions import no_step
from ir_tools.ops.bodies import Bodies, BodyFacts, BodyRun, Execute, Maps, PortMap, PortMapRow, part_count
from ir_tools.ops.definition import Array, Fact, Input, Op, Output, Violation, ViolationKind
from ir_tools.ops.fields import Attrs
from ir_tools.ops.limits import MAX_ITERATIONS
from ir_tools.types import Dim, Shape, element_type, is_static, shape_text

__all__ = ["OPS"]

OWN_TYPE = element_type("dynamic")
"""Of a Parameter that gets a shape and keeps the element type of its attributes."""


# --- shapes -------------------------------------------------------------------------------------------------------


def tensor_iterator_shape(maps: Maps, inputs: Mapping[int, Fact], run: BodyRun) -> dict[int, Fact]:
    """Run the body once on slices; joined outputs are as long as the slices are many.

    Raises:
        ShapeError: a slice or an output names an axis that is not there, or parts of size 0.
    """
    ports = maps["body"]
    given: dict[int, Fact] = {}
    count: int | None = None
    for row in ports.inputs:
        if row.port < 0:
            continue
        fact = inputs[row.port]
        shape = fact.shape
        if row.axis is not None and shape is not None:
            cut = _with_axis(shape, row.axis, Dim.of(row.part_size))
            if shape[row.axis].static:
                count = _parts(row, shape[row.axis].size)
            shape = cut
        given[row.layer] = Fact(OWN_TYPE, shape)
    results = run("body", given).results
    if count is None and all(row.axis is None for row in ports.inputs):
        count = _joined_parts(ports)
    return {
        row.port: _joined(results[row.layer], row, None if count is None else count * row.part_size)
        for row in ports.outputs
        if row.port >= 0
    }


def _parts(row: PortMapRow, size: int) -> int:
    return part_count(row.start, row.end, _part_size(row), size)


def _joined_parts(ports: PortMap) -> int | None:
    """Return how many parts the first joined output says that there are; None if no output is joined."""
    joined = next((row for row in ports.outputs if row.axis is not None), None)
    return None if joined is None else abs(joined.end - joined.start) // _part_size(joined)


def _part_size(row: PortMapRow) -> int:
    if row.part_size == 0:
        raise ShapeError("is 0, with which the runtime crashes; expected at least 1", attribute="part_size")
    return row.part_size


def _with_axis(shape: tuple[Dim, ...], axis: int, dim: Dim) -> tuple[Dim, ...]:
    return with_size(shape, normal_axis(axis, len(shape)), dim)


def _joined(fact: Fact, row: PortMapRow, size: int | None) -> Fact:
    """Return the output of a body, joined along the axis of the row if it has one."""
    if row.axis is None:
        return Fact(fact.dtype, fact.shape)
    if fact.shape is None:
        return Fact(fact.dtype, None)
    dim = Dim() if size is None else Dim.of(size)
    return Fact(fact.dtype, _with_axis(fact.shape or (Dim(),), row.axis, dim))


def loop_shape(maps: Maps, inputs: Mapping[int, Fact], run: BodyRun) -> dict[int, Fact]:
    """Run the body until the shapes of its back edges settle; a joined output has one part per iteration.

    Raises:
        ShapeError: an axis does not exist, or a condition or trip count is not a single value.
    """
    ports = maps["body"]
    given = {row.layer: _loop_input(row, inputs[row.port]) for row in ports.inputs if row.port >= 0}
    facts = run("body", given)
    iterations = _iterations(ports, inputs, facts)
    facts = _settled(ports, given, facts, run, iterations)
    never = _single(inputs[1]) == 0
    out = {}
    for row in ports.outputs:
        if row.port < 0:
            continue
        fact = facts.results[row.layer]
        if row.axis is None:
            out[row.port] = _without_iteration(fact) if never else Fact(fact.dtype, fact.shape)
        elif never:
            out[row.port] = Fact(fact.dtype, (Dim.of(0),))
        else:
            out[row.port] = _joined(fact, row, _total(fact.shape, row.axis, iterations))
    return out


def _loop_input(row: PortMapRow, fact: Fact) -> Fact:
    shape = fact.shape
    if row.axis is not None and shape is not None:
        shape = _with_axis(shape, row.axis, Dim.of(row.part_size))
    return Fact(fact.dtype, shape)


def _without_iteration(fact: Fact) -> Fact:
    if not is_static(fact.shape):
        return Fact(fact.dtype, fact.shape)
    if not fact.shape:
        raise ShapeError("the loop has 0 iterations, and one of its outputs is a scalar, which cannot be empty")
    return Fact(fact.dtype, (Dim.of(0), *fact.shape[1:]))


def _total(shape: Shape, axis: int, iterations: int | None) -> int | None:
    if not shape:
        return iterations
    size = shape[normal_axis(axis, len(shape))]
    return size.size * iterations if iterations is not None and size.static else None


def _single(fact: Fact) -> int | None:
    """Return the one number of a known tensor."""
    known = fact.integers()
    if known is None:
        return None
    if len(known) != 1:
        raise ShapeError(f"the trip count or condition has {len(known)} values; expected one")
    return known[0]


def _iterations(ports: PortMap, inputs: Mapping[int, Fact], facts: BodyFacts) -> int | None:
    """Return the number of iterations if it is certain: for a constant condition and a constant trip count."""
    row = ports.purpose("execution_condition")
    if row is None:
        raise ShapeError("no output of the body is its execution_condition")
    condition = _single(facts.results[row.layer])
    if condition is None and row.layer in facts.passed:
        source = next((r for r in ports.inputs if r.layer == facts.passed[row.layer] and r.port >= 0), None)
        condition = None if source is None else _single(inputs[source.port])
    count = _single(inputs[0])
    if condition is None:
        return None
    if condition == 0:
        return 1
    return None if count is None or count == -1 else count


def _settled(
    ports: PortMap, given: dict[int, Fact], facts: BodyFacts, run: BodyRun, iterations: int | None
) -> BodyFacts:
    """Widen the Parameters that back edges feed until the body's results fit them."""
    fed = {result: parameter for parameter, result in ports.back_edges.items()}
    for _ in range(MAX_ITERATIONS if iterations is None else min(iterations, MAX_ITERATIONS)):
        changed = False
        for row in ports.outputs:
            if row.axis is not None or row.port < 0 or row.layer not in fed:
                continue
            parameter = fed[row.layer]
            wider = _wider(facts.results[row.layer].shape, given[parameter].shape)
            if wider is not given[parameter].shape:
                given[parameter] = replace(given[parameter], shape=wider)
                changed = True
        if not changed:
            break
        facts = run("body", given)
    return facts


def _wider(result: Shape, parameter: Shape) -> Shape:
    """Return the Parameter's shape, or a wider one if the result does not fit it."""
    if parameter is None:
        return None
    if result is None or len(result) != len(parameter):
        return None
    if all(a.within(b) for a, b in zip(result, parameter, strict=True)):
        return parameter
    return tuple(b if a.within(b) else Dim() for a, b in zip(result, parameter, strict=True))


def if_shape(maps: Maps, inputs: Mapping[int, Fact], run: BodyRun) -> dict[int, Fact]:
    """Run the branches. A known condition chooses one; otherwise the shapes of both are merged.

    Raises:
        ShapeError: the branches have different element types, or one lacks an output.
    """
    condition = _single(inputs[min(inputs)])
    if condition is not None:
        chosen = "then_body" if condition else "else_body"
        run("else_body" if condition else "then_body", {})
        return _branch(maps[chosen], inputs, run, chosen)
    then, other = (_branch(maps[body], inputs, run, body) for body in ("then_body", "else_body"))
    if set(then) != set(other):
        raise ShapeError(f"only one branch has output {sorted(set(then) ^ set(other))[0]}")
    return {port: _either(fact, other[port]) for port, fact in then.items()}


def _branch(ports: PortMap, inputs: Mapping[int, Fact], run: BodyRun, body: str) -> dict[int, Fact]:
    given = {row.layer: Fact(inputs[row.port].dtype, inputs[row.port].shape) for row in ports.inputs if row.port >= 0}
    facts = run(body, given).results
    return {row.port: Fact(facts[row.layer].dtype, facts[row.layer].shape) for row in ports.outputs if row.port >= 0}


def _either(then: Fact, other: Fact) -> Fact:
    if then.dtype != other.dtype and "dynamic" not in {then.dtype.kind, other.dtype.kind}:
        raise ShapeError(f"the branches have output element types {then.dtype} and {other.dtype}")
    dtype = other.dtype if then.dtype.kind == "dynamic" else then.dtype
    if then.shape is None or other.shape is None:
        return Fact(dtype, None)
    if len(then.shape) != len(other.shape):
        longer = max(then.shape, other.shape, key=len)
        return Fact(dtype, None if len(longer) > 1 else longer if longer == (Dim.of(1),) else (Dim(),))
    return Fact(dtype, tuple(_either_dim(a, b) for a, b in zip(then.shape, other.shape, strict=True)))


def _either_dim(then: Dim, other: Dim) -> Dim:
    return then.join(other) if then.static and other.static else Dim()


# --- kernels ------------------------------------------------------------------------------------------------------


def _slice(row: PortMapRow, array: Array, index: int, start: int) -> Array:
    """Return part `index` of an input, counted from `start` in the direction of the stride.

    Raises:
        ShapeError: the input has no such part.
    """
    assert row.axis is not None
    size = array.shape[row.axis]
    start += size if start < 0 else 0
    first = start + index * row.part_size if row.stride > 0 else start - (index + 1) * row.part_size + 1
    if not 0 <= first <= size - row.part_size:
        raise ShapeError(
            f"iteration {index} reads {row.part_size} elements from {first} on, but axis {row.axis} has {size} elements"
        )
    return np.take(array, np.arange(first, first + row.part_size), axis=row.axis)


def tensor_iterator(maps: Maps, inputs: Mapping[int, Array], execute: Execute) -> dict[int, Array]:
    """Run the body once per slice."""
    ports = maps["body"]
    counts = [_parts(row, inputs[row.port].shape[row.axis]) for row in ports.inputs if row.axis is not None]
    joined = None if counts else _joined_parts(ports)
    iterations = counts[-1] if counts else 1 if joined is None else joined
    return _iterate(ports, inputs, execute, iterations)


def loop(maps: Maps, inputs: Mapping[int, Array], execute: Execute) -> dict[int, Array]:
    """Run the body while its condition holds, at most as often as the trip count; -1 means no limit."""
    first, second = sorted(inputs)[:2]
    iterations = int(inputs[first].ravel()[0])
    if not bool(inputs[second].ravel()[0]):
        iterations = 0
    # A Loop reads no start: it takes the next part each iteration.
    return _iterate(_from_the_edge(maps["body"]), inputs, execute, iterations)


def _from_the_edge(ports: PortMap) -> PortMap:
    """Return the port map with inputs that are cut from the edge of their axis on."""
    return replace(ports, inputs=tuple(replace(row, start=0 if row.stride > 0 else -1) for row in ports.inputs))


def _iterate(ports: PortMap, inputs: Mapping[int, Array], execute: Execute, iterations: int) -> dict[int, Array]:
    condition = ports.purpose("execution_condition")
    state = {row.layer: inputs[row.port] for row in ports.inputs if row.port >= 0 and row.axis is None}
    parts: dict[int, list[Array]] = {row.port: [] for row in ports.outputs if row.axis is not None}
    if iterations == 0:
        return _without_iterations(ports, inputs, execute, state)
    results: dict[int, Array] = {}
    index = 0
    while iterations < 0 or index < iterations:
        results = execute("body", _given(ports, inputs, state, index))
        for row in ports.outputs:
            if row.axis is not None:
                parts[row.port].append(results[row.layer])
        state |= {parameter: results[result] for parameter, result in ports.back_edges.items()}
        index += 1
        if condition is not None and not bool(results[condition.layer].ravel()[0]):
            break
    return {row.port: _collected(row, parts, results) for row in ports.outputs if row.port >= 0}


def _given(ports: PortMap, inputs: Mapping[int, Array], state: Mapping[int, Array], index: int) -> dict[int, Array]:
    """Return what the Parameters of the body get in one iteration."""
    given = dict(state)
    for row in ports.inputs:
        if row.axis is not None:
            given[row.layer] = _slice(row, inputs[row.port], index, row.start)
        elif row.purpose == "current_iteration":
            given[row.layer] = np.array(index, dtype=np.int64)
    return given


def _without_iterations(
    ports: PortMap, inputs: Mapping[int, Array], execute: Execute, state: Mapping[int, Array]
) -> dict[int, Array]:
    """Return the outputs of a body that never runs: initial values of back edges, and empty tensors.

    An iteration on zeros determines the shapes of the empty tensors.
    """
    zeros = {row.port: inputs[row.port] for row in ports.inputs if row.port >= 0}
    for row in ports.inputs:
        if row.axis is not None:
            sizes = list(inputs[row.port].shape)
            sizes[row.axis] = row.part_size
            zeros[row.port] = np.zeros(sizes, inputs[row.port].dtype)
    results = execute("body", _given(_from_the_edge(ports), zeros, state, 0))
    initial = {result: state[parameter] for parameter, result in ports.back_edges.items()}
    out = {}
    for row in ports.outputs:
        if row.port >= 0 and row.axis is None:
            out[row.port] = initial.get(row.layer, np.zeros_like(results[row.layer]))
        elif row.port >= 0:
            out[row.port] = np.atleast_1d(results[row.layer]).take([], axis=row.axis)
    return out


def _collected(row: PortMapRow, parts: Mapping[int, Sequence[Array]], results: Mapping[int, Array]) -> Array:
    if row.axis is None:
        return results[row.layer]
    pieces = [part.reshape(1) if part.ndim == 0 else part for part in parts[row.port]]
    return np.concatenate(pieces if row.stride > 0 else pieces[::-1], axis=row.axis)


def if_(maps: Maps, inputs: Mapping[int, Array], execute: Execute) -> dict[int, Array]:
    """Run one branch."""
    body = "then_body" if bool(inputs[min(inputs)].ravel()[0]) else "else_body"
    ports = maps[body]
    results = execute(body, {row.layer: inputs[row.port] for row in ports.inputs if row.port >= 0})
    return {row.port: results[row.layer] for row in ports.outputs if row.port >= 0}


# --- the operations -----------------------------------------------------------------------------------------------


def check_loop(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that the number of iterations and the first condition are single values."""
    for name, fact in zip(("trip_count", "execution_condition"), inputs, strict=False):
        yield from _several(name, fact, ViolationKind.CONTRADICTION)


def check_if(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that the condition is a single value; the runtime looks at the first of several in a list."""
    yield from _several("condition", inputs[0], ViolationKind.SUSPECT)


def _several(name: str, fact: Fact, kind: ViolationKind) -> Iterator[Violation]:
    """Check for more dimensions than one, or another number of values; `kind` is for a list of several."""
    if not fact.shape:
        return
    message = f"has shape {shape_text(fact.shape)}; expected a single value"
    if len(fact.shape) > 1:
        yield Violation(name, message)
    elif 1 not in fact.shape[0]:
        yield Violation(name, message, None, ViolationKind.CONTRADICTION if fact.shape[0] == Dim.of(0) else kind)


INPUTS = Input("inputs", optional=True, many=True)
OUTPUTS = (Output("outputs", many=True),)

OPS = (
    Op(
        type="TensorIterator",
        version=1,
        strings=True,
        inputs=(INPUTS,),
        outputs=OUTPUTS,
        bodies=Bodies(shape=tensor_iterator_shape, kernel=tensor_iterator, own_types=True),
    ),
    Op(
        type="Loop",
        version=5,
        migrate=no_step(5, "TensorIterator, the loop of older opsets, has no condition and no iteration number"),
        strings=True,
        inputs=(
            Input("trip_count", type="i64 i32 i16 u64 u32 u16"),
            Input("execution_condition", type="boolean u8"),
            INPUTS,
        ),
        outputs=OUTPUTS,
        check=check_loop,
        bodies=Bodies(shape=loop_shape, kernel=loop),
    ),
    Op(
        type="If",
        version=8,
        migrate=no_step(8, "no older operation runs one of two bodies"),
        strings=True,
        inputs=(Input("condition", type="boolean u8"), INPUTS),
        outputs=OUTPUTS,
        check=check_if,
        bodies=Bodies(shape=if_shape, kernel=if_),
    ),
)
