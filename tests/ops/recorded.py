"""What the runtime gave for many random layers, as a few digits for each, so that tests need no runtime to know it.

`python -m tests.ops.recorded [NAME...]` makes the layers again, holds shape rules and kernels against the runtime, and
writes `recorded.json`. It takes minutes, and is needed after a change of the functions that make the layers. Layers on
which the runtime does not agree whatever its memory held before are left out. What checks find is recorded beside that:
the runtime says only of layers that run that nothing may be wrong with them. Which layers are worth keeping,
`tests.ops.choosing` finds out.
"""

import json
import operator
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unittest.mock import patch

import numpy as np

from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.infer import SURPRISES
from ir_tools.known_differences import DifferenceKind, KnownDifference, find
from ir_tools.ops import Array, Fact, Op, Violation
from ir_tools.ops.checks import check_types
from ir_tools.ops.definition import Oracle
from ir_tools.processors import Processor
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import from_dtype
from tests.ops import layer_support, table_makers
from tests.ops.around import limited
from tests.ops.layer_support import Setting
from tests.ops.single import Fed, attrs_of, values_of

FILE = Path(__file__).with_name("recorded.json")
TOLERANCES = {"f32": 1e-5, "f64": 1e-5, "f16": 2e-3, "bf16": 1.6e-2}
"""Of the largest magnitude: what other processors and versions of NumPy round otherwise."""
ROUNDING = 0.01
"""An error, of the largest magnitude, large enough to decide of some elements."""
Rng = np.random.Generator
T = TypeVar("T")


class Number(NamedTuple):
    """A result in short: digits of type, shape and what is not finite; a weighted sum; how far that may be off."""

    digits: str
    total: float = 0.0
    off: float = 0.0


class Recorded(NamedTuple):
    """Random layers of one kind, by number.

    Attributes:
        layer: the layer of a number, always the same.
        numbers: what it gives here.
        agree: for each of some layers, whether the runtime says the same.
        first: how many layers are recorded whatever they execute.
    """

    layer: Callable[[int], Any]
    numbers: Callable[[Any], list[Number]]
    agree: Callable[[RuntimeClient, Sequence[Any]], list[bool]]
    first: int = 40


def digits_of(value: object) -> str:
    """Return four digits that are others for almost every other value."""
    return f"{zlib.crc32(repr(value).encode()) & 0xFFFF:04x}"


def _drawn(make: Callable[[Rng, Op], T], op: Op) -> Callable[[int], T]:
    return lambda number: make(np.random.default_rng([21, number]), op)


def _in_turn(make: Callable[[Rng, Op, int], T], op: Op) -> Callable[[int], T]:
    return lambda number: make(np.random.default_rng([21, number]), op, number)


# --- shapes -----------------------------------------------------------------------------------------------------


def _shapes_of(layer: Callable[[int], Setting], first: int = 40) -> Recorded:
    def agrees(client: RuntimeClient, setting: Setting) -> bool:
        try:
            found = layer_support.found_rows(setting)
        except SURPRISES:
            return False
        wanted = layer_support.wanted_rows(client, setting)
        return layer_support.same_rows(found, wanted) or any(
            map(_is_wrong, [*_found_in(setting), *(_wrong_types(setting) if wanted == layer_support.REJECTED else ())])
        )

    def numbers(setting: Setting) -> list[Number]:
        with suppress(*SURPRISES):
            return _rows(setting)
        return []

    return Recorded(layer, numbers, lambda client, layers: [agrees(client, one) for one in layers], first)


def _rows(setting: Setting) -> list[Number]:
    rows, facts = layer_support.found_rows(setting), [*map(layer_support.fact_of, setting.slots)]
    if isinstance(rows, str):
        found: object = rows, _rejected_for(setting, facts)
    else:
        found = [*map(layer_support.plain_row, rows)]
    return [Number(digits_of(found)), *_violations(setting.op, setting.raw, facts)]


def _rejected_for(setting: Setting, facts: Sequence[Fact]) -> str | None:
    """Return the input or attribute that a shape rule finds wrong."""
    attrs = setting.attrs()
    assert setting.op.shape is not None
    try:
        return None if attrs is None else str(setting.op.shape(attrs, facts))
    except ShapeError as why:
        return why.attribute


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


def _outputs(layer: Fed, outputs: Sequence[Array]) -> list[Number]:
    facts = map(layer_support.fact_of, layer.arrays)
    found = map(number_of, defined(layer, outputs))
    return [*found, *_masks(layer), *_violations(layer.op, layer.raw, facts)]


def defined(layer: Fed, outputs: Sequence[Array]) -> Sequence[Array]:
    """Return outputs with 0 for what is undefined."""
    mask = layer.op.undefined_mask and layer.op.undefined_mask(attrs_of(layer.op, layer.raw), layer.arrays)
    return outputs if mask is None else [np.where(mask, array.dtype.type(0), array) for array in outputs]


def _masks(layer: Fed) -> list[Number]:
    """Return which elements of the outputs are undefined, and of which rounding decides."""
    op, attrs = layer.op, attrs_of(layer.op, layer.raw)
    with np.errstate(all="ignore"):
        found = [
            *([op.undefined_mask(attrs, layer.arrays)] if op.undefined_mask else []),
            *([op.ill_conditioned(attrs, layer.arrays, ROUNDING)] if op.ill_conditioned else []),
        ]
    return [Number(digits_of([None if mask is None else mask.tolist() for mask in found]))] if found else []


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


def _values_of(layer: Callable[[int], Fed], first: int = 40) -> Recorded:
    def numbers(layer: Fed) -> list[Number]:
        outputs = right_outputs(layer)
        if outputs is not None:
            return _outputs(layer, outputs)
        why = refusal(layer)
        return [] if why is None else [Number(digits_of((why.attribute, str(why))))]

    def agree(client: RuntimeClient, layers: Sequence[Fed]) -> list[bool]:
        """Of values that a kernel refuses, for example places outside of the data, the runtime does anything.

        Layers that are known to have other values on this processor were asked about on another one.
        """
        refused = [refusal(layer) is not None or _differs_on_few(layer) for layer in layers]
        agreed = iter(agreement(client, [layer for layer, each in zip(layers, refused, strict=True) if not each]))
        return [each or (next(agreed) and not _is_arbitrary(one)) for one, each in zip(layers, refused, strict=True)]

    return Recorded(layer, numbers, agree, first)


def _is_arbitrary(layer: Fed) -> bool:
    """Return whether a row of known differences says that the runtime leaves values undefined, and not which."""
    return any(row.kind is DifferenceKind.ARBITRARY and row.arbitrary is None for row in _rows_of(layer))


def _differs_on_few(layer: Fed) -> bool:
    """Return whether a row of known differences says that a layer has other values on some processors, as this one."""
    return any(row.kind is DifferenceKind.WRONG and row.processor is not Processor.ANY for row in _rows_of(layer))


def _rows_of(layer: Fed) -> Sequence[KnownDifference]:
    """Return the rows of known differences that a layer falls under on the processor of this machine."""
    return find(layer.op, attrs_of(layer.op, layer.raw), layer.arrays, layer.constants)


def refusal(layer: Fed) -> ShapeError | None:
    """Return why the kernel refuses values, of a layer in which nothing is wrong as far as constants tell."""
    facts = [
        fact if number in layer.constants else replace(fact, value=None)
        for number, fact in enumerate(map(layer_support.fact_of, layer.arrays))
    ]
    attrs = layer.op.read(layer.raw, [])
    assert layer.op.kernel is not None
    with np.errstate(all="ignore"), warnings.catch_warnings(), suppress(*SURPRISES):
        warnings.simplefilter("ignore")
        if attrs is None or any(map(_is_wrong, _found(layer.op, layer.raw, facts))):
            return None
        with suppress(ShapeError):
            layer.op.outputs_of(attrs, facts)
            try:
                layer.op.kernel(attrs, layer.arrays)
            except ShapeError as why:
                return why
    return None


def agreement(client: RuntimeClient, layers: Sequence[Fed]) -> list[bool]:
    """Return for each layer whether the runtime computes the same.

    In a model of many it overwrites some outputs, and may damage its process: those are asked alone, in a new one.
    """
    agreed = [agrees(layer, theirs) for layer, theirs in zip(layers, asked(client, layers), strict=True)]
    with limited() as alone:
        return [same or agrees(layer, asked(alone, [layer])[0]) for layer, same in zip(layers, agreed, strict=True)]


def asked(client: RuntimeClient, layers: Sequence[Fed]) -> list[list[Array]]:
    """Return what the runtime computes for each; nothing for those that it does not run."""
    if not layers:
        return []
    try:
        return values_of(client, layers)
    except RuntimeFailure:
        half = len(layers) // 2
        return [*asked(client, layers[:half]), *asked(client, layers[half:])] if half else [[]]


def agrees(layer: Fed, theirs: Sequence[Array]) -> bool:
    """Return whether the kernel gives what the runtime gives."""
    ours = right_outputs(layer)
    if ours is None or len(ours) != len(theirs):
        return False
    if any(array.dtype.kind == "O" for array in ours):
        return all(map(np.array_equal, ours, theirs))
    tolerance = 100 * TOLERANCES.get(from_dtype(ours[0].dtype).name, 0.0) if ours else 0.0
    if [array.shape for array in ours] != [array.shape for array in theirs]:
        return False
    ours, theirs = defined(layer, ours), defined(layer, theirs)
    return layer_support.difference(layer, ours, theirs, min(tolerance, 0.02)) is None


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


def _found_in(setting: Setting) -> list[Violation]:
    return _found(setting.op, setting.raw, map(layer_support.fact_of, setting.slots))


def _wrong_types(setting: Setting) -> Iterator[Violation]:
    return check_types(setting.op, [*map(layer_support.fact_of, setting.slots)])


def _is_wrong(one: Violation) -> bool:
    return not one.kind.mild


# --- all ----------------------------------------------------------------------------------------------------------

ASKED = [op for op in table_makers.OPS if op.oracle is not Oracle.SPECIFICATION]
BITS = {"BinaryConvolution-1"}
"""Their filters are packed bits, which no array of a sample holds: `test_convolution` asks about them."""
WITH_KERNELS = [op for op in ASKED if op.kernel and op.oracle is Oracle.RUNTIME and str(op) not in BITS]
SLOW = {"RandomUniform-8"}
"""Some of their mixed layers have a million elements, of which each takes many steps."""
MIN_CHANGES = 60
"""How many layers with one change each there are at least of an operation."""
RECORDED: Mapping[str, Recorded] = {
    **{
        f"one change {op}": _shapes_of(
            _in_turn(table_makers.changed, op), max(MIN_CHANGES, len(table_makers.changes(op)))
        )
        for op in ASKED
    },
    **{f"table shapes {op}": _shapes_of(_drawn(table_makers.setting, op)) for op in ASKED},
    **{
        f"bounds {op}": _shapes_of(_drawn(table_makers.bounded, op))
        for op in ASKED
        if op.attrs or len(op.inputs) > 1 or op.inputs[0].many
    },
    **{f"two inputs {op}": _shapes_of(_drawn(table_makers.of_two, op)) for op in ASKED if len(op.inputs) > 2},
    **{f"table values {op}": _values_of(_drawn(table_makers.layer, op)) for op in WITH_KERNELS},
    **{
        f"one value {op}": _values_of(
            _in_turn(table_makers.changed_layer, op), max(MIN_CHANGES, len(table_makers.value_changes(op)))
        )
        for op in WITH_KERNELS
        if table_makers.value_changes(op)
    },
    **{
        f"mixed {op}": _values_of(_drawn(table_makers.mixed, op))
        for op in WITH_KERNELS
        if (op.attrs or len(op.inputs) > 1) and str(op) not in SLOW
    },
}


Table = Mapping[str, Mapping[int, Sequence[Number]]]
"""By name the layers of a kind by number, and what each gives."""


@cache
def load(file: Path = FILE) -> Table:
    """Return what is in a file, by name."""
    return {
        name: dict(map(_parsed_layer, filter(None, row.split(","))))
        for name, row in json.loads(file.read_text()).items()
    }


def save(table: Table, file: Path = FILE) -> None:
    """Write what `load` returns."""
    rows = {
        name: ",".join(" ".join([str(number), *map(_written, layer)]) for number, layer in row.items())
        for name, row in table.items()
    }
    file.write_text(json.dumps(rows, indent=1) + "\n")


def same(layer: Sequence[Number], recorded: Sequence[Number]) -> bool:
    """Return whether a layer gives what is recorded."""
    return len(layer) == len(recorded) and all(
        found.digits == wanted.digits and abs(found.total - wanted.total) <= found.off + 1e-8 * abs(wanted.total)
        for found, wanted in zip(layer, recorded, strict=True)
    )


def _parsed_layer(text: str) -> tuple[int, list[Number]]:
    number, *words = text.split()
    return int(number), [*map(_parsed, words)]


def _parsed(word: str) -> Number:
    digits, _, total = word.partition(":")
    return Number(digits, float(total or 0))


def _written(number: Number) -> str:
    return f"{number.digits}:{number.total:.9g}" if number.total else number.digits


MEMORY = [
    {"GLIBC_TUNABLES": f"glibc.malloc.perturb={byte}:glibc.malloc.tcache_count={cached}", "OPENBLAS_NUM_THREADS": "1"}
    for byte, cached in ((60, 60000), (133, 0), (200, 0))
]
"""Variables of processes in which memory that nothing has written holds other numbers in each."""
Choose = Callable[[Recorded], Sequence[int]]


def agreed_always(kind: Recorded, clients: Sequence[RuntimeClient], layers: Sequence[Any]) -> list[bool]:
    """Return for each layer whether the runtime says the same in all memories: it leaves values of some unwritten."""
    agreed = [True] * len(layers)
    for client, variables in zip(clients, MEMORY, strict=True):
        with patch.dict(os.environ, variables):
            agreed = [*map(operator.and_, agreed, kind.agree(client, layers))]
    return agreed


def main(names: Sequence[str], choose: Choose | None = None) -> int:
    """Record what agrees with the runtime, and print what does not.

    Args:
        names: of kinds of layers, or of operations for all their kinds; empty for all.
        choose: of other layers than those that are recorded.
    """
    table = {**load()}
    with ExitStack() as stack:
        clients = [stack.enter_context(limited()) for _ in MEMORY]
        for name in [name for name in RECORDED if not names or {name, name.rpartition(" ")[2]} & {*names}]:
            kind = RECORDED[name]
            numbers = [*table.get(name, range(kind.first))] if choose is None else choose(kind)
            layers = [*map(kind.layer, numbers)]
            agreed = [*zip(numbers, layers, agreed_always(kind, clients, layers), strict=True)]
            table[name] = {number: kind.numbers(one) for number, one, same in agreed if same}
            left_out = [f"\n  {one}" for _, one, same in agreed if not same]
            print(name, f"{len(table[name])} of {len(numbers)}", *left_out, flush=True)
    save({name: table[name] for name in RECORDED if name in table})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
