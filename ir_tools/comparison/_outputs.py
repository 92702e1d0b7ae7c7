"""The outputs of a model under two runs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ir_tools.comparison._coarse import Coarse
from ir_tools.comparison._differences import aligned, allowed, difference, padded, type_name, unlike
from ir_tools.comparison._evidence import weakness
from ir_tools.comparison._gold import GoldRun, errors
from ir_tools.comparison._layers import sets_of
from ir_tools.comparison._results import OutputComparison
from ir_tools.display import plural
from ir_tools.graph import Model, port_place
from ir_tools.ops import Array

__all__ = ["Outputs"]

Arrays = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Outputs:
    """Compares the outputs of a model.

    Attributes:
        precision: the coarser one of both sides.
        tolerance: instead of the table.
        sets: the outputs whose rows are a set: those of detections.
        carried: by output, a narrower type of whose errors it has some.
    """

    precision: str
    tolerance: float | None
    sets: frozenset[str]
    carried: Mapping[str, str]

    @classmethod
    def of(cls, model: Model, coarse: Coarse, precision: str, tolerance: float | None) -> "Outputs":
        """Take one model, in whose graph `coarse` says what carries errors of narrower types."""
        carried = {end.name: coarse.reached[end.layer.id] for end in model.outputs if end.layer.id in coarse.reached}
        return cls(precision, tolerance, frozenset(_sets(model)), carried)

    def compared(
        self,
        expected: Arrays,
        actual: Arrays,
        counterparts: Mapping[str, str] | None = None,
        gold: GoldRun | None = None,
        moved: tuple[Arrays, Arrays] = ({}, {}),
        undecided: Mapping[str, npt.NDArray[np.bool_]] = {},
    ) -> tuple[OutputComparison, ...]:
        """Return a row for each output.

        Args:
            expected: the outputs of one side.
            actual: those of the other.
            counterparts: their names in another model.
            gold: decides who is right.
            moved: outputs on the inputs of the comparison, and on others.
            undecided: elements that errors of rounding decide, which are not compared.
        """
        rows = [
            self._row(name, array, actual[name], (counterparts or {}).get(name), undecided.get(name))
            for name, array in expected.items()
        ]
        exact = {} if gold is None or all(row.ok for row in rows) else gold.results()
        found = []
        for row in rows:
            name, one, two = row.name, expected[row.name], actual[row.name]
            if row.ok:
                before, after = (arrays.get(name) for arrays in moved)
                row = replace(row, weak=weakness(one, two, before, after, row.difference.tolerance))
            elif name in exact:
                row = replace(row, f64=errors(exact[name], one, two, rows=name in self.sets))
            found.append(row)
        return tuple(found)

    def measured(self, expected: Arrays, actual: Arrays) -> tuple[OutputComparison, ...]:
        """Return a row for each output, without a verdict."""
        return Outputs("f32", math.inf, self.sets, {}).compared(expected, actual)

    def _row(
        self,
        name: str,
        expected: Array,
        actual: Array,
        counterpart: str | None,
        undecided: npt.NDArray[np.bool_] | None,
    ) -> OutputComparison:
        kind, shape, reason = type_name(actual), actual.shape, ""
        limit = self._limit(name, kind)
        if expected.shape != shape or (kind == "string") != (type_name(expected) == "string"):
            reason = f"expected {type_name(expected)} {list(expected.shape)}, found {kind} {list(shape)}"
        if reason and (expected.ndim != actual.ndim or kind == "string"):
            found = unlike(limit)
        else:
            if reason:
                expected, actual = padded(expected, actual)
            counts = (_rows(expected), _rows(actual)) if name in self.sets else (0, 0)
            if name in self.sets:
                actual = aligned(expected, actual)
            found = difference(expected, actual, tolerance=limit, undefined=None if reason else undecided)
            if not reason and counts[0] != counts[1]:
                reason = f"expected {plural(counts[0], 'row')}, found {counts[1]}"
        return OutputComparison(
            name=name, element_type=kind, shape=shape, difference=found, reason=reason, counterpart=counterpart
        )

    def _limit(self, name: str, kind: str) -> float:
        return allowed(self.carried.get(name, kind) if kind == "f32" else kind, self.tolerance, self.precision)


def _rows(array: Array) -> int:
    """Return the number of rows of a set before the one that ends it, which begins with -1 as that of detections."""
    if not array.size or not array.ndim:
        return array.size
    first = array.reshape(-1, array.shape[-1])[:, 0]
    return int(np.argmax(first == -1)) if np.any(first == -1) else len(first)


def _sets(model: Model) -> set[str]:
    found = set()
    for end in model.outputs:
        for source in model.graph.sources(end.layer.id).values():
            producer = model.graph.layer(source.layer)
            if port_place(producer.outputs, source.port) in sets_of(producer):
                found.add(end.name)
    return found
