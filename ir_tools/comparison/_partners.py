"""The other one of two runs, and which of its tensors belong to those of the first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.comparison._bodies import BodyRunner, Given
from ir_tools.comparison._coarse import NARROW
from ir_tools.comparison._models import paired_bodies
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison._tensors import as_far_as_it_runs
from ir_tools.comparison._whole import infer
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.ops import Array
from ir_tools.runtime.client import Tap

__all__ = ["Mask", "SecondRun"]

ABSENT = "the other model has no such tensor"
Mask = npt.NDArray[np.bool_]


class Partner(NamedTuple):
    """A tensor of a second run.

    Attributes:
        path: in another model.
        narrow: `f16` or `bf16`, if its port has that type.
        undecided: the elements that errors of rounding decide, if that is known.
    """

    tensor: Array
    path: str | None
    narrow: str | None
    undecided: Mask | None


@dataclass(frozen=True, slots=True)
class SecondRun:
    """The tensors of the other one of two runs.

    Attributes:
        model: the model of that run, or the one whose body it is.
        graph: the graph or body.
        tensors: by label and output.
        pairs: which of them belong to those of the first run.
        bodies: runs the bodies.
        prefix: of the paths of its layers; None if both runs are of one model.
        undecided: the elements of its tensors that errors of rounding decide, where that is known.
        refused: why the runtime does not hand out some of its tensors.
    """

    model: Model
    graph: Graph
    tensors: Mapping[Tap, Array]
    pairs: Pairs
    bodies: BodyRunner
    prefix: str | None = ""
    undecided: Mapping[Tap, Mask] = field(default_factory=dict)
    refused: Mapping[Tap, str] = field(default_factory=dict)

    def on(self, fed: Mapping[str, Array], taps: Sequence[Tap]) -> "SecondRun":
        """Return the run with these tensors, as many as the runtime hands out."""
        refused: dict[Tap, str] = {}
        client, setting = self.bodies.client, self.bodies.setting

        def run(group: Sequence[Tap]) -> Mapping[Tap, Array]:
            return infer(client, self.model, fed, setting, tuple(group)).taps

        def give_up(group: Sequence[Tap], reason: str) -> Mapping[Tap, Array]:
            refused.update(dict.fromkeys(group, reason))
            return {}

        parts = as_far_as_it_runs(run, taps, give_up) if taps else ()
        return replace(self, tensors={tap: array for part in parts for tap, array in part.items()}, refused=refused)

    def why_absent(self, source: Source) -> str:
        """Return why there is no tensor that belongs to one of the first run."""
        tap = self.pairs.taps.get(source)
        return self.refused.get(tap, ABSENT) if tap is not None else ABSENT

    def partner(self, source: Source) -> Partner | None:
        """Return the tensor that belongs to one of the first run."""
        tap = self.pairs.taps.get(source)
        if tap is None or tap not in self.tensors:
            return None
        theirs = self.pairs.sources[source]
        narrow = NARROW.get(self.graph.layer(theirs.layer).port(theirs.port).precision)
        path = f"{self.prefix}{tap.layer_name}" + (f".{tap.output_index}" if tap.output_index else "")
        return Partner(self.tensors[tap], None if self.prefix is None else path, narrow, self.undecided.get(tap))

    def inside(self, own: Model, layer: Layer, twin: Layer, body: str, given: Given) -> "SecondRun":
        """Return the run of a body of `twin` on what a layer of the first model gives its own."""
        same = own is self.model
        graph = twin.bodies[body]
        pairs = Pairs.identical(graph) if same else paired_bodies(own, layer, self.model, twin, body)
        ends = {pairs.layers[end].id: array for end, array in given.items() if end in pairs.layers}
        tensors = self.bodies.tensors(self.model, graph, ends)
        prefix = None if self.prefix is None else f"{self.prefix}{self.pairs.labels[twin.id]}/{body}/"
        return SecondRun(self.model, graph, tensors, pairs, self.bodies, prefix)
