"""Layers beside the rows of loops: what a body computes in the memory of its inputs, and when that matters."""

from dataclasses import replace
from functools import reduce

import numpy as np

from ir_tools.known_differences._model import (
    Body,
    Branches,
    Call,
    Feed,
    Fixed,
    Given,
    Part,
    converted,
    counted,
    index,
    number,
    sizes_of,
    whole,
)
from ir_tools.ops import Array
from tests.releases.beside import beside

IN_PLACE = "states computed in place of parts"
SOFTENED = "SoftMaxes computed in place of parts"
SOFTENED_INPUT = "SoftMaxes computed in place of inputs that stay the same"
COPIED = "states that stay the same and become others"
GIVEN_AGAIN = "tensors that a body gives again"
PASSED_ON = "states that are inputs of the body"
SAME = "states that are inputs of the body that stay the same"
UNCUT = "loops that read none of their parts"
UNCOUNTED = "loops that read none of their parts and join none"
PRODUCT = "loops behind products"
UNSIZED_PRODUCT = "loops behind products of unknown size"
OUTGROWN = "larger tensors behind an If of unknown size"
UNREAD = "inputs of the body of a loop that nothing reads"
STATE = Part(1)


def _zeros(*sizes: int) -> Array:
    return np.zeros(sizes, np.float32)


def _flat(data: Feed) -> Call:
    return Call("Squeeze-1", (data, Fixed(whole(0))))


def _joined(data: Feed) -> Call:
    return Call("Unsqueeze-1", (data, Fixed(whole(0))))


def _sum(first: Feed, second: Feed) -> Call:
    return Call("Add-1", (first, second), {"auto_broadcast": "numpy"})


def _one(type: str, data: Feed) -> Call:
    return Call(type, (data,))


def _product(data: Feed) -> Call:
    weights = Fixed((counted(3, 3) - 0.7).astype(np.float32))
    return Call("MatMul-1", (data, weights), {"transpose_a": "false", "transpose_b": "false"})


def _soft(data: Feed) -> Call:
    return Call("SoftMax-1", (data,), {"axis": "1"})


def _mean_removed(data: Feed) -> Call:
    attributes = {"normalize_variance": "true", "eps": "0.1", "eps_mode": "inside_sqrt"}
    return Call("MVN-6", (data, Fixed(whole(1))), attributes)


def _kept(state: Feed, given: Feed | None = None) -> Call:
    """A loop over four vectors that keeps one, by default the next state for each."""
    body = Body(1, (state,), (_joined(state if given is None else given),))
    return Call("TensorIterator-1", (counted(4, 1, 3) - 0.9, _zeros(1, 3)), body=body)


def _parts(*numbers: int, data: Feed = STATE) -> Call:
    """The sum of some of three parts of a vector."""
    first = Call("Split-1", (data, Fixed(index(1))), {"num_splits": "3"})
    return reduce(_sum, (_one("Abs-1", replace(first, gives=number)) for number in numbers))


def _greatest(number: int) -> Call:
    """A loop that gives the largest number of each state, or where that is."""
    raw = {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i32"}
    found = Call("TopK-3", (STATE, Fixed(index(1))), raw, gives=number)
    return _kept(_sum(VECTOR, STATE), _joined(converted(found, "f32") if number else _one("Abs-1", found)))


def _last(state: Feed) -> Call:
    """A loop over four vectors that gives its last state alone."""
    return Call("TensorIterator-1", (counted(4, 1, 3) - 0.9, _zeros(1, 3)), body=Body(1, (state,), ()))


def _two_kept(first: Feed, second: Feed, given: Feed = STATE) -> Call:
    body = Body(1, (first, second), (_joined(given),))
    return Call("TensorIterator-1", (counted(4, 1, 3) - 0.9, _zeros(1, 3), _zeros(1, 3) + 1), body=body)


def _three_kept(first: Feed, second: Feed, third: Feed, given: Feed) -> Call:
    body = Body(1, (first, second, third), (_joined(given),))
    return Call(
        "TensorIterator-1", (counted(4, 1, 3) - 0.9, *(_zeros(1, 3) + number for number in range(3))), body=body
    )


def _with_third(third: Feed, state: Feed, given: Feed) -> Call:
    """A loop with an input that stays the same."""
    return Call("TensorIterator-1", (counted(4, 1, 3) - 0.9, _zeros(1, 3), third), body=Body(1, (state,), (given,)))


def _zeros_of(data: Call) -> Call:
    """A state of zeros for parts of data, of the sizes that a ShapeOf gives."""
    sizes = Call("Gather-8", (sizes_of(data), Fixed(whole(1, 2)), Fixed(index(0))), {"batch_dims": "0"})
    shape = Call("Concat-1", (Fixed(whole(1)), sizes), {"axis": "0"})
    return Call("Broadcast-3", (Fixed(np.zeros((), np.float32)), shape), {"mode": "numpy"})


def _after(data: Feed, state: Feed, start: Feed | None = None) -> Call:
    """A loop over what comes of a product, that starts from a constant by default."""
    begin = Fixed(np.zeros((1, 2, 3), np.float32)) if start is None else start
    return Call("TensorIterator-1", (data, begin), body=Body(1, (state,), (Part(1),)))


def _chosen(shape: str = "?,2,3") -> Call:
    body = Branches(_one("ReLU-1", Part(1)), _one("Tanh-1", Part(1)))
    return Call("If-8", (np.array(True), Given(MATRICES, shape)), body=body)


def _chosen_of(wide: Call) -> Call:
    """An If that reads the first columns of a tensor."""
    data = Call("Slice-8", (wide, *(Fixed(whole(value)) for value in (0, 3, 1, 2))))
    return Call("If-8", (np.array(True), data), body=Branches(_one("ReLU-1", Part(1)), _one("Tanh-1", Part(1))))


def _of_chosen(data: Call) -> Call:
    """Vectors for all elements of data that are not zero."""
    places = Call("NonZero-3", (data,), {"output_type": "i64"})
    return _joined(Call("Transpose-1", (converted(places, "f32"), Fixed(whole(1, 0)))))


def _summed(data: Feed) -> Call:
    return Call("CumSum-3", (data, Fixed(index(1))))


NUMBER_CHOSEN = Call(
    "If-8", (np.array(True), number(2)), body=Branches(_one("ReLU-1", Part(1)), _one("Tanh-1", Part(1)))
)


def _wider(data: Feed, columns: int = 9) -> Call:
    weights = Fixed(np.sin(counted(3, columns)).astype(np.float32))
    return Call("MatMul-1", (data, weights), {"transpose_a": "false", "transpose_b": "false"})


def _largest(data: Feed) -> Call:
    return Call("ReduceMax-1", (data, Fixed(whole(1))), {"keep_dims": "true"})


def _soft_last(data: Feed) -> Call:
    return Call("SoftMax-1", (data,), {"axis": "2"})


def _gathered(indices: object, axis: int, *squeezed: int) -> Call:
    raw = {"batch_dims": "0"}
    taken = Call("Gather-8", (Part(0), Fixed(np.array(indices)), Fixed(np.array(axis))), raw)
    return _kept(_sum(Call("Squeeze-1", (taken, Fixed(whole(*squeezed)))), STATE))


def _turned() -> Call:
    """A loop over square parts that are transposed."""
    total = _sum(_flat(Call("Transpose-1", (Part(0), Fixed(whole(0, 2, 1))))), STATE)
    body = Body(1, (total,), (_joined(total),))
    return Call("TensorIterator-1", (np.sin(counted(4, 3, 3)), _zeros(3, 3)), body=body)


MATRICES = counted(4, 2, 3)
UNSIZED = Given(MATRICES, "?,2,3")
VECTOR = _flat(Part(0))
TURNED = Call("Transpose-1", (Part(0), Fixed(whole(1, 0, 2))))
TAKEN = Call("Gather-8", (Part(0), Fixed(index(0)), Fixed(index(0))), {"batch_dims": "0"})
GROWING = _one("Tanh-1", _sum(Part(1), Part(0)))

PRODUCT_OF_STATE = _product(STATE)
UNCHANGING = Call(
    "TensorIterator-1",
    (counted(4, 1, 3), _zeros(1, 3), counted(1, 3)),
    body=Body(1, (_one("Tanh-1", Part(2)),), ()),
)
"""Gives the same however often it runs."""
GROWN = _one("Tanh-1", GROWING)

PRODUCED = _product(MATRICES)
WITHOUT_SIZE = _product(Given(MATRICES, "4,?,3"))
BESIDE = (
    *beside(
        "layers in a body with outputs that are not read",
        falling=(_greatest(1), *(_kept(_sum(VECTOR, STATE), _joined(_parts(*read))) for read in ((1,), (0, 2), (0,)))),
        others=(
            _greatest(0),
            _kept(_sum(VECTOR, STATE), _joined(_parts(0, 1))),
            _kept(_sum(VECTOR, STATE), _joined(_parts(2, 1, 0))),
            _parts(1, data=counted(1, 3)),
        ),
    ),
    *beside(
        IN_PLACE,
        falling=(
            _kept(_sum(VECTOR, STATE)),
            _kept(_sum(VECTOR, _product(STATE))),
            _kept(_sum(VECTOR, _one("Tanh-1", _product(STATE)))),
            _kept(_one("ReLU-1", _sum(VECTOR, _product(STATE)))),
            _kept(_soft(_sum(VECTOR, _soft(STATE)))),
            _kept(_sum(_flat(TURNED), STATE)),
            _kept(_sum(TAKEN, STATE)),
            _gathered([0], 0, 0),
            _gathered([0], 1, 0),
            _kept(Call("Subtract-1", (VECTOR, _product(STATE)))),
            _kept(Call("Multiply-1", (VECTOR, Fixed(counted(3)))), STATE),
            _kept(_one("Swish-4", VECTOR), STATE),
            _with_third(counted(1, 3), _sum(_mean_removed(Part(2)), _sum(STATE, VECTOR)), _joined(STATE)),
            _kept(_sum(VECTOR, _product(STATE)), STATE),
            _kept(Call("Power-1", (VECTOR, Fixed(counted(3)))), STATE),
            _with_third(
                counted(1, 1, 3), _one("Tanh-1", _sum(STATE, VECTOR)), _joined(_sum(_flat(Part(2)), _soft(VECTOR)))
            ),
        ),
        others=(
            _kept(_sum(STATE, VECTOR)),
            _kept(_sum(_one("ReLU-1", VECTOR), STATE)),
            _kept(_one("ReLU-1", VECTOR), STATE),
            _kept(_one("ReLU-1", _soft(VECTOR)), STATE),
            _kept(Call("Multiply-1", (VECTOR, Fixed(counted(1)))), STATE),
            _gathered([[0]], 0, 0, 1),
            _gathered([2, 1, 0], 2, 0),
            _turned(),
            _kept(_sum(VECTOR, STATE), STATE),
            _kept(_sum(VECTOR, PRODUCT_OF_STATE), _sum(PRODUCT_OF_STATE, STATE)),
            _kept(_sum(VECTOR, Call("Multiply-1", (STATE, Fixed(counted(1)))))),
            _kept(_product(_sum(VECTOR, STATE))),
            _kept(Call("Subtract-1", (VECTOR, STATE))),
            _kept(_one("Tanh-1", _sum(STATE, VECTOR)), _sum(VECTOR, STATE)),
        ),
    ),
    *beside(
        SOFTENED,
        falling=(
            _kept(_soft(VECTOR), STATE),
            _kept(_soft(_soft(TAKEN)), STATE),
            _kept(_soft(_soft(VECTOR)), STATE),
        ),
        others=(
            _kept(_one("ReLU-1", _soft(VECTOR)), STATE),
            _kept(_sum(_soft(VECTOR), _product(STATE))),
            _kept(_soft(_sum(STATE, VECTOR))),
        ),
    ),
    *beside(
        SOFTENED_INPUT,
        falling=(
            _with_third(counted(1, 1, 3), _sum(_soft(_flat(Part(2))), _sum(STATE, VECTOR)), _joined(STATE)),
            _with_third(counted(1, 1, 3), _sum(STATE, VECTOR), _joined(_sum(STATE, _soft(_flat(Part(2)))))),
            _with_third(counted(1, 3), _sum(_soft(Part(2)), _sum(STATE, VECTOR)), _joined(STATE)),
            _with_third(counted(1, 3), _sum(STATE, VECTOR), _joined(_one("ReLU-1", _soft(Part(2))))),
        ),
        others=(
            _with_third(counted(1, 3), _sum(_soft(_one("Tanh-1", Part(2))), _sum(STATE, VECTOR)), _joined(STATE)),
            _with_third(counted(1, 3), _sum(_sum(_soft(Part(2)), Part(2)), _sum(STATE, VECTOR)), _joined(STATE)),
            _with_third(counted(1, 1, 3), _sum(_one("ReLU-1", _flat(Part(2))), _sum(STATE, VECTOR)), _joined(STATE)),
        ),
    ),
    *beside(
        COPIED,
        falling=(
            _three_kept(_sum(STATE, VECTOR), Part(3), Part(3), Part(2)),
            _three_kept(Part(3), _sum(STATE, VECTOR), Part(3), STATE),
        ),
        others=(
            _three_kept(_sum(STATE, VECTOR), Part(3), Part(3), STATE),
            _two_kept(Part(1), Part(1)),
            _two_kept(Part(2), _one("ReLU-1", Part(2))),
        ),
    ),
    *beside(
        GIVEN_AGAIN,
        falling=(
            Call("TensorIterator-1", (MATRICES, _zeros(1, 2, 3)), body=Body(1, (GROWING,), (GROWING,))),
            Call("TensorIterator-1", (MATRICES, _zeros(1, 2, 3)), body=Body(1, (GROWING,), (GROWN, GROWN))),
        ),
        others=(
            Call("TensorIterator-1", (MATRICES, _zeros(1, 2, 3)), body=Body(1, (GROWING,), (GROWN,))),
            Call("TensorIterator-1", (MATRICES, _zeros(1, 2, 3)), body=Body(1, (GROWING,), (Part(1),))),
        ),
    ),
    *beside(
        PASSED_ON,
        falling=(
            _kept(VECTOR, STATE),
            _kept(VECTOR, _sum(STATE, VECTOR)),
            _kept(_flat(_flat(_joined(Part(0)))), STATE),
            _two_kept(Part(2), Part(1)),
            _two_kept(_sum(STATE, VECTOR), Part(1), Part(2)),
        ),
        others=(
            _two_kept(_sum(STATE, VECTOR), Part(1)),
            _kept(_one("ReLU-1", VECTOR), STATE),
            _two_kept(Part(2), _sum(STATE, VECTOR)),
            _kept(STATE, _sum(STATE, VECTOR)),
            _kept(VECTOR, _one("ReLU-1", VECTOR)),
        ),
    ),
    *beside(
        SAME,
        falling=(_with_third(counted(1, 3), Part(2), _joined(_sum(STATE, VECTOR))),),
        others=(_with_third(counted(1, 1, 3), _flat(Part(2)), _joined(_sum(STATE, VECTOR))),),
    ),
    *beside(
        UNCUT,
        falling=(_kept(_soft(STATE)), _with_third(counted(1, 3), _sum(STATE, Part(2)), _joined(STATE))),
        others=(_kept(_soft(STATE), _sum(STATE, VECTOR)), _kept(_sum(STATE, VECTOR)), UNCHANGING),
    ),
    *beside(
        UNCOUNTED,
        falling=(_last(_one("Sigmoid-1", STATE)), _last(_sum(STATE, _soft(STATE)))),
        others=(
            UNCHANGING,
            _last(STATE),
            _last(_sum(STATE, VECTOR)),
            _two_kept(_sum(STATE, VECTOR), _one("Tanh-1", STATE)),
        ),
    ),
    *beside(
        UNREAD,
        falling=(_with_third(counted(1, 3), _sum(STATE, VECTOR), _joined(STATE)),),
        others=(_with_third(counted(1, 3), _sum(STATE, VECTOR), _joined(_sum(STATE, Part(2)))),),
    ),
    *beside(
        OUTGROWN,
        falling=(
            _soft_last(_wider(_one("ReLU-1", _chosen()))),
            _soft_last(_wider(_soft_last(_chosen("?,?,3")))),
            _soft_last(_wider(_one("ReLU-1", _chosen()), 4)),
            _soft_last(_wider(_one("ReLU-1", _chosen_of(_soft_last(_wider(UNSIZED)))))),
            _soft_last(_wider(_one("ReLU-1", _chosen_of(_soft_last(_summed(_wider(UNSIZED, 6))))))),
        ),
        others=(
            _soft_last(_wider(_one("ReLU-1", _chosen_of(_soft_last(_summed(_wider(UNSIZED))))))),
            _soft_last(_wider(_of_chosen(_one("ReLU-1", _chosen())))),
            _soft_last(_wider(_one("ReLU-1", _chosen("4,2,3")))),
            _soft_last(_wider(_chosen())),
            _soft_last(_wider(_one("ReLU-1", _chosen()), 3)),
            _soft_last(_wider(_largest(_one("ReLU-1", _chosen("?,?,3"))))),
            _one("ReLU-1", _wider(_one("ReLU-1", _chosen()))),
            _wider(_one("ReLU-1", _chosen())),
            _sum(_one("ReLU-1", _one("Tanh-1", NUMBER_CHOSEN)), counted(4, 2, 3)),
        ),
    ),
    *beside(
        PRODUCT,
        falling=(
            _after(_product(MATRICES), GROWING),
            _after(PRODUCED, GROWING, _zeros_of(PRODUCED)),
            _after(_one("ReLU-1", _product(MATRICES)), GROWING),
            _after(_sum(_product(MATRICES), Fixed(counted(3))), GROWING),
            _after(_product(MATRICES), _one("Sigmoid-1", GROWING)),
            _after(_product(MATRICES), Call("Subtract-1", (_flat(Part(0)), Part(1)))),
        ),
        others=(
            _after(MATRICES, GROWING),
            _after(_one("Exp-1", _product(MATRICES)), GROWING),
            _after(_product(MATRICES), _sum(Part(1), Part(0))),
            _after(_product(MATRICES), Call("Subtract-1", (Part(1), _flat(Part(0))))),
            _after(_product(MATRICES), _one("SoftPlus-4", _sum(Part(1), Part(0)))),
            _after(_product(MATRICES), GROWING, np.zeros((1, 2, 3), np.float32)),
            Call(
                "TensorIterator-1",
                (_product(MATRICES), Fixed(_zeros(1, 2, 3))),
                body=Body(1, (_one("Sigmoid-1", _one("Tanh-1", Part(0))),), ()),
            ),
        ),
    ),
    *beside(
        UNSIZED_PRODUCT,
        falling=(_after(_product(UNSIZED), GROWING), _after(_one("ReLU-1", _product(UNSIZED)), GROWING)),
        others=(
            _after(_soft_last(_product(UNSIZED)), GROWING),
            _after(_product(UNSIZED), _sum(Part(1), Part(0))),
            _after(_product(UNSIZED), GROWING, np.zeros((1, 2, 3), np.float32)),
            _after(WITHOUT_SIZE, GROWING, _zeros_of(WITHOUT_SIZE)),
        ),
    ),
)
