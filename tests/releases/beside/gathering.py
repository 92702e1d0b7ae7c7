"""Layers beside the rows of layers that gather, sort and search."""

from dataclasses import replace

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, converted, counted, floats, index, sizes_of, whole
from ir_tools.processors import Processor
from tests.releases.beside import Beside, Feed, beside


def _top_k(axis: int, data: Given | Call | None = None, count: int = 1) -> Call:
    raw = {"axis": str(axis), "mode": "max", "sort": "value"}
    return Call("TopK-3", (data or Given(counted(2, 3), "?,3"), Fixed(index(count))), raw, (0,))


def _scattered(axis: Feed, data: str = "4,3", places: str = "2,3", updates: str = "2,3") -> Call:
    inputs = Given(counted(4, 3), data), Given(np.array([[0, 1, 2], [2, 0, 3]]), places), Given(counted(2, 3), updates)
    return Call("ScatterElementsUpdate-3", (*inputs, axis))


def _enlarged(data: Given | Call) -> Call:
    """Images of two rows and columns made twice as large."""
    raw = {"mode": "nearest", "shape_calculation_mode": "scales", "coordinate_transformation_mode": "asymmetric"}
    sizes = Fixed(whole(4, 4)), Fixed(floats(2, 2)), Fixed(whole(2, 3))
    return Call("Interpolate-4", (data, *sizes), raw | {"nearest_mode": "floor"})


def _convolved(data: Given) -> Call:
    weights = Fixed(np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1))
    return Call("Convolution-1", (data, weights), {"strides": "1,1", "dilations": "1,1"} | PADS)


PADS = {"pads_begin": "0,0", "pads_end": "0,0"}
IMAGES = Given(np.sin(counted(2, 4, 2, 2)), "?,4,2,2")


def _gathered(size: int, count: int, *before: int, held: bool = False) -> Call:
    """Parts of data of this size behind the axis, and of these before it; `held`: from constant places."""
    axis = len(before) + 1
    data, indices = counted(1, *before, 8, size), np.arange(count)[None] % 8
    places = Fixed(indices) if held else indices
    return Call("Gather-8", (data, places, Fixed(np.array(axis))), {"batch_dims": "1"})


def _long_places(op: str, kind: str, type: str = "Add-1") -> Call:
    """The places of the two largest of three numbers, combined with another."""
    raw = {"axis": "1", "mode": "max", "sort": "value", "index_element_type": kind}
    places = Call(op, (counted(2, 3), Fixed(index(2))), raw, gives=1)
    other = Fixed(np.array([[5, 6]], kind.replace("i", "int")))
    return Call(type, (places, other), {"axis": "0"} if type == "Concat-1" else {})


NEGATIVE = "negative indices of GatherND"


def _unordered(op: str, most: int) -> Call:
    """The first or largest elements of four, in any order."""
    raw = {"axis": "0", "mode": "max", "sort": "none", "index_element_type": "i32"}
    return Call("Abs-1", (Call(op, (counted(4), Fixed(index(most))), raw),))


def _places_of(data: Feed) -> Call:
    return Call("NonZero-3", (data,), {"output_type": "i64"})


BESIDE = [
    *beside(
        "places of elements that are converted before",
        falling=[
            _places_of(converted(Given(floats([0.5, -0.2], [1, 0]), "?,?"), "u8")),
            _places_of(converted(np.array([256, 1, 0]), "u8")),
        ],
        others=[
            _places_of(converted(floats([0.5, -0.2], [1, 0]), "boolean")),
            _places_of(converted(floats([0.5, -0.2], [1, 0]), "f16")),
            _places_of(converted(np.array([2, 1, 0], np.uint8), "i32")),
            _places_of(converted(np.array([-1, 0, 2], np.int32), "u32")),
            _places_of(Call("Abs-1", (converted(floats([0.5, -0.2], [1, 0]), "i32"),))),
            _places_of(replace(converted(floats([0.5, -0.2], [1, 0]), "i32"), results=(0,))),
        ],
    ),
    *beside(
        "TopK of places of 64 bits that are combined with others",
        falling=[_long_places("TopK-3", "i64", "Concat-1"), _long_places("TopK-3", "i64", "Multiply-1")],
        others=[_long_places("TopK-3", "i32"), Call("Abs-1", (_long_places("TopK-3", "i64").inputs[0],))],
    ),
    *beside(
        "TopK without order",
        falling=[_unordered("TopK-1", 2), _unordered("TopK-3", 4)],
        others=[_unordered("TopK-1", 1), _unordered("TopK-3", 1)],
    ),
    Beside(
        "SearchSorted in sequences of one number",
        True,
        Call("SearchSorted-15", (counted(1, 1), Fixed(floats([2]))), {"right_mode": "false"}),
    ),
    Beside(
        "SearchSorted in sequences of one number",
        False,
        Call("SearchSorted-15", (counted(3, 2), Fixed(floats([2], [0], [3]))), {"right_mode": "false"}),
    ),
    *(
        Beside("Gather from batches", falls, Call("Gather-7", (*inputs, Fixed(np.array(1))), {"batch_dims": batches}))
        for falls, batches, inputs in (
            (True, "-1", (counted(2, 3), np.array([[1], [0]]))),
            (True, "1", (counted(1, 3), np.array([[1]]))),
            (False, "0", (counted(2, 3), np.array([[1], [0]]))),
            (False, "-1", (counted(2, 3), np.array([1, 0]))),
        )
    ),
    *beside(
        "TopK of one element of the last axis, sizes unknown",
        falling=[
            _top_k(-1),
            _top_k(1, _enlarged(IMAGES)),
            _top_k(1, Call("ReLU-1", (Call("Concat-1", (_enlarged(IMAGES),) * 2, {"axis": "1"}),))),
            Call("TopK-3", (counted(2, 3), index(1)), {"axis": "1", "mode": "max", "sort": "value"}, (0,)),
        ],
        others=[
            _top_k(1, IMAGES),
            _top_k(2, _enlarged(IMAGES)),
            _top_k(1, _enlarged(IMAGES), 2),
            _top_k(1, _enlarged(Given(IMAGES.array, "2,4,2,2"))),
            _top_k(1, _enlarged(_convolved(IMAGES))),
            _top_k(1, _convolved(IMAGES)),
        ],
    ),
    *(
        Beside(f"Gather along a computed axis, {span}", falls, Call(op, (data, places, axis), {"batch_dims": "0"}))
        for span, few in (("2022.1 to 2022.3", False), ("2023.0 to 2026.4", True))
        for op in ("Gather-7", "Gather-8")
        for falls, data, places, axis in (
            (True, counted(2, 3), whole(1, 0), whole(0)),
            (True, Fixed(counted(2, 3)), Fixed(whole(1, 0)), index(0)),
            (few, counted(2, 3), whole(1, 0), Given(whole(0), "?")),
            (False, Given(counted(2, 3), "?,3"), whole(1, 0), index(0)),
            (False, counted(2, 3), Given(whole(1, 0), "?"), index(0)),
            (False, Given(counted(2, 3), "2,1..3"), Fixed(whole(1, 0)), index(1)),
            (False, counted(2, 3), whole(1, 0), Fixed(index(0))),
        )
    ),
    *beside(
        "ScatterElementsUpdate along a computed axis",
        falling=[
            _scattered(index(0), places="?,?"),
            _scattered(index(0), updates="2,?"),
        ],
        others=[_scattered(index(0)), _scattered(Fixed(index(0)), data="?,?", places="?,?", updates="?,?")],
    ),
    Beside(
        NEGATIVE,
        False,
        Call(
            "GatherND-5",
            (
                counted(3, 2),
                Call(
                    "Subtract-1",
                    (sizes_of(Given(counted(2), "1..3")), Fixed(whole(2))),
                ),
            ),
        ),
    ),
    *(
        beside
        for lanes, processor in ((16, Processor.AVX512), (8, Processor.NO_AVX512))
        for beside in (
            Beside(f"Gather from one batch, 2 to {lanes} elements at a time, {processor}", True, _gathered(lanes, 100)),
            Beside(
                f"Gather from one batch, 2 to {lanes} elements at a time, {processor}", False, _gathered(lanes + 1, 100)
            ),
            Beside(f"Gather from one batch, few elements at a time, {processor}", False, _gathered(1, 3, 2)),
        )
    ),
    Beside(
        f"Gather from one batch, 2 to 16 elements at a time of constant places, {Processor.AVX512}",
        True,
        _gathered(16, 100, held=True),
    ),
    Beside(
        "GatherND with indices of unknown length",
        False,
        Call("GatherND-5", (counted(3, 2), Given(np.array([[[1]]]), "1,?,1"))),
    ),
]
