"""Check one layer against its operation: attributes, ports, element types, the operation's own check."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ir_tools.display import either, plural
from ir_tools.errors import ShapeError
from ir_tools.ops.definition import Array, Bounds, Fact, Folding, Op, Violation, ViolationKind
from ir_tools.ops.fields import FINITE, REQUIRED, Attrs, Field, Flag, Int, Ints, Numeric, Usual
from ir_tools.ops.limits import MAX_WINDOW
from ir_tools.ops.records import bare_fact
from ir_tools.types import ELEMENT_TYPES, ElementType, closest
from ir_tools.types.packing import element_type_of

__all__ = [
    "check_attributes",
    "check_ports",
    "check_settings",
    "check_types",
    "fact_of",
    "require_known_kinds",
    "too_many_outputs",
]

WINDOW_SIZES = "kernel", "strides", "dilations", "pads_begin", "pads_end", "output_padding"
FLAG_WORDS = {"true", "false", "0", "1"}
MAX_UNKNOWN = 100
"""Attributes of one layer that its operation does not have and that are reported one by one."""
MAX_SHOWN_VALUES = 64
"""Of an array whose values a check may want to see."""


# --- attributes -------------------------------------------------------------------------------------------------


class _LookedAt(NamedTuple):
    """The attributes of an operation that a check looks at, by their names in files; `numbers`, `sizes`: in Python.

    `assumed`: those that a layer may lack although the runtime takes something for them, or refuses it. `numbers`:
    those that may hold numbers that make no sense, which integers of any size do not. `sizes`: of windows.
    """

    assumed: Sequence[tuple[str, Field]]
    flags: Sequence[tuple[str, Flag]]
    numbers: Sequence[tuple[str, Numeric]]
    sizes: Sequence[str]


@cache
def _looked_at(op: Op) -> _LookedAt:
    fields = op.fields.items()
    numeric = [(name, spec) for name, spec in op.attrs.items() if isinstance(spec, Numeric)]
    return _LookedAt(
        [(name, spec) for name, spec in fields if spec.needed or spec.runtime_default is not REQUIRED],
        [(name, spec) for name, spec in fields if isinstance(spec, Flag)],
        [(name, spec) for name, spec in numeric if spec.usual is not FINITE or not isinstance(spec, Int | Ints)],
        [name for name in WINDOW_SIZES if name in op.attrs],
    )


def check_attributes(op: Op, raw: Mapping[str, str]) -> tuple[Attrs | None, list[Violation]]:
    """Return the typed attributes, None where they have no meaning, and what is wrong with the `<data>` of a layer.

    Each misspelling is reported once: with the required attribute that it stands for, else with the misspelled one.
    """
    found: list[Violation] = []
    attrs = op.read(raw, found)
    if op.respell is not None:
        raw = op.respell(raw)
    fields = op.fields
    unknown_names = [name for name in raw if name not in fields]
    out, reported = [], set[str]()
    known = _looked_at(op)
    for violation in (*found, *_assumed(op, known.assumed, raw)):
        name = violation.attribute
        spec = fields.get(name)
        if (
            violation.kind in {ViolationKind.MISSING, ViolationKind.ASSUMED}
            and unknown_names
            and spec
            and spec.default is REQUIRED
        ):
            word = next((alias for alias in spec.aliases if alias in raw), None) or closest(name, unknown_names)
            if word is not None and word not in reported:
                reported.add(word)
                violation = _misspelled(name, spec, word, raw[word])
        if violation.kind is not ViolationKind.UNKNOWN:
            out.append(violation)
    out += _unknown(op, fields, raw, [name for name in unknown_names if name not in reported])
    out += _misread(known.flags, raw)
    return attrs, out


def _misspelled(name: str, spec: Field, word: str, text: str) -> Violation:
    """Return a required attribute under a wrong name: an error unless the runtime assumes the value that is written."""
    message = f"is missing; the runtime ignores the spelling '{word}'"
    if spec.runtime_default is REQUIRED:
        return Violation(name, message, f"call it {name}", ViolationKind.MISSING)
    message += f" and uses {_shown(spec, spec.runtime_default)}"
    try:
        same = spec.means_default(spec.parse(text))
    except ValueError:
        same = False
    return Violation(name, message, f"call it {name}", ViolationKind.ASSUMED if same else ViolationKind.MISSING)


def _unknown(op: Op, fields: Mapping[str, Field], raw: Mapping[str, str], names: Iterable[str]) -> Iterator[Violation]:
    unknown = [name for name in names if not _is_leftover(op, name, raw[name])]
    for name in unknown[:MAX_UNKNOWN]:
        meant = closest(name, (field for field in fields if field not in raw))
        if meant is None:
            yield Violation(
                name, f"is not an attribute of {op}, and the runtime does not read it", None, ViolationKind.UNKNOWN
            )
        else:
            message = f"is not an attribute of {op}; did you mean {meant}?"
            yield Violation(name, message, f"call it {meant}", ViolationKind.UNKNOWN)
    if len(unknown) > MAX_UNKNOWN:
        message = (
            f"is not an attribute of {op}; the layer has {len(unknown)} unknown attributes, and only the first "
            f"{MAX_UNKNOWN} are listed"
        )
        yield Violation(unknown[MAX_UNKNOWN], message, None, ViolationKind.UNKNOWN)


def _is_leftover(op: Op, name: str, text: str) -> bool:
    pattern = op.leftovers.get(name)
    return pattern is not None and re.fullmatch(pattern, text.replace(" ", "")) is not None


def _assumed(op: Op, fields: Iterable[tuple[str, Field]], raw: Mapping[str, str]) -> Iterator[Violation]:
    """Check for absent attributes that the specification requires or gives another default than the runtime does."""
    for name, spec in fields:
        present = not spec.is_absent(raw.get(name))
        if spec.needed and not present:
            message = (
                f"is missing; the specification has the default '{spec.default}', but the runtime refuses the layer"
            )
            yield Violation(name, message, f'write {name}="{spec.default}"', ViolationKind.MISSING)
        if spec.runtime_default is REQUIRED or present:
            continue
        value = spec.render(spec.runtime_default, ",")
        if spec.default is not REQUIRED:
            meant = spec.render(spec.default, ",")
            message = f"is missing; the specification has the default '{meant}', but the runtime uses '{value}'"
            yield Violation(name, message, f'write {name}="{meant}"', ViolationKind.ASSUMED)
            continue
        message = f"is missing, but {op} requires it; the runtime assumes {_shown(spec, spec.runtime_default)}"
        yield Violation(name, message, f'write {name}="{value}"' if value else None, ViolationKind.ASSUMED)


def _shown(spec: Field, value: Any) -> str:
    """Return `'true'`; `none` for an empty list."""
    text = spec.render(value, ",")
    return repr(text) if text else "none"


def _misread(flags: Iterable[tuple[str, Flag]], raw: Mapping[str, str]) -> Iterator[Violation]:
    """Check for flags that are neither true nor false: the runtime reads them as if they were absent."""
    for name, spec in flags:
        if name in raw and raw[name].lower() not in FLAG_WORDS:
            word = "true" if spec.parse(raw[name]) else "false"
            message = f"is '{raw[name][:40]}', which the runtime reads as {word}"
            yield Violation(name, message, "write true or false", ViolationKind.UNREADABLE)


# --- ports ------------------------------------------------------------------------------------------------------


def check_ports(op: Op, inputs: int, outputs: int) -> Iterator[Violation]:
    """Check for a number of ports that the operation does not have.

    Outputs may be left out: who reads none needs no port.
    """
    given = len(op.outputs)
    if inputs == len(op.inputs) and outputs <= given:
        return
    minimum = sum(not slot.optional for slot in op.inputs)
    maximum = None if any(slot.many for slot in op.inputs) else len(op.inputs)
    if inputs < minimum or (maximum is not None and inputs > maximum):
        names = ", ".join(slot.name for slot in op.inputs)
        count = f"{minimum} to {maximum}" if maximum is not None else f"at least {minimum}"
        count = str(minimum) if minimum == maximum else count
        message = f"it has {plural(inputs, 'input')}, but {op} has {count}{f' ({names})' if names else ''}"
        yield Violation("", message, None, ViolationKind.INPUTS, None if inputs < minimum else maximum)
    if not any(slot.many for slot in op.outputs) and outputs > given:
        yield too_many_outputs(op, outputs, given)


def too_many_outputs(op: Op, outputs: int, given: int) -> Violation:
    """Return a layer with more output ports than it has outputs."""
    return Violation(
        "", f"it has {plural(outputs, 'output')}, but {op} has {given}", None, ViolationKind.OUTPUTS, given
    )


def check_types(op: Op, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for element types that the operation does not take, and for different ones that must be the same."""
    common: dict[str, tuple[str, ElementType]] = {}
    for index, fact in enumerate(inputs):
        slot = op.inputs[min(index, len(op.inputs) - 1)]
        dtype = fact.dtype
        words = op.types.get(slot.type, slot.type)
        if dtype.kind == "string" and dtype.is_one_of(words) and not op.strings and "string" not in words:
            message = "has element type string, which the CPU plugin does not support for this operation"
            yield Violation(slot.name, message, None, ViolationKind.TYPES, index)
        if not slot.type or dtype.kind == "dynamic":
            continue
        if not dtype.is_one_of(words):
            message = f"has element type {dtype}; expected {either(words.split())}"
            yield Violation(slot.name, message, None, ViolationKind.TYPES, index)
        elif slot.type in op.types:
            first, other = common.setdefault(slot.type, (slot.name, dtype))
            if other != dtype:
                message = f"has element type {dtype}, but {first} has {other}; expected the same type"
                yield Violation(slot.name, message, "convert one of them", ViolationKind.TYPES, index)


def fact_of(array: Array) -> Fact:
    """Return what is known of an array: element type, shape, and the values of small ones."""
    fact = bare_fact(array)
    small = array.size <= MAX_SHOWN_VALUES and fact.dtype.kind != "string"
    return replace(fact, value=Bounds.exactly(array)) if small else fact


def require_known_kinds(op: Op, arrays: Sequence[Array]) -> None:
    """Check that arrays are floats, integers, booleans or strings as the operation takes them.

    More exact element types are left to the rules: kernels compute what only the runtime refuses.

    Raises:
        ShapeError: an array is of another kind.
    """
    key = (op.type, op.version, *[array.dtype.num for array in arrays])
    if key in _KNOWN_KINDS:
        return
    for index, array in enumerate(arrays):
        slot = op.inputs[min(index, len(op.inputs) - 1)]
        words, kind = op.types.get(slot.type, slot.type), element_type_of(array)
        alike = (
            other
            for other in ELEMENT_TYPES.values()
            if other.kind == kind.kind or (other.is_integer and kind.is_integer)
        )
        if words and not any(other.is_one_of(words) for other in alike):
            raise ShapeError(f"has element type {kind}; expected {either(words.split())}", attribute=slot.name)
    if len(arrays) < MAX_SHOWN_VALUES:
        _KNOWN_KINDS.add(key)


_KNOWN_KINDS: set[tuple[str | int, ...]] = set()
"""Operations and the numpy types of inputs that they take; asked for every layer that runs."""


def _absurd(op: Op, attrs: Attrs) -> Iterator[Violation]:
    """Check for windows that let the runtime miscount or exhaust memory: strides of 2^31, pads of 10^9. Measured."""
    for name in _looked_at(op).sizes:
        value = attrs[name]
        largest = max(map(abs, value), default=0) if isinstance(value, tuple) else 0
        if largest > MAX_WINDOW:
            message = f"holds {largest}; with such a size the runtime's arithmetic overflows or it runs out of memory"
            yield Violation(name, message, None, ViolationKind.FATAL)


# --- attributes and inputs together ---------------------------------------------------------------------------------


def check_settings(op: Op, raw: Mapping[str, str], attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for what the operation itself has to say; windows that no machine can handle keep it from being asked.

    Numbers of which it says nothing are held against those that make sense.

    Raises:
        ShapeError: the inputs contradict each other so much that nothing can be said.
    """
    found = list(_absurd(op, attrs)) or list(op.check(attrs, inputs))
    yield from found
    named = {violation.attribute for violation in found}
    for name, usual, values in (*_given_numbers(op, raw, attrs), *_known_numbers(op, inputs)):
        message = next(filter(None, map(usual.problem, values)), None)
        if message is not None and name not in named:
            yield Violation(name, message, None, ViolationKind.SUSPECT)
    if op.folding is Folding.FAILS and all(fact.constant for fact in inputs):
        message = "all inputs are constants, and the CPU plugin does not compile this operation on constants"
        yield Violation("", message, "replace the layer by a Const that holds its result")


def _given_numbers(op: Op, raw: Mapping[str, str], attrs: Attrs) -> Iterator[tuple[str, Usual, tuple[float, ...]]]:
    """Yield the numbers of attributes that a layer gives."""
    given = raw if op.respell is None else op.respell(raw)
    for name, spec in _looked_at(op).numbers:
        if not spec.is_absent(given.get(spec.xml or name)):
            value = attrs[name]
            yield spec.xml or name, spec.usual, value if isinstance(value, tuple) else (value,)


def _known_numbers(op: Op, inputs: Sequence[Fact]) -> Iterator[tuple[str, Usual, tuple[float, ...]]]:
    """Yield the smallest and the largest number of inputs that are constants; others than finite ones have a rule."""
    for slot, fact in zip(op.inputs, inputs, strict=False):
        array = None if slot.usual is None else fact.exact
        if slot.usual is not None and array is not None and array.size and np.isfinite(array).all():
            yield slot.name, slot.usual, (array.min().item(), array.max().item())
