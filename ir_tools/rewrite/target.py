"""What a model is migrated to: an opset, an IR version, or a release of OpenVINO."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Self

from ir_tools.errors import MigrationError
from ir_tools.infer import LayerSignature
from ir_tools.ops import NEWEST_OPSET, find_op, opset_number
from ir_tools.ops.definition import Fact, NewLayer, Op, Ref, Rewrite
from ir_tools.releases.table import OPENVINO, Release, find_release, is_release
from ir_tools.types import element_type, is_static

__all__ = ["INPUTS_OF_2021", "Target", "parse_target", "releases_in_words"]

VERSIONS = {"ir10": 10, "ir11": 11}
INPUTS_OF_2021 = {"f64": "f32", "u32": "i64"}
"""Types of inputs that releases of 2021 do not take, and what they take instead. Measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a model is migrated to.

    Attributes:
        name: `opset8`, `ir10`, `openvino-2021.4`.
        opset: the last opset of operations; None: they stay.
        release: that the model is to run on; None for any that reads the opset.
        version: of the IR; None: the model keeps its own.
    """

    name: str
    opset: int | None = None
    release: Release | None = None
    version: int | None = None

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the target that a text names.

        Raises:
            MigrationError: it names none, or one that no model can be migrated to.
            UsageError: an unknown release.
        """
        word = text.strip().lower()
        if word in VERSIONS:
            return cls(name=word, version=VERSIONS[word])
        opset = opset_number(word)
        if opset is not None and opset <= NEWEST_OPSET:
            return cls(name=word, opset=opset)
        if not is_release(word):
            raise MigrationError(
                f"'{text}' is not a target; expected opset1 to opset{NEWEST_OPSET}, ir10, ir11, or a release "
                "such as openvino-2024.6"
            )
        release = find_release(word)
        if not release.opset:
            raise MigrationError(f"{release.title} runs only models of IR v2 to v7, which are not migration targets")
        last = release.reads[1]
        return cls(name=release.name, opset=release.opset, release=release, version=last if last < 11 else None)

    @property
    def opsets(self) -> Sequence[int]:
        """The opsets that a rewrite is asked for, the best first: a release may lack some of an opset."""
        last = self.opset or NEWEST_OPSET
        return range(last, 0 if self.release else last - 1, -1)

    def holds(self, op: Op, opset: int) -> bool:
        """Return whether it reads an operation with the version stamp of an opset."""
        if self.release is not None:
            return self.release.holds(op, opset)
        return self.opset is None or opset <= self.opset

    def reads(self, layers: Iterable[NewLayer]) -> bool:
        """Return whether it reads all of these layers."""
        found = ((find_op(layer.type, f"opset{layer.opset}"), layer.opset) for layer in layers)
        return all(op is not None and self.holds(op, opset) for op, opset in found)

    def needs_dynamic(self, layers: Iterable[NewLayer]) -> bool:
        """Return whether these layers have sizes that only the data decide, and the release has static ones alone."""
        if self.release is None or self.release.dynamic:
            return False
        return any(not is_static(fact.shape) for layer in layers for fact in layer.outputs)

    def stamped(self, layer: LayerSignature, op: Op) -> Rewrite | None:
        """Return a layer with a stamp that it reads: of an opset that holds the same version of the operation."""
        for opset in range(op.version, self.opsets[0] + 1):
            if find_op(op.type, f"opset{opset}") is op and self.holds(op, opset):
                outputs = (Fact(element_type("dynamic"), None),) * len(layer.outputs)
                inputs = tuple(Ref(None, index) for index in range(len(layer.inputs)))
                new = NewLayer(type=layer.type, opset=opset, inputs=inputs, outputs=outputs, raw=layer.unlabelled)
                proof = f"opset{opset} and {layer.version} contain the same operation, {op}"
                return Rewrite(layers=(new,), strategy="version changed", proof=proof)
        return None


def parse_target(text: str) -> int:
    """Return the number of an opset: `opset8` -> 8.

    Raises:
        MigrationError: no such opset.
    """
    opset = opset_number(text.strip().lower())
    if opset is None or opset > NEWEST_OPSET:
        raise MigrationError(f"'{text}' is not a target; expected opset1 to opset{NEWEST_OPSET}")
    return opset


def releases_in_words(does: Callable[[Release], bool], verb: str = "read") -> str:
    """Return which releases do something with a layer or type: `OpenVINO 2022.1 and later read it`."""
    runs = [[*releases] for held, releases in groupby(OPENVINO, does) if held]
    if not runs:
        return f"no release of OpenVINO is known to {verb} it"
    words = [_run_in_words(run) for run in runs]
    return f"OpenVINO {', '.join(words)} {verb}{'s' if words[0] == runs[-1][-1].short else ''} it"


def _run_in_words(run: Sequence[Release]) -> str:
    """Return `2022.1 and later`, or `2024.2 to 2024.4`."""
    if len(run) == 1:
        return run[0].short
    return f"{run[0].short} and later" if run[-1] is OPENVINO[-1] else f"{run[0].short} to {run[-1].short}"
