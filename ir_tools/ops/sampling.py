"""Random values: RandomUniform-8, Multinomial-13.

Specification: `generation/`.
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from ir_tools.ops._philox import fractions, integers_between, pairs, torch_fractions, torch_words, words
from ir_tools.ops._requirements import require, require_one, require_rank, require_sizes
from ir_tools.ops._values import known_number, sizes_of
from ir_tools.ops._versions import no_step
from ir_tools.ops.definition import Array, Fact, Folding, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Flag, IndexType, Int, OneOf, Type
from ir_tools.ops.limits import MAX_SIZES
from ir_tools.types import Dim, Shape

__all__ = ["OPS"]

MAX_U32 = 0xFFFFFFFF


def check_uniform(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that the limits have the type of the output."""
    for name, fact in zip(("minval", "maxval"), inputs[1:], strict=False):
        if fact.dtype.kind != "dynamic" and fact.dtype != attrs.output_type:
            message = f"has element type {fact.dtype}, but output_type is {attrs.output_type}"
            yield Violation(name, message, "convert it", ViolationKind.TYPES)


def uniform_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape that the first input holds; of an unknown one as many dimensions as it has values at most."""
    sizes, minimum, maximum = inputs
    require_sizes(sizes, "shape")
    for fact, name in ((minimum, "minval"), (maximum, "maxval")):
        require_one(fact, name)
    low, high = known_number(minimum), known_number(maximum)
    require(
        low is None or high is None or low < high,
        f"is {low}, but maxval is {high}; expected a smaller minval",
        attribute="minval",
    )
    shape: Shape = sizes_of(sizes, "shape")
    length = sizes.shape[0] if sizes.shape else Dim()
    if shape is None and length.hi is not None and length.hi <= MAX_SIZES:
        shape = (Dim(),) * length.hi
    return (Fact(attrs.output_type, shape),)


def random_uniform(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return numbers from `minval` to `maxval` that seeds decide."""
    sizes, minimum, maximum = (array.ravel() for array in inputs)
    shape, dtype = tuple(map(int, sizes)), attrs.output_type.dtype
    if dtype.kind in "iu":
        limits = int(minimum[0]), int(maximum[0])
        found = _drawn(attrs, prod(shape), _is_paired(attrs, limits))
        return (integers_between(found, *limits).astype(dtype).reshape(shape),)
    found, torch = _drawn(attrs, prod(shape), paired=attrs.output_type.name == "f64"), attrs.alignment == "pytorch"
    wide = np.float64 if attrs.output_type.name == "f64" else np.float32
    parts = (torch_fractions(found, dtype) if torch else fractions(found, dtype)).astype(wide)
    low, high = (limit.astype(wide)[0] for limit in (minimum, maximum))
    if torch or attrs.output_type.name != "bf16":
        return ((parts * (high - low) + low).astype(dtype).reshape(shape),)
    return (in_bf16(in_bf16(parts * in_bf16(high - low)) + low).astype(dtype).reshape(shape),)


def _drawn(attrs: Attrs, count: int, paired: bool) -> npt.NDArray[np.uint64]:
    """Return random words, or pairs of them: the second is the upper half for integers as TensorFlow makes them."""
    torch, wanted = attrs.alignment == "pytorch", 2 * count if paired else count
    found = torch_words(wanted, attrs.global_seed) if torch else words(wanted, attrs.global_seed, attrs.op_seed)
    return pairs(found, upper=int(not torch and attrs.output_type.name == "i64")) if paired else found


def _is_paired(attrs: Attrs, limits: tuple[int, int]) -> bool:
    """Return whether an integer is made of two words: in i64, as PyTorch makes them only for limits beyond u32."""
    return attrs.output_type.name == "i64" and (attrs.alignment != "pytorch" or max(limits) > MAX_U32)


def in_bf16(values: Array) -> Array:
    """Return f32 values rounded to bf16 as OpenVINO's core does it: up by half a step if the last bit kept is 1."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded: Array = ((bits + ((bits & 0x10000) >> 1)) & np.uint32(0xFFFF0000)).view(np.float32)
    return rounded


def by_chance(attrs: Attrs, inputs: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
    """Mask everything: without seeds every run gives other numbers."""
    return None if attrs.global_seed or attrs.op_seed else np.ones((), bool)


def multinomial_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[batch, samples]`."""
    probabilities, count = inputs
    require_rank(probabilities, 2, "probs")
    require_one(count, "num_samples")
    samples = sizes_of(count, "num_samples")
    if probabilities.shape is None:
        return (Fact(attrs.convert_type, None),)
    return (Fact(attrs.convert_type, (probabilities.shape[0], samples[0] if samples else Dim())),)


SEEDS = {"global_seed": Int(default=0), "op_seed": Int(default=0)}

RANDOM_UNIFORM = Op(
    type="RandomUniform",
    version=8,
    migrate=no_step(8, "it draws random numbers, and no older operation draws the same numbers"),
    folding=Folding.NONE,
    inputs=(Input("shape", type="i32 i64"), Input("minval", type="T"), Input("maxval", type="T")),
    attrs={
        "output_type": Type(),
        **SEEDS,
        "alignment": OneOf(words=("tensorflow", "pytorch"), default="tensorflow"),
    },
    types={"T": "float i32 i64"},
    check=check_uniform,
    shape=uniform_shape,
    kernel=random_uniform,
    undefined_mask=by_chance,
)
MULTINOMIAL = Op(
    type="Multinomial",
    version=13,
    migrate=no_step(13, "it draws random numbers, and no older operation draws the same numbers"),
    folding=Folding.NONE,
    inputs=(Input("probs", type="float"), Input("num_samples", type="integer")),
    attrs={
        "convert_type": IndexType(),
        "with_replacement": Flag(runtime_default=False),
        "log_probs": Flag(runtime_default=False),
        **SEEDS,
    },
    shape=multinomial_shape,
)

OPS = (RANDOM_UNIFORM, MULTINOMIAL)
