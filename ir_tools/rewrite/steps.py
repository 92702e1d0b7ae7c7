"""The steps of a migration: a rewritten layer with its proof, or a refused layer with the reason."""

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from ir_tools.display import brief_fields
from ir_tools.ops.definition import Refused, Rewrite

__all__ = ["MigrationStep", "RefusedStep", "StepPlace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStep:
    """One layer that a migration rewrites.

    Attributes:
        path: the path of the layer, including bodies.
        layer_id, line: its id and line in the file that was read; None for a node of an ONNX file.
        before: the operation, `AvgPool-14`.
        after: the replacement, `AvgPool opset8` or `Pad + AvgPool`.
        strategy: the strategy of the rewrite.
        proof: why the replacement computes the same.
        notes: remarks about the original layer.

    Example:
        >>> step = ir_tools.migrate("model.xml", to="opset8").steps[0]
        >>> step.path, step.line, step.before, step.after, step.strategy
        ('pool', 8, 'AvgPool-1', 'AvgPool opset8', 'same attributes')
    """

    path: str
    layer_id: int | None
    line: int | None
    before: str
    after: str
    strategy: str
    proof: str
    notes: tuple[str, ...] = ()

    __repr__ = brief_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStep:
    """One layer that has no exact equivalent in the target.

    Attributes:
        path: the path of the layer, including bodies.
        layer_id, line: its id and line in the file that was read.
        before: the operation, `AvgPool-16`.
        reason: why there is no equivalent.
        attribute: the attribute that prevents it, if there is one.
        notes: remarks about the layer.

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
    """The part of a step that describes the original layer."""

    path: str
    layer_id: int
    line: int | None
    before: str
    notes: tuple[str, ...]

    def step(self, rewrite: Rewrite) -> MigrationStep:
        """Return the step that replaces the layer."""
        return self.migrated(_after(rewrite), rewrite.strategy, rewrite.proof)

    def migrated(self, after: str, strategy: str, proof: str) -> MigrationStep:
        """Return the step that makes something else of the layer."""
        path, layer_id, line, before, notes = self
        return MigrationStep(
            path=path,
            layer_id=layer_id,
            line=line,
            before=before,
            after=after,
            strategy=strategy,
            proof=proof,
            notes=notes,
        )

    def refused(self, why: Refused) -> RefusedStep:
        """Return the step that refuses the layer."""
        return RefusedStep(**self._asdict(), reason=why.reason, attribute=why.attribute)


def _after(rewrite: Rewrite) -> str:
    if len(rewrite.layers) == 1:
        return f"{rewrite.layers[0].type} opset{rewrite.layers[0].opset}"
    return " + ".join(kind for kind, _ in groupby(new.type for new in rewrite.layers))
