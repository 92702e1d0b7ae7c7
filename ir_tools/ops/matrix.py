"""Products of matrices and tensors, and the inverse: MatMul-1, Einsum-7, Inverse-14.

Specification: `matrix/`, a section for each of them (`matrix/einsum-7`).
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops._broadcast import broadcast
from ir_tools.ops._layers import DATA, ROUNDED, Layers, by_formula, composed
from ir_tools.ops._numbers import in_working_type, through_floats
from ir_tools.ops._requirements import raise_first, require_type, same_type
from ir_tools.ops._versions import first_of
from ir_tools.ops.definition import Array, Bounds, Fact, Input, Op, Ref, Refused, Violation
from ir_tools.ops.fields import Attrs, Flag, Text, listed
from ir_tools.types import Dim, is_static, shape_text

__all__ = ["OPS"]

# --- MatMul -----------------------------------------------------------------------------------------------------


def matmul_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for scalars, for matrices that share no dimension, and for batches that cannot be broadcast."""
    left, right = inputs[0].shape, inputs[1].shape
    for name, shape in (("A", left), ("B", right)):
        if shape == ():
            yield Violation(name, "is a scalar, which cannot be multiplied as a matrix")
            return
    if left is None or right is None:
        return
    a, b = as_matrices(attrs, left, right)
    if a[-1].static and b[-2].static and a[-1] != b[-2]:
        yield Violation(
            "A",
            (
                f"{shape_text(left)} has rows of {a[-1]} elements, but B {shape_text(right)} has columns of {b[-2]} "
                "elements"
            ),
        )
    for first, second in _batches(a, b):
        if first.static and second.static and 1 not in (first.size, second.size) and first != second:
            yield Violation(
                "A",
                (
                    f"{shape_text(left)} and B {shape_text(right)} have batch dimensions that cannot be broadcast "
                    "together"
                ),
            )


def as_matrices(attrs: Attrs, left: tuple[Dim, ...], right: tuple[Dim, ...]) -> tuple[tuple[Dim, ...], ...]:
    """Return both shapes as stacks of matrices, `[..., m, k]` and `[..., k, n]`, transposed as the attributes say.

    A list becomes one row on the left, and one column on the right.
    """
    one = Dim.of(1)
    if len(left) > 1 and attrs.transpose_a:
        left = (*left[:-2], left[-1], left[-2])
    if len(right) > 1 and attrs.transpose_b:
        right = (*right[:-2], right[-1], right[-2])
    return (one, *left) if len(left) == 1 else left, (*right, one) if len(right) == 1 else right


def _batches(a: tuple[Dim, ...], b: tuple[Dim, ...]) -> Iterator[tuple[Dim, Dim]]:
    """Return the pairs of batch dimensions of two stacks of matrices, aligned at the last one."""
    rank = max(len(a), len(b))
    one = (Dim.of(1),)
    return zip((one * (rank - len(a)) + a)[:-2], (one * (rank - len(b)) + b)[:-2], strict=True)


def _batch(first: Dim, second: Dim) -> Dim:
    """Return what two batch dimensions broadcast to; the runtime takes intervals that do not overlap for any size."""
    try:
        found = broadcast((first,), (second,))
    except ShapeError:
        return Dim()
    assert found is not None
    return found[0]


def matmul_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[..., m, k]` and `[..., k, n]` of one element type to `[..., m, n]`; batches broadcast.

    The dimension that was added to a list is removed again (`matrix/matmul-1`). Of bounds only exact values are known.

    Raises:
        ShapeError: the element types differ, an input is a scalar, or the shapes do not fit.
    """
    dtype = same_type(inputs)
    raise_first(matmul_violations(attrs, inputs))
    left, right = inputs[0].shape, inputs[1].shape
    if left is None or right is None:
        return (Fact(dtype, None),)
    a, b = as_matrices(attrs, left, right)
    rows = a[-2:-1] if len(left) > 1 else ()
    columns = b[-1:] if len(right) > 1 else ()
    shape = (*(_batch(*pair) for pair in _batches(a, b)), *rows, *columns)
    return (Fact(dtype, shape, _product(attrs, inputs)),)


def _product(attrs: Attrs, inputs: Sequence[Fact]) -> Bounds | None:
    """Return the values of the product if those of both inputs are known."""
    known = [fact.exact for fact in inputs]
    if known[0] is None or known[1] is None:
        return None
    left = known[0].swapaxes(-1, -2) if attrs.transpose_a and known[0].ndim > 1 else known[0]
    right = known[1].swapaxes(-1, -2) if attrs.transpose_b and known[1].ndim > 1 else known[1]
    return Bounds.exactly(np.matmul(left, right))


def matmul(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Map `[..., m, k]` and `[..., k, n]` to their product `[..., m, n]`, in the type of the inputs.

    Half floats and integers are computed in f32, as in the CPU plugin.
    """
    left, right = arrays
    left = left.swapaxes(-1, -2) if attrs.transpose_a and left.ndim > 1 else left
    right = right.swapaxes(-1, -2) if attrs.transpose_b and right.ndim > 1 else right
    return (in_working_type(through_floats(_multiplied), left, right),)


def _multiplied(left: Array, right: Array) -> Array:
    """Return one product in place of a stack of products if all share the second matrix."""
    if left.ndim > 2 and right.ndim == 2 and left.flags.c_contiguous:
        rows: Array = np.matmul(left.reshape(math.prod(left.shape[:-1]), left.shape[-1]), right)
        return rows.reshape(*left.shape[:-1], right.shape[-1])
    product: Array = np.matmul(left, right)
    return product


@by_formula("a vector is a matrix of one row or of one column")
def product_of_vectors(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite MatMul-1 of a vector: OpenVINO 2021.2 does not multiply one with constants, nor matrices with one."""
    ranks = [layers.rank(Ref(None, number)) for number in range(2)]
    if 1 not in ranks:
        return Refused("neither input is a vector")
    left, right = (
        layers.call("Unsqueeze", Ref(None, number), np.array([number])) if rank == 1 else Ref(None, number)
        for number, rank in enumerate(ranks)
    )
    turned = [bool(flag) and rank > 1 for flag, rank in zip((attrs.transpose_a, attrs.transpose_b), ranks, strict=True)]
    product = layers.call("MatMul", left, right, transpose_a=turned[0], transpose_b=turned[1])
    last = max(*ranks, 2)
    return layers.call("Squeeze", product, np.array([last - 2 + number for number in range(2) if ranks[number] == 1]))


@by_formula("a product with one row is one element by element, and one with one column is the sum of these")
def product_by_elements(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite MatMul-1 by matrices of one row or one column: releases up to 2022 take several for one matrix.

    The maximum of equal values keeps the sum apart from elementwise layers, with which 2022.1 computes it wrongly.
    """
    data, held = layers.inputs
    if held.shape is None or len(held.shape) < 2 or not is_static(held.shape) or data.dtype.kind == "boolean":
        return Refused("the sizes of its second matrix are not known")
    *batch, rows, columns = held.dims
    if attrs.transpose_b:
        rows, columns = columns, rows
    if 1 not in {rows, columns}:
        return Refused("its second matrix has several rows and columns")
    left = DATA
    if attrs.transpose_a:
        rank = layers.rank(DATA)
        left = layers.call("Transpose", DATA, np.array([*range(rank - 2), rank - 1, rank - 2]))
    right = layers.reshape(Ref(None, 1), np.array([*batch, 1, rows * columns]))
    found = layers.call("Multiply", left, right)
    if rows == 1:
        return found
    total = layers.call("ReduceSum", found, np.array([-1]), keep_dims=True)
    return layers.call("Maximum", total, total)


@by_formula("products of matrices are the same in any number of dimensions")
def product_in_three_dimensions(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite MatMul-1 of more dimensions, or of two numbers of them.

    OpenVINO 2021.2 and 2021.3 compile it for four at most, and 2021.2 to 2021.4 no matrix by a constant with more.
    """
    dims = [fact.dims for fact in layers.inputs if is_static(fact.shape)]
    ranks = {*map(len, dims)}
    if len(dims) < len(layers.inputs) or (len(ranks) == 1 and max(ranks) < 5):
        return Refused("its inputs have unknown sizes, or both as many dimensions, at most four")
    if min(map(len, dims)) < 2 or len({sizes[:-2] for sizes in dims if set(sizes[:-2]) - {1}}) > 1:
        return Refused("it repeats both inputs, or one is a vector")
    left, right = (
        layers.reshape(Ref(None, number), np.array([math.prod(sizes[:-2]), *sizes[-2:]]))
        for number, sizes in enumerate(dims)
    )
    product = layers.call("MatMul", left, right, transpose_a=attrs.transpose_a, transpose_b=attrs.transpose_b)
    return layers.reshape(product, np.array(matmul_shape(attrs, layers.inputs)[0].dims))


# --- Einsum -----------------------------------------------------------------------------------------------------

REST = "..."
ONE = Dim.of(1)


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation in parts: the labels of every input and of the output, `...` among them."""

    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]


def labels_of(subscript: str) -> tuple[str, ...]:
    """Return the labels of a subscript: `("a", "b", "...", "c")` for `"ab...c"`.

    Raises:
        ValueError: it has other characters than letters, or a second `...`.
    """
    before, dots, after = subscript.partition(REST)
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise ValueError(f"has '{letter}' in '{subscript}'; expected letters and at most one ...")
    return (*before, REST, *after) if dots else tuple(before)


def equation_of(text: str) -> Equation:
    """Return an equation in parts.

    Without `->` the output has every letter that is in one input only, in alphabetical order, after `...`.

    Raises:
        ValueError: a subscript cannot be read, or the output has a label twice, or one that no input has.
    """
    left, arrow, right = text.partition("->")
    words = left.split(",")
    labels = {word: labels_of(word) for word in dict.fromkeys(words)}
    counts = Counter[str]()
    for word, times in Counter(words).items():
        counts.update(dict.fromkeys(labels[word], times))
    alone = sorted(label for own in labels.values() for label in own if label != REST and counts[label] == 1)
    output = labels_of(right) if arrow else (*([REST] if REST in counts else []), *alone)
    missing = [label for label in output if label not in counts]
    if missing:
        raise ValueError(f"has '{missing[0]}' in the output, but in no input")
    if len(set(output)) < len(output):
        raise ValueError("has a label twice in the output")
    return Equation(tuple(labels[word] for word in words), output)


def einsum_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for an equation that cannot be read, or that does not fit the number or the shapes of the inputs."""
    try:
        equation = equation_of(attrs.equation)
        if len(equation.inputs) != len(inputs):
            raise ValueError(
                f"has subscripts for {plural(len(equation.inputs), 'input')}, but the layer has {len(inputs)}"
            )
        sizes_of(equation, inputs)
    except ValueError as why:
        yield Violation("equation", str(why))


def sizes_of(equation: Equation, inputs: Sequence[Fact]) -> dict[str, tuple[Dim, ...]]:
    """Return the dimensions of every label: one for a letter, any number for `...`.

    `...` is left out if the rank of an input that has it is unknown.

    Raises:
        ValueError: the inputs do not fit the equation, or each other.
    """
    sizes: dict[str, tuple[Dim, ...]] = {}
    unknown_rank = False
    for labels, fact in zip(equation.inputs, inputs, strict=True):
        if fact.shape is None:
            sizes = {**dict.fromkeys(labels, (Dim(),)), **sizes}
            unknown_rank |= REST in labels
            continue
        own: dict[str, tuple[Dim, ...]] = {}
        for label, dims in _parts(labels, fact.shape):
            own[label] = dims if label not in own else _equal(label, own[label], dims)
        for label, dims in own.items():
            sizes[label] = dims if label not in sizes else _common(label, sizes[label], dims)
    if unknown_rank:
        del sizes[REST]
    return sizes


def _parts(labels: tuple[str, ...], shape: tuple[Dim, ...]) -> Iterator[tuple[str, tuple[Dim, ...]]]:
    """Yield each label of an input with its dimensions.

    Raises:
        ValueError: the input has another rank.
    """
    rest = len(shape) - len(labels) + (REST in labels)
    if rest < 0 or (rest and REST not in labels):
        raise ValueError(f"has {len(labels)} labels '{''.join(labels)}' for an input of rank {len(shape)}")
    position = 0
    for label in labels:
        count = rest if label == REST else 1
        yield label, shape[position : position + count]
        position += count


def _equal(label: str, left: tuple[Dim, ...], right: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return the dimension of a label that one input has twice, of which the diagonal is taken.

    Raises:
        ValueError: the two dimensions differ.
    """
    met = left[0].meet(right[0])
    if met is None:
        raise ValueError(f"has '{label}' for dimensions {left[0]} and {right[0]} of one input")
    return (met,)


def _common(label: str, left: tuple[Dim, ...], right: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return the dimensions of a label that two inputs have: they broadcast.

    Raises:
        ValueError: they cannot be broadcast.
    """
    try:
        return broadcast(left, right) or ()
    except ShapeError:
        raise ValueError(f"has '{label}' for dimensions {listed(left)} and {listed(right)}") from None


def einsum_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the dimensions of the labels of the output, for inputs of one element type: floats or integers.

    Dimensions of one label broadcast; a label that one input has twice needs equal ones (`matrix/einsum-7`).

    Raises:
        ShapeError: the element types differ or are not supported, or the equation does not fit the inputs.
    """
    dtype = same_type(inputs)
    require_type(dtype, "float integer")
    raise_first(einsum_violations(attrs, inputs))
    equation = equation_of(attrs.equation)
    sizes = sizes_of(equation, inputs)
    known = all(label in sizes for label in equation.output)
    return (Fact(dtype, tuple(dim for label in equation.output for dim in sizes[label]) if known else None),)


def einsum(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the product of the inputs, summed over all labels that the output does not have.

    Half floats and integers are computed in f32, as in the CPU plugin.
    """
    equation = equation_of(attrs.equation)
    names = sorted({label for labels in equation.inputs for label in labels} - {REST})
    rest = max((array.ndim - len(labels) + 1 for labels, array in _with_rest(equation, arrays)), default=0)

    def axes(labels: tuple[str, ...], dots: int) -> list[int]:
        """Return the labels as numbers; those of ... count from the last one back."""
        parts = [
            [*range(len(names) + rest - dots, len(names) + rest)] if x == REST else [names.index(x)] for x in labels
        ]
        return [axis for part in parts for axis in part]

    def summed(*values: Array) -> Array:
        operands: list[Any] = []
        for labels, array in zip(equation.inputs, values, strict=True):
            operands += [array, axes(labels, array.ndim - len(labels) + 1)]
        out: Array = np.einsum(*operands, axes(equation.output, rest), optimize=len(values) > 1)
        return np.asarray(out)

    return (in_working_type(through_floats(summed), *arrays),)


def _with_rest(equation: Equation, arrays: Sequence[Array]) -> Iterator[tuple[tuple[str, ...], Array]]:
    """Return the inputs that have `...` in their subscript, with their labels."""
    return ((labels, array) for labels, array in zip(equation.inputs, arrays, strict=True) if REST in labels)


@composed(7, "sums over the labels of one input, and matrix products over the labels of two inputs")
def products_of_matrices(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Einsum-7 of floats as matrix products, the first two inputs first."""
    *given, output = _spelled_out(equation_of(attrs.equation), layers.inputs)
    if not layers.fact(DATA).dtype.is_float:
        return ROUNDED
    labels = [[*dict.fromkeys(own)] for own in given]
    data: list[Ref] = []
    for source, own in zip(layers.given, given, strict=True):
        found = _diagonal(layers, source, own)
        if isinstance(found, Refused):
            return found
        data.append(found)
    while len(labels) > 2:
        later = {label for own in labels[2:] for label in own}
        kept = [label for label in dict.fromkeys(labels[0] + labels[1]) if label in output or label in later]
        found = _summed_product(layers, data[:2], labels[:2], kept)
        if isinstance(found, Refused):
            return found
        data[:2], labels[:2] = [found], [kept]
    return _summed_product(layers, data, labels, output)


def _spelled_out(equation: Equation, inputs: Sequence[Fact]) -> list[list[str]]:
    """Return the labels of every input and of the output; `...` has one for each dimension, counted from the last."""
    counts = [len(fact.shape or ()) - len(own) + 1 for own, fact in zip(equation.inputs, inputs, strict=True)]
    most = max((count for own, count in zip(equation.inputs, counts, strict=True) if REST in own), default=0)
    return [
        [
            one
            for label in own
            for one in ([f"{REST}{number}" for number in range(count, 0, -1)] if label == REST else [label])
        ]
        for own, count in zip([*equation.inputs, equation.output], [*counts, most], strict=True)
    ]


def _diagonal(layers: Layers, data: Ref, labels: Sequence[str]) -> Ref | Refused:
    """Add the elements whose positions along the axes of one label are equal."""
    found, own = data, [*labels]
    while len({*own}) < len(own):
        second = next(place for place, label in enumerate(own) if label in own[:place])
        first = own.index(own[second])
        shape = layers.fact(found).shape
        if shape is None or not shape[first].static:
            return Refused(f"has '{own[second]}' twice in one input, whose size is not known", "equation")
        mask = np.eye(shape[first].size, dtype=np.bool_)
        mask = mask.reshape([shape[first].size if axis in {first, second} else 1 for axis in range(len(own))])
        kept = layers.call("Select", mask, found, 0)
        found = layers.call("ReduceSum", kept, np.array([second]))
        del own[second]
    return found


def _summed_product(
    layers: Layers, data: Sequence[Ref], labels: Sequence[list[str]], output: Sequence[str]
) -> Ref | Refused:
    """Add the product of one or two inputs with every label once in each."""
    sizes = [
        dict(zip(own, layers.fact(source).shape or (), strict=False)) for source, own in zip(data, labels, strict=True)
    ]
    summed, left = list[Ref](), list[list[str]]()
    for number, own in enumerate(labels):
        wanted = {*output}
        for other in range(len(labels)):
            one = {label for label in own if (sizes[number].get(label) == ONE) != (sizes[other].get(label) == ONE)}
            wanted |= {*labels[other]} - one if other != number else set()
        alone = np.array([place for place, label in enumerate(own) if label not in wanted], np.int64)
        source = data[number]
        if alone.size:
            source = layers.call("Squeeze", layers.call("ReduceSum", source, alone, keep_dims=True), alone)
        summed.append(source)
        left.append([label for label in own if label in wanted])
    if len(left) == 1:
        return _ordered(layers, summed[0], left[0], output)
    return _contracted(layers, summed, left, output)


def _contracted(
    layers: Layers, data: Sequence[Ref], labels: Sequence[list[str]], output: Sequence[str]
) -> Ref | Refused:
    """Add the product of stacks of matrices, `[shared..., own of A, inner]` by `[shared..., inner, own of B]`."""
    left, right = labels
    shared = [label for label in output if label in left and label in right]
    inner = [label for label in left if label in right and label not in output]
    own = [[label for label in each if label not in shared and label not in inner] for each in labels]
    sizes: dict[str, Dim] = {}
    for number, each in enumerate(labels):
        shape = layers.fact(data[number]).shape or (Dim(),) * len(each)
        for label, size in zip(each, shape, strict=True):
            if size == Dim.of(0) or (label in inner and not (size.static and sizes.get(label, size) == size)):
                return Refused("sums over dimensions that are 0, not known, or broadcast", "equation")
            sizes[label] = size

    def shaped(data: Ref, have: Sequence[str], *groups: Sequence[str], apart: bool = False) -> Ref | Refused:
        """Bring the last labels together in one dimension for each group, or apart again."""
        ordered = (
            data if apart else _ordered(layers, data, have, [*shared, *(label for one in groups for label in one)])
        )
        if all(len(one) == 1 for one in groups):
            return ordered
        parts = [[label] for one in groups for label in one] if apart else groups
        pattern = [0] * len(shared) + [
            math.prod(sizes[label].size for label in one) if all(sizes[label].static for label in one) else -1
            for one in parts
        ]
        if pattern.count(-1) > 1:
            return Refused("merges several labels of unknown size", "equation")
        if not pattern:
            return layers.call("Squeeze", ordered, np.array([0, 1], np.int64))
        return layers.reshape(ordered, np.array(pattern, np.int64))

    first, second = shaped(data[0], left, own[0], inner), shaped(data[1], right, inner, own[1])
    if isinstance(first, Refused) or isinstance(second, Refused):
        return first if isinstance(first, Refused) else second
    found = shaped(layers.call("MatMul", first, second), (), *own, apart=True)
    return found if isinstance(found, Refused) else _ordered(layers, found, [*shared, *own[0], *own[1]], output)


def _ordered(layers: Layers, data: Ref, have: Sequence[str], wanted: Sequence[str]) -> Ref:
    """Add a Transpose where the labels are in another order."""
    order = [have.index(label) for label in wanted]
    if order != sorted(order) or (data.layer is None and [*have] == [*wanted] and len(layers.inputs) == 1):
        return layers.call("Transpose", data, np.array(order, np.int64))
    return data


# --- Inverse ----------------------------------------------------------------------------------------------------


def inverse_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for data that does not consist of square matrices."""
    shape = inputs[0].shape
    if shape is None:
        return
    if len(shape) < 2:
        yield Violation("data", f"is {shape_text(shape)}; expected matrices")
    elif shape[-2].static and shape[-1].static and shape[-2] != shape[-1]:
        yield Violation("data", f"is {shape_text(shape)}; expected square matrices")


def inverse_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data, `[..., n, n]` of floats (`matrix/inverse-14`).

    Raises:
        ShapeError: the data is not of floats, or does not consist of square matrices.
    """
    require_type(inputs[0].dtype, "float")
    raise_first(inverse_violations(attrs, inputs))
    return (Fact(inputs[0].dtype, inputs[0].shape),)


def inverse(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Map matrices `[..., n, n]` to their inverses, transposed if `adjoint` is set (`matrix/inverse-14`).

    NaN for a matrix that has no inverse, or elements that are not finite. Half floats are computed in f32.
    """

    def inverted(stack: Array) -> Array:
        out = np.full_like(stack, np.nan)
        for place in np.argwhere(np.isfinite(stack).all((-2, -1))):
            with suppress(np.linalg.LinAlgError):
                out[*place] = np.linalg.inv(stack[*place])
        return out.swapaxes(-1, -2) if attrs.adjoint else out

    return (in_working_type(inverted, arrays[0]),)


@composed(14, "for invertible matrices, the transposed cofactors divided by the determinant", wide=True)
def inverse_by_cofactors(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Inverse-14 of matrices of up to 3 by 3 elements."""
    data = layers.working(0)
    rank, size = layers.rank(data), layers.size(data, -1)
    if isinstance(size, Ref) or size > LARGEST_INVERSE:
        return Refused(
            f"only inverses of matrices up to {LARGEST_INVERSE} by {LARGEST_INVERSE} are written as cofactors"
        )
    rows = [layers.gather(data, row, rank - 2) for row in range(int(size))]
    elements = [[layers.gather(row, column, rank - 2) for column in range(int(size))] for row in rows]
    one = layers.number(1, data)
    cofactors = [
        [_cofactor(layers, elements, row, column, one) for column in range(int(size))] for row in range(int(size))
    ]
    terms = [layers.call("Multiply", *pair) for pair in zip(elements[0], cofactors[0], strict=True)]
    determinant = terms[0]
    for term in terms[1:]:
        determinant = layers.call("Add", determinant, term)
    ordered = cofactors if attrs.adjoint else [*zip(*cofactors, strict=True)]
    columns = [
        layers.call("Unsqueeze", layers.call("Divide", each, determinant), np.array(-1))
        for row in ordered
        for each in row
    ]
    flat = layers.call("Concat", *columns, axis=-1) if len(columns) > 1 else columns[0]
    return layers.reshape(flat, np.array([*[0] * (rank - 2), size, size]))


LARGEST_INVERSE = 3


def _cofactor(layers: Layers, elements: Sequence[Sequence[Ref]], row: int, column: int, one: Array) -> Ref | Array:
    """Add the determinant of a matrix without a row and a column, with its sign."""
    size = len(elements)
    rows, columns = ([(place + step) % size for step in range(1, size)] for place in (row, column))
    if size == 1:
        return one
    if size == 2:
        other = elements[rows[0]][columns[0]]
        return other if row == column else layers.call("Negative", other)
    left = layers.call("Multiply", elements[rows[0]][columns[0]], elements[rows[1]][columns[1]])
    right = layers.call("Multiply", elements[rows[0]][columns[1]], elements[rows[1]][columns[0]])
    return layers.call("Subtract", left, right)


MATMUL = Op(
    type="MatMul",
    version=1,
    inputs=(Input("A", type="T"), Input("B", type="T")),
    types={"T": "float integer boolean"},
    attrs={"transpose_a": Flag(default=False), "transpose_b": Flag(default=False)},
    check=matmul_violations,
    shape=matmul_shape,
    kernel=matmul,
    substitute=first_of(product_of_vectors, product_in_three_dimensions, product_by_elements),
)
EINSUM = Op(
    type="Einsum",
    version=7,
    inputs=(Input("inputs", type="T", many=True),),
    types={"T": "float integer"},
    attrs={"equation": Text()},
    check=einsum_violations,
    shape=einsum_shape,
    kernel=einsum,
    migrate=products_of_matrices,
)
INVERSE = Op(
    type="Inverse",
    version=14,
    migrate=inverse_by_cofactors,
    inputs=(Input("data", type="float"),),
    attrs={"adjoint": Flag(default=False)},
    check=inverse_violations,
    shape=inverse_shape,
    kernel=inverse,
)

OPS = (MATMUL, EINSUM, INVERSE)
