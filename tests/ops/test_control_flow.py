"""TensorIterator, Loop and If against the installed runtime: shapes of all layers, bodies included, and values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

from ir_tools.diagnostics import Severity
from ir_tools.errors import ShapeError
from ir_tools.execute import run
from ir_tools.format.read import read
from ir_tools.infer import propagate_shapes
from ir_tools.ops import Array, Attrs, Fact, control_flow, find_op
from ir_tools.ops.bodies import PortMapRow
from ir_tools.ops.checks import check_types
from ir_tools.ops.control_flow import _slice
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import ELEMENT_TYPES, Shape, element_type, parse_shape
from ir_tools.validation import validate
from tests.outcomes import works

CORE = ov.Core()
Key = tuple[str, int]
WHOLE = 'start="0" end="-1" stride="1" part_size="1"'
"""Cuts or joins one by one, from the beginning to the end."""


@dataclass
class Text:
    """IR text in the making; constants collect in `blob`, shared by bodies."""

    blob: bytearray
    layers: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)

    def layer(
        self, type: str, version: int, raw: str, sources: Sequence[tuple[int, int]], out: str | None, **more: str
    ) -> int:
        number = len(self.layers)
        inputs = "".join(f'<port id="{index}" precision="FP32"/>' for index in range(len(sources)))
        kinds = out.split() if out else []
        outputs = "".join(
            f'<port id="{len(sources) + index}" precision="{ELEMENT_TYPES[kind].precision}"/>'
            for index, kind in enumerate(kinds)
        )
        body = more.get("body", "")
        self.layers.append(
            f'<layer id="{number}" name="{type}_{number}" type="{type}" version="opset{version}">'
            f"<data {raw}/>{more.get('mapping', '')}<input>{inputs}</input><output>{outputs}</output>{body}</layer>"
        )
        for index, (source, port) in enumerate(sources):
            self.edges.append(f'<edge from-layer="{source}" from-port="{port}" to-layer="{number}" to-port="{index}"/>')
        return number

    def parameter(self, kind: str, shape: str) -> int:
        return self.layer("Parameter", 1, f'element_type="{kind}" shape="{shape}"', [], kind)

    def constant(self, values: Array) -> int:
        kind = next(kind.name for kind in ELEMENT_TYPES.values() if kind.dtype == values.dtype)
        shape = ",".join(map(str, values.shape))
        raw = f'element_type="{kind}" shape="{shape}" offset="{len(self.blob)}" size="{values.nbytes}"'
        self.blob += values.tobytes()
        return self.layer("Const", 1, raw, [], kind)

    def result(self, source: int, port: int) -> int:
        return self.layer("Result", 1, "", [(source, port)], None)

    def inner(self, tag: str) -> str:
        return f"<{tag}><layers>{''.join(self.layers)}</layers><edges>{''.join(self.edges)}</edges></{tag}>"

    def model(self) -> bytes:
        body = f"<layers>{''.join(self.layers)}</layers><edges>{''.join(self.edges)}</edges>"
        return f'<?xml version="1.0"?><net name="m" version="11">{body}</net>'.encode()


def runtime_shapes(text: bytes, blob: bytes) -> dict[Key, tuple[str, Shape]]:
    return dict(_walk(CORE.read_model(text, blob)))


def _walk(model: ov.Model, prefix: str = "") -> Any:
    for op in model.get_ops():
        path = prefix + op.get_friendly_name()
        if op.get_type_name() == "Result":
            continue
        for index, out in enumerate(op.outputs()):
            yield (path, index), (out.get_element_type().get_type_name(), parse_shape(str(out.get_partial_shape())))
        if op.get_type_name() in {"Loop", "TensorIterator"}:
            yield from _walk(op.get_function(), f"{path}/body/")
        elif op.get_type_name() == "If":
            yield from _walk(op.get_function(0), f"{path}/then_body/")
            yield from _walk(op.get_function(1), f"{path}/else_body/")


def assert_shapes(text: bytes, blob: bytes) -> bool:
    """Propagation and runtime agree; whether they took the model."""
    try:
        wanted = runtime_shapes(text, blob)
    except RuntimeError:
        with pytest.raises(ShapeError):
            propagate_shapes(read(text, blob))
        return False
    model = read(text, blob)
    report = propagate_shapes(model)
    found = {}
    for path, layer, _ in model.walk():
        for index, port in enumerate(layer.outputs):
            fact = report.facts[path, port.id]
            found[path, index] = (str(fact.dtype), fact.shape)
    assert {key: found[key] for key in wanted} == wanted
    return True


# --- Loop -------------------------------------------------------------------------------------------------------


def loop_model(rng: np.random.Generator) -> tuple[bytes, bytes]:
    """A sliced input, a state with a back edge that may grow, an invariant; joined and last outputs."""
    blob = bytearray()
    outer = Text(blob)
    state_shape = str(rng.choice(["1,3", "2,3", "?,3", "1..4,3", "..2,3", "2..,1", "3", "..."]))
    data = outer.parameter("f32", str(rng.choice(["4,2,3", "?,2,3", "2..5,2,3", "4,?,3", "..."])))
    state = outer.parameter("f32", state_shape)
    fixed = outer.parameter("f32", str(rng.choice(["3", "1,3", "2,1", "?,1", "2..6,1", "2..,3", "1..2,3", "..3,3"])))
    trips = outer.constant(np.array(rng.choice([-1, 1, 3, 4]), np.int32 if rng.random() < 0.5 else np.int64))
    if rng.random() < 0.2:
        trips = outer.parameter("i64", "")
    condition = (
        outer.constant(np.array([rng.random() < 0.85])) if rng.random() < 0.8 else outer.parameter("boolean", "1")
    )

    body = Text(blob)
    part, carried, still = (body.parameter("f32", "1") for _ in range(3))
    index = body.parameter("i64", str(rng.choice(["", "1"])))
    go = body.parameter("boolean", "1")
    total = body.layer("Add", 1, "", [(carried, 0), (still, 0)], "f32")
    each = body.layer("Multiply", 1, "", [(part, 0), (total, 2)], "f32")
    keep = body.constant(np.array(rng.random() < 0.8)) if rng.random() < 0.5 else go
    results = [body.result(total, 2), body.result(each, 2), body.result(keep, 0), body.result(index, 0)]

    axis = str(rng.choice([0, 1, 2]))
    slice_axis = str(rng.choice([0, 0, 1, 3]))
    mapping = f"""<port_map>
      <input external_port_id="2" internal_layer_id="{part}" axis="{slice_axis}" {WHOLE}/>
      <input external_port_id="3" internal_layer_id="{carried}"/>
      <input external_port_id="4" internal_layer_id="{still}"/>
      <input external_port_id="1" internal_layer_id="{go}"/>
      <input external_port_id="-1" internal_layer_id="{index}" purpose="current_iteration"/>
      <output external_port_id="5" internal_layer_id="{results[0]}"/>
      <output external_port_id="6" internal_layer_id="{results[1]}" axis="{axis}" {WHOLE}/>
      <output external_port_id="7" internal_layer_id="{results[3]}" axis="0" {WHOLE}/>
      <output external_port_id="-1" internal_layer_id="{results[2]}" purpose="execution_condition"/>
    </port_map><back_edges><edge from-layer="{results[0]}" to-layer="{carried}"/></back_edges>"""
    sources = [(trips, 0), (condition, 0), (data, 0), (state, 0), (fixed, 0)]
    own = outer.layer("Loop", 5, "", sources, "f32 f32 i64", mapping=mapping, body=body.inner("body"))
    for port in (5, 6, 7):
        outer.result(own, port)
    return outer.model(), bytes(blob)


@pytest.mark.parametrize("seed", range(60))
def test_loop_shapes(seed: int) -> None:
    assert_shapes(*loop_model(np.random.default_rng(seed)))


def test_most_random_loops_are_valid() -> None:
    valid = 0
    for seed in range(40):
        try:
            runtime_shapes(*loop_model(np.random.default_rng(seed)))
        except RuntimeError:
            continue
        valid += 1
    assert valid >= 15


# --- TensorIterator -----------------------------------------------------------------------------------------------


def iterator_model(rng: np.random.Generator, static: bool = False) -> tuple[bytes, bytes]:
    blob = bytearray()
    outer = Text(blob)
    choices = ["6,2,3"] if static else ["6,2,3", "?,2,3", "6,?,3", "2..5,2,3", "..."]
    data = outer.parameter("f32", str(rng.choice(choices)))
    state = outer.parameter("f32", "1,2,3" if static else str(rng.choice(["1,2,3", "?,2,3", "2,3"])))
    part_size = int(rng.choice([1, 2, 3]))
    backwards = bool(rng.random() < 0.4)
    body = Text(blob)
    part, carried = (body.parameter("f32", "1,2,3") for _ in range(2))
    total = body.layer("Add", 1, "", [(part, 0), (carried, 0)], "f32")
    if static and part_size > 1:
        part_size = 1
    given = body.layer("Negative", 1, "", [(total, 2)], "f32")
    results = [body.result(total, 2), body.result(given, 1)]
    ends = 'start="-1" end="0" stride="-1"' if backwards else 'start="0" end="-1" stride="1"'
    mapping = f"""<port_map>
      <input external_port_id="0" internal_layer_id="{part}" axis="0" {ends} part_size="{part_size}"/>
      <input external_port_id="1" internal_layer_id="{carried}"/>
      <output external_port_id="2" internal_layer_id="{results[0]}"/>
      <output external_port_id="3" internal_layer_id="{results[1]}" axis="{0 if static else rng.choice([0, 1])}" {ends}
        part_size="{part_size}"/>
    </port_map><back_edges><edge from-layer="{results[0]}" to-layer="{carried}"/></back_edges>"""
    own = outer.layer(
        "TensorIterator", 1, "", [(data, 0), (state, 0)], "f32 f32", mapping=mapping, body=body.inner("body")
    )
    outer.result(own, 2)
    outer.result(own, 3)
    return outer.model(), bytes(blob)


@pytest.mark.parametrize("seed", range(30))
def test_tensor_iterator_shapes(seed: int) -> None:
    assert_shapes(*iterator_model(np.random.default_rng(seed)))


# --- If -----------------------------------------------------------------------------------------------------------

BRANCH_SHAPES = ("2,3", "1,3", "?,3", "1..4,3", "3", "", "1", "...", "2..,1", "..5,3", "?", "1..3")


def if_model(rng: np.random.Generator, static: bool = False) -> tuple[bytes, bytes]:
    blob = bytearray()
    outer = Text(blob)
    known = not static and rng.random() < 0.3
    condition = (
        outer.constant(np.array(rng.random() < 0.5))
        if known
        else outer.parameter("boolean", str(rng.choice(["", "1"])))
    )
    shapes = ["2,3", "2,3"] if static else [str(rng.choice(BRANCH_SHAPES)) for _ in range(2)]
    first, second = (outer.parameter("f32", shape) for shape in shapes)
    branches = []
    for word in ("then", "else"):
        body = Text(blob)
        read_from = body.parameter("f32", "7")
        made = body.layer("Exp" if word == "then" else "Abs", 1, "", [(read_from, 0)], "f32")
        result = body.result(made, 1)
        mapping = f"""<{word}_port_map>
          <input external_port_id="{1 if word == "then" else 2}" internal_layer_id="{read_from}"/>
          <output external_port_id="3" internal_layer_id="{result}"/></{word}_port_map>"""
        branches.append((mapping, body.inner(f"{word}_body")))
    own = outer.layer(
        "If",
        8,
        "",
        [(condition, 0), (first, 0), (second, 0)],
        "f32",
        mapping="".join(mapping for mapping, _ in branches),
        body="".join(inner for _, inner in branches),
    )
    outer.result(own, 3)
    return outer.model(), bytes(blob)


@pytest.mark.parametrize("seed", range(60))
def test_if_shapes(seed: int) -> None:
    assert_shapes(*if_model(np.random.default_rng(seed)))


# --- values -------------------------------------------------------------------------------------------------------


def compare_values(text: bytes, blob: bytes, arrays: dict[str, Array]) -> None:
    request = CORE.compile_model(CORE.read_model(text, blob), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    wanted = request(list(arrays.values()))
    found = run(read(text, blob), arrays)
    assert len(found) == len(wanted)
    for mine, other in zip(found.values(), wanted.values(), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_tensor_iterator_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text, blob = iterator_model(rng, static=True)
    data, state = rng.normal(size=(6, 2, 3)).astype(np.float32), rng.normal(size=(1, 2, 3)).astype(np.float32)
    compare_values(text, blob, {"Parameter_0": data, "Parameter_1": state})


@pytest.mark.parametrize("port", [3, 0])
@pytest.mark.parametrize("chosen", [True, False])
def test_if_values(chosen: bool, port: int) -> None:
    rng = np.random.default_rng(1)
    text, blob = if_model(np.random.default_rng(3), static=True)
    text = text.replace(b'<output external_port_id="3"', b'<output external_port_id="%d"' % port)
    assert_shapes(text, blob)
    shape = propagate_shapes(read(text, blob)).shapes["Parameter_0", 0]
    condition = np.full([dim.size for dim in shape or ()], chosen)
    arrays = [rng.normal(size=(2, 3)).astype(np.float32) for _ in range(2)]
    compare_values(text, blob, {"Parameter_0": condition, "Parameter_1": arrays[0], "Parameter_2": arrays[1]})


def test_loop_values() -> None:
    blob = bytearray()
    outer = Text(blob)
    state = outer.parameter("f32", "1,3")
    trips, condition = outer.constant(np.array(5, np.int64)), outer.constant(np.array(True))
    body = Text(blob)
    carried, index = body.parameter("f32", "1,3"), body.parameter("i64", "")
    doubled = body.layer("Add", 1, "", [(carried, 0), (carried, 0)], "f32")
    limit = body.constant(np.array(2, np.int64))
    more = body.layer("Less", 1, "", [(index, 0), (limit, 0)], "boolean")
    results = [body.result(doubled, 2), body.result(more, 2), body.result(doubled, 2)]
    mapping = f"""<port_map>
      <input external_port_id="2" internal_layer_id="{carried}"/>
      <input external_port_id="-1" internal_layer_id="{index}" purpose="current_iteration"/>
      <output external_port_id="3" internal_layer_id="{results[0]}"/>
      <output external_port_id="4" internal_layer_id="{results[2]}" axis="0" {WHOLE}/>
      <output external_port_id="-1" internal_layer_id="{results[1]}" purpose="execution_condition"/>
    </port_map><back_edges><edge from-layer="{results[0]}" to-layer="{carried}"/></back_edges>"""
    own = outer.layer(
        "Loop", 5, "", [(trips, 0), (condition, 0), (state, 0)], "f32 f32", mapping=mapping, body=body.inner("body")
    )
    outer.result(own, 3)
    outer.result(own, 4)
    data = np.arange(3, dtype=np.float32).reshape(1, 3)
    compare_values(outer.model(), bytes(blob), {"Parameter_0": data})


def test_the_runtime_would_die_of_empty_parts(tmp_path: Path) -> None:
    """`part_size="0"` kills the runtime on reading; here it is a clear error."""
    text, blob = iterator_model(np.random.default_rng(0), static=True)
    model = read(text.replace(b'part_size="1"', b'part_size="0"'), blob)
    with pytest.raises(ShapeError, match=r"part_size is 0, .*; expected at least 1"):
        propagate_shapes(model)


# --- single values ------------------------------------------------------------------------------------------------


def small_loop(trips: tuple[str, str], condition: tuple[str, str]) -> tuple[bytes, bytes]:
    """A loop that adds 1 to its state, with these element types and shapes of trip count and condition."""
    blob = bytearray()
    outer, body = Text(blob), Text(blob)
    sources = [(outer.parameter(*trips), 0), (outer.parameter(*condition), 0), (outer.parameter("f32", "3"), 0)]
    carried = body.parameter("f32", "3")
    total = body.layer("Add", 1, "", [(carried, 0), (body.constant(np.ones(1, np.float32)), 0)], "f32")
    results = [body.result(total, 2), body.result(body.constant(np.array(True)), 0)]
    mapping = f"""<port_map><input external_port_id="2" internal_layer_id="{carried}"/>
      <output external_port_id="3" internal_layer_id="{results[0]}"/>
      <output external_port_id="-1" internal_layer_id="{results[1]}" purpose="execution_condition"/>
    </port_map><back_edges><edge from-layer="{results[0]}" to-layer="{carried}"/></back_edges>"""
    own = outer.layer("Loop", 5, "", sources, "f32", mapping=mapping, body=body.inner("body"))
    outer.result(own, 3)
    return outer.model(), bytes(blob)


@pytest.mark.parametrize("shape", ["", "1", "?", "2", "0", "1,1"])
@pytest.mark.parametrize("place", [0, 1])
def test_loops_want_single_values(place: int, shape: str) -> None:
    """What the check of Loop refuses is what the CPU does not compile."""
    slots = [("i64", ""), ("boolean", "")]
    slots[place] = (slots[place][0], shape)
    facts = [Fact(element_type(kind), parse_shape(text)) for kind, text in slots]
    refused = bool(list(control_flow.check_loop(Attrs({}), facts)))
    assert refused != works(lambda: CORE.compile_model(CORE.read_model(*small_loop(*slots)), "CPU"))


@pytest.mark.parametrize("kind", ["boolean", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"])
@pytest.mark.parametrize("place", [0, 1])
def test_types_of_trip_count_and_condition(place: int, kind: str) -> None:
    slots = [("i64", ""), ("boolean", "")]
    slots[place] = (kind, "")
    op = find_op("Loop", "opset5")
    assert op is not None
    faults = list(check_types(op, [Fact(element_type(name), ()) for name, _ in slots]))
    assert bool(faults) != works(lambda: CORE.compile_model(CORE.read_model(*small_loop(*slots)), "CPU"))


# --- slices, and rounds that are none -------------------------------------------------------------------------------

Slice = tuple[int, int, int, int]
"""Start, end, stride, size of a part."""
ALL, BACK = (0, -1, 1, 1), (-1, 0, -1, 1)


def sliced_body(blob: bytearray, part: int) -> tuple[Text, str]:
    """A body that negates its part, and its Results."""
    body = Text(blob)
    taken = body.parameter("f32", str(part))
    result = body.result(body.layer("Negative", 1, "", [(taken, 0)], "f32"), 1)
    more = body.result(body.constant(np.array(True)), 0)
    return body, f"{taken} {result} {more}"


def sliced_model(kind: str, cut: Slice, join: Slice, rounds: int = 6) -> tuple[bytes, bytes]:
    """A list of 6 that is cut, negated part by part, and joined."""
    blob = bytearray()
    outer = Text(blob)
    sources = [(outer.parameter("f32", "6"), 0)]
    if kind == "Loop":
        sources[:0] = [(outer.constant(np.array(rounds)), 0), (outer.constant(np.array(True)), 0)]
    body, ends = sliced_body(blob, cut[3])
    taken, result, more = ends.split()
    rows = [
        f'axis="0" start="{start}" end="{end}" stride="{stride}" part_size="{part}"'
        for start, end, stride, part in (cut, join)
    ]
    last = f'<output external_port_id="-1" internal_layer_id="{more}" purpose="execution_condition"/>'
    mapping = f"""<port_map>
      <input external_port_id="{len(sources) - 1}" internal_layer_id="{taken}" {rows[0]}/>
      <output external_port_id="{len(sources)}" internal_layer_id="{result}" {rows[1]}/>
      {last if kind == "Loop" else ""}</port_map>"""
    version = 5 if kind == "Loop" else 1
    own = outer.layer(kind, version, "", sources, "f32", mapping=mapping, body=body.inner("body"))
    outer.result(own, len(sources))
    return outer.model(), bytes(blob)


def findings(text: bytes, blob: bytes) -> list[Severity]:
    """Of the rules about slices and settings, in a model whose ports say their sizes."""
    model = read(text, blob)
    propagate_shapes(model, in_place=True)
    return [finding.severity for finding in validate(model, select=["IR149", "IR212", "IR213"])]


SLICES = [
    ("TensorIterator", ALL, ALL, 0),
    ("TensorIterator", BACK, ALL, 0),
    ("TensorIterator", (0, -1, 2, 2), (-1, 0, -2, 2), 0),
    ("TensorIterator", (0, -2, 1, 1), ALL, 0),
    ("TensorIterator", (0, 3, 3, 3), (0, -1, 3, 3), 0),
    ("TensorIterator", (0, 4, 1, 1), ALL, 0),
    ("TensorIterator", (5, 0, -1, 1), ALL, 0),
    ("TensorIterator", (0, 6, 1, 1), ALL, 0),
    ("TensorIterator", ALL, (2, -1, 1, 1), 0),
    ("TensorIterator", (0, -1, 4, 4), (0, -1, 4, 4), 0),
    ("TensorIterator", (0, -1, 2, 2), ALL, 0),
    ("Loop", ALL, ALL, 6),
    ("Loop", BACK, BACK, 4),
    ("Loop", (1, -1, 1, 1), ALL, 6),
    ("Loop", (0, 0, 1, 1), ALL, 6),
    ("Loop", (-2, 0, -1, 1), ALL, 4),
    ("Loop", (0, -1, 2, 2), ALL, 3),
    ("Loop", ALL, ALL, 8),
    ("Loop", BACK, ALL, 8),
]


@pytest.mark.parametrize(("kind", "cut", "join", "rounds"), SLICES, ids=str)
def test_slices(kind: str, cut: Slice, join: Slice, rounds: int) -> None:
    """What runs gives the runtime's values, and what does not is an error."""
    text, blob = sliced_model(kind, cut, join, rounds)
    data = np.arange(6, dtype=np.float32)
    try:
        compare_values(text, blob, {"Parameter_0": data})
    except RuntimeError:
        assert Severity.ERROR in findings(text, blob)
        return
    assert Severity.ERROR not in findings(text, blob)


@pytest.mark.parametrize("cut", [(1, -1, 1, 1), (-2, 0, -1, 1), (3, -1, 3, 3)], ids=str)
def test_slices_from_within(cut: Slice) -> None:
    """The plugin begins at the first or last element all the same: the reference does not, and a warning says so."""
    text, blob = sliced_model("TensorIterator", cut, (0, -1, cut[3], cut[3]))
    data = np.arange(6, dtype=np.float32)
    (found,) = run(read(text, blob), {"Parameter_0": data}).values()
    wanted = data[cut[0] :: cut[2] // cut[3]] if cut[2] > 0 else data[: cut[0] + 1][::-1]
    np.testing.assert_array_equal(found, -wanted)
    assert findings(text, blob) == [Severity.WARNING]


@pytest.mark.parametrize("state", ["2", "?"])
@pytest.mark.parametrize(
    ("trips", "goes", "on"), [(0, True, True), (0, False, True), (3, False, True), (-1, False, True), (-1, True, False)]
)
def test_loops_that_run_once_or_never(trips: int, goes: bool, on: bool, state: str) -> None:
    """If it never runs, the initial value comes out, and what is joined is empty; -1 is any number of iterations."""
    blob = bytearray()
    outer, body = Text(blob), Text(blob)
    sources = [(outer.parameter("i64", ""), 0), (outer.parameter("boolean", ""), 0), (outer.parameter("f32", state), 0)]
    carried = body.parameter("f32", "2")
    total = body.layer("Add", 1, "", [(carried, 0), (body.constant(np.ones(2, np.float32)), 0)], "f32")
    results = [body.result(total, 2), body.result(body.constant(np.array(on)), 0)]
    mapping = f"""<port_map><input external_port_id="2" internal_layer_id="{carried}"/>
      <output external_port_id="3" internal_layer_id="{results[0]}"/>
      <output external_port_id="4" internal_layer_id="{results[0]}" axis="0" stride="2" part_size="2"/>
      <output external_port_id="-1" internal_layer_id="{results[1]}" purpose="execution_condition"/>
    </port_map><back_edges><edge from-layer="{results[0]}" to-layer="{carried}"/></back_edges>"""
    own = outer.layer("Loop", 5, "", sources, "f32 f32", mapping=mapping, body=body.inner("body"))
    outer.result(own, 3)
    outer.result(own, 4)
    data = np.array([1, 2], np.float32)
    arrays: dict[str, Array] = {"Parameter_0": np.array(trips), "Parameter_1": np.array(goes), "Parameter_2": data}
    compare_values(outer.model(), bytes(blob), arrays)


@pytest.mark.parametrize("part", ["1", "1,1", "1,3", "3,1", "2,1,2", "1,2,1", "1,?", "1,?,2"])
@pytest.mark.parametrize(("trips", "goes"), [(0, True), (3, True), (0, False), (3, False), (-1, False)])
def test_loops_that_certainly_never_run(client: RuntimeClient, trips: int, goes: bool, part: str) -> None:
    """There is an error exactly for what kills the runtime or is refused by it; a loop that does not begin ends."""
    blob = bytearray()
    outer, body = Text(blob), Text(blob)
    sources = [
        (outer.constant(np.array(trips)), 0),
        (outer.constant(np.array(goes)), 0),
        (outer.parameter("f32", part), 0),
    ]
    carried = body.parameter("f32", part)
    results = [body.result(body.layer("Negative", 1, "", [(carried, 0)], "f32"), 1)]
    results.append(body.result(body.constant(np.array(True)), 0))
    axis = part.split(",").index("1")
    mapping = f"""<port_map><input external_port_id="2" internal_layer_id="{carried}"/>
      <output external_port_id="3" internal_layer_id="{results[0]}" axis="{axis}" {WHOLE}/>
      <output external_port_id="-1" internal_layer_id="{results[1]}" purpose="execution_condition"/>
    </port_map><back_edges><edge from-layer="{results[0]}" to-layer="{carried}"/></back_edges>"""
    own = outer.layer("Loop", 5, "", sources, "f32", mapping=mapping, body=body.inner("body"))
    outer.result(own, 3)
    text, weights = outer.model(), bytes(blob)
    fed = {"Parameter_2": np.ones([int(size) for size in part.replace("?", "2").split(",")], np.float32)}
    assert (Severity.ERROR in findings(text, weights)) != works(client.infer, text, weights, fed)


@pytest.mark.parametrize("trips", [None, 3])
@pytest.mark.parametrize(
    ("state", "other"),
    [("1,?", "..3,3"), ("1..4,1", "2,3"), ("?,?", "2,3"), ("1,..5", "2,4"), ("1,1,?", "2,1,3"), ("1,1", "2,?")],
)
def test_states_that_grow(state: str, other: str, trips: int | None) -> None:
    """A Parameter keeps the sizes that the result fits into, and the others become any size."""
    blob = bytearray()
    outer, body = Text(blob), Text(blob)
    count = outer.parameter("i64", "") if trips is None else outer.constant(np.array(trips))
    sources = [(count, 0), (outer.constant(np.array(True)), 0)]
    sources += [(outer.parameter("f32", shape), 0) for shape in (state, other)]
    carried, added = (body.parameter("f32", shape) for shape in (state, other))
    total = body.layer("Add", 1, "", [(carried, 0), (added, 0)], "f32")
    results = [body.result(total, 2), body.result(body.constant(np.array(True)), 0)]
    mapping = f"""<port_map><input external_port_id="2" internal_layer_id="{carried}"/>
      <input external_port_id="3" internal_layer_id="{added}"/>
      <output external_port_id="4" internal_layer_id="{results[0]}"/>
      <output external_port_id="-1" internal_layer_id="{results[1]}" purpose="execution_condition"/>
    </port_map><back_edges><edge from-layer="{results[0]}" to-layer="{carried}"/></back_edges>"""
    own = outer.layer("Loop", 5, "", sources, "f32", mapping=mapping, body=body.inner("body"))
    outer.result(own, 4)
    assert assert_shapes(outer.model(), bytes(blob))


@pytest.mark.parametrize("kind", ["i32", "f16", "dynamic"])
def test_branches_take_the_type_of_the_input(kind: str) -> None:
    """What the Parameters of a branch say of it is not read."""
    text, blob = if_model(np.random.default_rng(3), static=True)
    start = text.index(b"<then_body>")
    other = text[:start] + text[start:].replace(b'element_type="f32"', f'element_type="{kind}"'.encode(), 1)
    assert assert_shapes(other, blob)
    assert not validate(other, blob, select=["IR211"])


def test_an_input_of_another_type_than_two_parameters_of_a_body_take_is_one_finding() -> None:
    blob = bytearray()
    outer, body = Text(blob), Text(blob)
    taken = [body.parameter("f32", "6") for _ in range(2)]
    result = body.result(body.layer("Add", 1, "", [(number, 0) for number in taken], "f32"), 2)
    rows = "".join(f'<input external_port_id="0" internal_layer_id="{number}"/>' for number in taken)
    mapping = f'<port_map>{rows}<output external_port_id="1" internal_layer_id="{result}"/></port_map>'
    sources = [(outer.parameter("i64", "6"), 0)]
    own = outer.layer("TensorIterator", 1, "", sources, "f32", mapping=mapping, body=body.inner("body"))
    outer.result(own, 1)
    assert [found.layer_id for found in validate(outer.model(), bytes(blob), select="wrong-element-type")] == [own]


@pytest.mark.parametrize(("start", "stride", "parts"), [(0, 2, [[0, 1], [2, 3]]), (-1, -2, [[4, 5], [2, 3]])])
def test_parts_of_two_elements_from_either_end(start: int, stride: int, parts: list[list[int]]) -> None:
    row = PortMapRow(0, 0, axis=0, start=start, stride=stride, part_size=2)
    assert [_slice(row, np.arange(6), index, start).tolist() for index in (0, 1)] == parts
