"""Steps between the versions of one operation: the same attributes, or a few layers that compute the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ir_tools.errors import ShapeError
from ir_tools.ops._layers import Layers, held
from ir_tools.ops.definition import Fact, Lowering, PartialStep, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs

__all__ = ["Change", "VersionStep", "as_it_is", "first_of", "no_step"]

Change = Callable[[Layers, Attrs, int], Rewrite | Refused | None]
"""`(layers, attributes, version) -> ` layers of that version, why there are none, or None if the attributes say all."""


def no_step(version: int, reason: str) -> Lowering:
    """Return the step of an operation that begins with `version` and that no older operations express."""
    return Lowering(version, reason=reason)


def first_of(*steps: Step) -> Step:
    """Return the step that tries several ways in turn, for layers with several problems, each of which one way solves.

    It gives the first rewrite; if there is none, the reason of the last way.
    """

    def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
        *others, last = steps
        tried = (found for each in others if isinstance(found := each(attrs, inputs, target), Rewrite))
        return next(tried, None) or last(attrs, inputs, target)

    return step


@dataclass(frozen=True, slots=True)
class VersionStep(PartialStep):
    """The step of one version to the version that a target opset holds.

    A target that holds this version is left to the engine. If a later version has no equal layer, the earlier one
    stays, which every later opset can be read along with.

    Attributes:
        type: of the operation.
        version: from which the step leads.
        change: what differs between the versions; None if nothing does but attributes with defaults.
        older: the step to an opset that holds no version of the operation; None if all do.
    """

    type: str
    version: int
    change: Change | None = None
    older: Step | None = None

    def leaves(self, target: int) -> bool:
        """Return whether the opset holds this version, if it holds one."""
        return held(self.type, target).version == self.version

    def restamps(self, target: int) -> bool:
        """Return whether the opset holds a version that is equal in all that both have."""
        return self.change is None and held(self.type, target).in_opset(target)

    def __call__(self, attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
        """Return the layer in the version that the opset holds."""
        op = held(self.type, target)
        if not op.in_opset(target):
            return None if self.older is None else self.older(attrs, inputs, target)
        if op.version == self.version:
            return None
        layers = Layers(inputs, target)
        try:
            found = None if self.change is None else self.change(layers, attrs, op.version)
        except ShapeError as why:
            found = Refused(str(why))
        if isinstance(found, Refused) and op.version > self.version:
            return None
        return as_it_is(layers, self.type, op.version, attrs) if found is None else found


def as_it_is(layers: Layers, type: str, version: int, attrs: Attrs, *inputs: Ref) -> Rewrite:
    """Return one layer with those attributes that the version has, and the inputs of the old one or others."""
    op = held(type, version)
    given = inputs or tuple(Ref(None, index) for index in range(len(layers.inputs)))
    layers.call(type, *given, version=version, **{name: attrs[name] for name in op.attrs if name in attrs})
    return layers.rewrite("same attributes", f"{op} computes the same with these attributes")
