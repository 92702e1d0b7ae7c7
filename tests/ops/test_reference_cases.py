"""Literal cases with the values that OpenVINO's own tests of operations expect (plugins/template, op_reference).

Each file holds a list of layers: operation, attributes, and inputs and outputs as element type, shape and values, with
packed elements as bytes. An input with a fourth item is a constant. `types` lists what a letter is replaced by, in
every combination; `allowed` is an absolute difference.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ir_tools import execute, read
from ir_tools.infer import propagate_shapes
from ir_tools.ops import Array
from ir_tools.types import element_type
from ir_tools.types.packing import unpack
from ir_tools.weights import Weights
from tests.ops.single import Slot, single_text

FOLDER = Path(__file__).parent / "reference"
TOLERANCES = {"f64": 1e-5, "f32": 1e-5, "f16": 2e-3, "bf16": 0.0, "f8e4m3": 0.0, "f8e5m2": 0.0}
"""Relative to the largest value; everything else is equal."""


def cases() -> Iterator[Any]:
    """Yield every case with each combination of its types."""
    for path in sorted(FOLDER.glob("*.json")):
        for number, case in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            letters = case.get("types", {})
            for kinds in product(*letters.values()):
                chosen = dict(zip(letters, kinds, strict=True))
                yield pytest.param(case, chosen, id="-".join([case["op"], path.stem, str(number), *kinds]))


def array_of(kind: str, shape: list[int], values: list[Any] | str) -> Array:
    """An input or output: numbers, texts, or packed bytes."""
    wanted = element_type(kind)
    if isinstance(values, str):
        return unpack(np.frombuffer(bytes.fromhex(values), np.uint8), wanted, prod(shape)).reshape(shape)
    if wanted.held_dtype is None:
        return np.array(values, dtype=object).reshape(shape)
    exact = np.array(values, None if wanted.is_integer and values else np.float64)
    return exact.astype(wanted.held_dtype).reshape(shape)


@pytest.mark.parametrize(("case", "chosen"), [*cases()])
def test_case(case: Mapping[str, Any], chosen: Mapping[str, str]) -> None:
    type, _, version = case["op"].rpartition("-")
    inputs = [(chosen.get(kind, kind), shape, values) for kind, shape, values, *_ in case["inputs"]]
    outputs = [(chosen.get(kind, kind), shape, values) for kind, shape, values in case["outputs"]]
    raw = {name: chosen.get(value, value) for name, value in case.get("raw", {}).items()}
    constant = [len(given) > 3 for given in case["inputs"]]
    arrays = [array_of(*each) for each in inputs]
    slots: list[Slot] = [
        array if fixed else (kind, ",".join(map(str, shape)))
        for array, fixed, (kind, shape, _) in zip(arrays, constant, inputs, strict=True)
    ]
    text, weights = single_text(type, int(version), raw, slots, outputs=len(outputs))
    model = read(text)
    model.weights = Weights.from_bytes(weights)
    fed = [array for array, fixed in zip(arrays, constant, strict=True) if not fixed]
    names = [endpoint.name for endpoint in model.inputs]
    found = execute.run(model, dict(zip(names, fed, strict=True)))
    for (kind, shape, values), array in zip(outputs, found.values(), strict=True):
        compare(array, array_of(kind, shape, values), TOLERANCES.get(kind, 0.0), case.get("allowed", 0.0))
    facts = propagate_shapes(model).facts
    layer = next(layer for layer in model.graph.layers() if layer.name == "op")
    for (kind, shape, _), port in zip(outputs, layer.outputs, strict=True):
        fact = facts["op", port.id]
        assert fact.dtype.name == kind
        assert fact.shape is None or all(size in dim for size, dim in zip(shape, fact.shape, strict=True))


def compare(found: Array, wanted: Array, relative: float, absolute: float) -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if not relative and not absolute:
        assert found.tolist() == wanted.tolist()
        return
    exact, near = wanted.astype(np.float64), found.astype(np.float64)
    largest = max(1.0, np.abs(exact).max(initial=0.0))
    assert np.abs(exact - near).max(initial=0.0) <= max(relative * largest, absolute)
