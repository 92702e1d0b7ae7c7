"""The steps of a migration: a layer that is rewritten, with the proof, or refused, with the reason."""

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from ir_tools.display import brief_fields
from ir_tools.ops.definition import Refused, Rewrite

__all__ = ["MigrationStep", "RefusedStep", "StepPlace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStep:
    """Describe one layer that is rewritten.

    Attributes:
        path: of the layer, through bodies.
        layer_id, line: of the layer in the file that was read; None for a node of an ONNX file.
        before: the operation, `AvgPool-14`.
        after: what replaces it, `AvgPool opset8` or `Pad + AvgPool`.
        how: what the rewrite does.
        proof: why it means the same.
        notes: what the user should know about the layer as it was.

    Example:
        >>> step = ir_tools.migrate("model.xml", to="opset8").steps[0]
        >>> step.path, step.line, step.before, step.after, step.how
        ('pool', 8, 'AvgPool-1', 'AvgPool opset8', 'same attributes')
    """

    path: str
    layer_id: int | None
    line: int | None
    before: str
    after: str
    how: str
    proof: str
    notes: tuple[str, ...] = ()

    __repr__ = brief_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStep:
    """Describe one layer that has no exact equivalent in the target, and say why.

    Example:
        >>> print(ir_tools.migrate("unreadable.xml", to="opset8").refused[0])
        layer 1 'pool' (AvgPool-1): strides ...
    """

    path: str
    layer_id: int
    line: int | None
    before: str
    reason: str
    attribute: str | None = None
    notes: tuple[str, ...] = ()

    __repr__ = brief_fields

    def __str__(self) -> str:
        """Return `layer 7 'pool' (AvgPool-16): dilations: ...`."""
        attribute = f"{self.attribute}: " if self.attribute else ""
        return f"layer {self.layer_id} '{self.path}' ({self.before}): {attribute}{self.reason}"


class StepPlace(NamedTuple):
    """Hold what a step says of the layer as it was."""

    path: str
    layer_id: int
    line: int | None
    before: str
    notes: tuple[str, ...]

    def step(self, rewrite: Rewrite) -> MigrationStep:
        """Return the step that replaces the layer."""
        return MigrationStep(**self._asdict(), after=_after(rewrite), how=rewrite.how, proof=rewrite.proof)

    def refused(self, why: Refused) -> RefusedStep:
        """Return the step that says why nothing can."""
        return RefusedStep(**self._asdict(), reason=why.reason, attribute=why.attribute)


def _after(rewrite: Rewrite) -> str:
    if len(rewrite.layers) == 1:
        return f"{rewrite.layers[0].type} opset{rewrite.layers[0].opset}"
    return " + ".join(kind for kind, _ in groupby(new.type for new in rewrite.layers))
