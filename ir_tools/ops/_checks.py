"""What is wrong with one layer, held against its operation: attributes, ports, element types, its own rules."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ir_tools.ops._define import REQUIRED, Attrs, Fact, Field, Flag, Kind, Op, Violation
from ir_tools.types import ElementType, closest

__all__ = [
    "closest",
    "faults_of_attributes",
    "faults_of_ports",
    "faults_of_settings",
    "faults_of_types",
    "too_many_outputs",
]

LEFTOVERS = {
    ("Convolution", "output_padding"): "0(,0)*",
    ("GroupConvolution", "output_padding"): "0(,0)*",
    ("DetectionOutput", "eta"): ".*",
    ("DetectionOutput", "visualize"): ".*",
    ("PriorBoxClustered", "flip"): ".*",
    ("MaxPool", "axis"): "0",
    ("MaxPool", "dilations"): r"1(\.0)?(,1(\.0)?)*",
    ("MaxPool", "index_element_type"): ".*",
}
"""Attributes that Model Optimizer and other tools write though the operation has none such: values that say nothing."""
WINDOW_SIZES = {"kernel", "strides", "dilations", "pads_begin", "pads_end", "output_padding"}
MOST = 10**8
"""In a window; the largest of real models are thousands."""
FLAG_WORDS = {"true", "false", "0", "1"}


# --- attributes -------------------------------------------------------------------------------------------------


def faults_of_attributes(op: Op, raw: Mapping[str, str]) -> tuple[Attrs | None, list[Violation]]:
    """The typed attributes, None where they have no meaning, and what is wrong with the `<data>` of a layer.

    Each misspelling is told once: with the required attribute that it stands for, else with the misspelled one.
    """
    found: list[Violation] = []
    attrs = op.read(raw, found)
    fields = {spec.xml or name: spec for name, spec in op.attrs.items()}
    strange = [name for name in raw if name not in fields]
    out, told = [], set[str]()
    for violation in (*found, *_assumed(op, fields, raw)):
        name = violation.attribute
        if violation.kind is Kind.MISSING and strange:
            word = next((alias for alias in fields[name].aliases if alias in raw), None) or closest(name, strange)
            if word is not None and word not in told:
                told.add(word)
                message = f"is missing; the runtime does not read '{word}'"
                violation = Violation(name, message, f"call it {name}", Kind.MISSING)
        if violation.kind is not Kind.UNKNOWN:
            out.append(violation)
    out += _unknown(op, fields, raw, [name for name in strange if name not in told])
    out += _misread(fields, raw)
    return attrs, out


def _unknown(op: Op, fields: Mapping[str, Field], raw: Mapping[str, str], names: Iterable[str]) -> Iterator[Violation]:
    for name in names:
        leftover = LEFTOVERS.get((op.type, name))
        if leftover is not None and re.fullmatch(leftover, raw[name].replace(" ", "")):
            continue
        meant = closest(name, (field for field in fields if field not in raw))
        if meant is None:
            yield Violation(name, f"is not an attribute of {op}, and the runtime does not read it", None, Kind.UNKNOWN)
        else:
            message = f"is not an attribute of {op}; did you mean {meant}?"
            yield Violation(name, message, f"call it {meant}", Kind.UNKNOWN)


def _assumed(op: Op, fields: Mapping[str, Field], raw: Mapping[str, str]) -> Iterator[Violation]:
    """Absent attributes that the specification requires or gives another default than the runtime does.

    Pads mean nothing beside an `auto_pad`.
    """
    for name, spec in fields.items():
        present = name in raw and (raw[name].strip() or not spec.blank)
        if spec.missing is REQUIRED or present:
            continue
        value = spec.render(spec.missing, ",")
        if spec.default is not REQUIRED:
            meant = spec.render(spec.default, ",")
            message = f"is missing; the specification means '{meant}', and the runtime takes '{value}'"
            yield Violation(name, message, f'write {name}="{meant}"', Kind.ASSUMED)
            continue
        message = f"is missing, though {op} requires it; the runtime takes {repr(value) if value else 'none'}"
        idle = name.startswith("pads_") and raw.get("auto_pad", "explicit").lower() != "explicit"
        remedy = f'write {name}="{value}"' if value else None
        yield Violation(name, message, remedy, Kind.ASSUMED if idle else Kind.MISSING)


def _misread(fields: Mapping[str, Field], raw: Mapping[str, str]) -> Iterator[Violation]:
    """Flags that are neither true nor false: the runtime reads them as if they were absent."""
    for name, spec in fields.items():
        if isinstance(spec, Flag) and name in raw and raw[name].lower() not in FLAG_WORDS:
            word = "true" if spec.parse(raw[name]) else "false"
            message = f"is '{raw[name][:40]}', which the runtime reads as {word}"
            yield Violation(name, message, "write true or false", Kind.UNREADABLE)


# --- ports ------------------------------------------------------------------------------------------------------


def faults_of_ports(op: Op, inputs: int, outputs: int) -> Iterator[Violation]:
    """A number of ports that the operation does not have. Outputs may be left out: who reads none needs no port."""
    least = sum(not slot.optional for slot in op.inputs)
    most = None if any(slot.many for slot in op.inputs) else len(op.inputs)
    if inputs < least or (most is not None and inputs > most):
        names = ", ".join(slot.name for slot in op.inputs)
        count = str(least) if least == most else f"at least {least}" if most is None else f"{least} to {most}"
        message = f"has {_counted(inputs, 'input')} where {op} takes {count}{f' ({names})' if names else ''}"
        yield Violation("it", message, None, Kind.INPUTS, None if inputs < least else most)
    given = 0 if op.type == "Result" else len(op.outputs)
    if not any(slot.many for slot in op.outputs) and outputs > given:
        yield too_many_outputs(op, outputs, given)


def too_many_outputs(op: Op, outputs: int, given: int) -> Violation:
    """A layer with more output ports than it has outputs."""
    return Violation("it", f"has {_counted(outputs, 'output')} where {op} gives {given}", None, Kind.OUTPUTS, given)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def faults_of_types(op: Op, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Element types that the operation does not take, and such as differ where they must be one."""
    common: dict[str, tuple[str, ElementType]] = {}
    for index, fact in enumerate(inputs):
        slot = op.inputs[min(index, len(op.inputs) - 1)]
        dtype = fact.dtype
        if not slot.type or dtype.kind == "dynamic":
            continue
        words = op.types.get(slot.type, slot.type)
        if not takes(words, dtype):
            message = f"has element type {dtype} where {_listed(words)} is meant"
            yield Violation(slot.name, message, None, Kind.TYPES, index)
        elif slot.type in op.types:
            first, other = common.setdefault(slot.type, (slot.name, dtype))
            if other != dtype:
                message = f"has element type {dtype} and {first} has {other}, where both must have the same"
                yield Violation(slot.name, message, "convert one of them", Kind.TYPES, index)


def takes(words: str, dtype: ElementType) -> bool:
    """Whether an element type is one of those that `words` mean: kinds (`float integer`) and single types (`i64`)."""
    fitting = {"any", dtype.name, dtype.kind, "integer" if dtype.is_integer else dtype.kind}
    return not words or not fitting.isdisjoint(words.split())


def _listed(words: str) -> str:
    *rest, last = words.split()
    return f"{', '.join(rest)} or {last}" if rest else last


def _absurd(attrs: Attrs) -> Iterator[Violation]:
    """Windows that let the runtime miscount or exhaust memory: strides of 2^31, pads of 10^9. Measured."""
    for name in WINDOW_SIZES & attrs.keys():
        value = attrs[name]
        largest = max(map(abs, value), default=0) if isinstance(value, tuple) else 0
        if largest > MOST:
            message = f"holds {largest}, with which the runtime miscounts or exhausts memory"
            yield Violation(name, message, None, Kind.FATAL)


# --- attributes and inputs together ---------------------------------------------------------------------------------


def faults_of_settings(op: Op, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """What the operation itself has to say; windows that no machine can handle keep it from being asked.

    Raises:
        ShapeError: the inputs contradict each other so much that nothing can be said.
    """
    absurd = list(_absurd(attrs))
    yield from absurd or op.check(attrs, inputs)
