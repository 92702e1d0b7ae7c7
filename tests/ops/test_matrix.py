"""Products and inverses against the installed runtime: partial shapes, faults, element types, values."""

from collections.abc import Sequence

import numpy as np
import pytest

from ir_tools.ops import Array, Attrs, matrix
from tests.ops.layer_support import faults_of
from tests.ops.math_support import (
    Case,
    agreement,
    our_shape,
    random_array,
    random_shape,
    runtime_shapes,
)
from tests.ops.single import attrs_of, computed, infer, single, slots_of

MATMUL, EINSUM, INVERSE = matrix.OPS
RANKS = {"a": 2, "b": 3, "c": 4, "d": 5, "E": 1}


def random_einsum(rng: np.random.Generator) -> Case:
    """An equation of one to three inputs, with repeated letters, sizes of 1 and ..., that mostly fits."""
    inputs: list[list[str]] = []
    dots = rng.random() < 0.3
    for _ in range(rng.integers(1, 4)):
        labels = [str(letter) for letter in rng.choice(list(RANKS), rng.integers(1, 4))]
        if dots and rng.random() < 0.8:
            labels.insert(int(rng.integers(0, len(labels) + 1)), "...")
        inputs.append(labels)
    letters = sorted({label for labels in inputs for label in labels} - {"..."})
    output = [str(letter) for letter in rng.permutation(letters) if rng.random() < 0.6]
    if any("..." in labels for labels in inputs) and rng.random() < 0.95:
        output.insert(int(rng.integers(0, len(output) + 1)), "...")
    if rng.random() < 0.05:
        output.append("z")
    equation = ",".join("".join(labels) for labels in inputs)
    if rng.random() < 0.7:
        equation += "->" + "".join(output)
    known = float(rng.choice([1, 0.6]))
    return Case(EINSUM, {"equation": equation}, [("f32", _shape_of(rng, labels, known)) for labels in inputs])


def _shape_of(rng: np.random.Generator, labels: list[str], known: float) -> str:
    sizes: list[int] = []
    for label in labels:
        if label == "...":
            sizes += [int(size) for size in rng.choice([1, 7], rng.integers(0, 3))]
        else:
            sizes.append((RANKS[label] if rng.random() < 0.8 else 1) + int(rng.random() < 0.02))
    return random_shape(rng, sizes + [2] * int(rng.random() < 0.03), known) if sizes else ""


def test_shapes_of_einsum() -> None:
    assert agreement(random_einsum, 250) > 0.7


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            Case(MATMUL, {}, [("f32", "2,3"), ("f32", "4,5")]),
            "has rows of 3 elements, but B [4,5] has columns of 4 elements",
        ),
        (Case(MATMUL, {}, [("f32", "2,2,3"), ("f32", "3,3,5")]), "cannot be broadcast together"),
        (Case(MATMUL, {}, [("f32", ""), ("f32", "3")]), "is a scalar"),
        (Case(EINSUM, {"equation": "ab,bc->ac"}, [("f32", "2,3")]), "has subscripts for 2 inputs, but the layer has 1"),
        (Case(EINSUM, {"equation": "ab->ac"}, [("f32", "2,3")]), "has 'c' in the output, but in no input"),
        (Case(EINSUM, {"equation": "a->aa"}, [("f32", "2")]), "twice in the output"),
        (Case(EINSUM, {"equation": "abc->a"}, [("f32", "2,3")]), "3 labels 'abc' for an input of rank 2"),
        (Case(EINSUM, {"equation": "a1->a"}, [("f32", "2,3")]), "has '1' in 'a1'"),
        (Case(EINSUM, {"equation": "é->é"}, [("f32", "2")]), "has 'é' in 'é'"),
        (Case(EINSUM, {"equation": "a b->a"}, [("f32", "2,3")]), "has ' ' in 'a b'"),
        (Case(EINSUM, {"equation": "a,a->a"}, [("f32", "2"), ("f32", "3")]), "has 'a' for dimensions 2 and 3"),
        (Case(INVERSE, {}, [("f32", "2,3")]), "square"),
        (Case(INVERSE, {}, [("f32", "3")]), "matrices"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_faults(case: Case, message: str) -> None:
    """Each is rejected by the runtime on reading or compiling."""
    (fault,) = faults_of(case.op, case.raw, case.slots)
    assert message in fault.message


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["...", "2,3", "?,4..5,3"])
@pytest.mark.parametrize("second", ["...", "3,4", "2,3,?"])
@pytest.mark.parametrize("equation", ["...ij,...jk->...ik", "...ij,...jk->ki", "...ij,...jk->i...", "...i,...ji->j"])
def test_dots_of_unknown_rank(equation: str, first: str, second: str) -> None:
    """Inputs of unknown rank may have dots; only the rank of the output may then be unknown."""
    case = Case(EINSUM, {"equation": equation}, [("f32", first), ("f32", second)])
    assert [our_shape(case)] == runtime_shapes([case])


def einsum_values(rng: np.random.Generator) -> tuple[Case, list[Array]]:
    inputs = []
    for _ in range(rng.integers(1, 4)):
        labels = [str(letter) for letter in rng.choice(list("abcd"), rng.integers(1, 4), replace=rng.random() < 0.2)]
        if rng.random() < 0.6:
            labels.insert(int(rng.integers(0, len(labels) + 1)), "...")
        inputs.append(labels)
    letters = sorted({label for labels in inputs for label in labels} - {"..."})
    output = [str(letter) for letter in rng.permutation(letters) if rng.random() < 0.6]
    if any("..." in labels for labels in inputs) and rng.random() < 0.8:
        output.insert(int(rng.integers(0, len(output) + 1)), "...")
    kind, arrays = str(rng.choice(["f32", "f16", "f64", "i32", "i64"])), []
    for labels in inputs:
        sizes: list[int] = []
        small = {label: rng.random() < 0.15 for label in letters}
        for label in labels:
            rest = [2 if rng.random() < 0.8 else 1, 3][int(rng.integers(0, 3)) :]
            sizes += rest if label == "..." else [1 if small[label] else RANKS[label]]
        arrays.append(random_array(rng, kind, sizes))
    equation = ",".join("".join(labels) for labels in inputs) + "->" + "".join(output)
    return Case(EINSUM, {"equation": equation}, slots_of(arrays)), arrays


def by_hand(equation: str, arrays: Sequence[Array]) -> Array:
    """An einsum: every input spread over all labels, multiplied, summed over those that the output lacks."""
    left, right = equation.replace("...", "*").split("->")
    letters = sorted(set(left) - {",", "*"})
    inputs = [*zip(left.split(","), arrays, strict=True)]
    stars = max((array.ndim - len(labels) + 1 for labels, array in inputs if "*" in labels), default=0)
    axes = [*letters, *(f"*{index}" for index in range(stars))]

    def names(labels: str, rank: int) -> list[str]:
        out: list[str] = []
        for label in labels:
            count = rank - len(labels) + 1
            stands = [f"*{index}" for index in range(stars - count, stars)] if label == "*" else [label]
            out += stands
        return out

    total = np.ones(())
    for labels, array in inputs:
        values, own = array.astype(np.float64), names(labels, array.ndim)
        for label in sorted(set(own)):
            while own.count(label) > 1:
                first, second = [place for place, name in enumerate(own) if name == label][:2]
                values = np.moveaxis(np.diagonal(values, axis1=first, axis2=second), -1, first)
                del own[second]
        order = sorted(range(len(own)), key=lambda place: axes.index(own[place]))
        values = values.transpose(order)
        shape = [
            values.shape[sorted(map(axes.index, own)).index(i)] if name in own else 1 for i, name in enumerate(axes)
        ]
        total = total * values.reshape(shape)
    wanted = names(right, len(right) - 1 + stars if "*" in right else len(right))
    summed = tuple(index for index, name in enumerate(axes) if name not in wanted)
    kept = [name for name in axes if name in wanted]
    return np.asarray(total.sum(axis=summed)).transpose([kept.index(name) for name in wanted])


def test_values_of_einsum() -> None:
    """By hand: with dots the runtime confuses dimensions, as in `...db,...c->...dcb`."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        case, arrays = einsum_values(rng)
        (found,) = computed(EINSUM, attrs_of(EINSUM, case.raw), arrays)
        tolerance = 2e-3 if found.dtype == np.float16 else 1e-5
        wanted = by_hand(case.raw["equation"], arrays)
        np.testing.assert_allclose(found.astype(np.float64), wanted, tolerance, 10 * tolerance, err_msg=str(case))


@pytest.mark.parametrize("adjoint", ["true", "false"])
def test_singular_matrices_have_no_inverse_and_the_others_have(adjoint: str) -> None:
    """By hand: the runtime gives any numbers of a matrix without an inverse."""
    stack = np.array([[[1, 2], [2, 4]], [[1, 2], [3, 4]], [[np.inf, 0], [0, 1]], [[0, 0], [0, 0]]], np.float32)
    (found,) = computed(INVERSE, Attrs({"adjoint": adjoint == "true"}), [stack])
    assert np.isnan(found).all(axis=(1, 2)).tolist() == [True, False, True, True]
    other = found[1].T if adjoint == "true" else found[1]
    np.testing.assert_allclose(other @ stack[1], np.eye(2), atol=1e-6)


@pytest.mark.parametrize("factor", [1e-20, 0.1, 10])
def test_matrices_whose_determinants_leave_the_element_type_have_inverses(factor: float) -> None:
    rng = np.random.default_rng(0)
    stack = (factor * (np.eye(60) + rng.uniform(-0.01, 0.01, (2, 60, 60)))).astype(np.float32)
    with np.errstate(over="ignore"):
        assert not (set(np.linalg.det(stack).tolist()) - {0, np.inf})
    (found,) = computed(INVERSE, Attrs({"adjoint": False}), [stack])
    wanted = infer(single("Inverse", 14, {"adjoint": "false"}, slots_of([stack])), [stack])
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-5 / factor)
