"""What the runtime gave for many random layers, as a few digits for each, so that tests need no runtime to know it.

`python -m tests.ops.recorded [NAME...]` makes the layers again, holds shape rules and kernels against the runtime, and
writes `recorded.json`. It takes minutes, and is needed after a change of the functions that make the layers. What
checks find is recorded beside that: the runtime says only of layers that run that nothing may be wrong with them.

Layers near the samples of the whole table (`table_makers`) go wherever chance leads, so some of them fall under known
differences or are rejected when compiled: those on which the runtime does not agree are left out.
"""

import json
import sys
import warnings
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.infer import SURPRISES
from ir_tools.ops import Array, Fact, Op, Violation, normalization
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import from_dtype
from tests.ops import (
    kernel_settings,
    layer_support,
    math_support,
    table_makers,
    test_convolution,
    test_detection,
    test_image,
    test_matrix,
    test_normalization,
    test_quantization,
    test_random_kernels,
    test_random_layers,
    test_rare_kernels,
    test_recurrent,
    test_reduction,
    test_roi,
    test_sorting,
    test_suppression,
)
from tests.ops.around import Case, compare_around, limited, settings_around
from tests.ops.single import Fed, Maker, attrs_of, computed, values_of

FILE = Path(__file__).with_name("recorded.json")
SHAPES, VALUES, SEED = 120, 50, 21
"""Random layers of each kind, of which shapes or values are compared; and the seed."""
TABLE_SHAPES, TABLE_VALUES = 100, 50
"""Random layers near the sample of each operation."""
TOLERANCES = {"f32": 1e-5, "f64": 1e-5, "f16": 2e-3, "bf16": 1.6e-2}
"""Of the largest magnitude: what other processors and versions of NumPy round otherwise."""
Rng = np.random.Generator
Made = TypeVar("Made")


class Number(NamedTuple):
    """A result in short: digits of type, shape and what is not finite; a weighted sum; how far that may be off."""

    digits: str
    total: float = 0.0
    off: float = 0.0


class Recorded(NamedTuple):
    """Random layers: what each gives here, and a comparison that fails if the runtime gives something else.

    `found` takes the numbers of layers to leave out; `differing`: those on which the runtime does not agree.
    """

    found: Callable[[Collection[int]], list[list[Number]]]
    compare: Callable[[RuntimeClient], None]
    make: Callable[[Rng], Fed] | None = None
    differing: Callable[[RuntimeClient], Collection[int]] = lambda _: ()


def digits_of(value: object) -> str:
    """Return four digits that are others for almost every other value."""
    return f"{zlib.crc32(repr(value).encode()) & 0xFFFF:04x}"


# --- shapes -----------------------------------------------------------------------------------------------------


def _shapes(make: layer_support.SettingMaker) -> Recorded:
    def settings() -> Iterator[layer_support.Setting]:
        return layer_support.settings(make, np.random.default_rng(SEED), SHAPES)

    def compare(client: RuntimeClient) -> None:
        for setting in settings():
            layer_support.compare_shapes(client, setting)

    return Recorded(lambda _: [_rows(setting, layer_support.plain_row) for setting in settings()], compare)


def _shapes_around(case: Case) -> Recorded:
    return Recorded(
        lambda _: [_rows(setting, lambda row: row[:2]) for setting in settings_around(case, SHAPES, SEED)],
        lambda client: compare_around(client, case, SHAPES, SEED),
    )


def _rows(setting: layer_support.Setting, known: Callable[[layer_support.Row], object]) -> list[Number]:
    rows = layer_support.found_rows(setting)
    digits = digits_of(rows if isinstance(rows, str) else [*map(known, rows)])
    return [Number(digits), *_violations(setting.op, setting.raw, map(layer_support.fact_of, setting.slots))]


def _found(op: Op, raw: Mapping[str, str], facts: Iterable[Fact]) -> list[Violation]:
    """Return what attributes and check find."""
    found: list[Violation] = []
    attrs = op.read(raw, found)
    try:
        found += [] if attrs is None else op.check(attrs, [*facts])
    except (ShapeError, *SURPRISES) as why:
        found.append(Violation(getattr(why, "attribute", None) or "", type(why).__name__))
    return found


def _violations(op: Op, raw: Mapping[str, str], facts: Iterable[Fact]) -> list[Number]:
    found = sorted((one.attribute, one.kind.name) for one in _found(op, raw, facts))
    return [Number(digits_of(found))] if found else []


# --- values -----------------------------------------------------------------------------------------------------


def _values(make: Callable[[Rng], Fed], compare: Callable[[RuntimeClient], None]) -> Recorded:
    def compare_all(client: RuntimeClient) -> None:
        compare(client)
        for layer in made(make):
            found = _found(layer.op, layer.raw, map(layer_support.fact_of, layer.arrays))
            assert all(one.kind.mild for one in found), f"{layer.op} {dict(layer.raw)}: {found}"

    return Recorded(lambda _: [_outputs(layer) for layer in made(make)], compare_all, make)


def made(make: Callable[[Rng], Made]) -> list[Made]:
    """Return the random layers of a maker, always the same."""
    rng = np.random.default_rng(SEED)
    return [make(rng) for _ in range(VALUES)]


def _outputs(layer: Fed) -> list[Number]:
    attrs = attrs_of(layer.op, layer.raw)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs = computed(layer.op, attrs, layer.arrays)
    except ShapeError as why:
        return [Number(digits_of(str(why)))]
    facts = map(layer_support.fact_of, layer.arrays)
    return [*map(number_of, outputs), *_violations(layer.op, layer.raw, facts)]


def number_of(array: Array) -> Number:
    """Return a result in short."""
    if array.dtype.kind == "O":
        return Number(digits_of((array.shape, array.tolist())))
    values = array.astype(np.float64).ravel()
    finite = np.isfinite(values)
    odd = [(place, str(values[place])) for place in np.flatnonzero(~finite).tolist()]
    values = np.where(finite, values, 0)
    total = float(values @ (1 + np.sin(np.arange(values.size)) / 2))
    off = TOLERANCES.get(from_dtype(array.dtype).name, 0.0) * np.abs(values).max(initial=0) * values.size**0.5
    return Number(digits_of((array.dtype.name, array.shape, odd)), total, float(off))


def _kernels(make: Maker) -> Recorded:
    return _values(make, lambda client: kernel_settings.compare(client, made(make)))


def _calls(make: Maker, tolerance: Callable[[Fed], float]) -> Recorded:
    return _values(make, lambda client: layer_support.compare_values(client, made(make), tolerance))


def _constant(tolerance: float) -> Callable[[Fed], float]:
    return lambda _: tolerance


def _cases(make: Callable[[Rng], tuple[math_support.Case, list[Array]]]) -> Recorded:
    def fed(rng: Rng) -> Fed:
        case, arrays = make(rng)
        constants = [number for number, slot in enumerate(case.slots) if not isinstance(slot, tuple)]
        return Fed(case.op, case.raw, arrays, constants)

    return _values(fed, lambda _: math_support.values_agree(make, VALUES, SEED, least=0.6))


def _of_op(make: Callable[[Rng, Op], tuple[math_support.Case, list[Array]]], op: Op) -> Recorded:
    return _cases(lambda rng: make(rng, op))


# --- the whole table --------------------------------------------------------------------------------------------


def _nothing(client: RuntimeClient) -> None:
    """Fail on no layer: those on which the runtime does not agree are left out."""


def _table_shapes(op: Op) -> Recorded:
    def settings() -> Iterator[tuple[int, layer_support.Setting]]:
        return enumerate(table_makers.settings(op, TABLE_SHAPES, SEED))

    def found(left_out: Collection[int]) -> list[list[Number]]:
        return [[] if number in left_out else _rows(one, layer_support.plain_row) for number, one in settings()]

    def differing(client: RuntimeClient) -> list[int]:
        return [number for number, one in settings() if not _agreed(client, one)]

    return Recorded(found, _nothing, differing=differing)


def _agreed(client: RuntimeClient, setting: layer_support.Setting) -> bool:
    try:
        found = layer_support.found_rows(setting)
    except SURPRISES:
        return False
    wanted = layer_support.wanted_rows(client, setting)
    wrong = wanted == layer_support.REJECTED and any(map(_is_wrong, _found_in(setting)))
    return wrong or layer_support.same_rows(found, wanted)


def _found_in(setting: layer_support.Setting) -> list[Violation]:
    return _found(setting.op, setting.raw, map(layer_support.fact_of, setting.slots))


def _is_wrong(one: Violation) -> bool:
    return not one.kind.mild


def _table_values(op: Op) -> Recorded:
    def layers() -> Iterator[tuple[int, Fed]]:
        return enumerate(table_makers.layers(op, TABLE_VALUES, SEED))

    def found(left_out: Collection[int]) -> list[list[Number]]:
        return [[] if number in left_out else _outputs(one) for number, one in layers()]

    def differing(client: RuntimeClient) -> list[int]:
        right = {number: (one, outputs) for number, one in layers() if (outputs := right_outputs(one)) is not None}
        asked = zip(right.items(), _asked(client, [layer for layer, _ in right.values()]), strict=True)
        same = {number for (number, (layer, ours)), theirs in asked if theirs and _same_values(layer, ours, theirs)}
        return [number for number, _ in layers() if number not in same]

    return Recorded(found, _nothing, differing=differing)


def right_outputs(layer: Fed) -> Sequence[Array] | None:
    """What the kernel gives for a layer in which nothing is wrong."""
    facts = [*map(layer_support.fact_of, layer.arrays)]
    attrs = layer.op.read(layer.raw, [])
    assert layer.op.kernel is not None
    with np.errstate(all="ignore"), warnings.catch_warnings(), suppress(ShapeError, *SURPRISES):
        warnings.simplefilter("ignore")
        if attrs is not None and not any(map(_is_wrong, _found(layer.op, layer.raw, facts))):
            layer.op.outputs_of(attrs, facts)
            return layer.op.kernel(attrs, layer.arrays)
    return None


def _asked(client: RuntimeClient, layers: Sequence[Fed]) -> list[list[Array]]:
    """What the runtime computes for each; nothing for those that it does not run."""
    if not layers:
        return []
    try:
        return values_of(client, layers)
    except RuntimeFailure:
        half = len(layers) // 2
        return [*_asked(client, layers[:half]), *_asked(client, layers[half:])] if half else [[]]


def _same_values(layer: Fed, ours: Sequence[Array], theirs: Sequence[Array]) -> bool:
    if any(array.dtype.kind == "O" for array in ours):
        return all(map(np.array_equal, ours, theirs))
    tolerance = 100 * TOLERANCES.get(from_dtype(ours[0].dtype).name, 0.0) if ours else 0.0
    return len(ours) == len(theirs) and layer_support.difference(layer, ours, theirs, min(tolerance, 0.02)) is None


# --- all ----------------------------------------------------------------------------------------------------------

AROUND = (test_detection, test_image, test_recurrent, test_roi, test_sorting, test_suppression)
CASES: Sequence[Callable[[Rng], tuple[math_support.Case, list[Array]]]] = (
    test_reduction.sum_values,
    test_reduction.segment_values,
    test_quantization.quantize_values,
    test_quantization.convert_values,
    test_matrix.product_values,
    test_matrix.einsum_values,
    test_matrix.inverse_values,
    test_convolution.patches_values,
    test_convolution.columns_values,
)
RECORDED: Mapping[str, Recorded] = {
    **{
        f"shapes {family} {make.__name__}": _shapes(make)
        for family, module in test_random_layers.FAMILIES.items()
        for make in module.SETTINGS
    },
    **{f"shapes {name}": _shapes_around(case) for module in AROUND for name, case in module.CASES.items()},
    **{
        f"values {family} {make.__name__}": _calls(make, test_random_layers.tolerance)
        for family, module in test_random_layers.FAMILIES.items()
        for make in module.CALLS
    },
    **{
        f"values {name}": _calls(make, _constant(tolerance))
        for name, (make, tolerance) in test_rare_kernels.MAKERS.items()
    },
    **{
        f"values {family} {number}": _kernels(make)
        for family, module in test_random_kernels.FAMILIES.items()
        for number, make in enumerate(module.MAKERS)
    },
    **{f"values {make.__name__}": _cases(make) for make in CASES},
    **{f"values {op}": _of_op(test_reduction.reduction_values, op) for op in test_reduction.REDUCTIONS},
    **{f"values {op}": _of_op(test_normalization.MAKERS[str(op)], op) for op in normalization.OPS},
    **{f"values {op}": _of_op(test_convolution.deformable_values, op) for op in test_convolution.DEFORMABLE},
    **{
        f"values {op}": _of_op(test_convolution.layer_values, op)
        for op in test_convolution.PLAIN
        if op.type != "BinaryConvolution"
    },
    **{f"table shapes {op}": _table_shapes(op) for op in table_makers.OPS},
    **{f"table values {op}": _table_values(op) for op in table_makers.OPS if op.kernel},
}


Table = Mapping[str, Sequence[Sequence[Number]]]
"""By name the layers of a kind, and of each the numbers."""


def load(file: Path = FILE) -> dict[str, list[list[Number]]]:
    """Return what is in a file, by name."""
    table = json.loads(file.read_text())
    return {name: [[*map(_parsed, layer.split())] for layer in row.split(",")] for name, row in table.items()}


def save(table: Table, file: Path = FILE) -> None:
    """Write what `load` returns."""
    rows = {name: ",".join(" ".join(map(_written, layer)) for layer in row) for name, row in table.items()}
    file.write_text(json.dumps(rows, indent=1) + "\n")


def same(layer: Sequence[Number], recorded: Sequence[Number]) -> bool:
    """Return whether a layer gives what is recorded."""
    return len(layer) == len(recorded) and all(
        found.digits == wanted.digits and abs(found.total - wanted.total) <= found.off + 1e-8 * abs(wanted.total)
        for found, wanted in zip(layer, recorded, strict=True)
    )


def left_out(layers: Sequence[Sequence[Number]]) -> set[int]:
    """Return the numbers of the layers on which the runtime did not agree."""
    return {number for number, layer in enumerate(layers) if not layer}


def _parsed(word: str) -> Number:
    digits, _, total = word.partition(":")
    return Number(digits, float(total or 0))


def _written(number: Number) -> str:
    return f"{number.digits}:{number.total:.9g}" if number.total else number.digits


def main(names: Sequence[str]) -> int:
    """Record what agrees with the runtime, of all kinds of layers or of those named; return 1 if something does not."""
    table, wrong = load(), 0
    with limited() as client:
        for name in names or RECORDED:
            try:
                RECORDED[name].compare(client)
            except AssertionError as why:
                print(name, str(why)[:1000], sep="\n", file=sys.stderr, flush=True)
                wrong = 1
            else:
                differing = RECORDED[name].differing(client)
                table[name] = RECORDED[name].found(differing)
    save({name: table[name] for name in RECORDED if name in table})
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
