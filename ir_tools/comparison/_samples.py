"""Comparisons on several samples of inputs as one: each tensor as it is in the sample where it is furthest off."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ir_tools.comparison._results import Comparison, LayerComparison, OutputComparison

__all__ = ["merged"]

Entry = TypeVar("Entry", LayerComparison, OutputComparison)


def merged(found: Sequence[Comparison]) -> Comparison:
    """Return one comparison of several, one per sample; its inputs are those of the sample of its first difference."""
    layers = _worst((one.layers for one in found), lambda entry: (entry.path, entry.output))
    outputs = _worst((one.outputs for one in found), lambda entry: entry.name)
    strong = {entry.name for one in found for entry in one.outputs if not entry.weak}
    whole = replace(
        found[0],
        layers=layers,
        outputs=tuple(replace(entry, weak="") if entry.name in strong else entry for entry in outputs),
        samples=len(found),
    )
    first = whole.first_difference
    return whole if first is None else replace(whole, inputs=found[first.sample].inputs)


def _worst(samples: Iterable[Sequence[Entry]], key: Callable[[Entry], Hashable]) -> tuple[Entry, ...]:
    """Return for each key the entry that needs the largest part of its tolerance, the first of equals."""
    found: dict[Hashable, Entry] = {}
    for number, entries in enumerate(samples):
        for entry in entries:
            known = found.get(key(entry))
            if known is None or entry.share > known.share:
                found[key(entry)] = replace(entry, sample=number)
    return tuple(found.values())
