"""Attention."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ir_tools.known_differences._model import Call, Feed, Fixed, Given, counted, floats, whole
from ir_tools.known_differences.releases._predicates import has_rank
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read, not_run
from ir_tools.known_differences.releases._samples import PLAIN, quantized
from ir_tools.known_differences.releases.seen import Pattern, Seen
from ir_tools.ops import Array
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import element_type, is_static

__all__ = ["ROWS"]

ACTIVATIONS = frozenset(
    {
        *("Abs", "Ceiling", "Clamp", "Elu", "Erf", "Exp", "FakeQuantize", "Floor", "Gelu", "HSwish", "Negative"),
        *("ReLU", "Round", "Sigmoid", "Sqrt", "Tanh"),
    }
)
"""Types of layers that releases up to 2024.6 compile together with an attention whose keys they compute. Measured."""
ENDS_COUNT = (
    "The last query attends to all keys, and those before it to fewer, instead of the first query to the first key."
)
ATTENTION = (counted(1, 2, 4), counted(1, 3, 4), counted(1, 3, 4))
WAVES, MASK = np.sin(counted(1, 2, 3, 4)), np.ones((3, 3), bool)
SOFTMAX, WHOLE = ("SoftMax-1", "SoftMax-8"), ("ScaledDotProductAttention-13",)
HELD = {"variable_id": "v", "variable_type": "f32", "variable_shape": "1,2,3,4"}


def _has_mask(seen: Seen) -> bool:
    """Return whether an attention reads its mask, which it does not if it is causal."""
    return len(seen.inputs) > 3 and seen.attrs is not None and not seen.attrs.causal


def _repeats_mask(seen: Seen, *, known: bool) -> bool:
    """Return whether a mask has one row or column for all of several queries or keys, whose number may be `known`."""
    shapes = [fact.shape for fact in seen.inputs]
    if not _has_mask(seen) or None in shapes[:4] or len(shapes[3] or ()) < 2:
        return False
    query, key, _, mask = (shape or () for shape in shapes[:4])
    sizes = [size for one, size in zip(mask[-2:], (query[-2], key[-2]), strict=True) if one.hi == 1 != size.hi]
    return any((size.lo > 1) is known for size in sizes)


def _mixes_ranks(seen: Seen) -> bool:
    """Return whether queries, keys and values have three and four dimensions, all of known sizes."""
    shapes = [fact.shape for fact in seen.inputs[:3]]
    return all(map(is_static, shapes)) and {len(shape or ()) for shape in shapes} == {3, 4}


def _widens_values(seen: Seen, *, known: bool) -> bool:
    """Return whether queries and keys have three dimensions, and values four; `known`: the sizes are known."""
    ranks = [len(fact.shape or ()) for fact in seen.inputs[:3]]
    return ranks == [3, 3, 4] and seen.has_known_sizes is known


def _is_broadcast(seen: Seen) -> bool:
    """Return whether queries have four dimensions, a size is unknown, and keys or values are repeated for batches.

    Keys and values of a single head for all heads of the queries do not count.
    """
    shapes = [fact.shape for fact in seen.inputs[:3]]
    if seen.has_known_sizes or None in shapes or not has_rank(seen, 4):
        return False
    if any(len(shape or ()) != 4 for shape in shapes):
        return True
    queries, keys, values = (shape or () for shape in shapes)
    pairs = [(queries[0], keys[0]), (keys[0], values[0]), (keys[1], values[1]), (keys[-1], values[-1])]
    return any(one.static and other.static and one != other for one, other in pairs) or _repeats_queries(seen)


def _repeats_queries(seen: Seen) -> bool:
    """Return whether one head of queries is repeated for several of the keys, and a size is unknown."""
    queries, keys = (fact.shape or () for fact in seen.inputs[:2])
    return not seen.has_known_sizes and len(queries) == len(keys) == 4 and queries[1].hi == 1 < keys[1].lo


def _has_constant_heads(seen: Seen) -> bool:
    """Return whether constants are all keys or values of the heads and batches, of which there may be several.

    Queries, keys and values that are all constants are multiplied before. No input has more than four dimensions.
    """
    shape = seen.inputs[0].shape
    if shape is None or all(size.hi == 1 for size in shape[:-2]):
        return False
    if any(fact.shape is None or len(fact.shape) > 4 for fact in seen.inputs):
        return False
    held = {*seen.constant} & {0, 1, 2}
    return held in ({0, 2}, {1, 2}, {1}, {2})


def _is_transposed(seen: Seen, *, computed: bool, activated: bool) -> bool:
    """Return whether, of as many rows as heads, either the queries or the output are transposed beside it.

    Nothing is confused if the values are part of a split.

    Args:
        seen: the attention.
        computed: whether that is the output, and another layer computes the queries.
        activated: whether an activation without other consumers computes the keys.
    """
    shape = seen.inputs[0].shape
    if shape is None or len(shape) != 4 or not is_static(shape) or shape[1] != shape[2] or shape[1].hi == 1:
        return False
    if seen.is_behind({"Split", "VariadicSplit"}, 2) or seen.is_behind(ACTIVATIONS, 1) is not activated:
        return False
    before, behind = seen.is_behind({"Transpose"}), seen.readers == ((0, "Transpose"),)
    return behind and not before and bool(seen.producers[0]) if computed else before is not behind


def _reads_beams(seen: Seen) -> bool:
    """Return whether a Concat joins keys, of a variable that a Gather reads, and whether they are repeated or not."""
    return seen.has(Pattern.GATHERED_KEYS) or seen.has(Pattern.REPEATED_KEYS)


def _is_causal(seen: Seen) -> bool:
    """Return whether an attention is causal."""
    return seen.attrs is not None and bool(seen.attrs.causal)


def _cached(*, gathered: bool = False, causal: bool = False) -> Call:
    """Return an attention whose keys and values variables keep; a Gather changes the order of batches before it."""
    data = Given(_waves(2, 3, 2, 4), "?,?,2,4")
    start = Call(
        "Slice-8", (Call("Abs-1", (data,)), Fixed(whole(0)), Fixed(whole(0)), Fixed(whole(1)), Fixed(whole(1)))
    )
    order = Call("Abs-1", (Given(np.array([1, 0], np.int32), "?"),))
    attrs = {"variable_type": "f32", "variable_shape": "?,?,2,4"}
    kept = dict[str, Call]()
    for name, op in zip("kv", ("Sigmoid-1", "Abs-1"), strict=True):
        state = Call("ReadValue-6", (start,), attrs | {"variable_id": name})
        if gathered:
            state = Call("Gather-8", (state, order, Fixed(whole(0))))
        kept[name] = Call("Concat-1", (state, Call(op, (data,))), {"axis": "1"})
    inputs = (Call("Transpose-1", (one, Fixed(whole(0, 2, 1, 3)))) for one in (Call("Sin-1", (data,)), *kept.values()))
    return Call("ScaledDotProductAttention-13", (*inputs,), {"causal": "true" if causal else "false"}, kept=kept)


def _has_unknown_sizes_and_boolean_mask(seen: Seen, *, pattern: Pattern | None) -> bool:
    return (
        (pattern is None or seen.has(pattern))
        and _has_mask(seen)
        and has_rank(seen, 4)
        and seen.inputs[3].dtype.kind == "boolean"
        and not seen.has_known_sizes
    )


def _masked(keys: Feed, shape: str = "1,2,?,4", mask: Feed = MASK) -> Call:
    """Return an attention with a boolean mask, whose queries have this shape."""
    return Call("ScaledDotProductAttention-13", (Given(WAVES, shape), keys, counted(1, 2, 3, 4), mask), PLAIN)


def _is_widened(seen: Seen, *, known: bool) -> bool:
    """Return whether an attention is combined with a tensor of more dimensions; `known`: its sizes are known."""
    if not seen.has(Pattern.WIDENED) or seen.has_known_sizes is not known:
        return False
    return seen.op.type != "SoftMax" or _is_along_rows(seen, pattern=Pattern.WIDENED)


def _widened(attention: Callable[..., Call], shape: str) -> Call:
    """Return the sum of an attention of three dimensions and a tensor of four."""
    data = (Given(wave.reshape(2, 3, 4), shape) for wave in (WAVES, np.cos(WAVES), WAVES + 1))
    return Call("Add-1", (attention(*data), counted(1, 2, 3, 4)))


def _plain(*inputs: Feed) -> Call:
    return Call("ScaledDotProductAttention-13", inputs, PLAIN)


def _transposed(queries: Array | Call, *, activated: bool = False) -> Call:
    """Return an attention of four heads and four rows whose output is transposed; `activated`: by keys of a ReLU."""
    waves = np.cos(np.arange(128, dtype=np.float32)).reshape(1, 4, 4, 8)
    keys = Call("ReLU-1", (waves,)) if activated else waves
    attention = Call("ScaledDotProductAttention-13", (queries, keys, counted(1, 4, 4, 8)), PLAIN)
    return Call("Transpose-1", (attention, Fixed(whole(0, 2, 1, 3))))


def _quantized(
    keys: int, size: int, *, made: Callable[..., Call] = _plain, given: bool = True, first: bool = True
) -> Call:
    """Return an attention of so many keys for vectors of a size, quantized before (its queries: `first`) and behind."""
    waves = [_waves(1, 4, keys, size), np.cos(counted(1, 4, keys, size)), _waves(1, 4, keys, size) + 1]
    levels = [quantized(wave, Fixed(floats(1.5)), levels=255) for wave in waves[:2]]
    attention = made(levels[0] if first else waves[0], levels[1], waves[2])
    return quantized(attention, Fixed(floats(2.5)), levels=255) if given else attention


def _is_causal_of_unknown_sizes(seen: Seen) -> bool:
    """Return whether queries see the keys before them, and a size is not known."""
    return _is_causal(seen) and not all(is_static(fact.shape) for fact in seen.inputs[:3])


def _is_along_rows(seen: Seen, *, pattern: Pattern, rank: int = 0) -> bool:
    """Return whether a SoftMax along the last axis is part of a pattern, of so many dimensions; 0: of any number."""
    if not seen.has(pattern) or seen.attrs is None or (rank and not has_rank(seen, rank)):
        return False
    return seen.attrs.axis in {-1, seen.rank() - 1}


def _attention(queries: Feed, keys: Feed, values: Feed) -> Call:
    """Return a SoftMax between products, as an attention without heads."""
    weights = Call("SoftMax-8", (Call("MatMul-1", (queries, keys), {"transpose_b": "true"}),), {"axis": "-1"})
    return Call("MatMul-1", (weights, values))


def _waves(*sizes: int) -> Array:
    return np.sin(counted(*sizes))


def _keys_and_values() -> tuple[Array, Array]:
    """Return keys and values of two heads."""
    keys = np.sin(np.arange(2 * 5 * 4)).astype(np.float32).reshape(1, 2, 5, 4)
    return keys, keys + 1


EIGHT = Call("Tanh-1", (_waves(1, 8, 8),))
ROWS = (
    *(
        ReleaseDifference(
            name=f"products around a SoftMax, {what}",
            span=span,
            ops=("SoftMax-1", "SoftMax-8"),
            reason=reason,
            model=model,
            applies=partial(_is_along_rows, pattern=pattern, rank=rank),
            processor=Processor.AVX512,
        )
        for what, span, reason, model, pattern, rank in (
            *(
                (
                    f"values that are the queries, {span}",
                    span,
                    "Threads that share the rows of one batch read wrong values, if these are the queries.",
                    _attention(EIGHT, np.cos(counted(1, 8, 8)), EIGHT),
                    Pattern.QUERIED_VALUES,
                    rank,
                )
                for span, rank in (("2023.1 to 2023.1", 3), ("2023.2 to 2023.3", 0))
            ),
            (
                "tensors of three and of four dimensions",
                "2023.2 to 2024.0",
                "An attention whose queries, keys and values have three and four dimensions has wrong values.",
                _attention(_waves(1, 8, 8), np.cos(counted(1, 3, 8, 8)), _waves(1, 3, 8, 8)),
                Pattern.MIXED_RANKS,
                0,
            ),
        )
    ),
    ReleaseDifference(
        name="attention with a boolean mask",
        span="2023.3 to 2025.2",
        ops=("ScaledDotProductAttention-13",),
        reason="A boolean mask is inverted: a query attends to the keys whose mask is false.",
        model=Call("ScaledDotProductAttention-13", (*ATTENTION, np.array([[True, False, True]] * 2)), PLAIN),
        applies=lambda seen: _has_mask(seen) and seen.inputs[3].dtype.kind == "boolean",
    ),
    *(
        ReleaseDifference(
            name=f"{what} combined with more dimensions, {first} to {last}",
            span=f"{first} to {last}",
            ops=ops,
            state=state,
            reason="Elementwise layers are compiled with it as if they had no more dimensions than it has.",
            model=_widened(attention, shape),
            applies=partial(_is_widened, known=known),
            processor=Processor.AVX512,
        )
        for what, ops, attention, shape, known, first, last, state in (
            ("products around a SoftMax", SOFTMAX, _attention, "2,3,4", True, "2023.1", "2024.0", State.DIFFERS),
            ("products around a SoftMax", SOFTMAX, _attention, "2,3,4", True, "2024.1", "2026.4", State.UNCOMPILED),
            ("attention", WHOLE, _plain, "2,3,4", True, "2023.3", "2024.0", State.DIFFERS),
            ("attention", WHOLE, _plain, "2,3,4", True, "2024.1", "2026.4", State.UNCOMPILED),
            ("attention of unknown sizes", WHOLE, _plain, "2,?,4", False, "2024.4", "2026.4", State.UNCOMPILED),
        )
    ),
    *(
        not_compiled(
            name=f"attention of unknown sizes with a boolean mask{where}",
            span=span,
            ops=("ScaledDotProductAttention-13",),
            reason=f"If a size is unknown, a boolean mask{where} is read but not compiled.",
            model=model,
            applies=partial(_has_unknown_sizes_and_boolean_mask, pattern=pattern),
        )
        for where, span, model, pattern in (
            ("", "2023.3 to 2023.3", _masked(counted(1, 2, 3, 4)), None),
            (
                " beside variables",
                "2023.3 to 2024.6",
                _masked(Call("ReadValue-6", (counted(1, 2, 3, 4),), HELD)),
                Pattern.BESIDE_VARIABLES,
            ),
        )
    ),
    ReleaseDifference(
        name="attention of unknown sizes whose queries are repeated for heads of keys",
        span="2023.3 to 2023.3",
        ops=("ScaledDotProductAttention-13",),
        state=State.DIES,
        reason="If a size is unknown, queries of one head with keys of several end the process.",
        model=_plain(Given(counted(1, 1, 3, 4), "1,1,?,4"), *_keys_and_values()),
        applies=_repeats_queries,
    ),
    not_run(
        name="attention of unknown sizes with other batches, heads or sizes of values than of keys",
        span="2023.3 to 2023.3",
        ops=("ScaledDotProductAttention-13",),
        reason=(
            "If a size is unknown, queries, keys and values have to be of four dimensions and of equal batches, and"
            " values of the heads and size of keys."
        ),
        model=_plain(Given(counted(1, 2, 3, 4), "1,2,?,4"), counted(1, 2, 3, 4), counted(1, 2, 3, 6)),
        applies=_is_broadcast,
    ),
    ReleaseDifference(
        name="causal attention of unknown sizes",
        span="2023.3 to 2023.3",
        ops=("ScaledDotProductAttention-13",),
        reason="If a size is unknown and the numbers of keys and queries differ, a query attends to the wrong keys.",
        sometimes=True,
        model=Call(
            "ScaledDotProductAttention-13",
            (Given(counted(1, 2, 2, 4), "1,2,?,4"), *_keys_and_values()),
            {"causal": "true"},
        ),
        applies=_is_causal_of_unknown_sizes,
    ),
    ReleaseDifference(
        name="attention with keys of beams",
        span="2023.3 to 2023.3",
        ops=("ScaledDotProductAttention-13",),
        reason="From the second inference on, keys and values are not those of the variables if a Gather reads these.",
        sometimes=True,
        model=_cached(gathered=True),
        applies=lambda seen: seen.has(Pattern.GATHERED_KEYS),
    ),
    ReleaseDifference(
        name="causal attention with keys of a variable",
        span="2023.3 to 2024.6",
        ops=("ScaledDotProductAttention-13",),
        reason=ENDS_COUNT,
        model=_cached(causal=True),
        applies=lambda seen: seen.has(Pattern.STATE_KEYS) and _is_causal(seen) and not _reads_beams(seen),
    ),
    ReleaseDifference(
        name="causal attention with keys of beams",
        span="2023.3 to 2026.4",
        ops=("ScaledDotProductAttention-13",),
        reason=ENDS_COUNT,
        model=_cached(gathered=True, causal=True),
        applies=lambda seen: _reads_beams(seen) and _is_causal(seen),
    ),
    ReleaseDifference(
        name="attention of different ranks",
        span="2023.3 to 2024.0",
        ops=("ScaledDotProductAttention-13",),
        reason="If queries, keys and values have three and four dimensions, their batches are not aligned.",
        model=_plain(_waves(4, 3, 8), _waves(4, 4, 6, 8), _waves(4, 4, 6, 8)),
        applies=_mixes_ranks,
    ),
    *(
        not_compiled(
            name=f"attention{sizes} with values of more dimensions than scores",
            span=span,
            ops=("ScaledDotProductAttention-13",),
            reason="Queries and keys of three dimensions are compiled with values as if these had as many.",
            model=_plain(Given(_waves(2, 3, 4), shape), _waves(2, 3, 4), counted(1, 2, 3, 4)),
            applies=partial(_widens_values, known=known),
            processor=Processor.AVX512,
        )
        for sizes, span, shape, known in (
            ("", "2024.1 to 2026.4", "2,3,4", True),
            (" of unknown sizes", "2024.4 to 2026.4", "2,?,4", False),
        )
    ),
    *(
        ends(
            name=f"quantized {what} with large vectors and few keys",
            span="2025.3 to 2026.4",
            ops=ops,
            reason=(
                "If queries, keys and what it gives are quantized, values of more than 64 numbers for up to 32 keys "
                "are written beyond their memory: the process ends, or values are wrong."
            ),
            model=_quantized(12, 128, made=made),
            processor=Processor.AVX512,
            applies=applies,
        )
        for what, ops, made, applies in (
            ("attention", WHOLE, _plain, lambda seen: seen.has(Pattern.OVERRUN)),
            ("products around a SoftMax", SOFTMAX, _attention, partial(_is_along_rows, pattern=Pattern.OVERRUN)),
        )
    ),
    not_read(
        name="attention with a mask of one row",
        span="2023.3 to 2024.2",
        ops=("ScaledDotProductAttention-13",),
        reason=(
            "A mask with one row for all queries or one column for all keys is not supported: the model is not read."
        ),
        model=Call("ScaledDotProductAttention-13", (*ATTENTION, np.zeros((1, 3), np.float32)), PLAIN),
        applies=partial(_repeats_mask, known=True),
    ),
    *(
        not_run(
            name=f"attention of an unknown number of queries with a mask of one row{what}",
            span="2023.3 to 2023.3",
            ops=("ScaledDotProductAttention-13",),
            reason=(
                "A mask with one row for all queries or one column for all keys is read, but the model does not run."
            ),
            model=_plain(Given(counted(1, 2, 3, 4), "1,2,?,4"), *[counted(1, 2, 3, 4)] * 2, mask),
            applies=applies,
        )
        for what, mask, applies in (
            (
                "",
                np.zeros((1, 1, 1, 3), np.float32),
                lambda seen: has_rank(seen, 4) and _repeats_mask(seen, known=False),
            ),
            (
                ", reshaped",
                Call(
                    "Reshape-1",
                    (Given(counted(2, 1, 3), "?,1,3"), Fixed(whole(1, 2, -1, 3))),
                    {"special_zero": "false"},
                ),
                lambda seen: seen.has(Pattern.REPEATED_MASK),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"attention with constant keys or values{types and f' of {types}'}",
            span=span,
            ops=("ScaledDotProductAttention-13",),
            reason="Constant keys or values of several heads or batches are read wrongly.",
            model=Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 3, 4).astype(kind), *(Fixed(array.astype(kind)) for array in _keys_and_values())),
                PLAIN,
            ),
            types=types,
            applies=_has_constant_heads,
            processor=processor,
        )
        for span, kind, types, processor in (
            ("2025.2 to 2026.0", element_type("bf16").dtype, "bf16", Processor.AVX512),
            ("2025.3 to 2026.0", np.dtype(np.float32), "", Processor.ANY),
        )
    ),
    ReleaseDifference(
        name="attention with a sink",
        span="2023.3 to 2025.3",
        ops=("ScaledDotProductAttention-13",),
        reason="The sixth input (sink) is not supported: the model is not read.",
        model=Call(
            "ScaledDotProductAttention-13",
            (*ATTENTION, np.zeros((2, 3), np.float32), np.array(0.5, np.float32), np.ones((1, 1, 1), np.float32)),
            PLAIN,
        ),
        applies=lambda seen: len(seen.inputs) > 5,
    ),
    *(
        ReleaseDifference(
            name=f"attention of as many {what} as heads that is transposed{keys}, {first} to {last}",
            span=f"{first} to {last}",
            ops=("ScaledDotProductAttention-13",),
            reason=(
                f"If {where} transposed and the number of rows equals the number of heads, rows and heads are swapped."
            ),
            sometimes=True,
            model=_transposed(queries, activated=bool(keys)),
            applies=partial(_is_transposed, computed=computed, activated=bool(keys)),
            processor=processor,
        )
        for first, keys, processor in (
            ("2023.3", "", Processor.AVX512),
            ("2024.4", "", Processor.NO_AVX512),
            ("2025.0", " by keys of an activation", Processor.ANY),
        )
        for what, last, where, queries, computed in (
            ("rows", "2025.1", "the queries or the output are", counted(1, 4, 4, 8), False),
            ("computed rows", "2026.4", "the output is", Call("ReLU-1", (counted(1, 4, 4, 8),)), True),
        )
    ),
    *(
        not_compiled(
            name=f"attention with keys that a Mish computes, {span}",
            span=span,
            ops=("ScaledDotProductAttention-13",),
            reason="It is not compiled if a Mish without other consumers computes its keys.",
            model=Call(
                "ScaledDotProductAttention-13",
                (counted(1, 2, 4, 8), Call("Mish-4", (counted(1, 2, 4, 8),)), counted(1, 2, 4, 8)),
                PLAIN,
            ),
            applies=lambda seen: seen.is_behind({"Mish"}, 1),
            processor=processor,
        )
        for span, processor in (("2024.3 to 2024.6", Processor.AVX512), ("2024.4 to 2024.6", Processor.NO_AVX512))
    ),
)
"""The rows."""
